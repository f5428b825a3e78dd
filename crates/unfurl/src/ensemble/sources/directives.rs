//! Merge directives: `+include`, `+?include-local`, `+&`, `+*anchor`, `+/path`, `+..`, `+%`. Applied to values before
//! they are interpreted. This must not know where included files are.

use crate::ensemble::merge::{Merger, STRATEGIES, STRATEGY, cleaned, strategy_of};
use crate::limits::MAX_DEPTH;
use crate::val::{MapKey, Val, ValMap};
use ecow::EcoString;
use purlin_syntax::{Node, Tree};
use purlin_value::Origin;
use std::collections::HashMap;

/// How often a document is expanded while directives refer to results of others.
const MOST_ROUNDS: usize = 8;

/// The path of the service template in an ensemble.
const TEMPLATE: [&str; 2] = ["spec", "service_template"];

/// The possible errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// A missing file: its name, and the reason if known.
    NoFile(String, Option<String>),
    /// A Python file, and why it could not be read.
    Python(String, String),
    /// An undeclared repository.
    NoRepository(String),
    /// A missing anchor or path.
    NoTarget(String),
    /// A value that is not a map, in a map with other keys.
    NotMergeable(String),
    /// A map that forbids merging.
    Forbidden(String),
    /// An unknown value of `+%`.
    NoStrategy(String),
    /// Directives that form a cycle.
    TooDeep,
}

/// The result of loading an included file.
pub enum Loaded {
    /// The content, and the anchors in it.
    Found(Val, Vec<(EcoString, Val)>),
    /// Missing; with the reason, if it is not just a missing file.
    Missing(Option<String>),
    /// A file in Python that could not be read, and why.
    Python(String),
    /// The repository it is in is not known (yet).
    NoRepository(String),
    /// Left out, silently.
    Skipped,
}

/// Reads an included file. It gets the document as far as it is known.
pub type Load<'l> = dyn FnMut(&Val, &Val) -> Loaded + 'l;

/// Applies directives.
pub struct Directives<'d, 'l> {
    load: &'d mut Load<'l>,
    root: Val,
    anchors: HashMap<EcoString, Val>,
    path: Vec<MapKey>,
    /// Problems, with their locations.
    pub problems: Vec<(Problem, Origin)>,
    /// Whether there was any directive.
    pub used: bool,
    /// Service templates that were merged over others, with the lowest one.
    bottoms: HashMap<Origin, Origin>,
    /// Whether the document has keys that may be directives. Most have none, and are left unchanged.
    may_have: bool,
}

/// A key that is a directive.
#[derive(Debug, PartialEq, Eq)]
struct Directive {
    optional: bool,
    include: bool,
    anchor: Option<String>,
    /// The levels up from which the path starts: 1 is the map itself.
    relative: usize,
    pointer: Vec<String>,
}

impl<'d, 'l> Directives<'d, 'l> {
    /// Prepares for a document with its anchors.
    pub fn new(root: &Val, anchors: Vec<(EcoString, Val)>, load: &'d mut Load<'l>) -> Self {
        let mut known: HashMap<EcoString, Val> = anchors.into_iter().collect();
        let may_have = gather(root, &mut known, 0);
        let root = root.clone();
        Directives {
            load,
            root,
            anchors: known,
            path: Vec::new(),
            problems: Vec::new(),
            used: false,
            bottoms: HashMap::new(),
            may_have,
        }
    }

    /// The location of the lowest layer of a service template. Paths in it start there.
    pub fn bottom(&self, template: &Val) -> Origin {
        self.bottoms.get(&template.origin).copied().unwrap_or(template.origin)
    }

    /// The document with its directives applied. The target of one directive may come from another.
    pub fn expand(&mut self) -> Val {
        let written = self.root.clone();
        if !self.may_have {
            return written;
        }
        let mut expanded = self.expand_at(&written, 0);
        for _ in 0..MOST_ROUNDS {
            let open = |problems: &[(Problem, Origin)]| {
                let waits = |problem: &Problem| matches!(problem, Problem::NoTarget(_) | Problem::NoRepository(_));
                problems.iter().filter(|(problem, _)| waits(problem)).count()
            };
            let before = open(&self.problems);
            if before == 0 {
                break;
            }
            self.problems.clear();
            self.root = expanded;
            expanded = self.expand_at(&written, 0);
            if open(&self.problems) >= before {
                break;
            }
        }
        if self.used { cleaned(&expanded, 0) } else { expanded }
    }

    fn expand_at(&mut self, value: &Val, depth: usize) -> Val {
        if depth > MAX_DEPTH {
            self.problems.push((Problem::TooDeep, value.origin));
            return Val::null();
        }
        if let Some(items) = value.as_list() {
            return value.clone().with(Val::list(self.expand_items(items, depth)).data);
        }
        let Some(entries) = value.as_map() else {
            return value.clone();
        };
        if let Some(strategy) = strategy_of(value) {
            self.used = true;
            self.check_strategy(value, strategy);
        }
        let mut own = ValMap::default();
        let mut bases: Vec<Val> = Vec::new();
        for (key, item) in entries {
            match key.as_str().filter(|key| key.starts_with('+')) {
                Some("+&") => {
                    self.used = true;
                    continue;
                }
                Some(text) if text != STRATEGY => {
                    if let Some(directive) = Directive::parse(text) {
                        self.used = true;
                        match self.target(text, &directive, item, depth) {
                            Some(base) if base.as_map().is_some() => bases.push(base),
                            Some(base) if entries.len() == 1 => return base,
                            Some(_) => self.problems.push((Problem::NotMergeable(text.to_owned()), item.origin)),
                            None => {}
                        }
                        continue;
                    }
                }
                _ => {}
            }
            self.path.push(key.clone());
            let expanded = self.expand_at(item, depth + 1);
            self.path.pop();
            own.insert(key.clone(), expanded);
        }
        let layers = || bases.iter().filter_map(Val::as_map).chain([&own]);
        let mut out = layers().next().cloned().unwrap_or_default();
        for layer in layers().skip(1) {
            let mut merger = Merger::default();
            out = merger.merge(&out, layer);
            self.problems.extend(merger.forbidden.into_iter().map(|(key, at)| (Problem::Forbidden(key), at)));
        }
        let merged = value.clone().with(Val::map(out).data);
        self.note_bottom(&bases, &merged);
        merged
    }

    /// Records the start of the service template if the merged values contain one, or are one.
    fn note_bottom(&mut self, bases: &[Val], merged: &Val) {
        let Some((above, below)) = TEMPLATE.split_at_checked(self.path.len()).filter(|_| !bases.is_empty()) else {
            return;
        };
        if !self.path.iter().zip(above).all(|(key, known)| key.as_str() == Some(known)) {
            return;
        }
        let template = |of: &Val| follow(of, below.iter().copied()).map(|template| template.origin);
        let lowest = bases.iter().find_map(template).map(|lowest| self.bottoms.get(&lowest).copied().unwrap_or(lowest));
        if let (Some(lowest), Some(top)) = (lowest, template(merged)) {
            self.bottoms.insert(top, lowest);
        }
    }

    /// An unknown strategy replaces, which is seldom intended. Reported once, since included values are checked for
    /// each directive.
    fn check_strategy(&mut self, value: &Val, strategy: &str) {
        let origin = value.get(STRATEGY).map_or(value.origin, |written| written.origin);
        let problem = Problem::NoStrategy(strategy.to_owned());
        if !STRATEGIES.contains(&strategy) && !self.problems.contains(&(problem.clone(), origin)) {
            self.problems.push((problem, origin));
        }
    }

    /// Items of a list: a directive that includes a list adds its items, one marked for removal is left out.
    fn expand_items(&mut self, items: &[Val], depth: usize) -> Vec<Val> {
        let mut out = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            if strategy_of(item) == Some("whiteout") {
                self.used = true;
                continue;
            }
            self.path.push(MapKey::Int(at as i64));
            let expanded = self.expand_at(item, depth + 1);
            self.path.pop();
            match expanded.as_list() {
                Some(inner) if item.as_map().is_some() => out.extend(inner.iter().cloned()),
                _ => out.push(expanded),
            }
        }
        out
    }

    /// The value that a directive includes.
    fn target(&mut self, text: &str, directive: &Directive, argument: &Val, depth: usize) -> Option<Val> {
        let found = if directive.include {
            self.included(directive, argument)?
        } else {
            match self.find(directive) {
                Some(found) => found,
                None => {
                    if !directive.optional {
                        let name = text.trim_start_matches('+').to_owned();
                        self.problems.push((Problem::NoTarget(name), argument.origin));
                    }
                    return None;
                }
            }
        };
        if argument.as_str() == Some("raw") && !directive.include {
            return Some(found);
        }
        Some(self.expand_at(&found, depth + 1))
    }

    fn included(&mut self, directive: &Directive, argument: &Val) -> Option<Val> {
        let file = argument.as_str().or_else(|| argument.get("file").and_then(Val::as_str)).unwrap_or("").to_owned();
        let problem = match (self.load)(argument, &self.root) {
            Loaded::Found(value, anchors) => {
                gather(&value, &mut self.anchors, 0);
                for (name, value) in anchors {
                    self.anchors.entry(name).or_insert(value);
                }
                return Some(value);
            }
            Loaded::Skipped => return None,
            Loaded::Missing(_) if directive.optional => return None,
            Loaded::Missing(reason) => Problem::NoFile(file, reason),
            Loaded::Python(reason) => Problem::Python(file, reason),
            Loaded::NoRepository(name) => Problem::NoRepository(name),
        };
        self.problems.push((problem, argument.origin));
        None
    }

    fn find(&self, directive: &Directive) -> Option<Val> {
        let start = match (&directive.anchor, directive.relative) {
            (Some(anchor), _) => self.anchors.get(anchor.as_str())?.clone(),
            (None, 0) => self.root.clone(),
            (None, up) => {
                let kept = self.path.len().checked_sub(up - 1)?;
                let at = |here: Val, key: &MapKey| match key {
                    MapKey::Int(index) => here.as_list()?.get(usize::try_from(*index).ok()?).cloned(),
                    key => here.as_map()?.get(key).cloned(),
                };
                self.path.iter().take(kept).try_fold(self.root.clone(), at)?
            }
        };
        follow(&start, directive.pointer.iter().map(String::as_str)).cloned()
    }
}

impl Directive {
    /// `+[?][include…][*anchor][dots][/path…]`; none for a key that only starts like a directive.
    fn parse(key: &str) -> Option<Directive> {
        let mut parts = key.strip_prefix('+')?.split('/');
        let first = parts.next()?;
        let pointer: Vec<String> = parts.map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
        let (optional, rest) = first.strip_prefix('?').map_or((false, first), |rest| (true, rest));
        let include = rest.starts_with("include");
        let named = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let rest = if include { rest.trim_start_matches(named) } else { rest };
        let anchor = rest.strip_prefix('*').filter(|anchor| !anchor.is_empty()).map(str::to_owned);
        let dots = anchor.is_none() && !rest.is_empty() && rest.chars().all(|c| c == '.');
        let relative = if dots { rest.len() } else { 0 };
        let says_something = optional || include || anchor.is_some() || relative > 0;
        if !says_something && (!first.is_empty() || pointer.is_empty()) {
            return None;
        }
        Some(Directive { optional, include, anchor, relative, pointer })
    }
}

/// Whether directives may change a part of a document: they are in it, or in a map around it.
pub fn touch(tree: &Tree, part: Node<'_>) -> bool {
    let is_directive = |key: &str| key == STRATEGY || key == "+&" || Directive::parse(key).is_some();
    let has = |node: Node<'_>| node.entries().any(|entry| is_directive(entry.key.text()));
    let around = tree.root().is_some_and(|root| has(root) || root.get("spec").is_some_and(has));
    let mut pending = vec![part];
    while let Some(node) = pending.pop() {
        if has(node) {
            return true;
        }
        pending.extend(node.items().filter(|item| !item.is_scalar()));
        pending.extend(node.entries().map(|entry| entry.value).filter(|value| !value.is_scalar()));
    }
    around
}

/// The value at a path of keys.
pub fn follow<'v, 'p>(value: &'v Val, mut path: impl Iterator<Item = &'p str>) -> Option<&'v Val> {
    path.try_fold(value, |here, part| here.get(part).or_else(|| here.as_list()?.get(part.parse::<usize>().ok()?)))
}

/// Collects maps that declare an anchor (`+&: name`). Returns whether any key may be a directive; a document that is
/// too deep may hold some.
fn gather(value: &Val, anchors: &mut HashMap<EcoString, Val>, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return true;
    }
    let mut may_have = false;
    for item in value.as_list().unwrap_or(&[]) {
        may_have |= gather(item, anchors, depth + 1);
    }
    for (key, item) in value.as_map().into_iter().flatten() {
        if let Some(text) = key.as_str().filter(|text| text.starts_with('+')) {
            may_have = true;
            if let ("+&", Some(name)) = (text, item.as_str()) {
                anchors.insert(name.into(), value.clone());
            }
        }
        may_have |= gather(item, anchors, depth + 1);
    }
    may_have
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directive's parts, as the parser's own fields.
    type Parsed = (bool, bool, Option<String>, usize, Vec<String>);

    fn parsed(key: &str) -> Option<Parsed> {
        Directive::parse(key).map(|d| (d.optional, d.include, d.anchor, d.relative, d.pointer))
    }

    #[test]
    fn keys() {
        assert_eq!(parsed("+include"), Some((false, true, None, 0, vec![])));
        assert_eq!(parsed("+?include-local"), Some((true, true, None, 0, vec![])));
        assert_eq!(parsed("+*base/a~1b"), Some((false, false, Some("base".into()), 0, vec!["a/b".into()])));
        assert_eq!(parsed("+../x"), Some((false, false, None, 2, vec!["x".into()])));
        assert_eq!(parsed("+/spec/x"), Some((false, false, None, 0, vec!["spec".into(), "x".into()])));
        assert_eq!(parsed("+NAME"), None);
        assert_eq!(parsed("+"), None);
    }
}
