//! Builds a [`Tree`] from the events of a reader.
//!
//! Interns keys, resolves aliases, finds duplicate keys and counts what aliases would expand to, all in one pass
//! and without recursion. Knows nothing of YAML's or JSON's notation.

use crate::diagnostic::Diagnostic;
use crate::limits::Limits;
use crate::rules;
use crate::scalar::{self, Flavor, Scalar};
use crate::source::{Source, Span};
use crate::tree::{Comment, DECORATED, Decoration, KEY, Kind, Raw, STORED, Style, Tree, offset};
use crate::what::Message;
use ecow::EcoString;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::sync::Arc;

/// The distinct keys of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    texts: Vec<EcoString>,
    table: HashTable<u32>,
    hasher: foldhash::fast::FixedState,
}

impl Names {
    /// Capacity for the keys of a text of this size: few in small files, repeated in large ones.
    fn for_text(bytes: usize) -> Self {
        let room = (bytes / 32).min(48);
        Names { texts: Vec::with_capacity(room), table: HashTable::with_capacity(room), ..Names::default() }
    }

    fn intern(&mut self, text: &str) -> u32 {
        let hash = self.hasher.hash_one(text);
        let Names { texts, table, hasher } = self;
        let same = |&at: &u32| texts.get(at as usize).is_some_and(|t| t == text);
        if let Some(&at) = table.find(hash, same) {
            return at;
        }
        let at = offset(texts.len());
        texts.push(EcoString::from(text));
        let rehash = |&at: &u32| hasher.hash_one(texts.get(at as usize).map_or("", EcoString::as_str));
        table.insert_unique(hash, at, rehash);
        at
    }

    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(text);
        self.table.find(hash, |&at| self.get(at) == text).copied()
    }

    #[inline]
    pub(crate) fn get(&self, at: u32) -> &str {
        self.texts.get(at as usize).map_or("", EcoString::as_str)
    }

    /// All names, in order of first occurrence.
    pub(crate) fn all(&self) -> &[EcoString] {
        &self.texts
    }

    pub(crate) fn shared(&self, at: u32) -> EcoString {
        self.texts.get(at as usize).cloned().unwrap_or_default()
    }

    pub(crate) fn memory(&self) -> usize {
        self.texts.iter().map(|t| size_of::<EcoString>() + t.len()).sum::<usize>() + self.table.capacity() * 5
    }
}

/// Tag and anchor of the node about to be built.
#[derive(Default)]
pub struct Properties {
    /// Resolved tag.
    pub tag: Option<EcoString>,
    /// A number the reader gives to the anchor, by which aliases refer to it; 0 for none. Later anchors have
    /// greater numbers.
    pub anchor: usize,
}

/// Size of a node once aliases are expanded.
#[derive(Clone, Copy, Default)]
struct Expanded {
    nodes: u64,
    /// Bytes of text.
    bytes: u64,
}

impl Expanded {
    fn text(bytes: usize) -> Self {
        Expanded { nodes: 1, bytes: bytes as u64 }
    }

    fn add(&mut self, other: Expanded) {
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

struct Frame {
    node: u32,
    /// For mappings: whether the next child is a key.
    key_next: Option<bool>,
    /// Start of this mapping's keys in `Builder::keys`.
    keys_from: usize,
    expanded: Expanded,
    anchor: usize,
}

struct Anchored {
    id: usize,
    node: u32,
    /// None while the node is still open: an alias to it would be a cycle.
    expanded: Option<Expanded>,
}

/// Builds one tree. Call it with the events of a document, in order.
pub struct Builder<'a> {
    tree: Tree,
    limits: &'a Limits,
    frames: Vec<Frame>,
    keys: Vec<(u32, u32)>,
    anchors: Vec<Anchored>,
    document_start: usize,
    document_expanded: Expanded,
    /// End of the last node.
    last_end: u32,
    /// Whether there are more nodes than allowed; further ones are dropped.
    full: bool,
    /// Number of duplicate keys; only the first [`MOST_DUPLICATES`] are reported one by one.
    duplicates: usize,
}

/// Duplicate keys of a file that are reported one by one.
const MOST_DUPLICATES: usize = 1_000;

impl<'a> Builder<'a> {
    /// A builder for one source.
    pub fn new(source: Arc<Source>, flavor: Flavor, limits: &'a Limits) -> Self {
        // Typical configuration has a node per nine or ten bytes; one allocation is usually enough.
        let nodes = Vec::with_capacity(source.text().len() / 10 + 8);
        let names = Names::for_text(source.text().len());
        let tree = Tree {
            source,
            flavor,
            nodes,
            roots: Vec::new(),
            names,
            strings: Vec::new(),
            decorations: Vec::new(),
            comments: Vec::new(),
            diagnostics: Vec::new(),
            base: 0,
        };
        Builder {
            tree,
            limits,
            frames: Vec::new(),
            keys: Vec::new(),
            anchors: Vec::new(),
            document_start: 0,
            document_expanded: Expanded::default(),
            last_end: 0,
            full: false,
            duplicates: 0,
        }
    }

    /// Adds a problem.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.tree.diagnostics.push(diagnostic);
    }

    /// Whether the source is small enough to be read; reports it if not.
    pub fn check_size(&mut self) -> bool {
        let bytes = self.tree.source.text().len();
        if bytes as u64 <= self.limits.file_bytes {
            return true;
        }
        let message = format!("this file has {bytes} bytes, more than the {} allowed", self.limits.file_bytes);
        let diagnostic = Diagnostic::at(&rules::LIMIT_FILE, self.span(0, 0), message);
        self.report(diagnostic.hint("raise it with `--limit file-size=BYTES`"));
        false
    }

    /// A span of this source.
    pub fn span(&self, start: usize, end: usize) -> Span {
        self.tree.source.span(start, end)
    }

    /// Whether the file has more nodes than allowed, so that reading on is pointless.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// A document begins at a byte.
    pub fn begin_document(&mut self, start: usize) {
        self.document_start = start;
        self.document_expanded = Expanded::default();
        self.anchors.clear();
    }

    /// A document ends at a byte; open collections are closed there.
    pub fn end_document(&mut self, end: usize) {
        while !self.frames.is_empty() {
            self.end_collection(end);
        }
        let bytes = end.saturating_sub(self.document_start) as u64;
        let (nodes, text) = (self.limits.alias_nodes(bytes), self.limits.alias_bytes(bytes));
        let span = self.span(self.document_start, self.document_start + 1);
        let hint = "write the repeated parts out, or repeat less";
        if self.document_expanded.nodes > nodes {
            let message = format!("aliases expand this document to more than {nodes} nodes");
            self.report(Diagnostic::at(&rules::LIMIT_ALIAS, span, message).hint(hint));
        } else if self.document_expanded.bytes > text {
            let message = format!("aliases expand the text of this document to more than {text} bytes");
            self.report(Diagnostic::at(&rules::LIMIT_ALIAS_SIZE, span, message).hint(hint));
        } else if !self.full {
            return;
        }
        // Such a tree must not be walked: the whole document becomes an error.
        let root = self.tree.roots.last().copied();
        if let Some(raw) = root.and_then(|root| self.tree.nodes.get_mut(root as usize)) {
            raw.kind = Kind::Error;
        }
    }

    /// Names the anchor of the node built last.
    pub fn anchor_name(&mut self, name: &str) {
        let Some(last) = self.tree.nodes.len().checked_sub(1) else { return };
        self.decorate(offset(last)).anchor = Some(EcoString::from(name));
    }

    /// Adds a comment.
    pub fn comment(&mut self, start: usize, end: usize, trailing: bool) {
        let span = self.span(start, end);
        self.tree.comments.push(Comment { span, trailing });
    }

    /// Location of an empty node: right behind the token it belongs to, not behind the comments and blank lines after
    /// that, where a reader notices it.
    pub fn empty_place(&self, noticed: usize) -> (usize, usize) {
        let text = self.tree.source.text();
        let mut at = noticed;
        let mut comments = self.tree.comments.iter().rev().peekable();
        loop {
            at = text.get(..at).map_or(at, |before| before.trim_end_matches([' ', '\n']).len());
            match comments.next_if(|comment| comment.span.end as usize >= at) {
                Some(comment) if (comment.span.start as usize) < at => at = comment.span.start as usize,
                Some(_) => {}
                None => return (at, at),
            }
        }
    }

    /// Adds a scalar. A borrowed text must be a part of the source.
    pub fn scalar(&mut self, text: &str, style: Style, start: usize, end: usize, properties: Properties) {
        let is_key = self.expects_key();
        let (flags, extra) =
            if is_key { (KEY, self.tree.names.intern(text)) } else { self.place_text(text, style, start, end) };
        let node = self.push(Raw { kind: Kind::Scalar, style, flags, extra, start: offset(start), end: offset(end) });
        if is_key {
            self.keys.push((extra, node));
        }
        let anchor = properties.anchor;
        self.apply(node, properties);
        if anchor != 0 {
            self.anchors.push(Anchored { id: anchor, node, expanded: Some(Expanded::text(text.len())) });
        }
        self.finish_child(Expanded::text(text.len()));
    }

    /// Where the text of a scalar is found later: in the source if it is verbatim there, else stored.
    fn place_text(&mut self, text: &str, style: Style, start: usize, end: usize) -> (u16, u32) {
        let quotes = usize::from(matches!(style, Style::Single | Style::Double));
        let in_source = match style {
            Style::Plain | Style::Single | Style::Double => {
                start + quotes <= end.saturating_sub(quotes)
                    && self.tree.source.text().get(start + quotes..end - quotes).is_some_and(|s| s == text)
            }
            Style::Empty => text.is_empty(),
            _ => false,
        };
        if in_source {
            return (0, 0);
        }
        self.tree.strings.push(EcoString::from(text));
        (STORED, offset(self.tree.strings.len() - 1))
    }

    /// Opens a mapping; its children are keys and values in turn. False if that is too deep.
    pub fn begin_map(&mut self, style: Style, start: usize, properties: Properties) -> bool {
        self.begin(Kind::Map, style, start, properties)
    }

    /// Opens a sequence. False if that is too deep.
    pub fn begin_list(&mut self, style: Style, start: usize, properties: Properties) -> bool {
        self.begin(Kind::List, style, start, properties)
    }

    fn begin(&mut self, kind: Kind, style: Style, start: usize, properties: Properties) -> bool {
        if self.frames.len() >= self.limits.depth as usize {
            let span = self.span(start, start + 1);
            let message = format!("collections are nested deeper than {} levels", self.limits.depth);
            self.report(Diagnostic::at(&rules::LIMIT_DEPTH, span, message));
            return false;
        }
        let flags = if self.expects_key() { KEY } else { 0 };
        let at = offset(start);
        let node = self.push(Raw { kind, style, flags, extra: 0, start: at, end: at });
        let anchor = properties.anchor;
        self.apply(node, properties);
        if anchor != 0 {
            self.anchors.push(Anchored { id: anchor, node, expanded: None });
        }
        let key_next = (kind == Kind::Map).then_some(true);
        self.frames.push(Frame { node, key_next, keys_from: self.keys.len(), expanded: Expanded::text(0), anchor });
        !self.full
    }

    /// Closes the innermost collection at a byte.
    pub fn end_collection(&mut self, end: usize) {
        if self.frames.last().is_some_and(|frame| frame.key_next == Some(false)) {
            // A key without a value, where reading stopped: the value is an error.
            self.error(end, end);
        }
        let Some(frame) = self.frames.pop() else { return };
        let after = offset(self.tree.nodes.len());
        let first = self.tree.nodes.get(frame.node as usize + 1).map_or(u32::MAX, |child| child.start);
        if let Some(raw) = self.tree.nodes.get_mut(frame.node as usize) {
            raw.extra = after;
            raw.start = raw.start.min(first);
            // A block collection ends with its last part, wherever the reader noticed the end.
            let end = if raw.style == Style::Block { self.last_end } else { offset(end) };
            raw.end = end.max(raw.start);
            self.last_end = raw.end;
        }
        if frame.key_next.is_some() {
            self.check_duplicates(frame.keys_from);
            self.keys.truncate(frame.keys_from);
        }
        if frame.anchor != 0
            && let Some(at) = self.anchored(frame.anchor)
        {
            self.anchors[at].expanded = Some(frame.expanded);
        }
        self.finish_child(frame.expanded);
    }

    /// Adds an alias to the anchor with the reader's number.
    pub fn alias(&mut self, anchor: usize, start: usize, end: usize) {
        let found = self.anchored(anchor).and_then(|at| self.anchors.get(at)).map(|a| (a.node, a.expanded));
        match found {
            Some((node, Some(expanded))) => self.push_alias(node, expanded, start, end),
            Some((_, None)) => self.bad_alias("this alias refers to the node that contains it", start, end),
            None => self.bad_alias("this alias names no anchor before it in the document", start, end),
        }
    }

    /// Index of an anchor in the list, which is sorted by number.
    fn anchored(&self, id: usize) -> Option<usize> {
        self.anchors.binary_search_by_key(&id, |anchored| anchored.id).ok()
    }

    fn push_alias(&mut self, node: u32, expanded: Expanded, start: usize, end: usize) {
        let target = self.tree.nodes.get(node as usize).copied();
        // A key must be comparable with other keys, so an alias to a scalar becomes that scalar.
        if self.expects_key()
            && let Some(Raw { kind: Kind::Scalar, style, .. }) = target
        {
            let text = crate::tree::Node { tree: &self.tree, index: node }.text().to_owned();
            return self.scalar(&text, style, start, end, Properties::default());
        }
        let flags = if self.expects_key() { KEY } else { 0 };
        self.push(Raw {
            kind: Kind::Alias,
            style: Style::Plain,
            flags,
            extra: node,
            start: offset(start),
            end: offset(end),
        });
        self.finish_child(expanded);
    }

    /// Adds an alias to an undefined anchor.
    pub fn bad_alias(&mut self, message: impl Into<Message>, start: usize, end: usize) {
        let span = self.span(start, end);
        self.report(Diagnostic::at(&rules::YAML_ALIAS, span, message));
        self.error(start, end);
    }

    /// Adds a node that could not be read; its problem is already reported.
    pub fn error(&mut self, start: usize, end: usize) {
        let flags = if self.expects_key() { KEY } else { 0 };
        self.push(Raw {
            kind: Kind::Error,
            style: Style::Empty,
            flags,
            extra: 0,
            start: offset(start),
            end: offset(end),
        });
        self.finish_child(Expanded::text(0));
    }

    /// Marks the last value as an error if it reaches into the unreadable line that begins at `line`: its lines were
    /// meant to be something else.
    pub fn spoil(&mut self, line: usize) {
        let line = offset(line);
        let reaches = |last: &&mut Raw| last.kind == Kind::Scalar && last.start < line && line < last.end;
        let plain = |last: &&mut Raw| last.style == Style::Plain && last.flags & KEY == 0;
        if let Some(last) = self.tree.nodes.last_mut().filter(reaches).filter(plain) {
            (last.kind, last.style, last.flags, last.extra) = (Kind::Error, Style::Empty, 0, 0);
        }
    }

    /// The finished tree.
    pub fn finish(mut self, end: usize) -> Tree {
        if !self.frames.is_empty() {
            self.end_document(end);
        }
        if let Some(more) = self.duplicates.checked_sub(MOST_DUPLICATES).filter(|more| *more > 0) {
            let message = format!("{more} more duplicate keys in this file");
            self.report(Diagnostic::at(&rules::DUPLICATE_KEY, self.span(0, 0), message));
        }
        self.tree.nodes.shrink_to(self.tree.nodes.len() + self.tree.nodes.len() / 4);
        self.tree.decorations.sort_by_key(|d| d.node);
        self.tree
    }

    fn expects_key(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.key_next == Some(true))
    }

    #[inline]
    fn push(&mut self, raw: Raw) -> u32 {
        let index = offset(self.tree.nodes.len());
        if index as u64 >= self.limits.nodes {
            return self.push_nothing(raw);
        }
        if self.frames.is_empty() {
            self.tree.roots.push(index);
        }
        self.tree.nodes.push(raw);
        self.last_end = raw.end;
        index
    }

    /// The file has more nodes than allowed: one error replaces all further ones, and open collections become errors.
    #[cold]
    fn push_nothing(&mut self, raw: Raw) -> u32 {
        if !self.full {
            self.full = true;
            self.tree.nodes.push(Raw { kind: Kind::Error, ..raw });
            let most = self.limits.nodes;
            let message = format!("this file has more than the {most} keys, values and collections allowed");
            let span = Span::new(self.tree.source.id(), raw.start, raw.start.saturating_add(1));
            self.report(Diagnostic::at(&rules::LIMIT_NODES, span, message).hint("raise it with `--limit nodes=N`"));
        }
        let last = offset(self.tree.nodes.len() - 1);
        if self.frames.is_empty() {
            self.tree.roots.push(last);
        }
        last
    }

    fn apply(&mut self, node: u32, properties: Properties) {
        if let Some(tag) = properties.tag {
            self.decorate(node).tag = Some(tag);
        }
    }

    fn decorate(&mut self, node: u32) -> &mut Decoration {
        if let Some(raw) = self.tree.nodes.get_mut(node as usize) {
            raw.flags |= DECORATED;
        }
        let all = &mut self.tree.decorations;
        if all.last().is_none_or(|d| d.node != node) {
            all.push(Decoration { node, ..Decoration::default() });
        }
        let last = all.len() - 1;
        &mut all[last]
    }

    fn finish_child(&mut self, expanded: Expanded) {
        match self.frames.last_mut() {
            Some(frame) => {
                frame.expanded.add(expanded);
                if let Some(key_next) = &mut frame.key_next {
                    *key_next = !*key_next;
                }
            }
            None => self.document_expanded.add(expanded),
        }
    }

    fn check_duplicates(&mut self, from: usize) {
        let mut sorted: Vec<(u32, u32)>;
        let own = self.keys.get(from..).unwrap_or(&[]);
        let found: Vec<(u32, u32)> = if own.len() <= 8 {
            let twice = |(at, key): (usize, &(u32, u32))| {
                let first = own.get(..at)?.iter().find(|earlier| earlier.0 == key.0)?;
                Some((first.1, key.1))
            };
            own.iter().enumerate().filter_map(twice).collect()
        } else {
            sorted = own.to_vec();
            sorted.sort_unstable();
            sorted.windows(2).filter(|w| w[0].0 == w[1].0).map(|w| (w[0].1, w[1].1)).collect()
        };
        for (first, second) in found {
            self.report_duplicate(first, second);
        }
    }

    fn report_duplicate(&mut self, first: u32, second: u32) {
        let (Some(&a), Some(&b)) = (self.tree.nodes.get(first as usize), self.tree.nodes.get(second as usize)) else {
            return;
        };
        let name = self.tree.names.get(a.extra);
        if (a.style == Style::Plain) != (b.style == Style::Plain) && !plain_is_text(name, self.tree.flavor) {
            // `1` and `"1"` are different keys.
            return;
        }
        if name == "<<" && a.style == Style::Plain && b.style == Style::Plain {
            // Two merge keys in a mapping are common and unambiguous.
            return;
        }
        self.duplicates += 1;
        if self.duplicates > MOST_DUPLICATES {
            return;
        }
        let name = if a.style == Style::Empty { "~" } else { name };
        let message = format!("duplicate key `{name}`");
        let file = self.tree.source.id();
        let diagnostic = Diagnostic::at(&rules::DUPLICATE_KEY, Span::new(file, b.start, b.end), message)
            .label(Span::new(file, a.start, a.end), "first here")
            .hint("remove one of the two, or give it another name");
        self.report(diagnostic);
    }
}

fn plain_is_text(text: &str, flavor: Flavor) -> bool {
    scalar::resolve(text, Style::Plain, None, flavor) == Scalar::Str
}
