//! Measures what hostile files cost to read: time and peak memory, on a thread with a small stack.
//!
//!     cargo run --release -p purlin-syntax --example hostile_cost
//!
//! Each file is read by a process of its own, so that peaks do not add up. Measured is one reading of the text, from
//! the start of the thread to the tree and its problems.

#![allow(clippy::disallowed_methods)] // It measures, so it must look at the clock and start processes.

use purlin_syntax::{FileId, Flavor, Limits, Source, yaml};
use std::sync::Arc;
use std::time::Instant;

/// The guaranteed minimum stack.
const STACK: usize = 512 << 10;

const MIB: usize = 1 << 20;

/// A file by name, and its size limit if not the default.
struct Case {
    name: &'static str,
    text: fn() -> String,
    file_bytes: Option<u64>,
}

const CASES: &[Case] = &[
    Case { name: "nothing", text: || "a: 1\n".to_owned(), file_bytes: None },
    Case { name: "alias bomb", text: alias_bomb, file_bytes: None },
    Case { name: "100,000 [", text: || "[".repeat(100_000), file_bytes: None },
    Case { name: "100,000 {", text: || "{".repeat(100_000), file_bytes: None },
    Case { name: "100,000 {a:", text: || "{a: ".repeat(100_000), file_bytes: None },
    Case { name: "cyclic alias", text: || "a: &a\n  b: *a\nc: &c [*c, *a]\n".to_owned(), file_bytes: None },
    Case { name: "merge-key bomb", text: merge_bomb, file_bytes: None },
    Case { name: "64 MiB scalar", text: scalar, file_bytes: None },
    Case { name: "64 MiB scalar, size raised", text: scalar, file_bytes: Some(65 << 20) },
];

/// Nine levels, each nine times the previous one: 324 bytes.
fn alias_bomb() -> String {
    let mut text = format!("a: &a [{}]\n", ["lol"; 9].join(","));
    for (name, before) in ('b'..='i').zip('a'..) {
        let aliases = vec![format!("*{before}"); 9].join(",");
        text.push_str(&format!("{name}: &{name} [{aliases}]\n"));
    }
    text
}

/// Mappings that each merge the previous one twice, forty levels deep.
fn merge_bomb() -> String {
    let mut text = "m0: &m0 {k0: v, l0: v}\n".to_owned();
    for at in 1..=40 {
        let before = at - 1;
        text.push_str(&format!(
            "m{at}: &m{at} {{<<: [*m{before}, *m{before}], k{at}: *m{before}, l{at}: *m{before}}}\n"
        ));
    }
    text
}

fn scalar() -> String {
    format!("a: {}\n", "x".repeat(64 * MIB))
}

fn main() {
    let wanted = std::env::args().nth(1);
    match wanted.and_then(|name| CASES.iter().find(|case| case.name == name)) {
        Some(case) => measure(case),
        None => measure_all(),
    }
}

fn measure_all() {
    println!("{:<28} {:>10} {:>10} {:>10}  first problem", "file", "bytes", "ms", "peak MiB");
    let Ok(program) = std::env::current_exe() else { return };
    for case in CASES {
        // A stack overflow ends that process only, and shows in its status.
        match std::process::Command::new(&program).arg(case.name).status() {
            Ok(status) if status.success() => {}
            other => println!("{:<28} {other:?}", case.name),
        }
    }
}

fn measure(case: &'static Case) {
    let text = (case.text)();
    let bytes = text.len();
    let mut limits = Limits::default();
    limits.file_bytes = case.file_bytes.unwrap_or(limits.file_bytes);
    let source = Arc::new(Source::new(FileId(0), "hostile.yaml", text));
    let read = move || {
        let start = Instant::now();
        let tree = yaml::parse(source, Flavor::Core, &limits);
        let problem = tree.diagnostics().first().map(|found| format!("{}: {}", found.rule.name, found.message));
        drop(tree);
        (start.elapsed(), problem)
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(read);
    let Some((time, problem)) = thread.ok().and_then(|thread| thread.join().ok()) else { std::process::exit(1) };
    let milliseconds = time.as_secs_f64() * 1_000.0;
    let problem = problem.unwrap_or_else(|| "(none)".to_owned());
    println!("{:<28} {bytes:>10} {milliseconds:>10.2} {:>10.1}  {problem}", case.name, peak());
}

/// Peak memory of this process in MiB; 0 where the system does not report it.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1_024.0
}
