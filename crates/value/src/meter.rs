//! What evaluation costs, counted in one place: steps, and bytes of what is held.
//!
//! The session owns one [`Meter`]. Whoever evaluates charges it *before* it loops or allocates, by the size of what it
//! was given and what it is about to make. Steps only rise; bytes go down again where something is known to be let go.
//! Nothing here knows what is evaluated.

use crate::rules::{LIMIT_FUEL, LIMIT_MEMORY};
use purlin_syntax::{Diagnostic, Limits, Rule};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// So many bytes are looked at or copied in one step.
pub const BYTES_PER_STEP: u64 = 4;

/// The steps it takes to look at or copy so many bytes.
pub const fn steps_for(bytes: u64) -> u64 {
    bytes / BYTES_PER_STEP
}

/// The steps of one byte of what a slow function is given.
pub const SLOW_STEPS: u64 = 2;

/// So many bytes a slow function may hold, until it is done, for every byte it is given.
pub const SLOW_BYTES: u64 = 16;

/// What a function costs, told where it is listed, so that none can be listed without: the caller charges it before
/// the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// The same whatever it is given.
    Constant,
    /// It looks at the text, or the items, of these arguments: as many as bits are set, the first being the lowest.
    Linear(u8),
    /// It goes through its arguments as deep as they are: they are charged as if they were written out.
    Deep,
    /// As [`Cost::Deep`], with [`SLOW_STEPS`] steps for every byte: it takes text apart character by character, matches
    /// it, or holds several times as much for a while.
    Slow,
    /// It charges itself, because only it knows: what it makes is not bounded by what it is given.
    Own,
}

impl Cost {
    /// All arguments, but not into collections.
    pub const ALL: Cost = Cost::Linear(u8::MAX);

    /// Whether an argument is looked at.
    pub fn looks_at(self, argument: usize) -> bool {
        match self {
            Cost::Linear(bits) => bits >> argument.min(7) & 1 == 1,
            Cost::Deep | Cost::Slow => true,
            Cost::Constant | Cost::Own => false,
        }
    }
}

/// A limit that would be passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// More than this many steps.
    Steps(u64),
    /// More than this many bytes.
    Bytes(u64),
}

impl Exceeded {
    /// The rule of the limit.
    pub fn rule(self) -> &'static Rule {
        match self {
            Exceeded::Steps(_) => &LIMIT_FUEL,
            Exceeded::Bytes(_) => &LIMIT_MEMORY,
        }
    }

    /// What to say.
    pub fn message(self) -> String {
        match self {
            Exceeded::Steps(most) => format!("evaluation needs more than the {most} steps allowed"),
            Exceeded::Bytes(most) => format!("evaluation makes values of more than the {most} bytes allowed"),
        }
    }

    /// What to do about it.
    pub fn hint(self) -> &'static str {
        match self {
            Exceeded::Steps(_) => "look for a loop, or raise it with `--limit fuel=STEPS`",
            Exceeded::Bytes(_) => "look for values that grow, or raise it with `--limit memory=BYTES`",
        }
    }

    /// A diagnostic without a place.
    pub fn diagnostic(self) -> Diagnostic {
        Diagnostic::nowhere(self.rule(), self.message()).hint(self.hint())
    }
}

/// What one run has cost so far, and what it may cost.
#[derive(Debug)]
pub struct Meter {
    steps: AtomicU64,
    bytes: AtomicU64,
    read: AtomicU64,
    told: AtomicBool,
    limits: Limits,
    allotment: Option<Arc<Allotment>>,
}

/// What a run may hold at the least while others work beside it. It is what most projects need, so that they are not
/// worked on twice.
const LEAST_ALLOTTED: u64 = 32 << 20;

/// The part of the memory allowed that one of several runs at a time gets: together they hold as much as one may. A run
/// that needs more is stopped, and what it came to says nothing; it is to be repeated alone.
#[derive(Debug)]
pub(crate) struct Allotment {
    runs: u64,
    is_used_up: AtomicBool,
}

impl Allotment {
    /// For one of so many runs at a time.
    pub(crate) fn of_one_in(runs: usize) -> Self {
        Allotment { runs: (runs as u64).max(1), is_used_up: AtomicBool::new(false) }
    }

    /// Whether no other run works beside it.
    pub(crate) fn is_for_one(&self) -> bool {
        self.runs == 1
    }

    /// Whether the run was stopped for the sake of the others.
    pub(crate) fn is_used_up(&self) -> bool {
        self.is_used_up.load(Ordering::Relaxed)
    }

    /// Says that the run needs more than its part.
    pub(crate) fn use_up(&self) {
        self.is_used_up.store(true, Ordering::Relaxed);
    }

    /// The part of so many bytes.
    fn part_of(&self, most: u64) -> u64 {
        most.min((most / self.runs).max(LEAST_ALLOTTED))
    }
}

impl Meter {
    /// A meter at zero.
    pub fn new(limits: &Limits) -> Self {
        let zero = || AtomicU64::new(0);
        let (told, limits) = (AtomicBool::new(false), limits.clone());
        Meter { steps: zero(), bytes: zero(), read: zero(), told, limits, allotment: None }
    }

    /// The same for a run beside others.
    pub(crate) fn within(self, allotment: Option<Arc<Allotment>>) -> Self {
        Meter { allotment, ..self }
    }

    /// The limits it watches.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Another with the same limits that has taken no steps yet; what is held is still held.
    pub fn renewed(&self) -> Self {
        let meter = Meter::new(&self.limits).within(self.allotment.clone());
        meter.was_read(self.read.load(Ordering::Relaxed));
        add(&meter.bytes, self.bytes.load(Ordering::Relaxed));
        meter
    }

    /// Takes steps and bytes before they are used. What was refused stays counted, so that whoever goes on is refused
    /// as well.
    pub fn charge(&self, steps: u64, bytes: u64) -> Result<(), Exceeded> {
        let taken = add(&self.steps, steps);
        if taken > self.limits.fuel {
            return Err(Exceeded::Steps(self.limits.fuel));
        }
        if bytes == 0 {
            return Ok(());
        }
        let held = add(&self.bytes, bytes);
        let most = self.most_bytes();
        let allotted = self.allotment.as_ref().map_or(most, |allotment| allotment.part_of(most));
        if held > allotted {
            self.allotment.iter().for_each(|allotment| allotment.use_up());
            // What was refused is not made.
            self.release(bytes);
            return Err(Exceeded::Bytes(most));
        }
        Ok(())
    }

    /// Takes bytes that are held only for a while: they are given back with what is returned.
    pub fn hold(&self, bytes: u64) -> Result<Held<'_>, Exceeded> {
        self.charge(0, bytes)?;
        Ok(Held { meter: self, bytes })
    }

    /// Gives bytes back that are not held any more.
    pub fn release(&self, bytes: u64) {
        let less = |held: u64| Some(held.saturating_sub(bytes));
        let _ = self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// What was taken so far.
    pub(crate) fn spent(&self) -> Spent {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Spent { steps: load(&self.steps), bytes: load(&self.bytes), read: load(&self.read) }
    }

    /// Takes what another run has taken for something that this one is handed.
    pub(crate) fn take_over(&self, spent: Spent) {
        add(&self.steps, spent.steps);
        add(&self.bytes, spent.bytes);
        self.was_read(spent.read);
    }

    /// Remembers that so many bytes of files were read: what is large may be resolved to something large.
    pub(crate) fn was_read(&self, bytes: u64) {
        add(&self.read, bytes);
    }

    /// Whether it is still to be said that a limit was passed; true once.
    pub fn is_news(&self) -> bool {
        !self.told.swap(true, Ordering::Relaxed)
    }

    /// How many steps an evaluator may count for itself before the meter hears of them: none that matters.
    #[inline]
    pub(crate) fn portion(&self) -> u64 {
        if self.limits.fuel < PORTION * PORTION { 1 } else { PORTION }
    }

    /// Whether less than half of what is allowed is left, of steps or bytes.
    pub fn is_half_used(&self) -> bool {
        self.steps_left() < self.limits.fuel / 2 || self.bytes_left() < self.most_bytes() / 2
    }

    /// The steps that are left.
    pub fn steps_left(&self) -> u64 {
        self.limits.fuel.saturating_sub(self.steps.load(Ordering::Relaxed))
    }

    /// The bytes that are left.
    pub fn bytes_left(&self) -> u64 {
        self.most_bytes().saturating_sub(self.bytes.load(Ordering::Relaxed))
    }

    /// How many bytes a result may have when it is written as a whole: what is large may be resolved to something large.
    pub fn most_output(&self) -> u64 {
        let read = self.read.load(Ordering::Relaxed);
        self.limits.output_bytes.max(self.limits.memory(read) / 2)
    }

    fn most_bytes(&self) -> u64 {
        self.limits.memory(self.read.load(Ordering::Relaxed))
    }
}

/// What something has cost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    steps: u64,
    bytes: u64,
    read: u64,
}

impl Spent {
    /// What was taken since an earlier moment.
    pub(crate) fn since(self, before: Spent) -> Spent {
        Spent {
            steps: self.steps.saturating_sub(before.steps),
            bytes: self.bytes.saturating_sub(before.bytes),
            read: self.read.saturating_sub(before.read),
        }
    }
}

/// Bytes that are given back when this is dropped.
#[derive(Debug)]
pub struct Held<'m> {
    meter: &'m Meter,
    bytes: u64,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.meter.release(self.bytes);
        }
    }
}

/// Adds without ever wrapping: nobody charges anywhere near half of all numbers twice.
fn add(counter: &AtomicU64, amount: u64) -> u64 {
    let amount = amount.min(u64::MAX / 1024);
    let before = counter.fetch_add(amount, Ordering::Relaxed);
    if before > u64::MAX / 2 {
        counter.store(u64::MAX / 2, Ordering::Relaxed);
    }
    before.saturating_add(amount)
}

/// Steps that one evaluator counts for itself and hands to the meter in portions, so that counting costs an addition.
#[derive(Debug, Default)]
pub struct Tab {
    steps: std::cell::Cell<u64>,
}

/// Steps are handed over when so many have come together.
const PORTION: u64 = 256;

impl Tab {
    /// Takes steps; the meter hears of it now and then.
    #[inline]
    pub fn charge(&self, meter: &Meter, steps: u64) -> Result<(), Exceeded> {
        let steps = self.steps.get().saturating_add(steps);
        self.steps.set(steps);
        if steps < meter.portion() { Ok(()) } else { self.settle(meter) }
    }

    /// Hands over what has come together.
    pub fn settle(&self, meter: &Meter) -> Result<(), Exceeded> {
        meter.charge(self.steps.take(), 0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn meter(fuel: u64, memory_floor: u64) -> Meter {
        Meter::new(&Limits { fuel, memory_floor, ..Limits::default() })
    }

    #[test]
    fn steps_and_bytes_are_refused_before_they_are_used() {
        let meter = meter(10, 100);
        assert_eq!(meter.charge(4, 60), Ok(()));
        assert_eq!(meter.charge(0, 60), Err(Exceeded::Bytes(100)));
        assert_eq!(meter.charge(0, 40), Ok(()));
        meter.release(50);
        assert_eq!(meter.charge(0, 50), Ok(()));
        assert_eq!(meter.charge(7, 0), Err(Exceeded::Steps(10)));
        assert_eq!(meter.charge(0, 0), Err(Exceeded::Steps(10)));
    }

    #[test]
    fn a_run_beside_others_is_stopped_at_its_part() {
        let allotment = Arc::new(Allotment::of_one_in(4));
        let meter = meter(10, 256 << 20).within(Some(allotment.clone()));
        assert_eq!(meter.charge(0, 64 << 20), Ok(()));
        assert!(!allotment.is_used_up());
        assert_eq!(meter.renewed().charge(0, 1), Err(Exceeded::Bytes(256 << 20)));
        assert!(allotment.is_used_up());
        let few = Meter::new(&Limits { memory_floor: 1 << 20, ..Limits::default() });
        let few = few.within(Some(Arc::new(Allotment::of_one_in(64))));
        assert_eq!(few.charge(0, 1 << 20), Ok(()), "little is not divided");
    }

    #[test]
    fn what_is_read_allows_for_more() {
        let meter = meter(10, 100);
        meter.was_read(1_000);
        assert_eq!(meter.charge(0, 64_000), Ok(()));
        assert_eq!(meter.charge(0, 1), Err(Exceeded::Bytes(64_000)));
    }

    #[test]
    fn huge_charges_do_not_wrap() {
        let meter = meter(u64::MAX / 4, 100);
        for _ in 0..5_000 {
            let _ = meter.charge(u64::MAX, 0);
        }
        assert!(meter.charge(1, 0).is_err());
    }

    #[test]
    fn a_tab_is_settled_in_portions() {
        let (meter, tab) = (meter(100_000, 100), Tab::default());
        assert!((0..100_000).all(|_| tab.charge(&meter, 1).is_ok()));
        assert!(meter.steps_left() < 100_000);
        assert!((0..PORTION).any(|_| tab.charge(&meter, 1).is_err()));
    }

    #[test]
    fn a_tab_is_exact_where_few_steps_are_allowed() {
        let (meter, tab) = (meter(3, 100), Tab::default());
        assert!((0..3).all(|_| tab.charge(&meter, 1).is_ok()));
        assert!(tab.charge(&meter, 1).is_err());
    }
}
