//! What a venue is asked when its line is up: its orders one by one, all of them at once, or nothing.

use fixwire_engine::protocol::dictionary::Version;

use crate::desk::{Desk, Input, Said, Setup, dictionary};

const CLIENT: usize = 0;
const VENUE: usize = 1;
const SECOND: i64 = 1_000_000_000;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
roll_wait = "1s"
instruments = "instruments.csv"
limits = "limits.csv"
[[account]]
name = "A1"
[[user]]
session = "C"
accounts = ["A1"]
may = ["new", "replace", "cancel", "status"]
account = "A1"
[[line_group]]
name = "V"
lines = ["V"]
GROUP
[[route]]
symbols = ["*"]
to = "V"
"#;

const LIMITS: &str = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,1000000\nfirm,RC8,90\nfirm,RC13,100\n\
                      firm,RC14,1000000000\nfirm,RC15,100000\n";

fn files() -> Vec<(&'static str, String)> {
    let instruments = "symbol,tick,lot,reference\nXYZ,0.5,1,100\n";
    vec![
        ("instruments.csv", instruments.to_owned()),
        ("limits.csv", LIMITS.to_owned()),
    ]
}

/// The settings of a group, or what is wrong with them.
fn rules(group: &str) -> Result<fixwire_oms::rules::RiskRules, String> {
    let mut open = |wanted: &str| {
        let file = files().into_iter().find(|(name, _)| *name == wanted);
        file.map(|(_, text)| text).ok_or_else(|| wanted.to_owned())
    };
    let settings = SETTINGS.replace("GROUP", group);
    fixwire_oms::load::load(&settings, &["C", "V"], &mut open).map_err(|why| format!("{why:?}"))
}

struct Office {
    desk: Desk,
}

impl Office {
    fn new(version: Version, group: &str) -> Self {
        let setup = Setup {
            settings: SETTINGS.replace("GROUP", group),
            files: files(),
            sessions: vec![("C", version), ("V", version)],
        };
        let mut desk = Desk::new(&setup);
        desk.hear(&Input::Up(CLIENT, false));
        let mut office = Self { desk };
        office.up();
        office
    }

    /// Orders 1 to `count`, which the venue has acknowledged.
    fn with_orders(version: Version, group: &str, count: u64) -> Self {
        let mut office = Self::new(version, group);
        // The answer to the request at its first logon: nothing is open.
        office.none();
        for at in 1..=count {
            office.order(at);
            let body =
                format!("37=V{at}|11={at}|17=N{at}|150=0|39=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|");
            office.desk.says(VENUE, "8", &body);
        }
        office.desk.events();
        office
    }

    fn order(&mut self, at: u64) -> Vec<Said> {
        let body = format!("11=C{at}|21=1|55=XYZ|54=1|38=10|40=2|44=100|60=20261122-08:00:00|");
        self.desk.says(CLIENT, "D", &body)
    }

    fn up(&mut self) -> Vec<Said> {
        self.desk.hear(&Input::Up(VENUE, false))
    }

    /// The line breaks and is back.
    fn returns(&mut self) -> Vec<Said> {
        self.desk.hear(&Input::Down(VENUE, false));
        self.desk.events();
        self.up()
    }

    fn pass(&mut self, seconds: i64) -> Vec<Said> {
        self.desk.hear(&Input::Pass(seconds * SECOND))
    }

    /// A status of an order in an answer; `more` says of which, and which part.
    fn listed(&mut self, order: u64, status: u8, more: &str) -> Vec<Said> {
        let status = char::from(status);
        let body = format!(
            "37=V{order}|11={order}|17=0|150=I|39={status}|55=XYZ|54=1|38=10|44=100|14=0|151=10|6=0|{more}"
        );
        self.desk.says(VENUE, "8", &body)
    }

    fn none(&mut self) -> Vec<Said> {
        let body = "37=NONE|17=0|150=I|39=8|55=XYZ|54=1|38=0|14=0|151=0|6=0|911=0|912=Y|";
        self.desk.says(VENUE, "8", body)
    }

    fn told(&mut self, text: &str) -> bool {
        let events = self.desk.events();
        events.iter().any(|event| event.contains(text))
    }
}

/// Values of a tag in the messages of a type to the venue.
fn sent(said: &[Said], msg_type: &str, tag: u32) -> Vec<String> {
    let to_venue = said.iter().filter(|it| it.to == VENUE);
    let its = to_venue.filter(|it| it.msg_type == msg_type);
    its.map(|it| it.get(tag).unwrap_or_default().to_owned())
        .collect()
}

const MASS: &str = "mass_status = true";

#[test]
fn one_request_is_for_all_orders_and_what_is_not_listed_is_asked_for_alone() {
    for restarts in [false, true] {
        let mut office = Office::with_orders(Version::Fix44, MASS, 3);
        let said = if restarts {
            office.desk.hear(&Input::Restart(0, true));
            office.up()
        } else {
            office.returns()
        };
        let ids = sent(&said, "AF", 584);
        assert_eq!((ids.len(), sent(&said, "AF", 585)), (1, vec!["7".into()]));
        assert_eq!(sent(&said, "H", 11), [""; 0]);
        let of = format!("584={}|911=2|", ids[0]);
        let said = office.listed(1, b'0', &format!("{of}912=N|"));
        assert_eq!(sent(&said, "H", 11), [""; 0]);
        let said = office.listed(3, b'0', &format!("{of}912=Y|"));
        assert_eq!(sent(&said, "H", 11), ["2"]);
        assert!(office.told("does not list orders that are open here: the status of 1 orders"));
        // The answer to that one is as without a mass status.
        office.listed(2, b'8', "");
        assert!(office.told("order 2: the venue does not have it"));
        assert!(office.pass(20).iter().all(|it| it.to != VENUE));
    }
}

#[test]
fn a_venue_with_all_orders_is_asked_for_none_alone() {
    for last in ["912=Y|", "", "912=N|"] {
        let mut office = Office::with_orders(Version::Fix44, MASS, 2);
        let said = office.returns();
        let of = format!("584={}|911=2|", sent(&said, "AF", 584)[0]);
        // An answer to another request does not count.
        office.listed(1, b'0', "584=5|911=1|912=Y|");
        assert!(sent(&office.listed(1, b'0', &of), "H", 11).is_empty());
        let said = office.listed(2, b'0', &format!("{of}{last}"));
        assert!(sent(&said, "H", 11).is_empty());
        assert!(sent(&office.pass(10), "H", 11).is_empty());
        assert_eq!(office.desk.events(), [""; 0], "{last}");
    }
}

#[test]
fn without_an_answer_each_order_is_asked_for() {
    let all = ["1", "2", "3"];
    for version in [Version::Fix43, Version::Fix44, Version::Fix50Sp2] {
        let mut office = Office::with_orders(version, MASS, 3);
        office.returns();
        assert_eq!(sent(&office.none(), "H", 11), all, "it has none");
        assert!(!office.told("report for unknown"));
        for reject in ["j", "3"] {
            office.returns();
            let said = office.desk.says(VENUE, reject, "45=1|372=AF|380=3|58=no|");
            assert_eq!(sent(&said, "H", 11), all, "{reject}");
            assert!(office.told("the venue rejects OrderMassStatusRequest(AF)"));
        }
        office.returns();
        assert!(sent(&office.pass(4), "H", 11).is_empty());
        assert_eq!(sent(&office.pass(2), "H", 11), all, "silent");
        assert!(office.told("does not answer OrderMassStatusRequest(AF)"));
        let said = office.returns();
        let of = format!("584={}|911=3|", sent(&said, "AF", 584)[0]);
        office.listed(2, b'0', &of);
        assert_eq!(sent(&office.pass(6), "H", 11), ["1", "3"], "incomplete");
        assert!(office.told("lists fewer orders than it says"));
    }
}

#[test]
fn reports_without_a_count_are_an_answer_when_the_venue_is_silent() {
    let mut office = Office::with_orders(Version::Fix43, MASS, 3);
    office.returns();
    office.listed(1, b'0', "");
    office.pass(4);
    office.listed(3, b'0', "");
    assert!(sent(&office.pass(4), "H", 11).is_empty());
    assert_eq!(sent(&office.pass(2), "H", 11), ["2"]);
}

#[test]
fn an_order_in_flight_is_settled_by_the_list() {
    let mut office = Office::with_orders(Version::Fix44, MASS, 0);
    office.order(1);
    let said = office.returns();
    let of = format!("584={}|911=1|912=Y|", sent(&said, "AF", 584)[0]);
    let said = office.listed(1, b'0', &of);
    let to_client = said.iter().find(|it| it.to == CLIENT);
    assert_eq!(to_client.and_then(|it| it.get(150)), Some("0"));
    assert!(sent(&said, "H", 11).is_empty());
}

#[test]
fn a_request_for_all_orders_is_not_resent_and_not_sent_by_default() {
    let mut office = Office::with_orders(Version::Fix44, MASS, 1);
    let said = office.returns();
    let asked = said.iter().find(|it| it.msg_type == "AF").unwrap();
    assert!(!office.desk.resends(asked));
    let mut office = Office::with_orders(Version::Fix44, "", 1);
    let said = office.returns();
    assert!(said.iter().all(|it| it.to != VENUE), "nothing is in doubt");
}

#[test]
fn only_versions_with_the_request_may_have_it_in_their_settings() {
    use fixwire_oms::{Oms, OmsSession};
    for (version, group, is_wrong) in [
        (Version::Fix40, MASS, true),
        (Version::Fix41, MASS, true),
        (Version::Fix42, MASS, true),
        (Version::Fix42, "", false),
        (Version::Fix43, MASS, false),
        (Version::Fix44, MASS, false),
        (Version::Fix50, MASS, false),
    ] {
        let problems_of = |rules: &fixwire_oms::rules::RiskRules| {
            let session = |name: &str, version| OmsSession {
                name: name.into(),
                version,
                dictionary: dictionary(version),
                ids: Vec::new(),
            };
            let sessions = [session("C", Version::Fix42), session("V", version)];
            Oms::version_problems(rules, &sessions)
        };
        let market = problems_of(&rules("market_status = true").unwrap());
        assert_eq!(
            market.len(),
            usize::from(version < Version::Fix42),
            "{market:?}"
        );
        let what = "has no TradingSessionStatusRequest(g), which FIX has from 4.2 on";
        assert!(market.iter().all(|it| it.ends_with(what)), "{market:?}");
        let problems = problems_of(&rules(group).unwrap());
        assert_eq!(problems.len(), usize::from(is_wrong), "{problems:?}");
        assert!(
            problems
                .iter()
                .all(|it| it.contains("line_group V has mass_status: FIX.4."))
        );
    }
    let both = rules(&format!("{MASS}\n{NO}")).unwrap_err();
    assert!(both.contains("forbids it"), "{both}");
    let unknown = rules("status_request = \"never\"").unwrap_err();
    assert!(
        unknown.contains("write from the book, pass on, or no"),
        "{unknown}"
    );
}

/// An order of the day before, on a line that was down when its day ended.
fn lapsed(group: &str) -> Office {
    let mut office = Office::with_orders(Version::Fix44, group, 2);
    office.desk.hear(&Input::Down(VENUE, false));
    office.desk.hear(&Input::Restart(1, false));
    office.pass(2);
    office.desk.events();
    office
}

#[test]
fn listed_orders_of_former_days_are_cancelled() {
    let mut office = lapsed(MASS);
    let said = office.up();
    let of = format!("584={}|911=1|912=Y|", sent(&said, "AF", 584)[0]);
    let said = office.listed(1, b'0', &of);
    assert_eq!(sent(&said, "F", 41), ["1"]);
    assert_eq!(sent(&said, "H", 11), ["2"], "it is not listed");
    assert!(office.told("order 1: its trading day is over"));
    assert!(sent(&office.listed(2, b'8', ""), "F", 41).is_empty());
    assert!(office.pass(4).iter().all(|it| it.to != VENUE));
}

const NO: &str = "status_request = \"no\"";

#[test]
fn a_venue_that_is_not_to_be_asked_is_not() {
    let mut office = Office::with_orders(Version::Fix44, NO, 1);
    office.order(2);
    let to_venue = |said: &[Said]| said.iter().any(|it| it.to == VENUE);
    office.desk.hear(&Input::Down(VENUE, false));
    assert!(office.told("1 orders in flight on a session that disconnected: ask the venue"));
    // In doubt, also when its numbers were reset.
    assert!(!to_venue(&office.desk.hear(&Input::Up(VENUE, true))));
    assert!(office.told("line V: 1 orders are unknown, and the venue is not asked"));
    assert!(!to_venue(&office.pass(20)));
    // A difference is an alarm at once.
    let fill = "37=V1|11=1|17=F1|150=F|39=1|55=XYZ|54=1|32=1|31=100|38=10|14=3|151=7|6=100|";
    assert!(!to_venue(&office.desk.says(VENUE, "8", fill)));
    assert!(office.told("CumQty 1 here, the venue says CumQty 3"));
    // An end that waits for its fills.
    let end = "37=V1|11=1|17=E1|150=C|39=C|55=XYZ|54=1|38=10|14=5|151=0|6=100|";
    office.desk.says(VENUE, "8", end);
    assert!(!to_venue(&office.pass(6)));
    // A client is answered from the book.
    let said = office.desk.says(CLIENT, "H", "11=C1|55=XYZ|54=1|");
    assert!(!to_venue(&said) && said.len() == 1);
}

#[test]
fn a_request_without_an_answer_is_an_alarm_where_the_venue_is_not_asked() {
    let mut office = Office::with_orders(Version::Fix44, NO, 1);
    let cancel = |at: u64| format!("11=X{at}|41=C1|55=XYZ|54=1|60=20261122-08:00:00|");
    let said = office.desk.says(CLIENT, "F", &cancel(1));
    assert_eq!(sent(&said, "F", 41), ["1"]);
    assert!(!office.told("has not answered"));
    assert!(office.pass(6).iter().all(|it| it.to != VENUE));
    let events = office.desk.events();
    let told = events.iter().find(|it| it.contains("has not answered"));
    assert!(told.is_some_and(|it| !it.contains("status")), "{events:?}");
    // As after a status request without an answer: another cancel goes out over it.
    let said = office.desk.says(CLIENT, "F", &cancel(2));
    assert_eq!(sent(&said, "F", 41), ["1"]);
}

#[test]
fn orders_of_former_days_are_cancelled_at_once_where_the_venue_is_not_asked() {
    let mut office = lapsed(NO);
    let said = office.up();
    assert_eq!(sent(&said, "F", 41), ["1", "2"]);
    assert!(sent(&said, "H", 11).is_empty());
    assert!(sent(&office.pass(2), "F", 41).is_empty());
}
