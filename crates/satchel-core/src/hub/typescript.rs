//! Keeps `ui/src/lib/hub/generated/hub.ts` true: writes the types of every request and answer that the window may read
//! as TypeScript, from the Rust types themselves.

use std::{any::TypeId, collections::BTreeMap, fs, path::Path};

use ts_rs::{Config, TS, TypeVisitor};

use super::requests::{self, Handle};
use crate::model::{
    ServerState,
    clients::ClientState,
    oauth::SignInState,
    request::{AnswerSecret, Request},
};

const REWRITE: &str = "SATCHEL_WRITE_TYPES";

/// Requests, answers and all types they use.
pub(super) struct Contract {
    config: Config,
    seen: Vec<TypeId>,
    declarations: BTreeMap<String, String>,
    requests: BTreeMap<&'static str, String>,
}

impl Contract {
    fn new() -> Self {
        // Milliseconds, bytes and token counts all fit.
        let config = Config::new().with_large_int("number");
        Self { config, seen: vec![], declarations: BTreeMap::new(), requests: BTreeMap::new() }
    }

    /// Adds a request if the window may send it.
    pub(super) fn add<R: Handle + TS>(&mut self)
    where
        R::Answer: TS,
    {
        if R::FOR_WINDOWS {
            self.put::<R>();
        }
    }

    fn put<R: Request + TS>(&mut self)
    where
        R::Answer: TS,
    {
        self.visit::<R>();
        self.visit::<R::Answer>();
        let (fields, answer) = (R::name(&self.config), R::Answer::name(&self.config));
        self.requests.insert(R::METHOD, format!("{{ fields: {fields}; answer: {answer} }}"));
    }

    fn text(&self) -> String {
        let rewrite = format!("`{REWRITE}=1 cargo test -p satchel-core --lib typescript`");
        let mut text = format!("// Written by {rewrite} from the Rust types. Not for editing.\n");
        for declaration in self.declarations.values() {
            text.push_str(&format!("\n{declaration}\n"));
        }
        text.push_str("\n/** What may be asked, by method: its fields and its answer. */\nexport interface Requests {\n");
        for (method, request) in &self.requests {
            text.push_str(&format!("  {method}: {request};\n"));
        }
        text.push_str("}\n");
        text.push_str(MESSAGES);
        text
    }
}

/// The TypeScript types for messages.
const MESSAGES: &str = "
/** A request as it is sent. */
export type Request = { [Method in keyof Requests]: { do: Method } & Requests[Method][\"fields\"] }[keyof Requests];

/** What a request is answered with. */
export type Answer<Asked extends Request> = Requests[Asked[\"do\"]][\"answer\"];
";

/// A declaration without doc comments, which remain in the Rust source.
fn on_one_line(declaration: &str) -> String {
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with("/**") && !line.starts_with('*');
    declaration.lines().map(str::trim).filter(is_code).collect::<Vec<_>>().join(" ")
}

impl TypeVisitor for Contract {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if self.seen.contains(&TypeId::of::<T>()) {
            return;
        }
        self.seen.push(TypeId::of::<T>());
        // Types without a file of their own are numbers, strings and arrays.
        if T::output_path().is_some() {
            let about = T::docs().map(|docs| format!("{}\n", docs.trim_end())).unwrap_or_default();
            let declaration = format!("{about}export {}", on_one_line(&T::decl(&self.config)));
            let name = T::ident(&self.config);
            let other = self.declarations.insert(name.clone(), declaration);
            assert_eq!(other, None, "two types are called {name}; give one another name with #[ts(rename)]");
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}

#[test]
fn the_windows_types_are_ours() {
    let mut contract = Contract::new();
    requests::describe(&mut contract);
    // Not for the window itself but for the prompt window.
    contract.put::<AnswerSecret>();
    // Views inline their fields.
    contract.visit::<ServerState>();
    contract.visit::<SignInState>();
    contract.visit::<ClientState>();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/lib/hub/generated/hub.ts");
    if std::env::var_os(REWRITE).is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contract.text()).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        written,
        contract.text(),
        "what the window reads has changed: run this test with {REWRITE}=1, then `npm run check` in ui/"
    );
}
