//! Answers of `why` are true: each line is the text at its location, and each step, evaluated with the inputs shown
//! below it, gives the value shown for it.
//!
//! Steps are evaluated by the engines of their languages, in a separate project that contains only the shown values.
//! Steps that cannot be evaluated there (a named template, a query, an input that is a whole mapping) are not judged,
//! but counted. `PURLIN_ANSWERS=N` sets the number of answers.

use crate::corpus::{self, Project, Side};
use crate::random::Random;
use crate::{number, show};
use purlin_compiler::{Made, compile, made, wholes};
use purlin_model::Request;
use purlin_syntax::print::escape;
use purlin_value::{MemoryWorld, Session, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Number of answers in every run.
const FEW: usize = 200;

/// Shown lines always equal those of the file; this percentage of the judged steps must recompute to their value, and
/// this percentage of all steps must be judged.
const RECOMPUTE: usize = 98;
const JUDGED: usize = 75;

/// The results for one dialect.
#[derive(Default)]
struct Count {
    answers: usize,
    lines: usize,
    wrong_lines: usize,
    steps: usize,
    judged: usize,
    wrong: usize,
}

/// The result of examining one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Right,
    Wrong,
    Unjudged,
}

#[test]
fn answers_show_what_is_there_and_recompute() {
    let mut random = Random::new(7 + number("PURLIN_TRUTH_SEED", 1) as u64);
    let corpus = corpus::corpus();
    let dialects: Vec<&str> = corpus.keys().copied().collect();
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    for round in 0..number("PURLIN_ANSWERS", FEW) {
        let dialect = dialects[round % dialects.len()];
        let project = random.pick(&corpus[dialect]);
        let (whole, field) = random.pick(&project.side.leaves()).clone();
        let Some(value) = project.side.at(&whole, &field) else { continue };
        let answer = made(&project.side.session, &value);
        let count = counts.entry(dialect).or_default();
        count.answers += 1;
        let told = format!("{}: {whole} {field}", project.name);
        examine(project, &answer, &told, count);
    }
    let mut all = Count::default();
    for (dialect, count) in &counts {
        let Count { answers, lines, wrong_lines, steps, judged, wrong } = count;
        println!(
            "{dialect}: {answers} answers, {wrong_lines} of {lines} lines are others, {wrong} of {judged} judged steps do not recompute, of {steps}"
        );
        all.lines += lines;
        all.wrong_lines += wrong_lines;
        all.steps += steps;
        all.judged += judged;
        all.wrong += wrong;
    }
    let right = all.judged - all.wrong;
    println!("together {right} of {} recompute, {} of {} are judged", all.judged, all.judged, all.steps);
    assert!(all.lines > 0 && all.judged > 0, "nothing was drawn");
    assert_eq!(all.wrong_lines, 0, "lines are not those of their files; PURLIN_TRUTH_SHOW=1 shows them");
    assert!(right * 100 >= all.judged * RECOMPUTE, "{} of {} do not recompute", all.wrong, all.judged);
    assert!(all.judged * 100 >= all.steps * JUDGED, "only {} of {} are judged", all.judged, all.steps);
}

/// Examines a step and those below it.
fn examine(project: &Project, step: &Made, told: &str, count: &mut Count) {
    if let (Some(line), Some(place)) = (&step.line, &step.cause.place) {
        count.lines += 1;
        let there = project.text(&place.file).map(|text| line_of(&text, place.line));
        // Built-in definitions are in no file of the project.
        if let Some(there) = there.filter(|there| there != line) {
            count.wrong_lines += 1;
            show(&format!("another line: {told}: {place} `{line}` is `{there}`"));
        }
    }
    // Built-in defaults have neither a line nor inputs.
    let says_something = step.cause.place.is_some() || !step.inputs.is_empty();
    if let Some(value) = step.value.as_ref().filter(|_| says_something) {
        count.steps += 1;
        let verdict = judge(project, step, value);
        count.judged += usize::from(verdict != Verdict::Unjudged);
        count.wrong += usize::from(verdict == Verdict::Wrong);
        if verdict != Verdict::Right {
            let inputs: Vec<_> = step.inputs.iter().map(|input| input.value.as_deref().unwrap_or("?")).collect();
            let place = step.cause.place.as_ref().map(ToString::to_string).unwrap_or_default();
            let written = step.expression.as_deref().or(step.line.as_deref()).unwrap_or_default();
            show(&format!("{verdict:?}: {told}: `{value}` = `{written}` of {inputs:?} at {place}"));
        }
    }
    for below in step.inputs.iter().chain(&step.overrode) {
        examine(project, below, told, count);
    }
}

fn line_of(text: &str, number: u32) -> String {
    let line = text.lines().nth(number as usize - 1).unwrap_or_default();
    escape(line.trim_end_matches('\r')).trim().to_owned()
}

/// Whether two values are equal, as far as the first is shown.
fn is_same(shown: &str, found: &str) -> bool {
    match shown.strip_suffix('…') {
        Some(begun) => found.starts_with(begun),
        None => shown == found || shown.trim() == found.trim(),
    }
}

fn judge(project: &Project, step: &Made, value: &str) -> Verdict {
    let inputs: Option<Vec<&str>> = step.inputs.iter().map(|input| input.value.as_deref()).collect();
    let Some(inputs) = inputs.filter(|_| step.more_inputs == 0) else { return Verdict::Unjudged };
    match (&step.expression, inputs.as_slice()) {
        (None, []) if step.cause.kind == "file" => match written_at(project, step) {
            Some(written) if is_written(value, &written) => Verdict::Right,
            // An expression that uses only built-in values.
            Some(written) => {
                match written.split_once("}}").map(|(inner, _)| inner.trim_start_matches(['"', '\'', '{', '-', ' '])) {
                    Some(inner) if references(inner).is_empty() => evaluate(inner, &[], value),
                    Some(_) => Verdict::Unjudged,
                    None => Verdict::Wrong,
                }
            }
            None => Verdict::Unjudged,
        },
        // Defaults, flags and built-in values are not computed from anything.
        (None, []) => Verdict::Unjudged,
        // A value that passes through a step without a text of its own is unchanged, or a part of a text.
        (None, inputs) => match inputs.iter().all(|input| value.contains(input.trim_end_matches('…'))) {
            true => Verdict::Right,
            false => Verdict::Unjudged,
        },
        (Some(expression), inputs) => evaluate(expression, inputs, value),
    }
}

/// The text of a file from the location of a step to the end of the line; `None` outside the project's files.
fn written_at(project: &Project, step: &Made) -> Option<String> {
    let place = step.cause.place.as_ref()?;
    let text = project.text(&place.file)?;
    let line = text.lines().nth(place.line as usize - 1)?;
    let rest: String = line.chars().skip(place.column as usize - 1).collect();
    // Multi-line text is included as a whole.
    let more: Vec<&str> = text.lines().skip(place.line as usize).take(40).map(str::trim).collect();
    Some(if place.last_line > place.line { format!("{rest} {}", more.join(" ")) } else { rest })
}

/// Whether a scalar equals its text: plain, in quotes, in a block, or in another notation of its type.
fn is_written(value: &str, written: &str) -> bool {
    let bare = written.trim_start_matches(['"', '\'']);
    if [written, bare].iter().any(|text| is_same(value, text) || text.starts_with(value.trim_end_matches('…'))) {
        return true;
    }
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let block = squeezed(written.trim_start_matches(['|', '>', '-', '+', ' ', '"', '\'']));
    if block.starts_with(&squeezed(value.trim_end_matches('…'))) {
        return true;
    }
    // A part of a name: `images` of `build.images`.
    let token = written.split([',', ' ', ']', '}', '"', '\'']).find(|token| !token.is_empty()).unwrap_or_default();
    if !value.is_empty() && token.split(['.', '/', ':', '=']).any(|part| part == value) {
        return true;
    }
    // As a separate value: `0x1F`, `"a\tb"`, `yes`.
    let whole = format!("v: {written}\n");
    let read = |text: &str| {
        let session = Session::new(Arc::new(MemoryWorld::new().file("Chart.yaml", CHART).file("values.yaml", text)));
        let resolved = compile(&session, &Request::of("."))?.resolved;
        let value = wholes(&resolved).find_map(|(_, whole)| whole.at("values.v").or_else(|| whole.at("v")));
        value.map(|value| corpus::text_of(&value))
    };
    let cut = written.split([',', '}', ']']).next().unwrap_or_default();
    [whole.as_str(), &format!("v: {cut}\n")].iter().any(|text| read(text).is_some_and(|read| is_same(value, &read)))
}

const CHART: &str = "apiVersion: v2\nname: x\nversion: 1.0.0\n";

/// Evaluates an expression in the language that it seems to use.
fn evaluate(expression: &str, inputs: &[&str], value: &str) -> Verdict {
    // A plain reference has the value of its target.
    if let [only] = inputs
        && is_same(value, only)
    {
        return Verdict::Right;
    }
    if expression.ends_with('…') || inputs.iter().any(|input| input.ends_with('…')) {
        return Verdict::Unjudged;
    }
    let names = references(expression);
    if names.len() != inputs.len() {
        // A branch that was not taken has no input; the taken one is in the expression or is an input.
        let is_taken = inputs.contains(&value) || expression.contains(value);
        return if is_taken { Verdict::Right } else { Verdict::Unjudged };
    }
    let mut is_evaluated = false;
    for way in 0..1u32 << inputs.len().min(4) {
        let literals: Vec<String> =
            inputs.iter().enumerate().map(|(at, input)| literal(input, way >> at & 1 == 1)).collect();
        let text = replaced(expression, &names, &literals);
        for found in [in_garden(&text), in_template(&text)].into_iter().flatten() {
            is_evaluated = true;
            if is_same(value, &found) {
                return Verdict::Right;
            }
        }
    }
    if is_evaluated { Verdict::Wrong } else { Verdict::Unjudged }
}

fn literal(text: &str, is_text: bool) -> String {
    let is_plain = text.parse::<f64>().is_ok() || matches!(text, "true" | "false");
    if is_plain && !is_text { text.to_owned() } else { serde_json::to_string(text).unwrap() }
}

/// The names that an expression refers to, each once, in order: `var.a.b`, `.Values.a`, `$x.b`. Names of functions come
/// before parentheses or arguments, and contain no dots.
fn references(expression: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = expression;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        if c == '"' || c == '\'' || c == '`' {
            let inner = &rest[1..];
            rest = inner.find(c).map_or("", |end| &inner[end + 1..]);
            before = c;
            continue;
        }
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
        if (c.is_alphabetic() || c == '.' || c == '$') && !before.is_alphanumeric() && before != ')' {
            let end = rest.char_indices().skip(1).find(|(_, c)| !is_part(*c)).map_or(rest.len(), |(at, _)| at);
            let name = &rest[..end];
            if (name.contains('.') || name.starts_with('$')) && !found.iter().any(|known| known == name) {
                found.push(name.to_owned());
            }
            before = name.chars().last().unwrap_or(' ');
            rest = &rest[end..];
            continue;
        }
        before = c;
        rest = &rest[c.len_utf8()..];
    }
    found
}

fn replaced(expression: &str, names: &[String], literals: &[String]) -> String {
    // The longest first: a name may be a prefix of another.
    let mut pairs: Vec<(&String, &String)> = names.iter().zip(literals).collect();
    pairs.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let mut out = String::new();
    let mut rest = expression;
    'next: while let Some(c) = rest.chars().next() {
        for (name, literal) in &pairs {
            if let Some(more) = rest.strip_prefix(name.as_str()) {
                out.push_str(literal);
                rest = more;
                continue 'next;
            }
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

fn in_garden(expression: &str) -> Option<String> {
    let inner = expression.strip_prefix("${").and_then(|text| text.strip_suffix('}')).unwrap_or(expression);
    let quoted = serde_json::to_string(&format!("${{{inner}}}")).unwrap();
    let text = format!(
        "apiVersion: garden.io/v2\nkind: Project\nname: p\nenvironments: [{{name: dev}}]\nvariables: {{v: {quoted}}}\n"
    );
    result(MemoryWorld::new().file("project.garden.yml", &text), |side| side.at("variables", "v"))
}

fn in_template(expression: &str) -> Option<String> {
    let inner = expression.trim_start_matches("{{").trim_end_matches("}}").trim_matches(['-', ' ']);
    let template =
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\ndata:\n  v: {{{{ ({inner}) | toJson }}}}\n");
    let world = MemoryWorld::new().file("Chart.yaml", CHART).file("templates/x.yaml", &template);
    result(world, |side| wholes(&side.resolved).find_map(|(_, whole)| whole.at("data.v")))
}

fn result(world: MemoryWorld, find: impl Fn(&Side) -> Option<Value>) -> Option<String> {
    let session = Session::new(Arc::new(world));
    let mut request = Request::of(".");
    request.manifests = true;
    let resolved = compile(&session, &request)?.resolved;
    if session.sink.has_errors() {
        return None;
    }
    find(&Side { session, resolved }).map(|value| corpus::text_of(&value))
}
