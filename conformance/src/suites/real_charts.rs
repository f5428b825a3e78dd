//! `real-charts`: widely used public charts through `purlin helm`, with the CPU time used.

use crate::{Context, Report, Suite, Verdict, purlin};
use flate2::read::GzDecoder;
use serde_json::Value as Json;
use std::io::Read;

/// The suite.
pub const SUITE: Suite = Suite { name: "real-charts", run };

/// Runs the suite.
fn run(context: &Context) -> Report {
    let cases = context.json_lines("index.jsonl");
    let id = |case: &Json| case["id"].as_str().unwrap_or_default().to_owned();
    let before = cpu_seconds();
    let mut report = context.run_cases(&cases, id, |case| judge(context, &id(case), case));
    let ours = cpu_seconds() - before;
    let theirs: f64 =
        cases.iter().filter(|case| context.wants(&id(case))).filter_map(|case| case["cpu_s"].as_f64()).sum();
    report.notes.push(format!("CPU {ours:.2} s, the original's recorded {theirs:.2} s"));
    report
}

/// User and system time of this process so far, from the kernel's accounting.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<f64> = after.split_whitespace().skip(11).take(2).filter_map(|text| text.parse().ok()).collect();
    // The kernel counts in hundredths on every platform this runs on.
    fields.iter().sum::<f64>() / 100.0
}

fn judge(context: &Context, id: &str, case: &Json) -> Verdict {
    let folder = context.folder.join(case["repo"].as_str().unwrap_or_default().replace('/', "+"));
    let args: Vec<String> = std::iter::once("helm".to_owned())
        .chain(case["args"].as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned))
        .collect();
    let ran = purlin(&args, &folder, &[]);
    let mut expected = Vec::new();
    let packed = std::fs::read(context.folder.join(format!("expected/{id}.yaml.gz"))).unwrap_or_default();
    if GzDecoder::new(packed.as_slice()).read_to_end(&mut expected).is_err() {
        return Verdict::Skipped("there is no recorded answer".to_owned());
    }
    let agrees = ran.code == 0 && ran.stdout == expected;
    let ours = String::from_utf8_lossy(&ran.stdout).into_owned();
    context.judge(id, agrees, &ours, || {
        let theirs = String::from_utf8_lossy(&expected);
        let stderr: String = ran.stderr.chars().take(600).collect();
        format!("{} exit {} {stderr}\n{}", case["args"], ran.code, crate::report::first_difference(&ours, &theirs))
    })
}
