//! Tokens and vectors of texts, a line of numbers for each: `vectors FILE TEXT…`. To be compared with another program's.

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("a file");
    let model =
        satchel_embed::Model::read(std::fs::read(file).expect("it can be read")).expect("it is a model");
    for text in arguments {
        println!("{:?}", model.tokens(satchel_embed::Role::Passage, &text, satchel_embed::MOST_TOKENS));
        println!("{:?}", model.embed(satchel_embed::Role::Passage, &text, satchel_embed::MOST_TOKENS));
    }
}
