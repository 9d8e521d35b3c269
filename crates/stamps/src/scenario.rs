//! The order and the report of the published benchmark, as FIX 4.2 messages.
//!
//! Source: the round trip "NewOrderSingle out, ExecutionReport back" that was published for QuickFIX/J and Chronicle
//! FIX (2016). The field values are those of the publication.

use fixwire_protocol::outbox::BodyError;
use fixwire_protocol::{
    Application, Body, Message, Now, Outbox, Precision, Refusal, SessionId, Timestamp,
    TimestampWriter, tag,
};

/// MsgType of the order.
pub const NEW_ORDER_SINGLE: &[u8] = b"D";
/// MsgType of its report.
pub const EXECUTION_REPORT: &[u8] = b"8";
/// Bytes of the order at a six-digit MsgSeqNum.
pub const ORDER_BYTES: usize = 213;
/// Bytes of the report at a six-digit MsgSeqNum.
pub const REPORT_BYTES: usize = 218;

/// OrderID and ExecID of every report.
const EXEC_ID: &[u8] = b"tkacct.151124.e.EFX.122.6";

/// Writes orders. Caches the text of the last second.
#[derive(Clone, Debug, Default)]
pub struct OrderWriter {
    stamp: TimestampWriter,
}

impl OrderWriter {
    /// Writes one order. `cl_ord_id` is the intended start time in nanoseconds since 1970.
    ///
    /// # Errors
    ///
    /// [`BodyError::Full`] when the outbox is full.
    #[inline]
    pub fn write(
        &mut self,
        outbox: &mut Outbox,
        session: SessionId,
        cl_ord_id: u64,
        transact_time: Timestamp,
    ) -> Result<(), BodyError> {
        let mut order = outbox.begin(session, NEW_ORDER_SINGLE);
        order
            .field(tag::ACCOUNT, b"ABCTEST1")
            .uint(tag::CL_ORD_ID, cl_ord_id)
            .char(tag::HANDL_INST, b'3')
            .field(tag::SYMBOL, b"LCOM1")
            .field(tag::SECURITY_ID, b"LCOM1")
            .char(tag::SECURITY_ID_SOURCE, b'5')
            .field(tag::SECURITY_TYPE, b"FUT")
            .field(tag::MATURITY_MONTH_YEAR, b"201106")
            .char(tag::SIDE, b'1')
            .field(
                tag::TRANSACT_TIME,
                self.stamp.format(transact_time, Precision::Millis),
            )
            .uint(tag::ORDER_QTY, 1)
            .char(tag::ORD_TYPE, b'2')
            .uint(tag::PRICE, 200)
            .char(tag::TIME_IN_FORCE, b'0');
        order.finish()
    }
}

/// Writes the report of an order.
///
/// # Errors
///
/// [`BodyError::Full`] when the outbox is full.
#[inline]
pub fn write_report(
    outbox: &mut Outbox,
    session: SessionId,
    cl_ord_id: &[u8],
) -> Result<(), BodyError> {
    let mut report = outbox.begin(session, EXECUTION_REPORT);
    fill_report(&mut report, cl_ord_id);
    report.finish()
}

/// Writes the fields of a report.
#[inline]
pub fn fill_report(report: &mut Body<'_>, cl_ord_id: &[u8]) {
    report
        .field(tag::AVG_PX, b"110.11")
        .field(tag::CL_ORD_ID, cl_ord_id)
        .uint(tag::CUM_QTY, 7)
        .field(tag::EXEC_ID, EXEC_ID)
        .char(tag::EXEC_TRANS_TYPE, b'0')
        .field(tag::ORDER_ID, EXEC_ID)
        .char(tag::ORD_STATUS, b'0')
        .char(tag::SIDE, b'1')
        .field(tag::SYMBOL, b"EFX")
        .field(tag::CLIENT_ID, b"TEST")
        .char(tag::EXEC_TYPE, b'2')
        .uint(tag::LEAVES_QTY, 0);
}

/// Answers each NewOrderSingle with the report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Echo;

impl Application for Echo {
    #[inline]
    fn on_message(
        &mut self,
        _now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        if message.msg_type() != NEW_ORDER_SINGLE {
            return Err(Refusal::UnsupportedMessageType);
        }
        let cl_ord_id = message
            .get(tag::CL_ORD_ID)
            .ok_or(Refusal::ConditionallyRequiredFieldMissing(tag::CL_ORD_ID))?;
        write_report(outbox, from, cl_ord_id).map_err(|error| match error {
            BodyError::Value(tag) => Refusal::ValueOutOfRange(tag),
            _ => Refusal::NotAvailable,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_protocol::{Decoder, HeaderTemplate};

    const TIME: &[u8] = b"20260821-13:30:00.123";

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).replace('\x01', "|")
    }

    #[test]
    fn order_and_report_are_the_published_ones_and_as_long_as_the_floor_says() {
        let to_exec = HeaderTemplate::new(b"FIX.4.2", b"BENCH", b"EXEC", &[]);
        let to_bench = HeaderTemplate::new(b"FIX.4.2", b"EXEC", b"BENCH", &[]);
        let mut outbox = Outbox::new(4096, 4, to_exec.room().max(to_bench.room()));
        let at = Timestamp::parse(TIME).unwrap();
        let session = SessionId(0);
        OrderWriter::default()
            .write(&mut outbox, session, 1_795_253_164_123_456_789, at)
            .unwrap();
        outbox.seal(0, &to_exec, 123_456, TIME);
        let order = outbox.sealed(0).to_vec();
        assert!(
            text(&order).starts_with(
                "8=FIX.4.2|9=190|35=D|34=123456|49=BENCH|52=20260821-13:30:00.123|56=EXEC|1=ABCTEST1|\
                 11=1795253164123456789|21=3|55=LCOM1|48=LCOM1|22=5|167=FUT|200=201106|54=1|\
                 60=20260821-13:30:00.123|38=1|40=2|44=200|59=0|10="
            ),
            "{}",
            text(&order)
        );
        assert_eq!(order.len(), ORDER_BYTES);

        let now = Now::default();
        let mut decoder = Decoder::with_capacity(64);
        Echo.on_message(now, session, &decoder.decode(&order), &mut outbox)
            .unwrap();
        outbox.seal(1, &to_bench, 123_456, TIME);
        let report = outbox.sealed(1);
        assert!(
            text(report).contains(
                "|6=110.11|11=1795253164123456789|14=7|17=tkacct.151124.e.EFX.122.6|20=0|\
                 37=tkacct.151124.e.EFX.122.6|39=0|54=1|55=EFX|109=TEST|150=2|151=0|10="
            ),
            "{}",
            text(report)
        );
        assert_eq!(report.len(), REPORT_BYTES);
    }

    #[test]
    fn only_orders_are_answered() {
        let mut outbox = Outbox::new(4096, 4, 100);
        let mut decoder = Decoder::with_capacity(8);
        let message = decoder.decode(b"8=FIX.4.2\x019=5\x0135=8\x0110=000\x01");
        let answer = Echo.on_message(Now::default(), SessionId(0), &message, &mut outbox);
        assert_eq!(answer, Err(Refusal::UnsupportedMessageType));
        assert!(outbox.is_empty());
    }
}
