//! The venue of a measured OMS: the simulated exchange, or bare sockets that accept every order.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use fixwire_protocol::{Decoder, Frame, Message, Timestamp, frame, tag};
use fixwire_stamps::clock::Clock;
use fixwire_tmp::LinkNow;

use crate::error::{Error, engine_error};
use crate::oms::parts::{LineProtocol, Sim, address, sim, venue_writer};
use crate::oms::rig::ended;
use crate::oms::tmp_venue::TmpVenue;
use crate::sockets::arena::pin;
use crate::sockets::fix_client::Writer;
use crate::sockets::pipe::{MOST, Pipe};

/// The venue of the OMS.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Behind {
    /// Bare sockets that accept each order, replace and cancel at once, so that only the OMS is measured.
    Sockets,
    /// The simulated exchange with its books.
    Exchange,
}

/// A venue that accepts every request.
pub(crate) struct BareVenue {
    listener: TcpListener,
    pipe: Option<Pipe>,
    desk: Desk,
    clock: Clock,
}

/// Reads messages and answers them, in FIX or TMP.
enum Desk {
    Fix(FixDesk),
    Tmp(TmpVenue),
}

struct FixDesk {
    writer: Writer,
    decoder: Decoder,
    reports: u64,
}

impl BareVenue {
    fn start(folder: &Path, clock: Clock, lines: LineProtocol) -> Result<Self, Error> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        Ok(Self {
            listener: listener.map_err(Error::system("listen on loopback"))?,
            pipe: None,
            desk: match lines {
                LineProtocol::Fix => Desk::Fix(FixDesk {
                    writer: venue_writer(folder),
                    decoder: Decoder::with_capacity(64),
                    reports: 0,
                }),
                LineProtocol::Tmp => Desk::Tmp(TmpVenue::new()),
            },
            clock,
        })
    }

    /// Answers all received messages with one write; returns the number of messages.
    fn turn(&mut self) -> Result<usize, Error> {
        let Some(mut pipe) = self.pipe.take() else {
            match self.listener.accept() {
                Ok((socket, _)) => {
                    let pipe = Pipe::new(socket, true);
                    self.pipe = Some(pipe.map_err(Error::system("take a connection"))?);
                    if let Desk::Tmp(venue) = &mut self.desk {
                        venue.connected(link_now(&self.clock));
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(Error::system("take a connection")(error)),
            }
            return Ok(0);
        };
        // A closed connection is the normal end of a measurement.
        if pipe.read(false).is_err() {
            return Ok(0);
        }
        let count = match &mut self.desk {
            Desk::Fix(desk) => desk.answer_all(&mut pipe, &self.clock)?,
            Desk::Tmp(venue) => {
                let mut answers = std::mem::take(&mut pipe.output);
                let now = || link_now(&self.clock);
                let (count, len) = venue.answer_all(now, pipe.unread(), &mut answers)?;
                pipe.output = answers;
                pipe.consume(len);
                count
            }
        };
        if pipe.flush().is_ok() {
            self.pipe = Some(pipe);
        }
        Ok(count)
    }
}

impl FixDesk {
    /// Answers the complete messages received so far.
    fn answer_all(&mut self, pipe: &mut Pipe, clock: &Clock) -> Result<usize, Error> {
        let mut count = 0;
        while let Frame::Whole { skip, len } = frame::next_unsummed(pipe.unread(), MOST) {
            let now = Timestamp(clock.to_wall(clock.now()) as i64);
            let message = self.decoder.decode(&pipe.unread()[skip..skip + len]);
            if let Some(bytes) = answer(&mut self.writer, &message, now, &mut self.reports)? {
                pipe.output.extend_from_slice(bytes);
            }
            pipe.consume(skip + len);
            count += 1;
        }
        Ok(count)
    }
}

fn link_now(clock: &Clock) -> LinkNow {
    let mono_ns = clock.now();
    LinkNow {
        mono_ns,
        wall_ns: clock.to_wall(mono_ns),
    }
}

fn answer<'a>(
    writer: &'a mut Writer,
    message: &Message<'_>,
    now: Timestamp,
    reports: &mut u64,
) -> Result<Option<&'a [u8]>, Error> {
    let (exec_type, status) = match message.msg_type() {
        b"D" => (b'0', b'0'),
        b"G" => (b'5', b'0'),
        b"F" => (b'4', b'4'),
        b"A" => {
            let resets = message.get(tag::RESET_SEQ_NUM_FLAG) == Some(b"Y");
            return writer.log_on(now, 0, resets).map(Some);
        }
        b"5" => return writer.message(b"5", now, |_| ()).map(Some),
        _ => return Ok(None),
    };
    *reports += 1;
    let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
    // The OMS sends a replace or cancel with an id that begins with the order's id.
    let order = id.split(|byte| *byte == b'-').next().unwrap_or_default();
    let quantity = message.get(tag::ORDER_QTY).unwrap_or_default();
    let report = writer.message(b"8", now, |body| {
        body.field(tag::ORDER_ID, order)
            .field(tag::CL_ORD_ID, id)
            .uint(tag::EXEC_ID, *reports)
            .char(tag::EXEC_TYPE, exec_type)
            .char(tag::ORD_STATUS, status)
            .field(tag::SYMBOL, message.get(tag::SYMBOL).unwrap_or_default())
            .field(tag::SIDE, message.get(tag::SIDE).unwrap_or_default())
            .field(tag::ORDER_QTY, quantity)
            .field(
                tag::LEAVES_QTY,
                if status == b'4' { b"0" } else { quantity },
            )
            .uint(tag::CUM_QTY, 0)
            .uint(tag::AVG_PX, 0);
    });
    report.map(Some)
}

/// A venue of either kind.
enum Venue {
    Sockets(Box<BareVenue>),
    Exchange(Box<Sim>),
}

impl Venue {
    fn start(
        (behind, lines): (Behind, LineProtocol),
        folder: &Path,
        clock: Clock,
    ) -> Result<Self, Error> {
        Ok(match behind {
            Behind::Sockets => Self::Sockets(Box::new(BareVenue::start(folder, clock, lines)?)),
            Behind::Exchange => Self::Exchange(Box::new(sim(folder, lines)?)),
        })
    }

    fn address(&self) -> Result<SocketAddr, Error> {
        match self {
            Self::Sockets(venue) => {
                let address = venue.listener.local_addr();
                address.map_err(Error::system("find the port of the venue"))
            }
            Self::Exchange(exchange) => address(exchange),
        }
    }

    fn turn(&mut self) -> Result<usize, Error> {
        match self {
            Self::Sockets(venue) => venue.turn(),
            Self::Exchange(exchange) => exchange.turn().map_err(engine_error),
        }
    }
}

/// The thread of the venue, or the venue itself when it has no thread.
pub(crate) struct Turns(Carrier);

enum Carrier {
    /// The client's thread.
    Here(Venue),
    /// The venue runs on a thread of its own until it is stopped.
    Away(Arc<AtomicBool>, JoinHandle<Result<(), Error>>),
}

impl Turns {
    /// Starts the venue, on a thread of its own when there is a core for it.
    pub(crate) fn start(
        behind: (Behind, LineProtocol),
        folder: &Path,
        clock: Clock,
        core: Option<usize>,
    ) -> Result<(Self, SocketAddr), Error> {
        let Some(core) = core else {
            let venue = Venue::start(behind, folder, clock)?;
            let at = venue.address()?;
            return Ok((Self(Carrier::Here(venue)), at));
        };
        let ends = Arc::new(AtomicBool::new(false));
        let (sender, listening) = channel();
        let thread = std::thread::Builder::new().name("venue".to_owned());
        let thread = thread.spawn({
            let (folder, ends) = (folder.to_owned(), Arc::clone(&ends));
            move || {
                let mut venue = Venue::start(behind, &folder, clock)?;
                // There is no receiver only if the near end has failed.
                let _ = sender.send(venue.address()?);
                let _pinned = pin(Some(core))?;
                while !ends.load(Ordering::Relaxed) {
                    venue.turn()?;
                }
                Ok(())
            }
        });
        let thread = thread.map_err(Error::system("start a thread"))?;
        match listening.recv() {
            Ok(at) => Ok((Self(Carrier::Away(ends, thread)), at)),
            Err(_) => Err(ended(thread, "venue")),
        }
    }

    /// Number of messages handled.
    pub(crate) fn turn(&mut self) -> Result<usize, Error> {
        match &mut self.0 {
            Carrier::Here(venue) => venue.turn(),
            Carrier::Away(..) => Ok(0),
        }
    }

    /// Stops the venue's thread.
    pub(crate) fn stop(self) -> Result<(), Error> {
        match self.0 {
            Carrier::Here(_) => Ok(()),
            Carrier::Away(ends, thread) => {
                ends.store(true, Ordering::Relaxed);
                thread.join().unwrap_or(Err(Error::Thread("venue")))
            }
        }
    }
}
