//! How often a search names a server of the catalog beside the tools it found: where the answer is right, where it is not,
//! and where the servers of the product that a query names are taken away.

use std::collections::BTreeMap;

use satchel_core::{
    catalog::Catalog,
    listings::products::{Product, Products},
    model::ToolPath,
};

use super::collection::{Collection, Crowd, Part, Query};

/// Tools of an answer, if a model does not ask for another number.
const SHOWN: usize = 10;

/// Prints the table. `SUGGESTIONS=1` names what was suggested on the part to choose with.
pub(crate) fn report(collection: &Collection) {
    let products = Products::read();
    println!(
        "{:<24}{:>9}{:>9}{:>14}{:>14}{:>16}{:>9}",
        "suggestions", "queries", "name one", "right answers", "of them with", "product absent", "of them"
    );
    for (name, part) in [("to choose with", Part::Choose), ("to check with", Part::Check)] {
        let queries: Vec<&Query> =
            collection.queries.iter().filter(|query| query.part() == Some(part)).collect();
        let shows = part == Part::Choose && std::env::var_os("SUGGESTIONS").is_some();
        let Beside { named, right, hinted } = beside(collection, &products, &queries, shows);
        let [absent, told] = absent(collection, &products, &queries, shows);
        println!("{name:<24}{:>9}{named:>9}{right:>14}{hinted:>14}{absent:>16}{told:>9}", queries.len());
    }
}

#[derive(Default)]
struct Beside {
    named: usize,
    right: usize,
    hinted: usize,
}

fn beside(collection: &Collection, products: &Products, queries: &[&Query], shows: bool) -> Beside {
    let mut hubs: BTreeMap<&str, Crowd> = BTreeMap::new();
    let mut counts = Beside::default();
    for query in queries {
        let hub = hubs.entry(&query.corpus).or_insert_with(|| collection.hub(&query.corpus));
        let found = hub.find(&query.text, None);
        counts.named += usize::from(!products.named(&query.text).is_empty());
        if !query.groups.iter().any(|group| found.iter().any(|tool| group.contains(tool))) {
            continue;
        }
        counts.right += 1;
        if let Some(product) = suggested(products, &hub.catalog, &query.text) {
            counts.hinted += 1;
            if shows {
                println!(
                    "  beside a right answer: {} for {:?} ({})",
                    product.id, query.text, query.groups[0][0]
                );
            }
        }
    }
    counts
}

/// Queries that a server of the product answers, in the hub without all that go by its name: how many, and how many are told.
fn absent(collection: &Collection, products: &Products, queries: &[&Query], shows: bool) -> [usize; 2] {
    let mut hubs: BTreeMap<(&str, &str), Crowd> = BTreeMap::new();
    let [mut all, mut told] = [0, 0];
    for query in queries {
        let Some((product, names)) =
            products.named(&query.text).into_iter().find(|(product, _)| !product.generic)
        else {
            continue;
        };
        let is_of_it = |server: &str| names.iter().any(|name| server.to_lowercase().contains(name.as_str()));
        if !query.servers().all(is_of_it) {
            continue;
        }
        let without = || collection.hub_without(&query.corpus, &names);
        let hub = hubs.entry((&query.corpus, &product.id)).or_insert_with(without);
        all += 1;
        let is_told = suggested(products, &hub.catalog, &query.text).is_some_and(|other| other == product);
        told += usize::from(is_told);
        if shows && !is_told {
            println!("  not told of {}: {:?}", product.id, query.text);
        }
    }
    [all, told]
}

/// As the hub decides it, where nothing is configured but what the catalog has.
fn suggested<'a>(products: &'a Products, catalog: &Catalog, query: &str) -> Option<&'a Product> {
    let found = catalog.find(query, None).into_iter().take(SHOWN);
    let path = |(server, tool): (&satchel_core::model::ServerName, &satchel_core::catalog::ToolEntry)| {
        ToolPath { server: server.clone(), tool: tool.name.clone() }
    };
    let shown: Vec<ToolPath> = found.map(path).collect();
    let is_missed = |(product, names): &(&Product, Vec<String>)| {
        !product.generic && !shown.is_empty() && !catalog.goes_by(names, shown.iter())
    };
    products.named(query).into_iter().find(is_missed).map(|(product, _)| product)
}
