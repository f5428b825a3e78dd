//! Checks the results of expressions against the rows of the tables.
//!
//! Literal values were checked when they were read. A value made by a template or an operator is known only after
//! evaluation; it is checked here, and its location is that of the expression.

use crate::bind::entry;
use crate::check::{invalid, invalid_variable, softened};
use crate::entities::words::{self, Given, Problem, Variable};
use crate::entities::{SCHEMA, is_expression};
use crate::expr::shown_type;
use crate::place::NodeRef;
use ecow::EcoString;
use purlin_model::check::{alternatives, describe_shape, with_article};
use purlin_model::rules;
use purlin_model::schema::{Edition, Entity, Field, Kind, Shape, Special};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, MergeKeys, Node, Span, suggest};
use purlin_value::emit::REDACTED;
use purlin_value::{Data, FastMap, Map, Session, Value};

/// Rows nest a few levels deep; the bound is for a faulty table.
const DEPTH: u32 = 20;

/// Checks an evaluated mapping against a row, with the locations of its source.
pub fn check_evaluated(session: &Session, kind: Kind, map: &Map, written: Node<'_>) {
    Checker { session }.entity(kind, map, At::of(written), 0);
}

/// Checks the evaluated fields of a configuration, all but its type's, against its row.
pub fn check_fields(session: &Session, kind: Kind, fields: &Map, written: &NodeRef) {
    if let Some(node) = written.get().filter(|node| !is_expression(*node)) {
        Checker { session }.entity(kind, fields, At::Written(node), 0);
    }
}

/// Location of a value.
#[derive(Clone, Copy)]
enum At<'t> {
    /// It is written there, key by key, and was checked when it was read.
    Written(Node<'t>),
    /// An expression made it.
    Computed(Span),
}

impl<'t> At<'t> {
    fn of(node: Node<'t>) -> Self {
        let operand = |node: Node<'t>| node.get("$merge").unwrap_or(node).span();
        if is_expression(node) { At::Computed(operand(node)) } else { At::Written(node) }
    }

    fn key(self, key: &str) -> Self {
        match self {
            // A missing key is a default.
            At::Written(node) => entry(node, key).map_or(At::Computed(node.span()), At::of),
            At::Computed(_) => self,
        }
    }

    /// Locations of all keys of a mapping that may have thousands: separate lookups would take quadratic time.
    fn keys(self) -> Keys<'t> {
        let At::Written(node) = self else { return Keys { at: self, written: FastMap::default() } };
        let mut written = FastMap::default();
        for entry in node.merged_entries(MergeKeys::Apply) {
            written.entry(entry.name()).or_insert(entry.value);
        }
        Keys { at: self, written }
    }

    /// The locations of the items of a list, in order. If items were dropped, the location of the list is used for all.
    fn items(self, count: usize) -> Box<dyn Iterator<Item = At<'t>> + 't> {
        match self {
            At::Written(node) if node.items().count() == count => Box::new(node.items().map(At::of)),
            At::Written(node) => Box::new(std::iter::repeat(At::Computed(node.span()))),
            At::Computed(_) => Box::new(std::iter::repeat(self)),
        }
    }

    fn expression(self) -> Option<Span> {
        match self {
            At::Written(_) => None,
            At::Computed(span) => Some(span),
        }
    }
}

/// Locations of the values of a mapping.
struct Keys<'t> {
    at: At<'t>,
    written: FastMap<&'t str, Node<'t>>,
}

impl<'t> Keys<'t> {
    fn key(&self, key: &str) -> At<'t> {
        match self.at {
            At::Written(node) => self.written.get(key).map_or(At::Computed(node.span()), |node| At::of(*node)),
            At::Computed(_) => self.at,
        }
    }
}

/// The key of a value.
#[derive(Clone, Copy)]
struct Slot {
    entity: &'static Entity,
    field: &'static Field,
    /// Which part of the key's value it is, for messages.
    part: &'static str,
}

impl Slot {
    fn name(self) -> String {
        format!("{}`{}` of {}", self.part, self.field.key, with_article(self.entity.label))
    }
}

struct Checker<'s> {
    session: &'s Session,
}

impl Checker<'_> {
    fn entity(&self, kind: Kind, map: &Map, at: At<'_>, depth: u32) {
        let Some(entity) = SCHEMA.entity(kind).filter(|_| depth < DEPTH) else { return };
        for (key, value) in map.iter() {
            match (entity.field_or_alias(key, Edition(0)), at.expression()) {
                (Some(field), _) => {
                    let slot = Slot { entity, field, part: "" };
                    self.value(slot, &field.shape, value, at.key(key), depth);
                }
                (None, Some(span)) if entity.rest_in(Edition(0)).is_none() => {
                    self.unknown_key(entity, key, value, span);
                }
                _ => {}
            }
        }
        if let Some(span) = at.expression() {
            self.missing_keys(entity, map, span);
        }
    }

    fn missing_keys(&self, entity: &Entity, map: &Map, span: Span) {
        for field in
            entity.fields(Edition(0)).filter(|field| field.is_required(Edition(0)) && !map.contains_key(field.key))
        {
            let message = what::missing("key", field.key).and(format!(" in {}", with_article(entity.label)));
            let hint = format!("give the value that this expression makes a key `{}`", field.key);
            self.session.sink.push(Diagnostic::at(&rules::MISSING_KEY, span, message).hint(hint));
        }
    }

    fn unknown_key(&self, entity: &'static Entity, key: &EcoString, value: &Value, span: Span) {
        let hint = suggest::did_you_mean(key, entity.fields(Edition(0)).map(|field| field.key));
        let message = what::unknown("key", key).and(format!(" in {}", with_article(entity.label)));
        self.report(Diagnostic::at(&rules::UNKNOWN_KEY, span, message).maybe_hint(hint), value, span);
    }

    fn value(&self, slot: Slot, shape: &Shape, value: &Value, at: At<'_>, depth: u32) {
        if depth > DEPTH || !is_known(value) {
            return;
        }
        if let Some(span) = at.expression()
            && !self.fits(slot, shape, value, span)
        {
            return;
        }
        let item = Slot { part: "an item of ", ..slot };
        match (shape, &value.data) {
            (Shape::One(kind), Data::Map(map)) => self.entity(*kind, map, at, depth + 1),
            (Shape::List(kind), Data::List(list)) => {
                for (value, at) in list.iter().zip(at.items(list.len())) {
                    self.value(item, &Shape::One(*kind), value, at, depth + 1);
                }
            }
            (Shape::ListOf(inner), Data::List(list)) if **inner != Shape::Any => {
                for (value, at) in list.iter().zip(at.items(list.len())) {
                    self.value(item, inner, value, at, depth + 1);
                }
            }
            (Shape::Special(word), Data::Map(map)) if words::is_environment(word) => {
                self.environment(word, map, at);
            }
            (Shape::Special(word), _) => self.word(slot, word, value, at),
            (Shape::MapOf(inner), Data::Map(map)) if **inner != Shape::Any => {
                let keys = at.keys();
                for (key, value) in map.iter() {
                    self.value(Slot { part: "an entry of ", ..slot }, inner, value, keys.key(key), depth + 1);
                }
            }
            _ => {}
        }
    }

    /// Checks a word made by an expression.
    fn word(&self, slot: Slot, word: &'static Special, value: &Value, at: At<'_>) {
        let Some(span) = at.expression() else { return };
        let Some(given) = given(value) else { return };
        if let Some(problem) = words::problem(word, given) {
            // A secret is not shown, not even in an error.
            let shown = if value.is_tainted() { REDACTED.into() } else { crate::expr::text_of(value) };
            self.report(invalid(word, slot.field.key, &shown, &problem, span), value, span);
        }
    }

    /// Checks environment variables made by expressions, all of them or some.
    fn environment(&self, word: &'static Special, map: &Map, at: At<'_>) {
        let keys = at.keys();
        for (name, value) in map.iter() {
            if let Some(span) = at.expression().filter(|_| !words::is_variable_of(word, name)) {
                self.session.sink.push(invalid_variable(name, span));
            }
            let Some(span) = keys.key(name).expression() else { continue };
            let Some(kind) = variable(value) else { continue };
            if let Some(problem) = words::variable_problem(word, kind) {
                let shown = match value.is_collection() {
                    _ if value.is_tainted() => REDACTED.into(),
                    true => shown_type(value).into(),
                    false => crate::expr::text_of(value),
                };
                // The result of an expression cannot be quoted where it is written.
                let hint = (kind == Variable::Plain).then_some("convert it with `string()`");
                let problem = Problem { hint: hint.or(problem.hint), ..problem };
                self.report(softened(kind, invalid(word, name, &shown, &problem, span)), value, span);
            }
        }
    }

    /// Whether a value has a shape; reports it if not.
    fn fits(&self, slot: Slot, shape: &Shape, value: &Value, span: Span) -> bool {
        if !fits(shape, value) {
            let expected = describe_shape(&SCHEMA, shape);
            let message = what::expected(expected, shown_type(value)).under(format!("{}: ", slot.name()));
            self.report(Diagnostic::at(&rules::WRONG_SHAPE, span, message), value, span);
            return false;
        }
        if let (Shape::Choice(words), Some(word)) = (shape, value.as_str())
            && !words.contains(&word)
        {
            // A secret is not shown, not even in an error.
            let shown = if value.is_tainted() { REDACTED } else { word };
            let hint = format!("it can be {}", alternatives(words.iter().copied()));
            let message = format!("{} cannot be `{shown}`", slot.name());
            self.report(Diagnostic::at(&rules::UNKNOWN_CHOICE, span, message).hint(hint), value, span);
            return false;
        }
        true
    }

    /// Points at the expression, as closely as the value's origin allows, or also at the value's own location.
    fn report(&self, mut diagnostic: Diagnostic, value: &Value, expression: Span) {
        let own = self.session.origins.span(value.origin, &self.session.sources);
        self.session.sink.push(match own {
            Some(own) if is_inside(own, expression) => {
                diagnostic.span = Some(own);
                diagnostic
            }
            Some(own) => diagnostic.label(own, "the value comes from here"),
            None => diagnostic,
        });
    }
}

/// The value of an environment variable; `None` if it is not known yet.
fn variable(value: &Value) -> Option<Variable> {
    match &value.data {
        Data::Pending(_) | Data::Poison | Data::Lazy(_) => None,
        Data::Str(_) => Some(Variable::Text),
        Data::Map(map) if map.keys().all(|key| key == "secretRef") => Some(Variable::Secret),
        _ if value.is_collection() => Some(Variable::Collection),
        _ => Some(Variable::Plain),
    }
}

fn given(value: &Value) -> Option<Given<'_>> {
    match &value.data {
        Data::Str(text) => Some(Given::Text(text)),
        Data::Bool(_) => Some(Given::Bool),
        _ => value.as_number().map(Given::Number),
    }
}

fn is_inside(part: Span, whole: Span) -> bool {
    part.file == whole.file && part.start >= whole.start && part.end <= whole.end
}

/// Pending or broken values are not checked; null means "not set".
fn is_known(value: &Value) -> bool {
    !matches!(value.data, Data::Pending(_) | Data::Poison | Data::Lazy(_) | Data::Null)
}

/// Whether an evaluated value has a shape. Numbers and booleans may come as text: environment variables and `.env`
/// files have nothing else.
fn fits(shape: &Shape, value: &Value) -> bool {
    let text = |ok: fn(&str) -> bool| value.as_str().is_some_and(ok);
    match shape {
        Shape::Text | Shape::Choice(_) | Shape::Reference(_) | Shape::Parent => value.as_str().is_some(),
        Shape::Scalar => !value.is_collection(),
        Shape::Bool => value.as_bool().is_some() || text(|word| matches!(word, "true" | "false")),
        Shape::Integer => {
            value.as_number().is_some_and(|number| number.fract() == 0.0) || text(|word| word.parse::<i64>().is_ok())
        }
        Shape::Number => value.as_number().is_some() || text(|word| word.parse::<f64>().is_ok()),
        Shape::Any => true,
        Shape::Range | Shape::Names(_) | Shape::List(_) | Shape::ListOf(_) => value.as_list().is_some(),
        Shape::Map(_) | Shape::MapOf(_) => value.as_map().is_some(),
        Shape::Sequence(_) | Shape::Repeating(_) => value.is_collection(),
        Shape::One(kind) => {
            let has_short = SCHEMA.entity(*kind).is_some_and(|entity| !entity.short.is_empty());
            value.as_map().is_some() || (has_short && !value.is_collection())
        }
        Shape::Union(shapes) => shapes.iter().any(|shape| fits(shape, value)),
        Shape::Special(special) => fits(&special.outline, value),
    }
}
