//! The subject of one part of the page: the rows of a report at one pace.

use crate::load::Pace;
use crate::report::{Report, Row, pace_cell};

/// The rows of a report at one pace, by subject.
#[derive(Debug)]
pub(super) struct AtPace<'a> {
    /// The report.
    pub(super) report: &'a Report,
    /// Prefix of the ids of the pictures: the number of the file in the page, and the pace.
    pub(super) id: String,
    /// The pace.
    pub(super) pace: Pace,
    /// Each subject with its rows. A floor has one row before the row of each engine.
    pub(super) subjects: Vec<(&'a str, Vec<&'a Row>)>,
}

impl<'a> AtPace<'a> {
    /// Each pace of the report, which is file number `file` of the page.
    pub(super) fn each(report: &'a Report, file: usize) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for row in &report.rows {
            let place = all.iter().position(|it| it.pace == row.pace);
            let place = place.unwrap_or_else(|| {
                all.push(Self {
                    report,
                    id: format!("f{file}-{}", pace_cell(row.pace)),
                    pace: row.pace,
                    subjects: Vec::new(),
                });
                all.len() - 1
            });
            let subjects = &mut all[place].subjects;
            match subjects.iter_mut().find(|it| it.0 == row.subject) {
                Some((_, rows)) => rows.push(row),
                None => subjects.push((&row.subject, vec![row])),
            }
        }
        all
    }

    /// Identifier of the curves of a subject or of a publication.
    pub(super) fn key(&self, name: &str) -> String {
        let pace = pace_cell(self.pace);
        format!("{}|{pace}|{name}", self.report.scenario)
    }
}
