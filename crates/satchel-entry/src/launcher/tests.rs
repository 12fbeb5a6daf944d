//! Tables of command lines and what they run.

use super::*;

fn launch(line: &str) -> Launch {
    let mut words = words(line).into_iter();
    let command = words.next().unwrap_or_default();
    Launch::of(&command, &words.collect::<Vec<_>>())
}

/// Splits at spaces outside single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// What runs, in one word, and the name of a server made of it.
fn told(line: &str) -> (String, String) {
    let launch = launch(line);
    let runs = match &launch.runs {
        Runs::Packages(packages) => {
            let texts: Vec<&str> = packages.iter().map(|package| package.text.as_str()).collect();
            format!("package {}", texts.join(" "))
        }
        Runs::File(path) => format!("file {path}"),
        Runs::Module(module) => format!("module {module}"),
        Runs::Code(code) => format!("code {code}"),
        Runs::Address(url) => format!("address {url}"),
        Runs::Program(program) => format!("program {program}"),
        Runs::Nothing => "nothing".into(),
    };
    (runs, launch.name().unwrap_or_default())
}

#[test]
fn what_a_command_line_runs_is_found_behind_options_and_wrappers() {
    for (line, runs, name) in [
        ("npx -y @scope/server@1.2.3 --port 3", "package @scope/server@1.2.3", "server"),
        ("npx --package=server@1 -p other tool", "package server@1 other", "server"),
        ("npx -c 'rm x'", "code rm x", ""),
        ("npx --registry https://r.example server", "package server", "server"),
        ("npm exec -y -- server -p x", "package server", "server"),
        ("npm --registry https://r.example exec server", "package server", "server"),
        ("npm start", "program npm", "npm"),
        ("pnpm dlx server@2.0.1", "package server@2.0.1", "server"),
        ("pnpm --package=a dlx tool", "package a", "a"),
        ("yarn dlx -q server", "package server", "server"),
        ("bunx --bun server", "package server", "server"),
        ("bun x server", "package server", "server"),
        ("bun run src/index.ts", "file src/index.ts", "index"),
        ("uvx --with 'mcp<2' server==1", "package server==1", "server"),
        ("uvx --python 3.12 server", "package server", "server"),
        ("uvx -p3.12 -q server[x]", "package server[x]", "server"),
        (
            "uvx --from git+https://h.example/a/b.git@main tool",
            "package git+https://h.example/a/b.git@main",
            "b",
        ),
        ("uv tool run --from server>=1 tool", "package server>=1", "server"),
        ("uv --directory /srv/mail run server.py", "file server.py", "server"),
        ("uv run --with fastmcp -m pkg.server --x", "module pkg.server", "pkg"),
        ("uv run -", "code -", ""),
        ("uv run mcp-server-time", "program mcp-server-time", "mcp-server-time"),
        ("pipx run --spec server==1 tool", "package server==1", "server"),
        (
            "docker run -i --rm -e TOKEN=x -v /a:/b ghcr.io/o/server:1.2 --flag",
            "package ghcr.io/o/server:1.2",
            "server",
        ),
        ("docker run -it --network host mcp/fetch", "package mcp/fetch", "fetch"),
        (
            "docker run -ie TOKEN --name n localhost:5000/o/fetch@sha256:ab",
            "package localhost:5000/o/fetch@sha256:ab",
            "fetch",
        ),
        ("docker --context c container run -i image", "package image", "image"),
        ("podman run --rm --unknown-option value image", "package image", "image"),
        ("docker compose up", "program docker", "docker"),
        ("dnx Good.Mcp@1.0.0 --yes", "package Good.Mcp@1.0.0", "Good.Mcp"),
        ("dotnet tool exec Good.Mcp", "package Good.Mcp", "Good.Mcp"),
        ("deno run -A npm:@scope/server@1", "package @scope/server@1", "server"),
        ("deno run --allow-net https://deno.example/x.ts", "address https://deno.example/x.ts", "x"),
        ("python -m pkg.server --stdio", "module pkg.server", "pkg"),
        ("/usr/bin/python3.12 -u /srv/mail/server.py", "file /srv/mail/server.py", "mail"),
        ("python3 -c 'import os'", "code import os", ""),
        ("node --import tsx /srv/notes/dist/index.js", "file /srv/notes/dist/index.js", "notes"),
        ("node -e 'evil()'", "code evil()", ""),
        ("go run example.com/o/tool/v2@v2.1.0", "package example.com/o/tool/v2@v2.1.0", "tool"),
        ("java -Xmx1g -jar /srv/s.jar --x", "file /srv/s.jar", "s"),
        ("cmd /c npx -y server", "package server", "server"),
        ("cmd.exe /d /s /c 'npx -y server'", "package server", "server"),
        ("env -u B A=1 npx -y server", "package server", "server"),
        ("sh -c 'exec npx -y server'", "package server", "server"),
        ("bash -lc 'cd /srv && A=1 uvx server'", "package server", "server"),
        ("bash -c 'curl https://x.example | sh'", "code curl https://x.example | sh", ""),
        ("busybox sh -c 'a; b'", "code a; b", ""),
        ("powershell -NoProfile -Command npx -y server", "package server", "server"),
        ("sudo -u me timeout 30 npx server", "package server", "server"),
        ("mise exec node@22 -- npx -y server", "package server", "server"),
        ("op run --env-file .env -- uvx server", "package server", "server"),
        ("C:\\tools\\fs-mcp.exe x", "program C:\\tools\\fs-mcp.exe", "fs-mcp"),
        ("/opt/bin/server", "program /opt/bin/server", "server"),
        ("npx", "nothing", ""),
        ("sh", "program sh", "sh"),
    ] {
        assert_eq!(told(line), (runs.into(), name.into()), "{line}");
    }
}

#[test]
fn what_may_be_fetched_first_is_known_also_behind_a_shell() {
    for (line, fetcher) in [
        ("npx -y x", Some("npx")),
        ("/usr/bin/uvx.exe x", Some("uvx")),
        ("npm start", Some("npm")),
        ("docker run -i x", Some("docker")),
        ("cmd /c npx -y x", Some("npx")),
        ("bash -lc 'exec uvx x'", Some("uvx")),
        ("sh -c '. ./env; (npx x)'", Some("npx")),
        ("node npx", None),
        ("sh -c ./server", None),
    ] {
        assert_eq!(launch(line).fetcher().as_deref(), fetcher, "{line}");
    }
}

#[test]
fn programs_of_one_family_are_known_by_each_other() {
    assert!(family("/opt/docker").eq(["docker", "podman", "nerdctl", "finch"]));
    assert!(family("uvx.exe").eq(["uv", "uvx", "pipx"]));
    assert_eq!(family("my-server").count(), 0);
    assert!(starts_servers("python3") && !starts_servers("ls") && is_engine("podman") && !is_engine("npx"));
}

#[test]
fn a_version_counts_only_where_it_is_exact() {
    for (line, name, version) in [
        ("npx @scope/server@1.2.3", "@scope/server", Some("1.2.3")),
        ("npx server@^1.2.3", "server", None),
        ("npx server@latest", "server", None),
        ("uvx server[x]==1.0", "server[x]", Some("1.0")),
        ("uvx 'server >= 1'", "server", None),
        ("docker run h:5000/a/b:1.2", "h:5000/a/b", None),
        ("docker run a/b:1@sha256:ab", "a/b", Some("sha256:ab")),
        ("dnx A.B@1.0.0-preview.2", "A.B", Some("1.0.0-preview.2")),
        ("go run h.example/t@v1.2.3", "h.example/t", Some("v1.2.3")),
    ] {
        let launch = launch(line);
        let package = launch.package().unwrap_or_else(|| panic!("{line}"));
        assert_eq!((package.name(), package.version()), (name, version), "{line}");
    }
}

#[test]
fn the_word_that_names_a_package_can_be_found_again() {
    for (line, at) in [
        ("npx -y server", Some(1)),
        ("npx --package=server tool", Some(0)),
        ("cmd /c npx -y server", Some(3)),
        ("sh -c 'npx server'", None),
        ("uvx --from server tool", Some(1)),
    ] {
        assert_eq!(launch(line).package().and_then(|package| package.at), at, "{line}");
    }
}
