//! Positions that operators set, change and load from files.

use super::controls::limit;
use super::effects::with_effect;
use super::*;
use crate::desk::positions::history::PositionHistory;
use crate::desk::positions::since::PositionsSince;
use crate::desk::query;
use crate::state::event::SetupEvent;
use crate::values::ids::{AccountNo, InstrumentNo};
use crate::values::limits::RiskControl;
use crate::values::value::{Quantity, Trading};
use crate::{Effect, Scope};

const SECOND: i64 = 1_000_000_000;
/// The first moment of tests with moments.
const NOON: i64 = 100 * SECOND;

impl World {
    fn next_day(&mut self) {
        self.begin(20_261_123);
        self.work();
        for line in LINES {
            self.line(line, true);
        }
    }

    /// Long and short quantity of an account in XYZ.
    fn has(&self, account: u32) -> (Quantity, Quantity) {
        let (account, instrument) = (AccountNo::new(account), InstrumentNo::new(0));
        let position = self.core.state().position(account, instrument);
        (position.long, position.short)
    }

    /// A fill with TransactTime(60).
    fn fill_at(&mut self, order: Number, quantity: i64, at: i64) {
        self.execs += 1;
        let report = VenueReport {
            exec: self.execs,
            last_quantity: Some(Decimal::from_int(quantity)),
            last_price: Decimal::parse(b"100").ok(),
            at,
            ..about(order, order, ReportKind::Fill)
        };
        self.report(&report);
    }

    /// What the notes say about fills since a moment.
    fn since(&self, moment: i64) -> PositionsSince {
        let mut since = PositionsSince::new(OmsState::default(), moment);
        self.notes.iter().for_each(|(_, note)| since.take(note));
        since
    }

    /// Loads a total of A1 in XYZ as of a moment.
    fn load_as_of(&mut self, moment: i64, long: &str, short: &str) -> Result<String, String> {
        let since = self.since(moment);
        self.load_since(&since, moment, long, short)
    }

    fn load_since(
        &mut self,
        since: &PositionsSince,
        moment: i64,
        long: &str,
        short: &str,
    ) -> Result<String, String> {
        let row = since.of("A1", "XYZ").unwrap();
        let mut text = format!(
            "load totals as-of={moment} read={} file=p.csv;A1 XYZ {long} {short} {} {}",
            since.events(),
            row.long_before,
            row.short_before
        );
        if let Some(order) = row.turned {
            text += &format!(" turned={order}");
        }
        self.says("ann", &text)
    }
}

#[test]
fn limits_follow_a_position_that_is_set() {
    let mut world = World::new();
    limit(&mut world, Scope::Firm, RiskControl::Long, 100);
    let said = world.says("ann", "position set account=A1 symbol=XYZ long=60");
    assert_eq!(said.unwrap(), "A1 XYZ: long 60 (was 0), short 0 (was 0)");
    assert_eq!(world.said, ["PositionSet"]);
    assert_eq!(world.order(Side::Buy, 50, "100"), None);
    assert_eq!(world.refused, Some(Why::Long));
    let order = world.order(Side::Buy, 40, "100").unwrap();
    world.fill(order, 40, "100");
    assert_eq!(world.has(1), (100, 0));
    let said = world.says("ann", "position adjust account=A1 symbol=XYZ long=-30");
    assert_eq!(said.unwrap(), "A1 XYZ: long 70 (was 100), short 0 (was 0)");
    world.order(Side::Buy, 30, "100").unwrap();
    let said = world.says("ann", "position set account=A1 symbol=XYZ long=70 short=0");
    assert_eq!(said.unwrap(), "A1 XYZ: unchanged: long 70, short 0");
    assert_eq!(world.said, [""; 0]);
    world.check();
    world.restart(20_261_122);
    assert_eq!(world.has(1), (70, 0));
    world.check();
}

#[test]
fn the_note_has_operator_reason_before_and_after() {
    let mut world = World::new();
    world
        .says("ann", "position set account=A2 symbol=XYZ short=7")
        .unwrap();
    let (_, note) = world.notes.last().unwrap();
    assert_eq!(
        OrderEvent::of(&note[8..]),
        Some(OrderEvent::Setup(SetupEvent::PositionSet {
            account: AccountNo::new(2),
            instrument: InstrumentNo::new(0),
            was_long: 0,
            was_short: 0,
            long: 0,
            short: 7,
            who: b"ann",
            why: b"a test",
        }))
    );
}

#[test]
fn the_history_has_each_position_that_was_set() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 10, "100").unwrap();
    world.fill(order, 10, "100");
    world
        .says("ann", "position adjust account=A1 symbol=XYZ long=+5")
        .unwrap();
    world
        .says("bob", "load deltas file=d.csv;A1 XYZ -5 0;A2 ABC 0 3")
        .unwrap();
    let mut history = PositionHistory::new(OmsState::default());
    let steps = world.notes.iter().flat_map(|(_, note)| history.take(note));
    let rows = steps.map(|it| {
        format!(
            "{} {} {}>{} {}>{} {} {} {}",
            it.account,
            it.symbol,
            it.was_long,
            it.long,
            it.was_short,
            it.short,
            it.who,
            it.why,
            it.file
        )
    });
    assert_eq!(
        rows.collect::<Vec<String>>(),
        [
            "A1 XYZ 10>15 0>0 ann a test ",
            "A1 XYZ 15>10 0>0 bob a test d.csv",
            "A2 ABC 0>0 0>3 bob a test d.csv",
        ]
    );
}

#[test]
fn netting_positions_are_one_number() {
    let mut world = World::new();
    let set = "position set account=A1 symbol=XYZ";
    let adjust = "position adjust account=A1 symbol=XYZ";
    world.says("ann", &format!("{set} short=30")).unwrap();
    world.says("ann", &format!("{adjust} long=+50")).unwrap();
    assert_eq!(world.has(1), (20, 0));
    world.says("ann", &format!("{adjust} short=+25")).unwrap();
    assert_eq!(world.has(1), (0, 5));
    let said = world.says("ann", &format!("{set} long=5 short=5"));
    assert_eq!(
        said.unwrap_err(),
        "short: positions of XYZ net, so one of long and short must be 0"
    );
    world.check();
}

#[test]
fn separate_positions_are_set_together() {
    let mut world = with_effect();
    let set = "position set account=A1 symbol=XYZ";
    let said = world.says("ann", &format!("{set} long=5"));
    assert_eq!(
        said.unwrap_err(),
        "XYZ holds long and short side by side: give long=QUANTITY and short=QUANTITY"
    );
    world
        .says("ann", &format!("{set} long=50 short=30"))
        .unwrap();
    assert_eq!(world.has(1), (50, 30));
    let adjust = "position adjust account=A1 symbol=XYZ";
    world
        .says("ann", &format!("{adjust} long=-50 short=+5"))
        .unwrap();
    assert_eq!(world.has(1), (0, 35));
    let order = world.order_that(Effect::Close, Side::Buy, 30).unwrap();
    world.fill(order, 30, "100");
    assert_eq!(world.has(1), (0, 5));
    world.check();
}

#[test]
fn a_wrong_position_is_refused_by_name() {
    let mut world = World::new();
    world
        .says("ann", "position set account=A1 symbol=XYZ long=3")
        .unwrap();
    let notes = world.notes.len();
    for (words, wanted) in [
        (
            "set account=A1 symbol=XYZ",
            "give long=QUANTITY or short=QUANTITY",
        ),
        ("account=A1 symbol=XYZ long=5", "write set or adjust"),
        (
            "set account=A9 symbol=XYZ long=5",
            "account: unknown account A9; did you mean A1?",
        ),
        (
            "set account=A1 symbol=XYY long=5",
            "symbol: unknown symbol XYY; did you mean XYZ?",
        ),
        (
            "set account=A1 symbol=XYZ long=1.5",
            "long: 1.5 must be a whole number up to 9007199254740992",
        ),
        ("set account=A1 symbol=XYZ long=-5", "long: -5 is below 0"),
        (
            "set account=A1 symbol=XYZ lng=5",
            "unknown word lng: the words are set, adjust, account, symbol, long, short",
        ),
        (
            "set account=A1 symbol=XYZ long=+5",
            "long=+5 is not a quantity; to change a position by a quantity, use adjust",
        ),
        (
            "adjust account=A1 symbol=XYZ long=5",
            "long=5 is not a change: write long=+5 or long=-5",
        ),
        (
            "adjust account=A1 symbol=XYZ long=-5",
            "long: the position is 3, so it cannot become 5 less",
        ),
        (
            "adjust account=A1 symbol=XYZ long=+9007199254740990",
            "long: the position would be 9007199254740993, above 9007199254740992, the maximum",
        ),
    ] {
        let said = world.says("ann", &format!("position {words}"));
        assert_eq!(said.unwrap_err(), wanted, "{words}");
    }
    assert_eq!(world.notes.len(), notes, "nothing is applied");
    world.check();
}

#[test]
fn two_people_set_and_load_positions() {
    let mut rules = rules(LIMITS);
    rules.two_arm = true;
    let mut world = World::of(rules);
    for (asked, other) in [
        (
            "position set account=A1 symbol=XYZ long=20",
            "position set account=A1 symbol=XYZ long=21",
        ),
        (
            "load deltas file=d.csv;A1 XYZ 5 0;A2 XYZ 0 3",
            "load deltas file=d.csv;A1 XYZ 5 0;A2 XYZ 0 4",
        ),
    ] {
        let before = (world.has(1), world.has(2));
        let said = world.says("ann (uid 1)", asked).unwrap();
        assert!(said.contains("another operator"), "{said}");
        assert_eq!(world.said, ["ReloadAsked"]);
        assert!(world.says("ann (uid 1)", asked).is_err());
        let said = world.says("bob (uid 2)", other).unwrap();
        assert!(said.contains("another operator"), "another request");
        world.restart(20_261_122);
        world.says("ann (uid 1)", asked).unwrap();
        assert_eq!((world.has(1), world.has(2)), before);
        world.says("bob (uid 2)", asked).unwrap();
        assert_ne!((world.has(1), world.has(2)), before);
        assert!(world.core.state().pending_reload.is_none());
    }
    assert_eq!((world.has(1), world.has(2)), ((25, 0), (0, 3)));
    world.check();
}

#[test]
fn a_position_that_is_set_counts_as_held_since_yesterday() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 10, "100").unwrap();
    world.fill(order, 10, "100");
    world.next_day();
    let order = world.order(Side::Buy, 10, "95").unwrap();
    world.fill(order, 10, "95");
    world.check();
    // The 10 of yesterday have lost 5 each, at a multiplier of 2.
    let gained = |world: &World| world.core.state().firm.tally.gained;
    assert_eq!(gained(&world), -100 * i128::from(SECOND));
    world
        .says("ann", "position adjust account=A1 symbol=XYZ long=+30")
        .unwrap();
    assert_eq!(gained(&world), -400 * i128::from(SECOND));
    world.check();
}

#[test]
fn a_loss_that_a_position_makes_activates_the_kill_switch() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 10, "100").unwrap();
    world.fill(order, 10, "100");
    world.next_day();
    let order = world.order(Side::Buy, 10, "95").unwrap();
    world.fill(order, 10, "95");
    let account = Scope::Account(AccountNo::new(1));
    limit(
        &mut world,
        account,
        RiskControl::Loss,
        500 * i128::from(SECOND),
    );
    assert_eq!(world.core.state().trading(account), Trading::Active);
    world
        .says("ann", "load totals file=p.csv;A1 XYZ 80 0")
        .unwrap();
    assert_eq!(world.core.state().trading(account), Trading::Killed);
    world.check();
}

#[test]
fn a_file_is_loaded_with_all_rows_or_none() {
    let mut world = World::new();
    let wrong = "load totals file=p.csv;A1 XYZ 10 0;A9 XYZ 1 0;A2 XYZ 1.5 0;A1 XYZ 5 0;A1";
    let mistakes = [
        (2, "account: unknown account A9; did you mean A1?"),
        (3, "long: 1.5 must be a whole number up to 9007199254740992"),
        (4, "account: the position is in row 1 too"),
        (5, "account: a row is ACCOUNT SYMBOL LONG SHORT"),
    ];
    let listed = mistakes.map(|(row, what)| format!("row {row}: {what}"));
    assert_eq!(
        world.says("ann", wrong).unwrap_err(),
        format!("nothing is changed:\n{}", listed.join("\n"))
    );
    let checked = mistakes.map(|(row, what)| format!("{row}\t{what}\n"));
    let asked = format!("positions check {}", wrong.strip_prefix("load ").unwrap());
    let answer = query::answer(&world.core, asked.as_bytes());
    assert_eq!(answer.unwrap(), checked.concat());
    assert_eq!(world.has(1), (0, 0));

    let right = "load totals file=of today.csv;A1 XYZ 10 0;A2 ABC 0 4;A2 XYZ 0 0";
    let said = world.says("ann", right).unwrap();
    assert_eq!(
        said,
        "of today.csv: 2 of 3 positions changed\n\
         A1 XYZ: long 10 (was 0), short 0 (was 0)\nA2 ABC: long 0 (was 0), short 4 (was 0)"
    );
    assert_eq!(world.said, ["PositionsLoaded"]);
    let said = world.says("ann", right).unwrap();
    assert_eq!(
        said, "of today.csv: 0 of 3 positions changed",
        "the same again"
    );
    assert_eq!(world.said, [""; 0]);
    world.check();
}

#[test]
fn changes_of_a_file_count_once() {
    let mut world = World::new();
    let load = "load deltas file=d.csv;A1 XYZ 10 0;A2 XYZ 0 +4";
    world.says("ann", load).unwrap();
    world.restart(20_261_122);
    assert_eq!(
        world.says("ann", load).unwrap_err(),
        "d.csv: these changes were loaded already: to apply them once more, add --again"
    );
    assert_eq!((world.has(1), world.has(2)), ((10, 0), (0, 4)));
    world
        .says(
            "ann",
            "load deltas again file=d.csv;A1 XYZ 10 0;A2 XYZ 0 +4",
        )
        .unwrap();
    assert_eq!((world.has(1), world.has(2)), ((20, 0), (0, 8)));
    // Another name or other rows are another file.
    world
        .says("ann", "load deltas file=e.csv;A1 XYZ 10 0;A2 XYZ 0 +4")
        .unwrap();
    world
        .says("ann", "load deltas file=d.csv;A1 XYZ 10 0;A2 XYZ 0 -4")
        .unwrap();
    assert_eq!((world.has(1), world.has(2)), ((40, 0), (0, 8)));
    world.check();
}

#[test]
fn totals_of_a_moment_get_the_fills_since() {
    let mut world = World::new();
    world.at = NOON;
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.fill_at(order, 10, NOON);
    let moment = NOON + 2 * SECOND;
    world.at = moment + 5 * SECOND;
    world.fill_at(order, 20, moment + SECOND);
    // The venue reports late a fill that the total has.
    world.fill_at(order, 5, moment - SECOND);
    // A report without TransactTime(60) counts by when it arrived.
    world.fill_at(order, 7, 0);
    assert_eq!(world.has(1), (42, 0));
    world.at += 2 * SECOND;
    let row = world.since(moment).of("A1", "XYZ").unwrap();
    assert_eq!((&*row.long_since, &*row.short_since), ("27", "0"));
    assert_eq!((&*row.long_before, &*row.long), ("15", "42"));
    assert_eq!(row.doubts, [""; 0]);
    let said = world.load_as_of(moment, "0", "30").unwrap();
    assert_eq!(
        said,
        "p.csv: 1 of 1 position changed\nA1 XYZ: long 0 (was 42), short 3 (was 0)"
    );
    // The same file again changes nothing, also after more fills.
    assert!(
        world
            .load_as_of(moment, "0", "30")
            .unwrap()
            .contains("0 of 1")
    );
    world.fill_at(order, 9, world.at);
    assert_eq!(world.has(1), (6, 0));
    assert!(
        world
            .load_as_of(moment, "0", "30")
            .unwrap()
            .contains("0 of 1")
    );
    // A change by an operator is no fill: the total replaces it.
    world
        .says("ann", "position adjust account=A1 symbol=XYZ long=+50")
        .unwrap();
    world.load_as_of(moment, "0", "30").unwrap();
    assert_eq!(world.has(1), (6, 0));
    world.check();
}

#[test]
fn fills_between_the_reading_and_the_command_count() {
    let mut world = World::new();
    world.at = NOON;
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.fill_at(order, 10, NOON);
    let moment = NOON + SECOND;
    world.at = moment + 5 * SECOND;
    let since = world.since(moment);
    world.fill_at(order, 20, world.at);
    world.load_since(&since, moment, "100", "0").unwrap();
    assert_eq!(world.has(1), (120, 0));
    // A fill that the total has, and a change by an operator, have to be read first.
    let since = world.since(moment);
    world.fill_at(order, 3, moment - SECOND);
    assert_eq!(
        world.load_since(&since, moment, "100", "0").unwrap_err(),
        "a fill of an earlier time, or one that closed a position, was reported while the file was read: load it again"
    );
    let since = world.since(moment);
    world
        .says("ann", "position adjust account=A1 symbol=XYZ long=+50")
        .unwrap();
    assert_eq!(
        world.load_since(&since, moment, "100", "0").unwrap_err(),
        "positions were set while the file was read: load it again"
    );
    world.load_as_of(moment, "100", "0").unwrap();
    assert_eq!(world.has(1), (120, 0));
    let now = world.at;
    assert_eq!(
        world.load_as_of(now, "100", "0").unwrap_err(),
        "the moment of the totals must be at least a second ago: load them later"
    );
    world.check();
}

#[test]
fn a_bust_after_the_moment_takes_its_fill_out_of_the_total() {
    let mut world = World::new();
    world.at = NOON;
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.fill_at(order, 10, NOON);
    let first = world.execs;
    let moment = NOON + 2 * SECOND;
    world.at = moment + SECOND;
    world.fill_at(order, 20, world.at);
    let bust = |exec: u64, by: u64, at: i64| VenueReport {
        exec: by,
        reference: Some(exec),
        last_quantity: None,
        at,
        ..about(order, order, ReportKind::Bust)
    };
    world.report(&bust(first, 77, world.at));
    world.report(&bust(first + 1, 78, world.at));
    assert_eq!(world.has(1), (0, 0));
    world.at += 5 * SECOND;
    let row = world.since(moment).of("A1", "XYZ").unwrap();
    assert_eq!((&*row.long_since, &*row.long_before), ("-10", "10"));
    world.load_as_of(moment, "12", "0").unwrap();
    assert_eq!(world.has(1), (2, 0));
    world.check();
}

#[test]
fn a_fill_whose_time_nobody_knows_is_named() {
    let mut world = World::new();
    world.at = NOON;
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.accept(order);
    world
        .says(
            "ann",
            &format!("report order={order} type=fill quantity=10 price=100 exec=H1"),
        )
        .unwrap();
    let doubts = |world: &World, moment: i64| {
        let row = world.since(moment).of("A1", "XYZ").unwrap();
        row.doubts.join(", ")
    };
    assert_eq!(
        doubts(&world, NOON - SECOND),
        format!("a fill of order {order} was entered by hand, or settled")
    );
    assert_eq!(doubts(&world, NOON + SECOND), "", "before the moment");
    world.check();
}

#[test]
fn totals_are_refused_while_fills_are_in_doubt() {
    let load = "load totals file=p.csv;A1 XYZ 10 0";
    let doubt = |why: &str| {
        format!("nothing is changed:\nrow 1: account: fills of A1 XYZ are in doubt: {why}")
    };
    let mut world = World::new();
    let order = world.buy();
    world.accept(order);
    world.line(LINES[0], false);
    world.work();
    assert_eq!(
        world.says("ann", load).unwrap_err(),
        doubt(&format!(
            "order {order} is open on line SIM-1, which is down"
        ))
    );
    assert!(
        world
            .says("ann", "position set account=A1 symbol=XYZ long=5")
            .is_err()
    );
    world
        .says("ann", "load totals file=p.csv;A2 XYZ 10 0")
        .unwrap();
    world
        .says("ann", "position adjust account=A1 symbol=XYZ long=+5")
        .unwrap();
    world.line(LINES[0], true);
    world.work();
    world.says("ann", load).unwrap();

    let unsure = world.buy();
    let line = world
        .core
        .state()
        .orders()
        .get(unsure)
        .unwrap()
        .line()
        .unwrap();
    world.line(line, false);
    world.line(line, true);
    assert_eq!(
        world.says("ann", load).unwrap_err(),
        doubt(&format!("the state of order {unsure} is unknown"))
    );
    world.accept(unsure);
    world.says("ann", load).unwrap();

    world.fill_again(99, 10, "100", 4_711);
    let number = world.core.state().events();
    assert_eq!(
        world.says("ann", load).unwrap_err(),
        doubt(&format!(
            "break {number}, a fill of an unknown order, is open"
        ))
    );
    world.settle(number, "ours");
    world.says("ann", load).unwrap();
    world.check();
}

#[test]
fn two_people_load_totals_of_a_moment_with_the_same_quantities() {
    let mut rules = rules(LIMITS);
    rules.two_arm = true;
    let mut world = World::of(rules);
    world.at = NOON;
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.fill_at(order, 10, NOON);
    let moment = NOON + SECOND;
    world.at = moment + 5 * SECOND;
    let load = |world: &World, before: u32| {
        let read = world.core.state().events();
        format!("load totals as-of={moment} read={read} file=p.csv;A1 XYZ 30 0 {before} 0")
    };
    let asked = load(&world, 10);
    world.says("ann (uid 1)", &asked).unwrap();
    // The quantity without the fills since then is part of the position that results.
    let other = load(&world, 0);
    let said = world.says("bob (uid 2)", &other).unwrap();
    assert!(said.contains("another operator"), "{said}");
    assert_eq!(world.has(1), (10, 0));
    // What was read later is the same request.
    let asked = load(&world, 0);
    world.says("cat (uid 3)", &asked).unwrap();
    assert_eq!(world.has(1), (40, 0));
    world.check();
}

/// A world with separate positions, with 10 long in the OMS at a moment that is 5 s ago.
fn held_at_a_moment() -> (World, i64) {
    let mut world = with_effect();
    world.at = NOON;
    let order = world.order_that(Effect::Open, Side::Buy, 10).unwrap();
    world.fill_at(order, 10, NOON);
    let moment = NOON + SECOND;
    world.at = moment + 5 * SECOND;
    (world, moment)
}

#[test]
fn a_close_above_the_position_is_refused_by_name() {
    // The OMS does not have the 10 that the total has.
    let (mut world, moment) = held_at_a_moment();
    let order = world.order_that(Effect::Close, Side::Sell, 10).unwrap();
    world
        .says("ann", "position set account=A1 symbol=XYZ long=0 short=0")
        .unwrap();
    let since = world.since(moment);
    let at = world.at;
    world.fill_at(order, 10, at);
    assert_eq!(world.has(1), (0, 10));
    assert!(
        world
            .load_since(&since, moment, "10", "0")
            .unwrap_err()
            .ends_with("while the file was read: load it again")
    );
    assert_eq!(
        world.load_as_of(moment, "10", "0").unwrap_err(),
        format!(
            "nothing is changed:\nrow 1: account: a fill of order {order} after the moment closed more than the position \
             of A1 XYZ in the OMS, so its effect on the total is unknown: load a total of a later moment"
        )
    );
    assert_eq!(world.has(1), (0, 10));
    world.check();
}

#[test]
fn a_close_within_the_position_counts() {
    let (mut world, moment) = held_at_a_moment();
    let order = world.order_that(Effect::Close, Side::Sell, 10).unwrap();
    let at = world.at;
    world.fill_at(order, 10, at);
    assert_eq!(world.has(1), (0, 0));
    world.at += 2 * SECOND;
    world.load_as_of(moment, "15", "3").unwrap();
    assert_eq!(world.has(1), (5, 3));
    // A bust opens it again.
    let bust = VenueReport {
        exec: 77,
        reference: Some(world.execs),
        last_quantity: None,
        at: world.at,
        ..about(order, order, ReportKind::Bust)
    };
    world.report(&bust);
    world.at += 2 * SECOND;
    world.load_as_of(moment, "15", "3").unwrap();
    assert_eq!(world.has(1), (15, 3));
    // Where positions net, a sale of more than the position is no doubt.
    let mut world = World::new();
    world.at = NOON;
    let order = world.order(Side::Sell, 30, "100").unwrap();
    world.fill_at(order, 30, NOON);
    world.at = NOON + 5 * SECOND;
    world.load_as_of(NOON - SECOND, "10", "0").unwrap();
    assert_eq!(world.has(1), (0, 20));
    world.check();
}

#[test]
fn a_symbol_that_is_not_in_the_settings_is_refused() {
    let mut world = World::new();
    *world
        .core
        .instruments
        .get_mut(InstrumentNo::new(0))
        .unwrap() = None;
    for text in [
        "position set account=A1 symbol=XYZ long=10",
        "position adjust account=A1 symbol=XYZ long=+10",
        "load totals file=p.csv;A1 XYZ 10 0",
        "load deltas file=p.csv;A1 XYZ 10 0",
    ] {
        let said = world.says("ann", text).unwrap_err();
        let wanted =
            "symbol: XYZ is not in the settings, so it is unknown whether its positions net";
        assert!(said.contains(wanted), "{text}: {said}");
    }
    assert_eq!(world.has(1), (0, 0));
}

#[test]
fn totals_of_separate_positions_need_both_columns() {
    let mut world = with_effect();
    world
        .says("ann", "load totals file=p.csv;A1 XYZ 10 4;A1 ABC - 3")
        .unwrap();
    assert_eq!(
        world
            .says("ann", "load totals file=q.csv;A1 XYZ 20 -")
            .unwrap_err(),
        "nothing is changed:\nrow 1: short: XYZ holds long and short side by side, so its totals need the columns long \
         and short"
    );
    world
        .says("ann", "load deltas file=d.csv;A1 XYZ 5 -")
        .unwrap();
    assert_eq!(world.has(1), (15, 4));
    world.check();
}
