//! A real server from npm on Node for Windows, started by the shim that npm writes.

use std::{fs, path::PathBuf};

use satchel_tests::target_directory;

use crate::{
    Case, NODE,
    home::{Home, on_windows},
};

pub(crate) const CASES: &[Case] = &[("a real server of npm runs on Node, by its shim", real_server)];

/// The shim that npm writes beside an installed program, for the script it runs.
fn shim(script: &str) -> String {
    format!(
        "@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\n\
         CALL :find_dp0\r\n\r\nIF EXIST \"%dp0%\\node.exe\" (\r\n  SET \"_prog=%dp0%\\node.exe\"\r\n) ELSE (\r\n  \
         SET \"_prog=node\"\r\n  SET PATHEXT=%PATHEXT:;.JS;=;%\r\n)\r\n\r\nendLocal & goto #_undefined_# 2>NUL \
         || title %COMSPEC% & \"%_prog%\"  \"%dp0%\\{script}\" %*\r\n"
    )
}

fn real_server(home: &Home) {
    let node = PathBuf::from(std::env::var_os(NODE).expect("the case is skipped without it"));
    let modules = home.dir.join("Program Files (ä)").join("node_modules");
    std::os::unix::fs::symlink(target_directory().join("real/node_modules"), &modules).expect("it is made");
    let script = "node_modules\\@modelcontextprotocol\\server-everything\\dist\\index.js";
    fs::write(home.dir.join("Program Files (ä)").join("everything.cmd"), shim(script))
        .expect("it is written");
    let path = [&home.programs(), &on_windows(&node), "C:\\windows\\system32"].map(|dir| dir.to_owned());
    let hub = home.serve_with_path(&path.join(";"), &[]);
    home.does(&["add", "every", "--", "everything", "stdio"]);
    let said = home.does(&["call", "every:echo", r#"{"message": "hällo 日本"}"#]);
    assert!(said.contains("Echo: hällo 日本"), "{said}");
    hub.quit(home);
}
