//! [`CaseSelection`]: the selected cases of a plan, as in `--case 3,5-7`.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::plan::CertificationPlan;

/// Numbers of cases.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CaseSelection(Vec<RangeInclusive<u32>>);

/// Why a text does not select cases.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SelectionError {
    /// The text has something other than numbers and ranges.
    Text(String),
    /// The plan has no case with this number.
    Unknown(u32),
}

impl fmt::Display for SelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(
                f,
                "'{text}' is not a case: write numbers and ranges, such as 3,5-7"
            ),
            Self::Unknown(number) => write!(f, "the plan has no case {number}"),
        }
    }
}

impl std::error::Error for SelectionError {}

impl FromStr for CaseSelection {
    type Err = SelectionError;

    fn from_str(text: &str) -> Result<Self, SelectionError> {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            (first <= last).then_some(first..=last)
        };
        let parts = text.split(',').map(str::trim);
        let ranges =
            parts.map(|part| range(part).ok_or_else(|| SelectionError::Text(part.to_owned())));
        ranges.collect::<Result<_, _>>().map(Self)
    }
}

impl CaseSelection {
    /// Whether a case is selected.
    #[must_use]
    pub fn has(&self, number: u32) -> bool {
        self.0.iter().any(|range| range.contains(&number))
    }

    /// Checks that each number, and both ends of each range, are cases of the plan.
    ///
    /// # Errors
    ///
    /// The first number that is not a case of the plan.
    pub fn check(&self, plan: &CertificationPlan) -> Result<(), SelectionError> {
        let is_known = |number: u32| plan.cases.iter().any(|case| case.number == number);
        let mut ends = self
            .0
            .iter()
            .flat_map(|range| [*range.start(), *range.end()]);
        match ends.find(|number| !is_known(*number)) {
            Some(number) => Err(SelectionError::Unknown(number)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ranges_are_selected() {
        let selection: CaseSelection = "3,5-7".parse().unwrap();
        let played: Vec<u32> = (1..10).filter(|number| selection.has(*number)).collect();
        assert_eq!(played, [3, 5, 6, 7]);
        for wrong in ["", "x", "3-", "7-5", "1,,2", "-1"] {
            assert!(wrong.parse::<CaseSelection>().is_err(), "{wrong}");
        }
        let plan = CertificationPlan::parse("case 3 A\nexpect 35=8\n").unwrap();
        assert_eq!("3".parse::<CaseSelection>().unwrap().check(&plan), Ok(()));
        assert_eq!(selection.check(&plan), Err(SelectionError::Unknown(5)));
    }
}
