//! Are the layouts those of the specification? The table here is written by hand, field by field, from the
//! specification and not from the code.

use fixwire_tmp::TmpLayoutInfo;
use fixwire_tmp::messages::{LAYOUTS, layout_of};

/// Name, MessageType, bytes of the frame, who sends it; then each field after the header with its byte offset and
/// its bytes, 0 for data of any length.
const TABLE: &[(&str, u8, usize, &str, &str)] = &[
    ("L10", 10, 23, "both", "status@17:1 start_in_bound_num@18:4"),
    ("L20", 20, 19, "broker", "status@17:1"),
    (
        "L30",
        30,
        27,
        "exchange",
        "status@17:1 append_no@18:2 end_out_bound_num@20:4 system_type@24:1 encrypt@25:1",
    ),
    (
        "L40",
        40,
        33,
        "broker",
        "status@17:1 append_no@18:2 fcm_id@20:2 session_id@22:2 system_type@24:1 ap_code@25:1 \
         key_value@26:1 request_start_seq@27:4 cancel_order_sec@31:1",
    ),
    (
        "L41",
        41,
        24,
        "exchange",
        "status@17:1 is_eof@18:1 file_size@19:4 data@23:0",
    ),
    ("L42", 42, 19, "broker", "status@17:1"),
    (
        "L50",
        50,
        22,
        "exchange",
        "status@17:1 heart_bt_int@18:1 max_flow_ctrl_cnt@19:2",
    ),
    ("L60", 60, 19, "broker", "status@17:1"),
    (
        "R01",
        101,
        80,
        "broker",
        "exec_type@17:1 cm_id@18:2 fcm_id@20:2 order_no@22:5 ord_id@27:4 user_define@31:8 \
         symbol_type@39:1 symbol@40:20 price@60:4 qty@64:2 account@66:4 account_flag@70:1 \
         side@71:1 ord_type@72:1 time_in_force@73:1 position_effect@74:1 order_source@75:1 \
         info_source@76:3",
    ),
    (
        "R31",
        131,
        100,
        "broker",
        "exec_type@17:1 cm_id@18:2 fcm_id@20:2 order_no@22:5 ord_id@27:4 user_define@31:8 \
         symbol_type@39:1 symbol@40:40 price@80:4 qty@84:2 account@86:4 account_flag@90:1 \
         side@91:1 ord_type@92:1 time_in_force@93:1 position_effect@94:1 order_source@95:1 \
         info_source@96:3",
    ),
    (
        "R02",
        102,
        133,
        "exchange",
        "status@17:1 exec_type@18:1 cm_id@19:2 fcm_id@21:2 order_no@23:5 ord_id@28:4 \
         user_define@32:8 symbol_type@40:1 symbol@41:20 price@61:4 qty@65:2 account@67:4 \
         account_flag@71:1 side@72:1 ord_type@73:1 time_in_force@74:1 position_effect@75:1 \
         last_px@76:4 last_qty@80:2 px_subtotal@82:8 cum_qty@90:2 leaves_qty@92:2 before_qty@94:2 \
         leg_side@96:2 leg_px@98:8 leg_qty@106:4 org_trans_time@110:6 transact_time@116:6 \
         target_id@122:1 uniq_id@123:4 rpt_seq@127:4 protocol_type@131:1",
    ),
    (
        "R32",
        132,
        153,
        "exchange",
        "status@17:1 exec_type@18:1 cm_id@19:2 fcm_id@21:2 order_no@23:5 ord_id@28:4 \
         user_define@32:8 symbol_type@40:1 symbol@41:40 price@81:4 qty@85:2 account@87:4 \
         account_flag@91:1 side@92:1 ord_type@93:1 time_in_force@94:1 position_effect@95:1 \
         last_px@96:4 last_qty@100:2 px_subtotal@102:8 cum_qty@110:2 leaves_qty@112:2 \
         before_qty@114:2 leg_side@116:2 leg_px@118:8 leg_qty@126:4 org_trans_time@130:6 \
         transact_time@136:6 target_id@142:1 uniq_id@143:4 rpt_seq@147:4 protocol_type@151:1",
    ),
    (
        "R03",
        103,
        44,
        "exchange",
        "status@17:1 exec_type@18:1 fcm_id@19:2 order_no@21:5 ord_id@26:4 user_define@30:8 \
         rpt_seq@38:4 side@42:1",
    ),
    (
        "R22",
        122,
        76,
        "exchange",
        "status@17:1 exec_type@18:1 fcm_id@19:2 order_no@21:5 ord_id@26:4 user_define@30:8 \
         side@38:1 position_effect@39:1 leaves_qty@40:2 before_qty@42:2 leg_px@44:8 leg_qty@52:4 \
         transact_time@56:6 uniq_id@62:4 rpt_seq@66:4 protocol_type@70:1 price@71:4",
    ),
    ("R04", 104, 19, "both", "status@17:1"),
    ("R05", 105, 19, "both", "status@17:1"),
    (
        "R06",
        106,
        135,
        "exchange",
        "status@17:1 exec_type@18:1 cm_id@19:2 fcm_id@21:2 order_no@23:5 ord_id@28:4 \
         user_define@32:8 symbol_type@40:1 symbol@41:20 price@61:4 qty@65:2 account@67:4 \
         account_flag@71:1 side@72:1 ord_type@73:1 time_in_force@74:1 position_effect@75:1 \
         last_px@76:4 last_qty@80:2 px_subtotal@82:8 cum_qty@90:2 leaves_qty@92:2 before_qty@94:2 \
         leg_side@96:2 leg_px@98:8 leg_qty@106:4 org_trans_time@110:6 transact_time@116:6 \
         target_id@122:1 uniq_id@123:4 rpt_seq@127:4 protocol_type@131:1 rpt_session_id@132:2",
    ),
    (
        "R07",
        107,
        54,
        "broker",
        "order_no@17:5 ord_id@22:4 fcm_id@26:2 symbol_type@28:1 symbol@29:20 order_source@49:1 \
         info_source@50:3",
    ),
    (
        "R37",
        137,
        74,
        "broker",
        "order_no@17:5 ord_id@22:4 fcm_id@26:2 symbol_type@28:1 symbol@29:40 order_source@69:1 \
         info_source@70:3",
    ),
    (
        "R08",
        108,
        51,
        "exchange",
        "status@17:1 order_no@18:5 ord_id@23:4 fcm_id@27:2 symbol_type@29:1 symbol@30:20",
    ),
    (
        "R38",
        138,
        71,
        "exchange",
        "status@17:1 order_no@18:5 ord_id@23:4 fcm_id@27:2 symbol_type@29:1 symbol@30:40",
    ),
    (
        "R09",
        109,
        84,
        "broker",
        "exec_type@17:1 cm_id@18:2 fcm_id@20:2 order_no@22:5 ord_id@27:4 user_define@31:8 \
         symbol_type@39:1 symbol@40:20 bid_px@60:4 offer_px@64:4 bid_size@68:2 offer_size@70:2 \
         account@72:4 account_flag@76:1 time_in_force@77:1 position_effect@78:1 order_source@79:1 \
         info_source@80:3",
    ),
    (
        "R39",
        139,
        104,
        "broker",
        "exec_type@17:1 cm_id@18:2 fcm_id@20:2 order_no@22:5 ord_id@27:4 user_define@31:8 \
         symbol_type@39:1 symbol@40:40 bid_px@80:4 offer_px@84:4 bid_size@88:2 offer_size@90:2 \
         account@92:4 account_flag@96:1 time_in_force@97:1 position_effect@98:1 order_source@99:1 \
         info_source@100:3",
    ),
    (
        "R11",
        111,
        23,
        "broker",
        "status@17:1 trade_req_id@18:2 flow_group@20:1 request_type@21:1",
    ),
    (
        "R12",
        112,
        23,
        "exchange",
        "status@17:1 trade_req_id@18:2 flow_group@20:1 trade_status@21:1",
    ),
    (
        "R13",
        113,
        27,
        "broker",
        "fcm_req_id@17:4 bulletin_req_id@21:4 system_type@25:1 data@26:0",
    ),
    (
        "R14",
        114,
        34,
        "exchange",
        "status@17:1 fcm_req_id@18:4 bulletin_seq@22:4 time@26:6 system_type@32:1 data@33:0",
    ),
    (
        "R15",
        115,
        25,
        "broker",
        "member@17:2 target_id@19:1 req_seq@20:4",
    ),
    (
        "R16",
        116,
        26,
        "exchange",
        "status@17:1 member@18:2 target_id@20:1 req_seq@21:4",
    ),
    ("R17", 117, 18, "broker", "data@17:0"),
    ("R18", 118, 19, "exchange", "status@17:1 data@18:0"),
];

/// The header of every message.
const HEADER: &str =
    "msg_length@0:2 msg_seq_num@2:4 msg_time@6:6 message_type@12:1 fcm_id@13:2 session_id@15:2";

/// The fields of a row: name, offset, bytes.
fn fields(row: &str) -> Vec<(&str, usize, usize)> {
    let mut found = Vec::new();
    for word in row.split_whitespace() {
        let (name, place) = word.split_once('@').expect("an offset");
        let (at, bytes) = place.split_once(':').expect("a size");
        let number = |text: &str| text.parse().expect("a number");
        found.push((name, number(at), number(bytes)));
    }
    found
}

#[test]
fn every_field_is_where_the_specification_has_it() {
    let header: Vec<_> = TmpLayoutInfo::HEADER
        .iter()
        .map(|field| (field.name, field.at, field.bytes))
        .collect();
    assert_eq!(header, fields(HEADER));
    assert_eq!(LAYOUTS.len(), TABLE.len());
    for ((name, code, size, sender, row), layout) in TABLE.iter().zip(LAYOUTS) {
        assert_eq!(layout.name, *name);
        assert_eq!((layout.code, layout.size), (*code, *size), "{name}");
        let own: Vec<_> = layout
            .fields
            .iter()
            .map(|field| (field.name, field.at, field.bytes))
            .collect();
        assert_eq!(own, fields(row), "{name}");
        let has_data = row.ends_with(":0");
        assert_eq!(layout.has_data, has_data, "{name}");
        let senders = match *sender {
            "both" => (true, true),
            "exchange" => (true, false),
            _ => (false, true),
        };
        assert_eq!(
            (layout.from_exchange, layout.from_broker),
            senders,
            "{name}"
        );
    }
}

#[test]
fn a_type_is_nn_or_a_hundred_and_nn() {
    for (name, code, ..) in TABLE {
        let number: u8 = name[1..].parse().expect("two digits");
        let hundred = if name.starts_with('R') { 100 } else { 0 };
        assert_eq!(*code, hundred + number);
        assert_eq!(layout_of(*code).map(|layout| layout.name), Some(*name));
    }
    let known = (0..=255).filter(|code| layout_of(*code).is_some()).count();
    assert_eq!(known, TABLE.len());
}

#[test]
fn sizes_are_those_of_other_implementations() {
    let sizes = "L10 23, L20 19, L30 27, L40 33, L50 22, R01 80, R02 133, R03 44, R06 135, R07 54, R08 51, R09 84, \
                 R11 23, R12 23, R15 25, R16 26, R22 76";
    for pair in sizes.split(", ") {
        let (name, size) = pair.split_once(' ').expect("a size");
        let layout = LAYOUTS.iter().find(|layout| layout.name == name);
        assert_eq!(
            layout.map(|it| it.size.to_string()).as_deref(),
            Some(size),
            "{name}"
        );
    }
}
