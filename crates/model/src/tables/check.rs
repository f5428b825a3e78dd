//! Checks the keys and shapes of an entity: unknown, missing and exclusive keys, and values of the wrong shape.
//!
//! Called by `walk`, the only part that sees keys without a row. Every message names the entity in the dialect's own
//! words. Nothing here knows names of other entities.

use crate::rules;
use crate::schema::{Edition, Entity, Field, Merge, Schema, Shape, Written};
use crate::walk::{Instance, Place, Slot};
use purlin_syntax::suggest::{did_you_mean, nearest};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Kind as NodeKind, Node, Scalar, Span};

/// The word for a range without an upper bound.
pub const UNBOUNDED: &str = "UNBOUNDED";

/// A word with its article: `a node type`, `an artifact`.
pub fn with_article(label: &str) -> String {
    // "a use", because of how it sounds.
    let sounds_otherwise = label.starts_with("use");
    let vowel = label.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']) && !sounds_otherwise;
    format!("{} {label}", if vowel { "an" } else { "a" })
}

/// Alternatives in a sentence: "`a`, `b` or `c`".
pub fn alternatives<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut quoted: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match quoted.pop() {
        Some(last) if quoted.is_empty() => last,
        Some(last) => format!("{} or {last}", quoted.join(", ")),
        None => String::new(),
    }
}

impl Place<'_> {
    /// The entity with its article.
    pub fn subject(&self) -> String {
        with_article(self.entity.label)
    }

    /// Reports a key without a row.
    pub(crate) fn unknown_key(&self, key: Node<'_>) {
        let name = key.text();
        let message = what::unknown("key", name).and(format!(" in {}", self.subject()));
        let hint = known_elsewhere(self.schema, self.entity, self.edition, name);
        let hint = hint.or_else(|| self.available_keys().map(Hint::from));
        self.sink.push(Diagnostic::at(&rules::UNKNOWN_KEY, key.span(), message).maybe_hint(hint));
    }

    /// All keys, if they are few enough to be listed.
    fn available_keys(&self) -> Option<String> {
        const FEW: usize = 8;
        let keys: Vec<&str> = self.entity.fields(self.edition).map(|field| field.key).collect();
        (1..=FEW).contains(&keys.len()).then(|| format!("known keys: {}", alternatives(keys)))
    }

    /// Reports a deprecated key, or an older name of a key.
    pub(crate) fn deprecated_key(&self, key: Node<'_>, field: &Field) {
        let name = key.text();
        if let Some(advice) = field.deprecated.filter(|_| field.is_removed) {
            let message = what::unknown("key", name).and(format!(" in {}", self.subject()));
            self.sink.push(Diagnostic::at(&rules::UNKNOWN_KEY, key.span(), message).hint(advice));
            return;
        }
        let (message, hint) = match field.deprecated {
            _ if name != field.key => {
                (format!("`{name}` is the old name of `{}`", field.key), format!("write `{}` instead", field.key))
            }
            Some(advice) => (format!("`{name}` of {} should no longer be used", self.subject()), advice.to_owned()),
            None => return,
        };
        self.sink.push(Diagnostic::at(&rules::DEPRECATED_KEY, key.span(), message).hint(hint));
    }

    /// Reports a key that is written under two of its names.
    pub(crate) fn same_key_twice(&self, key: Node<'_>, first: &Slot<'_>) {
        let other = first.key.map_or(first.field.key, |key| key.text());
        if other == key.text() {
            // An exact duplicate was reported when the file was parsed.
            return;
        }
        let message = format!("`{}` and `{other}` are the same key", key.text());
        let mut diagnostic = Diagnostic::at(&rules::EXCLUSIVE_KEYS, key.span(), message);
        if let Some(span) = first.span() {
            diagnostic = diagnostic.label(span, "the other one is here");
        }
        self.sink.push(diagnostic.hint("keep one of them"));
    }

    /// Reports a value of another shape than that of its row.
    pub(crate) fn wrong_shape(&self, what: &str, shape: &Shape, node: Node<'_>) {
        let expected = describe_shape(self.schema, shape);
        let message = what::expected(expected, describe_node(node)).under(format!("{what} of {}: ", self.subject()));
        let hint = shape_hint(shape, node);
        self.sink.push(Diagnostic::at(&rules::WRONG_SHAPE, node.span(), message).maybe_hint(hint));
    }

    /// Reports an item of a list that is not a mapping from one name to an entity.
    pub(crate) fn not_one_key(&self, key: &str, item: Node<'_>) {
        let found = if item.is_map() { "several keys" } else { describe_node(item) };
        let message =
            what::expected("items with one key each", found).under(format!("`{key}` of {}: ", self.subject()));
        let hint = "indent what belongs to the name below it";
        self.sink.push(Diagnostic::at(&rules::WRONG_SHAPE, item.span(), message).hint(hint));
    }

    /// Reports a word that is not one of the choices.
    pub(crate) fn unknown_choice(&self, key: &str, choices: &[&'static str], node: Node<'_>) {
        let word = node.text();
        let message = format!("`{key}` of {} cannot be `{word}`", self.subject());
        let all = format!("it can be {}", alternatives(choices.iter().copied()));
        let hint = did_you_mean(word, choices.iter().copied()).unwrap_or(all.into());
        self.sink.push(Diagnostic::at(&rules::UNKNOWN_CHOICE, node.span(), message).hint(hint));
    }

    /// Reports an entity that is neither a mapping nor a short notation.
    pub(crate) fn wrong_entity(&self, node: Node<'_>) {
        let mut takes = vec!["a mapping".to_owned()];
        for notation in self.entity.short.iter().filter(|notation| notation.window.has(self.edition)) {
            takes.push(match notation.written {
                Written::Scalar | Written::Text => format!("a `{}` alone", notation.slot),
                Written::List => format!("the list of its `{}`", notation.slot),
            });
        }
        let message = what::expected(takes.join(" or "), describe_node(node)).under(format!("{}: ", self.entity.label));
        let first = self.entity.fields(self.edition).find(|field| field.is_required(self.edition));
        let first = first.or_else(|| self.entity.fields(self.edition).next()).map_or("key", |field| field.key);
        let hint = match node.is_scalar() && !node.is_null() {
            true => format!("write keys and values, for example `{first}: {}`", node.text()),
            false => format!("write keys and values, for example `{first}: …`"),
        };
        self.sink.push(Diagnostic::at(&rules::WRONG_SHAPE, node.span(), message).hint(hint));
    }

    /// Reports missing and mutually exclusive keys of an entity. Keys that can be inherited are checked again after
    /// inheriting.
    pub(crate) fn check_written(&self, instance: &Instance<'_>) {
        self.check_required(instance, |field| matches!(field.merge, Merge::Own));
        self.check_exclusive(instance);
        if let Some(check) = self.entity.check {
            check(instance, self);
        }
    }

    /// Reports the missing ones of the required keys that satisfy `which`.
    pub(crate) fn check_required(&self, instance: &Instance<'_>, which: impl Fn(&Field) -> bool) {
        let needed = self.entity.fields(self.edition).filter(|field| field.is_required(self.edition) && which(field));
        for field in needed.filter(|field| instance.slot(field.slot).is_none()) {
            // A misspelling of the missing key was reported by itself.
            if self.unknown_keys(instance).iter().any(|key| nearest(key, [field.key]).is_some()) {
                continue;
            }
            let message = what::missing("key", field.key).and(format!(" in {}", self.subject_of(instance)));
            let hint = format!("add `{}:`, {}", field.key, first_to_lower(field.doc));
            self.sink.push(Diagnostic::at(&rules::MISSING_KEY, instance.name_span(), message).hint(hint));
        }
    }

    /// The keys of an entity that have no row.
    fn unknown_keys(&self, instance: &Instance<'_>) -> Vec<String> {
        if self.entity.rest_in(self.edition).is_some() {
            return Vec::new();
        }
        let keys = instance.node.entries().map(|entry| entry.key.text().to_owned());
        keys.filter(|key| self.entity.field_or_alias(key, self.edition).is_none()).collect()
    }

    fn check_exclusive(&self, instance: &Instance<'_>) {
        let mut seen: Vec<(&str, &str, Option<Span>)> = Vec::new();
        for slot in &instance.slots {
            let Some(group) = slot.field.one_of else { continue };
            let (key, span) = (slot.field.key, slot.span());
            match seen.iter().find(|(other, ..)| *other == group) {
                None => seen.push((group, key, span)),
                Some((_, first, first_span)) => {
                    let message = format!("`{first}` and `{key}` of {} exclude each other", self.subject_of(instance));
                    let at = span.unwrap_or_else(|| instance.node.span());
                    let mut diagnostic = Diagnostic::at(&rules::EXCLUSIVE_KEYS, at, message);
                    if let Some(span) = first_span {
                        diagnostic = diagnostic.label(*span, format!("`{first}` is here"));
                    }
                    self.sink.push(diagnostic.hint("keep one of them"));
                }
            }
        }
        for group in self.entity.exactly_one.iter().filter(|group| !seen.iter().any(|(other, ..)| other == *group)) {
            let members = self.entity.fields(self.edition).filter(|field| field.one_of == Some(group));
            let keys: Vec<&str> = members.map(|field| field.key).collect();
            if !keys.is_empty() {
                let words = format!("{} needs one of {}", self.subject_of(instance), alternatives(keys.clone()));
                let message = what::missing_names("key", keys, true).words(words);
                self.sink.push(Diagnostic::at(&rules::MISSING_KEY, instance.name_span(), message));
            }
        }
    }

    /// The entity with its name, or with its article if it has none.
    fn subject_of(&self, instance: &Instance<'_>) -> String {
        match instance.name.map_or("", |name| name.text()) {
            "" => self.subject(),
            name => format!("{} `{name}`", self.entity.label),
        }
    }
}

/// How to write a value of another shape, where there is one way.
fn shape_hint(shape: &Shape, node: Node<'_>) -> Option<String> {
    let text = if node.is_scalar() && !node.is_null() { node.text() } else { "…" };
    Some(match shape {
        Shape::List(_) | Shape::ListOf(_) if has_dash(node) => "put a space after `-`".to_owned(),
        Shape::Names(_) | Shape::List(_) | Shape::ListOf(_) | Shape::Sequence(_) | Shape::Repeating(_) => {
            format!("write it as a list: `[{text}]`")
        }
        Shape::Map(_) | Shape::MapOf(_) | Shape::One(_) => "write keys and values below it".to_owned(),
        Shape::Bool => "write `true` or `false`, without quotes".to_owned(),
        Shape::Integer | Shape::Number => "write a number, without quotes".to_owned(),
        Shape::Text if node.is_scalar() => format!("put it in quotes: `\"{text}\"`"),
        Shape::Special(special) => return shape_hint(&special.outline, node),
        _ => return None,
    })
}

/// Whether a list was probably intended: `-name: local`.
fn has_dash(node: Node<'_>) -> bool {
    node.entries().next().is_some_and(|entry| entry.key.text().starts_with('-'))
}

/// The hint for a key that an entity does not have in an edition: its name there, the next edition with it, an
/// earlier one with it, or a similar key.
pub fn known_elsewhere(schema: &Schema, entity: &Entity, edition: Edition, key: &str) -> Option<Hint> {
    let later = schema.steps().filter(|other| *other > edition);
    let mut others = later.chain(schema.steps().rev());
    let Some((other, field)) = others.find_map(|other| Some((other, entity.field(key, other)?))) else {
        return did_you_mean(key, entity.fields(edition).map(|field| field.key));
    };
    Some(match entity.field_of(field.slot, edition) {
        Some(here) => format!("in this edition it is called `{}`", here.key).into(),
        None => format!("{} has it", schema.full_name(other)).into(),
    })
}

/// A sentence as a hint: in the middle of a line, without its full stop.
fn first_to_lower(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    let mut chars = sentence.chars();
    match (chars.next(), chars.next()) {
        // An abbreviation keeps its capitals.
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(sentence.chars().skip(1)).collect()
        }
        _ => sentence.to_owned(),
    }
}

/// The kind of a node, in a user's words. Its text is not repeated: it may be a secret.
pub fn describe_node(node: Node<'_>) -> &'static str {
    match node.kind() {
        NodeKind::Map => "a mapping",
        NodeKind::List => "a list",
        NodeKind::Alias | NodeKind::Error => "something unreadable",
        NodeKind::Scalar => match node.scalar() {
            Scalar::Null => "nothing",
            Scalar::Bool(_) => "true or false",
            Scalar::Int(_) | Scalar::BigInt => "an integer",
            Scalar::Float(_) => "a number",
            Scalar::Timestamp => "a date",
            Scalar::Str => "a string",
        },
    }
}

/// The expected value of a shape, in a user's words.
pub fn describe_shape(schema: &Schema, shape: &Shape) -> String {
    let plural = |kinds: &[crate::schema::Kind]| {
        let labels: Vec<&str> = kinds.iter().map(|kind| schema.label(*kind)).collect();
        labels.join(" or ")
    };
    match shape {
        Shape::Text => "a string".to_owned(),
        Shape::Scalar => "a single value".to_owned(),
        Shape::Bool => "a boolean".to_owned(),
        Shape::Integer => "an integer".to_owned(),
        Shape::Number => "a number".to_owned(),
        Shape::Range => format!("a lower and an upper bound such as [0, {UNBOUNDED}]"),
        Shape::Any => "anything".to_owned(),
        Shape::Choice(words) => alternatives(words.iter().copied()),
        Shape::Reference(kinds) => format!("the name of {}", with_article(&plural(kinds))),
        Shape::Names([]) => "a list of names".to_owned(),
        Shape::Names(kinds) => format!("a list of names, each of {}", with_article(&plural(kinds))),
        Shape::Parent => "the name of what it extends".to_owned(),
        Shape::One(kind) => with_article(schema.label(*kind)),
        Shape::List(kind) => format!("a list with {} per item", with_article(schema.label(*kind))),
        Shape::Map(kind) => format!("a mapping with {} per name", with_article(schema.label(*kind))),
        Shape::Sequence(kind) | Shape::Repeating(kind) => {
            format!("a list of one-key mappings, each from a name to {}", with_article(schema.label(*kind)))
        }
        Shape::ListOf(inner) if **inner == Shape::Any => "a list".to_owned(),
        Shape::ListOf(inner) => format!("a list with {} per item", describe_shape(schema, inner)),
        Shape::MapOf(inner) if **inner == Shape::Any => "a mapping".to_owned(),
        Shape::MapOf(inner) => format!("a mapping with {} per name", describe_shape(schema, inner)),
        Shape::Union(shapes) => {
            let all: Vec<String> = shapes.iter().map(|shape| describe_shape(schema, shape)).collect();
            all.join(", or ")
        }
        Shape::Special(special) => special.label.to_owned(),
    }
}

/// Whether a node itself looks like a shape, regardless of its content.
pub(crate) fn looks_like(schema: &Schema, edition: Edition, shape: &Shape, node: Node<'_>) -> bool {
    match shape {
        Shape::Text | Shape::Choice(_) | Shape::Reference(_) | Shape::Parent => node.as_str().is_some(),
        Shape::Scalar => node.is_scalar() && !node.is_null(),
        Shape::Bool => node.as_bool().is_some(),
        Shape::Integer => is_integer(node),
        Shape::Number => is_integer(node) || (node.is_scalar() && matches!(node.scalar(), Scalar::Float(_))),
        Shape::Range => is_range(node),
        Shape::Any => true,
        Shape::Names(_) | Shape::List(_) | Shape::ListOf(_) => node.is_list(),
        Shape::Map(_) | Shape::MapOf(_) => node.is_map(),
        Shape::Sequence(_) | Shape::Repeating(_) => node.is_list() || node.is_map(),
        Shape::One(kind) => {
            node.is_map() || schema.entity(*kind).is_some_and(|entity| notation(entity, edition, node).is_some())
        }
        Shape::Union(shapes) => shapes.iter().any(|shape| looks_like(schema, edition, shape, node)),
        Shape::Special(special) => looks_like(schema, edition, &special.outline, node),
    }
}

/// The slot that a node fills in a short notation of an entity.
pub(crate) fn notation(entity: &'static Entity, edition: Edition, node: Node<'_>) -> Option<&'static str> {
    let fits = |written: Written| match written {
        Written::Scalar => node.is_scalar() && !node.is_null(),
        Written::Text => node.as_str().is_some(),
        Written::List => node.is_list(),
    };
    let mut fitting = entity.short.iter().filter(|short| short.window.has(edition) && fits(short.written));
    fitting.next().map(|short| short.slot)
}

fn is_integer(node: Node<'_>) -> bool {
    node.is_scalar() && matches!(node.scalar(), Scalar::Int(_) | Scalar::BigInt)
}

fn is_range(node: Node<'_>) -> bool {
    let bounds: Vec<Node<'_>> = node.items().take(3).collect();
    match bounds.as_slice() {
        [low, high] => is_integer(*low) && (is_integer(*high) || high.text() == UNBOUNDED),
        _ => false,
    }
}
