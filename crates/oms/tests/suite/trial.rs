//! A recorded day against other settings: the trial rejects what the OMS itself would have rejected, had the venue
//! answered each client order in the same way.

use std::collections::{BTreeMap, BTreeSet};

use fixwire_engine::protocol::dictionary::Version;
use fixwire_engine::protocol::{Decoder, SessionId, Timestamp};
use fixwire_harness::Random;
use fixwire_oms::load::load;
use fixwire_oms::trial::{OmsTrial, TrialResult};
use fixwire_oms::{OmsSession, OmsState};

use crate::desk::{Desk, Input, Said, Setup, conversions, dictionary};

const CLIENT: usize = 0;
const VENUE: usize = 1;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
instruments = "instruments.csv"
limits = "limits.csv"
[oms.own_tags]
parent = 9705
[[account]]
name = "A1"
[[account]]
name = "A2"
[[user]]
session = "CLIENT"
accounts = ["*"]
may = ["new", "replace", "cancel", "status"]
parents = 5
[[line_group]]
name = "SIM"
lines = ["SIM-1"]
[[route]]
symbols = ["*"]
to = "SIM"
"#;

const LIMITS: &str = "firm,RC6,1000\nfirm,RC7,1000000\nfirm,RC8,90\nfirm,RC13,1000\nfirm,RC14,100000000\n\
                      firm,RC15-long,50000\nfirm,RC15-short,50000";

/// Settings with these limits, which replace those of the same scope and control.
fn setup(limits: &str, versions: [Version; 2]) -> Setup {
    let key = |row: &str| row.rsplit_once(',').map(|(key, _)| key.to_owned());
    let given: Vec<_> = limits.lines().map(key).collect();
    let rows = LIMITS.lines().filter(|row| !given.contains(&key(row)));
    let rows: Vec<&str> = rows.chain(limits.lines()).collect();
    let limits = format!("scope,control,limit\n{}\n", rows.join("\n"));
    Setup {
        settings: SETTINGS.to_owned(),
        files: vec![
            (
                "instruments.csv",
                "symbol,tick,lot,reference,positions,legs\nXYZ,1,1,100,,\nABC,0.5,1,50,,\nMAR,1,1,100,,\n\
                 JUN,1,1,102,,\nFLY,1,1,-104,,buy 1 MAR sell 2 JUN\n"
                    .into(),
            ),
            ("limits.csv", limits),
        ],
        sessions: vec![("CLIENT", versions[0]), ("SIM-1", versions[1])],
    }
}

/// A message of a record: its time, the client's or ours, its type and its body.
#[derive(Clone, Debug)]
struct Row {
    at: i64,
    is_ours: bool,
    msg_type: String,
    body: String,
}

/// What the venue does with a client's order, whoever asks.
#[derive(Clone, Copy, Debug, Default)]
struct Script {
    rejects: bool,
    /// Quantities of fills, right after the order was accepted.
    fills: [u64; 2],
}

/// An OMS whose venue answers by the client's ClOrdID(11).
struct Day {
    desk: Desk,
    version: Version,
    scripts: BTreeMap<String, Script>,
    execs: u64,
    record: Vec<Row>,
    /// Requests that were rejected, by ClOrdID(11).
    rejected: BTreeSet<String>,
}

fn text(said: &Said) -> String {
    let fields = said.fields.iter();
    fields.map(|(tag, it)| format!("{tag}={it}|")).collect()
}

impl Day {
    fn new(limits: &str, versions: [Version; 2], scripts: &BTreeMap<String, Script>) -> Self {
        let mut desk = Desk::new(&setup(limits, versions));
        for session in [CLIENT, VENUE] {
            desk.hear(&Input::Up(session, false));
        }
        Self {
            desk,
            version: versions[1],
            scripts: scripts.clone(),
            execs: 0,
            record: Vec::new(),
            rejected: BTreeSet::new(),
        }
    }

    fn client(&mut self, msg_type: &'static str, body: &str) {
        // The desk's clock moves a millisecond before it hears.
        let at = self.desk.now() + 1_000_000;
        self.row(at, false, msg_type, body);
        let said = self.desk.says(CLIENT, msg_type, body);
        self.take(said);
    }

    fn row(&mut self, at: i64, is_ours: bool, msg_type: &str, body: &str) {
        self.record.push(Row {
            at,
            is_ours,
            msg_type: msg_type.to_owned(),
            body: body.to_owned(),
        });
    }

    fn take(&mut self, said: Vec<Said>) {
        for said in said {
            if said.to == CLIENT {
                if said.msg_type == "9" || said.get(39) == Some("8") {
                    self.rejected.insert(said.get(11).unwrap().to_owned());
                }
                let now = self.desk.now();
                self.row(now, true, &said.msg_type, &text(&said));
                continue;
            }
            match said.msg_type.as_str() {
                "D" => self.ordered(&said),
                "G" | "F" => self.changed(&said),
                other => panic!("{other}"),
            }
        }
    }

    fn report(&mut self, kind: &str, body: &str) {
        self.execs += 1;
        let execs = self.execs;
        let is_old = self.version < Version::Fix43;
        let (trans, exec) = match (is_old, kind) {
            (true, "F") => ("20=0|", if body.contains("|151=0|") { "2" } else { "1" }),
            (true, other) => ("20=0|", other),
            (false, other) => ("", other),
        };
        let body = format!("37=V|17=E{execs}|{trans}150={exec}|{body}");
        let said = self.desk.says(VENUE, "8", &body);
        self.take(said);
    }

    fn ordered(&mut self, order: &Said) {
        let id = order.get(11).unwrap().to_owned();
        let quantity: u64 = order.get(38).unwrap().parse().unwrap();
        let state = self.desk.state();
        let known = state.orders().get(id.parse().unwrap()).unwrap();
        let client = String::from_utf8(known.id.bytes().to_vec()).unwrap();
        let script = self.scripts[&client];
        if script.rejects {
            return self.report(
                "8",
                &format!("11={id}|39=8|103=99|58=no|38={quantity}|14=0|151=0|"),
            );
        }
        self.report(
            "0",
            &format!("11={id}|39=0|38={quantity}|14=0|151={quantity}|"),
        );
        let mut filled = 0;
        for fill in script.fills.into_iter().filter(|fill| *fill > 0) {
            let fill = fill.min(quantity - filled);
            if fill == 0 {
                break;
            }
            filled += fill;
            let left = quantity - filled;
            let status = if left == 0 { 2 } else { 1 };
            self.report(
                "F",
                &format!(
                    "11={id}|39={status}|38={quantity}|32={fill}|31=100|14={filled}|151={left}|"
                ),
            );
        }
    }

    fn changed(&mut self, request: &Said) {
        let (id, original) = (request.get(11).unwrap(), request.get(41).unwrap());
        let order = id.split('-').next().unwrap().parse().unwrap();
        let known = self.desk.state().orders().get(order).unwrap();
        let filled = known.filled;
        let ids = format!("11={id}|41={original}");
        if request.msg_type == "F" {
            let quantity = known.quantity;
            let body = format!("{ids}|39=4|38={quantity}|14={filled}|151=0|");
            return self.report("4", &body);
        }
        let quantity: u64 = request.get(38).unwrap().parse().unwrap();
        let price = request.get(44).unwrap();
        let (status, left) = (u8::from(filled > 0), quantity - filled);
        let body = format!("{ids}|39={status}|38={quantity}|44={price}|14={filled}|151={left}|");
        self.report("5", &body);
    }
}

/// The requests of a day: ClOrdID(11)s that the client will send, with what the venue does.
fn requests(
    random: &mut Random,
    number: u64,
) -> (Vec<(&'static str, String)>, BTreeMap<String, Script>) {
    let (mut all, mut scripts) = (Vec::new(), BTreeMap::new());
    for order in 0..number {
        let id = format!("C{order}");
        let quantity = 10 * (1 + random.below(20));
        let (symbol, price) = if random.one_in(2) {
            ("XYZ", 100)
        } else {
            ("ABC", 50)
        };
        let side = 1 + random.below(2);
        let account = 1 + random.below(2);
        let terms = format!("55={symbol}|54={side}|1=A{account}|40=2");
        all.push(("D", format!("11={id}|{terms}|38={quantity}|44={price}|")));
        let fill = |random: &mut Random| {
            if random.one_in(2) {
                5 * random.below(20)
            } else {
                0
            }
        };
        let script = Script {
            rejects: random.one_in(10),
            fills: [fill(random), fill(random)],
        };
        scripts.insert(id.clone(), script);
        let ask = format!(
            "41={id}|{terms}|38={}|44={price}|",
            quantity + 10 * random.below(10)
        );
        match random.below(6) {
            0 => all.push(("F", format!("11=F{order}|{ask}"))),
            1 => all.push(("G", format!("11=G{order}|{ask}"))),
            _ => {}
        }
    }
    (all, scripts)
}

/// Tries a record with these limits.
fn try_out(record: &[Row], limits: &str, versions: [Version; 2]) -> TrialResult {
    try_after(None, record, limits, versions)
}

/// The same after a state.
fn try_after(
    opening: Option<OmsState>,
    record: &[Row],
    limits: &str,
    versions: [Version; 2],
) -> TrialResult {
    let setup = setup(limits, versions);
    let mut open = |wanted: &str| {
        let file = setup.files.iter().find(|(name, _)| *name == wanted);
        Ok(file.unwrap().1.clone())
    };
    let rules = load(&setup.settings, &["CLIENT", "SIM-1"], &mut open).unwrap();
    let sessions = setup.sessions.iter().map(|(name, version)| OmsSession {
        name: (*name).to_owned(),
        version: *version,
        dictionary: dictionary(*version),
        ids: Vec::new(),
    });
    let mut trial = OmsTrial::new(rules, sessions.collect(), opening, |oms| {
        oms.use_conversions(conversions(&versions));
    });
    let mut decoder = Decoder::with_capacity(256);
    for row in record {
        let (msg_type, body) = (&row.msg_type, &row.body);
        let bytes = format!("8=FIX.4.4|9=5|35={msg_type}|{body}").replace('|', "\x01");
        let message = decoder.decode(bytes.as_bytes());
        let (at, session) = (Timestamp(row.at), SessionId(0));
        if row.is_ours {
            trial.sent(at, session, &message);
        } else {
            trial.received(at, session, &message);
        }
    }
    trial.finish()
}

/// A day with loose limits, its record, and the same day with tight limits.
fn days(seed: u64, tight: &str, versions: [Version; 2]) -> (Day, Day) {
    let mut random = Random::new(seed);
    let (requests, scripts) = requests(&mut random, 60);
    let mut days = ["", tight].map(|limits| Day::new(limits, versions, &scripts));
    for day in &mut days {
        for (msg_type, body) in &requests {
            day.client(msg_type, body);
        }
    }
    let [loose, tight] = days;
    (loose, tight)
}

const FIX44: [Version; 2] = [Version::Fix44, Version::Fix44];

#[test]
fn the_settings_of_the_record_change_nothing() {
    for (seed, versions) in (0..).zip([
        FIX44,
        [Version::Fix42, Version::Fix42],
        [Version::Fix44, Version::Fix42],
        [Version::Fix40, Version::Fix40],
        [Version::Fix50Sp2, Version::Fix50Sp2],
    ]) {
        let (day, _) = days(seed, "", versions);
        let result = try_out(&day.record, "", versions);
        assert_eq!(result.changed, [], "{versions:?}");
        assert_eq!(result.lost.fills, 0);
        assert_eq!(result.orders.all, 60);
        assert_eq!(result.orders.unanswered, 0);
        let rejected = day.rejected.iter();
        let rejected = rejected.filter(|id| id.starts_with('C')).count();
        assert_eq!(result.orders.rejected, rejected as u64);
        assert!(rejected > 0);
    }
}

#[test]
fn it_rejects_what_the_oms_would_have_rejected() {
    let mut changed = 0;
    for seed in 0..40 {
        for tight in [
            "account=A1,RC6,100\n",
            "firm,RC13,5\n",
            "account=A2,RC14,30000\n",
            "symbol=XYZ,RC15,150\n",
            "account=A1 symbol=ABC,RC15-short,60\nfirm,RC7,9000\n",
        ] {
            let (record, day) = days(seed, tight, FIX44);
            let result = try_out(&record.record, tight, FIX44);
            let newly: BTreeSet<&str> = result
                .changed
                .iter()
                .filter(|it| it.rejected_now.is_some())
                .map(|it| it.id.as_str())
                .collect();
            let wanted: BTreeSet<&str> = day
                .rejected
                .difference(&record.rejected)
                .map(String::as_str)
                .collect();
            assert_eq!(newly, wanted, "seed {seed}, {tight}");
            changed += newly.len();
        }
    }
    assert!(changed > 500, "{changed}");
}

#[test]
fn the_largest_use_of_a_limit_is_just_allowed_and_one_less_is_not() {
    let (record, _) = days(7, "", FIX44);
    let loose = try_out(&record.record, "", FIX44);
    for (control, row) in [
        ("RC6", "firm,RC6"),
        ("RC7", "firm,RC7"),
        ("RC13", "firm,RC13"),
        ("RC14", "firm,RC14"),
        ("RC15-long", "firm,RC15-long"),
        ("RC15-short", "firm,RC15-short"),
        ("RC8", "firm,RC8"),
    ] {
        let used = loose.uses.iter().find(|it| it.control.code() == control);
        let used = used.unwrap_or_else(|| panic!("{control}"));
        assert_eq!(used.scope, "firm");
        let whole: i64 = used.value.parse().unwrap();
        let at = try_out(&record.record, &format!("{row},{whole}\n"), FIX44);
        assert_eq!(at.changed, [], "{control} {whole}");
        if whole > 0 {
            let below = try_out(&record.record, &format!("{row},{}\n", whole - 1), FIX44);
            assert!(!below.changed.is_empty(), "{control} {whole}");
            let first = below.changed[0].rejected_now.as_deref().unwrap();
            let code = control.split('-').next().unwrap();
            assert!(first.starts_with(code), "{control}: {first}");
        }
    }
}

#[test]
fn a_rejected_order_loses_its_fills_and_what_is_left_out_is_named() {
    let row = |at: i64, is_ours: bool, msg_type: &str, body: &str| Row {
        at: 1_795_334_400_000_000_000 + at,
        is_ours,
        msg_type: msg_type.to_owned(),
        body: body.to_owned(),
    };
    let report = |kind: &str, more: &str| format!("37=1|11=C1|17=1|150={kind}|39=0|{more}");
    let record = [
        row(1, false, "D", "11=C1|55=XYZ|54=1|1=A1|40=2|38=200|44=100|"),
        row(2, true, "8", &report("0", "")),
        row(3, true, "8", &report("F", "32=50|31=100|")),
        row(4, true, "8", &report("F", "32=150|31=100|")),
        row(5, true, "8", &report("H", "")),
        row(6, false, "H", "11=C1|"),
        row(7, false, "F", "11=C2|41=C1|55=XYZ|54=1|"),
        row(8, true, "9", "11=C2|41=C1|39=2|434=1|58=too late|"),
    ];
    let result = try_out(&record, "firm,RC6,100\n", FIX44);
    assert_eq!((result.lost.fills, result.lost.orders), (2, 1));
    assert_eq!(result.orders.accepted_before, 1);
    let control = &result.controls[0];
    assert_eq!((control.control, control.accepted_before), ("RC6", 1));
    let left_out: Vec<(&str, u64)> = result
        .left_out
        .iter()
        .map(|it| (&*it.what, it.count))
        .collect();
    assert_eq!(left_out, [("H", 1), ("busts and corrections of fills", 1)]);
    assert_eq!(result.cancels.accepted_before, 0, "rejected then and now");
    let loose = try_out(&record, "", FIX44);
    assert_eq!((loose.changed.len(), loose.lost.fills), (0, 0));
}

#[test]
fn a_rejected_replace_loses_the_fills_of_its_client_order_id_only() {
    let row = |at: i64, is_ours: bool, msg_type: &str, body: &str| Row {
        at: 1_795_334_400_000_000_000 + at,
        is_ours,
        msg_type: msg_type.to_owned(),
        body: body.to_owned(),
    };
    let report =
        |ids: &str, kind: &str, more: &str| format!("37=1|{ids}|17=1|150={kind}|39=0|{more}");
    let terms = "55=XYZ|54=1|1=A1|40=2|44=100|";
    let fill = "32=30|31=100|";
    let record = [
        row(1, false, "D", &format!("11=C1|{terms}38=100|")),
        row(2, true, "8", &report("11=C1", "0", "")),
        row(3, false, "G", &format!("11=C2|41=C1|{terms}38=200|")),
        row(4, true, "8", &report("11=C1", "F", fill)),
        row(5, true, "8", &report("11=C2|41=C1", "5", "38=200|44=100|")),
        row(6, true, "8", &report("11=C2", "F", "32=60|31=100|")),
        row(7, true, "8", &report("11=C2", "F", "32=60|31=100|")),
    ];
    let long = |result: &TrialResult| {
        let mut uses = result.uses.iter();
        let used = uses.find(|it| it.control.code() == "RC15-long");
        used.expect("a use of RC15-long").value.clone()
    };
    let next = row(8, false, "D", &format!("11=C3|{terms}38=100|"));
    let record: Vec<Row> = record.into_iter().chain([next]).collect();
    let strict = try_out(&record, "firm,RC6,100\n", FIX44);
    assert_eq!(strict.replaces.accepted_before, 1);
    assert_eq!((strict.lost.fills, strict.lost.orders), (2, 1));
    // 30 were bought, and 70 and 100 may be.
    assert_eq!(long(&strict), "200");
    let loose = try_out(&record, "", FIX44);
    assert_eq!((loose.changed.len(), loose.lost.fills), (0, 0));
    assert_eq!(long(&loose), "300");
}

#[test]
fn a_client_order_id_of_the_next_day_is_another_order() {
    const DAY: i64 = 86_400_000_000_000;
    let day = |from: i64, quantity: u64| {
        let row = |at: i64, is_ours: bool, msg_type: &str, body: String| Row {
            at: 1_795_334_400_000_000_000 + from + at,
            is_ours,
            msg_type: msg_type.to_owned(),
            body,
        };
        let order = format!("11=C1|55=XYZ|54=1|1=A1|40=2|38={quantity}|44=100|");
        let report = |kind: &str, more: &str| format!("37=1|11=C1|17=1|150={kind}|39=0|{more}");
        let last = format!("32={quantity}|31=100|");
        [
            row(1, false, "D", order),
            row(2, true, "8", report("0", "")),
            row(3, true, "8", report("F", &last)),
        ]
    };
    let record = [day(0, 100), day(DAY, 200)].concat();
    let result = try_out(&record, "firm,RC6,150\n", FIX44);
    assert_eq!((result.orders.all, result.orders.accepted), (2, 2));
    assert_eq!(result.changed.len(), 1);
    assert_eq!((result.lost.fills, result.lost.orders), (1, 1));
    let loose = try_out(&record, "", FIX44);
    assert_eq!((loose.changed.len(), loose.lost.fills), (0, 0));
}

#[test]
fn a_record_from_within_the_day_begins_with_the_positions_of_its_state() {
    let script = |filled| Script {
        rejects: false,
        fills: [filled, 0],
    };
    let scripts = [("C0", 0), ("C1", 100), ("C2", 50)];
    let scripts = scripts.map(|(id, filled)| (id.to_owned(), script(filled)));
    let mut day = Day::new("", FIX44, &BTreeMap::from(scripts));
    let terms = "55=XYZ|54=1|1=A1|40=2|44=100|60=20261125-08:00:00|";
    let ask = |id: &str, quantity: u64| format!("11={id}|{terms}38={quantity}|");
    day.client("D", &ask("C0", 30));
    day.client("D", &ask("C1", 100));
    let (opening, begins) = (day.desk.state().clone(), day.record.len());
    day.client("D", &ask("C2", 50));
    // An order of before, also by the id of a replace that the record has.
    day.client("G", &format!("41=C0|{}", ask("G0", 40)));
    day.client("F", &format!("41=G0|{}", ask("F0", 40)));
    let record = &day.record[begins..];
    let largest = |result: &TrialResult| {
        let mut used = result.uses.iter();
        let used = used.find(|it| it.scope == "firm" && it.control.code() == "RC15-long");
        used.unwrap().value.clone()
    };
    let result = try_after(Some(opening.clone()), record, "", FIX44);
    assert_eq!((result.orders.all, result.changed.len()), (1, 0));
    assert_eq!((result.replaces.all, result.cancels.all), (0, 0));
    assert_eq!(largest(&result), "150");
    let left_out = result.left_out.iter();
    let left_out: Vec<_> = left_out.map(|it| (&*it.what, it.count)).collect();
    assert_eq!(
        left_out,
        [
            ("other answers to orders of before the record", 2),
            ("requests for orders of before the record", 2)
        ]
    );
    let without = try_out(record, "", FIX44);
    assert_eq!(largest(&without), "50");
    let limit = "firm,RC15-long,149\n";
    let limited = try_after(Some(opening), record, limit, FIX44);
    let first = limited.changed[0].rejected_now.as_deref().unwrap();
    assert!(first.starts_with("RC15"), "{first}");
}

#[test]
fn fills_of_a_parent_are_those_of_its_children_and_not_lost() {
    let row = |at: i64, is_ours: bool, msg_type: &str, body: &str| Row {
        at: 1_795_334_400_000_000_000 + at,
        is_ours,
        msg_type: msg_type.to_owned(),
        body: body.to_owned(),
    };
    let terms = "55=XYZ|54=1|1=A1|40=2|44=100|";
    let new = |id: &str, more: &str| format!("11={id}|{terms}{more}");
    let report = |id: &str, kind: &str, more: &str| format!("37=1|11={id}|150={kind}|39=0|{more}");
    let fill = "17=3|32=100|31=100|";
    let record = [
        row(1, false, "D", &new("P1", "21=3|38=200|")),
        row(2, true, "8", &report("P1", "0", "17=1|")),
        row(3, false, "D", &new("C1", "9705=1|38=100|")),
        row(4, true, "8", &report("C1", "0", "17=2|")),
        row(5, true, "8", &report("C1", "F", fill)),
        row(6, true, "8", &report("P1", "F", fill)),
    ];
    let result = try_out(&record, "", FIX44);
    assert_eq!((result.orders.accepted, result.changed.len()), (2, 0));
    assert_eq!((result.lost.fills, result.lost.orders), (0, 0));
}

/// A row of a record, with the order terms of account A1 in XYZ.
fn row(at: i64, is_ours: bool, msg_type: &str, body: &str) -> Row {
    Row {
        at: 1_795_334_400_000_000_000 + at,
        is_ours,
        msg_type: msg_type.to_owned(),
        body: body.to_owned(),
    }
}

const TERMS: &str = "55=XYZ|54=1|1=A1|40=2|44=100|38=100|";

#[test]
fn a_client_order_id_that_comes_again_does_not_change_its_first_order() {
    let order = format!("11=C1|{TERMS}");
    let new = "37=1|11=C1|17=1|150=0|39=0|";
    let reject = "37=NONE|11=C1|17=2|150=8|39=8|103=6|58=RC4: used before|";
    let fill = "37=1|11=C1|17=3|150=F|39=2|32=100|31=100|14=100|";
    // The venue may accept the first order before or after the second one is rejected.
    for answers in [[new, reject, fill], [reject, new, fill]] {
        let rows = [(false, "D", order.as_str()); 2].into_iter();
        let rows = rows.chain(answers.map(|body| (true, "8", body)));
        let rows = (0..).zip(rows);
        let record: Vec<Row> = rows
            .map(|(at, (is_ours, kind, body))| row(at, is_ours, kind, body))
            .collect();
        let result = try_out(&record, "", FIX44);
        let orders = result.orders;
        assert_eq!(
            (orders.all, orders.accepted, orders.rejected),
            (2, 1, 1),
            "{answers:?}"
        );
        assert_eq!((orders.unanswered, orders.rejected_now), (0, 1));
        assert_eq!((result.changed.len(), result.lost.fills), (0, 0));
        assert_eq!(result.orders.rejected_before, 0);
    }
}

#[test]
fn a_child_order_finds_its_parent_when_the_numbers_of_the_trial_are_others() {
    let parent = format!("11=P1|{TERMS}21=3|");
    let child = |id: &str, named: &str| format!("11={id}|{TERMS}{named}");
    let report = |number: u64, id: &str| format!("37={number}|11={id}|17={number}|150=0|39=0|");
    // The record has order numbers from 5000001; the trial begins at 1.
    let record = [
        row(1, false, "D", &parent),
        row(2, true, "8", &report(5_000_001, "P1")),
        row(3, false, "D", &child("C1", "9705=5000001|")),
        row(4, true, "8", &report(5_000_002, "C1")),
        row(5, false, "F", "11=X1|41=C1|55=XYZ|54=1|"),
        row(6, true, "8", "37=5000002|11=X1|41=C1|17=3|150=4|39=4|14=0|"),
        row(7, false, "D", &child("C2", "1080=5000001|1081=1|")),
        row(8, true, "8", &report(5_000_004, "C2")),
    ];
    let result = try_out(&record, "", FIX44);
    assert_eq!(
        (result.orders.accepted, result.changed.len()),
        (3, 0),
        "{result:?}"
    );

    // Order 1 of the trial is not the parent that the record calls 1.
    let record = [
        row(1, false, "D", &parent.replace("38=100", "38=2000")),
        row(2, true, "8", &report(1, "P1")),
        row(3, false, "D", &parent.replace("P1", "P2")),
        row(4, true, "8", &report(2, "P2")),
        row(5, false, "D", &child("C1", "9705=1|")),
        row(6, true, "8", &report(3, "C1")),
    ];
    let result = try_out(&record, "", FIX44);
    let rejected: Vec<&str> = result.changed.iter().map(|it| &*it.id).collect();
    assert_eq!(rejected, ["P1", "C1"]);
}

#[test]
fn a_replace_or_cancel_names_its_order_by_the_number_that_the_record_gave() {
    let new = |id: &str, quantity: u64| {
        let quantity = format!("38={quantity}");
        format!("11={id}|{}", TERMS.replace("38=100", &quantity))
    };
    let report = |number: &str, ids: &str, kind: char, more: &str| {
        format!("37={number}|{ids}17=1|150={kind}|39=0|{more}")
    };
    let change = |ids: &str, number: &str| format!("{ids}|37={number}|55=XYZ|54=1|38=100|");
    // The trial rejects the first order, so all others have lower numbers in the trial. OrderID(37) may also be a text, and
    // another one after a replace.
    for (first, then) in [("2", "2"), ("O-2", "O-2"), ("O-2", "O-2/1")] {
        let mut record = vec![
            row(1, false, "D", &new("C1", 2000)),
            row(2, true, "8", &report("1", "11=C1|", '0', "")),
            row(3, false, "D", &new("C2", 100)),
            row(4, true, "8", &report(first, "11=C2|", '0', "")),
            row(
                5,
                false,
                "G",
                &(change("11=G2|41=C2", first) + "40=2|44=100|"),
            ),
            row(
                6,
                true,
                "8",
                &report(then, "11=G2|41=C2|", '5', "38=100|44=100|"),
            ),
            row(7, false, "F", &change("11=F2|41=G2", then)),
            row(8, true, "8", &report(then, "11=F2|41=G2|", '4', "")),
        ];
        let result = try_out(&record, "", FIX44);
        let changed: Vec<&str> = result.changed.iter().map(|it| &*it.id).collect();
        assert_eq!(changed, ["C1"], "{first} {then}: {result:?}");
        assert_eq!(
            (result.replaces.rejected_now, result.cancels.rejected_now),
            (0, 0)
        );
        // An order that the record never called so.
        record[6] = row(7, false, "F", &change("11=F2|41=G2", "1"));
        let result = try_out(&record, "", FIX44);
        let changed: Vec<&str> = result.changed.iter().map(|it| &*it.id).collect();
        assert_eq!(changed, ["C1", "F2"], "{first} {then}");
    }
}

#[test]
fn fills_under_several_client_order_ids_are_fills_of_one_lost_order() {
    let replace = "11=G1|41=C1|55=XYZ|54=1|1=A1|40=2|44=100|38=2100|";
    let fill = |id: &str, exec: u64| format!("37=1|11={id}|17={exec}|150=F|39=1|32=10|31=100|");
    let record = [
        row(
            1,
            false,
            "D",
            &format!("11=C1|{}", TERMS.replace("38=100", "38=2000")),
        ),
        row(2, true, "8", "37=1|11=C1|17=1|150=0|39=0|"),
        row(3, true, "8", &fill("C1", 2)),
        row(4, false, "G", replace),
        row(
            5,
            true,
            "8",
            "37=1|11=G1|41=C1|17=3|150=5|39=1|38=2100|44=100|",
        ),
        row(6, true, "8", &fill("G1", 4)),
    ];
    let result = try_out(&record, "", FIX44);
    assert_eq!((result.lost.fills, result.lost.orders), (2, 1));
}

#[test]
fn the_legs_of_a_spread_use_position_limits() {
    let row = |at: i64, is_ours: bool, msg_type: &str, body: &str| Row {
        at: 1_795_334_400_000_000_000 + at,
        is_ours,
        msg_type: msg_type.to_owned(),
        body: body.to_owned(),
    };
    let new = |id: &str, sets: u64| format!("11={id}|55=FLY|54=1|1=A1|40=2|38={sets}|44=-104|");
    let report = |id: &str| format!("37=1|11={id}|17=1|150=0|39=0|");
    let record = [
        row(1, false, "D", &new("C1", 6)),
        row(2, true, "8", &report("C1")),
        row(3, false, "D", &new("C2", 1)),
        row(4, true, "8", &report("C2")),
    ];
    let result = try_out(&record, "", FIX44);
    let largest = |code: &str| {
        let mut uses = result.uses.iter();
        let used = uses.find(|it| it.scope == "firm" && it.control.code() == code);
        used.map(|it| it.value.clone())
    };
    // Each set buys one and sells two.
    assert_eq!(largest("RC15-long").as_deref(), Some("7"));
    assert_eq!(largest("RC15-short").as_deref(), Some("14"));
    // By this number, limits reject nothing; below it they reject the second order.
    for (limit, changed) in [(14, 0), (13, 1)] {
        let limit = format!("firm,RC15-short,{limit}\n");
        assert_eq!(
            try_out(&record, &limit, FIX44).changed.len(),
            changed,
            "{limit}"
        );
    }
}
