//! The codec alone: orders of a fixed length are parsed, checked and written, without a session or a journal.
//!
//! The orders are hot in cache and differ only by their MsgSeqNum. So the figures are a lower bound of what a running
//! engine needs.

use std::time::Instant;

use fixwire_protocol::{
    Body, Decoder, Frame, HeaderTemplate, Message, Outbox, SOH, SessionId, frame, tag,
};
use fixwire_stamps::scenario::NEW_ORDER_SINGLE;

use crate::error::Error;
use crate::sockets::numbered::Numbered;

/// Work on one order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CodecWork {
    /// Finds the end of the order in the stream, by BodyLength(9) and CheckSum(10), and splits the order into fields.
    Parse,
    /// Writes the order with header and trailer; nothing is read.
    Encode,
    /// Parses an order, checks BodyLength, CheckSum, MsgSeqNum and the CompIDs, and writes an order of the same length.
    Relay,
}

impl CodecWork {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Parse, Self::Encode, Self::Relay];

    /// Name of the kind in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Encode => "encode",
            Self::Relay => "decode, 4 checks, encode",
        }
    }
}

/// Length of the order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OrderSize {
    /// 100 bytes: ClOrdID, Symbol, Side, OrderQty and OrdType.
    Small,
    /// 160 bytes: the fields of `Small`, and HandlInst, TransactTime and Price.
    Usual,
}

impl OrderSize {
    /// Both sizes.
    pub const ALL: [Self; 2] = [Self::Small, Self::Usual];

    /// Bytes from BeginString to the end of the trailer.
    pub fn bytes(self) -> usize {
        match self {
            Self::Small => 100,
            Self::Usual => 160,
        }
    }

    fn fill(self, order: &mut Body<'_>) {
        match self {
            Self::Small => order.field(tag::CL_ORD_ID, b"12"),
            Self::Usual => order
                .field(tag::CL_ORD_ID, b"1795253164123456789")
                .char(tag::HANDL_INST, b'3'),
        };
        let symbol: &[u8] = match self {
            Self::Small => b"LCO",
            Self::Usual => b"LCOM1",
        };
        order.field(tag::SYMBOL, symbol).char(tag::SIDE, b'1');
        if self == Self::Usual {
            order.field(tag::TRANSACT_TIME, TIME);
        }
        order.uint(tag::ORDER_QTY, 1).char(tag::ORD_TYPE, b'2');
        if self == Self::Usual {
            order.field(tag::PRICE, b"200.25");
        }
    }
}

/// The time of all events here.
const TIME: &[u8] = b"20260821-13:30:00.123";
/// CompIDs: the sender of the order, and the receiver below.
const SENDER: &[u8] = b"A";
const TARGET: &[u8] = b"B";
/// MsgSeqNum of the first order: all have six digits.
const FIRST_SEQ: u64 = 100_000;
/// Maximum number of orders of one [`Codec`].
pub const MOST_ORDERS: u64 = 899_000;
/// Longest accepted message, bytes.
const MAX_MESSAGE: usize = 4096;

/// An order that is read or written again and again.
pub struct Codec {
    size: OrderSize,
    order: Numbered,
    decoder: Decoder,
    header: HeaderTemplate,
    outbox: Outbox,
    next_in: u64,
    next_out: u64,
}

impl Codec {
    /// Prepares the order.
    ///
    /// # Errors
    ///
    /// The order has the wrong length; a test rules this out.
    pub fn new(size: OrderSize) -> Result<Self, Error> {
        let header = HeaderTemplate::new(b"FIX.4.2", SENDER, TARGET, &[]);
        let mut codec = Self {
            size,
            order: Numbered::new(vec![SOH; 7], &[]),
            decoder: Decoder::with_capacity(64),
            outbox: Outbox::new(4096, 4, header.room()),
            header,
            next_in: FIRST_SEQ,
            next_out: FIRST_SEQ,
        };
        codec.write()?;
        let bytes = codec.outbox.sealed(0).to_vec();
        if bytes.len() != size.bytes() {
            return Err(refused("length"));
        }
        codec.order = Numbered::new(bytes, &["34"]);
        codec.next_out = FIRST_SEQ;
        Ok(codec)
    }

    /// Does the work once, with the next order. May be called at most [`MOST_ORDERS`] times.
    ///
    /// # Errors
    ///
    /// The order failed a check; a test rules this out.
    #[inline]
    pub fn run(&mut self, work: CodecWork) -> Result<(), Error> {
        if work != CodecWork::Encode {
            let bytes = self.order.take();
            let Frame::Whole { skip: 0, len } = frame::next(bytes, MAX_MESSAGE) else {
                return Err(refused("BodyLength and CheckSum"));
            };
            let message = self.decoder.decode(&bytes[..len]);
            if work == CodecWork::Relay && !is_expected(&message, self.next_in) {
                return Err(refused("MsgSeqNum and CompIDs"));
            }
            std::hint::black_box(message);
            self.next_in += 1;
        }
        if work != CodecWork::Parse {
            self.write()?;
            std::hint::black_box(self.outbox.sealed(0));
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), Error> {
        self.outbox.clear();
        let mut order = self.outbox.begin(SessionId(0), NEW_ORDER_SINGLE);
        self.size.fill(&mut order);
        order.finish().map_err(|_| refused("outbox"))?;
        self.outbox.seal(0, &self.header, self.next_out, TIME);
        self.next_out += 1;
        Ok(())
    }
}

/// Whether the message has this MsgSeqNum and our CompIDs, and every field has a value.
#[inline]
fn is_expected(message: &Message<'_>, number: u64) -> bool {
    message.fault().is_none()
        && message.seq_num() == Some(Ok(number))
        && message.get(tag::SENDER_COMP_ID) == Some(SENDER)
        && message.get(tag::TARGET_COMP_ID) == Some(TARGET)
}

#[cold]
fn refused(by: &str) -> Error {
    Error::Engine(format!("the order of the codec was refused by: {by}"))
}

/// Times `work`: `batches` batches of `calls` calls each, after one batch for warm-up, without reading the clock
/// between calls. Returns nanoseconds per call, of the best batch and of the median batch.
///
/// # Errors
///
/// The errors of `work`.
pub fn time_batches<E>(
    batches: usize,
    calls: u32,
    mut work: impl FnMut() -> Result<(), E>,
) -> Result<[f64; 2], E> {
    let mut times = Vec::with_capacity(batches);
    for batch in 0..=batches {
        let start = Instant::now();
        for _ in 0..calls {
            work()?;
        }
        if batch > 0 {
            times.push(start.elapsed().as_nanos() as f64 / f64::from(calls));
        }
    }
    times.sort_by(f64::total_cmp);
    let at = |place| times.get(place).copied().unwrap_or_default();
    Ok([at(0), at(batches / 2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_work_takes_every_order() {
        for (size, work) in OrderSize::ALL
            .into_iter()
            .flat_map(|size| CodecWork::ALL.map(|work| (size, work)))
        {
            let mut codec = Codec::new(size).unwrap();
            for turn in 0..3_000 {
                codec
                    .run(work)
                    .unwrap_or_else(|error| panic!("{size:?} {work:?} {turn}: {error}"));
            }
        }
    }

    #[test]
    fn each_check_refuses_an_order() {
        let mut codec = Codec::new(OrderSize::Usual).unwrap();
        let good = codec.outbox.sealed(0).to_vec();
        let mut told = |change: &dyn Fn(Vec<u8>) -> Vec<u8>, next_in| {
            codec.order = Numbered::new(change(good.clone()), &[]);
            codec.next_in = next_in;
            codec
                .run(CodecWork::Relay)
                .map_err(|error| error.to_string())
        };
        assert_eq!(told(&|order| order, FIRST_SEQ), Ok(()));
        let other_sum = |mut order: Vec<u8>| {
            let last = order.len() - 2;
            order[last] ^= 1;
            order
        };
        let other_length = |mut order: Vec<u8>| {
            order[13] += 1;
            order
        };
        for change in [&other_sum as &dyn Fn(Vec<u8>) -> Vec<u8>, &other_length] {
            let error = told(change, FIRST_SEQ).unwrap_err();
            assert!(error.ends_with("BodyLength and CheckSum"), "{error}");
        }
        let error = told(&|order| order, FIRST_SEQ + 1).unwrap_err();
        assert!(error.ends_with("MsgSeqNum and CompIDs"), "{error}");
    }
}
