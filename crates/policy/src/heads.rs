//! Heads of rules that go through a list, with the list in the body.
//!
//! `volumes[pod.spec.volumes[_]]` has no items where there are no volumes; the engine fails there instead, unless the list
//! is in the body of the rule: `volumes[item] { item := pod.spec.volumes[_] }`. Lines stay lines.

/// The variable for an item; no policy would use its name.
const ITEM: &str = "purlin_item_of_head__";

/// A module in which no head goes through a list.
pub(crate) fn in_bodies(text: &str) -> String {
    let line = |line: &str| {
        let (written, end) = line.split_at(line.trim_end_matches(['\n', '\r']).len());
        match rewritten(written) {
            Some(rewritten) => rewritten + end,
            None => line.to_owned(),
        }
    };
    text.split_inclusive('\n').map(line).collect()
}

/// A line that is a head without a body, or one that its body follows.
fn rewritten(line: &str) -> Option<String> {
    let name_end = line.find(|c: char| c != '_' && !c.is_ascii_alphanumeric())?;
    let (name, rest) = line.split_at_checked(name_end).filter(|(name, _)| !name.is_empty())?;
    let (head, item, rest) = match rest.strip_prefix('[') {
        Some(inner) => {
            let end = closing(inner)?;
            (format!("{name}[{ITEM}]"), inner.get(..end)?, inner.get(end + 1..)?)
        }
        None => {
            let inner = rest.strip_prefix(" contains ")?;
            let end = inner.find(" if {").unwrap_or(inner.len());
            let rest = inner.get(end..)?;
            (format!("{name} contains {ITEM} if"), inner.get(..end)?, rest.strip_prefix(" if").unwrap_or(rest))
        }
    };
    if !item.contains("[_]") || item.contains(" if ") {
        return None;
    }
    let rest = rest.trim();
    match rest.strip_prefix('{') {
        Some(body) => Some(format!("{head} {{ {ITEM} := {item}; {body}")),
        None if rest.is_empty() => Some(format!("{head} {{ {ITEM} := {item} }}")),
        None => None,
    }
}

/// The bracket that closes one before the text.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_string => is_escaped = true,
            '"' => is_string = !is_string,
            '[' if !is_string => depth += 1,
            ']' if !is_string && depth == 0 => return Some(at),
            ']' if !is_string => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_without_lists() {
        let cases = [
            ("v[pod.spec.volumes[_]]\n", "v[I] { I := pod.spec.volumes[_] }\n"),
            ("v[input.a[_][\"]\"]] { input.b\n\tinput.c\n}", "v[I] { I := input.a[_][\"]\"];  input.b\n\tinput.c\n}"),
            ("v contains input.a[_]\r\n", "v contains I if { I := input.a[_] }\r\n"),
            ("v contains input.a[_].b if {\n}", "v contains I if { I := input.a[_].b; \n}"),
            ("v[x] { x := input.a[_] }", "v[x] { x := input.a[_] }"),
            ("v contains input.a[_] if input.b", "v contains input.a[_] if input.b"),
            ("\tv[input.a[_]]", "\tv[input.a[_]]"),
            ("v[input.a[_]] = 1", "v[input.a[_]] = 1"),
        ];
        for (text, expected) in cases {
            assert_eq!(in_bodies(text), expected.replace('I', ITEM), "{text}");
        }
    }
}
