//! Verdicts on cases, and their totals.

/// The verdict on one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The whole answer agrees.
    Passed,
    /// Our answer differs intentionally, and equals the stated one.
    Deviates,
    /// It does not agree; the reason.
    Failed(String),
    /// It cannot be run here; the reason.
    Skipped(String),
}

/// The verdicts of a suite.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Ids and verdicts, in the suite's order.
    pub cases: Vec<(String, Verdict)>,
    /// Further lines to print (separate counts, CPU time).
    pub notes: Vec<String>,
}

impl Report {
    fn count(&self, question: impl Fn(&Verdict) -> bool) -> usize {
        self.cases.iter().filter(|(_, verdict)| question(verdict)).count()
    }

    /// Cases that agree.
    pub fn passed(&self) -> usize {
        self.count(|verdict| *verdict == Verdict::Passed)
    }

    /// Cases with intentional differences.
    pub fn deviations(&self) -> usize {
        self.count(|verdict| *verdict == Verdict::Deviates)
    }

    /// Cases that fail.
    pub fn failed(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Failed(_)))
    }

    /// Cases that were not run.
    pub fn skipped(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Skipped(_)))
    }

    /// The suite's line.
    pub fn line(&self, suite: &str) -> String {
        let (passed, failed, deviations, skipped) = (self.passed(), self.failed(), self.deviations(), self.skipped());
        format!("{suite}: {passed} passed, {failed} failed, {deviations} deviations, {skipped} skipped")
    }
}

/// The first line in which two texts differ, with the line before it.
pub fn first_difference(ours: &str, theirs: &str) -> String {
    let (mut a, mut b) = (ours.lines(), theirs.lines());
    let mut before = "";
    let mut number = 0;
    loop {
        number += 1;
        match (a.next(), b.next()) {
            (None, None) => return "  no line differs".to_owned(),
            (Some(x), Some(y)) if x == y => before = x,
            (x, y) => return format!("  line {number} after {before:?}\n  ours:   {x:?}\n  theirs: {y:?}"),
        }
    }
}
