//! Quick fixes: corrections suggested by hints, and missing keys.

use crate::Ide;
use crate::facts::is_chart_template;
use crate::names::Edit;
use crate::outline::{Level, Spot, Step};
use crate::place::Place;
use crate::shapes::Shapes;
use crate::workspace::Problem;
use purlin_syntax::{FileId, Source};
use purlin_value::{Value, path};

/// A change offered by an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Its title.
    pub title: String,
    /// The problem that it fixes; `None` for a key that could be added.
    pub problem: Option<Problem>,
    /// The changes.
    pub edits: Vec<Edit>,
}

impl Ide {
    /// Fixes for the problems between two offsets of a file, and for keys that are missing there.
    pub fn fixes(&self, file: &str, start: usize, end: usize) -> Vec<Fix> {
        let file = path::normalize(file);
        let mut fixes = Vec::new();
        let touches = |place: &Place| {
            let (from, to) = (place.bytes.0 as usize, place.bytes.1 as usize);
            place.file == file && from <= end && start <= to
        };
        let picture = self.picture();
        for problem in picture.problems.values().flatten() {
            let own = problem.edit.iter().filter(|_| touches(&problem.place));
            let others = problem.uses.iter().filter(|edit| touches(&edit.place));
            for edit in own.chain(others).filter(|edit| self.is_still_there(problem, edit)) {
                fixes.push(fix(problem, edit));
                fixes.extend(self.everywhere(problem));
            }
        }
        for problem in self.problems(&file).iter().filter(|problem| touches(&problem.place)) {
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

    /// Whether the word to be replaced is still where the problem was found.
    fn is_still_there(&self, problem: &Problem, edit: &Edit) -> bool {
        let text = self.text(&edit.place.file);
        let range = edit.place.bytes.0 as usize..edit.place.bytes.1 as usize;
        problem.word.is_some() && text.as_deref().and_then(|text| text.get(range)) == problem.word.as_deref()
    }

    /// The same change at all occurrences of a wrong word, if there are several.
    fn everywhere(&self, problem: &Problem) -> Option<Fix> {
        let edits = problem.edit.iter().chain(&problem.uses).filter(|edit| self.is_still_there(problem, edit));
        let edits: Vec<Edit> = edits.cloned().collect();
        let text = &edits.first().filter(|_| edits.len() > 1)?.text;
        Some(Fix { title: format!("change to `{text}` in {} places", edits.len()), problem: None, edits })
    }

    /// The change that formats a file; `None` if it is formatted already. The message is why it stays as it is.
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

    /// Adds the missing keys of the mapping at an offset.
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

/// The fix of a problem.
fn fix(problem: &Problem, edit: &Edit) -> Fix {
    Fix { title: format!("change to `{}`", edit.text), problem: Some(problem.clone()), edits: vec![edit.clone()] }
}
