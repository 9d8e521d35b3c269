//! Client and venue of a measured OMS without the OMS: what an order costs beside it.

use std::path::Path;

use fixwire_exchange::ExchangeTmpLine;
use fixwire_protocol::Framed;
use fixwire_tmp::messages::R01;
use fixwire_tmp::{
    LinkAction, LinkActions, LinkClient, LinkNow, LinkNumbers, TmpExecType, TmpHeader, TmpLayout,
};

use crate::error::Error;
use crate::oms::driven::report;
use crate::oms::parts::{
    LineProtocol, LoadRequest, ORDER_QTY, OrderFlow, client_writer, link_of_broker, venue_writer,
    write_request,
};
use crate::oms::tmp_venue::TmpVenue;
use crate::sockets::fix_client::Writer;
use crate::wired::wires::WALL;

/// Client and venue of [`DrivenOms`](crate::oms::driven::DrivenOms) without an OMS: they write their messages, and
/// nobody reads these.
pub struct OmsRig {
    client: Writer,
    venue: RigVenue,
    flow: OrderFlow,
    requests: u64,
    bytes: Vec<u8>,
}

enum RigVenue {
    Fix(Writer),
    Tmp(TmpRigVenue),
}

impl OmsRig {
    /// Client and venue that have written no request and no report yet.
    ///
    /// # Errors
    ///
    /// The venue refuses the login over TMP; a test rules this out.
    pub fn new(flow: OrderFlow) -> Result<Self, Error> {
        let folder = Path::new("");
        Ok(Self {
            client: client_writer(folder, flow),
            venue: match flow.lines {
                LineProtocol::Fix => RigVenue::Fix(venue_writer(folder)),
                LineProtocol::Tmp => RigVenue::Tmp(TmpRigVenue::logged_in()?),
            },
            flow,
            requests: 0,
            bytes: Vec::with_capacity(4096),
        })
    }

    /// Number of requests so far.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// The client writes a request, and the venue the report that accepts it.
    ///
    /// # Errors
    ///
    /// A message does not fit into its buffer, or the venue refuses a frame; a test rules this out.
    pub fn request(&mut self, request: LoadRequest) -> Result<(), Error> {
        let number = self.requests;
        self.requests += 1;
        self.bytes.clear();
        let asked = (request, self.flow);
        write_request(&mut self.client, asked, number, WALL, &mut self.bytes)?;
        let report = match &mut self.venue {
            RigVenue::Fix(writer) => report(writer, (request, (0, 0)), number, WALL)?,
            RigVenue::Tmp(venue) => venue.report(request)?,
        };
        std::hint::black_box((&self.bytes, report));
        Ok(())
    }
}

/// A venue that is logged in over TMP.
struct TmpRigVenue {
    venue: TmpVenue,
    numbers: LinkNumbers,
    output: Vec<u8>,
}

impl TmpRigVenue {
    fn logged_in() -> Result<Self, Error> {
        let mut venue = TmpVenue::new();
        let mut broker = LinkClient::new(link_of_broker(), LinkNumbers::default());
        let (mut actions, mut output) = (LinkActions::new(), Vec::new());
        venue.connected(now());
        broker.on_connect(now(), &mut actions);
        while !venue.is_ready() {
            let sent = actions.iter().map(|action| match action {
                LinkAction::Send(frame) => frame,
                _ => &[][..],
            });
            let sent = sent.collect::<Vec<_>>().concat();
            actions.clear();
            output.clear();
            venue.answer_all(now, &sent, &mut output)?;
            if sent.is_empty() {
                return Err(Error::Session("the line is not logged in".to_owned()));
            }
            let mut rest = &output[..];
            while let Framed::Whole(len) = ExchangeTmpLine::framing().next(rest) {
                broker.on_frame(now(), &rest[..len], &mut actions);
                rest = &rest[len..];
            }
        }
        Ok(Self {
            venue,
            numbers: broker.numbers(),
            output,
        })
    }

    /// Writes the request as an OMS sends it, and returns the venue's report.
    fn report(&mut self, request: LoadRequest) -> Result<&[u8], Error> {
        let (exec_type, qty) = match request {
            LoadRequest::New => (TmpExecType::NEW, ORDER_QTY),
            LoadRequest::Replace(_) => (TmpExecType::REDUCE, ORDER_QTY / 2),
            LoadRequest::Cancel(_) => (TmpExecType::CANCEL, 0),
        };
        self.numbers.outbound += 1;
        let broker = link_of_broker();
        let header = TmpHeader {
            msg_seq_num: self.numbers.outbound,
            fcm_id: broker.fcm_id,
            session_id: broker.session_id,
            ..TmpHeader::default()
        };
        let sent = R01 {
            exec_type,
            qty,
            ..R01::default()
        };
        let mut frame = [0; R01::SIZE];
        let written = sent.encode(&header, &mut frame);
        written.map_err(|error| Error::Session(error.to_string()))?;
        self.output.clear();
        self.venue.answer_all(now, &frame, &mut self.output)?;
        Ok(&self.output)
    }
}

fn now() -> LinkNow {
    LinkNow {
        mono_ns: 0,
        wall_ns: WALL.0.unsigned_abs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oms::parts::ChangeTarget;
    use fixwire_tmp::TmpFrame;
    use fixwire_tmp::messages::R02;

    #[test]
    fn the_venue_of_a_tmp_line_reports_each_request() {
        let mut venue = TmpRigVenue::logged_in().unwrap();
        for number in (0..100).step_by(2) {
            let requests = [
                (LoadRequest::New, TmpExecType::NEW),
                (
                    LoadRequest::Cancel(ChangeTarget::of(number)),
                    TmpExecType::CANCEL,
                ),
            ];
            for (at, (request, exec_type)) in requests.into_iter().enumerate() {
                let report = venue.report(request).unwrap();
                let (header, report) = TmpFrame::decode::<R02>(report).unwrap();
                assert_eq!(u64::from(header.msg_seq_num), number + at as u64 + 1);
                assert_eq!(report.exec_type, exec_type);
            }
        }
    }
}
