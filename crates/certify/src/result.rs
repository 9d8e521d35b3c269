//! [`CaseResult`]: the result of a case; and the totals of all cases.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The outcome of a case.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CaseVerdict {
    /// All expectations were met.
    Passed,
    /// An expectation was not met.
    Failed {
        /// The line of the step in the plan.
        line: usize,
        /// Lines with the expectation and the result.
        why: Vec<String>,
    },
    /// The case could not be played.
    NotPlayed {
        /// The reason.
        why: String,
    },
    /// The case does not apply to the session's FIX version.
    NotApplicable {
        /// The reason.
        why: String,
    },
}

/// The result of one case.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CaseResult {
    /// Number of the case.
    pub number: u32,
    /// Title of the case.
    pub title: String,
    /// Whether the case is optional, so that a failure does not count.
    pub optional: bool,
    /// Outcome of the case.
    pub verdict: CaseVerdict,
    /// Duration of the case.
    pub took: Duration,
    /// Path of the evidence of the case; `None` without evidence.
    pub evidence: Option<PathBuf>,
}

impl CaseResult {
    /// The verdict as one word: `pass`, `FAIL`, `fail` for an optional case, `not played`, `skipped`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self.verdict {
            CaseVerdict::Passed => "pass",
            CaseVerdict::Failed { .. } if self.optional => "fail",
            CaseVerdict::Failed { .. } => "FAIL",
            CaseVerdict::NotPlayed { .. } => "not played",
            CaseVerdict::NotApplicable { .. } => "skipped",
        }
    }

    /// Lines that explain why the case did not pass. `plan` is the name of the plan; for a failed step, the lines
    /// have this name and the line of the step.
    #[must_use]
    pub fn reasons(&self, plan: &str) -> Vec<String> {
        match &self.verdict {
            CaseVerdict::Passed => Vec::new(),
            CaseVerdict::Failed { line, why } => {
                let mut why = why.iter();
                let first = why.next().map_or("", String::as_str);
                let first = format!("{plan}:{line}: {first}");
                std::iter::once(first).chain(why.cloned()).collect()
            }
            CaseVerdict::NotPlayed { why } | CaseVerdict::NotApplicable { why } => {
                vec![why.clone()]
            }
        }
    }
}

/// Number of cases for each verdict.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Totals {
    /// Number of all cases.
    pub cases: usize,
    /// Passed cases.
    pub passed: usize,
    /// Number of failed cases that are not optional.
    pub failed: usize,
    /// Failed optional cases.
    pub failed_optional: usize,
    /// Cases that could not be played.
    pub not_played: usize,
    /// Cases that do not apply to the session's FIX version.
    pub skipped: usize,
}

impl Totals {
    /// Counts results.
    #[must_use]
    pub fn of(results: &[CaseResult]) -> Self {
        let mut totals = Self::default();
        for result in results {
            totals.cases += 1;
            match result.verdict {
                CaseVerdict::Passed => totals.passed += 1,
                CaseVerdict::Failed { .. } if result.optional => totals.failed_optional += 1,
                CaseVerdict::Failed { .. } => totals.failed += 1,
                CaseVerdict::NotPlayed { .. } => totals.not_played += 1,
                CaseVerdict::NotApplicable { .. } => totals.skipped += 1,
            }
        }
        totals
    }

    /// Whether the run is a success: cases were played, no required case failed, and every case that applies could be
    /// played.
    #[must_use]
    pub fn is_success(&self) -> bool {
        let played = self.passed + self.failed + self.failed_optional;
        self.failed == 0 && self.not_played == 0 && played > 0
    }

    /// Why a run in which no case failed is not a success; `None` if the run is a success.
    #[must_use]
    pub fn why_nothing_played(&self) -> Option<&'static str> {
        const WHY: &str = "no case was played: no case applies to the FIX version of the session, see 'versions:' in \
            the plan";
        (self.skipped == self.cases).then_some(WHY)
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.cases == 1 { "" } else { "s" };
        write!(
            f,
            "{} case{plural}: {} passed, {} failed",
            self.cases, self.passed, self.failed
        )?;
        for (count, what) in [
            (self.failed_optional, "optional failed"),
            (self.not_played, "not played"),
            (self.skipped, "skipped"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(verdicts: &[CaseVerdict]) -> Totals {
        let result = |verdict: &CaseVerdict| CaseResult {
            number: 1,
            title: "A".to_owned(),
            optional: true,
            verdict: verdict.clone(),
            took: Duration::ZERO,
            evidence: None,
        };
        let results: Vec<CaseResult> = verdicts.iter().map(result).collect();
        Totals::of(&results)
    }

    #[test]
    fn a_run_without_a_played_case_is_no_success() {
        let why = String::new;
        let skipped = CaseVerdict::NotApplicable { why: why() };
        let failed = CaseVerdict::Failed {
            line: 1,
            why: Vec::new(),
        };
        assert!(totals(&[CaseVerdict::Passed, skipped.clone()]).is_success());
        assert!(totals(&[failed, skipped.clone()]).is_success());
        assert!(
            !totals(&[CaseVerdict::Passed, CaseVerdict::NotPlayed { why: why() }]).is_success()
        );
        assert!(!totals(&[]).is_success());
        let none = totals(&[skipped.clone(), skipped]);
        assert!(!none.is_success());
        assert_eq!(none.to_string(), "2 cases: 0 passed, 0 failed, 2 skipped");
        assert!(none.why_nothing_played().is_some());
        assert_eq!(totals(&[CaseVerdict::Passed]).why_nothing_played(), None);
    }
}
