//! Records what two computers last agreed on, part by part, to tell a change from a conflict.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{PartId, Parts};

/// Fingerprints of the parts that both sides last had in common. A missing part existed on neither side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Agreed(BTreeMap<String, String>);

impl Agreed {
    /// Was this the common state of the part?
    pub fn is(&self, id: &PartId, value: Option<&Value>) -> bool {
        self.0.get(&id.to_string()).map(String::as_str) == value.map(fingerprint).as_deref()
    }

    /// Records the common state of a part.
    pub fn settle(&mut self, id: &PartId, value: Option<&Value>) {
        match value {
            Some(value) => drop(self.0.insert(id.to_string(), fingerprint(value))),
            None => drop(self.0.remove(&id.to_string())),
        }
    }

    /// Records every part that is equal on both sides now.
    pub fn learn(&mut self, ours: &Parts, theirs: &Parts) {
        for (id, value) in ours {
            if theirs.get(id) == Some(value) {
                self.settle(id, Some(value));
            }
        }
        let gone = |id: &str| id.parse().is_ok_and(|id| !ours.contains_key(&id) && !theirs.contains_key(&id));
        self.0.retain(|id, _| !gone(id));
    }
}

/// The fingerprint of a value, independent of the order of its fields.
fn fingerprint(value: &Value) -> String {
    let mut hash = Sha256::new();
    feed(&mut hash, value);
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn feed(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Object(fields) => {
            hash.update(b"{");
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort();
            for key in keys {
                hash.update(Value::from(key.as_str()).to_string());
                feed(hash, &fields[key]);
            }
            hash.update(b"}");
        }
        Value::Array(items) => {
            hash.update(b"[");
            items.iter().for_each(|item| feed(hash, item));
            hash.update(b"]");
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            hash.update(value.to_string());
            hash.update(b",");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_parts_become_the_common_state_and_parts_removed_on_both_sides_leave_it() {
        let id: PartId = "server:a".parse().unwrap();
        let one = Parts::from([(id.clone(), json!({ "a": 1, "b": [2] }))]);
        let same = Parts::from([(id.clone(), json!({ "b": [2], "a": 1 }))]);
        let mut agreed = Agreed::default();
        agreed.learn(&one, &same);
        assert!(agreed.is(&id, one.get(&id)) && agreed.is(&id, same.get(&id)) && !agreed.is(&id, None));
        agreed.learn(&one, &Parts::new());
        assert!(agreed.is(&id, one.get(&id)), "one side still has it");
        agreed.learn(&Parts::new(), &Parts::new());
        assert!(agreed.is(&id, None));
    }
}
