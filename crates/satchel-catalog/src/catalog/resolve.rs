//! Resolves tool paths that are almost right: `github.create_issue`, `github__create_issue`, or `create_issue` where
//! only one server has it.

use super::Catalog;
use crate::model::ToolPath;

/// The prefix that clients put before tool names.
const PREFIX: &str = "mcp";

impl Catalog {
    /// The only tool that an inexact path can mean.
    pub fn resolve(&self, path: &str) -> Option<ToolPath> {
        let wanted = letters(path);
        if wanted.is_empty() {
            return None;
        }
        let by_path = self.only(|server, tool| {
            let own = letters(server) + &letters(tool);
            wanted == own || wanted.strip_prefix(PREFIX) == Some(&own)
        });
        by_path.or_else(|| self.only(|_, tool| letters(tool) == wanted))
    }

    fn only(&self, fits: impl Fn(&str, &str) -> bool) -> Option<ToolPath> {
        let mut fitting = self.tools().filter(|(server, tool)| fits(server.as_str(), &tool.name));
        let (server, tool) = fitting.next()?;
        let only = fitting.next().is_none();
        only.then(|| ToolPath { server: server.clone(), tool: tool.name.clone() })
    }
}

/// Without separators, ignoring case.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use satchel_mcp::Raw;
    use serde_json::json;

    use super::*;
    use crate::catalog::{Offer, validate};

    #[test]
    fn a_path_that_can_mean_one_tool_only_means_it() {
        let offer = |tools: &[&str]| {
            let raw = |name: &&str| {
                let definition = json!({ "name": name, "inputSchema": { "type": "object" } });
                Raw::from_string(definition.to_string()).unwrap()
            };
            Arc::new(Offer { tools: validate::tools(tools.iter().map(raw).collect()).0, ..Offer::default() })
        };
        let servers = [("github", &["create_issue", "search"][..]), ("git-lab", &["createIssue2", "search"])];
        let catalog = Catalog::new(servers.map(|(name, tools)| (name.parse().unwrap(), offer(tools))).into());
        for (path, meant) in [
            ("github.create_issue", Some("github:create_issue")),
            ("github__create_issue", Some("github:create_issue")),
            ("github/createIssue", Some("github:create_issue")),
            ("mcp__github__create_issue", Some("github:create_issue")),
            ("create_issue", Some("github:create_issue")),
            ("gitlab-search", Some("git-lab:search")),
            ("search", None),
            ("create", None),
            ("", None),
            ("::", None),
        ] {
            assert_eq!(catalog.resolve(path).map(|path| path.to_string()).as_deref(), meant, "{path}");
        }
    }
}
