//! Fields of requests that fill fields of TMP: `tmp_fields` of a line group.

use std::boxed::Box;

use fixwire_protocol::OperatorCommand;

use super::marks::{life, marked};
use super::*;
use crate::decide::reload::{NewSettings, ReloadKind, SettingsSource};

mod kept;
mod mistakes;

/// Each field of TMP has a tag of its own.
const TABLE: &str = "{order_source = 9717, info_source = 9718, investor_flag = 582, cm_id = 439}";
/// A request with all of them.
const ALL: &str = "|9717=G|9718=7x9|582=1|439=77";
/// What an order has without them.
const PLAIN: &str = "8 B D P 904";

/// The settings with this table, and other keys of the line group.
fn settings(table: &str, keys: &str) -> String {
    let keys = format!("lines = [\"T1\"]\ntmp_fields = {table}\n{keys}\n");
    let links = "[[link]]\nname = \"T1\"\n[[link]]\nname = \"T2\"\n";
    format!("{}{links}", SETTINGS.replace("lines = [\"T1\"]\n", &keys))
}

fn with(table: &str, keys: &str) -> Floor {
    let mut floor = Floor::with(&settings(table, keys), 1, |_| {});
    floor.connect(0);
    floor
}

impl Floor {
    /// A replace of the price with these fields beside the usual ones.
    fn reprice(&mut self, original: &str, price: &str, more: &str) -> String {
        let id = self.id();
        let fields = format!("35=G|11={id}|41={original}|54=1|55=TXFL6|40=2|38=10|44={price}");
        self.client(&format!("{fields}{more}")).unwrap();
        id
    }

    fn cancel_with(&mut self, original: &str, more: &str) -> String {
        let id = self.id();
        self.client(&format!("35=F|11={id}|41={original}|54=1|55=TXFL6{more}"))
            .unwrap();
        id
    }

    /// The values of the only request that came to the exchange since.
    fn got_marks(&mut self) -> String {
        marked(&self.got_one())
    }

    fn why(&mut self) -> String {
        let reports = self.reports(&["150", "58"]);
        assert_eq!(reports.len(), 1, "{reports:?}");
        reports[0].clone()
    }

    /// An operator reloads; the changes as the OMS says them.
    fn reload(&mut self, settings: &str) -> String {
        let mut rules = files(settings, &["T1", "CLIENT"]);
        rules.hash ^= self.notes.len() as u64;
        let new = Box::new(NewSettings {
            rules: rules.clone(),
            kind: ReloadKind::Files,
            is_applied: false,
        });
        self.oms
            .set_settings_source(Box::new(Source(Mutex::new(Some(new)))));
        let command = OperatorCommand {
            bytes: crate::RELOAD,
            who: "ann",
            why: "a test",
        };
        let mut answer = Vec::new();
        self.tell(|oms, now, outbox| oms.on_command(now, command, &mut answer, outbox))
            .unwrap();
        self.rules = rules;
        self.work();
        String::from_utf8(answer).unwrap()
    }
}

struct Source(Mutex<Option<Box<NewSettings>>>);

impl SettingsSource for Source {
    fn take(&self) -> Option<Box<NewSettings>> {
        self.0.lock().unwrap().take()
    }

    fn give_back(&self, spent: Box<NewSettings>) {
        *self.0.lock().unwrap() = Some(spent);
    }
}

#[test]
fn each_request_of_an_order_has_the_fields_that_it_carries() {
    for (more, wanted) in [
        (ALL, "77 1 D G 7x9"),
        ("|9717=G", "8 B D G 904"),
        ("|9718=7x9", "8 B D P 7x9"),
        ("|582=1", "8 1 D P 904"),
        ("|439=77", "77 B D P 904"),
        ("", PLAIN),
    ] {
        for with_checkpoint in [false, true] {
            let mut floor = with(TABLE, "");
            let all = life(&mut floor, more, with_checkpoint);
            assert_eq!(all, vec![wanted.to_string(); 5], "{more}");
            // What the exchange repeats is nothing new to the client.
            let reports = core::mem::take(&mut floor.reports);
            for tag in ["|9717=", "|9718=", "|582=", "|439="] {
                assert!(!reports.iter().any(|it| it.contains(tag)), "{reports:?}");
            }
        }
    }
}

#[test]
fn a_field_without_a_place_is_refused_with_its_tag_or_dropped() {
    let why = "150=8|58=a field of the request would not reach the venue";
    for table in [TABLE, "{order_source = 'G'}", "{}"] {
        let mut floor = with(table, "drop = [48]");
        for (more, tag) in [
            ("|58=hello", 58),
            ("|528=A", 528),
            ("|6000=x", 6000),
            ("|453=1|448=ME|447=D|452=1", 453),
            ("|111=5", 111),
        ] {
            floor.order(10, "100", more);
            assert_eq!(floor.why(), format!("{why} (tag {tag})"), "{table}");
        }
        floor.order(10, "100", "|48=ISIN");
        assert_eq!(floor.got().len(), 1);
        floor.check();
    }
    // The same fields are refused where the line group names none.
    let mut floor = with("{order_source = 9717}", "");
    floor.order(10, "100", "|439=77");
    assert_eq!(floor.why(), format!("{why} (tag 439)"));
    floor.order(10, "100", "|9717=G|9717=D");
    assert_eq!(floor.why(), format!("{why} (tag 9717)"));
    assert_eq!(floor.got(), []);
    floor.check();
}

#[test]
fn a_value_that_does_not_fit_is_refused_with_tag_and_field() {
    let mut floor = with(TABLE, "");
    for (field, said) in [
        ("9717=X", "tag 9717: order_source is D, A, M, W, P, V or G"),
        ("9717=DD", "tag 9717: order_source is D, A, M, W, P, V or G"),
        (
            "9718=99",
            "tag 9718: info_source is 3 characters of ASCII without a blank",
        ),
        (
            "9718=9 9",
            "tag 9718: info_source is 3 characters of ASCII without a blank",
        ),
        (
            "582=12",
            "tag 582: investor_flag is a character of ASCII that is no blank",
        ),
        ("439=70000", "tag 439: cm_id is a number from 1 to 65535"),
        ("439=0", "tag 439: cm_id is a number from 1 to 65535"),
        ("439=BROKER", "tag 439: cm_id is a number from 1 to 65535"),
    ] {
        floor.order(10, "100", &format!("|{field}"));
        let text = "150=8|58=over TMP a field of the request has a value that does not fit";
        assert_eq!(floor.why(), format!("{text} ({said})"));
    }
    assert_eq!(floor.got(), []);
    let id = floor.order(10, "100", ALL);
    let order = floor.got_one();
    floor.says(&accepted(&order));
    floor.reports.clear();
    floor.reprice(&id, "101", "|9717=X");
    floor.cancel_with(&id, "|439=x");
    let refused = floor.reports(&["35", "58"]);
    assert_eq!(refused.len(), 2);
    assert!(
        refused[0].contains("(tag 9717: order_source is"),
        "{refused:?}"
    );
    assert!(refused[1].contains("(tag 439: cm_id is"), "{refused:?}");
    assert_eq!(floor.got(), []);
    floor.check();
}

#[test]
fn a_replace_and_a_cancel_may_say_other_values() {
    for with_checkpoint in [false, true] {
        let mut floor = with(TABLE, "");
        let id = floor.order(10, "100", ALL);
        let order = floor.got_one();
        floor.says(&accepted(&order));
        // One that the exchange refuses changes nothing.
        floor.reprice(&id, "101", "|9717=M|582=2");
        let refused = floor.got_one();
        assert_eq!(marked(&refused), "77 2 D M 7x9");
        floor.says(&reject(&refused, TmpStatus::TICK));
        floor.reprice(&id, "102", "");
        let plain = floor.got_one();
        assert_eq!(marked(&plain), "77 1 D G 7x9");
        floor.says(&reject(&plain, TmpStatus::TICK));
        // One that is carried out while the OMS is down.
        let id = floor.reprice(&id, "103", "|9717=W");
        let replace = floor.got_one();
        assert_eq!(marked(&replace), "77 1 D W 7x9");
        floor.restart(with_checkpoint);
        floor.pass(2 * SECOND);
        floor.connect(0);
        let query = floor.got_one();
        assert_eq!(query.exec_type, TmpExecType::QUERY);
        assert_eq!(marked(&query), "77 1 D G 7x9");
        floor.says(&report(&replace, TmpExecType::PRICE, (10, 10)));
        floor.restart(with_checkpoint);
        floor.pass(2 * SECOND);
        floor.connect(0);
        // A cancel has its own, and the order keeps its values.
        let cancel = floor.cancel_with(&id, "|9717=V|439=9");
        let sent = floor.got_one();
        assert_eq!(marked(&sent), "9 1 D V 7x9");
        floor.says(&reject(&sent, TmpStatus::TICK));
        assert_ne!(cancel, id);
        floor.cancel(&id);
        assert_eq!(floor.got_marks(), "77 1 D W 7x9");
        floor.check();
    }
}

#[test]
fn an_order_that_waits_is_sent_with_what_it_has_then() {
    for with_checkpoint in [false, true] {
        let mut floor = with(TABLE, "queue = \"60s\"");
        floor.disconnect(0);
        let first = floor.order(10, "100", ALL);
        let second = floor.order(10, "100", ALL);
        let third = floor.order(10, "100", "");
        floor.reprice(&first, "101", "|9717=M");
        floor.reprice(&second, "101", "");
        floor.reprice(&third, "101", "|439=9");
        floor.restart(with_checkpoint);
        floor.pass(2 * SECOND);
        floor.connect(0);
        let got: Vec<String> = floor.got().iter().map(marked).collect();
        assert_eq!(got, ["77 1 D M 7x9", "77 1 D G 7x9", "9 B D P 904"]);
        floor.check();
    }
}

#[test]
fn an_order_that_is_sent_again_has_the_same_fields_unless_they_were_replaced() {
    let of = |member: &str| {
        let table = format!("{{order_source = 9717, cm_id = '{member}'}}");
        settings(&table, "").replace("times = 2\n", "times = 2\nafter = \"4s\"\n")
    };
    for (replaced, wanted) in [
        (None, "5 B D G 904"),
        (Some(""), "5 B D G 904"),
        (Some("|9717=M"), "5 B D M 904"),
    ] {
        for with_checkpoint in [false, true] {
            let mut floor = Floor::with(&of("5"), 1, |_| {});
            floor.connect(0);
            let id = floor.order(10, "100", "|9717=G");
            let order = floor.got_one();
            assert_eq!(marked(&order), "5 B D G 904");
            floor.says(&reject(&order, TmpStatus::NOT_OPEN));
            floor.reload(&of("12"));
            floor.restart(with_checkpoint);
            floor.pass(2 * SECOND);
            floor.connect(0);
            if let Some(more) = replaced {
                floor.reprice(&id, "101", more);
            }
            assert_eq!(floor.got(), []);
            floor.pass(3 * SECOND);
            let again = floor.got_one();
            assert_eq!(again.exec_type, TmpExecType::NEW);
            assert_ne!(again.order_no, order.order_no);
            assert_eq!(marked(&again), wanted);
            floor.check();
        }
    }
}

#[test]
fn both_sides_of_a_quote_have_its_fields() {
    let mut floor = with(TABLE, "");
    let fields = "35=S|117=Q1|1=0012345|55=TXFL6|132=100|133=101|134=3|135=4";
    floor.client(&format!("{fields}{ALL}")).unwrap();
    let quote = floor.members[0].quotes.pop().unwrap();
    assert_eq!((quote.cm_id, quote.order_source), (77, b'G'));
    assert_eq!((quote.info_source, quote.account_flag), (*b"7x9", b'1'));
    for side in super::quotes::sides(&quote) {
        floor.says(&accepted(&side));
    }
    floor.restart(true);
    floor.pass(2 * SECOND);
    floor.connect(0);
    floor.client("35=Z|117=Q1|298=1|295=1|55=TXFL6").unwrap();
    let cancels: Vec<String> = floor.got().iter().map(marked).collect();
    assert_eq!(cancels, ["77 1 9 G 7x9"; 2]);
    floor.reports.clear();
    floor
        .client(&format!("{}|9717=X", fields.replace("Q1", "Q2")))
        .unwrap();
    let said = floor.reports(&["35", "58"]);
    assert!(said[0].contains("tag 9717: order_source is"), "{said:?}");
    floor.check();
}

#[test]
fn contracts_change_the_values_and_constants_replace_those_of_the_link() {
    // The user's own value, then what the line group makes of it.
    let user = "conditional = 2\nset = {9718 = '7x9'}\nmap.9717 = {a = 'b'}\n";
    let map = "map.9717 = {b = 'G'}";
    let table = "{order_source = 9717, info_source = 9718, investor_flag = 'Z', cm_id = '12'}";
    let settings = settings(table, map).replace("conditional = 2\n", user);
    let mut floor = Floor::with(&settings, 1, |_| {});
    floor.connect(0);
    let id = floor.order(10, "100", "|9717=a");
    let order = floor.got_one();
    assert_eq!(marked(&order), "12 Z D G 7x9");
    floor.says(&accepted(&order));
    floor.cancel(&id);
    assert_eq!(floor.got_marks(), "12 Z D G 7x9");
    floor.order(10, "100", "");
    assert_eq!(floor.got_marks(), "12 Z D P 7x9");
    floor.reports.clear();
    floor.order(10, "100", "|9717=c");
    let why = floor.why();
    assert!(
        why.ends_with("would not reach the venue (tag 9717)"),
        "{why}"
    );
    floor.client("35=R|131=R1|146=1|55=TXFL6").unwrap();
    let inquiry = floor.members[0].others.pop().unwrap();
    assert_eq!(
        &inquiry[49..53],
        b"P904",
        "a request for quotes has no such fields"
    );
    floor.check();
}

#[test]
fn values_of_a_user_come_before_constants_and_after_fields() {
    let user = "conditional = 2\norder_source = 'A'\ncm_id = 5\n";
    let table = "{order_source = 9717, cm_id = '12', info_source = '7x9'}";
    let settings = settings(table, "").replace("conditional = 2\n", user);
    let mut floor = Floor::with(&settings, 1, |_| {});
    floor.connect(0);
    floor.order(10, "100", "");
    assert_eq!(floor.got_marks(), "5 B D A 7x9");
    floor.order(10, "100", "|9717=G");
    assert_eq!(floor.got_marks(), "5 B D G 7x9");
    floor.client("35=R|131=R1|146=1|55=TXFL6").unwrap();
    let inquiry = floor.members[0].others.pop().unwrap();
    assert_eq!(&inquiry[49..53], b"A7x9");
    floor.check();
}

#[test]
fn a_reload_changes_the_table_for_new_orders() {
    let mut floor = with(TABLE, "");
    let id = floor.order(10, "100", ALL);
    let order = floor.got_one();
    floor.says(&accepted(&order));
    let said = floor.reload(&settings("{order_source = 9717, cm_id = '12'}", ""));
    let row = "line_group\tFUT\ttmp_fields cm_id = 439, order_source = 9717, info_source = 9718, \
               investor_flag = 582\ttmp_fields cm_id = \"12\", order_source = 9717";
    assert!(said.contains(row), "{said}");
    let broken = "1 open order with fields that the contracts refuse from then on, 1 (tag 9718)";
    assert!(said.contains(broken), "{said}");
    floor.cancel(&id);
    assert_eq!(
        floor.got_marks(),
        "77 1 D G 7x9",
        "the order keeps its values"
    );
    floor.order(10, "100", "|9717=M");
    assert_eq!(floor.got_marks(), "12 B D M 904");
    floor.reports.clear();
    floor.order(10, "100", "|439=77");
    assert!(floor.why().ends_with("(tag 439)"));
    floor.check();
    // An order that waits is rejected when it is its turn.
    let mut floor = with(TABLE, "queue = \"60s\"");
    floor.disconnect(0);
    floor.order(10, "100", ALL);
    floor.reload(&settings(
        "{order_source = 582, info_source = 9717, investor_flag = 9718, cm_id = 439}",
        "queue = \"60s\"",
    ));
    floor.reports.clear();
    floor.connect(0);
    let why = floor.why();
    assert!(
        why.ends_with("(tag 9717: info_source is 3 characters of ASCII without a blank)"),
        "{why}"
    );
    assert_eq!(floor.got(), []);
    floor.check();
}

#[test]
fn a_helper_must_take_the_fields_too() {
    let helper = "[[line_group]]\nname = \"HELP\"\nlines = [\"T2\"]\nnumber_pool = \"P\"\nTABLE\n[[route]]\n";
    let of = |table: &str| {
        let helper = helper.replace("TABLE", table);
        let settings = settings(TABLE, "helpers = [\"HELP\"]").replacen("[[route]]\n", &helper, 1);
        let mut floor = Floor::with(&settings, 2, |_| {});
        floor.connect(1);
        floor
    };
    // Each group has its own tags for the fields, and values for them.
    let mut floor = of(
        "tmp_fields = {order_source = 9717, info_source = 9718, investor_flag = 582, cm_id = 439}\nmap.439 = {77 = '78'}",
    );
    floor.order(10, "100", ALL);
    let got = floor.got_on(1);
    assert_eq!(marked(&got[0]), "78 1 D G 7x9");
    floor.order(10, "100", "|439=76");
    assert!(
        floor
            .reports(&["58"])
            .last()
            .unwrap()
            .ends_with("(tag 439)")
    );
    floor.check();
    let mut floor = of("");
    floor.order(10, "100", "|9717=G");
    let why = floor.why();
    assert!(
        why.ends_with("would not reach the venue (tag 9717)"),
        "{why}"
    );
    floor.order(10, "100", "");
    assert_eq!(floor.got_on(1).len(), 1);
    floor.check();
}

#[test]
fn the_history_of_an_order_has_its_fields_and_what_they_fill() {
    let mut floor = with(TABLE, "");
    let id = floor.order(10, "100", ALL);
    let order = floor.got_one();
    floor.says(&accepted(&order));
    floor.reprice(&id, "101", "|9717=M");
    floor.got();
    let mut history = crate::desk::history::History::new(1, crate::OmsState::default());
    let steps = floor.notes.iter().filter_map(|note| history.take(note));
    let text = steps.map(|step| step.text).collect::<Vec<_>>().join("\n");
    for wanted in [
        "order carries 9717=G|9718=7x9|582=1|439=77",
        "has over TMP cm_id 77, order_source G, info_source 7x9, investor_flag 1",
        "has over TMP cm_id 77, order_source M, info_source 7x9, investor_flag 1",
    ] {
        assert!(text.contains(wanted), "{text}");
    }
}

#[test]
fn a_start_names_the_open_orders_that_another_table_refuses() {
    for with_checkpoint in [false, true] {
        let mut floor = with(TABLE, "");
        floor.order(10, "100", ALL);
        floor.order(10, "100", "|9717=G");
        for order in floor.got() {
            floor.says(&accepted(&order));
        }
        floor.restart(with_checkpoint);
        floor.events();
        floor.rules = files(&settings("{order_source = 9717}", ""), &["T1", "CLIENT"]);
        floor.restart(with_checkpoint);
        let events = floor.events();
        let wanted = "1 open order with fields that their lines refuse since the settings or a dictionary changed: \
                      1 (tag 9718); ";
        assert!(events.iter().any(|it| it.starts_with(wanted)), "{events:?}");
        floor.check();
    }
}
