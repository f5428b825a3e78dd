//! `purlin-conformance SUITE_DIR… [--filter TEXT] [--failures] [--json FILE] [--ratchet] [--wrapped]`

#![allow(clippy::disallowed_methods)] // The surface is where the outside is touched.

use purlin_conformance::{Report, Verdict, ratchet, run_suite, suites::SUITES, wrapped};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Default)]
struct Options {
    folders: Vec<PathBuf>,
    filter: Option<String>,
    failures: bool,
    json: Option<PathBuf>,
    ratchet: bool,
    wrapped: bool,
}

fn options() -> Result<Options, String> {
    let mut options = Options::default();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = |name: &str| args.next().ok_or(format!("{name} needs a value"));
        match arg.as_str() {
            "--filter" => options.filter = Some(value("--filter")?),
            "--json" => options.json = Some(value("--json")?.into()),
            "--failures" => options.failures = true,
            "--ratchet" => options.ratchet = true,
            "--wrapped" => options.wrapped = true,
            flag if flag.starts_with('-') => return Err(format!("there is no option `{flag}`")),
            folder => options.folders.push(folder.into()),
        }
    }
    if options.folders.is_empty()
        && let Some(data) = ratchet::data_folder()
    {
        options.folders = SUITES.iter().map(|suite| data.join(suite.name)).filter(|folder| folder.is_dir()).collect();
    }
    Ok(options)
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    if let Some(data) = ratchet::data_folder().filter(|_| options.wrapped) {
        let reports = wrapped::run(&data, 1, options.filter.as_deref());
        reports.iter().for_each(|(name, report)| show(name, report, options.failures));
        let failed: usize = reports.iter().map(|(_, report)| report.failed()).sum();
        return if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if options.folders.is_empty() {
        println!("the recorded data is not beside this checkout; nothing was run");
        return ExitCode::SUCCESS;
    }
    let mut reports: Vec<(&'static str, Report)> = Vec::new();
    let mut unknown = 0;
    for folder in &options.folders {
        match run_suite(folder, options.filter.clone()) {
            Some((suite, report)) => {
                show(suite.name, &report, options.failures);
                reports.push((suite.name, report));
            }
            None => {
                eprintln!("error: `{}` is not a suite that is known", folder.display());
                unknown += 1;
            }
        }
    }
    if let Some(path) = &options.json
        && let Err(error) = std::fs::write(path, json(&reports))
    {
        eprintln!("error: cannot write `{}`: {error}", path.display());
        return ExitCode::from(5);
    }
    let fallen = if options.ratchet { fallen(&reports) } else { 0 };
    let passed: usize = reports.iter().map(|(_, report)| ratchet::reached(report)).sum();
    let failed: usize = reports.iter().map(|(_, report)| report.failed()).sum();
    println!("{passed} passed, {failed} failed");
    let ok = if options.ratchet { fallen == 0 } else { failed == 0 };
    if ok && unknown == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn show(suite: &str, report: &Report, failures: bool) {
    println!("{}", report.line(suite));
    for note in &report.notes {
        println!("  {note}");
    }
    if !failures {
        return;
    }
    for (id, verdict) in &report.cases {
        if let Verdict::Failed(why) = verdict {
            println!("  FAILED {id}: {why}");
        }
    }
}

fn fallen(reports: &[(&'static str, Report)]) -> usize {
    let known = ratchet::load();
    let mut fallen = 0;
    for (suite, report) in reports {
        let (now, before) = (ratchet::reached(report), known.get(*suite).copied().unwrap_or(0));
        if now < before {
            println!("  {suite} fell from {before} to {now}");
            fallen += 1;
        }
        if now > before {
            println!("  {suite} rose from {before} to {now}: raise conformance/ratchet.toml");
        }
    }
    fallen
}

fn json(reports: &[(&'static str, Report)]) -> String {
    let mut all = serde_json::Map::new();
    for (suite, report) in reports {
        let mut cases = serde_json::Map::new();
        for (id, verdict) in &report.cases {
            let (word, why) = match verdict {
                Verdict::Passed => ("passed", None),
                Verdict::Deviates => ("deviation", None),
                Verdict::Failed(why) => ("failed", Some(why)),
                Verdict::Skipped(why) => ("skipped", Some(why)),
            };
            let mut entry = serde_json::Map::from_iter([("verdict".to_owned(), word.into())]);
            if let Some(why) = why {
                entry.insert("why".to_owned(), why.as_str().into());
            }
            cases.insert(id.clone(), entry.into());
        }
        all.insert((*suite).to_owned(), cases.into());
    }
    serde_json::Value::Object(all).to_string()
}
