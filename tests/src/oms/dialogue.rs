//! Requests and reports of one side of a session, FIX or TMP, as either side's journal has them.

use super::carried::carried;
use super::frames::Frames;
use crate::wire::{message, number, show, value};
use fixwire::journal::{DumpFilter, DumpFormat, dump};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The state of an order.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// `open`, `filled`, `cancelled`, `rejected`, `expired`, or `done for day`.
    pub state: &'static str,
    /// OrderQty(38).
    pub quantity: u64,
    /// Price(44); none of a market order.
    pub price: Option<f64>,
    /// CumQty(14).
    pub filled: u64,
    /// LeavesQty(151).
    pub leaves: u64,
    /// AvgPx(6).
    pub average: f64,
}

/// An order as its reports have it.
#[derive(Clone, Debug)]
pub struct Told {
    /// OrderID(37) of the reporting side.
    pub order_id: String,
    /// The last ClOrdID(11).
    pub id: String,
    /// ClOrdID(11) of the new order, or of its last replace that was carried out; none after a restatement (150=D): the
    /// venue has carried out a replace that was rejected as not received.
    pub terms_of: Option<String>,
    /// The state of the order.
    pub standing: Standing,
    /// Σ quantity × price of its fills.
    paid: f64,
}

/// The carried fields of a request.
#[derive(Clone, Debug)]
pub struct Carried {
    /// MsgType(35).
    pub msg_type: String,
    /// ClOrdID(11) of its new order.
    pub root: String,
    /// The fields, with `|` after each.
    pub fields: String,
    /// The values of [`TERMS`], with a space between.
    pub terms: String,
}

/// Account(1), Symbol(55), Side(54), OrderQty(38), OrdType(40), Price(44) and TimeInForce(59).
pub const TERMS: [&str; 7] = ["1", "55", "54", "38", "40", "44", "59"];

/// Orders, replaces, cancels and mass cancels of one side, and the other side's answers.
#[derive(Debug, Default)]
pub struct Dialogue {
    /// The carried fields of new orders, replaces and cancels, by ClOrdID(11).
    pub carried: BTreeMap<String, Carried>,
    /// By ClOrdID(11) of the new order.
    pub orders: BTreeMap<String, Told>,
    /// The number of answers to each request (D, F, G, q), by ClOrdID(11).
    answers: BTreeMap<String, u32>,
    /// The ClOrdID(11) of the new order by the ClOrdIDs of its requests.
    roots: BTreeMap<String, String>,
    /// ClOrdID(11) of the requests of each session, by MsgSeqNum(34).
    numbers: BTreeMap<(String, u64), String>,
    /// The number of all reports.
    exec_ids: BTreeSet<String>,
    /// Fills.
    pub fills: usize,
    /// The number of replaces and cancels that were carried out.
    pub changes: usize,
    /// ClOrdID(11), Symbol(55) and Side(54) of the new orders.
    sent: Vec<(String, [String; 2])>,
    /// New orders that are good till cancelled or till a date, by ClOrdID(11).
    pub lasting: BTreeSet<String>,
    /// Mass cancels (q), by ClOrdID(11): the orders sent before that they apply to.
    meant: BTreeMap<String, Vec<String>>,
    /// Orders that were open when the mass cancel that applies to them was reported (r).
    pub withdrawn: BTreeSet<String>,
}

/// The direction of requests in a journal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Asks {
    /// The journal's engine sent them.
    Out,
    /// The journal's engine received them.
    In,
}

impl Dialogue {
    /// Reads the journal in `store`, which its engine may be writing.
    ///
    /// # Errors
    ///
    /// A fault of one of the two.
    pub fn of(store: &Path, asks: Asks) -> Result<Self, String> {
        let mut dialogue = Self::default();
        let mut text = Vec::new();
        dump(store, &DumpFilter::default(), &mut text, DumpFormat::Json)
            .map_err(|error| error.to_string())?;
        // Reports above a gap count when their turn comes.
        let mut queued = BTreeMap::new();
        // An exchange may be configured to send reports twice and in another order.
        let mut reports: BTreeMap<u64, (Vec<u8>, String)> = BTreeMap::new();
        let mut frames = Frames::default();
        for line in String::from_utf8_lossy(&text).lines() {
            let json: serde_json::Value =
                serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?;
            let (what, mark) = (json["what"].as_str(), json["mark"].as_str());
            let session = json["session"].as_str().unwrap_or_default();
            let is_ask = (what == Some("out")) == (asks == Asks::Out);
            if let Some(digits) = json["frame"].as_str() {
                let frame = bytes(digits).ok_or_else(|| format!("no digits of a frame: {line}"))?;
                match is_ask {
                    false => frames.sent(session, &frame)?,
                    true => {
                        if let Some(request) = frames.request(&frame)? {
                            dialogue.take_one(session, &message(&request), true)?;
                        }
                    }
                }
                continue;
            }
            let key = (session.to_owned(), json["seq"].as_u64().unwrap_or(0));
            let raw = message(json["text"].as_str().unwrap_or_default());
            let raw = match (what, mark) {
                (Some("in" | "out"), None) => raw,
                (Some("in"), Some("queued")) => {
                    queued.insert(key, raw);
                    continue;
                }
                (Some("dequeued"), _) => queued.remove(&key).ok_or("dequeued from nowhere")?,
                _ => continue,
            };
            let exec_id = number(&raw, "17").filter(|id| *id > 0 && asks == Asks::In);
            match exec_id.filter(|_| !is_ask) {
                Some(id) => drop(reports.insert(id, (raw, session.to_owned()))),
                None => dialogue.take_one(session, &raw, is_ask)?,
            }
        }
        for (raw, session) in reports.values() {
            dialogue.take_one(session, raw, false)?;
        }
        for (link, report) in frames.reports()? {
            dialogue.take_one(&link, &message(&report), false)?;
        }
        Ok(dialogue)
    }

    /// The dialogue in these messages of one session, with `|` for SOH; true for messages of the side that requests.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    pub fn tell(said: impl IntoIterator<Item = (bool, String)>) -> Result<Self, String> {
        let mut dialogue = Self::default();
        for (is_ask, text) in said {
            dialogue.take("", &message(&text.replace('|', "\u{1}")), is_ask)?;
        }
        Ok(dialogue)
    }

    fn take_one(&mut self, session: &str, raw: &[u8], is_ask: bool) -> Result<(), String> {
        let taken = self.take(session, raw, is_ask);
        taken.map_err(|fault| format!("{fault}: {session}: {}", show(raw)))
    }

    fn take(&mut self, session: &str, raw: &[u8], is_ask: bool) -> Result<(), String> {
        let of = |tag: &str| text(raw, tag);
        match (is_ask, of("35").as_str()) {
            (true, "D" | "F" | "G" | "q") => self.asked(session, raw),
            (false, "8") => self.reported(raw),
            (false, "9") => {
                // A reject with OrderID(37) `NONE` concerns no order.
                let root = self.roots.get(&of("11")).filter(|_| of("37") != "NONE");
                let told = root.and_then(|root| self.orders.get_mut(root));
                if let (Some(told), Some(state)) = (told, state(&of("39"))) {
                    told.standing.state = state;
                }
                self.answered(&of("11"))
            }
            (false, "r") => self.mass_cancelled(raw),
            (false, "3" | "j") => {
                let number = number(raw, "45").unwrap_or(0);
                let id = self.numbers.get(&(session.to_owned(), number)).cloned();
                id.map_or(Ok(()), |id| self.answered(&id))
            }
            _ => Ok(()),
        }
    }

    fn asked(&mut self, session: &str, raw: &[u8]) -> Result<(), String> {
        let id = text(raw, "11");
        let number = number(raw, "34").unwrap_or(0);
        self.numbers
            .insert((session.to_owned(), number), id.clone());
        let root = self.roots.get(&text(raw, "41")).unwrap_or(&id).clone();
        let about = ["55", "54"].map(|tag| text(raw, tag));
        match value(raw, "35") {
            Some(b"D") => {
                if matches!(value(raw, "59"), Some(b"1" | b"6")) {
                    self.lasting.insert(id.clone());
                }
                self.sent.push((id.clone(), about));
            }
            Some(b"q") => {
                let is_meant = |of: &[String; 2]| {
                    let mut both = about.iter().zip(of);
                    both.all(|(wanted, of)| wanted.is_empty() || wanted == of)
                };
                let meant = self.sent.iter().filter(|(_, of)| is_meant(of));
                let meant = meant.map(|(id, _)| id.clone()).collect();
                self.meant.insert(id.clone(), meant);
            }
            _ => {}
        }
        if value(raw, "35") != Some(b"q") {
            let carried = Carried {
                msg_type: text(raw, "35"),
                root: root.clone(),
                fields: carried(raw),
                terms: TERMS.map(|tag| plain(text(raw, tag))).join(" "),
            };
            self.carried.insert(id.clone(), carried);
        }
        self.roots.insert(id.clone(), root);
        match self.answers.insert(id, 0) {
            None => Ok(()),
            Some(_) => Err("a ClOrdID for a second message".into()),
        }
    }

    fn answered(&mut self, id: &str) -> Result<(), String> {
        let count = self.answers.get_mut(id).ok_or("an answer to nothing")?;
        *count += 1;
        match *count {
            1 => Ok(()),
            _ => Err("answered twice".into()),
        }
    }

    /// An OrderMassCancelReport(r): TotalAffectedOrders(533) is the number of open orders that the request applies to.
    /// It also counts orders of an earlier day whose end the venue has not confirmed; clients know them as expired.
    fn mass_cancelled(&mut self, raw: &[u8]) -> Result<(), String> {
        let id = text(raw, "11");
        self.answered(&id)?;
        let is_open = |id: &&String| match self.orders.get(*id) {
            Some(told) => told.standing.state == "open",
            // The request is reported when the venue has answered, or was rejected without a report.
            None => self.answers.get(*id) == Some(&0),
        };
        let meant = self
            .meant
            .get(&id)
            .ok_or("a mass cancel that nobody asked for")?;
        let open: Vec<String> = meant.iter().filter(is_open).cloned().collect();
        let has_expired = |id: &&String| {
            let told = self.orders.get(*id);
            told.is_some_and(|told| told.standing.state == "expired")
        };
        let most = open.len() + meant.iter().filter(has_expired).count();
        let counted = number(raw, "533").and_then(|count| usize::try_from(count).ok());
        if text(raw, "531") == "0" || !counted.is_some_and(|it| (open.len()..=most).contains(&it)) {
            return Err(format!("a mass cancel of the open orders {open:?}"));
        }
        self.withdrawn.extend(open);
        Ok(())
    }

    /// An ExecutionReport(8): CumQty(14) is the sum of the fills, AvgPx(6) their average, and nothing is left of an
    /// order that has ended.
    fn reported(&mut self, raw: &[u8]) -> Result<(), String> {
        let of = |tag: &str| text(raw, tag);
        let (exec_type, id) = (of("150"), of("11"));
        if exec_type == "I" || of("20") == "3" {
            return Ok(());
        }
        if !self.exec_ids.insert(of("17")) {
            return Err("an ExecID for a second report".into());
        }
        // Pending: the answer is still to come.
        if matches!(&*exec_type, "A" | "6" | "E") {
            return Ok(());
        }
        let root = self.roots.get(&id).ok_or("a report to nothing")?.clone();
        let is_change = !of("41").is_empty();
        self.changes += usize::from(is_change);
        let is_first = !self.orders.contains_key(&root);
        if is_first {
            self.answered(&root)?;
        }
        if is_change || !is_first && matches!(&*exec_type, "0" | "8") {
            self.answered(&id)?;
        }
        let whole = |tag| number(raw, tag).unwrap_or(0);
        let decimal = |tag: &str| of(tag).parse::<f64>().ok();
        let before = self.orders.get(&root);
        let ended = before.is_some_and(|told| told.standing.state != "open");
        let is_fill = matches!(&*exec_type, "1" | "2" | "F");
        // The order ended with the trading day, before its venue had confirmed that.
        let lapsed = before.is_some_and(|told| told.standing.state == "expired");
        // A venue may have increased the order before the fill that seemed to be the last.
        if ended && exec_type != "5" && !(lapsed && is_fill) {
            return Err("reported after its end".into());
        }
        let last = if is_fill { whole("32") } else { 0 };
        self.fills += usize::from(is_fill);
        let (filled, paid) = before.map_or((0, 0.0), |told| (told.standing.filled, told.paid));
        let paid = paid + last as f64 * decimal("31").unwrap_or(0.0);
        let standing = Standing {
            state: state(&of("39")).ok_or("an unknown OrdStatus")?,
            quantity: whole("38"),
            price: decimal("44"),
            filled: whole("14"),
            leaves: whole("151"),
            average: decimal("6").unwrap_or(0.0),
        };
        if standing.filled != filled + last {
            return Err(format!(
                "CumQty is not {filled} and the fill of {last} together"
            ));
        }
        // Truncated to four digits more than prices have.
        let average = paid / (standing.filled.max(1) as f64);
        if (average - standing.average).abs() > 0.000_002 {
            return Err(format!("AvgPx is not {average}"));
        }
        let left = standing.quantity.saturating_sub(standing.filled);
        let is_left = standing.leaves == left || matches!(&*of("39"), "6" | "E");
        let fits = match standing.state {
            "open" => is_left,
            _ => standing.leaves == 0,
        };
        if !fits {
            return Err(format!("LeavesQty of an order of which {left} is left"));
        }
        let terms_of = match before {
            _ if exec_type == "D" => None,
            Some(before) if exec_type != "5" => before.terms_of.clone(),
            _ => Some(id.clone()),
        };
        let told = Told {
            order_id: of("37"),
            id,
            terms_of,
            standing,
            paid,
        };
        self.orders.insert(root, told);
        Ok(())
    }

    /// Requests of every kind.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.answers.len()
    }

    /// Mass cancels.
    #[must_use]
    pub fn mass_cancels(&self) -> usize {
        self.meant.len()
    }

    /// The first order that is still open although a mass cancel applies to it.
    #[must_use]
    pub fn uncancelled(&self) -> Option<&str> {
        let is_open = |id: &&String| {
            let told = self.orders.get(*id);
            told.is_none_or(|told| told.standing.state == "open")
        };
        self.withdrawn.iter().find(is_open).map(String::as_str)
    }

    /// The first request without an answer.
    #[must_use]
    pub fn unanswered(&self) -> Option<&str> {
        let mut open = self.answers.iter().filter(|(_, count)| **count == 0);
        open.next().map(|(id, _)| id.as_str())
    }
}

/// OrdStatus(39) in a word; none for a status that is not known here.
fn state(status: &str) -> Option<&'static str> {
    Some(match status {
        "0" | "1" | "5" | "6" | "A" | "E" => "open",
        "2" => "filled",
        "3" => "done for day",
        "4" => "cancelled",
        "8" => "rejected",
        "C" => "expired",
        _ => return None,
    })
}

/// A number as each side may write it, without zeros at its end; any other value as it is.
#[must_use]
pub fn plain(value: String) -> String {
    let number = value.parse::<f64>();
    number.map_or(value, |number| number.to_string())
}

/// Bytes from hexadecimal digits.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.map(byte).collect()
}

fn text(raw: &[u8], tag: &str) -> String {
    String::from_utf8_lossy(value(raw, tag).unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = "35=D|34=1|11=A|";
    const ACCEPTED: &str = "35=8|11=A|37=7|17=e1|150=0|39=0|38=100|14=0|151=100|6=0|";
    const FILLED: &str = "35=8|11=A|37=7|17=e2|150=F|39=1|38=100|32=40|31=2.5|14=40|151=60|6=2.5|";
    const CANCEL: &str = "35=F|34=2|11=B|41=A|";
    const CANCELLED: &str = "35=8|11=B|41=A|37=7|17=e3|150=4|39=4|38=100|14=40|151=0|6=2.5|";

    fn tell(said: &[&str]) -> Result<Dialogue, String> {
        let asks = |text: &str| !["35=8", "35=9", "35=r"].contains(&&text[..4]);
        Dialogue::tell(said.iter().map(|text| (asks(text), (*text).to_owned())))
    }

    #[test]
    fn an_order_stands_as_its_last_report_says() {
        let told = tell(&[NEW, ACCEPTED, FILLED, CANCEL, CANCELLED]).unwrap();
        assert_eq!((told.unanswered(), told.requests()), (None, 2));
        assert_eq!((told.fills, told.changes), (1, 1));
        let order = &told.orders["A"];
        assert_eq!((&*order.id, &*order.order_id), ("B", "7"));
        let standing = Standing {
            state: "cancelled",
            quantity: 100,
            price: None,
            filled: 40,
            leaves: 0,
            average: 2.5,
        };
        assert_eq!(order.standing, standing);
    }

    #[test]
    fn what_is_pending_has_no_answer() {
        let new = ACCEPTED
            .replace("150=0|39=0", "150=A|39=A")
            .replace("e1", "p1");
        let cancel = CANCELLED
            .replace("150=4|39=4", "150=6|39=6")
            .replace("e3", "p2");
        assert_eq!(tell(&[NEW, &new]).unwrap().unanswered(), Some("A"));
        let told = tell(&[NEW, &new, ACCEPTED, FILLED, CANCEL, &cancel]).unwrap();
        assert_eq!(told.unanswered(), Some("B"));
        let told = tell(&[NEW, &new, ACCEPTED, FILLED, CANCEL, &cancel, CANCELLED]).unwrap();
        assert_eq!(told.unanswered(), None);
    }

    #[test]
    fn each_planted_fault_is_found() {
        let fault = |said: &[&str]| tell(said).map(drop).unwrap_err();
        assert_eq!(
            tell(&[NEW, ACCEPTED, CANCEL]).unwrap().unanswered(),
            Some("B")
        );
        assert!(fault(&[NEW, ACCEPTED, NEW]).contains("a second message"));
        assert!(fault(&[ACCEPTED]).contains("to nothing"));
        assert!(fault(&[NEW, ACCEPTED, ACCEPTED]).contains("an ExecID for a second report"));
        let again = ACCEPTED.replace("e1", "e9");
        assert!(fault(&[NEW, ACCEPTED, &again]).contains("answered twice"));
        let spoilt = |from: &str, to: &str| fault(&[NEW, ACCEPTED, &FILLED.replace(from, to)]);
        assert!(spoilt("14=40", "14=50").contains("CumQty"));
        assert!(spoilt("151=60", "151=50").contains("LeavesQty"));
        assert!(spoilt("|6=2.5", "|6=2.4").contains("AvgPx"));
        let late = FILLED.replace("e2", "e4");
        let late = [NEW, ACCEPTED, FILLED, CANCEL, CANCELLED, &late];
        assert!(fault(&late).contains("after its end"));
    }

    #[test]
    fn a_mass_cancel_means_what_was_sent_before_and_is_open() {
        let new = |id: &str, symbol: &str| format!("35=D|34=1|11={id}|55={symbol}|54=1|");
        let (first, other, later) = (new("A", "VOD"), new("O", "BT"), new("L", "VOD"));
        let mass = "35=q|34=4|11=M|55=VOD|";
        let report = |count: u64| format!("35=r|11=M|531=1|533={count}|");
        let said = |count: u64, then: &[&str]| {
            let report = report(count);
            let said = [&first, &other, ACCEPTED, mass, &later, &report];
            tell(&[&said, then].concat())
        };
        let open = said(1, &[]).unwrap();
        assert_eq!((open.uncancelled(), open.mass_cancels()), (Some("A"), 1));
        let cancelled = CANCELLED.replace("|41=A", "").replace("11=B", "11=A");
        let cancelled = cancelled.replace("14=40", "14=0").replace("6=2.5", "6=0");
        assert_eq!(said(1, &[&cancelled]).unwrap().uncancelled(), None);
        for count in [0, 2, 3] {
            let fault = said(count, &[]).map(drop).unwrap_err();
            assert!(fault.contains("the open orders [\"A\"]"), "{fault}");
        }
    }
}
