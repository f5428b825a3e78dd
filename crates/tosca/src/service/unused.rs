//! Inputs, relationship templates and repositories that a service template does not use.
//!
//! Works on the source, not on evaluated values, so that a use counts for any inputs. A possible use counts as one: a
//! finding requires that every use is excluded.

use std::collections::HashSet;

use purlin_model::Declared;
use purlin_syntax::Node;
use purlin_value::EcoString;
use purlin_value::names::written;

use crate::load::Files;

/// The function that reads an input, in both notations.
const GET_INPUT: &[&str] = &["get_input", "$get_input"];

/// Keys of the root that hold the service.
const SERVICE: &[&str] = &["topology_template", "service_template"];

/// With more names to look for, the words of a text are compared with all of them at once.
const FEW: usize = 16;

/// Names that are used somewhere.
#[derive(Default)]
pub struct Uses {
    /// The names that are looked for; others are not kept.
    wanted: HashSet<EcoString>,
    /// Inputs that a function reads.
    inputs: HashSet<EcoString>,
    /// Every scalar that is a value, not a key.
    scalars: HashSet<EcoString>,
    /// Words of texts that may contain names.
    words: HashSet<EcoString>,
    /// Whether the name of an input is computed, so that any may be read.
    reads_any: bool,
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

/// Whether what follows a word makes it a key.
fn is_key(behind: &str) -> bool {
    behind.trim_start_matches(['"', '\'']).strip_prefix(':').is_some_and(|next| !next.starts_with(':'))
}

/// Whether a name is a word of a text, other than a key.
fn is_word_in(name: &str, text: &str) -> bool {
    let is_whole = |at: usize| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let behind = text.get(at + name.len()..).unwrap_or_default();
        !before.is_some_and(is_part_of_name) && !behind.starts_with(is_part_of_name) && !is_key(behind)
    };
    !name.is_empty() && name.chars().all(is_part_of_name) && text.match_indices(name).any(|(at, _)| is_whole(at))
}

impl Uses {
    /// No uses yet of the names that these roots declare.
    pub fn of_declared<'t>(roots: impl Iterator<Item = Node<'t>>) -> Self {
        let wanted = roots.flat_map(|root| {
            let services = SERVICE.iter().filter_map(move |key| root.get(key));
            let of_services = ["inputs", "relationship_templates"];
            let inner =
                services.flat_map(move |service| of_services.into_iter().flat_map(move |key| entries(service, key)));
            inner.chain(entries(root, "repositories"))
        });
        Uses { wanted: wanted.map(|name| name.eco_text()).collect(), ..Uses::default() }
    }

    /// Whether there is nothing to look for.
    pub fn is_idle(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Adds the uses in a tree. Aliases are skipped: their anchors are in the same tree.
    pub fn add(&mut self, root: Node<'_>) {
        let mut left = vec![(root, false)];
        while let Some((node, in_substitution)) = left.pop() {
            if node.is_alias() {
                continue;
            }
            if node.is_scalar() {
                self.scalar(node, in_substitution);
            }
            for entry in node.entries() {
                let key = entry.key.text();
                if GET_INPUT.contains(&key) {
                    self.read(entry.value);
                }
                left.push((entry.value, in_substitution || key == "substitution_mappings"));
            }
            left.extend(node.items().map(|item| (item, in_substitution)));
        }
    }

    fn scalar(&mut self, node: Node<'_>, in_substitution: bool) {
        let text = node.text();
        if self.wanted.contains(text) {
            self.scalars.insert(node.eco_text());
            if in_substitution {
                self.inputs.insert(node.eco_text());
            }
        }
        if text.contains("input") || text.contains("{{") {
            self.add_text(text);
        }
    }

    fn read(&mut self, given: Node<'_>) {
        let name = if given.is_list() { given.items().next() } else { Some(given) };
        match name.filter(|name| name.is_scalar() && !name.is_alias()) {
            Some(name) => drop(self.inputs.insert(name.eco_text())),
            None => self.reads_any = true,
        }
    }

    /// Adds the words of a text, except keys.
    pub fn add_text(&mut self, text: &str) {
        if self.wanted.len() <= FEW {
            let missing = self.wanted.iter().filter(|name| !self.words.contains(*name));
            let found: Vec<EcoString> = missing.filter(|name| is_word_in(name, text)).cloned().collect();
            self.words.extend(found);
            return;
        }
        let mut rest = text;
        while let Some(start) = rest.find(is_part_of_name) {
            let from = rest.get(start..).unwrap_or_default();
            let end = from.find(|c| !is_part_of_name(c)).unwrap_or(from.len());
            let (word, behind) = from.split_at(end);
            if self.wanted.contains(word) && !is_key(behind) {
                self.words.insert(word.into());
            }
            rest = behind;
        }
    }

    fn has_input(&self, name: &str) -> bool {
        self.reads_any || self.inputs.contains(name) || self.words.contains(name)
    }

    fn has(&self, name: &str) -> bool {
        self.scalars.contains(name) || self.words.contains(name)
    }
}

/// The declarations in the root file of a service, with whether they are used.
pub(crate) fn declared(files: &Files) -> Vec<Declared> {
    let Some(root) = files.list.first().and_then(|file| file.tree.root()) else { return Vec::new() };
    if files.any_unread {
        return Vec::new();
    }
    let mut uses = Uses::of_declared(std::iter::once(root));
    if uses.is_idle() {
        return Vec::new();
    }
    files.list.iter().filter_map(|file| file.tree.root()).for_each(|root| uses.add(root));
    let mut found = declared_in(root, &uses);
    found.extend(entries(root, "repositories").map(|name| of("repository", name, uses.has(name.text()))));
    found
}

/// The inputs and relationship templates of a service, wherever its root is.
pub fn declared_in(root: Node<'_>, uses: &Uses) -> Vec<Declared> {
    let services = SERVICE.iter().filter_map(|key| root.get(key));
    let mut found = Vec::new();
    for service in services {
        found.extend(entries(service, "inputs").map(|name| of("input", name, uses.has_input(name.text()))));
        let templates = entries(service, "relationship_templates");
        found.extend(templates.map(|name| of("relationship template", name, uses.has(name.text()))));
    }
    found
}

fn entries<'t>(node: Node<'t>, key: &str) -> impl Iterator<Item = Node<'t>> {
    let all = node.get(key).filter(|all| !all.is_alias());
    let keys = all.into_iter().flat_map(Node::entries).map(|entry| entry.key);
    // A tree merged by a host from several files has no locations of its own; `+` begins its directives.
    keys.filter(|key| !key.is_merge_key() && is_written(*key) && !key.text().starts_with('+'))
}

/// Whether a key is in the text where its place is.
fn is_written(key: Node<'_>) -> bool {
    let span = key.span();
    let text = key.tree().source().text().get(span.start as usize..span.end as usize);
    text.is_some_and(|text| !key.text().is_empty() && text.contains(key.text()))
}

fn of(what: &'static str, name: Node<'_>, is_used: bool) -> Declared {
    Declared { what, name: name.eco_text(), span: written(name), is_used }
}
