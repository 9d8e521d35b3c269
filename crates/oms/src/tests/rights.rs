//! Several `[[user]]` tables of one session: which one applies to an account.

use super::*;
use crate::decide::mass::MassCancel;
use crate::values::rules::{Rights, UserRule};

/// The settings of the tests, with these tables of the user in place of its own.
fn rules_of(tables: &[(&str, &str)]) -> RiskRules {
    let (front, rest) = SETTINGS.split_once("[[user]]").unwrap();
    let (_, back) = rest.split_once("[[line_group]]").unwrap();
    let table = |(accounts, may): &(&str, &str)| {
        format!("[[user]]\nsession = \"CLIENT\"\naccounts = [{accounts}]\nmay = [{may}]\n")
    };
    let tables: String = tables.iter().map(table).collect();
    let settings = format!("{front}{tables}[[line_group]]{back}");
    let mut open = |file: &str| match file {
        "instruments.csv" => Ok(INSTRUMENTS.to_string()),
        _ => Ok(LIMITS.to_string()),
    };
    load(&settings, &SESSIONS, &mut open).unwrap()
}

const ALL: &str = "'new', 'replace', 'cancel', 'mass cancel', 'status'";

impl World {
    fn mass_cancels(&mut self, account: &[u8]) -> bool {
        self.ids += 1;
        let id = format!("C{}", self.ids);
        let cancel = MassCancel {
            session: CLIENT,
            id: id.as_bytes(),
            kind: b'7',
            account,
            symbol: b"",
            side: None,
        };
        self.tell(|core, at, mut sink| core.mass_cancel(at, &cancel, &mut sink));
        let allowed = self.refused.is_none();
        assert!(allowed || self.refused == Some(Why::NotAllowed));
        allowed
    }

    fn places(&mut self, account: &[u8]) -> Option<Number> {
        self.ids += 1;
        let id = format!("C{}", self.ids);
        self.order_of(&id, account, Side::Buy, 10, "100")
    }

    /// The settings change: the process is killed and starts again.
    fn starts_with(&mut self, rules: RiskRules) {
        let mut core = Core::new(rules);
        for (_, note) in &self.notes {
            core.replay_note(note);
        }
        self.core = core;
        self.begin(20_261_122);
        for line in LINES {
            self.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
        }
    }
}

#[test]
fn the_most_specific_accounts_decide_in_whatever_order_they_stand() {
    let rights = |accounts: &[&str]| Rights {
        accounts: accounts.iter().map(|it| it.to_string()).collect(),
        ..Rights::default()
    };
    let tables = [
        rights(&["A*", "ABC"]),
        rights(&["AB*", "X*"]),
        rights(&["ABCD", "*", "X1*"]),
    ];
    for turn in 0..3 {
        let mut rights = tables.to_vec();
        rights.rotate_left(turn);
        let mut user = UserRule {
            rights,
            ..UserRule::default()
        };
        for (account, wanted) in [
            ("A", 0),
            ("AC", 0),
            ("ABC", 0),
            ("AB", 1),
            ("ABX", 1),
            ("X2", 1),
            ("ABCD", 2),
            ("X12", 2),
            ("B", 2),
        ] {
            let found = user.rights(account.as_bytes());
            assert_eq!(found, Some(&tables[wanted]), "{account}");
        }
        user.rights.retain(|it| *it != tables[2]);
        assert_eq!(user.rights(b"B"), None);
    }
}

#[test]
fn each_account_has_the_rights_of_its_table() {
    let tables = [
        ("'*'", "'new'"),
        ("'A1'", ALL),
        ("'A*'", "'new', 'cancel', 'status'"),
    ];
    let mut world = World::of(rules_of(&tables));
    // Account, then whether its orders may be replaced, cancelled, cancelled together, and asked for.
    for (account, wanted) in [
        ("DESK", [false, false, false, false]),
        ("A2", [false, true, false, true]),
        ("A1", [true, true, true, true]),
    ] {
        let account = account.as_bytes();
        let order = world.places(account).expect("each may");
        world.accept(order);
        let id = format!("C{}", world.ids);
        let mut refusals = Vec::new();
        let replaced = world.replace(order, 20, "100");
        refusals.extend(world.refused);
        if let Some(request) = replaced {
            world.decline(request);
        }
        let cancelled = world.cancel(order);
        refusals.extend(world.refused);
        if let Some(request) = cancelled {
            world.decline(request);
        }
        assert!(refusals.iter().all(|why| *why == Why::NotAllowed));
        let asked = world.core.may_ask(CLIENT, id.as_bytes());
        let mass = world.mass_cancels(account);
        let found = [replaced.is_some(), cancelled.is_some(), mass, asked];
        assert_eq!(found, wanted, "{}", String::from_utf8_lossy(account));
        let account = world.core.state().accounts().find(account);
        let all = world.core.may_with_all(CLIENT, account, |it| it.status);
        // DESK has others below it.
        assert_eq!(all, wanted[3]);
    }
    assert!(!world.mass_cancels(b""), "of all accounts");
    assert!(!world.core.may_with_all(CLIENT, None, |it| it.status));
    assert!(world.core.may_ask(CLIENT, b"never"), "some of them may");
    world.check();
}

#[test]
fn what_an_account_has_below_it_needs_the_right_too() {
    let without = "'new', 'status'";
    for (tables, wanted) in [
        ([("'DESK'", ALL), ("'A1'", ALL), ("'A*'", without)], false),
        ([("'DESK'", ALL), ("'A1'", without), ("'A*'", ALL)], false),
        ([("'DESK'", ALL), ("'A1'", ALL), ("'A*'", ALL)], true),
    ] {
        let mut world = World::of(rules_of(&tables));
        assert_eq!(world.mass_cancels(b"DESK"), wanted, "{tables:?}");
        assert_eq!(world.mass_cancels(b""), wanted, "{tables:?}");
    }
}

#[test]
fn an_account_of_no_table_is_refused_and_its_orders_need_the_right_of_all() {
    let mut world = World::of(rules_of(&[("'A*'", ALL)]));
    let order = world.places(b"A2").unwrap();
    world.accept(order);
    world.starts_with(rules_of(&[("'A1'", ALL), ("'DESK'", "'new'")]));
    assert_eq!(world.places(b"A2"), None);
    assert_eq!(world.refused, Some(Why::Account));
    assert_eq!(world.cancel(order), None);
    assert_eq!(world.refused, Some(Why::NotAllowed));
    world.starts_with(rules_of(&[("'A1'", ALL), ("'DESK'", "'cancel'")]));
    assert_eq!(world.places(b"A2"), None);
    assert_eq!(world.refused, Some(Why::NotAllowed), "DESK may not");
    assert!(world.cancel(order).is_some(), "{:?}", world.refused);
    world.check();
}
