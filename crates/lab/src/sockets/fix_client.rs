//! A FIX client made of bare sockets, connected to an acceptor, so that only the acceptor is measured: one of ours on
//! the far thread, or one in a process of its own.
//!
//! The client sets MsgSeqNum and SendingTime, and checks BodyLength, CheckSum, CompIDs, MsgSeqNum and ClOrdID of each
//! answer. The last message of a run is validated against the dictionary. The client has no journal and resends
//! nothing, so a lost message ends the measurement.
//!
//! For a gateway the client can also play the venue: it fills each order that arrives on the last session, and the
//! report must return on the first session.

use std::net::{SocketAddr, TcpStream};

use fixwire_protocol::dictionary::{Dictionary, Version, validate};
use fixwire_protocol::outbox::BodyError;
use fixwire_protocol::{
    Application, Decoder, Frame, HeaderTemplate, Message, Outbox, Precision, SessionId, Timestamp,
    TimestampWriter, frame, tag,
};
use fixwire_stamps::clock::Clock;
use fixwire_stamps::scenario::{EXECUTION_REPORT, OrderWriter};

use crate::error::Error;
use crate::load::{Load, Pace};
use crate::report::Run;
use crate::sockets::arena::{Arena, Task};
use crate::sockets::client::{self, Speech};
use crate::sockets::pair::PairConfig;
use crate::sockets::pipe::{MOST, Pipe, broken};

/// MsgType(35) of a Heartbeat, which an idle acceptor may send.
const HEARTBEAT: &[u8] = b"0";

/// A client with a connection for each session of an acceptor, logged on.
pub struct FixClient {
    config: PairConfig,
    /// The floor and the far thread.
    pub arena: Arena,
    /// Task of the far thread while the acceptor works: run the acceptor, or do nothing.
    meanwhile: Task,
    pipes: Vec<Pipe>,
    sessions: Vec<Writer>,
    decoder: Decoder,
    clock: Clock,
    answers: Answers,
    /// The venue's reports that return to the client; `None` when the client plays no venue.
    reports: Option<Answers>,
}

impl FixClient {
    /// Starts the acceptor with `app` on this core, and logs on to each of its sessions. Messages of type `answer`
    /// count as answers to orders.
    ///
    /// # Errors
    ///
    /// The acceptor did not start, or a session is not logged on in time.
    pub fn start<A: Application + Send + 'static>(
        config: PairConfig,
        far_core: Option<usize>,
        app: A,
        answer: &'static [u8],
    ) -> Result<Self, Error> {
        let clock = Clock::start();
        let (arena, address) = config.start_acceptor(far_core, clock, app)?;
        Self::before(config, arena, Task::Engine, answer).log_on(address, true)
    }

    /// Logs on to an acceptor in another process; the Logon has ResetSeqNumFlag=Y if `resets`. The far thread runs on
    /// `far_core`, the acceptor's core: it measures the distance of the cores, and sleeps while the acceptor works.
    ///
    /// # Errors
    ///
    /// Nothing listens there, or the session is not logged on in time.
    pub fn connect(
        config: PairConfig,
        far_core: Option<usize>,
        address: SocketAddr,
        resets: bool,
        answer: &'static [u8],
    ) -> Result<Self, Error> {
        let arena = Arena::start(far_core, Clock::start(), || Ok(|| Ok(false)))?;
        Self::before(config, arena, Task::Rest, answer).log_on(address, resets)
    }

    fn before(config: PairConfig, arena: Arena, meanwhile: Task, answer: &'static [u8]) -> Self {
        Self {
            answers: Answers::new(&config, config.sessions.len() - 1, answer),
            config,
            clock: arena.clock,
            arena,
            meanwhile,
            pipes: Vec::new(),
            sessions: Vec::new(),
            decoder: Decoder::with_capacity(64),
            reports: None,
        }
    }

    /// Logs on to each session; a failure ends the far thread.
    fn log_on(mut self, address: SocketAddr, resets: bool) -> Result<Self, Error> {
        let logged_on = self.log_on_all(address, resets);
        self.arena.assign(Task::Rest);
        match logged_on {
            Ok(()) => Ok(self),
            Err(error) => {
                self.arena.stop()?;
                Err(error)
            }
        }
    }

    /// From now on the client fills each order that arrives on the last session. An order counts as answered when its
    /// report is back; its arrival is timed too.
    pub fn trade(&mut self) {
        self.reports = Some(Answers::new(&self.config, 0, EXECUTION_REPORT));
    }

    fn log_on_all(&mut self, address: SocketAddr, resets: bool) -> Result<(), Error> {
        self.arena.assign(self.meanwhile);
        let wall = self.wall();
        for number in 0..self.config.sessions.len() {
            let mut writer = Writer::of_initiator(&self.config, number);
            let mut pipe = TcpStream::connect(address)
                .and_then(|socket| Pipe::new(socket, self.config.nodelay))
                .map_err(Error::system("connect over loopback"))?;
            let logon = writer.log_on(wall, self.config.heart_bt_int_seconds, resets)?;
            pipe.output.extend_from_slice(logon);
            self.pipes.push(pipe);
            self.sessions.push(writer);
            self.await_admin(number, b"A")?;
        }
        Ok(())
    }

    /// Waits for a session message of this type on session `number`.
    fn await_admin(&mut self, number: usize, msg_type: &[u8]) -> Result<(), Error> {
        let (arena, patience) = (&self.arena, self.config.patience);
        let take = |message: &Message<'_>| match message.msg_type() == msg_type {
            true => Ok(()),
            false => {
                let shown = String::from_utf8_lossy(message.bytes());
                Err(Error::Session(shown.replace('\x01', "|")))
            }
        };
        self.pipes[number].exchange(&mut self.decoder, patience, take, || {
            Arena::pause(arena.is_alone());
            Ok(!arena.far_ended())
        })?
    }

    fn wall(&self) -> Timestamp {
        Timestamp(self.clock.to_wall(self.clock.now()) as i64)
    }

    /// One run of orders. They leave on the first session; answers arrive on the last.
    ///
    /// # Errors
    ///
    /// A connection or the far thread ended, or a message cannot be written.
    pub fn run(&mut self, pace: Pace, orders: usize) -> Result<Run, Error> {
        let Self {
            config,
            arena,
            meanwhile,
            pipes,
            sessions,
            decoder,
            clock,
            answers,
            reports,
        } = self;
        let (run, ()) = arena.timed(*meanwhile, |arena| {
            let load = Load::new(pace, orders, config.patience.as_nanos() as u64);
            let mut load = load.arriving(&arena.arrivals);
            let (first, others) = sessions.split_at_mut(1);
            let version = config.sessions[others.len()];
            let venue = others.last_mut().zip(reports.as_mut());
            let mut orders = Orders {
                writer: &mut first[0],
                decoder,
                clock: *clock,
                first: clock.to_wall(clock.now()),
                intended: Vec::with_capacity(orders),
                answers,
                venue: venue.map(|(writer, reports)| Venue {
                    writer,
                    version,
                    arrived: Vec::with_capacity(orders),
                    unsent: Vec::with_capacity(MOST),
                    reports,
                }),
            };
            orders.prepare(clock.now());
            let alone = arena.is_alone();
            arena.begin_counts();
            client::run(
                pipes,
                &mut orders,
                &mut load,
                clock,
                &mut arena.watch,
                || {
                    Arena::pause(alone);
                },
            )
            .map_err(broken)?;
            orders.writer.withdraw();
            Ok((load.close(), ()))
        })?;
        answers.check_last(decoder)?;
        if let Some(reports) = reports {
            reports.check_last(decoder)?;
        }
        let before = pipes.len() - 1;
        for pipe in &mut pipes[..before] {
            if pipe.read(false).map_err(broken)? > 0 {
                let said = String::from_utf8_lossy(pipe.unread()).replace('\x01', "|");
                let what = "unexpected message on the session that sends orders:";
                return Err(Error::Session(format!("{what} {said}")));
            }
        }
        Ok(run)
    }

    /// Logs out, and ends the far thread with the acceptor that it runs.
    ///
    /// # Errors
    ///
    /// The error of the far end.
    pub fn stop(mut self) -> Result<(), Error> {
        self.arena.assign(self.meanwhile);
        let wall = self.wall();
        for number in 0..self.pipes.len() {
            let logout = self.sessions[number].message(b"5", wall, |_| ())?;
            self.pipes[number].output.extend_from_slice(logout);
            if let Err(error) = self.await_admin(number, b"5") {
                // The far engine's error is the cause of this one.
                self.arena.stop()?;
                return Err(error);
            }
        }
        self.arena.stop()
    }
}

/// Writes the messages of one session.
pub(crate) struct Writer {
    header: HeaderTemplate,
    outbox: Outbox,
    orders: OrderWriter,
    stamp: TimestampWriter,
    /// MsgSeqNum of the next message.
    pub(crate) next_out: u64,
}

impl Writer {
    /// The initiator of this session.
    pub(crate) fn of_initiator(config: &PairConfig, number: usize) -> Self {
        let (begin_string, sender, target) = config.names(number);
        let header = HeaderTemplate::new(
            begin_string.as_str().as_bytes(),
            sender.as_bytes(),
            target.as_bytes(),
            &[],
        );
        Self {
            outbox: Outbox::new(64 << 10, 4, header.room()),
            header,
            orders: OrderWriter::default(),
            stamp: TimestampWriter::default(),
            next_out: 1,
        }
    }

    fn seal(&mut self, at: Timestamp) {
        let sending_time = self.stamp.format(at, Precision::Millis);
        self.outbox
            .seal(0, &self.header, self.next_out, sending_time);
        self.next_out += 1;
    }

    /// Writes any message except an order.
    pub(crate) fn message(
        &mut self,
        msg_type: &[u8],
        at: Timestamp,
        fields: impl FnOnce(&mut fixwire_protocol::Body<'_>),
    ) -> Result<&[u8], Error> {
        self.outbox.clear();
        let mut body = self.outbox.begin(SessionId(0), msg_type);
        fields(&mut body);
        body.finish().map_err(unwritten)?;
        self.seal(at);
        Ok(self.sealed())
    }

    /// A Logon; with ResetSeqNumFlag=Y if `resets`.
    pub(crate) fn log_on(
        &mut self,
        at: Timestamp,
        heart_bt_int_seconds: u32,
        resets: bool,
    ) -> Result<&[u8], Error> {
        self.message(b"A", at, |body| {
            body.uint(tag::ENCRYPT_METHOD, 0)
                .uint(tag::HEART_BT_INT, heart_bt_int_seconds.into());
            if resets {
                body.char(tag::RESET_SEQ_NUM_FLAG, b'Y');
            }
        })
    }

    /// A Logon, and a gap fill that sets the next MsgSeqNum to `next`.
    pub(crate) fn log_on_and_fill(&mut self, at: Timestamp, next: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = self.log_on(at, 0, false)?.to_vec();
        let gap_fill = self.message(b"4", at, |body| {
            body.char(tag::GAP_FILL_FLAG, b'Y')
                .uint(tag::NEW_SEQ_NO, next);
        })?;
        bytes.extend_from_slice(gap_fill);
        self.next_out = next;
        Ok(bytes)
    }

    /// Writes the next order; [`sealed`](Self::sealed) returns its bytes.
    pub(crate) fn order(&mut self, cl_ord_id: u64, at: Timestamp) -> Result<(), BodyError> {
        self.outbox.clear();
        self.orders
            .write(&mut self.outbox, SessionId(0), cl_ord_id, at)?;
        self.seal(at);
        Ok(())
    }

    /// The bytes of the message written last.
    pub(crate) fn sealed(&self) -> &[u8] {
        self.outbox.sealed(0)
    }

    /// Discards the prepared order.
    fn withdraw(&mut self) {
        if !self.outbox.is_empty() {
            self.outbox.clear();
            self.next_out -= 1;
        }
    }
}

pub(crate) fn unwritten(error: BodyError) -> Error {
    Error::Session(format!("a message cannot be written: {error}"))
}

/// The expected answers.
struct Answers {
    msg_type: &'static [u8],
    begin_string: &'static str,
    sender: String,
    target: String,
    dictionary: Dictionary,
    /// The last answer; it is validated after the run, when nothing is timed.
    last: Vec<u8>,
    /// MsgSeqNum of the next message.
    next_in: u64,
}

impl Answers {
    /// Expects messages of this type on this session, after the Logon.
    fn new(config: &PairConfig, session: usize, msg_type: &'static [u8]) -> Self {
        let (begin_string, target, sender) = config.names(session);
        Self {
            msg_type,
            begin_string: begin_string.as_str(),
            sender,
            target,
            dictionary: Dictionary::built_in(config.sessions[session]),
            last: Vec::with_capacity(MOST),
            next_in: 2,
        }
    }

    /// ClOrdID of the order that a message answers; `None` for other messages.
    fn cl_ord_id(&self, message: &Message<'_>) -> Option<u64> {
        let is_answer = self.is_numbered(message)
            && message.msg_type() == self.msg_type
            && message.begin_string() == self.begin_string.as_bytes()
            && message.get(tag::SENDER_COMP_ID) == Some(self.sender.as_bytes())
            && message.get(tag::TARGET_COMP_ID) == Some(self.target.as_bytes());
        message.uint(tag::CL_ORD_ID).filter(|_| is_answer)?.ok()
    }

    fn is_numbered(&self, message: &Message<'_>) -> bool {
        message.uint(tag::MSG_SEQ_NUM) == Some(Ok(self.next_in))
    }

    /// Processes each complete message in `bytes` and returns their length. `take` gets the index of the order that a
    /// message belongs to, and returns whether that order exists.
    fn read(
        &mut self,
        bytes: &[u8],
        decoder: &mut Decoder,
        first: u64,
        load: &mut Load,
        mut take: impl FnMut(usize, &Message<'_>, &mut Load) -> bool,
    ) -> usize {
        let mut done = 0;
        loop {
            match frame::next(&bytes[done..], MOST) {
                Frame::Whole { skip, len } => {
                    let message = &bytes[done + skip..done + skip + len];
                    let message = decoder.decode(message);
                    let id = self.cl_ord_id(&message).filter(|_| skip == 0);
                    let place = id.and_then(|id| id.checked_sub(first));
                    if place.is_some_and(|place| take(place as usize, &message, load)) {
                        self.last.clear();
                        self.last.extend_from_slice(message.bytes());
                    } else if !(self.is_numbered(&message) && message.msg_type() == HEARTBEAT) {
                        load.wrong();
                    }
                    // A wrong MsgSeqNum counts as one fault; the check continues from that number.
                    let number = message.uint(tag::MSG_SEQ_NUM).and_then(Result::ok);
                    self.next_in = number.unwrap_or(self.next_in).wrapping_add(1);
                    done += skip + len;
                }
                Frame::Partial { .. } => return done,
                Frame::Garbled { skip, .. } => {
                    load.wrong();
                    done += skip;
                }
                Frame::TooLarge { .. } => {
                    load.wrong();
                    return bytes.len();
                }
            }
        }
    }

    /// Checks that the last answer is valid in its FIX version.
    fn check_last(&self, decoder: &mut Decoder) -> Result<(), Error> {
        if self.last.is_empty() {
            return Ok(());
        }
        let message = decoder.decode(&self.last);
        let (rules, mut scratch) = (
            validate::ValidationRules::default(),
            validate::Scratch::default(),
        );
        validate::check(&self.dictionary, &message, &rules, &mut scratch).map_err(|fault| {
            let shown = String::from_utf8_lossy(&self.last).replace('\x01', "|");
            Error::Session(format!("an answer is not valid: {fault:?} in {shown}"))
        })
    }
}

/// The orders of one run and their answers. An order is identified by its index in the run.
struct Orders<'a> {
    writer: &'a mut Writer,
    decoder: &'a mut Decoder,
    clock: Clock,
    /// ClOrdID of the first order.
    first: u64,
    /// When each order was due.
    intended: Vec<u64>,
    answers: &'a mut Answers,
    venue: Option<Venue<'a>>,
}

/// The venue's side of a run.
struct Venue<'a> {
    writer: &'a mut Writer,
    version: Version,
    /// When each order arrived; 0 for an order that has not arrived.
    arrived: Vec<u64>,
    /// Reports to send.
    unsent: Vec<u8>,
    reports: &'a mut Answers,
}

impl Venue<'_> {
    /// Fills the order with this index, which has arrived.
    fn fill(&mut self, order: &Message<'_>, place: usize, now: u64, at: Timestamp) {
        let id = order.get(tag::CL_ORD_ID).unwrap_or_default();
        let is_old = self.version < Version::Fix43;
        let report = self.writer.message(EXECUTION_REPORT, at, |body| {
            body.field(tag::ORDER_ID, id)
                .field(tag::EXEC_ID, id)
                .field(tag::CL_ORD_ID, id);
            if is_old {
                body.char(tag::EXEC_TRANS_TYPE, b'0');
            }
            body.char(tag::EXEC_TYPE, if is_old { b'2' } else { b'F' })
                .char(tag::ORD_STATUS, b'2')
                .field(tag::SYMBOL, b"LCOM1")
                .char(tag::SIDE, b'1')
                .uint(tag::LAST_QTY, 1)
                .uint(tag::LAST_PX, 200)
                .uint(tag::LEAVES_QTY, 0)
                .uint(tag::CUM_QTY, 1)
                .uint(tag::AVG_PX, 200);
        });
        let report = report.expect("a report fits an outbox of its own");
        self.unsent.extend_from_slice(report);
        let places = self.arrived.len().max(place + 1);
        self.arrived.resize(places, 0);
        self.arrived[place] = now;
    }
}

impl Speech for Orders<'_> {
    fn order(&mut self, intended: u64, output: &mut Vec<u8>) {
        if self.writer.outbox.is_empty() {
            self.prepare(intended);
        }
        output.extend_from_slice(self.writer.sealed());
        self.writer.outbox.clear();
        self.intended.push(intended);
    }

    fn prepare(&mut self, now: u64) {
        let at = Timestamp(self.clock.to_wall(now) as i64);
        let cl_ord_id = self.first + self.intended.len() as u64;
        self.writer
            .order(cl_ord_id, at)
            .expect("an order fits an outbox of its own");
    }

    fn answers(&mut self, bytes: &[u8], now: u64, load: &mut Load) -> usize {
        let Self {
            decoder,
            clock,
            first,
            intended,
            answers,
            venue,
            ..
        } = self;
        answers.read(bytes, decoder, *first, load, |place, message, load| {
            match (intended.get(place), venue.as_mut()) {
                (Some(_), Some(venue)) => {
                    let at = Timestamp(clock.to_wall(now) as i64);
                    venue.fill(message, place, now, at);
                }
                (Some(intended), None) => load.answered(*intended, now),
                (None, _) => return false,
            }
            true
        })
    }

    fn is_reported(&self) -> bool {
        self.venue.is_some()
    }

    fn report(&mut self, output: &mut Vec<u8>) {
        if let Some(venue) = &mut self.venue {
            output.append(&mut venue.unsent);
        }
    }

    fn reports(&mut self, bytes: &[u8], load: &mut Load) -> usize {
        let Self {
            decoder,
            first,
            intended,
            venue,
            ..
        } = self;
        let Some(Venue {
            reports, arrived, ..
        }) = venue
        else {
            return 0;
        };
        reports.read(bytes, decoder, *first, load, |place, _, load| {
            let arrived = arrived.get(place).filter(|arrived| **arrived > 0);
            let (Some(intended), Some(arrived)) = (intended.get(place), arrived) else {
                return false;
            };
            load.answered(*intended, *arrived);
            true
        })
    }
}
