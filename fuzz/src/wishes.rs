//! What a face asks of the hub: any JSON is a wish or is none, and a wish says the same after it was passed on.

use satchel_core::model::control::Wish;
use serde_json::Value;

pub(crate) fn run(data: &[u8]) {
    let Ok(wish) = serde_json::from_slice::<Wish>(data) else { return };
    let written = serde_json::to_string(&wish).expect("a wish can be written");
    let again: Wish = serde_json::from_str(&written).expect("what was written is a wish");
    assert_eq!(again, wish);
    let value: Value = serde_json::from_str(&written).expect("a wish is JSON");
    assert!(value.get("do").is_some_and(Value::is_string), "a wish says what it is");
}
