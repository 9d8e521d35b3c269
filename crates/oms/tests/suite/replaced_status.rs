//! The answer to a status request of an order whose replace was carried out, when the venue's report of it was lost.

use fixwire_engine::Durability;
use fixwire_engine::protocol::Nanos;
use fixwire_engine::protocol::session::BeginString;

use crate::floor::{CLIENT, Floor, VENUE};

/// Up to FIX 4.3 such an order may have OrdStatus(39) 5, Replaced, in all of its reports (FIX 4.2, appendix D); others have
/// 0 or 1.
#[test]
fn an_order_that_is_replaced_in_the_answer_is_replaced() {
    for (version, status, filled) in [
        (BeginString::Fix42, '5', 0),
        (BeginString::Fix42, '5', 10),
        (BeginString::Fix42, '0', 0),
        (BeginString::Fix44, '5', 0),
        (BeginString::Fix44, '1', 10),
    ] {
        let mut floor = Floor::new(Durability::Process, BeginString::Fix44, version);
        let is_old = version == BeginString::Fix42;
        let terms = "55=XYZ|54=1|38=100|40=2|44=100|59=0|60=20261122-08:00:00|";
        floor.world.send(CLIENT, "D", &format!("11=A|{terms}"));
        floor.calm();
        let trans = if is_old { "20=0|" } else { "" };
        let of = "37=V1|55=XYZ|54=1|1=A1|";
        let acknowledged =
            format!("{of}11=1|17=E1|{trans}150=0|39=0|38=100|44=100|151=100|14=0|6=0|");
        floor.world.send(VENUE, "8", &acknowledged);
        floor.calm();
        if filled > 0 {
            let kind = if is_old { '1' } else { 'F' };
            let fill = format!(
                "{of}11=1|17=E2|{trans}150={kind}|39=1|32=10|31=100|38=100|44=100|151=90|14=10|6=100|"
            );
            floor.world.send(VENUE, "8", &fill);
            floor.calm();
        }
        let replace = format!("11=B|41=A|{}", terms.replace("38=100", "38=80"));
        floor.world.send(CLIENT, "G", &replace);
        floor.calm();
        // The venue's Replaced is lost; the OMS asks.
        floor.world.pass(Nanos::from_secs(6));
        floor.calm();
        let sent = floor.received(VENUE, &[35, 11]);
        let id = sent.iter().find_map(|it| it.strip_prefix("G "));
        let id = id.expect("the replace").to_owned();
        assert!(sent.iter().any(|it| it.starts_with("H ")), "{sent:?}");
        let average = filled * 10;
        let kind = match is_old {
            true => format!("20=3|150={status}|"),
            false => "150=I|".to_owned(),
        };
        let left = 80 - filled;
        let answer = format!(
            "{of}11={id}|17=0|{kind}39={status}|38=80|44=100|151={left}|14={filled}|6={average}|"
        );
        floor.world.send(VENUE, "8", &answer);
        floor.calm();
        let told = floor.received(CLIENT, &[150, 11, 38, 151]);
        let replaced = format!("5 B 80 {left}");
        assert!(told.contains(&replaced), "{version:?} {status}: {told:?}");
        let order = floor.state().orders().get(1).expect("the order");
        assert_eq!((order.quantity, order.filled), (80, filled));
    }
}

/// Closed here, replaced and open there: nothing is passed over in silence.
#[test]
fn a_closed_order_that_is_replaced_in_the_answer_is_a_break() {
    for status in ['0', '5'] {
        let mut floor = Floor::new(Durability::Process, BeginString::Fix44, BeginString::Fix42);
        let terms = "55=XYZ|54=1|38=100|40=2|44=100|59=0|60=20261122-08:00:00|";
        floor.world.send(CLIENT, "D", &format!("11=A|{terms}"));
        floor.calm();
        let of = "37=V1|11=1|55=XYZ|54=1|1=A1|38=100|44=100|14=0|6=0|";
        for report in [
            "17=E1|20=0|150=0|39=0|151=100|",
            "17=E2|20=0|150=4|39=4|151=0|",
        ] {
            floor.world.send(VENUE, "8", &format!("{of}{report}"));
            floor.calm();
        }
        let answer = format!("{of}17=0|20=3|150={status}|39={status}|151=100|");
        floor.world.send(VENUE, "8", &answer);
        floor.world.pass(Nanos::from_secs(6));
        floor.calm();
        let mut handle = floor.world.handle().expect("it runs");
        let list = handle.query(b"breaks").unwrap();
        floor.calm();
        let list = list.try_recv().expect("an answer").unwrap();
        let list = String::from_utf8(list).unwrap();
        assert!(list.contains("OrdStatus(39)"), "{status}: {list}");
    }
}
