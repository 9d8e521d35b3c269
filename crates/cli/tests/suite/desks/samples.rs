//! The samples, by desk. Where the fields come from: docs/guide/desks.md.

use super::{Answer, Place, Sample};

/// FIX 5.0 SP2.
pub const EQUITIES: Place = Place {
    desk: "equities",
    begin_string: "FIXT.1.1",
    changes: &[],
    files: &[],
};

pub const OF_EQUITIES: [Sample; 7] = [
    Sample {
        name: "equities: capacity and MPID",
        msg_type: "D",
        client: "11=E1|55=ACME|54=1|38=100|40=2|44=100|59=0|528=A|453=1|448=BRKR|447=C|452=1",
        asks: &[11, 38, 40, 44, 54, 55, 59, 60, 453, 528],
        venue: "11=*|1=FUND|21=1|55=ACME|54=1|60=*|38=100|40=2|44=100|59=0|528=A|453=1|448=BRKR|447=C|452=1",
        answers: &[
            Answer {
                msg_type: "8",
                says: "37=V1|11=ID|17=X1|150=0|39=0|55=ACME|54=1|38=100|151=100|14=0|528=A",
                client: "37=*|11=*|17=*|150=0|39=0|1=FUND|55=ACME|54=1|38=100|40=2|44=100|59=0|151=100|14=0|6=0|60=*|528=A",
            },
            Answer {
                msg_type: "8",
                says: "37=V1|11=ID|17=X2|150=F|39=1|55=ACME|54=1|38=100|32=40|31=100|151=60|14=40|6=100|30=XNAS|851=1|\
                       136=1|137=0.12|138=USD|139=4|453=1|448=CTRA|447=C|452=17",
                client: "37=*|11=*|17=*|150=F|39=1|1=FUND|55=ACME|54=1|38=100|40=2|44=100|59=0|32=40|31=100|151=60|14=40|\
                         6=100|60=*|30=XNAS|851=1|136=1|137=0.12|138=USD|139=4|453=1|448=CTRA|447=C|452=17",
            },
        ],
    },
    Sample {
        name: "equities: displayed quantity",
        msg_type: "D",
        client: "11=E2|55=ACME|54=1|38=500|40=2|44=99|59=0|1138=100|528=A|453=1|448=BRKR|447=C|452=1",
        asks: &[11, 38, 40, 44, 54, 55, 59, 60, 453, 528, 1138],
        venue: "11=*|1=FUND|21=1|55=ACME|54=1|60=*|38=500|40=2|44=99|59=0|1138=100|528=A|453=1|448=BRKR|447=C|452=1",
        answers: &[Answer {
            msg_type: "8",
            says: "37=V2|11=ID|17=X3|150=0|39=0|55=ACME|54=1|38=500|1138=100|151=500|14=0",
            client: "37=*|11=*|17=*|150=0|39=0|1=FUND|55=ACME|54=1|38=500|40=2|44=99|59=0|151=500|14=0|6=0|60=*",
        }],
    },
    Sample {
        name: "equities: short sale with locate",
        msg_type: "D",
        client: "11=E3|55=ACME|54=5|38=50|40=2|44=101|59=0|114=N|5700=LEND|528=P|453=1|448=BRKR|447=C|452=1",
        asks: &[11, 38, 40, 44, 54, 55, 59, 60, 114, 453, 528],
        venue: "11=*|1=FUND|21=1|55=ACME|54=5|60=*|38=50|40=2|44=101|59=0|114=N|5700=LEND|528=P|453=1|448=BRKR|447=C|452=1",
        answers: &[],
    },
    Sample {
        name: "equities: short sale that is exempt",
        msg_type: "D",
        client: "11=E4|55=ACME|54=6|38=50|40=2|44=101|59=3|114=N|528=A|453=1|448=BRKR|447=C|452=1",
        asks: &[11, 38, 40, 44, 54, 55, 59, 60, 114, 453, 528],
        venue: "11=*|1=FUND|21=1|55=ACME|54=6|60=*|38=50|40=2|44=101|59=3|114=N|528=A|453=1|448=BRKR|447=C|452=1",
        answers: &[Answer {
            msg_type: "8",
            says: "37=V4|11=ID|17=X4|150=4|39=4|55=ACME|54=6|38=50|151=0|14=0",
            client: "37=*|11=*|17=*|150=4|39=4|1=FUND|55=ACME|54=6|38=50|40=2|44=101|59=3|151=0|14=0|6=0|60=*",
        }],
    },
    Sample {
        name: "equities: post-only, with a token against self-trades",
        msg_type: "D",
        client: "11=E5|55=ACME|54=1|38=100|40=2|44=98.5|59=0|18=6|7928=X|528=A|453=1|448=BRKR|447=C|452=1",
        asks: &[11, 18, 38, 40, 44, 54, 55, 59, 60, 453, 528, 7928],
        venue: "11=*|1=FUND|21=1|55=ACME|54=1|60=*|38=100|40=2|44=98.5|59=0|18=6|7928=X|528=A|453=1|448=BRKR|447=C|452=1",
        answers: &[],
    },
    Sample {
        name: "equities: replace of the displayed order",
        msg_type: "G",
        client: "11=E6|41=E2|55=ACME|54=1|38=400|40=2|44=99.5|59=0|1138=50|528=A|453=1|448=BRKR|447=C|452=1",
        asks: &[11, 38, 40, 41, 44, 54, 55, 60, 453, 528, 1138],
        venue: "41=*|11=*|1=FUND|21=1|55=ACME|54=1|60=*|38=400|40=2|44=99.5|59=0|1138=50|528=A|453=1|448=BRKR|447=C|452=1",
        answers: &[Answer {
            msg_type: "8",
            says: "37=V2|11=ID|41=ORIG|17=X5|150=5|39=0|55=ACME|54=1|38=400|44=99.5|151=400|14=0",
            client: "37=*|11=*|41=*|17=*|150=5|39=0|1=FUND|55=ACME|54=1|38=400|40=2|44=99.5|59=0|151=400|14=0|6=0|60=*",
        }],
    },
    Sample {
        name: "equities: cancel of an order with fills",
        msg_type: "F",
        client: "11=E7|41=E1|55=ACME|54=1|453=1|448=BRKR|447=C|452=1",
        asks: &[11, 38, 41, 54, 55, 60, 453],
        venue: "41=*|11=*|1=FUND|55=ACME|54=1|60=*|38=100|453=1|448=BRKR|447=C|452=1",
        answers: &[Answer {
            msg_type: "8",
            says: "37=V1|11=ID|41=ORIG|17=X6|150=4|39=4|55=ACME|54=1|38=100|151=0|14=40|6=100",
            client: "37=*|11=*|41=*|17=*|150=4|39=4|1=FUND|55=ACME|54=1|38=100|40=2|44=100|59=0|151=0|14=40|6=100|60=*",
        }],
    },
];

/// FIX 4.2, with Rule80A(47) and the fields of an exchange that routes.
pub const EQUITIES_42: Place = Place {
    desk: "equities",
    begin_string: "FIX.4.2",
    changes: &[
        (
            "BeginString = \"FIXT.1.1\"\n",
            "BeginString = \"FIX.4.2\"\n",
        ),
        ("DefaultApplVerID = \"FIX.5.0SP2\"\n", ""),
        ("AppDataDictionary", "DataDictionary"),
        ("carry = [1138, 7928]", "carry = [111, 7928, 9303, 9479]"),
    ],
    files: &[
        (
            "fields.delta",
            "base FIX.4.2\n\
         add field 5700 LocateBroker STRING\nadd field 7928 PreventMatch STRING\n\
         add field 9303 RoutingInst STRING\nadd field 9479 DisplayIndicator CHAR\n\
         add field 9730 TradeLiquidityIndicator STRING\nadd field 9882 FeeCode STRING\n\
         add member LocateBroker to D\nadd member PreventMatch to D\nadd member RoutingInst to D\n\
         add member DisplayIndicator to D\nadd member LocateBroker to G\nadd member PreventMatch to G\n\
         add member RoutingInst to G\nadd member DisplayIndicator to G\n\
         add member TradeLiquidityIndicator to 8\nadd member FeeCode to 8\n",
        ),
        (
            "venue.delta",
            "base FIX.4.2\nchange member Rule80A of D required\n",
        ),
    ],
};

pub const OF_EQUITIES_42: [Sample; 2] = [
    Sample {
        name: "equities, FIX 4.2: an order for the book only",
        msg_type: "D",
        client: "11=B1|21=1|55=ACME|54=1|38=65|40=2|44=98|59=3|47=P|9303=B|9479=X",
        asks: &[11, 38, 40, 44, 47, 54, 55, 59, 60],
        venue: "11=*|1=FUND|21=1|55=ACME|54=1|60=*|38=65|40=2|44=98|59=3|47=P|9303=B|9479=X",
        answers: &[
            Answer {
                msg_type: "8",
                says: "37=V1|11=ID|17=X0|20=0|150=0|39=0|55=ACME|54=1|38=65|151=65|14=0|6=0",
                client: "37=*|11=*|17=*|20=0|150=0|39=0|1=FUND|55=ACME|54=1|38=65|40=2|44=98|59=3|32=0|31=0|151=65|14=0|6=0|60=*",
            },
            Answer {
                msg_type: "8",
                says: "37=V1|11=ID|17=X1|20=0|150=2|39=2|55=ACME|54=1|38=65|32=65|31=98|151=0|14=65|6=98|30=N|29=1|\
                   76=BRKR|9730=A|9882=B",
                // The venue's own tags are in the journal only.
                client: "37=*|11=*|17=*|20=0|150=2|39=2|1=FUND|55=ACME|54=1|38=65|40=2|44=98|59=3|32=65|31=98|151=0|14=65|\
                     6=98|60=*|30=N|29=1|76=BRKR",
            },
        ],
    },
    Sample {
        name: "equities, FIX 4.2: a reserve order",
        msg_type: "D",
        client: "11=B2|21=1|55=ACME|54=2|38=1000|40=2|44=102|59=0|47=A|111=100|7928=X",
        asks: &[11, 38, 40, 44, 47, 54, 55, 59, 60, 111],
        venue: "11=*|1=FUND|21=1|55=ACME|54=2|60=*|38=1000|40=2|44=102|59=0|47=A|111=100|7928=X",
        answers: &[],
    },
];

/// FIX 4.4.
pub const CRYPTO: Place = Place {
    desk: "crypto",
    begin_string: "FIX.4.4",
    changes: &[],
    files: &[],
};

pub const OF_CRYPTO: [Sample; 6] = [
    Sample {
        name: "crypto: limit maker order",
        msg_type: "D",
        client: "11=C1|55=BTC-USDT|54=1|38=0.12345|40=2|44=59000.01|59=1|18=6|25001=2",
        // The venue does not ask for the TimeInForce(59) that leaves.
        asks: &[11, 18, 38, 40, 44, 54, 55],
        venue: "11=*|55=BTC-USDT|54=1|38=0.12345|40=2|44=59000.01|59=1|18=6|25001=2",
        answers: &[
            Answer {
                msg_type: "8",
                says: "17=1|11=ID|37=76|38=0.12345|40=2|54=1|55=BTC-USDT|18=6|44=59000.01|59=1|25001=2|150=0|14=0|151=0.12345|\
                       32=0|39=0",
                client: "37=*|11=*|17=*|150=0|39=0|1=FUND|55=BTC-USDT|54=1|38=0.12345|40=2|44=59000.01|59=1|151=0.12345|14=0|\
                         6=0|60=*|527=1",
            },
            // A fill in parts of a lot, with a fee in the currency that was bought.
            Answer {
                msg_type: "8",
                says: "17=2|11=ID|37=76|38=0.12345|40=2|54=1|55=BTC-USDT|44=59000.01|59=1|150=F|14=0.00000001|151=0.12344999|\
                       1057=N|1003=9|31=59000.01|32=0.00000001|39=1|136=1|137=0.00000001|138=BTC|139=4",
                client: "37=*|11=*|17=*|150=F|39=1|1=FUND|55=BTC-USDT|54=1|38=0.12345|40=2|44=59000.01|59=1|32=0.00000001|\
                         31=59000.01|151=0.12344999|14=0.00000001|6=59000.01|60=*|1057=N|1003=9|136=1|137=0.00000001|138=BTC|139=4|527=2",
            },
        ],
    },
    Sample {
        name: "crypto: market order",
        msg_type: "D",
        client: "11=C2|55=BTC-USDT|54=1|38=0.5|40=1|59=3|25001=1",
        // As above.
        asks: &[11, 38, 40, 54, 55],
        venue: "11=*|55=BTC-USDT|54=1|38=0.5|40=1|59=3|25001=1",
        answers: &[],
    },
    Sample {
        name: "crypto: limit order, immediate or cancel, of a strategy",
        msg_type: "D",
        client: "11=C3|55=BTC-USDT|54=1|38=0.00001|40=2|44=60000|59=3|7940=7",
        asks: &[11, 38, 40, 44, 54, 55, 59],
        venue: "11=*|55=BTC-USDT|54=1|38=0.00001|40=2|44=60000|59=3|7940=7",
        answers: &[Answer {
            msg_type: "8",
            says: "17=3|11=ID|37=78|38=0.00001|40=2|54=1|55=BTC-USDT|44=60000|59=3|150=C|14=0|151=0|32=0|39=C|7940=7",
            client: "37=*|11=*|17=*|150=C|39=C|1=FUND|55=BTC-USDT|54=1|38=0.00001|40=2|44=60000|59=3|151=0|14=0|6=0|60=*|527=3",
        }],
    },
    Sample {
        name: "crypto: limit order, fill or kill",
        msg_type: "D",
        client: "11=C4|55=BTC-USDT|54=1|38=1|40=2|44=60000|59=4",
        asks: &[11, 38, 40, 44, 54, 55, 59],
        venue: "11=*|55=BTC-USDT|54=1|38=1|40=2|44=60000|59=4",
        answers: &[],
    },
    Sample {
        name: "crypto: iceberg",
        msg_type: "D",
        client: "11=C5|55=BTC-USDT|54=1|38=0.9|40=2|44=58000|59=1|111=0.1",
        asks: &[11, 38, 40, 44, 54, 55, 59, 111],
        venue: "11=*|55=BTC-USDT|54=1|38=0.9|40=2|44=58000|59=1|111=0.1",
        answers: &[],
    },
    Sample {
        name: "crypto: cancel",
        msg_type: "F",
        client: "11=C6|41=C1|55=BTC-USDT|54=1",
        asks: &[11, 41, 55],
        venue: "41=*|11=*|55=BTC-USDT",
        answers: &[Answer {
            msg_type: "8",
            says: "17=4|11=ID|41=ORIG|37=76|38=0.12345|40=2|54=1|55=BTC-USDT|44=59000.01|59=1|150=4|14=0.00000001|151=0|32=0|39=4",
            client: "37=*|11=*|41=*|17=*|150=4|39=4|1=FUND|55=BTC-USDT|54=1|38=0.12345|40=2|44=59000.01|59=1|151=0|\
                     14=0.00000001|6=59000.01|60=*|527=4",
        }],
    },
];

/// An exchange that has Account(1), HandlInst(21) and TransactTime(60) in orders and cancels, not in replaces.
pub const REPLACING: Place = Place {
    desk: "crypto",
    begin_string: "FIX.4.4",
    changes: &[("cannot = [\"replace\"]", "replace = \"own\"")],
    files: &[(
        "venue.delta",
        "base FIX.4.4\nremove member Account from G\nremove member HandlInst from G\n\
         remove member TransactTime from G\n",
    )],
};

pub const OF_REPLACING: [Sample; 3] = [
    Sample {
        name: "replacing: an order",
        msg_type: "D",
        client: "11=R1|55=BTC-USDT|54=1|38=1|40=2|44=59000|59=1",
        asks: &[1, 21, 60],
        venue: "11=*|1=FUND|21=1|55=BTC-USDT|54=1|60=*|38=1|40=2|44=59000|59=1",
        answers: &[Answer {
            msg_type: "8",
            says: "37=V1|11=ID|17=X1|150=0|39=0|55=BTC-USDT|54=1|38=1|151=1|14=0|6=0",
            client: "37=*|11=*|17=*|150=0|39=0|1=FUND|55=BTC-USDT|54=1|38=1|40=2|44=59000|59=1|151=1|14=0|6=0|60=*|527=X1",
        }],
    },
    Sample {
        name: "replacing: a replace",
        msg_type: "G",
        client: "11=R2|41=R1|55=BTC-USDT|54=1|38=1.2|40=2|44=59000|59=1",
        asks: &[11, 41],
        venue: "41=*|11=*|55=BTC-USDT|54=1|38=1.2|40=2|44=59000|59=1",
        answers: &[Answer {
            msg_type: "8",
            says: "37=V1|11=ID|41=ORIG|17=X2|150=5|39=0|55=BTC-USDT|54=1|38=1.2|44=59000|151=1.2|14=0|6=0",
            client: "37=*|11=*|41=*|17=*|150=5|39=0|1=FUND|55=BTC-USDT|54=1|38=1.2|40=2|44=59000|59=1|151=1.2|14=0|6=0|60=*|527=X2",
        }],
    },
    Sample {
        name: "replacing: a cancel",
        msg_type: "F",
        client: "11=R3|41=R2|55=BTC-USDT|54=1",
        asks: &[1, 60],
        venue: "41=*|11=*|1=FUND|55=BTC-USDT|54=1|60=*|38=1.2",
        answers: &[],
    },
];

/// FIX 4.4.
pub const DERIVATIVES: Place = Place {
    desk: "derivatives",
    begin_string: "FIX.4.4",
    changes: &[],
    files: &[],
};

pub const OF_DERIVATIVES: [Sample; 4] = [
    Sample {
        name: "derivatives: an order for a give-up",
        msg_type: "D",
        client: "11=D1|55=BONDM7|200=209706|54=1|38=10|40=2|44=129.05|59=0|77=O|1031=W|\
                 453=2|448=BRKR|447=D|452=1|448=TAKER|447=D|452=96",
        asks: &[1, 11, 38, 40, 44, 54, 55, 60, 77, 453, 581, 1028, 1031],
        venue: "11=*|1=A1|581=1|21=1|55=BONDM7|54=1|60=*|38=10|40=2|44=129.05|59=0|77=O|1031=W|\
                453=2|448=BRKR|447=D|452=1|448=TAKER|447=D|452=96|1028=N",
        answers: &[
            Answer {
                msg_type: "8",
                says: "37=V1|11=ID|17=X1|150=0|39=0|1=A1|55=BONDM7|54=1|38=10|151=10|14=0|6=0",
                client: "37=*|11=*|17=*|150=0|39=0|1=CLIENT1|55=BONDM7|54=1|38=10|40=2|44=129.05|59=0|77=O|151=10|14=0|6=0|60=*",
            },
            Answer {
                msg_type: "8",
                says: "37=V1|11=ID|17=X2|150=F|39=1|1=A1|55=BONDM7|54=1|38=10|32=4|31=129.05|151=6|14=4|6=129.05|\
                       453=2|448=BRKR|447=D|452=1|448=TAKER|447=D|452=96",
                client: "37=*|11=*|17=*|150=F|39=1|1=CLIENT1|55=BONDM7|54=1|38=10|40=2|44=129.05|59=0|77=O|32=4|31=129.05|151=6|\
                         14=4|6=129.05|60=*|453=2|448=BRKR|447=D|452=1|448=TAKER|447=D|452=96",
            },
        ],
    },
    Sample {
        name: "derivatives: a calendar spread",
        msg_type: "D",
        client: "11=D2|55=BONDM7-BONDH7|167=MLEG|54=1|38=3|40=2|44=-0.95|59=0|77=O|1031=W|453=1|448=TAKER|447=D|452=96",
        asks: &[1, 11, 38, 40, 44, 54, 55, 60, 77, 167, 453, 581, 1028, 1031],
        venue: "11=*|1=A1|581=1|21=1|55=BONDM7-BONDH7|54=1|60=*|38=3|40=2|44=-0.95|59=0|77=O|167=MLEG|1031=W|\
                453=1|448=TAKER|447=D|452=96|1028=N",
        answers: &[
            Answer {
                msg_type: "8",
                says: "37=V2|11=ID|17=X2|150=0|39=0|442=3|55=BONDM7-BONDH7|54=1|38=3|151=3|14=0|6=0",
                client: "37=*|11=*|17=*|150=0|39=0|1=CLIENT1|55=BONDM7-BONDH7|54=1|38=3|40=2|44=-0.95|59=0|77=O|151=3|14=0|6=0|\
                         60=*|167=MLEG|442=3",
            },
            Answer {
                msg_type: "8",
                says: "37=V2|11=ID|17=X3|150=F|39=2|442=3|55=BONDM7-BONDH7|54=1|38=3|32=3|31=-0.95|151=0|14=3|6=-0.95",
                client: "37=*|11=*|17=*|150=F|39=2|1=CLIENT1|55=BONDM7-BONDH7|54=1|38=3|40=2|44=-0.95|59=0|77=O|32=3|31=-0.95|\
                         151=0|14=3|6=-0.95|60=*|167=MLEG|442=3",
            },
            Answer {
                msg_type: "8",
                says: "37=V2|11=ID|17=X4|150=F|39=2|442=2|55=BONDM7|54=1|38=3|32=3|31=129.05|151=0|14=3|6=0",
                client: "37=*|11=*|17=*|150=F|39=2|1=CLIENT1|55=BONDM7|54=1|38=3|77=O|32=3|31=129.05|151=0|14=3|6=129.05|60=*|442=2",
            },
            Answer {
                msg_type: "8",
                says: "37=V2|11=ID|17=X5|150=F|39=2|442=2|55=BONDH7|54=2|38=3|32=3|31=130|151=0|14=3|6=0",
                client: "37=*|11=*|17=*|150=F|39=2|1=CLIENT1|55=BONDH7|54=2|38=3|77=O|32=3|31=130|151=0|14=3|6=130|60=*|442=2",
            },
        ],
    },
    Sample {
        name: "derivatives: replace",
        msg_type: "G",
        client: "11=D3|41=D1|55=BONDM7|54=1|38=12|40=2|44=129.06|59=0|77=O|1031=W|453=1|448=TAKER|447=D|452=96",
        asks: &[1, 11, 38, 40, 41, 44, 54, 55, 60, 1028, 1031],
        venue: "41=*|11=*|1=A1|581=1|21=1|55=BONDM7|54=1|60=*|38=12|40=2|44=129.06|59=0|77=O|1031=W|\
                453=1|448=TAKER|447=D|452=96|1028=N",
        answers: &[Answer {
            msg_type: "8",
            says: "37=V1|11=ID|41=ORIG|17=X6|150=5|39=1|1=A1|55=BONDM7|54=1|38=12|44=129.06|151=8|14=4|6=129.05",
            client: "37=*|11=*|41=*|17=*|150=5|39=1|1=CLIENT1|55=BONDM7|54=1|38=12|40=2|44=129.06|59=0|77=O|151=8|14=4|\
                     6=129.05|60=*",
        }],
    },
    Sample {
        name: "derivatives: cancel",
        msg_type: "F",
        client: "11=D4|41=D3|55=BONDM7|54=1",
        asks: &[1, 11, 41, 54, 55, 60, 1028],
        venue: "41=*|11=*|1=A1|581=1|55=BONDM7|54=1|60=*|38=12|1028=N",
        answers: &[],
    },
];

/// FIX 4.2, with tags of an exchange for the origin of an order and for the firm to which its trades are given up.
pub const FUTURES_42: Place = Place {
    desk: "derivatives",
    begin_string: "FIX.4.2",
    changes: &[
        ("FIX.4.4", "FIX.4.2"),
        (
            "accounts = \"accounts.csv\"",
            "symbols = \"symbols.csv\"\ncarry = [107, 9702, 9707, 9708]\naccounts = \"accounts.csv\"",
        ),
    ],
    files: &[
        (
            "fields.delta",
            "base FIX.4.2\n\
             add field 1028 ManualOrderIndicator BOOLEAN\nadd field 1031 CustOrderHandlingInst STRING\n\
             add field 9702 CtiCode CHAR\nadd field 9707 GiveUpFirm STRING\nadd field 9708 CmtaGiveUpCD CHAR\n\
             add member ManualOrderIndicator to D\nadd member CustOrderHandlingInst to D\n\
             add member CtiCode to D\nadd member GiveUpFirm to D\nadd member CmtaGiveUpCD to D\n",
        ),
        (
            "venue.delta",
            "base FIX.4.2\nin D: ManualOrderIndicator required when Symbol present\n",
        ),
        ("accounts.csv", "account,venue_account\nCLIENT1,A1\n"),
        (
            "symbols.csv",
            "symbol,venue_symbol,security_id,security_id_source\nBONDH7,BO,4711,8\n",
        ),
    ],
};

pub const OF_FUTURES_42: [Sample; 1] = [Sample {
    name: "futures, FIX 4.2: an order for a give-up",
    msg_type: "D",
    client: "11=F1|21=1|55=BONDH7|107=BOH7|54=1|38=5|40=2|44=130|59=0|77=O|204=0|1031=W|9702=4|9707=123|9708=G",
    asks: &[
        1, 11, 38, 40, 44, 48, 54, 55, 60, 107, 204, 1028, 1031, 9702,
    ],
    venue: "11=*|1=A1|21=1|55=BO|48=4711|22=8|54=1|60=*|38=5|40=2|44=130|59=0|77=O|107=BOH7|204=0|1031=W|9702=4|\
            9707=123|9708=G|1028=N",
    answers: &[Answer {
        msg_type: "8",
        says: "37=V1|11=ID|17=X1|20=0|150=0|39=0|1=A1|55=BO|48=4711|22=8|54=1|38=5|151=5|14=0|6=0",
        client: "37=*|11=*|17=*|20=0|150=0|39=0|1=CLIENT1|55=BONDH7|54=1|38=5|40=2|44=130|59=0|77=O|32=0|31=0|151=5|14=0|6=0|60=*",
    }],
}];
