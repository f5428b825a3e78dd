//! The values shown in an export: expressions are evaluated by Unfurl itself, except a few that its front end knows.

use crate::ensemble::service::is_call;
use purlin_tosca::entity::Entity;
use purlin_tosca::host::TEMPLATE;
use purlin_tosca::val::{Call, Data, Val};

/// Properties of every node that users do not set.
pub(super) const GIVEN: &[&str] = &["tosca_id", "state", "tosca_name"];

/// Expressions that users may write as values.
const FOR_USERS: &[&str] = &["get_env", "secret", "_generate"];

fn whole_of(call: &Call) -> Option<&Val> {
    call.args.first().filter(|whole| whole.get(&call.name).is_some())
}

/// Whether a value is an expression that a front end may show.
pub(super) fn is_for_users(value: &Val) -> bool {
    let Data::Call(call) = &value.data else { return false };
    if call.name == "eval" {
        let expression = whole_of(call).and_then(|whole| whole.get("eval"));
        return expression.is_some_and(|inner| match &inner.data {
            Data::Map(_) => inner.get("abspath").is_some() || inner.get("get_dir").is_some(),
            Data::Call(call) => matches!(call.name.as_str(), "abspath" | "get_dir"),
            _ => inner.as_str().is_some_and(|text| text.contains("abspath") || text.contains("get_dir")),
        });
    }
    FOR_USERS.contains(&call.name.as_str())
}

/// Whether a value is an expression that only Unfurl evaluates.
pub(super) fn is_for_server(value: &Val) -> bool {
    let is_expression = |value: &Val| match &value.data {
        Data::Call(call) => call.name == TEMPLATE || (call.name != "get_input" && is_call(&call.name, 1)),
        _ => false,
    };
    match &value.data {
        Data::List(items) => items.iter().any(is_expression),
        _ => !is_for_users(value) && is_expression(value),
    }
}

/// Whether a property has a value that users do not set.
pub(super) fn is_computed(name: &str, definition: &Entity, value: Option<&Val>) -> bool {
    let metadata = definition.value("metadata");
    GIVEN.contains(&name)
        || value.or(definition.value("default")).is_some_and(is_for_server)
        || metadata.and_then(|metadata| metadata.get("computed")).is_some_and(|it| matches!(it.data, Data::Bool(true)))
}
