//! What a venue does with an order is fixed in eight scenarios. Its reports reach the OMS in every way that sessions allow:
//!
//! * a session delivers in order; the line and the drop copy of the venue are two sessions, so their reports interleave in
//!   every way;
//! * each subset of the reports of both may be lost, and when the line has lost one, a status request is answered with the
//!   final state in their place;
//! * each report may come twice: at once, or after all others (PossResend(97)). When none is lost, each does; in each case
//!   with a loss one that is drawn.
//!
//! Each of these cases ends in the venue's state or with a break that names the difference, and always in the venue's state
//! when the line has lost nothing.

use std::collections::{BTreeMap, BTreeSet};

use fixwire_engine::protocol::dictionary::Version;
use fixwire_harness::Random;

use crate::desk::{Desk, Input, Setup};
use crate::model::SECOND;

const CLIENT: usize = 0;
const LINE: usize = 1;
const COPY: usize = 2;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
orders = 100
instruments = "instruments.csv"
limits = "limits.csv"
copy_within = "3s"
[[account]]
name = "A1"
[[user]]
session = "CLIENT"
accounts = ["A1"]
may = ["new", "replace", "cancel", "status"]
account = "A1"
[[line_group]]
name = "SIM"
lines = ["SIM-1"]
[[route]]
symbols = ["*"]
to = "SIM"
[[drop_copy_in]]
session = "SIM-DC"
line_groups = ["SIM"]
"#;

/// A report of the venue, as the fields that differ.
type Report = &'static str;

struct Arrival {
    name: &'static str,
    /// A request of the client after the order is sent: MsgType(35) and what it changes.
    request: Option<(&'static str, &'static str)>,
    /// Whether the trading day ends after so many reports of the line.
    day_ends: Option<usize>,
    line: &'static [Report],
    copy: &'static [Report],
    /// OrdStatus(39), CumQty(14) and OrderQty(38) at the venue, and the ClOrdID(11) that it has there.
    end: (char, u64, u64, &'static str),
    /// How many cases end in the venue's state, in it with a break, and in another state with a break.
    ends: [usize; 3],
    /// How many cases have a break of each name.
    breaks: &'static [(&'static str, usize)],
}

const NEW: Report = "11=1|17=N|150=0|39=0|14=0|151=100|";
const FILL_30: Report = "11=1|17=E1|150=F|39=1|32=30|31=100|14=30|151=70|";
const FILL_20: Report = "11=1|17=E2|150=F|39=1|32=20|31=99.95|14=50|151=50|";
const FILL_50: Report = "11=1|17=E3|150=F|39=2|32=50|31=100|14=100|151=0|";
const COPY_30: Report = "11=1|17=E1|150=F|39=1|32=30|31=100|";
const COPY_20: Report = "11=1|17=E2|150=F|39=1|32=20|31=99.95|";
const COPY_50: Report = "11=1|17=E3|150=F|39=2|32=50|31=100|";

const ARRIVALS: [Arrival; 8] = [
    Arrival {
        name: "new, partly filled, filled",
        request: None,
        day_ends: None,
        line: &[NEW, FILL_30, FILL_20, FILL_50],
        copy: &[COPY_30, COPY_20, COPY_50],
        end: ('2', 100, 100, "1"),
        ends: [565, 208, 1009],
        breaks: &[
            ("copy without a fill", 772),
            ("fill without a copy", 664),
            ("fills missing: CumQty(14)", 1009),
        ],
    },
    Arrival {
        name: "a fill crosses a cancel",
        request: Some(("F", "")),
        day_ends: None,
        line: &[
            NEW,
            FILL_30,
            "11=1-2|41=1|17=P|150=6|39=6|14=30|151=70|",
            FILL_20,
            "11=1-2|41=1|17=C|150=4|39=4|14=50|151=0|",
        ],
        copy: &[COPY_30, COPY_20],
        end: ('4', 50, 100, "1-2"),
        ends: [456, 181, 691],
        breaks: &[
            ("OrdStatus(39) differs", 21),
            ("copy without a fill", 532),
            ("fill without a copy", 304),
            ("fills missing: CumQty(14)", 691),
        ],
    },
    Arrival {
        name: "a replace is accepted and crosses a fill",
        request: Some(("G", "38=150|40=2|44=100|")),
        day_ends: None,
        line: &[
            NEW,
            FILL_30,
            "11=1-2|41=1|17=R|150=5|39=1|38=150|44=100|14=30|151=120|",
            "11=1-2|17=E2|150=F|39=1|38=150|32=20|31=99.95|14=50|151=100|",
            "11=1-2|17=E3|150=F|39=2|38=150|32=100|31=100|14=150|151=0|",
        ],
        copy: &[
            COPY_30,
            "11=1-2|17=E2|150=F|39=1|38=150|32=20|31=99.95|",
            "11=1-2|17=E3|150=F|39=2|38=150|32=100|31=100|",
        ],
        end: ('2', 150, 150, "1-2"),
        ends: [1132, 494, 2685],
        breaks: &[
            ("copy without a fill", 2120),
            ("fill without a copy", 1616),
            ("fills missing: CumQty(14)", 2685),
        ],
    },
    Arrival {
        name: "a cancel is rejected, and the order is filled",
        request: Some(("F", "")),
        day_ends: None,
        line: &[
            NEW,
            FILL_30,
            FILL_20,
            FILL_50,
            "9 11=1-2|41=1|39=2|434=1|102=0|",
        ],
        copy: &[COPY_30, COPY_20, COPY_50],
        end: ('2', 100, 100, "1"),
        ends: [1132, 494, 2685],
        breaks: &[
            ("copy without a fill", 2120),
            ("fill without a copy", 1616),
            ("fills missing: CumQty(14)", 2685),
        ],
    },
    Arrival {
        name: "a fill is busted",
        request: None,
        day_ends: None,
        line: &[
            NEW,
            FILL_30,
            FILL_20,
            "11=1|17=B|19=E1|150=H|39=1|32=30|31=100|14=20|151=80|",
        ],
        copy: &[COPY_30, COPY_20],
        end: ('1', 20, 100, "1"),
        ends: [195, 166, 235],
        breaks: &[
            ("bust or correction that fits no fill", 170),
            ("copy without a fill", 206),
            ("fill without a copy", 136),
            ("fills missing: CumQty(14)", 99),
            ("more fills than CumQty(14)", 170),
        ],
    },
    Arrival {
        name: "a fill is corrected",
        request: None,
        day_ends: None,
        line: &[
            NEW,
            FILL_30,
            FILL_20,
            "11=1|17=K|19=E1|150=G|39=1|32=25|31=99.9|14=45|151=55|",
        ],
        copy: &[COPY_30, COPY_20],
        end: ('1', 45, 100, "1"),
        ends: [200, 55, 341],
        breaks: &[
            ("bust or correction that fits no fill", 170),
            ("copy without a fill", 206),
            ("fill without a copy", 136),
            ("fills missing: CumQty(14)", 294),
            ("more fills than CumQty(14)", 64),
        ],
    },
    Arrival {
        name: "the day ends, and a fill is late",
        request: None,
        day_ends: Some(2),
        line: &[NEW, FILL_30, FILL_20, "11=1|17=X|150=C|39=C|14=50|151=0|"],
        copy: &[COPY_30, COPY_20],
        end: ('C', 50, 100, "1"),
        ends: [232, 87, 277],
        breaks: &[
            ("OrdStatus(39) differs", 16),
            ("copy without a fill", 206),
            ("fill without a copy", 136),
            ("fills missing: CumQty(14)", 277),
        ],
    },
    Arrival {
        name: "the venue cancels by itself, and only its drop copy has a fill in time",
        request: None,
        day_ends: None,
        line: &[NEW, FILL_30, "11=1|17=C|150=4|39=4|14=50|151=0|", FILL_20],
        copy: &[COPY_20, COPY_30, "11=1|17=C|150=4|39=4|14=50|"],
        end: ('4', 50, 100, "1"),
        ends: [671, 304, 807],
        breaks: &[
            ("OrdStatus(39) differs", 36),
            ("closed in the drop copy", 530),
            ("copy without a fill", 572),
            ("fill without a copy", 480),
            ("fills missing: CumQty(14)", 807),
        ],
    },
];

/// A report as it arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Arriving {
    from: usize,
    place: usize,
    is_again: bool,
}

/// How a case ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// In the venue's state, without a break.
    Equal,
    /// In the venue's state, with a break about a report that came late or is missing.
    EqualWithBreak,
    /// In another state, with a break that names it.
    Break,
}

/// How a case ends, with the names of its breaks.
#[derive(Debug)]
struct Played {
    end: End,
    breaks: BTreeSet<String>,
}

/// How many cases end how.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    cases: usize,
    equal: usize,
    equal_with_break: usize,
    broken: usize,
}

impl Ends {
    fn count(&mut self, end: End) {
        self.cases += 1;
        match end {
            End::Equal => self.equal += 1,
            End::EqualWithBreak => self.equal_with_break += 1,
            End::Break => self.broken += 1,
        }
    }
}

impl Arrival {
    fn body(&self, report: &str) -> String {
        let quantity = if report.contains("|38=") {
            ""
        } else {
            "38=100|"
        };
        format!("37=V1|{report}{quantity}55=XYZ|54=1|")
    }

    /// The venue's answer to a status request after its last report.
    fn answer(&self) -> String {
        let (status, filled, quantity, id) = self.end;
        let leaves = if status == '1' { quantity - filled } else { 0 };
        let answer =
            format!("11={id}|17=0|150=I|39={status}|38={quantity}|14={filled}|151={leaves}|");
        self.body(&answer)
    }

    fn begin(&self) -> Desk {
        let instruments = "symbol,tick,lot,reference\nXYZ,0.05,1,100\n".to_owned();
        let limits = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,1000000\nfirm,RC8,10\nfirm,RC13,1000\n\
                      firm,RC14,100000000\nfirm,RC15,5000\n";
        let setup = Setup {
            settings: SETTINGS.to_owned(),
            files: vec![
                ("instruments.csv", instruments),
                ("limits.csv", limits.to_owned()),
            ],
            sessions: vec![
                ("CLIENT", Version::Fix44),
                ("SIM-1", Version::Fix44),
                ("SIM-DC", Version::Fix44),
            ],
        };
        let mut desk = Desk::new(&setup);
        for session in [CLIENT, LINE, COPY] {
            desk.hear(&Input::Up(session, false));
        }
        let new = "11=A|21=1|55=XYZ|54=1|38=100|40=2|44=100|59=0|60=20261122-08:00:00|";
        desk.says(CLIENT, "D", new);
        if let Some((msg_type, what)) = self.request {
            let body = format!("11=B|41=A|55=XYZ|54=1|21=1|60=20261122-08:00:00|{what}");
            desk.says(CLIENT, msg_type, &body);
        }
        desk
    }

    /// Plays a case; an error is an end that no break names.
    fn play(&self, arriving: &[Arriving], is_lossy: bool) -> Result<Played, String> {
        let mut desk = self.begin();
        let mut heard = 0;
        for Arriving {
            from,
            place,
            is_again,
        } in arriving
        {
            let reports = if *from == LINE { self.line } else { self.copy };
            let (msg_type, report) = match reports[*place].strip_prefix("9 ") {
                Some(reject) => ("9", reject),
                None => ("8", reports[*place]),
            };
            let again = if *is_again { "97=Y|" } else { "" };
            let body = format!("{}{again}", self.body(report));
            desk.says(*from, msg_type, &body);
            heard += usize::from(*from == LINE);
            if self.day_ends == Some(heard) && *from == LINE && !is_again {
                self.end_day(&mut desk);
            }
        }
        if self.day_ends.is_some_and(|ends| heard < ends) {
            self.end_day(&mut desk);
        }
        if is_lossy {
            // The line is logged on again, and the OMS asks.
            desk.hear(&Input::Down(LINE, false));
            desk.hear(&Input::Up(LINE, false));
            desk.says(LINE, "8", &self.answer());
        }
        // Breaks that nothing has closed by now stay.
        for _ in 0..3 {
            desk.hear(&Input::Pass(10 * SECOND));
        }
        self.check(&desk)
    }

    /// The next trading day begins.
    fn end_day(&self, desk: &mut Desk) {
        desk.hear(&Input::Restart(1, true));
        for session in [CLIENT, LINE, COPY] {
            desk.hear(&Input::Up(session, false));
        }
    }

    /// How the OMS's state differs from the venue's.
    fn check(&self, desk: &Desk) -> Result<Played, String> {
        let state = desk.state();
        let breaks = desk.query("breaks");
        let breaks: Vec<&str> = breaks.lines().skip(1).collect();
        let order = state.orders().get(1).ok_or("no order 1")?;
        let ours = (
            state.orders().status(order) as char,
            order.filled,
            order.quantity,
        );
        let long: u64 = state.positions().map(|(.., it)| it.long).sum();
        let (status, filled, quantity, _) = self.end;
        if state.violations() > 0 || long != order.filled {
            return Err(format!("{} violations, long {long}", state.violations()));
        }
        let rows = breaks
            .iter()
            .map(|line| line.split('\t').collect::<Vec<_>>());
        let rows: Vec<Vec<&str>> = rows.collect();
        if rows.iter().any(|row| row[2] != "1") {
            return Err(format!("a break of another order: {breaks:?}"));
        }
        let end = match ours == (status, filled, quantity) {
            true if breaks.is_empty() => End::Equal,
            true => End::EqualWithBreak,
            false if breaks.is_empty() => return Err(format!("{ours:?}, without a break")),
            false => End::Break,
        };
        let breaks = rows.iter().map(|row| row[1].to_owned()).collect();
        Ok(Played { end, breaks })
    }
}

/// Every way in which the reports of two sessions interleave.
fn merged(line: &[Arriving], copy: &[Arriving]) -> Vec<Vec<Arriving>> {
    match (line, copy) {
        ([], rest) | (rest, []) => vec![rest.to_vec()],
        ([first, line_rest @ ..], [second, copy_rest @ ..]) => {
            let with = |first: &Arriving, rest: Vec<Vec<Arriving>>| {
                let each = rest.into_iter();
                each.map(|rest| [&[*first], &rest[..]].concat())
                    .collect::<Vec<_>>()
            };
            let mut all = with(first, merged(line_rest, copy));
            all.extend(with(second, merged(line, copy_rest)));
            all
        }
    }
}

/// The reports of a session, without some of them.
fn those(from: usize, count: usize, lost: usize) -> Vec<Arriving> {
    let kept = (0..count).filter(|place| lost >> place & 1 == 0);
    kept.map(|place| Arriving {
        from,
        place,
        is_again: false,
    })
    .collect()
}

/// The same case, and those in which one report comes twice; of a case with a loss only one of them, which is drawn.
fn doubled(case: &[Arriving], is_whole: bool, random: &mut Random) -> Vec<Vec<Arriving>> {
    let twice = |at: usize, place: usize| {
        let mut twice = case.to_vec();
        let is_again = true;
        twice.insert(
            place,
            Arriving {
                is_again,
                ..case[at]
            },
        );
        twice
    };
    let places = (0..case.len()).flat_map(|at| [(at, at + 1), (at, case.len())]);
    let mut all: Vec<Vec<Arriving>> = places.map(|(at, place)| twice(at, place)).collect();
    if !is_whole && !all.is_empty() {
        let drawn = random.below(all.len() as u64) as usize;
        all = vec![all.swap_remove(drawn)];
    }
    all.push(case.to_vec());
    all
}

#[test]
fn every_arrival_ends_in_the_state_of_the_venue_or_in_a_break() {
    let mut total = Ends::default();
    let mut others = Vec::new();
    for scenario in &ARRIVALS {
        let (line, copy) = (scenario.line.len(), scenario.copy.len());
        let mut ends = Ends::default();
        let mut breaks: BTreeMap<String, usize> = BTreeMap::new();
        let mut random = Random::new(1);
        let losses =
            (0..1_usize << line).flat_map(|lost| (0..1_usize << copy).map(move |of| (lost, of)));
        for (lost, lost_copies) in losses {
            let is_whole = (lost, lost_copies) == (0, 0);
            let line = those(LINE, line, lost);
            for case in merged(&line, &those(COPY, copy, lost_copies)) {
                for case in doubled(&case, is_whole, &mut random) {
                    let is_twice = case.iter().any(|it| it.is_again);
                    let played = scenario.play(&case, lost != 0);
                    let Played { end, breaks: named } = played.unwrap_or_else(|why| {
                        let name = scenario.name;
                        panic!("{name}: {why}, lost {lost:b} and {lost_copies:b}: {case:?}")
                    });
                    // A report that comes again long after says what was true then.
                    let is_right = match end {
                        End::Equal => true,
                        End::EqualWithBreak => !is_whole || is_twice,
                        End::Break => lost != 0,
                    };
                    assert!(is_right, "{}: {end:?}: {case:?}", scenario.name);
                    ends.count(end);
                    for name in named {
                        *breaks.entry(name).or_default() += 1;
                    }
                }
            }
        }
        println!("{}: {ends:?} {breaks:?}", scenario.name);
        if [ends.equal, ends.equal_with_break, ends.broken] != scenario.ends
            || !scenario
                .breaks
                .iter()
                .copied()
                .eq(breaks.iter().map(|(name, count)| (name.as_str(), *count)))
        {
            others.push(scenario.name);
        }
        total.cases += ends.cases;
        total.equal += ends.equal;
        total.equal_with_break += ends.equal_with_break;
        total.broken += ends.broken;
    }
    println!("all: {total:?}");
    assert_eq!(others, [""; 0], "end otherwise than before");
}

#[test]
fn an_end_that_no_break_names_is_noticed() {
    let wrong = Arrival {
        end: ('2', 100, 100, "1"),
        ..ARRIVALS[4]
    };
    let all = [those(LINE, 4, 0), those(COPY, 2, 0)].concat();
    let played = ARRIVALS[4].play(&all, false);
    assert_eq!(played.map(|it| it.end), Ok(End::Equal));
    assert!(wrong.play(&all, false).is_err());
}
