//! Names of instruments and accounts at a venue. Writes the names of an order, and finds the instruments and accounts
//! that a message names.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::{Body, Decoder, Dictionary, Field, Message, SOH, Tag, tag};

use crate::state::OmsState;
use crate::state::orders::Order;
use crate::state::orders::venue_names::{LineNames, value_of};
use crate::values::fields::carried::each_field;
use crate::values::ids::{AccountNo, InstrumentNo, SessionNo};
use crate::values::rules::SecurityIndex;

/// MsgType(35) of the requests to venues that have names.
const REQUESTS: [&[u8]; 5] = [b"D", b"G", b"F", b"H", b"R"];

/// For each of [`REQUESTS`], the tags of names that the line's dictionary does not have in the request.
#[derive(Clone, Debug, Default)]
pub(crate) struct MissingTags(pub [Vec<Tag>; REQUESTS.len()]);

impl MissingTags {
    /// The tags that the names of a line use and that its dictionary does not have in a request.
    pub(crate) fn of(names: &LineNames, dictionary: &Dictionary) -> Self {
        let instruments = names.instruments.values();
        let all = instruments.chain(names.accounts.values());
        let mut tags: Vec<Tag> = all
            .flat_map(|fields| each_field(fields).map(|field| field.tag))
            .collect();
        tags.sort_unstable();
        tags.dedup();
        Self(REQUESTS.map(|msg_type| {
            let lacks = |tag: &&Tag| !has_field(dictionary, msg_type, **tag);
            tags.iter().filter(lacks).copied().collect()
        }))
    }

    fn in_request(&self, msg_type: &[u8]) -> &[Tag] {
        let mut all = REQUESTS.iter().zip(&self.0);
        let found = all.find(|(known, _)| **known == msg_type);
        found.map_or(&[], |(_, tags)| tags)
    }
}

/// Whether a message, or a group of it, has a field in the dictionary.
pub(crate) fn has_field(dictionary: &Dictionary, msg_type: &[u8], tag: Tag) -> bool {
    dictionary.message(msg_type).is_some_and(|message| {
        message.member(tag).is_some()
            || message.members().iter().any(|member| {
                let group = member.group.as_ref();
                group.is_some_and(|group| crate::values::fields::carried::has_member(group, tag))
            })
    })
}

/// A line, as needed for the names in requests that are sent on it.
#[derive(Clone, Copy)]
pub(crate) struct NamingLine<'a> {
    /// The number of its session.
    pub number: SessionNo,
    pub missing: &'a MissingTags,
}

/// The fields that name the instrument and the account of an order in a request to its venue.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    instrument: Option<&'a [u8]>,
    account: Option<&'a [u8]>,
    /// Tags that the request does not have in the line's dictionary.
    missing: &'a [Tag],
}

impl<'a> Named<'a> {
    const PLAIN: Self = Self {
        instrument: None,
        account: None,
        missing: &[],
    };

    #[inline]
    pub(crate) fn of(
        state: &'a OmsState,
        order: &Order,
        msg_type: &[u8],
        line: NamingLine<'a>,
    ) -> Self {
        if state.venue_names.is_empty() {
            return Self::PLAIN;
        }
        Self {
            account: state.venue_names.account(line.number, order.account),
            ..Self::of_instrument(state, order.instrument, msg_type, line)
        }
    }

    pub(crate) fn of_instrument(
        state: &'a OmsState,
        instrument: InstrumentNo,
        msg_type: &[u8],
        line: NamingLine<'a>,
    ) -> Self {
        Self {
            instrument: state.venue_names.instrument(line.number, instrument),
            account: None,
            missing: line.missing.in_request(msg_type),
        }
    }

    /// Whether both names are the OMS's own names.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.instrument.is_none() && self.account.is_none()
    }

    /// Whether the account has the OMS's own name.
    #[inline]
    pub(crate) fn is_own_account(&self) -> bool {
        self.account.is_none()
    }

    /// Whether a field is part of the names.
    pub(crate) fn has(&self, tag: Tag) -> bool {
        let names = [self.instrument, self.account].into_iter().flatten();
        let mut fields = names.flat_map(each_field);
        fields.any(|field| field.tag == tag)
    }

    /// Writes Symbol(55) and the other fields that name an instrument at the venue.
    #[inline]
    pub(crate) fn put_instrument(&self, state: &OmsState, of: InstrumentNo, out: &mut Body<'_>) {
        match self.instrument {
            None => {
                out.field(tag::SYMBOL, state.instruments().name(of));
            }
            Some(fields) => self.put(fields, out),
        }
    }

    /// Writes Account(1) and the other fields that name an account at the venue.
    #[inline]
    pub(crate) fn put_account(&self, state: &OmsState, of: AccountNo, out: &mut Body<'_>) {
        match self.account {
            None => {
                out.field(tag::ACCOUNT, state.accounts().name(of));
            }
            Some(fields) => self.put(fields, out),
        }
    }

    /// Writes the fields that name an account at the venue; nothing for an account with the name of the OMS.
    #[inline]
    pub(crate) fn put_venue_account(&self, out: &mut Body<'_>) {
        if let Some(fields) = self.account {
            self.put(fields, out);
        }
    }

    fn put(&self, fields: &[u8], out: &mut Body<'_>) {
        if self.missing.is_empty() {
            out.encoded(fields);
            return;
        }
        for field in each_field(fields).filter(|field| !self.missing.contains(&field.tag)) {
            out.encoded(field.bytes);
        }
    }
}

/// The tags of the fields by which a message names an instrument.
#[derive(Clone, Copy, Debug)]
struct InstrumentTags {
    symbol: Tag,
    id: Tag,
    source: Tag,
    exchange: Tag,
}

/// The tags in the message itself and in entries of groups, then the tags in a leg.
const INSTRUMENTS: [InstrumentTags; 2] = [
    InstrumentTags {
        symbol: tag::SYMBOL,
        id: tag::SECURITY_ID,
        source: tag::SECURITY_ID_SOURCE,
        exchange: tag::SECURITY_EXCHANGE,
    },
    InstrumentTags {
        symbol: tag::LEG_SYMBOL,
        id: 602,
        source: 603,
        exchange: 616,
    },
];

/// The values by which a message names an instrument.
#[derive(Clone, Copy, Debug, Default)]
struct SaidName<'a> {
    symbol: Option<&'a [u8]>,
    id: Option<&'a [u8]>,
    source: Option<&'a [u8]>,
    exchange: Option<&'a [u8]>,
}

impl<'a> SaidName<'a> {
    fn of(message: &Message<'a>, fields: &[Field], tags: InstrumentTags) -> Self {
        let get = |tag: Tag| {
            let found = fields.iter().find(|field| field.tag == tag);
            found.map(|field| message.value(*field))
        };
        Self {
            symbol: get(tags.symbol),
            id: get(tags.id),
            source: get(tags.source),
            exchange: get(tags.exchange),
        }
    }

    /// Whether these values name the instrument that the fields of a row name. SecurityID(48) decides if both have one
    /// of the same source, else Symbol(55). In either case SecurityExchange(207) must be equal if both have it.
    fn is(&self, fields: &[u8]) -> bool {
        let exchange = value_of(fields, tag::SECURITY_EXCHANGE);
        let same_exchange = match (self.exchange, exchange) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        if let (Some(id), Some(known)) = (self.id, value_of(fields, tag::SECURITY_ID)) {
            let source = value_of(fields, tag::SECURITY_ID_SOURCE);
            if self.source.is_none() || self.source == source {
                return id == known && same_exchange;
            }
        }
        self.symbol == value_of(fields, tag::SYMBOL) && same_exchange
    }
}

/// Finds the instruments and accounts of the OMS that messages on a line name.
#[derive(Debug, Default)]
pub(crate) struct VenueNameIndex {
    symbols: BTreeMap<Box<[u8]>, Vec<InstrumentNo>>,
    ids: BTreeMap<Box<[u8]>, Vec<InstrumentNo>>,
    accounts: BTreeMap<Box<[u8]>, Vec<AccountNo>>,
}

impl VenueNameIndex {
    /// The index of the names on a line.
    pub(crate) fn of(names: &LineNames) -> Self {
        let mut index = Self::default();
        for (of, fields) in &names.instruments {
            if let Some(symbol) = value_of(fields, tag::SYMBOL) {
                index.symbols.entry(symbol.into()).or_default().push(*of);
            }
            if let Some(id) = value_of(fields, tag::SECURITY_ID) {
                index.ids.entry(id.into()).or_default().push(*of);
            }
        }
        for (of, fields) in &names.accounts {
            if let Some(account) = value_of(fields, tag::ACCOUNT) {
                index.accounts.entry(account.into()).or_default().push(*of);
            }
        }
        index
    }
}

/// Symbol(55) of a request; `None` for a symbol without a meaning, where SecurityID(48) names the instrument.
pub(crate) fn symbol_of<'a>(message: &Message<'a>) -> Option<&'a [u8]> {
    let symbol = message.get(tag::SYMBOL);
    symbol.filter(|symbol| !matches!(*symbol, b"" | b"[N/A]"))
}

/// The symbol of the instrument that SecurityID(48) and SecurityIDSource(22) of a request name.
pub(crate) fn symbol_by_id<'i>(index: &'i SecurityIndex, message: &Message<'_>) -> Option<&'i str> {
    let source = message.get(tag::SECURITY_ID_SOURCE)?;
    index.find(source, message.get(tag::SECURITY_ID)?)
}

/// Writes a request that names its instrument by SecurityID(48) alone with this Symbol(55).
pub(crate) fn write_with_symbol(message: &Message<'_>, symbol: &[u8], to: &mut Vec<u8>) {
    let first = match message.has(tag::SYMBOL) {
        true => tag::SYMBOL,
        false => tag::SECURITY_ID,
    };
    let mut fields = message.fields().iter();
    let place = fields.position(|field| field.tag == first);
    for (at, field) in message.fields().iter().enumerate() {
        let is_place = place == Some(at);
        if is_place {
            put(to, tag::SYMBOL, &[symbol]);
        }
        if !is_place || field.tag != tag::SYMBOL {
            to.extend_from_slice(message.raw(at..at + 1));
        }
    }
}

/// Buffers of a message whose names are changed.
pub(crate) struct Renamed {
    pub bytes: Vec<u8>,
    pub changes: Vec<NameChange>,
    pub decoder: Decoder,
}

impl Renamed {
    /// Allocates the memory that most messages need.
    pub(crate) fn new(dictionaries: &[Arc<Dictionary>]) -> Self {
        let mut decoder = Decoder::with_capacity(256);
        dictionaries.iter().for_each(|it| decoder.learn(it));
        Self {
            bytes: Vec::with_capacity(4 << 10),
            changes: Vec::with_capacity(64),
            decoder,
        }
    }
}

/// A message of a venue, and what its line names.
pub(crate) struct VenueMessage<'a> {
    pub state: &'a OmsState,
    pub names: &'a LineNames,
    pub index: &'a VenueNameIndex,
    /// The order that the message names by its ids.
    pub order: Option<&'a Order>,
}

/// Suffix of a venue's name that is no name on this line, although the OMS has the same name. Names of the OMS have no
/// blanks, so the two cannot be confused.
const OF_VENUE: &[u8] = b" (venue)";

impl VenueMessage<'_> {
    /// Writes the message with the names of the OMS: Symbol(55) or LegSymbol(600) without the other fields of the
    /// instrument, and Account(1).
    pub(crate) fn write(
        &self,
        message: &Message<'_>,
        changes: &mut Vec<NameChange>,
        to: &mut Vec<u8>,
    ) {
        let fields = message.fields();
        changes.clear();
        for tags in INSTRUMENTS {
            self.instruments(message, tags, changes);
        }
        for (at, field) in fields.iter().enumerate() {
            if field.tag == tag::ACCOUNT
                && let Some(what) = self.account(message, message.value(*field))
            {
                changes.push(NameChange { at, what });
            }
        }
        changes.sort_unstable_by_key(|change| change.at);
        let mut changes = changes.iter().peekable();
        for (at, field) in fields.iter().enumerate() {
            let change = changes.next_if(|change| change.at == at);
            match change.map(|change| change.what) {
                None => to.extend_from_slice(message.raw(at..at + 1)),
                Some(Change::Left) => {}
                Some(Change::Symbol(tag, of)) => {
                    put(to, tag, &[self.state.instruments().name(of)]);
                }
                Some(Change::Account(of)) => {
                    put(to, tag::ACCOUNT, &[self.state.accounts().name(of)]);
                }
                Some(Change::Foreign) => {
                    put(to, field.tag, &[message.value(*field), OF_VENUE]);
                }
            }
        }
    }

    /// Changes of all instruments that a message names with these tags.
    ///
    /// The fields of an instrument begin with its symbol, or in a message without symbols with its SecurityID(48). In
    /// MarketDataIncrementalRefresh(X), each entry of NoMDEntries(268) has an instrument of its own, named by either
    /// field.
    fn instruments(
        &self,
        message: &Message<'_>,
        tags: InstrumentTags,
        changes: &mut Vec<NameChange>,
    ) {
        let fields = message.fields();
        let has_entries = tags.symbol == tag::SYMBOL && message.msg_type() == b"X";
        let has_symbol = fields.iter().any(|field| field.tag == tags.symbol);
        let first = match has_symbol {
            _ if has_entries => tag::MD_UPDATE_ACTION,
            true => tags.symbol,
            false => tags.id,
        };
        let next = |from: usize| {
            let mut rest = fields.iter().skip(from);
            rest.position(|field| field.tag == first)
                .map(|at| from + at)
        };
        // Fields that precede the first instrument may belong to it.
        let (mut from, mut begins) = (0, next(0));
        while let Some(start) = begins {
            begins = next(start + 1);
            let until = begins.unwrap_or(fields.len());
            if has_entries {
                from = start;
            }
            let place = |of: Tag| (start..until).find(|at| fields[*at].tag == of);
            let Some(start) = place(tags.symbol).or_else(|| place(tags.id)) else {
                from = until;
                continue;
            };
            let said = SaidName::of(message, &fields[from..until], tags);
            match self.instrument(&said) {
                Some(of) => {
                    let what = Change::Symbol(tags.symbol, of);
                    changes.push(NameChange { at: start, what });
                    let others = [tags.id, tags.source, tags.exchange];
                    let others = (from..until)
                        .filter(|at| *at != start && others.contains(&fields[*at].tag));
                    let what = Change::Left;
                    changes.extend(others.map(|at| NameChange { at, what }));
                }
                None => {
                    let known = said.symbol.and_then(|it| self.state.instruments().find(it));
                    if known.is_some() {
                        let what = Change::Foreign;
                        changes.push(NameChange { at: start, what });
                    }
                }
            }
            from = until;
        }
    }

    fn instrument(&self, said: &SaidName<'_>) -> Option<InstrumentNo> {
        let own = |of: InstrumentNo| match self.names.instruments.get(&of) {
            Some(fields) => said.is(fields),
            None => said.symbol == Some(self.state.instruments().name(of)),
        };
        if let Some(order) = self.order.filter(|order| own(order.instrument)) {
            return Some(order.instrument);
        }
        let of_order = self
            .order
            .and_then(|it| self.state.spreads.legs(it.instrument));
        let legs = of_order.into_iter().flatten().map(|leg| leg.instrument);
        let mut legs = legs.filter(|leg| own(*leg));
        if let (Some(leg), None) = (legs.next(), legs.next()) {
            return Some(leg);
        }
        let by_id = said.id.and_then(|id| self.index.ids.get(id));
        let by_symbol = said.symbol.and_then(|it| self.index.symbols.get(it));
        for all in [by_id, by_symbol].into_iter().flatten() {
            let mut fit = all.iter().copied().filter(|of| own(*of));
            if let (Some(of), None) = (fit.next(), fit.next()) {
                return Some(of);
            }
        }
        let plain = said.symbol.and_then(|it| self.state.instruments().find(it));
        plain.filter(|of| own(*of))
    }

    fn account(&self, message: &Message<'_>, value: &[u8]) -> Option<Change> {
        let own = |of: AccountNo| match self.names.accounts.get(&of) {
            Some(fields) => {
                value_of(fields, tag::ACCOUNT) == Some(value)
                    && each_field(fields).skip(1).all(|field| {
                        let said = message.get(field.tag);
                        said.is_none_or(|said| said == field.value)
                    })
            }
            None => self.state.accounts().name(of) == value,
        };
        if let Some(order) = self.order.filter(|order| own(order.account)) {
            return Some(Change::Account(order.account));
        }
        let plain = self.state.accounts().find(value);
        let named = self.index.accounts.get(value);
        let all = named.into_iter().flatten().copied();
        let plain_too = plain.filter(|of| !self.names.accounts.contains_key(of));
        let mut fit = all.chain(plain_too).filter(|of| own(*of));
        match (fit.next(), fit.next()) {
            (Some(of), None) => Some(Change::Account(of)),
            // Several accounts have this name at the venue, or the OMS's account with this name has another name at the
            // venue.
            _ => plain.map(|_| Change::Foreign),
        }
    }
}

/// The change of a field of a venue's message; `at` is the index of the field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameChange {
    at: usize,
    what: Change,
}

/// The change that is made to a field of a venue's message.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// The field is left out.
    Left,
    /// The field is replaced by a field with this tag and the symbol of an instrument.
    Symbol(Tag, InstrumentNo),
    /// The field is replaced by Account(1) with an account of the OMS.
    Account(AccountNo),
    /// The value is marked as a name of the venue.
    Foreign,
}

fn put(to: &mut Vec<u8>, tag: Tag, value: &[&[u8]]) {
    to.extend_from_slice(crate::values::show::digits(tag.into()).bytes());
    to.push(b'=');
    value.iter().for_each(|part| to.extend_from_slice(part));
    to.push(SOH);
}

/// Whether a message of a line names another instrument than `of`, by the names of the OMS or of the line. A message
/// without Symbol(55) names another instrument only if it names a leg of `of`.
#[cold]
pub(crate) fn names_other(
    state: &OmsState,
    line: Option<SessionNo>,
    of: InstrumentNo,
    message: &Message<'_>,
) -> bool {
    let said = SaidName::of(message, message.fields(), INSTRUMENTS[0]);
    let is_at_venue = |of: InstrumentNo| {
        let names = line.and_then(|line| state.venue_names.instrument(line, of));
        names.is_some_and(|fields| said.is(fields))
    };
    match said.symbol {
        Some(symbol) => symbol != state.instruments().name(of) && !is_at_venue(of),
        None => {
            let legs = state.spreads.legs(of).into_iter().flatten();
            let mut legs = legs.map(|leg| leg.instrument);
            legs.any(is_at_venue)
        }
    }
}
