//! From places in rendered text back to template lines and values: origins for `why`, and spans for messages.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use purlin_gotmpl::hole::Holes;
use purlin_gotmpl::machine::{Call, SourceFile, Under};
use purlin_gotmpl::rope::{Piece as RopePiece, first_behind};
use purlin_syntax::{Kind, MergeKeys, Node, Source, Span, Style};
use purlin_value::read::scalar_data;
use purlin_value::{EcoString, Map, Origin, OriginKind, Piece, Session, Taint, Value};

use crate::chart::Chart;
use crate::context::origin_of;

/// Maximum number of calls shown in a chain.
const MAX_CALLS: usize = 50;

/// A rendered text and where its parts come from.
#[derive(Debug, Default)]
pub struct Woven {
    /// The text.
    pub bytes: Vec<u8>,
    /// Its parts.
    pub pieces: Vec<RopePiece>,
    /// Whether any part is a secret: most texts have none, and then no range needs to be checked.
    has_secret: bool,
}

impl Woven {
    /// A text of these parts.
    pub fn new(bytes: Vec<u8>, pieces: Vec<RopePiece>) -> Self {
        let has_secret = pieces.iter().any(|piece| piece.tainted);
        Self { bytes, pieces, has_secret }
    }
}

/// A place in rendered text and its source in a template.
#[derive(Clone, Copy, Default)]
struct Cursor {
    /// Which rendered text: its address, since the same template may have been copied into several.
    text: usize,
    /// Start of the template's text.
    site: u32,
    /// The place in the rendered text.
    rendered: usize,
    /// The place in the template.
    source: u32,
}

/// A template that is registered.
struct Registered(Arc<Source>);

/// A render's sources, registered so that places in them have spans.
pub struct Tracer<'s> {
    session: &'s Session,
    files: Vec<(SourceFile, Option<Arc<Source>>)>,
    calls: Vec<Call>,
    /// Placeholders for values not known yet.
    pub holes: Holes,
    /// The last requested place: documents are read from start to end.
    cursor: Cell<Cursor>,
    /// The conditions around each call, computed on demand.
    because: RefCell<Vec<Option<Origin>>>,
}

/// The path on disk of a template by its full name; the chart's name is replaced by its folder.
pub fn template_path(chart: &Chart, name: &str) -> String {
    let inner = name.strip_prefix(chart.name()).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
    let (mut chart, mut folder, mut rest) = (chart, chart.folder.clone(), inner);
    // A folder in `charts/` need not be called as its chart, and a dependency may be elsewhere.
    while let Some((name, behind)) = rest.strip_prefix("charts/").and_then(|rest| rest.split_once('/')) {
        let Some(child) = chart.dependencies.iter().find(|child| child.name() == name) else { break };
        let is_archive = child.folder.ends_with(".tgz");
        folder = if is_archive { format!("{folder}/charts/{name}") } else { child.folder.clone() };
        (chart, rest) = (child, behind);
    }
    purlin_value::path::normalize(&format!("{folder}/{rest}"))
}

impl<'s> Tracer<'s> {
    /// Registers the template files of a render.
    pub fn new(session: &'s Session, chart: &Chart, sources: Vec<SourceFile>, calls: Vec<Call>, holes: Holes) -> Self {
        let register = |source: SourceFile| {
            // Texts of `tpl` are in values, which are registered already.
            let known = (source.origin == 0 && source.file.name != "gotpl").then(|| {
                let path = template_path(chart, &source.file.name);
                let insert = || session.sources.insert(&path, source.file.text.text().into_owned());
                if !session.has_variants() {
                    return insert();
                }
                // Variants of a project share the parsed templates, and so the places in them.
                let about = format!("{path} {:?}", source.file.text.bytes().as_ptr());
                session.in_common(&about, || Registered(insert())).0.clone()
            });
            let parts = known.iter().flat_map(|known| source.digested.iter().map(move |part| (known, part)));
            for (known, part) in parts {
                let span = known.span(part.start as usize, (part.start + part.len) as usize);
                session.origins.settle(origin_of(part.origin), span);
            }
            (source, known)
        };
        let because = RefCell::new(vec![None; calls.len()]);
        let files = sources.into_iter().map(register).collect();
        Self { session, files, calls, holes, cursor: Cell::default(), because }
    }

    /// The span of a place, or the origin of the enclosing text.
    fn place(&self, site: u32) -> (Option<Span>, Option<Origin>) {
        let at = self.files.partition_point(|(file, _)| file.file.base <= site);
        let Some((file, source)) = at.checked_sub(1).and_then(|at| self.files.get(at)) else { return (None, None) };
        match source {
            Some(source) => {
                let start = (site - file.file.base) as usize;
                let line_end = source.text().get(start..).and_then(|rest| rest.find('\n')).unwrap_or(0);
                (Some(source.span(start, start + line_end.clamp(1, 200))), None)
            }
            None => (None, (file.origin != 0).then(|| origin_of(file.origin))),
        }
    }

    /// The place in a template that a place in its own text was copied from. Functions that move lines change only
    /// white space, so both have the same number of other characters before them.
    fn text_site(&self, text: &Woven, piece: &RopePiece, piece_start: usize, at: usize) -> u32 {
        let index = self.files.partition_point(|(file, _)| file.file.base <= piece.site);
        let Some((file, _)) = index.checked_sub(1).and_then(|index| self.files.get(index)) else { return piece.site };
        let known = self.cursor.get();
        let (here, site) = (std::ptr::from_ref(text).addr(), piece.site);
        let fits = known.text == here && known.site == site && (piece_start..=at).contains(&known.rendered);
        let start = if fits { known } else { Cursor { text: here, site, rendered: piece_start, source: site } };
        let before = text.bytes.get(start.rendered..at).unwrap_or_default();
        let count = before.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
        let base = file.file.base;
        let first = (piece.site - base) as usize;
        let source = base + forward(file.file.text.bytes(), first, (start.source - base) as usize, count) as u32;
        self.cursor.set(Cursor { text: here, site, rendered: at, source });
        // The template does not contain what a function returns, so the location is that of the call.
        let is_copied = text.bytes.get(at) == file.file.text.bytes().get((source - base) as usize);
        if is_copied { source } else { piece.site }
    }

    /// The origin of one piece of rendered text, which a value is `at`, with the conditions around it.
    fn chosen_origin(&self, text: &Woven, piece: &RopePiece, piece_start: usize, at: usize) -> Origin {
        let taken = self.piece_origin(text, piece, piece_start, at);
        match self.conditions(piece.call) {
            because if because.is_known() => self.session.origins.push(OriginKind::Selected { taken, because }),
            _ => taken,
        }
    }

    /// The origin of one piece of rendered text, which a value is `at`.
    fn piece_origin(&self, text: &Woven, piece: &RopePiece, piece_start: usize, at: usize) -> Origin {
        let origins = &self.session.origins;
        let site = if piece.origin == 0 { self.text_site(text, piece, piece_start, at) } else { piece.site };
        let (span, tpl_text) = self.place(site);
        let mut origin = match (piece.origin, span, tpl_text) {
            (0, Some(span), _) => origins.file(span),
            (0, None, Some(text)) => text,
            (0, None, None) => return Origin::NONE,
            (value, span, text) => {
                let inputs = [Some(origin_of(value)), text.filter(|text| *text != origin_of(value))];
                let inputs = inputs.into_iter().flatten().map(|origin| Piece { start: 0, end: 0, origin });
                // An action in a value: the enclosing value is the place that printed.
                let (step, span) = match text {
                    Some(text) => ("`tpl`", span.or(origins.span(text, &self.session.sources))),
                    None => ("template", span),
                };
                origins.derived(step, span, inputs.take(1).collect())
            }
        };
        let mut call = piece.call as usize;
        for _ in 0..MAX_CALLS {
            let Some(made) = self.calls.get(call).filter(|_| call != 0) else { break };
            if made.under == Under::Call
                && let (Some(span), _) = self.place(made.site)
            {
                origin = origins.derived("`include`", Some(span), vec![Piece::whole(origin)]);
            }
            call = made.parent as usize;
        }
        origin
    }

    /// The conditions and loops around a call's output, the innermost first; computed once for each call.
    fn conditions(&self, call: u32) -> Origin {
        let known = |call: u32| self.because.borrow().get(call as usize).copied().flatten();
        let mut open = Vec::new();
        let mut at = call;
        let mut because = loop {
            if at == 0 {
                break Origin::NONE;
            }
            if let Some(known) = known(at) {
                break known;
            }
            open.push(at);
            at = self.calls.get(at as usize).map_or(0, |made| made.parent);
        };
        for call in open.into_iter().rev() {
            if let Some(made) = self.calls.get(call as usize) {
                because = self.condition(made, because);
            }
            if let Some(place) = self.because.borrow_mut().get_mut(call as usize) {
                *place = Some(because);
            }
        }
        because
    }

    /// The condition of one branch or loop, with those around it.
    fn condition(&self, made: &Call, outer: Origin) -> Origin {
        let step = match made.under {
            Under::Call => return outer,
            Under::True => "is true",
            Under::False => "is false",
            Under::Each => "was iterated",
            Under::Named => "names the template",
        };
        let inputs = (made.because != 0).then(|| Piece::whole(origin_of(made.because))).into_iter().collect();
        let (span, text) = self.place(made.site);
        let span = span.or_else(|| self.session.origins.span(text?, &self.session.sources));
        let own = self.session.origins.derived(step, span.map(|span| self.in_action(span)), inputs);
        if outer.is_known() {
            self.session.origins.push(OriginKind::Selected { taken: own, because: outer })
        } else {
            own
        }
    }

    /// The part of a line that an action of a template takes up.
    fn in_action(&self, span: Span) -> Span {
        let Some(source) = self.session.sources.get(span.file) else { return span };
        let line = source.text().get(span.start as usize..span.end as usize).unwrap_or_default();
        let end = line.find("}}").map_or(line.len(), |end| line[..end].trim_end_matches('-').trim_end().len());
        Span { end: span.start + u32::try_from(end.max(1)).unwrap_or(1), ..span }
    }

    /// The origin of a range of rendered text; `text_start` is where the value's own text starts in it, if its bytes
    /// are the value's.
    fn range_origin(&self, text: &Woven, from: usize, to: usize, text_start: Option<usize>) -> (Origin, bool) {
        let mut parts = Vec::new();
        let mut tainted = false;
        let first = first_behind(&text.pieces, from);
        let mut start = first.checked_sub(1).and_then(|at| text.pieces.get(at)).map_or(0, |before| before.end as usize);
        for piece in text.pieces.get(first..).unwrap_or_default() {
            if start >= to.max(from + 1) {
                break;
            }
            let end = piece.end as usize;
            tainted |= piece.tainted;
            let (first, last) = match text_start {
                Some(base) => (start.max(base) - base, end.min(to).max(base) - base),
                None => (0, 0),
            };
            if text_start.is_none() || last > first {
                let origin = self.chosen_origin(text, piece, start, start.max(from));
                parts.push(Piece { start: first as u32, end: last as u32, origin });
            }
            start = end;
        }
        parts.dedup_by(|next, kept| {
            let same = self.session.origins.get(next.origin, &self.session.sources)
                == self.session.origins.get(kept.origin, &self.session.sources);
            if same {
                kept.end = next.end;
            }
            same
        });
        let origin = match parts.as_slice() {
            [] => Origin::NONE,
            [one] => one.origin,
            _ => self.session.origins.push(OriginKind::Derived { step: "template".into(), span: None, pieces: parts }),
        };
        (origin, tainted)
    }

    /// The origin of the first hole in a range of rendered text: the surrounding text does not determine the pending
    /// value.
    fn hole_origin(&self, text: &Woven, from: usize, to: usize) -> (Origin, bool) {
        let (whole, tainted) = self.range_origin(text, from, to, None);
        let mut start = from;
        for piece in text.pieces.get(first_behind(&text.pieces, from)..).unwrap_or_default() {
            let end = (piece.end as usize).min(to);
            if start >= end {
                break;
            }
            if self.holes.within(text.bytes.get(start..end).unwrap_or_default()).is_some() {
                return (self.chosen_origin(text, piece, start, start), tainted);
            }
            start = end;
        }
        (whole, tainted)
    }

    /// Start of a collection. The conditions around its first entry do not apply to the others: each has its own.
    fn start_origin(&self, text: &Woven, from: usize) -> Origin {
        let first = first_behind(&text.pieces, from);
        let Some(piece) = text.pieces.get(first) else { return Origin::NONE };
        let start = first.checked_sub(1).and_then(|at| text.pieces.get(at)).map_or(0, |before| before.end as usize);
        self.piece_origin(text, piece, start, start.max(from))
    }

    /// A rendered document as a value with origins at its leaves. The document starts at `offset` of the rendered text,
    /// which must not move while others are converted: it is identified by its address.
    pub fn value(&self, node: Node<'_>, woven: &Woven, offset: usize) -> Value {
        let target = node.target();
        let span = target.span();
        let (from, to) = (offset + span.start as usize, offset + span.end as usize);
        match target.kind() {
            Kind::Map => {
                let origin = self.start_origin(woven, from);
                // A key has no mark of its own, so the map gets it.
                let mut secret_key = Taint::NONE;
                let entry = |entry: purlin_syntax::tree::Entry<'_>| {
                    let key = entry.key.target().span();
                    secret_key |= range_taint(woven, offset + key.start as usize, offset + key.end as usize);
                    (purlin_value::read::key_text(entry.key), self.value(entry.value, woven, offset))
                };
                let entries: Map = target.merged_entries(MergeKeys::Apply).map(entry).collect();
                Value::of(entries.into(), origin, secret_key)
            }
            Kind::List => {
                let origin = self.start_origin(woven, from);
                let items = target.items().map(|item| self.value(item, woven, offset)).collect();
                Value::list(items).with_origin(origin)
            }
            Kind::Scalar => {
                let text = target.text();
                let quotes = usize::from(matches!(target.style(), Style::Single | Style::Double));
                let plain = to.saturating_sub(from) == text.len() + 2 * quotes;
                let pending = self.holes.within(text.as_bytes());
                let (origin, tainted) = if pending.is_some() {
                    self.hole_origin(woven, from, to)
                } else if plain && !text.is_empty() {
                    self.range_origin(woven, from + quotes, to - quotes, Some(from + quotes))
                } else {
                    self.range_origin(woven, from, to, None)
                };
                let data = match pending {
                    Some(hole) => hole.data(),
                    None => scalar_data(target),
                };
                Value::new(data).with_origin(origin).tainted_if(tainted)
            }
            Kind::Alias | Kind::Error => Value::null(),
        }
    }

    /// The span a user is sent to for a place in rendered text.
    pub fn span_of_text(&self, text: &Woven, at: usize) -> Option<Span> {
        let (origin, _) = self.range_origin(text, at, at + 1, None);
        self.session.origins.span(origin, &self.session.sources)
    }
}

/// Advances `count` non-blank characters from `from`, wrapping to `first` at the next action (a loop body is printed
/// repeatedly).
fn forward(source: &[u8], first: usize, from: usize, mut count: usize) -> usize {
    let mut at = from;
    let (mut since_start, mut is_again) = (0, from == first);
    loop {
        let byte = source.get(at).copied().filter(|byte| *byte != b'{' || source.get(at + 1) != Some(&b'{'));
        match byte {
            Some(byte) if byte.is_ascii_whitespace() => {}
            Some(_) if count == 0 => return at,
            Some(_) => {
                count -= 1;
                since_start += 1;
            }
            // A text without anything to count would be read for ever.
            None if since_start == 0 && is_again => return first,
            None => {
                (since_start, is_again) = (0, true);
                at = first;
                continue;
            }
        }
        at += 1;
    }
}

/// A span in a template file by its full name.
pub fn span_in(session: &Session, chart: &Chart, name: &str, text: &str, offset: usize) -> Span {
    let source = session.sources.insert(&template_path(chart, name), text.to_owned());
    let end = text.get(offset..).and_then(|rest| rest.find('\n')).map_or(text.len(), |len| offset + len);
    source.span(offset.min(text.len()), end.min(offset + 200))
}

/// A name for a node: `Kind/name`.
pub fn node_id(kind: &str, name: &str) -> EcoString {
    EcoString::from(format!("{kind}/{name}"))
}

/// Whether any part of a range of rendered text is a secret.
pub fn range_taint(text: &Woven, from: usize, to: usize) -> Taint {
    if !text.has_secret {
        return Taint::NONE;
    }
    let first = first_behind(&text.pieces, from);
    let mut start = first.checked_sub(1).and_then(|at| text.pieces.get(at)).map_or(0, |before| before.end as usize);
    for piece in text.pieces.get(first..).unwrap_or_default() {
        if start >= to {
            break;
        }
        if piece.tainted {
            return Taint::SECRET;
        }
        start = piece.end as usize;
    }
    Taint::NONE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_by_what_is_no_white_space() {
        let text = b"a: 1\n  b: 2\n{{ end }}c";
        assert_eq!(forward(text, 0, 0, 0), 0);
        assert_eq!(forward(text, 0, 0, 3), 7);
        assert_eq!(forward(text, 0, 7, 2), 10);
        assert_eq!(forward(text, 0, 0, 6 + 3), 7, "printed again");
        assert_eq!(forward(b"  {{ x }}", 0, 0, 5), 0);
        assert_eq!(forward(b"", 0, 0, 5), 0);
    }
}
