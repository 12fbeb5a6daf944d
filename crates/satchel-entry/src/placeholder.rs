//! What placeholders stand for: Satchel's own `${project}`, and those of editors and bundles, such as `${workspaceFolder}`,
//! `${userHome}` and `${user_config.key}`. They are no environment variables and no secrets. Fills in nothing.

/// The name of the placeholder that stands for the folder of a session.
pub const PROJECT_FOLDER: &str = "project";

/// What a placeholder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholder<'a> {
    /// The folder of the session that an instance serves: `${project}`.
    Folder,
    /// The folder of the project that is open in an editor, or its name or a file in it.
    Project,
    /// The folder that a program is started in.
    Directory,
    /// The user's home directory.
    Home,
    /// What separates the parts of a path.
    Separator,
    /// The folder of the package that contains the entry: a bundle, an extension, a plug-in.
    Package,
    /// A setting of a bundle.
    Setting(&'a str),
    /// What an editor knows or asks for: `${config:x}`, `${command:x}`, `${input:x}`.
    Editor,
    /// A variable, as development containers write it: `${localEnv:HOME}`.
    Variable(&'a str),
}

/// Editors' words for the folder of the open project.
const FOLDER: &[&str] = &[
    "workspaceFolder",
    "workspaceRoot",
    "workspacePath",
    "fileWorkspaceFolder",
    "projectRoot",
    "projectFolder",
    "projectDir",
    "projectPath",
    "CLAUDE_PROJECT_DIR",
    "localWorkspaceFolder",
    "ZED_WORKTREE_ROOT",
    "PROJECT_DIR",
];

/// Their words for its name, or for something in it.
const IN_PROJECT: &[&str] = &[
    "workspaceFolderBasename",
    "workspaceRootFolderName",
    "fileDirname",
    "fileBasename",
    "fileBasenameNoExtension",
    "fileDirnameBasename",
    "fileExtname",
    "relativeFile",
    "relativeFileDirname",
    "selectedText",
    "lineNumber",
    "localWorkspaceFolderBasename",
    "containerWorkspaceFolder",
    "containerWorkspaceFolderBasename",
    "gitRoot",
];

/// Does this placeholder of an editor stand for the project's folder itself, and not for its name or something in it?
pub fn is_folder_of_editor(name: &str) -> bool {
    FOLDER.contains(&name)
}

impl<'a> Placeholder<'a> {
    /// What the text within `${…}` stands for; `None` for a variable, a secret or anything else.
    pub fn of(name: &'a str) -> Option<Self> {
        let name = name.strip_prefix("host:").unwrap_or(name);
        let name = name.strip_prefix("env:").unwrap_or(name);
        // `${workspaceFolder:api}` is one of several folders.
        let plain = name.split_once(':').map_or(name, |(plain, _)| plain);
        if let Some((kind, rest)) = name.split_once(':').filter(|(_, rest)| !rest.starts_with('-')) {
            match kind {
                "config" | "command" | "input" => return Some(Self::Editor),
                "localEnv" | "containerEnv" => {
                    return Some(Self::Variable(rest.split(':').next().unwrap_or(rest)));
                }
                _ => {}
            }
        }
        match plain {
            PROJECT_FOLDER if name == plain => Some(Self::Folder),
            "file" if name == plain => Some(Self::Project),
            _ if FOLDER.contains(&plain) || IN_PROJECT.contains(&plain) => Some(Self::Project),
            "PWD" | "cwd" => Some(Self::Directory),
            "userHome" => Some(Self::Home),
            "execPath" | "defaultBuildTask" => Some(Self::Editor),
            "pathSeparator" | "/" => Some(Self::Separator),
            "__dirname" | "extensionPath" | "CLAUDE_PLUGIN_ROOT" | "pluginRoot" => Some(Self::Package),
            _ => name.strip_prefix("user_config.").filter(|id| !id.is_empty()).map(Self::Setting),
        }
    }

    /// What it is, for a sentence about an entry that has it; `None` for one that Satchel can fill in.
    pub fn meaning(self) -> Option<&'static str> {
        match self {
            Self::Project => Some("the folder of the project that is open in an editor"),
            Self::Directory => Some("the folder of the project that a client is started in"),
            Self::Package => Some("the folder of the package that this entry was written for"),
            Self::Setting(_) => Some("a setting of a bundle"),
            Self::Editor => Some("what an editor fills in or asks for"),
            Self::Folder | Self::Home | Self::Separator | Self::Variable(_) => None,
        }
    }
}

/// The setting of a bundle that a text consists of, alone or as the value of an option: `--proxy=${user_config.proxy}`.
pub fn setting_in(text: &str) -> Option<&str> {
    let text = text.trim();
    let value = text.split_once('=').filter(|(option, _)| option.starts_with('-') && !option.contains('$'));
    let inside = value.map_or(text, |(_, value)| value).strip_prefix("${")?.strip_suffix('}')?;
    match Placeholder::of(inside)? {
        Placeholder::Setting(name) if !name.contains(['$', '{', '}']) => Some(name),
        _ => None,
    }
}

/// Leaves out arguments that are nothing but a placeholder without a value, each with the option before it if that takes one.
/// `Err` is such an argument; returns the others.
pub fn without_unset(args: Vec<Result<String, String>>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(args.len());
    let mut after_option = false;
    for arg in args {
        match arg {
            Ok(arg) => {
                after_option = is_option(&arg);
                kept.push(arg);
            }
            Err(_) => {
                if after_option {
                    kept.pop();
                }
                after_option = false;
            }
        }
    }
    kept
}

/// `--proxy`, but not `--proxy=x` and not `--`.
fn is_option(arg: &str) -> bool {
    arg.starts_with('-') && !arg.trim_start_matches('-').is_empty() && !arg.contains('=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_of_other_programs_are_told_from_variables() {
        use Placeholder::{Directory, Editor, Folder, Home, Package, Project, Separator, Setting, Variable};
        for (name, expected) in [
            ("project", Some(Folder)),
            ("project:api", None),
            ("PROJECT", None),
            ("workspaceFolder", Some(Project)),
            ("workspaceFolder:api", Some(Project)),
            ("host:workspaceFolderBasename", Some(Project)),
            ("PWD", Some(Directory)),
            ("env:PWD", Some(Directory)),
            ("userHome", Some(Home)),
            ("/", Some(Separator)),
            ("__dirname", Some(Package)),
            ("user_config.api_key", Some(Setting("api_key"))),
            ("user_config.", None),
            ("HOME", None),
            ("input:pat", Some(Editor)),
            ("config:python.path", Some(Editor)),
            ("localEnv:HOME", Some(Variable("HOME"))),
            ("X:-input:y", None),
            ("secret:PWD", None),
            ("GITHUB_TOKEN", None),
        ] {
            assert_eq!(Placeholder::of(name), expected, "{name}");
        }
    }

    #[test]
    fn editors_words_for_the_folder_itself_are_told_from_what_is_in_it() {
        for (name, expected) in [
            ("workspaceFolder", true),
            ("CLAUDE_PROJECT_DIR", true),
            ("workspaceFolderBasename", false),
            ("workspaceFolder:api", false),
            ("file", false),
            ("project", false),
        ] {
            assert_eq!(is_folder_of_editor(name), expected, "{name}");
        }
        assert!(FOLDER.iter().all(|name| Placeholder::of(name) == Some(Placeholder::Project)));
    }

    #[test]
    fn an_argument_without_a_value_goes_with_its_option() {
        let check = |args: &[&str], expected: &[&str]| {
            let arg = |arg: &&str| match arg.strip_prefix('?') {
                Some(unset) => Err(unset.to_owned()),
                None => Ok((*arg).to_owned()),
            };
            assert_eq!(without_unset(args.iter().map(arg).collect()), expected, "{args:?}");
        };
        check(&["--proxy", "?x", "--level", "info"], &["--level", "info"]);
        check(&["run", "?x", "y"], &["run", "y"]);
        check(&["--", "?x"], &["--"]);
        check(&["-v", "--proxy", "?x"], &["-v"]);
        check(&["--a=1", "?x"], &["--a=1"]);
        check(&["--dir", "?x", "?y"], &[]);
    }
}
