//! The answer of `why` on one screen: the value, its derivation with the text of each line, overridden values, and its
//! values in other environments.

use super::blame::Blame;
use purlin_compiler::{Because, Made, Place, Why, origin_text, place_text};
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::{Secrets, Value};
use std::fmt::Write;

/// The results about a value.
pub(super) struct Answered<'a> {
    pub name: &'a str,
    pub field: &'a str,
    pub environment: &'a str,
    pub found: &'a Why,
    pub made: &'a Made,
    /// Its value in other environments; `None` where it has none.
    pub elsewhere: &'a [(String, Option<Value>)],
    /// The authors of the lines, if requested.
    pub blame: Option<&'a Blame>,
}

/// A line of the answer: a step, its location, and the text there.
struct Row {
    step: String,
    place: String,
    /// The author of the line.
    blame: String,
    line: String,
}

/// Maximum widths of the first and second column; longer texts push the rest of their own line aside.
const STEP_WIDTH: usize = 48;
const PLACE_WIDTH: usize = 44;
/// Maximum lengths of a value and of an expression in a step.
const VALUE_WIDTH: usize = 40;
const EXPRESSION_WIDTH: usize = 32;
/// Maximum length of a line's text.
const LINE_WIDTH: usize = 72;

pub(super) fn text(answered: &Answered<'_>) -> String {
    let what = format!("{} {}", answered.name, answered.field);
    let mut out = format!("{} = {}", what.trim_end(), shown(&answered.found.value));
    if !answered.environment.is_empty() {
        let _ = write!(out, "  ({})", answered.environment);
    }
    out.push('\n');
    let mut rows = Rows { all: Vec::new(), blame: answered.blame };
    rows.add_step(answered.made, "  ", "  ");
    rows.add_conditions(&conditions_around(answered), "  ");
    out.push_str(&aligned(&rows.all));
    let last_change = answered.blame.and_then(|blame| blame.last_change(answered.made));
    out.extend(last_change.map(|change| format!("  last change: {change}\n")));
    out.push_str(&other_values(answered.elsewhere));
    out
}

/// The conditions for a value's containers, without those that its own steps show.
fn conditions_around<'a>(answered: &'a Answered<'_>) -> Vec<&'a Because> {
    let told = &answered.made.because;
    answered.found.because.iter().filter(|because| !told.contains(because)).collect()
}

/// The rows of an answer so far.
struct Rows<'a> {
    all: Vec<Row>,
    blame: Option<&'a Blame>,
}

impl Rows<'_> {
    fn add(&mut self, step: String, place: (String, Option<&Place>), line: String) {
        let (shown, place) = place;
        let blame = self.blame.zip(place).map(|(blame, place)| blame.text(place)).unwrap_or_default();
        self.all.push(Row { step, place: shown, blame, line });
    }

    /// Adds the rows of a step: itself, its inputs, overridden values, conditions.
    fn add_step(&mut self, made: &Made, first: &str, rest: &str) {
        self.add(format!("{first}{}", step_text(made)), written(made), line_text(made));
        let inputs = made.inputs.len();
        for (at, input) in made.inputs.iter().enumerate() {
            let is_last = at + 1 == inputs && made.more_inputs == 0;
            let (branch, below) = if is_last { ("└ ", "  ") } else { ("├ ", "│ ") };
            self.add_step(input, &format!("{rest} {branch}"), &format!("{rest} {below}"));
        }
        if made.more_inputs > 0 {
            self.add(format!("{rest} └ … and {} more", made.more_inputs), (String::new(), None), String::new());
        }
        for lost in &made.overrode {
            let step = match &lost.value {
                Some(value) => format!("{rest}  overrides {}", cut(value, VALUE_WIDTH)),
                None => format!("{rest}  overrides"),
            };
            self.add(step, written(lost), line_text(lost));
        }
        self.add_conditions(&made.because.iter().collect::<Vec<_>>(), &format!("{rest}  "));
    }

    fn add_conditions(&mut self, all: &[&Because], indent: &str) {
        for because in all {
            let place = because.place.as_ref();
            let shown = place.map(place_text).unwrap_or_default();
            let inputs: Vec<String> = because.inputs.iter().map(origin_text).filter(|text| !text.is_empty()).collect();
            let from = if inputs.is_empty() { String::new() } else { format!("from {}", inputs.join(", ")) };
            self.add(format!("{indent}because {}", because.text), (shown, place), from);
        }
    }
}

/// `12 = var.replicas * 2`, `6`. The line next to it has the whole expression, so a long one is left out here.
fn step_text(made: &Made) -> String {
    let expression = made.expression.as_deref().filter(|expression| expression.chars().count() <= EXPRESSION_WIDTH);
    match (made.value.as_deref(), expression) {
        (Some(value), Some(expression)) if value != expression => format!("{} = {expression}", cut(value, VALUE_WIDTH)),
        (Some(value), _) => cut(value, VALUE_WIDTH),
        (None, Some(expression)) => format!("= {expression}"),
        (None, None) if made.cause.kind == "computed" => "computed".to_owned(),
        (None, None) => "from".to_owned(),
    }
}

/// A text, cut to a maximum number of characters.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most - 1).chain(['…']).collect() }
}

/// The location of a step; its origin if that is not a file.
fn written(made: &Made) -> (String, Option<&Place>) {
    let place = made.cause.place.as_ref();
    let shown = match (made.cause.kind, place.map(place_text)) {
        ("file" | "computed", Some(place)) => place,
        (_, Some(place)) => format!("{place} ({})", made.cause.detail),
        (_, None) => origin_text(&made.cause),
    };
    (shown, place)
}

fn line_text(made: &Made) -> String {
    cut(made.line.as_deref().unwrap_or_default(), LINE_WIDTH)
}

/// Rows aligned in columns.
fn aligned(rows: &[Row]) -> String {
    let width = |text: &str| text.chars().count();
    let widest =
        |most: usize, of: &dyn Fn(&Row) -> usize| rows.iter().map(of).filter(|n| *n <= most).max().unwrap_or(0);
    let step = widest(STEP_WIDTH, &|row| width(&row.step));
    let place = widest(PLACE_WIDTH, &|row| width(&row.place));
    let blame = widest(usize::MAX, &|row| width(&row.blame));
    let gap = if blame == 0 { "" } else { "  " };
    let mut out = String::new();
    for row in rows {
        let line = format!("{:<step$}  {:<place$}{gap}{:<blame$}  {}", row.step, row.place, row.blame, row.line);
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// `elsewhere: local 2, staging 4`.
fn other_values(elsewhere: &[(String, Option<Value>)]) -> String {
    let mut values: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, value) in elsewhere {
        let value = value.as_ref().map_or_else(|| "not set".to_owned(), shown);
        let name = if name.is_empty() { "by itself" } else { name };
        match values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, names)) => names.push(name),
            None => values.push((value, vec![name])),
        }
    }
    if values.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = values.iter().map(|(value, names)| format!("{} {value}", names.join(", "))).collect();
    format!("  elsewhere: {}\n", shown.join("; "))
}

/// A value in JSON, cut if it is long.
pub(super) fn shown(value: &Value) -> String {
    let text = to_json(value, Secrets::Hide, JsonLayout::Compact).unwrap_or_default();
    if text.chars().count() > 80 { text.chars().take(77).chain(['…']).collect() } else { text }
}
