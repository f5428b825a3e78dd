//! The functions on known arguments.
//!
//! The number and names of arguments were checked before. This must not look at nodes.

use super::Evaluator;
use super::budget::BYTES_PER_STEP;
use super::typed::{Declared, arithmetic, canonical_unit, other_units, rounded};
use crate::coerce::{NUMBER, STRING};
use crate::model::Primitive;
use crate::special::{go_g, timestamp};
use crate::val::{Data, Val};
use crate::validate;
use ecow::{EcoString, eco_format};
use purlin_syntax::Message;
use purlin_syntax::what;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

/// Entries of a map visited in one step.
const ENTRIES_PER_STEP: u64 = 8;

/// A value as text; quantities and the like in their canonical notation.
pub(crate) fn text(value: &Val) -> Option<EcoString> {
    match &value.data {
        Data::Str(text) | Data::Timestamp(text) => Some(text.clone()),
        Data::Bool(value) => Some(eco_format!("{value}")),
        Data::Int(value) => Some(eco_format!("{value}")),
        Data::Float(value) if value.fract() == 0.0 && value.abs() < 1e21 => Some(eco_format!("{value:.0}")),
        Data::Float(value) => Some(go_g(*value).into()),
        Data::Map(_) => value.get(STRING).and_then(text),
        _ => None,
    }
}

/// The length of a value; texts are counted as in JavaScript, on which recorded answers of TOSCA 1.x rely.
pub(crate) fn length(value: &Val) -> Option<i64> {
    let count = match &value.data {
        Data::Str(text) => text.encode_utf16().count(),
        Data::List(items) => items.len(),
        Data::Map(entries) => entries.len(),
        _ => return None,
    };
    i64::try_from(count).ok()
}

/// Whether `true` is final for a list or map that is not completely known yet.
pub(super) fn is_lasting(name: &str) -> bool {
    matches!(name, "valid_values" | "has_entry" | "has_any_entry" | "has_any_key" | "has_key")
}

/// Whether a function depends only on the number of its arguments, or only moves them.
pub(super) fn takes_unknown(name: &str) -> bool {
    matches!(name, "length" | "concat" | "get_input" | "get_property" | "get_attribute")
}

/// Whether a function reads texts among its arguments as values of the type of another argument.
pub(super) fn reads_texts(name: &str) -> bool {
    matches!(name, "equal" | "greater_than" | "greater_or_equal" | "less_than" | "less_or_equal")
        || matches!(name, "sum" | "difference" | "product" | "quotient" | "remainder")
}

impl Evaluator<'_> {
    pub(super) fn concat(&self, value: &Val, args: &[Val]) -> Result<Val, Message> {
        let lists = args.iter().filter(|arg| matches!(arg.data, Data::List(_))).count();
        if lists == args.len() && lists > 0 {
            self.afford_list(args.iter().map(|arg| arg.items().len()).sum())?;
            return self.listed(value, args.iter().flat_map(|arg| arg.items().iter().cloned()).collect());
        }
        let part = |arg| text(arg).ok_or_else(|| format!("one of its arguments is {}", arg.noun()));
        let texts = args.iter().map(part).collect::<Result<Vec<_>, _>>()?;
        self.afford_text(texts.iter().map(|text| text.len()).sum())?;
        let mut out = EcoString::new();
        texts.iter().for_each(|text| out.push_str(text));
        Ok(value.with(Data::Str(out)))
    }

    /// A list composed of known values.
    pub(super) fn listed(&self, value: &Val, items: Vec<Val>) -> Result<Val, Message> {
        let list = value.with(Data::List(Arc::new(items)));
        self.looked_through(&list)?;
        Ok(list)
    }

    pub(super) fn join(&self, value: &Val, args: &[Val]) -> Result<Val, Message> {
        let Some(Data::List(items)) = args.first().map(|arg| &arg.data) else {
            return Err("its first argument must be a list".to_owned().into());
        };
        let separator = match args.get(1) {
            None => EcoString::new(),
            Some(separator) => text(separator).ok_or_else(|| format!("its delimiter is {}", separator.noun()))?,
        };
        let part = |item| text(item).ok_or_else(|| format!("one of its texts is {}", item.noun()));
        let texts = items.iter().map(part).collect::<Result<Vec<_>, _>>()?;
        let between = separator.len().saturating_mul(texts.len().saturating_sub(1));
        self.afford_text(texts.iter().map(|text| text.len()).fold(between, usize::saturating_add))?;
        Ok(value.with(Data::Str(texts.join(&separator).into())))
    }

    pub(super) fn token(&self, value: &Val, args: &[Val]) -> Result<Val, Message> {
        let [whole, separators, index] = args else {
            return Err(what::expected("3 arguments", args.len()));
        };
        let whole = text(whole).ok_or_else(|| format!("its text is {}", whole.noun()))?;
        let separators = text(separators).ok_or("its separators must be a text")?;
        let Data::Int(index) = index.data else { return Err("its index must be an integer".to_owned().into()) };
        self.afford_text(whole.len())?;
        self.afford_text(separators.len())?;
        let separators: HashSet<char> = separators.chars().collect();
        let mut pieces = whole.split(|c| separators.contains(&c));
        let piece = usize::try_from(index).ok().and_then(|index| pieces.nth(index));
        piece.map(|piece| value.with(Data::Str(piece.into()))).ok_or_else(|| {
            let count = whole.split(|c| separators.contains(&c)).count();
            format!("index {index} is out of range: there are {count} parts").into()
        })
    }

    /// A part of a list or map.
    pub(super) fn nested(&self, value: &Val, step: &Val) -> Result<Val, Message> {
        let found = match (&value.data, &step.data) {
            (Data::Map(entries), Data::List(_) | Data::Map(_)) => self.under(entries, step)?,
            (Data::Map(entries), _) => {
                self.spend(entries.len() as u64 / ENTRIES_PER_STEP)?;
                entries.iter().find(|(key, _)| key == step).map(|(_, value)| value)
            }
            (Data::List(items), Data::Int(index)) => usize::try_from(*index).ok().and_then(|index| items.get(index)),
            _ => None,
        };
        found.map(|found| found.clone().tainted_by(value.taint())).ok_or_else(|| {
            let count =
                if let Data::List(items) = &value.data { format!(" of {}", items.len()) } else { String::new() };
            what::unknown("key or index", text(step).unwrap_or_default()).and(format!(" in {}{count}", value.noun()))
        })
    }

    /// The value under a key that is a list or map.
    fn under<'v>(&self, entries: &'v [(Val, Val)], step: &Val) -> Result<Option<&'v Val>, Message> {
        self.looked_through(step)?;
        for (key, value) in entries {
            if self.same(key, step)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// The functions of TOSCA 2.0; none for those that only an orchestrator can compute.
    pub(super) fn compute(
        &mut self,
        name: &str,
        args: &[Val],
        declared: Option<Declared>,
    ) -> Option<Result<Data, Message>> {
        let yes = |answer: Result<bool, Message>| Some(answer.map(Data::Bool));
        let two = || match args {
            [a, b] => Ok((a, b)),
            _ => Err(what::expected("2 arguments", args.len())),
        };
        let of = declared.as_ref();
        match name {
            "not" => yes(args.first().map_or(Ok(false), truth).map(|value| !value)),
            "xor" => yes(two().and_then(|(a, b)| Ok(truth(a)? != truth(b)?))),
            "equal" => yes(two().and_then(|(a, b)| self.equal(a, b, of))),
            "greater_than" => yes(two().and_then(|(a, b)| self.order(a, b, of)).map(Ordering::is_gt)),
            "greater_or_equal" => yes(two().and_then(|(a, b)| self.order(a, b, of)).map(Ordering::is_ge)),
            "less_than" => yes(two().and_then(|(a, b)| self.order(a, b, of)).map(Ordering::is_lt)),
            "less_or_equal" => yes(two().and_then(|(a, b)| self.order(a, b, of)).map(Ordering::is_le)),
            "valid_values" => yes(two().and_then(|(a, list)| {
                let allowed = self.prints(listed(list, "its second argument")?.iter(), of)?;
                Ok(self.print(a, of)?.is_some_and(|print| allowed.contains(&print)))
            })),
            "matches" => yes(two().and_then(|(a, pattern)| {
                let subject = text(a).ok_or_else(|| format!("it matches a string, not {}", a.noun()))?;
                let pattern = pattern.as_str().ok_or_else(|| format!("its pattern is {}", pattern.noun()))?;
                self.is_match(pattern, pattern, &subject)
            })),
            "has_suffix" => yes(two().and_then(|(a, b)| self.edges(a, b, false))),
            "has_prefix" => yes(two().and_then(|(a, b)| self.edges(a, b, true))),
            "contains" => yes(two().and_then(|(a, b)| self.contains(a, b))),
            "has_entry" | "has_all_entries" | "has_any_entry" | "has_key" | "has_all_keys" | "has_any_key" => {
                yes(two().and_then(|(all, wanted)| self.has(name, all, wanted, of)))
            }
            "length" => Some(args.first().map_or(Ok(Data::Int(0)), |arg| self.characters(arg))),
            "union" | "intersection" => Some(self.sets(args, name == "union", of)),
            "sum" | "difference" | "product" | "quotient" | "remainder" => {
                let args: Vec<Val> = args.iter().map(|arg| self.literal(arg, of)).collect();
                Some(arithmetic(name, &args))
            }
            "round" | "floor" | "ceil" => Some(rounded(name, args)),
            _ => None,
        }
    }

    /// A text or date, read as a value of the type it is compared with.
    fn literal(&self, value: &Val, declared: Option<&Declared>) -> Val {
        let Some(declared) = declared else { return value.clone() };
        match &value.data {
            Data::List(_) if self.model.primitive(declared.id) != Some(Primitive::Range) => value.clone(),
            Data::Map(_) => value.clone(),
            _ => self.native(value, declared),
        }
    }

    /// Two values, with literals read as the type of the other where that makes them comparable.
    fn alike(&self, a: &Val, b: &Val, declared: Option<&Declared>) -> (Val, Val) {
        let (read_a, read_b) = (self.literal(a, declared), self.literal(b, declared));
        if sort(&read_a) == sort(&read_b) { (read_a, read_b) } else { (a.clone(), b.clone()) }
    }

    /// Whether two values are the same; values of different kinds are not compared.
    fn equal(&self, a: &Val, b: &Val, declared: Option<&Declared>) -> Result<bool, Message> {
        let (a, b) = self.alike(a, b, declared);
        let null = |value: &Val| matches!(value.data, Data::Null);
        if sort(&a) != sort(&b) && !null(&a) && !null(&b) {
            return Err(differ(&a, &b).into());
        }
        Ok(self.print(&a, None)? == self.print(&b, None)?)
    }

    /// The order of two values, if their kind has one.
    fn order(&self, a: &Val, b: &Val, declared: Option<&Declared>) -> Result<Ordering, Message> {
        let (a, b) = self.alike(a, b, declared);
        for value in [&a, &b] {
            if matches!(sort(value), Sort::Bool | Sort::List | Sort::Map | Sort::Null) {
                return Err(format!("{} has no order", value.noun()).into());
            }
        }
        if let (Data::Timestamp(a), Data::Timestamp(b)) = (&a.data, &b.data)
            && let (Some(a), Some(b)) = (timestamp::parse(a), timestamp::parse(b))
        {
            return Ok(a.nanoseconds().cmp(&b.nanoseconds()));
        }
        let order = if sort(&a) == sort(&b) { validate::compare(self.model, &a, &b, None) } else { None };
        order.ok_or_else(|| differ(&a, &b).into())
    }

    fn has(&self, name: &str, all: &Val, wanted: &Val, declared: Option<&Declared>) -> Result<bool, Message> {
        let entry = declared.and_then(|declared| self.entry(declared).or_else(|| self.single(declared)));
        let keys = name.ends_with("key") || name.ends_with("keys");
        let (known, entry) = match &all.data {
            Data::Map(entries) if keys => (self.prints(entries.iter().map(|(key, _)| key), None)?, None),
            Data::Map(entries) => (self.prints(entries.iter().map(|(_, value)| value), entry.as_ref())?, entry),
            Data::List(items) if !keys => (self.prints(items.iter(), entry.as_ref())?, entry),
            _ => {
                let wanted = if keys { "a mapping" } else { "a list or a map" };
                return Err(what::expected(wanted, all.noun()).under("its first argument: "));
            }
        };
        let found = |item: &Val| Ok(self.print(item, entry.as_ref())?.is_some_and(|print| known.contains(&print)));
        match name {
            "has_entry" | "has_key" => found(wanted),
            "has_all_entries" | "has_all_keys" => all_of(listed(wanted, "its second argument")?.iter().map(&found)),
            _ => {
                let none = listed(wanted, "its second argument")?.iter().map(|item| found(item).map(|found| !found));
                all_of(none).map(|none| !none)
            }
        }
    }

    /// A type other than lists and maps, which must be that of an entry.
    fn single(&self, declared: &Declared) -> Option<Declared> {
        let collection = matches!(self.model.primitive(declared.id), Some(Primitive::List | Primitive::Map));
        (!collection).then(|| declared.clone())
    }

    fn sets(&self, args: &[Val], union: bool, declared: Option<&Declared>) -> Result<Data, Message> {
        let entry = declared.and_then(|declared| self.entry(declared));
        if let Some(other) = args.iter().find(|arg| !matches!(arg.data, Data::List(_))) {
            return Err(what::must_be("each of its arguments", "a list").and(format!(", but one is {}", other.noun())));
        }
        let lists: Vec<&[Val]> = args.iter().map(Val::items).collect();
        let others: Vec<HashSet<EcoString>> = if union {
            Vec::new()
        } else {
            lists.iter().skip(1).map(|list| self.prints(list.iter(), entry.as_ref())).collect::<Result<_, _>>()?
        };
        let searched = if union { lists.as_slice() } else { lists.get(..1).unwrap_or(&[]) };
        let mut seen = HashSet::new();
        let mut out = Vec::new();
        for item in searched.iter().flat_map(|list| list.iter()) {
            let Some(print) = self.print(item, entry.as_ref())? else { continue };
            if others.iter().all(|other| other.contains(&print)) && seen.insert(print) {
                out.push(item.clone());
            }
        }
        self.afford_list(out.len())?;
        Ok(Data::List(Arc::new(out)))
    }

    fn prints<'v>(
        &self,
        items: impl Iterator<Item = &'v Val>,
        declared: Option<&Declared>,
    ) -> Result<HashSet<EcoString>, Message> {
        items.filter_map(|item| self.print(item, declared).transpose()).collect()
    }

    /// A text that two values share if and only if they are equal; none for unknown values, whose equality cannot be
    /// decided.
    fn print(&self, value: &Val, declared: Option<&Declared>) -> Result<Option<EcoString>, Message> {
        let mut out = EcoString::new();
        let known = print(&self.literal(value, declared), &mut out);
        // The arguments of the call were searched before, so one text is of a bounded size.
        self.spend(1 + out.len() as u64 / BYTES_PER_STEP)?;
        Ok(known.then_some(out))
    }

    /// Whether two values are known and the same.
    fn same(&self, a: &Val, b: &Val) -> Result<bool, Message> {
        let a = self.print(a, None)?;
        Ok(a.is_some() && a == self.print(b, None)?)
    }

    fn characters(&self, value: &Val) -> Result<Data, Message> {
        let count = match &value.data {
            Data::Str(text) => {
                self.spend(text.len() as u64 / BYTES_PER_STEP)?;
                i64::try_from(text.chars().count()).ok()
            }
            _ if sort(value) == Sort::List || sort(value) == Sort::Map => length(value),
            _ => None,
        };
        count.map(Data::Int).ok_or_else(|| what::expected("a string, a list or a map", value.noun()))
    }

    fn edges(&self, a: &Val, b: &Val, front: bool) -> Result<bool, Message> {
        if let (Data::List(a), Data::List(b)) = (&a.data, &b.data) {
            let part =
                if front { a.get(..b.len()) } else { a.len().checked_sub(b.len()).and_then(|start| a.get(start..)) };
            let Some(part) = part else { return Ok(false) };
            return all_of(part.iter().zip(b.iter()).map(|(a, b)| self.same(a, b)));
        }
        let (a, b) = texts(a, b)?;
        Ok(if front { a.starts_with(b.as_str()) } else { a.ends_with(b.as_str()) })
    }

    fn contains(&self, a: &Val, b: &Val) -> Result<bool, Message> {
        if let (Data::List(a), Data::List(b)) = (&a.data, &b.data) {
            let all = |items: &[Val]| items.iter().map(|item| self.print(item, None)).collect::<Result<Vec<_>, _>>();
            let (all, wanted) = (all(a)?, all(b)?);
            return Ok(wanted.iter().all(Option::is_some) && has_run(&all, &wanted));
        }
        let (a, b) = texts(a, b)?;
        self.spend((a.len() + b.len()) as u64 / BYTES_PER_STEP)?;
        Ok(a.contains(b.as_str()))
    }
}

/// Whether all answers are true, up to the first that is not.
fn all_of(answers: impl Iterator<Item = Result<bool, Message>>) -> Result<bool, Message> {
    for answer in answers {
        if !answer? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether one list occurs in another without gaps. Each item is compared about twice: after a mismatch, the longest
/// matched end that is also a beginning of `wanted` is not compared again.
fn has_run<T: PartialEq>(all: &[T], wanted: &[T]) -> bool {
    let step = |borders: &[usize], mut matched: usize, item: &T| {
        while matched > 0 && wanted.get(matched) != Some(item) {
            matched = borders.get(matched - 1).copied().unwrap_or(0);
        }
        if wanted.get(matched) == Some(item) { matched + 1 } else { 0 }
    };
    let mut borders = vec![0; wanted.len().min(1)];
    for item in wanted.iter().skip(1) {
        let last = borders.last().copied().unwrap_or(0);
        borders.push(step(&borders, last, item));
    }
    let mut matched = 0;
    wanted.is_empty()
        || all.iter().any(|item| {
            matched = step(&borders, matched, item);
            matched == wanted.len()
        })
}

/// Kinds of values that are not compared with each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort<'v> {
    Null,
    Bool,
    Number,
    Text,
    Timestamp,
    Version,
    /// By its unit.
    Quantity(&'v str),
    List,
    Map,
}

fn sort(value: &Val) -> Sort<'_> {
    match &value.data {
        Data::Bool(_) => Sort::Bool,
        Data::Int(_) | Data::Float(_) => Sort::Number,
        Data::Str(_) => Sort::Text,
        Data::Timestamp(_) => Sort::Timestamp,
        Data::List(_) => Sort::List,
        Data::Map(_) if value.get("$comparer").is_some() => Sort::Version,
        Data::Map(_) if value.get(NUMBER).is_some() && value.get("unit").is_some() => {
            Sort::Quantity(canonical_unit(value))
        }
        Data::Map(_) if value.get(NUMBER).is_some() && value.get("tzSign").is_some() => Sort::Timestamp,
        Data::Map(_) => Sort::Map,
        _ => Sort::Null,
    }
}

fn differ(a: &Val, b: &Val) -> String {
    if let (Sort::Quantity(_), Sort::Quantity(_)) = (sort(a), sort(b)) {
        return other_units(a, b);
    }
    let noun = |value: &Val| match sort(value) {
        Sort::Version => "a version",
        Sort::Quantity(_) => "a quantity",
        Sort::Timestamp => "a timestamp",
        _ => value.noun(),
    };
    format!("{} is {}, and {} is {}", validate::shown(a), noun(a), validate::shown(b), noun(b))
}

pub(super) fn truth(value: &Val) -> Result<bool, Message> {
    match value.data {
        Data::Bool(value) => Ok(value),
        _ => Err(format!("{} is not true or false", value.noun()).into()),
    }
}

fn listed<'v>(value: &'v Val, what: &str) -> Result<&'v [Val], Message> {
    match &value.data {
        Data::List(items) => Ok(items),
        _ => Err(what::expected("a list", value.noun()).under(format!("{what}: "))),
    }
}

fn texts(a: &Val, b: &Val) -> Result<(EcoString, EcoString), Message> {
    let both = || what::expected("two strings or two lists", format!("{} and {}", a.noun(), b.noun()));
    Ok((text(a).ok_or_else(both)?, text(b).ok_or_else(both)?))
}

/// Writes a value so that equal values have equal texts: integers and floats are not distinguished, the order of a
/// map's entries does not count, and quantities, versions and dates count by their meaning. Returns whether all of it
/// is known.
fn print(value: &Val, out: &mut EcoString) -> bool {
    match &value.data {
        Data::Null => out.push_str("null"),
        Data::Int(number) => out.push_str(&eco_format!("n{number}")),
        Data::Float(0.0) => out.push_str("n0"), // there is one with a sign
        Data::Float(number) if number.fract() == 0.0 => out.push_str(&eco_format!("n{number:.0}")),
        Data::Float(number) => out.push_str(&eco_format!("n{number:e}")),
        Data::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Data::Str(text) => out.push_str(&eco_format!("{text:?}")),
        Data::Timestamp(text) => match timestamp::parse(text) {
            Some(stamp) => out.push_str(&eco_format!("@{}", stamp.nanoseconds())),
            None => out.push_str(&eco_format!("@{text:?}")),
        },
        Data::List(items) => {
            out.push('[');
            for item in items.iter() {
                if !print(item, out) {
                    return false;
                }
                out.push(',');
            }
            out.push(']');
        }
        Data::Map(entries) => return print_map(value, entries, out),
        Data::Call(_) | Data::Pending(_) | Data::Poison => return false,
    }
    true
}

fn print_map(value: &Val, entries: &[(Val, Val)], out: &mut EcoString) -> bool {
    match (sort(value), value.get(NUMBER), value.get(STRING)) {
        (Sort::Timestamp, Some(Val { data: Data::Int(number), .. }), _) => {
            out.push_str(&eco_format!("@{number}"));
            return true;
        }
        (Sort::Quantity(unit), Some(number), _) => {
            out.push_str(&eco_format!("q{unit:?}"));
            return print(number, out);
        }
        (Sort::Version, _, Some(text)) => {
            out.push('v');
            return print(text, out);
        }
        _ => {}
    }
    let mut parts = Vec::with_capacity(entries.len());
    for (key, item) in entries {
        let mut part = EcoString::new();
        if !print(key, &mut part) {
            return false;
        }
        part.push(':');
        if !print(item, &mut part) {
            return false;
        }
        part.push(',');
        parts.push(part);
    }
    parts.sort_unstable();
    out.push('{');
    parts.iter().for_each(|part| out.push_str(part));
    out.push('}');
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use purlin_syntax::{FileId, Span};

    fn val(data: Data) -> Val {
        Val::new(data, Span::new(FileId(0), 0, 0))
    }

    fn printed(data: Data) -> Option<EcoString> {
        let mut out = EcoString::new();
        print(&val(data), &mut out).then_some(out)
    }

    #[test]
    fn a_number_is_the_same_whether_it_is_an_integer_or_not() {
        for number in [0, 1, -7, 1 << 53, 10_000_000_000_000_000, i64::MIN] {
            assert_eq!(printed(Data::Int(number)), printed(Data::Float(number as f64)), "{number}");
        }
        assert_eq!(printed(Data::Int(0)), printed(Data::Float(-0.0)));
        assert_ne!(printed(Data::Int((1 << 53) + 1)), printed(Data::Float((1i64 << 53) as f64)));
    }

    #[test]
    fn what_is_not_known_is_the_same_as_nothing() {
        let unknown = || Data::Pending("an attribute".into());
        assert_eq!(printed(Data::Null).as_deref(), Some("null"));
        for data in [
            Data::Poison,
            unknown(),
            Data::List(Arc::new(vec![val(unknown())])),
            Data::Map(Arc::new(vec![(val(Data::Null), val(unknown()))])),
        ] {
            assert_eq!(printed(data), None);
        }
    }

    #[test]
    fn a_run_is_found_wherever_it_stands() {
        let items = |text: &str| text.chars().map(EcoString::from).collect::<Vec<_>>();
        let words = |length: u32| {
            (0..3_u32.pow(length)).map(move |n| {
                (0..length).map(|at| ["a", "b", "c"][(n / 3_u32.pow(at) % 3) as usize]).collect::<String>()
            })
        };
        for all in (0..7).flat_map(words) {
            for wanted in (0..5).flat_map(words) {
                assert_eq!(has_run(&items(&all), &items(&wanted)), all.contains(&wanted), "{wanted} in {all}");
            }
        }
    }
}
