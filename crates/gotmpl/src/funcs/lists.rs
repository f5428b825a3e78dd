//! Functions on lists. All return new lists; none modifies one.

use super::{arg, int, many, pieces, row};
use crate::equal::deep_equal;
use crate::error::Fault;
use crate::func::{Func, Ty};
use crate::machine::Machine;
use crate::value::{Data, ListType, Val};
use purlin_value::Cost;
use std::collections::HashSet;

const A: Ty = Ty::Any;

/// Steps of looking up a value among others.
const STEPS_PER_HASH: usize = 4;

/// Number of values compared with another one per step.
const COMPARED_PER_STEP: usize = 2;

/// The rows.
pub(crate) static FUNCS: &[Func] = &[
    many("list", &[], A, "`list A…`: a list of the arguments.", list).unseen().costs(Cost::Constant),
    many("tuple", &[], A, "`tuple A…`: the same as `list`.", list).unseen().costs(Cost::Constant),
    pieces(row("first", &[A], "`first LIST`: the first element, or nil.", first)).shallow().costs(Cost::Constant),
    pieces(row("mustFirst", &[A], "`mustFirst LIST`: the first element, or nil.", first))
        .shallow()
        .costs(Cost::Constant),
    pieces(row("last", &[A], "`last LIST`: the last element, or nil.", last)).shallow().costs(Cost::Constant),
    pieces(row("mustLast", &[A], "`mustLast LIST`: the last element, or nil.", last)).shallow().costs(Cost::Constant),
    row("rest", &[A], "`rest LIST`: all but the first element.", rest).shallow().costs(Cost::ALL),
    row("mustRest", &[A], "`mustRest LIST`: all but the first element.", rest).shallow().costs(Cost::ALL),
    row("initial", &[A], "`initial LIST`: all but the last element.", initial).shallow().costs(Cost::ALL),
    row("mustInitial", &[A], "`mustInitial LIST`: all but the last element.", initial).shallow().costs(Cost::ALL),
    row("append", &[A, A], "`append LIST A`: the list with A at its end.", append).looks(0, 1).costs(Cost::ALL),
    row("mustAppend", &[A, A], "`mustAppend LIST A`: the list with A at its end.", append).looks(0, 1).costs(Cost::ALL),
    row("push", &[A, A], "`push LIST A`: the same as `append`.", append).looks(0, 1).costs(Cost::ALL),
    row("mustPush", &[A, A], "`mustPush LIST A`: the same as `append`.", append).looks(0, 1).costs(Cost::ALL),
    row("prepend", &[A, A], "`prepend LIST A`: the list with A at its start.", prepend).looks(0, 1).costs(Cost::ALL),
    row("mustPrepend", &[A, A], "`mustPrepend LIST A`: the list with A at its start.", prepend)
        .looks(0, 1)
        .costs(Cost::ALL),
    many("concat", &[], A, "`concat LIST…`: the lists as one.", concat).shallow().costs(Cost::ALL),
    row("reverse", &[A], "`reverse LIST`: the list backwards.", reverse).shallow().costs(Cost::ALL),
    row("mustReverse", &[A], "`mustReverse LIST`: the list backwards.", reverse).shallow().costs(Cost::ALL),
    row("uniq", &[A], "`uniq LIST`: each element once.", uniq),
    row("mustUniq", &[A], "`mustUniq LIST`: each element once.", uniq),
    row("compact", &[A], "`compact LIST`: without empty elements.", compact).costs(Cost::ALL),
    row("mustCompact", &[A], "`mustCompact LIST`: without empty elements.", compact).costs(Cost::ALL),
    many("without", &[A], A, "`without LIST A…`: without these elements.", without),
    many("mustWithout", &[A], A, "`mustWithout LIST A…`: without these elements.", without),
    row("has", &[A, A], "`has A LIST`: whether the list contains A.", has),
    row("mustHas", &[A, A], "`mustHas A LIST`: whether the list contains A.", has),
    many("slice", &[A], A, "`slice LIST [FROM [TO]]`: the elements from FROM up to TO.", slice)
        .shallow()
        .costs(Cost::ALL),
    many("mustSlice", &[A], A, "`mustSlice LIST [FROM [TO]]`: the elements from FROM up to TO.", slice)
        .shallow()
        .costs(Cost::ALL),
    row("chunk", &[Ty::Int, A], "`chunk N LIST`: lists of N elements each.", chunk).shallow().costs(Cost::ALL),
    row("mustChunk", &[Ty::Int, A], "`mustChunk N LIST`: lists of N elements each.", chunk).shallow().costs(Cost::ALL),
];

fn list(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    m.spend(args.len())?;
    Ok(m.heap.any_list(args.to_vec()))
}

/// The elements of a list argument.
fn items(m: &mut Machine<'_>, value: &Val, what: &str) -> Result<Vec<Val>, Fault> {
    match &value.data {
        Data::List(list) => {
            let items = m.heap.items(*list).to_vec();
            m.spend(items.len() / 2)?;
            Ok(items)
        }
        Data::Bytes(bytes) => Ok(bytes.bytes().iter().map(|b| Val::new(Data::Uint8(*b))).collect()),
        Data::Nil => Err(Fault::new("runtime error: invalid memory address or nil pointer dereference")),
        _ => Err(Fault::new(format!("Cannot {what} on type {}", m.heap.kind_name(value)))),
    }
}

fn first(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    match &arg(args, 0).data {
        Data::List(list) => Ok(m.heap.items(*list).first().cloned().unwrap_or(Val::NIL)),
        _ => Ok(items(m, arg(args, 0), "find first")?.first().cloned().unwrap_or(Val::NIL)),
    }
}

fn last(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    match &arg(args, 0).data {
        Data::List(list) => Ok(m.heap.items(*list).last().cloned().unwrap_or(Val::NIL)),
        _ => Ok(items(m, arg(args, 0), "last")?.last().cloned().unwrap_or(Val::NIL)),
    }
}

fn rest(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let items = items(m, arg(args, 0), "find rest")?;
    if items.is_empty() {
        return Ok(m.heap.nil_list(ListType::Any));
    }
    Ok(m.heap.any_list(items.into_iter().skip(1).collect()))
}

fn initial(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let mut items = items(m, arg(args, 0), "find initial")?;
    if items.pop().is_none() {
        return Ok(m.heap.nil_list(ListType::Any));
    }
    Ok(m.heap.any_list(items))
}

fn append(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let mut items = items(m, arg(args, 0), "push")?;
    items.reserve_exact(1);
    items.push(arg(args, 1).clone());
    m.limited_items(items.len())?;
    Ok(m.heap.any_list(items))
}

fn prepend(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let mut items = items(m, arg(args, 0), "prepend")?;
    items.reserve_exact(1);
    items.insert(0, arg(args, 1).clone());
    m.limited_items(items.len())?;
    Ok(m.heap.any_list(items))
}

fn concat(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let mut all = Vec::new();
    for value in args {
        match value.data {
            Data::List(_) => all.extend(items(m, value, "concat")?),
            Data::Nil => return Err(Fault::new("runtime error: invalid memory address or nil pointer dereference")),
            _ => return Err(Fault::new(format!("Cannot concat type {} as list", m.heap.kind_name(value)))),
        }
        m.limited_items(all.len())?;
    }
    if all.is_empty() {
        return Ok(m.heap.nil_list(ListType::Any));
    }
    Ok(m.heap.any_list(all))
}

fn reverse(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let mut items = items(m, arg(args, 0), "find reverse")?;
    items.reverse();
    Ok(m.heap.any_list(items))
}

fn contains(m: &mut Machine<'_>, items: &[Val], value: &Val) -> Result<bool, Fault> {
    m.spend(items.len() / COMPARED_PER_STEP)?;
    Ok(items.iter().any(|item| deep_equal(&m.heap, item, value)))
}

fn uniq(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let items = items(m, arg(args, 0), "find uniq")?;
    m.spend(items.len() * STEPS_PER_HASH)?;
    let mut seen: HashSet<Scalar<'_>> = HashSet::new();
    // Values that cannot be hashed are compared with all others of their kind.
    let mut others: Vec<Val> = Vec::new();
    let mut kept: Vec<Val> = Vec::new();
    for item in &items {
        let is_new = match Scalar::of(item) {
            Some(scalar) => seen.insert(scalar),
            None if contains(m, &others, item)? => false,
            None => {
                others.push(item.clone());
                true
            }
        };
        if is_new {
            kept.push(item.clone());
        }
    }
    Ok(m.heap.any_list(kept))
}

/// Values that are equal if their type and content are.
#[derive(PartialEq, Eq, Hash)]
enum Scalar<'v> {
    Int(i64),
    Int64(i64),
    Text(&'v [u8]),
}

impl<'v> Scalar<'v> {
    fn of(value: &'v Val) -> Option<Self> {
        match &value.data {
            Data::Int(number) => Some(Scalar::Int(*number)),
            Data::Int64(number) => Some(Scalar::Int64(*number)),
            Data::Str(text) => Some(Scalar::Text(text.bytes())),
            _ => None,
        }
    }
}

fn compact(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let mut items = items(m, arg(args, 0), "compact")?;
    items.retain(|item| m.heap.truth(item));
    Ok(m.heap.any_list(items))
}

fn without(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let items = items(m, arg(args, 0), "find without")?;
    let omit = args.get(1..).unwrap_or_default();
    let mut kept = Vec::new();
    for item in items {
        if !contains(m, omit, &item)? {
            kept.push(item);
        }
    }
    Ok(m.heap.any_list(kept))
}

fn has(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    if arg(args, 1).is_nil() {
        return Ok(Val::bool(false));
    }
    let items = items(m, arg(args, 1), "find has")?;
    Ok(Val::bool(contains(m, &items, arg(args, 0))?))
}

fn slice(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let whole = match &arg(args, 0).data {
        Data::List(list) => Ok(m.heap.items(*list).len()),
        _ => Err(items(m, arg(args, 0), "slice")?),
    };
    let len = whole.as_ref().map_or_else(Vec::len, |len| *len) as i64;
    if len == 0 {
        return Ok(Val::NIL);
    }
    let from = args.get(1).map_or(0, super::casts::to_int64);
    let to = args.get(2).map_or(len, super::casts::to_int64);
    if from < 0 || to < from || to > len {
        return Err(Fault::new("reflect.Value.Slice: slice index out of bounds"));
    }
    let (from, to) = (from as usize, to as usize);
    m.spend((to - from) / 2)?;
    match (whole, &arg(args, 0).data) {
        (Err(bytes), _) => Ok(m.heap.list(ListType::Any, bytes.get(from..to).unwrap_or_default().to_vec())),
        (Ok(_), Data::List(list)) => {
            let part = m.heap.items(*list).get(from..to).unwrap_or_default().to_vec();
            let kind = m.heap.get_list(*list).kind;
            Ok(m.heap.list(kind, part))
        }
        (Ok(_), _) => Ok(Val::NIL),
    }
}

fn chunk(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let items = items(m, arg(args, 1), "chunk")?;
    let size = int(args, 0);
    // Number of lists the original allocates, negative sizes included.
    let room = ((items.len() as f64 - 1.0) / size as f64).floor() + 1.0;
    if size < 0 && room == 0.0 {
        return Ok(m.heap.list(ListType::Lists, Vec::new()));
    }
    if size <= 0 {
        return Err(Fault::new("runtime error: makeslice: len out of range"));
    }
    let mut chunks = Vec::new();
    for part in items.chunks(size as usize) {
        chunks.push(m.heap.any_list(part.to_vec()));
    }
    Ok(m.heap.list(ListType::Lists, chunks))
}
