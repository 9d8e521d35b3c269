//! Reload: replaces the settings while the OMS runs. All new settings apply between two messages, or none does.
//!
//! Another thread reads and checks the files. This file compares the new settings with the settings in force. All
//! changes of the state are one event, which contains the events that a start with these settings would emit.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_ledger::NestedEvents;
use fixwire_protocol::{OperatorCommand, Tag};

use crate::decide::core::{Core, Sink};
use crate::decide::settings::{KeptNames, kept_names};
use crate::load::differences::{self, SettingChange};
use crate::state::OmsState;
use crate::state::event::{LimitEvent, OrderEvent, ReloadEvent};
use crate::state::orders::Order;
use crate::state::reload::short;
use crate::values::fields::carried::{CarriedField, CarriedFields, each_field};
use crate::values::fields::contract::Contract;
use crate::values::fields::conversion::{CarryingRequest, FieldConverter};
use crate::values::fields::field_table::request_bit;
use crate::values::fields::{RefusedField, check_taken, first_orders};
use crate::values::ids::{InstrumentNo, SessionNo, Table};
use crate::values::rules::{LineGroup, RiskRules};
use crate::values::show::{Parts, counted};
use crate::values::units::MOST;
use crate::values::value::Text;
use crate::values::verbs::By;
use crate::values::words::cut;

/// The command that applies the new settings, and the query that shows what they would change.
pub const RELOAD: &[u8] = b"reload";

const ASKED: &str =
    "reload requested, nothing is applied; another operator must request the same settings";

/// Maximum number of changes that the answer to an operator lists.
const LISTED: usize = 500;

/// Who or what reloads the settings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReloadKind {
    /// An operator reloads the files.
    Files,
    /// An operator goes back to the settings before the last reload.
    Back,
    /// The time of `[oms] reload` has come. A reload by the schedule needs no operator and no right.
    Schedule,
}

/// Settings that another thread has read and checked.
#[derive(Debug)]
pub struct NewSettings {
    /// The new settings. After they are applied, the previous settings.
    pub rules: RiskRules,
    /// Who or what reloads these settings.
    pub kind: ReloadKind,
    /// Whether the settings are in force.
    pub is_applied: bool,
}

/// Source of new settings when an operator or a schedule reloads.
pub trait SettingsSource: Send {
    /// Takes the new settings; `None` when no settings wait.
    fn take(&self) -> Option<Box<NewSettings>>;

    /// Gives back settings that were not applied, or the previous settings. Another thread frees them, so that the OMS
    /// thread need not.
    fn give_back(&self, spent: Box<NewSettings>);
}

/// The changes that new settings make.
pub(crate) struct Plan {
    /// The encoded events, each preceded by its length.
    events: Vec<u8>,
    changes: Vec<SettingChange>,
    /// Open orders with a field that the new contracts refuse, each with the tag of the first such field.
    broken: Vec<RefusedField>,
}

impl Plan {
    /// Whether a second operator must request the reload too, when `arming` is `two people`.
    fn is_guarded(&self) -> bool {
        self.changes.iter().any(|change| change.is_guarded)
    }

    /// Whether the OMS may have to request the state of trading of a symbol.
    pub(crate) fn is_about_markets(&self) -> bool {
        self.changes.iter().any(SettingChange::is_about_markets)
    }

    fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.events.is_empty()
    }

    /// Maximum size of the journal note, in bytes.
    pub(crate) fn bytes(&self, command: OperatorCommand<'_>) -> usize {
        self.events.len() + cut(command.who).len() + cut(command.why).len() + 128
    }

    /// Lists the first open orders that lose fields, each with its number and the tag.
    fn broken_text(&self) -> String {
        let count = self.broken.len();
        if count == 0 {
            return String::new();
        }
        format!(
            "; {} with fields that the contracts refuse from then on, {}: what is not yet sent will be rejected",
            counted(count as u64, "open order"),
            first_orders(&self.broken)
        )
    }

    /// The answer to an operator: a first line, and a table of all changed settings.
    fn text(&self, first: &str) -> String {
        let count = self.changes.len();
        let changes = if count == 1 { "change" } else { "changes" };
        let mut text = format!("{first}{}: {count} {changes}", self.broken_text());
        if count > 0 {
            text += "\nsetting\tname\twas\tis";
        }
        for change in self.changes.iter().take(LISTED) {
            text += &format!("\n{change}");
        }
        if count > LISTED {
            text += &format!("\n...\tand {} more\t\t", count - LISTED);
        }
        text
    }
}

/// The contract of a session: of its line group, or of its user.
pub(crate) fn contract_of<'a>(rules: &'a RiskRules, session: &str) -> &'a Contract {
    const NONE: &Contract = &Contract::NONE;
    let is_line = |group: &&LineGroup| group.lines.iter().any(|line| line == session);
    let group = rules.groups.iter().find(is_line).map(|it| &it.contract);
    let user = || rules.users.iter().find(|user| user.session == session);
    group.or_else(|| Some(&user()?.contract)).unwrap_or(NONE)
}

/// The tag of the first field of an open order that its line, or before it is sent one of its lines, cannot get
/// converted.
pub(crate) fn refused_in_conversion(
    state: &OmsState,
    rules: &RiskRules,
    converter: &mut FieldConverter,
    order: &Order,
) -> Option<Tag> {
    let routed = state.routed.of(order.number);
    let group = match routed.map(|line| state.sessions().name(line)) {
        Some(line) => rules.groups.iter().find(|group| group.has_line(line)),
        None => {
            let symbol = state.instruments().name(order.instrument);
            rules.group_of(symbol).and_then(|it| rules.groups.get(it))
        }
    };
    let (lines, types): (Vec<SessionNo>, &[&[u8]]) = match order.line() {
        Some(line) => (alloc::vec![line], &[b"D", b"G"]),
        None => {
            let group = group?;
            let is_reached =
                |it: &&LineGroup| group.name == it.name || group.helpers.contains(&it.name);
            let reached = rules.groups.iter().filter(is_reached);
            let lines = reached.flat_map(|it| &it.lines);
            let find = |line: &String| state.sessions().find(line.as_bytes());
            (lines.filter_map(find).collect(), &[b"D"])
        }
    };
    lines.into_iter().find_map(|line| {
        let mut refused = types.iter().map(|msg_type| {
            let request = CarryingRequest {
                client: order.session,
                line,
                msg_type,
                side: order.side,
                fields: state.carried.of(order.number),
                by_oms: false,
            };
            converter.convert(&request).err()
        });
        let first = refused.next().flatten();
        first.filter(|_| refused.all(|tag| tag.is_some()))
    })
}

impl Core {
    /// Compares new settings with the settings in force.
    ///
    /// # Errors
    ///
    /// Every reason why the new settings cannot be applied while the OMS runs, one per line.
    pub(crate) fn plan(&self, new: &RiskRules) -> Result<Plan, String> {
        let mut wrong = differences::needs_restart(&self.rules, new);
        wrong.extend(self.open_orders_prevent(new));
        wrong.extend(self.quantities_prevent(new));
        let kept = kept_names(&self.state, new);
        // A name that was kept at the start prevents a reload only if its row changes again.
        let kept = kept.iter();
        let kept = kept.filter(|name| !name.is_same_in(&self.state, &self.rules, new));
        wrong.extend(kept.map(|name| {
            let name = name.text(&self.state, "cannot change");
            format!("{name}; cancel them first, or reload once they are closed")
        }));
        if !wrong.is_empty() {
            return Err(wrong.join("\n"));
        }
        let mut outline = Self::new(RiskRules::default());
        outline.state = OmsState {
            build: Text::new(new.build.as_bytes()),
            settings: new.hash,
            ..self.state.outline()
        };
        let mut events = Vec::new();
        let mut sink = |_: &OmsState, event: &OrderEvent<'_>| {
            let event = match *event {
                // The event that contains these events records the name of the file once.
                OrderEvent::Limit(LimitEvent::Limit {
                    scope,
                    control,
                    value,
                    filed,
                    ..
                }) => &OrderEvent::Limit(LimitEvent::Limit {
                    scope,
                    control,
                    value,
                    filed,
                    who: b"",
                    why: b"",
                }),
                OrderEvent::Setup(_)
                | OrderEvent::Day(_)
                | OrderEvent::Line(_)
                | OrderEvent::Limit(_)
                | OrderEvent::Reload(_)
                | OrderEvent::Pool(_)
                | OrderEvent::Request(_)
                | OrderEvent::Order(_)
                | OrderEvent::Remade(_)
                | OrderEvent::Stray(_)
                | OrderEvent::Condition(_)
                | OrderEvent::Parent(_)
                | OrderEvent::Quote(_)
                | OrderEvent::Inquiry(_)
                | OrderEvent::Rejected(_)
                | OrderEvent::Copy(_)
                | OrderEvent::Spread(_)
                | OrderEvent::Break(_)
                | OrderEvent::Undo(_) => event,
            };
            NestedEvents::push(&mut events, |to| event.put(to));
        };
        let kept = KeptNames::of(&self.state, new);
        outline.follow_rules(self.state.time, new, &kept, &mut sink);
        let changes = differences::changes(&self.state, &self.rules, new);
        let broken = self.broken_by(new);
        Ok(Plan {
            events,
            changes,
            broken,
        })
    }

    /// Open orders with a field that the contracts in force pass on, and that the new contracts refuse.
    fn broken_by(&self, new: &RiskRules) -> Vec<RefusedField> {
        let state = &self.state;
        let refused = |rules: &RiskRules, order: &Order| {
            let symbol = state.instruments().name(order.instrument);
            let routed = state.routed.of(order.number);
            let group = match routed.map(|line| state.sessions().name(line)) {
                Some(line) => rules.groups.iter().find(|group| group.has_line(line))?,
                None => rules.groups.get(rules.group_of(symbol)?)?,
            };
            let session = state.sessions().name(order.session);
            let mut users = rules.users.iter();
            let user = users.find(|user| user.session.as_bytes() == session);
            let user = user.map(|user| &user.contract);
            let CarriedFields { header, body, .. } = state.carried.of(order.number);
            let mut fields = each_field(header).chain(each_field(body));
            let helpers = rules
                .groups
                .iter()
                .filter(|it| group.helpers.contains(&it.name));
            let groups: Vec<_> = helpers.chain([group]).collect();
            let bit = request_bit(b"D");
            let is_refused = |field: &CarriedField<'_>| {
                let mut groups = groups.iter();
                groups.any(|it| check_taken(it, user, bit, field.tag, field.value).is_err())
            };
            fields.find(is_refused).map(|field| field.tag)
        };
        let carrying = state.carried.fields.numbers().into_iter();
        let orders = carrying.filter_map(|number| state.orders().get(number));
        let open = orders.filter(|order| order.state.is_open());
        // A contract may also refuse what the conversion for a line of another FIX version makes of a field.
        let mut before = self.converter.another();
        let mut after = self.converter.another();
        after.set_contracts(|session| {
            let name = core::str::from_utf8(state.sessions().name(session));
            contract_of(new, name.unwrap_or_default()).clone()
        });
        let refused_by = |rules: &RiskRules, converter: &mut FieldConverter, order: &Order| {
            let first = refused(rules, order);
            first.or_else(|| refused_in_conversion(state, rules, converter, order))
        };
        let broken = open.filter_map(|it| {
            let tag = refused_by(new, &mut after, it)?;
            let order = it.number;
            match refused_by(&self.rules, &mut before, it) {
                None => Some(RefusedField { order, tag }),
                Some(_) => None,
            }
        });
        broken.collect()
    }

    /// Lists what new settings would change, without a change.
    ///
    /// # Errors
    ///
    /// As [`Core::plan`].
    pub(crate) fn check_reload(&self, new: &NewSettings) -> Result<String, String> {
        let plan = self.plan(&new.rules)?;
        let mut first = String::from("nothing is applied");
        if self.rules.two_arm && plan.is_guarded() {
            first += "; two operators must reload";
        }
        Ok(plan.text(&first))
    }

    /// Compares new settings as [`Core::plan`] does, if the operator has the right to reload.
    ///
    /// # Errors
    ///
    /// Why the settings in force stay.
    pub(crate) fn plan_reload(
        &self,
        new: &NewSettings,
        command: OperatorCommand<'_>,
    ) -> Result<Plan, String> {
        if command.why.is_empty() {
            return Err("reason missing: add --why \"...\"".into());
        }
        if new.kind != ReloadKind::Schedule {
            self.check_right(command.who, "reload")?;
        }
        self.plan(&new.rules)
    }

    /// Applies new settings; then `new` holds the previous settings.
    ///
    /// # Errors
    ///
    /// Why the settings in force stay.
    pub(crate) fn reload(
        &mut self,
        at: i64,
        new: &mut NewSettings,
        plan: &Plan,
        command: OperatorCommand<'_>,
        sink: &mut impl Sink,
    ) -> Result<String, String> {
        let settings = new.rules.hash;
        if plan.is_empty() && settings == self.state.settings {
            return Ok("nothing to reload: 0 changes".to_string());
        }
        let (who, why) = (cut(command.who), cut(command.why));
        let needs_two = self.rules.two_arm && plan.is_guarded();
        if needs_two && new.kind == ReloadKind::Schedule {
            // With a schedule, a person who can edit the files could replace both operators.
            return Err("limits or users differ: two operators must reload".into());
        }
        if needs_two && !self.is_second(settings, who)? {
            let event = OrderEvent::Reload(ReloadEvent::ReloadAsked { settings, who, why });
            self.emit(at, &event, sink);
            return Ok(plan.text(ASKED));
        }
        let scales: Table<InstrumentNo, u8> =
            self.state.instruments.iter().map(|it| it.scale).collect();
        let worths: Vec<u64> = self.state.instruments.iter().map(|it| it.worth).collect();
        let event = OrderEvent::Reload(ReloadEvent::Reloaded {
            settings,
            back: new.kind == ReloadKind::Back,
            who,
            why,
            changes: NestedEvents(&plan.events),
        });
        self.emit(at, &event, sink);
        let mut known = self.state.instruments.iter().zip(worths);
        self.work.is_revalued |= known.any(|(now, was)| now.worth != was);
        if self.rules.market_data != new.rules.market_data {
            // A session that is no longer a source of market data does not report changed prices.
            self.prices.forget();
        }
        core::mem::swap(&mut self.rules, &mut new.rules);
        new.is_applied = true;
        self.index_again(&scales);
        Ok(plan.text("reloaded"))
    }

    /// Whether another operator has already requested the same settings or limits, which makes this operator the
    /// second.
    fn is_second(&self, settings: u64, who: &[u8]) -> Result<bool, String> {
        match &self.state.pending_reload {
            Some(known) if known.settings == settings && known.by == short(who) => {
                Err("you already requested it: another operator must request the same".into())
            }
            Some(known) => Ok(known.settings == settings),
            None => Ok(false),
        }
    }

    /// Whether a command takes effect: `false` if two operators must give it, and this is the first.
    ///
    /// # Errors
    ///
    /// The same operator gave it before.
    pub(crate) fn is_confirmed(
        &mut self,
        at: i64,
        asked: u64,
        By { who, why }: By<'_>,
        sink: &mut impl Sink,
    ) -> Result<bool, String> {
        if !self.rules().two_arm || self.is_second(asked, who)? {
            return Ok(true);
        }
        let event = OrderEvent::Reload(ReloadEvent::ReloadAsked {
            settings: asked,
            who,
            why,
        });
        self.emit(at, &event, sink);
        Ok(false)
    }

    /// One line for each instrument whose quantities would be out of range with the new decimals.
    fn quantities_prevent(&self, new: &RiskRules) -> Vec<String> {
        let rules = new.instruments.iter().zip(self.coupled_scales(new));
        let wrong = rules.filter(|(rule, scale)| {
            let known = self.state.instruments().find(rule.symbol.as_bytes());
            known.is_some_and(|index| !self.state.has_room(index, *scale))
        });
        let said = wrong.map(|(rule, scale)| {
            format!(
                "symbol {} has orders or positions above {} with {scale} quantity_decimals: leave those that it has",
                rule.symbol,
                Parts(MOST, scale),
            )
        });
        said.collect()
    }

    /// One line for each instrument with a change that is not possible while the instrument has open orders.
    fn open_orders_prevent(&self, new: &RiskRules) -> Vec<String> {
        let mut risky = differences::risky_instruments(&self.rules, new);
        let over_tmp = differences::other_over_tmp(&self.rules, new);
        risky.extend(over_tmp.filter(|(symbol, _)| {
            let index = self.state.instruments().find(symbol.as_bytes());
            index.is_some_and(|index| self.has_orders_over_tmp(&self.rules, index))
        }));
        if risky.is_empty() {
            return Vec::new();
        }
        let mut open = Table::of(0_u64, self.state.instruments().len());
        // Orders that a condition routed keep their line group.
        let mut routed = open.clone();
        for order in self.state.orders().iter().filter(|it| it.state.is_open()) {
            open[order.instrument] += 1;
            routed[order.instrument] += u64::from(self.state.routed.of(order.number).is_some());
            for leg in self
                .state
                .spreads
                .legs(order.instrument)
                .into_iter()
                .flatten()
            {
                open[leg.instrument] += 1;
            }
        }
        let said = risky.into_iter().filter_map(|(symbol, what)| {
            let index = self.state.instruments().find(symbol.as_bytes())?;
            let stays = match what {
                differences::OTHER_GROUP => routed[index],
                _ => 0,
            };
            match open[index] - stays {
                0 => None,
                1 => Some(format!(
                    "symbol {symbol} has an open order: {what}; cancel it first"
                )),
                many => Some(format!(
                    "symbol {symbol} has {many} open orders: {what}; cancel them first"
                )),
            }
        });
        said.collect()
    }
}
