//! Cleans texts of other programs for display: the only place for texts of servers and kubeconfig files.

use crate::object::Object;
use purlin_syntax::print::escape;
use purlin_value::emit::REDACTED;
use purlin_value::encoding::{base64, from_base64};
use serde_json::Value as Json;

/// A text on one line, without control characters.
pub fn line(text: &str) -> String {
    let joined =
        text.split(['\n', '\r']).map(str::trim_end).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    escape(&joined.replace('\t', " ")).into_owned()
}

/// An address without possible credentials: user and password, query and fragment.
pub fn address(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").map_or(("", text), |(scheme, rest)| (scheme, rest));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    // A password with an unescaped `/`: everything before the last `@` is removed.
    let (authority, path) = match rest.rfind('@') {
        Some(at) if at >= end => (rest.get(at + 1..).unwrap_or(""), ""),
        _ => (authority, path),
    };
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let path = path.split(['?', '#']).next().unwrap_or("");
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    line(&format!("{scheme}{host}{path}"))
}

/// Minimum length of hidden texts: shorter ones occur everywhere.
const SHORTEST: usize = 3;

/// Texts of an object that must not appear in a message: the content of a Secret, and values known to be secret.
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// The secrets of an object.
    pub(crate) fn of(object: &Object) -> Secrets {
        let mut found = Vec::new();
        if object.id.kind == "Secret" {
            for key in ["data", "stringData"] {
                object.body.get(key).into_iter().for_each(|part| texts(part, &mut found));
            }
        }
        for place in &object.secrets {
            object.body.pointer(place).into_iter().for_each(|part| texts(part, &mut found));
        }
        let mut all: Vec<String> = found.iter().flat_map(|text| forms(text)).collect();
        all.retain(|text| text.len() >= SHORTEST);
        // The longest first: a secret may be part of another.
        all.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        all.dedup();
        Secrets(all)
    }

    /// A text without these secrets.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| match text.contains(secret.as_str()) {
            true => text.replace(secret.as_str(), REDACTED),
            false => text,
        })
    }
}

/// All texts in a value. Its depth is bounded by its document.
fn texts(value: &Json, found: &mut Vec<String>) {
    match value {
        Json::String(text) => found.push(text.clone()),
        Json::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Json::Object(map) => map.values().for_each(|item| texts(item, found)),
        Json::Number(number) => found.push(number.to_string()),
        Json::Null | Json::Bool(_) => {}
    }
}

/// The forms in which servers repeat a text: plain, in base64, decoded from base64, and quoted.
fn forms(text: &str) -> Vec<String> {
    let mut all = vec![text.to_owned(), base64(text.as_bytes())];
    all.extend(from_base64(text.trim().as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok()));
    let quoted: Vec<String> =
        all.iter().flat_map(|text| [format!("{text:?}"), Json::from(text.as_str()).to_string()]).collect();
    let bare = quoted.iter().filter_map(|text| text.get(1..text.len().saturating_sub(1))).map(str::to_owned);
    all.extend(bare);
    // Texts shown on one line may have several.
    let lines: Vec<String> = all.iter().map(|text| line(text)).collect();
    all.extend(lines);
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn addresses_are_shown_without_credentials() {
        for (given, shown) in [
            ("https://u:PW@h:1/x?token=PW", "https://h:1/x"),
            ("https://h", "https://h"),
            ("http://u:P/W@h/x", "http://h/x"),
            ("u:PW@h", "h"),
            ("https://h/\u{1b}]0;x", "https://h/\\u{1b}]0;x"),
        ] {
            assert_eq!(address(given), shown);
        }
    }

    #[test]
    fn contents_of_secrets_are_hidden_in_every_form() {
        let body = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
            "stringData": {"p": "hunter2 \"x\"\nmore"}, "data": {"q": "b3RoZXItc2VjcmV0"}});
        let object = Object::of_json(body, 0).unwrap().remove(0);
        let secrets = Secrets::of(&object);
        for said in [
            "hunter2 \"x\"\nmore",
            "other-secret",
            "b3RoZXItc2VjcmV0",
            "hunter2 \\\"x\\\"\\nmore",
            "aHVudGVyMiAieCIKbW9yZQ==",
        ] {
            let shown = secrets.hide(&line(&format!("Invalid value: {said}: no")));
            assert_eq!(shown, format!("Invalid value: {REDACTED}: no"), "{said}");
        }
    }
}
