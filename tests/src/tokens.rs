//! Counts tokens in texts that were seen on the wire, with the program's own counter.

use std::process::Stdio;

use tokio::io::AsyncWriteExt;

use crate::{Home, program};

impl Home {
    /// The number of tokens of each text.
    pub async fn tokens(&self, texts: &[&str]) -> Vec<i64> {
        let mut command = self.command(program("satchel"));
        command.arg("tokens").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("satchel can be started");
        let mut stdin = child.stdin.take().expect("its standard input is a pipe");
        let asked = serde_json::to_vec(texts).expect("texts are JSON");
        stdin.write_all(&asked).await.expect("it reads what it is asked");
        drop(stdin);
        let output = child.wait_with_output().await.expect("it ends");
        serde_json::from_slice(&output.stdout).expect("it answers with numbers")
    }
}
