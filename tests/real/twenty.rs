//! Twenty tasks over real servers, as scripts and as the calls that a model would make without them: the answers are the
//! same, and the tokens are counted both ways. `SATCHEL_WRITE_DOCS=1` writes the table of `docs/scripts.md`.

use std::{fmt::Write, path::Path, process::Stdio};

use satchel_tests::{Home, eventually, repository};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, process::Command};

use crate::{clients, house::installed};

/// The cost of a task.
struct Counted {
    name: String,
    calls: usize,
    without: i64,
    with: i64,
}

impl Counted {
    fn percent(&self) -> f64 {
        100.0 * self.with as f64 / self.without as f64
    }
}

#[tokio::test]
async fn twenty_tasks_come_to_the_same_as_scripts_and_cost_less() {
    let home = Home::empty();
    furnish(&home).await;
    let hub = home.start_hub().await;
    let connection = hub.connection("by-hand").await;
    let client = hub.client("by-script").await;
    for path in [
        "filesystem:list_directory",
        "git:git_log",
        "memory:read_graph",
        "time:convert_time",
        "sqlite:list_tables",
        "everything:echo",
    ] {
        eventually(&format!("{path} is found"), async || {
            client.paths(path).await.iter().any(|found| found == path).then_some(())
        })
        .await;
    }
    home.satchel(&["surface", "by-script", "script"]).await.succeeded();
    let client = hub.client("by-script").await;
    let input = input(&home);
    let plan = json!({ "url": connection.url, "headers": connection.headers, "input": input });
    let tasks = by_hand(&home, &plan).await;
    assert_eq!(tasks.len(), 20);
    let mut counted = Vec::new();
    for task in &tasks {
        let name = task["name"].as_str().expect("a name");
        let arguments = json!({ "script": task["script"], "input": input });
        let told = client.call("run_mcp_script", arguments).await;
        let result = told.value();
        let content = &result["content"];
        assert_ne!(result["isError"], true, "{name}: {content}");
        let said = content[0]["text"].as_str().expect("a text");
        let value: Value = serde_json::from_str(said).unwrap_or_else(|_| json!(said));
        assert_eq!(value, task["answer"], "{name}");
        if let Some(known) = known(name) {
            assert_eq!(value, known, "{name}");
        }
        let calls = task["calls"].as_array().expect("calls");
        let texts: Vec<&str> = calls
            .iter()
            .flat_map(|call| [&call["request"], &call["content"]])
            .filter_map(Value::as_str)
            .collect();
        let ran = json!({ "name": "run_mcp_script", "arguments": { "script": task["script"], "input": used(task, &input) } });
        let without = home.tokens(&texts).await.iter().sum();
        let with = home.tokens(&[&ran.to_string(), &content.to_string()]).await.iter().sum();
        counted.push(Counted { name: name.to_owned(), calls: calls.len(), without, with });
    }
    let mut percents: Vec<f64> = counted.iter().map(Counted::percent).collect();
    percents.sort_by(f64::total_cmp);
    let median = (percents[9] + percents[10]) / 2.0;
    let table = table(&counted, median);
    println!("{table}");
    if std::env::var_os("SATCHEL_WRITE_DOCS").is_some() {
        write_table(&table);
    }
    assert!(percents[19] > 100.0, "a task with one small call is no gain, and is in the table");
    assert!(median < 50.0, "{median}");
}

/// The parts of the input that a task uses: a model would pass no others.
fn used(task: &Value, input: &Value) -> Value {
    let script = task["script"].as_str().unwrap_or_default();
    let fields = input.as_object().into_iter().flatten();
    fields
        .filter(|(key, _)| script.contains(&format!("input.{key}")))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn table(counted: &[Counted], median: f64) -> String {
    let mut table =
        "| task | calls | tokens without | as a script | of it |\n|---|---:|---:|---:|---:|\n".to_owned();
    for one in counted {
        let Counted { name, calls, without, with } = one;
        writeln!(table, "| {name} | {calls} | {without} | {with} | {:.0} % |", one.percent())
            .expect("a text takes it");
    }
    let (without, with) = counted.iter().fold((0, 0), |(a, b), one| (a + one.without, b + one.with));
    writeln!(
        table,
        "| **all; median** | {} | {without} | {with} | {median:.0} % |",
        counted.iter().map(|one| one.calls).sum::<usize>()
    )
    .expect("a text takes it");
    table
}

fn write_table(table: &str) {
    const BEGIN: &str = "<!-- twenty tasks -->\n";
    const END: &str = "<!-- end -->";
    let path = repository().join("docs/scripts.md");
    let text = std::fs::read_to_string(&path).expect("the note is there");
    let (before, rest) = text.split_once(BEGIN).expect("it has a place for the table");
    let (_, after) = rest.split_once(END).expect("that ends");
    std::fs::write(path, format!("{before}{BEGIN}{table}{END}{after}")).expect("it can be written");
}

/// The known result, from how the data was made.
fn known(name: &str) -> Option<Value> {
    Some(match name {
        "which notes say \"urgent\"" => json!(["note-05.md", "note-12.md", "note-19.md"]),
        "sum of 20 invoices" => json!((1..=20).map(|at| at * 17).sum::<i32>()),
        "longest note" => json!("note-24.md"),
        "files that differ between two folders" => json!(["part-2.txt", "part-7.txt"]),
        "invoices that the database lacks" => json!(["R-04", "R-09", "R-14", "R-19"]),
        "the largest file of a tree" => json!("/notes/note-24.md"),
        "commits per author" => json!({ "Ada": 14, "Bob": 13, "Cyd": 13 }),
        "commits that touched one file" => json!(3),
        "who wrote to do in what is not committed" => json!(["ada", "bob"]),
        "who is related to nobody" => json!(["person-20"]),
        "rows of each table" => {
            json!({ "paid": 16, "orders": 200, "people": 40, "teams": 5, "rooms": 8, "visits": 60 })
        }
        "tables with a column \"email\"" => json!(["people", "teams"]),
        "one count, one query" => json!(200),
        "the warmest of three cities" => json!("Los Angeles"),
        "the first line of one file" => json!("person-01"),
        _ => return None,
    })
}

fn input(home: &Home) -> Value {
    let at = |name: &str| home.file(name).display().to_string();
    json!({
        "root": at("files"), "notes": at("files/notes"), "invoices": at("files/invoices"), "before": at("files/before"),
        "after": at("files/after"), "repository": at("repository"),
    })
}

async fn by_hand(home: &Home, plan: &Value) -> Vec<Value> {
    let mut command = clients::script(home, "twenty.mjs");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("node can be started");
    let mut stdin = child.stdin.take().expect("its standard input is a pipe");
    stdin.write_all(plan.to_string().as_bytes()).await.expect("it reads its plan");
    drop(stdin);
    let output = child.wait_with_output().await.expect("it ends");
    let said = || String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said()))
}

/// Creates the data for the tasks.
async fn furnish(home: &Home) {
    let write = |name: &str, text: String| {
        let path = home.file(&format!("files/{name}"));
        std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("the home can be written to");
        std::fs::write(path, text).expect("the home can be written to");
    };
    for at in 1..=24 {
        let line = "What was said about the plan, and who would look at it next week.\n";
        let urgent = if at % 7 == 5 { "This is urgent.\n" } else { "" };
        write(&format!("notes/note-{at:02}.md"), format!("# Note {at}\n\n{urgent}{}", line.repeat(10 + at)));
    }
    for at in 1..=20 {
        let lines: Vec<Value> =
            (0..6).map(|line| json!({ "item": format!("item {line} of {at}"), "count": line + 1 })).collect();
        let invoice = json!({ "number": format!("R-{at:02}"), "customer": format!("customer {}", at % 6), "amount": at * 17, "lines": lines });
        write(
            &format!("invoices/invoice-{at:02}.json"),
            serde_json::to_string_pretty(&invoice).expect("it is JSON"),
        );
    }
    for at in 1..=10 {
        let text = format!("part {at}\n{}", "a line that stays as it was\n".repeat(12));
        write(&format!("before/part-{at}.txt"), text.clone());
        write(
            &format!("after/part-{at}.txt"),
            if at % 5 == 2 { format!("{text}and one more\n") } else { text },
        );
    }
    write("team.txt", (1..=15).map(|at| format!("person-{at:02}\n")).collect());
    remember(home);
    commit(home).await;
    fill(home).await;
    let script = |name: &str| installed(&format!("node_modules/.bin/{name}"));
    let python = |name: &str| installed(&format!("python/bin/{name}"));
    home.write_config(&json!({ "mcpServers": {
        "everything": { "command": script("mcp-server-everything"), "args": ["stdio"] },
        "filesystem": { "command": script("mcp-server-filesystem"), "args": [home.file("files")] },
        "memory": { "command": script("mcp-server-memory"), "env": { "MEMORY_FILE_PATH": home.file("memory.jsonl") } },
        "git": { "command": python("mcp-server-git"), "args": ["--repository", home.file("repository")] },
        "time": { "command": python("mcp-server-time"), "args": ["--local-timezone", "UTC"] },
        "sqlite": { "command": installed("sqlite/bin/mcp-server-sqlite"), "args": ["--db-path", home.file("data.db")] },
    } }));
}

/// A graph of people, each of whom knows the next; and what they work on.
fn remember(home: &Home) {
    const ZONES: [&str; 4] = ["Asia/Tokyo", "Asia/Kolkata", "America/Bogota", "Africa/Lagos"];
    let mut lines: Vec<Value> = (1..=20)
        .map(|at| {
            let told = [format!("lives in {}", ZONES[at % 4]), format!("joined in {}", 2000 + at), "likes short meetings".to_owned()];
            json!({ "type": "entity", "name": format!("person-{at:02}"), "entityType": "person", "observations": told })
        })
        .collect();
    lines.extend((1..=10).map(|at| {
        let told = [format!("is step {at} of the plan"), "has a budget".to_owned()];
        json!({ "type": "entity", "name": format!("project-{at:02}"), "entityType": "project", "observations": told })
    }));
    lines.extend((1..=19).map(|at| {
        let to = format!("project-{:02}", 1 + at % 10);
        json!({ "type": "relation", "from": format!("person-{at:02}"), "to": to, "relationType": "works on" })
    }));
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    std::fs::write(home.file("memory.jsonl"), text.join("\n")).expect("the home can be written to");
}

/// Forty commits by three people to ten files, and two uncommitted changes.
async fn commit(home: &Home) {
    let repository = home.file("repository");
    std::fs::create_dir(&repository).expect("the home can be written to");
    git(home, &repository, &["init", "--quiet"]).await;
    for at in 0..40 {
        let file = repository.join(format!("part-{}.txt", at % 10));
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        std::fs::write(&file, format!("{before}what commit {at} says about it\n"))
            .expect("the home can be written to");
        git(home, &repository, &["add", "."]).await;
        let who = ["Ada", "Bob", "Cyd"][at % 3];
        let what = if at % 8 == 3 {
            format!("fix what commit {} broke", at / 2)
        } else {
            format!("change part {} for the plan", at % 10)
        };
        let (name, email) = (format!("user.name={who}"), format!("user.email={who}@example.com"));
        git(home, &repository, &["-c", &name, "-c", &email, "commit", "--quiet", "-m", &what]).await;
    }
    for (file, who) in [("part-1.txt", "ada"), ("part-4.txt", "bob")] {
        let path = repository.join(file);
        let before = std::fs::read_to_string(&path).expect("it was committed");
        std::fs::write(&path, format!("{before}TODO({who}): say more\n"))
            .expect("the home can be written to");
    }
}

async fn git(home: &Home, repository: &Path, arguments: &[&str]) {
    let mut git = home.command("git");
    git.arg("-C").arg(repository).args(arguments);
    assert!(git.status().await.expect("git can be started").success(), "git {arguments:?}");
}

async fn fill(home: &Home) {
    let program = "import sqlite3, sys\n\
        db = sqlite3.connect(sys.argv[1])\n\
        db.execute('CREATE TABLE paid (number TEXT, day TEXT)')\n\
        db.executemany('INSERT INTO paid VALUES (?, ?)', [(f'R-{n:02}', f'2026-10-{n:02}') for n in range(1, 21) if n % 5 != 4])\n\
        for table, columns, rows in [('orders', 'id, customer, amount, day', 200), ('people', 'id, name, email, phone, team', 40), ('teams', 'id, name, email', 5), ('rooms', 'id, name, floor', 8), ('visits', 'id, person, room, day, minutes', 60)]:\n    \
            db.execute(f'CREATE TABLE {table} ({columns})')\n    \
            width = columns.count(',') + 1\n    \
            db.executemany(f'INSERT INTO {table} VALUES ({\",\".join(\"?\" * width)})', [(row,) + tuple(f'{row} {c}' for c in range(1, width)) for row in range(rows)])\n\
        db.commit()\n";
    let mut python: Command = home.command(installed("python/bin/python"));
    python.args(["-c", program]).arg(home.file("data.db"));
    assert!(python.status().await.expect("python can be started").success());
}
