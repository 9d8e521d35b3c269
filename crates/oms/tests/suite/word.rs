//! A venue that loses, doubles, busts and corrects fills, and what the OMS makes of it: a difference is a break at once, and
//! after the venue's answer and the operator's word order, position and limits are those of the venue.

use fixwire_harness::Random;
use fixwire_oms::Scope;

use crate::desk::{Desk, Input, Said};
use crate::twin::floors::{self, CLIENTS, LINES};

/// An order as its venue has it: quantity and price in hundredths of each fill, by ExecID.
#[derive(Default)]
struct TrueOrder {
    buys: bool,
    fills: Vec<(u64, i64, i64)>,
}

const QUANTITY: i64 = 100;

impl TrueOrder {
    fn filled(&self) -> i64 {
        self.fills.iter().map(|it| it.1).sum()
    }

    /// The fields that say how the order stands.
    fn standing(&self) -> String {
        let (filled, paid) = (
            self.filled(),
            self.fills.iter().map(|it| it.1 * it.2).sum::<i64>(),
        );
        let status = match filled {
            0 => 0,
            QUANTITY => 2,
            _ => 1,
        };
        let average = paid as f64 / 100.0 / (filled.max(1) as f64);
        format!(
            "39={status}|14={filled}|151={}|6={average:.9}|",
            QUANTITY - filled
        )
    }
}

struct Office {
    desk: Desk,
    orders: Vec<TrueOrder>,
    execs: u64,
}

impl Office {
    fn new() -> Self {
        let (setup, _) = floors::floor(1);
        let mut desk = Desk::new(&setup);
        desk.hear(&Input::Up(LINES[0], false));
        let mut office = Self {
            desk,
            orders: Vec::new(),
            execs: 0,
        };
        for at in 1..=4 {
            let side = 1 + at % 2;
            let body =
                format!("11=X{at}|1=A1|55=XYZ|54={side}|38={QUANTITY}|40=2|44=100|59=0|21=1|");
            office.desk.says(CLIENTS[0], "D", &body);
            office.orders.push(TrueOrder {
                buys: side == 1,
                ..TrueOrder::default()
            });
            office.report(at - 1, "150=0|17=A|");
        }
        office
    }

    fn report(&mut self, at: usize, text: &str) -> Vec<Said> {
        let order = &self.orders[at];
        let (number, side, standing) = (at + 1, if order.buys { 1 } else { 2 }, order.standing());
        let body =
            format!("11={number}|37=V{number}|55=XYZ|54={side}|38=100|44=100|{text}{standing}");
        self.desk.says(LINES[0], "8", &body)
    }

    fn exec(&mut self) -> u64 {
        self.execs += 1;
        self.execs
    }

    fn filled(&self, at: usize) -> i64 {
        let number = at as u64 + 1;
        self.desk.state().orders().get(number).unwrap().filled as i64
    }

    fn breaks(&self) -> Vec<(String, String, usize)> {
        let list = self.desk.query("breaks");
        let rows = list.lines().skip(1).map(|row| {
            let cells: Vec<&str> = row.split('\t').collect();
            let order: usize = cells[2].parse().unwrap();
            (cells[0].to_owned(), cells[1].to_owned(), order - 1)
        });
        rows.collect()
    }

    /// One thing happens at the venue; whether its report reaches the OMS.
    fn step(&mut self, dice: &mut Random) {
        let at = dice.below(4) as usize;
        let is_heard = dice.below(5) > 0;
        let left = QUANTITY - self.orders[at].filled();
        match dice.below(10) {
            0..6 if left > 0 => {
                let quantity = (10 + 10 * dice.below(4) as i64).min(left);
                let price = 9_990 + 5 * dice.below(5) as i64;
                let exec = self.exec();
                self.orders[at].fills.push((exec, quantity, price));
                let last = format!("32={quantity}|31={}|", price as f64 / 100.0);
                if is_heard {
                    let said = self.report(at, &format!("150=F|17=E{exec}|{last}"));
                    self.is_noticed(at, &said);
                }
                if dice.below(8) == 0 {
                    // It comes again, as a copy or under another ExecID.
                    let exec = match dice.below(2) {
                        0 => exec,
                        _ => self.exec(),
                    };
                    self.report(at, &format!("150=F|17=E{exec}|{last}"));
                }
            }
            6 | 7 if !self.orders[at].fills.is_empty() => {
                let which = dice.below(self.orders[at].fills.len() as u64) as usize;
                let (of, ..) = self.orders[at].fills.remove(which);
                let exec = self.exec();
                if is_heard {
                    let said = self.report(at, &format!("150=H|17=E{exec}|19=E{of}|"));
                    self.is_noticed(at, &said);
                }
            }
            8 if !self.orders[at].fills.is_empty() => {
                let exec = self.exec();
                let fill = self.orders[at].fills.last_mut().unwrap();
                let of = fill.0;
                *fill = (exec, (fill.1 - 5).max(1), fill.2 + 5);
                let text = format!(
                    "150=G|17=E{exec}|19=E{of}|32={}|31={}|",
                    fill.1,
                    fill.2 as f64 / 100.0
                );
                if is_heard {
                    let said = self.report(at, &text);
                    self.is_noticed(at, &said);
                }
            }
            _ => {
                self.desk.hear(&Input::Restart(0, dice.below(2) == 0));
                self.desk.hear(&Input::Up(LINES[0], false));
            }
        }
    }

    /// The venue has just said how an order stands: it is so here, or there is a break, or the venue is asked.
    fn is_noticed(&self, at: usize, said: &[Said]) {
        if self.filled(at) != self.orders[at].filled() {
            let is_its = |(.., of): &(String, String, usize)| *of == at;
            let is_asked = said.iter().any(|it| it.msg_type == "H");
            let is_noticed = is_asked || self.breaks().iter().any(is_its);
            assert!(is_noticed, "order {}", at + 1);
        }
    }

    /// What is reserved is what the open orders and breaks may trade.
    fn audit(&self) {
        let state = self.desk.state();
        let (mut buying, mut selling, mut reserved) = (0, 0, 0);
        for order in state.orders().iter() {
            let tally = state.counted(order, state.orders().request_of(order));
            buying += tally.buying;
            selling += tally.selling;
            reserved += tally.reserved;
            assert!(tally.buying.max(tally.selling) >= order.leaves());
        }
        let firm = state.standing(Scope::Firm).unwrap().tally;
        assert_eq!((firm.buying, firm.selling), (buying, selling));
        assert_eq!(firm.reserved, reserved);
        assert_eq!(state.violations(), 0);
    }

    /// The venue answers for all orders, and an operator settles what stays.
    fn clear(&mut self) {
        for _ in 0..60 {
            for at in 0..self.orders.len() {
                self.report(at, "150=I|17=0|");
            }
            let breaks = self.breaks();
            // CumQty first: what it counts is then known.
            let is_count =
                |kind: &str| kind.contains("CumQty(14)") && !kind.starts_with("fill that");
            let first = breaks.iter().find(|it| is_count(&it.1)).or(breaks.first());
            let Some((number, kind, _)) = first else {
                return;
            };
            let is_ours = ["fill that", "ExecID", "bust"];
            let is_ours = is_ours.iter().any(|it| kind.starts_with(it));
            let which = if is_ours { "ours" } else { "venue" };
            let command = format!("settle break={number} {which}");
            self.desk.hear(&Input::Command(command));
            self.audit();
        }
        panic!("breaks that do not end: {:?}", self.breaks());
    }
}

#[test]
fn lost_doubled_busted_and_corrected_fills_are_noticed_and_settled() {
    for seed in 1..=150 {
        let mut dice = Random::new(seed);
        let mut office = Office::new();
        for _ in 0..40 {
            office.step(&mut dice);
            office.audit();
        }
        office.clear();
        let mut net = 0;
        for at in 0..office.orders.len() {
            let (ours, order) = (office.filled(at), &office.orders[at]);
            assert_eq!(ours, order.filled(), "seed {seed}, order {}", at + 1);
            net += if order.buys { ours } else { -ours };
        }
        let positions = office.desk.state().positions();
        let ours: i128 = positions.map(|(.., position)| position.net()).sum();
        assert_eq!(ours, net.into(), "seed {seed}");
        let open = |side: bool| -> i64 {
            let orders = office.orders.iter().filter(|it| it.buys == side);
            orders.map(|it| QUANTITY - it.filled()).sum()
        };
        let firm = office.desk.state().standing(Scope::Firm).unwrap().tally;
        let counted = (firm.buying as i64, firm.selling as i64);
        assert_eq!(counted, (open(true), open(false)), "seed {seed}");
    }
}
