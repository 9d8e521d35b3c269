//! [`EvidenceFolder`]: a file for each case with the bytes of both directions, and an index of all cases.
//!
//! ```text
//! DIR/20261126-093011/index.txt      the played cases with their verdicts, and the remaining cases
//! DIR/20261126-093011/case-01.txt    times, steps, bytes (> sent, < received), verdict
//! ```

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use fixwire_protocol::{Precision, Timestamp, TimestampWriter};

use crate::plan::CertificationCase;
use crate::result::{CaseResult, Totals};

/// Maximum number of runs that start in the same second.
const SAME_SECOND_MAX: u32 = 1000;

/// The folder of one run. Runs never share a folder.
#[derive(Debug)]
pub struct EvidenceFolder {
    path: PathBuf,
    /// The lines at the beginning of each file: plan and session.
    about: Vec<(String, String)>,
}

impl EvidenceFolder {
    /// Creates the folder of a run in `parent`, which is also created if it is missing. The name of the folder is the
    /// time `now`. Each file begins with the pairs in `about`.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    pub fn create(parent: &Path, now: Timestamp, about: Vec<(String, String)>) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        let mut stamp = TimestampWriter::new();
        let name = stamp.format(now, Precision::Seconds);
        let name = String::from_utf8_lossy(name).replace(':', "");
        let names = (1..SAME_SECOND_MAX).map(|count| match count {
            1 => name.clone(),
            count => format!("{name}-{count}"),
        });
        for name in names {
            let path = parent.join(name);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path, about }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(
            ErrorKind::AlreadyExists,
            "1,000 folders of evidence exist for this second",
        ))
    }

    /// The folder of the run.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A new file for a case, with its first lines.
    pub(crate) fn case(
        &self,
        case: &CertificationCase,
        now: Timestamp,
    ) -> io::Result<(PathBuf, File)> {
        let path = self.path.join(format!("case-{:02}.txt", case.number));
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)?;
        let mut stamp = TimestampWriter::new();
        let time = stamp.format(now, Precision::Micros);
        let time = String::from_utf8_lossy(time).into_owned();
        let title = format!("{} {}", case.number, case.title);
        let mut about = vec![
            ("case".to_owned(), title),
            ("line".to_owned(), case.line.to_string()),
        ];
        about.extend(self.about.iter().cloned());
        about.push(("begun".to_owned(), time));
        io::Write::write_all(&mut file, head(&about).as_bytes())?;
        Ok((path, file))
    }

    /// Writes the index: the cases that were played, and the remaining ones. The old index is kept until the new one
    /// is complete.
    ///
    /// # Errors
    ///
    /// The index cannot be written.
    pub fn write_index(
        &self,
        plan: &str,
        results: &[CaseResult],
        left: &[&CertificationCase],
    ) -> io::Result<()> {
        let mut text = head(&self.about);
        for result in results {
            let file = result.evidence.as_ref().and_then(|path| path.file_name());
            let file = file.map_or("-".into(), |name| name.to_string_lossy());
            text += &format!(
                "{:>4} {:<10} {:<12} {}\n",
                result.number,
                result.word(),
                file,
                result.title
            );
            for reason in result.reasons(plan) {
                text += &format!("{:29}{reason}\n", "");
            }
        }
        for case in left {
            text += &format!(
                "{:>4} {:<10} {:<12} {}\n",
                case.number, "-", "-", case.title
            );
        }
        let totals = Totals::of(results);
        text += &format!("\n{totals}");
        if !left.is_empty() {
            text += &format!(", {} left", left.len());
        } else if let Some(why) = totals.why_nothing_played() {
            text += &format!("; {why}");
        }
        text.push('\n');
        let (part, index) = (self.path.join("index.part"), self.path.join("index.txt"));
        fs::write(&part, text)?;
        fs::rename(part, index)
    }
}

/// The first lines of a file.
fn head(about: &[(String, String)]) -> String {
    let lines = about
        .iter()
        .map(|(key, value)| format!("{key:<9} {value}\n"));
    lines.collect::<String>() + "\n"
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plan::CertificationPlan;
    use crate::result::CaseVerdict;

    #[test]
    fn evidence_is_never_overwritten_and_the_index_is_readable() {
        let folder = tempfile::tempdir().unwrap();
        let parent = folder.path().join("evidence");
        let about = || vec![("plan".to_owned(), "a.plan".to_owned())];
        let now = Timestamp(1_795_685_411_000_000_000);
        let first = EvidenceFolder::create(&parent, now, about()).unwrap();
        let second = EvidenceFolder::create(&parent, now, about()).unwrap();
        assert_eq!(first.path(), parent.join("20261126-093011"));
        assert_eq!(second.path(), parent.join("20261126-093011-2"));
        let plan =
            CertificationPlan::parse("case 1 A\nexpect 35=8\ncase 2 B\nexpect 35=8\n").unwrap();
        let (path, _) = first.case(&plan.cases[0], now).unwrap();
        assert_eq!(
            first.case(&plan.cases[0], now).unwrap_err().kind(),
            ErrorKind::AlreadyExists
        );
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "case      1 A\nline      1\nplan      a.plan\nbegun     20261126-09:30:11.000000\n\n"
        );
        let result = CaseResult {
            number: 1,
            title: "A".to_owned(),
            optional: false,
            verdict: CaseVerdict::Failed {
                line: 2,
                why: vec![
                    "expected 35=8 within 5 s".to_owned(),
                    "received nothing".to_owned(),
                ],
            },
            took: Duration::ZERO,
            evidence: Some(path),
        };
        first
            .write_index("a.plan", &[result], &[&plan.cases[1]])
            .unwrap();
        let index = fs::read_to_string(first.path().join("index.txt")).unwrap();
        assert_eq!(
            index,
            "plan      a.plan\n\n   1 FAIL       case-01.txt  A\n\
             \u{20}                            a.plan:2: expected 35=8 within 5 s\n\
             \u{20}                            received nothing\n\
             \u{20}  2 -          -            B\n\n1 case: 0 passed, 1 failed, 1 left\n"
        );
        let result = CaseResult {
            number: 1,
            title: "A".to_owned(),
            optional: false,
            verdict: CaseVerdict::NotApplicable {
                why: "not for FIX.4.4".to_owned(),
            },
            took: Duration::ZERO,
            evidence: None,
        };
        for (left, end) in [
            (vec![&plan.cases[1]], ", 1 skipped, 1 left\n"),
            (Vec::new(), ", see 'versions:' in the plan\n"),
        ] {
            first
                .write_index("a.plan", std::slice::from_ref(&result), &left)
                .unwrap();
            let index = fs::read_to_string(first.path().join("index.txt")).unwrap();
            assert!(index.ends_with(end), "{index}");
        }
    }
}
