//! The exchange's end of a TMP line: it accepts every order, change and cancel.

use std::collections::HashMap;

use fixwire_exchange::ExchangeTmpLine;
use fixwire_protocol::Framed;
use fixwire_tmp::messages::{R01, R02};
use fixwire_tmp::{
    ExchangeLinkState, LinkAction, LinkActions, LinkExchange, LinkNow, LinkNumbers, ResendStore,
    TmpExecType, TmpFrame, TmpHeader, TmpLayout, TmpStatus, TmpTime,
};

use crate::error::Error;
use crate::oms::parts::{ORDER_QTY, link_of_exchange};

/// Length of an R02, the longest answer, bytes.
const LONGEST: usize = 133;

/// Capacity for orders that were reduced and are not cancelled yet.
const REDUCED: usize = 1 << 16;

/// A venue that accepts every request, without its socket. Its link is that of the simulated exchange.
pub(crate) struct TmpVenue {
    link: LinkExchange,
    actions: LinkActions,
    answers: LinkActions,
    reports: u32,
    /// Open quantity of reduced orders, by order number (order_no).
    reduced: HashMap<[u8; 5], u16>,
}

/// A message store from which nothing is resent. When the connection ends, the measurement ends too.
struct Nothing;

impl ResendStore for Nothing {
    fn append(&mut self, _: u32, _: &mut Vec<u8>) -> bool {
        false
    }
}

impl TmpVenue {
    pub(crate) fn new() -> Self {
        Self {
            link: LinkExchange::new(link_of_exchange(), LinkNumbers::default()),
            actions: LinkActions::new(),
            answers: LinkActions::new(),
            reports: 0,
            reduced: HashMap::with_capacity(REDUCED),
        }
    }

    /// The OMS has connected.
    pub(crate) fn connected(&mut self, now: LinkNow) {
        self.link.on_connect(now);
    }

    /// Whether the OMS is logged in.
    pub(crate) fn is_ready(&self) -> bool {
        self.link.state() == ExchangeLinkState::Ready
    }

    /// Answers the complete frames at the beginning of these bytes. Returns the number of frames and their length in
    /// bytes.
    ///
    /// # Errors
    ///
    /// The link ended, or the bytes are not a frame.
    pub(crate) fn answer_all(
        &mut self,
        now: impl Fn() -> LinkNow,
        bytes: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(usize, usize), Error> {
        let framing = ExchangeTmpLine::framing();
        let (mut count, mut at) = (0, 0);
        loop {
            match framing.next(&bytes[at..]) {
                Framed::Whole(len) => {
                    self.answer(now(), &bytes[at..at + len], output)?;
                    (count, at) = (count + 1, at + len);
                }
                Framed::More => return Ok((count, at)),
                Framed::Bad(why) => return Err(Error::Session(format!("bad frame: {why}"))),
            }
        }
    }

    fn answer(&mut self, now: LinkNow, frame: &[u8], output: &mut Vec<u8>) -> Result<(), Error> {
        let mut actions = std::mem::take(&mut self.actions);
        actions.clear();
        self.link.on_frame(now, frame, &mut Nothing, &mut actions);
        for action in &actions {
            match action {
                LinkAction::Send(frame) => output.extend_from_slice(frame),
                LinkAction::Deliver { frame, .. } => self.accept(now, frame, output)?,
                LinkAction::Close(end) => return Err(Error::Session(end.to_string())),
                LinkAction::Keep { .. }
                | LinkAction::Ready(_)
                | LinkAction::Save(_)
                | LinkAction::Warn(_) => {}
            }
        }
        self.actions = actions;
        Ok(())
    }

    fn accept(&mut self, now: LinkNow, frame: &[u8], output: &mut Vec<u8>) -> Result<(), Error> {
        let wrong = |error: &dyn std::fmt::Display| Error::Session(error.to_string());
        let request = TmpFrame::read(frame).and_then(|frame| frame.body::<R01>());
        let request = request.map_err(|error| wrong(&error))?;
        self.reports += 1;
        let mut bytes = [0; LONGEST];
        let before = match request.exec_type {
            TmpExecType::CANCEL => self.reduced.remove(&request.order_no),
            _ => None,
        };
        let report = report(&request, before.unwrap_or(ORDER_QTY), now, self.reports);
        if report.exec_type == TmpExecType::REDUCE {
            self.reduced.insert(report.order_no, report.leaves_qty);
        }
        let written = report.encode(&TmpHeader::default(), &mut bytes);
        let len = written.map_err(|_| wrong(&"an R02 has no room"))?;
        self.answers.clear();
        let sent = self.link.send(now, &mut bytes[..len], &mut self.answers);
        sent.map_err(|error| wrong(&error))?;
        for action in &self.answers {
            if let LinkAction::Send(frame) = action {
                output.extend_from_slice(frame);
            }
        }
        Ok(())
    }
}

/// The acknowledgement of a request.
fn report(request: &R01, before_qty: u16, now: LinkNow, number: u32) -> R02 {
    let left = match request.exec_type {
        TmpExecType::NEW => request.qty,
        TmpExecType::CANCEL => 0,
        TmpExecType::REDUCE => ORDER_QTY.saturating_sub(request.qty),
        _ => ORDER_QTY,
    };
    let at = TmpTime::from_wall_ns(now.wall_ns);
    R02 {
        status: TmpStatus::OK,
        exec_type: request.exec_type,
        cm_id: request.cm_id,
        fcm_id: request.fcm_id,
        order_no: request.order_no,
        ord_id: request.ord_id,
        user_define: request.user_define,
        symbol_type: request.symbol_type,
        symbol: request.symbol,
        price: request.price,
        qty: request.qty,
        account: request.account,
        account_flag: request.account_flag,
        side: request.side,
        ord_type: request.ord_type,
        time_in_force: request.time_in_force,
        position_effect: request.position_effect,
        leaves_qty: left,
        before_qty,
        org_trans_time: at,
        transact_time: at,
        uniq_id: number,
        rpt_seq: number,
        ..R02::default()
    }
}
