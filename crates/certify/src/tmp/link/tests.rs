//! A manually driven link against the exchange's real end, over a socket.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Instant, SystemTime};

use fixwire_engine::Connection;
use fixwire_tmp::messages::{R01, R02, R03, R22};
use fixwire_tmp::{
    ExchangeLinkSettings, LinkAction, LinkActions, LinkExchange, LinkNow, ResendStore, SystemType,
    TmpExecType, TmpHeader, TmpLayout, TmpPassword, TmpSide, TmpStatus,
};

use super::*;
use crate::evidence::EvidenceFolder;
use crate::plan::CertificationPlan;
use crate::player::{CasePlayer, PlayerSetup, VenueSession};
use crate::result::CaseVerdict;

const PASSWORD: u32 = 4567;

/// A venue's response to an order.
enum Answer {
    /// Sends this message over its link.
    Frame(Vec<u8>),
    /// Writes these bytes.
    Bytes(Vec<u8>),
    /// Skips the next number.
    Skip,
}

fn frame<'a, T: TmpLayout<'a>>(message: &T) -> Vec<u8> {
    let mut frame = vec![0; T::SIZE];
    message.encode(&TmpHeader::default(), &mut frame).unwrap();
    frame
}

fn report(order: &R01) -> R02 {
    R02 {
        exec_type: order.exec_type,
        order_no: order.order_no,
        side: order.side,
        qty: order.qty,
        leaves_qty: order.qty,
        ..R02::default()
    }
}

#[derive(Default)]
struct Store(BTreeMap<u32, Vec<u8>>);

impl ResendStore for Store {
    fn append(&mut self, msg_seq_num: u32, to: &mut Vec<u8>) -> bool {
        let frame = self.0.get(&msg_seq_num);
        to.extend_from_slice(frame.map_or(&[], |frame| frame));
        frame.is_some()
    }
}

/// The exchange's end of the link, for any number of connections.
struct Venue<'a> {
    link: LinkExchange,
    store: Store,
    begun: Instant,
    answers: &'a dyn Fn(&R01) -> Vec<Answer>,
}

impl Venue<'_> {
    fn now(&self) -> LinkNow {
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        LinkNow {
            mono_ns: self.begun.elapsed().as_nanos() as u64,
            wall_ns: wall.unwrap().as_nanos() as u64,
        }
    }

    /// Serves a connection until either end closes it.
    fn serve(&mut self, mut stream: TcpStream) {
        let wait = Some(Duration::from_millis(10));
        stream.set_read_timeout(wait).unwrap();
        self.link.on_connect(self.now());
        let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
        let framing = Framing::big_endian(0, 2).adding(3).within(19, 65_538);
        'open: loop {
            match stream.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => bytes.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => break,
            }
            let mut out = LinkActions::new();
            let now = self.now();
            self.link.on_time(now, &mut out);
            while let Framed::Whole(length) = framing.next(&bytes) {
                let frame: Vec<u8> = bytes.drain(..length).collect();
                self.link.on_frame(now, &frame, &mut self.store, &mut out);
            }
            if self.carry_out(&out, &mut stream).is_err() {
                break 'open;
            }
        }
        self.link.on_disconnect();
    }

    fn carry_out(&mut self, out: &LinkActions, stream: &mut TcpStream) -> io::Result<()> {
        for action in out {
            match action {
                LinkAction::Send(frame) => stream.write_all(frame)?,
                LinkAction::Keep { msg_seq_num, frame } => {
                    self.store.0.insert(msg_seq_num, frame.to_vec());
                }
                LinkAction::Deliver { frame, .. } => {
                    let order: R01 = TmpFrame::read(frame).unwrap().body().unwrap();
                    for answer in (self.answers)(&order) {
                        self.answer(answer, stream)?;
                    }
                }
                LinkAction::Close(_) => return Err(io::ErrorKind::ConnectionAborted.into()),
                _ => {}
            }
        }
        Ok(())
    }

    fn answer(&mut self, answer: Answer, stream: &mut TcpStream) -> io::Result<()> {
        let mut frame = match answer {
            Answer::Bytes(bytes) => return stream.write_all(&bytes),
            Answer::Skip => frame(&R02::default()),
            Answer::Frame(ref frame) => frame.clone(),
        };
        let mut out = LinkActions::new();
        let now = self.now();
        self.link.send(now, &mut frame, &mut out).unwrap();
        match answer {
            Answer::Skip => Ok(()),
            _ => self.carry_out(&out, stream),
        }
    }
}

fn settings() -> ClientLinkSettings {
    let password = TmpPassword::new(PASSWORD);
    ClientLinkSettings::new(279, 50, password, SystemType::FUTURES_DAY)
}

/// Plays the cases of a plan against a venue with these responses; returns the verdicts, and the evidence of the first
/// case.
fn play(cases: &str, answers: &(dyn Fn(&R01) -> Vec<Answer> + Sync)) -> (Vec<CaseVerdict>, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    listener.set_nonblocking(true).unwrap();
    let connection = Connection::Initiator {
        hosts: vec![("127.0.0.1".to_owned(), port)],
        reconnect: vec![Duration::from_secs(1)],
        timeout: Duration::from_secs(10),
    };
    let framing = Framing::big_endian(0, 2).adding(3).within(19, 65_538);
    let link = LinkConfig::new("FUT-1", connection, framing.with_sum_of_bytes());
    let plan = CertificationPlan::parse(&format!("link a.toml\nlimit 5s\n{cases}\n"));
    let plan = plan.unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    let stop = Arc::new(AtomicBool::new(false));
    let folder = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        let over = Arc::clone(&stop);
        scope.spawn(move || {
            let password = TmpPassword::new(PASSWORD);
            let mut settings =
                ExchangeLinkSettings::new(279, 50, password, SystemType::FUTURES_DAY);
            settings.max_flow_ctrl_cnt = 50;
            let mut venue = Venue {
                link: LinkExchange::new(settings, LinkNumbers::default()),
                store: Store::default(),
                begun: Instant::now(),
                answers,
            };
            while !over.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, _)) => {
                        stream.set_nonblocking(false).unwrap();
                        venue.serve(stream);
                    }
                    Err(_) => thread::sleep(Duration::from_millis(2)),
                }
            }
        });
        let setup = PlayerSetup {
            session: VenueSession::Tmp {
                link: &link,
                settings: &settings(),
            },
            limit: plan.limit,
            numbers: None,
            stop: Arc::new(AtomicBool::new(false)),
        };
        let mut player = CasePlayer::new(&setup).unwrap();
        let evidence = EvidenceFolder::create(folder.path(), player.now(), Vec::new()).unwrap();
        let played = plan.cases.iter();
        let verdicts = played.map(|case| player.play(case, Some(&evidence)).unwrap().verdict);
        let verdicts: Vec<CaseVerdict> = verdicts.collect();
        player.finish();
        stop.store(true, Ordering::Relaxed);
        let text = fs::read_to_string(evidence.path().join("case-01.txt")).unwrap();
        (verdicts, text)
    })
}

const ORDER: &str = "send R01|order_no=$A|symbol=TXFL6|side=buy|price=100|qty=3";

/// The failure reasons of the only case, which must fail in this line.
fn reasons(steps: &str, line: usize, answers: &(dyn Fn(&R01) -> Vec<Answer> + Sync)) -> String {
    let (verdicts, _) = play(&format!("case 1 A\n{steps}"), answers);
    match &verdicts[..] {
        [CaseVerdict::Failed { line: found, why }] if *found == line => why.join("\n"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn reports_in_long_and_short_form_and_rejects_are_expected_by_name() {
    let answers = |order: &R01| {
        vec![
            Answer::Frame(frame(&report(order))),
            Answer::Frame(frame(&R22 {
                exec_type: TmpExecType::FILL,
                order_no: order.order_no,
                leg_px: [100, -1],
                leaves_qty: 1,
                side: TmpSide::BUY,
                ..R22::default()
            })),
            Answer::Frame(frame(&R03 {
                status: TmpStatus::PRODUCT,
                order_no: order.order_no,
                ..R03::default()
            })),
        ]
    };
    let steps = format!(
        "case 1 A\n{ORDER}\nexpect R02|exec_type=new|order_no=$A|side=buy|qty=003|msg_seq_num=1|user_define=(none)\n\
         expect R22|exec_type=fill|order_no=$A|leg_px=100,-1|leaves_qty={{0,1}}|side=@2\n\
         and R03|status=20|order_no=$A"
    );
    let (verdicts, evidence) = play(&steps, &answers);
    assert_eq!(verdicts, [CaseVerdict::Passed], "{evidence}");
    // Text and bytes of both directions, without the proof of the password.
    for part in [
        "> L40|msg_seq_num=0|",
        "|key_value=***|request_start_seq=0|",
        "> R01|msg_seq_num=1|",
        "|symbol=TXFL6|price=100|qty=3|",
        "\n  00 4d 00 00 00 01 ",
        "< R22|msg_seq_num=2|",
        "\nverdict   pass\n",
    ] {
        assert!(evidence.contains(part), "{part}: {evidence}");
    }
    let login = evidence.split("> L40|").nth(1).unwrap();
    let bytes = login.lines().nth(1).unwrap();
    assert!(
        bytes.ends_with("**") && bytes.matches("**").count() == 2,
        "{bytes}"
    );
}

#[test]
fn a_difference_names_field_value_and_expectation() {
    let answers = |order: &R01| vec![Answer::Frame(frame(&report(order)))];
    let steps = format!("{ORDER}\nexpect R02|order_no=$A|leaves_qty=2|symbol=TX*");
    let why = reasons(&steps, 5, &answers);
    let lines: Vec<&str> = why.lines().collect();
    assert!(lines[0].starts_with("expected R02|order_no="), "{why}");
    assert!(lines[0].ends_with("|leaves_qty=2|symbol=TX*"), "{why}");
    assert!(lines[1].starts_with("received R02|msg_seq_num=1|"), "{why}");
    assert_eq!(
        lines[2..],
        [
            "leaves_qty is '3', expected '2'",
            "symbol is absent, expected 'TX*'"
        ]
    );
    let why = reasons(&format!("{ORDER}\nexpect R03|order_no=$A"), 5, &answers);
    assert!(why.ends_with("message is 'R02', expected 'R03'"), "{why}");
    // An unexpected message fails the case.
    let why = reasons(
        &format!("{ORDER}\nexpect R02\n{ORDER}").replace("$A|symbol", "A0001|symbol"),
        6,
        &answers,
    );
    assert!(why.contains("expected no message after this step"), "{why}");
}

#[test]
fn wrong_numbers_check_sums_and_lengths_of_the_venue_fail_the_case() {
    let steps = format!("{ORDER}\nexpect R02|order_no=$A");
    let why = reasons(&steps, 5, &|order: &R01| {
        vec![Answer::Skip, Answer::Frame(frame(&report(order)))]
    });
    assert!(
        why.ends_with(": msg_seq_num is 2, expected 1: a message is missing"),
        "{why}"
    );
    let why = reasons(&steps, 5, &|order: &R01| {
        let mut wrong = frame(&report(order));
        wrong[132] ^= 1;
        vec![Answer::Bytes(wrong)]
    });
    assert!(
        why.contains(": bad frame: R02: checksum at byte 132 is "),
        "{why}"
    );
    let why = reasons(&steps, 5, &|_| vec![Answer::Bytes(vec![0; 19])]);
    assert!(
        why.contains(": received bytes that are not a frame: "),
        "{why}"
    );
    let twice = |order: &R01| {
        let report = frame(&report(order));
        let mut again = report.clone();
        again[5] = 1;
        again[132] = fixwire_tmp::checksum(&again[..132]);
        vec![Answer::Frame(report), Answer::Bytes(again)]
    };
    let why = reasons(&format!("{steps}\nexpect R02"), 6, &twice);
    assert!(
        why.ends_with("msg_seq_num is 1, expected 2: it was received before"),
        "{why}"
    );
}

#[test]
fn a_recovery_is_played_by_hand_and_by_the_player() {
    let answers = |order: &R01| vec![Answer::Frame(frame(&report(order)))];
    let order = ORDER.replace("$A", "A0001");
    let by_hand = format!(
        "case 1 A\n{order}\nexpect R02\ndrop\nconnect\nanswers off\nsend L10\nexpect L10|status=0\nsend L20\n\
         expect L30|end_out_bound_num=1\nsend L40|request_start_seq=0\nexpect L41|is_eof=1|file_size=133\n\
         expect R02|order_no=A0001\nsend L42\nexpect L50|max_flow_ctrl_cnt=50\nsend L60\nanswers on"
    );
    let why = reasons(&by_hand[9..], 15, &answers);
    // It has the number of a received report.
    assert!(
        why.ends_with("msg_seq_num is 1, expected 2: it was received before"),
        "{why}"
    );
    // The broker is disconnected when the report is created.
    let away = format!(
        "case 1 A\n{order}\ndrop\nconnect\nanswers off\nsend L10\nexpect L10\nsend L20\nexpect L30|end_out_bound_num=$n\n\
         send L40\nexpect L41|is_eof=1\nexpect R02|msg_seq_num=$n\nsend L42\nexpect L50\nsend L60\n\
         case 2 B\n{}\ndrop\nlogged-on\nsend R04\nexpect R05|status=0",
        ORDER.replace("$A", "A0002")
    );
    let (verdicts, evidence) = play(&away, &answers);
    assert_eq!(
        verdicts,
        [CaseVerdict::Passed, CaseVerdict::Passed],
        "{evidence}"
    );
}

#[test]
fn the_player_keeps_below_the_flow_limit_and_a_burst_does_not() {
    let answers = |_: &R01| Vec::new();
    let calm = "case 1 A\nrepeat 60\nsend R04\nexpect R05|status=0\n\
                case 2 B\nwait 1200ms\nburst 45 R04\nawait R05|status=248\nawait R05|status=249\n\
                case 3 C\nwait 1200ms\nburst 51 R04\nawait L10|status=240\ndisconnect\nlogged-on";
    let (verdicts, evidence) = play(calm, &answers);
    let passed = vec![CaseVerdict::Passed; 3];
    assert_eq!(verdicts, passed, "{evidence}");
}

#[test]
fn wrong_logins_lock_the_session() {
    let answers = |_: &R01| Vec::new();
    let wrong = "connect\nsend L10\nexpect L10|status=0\nsend L20\nexpect L30\nsend L40|key_value=wrong\n\
                 expect L10|status=204\ndisconnect\n";
    let plan = format!(
        "case 1 A\n{wrong}{wrong}{wrong}connect\nsend L10\nexpect L10|status=241\ndisconnect\ncase 2 B\nsend R04\nexpect R05"
    );
    let (verdicts, evidence) = play(&plan, &answers);
    let [CaseVerdict::Passed, CaseVerdict::NotPlayed { why }] = &verdicts[..] else {
        panic!("{verdicts:?} {evidence}");
    };
    assert_eq!(
        why,
        "cannot log on: peer sent L10 with status 241 (Session is locked)"
    );
}
