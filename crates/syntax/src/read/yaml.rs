//! Reads YAML into a [`Tree`].
//!
//! Never fails: each unreadable part is reported at its exact location, and reading goes on with the next document.
//! The event parser is `granit-parser`, which is used in this file only.

use crate::build::{Builder, Properties};
use crate::diagnostic::Diagnostic;
use crate::limits::Limits;
use crate::mistake::Stop;
use crate::outdent::Padded;
use crate::plain;
use crate::rules;
use crate::scalar::Flavor;
use crate::source::Source;
use crate::tree::{Style, Tree};
use crate::what::{self, Message, What};
use crate::yaml_mistake::{YamlMistake, is_about_tab, of_parser};
use ecow::EcoString;
use granit_parser::{ErrorKind, Event, Parser, Placement, ScalarStyle, ScanError, StructureStyle, Tag};
use std::borrow::Cow;
use std::sync::Arc;

/// Reads a source; problems are in [`Tree::diagnostics`].
pub fn parse(source: Arc<Source>, flavor: Flavor, limits: &Limits) -> Tree {
    plain::parse(&source, flavor, limits).unwrap_or_else(|| parse_fully(source, flavor, limits))
}

/// Reads a source with the full reader, whatever its content.
pub(crate) fn parse_fully(source: Arc<Source>, flavor: Flavor, limits: &Limits) -> Tree {
    let mut builder = Builder::new(source.clone(), flavor, limits);
    let whole = source.text();
    if !builder.check_size() {
        return builder.finish(0);
    }
    let text = readable_part(&mut builder, whole);
    let (mut tree, mut outdented) = Reader::new(builder, text, flavor, None).read(limits);
    let mut padded: Option<Padded> = None;
    // The lines of a quoted string need not be indented if the rest is valid; otherwise a quote is missing.
    for _ in 0..MAX_OUTDENTED {
        let Some((from, at)) = outdented else { break };
        padded = Padded::around(padded.as_ref(), text, from, at);
        let Some(copy) = &padded else { break };
        let mut builder = Builder::new(source.clone(), flavor, limits);
        readable_part(&mut builder, whole);
        let (again, next) = Reader::new(builder, &copy.text, flavor, Some(copy)).read(limits);
        // Each document of the file may have such strings.
        if again.diagnostics().len() < tree.diagnostics().len() {
            tree = again;
        }
        outdented = next;
    }
    tree
}

/// Limit on quoted strings with too little indentation in one file.
const MAX_OUTDENTED: usize = 32;

/// The text up to the first NUL, which YAML forbids and the event parser would treat as the end.
fn readable_part<'s>(builder: &mut Builder<'_>, text: &'s str) -> &'s str {
    let Some(at) = memchr::memchr(0, text.as_bytes()) else { return text };
    let span = builder.span(at, at + 1);
    let message = "there is a NUL character here; the rest of the file was not read";
    builder.report(Diagnostic::at(&rules::ENCODING, span, message));
    text.get(..at).unwrap_or("")
}

struct Reader<'s, 'l> {
    builder: Builder<'l>,
    text: &'s str,
    flavor: Flavor,
    /// If the text is a copy of the source with lines indented, the map back to it.
    padded: Option<&'s Padded>,
}

impl<'s, 'l> Reader<'s, 'l> {
    fn new(builder: Builder<'l>, text: &'s str, flavor: Flavor, padded: Option<&'s Padded>) -> Self {
        Reader { builder, text, flavor, padded }
    }

    /// Returns the tree; and for the first quoted string with a line that is indented too little, where it may start
    /// and the position of the line.
    fn read(mut self, limits: &Limits) -> (Tree, Option<(usize, usize)>) {
        let depth = limits.depth as usize + 1;
        let options = granit_parser::options! {
            emit_unresolved_aliases: true,
            emit_anchor_events: true,
            max_buffered_comment_events: 100_000,
            flow_nesting_limit: depth,
            block_nesting_limit: depth,
        };
        let text = self.text;
        let mut parser = Parser::new_from_str_with_options(text, options);
        let mut outdented = None;
        let mut last_end = 0;
        loop {
            match parser.next_event() {
                None | Some(Ok((Event::StreamEnd, _))) => break,
                Some(Ok((event, span))) => {
                    let range = span.byte_range().unwrap_or(text.len()..text.len());
                    last_end = range.end;
                    let goes_on = self.take(event, range.start, range.end);
                    if self.builder.is_full() {
                        break;
                    }
                    if goes_on {
                        continue;
                    }
                    self.builder.end_document(self.place(range.start));
                }
                Some(Err(error)) => {
                    if is_outdented(error.kind(), self.flavor) && outdented.is_none() {
                        outdented = error.marker().byte_offset().map(|at| (last_end, at));
                    }
                    self.fail(&error, last_end);
                }
            }
            // A document was given up here: the next one may still be valid.
            if !parser.proceed_next_document().unwrap_or(false) {
                break;
            }
        }
        let end = self.place(text.len());
        (self.builder.finish(end), outdented)
    }

    /// The offset in the source of an offset in the text.
    fn place(&self, at: usize) -> usize {
        self.padded.map_or(at, |padded| padded.original(at))
    }

    /// Adds an event to the tree; false if the document cannot continue.
    fn take(&mut self, event: Event<'_>, start: usize, end: usize) -> bool {
        if let Event::Scalar(text, style, anchor, tag) = event {
            self.scalar(text, style, anchor, tag, start, end);
            return true;
        }
        let (start, end) = (self.place(start), self.place(end));
        match event {
            Event::DocumentStart(..) => self.builder.begin_document(start),
            Event::DocumentEnd => self.builder.end_document(start),
            Event::MappingStart(style, anchor, tag) => {
                return self.builder.begin_map(structure(style), start, properties(anchor, tag));
            }
            Event::SequenceStart(style, anchor, tag) => {
                return self.builder.begin_list(structure(style), start, properties(anchor, tag));
            }
            Event::MappingEnd | Event::SequenceEnd => self.builder.end_collection(end),
            Event::Alias(id) => self.builder.alias(id, start, end),
            Event::UnresolvedAlias(name) => {
                let message = what::about([&name], format!("undefined anchor `&{name}`"));
                self.builder.bad_alias(message, start, end);
            }
            Event::Anchor(_, name) => self.builder.anchor_name(&name),
            Event::Comment(_, placement) => self.builder.comment(start, end, placement == Placement::Right),
            _ => {}
        }
        true
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<Cow<'_, Tag>>,
        start: usize,
        end: usize,
    ) {
        let (text, style) = match style {
            // An empty node arrives as `~` with an empty range.
            ScalarStyle::Plain if start == end => (Cow::Borrowed(""), Style::Empty),
            ScalarStyle::Plain => (text, Style::Plain),
            ScalarStyle::SingleQuoted => (text, Style::Single),
            ScalarStyle::DoubleQuoted => (text, Style::Double),
            ScalarStyle::Literal => (self.block_end(text, end), Style::Literal),
            ScalarStyle::Folded => (self.block_end(text, end), Style::Folded),
        };
        let (start, end) = match style {
            Style::Literal => self.block_span('|', start, end),
            Style::Folded => self.block_span('>', start, end),
            _ => (start, end),
        };
        let (start, end) = match style {
            Style::Empty => self.builder.empty_place(self.place(start)),
            _ => (self.place(start), self.place(end)),
        };
        self.builder.scalar(&text, style, start, end, properties(anchor, tag));
    }

    /// A block scalar from its indicator to its last character; the parser reports its lines and the text after them.
    fn block_span(&self, indicator: char, start: usize, end: usize) -> (usize, usize) {
        let from = self.text.get(..start).and_then(|before| before.rfind(indicator)).unwrap_or(start);
        let length = self.text.get(from..end).map_or(0, |text| text.trim_end().len());
        (from, from + length)
    }

    /// A block scalar that ends with the file and without a line break: some families add one, some do not.
    fn block_end<'t>(&self, text: Cow<'t, str>, end: usize) -> Cow<'t, str> {
        // This applies to a last line without a break, not to blank lines after it.
        let lines = self.text.get(..end).unwrap_or("").trim_end().len();
        let at_end = !self.text.get(lines..).unwrap_or("").contains('\n');
        if !at_end || self.flavor.ends_blocks_with_newline() || !text.ends_with('\n') {
            return text;
        }
        Cow::Owned(text.get(..text.len() - 1).unwrap_or("").to_owned())
    }

    fn fail(&mut self, error: &ScanError, last: usize) {
        let at = error.marker().byte_offset().unwrap_or(self.text.len()).min(self.text.len());
        let stop = Stop { text: self.text, at, last: last.min(at) };
        let ends = self.text.get(at..).is_none_or(|rest| rest.trim().is_empty());
        let place = match error.kind() {
            kind if is_about_tab(&kind.to_string()) => stop.tab(),
            ErrorKind::UnclosedQuotedScalar => stop.open_quote(),
            ErrorKind::InvalidQuotedScalarIndent if ends => stop.open_quote(),
            ErrorKind::UnknownQuotedScalarEscape => stop.bad_escape(),
            _ => None,
        };
        let known = place.is_some() || is_certain(error.kind());
        let mistake = if known { None } else { stop.mistake() };
        let end = self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(at, |c| at + c.len_utf8());
        let place = place.or_else(|| mistake.as_ref().map(|mistake| mistake.place.clone())).unwrap_or(at..end);
        let span = self.builder.span(self.place(place.start), self.place(place.end));
        let diagnostic = match (error.kind(), mistake) {
            (_, Some(mistake)) => said(mistake.what, span).hint(mistake.what.hint()),
            (ErrorKind::RecursionLimitExceeded, _) => {
                Diagnostic::at(&rules::LIMIT_DEPTH, span, "collections are nested too deep")
            }
            (ErrorKind::InvalidQuotedScalarIndent, _) if ends => explain(&ErrorKind::UnclosedQuotedScalar, &stop, span),
            (kind, None) => explain(kind, &stop, span),
        };
        let opened = stop.open_quote().filter(|_| *error.kind() == ErrorKind::InvalidQuotedScalarIndent && !ends);
        let opened = opened.map(|quote| self.builder.span(self.place(quote.start), self.place(quote.end)));
        self.builder.report(match opened {
            Some(quote) => diagnostic.label(quote, "it is opened here"),
            None => diagnostic,
        });
        let line = self.text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        self.builder.spoil(self.place(line));
        self.builder.end_document(self.place(at));
    }
}

/// Whether a line of a quoted string is indented too little, or with a tab, and the family's own parser accepts it.
fn is_outdented(kind: &ErrorKind, flavor: Flavor) -> bool {
    match kind {
        ErrorKind::InvalidQuotedScalarIndent => true,
        ErrorKind::TabInIndentation => flavor != Flavor::Core,
        _ => false,
    }
}

/// Whether the parser's message needs no closer look.
fn is_certain(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::RecursionLimitExceeded
            | ErrorKind::UnclosedQuotedScalar
            | ErrorKind::InvalidQuotedScalarIndent
            | ErrorKind::UnclosedFlowCollection { .. }
            | ErrorKind::BomInsideDocument
    )
}

fn structure(style: StructureStyle) -> Style {
    match style {
        StructureStyle::Block => Style::Block,
        StructureStyle::Flow => Style::Flow,
    }
}

fn properties(anchor: usize, tag: Option<Cow<'_, Tag>>) -> Properties {
    let tag = tag.map(|tag| {
        let mut whole = EcoString::from(tag.handle());
        whole.push_str(tag.suffix());
        whole
    });
    Properties { tag, anchor }
}

/// A mistake at its location.
fn said(mistake: YamlMistake, span: crate::Span) -> Diagnostic {
    Diagnostic::at(&rules::YAML_SYNTAX, span, Message::new(What::Yaml(mistake)))
}

/// The parser's error as a named mistake.
fn named(kind: &ErrorKind, stop: &Stop<'_>) -> Option<YamlMistake> {
    let text = kind.to_string();
    Some(match kind {
        _ if is_about_tab(&text) => YamlMistake::Tab,
        ErrorKind::UnclosedQuotedScalar => YamlMistake::OpenQuote,
        ErrorKind::InvalidQuotedScalarIndent => YamlMistake::QuoteStillOpen,
        ErrorKind::UnclosedFlowCollection { open: '[' } => YamlMistake::OpenBracket,
        ErrorKind::UnclosedFlowCollection { .. } => YamlMistake::OpenBrace,
        ErrorKind::UnexpectedEofFlowSequence => YamlMistake::EndsInBrackets,
        ErrorKind::UnexpectedEofFlowMapping => YamlMistake::EndsInBraces,
        ErrorKind::InvalidIndentation | ErrorKind::ExpectedBlockMappingKey | ErrorKind::ExpectedBlockSequenceEntry => {
            YamlMistake::Indentation
        }
        ErrorKind::SimpleKeyExpected => YamlMistake::NoColon,
        ErrorKind::UnknownQuotedScalarEscape => YamlMistake::UnknownEscape,
        _ => match of_parser(&text)? {
            YamlMistake::KeyBehindValue if stop.has_value_before() => YamlMistake::SecondColon,
            mistake => mistake,
        },
    })
}

/// Describes the error in a user's words, with a hint where the cause is usually known.
fn explain(kind: &ErrorKind, stop: &Stop<'_>, span: crate::Span) -> Diagnostic {
    let (text, at) = (stop.text, stop.at);
    let (diagnostic, hint) = match (kind, named(kind, stop)) {
        (ErrorKind::BomInsideDocument, _) => {
            let message = "there is a byte-order mark inside the document";
            (Diagnostic::at(&rules::YAML_SYNTAX, span, message), None)
        }
        (_, Some(mistake)) => (said(mistake, span), Some(mistake.hint())),
        (kind, None) => (Diagnostic::at(&rules::YAML_SYNTAX, span, kind.to_string()), None),
    };
    if text.get(at..).is_some_and(|rest| rest.starts_with("{{"))
        || text.get(at.saturating_sub(1)..).is_some_and(|rest| rest.starts_with("{{"))
    {
        return diagnostic.hint("`{{ … }}` must be quoted in plain YAML");
    }
    diagnostic.maybe_hint(hint)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::source::FileId;
    use crate::tree::{Kind, Node};

    fn read(text: &str) -> Tree {
        parse(Arc::new(Source::new(FileId(0), "t.yaml", text)), Flavor::Core, &Limits::default())
    }

    fn messages(tree: &Tree) -> Vec<String> {
        let line = |d: &Diagnostic| {
            let at = tree.source().position(d.span.unwrap().start);
            format!("{}:{} {} {}", at.line, at.column, d.rule.name, d.message)
        };
        tree.diagnostics().iter().map(line).collect()
    }

    fn spans<'t>(node: Node<'t>, out: &mut Vec<&'t str>) {
        out.push(node.tree().source().slice(node.span()));
        for entry in node.entries() {
            spans(entry.key, out);
            spans(entry.value, out);
        }
        for item in node.items() {
            spans(item, out);
        }
    }

    #[test]
    fn every_document_may_have_strings_that_are_not_indented() {
        let text = "a:\n  b: 'x\n  y'\n  c: 'x\n  y'\n---\na:\n  b: 'x\n  y'\n  c: 'x\n  y'\n";
        assert!(read(text).diagnostics().is_empty());
    }

    #[test]
    fn every_node_knows_its_place() {
        let tree = read("a: 'x''y'\nb: [1, \"two\", *m]\n".replace("*m", "&m z").as_str());
        let mut found = Vec::new();
        spans(tree.root().unwrap(), &mut found);
        assert_eq!(found[1..3], ["a", "'x''y'"]);
        assert_eq!(found[4], "[1, \"two\", &m z]");
        assert_eq!(found[5..], ["1", "\"two\"", "z"]);
        assert_eq!(tree.root().unwrap().get("a").unwrap().text(), "x'y");
        assert_eq!(tree.root().unwrap().get("b").unwrap().items().nth(1).unwrap().text(), "two");
        assert_eq!(tree.root().unwrap().get("b").unwrap().items().nth(2).unwrap().anchor(), Some("m"));
    }

    #[test]
    fn aliases_are_shared() {
        let tree = read("base: &b {x: 1}\ncopy: *b\n");
        let root = tree.root().unwrap();
        assert_eq!(root.get("copy").unwrap().target(), root.get("base").unwrap());
        assert_eq!(root.get("copy").unwrap().get("x").unwrap().as_int(), Some(1));
        assert_eq!(root.get("copy").unwrap().tree().source().slice(root.get("copy").unwrap().span()), "*b");
    }

    #[test]
    fn problems_have_places_and_the_rest_is_read() {
        let tree = read("a: [1, 2\n---\nb: 1\nb: 2\n---\nc: *no\n");
        assert_eq!(
            messages(&tree),
            [
                "1:4 yaml-syntax this `[` is never closed",
                "4:1 duplicate-key duplicate key `b`",
                "6:4 yaml-alias undefined anchor `&no`"
            ]
        );
        assert_eq!(tree.roots().len(), 3);
    }

    #[test]
    fn bombs_do_not_go_off() {
        let mut bomb = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
        for (name, of) in ["b", "c", "d", "e", "f", "g", "h"].iter().zip(["a", "b", "c", "d", "e", "f", "g"]) {
            bomb.push_str(&format!(
                "{name}: &{name} [*{of}, *{of}, *{of}, *{of}, *{of}, *{of}, *{of}, *{of}, *{of}]\n"
            ));
        }
        let tree = read(&bomb);
        assert_eq!(tree.diagnostics()[0].rule.name, "limit-alias-nodes");
        assert_eq!(tree.root().unwrap().kind(), Kind::Error);
        for open in ["[", "{a: ", "- ", "? "] {
            let tree = read(&open.repeat(100_000));
            assert!(!tree.is_sound(), "{open}");
        }
        assert_eq!(messages(&read("a: &a [*a]\n")).len(), 1);
    }

    #[test]
    fn control_characters_and_tabs() {
        assert_eq!(
            messages(&read("a: 1\nb: \0x\n")),
            ["2:4 text-encoding there is a NUL character here; the rest of the file was not read"]
        );
        assert_eq!(messages(&read("a:\n\tb: 1\n")), ["2:1 yaml-syntax a tab cannot be used for indentation"]);
        assert_eq!(messages(&read("\"x")), ["1:1 yaml-syntax this quoted string is never closed"]);
        assert_eq!(messages(&read("\u{feff}a: 1\n")).len(), 0);
        assert_eq!(
            messages(&read("a: \"x\nb: 1\n")),
            ["2:1 yaml-syntax a quoted string that was opened before is still open here"]
        );
    }

    #[test]
    fn quoted_text_need_not_be_indented() {
        let tree = read("a:\n  - b: '{\n x\n}' # it's\n    c: \"1\n2\n\n3\"\n  - d: 'y\n\n\n z'\ne: \"q\nr\"\nf: 1\n");
        assert_eq!(messages(&tree), [""; 0]);
        let root = tree.root().unwrap();
        let first = root.get("a").unwrap().items().next().unwrap();
        assert_eq!(first.get("b").unwrap().text(), "{ x }");
        assert_eq!(first.get("c").unwrap().text(), "1 2\n3");
        assert_eq!(tree.source().slice(first.get("b").unwrap().span()), "'{\n x\n}'");
        assert_eq!(tree.source().slice(root.get("e").unwrap().span()), "\"q\nr\"");
        assert_eq!(tree.source().slice(root.get("f").unwrap().span()), "1");
        // A missing quote is reported at the first line that reveals it.
        assert_eq!(messages(&read("a: \"x\nb: \"y\"\n")).len(), 1);
        assert!(messages(&read("a: \"x\nb: \"y\"\n"))[0].starts_with("2:1 "));
    }

    #[test]
    fn comments_are_kept() {
        let tree = read("# head\na: 1 # side\n");
        let found: Vec<_> = tree.comments().iter().map(|c| (tree.source().slice(c.span), c.trailing)).collect();
        assert_eq!(found, [("# head", false), ("# side", true)]);
    }

    #[test]
    fn block_scalars_at_the_end_differ_by_family() {
        let text = |flavor| {
            let tree = parse(Arc::new(Source::new(FileId(0), "t", "a: |\n  foo")), flavor, &Limits::default());
            tree.root().unwrap().get("a").unwrap().text().to_owned()
        };
        assert_eq!(text(Flavor::Core), "foo\n");
        assert_eq!(text(Flavor::Go), "foo");
    }
}
