//! Settings of drop copies: `[[drop_copy]]` for those that the OMS sends, `[[drop_copy_in]]` for those of venues.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_tmp::uncertain::ReportTarget;
use toml::de::DeTable;

use super::{Item, Reader, duration};
use crate::values::rules::{CopySourceRule, DropCopyRule, UserRule};

/// The longest time that a report waits for its copy, in nanoseconds.
const MOST_WITHIN: i64 = 3_600_000_000_000;

/// Users who can receive the reports of orders placed elsewhere.
const MOST_WATCHERS: usize = 128;

impl Reader<'_> {
    pub(super) fn drop_copies(&mut self, value: Option<&Item<'_>>) {
        for item in self.items(value, "drop_copy") {
            let at = item.span().start;
            let Some(table) = self.keys(item, &["accounts", "report_numbers", "session"]) else {
                continue;
            };
            let accounts = self.texts(table, "accounts");
            let accounts = accounts.unwrap_or_else(|| alloc::vec![(at, "*".into())]);
            let Some(session) = self.required(table, at, "session") else {
                continue;
            };
            self.check_session(at, &session);
            let mut lines = self.rules.groups.iter().flat_map(|group| &group.lines);
            if lines.any(|line| *line == session) {
                let what = format!("{session} is both a line and a drop copy");
                self.wrong(at, what, "remove one of the two: a session has one role");
            }
            let copies = &self.rules.drop_copies;
            if copies.len() == 8 || copies.iter().any(|copy| copy.session == session) {
                let what = format!("drop copy {session} is listed twice, or is the ninth");
                self.wrong(at, what, "configure at most 8, each for another session");
            }
            if self.rules.users.iter().any(|user| user.session == session) {
                let what = format!("{session} is both the session of a user and a drop copy");
                self.wrong(at, what, "remove one of the two: a session has one role");
            }
            let accounts = accounts.into_iter().map(|(_, pattern)| pattern).collect();
            let report_numbers = self.flag(table, "report_numbers");
            self.rules.drop_copies.push(DropCopyRule {
                session,
                accounts,
                report_numbers,
            });
        }
    }

    /// Sessions on which venues send copies of reports.
    pub(super) fn copy_sources(&mut self, value: Option<&Item<'_>>) {
        for item in self.items(value, "drop_copy_in") {
            let at = item.span().start;
            let Some(table) = self.keys(item, &["line_groups", "session", "target"]) else {
                continue;
            };
            let groups = self.texts(table, "line_groups").unwrap_or_default();
            if groups.is_empty() {
                let hint = "name the groups whose lines it has copies of: line_groups = [\"SIM\"]";
                self.wrong(at, "line_groups of drop_copy_in is missing".into(), hint);
            }
            let Some(session) = self.required(table, at, "session") else {
                continue;
            };
            self.check_line(at, &session);
            self.check_source(at, &session);
            let over_tmp = self.links.contains(&session);
            let target = self.copy_target(table, over_tmp);
            let mut lines: Vec<String> = Vec::new();
            for (at, name) in groups {
                let Some(group) = self.rules.groups.iter().find(|it| it.name == name) else {
                    self.wrong(at, format!("unknown line_group {name}"), "");
                    continue;
                };
                lines.extend(group.lines.iter().cloned());
                let mut others = self.rules.copy_sources.iter().flat_map(|it| &it.lines);
                let is_double = others.any(|line| group.lines.contains(line));
                let is_other = |line: &&String| self.links.contains(*line) != over_tmp;
                if let Some(line) = group.lines.iter().find(is_other) {
                    let what = format!("one of {session} and {line} speaks TMP, the other FIX");
                    self.wrong(at, what, "a drop copy has the protocol of its lines");
                } else if is_double {
                    let what = format!("line_group {name} has two sessions of drop_copy_in");
                    self.wrong(at, what, "leave one: a fill has one copy");
                }
            }
            self.rules.copy_sources.push(CopySourceRule {
                session,
                lines,
                target,
            });
        }
    }

    /// Each user with the right to reports gets those of orders placed elsewhere, at once.
    pub(super) fn check_watchers(&mut self, value: Option<&Item<'_>>) {
        let (false, Some(value)) = (self.rules.copy_sources.is_empty(), value) else {
            return;
        };
        let may = |user: &&UserRule| user.rights.iter().any(|rights| rights.reports);
        let count = self.rules.users.iter().filter(may).count();
        if count > MOST_WATCHERS {
            let what = format!("{count} users with the right reports beside [[drop_copy_in]]");
            let hint = format!(
                "at most {MOST_WATCHERS} can receive the reports of orders placed elsewhere"
            );
            self.wrong(value.span().start, what, &hint);
        }
    }

    /// The target_id of a subscription.
    fn copy_target(&mut self, table: &DeTable<'_>, over_tmp: bool) -> Option<u8> {
        let place = Self::place(table, "target");
        let target = self.number(table, "target", u8::MAX.into())? as u8;
        if !over_tmp {
            let what = "target is of a subscription over TMP".into();
            self.wrong(place, what, "remove it: this session speaks FIX");
        } else if ReportTarget::of(target).is_none() {
            let what = format!("target = {target} is no target_id of R15");
            let hint =
                "write 7 or 17 for a drop copy, 3, 13, 23, 8, 18, 9 or 19 for a clearing member";
            self.wrong(place, what, hint);
        }
        Some(target)
    }

    /// It has no other role.
    fn check_source(&mut self, at: usize, session: &str) {
        let rules = &self.rules;
        let role = if rules.users.iter().any(|it| it.session == session) {
            "the session of a user"
        } else if rules
            .groups
            .iter()
            .any(|it| it.lines.iter().any(|line| line == session))
        {
            "a line"
        } else if rules.drop_copies.iter().any(|it| it.session == session) {
            "a drop copy that the OMS sends"
        } else if rules.copy_sources.iter().any(|it| it.session == session) {
            "in another table drop_copy_in"
        } else {
            return;
        };
        let what = format!("{session} of drop_copy_in is also {role}");
        self.wrong(at, what, "a session has one role");
    }

    /// `5s`: how long a report waits for its copy, and a copy for its report.
    pub(super) fn copy_within(&mut self, table: &DeTable<'_>) {
        let Some(text) = self.text(table, "copy_within") else {
            return;
        };
        match duration(&text).filter(|time| (1..=MOST_WITHIN).contains(time)) {
            Some(time) => self.rules.copy_within = time,
            None => {
                let what = format!("copy_within = \"{text}\" is not a time");
                let hint = "write how long a fill waits for its copy (at most 3600s): 500ms, 5s";
                self.wrong(Self::place(table, "copy_within"), what, hint);
            }
        }
    }
}
