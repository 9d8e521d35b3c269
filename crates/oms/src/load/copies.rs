//! Settings of drop copies: `[[drop_copy]]` for drop copies that the OMS sends, `[[drop_copy_in]]` for drop copies of
//! venues.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_text::ReloadEffect::{Confirmed, Restart};
use fixwire_text::{REQUIRED, SettingKey, TomlTable, keys};
use fixwire_tmp::uncertain::ReportTarget;

use super::registry::{Read, TableRule};
use super::{Reader, report_tags};
use crate::values::fields::report_tags::ReportKey;
use crate::values::rules::{CopySourceRule, DropCopyRule, LineGroup, UserRule, is_pattern};

/// Maximum number of users who get the reports of orders placed elsewhere.
const MOST_WATCHERS: usize = 128;

impl TableRule for DropCopyRule {
    const TABLE: &'static str = "drop_copy";
    const NAME: &'static str = "session";
    const KEYS: &'static [SettingKey<Self, Read<Self>>] = keys! {
        /// a session (at most 8) that gets every ExecutionReport of accepted orders of these accounts, with
        /// CopyMsgIndicator(797) from FIX 4.4 on; the session may request the reports again
        session: Text(session), REQUIRED, Confirmed;
        /// the accounts: names, or `A*` for a prefix
        accounts: List(accounts), "[\"*\"]", Confirmed;
        /// `true`: reports to the session have [numbers](#report-recovery), ApplID(1180) and ApplSeqNum(1181)
        report_numbers: Flag(report_numbers), "", Confirmed;
        /// `[337, 375]`: tags of venues' [reports](#fields-of-reports) that the session does not get
        report_drop: Own("list",
            |reader, copy, value| {
                report_tags::read(reader, &mut copy.report_drop, ReportKey::Drop, value)
            },
            |copy| copy.report_drop.text()), "", Confirmed;
    };
}

impl TableRule for CopySourceRule {
    const TABLE: &'static str = "drop_copy_in";
    const NAME: &'static str = "session";
    const KEYS: &'static [SettingKey<Self, Read<Self>>] = keys! {
        /// a session or TMP link with the [venue's drop copy](#drop-copies-of-venues) for these groups
        session: With("session or link", session,
            |reader, copy, value| {
                copy.session = value.text()?.into();
                reader.check_line(value.table.at, &copy.session);
                reader.check_source(value.table.at, &copy.session);
                Ok(())
            }), REQUIRED, Restart;
        /// required: the line groups whose reports are copied to this session
        line_groups: With("list", lines,
            |reader, copy, value| {
                for (at, name) in value.texts(&mut reader.errors)? {
                    let lines = reader.copied_lines(&name, copy);
                    match lines {
                        Ok(lines) => copy.lines.extend(lines),
                        Err((what, hint)) => reader.wrong(at, what, hint),
                    }
                }
                Ok(())
            }), "", Restart;
        /// over TMP: the `target_id` to which the OMS subscribes
        target: With("number", target,
            |reader, copy, value| {
                let target = value.number(u8::MAX.into())? as u8;
                copy.target = Some(target);
                if !reader.links.contains(&copy.session) {
                    let what = "target is only used for a subscription over TMP";
                    return Err(value.wrong(what, "remove the key: this session speaks FIX"));
                }
                let hint = "write 7 or 17 for a drop copy, 3, 13, 23, 8, 18, 9 or 19 for a clearing member";
                let known = ReportTarget::of(target).map(|_| ());
                let what = || format!("target = {target} is not a target_id of R15");
                known.ok_or_else(|| value.wrong(what(), hint))
            }), "", Restart;
    };
}

impl Reader<'_> {
    pub(super) fn drop_copies(&mut self, file: TomlTable<'_>) {
        for table in self.tables(file, DropCopyRule::TABLE) {
            let mut copy = DropCopyRule::default();
            self.read(&mut copy, table);
            let (at, session) = (table.at, &copy.session);
            if session.is_empty() {
                continue;
            }
            self.check_session(at, session);
            let mut lines = self.rules.groups.iter().flat_map(|group| &group.lines);
            if lines.any(|line| line == session) {
                let what = format!("{session} is both a line and a drop copy");
                self.wrong(at, what, "remove one of the two: a session has one role");
            }
            let copies = &self.rules.drop_copies;
            if copies.len() == 8 || copies.iter().any(|copy| copy.session == *session) {
                let what = format!(
                    "drop copy {session} is listed twice, or there are more than 8 drop copies"
                );
                self.wrong(at, what, "configure at most 8, each for another session");
            }
            if self.rules.users.iter().any(|user| user.session == *session) {
                let what = format!("{session} is both the session of a user and a drop copy");
                self.wrong(at, what, "remove one of the two: a session has one role");
            }
            self.rules.drop_copies.push(copy);
        }
    }

    /// Reads the sessions on which venues send copies of reports.
    pub(super) fn copy_sources(&mut self, file: TomlTable<'_>) {
        for table in self.tables(file, CopySourceRule::TABLE) {
            let mut copy = CopySourceRule::default();
            self.read(&mut copy, table);
            let groups = table.get("line_groups");
            let groups = groups.and_then(|it| it.texts(&mut Vec::new()).ok());
            if groups.is_none_or(|groups| groups.is_empty()) {
                let hint = "name the line groups whose reports are copied: line_groups = [\"SIM\"]";
                let what = "line_groups of drop_copy_in is missing";
                self.wrong(table.at, what, hint);
            }
            if !copy.session.is_empty() {
                self.rules.copy_sources.push(copy);
            }
        }
    }

    /// The lines of a line group whose copies arrive on a session.
    fn copied_lines(
        &self,
        name: &str,
        CopySourceRule {
            session,
            lines: before,
            ..
        }: &CopySourceRule,
    ) -> Result<Vec<String>, (String, &'static str)> {
        let mut groups = self.rules.groups.iter();
        let Some(group) = groups.find(|it| it.name == name) else {
            return Err((format!("unknown line_group {name}"), ""));
        };
        let over_tmp = self.links.contains(session);
        let is_other = |line: &&String| self.links.contains(*line) != over_tmp;
        if let Some(line) = group.lines.iter().find(is_other) {
            let what = format!("{session} and {line} have different protocols, FIX and TMP");
            return Err((what, "a drop copy must have the same protocol as its lines"));
        }
        let mut others = self.rules.copy_sources.iter().flat_map(|it| &it.lines);
        if others.any(|line| group.lines.contains(line)) {
            let what = format!("line_group {name} has two sessions of drop_copy_in");
            return Err((what, "remove one of them: a fill has only one copy"));
        }
        // The names in copies are those in the reports that are copied.
        let same_names = |first: &LineGroup| {
            (&first.symbols.rows, &first.accounts.rows)
                == (&group.symbols.rows, &group.accounts.rows)
        };
        let mut groups = self.rules.groups.iter();
        let first = before.first();
        let first = first.and_then(|line| groups.find(|it| it.lines.contains(line)));
        if let Some(first) = first.filter(|first| !same_names(first)) {
            let what = format!(
                "line groups {} and {name} have different symbols or accounts, and one drop copy, {session}",
                first.name
            );
            return Err((
                what,
                "give each its own drop_copy_in, or both the same files",
            ));
        }
        Ok(group.lines.clone())
    }

    /// Checks the number of users who have the right to reports: each gets the reports of orders placed elsewhere at
    /// once.
    pub(super) fn check_watchers(&mut self, file: TomlTable<'_>) {
        let (false, Some(value)) = (self.rules.copy_sources.is_empty(), file.get("drop_copy_in"))
        else {
            return;
        };
        let may = |user: &&UserRule| user.rights.iter().any(|rights| rights.reports);
        let watchers = self.rules.users.iter().filter(may);
        let open = |user: &&UserRule| is_pattern(&user.session) && user.max_sessions.is_none();
        if let Some(user) = watchers.clone().find(open) {
            let what = format!(
                "user {} has the right reports without max_sessions, and there is a [[drop_copy_in]]",
                user.session
            );
            let hint = format!(
                "write max_sessions: at most {MOST_WATCHERS} users can receive the reports of orders placed elsewhere"
            );
            return self.wrong(value.at, what, hint);
        }
        // The sessions that Logons create for a pattern, or one session.
        let sessions = watchers.map(|user| user.max_sessions.filter(|_| is_pattern(&user.session)));
        let count: usize = sessions.map(|most| most.unwrap_or(1)).sum();
        if count > MOST_WATCHERS {
            let what = format!("{count} users with the right reports, and a [[drop_copy_in]]");
            let hint = format!(
                "at most {MOST_WATCHERS} can receive the reports of orders placed elsewhere"
            );
            self.wrong(value.at, what, hint);
        }
    }

    /// Checks that the session has no other role.
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
}
