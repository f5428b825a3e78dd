//! Small edits that are likely to keep a project valid: another number, another boolean, a longer word.

/// How a literal is changed: if two literals are compared, the first way may make them equal.
#[derive(Clone, Copy)]
pub enum Way {
    First,
    Second,
}

/// The text with the literal in a range changed; `None` if it is not a literal.
pub fn at(text: &str, start: usize, end: usize, way: Way) -> Option<String> {
    let literal = text.get(start..end)?;
    let line = literal.lines().next()?;
    let (from, to) = word(line)?;
    let changed = other(&line[from..to], way)?;
    Some(format!("{}{changed}{}", &text[..start + from], &text[start + to..]))
}

/// The text with all values of a line changed, if it holds several: the elements of a list, the entries of a mapping.
pub fn whole_line(text: &str, number: usize) -> Option<String> {
    let (from, to) = value_of_line(text, number)?;
    let values = text.get(from..to)?;
    if !values.starts_with(['[', '{']) || !values.contains(',') || values.contains(['"', '\'', '#']) {
        return None;
    }
    let mut edited = text.to_owned();
    let mut end = to;
    // From the last to the first, so that offsets stay valid.
    for part in values.rsplit([',', '[', ']', '{', '}']) {
        let start = end - part.len();
        let key = part.find(": ").map_or(0, |at| at + 2);
        edited = at(&edited, start + key, end, Way::First).unwrap_or(edited);
        end = start.saturating_sub(1);
    }
    Some(edited)
}

/// The text with the value of a line changed: the text after its last key or dash.
pub fn line(text: &str, number: usize) -> Option<String> {
    let (from, to) = value_of_line(text, number)?;
    at(text, from, to, Way::First)
}

/// The range of a line's value, if that is a literal.
fn value_of_line(text: &str, number: usize) -> Option<(usize, usize)> {
    let start: usize = text.split_inclusive('\n').take(number).map(str::len).sum();
    let line = text.get(start..)?.lines().next()?;
    if line.trim_start().starts_with(['#', '%']) || line.trim().is_empty() || line.contains("/*") {
        return None;
    }
    let value = line.find(": ").map(|at| at + 2).or_else(|| line.find("- ").map(|at| at + 2)).unwrap_or(line.len());
    let rest = line.get(value..)?.trim_start();
    // Expressions and keys without a value are not changed: a single word does not determine their meaning.
    if rest.is_empty() || rest.contains("{{") || rest.contains("${") || rest.starts_with(['&', '*', '!', '|', '>']) {
        return None;
    }
    let from = start + line.len() - line.get(value..)?.len();
    Some((from, start + line.len()))
}

/// The first word of a line that is not a key of a flow mapping.
fn word(line: &str) -> Option<(usize, usize)> {
    let mut start = 0;
    loop {
        let from = start + line.get(start..)?.find(|c: char| c.is_ascii_alphanumeric())?;
        let before = line.get(..from)?;
        if before.contains(['$', '#', '&', '*', '!']) || before.contains("{{") {
            return None;
        }
        let length = line.get(from..)?.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(line.len() - from);
        let behind = line.get(from..)?.find([',', '}', ' ']).map_or("", |end| &line[from..from + end]);
        if !before.contains('{') || !behind.ends_with(':') {
            return Some((from, from + length));
        }
        start = from + behind.len();
    }
}

fn other(word: &str, way: Way) -> Option<String> {
    let (more, behind) = match way {
        Way::First => (1, "x"),
        Way::Second => (7, "yz"),
    };
    match word {
        "true" => Some("false".to_owned()),
        "false" => Some("true".to_owned()),
        "null" => None,
        _ => match word.parse::<u32>() {
            Ok(number) => Some((u64::from(number) + more).to_string()),
            Err(_) => Some(format!("{word}{behind}")),
        },
    }
}
