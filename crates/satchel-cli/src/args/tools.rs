//! Defines the arguments of the commands that find and call tools.

use clap::Args as Group;
use satchel_core::model::{ServerName, ToolPath};

use super::at_least_one;

#[derive(Debug, Group)]
pub(crate) struct Tools {
    /// What to search for; default: list all tools
    pub(crate) query: Vec<String>,
    /// Only the tools of this server
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<ServerName>,
    /// Maximum number, at least 1; default for a search: 20
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) limit: Option<usize>,
    /// Also show why each tool was found
    #[arg(long)]
    pub(crate) explain: bool,
    /// Also show what each tool does, how complex its arguments are, and since when it is known
    #[arg(long, short)]
    pub(crate) long: bool,
    /// Show what each tool does and whether clients may call it
    #[arg(long, conflicts_with_all = ["explain", "long"])]
    pub(crate) rules: bool,
}

#[derive(Debug, Group)]
pub(crate) struct CallArgs {
    /// The tool, as `server:tool`
    #[arg(value_name = "SERVER:TOOL")]
    pub(crate) tool_path: ToolPath,
    /// Arguments as a JSON object; `-` reads standard input
    #[arg(value_name = "JSON", default_value = "{}")]
    pub(crate) arguments: String,
}

#[derive(Debug, Group)]
pub(crate) struct PinTool {
    /// The tool, as `server:tool`
    #[arg(value_name = "SERVER:TOOL", required_unless_present = "list")]
    pub(crate) tool: Option<String>,
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// List what is pinned
    #[arg(long, conflicts_with_all = ["tool", "client", "profile"])]
    pub(crate) list: bool,
}

#[derive(Debug, Group)]
pub(crate) struct UnpinTool {
    /// The tool, as `server:tool`
    #[arg(value_name = "SERVER:TOOL")]
    pub(crate) tool: String,
    #[command(flatten)]
    pub(crate) whose: Whose,
}

/// Whose lists a pinned tool is in; default: every client's.
#[derive(Debug, Group)]
pub(crate) struct Whose {
    /// Only for this client, as in `satchel clients`
    #[arg(long, value_name = "CLIENT", conflicts_with = "profile")]
    pub(crate) client: Option<String>,
    /// Only where this profile applies
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
}

#[cfg(test)]
mod tests {
    use crate::args::{Command, tests::parsed};

    #[test]
    fn a_query_may_have_many_words_and_arguments_default_to_none() {
        match parsed(&["tools", "create", "issue", "--limit", "3"]) {
            Command::Tools(tools) => {
                assert_eq!((tools.query.join(" ").as_str(), tools.limit), ("create issue", Some(3)));
            }
            other => panic!("{other:?}"),
        }
        match parsed(&["call", "a:b"]) {
            Command::Call(call) => assert_eq!(call.arguments, "{}"),
            other => panic!("{other:?}"),
        }
    }
}
