//! `[[line_group.error]]`: what the OMS does after a venue's reject.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_text::ReloadEffect::Applied;
use fixwire_text::{Diagnostic, SettingKey, TomlTable, TomlValue, keys, tables};

use super::Reader;
use super::registry::{Read, TableRule, or_none, time};
use crate::values::rules::{ErrorRule, RejectCode, Remedy};
use crate::values::value::End;

/// Maximum length of a text for a client, in bytes: the limit of a journal note.
const LONGEST: usize = 200;
/// Maximum number of retries of an order.
const MOST: usize = 10;
/// Maximum delay before an order is sent again, in nanoseconds.
const LATEST: u64 = 60_000_000_000;

/// Codes that stand for a status of TMP: 40,000 plus the status.
const TMP_CODES: core::ops::RangeInclusive<u64> = 40_001..=40_255;

/// Keys that name a reject; an entry has one of them.
const CODES: [&str; 4] = [
    "ord_rej_reason",
    "cxl_rej_reason",
    "business_reject_reason",
    "tmp_code",
];

impl TableRule for ErrorRule {
    const TABLE: &'static str = "line_group.error";
    const NAME: &'static str = "";
    const KEYS: &'static [SettingKey<Self, Read<Self>>] = keys! {
            /// OrdRejReason(103) of an ExecutionReport(8)
        ord_rej_reason: Own("number", |_, rule, value| code(rule, value, RejectCode::Order), code_text), "", Applied;
        /// CxlRejReason(102) of an OrderCancelReject(9)
        cxl_rej_reason: Own("number", |_, rule, value| code(rule, value, RejectCode::Cancel), code_text), "", Applied;
        /// BusinessRejectReason(380) of a BusinessMessageReject(j)
        business_reject_reason: Own("number", |_, rule, value| code(rule, value, RejectCode::Business), code_text), "", Applied;
        /// 40000 and the status of an R03 of TMP
        tmp_code: Own("number", |_, rule, value| code(rule, value, RejectCode::Tmp), code_text), "", Applied;
        /// the venue's Text(58); `busy*` for a prefix
        text: Text(text), "", Applied;
        /// `reject`; `retry`: send the order again; `another line`: send it again over another line
        do_: Own("words",
            |_, rule, value| {
                rule.remedy = match value.text()? {
                    "reject" => Remedy::Reject,
                    "retry" => Remedy::Retry,
                    "another line" => Remedy::AnotherLine,
                    other => {
                        let hint = "write retry, another line, or reject";
                        return Err(value.wrong(format!("unknown do = \"{other}\""), hint));
                    }
                };
                Ok(())
            },
            |rule| format!("{:?}", rule.remedy).to_lowercase()), "\"reject\"", Applied;
        /// how often the OMS sends the order again, 1 to 10
        times: With("number", times,
            |_, rule, value| {
                let times = value.number(MOST)?;
                rule.times = times as u8;
                let what = || format!("times must be a number from 1 to {MOST}");
                (times > 0)
                    .then_some(())
                    .ok_or_else(|| value.wrong(what(), ""))
            }), "1", Applied;
        /// how long after the reject the OMS sends the order again, at most `60s`
        after: Time(after, 0, LATEST, "write how long after the reject an order is sent again (at most 60s): 200ms"), "\"0s\"", Applied;
        /// Text(58) for the client instead of the venue's
        say: With("text", say,
            |_, rule, value| {
                let say = value.text()?;
                rule.say = Some(say.into());
                let is_right = say.len() <= LONGEST && !say.chars().any(char::is_control);
                let what = || format!("say must be a text of at most {LONGEST} bytes, in one line");
                is_right
                    .then_some(())
                    .ok_or_else(|| value.wrong(what(), ""))
            }), "", Applied;
        /// final state of an order that the OMS does not send again: `rejected`, `cancelled` or `expired`
        state: Own("word",
            |_, rule, value| {
                rule.state = Some(match value.text()? {
                    "rejected" => End::Rejected,
                    "cancelled" => End::Cancelled,
                    "expired" => End::Expired,
                    other => {
                        let hint = "write rejected, cancelled or expired";
                        return Err(value.wrong(format!("unknown state = \"{other}\""), hint));
                    }
                });
                Ok(())
            },
            |rule| or_none(rule.state.map(|it| format!("{it:?}").to_lowercase()))), "", Applied;
    };
}

/// Reads the code of the reject to which an entry applies.
fn code(
    rule: &mut ErrorRule,
    value: TomlValue<'_>,
    of: fn(u64) -> RejectCode,
) -> Result<(), Diagnostic> {
    let code = value.number(1_000_000)?;
    if rule.code.is_some() {
        let what = "an error entry names only one reason";
        let hint = "write one entry for each reason";
        return Err(Diagnostic::new(value.table.at, what, hint));
    }
    rule.code = Some(of(code as u64));
    Ok(())
}

fn code_text(rule: &ErrorRule) -> String {
    or_none(rule.code.map(|code| format!("{code:?}")))
}

impl ErrorRule {
    /// The entry as text, for the list of changes of a reload.
    pub(super) fn text(&self) -> String {
        let code = or_none(self.code.map(|code| format!("{code:?} ")));
        let text = or_none(self.text.as_ref().map(|text| format!("\"{text}\" ")));
        let remedy = format!("{:?}", self.remedy).to_lowercase();
        let say = self.say.as_ref().map(|say| format!(" says \"{say}\""));
        let (times, after, say) = (self.times, time(self.after), or_none(say));
        let state = or_none(self.state.map(|it| format!(" {it:?}").to_lowercase()));
        format!("{code}{text}{remedy} {times} times after {after}{say}{state}")
    }
}

impl Reader<'_> {
    /// Reads the error entries of a line group.
    pub(super) fn error_rules(&mut self, value: TomlValue<'_>) -> Vec<ErrorRule> {
        let lines = value.table.get("lines");
        let lines = lines.and_then(|it| it.texts(&mut Vec::new()).ok());
        let has_another = lines.is_some_and(|lines| lines.len() > 1) || value.table.has("helpers");
        let entries = tables(Some(value), ErrorRule::TABLE, &mut self.errors);
        let rule = |table| {
            let mut rule = ErrorRule::default();
            self.read(&mut rule, table);
            self.check_error(&rule, table, has_another);
            rule
        };
        entries.into_iter().map(rule).collect()
    }

    fn check_error(&mut self, rule: &ErrorRule, table: TomlTable<'_>, has_another: bool) {
        if !CODES.iter().chain(&["text"]).any(|key| table.has(key)) {
            let hint = "name ord_rej_reason, cxl_rej_reason, business_reject_reason or tmp_code, or a text such as \"busy*\"";
            self.wrong(table.at, "an error entry that matches nothing", hint);
        }
        let is_reject = rule.remedy == Remedy::Reject;
        if rule.remedy == Remedy::AnotherLine && !has_another {
            let what = "the line_group has only one line";
            self.wrong(table.place("do"), what, "write retry");
        }
        for key in ["times", "after"] {
            if is_reject && table.has(key) {
                let what = format!("{key} is only used with retry and another line");
                self.wrong(table.place(key), what, "");
            }
        }
        if is_reject && !table.has("say") && rule.state.is_none() {
            let hint =
                "write the text for the client: say = \"...\", or do = \"retry\", or a state";
            let what = "an error entry without say, do or state has no effect";
            self.wrong(table.at, what, hint);
        }
        match rule.code {
            Some(RejectCode::DUPLICATE) if !is_reject => {
                let what = "an order that the venue already has is not sent again";
                let hint = "OrdRejReason(103) = 6 is Duplicate Order, which the OMS never retries: write do = \"reject\"";
                self.wrong(table.place("do"), what, hint);
            }
            Some(RejectCode::Cancel(_)) if !is_reject => {
                let what = "cancels and replaces are not sent again";
                self.wrong(table.place("do"), what, "write do = \"reject\"");
            }
            Some(RejectCode::Cancel(_)) if rule.state.is_some() => {
                let what = "a rejected cancel or replace leaves its order as it was";
                let hint = "state is only used for rejected new orders: remove it";
                self.wrong(table.place("state"), what, hint);
            }
            Some(RejectCode::Tmp(code)) if !TMP_CODES.contains(&code) => {
                let what = format!("tmp_code = {code} is not a status of TMP");
                let hint = "write 40000 and the status: 40029 is status 29";
                self.wrong(table.place("tmp_code"), what, hint);
            }
            _ => {}
        }
    }
}
