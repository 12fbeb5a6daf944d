//! `doctor`: prints the hub's examination of everything that can be wrong from outside.

use std::process::ExitCode;

use satchel_core::{
    files::Places,
    hub::doctor::without_hub,
    model::{
        doctor::{Diagnosis, DoctorFinding, Examination, Examined, Health},
        request::RunDoctor,
    },
};
use serde_json::json;

use crate::{
    output::{Lines, say, say_json},
    reach::reach,
};

pub(crate) async fn run(places: &Places, json: bool) -> anyhow::Result<ExitCode> {
    let findings = match reach(places).await {
        Ok(hub) => {
            let looked = hub.ask(RunDoctor { environment: super::clients::environment() }).await;
            hub.leave().await;
            let Examination { findings } = looked?;
            findings
        }
        Err(error) => {
            let mut findings = without_hub(places);
            let what = Diagnosis::HubUnreachable { why: format!("{error:#}") };
            findings.push(DoctorFinding::new(Examined::Hub, "hub", Health::Wrong, what));
            findings
        }
    };
    match json {
        true => say_json(&json!({"findings": findings}))?,
        false => say(in_words(&findings)),
    }
    let wrong = findings.iter().any(|finding| finding.verdict == Health::Wrong);
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn in_words(findings: &[DoctorFinding]) -> Lines {
    let line = |finding: &DoctorFinding| {
        let mark = match finding.verdict {
            Health::Fine => "ok   ",
            Health::Note => "note ",
            Health::Wrong => "WRONG",
        };
        format!("{mark}  {}: {}", finding.subject, finding.sentence().trim_end())
    };
    findings.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_one_line_each() {
        let finding = |subject: &str, verdict, message: &str, action: &str| {
            let what = Diagnosis::HubUnreachable { why: message.into() };
            DoctorFinding::new(Examined::Hub, subject, verdict, what).with_action(action)
        };
        let findings = [
            finding("configuration", Health::Fine, "a", ""),
            finding("secrets", Health::Note, "b.", "Mend it."),
            finding("server x", Health::Wrong, "c", ""),
        ];
        assert_eq!(
            in_words(&findings).to_string(),
            "ok     configuration: a\nnote   secrets: b. Mend it.\nWRONG  server x: c"
        );
    }
}
