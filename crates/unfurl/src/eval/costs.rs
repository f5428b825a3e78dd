//! The costs of evaluation: steps, bytes, and the sizes of values when written out.
//!
//! All costs go to the session's meter. Shared parts count at each occurrence, but are visited once.

use super::engine::Engine;
use crate::error::{Result, limit_of};
use crate::val::{Data, MapKey, Val};
use purlin_value::meter::BYTES_PER_STEP;
use purlin_value::meter::{Held, SLOW_BYTES, SLOW_STEPS};
use purlin_value::rules::{LIMIT_LIST, LIMIT_OUTPUT, LIMIT_STRING};
use purlin_value::{Cost, Exceeded};
use std::cell::RefCell;
use std::collections::HashMap;

/// The written size of a value, without its text.
const PART: usize = 8;
/// Most sizes remembered; beyond that all are discarded.
const MOST_REMEMBERED: usize = 100_000;
/// Deeper values are not measured.
const DEEPEST: usize = purlin_syntax::limits::COLLECTION_LEVELS as usize;
/// The memory of a collection without its items, including the cost of taking it apart.
const COLLECTION: usize = 256;

type Known<T> = RefCell<HashMap<usize, (Val, T), foldhash::fast::RandomState>>;

/// Sizes and evaluated forms of shared collections. Each is kept together with its collection, so that the address
/// stays in use and the collection is not changed in place.
#[derive(Debug, Default)]
pub struct Sizes {
    weights: Known<usize>,
    forced: Known<Data>,
}

impl Sizes {
    /// The evaluated form of a collection.
    pub(super) fn forced(&self, value: &Val) -> Option<Data> {
        let address = value.shared_at()?;
        self.forced.borrow().get(&address).map(|(_, data)| data.clone())
    }

    /// Records the evaluated form of a collection.
    pub(super) fn note_forced(&self, value: Val, forced: &Val) {
        if let Some(address) = value.shared_at() {
            insert(&self.forced, address, value, forced.data.clone());
            // The evaluated form is its own: it has no expressions left.
            if let Some(address) = forced.shared_at() {
                insert(&self.forced, address, forced.clone(), forced.data.clone());
            }
        }
    }
}

fn insert<T>(known: &Known<T>, address: usize, value: Val, what: T) {
    let mut known = known.borrow_mut();
    if known.len() >= MOST_REMEMBERED {
        known.clear();
    }
    known.insert(address, (value, what));
}

impl Engine<'_> {
    /// Charges work.
    pub fn spend(&self, steps: usize) -> Result<()> {
        self.tab.charge(&self.session.meter, steps as u64).or_else(exceeded)
    }

    /// Charges work, and bytes that are about to be made.
    pub fn charge(&self, steps: usize, bytes: usize) -> Result<()> {
        self.spend(steps)?;
        self.session.meter.charge(0, bytes as u64).or_else(exceeded)
    }

    /// Charges bytes that are held only until the result is dropped.
    pub fn hold(&self, bytes: usize) -> Result<Held<'_>> {
        self.session.meter.hold(bytes as u64).or_else(exceeded)
    }

    /// Charges a list that is about to be made; rejects one that is longer than allowed.
    pub fn afford_list(&self, items: usize) -> Result<()> {
        self.allow_items(items)?;
        self.charge(items, items.saturating_mul(size_of::<Val>()))
    }

    /// Room for a list or a text that is about to be made, until it is paid for; refuses a list that is longer than
    /// allowed.
    pub fn room(&self, items: usize, bytes: usize) -> Result<Held<'_>> {
        self.allow_items(items)?;
        self.hold(items.saturating_mul(size_of::<Val>()).saturating_add(bytes))
    }

    fn allow_items(&self, items: usize) -> Result<()> {
        let most = self.session.limits.list_items;
        if items as u64 > most {
            return limit_of(&LIMIT_LIST, format!("a list has more than {most} items"));
        }
        Ok(())
    }

    /// Charges rows that are about to be made, each a list of its own.
    pub fn afford_rows(&self, rows: usize, columns: usize) -> Result<()> {
        let cells = rows.saturating_mul(columns.saturating_add(2));
        self.charge(cells, cells.saturating_mul(size_of::<Val>()))
    }

    /// Charges a function or filter before it is called with these values. Memory held until it is done is returned
    /// with the result.
    pub fn charge_call<'v>(&self, cost: Cost, values: impl Iterator<Item = &'v Val>) -> Result<Held<'_>> {
        let mut steps = 1usize;
        let mut held = 0u64;
        for (at, value) in values.enumerate() {
            if !cost.looks_at(at) {
                continue;
            }
            let bytes = if matches!(cost, Cost::Deep | Cost::Slow) { self.weigh(value)? } else { surface(value) };
            steps = steps.saturating_add(match cost {
                Cost::Slow => bytes.saturating_mul(SLOW_STEPS as usize),
                _ => bytes / BYTES_PER_STEP as usize,
            });
            held += if cost == Cost::Slow { bytes as u64 * SLOW_BYTES } else { 0 };
        }
        self.spend(steps)?;
        self.session.meter.hold(held).or_else(exceeded)
    }

    /// Charges a value that was made; rejects one that is larger than allowed.
    pub fn made(&self, value: &Val) -> Result<()> {
        let limits = &self.session.limits;
        match &value.data {
            Data::Str(text) if text.len() as u64 > limits.string_bytes => {
                limit_of(&LIMIT_STRING, format!("a string is longer than {} bytes", limits.string_bytes))
            }
            Data::List(items) if items.len() as u64 > limits.list_items => {
                limit_of(&LIMIT_LIST, format!("a list has more than {} items", limits.list_items))
            }
            Data::Str(text) => self.charge(text.len() / BYTES_PER_STEP as usize, text.len()),
            Data::List(items) => self.charge(items.len() / 8, COLLECTION + items.len() * size_of::<Val>()),
            Data::Map(entries) => self.charge(entries.len() / 8, COLLECTION + entries.len() * 2 * size_of::<Val>()),
            _ => Ok(()),
        }
    }

    /// About how many bytes a value has when it is written out; refuses one that has more than allowed.
    pub fn weigh(&self, value: &Val) -> Result<usize> {
        let most = self.session.limits.output_bytes;
        let mut visited = 0;
        let weight = self.weight(value, 0, &mut visited);
        self.spend(visited / 4)?;
        if weight as u64 > most {
            return limit_of(&LIMIT_OUTPUT, format!("a value has more than {most} bytes when it is written out"));
        }
        Ok(weight)
    }

    fn weight(&self, value: &Val, depth: usize, visited: &mut usize) -> usize {
        *visited += 1;
        if !matches!(value.data, Data::List(_) | Data::Map(_)) {
            return surface(value);
        }
        if depth > DEEPEST {
            return usize::MAX;
        }
        // The outermost value may be about to be changed in place, so it must not be held here.
        let address = value.shared_at().filter(|_| depth > 0);
        if let Some((_, weight)) = address.and_then(|address| self.sizes.weights.borrow().get(&address).cloned()) {
            return weight;
        }
        let add =
            |sum: usize, part: &Val, visited: &mut usize| sum.saturating_add(self.weight(part, depth + 1, visited));
        let weight = match &value.data {
            Data::List(items) => items.iter().fold(PART, |sum, item| add(sum, item, visited)),
            Data::Map(entries) => entries.iter().fold(PART, |sum, (key, item)| {
                add(sum.saturating_add(PART + key.as_str().map_or(0, str::len)), item, visited)
            }),
            _ => PART,
        };
        if let Some(address) = address {
            insert(&self.sizes.weights, address, value.clone(), weight);
        }
        weight
    }
}

/// The bytes of a value itself.
fn surface(value: &Val) -> usize {
    match &value.data {
        Data::Str(text) => text.len() + PART,
        Data::Bytes(bytes) => bytes.len() + PART,
        Data::List(items) => items.len() * PART,
        Data::Map(entries) => entries.keys().filter_map(MapKey::as_str).map(str::len).sum::<usize>() + PART,
        Data::Lazy(lazy) => lazy.len() * PART,
        _ => PART,
    }
}

pub fn exceeded<T>(exceeded: Exceeded) -> Result<T> {
    let mut error = limit_of::<T>(exceeded.rule(), exceeded.message());
    if let Err(error) = &mut error {
        error.hint = Some(exceeded.hint().into());
    }
    error
}
