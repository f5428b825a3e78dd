//! Holes: pending values, and the operations that templates may perform on them.
//!
//! A hole is its text. A pending value appears in a render as `(pending:WHAT)`, which every function that copies text
//! keeps and which passes through YAML and JSON as a scalar, in flow collections too; the heap records which texts
//! are holes. A name that cannot be written verbatim has a digest after it, so that different values have different
//! texts, and the same one has the same text in every part of a render. Functions that would read the value itself
//! are not run: their result is a hole too. A condition or a range on a hole leaves a mark, and the document with the
//! mark is pending as a whole. Knows nothing of charts.

use std::collections::HashSet;
use std::sync::Arc;

use purlin_value::{EcoString, Pending};

use crate::ast::{Command, Expr, File, Pipe, Stmt};
use crate::func::{Func, Looks};
use crate::value::{Data, Heap, Str, Table, Val};

const START: &[u8] = b"(pending:";

/// Written after a hole that decides the content of its document.
const DECIDES: &[u8] = b" decides what is here";

/// Maximum length of a hole's name.
const MAX_WHAT: usize = 200;

/// The name of a broken value: no name of a pending value contains this character.
const BROKEN: &str = "~";

/// The value behind a hole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hole {
    /// A value that is not known yet.
    Pending(Pending),
    /// An invalid value, already reported. Values made with it are invalid too, whatever else they wait for.
    Broken,
}

impl Hole {
    /// The value outside of templates.
    pub fn data(self) -> purlin_value::Data {
        match self {
            Hole::Pending(pending) => purlin_value::Data::Pending(Arc::new(pending)),
            Hole::Broken => purlin_value::Data::Poison,
        }
    }

    /// The text between the parentheses.
    fn name(&self) -> String {
        match self {
            Hole::Pending(pending) => name(&pending.what),
            Hole::Broken => BROKEN.to_owned(),
        }
    }

    /// Whether two holes have the same name.
    fn is_like(&self, other: &Hole) -> bool {
        match (self, other) {
            (Hole::Pending(one), Hole::Pending(other)) => one.what == other.what,
            (one, other) => one == other,
        }
    }

    /// The hole for a field of it.
    fn field(&self, name: &str) -> Hole {
        match self {
            Hole::Pending(known) => {
                let what = format!("{}.{name}", known.what).into();
                Hole::Pending(Pending { tasks: known.tasks.clone(), what })
            }
            Hole::Broken => Hole::Broken,
        }
    }
}

/// The holes of a render.
#[derive(Clone, Debug, Default)]
pub struct Holes {
    known: Table<Str, Arc<Hole>>,
}

impl Holes {
    /// Whether everything is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The text of a hole. Values of one name with different tasks share a text and wait for the tasks of all.
    pub fn add(&mut self, hole: &Hole) -> Str {
        let name = hole.name();
        let mut text = Str::from(format!("(pending:{name})"));
        let mut number = 1;
        while self.known.get(text.bytes()).is_some_and(|known| !known.is_like(hole)) {
            number += 1;
            text = Str::from(format!("(pending:{name}-{number})"));
        }
        self.know(text.clone(), hole);
        text
    }

    /// Adds the holes of another part of the same render.
    pub fn extend(&mut self, other: Holes) {
        if self.is_empty() {
            self.known = other.known;
            return;
        }
        for (text, hole) in other.known {
            self.know(text, &hole);
        }
    }

    fn know(&mut self, text: Str, hole: &Hole) {
        let add_to = |known: &mut Arc<Hole>| {
            if known.as_ref() != hole {
                merge(Arc::make_mut(known), hole);
            }
        };
        self.known.entry(text).and_modify(add_to).or_insert_with(|| Arc::new(hole.clone()));
    }

    /// The value of a text that is exactly a hole.
    pub fn exact(&self, text: &[u8]) -> Option<&Arc<Hole>> {
        if self.is_empty() { None } else { self.known.get(text.trim_ascii()) }
    }

    /// All values that the holes in a text wait for; `None` if there are no holes.
    pub fn within(&self, text: &[u8]) -> Option<Hole> {
        let mut all = None;
        self.collect(text, &mut all);
        all
    }

    fn collect(&self, text: &[u8], all: &mut Option<Hole>) {
        self.each(text, |hole, _| join(all, hole));
    }

    /// The pending values that decide the content of a text, if any.
    pub fn deciding(&self, text: &[u8]) -> Option<Hole> {
        let mut all = None;
        self.each(text, |hole, behind| {
            if behind.starts_with(DECIDES) {
                join(&mut all, hole);
            }
        });
        all
    }

    fn each(&self, text: &[u8], mut found: impl FnMut(&Hole, &[u8])) {
        if self.is_empty() {
            return;
        }
        for start in memchr::memmem::find_iter(text, START) {
            let rest = text.get(start..).unwrap_or_default();
            let inside = rest.get(START.len()..).unwrap_or_default();
            // Holes contain no parentheses. The search ends at the next start, so that no text is searched twice.
            let Some(len) = memchr::memchr2(b'(', b')', inside) else { return };
            let (hole, behind) = rest.split_at_checked(START.len() + len + 1).unwrap_or((rest, b""));
            if let Some(hole) = self.known.get(hole) {
                found(hole, behind);
            }
        }
    }
}

/// The name of a pending value, in characters that have no meaning in YAML at any position.
fn name(what: &str) -> String {
    let is_plain = |ch: char| ch.is_alphanumeric() || "._-/".contains(ch);
    let plain: String = what.chars().take(MAX_WHAT).map(|ch| if is_plain(ch) { ch } else { '_' }).collect();
    if plain == what { plain } else { format!("{plain}-{:08x}", digest(what.as_bytes())) }
}

/// A short digest of a text (FNV-1a), the same on every machine and in every run.
fn digest(text: &[u8]) -> u32 {
    text.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Adds the dependencies of one value to those of others.
fn join(all: &mut Option<Hole>, more: &Hole) {
    match all {
        Some(known) => merge(known, more),
        None => *all = Some(more.clone()),
    }
}

fn merge(known: &mut Hole, more: &Hole) {
    match (&mut *known, more) {
        (Hole::Pending(known), Hole::Pending(more)) => wait_for_both(known, more),
        _ => *known = Hole::Broken,
    }
}

fn wait_for_both(known: &mut Pending, more: &Pending) {
    let is_new = |task: &&EcoString| !known.tasks.contains(task);
    let tasks: Vec<EcoString> = more.tasks.iter().filter(is_new).cloned().collect();
    known.tasks.extend(tasks);
    if known.what != more.what && !known.what.split(", ").any(|what| what == more.what) {
        known.what = format!("{}, {}", known.what, more.what).into();
    }
}

impl Heap {
    /// The template value for a pending one.
    pub fn pending(&mut self, pending: &Pending) -> Val {
        self.hole(&Hole::Pending(pending.clone()))
    }

    /// The template value for one that is pending or broken.
    pub fn hole(&mut self, hole: &Hole) -> Val {
        Val::new(Data::Str(self.holes.add(hole)))
    }

    /// Whether the truth of a value is still unknown.
    pub fn is_undecided(&self, value: &Val) -> bool {
        value.as_str().is_some_and(|text| self.holes.exact(text.bytes()).is_some())
    }

    /// A field of a pending value.
    pub(crate) fn pending_field(&mut self, value: &Val, name: &str) -> Option<Val> {
        let known = self.holes.exact(value.as_str()?.bytes())?;
        let field = known.field(name);
        Some(self.hole(&field).at(value.origin).taint(value.is_tainted()))
    }

    /// The result of a function that cannot run yet; `None` if it can.
    pub(crate) fn pending_result(&mut self, func: &Func, args: &[Val]) -> Option<Val> {
        let mut all = None;
        match func.looks {
            Looks::Nowhere if func.name.starts_with("from") => {
                // Content that a hole left out of the text cannot be read from it.
                let text = args.first().and_then(Val::as_str)?;
                all = self.holes.deciding(text.bytes());
            }
            Looks::Nowhere => {}
            Looks::At(from, to) => {
                let seen = args.iter().take(to).skip(from).filter_map(Val::as_str);
                seen.for_each(|text| self.holes.collect(text.bytes(), &mut all));
            }
            Looks::Everywhere => {
                let mut walk = Walk { heap: self, lists: HashSet::new(), maps: HashSet::new(), all: None };
                args.iter().for_each(|value| walk.value(value));
                all = walk.all;
            }
        }
        Some(self.hole(&all?))
    }
}

/// Searches values for holes, each collection once.
struct Walk<'h> {
    heap: &'h Heap,
    lists: HashSet<u32>,
    maps: HashSet<u32>,
    all: Option<Hole>,
}

impl Walk<'_> {
    fn value(&mut self, first: &Val) {
        let mut stack = vec![first];
        while let Some(value) = stack.pop() {
            match &value.data {
                Data::Str(text) => self.heap.holes.collect(text.bytes(), &mut self.all),
                Data::List(list) if self.lists.insert(list.index()) => stack.extend(self.heap.items(*list)),
                Data::Map(map) if self.maps.insert(map.index()) => {
                    stack.extend(self.heap.get_map(*map).entries.values());
                }
                _ => {}
            }
        }
    }
}

/// The mark for content that a hole decides.
pub(crate) fn mark(hole: &Str) -> Vec<u8> {
    [b"# ".as_slice(), hole.bytes(), DECIDES].concat()
}

/// Effects of skipped statements beyond printing.
#[derive(Default)]
pub(crate) struct Effects {
    /// Slots of the variables they assign.
    pub assigned: Vec<u32>,
    /// Whether they modify collections.
    pub changes: bool,
    /// Templates they call by name.
    pub called: Vec<Str>,
    /// Whether they print anything but white space.
    pub prints: bool,
}

impl Effects {
    /// Collects the effects of statements of a file, including nested ones; nesting is bounded by the parser.
    pub fn of(&mut self, file: &File, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Action(pipe) => {
                    self.prints |= pipe.decl.is_empty();
                    self.pipe(pipe);
                }
                Stmt::If(branch) | Stmt::With(branch) | Stmt::Range(branch) => {
                    self.pipe(&branch.pipe);
                    self.of(file, &branch.body);
                    self.of(file, branch.otherwise.as_deref().unwrap_or_default());
                }
                Stmt::Template(invoke) => {
                    self.prints = true;
                    self.called.push(invoke.name.clone());
                    invoke.pipe.iter().for_each(|pipe| self.pipe(pipe));
                }
                Stmt::Text(text) => {
                    let bytes = file.text.bytes().get(text.pos as usize..text.end as usize).unwrap_or_default();
                    self.prints |= !bytes.trim_ascii().is_empty();
                }
                Stmt::Break(_) | Stmt::Continue(_) => {}
            }
        }
    }

    fn pipe(&mut self, pipe: &Pipe) {
        if pipe.assigns {
            self.assigned.extend(pipe.decl.iter().map(|variable| variable.slot));
        }
        pipe.cmds.iter().for_each(|command| self.command(command));
    }

    fn command(&mut self, command: &Command) {
        if let [Expr::Func(_, func), rest @ ..] = command.args.as_slice() {
            self.changes |= func.changes;
            if let ("include", Some(Expr::Str(name))) = (func.name, rest.first()) {
                self.called.push(name.text.clone());
            }
        }
        for arg in &command.args {
            if let Expr::Pipe(pipe) = arg {
                self.pipe(pipe);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says what it expects")]
mod tests {
    use super::*;

    fn pending(what: &str) -> Hole {
        Hole::Pending(Pending { tasks: vec![format!("deploy.{what}").into()], what: what.into() })
    }

    /// The name of a hole, and the number of its tasks.
    fn waits(hole: &Hole) -> Option<(usize, EcoString)> {
        match hole {
            Hole::Pending(pending) => Some((pending.tasks.len(), pending.what.clone())),
            Hole::Broken => None,
        }
    }

    #[test]
    fn what_is_broken_stays_so_and_no_name_can_be_taken_for_it() {
        let mut holes = Holes::default();
        let texts: Vec<Str> =
            ["~", "", "a value that is broken"].iter().map(|what| holes.add(&pending(what))).collect();
        let broken = holes.add(&Hole::Broken);
        assert!(texts.iter().all(|text| text.bytes() != broken.bytes()));
        assert!(texts.iter().all(|text| holes.exact(text.bytes()).is_some_and(|hole| waits(hole).is_some())));
        let both = [texts[0].bytes(), broken.bytes()].concat();
        assert_eq!(holes.within(&both), Some(Hole::Broken));
        let mut heap = Heap::default();
        let value = heap.hole(&Hole::Broken);
        let field = heap.pending_field(&value, "x").unwrap();
        assert_eq!(field.as_str().map(Str::bytes), Some(broken.bytes()));
    }

    #[test]
    fn holes_are_found_in_text() {
        let mut holes = Holes::default();
        let (a, b) = (holes.add(&pending("a")), holes.add(&pending("b[\"c d\"]")));
        assert_eq!(b.text(), "(pending:b__c_d__-29b6dd68)");
        assert!(holes.exact(a.bytes()).is_some() && holes.exact(b"(pending:x)").is_none());
        let text = format!("http://{}:{}/ (pending:x) {}", a.text(), b.text(), a.text());
        let all = holes.within(text.as_bytes());
        assert_eq!(all.as_ref().and_then(waits), Some((2, "a, b[\"c d\"]".into())));
        assert_eq!(holes.within(b"(pending:"), None);
        assert_eq!(holes.deciding(text.as_bytes()), None);
        assert_eq!(holes.deciding(&mark(&a)).as_ref().and_then(waits), Some((1, "a".into())));
    }

    #[test]
    fn different_values_have_different_texts() {
        let mut holes = Holes::default();
        let long = "a".repeat(MAX_WHAT);
        let whats = ["x y", "x_y", "x[y", "x,y", &long, &format!("{long}b"), &format!("{long}c"), "x_y-caca3794"];
        let texts: Vec<Str> = whats.iter().map(|what| holes.add(&pending(what))).collect();
        for (what, text) in whats.iter().zip(&texts) {
            assert!(!text.text().contains([',', '[', ']', '{', '}', '#', ' ']), "{}", text.text());
            let known = holes.exact(text.bytes()).and_then(|known| waits(known));
            assert_eq!(known, Some((1, (*what).into())));
        }
        // Another part of the render, which found them in reverse order, has the same texts.
        let mut other = Holes::default();
        let again: Vec<Str> = whats.iter().take(7).rev().map(|what| other.add(&pending(what))).collect();
        assert!(again.iter().rev().zip(&texts).all(|(again, text)| again.bytes() == text.bytes()));
        other.extend(holes);
        for (what, text) in whats.iter().zip(&texts).take(7) {
            assert_eq!(
                other.exact(text.bytes()).and_then(|known| waits(known)).map(|(_, what)| what),
                Some((*what).into())
            );
        }
    }

    #[test]
    fn many_starts_are_passed_over_once() {
        let mut holes = Holes::default();
        let hole = holes.add(&pending("a"));
        // Searching all the following text for the end of each would take minutes.
        let text = [START.repeat(500_000).as_slice(), hole.bytes()].concat();
        assert_eq!(holes.within(&text).as_ref().and_then(waits), Some((1, "a".into())));
        assert_eq!(holes.within(&START.repeat(500_000)), None);
    }

    #[test]
    fn no_task_is_lost() {
        let of = |task: &str| Hole::Pending(Pending { tasks: vec![task.into()], what: "a, b".into() });
        let mut holes = Holes::default();
        let text = holes.add(&of("one"));
        assert_eq!(holes.add(&of("two")).bytes(), text.bytes());
        let mut other = Holes::default();
        other.add(&of("three"));
        holes.extend(other);
        let tasks = vec!["one".into(), "two".into(), "three".into()];
        let all = Hole::Pending(Pending { tasks, what: "a, b".into() });
        assert_eq!(holes.exact(text.bytes()).map(AsRef::as_ref), Some(&all));
    }
}
