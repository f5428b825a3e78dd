//! `charts`: whole charts through `purlin helm`.

use super::chart_templates::places;
use crate::{Context, Report, Suite, Verdict, purlin};
use serde_json::Value as Json;

struct Case {
    id: String,
    folder: std::path::PathBuf,
    data: Json,
}

/// The suite.
pub const SUITE: Suite = Suite { name: "charts", run };

/// Runs the suite.
fn run(context: &Context) -> Report {
    let index: Json = serde_json::from_str(&context.text("index.json").unwrap_or_default()).unwrap_or_default();
    let case = |entry: &Json| {
        let (chart, case) = (entry["chart"].as_str()?, entry["case"].as_str()?);
        let folder = context.folder.join(chart).join("cases").join(case);
        Some(Case { id: format!("{chart}/{case}"), folder, data: entry.clone() })
    };
    let cases: Vec<Case> = index.as_array().into_iter().flatten().filter_map(case).collect();
    context.run_cases(&cases, |case| case.id.clone(), |case| judge(context, case))
}

fn judge(context: &Context, case: &Case) -> Verdict {
    let args: Vec<String> = std::iter::once("helm".to_owned())
        .chain(case.data["args"].as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned))
        .collect();
    let ran = purlin(&args, &case.folder, &[]);
    let expected = std::fs::read(case.folder.join("stdout.txt")).unwrap_or_default();
    let stderr = std::fs::read_to_string(case.folder.join("stderr.txt")).unwrap_or_default();
    let code = case.data["exit"].as_i64().unwrap_or(0);
    let ours = String::from_utf8_lossy(&ran.stdout).into_owned();
    let theirs = String::from_utf8_lossy(&expected).into_owned();
    let deterministic = case.data["deterministic_stdout"].as_bool().unwrap_or(true);
    let same_text =
        if deterministic { ours == theirs } else { without_blank_lines(&ours) == without_blank_lines(&theirs) };
    let same_code = i64::from(ran.code == 0) == i64::from(code == 0);
    let same_error = code == 0 || same_cause(&ran.stderr, &stderr);
    let agrees = same_text && same_code && same_error;
    let answer = if code == 0 { ours.clone() } else { ran.stderr.clone() };
    context.judge(&case.id, agrees, &answer, || {
        format!(
            "exit {} for {code}\n{}\n  our stderr: {}\n  theirs: {stderr}",
            ran.code,
            crate::report::first_difference(&ours, &theirs),
            ran.stderr
        )
    })
}

fn without_blank_lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.trim().is_empty()).collect()
}

/// Whether two failures have the same cause: the same locations, or the same first words.
fn same_cause(ours: &str, theirs: &str) -> bool {
    let (a, b) = (places(ours), places(theirs));
    if !b.is_empty() {
        return a == b || a.last() == b.last() && a.first() == b.first();
    }
    let key = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("Error")).unwrap_or_default();
        line.split(": ").take(2).collect::<Vec<_>>().join(": ")
    };
    key(ours) == key(theirs)
}
