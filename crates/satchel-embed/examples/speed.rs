//! How long the model takes: `speed FILE`.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "it measures")]
fn main() {
    let file = std::env::args().nth(1).expect("a file");
    let began = Instant::now();
    let model =
        satchel_embed::Model::read(std::fs::read(file).expect("it can be read")).expect("it is a model");
    println!("ready after {:?}", began.elapsed());
    let tool = "github: create issue. Create a new issue in a repository, with a title, a body, labels and people to \
                whom it is assigned; the answer has its number and its address. ";
    for (name, text) in [
        ("a query", "send an email to my boss about the quarterly report".to_owned()),
        ("a tool", tool.repeat(2)),
        ("a long one", tool.repeat(20)),
    ] {
        let tokens = model.tokens(satchel_embed::Role::Passage, &text, 128).len();
        let mut times: Vec<_> = (0..30)
            .map(|_| {
                let began = Instant::now();
                std::hint::black_box(model.embed(satchel_embed::Role::Passage, &text, 128));
                began.elapsed()
            })
            .collect();
        times.sort();
        println!("{name} of {tokens} tokens: least {:?}, median {:?}", times[0], times[15]);
    }
}
