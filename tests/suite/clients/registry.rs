//! What the registry and bundles describe becomes the expected command line, or is refused.

use std::{fs, path::Path};

use satchel_core::registry::{
    bundle,
    manifest::{Around, Manifest, ManifestError, Run},
    plan::{Choice, plan},
    server_json::{Answers, Page, ServerDocument, Status},
    signature::Signature,
};
use serde_json::{Map, Value, json};

use super::{cases, folders, json, name};

#[test]
fn descriptions_become_the_expected_command_lines() {
    let (mut wrong, mut all) = (Vec::new(), 0);
    for folder in folders(&cases("registry")) {
        let document = ServerDocument::read(&json(&folder.join("server.json"))).unwrap();
        let expected = json(&folder.join("expected.json"));
        for case in expected["cases"].as_array().unwrap() {
            all += 1;
            let index = usize::try_from(case["option"]["index"].as_u64().unwrap()).unwrap();
            let choice = match case["option"]["kind"].as_str().unwrap() {
                "package" => Choice::Package(index),
                _ => Choice::Remote(index),
            };
            let answers: Answers = serde_json::from_value(case["answers"].clone()).unwrap();
            let planned = plan(&document, choice, &answers).unwrap();
            let prompts: Vec<&str> = planned.prompts.iter().map(|prompt| prompt.id.as_str()).collect();
            let is = json!({
                "prompts": prompts, "result": planned.way.to_value(), "missing": planned.missing,
                "secrets": planned.secrets, "warnings": planned.warnings, "precheck": planned.precheck,
            });
            for (part, expected) in case.as_object().unwrap() {
                if is.get(part).is_some_and(|is| is != expected) {
                    wrong.push(format!("{}: {part}\n is {}\nnot {expected}", folder.display(), is[part]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {all}:\n{}", wrong.len(), wrong.join("\n"));
    println!("{all} of {all} cases");
}

#[test]
fn pages_of_the_registry_are_read_with_deleted_servers() {
    let first = Page::read(&json(&cases("registry").join("list-page-1.json")));
    let statuses: Vec<Status> = first.servers.iter().map(|(_, status, _)| *status).collect();
    assert!(first.next.is_some() && statuses.contains(&Status::Active), "{statuses:?}");
    let last = Page::read(&json(&cases("registry").join("list-page-2.json")));
    assert_eq!((last.next, last.skipped, last.servers.len()), (None, 0, 1));
    let (document, _, _) = &last.servers[0];
    let answers: Answers =
        [("url.tenant".to_owned(), json!("acme")), ("header.Authorization.api_key".to_owned(), json!("k"))]
            .into();
    let planned = plan(document, Choice::Remote(0), &answers).unwrap();
    assert_eq!(
        planned.way.to_value(),
        json!({"transport": "http", "url": "https://eu.crm.example.com/acme/mcp", "headers": {"Authorization": "Bearer k"}})
    );
    assert_eq!(planned.secrets, ["header.Authorization", "header.Authorization.api_key"]);
    let without = plan(document, Choice::Remote(0), &Answers::new()).unwrap();
    assert_eq!(without.missing, ["url.tenant", "header.Authorization.api_key"]);
}

fn as_value(run: Run) -> Value {
    let mut value = json!({"command": run.command, "args": run.args, "env": run.env});
    if let (Some(cwd), Some(map)) = (run.cwd, value.as_object_mut()) {
        map.insert("cwd".into(), cwd.into());
    }
    value
}

#[test]
fn manifests_become_the_expected_command_lines() {
    let expected = json(&cases("mcpb").join("expected.json"));
    let (mut wrong, mut all) = (Vec::new(), 0);
    for (file, runs) in expected["cases"].as_object().unwrap() {
        let manifest =
            Manifest::read(&fs::read(cases("mcpb").join(format!("{file}.manifest.json"))).unwrap()).unwrap();
        for case in runs.as_array().unwrap() {
            all += 1;
            let around = Around {
                platform: case["platform"].as_str().unwrap().to_owned(),
                bundle: expected["bundleDir"].as_str().unwrap().to_owned(),
                directories: serde_json::from_value(expected["systemDirs"].clone()).unwrap(),
            };
            let answers: Map<String, Value> = case["userConfig"].as_object().cloned().unwrap_or_default();
            let run = manifest.run(&around, &answers);
            // Where the two differ, this is what a hub should do.
            let wanted = case.get("hubResult").unwrap_or(&case["result"]);
            let secrets = run.as_ref().map(|run| json!(run.secret_fields)).unwrap_or_default();
            if let Some(expected) = case.get("secretFields")
                && *expected != secrets
            {
                wrong.push(format!("{file}: secrets are {secrets}, not {expected}"));
            }
            match (run, wanted) {
                (Err(ManifestError::Missing(_)), Value::Null) => {}
                (Err(ManifestError::Platform(_)), Value::String(text)) if text.starts_with("refused") => {}
                (Ok(run), Value::Object(expected)) => {
                    let is = as_value(run);
                    if expected.iter().any(|(key, value)| is.get(key) != Some(value)) {
                        wrong.push(format!("{file}: is {is}\nnot {wanted}"));
                    }
                }
                (other, _) => wrong.push(format!("{file}: is {other:?}\nnot {wanted}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {all}:\n{}", wrong.len(), wrong.join("\n"));
    println!("{all} of {all} cases");
}

/// Everything below a directory, by relative path.
fn below(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("it can be listed").flatten() {
        found.push(entry.path().display().to_string());
        if entry.path().is_dir() {
            found.extend(below(&entry.path()));
        }
    }
    found
}

#[test]
fn good_bundles_are_unpacked_and_bad_ones_leave_nothing() {
    let bundles = cases("mcpb").join("bundles");
    let (mut good, mut bad) = (0, 0);
    for (file, rule) in json(&bundles.join("expected.json")).as_object().unwrap() {
        let home = tempfile::tempdir().unwrap();
        let inner = home.path().join("a/b/bundles");
        let bytes = fs::read(bundles.join(file)).unwrap();
        let unpacked = bundle::unpack(&bytes, &inner.join("X"));
        let rule = rule.as_str().unwrap();
        if rule.starts_with("refused") {
            let error = unpacked.expect_err(file);
            assert!(!error.to_string().is_empty());
            let left: Vec<String> =
                below(home.path()).into_iter().filter(|path| !Path::new(path).is_dir()).collect();
            assert_eq!(left, [""; 0], "{file}");
            assert!(!inner.join("X").exists(), "{file}");
            bad += 1;
            continue;
        }
        let unpacked = unpacked.unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(unpacked.directory.join("manifest.json").is_file(), "{file}");
        let signed = unpacked.signature != Signature::None;
        assert_eq!(signed, file.contains("signature"), "{file}");
        #[cfg(unix)]
        if rule.contains("executable bit") {
            use std::os::unix::fs::PermissionsExt;
            let mode =
                fs::metadata(unpacked.directory.join("server/fast-index")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "whoever unpacked it can start it, and nobody else");
        }
        good += 1;
    }
    assert!(!Path::new("/tmp/evil.txt").exists());
    println!("{good} good, {bad} bad, of {}", name(&bundles));
}

/// Signed by `mcpb sign`, by an issued certificate, and with the signer identified by key identifier.
const SIGNED: [(&str, &str, Option<&str>); 3] = [
    ("rsa-self-signed", "MCPB Self-Signed Certificate", None),
    ("ecdsa-issued", "Mia's Tools", Some("Example Root")),
    ("p384-key-id", "Only An Organisation", None),
];

#[test]
fn a_bundles_signer_is_named_and_a_changed_bundle_is_refused() {
    for (file, name, issuer) in SIGNED {
        let bytes = fs::read(cases("mcpb").join("signed").join(file).with_extension("mcpb")).unwrap();
        let (_, signature) = bundle::look(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
        let Signature::By(signer) = &signature else { panic!("{file}: {signature:?}") };
        assert_eq!((signer.name.as_str(), signer.issuer.as_deref()), (name, issuer), "{file}");
        assert!(signature.caution().is_some_and(|caution| caution.text.contains(name)), "{file}");

        // The signature of this bundle on the contents of another.
        let seal = bytes.windows(11).rposition(|part| part == b"MCPB_SIG_V1").unwrap();
        let mut other = fs::read(cases("mcpb").join("bundles/good-node.mcpb")).unwrap();
        other.extend_from_slice(&bytes[seal..]);
        let home = tempfile::tempdir().unwrap();
        let error = bundle::unpack(&other, &home.path().join("X")).expect_err(file).to_string();
        assert!(error.contains("changed after it was signed") && error.contains(name), "{error}");
        assert_eq!(below(home.path()), [""; 0], "{file}");

        // Any damage in the signature itself: never a crash, and never another name without a warning.
        for at in seal + 15..bytes.len() - 12 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x40;
            if let Ok((_, Signature::By(other))) = bundle::look(&damaged) {
                assert!(other.name == signer.name || other.issuer.is_some(), "{file}, byte {at}: {other:?}");
            }
        }
    }
}
