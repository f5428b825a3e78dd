//! One mistake gives one message: removes problems that only follow from another one. It uses the subjects of rules and
//! the texts of the files; it does not know dialects.
//!
//! A problem is never removed in favour of a milder one, so an error stays an error.

use crate::entry::{Around, Entry, entry_at, is_inside};
use purlin_syntax::{About, Diagnostic, Label, Loses, Node, Relation, Severity, Sources, Span, What, suggest};
use purlin_value::{FastMap, FastSet};
use std::collections::hash_map::Entry as Slot;

/// Maximum number of problems examined for consequences; longer reports are not read.
const MOST_CAUSES: usize = 50;
/// Size of an unread text that is searched for names, and maximum number of names kept.
const MOST_TEXT: usize = 64 << 10;
const MOST_NAMES: usize = 10_000;

/// Leaves one problem for each mistake.
pub fn once(found: &mut Vec<Diagnostic>, sources: &Sources) {
    let readers = drop_repeated(found, sources);
    // Names of one project do not concern another, unless both read the broken file.
    let concerns = |at: usize, problem: &Diagnostic| readers.get(at).is_some_and(|all| all.contains(&problem.project));
    let gaps = first(found, |problem| Gap::of(problem, sources));
    let misspelt = first(found, |problem| Misspelt::of(problem, sources));
    let mut wide = first(found, |problem| Wide::of(problem, sources));
    keep_plausible(&mut wide, found);
    let wrong: FastMap<Place, usize> = (0..)
        .zip(found.iter())
        .filter(|(_, problem)| problem.rule.about != About::Value)
        .filter_map(|(at, problem)| Some((place(problem)?, at)))
        .collect();
    let causes = |problem: &Diagnostic| -> Vec<usize> {
        let of_place = place(problem).filter(|_| problem.rule.about == About::Value);
        let same = of_place.and_then(|place| wrong.get(&place)).copied();
        let gaps = gaps.iter().filter(|(at, gap)| concerns(*at, problem) && gap.explains(problem));
        let misspelt = misspelt.iter().filter(|(at, name)| concerns(*at, problem) && name.explains(problem));
        let (gaps, misspelt) = (gaps.map(|(at, _)| *at), misspelt.map(|(at, _)| *at));
        let wide = wide.iter().filter(|(_, cause)| cause.explains(problem)).map(|(at, _)| *at);
        same.into_iter().chain(gaps).chain(misspelt).chain(wide).collect()
    };
    let causes: Vec<Vec<usize>> = found.iter().map(causes).collect();
    let mut is_kept = kept(&causes).into_iter();
    found.retain(|_| is_kept.next().unwrap_or(true));
    gather(found);
}

/// Maximum number of locations shown for one unknown name.
const MOST_PLACES: usize = 10;

/// Several uses of one unknown name are one problem, at the first of them; the others are shown with it.
fn gather(found: &mut Vec<Diagnostic>) {
    let mut first: FastMap<(u32, &'static str, Severity, String), usize> = FastMap::default();
    let mut uses: FastMap<usize, Vec<Span>> = FastMap::default();
    let mut kept: Vec<Diagnostic> = Vec::with_capacity(found.len());
    for problem in std::mem::take(found) {
        let key = unknown_name(&problem).map(|name| (problem.project, problem.rule.name, problem.severity, name));
        let known = key.and_then(|key| match first.entry(key) {
            Slot::Occupied(slot) => Some(*slot.get()),
            Slot::Vacant(slot) => {
                slot.insert(kept.len());
                None
            }
        });
        match known.zip(problem.span) {
            Some((at, span)) => uses.entry(at).or_default().push(span),
            None => kept.push(problem),
        }
    }
    for (at, spans) in uses {
        if let Some(problem) = kept.get_mut(at) {
            show_uses(problem, &spans);
        }
    }
    *found = kept;
}

fn show_uses(problem: &mut Diagnostic, spans: &[Span]) {
    // One place may be reported for several users of it.
    let mut seen: FastSet<(u32, u32, u32)> = problem.span.iter().map(key_of).collect();
    let spans: Vec<&Span> = spans.iter().filter(|span| seen.insert(key_of(span))).collect();
    let more = spans.len().saturating_sub(MOST_PLACES);
    for (at, span) in spans.iter().take(MOST_PLACES).enumerate() {
        let message = match more {
            more if more > 0 && at + 1 == MOST_PLACES => format!("{USED} and in {more} more places"),
            _ => USED.to_owned(),
        };
        problem.labels.push(Label { span: **span, message, relation: Relation::Use });
    }
}

fn key_of(span: &Span) -> (u32, u32, u32) {
    (span.file.0, span.start, span.end)
}

/// Label for further locations of an unknown name.
const USED: &str = "also used here";

/// The name in a message about an unknown name, with its kind. If the message has details beyond the location of its
/// use, all of them count.
fn unknown_name(problem: &Diagnostic) -> Option<String> {
    problem.span?;
    match problem.what() {
        // A value that is not set.
        What::Missing { kind, names, .. } if kind == "value" => return names.first().cloned(),
        _ if problem.rule.about != About::Name => return None,
        What::Unknown { kind, name, of: None } => Some(format!("{} `{name}`", last_word(kind))),
        // An unknown member is the same mistake only with the same suggestion.
        What::Unknown { kind, name, of: Some(_) } => {
            suggestion(problem).map(|meant| format!("no {} `{name}`, not `{meant}`", last_word(kind)))
        }
        _ => None,
    }
    .or_else(|| Some(problem.message.clone()))
}

fn last_word(kind: &str) -> &str {
    kind.split_whitespace().next_back().unwrap_or_default()
}

/// Which problems are kept, by the causes of each: those without one, and the first of those that only explain each
/// other.
fn kept(causes: &[Vec<usize>]) -> Vec<bool> {
    let mut follows: Vec<Vec<usize>> = vec![Vec::new(); causes.len()];
    for (at, all) in causes.iter().enumerate() {
        for cause in all {
            if let Some(list) = follows.get_mut(*cause) {
                list.push(at);
            }
        }
    }
    let (mut is_kept, mut is_known) = (vec![false; causes.len()], vec![false; causes.len()]);
    let roots = causes.iter().enumerate().filter(|(_, all)| all.is_empty()).map(|(at, _)| at);
    for root in roots.chain(0..causes.len()).collect::<Vec<_>>() {
        if is_known.get(root) != Some(&false) {
            continue;
        }
        if let Some(kept) = is_kept.get_mut(root) {
            *kept = true;
        }
        let mut todo = vec![root];
        while let Some(at) = todo.pop() {
            if let Some(known) = is_known.get_mut(at).filter(|known| !**known) {
                *known = true;
                todo.extend(follows.get(at).into_iter().flatten());
            }
        }
    }
    is_kept
}

/// A place and how bad the problem there is.
type Place = (Span, Severity);

fn place(problem: &Diagnostic) -> Option<Place> {
    problem.span.map(|span| (span, problem.severity))
}

/// The first causes of a kind, each with the number of its problem.
fn first<T>(found: &[Diagnostic], of: impl Fn(&Diagnostic) -> Option<T>) -> Vec<(usize, T)> {
    found.iter().enumerate().filter_map(|(at, problem)| Some((at, of(problem)?))).take(MOST_CAUSES).collect()
}

/// A file that several readers took in is reported once. Gives the projects that each problem was found in.
fn drop_repeated(found: &mut Vec<Diagnostic>, sources: &Sources) -> Vec<Vec<u32>> {
    let place = |diagnostic: &Diagnostic| {
        let span = diagnostic.span?;
        Some((sources.get(span.file)?.path().to_owned(), span.start, span.end))
    };
    // For another reader, a problem of some variants may be one of all.
    let whole = |problem: &Diagnostic| {
        let end = problem.message.len().saturating_sub(problem.limited);
        problem.message.get(..end).unwrap_or(&problem.message).to_owned()
    };
    let key = |problem: &Diagnostic| Some((problem.rule.name, place(problem)?, whole(problem)));
    let everywhere: FastSet<_> = found.iter().filter(|problem| problem.limited == 0).filter_map(key).collect();
    let mut seen: FastMap<_, usize> = FastMap::default();
    let mut kept: Vec<Diagnostic> = Vec::with_capacity(found.len());
    let mut readers: Vec<Vec<u32>> = Vec::with_capacity(found.len());
    for mut problem in std::mem::take(found) {
        if problem.limited > 0 && key(&problem).is_some_and(|key| everywhere.contains(&key)) {
            problem.message = whole(&problem);
            problem.limited = 0;
        }
        let Some(place) = place(&problem) else {
            readers.push(vec![problem.project]);
            kept.push(problem);
            continue;
        };
        match seen.entry((problem.rule.name, place, problem.message.clone())) {
            // A warning for one reader may be an error for another.
            Slot::Occupied(slot) => {
                if let Some((known, readers)) = kept.get_mut(*slot.get()).zip(readers.get_mut(*slot.get())) {
                    known.severity = known.severity.max(problem.severity);
                    if !readers.contains(&problem.project) {
                        readers.push(problem.project);
                    }
                }
            }
            Slot::Vacant(slot) => {
                slot.insert(kept.len());
                readers.push(vec![problem.project]);
                kept.push(problem);
            }
        }
    }
    *found = kept;
    readers
}

/// A part of a file that was not read because of a problem. Missing names may be there.
struct Gap {
    /// The place of the problem itself.
    cause: Span,
    severity: Severity,
    loses: Loses,
    /// The unread part.
    unread: Span,
    /// The value that was not looked into at all.
    value: Option<Span>,
    /// The names in it.
    names: FastSet<String>,
    /// The key that has it, and the mapping of that key.
    key: Option<(String, Around)>,
}

impl Gap {
    fn of(problem: &Diagnostic, sources: &Sources) -> Option<Self> {
        let span = problem.span?;
        let entry = || entry_at(span, sources);
        let (unread, value, key) = match problem.rule.loses {
            Loses::Nothing => return None,
            Loses::Rest => (rest(span, sources)?, None, None),
            Loses::Entity => (entry().map_or(span, |entry| entry.around.mapping), None, None),
            Loses::Entry => {
                let Entry { name: key, key: at, value, around } = entry()?;
                let is_heading = HEADINGS.contains(&suggestion(problem).unwrap_or(&key));
                let unread = if is_heading { around.mapping } else { value };
                (unread, Some(value).filter(|_| at == span), Some((key, around)))
            }
        };
        let names = match problem.rule.loses {
            Loses::Rest => words_in(unread, sources),
            _ => declared_in(unread, sources),
        };
        Some(Gap { cause: span, severity: problem.severity, loses: problem.rule.loses, unread, value, names, key })
    }

    fn explains(&self, problem: &Diagnostic) -> bool {
        if problem.severity > self.severity || problem.span == Some(self.cause) {
            return false;
        }
        if self.value.zip(problem.span).is_some_and(|(value, span)| is_inside(span, value)) {
            return true;
        }
        if self.is_at_stop(problem) {
            return true;
        }
        let is_of_file = problem.span.is_some_and(|span| span.file == self.unread.file);
        let is_unread = || problem.what().is_about(|name| self.names.contains(last_part(name)));
        let is_key = || {
            let is_it = |key: &str| problem.what().is_about(|name| last_part(name) == key);
            self.key.as_ref().is_some_and(|(key, _)| is_it(key))
        };
        let is_near = || self.key.as_ref().zip(problem.span).is_some_and(|((_, around), span)| around.is_near(span));
        match problem.rule.about {
            About::Anything => false,
            About::Missing => (self.loses == Loses::Rest && is_of_file) || (is_key() && is_near()),
            About::Value => is_unread() || (is_key() && (is_near() || problem.what().is_of_one())),
            About::Name => is_unread() || is_key(),
        }
    }
}

impl Gap {
    /// Whether a problem concerns the last part before reading stopped, which may be incomplete.
    fn is_at_stop(&self, problem: &Diagnostic) -> bool {
        let reaches =
            |span: Span| span.file == self.unread.file && span.end > self.unread.start && span.start <= self.cause.end;
        let is_of_keys = problem.rule.loses == Loses::Entry || problem.rule.about != About::Anything;
        self.loses == Loses::Rest && is_of_keys && problem.span.is_some_and(reaches)
    }
}

/// Keys without which the whole mapping has no meaning.
const HEADINGS: &[&str] = &["name", "kind", "type", "template"];

/// The text from the line before the place where reading stopped: the mistake may be there.
fn rest(stop: Span, sources: &Sources) -> Option<Span> {
    let source = sources.get(stop.file)?;
    let text = source.text();
    let line = source.line_start(stop.start) as usize;
    let start = text.get(..line.saturating_sub(1))?.rfind('\n').unwrap_or(0);
    Some(Span { file: stop.file, start: u32::try_from(start).ok()?, end: u32::try_from(text.len()).ok()? })
}

/// An unknown key that resembles a known one, which is missing for that reason.
struct Misspelt {
    cause: Span,
    severity: Severity,
    written: String,
    meant: String,
    around: Around,
}

impl Misspelt {
    fn of(problem: &Diagnostic, sources: &Sources) -> Option<Self> {
        let (span, meant) = (problem.span?, suggestion(problem)?.to_owned());
        let entry = entry_at(span, sources)?;
        Some(Misspelt { cause: span, severity: problem.severity, written: entry.name, meant, around: entry.around })
    }

    fn explains(&self, problem: &Diagnostic) -> bool {
        let Some(span) = problem.span.filter(|span| *span != self.cause) else { return false };
        let is_meant = || problem.what().is_about(|name| last_part(name) == self.meant);
        match problem.rule.about {
            _ if problem.severity > self.severity => false,
            About::Missing | About::Value => self.around.is_near(span) && is_meant(),
            // The same mistake, seen from the other side.
            About::Name => suggestion(problem) == Some(&self.written) && is_meant(),
            _ => false,
        }
    }
}

/// A missing part that affects the whole project.
enum Lack {
    /// One name: an entity without a name.
    Name,
    /// Any names: files that declare some are not taken in.
    Names,
    /// Inherited parts of a type.
    Parents,
    /// Candidates for a requirement: a type is not known.
    Types,
    /// A name that is not allowed.
    Refused(String),
}

/// A problem with consequences anywhere in the project.
struct Wide {
    cause: Span,
    project: u32,
    severity: Severity,
    lack: Lack,
}

/// Keys that include files with further names, and that inherit from another type.
const TAKING_IN: &[&str] = &["imports", "import"];
const PARENTS: &[&str] = &["derived_from"];

impl Wide {
    fn of(problem: &Diagnostic, sources: &Sources) -> Option<Self> {
        let (cause, what) = (problem.span?, problem.what());
        let is_of = |name: &str| what.is_about(|part| last_part(part) == name);
        let lack = match problem.rule.about {
            About::Missing if is_of("name") => Lack::Name,
            About::Missing if is_of("type") => Lack::Types,
            About::Name if what.undeclared().is_some_and(|(kind, _)| kind.ends_with(" type")) => Lack::Types,
            About::Anything if let What::NotAllowed { name, .. } = what => Lack::Refused(name.clone()),
            About::Anything if is_name_of_wrong_shape(problem, sources) => Lack::Name,
            About::Anything => {
                let meant =
                    suggestion(problem).filter(|_| entry_at(cause, sources).is_some_and(|at| at.key == cause))?;
                match meant {
                    meant if TAKING_IN.contains(&meant) => Lack::Names,
                    meant if PARENTS.contains(&meant) => Lack::Parents,
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(Wide { cause, project: problem.project, severity: problem.severity, lack })
    }

    fn explains(&self, problem: &Diagnostic) -> bool {
        let is_follower = problem.rule.about == About::Name && problem.project == self.project;
        if !is_follower || problem.severity > self.severity || problem.span == Some(self.cause) {
            return false;
        }
        match &self.lack {
            Lack::Name | Lack::Names => is_undeclared(problem),
            Lack::Parents => suggestion(problem).is_none() && problem.what().is_of_one(),
            Lack::Types => is_unmet(problem),
            Lack::Refused(name) => suggestion(problem).is_some_and(|meant| last_part(meant) == name),
        }
    }
}

/// Whether a name has the wrong type: `name: [web]`.
fn is_name_of_wrong_shape(problem: &Diagnostic, sources: &Sources) -> bool {
    let is_name = |span: Span| entry_at(span, sources).is_some_and(|entry| entry.name == "name" && entry.value == span);
    problem.rule.loses == Loses::Entry
        && matches!(problem.what(), What::Expected { .. })
        && problem.span.is_some_and(is_name)
}

/// Whether a problem reports an unmet requirement.
fn is_unmet(problem: &Diagnostic) -> bool {
    matches!(problem.what(), What::Missing { kind, .. } if kind == "requirement")
}

/// Whether a problem reports an undeclared name that resembles no declared one.
fn is_undeclared(problem: &Diagnostic) -> bool {
    suggestion(problem).is_none() && problem.what().undeclared().is_some()
}

/// Each entity without a name may explain one unknown name: with more unknown names than such entities, some are
/// mistakes of their own, and it is not known which.
fn keep_plausible(wide: &mut Vec<(usize, Wide)>, found: &[Diagnostic]) {
    let mut names: FastMap<u32, FastSet<String>> = FastMap::default();
    for problem in found.iter().filter(|problem| problem.rule.about == About::Name && is_undeclared(problem)) {
        names.entry(problem.project).or_default().extend(unknown_name(problem));
    }
    let mut nameless: FastMap<u32, usize> = FastMap::default();
    for (_, cause) in wide.iter().filter(|(_, cause)| matches!(cause.lack, Lack::Name)) {
        *nameless.entry(cause.project).or_default() += 1;
    }
    wide.retain(|(_, cause)| {
        let unknown = names.get(&cause.project).map_or(0, FastSet::len);
        !matches!(cause.lack, Lack::Name) || nameless.get(&cause.project).is_some_and(|count| unknown <= *count)
    });
}

/// The name that a hint proposes.
pub(crate) fn suggestion(problem: &Diagnostic) -> Option<&str> {
    problem.hints.iter().find_map(|hint| Some(hint.name()?.right.as_str()))
}

/// All words of a text that could not be read.
fn words_in(place: Span, sources: &Sources) -> FastSet<String> {
    let Some(source) = sources.get(place.file) else { return FastSet::default() };
    let (start, end) = (place.start as usize, (place.end as usize).min(place.start as usize + MOST_TEXT));
    let text = String::from_utf8_lossy(source.text().as_bytes().get(start..end).unwrap_or_default());
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The names that a part of a file declares: its keys, and values under `name` or a similar key.
fn declared_in(place: Span, sources: &Sources) -> FastSet<String> {
    let mut names = FastSet::default();
    sources.with_tree(place.file, |tree| {
        let mut todo: Vec<Node<'_>> = tree.roots().collect();
        while let Some(node) = todo.pop().filter(|_| names.len() < MOST_NAMES) {
            let span = node.span();
            if node.is_alias() || span.end <= place.start || place.end <= span.start {
                continue;
            }
            todo.extend(node.items());
            for entry in node.entries() {
                todo.push(entry.value);
                if !is_inside(entry.key.span(), place) {
                    continue;
                }
                names.insert(last_part(entry.name()).to_owned());
                if entry.value.is_scalar() && is_name(entry.name()) {
                    names.insert(last_part(entry.value.text()).to_owned());
                }
            }
        }
    });
    names
}

fn is_name(key: &str) -> bool {
    key == "name" || suggest::nearest(key, ["name"]).is_some()
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use purlin_syntax::what::{undeclared, unknown};
    use purlin_syntax::{FileId, Hint, Message, Rule};

    #[test]
    fn uses_of_one_unknown_name_are_one_problem() {
        const NAME: Rule = Rule::error("unknown-name", "For tests.").about(About::Name);
        let at = |start: u32, message: Message| Diagnostic::at(&NAME, Span::new(FileId(0), start, start + 1), message);
        let mut found = vec![
            at(0, unknown("node template", "a").and(" in `host`")),
            at(5, unknown("node type", "b")),
            at(7, unknown("template", "a").under("`x`: ")),
            at(7, unknown("template", "a").under("`y`: ")),
            at(9, unknown("input", "a")),
        ];
        found.extend((20..40).map(|start| at(start, "`c` has no value".into())));
        found.push(Diagnostic { project: 1, ..at(50, unknown("node type", "b")) });
        found.push(at(60, undeclared("`m`", "key", "p")).hint(Hint::meant("p", "q")));
        found.push(at(61, undeclared("`n`", "key", "p")).hint(Hint::meant("p", "q")));
        found.push(at(62, undeclared("`o`", "key", "p")));
        gather(&mut found);
        let shown: Vec<(u32, usize)> =
            found.iter().map(|problem| (problem.span.map_or(0, |span| span.start), problem.labels.len())).collect();
        assert_eq!(shown, [(0, 1), (5, 0), (9, 0), (20, MOST_PLACES), (50, 0), (60, 1), (62, 0)]);
        let last = found.get(3).and_then(|problem| problem.labels.last()).map(|label| label.message.as_str());
        assert_eq!(last, Some("also used here and in 9 more places"));
    }

    #[test]
    fn what_follows_goes_and_something_is_always_left() {
        assert_eq!(kept(&[]), Vec::<bool>::new());
        assert_eq!(kept(&[vec![], vec![0], vec![1]]), [true, false, false], "a chain");
        assert_eq!(kept(&[vec![1], vec![0]]), [true, false], "two that explain each other");
        assert_eq!(kept(&[vec![1], vec![0, 2], vec![]]), [false, false, true], "the same with a cause");
        assert_eq!(kept(&[vec![], vec![]]), [true, true]);
    }
}
