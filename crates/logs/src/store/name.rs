//! A session's name, and the names of files that engines derive from it.

use std::path::{Path, PathBuf};

use super::{Family, StoreError};

/// A session's name in the journal, split into its parts: `FIX.4.4:SENDER/SUB->TARGET/SUB:QUALIFIER`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionName {
    whole: String,
    /// For example `FIX.4.4`.
    pub begin_string: String,
    /// SenderCompID; then SenderSubID and SenderLocationID, if any.
    pub sender: Vec<String>,
    /// TargetCompID; then TargetSubID and TargetLocationID, if any.
    pub target: Vec<String>,
    /// Distinguishes sessions whose names are otherwise equal.
    pub qualifier: Option<String>,
}

impl SessionName {
    /// Splits a name.
    ///
    /// # Errors
    ///
    /// [`StoreError::Name`].
    pub fn parse(name: &str) -> Result<Self, StoreError> {
        let refuse = |why| {
            let session = name.to_owned();
            StoreError::Name { session, why }
        };
        let (begin_string, rest) = name
            .split_once(':')
            .ok_or_else(|| refuse("it has no BeginString"))?;
        let (sender, rest) = rest
            .split_once("->")
            .ok_or_else(|| refuse("it has no -> between its two sides"))?;
        let (target, qualifier) = match rest.split_once(':') {
            Some((target, qualifier)) => (target, Some(qualifier)),
            None => (rest, None),
        };
        let parts = |side: &str| side.split('/').map(str::to_owned).collect::<Vec<_>>();
        let made = Self {
            whole: name.to_owned(),
            begin_string: begin_string.to_owned(),
            sender: parts(sender),
            target: parts(target),
            qualifier: qualifier.map(str::to_owned),
        };
        let all = [&made.begin_string]
            .into_iter()
            .chain(&made.sender)
            .chain(&made.target)
            .chain(&made.qualifier);
        for part in all {
            if part.is_empty() {
                return Err(refuse("a part of it is empty"));
            }
            // A name must not lead out of the store's folder.
            if part.contains(['/', '\\']) || part.contains(char::is_control) {
                return Err(refuse("a part of it cannot be a file name"));
            }
        }
        if made.sender.len() > 3 || made.target.len() > 3 {
            return Err(refuse(
                "a side has more than CompID, sub id and location id",
            ));
        }
        Ok(made)
    }

    /// The name as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.whole
    }

    /// The beginning of the names of the files in the session's store.
    #[must_use]
    pub fn stem(&self, family: Family) -> String {
        let side = |parts: &[String]| match family {
            Family::Quickfix => parts[0].clone(),
            _ => parts.join("_"),
        };
        let mut stem = format!(
            "{}-{}-{}",
            self.begin_string,
            side(&self.sender),
            side(&self.target)
        );
        if let Some(qualifier) = &self.qualifier {
            stem.push('-');
            stem.push_str(qualifier);
        }
        if family == Family::QuickfixJ {
            let kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
            // Java counts UTF-16 units, and replaces each unit.
            stem = stem
                .chars()
                .flat_map(|c| {
                    let shown = if kept(c) { c } else { '_' };
                    std::iter::repeat_n(shown, if kept(c) { 1 } else { c.len_utf16() })
                })
                .collect();
        }
        stem
    }

    /// The path of a file of the session's store, with this extension.
    pub(super) fn path(&self, family: Family, folder: &Path, ending: &str) -> PathBuf {
        folder.join(format!("{}.{ending}", self.stem(family)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_engine_names_its_files_its_own_way() {
        let stem = |name: &str, family| SessionName::parse(name).unwrap().stem(family);
        let plain = "FIX.4.2:A->B";
        for family in Family::ALL {
            assert_eq!(stem(plain, family), "FIX.4.2-A-B");
        }
        let full = "FIXT.1.1:A&C/S1/L->B/S2:Q 1";
        assert_eq!(stem(full, Family::Quickfix), "FIXT.1.1-A&C-B-Q 1");
        assert_eq!(stem(full, Family::QuickfixJ), "FIXT.1.1-A_C_S1_L-B_S2-Q_1");
        assert_eq!(stem(full, Family::QuickfixGo), "FIXT.1.1-A&C_S1_L-B_S2-Q 1");
        assert_eq!(stem(full, Family::QuickfixN), "FIXT.1.1-A&C_S1_L-B_S2-Q 1");
    }

    #[test]
    fn names_that_are_none_or_lead_elsewhere_are_refused() {
        for name in [
            "",
            "FIX.4.2",
            "FIX.4.2:A",
            "FIX.4.2:->B",
            "FIX.4.2:A->",
            "FIX.4.2:A->B:../x",
            "FIX.4.2:A->B:c\\x",
            "FIX.4.2:A\n->B",
            "FIX.4.2:A/b/c/d->B",
        ] {
            let error = SessionName::parse(name).unwrap_err().to_string();
            assert!(error.contains("is not a session name"), "{name}: {error}");
        }
    }
}
