//! Random programs of every dialect end within their budget: no panic, bounded memory.
//!
//! A few always run, from fixed seeds. `PURLIN_PROGRAMS=100000` sets the number for each dialect, checks the time, too,
//! and gives every hundredth the usual limits; `PURLIN_SEED=N` sets the seed, `PURLIN_DIALECT=NAME` selects one
//! dialect; a single program is printed. Programs that exceed their budget are printed and kept in `fuzz/findings`.

#![allow(clippy::disallowed_methods)] // The surface is where the outside is touched.

use purlin_fuzz::findings::Findings;
use purlin_fuzz::programs::{Budget, MAKERS, Maker, Outcome, bytes_of};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Programs of each dialect in a usual test run.
const FEW: u64 = 20;

/// The same for those whose cost is a product: each takes as long as its budget allows.
const FEW_PRODUCTS: u64 = 5;

/// The stack that the program gives to evaluation.
const STACK: usize = 256 << 20;

/// The tests share one count of allocated bytes, so there is only one.
#[test]
fn programs_stay_within_their_budget() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (count, seed) = (number("PURLIN_PROGRAMS"), number("PURLIN_SEED").unwrap_or(0));
    let only = std::env::var("PURLIN_DIALECT").ok();
    let mut wrong = Vec::new();
    for maker in MAKERS.iter().filter(|maker| only.as_deref().is_none_or(|name| name == maker.name)) {
        let tried = std::thread::scope(|scope| {
            let work = || tried(maker, seed, count);
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).map(|thread| thread.join())
        });
        match tried {
            Ok(Ok(found)) => wrong.extend(found),
            other => wrong.push(format!("{}: {other:?}", maker.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The programs, of this number, that exceeded their budget.
fn tried(maker: &Maker, seed: u64, count: Option<u64>) -> Vec<String> {
    let is_large = count.is_some();
    let findings = is_large.then(|| Findings::new(&Path::new(env!("CARGO_MANIFEST_DIR")).join("findings")));
    let (mut wrong, mut tally) = (Vec::new(), Tally::default());
    let few = if maker.name.ends_with("products") { FEW_PRODUCTS } else { FEW };
    for at in seed..seed + count.unwrap_or(few) {
        let is_full = is_large && at % 100 == 99;
        let budget = if is_full { Budget::full() } else { Budget::small() };
        let bytes = bytes_of(at);
        let files = maker.program(&bytes);
        if count == Some(1) {
            println!("{}", shown(&files));
        }
        let run = || catch_unwind(AssertUnwindSafe(|| maker.run(&files, &budget.limits)));
        let mut broken = judge(run(), &budget, is_large, &mut tally);
        // A busy machine makes any program slow; only a repeatedly slow one counts.
        if broken.as_ref().is_some_and(|what| what.contains("worked")) {
            broken = judge(run(), &budget, is_large, &mut tally);
        }
        if let Some(what) = broken {
            let what = format!("{} {at}: {what}", maker.name);
            println!("{what}");
            if let Some(findings) = &findings {
                findings.keep(&format!("{}-program", maker.name), &what, shown(&files).as_bytes());
            }
            wrong.push(what);
        }
    }
    tally.tell(maker);
    wrong
}

fn shown(files: &[(String, String)]) -> String {
    files.iter().map(|(path, text)| format!("=== {path}\n{text}")).collect()
}

fn judge(run: std::thread::Result<Outcome>, budget: &Budget, is_large: bool, tally: &mut Tally) -> Option<String> {
    let Ok(outcome) = run else { return Some("panics".to_owned()) };
    tally.count(&outcome);
    if outcome.bytes > budget.bytes {
        return Some(format!("held {} bytes", outcome.bytes));
    }
    if is_large && outcome.time > budget.time {
        return Some(format!("worked {:?}", outcome.time));
    }
    None
}

/// Totals so far.
#[derive(Default)]
struct Tally {
    runs: u64,
    sound: u64,
    limited: u64,
    most: Outcome,
    rules: BTreeMap<&'static str, u64>,
}

impl Tally {
    fn count(&mut self, outcome: &Outcome) {
        self.runs += 1;
        self.sound += u64::from(outcome.rules.is_empty());
        self.limited += u64::from(outcome.rules.iter().any(|rule| rule.starts_with("limit-")));
        outcome.rules.iter().for_each(|rule| *self.rules.entry(rule).or_default() += 1);
        self.most.bytes = self.most.bytes.max(outcome.bytes);
        self.most.time = self.most.time.max(outcome.time);
        self.most.written = self.most.written.max(outcome.written);
    }

    fn tell(&self, maker: &Maker) {
        println!(
            "{}: {} programs, {} without problems, {} stopped by a limit; most {} MiB, {:?}, {} bytes written",
            maker.name,
            self.runs,
            self.sound,
            self.limited,
            self.most.bytes >> 20,
            self.most.time,
            self.most.written
        );
        let mut rules: Vec<_> = self.rules.iter().map(|(rule, count)| (count, rule)).collect();
        rules.sort_by(|a, b| b.cmp(a));
        println!(
            "  {}",
            rules.iter().take(12).map(|(count, rule)| format!("{rule} {count}")).collect::<Vec<_>>().join(", ")
        );
    }
}
