//! Messages of a network capture.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

use fixwire_protocol::Timestamp;

use crate::blocks::{Block, Blocks, Unreadable};
use crate::entry::{Hints, LogEntry, LogPlace, TimeSource};
use crate::feed::{Fed, Feed};
use crate::input::{LogInput, Step};
use crate::left_out::{LeftOut, LeftOuts};
use crate::packet::{self, TcpSegment};
use crate::tcp::{FlowStep, TcpFlow};

/// Maximum number of flows (directions of TCP connections) at a time.
const MOST_FLOWS: usize = 4096;
/// Approximate maximum number of bytes that all flows hold in memory.
const MOST_HELD: usize = 64 << 20;

/// A capture file, or the output of tcpdump in a pipe.
pub(crate) struct CaptureInput {
    file: String,
    hints: Hints,
    feed: Box<dyn Feed>,
    blocks: Blocks,
    ended: bool,
    flows: Flows,
    packed: &'static str,
}

/// All flows: the directions of TCP connections.
#[derive(Default)]
struct Flows {
    known: HashMap<(SocketAddr, SocketAddr), u64>,
    all: HashMap<u64, TcpFlow>,
    next_id: u64,
    /// Directions that may have further messages.
    due: VecDeque<u64>,
    /// The direction of the message that was found.
    current: u64,
    /// Number of bytes that all directions hold in memory.
    held: usize,
}

impl Flows {
    fn add(&mut self, segment: &TcpSegment<'_>, time: Timestamp, packet: u64) {
        if let Some(ack) = segment.ack
            && let Some(peer) = self.known.get(&(segment.to, segment.from))
            && let Some(peer) = self.all.get_mut(peer)
        {
            peer.confirm(ack);
        }
        if segment.carried == 0 && !segment.syn && !segment.fin {
            return;
        }
        let ends = (segment.from, segment.to);
        let known = self.known.get(&ends).copied();
        let is_other = |id: &u64| self.all.get(id).is_none_or(|flow| flow.is_other(segment));
        if let Some(id) = known.filter(is_other) {
            self.close(id);
        }
        let id = match self.known.get(&ends) {
            Some(id) => *id,
            None => {
                self.make_room();
                let id = self.next_id;
                self.next_id += 1;
                let flow = TcpFlow::new(segment);
                self.held += flow.held();
                self.all.insert(id, flow);
                self.known.insert(ends, id);
                id
            }
        };
        if let Some(flow) = self.all.get_mut(&id) {
            let before = flow.held();
            flow.add(segment, time, packet);
            self.held = self.held + flow.held() - before;
            self.due.push_back(id);
        }
        if self.held > MOST_HELD {
            self.relieve();
        }
    }

    /// When there are too many directions, closes the one that has been silent for the longest time.
    fn make_room(&mut self) {
        if self.known.len() < MOST_FLOWS {
            return;
        }
        let quiet = self
            .known
            .values()
            .min_by_key(|id| self.all.get(id).map(|it| it.last_packet));
        if let Some(id) = quiet.copied() {
            self.close(id);
        }
    }

    /// Takes the direction that holds the most bytes, and gives up waiting for its missing bytes.
    fn relieve(&mut self) {
        let most = self.all.iter_mut().max_by_key(|(_, flow)| flow.held());
        if let Some((id, flow)) = most {
            flow.hurry();
            self.due.push_back(*id);
        }
    }

    /// Closes a direction: no further segments are added to it.
    fn close(&mut self, id: u64) {
        self.known.retain(|_, known| *known != id);
        if let Some(flow) = self.all.get_mut(&id) {
            flow.close();
            self.due.push_back(id);
        }
    }

    fn close_all(&mut self) {
        let mut ids: Vec<u64> = self.all.keys().copied().collect();
        ids.sort_unstable();
        ids.into_iter().for_each(|id| self.close(id));
    }

    /// Advances to the next message; returns whether there is one.
    fn advance(&mut self, file: &str, left_out: &mut LeftOuts) -> bool {
        while let Some(&id) = self.due.front() {
            let Some(flow) = self.all.get_mut(&id) else {
                self.due.pop_front();
                continue;
            };
            let before = flow.held();
            let step = flow.next();
            self.held = self.held + flow.held() - before;
            match step {
                FlowStep::Message => {
                    self.current = id;
                    return true;
                }
                FlowStep::LeftOut(what) => left_out.push(LeftOut {
                    file: file.to_owned(),
                    ..what
                }),
                FlowStep::More => {
                    self.due.pop_front();
                    if flow.closed {
                        self.held -= flow.held();
                        self.all.remove(&id);
                    }
                }
            }
        }
        false
    }
}

impl CaptureInput {
    pub(crate) fn new(
        file: String,
        hints: Hints,
        feed: Box<dyn Feed>,
        packed: &'static str,
    ) -> Self {
        Self {
            file,
            hints,
            feed,
            blocks: Blocks::default(),
            ended: false,
            flows: Flows::default(),
            packed,
        }
    }

    /// Processes the next packet, or reads more bytes. Returns a step when nothing is available.
    fn go_on(&mut self, left_out: &mut LeftOuts) -> Option<Step> {
        match self.blocks.next(self.ended) {
            Ok(Some(Block::Packet { link, time, number })) => {
                let data = self.blocks.data();
                if let Some(segment) = packet::segment(link, data) {
                    self.flows.add(&segment, time, number);
                }
            }
            Ok(Some(Block::Other)) => {}
            Ok(None) if self.ended => return Some(Step::End),
            Ok(None) => return self.read(left_out),
            Err(Unreadable { at, len, why }) => {
                left_out.push(LeftOut::bytes(&self.file, at, len, why));
                self.ended |= len.is_none();
            }
        }
        None
    }

    fn read(&mut self, left_out: &mut LeftOuts) -> Option<Step> {
        match self.feed.feed(self.blocks.room()) {
            Ok(Fed::Bytes(len)) => self.blocks.filled(len),
            Ok(Fed::Wait) => return Some(Step::Wait),
            Ok(Fed::End) => self.ended = true,
            Ok(Fed::Hole(_) | Fed::Restart(_)) => {
                let why = "the capture was replaced or has a hole: the rest is not read";
                left_out.push(LeftOut::bytes(&self.file, self.blocks.place(), None, why));
                self.blocks.stop();
                self.ended = true;
            }
            Err(error) => {
                let (at, why) = (self.blocks.place(), format!("{}{error}", self.packed));
                left_out.push(LeftOut::bytes(&self.file, at, None, why));
                self.blocks.stop();
                self.ended = true;
            }
        }
        None
    }
}

impl LogInput for CaptureInput {
    fn advance(&mut self, left_out: &mut LeftOuts) -> Step {
        loop {
            if self.flows.advance(&self.file, left_out) {
                return Step::Message;
            }
            match self.go_on(left_out) {
                Some(Step::End) if !self.flows.all.is_empty() => self.flows.close_all(),
                Some(step) => return step,
                None => {}
            }
        }
    }

    fn entry(&self) -> LogEntry<'_> {
        let flow = &self.flows.all[&self.flows.current];
        let (time, packet) = flow.completed;
        LogEntry {
            file: &self.file,
            place: LogPlace::Packet { packet },
            bytes: flow.message(),
            fault: flow.fault(),
            journal_session: None,
            mark: "",
            known_direction: None,
            known_time: Some((time, TimeSource::Capture)),
            prefix: b"",
            hints: &self.hints,
            record: None,
        }
    }
}
