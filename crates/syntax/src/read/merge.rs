//! YAML's merge keys: `<<: *base` brings the keys of another mapping into this one.
//!
//! The only implementation of them. Nothing is copied: the entries of a mapping are a walk over nodes of the tree.
//! The expanded size of aliases is counted when the tree is built, so a walk is never longer than that limit.

use crate::tree::{Entries, Entry, Node};
use std::collections::HashSet;

/// What `<<` means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MergeKeys {
    /// It brings in the keys that are not written here, wherever it is written. The own keys of a base override those
    /// it merges; the first of several bases wins. The rule of YAML 1.1, as PyYAML, js-yaml and go-yaml 3 follow it.
    Apply,
    /// It takes effect where it is written, so that it overrides the keys before it. The rule of go-yaml 2.
    InPlace,
    /// It is a key like any other.
    Keep,
}

/// The entries of a mapping with merge keys carried out.
#[derive(Clone)]
pub enum Merged<'t> {
    /// The mapping merges nothing.
    Written(Entries<'t>),
    /// The written entries and the merged ones.
    All(std::vec::IntoIter<Entry<'t>>),
}

impl<'t> Iterator for Merged<'t> {
    type Item = Entry<'t>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'t>> {
        match self {
            Merged::Written(entries) => entries.next(),
            Merged::All(entries) => entries.next(),
        }
    }
}

impl<'t> Node<'t> {
    /// The entries of a mapping: those written in it in their order, then those that `<<` brings in. With
    /// [`MergeKeys::InPlace`] they come in the order in which they take effect, and a later one overrides.
    pub fn merged_entries(self, keys: MergeKeys) -> Merged<'t> {
        // Most files have no merge key at all, nor do most mappings in the others.
        if keys == MergeKeys::Keep || self.tree().symbol("<<").is_none() || !self.entries().any(is_merge) {
            return Merged::Written(self.entries());
        }
        let mut found = Vec::new();
        match keys {
            MergeKeys::InPlace => in_place(self, &mut found),
            _ => written_first(self, &mut found),
        }
        Merged::All(found.into_iter())
    }

    /// The entry with a key, written in a mapping or brought in by `<<`.
    pub fn merged_entry(self, key: &str) -> Option<Entry<'t>> {
        self.entry(key).or_else(|| self.merged_entries(MergeKeys::Apply).find(|entry| entry.name() == key))
    }

    /// Whether another node of the same tree is inside this one, rather than behind an alias.
    pub fn encloses(self, other: Node<'t>) -> bool {
        let own = self.target();
        (own.index()..own.after()).contains(&other.index())
    }
}

fn is_merge(entry: Entry<'_>) -> bool {
    entry.key.is_merge_key()
}

/// Identity of a key within one tree: its number, or the text of a collection.
#[derive(PartialEq, Eq, Hash)]
enum Key<'t> {
    Symbol(u32),
    Text(&'t str),
}

impl<'t> Key<'t> {
    fn of(key: Node<'t>) -> Self {
        match key.key_symbol() {
            Some(symbol) => Key::Symbol(symbol),
            None => Key::Text(key.tree().source().slice(key.span())),
        }
    }
}

fn written_first<'t>(node: Node<'t>, found: &mut Vec<Entry<'t>>) {
    let (bases, written): (Vec<_>, Vec<_>) = node.entries().partition(|entry| is_merge(*entry));
    found.extend(written);
    let mut keys: HashSet<Key<'t>, foldhash::fast::RandomState> =
        found.iter().map(|entry| Key::of(entry.key)).collect();
    // A base that is repeated adds nothing.
    let mut visited: HashSet<u32, foldhash::fast::RandomState> = HashSet::default();
    let mut open: Vec<Node<'t>> = bases.iter().rev().map(|entry| entry.value.target()).collect();
    while let Some(base) = open.pop() {
        if !visited.insert(base.index()) {
            continue;
        }
        let mut below: Vec<Node<'t>> = base.items().map(Node::target).collect();
        for entry in base.entries() {
            if is_merge(entry) {
                below.push(entry.value.target());
            } else if keys.insert(Key::of(entry.key)) {
                found.push(entry);
            }
        }
        open.extend(below.into_iter().rev());
    }
}

fn in_place<'t>(node: Node<'t>, found: &mut Vec<Entry<'t>>) {
    enum Step<'t> {
        Base(Node<'t>),
        Rest(Entries<'t>),
    }
    let mut open = vec![Step::Rest(node.entries())];
    while let Some(step) = open.pop() {
        match step {
            Step::Base(base) => {
                // The first of several bases wins, so it comes last.
                open.extend(base.items().map(Step::Base));
                open.push(Step::Rest(base.entries()));
            }
            Step::Rest(mut entries) => {
                while let Some(entry) = entries.next() {
                    if !is_merge(entry) {
                        found.push(entry);
                        continue;
                    }
                    open.push(Step::Rest(entries));
                    open.push(Step::Base(entry.value));
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{Flavor, Limits, Sources, yaml};

    fn merged(text: &str, key: &str, keys: MergeKeys) -> Vec<(String, String)> {
        let sources = Sources::new();
        let tree = sources.add(yaml::parse(sources.insert("t.yaml", text), Flavor::Core, &Limits::default()));
        let node = tree.root().and_then(|root| root.get(key)).unwrap();
        let pair = |entry: Entry<'_>| (entry.name().to_owned(), entry.value.text().to_owned());
        node.merged_entries(keys).map(pair).collect()
    }

    fn texts(pairs: &[(String, String)]) -> Vec<String> {
        pairs.iter().map(|(key, value)| format!("{key}={value}")).collect()
    }

    const BASES: &str = "\
c: &c {x: c, y: c, z: c}
b1: &b1 {<<: *c, x: b1}
b2: &b2 {x: b2, y: b2, w: b2}
";

    #[test]
    fn what_a_base_merges_stands_before_the_next_base() {
        let text = format!("{BASES}m: {{v: own, <<: [*b1, *b2]}}\n");
        assert_eq!(texts(&merged(&text, "m", MergeKeys::Apply)), ["v=own", "x=b1", "y=c", "z=c", "w=b2"]);
    }

    #[test]
    fn what_is_written_wins_wherever_it_stands() {
        let text = format!("{BASES}m: {{x: own, <<: *b2, w: own}}\n");
        assert_eq!(texts(&merged(&text, "m", MergeKeys::Apply)), ["x=own", "w=own", "y=b2"]);
        // Merged in place, the base overrides the keys before it: the last one of a name counts.
        let in_place = merged(&text, "m", MergeKeys::InPlace);
        assert_eq!(texts(&in_place), ["x=own", "x=b2", "y=b2", "w=b2", "w=own"]);
    }

    #[test]
    fn in_place_the_first_of_several_bases_comes_last() {
        let text = format!("{BASES}m: {{<<: [*b1, *b2], v: own}}\n");
        let found = merged(&text, "m", MergeKeys::InPlace);
        assert_eq!(texts(&found), ["x=b2", "y=b2", "w=b2", "x=c", "y=c", "z=c", "x=b1", "v=own"]);
    }

    #[test]
    fn a_quoted_key_merges_nothing() {
        let text = format!("{BASES}m: {{'<<': *b2, v: own}}\n");
        assert_eq!(merged(&text, "m", MergeKeys::Apply).len(), 2);
        assert_eq!(merged(&text, "b1", MergeKeys::Keep).len(), 2);
    }

    #[test]
    fn a_long_line_of_bases_needs_no_stack() {
        let mut text = "m0: &m0 {k: 0}\n".to_owned();
        for at in 1..300 {
            text.push_str(&format!("m{at}: &m{at} {{<<: *m{}}}\n", at - 1));
        }
        assert_eq!(texts(&merged(&text, "m299", MergeKeys::Apply)), ["k=0"]);
        assert_eq!(texts(&merged(&text, "m299", MergeKeys::InPlace)), ["k=0"]);
    }
}
