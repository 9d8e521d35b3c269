//! Settings of line groups: `[[line_group]]`.

use alloc::format;
use alloc::vec::Vec;

use toml::de::{DeTable, DeValue};

use super::{Item, Reader, count_in_time, duration};
use crate::values::rules::{Affinity, FlowRule, LineGroup, StatusRule};

impl Reader<'_> {
    pub(super) fn groups(&mut self, value: Option<&Item<'_>>) {
        for item in self.items(value, "line_group") {
            let at = item.span().start;
            let known = [
                "affinity",
                "cannot",
                "drop",
                "error",
                "ex_destination",
                "flow",
                "helpers",
                "kept_for_cancels",
                "lines",
                "market_status",
                "mass_status",
                "name",
                "number_pool",
                "queue",
                "status_request",
            ];
            let Some(table) = self.keys(item, &known) else {
                continue;
            };
            let lines = self.texts(table, "lines").unwrap_or_default();
            let Some(name) = self.required(table, at, "name") else {
                continue;
            };
            if lines.is_empty() {
                self.wrong(at, format!("line_group {name} has no lines"), "");
            }
            for (place, (at, line)) in lines.iter().enumerate() {
                self.check_line(*at, line);
                let mut others = self.rules.groups.iter().flat_map(|group| &group.lines);
                let is_double = others.any(|other| other == line)
                    || lines[..place].iter().any(|(_, other)| other == line);
                if is_double {
                    let what = format!("{line} is listed twice");
                    self.wrong(*at, what, "a line can be in only one group");
                }
                if self.rules.users.iter().any(|user| user.session == *line) {
                    let what = format!("{line} is both the session of a user and a line");
                    self.wrong(*at, what, "remove one of the two: a session has one role");
                }
            }
            let (cannot_replace, cannot_stop) = self.cannot(table);
            let has_another = lines.len() > 1 || table.contains_key("helpers");
            let group = LineGroup {
                name,
                lines: lines.into_iter().map(|(_, line)| line).collect(),
                // Groups may follow.
                helpers: Vec::new(),
                affinity: self.affinity(table),
                flow: self.flow(table),
                queue: self.queue(table),
                cannot_replace,
                cannot_stop,
                over_tmp: false,
                needs_effect: false,
                has_futures: false,
                market_status: self.flag(table, "market_status"),
                errors: self.errors(table, has_another),
                number_pool: self.number_pool(table),
                drop: self.drop(table),
                status: self.status_rule(table),
                mass_status: self.flag(table, "mass_status"),
                ex_destination: self.text(table, "ex_destination"),
            };
            self.rules.groups.push(group);
        }
    }

    /// Reads the helpers of each group, once all groups are known.
    pub(super) fn helpers(&mut self, value: Option<&Item<'_>>) {
        for item in self.items(value, "line_group") {
            let DeValue::Table(table) = item.get_ref() else {
                continue;
            };
            let name = table.get("name").and_then(|name| name.get_ref().as_str());
            let named = |group: &LineGroup, name: &str| group.name == name;
            let groups = &self.rules.groups;
            let own = name.and_then(|name| groups.iter().position(|it| named(it, name)));
            let (Some(own), true) = (own, table.contains_key("helpers")) else {
                continue;
            };
            let helpers = self.texts(table, "helpers").unwrap_or_default();
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
                        let what =
                            format!("cannot of {} and its helper {helper} differ", group.name);
                        (what, "a helper leads to the same venue: write the same")
                    }
                    Some(other) if other.number_pool != group.number_pool => {
                        let what = format!(
                            "number_pool of {} and its helper {helper} differ",
                            group.name
                        );
                        (what, "a helper leads to the same venue: write the same")
                    }
                    Some(_) => continue,
                };
                self.wrong(*at, what, hint);
            }
            let helpers = helpers.into_iter().map(|(_, helper)| helper);
            self.rules.groups[own].helpers = helpers.collect();
        }
    }

    pub(super) fn place(table: &DeTable<'_>, key: &str) -> usize {
        table.get(key).map_or(0, |value| value.span().start)
    }

    pub(super) fn affinity(&mut self, table: &DeTable<'_>) -> Option<Affinity> {
        match self.text(table, "affinity")?.as_str() {
            "account" => Some(Affinity::Account),
            "symbol" => Some(Affinity::Symbol),
            other => {
                let what = format!("unknown affinity {other}");
                let hint = "write account or symbol: their orders stay on one line";
                self.wrong(Self::place(table, "affinity"), what, hint);
                None
            }
        }
    }

    /// `500 in 1s`.
    pub(super) fn flow(&mut self, table: &DeTable<'_>) -> Option<FlowRule> {
        let kept = self
            .number(table, "kept_for_cancels", 1_000_000)
            .unwrap_or(0);
        let text = self.text(table, "flow");
        let parsed = text.as_deref().and_then(count_in_time);
        let parsed = parsed.map(|(count, time)| FlowRule { count, time, kept });
        match (&text, parsed) {
            (Some(text), None) => {
                let what = format!("flow = \"{text}\" is not a rate of messages");
                let hint = "write a count and a time of at most 60s: 500 in 1s";
                self.wrong(Self::place(table, "flow"), what, hint);
            }
            (_, Some(flow)) if kept >= flow.count => {
                let what = format!("kept_for_cancels must be below {}", flow.count);
                self.wrong(Self::place(table, "kept_for_cancels"), what, "");
            }
            (None, _) if kept > 0 => {
                let what = "kept_for_cancels needs flow".into();
                self.wrong(
                    Self::place(table, "kept_for_cancels"),
                    what,
                    "write flow too",
                );
            }
            _ => {}
        }
        parsed
    }

    /// Whether the venue is asked for the status of orders.
    fn status_rule(&mut self, table: &DeTable<'_>) -> StatusRule {
        let words = [
            ("from the book", StatusRule::FromBook),
            ("pass on", StatusRule::PassOn),
            ("no", StatusRule::Never),
        ];
        let rule = self.choice(table, "status_request", &words);
        if rule == StatusRule::Never && table.contains_key("mass_status") {
            let what =
                "mass_status asks for the status of orders, status_request = \"no\" forbids it";
            let hint = "remove one of the two";
            self.wrong(Self::place(table, "mass_status"), what.into(), hint);
        }
        rule
    }

    /// Maximum queueing time: `5s`.
    pub(super) fn queue(&mut self, table: &DeTable<'_>) -> Option<i64> {
        const MOST: i64 = 3_600_000_000_000;
        let text = self.text(table, "queue")?;
        let time = duration(&text).filter(|time| (1..=MOST).contains(time));
        if time.is_none() {
            let what = format!("queue = \"{text}\" is not a time");
            let hint = "write how long an order may wait (at most 3600s): 5s, 500ms";
            self.wrong(Self::place(table, "queue"), what, hint);
        }
        time
    }

    /// Whether the venue cannot replace orders, and whether it has no stop orders.
    fn cannot(&mut self, table: &DeTable<'_>) -> (bool, bool) {
        let all = self.texts(table, "cannot").unwrap_or_default();
        for (at, what) in &all {
            if !["replace", "stop"].contains(&what.as_str()) {
                let what = format!("unknown value in cannot: {what}");
                self.wrong(*at, what, "write replace, or stop");
            }
        }
        let has = |wanted: &str| all.iter().any(|(_, what)| what == wanted);
        (has("replace"), has("stop"))
    }
}
