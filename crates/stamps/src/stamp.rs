//! A stamp, and the buffer between the host that records stamps and the thread that reads them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The longest ClOrdID(11) of a stamp; longer ones are cut.
const MAX_ID: usize = 40;
/// Maximum number of waiting stamps. Further stamps are only counted, as lost.
const MOST_KEPT: usize = 4 << 20;

/// First state of a request or a report.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum FirstState {
    /// The request was sent to a venue.
    Sending,
    /// The request was queued.
    #[default]
    Queuing,
    /// The OMS rejected it.
    Rejected,
    /// Rejected by the session or refused by the application.
    Abandoned,
    /// A venue report that was reported to the client.
    Reported,
    /// A venue report that was not reported to the client.
    Kept,
}

impl FirstState {
    /// States of requests.
    pub const OF_REQUESTS: [Self; 4] = [
        Self::Abandoned,
        Self::Rejected,
        Self::Sending,
        Self::Queuing,
    ];
    /// States of reports.
    pub const OF_REPORTS: [Self; 2] = [Self::Reported, Self::Kept];

    /// The state with this name; `None` for an unknown name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        let mut all = Self::OF_REQUESTS.into_iter().chain(Self::OF_REPORTS);
        all.find(|it| it.name() == name)
    }

    /// Name of the state in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sending => "Sending",
            Self::Queuing => "Queuing",
            Self::Rejected => "Rejected",
            Self::Abandoned => "Abandoned",
            Self::Reported => "Reported",
            Self::Kept => "Kept",
        }
    }
}

/// A message and its times, in nanoseconds since 1970; 0 for a missing time.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    /// MsgType(35): `D`, `F` or `G` of a client; `8` or `9` of a venue, for which the times T1 and T2 are called T3 and
    /// T4. Over TMP, `8` stands for R02, R32, R22, or R03 of an order, and `9` for R03 of a change or cancel.
    pub kind: u8,
    /// Order number of the OMS; 0 if unknown.
    pub order: u64,
    /// First state of the request or report.
    pub state: FirstState,
    id: [u8; MAX_ID],
    id_len: u8,
    /// T0: the client sent the message.
    pub sent: u64,
    /// T1: the read that had the last byte of the message returned.
    pub read: u64,
    /// T1: the OMS was free to process the message, because it had finished the message before it or there was none.
    pub found: u64,
    /// T2: the record of the message is committed.
    pub journalled: u64,
    /// T2: the resulting messages are written.
    pub written: u64,
}

impl Stamp {
    /// A stamp of this ClOrdID(11), without times.
    #[must_use]
    pub fn new(kind: u8, id: &[u8], state: FirstState) -> Self {
        let len = id.len().min(MAX_ID);
        let mut text = [0; MAX_ID];
        text[..len].copy_from_slice(&id[..len]);
        Self {
            kind,
            order: 0,
            state,
            id: text,
            id_len: len as u8,
            sent: 0,
            read: 0,
            found: 0,
            journalled: 0,
            written: 0,
        }
    }

    /// ClOrdID(11).
    #[must_use]
    pub fn id(&self) -> &[u8] {
        &self.id[..usize::from(self.id_len)]
    }

    /// Whether the stamp belongs to a venue report.
    #[must_use]
    pub fn is_report(&self) -> bool {
        matches!(self.kind, b'8' | b'9')
    }
}

/// Buffer of the stamps of a host, for the reader.
#[derive(Debug, Default)]
pub struct Stamps {
    off: AtomicBool,
    kept: Mutex<(Vec<Stamp>, u64)>,
}

impl Stamps {
    /// Switches recording off or on; only while no message is being processed.
    pub fn switch(&self, on: bool) {
        self.off.store(!on, Ordering::Release);
    }

    #[inline]
    pub(crate) fn is_off(&self) -> bool {
        self.off.load(Ordering::Relaxed)
    }

    /// Takes the stamps; returns the number of stamps lost since the last call. The host passes its stamps on when it
    /// is idle.
    pub fn take(&self, into: &mut Vec<Stamp>) -> u64 {
        let Ok(mut kept) = self.kept.lock() else {
            return 0;
        };
        into.append(&mut kept.0);
        std::mem::take(&mut kept.1)
    }

    pub(crate) fn keep(&self, stamps: &mut Vec<Stamp>) {
        if let Ok(mut kept) = self.kept.lock() {
            if kept.0.len() + stamps.len() <= MOST_KEPT {
                kept.0.append(stamps);
            } else {
                kept.1 += stamps.len() as u64;
            }
        }
        stamps.clear();
    }
}
