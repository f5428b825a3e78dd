//! Compares the two YAML readers on the user's own files: the share that the plain reader accepts, and the speed of
//! both.
//!
//!     cargo run --release -p purlin-syntax --example reading -- FOLDER [ROUNDS]
//!
//! Every file below the folder is read in both ways, and so are ROUNDS mutations of each; differing trees are printed
//! and fail the run.

#![allow(clippy::disallowed_methods)] // It measures, so it must look at the disk and the clock.

use purlin_syntax::compare::{Comparison, compare, fully};
use purlin_syntax::{FileId, Flavor, Limits, Source, yaml};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of timed readings of each text.
const TIMES: u32 = 3;

const FLAVORS: [Flavor; 3] = [Flavor::Core, Flavor::Go, Flavor::Python];

/// Pieces that mutations insert.
const PIECES: &[&str] = &[
    "\n", " ", "  ", "- ", ": ", ":", "#", " # c", "'", "\"", "&a ", "*a", "!t ", "!!str ", "|", ">", "|-", "|2", "[",
    "]", "{", "}", ",", "---\n", "...\n", "\t", "\r\n", "? ", "\\", "\\x41", "a: b\n", "  c: d\n", "é", "<<: *a\n",
    "\n\n", "~",
];

#[derive(Default)]
struct Totals {
    files: usize,
    bytes: usize,
    taken: usize,
    taken_bytes: usize,
    different: usize,
    usual: Duration,
    full: Duration,
    /// Kinds of lines at which the plain reader gives up, with two counts: texts, and bytes left unread.
    left: HashMap<String, (usize, usize)>,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| ".".to_owned()));
    let rounds: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut totals = Totals::default();
    let mut files = Vec::new();
    find(&folder, &mut files);
    files.sort();
    for file in &files {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        totals.take(&text);
        for round in 0..rounds {
            totals.compare(&mutated(&text, round), FLAVORS[usize::try_from(round).unwrap_or(0) % FLAVORS.len()]);
        }
    }
    totals.print();
    if totals.different == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => find(&path, files),
            Ok(_) if path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") => files.push(path),
            _ => {}
        }
    }
}

/// A text with a few changes, deterministic per round.
fn mutated(text: &str, round: u64) -> String {
    let mut state = round.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (text.len() as u64) ^ 1;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % below.max(1)
    };
    let mut text = text.to_owned();
    for _ in 0..=next(2) {
        let at = floor(&text, next(text.len() + 1));
        let end = floor(&text, (at + [0, 0, 1, 2, 8][next(5)]).min(text.len()));
        text.replace_range(at..end.max(at), PIECES[next(PIECES.len())]);
    }
    text
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl Totals {
    fn take(&mut self, text: &str) {
        let source = Arc::new(Source::new(FileId(0), "t.yaml", text));
        let limits = Limits::default();
        // For templates and other files that are not YAML, only the time to the first mistake is of interest.
        if !fully(&source, Flavor::Core, &limits).is_sound() {
            self.compare(text, Flavor::Core);
            return;
        }
        self.files += 1;
        self.bytes += text.len();
        self.usual += fastest(|| yaml::parse(source.clone(), Flavor::Core, &limits).len());
        self.full += fastest(|| fully(&source, Flavor::Core, &limits).len());
        if self.compare(text, Flavor::Core) {
            self.taken += 1;
            self.taken_bytes += text.len();
        }
    }

    fn compare(&mut self, text: &str, flavor: Flavor) -> bool {
        let source = Arc::new(Source::new(FileId(0), "t.yaml", text));
        match compare(&source, flavor, &Limits::default()) {
            Comparison::Same => return true,
            Comparison::Left(at) if fully(&source, flavor, &Limits::default()).is_sound() => {
                let before = text.get(..at.min(text.len())).unwrap_or(text).trim_end_matches('\n');
                let line = before.rsplit('\n').next().unwrap_or("");
                let shape: String = line.chars().map(|c| if c.is_alphanumeric() { 'a' } else { c }).collect();
                let shape = shape.split_whitespace().map(|word| word.replace("aa", "a")).collect::<Vec<_>>().join(" ");
                let entry = self.left.entry(shape.chars().take(60).collect()).or_default();
                entry.0 += 1;
                entry.1 += text.len();
            }
            Comparison::Left(_) => {}
            Comparison::Different(parts) => {
                self.different += 1;
                if self.different < 20 {
                    println!("{flavor:?} {text:?}\n{parts}");
                }
            }
        }
        false
    }

    fn print(&self) {
        let rate = |time: Duration| self.bytes as f64 / 1e6 / time.as_secs_f64();
        println!("{} files, {:.1} MB", self.files, self.bytes as f64 / 1e6);
        println!("taken by the plain reader: {} files, {:.1} MB", self.taken, self.taken_bytes as f64 / 1e6);
        println!("into the tree: {:.0} MB/s; by the full reader alone: {:.0} MB/s", rate(self.usual), rate(self.full));
        println!("different: {}", self.different);
        let mut left: Vec<_> = self.left.iter().collect();
        left.sort_by_key(|(_, (_, bytes))| std::cmp::Reverse(*bytes));
        for (shape, (count, bytes)) in left.into_iter().take(60) {
            println!("{bytes:>9} bytes in {count:>5} texts left at  {shape}");
        }
    }
}

fn fastest(mut work: impl FnMut() -> usize) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..TIMES {
        let start = Instant::now();
        std::hint::black_box(work());
        best = best.min(start.elapsed());
    }
    best
}
