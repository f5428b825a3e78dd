//! Selects the resources of a patch.

use crate::edit::text;
use crate::resource::Resource;
use crate::rules;
use ecow::EcoString;
use purlin_syntax::Rule;
use purlin_value::go_pattern::translate;
use purlin_value::pattern::{Refused, compile};
use purlin_value::rules::LIMIT_REGEX;
use purlin_value::{Session, Value};
use regex::{Regex, RegexBuilder};

/// A target of a patch: patterns of the whole text, and selectors.
pub struct Target {
    patterns: Vec<(&'static str, Pattern)>,
    labels: String,
    annotations: String,
}

/// A pattern of a whole string. Most are literal.
enum Pattern {
    Text(EcoString),
    Regex(Regex),
}

impl Pattern {
    fn read(session: &Session, written: &str) -> Result<Pattern, (&'static Rule, String)> {
        match written.chars().all(|c| c.is_ascii_alphanumeric() || "-_/".contains(c)) {
            true => Ok(Pattern::Text(written.into())),
            false => charged(session, &format!("^(?:{written})$"), written).map(Pattern::Regex),
        }
    }

    fn fits(&self, text: &str) -> bool {
        match self {
            Pattern::Text(wanted) => wanted == text,
            Pattern::Regex(pattern) => pattern.is_match(text),
        }
    }
}

/// The largest compiled pattern of a name.
const PATTERN_BYTES: usize = 64 << 10;

const KEYS: &[&str] = &["group", "version", "kind", "name", "namespace"];

impl Target {
    /// Reads a target; an error if one of its patterns is invalid.
    pub fn read(session: &Session, value: &Value) -> Result<Target, (&'static Rule, String)> {
        let mut patterns = Vec::new();
        for key in KEYS.iter().copied() {
            let pattern = text(value, &[key]);
            if !pattern.is_empty() {
                patterns.push((key, Pattern::read(session, pattern)?));
            }
        }
        let selector = |key: &str| text(value, &[key]).to_owned();
        Ok(Target { patterns, labels: selector("labelSelector"), annotations: selector("annotationSelector") })
    }

    /// The exact name that it selects, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.patterns.iter().find_map(|(key, pattern)| match pattern {
            Pattern::Text(name) if *key == "name" => Some(name.as_str()),
            _ => None,
        })
    }

    /// Whether a patch selects a resource. Name and namespace may be its first ones.
    pub fn fits(&self, resource: &Resource) -> bool {
        let (first, now) = (resource.first_id(), resource.id());
        let gvk = resource.gvk();
        let fits = |(key, pattern): &(&'static str, Pattern)| match *key {
            "group" => pattern.fits(&gvk.group),
            "version" => pattern.fits(&gvk.version),
            "kind" => pattern.fits(&gvk.kind),
            "name" => pattern.fits(&first.name) || pattern.fits(&now.name),
            _ => pattern.fits(&first.namespace) || pattern.fits(&now.namespace),
        };
        self.patterns.iter().all(fits) && self.selects(resource)
    }

    fn selects(&self, resource: &Resource) -> bool {
        let metadata = |key: &str| resource.value.get("metadata").and_then(|metadata| metadata.get(key));
        selects(&self.labels, metadata("labels")) && selects(&self.annotations, metadata("annotations"))
    }
}

/// Compiles a pattern of any size; an error has the rule and the message.
pub fn charged(session: &Session, pattern: &str, written: &str) -> Result<Regex, (&'static Rule, String)> {
    let pattern = in_go(pattern, written)?;
    let build = |most: usize| match RegexBuilder::new(&pattern).size_limit(most).build() {
        Ok(regex) => Ok(Some(regex)),
        Err(regex::Error::CompiledTooBig(_)) => Ok(None),
        Err(error) => Err(error),
    };
    let most = session.limits.regex_bytes;
    match compile(&session.meter, most, build) {
        Ok((regex, bytes)) => {
            // It is dropped with the patch.
            session.meter.release(bytes);
            Ok(regex)
        }
        Err(Refused::Exceeded(exceeded)) => Err((exceeded.rule(), exceeded.message())),
        Err(Refused::TooLarge) => {
            Err((&LIMIT_REGEX, format!("the pattern `{written}` needs more than {most} bytes when compiled")))
        }
        Err(Refused::Invalid(_)) => Err((&rules::KUSTOMIZATION, format!("`{written}` is not a regular expression"))),
    }
}

/// A pattern in Go's syntax as the engine takes it.
fn in_go(pattern: &str, written: &str) -> Result<String, (&'static Rule, String)> {
    let refused = |why| (&rules::KUSTOMIZATION, format!("`{written}` is not a regular expression: {why}"));
    translate(pattern.as_bytes()).map(|translated| translated.pattern).map_err(refused)
}

/// Compiles a pattern for names; an error has the rule and the message.
pub fn compiled(pattern: &str, written: &str) -> Result<Regex, (&'static Rule, String)> {
    let pattern = in_go(pattern, written)?;
    RegexBuilder::new(&pattern).size_limit(PATTERN_BYTES).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => {
            (&LIMIT_REGEX, format!("the pattern `{written}` needs more than {PATTERN_BYTES} bytes when compiled"))
        }
        _ => (&rules::KUSTOMIZATION, format!("`{written}` is not a regular expression")),
    })
}

/// Whether a selector such as `app=web,tier!=db,!old,env in (a, b)` matches labels.
pub fn selects(selector: &str, labels: Option<&Value>) -> bool {
    let has = |key: &str| labels.and_then(|labels| labels.get(key.trim())).and_then(Value::as_str);
    terms(selector).iter().all(|term| {
        let among = |word: &str| -> Option<(&str, Vec<&str>)> {
            let (key, rest) = term.split_once(word)?;
            let list = rest.trim().strip_prefix('(')?.strip_suffix(')')?;
            Some((key, list.split(',').map(str::trim).collect()))
        };
        if let Some((key, list)) = among(" notin ") {
            return has(key).is_none_or(|value| !list.contains(&value));
        }
        if let Some((key, list)) = among(" in ") {
            return has(key).is_some_and(|value| list.contains(&value));
        }
        if let Some((key, value)) = term.split_once("!=") {
            return has(key) != Some(value.trim());
        }
        if let Some((key, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
            return has(key) == Some(value.trim());
        }
        match term.strip_prefix('!') {
            Some(key) => has(key).is_none(),
            None => has(term).is_some(),
        }
    })
}

/// The terms of a selector; commas inside parentheses do not separate.
fn terms(selector: &str) -> Vec<String> {
    let (mut found, mut term, mut inside) = (Vec::new(), String::new(), false);
    for c in selector.chars() {
        match c {
            ',' if !inside => found.push(std::mem::take(&mut term)),
            _ => {
                inside = (inside || c == '(') && c != ')';
                term.push(c);
            }
        }
    }
    found.push(term);
    found.into_iter().map(|term| term.trim().to_owned()).filter(|term| !term.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use purlin_value::Map;

    #[test]
    fn selectors() {
        let labels: Map =
            [("app", "web"), ("tier", "front")].map(|(k, v)| (k.into(), Value::str(v))).into_iter().collect();
        let labels = Value::map(labels);
        for (selector, fits) in [
            ("app=web", true),
            ("app==web,tier!=back", true),
            ("app in (api, web)", true),
            ("app notin (api, web)", false),
            ("!old,app", true),
            ("old", false),
            ("", true),
        ] {
            assert_eq!(selects(selector, Some(&labels)), fits, "{selector}");
        }
    }
}
