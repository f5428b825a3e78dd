//! Whole programs made by grammars, one per dialect: references, loops, functions, aliases and merges that fit together
//! often enough to be evaluated.
//!
//! [`run`] evaluates one under a budget and says what it took. Programs come from bytes, so the mutating worker uses
//! them as targets; `tests/programs.rs` takes bytes from a seed.

mod charts;
mod garden;
pub mod grammar;
mod kustomize;
mod products;
mod skaffold;
mod tosca;
mod unfurl;

use crate::random::Random;
use grammar::Choices;
use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};
use purlin_model::Request;
use purlin_model::inner::Ask;
use purlin_syntax::limits::Limits;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::{MemoryWorld, Secrets, Session, Value};
use std::alloc::System;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Counts what is allocated at most while a program runs.
#[global_allocator]
static ALLOCATOR: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Paths with contents.
pub type Files = Vec<(String, String)>;

/// A dialect and the programs of it.
pub struct Maker {
    /// The dialect.
    pub name: &'static str,
    make: fn(&mut Choices<'_>) -> Files,
}

/// All dialects.
pub const MAKERS: &[Maker] = &[
    Maker { name: "garden", make: garden::make },
    Maker { name: "skaffold", make: skaffold::make },
    Maker { name: "tosca", make: tosca::make },
    Maker { name: "unfurl", make: unfurl::make },
    Maker { name: "charts", make: charts::make },
    Maker { name: "kustomize", make: kustomize::make },
    Maker { name: "garden-products", make: products::garden },
    Maker { name: "skaffold-products", make: products::skaffold },
    Maker { name: "tosca-products", make: products::tosca },
    Maker { name: "unfurl-products", make: products::unfurl },
    Maker { name: "charts-products", make: products::charts },
    Maker { name: "kustomize-products", make: products::kustomize },
];

/// Numbers that hurt, and some that do not.
const NUMBERS: &[&str] =
    &["1", "0", "2", "3", "7", "10", "20", "60", "100", "1000", "70000", "1000000", "16000000", "2147483647", "-1"];

/// Short texts; every dialect repeats them itself.
const TEXTS: &[&str] = &[
    "x",
    "",
    "ab",
    "a,b,c",
    "é",
    "%",
    "%s",
    "0",
    ",",
    "k",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "true",
    ">=1.2 <3",
    "2006-01-02",
    "[1, 2]",
    "a: 1",
];

/// A piece of YAML with anchors, aliases and merges.
const YAML_ROWS: &[(&str, &[&str])] = &[(
    "yaml",
    &[
        "a",
        "1",
        "[<yaml>, <yaml>]",
        "{x: <yaml>, y: <yaml>}",
        "{a: &a [1, 2], b: [*a, *a]}",
        "{a: &a {k: v}, b: {<<: *a, z: <yaml>}}",
        "{a: &a [x, x], b: &b [*a, *a, *a, *a], c: &c [*b, *b, *b, *b], d: &d [*c, *c, *c, *c], e: [*d, *d, *d, *d]}",
        "{a: &a {k: v}, b: &b {<<: [*a, *a], x: *a}, c: &c {<<: *b, y: *b}, d: {<<: [*c, *b], w: *c}}",
        "null",
        "'<text>'",
        "[<yaml>, <yaml>, <yaml>, <yaml>]",
    ],
)];

/// What a run may take.
#[derive(Clone, Debug)]
pub struct Budget {
    /// The limits it runs with.
    pub limits: Limits,
    /// The bytes it may allocate at most at once.
    pub bytes: usize,
    /// The time it may work.
    pub time: Duration,
}

impl Budget {
    /// A fiftieth of what people have: cost that nobody charges shows as soon, and many more programs can be tried.
    pub fn small() -> Self {
        let limits = Limits {
            fuel: 1_000_000,
            memory_floor: 4 << 20,
            output_bytes: 2 << 20,
            string_bytes: 1 << 20,
            list_items: 50_000,
            ..Limits::default()
        };
        Budget { limits, bytes: 48 << 20, time: Duration::from_millis(250) }
    }

    /// What people have.
    pub fn full() -> Self {
        Budget { limits: Limits::default(), bytes: 512 << 20, time: Duration::from_secs(2) }
    }
}

/// What came of a program.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The rules of its problems.
    pub rules: BTreeSet<&'static str>,
    /// Bytes of the values it resolves to, written.
    pub written: usize,
    /// The bytes it held at most.
    pub bytes: usize,
    /// How long it worked.
    pub time: Duration,
}

/// The bytes of a seed.
pub fn bytes_of(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995);
    let count = 40 + random.below(1_200);
    (0..count).map(|_| random.number() as u8).collect()
}

impl Maker {
    /// The program of some bytes.
    pub fn program(&self, bytes: &[u8]) -> Files {
        (self.make)(&mut Choices::new(bytes))
    }

    /// Evaluates a program and writes all that it resolves to.
    pub fn run(&self, files: &[(String, String)], limits: &Limits) -> Outcome {
        let world = files.iter().fold(MemoryWorld::new(), |world, (path, text)| world.file(path, text));
        ALLOCATOR.reset_peak_memory();
        let held = ALLOCATOR.get_peak_memory();
        let start = worked();
        let session = Session::with_limits(Arc::new(world), limits.clone(), 1);
        let request = Request { path: ".".to_owned(), ..Request::default() };
        let resolved = if self.name.starts_with("kustomize") {
            let ask = Ask { path: "", request: request.clone(), values: Value::null(), span: None };
            purlin_kustomize::resolve(&session, &ask)
        } else {
            purlin_compiler::compile(&session, &request).map(|compiled| compiled.resolved)
        };
        if self.name.ends_with("products") {
            // All variants, as `check --all-envs` resolves them.
            purlin_compiler::survey_variants(&session, &request, &[".".to_owned()]);
        }
        // Writing sets aside the room of the longest text at once, which is not held.
        let bytes = ALLOCATOR.get_peak_memory().saturating_sub(held);
        let nodes = resolved.iter().flat_map(|resolved| resolved.nodes.iter());
        let write = |value: &Value| to_json(value, Secrets::Hide, JsonLayout::Compact).map_or(0, |text| text.len());
        let written = nodes.map(|node| write(&node.resolved)).sum();
        let problems = session.sink.take();
        let rules = problems.iter().map(|problem| problem.rule.name).collect();
        Outcome { rules, written, bytes, time: worked().saturating_sub(start) }
    }
}

/// How long this thread has worked; where the system does not say, how long the process has been there.
fn worked() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|text| text.split_whitespace().next()?.parse().ok());
    nanos.map_or_else(since_start, Duration::from_nanos)
}

fn since_start() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}
