//! Finds the field of a client's request that would not reach the venue, and counts the fields of requests and reports
//! that are dropped.

use fixwire_protocol::{Field, Message, Tag, tag};

use super::Oms;
use super::requests::names;
use crate::state::tag_counts::ContractOf;
use crate::values::fields::carried::SentBecause;
use crate::values::fields::contract::{Passage, Treatment};
use crate::values::fields::field_table::{
    self, FieldClass, FieldCondition, Glance, Messages, ORDERING, goes_to_client, is_passed_on,
    is_usual_report, is_usual_request, passes, report_bit, request_bit, request_treatment,
};
use crate::values::fields::{LostBecause, LostField};
use crate::values::ids::SessionNo;
use crate::values::locate::is_value;
use crate::values::rules::LineGroup;

/// How the OMS uses a field of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum FieldUse {
    /// The OMS uses the field, or writes the field itself.
    Ours,
    /// The venue gets the field.
    Sent(SentBecause),
    /// The contract leaves the field out; each dropped field is counted.
    Dropped(ContractOf),
    /// The request is rejected because of the field.
    Refused,
}

/// For each tag below this number, a bit shows whether the field occurred before in the request.
const COMMON: usize = 256;

/// The data that the fields of a request for an order need.
#[derive(Clone, Copy, Debug)]
pub(super) enum Look {
    /// Nothing: the OMS uses every field, or writes the field itself.
    Usual,
    /// The fields that the venue gets were gathered without a closer look. The lines of this line group, and of its
    /// helpers, accept the gathered fields.
    Direct(usize),
    /// The closer look has gathered the fields that the venue gets, or has found a field that would not reach it.
    Closer(Option<LostField>),
}

impl Look {
    /// The field that would not reach the venue.
    pub(super) fn lost(self) -> Option<LostField> {
        match self {
            Self::Usual | Self::Direct(_) => None,
            Self::Closer(lost) => lost,
        }
    }

    /// Whether the request has no field for the venue.
    pub(super) fn is_usual(self) -> bool {
        matches!(self, Self::Usual)
    }

    /// Whether the request may have a field that the OMS reads only if a request has unusual fields, such as a locate.
    pub(super) fn is_closer(self) -> bool {
        matches!(self, Self::Closer(_))
    }

    /// The line group whose lines accept the gathered fields, if that needs no other check.
    pub(super) fn direct_group(self) -> Option<usize> {
        match self {
            Self::Direct(group) => Some(group),
            Self::Usual | Self::Closer(_) => None,
        }
    }
}

/// Index of the first field of a request that needs a closer look, because the table of fields does not let it pass or
/// because it occurs twice. `None` for most requests.
#[inline]
pub(super) fn first_unusual(request: &Message<'_>) -> Option<usize> {
    let message = request_bit(request.msg_type());
    let fields = request.fields();
    if is_usual_request(fields, message) {
        None
    } else {
        search(fields, message)
    }
}

/// Finds the first field that needs a closer look, field by field.
#[cold]
fn search(fields: &[Field], message: Messages) -> Option<usize> {
    let mut seen = [0_u64; COMMON / 64];
    fields.iter().position(|field| {
        let tag = field.tag as usize;
        let bit = 1 << (tag % 64);
        let repeated = match seen.get_mut(tag / 64) {
            Some(word) => core::mem::replace(word, *word | bit) & bit != 0,
            None => false,
        };
        repeated || !passes(field.tag, message)
    })
}

impl Oms {
    /// The first field of a request that would not reach the venue and that no setting drops. Counts the fields that a
    /// setting drops.
    #[inline]
    pub(super) fn not_carried(&mut self, index: SessionNo, message: &Message<'_>) -> Option<Tag> {
        let unusual = first_unusual(message)?;
        let lost = self.look_closer(index, None, message, unusual);
        lost.map(|lost| lost.tag)
    }

    /// The first field that would not reach the venue. The search begins at the first unusual field, and gathers the
    /// fields that the venue gets.
    #[cold]
    pub(super) fn look_closer(
        &mut self,
        index: SessionNo,
        route: Option<SessionNo>,
        message: &Message<'_>,
        from: usize,
    ) -> Option<LostField> {
        self.gathered.clear();
        let bit = request_bit(message.msg_type());
        let fields = message.fields();
        let has_groups = matches!(message.msg_type(), b"R" | b"Z" | b"BW");
        let group = self.group_of(index, route, message);
        if bit & ORDERING != 0
            && let Some(reason) = names::other_security(self, message)
        {
            return Some(LostField {
                tag: tag::SECURITY_ID,
                why: LostBecause::Rejected(reason),
            });
        }
        let (mut at, mut is_dropped) = (from, false);
        while let Some(field) = fields.get(at) {
            let is_again = || fields[..at].iter().any(|other| other.tag == field.tag);
            at += match self.field_use(index, group, message, *field) {
                FieldUse::Ours if !has_groups && is_again() => return Some(field.tag.into()),
                FieldUse::Ours => 1,
                FieldUse::Dropped(_) => {
                    is_dropped = true;
                    1
                }
                FieldUse::Sent(why) => match self.gather((index, group), message, at, why) {
                    Ok(fields) => fields,
                    Err(lost) => return Some(lost),
                },
                FieldUse::Refused => return Some(field.tag.into()),
            };
        }
        if self.adds_fields && bit & ORDERING != 0 {
            self.gather_sets(index, group, message);
            if let Err(lost) = self.gather_of_order(index, group, message) {
                return Some(lost);
            }
        }
        if bit & ORDERING != 0
            && let Some(lost) = self.lost_in_conversion(index, group, message)
        {
            return Some(lost);
        }
        if let Some(lost) = self.above_quantity(index, message) {
            return Some(lost);
        }
        // The fields count as dropped only when the whole request is accepted.
        for field in fields[from..].iter().filter(|_| is_dropped) {
            if let FieldUse::Dropped(by) = self.field_use(index, group, message, *field) {
                *self.dropped.requests.entry((by, field.tag)).or_default() += 1;
            }
        }
        None
    }

    /// How the OMS treats a field of a request. The contract of the user decides, else the contract of the line group,
    /// else the table of fields.
    pub(super) fn field_use(
        &self,
        index: SessionNo,
        group: Option<usize>,
        message: &Message<'_>,
        field: Field,
    ) -> FieldUse {
        let bit = request_bit(message.msg_type());
        if self.is_carried((index, group), message, field, bit) {
            return FieldUse::Ours;
        }
        // A contract names a field for the messages in which the table lets it be named.
        let row = field_table::request_field(field.tag, bit);
        if row.is_some_and(|row| row.class == FieldClass::Never) {
            return FieldUse::Refused;
        }
        let user = self.core.user(index).ok().map(|user| &user.contract);
        let of_group = group.and_then(|group| {
            let rule = self.rules().groups.get(group)?;
            Some((&rule.contract, ContractOf::Group(group)))
        });
        let contracts = [user.map(|it| (it, ContractOf::User(index))), of_group];
        let mut value = message.value(field);
        let mut found = None;
        for (contract, whose) in contracts.into_iter().flatten() {
            let Some(treatment) = contract.of(field.tag) else {
                continue;
            };
            match treatment.pass(value) {
                Passage::Value(changed) => value = changed,
                // Without the field the answer would have more instruments than the client asked for.
                Passage::Dropped if matches!(message.msg_type(), b"c" | b"x") => {
                    return FieldUse::Refused;
                }
                Passage::Dropped => return FieldUse::Dropped(whose),
                Passage::Refused => return FieldUse::Refused,
            }
            found = Some(FieldUse::Sent(SentBecause::Named));
        }
        // The OMS writes the field of a number pool itself.
        let is_number = self.rules().pools.iter().any(|it| it.tag == field.tag);
        let rule = group.and_then(|group| self.rules().groups.get(group));
        let fills_tmp = |rule: &LineGroup| rule.over_tmp && rule.tmp_fields.of(field.tag).is_some();
        match request_treatment(field.tag, bit) {
            _ if bit & ORDERING == 0 || is_number => FieldUse::Refused,
            Some(Treatment::Carry) => found.unwrap_or(FieldUse::Sent(SentBecause::OfTable)),
            _ if rule.is_some_and(fills_tmp) => FieldUse::Sent(SentBecause::Named),
            _ => found.unwrap_or(FieldUse::Refused),
        }
    }

    /// The line group of a request. The line group is the group that the condition of a route chose for the request or
    /// its order; else the group of the request's symbol; else the group of the order's symbol.
    pub(super) fn group_of(
        &self,
        index: SessionNo,
        route: Option<SessionNo>,
        message: &Message<'_>,
    ) -> Option<usize> {
        let state = self.core.state();
        let named = message.get(tag::SYMBOL);
        let order = || {
            let original = message.get(tag::ORIG_CL_ORD_ID);
            let id = original.or_else(|| message.get(tag::CL_ORD_ID))?;
            state.orders().get(state.used(index, id)?)
        };
        let of_order = || match state.routed.is_empty() {
            true => None,
            false => state.routed.of(order()?.number),
        };
        if let Some(line) = route.or_else(of_order) {
            return self.core.group_at(line);
        }
        let symbol = || Some(state.instruments().name(order()?.instrument));
        self.rules().group_of(named.or_else(symbol)?)
    }

    fn is_carried(
        &self,
        (index, group): (SessionNo, Option<usize>),
        message: &Message<'_>,
        field: Field,
        bit: Messages,
    ) -> bool {
        let (tag, value) = (field.tag, message.value(field));
        if passes(tag, bit) || self.is_own_tag((index, group), message, tag) {
            return true;
        }
        let Some(row) = field_table::request_field(tag, bit) else {
            return false;
        };
        match row.class {
            FieldClass::Checked(FieldCondition::Security) => {
                let user = self.core.user(index).ok().map(|user| &user.contract);
                let of_group = group.and_then(|group| self.rules().groups.get(group));
                let contracts = [user, of_group.map(|group| &group.contract)];
                let mut contracts = contracts.into_iter().flatten();
                !contracts.any(|contract| contract.of(tag).is_some())
                    && names::is_of_symbol(self, message, tag, value)
            }
            FieldClass::Checked(condition) => {
                self.meets((index, group), message, (condition, tag, value))
            }
            FieldClass::Session | FieldClass::Carried | FieldClass::Set | FieldClass::Used => true,
            FieldClass::Passed => self.is_identity(index, tag, value),
            FieldClass::Named
            | FieldClass::Instruction
            | FieldClass::Listed
            | FieldClass::Refused
            | FieldClass::Never
            | FieldClass::Counted => false,
        }
    }

    fn meets(
        &self,
        (index, group): (SessionNo, Option<usize>),
        message: &Message<'_>,
        (condition, tag, value): (FieldCondition, Tag, &[u8]),
    ) -> bool {
        let state = self.core.state();
        let symbol = message.get(tag::SYMBOL).unwrap_or_default();
        let group = group.and_then(|group| self.rules().groups.get(group));
        match condition {
            FieldCondition::Identity => self.is_identity(index, tag, value),
            FieldCondition::ExpireDate => {
                message.msg_type() == b"G" || message.get(tag::TIME_IN_FORCE) == Some(b"6")
            }
            FieldCondition::Destination => group.is_some_and(|group| {
                let named = group.ex_destination.as_deref();
                named.is_some_and(|named| named.as_bytes() == value)
            }),
            FieldCondition::Spread => {
                let instrument = state.instruments().find(symbol);
                let is_spread = instrument.is_some_and(|it| state.spreads.legs(it).is_some());
                (is_spread && value == b"MLEG") || names::is_of_symbol(self, message, tag, value)
            }
            FieldCondition::Security => names::is_of_symbol(self, message, tag, value),
            FieldCondition::OrderId => {
                let id = match message.msg_type() {
                    b"H" => tag::CL_ORD_ID,
                    _ => tag::ORIG_CL_ORD_ID,
                };
                let named = message.get(id);
                let number = named.and_then(|id| state.used(index, id));
                // A request for an unknown order is refused because of that, not because of its fields.
                number
                    .is_none_or(|number| fixwire_protocol::value::uint(value).ok() == Some(number))
            }
            FieldCondition::Parents => self.core.has_parents() && self.core.may_have_parents(index),
            FieldCondition::Trigger => true,
            FieldCondition::OverFix => group.is_none_or(|group| !group.over_tmp),
            // HandlInst(21) is read with the other values of the request.
            FieldCondition::HandlInst
            | FieldCondition::Price
            | FieldCondition::Stop
            | FieldCondition::OneSymbol => true,
            FieldCondition::Locate => {
                let named = message.get(tag::ORIG_CL_ORD_ID);
                let number = named.and_then(|id| state.used(index, id));
                // A request for an unknown order is refused because of that, not because of its fields.
                number.is_none_or(|it| is_value(state.locates.of(it), tag, value))
            }
        }
    }

    /// Whether a header field with this value is part of the identity of a client's session.
    fn is_identity(&self, index: SessionNo, tag: Tag, value: &[u8]) -> bool {
        let client = self.links.clients.get(index).copied().flatten();
        let session = client.and_then(|client| self.sessions.get(client.session.0 as usize));
        let mut ids = session.into_iter().flat_map(|session| &session.ids);
        ids.any(|(known, id)| *known == tag && id.as_bytes() == value)
    }

    /// Whether a tag is one of `own_tags`, or the tag of a number pool.
    fn is_own_tag(
        &self,
        (index, group): (SessionNo, Option<usize>),
        message: &Message<'_>,
        tag: Tag,
    ) -> bool {
        let is_pool = || {
            let own = self.core.own_number_tag(index, group)?;
            let symbol = message.get(tag::SYMBOL)?;
            self.core.state().instruments().find(symbol).map(|_| own)
        };
        if self.rules().own_tags.has(message.msg_type(), tag) {
            return true;
        }
        message.msg_type() == b"D" && is_pool() == Some(tag)
    }

    /// Counts the fields of a venue's message that clients do not get. Returns whether the message has other fields,
    /// which clients get unchanged.
    #[inline]
    pub(super) fn count_report(&mut self, line: Option<SessionNo>, message: &Message<'_>) -> bool {
        let bit = report_bit(message.msg_type());
        !is_usual_report(message.fields(), bit) && self.count_fields(line, message, bit)
    }

    /// As [`count_report`](Self::count_report), for a message whose fields were all seen.
    #[inline]
    pub(super) fn count_seen(
        &mut self,
        line: SessionNo,
        message: &Message<'_>,
        seen: &Glance,
    ) -> bool {
        !seen.is_usual_report()
            && self.count_fields(Some(line), message, report_bit(message.msg_type()))
    }

    #[cold]
    fn count_fields(
        &mut self,
        line: Option<SessionNo>,
        message: &Message<'_>,
        bit: Messages,
    ) -> bool {
        let line = line.filter(|_| matches!(message.msg_type(), b"8" | b"9"));
        let settings = &self.report_settings;
        let is_carried = |tag| line.is_some_and(|line| settings.carries(line, tag));
        let mut passes = false;
        for field in message.fields() {
            if goes_to_client(field.tag, bit) || is_carried(field.tag) {
                passes = true;
            } else if !is_passed_on(field.tag, bit) {
                self.dropped.reports.add(field.tag);
            }
        }
        passes
    }
}
