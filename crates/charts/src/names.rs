//! Writes the table of names: the values of a chart and of those inside it, with every location that sets or reads
//! them, and the templates that they define.
//!
//! Templates are followed without being rendered, so that branches that are not taken count as well: the values of dot
//! and variables are known as far as they lead back to values. Where a template uses a mapping as a whole, or computes
//! a key, the names in it cannot be renamed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use purlin_gotmpl::Set;
use purlin_gotmpl::ast::{Branch, Command, Expr, Pipe, Quoted, Stmt, Tree, Variable};
use purlin_syntax::{Flavor, Node, Source, Span};
use purlin_value::fast::{FastMap, FastSet};
use purlin_value::names::{kind, unquoted, written};
use purlin_value::{Bound, EcoString, NameId, Session, Value, path};

use crate::chart::Chart;
use crate::ci;
use crate::engine::Compiled;
use crate::report::source_of;
use crate::template::Options;
use crate::trace::template_path;
use crate::unread::strings;
use crate::value_types::Use;

mod uses;

/// Keys of values that all charts of a release share.
const GLOBAL: &str = "global";

/// Between the keys of a path in an identity; no key has it.
const BETWEEN: &str = "\u{1}";

/// Maximum number of steps followed in the templates of one chart; the rest is compared by rendering alone.
const STEPS: usize = 400_000;
/// Maximum size of mappings and lists made by templates that are followed: each may contain earlier ones several times.
const PLACES: usize = 1_000;

/// Templates that include each other are followed to this depth.
const DEPTH: usize = 60;

/// Notes the names of a chart that is prepared.
pub(crate) fn note(session: &Session, folder: &str, chart: &Chart, options: &Options) {
    let mut walk = Walk::new(session, chart);
    let tests = ci::files(session, folder).into_iter().map(|file| path::join(folder, &file));
    let files = options.values.iter().map(|(file, _)| file.clone()).chain(tests);
    walk.look(chart, files.collect(), options);
}

/// Values that the templates of a chart may read, over all branches. All others are certainly not read.
#[derive(Default)]
pub(crate) struct Reads {
    /// Values that are read by name or as part of a mapping, as [`key_of`] writes them.
    values: HashSet<String>,
    /// Mappings of which every value is read.
    wholes: HashSet<String>,
    /// Templates that are included.
    templates: HashSet<String>,
    /// Templates that are defined, by chart, with the places of their names.
    pub defined: Vec<(usize, String, Span)>,
    /// Whether a template with a computed name is included.
    pub includes_any: bool,
    /// Whether a part could not be followed, so that any value may be read.
    pub is_lost: bool,
    /// Texts that `tpl` may make templates of.
    texts: Vec<(usize, String)>,
    /// How values are used, by their identity.
    uses: HashMap<String, BTreeSet<Use>>,
}

impl Reads {
    /// Whether a value may be read by its name.
    pub fn holds(&self, path: &[EcoString]) -> bool {
        self.values.contains(&key_of(path))
    }

    /// Whether every value in a mapping may be read.
    pub fn holds_all(&self, path: &[EcoString]) -> bool {
        self.wholes.contains(&key_of(path))
    }

    /// How a value is used.
    pub fn uses_of(&self, path: &[EcoString]) -> Option<&BTreeSet<Use>> {
        self.uses.get(&key_of(path))
    }

    /// Whether a template may be included.
    pub fn includes(&self, name: &str) -> bool {
        self.includes_any || self.templates.contains(name) || self.texts.iter().any(|(_, text)| text.contains(name))
    }
}

/// The identity of a value in the root chart.
pub(crate) fn key_of(path: &[EcoString]) -> String {
    path.join(BETWEEN)
}

/// Values that the templates of a chart may read. `files` are all values files that may be used with it, `texts`
/// further strings that may be passed to `tpl`.
pub(crate) fn reads(
    session: &Session,
    chart: &Chart,
    parsed: Option<&Compiled>,
    files: BTreeSet<String>,
    texts: Vec<String>,
    options: &Options,
) -> Reads {
    let mut walk = Walk { parsed, ..Walk::new(session, chart) };
    let reads = Reads { texts: texts.into_iter().map(|text| (0, text)).collect(), ..Reads::default() };
    walk.reads = Some(RefCell::new(reads));
    walk.look(chart, files, options);
    let is_lost = walk.steps > STEPS;
    let mut reads = walk.reads.map(RefCell::into_inner).unwrap_or_default();
    reads.is_lost |= is_lost;
    reads
}

/// Possible values of an operand of a template; empty if it does not lead back to values.
type Meaning = Vec<Place>;

/// One possible value of an operand.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Place {
    /// The root object of a chart's templates: `.Values` and the rest.
    Top(usize),
    /// A value of a chart.
    Value(usize, Vec<EcoString>),
    /// A mapping that a template makes.
    Made(Arc<BTreeMap<EcoString, Meaning>>),
}

/// A template with the chart that it is written in.
#[derive(Clone)]
struct Defined {
    chart: usize,
    tree: Arc<Tree>,
    source: Arc<Source>,
}

struct Walk<'s> {
    session: &'s Session,
    /// The chart's templates, if they are parsed already.
    parsed: Option<&'s Compiled>,
    /// The release: the root chart's folder.
    space: EcoString,
    /// Paths of each chart's values in those of the root.
    prefixes: Vec<Vec<EcoString>>,
    /// The identities of all values that are set somewhere.
    known: BTreeSet<String>,
    templates: HashMap<String, Vec<Defined>>,
    /// Templates that were followed, with their arguments.
    seen: FastSet<(usize, Meaning)>,
    steps: usize,
    /// Reads, if collected instead of names; parts that cannot be followed then count as read.
    reads: Option<RefCell<Reads>>,
}

/// Meaning of names while one template is followed.
#[derive(Clone)]
struct Frame {
    dot: Meaning,
    variables: FastMap<String, Meaning>,
    source: Arc<Source>,
    depth: usize,
}

impl<'s> Walk<'s> {
    fn new(session: &'s Session, chart: &Chart) -> Self {
        Walk {
            session,
            parsed: None,
            space: chart.folder.as_str().into(),
            prefixes: Vec::new(),
            known: BTreeSet::new(),
            templates: HashMap::new(),
            seen: FastSet::default(),
            steps: 0,
            reads: None,
        }
    }

    /// Walks a chart, values files for it and a project's inputs.
    fn look(&mut self, chart: &Chart, files: BTreeSet<String>, options: &Options) {
        self.chart(chart, &[]);
        for file in files {
            self.values_file(&file);
        }
        self.set_values(&options.inline, 0, &[]);
        self.set_values(&options.given, 0, &[]);
        if self.is_strict() {
            for (path, _) in options.sets.iter().filter_map(|flag| flag.text.split_once('=')) {
                let names: Vec<EcoString> = path.split('.').map(EcoString::from).collect();
                for end in 1..=names.len() {
                    self.known.insert(key_of(names.get(..end).unwrap_or_default()));
                }
            }
            self.read(|reads| {
                let texts = options.sets.iter().filter(|flag| flag.text.contains("{{"));
                reads.texts.extend(texts.map(|flag| (0, flag.text.clone())));
            });
        }
        let texts = self.reads.as_ref().map(|reads| reads.borrow().texts.clone()).unwrap_or_default();
        for (number, text) in texts {
            self.reading_text(number, &text);
        }
        self.follow(chart);
    }

    /// Whether reads are collected, not names.
    fn is_strict(&self) -> bool {
        self.reads.is_some()
    }

    /// Records reads, if they are collected.
    fn read(&self, note: impl FnOnce(&mut Reads)) {
        if let Some(reads) = &self.reads {
            note(&mut reads.borrow_mut());
        }
    }

    /// Values that a string reads when passed to `tpl`; an unnamed string may read any.
    fn reading_text(&self, chart: usize, text: &str) {
        for (at, start) in text.match_indices(".Values") {
            let mut path: Vec<EcoString> = Vec::new();
            let mut rest = text.get(at + start.len()..).unwrap_or_default();
            while let Some(behind) = rest.strip_prefix('.') {
                let end = behind.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(behind.len());
                if end == 0 {
                    break;
                }
                path.push(behind.get(..end).unwrap_or_default().into());
                rest = behind.get(end..).unwrap_or_default();
                self.read_value(chart, &path);
            }
            self.read_whole(chart, &path);
        }
    }

    fn read_value(&self, chart: usize, path: &[EcoString]) {
        let key = self.key(chart, path);
        self.read(|reads| _ = reads.values.insert(key));
    }

    fn read_whole(&self, chart: usize, path: &[EcoString]) {
        let key = self.key(chart, path);
        self.read(|reads| _ = reads.wholes.insert(key));
    }

    /// The path of a value from the root chart.
    fn path(&self, chart: usize, path: &[EcoString]) -> Vec<EcoString> {
        let prefix = self.prefixes.get(chart).map(Vec::as_slice).unwrap_or_default();
        let is_global = path.first().is_some_and(|first| first == GLOBAL);
        let prefix = if is_global { &[] } else { prefix };
        prefix.iter().chain(path).cloned().collect()
    }

    fn key(&self, chart: usize, path: &[EcoString]) -> String {
        self.path(chart, path).join(BETWEEN)
    }

    fn id(&self, key: &str) -> NameId {
        NameId::named(kind::VALUE, self.space.clone(), key)
    }

    fn declare(&mut self, chart: usize, path: &[EcoString], span: Span, whole: Span) {
        let key = self.key(chart, path);
        if self.is_strict() {
            self.known.insert(key);
            return;
        }
        self.session.names.declare(self.id(&key), kind::VALUE, path.join("."), span, whole);
        self.known.insert(key);
    }

    fn uses(&self, chart: usize, path: &[EcoString], span: Span) {
        if self.is_strict() {
            return self.read_value(chart, path);
        }
        let id = self.id(&self.key(chart, path));
        self.session.names.uses(id, kind::VALUE, path.join("."), span);
    }

    /// Names below a path that are fixed by a location; `is_deep` if that applies to all levels.
    fn bind_below(&self, chart: usize, path: &[EcoString], span: Span, is_deep: bool, why: Bound) {
        if is_deep && self.is_strict() {
            return self.read_whole(chart, path);
        }
        let above = self.key(chart, path);
        let start = if above.is_empty() { String::new() } else { format!("{above}{BETWEEN}") };
        for key in self.known.range(start.clone()..).take_while(|key| key.starts_with(&start)) {
            let below = key.get(start.len()..).unwrap_or_default();
            let is_meant = !below.is_empty() && (is_deep || !below.contains(BETWEEN));
            if is_meant && self.is_strict() {
                self.read(|reads| _ = reads.values.insert(key.clone()));
            } else if is_meant {
                self.session.names.bound(self.id(key), kind::VALUE, key.replace(BETWEEN, "."), span, why);
            }
        }
    }

    /// Declares the values of a chart and of those inside it, and keeps their templates.
    fn chart(&mut self, chart: &Chart, prefix: &[EcoString]) {
        let number = self.prefixes.len();
        self.prefixes.push(prefix.to_vec());
        self.set_values(&chart.values, number, &[]);
        self.conditions(chart, number);
        // A value allowed by a schema is not thereby read.
        if chart.schema.is_some() && !self.is_strict() {
            self.schema_file(&path::join(&chart.folder, "values.schema.json"), number);
        }
        for dependency in chart.metadata.dependencies.iter().filter(|one| !one.import_values.is_empty()) {
            for name in [&dependency.name, &dependency.alias] {
                self.read_whole(number, &[name.as_str().into()]);
            }
        }
        for child in &chart.dependencies {
            let prefix: Vec<EcoString> = prefix.iter().cloned().chain([child.name().into()]).collect();
            self.chart(child, &prefix);
        }
    }

    /// Records the locations that set values: defaults of a chart, inputs of a project.
    fn set_values(&mut self, values: &Value, chart: usize, above: &[EcoString]) {
        let session = self.session;
        for (key, value) in values.as_map().into_iter().flat_map(|map| map.iter()) {
            let key = EcoString::from(key);
            let path: Vec<EcoString> = above.iter().cloned().chain([key.clone()]).collect();
            if self.is_strict() {
                self.known.insert(self.key(chart, &path));
            } else if let Some(span) = session.origins.key_place(value.origin, &key, &session.sources) {
                let span = unquoted(span, &session.sources);
                let end = session.origins.span(value.origin, &session.sources).filter(|end| end.file == span.file);
                let whole = Span::new(span.file, span.start, end.map_or(span.end, |end| end.end.max(span.end)));
                self.declare(chart, &path, span, whole);
            }
            if let Some(text) = value.as_str().filter(|text| text.contains("{{"))
                && let Some(span) = session.origins.span(value.origin, &session.sources)
            {
                self.template_text(text, chart, span);
            }
            self.set_values(value, chart, &path);
        }
        if self.is_strict() && above.is_empty() {
            strings(values, &mut |text, _| self.read(|reads| reads.texts.push((chart, text.to_owned()))));
        }
    }

    /// Values that a string in values reads when passed to `tpl`.
    fn template_text(&self, text: &str, chart: usize, span: Span) {
        if self.is_strict() {
            return;
        }
        for (at, start) in text.match_indices(".Values.") {
            let rest = text.get(at + start.len()..).unwrap_or_default();
            let mut path: Vec<EcoString> = Vec::new();
            for name in rest.split('.') {
                let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
                path.extend(name.get(..end).filter(|name| !name.is_empty()).map(EcoString::from));
                if path.is_empty() {
                    break;
                }
                let id = self.id(&self.key(chart, &path));
                self.session.names.bound(id, kind::VALUE, path.join("."), span, Bound::Text);
                if end < name.len() {
                    break;
                }
            }
        }
    }

    /// A file of values of the root chart.
    fn values_file(&mut self, file: &str) {
        let Ok(text) = self.session.load_text(file, file) else { return };
        let tree = self.session.load_tree(&text.source, Flavor::Go);
        if let Some(root) = tree.root() {
            self.set_nodes(root, &[]);
        }
    }

    fn set_nodes(&mut self, node: Node<'_>, above: &[EcoString]) {
        for entry in node.entries().filter(|entry| !entry.key.is_merge_key() && !entry.value.is_alias()) {
            let path: Vec<EcoString> = above.iter().cloned().chain([entry.key.eco_text()]).collect();
            let (span, end) = (written(entry.key), entry.value.span().end);
            self.declare(0, &path, span, Span::new(span.file, span.start, end.max(span.end)));
            if self.is_strict() {
                let texts = texts_in(entry.value).into_iter().map(|text| (0, text));
                self.read(|reads| reads.texts.extend(texts));
            } else if entry.value.is_scalar() && entry.value.text().contains("{{") {
                self.template_text(entry.value.text(), 0, entry.value.span());
            }
            self.set_nodes(entry.value, &path);
        }
    }

    /// `condition` of a dependency names values by their paths.
    fn conditions(&self, chart: &Chart, number: usize) {
        let file = format!("{}/Chart.yaml", chart.folder);
        let Ok(text) = self.session.load_text(&file, &file) else { return };
        let tree = self.session.load_tree(&text.source, Flavor::Go);
        let listed = tree.root().and_then(|root| root.get("dependencies"));
        for condition in listed.into_iter().flat_map(Node::items).filter_map(|one| one.get("condition")) {
            let place = written(condition);
            let mut at = place.start;
            for one in condition.text().split(',') {
                let mut path: Vec<EcoString> = Vec::new();
                for name in one.split('.') {
                    let lead = u32::try_from(name.len() - name.trim_start().len()).unwrap_or(0);
                    path.push(name.trim().into());
                    let start = at + lead;
                    let length = u32::try_from(name.trim().len()).unwrap_or(0);
                    self.uses(number, &path, Span::new(place.file, start, start + length));
                    at += u32::try_from(name.len()).unwrap_or(0) + 1;
                }
            }
        }
    }

    /// The properties that a schema speaks of.
    fn schema_file(&self, file: &str, chart: usize) {
        let Ok(text) = self.session.load_text(file, file) else { return };
        let tree = self.session.load_tree(&text.source, Flavor::Core);
        if let Some(root) = tree.root() {
            self.schema(root, chart, &[], 0);
        }
    }

    fn schema(&self, node: Node<'_>, chart: usize, above: &[EcoString], depth: usize) {
        if depth > DEPTH {
            return;
        }
        let below = |name: EcoString| -> Vec<EcoString> { above.iter().cloned().chain([name]).collect() };
        for entry in node.get("properties").into_iter().flat_map(Node::entries) {
            let path = below(entry.key.eco_text());
            self.uses(chart, &path, written(entry.key));
            self.schema(entry.value, chart, &path, depth + 1);
        }
        for name in node.get("required").into_iter().flat_map(Node::items).filter(|name| name.is_scalar()) {
            self.uses(chart, &below(name.eco_text()), written(name));
        }
        for word in ["allOf", "anyOf", "oneOf"] {
            for item in node.get(word).into_iter().flat_map(Node::items) {
                self.schema(item, chart, above, depth + 1);
            }
        }
        for inner in ["if", "then", "else", "not"].into_iter().filter_map(|word| node.get(word)) {
            self.schema(inner, chart, above, depth + 1);
        }
    }

    /// Follows all templates.
    fn follow(&mut self, chart: &Chart) {
        let mut number = 0;
        self.keep_templates(chart, chart, chart.name(), &mut number);
        let mut all: Vec<Defined> = self.templates.values().flatten().cloned().collect();
        all.sort_by(|a, b| a.tree.name.text().cmp(&b.tree.name.text()));
        for defined in &all {
            self.define(defined);
        }
        for defined in all {
            self.template(&defined, vec![Place::Top(defined.chart)], 0);
        }
    }

    fn keep_templates(&mut self, root: &Chart, chart: &Chart, path: &str, number: &mut usize) {
        let own = *number;
        for file in &chart.templates {
            let name = format!("{path}/{}", file.name);
            let text = String::from_utf8_lossy(&file.bytes).into_owned();
            let known = self.parsed.and_then(|parsed| parsed.templates_in(&name));
            let mut set = Set::new();
            if known.is_none() && set.add(&name, text.as_str()).is_err() {
                self.read(|reads| reads.is_lost = true);
                continue;
            }
            let source = source_of(self.session, &template_path(root, &name), text);
            for tree in known.or(set.templates_in(&name)).unwrap_or_default() {
                let defined = Defined { chart: own, tree: tree.clone(), source: source.clone() };
                self.templates.entry(tree.name.text().into_owned()).or_default().push(defined);
            }
        }
        for child in &chart.dependencies {
            *number += 1;
            self.keep_templates(root, child, &format!("{path}/charts/{}", child.name()), number);
        }
    }

    /// Declares a template, whichever file defines it.
    fn define(&self, defined: &Defined) {
        let (text, name) = (defined.source.text(), defined.tree.name.text());
        for word in ["define", "block"] {
            for (at, _) in text.match_indices(word) {
                let rest = text.get(at + word.len()..).unwrap_or_default();
                let start = at + word.len() + rest.len() - rest.trim_start().len();
                let quoted = text.get(start..).and_then(|rest| rest.strip_prefix(['"', '`']));
                let is_whole =
                    quoted.and_then(|rest| rest.strip_prefix(&*name)).is_some_and(|rest| rest.starts_with(['"', '`']));
                let span = defined.source.span(start + 1, start + 1 + name.len());
                self.read(|reads| {
                    if is_whole {
                        reads.defined.push((defined.chart, name.to_string(), span));
                    }
                });
                if is_whole && !self.is_strict() {
                    self.session.names.declare(self.template_id(&name), kind::NAMED_TEMPLATE, &*name, span, span);
                }
            }
        }
    }

    fn template_id(&self, name: &str) -> NameId {
        NameId::named(kind::NAMED_TEMPLATE, self.space.clone(), name)
    }

    /// Follows a template with its argument.
    fn template(&mut self, defined: &Defined, dot: Meaning, depth: usize) {
        let address = Arc::as_ptr(&defined.tree) as usize;
        if depth > DEPTH {
            self.read(|reads| reads.is_lost = true);
        }
        self.steps = self.steps.saturating_add(dot.iter().map(Place::size).sum());
        if depth > DEPTH || self.steps > STEPS || !self.seen.insert((address, dot.clone())) {
            return;
        }
        let variables = FastMap::from_iter([("$".to_owned(), dot.clone())]);
        let mut frame = Frame { dot, variables, source: defined.source.clone(), depth };
        self.statements(&defined.tree.root, &mut frame);
    }

    fn statements(&mut self, statements: &[Stmt], frame: &mut Frame) {
        for statement in statements {
            self.steps += 1;
            match statement {
                Stmt::Text(_) | Stmt::Break(_) | Stmt::Continue(_) => {}
                Stmt::Action(pipe) => {
                    let printed = self.pipe(pipe, frame);
                    if pipe.decl.is_empty() {
                        self.note_use(&printed, Use::Printed);
                        self.escape(&printed, pipe.pos, frame);
                    }
                }
                Stmt::If(branch) => {
                    let mut inner = frame.clone();
                    let tested = self.pipe(&branch.pipe, &mut inner);
                    self.note_use(&tested, Use::Tested);
                    self.bodies(branch, &inner, frame);
                }
                Stmt::With(branch) => {
                    let mut inner = frame.clone();
                    inner.dot = self.pipe(&branch.pipe, &mut inner);
                    self.bodies(branch, &inner, frame);
                }
                Stmt::Range(branch) => {
                    let mut inner = frame.clone();
                    let all = self.pipe(&branch.pipe, &mut inner);
                    self.note_use(&all, Use::Ranged);
                    let items = self.items(&all, branch, frame);
                    if let Some(last) = branch.pipe.decl.last() {
                        inner.variables.insert(last.name.clone(), items.clone());
                    }
                    if let [key, _] = branch.pipe.decl.as_slice() {
                        inner.variables.insert(key.name.clone(), Vec::new());
                    }
                    inner.dot = items;
                    let before = frame.variables.clone();
                    self.bodies(branch, &inner, frame);
                    // The next iteration may read assignments of this one.
                    if frame.variables != before && self.steps <= STEPS {
                        let outer = frame.variables.iter().filter(|(name, _)| before.contains_key(*name));
                        for (name, meaning) in outer {
                            add(inner.variables.entry(name.clone()).or_default(), meaning);
                        }
                        self.bodies(branch, &inner, frame);
                    }
                }
                Stmt::Template(invoke) => {
                    let given = invoke.pipe.as_ref().map(|pipe| self.pipe(pipe, frame)).unwrap_or_default();
                    let name = invoke.name.text().into_owned();
                    if self.is_strict() {
                        self.read(|reads| _ = reads.templates.insert(name.clone()));
                    } else if let Some(start) = self.quoted_at(&frame.source, invoke.pos as usize, &name) {
                        self.uses_template(&name, frame.source.span(start, start + name.len()));
                    }
                    self.include(&name, &given, frame);
                }
            }
        }
    }

    fn bodies(&mut self, branch: &Branch, inner: &Frame, outer: &mut Frame) {
        let mut body = inner.clone();
        self.statements(&branch.body, &mut body);
        let mut otherwise = Frame { dot: outer.dot.clone(), ..inner.clone() };
        if let Some(statements) = &branch.otherwise {
            self.statements(statements, &mut otherwise);
        }
        // Assignments of a body to outer variables may apply after it.
        for (name, meaning) in [inner, &body, &otherwise].into_iter().flat_map(|frame| &frame.variables) {
            if let Some(known) = outer.variables.get_mut(name) {
                add(known, meaning);
            }
        }
    }

    /// Possible values of a collection's entries. The keys of a mapping are part of the result then.
    fn items(&mut self, all: &Meaning, branch: &Branch, frame: &Frame) -> Meaning {
        let mut items: Meaning = Vec::new();
        for place in all {
            match place {
                Place::Value(chart, path) => {
                    let span = frame.source.span(branch.pipe.pos as usize, branch.pipe.pos as usize + 1);
                    self.bind_below(*chart, path, span, false, Bound::Whole);
                    let above = self.key(*chart, path);
                    let start = format!("{above}{BETWEEN}");
                    let direct = self.known.range(start.clone()..).take_while(|key| key.starts_with(&start));
                    let names = direct.filter_map(|key| key.get(start.len()..)).filter(|key| !key.contains(BETWEEN));
                    let names: Vec<EcoString> = names.map(EcoString::from).collect();
                    for name in names {
                        let path: Vec<EcoString> = path.iter().cloned().chain([name]).collect();
                        add(&mut items, &vec![Place::Value(*chart, path)]);
                    }
                }
                Place::Made(entries) => entries.values().for_each(|meaning| add(&mut items, meaning)),
                Place::Top(_) => {}
            }
        }
        items
    }

    fn pipe(&mut self, pipe: &Pipe, frame: &mut Frame) -> Meaning {
        let mut value: Option<Meaning> = None;
        for command in &pipe.cmds {
            value = Some(self.command(command, value, frame));
        }
        let value = value.unwrap_or_default();
        for variable in &pipe.decl {
            match frame.variables.get_mut(&variable.name).filter(|_| pipe.assigns) {
                Some(known) => add(known, &value),
                None => drop(frame.variables.insert(variable.name.clone(), value.clone())),
            }
        }
        value
    }

    fn command(&mut self, command: &Command, piped: Option<Meaning>, frame: &mut Frame) -> Meaning {
        self.steps += 1;
        let Some((first, rest)) = command.args.split_first() else { return Vec::new() };
        let mut given: Vec<Meaning> = rest.iter().map(|operand| self.operand(operand, frame)).collect();
        given.extend(piped);
        match first {
            Expr::Func(pos, function) => self.call(function.name, *pos, rest, given, frame),
            other => self.operand(other, frame),
        }
    }

    fn operand(&mut self, operand: &Expr, frame: &mut Frame) -> Meaning {
        match operand {
            Expr::Dot(_) => frame.dot.clone(),
            Expr::Str(quoted) => {
                // A text that templates make is one that `tpl` may be given.
                if self.is_strict() && quoted.source.contains(".Values") {
                    self.charts().for_each(|chart| self.reading_text(chart, &quoted.source));
                }
                Vec::new()
            }
            Expr::Nil(_) | Expr::Bool(..) | Expr::Number(_) => Vec::new(),
            Expr::Field(fields) => {
                let names: Vec<EcoString> = fields.names.iter().map(|name| name.text().into()).collect();
                self.fields(frame.dot.clone(), &names, fields.pos as usize, frame)
            }
            Expr::Variable(variable) => {
                let names: Vec<EcoString> = variable.fields.iter().map(|name| name.text().into()).collect();
                let meaning = frame.variables.get(&variable.name).cloned().unwrap_or_default();
                self.fields(meaning, &names, self.behind(variable, frame), frame)
            }
            Expr::Chain(chain) => {
                let names: Vec<EcoString> = chain.fields.iter().map(|name| name.text().into()).collect();
                let meaning = self.operand(&chain.node, frame);
                self.fields(meaning, &names, chain.pos as usize, frame)
            }
            Expr::Pipe(pipe) => self.pipe(pipe, frame),
            Expr::Func(pos, function) => self.call(function.name, *pos, &[], Vec::new(), frame),
        }
    }

    /// Start of a variable's fields.
    fn behind(&self, variable: &Variable, frame: &Frame) -> usize {
        let pos = variable.pos as usize;
        let is_name = frame.source.text().get(pos..).is_some_and(|rest| rest.starts_with(&variable.name));
        if is_name { pos + variable.name.len() } else { pos }
    }

    /// `.a.b` behind an operand. The parser records the position of the second name of dot's fields, as Go's does, and
    /// of the first of others.
    fn fields(&mut self, mut meaning: Meaning, names: &[EcoString], pos: usize, frame: &Frame) -> Meaning {
        let Some(first) = names.first() else { return meaning };
        if self.is_strict() {
            let nowhere = frame.source.span(0, 0);
            return names.iter().fold(meaning, |meaning, name| self.field(&meaning, name, Some(nowhere)));
        }
        let text = frame.source.text();
        let joined: String = names.iter().map(|name| format!(".{name}")).collect();
        let starts = [Some(pos), pos.checked_sub(first.len() + 1)];
        let is_here = |start: &usize| text.get(*start..).is_some_and(|rest| rest.starts_with(&joined));
        let Some(mut at) = starts.into_iter().flatten().find(is_here) else { return Vec::new() };
        for name in names {
            let start = at + 1;
            at = start + name.len();
            meaning = self.field(&meaning, name, Some(frame.source.span(start, at)));
        }
        meaning
    }

    /// Meaning of a key of a value; a use if it is a key of values.
    fn field(&mut self, meaning: &Meaning, name: &EcoString, span: Option<Span>) -> Meaning {
        let mut found: Meaning = Vec::new();
        for place in meaning {
            match place {
                Place::Top(chart) if name == "Values" => add(&mut found, &vec![Place::Value(*chart, Vec::new())]),
                Place::Top(_) if name == "Subcharts" => self.charts().for_each(|chart| self.read_whole(chart, &[])),
                Place::Top(_) => {}
                Place::Value(chart, path) => {
                    let path: Vec<EcoString> = path.iter().cloned().chain([name.clone()]).collect();
                    span.into_iter().for_each(|span| self.uses(*chart, &path, span));
                    add(&mut found, &vec![Place::Value(*chart, path)]);
                }
                Place::Made(entries) => entries.get(name).into_iter().for_each(|meaning| add(&mut found, meaning)),
            }
        }
        found
    }

    /// Start of a quoted name at or behind an offset.
    fn quoted_at(&self, source: &Source, from: usize, name: &str) -> Option<usize> {
        let text = source.text().get(from..)?;
        let line = text.get(..text.len().min(name.len() + 40)).unwrap_or(text);
        line.find(name).map(|found| from + found)
    }

    fn uses_template(&self, name: &str, span: Span) {
        if self.is_strict() {
            return self.read(|reads| _ = reads.templates.insert(name.to_owned()));
        }
        self.session.names.uses(self.template_id(name), kind::NAMED_TEMPLATE, name, span);
    }

    fn include(&mut self, name: &str, given: &Meaning, frame: &Frame) {
        // A missing template may read its whole argument.
        if self.is_strict() && !self.templates.contains_key(name) {
            return self.escape(given, 0, frame);
        }
        for defined in self.templates.get(name).cloned().unwrap_or_default() {
            self.template(&defined, given.clone(), frame.depth + 1);
        }
    }

    /// The numbers of all charts.
    fn charts(&self) -> std::ops::Range<usize> {
        0..self.prefixes.len()
    }

    /// A template with a computed name: the file of a template, which is followed anyway, or any defined one.
    fn include_any(&mut self, given: &Meaning, pos: u32, frame: &Frame) {
        let action = frame.source.text().get(pos as usize..).and_then(|text| text.split("}}").next());
        if !self.is_strict() || action.is_some_and(|action| action.contains("BasePath")) {
            return;
        }
        self.read(|reads| reads.includes_any = true);
        let mut names: Vec<String> = self.templates.keys().cloned().collect();
        names.sort();
        names.iter().for_each(|name| self.include(name, given, frame));
    }

    /// A mapping or list with these entries; one that is too large is not followed.
    fn made(&mut self, entries: BTreeMap<EcoString, Meaning>) -> Meaning {
        let made = Place::Made(Arc::new(entries));
        let size = made.size();
        self.steps = self.steps.saturating_add(size);
        if size > PLACES {
            self.read(|reads| reads.is_lost = true);
            return Meaning::new();
        }
        vec![made]
    }

    /// Possible entries of mappings and lists that templates make.
    fn entries_of(meaning: &Meaning) -> Meaning {
        let mut all = meaning.clone();
        for place in meaning {
            if let Place::Made(entries) = place {
                entries.values().for_each(|inner| add(&mut all, inner));
            }
        }
        all
    }

    /// Reads of a function beyond the names in its arguments, in strict mode.
    fn reads_of(&self, name: &str, given: &[Meaning], pos: u32, frame: &Frame) {
        let (first, rest) = given.split_first().map_or((None, given), |(first, rest)| (Some(first), rest));
        match name {
            "set" => rest.iter().skip(1).for_each(|meaning| self.escape(meaning, pos, frame)),
            "merge" | "mergeOverwrite" | "mustMerge" | "mustMergeOverwrite" => {
                rest.iter().for_each(|meaning| self.escape(meaning, pos, frame));
            }
            "dig" => given.iter().rev().skip(1).for_each(|meaning| self.escape(meaning, pos, frame)),
            "len" | "fail" => given.iter().for_each(|meaning| self.escape(meaning, pos, frame)),
            // The names used from the context are in the string, which is followed separately.
            "tpl" => {
                first.into_iter().for_each(|text| self.escape(text, pos, frame));
                for place in rest.iter().flatten() {
                    if let Place::Made(entries) = place {
                        let inner = entries.iter().filter(|(key, _)| *key != "Values");
                        inner.for_each(|(_, meaning)| self.escape_but_top(meaning, pos, frame));
                    }
                }
            }
            _ => {}
        }
    }

    fn escape_but_top(&self, meaning: &Meaning, pos: u32, frame: &Frame) {
        let rest: Meaning = meaning.iter().filter(|place| !matches!(place, Place::Top(_))).cloned().collect();
        self.escape(&rest, pos, frame);
    }

    fn literal(&self, operand: &Expr, frame: &Frame) -> Option<(EcoString, Span)> {
        let Expr::Str(quoted) = operand else { return None };
        let Quoted { pos, source, text } = &**quoted;
        let name: EcoString = text.text().into();
        // A string with escapes is not written as it reads.
        let is_plain = source.len() == name.len() + 2 && source.get(1..=name.len()) == Some(name.as_str());
        let start = *pos as usize + 1;
        is_plain.then(|| (name.clone(), frame.source.span(start, start + name.len())))
    }

    fn call(
        &mut self,
        name: &'static str,
        pos: u32,
        operands: &[Expr],
        given: Vec<Meaning>,
        frame: &mut Frame,
    ) -> Meaning {
        let union = |given: &[Meaning]| {
            given.iter().fold(Vec::new(), |mut all, meaning| {
                add(&mut all, meaning);
                all
            })
        };
        if self.is_strict() {
            self.note_given(name, operands, &given);
            self.reads_of(name, &given, pos, frame);
        }
        match name {
            "tpl" if self.is_strict() => Vec::new(),
            "first" | "last" if self.is_strict() => Self::entries_of(&union(&given)),
            "include" => {
                let meaning = given.get(1).cloned().unwrap_or_default();
                if let Some((name, span)) = operands.first().and_then(|operand| self.literal(operand, frame)) {
                    self.uses_template(&name, span);
                    self.include(&name, &meaning, frame);
                } else {
                    self.include_any(&meaning, pos, frame);
                }
                Vec::new()
            }
            "default" | "coalesce" | "ternary" | "or" | "and" | "required" | "deepCopy" | "mustDeepCopy" | "merge"
            | "mergeOverwrite" | "mustMerge" | "mustMergeOverwrite" | "first" | "last" | "compact" => union(&given),
            "not" | "empty" | "eq" | "ne" | "len" | "kindIs" | "kindOf" | "typeOf" | "typeIs" | "typeIsLike"
            | "fail" => Vec::new(),
            "dict" => Place::made(self, operands, &given, frame),
            "list" | "tuple" => {
                let entries = given.into_iter().enumerate().map(|(at, one)| (EcoString::from(at.to_string()), one));
                self.made(entries.collect())
            }
            "index" => self.keys_of(given.first().cloned().unwrap_or_default(), operands.get(1..), pos, frame),
            "get" | "hasKey" | "set" | "unset" | "pick" | "omit" => {
                let from = given.first().cloned().unwrap_or_default();
                let keys = operands.get(1..).unwrap_or_default();
                let keys = if matches!(name, "pick" | "omit") { keys } else { keys.get(..1).unwrap_or_default() };
                let mut found = Vec::new();
                for key in keys {
                    found = self.keys_of(from.clone(), Some(std::slice::from_ref(key)), pos, frame);
                }
                if name == "get" { found } else { from }
            }
            "dig" => {
                let from = given.last().cloned().unwrap_or_default();
                let keys = operands.len().min(given.len().saturating_sub(2));
                self.keys_of(from, operands.get(..keys), pos, frame)
            }
            _ => {
                given.iter().for_each(|meaning| self.escape(meaning, pos, frame));
                Vec::new()
            }
        }
    }

    /// Follows keys that are operands of a function; one that is computed may be any.
    fn keys_of(&mut self, mut meaning: Meaning, keys: Option<&[Expr]>, pos: u32, frame: &Frame) -> Meaning {
        for key in keys.unwrap_or_default() {
            match self.literal(key, frame) {
                Some((name, span)) => meaning = self.field(&meaning, &name, Some(span)),
                None if matches!(key, Expr::Number(_)) && self.is_strict() => meaning = Self::entries_of(&meaning),
                None if matches!(key, Expr::Number(_)) => return Vec::new(),
                None => {
                    let span = frame.source.span(pos as usize, pos as usize + 1);
                    for place in &meaning {
                        if let Place::Value(chart, path) = place {
                            self.bind_below(*chart, path, span, true, Bound::Computed);
                        }
                    }
                    let made = meaning.iter().filter(|place| self.is_strict() && matches!(place, Place::Made(_)));
                    return Self::entries_of(&made.cloned().collect());
                }
            }
        }
        meaning
    }

    /// A function or an action uses a whole value: the names in it are part of the result.
    fn escape(&self, meaning: &Meaning, pos: u32, frame: &Frame) {
        let span = frame.source.span(pos as usize, pos as usize + 1);
        for place in meaning {
            match place {
                Place::Value(chart, path) => self.bind_below(*chart, path, span, true, Bound::Whole),
                Place::Made(entries) => entries.values().for_each(|inner| self.escape(inner, pos, frame)),
                Place::Top(chart) if self.is_strict() => self.read_whole(*chart, &[]),
                Place::Top(_) => {}
            }
        }
    }
}

/// The strings below a node that are templates.
fn texts_in(node: Node<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let mut left: Vec<Node<'_>> = node.items().collect();
    if node.is_scalar() {
        left.push(node);
    }
    // Mappings are walked by their keys.
    while let Some(node) = left.pop() {
        if node.is_scalar() && node.text().contains("{{") {
            found.push(node.text().to_owned());
        }
        left.extend(node.items());
        left.extend(node.entries().map(|entry| entry.value));
    }
    found
}

impl Place {
    /// The mapping made by `dict`.
    fn made(walk: &mut Walk<'_>, operands: &[Expr], given: &[Meaning], frame: &Frame) -> Meaning {
        let mut entries: BTreeMap<EcoString, Meaning> = BTreeMap::new();
        for (at, operand) in operands.iter().enumerate().step_by(2) {
            if let Some((name, _)) = walk.literal(operand, frame) {
                entries.insert(name, given.get(at + 1).cloned().unwrap_or_default());
            }
        }
        walk.made(entries)
    }

    /// Number of places in it, counted up to [`PLACES`].
    fn size(&self) -> usize {
        let Place::Made(entries) = self else { return 1 };
        let mut size = 1;
        for place in entries.values().flatten() {
            size += place.size();
            if size > PLACES {
                break;
            }
        }
        size
    }
}

fn add(meaning: &mut Meaning, more: &Meaning) {
    for place in more {
        if !meaning.contains(place) {
            meaning.push(place.clone());
        }
    }
    meaning.sort();
}
