//! Runs one script in one engine, from source to value. The host executes the calls. The engine has no modules, files, timers or
//! high-resolution clock, so nothing in it reaches outside.
//!
//! Theory of operation: the engine runs until it is idle; then its calls go to the host, and each result settles a promise. An
//! interrupt handler stops a script that has used up its time.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use rquickjs::{
    CatchResultExt, CaughtError, Context, Ctx, Exception, Function, Object, Promise, Runtime, Value,
    context::{EvalOptions, intrinsic},
    function::Func,
    promise::PromiseState,
};
use serde_json::value::RawValue;

use crate::protocol::{Bound, CallRequest, End, Logs, Settlement, Task, Wrong};

const PRELUDE: &str = include_str!("prelude.js");
/// Identifies the script's own stack frames.
const NAME: &str = "script";
/// Appended if a script uses something that does not exist here.
const OUTSIDE: &str =
    ". Scripts have no modules, files, network or timers: call tools with servers.NAME.TOOL({…})";
/// Maximum length of a failure's message in bytes.
const MESSAGE: usize = 4 * 1024;

/// The language features, without those that reach outside or measure time precisely.
type Language = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// The limits of a run.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Engine memory, in bytes.
    pub memory: usize,
    /// Engine stack in bytes; less than that of the thread.
    pub stack: usize,
    /// CPU time.
    pub computing: Duration,
    /// Number of calls.
    pub calls: u32,
    /// Size of one call's arguments, in bytes.
    pub arguments: usize,
    /// Size of the return value, in bytes.
    pub output: usize,
    /// Size of log output, in bytes.
    pub logs: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            memory: 64 * MIB,
            stack: MIB / 2,
            computing: Duration::from_secs(5),
            calls: 200,
            arguments: 4 * MIB,
            output: 8 * MIB,
            logs: 16 * 1024,
        }
    }
}

/// Executes calls.
pub trait Host {
    /// Starts a call.
    ///
    /// # Errors
    /// If the host is gone; the run ends then.
    fn call(&mut self, call: CallRequest) -> std::io::Result<()>;

    /// Waits for the next call to finish.
    ///
    /// # Errors
    /// If the host is gone; the run ends then.
    fn wait(&mut self) -> std::io::Result<(u32, Settlement)>;
}

/// State shared with the engine.
struct EngineState {
    bounds: Bounds,
    calls: RefCell<Vec<CallRequest>>,
    made: Cell<u32>,
    logs: RefCell<Logs>,
    logged: Cell<usize>,
    /// Number of calls open at the end.
    left: Cell<usize>,
    /// The limit that was exceeded.
    over: Cell<Option<Bound>>,
    /// CPU time before the last wait, and the clock after it.
    spent: Cell<Duration>,
    since: Cell<Duration>,
}

/// Runs a script.
///
/// # Errors
/// If the host is gone, or the engine cannot be created.
pub fn run(task: &Task, bounds: &Bounds, host: &mut dyn Host) -> std::io::Result<End> {
    let shared = Rc::new(EngineState::new(*bounds));
    let runtime = Runtime::new().map_err(std::io::Error::other)?;
    runtime.set_memory_limit(bounds.memory);
    runtime.set_max_stack_size(bounds.stack);
    let watching = shared.clone();
    runtime.set_interrupt_handler(Some(Box::new(move || watching.is_over())));
    let context = Context::custom::<Language>(&runtime).map_err(std::io::Error::other)?;
    let outcome = context.with(|ctx| match begin(&ctx, &shared, task) {
        Ok((settle, value)) => finish(&ctx, &shared, host, &settle, &value),
        Err(wrong) => Ok(Err(wrong)),
    })?;
    let outcome = match shared.over.get() {
        Some(bound) => Err(Wrong::Bound(bound)),
        None => outcome,
    };
    Ok(End { outcome, logs: shared.logs.take(), left: shared.left.get() })
}

type Outcome = Result<Option<Box<RawValue>>, Wrong>;

/// Evaluates the script: returns the function that settles calls, and the promise of its value.
fn begin<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<EngineState>,
    task: &Task,
) -> Result<(Function<'js>, Promise<'js>), Wrong> {
    let (sending, logging) = (shared.clone(), shared.clone());
    let send = Func::from(move |ctx: Ctx<'js>, path: String, arguments: String| {
        sending.send(path, arguments).map_err(|why| Exception::throw_range(&ctx, &why))
    });
    let log = Func::from(move |line: String| logging.log(line));
    let prepared = || -> rquickjs::Result<(Function<'js>, Function<'js>)> {
        let prelude: Function<'js> = ctx.eval_with_options(PRELUDE, options("prelude"))?;
        let own: Object<'js> = prelude.call((send, log))?;
        Ok((own.get("run")?, own.get("settle")?))
    };
    let (run, settle) = prepared().catch(ctx).map_err(|error| told(shared, &error))?;
    // On one line with the code before it, so that line numbers match the script.
    let source = format!("(async function (input) {{{}\n}})", task.script);
    let began = || -> rquickjs::Result<Promise<'js>> {
        let body: Function<'js> = ctx.eval_with_options(source, options(NAME))?;
        run.call((body, task.input.get()))
    };
    let value = began().catch(ctx).map_err(|error| told(shared, &error))?;
    Ok((settle, value))
}

fn options(name: &str) -> EvalOptions {
    let mut options = EvalOptions::default();
    options.filename = Some(name.to_owned());
    options
}

fn finish<'js>(
    ctx: &Ctx<'js>,
    shared: &EngineState,
    host: &mut dyn Host,
    settle: &Function<'js>,
    value: &Promise<'js>,
) -> std::io::Result<Outcome> {
    let mut open = 0usize;
    loop {
        while shared.over.get().is_none() && ctx.execute_pending_job() {}
        // An interrupted job leaves its exception.
        let _ = ctx.catch();
        if let Some(bound) = shared.over.get() {
            return Ok(Err(Wrong::Bound(bound)));
        }
        match value.state() {
            PromiseState::Resolved | PromiseState::Rejected => {
                shared.left.set(open + shared.calls.borrow().len());
                return Ok(outcome(ctx, shared, value));
            }
            PromiseState::Pending => {}
        }
        for call in shared.calls.take() {
            host.call(call)?;
            open += 1;
        }
        if open == 0 {
            return Ok(Err(Wrong::Stuck));
        }
        shared.pause();
        let (id, end) = host.wait()?;
        shared.resume();
        open -= 1;
        let settled: rquickjs::Result<()> = match &end {
            Settlement::Value(value) => settle.call((id, true, value.get())),
            Settlement::Failure(message) => settle.call((id, false, message.as_str())),
        };
        if let Err(error) = settled.catch(ctx) {
            return Ok(Err(told(shared, &error)));
        }
    }
}

fn outcome<'js>(ctx: &Ctx<'js>, shared: &EngineState, value: &Promise<'js>) -> Outcome {
    let text: Option<String> = match value.result().transpose().catch(ctx) {
        Ok(text) => text.flatten(),
        Err(error) => return Err(told(shared, &error)),
    };
    let Some(text) = text else { return Ok(None) };
    if text.len() > shared.bounds.output {
        return Err(Wrong::Bound(Bound::Output(shared.bounds.output)));
    }
    // A script may have tampered with the JSON serializer.
    RawValue::from_string(text)
        .map(Some)
        .map_err(|_| Wrong::Thrown("the script did not return JSON".to_owned()))
}

/// The message of an exception, with the script's line.
fn told(shared: &EngineState, error: &CaughtError<'_>) -> Wrong {
    let (mut words, stack) = match error {
        CaughtError::Exception(exception) => {
            let name = exception.as_object().get::<_, String>("name").unwrap_or_else(|_| "Error".to_owned());
            let message = exception.message().unwrap_or_default();
            if name == "InternalError" && message == "out of memory" {
                return Wrong::Bound(Bound::Memory(shared.bounds.memory));
            }
            (format!("{name}: {message}"), exception.stack())
        }
        // All that is left of an exception that did not fit in memory.
        CaughtError::Value(value) if value.is_null() => {
            let most = shared.bounds.memory / (1024 * 1024);
            (format!("the script used more than {most} MiB of memory, or threw null"), None)
        }
        CaughtError::Value(value) => (format!("the script threw {}", brief(value)), None),
        CaughtError::Error(error) => (error.to_string(), None),
    };
    words.truncate(words.floor_char_boundary(MESSAGE));
    if let Some(line) = stack.as_deref().and_then(line_of) {
        words.push_str(&format!(" (line {line} of the script)"));
    }
    if wants_outside(&words) {
        words.push_str(OUTSIDE);
    }
    Wrong::Thrown(words)
}

/// Does this failure mean that the script used an API of other JavaScript environments?
fn wants_outside(words: &str) -> bool {
    const NAMES: [&str; 14] = [
        "require",
        "module",
        "exports",
        "process",
        "fetch",
        "XMLHttpRequest",
        "WebSocket",
        "setTimeout",
        "setInterval",
        "setImmediate",
        "Buffer",
        "fs",
        "window",
        "document",
    ];
    if let Some(name) = words.strip_prefix("ReferenceError: ") {
        return name
            .split_once(' ')
            .is_some_and(|(name, rest)| NAMES.contains(&name) && rest.starts_with("is not defined"));
    }
    // `import x from`, `export`
    words.starts_with("SyntaxError: unsupported keyword: export")
        || words.starts_with("SyntaxError: Unexpected identifier")
        || words.starts_with("SyntaxError: unsupported keyword: import")
}

fn brief(value: &Value<'_>) -> String {
    let text = value.ctx().json_stringify(value.clone()).ok().flatten();
    text.and_then(|text| text.to_string().ok()).unwrap_or_else(|| format!("a {}", value.type_of()))
}

/// The first of the script's own lines in a stack.
fn line_of(stack: &str) -> Option<u32> {
    let own = stack.lines().find_map(|frame| frame.split_once(&format!("{NAME}:")))?.1;
    own.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

impl EngineState {
    fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            calls: RefCell::default(),
            made: Cell::default(),
            logs: RefCell::default(),
            logged: Cell::default(),
            left: Cell::default(),
            over: Cell::default(),
            spent: Cell::default(),
            since: Cell::new(crate::cpu_time()),
        }
    }

    /// Was a limit exceeded? Called by the engine every few thousand steps.
    fn is_over(&self) -> bool {
        let spent = self.spent.get() + crate::cpu_time().saturating_sub(self.since.get());
        if self.over.get().is_none() && spent > self.bounds.computing {
            self.over.set(Some(Bound::Computing(self.bounds.computing.as_secs())));
        }
        self.over.get().is_some()
    }

    fn pause(&self) {
        self.spent.set(self.spent.get() + crate::cpu_time().saturating_sub(self.since.get()));
    }

    fn resume(&self) {
        self.since.set(crate::cpu_time());
    }

    fn send(&self, path: String, arguments: String) -> Result<u32, String> {
        if arguments.len() > self.bounds.arguments {
            return Err(format!("the arguments of {path} have {} bytes, which is too much", arguments.len()));
        }
        let arguments =
            RawValue::from_string(arguments).map_err(|_| format!("the arguments of {path} are not JSON"))?;
        if self.made.get() == self.bounds.calls {
            let bound = Bound::Calls(self.bounds.calls);
            self.over.set(Some(bound));
            return Err(bound.to_string());
        }
        self.made.set(self.made.get() + 1);
        let id = self.made.get();
        self.calls.borrow_mut().push(CallRequest { id, path, arguments });
        Ok(id)
    }

    fn log(&self, mut line: String) {
        let mut logs = self.logs.borrow_mut();
        let room = self.bounds.logs.saturating_sub(self.logged.get());
        if line.len() >= room {
            line.truncate(line.floor_char_boundary(room));
            logs.cut = true;
        }
        // Even an empty line counts.
        self.logged.set(self.logged.get() + line.len() + 1);
        if room > 0 {
            logs.lines.push(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host that returns each call's path and arguments; those named `fail` fail.
    #[derive(Default)]
    struct Echo(std::collections::VecDeque<CallRequest>);

    impl Host for Echo {
        fn call(&mut self, call: CallRequest) -> std::io::Result<()> {
            self.0.push_back(call);
            Ok(())
        }

        fn wait(&mut self) -> std::io::Result<(u32, Settlement)> {
            // In reverse order.
            let CallRequest { id, path, arguments } = self.0.pop_back().expect("a call is open");
            let end = match path.as_str() {
                "a:fail" => Settlement::Failure("no such thing".to_owned()),
                "a:big" => {
                    let text = format!("\"{}\"", "x".repeat(8 * 1024 * 1024));
                    Settlement::Value(RawValue::from_string(text).unwrap())
                }
                _ => {
                    let value = serde_json::json!({ "path": path, "given": arguments });
                    Settlement::Value(serde_json::value::to_raw_value(&value).unwrap())
                }
            };
            Ok((id, end))
        }
    }

    /// A short CPU limit, because tests wait for it.
    fn end(script: &str) -> End {
        let bounds = Bounds { computing: Duration::from_millis(900), ..Bounds::default() };
        let task =
            Task { script: script.to_owned(), input: RawValue::from_string("{\"n\":2}".into()).unwrap() };
        run(&task, &bounds, &mut Echo::default()).unwrap()
    }

    fn value(script: &str) -> String {
        match end(script).outcome {
            Ok(value) => value.map_or_else(String::new, |value| value.get().to_owned()),
            Err(wrong) => format!("! {wrong}"),
        }
    }

    #[test]
    fn a_script_computes_calls_and_returns() {
        for (script, expected) in [
            ("return input.n + 1", "3"),
            ("return 'é'", "\"é\""),
            ("input.n", ""),
            ("return (await call('a:b', { x: 1 })).given.x", "1"),
            ("return (await call('a:b')).path", "\"a:b\""),
            ("return (await servers.a.some_tool({ x: [1] })).given", r#"{"x":[1]}"#),
            ("return (await servers['my a']['t']({})).path", "\"my a:t\""),
            ("return (await servers.a, 1)", "1"),
            (
                "return (await Promise.all([1, 2, 3].map((x) => servers.a.b({ x })))).map((r) => r.given.x)",
                "[1,2,3]",
            ),
            (
                "try { await call('a:fail') } catch (e) { return [e.name, e.message, e.tool] }",
                r#"["ToolError","no such thing","a:fail"]"#,
            ),
            (
                "const r = await Promise.allSettled([call('a:fail'), call('a:b')]); return r.map((r) => r.status)",
                r#"["rejected","fulfilled"]"#,
            ),
            ("return (await servers.a.big()).length", "8388608"),
            ("return [3, 1, 2].toSorted().findLast((x) => x < 3)", "2"),
        ] {
            assert_eq!(value(script), expected, "{script}");
        }
    }

    #[test]
    fn script_errors_name_their_line() {
        for (script, expected) in [
            ("return x", "! ReferenceError: x is not defined (line 1 of the script)"),
            ("\n\nnull.x", "! TypeError: cannot read property 'x' of null (line 3 of the script)"),
            ("const a = 1;\na b", "! SyntaxError: expecting ';' (line 2 of the script)"),
            ("await call('a:fail')", "! ToolError: no such thing"),
            (
                "import fs from 'fs'",
                "! SyntaxError: Unexpected identifier 'fs' (line 1 of the script). Scripts have no modules",
            ),
            (
                "return require('fs')",
                "! ReferenceError: require is not defined (line 1 of the script). Scripts have no modules",
            ),
            ("throw { a: 1 }", "! the script threw {\"a\":1}"),
            ("await new Promise(() => {})", "! the script waits for a promise that never settles"),
            ("call(1)", ""),
            ("await call(1)", "! TypeError: call needs a tool first: call(\"server:tool\", { … })"),
            ("await call('a:b', [1])", "! TypeError: the arguments of a:b must be an object"),
        ] {
            let got = value(script);
            assert!(got.starts_with(expected) && (!expected.is_empty() || got.is_empty()), "{script}: {got}");
        }
    }

    #[test]
    fn each_bound_is_named_and_cannot_be_caught() {
        for (script, expected) in [
            ("for (;;) {}", "computed for more than 0 s"),
            ("for (let i = 0; i < 201; i++) call('a:b').catch(() => {}); for (;;) {}", "more than 200 calls"),
            ("for (let i = 0; i < 300; i++) { try { await call('a:b') } catch {} }", "more than 200 calls"),
            ("const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)", "more than 64 MiB of memory"),
            ("return 'x'.repeat(9e6)", "returned more than 8 MiB"),
        ] {
            let got = value(script);
            assert!(got.starts_with('!') && got.contains(expected), "{script}: {got}");
        }
    }

    #[test]
    fn calls_without_a_waiting_client_are_counted() {
        assert_eq!(end("call('a:b'); call('a:b'); return 1").left, 2);
        assert_eq!(end("await call('a:b'); call('a:b')").left, 1);
        assert_eq!(end("return await Promise.all([call('a:b'), call('a:b')])").left, 0);
    }

    #[test]
    fn logged_text_is_returned_truncated() {
        let logs = end("console.log('a', 1, { b: [2] }, undefined, 3n, new Error('e')); console.warn()").logs;
        assert_eq!(
            logs,
            Logs { lines: vec!["a 1 {\"b\":[2]} undefined 3 Error: e".into(), String::new()], cut: false }
        );
        let logs = end("for (let i = 0; i < 1e5; i++) console.log('é'.repeat(100))").logs;
        assert!(logs.cut && logs.lines.iter().map(String::len).sum::<usize>() <= Bounds::default().logs);
    }
}
