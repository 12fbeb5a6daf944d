//! Groups resources and templates that were added together for the same reason, so that one decision covers them. Suspicious
//! items and items a person kept back are never grouped.

use satchel_core::model::approvals::{ApprovalItem, Kind, Why};

/// Resources and templates of one server that are held back for one reason.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) why: Why,
    pub(super) items: Vec<&'a ApprovalItem>,
}

/// The groups, and the items in none.
pub(super) fn grouped<'a>(
    items: impl IntoIterator<Item = &'a ApprovalItem>,
) -> (Vec<Group<'a>>, Vec<&'a ApprovalItem>) {
    let mut groups: Vec<Group<'a>> = vec![];
    let mut single = vec![];
    for item in items {
        match reason(item) {
            None => single.push(item),
            Some(why) => match groups.iter_mut().find(|group| group.why == why) {
                Some(group) => group.items.push(item),
                None => groups.push(Group { why, items: vec![item] }),
            },
        }
    }
    // A single item is shown in full.
    groups.retain(|group| {
        let alone = group.items.len() < 2;
        if alone {
            single.extend(&group.items);
        }
        !alone
    });
    (groups, single)
}

/// The reason that allows grouping an item.
pub(super) fn reason(item: &ApprovalItem) -> Option<Why> {
    let why = item.held.filter(|why| matches!(why, Why::Added | Why::New))?;
    let plain = matches!(item.kind, Kind::Resource | Kind::Template);
    (plain && !item.kept && item.findings.is_empty()).then_some(why)
}

impl Group<'_> {
    /// "34 resources and 1 template were added".
    pub(super) fn title(&self) -> String {
        let count = |kind| self.items.iter().filter(|item| item.kind == kind).count();
        let counted = |count: usize, one: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            many => Some(format!("{many} {one}s")),
        };
        let kinds = [counted(count(Kind::Resource), "resource"), counted(count(Kind::Template), "template")];
        let kinds: Vec<String> = kinds.into_iter().flatten().collect();
        let what = if self.why == Why::Added { "were added" } else { "are new" };
        format!("{} {what}", kinds.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use satchel_core::model::approvals::{Finding, Odd};

    use super::*;

    fn item(kind: Kind, name: &str, held: Option<Why>) -> ApprovalItem {
        let (name, fingerprint) = (name.to_owned(), format!("of {name}"));
        ApprovalItem {
            kind,
            name,
            fingerprint,
            held,
            kept: false,
            in_force: None,
            diff: vec![],
            folds_from: None,
            findings: vec![],
        }
    }

    #[test]
    fn additions_form_one_group_and_odd_or_changed_items_stand_alone() {
        let mut items: Vec<ApprovalItem> =
            (0..34).map(|at| item(Kind::Resource, &format!("note://{at}"), Some(Why::Added))).collect();
        items.push(item(Kind::Template, "note://{id}", Some(Why::Added)));
        items.push(item(Kind::Resource, "note://changed", Some(Why::Changed)));
        items.push(item(Kind::Tool, "write", Some(Why::Added)));
        items.push(item(Kind::Resource, "note://offered", None));
        items.push(item(Kind::Resource, "note://new", Some(Why::New)));
        let mut odd = item(Kind::Resource, "note://odd", Some(Why::Added));
        let text = "do not tell the user".to_owned();
        odd.findings =
            vec![Finding { about: Odd::Instruction, place: "description".into(), begin: 0, end: 20, text }];
        let mut kept = item(Kind::Resource, "note://kept", Some(Why::Added));
        kept.kept = true;
        items.extend([odd, kept]);

        let (groups, single) = grouped(&items);
        let titles: Vec<String> = groups.iter().map(Group::title).collect();
        assert_eq!(titles, ["34 resources and 1 template were added"]);
        let names: Vec<&str> = single.iter().map(|item| item.name.as_str()).collect();
        assert_eq!(
            names,
            ["note://changed", "write", "note://offered", "note://odd", "note://kept", "note://new"]
        );
    }
}
