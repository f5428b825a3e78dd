//! Validates single values against the constraints on their fields.

use crate::facts::Fact;
use crate::finding::Finding;
use crate::here::{Here, known};
use crate::scalars;
use crate::shape::{Judge, is_pending, whole};
use purlin_syntax::{Hint, Severity, suggest};
use purlin_value::{Data, Value};

/// Maximum number of characters of a text in a message.
const SHOWN: usize = 40;

/// The largest port number.
const LAST_PORT: i64 = 65_535;

/// Validates a value.
pub fn check(judge: &mut Judge<'_>, here: &Here<'_, '_>, fact: Fact) {
    let Some(value) = known(here.value).filter(|value| !value.is_null()) else { return };
    match fact {
        Fact::Port => number(judge, here, 1, LAST_PORT),
        Fact::PortOrNone => number(judge, here, 0, LAST_PORT),
        Fact::Between(least, most) => number(judge, here, least, most),
        Fact::PortOrName => match value.as_str() {
            Some(_) => text(judge, here, scalars::is_port_name, PORT_NAME),
            None => number(judge, here, 1, LAST_PORT),
        },
        Fact::PortNameOrNone => match value.as_str() {
            Some(_) => text(judge, here, scalars::is_port_name, PORT_NAME),
            None => number(judge, here, 0, LAST_PORT),
        },
        Fact::PortName => text(judge, here, scalars::is_port_name, PORT_NAME),
        Fact::Label => text(judge, here, scalars::is_label, LABEL),
        Fact::ServiceName => text(judge, here, scalars::is_service_name, SERVICE),
        Fact::Subdomain => text(judge, here, scalars::is_subdomain, SUBDOMAIN),
        Fact::Host => text(judge, here, scalars::is_host, "a host name of lower-case letters, digits, `-` and `.`"),
        Fact::Ip => text(judge, here, |text| text.parse::<std::net::IpAddr>().is_ok(), "an IP address"),
        Fact::Cidr => text(judge, here, scalars::is_cidr, "an address range such as `10.0.0.0/8`"),
        Fact::Schedule => text(judge, here, scalars::is_schedule, "a schedule such as `*/5 * * * *`"),
        Fact::CountOrPercent => match value.as_str() {
            Some(_) => text(judge, here, scalars::is_percent, "an integer or a percentage such as `25%`"),
            None => number(judge, here, 0, i64::from(i32::MAX)),
        },
        Fact::Filled if value.as_str() == Some("") => {
            judge.wrong(here, " is empty").hint = Some("write a value".into());
        }
        Fact::Items if value.as_list().is_some_and(<[Value]>::is_empty) => {
            judge.wrong(here, " is an empty list").hint = Some("add at least one item".into());
        }
        Fact::Filled | Fact::Items => {}
        Fact::OneOf(values) => {
            if let Some(found) = value.as_str().filter(|found| !values.contains(found)) {
                let (what, hint) = choice(found, values);
                judge.wrong(here, what).hint = hint;
            }
        }
        Fact::OneOfOrOwn(values) => {
            if let Some(found) = value.as_str().filter(|found| !values.contains(found) && !found.contains('/')) {
                let (what, hint) = choice(found, values);
                judge.wrong(here, what).hint = hint;
            }
        }
        Fact::FullName => {
            text(judge, here, scalars::is_full_name, "a name with at least two dots, such as `pods.example.com`")
        }
        Fact::QualifiedName => text(judge, here, scalars::is_label_key, "a name such as `pods` or `example.com/pods`"),
        Fact::Ips => here.items().for_each(|item| check(judge, &item, Fact::Ip)),
        Fact::Cidrs => here.items().for_each(|item| check(judge, &item, Fact::Cidr)),
        Fact::Labels => labels(judge, here),
        Fact::QualifiedKeys => keys(judge, here, |key| scalars::is_label_key(&key.to_ascii_lowercase()), KEY),
        Fact::ConfigKeys => keys(judge, here, scalars::is_config_key, "letters, digits, `-`, `_` and `.`"),
        Fact::Amounts => amounts(judge, here),
    }
}

const LABEL: &str = "lower-case letters, digits and `-`, at most 63";
const SERVICE: &str = "lower-case letters, digits and `-`, beginning with a letter";
/// Characters of most object names.
pub const SUBDOMAIN: &str = "lower-case letters, digits, `-` and `.`";
const PORT_NAME: &str = "a port name of at most 15 lower-case letters, digits and `-`";
const KEY: &str = "a label key such as `app` or `example.com/app`";

fn number(judge: &mut Judge<'_>, here: &Here<'_, '_>, least: i64, most: i64) {
    let Some(found) = whole(here.value).filter(|found| !(least..=most).contains(found)) else { return };
    let expected = match (least, most) {
        (1, LAST_PORT) => "a port from 1 to 65535".to_owned(),
        (0, LAST_PORT) => "a port up to 65535".to_owned(),
        (least, most) if most >= i64::from(i32::MAX) => format!("at least {least}"),
        _ => format!("a number from {least} to {most}"),
    };
    judge.wrong(here, format!(": expected {expected}, found `{found}`")).hint = write(&expected);
}

/// An empty text is reported as missing where a value is required, and otherwise accepted.
fn text(judge: &mut Judge<'_>, here: &Here<'_, '_>, is_right: fn(&str) -> bool, expected: &str) {
    let Some(found) = here.value.as_str().filter(|found| !found.is_empty() && !is_right(found)) else { return };
    if scalars::is_long_by_release(found, is_right) {
        return;
    }
    let small = found.to_ascii_lowercase().replace(['_', ' '], "-");
    let small = small.trim_matches('-').to_owned();
    let meant = (small != found && is_right(&small)).then(|| Hint::meant(found, small));
    let finding = judge.wrong(here, format!(": expected {expected}, found `{}`", short(found)));
    finding.hint = meant;
    forgive_placeholder(finding, found, is_right);
}

/// A placeholder is to be replaced before the object is applied, so it is a warning if nothing else is wrong.
pub fn forgive_placeholder(finding: &mut Finding, found: &str, is_right: fn(&str) -> bool) {
    let fits = |placeholder: &&str| is_right(&found.replace(placeholder, "x"));
    if let Some(placeholder) = scalars::placeholder(found).filter(fits) {
        finding.severity = Severity::Warning;
        finding.hint =
            Some(format!("`{placeholder}` looks like a placeholder: replace it before this is applied").into());
    }
}

fn keys(judge: &mut Judge<'_>, here: &Here<'_, '_>, is_right: impl Fn(&str) -> bool, expected: &str) {
    for (key, value) in here.value.as_map().into_iter().flat_map(|map| map.iter()) {
        if !is_pending(key) && !is_right(key) {
            let here = here.entry(key, value);
            let mut finding = crate::finding::Finding::key(&crate::rules::VALUE, &here, judge.object, "");
            finding.wrong = format!(": expected a key of the form: {expected}");
            judge.push(finding);
        }
    }
}

fn labels(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    keys(judge, here, scalars::is_label_key, KEY);
    for (key, value) in here.value.as_map().into_iter().flat_map(|map| map.iter()) {
        let here = here.entry(key, value);
        let expected = "a label value of at most 63 letters, digits, `-`, `_` and `.`";
        let is_wrong = |found: &&str| {
            !scalars::is_label_value(found) && !scalars::is_long_by_release(found, scalars::is_label_value)
        };
        if let Some(found) = here.text().filter(is_wrong) {
            let finding = judge.wrong(&here, format!(": expected {expected}, found `{}`", short(found)));
            forgive_placeholder(finding, found, scalars::is_label_value);
        }
    }
}

fn amounts(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    for (key, value) in here.value.as_map().into_iter().flat_map(|map| map.iter()) {
        if amount(value).is_some_and(|amount| amount < 0.0) {
            judge.wrong(&here.entry(key, value), format!(": expected at least 0, found {}", found(value)));
        }
    }
}

/// A quantity as a number.
pub fn amount(value: &Value) -> Option<f64> {
    let value = known(value)?;
    value.as_str().map_or_else(|| value.as_number(), scalars::quantity)
}

/// The message for a text that is not one of a few, and the likely intended one.
pub fn choice(found: &str, values: &[&str]) -> (String, Option<Hint>) {
    let near = values.iter().find(|value| value.eq_ignore_ascii_case(found)).copied();
    let near = near.or_else(|| suggest::nearest(found, values.iter().copied()));
    let listed: Vec<String> = values.iter().take(8).map(|value| format!("`{value}`")).collect();
    let listed = match listed.split_last() {
        Some((last, first)) if !first.is_empty() && values.len() <= 8 => format!("{} or {last}", first.join(", ")),
        _ => listed.join(", "),
    };
    (format!(": expected {listed}, found `{}`", short(found)), near.map(|near| Hint::meant(found, near)))
}

/// A value in a message.
pub fn found(value: &Value) -> String {
    match &value.data {
        Data::Str(text) => format!("the string `{}`", short(text)),
        Data::Int(number) => format!("the integer `{number}`"),
        Data::BigInt(number) => format!("the integer `{number}`"),
        Data::Float(number) => format!("the number `{number}`"),
        Data::Bool(truth) => format!("the boolean `{truth}`"),
        Data::List(_) => "a list".to_owned(),
        Data::Map(_) => "a mapping".to_owned(),
        Data::Null => "null".to_owned(),
        _ => value.kind_name().to_owned(),
    }
}

/// The hint for an expectation that can be written: `an integer`, but not `at least 1`.
pub fn write(expected: &str) -> Option<Hint> {
    let is_thing = expected.starts_with("a ") || expected.starts_with("an ");
    is_thing.then(|| format!("write {expected}").into())
}

/// The hint for a value of another type.
pub fn rewrite(value: &Value, expected: &str) -> Option<Hint> {
    match (&value.data, expected) {
        (Data::Int(number), "a string") => Some(Hint::meant(number.to_string(), format!("\"{number}\""))),
        (Data::Bool(truth), "a string") => Some(Hint::meant(truth.to_string(), format!("\"{truth}\""))),
        (Data::Float(_), "a string") => Some("write it in quotes".into()),
        (Data::Str(text), "an integer") if text.parse::<i64>().is_ok() => {
            Some(Hint::meant(format!("\"{text}\""), text.as_str()))
        }
        (Data::Str(text), "`true` or `false`") if matches!(text.as_str(), "true" | "false") => {
            Some(Hint::meant(format!("\"{text}\""), text.as_str()))
        }
        (Data::Map(_), "a list") => Some("write `-` before each item".into()),
        _ => None,
    }
}

/// A text, shortened to fit in a message.
pub fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None if line.len() < text.len() => format!("{line}…"),
        None => line.to_owned(),
    }
}
