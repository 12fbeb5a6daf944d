//! Evaluates a jq program over one document with bounded results. The caller bounds time and memory.

use jaq_core::{
    Compiler, Ctx, Vars, compile, data,
    load::{self, Arena, File, Loader},
    unwrap_valr,
};
use jaq_json::{Val, read, write};

use super::Report;

const MOST_RESULTS: usize = 1000;
/// Approximate maximum size of all results together, in bytes.
const MOST_BYTES: usize = 256 * 1024;

type Filter = jaq_core::Filter<data::JustLut<Val>>;

/// Runs `program` over `document`.
pub(super) fn evaluate(program: &str, document: &[u8]) -> Report {
    match document_of(document).and_then(|input| Ok((compile(program)?, input))) {
        Ok((filter, input)) => results(&filter, input),
        Err(message) => Report::Wrong { message },
    }
}

fn document_of(document: &[u8]) -> Result<Val, String> {
    read::parse_single(document).map_err(|wrong| format!("\"json\" is not one JSON value: {wrong}."))
}

fn results(filter: &Filter, input: Val) -> Report {
    let context = Ctx::<data::JustLut<Val>>::new(&filter.lut, Vars::new([]));
    let (mut values, mut bytes) = (Vec::new(), 0);
    for result in filter.id.run((context, input)).map(unwrap_valr) {
        let value = match result {
            Ok(value) => value,
            Err(wrong) => return Report::Wrong { message: failed(&values, &wrong.to_string()) },
        };
        let text = written(&value);
        bytes += text.len();
        if values.len() == MOST_RESULTS || bytes > MOST_BYTES {
            return Report::Results { values, truncated: true };
        }
        values.push(text);
    }
    Report::Results { values, truncated: false }
}

fn written(value: &Val) -> String {
    let mut text = Vec::new();
    // Writing into memory cannot fail.
    let _ = write::write(&mut text, &write::Pp::default(), 0, value);
    String::from_utf8_lossy(&text).into_owned()
}

fn failed(values: &[String], wrong: &str) -> String {
    match values.len() {
        0 => format!("The program failed: {wrong}."),
        1 => format!("The program failed after 1 result: {wrong}."),
        before => format!("The program failed after {before} results: {wrong}."),
    }
}

fn compile(program: &str) -> Result<Filter, String> {
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let arena = Arena::default();
    let modules =
        Loader::new(definitions).load(&arena, File { code: program, path: () }).map_err(|errors| {
            errors.into_iter().map(|(file, error)| unloadable(file.code, error)).collect::<String>()
        })?;
    Compiler::default().with_funs(functions).compile(modules).map_err(|errors| {
        errors.into_iter().flat_map(|(_, errors)| errors).map(undefined).collect::<Vec<_>>().join(" ")
    })
}

fn unloadable(program: &str, error: load::Error<&str>) -> String {
    let (expected, found) = match error {
        load::Error::Io(errors) => {
            return errors
                .first()
                .map_or_else(String::new, |(path, _)| format!("There is no module \"{path}\" here."));
        }
        load::Error::Lex(errors) => match errors.into_iter().next() {
            Some((expected, found)) => (expected.as_str().to_owned(), found),
            None => return String::new(),
        },
        load::Error::Parse(errors) => match errors.into_iter().next() {
            Some((expected, found)) => (expected.as_str().to_owned(), found),
            None => return String::new(),
        },
    };
    let at = load::span(program, found).start;
    let found: String = match found.is_empty() {
        true => "the end".into(),
        false => format!("\"{}\"", found.chars().take(40).collect::<String>()),
    };
    format!("The jq program is wrong at byte {at}: expected {expected}, found {found}.")
}

fn undefined((name, what): (&str, compile::Undefined)) -> String {
    format!("The jq program uses an undefined {} \"{name}\".", what.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(program: &str, document: &str) -> Vec<String> {
        match evaluate(program, document.as_bytes()) {
            Report::Results { values, truncated: false } => values,
            other => panic!("{program}: {other:?}"),
        }
    }

    fn wrong(program: &str, document: &str) -> String {
        match evaluate(program, document.as_bytes()) {
            Report::Wrong { message } => message,
            other => panic!("{program}: {other:?}"),
        }
    }

    #[test]
    fn the_language_is_jq() {
        let users = r#"{"users":[{"name":"Ada","age":36},{"name":"Bob","age":7}],"n":1.10}"#;
        for (program, expected) in [
            (".", vec![users]),
            (".users[].name", vec!["\"Ada\"", "\"Bob\""]),
            (".users | map(select(.age > 30)) | length", vec!["1"]),
            ("[.users[] | {(.name): .age}] | add", vec![r#"{"Ada":36,"Bob":7}"#]),
            (".users | sort_by(.age) | first.name | ascii_upcase", vec!["\"BOB\""]),
            ("empty", vec![]),
            (".n", vec!["1.10"]),
            ("\"\\(.users[0].name) is \\(.users[0].age)\"", vec!["\"Ada is 36\""]),
            (".users[0].name | test(\"^A\")", vec!["true"]),
        ] {
            assert_eq!(given(program, users), expected, "{program}");
        }
    }

    #[test]
    fn big_numbers_keep_their_digits() {
        assert_eq!(given(".", "12345678901234567890123"), ["12345678901234567890123"]);
    }

    #[test]
    fn errors_name_their_position() {
        for (program, document, part) in [
            (".", "{", "\"json\" is not one JSON value"),
            (".", "1 2", "\"json\" is not one JSON value"),
            (".[", "1", "The jq program is wrong"),
            (". | nonsense", "1", "undefined filter \"nonsense\""),
            ("$x", "1", "undefined variable \"$x\""),
            (".a", "1", "The program failed"),
            ("1, error(\"no\")", "1", "failed after 1 result:"),
            ("import \"a\" as a; .", "1", "\"a\""),
        ] {
            let message = wrong(program, document);
            assert!(message.contains(part), "{program}: {message}");
        }
    }

    #[test]
    fn results_without_end_are_cut() {
        for (program, most) in [("repeat(1)", MOST_RESULTS), ("repeat(\"x\" * 1000)", MOST_BYTES / 1000)] {
            match evaluate(program, b"1") {
                Report::Results { values, truncated: true } => {
                    assert!(values.len() <= most, "{}", values.len())
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
