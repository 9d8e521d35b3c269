//! A change of price and one of quantity, which are requests of their own over TMP, with their reports in each order.

use super::*;

/// A time of the exchange.
fn second(at: u64) -> TmpTime {
    TmpTime::from_wall_ns(1_795_305_600_000_000_000 + at * 1_000_000_000)
}

#[test]
fn a_late_change_of_price_and_one_of_quantity_both_count() {
    for (price_at, reduced_at) in [(5, 7), (7, 5)] {
        for price_comes_first in [true, false] {
            let mut floor = Floor::new();
            let id = floor.order(10, "100", "");
            let order = floor.got_one();
            floor.says(&accepted(&order));
            floor.replace(&id, 10, "101.5");
            let price = floor.got_one();
            assert_eq!(price.exec_type, TmpExecType::PRICE);
            // The answer to the query overtakes the change.
            floor.disconnect(0);
            floor.connect(0);
            let query = floor.got_one();
            assert_eq!(query.exec_type, TmpExecType::QUERY);
            floor.reports.clear();
            floor.says(&report(&query, TmpExecType::QUERY, (10, 10)));
            assert_eq!(floor.reports(&["35", "102"]), ["35=9|102=2"]);
            floor.replace(&id, 7, "100");
            let reduce = floor.got_one();
            assert_eq!((reduce.exec_type, reduce.qty), (TmpExecType::REDUCE, 3));
            // The exchange reports what was left when it changed the price.
            let left = if price_at < reduced_at { 10 } else { 7 };
            let priced = R02 {
                transact_time: second(price_at),
                ..report(&price, TmpExecType::PRICE, (left, left))
            };
            let reduced = R02 {
                transact_time: second(reduced_at),
                ..report(&reduce, TmpExecType::REDUCE, (10, 7))
            };
            let both = match price_comes_first {
                true => [&priced, &reduced],
                false => [&reduced, &priced],
            };
            floor.reports.clear();
            for said in both {
                floor.says(said);
            }
            let told = floor.reports(&["150", "38", "44"]);
            assert_eq!(told.len(), 2);
            assert_eq!(
                told[1].split_once('|').unwrap().1,
                "38=7|44=101.5",
                "{price_at} {price_comes_first}: {told:?}"
            );
            // The same again changes nothing.
            for said in both {
                floor.says(said);
            }
            let known = floor.find(1);
            assert_eq!((known.quantity, known.price), (7, 1_015));
            assert_eq!(floor.reports(&["150"]), [""; 0]);
            floor.check();
        }
    }
}
