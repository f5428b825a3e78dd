//! Colours for answers on a terminal. The text stays the same; only its lines are coloured by what they start with.

/// What an answer is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Why,
    Diff,
    Graph,
}

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const CYAN: &str = "\x1b[36m";
const PLAIN: &str = "\x1b[0m";

/// The text with colours.
pub(crate) fn painted(text: &str, answer: Answer) -> String {
    text.lines().map(|line| painted_line(line, answer) + "\n").collect()
}

fn painted_line(line: &str, answer: Answer) -> String {
    let whole = |colour: &str| format!("{colour}{line}{PLAIN}");
    let is_top = !line.starts_with([' ', '├', '└', '│']);
    match answer {
        _ if line.is_empty() => String::new(),
        Answer::Why | Answer::Diff if is_top => whole(BOLD),
        Answer::Diff if line.starts_with("    - ") => whole(RED),
        Answer::Diff if line.starts_with("    + ") => whole(GREEN),
        Answer::Why if line.starts_with("    ") => whole(DIM),
        Answer::Why => whole(CYAN),
        Answer::Graph if is_top => whole(BOLD),
        Answer::Graph | Answer::Diff => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_are_added() {
        let text = "a b\n  c\n    - 1\n    + 2\n\n    through y\n";
        for answer in [Answer::Why, Answer::Diff, Answer::Graph] {
            let mut plain = painted(text, answer);
            for code in [BOLD, DIM, RED, GREEN, CYAN, PLAIN] {
                plain = plain.replace(code, "");
            }
            assert_eq!(plain, text);
        }
    }
}
