//! Published figures of other engines, as in their tables, and which of these figures each command measures again.
//!
//! Times are microseconds unless stated otherwise. Sources: QuickFIX/J against Chronicle FIX, timed by JLBH (2016); FIX
//! Antenna Java 2.17; FIXEdge; f9omstw (2019); a risk-control server with QuickFIX C++ (Red Hat, 2011).

use crate::load::Pace;

/// Three runs of one engine at one rate, timed by JLBH.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JlbhTable {
    /// The engine.
    pub engine: &'static str,
    /// Orders a second.
    pub rate: u32,
    /// Rows are 50, 90, 99, 99.9, 99.99 % and the longest. Columns are run 1, 2 and 3, and the variation as printed.
    pub rows: [[f64; 4]; 6],
}

/// The percentiles of the rows of a [`JlbhTable`]; 100 is the longest.
pub const JLBH_PERCENTS: [f64; 6] = [50.0, 90.0, 99.0, 99.9, 99.99, 100.0];

/// The round trip of `bench echo` over loopback, both ends on one Xeon E5-2650 v2.
pub const JLBH: [JlbhTable; 6] = [
    JlbhTable {
        engine: "QuickFIX/J",
        rate: 2_000,
        rows: [
            [270.34, 270.34, 233.47, 9.52],
            [352.26, 335.87, 1867.78, 75.25],
            [6684.67, 4849.66, 69206.02, 89.84],
            [13369.34, 12845.06, 163577.86, 88.67],
            [81788.93, 20447.23, 163577.86, 82.35],
            [111149.06, 98566.14, 163577.86, 30.54],
        ],
    },
    JlbhTable {
        engine: "QuickFIX/J",
        rate: 10_000,
        rows: [
            [184.32, 176.13, 176.13, 0.00],
            [573.44, 270.34, 249.86, 5.18],
            [19398.66, 2686.98, 5111.81, 37.56],
            [28835.84, 7733.25, 7995.39, 2.21],
            [30932.99, 9699.33, 9175.04, 3.67],
            [30932.99, 9699.33, 9175.04, 3.67],
        ],
    },
    JlbhTable {
        engine: "QuickFIX/J",
        rate: 50_000,
        rows: [
            [176.13, 176.13, 176.13, 0.00],
            [12845.06, 29884.42, 3604.48, 82.94],
            [34603.01, 94371.84, 17301.50, 74.81],
            [42991.62, 98566.14, 25690.11, 65.41],
            [45088.77, 98566.14, 27787.26, 62.94],
            [45088.77, 98566.14, 27787.26, 62.94],
        ],
    },
    JlbhTable {
        engine: "Chronicle FIX",
        rate: 2_000,
        rows: [
            [16.90, 16.90, 16.90, 0.00],
            [18.94, 18.94, 18.94, 0.00],
            [26.11, 30.21, 23.04, 17.18],
            [35.84, 39.94, 33.79, 10.81],
            [540.67, 671.74, 401.41, 65.41],
            [638.98, 1081.34, 606.21, 61.59],
        ],
    },
    JlbhTable {
        engine: "Chronicle FIX",
        rate: 10_000,
        rows: [
            [16.90, 16.90, 16.13, 3.08],
            [18.94, 18.94, 18.94, 0.00],
            [26.11, 22.02, 20.99, 3.15],
            [88.06, 33.79, 83.97, 49.75],
            [999.42, 167.94, 802.82, 71.59],
            [1146.88, 249.86, 966.66, 65.67],
        ],
    },
    JlbhTable {
        engine: "Chronicle FIX",
        rate: 50_000,
        rows: [
            [15.62, 15.10, 15.62, 2.21],
            [17.92, 16.90, 16.90, 0.00],
            [22.02, 30.21, 29.18, 2.29],
            [120.83, 352.26, 33.79, 86.27],
            [335.87, 802.82, 96.26, 83.03],
            [450.56, 901.12, 151.55, 76.73],
        ],
    },
];

/// One column of the table of FIX Antenna Java 2.17: the round trip between two hosts over 10 GbE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AntennaColumn {
    /// The engine and its configuration.
    pub name: &'static str,
    /// Shortest, average, 50, 95, 99 % and longest.
    pub figures: [f64; 6],
}

/// The percentiles of an [`AntennaColumn`].
pub const ANTENNA_ROWS: [&str; 6] = ["min", "average", "50 %", "95 %", "99 %", "max"];

/// The round trip of `bench echo` between two hosts.
pub const ANTENNA: [AntennaColumn; 5] = [
    AntennaColumn {
        name: "FIX Antenna, balanced",
        figures: [37.9, 46.0, 43.9, 63.1, 72.4, 1894.5],
    },
    AntennaColumn {
        name: "FIX Antenna, optimized",
        figures: [26.2, 28.6, 27.7, 30.8, 52.2, 1011.8],
    },
    AntennaColumn {
        name: "FIX Antenna, optimized.onload",
        figures: [10.5, 11.3, 10.9, 12.0, 13.8, 1928.0],
    },
    AntennaColumn {
        name: "QuickFIX/J 1.6.3, default",
        figures: [85.7, 258.0, 113.5, 182.1, 2107.0, 38918.0],
    },
    AntennaColumn {
        name: "QuickFIX/J 1.6.3, no persistence",
        figures: [70.0, 242.6, 114.3, 164.9, 1336.0, 43566.0],
    },
];

/// FIXEdge: 200,000 messages at 2,000 a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GatewayRow {
    /// The scenario that repeats the measurement: `gateway-echo` or `gateway-convert`.
    pub scenario: &'static str,
    /// 50, 90, 99, 99.5 %, average and standard deviation.
    pub figures: [f64; 6],
}

/// The percentiles of a [`GatewayRow`].
pub const GATEWAY_COLUMNS: [&str; 6] = ["50", "90", "99", "99.5", "average", "deviation"];

/// The rate of the table of FIXEdge, messages a second.
pub const GATEWAY_RATE: u32 = 2_000;

/// The table of FIXEdge.
pub const GATEWAY: [GatewayRow; 2] = [
    GatewayRow {
        scenario: "gateway-echo",
        figures: [16.6, 18.7, 24.6, 55.0, 17.2, 6.6],
    },
    GatewayRow {
        scenario: "gateway-convert",
        figures: [23.5, 26.6, 32.4, 65.0, 24.3, 6.8],
    },
];

/// Chronicle FIX: one message parsed into the data model and logged, at 10,000 to 200,000 messages a second, in five
/// runs. Rows are 50, 90, 99, 99.9, 99.99 % and the longest, each with its lowest and highest value.
#[expect(clippy::approx_constant, reason = "a time that resembles pi")]
pub const PARSE_LOG: [[f64; 2]; 6] = [
    [1.01, 1.06],
    [1.12, 1.12],
    [1.31, 2.11],
    [2.88, 4.03],
    [3.14, 6.02],
    [5.25, 22.0],
];

/// T2-T1 of a batch of f9omstw: 50, 90, 99, 99.9 % and the longest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OmsBatch {
    /// The batch as `bench oms` names it.
    pub batch: &'static str,
    /// Figures when the OMS sleeps until an order arrives.
    pub block: [u64; 5],
    /// The OMS spins.
    pub spin: [u64; 5],
}

/// The tables of f9omstw, an order management system.
pub const OMS: [OmsBatch; 7] = [
    OmsBatch {
        batch: "10",
        block: [88, 107, 107, 107, 107],
        spin: [9, 15, 15, 15, 15],
    },
    OmsBatch {
        batch: "100",
        block: [7, 107, 127, 127, 127],
        spin: [3, 6, 15, 15, 15],
    },
    OmsBatch {
        batch: "1000",
        block: [6, 9, 91, 96, 96],
        spin: [3, 4, 14, 18, 18],
    },
    OmsBatch {
        batch: "10000",
        block: [6, 8, 19, 509, 589],
        spin: [3, 5, 11, 17, 33],
    },
    OmsBatch {
        batch: "100000",
        block: [5, 7, 1841, 4368, 4767],
        spin: [2, 4, 1564, 4079, 5102],
    },
    OmsBatch {
        batch: "60 each 1000 ms",
        block: [116, 121, 298, 298, 298],
        spin: [10, 11, 204, 204, 204],
    },
    OmsBatch {
        batch: "60 each 100 ms",
        block: [114, 120, 134, 134, 134],
        spin: [10, 10, 23, 23, 23],
    },
];

/// The batch of f9omstw whose duration is published.
pub const OMS_LARGEST: OmsLargest = OmsLargest {
    batch: "100000",
    block: 0.845,
    spin: 1.023,
    replied: 5.06,
};

/// How long a batch of f9omstw took, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OmsLargest {
    /// The batch as `bench oms` names it.
    pub batch: &'static str,
    /// From the first T0 to the last T2 when the OMS sleeps until an order arrives.
    pub block: f64,
    /// From the first T0 to the last T2 when the OMS spins.
    pub spin: f64,
    /// From the first T0 to the last reply.
    pub replied: f64,
}

/// 894,000 transactions of a risk-control server with QuickFIX C++.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransactionsRow {
    /// The system and how it was tuned.
    pub system: &'static str,
    /// Duration of all transactions.
    pub seconds: f64,
    /// Percent of the milliseconds in each of the [`TRANSACTION_BANDS`]; the last band is left out, because no
    /// millisecond reached it.
    pub shares: [f64; 3],
}

/// Transactions per millisecond: the lower and upper bound of a band.
pub const TRANSACTION_BANDS: [(u64, u64); 4] = [(1, 9), (10, 15), (16, 26), (27, u64::MAX)];

/// The table of the risk-control server.
pub const TRANSACTIONS: [TransactionsRow; 3] = [
    TransactionsRow {
        system: "RHEL 5.6, untuned",
        seconds: 93.779,
        shares: [41.49, 56.35, 2.17],
    },
    TransactionsRow {
        system: "RHEL 5.6, tuned",
        seconds: 65.006,
        shares: [0.03, 96.46, 3.51],
    },
    TransactionsRow {
        system: "RHEL 5.6, tuned, real-time, NUMA",
        seconds: 63.731,
        shares: [0.000_03, 86.22, 13.78],
    },
];

/// A published percentile curve, shown next to a measured curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The engine.
    pub name: &'static str,
    /// Points of the curve, in percent and microseconds; 100 % is the longest.
    pub points: Vec<(f64, f64)>,
}

/// The published curves of a scenario at a pace; for three runs, the median.
pub fn curves(scenario: &str, pace: Pace) -> Vec<Curve> {
    match (scenario, pace) {
        ("echo", Pace::PerSecond(rate)) => JLBH
            .iter()
            .filter(|table| table.rate == rate)
            .map(|table| Curve {
                name: table.engine,
                points: std::iter::zip(JLBH_PERCENTS, table.rows)
                    .map(|(percent, [first, second, third, _])| {
                        let middle = first.max(second).min(first.min(second).max(third));
                        (percent, middle)
                    })
                    .collect(),
            })
            .collect(),
        // FIX Antenna was measured with one order outstanding.
        ("echo", Pace::PingPong) => ANTENNA
            .iter()
            .map(|column| Curve {
                name: column.name,
                points: vec![
                    (0.0, column.figures[0]),
                    (50.0, column.figures[2]),
                    (95.0, column.figures[3]),
                    (99.0, column.figures[4]),
                    (100.0, column.figures[5]),
                ],
            })
            .collect(),
        ("gateway-echo" | "gateway-convert", Pace::PerSecond(GATEWAY_RATE)) => GATEWAY
            .iter()
            .filter(|row| row.scenario == scenario)
            .map(|row| Curve {
                name: "FIXEdge",
                points: std::iter::zip([50.0, 90.0, 99.0, 99.5], row.figures).collect(),
            })
            .collect(),
        ("parse-log", _) => vec![Curve {
            name: "Chronicle FIX, worst of five runs",
            points: std::iter::zip(JLBH_PERCENTS, PARSE_LOG.map(|range| range[1])).collect(),
        }],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_stamps::stats::variation;

    #[test]
    fn variation_is_what_the_published_tables_print() {
        let mut others = Vec::new();
        for table in JLBH {
            for (percent, [first, second, third, printed]) in
                std::iter::zip(JLBH_PERCENTS, table.rows)
            {
                let nanos = [first, second, third].map(|us| (us * 1e3) as u64);
                if (variation(&nanos).unwrap() - printed).abs() > 0.05 {
                    others.push((table.engine, table.rate, percent));
                }
            }
        }
        // These two of the 36 values cannot result from any choice of runs.
        assert_eq!(
            others,
            [
                ("Chronicle FIX", 2_000, 99.99),
                ("Chronicle FIX", 2_000, 100.0)
            ]
        );
    }

    #[test]
    fn percentiles_of_batches_rise_and_shares_of_bands_make_a_hundred() {
        for batch in OMS {
            for figures in [batch.block, batch.spin] {
                assert!(figures.is_sorted(), "{batch:?}");
            }
        }
        assert!(OMS.iter().any(|it| it.batch == OMS_LARGEST.batch));
        for row in TRANSACTIONS {
            let all: f64 = row.shares.iter().sum();
            assert!((all - 100.0).abs() < 0.02, "{row:?}");
        }
        for pair in TRANSACTION_BANDS.windows(2) {
            assert_eq!(pair[0].1 + 1, pair[1].0);
        }
    }

    #[test]
    fn curves_are_the_median_of_their_runs_and_rise() {
        let [quickfix, chronicle] = &curves("echo", Pace::PerSecond(2_000))[..] else {
            panic!("two engines were measured")
        };
        assert_eq!(quickfix.points[1], (90.0, 352.26));
        assert_eq!(chronicle.points[2], (99.0, 26.11));
        let scenarios = ["echo", "gateway-echo", "gateway-convert", "parse-log"];
        for scenario in scenarios {
            for pace in [
                Pace::PingPong,
                Pace::PerSecond(2_000),
                Pace::PerSecond(50_000),
            ] {
                for curve in curves(scenario, pace) {
                    let rises =
                        |pair: &[(f64, f64)]| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1;
                    assert!(curve.points.windows(2).all(rises), "{curve:?}");
                }
            }
        }
        assert_eq!(curves("tcp", Pace::PingPong), []);
    }
}
