//! What the API has: kinds, their fields and the versions that have them, as `examples/tables.rs` has noted it.
//!
//! The text is read once, when the first object is judged. It must not know objects.

pub mod removed;

use std::collections::HashMap;
use std::sync::OnceLock;

/// A minor version of Kubernetes: 36 is 1.36.
pub type Minor = u32;

/// The first and the last version that has something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first one.
    pub first: Minor,
    /// The last one.
    pub last: Minor,
}

impl Range {
    /// Whether a version has it.
    pub fn holds(self, version: Minor) -> bool {
        (self.first..=self.last).contains(&version)
    }
}

/// A kind of a version of a group.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// `apps/v1`.
    pub version: &'static str,
    /// `Deployment`.
    pub name: &'static str,
    /// The versions of Kubernetes that have it.
    pub range: Range,
    /// Whether its objects are in a namespace.
    pub is_namespaced: bool,
    /// The version from which on another one is to be used.
    pub deprecated: Option<Minor>,
    /// What its objects look like.
    pub of: TypeId,
}

/// A number of a type.
pub type TypeId = usize;

/// A type of mappings.
#[derive(Clone, Debug)]
pub struct Type {
    /// `core.v1.Container`.
    pub name: &'static str,
    /// Its fields, by name.
    pub fields: Vec<Field>,
}

impl Type {
    /// The name without group and version.
    pub fn short(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }

    /// The field of a name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        let at = self.fields.binary_search_by(|field| field.name.cmp(name)).ok()?;
        self.fields.get(at)
    }
}

/// A field of a type.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// Whether objects must have it.
    pub is_required: bool,
    /// The versions that have it.
    pub range: Range,
    /// What it holds.
    pub shape: Shape,
}

/// What a field holds.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A string, perhaps one of an enumeration.
    Text(Option<usize>),
    /// An integer of 32 bits, or else 64.
    Integer {
        /// Whether it has 64 bits.
        is_long: bool,
    },
    /// A number.
    Number,
    /// A boolean.
    Boolean,
    /// Base 64.
    Bytes,
    /// An amount such as `500m` or `2Gi`.
    Quantity,
    /// An integer or a string.
    IntOrString,
    /// A time of RFC 3339.
    Time,
    /// Anything.
    Any,
    /// A list, and the keys that tell its items apart.
    List(Box<Shape>, Vec<&'static str>),
    /// A mapping from any names.
    Map(Box<Shape>),
    /// A mapping of a type.
    Type(TypeId),
}

/// Everything that is known of the API.
#[derive(Debug)]
pub struct Table {
    /// The versions of Kubernetes that it covers.
    pub versions: Range,
    kinds: HashMap<&'static str, Vec<Kind>>,
    types: Vec<Type>,
    enums: Vec<Vec<&'static str>>,
}

const TEXT: &str = include_str!("api.txt");

/// The table, read when it is first asked for.
pub fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table::read(TEXT))
}

impl Table {
    /// The kind of an object.
    pub fn kind(&self, version: &str, name: &str) -> Option<&Kind> {
        self.kinds.get(name)?.iter().find(|kind| kind.version == version)
    }

    /// All kinds that a version of Kubernetes has, in no order.
    pub fn kinds(&self, at: Minor) -> impl Iterator<Item = &Kind> {
        self.kinds.values().flatten().filter(move |kind| kind.range.holds(at))
    }

    /// A type.
    pub fn get(&self, id: TypeId) -> Option<&Type> {
        self.types.get(id)
    }

    /// The values of an enumeration.
    pub fn values(&self, id: usize) -> &[&'static str] {
        self.enums.get(id).map_or(&[], Vec::as_slice)
    }

    fn read(text: &'static str) -> Table {
        let names = text.lines().filter_map(|line| line.strip_prefix("T ")?.split(' ').next());
        let ids: HashMap<&str, TypeId> = names.enumerate().map(|(id, name)| (name, id)).collect();
        let versions = Range { first: 0, last: 0 };
        let mut table =
            Table { versions, kinds: HashMap::new(), types: Vec::with_capacity(ids.len()), enums: Vec::new() };
        for line in text.lines() {
            let Some((mark, rest)) = line.split_once(' ') else { continue };
            match mark {
                "V" => table.versions = versions_of(rest).unwrap_or(versions),
                "K" => table.add_kind(rest, &ids),
                "E" => table.enums.push(rest.split(' ').skip(1).collect()),
                "T" => table.add_type(rest, &ids),
                _ => {}
            }
        }
        table
    }

    fn add_kind(&mut self, line: &'static str, ids: &HashMap<&str, TypeId>) {
        let words: Vec<&'static str> = line.split(' ').collect();
        let [version, name, scope, of, more @ ..] = words.as_slice() else { return };
        let (name, range) = self.ranged(name);
        let deprecated = more.first().and_then(|word| word.strip_prefix('~')?.parse().ok());
        let Some(of) = ids.get(of).copied() else { return };
        let kind = Kind { version, name, range, is_namespaced: *scope == "n", deprecated, of };
        self.kinds.entry(name).or_default().push(kind);
    }

    fn add_type(&mut self, line: &'static str, ids: &HashMap<&str, TypeId>) {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let fields = words.filter_map(|word| {
            let (head, shape) = word.split_once(':')?;
            let (head, range) = self.ranged(head);
            let shape = read_shape(shape, ids);
            Some(Field { name: head.trim_end_matches('!'), is_required: head.ends_with('!'), range, shape })
        });
        let mut fields: Vec<Field> = fields.collect();
        fields.sort_by_key(|field| field.name);
        self.types.push(Type { name, fields });
    }

    /// `name@30-34`: what only some versions have.
    fn ranged(&self, word: &'static str) -> (&'static str, Range) {
        let Some((name, range)) = word.split_once('@') else { return (word, self.versions) };
        let (first, last) = range.split_once('-').unwrap_or((range, ""));
        let first = first.parse().unwrap_or(self.versions.first);
        (name, Range { first, last: last.parse().unwrap_or(self.versions.last) })
    }
}

fn versions_of(text: &str) -> Option<Range> {
    let (first, last) = text.split_once(' ')?;
    Some(Range { first: first.parse().ok()?, last: last.parse().ok()? })
}

fn read_shape(text: &'static str, ids: &HashMap<&str, TypeId>) -> Shape {
    if let Some(rest) = text.strip_prefix('[') {
        let (keys, item) = rest.split_once(']').unwrap_or(("", rest));
        let keys = keys.split(',').filter(|key| !key.is_empty()).collect();
        return Shape::List(Box::new(read_shape(item, ids)), keys);
    }
    if let Some(rest) = text.strip_prefix("{}") {
        return Shape::Map(Box::new(read_shape(rest, ids)));
    }
    if let Some(name) = text.strip_prefix('.') {
        return ids.get(name).map_or(Shape::Any, |id| Shape::Type(*id));
    }
    match text {
        "s" => Shape::Text(None),
        "i" => Shape::Integer { is_long: false },
        "l" => Shape::Integer { is_long: true },
        "n" => Shape::Number,
        "b" => Shape::Boolean,
        "y" => Shape::Bytes,
        "q" => Shape::Quantity,
        "p" => Shape::IntOrString,
        "t" | "u" => Shape::Time,
        text => text.strip_prefix("s=").map_or(Shape::Any, |id| Shape::Text(id.parse().ok())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_the_table_is_read() {
        let table = table();
        assert!(table.versions.last >= 36 && table.types.len() > 700, "{:?}", table.versions);
        let pod = table.kind("v1", "Pod").and_then(|kind| table.get(kind.of)).map(Type::short);
        assert_eq!(pod, Some("Pod"));
        for kind in table.kinds.values().flatten() {
            assert!(table.get(kind.of).is_some_and(|of| of.field("kind").is_some()), "{kind:?}");
        }
        let lines = TEXT.lines().filter(|line| line.starts_with("K ")).count();
        assert_eq!(lines, table.kinds.values().flatten().count());
        let any = |shape: &Shape| matches!(shape, Shape::Any);
        let loose: Vec<&str> = table
            .types
            .iter()
            .filter(|of| of.fields.iter().any(|field| any(&field.shape)))
            .map(|of| of.short())
            .collect();
        assert!(loose.len() < 30, "types with a field of any shape: {loose:?}");
    }
}
