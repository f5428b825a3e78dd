//! The table vocabulary: the form of a dialect's entities, as plain constant data.
//!
//! One row per key: its shape, its merge rule, whether it is required, its default, its editions and a one-sentence
//! description. The engines beside this file read the rows; nothing else names a key. Nothing here knows a dialect:
//! kinds and editions are numbers that the dialect supplies.
//!
//! ```
//! use purlin_model::schema::{Edition, Entity, Field, Kind, Merge, Schema, Shape, entity, field, scalar};
//!
//! const SHELF: Kind = Kind(0);
//! const BOOK: Kind = Kind(1);
//! const SECOND: Edition = Edition(1);
//!
//! const ENTITIES: &[Entity] = &[
//!     entity(SHELF, "shelf", "A place for books.", &[&[
//!         field("books", Shape::Map(BOOK), "What stands on it.").merge(Merge::ByName),
//!     ]]),
//!     entity(BOOK, "book", "A book.", &[&[
//!         field("title", Shape::Text, "What it is called.").required(),
//!         field("isbn", Shape::Text, "Its number.").since(SECOND),
//!     ]])
//!     .short(&[scalar("title")]),
//! ];
//!
//! const LIBRARY: Schema = Schema::new("library", &["first", "second"], ENTITIES);
//! assert!(purlin_model::guard(&LIBRARY).is_empty());
//! ```

use crate::walk::{Instance, Place};
use purlin_syntax::Node;
use purlin_value::Value;

/// A kind of entity: the index of its row in the dialect's table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Kind(pub u16);

/// A version of a dialect: its index among the dialect's editions, the oldest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Edition(pub u16);

/// Numbers kinds in the order in which they are listed, which is that of their rows.
#[macro_export]
macro_rules! kinds {
    ($($name:ident),* $(,)?) => {
        $crate::kinds!(@ 0_u16, $($name,)*);
    };
    (@ $next:expr, $name:ident, $($rest:ident,)*) => {
        #[doc = concat!("The row of `", stringify!($name), "`.")]
        pub const $name: $crate::schema::Kind = $crate::schema::Kind($next);
        $crate::kinds!(@ $next + 1, $($rest,)*);
    };
    (@ $next:expr,) => {};
}

/// The editions that have a key, notation or kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The first edition that has it.
    pub since: Edition,
    /// The first edition that no longer has it.
    pub until: Option<Edition>,
    /// An edition in between without it.
    pub except: Option<Edition>,
}

impl Window {
    /// All editions.
    pub const ALWAYS: Window = Window { since: Edition(0), until: None, except: None };

    /// Whether an edition is one of them.
    pub fn has(self, edition: Edition) -> bool {
        self.since <= edition && self.until.is_none_or(|until| edition < until) && self.except != Some(edition)
    }
}

/// The allowed value of a key.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    /// A string.
    Text,
    /// Any scalar, read as its written text.
    Scalar,
    /// A boolean.
    Bool,
    /// An integer.
    Integer,
    /// Any number.
    Number,
    /// A lower and an upper bound, the upper one possibly `UNBOUNDED`.
    Range,
    /// Anything; the dialect's expressions, or metadata that is not interpreted.
    Any,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The name of an entity of one of these kinds.
    Reference(&'static [Kind]),
    /// Names of entities of these kinds.
    Names(&'static [Kind]),
    /// The name of the entity of the same kind that this one extends.
    Parent,
    /// An entity, written in place.
    One(Kind),
    /// A list of entities.
    List(Kind),
    /// Entities by name.
    Map(Kind),
    /// Entities by name, in an order that matters: a list of one-key mappings, or a mapping.
    Sequence(Kind),
    /// Like [`Shape::Sequence`], but names may be repeated.
    Repeating(Kind),
    /// A list of simple values.
    ListOf(&'static Shape),
    /// A mapping from any name to simple values.
    MapOf(&'static Shape),
    /// The first of these that matches.
    Union(&'static [Shape]),
    /// A shape that the dialect reads in its own way.
    Special(&'static Special),
}

/// A shape that only one dialect has.
#[derive(PartialEq, Debug)]
pub struct Special {
    /// Its number in the dialect.
    pub number: u16,
    /// The expected value, in a user's words (`a condition`).
    pub label: &'static str,
    /// The approximate shape, as far as the other shapes can express it.
    pub outline: Shape,
}

/// How a value is combined with the one inherited from the parent.
#[derive(Clone, Copy, Debug)]
pub enum Merge {
    /// It is not inherited.
    Own,
    /// Inherited if the child does not set it.
    Fallback,
    /// Entities of the same name are merged, row by row; the others are all included, the parent's first. A single
    /// entity is merged with the parent's.
    ByName,
    /// An item replaces the parent's item of the same name; the others are all included, the parent's first.
    Replace,
    /// The parent's items come first, then the child's.
    Append,
    /// Like [`Merge::Fallback`], but the child may only narrow it: fewer or derived names, a smaller range, a derived
    /// type, `true` where the parent has `false`.
    Narrow,
    /// Like [`Merge::Fallback`], but the parent's value cannot be overridden.
    Fixed,
}

/// A value in a table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Literal {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// A string.
    Text(&'static str),
    /// A list.
    List(&'static [Literal]),
    /// A mapping.
    Map(&'static [(&'static str, Literal)]),
}

impl Literal {
    /// The corresponding value, without an origin.
    pub fn value(&self) -> Value {
        // Only as deep as the literals written in a table.
        match self {
            Literal::Null => Value::null(),
            Literal::Bool(value) => Value::from(*value),
            Literal::Int(value) => Value::from(*value),
            Literal::Float(value) => Value::from(*value),
            Literal::Text(text) => Value::str(*text),
            Literal::List(items) => Value::list(items.iter().map(Literal::value).collect()),
            Literal::Map(entries) => {
                Value::map(entries.iter().map(|(key, item)| ((*key).into(), item.value())).collect())
            }
        }
    }
}

/// How a key with an empty value is written: empty text, zero, `false`, an empty list or section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Empty {
    /// It is left out, as if it were absent.
    Omitted,
    /// It differs from an absent key, and is kept where it is written.
    Kept,
    /// It is written even if the key is absent.
    Written,
}

/// One key of an entity.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The key as it is written.
    pub key: &'static str,
    /// The name it is stored under: the same for all keys that editions have given to one thing.
    pub slot: &'static str,
    /// The shape of its value.
    pub shape: Shape,
    /// How it is combined with the inherited value.
    pub merge: Merge,
    /// The editions in which it is required; if it can be inherited, after inheriting.
    pub required: Option<Window>,
    /// The value if not set.
    pub default: Option<Literal>,
    /// The editions that have it.
    pub window: Window,
    /// Older names under which it is still accepted, with a warning.
    pub aliases: &'static [&'static str],
    /// Why it is deprecated, and the replacement.
    pub deprecated: Option<&'static str>,
    /// Whether a deprecated key is rejected.
    pub is_removed: bool,
    /// Its group of mutually exclusive keys.
    pub one_of: Option<&'static str>,
    /// Whether it also inherits from the entity it names, as a definition inherits from its type.
    pub is_base: bool,
    /// Whether a name here may also be something that is not an entity, so that an unknown one is not a problem.
    pub is_loose: bool,
    /// How an empty value is written.
    pub empty: Empty,
    /// Whether strings here are paths, relative to the folder of the file.
    pub is_path: bool,
    /// Whether strings here are templates.
    pub is_template: bool,
    /// Whether the key is a Purlin extension, which the original rejects.
    pub is_extension: bool,
    /// Its description, in one sentence.
    pub doc: &'static str,
}

/// A row for a key that every edition has, that is optional and not inherited.
pub const fn field(key: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field {
        key,
        slot: key,
        shape,
        merge: Merge::Own,
        required: None,
        default: None,
        window: Window::ALWAYS,
        aliases: &[],
        deprecated: None,
        is_removed: false,
        one_of: None,
        is_base: false,
        is_loose: false,
        empty: Empty::Omitted,
        is_path: false,
        is_template: false,
        is_extension: false,
        doc,
    }
}

impl Field {
    /// Makes it required.
    pub const fn required(mut self) -> Self {
        self.required = Some(Window::ALWAYS);
        self
    }

    /// Sets an edition in which a required key is optional.
    pub const fn optional_in(mut self, edition: Edition) -> Self {
        self.required = Some(Window { except: Some(edition), ..Window::ALWAYS });
        self
    }

    /// Whether it is required in an edition.
    pub fn is_required(&self, edition: Edition) -> bool {
        self.required.is_some_and(|window| window.has(edition))
    }

    /// Sets how it is combined with the inherited value.
    pub const fn merge(mut self, merge: Merge) -> Self {
        self.merge = merge;
        self
    }

    /// Sets the value if not set.
    pub const fn default(mut self, value: Literal) -> Self {
        self.default = Some(value);
        self
    }

    /// Sets the name it is stored under, if another edition has that name.
    pub const fn slot(mut self, slot: &'static str) -> Self {
        self.slot = slot;
        self
    }

    /// Sets the first edition that has it.
    pub const fn since(mut self, edition: Edition) -> Self {
        self.window.since = edition;
        self
    }

    /// Sets the first edition that no longer has it.
    pub const fn until(mut self, edition: Edition) -> Self {
        self.window.until = Some(edition);
        self
    }

    /// Sets an edition in between without it.
    pub const fn except(mut self, edition: Edition) -> Self {
        self.window.except = Some(edition);
        self
    }

    /// Sets the only edition that has it.
    pub const fn only(mut self, edition: Edition) -> Self {
        self.window = Window { since: edition, until: Some(Edition(edition.0 + 1)), except: None };
        self
    }

    /// Sets older names that are still accepted, with a warning.
    pub const fn aliases(mut self, names: &'static [&'static str]) -> Self {
        self.aliases = names;
        self
    }

    /// Deprecates it, with the reason and the replacement.
    pub const fn deprecated(mut self, advice: &'static str) -> Self {
        self.deprecated = Some(advice);
        self
    }

    /// Rejects it; older files have it. The argument names the replacement.
    pub const fn removed(mut self, advice: &'static str) -> Self {
        self.is_removed = true;
        self.deprecated(advice)
    }

    /// Puts it into a group of mutually exclusive keys.
    pub const fn one_of(mut self, group: &'static str) -> Self {
        self.one_of = Some(group);
        self
    }

    /// Makes it inherit from the entity it names as well.
    pub const fn base(mut self) -> Self {
        self.is_base = true;
        self
    }

    /// Allows names of something that is not an entity.
    pub const fn loose(mut self) -> Self {
        self.is_loose = true;
        self
    }

    /// Keeps an empty value where it is written.
    pub const fn kept(mut self) -> Self {
        self.empty = Empty::Kept;
        self
    }

    /// Writes an empty value even if the key is absent.
    pub const fn written(mut self) -> Self {
        self.empty = Empty::Written;
        self
    }

    /// Marks strings here as paths.
    pub const fn path(mut self) -> Self {
        self.is_path = true;
        self
    }

    /// Marks strings here as templates.
    pub const fn template(mut self) -> Self {
        self.is_template = true;
        self
    }

    /// Marks the key as a Purlin extension.
    pub const fn extension(mut self) -> Self {
        self.is_extension = true;
        self
    }
}

/// The written form of an entity that is not a mapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// A scalar.
    Scalar,
    /// A scalar that is a string.
    Text,
    /// A list.
    List,
}

/// A short notation: an abbreviation of a mapping with one key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Notation {
    /// The written form.
    pub written: Written,
    /// The slot it fills.
    pub slot: &'static str,
    /// The editions that have it.
    pub window: Window,
}

/// A scalar is short for a mapping with this key.
pub const fn scalar(slot: &'static str) -> Notation {
    Notation { written: Written::Scalar, slot, window: Window::ALWAYS }
}

/// A string is short for a mapping with this key.
pub const fn text(slot: &'static str) -> Notation {
    Notation { written: Written::Text, slot, window: Window::ALWAYS }
}

/// A list is short for a mapping with this key.
pub const fn list(slot: &'static str) -> Notation {
    Notation { written: Written::List, slot, window: Window::ALWAYS }
}

impl Notation {
    /// The first edition that has it.
    pub const fn since(mut self, edition: Edition) -> Self {
        self.window.since = edition;
        self
    }

    /// The first edition that no longer has it.
    pub const fn until(mut self, edition: Edition) -> Self {
        self.window.until = Some(edition);
        self
    }
}

/// One kind of entity.
#[derive(Clone, Copy, Debug)]
pub struct Entity {
    /// Its number.
    pub kind: Kind,
    /// Its name for users (`node type`).
    pub label: &'static str,
    /// Its description, in one sentence.
    pub doc: &'static str,
    /// Its keys, in groups so that shared ones are written once.
    pub groups: &'static [&'static [Field]],
    /// Its short notations.
    pub short: &'static [Notation],
    /// The key that collects all keys without a row, if they are allowed. Its shape is that of the mapping they form.
    pub rest: Option<Field>,
    /// Groups of exclusive keys of which one is required.
    pub exactly_one: &'static [&'static str],
    /// A check that no column can express; rarely used.
    pub check: Option<fn(&Instance<'_>, &Place<'_>)>,
    /// Whether a row is written even if it is not set, so that few writers look through all rows for it.
    pub writes_unset: bool,
}

/// A row for a kind of entity.
pub const fn entity(kind: Kind, label: &'static str, doc: &'static str, groups: &'static [&'static [Field]]) -> Entity {
    let writes_unset = writes_unset(groups);
    Entity { kind, label, doc, groups, short: &[], rest: None, exactly_one: &[], check: None, writes_unset }
}

const fn writes_unset(groups: &[&[Field]]) -> bool {
    let (mut group, mut at) = (0, 0);
    while group < groups.len() {
        if at == groups[group].len() {
            (group, at) = (group + 1, 0);
            continue;
        }
        if matches!(groups[group][at].empty, Empty::Written) {
            return true;
        }
        at += 1;
    }
    false
}

impl Entity {
    /// Sets its short notations.
    pub const fn short(mut self, notations: &'static [Notation]) -> Self {
        self.short = notations;
        self
    }

    /// Sets the key that collects all keys without a row.
    pub const fn rest(mut self, field: Field) -> Self {
        self.rest = Some(field);
        self
    }

    /// Sets groups of exclusive keys of which one is required.
    pub const fn exactly_one(mut self, groups: &'static [&'static str]) -> Self {
        self.exactly_one = groups;
        self
    }

    /// Sets a check of its own.
    pub const fn check(mut self, rule: fn(&Instance<'_>, &Place<'_>)) -> Self {
        self.check = Some(rule);
        self
    }

    /// All rows of all editions.
    pub fn all_fields(&self) -> impl Iterator<Item = &'static Field> + use<> {
        self.groups.iter().flat_map(|group| group.iter())
    }

    /// The rows of an edition.
    pub fn fields(&self, edition: Edition) -> impl Iterator<Item = &'static Field> + use<> {
        self.all_fields().filter(move |field| field.window.has(edition))
    }

    /// The row of a key in an edition.
    pub fn field(&self, key: &str, edition: Edition) -> Option<&'static Field> {
        self.place_of(key, edition).map(|(_, field)| field)
    }

    /// The same with its place among all rows. Every key of a document is looked up: two plain loops take half of what
    /// one iterator over all groups takes.
    pub fn place_of(&self, key: &str, edition: Edition) -> Option<(usize, &'static Field)> {
        let mut first = 0;
        for group in self.groups {
            let known = group.iter().position(|field| field.key == key && field.window.has(edition));
            if let Some((at, field)) = known.and_then(|at| Some((at, group.get(at)?))) {
                return Some((first + at, field));
            }
            first += group.len();
        }
        None
    }

    /// The row that fills a slot in an edition.
    pub fn field_of(&self, slot: &str, edition: Edition) -> Option<&'static Field> {
        self.all_fields().find(|field| field.slot == slot && field.window.has(edition))
    }

    /// All rows that fill slots in an edition: those of its keys, and the one that collects the keys without a row.
    pub fn all_slots(&'static self, edition: Edition) -> impl Iterator<Item = &'static Field> {
        let beside = self.rest_in(edition).filter(|rest| self.field_of(rest.slot, edition).is_none());
        self.fields(edition).chain(beside)
    }

    /// The row of a key in an edition, also by an older name.
    pub fn field_or_alias(&self, key: &str, edition: Edition) -> Option<&'static Field> {
        let by_alias = || self.fields(edition).find(|field| field.aliases.contains(&key));
        self.field(key, edition).or_else(by_alias)
    }

    /// The row that collects keys without a row, in an edition.
    pub fn rest_in(&'static self, edition: Edition) -> Option<&'static Field> {
        self.rest.as_ref().filter(|field| field.window.has(edition))
    }
}

/// The tables of a dialect.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// The dialect's name.
    pub name: &'static str,
    /// The names of its editions, the oldest first.
    pub editions: &'static [&'static str],
    /// The editions that are extensions of the preceding one, rather than a step of their own.
    pub variants: &'static [Edition],
    /// Its rows, that of `Kind(n)` at index `n`.
    pub entities: &'static [Entity],
    /// Whether a node is an expression whose value is known only later, so that it matches any shape.
    pub is_expression: fn(Node<'_>) -> bool,
    /// A regular expression that matches strings with such expressions, for schemas that other tools read.
    pub expression_pattern: Option<&'static str>,
    /// A regular expression for keys that make their mapping an expression, for the same schemas.
    pub operator_pattern: Option<&'static str>,
}

fn never(_: Node<'_>) -> bool {
    false
}

impl Schema {
    /// Tables for a dialect without expressions, where `<<` merges and a key without a value counts as absent.
    pub const fn new(name: &'static str, editions: &'static [&'static str], entities: &'static [Entity]) -> Self {
        Schema {
            name,
            editions,
            variants: &[],
            entities,
            is_expression: never,
            expression_pattern: None,
            operator_pattern: None,
        }
    }

    /// Sets the editions that are extensions of the preceding one.
    pub const fn variants(mut self, editions: &'static [Edition]) -> Self {
        self.variants = editions;
        self
    }

    /// Sets the predicate for expressions whose value is known only later.
    pub const fn expressions(mut self, is_expression: fn(Node<'_>) -> bool) -> Self {
        self.is_expression = is_expression;
        self
    }

    /// Sets a regular expression for strings that are expressions, for schemas that other tools read.
    pub const fn expression_pattern(mut self, pattern: &'static str) -> Self {
        self.expression_pattern = Some(pattern);
        self
    }

    /// Sets a regular expression for keys that make their mapping an expression, for schemas that other tools read.
    pub const fn operator_pattern(mut self, pattern: &'static str) -> Self {
        self.operator_pattern = Some(pattern);
        self
    }

    /// The row of a kind.
    pub fn entity(&self, kind: Kind) -> Option<&'static Entity> {
        let at_its_place = self.entities.get(kind.0 as usize).filter(|entity| entity.kind == kind);
        at_its_place.or_else(|| self.entities.iter().find(|entity| entity.kind == kind))
    }

    /// The name of a kind for users.
    pub fn label(&self, kind: Kind) -> &'static str {
        self.entity(kind).map_or("entity", |entity| entity.label)
    }

    /// The editions that are steps of their own, the oldest first.
    pub fn steps(&self) -> impl DoubleEndedIterator<Item = Edition> {
        self.all_editions().filter(|edition| !self.variants.contains(edition))
    }

    /// All editions, the oldest first.
    pub(crate) fn all_editions(&self) -> impl DoubleEndedIterator<Item = Edition> + use<> {
        (0..u16::try_from(self.editions.len()).unwrap_or(u16::MAX)).map(Edition)
    }

    /// The name of an edition.
    pub fn edition_name(&self, edition: Edition) -> &'static str {
        self.editions.get(edition.0 as usize).copied().unwrap_or("a later edition")
    }

    /// The names of the dialect and of an edition of it.
    pub fn full_name(&self, edition: Edition) -> String {
        format!("{} {}", self.name, self.edition_name(edition))
    }

    /// The edition with a name.
    pub fn edition(&self, name: &str) -> Option<Edition> {
        let at = self.editions.iter().position(|edition| *edition == name)?;
        u16::try_from(at).ok().map(Edition)
    }
}
