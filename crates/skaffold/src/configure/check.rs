//! Checks a document against the table: unknown keys and values of the wrong kind, each at its own place.
//!
//! Runs on the document as written, before anything is changed, in the document's own edition; and again after
//! patches. It must not know what any key means.

use crate::again::{self, Judgement, Marks};
use crate::editions::{self, Edition};
use crate::emit::keeps_null;
use crate::entities::{Entity, Field, Holds, holds, is_open};
use crate::item::{Form, Pair, View};
use crate::rules;
use purlin_model::schema::Window;
use purlin_syntax::suggest::did_you_mean;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Sink, Span};

/// Strictness of a check, and the target of its findings.
#[derive(Clone, Copy)]
pub struct Check<'a> {
    /// Edition whose rows apply.
    pub edition: Edition,
    /// Whether the founding design's keys are allowed.
    pub founding: bool,
    /// Receives problems.
    pub sink: &'a Sink,
    /// Place for values that are written nowhere.
    pub fallback: Span,
    /// What is known of parts of the configuration from other variants.
    pub(crate) marks: Option<&'a Marks>,
}

impl Check<'_> {
    /// Checks a section.
    pub fn section<'a, 'f: 'a>(&self, view: View<'a, 'f>, entity: &'static Entity) {
        if is_open(entity) {
            return;
        }
        match view.form() {
            Form::Map => {
                view.entries().for_each(|pair| self.entry(pair, entity));
                if entity.label == "SkaffoldConfig" {
                    self.kind(view);
                }
            }
            Form::Null | Form::Broken | Form::Scalar | Form::List => {}
        }
    }

    /// Skaffold reads a configuration of any kind as its own.
    fn kind<'a, 'f: 'a>(&self, view: View<'a, 'f>) {
        let Some(kind) = view.get("kind").filter(|kind| kind.form() == Form::Scalar && kind.text() != "Config") else {
            return;
        };
        let message = what::unknown("kind", kind.text()).and(", which Skaffold reads as `Config`");
        let span = kind.span().unwrap_or(self.fallback);
        self.sink.push(Diagnostic::at(&rules::VALUE, span, message).warning().hint("write `kind: Config`"));
    }

    fn entry<'a, 'f: 'a>(&self, pair: Pair<'a, 'f>, entity: &'static Entity) {
        match entity.field(pair.key, self.edition) {
            Some(row) if !row.is_extension || self.founding => self.value(pair.value, row),
            row => self.unknown(pair, entity, row),
        }
    }

    fn unknown<'a, 'f: 'a>(&self, pair: Pair<'a, 'f>, entity: &'static Entity, founding: Option<&Field>) {
        let span = pair.written.map_or(self.fallback, |node| node.span());
        let (key, version) = (pair.key, editions::name(self.edition));
        let message = what::unknown("key", key).and(format!(" in {} (skaffold/{version})", spoken(entity.label)));
        let others = entity.all_fields().filter(|row| row.key == key && (!row.is_extension || self.founding));
        let other = others.max_by_key(|row| row.window.until.map_or(u16::MAX, |until| until.0));
        let hint = match (founding, other) {
            (Some(_), _) => "the shipped format has no `modules`; write several documents and `requires`, or use \
                             the native commands, which accept the founding design"
                .to_owned(),
            (None, Some(row)) if row.window.since > self.edition => {
                format!("`{key}` exists from {} on", editions::name(row.window.since))
            }
            (None, Some(Field { window: Window { until: Some(until), .. }, .. })) if *until <= self.edition => {
                format!("`{key}` was removed in {}; `fix` upgrades older documents", editions::name(*until))
            }
            _ => {
                let known = entity.fields(self.edition).filter(|row| !row.is_extension).map(|row| row.key);
                let hint = did_you_mean(key, known);
                return self.sink.push(Diagnostic::at(&rules::UNKNOWN_KEY, span, message).maybe_hint(hint));
            }
        };
        self.sink.push(Diagnostic::at(&rules::UNKNOWN_KEY, span, message).hint(hint));
    }

    fn value<'a, 'f: 'a>(&self, view: View<'a, 'f>, row: &'static Field) {
        let form = view.form();
        if matches!(form, Form::Null | Form::Broken) {
            return;
        }
        match holds(row) {
            Holds::Text => self.expect(form == Form::Scalar, view, row.key, "a string"),
            Holds::Bool => {
                self.expect(form == Form::Scalar && view.bool().is_some(), view, row.key, "a boolean");
            }
            Holds::Int => {
                self.expect(form == Form::Scalar && view.int().is_some(), view, row.key, "an integer");
            }
            Holds::Port => self.expect(form == Form::Scalar, view, row.key, "a number or a name"),
            Holds::Texts => self.texts(view, row.key),
            Holds::TextMap | Holds::NullableMap => self.text_map(view, row.key),
            Holds::Flat => self.expect(form == Form::Map, view, row.key, "a mapping"),
            Holds::Any => {}
            Holds::One(entity) => {
                let fits = form == Form::Map || is_open(entity);
                self.expect(fits, view, row.key, "a mapping");
                self.section(view, entity);
            }
            Holds::Many(entity) => self.sections(view, row.key, entity),
        }
    }

    fn sections<'a, 'f: 'a>(&self, view: View<'a, 'f>, key: &str, entity: &'static Entity) {
        if view.form() != Form::List {
            return self.wrong(view, key, "a list");
        }
        for item in view.all_items() {
            if item.form() == Form::Null && !is_open(entity) {
                self.empty_item(item, key, keeps_null(key, entity));
                continue;
            }
            let fits = is_open(entity) || matches!(item.form(), Form::Map | Form::Null | Form::Broken);
            self.expect(fits, item, key, "a list of mappings");
            let question = Judgement::Keys(entity.kind, self.edition.0);
            again::judge(self.marks, question, item, self.sink, || self.section(item, entity));
        }
    }

    fn texts<'a, 'f: 'a>(&self, view: View<'a, 'f>, key: &str) {
        if view.form() != Form::List {
            return self.wrong(view, key, "a list of strings");
        }
        view.all_items().filter(|item| item.form() == Form::Null).for_each(|item| self.empty_item(item, key, false));
        let is_text = |item: &View<'a, 'f>| matches!(item.form(), Form::Scalar | Form::Broken);
        view.items().filter(|item| !is_text(item)).for_each(|item| self.wrong(item, key, "a list of strings"));
    }

    /// Skaffold silently drops empty items, or keeps them.
    fn empty_item<'a, 'f: 'a>(&self, item: View<'a, 'f>, key: &str, is_kept: bool) {
        // These are errors, once defaults are set.
        if is_kept && matches!(key, "artifacts" | "portForward") {
            return;
        }
        let span = item.span().unwrap_or(self.fallback);
        let ignored = if is_kept { "" } else { ", which Skaffold ignores" };
        let problem = Diagnostic::at(&rules::EMPTY_ITEM, span, format!("an item of `{key}` is empty{ignored}"));
        self.sink.push(problem.warning().hint("remove it, or write what it should be"));
    }

    fn text_map<'a, 'f: 'a>(&self, view: View<'a, 'f>, key: &str) {
        if view.form() != Form::Map {
            return self.wrong(view, key, "a mapping of strings");
        }
        let is_text = |pair: &Pair<'a, 'f>| matches!(pair.value.form(), Form::Scalar | Form::Null | Form::Broken);
        view.entries().filter(|pair| !is_text(pair)).for_each(|pair| self.wrong(pair.value, pair.key, "a string"));
    }

    fn expect<'a, 'f: 'a>(&self, fits: bool, view: View<'a, 'f>, key: &str, wanted: &str) {
        if !fits {
            self.wrong(view, key, wanted);
        }
    }

    fn wrong<'a, 'f: 'a>(&self, view: View<'a, 'f>, key: &str, wanted: &str) {
        let found = match view.form() {
            Form::List => "a list".to_owned(),
            Form::Map => "a mapping".to_owned(),
            _ => format!("`{}`", view.text()),
        };
        let hint = match wanted {
            "a list" | "a list of mappings" | "a list of strings" if view.form() == Form::Map => {
                "start each item with `- `".to_owned()
            }
            "a list" | "a list of mappings" | "a list of strings" => format!("write it as a list: `[{}]`", view.text()),
            "a mapping" | "a mapping of strings" => "write keys and values below it".to_owned(),
            "a boolean" => "write `true` or `false`".to_owned(),
            "an integer" => "write a number".to_owned(),
            _ => "write a single value".to_owned(),
        };
        let span = view.span().unwrap_or(self.fallback);
        let message = what::expected(wanted, found).under(format!("`{key}`: "));
        self.sink.push(Diagnostic::at(&rules::WRONG_TYPE, span, message).hint(hint));
    }
}

/// A section of the schema as people call it: `BuildConfig` is `build`, `KubectlDeploy` is `kubectl`.
pub(crate) fn spoken(entity: &str) -> String {
    match entity {
        "SkaffoldConfig" => return "the configuration".to_owned(),
        "Artifact" => return "an artifact".to_owned(),
        "Profile" => return "a profile".to_owned(),
        "ConfigDependency" => return "`requires`".to_owned(),
        "JSONPatch" => return "a patch".to_owned(),
        _ => {}
    }
    let ends = ["Config", "Deploy", "Artifact", "Build", "Tagger"];
    let short =
        ends.iter().find_map(|end| entity.strip_suffix(end)).filter(|short| !short.is_empty()).unwrap_or(entity);
    let mut letters = short.chars();
    let lower: String = letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect();
    format!("`{lower}`")
}
