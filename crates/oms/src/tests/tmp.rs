//! An OMS with lines that speak TMP, and the exchange's ends of their links, without sockets.

use std::collections::BTreeMap;
use std::string::{String, ToString};
use std::sync::{Arc, Mutex, OnceLock};
use std::vec::Vec;
use std::{format, vec};

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{
    Application, Decoder, Dictionary, Ledger, Link, Mono, Now, Outbox, Refusal, SessionId,
    Timestamp,
};
use fixwire_tmp::messages::{R01, R02, R03, R09, R31};
use fixwire_tmp::{
    ApCode, ExchangeLinkSettings, LinkAction, LinkActions, LinkExchange, LinkNow, LinkNumbers,
    ResendStore, SystemType, TmpExecType, TmpFrame, TmpHeader, TmpLayout, TmpPassword, TmpStatus,
    TmpTime,
};

use crate::load::load;
use crate::state::orders::Order;
use crate::state::orders::transition::OrderState;
use crate::values::rules::RiskRules;
use crate::{Oms, OmsSession, OmsTmpLine};

mod bulletins;
mod classes;
mod copies;
mod edges;
mod faults;
mod fields;
mod inquiries;
mod late;
mod life;
mod lines;
mod markets;
mod marks;
mod quotes;
mod refusals;
mod spreads;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
roll_wait = "0s"
instruments = "instruments.csv"
limits = "limits.csv"
[[account]]
name = "0012345"
[[account]]
name = "A1"
[[user]]
session = "CLIENT"
accounts = ["*"]
may = ["new", "replace", "cancel", "mass cancel", "status", "quote", "price inquiry"]
conditional = 2
[[number_pool]]
name = "P"
prefix = "A"
width = 4
[[line_group]]
name = "FUT"
lines = ["T1"]
number_pool = "P"
[[line_group.error]]
tmp_code = 40002
do = "retry"
times = 2
say = "the market is not open"
[[line_group.error]]
tmp_code = 40016
say = "no changes now"
[[route]]
symbols = ["*"]
to = "FUT"
"#;

const INSTRUMENTS: &str = "symbol,tick,lot,multiplier,reference,positions,flow_group,legs\nTXFL6,0.5,1,1,100,,,\n\
     FUTURE,1,1,1,100,effect,2,\nA-SYMBOL-OF-MORE-THAN-20,1,1,1,100,,0,\n\
     TXFL7,0.5,1,1,101,,,\nTXFL7/L6,0.5,1,1,,,,buy 1 TXFL7 sell 2 TXFL6\n";

const LIMITS: &str = "scope,control,limit\nfirm,RC6,100000\nfirm,RC7,1000000000000\n\
                      firm,RC8,100000000000\nfirm,RC13,10000\nfirm,RC14,100000000000000\nfirm,RC15,1000000\n";

const CLIENT: SessionId = SessionId(0);
const PASSWORD: u32 = 4_567;
const SECOND: u64 = 1_000_000_000;

/// What the exchange keeps for L41.
#[derive(Default)]
struct Kept(BTreeMap<u32, Vec<u8>>);

impl ResendStore for Kept {
    fn append(&mut self, msg_seq_num: u32, to: &mut Vec<u8>) -> bool {
        let frame = self.0.get(&msg_seq_num);
        frame.inspect(|frame| to.extend_from_slice(frame)).is_some()
    }
}

/// The exchange's end of a line.
struct Member {
    link: LinkExchange,
    kept: Kept,
    is_up: bool,
    /// L40 that it got.
    logins: usize,
    /// Requests of the OMS, in order.
    got: Vec<R01>,
    quotes: Vec<R09>,
    /// Its other messages, whole frames.
    others: Vec<Vec<u8>>,
    /// Frames to the OMS and from it that are on their way.
    to_oms: Vec<Vec<u8>>,
    from_oms: Vec<Vec<u8>>,
}

impl Member {
    fn carry_out(&mut self, actions: &LinkActions) {
        for action in actions {
            match action {
                LinkAction::Send(frame) => self.to_oms.push(frame.to_vec()),
                LinkAction::Keep { msg_seq_num, frame } => {
                    self.kept.0.insert(msg_seq_num, frame.to_vec());
                }
                LinkAction::Deliver { frame, .. } => match TmpFrame::read(frame).unwrap().code() {
                    R09::CODE => self
                        .quotes
                        .push(TmpFrame::read(frame).unwrap().body().unwrap()),
                    R01::CODE | R31::CODE => self.got.push(request(frame)),
                    _ => self.others.push(frame.to_vec()),
                },
                LinkAction::Close(_) => self.is_up = false,
                _ => {}
            }
        }
    }
}

/// An R01, or an R31 without the end of its symbol.
fn request(frame: &[u8]) -> R01 {
    let frame = TmpFrame::read(frame).unwrap();
    if let Ok(long) = frame.body::<R31>() {
        let mut symbol = [b' '; 20];
        symbol.copy_from_slice(&long.symbol[..20]);
        return R01 {
            exec_type: long.exec_type,
            order_no: long.order_no,
            ord_id: long.ord_id,
            user_define: long.user_define,
            symbol_type: long.symbol_type,
            symbol,
            qty: long.qty,
            ..R01::default()
        };
    }
    frame.body().unwrap()
}

struct Floor {
    oms: Oms,
    rules: RiskRules,
    now: Now,
    members: Vec<Member>,
    /// The notes of the journal.
    notes: Vec<Vec<u8>>,
    /// Reports to the client, `|` between fields.
    reports: Vec<String>,
    /// Events for operators.
    events: Arc<Mutex<Vec<String>>>,
    /// Reasons of connections that the OMS ended.
    hangups: Vec<&'static str>,
    /// Frames of the OMS that had a secret.
    masked: usize,
    ids: u64,
    /// Room of the outbox in messages.
    room: usize,
}

fn files(settings: &str, names: &[&str]) -> RiskRules {
    let mut open = |file: &str| match file {
        "instruments.csv" => Ok(INSTRUMENTS.to_string()),
        "limits.csv" => Ok(LIMITS.to_string()),
        other => Err(format!("no {other}")),
    };
    load(settings, names, &mut open).unwrap()
}

fn tmp_lines(count: usize) -> Vec<OmsTmpLine> {
    let line = |at: usize| OmsTmpLine {
        name: format!("T{}", at + 1),
        settings: marks::settings(at as u16 + 1),
    };
    (0..count).map(line).collect()
}

/// Drop copies of the rules have their ap_code; an appl_id of SHORT is for short reports, BARE for no PositionEffect, OPTIONS for options.
fn lines_of(rules: &RiskRules, count: usize) -> Vec<OmsTmpLine> {
    let mut lines = tmp_lines(count);
    for line in &mut lines {
        if rules.copy_sources.iter().any(|it| it.session == line.name) {
            line.settings.ap_code = ApCode::DROP_COPY;
        } else if rules.appl_id == "SHORT" && line.name == "T1" {
            line.settings.ap_code = ApCode::TRADING_SHORT;
        } else if rules.appl_id == "OPTIONS" {
            line.settings.system_type = SystemType::OPTIONS_DAY;
            line.settings.marks.position_effect = None;
        } else if rules.appl_id == "BARE" {
            line.settings.marks.position_effect = None;
        }
    }
    lines
}

/// That of the client, which is made once.
static DICTIONARY: OnceLock<Arc<Dictionary>> = OnceLock::new();

fn oms(rules: RiskRules, lines: usize, events: &Arc<Mutex<Vec<String>>>) -> Oms {
    let events = events.clone();
    let client = OmsSession {
        name: "CLIENT".to_string(),
        version: Version::Fix44,
        dictionary: Arc::clone(DICTIONARY.get_or_init(|| OmsSession::built_in(Version::Fix44))),
        ids: Vec::new(),
    };
    let listener = move |event: crate::OmsEvent<'_>| events.lock().unwrap().push(event.to_string());
    let links = lines_of(&rules, lines);
    let oms = Oms::new(rules, vec![client], 7, std::boxed::Box::new(listener));
    oms.with_tmp_lines(links)
}

fn link_now(now: Now) -> LinkNow {
    LinkNow {
        mono_ns: now.mono.0,
        wall_ns: now.wall.0.cast_unsigned(),
    }
}

impl Floor {
    /// With one line, logged in.
    fn new() -> Self {
        let mut floor = Self::with(SETTINGS, 1, |_| {});
        floor.connect(0);
        floor
    }

    fn with(settings: &str, lines: usize, set: impl Fn(&mut ExchangeLinkSettings)) -> Self {
        let names: Vec<String> = (1..=lines).map(|at| format!("T{at}")).collect();
        let names = names.iter().map(String::as_str).chain(["CLIENT"]);
        let rules = files(settings, &names.collect::<Vec<_>>());
        assert_eq!(Oms::tmp_problems(&rules, &lines_of(&rules, lines)), [""; 0]);
        let events = Arc::default();
        let member = |at: usize| {
            let password = TmpPassword::new(PASSWORD);
            let mut settings =
                ExchangeLinkSettings::new(7, at as u16 + 1, password, SystemType::FUTURES_DAY);
            settings.max_flow_ctrl_cnt = 100;
            set(&mut settings);
            Member {
                link: LinkExchange::new(settings, LinkNumbers::default()),
                kept: Kept::default(),
                is_up: false,
                logins: 0,
                got: Vec::new(),
                quotes: Vec::new(),
                others: Vec::new(),
                to_oms: Vec::new(),
                from_oms: Vec::new(),
            }
        };
        let mut floor = Self {
            oms: oms(rules.clone(), lines, &events),
            rules,
            now: Now {
                wall: Timestamp(1_795_305_600_000_000_000),
                mono: Mono(5 * SECOND),
            },
            members: (0..lines).map(member).collect(),
            notes: Vec::new(),
            reports: Vec::new(),
            events,
            hangups: Vec::new(),
            masked: 0,
            ids: 0,
            room: 256,
        };
        floor.work();
        floor.pass(SECOND + 1);
        floor
    }

    /// Hands an input to the OMS, and takes what it writes.
    fn tell<T>(&mut self, input: impl FnOnce(&mut Oms, Now, &mut Outbox) -> T) -> T {
        let mut outbox = Outbox::new(1 << 18, self.room, 256);
        let done = input(&mut self.oms, self.now, &mut outbox);
        for (at, entry) in outbox.entries().iter().enumerate() {
            let member = entry.session.link();
            if entry.is_note() {
                self.notes.push(outbox.body(at).to_vec());
            } else if entry.is_frame() {
                self.masked += usize::from(outbox.has_masks(at));
                let member = &mut self.members[member.unwrap()];
                if member.is_up {
                    member.from_oms.push(outbox.unsealed_frame(at).to_vec());
                }
            } else if !entry.is_hangup() {
                let text = String::from_utf8_lossy(outbox.body(at)).replace('\x01', "|");
                let kind = String::from_utf8_lossy(outbox.msg_type(at)).into_owned();
                self.reports.push(format!("35={kind}|{text}"));
            }
        }
        assert_eq!(outbox.failures(), 0);
        for link in 0..self.members.len() {
            if let Some(why) = outbox.take_hangup(SessionId::of_link(link as u32)) {
                self.hangups.push(why.0);
                self.members[link].is_up = false;
            }
        }
        done
    }

    /// Lets time pass for the OMS and the exchange until both have nothing to do now.
    fn work(&mut self) {
        for _ in 0..10_000 {
            let due = self.tell(|oms, now, outbox| oms.on_time(now, outbox));
            let mut moved = false;
            for at in 0..self.members.len() {
                moved |= self.pump(at);
            }
            if !moved && due.is_none_or(|due| due > self.now.mono) {
                return;
            }
        }
        panic!("it goes on and on");
    }

    fn pump(&mut self, at: usize) -> bool {
        let now = self.now;
        let (mut actions, member) = (LinkActions::new(), &mut self.members[at]);
        member.link.on_time(link_now(now), &mut actions);
        for frame in core::mem::take(&mut member.from_oms) {
            member.logins += usize::from(frame[12] == 40);
            let kept = &mut member.kept;
            member
                .link
                .on_frame(link_now(now), &frame, kept, &mut actions);
        }
        let was_up = member.is_up;
        member.carry_out(&actions);
        let closes = was_up && !member.is_up;
        let frames = core::mem::take(&mut member.to_oms);
        let moved = !frames.is_empty();
        for frame in frames {
            self.deliver(at, &frame);
        }
        if closes {
            self.disconnect(at);
        }
        moved
    }

    /// A frame arrives at the OMS.
    fn deliver(&mut self, at: usize, frame: &[u8]) {
        let link = SessionId::of_link(at as u32);
        let answer = self.tell(|oms, now, outbox| oms.on_frame(now, link, frame, outbox));
        if let Err(why) = answer {
            self.hangups.push(why.0);
            self.disconnect(at);
        }
    }

    fn connect(&mut self, at: usize) {
        let now = link_now(self.now);
        let member = &mut self.members[at];
        member.is_up = true;
        member.link.on_connect(now);
        let link = SessionId::of_link(at as u32);
        self.tell(|oms, now, outbox| oms.on_link(now, link, Link::Up, outbox));
        self.work();
    }

    fn disconnect(&mut self, at: usize) {
        let member = &mut self.members[at];
        member.is_up = false;
        member.link.on_disconnect();
        member.from_oms.clear();
        member.to_oms.clear();
        let (link, is) = (SessionId::of_link(at as u32), Link::Down { written: 0 });
        self.tell(|oms, now, outbox| oms.on_link(now, link, is, outbox));
        self.work();
    }

    fn pass(&mut self, nanos: u64) {
        self.now.mono.0 += nanos;
        self.now.wall.0 += nanos.cast_signed();
        self.work();
    }

    /// The process dies and starts again, from all notes or from a checkpoint.
    fn restart(&mut self, with_checkpoint: bool) {
        let before = self.oms.state_hash();
        let mut new = oms(self.rules.clone(), self.members.len(), &self.events);
        if with_checkpoint {
            let mut written = Vec::new();
            let state = self.oms.state();
            state.write(&mut |bytes| written.extend_from_slice(bytes));
            new.on_checkpoint(state.form().1, &written).unwrap();
        } else {
            for note in &self.notes {
                new.on_note(self.now.wall, note);
            }
        }
        assert_eq!(new.state_hash(), before, "it is the same state");
        self.oms = new;
        for member in &mut self.members {
            member.is_up = false;
            member.link.on_disconnect();
            member.from_oms.clear();
            member.to_oms.clear();
        }
        self.work();
    }

    /// A message of the client, `|` between fields.
    fn client(&mut self, fields: &str) -> Result<(), Refusal> {
        let text = format!("8=FIX.4.4|9=1|{fields}|10=000|").replace('|', "\x01");
        let mut decoder = Decoder::with_capacity(64);
        let message = decoder.decode(text.as_bytes());
        let done = self.tell(|oms, now, outbox| oms.on_message(now, CLIENT, &message, outbox));
        self.work();
        done
    }

    fn id(&mut self) -> String {
        self.ids += 1;
        format!("C{}", self.ids)
    }

    /// A new order with these fields beside the usual ones; its ClOrdID.
    fn order(&mut self, quantity: u32, price: &str, more: &str) -> String {
        let id = self.id();
        let without_price = ["|40=1", "|40=3"].iter().any(|kind| more.contains(kind));
        let has = |tag: &str| more.contains(&format!("|{tag}=")) || (tag == "44" && without_price);
        let mut fields = format!("35=D|11={id}|38={quantity}{more}");
        for (tag, value) in [
            ("1", "0012345"),
            ("55", "TXFL6"),
            ("54", "1"),
            ("40", "2"),
            ("44", price),
            ("59", "0"),
        ] {
            if !has(tag) {
                fields += &format!("|{tag}={value}");
            }
        }
        self.client(&fields).unwrap();
        id
    }

    fn replace(&mut self, original: &str, quantity: u32, price: &str) -> String {
        let id = self.id();
        let fields = "54=1|55=TXFL6|40=2";
        self.client(&format!(
            "35=G|11={id}|41={original}|38={quantity}|44={price}|{fields}"
        ))
        .unwrap();
        id
    }

    fn cancel(&mut self, original: &str) -> String {
        let id = self.id();
        self.client(&format!("35=F|11={id}|41={original}|54=1|55=TXFL6"))
            .unwrap();
        id
    }

    /// The requests that came to the exchange since the last call.
    fn got(&mut self) -> Vec<R01> {
        self.got_on(0)
    }

    fn got_on(&mut self, at: usize) -> Vec<R01> {
        core::mem::take(&mut self.members[at].got)
    }

    fn got_one(&mut self) -> R01 {
        let got = self.got();
        assert_eq!(got.len(), 1, "{got:?}");
        got[0]
    }

    /// Sends an application message of the exchange; one for a broker that is not there is kept.
    fn says<'a>(&mut self, message: &impl TmpLayout<'a>) {
        self.says_on(0, message);
    }

    fn says_on<'a>(&mut self, at: usize, message: &impl TmpLayout<'a>) {
        let mut frame = [0; 200];
        let len = message.encode(&TmpHeader::default(), &mut frame).unwrap();
        let (mut actions, now) = (LinkActions::new(), link_now(self.now));
        let member = &mut self.members[at];
        let sent = member.link.send(now, &mut frame[..len], &mut actions);
        sent.unwrap();
        member.carry_out(&actions);
        self.work();
    }

    /// The reports since the last call, those of MsgType(35) 8 and 9 with only these tags.
    fn reports(&mut self, tags: &[&str]) -> Vec<String> {
        let reports = core::mem::take(&mut self.reports);
        let pick = |report: &String| {
            let fields: Vec<&str> = report.split('|').collect();
            let found = tags.iter().filter_map(|tag| {
                let front = format!("{tag}=");
                fields.iter().find(|field| field.starts_with(&front))
            });
            found.copied().collect::<Vec<_>>().join("|")
        };
        reports.iter().map(pick).collect()
    }

    /// The events, without those of complete logins.
    fn events(&self) -> Vec<String> {
        let mut events = core::mem::take(&mut *self.events.lock().unwrap());
        events.retain(|event| !event.contains(" logged in: "));
        events
    }

    fn find(&self, number: u64) -> &Order {
        self.oms.state().orders().get(number).unwrap()
    }

    fn state_of(&self, number: u64) -> OrderState {
        self.find(number).state
    }

    fn numbers(&self) -> (u32, u32) {
        let index = self.oms.state().sessions().find(b"T1").unwrap();
        self.oms.state().link_numbers(index)
    }

    /// No event was lost or out of place, and the notes make the state.
    fn check(&self) {
        let mut replayed = crate::OmsState::default();
        for note in &self.notes {
            replayed.apply_note(note);
        }
        assert_eq!(replayed.violations(), 0);
        assert_eq!(replayed.hash(), self.oms.state().hash());
    }
}

/// The report of a request, with the quantity that is left of so much.
fn report(of: &R01, exec_type: TmpExecType, (before, leaves): (u16, u16)) -> R02 {
    R02 {
        status: TmpStatus::OK,
        exec_type,
        cm_id: of.cm_id,
        fcm_id: of.fcm_id,
        order_no: of.order_no,
        ord_id: of.ord_id,
        user_define: of.user_define,
        symbol_type: of.symbol_type,
        symbol: of.symbol,
        price: of.price,
        qty: of.qty,
        account: of.account,
        account_flag: of.account_flag,
        side: of.side,
        ord_type: of.ord_type,
        time_in_force: of.time_in_force,
        position_effect: of.position_effect,
        leaves_qty: leaves,
        before_qty: before,
        transact_time: TmpTime::from_wall_ns(1_795_305_600_000_000_000),
        ..R02::default()
    }
}

/// The acknowledgement of a new order.
fn accepted(of: &R01) -> R02 {
    report(of, TmpExecType::NEW, (0, of.qty))
}

/// A fill of so much, after others of `filled`; the rest stays.
fn fill(of: &R01, quantity: u16, price: i32, (filled, before): (u16, u16)) -> R02 {
    R02 {
        last_qty: quantity,
        last_px: price,
        cum_qty: filled + quantity,
        uniq_id: u32::from(filled) + 1,
        ..report(of, TmpExecType::FILL, (before, before - quantity))
    }
}

fn reject(of: &R01, status: TmpStatus) -> R03 {
    R03 {
        status,
        exec_type: of.exec_type,
        fcm_id: of.fcm_id,
        order_no: of.order_no,
        ord_id: of.ord_id,
        user_define: of.user_define,
        rpt_seq: 0,
        side: of.side,
    }
}
