//! Results of tests.

use purlin_syntax::Diagnostic;

/// The results of all suites.
#[derive(Debug, Default)]
pub struct Report {
    /// The suites, in the order of their files.
    pub suites: Vec<SuiteReport>,
}

/// The result of one suite.
#[derive(Debug, Default)]
pub struct SuiteReport {
    /// Its name, or that of its file.
    pub name: String,
    /// Its file.
    pub file: String,
    /// Its tests.
    pub cases: Vec<Case>,
    /// Problems of the file.
    pub problems: Vec<Diagnostic>,
    /// The snapshots to store, if they differ from the stored ones.
    pub snapshots: Option<SnapshotFile>,
    /// Number of stored snapshots that no test uses.
    pub obsolete: usize,
}

/// The new content of a snapshot file.
#[derive(Debug)]
pub struct SnapshotFile {
    /// Its path, as the world reads it.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Number of new ones.
    pub created: usize,
    /// Number of changed ones.
    pub changed: usize,
}

/// The result of one test.
#[derive(Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// The outcome.
    pub outcome: Outcome,
    /// Failed assertions.
    pub failures: Vec<Diagnostic>,
}

/// The outcome of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All assertions hold.
    Passed,
    /// One does not.
    Failed,
    /// It was not run, for a reason.
    Skipped(String),
}

impl Report {
    /// Number of tests with an outcome.
    pub fn count(&self, is_it: impl Fn(&Outcome) -> bool) -> usize {
        self.suites.iter().flat_map(|suite| &suite.cases).filter(|case| is_it(&case.outcome)).count()
    }

    /// All failures and problems.
    pub fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.suites.iter().flat_map(|suite| {
            let of_cases = suite.cases.iter().flat_map(|case| &case.failures);
            suite.problems.iter().chain(of_cases)
        })
    }
}
