//! Busts and corrections of orders that have left memory: each is a break, and the order is read from the journal.

use fixwire_oms::LeftMemory;

use super::*;

/// Settings with which an order leaves memory when two others have ended.
const FORGETS: &str = "remembered = 2\n";

impl Office {
    /// Two orders end, so that the orders before them leave memory.
    fn others_end(&mut self) {
        for id in ["Z1", "Z2"] {
            let order = self.order(&format!("{id}-{}", self.desk.state().events()), DAY);
            self.report(order, "17=Z|150=4|39=4|14=0|151=0|");
        }
    }

    fn is_in_memory(&self, order: u64) -> bool {
        self.desk.state().orders().get(order).is_some()
    }

    /// Gives a command as `fixwire oms` does: an order that the answer names is read from the journal first.
    fn with_journal(&mut self, text: &str) -> (String, Vec<Said>) {
        let (mut answer, mut said) = self.command(text);
        for _ in 0..4 {
            let Some(wanted) = LeftMemory::of_answer(&answer) else {
                break;
            };
            let Some(command) = self.desk.recall(&wanted).unwrap() else {
                break;
            };
            let (recalled, more) = self.command(&command);
            assert!(more.is_empty(), "{more:?}");
            if LeftMemory::of_answer(&recalled).is_some() {
                answer = recalled;
                continue;
            }
            (answer, said) = self.command(text);
        }
        (answer, said)
    }
}

/// What a client or a drop copy reads of a report. Numbers of events depend on what happened meanwhile.
fn told(said: &[Said]) -> Vec<Vec<(u32, String)>> {
    let reports = said.iter().filter(|it| it.to != LINE);
    let told = reports.map(|it| {
        let mut fields = it.fields.clone();
        fields.retain(|(tag, _)| ![9, 10, 17, 34, 52, 60].contains(tag));
        fields.push((0, it.to.to_string()));
        fields
    });
    told.collect()
}

/// What the sessions read when nothing is sent.
const NOTHING: Vec<Vec<(u32, String)>> = Vec::new();

/// How a bust or correction is said.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Venue,
    Command,
    Row,
}

/// Plays an order with two fills, of which the first is busted or corrected a day later: what the sessions read, the
/// position, the breaks.
fn play(
    (client, venue): (Version, Version),
    (by, is_correction): (By, bool),
    (leaves, from_checkpoint): (bool, bool),
) -> (Vec<Vec<(u32, String)>>, u64, usize) {
    let keys = if leaves { FORGETS } else { "" };
    let mut office = Office::with(client, venue, keys);
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 40, 40);
    office.fill(order, "E2", 60, 100);
    office.others_end();
    office.next_day(from_checkpoint);
    office.others_end();
    assert_eq!(office.is_in_memory(order), !leaves);
    let what = if is_correction { "32=30|31=99.95|" } else { "" };
    let (_, said) = match by {
        By::Venue => {
            let said = office.undo(order, ("E9", "E1"), what, '4');
            match leaves {
                false => (String::new(), said),
                true => {
                    assert_eq!(told(&said), NOTHING, "nothing is changed");
                    assert_eq!(office.long(), 100);
                    let number = number(&office.breaks());
                    office.with_journal(&format!("settle break={number} venue"))
                }
            }
        }
        By::Command if is_correction => {
            office.with_journal("correct fill=1/E1 quantity=30 price=99.95")
        }
        By::Command => office.with_journal("bust fill=1/E1"),
        By::Row if is_correction => office
            .with_journal("report order=1 type=correct quantity=30 price=99.95 exec=E9 ref=E1"),
        By::Row => office.with_journal("report order=1 type=bust exec=E9 ref=E1"),
    };
    assert_eq!(office.desk.state().violations(), 0);
    // The same again, from the notes, and the report of the venue.
    office.desk.hear(&Input::Restart(0, from_checkpoint));
    office.log_on();
    let again = office.undo(order, ("E9", "E1"), what, '4');
    assert_eq!(told(&again), NOTHING, "{by:?}");
    assert_eq!(office.desk.state().violations(), 0);
    (told(&said), office.long(), office.breaks().len())
}

#[test]
fn an_order_that_left_memory_is_busted_as_one_that_did_not() {
    for versions in [
        (Version::Fix42, Version::Fix42),
        (Version::Fix44, Version::Fix44),
        (Version::Fix50Sp2, Version::Fix44),
    ] {
        for by in [By::Venue, By::Command, By::Row] {
            for is_correction in [false, true] {
                for from_checkpoint in [false, true] {
                    let known = play(versions, (by, is_correction), (false, from_checkpoint));
                    let left = play(versions, (by, is_correction), (true, from_checkpoint));
                    let long = if is_correction { 90 } else { 60 };
                    let case = (versions, by, is_correction, from_checkpoint);
                    assert_eq!((known.1, known.2), (long, 0), "{case:?}");
                    assert_eq!(known.0.len(), 3, "the client and two copies: {case:?}");
                    assert_eq!(left, known, "{case:?}");
                }
            }
        }
    }
}

#[test]
fn an_order_that_comes_back_has_the_fields_that_it_carried() {
    let fields = "115=FIRM|528=A|453=1|448=ME|447=D|452=1|58=text";
    for (from_checkpoint, by_venue) in [(false, false), (true, false), (true, true)] {
        let mut office = Office::with(Version::Fix44, Version::Fix44, FORGETS);
        let (header, body) = fields.split_once('|').unwrap();
        let order = "11=C1|21=1|55=XYZ|54=1|38=100|40=2|44=100|60=20261122-08:00:00|";
        let said = format!("{header}|{order}{body}|");
        office.desk.says(CLIENT, "D", &said);
        office.report(1, "17=N|150=0|39=0|14=0|151=100|");
        office.fill(1, "E1", 40, 40);
        office.fill(1, "E2", 60, 100);
        office.others_end();
        office.next_day(from_checkpoint);
        office.others_end();
        assert!(!office.is_in_memory(1));
        if by_venue {
            office.undo(1, ("E9", "E1"), "", '4');
            let number = number(&office.breaks());
            office.with_journal(&format!("settle break={number} venue"));
        } else {
            office.with_journal("bust fill=1/E1");
        }
        assert!(office.is_in_memory(1));
        for from_checkpoint in [false, true] {
            let shown = office.desk.query("order 1");
            assert!(shown.contains(fields), "{shown}");
            office.desk.hear(&Input::Restart(0, from_checkpoint));
            office.log_on();
        }
    }
}

#[test]
fn a_bust_of_an_order_that_is_not_in_memory_is_a_break_that_names_the_fill() {
    for venue in [Version::Fix42, Version::Fix44] {
        let mut office = Office::with(Version::Fix44, venue, "remembered = 0\n");
        let order = office.order("C1", DAY);
        office.fill(order, "E1", 100, 100);
        assert!(!office.is_in_memory(order));
        office.desk.events();
        let said = office.undo(order, ("E2", "E1"), "", '4');
        assert!(said.is_empty(), "{said:?}");
        let found = number(&office.breaks());
        assert_eq!(
            office.desk.events(),
            [format!(
                "break {found}: bust or correction of fill E1 of order 1, which is not in memory: nothing is changed: check with the venue; fixwire oms breaks settle finds the order in the journal"
            )]
        );
        assert_eq!(
            office.breaks(),
            [format!(
                "{found}\tbust of a fill that is not in memory\t1\tSIM-1\t\tXYZ\tnothing is changed\tbust of fill E1\t1"
            )]
        );
        assert_eq!(office.long(), 100);
        assert_eq!(
            office.command("bust fill=1/E1").0,
            "no order 1 in memory: it is unknown, or was closed long ago"
        );
        let status = office.desk.query("status");
        assert!(status.lines().nth(1).unwrap().contains("\t1\t"), "{status}");
        // The report again is the same break, also after a restart.
        office
            .desk
            .hear(&Input::Restart(0, venue == Version::Fix44));
        office.log_on();
        office.undo(order, ("E2", "E1"), "", '4');
        assert_eq!(office.breaks().len(), 1);
        // No order is kept in memory, so that none can be brought back.
        let (answer, _) = office.with_journal(&format!("settle break={found} venue"));
        assert!(answer.contains("no order 1 in memory"), "{answer}");
        let command = office.desk.recall(&LeftMemory::Order(1)).unwrap().unwrap();
        assert_eq!(
            office.command(&command).0,
            "order 1: remembered must be at least 2: with 0 the OMS removes closed orders from memory at once"
        );
        assert_eq!(
            office.command(&format!("settle break={found} ours")).0,
            format!("break {found}: settled: nothing is changed")
        );
        // Once an operator has decided, the same report is no news.
        office.undo(order, ("E2", "E1"), "", '4');
        assert_eq!((office.breaks().len(), office.long()), (0, 100));
        assert_eq!(office.desk.state().violations(), 0);
    }
}

#[test]
fn a_bust_for_what_the_oms_never_had_is_a_break_that_only_our_side_can_settle() {
    let mut office = Office::new(Version::Fix44, Version::Fix44);
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 100, 100);
    for (id, symbol, why) in [
        (
            "WHOSE",
            "XYZ",
            "ClOrdID(11) or Symbol(55) of the report is unknown",
        ),
        ("99", "XYZ", "no order 99 in memory"),
        ("1", "ABC", ""),
    ] {
        office.desk.events();
        let what =
            format!("37=V9|11={id}|17=B{id}|19=E7|150=H|39=4|14=0|151=0|55={symbol}|54=1|38=100|");
        office.desk.says(LINE, "8", &what);
        let events = office.desk.events();
        assert!(
            events[0].contains(&format!("fill E7 of order {id}")),
            "{events:?}"
        );
        let found = number(&office.breaks());
        let (answer, _) = office.with_journal(&format!("settle break={found} venue"));
        let ours = "settle it with ours, and change the position with fixwire oms position adjust";
        assert!(
            answer.starts_with(why) && answer.ends_with(ours),
            "{answer}"
        );
        office.command(&format!("settle break={found} ours"));
        assert_eq!((office.breaks().len(), office.long()), (0, 100));
    }
}

#[test]
fn a_bust_by_hand_closes_the_break_of_the_venue_and_a_different_correction_does_not() {
    for (command, is_closed) in [
        ("correct fill=1/E1 quantity=30 price=99.95", true),
        ("correct fill=1/E1 quantity=20 price=99.95", false),
    ] {
        let mut office = Office::with(Version::Fix44, Version::Fix44, FORGETS);
        let order = office.order("C1", DAY);
        office.fill(order, "E1", 100, 100);
        office.others_end();
        office.undo(order, ("E9", "E1"), "32=30|31=99.95|", '4');
        assert_eq!(office.breaks().len(), 1);
        let (answer, _) = office.with_journal(command);
        assert!(answer.contains("of order 1: is "), "{answer}");
        assert_eq!(office.breaks().is_empty(), is_closed);
        assert_eq!(office.desk.state().violations(), 0);
    }
}

#[test]
fn a_bust_that_was_applied_before_its_order_left_memory_is_no_news() {
    for by in ["venue", "row"] {
        let mut office = Office::with(Version::Fix44, Version::Fix44, FORGETS);
        let order = office.order("C1", DAY);
        office.fill(order, "E1", 100, 100);
        match by {
            "venue" => office.undo(order, ("E9", "E1"), "", '4'),
            _ => office.command("report order=1 type=bust exec=E9 ref=E1").1,
        };
        office.others_end();
        assert!(!office.is_in_memory(order));
        office.desk.events();
        office.there.insert((order, String::new()), 0);
        office.report(order, "17=E9|19=E1|150=H|39=4|14=0|151=0|");
        assert_eq!(office.breaks(), [""; 0], "{by}");
        // Another one is a break; with the order in memory, the fill is busted already.
        office.report(order, "17=E10|19=E1|150=H|39=4|14=0|151=0|");
        let found = number(&office.breaks());
        let (answer, _) = office.with_journal(&format!("settle break={found} venue"));
        assert!(
            answer.contains("fill is busted already: settle it with ours"),
            "{answer}"
        );
    }
}

#[test]
fn two_operators_settle_and_bust_what_left_memory() {
    let keys = format!("{FORGETS}arming = \"two people\"\n");
    let mut office = Office::with(Version::Fix44, Version::Fix44, &keys);
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 100, 100);
    office.others_end();
    office.undo(order, ("E9", "E1"), "", '4');
    let found = number(&office.breaks());
    let (answer, _) = office.with_journal(&format!("settle break={found} venue"));
    assert!(
        answer.contains("another operator must settle it"),
        "{answer}"
    );
    office.desk.hear(&Input::Restart(0, true));
    office.log_on();
    let (answer, said) = office
        .desk
        .command_of("bob", &format!("settle break={found} venue"));
    assert!(
        answer.contains("the bust is applied to order 1"),
        "{answer}"
    );
    assert_eq!(of(&said, CLIENT).get(150), Some("H"));
    assert_eq!((office.long(), office.breaks().len()), (0, 0));
}

#[test]
fn prices_that_have_more_decimals_by_now_are_those_of_the_fill() {
    let mut office = Office::with(Version::Fix44, Version::Fix44, FORGETS);
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 100, 100);
    office.others_end();
    assert!(!office.is_in_memory(order));
    // A fill of another order gives the symbol more decimals.
    let other = office.order("C2", DAY);
    office.report(other, "17=X1|150=F|39=1|32=10|31=99.12345|14=10|151=90|");
    let (answer, said) = office.with_journal("bust fill=1/E1");
    assert!(
        answer.ends_with("is busted (was 100 at 100); CumQty(14) 0"),
        "{answer}"
    );
    assert_eq!(fields(&of(&said, CLIENT), &[150, 39, 14, 151]), "H 4 0 0");
    assert_eq!(office.long(), 10);
    assert_eq!(office.desk.state().violations(), 0);
}

#[test]
fn a_fill_that_left_memory_is_found_by_the_exec_id_of_its_client() {
    let passed = SETTINGS.replace(
        "name = \"SIM\"\n",
        "name = \"SIM\"\nvenue_exec_id = \"17\"\n",
    );
    for settings in [SETTINGS.to_owned(), passed] {
        let settings = settings.replace("orders = 100\n", "orders = 100\nremembered = 2\n");
        let mut office = Office::of(Version::Fix44, Version::Fix44, settings);
        let order = office.order("C1", DAY);
        let fill = office.fill(order, "E1", 100, 100);
        office.others_end();
        assert!(!office.is_in_memory(order));
        let name = fill.get(17).unwrap();
        let (answer, said) = office.with_journal(&format!("bust fill={name}"));
        assert!(answer.contains("of order 1: is busted"), "{answer}");
        assert_eq!(of(&said, CLIENT).get(19), Some(name));
        assert_eq!(office.long(), 0);
    }
}

#[test]
fn a_child_that_left_memory_reports_to_the_client_of_its_parent() {
    let settings = SETTINGS
        .replace("orders = 100\n", "orders = 100\nremembered = 2\n")
        .replace(
            "account = \"A1\"\n[[line",
            "account = \"A1\"\nparents = 5\n[[line",
        )
        .replace("[[account]]", "[oms.own_tags]\nparent = 9705\n[[account]]");
    let mut office = Office::of(Version::Fix44, Version::Fix44, settings);
    let new = "55=XYZ|54=1|38=100|40=2|44=100|59=0|60=20261122-08:00:00|";
    office.desk.says(CLIENT, "D", &format!("11=P|21=3|{new}"));
    office
        .desk
        .says(CLIENT, "D", &format!("11=C|21=1|{new}9705=1|"));
    office.report(2, "17=N|150=0|39=0|14=0|151=100|");
    let said = office.report(2, "17=E1|150=F|39=1|32=60|31=100|14=60|151=40|");
    let of_parent = |said: &[Said]| {
        let mut its = said
            .iter()
            .filter(|it| it.to == CLIENT && it.get(37) == Some("1"));
        its.next().cloned()
    };
    let fill = of_parent(&said).expect("the fill of the parent");
    let said = office.report(2, "17=E2|150=F|39=2|32=40|31=100|14=100|151=0|");
    let other_fill = of_parent(&said).expect("the fill of the parent");
    office.others_end();
    assert!(!office.is_in_memory(1) && !office.is_in_memory(2));
    let (answer, said) = office.with_journal("bust fill=2/E1");
    assert!(answer.contains("of order 2: is busted"), "{answer}");
    let busted = of_parent(&said).expect("the bust for the parent");
    assert_eq!(busted.get(19), fill.get(17));
    assert_eq!(fields(&busted, &[150, 39, 14, 151]), "H 4 40 0");
    // Both leave memory once more; the child first, so that it still has its parent.
    while office.is_in_memory(2) {
        assert!(office.is_in_memory(1));
        office.others_end();
    }
    office.others_end();
    assert!(!office.is_in_memory(1));
    let (answer, said) = office.with_journal("bust fill=2/E2");
    assert!(answer.contains("of order 2: is busted"), "{answer}");
    let busted = of_parent(&said).expect("the second bust for the parent");
    assert_eq!(busted.get(19), other_fill.get(17));
    assert_eq!(fields(&busted, &[150, 39, 14, 151]), "H 4 0 0");
    assert_eq!((office.long(), office.desk.state().violations()), (0, 0));
}

#[test]
fn the_history_says_who_took_a_fill_back() {
    let mut office = Office::with(Version::Fix44, Version::Fix44, FORGETS);
    let order = office.order("C1", DAY);
    for (exec, quantity, cum) in [("E1", 10, 10), ("E2", 20, 30), ("E3", 70, 100)] {
        office.fill(order, exec, quantity, cum);
    }
    office.undo(order, ("B1", "E1"), "", '4');
    office.others_end();
    office.undo(order, ("B2", "E2"), "", '4');
    office.with_journal("correct fill=1/E3 quantity=60 price=100");
    let found = number(&office.breaks());
    office.with_journal(&format!("settle break={found} venue"));
    let history = office.desk.history(order);
    let wanted = [
        "busted by the venue: 10 at 100 is no fill any more",
        "closed long enough ago: removed from memory",
        "bust of fill E2, which is not in memory: nothing is changed",
        "in memory again, for ann: why",
        "report entered by ann: why",
        "corrected by an operator: 70 at 100 is 60 at 100",
    ];
    let at = history.iter().position(|it| it == wanted[0]).unwrap();
    assert_eq!(history[at..][..wanted.len()], wanted);
    // The CumQty(14) of the venue is from before the correction by hand, so our side is right here.
    let (answer, _) = office.with_journal(&format!("settle break={found} venue"));
    assert!(
        answer.contains("CumQty(14) after it is another"),
        "{answer}"
    );
}

#[test]
fn an_order_comes_back_only_from_the_journal_of_its_oms() {
    let mut office = Office::with(Version::Fix44, Version::Fix44, FORGETS);
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 100, 100);
    office.others_end();
    let command = office.desk.recall(&LeftMemory::Order(1)).unwrap().unwrap();
    let wrong = "order 1: the row is not of this journal, or another build has written it";
    for (changed, wanted) in [
        (
            command.replace("order=1 ", "order=3 "),
            wrong.replace('1', "3"),
        ),
        (
            command.replace("price-scale=2", "price-scale=9"),
            wrong.to_owned(),
        ),
        (format!("{command}00"), wrong.to_owned()),
        (
            format!("{command}0"),
            "row must have two hexadecimal digits for each byte".to_owned(),
        ),
        (
            command.replace("price-scale=2", "price-scale=x"),
            "price-scale=x is not a number".to_owned(),
        ),
    ] {
        let events = office.desk.state().events();
        let (answer, _) = office.command(&changed);
        let found = answer.contains("in memory already");
        assert!(answer == wanted || found, "{answer}, wanted {wanted}");
        assert_eq!(office.desk.state().events(), events);
    }
    assert_eq!(office.command(&command).0, "order 1: in memory again");
    assert_eq!(office.command(&command).0, "order 1: in memory already");
    assert!(office.desk.query("order 1").contains("\tC1\tA1\t"));
    assert_eq!(office.desk.recall(&LeftMemory::Order(77)), Ok(None));
}

#[test]
fn a_fill_that_counts_without_its_order_counts_once_when_the_order_is_back() {
    for from_checkpoint in [false, true] {
        let mut office = Office::with(Version::Fix44, Version::Fix44, FORGETS);
        let order = office.order("C1", DAY);
        office.fill(order, "E1", 40, 40);
        office.report(order, "17=X|150=4|39=4|14=40|151=0|");
        office.others_end();
        // The venue's last fill is late: it is one of no order.
        let late = "1=A1|17=E2|150=F|39=2|32=60|31=100|14=100|151=0|97=Y|";
        office.report(order, late);
        assert_eq!((office.long(), office.breaks().len()), (100, 1));
        let (answer, _) =
            office.with_journal("report order=1 type=fill quantity=60 price=100 exec=E2");
        assert!(
            office.is_in_memory(order) && answer.contains("and takes no fill"),
            "{answer}"
        );
        office.desk.hear(&Input::Restart(0, from_checkpoint));
        office.log_on();
        let (answer, _) = office.command("report order=1 type=fill quantity=60 price=100 exec=E2");
        assert!(
            answer.contains("was read from the journal, and takes no fill"),
            "{answer}"
        );
        office.report(order, late);
        assert_eq!((office.long(), office.breaks().len()), (100, 1));
        // A bust of that fill takes it out of the position, and one of the order's own fill changes the order.
        office.report(order, "17=B2|19=E2|150=H|39=4|14=40|151=0|");
        assert_eq!((office.long(), office.breaks().len()), (40, 0));
        office.report(order, "17=B1|19=E1|150=H|39=4|14=0|151=0|");
        assert_eq!((office.long(), office.breaks().len()), (0, 0));
        assert_eq!(office.desk.state().violations(), 0);
    }
}

#[test]
fn a_bust_with_the_exec_id_of_another_is_a_break_of_its_own() {
    for next_day in [false, true] {
        let mut office = Office::with(Version::Fix44, Version::Fix44, FORGETS);
        let order = office.order("C1", DAY);
        office.fill(order, "E1", 100, 100);
        office.undo(order, ("B1", "E1"), "", '4');
        let other = office.order("C2", DAY);
        office.fill(other, "F1", 100, 100);
        office.others_end();
        if next_day {
            office.next_day(true);
        }
        // Known: the fill of the first order is busted already.
        office.report(order, "17=B1|19=E1|150=H|39=4|14=0|151=0|");
        assert_eq!(office.breaks(), [""; 0]);
        office.undo(other, ("B1", "F1"), "", '4');
        let found = number(&office.breaks());
        office.report(other, "17=B1|19=F1|150=H|39=4|14=0|151=0|");
        office.report(order, "17=B1|19=E7|150=H|39=4|14=0|151=0|");
        assert_eq!(office.breaks().len(), 2);
        office.command(&format!("settle break={found} ours"));
        office.report(other, "17=B1|19=F1|150=H|39=4|14=0|151=0|");
        assert_eq!(office.breaks().len(), 1);
    }
}

#[test]
fn a_fill_taken_out_of_the_position_the_day_before_is_another_one_than_that_of_today() {
    let mut office = Office::with(Version::Fix44, Version::Fix44, FORGETS);
    let bust = "37=V|11=99|17=B1|19=E1|150=H|39=4|14=0|151=0|55=XYZ|54=1|38=100|";
    let fill = "37=V|11=99|1=A1|17=E1|150=F|39=1|32=10|31=100|14=10|151=90|55=XYZ|54=1|38=100|";
    office.desk.says(LINE, "8", fill);
    let found = number(&office.breaks());
    office.command(&format!("settle break={found} ours"));
    assert_eq!(office.long(), 0);
    office.desk.says(LINE, "8", &bust.replace("17=B1", "17=B0"));
    assert_eq!(office.breaks(), [""; 0], "it is out already");
    office.next_day(true);
    office.desk.says(LINE, "8", bust);
    assert_eq!(office.breaks().len(), 1);
}

#[test]
fn a_bust_of_a_short_sale_may_say_exempt_or_not() {
    for (sent, said) in [(5, 6), (6, 5)] {
        let mut office = Office::with(Version::Fix44, Version::Fix44, FORGETS);
        let order = format!("55=XYZ|54={sent}|38=100|40=2|44=100|114=N|60=20261122-08:00:00|");
        office.desk.says(CLIENT, "D", &format!("11=S1|{order}"));
        let report = |what: &str| format!("37=V1|11=1|{what}55=XYZ|54={said}|38=100|");
        let new = report("17=N1|150=0|39=0|14=0|151=100|");
        office.desk.says(LINE, "8", &new);
        let fill = report("17=E1|150=F|39=2|32=100|31=100|14=100|151=0|");
        office.desk.says(LINE, "8", &fill);
        office.others_end();
        assert!(!office.is_in_memory(1));
        let bust = report("17=E9|19=E1|150=H|39=4|14=0|151=0|");
        office.desk.says(LINE, "8", &bust);
        let found = number(&office.breaks());
        let (answer, _) = office.with_journal(&format!("settle break={found} venue"));
        let done = format!("break {found}: settled: the bust is applied to order 1");
        assert_eq!(answer, done);
        assert_eq!(office.breaks(), [""; 0]);
    }
}

#[test]
fn an_order_comes_back_only_as_it_left_last() {
    for from_checkpoint in [false, true] {
        let mut office = Office::with(Version::Fix44, Version::Fix44, FORGETS);
        let order = office.order("C1", DAY);
        office.fill(order, "E1", 100, 100);
        office.others_end();
        let old = office.desk.recall(&LeftMemory::Order(1)).unwrap().unwrap();
        office.with_journal("bust fill=1/E1");
        assert_eq!(office.command(&old).0, "order 1: in memory already");
        office.others_end();
        assert!(!office.is_in_memory(order));
        office.desk.hear(&Input::Restart(0, from_checkpoint));
        office.log_on();
        assert_eq!(
            office.command(&old).0,
            "order 1 was in memory again after the journal was read, and has left it since: give the command again"
        );
        let (answer, _) = office.with_journal("bust fill=1/E1");
        assert_eq!(answer, "fill 1/E1 of order 1 is busted already");
        assert_eq!((office.long(), office.desk.state().violations()), (0, 0));
    }
}

#[test]
fn an_order_that_came_back_stays_closed() {
    let mut office = Office::with(Version::Fix44, Version::Fix44, FORGETS);
    let order = office.order("C1", GTC);
    office.fill(order, "E1", 100, 100);
    office.others_end();
    office.undo(order, ("E9", "E1"), "", '1');
    let found = number(&office.breaks());
    let (answer, said) = office.with_journal(&format!("settle break={found} venue"));
    assert!(answer.contains("is applied to order 1"), "{answer}");
    assert_eq!(fields(&of(&said, CLIENT), &[150, 39, 14, 151]), "H 4 0 0");
    assert!(!office.is_open(order));
    // The venue says that it works.
    office.report(order, "17=I|150=I|39=0|14=0|151=100|");
    for line in office.breaks() {
        let found = line.split('\t').next().unwrap();
        let (answer, _) = office.command(&format!("settle break={found} venue"));
        assert!(answer.contains("it stays closed"), "{line}: {answer}");
    }
    assert!(!office.is_open(order));
}

#[test]
fn a_side_of_a_quote_comes_back_as_the_other_one_is_in_memory_or_not() {
    for other_leaves in [false, true] {
        let settings = SETTINGS
            .replace("orders = 100\n", "orders = 100\nremembered = 2\n")
            .replace("\"reports\"]", "\"reports\", \"quote\"]");
        let mut office = Office::of(Version::Fix44, Version::Fix44, settings);
        let quote = "117=Q1|1=A1|55=XYZ|132=99.95|133=100.05|134=100|135=100|60=20261122-08:00:00|";
        office.desk.says(CLIENT, "S", quote);
        office.report(1, "17=N|150=0|39=0|14=0|151=100|");
        office.fill(1, "E1", 100, 100);
        let offer = "37=V2|11=2|17=N2|150=0|39=0|14=0|151=100|55=XYZ|54=2|38=100|";
        office.desk.says(LINE, "8", offer);
        let end = "37=V2|11=2|17=X2|150=4|39=4|14=0|151=0|55=XYZ|54=2|38=100|";
        office.desk.says(LINE, "8", end);
        let ends = if other_leaves { 2 } else { 1 };
        for at in 0..ends {
            let order = office.order(&format!("Z{at}"), DAY);
            office.report(order, "17=Z|150=4|39=4|14=0|151=0|");
        }
        assert_eq!(
            (office.is_in_memory(1), office.is_in_memory(2)),
            (false, !other_leaves)
        );
        let command = office.desk.recall(&LeftMemory::Order(1)).unwrap().unwrap();
        assert_eq!(office.command(&command).0, "order 1: in memory again");
        let of_quote = |office: &Office| {
            let order = office.desk.state().orders().get(1);
            order.expect("the bid").quote()
        };
        let wanted = (!other_leaves).then_some(1);
        assert_eq!(of_quote(&office), wanted);
        for from_checkpoint in [false, true] {
            office.desk.hear(&Input::Restart(0, from_checkpoint));
            office.log_on();
            assert_eq!(of_quote(&office), wanted, "{from_checkpoint}");
        }
        office.others_end();
        office.desk.hear(&Input::Restart(0, true));
        assert_eq!(office.desk.state().violations(), 0);
    }
}

#[test]
fn a_row_that_no_journal_has_is_refused() {
    let mut office = Office::with(Version::Fix44, Version::Fix44, FORGETS);
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 40, 40);
    office.fill(order, "E2", 60, 100);
    office.others_end();
    let command = office.desk.recall(&LeftMemory::Order(1)).unwrap().unwrap();
    let hex = |number: u64| -> String {
        let bytes = number.to_le_bytes();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let [first, second] = ["E1", "E2"].map(|exec| {
        let hash = siphasher::sip::SipHasher13::new().hash(exec.as_bytes());
        hex(hash)
    });
    // A fill has ExecID(17), LastQty(32), LastPx(31), its event, and what has taken it back.
    let with = |exec: &str, field: usize, value: &str| {
        let at = command.find(exec).expect("the fill") + field * 16;
        format!("{}{value}{}", &command[..at], &command[at + 16..])
    };
    for changed in [
        with(&first, 4, &first),
        with(&second, 4, &first),
        with(&second, 0, &first),
        with(&first, 0, &hex(0)),
        with(&first, 1, &hex(1 << 60)),
        with(&first, 2, &hex(1 << 60)),
        // The ClOrdID(11) of the client, C1, with a SOH.
        command.replacen("4331", "4301", 1),
    ] {
        assert_ne!(changed, command);
        let (answer, _) = office.command(&changed);
        assert_eq!(
            answer, "order 1: the row is not of this journal, or another build has written it",
            "{changed}"
        );
    }
    assert_eq!(office.command(&command).0, "order 1: in memory again");
}

#[test]
fn an_order_that_cannot_stay_in_memory_says_so() {
    let mut office = Office::with(Version::Fix44, Version::Fix44, FORGETS);
    for id in 1..=3 {
        let order = office.order(&format!("C{id}"), DAY);
        office.fill(order, &format!("E{id}"), 100, 100);
        if id > 1 {
            office.report(order, "17=B|19=NONE|150=H|39=4|14=0|151=0|");
        }
    }
    assert!(!office.is_in_memory(1));
    assert_eq!(office.breaks().len(), 2);
    let (answer, _) = office.with_journal("bust fill=1/E1");
    assert!(answer.contains("no order 1 in memory"), "{answer}");
    let command = office.desk.recall(&LeftMemory::Order(1)).unwrap().unwrap();
    assert_eq!(
        office.command(&command).0,
        "order 1: it has left memory again at once: 2 closed orders with open breaks take the place of remembered = 2: settle them with fixwire oms breaks settle, or raise remembered"
    );
    assert_eq!(office.long(), 300);
}

#[test]
fn a_break_of_what_is_busted_by_hand_changes_nothing_and_says_so() {
    let mut office = Office::with(Version::Fix44, Version::Fix44, FORGETS);
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 100, 100);
    office.command("bust fill=1/E1");
    office.others_end();
    office.undo(order, ("E9", "E1"), "", '4');
    let found = number(&office.breaks());
    let (answer, said) = office.with_journal(&format!("settle break={found} venue"));
    assert_eq!(
        answer,
        format!(
            "break {found}: settled: the bust was known already, and changes nothing of order 1"
        )
    );
    assert_eq!(told(&said).len(), 0);
    assert_eq!((office.long(), office.breaks().len()), (0, 0));
}

#[test]
fn an_order_that_came_back_is_found_by_the_order_id_of_its_venue() {
    let mut office = Office::with(Version::Fix44, Version::Fix44, FORGETS);
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 100, 100);
    office.others_end();
    // The first report without a ClOrdID(11) builds the index.
    let rest = "150=H|39=4|14=0|151=0|55=XYZ|54=1|38=100|";
    let other = format!("37=V99|17=B0|19=E0|{rest}");
    office.desk.says(LINE, "8", &other);
    let command = office.desk.recall(&LeftMemory::Order(1)).unwrap().unwrap();
    assert_eq!(office.command(&command).0, "order 1: in memory again");
    office
        .desk
        .says(LINE, "8", &format!("37=V1|17=B1|19=E1|{rest}"));
    assert_eq!(office.long(), 0);
}
