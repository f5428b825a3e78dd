//! Walks a configuration in the order of the table and passes every value that is set to an [`Out`].
//!
//! The format defines "set": empty strings, zeros and empty lists are left out unless their row requires them. Loose
//! notations become typed values here. It must not know the receiver.

use crate::editions::{Edition, LATEST};
use crate::entities::{Entity, Field, Holds, holds, is_open, keeps_empty};
use crate::item::{Data, Entry, Form, Item, Pair, Trail, View};
use crate::paths;
use ecow::EcoString;
use purlin_model::schema::{Empty, Kind};
use purlin_syntax::write::Emit;
use purlin_syntax::{Node, Scalar, Span};
use std::borrow::Cow;
use std::rc::Rc;

/// Receives the values of a configuration, in order.
pub trait Out<'f> {
    /// A map of the given length begins.
    fn begin_map(&mut self, len: usize, from: View<'_, 'f>);
    /// A key of the map, followed by its value.
    fn key(&mut self, key: &str, written: Option<Node<'f>>);
    /// The map ends.
    fn end_map(&mut self);
    /// A list of the given length begins; each item is one value.
    fn begin_list(&mut self, len: usize, from: View<'_, 'f>);
    /// The list ends.
    fn end_list(&mut self);
    /// A text.
    fn text(&mut self, text: &str, from: View<'_, 'f>);
    /// A switch.
    fn bool(&mut self, value: bool, from: View<'_, 'f>);
    /// A whole number.
    fn int(&mut self, value: i64, from: View<'_, 'f>);
    /// A number with a fraction.
    fn float(&mut self, value: f64, from: View<'_, 'f>);
    /// Null.
    fn null(&mut self, from: View<'_, 'f>);
    /// Takes over a section as it was handed out before. False if it must be handed out.
    fn recall(&mut self, _from: View<'_, 'f>, _kind: Kind) -> bool {
        false
    }
    /// A section that was not recalled has been handed out.
    fn remember(&mut self, _from: View<'_, 'f>, _kind: Kind) {}
}

/// Whether Skaffold keeps empty items of a list: where its own list is one of pointers.
pub fn keeps_null(key: &str, entity: &Entity) -> bool {
    let lists = ["test", "portForward", "verify", "artifacts", "requires", "manual", "volumes", "secrets"];
    lists.contains(&key) && entity.label != "ConfigDependency"
}

/// Whether the value of a row counts as set.
pub fn is_set<'a, 'f: 'a>(view: View<'a, 'f>, row: &Field) -> bool {
    if keeps_empty(row) {
        return view.form() != Form::Null;
    }
    match holds(row) {
        Holds::Text => view.form() == Form::Scalar && !view.text().is_empty(),
        Holds::Bool => view.bool() == Some(true),
        Holds::Int => view.int().is_some_and(|value| value != 0),
        Holds::Port => view.form() == Form::Scalar && !view.text().is_empty() && view.int() != Some(0),
        Holds::Many(entity) if keeps_null(row.key, entity) => view.all_items().next().is_some(),
        Holds::Texts | Holds::Many(_) => view.items().next().is_some(),
        Holds::TextMap | Holds::NullableMap | Holds::Flat => view.entries().next().is_some(),
        Holds::One(entity) => has_settings(view, entity),
        Holds::Any => view.form() != Form::Null,
    }
}

/// Whether any key of a section counts as set.
pub fn has_settings<'a, 'f: 'a>(view: View<'a, 'f>, entity: &'static Entity) -> bool {
    if is_open(entity) {
        return view.entries().next().is_some();
    }
    view.entries().any(|pair| entity.field(pair.key, LATEST).is_some_and(|row| is_set(pair.value, row)))
}

/// Processing of strings on output.
#[derive(Clone, Copy)]
pub struct Finish<'x> {
    /// Edition whose rows are written.
    pub edition: Edition,
    /// Whether the founding design's keys are written too.
    pub founding: bool,
    /// Folder that relative paths start from; they stay as they are without one.
    pub base: Option<&'x str>,
    /// Expands the templates of fields that may hold one; `None` leaves a string unchanged.
    pub template: Option<&'x Template<'x>>,
}

/// Expands one string; `None` leaves it unchanged.
pub type Template<'x> = dyn Fn(&str) -> Option<String> + 'x;

impl Default for Finish<'_> {
    fn default() -> Self {
        Finish { edition: LATEST, founding: true, base: None, template: None }
    }
}

impl Finish<'_> {
    /// The output form of a row's string.
    pub fn text<'t>(&self, text: Cow<'t, str>, row: &Field) -> Cow<'t, str> {
        let text = match self.base {
            Some(base) if row.is_path => paths::absolute(base, text),
            _ => text,
        };
        match self.template {
            Some(expand) if row.is_template && text.contains("{{") => expand(&text).map_or(text, Cow::Owned),
            _ => text,
        }
    }
}

/// Hands out a section.
pub fn section<'a, 'f: 'a>(view: View<'a, 'f>, entity: &'static Entity, finish: &Finish, out: &mut impl Out<'f>) {
    section_without(view, entity, &[], finish, out);
}

/// Hands out a section, some keys left out.
pub fn section_without<'a, 'f: 'a>(
    view: View<'a, 'f>,
    entity: &'static Entity,
    without: &[&str],
    finish: &Finish,
    out: &mut impl Out<'f>,
) {
    if is_open(entity) {
        return if finish.founding { any(view, out) } else { open(view, entity, out) };
    }
    if view.form() == Form::Null {
        return out.null(view);
    }
    let mut rows = set_rows(view, entity, without, finish.edition);
    rows.retain(|(_, row, _)| finish.founding || !row.is_extension);
    out.begin_map(rows.len(), view);
    for (_, row, found) in rows {
        match found {
            Some(pair) => {
                out.key(row.key, pair.written);
                field(pair.value, row, finish, out);
            }
            None => {
                out.key(row.key, None);
                empty(view, row, out);
            }
        }
    }
    out.end_map();
}

type SetRow<'a, 'f> = (usize, &'static Field, Option<Pair<'a, 'f>>);

/// The rows of a section that are written out, in the order of the table.
fn set_rows<'a, 'f: 'a>(
    view: View<'a, 'f>,
    entity: &'static Entity,
    without: &[&str],
    edition: Edition,
) -> Vec<SetRow<'a, 'f>> {
    let mut rows: Vec<SetRow<'a, 'f>> = Vec::with_capacity(view.entries().count());
    for pair in view.entries() {
        if let Some((at, row)) = entity.place_of(pair.key, edition)
            && !without.contains(&row.key)
            && is_set(pair.value, row)
        {
            rows.push((at, row, Some(pair)));
        }
    }
    if entity.writes_unset {
        let always = |row: &Field| row.empty == Empty::Written && row.window.has(edition);
        for (at, row) in entity.all_fields().enumerate().filter(|(_, row)| always(row)) {
            if !rows.iter().any(|(known, ..)| *known == at) {
                rows.push((at, row, None));
            }
        }
    }
    rows.sort_unstable_by_key(|(at, ..)| *at);
    rows
}

/// Hands out an object that is passed through, with the keys that Skaffold always writes.
fn open<'a, 'f: 'a>(view: View<'a, 'f>, entity: &'static Entity, out: &mut impl Out<'f>) {
    let is_absent = |row: &&Field| !view.entries().any(|pair| pair.key.eq_ignore_ascii_case(row.key));
    let absent: Vec<&Field> = match view.form() {
        Form::Map => entity.all_fields().filter(is_absent).collect(),
        _ => Vec::new(),
    };
    if absent.is_empty() {
        return any(view, out);
    }
    out.begin_map(view.entries().count() + absent.len(), view);
    for pair in view.entries() {
        out.key(pair.key, pair.written);
        any(pair.value, out);
    }
    for row in absent {
        out.key(row.key, None);
        empty(view, row, out);
    }
    out.end_map();
}

/// The default value of a key that is always written.
fn empty<'f>(from: View<'_, 'f>, row: &Field, out: &mut impl Out<'f>) {
    match holds(row) {
        Holds::Texts | Holds::Many(_) => {
            out.begin_list(0, from);
            out.end_list();
        }
        Holds::One(entity) => section(Item::empty_map().view(), entity, &Finish::default(), out),
        Holds::Any => out.null(from),
        _ => out.text("", from),
    }
}

fn field<'a, 'f: 'a>(view: View<'a, 'f>, row: &Field, finish: &Finish, out: &mut impl Out<'f>) {
    let text = |view: View<'a, 'f>| finish.text(view.text(), row);
    match holds(row) {
        Holds::Text => out.text(&text(view), view),
        Holds::Bool => out.bool(view.bool().unwrap_or_default(), view),
        Holds::Int => out.int(view.int().unwrap_or_default(), view),
        Holds::Port => match port(view) {
            Some(value) => out.int(value, view),
            None => out.text(&view.text(), view),
        },
        Holds::Texts => list(view, out, |item, out| out.text(&text(item), item)),
        Holds::TextMap => map(view, out, |value, out| out.text(&text(value), value)),
        Holds::NullableMap => map(view, out, |value, out| match value.form() {
            Form::Null => out.null(value),
            _ => out.text(&text(value), value),
        }),
        Holds::Flat => {
            let mut flat = Vec::new();
            flatten(view, String::new(), &mut flat);
            // Null values are not set.
            flat.retain(|(_, value)| value.form() != Form::Null);
            out.begin_map(flat.len(), view);
            for (key, value) in flat {
                out.key(&key, None);
                out.text(&text(value), value);
            }
            out.end_map();
        }
        Holds::Any => any(view, out),
        Holds::One(entity) => section(view, entity, finish, out),
        Holds::Many(entity) if keeps_null(row.key, entity) => {
            out.begin_list(view.all_items().count(), view);
            for item in view.all_items() {
                if !out.recall(item, entity.kind) {
                    section(item, entity, finish, out);
                    out.remember(item, entity.kind);
                }
            }
            out.end_list();
        }
        Holds::Many(entity) => list(view, out, |item, out| section(item, entity, finish, out)),
    }
}

/// The number of a port, if it is given by number; quotes do not make it a name.
pub fn port(view: View<'_, '_>) -> Option<i64> {
    view.int().or_else(|| view.text().parse().ok())
}

fn list<'a, 'f: 'a, O: Out<'f>>(view: View<'a, 'f>, out: &mut O, each: impl Fn(View<'a, 'f>, &mut O)) {
    out.begin_list(view.items().count(), view);
    view.items().for_each(|item| each(item, out));
    out.end_list();
}

fn map<'a, 'f: 'a, O: Out<'f>>(view: View<'a, 'f>, out: &mut O, each: impl Fn(View<'a, 'f>, &mut O)) {
    out.begin_map(view.entries().count(), view);
    for pair in view.entries() {
        out.key(pair.key, pair.written);
        each(pair.value, out);
    }
    out.end_map();
}

/// Nested values become dotted keys, items of lists indexed ones.
pub fn flatten<'a, 'f: 'a>(view: View<'a, 'f>, prefix: String, flat: &mut Vec<(String, View<'a, 'f>)>) {
    match view.form() {
        Form::Map => {
            for pair in view.entries() {
                let key = if prefix.is_empty() { pair.key.to_owned() } else { format!("{prefix}.{}", pair.key) };
                flatten(pair.value, key, flat);
            }
        }
        Form::List => {
            view.all_items().enumerate().for_each(|(at, item)| flatten(item, format!("{prefix}[{at}]"), flat))
        }
        _ => flat.push((prefix, view)),
    }
}

/// Emits a value whose shape is unknown.
pub fn any<'a, 'f: 'a>(view: View<'a, 'f>, out: &mut impl Out<'f>) {
    match view.form() {
        Form::Map => map(view, out, |value, out| any(value, out)),
        Form::List => {
            out.begin_list(view.all_items().count(), view);
            view.all_items().for_each(|item| any(item, out));
            out.end_list();
        }
        Form::Null | Form::Broken => out.null(view),
        Form::Scalar => scalar(view, out),
    }
}

fn scalar<'a, 'f: 'a>(view: View<'a, 'f>, out: &mut impl Out<'f>) {
    match view.bare() {
        View::Node(node) => match node.scalar() {
            Scalar::Null => out.null(view),
            Scalar::Bool(value) => out.bool(value, view),
            Scalar::Int(value) => out.int(value, view),
            Scalar::Float(value) => out.float(value, view),
            Scalar::BigInt | Scalar::Timestamp | Scalar::Str => out.text(node.text(), view),
        },
        View::Item(item) => match &item.data {
            Data::Bool(value) => out.bool(*value, view),
            Data::Int(value) => out.int(*value, view),
            _ => out.text(&view.text(), view),
        },
    }
}

/// Passes values on to a writer, which ignores their origins.
pub struct Written<'w, W>(pub &'w mut W);

impl<'f, W: Emit> Out<'f> for Written<'_, W> {
    fn begin_map(&mut self, len: usize, _: View<'_, 'f>) {
        self.0.begin_map(len);
    }
    fn key(&mut self, key: &str, _: Option<Node<'f>>) {
        self.0.key(key);
    }
    fn end_map(&mut self) {
        self.0.end_map();
    }
    fn begin_list(&mut self, len: usize, _: View<'_, 'f>) {
        self.0.begin_list(len);
    }
    fn end_list(&mut self) {
        self.0.end_list();
    }
    fn text(&mut self, text: &str, _: View<'_, 'f>) {
        self.0.string(text);
    }
    fn bool(&mut self, value: bool, _: View<'_, 'f>) {
        self.0.bool(value);
    }
    fn int(&mut self, value: i64, _: View<'_, 'f>) {
        self.0.int(value);
    }
    fn float(&mut self, value: f64, _: View<'_, 'f>) {
        self.0.float(value);
    }
    fn null(&mut self, _: View<'_, 'f>) {
        self.0.null();
    }
}

/// Collects emitted values into an owned [`Item`], typed and complete, for patches.
#[derive(Default)]
pub struct ItemOut<'f> {
    open: Vec<Opened<'f>>,
    key: Option<Key<'f>>,
    /// The finished value.
    pub done: Option<Item<'f>>,
}

/// A key and its location.
type Key<'f> = (EcoString, Option<Node<'f>>);

/// A collection that is not finished, and the key it will be under.
struct Opened<'f> {
    parts: Parts<'f>,
    trail: Option<Rc<Trail>>,
    place: Option<Span>,
    key: Option<Key<'f>>,
}

enum Parts<'f> {
    List(Vec<Item<'f>>),
    Map(Vec<Entry<'f>>),
}

impl<'f> ItemOut<'f> {
    fn put(&mut self, item: Item<'f>) {
        let key = self.key.take();
        match (self.open.last_mut().map(|open| &mut open.parts), key) {
            (Some(Parts::Map(entries)), Some((key, written))) => entries.push(Entry { key, written, value: item }),
            (Some(Parts::List(items)), _) => items.push(item),
            _ => self.done = Some(item),
        }
    }

    fn begin(&mut self, parts: Parts<'f>, from: View<'_, 'f>) {
        let key = self.key.take();
        self.open.push(Opened { parts, trail: trail(from), place: from.span(), key });
    }

    fn close(&mut self) {
        let Some(Opened { parts, trail, place, key }) = self.open.pop() else { return };
        let data = match parts {
            Parts::List(items) => Data::list(items),
            Parts::Map(entries) => Data::map(entries),
        };
        self.key = key;
        self.put(Item { data, trail, place });
    }

    fn leaf(&mut self, data: Data<'f>, from: View<'_, 'f>) {
        // A node that already means the same keeps its place in the file.
        let data = match (from.bare(), &data) {
            (View::Node(node), Data::Text(text)) if node.as_str() == Some(text.as_str()) => Data::Node(node),
            (View::Node(node), Data::Bool(value)) if node.as_bool() == Some(*value) => Data::Node(node),
            (View::Node(node), Data::Int(value)) if node.as_int() == Some(*value) => Data::Node(node),
            _ => data,
        };
        self.put(Item { data, trail: trail(from), place: None });
    }
}

fn trail(from: View<'_, '_>) -> Option<Rc<Trail>> {
    match from {
        View::Node(_) => None,
        View::Item(item) => item.trail.clone(),
    }
}

impl<'f> Out<'f> for ItemOut<'f> {
    fn begin_map(&mut self, len: usize, from: View<'_, 'f>) {
        self.begin(Parts::Map(Vec::with_capacity(len)), from);
    }
    fn key(&mut self, key: &str, written: Option<Node<'f>>) {
        self.key = Some((key.into(), written));
    }
    fn end_map(&mut self) {
        self.close();
    }
    fn begin_list(&mut self, len: usize, from: View<'_, 'f>) {
        self.begin(Parts::List(Vec::with_capacity(len)), from);
    }
    fn end_list(&mut self) {
        self.close();
    }
    fn text(&mut self, text: &str, from: View<'_, 'f>) {
        self.leaf(Data::Text(text.into()), from);
    }
    fn bool(&mut self, value: bool, from: View<'_, 'f>) {
        self.leaf(Data::Bool(value), from);
    }
    fn int(&mut self, value: i64, from: View<'_, 'f>) {
        self.leaf(Data::Int(value), from);
    }
    fn float(&mut self, value: f64, from: View<'_, 'f>) {
        match from.bare() {
            View::Node(node) => self.put(Item { trail: trail(from), ..Item::node(node) }),
            View::Item(_) => self.put(Item::text(value.to_string())),
        }
    }
    fn null(&mut self, from: View<'_, 'f>) {
        self.leaf(Data::Null, from);
    }
}

/// A section with every value typed and everything empty left out.
pub fn normalised<'f>(view: View<'_, 'f>, entity: &'static Entity) -> Item<'f> {
    let mut out = ItemOut::default();
    section(view, entity, &Finish::default(), &mut out);
    out.done.unwrap_or_else(Item::empty_map)
}
