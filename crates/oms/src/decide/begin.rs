//! Startup: applies the settings to the recovered state, and completes the work that a crash interrupted.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_ledger::Wire as _;

use crate::decide::core::{Core, Sink};
use crate::decide::settings::{ChangedName, KeptNames, changed_names, name_on};
use crate::state::event::{
    CopyEvent, DayEvent, LimitEvent, LineEvent, OrderEvent, PoolEvent, RequestEvent, SetupEvent,
    SpreadEvent,
};
use crate::state::orders::Order;
use crate::state::orders::exec_ids::ExecIds;
use crate::state::orders::venue_names::NameOf;
use crate::state::roll::RollCause;
use crate::state::spreads::SpreadLeg;
use crate::values::ids::InstrumentNo;
use crate::values::limits::RiskControl;
use crate::values::rules::{InstrumentRule, LegRule, LineGroup, RiskRules, ScopeName, VenueExecId};
use crate::values::scope::Scope;
use crate::values::value::Number;

/// Passes on at most `left` events; [`Core::begin`] continues in the next step.
struct Steps<'a, S> {
    sink: &'a mut S,
    left: usize,
    /// The names that open orders keep; `None` for the names of the open orders in the state.
    kept: Option<&'a KeptNames>,
}

/// The order number after which a journal begins that replaces a removed journal: 1,000 numbers for each second since
/// November 14, 2023. The removed journal has no higher number, if the OMS used fewer than 1,000 numbers a second on
/// average.
fn first_number(at: i64) -> Number {
    const SINCE: i64 = 1_700_000_000;
    let seconds = at / 1_000_000_000 - SINCE;
    u64::try_from(seconds).unwrap_or(0) * 1_000
}

impl Core {
    /// Gives numbers to new names, sets changed limits, and starts a trading day, in steps of about `most` events;
    /// returns true when all is done. `sessions` are the names of the sessions in use; `key` is the hash key for the
    /// ids of a new day.
    pub fn begin(
        &mut self,
        at: i64,
        day: u32,
        key: u128,
        sessions: &[String],
        most: usize,
        sink: &mut impl Sink,
    ) -> bool {
        let is_done = self.in_steps(most, sink, |core, rules, steps| {
            core.begin_step(at, rules, sessions, steps)
        });
        if !is_done {
            return false;
        }
        self.index();
        self.dated_back = self.state.events;
        // A process that was killed has not recorded that its lines disconnected.
        for line in self.state.sessions().numbers() {
            if self.state.is_ready(line) {
                self.emit(at, &OrderEvent::Line(LineEvent::LineDown { line }), sink);
            }
        }
        if self.state.day.is_none() {
            if self.replaces_journal && self.state.last == 0 {
                let number = first_number(at);
                self.emit(
                    at,
                    &OrderEvent::Day(DayEvent::NumbersAfter { number }),
                    sink,
                );
            }
            self.emit(at, &OrderEvent::Day(DayEvent::Day { date: day, key }), sink);
        } else {
            let day = self.state.next_day.map_or(day, |next| next.max(day));
            if day > self.state.day() {
                self.roll_to(at, day, RollCause::Start, sink);
            }
        }
        self.work.resume(&self.state);
        true
    }

    /// Does the first step that is still to be done; `None` when more steps are needed.
    fn begin_step<S: Sink>(
        &mut self,
        at: i64,
        rules: &RiskRules,
        sessions: &[String],
        steps: &mut Steps<'_, S>,
    ) -> Option<()> {
        let is_first = self.state.day.is_none();
        let (build, settings) = (rules.build.as_bytes(), rules.hash);
        if (self.state.build.bytes(), self.state.settings) != (build, settings) {
            self.begin_event(
                at,
                &OrderEvent::Setup(SetupEvent::Build { build, settings }),
                steps,
            )?;
        }
        self.begin_sessions(at, sessions, steps)?;
        self.follow_step(at, rules, steps)?;
        self.begin_copies(at, rules, steps)?;
        for rule in rules.positions.iter().filter(|_| is_first) {
            let account = self.state.accounts().find(rule.account.as_bytes());
            let instrument = self.state.instruments().find(rule.symbol.as_bytes());
            let (Some(account), Some(instrument)) = (account, instrument) else {
                continue;
            };
            let known = self.state.position(account, instrument);
            if (known.long, known.short) != (rule.long, rule.short) {
                let event = OrderEvent::Setup(SetupEvent::Position {
                    account,
                    instrument,
                    long: rule.long,
                    short: rule.short,
                    who: rules.positions_file.as_bytes(),
                });
                self.begin_event(at, &event, steps)?;
            }
        }
        Some(())
    }

    /// Gives numbers to sessions with new names.
    fn begin_sessions<S: Sink>(
        &mut self,
        at: i64,
        sessions: &[String],
        steps: &mut Steps<'_, S>,
    ) -> Option<()> {
        for name in sessions {
            if self.state.sessions().find(name.as_bytes()).is_none() {
                let index = self.state.sessions().next();
                let name = name.as_bytes();
                let event = OrderEvent::Setup(SetupEvent::Session { index, name });
                self.begin_event(at, &event, steps)?;
            }
        }
        Some(())
    }

    /// Applies the settings of sessions that were created at a Logon, as [`Self::begin`] does for those of a start, in
    /// steps of about `most` events; returns true when all is done.
    pub(crate) fn begin_sessions_of_logons(
        &mut self,
        at: i64,
        sessions: &[String],
        most: usize,
        sink: &mut impl Sink,
    ) -> bool {
        let is_done = self.in_steps(most, sink, |core, rules, steps| {
            core.begin_sessions(at, sessions, steps)?;
            core.begin_marks(at, rules, steps)?;
            core.begin_limits(at, rules, steps)
        });
        if is_done {
            self.index_users();
        }
        is_done
    }

    /// Emits about `most` of the events for the settings; returns whether `emit` has emitted all of them.
    fn in_steps<S: Sink>(
        &mut self,
        most: usize,
        sink: &mut S,
        emit: impl FnOnce(&mut Self, &RiskRules, &mut Steps<'_, S>) -> Option<()>,
    ) -> bool {
        let rules = core::mem::take(&mut self.rules);
        let mut steps = Steps {
            sink,
            left: most,
            kept: None,
        };
        let done = emit(self, &rules, &mut steps);
        self.rules = rules;
        done.is_some()
    }

    /// Applies the settings that may change at a start and in a reload.
    fn follow_step<S: Sink>(
        &mut self,
        at: i64,
        rules: &RiskRules,
        steps: &mut Steps<'_, S>,
    ) -> Option<()> {
        self.begin_accounts(at, rules, steps)?;
        self.begin_instruments(at, rules, steps)?;
        self.begin_spreads(at, rules, steps)?;
        self.begin_pools(at, rules, steps)?;
        self.begin_marks(at, rules, steps)?;
        self.begin_exec_ids(at, rules, steps)?;
        self.begin_venue_names(at, rules, steps)?;
        self.begin_limits(at, rules, steps)
    }

    /// Gives the OMS's own ExecIDs a prefix, once the settings pass on ExecIDs(17) of a venue for the first time. So an
    /// ExecID of the OMS never equals one of a venue.
    fn begin_exec_ids<S: Sink>(
        &mut self,
        at: i64,
        rules: &RiskRules,
        steps: &mut Steps<'_, S>,
    ) -> Option<()> {
        let own = |group: &LineGroup| group.venue_exec_id == Some(VenueExecId::Own);
        if !self.state.exec_ids.is_on() && rules.groups.iter().any(own) {
            let prefix = ExecIds::OWN;
            let event = OrderEvent::Setup(SetupEvent::ExecIds { prefix });
            self.begin_event(at, &event, steps)?;
        }
        Some(())
    }

    /// Applies the names of instruments and accounts at venues. While an open order at a venue has a name, the name
    /// stays the same on all lines of the group.
    fn begin_venue_names<S: Sink>(
        &mut self,
        at: i64,
        rules: &RiskRules,
        steps: &mut Steps<'_, S>,
    ) -> Option<()> {
        let changed = changed_names(&self.state, rules);
        if changed.is_empty() {
            return Some(());
        }
        let own;
        let kept = match steps.kept {
            Some(kept) => kept,
            None => {
                own = KeptNames::of(&self.state, rules);
                &own
            }
        };
        for ChangedName { line, of, fields } in changed {
            let stays = kept.line_of(line, of);
            let stays = stays.map(|kept| Vec::from(name_on(&self.state, kept, of)));
            let fields = stays.as_deref().unwrap_or(fields);
            if fields == name_on(&self.state, line, of) {
                continue;
            }
            let event = match of {
                NameOf::Instrument(instrument) => SetupEvent::VenueSymbol {
                    line,
                    instrument,
                    fields,
                },
                NameOf::Account(account) => SetupEvent::VenueAccount {
                    line,
                    account,
                    fields,
                },
            };
            self.begin_event(at, &OrderEvent::Setup(event), steps)?;
        }
        Some(())
    }

    /// Applies the values for requests over TMP, by user and by line.
    fn begin_marks<S: Sink>(
        &mut self,
        at: i64,
        rules: &RiskRules,
        steps: &mut Steps<'_, S>,
    ) -> Option<()> {
        for session in self.state.sessions().numbers() {
            let name = self.state.sessions().name(session);
            let mut lines = rules.line_marks.iter();
            let line = lines.find(|(of, _)| of.as_bytes() == name);
            let user = || rules.users.iter().find(|it| it.session.as_bytes() == name);
            let of_user = || user().map(|user| user.marks.of_requests());
            let marks = line.map(|(_, marks)| *marks).or_else(of_user);
            let marks = marks.unwrap_or_default();
            if self.state.sessions[session].marks == marks {
                continue;
            }
            let mut bytes = Vec::new();
            marks.put(&mut bytes);
            let event = OrderEvent::Request(RequestEvent::Marks {
                session,
                marks: &bytes,
            });
            self.begin_event(at, &event, steps)?;
        }
        Some(())
    }

    /// All events by which a reload applies these settings to the state; `kept` are the names that open orders keep.
    pub(crate) fn follow_rules(
        &mut self,
        at: i64,
        rules: &RiskRules,
        kept: &KeptNames,
        sink: &mut impl Sink,
    ) {
        let mut steps = Steps {
            sink,
            left: usize::MAX,
            kept: Some(kept),
        };
        let done = self.follow_step(at, rules, &mut steps);
        debug_assert!(done.is_some(), "there are steps enough");
    }

    fn begin_event<S: Sink>(
        &mut self,
        at: i64,
        event: &OrderEvent<'_>,
        steps: &mut Steps<'_, S>,
    ) -> Option<()> {
        steps.left = steps.left.checked_sub(1)?;
        self.emit(at, event, steps.sink);
        Some(())
    }

    fn begin_accounts<S: Sink>(
        &mut self,
        at: i64,
        rules: &RiskRules,
        steps: &mut Steps<'_, S>,
    ) -> Option<()> {
        for account in &rules.accounts {
            let name = account.name.as_bytes();
            let parent = account.parent.as_ref();
            let parent = parent.and_then(|it| self.state.accounts().find(it.as_bytes()));
            let known = self.state.accounts().find(name);
            if known.is_some_and(|index| self.state.parent(index) == parent) {
                continue;
            }
            let index = known.unwrap_or(self.state.accounts().next());
            let event = OrderEvent::Setup(SetupEvent::Account {
                index,
                parent,
                name,
            });
            self.begin_event(at, &event, steps)?;
        }
        Some(())
    }

    fn begin_instruments<S: Sink>(
        &mut self,
        at: i64,
        rules: &RiskRules,
        steps: &mut Steps<'_, S>,
    ) -> Option<()> {
        let quantity_scales = self.quantity_scales(rules);
        for (rule, wanted) in rules.instruments.iter().zip(quantity_scales) {
            let symbol = rule.symbol.as_bytes();
            let known = self.state.instruments().find(symbol);
            // Without a rate, an instrument keeps its value in the state, and new orders are rejected.
            let rateless = rule.currency.is_some_and(|it| it.rate.is_none());
            let worth = match known.filter(|_| rateless) {
                Some(index) => self.state.instruments[index].worth,
                None => rule.worth,
            };
            let is_same = known.is_some_and(|index| {
                let known = &self.state.instruments[index];
                known.scale >= rule.scale && known.quantity_scale == wanted && known.worth == worth
            });
            if !is_same {
                let was = known.map(|index| self.state.instruments[index].worth);
                self.work.is_revalued |= was.is_some_and(|was| was != worth);
                let scale = known.map_or(0, |index| self.state.scale(index));
                let event = OrderEvent::Setup(SetupEvent::Instrument {
                    index: known.unwrap_or(self.state.instruments().next()),
                    // Existing prices keep their decimals.
                    scale: rule.scale.max(scale),
                    quantity_scale: wanted,
                    worth,
                    symbol,
                });
                self.begin_event(at, &event, steps)?;
            }
        }
        Some(())
    }

    /// Number of decimals of the quantities of each instrument of the settings. An instrument never gets fewer decimals
    /// than it has. A spread and its legs get the same number of decimals.
    pub(crate) fn coupled_scales(&self, rules: &RiskRules) -> Vec<u8> {
        let index_of = |symbol: &String| self.state.instruments().find(symbol.as_bytes());
        let scale = |rule: &InstrumentRule| {
            let known = index_of(&rule.symbol);
            let known = known.map_or(0, |index| self.state.scales(index).quantity);
            known.max(rule.quantity_scale)
        };
        let mut scales: Vec<u8> = rules.instruments.iter().map(scale).collect();
        let places = rules.instruments.iter().zip(0..);
        let places = places.map(|(rule, place)| (rule.symbol.as_str(), place));
        let is_plain = scales.iter().all(|scale| *scale == 0);
        let places: BTreeMap<&str, usize> = places.filter(|_| !is_plain).collect();
        let mut is_done = is_plain;
        while !is_done {
            is_done = true;
            for (place, rule) in rules.instruments.iter().enumerate() {
                let legs = rule.legs.iter().flatten();
                let legs = legs.filter_map(|leg| places.get(leg.symbol.as_str()).copied());
                let all: Vec<usize> = legs.chain([place]).collect();
                let most = all.iter().map(|place| scales[*place]).max().unwrap_or(0);
                for place in all {
                    is_done &= scales[place] == most;
                    scales[place] = most;
                }
            }
        }
        scales
    }

    /// The decimals of [`Self::coupled_scales`]. An instrument keeps its present decimals if its quantities would be
    /// out of range, or if it has an open order over TMP; then its spreads and legs keep theirs too. A reload that
    /// would change these decimals is refused, and its message names the instrument.
    pub(crate) fn quantity_scales(&self, rules: &RiskRules) -> Vec<u8> {
        let mut scales = self.coupled_scales(rules);
        let index_of = |symbol: &str| self.state.instruments().find(symbol.as_bytes());
        let known = |symbol: &str| index_of(symbol).map(|index| self.state.scales(index).quantity);
        let stays = |rule: &InstrumentRule, scale: u8| {
            index_of(&rule.symbol).is_some_and(|index| {
                let is_other = self.state.scales(index).quantity != scale;
                !self.state.has_room(index, scale)
                    || is_other && self.has_orders_over_tmp(rules, index)
            })
        };
        let all = rules.instruments.iter().zip(&scales);
        let staying = all.filter(|(rule, scale)| stays(rule, **scale));
        let mut staying: BTreeSet<&str> = staying.map(|(rule, _)| rule.symbol.as_str()).collect();
        if staying.is_empty() {
            return scales;
        }
        loop {
            let count = staying.len();
            for rule in &rules.instruments {
                let legs = rule.legs.iter().flatten().map(|leg| leg.symbol.as_str());
                let family = legs.chain([rule.symbol.as_str()]);
                if rule.legs.is_some() && family.clone().any(|symbol| staying.contains(symbol)) {
                    staying.extend(family);
                }
            }
            if staying.len() == count {
                break;
            }
        }
        let most = staying.iter().filter_map(|symbol| known(symbol)).max();
        for (rule, scale) in rules.instruments.iter().zip(&mut scales) {
            if staying.contains(rule.symbol.as_str()) {
                *scale = known(&rule.symbol).or(most).unwrap_or_default();
            }
        }
        scales
    }

    /// Whether an open order of an instrument was sent to a line over TMP, or waits for such a line.
    pub(crate) fn has_orders_over_tmp(&self, rules: &RiskRules, instrument: InstrumentNo) -> bool {
        let state = &self.state;
        let symbol = state.instruments().name(instrument);
        let by_symbol = rules.group_of(symbol);
        let by_symbol = by_symbol.and_then(|group| rules.groups.get(group));
        let over_tmp = |order: &Order| {
            let line = order.line().or_else(|| state.routed.of(order.number));
            let group = match line.map(|line| state.sessions().name(line)) {
                Some(line) => rules.groups.iter().find(|group| group.has_line(line)),
                None => by_symbol,
            };
            group.is_some_and(|group| group.over_tmp)
        };
        let mut orders = state.orders().iter();
        orders.any(|it| it.instrument == instrument && it.state.is_open() && over_tmp(it))
    }

    fn begin_spreads<S: Sink>(
        &mut self,
        at: i64,
        rules: &RiskRules,
        steps: &mut Steps<'_, S>,
    ) -> Option<()> {
        for rule in &rules.instruments {
            let Some([first, second]) = &rule.legs else {
                continue;
            };
            let find = |symbol: &String| self.state.instruments().find(symbol.as_bytes());
            let (Some(index), Some(one), Some(other)) = (
                find(&rule.symbol),
                find(&first.symbol),
                find(&second.symbol),
            ) else {
                continue;
            };
            let leg = |of: &LegRule, instrument| SpreadLeg {
                instrument,
                side: of.side,
                ratio: of.ratio,
            };
            let legs = [leg(first, one), leg(second, other)];
            let known = self.state.spreads.legs(index);
            if known != Some(&legs) && self.state.spreads.may_be(index, &legs) {
                let event = OrderEvent::Spread(SpreadEvent::SpreadLegs {
                    index,
                    first: one,
                    first_side: first.side,
                    first_ratio: first.ratio,
                    second: other,
                    second_side: second.side,
                    second_ratio: second.ratio,
                });
                self.begin_event(at, &event, steps)?;
            }
        }
        Some(())
    }

    fn begin_pools<S: Sink>(
        &mut self,
        at: i64,
        rules: &RiskRules,
        steps: &mut Steps<'_, S>,
    ) -> Option<()> {
        for rule in &rules.pools {
            let name = rule.name.as_bytes();
            let known = self.state.pool_names.find(name);
            let event = OrderEvent::Pool(PoolEvent::Pool {
                index: known.unwrap_or(self.state.pool_names.next()),
                form: rule.form.hash(),
                tag: rule.tag,
                first: rule.first,
                last: rule.last,
                each_day: rule.each_day,
                name,
            });
            let is_same = known.is_some_and(|index| {
                let known = &self.state.pools[index];
                (known.form, known.tag, known.each_day)
                    == (rule.form.hash(), rule.tag, rule.each_day)
                    && (known.first, known.last) == (rule.first, rule.last)
            });
            if !is_same {
                self.begin_event(at, &event, steps)?;
            }
        }
        Some(())
    }

    /// Records the lines whose fills each drop copy session of a venue reports.
    fn begin_copies<S: Sink>(
        &mut self,
        at: i64,
        rules: &RiskRules,
        steps: &mut Steps<'_, S>,
    ) -> Option<()> {
        for line in self.state.sessions().numbers() {
            let name = self.state.sessions().name(line);
            let is_its = |of: &String| of.as_bytes() == name;
            let mut sources = rules.copy_sources.iter();
            let source = sources.find(|it| it.lines.iter().any(is_its));
            let session = source.and_then(|it| self.state.sessions().find(it.session.as_bytes()));
            if self.state.copies.session_of(line) != session {
                self.begin_event(
                    at,
                    &OrderEvent::Copy(CopyEvent::CopyLine { line, session }),
                    steps,
                )?;
            }
        }
        Some(())
    }

    fn begin_limits<S: Sink>(
        &mut self,
        at: i64,
        rules: &RiskRules,
        steps: &mut Steps<'_, S>,
    ) -> Option<()> {
        for limit in &rules.limits {
            let Some(scope) = self.scope(&limit.scope) else {
                continue;
            };
            let known = self.state.filed(scope, limit.control);
            if known != Some(limit.value) {
                let event = OrderEvent::Limit(LimitEvent::Limit {
                    scope,
                    control: limit.control.index(),
                    value: Some(limit.value),
                    filed: true,
                    who: rules.limits_file.as_bytes(),
                    why: b"",
                });
                self.begin_event(at, &event, steps)?;
            }
        }
        // Removes the limits that the file no longer has.
        let there = rules.limits.iter().filter_map(|limit| {
            let scope = self.scope(&limit.scope)?;
            Some((scope, limit.control.index()))
        });
        let there: BTreeSet<(Scope, u8)> = there.collect();
        for scope in self.state.limited_scopes() {
            for &control in RiskControl::ALL {
                let is_filed = self.state.filed(scope, control).is_some();
                if is_filed && !there.contains(&(scope, control.index())) {
                    let event = OrderEvent::Limit(LimitEvent::Limit {
                        scope,
                        control: control.index(),
                        value: None,
                        filed: true,
                        who: rules.limits_file.as_bytes(),
                        why: b"",
                    });
                    self.begin_event(at, &event, steps)?;
                }
            }
        }
        Some(())
    }

    /// The scope that has these names; `None` when the state does not know one of the names.
    #[must_use]
    pub fn scope(&self, name: &ScopeName) -> Option<Scope> {
        let state = &self.state;
        let account = |name: &String| state.accounts().find(name.as_bytes());
        let instrument = |name: &String| state.instruments().find(name.as_bytes());
        Some(match name {
            ScopeName::Firm => Scope::Firm,
            ScopeName::Session(name) => Scope::Session(state.sessions().find(name.as_bytes())?),
            ScopeName::Account(name) => Scope::Account(account(name)?),
            ScopeName::Instrument(name) => Scope::Instrument(instrument(name)?),
            ScopeName::Holding(of, name) => Scope::Holding(account(of)?, instrument(name)?),
        })
    }
}
