//! Which files of the room `hub` use which: by paths, and by methods of the handle that each of them could call. A method of
//! the root stands for what it calls itself.

use std::collections::{BTreeMap, BTreeSet};

use super::rust::{Token, is, is_word, paths_of, product_tokens};

/// A file is named by its module directly below the room; the root has no name.
const ROOT: &str = "";
/// Variable names of handles.
const HANDLES: &[&str] = &["hub", "owned", "hand", "observed"];

/// What each file uses of the others.
pub(super) type Uses = BTreeMap<String, BTreeSet<String>>;

struct File {
    /// `call`, `attempt` for `call/attempt.rs`.
    module: Vec<String>,
    tokens: Vec<Token>,
}

impl File {
    fn name(&self) -> &str {
        self.module.first().map_or(ROOT, String::as_str)
    }
}

/// `files` are paths below the room, with their texts.
pub(super) fn uses(files: &[(String, String)]) -> Uses {
    let files: Vec<File> = files
        .iter()
        .map(|(path, text)| {
            let mut module: Vec<String> =
                path.trim_end_matches(".rs").split('/').map(ToOwned::to_owned).collect();
            if module.last().is_some_and(|last| last == "mod") {
                module.pop();
            }
            File { module, tokens: product_tokens(text) }
        })
        .collect();
    let names: BTreeSet<&str> = files.iter().map(File::name).filter(|name| *name != ROOT).collect();
    let mut owners = BTreeMap::new();
    for file in &files {
        for (method, _) in methods(&file.tokens) {
            owners.insert(method, file.name());
        }
    }
    let of_root: BTreeMap<String, BTreeSet<String>> = files
        .iter()
        .filter(|file| file.name() == ROOT)
        .flat_map(|file| methods(&file.tokens))
        .map(|(method, body)| (method, used(body, true, &[], &names, &owners)))
        .collect();
    let mut uses = Uses::new();
    for file in files.iter().filter(|file| file.name() != ROOT) {
        let mut direct = BTreeSet::new();
        let mut rest = 0;
        for (from, to) in blocks(&file.tokens) {
            direct.extend(used(&file.tokens[rest..from], false, &file.module, &names, &owners));
            direct.extend(used(&file.tokens[from..to], true, &file.module, &names, &owners));
            rest = to;
        }
        direct.extend(used(&file.tokens[rest..], false, &file.module, &names, &owners));
        let mut all = BTreeSet::new();
        follow(direct, &of_root, &mut all);
        let of_file = uses.entry(file.name().to_owned()).or_default();
        of_file.extend(all.into_iter().filter(|used| used != file.name() && !used.starts_with('.')));
    }
    uses
}

/// Replaces a method of the root, written `.name`, by what it uses.
fn follow(
    direct: BTreeSet<String>,
    of_root: &BTreeMap<String, BTreeSet<String>>,
    all: &mut BTreeSet<String>,
) {
    for used in direct {
        let method = used.strip_prefix('.').and_then(|method| of_root.get(method)).cloned();
        if all.insert(used) {
            follow(method.unwrap_or_default(), of_root, all);
        }
    }
}

/// What these tokens use: names of files, and `.name` for a method of the root. `in_hub`: whether `self` is the hub
/// there.
fn used(
    tokens: &[Token],
    in_hub: bool,
    module: &[String],
    names: &BTreeSet<&str>,
    owners: &BTreeMap<String, &str>,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, path) in paths_of(tokens) {
        let mut place: Vec<String> = module.to_vec();
        for step in &path {
            match step.as_str() {
                "super" => drop(place.pop()),
                "self" => {}
                "crate" => place = vec!["crate".to_owned()],
                "hub" if place == ["crate"] => place.clear(),
                step => place.push(step.to_owned()),
            }
        }
        let is_relative = path.first().is_some_and(|first| ["super", "crate"].contains(&first.as_str()));
        // The root names its modules directly.
        let named = if is_relative || module.is_empty() { place.first() } else { None };
        found.extend(named.filter(|name| names.contains(name.as_str())).cloned());
    }
    for (at, token) in tokens.iter().enumerate() {
        let handle = token.text == "self" && in_hub
            || HANDLES.contains(&token.text.as_str())
            || token.text.ends_with("_hub");
        let called = tokens.get(at + 2).filter(|_| is(tokens, at + 1, ".") && is(tokens, at + 3, "("));
        if let Some(method) = called.filter(|_| handle)
            && let Some(owner) = owners.get(&method.text)
        {
            found.insert(if *owner == ROOT { format!(".{}", method.text) } else { (*owner).to_owned() });
        }
    }
    found
}

/// Start and end of each `impl Hub` block.
fn blocks(tokens: &[Token]) -> Vec<(usize, usize)> {
    let begins = |at: &usize| is(tokens, *at, "impl") && is(tokens, at + 1, "Hub") && is(tokens, at + 2, "{");
    (0..tokens.len()).filter(begins).map(|at| (at, end(tokens, at + 2))).collect()
}

/// The position after the bracket that closes the one here.
fn end(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The methods of the handle that a file defines, with their bodies.
fn methods(tokens: &[Token]) -> Vec<(String, &[Token])> {
    let mut found = Vec::new();
    for (from, to) in blocks(tokens) {
        let block = &tokens[from..to];
        let mut at = 0;
        while at + 1 < block.len() {
            if block[at].text == "fn" && is_word(&block[at + 1].text) {
                let open = (at..block.len()).find(|at| is(block, *at, "{")).unwrap_or(block.len());
                let close = end(block, open);
                found.push((block[at + 1].text.clone(), &block[at..close]));
                at = close;
            } else {
                at += 1;
            }
        }
    }
    found
}

/// Files that use each other in cycles: those left over by a topological sort.
pub(super) fn circles(uses: &Uses) -> BTreeSet<String> {
    let mut left: BTreeSet<String> = uses.keys().cloned().collect();
    loop {
        let before = left.len();
        let now = left.clone();
        left.retain(|file| uses[file].iter().any(|used| now.contains(used)));
        if left.len() == before {
            return left;
        }
    }
}
