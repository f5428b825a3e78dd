//! A reader's walk through the book: every command of its pages in a real shell, with an empty home folder and little
//! more on the path than `purlin`.
//!
//! The test starts itself again under the name `purlin`; `PURLIN=FILE` uses another program. Pages of rules are left to
//! `suite.rs`, which runs the same commands in process.

#![allow(clippy::disallowed_methods)] // The surface is where the outside is touched.

use libtest_mimic::{Arguments, Failed, Trial};
use purlin_suite::{Case, Scratch, as_program, environment, top, walk_cases};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    if purlin_cli::is_evaluator() {
        purlin_cli::serve_evaluations();
        return ExitCode::SUCCESS;
    }
    let mut words = std::env::args();
    let program = words.next().unwrap_or_default();
    if Path::new(&program).file_name().is_some_and(|name| name == "purlin") {
        return as_program(words.collect(), &mut std::io::stdout());
    }
    if !Path::new("/bin/sh").exists() {
        purlin_skipped::skipped("shell");
        return ExitCode::SUCCESS;
    }
    let (folder, own) = match (Scratch::new("walk-bin"), std::env::current_exe()) {
        (Ok(folder), Ok(own)) => (folder, own),
        (Err(error), _) | (_, Err(error)) => return failed(&error),
    };
    let binary: PathBuf = std::env::var_os("PURLIN").map_or(own, Into::into);
    let home = folder.path().join("home");
    let made = std::fs::create_dir(&home).and_then(|()| place(&binary, &folder.path().join("purlin")));
    if let Err(error) = made {
        return failed(&error);
    }
    let mut env = environment("");
    env.insert("HOME".to_owned(), home.to_string_lossy().into_owned());
    // Actions of the tour run programs available on every system.
    env.insert("PATH".to_owned(), format!("{}:/usr/bin:/bin", folder.path().display()));
    let cases = ["tour", "howto", "reference"].into_iter().flat_map(|part| {
        let docs = top().join("docs").join(part);
        walk_cases(&docs, &format!("docs/{part}/"), &env)
    });
    let trial = |case: Case| Trial::test(case.name, move || (case.run)().map_err(Failed::from));
    libtest_mimic::run(&Arguments::from_args(), cases.map(trial).collect()).exit_code()
}

/// Places the program under its name. A hard link costs nothing, but not every file system supports it.
fn place(program: &Path, name: &Path) -> std::io::Result<()> {
    std::fs::hard_link(program, name).or_else(|_| std::fs::copy(program, name).map(drop))
}

fn failed(error: &std::io::Error) -> ExitCode {
    eprintln!("{error}");
    ExitCode::FAILURE
}
