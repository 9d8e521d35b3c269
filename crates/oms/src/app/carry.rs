//! Fields of a client's request that the venue gets unchanged. Finds these fields, and checks whether each line to
//! which the request may be sent accepts them.
//!
//! A line accepts a field under three conditions: the line's dictionary has the field in the message; both the client's
//! and the line's dictionary give the field the same type; both allow the value. A line accepts a group if it accepts
//! all members, including nested groups, in the order in which the client sent them.

use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;

use fixwire_protocol::{Decimal, Field, Message, SOH, Tag, tag};

use super::Oms;
use super::fields::{FieldUse, Look, first_unusual};
use super::requests::{direct, names};
use super::session::Reach;
use crate::decide::core::Core;
use crate::decide::reload;
use crate::fix::carried::{LineContract, whose};
use crate::fix::lines::RequestForm;
use crate::fix::terms;
use crate::state::orders::Order;
use crate::state::tag_counts::ContractOf;
use crate::values::fields::carried::{
    CarriedFields, SentBecause, each_field, group_len, other_of_pair, splits,
};
use crate::values::fields::contract::Passage;
use crate::values::fields::conversion::{CarryingRequest, ConvertingSession, VersionChange};
use crate::values::fields::field_table::{DISPLAYED, Glance, request_bit};
use crate::values::fields::{
    LostBecause, LostField, MissingTerms, QUOTE_MAX, RefusedField, check_taken,
};
use crate::values::ids::{SessionNo, Table};
use crate::values::rules::{LineGroup, UserRule};
use crate::values::value::{Number, Side};

impl Oms {
    /// Finds the lines to which requests for each line group may be sent.
    pub(super) fn find_reaches(&mut self) {
        let groups = &self.rules().groups;
        let reaches = groups
            .iter()
            .map(|it| Reach::of(it, groups, &self.sessions));
        self.reaches = reaches.collect();
        self.find_contracts();
        self.direct = direct::find_tables(self);
    }

    /// Finds the settings for the fields of requests, at the start and after a reload.
    pub(super) fn find_contracts(&mut self) {
        let sets = |user: &UserRule| user.contract.sets().next().is_some();
        let adds = |group: &LineGroup| group.merges || !group.tmp_fields.has_no_tag();
        let merges = self.rules().groups.iter().any(adds);
        self.adds_fields = merges || self.rules().users.iter().any(sets);
        self.looks_at_all = self.adds_fields || self.rules().has_conditions();
        self.set_carried_aside();
        let names = self.core.state().sessions();
        let mut contracts = Table::default();
        let mut whose_order: Table<SessionNo, [Vec<Tag>; 2]> =
            names.iter().map(|_| <[Vec<Tag>; 2]>::default()).collect();
        let mut missing_terms = Table::default();
        let mut forms = Table::of(RequestForm::default(), names.len());
        for (place, group) in self.rules().groups.iter().enumerate() {
            for session in self
                .sessions
                .iter()
                .filter(|it| group.lines.contains(&it.name))
            {
                let Some(line) = names.find(session.name.as_bytes()) else {
                    continue;
                };
                whose_order[line] = [b"F", b"H"].map(|it| whose(&session.dictionary, it));
                forms[line] = RequestForm::of(&session.dictionary);
                let missing = MissingTerms::of(&session.dictionary);
                if missing != MissingTerms::default() {
                    missing_terms.resize(names.len(), MissingTerms::default());
                    missing_terms[line] = missing;
                }
                if group.contract.is_empty() {
                    continue;
                }
                if contracts.is_empty() {
                    contracts = names.iter().map(|_| None).collect();
                }
                let of = ContractOf::Group(place);
                contracts[line] = LineContract::new(of, &group.contract, &session.dictionary);
            }
        }
        (self.links.contracts, self.links.whose) = (contracts, whose_order);
        self.links.forms = forms;
        self.core.missing_terms = missing_terms;
        self.find_conversions();
        names::find_names(self);
    }

    /// Sets aside the memory for the fields that requests carry.
    fn set_carried_aside(&mut self) {
        let longest = self.rules().carried_bytes;
        self.core.state.carried.fields.set_aside(longest);
        self.gathered.set_aside(longest);
        #[cfg(debug_assertions)]
        self.direct.gathered.set_aside(longest);
    }

    /// Finds the FIX versions between which fields are converted, and makes the conversions that do not exist yet.
    fn find_conversions(&mut self) {
        let (rules, names) = (self.core.rules(), self.core.state().sessions());
        let mut all: Table<SessionNo, Option<ConvertingSession>> =
            names.iter().map(|_| None).collect();
        let mut lines = Vec::new();
        // The tables for sessions that are still to be created are read now.
        let mut others: Vec<_> = self.templates.iter().map(|it| it.version).collect();
        for session in &self.sessions {
            let mut groups = rules.groups.iter();
            let group = groups.find(|it| it.lines.contains(&session.name));
            match group.is_some() {
                true => lines.push(session.version),
                false => others.push(session.version),
            }
            if let Some(number) = names.find(session.name.as_bytes()) {
                all[number] = Some(ConvertingSession {
                    version: session.version,
                    dictionary: Arc::clone(&session.dictionary),
                    contract: reload::contract_of(rules, &session.name).clone(),
                });
            }
        }
        let pairs = lines.iter().flat_map(|line| {
            let others = others.iter().filter(move |it| *it != line);
            others.flat_map(|other| {
                let [request, report] = [(*other, *line), (*line, *other)];
                [request, report].map(|(from, to)| VersionChange { from, to })
            })
        });
        self.core.converter.prepare(all, pairs);
        self.links.converter = self.core.converter.another();
    }

    /// The lines of a line group and of its helpers.
    fn lines_of(&self, group: usize) -> Vec<SessionNo> {
        let (rules, names) = (self.rules(), self.core.state().sessions());
        let Some(rule) = rules.groups.get(group) else {
            return Vec::new();
        };
        let is_reached = |it: &&LineGroup| rule.name == it.name || rule.helpers.contains(&it.name);
        let reached = rules.groups.iter().filter(is_reached);
        let lines = reached.flat_map(|it| &it.lines);
        lines.filter_map(|it| names.find(it.as_bytes())).collect()
    }

    /// The gathered field that a line of another FIX version cannot get, neither unchanged nor converted.
    pub(super) fn lost_in_conversion(
        &mut self,
        index: SessionNo,
        group: Option<usize>,
        message: &Message<'_>,
    ) -> Option<LostField> {
        let client = self.links.clients.get(index).copied().flatten()?;
        let version = client.version;
        let reach = group.and_then(|it| self.reaches.get(it))?;
        if self.gathered.fields().is_empty() || !reach.has_other_version(version) {
            return None;
        }
        let order = self.order_of(index, message);
        let number = order.map(|it| it.number);
        let is_unsent = order.is_some_and(|it| it.state.is_unsent());
        let types: &[&[u8]] = match message.msg_type() {
            b"G" if is_unsent => &[b"G", b"D"],
            b"G" => &[b"G"],
            b"F" => &[b"F"],
            _ => &[b"D"],
        };
        let named = match message.get(tag::SIDE) {
            Some([side]) => Side::of(*side),
            _ => None,
        };
        let side = order.map(|it| it.side).or(named).unwrap_or(Side::Buy);
        let is_quote = message.msg_type() == b"S";
        let sides: &[Side] = match is_quote {
            true => &[Side::Buy, Side::Sell],
            false => &[side],
        };
        let at = order.and_then(Order::line);
        let lines = match (at, group) {
            (Some(line), _) => alloc::vec![line],
            (None, Some(group)) => self.lines_of(group),
            (None, None) => Vec::new(),
        };
        let limit = match is_quote {
            true => self.rules().carried_bytes.min(QUOTE_MAX),
            false => self.rules().carried_bytes,
        };
        for (at, line) in lines.iter().copied().enumerate() {
            let converter = &self.core.converter;
            if lines[..at]
                .iter()
                .any(|it| converter.treats_alike(*it, line))
            {
                continue;
            }
            for (msg_type, side) in types
                .iter()
                .flat_map(|of| sides.iter().map(move |it| (of, it)))
            {
                let request = CarryingRequest {
                    client: index,
                    line,
                    msg_type,
                    side: *side,
                    fields: self.gathered.fields(),
                    by_oms: false,
                };
                let converted = self.core.converter.convert(&request);
                match converted.map(|fields| fields.map_or(0, |it| it.len())) {
                    Ok(len) if len > limit => {
                        return Some(LostField {
                            tag: self.gathered.first_tag()?,
                            why: LostBecause::TooLong(limit),
                        });
                    }
                    Ok(_) => {}
                    Err(tag)
                        if *msg_type == b"G"
                            && self.is_kept_instead((number, line), message, tag) =>
                    {
                        return self.lost_in_conversion(index, group, message);
                    }
                    Err(tag) => return Some(tag.into()),
                }
            }
        }
        None
    }

    /// Whether a replace leaves a field of its order with the order, because the field cannot be converted for a replace
    /// and can be converted for an order. The field is then no longer gathered for the replace.
    fn is_kept_instead(
        &mut self,
        (order, line): (Option<Number>, SessionNo),
        message: &Message<'_>,
        tag: Tag,
    ) -> bool {
        let Core {
            state, converter, ..
        } = &mut self.core;
        let order = order.and_then(|order| state.orders().get(order));
        let Some(order) = order.filter(|_| message.msg_type() == b"G" && !message.has(tag)) else {
            return false;
        };
        let of_order = converter.convert(&CarryingRequest {
            client: order.session,
            line,
            msg_type: b"D",
            side: order.side,
            fields: state.carried.of(order.number),
            by_oms: false,
        });
        of_order.is_ok() && self.gathered.keep_instead(tag)
    }

    /// The tag of the first field of an open order that its line, or before it is sent one of its lines, cannot get
    /// converted.
    fn refused_in_conversion(&mut self, number: Number) -> Option<Tag> {
        let Core {
            state,
            rules,
            converter,
            ..
        } = &mut self.core;
        let order = state.orders().get(number).filter(|it| it.state.is_open())?;
        reload::refused_in_conversion(state, rules, converter, order)
    }

    /// Looks at the fields of a request for an order, and gathers those that the venue gets.
    #[inline]
    pub(super) fn look(&mut self, index: SessionNo, message: &Message<'_>, seen: &Glance) -> Look {
        match self.is_usual(index, message, seen) {
            true => Look::Usual,
            false => self.look_at(index, None, message),
        }
    }

    /// Whether no field of a request for an order needs a closer look. May be false for a request that needs no closer
    /// look, if the request has more fields than most. All fields of the request were seen.
    #[inline]
    pub(super) fn is_usual(&self, index: SessionNo, message: &Message<'_>, seen: &Glance) -> bool {
        seen.is_usual_request(message.fields().len())
            && !(self.looks_at_all && self.is_looked_at(index, message))
    }

    /// Gathers the fields of a request for an order that the venue gets; `route` is the line group that the condition
    /// of a route chose.
    #[cold]
    pub(super) fn look_at(
        &mut self,
        index: SessionNo,
        route: Option<SessionNo>,
        message: &Message<'_>,
    ) -> Look {
        if let Some(group) = self.gather_directly(index, route, message) {
            return Look::Direct(group);
        }
        match self.first_to_look_at(index, message) {
            Some(from) => Look::Closer(self.look_closer(index, route, message, from)),
            None => Look::Usual,
        }
    }

    /// Gathers the fields of a request that the venue gets, if none of its fields needs a closer look. Returns the line
    /// group whose lines, and those of its helpers, accept the fields.
    #[inline]
    pub(super) fn gather_directly(
        &mut self,
        index: SessionNo,
        route: Option<SessionNo>,
        message: &Message<'_>,
    ) -> Option<usize> {
        let group = self.group_of(index, route, message)?;
        let gathered = &mut self.gathered;
        if !self.direct.gather(index, group, message, gathered) {
            return None;
        }
        #[cfg(debug_assertions)]
        self.assert_same(index, route, message);
        Some(group)
    }

    /// Checks that the closer look has the same result.
    #[cfg(debug_assertions)]
    fn assert_same(&mut self, index: SessionNo, route: Option<SessionNo>, message: &Message<'_>) {
        core::mem::swap(&mut self.gathered, &mut self.direct.gathered);
        let lost = self.look_closer(index, route, message, 0);
        let request = message.bytes().escape_ascii();
        assert_eq!(lost, None, "fields that the closer look refuses: {request}");
        let (direct, closer) = (&self.direct.gathered, &self.gathered);
        assert_eq!(direct.fields(), closer.fields(), "{request}");
        assert_eq!(direct.first_tag(), closer.first_tag(), "{request}");
        core::mem::swap(&mut self.gathered, &mut self.direct.gathered);
    }

    /// Index of the first field of a request for an order that needs a closer look; `None` if no field does.
    ///
    /// If every field is usual, the closer look begins after the last field. The closer look is then needed for one of
    /// three reasons only: the settings of the user add fields, a replace may take fields of its order, or the route
    /// may depend on fields.
    fn first_to_look_at(&self, index: SessionNo, message: &Message<'_>) -> Option<usize> {
        first_unusual(message).or_else(|| match self.looks_at_all {
            true => self
                .is_looked_at(index, message)
                .then_some(message.fields().len()),
            false => None,
        })
    }

    #[cold]
    fn is_looked_at(&self, index: SessionNo, message: &Message<'_>) -> bool {
        let user = self.core.user(index);
        let sets = user.is_ok_and(|user| user.contract.sets().next().is_some());
        let is_routed = message.msg_type() == b"D" && self.rules().has_conditions();
        let may_merge = message.msg_type() == b"G" && !self.core.state().carried.is_empty();
        sets || is_routed || may_merge
    }

    /// Adds the fields that the settings of the user set in a request and that the client did not send. A field is
    /// added if all lines to which the request may be sent have it in this message. A parent order gets none of these
    /// fields, because it is sent to no line.
    pub(super) fn gather_sets(
        &mut self,
        index: SessionNo,
        group: Option<usize>,
        message: &Message<'_>,
    ) {
        let reach = group.and_then(|group| self.reaches.get(group));
        let (Some(reach), Ok(user)) = (reach, self.core.user(index)) else {
            return;
        };
        if message.get(tag::HANDL_INST) == Some(b"3") {
            return;
        }
        // A quote is sent as two orders, so the fields are those of an order.
        let sent_as = match message.msg_type() {
            b"S" => b"D",
            own => own,
        };
        for set in reach.sets(&user.contract, sent_as) {
            self.gathered.add(set.tag, set.is_header, |to| {
                put_field(to, set.tag, &set.value);
            });
        }
    }

    /// The order that a replace names by OrigClOrdID(41).
    fn order_of(&self, index: SessionNo, message: &Message<'_>) -> Option<&Order> {
        let state = self.core.state();
        let original = message.get(tag::ORIG_CL_ORD_ID);
        let number = original.and_then(|id| state.used(index, id));
        number.and_then(|number| state.orders().get(number))
    }

    /// Adds to a replace those fields of its order that the replace does not have, if the settings of the line group
    /// merge them.
    ///
    /// A field that a line does not have in a replace is not sent, but only kept with the order. The same is so for all
    /// fields of an order that was sent over TMP, because the order has the values that follow from its fields.
    ///
    /// # Errors
    ///
    /// The field that the contract of a line refuses, or that makes the gathered fields too long.
    pub(super) fn gather_of_order(
        &mut self,
        index: SessionNo,
        group: Option<usize>,
        message: &Message<'_>,
    ) -> Result<(), LostField> {
        let order = self.order_of(index, message);
        // An order that was sent is at the venue of its line, even if its symbol now has another line group.
        let line = order.and_then(Order::line);
        let at = line.and_then(|line| self.core.group_at(line));
        let group = at.or(group);
        let order = order.map(|it| (it.number, it.state.is_unsent(), !it.marks.is_empty()));
        let Self {
            core,
            decoder,
            gathered,
            ..
        } = self;
        let rules = core.rules();
        let rule = group.and_then(|group| rules.groups.get(group));
        // A request over TMP always has all fields of TMP.
        let merges = |rule: &LineGroup| rule.merges || rule.over_tmp;
        let merging = rule.filter(|rule| message.msg_type() == b"G" && merges(rule));
        let name = at.and(line).map(|line| core.state().sessions().name(line));
        let mut sessions = self.sessions.iter();
        let alone = sessions.find(|it| Some(it.name.as_bytes()) == name);
        let alone = alone.map(Reach::of_session);
        let reach = group.and_then(|group| self.reaches.get(group));
        let reach = alone.as_ref().or(reach);
        let (Some(rule), Some(reach), Some((order, is_unsent, has_marks))) =
            (merging, reach, order)
        else {
            return Ok(());
        };
        let is_kept = rule.over_tmp && has_marks;
        let client = self.links.clients.get(index).copied().flatten();
        let client = client.and_then(|client| self.sessions.get(client.session.0 as usize));
        let user = core.user(index).ok().map(|user| &user.contract);
        let helpers = rules
            .groups
            .iter()
            .filter(|it| at.is_none() && rule.helpers.contains(&it.name));
        let groups: Vec<_> = helpers.chain([rule]).collect();
        let bit = request_bit(b"G");
        let CarriedFields { header, body, .. } = core.state().carried.of(order);
        for (part, is_header) in [(header, true), (body, false)] {
            let carried = decoder.decode_whole(part);
            let fields = carried.fields();
            let mut at = 0;
            while let Some(first) = fields.get(at) {
                let tag = first.tag;
                let group = |of: &[u8]| client.and_then(|it| it.dictionary.group(of, tag));
                let def = group(b"D").or_else(|| group(b"G"));
                let len = def.map_or(Ok(1), |def| group_len(def, &carried, &fields[at..]))?;
                let (whole, field) = (carried.raw(at..at + len), &fields[at..at + len]);
                at += len;
                if gathered.has(tag) || one_field(tag).any(|tag| message.has(tag)) {
                    continue;
                }
                for field in field.iter().filter(|_| !is_kept) {
                    let value = carried.value(*field);
                    let mut groups = groups.iter();
                    groups.try_for_each(|it| check_taken(it, user, bit, field.tag, value))?;
                }
                if !is_kept && (is_unsent || reach.is_in_replaces(tag)) {
                    gathered.add(tag, is_header, |to| to.extend_from_slice(whole));
                } else {
                    gathered.keep(whole);
                }
                let limit = rules.carried_bytes;
                if gathered.fields().len() > limit {
                    let why = LostBecause::TooLong(limit);
                    return Err(LostField { tag, why });
                }
            }
        }
        Ok(())
    }

    /// The displayed quantity above OrderQty(38) among the fields that an order has, or will have after its replace.
    pub(super) fn above_quantity(
        &self,
        index: SessionNo,
        message: &Message<'_>,
    ) -> Option<LostField> {
        let CarriedFields { body, kept, .. } = self.gathered.fields();
        let fields = each_field(body).chain(each_field(kept));
        let mut shown = fields
            .filter(|field| DISPLAYED.contains(&field.tag))
            .peekable();
        shown.peek()?;
        let quantity = match message.msg_type() {
            b"D" => None,
            b"G" => self.quantity_without_38(index, message),
            _ => return None,
        };
        let named = || Decimal::parse(message.get(tag::ORDER_QTY)?).ok();
        let quantity = quantity.or_else(named)?;
        let is_above = |value| Decimal::compare(value, quantity) == Ok(Ordering::Greater);
        let above = shown.find(|field| is_above(field.value))?;
        Some(LostField {
            tag: above.tag,
            why: LostBecause::AboveQuantity,
        })
    }

    /// The quantity of an order after a replace that has no OrderQty(38), or that has the quantity to take away; `None`
    /// for another replace.
    fn quantity_without_38(&self, index: SessionNo, message: &Message<'_>) -> Option<Decimal> {
        if message.has(tag::ORDER_QTY) {
            return None;
        }
        let by = terms::reduce_by(message, self.rules().own_tags.reduce_by).ok()?;
        let original = message.get(tag::ORIG_CL_ORD_ID)?;
        let by = by.unwrap_or(Decimal::from_int(0));
        self.core.reduced(index, original, by)
    }

    /// Open orders with a field that their lines refuse, because the settings or a dictionary have changed since the
    /// order or its last replace came in.
    #[cold]
    pub(super) fn refused_fields(&mut self) -> Vec<RefusedField> {
        let numbers = self.core.state().carried.fields.numbers();
        let refused = numbers.into_iter().filter_map(|order| {
            let tag = self.refused_of(order);
            let tag = tag.or_else(|| self.refused_in_conversion(order))?;
            Some(RefusedField { order, tag })
        });
        refused.collect()
    }

    /// The tag of the first field of an open order that its line refuses. Before the order is sent, the first field
    /// that one of the lines refuses to which it may be sent.
    fn refused_of(&mut self, number: Number) -> Option<Tag> {
        let Self {
            core,
            decoder,
            sessions,
            links,
            reaches,
            ..
        } = self;
        let (state, rules) = (core.state(), core.rules());
        let order = state.orders().get(number).filter(|it| it.state.is_open())?;
        let client = links.clients.get(order.session).copied().flatten()?;
        let client = sessions.get(client.session.0 as usize)?;
        let from = &client.dictionary;
        let at = order.line();
        let group = match at.or_else(|| state.routed.of(number)) {
            Some(line) => core.group_at(line)?,
            None => rules.group_of(state.instruments().name(order.instrument))?,
        };
        let rule = rules.groups.get(group)?;
        let name = at.map(|line| state.sessions().name(line));
        let mut lines = sessions.iter();
        let line = lines.find(|it| Some(it.name.as_bytes()) == name);
        // A line that speaks TMP has no dictionary.
        let alone = at.map(|_| line.map_or_else(Reach::default, Reach::of_session));
        let reach = alone.as_ref().or_else(|| reaches.get(group))?;
        let helpers = rules.groups.iter();
        let helpers = helpers.filter(|it| at.is_none() && rule.helpers.contains(&it.name));
        let groups: Vec<_> = helpers.chain([rule]).collect();
        let user = core.user(order.session).ok().map(|user| &user.contract);
        // The order at the venue has these fields, and a replace of it keeps them, so both messages must accept them.
        let types: &[&[u8]] = if at.is_some() { &[b"D", b"G"] } else { &[b"D"] };
        let CarriedFields { header, body, .. } = state.carried.of(number);
        for part in [header, body] {
            let carried = decoder.decode_whole(part);
            let fields = carried.fields();
            let mut at = 0;
            while let Some(first) = fields.get(at) {
                let tag = first.tag;
                let mut defs = [b"D", b"G", b"S"].iter().map(|of| from.group(*of, tag));
                let def = defs.find_map(|def| def);
                let len = def.map_or(Ok(1), |def| group_len(def, &carried, &fields[at..]));
                let field = &fields[at..at + len.unwrap_or(1)];
                at += field.len();
                for it in field {
                    let value = carried.value(*it);
                    let mut groups = groups.iter();
                    let bit = request_bit(b"D");
                    let taken = groups.try_for_each(|of| check_taken(of, user, bit, it.tag, value));
                    if let Err(lost) = taken {
                        return Some(lost.tag);
                    }
                }
                let contracts = user.into_iter().chain(groups.iter().map(|it| &it.contract));
                let why = match contracts.into_iter().any(|it| it.of(tag).is_some()) {
                    true => SentBecause::Named,
                    false => SentBecause::OfTable,
                };
                let refused = |of: &&[u8]| reach.refused(client, &carried, field, why, &[of]);
                let mut refused = types.iter().map(refused);
                let first = refused.next().flatten();
                if first.is_some() && refused.all(|tag| tag.is_some()) {
                    return first;
                }
            }
        }
        None
    }

    /// Gathers a field of a request for the venue, or a NumInGroup field with its group. Returns the number of fields
    /// gathered.
    ///
    /// # Errors
    ///
    /// The field that a line refuses, or that makes the gathered fields too long.
    pub(super) fn gather(
        &mut self,
        (index, group): (SessionNo, Option<usize>),
        message: &Message<'_>,
        at: usize,
        why: SentBecause,
    ) -> Result<usize, LostField> {
        let client = self.links.clients.get(index).copied().flatten();
        let client = client.and_then(|client| self.sessions.get(client.session.0 as usize));
        let fields = &message.fields()[at..];
        let tag = fields[0].tag;
        let from = client.map(|it| &it.dictionary).ok_or(tag)?;
        let is_header = from.header().member(tag).is_some();
        let len = match from.group(message.msg_type(), tag) {
            Some(def) => group_len(def, message, fields)?,
            None => 1,
        };
        let fields = &fields[..len];
        if let Some(place) = (at..at + len).find(|place| splits(message, *place)) {
            return Err(message.fields()[place].tag.into());
        }
        let is_sent = |field: &&Field| {
            let of = self.field_use(index, group, message, **field);
            matches!(of, FieldUse::Sent(_))
        };
        // The first field is sent; each member of its group must be sent too.
        if let Some(field) = fields[1..].iter().find(|field| !is_sent(field)) {
            return Err(field.tag.into());
        }
        for place in at..at + len {
            let other = other_of_pair(message, place)?;
            // The venue gets a length and its data, or neither.
            if other.is_some_and(|other| !is_sent(&&message.fields()[other])) {
                return Err(message.fields()[place].tag.into());
            }
        }
        let reach = group.and_then(|group| self.reaches.get(group));
        // If the order was not sent yet, the order itself is sent with the fields of its replace.
        let sent_in: &[&[u8]] = match message.msg_type() {
            b"G" => match self.order_of(index, message) {
                Some(order) if order.state.is_unsent() => &[b"G", b"D"],
                _ => &[b"G"],
            },
            b"F" => &[b"F"],
            _ => &[b"D"],
        };
        let refused = |it: &Reach| it.refused(client?, message, fields, why, sent_in);
        if let Some(tag) = reach.and_then(refused) {
            return Err(tag.into());
        }
        let limit = self.rules().carried_bytes;
        let limit = match message.msg_type() {
            b"S" => limit.min(QUOTE_MAX),
            _ => limit,
        };
        let user = self.core.user(index).ok().map(|user| &user.contract);
        let bit = request_bit(message.msg_type());
        let groups = &self.rules().groups;
        let rule = group.and_then(|group| groups.get(group));
        let is_reached = |it: &&LineGroup| {
            rule.is_some_and(|rule| rule.name == it.name || rule.helpers.contains(&it.name))
        };
        for reached in groups.iter().filter(is_reached) {
            for field in fields {
                let value = message.value(*field);
                let of_user = user.and_then(|contract| contract.of(field.tag));
                let value = match of_user.map(|it| it.pass(value)) {
                    Some(Passage::Value(changed)) => changed,
                    _ => value,
                };
                check_taken(reached, user, bit, field.tag, value)?;
            }
        }
        let is_new = self.gathered.add(tag, is_header, |to| {
            let Some(contract) = user.filter(|contract| !contract.is_empty()) else {
                return to.extend_from_slice(message.raw(at..at + len));
            };
            for (place, field) in (at..).zip(fields) {
                let value = message.value(*field);
                match contract.of(field.tag).map(|it| it.pass(value)) {
                    Some(Passage::Value(changed)) if changed != value => {
                        put_field(to, field.tag, changed);
                    }
                    _ => to.extend_from_slice(message.raw(place..place + 1)),
                }
            }
        });
        let is_short = self.gathered.fields().len() <= limit;
        match is_new && is_short {
            true => Ok(len),
            false => Err(LostField {
                tag,
                why: match is_short {
                    true => LostBecause::NotSent,
                    false => LostBecause::TooLong(limit),
                },
            }),
        }
    }
}

/// The tags that count as one field with this tag, such as a text, its encoded text and the length of that.
fn one_field(of: Tag) -> impl Iterator<Item = Tag> {
    const TEXT: [Tag; 3] = [tag::TEXT, 354, 355];
    let is_text = TEXT.contains(&of);
    let others = TEXT.into_iter().filter(move |_| is_text);
    others.chain([of])
}

fn put_field(to: &mut Vec<u8>, tag: Tag, value: &[u8]) {
    to.extend_from_slice(tag.to_string().as_bytes());
    to.push(b'=');
    to.extend_from_slice(value);
    to.push(SOH);
}
