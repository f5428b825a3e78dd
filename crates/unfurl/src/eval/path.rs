//! Evaluating a query: from the start value through its segments.
//!
//! Each value takes the rest of the path by itself, so that a `?` can test whether the rest matches.

use super::engine::Ctx;
use super::special;
use crate::error::{Error, Kind, Result};
use crate::python;
use crate::query::{Filter, Key, Operand, Query, Segment, Start, Test};
use crate::val::{Data, MapKey, Val, ValMap};
pub use crate::val::{as_one, is_list, place};

/// The matches of a query in a context.
pub fn run(ctx: &Ctx<'_, '_>, query: &Query, text: &str) -> Result<Vec<Val>> {
    let mut found = Vec::new();
    let mut walk = Walk { ctx, text, done: Vec::new(), out: &mut found };
    walk.begin(query).map_err(|error| error.within(text))?;
    Ok(found)
}

/// A walk along the segments of one query.
struct Walk<'c, 'e, 'w, 'o> {
    ctx: &'c Ctx<'e, 'w>,
    text: &'c str,
    /// Places (counted from the end) of segments with `?` that have their match.
    done: Vec<usize>,
    out: &'o mut Vec<Val>,
}

impl Walk<'_, '_, '_, '_> {
    fn begin(&mut self, query: &Query) -> Result<()> {
        let ctx = self.ctx;
        let segments = query.segments.as_slice();
        match &query.start {
            Start::Current => self.step(ctx.frame.current.clone(), segments),
            Start::All => self.step(Data::AllNodes(ctx.instance()).into(), segments),
            Start::Variable(name) => match ctx.variable(name)? {
                Some(value) => self.step(value, segments),
                None => {
                    self.trace(|| format!("`${name}` is not defined"));
                    Ok(())
                }
            },
            Start::Ancestors => match &ctx.frame.current.data {
                Data::Node(id) if !ctx.frame.mode.body => {
                    let mut next = Some(*id);
                    while let Some(id) = next {
                        self.done.clear();
                        self.step(Val::node(id), segments)?;
                        if !self.out.is_empty() {
                            return Ok(());
                        }
                        next = ctx.engine.tree.node(id).parent;
                    }
                    Ok(())
                }
                _ => self.step(ctx.frame.current.clone(), segments),
            },
        }
    }

    /// Sends a value through the segments; matches are added to the output.
    fn step(&mut self, value: Val, segments: &[Segment]) -> Result<()> {
        let Some((segment, rest)) = segments.split_first() else {
            self.out.push(value);
            return Ok(());
        };
        self.ctx.engine.spend(1)?;
        if segment.first && self.done.contains(&segments.len()) {
            return Ok(());
        }
        if segment.key == Key::All {
            return self.all(value, segment, rest);
        }
        if is_list(&value) && !matches!(segment.key, Key::Index(_)) {
            return self.ctx.engine.deeper(|| self.each_item(value, segments));
        }
        let Some(selected) = self.select(&value, segment)? else {
            self.trace(|| format!("`{}`: no match in {}", self.source(segment), value.kind()));
            return Ok(());
        };
        let Some(kept) = self.keep(selected, segment)? else {
            self.trace(|| format!("`{}`: filtered out", self.source(segment)));
            return Ok(());
        };
        self.trace(|| format!("`{}`: {}", self.source(segment), super::show::brief(self.ctx, &kept)));
        self.proceed(kept, segment, rest)
    }

    /// All values of a map.
    fn all(&mut self, value: Val, segment: &Segment, rest: &[Segment]) -> Result<()> {
        let Some(values) = map_values(self.ctx, &value)? else {
            self.trace(|| format!("`*`: {} has no entries", value.kind()));
            return Ok(());
        };
        self.ctx.engine.spend(values.len())?;
        for item in values {
            if let Some(kept) = self.keep(item.taint_if(value.is_tainted()), segment)? {
                self.proceed(kept, segment, rest)?;
            }
        }
        Ok(())
    }

    /// A list met by a key that is no index: the same segment for each item.
    fn each_item(&mut self, value: Val, segments: &[Segment]) -> Result<()> {
        let items = list_items(self.ctx, &value)?;
        self.ctx.engine.spend(items.len())?;
        for item in items {
            self.step(item.taint_if(value.is_tainted()), segments)?;
        }
        Ok(())
    }

    /// Continues after a segment, with its `?`.
    fn proceed(&mut self, value: Val, segment: &Segment, rest: &[Segment]) -> Result<()> {
        if !segment.first {
            return self.step(value, rest);
        }
        let place = rest.len() + 1;
        if self.done.contains(&place) {
            return Ok(());
        }
        // Items of a list are the candidates where the path continues into them.
        let into_items = is_list(&value) && rest.first().is_some_and(|next| !matches!(next.key, Key::Index(_)));
        let candidates = if into_items { flat_items(self.ctx, &value)? } else { vec![value] };
        for candidate in candidates {
            let before = self.out.len();
            self.step(candidate, rest)?;
            if self.out.len() > before {
                self.done.push(place);
                return Ok(());
            }
        }
        Ok(())
    }

    fn select(&self, value: &Val, segment: &Segment) -> Result<Option<Val>> {
        let found = lookup(self.ctx, value, &segment.key);
        let found = found.map_err(|error| error.at(segment.at.start, segment.at.end))?;
        Ok(found.map(|found| found.taint_if(value.is_tainted())))
    }

    /// The value, if it passes the segment's filters and test.
    fn keep(&self, mut value: Val, segment: &Segment) -> Result<Option<Val>> {
        for filter in &segment.filters {
            match self.passes(&value, filter)? {
                Verdict::No => return Ok(None),
                Verdict::Yes { secret } => value = value.taint_if(secret),
            }
        }
        if let Some(test) = &segment.test {
            match self.check(&value, test)? {
                Verdict::No => return Ok(None),
                Verdict::Yes { secret } => value = value.taint_if(secret),
            }
        }
        Ok(Some(value))
    }

    fn passes(&self, value: &Val, filter: &Filter) -> Result<Verdict> {
        if let Some(verdict) = self.passes_entry(value, filter)? {
            return Ok(verdict);
        }
        let mut found = Vec::new();
        let mut walk = Walk { ctx: self.ctx, text: self.text, done: Vec::new(), out: &mut found };
        self.ctx.engine.deeper(|| walk.step(value.clone(), &filter.segments))?;
        let matched = !found.is_empty();
        // Values read by a filter decide the result, so a secret among them makes the kept value secret.
        let secret = found.iter().any(|value| value.is_tainted());
        Ok(if matched == filter.negated { Verdict::No } else { Verdict::Yes { secret } })
    }

    /// The verdict of a filter on one entry of an evaluated map, the most frequent form; none for any other.
    fn passes_entry(&self, value: &Val, filter: &Filter) -> Result<Option<Verdict>> {
        let ([segment], Data::Map(entries)) = (filter.segments.as_slice(), &value.data) else {
            return Ok(None);
        };
        let Key::Name(name) = &segment.key else {
            return Ok(None);
        };
        if !segment.filters.is_empty() || self.ctx.engine.trace.borrow().is_some() {
            return Ok(None);
        }
        self.ctx.engine.spend(1)?;
        let found = entry(entries, name);
        let verdict = match (found, &segment.test) {
            (None, _) => Verdict::No,
            (Some(found), None) => Verdict::Yes { secret: found.is_tainted() },
            (Some(found), Some(test)) => self.check(found, test)?,
        };
        let matched = matches!(verdict, Verdict::Yes { .. });
        Ok(Some(match verdict {
            _ if matched == filter.negated => Verdict::No,
            Verdict::Yes { secret } => Verdict::Yes { secret: secret || value.is_tainted() },
            // Kept because of a negated condition on an entry, which reveals something about the entry.
            Verdict::No => Verdict::Yes { secret: found.is_some_and(|found| found.is_tainted()) },
        }))
    }

    fn check(&self, value: &Val, test: &Test) -> Result<Verdict> {
        let (same, secret) = match &test.operand {
            Operand::Text(text) => (equals_text(value, text), value.is_tainted()),
            Operand::Variable(name) => match self.ctx.variable(name)? {
                Some(expected) => {
                    let secret = value.is_tainted() || expected.is_tainted();
                    let left = self.ctx.engine.force(value.clone())?;
                    let right = self.ctx.engine.force(expected)?;
                    (python::equal(&left, &right), secret)
                }
                None => (false, false),
            },
        };
        Ok(if same == test.negated { Verdict::No } else { Verdict::Yes { secret } })
    }

    fn source(&self, segment: &Segment) -> &str {
        self.text.get(segment.at.start as usize..segment.at.end as usize).unwrap_or("").trim()
    }

    fn trace(&self, say: impl FnOnce() -> String) {
        self.ctx.engine.say(say);
    }
}

enum Verdict {
    No,
    Yes { secret: bool },
}

/// Compares a value with text, coerced to the value's type.
fn equals_text(value: &Val, text: &str) -> bool {
    match &value.data {
        Data::Str(have) => have == text,
        Data::Int(have) => python::parse_int(text) == Some(*have),
        Data::Float(have) => python::parse_float(text) == Some(*have),
        Data::Bool(have) => *have != text.is_empty(),
        Data::External(external) => equals_text(&external.value, text),
        _ => false,
    }
}

/// The items of a list.
pub fn list_items(ctx: &Ctx<'_, '_>, value: &Val) -> Result<Vec<Val>> {
    match &value.data {
        Data::List(items) => Ok(items.to_vec()),
        Data::Lazy(lazy) => {
            let mut items = Vec::with_capacity(lazy.len());
            for index in 0..lazy.len() {
                items.extend(ctx.engine.item(lazy, index)?);
            }
            Ok(items)
        }
        _ => Ok(Vec::new()),
    }
}

/// The items of a list and of the lists in it.
fn flat_items(ctx: &Ctx<'_, '_>, value: &Val) -> Result<Vec<Val>> {
    let mut out = Vec::new();
    for item in list_items(ctx, value)? {
        let item = item.taint_if(value.is_tainted());
        if is_list(&item) {
            out.extend(ctx.engine.deeper(|| flat_items(ctx, &item))?);
        } else {
            out.push(item);
        }
    }
    Ok(out)
}

/// The values of a map; none for other values.
fn map_values(ctx: &Ctx<'_, '_>, value: &Val) -> Result<Option<Vec<Val>>> {
    Ok(Some(match &value.data {
        Data::Map(entries) => entries.values().cloned().collect(),
        Data::Lazy(lazy) if !lazy.is_list() => {
            let mut values = Vec::with_capacity(lazy.len());
            for index in 0..lazy.len() {
                values.extend(ctx.engine.item(lazy, index)?);
            }
            values
        }
        Data::AllNodes(of) => ctx.engine.tree.named_in(*of).map(|(_, id)| Val::node(id)).collect(),
        Data::Names(id) => {
            special::names(ctx.engine, *id)?.as_map().into_iter().flatten().map(|(_, value)| value.clone()).collect()
        }
        Data::Attributes(id) => {
            let mut values = Vec::new();
            for name in ctx.engine.tree.node(*id).attributes.keys() {
                values.extend(ctx.engine.attribute(*id, name)?);
            }
            values
        }
        _ => return Ok(None),
    }))
}

/// The value that a key selects; none if missing.
fn lookup(ctx: &Ctx<'_, '_>, value: &Val, key: &Key) -> Result<Option<Val>> {
    match key {
        Key::Empty | Key::All => Ok(Some(value.clone())),
        Key::Index(index) => by_index(ctx, value, *index),
        Key::Name(name) => by_name(ctx, value, name),
        Key::Special(special, text) => match (&value.data, special) {
            (Data::Node(id), Some(special)) => special::get(ctx, *id, *special).map(Some),
            (Data::Node(_), None) => Err(special::unknown(text)),
            (Data::Template(_), Some(_)) => by_name(ctx, value, text.trim_start_matches('.')),
            _ => by_name(ctx, value, text),
        },
        Key::Variable(name) => match ctx.variable(name)? {
            Some(named) => by_value(ctx, value, &named).map(|found| found.map(|v| v.taint_if(named.is_tainted()))),
            None => Ok(None),
        },
    }
}

fn by_value(ctx: &Ctx<'_, '_>, value: &Val, key: &Val) -> Result<Option<Val>> {
    match key.to_key() {
        Some(MapKey::Str(name)) => by_name(ctx, value, &name),
        Some(MapKey::Int(index)) if matches!(value.data, Data::Str(_)) => by_index(ctx, value, index),
        Some(_) if matches!(value.data, Data::AllNodes(_)) => Ok(None),
        Some(other) => by_key(ctx, value, &other),
        None => Ok(None),
    }
}

fn by_key(ctx: &Ctx<'_, '_>, value: &Val, key: &MapKey) -> Result<Option<Val>> {
    match &value.data {
        Data::Map(entries) => Ok(entries.get(key).cloned()),
        Data::Lazy(lazy) => match lazy.index_of(key) {
            Some(index) => ctx.engine.item(lazy, index),
            None => Ok(None),
        },
        _ => Ok(None),
    }
}

/// Maps with at most this many entries are searched faster than their keys are hashed.
const FEW: usize = 8;

/// The entry of a map under a name.
fn entry<'m>(entries: &'m ValMap, name: &str) -> Option<&'m Val> {
    if entries.len() <= FEW {
        return entries.iter().find(|(key, _)| key.as_str() == Some(name)).map(|(_, value)| value);
    }
    entries.get(&MapKey::Str(name.into()))
}

/// The value under a name: an attribute, a map's entry, a field of a handle.
pub fn by_name(ctx: &Ctx<'_, '_>, value: &Val, name: &str) -> Result<Option<Val>> {
    match &value.data {
        Data::Node(id) | Data::Attributes(id) => ctx.engine.attribute(*id, name),
        Data::Map(entries) => Ok(entry(entries, name).cloned()),
        Data::Lazy(_) => by_key(ctx, value, &MapKey::Str(name.into())),
        // A name that no instance has is a match of null, so that `::name` can be tested.
        Data::AllNodes(of) => Ok(Some(ctx.engine.tree.find(*of, name).map_or_else(Val::null, Val::node))),
        Data::AllAttributes(of) => Ok(ctx.engine.tree.find(*of, name).map(|id| Data::Attributes(id).into())),
        Data::Names(id) => special::named_on(ctx, *id, name),
        Data::Template(id) => Ok(special::template_field(ctx, *id, name)),
        Data::External(external) => crate::external::field(external, ctx, name),
        _ => Ok(None),
    }
}

fn by_index(ctx: &Ctx<'_, '_>, value: &Val, index: i64) -> Result<Option<Val>> {
    match &value.data {
        Data::List(items) => Ok(place(index, items.len()).and_then(|at| items.get(at)).cloned()),
        Data::Lazy(lazy) if lazy.is_list() => match place(index, lazy.len()) {
            Some(at) => ctx.engine.item(lazy, at),
            None => Ok(None),
        },
        Data::Str(text) => {
            let count = text.chars().count();
            Ok(place(index, count).and_then(|at| text.chars().nth(at)).map(|c| Val::str(c.to_string())))
        }
        Data::External(external) => by_index(ctx, &external.value, index),
        _ => by_key(ctx, value, &MapKey::Int(index)),
    }
}

/// An error for a query that had to match.
pub(crate) fn no_match(what: &str) -> Box<Error> {
    Error::new(Kind::Missing, format!("the expression `{what}` must have a result and has none"))
}
