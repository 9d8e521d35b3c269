//! The tables of a trading day from the notes.

use std::collections::BTreeMap;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::{LINES, World, about};
use crate::decide::venue::{ReportKind, VenueReport};
use crate::desk::day::{DayNotes, DayReport, DayRow, DayTable, DayTableRow, DayValue};
use crate::state::OmsState;
use crate::values::value::{End, Number, Side, TimeInForce};
use fixwire_protocol::Decimal;

/// The rows of a day: each with its values but times, by `|`.
fn rows(world: &World, date: u32, wanted: DayTable) -> Vec<String> {
    rows_found_in(world, world.notes.len(), date, wanted)
}

/// The same, when the day was looked for while the journal had this number of notes.
fn rows_found_in(world: &World, found: usize, date: u32, wanted: DayTable) -> Vec<String> {
    let mut days = DayNotes::default();
    let notes = || (1..).zip(world.notes.iter().map(|(_, note)| note));
    let first_pass = notes().take(found);
    first_pass.for_each(|(number, note)| days.take(number, note));
    let its = days.notes_of(date).expect("a day of the journal");
    let mut day = DayReport::new(OmsState::default());
    let mut rows = Vec::new();
    for (number, note) in notes() {
        if number < its.start {
            day.pass(note);
        } else if number < its.end {
            rows.extend(day.take(note));
        }
    }
    rows.extend(day.finish());
    let shown = |DayTableRow { table, row, event }: &DayTableRow| {
        assert_eq!(row.len(), table.columns().len());
        let is_made_by_one = [DayTable::Rejected, DayTable::Fills].contains(table);
        assert_eq!(event.is_some(), is_made_by_one);
        let values = row.iter().map(|value| match value {
            DayValue::Text(text) => text.clone(),
            DayValue::Time(time) => if time.is_some() { "at" } else { "" }.to_string(),
        });
        values.collect::<Vec<_>>().join("|")
    };
    let rows = rows.iter().filter(|row| row.table == wanted);
    rows.map(shown).collect()
}

/// The rows of a report by their keys: the number of their event, or their first value.
fn keyed(
    rows: impl IntoIterator<Item = DayTableRow>,
    into: &mut BTreeMap<(usize, String), DayRow>,
) {
    for DayTableRow { table, event, row } in rows {
        let key = match (event, &row[..2]) {
            (Some(event), _) => event.to_string(),
            (None, [DayValue::Text(first), DayValue::Text(second)]) => match table {
                DayTable::Orders => first.clone(),
                _ => std::format!("{first}|{second}"),
            },
            (None, other) => panic!("a row without a key: {other:?}"),
        };
        into.insert((place(table), key), row);
    }
}

fn place(table: DayTable) -> usize {
    DayTable::ALL.iter().position(|it| *it == table).unwrap()
}

/// Whether the rows that are read as they change are, for each day, those of a report of the whole day.
pub(super) fn check_live_rows(world: &World) {
    let mut days = DayNotes::default();
    let notes = || (1..).zip(world.notes.iter().map(|(_, note)| note));
    notes().for_each(|(number, note)| days.take(number, note));
    let mut live = DayReport::live(OmsState::default());
    let mut whole = DayReport::new(OmsState::default());
    let (mut rows, mut wanted) = (BTreeMap::new(), BTreeMap::new());
    let mut day = None;
    for (number, note) in notes() {
        let start = days.day_of(number);
        if start != day {
            if day.is_some() {
                keyed(live.end_day(), &mut rows);
                let state = live.state().clone();
                let whole = core::mem::replace(&mut whole, DayReport::new(state));
                keyed(whole.finish(), &mut wanted);
                assert_eq!(rows, wanted, "{day:?}");
            }
            (rows, wanted) = (BTreeMap::new(), BTreeMap::new());
            day = start;
        }
        if day.is_none() {
            live.pass(note);
            whole.pass(note);
            continue;
        }
        keyed(live.take(note), &mut rows);
        keyed(whole.take(note), &mut wanted);
        if number % 3 == 0 {
            keyed(live.changed(), &mut rows);
        }
    }
    // Without what `end_day` adds: the day goes on.
    keyed(live.changed(), &mut rows);
    keyed(whole.finish(), &mut wanted);
    let ends = [DayTable::Positions, DayTable::Limits].map(place);
    wanted.retain(|(table, _), _| !ends.contains(table));
    assert_eq!(rows, wanted, "{day:?}");
}

impl World {
    fn corrects(&mut self, order: Number, exec: u64, by: u64, quantity: i64, price: &str) {
        let report = VenueReport {
            exec: by,
            reference: Some(exec),
            status: b'1',
            last_quantity: Some(Decimal::from_int(quantity)),
            last_price: Decimal::parse(price.as_bytes()).ok(),
            ..about(order, order, ReportKind::Correct)
        };
        self.report(&report);
    }
}

#[test]
fn orders_fills_and_rejected_requests_of_a_day_are_listed() {
    let mut world = World::new();
    let day = world.core.state().day();
    let first = world.order(Side::Buy, 100, "100.05").unwrap();
    world.accept(first);
    let exec = world.fill(first, 40, "100");
    let filled = world.core.state().events();
    world.corrects(first, exec, 900, 30, "99.95");
    assert_eq!(world.said, ["Corrected"]);
    let corrected = world.core.state().events();
    let other = world.order(Side::Sell, 10, "101").unwrap();
    world.accept(other);
    let cancel = world.cancel(other).unwrap();
    world.report(&about(other, cancel, ReportKind::End(End::Cancelled)));
    assert_eq!(world.order(Side::Buy, 5_000, "100"), None, "above RC6");
    assert_eq!(world.replace(first, 5_000, "100"), None);
    assert_eq!(
        rows(&world, day, DayTable::Orders),
        [
            "1|CLIENT|C1|A1|XYZ|buy|2|0|100|100.05||partially filled|30|99.95|SIM-1|V|||at|||",
            "2|CLIENT|C3|A1|XYZ|sell|2|0|10|101||cancelled|0|0|SIM-2|V|||at|at||",
        ]
    );
    assert_eq!(
        rows(&world, day, DayTable::Fills),
        [
            std::format!("at|{filled}|fill||1|CLIENT|C1|A1|XYZ|buy|40|100|SIM-1||"),
            std::format!(
                "at|{corrected}|correction|{filled}|1|CLIENT|C1|A1|XYZ|buy|30|99.95|SIM-1||"
            ),
        ]
    );
    let limit = "RC6: order quantity exceeds the limit (5000, at most 1000 for firm)";
    assert_eq!(
        rows(&world, day, DayTable::Rejected),
        [
            std::format!("at|CLIENT|new order|C4||A1|XYZ|buy|5000|100|{limit}"),
            std::format!("at|CLIENT|replace|C5|1|A1|XYZ|buy|5000|100|{limit}"),
        ]
    );
    assert_eq!(rows(&world, day, DayTable::Positions), ["A1|XYZ|30|0|30|0"]);
    let limits = rows(&world, day, DayTable::Limits);
    assert!(limits.contains(&"firm|RC6|1000|".to_string()), "{limits:?}");
    let open = limits.iter().find(|row| row.starts_with("firm|RC13|"));
    assert!(open.is_some_and(|row| row.ends_with("|1")), "{limits:?}");
}

#[test]
fn a_day_has_its_own_rows_and_orders_that_go_on() {
    let mut world = World::new();
    let day = world.core.state().day();
    let good = world.order_with(TimeInForce::GoodTillCancel).unwrap();
    world.accept(good);
    world.fill(good, 1, "100");
    world.restart(day + 1);
    world.tell(|core, at, mut sink| core.line_up(at, LINES[0], &mut sink));
    world.work();
    world.fill(good, 2, "100.05");
    let new = world.order(Side::Sell, 10, "101");
    let new = new.unwrap_or_else(|| panic!("{:?}", world.refused));
    assert_eq!(rows(&world, day, DayTable::Fills).len(), 1);
    let first = rows(&world, day, DayTable::Orders);
    assert_eq!(first.len(), 1);
    assert!(first[0].contains("|partially filled|1|100|"), "{first:?}");
    let next = rows(&world, day + 1, DayTable::Fills);
    assert_eq!(next.len(), 1);
    assert!(next[0].contains("|2|100.05|"), "{next:?}");
    let next = rows(&world, day + 1, DayTable::Orders);
    assert!(next[0].contains("|3|100.0333"), "{next:?}");
    assert!(next[1].starts_with(&std::format!("{new}|")), "{next:?}");
    assert_eq!(rows(&world, day, DayTable::Positions), ["A1|XYZ|1|0|1|0"]);
    assert_eq!(
        rows(&world, day + 1, DayTable::Positions),
        ["A1|XYZ|3|0|2|0"]
    );
}

#[test]
fn a_bust_has_its_row_on_its_own_day_with_the_fill_of_the_day_before() {
    let mut world = World::new();
    let day = world.core.state().day();
    let order = world.order(Side::Buy, 10, "100").unwrap();
    world.accept(order);
    let exec = world.fill(order, 10, "100");
    let filled = world.core.state().events();
    let before = rows(&world, day, DayTable::Fills);
    world.restart(day + 1);
    world.tell(|core, at, mut sink| core.line_up(at, LINES[0], &mut sink));
    world.work();
    world.corrects(order, exec, 900, 8, "99.95");
    let corrected = world.core.state().events();
    assert_eq!(
        rows(&world, day + 1, DayTable::Fills),
        [std::format!(
            "at|{corrected}|correction|{filled}|1|CLIENT|C1|A1|XYZ|buy|8|99.95|SIM-1||"
        )]
    );
    let position = rows(&world, day + 1, DayTable::Positions);
    assert_eq!(position, ["A1|XYZ|8|0|8|10"]);
    assert_eq!(rows(&world, day, DayTable::Fills), before);
    world.check();
}

#[test]
fn notes_that_are_written_while_the_day_is_read_add_nothing_to_it() {
    let mut world = World::new();
    let day = world.core.state().day();
    let good = world.order_with(TimeInForce::GoodTillCancel).unwrap();
    world.accept(good);
    world.fill(good, 1, "100");
    let found = world.notes.len();
    let tables = || DayTable::ALL.map(|table| rows_found_in(&world, found, day, table));
    let before = tables();
    // The next pass over the journal sees a roll, and the next day.
    world.restart(day + 1);
    world.tell(|core, at, mut sink| core.line_up(at, LINES[0], &mut sink));
    world.work();
    world.fill(good, 2, "100.05");
    world.order(Side::Sell, 10, "101").unwrap();
    let tables = || DayTable::ALL.map(|table| rows_found_in(&world, found, day, table));
    assert_eq!(tables(), before);
}

#[test]
fn orders_that_a_replace_fills_and_fills_that_are_taken_back_have_their_rows() {
    let mut world = World::new();
    let day = world.core.state().day();
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.accept(order);
    world.fill(order, 40, "100");
    let replace = world.replace(order, 40, "100").unwrap();
    world.report(&about(order, replace, ReportKind::Replaced));
    let orders = rows(&world, day, DayTable::Orders);
    assert!(orders[0].contains("|filled|40|100|"), "{orders:?}");
    assert!(orders[0].ends_with("|at|at||"), "{orders:?}");
    world.fill(4711, 5, "100");
    let stray = world.core.state().events();
    world.settle(stray, "ours");
    let fills = rows(&world, day, DayTable::Fills);
    let wanted = |kind: &str, exec: u64, of: &str| {
        std::format!("at|{exec}|{kind}|{of}||||A1|XYZ|buy|5|100|SIM-1||")
    };
    let settled = world.core.state().events();
    assert_eq!(fills[1], wanted("fill of an unknown order", stray, ""));
    assert_eq!(
        fills[2],
        wanted("settled away", settled, &stray.to_string())
    );
}

#[test]
fn a_day_whose_beginning_was_removed_begins_behind_its_checkpoint() {
    let mut days = DayNotes::default();
    let world = World::new();
    for (number, (_, note)) in (100..).zip(&world.notes) {
        days.take(number, note);
    }
    let begun = days.notes_of(20_261_122).unwrap();
    assert!(begun.start >= 100);
    // It is known already.
    days.goes_on(20_261_122, 17);
    assert_eq!(days.notes_of(20_261_122), Some(begun.clone()));
    days.goes_on(20_261_121, 17);
    assert_eq!(days.notes_of(20_261_121), Some(17..begun.start));
    let known: Vec<u32> = days.dates().collect();
    assert_eq!(known, [20_261_121, 20_261_122]);
    assert_eq!(days.ended().collect::<Vec<_>>(), [20_261_121]);
    let of = |days: &DayNotes, note| days.day_of(note).map(|day| (day.date, day.first));
    assert_eq!(of(&days, 16), None);
    assert_eq!(of(&days, 17), Some((20_261_121, 17)));
    assert_eq!(of(&days, begun.start - 1), Some((20_261_121, 17)));
    assert_eq!(of(&days, begun.start), Some((20_261_122, begun.start)));
    assert_eq!(days.last(), 99 + world.notes.len() as u64);
    days.went_on_from(20_261_121, 18);
    days.went_on_from(20_261_120, 1);
    assert_eq!(days.notes_of(20_261_121), Some(17..begun.start));
    days.went_on_from(20_261_121, 5);
    assert_eq!(of(&days, 16), Some((20_261_121, 5)));
}

#[test]
fn requests_that_the_oms_rejects_after_doubt_are_listed() {
    let mut world = World::new();
    let day = world.core.state().day();
    let [first, second, third] = [(); 3].map(|()| {
        let order = world.order(Side::Buy, 10, "100").unwrap();
        world.accept(order);
        order
    });
    world.cancel(first).unwrap();
    world.replace(second, 20, "99.95").unwrap();
    let refused = world.cancel(third).unwrap();
    world.decline(refused);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_down(at, line, &mut sink));
    }
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    for order in [first, second] {
        let status = VenueReport {
            status: b'0',
            ..about(order, order, ReportKind::Status(b'0'))
        };
        world.report(&status);
        assert_eq!(world.said, ["Declined"]);
    }
    // The venue's own reject, and a cancel of the OMS, are no requests that the OMS rejected.
    world.says("ann", "cancel firm").unwrap();
    world.work();
    world.decline(world.core.state().last);
    let why = "the venue did not receive the request";
    assert_eq!(
        rows(&world, day, DayTable::Rejected),
        [
            format!("at|CLIENT|cancel|C4|1|A1|XYZ|buy|||{why}"),
            format!("at|CLIENT|replace|C5|2|A1|XYZ|buy|20|99.95|{why}"),
        ]
    );
    world.check();
}

#[test]
fn every_rejected_order_is_listed_with_its_terms() {
    let mut world = World::new();
    let day = world.core.state().day();
    world.says("ann", "kill account=A2").unwrap();
    let killed = world.order_of("K", b"A2", Side::Sell, 20, "100.05");
    assert_eq!(killed, None);
    let unknown = world.order_of("U", b"Z9", Side::Sell, 20, "100.05");
    assert_eq!(unknown, None);
    world.says("ann", "arm account=A2").unwrap();
    let above = world.order_of("Q", b"A2", Side::Buy, 5_000, "99.95");
    assert_eq!(above, None);
    let rows = rows(&world, day, DayTable::Rejected);
    assert_eq!(rows.len(), 3);
    assert!(
        rows[0].starts_with("at|CLIENT|new order|K||A2|XYZ|sell|20|100.05|RC1: "),
        "{rows:?}"
    );
    assert!(
        rows[1].starts_with("at|CLIENT|new order|U|||XYZ|sell|20|100.05|"),
        "{rows:?}"
    );
    assert!(
        rows[2].starts_with("at|CLIENT|new order|Q||A2|XYZ|buy|5000|99.95|RC6: "),
        "{rows:?}"
    );
    world.check();
}

#[test]
fn a_fill_that_settles_a_break_is_settled() {
    let mut world = World::new();
    let day = world.core.state().day();
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.accept(order);
    // The venue has 60, of which 20 never came.
    let report = VenueReport {
        exec: 901,
        last_quantity: Some(Decimal::from_int(40)),
        last_price: Decimal::parse(b"100").ok(),
        filled: Some(Decimal::from_int(60)),
        average: Decimal::parse(b"100").ok(),
        status: b'1',
        ..about(order, order, ReportKind::Fill)
    };
    world.report(&report);
    let number = world.core.state().breaks.iter().next().unwrap().0;
    world.settle(number, "venue");
    assert_eq!(world.said[..2], ["BreakSettled", "Filled"]);
    world.fill(order, 10, "100");
    let kinds = rows(&world, day, DayTable::Fills);
    let kinds = kinds.iter().map(|row| row.split('|').nth(2).unwrap());
    assert_eq!(kinds.collect::<Vec<_>>(), ["fill", "settled", "fill"]);
    let told = super::history::told(&world, order);
    let settled = format!("break {number} settled with the venue's value by ann: why");
    let place = told.iter().position(|it| *it == settled);
    let place = place.unwrap_or_else(|| panic!("{settled} in {told:?}"));
    assert!(
        told[place + 1].starts_with("20 filled at 100, ExecID "),
        "{told:?}"
    );
    assert!(told[place + 1].ends_with(", by settling the break"));
    assert!(!told.last().unwrap().contains("settling"), "{told:?}");
    world.check();
}
