//! The table of names and values that every room is tested with, and what is found within texts.

use super::*;

fn table() -> Vec<(&'static str, &'static str, bool)> {
    examples().map(|one| (one.name, one.value, one.is_credential)).collect()
}

#[test]
fn a_name_and_a_value_have_one_verdict() {
    let all = table();
    assert!(all.len() >= 120, "{}", all.len());
    let wrong: Vec<String> = all
        .iter()
        .filter(|(name, value, expected)| of(name, value, FieldKind::Variable).is_credential() != *expected)
        .map(|(name, value, _)| format!("{name}={value}: {}", of(name, value, FieldKind::Variable)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_place_changes_the_verdict_only_where_a_word_means_something_else_there() {
    let wrong: Vec<String> = table()
        .into_iter()
        // In a tool's arguments, a random text is more often the identifier of a document.
        .filter(|(name, ..)| *name != "FOO")
        .flat_map(|(name, value, expected)| {
            [FieldKind::Header, FieldKind::Flag, FieldKind::Field].map(|place| (name, value, expected, place))
        })
        .filter(|(name, value, expected, place)| of(name, value, *place).is_credential() != *expected)
        .map(|(name, value, _, place)| format!("{name}={value} as {place:?}: {}", of(name, value, place)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(of("key", "k", FieldKind::Query).is_credential());
    assert!(!of("key", "k", FieldKind::Variable).is_credential());
    assert!(of("sig", "a1b2c3d4", FieldKind::Query).is_credential());
}

#[test]
fn a_label_of_a_form_counts_without_a_value() {
    for name in [
        "password",
        "newPassword",
        "apiToken",
        "api_key",
        "API key",
        "Your PIN",
        "clientSecret",
        "OTP",
        "Kennwort",
        "verification code",
        "token value",
        "Seed phrase",
        "Passphrase",
        "Credit card number",
        "contraseña",
    ] {
        assert!(is_named(name), "{name}");
    }
    for name in [
        "monkey",
        "keyboard layout",
        "tokyo",
        "spinner",
        "max_tokens",
        "token_count",
        "key",
        "pinned",
        "secretary",
        "author",
        "passage",
        "Password length",
        "Name of the secret",
        "Public key",
        "Token limit",
        "PIN layout",
    ] {
        assert!(!is_named(name), "{name}");
    }
}

#[test]
fn only_the_credential_is_a_part() {
    let found = |name: &str, value: &str, place| -> Vec<String> {
        let label = |part: &CredentialPart| part.label.clone().map(|label| label + "=").unwrap_or_default();
        parts(name, value, place)
            .iter()
            .map(|part| format!("{}{}", label(part), &value[part.range.clone()]))
            .collect()
    };
    for (name, value, expected) in [
        ("Authorization", "Bearer abc", &["abc"][..]),
        ("Authorization", "Bearer ${TOKEN}", &[]),
        ("URL", "postgres://me:p%40ss@h/db?sslmode=require", &["password=p%40ss"]),
        ("URL", "postgres://me:pa/ss#w@h/db", &["password=pa/ss#w"]),
        ("URL", "postgres://me@h/db", &[]),
        ("URL", "https://h/mcp?api_key=k1&x=2#access_token=t", &["api_key=k1", "access_token=t"]),
        ("URL", "https://h:8080/a?email=a@b.example", &[]),
        ("DSN", "https://0123abcd4567@o1.ingest.example/2", &["userinfo=0123abcd4567"]),
        ("HOOK", "https://hooks.slack.com/services/T0/B0/abcdefghijk", &["path=services/T0/B0/abcdefghijk"]),
        ("REPO", "https://ghp_0123456789abcdefghij@github.com/a/b", &["userinfo=ghp_0123456789abcdefghij"]),
        ("REPO", "git+ssh://git@host/repo", &[]),
        ("URL", "https://mcp.example/sk-0123456789abcdef0123/mcp", &["path=sk-0123456789abcdef0123"]),
        ("URLS", "redis://:a1@h redis://:b2@i", &["password=a1", "password=b2"]),
        ("HEADERS", "{\"Authorization\": \"Bearer x1\"}", &["{\"Authorization\": \"Bearer x1\"}"]),
    ] {
        assert_eq!(found(name, value, FieldKind::Variable), expected, "{name}={value}");
    }
}

#[test]
fn what_is_secret_within_a_text_is_found_without_the_rest() {
    for (value, expected) in [
        ("Server=h;User Id=u;Password=p1;", &["p1"][..]),
        ("host=h password='p 1'", &["p"]),
        ("api-key=abc1,x=y", &["abc1"]),
        ("X-Team: blue\nAuthorization: Bearer abc1", &["abc1"]),
        ("{\"Authorization\": \"Bearer abc1\", \"a\": 1}", &["abc1"]),
        ("user:pw1@tcp(h:1)/db", &["pw1"]),
        ("use ghp_0123456789abcdefghij here", &["ghp_0123456789abcdefghij"]),
        ("plain text: nothing", &[]),
        ("--api-key abc123 --x 1", &["abc123"]),
        ("-----BEGIN RSA PRIVATE KEY----- MIIE", &[]),
        ("--", &[]),
        ("-- -- --a", &[]),
    ] {
        let found: Vec<&str> = inner(value).into_iter().map(|range| &value[range]).collect();
        assert_eq!(found, expected, "{value}");
    }
}

#[test]
fn credentials_among_arguments_are_found() {
    for (args, expected) in [
        (&["--db-pass", "V9"][..], &["db-pass=V9"][..]),
        (&["--passphrase", "correct horse"], &["passphrase=correct horse"]),
        (&["--token=abc"], &["token=abc"]),
        (&["--header", "Authorization: Bearer abc"], &["Authorization=abc"]),
        (&["-H", "X-Api-Key:abc"], &["X-Api-Key=abc"]),
        (&["--header", "X-Team: blue"], &[]),
        (&["-e", "GITHUB_TOKEN=ghp"], &["GITHUB_TOKEN=ghp"]),
        (&["--env=API_KEY=k"], &["API_KEY=k"]),
        (&["-e", "LEVEL=debug"], &[]),
        (&["--with", "keyring==25.0"], &[]),
        (&["--password", "--verbose"], &[]),
        (&["--token-file", "/run/token"], &[]),
        (&["--max-tokens", "4096"], &[]),
        (&["--no-auth", "server1"], &[]),
        (&["--connection-string", "Server=h;Password=p1"], &["connection-string=Server=h;Password=p1"]),
        (&["--", "-----BEGIN", "--a --b"], &[]),
        (&["serve", "sk-0123456789abcdef0123"], &["key=sk-0123456789abcdef0123"]),
        (&["https://u:pw@h/x?key=k"], &["password=pw", "key=k"]),
        (&["pg", "postgresql://me:${env:PW}@h"], &[]),
        (&["mcp:1.0@latest", "npm:@scope/pkg@1.0"], &[]),
        (&["-u", "me:hunter22"], &["password=hunter22"]),
        (&["--user=me:correct!horse"], &["password=correct!horse"]),
        (&["run", "--user", "1000:1000", "-u", "node:node", "--user", "app:www-data"], &[]),
        (&["/password:hunter22", "/server:db"], &["password=hunter22"]),
        (&["https://mcp.zapier.com/api/mcp/s/MjA1ZTQ0/mcp"], &["path=api/mcp/s/MjA1ZTQ0/mcp"]),
    ] {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        let found: Vec<String> = in_arguments(&args)
            .into_iter()
            .map(|one| format!("{}={}", one.label, &args[one.at][one.range]))
            .collect();
        assert_eq!(found, expected, "{args:?}");
    }
}

#[test]
fn code_is_shown_whole_but_for_the_values_in_it() {
    let found = |args: &[&str]| {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        in_arguments(&args).into_iter().map(|one| args[one.at][one.range].to_owned()).collect::<Vec<_>>()
    };
    for (args, expected) in [
        (&["-c", "API_KEY=Zq7r9xK2mPw4L33; touch x"][..], &["Zq7r9xK2mPw4L33"][..]),
        (&["-c", "export SECRET=abcdefgh1; touch x"], &[]),
        (&["-c", "# token: hunter2\ntouch x"], &[]),
        (&["-e", "const token='x'; run()"], &[]),
        (&["host", "TOKEN=abcdefgh1 run it"], &["abcdefgh1"]),
        (&["-c", "curl https://me:pw12345678@x.example"], &["pw12345678"]),
        (&["-e", "API_KEY=Zq7r9xK2mPw4L33"], &["Zq7r9xK2mPw4L33"]),
        (&["--token", "a b c d1"], &["a b c d1"]),
    ] {
        assert_eq!(found(args), expected, "{args:?}");
    }
    assert!(!of("NODE_OPTIONS", "--require /tmp/x --token=abcdefgh1", FieldKind::Variable).is_credential());
}
