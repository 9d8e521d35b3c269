use super::*;
use fixwire_net::transport::Transport;
use fixwire_net::{Dial, ListenerId, SocketOptions, WakeUp};
use fixwire_protocol::{Decoder, HeaderTemplate, Now};
use fixwire_tmp::messages::{R01, R02, R04};
use fixwire_tmp::{TmpExecType, TmpHeader, TmpLayout};
use std::io::ErrorKind::Unsupported;
use std::net::SocketAddr;

const TIME: &[u8] = b"20260821-13:30:00.123";
const CLIENT: ConnId = ConnId(0);
const LINE: ConnId = ConnId(1);

/// A host whose connections take whatever is written.
struct Writable;

impl Host for Writable {
    fn now(&mut self) -> Now {
        Now::default()
    }

    fn listen(&mut self, _: SocketAddr, _: &Transport) -> io::Result<(ListenerId, SocketAddr)> {
        Err(Unsupported.into())
    }

    fn accept(&mut self, _: ListenerId) -> io::Result<Option<(ConnId, SocketAddr)>> {
        Err(Unsupported.into())
    }

    fn dial(&mut self, _: &Dial<'_>) -> io::Result<ConnId> {
        Err(Unsupported.into())
    }

    fn dialled(&mut self, _: ConnId) -> io::Result<SocketAddr> {
        Err(Unsupported.into())
    }

    fn tune(&mut self, _: ConnId, _: &SocketOptions) -> io::Result<()> {
        Err(Unsupported.into())
    }

    fn read(&mut self, _: ConnId, _: &mut [u8]) -> io::Result<usize> {
        Err(Unsupported.into())
    }

    fn write(&mut self, _: ConnId, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn close(&mut self, _: ConnId) {}

    fn poll(&mut self, _: Nanos, _: &mut Vec<Ready>) -> io::Result<()> {
        Ok(())
    }

    fn wake_up(&self) -> WakeUp {
        Arc::new(|| {})
    }
}

struct World {
    host: StampingHost<Writable>,
    stamps: Arc<Stamps>,
    outbox: Outbox,
    decoder: Decoder,
    seqs: [u64; 2],
}

impl World {
    fn new() -> Self {
        Self::with(false)
    }

    fn with(answers: bool) -> Self {
        let stamps = Arc::new(Stamps::default());
        let host = StampingHost::new(Writable, Clock::start(), stamps.clone(), answers, 4);
        let host = host.with_send_time(9701);
        let header = HeaderTemplate::new(b"FIX.4.4", b"OMS", b"EXCHANGE", &[]);
        Self {
            host,
            stamps,
            outbox: Outbox::new(1 << 16, 64, header.room()),
            decoder: Decoder::with_capacity(64),
            seqs: [1, 1],
        }
    }

    /// An order arrives and causes messages of these types for these sessions.
    fn order(&mut self, id: &str, caused: &[(u32, &[u8], &str)]) {
        self.handle("D", id, id, caused);
    }

    /// A message arrives and causes messages with this ClOrdID(11).
    fn handle(&mut self, kind: &str, id: &str, other: &str, caused: &[(u32, &[u8], &str)]) {
        let header = HeaderTemplate::new(b"FIX.4.4", b"OMS", b"EXCHANGE", &[]);
        let text = format!("8=FIX.4.2|9=5|35={kind}|11={id}|9701=77|10=000|").replace('|', "\x01");
        let from = self.outbox.entries().len();
        for (session, kind, status) in caused {
            let mut body = self.outbox.begin(SessionId(*session), kind);
            body.field(tag::CL_ORD_ID, other.as_bytes())
                .field(tag::ORD_STATUS, status.as_bytes());
            body.finish().unwrap();
            let seq = &mut self.seqs[*session as usize];
            let at = self.outbox.entries().len() - 1;
            self.outbox.seal(at, &header, *seq, TIME);
            *seq += 1;
        }
        let message = self.decoder.decode(text.as_bytes());
        self.host.handled(&message, &self.outbox, from);
    }

    /// The bytes of all messages for a session, which leave the outbox with the last one.
    fn sealed(&self, session: u32) -> Vec<u8> {
        let entries = (0..).zip(self.outbox.entries());
        let own = entries.filter(|(_, entry)| entry.session == SessionId(session));
        own.flat_map(|(at, _)| self.outbox.sealed(at).to_vec())
            .collect()
    }

    fn taken(&mut self) -> Vec<(String, FirstState, bool)> {
        let shown = self.all().into_iter().map(|it| {
            assert_eq!(it.sent, 77);
            assert!(it.written == 0 || it.written >= it.journalled);
            let id = String::from_utf8_lossy(it.id()).into_owned();
            (id, it.state, it.written > 0)
        });
        shown.collect()
    }

    fn all(&mut self) -> Vec<Stamp> {
        // The second poll is an idle one.
        for _ in 0..2 {
            self.host.poll(Nanos(0), &mut Vec::new()).unwrap();
        }
        let mut taken = Vec::new();
        assert_eq!(self.stamps.take(&mut taken), 0);
        taken
    }
}

#[test]
fn each_state_is_told_from_the_messages_that_were_caused() {
    let mut world = World::new();
    world.order("a", &[(0, b"8", "A"), (1, b"D", "0")]);
    world.order("b", &[(0, b"8", "8")]);
    world.order("c", &[(0, b"8", "A")]);
    world.order("d", &[(0, b"j", "0")]);
    world.order("e", &[]);
    let (client, line) = (world.sealed(0), world.sealed(1));
    world.host.write(LINE, &line).unwrap();
    world.host.write(CLIENT, &client).unwrap();
    let mut taken = world.taken();
    taken.sort_by(|a, b| a.0.cmp(&b.0));
    let states = taken.iter().map(|it| (it.1, it.2));
    assert_eq!(
        states.collect::<Vec<_>>(),
        [
            (FirstState::Sending, true),
            (FirstState::Rejected, true),
            (FirstState::Queuing, true),
            (FirstState::Abandoned, true),
            (FirstState::Queuing, false),
        ]
    );
}

/// A message is written when its last byte is.
#[test]
fn a_message_that_is_written_in_parts_has_the_time_of_the_last_part() {
    let mut world = World::new();
    world.order("a", &[(1, b"D", "0")]);
    world.order("b", &[(1, b"D", "0")]);
    let line = world.sealed(1);
    let half = line.len() / 2;
    for part in [&line[..7], &line[7..half], &line[half..line.len() - 1]] {
        world.host.wrote(LINE, part, u64::MAX);
    }
    assert_eq!(world.taken().len(), 1);
    world.host.wrote(LINE, &line[line.len() - 1..], u64::MAX);
    let ids: Vec<_> = world.taken().into_iter().map(|it| (it.0, it.2)).collect();
    assert_eq!(ids, [("b".to_owned(), true)]);
}

#[test]
fn what_a_connection_did_not_take_has_no_time() {
    let mut world = World::new();
    world.order("a", &[(1, b"D", "0")]);
    let line = world.sealed(1);
    world.host.write(LINE, &line).unwrap();
    world.order("b", &[(1, b"D", "0")]);
    world.host.close(LINE);
    let written: Vec<_> = world.taken().into_iter().map(|it| (it.0, it.2)).collect();
    assert_eq!(written, [("a".to_owned(), true), ("b".to_owned(), false)]);
}

#[test]
fn nothing_is_noted_while_it_is_off() {
    let mut world = World::new();
    world.stamps.switch(false);
    world.order("a", &[(1, b"D", "0")]);
    assert!(world.taken().is_empty());
}

/// A request, its report, and a report without news.
#[test]
fn a_report_has_its_times_and_the_number_of_the_order() {
    let mut world = World::with(true);
    world.handle("D", "a", "17", &[(1, b"D", "0")]);
    let line = world.sealed(1);
    world.host.write(LINE, &line).unwrap();
    // A message to a venue caused by a report is not an answer to the client.
    world.handle("8", "17-2", "x", &[(1, b"D", "0"), (0, b"8", "0")]);
    let client = world.sealed(0);
    world.host.write(CLIENT, &client).unwrap();
    world.handle("9", "17-3", "", &[]);
    let mut taken = world.all();
    taken.sort_by_key(|it| it.found);
    let shown = taken.iter();
    let shown = shown.map(|it| (it.kind, it.order, it.state, it.sent, it.written > 0));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            (b'D', 17, FirstState::Sending, 77, true),
            (b'8', 17, FirstState::Reported, 0, true),
            (b'9', 17, FirstState::Kept, 0, false),
        ]
    );
}

#[test]
fn the_number_of_an_order_stands_in_its_messages() {
    let of = |text: &str| order(text.replace('|', "\x01").as_bytes());
    assert_eq!(of("8=FIX.4.4|9=5|35=D|34=37|11=17|37=9|"), 17);
    assert_eq!(of("8=FIX.4.4|9=5|35=G|34=2|41=17|11=18-25|"), 18);
    assert_eq!(of("8=FIX.4.4|9=5|35=8|34=2|11=a|37=19|"), 19);
    assert_eq!(of("8=FIX.4.4|9=5|35=9|34=2|11=18|37=NONE|"), 0);
    assert_eq!(of("8=FIX.4.4|9=5|35=3|34=2|"), 0);
}

const LINK: SessionId = SessionId::of_link(0);

/// A frame with this MsgSeqNum, of order 17.
fn frame<'a>(message: &impl TmpLayout<'a>, msg_seq_num: u32) -> Vec<u8> {
    let header = TmpHeader {
        msg_seq_num,
        ..TmpHeader::default()
    };
    let mut bytes = vec![0; 200];
    let len = message.encode(&header, &mut bytes).unwrap();
    bytes.truncate(len);
    bytes
}

fn request(exec_type: TmpExecType, ord_id: u32) -> R01 {
    R01 {
        exec_type,
        ord_id,
        user_define: *b"0000000H",
        ..R01::default()
    }
}

impl World {
    /// An order arrives and causes these frames for the line, after what was written before.
    fn order_over_tmp(&mut self, id: &str, caused: &[&[u8]]) {
        let text = format!("8=FIX.4.2|9=5|35=D|11={id}|9701=77|10=000|").replace('|', "\x01");
        let from = self.outbox.entries().len();
        for (at, bytes) in caused.iter().enumerate() {
            self.outbox.frame(LINK, bytes).unwrap();
            self.outbox.seal_frame(from + at, 1 + (from + at) as u64);
        }
        let message = self.decoder.decode(text.as_bytes());
        self.host.handled(&message, &self.outbox, from);
    }
}

/// A link's messages have no number, requests have one; the last byte of a frame counts.
#[test]
fn a_request_over_tmp_is_written_when_its_frame_is() {
    let mut world = World::with(true);
    let query = frame(&request(TmpExecType::QUERY, 17), 0);
    let new = frame(&request(TmpExecType::NEW, 17), 1);
    let cancel = frame(&request(TmpExecType::CANCEL, 18), 2);
    world.order_over_tmp("a", &[&query, &new]);
    world.order_over_tmp("b", &[&cancel]);
    world.order_over_tmp("c", &[]);
    let line = [&query[..], &new, &cancel].concat();
    let first = query.len() + new.len();
    for part in [&line[..9], &line[9..first - 1]] {
        world.host.wrote(LINE, part, u64::MAX);
        assert_eq!(world.all().iter().filter(|it| it.written > 0).count(), 0);
    }
    world.host.wrote(LINE, &line[first - 1..], u64::MAX);
    world.order_over_tmp("d", &[&frame(&request(TmpExecType::NEW, 19), 3)]);
    world.host.close(LINE);
    let mut taken = world.all();
    taken.sort_by_key(|it| it.id().to_vec());
    let shown = taken
        .iter()
        .map(|it| (it.id(), it.order, it.state, it.written > 0));
    // The order without a frame was handed over above.
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            (&b"a"[..], 17, FirstState::Sending, true),
            (b"b", 17, FirstState::Sending, true),
            (b"d", 0, FirstState::Sending, false),
        ]
    );
}

/// Reports of a line over TMP, and what they caused for the client.
#[test]
fn a_report_over_tmp_has_its_times_and_the_number_of_the_order() {
    let mut world = World::with(true);
    let accepted = R02 {
        exec_type: TmpExecType::NEW,
        ord_id: 17,
        user_define: *b"0000000H",
        ..R02::default()
    };
    let header = HeaderTemplate::new(b"FIX.4.4", b"OMS", b"EXCHANGE", &[]);
    world.outbox.begin(SessionId(0), b"8").finish().unwrap();
    world.outbox.seal(0, &header, 1, TIME);
    world
        .host
        .handled_frame(&frame(&accepted, 1), &world.outbox, 0);
    let client = world.sealed(0);
    world.host.write(CLIENT, &client).unwrap();
    // A heartbeat is not a report, and this report has no news.
    world
        .host
        .handled_frame(&frame(&R04::default(), 0), &world.outbox, 1);
    world
        .host
        .handled_frame(&frame(&accepted, 2), &world.outbox, 1);
    let taken = world.all();
    let shown = taken
        .iter()
        .map(|it| (it.kind, it.order, it.state, it.written > 0));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            (b'8', 17, FirstState::Reported, true),
            (b'8', 17, FirstState::Kept, false),
        ]
    );
    assert!(taken.iter().all(|it| it.id() == b"17" && it.sent == 0));
}
