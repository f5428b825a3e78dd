//! Values as written: plain data with the location of every part, and the function calls in it.
//!
//! Phase: read. Keys may be any value, because TOSCA maps may have numbers or function calls as keys. This must not
//! know types or evaluate anything.

use crate::edition::{Edition, Standard};
use crate::functions::is_function;
use crate::host::Host;
use ecow::EcoString;
use purlin_syntax::tree::Entry;
use purlin_syntax::write::is_go_timestamp;
use purlin_syntax::{Flavor, Kind, MergeKeys, Node, Scalar, Span, Style, Tree};
use purlin_value::{Origin, Taint};
use std::sync::Arc;

/// Nesting beyond this is cut off; the YAML reader has its own, equal limit.
const MAX_DEPTH: u32 = purlin_syntax::limits::COLLECTION_LEVELS;

/// The tag of a secret in plain text.
const SENSITIVE: &str = "!sensitive";

/// A text and where it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The text.
    pub text: EcoString,
    /// Its place.
    pub span: Span,
}

/// A value and where it is written.
#[derive(Clone, Debug)]
pub struct Val {
    /// The value.
    pub data: Data,
    /// Its place.
    pub span: Span,
    /// Where it came from.
    pub origin: Origin,
    /// Whether it must not be shown. Private, so that deriving a value from another one cannot forget it.
    taint: Taint,
}

/// The data of a value.
#[derive(Clone, Debug)]
pub enum Data {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number with a fraction, or one too large for 64 bits.
    Float(f64),
    /// A text.
    Str(EcoString),
    /// A date or time written without quotes.
    Timestamp(EcoString),
    /// Several values in order.
    List(Arc<Vec<Val>>),
    /// Values by key, in order.
    Map(Arc<Vec<(Val, Val)>>),
    /// A function call.
    Call(Arc<Call>),
    /// Not known yet; the text names what it waits for.
    Pending(EcoString),
    /// Something broken that was reported already.
    Poison,
}

/// A function call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function's name without `$`.
    pub name: EcoString,
    /// Its arguments; a single argument that is not a list is a list of one.
    pub args: Vec<Val>,
    /// Whether the arguments were written as a list.
    pub listed: bool,
    /// Whether it is written in a map next to other keys, which is malformed.
    pub crowded: bool,
}

impl Val {
    /// A value not derived from another one: of unknown origin, and not secret.
    pub fn new(data: Data, span: Span) -> Self {
        Val::of(data, span, Origin::NONE, Taint::NONE)
    }

    /// A value made from others: where it comes from, and whether one of them is a secret. Conversions use this one.
    pub fn of(data: Data, span: Span, origin: Origin, taint: Taint) -> Self {
        Val { data, span, origin, taint }
    }

    /// Replaces the data of a value, for results made from it alone.
    pub fn with(&self, data: Data) -> Self {
        Val { data, span: self.span, origin: self.origin, taint: self.taint }
    }

    /// The same at another place.
    pub fn at(self, span: Span) -> Self {
        Val { span, ..self }
    }

    /// The same, secret if its source is.
    pub fn tainted_by(mut self, taint: Taint) -> Self {
        self.taint |= taint;
        self
    }

    /// Its taint, for values made from it.
    pub fn taint(&self) -> Taint {
        self.taint
    }

    /// The same, without texts made from secrets in the description of a pending value.
    pub fn without_words(self) -> Self {
        match &self.data {
            Data::Pending(_) if self.is_tainted() => self.with(Data::Pending("a secret".into())),
            _ => self,
        }
    }

    /// Whether it must not be shown.
    pub fn is_tainted(&self) -> bool {
        self.taint.is_secret()
    }

    /// Its taint together with that of all its parts, for values made from all of it.
    pub fn taint_within(&self) -> Taint {
        if self.is_tainted() {
            return self.taint;
        }
        let pair = |(key, value): &(Val, Val)| key.taint_within().is_secret() || value.taint_within().is_secret();
        Taint::secret_if(match &self.data {
            Data::List(items) => items.iter().any(|item| item.taint_within().is_secret()),
            Data::Map(entries) => entries.iter().any(pair),
            Data::Call(call) => call.args.iter().any(|arg| arg.taint_within().is_secret()),
            _ => false,
        })
    }

    /// A text.
    pub fn str(text: impl Into<EcoString>, span: Span) -> Self {
        Val::new(Data::Str(text.into()), span)
    }

    /// A map with text keys.
    pub fn map<'k>(entries: impl IntoIterator<Item = (&'k str, Val)>, span: Span) -> Self {
        let entries = entries.into_iter().map(|(key, value)| (Val::str(key, span), value)).collect();
        Val::new(Data::Map(Arc::new(entries)), span)
    }

    /// Whether nothing can be checked: it is broken and reported, or not known yet.
    pub fn is_opaque(&self) -> bool {
        matches!(self.data, Data::Poison | Data::Pending(_))
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The integer, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        match self.data {
            Data::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The items of a list.
    pub fn items(&self) -> &[Val] {
        match &self.data {
            Data::List(items) => items,
            _ => &[],
        }
    }

    /// The entries of a map.
    pub fn entries(&self) -> &[(Val, Val)] {
        match &self.data {
            Data::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The value under a text key.
    pub fn get(&self, key: &str) -> Option<&Val> {
        self.entries().iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
    }

    /// Whether it is a function call.
    pub fn is_call(&self) -> bool {
        matches!(self.data, Data::Call(_))
    }

    /// Whether it is, or contains, a function call.
    pub fn has_call(&self) -> bool {
        match &self.data {
            Data::Call(_) => true,
            Data::List(items) => items.iter().any(Val::has_call),
            Data::Map(entries) => entries.iter().any(|(key, value)| key.has_call() || value.has_call()),
            _ => false,
        }
    }

    /// The display name of this kind of value.
    pub fn noun(&self) -> &'static str {
        match self.data {
            Data::Null => "null",
            Data::Bool(_) => "a boolean",
            Data::Int(_) => "an integer",
            Data::Float(_) => "a float",
            Data::Str(_) => "a string",
            Data::Timestamp(_) => "a timestamp",
            Data::List(_) => "a list",
            Data::Map(_) => "a mapping",
            Data::Call(_) => "a function call",
            Data::Pending(_) => "not known yet",
            Data::Poison => "broken",
        }
    }
}

/// Equality of plain data; locations and the order of map entries do not matter.
impl PartialEq for Val {
    fn eq(&self, other: &Self) -> bool {
        match (&self.data, &other.data) {
            (Data::Null, Data::Null) => true,
            (Data::Bool(a), Data::Bool(b)) => a == b,
            (Data::Int(a), Data::Int(b)) => a == b,
            (Data::Float(a), Data::Float(b)) => a == b,
            (Data::Int(a), Data::Float(b)) | (Data::Float(b), Data::Int(a)) => *a as f64 == *b,
            (Data::Str(a), Data::Str(b)) | (Data::Timestamp(a), Data::Timestamp(b)) => a == b,
            (Data::List(a), Data::List(b)) => a == b,
            (Data::Map(a), Data::Map(b)) => {
                a.len() == b.len() && a.iter().all(|(key, value)| b.iter().any(|(k, v)| k == key && v == value))
            }
            (Data::Call(a), Data::Call(b)) => a.name == b.name && a.args == b.args,
            _ => false,
        }
    }
}

/// The entries of a mapping with merge keys (`<<`) applied: written entries override merged ones.
pub fn merged_entries(node: Node<'_>) -> Vec<Entry<'_>> {
    node.merged_entries(MergeKeys::Apply).collect()
}

/// The notation of values: the edition's rule for distinguishing calls from data, and the host's extensions.
#[derive(Clone, Copy, Debug)]
pub struct Notation<'a> {
    /// The edition.
    pub edition: Edition,
    /// The host, if there is one.
    pub host: Option<&'static Host>,
    /// Functions that the file defines for itself.
    pub own: &'a [EcoString],
}

impl From<Edition> for Notation<'_> {
    fn from(edition: Edition) -> Self {
        Notation { edition, host: None, own: &[] }
    }
}

/// Locations of secrets in plain text in a file.
pub fn secrets(tree: &Tree) -> impl Iterator<Item = Span> {
    let mut pending: Vec<Node<'_>> = tree.roots().filter(|_| tree.source().text().contains(SENSITIVE)).collect();
    std::iter::from_fn(move || {
        while let Some(node) = pending.pop() {
            if node.tag() == Some(SENSITIVE) {
                return Some(node.span());
            }
            match node.kind() {
                Kind::List => pending.extend(node.items()),
                Kind::Map => pending.extend(node.entries().flat_map(|entry| [entry.key, entry.value])),
                _ => {}
            }
        }
        None
    })
}

/// Reads a value, finding function calls by the notation's rule.
pub fn read<'a>(node: Node<'_>, notation: impl Into<Notation<'a>>) -> Val {
    read_at(node, notation.into(), 0)
}

fn read_at(node: Node<'_>, notation: Notation<'_>, depth: u32) -> Val {
    let (span, origin) = (node.span(), Origin::node(node.target()));
    if depth > MAX_DEPTH {
        return Val::of(Data::Poison, span, origin, Taint::NONE);
    }
    let data = match node.kind() {
        Kind::Scalar => scalar(node, notation),
        Kind::List => Data::List(Arc::new(node.items().map(|item| read_at(item, notation, depth + 1)).collect())),
        Kind::Map => map(node, notation, depth),
        Kind::Alias | Kind::Error => Data::Poison,
    };
    Val::of(data, span, origin, Taint::secret_if(node.tag() == Some(SENSITIVE)))
}

/// The meaning of a scalar in TOSCA: YAML 1.2, plus timestamps, plus Go's spellings of numbers.
pub fn scalar_data(node: Node<'_>) -> Data {
    match meaning(node) {
        Scalar::Null => Data::Null,
        Scalar::Bool(value) => Data::Bool(value),
        Scalar::Int(value) => Data::Int(value),
        Scalar::BigInt => Data::Float(node.text().parse().unwrap_or(f64::INFINITY)),
        Scalar::Float(value) => Data::Float(value),
        Scalar::Timestamp => Data::Timestamp(node.eco_text()),
        Scalar::Str => Data::Str(node.eco_text()),
    }
}

/// The text of a scalar that is text.
pub fn as_text(node: Node<'_>) -> Option<&str> {
    (node.is_scalar() && meaning(node) == Scalar::Str).then(|| node.text())
}

/// The meaning of a scalar; dates are recognised in any flavour of the file.
fn meaning(node: Node<'_>) -> Scalar {
    let tag = node.tag();
    if tag == Some("tag:yaml.org,2002:timestamp") {
        return Scalar::Timestamp;
    }
    if node.style() == Style::Plain && tag.is_none() {
        let text = node.text();
        // Only dates have a `-` there.
        if text.as_bytes().get(4) == Some(&b'-') && is_timestamp(text, node.tree().flavor()) {
            return Scalar::Timestamp;
        }
    }
    node.scalar()
}

fn scalar(node: Node<'_>, notation: Notation<'_>) -> Data {
    let data = scalar_data(node);
    let Data::Str(text) = &data else { return data };
    if notation.host.is_some_and(|host| (host.is_template)(text)) {
        let args = vec![Val::of(data.clone(), node.span(), Origin::node(node.target()), Taint::NONE)];
        return Data::Call(Arc::new(Call { name: crate::host::TEMPLATE.into(), args, listed: false, crowded: false }));
    }
    if !notation.edition.is_2() || !text.starts_with('$') {
        return data;
    }
    if let Some(literal) = text.strip_prefix("$$") {
        return Data::Str(EcoString::from("$") + literal);
    }
    let name = EcoString::from(&text[1..]);
    if !is_name(&name) {
        return data;
    }
    Data::Call(Arc::new(Call { name, args: Vec::new(), listed: true, crowded: false }))
}

fn map(node: Node<'_>, notation: Notation<'_>, depth: u32) -> Data {
    let entries = merged_entries(node);
    let is_2 = notation.edition.is_2();
    if is_2 {
        let called = entries.iter().find(|entry| is_call_key(entry.key));
        if let Some(entry) = called {
            return call(&entry.name()[1..], entry.value, entries.len() > 1, notation, depth);
        }
    } else if let [entry] = entries.as_slice()
        && entry.key.is_scalar()
        && (is_function(entry.name(), notation.edition) || notation.own.iter().any(|own| own == entry.name()))
    {
        return call(entry.name(), entry.value, false, notation, depth);
    }
    if let Some(host) = notation.host
        && let Some(entry) =
            entries.iter().find(|entry| entry.key.is_scalar() && (host.is_call)(entry.name(), entries.len()))
    {
        // The host interprets the keys beside the function's name, so the whole map is the argument.
        let whole = Data::Map(Arc::new(entries.iter().map(|entry| read_entry(entry, notation, depth)).collect()));
        let args = vec![Val::of(whole, node.span(), Origin::node(node.target()), Taint::NONE)];
        return Data::Call(Arc::new(Call { name: entry.name().into(), args, listed: false, crowded: false }));
    }
    Data::Map(Arc::new(entries.iter().map(|entry| read_entry(entry, notation, depth)).collect()))
}

fn read_entry(entry: &Entry<'_>, notation: Notation<'_>, depth: u32) -> (Val, Val) {
    let mut key = read_at(entry.key, notation, depth + 1);
    if let Data::Str(text) = &key.data
        && notation.edition.is_2()
        && let Some(literal) = text.strip_prefix("$$")
    {
        key.data = Data::Str(EcoString::from("$") + literal);
    }
    (key, read_at(entry.value, notation, depth + 1))
}

/// Whether a text can be a function's name, optionally with a namespace.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-.:".contains(c))
}

fn is_call_key(key: Node<'_>) -> bool {
    let text = key.text();
    let name = text.strip_prefix('$').unwrap_or("");
    // A text with any other character is a plain key.
    key.is_scalar() && is_name(name)
}

fn call(name: &str, argument: Node<'_>, crowded: bool, notation: Notation<'_>, depth: u32) -> Data {
    let listed = argument.is_list();
    let args = if listed {
        argument.items().map(|item| read_at(item, notation, depth + 1)).collect()
    } else {
        vec![read_at(argument, notation, depth + 1)]
    };
    Data::Call(Arc::new(Call { name: name.into(), args, listed, crowded }))
}

/// Merges values as `copy` does: maps are merged key by key, everything else is replaced.
pub fn overlay(base: &Val, over: &Val) -> Val {
    let (Data::Map(below), Data::Map(above)) = (&base.data, &over.data) else { return over.clone() };
    let mut out: Vec<(Val, Val)> = Vec::with_capacity(below.len() + above.len());
    for (key, value) in below.iter() {
        match above.iter().find(|(name, _)| name == key) {
            Some((name, own)) => out.push((name.clone(), overlay(value, own))),
            None => out.push((key.clone(), value.clone())),
        }
    }
    for (key, value) in above.iter() {
        if !below.iter().any(|(name, _)| name == key) {
            out.push((key.clone(), value.clone()));
        }
    }
    over.with(Data::Map(Arc::new(out))).tainted_by(base.taint)
}

/// Whether the library that a file is made for reads a plain text as a time.
fn is_timestamp(text: &str, flavor: Flavor) -> bool {
    match flavor {
        Flavor::CoreGo => is_go_timestamp(text),
        _ => purlin_syntax::scalar::is_timestamp(text),
    }
}
