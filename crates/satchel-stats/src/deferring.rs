//! Estimates the baseline for clients that search tool definitions themselves instead of putting all of them before the
//! model: tool names, plus the definitions of the tools they used.

/// A program, by its `clientInfo.name`, and the first version that defers.
struct Deferring {
    program: &'static str,
    from: (u64, u64, u64),
}

/// Claude Code: tool search defers every MCP tool since 2.1.7 (code.claude.com/docs/en/mcp, "Scale with MCP tool search").
const TABLE: &[Deferring] = &[Deferring { program: "claude-code", from: (2, 1, 7) }];

/// Does this program defer tool definitions?
pub fn defers(program: &str, version: &str) -> bool {
    TABLE.iter().any(|known| known.program == program && number(version).is_some_and(|v| v >= known.from))
}

/// A tool's name in such a client.
pub fn name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

fn number(version: &str) -> Option<(u64, u64, u64)> {
    let digits = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
    let mut parts = version.split('.').map(|part| digits(part).parse().ok());
    Some((parts.next()??, parts.next().flatten().unwrap_or(0), parts.next().flatten().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_defers_from_its_version_on() {
        for (program, version, expected) in [
            ("claude-code", "2.1.7", true),
            ("claude-code", "2.1.123", true),
            ("claude-code", "3.0.0-beta.1", true),
            ("claude-code", "2.1.6", false),
            ("claude-code", "2", false),
            ("claude-code", "", false),
            ("cursor", "9.9.9", false),
        ] {
            assert_eq!(defers(program, version), expected, "{program} {version}");
        }
    }
}
