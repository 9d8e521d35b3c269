//! What does it cost to cut, check and decode an order, and to write and seal a report?
//!
//! Input: a NewOrderSingle of 22 fields and an ExecutionReport of 12 body fields, always the same and
//! hot in cache, with every branch learnt. So this is a floor: it says what the code costs, not what a
//! message costs that comes from a socket. Each figure is the best and the median of many rounds; on a
//! busy machine only the best means something.

use std::hint::black_box;
use std::time::Instant;

use fixwire_protocol::frame::{self, Frame};
use fixwire_protocol::{
    Decimal, Decoder, HeaderTemplate, Outbox, Precision, SessionId, Timestamp, TimestampWriter,
};

const ROUNDS: usize = 200;
const PER_ROUND: u32 = 10_000;
const NOW: Timestamp = Timestamp(1_787_318_999_123_456_789);

fn order() -> Vec<u8> {
    let body = "35=D|34=123456|49=CLIENT|52=20260821-13:30:00.123|56=SERVER|1=ABCTEST1|\
                11=0000001787318999123|21=3|55=LCOM1|48=LCOM1|22=5|167=FUT|200=201106|54=1|\
                60=20260821-13:30:00.123|38=1|40=2|44=200|59=0|";
    let text = format!("8=FIX.4.2|9={}|{body}", body.len()).replace('|', "\x01");
    let sum = frame::check_sum(text.as_bytes());
    format!("{text}10={sum:03}\x01").into_bytes()
}

fn main() {
    let order = order();
    let mut decoder = Decoder::with_capacity(256);
    println!(
        "order: {} bytes, {} fields",
        order.len(),
        decoder.decode(&order).fields().len()
    );
    measure("frame", || frame::next(black_box(&order), 1 << 20));
    measure("frame, CheckSum not checked", || {
        frame::next_unsummed(black_box(&order), 1 << 20)
    });
    measure("decode", || {
        decoder.decode(black_box(&order)).fields().len()
    });
    measure("frame + decode", || {
        match frame::next(black_box(&order), 1 << 20) {
            Frame::Whole { skip, len } => {
                let message = decoder.decode(&order[skip..skip + len]);
                message.fields().len() + usize::from(message.fault().is_some())
            }
            other => panic!("{other:?}"),
        }
    });
    let message = decoder.decode(&order);
    measure("get 34, 43, 49, 52, 56, 97, 122", || {
        let message = black_box(&message);
        [34, 43, 49, 52, 56, 97, 122].map(|tag| message.get(tag).map_or(0, <[u8]>::len))
    });
    measure("get 11, 44, 38, 60 parsed", || {
        let message = black_box(&message);
        (
            message.get(11),
            message.decimal(44),
            message.decimal(38),
            message.time(60),
        )
    });

    let header = HeaderTemplate::new(b"FIX.4.2", b"SERVER", b"CLIENT", &[]);
    let mut outbox = Outbox::new(64 * 1024, 64, header.room());
    let mut stamp = TimestampWriter::new();
    let mut nanos = 0;
    measure("stamp", || {
        nanos += 1_000_000;
        stamp
            .format(Timestamp(NOW.0 + nanos % 900_000_000), Precision::Millis)
            .len()
    });
    let time = stamp.format(NOW, Precision::Millis).to_vec();
    outbox.clear();
    write_report(&mut outbox);
    outbox.seal(0, &header, 123_456, &time);
    println!("report: {} bytes, 20 fields", outbox.sealed(0).len());
    measure("encode", || {
        outbox.clear();
        write_report(black_box(&mut outbox));
    });
    measure("encode + seal", || {
        outbox.clear();
        write_report(black_box(&mut outbox));
        outbox.seal(0, black_box(&header), 123_456, black_box(&time));
        outbox.sealed(0).len()
    });
}

fn write_report(outbox: &mut Outbox) {
    let mut body = outbox.begin(SessionId(0), b"8");
    body.field(37, b"O-123456")
        .uint(17, 123_456)
        .char(20, b'0')
        .char(150, b'2')
        .char(39, b'0')
        .field(11, black_box(b"0000001787318999123"))
        .field(109, b"CLIENT1")
        .field(55, b"LCOM1")
        .char(54, b'1')
        .int(14, 7)
        .int(151, 0)
        .decimal(
            6,
            Decimal {
                mantissa: black_box(11_011),
                scale: 2,
            },
        );
}

fn measure<T>(what: &str, mut work: impl FnMut() -> T) {
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..PER_ROUND {
                black_box(work());
            }
            start.elapsed().as_nanos() as f64 / f64::from(PER_ROUND)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    println!(
        "{what:34} {:6.1} ns best {:6.1} ns median",
        rounds[0],
        rounds[ROUNDS / 2]
    );
}
