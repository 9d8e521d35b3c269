//! Settings of line groups: `[[line_group]]`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_text::ReloadEffect::{Applied, Restart};
use fixwire_text::{Diagnostic, REQUIRED, SettingKey, TomlTable, keys, tables};

use super::contracts;
use super::registry::{Read, TableRule, or_none, time};
use super::{Reader, count_in_time, report_tags, tmp_fields, venue_names};
use crate::values::fields::contract::ContractKey;
use crate::values::fields::report_tags::ReportKey;
use crate::values::rules::{Affinity, ErrorRule, FlowRule, LineGroup, StatusRule, VenueExecId};

/// Maximum time that orders wait for a line, in nanoseconds.
const MOST_QUEUE: u64 = 3_600_000_000_000;

const EXEC_IDS: [(&str, VenueExecId); 2] = [("527", VenueExecId::Second), ("17", VenueExecId::Own)];

const STATUS: [(&str, StatusRule); 3] = [
    ("from the book", StatusRule::FromBook),
    ("pass on", StatusRule::PassOn),
    ("no", StatusRule::Never),
];

impl TableRule for LineGroup {
    const TABLE: &'static str = "line_group";
    const NAME: &'static str = "name";
    const KEYS: &'static [SettingKey<Self, Read<Self>>] = keys! {
        /// name of the group in routes and drop copies
        name: Text(name), REQUIRED, Restart;
        /// sessions to one venue; the OMS sends orders round robin over those that are logged on
        lines: Own("list",
            |reader, group, value| {
                for (at, line) in value.texts(&mut reader.errors)? {
                    reader.check_new_line(at, &line, &group.lines);
                    group.lines.push(line);
                }
                Ok(())
            },
            |group| {
                let protocol = if group.over_tmp { " over TMP" } else { "" };
                format!("{}{protocol}", group.lines.join(" "))
            }), REQUIRED, Restart;
        /// `["OTHER"]`: groups that send orders for this group, in this order ([helper lines](#helper-lines))
        helpers: With("list", helpers,
            // Groups may follow: they are read once all groups are known.
            |reader, _, value| value.texts(&mut reader.errors).map(|_| ())), "", Restart;
        /// `["replace"]`: the venue cannot replace orders; `["stop"]`: the venue has no stop orders, so the OMS
        /// [holds](#conditional-orders) them
        cannot: Own("list",
            |reader, group, value| {
                for (at, what) in value.texts(&mut reader.errors)? {
                    match what.as_str() {
                        "replace" => group.cannot_replace = true,
                        "stop" => group.cannot_stop = true,
                        _ => {
                            let what = format!("unknown value in cannot: {what}");
                            reader.wrong(at, what, "write replace, or stop");
                        }
                    }
                }
                Ok(())
            },
            |group| {
                let replace = if group.cannot_replace { "replace " } else { "" };
                let stop = if group.cannot_stop { "stop" } else { "" };
                format!("{replace}{stop}")
            }), "", Restart;
        /// `500 in 1s`: maximum orders, requests and status requests of a line in any such interval (at most `60s`),
        /// without resends
        flow: Own("rate",
            |_, group, value| {
                let kept = value.table.get("kept_for_cancels");
                let kept = kept.and_then(|it| it.number(KEPT_MAX).ok()).unwrap_or(0);
                let hint = "write a count and a time of at most 60s: 500 in 1s";
                let rate = value.parsed(count_in_time, "is not a rate of messages", hint);
                rate.map(|(count, time)| group.flow = Some(FlowRule { count, time, kept }))
            },
            |group| {
                or_none(group.flow.map(|flow| {
                    let (count, span, kept) = (flow.count, time(flow.time), flow.kept);
                    format!("{count} in {span} kept for cancels {kept}")
                }))
            }), "", Applied;
        /// number of messages of `flow` that only cancels may use
        kept_for_cancels: Own("number",
            |_, group, value| {
                let kept = value.number(KEPT_MAX)?;
                match group.flow {
                    Some(flow) if kept >= flow.count => {
                        let what = format!("kept_for_cancels must be below {}", flow.count);
                        Err(value.wrong(what, ""))
                    }
                    None if kept > 0 && !value.table.has("flow") => {
                        Err(value.wrong("kept_for_cancels needs flow", "write flow too"))
                    }
                    _ => Ok(()),
                }
            },
            |_| String::new()), "", Applied;
        /// `5s`: how long orders and replaces wait for a line, at most `3600s`; without this key the OMS rejects them
        /// at once
        queue: Time(queue, 1, MOST_QUEUE, "write how long an order may wait (at most 3600s): 5s, 500ms"), "", Applied;
        /// `account` or `symbol`: orders of one account or symbol go over the same line, while this line is logged on
        /// and has room
        affinity: Own("word",
            |_, group, value| {
                group.affinity = Some(match value.text()? {
                    "account" => Affinity::Account,
                    "symbol" => Affinity::Symbol,
                    other => {
                        let hint = "write account or symbol: their orders stay on one line";
                        return Err(value.wrong(format!("unknown affinity {other}"), hint));
                    }
                });
                Ok(())
            },
            |group| or_none(group.affinity.map(|it| format!("{it:?}").to_lowercase()))), "", Applied;
        /// the pool of order numbers for users without one
        number_pool: With("pool", number_pool,
            |reader, group, value| {
                let pool = reader.number_pool(value);
                pool.map(|it| group.number_pool = Some(it))
            }), "", Applied;
        /// `true`: the OMS asks for the [state of trading](#markets) at each logon of a line, over FIX from 4.2 on
        market_status: Flag(market_status), "", Applied;
        /// the tables `[[line_group.error]]` after this group: what the OMS does after the venue's
        /// [rejects](#rejects-of-venues)
        error: Own("tables",
            |reader, group, value| {
                group.errors = reader.error_rules(value);
                Ok(())
            },
            |group| {
                let errors = group.errors.iter().map(ErrorRule::text);
                errors.collect::<Vec<_>>().join("; ")
            }), "", Applied;
        /// `[48, 9303]`: tags of requests to these lines that the OMS sends to the venue with their values; see
        /// [fields](#fields-of-requests)
        carry: Own("list",
            |reader, group, value| reader.contract(&mut group.contract, ContractKey::Carry, value),
            |group| contracts::shown(&group.contract, ContractKey::Carry)), "", Applied;
        /// `{47 = "A"}`: tags that requests to these lines have with this value for the venue
        set: Own("table",
            |reader, group, value| reader.contract(&mut group.contract, ContractKey::Set, value),
            |group| contracts::shown(&group.contract, ContractKey::Set)), "", Applied;
        /// `map.47 = {A = "P"}`: what values of requests to these lines become for the venue; the OMS rejects other values
        map: Own("tables",
            |reader, group, value| reader.contract(&mut group.contract, ContractKey::Map, value),
            |group| contracts::shown(&group.contract, ContractKey::Map)), "", Applied;
        /// `[58, 453]`: tags that requests to these lines may [lose](#fields-of-requests); none by default
        drop: Own("list",
            |reader, group, value| reader.contract(&mut group.contract, ContractKey::Drop, value),
            |group| contracts::shown(&group.contract, ContractKey::Drop)), "", Applied;
        /// `[58]`: tags that requests to these lines must not have
        refuse: Own("list",
            |reader, group, value| reader.contract(&mut group.contract, ContractKey::Refuse, value),
            |group| contracts::shown(&group.contract, ContractKey::Refuse)), "", Applied;
        /// `[9730]`: tags of [reports](#fields-of-reports) on these lines that clients and drop copies get with the venue's
        /// value
        report_carry: Own("list",
            |reader, group, value| {
                report_tags::read(reader, &mut group.report_carry, ReportKey::Carry, value)
            },
            |group| group.report_carry.text()), "", Applied;
        /// `{order_source = 9717, info_source = "904"}`: which tags of requests fill which [fields of
        /// TMP](tmp.md#fields-of-requests), and constants instead of the links' values; only for lines that speak TMP
        tmp_fields: Own("table",
            |reader, group, value| tmp_fields::read(reader, group, value),
            |group| group.tmp_fields.text(|tag| tag.to_string())), "", Applied;
        /// which [fields](#fields-of-requests) a replace passes on: `own`, those that it has; `merge`, also those of its
        /// order that it does not name
        replace: Own("word",
            |_, group, value| {
                group.merges = value.choice(&[("own", false), ("merge", true)])?;
                Ok(())
            },
            |group| if group.merges { "merge".into() } else { String::new() }), "\"own\"", Applied;
        /// on a client's OrderStatusRequest(H) for an open order: `from the book`: the OMS answers, and asks the venue
        /// only when the state is in doubt. `pass on`: the OMS answers, asks the venue, and answers again. `no`: [the
        /// OMS never asks the venue](#status-requests-to-venues)
        status_request: Own("words",
            |_, group, value| {
                group.status = value.choice(&STATUS)?;
                if group.status == StatusRule::Never && value.table.has("mass_status") {
                    let what = "mass_status asks for the status of orders, status_request = \"no\" forbids it";
                    let at = value.table.place("mass_status");
                    return Err(Diagnostic::new(at, what, "remove one of the two"));
                }
                Ok(())
            },
            |group| {
                let others = STATUS.iter().filter(|it| it.1 != StatusRule::FromBook);
                let word = others.copied().find(|it| it.1 == group.status);
                or_none(word.map(|(word, _)| word))
            }), "\"from the book\"", Applied;
        /// `true`: [OrderMassStatusRequest(AF)](#status-requests-to-venues) at each logon of a line, from FIX 4.3 on
        mass_status: Flag(mass_status), "", Applied;
        /// the ExDestination(100) that orders for these lines may have; the OMS does not send the field to the venue
        ex_destination: Text(ex_destination), "", Applied;
        /// where clients and drop copies get the venue's ExecID(17): `527`, in SecondaryExecID(527); `17`, as
        /// [ExecID(17)](#execids-of-venues)
        venue_exec_id: Own("word",
            |_, group, value| {
                group.venue_exec_id = Some(value.choice(&EXEC_IDS)?);
                Ok(())
            },
            |group| {
                let word = EXEC_IDS.iter().find(|it| Some(it.1) == group.venue_exec_id);
                or_none(word.map(|(word, _)| word))
            }), "", Applied;
        /// CSV: `symbol`, and `venue_symbol`, `security_id`, `security_id_source`, `exchange`: the names of instruments [in
        /// messages to these lines](#names-at-venues); over FIX
        symbols: Own("CSV file",
            |reader, group, value| {
                let read = venue_names::symbols(reader, value);
                read.map(|it| group.symbols = it)
            },
            |group| group.symbols.file.clone()), "", Applied;
        /// CSV: `account,venue_account`, and columns named by tags such as `440`: the names of accounts [in messages to
        /// these lines](#names-at-venues); over FIX
        accounts: Own("CSV file",
            |reader, group, value| {
                let read = venue_names::accounts(reader, value);
                read.map(|it| group.accounts = it)
            },
            |group| group.accounts.file.clone()), "", Applied;
    };
}

/// Maximum number of messages that `kept_for_cancels` can reserve.
const KEPT_MAX: usize = 1_000_000;

impl Reader<'_> {
    pub(super) fn groups(&mut self, file: TomlTable<'_>) {
        for table in self.tables(file, LineGroup::TABLE) {
            let mut group = LineGroup::default();
            self.read(&mut group, table);
            if group.name.is_empty() {
                continue;
            }
            if group.lines.is_empty() && table.has("lines") {
                let what = format!("line_group {} has no lines", group.name);
                self.wrong(table.at, what, "");
            }
            for (key, file) in [("symbols", &group.symbols), ("accounts", &group.accounts)] {
                let mut lines = group.lines.iter();
                let link = lines.find(|line| self.links.contains(line));
                if let Some(link) = link.filter(|_| !file.file.is_empty()) {
                    let what = format!("{key} is for lines over FIX, and {link} speaks TMP");
                    let hint = "over TMP the names are those of the OMS: remove the key";
                    self.wrong(table.place(key), what, hint);
                }
            }
            self.rules.groups.push(group);
        }
    }

    /// Checks that a session or link can be a line of a group. The session or link must have no other role.
    fn check_new_line(&mut self, at: usize, line: &String, before: &[String]) {
        self.check_line(at, line);
        let mut others = self.rules.groups.iter().flat_map(|group| &group.lines);
        if others.any(|other| other == line) || before.contains(line) {
            let what = format!("{line} is listed twice");
            self.wrong(at, what, "a line can be in only one group");
        }
        if self.rules.users.iter().any(|user| user.session == *line) {
            let what = format!("{line} is both the session of a user and a line");
            self.wrong(at, what, "remove one of the two: a session has one role");
        }
    }

    /// Checks that at most one venue passes its ExecIDs on as ExecID(17), because ExecIDs of two venues may be equal.
    pub(super) fn check_exec_ids(&mut self, file: TomlTable<'_>) {
        let groups = self.rules.groups.iter();
        let mut own = groups.filter(|group| group.venue_exec_id == Some(VenueExecId::Own));
        let Some(first) = own.next() else {
            return;
        };
        let is_helper = |of: &LineGroup, other: &LineGroup| of.helpers.contains(&other.name);
        let other = own.find(|it| !is_helper(first, it) && !is_helper(it, first));
        if let Some(other) = other {
            let what = format!(
                "line groups {} and {} both have venue_exec_id = \"17\": two venues may give the same ExecID(17)",
                first.name, other.name
            );
            let tables = tables(file.get("line_group"), "line_group", &mut Vec::new());
            let is_it = |table: &&TomlTable<'_>| {
                let name = table.get("name").and_then(|name| name.text().ok());
                name == Some(&*other.name)
            };
            let at = tables
                .iter()
                .find(is_it)
                .map_or(0, |it| it.place("venue_exec_id"));
            self.wrong(
                at,
                what,
                "write 527 in one of the two: SecondaryExecID(527) need not be unique",
            );
        }
    }

    /// Reads the helpers of each group, once all groups are known.
    pub(super) fn helpers(&mut self, file: TomlTable<'_>) {
        for table in tables(file.get("line_group"), "line_group", &mut Vec::new()) {
            let name = table.get("name").and_then(|name| name.text().ok());
            let named = |group: &LineGroup, name: &str| group.name == name;
            let groups = &self.rules.groups;
            let own = name.and_then(|name| groups.iter().position(|it| named(it, name)));
            let (Some(own), Some(helpers)) = (own, table.get("helpers")) else {
                continue;
            };
            // Mistakes in the list were reported when the group was read.
            let helpers = helpers.texts(&mut Vec::new()).unwrap_or_default();
            for (at, helper) in &helpers {
                let groups = &self.rules.groups;
                let group = &groups[own];
                let (what, hint) = match groups.iter().find(|it| named(it, helper)) {
                    None => (format!("unknown line_group {helper}"), "see [[line_group]]"),
                    Some(other) if other.name == group.name => (
                        format!("{helper} cannot be its own helper"),
                        "name another line_group",
                    ),
                    Some(other)
                        if (other.cannot_replace, other.cannot_stop)
                            != (group.cannot_replace, group.cannot_stop) =>
                    {
                        let what = format!(
                            "{} and its helper {helper} have different `cannot`",
                            group.name
                        );
                        (
                            what,
                            "a helper leads to the same venue: set the same `cannot` in both groups",
                        )
                    }
                    Some(other) if other.number_pool != group.number_pool => {
                        let what = format!(
                            "{} and its helper {helper} have different number pools",
                            group.name
                        );
                        (
                            what,
                            "a helper leads to the same venue: set the same number_pool in both groups",
                        )
                    }
                    Some(other) if other.report_carry != group.report_carry => {
                        let what = format!(
                            "{} and its helper {helper} have different report_carry",
                            group.name
                        );
                        (
                            what,
                            "a helper leads to the same venue: set the same report_carry in both groups",
                        )
                    }
                    Some(_) => continue,
                };
                self.wrong(*at, what, hint);
            }
            let helpers = helpers.into_iter().map(|(_, helper)| helper);
            self.rules.groups[own].helpers = helpers.collect();
        }
    }
}
