//! No suite may fall below its best count. If the recorded data is absent, this is reported and nothing is checked.

#![allow(clippy::disallowed_methods, clippy::panic)]

use purlin_conformance::{Verdict, ratchet, run_suite, suites::SUITES};

#[test]
fn no_suite_falls_below_what_it_reached() {
    let Some(data) = ratchet::data_folder() else {
        purlin_skipped::skipped("recorded data");
        return;
    };
    let known = ratchet::load();
    let mut fallen = Vec::new();
    for suite in SUITES {
        let folder = data.join(suite.name);
        let Some((_, report)) = run_suite(&folder, None).filter(|_| folder.is_dir()) else {
            purlin_skipped::skipped("recorded data");
            continue;
        };
        println!("{}", report.line(suite.name));
        let (now, before) = (ratchet::reached(&report), known.get(suite.name).copied());
        match before {
            None => fallen.push(format!("{} is not in ratchet.toml; it reached {now}", suite.name)),
            Some(before) if now < before => {
                let failed = report.cases.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Failed(_)));
                let ids: Vec<&str> = failed.map(|(id, _)| id.as_str()).take(20).collect();
                fallen.push(format!("{} fell from {before} to {now}; failing: {}", suite.name, ids.join(", ")));
            }
            Some(_) => {}
        }
    }
    assert!(fallen.is_empty(), "{}", fallen.join("\n"));
}
