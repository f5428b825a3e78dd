//! What came of running tests.

use purlin_syntax::Diagnostic;

/// What came of all suites.
#[derive(Debug, Default)]
pub struct Report {
    /// The suites, in the order of their files.
    pub suites: Vec<SuiteReport>,
}

/// What came of one suite.
#[derive(Debug, Default)]
pub struct SuiteReport {
    /// Its name, or that of its file.
    pub name: String,
    /// Its file.
    pub file: String,
    /// Its tests.
    pub cases: Vec<Case>,
    /// What is wrong with the file.
    pub problems: Vec<Diagnostic>,
    /// The snapshots to store, if they are others than those that are stored.
    pub snapshots: Option<SnapshotFile>,
    /// How many snapshots are stored that no test compares with.
    pub obsolete: usize,
}

/// A file of snapshots as it should be.
#[derive(Debug)]
pub struct SnapshotFile {
    /// Its path, as the world reads it.
    pub path: String,
    /// Its text.
    pub text: String,
    /// How many are new.
    pub created: usize,
    /// How many are others.
    pub changed: usize,
}

/// What came of one test.
#[derive(Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// What came of it.
    pub outcome: Outcome,
    /// What does not hold.
    pub failures: Vec<Diagnostic>,
}

/// Whether a test passed.
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
    /// How many tests have an outcome.
    pub fn count(&self, is_it: impl Fn(&Outcome) -> bool) -> usize {
        self.suites.iter().flat_map(|suite| &suite.cases).filter(|case| is_it(&case.outcome)).count()
    }

    /// Everything that is wrong.
    pub fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.suites.iter().flat_map(|suite| {
            let of_cases = suite.cases.iter().flat_map(|case| &case.failures);
            suite.problems.iter().chain(of_cases)
        })
    }
}
