//! Whether a text is JSON or XML, for the data types that require it.

use purlin_syntax::{Flavor, Limits, Sources, yaml};

/// Whether a text is JSON.
pub fn is_json(text: &str) -> bool {
    let trimmed = text.trim_start();
    let plausible =
        trimmed.starts_with(['{', '[', '"', '-', 't', 'f', 'n']) || trimmed.starts_with(|c: char| c.is_ascii_digit());
    if !plausible {
        return false;
    }
    // JSON is YAML without comments and unquoted words.
    let sources = Sources::new();
    let tree = yaml::parse(sources.insert("json", text), Flavor::Core, &Limits::default());
    let no_comments = tree.comments().is_empty();
    let quoted =
        (0..u32::try_from(tree.len()).unwrap_or(0)).filter_map(|index| tree.node(index)).all(|node| {
            match node.kind() {
                purlin_syntax::Kind::Scalar => {
                    node.style() == purlin_syntax::Style::Double
                        || (node.as_str().is_none() && node.style() == purlin_syntax::Style::Plain)
                }
                purlin_syntax::Kind::Map | purlin_syntax::Kind::List => node.style() == purlin_syntax::Style::Flow,
                _ => false,
            }
        });
    tree.is_sound() && tree.roots().len() == 1 && no_comments && quoted
}

/// Whether a text is well-formed XML, judged by its tags.
pub fn is_xml(text: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text.trim();
    let mut elements = 0;
    while let Some(start) = rest.find('<') {
        let before = rest.get(..start).unwrap_or("");
        if open.is_empty() && !before.trim().is_empty() {
            return false;
        }
        rest = rest.get(start..).unwrap_or("");
        let (end, skip) = match rest {
            _ if rest.starts_with("<!--") => ("-->", true),
            _ if rest.starts_with("<![CDATA[") => ("]]>", true),
            _ if rest.starts_with("<?") => ("?>", true),
            _ if rest.starts_with("<!") => (">", true),
            _ => (">", false),
        };
        let Some(at) = rest.find(end) else { return false };
        let tag = rest.get(1..at).unwrap_or("");
        rest = rest.get(at + end.len()..).unwrap_or("");
        if skip {
            continue;
        }
        let name = tag.trim_start_matches('/').split([' ', '\t', '\n', '\r', '/']).next().unwrap_or("");
        if name.is_empty() {
            return false;
        }
        if tag.starts_with('/') {
            if open.pop() != Some(name) {
                return false;
            }
        } else {
            elements += 1;
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
    }
    elements > 0 && open.is_empty() && rest.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_apart() {
        assert!(is_json(r#"{"a": [1, true, null, "x"]}"#));
        assert!(!is_json("{a: 1}"));
        assert!(!is_json("hello"));
        assert!(is_xml("<?xml version='1.0'?><a><b x='1'/>text</a>"));
        assert!(!is_xml("<a><b></a>"));
        assert!(!is_xml("plain"));
    }
}
