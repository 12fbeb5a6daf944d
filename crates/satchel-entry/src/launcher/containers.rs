//! Finds `docker run` and the like in a command line, also behind wrappers and in the line of a shell, and puts options of the
//! caller's into it. Starts nothing, and does not look into programs that start containers themselves.

use super::{is_engine, options, unwrapped::NameWord};

/// A container that a command line starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerRun {
    /// The engine's client as written.
    pub engine: String,
    /// The client's options before `run`: which engine it is, for example `--host ADDRESS`.
    pub before: Vec<String>,
    /// The name that the container is given.
    pub name: Option<String>,
    /// Where the client writes the container's number.
    pub cidfile: Option<String>,
    /// It is in the line of a shell or of another program, so that words have to be quoted.
    pub in_line: bool,
}

/// The arguments with more options in front of those of each container that is started in the foreground.
pub fn with_options(
    command: &str,
    args: &[String],
    mut options: impl FnMut(&ContainerRun) -> Vec<String>,
) -> Vec<String> {
    let words: Vec<&str> = std::iter::once(command).chain(args.iter().map(String::as_str)).collect();
    let mut changed: Vec<String> = args.to_vec();
    for (at, word) in words.iter().enumerate() {
        // The line of a shell may end like a path to one.
        if !word.contains(char::is_whitespace)
            && is_engine(word)
            && let Some((run, place)) = read(word, &words[at + 1..], false)
        {
            // Words after `run`: it is argument number `at + place`.
            changed.splice(at + place..at + place, options(&run));
            return changed;
        }
        let is_line = at > 0 && word.contains(char::is_whitespace) && words[at - 1].starts_with(['-', '/']);
        if is_line && let Some(line) = line_with(word, &mut options) {
            changed[at - 1] = line;
        }
    }
    changed
}

/// The same in the line of a shell.
fn line_with(line: &str, options: &mut impl FnMut(&ContainerRun) -> Vec<String>) -> Option<String> {
    let tokens = tokens(line);
    let mut changed = line.to_owned();
    let mut found = false;
    // From the end, so that what is before stays where it is.
    for at in (0..tokens.len()).rev() {
        let (_, engine) = tokens[at];
        if !is_engine(engine) {
            continue;
        }
        let rest: Vec<&str> = tokens[at + 1..].iter().map(|(_, token)| *token).collect();
        let end = rest.iter().position(|token| matches!(*token, ";" | "&&" | "||" | "|" | "&"));
        let Some((run, place)) = read(engine, &rest[..end.unwrap_or(rest.len())], true) else { continue };
        let (start, token) = tokens[at + place];
        let more: String = options(&run).iter().map(|word| format!(" {word}")).collect();
        changed.insert_str(start + token.len(), &more);
        found = true;
    }
    found.then_some(changed)
}

/// The words of a line with where each begins, without quotes around it.
fn tokens(line: &str) -> Vec<(usize, &str)> {
    let mut tokens = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
        let word = &rest[start..];
        let word = &word[..word.find(char::is_whitespace).unwrap_or(word.len())];
        let plain = word.trim_matches(['"', '\'', '(', ')']);
        let plain = plain.trim_start_matches("$(");
        let begin = plain.as_ptr() as usize - line.as_ptr() as usize;
        tokens.push((begin, plain));
        rest = &rest[start + word.len()..];
    }
    tokens
}

/// The container that these words start, and how many of them there are up to `run`.
fn read(engine: &str, words: &[&str], in_line: bool) -> Option<(ContainerRun, usize)> {
    let words: Vec<NameWord> =
        words.iter().map(|word| NameWord { text: (*word).to_owned(), at: None }).collect();
    let first = options::first_operand(&options::ENGINE, &words)?;
    let run = match words[first].text.as_str() {
        "run" => first,
        "container" if words.get(first + 1)?.text == "run" => first + 1,
        _ => return None,
    };
    let (flags, rest) = options::read(&options::CONTAINER, &words[run + 1..]);
    let is_detached = flags.iter().any(|flag| matches!(flag.name.as_str(), "-d" | "--detach"));
    if is_detached || rest.is_empty() {
        return None;
    }
    let value = |name: &str| flags.iter().find(|flag| flag.name == name).and_then(|flag| flag.value.clone());
    let found = ContainerRun {
        engine: engine.to_owned(),
        before: words[..first].iter().map(|word| word.text.clone()).collect(),
        name: value("--name"),
        cidfile: value("--cidfile"),
        in_line,
    };
    Some((found, run + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &[&str], expected: &[&str]) {
        let args: Vec<String> = line[1..].iter().map(|arg| (*arg).to_owned()).collect();
        let options = |run: &ContainerRun| {
            let name = run.name.as_deref().unwrap_or("-");
            vec![format!("--label={}:{}:{name}", run.engine, run.before.join(","))]
        };
        assert_eq!(with_options(line[0], &args, options), expected, "{line:?}");
    }

    #[test]
    fn options_come_behind_run_wherever_it_stands() {
        check(&["docker", "run", "-i", "img"], &["run", "--label=docker::-", "-i", "img"]);
        check(
            &["/usr/bin/podman", "--url", "ssh://x", "container", "run", "--name", "n", "img", "run"],
            &[
                "--url",
                "ssh://x",
                "container",
                "run",
                "--label=/usr/bin/podman:--url,ssh://x:n",
                "--name",
                "n",
                "img",
                "run",
            ],
        );
        check(
            &["env", "A=1", "nerdctl", "run", "--rm", "img"],
            &["A=1", "nerdctl", "run", "--label=nerdctl::-", "--rm", "img"],
        );
        check(
            &["sh", "-c", "cd x && exec docker run -i --name=n img; echo docker run"],
            &["-c", "cd x && exec docker run --label=docker::n -i --name=n img; echo docker run"],
        );
        check(
            &["npx", "-y", "supergateway", "--stdio", "docker run -i img"],
            &["-y", "supergateway", "--stdio", "docker run --label=docker::- -i img"],
        );
    }

    #[test]
    fn what_starts_no_container_stays() {
        for line in [
            &["docker", "ps"][..],
            &["docker", "run", "-d", "img"],
            &["docker", "exec", "-i", "x", "run"],
            &["docker", "compose", "run", "x"],
            &["docker", "run"],
            &["npx", "docker-mcp", "run", "x"],
            &["echo", "use docker run it"],
        ] {
            check(line, &line[1..]);
        }
    }
}
