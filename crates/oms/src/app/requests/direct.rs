//! Finds which fields of requests the venue gets without a closer look, for each client, line group and message.
//!
//! The closer look (`fields.rs`, `carry.rs`) says what becomes of a field; a table lists a field only if the closer look
//! would ask nothing but the value of the field. In builds with debug assertions, each request that a table lets pass
//! also gets the closer look, which must have the same result.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::decode::DATA_PAIRS;
use fixwire_protocol::dictionary::GroupDef;
use fixwire_protocol::{Dictionary, Tag};

use crate::app::Oms;
use crate::app::session::{OmsSession, Reach};
use crate::values::fields::carried::SentBecause;
use crate::values::fields::contract::{Contract, ContractKey, Treatment};
use crate::values::fields::direct::{
    DirectFields, DirectMember, DirectRequests, DirectTables, DirectUse, DirectValue,
};
use crate::values::fields::field_table::{
    DISPLAYED, FieldClass, Messages, REQUEST_FIELDS, is_instruction, passes, request_bit,
    request_field, request_treatment,
};
use crate::values::fields::{QUOTE_MAX, check_taken};
use crate::values::ids::{SessionNo, Table};
use crate::values::rules::LineGroup;

#[cfg(test)]
mod tests;

/// A request, and the messages in which the venue gets its fields.
struct SentIn {
    request: &'static [u8],
    /// A replace of an order that was not sent yet changes the order itself, which is then sent with the fields of the
    /// replace. A quote is sent as two orders.
    sent_in: &'static [&'static [u8]],
}

/// In the order of [`DirectRequests`].
const REQUESTS: [SentIn; 4] = [
    SentIn {
        request: b"D",
        sent_in: &[b"D"],
    },
    SentIn {
        request: b"G",
        sent_in: &[b"G", b"D"],
    },
    SentIn {
        request: b"F",
        sent_in: &[b"F"],
    },
    SentIn {
        request: b"S",
        sent_in: &[b"D"],
    },
];

/// Makes the tables, at the start and after a reload. Clients that send the same fields share a table.
pub(crate) fn find_tables(oms: &Oms) -> DirectTables {
    let names = oms.core.state().sessions();
    let mut tables: Table<SessionNo, Vec<Arc<DirectRequests>>> =
        names.iter().map(|_| Vec::new()).collect();
    let mut values = KnownValues::default();
    let mut made: Vec<(SessionNo, Sender<'_>)> = Vec::new();
    for (session, index) in oms.sessions.iter().zip(&oms.indices) {
        let Some((number, user)) = index.and_then(|it| Some((it, oms.core.user(it).ok()?))) else {
            continue;
        };
        let sender = Sender {
            session,
            contract: &user.contract,
        };
        let known = made.iter().find(|(_, other)| other.sends_as(&sender));
        let of_client = match known {
            Some((other, _)) => tables.get(*other).cloned().unwrap_or_default(),
            None => {
                made.push((number, sender));
                let groups = 0..oms.rules().groups.len();
                groups
                    .map(|group| Arc::new(tables_of(oms, sender, group, &mut values)))
                    .collect()
            }
        };
        tables[number] = of_client;
    }
    DirectTables {
        of: tables,
        ..DirectTables::default()
    }
}

/// A client, and its settings for fields.
#[derive(Clone, Copy)]
struct Sender<'a> {
    session: &'a OmsSession,
    contract: &'a Contract,
}

impl Sender<'_> {
    /// Whether both clients have the same tables.
    fn sends_as(&self, other: &Self) -> bool {
        let (one, two) = (self.session, other.session);
        let tags = |session: &OmsSession| session.ids.iter().map(|id| id.0).collect::<Vec<Tag>>();
        Arc::ptr_eq(&one.dictionary, &two.dictionary)
            && one.version == two.version
            && self.contract == other.contract
            && tags(one) == tags(two)
    }
}

/// The values that the lines of a group accept, by the place of the client's dictionary, the group and the tag.
type KnownValues = BTreeMap<(usize, usize, Tag), Option<DirectValue>>;

/// The tables of a client and a line group.
fn tables_of(
    oms: &Oms,
    sender: Sender<'_>,
    group: usize,
    values: &mut KnownValues,
) -> DirectRequests {
    let rules = oms.rules();
    let rule = &rules.groups[group];
    let lines = oms
        .reaches
        .get(group)
        .and_then(|reach| Some((reach, reach.unconverted(sender.session.version)?)));
    let Some((reach, lines)) = lines.filter(|_| sender.contract.sets().next().is_none()) else {
        return [const { None }; REQUESTS.len()];
    };
    let helpers = rules.groups.iter();
    let helpers = helpers.filter(|it| it.name != rule.name && rule.helpers.contains(&it.name));
    let groups: Vec<&LineGroup> = core::iter::once(rule).chain(helpers).collect();
    REQUESTS.map(|SentIn { request, sent_in }| {
        // A replace may get fields of its order, which may be at a venue of another group.
        let merges = |it: &LineGroup| it.merges || it.over_tmp;
        if request == b"G" && rules.groups.iter().any(merges) {
            return None;
        }
        let limit = match request {
            b"S" => rules.carried_bytes.min(QUOTE_MAX),
            _ => rules.carried_bytes,
        };
        let mut finder = DirectFinder {
            oms,
            sender,
            groups: &groups,
            group,
            reach,
            lines: &lines,
            request,
            sent_in,
            bit: request_bit(request),
            values,
        };
        let mut table = DirectFields::new(lines.clone(), limit);
        for tag in finder.tags() {
            if let Some(of) = finder.use_of(tag) {
                table.add(tag, of);
            }
        }
        Some(table)
    })
}

/// Finds what is done with each field of a request.
struct DirectFinder<'a> {
    oms: &'a Oms,
    sender: Sender<'a>,
    /// The line group and its helpers.
    groups: &'a [&'a LineGroup],
    group: usize,
    reach: &'a Reach,
    lines: &'a [Arc<Dictionary>],
    request: &'static [u8],
    sent_in: &'static [&'static [u8]],
    bit: Messages,
    values: &'a mut KnownValues,
}

impl DirectFinder<'_> {
    /// The tags that the table of fields or a contract names for the request.
    fn tags(&self) -> BTreeSet<Tag> {
        let rows = REQUEST_FIELDS.iter();
        let rows = rows.filter(|row| row.messages & self.bit != 0);
        let rows = rows.flat_map(|row| row.tags).copied();
        let contracts = self.groups.iter().map(|group| &group.contract);
        let contracts = contracts.chain([self.sender.contract]);
        rows.chain(contracts.flat_map(|it| it.tags(ContractKey::Carry)))
            .collect()
    }

    /// The treatment of a field; `None` if it needs a closer look.
    fn use_of(&mut self, tag: Tag) -> Option<DirectUse> {
        if self.is_own(tag) {
            return None;
        }
        if passes(tag, self.bit) {
            return Some(DirectUse::Ours);
        }
        let why = self.why_sent(tag)?;
        if self.reach.has_identity(tag) {
            return None;
        }
        let from = &self.sender.session.dictionary;
        let is_header = from.header().member(tag).is_some();
        if let Some(def) = from.group(self.request, tag) {
            return (!is_header).then(|| self.group_of(tag, def, why))?;
        }
        let fits = |line: &Dictionary, msg_type: &[u8]| {
            let part = match is_header {
                true => Some(line.header()),
                false => line.message(msg_type),
            };
            match part.and_then(|part| part.member(tag)) {
                Some(member) => member.group.is_none() && line.field(tag).is_some(),
                None => why == SentBecause::Named && !is_instruction(tag),
            }
        };
        let fits_in = |line: &Arc<Dictionary>| self.sent_in.iter().all(|it| fits(line, it));
        if !self.lines.iter().all(fits_in) {
            return None;
        }
        let value = self.value_of(tag, why)?;
        Some(match is_header {
            true => DirectUse::Header(value),
            false => DirectUse::Body(value),
        })
    }

    /// A group that all lines define as the client does.
    fn group_of(&mut self, tag: Tag, def: &GroupDef, why: SentBecause) -> Option<DirectUse> {
        let mut places = self.lines.iter().flat_map(|line| {
            let messages = self.sent_in.iter().map(|it| line.message(it));
            messages.map(|it| it.and_then(|it| it.member(tag)))
        });
        let is_same = places.all(|member| match member {
            Some(member) => member.group.as_ref().is_some_and(|it| is_same(it, def)),
            None => why == SentBecause::Named && !is_instruction(tag),
        });
        let lines = self.lines;
        let is_known = |tag| lines.iter().all(|line| line.field(tag).is_some());
        if !is_same || !is_known(tag) {
            return None;
        }
        let members = def.members().iter().map(|member| DirectMember {
            tag: member.tag,
            value: match member.group {
                None if is_known(member.tag) => self
                    .why_sent(member.tag)
                    .and_then(|_| self.value_of(member.tag, why)),
                None | Some(_) => None,
            },
        });
        let members = members.collect();
        Some(DirectUse::Group(self.value_of(tag, why)?, members))
    }

    /// Whether the OMS reads the field only with certain settings, or for certain values.
    fn is_own(&self, tag: Tag) -> bool {
        let (rules, state) = (self.oms.rules(), self.oms.core.state());
        rules.own_tags.has(self.request, tag)
            || rules.pools.iter().any(|pool| pool.tag == tag)
            || state.pools.numbered().any(|(_, pool)| pool.tag == tag)
            || self.sender.session.ids.iter().any(|id| id.0 == tag)
    }

    /// Why the venue gets the field, whatever its value is; `None` if it does not, or gets another value.
    fn why_sent(&self, tag: Tag) -> Option<SentBecause> {
        let class = request_field(tag, self.bit).map(|row| row.class);
        let is_ours = matches!(
            class,
            Some(
                FieldClass::Session
                    | FieldClass::Carried
                    | FieldClass::Set
                    | FieldClass::Used
                    | FieldClass::Checked(_)
                    | FieldClass::Never
            )
        );
        if is_ours || self.is_own(tag) || DISPLAYED.contains(&tag) || self.is_data(tag) {
            return None;
        }
        let user = self.sender.contract;
        let contracts = self.groups.iter().map(|group| &group.contract);
        let mut contracts = contracts.chain([user]).map(|it| it.of(tag));
        if contracts.any(|of| of.is_some_and(|of| of != Treatment::Carry)) {
            return None;
        }
        let mut groups = self.groups.iter();
        let is_taken =
            groups.all(|group| check_taken(group, Some(user), self.bit, tag, b"").is_ok());
        let of_group = &self.oms.rules().groups[self.group].contract;
        let is_named = user.of(tag).is_some() || of_group.of(tag).is_some();
        let is_passed = request_treatment(tag, self.bit) == Some(Treatment::Carry);
        match (is_taken, is_named, is_passed) {
            (true, true, _) => Some(SentBecause::Named),
            (true, false, true) => Some(SentBecause::OfTable),
            (false, _, _) | (true, false, false) => None,
        }
    }

    /// Whether the value may contain SOH, or states the length of such a value, in one of the dictionaries.
    fn is_data(&self, tag: Tag) -> bool {
        let mut pairs = DATA_PAIRS.iter();
        let is_pair = pairs.any(|(length, data)| *length == tag || *data == tag);
        let mut fields = self.oms.dictionaries.iter().map(|it| it.field(tag));
        is_pair || fields.any(|field| field.is_some_and(|it| it.kind.is_data()))
    }

    /// The values that all lines accept; `None` if the type of the field differs.
    fn value_of(&mut self, tag: Tag, why: SentBecause) -> Option<DirectValue> {
        if why == SentBecause::Named {
            return Some(DirectValue::AsSent);
        }
        let from = &self.sender.session.dictionary;
        let mut all = self.oms.dictionaries.iter();
        let place = all.position(|it| Arc::ptr_eq(it, from))?;
        let lines = self.lines;
        let value = self
            .values
            .entry((place, self.group, tag))
            .or_insert_with(|| {
                let kind = from.field(tag)?.kind;
                let fields = lines.iter().filter_map(|line| line.field(tag));
                let same = fields.filter(|field| field.kind == kind);
                (same.clone().count() == lines.len()).then(|| DirectValue::of(same))
            });
        *value
    }
}

/// Whether two groups have the same fields in the same order, also within each other.
fn is_same(one: &GroupDef, other: &GroupDef) -> bool {
    let (one, other) = (one.members(), other.members());
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| {
            let groups = (one.group.as_deref(), other.group.as_deref());
            one.tag == other.tag
                && match groups {
                    (None, None) => true,
                    (Some(one), Some(other)) => is_same(one, other),
                    (Some(_), None) | (None, Some(_)) => false,
                }
        })
}
