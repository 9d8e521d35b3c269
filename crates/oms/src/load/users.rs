//! Settings of clients: `[[user]]`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroUsize;

use fixwire_text::ReloadEffect::Confirmed;
use fixwire_text::{Diagnostic, REQUIRED, SettingKey, TomlTable, TomlValue, keys, number};

use super::contracts;
use super::registry::{Read, TableRule, or_none, time};
use super::{Reader, count_in_time, report_tags};
use crate::values::fields::contract::ContractKey;
use crate::values::fields::report_tags::ReportKey;
use crate::values::fields::tmp_fields;
use crate::values::rules::{RateRule, Rights, UserRule, is_pattern};
use crate::values::value::Effect;

pub(in crate::load) mod templates;

const SECOND: u64 = 1_000_000_000;
/// Maximum time that orders stay open after their session disconnects, in nanoseconds.
const MOST_GRACE: u64 = 60 * SECOND;
/// Maximum value of `validity`, in nanoseconds.
const MOST_VALIDITY: u64 = 86_400 * SECOND;

/// Keys whose value applies only to the accounts of its table; all other keys apply to the whole session.
const OF_TABLE: [&str; 3] = ["accounts", "may", "session"];

/// A right of a client.
type Right = fn(&mut Rights) -> &mut bool;

/// Rights of clients, by their names.
const RIGHTS: [(&str, Right); 9] = [
    ("new", |it| &mut it.new),
    ("replace", |it| &mut it.replace),
    ("cancel", |it| &mut it.cancel),
    ("mass cancel", |it| &mut it.mass_cancel),
    ("status", |it| &mut it.status),
    ("reports", |it| &mut it.reports),
    ("quote", |it| &mut it.quote),
    ("price inquiry", |it| &mut it.inquiry),
    ("securities", |it| &mut it.securities),
];

const EFFECTS: [(&str, Effect); 5] = [
    ("open", Effect::Open),
    ("close", Effect::Close),
    ("day trade", Effect::DayTrade),
    ("liquidation", Effect::Liquidation),
    ("automatic", Effect::Automatic),
];

impl TableRule for UserRule {
    const TABLE: &'static str = "user";
    const NAME: &'static str = "session";
    const KEYS: &'static [SettingKey<Self, Read<Self>>] = keys! {
        /// session of a client, or [`CLIENT*`](#users-by-template) for each session that fits; a client may have
        /// [several tables](#rights-by-account), one for each set of accounts
        session: With("session", session,
            |reader, user, value| {
                user.session = value.text()?.into();
                if !is_pattern(&user.session) {
                    reader.check_user_session(value.table.at, &user.session);
                }
                Ok(())
            }), REQUIRED, Confirmed;
        /// accounts that the user may use: names, or `A*` for a prefix
        accounts: Own("list",
            |reader, user, value| {
                let patterns = value.texts(&mut reader.errors)?.into_iter();
                rights_of(user).accounts = patterns.map(|(_, pattern)| pattern).collect();
                Ok(())
            },
            |_| String::new()), "", Confirmed;
        /// of `new`, `replace`, `cancel`, `mass cancel`, `status`, `reports`, `quote`, `price inquiry`,
        /// [`securities`](#instruments-for-clients); nothing by default
        may: Own("list",
            |reader, user, value| {
                for (at, right) in value.texts(&mut reader.errors)? {
                    match RIGHTS.iter().find(|(name, _)| *name == right) {
                        Some((_, of)) => *of(rights_of(user)) = true,
                        None => {
                            let hint =
                                format!("the rights are {}", RIGHTS.map(|it| it.0).join(", "));
                            reader.wrong(at, format!("unknown right {right}"), hint);
                        }
                    }
                }
                Ok(())
            },
            |user| {
                let rights = user.rights.iter().map(rights_text);
                rights.collect::<Vec<_>>().join("; ")
            }), "", Confirmed;
        /// default for orders without Account(1)
        account: With("account", default_account,
            |reader, user, value| {
                let account = value.text()?;
                user.default_account = Some(account.into());
                if reader.has_account(account) {
                    return Ok(());
                }
                let what = format!("unknown account {account}");
                Err(Diagnostic::new(value.table.at, what, "see [[account]]"))
            }), "", Confirmed;
        /// `100 in 1s`, or `100 in 1s, logout after 10`: maximum requests in any such interval (at most `60s`), see
        /// [flow control](#flow-control)
        rate: Own("rate",
            |_, user, value| {
                let hint = "write the number of requests and a time (at most 60s), and optionally the number of rejects after which the session \
                            is logged out: 100 in 1s, or 100 in 1s, logout after 10";
                let rate = value.parsed(rate, "is not a rate of requests", hint);
                rate.map(|it| user.rate = Some(it))
            },
            |user| {
                or_none(user.rate.map(|rate| match rate.logout_after {
                    Some(rejects) => format!("{rate} logout after {rejects}"),
                    None => rate.to_string(),
                }))
            }), "", Confirmed;
        /// time after which the OMS does not send an order or replace of the user [any more](#validity), at most
        /// `86400s`
        validity: Time(validity, 1, MOST_VALIDITY, "write how long an order may wait (at most 86400s): 500ms, 5s"), "", Confirmed;
        /// `zh`: reports to the user have a [translation](#languages) of Text(58)
        language: With("text", language,
            |reader, user, value| {
                let language = value.text()?;
                user.language = Some(language.into());
                reader.check_language(value)
            }), "", Confirmed;
        /// pool of the user's [order numbers](#order-numbers)
        number_pool: With("pool", number_pool,
            |reader, user, value| {
                let pool = reader.number_pool(value);
                pool.map(|it| user.number_pool = Some(it))
            }), "", Confirmed;
        /// `true`: the user may choose order numbers from the pool
        own_numbers: Flag(own_numbers), "", Confirmed;
        /// `100`: maximum number of held [conditional orders](#conditional-orders) of the user; none by default
        conditional: Number(conditional, 1_000_000), "", Confirmed;
        /// `100`: maximum number of sessions that Logons [create](#sessions-created-at-a-logon) for a `session` with `*`; by
        /// default only [`MaxDynamicSessions`](settings.md#maxdynamicsessions) limits them
        max_sessions: Number(max_sessions, 500_000), "", Confirmed;
        /// `100`: maximum number of open [parent orders](#parent-and-child-orders) of the user; none by default
        parents: Number(parents, 1_000_000), "", Confirmed;
        /// `cancel`, or `cancel after 5s` (at most `60s`): the OMS cancels the user's open orders at, or this long
        /// after, a logout
        on_logout: Own("words",
            |_, user, value| cancel_after(value).map(|it| user.on_logout = Some(it)),
            |user| or_none(user.on_logout.map(time))), "", Confirmed;
        /// the same for a disconnect, and for a start of the OMS when the client was logged on before (with `cancel` 10
        /// s after the start)
        on_disconnect: Own("words",
            |_, user, value| cancel_after(value).map(|it| user.on_disconnect = Some(it)),
            |user| or_none(user.on_disconnect.map(time))), "", Confirmed;
        /// `true`: reports to the user have [numbers](#report-recovery), ApplID(1180) and ApplSeqNum(1181)
        report_numbers: Flag(report_numbers), "", Confirmed;
        /// `[48, 9303]`: tags of the user's requests that the OMS sends to the venue with their values; see
        /// [fields](#fields-of-requests)
        carry: Own("list",
            |reader, user, value| reader.contract(&mut user.contract, ContractKey::Carry, value),
            |user| contracts::shown(&user.contract, ContractKey::Carry)), "", Confirmed;
        /// `{47 = "A"}`: tags that the user's requests have with this value for the venue
        set: Own("table",
            |reader, user, value| reader.contract(&mut user.contract, ContractKey::Set, value),
            |user| contracts::shown(&user.contract, ContractKey::Set)), "", Confirmed;
        /// `map.47 = {A = "P"}`: what values of the user's requests become for the venue; the OMS rejects other values
        map: Own("tables",
            |reader, user, value| reader.contract(&mut user.contract, ContractKey::Map, value),
            |user| contracts::shown(&user.contract, ContractKey::Map)), "", Confirmed;
        /// `[58, 453]`: tags that its requests may [lose](#fields-of-requests); none by default
        drop: Own("list",
            |reader, user, value| reader.contract(&mut user.contract, ContractKey::Drop, value),
            |user| contracts::shown(&user.contract, ContractKey::Drop)), "", Confirmed;
        /// `[58]`: tags that the user's requests must not have
        refuse: Own("list",
            |reader, user, value| reader.contract(&mut user.contract, ContractKey::Refuse, value),
            |user| contracts::shown(&user.contract, ContractKey::Refuse)), "", Confirmed;
        /// `[337, 375]`: tags of venues' [reports](#fields-of-reports) that the user does not get
        report_drop: Own("list",
            |reader, user, value| {
                report_tags::read(reader, &mut user.report_drop, ReportKey::Drop, value)
            },
            |user| user.report_drop.text()), "", Confirmed;
        /// for its orders [over TMP](tmp.md#lines-of-an-oms), instead of the link's [value](tmp.md#in-a-settings-file);
        /// refused without a link
        cm_id: With("number", marks.cm_id,
            |_, user, value| {
                let member = value.number(u16::MAX.into())? as u16;
                user.marks.cm_id = Some(member);
                let hint = "write the number of the clearing member";
                let is_none = member == 0;
                is_none
                    .then(|| value.wrong("cm_id is 0", hint))
                    .map_or(Ok(()), Err)
            }), "", Confirmed;
        /// for the user's orders [over TMP](tmp.md#lines-of-an-oms), instead of the link's
        /// [value](tmp.md#in-a-settings-file); needs a TMP link
        order_source: Own("letter",
            |_, user, value| {
                let read = |text: &str| tmp_fields::order_source(text.as_bytes());
                let source = mark(value, "D, A, M, W, P, V or G", read);
                source.map(|it| user.marks.order_source = Some(it))
            },
            |user| mark_text(user.marks.order_source.as_slice())), "", Confirmed;
        /// for the user's orders [over TMP](tmp.md#lines-of-an-oms), instead of the link's
        /// [value](tmp.md#in-a-settings-file); needs a TMP link
        info_source: Own("text",
            |_, user, value| {
                let read = |text: &str| tmp_fields::info_source(text.as_bytes());
                let values = "the 3 characters of the information vendor, 999 for none";
                mark(value, values, read).map(|it| user.marks.info_source = Some(it))
            },
            |user| mark_text(user.marks.info_source.as_slice().as_flattened())), "", Confirmed;
        /// for the user's orders [over TMP](tmp.md#lines-of-an-oms), instead of the link's
        /// [value](tmp.md#in-a-settings-file); needs a TMP link
        investor_flag: Own("letter",
            |_, user, value| {
                let read = |text: &str| tmp_fields::investor_flag(text.as_bytes());
                let flag = mark(value, "the character of the kind of investor", read);
                flag.map(|it| user.marks.investor_flag = Some(it))
            },
            |user| mark_text(user.marks.investor_flag.as_slice())), "", Confirmed;
        /// for the user's orders [over TMP](tmp.md#lines-of-an-oms), instead of the link's
        /// [value](tmp.md#in-a-settings-file); needs a TMP link
        position_effect: Own("words",
            |_, user, value| {
                let read = |text: &str| {
                    let mut known = EFFECTS.iter();
                    known.find(|(name, _)| *name == text).map(|it| it.1)
                };
                let values = "open, close, day trade or liquidation; automatic for options only";
                mark(value, values, read).map(|it| user.marks.position_effect = Some(it))
            },
            |user| {
                let effect = user.marks.position_effect.and_then(Effect::field);
                mark_text(effect.as_slice())
            }), "", Confirmed;
    };
}

/// The rights for the accounts of the table that is being read.
fn rights_of(user: &mut UserRule) -> &mut Rights {
    if user.rights.is_empty() {
        user.rights.push(Rights::default());
    }
    let last = user.rights.len() - 1;
    &mut user.rights[last]
}

fn rights_text(rights: &Rights) -> String {
    let mut has = rights.clone();
    let all = RIGHTS.iter().filter(|(_, of)| *of(&mut has));
    let all = all.map(|(name, _)| *name).collect::<Vec<_>>().join(" ");
    format!("{}: {all}", rights.accounts.join(" "))
}

/// The value of a TMP field as text.
fn mark_text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

/// Reads a value for orders over TMP.
fn mark<T>(
    value: TomlValue<'_>,
    values: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, Diagnostic> {
    let text = value.text()?;
    read(text).ok_or_else(|| {
        let what = format!("unknown value {} = \"{text}\"", value.key);
        value.wrong(what, format!("write {values}"))
    })
}

/// Reads `cancel`, or `cancel after 5s`: what happens to the orders of a disconnected session.
fn cancel_after(value: TomlValue<'_>) -> Result<i64, Diagnostic> {
    let values = "cancel, or cancel after 5s (at most 60s)";
    mark(value, values, |text| {
        let after = match text.strip_prefix("cancel")? {
            "" => 0,
            after => fixwire_text::duration(after.strip_prefix(" after ")?)?,
        };
        (after <= MOST_GRACE).then_some(after as i64)
    })
}

/// Reads `100 in 1s`, or `100 in 1s, logout after 10`.
fn rate(text: &str) -> Option<RateRule> {
    let (rate, after) = match text.split_once(", logout after ") {
        Some((rate, after)) => (rate, Some(number(after)?)),
        None => (text, None),
    };
    let is_right = after.is_none_or(|after| (1..=1_000_000).contains(&after));
    let (count, time) = count_in_time(rate).filter(|_| is_right)?;
    Some(RateRule {
        count: NonZeroUsize::new(count)?,
        time,
        logout_after: after.map(|after| after as _),
    })
}

/// A table that was read, kept for checks that compare tables.
struct Known<'d> {
    session: String,
    table: TomlTable<'d>,
    /// Names of the accounts, and their byte offsets in the file.
    patterns: Vec<(usize, String)>,
}

impl Reader<'_> {
    pub(super) fn users(&mut self, file: TomlTable<'_>) {
        let mut all: Vec<Known<'_>> = Vec::new();
        for table in self.tables(file, UserRule::TABLE) {
            let session = table.get("session").and_then(|it| it.text().ok());
            let session = session.unwrap_or_default();
            let users = &mut self.rules.users;
            let known = users.iter().position(|known| known.session == session);
            let mut user = known.map_or_else(UserRule::default, |at| users.remove(at));
            user.rights.push(Rights::default());
            self.read(&mut user, table);
            if session.is_empty() {
                continue;
            }
            if user.max_sessions.is_some() && !is_pattern(session) && table.has("max_sessions") {
                let what = format!("max_sessions of {session}: it is one session");
                let hint = "max_sessions is for a session with *, such as CLIENT*";
                self.wrong(table.place("max_sessions"), what, hint);
            }
            let at = known.unwrap_or(self.rules.users.len());
            self.rules.users.insert(at, user);
            let patterns = table.get("accounts").map(|it| it.texts(&mut Vec::new()));
            let one = Known {
                session: session.into(),
                table,
                patterns: patterns.and_then(Result::ok).unwrap_or_default(),
            };
            self.check_alone(&one, &all);
            all.push(one);
        }
        self.check_defaults(&all);
        self.expand_users(file);
    }

    /// Checks that no other table of the session has the same accounts, because only one table may decide about an
    /// account.
    fn check_alone(&mut self, one: &Known<'_>, all: &[Known<'_>]) {
        let session = &one.session;
        let is_its = |known: &&Known<'_>| known.session == *session;
        let others: Vec<&Known<'_>> = all.iter().filter(is_its).collect();
        let news = match others[..] {
            [] => return,
            [first] => vec![first, one],
            _ => vec![one],
        };
        for known in news {
            if known.patterns.is_empty() {
                let what = format!("[[user]] of {session} has no accounts");
                let hint = "with several tables for a session, each must name its accounts";
                self.wrong(known.table.at, what, hint);
            }
        }
        for known in others {
            for (at, pattern) in &one.patterns {
                let same = known.patterns.iter().find(|(_, other)| other == pattern);
                let Some((other, _)) = same else { continue };
                let (first, second) = (self.line(*other), self.line(*at));
                let what = format!(
                    "accounts {pattern} of {session} are in two tables, lines {first} and {second}"
                );
                let hint = "the most specific pattern decides: keep it in one table";
                self.wrong(*at, what, hint);
            }
            let keys = UserRule::KEYS.iter().map(|key| key.name);
            for key in keys.filter(|key| !OF_TABLE.contains(key)) {
                if !(known.table.has(key) && one.table.has(key)) {
                    continue;
                }
                let (other, at) = (known.table.place(key), one.table.place(key));
                let (first, second) = (self.line(other), self.line(at));
                let what =
                    format!("{key} of {session} is in two tables, lines {first} and {second}");
                self.wrong(at, what, "it applies to the whole session: write it once");
            }
        }
    }

    /// Checks that each session may use its default account.
    fn check_defaults(&mut self, all: &[Known<'_>]) {
        for known in all {
            let users = &self.rules.users;
            let user = users.iter().find(|user| user.session == known.session);
            let default = user.and_then(|user| {
                let account = user.default_account.as_ref()?;
                user.rights(account.as_bytes()).is_none().then_some(account)
            });
            if let Some(account) = default
                && known.table.has("account")
            {
                let what = format!("account {account} is not one of the accounts of this user");
                self.wrong(known.table.place("account"), what, "");
            }
        }
    }
}
