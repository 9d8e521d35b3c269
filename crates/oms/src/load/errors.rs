//! Handling of rejects from a venue: `[[line_group.error]]`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use toml::de::DeTable;

use super::{Item, Reader, duration};
use crate::values::rules::{ErrorRule, RejectCode, Remedy};
use crate::values::value::End;

/// The longest text for a client: the limit of a note.
const LONGEST: usize = 200;
/// Maximum number of retries of an order.
const MOST: u8 = 10;

/// Codes of TMP: 40,000 and a status.
const TMP_CODES: core::ops::RangeInclusive<u64> = 40_001..=40_255;

/// A key and its reject code.
type Code = (&'static str, fn(u64) -> RejectCode);

const CODES: [Code; 4] = [
    ("ord_rej_reason", RejectCode::Order),
    ("cxl_rej_reason", RejectCode::Cancel),
    ("business_reject_reason", RejectCode::Business),
    ("tmp_code", RejectCode::Tmp),
];

impl Reader<'_> {
    pub(super) fn errors(&mut self, group: &DeTable<'_>, has_another: bool) -> Vec<ErrorRule> {
        let items = self.items(group.get("error"), "line_group.error");
        let mut rules = Vec::new();
        for item in items {
            rules.extend(self.error(item, has_another));
        }
        rules
    }

    fn error(&mut self, item: &Item<'_>, has_another: bool) -> Option<ErrorRule> {
        let at = item.span().start;
        let known = [
            "after",
            "business_reject_reason",
            "cxl_rej_reason",
            "do",
            "ord_rej_reason",
            "say",
            "state",
            "text",
            "times",
            "tmp_code",
        ];
        let table = self.keys(item, &known)?;
        let code = self.code(table, at);
        let text = self.text(table, "text");
        let mut named = CODES.iter().map(|(key, _)| *key).chain(["text"]);
        if named.all(|key| table.get(key).is_none()) {
            let hint = "name ord_rej_reason, cxl_rej_reason, business_reject_reason or tmp_code, or a text such as \"busy*\"";
            self.wrong(at, "an error entry that matches nothing".into(), hint);
        }
        let remedy = self.remedy(table, has_another);
        let say = self.say(table);
        let (times, after) = self.how_often(table, remedy);
        let state = self.state(table);
        if remedy == Remedy::Reject && say.is_none() && state.is_none() {
            let hint =
                "write the text for the client: say = \"...\", or do = \"retry\", or a state";
            self.wrong(
                at,
                "an error entry without say, do or state has no effect".into(),
                hint,
            );
        }
        match code {
            Some(RejectCode::DUPLICATE) if remedy != Remedy::Reject => {
                let what = "an order that the venue already has is not sent again".into();
                let hint = "OrdRejReason(103) = 6 is Duplicate Order: write do = \"reject\"";
                self.wrong(Self::place(table, "do"), what, hint);
            }
            Some(RejectCode::Cancel(_)) if remedy != Remedy::Reject => {
                let what = "cancels and replaces are not sent again".into();
                self.wrong(Self::place(table, "do"), what, "write do = \"reject\"");
            }
            Some(RejectCode::Cancel(_)) if state.is_some() => {
                let what = "a rejected cancel or replace leaves its order as it was".into();
                let hint = "state is of rejected new orders: remove it";
                self.wrong(Self::place(table, "state"), what, hint);
            }
            Some(RejectCode::Tmp(code)) if !TMP_CODES.contains(&code) => {
                let what = format!("tmp_code = {code} is no status of TMP");
                let hint = "write 40000 and the status: 40029 is status 29";
                self.wrong(Self::place(table, "tmp_code"), what, hint);
            }
            _ => {}
        }
        Some(ErrorRule {
            code,
            text,
            remedy,
            times,
            after,
            say,
            state,
        })
    }

    /// The state of a rejected order.
    fn state(&mut self, table: &DeTable<'_>) -> Option<End> {
        let text = self.text(table, "state")?;
        match text.as_str() {
            "rejected" => Some(End::Rejected),
            "cancelled" => Some(End::Cancelled),
            "expired" => Some(End::Expired),
            other => {
                let hint = "write rejected, cancelled or expired";
                let what = format!("unknown state = \"{other}\"");
                self.wrong(Self::place(table, "state"), what, hint);
                None
            }
        }
    }

    fn code(&mut self, table: &DeTable<'_>, at: usize) -> Option<RejectCode> {
        let mut found = None;
        for (key, code) in CODES {
            let Some(number) = self.number(table, key, 1_000_000) else {
                continue;
            };
            if found.is_some() {
                let what = "an error entry names only one reason".into();
                self.wrong(at, what, "write one entry for each reason");
            }
            found = Some(code(number as u64));
        }
        found
    }

    fn remedy(&mut self, table: &DeTable<'_>, has_another: bool) -> Remedy {
        let text = self.text(table, "do");
        let at = Self::place(table, "do");
        match text.as_deref() {
            None | Some("reject") => Remedy::Reject,
            Some("retry") => Remedy::Retry,
            Some("another line") => {
                if !has_another {
                    self.wrong(at, "the line_group has only one line".into(), "write retry");
                }
                Remedy::AnotherLine
            }
            Some(other) => {
                let hint = "write retry, another line, or reject";
                self.wrong(at, format!("unknown do = \"{other}\""), hint);
                Remedy::Reject
            }
        }
    }

    /// Number of retries, and the time between them in nanoseconds.
    fn how_often(&mut self, table: &DeTable<'_>, remedy: Remedy) -> (u8, i64) {
        const LATEST: i64 = 60_000_000_000;
        for key in ["times", "after"] {
            if remedy == Remedy::Reject && table.get(key).is_some() {
                let what = format!("{key} is only used with retry and another line");
                self.wrong(Self::place(table, key), what, "");
            }
        }
        let times = self.number(table, "times", usize::from(MOST)).unwrap_or(1);
        if times == 0 {
            let what = format!("times must be a number from 1 to {MOST}");
            self.wrong(Self::place(table, "times"), what, "");
        }
        let text = self.text(table, "after");
        let after = text.as_deref().map_or(Some(0), duration);
        let after = after.filter(|after| *after <= LATEST);
        if let (Some(text), None) = (&text, after) {
            let what = format!("after = \"{text}\" is not a time");
            let hint =
                "write how long after the reject an order is sent again (at most 60s): 200ms";
            self.wrong(Self::place(table, "after"), what, hint);
        }
        (times as u8, after.unwrap_or(0))
    }

    fn say(&mut self, table: &DeTable<'_>) -> Option<String> {
        let say = self.text(table, "say")?;
        if say.len() > LONGEST || say.chars().any(char::is_control) {
            let what = format!("say must be a text of at most {LONGEST} bytes, in one line");
            self.wrong(Self::place(table, "say"), what, "");
        }
        Some(say)
    }
}
