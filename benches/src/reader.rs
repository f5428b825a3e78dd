//! Speed of reading files.

use crate::Options;
use crate::generate::manifests;
use crate::measure::{Row, median, ms, run_in, shortest};
use purlin_syntax::{FileId, Flavor, Limits, Source, yaml};
use std::hint::black_box;
use std::sync::Arc;

/// Parsing into the tree, compared with the underlying event stream.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let text = manifests(10_000_000 * options.size, options.seed);
    let limits = Limits { file_bytes: u64::MAX, ..Limits::default() };
    let source = Arc::new(Source::new(FileId(0), "large.yaml", text.as_str()));
    let events = shortest(5, || {
        for event in granit_parser::Parser::new_from_str(&text) {
            black_box(event.is_ok());
        }
    });
    let tree = shortest(5, || {
        black_box(yaml::parse(source.clone(), Flavor::Go, &limits).len());
    });
    let parsed = yaml::parse(source, Flavor::Go, &limits);
    let megabytes = text.len() as f64 / 1e6;
    vec![
        Row::new("reader: bare events", megabytes / events.as_secs_f64(), "MB/s"),
        Row::new("reader: tree", megabytes / tree.as_secs_f64(), "MB/s").remark(format!("{} nodes", parsed.len())),
        Row::new("reader: tree per bare events", tree.as_secs_f64() / events.as_secs_f64(), "×").remark("goal 1.5"),
        Row::new(
            "reader: tree's memory per byte of text",
            (parsed.memory() + text.len()) as f64 / text.len() as f64,
            "×",
        )
        .remark("goal 12"),
    ]
}

/// A whole run of the program over many small files.
pub(crate) fn survey(options: &Options) -> Vec<Row> {
    let folder = std::env::temp_dir().join(format!("purlin-bench-{}", std::process::id()));
    let count = 1_000 * options.size;
    for at in 0..count {
        let place = folder.join(format!("team-{}", at % 40));
        let _ = std::fs::create_dir_all(&place);
        let _ = std::fs::write(place.join(format!("{at}.yaml")), manifests(2_000, options.seed + at as u64));
    }
    let rows = ["1", "2"].map(|threads| {
        let time = median(9, || {
            black_box(run_in(&folder, &["check", "--threads", threads]));
        });
        Row::new(format!("survey: {count} files of 2 KB, {threads} threads"), ms(time), "ms")
            .remark("goal 50 on 2 cores")
    });
    let _ = std::fs::remove_dir_all(&folder);
    rows.into()
}
