//! The command `load` for the positions of a file, and the query `positions check`, which lists the mistakes in such a
//! command.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use fixwire_ledger::NestedEvents;
use siphasher::sip::SipHasher24;

use super::doubts::Doubts;
use super::{
    Change, Given, PositionQuantities, change, find, guard_place, has_effect, place_name, signed,
};
use crate::decide::core::{Core, Sink};
use crate::state::event::{OrderEvent, SetupEvent};
use crate::values::show::counted;
use crate::values::verbs::By;
use crate::values::words::Words;

/// Maximum number of changed positions, or of mistakes, that an answer lists.
const LISTED: usize = 500;

/// End of the text of a refused load that the operator's program must repeat after reading the journal again.
pub const READ_AGAIN: &str = "load it again";

/// The value in a row for a quantity whose column the file does not have.
pub const MISSING: &str = "-";

/// Start of the last word of a row if a fill after the time of the file turned the position; the number of the fill's
/// order follows.
pub const TURNED: &str = "turned=";

/// Maximum size of a row in the journal note of a load, in bytes.
const ROW: usize = 64;

/// Maximum number of rows of a load whose scopes are killed at once because they exceed their limits, and the size of
/// the notes for one of these rows.
const KILLS: usize = 16;
const KILL: usize = 4 * 256;

/// Time after the `as-of` of totals from which the totals can be loaded, in nanoseconds. A fill that is received later
/// than this after it was made is known to be late.
const SETTLED: i64 = 1_000_000_000;

/// A command `load` whose words were read, before its rows are compared with the state.
struct Load<'a> {
    quantities: PositionQuantities,
    as_of: Option<i64>,
    /// The number of the last event that the operator's program has read from the journal.
    read: Option<u64>,
    again: bool,
    file: &'a str,
    rows: &'a str,
}

/// The change of each row; or the number of each wrong row, from 1, with the row's mistakes.
type Rows = Result<Vec<Change>, Vec<(usize, String)>>;

impl<'a> Load<'a> {
    fn parse(text: &'a str) -> Result<Self, String> {
        const KEYS: [&str; 5] = ["totals", "deltas", "as-of", "read", "again"];
        let (head, rows) = text.split_once(';').ok_or("the rows are missing")?;
        let (head, file) = head.split_once(" file=").ok_or("file=NAME is missing")?;
        let words = Words {
            verb: "load",
            rest: head,
        };
        if let Some((key, _)) = words.pairs().find(|(key, _)| !KEYS.contains(key)) {
            return Err(format!(
                "unknown word {key}: the words are {}",
                KEYS.join(", ")
            ));
        }
        let quantities = match (words.has("totals"), words.has("deltas")) {
            (true, false) => PositionQuantities::Totals,
            (false, true) => PositionQuantities::Deltas,
            _ => return Err("write totals or deltas".into()),
        };
        let number = |key: &str| match words.get(key) {
            "" => Ok(None),
            text => match text.parse::<u64>() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(format!("{key}={text} is not a number")),
            },
        };
        let as_of = number("as-of")?.map(|it| i64::try_from(it).unwrap_or(i64::MAX));
        let load = Self {
            quantities,
            as_of,
            read: number("read")?,
            again: words.has("again"),
            file: file.trim(),
            rows,
        };
        if load.as_of.is_some() != load.read.is_some() {
            return Err("as-of and read belong together".into());
        }
        if load.as_of.is_some() && quantities == PositionQuantities::Deltas {
            return Err("only totals are as of a moment".into());
        }
        if load.again && quantities == PositionQuantities::Totals {
            return Err("again is for deltas: totals may be loaded again as they are".into());
        }
        if load.file.is_empty() {
            return Err("file=NAME is missing".into());
        }
        Ok(load)
    }

    /// Hash of the name and the rows.
    fn hash(&self) -> u64 {
        let text = format!("{}\n{}", self.file, self.rows);
        SipHasher24::new().hash(text.as_bytes())
    }

    /// Hash of the request that a second operator must repeat. The hash includes everything but `read`, which depends
    /// on the time of the request.
    fn request_hash(&self) -> u64 {
        let mut text = format!("{:?} {:?} {}", self.quantities, self.as_of, self.file);
        for row in self.rows.split(';') {
            let words: Vec<&str> = row.split_whitespace().collect();
            let _ = write!(text, "\n{}", words.join(" "));
        }
        SipHasher24::new().hash(text.as_bytes())
    }

    /// Whether the load may be carried out now.
    fn check_time(&self, core: &Core, at: i64) -> Result<(), String> {
        let state = core.state();
        if self.quantities == PositionQuantities::Deltas
            && !self.again
            && state.position_files.contains(&self.hash())
        {
            return Err(format!(
                "{}: these changes were loaded already: to apply them once more, add --again",
                self.file
            ));
        }
        let (Some(as_of), Some(read)) = (self.as_of, self.read) else {
            return Ok(());
        };
        if at.saturating_sub(as_of) < SETTLED {
            return Err(
                "the moment of the totals must be at least a second ago: load them later".into(),
            );
        }
        if read > state.events() {
            return Err(format!(
                "read={read} is above the last event, {}",
                state.events()
            ));
        }
        if state.positions_set > read {
            return Err(format!(
                "positions were set while the file was read: {READ_AGAIN}"
            ));
        }
        if core.dated_back > read {
            return Err(format!(
                "a fill of an earlier time, or one that closed a position, was reported while the file was read: \
                 {READ_AGAIN}"
            ));
        }
        Ok(())
    }

    /// The changes of all rows.
    fn plan(&self, core: &Core) -> Rows {
        let (mut changes, mut wrong) = (Vec::new(), Vec::new());
        let mut known = BTreeMap::new();
        let doubts = match self.quantities {
            PositionQuantities::Totals => Some(Doubts::new(core)),
            PositionQuantities::Deltas => None,
        };
        for (number, row) in (1..).zip(self.rows.split(';')) {
            let planned = self.plan_row(core, row).and_then(|change| {
                if let Some(first) = known.insert(change.place, number) {
                    return Err(format!("account: the position is in row {first} too"));
                }
                match doubts.as_ref().and_then(|doubts| doubts.of(change.place)) {
                    Some(why) => Err(format!(
                        "account: fills of {} are in doubt: {why}",
                        place_name(core.state(), change.place)
                    )),
                    None => Ok(change),
                }
            });
            match planned {
                Ok(change) => changes.push(change),
                Err(what) => wrong.push((number, what)),
            }
        }
        if wrong.is_empty() {
            Ok(changes)
        } else {
            Err(wrong)
        }
    }

    fn plan_row(&self, core: &Core, row: &str) -> Result<Change, String> {
        let mut words: Vec<&str> = row.split_whitespace().collect();
        let turned = words.last().and_then(|word| word.strip_prefix(TURNED));
        words.truncate(words.len() - usize::from(turned.is_some()));
        let number = |name: &str, text: &str| {
            signed(text).ok_or_else(|| format!("{name}: {text} is not a number"))
        };
        let (names, given) = match (words[..].split_first_chunk::<4>(), self.as_of) {
            (Some((names, [])), None) => (names, None),
            (Some((names, [long, short])), Some(_)) => {
                let before = [
                    number("long without fills", long)?,
                    number("short without fills", short)?,
                ];
                (names, Some(before))
            }
            (_, None) => return Err("account: a row is ACCOUNT SYMBOL LONG SHORT".into()),
            (_, Some(_)) => {
                return Err(
                    "account: a row as of a moment is ACCOUNT SYMBOL LONG SHORT, then long and short without the \
                     fills since then"
                        .into(),
                );
            }
        };
        let [account, symbol, long, short] = *names;
        let place = find(core, account, symbol)?;
        let given_by = |name: &str, text: &str| match text {
            MISSING => Ok(None),
            _ => number(name, text).map(Some),
        };
        let given = Given {
            long: given_by("long", long)?,
            short: given_by("short", short)?,
            before: given,
        };
        if self.quantities == PositionQuantities::Totals && has_effect(core, place.1) {
            for (name, quantity) in [("long", given.long), ("short", given.short)] {
                if quantity.is_none() {
                    return Err(format!(
                        "{name}: {symbol} holds long and short side by side, so its totals need the columns long and short"
                    ));
                }
            }
            if let Some(order) = turned {
                return Err(format!(
                    "account: a fill of order {order} after the moment closed more than the position of {} in the OMS, so \
                     its effect on the total is unknown: load a total of a later moment",
                    place_name(core.state(), place)
                ));
            }
        }
        change(core, self.quantities, place, given)
    }
}

/// Answers a query `positions check COMMAND`: one line for each wrong row, with its number from 1 and its mistake.
pub(crate) fn check_load(core: &Core, words: &str) -> Result<String, String> {
    let load = Load::parse(words)?;
    // The command compares its own time with `as-of`.
    load.check_time(core, i64::MAX)?;
    let mut wrong = String::new();
    for (row, what) in load.plan(core).err().unwrap_or_default() {
        let _ = writeln!(wrong, "{row}\t{what}");
    }
    Ok(wrong)
}

/// Number of bytes that the journal note of a command needs; 0 for a command other than `load`.
pub(crate) fn note_bytes(command: &[u8]) -> usize {
    match command.starts_with(b"load ") {
        true => {
            command.len()
                + KILLS * KILL
                + ROW * command.iter().filter(|byte| **byte == b';').count()
        }
        false => 0,
    }
}

/// Loads positions: all rows, or none.
pub(crate) fn load_positions(
    core: &mut Core,
    at: i64,
    words: &str,
    by: By<'_>,
    sink: &mut impl Sink,
) -> Result<String, String> {
    let load = Load::parse(words)?;
    load.check_time(core, at.max(core.state().time()))?;
    let changes = load.plan(core).map_err(|wrong| {
        let rows = wrong.iter().take(LISTED);
        let rows: Vec<String> = rows
            .map(|(row, what)| format!("row {row}: {what}"))
            .collect();
        let more = match wrong.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!("\nand {more} more"),
        };
        format!("nothing is changed:\n{}{more}", rows.join("\n"))
    })?;
    let rows = counted(changes.len() as u64, "position");
    let file = load.file;
    let changed: Vec<&Change> = changes.iter().filter(|it| !it.is_none()).collect();
    if changed.is_empty() && load.quantities == PositionQuantities::Totals {
        return Ok(format!("{file}: 0 of {rows} changed"));
    }
    if !core.is_confirmed(at, load.request_hash(), by, sink)? {
        return Ok(format!(
            "{file}: {} of {rows} would change; nothing is changed; another operator must load the same file",
            changed.len()
        ));
    }
    let mut events = Vec::new();
    let nobody = By { who: b"", why: b"" };
    for change in &changed {
        NestedEvents::push(&mut events, |to| {
            OrderEvent::Setup(change.event(nobody)).put(to);
        });
    }
    let deltas = load.quantities == PositionQuantities::Deltas;
    let event = OrderEvent::Setup(SetupEvent::PositionsLoaded {
        file: file.as_bytes(),
        deltas: deltas.then(|| load.hash()),
        as_of: load.as_of,
        who: by.who,
        why: by.why,
        changes: NestedEvents(&events),
    });
    core.emit(at, &event, sink);
    let mut kills = 0;
    for change in &changed {
        // The scopes of further rows are killed with the next order in them.
        if kills < KILLS && guard_place(core, at, change.place, sink) {
            kills += 1;
        }
    }
    let mut answer = format!("{file}: {} of {rows} changed", changed.len());
    for change in changed.iter().take(LISTED) {
        let _ = write!(answer, "\n{}", change.sentence(core.state()));
    }
    if changed.len() > LISTED {
        let _ = write!(answer, "\nand {} more", changed.len() - LISTED);
    }
    Ok(answer)
}
