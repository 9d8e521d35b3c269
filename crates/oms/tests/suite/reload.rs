//! Settings that change while the OMS runs.

use fixwire_engine::Durability;
use fixwire_engine::protocol::Ledger;
use fixwire_engine::protocol::session::BeginString;
use fixwire_harness::Turn;
use fixwire_oms::limits::RiskControl;
use fixwire_oms::{OmsState, ReloadKind, Scope};

use crate::floor::{COPY, Files, Floor, VENUE};
use crate::proof;

mod crashes;

fn floor() -> Floor {
    Floor::new(Durability::Process, BeginString::Fix44, BeginString::Fix44)
}

/// The client sends an order, and gets these fields of its last report.
fn order(floor: &mut Floor, id: &str, more: &str) -> String {
    let body = format!("11={id}|54=1|40=2|60=20261122-08:00:00|{more}");
    floor.send("D", &body);
    floor.told(&[11, 39, 58]).pop().unwrap()
}

fn replace(files: &mut String, old: &str, new: &str) {
    assert!(files.contains(old), "{old}");
    *files = files.replace(old, new);
}

fn limit(files: &mut Files, old: &str, new: &str) {
    replace(&mut files.limits, old, new);
}

/// RC6 of the firm, in whole units.
fn order_quantity(floor: &mut Floor) -> Option<i128> {
    let limit = floor.state().limit(Scope::Firm, RiskControl::OrderQuantity);
    limit.map(|limit| limit / 100_000_000)
}

/// Notes and checkpoint make the same state, and a restart with the same files changes nothing.
fn is_kept(floor: &mut Floor) {
    let state = floor.state();
    assert_eq!(state.violations(), 0);
    let mut written = Vec::new();
    state.write(&mut |bytes| written.extend_from_slice(bytes));
    let mut read = OmsState::default();
    read.read(state.form().1, &written).unwrap();
    assert_eq!(read.hash(), state.hash(), "a checkpoint holds it");
    let (before, lines) = (state.hash(), proof::state_lines(state));
    proof::assert_same(&lines, &proof::state_lines(&read));
    let hash = settings_hash(floor);
    floor.world.kill();
    assert_eq!(floor.world.start(), Turn::Alive);
    assert_eq!(floor.state().hash(), before, "the notes");
    proof::assert_same(&lines, &proof::state_lines(floor.state()));
    floor.settle();
    assert_eq!(settings_hash(floor), hash);
}

/// The hash of the settings, as operators see it.
fn settings_hash(floor: &mut Floor) -> String {
    let mut handle = floor.world.handle().unwrap();
    let answer = handle.query(b"status").unwrap();
    floor.settle();
    let text = String::from_utf8(answer.try_recv().unwrap().unwrap()).unwrap();
    text.rsplit('\t').next().unwrap().to_owned()
}

#[test]
fn a_limit_is_in_force_at_the_next_message() {
    let mut floor = floor();
    assert_eq!(order(&mut floor, "A1", "55=XYZ|38=100|44=100|"), "A1 1 -");
    floor.edit(|files| limit(files, "firm,RC6,1000", "firm,RC6,50"));
    let before = floor.state().hash();
    let said = floor.check_reload().unwrap();
    let wanted = "\nsetting\tname\twas\tis\nlimit\tfirm RC6\t1000\t50";
    assert_eq!(said, format!("nothing is applied: 1 change{wanted}"));
    assert_eq!(floor.state().hash(), before, "a look changes nothing");
    assert_eq!(
        floor.reload().unwrap(),
        format!("reloaded: 1 change{wanted}")
    );
    let events = floor.state().events();
    let refused = order(&mut floor, "A2", "55=XYZ|38=100|44=100|");
    assert!(
        refused.contains("RC6: order quantity exceeds the limit (100, at most 50"),
        "{refused}"
    );
    assert_eq!(floor.reload().unwrap(), "nothing to reload: 0 changes");
    assert_eq!(
        floor.state().events(),
        events + 2,
        "the reject and what is kept of it"
    );
    floor.agrees();
    is_kept(&mut floor);
    floor.is_proven("reload-a_limit_is_in_force_at_the_next_message");
    assert_eq!(order_quantity(&mut floor), Some(50));
}

#[test]
fn a_reload_names_the_open_orders_whose_fields_it_refuses() {
    let mut floor = floor();
    for (id, fields) in [("A1", "58=a|"), ("A2", ""), ("A3", "115=FIRM|58=b|")] {
        let body = format!("11={id}|54=1|40=2|60=20261122-08:00:00|55=XYZ|38=100|44=100|");
        let (header, text) = fields.split_at(fields.find("58=").unwrap_or(0));
        floor.send("D", &format!("{header}{body}{text}"));
    }
    floor.edit(|files| {
        replace(
            &mut files.settings,
            "[[line_group]]\n",
            "[[line_group]]\nrefuse = [58]\n",
        )
    });
    let names = "; 2 open orders with fields that the contracts refuse from then on, 1 (tag 58), 3 (tag 58): \
                 what is not yet sent will be rejected: ";
    let said = floor.check_reload().unwrap();
    assert!(
        said.starts_with(&format!("nothing is applied{names}")),
        "{said}"
    );
    let said = floor.reload().unwrap();
    assert!(said.starts_with(&format!("reloaded{names}")), "{said}");
    // They are named once: the contract in force refuses them now.
    floor.edit(|files| replace(&mut files.limits, "firm,RC6,1000", "firm,RC6,50"));
    assert!(floor.reload().unwrap().starts_with("reloaded: 1 change"));
    is_kept(&mut floor);
}

#[test]
fn a_reload_names_the_open_orders_whose_converted_fields_it_refuses() {
    let mut floor = Floor::new(Durability::Process, BeginString::Fix42, BeginString::Fix44);
    for (id, fields) in [("A1", "109=F|"), ("A2", ""), ("A3", "47=A|58=t|")] {
        let body = format!("11={id}|21=1|54=1|40=2|60=20261122-08:00:00|55=XYZ|38=100|44=100|");
        floor.send("D", &format!("{body}{fields}"));
    }
    floor.edit(|files| {
        replace(
            &mut files.settings,
            "[[line_group]]\n",
            "[[line_group]]\nrefuse = [453, 528]\n",
        )
    });
    let names = "; 2 open orders with fields that the contracts refuse from then on, 1 (tag 109), 3 (tag 47): ";
    let said = floor.check_reload().unwrap();
    assert!(
        said.starts_with(&format!("nothing is applied{names}")),
        "{said}"
    );
    let said = floor.reload().unwrap();
    assert!(said.starts_with(&format!("reloaded{names}")), "{said}");
    floor.edit(|files| replace(&mut files.limits, "firm,RC6,1000", "firm,RC6,50"));
    assert!(floor.reload().unwrap().starts_with("reloaded: 1 change"));
    is_kept(&mut floor);
}

#[test]
fn exec_ids_of_the_venue_are_passed_on_from_a_reload_on() {
    let mut floor = floor();
    floor.edit(|files| {
        replace(
            &mut files.settings,
            "[[line_group]]\n",
            "[[line_group]]\nvenue_exec_id = \"17\"\n",
        )
    });
    let before = order(&mut floor, "A1", "55=XYZ|38=100|44=100|");
    assert_eq!(before, "A1 1 -");
    let said = floor.reload().unwrap();
    assert!(said.ends_with("venue_exec_id 17"), "{said}");
    let [old, new] = ["A1", "A2"].map(|id| {
        order(&mut floor, id, "55=XYZ|38=100000|44=100|");
        floor.told(&[17]).pop().unwrap()
    });
    assert!(
        old.starts_with("OMS-") && new.starts_with("OMS-") && old != new,
        "{old} {new}"
    );
    is_kept(&mut floor);
    // They stay so when the key is removed: another could be one of the venue.
    floor.edit(|files| replace(&mut files.settings, "venue_exec_id = \"17\"\n", ""));
    floor.reload().unwrap();
    order(&mut floor, "A3", "55=XYZ|38=100000|44=100|");
    assert!(floor.told(&[17]).pop().unwrap().starts_with("OMS-"));
    is_kept(&mut floor);
}

#[test]
fn texts_are_in_force_at_the_next_message() {
    let mut floor = Floor::with_a_language(BeginString::Fix44);
    floor.edit(|files| replace(&mut files.texts, "查無此委託", "沒有此委託"));
    let said = floor.reload().unwrap();
    assert!(
        said.ends_with("\ntexts\t\tde 1, zh-TW 5\tde 1, zh-TW 5"),
        "{said}"
    );
    floor.send("F", "11=A3|41=B9|55=XYZ|54=1|60=20261122-08:00:00|");
    assert_eq!(floor.told(&[355]).pop().unwrap(), "沒有此委託");
    floor.edit(|files| replace(&mut files.settings, "language = \"zh-TW\"\n", ""));
    let said = floor.reload().unwrap();
    assert!(said.contains("language zh-TW\t"), "{said}");
    floor.send("F", "11=A4|41=B9|55=XYZ|54=1|60=20261122-08:00:00|");
    assert_eq!(floor.told(&[355]).pop().unwrap(), "-");
    floor.agrees();
    is_kept(&mut floor);
    floor.is_proven("reload-texts_are_in_force_at_the_next_message");
}

#[test]
fn limits_below_what_is_used_stay_and_stop_new_orders() {
    let mut floor = floor();
    for id in ["A1", "A2"] {
        order(&mut floor, id, "55=XYZ|38=100|44=100|");
    }
    floor.edit(|files| limit(files, "firm,RC13,100", "firm,RC13,1"));
    let said = floor.reload().unwrap();
    assert!(
        said.contains("limit\tfirm RC13\t100\t1, below the 2 in use"),
        "{said}"
    );
    let refused = order(&mut floor, "A3", "55=XYZ|38=100|44=100|");
    assert!(refused.contains("RC13: number of open orders"), "{refused}");
    assert_eq!(
        floor
            .state()
            .orders()
            .iter()
            .filter(|it| it.state.is_open())
            .count(),
        2
    );
    // One of them may still be reduced and cancelled.
    floor.send("F", "11=A4|41=A1|55=XYZ|54=1|38=100|60=20261122-08:00:00|");
    floor.agrees();
    is_kept(&mut floor);
    floor.is_proven("reload-limits_below_what_is_used_stay_and_stop_new_orders");
}

#[test]
fn limits_of_operators_stay_until_the_file_changes_theirs() {
    let mut floor = floor();
    floor.command("limit firm RC6=70");
    floor.edit(|files| limit(files, "firm,RC13,100", "firm,RC13,90"));
    floor.reload().unwrap();
    let at = order_quantity;
    assert_eq!(at(&mut floor), Some(70));
    floor.edit(|files| limit(files, "firm,RC6,1000", "firm,RC6,900"));
    floor.reload().unwrap();
    assert_eq!(at(&mut floor), Some(900));
    // A row that the file no longer has.
    floor.edit(|files| limit(files, "firm,RC6,900\n", ""));
    let said = floor.reload().unwrap();
    assert!(said.ends_with("limit\tfirm RC6\t900\t-"), "{said}");
    let refused = order(&mut floor, "A1", "55=XYZ|38=10|44=100|");
    assert!(
        refused.contains("no limit is configured for control"),
        "{refused}"
    );
    is_kept(&mut floor);
    floor.is_proven("reload-limits_of_operators_stay_until_the_file_changes_theirs");
}

#[test]
fn instruments_are_added_and_their_ticks_and_bands_change() {
    let mut floor = floor();
    let refused = order(&mut floor, "A1", "55=NEW|38=10|44=7|");
    assert!(refused.contains("unknown symbol"), "{refused}");
    order(&mut floor, "A2", "55=XYZ|38=100|44=100|");
    floor.edit(|files| {
        files.instruments += "NEW,0.5,1,7,,\n";
        replace(
            &mut files.instruments,
            "XYZ,0.05,10,100,,",
            "XYZ,0.05,20,120,,",
        );
        replace(&mut files.instruments, ",0.05,", ",0.001,");
        files.limits += "symbol=NEW,RC6,40\n";
    });
    let said = floor.reload().unwrap();
    for row in [
        "instrument\tXYZ\ttick 0.05, decimals 2, lot 10, reference 100\ttick 0.001, decimals 3, lot 20, reference 120",
        "instrument\tNEW\t-\ttick 0.5, decimals 1, lot 1, worth 1, reference 7",
        "limit\tsymbol=NEW RC6\t-\t40",
    ] {
        assert!(said.contains(row), "{row}: {said}");
    }
    assert_eq!(order(&mut floor, "A3", "55=NEW|38=35|44=7|"), "A3 1 -");
    let refused = order(&mut floor, "A4", "55=NEW|38=41|44=7|");
    assert!(
        refused.contains("RC6: order quantity exceeds the limit (41, at most 40"),
        "{refused}"
    );
    let refused = order(&mut floor, "A5", "55=XYZ|38=30|44=120|");
    assert!(refused.contains("lot size"), "{refused}");
    let refused = order(&mut floor, "A6", "55=XYZ|38=40|44=100|");
    assert!(
        refused.contains("too far from the reference price"),
        "{refused}"
    );
    assert_eq!(
        order(&mut floor, "A7", "55=XYZ|38=40|44=120.001|"),
        "A7 1 -"
    );
    // The order of before works on, with its price in the new decimals.
    let state = floor.state();
    let first = state.orders().get(1).unwrap();
    assert_eq!((first.price, first.filled), (100_000, 30));
    floor.send("F", "11=A8|41=A2|55=XYZ|54=1|38=100|60=20261122-08:00:00|");
    floor.agrees();
    is_kept(&mut floor);
    floor.is_proven("reload-instruments_are_added_and_their_ticks_and_bands_change");
}

#[test]
fn an_instrument_with_open_orders_cannot_be_removed() {
    let mut floor = floor();
    for id in ["A1", "A2"] {
        order(&mut floor, id, "55=FUT|38=100|44=100|77=O|");
    }
    floor.edit(|files| {
        replace(&mut files.instruments, "FUT,0.05,10,100,effect,\n", "");
    });
    let why = "symbol FUT has 2 open orders: it cannot be removed; cancel them first";
    let before = floor.state().hash();
    assert!(floor.check_reload().unwrap_err().contains(why));
    assert!(floor.reload().unwrap_err().contains(why));
    assert_eq!(floor.state().hash(), before);
    floor.send("F", "11=A3|41=A1|55=FUT|54=1|38=100|60=20261122-08:00:00|");
    let why = "symbol FUT has an open order: it cannot be removed; cancel it first";
    assert!(floor.reload().unwrap_err().contains(why));
    floor.send("F", "11=A4|41=A2|55=FUT|54=1|38=100|60=20261122-08:00:00|");
    floor.reload().unwrap();
    let refused = order(&mut floor, "A5", "55=FUT|38=100|44=100|77=O|");
    assert!(refused.contains("unknown symbol"), "{refused}");
    is_kept(&mut floor);
    floor.is_proven("reload-an_instrument_with_open_orders_cannot_be_removed");
}

#[test]
fn positions_and_legs_of_an_instrument_with_open_orders_stay() {
    let mut floor = floor();
    order(&mut floor, "A1", "55=SPREAD|38=100|44=100|");
    order(&mut floor, "A2", "55=FUT|38=100|44=100|77=O|");
    let right = floor.files.lock().unwrap().clone();
    for (old, new, why) in [
        (
            "buy 3 XYZ",
            "buy 2 XYZ",
            "symbol SPREAD has an open order: its legs cannot change",
        ),
        (
            "effect",
            "netting",
            "symbol FUT has an open order: its positions cannot change",
        ),
        (
            "NEAR,0.05,10,100,,\nSPREAD,0.05,10,100,,buy 3 XYZ sell 1 NEAR\n",
            "",
            "symbol NEAR has an open order: it cannot be removed; cancel it first\nsymbol SPREAD has an open order",
        ),
    ] {
        floor.edit(|files| replace(&mut files.instruments, old, new));
        let said = floor.reload().unwrap_err();
        assert!(said.contains(why), "{said}");
        floor.edit(|files| *files = right.clone());
    }
    is_kept(&mut floor);
    floor.is_proven("reload-positions_and_legs_of_an_instrument_with_open_orders_stay");
}

#[test]
fn every_setting_that_needs_a_restart_is_named() {
    let mut floor = floor();
    let right = floor.files.lock().unwrap().clone();
    let hash = floor.state().hash();
    for (old, new, why) in [
        (
            "orders = 100",
            "orders = 101",
            "another [oms] orders needs a restart",
        ),
        (
            "orders = 100",
            "orders = 100\nappl_id = \"X\"",
            "another [oms] appl_id needs a restart",
        ),
        (
            "orders = 100",
            "orders = 100\nstamps = \"s\"",
            "another [oms] stamps needs a restart",
        ),
        (
            "orders = 100",
            "orders = 100\nday_files = \"days\"",
            "another [oms] day_files needs a restart",
        ),
        (
            "orders = 100",
            "orders = 100\nday_files = \"days\"\nday_format = \"parquet\"",
            "another [oms] day_format needs a restart",
        ),
        (
            "orders = 100",
            "orders = 100\ndatabase = \"postgresql://me@db/fix\"",
            "another [oms] database needs a restart",
        ),
        (
            "orders = 100",
            "orders = 100\ndatabase = \"postgresql://me@db/fix\"\ndatabase_password_file = \"p\"",
            "another [oms] database_password_file needs a restart",
        ),
        (
            "orders = 100",
            "orders = 100\ndatabase = \"postgresql://me@db/fix\"\ndatabase_prefix = \"p_\"",
            "another [oms] database_prefix needs a restart",
        ),
        (
            "name = \"SIM\"",
            "name = \"SIM\"\ncannot = [\"replace\"]",
            "cannot of line_group SIM needs a restart",
        ),
        (
            "\"SIM\"",
            "\"OTHER\"",
            "another list of line_group needs a restart",
        ),
        (
            "[[drop_copy]]\nsession",
            "[[drop_copy_in]]\nline_groups = [\"SIM\"]\nsession",
            "another drop_copy_in needs a restart",
        ),
    ] {
        floor.edit(|files| {
            replace(&mut files.settings, old, new);
            limit(files, "firm,RC6,1000", "firm,RC6,1");
        });
        let said = floor.reload().unwrap_err();
        assert!(said.contains(why), "{new}: {said}");
        assert_eq!(floor.state().hash(), hash, "nothing is applied");
        floor.edit(|files| *files = right.clone());
    }
}

#[test]
fn another_text_of_a_conversion_table_needs_a_restart() {
    let mut floor = floor();
    let why = "another [oms] conversion needs a restart";
    floor.edit(|files| {
        let table = "orders = 100\nconversion = {\"FIX.4.2 to FIX.4.4\" = \"table.conv\"}";
        replace(&mut files.settings, "orders = 100", table);
    });
    assert!(floor.reload().unwrap_err().contains(why));
    floor.world.kill();
    assert_eq!(floor.world.start(), Turn::Alive);
    floor.settle();
    let nothing = floor.reload();
    assert!(nothing.is_ok(), "{nothing:?}");
    floor.edit(|files| files.table += "homeless reject\n");
    assert!(floor.reload().unwrap_err().contains(why));
}

#[test]
fn users_rights_and_drop_copies_change() {
    let mut floor = floor();
    order(&mut floor, "A1", "55=XYZ|38=100|44=100|");
    let copies = floor.received(COPY, &[35]).len();
    floor.edit(|files| {
        replace(
            &mut files.settings,
            "may = [\"new\", \"replace\", ",
            "may = [",
        );
        replace(
            &mut files.settings,
            "accounts = [\"A1\"]",
            "accounts = [\"A*\"]\nvalidity = \"5s\"\nrate = \"2 in 60s\"",
        );
        replace(
            &mut files.settings,
            "[[account]]",
            "[[account]]\nname = \"A2\"\n[[account]]",
        );
        replace(
            &mut files.settings,
            "session = \"COPY\"",
            "session = \"COPY\"\naccounts = [\"A2\"]",
        );
    });
    let said = floor.reload().unwrap();
    let rows: Vec<&str> = said.lines().skip(2).collect();
    assert_eq!(
        rows,
        [
            "account\tA2\t-\t-",
            "user\tCLIENT\tmay A1: new replace cancel mass cancel status quote price inquiry, rate -, validity -\t\
             may A*: cancel mass cancel status quote price inquiry, rate 2 in 60s, validity 5s",
            "drop_copy\tCOPY\taccounts *\taccounts A2",
        ]
    );
    let refused = order(&mut floor, "A2", "55=XYZ|38=100|44=100|");
    assert!(
        refused.contains("not allowed for this session"),
        "{refused}"
    );
    floor.send("F", "11=A3|41=A1|55=XYZ|54=1|38=100|60=20261122-08:00:00|");
    assert_eq!(floor.told(&[11, 39]).pop().unwrap(), "A3 4");
    // The third request within a minute.
    floor.send("F", "11=A4|41=A1|55=XYZ|54=1|38=100|60=20261122-08:00:00|");
    assert_eq!(
        floor.told(&[35, 58]).pop().unwrap(),
        "j Throttle limit exceeded"
    );
    assert_eq!(
        floor.received(COPY, &[35]).len(),
        copies,
        "the account of the copy is another"
    );
    is_kept(&mut floor);
    floor.is_proven("reload-users_rights_and_drop_copies_change");
}

#[test]
fn restricted_symbols_pools_and_parents_change() {
    let mut floor = floor();
    order(&mut floor, "A1", "55=XYZ|38=100|44=100|");
    floor.edit(|files| {
        replace(
            &mut files.settings,
            "orders = 100",
            "orders = 100\nrestricted = \"restricted.csv\"\nself_trade = \"reject\"\nreference_price = \"last\"",
        );
        replace(
            &mut files.settings,
            "[[user]]",
            "[[number_pool]]\nname = \"P\"\nwidth = 3\n[[user]]\nparents = 1\nnumber_pool = \"P\"",
        );
        files.restricted += "NEAR,A1,,,buy\n";
    });
    let said = floor.reload().unwrap();
    for row in [
        "restricted\taccount=A1 symbol=NEAR\t-\tbuy",
        "number_pool\tP\t-\tfirst 0, last 999, bytes 3",
        "self_trade\t\tallow\treject",
        "reference_price\t\tfile\tlast",
        "parents -\tnumber_pool P, parents 1",
    ] {
        assert!(said.contains(row), "{row}: {said}");
    }
    let refused = order(&mut floor, "A2", "55=NEAR|38=100|44=100|");
    assert!(
        refused.contains("RC3: symbol is on the restricted list"),
        "{refused}"
    );
    floor.send(
        "D",
        "11=A3|54=2|40=2|60=20261122-08:00:00|55=XYZ|38=100|44=100|",
    );
    let refused = floor.told(&[58]).pop().unwrap();
    assert!(refused.contains("RC16: self-trade"), "{refused}");
    order(&mut floor, "A4", "55=XYZ|38=100|44=100|");
    assert_eq!(floor.received(VENUE, &[11, 526]).pop().unwrap(), "2 000");
    let parent = order(&mut floor, "P1", "55=XYZ|38=100|44=100|21=3|");
    assert_eq!(parent, "P1 0 -");
    floor.send("F", "11=P2|41=P1|55=XYZ|54=1|38=100|60=20261122-08:00:00|");
    is_kept(&mut floor);
    floor.is_proven("reload-restricted_symbols_pools_and_parents_change");
    assert_eq!(floor.told(&[11, 39]).pop().unwrap(), "P2 4");
}

#[test]
fn two_people_reload_limits_and_users_where_two_arm() {
    let mut floor = Floor::with("orders = 100", "orders = 100\narming = \"two people\"");
    floor.edit(|files| limit(files, "firm,RC6,1000", "firm,RC6,50"));
    assert!(
        floor
            .check_reload()
            .unwrap()
            .starts_with("nothing is applied; two operators must reload: 1 change")
    );
    assert!(
        floor
            .reload()
            .unwrap()
            .starts_with("reload requested, nothing is applied")
    );
    let old = Some(1000);
    assert_eq!(order_quantity(&mut floor), old);
    // The request stays over a start with the files of before.
    floor.edit(|files| limit(files, "firm,RC6,50", "firm,RC6,1000"));
    is_kept(&mut floor);
    floor.edit(|files| limit(files, "firm,RC6,1000", "firm,RC6,50"));
    let why = floor.reload().unwrap_err();
    assert!(why.contains("you already requested it"), "{why}");
    // Other files are another request, also from the second operator.
    floor.edit(|files| limit(files, "firm,RC6,50", "firm,RC6,60"));
    let rules = |floor: &Floor| floor.files.lock().unwrap().read().unwrap();
    let new = rules(&floor);
    let said = floor
        .reload_as("bob", new, ReloadKind::Files)
        .unwrap()
        .unwrap();
    assert!(said.starts_with("reload requested"), "{said}");
    assert!(floor.reload().unwrap().starts_with("reloaded: 1 change"));
    assert_eq!(order_quantity(&mut floor), Some(60));
    // Instruments are no limits.
    floor.edit(|files| files.instruments += "NEW,1,1,7,,\n");
    assert!(floor.reload().unwrap().starts_with("reloaded: 1 change"));
    // A schedule is neither of the two, and forgets nobody's request.
    floor.edit(|files| limit(files, "firm,RC6,60", "firm,RC6,70"));
    let new = rules(&floor);
    let said = floor
        .reload_as("bob", new, ReloadKind::Files)
        .unwrap()
        .unwrap();
    assert!(said.starts_with("reload requested"), "{said}");
    let new = rules(&floor);
    let why = floor
        .reload_as("schedule", new, ReloadKind::Schedule)
        .unwrap()
        .unwrap_err();
    assert!(why.contains("two operators must reload"), "{why}");
    let new = rules(&floor);
    let why = floor
        .reload_as("bob", new, ReloadKind::Files)
        .unwrap()
        .unwrap_err();
    assert!(why.contains("you already requested it"), "{why}");
    floor.reload().unwrap();
    assert_eq!(order_quantity(&mut floor), Some(70));
    is_kept(&mut floor);
    floor.is_proven("reload-two_people_reload_limits_and_users_where_two_arm");
}

#[test]
fn an_operator_needs_the_right_and_a_schedule_does_not() {
    let mut floor = Floor::with(
        "[oms]",
        "[[operator]]\nuser = \"bob\"\nmay = [\"reload\"]\n[[operator]]\nuser = \"ann\"\nmay = [\"limit\"]\n[oms]",
    );
    floor.edit(|files| limit(files, "firm,RC6,1000", "firm,RC6,50"));
    let why = floor.reload().unwrap_err();
    assert!(why.contains("ann has no permission to reload"), "{why}");
    let rules = floor.files.lock().unwrap().read().unwrap();
    let said = floor
        .reload_as("carl", rules.clone(), ReloadKind::Back)
        .unwrap();
    assert!(said.unwrap_err().contains("carl is not an operator"));
    let said = floor
        .reload_as("schedule 07:30", rules, ReloadKind::Schedule)
        .unwrap();
    assert!(said.unwrap().starts_with("reloaded: 1 change"));
    // The command alone, without settings, does nothing.
    let mut handle = floor.world.handle().unwrap();
    let answer = handle
        .command(
            fixwire_oms::RELOAD,
            fixwire_engine::Operator::new("bob", "x"),
        )
        .unwrap();
    floor.settle();
    let why = answer.try_recv().unwrap().unwrap_err().to_string();
    assert!(why.contains("no new settings to reload"), "{why}");
}

#[test]
fn settings_of_before_come_back() {
    let mut floor = floor();
    let first = settings_hash(&mut floor);
    floor.edit(|files| {
        limit(files, "firm,RC6,1000", "firm,RC6,50");
        files.instruments += "NEW,1,1,7,,\n";
    });
    floor.reload().unwrap();
    assert_ne!(settings_hash(&mut floor), first);
    let spent = floor.slot.spent.lock().unwrap().take().unwrap();
    assert!(spent.is_applied);
    let said = floor
        .reload_as("ann", spent.rules, ReloadKind::Back)
        .unwrap()
        .unwrap();
    assert!(said.contains("limit\tfirm RC6\t50\t1000"), "{said}");
    assert_eq!(settings_hash(&mut floor), first);
    assert_eq!(order(&mut floor, "A1", "55=XYZ|38=100|44=100|"), "A1 1 -");
    // The files still have the new ones: a restart applies them, and the journal says so.
    floor.world.kill();
    assert_eq!(floor.world.start(), Turn::Alive);
    floor.settle();
    assert_ne!(settings_hash(&mut floor), first);
    assert_eq!(order_quantity(&mut floor), Some(50));
    floor.agrees();
}

#[test]
fn files_that_were_edited_and_never_reloaded_are_noticed_at_a_start() {
    let mut floor = floor();
    floor.edit(|files| limit(files, "firm,RC6,1000", "firm,RC6,50"));
    floor.reload().unwrap();
    let (hash, events) = (settings_hash(&mut floor), floor.state().events());
    floor.edit(|files| limit(files, "firm,RC6,50", "firm,RC6,40"));
    floor.world.kill();
    assert_eq!(floor.world.start(), Turn::Alive);
    floor.settle();
    assert_ne!(settings_hash(&mut floor), hash);
    assert!(floor.state().events() > events);
    assert_eq!(order_quantity(&mut floor), Some(40));
}

#[test]
fn another_database_is_named_without_the_line_that_may_have_a_password() {
    let old = "[oms]\norders = 1\n";
    let new = "[oms]\norders = 1\ndatabase = \"postgresql://me:hunter2@db/fix\"\n";
    let errors = fixwire_oms::load::restart_needed(old, new);
    let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(said[0].contains("database of oms differs"), "{said:?}");
    let shown = new[errors[0].at..].lines().next().unwrap();
    assert!(!shown.contains("hunter2") && said.len() == 1, "{said:?}");
}
