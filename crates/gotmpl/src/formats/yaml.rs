//! Reads YAML into the heap as Helm does (through JSON: every number a float, every key a string), and writes it with
//! the pieces of its leaves.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use purlin_syntax::rules::{DUPLICATE_KEY, YAML_ALIAS};
use purlin_syntax::write::{GoStyle, GoYamlWriter};
use purlin_syntax::{Diagnostic, FileId, Flavor, Limits, Node, RuleClass, Source, Tree, What, YamlMistake};

use crate::emit::{KeyOrder, emit};
use crate::error::{Fault, Limit};
use crate::machine::Machine;
use crate::rope::{Piece, Rope, first_behind, slice};
use crate::value::{Data, Heap, Str, Table, Val};
use crate::yaml_tree::{Build, Leaf, build};

/// Reads a dictionary; the message resembles Go's.
pub fn read_map(m: &mut Machine<'_>, text: &Val) -> Result<Val, Fault> {
    let value = read(m, text)?;
    match value.data {
        Data::Map(_) => Ok(value),
        Data::Nil => Ok(m.heap.any_map(BTreeMap::new())),
        _ => Err(wrong_kind(&value, "map[string]interface {}")),
    }
}

/// Reads a list.
pub(crate) fn read_list(m: &mut Machine<'_>, text: &Val) -> Result<Val, Fault> {
    let value = read(m, text)?;
    match value.data {
        Data::List(_) => Ok(value),
        Data::Nil => Ok(m.heap.any_list(Vec::new())),
        _ => Err(wrong_kind(&value, "[]interface {}")),
    }
}

fn wrong_kind(value: &Val, wanted: &str) -> Fault {
    let kind = crate::json::kind_name(value);
    Fault::new(format!(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {kind} into Go value of type {wanted}"
    ))
}

fn read(m: &mut Machine<'_>, text: &Val) -> Result<Val, Fault> {
    let Data::Str(source) = &text.data else { return Ok(Val::NIL) };
    let (origin, tainted) = m.join_origins(std::slice::from_ref(text));
    let pieces = if m.outside.track { source.pieces().map(<[Piece]>::to_vec) } else { None };
    if source.bytes().starts_with(b"\t") && !source.text().trim_start_matches('\t').starts_with(['\n', '#']) {
        return Err(Fault::new("error converting YAML to JSON: yaml: found character that cannot start any token"));
    }
    let tree = tree_of(m, source);
    if let Some(problem) = first_problem(&tree) {
        if problem.rule.class == RuleClass::Limit {
            return Err(Fault::Limit(Limit::Read(problem.rule)));
        }
        return Err(Fault::new(format!("error converting YAML to JSON: yaml: {}", go_message(&tree, problem))));
    }
    let Some(root) = tree.root() else { return Ok(Val::NIL) };
    let bytes = source.bytes();
    build(root, &mut Reader { heap: &mut m.heap, bytes, origin, tainted, pieces }).map_err(Fault::new)
}

/// Cached trees of texts: libraries read the same settings for each template of a chart.
#[derive(Default)]
pub(crate) struct Trees {
    known: Table<Str, Rc<Tree>>,
    /// Bytes of their texts.
    bytes: usize,
}

/// Maximum total size of texts with cached trees.
const MOST_KEPT: usize = 1 << 19;

/// The tree of a text.
fn tree_of(m: &mut Machine<'_>, source: &Str) -> Rc<Tree> {
    if let Some(known) = m.trees.known.get(source) {
        return known.clone();
    }
    let tree = Rc::new(parse(&source.text(), m.limits.meter.limits()));
    if m.trees.bytes + source.len() > MOST_KEPT {
        m.trees = Trees::default();
    }
    if source.len() <= MOST_KEPT {
        m.trees.bytes += source.len();
        m.trees.known.insert(source.clone(), tree.clone());
    }
    tree
}

/// Parses a text that is not a file.
pub fn parse(text: &str, limits: &Limits) -> Tree {
    let source = Arc::new(Source::new(FileId(0), "text", text));
    purlin_syntax::yaml::parse(source, Flavor::Go, limits)
}

/// The first problem that Go's reader would also report; it accepts duplicate keys, the last one counts.
pub fn first_problem(tree: &Tree) -> Option<&Diagnostic> {
    tree.diagnostics().iter().find(|problem| problem.is_error() && problem.rule != &DUPLICATE_KEY)
}

/// The part of Go's reader that reports a problem, which decides how lines are counted.
#[derive(Clone, Copy)]
enum Stage {
    /// Lines from 1; the first one is not named.
    Scanner,
    /// Lines from 0; the first one is not named.
    Parser,
    /// The line after the wrong one, from 1.
    NextLine,
    /// The end of the text.
    ScannerEnd,
    /// The end of the text.
    ParserEnd,
}

/// Mistakes that Go's reader finds too: its words, and the reporting part.
const GO_WORDS: &[(YamlMistake, &str, Stage)] = &[
    (YamlMistake::OpenQuote, "found unexpected end of stream", Stage::ScannerEnd),
    (YamlMistake::QuoteStillOpen, "found unexpected end of stream", Stage::ScannerEnd),
    (YamlMistake::BadStart, "found character that cannot start any token", Stage::Scanner),
    (YamlMistake::Tab, "found character that cannot start any token", Stage::Scanner),
    (YamlMistake::ItemNotPossible, "block sequence entries are not allowed in this context", Stage::Scanner),
    (YamlMistake::SecondColon, "mapping values are not allowed in this context", Stage::Scanner),
    (YamlMistake::MissingSpace, "mapping values are not allowed in this context", Stage::NextLine),
    (YamlMistake::ItemAmongKeys, "did not find expected key", Stage::Parser),
    (YamlMistake::ValueBetweenCommas, "did not find expected node content", Stage::Parser),
    (YamlMistake::SecondValue, "did not find expected <document start>", Stage::Parser),
    (YamlMistake::TextBehindIndicator, "did not find expected comment or line break", Stage::Scanner),
    (YamlMistake::NoName, "did not find expected alphabetic or numeric character", Stage::Scanner),
    (YamlMistake::KeyBehindValue, "mapping values are not allowed in this context", Stage::Scanner),
    (YamlMistake::KeyNotPossible, "mapping keys are not allowed in this context", Stage::Scanner),
    (YamlMistake::ValueExpected, "did not find expected node content", Stage::Scanner),
    (YamlMistake::UnknownEscape, "found unknown escape character", Stage::Scanner),
    (YamlMistake::NoColon, "could not find expected ':'", Stage::NextLine),
    (YamlMistake::Indentation, "did not find expected key", Stage::Parser),
    (YamlMistake::FileEnds, "did not find expected node content", Stage::Parser),
    (YamlMistake::OpenBracket, "did not find expected ',' or ']'", Stage::ParserEnd),
    (YamlMistake::OpenBrace, "did not find expected ',' or '}'", Stage::ParserEnd),
    (YamlMistake::ColonInBrackets, "did not find expected ',' or ']'", Stage::Parser),
    (YamlMistake::CommaOrBrace, "did not find expected ',' or '}'", Stage::Parser),
    (YamlMistake::CommaOrBracket, "did not find expected ',' or ']'", Stage::Parser),
];

/// A problem with its line, as Go's reader writes it.
pub fn go_message(tree: &Tree, problem: &Diagnostic) -> String {
    let mistake = match problem.what() {
        What::About { names } if problem.rule == &YAML_ALIAS => {
            return format!("unknown anchor '{}' referenced", names.concat());
        }
        What::Yaml(mistake) => Some(*mistake),
        _ => None,
    };
    let place = problem.span.map(|span| tree.source().position(span.start));
    let (line, column) = place.map_or((1, 1), |place| (place.line as usize, place.column));
    let Some((_, words, stage)) = GO_WORDS.iter().find(|(known, ..)| Some(*known) == mistake) else {
        return if line == 1 { problem.message.clone() } else { format!("line {line}: {}", problem.message) };
    };
    let text = tree.source().text();
    let breaks = text.bytes().filter(|b| *b == b'\n').count();
    let line = match stage {
        Stage::Scanner if line > 1 => line,
        Stage::Scanner => 0,
        Stage::Parser => line - 1,
        Stage::NextLine => line + 1,
        Stage::ScannerEnd if breaks > 0 => breaks + 1,
        Stage::ScannerEnd => 0,
        Stage::ParserEnd => text.lines().count(),
    };
    let words = match tree.root() {
        Some(root) if root.is_list() && column == 1 && *words == "did not find expected key" => {
            "did not find expected '-' indicator"
        }
        _ => words,
    };
    if line == 0 { (*words).to_owned() } else { format!("line {line}: {words}") }
}

/// Builds values of the heap.
struct Reader<'h> {
    heap: &'h mut Heap,
    /// The text being read.
    bytes: &'h [u8],
    origin: u32,
    tainted: bool,
    pieces: Option<Vec<Piece>>,
}

impl Build for Reader<'_> {
    type Value = Val;
    type Map = BTreeMap<Str, Val>;

    fn leaf(&mut self, node: Node<'_>, leaf: Leaf<'_>) -> Val {
        let value = match leaf {
            Leaf::Null => Val::NIL,
            Leaf::Bool(truth) => Val::bool(truth),
            Leaf::Number(number) => Val::float(number),
            Leaf::Text(text) => match self.own_pieces(node, text) {
                Some(pieces) => {
                    let tainted = pieces.iter().any(|piece| piece.tainted);
                    return Val::new(Data::Str(Str::with_pieces(text.as_bytes().to_vec(), pieces))).taint(tainted);
                }
                None => Val::str(text),
            },
        };
        self.place(node, value)
    }

    fn list(&mut self, node: Node<'_>, items: Vec<Val>) -> Val {
        let is_empty = items.is_empty();
        let value = self.heap.any_list(items);
        if is_empty { self.place(node, value) } else { self.place_whole(node, value) }
    }

    fn insert(&mut self, map: &mut BTreeMap<Str, Val>, (node, text): (Node<'_>, Cow<'_, str>), value: Val) {
        let (origin, tainted) = self.source(node);
        let mut key = Str::from(text.as_ref());
        if tainted {
            key = self.heap.secret_key(key, Piece { end: 0, origin, site: 0, call: 0, tainted });
        }
        map.insert(key, value);
    }

    fn map(&mut self, node: Node<'_>, entries: BTreeMap<Str, Val>) -> Val {
        let is_empty = entries.is_empty();
        let value = self.heap.any_map(entries);
        if is_empty { self.place(node, value) } else { self.place_whole(node, value) }
    }
}

impl Reader<'_> {
    /// Gives a value the origin of the text it was read from.
    fn place(&self, node: Node<'_>, value: Val) -> Val {
        let (origin, tainted) = self.source(node);
        value.at(origin).taint(tainted)
    }

    /// The items of a collection have origins of their own; the collection itself has none.
    fn place_whole(&self, node: Node<'_>, value: Val) -> Val {
        let (origin, tainted) = self.source(node);
        value.at(if self.pieces.is_some() { 0 } else { origin }).taint(tainted)
    }

    /// The pieces of a string that was made of several values or comes from the template itself; `None` if the source
    /// has only one piece or the string is escaped in it.
    fn own_pieces(&self, node: Node<'_>, text: &str) -> Option<Vec<Piece>> {
        let (pieces, span) = (self.pieces.as_ref()?, node.span());
        let (start, end) = (span.start as usize, span.end as usize);
        let first = first_behind(pieces, start);
        if pieces.get(first).is_none_or(|piece| piece.origin != 0 && piece.end as usize >= end) {
            return None;
        }
        let from = start + memchr::memmem::find(self.bytes.get(start..end)?, text.as_bytes())?;
        let mut own = slice(pieces, from, from + text.len());
        let before = first_behind(pieces, from).checked_sub(1).and_then(|at| pieces.get(at));
        if let Some(piece) = own.first_mut().filter(|piece| piece.origin == 0) {
            piece.site += (from - before.map_or(0, |piece| piece.end as usize)) as u32;
        }
        Some(own)
    }

    /// The origin of the text that a node was read from, and whether it is secret.
    fn source(&self, node: Node<'_>) -> (u32, bool) {
        let Some(pieces) = &self.pieces else { return (self.origin, self.tainted) };
        let span = node.span();
        let mut start = span.start;
        let mut origin = 0;
        let mut tainted = false;
        let first = first_behind(pieces, span.start as usize);
        for piece in pieces.get(first..).unwrap_or_default() {
            if start >= span.end.max(span.start + 1) {
                break;
            }
            tainted |= piece.tainted;
            if origin == 0 {
                origin = piece.origin;
            }
            start = piece.end;
        }
        (origin, tainted)
    }
}

/// Writes a value as YAML with a piece for each leaf.
pub fn write_tracked(m: &mut Machine<'_>, value: &Val) -> Result<Val, Fault> {
    let mut writer = Tracked {
        inner: GoYamlWriter::with_limit(GoStyle::Kubernetes, m.limits.text),
        starts: Vec::new(),
        empty: None,
    };
    let mut leaves: Vec<(u32, bool, Option<Val>)> = Vec::new();
    let emitted = emit(&m.heap, value, KeyOrder::Natural(GoStyle::Kubernetes), &mut writer, &mut |leaf, done| {
        if done {
            let tainted = leaf.is_tainted() || crate::taint::holds_taint(&m.heap, std::slice::from_ref(leaf));
            let is_pieced = leaf.as_str().is_some_and(|text| text.pieces().is_some());
            leaves.push((leaf_origin(leaf), tainted, is_pieced.then(|| leaf.clone())));
        }
    });
    emitted.map_err(|error| Fault::new(error.message()))?;
    let ranges = writer.starts;
    let text = writer.inner.finish().map_err(|_| Fault::Limit(Limit::Text))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    // Keys have no range of their own: if one of them is secret, all are.
    let tainted = crate::taint::holds_secret_key(&m.heap, value);
    let own = Piece { end: 0, origin: value.origin, site: m.site, call: m.current_call(), tainted };
    let mut rope = Rope::default();
    let mut at = 0;
    for ((start, end), (origin, tainted, leaf)) in ranges.into_iter().zip(leaves) {
        let (start, end) = (start.min(text.len()), end.min(text.len()));
        rope.push(text.as_bytes().get(at..start).unwrap_or_default(), own);
        let origin = if origin == 0 { own.origin } else { origin };
        let written = text.as_bytes().get(start..end).unwrap_or_default();
        let whole = Piece { origin, tainted, ..own };
        let found = |leaf: &Val| memchr::memmem::find(written, leaf.as_str()?.bytes());
        match leaf.as_ref().and_then(|leaf| Some((found(leaf)?, leaf, leaf.as_str()?))) {
            // Written verbatim, perhaps in quotes: its parts keep their positions.
            Some((from, leaf, own_text)) => {
                let (before, rest) = written.split_at_checked(from).unwrap_or((written, b""));
                let (inside, behind) = rest.split_at_checked(own_text.len()).unwrap_or((rest, b""));
                rope.push(before, whole);
                rope.push_pieces(inside, own_text.pieces().unwrap_or_default(), leaf.is_tainted_as_whole());
                rope.push(behind, whole);
            }
            None => rope.push(written, whole),
        }
        at = end;
    }
    rope.push(text.as_bytes().get(at..).unwrap_or_default(), own);
    m.limited_rope(rope)
}

fn leaf_origin(leaf: &Val) -> u32 {
    if leaf.origin != 0 {
        return leaf.origin;
    }
    let pieces = leaf.as_str().and_then(Str::pieces).unwrap_or_default();
    pieces.iter().map(|piece| piece.origin).find(|origin| *origin != 0).unwrap_or(0)
}

/// The writer, recording the range of each scalar and each empty collection.
struct Tracked {
    inner: GoYamlWriter,
    starts: Vec<(usize, usize)>,
    /// Start of the empty collection that is being written.
    empty: Option<usize>,
}

impl Tracked {
    fn note(&mut self, write: impl FnOnce(&mut GoYamlWriter)) {
        let start = self.inner.len();
        write(&mut self.inner);
        self.starts.push((start, self.inner.len()));
    }

    fn begin(&mut self, len: usize) {
        self.empty = (len == 0).then(|| self.inner.len());
    }

    fn end(&mut self) {
        let range = self.empty.take().map(|start| (start, self.inner.len()));
        self.starts.extend(range);
    }
}

impl purlin_syntax::write::Emit for Tracked {
    fn null(&mut self) {
        self.note(|w| w.null());
    }
    fn bool(&mut self, value: bool) {
        self.note(|w| w.bool(value));
    }
    fn int(&mut self, value: i64) {
        self.note(|w| w.int(value));
    }
    fn float(&mut self, value: f64) {
        self.note(|w| w.float(value));
    }
    fn number(&mut self, text: &str) {
        self.note(|w| w.number(text));
    }
    fn string(&mut self, text: &str) {
        self.note(|w| w.string(text));
    }
    fn begin_list(&mut self, len: usize) {
        self.begin(len);
        self.inner.begin_list(len);
    }
    fn end_list(&mut self) {
        self.inner.end_list();
        self.end();
    }
    fn begin_map(&mut self, len: usize) {
        self.begin(len);
        self.inner.begin_map(len);
    }
    fn key(&mut self, key: &str) {
        self.inner.key(key);
    }
    fn end_map(&mut self) {
        self.inner.end_map();
        self.end();
    }
    fn stopped(&self) -> bool {
        self.inner.stopped()
    }
}
