//! Files copied by a Dockerfile from its context: the sources of `COPY` and `ADD`, with arguments and variables
//! expanded.
//!
//! Works on text and does not access files.

use std::collections::BTreeMap;

/// One instruction: its name in lower case, its flags, its words.
struct Instruction {
    name: String,
    flags: Vec<String>,
    words: Vec<String>,
}

/// The sources that are copied from the context, in order. `args` are the build arguments that are given.
pub fn sources(text: &str, args: &BTreeMap<String, String>) -> Vec<String> {
    let (mut known, mut variables) = (BTreeMap::new(), BTreeMap::new());
    let mut found = Vec::new();
    for instruction in instructions(text) {
        let word = |word: &String| expanded(&substituted(word, &known), &variables);
        match instruction.name.as_str() {
            "arg" => {
                let Some(first) = instruction.words.first() else { continue };
                let (key, default) = first.split_once('=').unwrap_or((first, ""));
                let value = args.get(key).cloned().unwrap_or_else(|| substituted(default, &known));
                known.insert(key.to_owned(), value);
            }
            "env" => {
                let pairs: Vec<(String, String)> = match instruction.words.as_slice() {
                    [key, rest @ ..] if !key.contains('=') => vec![(key.clone(), rest.join(" "))],
                    all => all.iter().filter_map(|pair| pair.split_once('=')).map(own).collect(),
                };
                let pairs: Vec<(String, String)> =
                    pairs.into_iter().map(|(key, value)| (key, unquoted(&substituted(&value, &known)))).collect();
                variables.extend(pairs);
            }
            "copy" | "add" if !instruction.flags.iter().any(|flag| flag.starts_with("--from")) => {
                let words: Vec<String> =
                    instruction.words.iter().take_while(|word| !word.starts_with('#')).map(word).collect();
                let all = words.split_last().map(|(_, all)| all).unwrap_or_default();
                let is_remote = |source: &&String| ["http://", "https://", "<<"].iter().any(|p| source.starts_with(p));
                found.extend(all.iter().filter(|source| !is_remote(source)).cloned());
            }
            _ => {}
        }
    }
    found
}

fn own((key, value): (&str, &str)) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

fn unquoted(text: &str) -> String {
    let quoted = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    quoted('"').or_else(|| quoted('\'')).unwrap_or(text).to_owned()
}

/// The instructions, with lines that are continued joined and here-documents left out.
fn instructions(text: &str) -> Vec<Instruction> {
    let escape = text
        .lines()
        .map_while(|line| line.trim().strip_prefix('#'))
        .find_map(|line| line.trim().strip_prefix("escape=")?.chars().next())
        .unwrap_or('\\');
    let mut found = Vec::new();
    let mut lines = text.lines();
    let mut joined = String::new();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if trimmed.starts_with('#') || (trimmed.is_empty() && joined.is_empty()) {
            continue;
        }
        if let Some(start) = trimmed.strip_suffix(escape) {
            joined.push_str(start);
            joined.push(' ');
            continue;
        }
        joined.push_str(trimmed);
        let whole = std::mem::take(&mut joined);
        for end in here_documents(&whole) {
            for inner in lines.by_ref() {
                if inner.trim_start_matches('\t') == end {
                    break;
                }
            }
        }
        found.extend(instruction(&whole));
    }
    found
}

/// The words that end the here-documents of a line.
fn here_documents(line: &str) -> Vec<String> {
    let name = line.split_whitespace().next().unwrap_or_default().to_lowercase();
    if !matches!(name.as_str(), "run" | "copy" | "add") {
        return Vec::new();
    }
    let end = |word: &str| {
        let rest = word.strip_prefix("<<")?.trim_start_matches('-').trim_matches(['"', '\'']);
        let is_name = !rest.is_empty() && rest.chars().all(|c| c.is_alphanumeric() || c == '_');
        is_name.then(|| rest.to_owned())
    };
    line.split_whitespace().filter_map(end).collect()
}

fn instruction(line: &str) -> Option<Instruction> {
    let (name, mut rest) = line.trim().split_once(char::is_whitespace)?;
    let mut flags = Vec::new();
    rest = rest.trim_start();
    while rest.starts_with("--") {
        let (flag, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        flags.push(flag.to_owned());
        rest = after.trim_start();
    }
    let words = listed(rest.trim()).unwrap_or_else(|| split(rest));
    Some(Instruction { name: name.to_lowercase(), flags, words })
}

/// The words of a JSON list; `None` if it is not one.
fn listed(text: &str) -> Option<Vec<String>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let (mut words, mut chars) = (Vec::new(), inner.chars());
    while let Some(c) = chars.find(|c| !c.is_whitespace() && *c != ',') {
        if c != '"' {
            return None;
        }
        let mut word = String::new();
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => word.push(chars.next()?),
                c => word.push(c),
            }
        }
        words.push(word);
    }
    Some(words)
}

/// The words of a line; quotes and escapes keep spaces together and stay.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', _) => {
                word.push(c);
                word.extend(chars.next());
            }
            ('"' | '\'', None) => {
                quote = Some(c);
                word.push(c);
            }
            (c, Some(open)) if c == open => {
                quote = None;
                word.push(c);
            }
            (c, None) if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            (c, _) => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// A text with `$NAME` and `${NAME}` replaced by build arguments.
fn substituted(text: &str, known: &BTreeMap<String, String>) -> String {
    let mut text = text.to_owned();
    for (name, value) in known {
        text = text.replace(&format!("${{{name}}}"), value);
        let plain = format!("${name}");
        let mut from = 0;
        while let Some(at) = text.get(from..).and_then(|rest| rest.find(&plain)).map(|at| from + at) {
            let end = at + plain.len();
            let goes_on =
                text.get(end..).is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
            if goes_on {
                from = end;
            } else {
                text.replace_range(at..end, value);
                from = at + value.len();
            }
        }
    }
    text
}

/// A word as a shell would expand it: variables, with defaults, and without quotes.
fn expanded(word: &str, variables: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut chars = word.chars().peekable();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None) => out.extend(chars.next()),
            ('\\', Some('"')) => match chars.next() {
                Some(next @ ('"' | '$' | '\\')) => out.push(next),
                Some(next) => out.extend(['\\', next]),
                None => out.push('\\'),
            },
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('$', None | Some('"')) => {
                let mut name = String::new();
                if chars.peek() == Some(&'{') {
                    chars.next();
                    name.extend(chars.by_ref().take_while(|c| *c != '}'));
                } else {
                    while let Some(next) = chars.peek().copied().filter(|c| c.is_alphanumeric() || *c == '_') {
                        name.push(next);
                        chars.next();
                    }
                }
                out.push_str(&variable(&name, variables));
            }
            (c, _) => out.push(c),
        }
    }
    out
}

/// `NAME`, `NAME:-default` or `NAME:+instead`.
fn variable(text: &str, variables: &BTreeMap<String, String>) -> String {
    let value = |name: &str| variables.get(name).cloned().unwrap_or_default();
    if let Some((name, default)) = text.split_once(":-") {
        return Some(value(name)).filter(|value| !value.is_empty()).unwrap_or_else(|| default.to_owned());
    }
    if let Some((name, instead)) = text.split_once(":+") {
        return if value(name).is_empty() { String::new() } else { instead.to_owned() };
    }
    value(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_a_dockerfile() {
        let text = "# escape=\\\nARG DIR=src\nARG GIVEN\nFROM scratch AS one\nENV X=lib Y=\"a b\"\nCOPY $DIR/ ${GIVEN} \\\n  # between\n  $X/* /to/\n\
                    ADD --chown=1:1 [\"a b\", \"/c\"]\nCOPY --from=one /x /y\nADD https://x.example/y /z\nCOPY <<EOF /here\nCOPY no /no\nEOF\n\
                    COPY ${NONE:-other} \"q r\" /to\nRUN <<END\nCOPY no /no\nEND\ncopy last .\n";
        let args = [("GIVEN".to_owned(), "given".to_owned())].into_iter().collect();
        let found = sources(text, &args);
        assert_eq!(found, ["src/", "given", "lib/*", "a b", "other", "q r", "last"]);
    }
}
