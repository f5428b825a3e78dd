//! Expands templates over environment variables with the whole template language.

use purlin_gotmpl::{Limits, Machine, MapType, Outside, Set, Str, Val};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Expands one template. Names that are not there print `<no value>`.
pub fn expand(text: &str, env: &BTreeMap<String, String>) -> Result<String, String> {
    let mut set = Set::new();
    set.add("envTemplate", text).map_err(|error| format!("the template `{text}` cannot be read: {}", error.message))?;
    let (outside, limits) = (Outside::default(), Limits::default());
    let mut machine = Machine::new(Arc::new(set).namespace(), &outside, &limits);
    let entries = env.iter().map(|(name, value)| (Str::from(name.as_str()), Val::str(value.as_str())));
    let data = machine.heap.map(MapType::Any, entries.collect());
    match machine.execute(&Str::from("envTemplate"), data) {
        Ok(rope) => Ok(String::from_utf8_lossy(&rope.bytes).into_owned()),
        Err(error) => Err(format!("the template `{text}` fails: {}", error.go_text())),
    }
}
