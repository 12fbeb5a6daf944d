//! Answers searches for tools, with what was learned from earlier ones and what a model says the words mean.

use super::Hub;
use crate::{
    catalog::{
        Aids,
        answer::{Answer, Asked},
        search::Meaning,
    },
    stats::event::Visit,
};

impl Hub {
    /// Answers a search of a client, and remembers it until one of the tools is used.
    pub async fn search(&self, visit: &Visit, asked: &Asked<'_>) -> Answer {
        let (habits, meaning) = (self.recorder().habits(), self.meaning(asked.query).await);
        let aids = Aids { habits: habits.as_deref(), meaning: meaning.as_ref() };
        let answer = self.catalog().answer(&Asked { aids, ..*asked });
        let path = |tool: &serde_json::Value| Some(tool.get("tool")?.as_str()?.to_owned());
        self.recorder().searched(visit, asked.query, || answer.tools.iter().filter_map(path).collect());
        answer
    }

    /// What a search means, where a model says so in time.
    pub(super) async fn meaning(&self, query: &str) -> Option<Meaning> {
        self.inner.meanings.of(query, |query| self.catalog().parts(query)).await
    }
}
