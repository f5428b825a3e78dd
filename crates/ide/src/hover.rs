//! Information at a position: documentation of the tables, the resolved value, and its origin.

use crate::Ide;
use crate::context::{Context, Language};
use crate::facts::{is_chart_template, kind};
use crate::functions::functions;
use crate::outline::Spot;
use crate::place::Place;
use crate::shapes::Shapes;
use crate::workspace::Outcome;
use purlin_compiler::{origin_text, why};
use purlin_model::json_schema::TAKES;
use purlin_syntax::write::JsonLayout;
use purlin_syntax::{FileId, Source, Span};
use purlin_value::emit::to_json;
use purlin_value::{Secrets, Value, path};
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

/// The information about a position, in Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The text.
    pub text: String,
    /// The range that it describes.
    pub place: Place,
}

/// A value that is shown next to the text it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlay {
    /// The text before it.
    pub place: Place,
    /// The value, in one line.
    pub text: String,
}

/// A line above a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lens {
    /// The declaration.
    pub place: Place,
    /// Its text.
    pub title: String,
    /// The command: `references` of the position, or the `manifest` of a file.
    pub command: &'static str,
}

/// Longer values are cut.
const LONGEST: usize = 2_000;
/// Maximum length of a value next to the text.
const LONGEST_INLAY: usize = 60;

/// A value of a project and its owner.
struct Found {
    owner: String,
    field: String,
    value: Value,
    span: Span,
}

impl Ide {
    /// The information at an offset of a file.
    pub fn hover(&self, file: &str, offset: usize) -> Option<Hover> {
        let context = self.context(file, offset)?;
        let source = Source::new(FileId(0), context.file.as_str(), context.text.clone());
        let mut parts: Vec<String> = Vec::new();
        let mut range = context.cursor.word.clone();
        if let Some((word, doc)) = self.function_at(&context) {
            range = word;
            parts.push(doc);
        }
        if let Some(facts) = self.facts(file)
            && let Some(mark) = facts.at(offset)
        {
            range = mark.bytes.clone();
            parts.push(format!("{} **{}**", mark.kind, mark.name));
            let declared = self.declarations(file, mark.kind, &mark.name);
            if let Some(place) = declared.first().filter(|place| place.bytes.0 as usize != mark.bytes.start) {
                parts.push(format!("declared in `{}:{}`", place.file, place.start.line + 1));
            }
            if mark.kind == kind::VALUE && is_chart_template(&context.file) {
                parts.extend(self.value_text(&context.file, &mark.name));
            }
        }
        parts.extend(self.documentation(&context));
        parts.extend(self.resolved_text(&context));
        if parts.is_empty() {
            return None;
        }
        Some(Hover { text: parts.join("\n\n"), place: Place::of(&source, range) })
    }

    /// The schema's documentation of a key.
    fn documentation(&self, context: &Context) -> Option<String> {
        if context.inside.is_some() || context.cursor.spot == Spot::Text {
            return None;
        }
        let schema = self.schema_for(context)?;
        let cursor = &context.cursor;
        let mut path = cursor.path.clone();
        let mut levels = cursor.levels.clone();
        let key = match cursor.spot {
            Spot::Key => {
                let key = context.text.get(cursor.word.clone())?.trim_matches(['"', '\'']).to_owned();
                path.push(crate::outline::Step::Key(key.clone()));
                levels.push(crate::outline::Level::default());
                key
            }
            _ => cursor.last_key()?.to_owned(),
        };
        let all = Shapes::new(&schema).at(&path, &levels);
        let described = all.iter().find(|map| map.contains_key("description"))?;
        let mut text = format!("**{key}**");
        if let Some(takes) = described.get(TAKES).and_then(Value::as_str) {
            let _ = write!(text, ": {takes}");
        }
        let _ = write!(text, "\n\n{}", described.get("description").and_then(Value::as_str).unwrap_or(""));
        let words: Vec<&str> =
            all.iter().filter_map(|map| map.get("enum")?.as_list()).flatten().filter_map(Value::as_str).collect();
        if !words.is_empty() && words.len() <= 30 {
            let _ = write!(text, "\n\nOne of `{}`.", words.join("`, `"));
        }
        if let Some(default) = described.get("default").filter(|default| !default.is_null()) {
            let _ = write!(text, "\n\nDefault: `{}`.", shown(default, 200));
        }
        if described.get("deprecated").and_then(Value::as_bool) == Some(true) {
            text.push_str("\n\nDeprecated.");
        }
        Some(text)
    }

    /// The function at a position in an expression.
    fn function_at(&self, context: &Context) -> Option<(Range<usize>, String)> {
        let inside = context.inside.as_ref()?;
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let before = context.text.get(inside.range.start..context.offset)?;
        let start =
            before.rfind(|c| !is_name(c)).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let start = inside.range.start + start;
        let after = context.text.get(context.offset..)?;
        let end = context.offset + after.find(|c| !is_name(c)).unwrap_or(after.len());
        let word = context.text.get(start..end)?;
        if context.text.get(..start)?.ends_with('.') {
            return None;
        }
        if inside.language == Language::Garden
            && let Some(key) = purlin_garden::phases::KEYS.iter().find(|key| key.name == word)
        {
            let phase = if key.phase.is_empty() { String::new() } else { format!("\n\nIt exists {}.", key.phase) };
            return Some((start..end, format!("**{word}**\n\n{}{phase}", key.sentence())));
        }
        let known = functions(inside.language).into_iter().find(|known| known.name == word)?;
        Some((start..end, format!("`{}`\n\n{}", known.label, known.doc)))
    }

    /// The resolved value at a position, and its origin.
    fn resolved_text(&self, context: &Context) -> Option<String> {
        let picture = self.picture();
        for outcome in
            picture.outcomes.iter().filter(|outcome| outcome.concerns(&context.file)).map(|outcome| outcome.good())
        {
            let Some((best, stale)) = smallest_at(outcome, &context.file, &context.text, context.offset) else {
                continue;
            };
            let mut text = explained(outcome, &format!("{}.{}", best.owner, best.field), &best.value);
            if stale {
                text.push_str("\n\n_before the last edit_");
            }
            return Some(text);
        }
        None
    }

    /// A value of the chart that a template reads, and its origin.
    fn value_text(&self, file: &str, name: &str) -> Option<String> {
        let picture = self.picture();
        let mut outcomes = picture.outcomes.iter().filter(|outcome| outcome.concerns(file));
        outcomes.find_map(|outcome| {
            let value = value_of(outcome.good(), name)?;
            Some(explained(outcome.good(), name, &value))
        })
    }

    /// The origins of the value at a position.
    pub(crate) fn sources_of(&self, file: &str, offset: usize) -> Vec<Place> {
        let Some(text) = self.text(file) else { return Vec::new() };
        let picture = self.picture();
        let mut places = Vec::new();
        for outcome in picture.outcomes.iter().filter(|outcome| outcome.concerns(file)).map(|outcome| outcome.good()) {
            let Some((best, _)) = smallest_at(outcome, file, &text, offset) else { continue };
            for piece in why(&outcome.session, &best.value).pieces {
                let Some(cause) = piece.cause.place else { continue };
                let Some(text) = self.text(&cause.file) else { continue };
                let start = crate::offset_chars(&text, cause.line.saturating_sub(1), cause.column.saturating_sub(1));
                let source = Source::new(FileId(0), cause.file.as_str(), text);
                places.push(Place::of(&source, start..start));
            }
        }
        places
    }

    /// Resolved values next to the expressions of a file.
    pub fn inlays(&self, file: &str) -> Vec<Inlay> {
        let file = path::normalize(file);
        let Some(text) = self.text(&file) else { return Vec::new() };
        let source = Source::new(FileId(0), file.as_str(), text.clone());
        let picture = self.picture();
        let mut found: Vec<Inlay> = Vec::new();
        for outcome in picture.outcomes.iter().filter(|outcome| outcome.concerns(&file)) {
            for value in values_in(outcome, &file) {
                let mut range = value.span.start as usize..value.span.end as usize;
                // The location of a value may be the expression without its braces.
                let is_bare = text.get(..range.start).is_some_and(|before| before.ends_with("${"));
                if is_bare && text.get(range.end..).is_some_and(|after| after.starts_with('}')) {
                    range = range.start - 2..range.end + 1;
                }
                let written = text.get(range.clone()).unwrap_or("");
                let is_expression = written.contains("${") || written.contains("{{");
                let is_expression = is_expression && value.value.as_str() != Some(written.trim_matches(['"', '\'']));
                let place = Place::of(&source, range);
                if is_expression && !written.contains('\n') && !found.iter().any(|known| known.place == place) {
                    let shown = shown(&value.value, LONGEST_INLAY);
                    found.push(Inlay { place, text: format!("= {shown}") });
                }
            }
        }
        found.extend(self.values_read(&file));
        found.sort_by(|a, b| a.place.cmp(&b.place));
        found
    }

    /// The scalar values that a template reads.
    fn values_read(&self, file: &str) -> Vec<Inlay> {
        let Some(facts) = self.facts(file).filter(|_| is_chart_template(file)) else { return Vec::new() };
        let picture = self.picture();
        let is_chart = |outcome: &&Arc<Outcome>| outcome.concerns(file) && outcome.claim.dialect().name == "charts";
        let Some(outcome) = picture.outcomes.iter().find(is_chart) else { return Vec::new() };
        let read = facts.mentioned.iter().filter(|mark| mark.kind == kind::VALUE);
        let inlay = |mark: &crate::Mark| {
            let value = value_of(outcome.good(), &mark.name)?;
            let is_single = value.as_map().is_none() && value.as_list().is_none();
            let text = format!("= {}", shown(&value, LONGEST_INLAY));
            is_single.then(|| Inlay { place: facts.place(&mark.bytes), text })
        };
        read.filter_map(inlay).collect()
    }

    /// Lines above the declarations of a file.
    pub fn lenses(&self, file: &str) -> Vec<Lens> {
        let file = path::normalize(file);
        let Some(facts) = self.facts(&file) else { return Vec::new() };
        let mut lenses = Vec::new();
        if is_chart_template(&file) && self.chart_folder(&file).is_some() && !path::file_name(&file).starts_with('_') {
            lenses.push(Lens { place: Place::top(&file), title: "rendered manifest".to_owned(), command: "manifest" });
        }
        let related = self.related(&file);
        let environments: std::collections::BTreeSet<&str> = related
            .iter()
            .flat_map(|facts| facts.declared.iter())
            .filter(|mark| mark.kind == kind::ENVIRONMENT)
            .map(|mark| mark.name.as_str())
            .collect();
        const COUNTED: &[&str] = &[
            kind::ACTION,
            kind::MODULE,
            kind::TEMPLATE,
            kind::PROFILE,
            "node template",
            "node type",
            kind::NAMED_TEMPLATE,
        ];
        for mark in facts.declared.iter().filter(|mark| COUNTED.contains(&mark.kind)) {
            let same = |other: &&crate::Mark| other.kind == mark.kind && other.name == mark.name;
            let uses: usize = related.iter().map(|facts| facts.mentioned.iter().filter(same).count()).sum();
            let place = facts.place(&mark.bytes);
            let title = if uses == 1 { "1 reference".to_owned() } else { format!("{uses} references") };
            lenses.push(Lens { place: place.clone(), title, command: "references" });
            if mark.kind == kind::ACTION && environments.len() > 1 {
                let own = facts
                    .mentioned
                    .iter()
                    .filter(|other| other.kind == kind::ENVIRONMENT && mark.whole.contains(&other.bytes.start));
                let count = match own.count() {
                    0 => environments.len(),
                    count => count,
                };
                let title = format!("used in {count} of {} environments", environments.len());
                lenses.push(Lens { place, title, command: "references" });
            }
        }
        lenses
    }

    /// The manifests that a template of a chart renders to, with the defaults of the chart.
    pub fn manifest(&self, file: &str) -> Option<String> {
        let file = path::normalize(file);
        let picture = self.picture();
        let outcomes = picture.outcomes.iter().filter(|outcome| outcome.concerns(&file));
        let resolved = outcomes.filter_map(|outcome| outcome.resolved.as_ref());
        let tail = file.rsplit_once("templates/").map(|(_, tail)| format!("templates/{tail}"))?;
        let mut text = String::new();
        for manifest in resolved.flat_map(|resolved| resolved.manifests.iter()) {
            if manifest.source.ends_with(&tail) {
                text.push_str("---\n");
                text.push_str(&purlin_value::emit::to_yaml(&manifest.value, Secrets::Hide).unwrap_or_default());
            }
        }
        (!text.is_empty()).then_some(text)
    }
}

/// The corresponding offset in the text that a project was resolved with, and whether that text differs.
fn offset_then(outcome: &Outcome, file: &str, now: &str, offset: usize) -> Option<(usize, bool)> {
    let ids = outcome.session.ids();
    let then = ids.into_iter().filter_map(|id| outcome.session.sources.get(id)).find(|source| source.path() == file)?;
    let then = then.text();
    if then == now {
        return Some((offset, false));
    }
    let prefix = then.bytes().zip(now.bytes()).take_while(|(a, b)| a == b).count();
    if offset <= prefix {
        return Some((offset, true));
    }
    let suffix = then.bytes().rev().zip(now.bytes().rev()).take_while(|(a, b)| a == b).count();
    let from_end = now.len() - offset;
    (from_end <= suffix).then(|| (then.len() - from_end, true))
}

/// The smallest value at a position, and whether the text has changed since it was resolved.
fn smallest_at(outcome: &Outcome, file: &str, now: &str, offset: usize) -> Option<(Found, bool)> {
    let (offset, stale) = offset_then(outcome, file, now, offset)?;
    let fits = |found: &Found| found.span.start as usize <= offset && offset <= found.span.end as usize;
    let all = values_in(outcome, file).into_iter().filter(fits);
    Some((all.min_by_key(|found| found.span.end - found.span.start)?, stale))
}

/// All values of a project that come from a file, with their locations.
fn values_in(outcome: &Outcome, file: &str) -> Vec<Found> {
    let Some(resolved) = &outcome.resolved else { return Vec::new() };
    let session = &outcome.session;
    let of_file: std::collections::HashSet<FileId> = session
        .ids()
        .into_iter()
        .filter(|id| session.sources.get(*id).is_some_and(|source| source.path() == file))
        .collect();
    let mut found = Vec::new();
    let mut gather = |owner: &str, whole: &Value| {
        for (field, value) in whole.leaves() {
            let span = session.origins.span(value.origin, &session.sources);
            if let Some(span) = span.filter(|span| of_file.contains(&span.file)) {
                found.push(Found { owner: owner.to_owned(), field, value: value.clone(), span });
            }
        }
    };
    gather("variables", &resolved.variables);
    for node in &resolved.nodes {
        gather(&node.id, &node.resolved);
    }
    found
}

/// The value of a chart under a dotted name.
fn value_of(outcome: &Outcome, name: &str) -> Option<Value> {
    let resolved = outcome.resolved.as_ref().filter(|_| outcome.claim.dialect().name == "charts")?;
    resolved.variables.at(name).filter(|value| !value.is_absent())
}

/// A value with its name, its environment and its origin.
fn explained(outcome: &Outcome, name: &str, value: &Value) -> String {
    let mut text = format!("`{name}` = `{}`", shown(value, LONGEST));
    let environment = outcome.resolved.as_ref().map(|resolved| &resolved.environment);
    if let Some(environment) = environment.filter(|name| !name.is_empty()) {
        let _ = write!(text, " in `{environment}`");
    }
    for piece in why(&outcome.session, value).pieces.iter().take(8) {
        let origin = origin_text(&piece.cause);
        match &piece.text {
            Some(part) if !origin.is_empty() => {
                let _ = write!(text, "\n- `{}` from {origin}", cut(part, 80));
            }
            None if !origin.is_empty() => {
                let _ = write!(text, "\n- from {origin}");
            }
            _ => {}
        }
        for lost in &piece.overrode {
            let _ = write!(text, "\n  - overrides {}", origin_text(lost));
        }
    }
    text
}

/// A value in one line, secrets hidden.
fn shown(value: &Value, longest: usize) -> String {
    if let Some(text) = value.as_str().filter(|_| !value.is_tainted()) {
        return cut(&text.replace('\n', "↵"), longest);
    }
    cut(&to_json(value, Secrets::Hide, JsonLayout::Compact).unwrap_or_default(), longest)
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
