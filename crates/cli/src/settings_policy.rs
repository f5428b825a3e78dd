//! The tables `[[policy]]` of `purlin.toml`: policies in Rego and assertions in CEL.

use crate::settings::{Policy, Reader};
use purlin_compiler::policy_inputs;
use purlin_syntax::suggest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The keys of a policy.
const KEYS: &[&str] =
    &["path", "data", "namespaces", "name", "when", "assert", "message", "over", "environments", "level"];

/// Reads the list of policies.
pub(crate) fn read(reader: &mut Reader, value: &Spanned<DeValue<'_>>) {
    let DeValue::Array(items) = value.get_ref() else {
        return reader.wrong(value, "a list of tables (`[[policy]]`)");
    };
    for item in items.iter() {
        match item.get_ref() {
            DeValue::Table(table) => one(reader, item, table),
            _ => reader.wrong(item, "a table"),
        }
    }
}

fn one(reader: &mut Reader, item: &Spanned<DeValue<'_>>, table: &DeTable<'_>) {
    let mut policy = Policy { over: "object".to_owned(), ..Policy::default() };
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "path" => policy.path = reader.text(value),
            "data" => policy.data = reader.texts(value),
            "namespaces" => policy.namespaces = reader.texts(value),
            "name" => policy.name = reader.text(value).unwrap_or_default(),
            "when" => policy.when = reader.text(value),
            "assert" => policy.assert = reader.text(value),
            "message" => policy.message = reader.text(value),
            "environments" => policy.environments = reader.texts(value),
            "level" => policy.is_warning = level(reader, value),
            "over" => policy.over = over(reader, value),
            _ => reader.unknown(key, KEYS),
        }
    }
    let first = table.iter().next().map(|(key, _)| key.span()).unwrap_or_else(|| item.span());
    match (&policy.path, &policy.assert) {
        (None, None) => {
            let hint = "write `path`, a folder with Rego, or `assert`, an expression in CEL";
            reader.problem(first, "a policy needs `path` or `assert`".to_owned(), hint);
        }
        (Some(_), Some(_)) => {
            let message = "mutually exclusive keys are used together: `path` and `assert`".to_owned();
            reader.problem(first, message, "write two policies");
        }
        _ => {
            policy.at = Some(reader.span(first));
            reader.settings.own_policies.push(policy);
        }
    }
}

fn level(reader: &mut Reader, value: &Spanned<DeValue<'_>>) -> bool {
    match reader.text(value).as_deref() {
        Some("warn" | "warning") => true,
        Some("error") | None => false,
        Some(other) => {
            reader.problem(value.span(), format!("unknown level `{other}`"), "write `error` or `warn`");
            false
        }
    }
}

fn over(reader: &mut Reader, value: &Spanned<DeValue<'_>>) -> String {
    let known: Vec<&str> = policy_inputs();
    let Some(name) = reader.text(value) else { return "object".to_owned() };
    if !known.contains(&name.as_str()) {
        let hint = suggest::did_you_mean(&name, known.iter().copied());
        let hint = hint.unwrap_or_else(|| format!("write one of {}", known.join(", ")).into());
        reader.problem(value.span(), format!("unknown value `{name}` of `over`"), &hint);
    }
    name
}
