//! How far learning reaches: a tool that was not found first is used after each query, and the query asked again.
//! Recall is measured without it.

use std::collections::BTreeMap;

use satchel_core::{
    catalog::{Aids, search::Habits},
    model::ToolPath,
};

use super::collection::{Collection, Crowd};

/// Which tools are used, by their place.
const PLACES: [usize; 4] = [2, 3, 5, 10];
/// After how many uses is looked.
const USES: [u32; 2] = [1, 3];

/// Prints the table.
pub(crate) fn report(collection: &Collection) {
    println!("{:<38}{:>8}{:>8}{:>10}", "used after a search, in %", "first", "sooner", "places");
    let mut hubs: BTreeMap<&str, Crowd> = BTreeMap::new();
    for (place, uses) in PLACES.into_iter().flat_map(|place| USES.map(|uses| (place, uses))) {
        let (mut all, mut first, mut sooner, mut gained) = (0usize, 0usize, 0usize, 0usize);
        for query in &collection.queries {
            let hub = hubs.entry(&query.corpus).or_insert_with(|| collection.hub(&query.corpus));
            let found = hub.catalog.find(&query.text, None);
            let Some((server, tool)) = found.get(place - 1) else { continue };
            let path = ToolPath { server: (*server).clone(), tool: tool.name.clone() };
            let mut habits = Habits::default();
            (0..uses).for_each(|_| habits.used(&query.text, &path, 0));
            let aids = Aids { habits: Some(&habits), meaning: None, shapes: None };
            let again = hub.catalog.find_with(&query.text, None, &aids);
            let now = again.iter().position(|(at, known)| **at == path.server && known.name == path.tool);
            let now = now.map_or(place, |at| at + 1);
            all += 1;
            first += usize::from(now == 1);
            sooner += usize::from(now < place);
            gained += place.saturating_sub(now);
        }
        let share = |count: usize| 100.0 * count as f64 / all.max(1) as f64;
        println!(
            "{:<38}{:>8.1}{:>8.1}{:>10.1}",
            format!("found at {place}, used {uses} times"),
            share(first),
            share(sooner),
            gained as f64 / all.max(1) as f64
        );
    }
}
