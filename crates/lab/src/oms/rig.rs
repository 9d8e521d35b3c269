//! An OMS between a client and a venue: the OMS has its own thread on its own core; all connections are TCP over
//! loopback.
//!
//! The client uses bare sockets with FIX 4.2; the venue uses FIX 4.4 or TMP. With two cores, client and venue share a
//! thread. With three or more, each has a thread of its own.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fixwire::{Connection, Engine, Handle, Wait};
use fixwire_protocol::{Decoder, Frame, Message, Timestamp, frame, tag};
use fixwire_stamps::clock::Clock;
use fixwire_stamps::{StampingHost, Stamps};

use crate::error::{Error, engine_error};
use crate::machine;
pub use crate::oms::parts::{ChangeTarget, LineProtocol, LoadRequest};
use crate::oms::parts::{
    FIRST_ID, OrderFlow, address, client_writer, exec_type, oms, oms_settings, write_request,
};
pub use crate::oms::venue::Behind;
use crate::oms::venue::Turns;
use crate::sockets::arena::{Arena, PATIENCE};
use crate::sockets::fix_client::Writer;
use crate::sockets::pipe::{MOST, Pipe, broken};

/// Name of the thread of the OMS.
pub const OMS_THREAD: &str = "oms";
/// Number of orders per write when orders are not paced.
const BURST: usize = 8;

/// Settings of a rig.
#[derive(Clone, Debug)]
pub struct RigConfig {
    /// How the OMS waits for data.
    pub wait: Wait,
    /// The venue to which the OMS sends orders.
    pub behind: Behind,
    /// Protocol of the line to the venue.
    pub lines: LineProtocol,
    /// Cores of the OMS, the client and the venue. With two cores, client and venue share the second. `None` pins no
    /// thread.
    pub cores: Option<Vec<usize>>,
    /// Number of open orders for which memory is allocated at the start.
    pub orders: usize,
    /// Number of stamps of a run for which memory is allocated.
    pub stamps: usize,
}

impl RigConfig {
    /// Placement of the threads.
    #[must_use]
    pub fn place(&self) -> &'static str {
        match self.cores.as_deref() {
            None => "no thread pinned, client and venue alternate in one thread",
            Some([_, _, _, ..]) => "OMS, client and venue each pinned to a core",
            Some(_) => {
                "OMS pinned to one core, client and venue alternate in one thread on the other"
            }
        }
    }
}

/// The cores for a rig: the first three available ones, or two when only two are available. `None` with fewer than
/// two.
#[must_use]
pub fn cores() -> Option<Vec<usize>> {
    let allowed = machine::allowed_cores();
    match allowed.len() {
        0 | 1 => None,
        2 => Some(allowed),
        _ => Some(allowed[..3].to_vec()),
    }
}

/// The error with which a thread ended.
pub(crate) fn ended(thread: JoinHandle<Result<(), Error>>, name: &'static str) -> Error {
    match thread.join() {
        Ok(Err(error)) => error,
        _ => Error::Thread(name),
    }
}

/// Pace of requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Leave {
    /// Requests leave as fast as the session accepts them, several per write, with at most this number unanswered.
    Within(usize),
    /// One request per interval of this many nanoseconds, each in a write of its own.
    Each(u64),
}

/// The result of one run. Times are nanoseconds since 1970.
#[derive(Clone, Debug, Default)]
pub struct RigRun {
    /// T0 of each request: when the client sent it.
    pub sent: Vec<u64>,
    /// T4 of each request: when the client read its report.
    pub answered: Vec<u64>,
    /// How late each paced request was sent, because the client could not send it when it was due.
    pub late: Vec<u64>,
    /// Nanoseconds in which the client had work; and in which the venue had work, when the venue runs on the client's
    /// thread.
    pub work: [u64; 2],
}

impl RigRun {
    /// From the first T0 to the last T4, nanoseconds.
    #[must_use]
    pub fn span(&self) -> u64 {
        match (self.sent.first(), self.answered.last()) {
            (Some(first), Some(last)) => last.saturating_sub(*first),
            _ => 0,
        }
    }
}

/// An OMS with a client and a venue, logged on.
pub struct Rig {
    pipe: Pipe,
    writer: Writer,
    decoder: Decoder,
    clock: Clock,
    venue: Turns,
    lines: LineProtocol,
    oms: Option<JoinHandle<Result<(), Error>>>,
    handle: Handle,
    /// Stamps of the OMS.
    pub stamps: Arc<Stamps>,
    /// Number of requests so far.
    pub requests: u64,
    alone: bool,
}

impl Rig {
    /// Starts OMS, client and venue, with journals in this folder. The calling thread becomes the client's thread;
    /// the caller pins it.
    ///
    /// # Errors
    ///
    /// A part did not start, or is not logged on in time.
    pub fn start(config: &RigConfig, folder: &Path) -> Result<Self, Error> {
        let clock = Clock::start();
        let core = |at: usize| config.cores.as_ref().and_then(|it| it.get(at).copied());
        let (mut venue, venue_at) =
            Turns::start((config.behind, config.lines), folder, clock, core(2))?;
        let stamps = Arc::new(Stamps::default());
        let (sender, started) = channel();
        let oms_thread = std::thread::Builder::new().name(OMS_THREAD.to_owned());
        let oms_thread = oms_thread.spawn({
            let (config, folder, stamps) = (config.clone(), folder.to_owned(), stamps.clone());
            let core = core(0);
            move || serve(&config, &folder, core, venue_at, (clock, stamps), &sender)
        });
        let oms_thread = oms_thread.map_err(Error::system("start a thread"))?;
        let Ok((handle, listening)) = started.recv() else {
            return Err(ended(oms_thread, "OMS"));
        };
        venue.turn()?;
        let pipe = TcpStream::connect(listening).and_then(|socket| Pipe::new(socket, true));
        let mut rig = Self {
            pipe: pipe.map_err(Error::system("connect over loopback"))?,
            writer: client_writer(folder, OrderFlow::over(config.lines)),
            decoder: Decoder::with_capacity(64),
            clock,
            venue,
            lines: config.lines,
            oms: Some(oms_thread),
            handle,
            stamps,
            requests: 0,
            alone: machine::allowed_cores().len() == 1,
        };
        rig.log_on()?;
        Ok(rig)
    }

    fn wall(&self) -> u64 {
        self.clock.to_wall(self.clock.now())
    }

    fn log_on(&mut self) -> Result<(), Error> {
        let wall = Timestamp(self.wall() as i64);
        let logon = self.writer.log_on(wall, 0, true)?;
        self.pipe.output.extend_from_slice(logon);
        if self.answer()?.0 != b"A" {
            return Err(Error::Session("the Logon is not answered".to_owned()));
        }
        // Orders are rejected until the line to the venue is logged on.
        let start = Instant::now();
        loop {
            self.write(LoadRequest::New)?;
            let (kind, status) = self.answer()?;
            match (&kind[..], status) {
                (b"8", b'0') => return Ok(()),
                (b"8", b'8') if start.elapsed() < PATIENCE => {
                    self.rest(Duration::from_millis(5))?;
                }
                _ => return Err(Error::Session("no order is accepted".to_owned())),
            }
        }
    }

    /// Waits for one message; returns MsgType(35) and OrdStatus(39).
    fn answer(&mut self) -> Result<(Vec<u8>, u8), Error> {
        let (venue, alone) = (&mut self.venue, self.alone);
        let take = |message: &Message<'_>| {
            let status = message.get(tag::ORD_STATUS).and_then(<[u8]>::first);
            (message.msg_type().to_vec(), status.copied().unwrap_or(0))
        };
        self.pipe.exchange(&mut self.decoder, PATIENCE, take, || {
            venue.turn()?;
            Arena::pause(alone);
            Ok(true)
        })
    }

    /// Writes a request into the output buffer; returns T0.
    fn write(&mut self, request: LoadRequest) -> Result<u64, Error> {
        let now = self.wall();
        let number = self.requests;
        self.requests += 1;
        let at = Timestamp(now as i64);
        let request = (request, OrderFlow::over(self.lines));
        write_request(&mut self.writer, request, number, at, &mut self.pipe.output)?;
        Ok(now)
    }

    /// Sends these requests and waits until each has its report, in order.
    ///
    /// # Errors
    ///
    /// A connection or a thread ended, or the answer to a request is not its report.
    pub fn run(
        &mut self,
        requests: impl ExactSizeIterator<Item = LoadRequest>,
        leave: Leave,
    ) -> Result<RigRun, Error> {
        let count = requests.len();
        let base = self.requests;
        let mut requests = requests.peekable();
        let mut run = RigRun {
            sent: Vec::with_capacity(count),
            answered: Vec::with_capacity(count),
            late: Vec::new(),
            work: [0; 2],
        };
        let mut wanted = Vec::with_capacity(count);
        let start = self.clock.now();
        let mut alive = start;
        let mut mark = start;
        while run.answered.len() < count {
            let now = self.clock.now();
            let open = run.sent.len() - run.answered.len();
            let due = match leave {
                _ if !self.pipe.output.is_empty() => 0,
                Leave::Within(most) => BURST.min(most.saturating_sub(open)),
                Leave::Each(gap) => usize::from(now >= start + run.sent.len() as u64 * gap),
            };
            let sent = run.sent.len();
            for _ in 0..due {
                // A replace or cancel waits for the report on the request that it changes.
                let answered = base + run.answered.len() as u64;
                let is_ready = |it: &LoadRequest| it.original().is_none_or(|id| id < answered);
                let Some(request) = requests.next_if(is_ready) else {
                    break;
                };
                if let Leave::Each(gap) = leave {
                    let due = start + run.sent.len() as u64 * gap;
                    run.late.push(now.saturating_sub(due));
                }
                run.sent.push(self.write(request)?);
                wanted.push(exec_type(request));
            }
            self.pipe.flush().map_err(broken)?;
            let before = run.answered.len();
            if self.pipe.read(false).map_err(broken)? > 0 {
                let at = self.wall();
                self.reports(base, &wanted, at, &mut run)?;
                alive = now;
            }
            let spoke = run.sent.len() > sent || run.answered.len() > before;
            let after = self.clock.now();
            run.work[0] += if spoke { after - mark } else { 0 };
            let worked = self.venue.turn()? > 0;
            mark = self.clock.now();
            run.work[1] += if worked { mark - after } else { 0 };
            if !spoke && !worked {
                Arena::pause(self.alone);
                let is_waiting = open > 0 && now > alive + PATIENCE.as_nanos() as u64;
                if is_waiting || self.oms.as_ref().is_none_or(JoinHandle::is_finished) {
                    let what = format!("{} of {count} requests are answered", before);
                    return Err(Error::Session(what));
                }
            } else if spoke {
                alive = now;
            }
        }
        Ok(run)
    }

    /// Processes each complete report that was received.
    fn reports(
        &mut self,
        base: u64,
        wanted: &[u8],
        at: u64,
        run: &mut RigRun,
    ) -> Result<(), Error> {
        loop {
            let bytes = self.pipe.unread();
            let Frame::Whole { skip, len } = frame::next_unsummed(bytes, MOST) else {
                return Ok(());
            };
            let bytes = &bytes[skip..skip + len];
            let message = self.decoder.decode(bytes);
            let place = run.answered.len();
            let id = FIRST_ID + base + place as u64;
            let is_right = message.msg_type() == b"8"
                && message.uint(tag::CL_ORD_ID) == Some(Ok(id))
                && message.get(tag::EXEC_TYPE) == wanted.get(place..place + 1);
            if !is_right {
                let shown = String::from_utf8_lossy(bytes).replace('\x01', "|");
                return Err(Error::Session(format!(
                    "no report of request {id}: {shown}"
                )));
            }
            run.answered.push(at);
            self.pipe.consume(skip + len);
        }
    }

    /// Lets the venue work for this long.
    ///
    /// # Errors
    ///
    /// The venue failed.
    pub fn rest(&mut self, time: Duration) -> Result<(), Error> {
        let until = Instant::now() + time;
        while Instant::now() < until {
            self.venue.turn()?;
        }
        Ok(())
    }

    /// Ends all parts.
    ///
    /// # Errors
    ///
    /// The first error.
    pub fn stop(mut self) -> Result<(), Error> {
        let stopped = self.handle.stop();
        stopped.map_err(|error| Error::Engine(error.to_string()))?;
        let oms = self.oms.take();
        let start = Instant::now();
        while oms.as_ref().is_some_and(|it| !it.is_finished()) && start.elapsed() < PATIENCE {
            // The client logs out and receives an answer.
            self.venue.turn()?;
            if self.pipe.read(false).is_ok() {
                let count = self.pipe.unread().len();
                self.pipe.consume(count);
            }
        }
        if let Some(oms) = oms {
            oms.join().unwrap_or(Err(Error::Thread("OMS")))?;
        }
        self.venue.stop()
    }
}

/// The thread of the OMS.
fn serve(
    config: &RigConfig,
    folder: &Path,
    core: Option<usize>,
    venue_at: SocketAddr,
    (clock, stamps): (Clock, Arc<Stamps>),
    started: &Sender<(Handle, SocketAddr)>,
) -> Result<(), Error> {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let line = Connection::Initiator {
        hosts: vec![(venue_at.ip().to_string(), venue_at.port())],
        reconnect: vec![Duration::from_millis(100)],
        timeout: PATIENCE,
    };
    let flow = OrderFlow::over(config.lines);
    let mut settings = oms_settings(folder, Connection::Acceptor { listen }, line, flow);
    (settings.wait, settings.core) = (config.wait, core);
    let oms = oms(config.orders, flow)?;
    let room = config.stamps;
    let stamping = |os| StampingHost::new(os, clock, stamps, true, room);
    let mut engine = Engine::around(settings, oms, stamping).map_err(engine_error)?;
    // There is no receiver only if the near end has failed.
    let _ = started.send((engine.handle(), address(&engine)?));
    engine.run().map_err(engine_error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_stamps::{FirstState, Stamp};

    fn config(lines: LineProtocol, behind: Behind) -> RigConfig {
        RigConfig {
            wait: Wait::Block,
            behind,
            lines,
            cores: None,
            orders: 1000,
            stamps: 1000,
        }
    }

    /// Requests of this number of orders, each replaced and then cancelled.
    fn plan(first: u64, count: u64) -> Vec<LoadRequest> {
        (0..count)
            .map(|_| LoadRequest::New)
            .chain((0..count).map(|at| LoadRequest::Replace(ChangeTarget::of(first + at))))
            .chain((0..count).map(|at| {
                LoadRequest::Cancel(ChangeTarget {
                    order: first + at,
                    original: first + count + at,
                })
            }))
            .collect()
    }

    /// Each request comes to the venue and back, and has its stamps in their order.
    #[test]
    fn requests_are_answered_and_stamped() {
        for lines in [LineProtocol::Fix, LineProtocol::Tmp] {
            let folder = tempfile::tempdir().unwrap();
            let config = config(lines, Behind::Sockets);
            let mut rig = Rig::start(&config, folder.path()).unwrap();
            let mut stamps = Vec::new();
            rig.stamps.take(&mut stamps);
            stamps.clear();
            let first = rig.requests;
            let run = rig.run(plan(first, 100).into_iter(), Leave::Within(50));
            let run = run.unwrap();
            let shared = Arc::clone(&rig.stamps);
            rig.stop().unwrap();
            assert_eq!(shared.take(&mut stamps), 0);
            // Orders from before the line's logon have stamps, too.
            let id_of = |stamp: &Stamp| str::from_utf8(stamp.id()).unwrap().parse::<u64>();
            let is_of_run = |it: &&Stamp| match it.is_report() {
                true => it.read >= run.sent[0],
                false => id_of(it).unwrap() >= FIRST_ID + first,
            };
            let run_stamps = stamps.iter().filter(is_of_run);
            let (reports, requests): (Vec<&Stamp>, Vec<&Stamp>) =
                run_stamps.partition(|it| it.is_report());
            assert_eq!((requests.len(), reports.len()), (300, 300), "{lines:?}");
            for (place, (stamp, report)) in requests.iter().zip(&reports).enumerate() {
                let id = FIRST_ID + first + place as u64;
                assert_eq!(stamp.id(), id.to_string().as_bytes());
                assert_eq!(stamp.state, FirstState::Sending, "{lines:?}");
                assert_eq!((report.kind, report.state), (b'8', FirstState::Reported));
                assert!(report.order > 0 && report.order == stamp.order);
                let times = [
                    run.sent[place],
                    stamp.read,
                    stamp.found,
                    stamp.journalled,
                    stamp.written,
                    report.read,
                    report.found,
                    report.journalled,
                    report.written,
                ];
                assert!(times.is_sorted(), "{lines:?} {place}: {times:?}");
                assert!(report.journalled <= run.answered[place]);
            }
        }
    }

    /// A change waits for the report of what it changes, however few the requests.
    #[test]
    fn a_change_is_sent_when_its_order_is_answered() {
        for (lines, behind) in [
            (LineProtocol::Fix, Behind::Sockets),
            (LineProtocol::Fix, Behind::Exchange),
            (LineProtocol::Tmp, Behind::Sockets),
            (LineProtocol::Tmp, Behind::Exchange),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let mut rig = Rig::start(&config(lines, behind), folder.path()).unwrap();
            for count in [1, 3] {
                let plan = plan(rig.requests, count);
                let run = rig.run(plan.into_iter(), Leave::Within(512));
                let run = run.unwrap_or_else(|error| panic!("{lines:?}, {behind:?}: {error}"));
                for at in count as usize..3 * count as usize {
                    assert!(run.sent[at] >= run.answered[at - count as usize]);
                }
            }
            rig.stop().unwrap();
        }
    }
}
