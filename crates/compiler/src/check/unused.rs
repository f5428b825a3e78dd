//! Parts of a project unused by all variants: values that are always overridden, branches that are never taken, unused
//! variables, templates and files.
//!
//! Reads the table of origins that all variants share. It must not know dialects: they list their declarations
//! themselves.

use crate::everywhere::Side;
use crate::inputs::dependencies;
use crate::rules;
use crate::survey::{Claim, first_line};
use purlin_model::detect::judge;
use purlin_model::glance::is_data;
use purlin_model::{Declared, Glance, Variant};
use purlin_syntax::{Diagnostic, Head, Source, Span};
use purlin_value::world::FileKind;
use purlin_value::{FastSet, Origin, OriginKind, OriginSet, Session, Value, path};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Everything that was used by some variant.
pub(crate) struct Usage<'a> {
    session: &'a Session,
    claim: &'a Claim,
    sides: &'a [(&'a Variant, &'a Side)],
    /// Origins that were used as inputs.
    used: OriginSet,
    /// Their locations.
    spans: Spans,
    /// The expressions among them, each a part of the text it is written in.
    expressions: Spans,
}

/// The rule by which a values file or flag overrides an earlier one.
const GIVEN_LATER: &str = "a later values file or flag";

/// Whether a text refers to a variable, or to one that it is a part of.
fn mentions(text: &str, name: &str) -> bool {
    let ends = name.char_indices().filter(|(_, c)| *c == '.').map(|(at, _)| at).chain([name.len()]);
    let mut parts = ends.filter_map(|end| name.get(..end));
    parts.any(|part| {
        ["var.", "variables."].iter().any(|start| {
            let reference = format!("{start}{part}");
            let is_whole = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || "-_".contains(c));
            text.match_indices(&reference).any(|(at, _)| text.get(at + reference.len()..).is_none_or(is_whole))
        })
    })
}

/// A variable, with its origin in one variant.
struct Variable {
    name: String,
    /// Its origin, without the choice it is the result of.
    origin: Origin,
    span: Span,
}

/// A value of a variable that another one overrides.
struct Lost<'v> {
    name: String,
    origin: Origin,
    /// The variants in which it is overridden, and the locations of the overriding values.
    by: Vec<(&'v str, Span)>,
}

/// Results of a condition: the origins of each.
#[derive(Default)]
struct Outcomes {
    is_true: Vec<Origin>,
    is_false: Vec<Origin>,
    /// Whether its operand was ever missing.
    is_open: bool,
}

impl<'a> Usage<'a> {
    pub(crate) fn of(session: &'a Session, claim: &'a Claim, sides: &'a [(&'a Variant, &'a Side)]) -> Self {
        let mut roots = Vec::new();
        session.origins.each(|_, kind| {
            if let OriginKind::Derived { pieces, .. } = kind {
                roots.extend(pieces.iter().map(|piece| piece.origin).filter(|origin| origin.is_known()));
            }
        });
        let mut used = OriginSet::default();
        // Variants evaluate the same expressions.
        let (mut spans, mut expressions) = (Vec::new(), FastSet::default());
        while let Some(origin) = roots.pop() {
            if !used.insert(origin) {
                continue;
            }
            session.origins.look(origin, &session.sources, |kind| match kind {
                OriginKind::File(span) => spans.push(*span),
                // Its inputs are among the roots already.
                OriginKind::Derived { span, .. } => expressions.extend(*span),
                other => roots.extend(other.inputs()),
            });
        }
        let (spans, expressions) = (Spans::new(spans), Spans::new(expressions.into_iter().collect()));
        Usage { session, claim, sides, used, spans, expressions }
    }

    pub(crate) fn findings(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        // Only the composing dialect has variables and conditions of its own; those of charts are an offer to others.
        if self.claim.dialect().name == "garden" {
            self.variables(&mut found);
            // In a single environment every condition has one answer.
            if self.sides.len() > 1 {
                self.branches(&mut found);
            }
        }
        if self.claim.dialect().name == "garden" {
            self.given(&mut found);
        }
        self.declared(&mut found);
        found
    }

    /// The variables of a project and of its nodes in one variant.
    fn variables_of(side: &Side) -> Vec<(String, Value)> {
        let all = side.variables.iter();
        all.flat_map(|whole| whole.leaves().map(|(path, leaf)| (path, leaf.clone())).collect::<Vec<_>>()).collect()
    }

    /// The ultimate origin of a value, and the origins that it overrode.
    fn winner(&self, value: &Value) -> (Origin, Vec<Origin>) {
        let mut origin = value.origin;
        let mut lost = Vec::new();
        loop {
            let next = self.session.origins.look(origin, &self.session.sources, |kind| match kind {
                OriginKind::Chosen { winner, overrode, .. } => {
                    lost.extend(overrode);
                    Some(*winner)
                }
                OriginKind::Selected { taken, .. } => Some(*taken),
                _ => None,
            });
            let Some(next) = next else { return (origin, lost) };
            origin = next;
        }
    }

    fn span(&self, origin: Origin) -> Option<Span> {
        self.session.origins.span(origin, &self.session.sources)
    }

    fn is_used(&self, origin: Origin, span: Span) -> bool {
        self.used.contains(origin) || self.spans.hold(span) || self.expressions.lie_in(span)
    }

    /// Variables that are overridden wherever they apply, and unused ones.
    fn variables(&self, found: &mut Vec<Diagnostic>) {
        let mut winners: BTreeMap<Span3, Variable> = BTreeMap::new();
        let mut used: HashSet<Span3> = HashSet::new();
        let mut lost: BTreeMap<Span3, Lost<'_>> = BTreeMap::new();
        for (variant, side) in self.sides {
            for (name, value) in Self::variables_of(side) {
                let (origin, overrode) = self.winner(&value);
                let Some(span) = self.span(origin) else { continue };
                if self.is_used(origin, span) {
                    used.insert(span3(span));
                }
                winners.entry(span3(span)).or_insert_with(|| Variable { name: name.clone(), origin, span });
                for loser in overrode {
                    let Some(place) = self.span(loser) else { continue };
                    let entry = lost.entry(span3(place)).or_insert_with(|| Lost {
                        name: name.clone(),
                        origin: loser,
                        by: Vec::new(),
                    });
                    entry.by.push((variant.name.as_str(), span));
                }
            }
        }
        let won = Spans::new(winners.keys().map(|place| of_span3(*place)).collect());
        for (place, Lost { name, origin, by }) in lost {
            let span = of_span3(place);
            if won.lie_in(span) || self.is_used(origin, span) {
                continue;
            }
            found.push(overridden(&name, span, &by));
        }
        let undecided = OnceCell::new();
        for (place, Variable { name, origin, span }) in winners {
            if used.contains(&place) || self.is_used(origin, span) {
                continue;
            }
            // On another machine, or with another command, the other branch may be taken.
            if undecided.get_or_init(|| self.undecided()).iter().any(|source| mentions(source.text(), &name)) {
                continue;
            }
            let message = format!("no environment uses the variable `{name}`");
            let diagnostic = Diagnostic::at(&rules::UNUSED_VARIABLE, span, message);
            found.push(diagnostic.hint("remove it, or use it as `${var.…}`"));
        }
    }

    /// The files with a condition that something outside the project decides.
    fn undecided(&self) -> Vec<Arc<Source>> {
        let mut conditions = Vec::new();
        self.session.origins.each(|origin, kind| {
            if let OriginKind::Derived { step, span: Some(span), .. } = kind
                && matches!(step.as_str(), "is true" | "is false" | "is missing")
            {
                conditions.push((origin, *span));
            }
        });
        let mut known: HashSet<u32> = HashSet::new();
        let mut found = Vec::new();
        for (origin, span) in conditions {
            if !known.contains(&span.file.0) && self.depends_on_surroundings(origin) {
                known.insert(span.file.0);
                found.extend(self.session.sources.get(span.file));
            }
        }
        found
    }

    /// Values in files for the project's contents that later ones always override.
    fn given(&self, found: &mut Vec<Diagnostic>) {
        let mut lost: BTreeMap<Span3, (Origin, Option<Span>)> = BTreeMap::new();
        let mut won: HashSet<Span3> = HashSet::new();
        self.session.origins.each(|_, kind| {
            let OriginKind::Chosen { winner, rule, overrode } = kind else { return };
            let by = self.session.origins.span(*winner, &self.session.sources);
            won.extend(by.map(span3));
            if *rule == GIVEN_LATER {
                let places = overrode.iter().filter_map(|origin| Some((*origin, self.span(*origin)?)));
                for (origin, place) in places {
                    lost.entry(span3(place)).or_insert((origin, by));
                }
            }
        });
        for (place, (origin, by)) in lost {
            let span = of_span3(place);
            if won.contains(&place) || self.is_used(origin, span) {
                continue;
            }
            let name = self.key_of(span).map_or_else(|| "this value".to_owned(), |key| format!("the value `{key}`"));
            let mut diagnostic =
                Diagnostic::at(&rules::NEVER_WINS, span, format!("{name} is overridden in every environment"));
            if let Some(by) = by {
                diagnostic = diagnostic.label(by, "overridden here");
            }
            found.push(diagnostic.hint("remove it, or the value that overrides it"));
        }
    }

    /// The key before a value on its line.
    fn key_of(&self, span: Span) -> Option<String> {
        let source = self.session.sources.get(span.file)?;
        let before = source.text().get(..span.start as usize)?.trim_end_matches([' ', '"', '\'']);
        let before = before.strip_suffix(':')?;
        let key = before.rsplit(|c: char| c.is_whitespace() || "{,".contains(c)).next()?;
        (!key.is_empty()).then(|| key.trim_matches(['"', '\'']).to_owned())
    }

    /// Conditions with the same result in all evaluations.
    fn branches(&self, found: &mut Vec<Diagnostic>) {
        let mut outcomes: BTreeMap<Span3, Outcomes> = BTreeMap::new();
        let mut conditions = Vec::new();
        self.session.origins.each(|origin, kind| {
            if let OriginKind::Derived { step, span: Some(span), .. } = kind {
                match step.as_str() {
                    "is true" => conditions.push((origin, *span, Some(true))),
                    "is false" => conditions.push((origin, *span, Some(false))),
                    "is missing" => conditions.push((origin, *span, None)),
                    _ => {}
                }
            }
        });
        for (origin, span, outcome) in conditions {
            let is_own = self
                .session
                .sources
                .get(span.file)
                .is_some_and(|source| (self.claim.dialect().is_usual)(path::file_name(source.path())));
            if !is_own {
                continue;
            }
            let place = span3(span);
            let known = outcomes.entry(place).or_default();
            match outcome {
                Some(true) => known.is_true.push(origin),
                Some(false) => known.is_false.push(origin),
                None => known.is_open = true,
            }
        }
        for (place, outcome) in outcomes {
            let what = match (outcome.is_true.is_empty(), outcome.is_false.is_empty()) {
                (false, true) => "true",
                (true, false) => "false",
                _ => continue,
            };
            let mut origins = outcome.is_true.into_iter().chain(outcome.is_false);
            if !outcome.is_open && !origins.any(|origin| self.depends_on_surroundings(origin)) {
                let message = format!("this condition is {what} in every environment");
                let diagnostic = Diagnostic::at(&rules::DEAD_BRANCH, of_span3(place), message);
                found.push(diagnostic.hint("remove the condition and the branch that is never taken"));
            }
        }
    }

    /// Whether an origin depends on inputs from outside the project: a variable of the machine, an option.
    fn depends_on_surroundings(&self, origin: Origin) -> bool {
        let is_outside = |kind: &OriginKind| match kind {
            OriginKind::Env(_) | OriginKind::Outside(_) => true,
            OriginKind::Flag(flag) => flag != "--env",
            _ => false,
        };
        let origins = &self.session.origins;
        let mut all = dependencies(self.session, origin).into_iter();
        all.any(|origin| origins.look(origin, &self.session.sources, is_outside))
    }

    /// Declarations of dialects that no variant uses.
    fn declared(&self, found: &mut Vec<Diagnostic>) {
        let reported = self.session.sink.since(0);
        found.extend(not_used(&reported, self.sides.iter().flat_map(|(_, side)| &side.declared)));
    }

    /// Files that look like those the project reads by name, beside them, and that no variant reads or names.
    pub(crate) fn files(&self) -> Vec<Unread> {
        let texts = self.session.sources.all();
        let read: BTreeSet<String> = texts.iter().map(|source| path::normalize(source.path())).collect();
        // A declaration named under a condition counts as used.
        let is_named = |name: &str| texts.iter().any(|source| source.text().contains(name));
        let mut folders: BTreeMap<String, Vec<&String>> = BTreeMap::new();
        for file in read.iter().filter(|file| is_data(path::file_name(file)) && self.is_plain(file)) {
            folders.entry(path::normalize(path::parent(file))).or_default().push(file);
        }
        let mut found = Vec::new();
        for (folder, known) in folders {
            let kinds: Vec<Kind> = known.iter().filter_map(|file| self.kind(file)).collect();
            let (first, mut objects) = (found.len(), 0);
            for entry in self.session.world.list(&folder).unwrap_or_default() {
                let file = path::normalize(&path::join(&folder, &entry.name));
                let is_candidate = entry.kind == FileKind::File && is_data(&entry.name) && !read.contains(&file);
                if !is_candidate || !self.is_plain(&file) {
                    continue;
                }
                let Some(own) = self.kind(&file) else { continue };
                let like = kinds.iter().zip(&known).find(|(kind, _)| kind.is_like(&own)).map(|(_, like)| *like);
                if let Some(like) = like.filter(|_| !is_named(&entry.name)) {
                    let noun = self.claim.dialect().variants.noun;
                    objects += usize::from(own.is_object());
                    found.push(Unread { file, like: path::file_name(like).to_owned(), noun });
                }
            }
            // Manifests may be applied by hand, or by another tool, unless the project reads nearly all of a folder.
            let read = kinds.iter().filter(|kind| kind.is_object()).count();
            if objects * MOST_UNREAD > read {
                found.truncate(first);
            }
        }
        found
    }

    /// Whether a file is not the project's own: the user named it.
    fn is_plain(&self, file: &str) -> bool {
        let folder = path::parent(file);
        let is_of_chart =
            path::file_name(file).starts_with("values") || self.session.world.exists(&path::join(folder, "Chart.yaml"));
        let is_chart_part = file.split('/').any(|part| matches!(part, "templates" | "crds" | "charts" | "ci"));
        // The project's own file needs no closer look.
        let is_own = || path::normalize(self.claim.file()) == file;
        !is_of_chart
            && !is_chart_part
            && !is_own()
            && judge(&Glance::found(self.session, file), crate::dialects::DIALECTS).is_none()
    }

    fn kind(&self, file: &str) -> Option<Kind> {
        let bytes = self.session.world.read(file).ok()?;
        let head = Head::scan(&bytes);
        let keys: BTreeSet<String> =
            head.documents().iter().flat_map(|document| document.keys()).map(str::to_owned).collect();
        let extension = file.rsplit('.').next().unwrap_or_default().to_owned();
        (!keys.is_empty()).then_some(Kind { keys, extension })
    }
}

/// A file that no variant of a project reads. Another project may read it.
pub(crate) struct Unread {
    /// From the world's root.
    pub file: String,
    /// A file of the same kind beside it that is read.
    like: String,
    /// Noun for the variants.
    noun: &'static str,
}

impl Unread {
    pub(crate) fn finding(&self, session: &Session) -> Diagnostic {
        let mut diagnostic = Diagnostic::nowhere(&rules::UNUSED_FILE, format!("no {} reads this file", self.noun));
        diagnostic.span = first_line(session, &self.file);
        diagnostic.hint(format!("`{}` beside it is read; name this one too, or remove it", self.like))
    }
}

/// One unread manifest is taken for a mistake beside this many that are read.
const MOST_UNREAD: usize = 2;

/// Outward form of a file.
struct Kind {
    keys: BTreeSet<String>,
    extension: String,
}

impl Kind {
    /// Whether another file has the same form: a Kubernetes object, or one with common keys.
    fn is_like(&self, other: &Kind) -> bool {
        if self.is_object() || other.is_object() {
            return self.is_object() && other.is_object();
        }
        self.extension == other.extension && other.keys.is_subset(&self.keys)
    }

    /// Whether it is a Kubernetes object.
    fn is_object(&self) -> bool {
        self.keys.contains("apiVersion") && self.keys.contains("kind")
    }
}

/// Declarations unused by all that declare them. Those with reported problems are left out.
pub(crate) fn not_used<'d>(
    reported: impl IntoIterator<Item = &'d Diagnostic>,
    declared: impl Iterator<Item = &'d Declared>,
) -> Vec<Diagnostic> {
    let spans =
        reported.into_iter().flat_map(|found| found.span.into_iter().chain(found.labels.iter().map(|one| one.span)));
    let reported: HashSet<Span3> = spans.map(span3).collect();
    let mut all: BTreeMap<Span3, (&'static str, &str, bool)> = BTreeMap::new();
    for declared in declared {
        let entry = all.entry(span3(declared.span)).or_insert((declared.what, &declared.name, false));
        entry.2 |= declared.is_used;
    }
    let unused = all.into_iter().filter(|(place, (.., is_used))| !is_used && !reported.contains(place));
    let told = unused.map(|(place, (what, name, _))| {
        let rule = if what == "template" { &rules::UNUSED_TEMPLATE } else { &rules::UNUSED_DECLARATION };
        Diagnostic::at(rule, of_span3(place), format!("nothing uses the {what} `{name}`")).hint("remove it")
    });
    told.collect()
}

fn overridden(name: &str, span: Span, by: &[(&str, Span)]) -> Diagnostic {
    let message = format!("the variable `{name}` is overridden in every environment");
    let mut diagnostic = Diagnostic::at(&rules::NEVER_WINS, span, message);
    let mut places: Vec<(Span, Vec<&str>)> = Vec::new();
    for (variant, place) in by {
        match places.iter_mut().find(|(known, _)| known == place) {
            Some((_, names)) if !names.contains(variant) => names.push(variant),
            Some(_) => {}
            None => places.push((*place, vec![variant])),
        }
    }
    for (place, names) in places.into_iter().take(3) {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        diagnostic = diagnostic.label(place, format!("overridden here in {}", names.join(", ")));
    }
    diagnostic.hint("remove it, or one of the values that override it")
}

/// A span in a sortable form.
type Span3 = (u32, u32, u32);

fn span3(span: Span) -> Span3 {
    (span.file.0, span.start, span.end)
}

fn of_span3((file, start, end): Span3) -> Span {
    Span { file: purlin_syntax::FileId(file), start, end }
}

/// Places of which some hold others, as nodes of a tree do.
struct Spans {
    /// By file: starts in order, each with its end and the furthest end so far.
    files: HashMap<u32, Vec<(u32, u32, u32)>>,
}

impl Spans {
    fn new(spans: Vec<Span>) -> Self {
        let mut all: Vec<Span3> = spans.into_iter().map(span3).collect();
        all.sort_unstable();
        all.dedup();
        let mut files = HashMap::new();
        for part in all.chunk_by(|one, next| one.0 == next.0) {
            let mut so_far = 0;
            let list = part.iter().map(|(_, start, end)| {
                so_far = so_far.max(*end);
                (*start, *end, so_far)
            });
            files.extend(part.first().map(|(file, ..)| (*file, list.collect::<Vec<_>>())));
        }
        Spans { files }
    }

    /// Whether one of them contains a place: a used collection uses its contents.
    fn hold(&self, span: Span) -> bool {
        let Some(list) = self.files.get(&span.file.0) else { return false };
        let behind = list.partition_point(|(start, ..)| *start <= span.start);
        behind.checked_sub(1).and_then(|at| list.get(at)).is_some_and(|(.., furthest)| *furthest >= span.end)
    }

    /// Whether one of them is inside a place.
    fn lie_in(&self, span: Span) -> bool {
        let Some(list) = self.files.get(&span.file.0) else { return false };
        let first = list.partition_point(|(start, ..)| *start < span.start);
        list.get(first).is_some_and(|(_, end, _)| *end <= span.end)
    }
}
