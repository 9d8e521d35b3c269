//! Numbers of reports: ApplID(1180) and ApplSeqNum(1181).

use fixwire_protocol::Body;
use fixwire_protocol::tag;

/// ApplID(1180) of the reports to a client.
///
/// ApplSeqNum(1181) of a report is the number of its event. ApplSeqNums rise with gaps. A report keeps its number after
/// a restart and on later days.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ReportNumbers {
    id: [u8; Self::LONGEST],
    len: u8,
    is_resent: bool,
}

impl ReportNumbers {
    /// Maximum length of ApplID(1180), in bytes.
    pub(crate) const LONGEST: usize = 16;

    /// Report numbers with this ApplID(1180); a longer name is cut.
    pub(crate) fn new(name: &[u8]) -> Self {
        let len = name.len().min(Self::LONGEST);
        let mut id = [0; Self::LONGEST];
        id[..len].copy_from_slice(&name[..len]);
        Self {
            id,
            len: len as u8,
            is_resent: false,
        }
    }

    /// ApplID(1180).
    pub(crate) fn id(&self) -> &[u8] {
        &self.id[..usize::from(self.len)]
    }

    /// The same numbers for reports that are sent again, which have ApplResendFlag(1352) = Y.
    pub(crate) fn resent(self) -> Self {
        Self {
            is_resent: true,
            ..self
        }
    }

    /// Writes ApplID(1180) and ApplSeqNum(1181) of the report of an event.
    pub(crate) fn put(&self, event: u64, report: &mut Body<'_>) {
        report
            .field(tag::APPL_ID, self.id())
            .uint(tag::APPL_SEQ_NUM, event);
        if self.is_resent {
            report.char(tag::APPL_RESEND_FLAG, b'Y');
        }
    }
}
