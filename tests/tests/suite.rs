//! Every case of the suite, every section of its pages and every page of the documentation, each as a named test.

#![allow(clippy::disallowed_methods)] // The surface is where the outside is touched.

use libtest_mimic::{Arguments, Failed, Trial};
use purlin_suite::{Case, folder_cases, page_cases, section_cases, top};

fn main() {
    if purlin_cli::is_evaluator() {
        return purlin_cli::serve_evaluations();
    }
    let mut arguments = Arguments::from_args();
    // Each case has its own stack and memory; more threads than cores only cost.
    arguments.test_threads = arguments.test_threads.or(Some(2));
    let suite = top().join("tests/suite");
    let mut cases: Vec<Case> = folder_cases(&suite);
    cases.extend(section_cases(&suite));
    cases.extend(page_cases(&top().join("docs"), "docs/"));
    let trial = |case: Case| Trial::test(case.name, move || (case.run)().map_err(Failed::from));
    libtest_mimic::run(&arguments, cases.into_iter().map(trial).collect()).exit();
}
