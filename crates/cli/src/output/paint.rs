//! Colours for answers on a terminal. The text stays the same; lines are coloured by their beginning.

/// The kind of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Why,
    Diff,
    Graph,
    /// YAML documents.
    Yaml,
    Json,
    /// Actions with their states, or with the reasons of a plan.
    Actions,
    /// Locations, each with the text there.
    Places,
    /// The summary of a check.
    Summary,
}

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const CYAN: &str = "\x1b[36m";
const PLAIN: &str = "\x1b[0m";

/// The text with colours.
pub(crate) fn painted(text: &str, answer: Answer) -> String {
    if answer == Answer::Yaml {
        return painted_yaml(text);
    }
    text.lines().map(|line| painted_line(line, answer) + "\n").collect()
}

fn painted_line(line: &str, answer: Answer) -> String {
    let whole = |colour: &str| in_colour(colour, line);
    let is_top = !line.starts_with([' ', '├', '└', '│']);
    match answer {
        _ if line.is_empty() => String::new(),
        Answer::Why | Answer::Diff if is_top => whole(BOLD),
        Answer::Diff if line.starts_with("    - ") => whole(RED),
        Answer::Diff if line.starts_with("    + ") => whole(GREEN),
        Answer::Why if line.starts_with("    ") => whole(DIM),
        Answer::Why => whole(CYAN),
        Answer::Graph if is_top => whole(BOLD),
        Answer::Json => painted_json(line),
        Answer::Actions => painted_action(line),
        Answer::Places => painted_place(line),
        Answer::Summary => painted_summary(line),
        Answer::Graph | Answer::Diff | Answer::Yaml => line.to_owned(),
    }
}

fn in_colour(colour: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{colour}{text}{PLAIN}") }
}

/// Keys and comments; block scalars are not coloured.
fn painted_yaml(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    // The indentation of the key or item that a block scalar belongs to.
    let mut block: Option<usize> = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let body = line.trim_start_matches([' ', '-']);
        let is_inside = block.is_some_and(|outer| indent > outer || line.trim().is_empty());
        if is_inside {
            out.push_str(line);
        } else {
            // The key of a block scalar may follow dashes.
            let is_item = body.starts_with(['|', '>']);
            let own = if is_item { indent } else { line.len() - body.len() };
            block = begins_block(line).then_some(own);
            out.push_str(&painted_entry(line));
        }
        out.push('\n');
    }
    out
}

/// Whether a block scalar follows: `key: |`, `- >-`.
fn begins_block(line: &str) -> bool {
    let last = line.rsplit(' ').next().unwrap_or_default();
    last.starts_with(['|', '>']) && last.chars().skip(1).all(|c| matches!(c, '+' | '-' | '0'..='9'))
}

fn painted_entry(line: &str) -> String {
    let body = line.trim_start_matches([' ', '-']);
    if line.trim_start().starts_with('#') || line == "---" {
        return in_colour(DIM, line);
    }
    let before = line.get(..line.len() - body.len()).unwrap_or_default();
    let quoted = body.starts_with(['"', '\'']);
    let end = body.find(": ").or_else(|| body.strip_suffix(':').map(str::len)).filter(|_| !quoted);
    match end.map(|end| body.split_at(end)) {
        Some((key, rest)) => format!("{before}{}{rest}", in_colour(CYAN, key)),
        None => line.to_owned(),
    }
}

/// The key of a member that is on a line of its own.
fn painted_json(line: &str) -> String {
    let body = line.trim_start();
    let before = line.get(..line.len() - body.len()).unwrap_or_default();
    match body.split_once("\": ").filter(|_| body.starts_with('"')) {
        Some((key, rest)) => format!("{before}{}: {rest}", in_colour(CYAN, &format!("{key}\""))),
        None => line.to_owned(),
    }
}

/// `ID  STATE`: the first word of the state decides the colour.
fn painted_action(line: &str) -> String {
    let Some((id, rest)) = line.split_once("  ") else { return in_colour(BOLD, line) };
    let state = rest.trim_start();
    let gap = " ".repeat(rest.len() - state.len() + 2);
    let colour = match state.split([' ', ':']).next().unwrap_or_default() {
        "done" | "running" => GREEN,
        "up" | "never" | "disabled" | "waits" => DIM,
        "failed" | "unknown" | "it" => RED,
        _ => YELLOW,
    };
    format!("{id}{gap}{}", in_colour(colour, state))
}

/// `FILE:LINE:COLUMN text`.
fn painted_place(line: &str) -> String {
    let Some((place, rest)) = line.split_once(' ') else { return in_colour(CYAN, line) };
    match rest.rsplit_once(' ') {
        Some((what, name)) => format!("{} {what} {}", in_colour(CYAN, place), in_colour(BOLD, name)),
        None => format!("{} {rest}", in_colour(CYAN, place)),
    }
}

/// The numbers of errors and warnings, if not zero.
fn painted_summary(line: &str) -> String {
    let separator = if line.contains(" · ") { " · " } else { ", " };
    let part = |part: &str| match part.split(' ').nth(1).unwrap_or_default() {
        "errors" if part.starts_with("no ") => in_colour(GREEN, part),
        "error" | "errors" => in_colour(&format!("{BOLD}{RED}"), part),
        "warning" | "warnings" => in_colour(YELLOW, part),
        _ => part.to_owned(),
    };
    line.split(separator).map(part).collect::<Vec<_>>().join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[Answer] = &[
        Answer::Why,
        Answer::Diff,
        Answer::Graph,
        Answer::Yaml,
        Answer::Json,
        Answer::Actions,
        Answer::Places,
        Answer::Summary,
    ];

    fn plain(text: &str) -> String {
        [BOLD, DIM, RED, GREEN, YELLOW, CYAN, PLAIN].iter().fold(text.to_owned(), |text, code| text.replace(code, ""))
    }

    #[test]
    fn only_colours_are_added() {
        let text = "a b\n  c\n    - 1\n    + 2\n\n    through y\nkey: v\n- a: |\n    b: c\n\n  d:\n\"x: y\": 1\n  \"k\": {\n\
                    # c\n---\nbuild.a   done\nb.yaml:1:2 declares x y\n1 of 2 would run\nchecked 1 file, 1 error, 2 warnings\n\
                    web (chart) 1 object · no errors · 1 warning\né  ü\n";
        for answer in ALL {
            assert_eq!(plain(&painted(text, *answer)), text, "{answer:?}");
        }
    }

    #[test]
    fn each_answer_has_its_colours() {
        assert_eq!(painted("a: 1\n", Answer::Yaml), "\x1b[36ma\x1b[0m: 1\n");
        assert_eq!(
            painted("- a: |\n    b: 1\n  c: 2\n", Answer::Yaml),
            "- \x1b[36ma\x1b[0m: |\n    b: 1\n  \x1b[36mc\x1b[0m: 2\n"
        );
        assert_eq!(painted("build.a  done\n", Answer::Actions), "build.a  \x1b[32mdone\x1b[0m\n");
        assert_eq!(
            painted("build.a  failed: exit code 1\n", Answer::Actions),
            "build.a  \x1b[31mfailed: exit code 1\x1b[0m\n"
        );
        assert_eq!(painted("x · no errors\n", Answer::Summary), "x · \x1b[32mno errors\x1b[0m\n");
        assert_eq!(
            painted("a:1:2 declares b c\n", Answer::Places),
            "\x1b[36ma:1:2\x1b[0m declares b \x1b[1mc\x1b[0m\n"
        );
    }
}
