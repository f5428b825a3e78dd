//! A sample of the recorded projects as actions of Garden projects; `PURLIN_WRAPPED=all` uses all of them.

#![allow(clippy::disallowed_methods, clippy::panic)]

use purlin_conformance::{ratchet, wrapped};

/// One of this many projects is used.
const EVERY: usize = 20;

#[test]
fn projects_come_out_the_same_inside_an_action() {
    let Some(data) = ratchet::data_folder() else {
        purlin_skipped::skipped("recorded data");
        return;
    };
    let all = std::env::var("PURLIN_WRAPPED").is_ok_and(|text| text == "all");
    let mut failed = Vec::new();
    for (name, report) in wrapped::run(&data, if all { 1 } else { EVERY }, None) {
        println!("{}", report.line(name));
        for (id, verdict) in &report.cases {
            if let purlin_conformance::Verdict::Failed(why) = verdict {
                failed.push(format!("{id}: {why}"));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
