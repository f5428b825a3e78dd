//! Checks source against the rows of the tables: unknown and missing keys, wrong shapes.
//!
//! Values known only after evaluation are checked in `shapes`.

use crate::config::{ActionKind, ConfigKind};
use crate::entities::words::{self, Given, Problem, Variable};
use crate::entities::{self, SCHEMA};
use crate::place::NodeRef;
use crate::rules;
use purlin_model::check::{describe_shape, with_article};
use purlin_model::rules as model_rules;
use purlin_model::schema::{Edition, Entity, Field, Kind, Shape, Special};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Node, Scalar, Sink, Span, suggest};

/// The row of a kind of configuration.
pub fn row(kind: ConfigKind) -> Kind {
    match kind {
        ConfigKind::Project => entities::PROJECT,
        ConfigKind::Action(ActionKind::Build) => entities::BUILD,
        ConfigKind::Action(ActionKind::Deploy) => entities::DEPLOY,
        ConfigKind::Action(ActionKind::Run) => entities::RUN,
        ConfigKind::Action(ActionKind::Test) => entities::TEST,
        ConfigKind::Module => entities::MODULE,
        ConfigKind::Workflow => entities::WORKFLOW,
        ConfigKind::Command => entities::COMMAND,
        ConfigKind::ConfigTemplate => entities::CONFIG_TEMPLATE,
        ConfigKind::RenderTemplate => entities::RENDER_TEMPLATE,
    }
}

/// Checks a configuration against its row, and the spec of a known type against its own.
pub fn check_config(sink: &Sink, config: &NodeRef, kind: ConfigKind) {
    check_but(sink, config, kind, None);
}

/// The same for an action in a template, which may also set its folder.
pub fn check_in_template(sink: &Sink, config: &NodeRef, kind: ActionKind) {
    check_but(sink, config, ConfigKind::Action(kind), Some("path"));
}

fn check_but(sink: &Sink, config: &NodeRef, kind: ConfigKind, known: Option<&str>) {
    let Some(node) = config.get() else { return };
    let heading = node.get("name").or_else(|| node.get("kind")).map(|value| value.span());
    let known = known.and_then(|key| node.entry(key)).map(|entry| entry.key.span());
    let row = match kind {
        ConfigKind::Module => entities::module_row(type_of(node)),
        _ => row(kind),
    };
    check_node(sink, config, node, row, heading, known);
    let ConfigKind::Action(kind) = kind else { return };
    // Garden accepts an action without a spec.
    if let Some(spec) = entities::spec_type(type_of(node), kind)
        && let Some(written) = node.entry("spec").filter(|entry| !is_left_open(entry.value))
    {
        check_node(sink, config, written.value, spec.row, Some(written.key.span()), None);
    }
}

/// Whether it is not known yet, or null.
fn is_left_open(node: Node<'_>) -> bool {
    node.is_null() || entities::is_expression(node)
}

fn type_of(node: Node<'_>) -> &str {
    node.get("type").filter(|value| value.is_scalar()).map_or("", |value| value.text())
}

/// Checks an entry of the project's providers against the row of its plugin.
pub fn check_provider(sink: &Sink, provider: &NodeRef, row: Kind) {
    let Some(node) = provider.get() else { return };
    let heading = node.get("name").map(|value| value.span());
    check_node(sink, provider, node, row, heading, None);
}

/// Checks a mapping against a row. Missing keys are reported at its heading; problems with a key that the row need not
/// know are dropped.
fn check_node(sink: &Sink, config: &NodeRef, node: Node<'_>, row: Kind, heading: Option<Span>, known: Option<Span>) {
    let found = Sink::new();
    purlin_model::walk::check(&SCHEMA, Edition(0), node, row, &found);
    let refuses_null = entities::SPEC_TYPES.iter().any(|spec| spec.row == row);
    Words { sink: &found, refuses_null }.entity(row, node, 0);
    // A file that cannot be parsed completely gets no reports of missing keys.
    let is_sound = config.tree().is_sound();
    let kept = one_message(found.into_findings().into_vec())
        .into_iter()
        .filter(|problem| known.is_none() || problem.span != known);
    let kept = kept.filter(|problem| is_sound || !says_missing(problem));
    sink.extend(kept.map(|problem| at_heading(problem, node, heading)));
}

/// A key that is missing because it is misspelt is one mistake: the misspelt key.
fn one_message(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let name = |problem: &Diagnostic| problem.what().name().map(str::to_owned);
    let missing: Vec<String> = found.iter().filter(|problem| says_missing(problem)).filter_map(name).collect();
    let meant_by = |problem: &Diagnostic| {
        let is_unknown = problem.rule.name == purlin_model::rules::UNKNOWN_KEY.name;
        let names = problem.hints.iter().filter_map(Hint::name).filter(|_| is_unknown);
        names.map(|meant| meant.right.clone()).find(|right| missing.contains(right))
    };
    let meant: Vec<String> = found.iter().filter_map(meant_by).collect();
    found.retain(|problem| !(says_missing(problem) && name(problem).is_some_and(|name| meant.contains(&name))));
    for problem in found.iter_mut().filter(|problem| meant_by(problem).is_some()) {
        problem.severity = purlin_syntax::Severity::Error;
    }
    found
}

/// Rows nest a few levels deep; the bound is for a faulty table.
const DEPTH: u32 = 20;

/// Checks the words of the source: names, paths, numbers. Shapes were checked before.
struct Words<'s> {
    sink: &'s Sink,
    /// Whether null is an error unless declared otherwise, as in the specs of actions.
    refuses_null: bool,
}

impl Words<'_> {
    fn entity(&self, kind: Kind, node: Node<'_>, depth: u32) {
        let Some(entity) = SCHEMA.entity(kind).filter(|_| depth < DEPTH) else { return };
        if entities::is_expression(node) {
            return;
        }
        if !node.is_map() {
            let short = entity.short.first().and_then(|notation| entity.field_of(notation.slot, Edition(0)));
            if let Some(field) = short.filter(|_| node.is_scalar()) {
                self.value(field, &field.shape, node, depth);
            }
            return;
        }
        for (key, value) in crate::bind::entries(node) {
            match entity.field_or_alias(&key, Edition(0)) {
                Some(field) if value.is_null() => self.null(kind, field, value),
                Some(field) => {
                    self.null_items(kind, field, value);
                    self.value(field, &field.shape, value, depth);
                }
                None if entities::LENIENT.contains(&kind) => self.ignored(entity, node, &key),
                None => {}
            }
        }
    }

    /// Garden reads these entities without a word about keys it does not know.
    fn ignored(&self, entity: &'static Entity, node: Node<'_>, key: &str) {
        let hint = suggest::did_you_mean(key, entity.fields(Edition(0)).map(|field| field.key));
        let is_missing = |right: &str| {
            let field = entity.field_or_alias(right, Edition(0));
            field.is_some_and(|field| field.is_required(Edition(0))) && node.get(right).is_none()
        };
        // A required key that is misspelt is an error.
        let is_meant = hint.as_ref().and_then(Hint::name).is_some_and(|meant| is_missing(&meant.right));
        let ignores = if is_meant { "" } else { ", which Garden ignores" };
        let message = what::unknown("key", key).and(format!(" in {}{ignores}", with_article(entity.label)));
        let place = node.entry(key).map_or(node.span(), |entry| entry.key.span());
        self.sink.push(Diagnostic::at(&model_rules::UNKNOWN_KEY, place, message).warning().maybe_hint(hint));
    }

    /// Null does not mean "not set". A required key without a value is reported elsewhere.
    fn null(&self, kind: Kind, field: &'static Field, node: Node<'_>) {
        let is_nullable = match &field.shape {
            _ if entities::NOT_NULLABLE.contains(&(kind, field.key)) => false,
            Shape::Any | Shape::Union(_) => true,
            Shape::Special(word) => words::takes_null(word) || entities::NULLABLE.contains(&field.key),
            _ => entities::NULLABLE.contains(&field.key),
        };
        if self.refuses_null && !is_nullable && !field.is_required(Edition(0)) {
            let expected = describe_shape(&SCHEMA, &field.shape);
            let message = what::expected(expected, "null").under(format!("invalid `{}`: ", field.key));
            self.sink
                .push(Diagnostic::at(&rules::INVALID_VALUE, node.span(), message).hint("remove the key, or set it"));
        }
    }

    /// Some lists skip items that are null, others do not allow them.
    fn null_items(&self, kind: Kind, field: &'static Field, node: Node<'_>) {
        if !self.refuses_null || !node.is_list() || !entities::DENSE.contains(&(kind, field.key)) {
            return;
        }
        for item in node.items().filter(|item| item.is_null()) {
            let message = format!("`{}` has an item that is null", field.key);
            self.sink
                .push(Diagnostic::at(&rules::INVALID_VALUE, item.span(), message).hint("remove the item, or set it"));
        }
    }

    fn value(&self, field: &'static Field, shape: &'static Shape, node: Node<'_>, depth: u32) {
        if entities::is_expression(node) || node.is_null() {
            return;
        }
        match shape {
            Shape::One(kind) => self.entity(*kind, node, depth + 1),
            Shape::List(kind) => node.items().for_each(|item| self.entity(*kind, item, depth + 1)),
            Shape::Map(kind) => node.entries().for_each(|entry| self.entity(*kind, entry.value, depth + 1)),
            Shape::ListOf(inner) if depth < DEPTH => {
                node.items().for_each(|item| self.value(field, inner, item, depth + 1));
            }
            Shape::MapOf(inner) if depth < DEPTH && **inner != Shape::Any => {
                node.entries().for_each(|entry| self.value(field, inner, entry.value, depth + 1));
            }
            Shape::Union(shapes) => self.union(field, shapes, node),
            Shape::Special(word) if words::is_environment(word) => self.environment(word, node),
            Shape::Special(word) => self.word(field, word, node),
            _ => {}
        }
    }

    /// A scalar that matches no plain shape of the union is checked against the word among them.
    fn union(&self, field: &'static Field, shapes: &'static [Shape], node: Node<'_>) {
        let Some(given) = given(node) else { return };
        let is_plain = |shape: &Shape| match (shape, given) {
            (Shape::Text, Given::Text(_)) | (Shape::Bool, Given::Bool) | (Shape::Number, Given::Number(_)) => true,
            (Shape::Integer, Given::Number(number)) => number.fract() == 0.0,
            _ => false,
        };
        let word = shapes.iter().find_map(|shape| if let Shape::Special(word) = shape { Some(*word) } else { None });
        if let Some(word) = word.filter(|_| !shapes.iter().any(is_plain)) {
            self.word(field, word, node);
        }
    }

    fn word(&self, field: &'static Field, word: &'static Special, node: Node<'_>) {
        let Some(problem) = given(node).and_then(|given| words::problem(word, given)) else { return };
        self.sink.push(invalid(word, field.key, node.text(), &problem, node.span()));
    }

    fn environment(&self, word: &'static Special, node: Node<'_>) {
        for entry in node.entries().filter(|entry| !entry.key.is_merge_key()) {
            let name = entry.key.text();
            if !words::is_variable_of(word, name) {
                self.sink.push(invalid_variable(name, entry.key.span()));
            }
            let value = entry.value;
            if entities::is_expression(value) {
                continue;
            }
            let kind = variable(value);
            if let Some(problem) = words::variable_problem(word, kind) {
                let shown = if value.is_scalar() { value.text() } else { collection(value) };
                self.sink.push(softened(kind, invalid(word, name, shown, &problem, value.span())));
            }
        }
    }
}

fn collection(node: Node<'_>) -> &'static str {
    if node.is_map() { "a mapping" } else { "a list" }
}

/// Whether a mapping names a secret, and perhaps a key of it.
fn is_reference(node: Node<'_>) -> bool {
    let is_text = |node: Node<'_>| {
        entities::is_expression(node) || matches!(given(node), Some(Given::Text(text)) if !text.is_empty())
    };
    entities::is_expression(node)
        || (node.is_map()
            && node.get("name").is_some()
            && node.entries().all(|entry| matches!(entry.key.text(), "name" | "key") && is_text(entry.value)))
}

/// The value of an environment variable, as written.
fn variable(node: Node<'_>) -> Variable {
    if node.is_map() {
        let is_reference = node.entries().all(|entry| entry.key.text() == "secretRef" && is_reference(entry.value));
        return if is_reference { Variable::Secret } else { Variable::Collection };
    }
    match given(node) {
        _ if !node.is_scalar() && !node.is_null() => Variable::Collection,
        Some(Given::Text(_)) => Variable::Text,
        _ => Variable::Plain,
    }
}

fn given(node: Node<'_>) -> Option<Given<'_>> {
    if !node.is_scalar() {
        return None;
    }
    match node.scalar() {
        Scalar::Str => Some(Given::Text(node.text())),
        Scalar::Bool(_) => Some(Given::Bool),
        Scalar::Int(value) => Some(Given::Number(value as f64)),
        Scalar::Float(value) => Some(Given::Number(value)),
        Scalar::BigInt => node.text().parse().ok().map(Given::Number),
        Scalar::Timestamp | Scalar::Null => None,
    }
}

/// The message for a word that does not fit; `shown` is its text or a placeholder.
pub(crate) fn invalid(word: &Special, key: &str, shown: &str, problem: &Problem, span: Span) -> Diagnostic {
    let (rule, message) = match words::is_naming(word) {
        true => (&rules::INVALID_NAME, what::not_allowed("name", shown).and(format!(" under `{key}`"))),
        false => (
            &rules::INVALID_VALUE,
            what::expected(problem.expected, format!("`{shown}`")).under(format!("invalid `{key}`: ")),
        ),
    };
    let hint = problem.hint.map_or_else(|| format!("write {}", problem.expected), str::to_owned);
    Diagnostic::at(rule, span, message).hint(hint)
}

/// Garden rejects numbers where `exec` actions take strings, but its own examples have them, and the intention is
/// plain.
pub(crate) fn softened(value: Variable, found: Diagnostic) -> Diagnostic {
    if value == Variable::Plain { found.warning() } else { found }
}

/// The message for a name that no environment variable can have.
pub(crate) fn invalid_variable(name: &str, span: Span) -> Diagnostic {
    let message = what::not_allowed("name", name).and(" of an environment variable");
    let hint = "use letters, digits and underscores, and do not begin with `GARDEN`, which Garden keeps for itself";
    Diagnostic::at(&rules::INVALID_NAME, span, message).hint(hint)
}

pub(crate) fn says_missing(problem: &Diagnostic) -> bool {
    problem.rule.name == purlin_model::rules::MISSING_KEY.name
}

fn at_heading(mut diagnostic: Diagnostic, node: Node<'_>, heading: Option<Span>) -> Diagnostic {
    if says_missing(&diagnostic) && diagnostic.span == Some(node.span()) {
        diagnostic.span = heading.or(diagnostic.span);
    }
    diagnostic
}
