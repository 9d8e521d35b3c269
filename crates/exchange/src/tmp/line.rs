//! A TMP line: the exchange's end of one link.

use alloc::format;
use alloc::string::{String, ToString};

use fixwire_protocol::framing::Framing;
use fixwire_protocol::{Hangup, Mono, Now};
use fixwire_tmp::{
    ApCode, ExchangeLinkSettings, FRAME_BYTES_LEAST, FRAME_BYTES_MOST, LinkEnd, LinkExchange,
    LinkNow, LinkNumbers,
};

/// A link of the engine over which a member speaks TMP.
#[derive(Clone, Debug)]
pub struct ExchangeTmpLine {
    /// The line's name. After a restart, its orders and MsgSeqNums are found by this name. No session may have the
    /// same name.
    pub name: String,
    /// Login, limits and heartbeats of the line.
    pub settings: ExchangeLinkSettings,
}

impl ExchangeTmpLine {
    /// The framing of TMP, for the engine's link. The engine does not verify checksums. The line verifies them, so
    /// that it can answer a wrong checksum with status 93, and so that a fault can send one.
    #[must_use]
    pub const fn framing() -> Framing {
        Framing::big_endian(0, 2)
            .adding(3)
            .within(FRAME_BYTES_LEAST, FRAME_BYTES_MOST)
    }
}

/// The state of a line while the exchange runs.
#[derive(Debug)]
pub(crate) struct TmpLine {
    pub(crate) name: String,
    pub(crate) settings: ExchangeLinkSettings,
    /// The link; `None` until its first use. The link begins with the MsgSeqNums in the notes.
    pub(crate) link: Option<LinkExchange>,
    /// CancelOrderSec of the last login: the exchange refuses requests that are older than this number of seconds,
    /// except cancels; 0 means no limit.
    pub(crate) cancel_order_sec: u8,
    /// The last warning, or the reason of the last disconnect.
    pub(crate) last: String,
    /// Why the exchange refused the member; for the event about the disconnect.
    pub(crate) refused: Option<&'static str>,
    /// The reason of a disconnect that waits because the outbox had no room for it.
    pub(crate) ending: Option<Hangup>,
    /// Arrival time of the last accepted R13.
    pub(crate) asked: Option<Mono>,
}

impl TmpLine {
    pub(crate) fn new(line: ExchangeTmpLine) -> Self {
        Self {
            name: line.name,
            settings: line.settings,
            link: None,
            cancel_order_sec: 0,
            last: String::new(),
            refused: None,
            ending: None,
            asked: None,
        }
    }

    /// Whether the line receives copies of reports. A line for copies sends no orders.
    pub(crate) fn gets_copies(&self) -> bool {
        let code = self.settings.ap_code;
        matches!(code, ApCode::DROP_COPY | ApCode::CLEARING_MEMBER)
    }

    /// The link. The first use of the link creates it, with these MsgSeqNums.
    pub(crate) fn link(&mut self, numbers: LinkNumbers) -> &mut LinkExchange {
        let settings = &self.settings;
        self.link
            .get_or_insert_with(|| LinkExchange::new(settings.clone(), numbers))
    }

    /// The link, if it was used since this process started.
    pub(crate) fn used(&mut self) -> Option<&mut LinkExchange> {
        self.link.as_mut()
    }

    /// Sets the link back to the MsgSeqNums in the notes, because the link may be ahead of them. The line's connection
    /// is about to close.
    pub(crate) fn rewind(&mut self, numbers: LinkNumbers) {
        if let Some(link) = &mut self.link {
            link.rewind(numbers);
        }
    }

    /// Resets the line after its connection closed.
    pub(crate) fn disconnect(&mut self) {
        self.ending = None;
        if let Some(link) = &mut self.link {
            link.on_disconnect();
        }
    }

    /// The state of the line as one line of text for operators.
    pub(crate) fn shown(&self, numbers: LinkNumbers) -> String {
        let state = self.link.as_ref().map(LinkExchange::state);
        let state = state.unwrap_or_default();
        let is_locked = self.link.as_ref().is_some_and(LinkExchange::is_locked);
        let locked = if is_locked { " locked" } else { "" };
        let last = if self.last.is_empty() {
            String::new()
        } else {
            format!(": {}", self.last)
        };
        format!(
            "{} {state:?}{locked} received {} sent {}{last}\n",
            self.name, numbers.inbound, numbers.outbound
        )
    }

    /// The reason of a closed connection, for an event. The whole sentence is kept for the query `lines`.
    pub(crate) fn end(&mut self, end: &LinkEnd) -> &'static str {
        self.last = end.to_string();
        let refused = self.refused.take();
        match end {
            LinkEnd::RefusedByProgram { .. } => refused.unwrap_or("refused by the exchange"),
            LinkEnd::Refused { .. } => "the member sent L10 with a status",
            LinkEnd::StepTimeout { .. } => "the next message of the login was not received in time",
            LinkEnd::HeartbeatTimeout => "the member is silent: no response to R04",
            LinkEnd::BadFrame(_) => "bad frame: wrong length, type or checksum",
            LinkEnd::Unexpected { .. } => "a message out of turn",
            LinkEnd::SequenceGap { .. } => "MsgSeqNum is not contiguous",
            LinkEnd::LoginRefused { .. } => "login refused: a field of L40 is wrong",
            LinkEnd::OtherHeader { .. } => "the header names another broker or session",
            LinkEnd::FlowExceeded { .. } => "flow limit exceeded",
            LinkEnd::Locked => "the session is locked: use the command unlock",
            LinkEnd::StoreMissing { .. } => "a message to resend is not kept any more",
            LinkEnd::EndOfApplication => "the member ended the application (L80)",
            _ => "the link has ended",
        }
    }
}

/// The two clocks, in the form that links use.
pub(crate) fn link_now(now: Now) -> LinkNow {
    LinkNow {
        mono_ns: now.mono.0,
        wall_ns: now.wall.0.max(0).cast_unsigned(),
    }
}
