//! Names of instruments and accounts in messages on lines whose venue uses other names than the OMS.
//!
//! The names come from the settings and are recorded as events. An order that is open at the venue keeps the name with
//! which it was sent, whatever the files say at the next start.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use fixwire_ledger::record;
use fixwire_protocol::{Tag, tag};

use crate::state::OmsState;
use crate::values::fields::carried::each_field;
use crate::values::ids::{AccountNo, InstrumentNo, SessionNo};

/// Maximum number of bytes of the fields of a name.
pub(crate) const NAME_MAX: usize = 384;

/// Maximum number of fields of a name.
pub(crate) const NAME_TAGS: usize = 12;

/// What a name at a venue is for.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum NameOf {
    Instrument(InstrumentNo),
    Account(AccountNo),
}

impl NameOf {
    /// The instrument or account, as texts name it.
    pub(crate) fn text(self, state: &OmsState) -> String {
        let (kind, name) = match self {
            Self::Instrument(of) => ("symbol", state.instruments().name(of)),
            Self::Account(of) => ("account", state.accounts().name(of)),
        };
        format!("{kind} {}", String::from_utf8_lossy(name))
    }
}

/// The names on a line. Each name is `tag=value` fields with SOH; the first field is the venue's name.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct LineNames {
    pub instruments: BTreeMap<InstrumentNo, Box<[u8]>>,
    pub accounts: BTreeMap<AccountNo, Box<[u8]>>,
}

record! { LineNames { instruments, accounts } }

/// The names on all lines that have some.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct VenueNames(pub(crate) BTreeMap<SessionNo, LineNames>);

record! { VenueNames(_) }

impl VenueNames {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names on a line; `None` if the venue has those of the OMS.
    pub(crate) fn on(&self, line: SessionNo) -> Option<&LineNames> {
        self.0.get(&line)
    }

    /// The fields that name an instrument on a line; `None` for Symbol(55) of the OMS alone.
    pub(crate) fn instrument(&self, line: SessionNo, of: InstrumentNo) -> Option<&[u8]> {
        self.on(line)?.instruments.get(&of).map(|fields| &**fields)
    }

    /// The fields that name an account on a line; `None` for Account(1) of the OMS alone.
    pub(crate) fn account(&self, line: SessionNo, of: AccountNo) -> Option<&[u8]> {
        self.on(line)?.accounts.get(&of).map(|fields| &**fields)
    }

    /// Sets the name of an instrument; no fields remove it.
    pub(crate) fn set_instrument(
        &mut self,
        line: SessionNo,
        of: InstrumentNo,
        fields: &[u8],
    ) -> Option<()> {
        is_name(fields, tag::SYMBOL).then_some(())?;
        let names = &mut self.0.entry(line).or_default().instruments;
        match fields.is_empty() {
            true => names.remove(&of),
            false => names.insert(of, fields.into()),
        };
        self.0.retain(|_, names| *names != LineNames::default());
        Some(())
    }

    /// Sets the name of an account; no fields remove it.
    pub(crate) fn set_account(
        &mut self,
        line: SessionNo,
        of: AccountNo,
        fields: &[u8],
    ) -> Option<()> {
        is_name(fields, tag::ACCOUNT).then_some(())?;
        let names = &mut self.0.entry(line).or_default().accounts;
        match fields.is_empty() {
            true => names.remove(&of),
            false => names.insert(of, fields.into()),
        };
        self.0.retain(|_, names| *names != LineNames::default());
        Some(())
    }
}

/// Whether these bytes are whole fields of which the first has the tag `first`, or are empty.
pub(crate) fn is_name(fields: &[u8], first: Tag) -> bool {
    let (mut len, mut count) = (0, 0);
    let mut tags = each_field(fields).map(|field| {
        len += field.bytes.len();
        count += 1;
        field.tag
    });
    let begins = tags.next().is_none_or(|tag| tag == first);
    tags.for_each(drop);
    begins && len == fields.len() && len <= NAME_MAX && count <= NAME_TAGS
}

/// Whether a message could name two instruments by the same fields. That is so if both have the same Symbol(55) and no
/// different SecurityID(48), or the same SecurityID; in both cases without a different SecurityExchange(207).
pub(crate) fn is_same_instrument(one: &[u8], other: &[u8]) -> bool {
    let values = |tag| (value_of(one, tag), value_of(other, tag));
    let differ = |tag| matches!(values(tag), (Some(one), Some(other)) if one != other);
    let is_same = |tag| !differ(tag) && values(tag).0.is_some() && values(tag).1.is_some();
    let by_id = is_same(tag::SECURITY_ID) && is_same(tag::SECURITY_ID_SOURCE);
    let differ_by_id = differ(tag::SECURITY_ID) || differ(tag::SECURITY_ID_SOURCE);
    let by_symbol = is_same(tag::SYMBOL) && !differ_by_id;
    (by_id || by_symbol) && !differ(tag::SECURITY_EXCHANGE)
}

/// The value of a tag in the fields of a name.
pub(crate) fn value_of(fields: &[u8], tag: Tag) -> Option<&[u8]> {
    let mut found = each_field(fields).filter(|field| field.tag == tag);
    found.next().map(|field| field.value)
}
