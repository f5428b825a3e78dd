//! Turns configurations into values that know their origin: file, default, profile, patch, module.
//!
//! The last phase of the native commands. It must not decide anything.

use crate::again::Marks;
use crate::emit::{self, Out};
use crate::item::{Active, Item, Step, Trail, View};
use crate::walk::Config;
use ecow::EcoString;
use purlin_model::schema::Kind;
use purlin_syntax::Node;
use purlin_value::{Data, Map, Origin, OriginKind, Piece, Session, Value};
use std::rc::Rc;

/// Builds values from emitted parts.
pub struct ValueOut<'s> {
    session: &'s Session,
    open: Vec<Open>,
    key: Option<EcoString>,
    /// History of the enclosing value.
    around: Option<Rc<Trail>>,
    /// Values of other variants of the project, and the number of the document.
    known: Option<(&'s Marks, usize)>,
    /// The finished value.
    pub done: Option<Value>,
}

/// A collection being built: its contents, its key, and its history as a whole.
struct Open {
    data: Collected,
    key: Option<EcoString>,
    origin: Origin,
    trail: Option<Rc<Trail>>,
}

enum Collected {
    Map(Map),
    List(Vec<Value>),
}

impl<'s> ValueOut<'s> {
    /// An empty builder.
    pub fn new(session: &'s Session) -> Self {
        ValueOut { session, open: Vec::new(), key: None, around: None, known: None, done: None }
    }

    /// The same for a part of a value; `around` are the enclosing values, outermost first.
    pub fn inside(session: &'s Session, around: &[View<'_, '_>]) -> Self {
        let around = around.iter().rev().find_map(|view| own_trail(*view));
        ValueOut { around, ..ValueOut::new(session) }
    }

    /// The same for a configuration: its values may be known from other variants of the project.
    pub(crate) fn of_config(self, config: &'s Config<'_>) -> Self {
        let known = config.file.known.as_deref();
        ValueOut { known: known.map(|known| (&known.marks, config.number())), ..self }
    }

    /// A part of a configuration as a value.
    pub fn of(session: &'s Session, part: View<'_, '_>) -> Value {
        let mut out = ValueOut::new(session);
        emit::any(part, &mut out);
        out.done.unwrap_or_else(Value::null)
    }

    fn put(&mut self, value: Value) {
        let key = self.key.take();
        match (self.open.last_mut(), key) {
            (Some(Open { data: Collected::Map(entries), .. }), Some(key)) => {
                entries.insert(key, value);
            }
            (Some(Open { data: Collected::List(items), .. }), _) => items.push(value),
            _ => self.done = Some(value),
        }
    }

    /// History of a value: its own trail, or that of the enclosing value.
    fn trail(&self, from: View<'_, '_>) -> Option<Rc<Trail>> {
        let open = || match self.open.last() {
            Some(open) => open.trail.clone(),
            None => self.around.clone(),
        };
        own_trail(from).or_else(open)
    }

    fn origin(&self, from: View<'_, '_>) -> Origin {
        let own = match from {
            View::Node(node) => Origin::node(node),
            View::Item(Item { data: crate::item::Data::Node(node), .. }) => Origin::node(*node),
            View::Item(_) => Origin::NONE,
        };
        match self.trail(from) {
            Some(trail) => trail_origin(self.session, &trail, own),
            None => own,
        }
    }

    fn begin(&mut self, data: Collected, from: View<'_, '_>) {
        let (origin, trail) = (self.origin(from), self.trail(from));
        let key = self.key.take();
        self.open.push(Open { data, key, origin, trail });
    }

    fn leaf(&mut self, data: Data, from: View<'_, '_>) {
        let mut origin = self.origin(from);
        // A string that differs from the written one was derived from it on output.
        if let (Data::Str(text), true) = (&data, origin.is_known())
            && text.as_str() != from.text()
            && matches!(from.bare(), View::Node(_))
        {
            let pieces = vec![Piece { start: 0, end: 0, origin }];
            origin = self.session.origins.derived("path from the file's folder", from.span(), pieces);
        }
        self.put(Value::new(data).with_origin(origin));
    }
}

fn own_trail(view: View<'_, '_>) -> Option<Rc<Trail>> {
    match view {
        View::Node(_) => None,
        View::Item(item) => item.trail.clone(),
    }
}

fn trail_origin(session: &Session, trail: &Rc<Trail>, own: Origin) -> Origin {
    let before = match &trail.before {
        Some(before) => trail_origin(session, before, own),
        None if own.is_known() => own,
        None => trail.at.map_or(Origin::NONE, |span| session.origins.file(span)),
    };
    let over: Vec<Origin> = trail.over.map(|span| session.origins.file(span)).into_iter().collect();
    let step = |text: String| {
        let pieces = if before.is_known() { vec![Piece { start: 0, end: 0, origin: before }] } else { Vec::new() };
        session.origins.derived(text, trail.at, pieces)
    };
    match &trail.step {
        Step::Default => session.origins.fallback("of Skaffold", None),
        Step::Profile(Active { name, because }) => {
            let chosen = session.origins.chosen(step(format!("profile `{name}`")), "profile over base", over);
            active(session, chosen, *because)
        }
        Step::Patch(Active { name, because }) => {
            let chosen = session.origins.chosen(step(format!("patch of profile `{name}`")), "patch", over);
            active(session, chosen, *because)
        }
        Step::Merge(name) => session.origins.chosen(step(format!("module `{name}`")), "parent over module", over),
    }
}

/// A value set by a profile depends on the profile being active.
fn active(session: &Session, taken: Origin, because: Origin) -> Origin {
    if because.is_known() { session.origins.push(OriginKind::Selected { taken, because }) } else { taken }
}

impl<'f> Out<'f> for ValueOut<'_> {
    fn begin_map(&mut self, _: usize, from: View<'_, 'f>) {
        self.begin(Collected::Map(Map::new()), from);
    }
    fn key(&mut self, key: &str, _: Option<Node<'f>>) {
        self.key = Some(key.into());
    }
    fn end_map(&mut self) {
        self.close();
    }
    fn begin_list(&mut self, _: usize, from: View<'_, 'f>) {
        self.begin(Collected::List(Vec::new()), from);
    }
    fn end_list(&mut self) {
        self.close();
    }
    fn text(&mut self, text: &str, from: View<'_, 'f>) {
        self.leaf(Data::Str(text.into()), from);
    }
    fn bool(&mut self, value: bool, from: View<'_, 'f>) {
        self.leaf(Data::Bool(value), from);
    }
    fn int(&mut self, value: i64, from: View<'_, 'f>) {
        self.leaf(Data::Int(value), from);
    }
    fn float(&mut self, value: f64, from: View<'_, 'f>) {
        self.leaf(Data::Float(value), from);
    }
    fn null(&mut self, from: View<'_, 'f>) {
        self.leaf(Data::Null, from);
    }
    fn recall(&mut self, from: View<'_, 'f>, kind: Kind) -> bool {
        let known = self.shared().and_then(|(marks, document)| marks.value(from, kind, document));
        known.map(|value| self.put(value)).is_some()
    }
    fn remember(&mut self, from: View<'_, 'f>, kind: Kind) {
        let made = match self.open.last().map(|open| &open.data) {
            Some(Collected::List(items)) => items.last(),
            Some(Collected::Map(_)) => None,
            None => self.done.as_ref(),
        };
        if let (Some((marks, document)), Some(value)) = (self.shared(), made) {
            marks.keep_value(from, kind, document, value);
        }
    }
}

impl<'s> ValueOut<'s> {
    /// Values of other variants, unless what is around the next value has a history, which is then its own too.
    fn shared(&self) -> Option<(&'s Marks, usize)> {
        let around = self.open.last().map_or(&self.around, |open| &open.trail);
        self.known.filter(|_| around.is_none())
    }

    fn close(&mut self) {
        let Some(Open { data, key, origin, .. }) = self.open.pop() else { return };
        let value = match data {
            Collected::Map(entries) => Value::map(entries),
            Collected::List(items) => Value::list(items),
        };
        self.key = key;
        self.put(value.with_origin(origin));
    }
}
