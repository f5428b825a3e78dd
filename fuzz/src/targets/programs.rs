//! Targets whose bytes choose a program of a grammar: the program is mutated, not its text.

use super::{Target, about, kind_of};
use crate::programs::{Budget, MAKERS};

const fn program(name: &'static str, summary: &'static str, run: fn(&[u8]) -> u64) -> Target {
    Target {
        name,
        summary,
        run,
        seeds: &["program", "\u{7f}\u{40}\u{20}\u{60}", "zzzzzzzzzzzzzzzzzzzzzzzzzzzz"],
        words: &[],
        suite: &[],
    }
}

/// One target per dialect.
pub(super) const GARDEN: Target =
    program("garden-program", "a Garden project by grammar", |bytes| run("garden", bytes));
pub(super) const SKAFFOLD: Target =
    program("skaffold-program", "a Skaffold configuration by grammar", |bytes| run("skaffold", bytes));
pub(super) const TOSCA: Target = program("tosca-program", "a TOSCA service by grammar", |bytes| run("tosca", bytes));
pub(super) const UNFURL: Target =
    program("unfurl-program", "an Unfurl ensemble by grammar", |bytes| run("unfurl", bytes));
pub(super) const CHARTS: Target = program("chart-program", "a chart by grammar", |bytes| run("charts", bytes));
pub(super) const KUSTOMIZE: Target =
    program("kustomize-program", "kustomizations by grammar", |bytes| run("kustomize", bytes));

/// Exceeding the memory budget is a finding, like a panic; a new maximum of memory per byte of the program counts as a
/// new kind of outcome, and is mutated further.
#[allow(clippy::panic)]
fn run(dialect: &str, bytes: &[u8]) -> u64 {
    let Some(maker) = MAKERS.iter().find(|maker| maker.name == dialect) else { return 0 };
    let (files, budget) = (maker.program(bytes), Budget::small());
    let size: usize = files.iter().map(|(_, text)| text.len()).sum();
    let outcome = maker.run(&files, &budget.limits);
    if outcome.bytes > budget.bytes {
        panic!("holds {} bytes", outcome.bytes);
    }
    let per_byte = about(outcome.bytes / size.max(1) * 8);
    kind_of((per_byte, about(outcome.time.as_millis() as usize / 4), about(outcome.written), outcome.rules))
}
