//! Changes that mend a problem: what hints say was meant, and keys that are missing.

use crate::Ide;
use crate::facts::is_chart_template;
use crate::names::Edit;
use crate::outline::{Level, Spot, Step};
use crate::place::Place;
use crate::shapes::Shapes;
use crate::workspace::Problem;
use purlin_compiler::USED;
use purlin_syntax::{FileId, Source};
use purlin_value::{Value, path};

/// A change that an editor offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does.
    pub title: String,
    /// The problem that it mends; nothing for a key that could be added.
    pub problem: Option<Problem>,
    /// The changes.
    pub edits: Vec<Edit>,
}

const MEANT: &str = "did you mean `";

impl Ide {
    /// Changes for the problems between two offsets of a file, and for keys that are missing there.
    pub fn fixes(&self, file: &str, start: usize, end: usize) -> Vec<Fix> {
        let file = path::normalize(file);
        let Some(text) = self.text(&file) else { return Vec::new() };
        let source = Source::new(FileId(0), file.as_str(), text.clone());
        let mut fixes = Vec::new();
        let touches = |problem: &&Problem| {
            let (from, to) = (problem.place.bytes.0 as usize, problem.place.bytes.1 as usize);
            from <= end && start <= to
        };
        let mut problems = self.problems(&file);
        problems.extend(self.used_in(&file));
        for problem in problems.iter().filter(touches) {
            for fix in problem.hints.iter().filter_map(|hint| meant(&source, problem, hint)) {
                let everywhere = self.everywhere(&fix, problem);
                fixes.push(fix);
                fixes.extend(everywhere);
            }
            if problem.rule.contains("missing-key") || problem.rule == "skaffold-required" {
                let at = problem.place.bytes.0 as usize;
                fixes.extend(self.missing(&file, at).map(|fix| Fix { problem: Some(problem.clone()), ..fix }));
            }
        }
        if fixes.is_empty() && start == end {
            fixes.extend(self.missing(&file, start));
        }
        fixes
    }

    /// Problems that are reported elsewhere, as seen from their further uses in a file.
    fn used_in(&self, file: &str) -> Vec<Problem> {
        let picture = self.picture();
        let mut found = Vec::new();
        for problem in picture.problems.values().flatten() {
            for (at, (place, message)) in problem.related.iter().enumerate() {
                if place.file == file && message.starts_with(USED) {
                    let mut seen = Problem { place: place.clone(), ..problem.clone() };
                    if let Some(first) = seen.related.get_mut(at) {
                        first.0 = problem.place.clone();
                    }
                    found.push(seen);
                }
            }
        }
        found
    }

    /// The same change in all places where a name is used, if there are several that are written alike.
    fn everywhere(&self, fix: &Fix, problem: &Problem) -> Option<Fix> {
        let edit = fix.edits.first()?;
        let written = |place: &Place| {
            let text = self.text(&place.file)?;
            text.get(place.bytes.0 as usize..place.bytes.1 as usize).map(str::to_owned)
        };
        let wrong = written(&edit.place)?;
        let uses = problem.related.iter().filter(|(_, message)| message.starts_with(USED)).map(|(place, _)| place);
        let others = uses.filter(|place| written(place).as_deref() == Some(wrong.as_str()));
        let others: Vec<Edit> = others.map(|place| Edit { place: place.clone(), ..edit.clone() }).collect();
        if others.is_empty() {
            return None;
        }
        let title = format!("{} in {} places", fix.title, others.len() + 1);
        let edits = std::iter::once(edit.clone()).chain(others).collect();
        Some(Fix { title, problem: None, edits })
    }

    /// The change that formats a file; nothing where it is formatted already. The message says why it stays as it is.
    pub fn format(&self, file: &str) -> Result<Option<Edit>, String> {
        let file = path::normalize(file);
        let Some(text) = self.text(&file) else { return Ok(None) };
        if is_chart_template(&file) {
            return Err("templates of charts are not formatted".to_owned());
        }
        let formatted = purlin_syntax::format::format(&text, &self.limits).map_err(|why| why.to_string())?;
        let source = Source::new(FileId(0), file.as_str(), text.clone());
        let edit = Edit { place: Place::of(&source, 0..text.len()), text: formatted };
        Ok((edit.text != *text).then_some(edit))
    }

    /// The keys that the mapping at an offset lacks.
    fn missing(&self, file: &str, offset: usize) -> Option<Fix> {
        let context = self.context(file, offset)?;
        let schema = self.schema_for(&context)?;
        let cursor = &context.cursor;
        let mut path: Vec<Step> = cursor.path.clone();
        let mut levels: Vec<Level> = cursor.levels.clone();
        if cursor.spot == Spot::Value {
            path.pop();
            levels.pop();
        }
        let level = levels.last()?;
        let mut keys: Vec<&str> = Vec::new();
        for map in Shapes::new(&schema).at(&path, &levels) {
            let required = map.get("required").and_then(Value::as_list).unwrap_or_default();
            keys.extend(required.iter().filter_map(Value::as_str).filter(|key| !level.has(key)));
        }
        keys.sort_unstable();
        keys.dedup();
        if keys.is_empty() || level.keys.is_empty() {
            return None;
        }
        let line_end =
            context.text[offset.min(context.text.len())..].find('\n').map_or(context.text.len(), |at| offset + at);
        let indent = " ".repeat(cursor.column);
        let lines: String = keys.iter().map(|key| format!("\n{indent}{key}: ")).collect();
        let source = Source::new(FileId(0), file, context.text.clone());
        let title = format!("add `{}`", keys.join("`, `"));
        let edits = vec![Edit { place: Place::of(&source, line_end..line_end), text: lines }];
        Some(Fix { title, problem: None, edits })
    }
}

/// The change that a "did you mean" hint asks for.
fn meant(source: &Source, problem: &Problem, hint: &str) -> Option<Fix> {
    let rest = &hint[hint.find(MEANT)? + MEANT.len()..];
    let new = &rest[..rest.find('`')?];
    let (start, end) = (problem.place.bytes.0 as usize, problem.place.bytes.1 as usize);
    let written = source.text().get(start..end)?;
    // The message names what is wrong; it may be a part of what is underlined.
    let wrong = problem.message.split('`').nth(1).filter(|word| !word.is_empty());
    let range = match wrong.and_then(|word| Some((written.find(word)?, word.len()))) {
        Some((at, length)) => start + at..start + at + length,
        None if !written.contains(['\n', ' ', ':']) => start..end,
        None => return None,
    };
    Some(Fix {
        title: format!("change to `{new}`"),
        problem: Some(problem.clone()),
        edits: vec![Edit { place: Place::of(source, range), text: new.to_owned() }],
    })
}
