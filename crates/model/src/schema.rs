//! The table vocabulary: what a dialect's entities look like, as plain constant data.
//!
//! One row per key: its shape, how it meets the inherited value, whether it is required, its default, the editions
//! that have it and one sentence. The engines beside this file read the rows; nothing else names a key. Nothing here
//! knows a dialect: kinds and editions are numbers that the dialect supplies.
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

/// What an entity is: the number of its row in the dialect's table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Kind(pub u16);

/// A version of a dialect: its place among the dialect's editions, the oldest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Edition(pub u16);

/// Numbers kinds in the order in which they are named, which is that of their rows.
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

/// The editions that have something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The first edition that has it.
    pub since: Edition,
    /// The first edition that no longer has it.
    pub until: Option<Edition>,
    /// An edition in between that does without.
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

/// What may be written under a key.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    /// Text.
    Text,
    /// Any scalar, taken as the text it is written as.
    Scalar,
    /// True or false.
    Bool,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// A lower and an upper bound, the upper one possibly `UNBOUNDED`.
    Range,
    /// Anything; the dialect's expressions, or notes that nobody reads.
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
    /// As [`Shape::Sequence`], but a name may stand there several times.
    Repeating(Kind),
    /// A list of something simple.
    ListOf(&'static Shape),
    /// A mapping from any name to something simple.
    MapOf(&'static Shape),
    /// The first of these that fits.
    Union(&'static [Shape]),
    /// Something that the dialect reads in a way of its own.
    Special(&'static Special),
}

/// A shape that only one dialect has.
#[derive(PartialEq, Debug)]
pub struct Special {
    /// What the dialect knows it by.
    pub number: u16,
    /// What it takes, in a user's words (`a condition`).
    pub label: &'static str,
    /// What it looks like from outside, as far as the other shapes can say.
    pub outline: Shape,
}

/// How a value meets the one inherited from the parent.
#[derive(Clone, Copy, Debug)]
pub enum Merge {
    /// It is not inherited.
    Own,
    /// The parent's holds where there is none.
    Fallback,
    /// Entities of the same name are merged, row by row; the others are all there, the parent's first. A single
    /// entity is merged with the parent's.
    ByName,
    /// What has the same name as something of the parent's stands in its place; the others are all there, the parent's
    /// first.
    Replace,
    /// The parent's comes first, then one's own.
    Append,
    /// As [`Merge::Fallback`], but one's own may only be narrower: fewer or derived names, a smaller range, a derived
    /// type, `true` where the parent says `false`.
    Narrow,
    /// As [`Merge::Fallback`], but what the parent says cannot be changed.
    Fixed,
}

/// A value in a table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Literal {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// Text.
    Text(&'static str),
    /// A list.
    List(&'static [Literal]),
    /// A mapping.
    Map(&'static [(&'static str, Literal)]),
}

impl Literal {
    /// The value it stands for, without an origin.
    pub fn value(&self) -> Value {
        // Nested as deep as somebody typed it into a table.
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

/// What a writer does with a key whose value says nothing: empty text, zero, `false`, nothing in a list or a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Empty {
    /// It is left out, as if it were absent.
    Omitted,
    /// It means something else than an absent key, and is kept where it is written.
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
    /// What may stand under it.
    pub shape: Shape,
    /// How it meets the inherited value.
    pub merge: Merge,
    /// The editions in which it must be there; where it can be inherited, after inheriting.
    pub required: Option<Window>,
    /// What holds if it is not there.
    pub default: Option<Literal>,
    /// The editions that have it.
    pub window: Window,
    /// Older names under which it is still accepted, with a warning.
    pub aliases: &'static [&'static str],
    /// Why it should no longer be used, and what to use instead.
    pub deprecated: Option<&'static str>,
    /// Whether a deprecated key is refused.
    pub is_removed: bool,
    /// The group of keys of which only one may be there.
    pub one_of: Option<&'static str>,
    /// Whether the entity it names is inherited from as well, as a definition inherits from its type.
    pub is_base: bool,
    /// Whether a name here may also be something that is not an entity, so that not finding it is no problem.
    pub is_loose: bool,
    /// What is written of an empty value.
    pub empty: Empty,
    /// Whether texts here are paths, relative to the folder of the file.
    pub is_path: bool,
    /// Whether texts here are templates.
    pub is_template: bool,
    /// Whether only we know the key, so that the original refuses it.
    pub is_extension: bool,
    /// What it means, in one sentence.
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
    /// It must be there.
    pub const fn required(mut self) -> Self {
        self.required = Some(Window::ALWAYS);
        self
    }

    /// An edition in which a key that must be there otherwise may be absent.
    pub const fn optional_in(mut self, edition: Edition) -> Self {
        self.required = Some(Window { except: Some(edition), ..Window::ALWAYS });
        self
    }

    /// Whether it must be there in an edition.
    pub fn is_required(&self, edition: Edition) -> bool {
        self.required.is_some_and(|window| window.has(edition))
    }

    /// How it meets the inherited value.
    pub const fn merge(mut self, merge: Merge) -> Self {
        self.merge = merge;
        self
    }

    /// What holds if it is not there.
    pub const fn default(mut self, value: Literal) -> Self {
        self.default = Some(value);
        self
    }

    /// The name it is stored under, where another edition calls it so.
    pub const fn slot(mut self, slot: &'static str) -> Self {
        self.slot = slot;
        self
    }

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

    /// An edition in between that does without.
    pub const fn except(mut self, edition: Edition) -> Self {
        self.window.except = Some(edition);
        self
    }

    /// The only edition that has it.
    pub const fn only(mut self, edition: Edition) -> Self {
        self.window = Window { since: edition, until: Some(Edition(edition.0 + 1)), except: None };
        self
    }

    /// Older names that are still accepted, with a warning.
    pub const fn aliases(mut self, names: &'static [&'static str]) -> Self {
        self.aliases = names;
        self
    }

    /// Why it should no longer be used, and what to use instead.
    pub const fn deprecated(mut self, advice: &'static str) -> Self {
        self.deprecated = Some(advice);
        self
    }

    /// It is refused; older files have it. What to use instead.
    pub const fn removed(mut self, advice: &'static str) -> Self {
        self.is_removed = true;
        self.deprecated(advice)
    }

    /// Only one key of this group may be there.
    pub const fn one_of(mut self, group: &'static str) -> Self {
        self.one_of = Some(group);
        self
    }

    /// The entity it names is inherited from as well.
    pub const fn base(mut self) -> Self {
        self.is_base = true;
        self
    }

    /// A name here may also be something that is not an entity.
    pub const fn loose(mut self) -> Self {
        self.is_loose = true;
        self
    }

    /// An empty value is kept where it is written.
    pub const fn kept(mut self) -> Self {
        self.empty = Empty::Kept;
        self
    }

    /// An empty value is written even if the key is absent.
    pub const fn written(mut self) -> Self {
        self.empty = Empty::Written;
        self
    }

    /// Texts here are paths.
    pub const fn path(mut self) -> Self {
        self.is_path = true;
        self
    }

    /// Texts here are templates.
    pub const fn template(mut self) -> Self {
        self.is_template = true;
        self
    }

    /// Only we know the key.
    pub const fn extension(mut self) -> Self {
        self.is_extension = true;
        self
    }
}

/// What is written where an entity is expected, if it is not a mapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// A scalar.
    Scalar,
    /// A scalar that is text.
    Text,
    /// A list.
    List,
}

/// A short notation: something that stands for a mapping with one key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Notation {
    /// What is written.
    pub written: Written,
    /// The slot it fills.
    pub slot: &'static str,
    /// The editions that have it.
    pub window: Window,
}

/// A scalar stands for a mapping with this key.
pub const fn scalar(slot: &'static str) -> Notation {
    Notation { written: Written::Scalar, slot, window: Window::ALWAYS }
}

/// Text stands for a mapping with this key.
pub const fn text(slot: &'static str) -> Notation {
    Notation { written: Written::Text, slot, window: Window::ALWAYS }
}

/// A list stands for a mapping with this key.
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
    /// What users call it (`node type`).
    pub label: &'static str,
    /// What it is, in one sentence.
    pub doc: &'static str,
    /// Its keys, in groups so that common ones are written once.
    pub groups: &'static [&'static [Field]],
    /// Its short notations.
    pub short: &'static [Notation],
    /// The key that takes all keys without a row, if they are allowed. Its shape is that of the mapping they form.
    pub rest: Option<Field>,
    /// Groups of exclusive keys of which one must be there.
    pub exactly_one: &'static [&'static str],
    /// The rare rule that no column can express.
    pub check: Option<fn(&Instance<'_>, &Place<'_>)>,
}

/// A row for a kind of entity.
pub const fn entity(kind: Kind, label: &'static str, doc: &'static str, groups: &'static [&'static [Field]]) -> Entity {
    Entity { kind, label, doc, groups, short: &[], rest: None, exactly_one: &[], check: None }
}

impl Entity {
    /// Its short notations.
    pub const fn short(mut self, notations: &'static [Notation]) -> Self {
        self.short = notations;
        self
    }

    /// The key that takes all keys without a row.
    pub const fn rest(mut self, field: Field) -> Self {
        self.rest = Some(field);
        self
    }

    /// Groups of exclusive keys of which one must be there.
    pub const fn exactly_one(mut self, groups: &'static [&'static str]) -> Self {
        self.exactly_one = groups;
        self
    }

    /// A rule of its own.
    pub const fn check(mut self, rule: fn(&Instance<'_>, &Place<'_>)) -> Self {
        self.check = Some(rule);
        self
    }

    /// All rows, whatever the edition.
    pub fn all_fields(&self) -> impl Iterator<Item = &'static Field> + use<> {
        self.groups.iter().flat_map(|group| group.iter())
    }

    /// The rows of an edition.
    pub fn fields(&self, edition: Edition) -> impl Iterator<Item = &'static Field> + use<> {
        self.all_fields().filter(move |field| field.window.has(edition))
    }

    /// The row of a key in an edition.
    pub fn field(&self, key: &str, edition: Edition) -> Option<&'static Field> {
        self.all_fields().find(|field| field.key == key && field.window.has(edition))
    }

    /// The row that fills a slot in an edition.
    pub fn field_of(&self, slot: &str, edition: Edition) -> Option<&'static Field> {
        self.all_fields().find(|field| field.slot == slot && field.window.has(edition))
    }

    /// All rows that fill slots in an edition: those of its keys, and the one that takes the keys without a row.
    pub fn all_slots(&'static self, edition: Edition) -> impl Iterator<Item = &'static Field> {
        let beside = self.rest_in(edition).filter(|rest| self.field_of(rest.slot, edition).is_none());
        self.fields(edition).chain(beside)
    }

    /// The row of a key in an edition, the key possibly being an older name of it.
    pub fn field_or_alias(&self, key: &str, edition: Edition) -> Option<&'static Field> {
        let by_alias = || self.fields(edition).find(|field| field.aliases.contains(&key));
        self.field(key, edition).or_else(by_alias)
    }

    /// The row that takes keys without one, in an edition.
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
    /// The editions that are the one before them with what somebody adds to it, rather than a step of their own.
    pub variants: &'static [Edition],
    /// Its rows, the one of `Kind(n)` at place `n`.
    pub entities: &'static [Entity],
    /// Whether a node is an expression whose value is known only later, so that it fits any shape.
    pub is_expression: fn(Node<'_>) -> bool,
    /// A regular expression that texts match which are such expressions, for schemas that other tools read.
    pub expression_pattern: Option<&'static str>,
    /// A regular expression that keys match which make their mapping an expression, for the same schemas.
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

    /// The editions that are the one before them with additions.
    pub const fn variants(mut self, editions: &'static [Edition]) -> Self {
        self.variants = editions;
        self
    }

    /// Which nodes are expressions whose value is known only later.
    pub const fn expressions(mut self, is_expression: fn(Node<'_>) -> bool) -> Self {
        self.is_expression = is_expression;
        self
    }

    /// A regular expression for texts that are expressions, for schemas that other tools read.
    pub const fn expression_pattern(mut self, pattern: &'static str) -> Self {
        self.expression_pattern = Some(pattern);
        self
    }

    /// A regular expression for keys that make their mapping an expression, for schemas that other tools read.
    pub const fn operator_pattern(mut self, pattern: &'static str) -> Self {
        self.operator_pattern = Some(pattern);
        self
    }

    /// The row of a kind.
    pub fn entity(&self, kind: Kind) -> Option<&'static Entity> {
        let at_its_place = self.entities.get(kind.0 as usize).filter(|entity| entity.kind == kind);
        at_its_place.or_else(|| self.entities.iter().find(|entity| entity.kind == kind))
    }

    /// What users call a kind.
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
