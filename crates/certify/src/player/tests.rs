use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Instant;

use fixwire_protocol::frame;
use fixwire_protocol::session::{BeginString, Config, Role};

use super::*;
use crate::plan::CertificationPlan;

/// Writes a complete message of the venue, with this value added to its CheckSum.
fn write(stream: &mut TcpStream, body: &str, spoilt: u8) {
    let body = body.replace('|', "\x01");
    let head = format!("8=FIX.4.4\x019={}\x01{body}\x01", body.len() + 1);
    let sum = frame::check_sum(head.as_bytes()).wrapping_add(spoilt);
    // The client may have closed the connection.
    let _ = stream.write_all(format!("{head}10={sum:03}\x01").as_bytes());
}

/// Plays the first case of a plan against a venue, which gets the connection after it has read the first bytes.
fn play(
    steps: &str,
    numbers: Option<StartNumbers>,
    stop: &Arc<AtomicBool>,
    venue: impl FnOnce(TcpStream) + Send,
) -> CaseVerdict {
    play_to(steps, numbers, stop, None, venue)
}

/// Plays a plan and writes the evidence.
fn play_to(
    steps: &str,
    numbers: Option<StartNumbers>,
    stop: &Arc<AtomicBool>,
    evidence: Option<&EvidenceFolder>,
    venue: impl FnOnce(TcpStream) + Send,
) -> CaseVerdict {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connection = Connection::Initiator {
        hosts: vec![(
            "127.0.0.1".to_owned(),
            listener.local_addr().unwrap().port(),
        )],
        reconnect: vec![Duration::from_secs(1)],
        timeout: Duration::from_secs(10),
    };
    let config = Config::new(BeginString::Fix44, Role::Initiator, b"OMS", b"EXCHANGE");
    let session = SessionConfig::new("OMS->EXCHANGE", config, connection);
    let plan = CertificationPlan::parse(&format!("case 1 A\n{steps}\n")).unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            venue(stream);
        });
        let player = CasePlayer::new(&PlayerSetup {
            session: VenueSession::Fix(&session),
            limit: Duration::from_secs(10),
            numbers,
            stop: Arc::clone(stop),
        });
        player
            .unwrap()
            .play(&plan.cases[0], evidence)
            .unwrap()
            .verdict
    })
}

/// The reason for which a Logon with this body is refused.
fn refused(numbers: Option<StartNumbers>, body: &str, spoilt: u8) -> String {
    let stop = Arc::new(AtomicBool::new(false));
    let verdict = play("logged-on", numbers, &stop, |mut stream| {
        write(&mut stream, body, spoilt);
    });
    let CaseVerdict::Failed { line: 2, why } = verdict else {
        panic!("{verdict:?}");
    };
    why.join("\n")
}

#[test]
fn a_logon_must_have_the_right_number_and_check_sum() {
    let logon = "35=A|34=7|49=EXCHANGE|56=OMS|52=20261126-11:01:58|98=0|108=30";
    let numbers = Some(StartNumbers {
        next_out: 4,
        next_in: Some(9),
    });
    let why = refused(numbers, logon, 0);
    assert!(
        why.starts_with("expected a Logon\ncannot log on: received 8=FIX.4.4|")
            && why.ends_with(": MsgSeqNum(34) is 7, expected 9"),
        "{why}"
    );
    let why = refused(None, logon, 0);
    assert!(
        why.ends_with(": MsgSeqNum(34) is 7, expected 1: a message is missing"),
        "{why}"
    );
    let why = refused(None, &logon.replace("34=7", "34=1"), 1);
    assert!(why.contains(": a garbled message was received: "), "{why}");
}

#[test]
fn a_venue_that_never_pauses_ends_no_step_late_and_delays_no_stop() {
    let heartbeats = |mut stream: TcpStream| {
        for number in 1_u64.. {
            let body = format!("35=0|34={number}|49=EXCHANGE|56=OMS|52=20261126-11:01:58");
            let body = body.replace('|', "\x01");
            let head = format!("8=FIX.4.4\x019={}\x01{body}\x01", body.len() + 1);
            let sum = frame::check_sum(head.as_bytes());
            let bytes = format!("{head}10={sum:03}\x01").into_bytes();
            if stream.write_all(&bytes).is_err() {
                return;
            }
        }
    };
    let begun = Instant::now();
    let steps = "connect\nlogon\nsilence 200ms\nawait within 200ms 35=8";
    let stop = Arc::new(AtomicBool::new(false));
    let verdict = play(steps, None, &stop, heartbeats);
    let CaseVerdict::Failed { line: 5, why } = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(why, ["expected 35=8 within 200 ms", "received nothing"]);
    let verdict = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(100));
            stop.store(true, Ordering::Relaxed);
        });
        play("connect\nlogon\nsilence 600s", None, &stop, heartbeats)
    });
    assert!(
        matches!(verdict, CaseVerdict::NotPlayed { .. }),
        "{verdict:?}"
    );
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_stop_during_a_send_is_no_failure_of_the_venue() {
    let stop = Arc::new(AtomicBool::new(false));
    let text = "x".repeat(16 << 20);
    let steps = format!("connect\nlogon\nsend 35=j|58={text}|372=D|380=0\nexpect 35=8|150=0");
    // The venue reads only the Logon, so the message is never sent whole.
    let verdict = play(&steps, None, &stop, |stream| {
        thread::sleep(Duration::from_millis(500));
        stop.store(true, Ordering::Relaxed);
        thread::sleep(Duration::from_millis(500));
        drop(stream);
    });
    let CaseVerdict::NotPlayed { why } = &verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(why, "stopped by a signal");
}

#[test]
fn a_secret_that_a_plan_sends_in_another_field_is_masked_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let steps = "connect\nlogon\nexpect 35=A\nexpect 35=BF|554=$x\nsend 35=j|58=$x|372=D|380=0\n\
                 expect 35=8|58=$x|37=1";
    let evidence = EvidenceFolder::create(folder.path(), Timestamp(0), Vec::new()).unwrap();
    let venue = |mut stream: TcpStream| {
        let head = "49=EXCHANGE|56=OMS|52=20261126-11:01:58";
        write(&mut stream, &format!("35=A|34=1|{head}|98=0|108=30"), 0);
        write(
            &mut stream,
            &format!("35=BF|34=2|{head}|923=U1|924=1|553=me|554=hunter2|926=1"),
            0,
        );
        let _ = stream.read(&mut [0; 4096]);
        write(&mut stream, &format!("35=8|34=3|{head}|37=2|58=hunter2"), 0);
        let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
        while stream.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {}
    };
    let verdict = play_to(steps, None, &stop, Some(&evidence), venue);
    let CaseVerdict::Failed { line: 7, why } = verdict else {
        panic!("{verdict:?}");
    };
    let text = std::fs::read_to_string(evidence.path().join("case-01.txt")).unwrap();
    let why = why.join("\n");
    for said in [&text, &why] {
        assert!(
            said.contains("58=***") && !said.contains("hunter2"),
            "{said}"
        );
    }
    assert!(
        text.contains("|35=j|") && text.contains("expected 35=8|58=***|37=1"),
        "{text}"
    );
}
