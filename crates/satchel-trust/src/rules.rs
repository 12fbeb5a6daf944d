//! Decides whether a tool may be called: by the user's rules, else by the tool's effect.

use crate::{
    config::{
        Config,
        rules::{Defaults, ToolRule},
    },
    model::{
        ToolPath,
        nature::{AskedIn, Effect, Nature, Permit, Safety, UsualRule, UsualTools},
    },
};

/// The decision on a call, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The permission.
    pub permit: Permit,
    /// The deciding rule, for people.
    pub rule: String,
}

/// The rules of a configuration.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// In order: the last matching one takes precedence.
    pub list: &'a [ToolRule],
    /// The defaults if none matches.
    pub defaults: &'a Defaults,
    /// Rules that nobody has accepted: they apply only where they are stricter.
    pub unaccepted: Option<(&'a [ToolRule], &'a Defaults)>,
}

impl<'a> Rules<'a> {
    /// The rules of this configuration.
    pub fn of(config: &'a Config) -> Self {
        let unaccepted = config.unaccepted_rules();
        Self { list: config.tool_rules(), defaults: config.tool_defaults(), unaccepted }
    }

    fn others(&self) -> Option<Rules<'a>> {
        self.unaccepted.map(|(list, defaults)| Rules { list, defaults, unaccepted: None })
    }
}

impl Rules<'_> {
    /// Decides on a call of the tool with this path (its own name) by a client; `None` is a person.
    pub fn decide(&self, path: &ToolPath, client: Option<&str>, nature: &Nature) -> Decision {
        let text = path.to_string();
        let (mut decision, mut restricting) = (None, Vec::new());
        for (rule, permit) in self.meant(&text, client) {
            let found = Decision { permit, rule: said(rule, permit) };
            if !rule.invalid {
                decision = Some(found);
                break;
            }
            // What stands in for an invalid rule permits nothing that the rules before it do not.
            restricting.push(found);
        }
        restricting.extend(self.others().map(|others| others.decide(path, client, nature)));
        let decision = decision.unwrap_or_else(|| self.usual(nature));
        restricting.into_iter().fold(decision, stricter)
    }

    /// The rules that permit or forbid something here, the last one first.
    fn meant(&self, path: &str, client: Option<&str>) -> impl Iterator<Item = (&ToolRule, Permit)> {
        let meant =
            self.list.iter().rev().filter(move |rule| rule.is_for(path) && rule.is_for_client(client));
        meant.filter_map(|rule| Some((rule, rule.permit?)))
    }

    /// Where a person is asked about a call of the tool, if that was decided: the last rule that says so counts, and of
    /// rules that nobody has accepted the restriction.
    pub fn asked_in(&self, path: &ToolPath, client: Option<&str>) -> Option<AskedIn> {
        let text = path.to_string();
        let meant = self.list.iter().rev().filter(|rule| rule.is_for(&text) && rule.is_for_client(client));
        let decided = meant.filter_map(|rule| rule.consent).next().or(self.defaults.consent);
        let restricts =
            self.others().is_some_and(|others| others.asked_in(path, client) == Some(AskedIn::Window));
        if restricts { Some(AskedIn::Window) } else { decided }
    }

    /// The rule that switches the tool off for this client, if any, whether or not the tool exists.
    pub fn off(&self, path: &ToolPath, client: Option<&str>) -> Option<String> {
        let text = path.to_string();
        let last = self.meant(&text, client).find(|(rule, permit)| !rule.invalid || *permit == Permit::Off);
        let off = last.filter(|(_, permit)| *permit == Permit::Off).map(|(rule, permit)| said(rule, permit));
        off.or_else(|| self.others()?.off(path, client))
    }

    /// The rule that switches a whole server off for this client: its tools, and with them everything else.
    pub fn server_off(&self, server: &str, client: Option<&str>) -> Option<String> {
        self.server_is_off(server, client).or_else(|| self.others()?.server_is_off(server, client))
    }

    fn server_is_off(&self, server: &str, client: Option<&str>) -> Option<String> {
        for rule in self.list.iter().rev().filter(|rule| rule.is_for_client(client)) {
            match (rule.permit, rule.is_for_all_of(server)) {
                (Some(Permit::Off), true) => return Some(said(rule, Permit::Off)),
                (Some(Permit::Allow | Permit::Ask), _) if !rule.invalid && rule.may_be_for(server) => {
                    return None;
                }
                (Some(_), _) | (None, _) => {}
            }
        }
        None
    }

    /// Can anything be switched off for this client?
    pub fn hide_from(&self, client: Option<&str>) -> bool {
        self.list.iter().any(|rule| rule.permit == Some(Permit::Off) && rule.is_for_client(client))
            || self.defaults.hides()
            || self.others().is_some_and(|others| others.hide_from(client))
    }

    fn usual(&self, nature: &Nature) -> Decision {
        let (configured, tools) = match nature.effect {
            Effect::Reads => (self.defaults.reads, UsualTools::Reads),
            Effect::Writes if nature.safety == Safety::Dangerous => {
                (self.defaults.destructive.or(self.defaults.writes), UsualTools::Destructive)
            }
            Effect::Writes => (self.defaults.writes, UsualTools::Writes),
            Effect::Deletes => (self.defaults.deletes, UsualTools::Deletes),
            Effect::Unstated if nature.commands => (self.defaults.unstated, UsualTools::Commands),
            Effect::Unstated => (self.defaults.unstated, UsualTools::Unstated),
        };
        let permit = configured.unwrap_or(match (nature.effect, nature.safety) {
            (Effect::Reads | Effect::Writes, _) => Permit::Allow,
            (Effect::Deletes | Effect::Unstated, Safety::Dangerous) => Permit::Ask,
            (Effect::Deletes | Effect::Unstated, Safety::Safe | Safety::Moderate) => Permit::Allow,
        });
        Decision { permit, rule: UsualRule { tools, permit }.to_string() }
    }
}

fn strictness(permit: Permit) -> u8 {
    match permit {
        Permit::Allow => 0,
        Permit::Ask => 1,
        Permit::Off => 2,
    }
}

/// The stricter of two decisions; the first one if they are equal.
fn stricter(one: Decision, other: Decision) -> Decision {
    if strictness(other.permit) > strictness(one.permit) { other } else { one }
}

fn said(rule: &ToolRule, permit: Permit) -> String {
    let of = rule.client.as_ref().map(|client| format!(" for {client}")).unwrap_or_default();
    let why = if rule.invalid { ", because a rule is invalid" } else { "" };
    format!("{}{of}: {}{why}", rule.tool, permit.as_str())
}

#[cfg(test)]
mod tests {
    use satchel_mcp::Raw;
    use serde_json::json;

    use super::*;
    use crate::nature;

    fn of(effect: Effect, safety: Safety) -> Nature {
        let nothing = Raw::from_string("{}".to_owned()).unwrap();
        Nature { effect, safety, ..nature::of(&nothing) }
    }

    #[test]
    fn one_table_decides() {
        use Effect::{Deletes, Reads, Unstated, Writes};
        use Permit::{Allow, Ask, Off};
        use Safety::{Dangerous, Moderate, Safe};
        let rules: Vec<ToolRule> = serde_json::from_value(json!([
            { "tool": "git:*", "permit": "ask" },
            { "tool": "git:log", "permit": "allow" },
            { "tool": "git:push", "permit": "off" },
            { "tool": "git:push", "client": "cur*", "permit": "allow" },
            { "tool": "*", "description": "nothing about permission" },
            { "tool": "mail:*", "client": "zed", "permit": "off" },
        ]))
        .unwrap();
        let (usual, strict) = (
            Defaults::default(),
            Defaults {
                destructive: Some(Off),
                writes: Some(Ask),
                deletes: Some(Off),
                unstated: Some(Ask),
                ..Defaults::default()
            },
        );
        for (path, client, defaults, nature, permit, rule) in [
            ("git:log", Some("x"), &usual, (Deletes, Dangerous), Allow, "git:log: allow"),
            ("git:status", Some("x"), &usual, (Reads, Safe), Ask, "git:*: ask"),
            ("git:push", Some("x"), &usual, (Reads, Safe), Off, "git:push: off"),
            ("git:push", Some("cursor"), &usual, (Deletes, Dangerous), Allow, "git:push for cur*: allow"),
            ("git:push", None, &usual, (Deletes, Dangerous), Off, "git:push: off"),
            ("mail:send", Some("zed"), &usual, (Writes, Moderate), Off, "mail:* for zed: off"),
            ("mail:send", Some("cursor"), &usual, (Writes, Moderate), Allow, "tools that write: allowed"),
            ("a:b", Some("x"), &usual, (Reads, Safe), Allow, "tools that read: allowed"),
            ("a:b", Some("x"), &usual, (Writes, Moderate), Allow, "tools that write: allowed"),
            (
                "a:b",
                Some("x"),
                &usual,
                (Writes, Dangerous),
                Allow,
                "tools that write and that their server calls destructive: allowed",
            ),
            (
                "a:b",
                Some("x"),
                &strict,
                (Writes, Dangerous),
                Off,
                "tools that write and that their server calls destructive: off",
            ),
            ("a:b", Some("x"), &usual, (Deletes, Dangerous), Ask, "tools that delete: ask first"),
            ("a:b", None, &usual, (Deletes, Dangerous), Ask, "tools that delete: ask first"),
            (
                "a:b",
                Some("x"),
                &usual,
                (Unstated, Dangerous),
                Ask,
                "tools that do not say whether they delete: ask first",
            ),
            (
                "a:b",
                Some("x"),
                &usual,
                (Unstated, Moderate),
                Allow,
                "tools that do not say whether they delete: allowed",
            ),
            ("a:b", Some("x"), &strict, (Reads, Safe), Allow, "tools that read: allowed"),
            ("a:b", Some("x"), &strict, (Writes, Moderate), Ask, "tools that write: ask first"),
            ("a:b", Some("x"), &strict, (Deletes, Dangerous), Off, "tools that delete: off"),
            (
                "a:b",
                Some("x"),
                &strict,
                (Unstated, Moderate),
                Ask,
                "tools that do not say whether they delete: ask first",
            ),
        ] {
            let rules = Rules { list: &rules, defaults, unaccepted: None };
            let decision = rules.decide(&path.parse().unwrap(), client, &of(nature.0, nature.1));
            assert_eq!(
                (decision.permit, decision.rule.as_str()),
                (permit, rule),
                "{path} {client:?} {nature:?}"
            );
        }
    }

    #[test]
    fn unaccepted_rules_apply_if_they_are_stricter() {
        use crate::config::guarded::Guarded;
        let config =
            |rules: serde_json::Value| Config::parse(&json!({ "toolRules": rules }).to_string()).unwrap();
        let off = json!({ "tool": "a:x", "permit": "off" });
        let file = config(
            json!([{ "tool": "*", "permit": "allow" }, { "tool": "a:y", "permit": "ask" }, { "tool": "b:*", "permit": "off" }]),
        );
        let in_force = file.under(&Guarded::of(&config(json!([off]))));
        let rules = Rules::of(&in_force);
        let nature = of(Effect::Deletes, Safety::Dangerous);
        let permit = |path: &str| rules.decide(&path.parse().unwrap(), None, &nature).permit;
        assert_eq!(
            ["a:x", "a:y", "a:z", "b:z"].map(permit),
            [Permit::Off, Permit::Ask, Permit::Ask, Permit::Off]
        );
        assert!(rules.off(&"a:x".parse().unwrap(), None).is_some() && rules.server_off("b", None).is_some());
        assert!(rules.hide_from(None));
    }

    #[test]
    fn an_invalid_rule_restricts_where_no_later_rule_decides() {
        use Permit::{Allow, Ask, Off};
        let config = Config::parse(
            r#"{"toolRules": [
              {"tool": "a:*", "permit": "allow"},
              {"tool": "a:push", "permit": "off"},
              {"tool": "a:*", "permit": "allow", "comment": "a key that no rule has"},
              {"tool": "b:*", "permit": "deny"},
              {"tool": "b:get", "permit": "allow"},
              {"tool": "c:*", "permit": "never"},
              {"tool": "d:*", "client": "zed", "permit": "no"}
            ]}"#,
        )
        .unwrap();
        assert_eq!(config.rule_faults().iter().map(|fault| fault.line).collect::<Vec<_>>(), [4, 5, 7, 8]);
        let rules = Rules::of(&config);
        let nature = of(Effect::Reads, Safety::Safe);
        for (path, client, permit) in [
            ("a:pull", None, Ask),
            // An invalid rule loosens nothing.
            ("a:push", None, Off),
            ("b:push", None, Off),
            // Whatever the invalid rule was to say, a later one says otherwise.
            ("b:get", None, Allow),
            ("c:get", None, Off),
            ("d:get", Some("zed"), Off),
            ("d:get", Some("cursor"), Allow),
            ("e:get", None, Allow),
        ] {
            let path = path.parse().unwrap();
            assert_eq!(rules.decide(&path, client, &nature).permit, permit, "{path}");
            assert_eq!(rules.off(&path, client).is_some(), permit == Off, "{path}");
        }
        let said = rules.decide(&"c:get".parse().unwrap(), None, &nature).rule;
        assert_eq!(said, "c:*: off, because a rule is invalid");
        assert!(rules.server_off("c", None).is_some() && rules.server_off("b", None).is_none());
        assert!(rules.server_off("a", None).is_none());
    }

    #[test]
    fn a_whole_server_is_off_where_no_later_rule_lets_a_part_of_it_through() {
        for (rules, client, off) in [
            (json!([{ "tool": "mail:*", "permit": "off" }]), None, true),
            (json!([{ "tool": "ma*:*", "permit": "off" }]), Some("a"), true),
            (json!([{ "tool": "*", "client": "a", "permit": "off" }]), Some("a"), true),
            (json!([{ "tool": "*", "client": "a", "permit": "off" }]), Some("b"), false),
            (json!([{ "tool": "mail:*", "client": "a", "permit": "off" }]), None, false),
            (json!([{ "tool": "mail:send_*", "permit": "off" }]), None, false),
            (
                json!([{ "tool": "mail:*", "permit": "off" }, { "tool": "mail:get", "permit": "allow" }]),
                None,
                false,
            ),
            (
                json!([{ "tool": "mail:*", "permit": "off" }, { "tool": "git:get", "permit": "allow" }]),
                None,
                true,
            ),
            (
                json!([{ "tool": "mail:get", "permit": "allow" }, { "tool": "mail:*", "permit": "off" }]),
                None,
                true,
            ),
        ] {
            let list: Vec<ToolRule> = serde_json::from_value(rules.clone()).unwrap();
            let rules_of = Rules { list: &list, defaults: &Defaults::default(), unaccepted: None };
            assert_eq!(rules_of.server_off("mail", client).is_some(), off, "{rules} {client:?}");
        }
    }

    #[test]
    fn the_last_rule_says_where_a_person_is_asked_and_unaccepted_ones_only_restrict() {
        let read = |rules: serde_json::Value| -> Vec<ToolRule> { serde_json::from_value(rules).unwrap() };
        let accepted = read(json!([
            { "tool": "bank:*", "consent": "window" },
            { "tool": "bank:pay", "client": "zed", "consent": "client" },
        ]));
        let laxer = read(json!([{ "tool": "*", "consent": "client" }]));
        let stricter = read(json!([{ "tool": "*:list", "consent": "window" }]));
        let (nothing, window) =
            (Defaults::default(), Defaults { consent: Some(AskedIn::Window), ..Defaults::default() });
        for (unaccepted, defaults, path, client, expected) in [
            (&laxer, &nothing, "bank:pay", "cursor", Some(AskedIn::Window)),
            (&laxer, &nothing, "bank:pay", "zed", Some(AskedIn::Client)),
            (&laxer, &nothing, "mail:send", "zed", None),
            (&laxer, &window, "mail:send", "zed", Some(AskedIn::Window)),
            (&stricter, &nothing, "mail:list", "zed", Some(AskedIn::Window)),
        ] {
            let rules =
                Rules { list: &accepted, defaults, unaccepted: Some((unaccepted.as_slice(), &nothing)) };
            let path: ToolPath = path.parse().unwrap();
            assert_eq!(rules.asked_in(&path, Some(client)), expected, "{path} {client}");
        }
    }
}
