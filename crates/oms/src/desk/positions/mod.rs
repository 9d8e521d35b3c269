//! Positions that operators set, change and load from clearing files.

pub mod clearing_file;
mod doubts;
pub mod history;
mod loads;
pub mod reconcile;
pub mod since;

use alloc::format;
use alloc::string::{String, ToString};

use fixwire_protocol::Decimal;
use siphasher::sip::SipHasher24;

use crate::decide::core::{Core, Sink};
use crate::state::OmsState;
use crate::state::event::{OrderEvent, SetupEvent};
use crate::state::tally::Position;
use crate::values::ids::{AccountNo, InstrumentNo, Party};
use crate::values::show::{figure, text};
use crate::values::units::{MOST, scaled};
use crate::values::value::Quantity;
use crate::values::verbs::By;
use crate::values::words::Words;
use doubts::Doubts;
pub use loads::{MISSING, READ_AGAIN, TURNED};
pub(crate) use loads::{check_load, load_positions, note_bytes};

/// The meaning of the quantities of a command or file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PositionQuantities {
    /// The quantities are the position itself.
    Totals,
    /// The quantities are changes of the position, up or down.
    Deltas,
}

/// An account and an instrument.
type Place = (AccountNo, InstrumentNo);

/// A position before and after a command.
#[derive(Clone, Copy, Debug)]
struct Change {
    place: Place,
    was: Position,
    long: Quantity,
    short: Quantity,
}

impl Change {
    fn is_none(&self) -> bool {
        (self.was.long, self.was.short) == (self.long, self.short)
    }

    fn event<'a>(&self, By { who, why }: By<'a>) -> SetupEvent<'a> {
        SetupEvent::PositionSet {
            account: self.place.0,
            instrument: self.place.1,
            was_long: self.was.long,
            was_short: self.was.short,
            long: self.long,
            short: self.short,
            who,
            why,
        }
    }

    fn sentence(&self, state: &OmsState) -> String {
        let shown = |quantity| state.shown(self.place.1, quantity);
        let place = place_name(state, self.place);
        match self.is_none() {
            true => format!(
                "{place}: unchanged: long {}, short {}",
                shown(self.long),
                shown(self.short)
            ),
            false => format!(
                "{place}: long {} (was {}), short {} (was {})",
                shown(self.long),
                shown(self.was.long),
                shown(self.short),
                shown(self.was.short)
            ),
        }
    }
}

fn place_name(state: &OmsState, (account, instrument): Place) -> String {
    format!(
        "{} {}",
        text(state.accounts().name(account)),
        text(state.instruments().name(instrument))
    )
}

/// The quantities that a command or row gives for a position.
#[derive(Clone, Copy, Debug, Default)]
struct Given {
    long: Option<Decimal>,
    short: Option<Decimal>,
    /// Long and short quantity in the OMS without the fills after the time of the totals.
    before: Option<[Decimal; 2]>,
}

/// The account and instrument with these names, if they may have a position.
fn find(core: &Core, account: &str, symbol: &str) -> Result<Place, String> {
    fn unknown<'n>(kind: &str, name: &str, known: impl Iterator<Item = &'n [u8]>) -> String {
        let known = known.filter_map(|it| core::str::from_utf8(it).ok());
        match fixwire_text::nearest(name, known) {
            Some(near) => format!("{kind}: unknown {kind} {name}; did you mean {near}?"),
            None => format!("{kind}: unknown {kind} {name}"),
        }
    }
    let state = core.state();
    let Some(found) = state.accounts().find(account.as_bytes()) else {
        return Err(unknown("account", account, state.accounts().iter()));
    };
    let Some(instrument) = state.instruments().find(symbol.as_bytes()) else {
        return Err(unknown("symbol", symbol, state.instruments().iter()));
    };
    if state.legs(instrument).is_some() {
        return Err(format!(
            "symbol: {symbol} is a spread, which has no position: give the positions of its legs"
        ));
    }
    if core.rule(instrument).is_err() {
        return Err(format!(
            "symbol: {symbol} is not in the settings, so it is unknown whether its positions net: add it to the file \
             of instruments"
        ));
    }
    Ok((found, instrument))
}

/// Whether long and short positions of an instrument are separate.
fn has_effect(core: &Core, instrument: InstrumentNo) -> bool {
    let rule = core.instruments.get(instrument).and_then(Option::as_ref);
    rule.is_some_and(|rule| rule.has_effect)
}

/// The change that quantities make in a position.
fn change(
    core: &Core,
    quantities: PositionQuantities,
    place: Place,
    given: Given,
) -> Result<Change, String> {
    let (account, instrument) = place;
    let state = core.state();
    let scale = state.scales(instrument).quantity;
    let was = state.position(account, instrument);
    let now = [i128::from(was.long), i128::from(was.short)];
    let units = |name: &str, quantity: Option<Decimal>| match quantity {
        None => Ok(0),
        Some(quantity) => match scaled(quantity, scale) {
            Ok(units) => Ok(i128::from(units)),
            Err(_) => Err(match scale {
                0 => format!("{name}: {quantity} must be a whole number up to {MOST}"),
                _ => format!(
                    "{name}: {quantity} must be a number with at most {scale} decimals, up to {}",
                    figure(MOST.into(), scale)
                ),
            }),
        },
    };
    let [long, short] = [units("long", given.long)?, units("short", given.short)?];
    let nets = !has_effect(core, instrument);
    let mut new = match quantities {
        PositionQuantities::Totals => {
            for (name, units) in [("long", long), ("short", short)] {
                if units < 0 {
                    return Err(format!("{name}: {} is below 0", figure(units, scale)));
                }
            }
            if nets && long > 0 && short > 0 {
                return Err(format!(
                    "short: positions of {} net, so one of long and short must be 0",
                    text(state.instruments().name(instrument))
                ));
            }
            match given.before {
                None => [long, short],
                Some([long_before, short_before]) => [
                    long + now[0] - units("long", Some(long_before))?,
                    short + now[1] - units("short", Some(short_before))?,
                ],
            }
        }
        PositionQuantities::Deltas => {
            for (name, units, now) in [("long", long, now[0]), ("short", short, now[1])] {
                if now + units < 0 {
                    return Err(format!(
                        "{name}: the position is {}, so it cannot become {} less",
                        figure(now, scale),
                        figure(-units, scale)
                    ));
                }
            }
            [now[0] + long, now[1] + short]
        }
    };
    if nets {
        let net = new[0] - new[1];
        new = [net.max(0), (-net).max(0)];
    }
    let in_range = |name: &str, units: i128| match Quantity::try_from(units) {
        Ok(units) if units <= MOST => Ok(units),
        Ok(_) => Err(format!(
            "{name}: the position would be {}, above {}, the maximum",
            figure(units, scale),
            figure(MOST.into(), scale)
        )),
        Err(_) => Err(format!(
            "{name}: with the fills since the moment the position would be {}, below 0: check the file",
            figure(units, scale)
        )),
    };
    Ok(Change {
        place,
        was,
        long: in_range("long", new[0])?,
        short: in_range("short", new[1])?,
    })
}

/// Carries out `position set account=A1 symbol=XYZ long=10 short=0`, or `position adjust ... long=+5`.
pub(crate) fn set_position(
    core: &mut Core,
    at: i64,
    words: &str,
    by: By<'_>,
    sink: &mut impl Sink,
) -> Result<String, String> {
    const KEYS: [&str; 6] = ["set", "adjust", "account", "symbol", "long", "short"];
    let words = Words {
        verb: "position",
        rest: words,
    };
    if let Some((key, _)) = words.pairs().find(|(key, _)| !KEYS.contains(key)) {
        return Err(format!(
            "unknown word {key}: the words are {}",
            KEYS.join(", ")
        ));
    }
    let quantities = match (words.has("set"), words.has("adjust")) {
        (true, false) => PositionQuantities::Totals,
        (false, true) => PositionQuantities::Deltas,
        _ => return Err("write set or adjust".into()),
    };
    let quantity = |key: &str| match (words.get(key), quantities) {
        ("", _) => Ok(None),
        (value, PositionQuantities::Totals) => match Decimal::parse(value.as_bytes()) {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(format!(
                "{key}={value} is not a quantity; to change a position by a quantity, use adjust"
            )),
        },
        (value, PositionQuantities::Deltas) => match signed(value) {
            Some(number) if value.starts_with(['+', '-']) => Ok(Some(number)),
            _ => Err(format!(
                "{key}={value} is not a change: write {key}=+5 or {key}=-5"
            )),
        },
    };
    let given = Given {
        long: quantity("long")?,
        short: quantity("short")?,
        before: None,
    };
    let place = find(core, words.get("account"), words.get("symbol"))?;
    let gives = (given.long.is_some(), given.short.is_some());
    let is_complete = match quantities {
        PositionQuantities::Totals if has_effect(core, place.1) => gives == (true, true),
        PositionQuantities::Totals | PositionQuantities::Deltas => gives != (false, false),
    };
    if !is_complete {
        return Err(match has_effect(core, place.1) {
            true if quantities == PositionQuantities::Totals => format!(
                "{} holds long and short side by side: give long=QUANTITY and short=QUANTITY",
                words.get("symbol")
            ),
            _ => "give long=QUANTITY or short=QUANTITY".into(),
        });
    }
    if quantities == PositionQuantities::Totals {
        refuse_doubtful(core, place)?;
    }
    let change = change(core, quantities, place, given)?;
    if change.is_none() {
        return Ok(change.sentence(core.state()));
    }
    let canonical = format!(
        "position {quantities:?} {} {:?} {:?}",
        place_name(core.state(), place),
        given.long.map(Decimal::normalized),
        given.short.map(Decimal::normalized)
    );
    let asked = SipHasher24::new().hash(canonical.as_bytes());
    if !core.is_confirmed(at, asked, by, sink)? {
        return Ok(format!(
            "{}: position requested, nothing is changed; another operator must request the same",
            place_name(core.state(), place)
        ));
    }
    core.emit(at, &OrderEvent::Setup(change.event(by)), sink);
    guard_place(core, at, place, sink);
    Ok(change.sentence(core.state()))
}

/// A number that may begin with a plus sign.
fn signed(text: &str) -> Option<Decimal> {
    let number = text.strip_prefix('+').unwrap_or(text);
    let is_signed_twice = number.len() < text.len() && number.starts_with('-');
    Decimal::parse(number.as_bytes())
        .ok()
        .filter(|_| !is_signed_twice)
}

/// Activates the kill switch of scopes whose limits the new position exceeds.
fn guard_place(
    core: &mut Core,
    at: i64,
    (account, instrument): Place,
    sink: &mut impl Sink,
) -> bool {
    let party = Party {
        session: None,
        account: Some(account),
        instrument: Some(instrument),
    };
    core.guard(at, party, sink).is_some()
}

fn refuse_doubtful(core: &Core, place: Place) -> Result<(), String> {
    let doubts = Doubts::new(core);
    match doubts.of(place) {
        None => Ok(()),
        Some(why) => Err(format!(
            "{}: its fills are in doubt: {why}; settle that first, or use adjust",
            place_name(core.state(), place)
        )),
    }
}

/// The rows and the file of a command `differ rows=NUMBER file=NAME`.
pub(crate) fn differences(words: &str) -> Result<(u64, &str), String> {
    const FORM: &str = "write differ rows=NUMBER file=NAME";
    let (rows, file) = words.split_once(" file=").ok_or(FORM)?;
    let rows = rows.trim().strip_prefix("rows=").ok_or(FORM)?;
    let rows = rows.parse().map_err(|_| FORM.to_string())?;
    Ok((rows, file.trim()))
}
