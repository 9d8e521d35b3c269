//! Requests of clients for earlier reports. ApplicationMessageRequest(BW) is answered by
//! ApplicationMessageRequestAck(BX), and after the reports by ApplicationMessageReport(BY).

use fixwire_protocol::{Indexed, Message, Outbox, Refusal, SessionId, Tag, tag, value};

use super::requests::{id, required};
use crate::values::own_tags;
use crate::values::show::two_numbers;

/// ApplReqType(1347).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ReportRequestKind {
    /// 0: send the reports of a range again.
    Resend,
    /// 2: give the number of the last report.
    Last,
    /// 5: give up an earlier request.
    Stop,
}

impl ReportRequestKind {
    fn byte(self) -> u8 {
        match self {
            Self::Resend => b'0',
            Self::Last => b'2',
            Self::Stop => b'5',
        }
    }
}

/// An ApplicationMessageRequest(BW).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReportsAsked<'a> {
    /// ApplReqID(1346).
    pub id: &'a [u8],
    /// ApplReqType(1347).
    pub kind: ReportRequestKind,
    /// RefApplID(1355).
    pub appl_id: &'a [u8],
    /// ApplBegSeqNum(1182).
    pub first: u64,
    /// ApplEndSeqNum(1183); 0 for no end.
    pub last: u64,
    /// The filter that selects reports of the range.
    pub filter: ReportFilter,
}

/// Reads an ApplicationMessageRequest(BW).
///
/// # Errors
///
/// A field is missing, or has a value that is not supported.
pub(crate) fn asked<'a>(
    message: &Message<'a>,
    report_filter: Tag,
) -> Result<ReportsAsked<'a>, Refusal> {
    let filter = own_tags::get(message, report_filter);
    let message = &Indexed::new(message);
    let number = |tag: Tag| match message.get(tag) {
        Some(text) => match value::uint(text) {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(Refusal::IncorrectDataFormat(tag)),
        },
        None => Ok(None),
    };
    let kind = match required(message, tag::APPL_REQ_TYPE)? {
        b"0" => ReportRequestKind::Resend,
        b"2" => ReportRequestKind::Last,
        b"5" => ReportRequestKind::Stop,
        _ => return Err(Refusal::ValueOutOfRange(tag::APPL_REQ_TYPE)),
    };
    // A request can name only one application.
    if message
        .get(tag::NO_APPL_IDS)
        .is_some_and(|count| count != b"1")
    {
        return Err(Refusal::ValueOutOfRange(tag::NO_APPL_IDS));
    }
    let first = match (kind, number(tag::APPL_BEG_SEQ_NUM)?) {
        (_, Some(first)) => first,
        (ReportRequestKind::Resend, None) => {
            return Err(Refusal::ConditionallyRequiredFieldMissing(
                tag::APPL_BEG_SEQ_NUM,
            ));
        }
        (_, None) => 0,
    };
    let filter = ReportFilter::of(filter.unwrap_or_default());
    Ok(ReportsAsked {
        id: id(message, tag::APPL_REQ_ID)?,
        kind,
        appl_id: required(message, tag::REF_APPL_ID)?,
        first,
        last: number(tag::APPL_END_SEQ_NUM)?.unwrap_or(0),
        filter: filter.ok_or(Refusal::ValueOutOfRange(report_filter))?,
    })
}

/// Why reports are not sent again: ApplResponseType(1348) and ApplResponseError(1354).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NoReports {
    /// The request has an ApplID other than the one of the settings.
    UnknownApplication,
    /// The range is empty, or the journal no longer has it.
    NotAvailable,
    /// The session does not have the right to request reports.
    NotAuthorized,
}

impl NoReports {
    fn codes(self) -> (u8, u8) {
        match self {
            Self::UnknownApplication => (b'1', b'0'),
            Self::NotAvailable => (b'2', b'1'),
            Self::NotAuthorized => (b'2', b'2'),
        }
    }
}

/// The values of a request for reports that the answers to it repeat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReportAnswer<'a> {
    /// The session of the client.
    pub to: SessionId,
    /// Number that the OMS has given to the request.
    pub number: u64,
    /// ApplReqID(1346).
    pub id: &'a [u8],
    /// ApplReqType(1347).
    pub kind: ReportRequestKind,
    /// RefApplID(1355).
    pub appl_id: &'a [u8],
    /// ApplBegSeqNum(1182) and ApplEndSeqNum(1183).
    pub range: (u64, u64),
    /// RefApplLastSeqNum(1357).
    pub last: u64,
}

impl ReportAnswer<'_> {
    /// Writes an ApplicationMessageRequestAck(BX): accepted, or refused for the reason `why`, with a text.
    pub(crate) fn acknowledge(&self, why: Option<(NoReports, &[u8])>, outbox: &mut Outbox) {
        let codes = why.map(|(why, _)| why.codes());
        let mut ack = outbox.begin(self.to, b"BX");
        ack.field(
            tag::APPL_RESPONSE_ID,
            two_numbers(self.last, self.number).bytes(),
        )
        .field(tag::APPL_REQ_ID, self.id)
        .char(tag::APPL_REQ_TYPE, self.kind.byte())
        .char(
            tag::APPL_RESPONSE_TYPE,
            codes.map_or(b'0', |(response, _)| response),
        )
        .char(tag::NO_APPL_IDS, b'1')
        .field(tag::REF_APPL_ID, self.appl_id);
        if self.kind == ReportRequestKind::Resend {
            ack.uint(tag::APPL_BEG_SEQ_NUM, self.range.0)
                .uint(tag::APPL_END_SEQ_NUM, self.range.1);
        }
        ack.uint(tag::REF_APPL_LAST_SEQ_NUM, self.last);
        if let Some((_, error)) = codes {
            ack.char(tag::APPL_RESPONSE_ERROR, error);
        }
        if let Some((_, text)) = why.filter(|(_, text)| !text.is_empty()) {
            ack.field(tag::TEXT, text);
        }
        // The outbox has room: that was checked before.
        let _ = ack.finish();
    }

    /// Writes an ApplicationMessageReport(BY), which says that all reports of the request were sent.
    pub(crate) fn complete(&self, outbox: &mut Outbox) {
        let mut report = outbox.begin(self.to, b"BY");
        report
            .field(
                tag::APPL_REPORT_ID,
                two_numbers(self.last, self.number).bytes(),
            )
            .char(tag::APPL_REPORT_TYPE, b'3')
            .char(tag::NO_APPL_IDS, b'1')
            .field(tag::REF_APPL_ID, self.appl_id)
            .uint(tag::REF_APPL_LAST_SEQ_NUM, self.last)
            .field(tag::APPL_REQ_ID, self.id);
        let _ = report.finish();
    }
}

/// Selects reports of a range. A report must fulfil each condition that is true.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct ReportFilter {
    /// `last`: only the last report of each order.
    pub(crate) last: bool,
    /// `working`: only reports of orders that are open at the end of the range.
    pub(crate) working: bool,
    /// `fills`: only fills.
    pub(crate) fills: bool,
    /// `with-fills`: only reports of orders that have a fill.
    pub(crate) with_fills: bool,
    /// `no-pending`: no reports about an order or request that is still pending.
    pub(crate) no_pending: bool,
    /// `no-external`: no reports about an order placed elsewhere.
    pub(crate) no_external: bool,
}

impl ReportFilter {
    /// Reads the names of conditions, separated by blanks; `None` when a name does not exist.
    pub(crate) fn of(names: &[u8]) -> Option<Self> {
        let mut filter = Self::default();
        for name in names.split(|byte| *byte == b' ') {
            match name {
                b"" => {}
                b"last" => filter.last = true,
                b"working" => filter.working = true,
                b"fills" => filter.fills = true,
                b"with-fills" => filter.with_fills = true,
                b"no-pending" => filter.no_pending = true,
                b"no-external" => filter.no_external = true,
                _ => return None,
            }
        }
        Some(filter)
    }
}
