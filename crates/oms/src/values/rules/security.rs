//! Identifiers and reference data of an instrument, and the search for an instrument by identifier.

use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::Decimal;
use fixwire_protocol::value::uint;

use super::InstrumentRule;
use crate::values::day::compact;

/// Identifiers and reference data of an instrument.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SecurityData {
    /// Identifiers of the instrument, at most one of each source.
    pub ids: Vec<SecurityId>,
    /// SecurityExchange(207), a MIC.
    pub exchange: Option<String>,
    /// SecurityType(167).
    pub kind: Option<String>,
    /// The maturity of the instrument.
    pub maturity: Option<Maturity>,
    /// The first trading day without new orders, as 20261218.
    pub expires: Option<u32>,
    /// ContractMultiplier(231); `None` if the file does not give it.
    pub multiplier: Option<Decimal>,
}

/// An identifier of an instrument.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SecurityId {
    /// SecurityIDSource(22).
    pub source: String,
    /// SecurityID(48).
    pub id: String,
}

/// The maturity of an instrument.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Maturity {
    /// In a month, as 202612: MaturityMonthYear(200).
    Month(u32),
    /// On a day, as 20261218: MaturityDate(541).
    Day(u32),
}

impl Maturity {
    /// MaturityMonthYear(200), as 202612.
    #[must_use]
    pub fn month(self) -> u32 {
        match self {
            Self::Month(month) => month,
            Self::Day(day) => day / 100,
        }
    }

    /// Reads MaturityMonthYear(200): a month, 202612, or since FIX 4.4 a day, 20261218. `None` for another value.
    #[must_use]
    pub fn of_month_year(value: &[u8]) -> Option<Self> {
        if let Some(day) = compact(value) {
            return Some(Self::Day(day));
        }
        let month = uint(value).ok().filter(|_| value.len() == 6)?;
        u32::try_from(month).ok().map(Self::Month)
    }

    /// Whether a MaturityMonthYear(200) fits an instrument of this maturity.
    #[must_use]
    pub fn fits(self, wanted: Self) -> bool {
        match wanted {
            Self::Month(month) => self.month() == month,
            Self::Day(day) => self.day() == Some(day),
        }
    }

    /// MaturityDate(541), as 20261218; `None` if only the month is known.
    #[must_use]
    pub fn day(self) -> Option<u32> {
        match self {
            Self::Month(_) => None,
            Self::Day(day) => Some(day),
        }
    }
}

impl SecurityData {
    /// The identifier of a source.
    #[must_use]
    pub fn id_of(&self, source: &[u8]) -> Option<&str> {
        let mut ids = self.ids.iter();
        let found = ids.find(|it| it.source.as_bytes() == source);
        found.map(|it| it.id.as_str())
    }
}

/// An identifier with the symbol of its instrument.
#[derive(Clone, Debug, Eq, PartialEq)]
struct IdentifiedSymbol {
    id: SecurityId,
    symbol: String,
}

/// Finds the symbols of instruments by identifier, and instruments by symbol.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SecurityIndex {
    ids: Vec<IdentifiedSymbol>,
    /// Places of the instruments in the settings, by symbol.
    places: Vec<usize>,
}

impl SecurityIndex {
    /// The index of the instruments of the settings.
    #[must_use]
    pub fn of(instruments: &[InstrumentRule]) -> Self {
        let all = instruments.iter().flat_map(|rule| {
            let ids = rule.security.ids.iter().cloned();
            ids.map(|id| IdentifiedSymbol {
                id,
                symbol: rule.symbol.clone(),
            })
        });
        let mut all: Vec<IdentifiedSymbol> = all.collect();
        all.sort_by(|one, other| one.key().cmp(&other.key()));
        let mut places: Vec<usize> = (0..instruments.len()).collect();
        places.sort_by_key(|at| instruments[*at].symbol.as_str());
        Self { ids: all, places }
    }

    /// Whether no instrument has an identifier.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Symbol(55) of the instrument with SecurityIDSource(22) and SecurityID(48).
    #[must_use]
    pub fn find(&self, source: &[u8], id: &[u8]) -> Option<&str> {
        let found = self.ids.binary_search_by(|it| it.key().cmp(&(source, id)));
        found.ok().map(|at| self.ids[at].symbol.as_str())
    }

    /// The instrument with this Symbol(55), of the instruments that the index was made of.
    #[must_use]
    pub(crate) fn rule<'i>(
        &self,
        instruments: &'i [InstrumentRule],
        symbol: &[u8],
    ) -> Option<&'i InstrumentRule> {
        let symbol_at = |at: &usize| instruments.get(*at).map(|it| it.symbol.as_bytes());
        let found = self
            .places
            .binary_search_by(|at| symbol_at(at).cmp(&Some(symbol)));
        instruments.get(self.places[found.ok()?])
    }
}

impl IdentifiedSymbol {
    fn key(&self) -> (&[u8], &[u8]) {
        (self.id.source.as_bytes(), self.id.id.as_bytes())
    }
}
