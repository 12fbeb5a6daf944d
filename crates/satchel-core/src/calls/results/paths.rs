//! Evaluates JSONPaths on stored results: away from the threads that serve clients, few at a time, and with limits on
//! the work that one path can cause. Knows nothing about who may read what.

use std::{ops::ControlFlow, sync::Arc, time::Duration};

use satchel_mcp::exact;
use serde_json::Value;
use serde_json_path::JsonPath;
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;

/// How many paths are evaluated at the same time.
const AT_ONCE: usize = 2;
/// How long a client waits for the end of one.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest path in bytes, and its deepest nesting: the parser tries alternatives again at every level.
const LONGEST: usize = 4 * 1024;
const NESTED: usize = 8;
/// How many values one path may visit.
const VISITED: usize = 50_000_000;
/// How many bytes one path may find, in all.
const FOUND: usize = 256 * 1024 * 1024;

/// Why a path has no page.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It is not a JSONPath.
    #[error("the path is not a JSONPath ({0}); an example is $.items[0:5].name")]
    Invalid(String),
    /// The result has no paths.
    #[error("this result is not JSON, so it has no paths; read it by offset")]
    NoJson,
    /// It would take too long.
    #[error(
        "this path takes too long for a result of this size; narrow it: name the fields and indices instead of \"..\", \
         and compare with values instead of other paths"
    )]
    Long,
    /// It finds too much.
    #[error("this path finds too much; narrow it, for example with a slice as in $.items[0:100]")]
    Much,
    /// Others take their time.
    #[error("Satchel is still busy with other paths; try again, or read the result by offset")]
    Busy,
}

/// Evaluates paths.
#[derive(Debug)]
pub(super) struct Paths(Arc<Semaphore>);

/// A part of what a path found, as text on several lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The text: at least what was asked for, as far as there is so much.
    pub(super) text: String,
    /// Where it begins, in bytes.
    pub(super) start: usize,
    /// The size of the whole.
    pub(super) total: usize,
}

impl Default for Paths {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl Paths {
    /// What `path` finds in `text`, at least its bytes `from..until`. If the caller leaves, the work ends soon.
    pub(super) async fn excerpt(
        &self,
        text: Arc<String>,
        path: String,
        (from, until): (usize, usize),
    ) -> Result<Excerpt, PathError> {
        let until_late = Instant::now() + PATIENCE;
        let permit = timeout_at(until_late, self.0.clone().acquire_owned()).await;
        let Ok(Ok(permit)) = permit else { return Err(PathError::Busy) };
        let left = CancellationToken::new();
        let _leaves = left.clone().drop_guard();
        let work = move || {
            // The work holds its permit until it ends, also after the client left.
            let _permit = permit;
            excerpt(&text, &path, (from, until), &|| left.is_cancelled())
        };
        match timeout_at(until_late, tokio::task::spawn_blocking(work)).await {
            Ok(Ok(excerpt)) => excerpt,
            Ok(Err(_)) | Err(_) => Err(PathError::Long),
        }
    }
}

fn excerpt(
    text: &str,
    path: &str,
    (from, until): (usize, usize),
    left: &dyn Fn() -> bool,
) -> Result<Excerpt, PathError> {
    if path.len() > LONGEST || nesting(path) > NESTED {
        return Err(PathError::Invalid("too long or too deeply nested".to_owned()));
    }
    let parsed = JsonPath::parse(path).map_err(|error| PathError::Invalid(error.to_string()))?;
    let document: Value = serde_json::from_str(text).map_err(|_| PathError::NoJson)?;
    if left() || visits(path, &document) > VISITED {
        return Err(PathError::Long);
    }
    let nodes = parsed.query(&document).all();
    // In the original spelling: parsing a number could lose digits.
    let texts: Option<Vec<&str>> = exact::texts(text, &document, &nodes).into_iter().collect();
    let texts = texts.ok_or(PathError::NoJson)?;
    let mut excerpt = Excerpt { text: String::new(), start: 0, total: 0 };
    let write = |written: &str| {
        let (start, end) = (excerpt.total, excerpt.total + written.len());
        excerpt.total = end;
        if end > from && start < until {
            if excerpt.text.is_empty() {
                excerpt.start = start;
            }
            excerpt.text.push_str(written);
        }
        match end {
            end if end > FOUND => ControlFlow::Break(PathError::Much),
            _ if left() => ControlFlow::Break(PathError::Long),
            _ => ControlFlow::Continue(()),
        }
    };
    let end = match texts.as_slice() {
        [one] => exact::write_pretty(one, write),
        many => exact::write_pretty_array(many, write),
    };
    match end {
        ControlFlow::Continue(()) => Ok(excerpt),
        ControlFlow::Break(error) => Err(error),
    }
}

/// How deeply brackets are nested.
fn nesting(path: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    for mark in marks(path) {
        match mark {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// How many values a path can visit at most, estimated from above.
fn visits(path: &str, document: &Value) -> usize {
    let (values, depth) = size(document);
    let (mut visits, mut terms) = (values, 0usize);
    let mut selectors = Vec::new();
    let mut before = None;
    for (at, mark) in marks(path).enumerate() {
        match mark {
            // Every value is visited from each one it lies in.
            '.' if before == Some('.') => visits = visits.saturating_mul(depth),
            '[' | '(' => selectors.push(1),
            ',' => {
                if let Some(selectors) = selectors.last_mut() {
                    *selectors += 1;
                }
            }
            ']' => visits = visits.saturating_mul(selectors.pop().unwrap_or(1)),
            // What separates the arguments of a function multiplies nothing.
            ')' => {
                selectors.pop();
            }
            // A filter that begins at the root begins anew for every value.
            '$' if at > 0 => (visits, terms) = (visits.saturating_mul(values), terms + 1),
            '@' => terms += 1,
            _ => {}
        }
        before = Some(mark);
    }
    visits.saturating_mul(terms.max(1))
}

/// The number of values in a value, and how deeply they are nested.
fn size(value: &Value) -> (usize, usize) {
    let of = |(values, depth): (usize, usize), value: &Value| {
        let (inner, below) = size(value);
        (values + inner, depth.max(below + 1))
    };
    match value {
        Value::Array(items) => items.iter().fold((1, 1), of),
        Value::Object(fields) => fields.values().fold((1, 1), of),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => (1, 1),
    }
}

/// The characters of a path outside quotation marks and white space.
fn marks(path: &str) -> impl Iterator<Item = char> {
    let mut quoted = None;
    let mut escaped = false;
    path.chars().filter(move |&mark| match quoted {
        Some(quote) => {
            if mark == quote && !escaped {
                quoted = None;
            }
            escaped = mark == '\\' && !escaped;
            false
        }
        None => {
            if matches!(mark, '"' | '\'') {
                (quoted, escaped) = (Some(mark), false);
            }
            !mark.is_whitespace()
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(text: &str, path: &str) -> Result<String, PathError> {
        excerpt(text, path, (0, usize::MAX), &|| false).map(|excerpt| {
            assert_eq!((excerpt.start, excerpt.total), (0, excerpt.text.len()));
            excerpt.text
        })
    }

    fn items(many: usize) -> String {
        let items: Vec<String> = (0..many).map(|at| format!(r#"{{"t":{at}.0}}"#)).collect();
        format!(r#"{{"items":[{}]}}"#, items.join(","))
    }

    #[test]
    fn a_path_finds_values_as_they_were_written() {
        let text = r#"{"a":[{"n":1.10},{"n":12345678901234567890123},{"n":"x"}],"a b":{"c":[]}}"#;
        for (path, expected) in [
            ("$.a[0].n", "1.10"),
            ("$.a[*].n", "[\n  1.10,\n  12345678901234567890123,\n  \"x\"\n]"),
            ("$.a[?@.n == 'x']", "{\n  \"n\": \"x\"\n}"),
            ("$.a[0,0].n", "[\n  1.10,\n  1.10\n]"),
            ("$..c", "[]"),
            ("$['a b']", "{\n  \"c\": []\n}"),
            ("$.nothing", "[]"),
        ] {
            assert_eq!(found(text, path).as_deref(), Ok(expected), "{path}");
        }
        assert_eq!(found("no json", "$.a"), Err(PathError::NoJson));
        assert!(matches!(found(text, "$$"), Err(PathError::Invalid(_))));
    }

    /// If every found value were looked for from the beginning, this would take hours.
    #[test]
    fn a_path_that_finds_100_000_values_ends() {
        let text = items(100_000);
        let whole = found(&text, "$.items[*].t").unwrap();
        assert!(whole.starts_with("[\n  0.0,\n  1.0,") && whole.ends_with("  99999.0\n]"));
        let read = excerpt(&text, "$.items[*].t", (500_000, 500_100), &|| false).unwrap();
        assert!(read.start <= 500_000 && read.start + read.text.len() >= 500_100 && read.text.len() < 200);
        assert_eq!(read.text, whole[read.start..read.start + read.text.len()]);
        assert_eq!(read.total, whole.len());
    }

    #[test]
    fn a_path_that_would_visit_too_much_is_refused_before_it_does() {
        let wide = items(20_000);
        let deep = format!("{}1{}", "[".repeat(60), "]".repeat(60));
        for (text, path) in [
            (&wide, "$.items[?count($..*) > 1]"),
            (&wide, "$.items[?@.t == $.items[0].t]"),
            (&deep, &format!("${}", "[0,0]".repeat(30))),
            (&deep, &format!("${}", "..*".repeat(10))),
        ] {
            assert_eq!(found(text, path), Err(PathError::Long), "{path}");
        }
        for path in
            ["$..t", "$.items[?@.t > 5 && @.t < 7].t", "$..['t', \"$,..\"]", "$.items[?count(@.*) > 1]"]
        {
            assert!(found(&wide, path).is_ok(), "{path}");
        }
        assert!(
            found(&items(3), "$.items[?@.t == $.items[0].t]").is_ok(),
            "a small result may take its time"
        );
    }

    #[test]
    fn a_path_that_is_long_or_deeply_nested_is_not_parsed() {
        let nested = |deep: usize| format!("$[?{}@.a{}]", "(".repeat(deep), ")".repeat(deep));
        assert!(found("[]", &nested(NESTED - 1)).is_ok());
        for path in [nested(NESTED), nested(1_500), format!("$.{}", "a".repeat(LONGEST))] {
            assert!(matches!(found("[]", &path), Err(PathError::Invalid(_))), "{path}");
        }
    }

    #[tokio::test]
    async fn others_are_served_meanwhile() {
        let paths = Paths::default();
        let order = parking_lot::Mutex::new(Vec::new());
        let long = async {
            paths.excerpt(Arc::new(items(20_000)), "$..t".to_owned(), (0, 10)).await.unwrap();
            order.lock().push("path");
        };
        // The test has one thread: if the path kept it, this would come second.
        tokio::join!(long, async { order.lock().push("other") });
        assert_eq!(*order.lock(), ["other", "path"]);
    }

    #[test]
    fn the_work_ends_when_the_client_has_left() {
        let left = || true;
        assert_eq!(excerpt(&json!([1, 2]).to_string(), "$[*]", (0, 10), &left), Err(PathError::Long));
        assert_eq!(excerpt("[1,2]", "$[*]", (0, 10), &|| false).map(|excerpt| excerpt.total), Ok(12));
    }

    #[tokio::test(start_paused = true)]
    async fn few_paths_are_evaluated_at_once() {
        let paths = Paths::default();
        let _taken = paths.0.acquire_many(u32::try_from(AT_ONCE).unwrap()).await.unwrap();
        let excerpt = paths.excerpt(Arc::new("[]".to_owned()), "$".to_owned(), (0, 10)).await;
        assert_eq!(excerpt, Err(PathError::Busy));
    }
}
