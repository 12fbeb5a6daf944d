//! Whether a tool carries out what it is given: commands, code, statements. Its name, its description, and the names and
//! permitted values of its arguments count. A query that is said to read only is none.

use super::{
    schema::Argument,
    verbs::{is, is_form},
};

/// Programs that execute what they are given, as words of a name.
const PROGRAMS: &str = "bash sh zsh shell powershell pwsh terminal cmd ipython python javascript js typescript ruby perl php lua repl \
    ssh kubectl subprocess sql psql cypher osascript applescript jxa cli eval exec jshell sqlcmd mongosh adb gdb tmux aws az \
    gcloud vba lua csharp applescripts frida hammerspoon";
/// Words of which one alone, with nothing but such words beside it, says that anything is executed.
const SHELLS: &str = "exec execute eval evaluate sh bash zsh shell powershell pwsh cmd";
/// Languages, as words of the name of an argument or a tool.
const LANGUAGES: &str = "bash sh shell powershell pwsh python javascript js typescript ts ruby perl php lua vba csharp java sql r \
    applescript jxa gdscript rust go c cpp source script cli user";
/// Verbs and nouns of tools that execute their input.
const EXECUTING: &str = "exec execute executor execution run runner eval evaluate evaluator process spawn console system sudo \
    command commands interpreter sandbox batch";
/// Arguments that contain what is executed.
const EXECUTED: &str = "command commands cmd cmds code script scripts sql sql_query query_sql sql_statement statement statements \
    expression expr shell_command bash program javascript js python source source_code snippet function cmdline \
    command_line argv cell cypher cypher_query shell powershell script_content code_snippet script_code sql_text gremlin \
    sparql_update applescript php_code python_code js_code javascript_code bash_command";
/// Arguments that may contain anything.
const ANYTHING: &str = "input inputs text args arguments query queries content body line lines prompt string payload data params keys keystrokes";
/// What is said to be executed.
const OBJECTS: &str = "command commands code script scripts sql statement statements shell bash sh zsh python javascript js powershell \
    typescript terminal cypher applescript program programs snippet snippets mutation mutations ddl dml java php ruby lua vba \
    perl c# csharp";
/// What may follow such a word, if it ends the object.
const AFTER: &str = "or and on in against from for with to via using inside within through at by directly the a an and/or of that \
    which you locally remotely safely securely query queries commands command code snippet snippets script scripts \
    statement statements string strings expression expressions file files block blocks cell cells as if when based operation operations";
/// Verbs of tools that look at code or a query without executing it.
const LOOKING: &str = "explain validate format parse lint translate convert analyze analyse optimize optimise check estimate \
    describe diff compare highlight beautify review get list search find show inspect generate save store create \
    build test debug fix refactor document summarize preview render count browse read select view fetch watch";
/// Languages of databases that can also write.
const DATABASES: &str = "sql mysql postgres postgresql mariadb sqlite duckdb motherduck mssql oracle neo4j cypher memgraph kuzu database \
    databases tsql t-sql plsql graphql";
/// Arguments that select what the tool does.
const SELECTING: &str = "action actions operation operations op command cmd subcommand sub_command method verb act task mode type kind \
    tool request request_type action_type operation_type";
/// Those whose deleting values count: a mode that overwrites is how something is written.
const SELECTING_PLAINLY: &str =
    "action operation op command cmd subcommand sub_command method verb act action_type operation_type";
/// Values that delete, or end something for good.
const ENDING: &str = "delete remove uninstall drop destroy purge wipe erase truncate format shutdown reboot poweroff kill terminate \
    unpublish revoke factory_reset nuke";

/// Does it execute the content of one of its arguments?
pub(super) fn carries_out(name: &[String], description: &str, arguments: &[Argument]) -> bool {
    if selects(arguments, runs) {
        return true;
    }
    let free = |list: &str| arguments.iter().any(|one| one.free && is(list, &one.name));
    let looks = name.first().is_some_and(|word| is(LOOKING, word));
    let executed = arguments.iter().any(|one| one.free && is_executed(&one.name));
    if is_a_shell(name) || calls_anything(description) {
        return true;
    }
    let by_name = !looks
        && runs_by_name(name, executed, free(ANYTHING), free("path file filename script_path file_path"));
    let takes_text = arguments.iter().any(|one| one.free);
    let by_text = (executed || free(ANYTHING)) && says_it_executes(description)
        || takes_text
            && !looks
            && (says_it_gets_executed(description)
                || says_it_executes_a_language(description)
                || types_into_a_shell(name, description));
    let by_query = !looks
        && free("sql sql_query query_sql sql_statement cypher cypher_query gremlin statement statements");
    let by_database =
        !looks && free("query queries sql q statement") && queries_a_database(name, description, arguments);
    let by_argument = arguments.iter().any(|one| one.free && !looks && says_it_is_executed(&one.text));
    let any = by_name || by_text || by_query || by_database || by_argument;
    any && !(reads_only(name, description) && is_of_queries(name, description, arguments))
}

/// May one of its actions delete, or end something for good?
pub(super) fn deletes_by_choice(arguments: &[Argument]) -> bool {
    let free = |list: &str| arguments.iter().any(|one| one.free && is(list, &one.name));
    // Any request of an interface.
    if free("method http_method") && free("path endpoint url uri api_path") {
        return true;
    }
    arguments.iter().any(|one| {
        is(SELECTING_PLAINLY, &one.name)
            && one.values.iter().any(|value| {
                value.first().is_some_and(|word| is(ENDING, word)) || is(ENDING, &value.join("_"))
            })
    })
}

/// An argument called `command`, `cli_command`, `lua_code`; not `country_code`.
fn is_executed(name: &str) -> bool {
    let language = |word: &str| word.rsplit('_').next().is_some_and(|last| is(LANGUAGES, last));
    is(EXECUTED, name)
        || ["_command", "_commands", "_cmd", "_cmdline"].iter().any(|end| name.ends_with(end))
        || ["_code", "_script", "_snippet", "_source", "_program"]
            .iter()
            .any(|end| name.strip_suffix(end).is_some_and(language))
}

/// `exec`, `run_shell`, `shell-exec`, `eval_js`, whatever their arguments are called.
fn is_a_shell(name: &[String]) -> bool {
    let executes = |word: &str| is(SHELLS, word) || is("run command commands line", word);
    let runs_a_language = name.len() == 2
        && is("run execute exec eval evaluate", &name[0])
        && (is("python javascript js lua vba ruby perl php csharp applescript bash shell sh", &name[1]));
    let all = !name.is_empty() && name.iter().all(|word| executes(word));
    all && name.iter().any(|word| is(SHELLS, word)) || runs_a_language
}

/// "Call any C# method", "invoke any function".
fn calls_anything(description: &str) -> bool {
    let words: Vec<&str> = description.split_whitespace().take(20).map(bare).collect();
    words.windows(2).enumerate().any(|(at, two)| {
        is_form("call invoke", two[0])
            && two[1] == "any"
            && words[at + 2..].iter().take(3).any(|word| is("method methods function functions", word))
    })
}

/// "Runs `sh -c` with the given text", "evaluates an expression with Python eval()", "executes Python code".
fn says_it_executes_a_language(description: &str) -> bool {
    let words: Vec<&str> = description.split_whitespace().take(60).collect();
    let begins = |word: &str| {
        is_form("execute run evaluate eval exec inject interpret compile schedule launch spawn", bare(word))
    };
    let language = |word: &str| {
        is(
            "shell bash sh zsh powershell python javascript js lua vba applescript c# csharp ruby perl",
            bare(word),
        )
    };
    let what =
        |word: &str| is("code script scripts command commands line macro statement statements", bare(word));
    let is_code = |after: &[&str]| {
        let at = after.iter().take(4).position(|word| language(word));
        at.is_some_and(|at| {
            let ends = after[at].ends_with(['.', ',', ';', '`', ')']);
            ends || after.get(at + 1).is_none_or(|next| what(next) || is("in into on c inside", bare(next)))
        })
    };
    let executes = (0..words.len()).any(|at| {
        let carries_out = is_form("carry carrie", bare(words[at])) && words.get(at + 1) == Some(&"out");
        let after = if carries_out { at + 2 } else { at + 1 };
        (begins(words[at]) || carries_out)
            && !is_negated(&words[..at])
            && is_code(words.get(after..).unwrap_or_default())
    });
    let german = words.iter().any(|word| is("shell-befehl shell-befehle shellbefehl", bare(word)));
    executes || german || description.contains("eval()") || description.contains("exec()")
}

fn selects(arguments: &[Argument], does: fn(&[String]) -> bool) -> bool {
    arguments.iter().any(|one| is(SELECTING, &one.name) && one.values.iter().any(|value| does(value)))
}

/// A value such as `shell`, `run_command`, `eval`.
fn runs(value: &[String]) -> bool {
    let any = |list: &str| value.iter().any(|word| is(list, word));
    match value {
        [word] => is("shell exec eval bash powershell execute terminal", word),
        _ => {
            any("run exec execute eval evaluate")
                && any("command commands code script sql shell cmd js javascript python")
        }
    }
}

fn runs_by_name(name: &[String], executed: bool, anything: bool, file: bool) -> bool {
    let any = |list: &str| name.iter().any(|word| is(list, word));
    let ends = |list: &str| name.last().is_some_and(|word| is(list, word));
    let program = any(PROGRAMS);
    let runs = any(EXECUTING);
    let last = "code script query statement input send write keys";
    (program || runs) && executed
        || program && anything && (ends(PROGRAMS) || ends(EXECUTING) || ends(last))
        || anything && name.iter().all(|word| is(EXECUTING, word))
        || any("run exec execute start") && any("script scripts notebook program") && (file || anything)
}

/// "Executes the given command or code", "Run a SQL query", "evaluate JavaScript in the page".
fn says_it_executes(description: &str) -> bool {
    let words: Vec<&str> = description.split_whitespace().take(60).collect();
    let verb = |word: &str| is_form("execute run evaluate eval exec", bare(word));
    (0..words.len()).any(|at| verb(words[at]) && !is_negated(&words[..at]) && has_object(&words[at + 1..]))
}

/// "without executing it", "does not run".
fn is_negated(before: &[&str]) -> bool {
    before.last().is_some_and(|word| {
        is("without not never cannot don't doesn't before after when while how", bare(word))
    })
}

fn has_object(words: &[&str]) -> bool {
    let reach = words.iter().take(7).position(|word| is(OBJECTS, bare(word)));
    let Some(at) = reach else { return false };
    // A sentence ends before it.
    let other = "results result using by with for from via in on using through";
    if words[..at].iter().any(|word| word.ends_with(['.', ';', ':']) || is(other, bare(word))) {
        return false;
    }
    let ends = words[at].ends_with(|c: char| !c.is_alphanumeric() && c != '#');
    let goes_on = |next: &str| is(AFTER, next) || is(OBJECTS, next) || next.ends_with("ly");
    ends || words.get(at + 1).is_none_or(|next| goes_on(bare(next)))
}

/// "The command to execute", "SQL to run".
fn says_it_is_executed(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().take(40).map(bare).collect();
    words.windows(3).enumerate().any(|(at, three)| {
        let ends = is("execute run evaluate eval exec", three[2]) && is("to be", three[1]);
        let of_database = at > 0 && is(DATABASES, words[at - 1]);
        ends && (is(OBJECTS, three[0]) || is("query queries expression", three[0]) && of_database)
    })
}

/// "It will be executed on the host", after what it is.
fn says_it_gets_executed(description: &str) -> bool {
    let words: Vec<&str> = description.split_whitespace().take(40).map(bare).collect();
    let passive = |at: usize| {
        at > 0
            && is("executed evaluated", words[at])
            && is("be is are gets get being directly", words[at - 1])
    };
    (0..words.len()).any(|at| {
        passive(at)
            && !is_negated(&words[..at - 1])
            && words[at.saturating_sub(8)..at].iter().any(|word| is(OBJECTS, word))
    })
}

/// "Sends keystrokes to the terminal session".
fn types_into_a_shell(name: &[String], description: &str) -> bool {
    let sends = |word: &str| is_form("send write type input interact paste", word);
    let words: Vec<&str> = description.split_whitespace().take(20).map(bare).collect();
    let sends_by_name = name.iter().any(|word| sends(word));
    let to_stdin =
        name.iter().any(|word| word == "stdin") || words.windows(2).any(|two| two == ["standard", "input"]);
    sends_by_name && to_stdin
        || sends_by_name
            && words.first().is_some_and(|word| sends(word))
            && words.windows(4).any(|four| {
                let of_shells = "terminal shell repl tmux pty process processes interpreter console";
                is("to into", four[0]) && four[1..].iter().any(|word| is(of_shells, word))
            })
}

/// "Execute a query against the database".
fn queries_a_database(name: &[String], description: &str, arguments: &[Argument]) -> bool {
    let words: Vec<&str> = description.split_whitespace().take(60).map(bare).collect();
    let runs = words.first().is_some_and(|word| is_form("execute run", word))
        || name.iter().any(|word| is("execute exec run write", word))
        || words.windows(6).any(|six| {
            is_form("execute run", six[0]) && six[1..].iter().any(|word| is("query queries", word))
        });
    // `execute_query` is what servers of databases call it.
    let called = name.iter().any(|word| is("execute exec run write", word))
        && name.last().is_some_and(|word| word == "query");
    let changes = words.windows(5).any(|five| {
        is("insert update delete drop alter", five[0])
            && five.iter().any(|word| is("query queries statement statements", word))
    });
    let database = called
        || changes
        || words.iter().any(|word| is(DATABASES, word))
        || name.iter().any(|word| is(DATABASES, word))
        || arguments.iter().any(|one| one.text.split_whitespace().any(|word| is(DATABASES, bare(word))));
    // Languages that only read.
    let reads = words
        .iter()
        .chain(&name.iter().map(String::as_str).collect::<Vec<_>>())
        .any(|word| is("kusto kql promql logql", word));
    runs && database && !reads
}

/// Is what it executes a query, rather than a command or code?
fn is_of_queries(name: &[String], description: &str, arguments: &[Argument]) -> bool {
    let query = |word: &str| is("query queries sql select cypher statement statements", word);
    let shell = |word: &str| {
        is("shell bash command commands code python javascript script powershell terminal", word)
    };
    let words = || description.split_whitespace().take(60).map(bare);
    (name.iter().any(|word| query(word))
        || words().any(query)
        || arguments.iter().any(|one| query(&one.name)))
        && !name.iter().any(|word| shell(word))
}

fn reads_only(name: &[String], description: &str) -> bool {
    let words: Vec<&str> = description.split_whitespace().take(60).map(bare).collect();
    let says = |pair: &[&str]| {
        is("read-only readonly select", pair[0])
            && is("query queries sql statement statements select access", pair[1])
            || pair[0] == "only" && pair[1] == "select"
            || pair[0] == "select" && pair[1] == "only"
    };
    name.iter().any(|word| is("read select readonly", word))
        || words.windows(2).any(says)
        || words
            .windows(3)
            .any(|three| three[0] == "read" && three[1] == "only" && is("query queries sql", three[2]))
        || words.windows(2).any(|two| two[0] == "read-only" && is(DATABASES, two[1]))
}

/// Without signs around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}
