//! What a face asks of the hub: any JSON is a request or is none, and a request says the same after it was passed on.

use satchel_core::{
    hub::RequestMethod,
    model::{
        call_log::CallLogQuery,
        control::Change,
        ledger::{ActivityAsk, ReportAsk},
        request::{
            AnswerQuestion, Approve, CallTool, ConnectClient, FindServers, ImportServers, Request, RunAgain,
            TryTool, VerifyAudit,
        },
    },
};
use serde_json::Value;

pub(crate) fn run(data: &[u8]) {
    let Ok(message) = serde_json::from_slice::<Value>(data) else { return };
    // An error or a request, but never a panic.
    let _ = RequestMethod::of_message(&message);
    passed_on::<Change>(&message);
    passed_on::<ReportAsk>(&message);
    passed_on::<ActivityAsk>(&message);
    passed_on::<CallLogQuery>(&message);
    passed_on::<CallTool>(&message);
    passed_on::<RunAgain>(&message);
    passed_on::<TryTool>(&message);
    passed_on::<AnswerQuestion>(&message);
    passed_on::<Approve>(&message);
    passed_on::<VerifyAudit>(&message);
    passed_on::<ConnectClient>(&message);
    passed_on::<FindServers>(&message);
    passed_on::<ImportServers>(&message);
}

fn passed_on<R: Request + PartialEq + std::fmt::Debug>(message: &Value) {
    let Some(request) = R::from_message(message) else { return };
    let written = request.to_message().expect("a request can be written");
    assert_eq!(R::from_message(&written), Some(request));
}
