//! How often requests in other languages find tools described in English. The file that LANGUAGES names has a line for each:
//! {"id": the collection's query that it translates, "language": …, "query": …}.

use std::{cell::RefCell, collections::HashMap, path::Path};

use super::{
    collection::{Collection, Crowd, Part, Query, lines},
    line,
    score::{self, SINGLE},
    sentences::Sentences,
};

pub(crate) fn report(collection: &Collection, sentences: Option<&Sentences>) {
    let Some(file) = std::env::var_os("LANGUAGES") else {
        println!("Other languages are not measured: LANGUAGES names no file of translated queries.");
        return;
    };
    let translated = match translations(collection, Path::new(&file)) {
        Ok(translated) => translated,
        Err(error) => return println!("Other languages are not measured: {error:#}"),
    };
    // Built once for all languages.
    let hubs: RefCell<HashMap<String, Crowd>> = RefCell::default();
    let hub = |corpus: &str| {
        let anew = || collection.hub(corpus).with(sentences);
        hubs.borrow_mut().entry(corpus.to_owned()).or_insert_with(anew).clone()
    };
    translated.iter().flat_map(|(_, queries)| queries).for_each(|query| drop(hub(&query.corpus)));
    if let Some(sentences) = sentences {
        sentences.keep();
    }
    let found: RefCell<HashMap<(&str, String), Vec<String>>> = RefCell::default();
    for (language, queries) in translated {
        for (part, wanted) in [("", None), (", choose", Some(Part::Choose)), (", check", Some(Part::Check))] {
            let queries = || queries.iter().filter(|query| wanted.is_none() || query.part() == wanted);
            let report = |how: &'static str, find: &dyn Fn(&Crowd, &Query) -> Vec<String>| {
                let once = |hub: &Crowd, query: &Query| {
                    let asked = (how, format!("{}\n{}", query.id, query.text));
                    found.borrow_mut().entry(asked).or_insert_with(|| find(hub, query)).clone()
                };
                line(&format!("{language}{part}{how}"), score::all(queries(), hub, once).mean(SINGLE));
            };
            report(", words alone", &|hub, query| hub.find(&query.text, None));
            let Some(sentences) = sentences else { continue };
            report("", &|hub, query| hub.find(&query.text, Some(sentences)));
        }
    }
}

/// The queries of each language, in the order of the file.
fn translations(collection: &Collection, file: &Path) -> anyhow::Result<Vec<(String, Vec<Query>)>> {
    let known: HashMap<&str, &Query> =
        collection.queries.iter().map(|query| (query.id.as_str(), query)).collect();
    let mut translated: Vec<(String, Vec<Query>)> = Vec::new();
    for value in lines(file)? {
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let Some(query) = known.get(text("id").as_str()) else { continue };
        let query = Query { text: text("query"), ..(*query).clone() };
        match translated.iter_mut().find(|(language, _)| *language == text("language")) {
            Some((_, queries)) => queries.push(query),
            None => translated.push((text("language"), vec![query])),
        }
    }
    Ok(translated)
}
