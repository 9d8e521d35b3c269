//! Has each message the bytes of the specification? Each frame here is written out, checksum too.

use fixwire_tmp::messages::*;
use fixwire_tmp::{
    ApCode, KeyValue, SystemType, TmpExecType, TmpFrame, TmpHeader, TmpOrdType, TmpPositionEffect,
    TmpSide, TmpStatus, TmpSymbol, TmpSymbolType, TmpTime, TmpTimeInForce,
};

/// MsgSeqNum 0x01020304, 2023-11-14T22:13:20.123Z, broker 279, session 50.
const HEADER: TmpHeader = TmpHeader {
    msg_seq_num: 0x0102_0304,
    msg_time: time(1_700_000_000, 123),
    fcm_id: 279,
    session_id: 50,
};

const fn time(seconds: u32, millis: u16) -> TmpTime {
    TmpTime { seconds, millis }
}

fn symbol<const SYMBOL: usize>(text: &str) -> [u8; SYMBOL] {
    TmpSymbol::Text(text.as_bytes()).field().expect("it fits").1
}

/// The message encodes to these bytes, and they decode to it.
fn check(message: TmpMessage<'_>, hex: &str) {
    let mut buffer = [0; 256];
    let len = message.encode(&HEADER, &mut buffer).expect("room");
    let own: String = buffer[..len]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let hex: String = hex.split_whitespace().collect();
    assert_eq!(own, hex, "{message:?}");
    let frame = TmpFrame::read(&buffer[..len]).expect("a frame");
    assert_eq!(frame.header(), HEADER);
    assert_eq!(TmpMessage::of(&frame), Ok(message));
    assert_eq!(message.check(), Ok(()));
}

#[test]
fn link_messages() {
    check(
        TmpMessage::L10(L10 {
            status: TmpStatus::FLOW_80,
            start_in_bound_num: 0x0001_0203,
        }),
        "0014010203046553f100007b0a01170032 \
         f80001020394",
    );
    check(
        TmpMessage::L20(L20 {
            status: TmpStatus::FLOW_80,
        }),
        "0010010203046553f100007b1401170032 \
         f894",
    );
    check(
        TmpMessage::L30(L30 {
            status: TmpStatus::FLOW_80,
            append_no: 0x0123,
            end_out_bound_num: 0x0001_0204,
            system_type: SystemType::FUTURES_DAY,
            encrypt: 1,
        }),
        "0018010203046553f100007b1e01170032 \
         f80123000102041401e6",
    );
    check(
        TmpMessage::L40(L40 {
            status: TmpStatus::FLOW_80,
            append_no: 0x0123,
            fcm_id: 279,
            session_id: 50,
            system_type: SystemType::FUTURES_DAY,
            ap_code: ApCode::TRADING,
            key_value: KeyValue(42),
            request_start_seq: 697,
            cancel_order_sec: 3,
        }),
        "001e010203046553f100007b2801170032 \
         f801230117003214042a000002b90324",
    );
    check(
        TmpMessage::L41(L41 {
            status: TmpStatus::FLOW_80,
            is_eof: 1,
            file_size: 4,
            data: b"K101",
        }),
        "0019010203046553f100007b2901170032 \
         f801000000044b31303194",
    );
    check(
        TmpMessage::L42(L42 {
            status: TmpStatus::FLOW_80,
        }),
        "0010010203046553f100007b2a01170032 \
         f8aa",
    );
    check(
        TmpMessage::L50(L50 {
            status: TmpStatus::FLOW_80,
            heart_bt_int: 30,
            max_flow_ctrl_cnt: 400,
        }),
        "0013010203046553f100007b3201170032 \
         f81e019064",
    );
    check(
        TmpMessage::L60(L60 {
            status: TmpStatus::FLOW_80,
        }),
        "0010010203046553f100007b3c01170032 \
         f8bc",
    );
    check(
        TmpMessage::R04(R04 {
            status: TmpStatus::FLOW_80,
        }),
        "0010010203046553f100007b6801170032 \
         f8e8",
    );
    check(
        TmpMessage::R05(R05 {
            status: TmpStatus::FLOW_80,
        }),
        "0010010203046553f100007b6901170032 \
         f8e9",
    );
}

#[test]
fn orders() {
    check(
        TmpMessage::R01(R01 {
            exec_type: TmpExecType::NEW,
            cm_id: 8000,
            fcm_id: 279,
            order_no: *b"A0001",
            ord_id: 1_234_567,
            user_define: *b"g1:00042",
            symbol_type: TmpSymbolType::TEXT_20,
            symbol: symbol("TXFL9"),
            price: -15_050,
            qty: 10,
            account: 9_800_123,
            account_flag: b'1',
            side: TmpSide::SELL,
            ord_type: TmpOrdType::LIMIT,
            time_in_force: TmpTimeInForce::IOC,
            position_effect: TmpPositionEffect::OPEN,
            order_source: b'D',
            info_source: *b"999",
        }),
        "004d010203046553f100007b6501170032 \
         301f40011741303030310012d68767313a3030303432025458464c392020202020202020 \
         20202020202020ffffc536000a009589bb310202034f44393939b5",
    );
    check(
        TmpMessage::R31(R31 {
            exec_type: TmpExecType::NEW,
            cm_id: 8000,
            fcm_id: 279,
            order_no: *b"A0001",
            ord_id: 1_234_567,
            user_define: *b"g1:00042",
            symbol_type: TmpSymbolType::TEXT_40,
            symbol: symbol("TXFL9"),
            price: -15_050,
            qty: 10,
            account: 9_800_123,
            account_flag: b'1',
            side: TmpSide::SELL,
            ord_type: TmpOrdType::LIMIT,
            time_in_force: TmpTimeInForce::IOC,
            position_effect: TmpPositionEffect::OPEN,
            order_source: b'D',
            info_source: *b"999",
        }),
        "0061010203046553f100007b8301170032 \
         301f40011741303030310012d68767313a3030303432045458464c392020202020202020 \
         202020202020202020202020202020202020202020202020202020ffffc536000a009589 \
         bb310202034f4439393969",
    );
    check(
        TmpMessage::R07(R07 {
            order_no: *b"A0001",
            ord_id: 1_234_567,
            fcm_id: 279,
            symbol_type: TmpSymbolType::TEXT_20,
            symbol: symbol("TXFL9"),
            order_source: b'D',
            info_source: *b"999",
        }),
        "0033010203046553f100007b6b01170032 \
         41303030310012d6870117025458464c3920202020202020202020202020202044393939 \
         e7",
    );
    check(
        TmpMessage::R37(R37 {
            order_no: *b"A0001",
            ord_id: 1_234_567,
            fcm_id: 279,
            symbol_type: TmpSymbolType::TEXT_40,
            symbol: symbol("TXFL9"),
            order_source: b'D',
            info_source: *b"999",
        }),
        "0047010203046553f100007b8901170032 \
         41303030310012d6870117045458464c3920202020202020202020202020202020202020 \
         20202020202020202020202020202020443939399b",
    );
    check(
        TmpMessage::R09(R09 {
            exec_type: TmpExecType::NEW,
            cm_id: 8000,
            fcm_id: 279,
            order_no: *b"A0001",
            ord_id: 1_234_567,
            user_define: *b"g1:00042",
            symbol_type: TmpSymbolType::TEXT_20,
            symbol: symbol("TXFL9"),
            bid_px: 100,
            offer_px: 102,
            bid_size: 7,
            offer_size: 8,
            account: 9_800_123,
            account_flag: b'1',
            time_in_force: TmpTimeInForce::IOC,
            position_effect: TmpPositionEffect::OPEN,
            order_source: b'D',
            info_source: *b"999",
        }),
        "0051010203046553f100007b6d01170032 \
         301f40011741303030310012d68767313a3030303432025458464c392020202020202020 \
         20202020202020000000640000006600070008009589bb31034f4439393993",
    );
    check(
        TmpMessage::R39(R39 {
            exec_type: TmpExecType::NEW,
            cm_id: 8000,
            fcm_id: 279,
            order_no: *b"A0001",
            ord_id: 1_234_567,
            user_define: *b"g1:00042",
            symbol_type: TmpSymbolType::TEXT_40,
            symbol: symbol("TXFL9"),
            bid_px: 100,
            offer_px: 102,
            bid_size: 7,
            offer_size: 8,
            account: 9_800_123,
            account_flag: b'1',
            time_in_force: TmpTimeInForce::IOC,
            position_effect: TmpPositionEffect::OPEN,
            order_source: b'D',
            info_source: *b"999",
        }),
        "0065010203046553f100007b8b01170032 \
         301f40011741303030310012d68767313a3030303432045458464c392020202020202020 \
         202020202020202020202020202020202020202020202020202020000000640000006600 \
         070008009589bb31034f4439393947",
    );
}

#[test]
fn reports() {
    let report = R02 {
        status: TmpStatus::FLOW_80,
        exec_type: TmpExecType::NEW,
        cm_id: 8000,
        fcm_id: 279,
        order_no: *b"A0001",
        ord_id: 1_234_567,
        user_define: *b"g1:00042",
        symbol_type: TmpSymbolType::TEXT_20,
        symbol: symbol("TXFL9"),
        price: -15_050,
        qty: 10,
        account: 9_800_123,
        account_flag: b'1',
        side: TmpSide::SELL,
        ord_type: TmpOrdType::LIMIT,
        time_in_force: TmpTimeInForce::IOC,
        position_effect: TmpPositionEffect::OPEN,
        last_px: 15_049,
        last_qty: 4,
        px_subtotal: -60_196,
        cum_qty: 4,
        leaves_qty: 6,
        before_qty: 10,
        leg_side: [1, 2],
        leg_px: [15_100, -15_099],
        leg_qty: [4, 5],
        org_trans_time: time(1_700_000_000, 1),
        transact_time: time(1_700_000_001, 999),
        target_id: 9,
        uniq_id: 77,
        rpt_seq: 78,
        protocol_type: 1,
    };
    check(
        TmpMessage::R02(report),
        "0082010203046553f100007b6601170032 \
         f8301f40011741303030310012d68767313a3030303432025458464c3920202020202020 \
         2020202020202020ffffc536000a009589bb310202034f00003ac90004ffffffffffff14 \
         dc00040006000a010200003afcffffc505000400056553f10000016553f10103e7090000 \
         004d0000004e01e6",
    );
    check(
        TmpMessage::R02(R02 {
            exec_type: TmpExecType::NEW_FILL,
            ..report
        }),
        "0082010203046553f100007b6601170032 \
         f8361f40011741303030310012d68767313a3030303432025458464c3920202020202020 \
         2020202020202020ffffc536000a009589bb310202034f00003ac90004ffffffffffff14 \
         dc00040006000a010200003afcffffc505000400056553f10000016553f10103e7090000 \
         004d0000004e01ec",
    );
    check(
        TmpMessage::R32(R32 {
            status: TmpStatus::FLOW_80,
            exec_type: TmpExecType::NEW,
            cm_id: 8000,
            fcm_id: 279,
            order_no: *b"A0001",
            ord_id: 1_234_567,
            user_define: *b"g1:00042",
            symbol_type: TmpSymbolType::TEXT_40,
            symbol: symbol("TXFL9"),
            price: -15_050,
            qty: 10,
            account: 9_800_123,
            account_flag: b'1',
            side: TmpSide::SELL,
            ord_type: TmpOrdType::LIMIT,
            time_in_force: TmpTimeInForce::IOC,
            position_effect: TmpPositionEffect::OPEN,
            last_px: 15_049,
            last_qty: 4,
            px_subtotal: -60_196,
            cum_qty: 4,
            leaves_qty: 6,
            before_qty: 10,
            leg_side: [1, 2],
            leg_px: [15_100, -15_099],
            leg_qty: [4, 5],
            org_trans_time: time(1_700_000_000, 1),
            transact_time: time(1_700_000_001, 999),
            target_id: 9,
            uniq_id: 77,
            rpt_seq: 78,
            protocol_type: 1,
        }),
        "0096010203046553f100007b8401170032 \
         f8301f40011741303030310012d68767313a3030303432045458464c3920202020202020 \
         20202020202020202020202020202020202020202020202020202020ffffc536000a0095 \
         89bb310202034f00003ac90004ffffffffffff14dc00040006000a010200003afcffffc5 \
         05000400056553f10000016553f10103e7090000004d0000004e019a",
    );
    check(
        TmpMessage::R03(R03 {
            status: TmpStatus::FLOW_80,
            exec_type: TmpExecType::NEW,
            fcm_id: 279,
            order_no: *b"A0001",
            ord_id: 1_234_567,
            user_define: *b"g1:00042",
            rpt_seq: 78,
            side: TmpSide::SELL,
        }),
        "0029010203046553f100007b6701170032 \
         f830011741303030310012d68767313a30303034320000004e02d1",
    );
    check(
        TmpMessage::R22(R22 {
            status: TmpStatus::FLOW_80,
            exec_type: TmpExecType::NEW,
            fcm_id: 279,
            order_no: *b"A0001",
            ord_id: 1_234_567,
            user_define: *b"g1:00042",
            side: TmpSide::SELL,
            position_effect: TmpPositionEffect::OPEN,
            leaves_qty: 6,
            before_qty: 10,
            leg_px: [15_100, -15_099],
            leg_qty: [4, 5],
            transact_time: time(1_700_000_001, 999),
            uniq_id: 77,
            rpt_seq: 78,
            protocol_type: 1,
            price: -15_050,
        }),
        "0049010203046553f100007b7a01170032 \
         f830011741303030310012d68767313a3030303432024f0006000a00003afcffffc50500 \
         0400056553f10103e70000004d0000004e01ffffc53645",
    );
    check(
        TmpMessage::R06(R06 {
            status: TmpStatus::FLOW_80,
            exec_type: TmpExecType::NEW,
            cm_id: 8000,
            fcm_id: 279,
            order_no: *b"A0001",
            ord_id: 1_234_567,
            user_define: *b"g1:00042",
            symbol_type: TmpSymbolType::TEXT_20,
            symbol: symbol("TXFL9"),
            price: -15_050,
            qty: 10,
            account: 9_800_123,
            account_flag: b'1',
            side: TmpSide::SELL,
            ord_type: TmpOrdType::LIMIT,
            time_in_force: TmpTimeInForce::IOC,
            position_effect: TmpPositionEffect::OPEN,
            last_px: 15_049,
            last_qty: 4,
            px_subtotal: -60_196,
            cum_qty: 4,
            leaves_qty: 6,
            before_qty: 10,
            leg_side: [1, 2],
            leg_px: [15_100, -15_099],
            leg_qty: [4, 5],
            org_trans_time: time(1_700_000_000, 1),
            transact_time: time(1_700_000_001, 999),
            target_id: 9,
            uniq_id: 77,
            rpt_seq: 78,
            protocol_type: 1,
            rpt_session_id: 51,
        }),
        "0084010203046553f100007b6a01170032 \
         f8301f40011741303030310012d68767313a3030303432025458464c3920202020202020 \
         2020202020202020ffffc536000a009589bb310202034f00003ac90004ffffffffffff14 \
         dc00040006000a010200003afcffffc505000400056553f10000016553f10103e7090000 \
         004d0000004e0100331f",
    );
    check(
        TmpMessage::R08(R08 {
            status: TmpStatus::FLOW_80,
            order_no: *b"A0001",
            ord_id: 1_234_567,
            fcm_id: 279,
            symbol_type: TmpSymbolType::TEXT_20,
            symbol: symbol("TXFL9"),
        }),
        "0030010203046553f100007b6c01170032 \
         f841303030310012d6870117025458464c39202020202020202020202020202020ee",
    );
    check(
        TmpMessage::R38(R38 {
            status: TmpStatus::FLOW_80,
            order_no: *b"A0001",
            ord_id: 1_234_567,
            fcm_id: 279,
            symbol_type: TmpSymbolType::TEXT_40,
            symbol: symbol("TXFL9"),
        }),
        "0044010203046553f100007b8a01170032 \
         f841303030310012d6870117045458464c39202020202020202020202020202020202020 \
         2020202020202020202020202020202020a2",
    );
}

/// The last bytes of an R01, from Side on, with each PositionEffect, order_source and info_source.
#[test]
fn values_of_orders() {
    let order = R01 {
        exec_type: TmpExecType::NEW,
        cm_id: 8000,
        fcm_id: 279,
        order_no: *b"A0001",
        ord_id: 1_234_567,
        user_define: *b"g1:00042",
        symbol_type: TmpSymbolType::TEXT_20,
        symbol: symbol("TXFL9"),
        price: -15_050,
        qty: 10,
        account: 9_800_123,
        account_flag: b'1',
        side: TmpSide::SELL,
        ord_type: TmpOrdType::LIMIT,
        time_in_force: TmpTimeInForce::IOC,
        position_effect: TmpPositionEffect::OPEN,
        order_source: b'D',
        info_source: *b"999",
    };
    let with = |effect: TmpPositionEffect, order_source: u8, info_source: [u8; 3], tail: &str| {
        let head = "004d010203046553f100007b6501170032 \
             301f40011741303030310012d68767313a3030303432025458464c392020202020202020 \
             20202020202020ffffc536000a009589bb310202";
        let order = R01 {
            position_effect: effect,
            order_source,
            info_source,
            ..order
        };
        check(TmpMessage::R01(order), &format!("{head}{tail}"));
    };
    for (effect, tail) in [
        (TmpPositionEffect::OPEN, "03 4f 44 393939 b5"),
        (TmpPositionEffect::CLOSE, "03 43 44 393939 a9"),
        (TmpPositionEffect::DAY_TRADE, "03 44 44 393939 aa"),
        (TmpPositionEffect::AUTOMATIC, "03 41 44 393939 a7"),
        (TmpPositionEffect::LIQUIDATION, "03 37 44 393939 9d"),
        (TmpPositionEffect::QUOTE, "03 39 44 393939 9f"),
    ] {
        with(effect, b'D', *b"999", tail);
    }
    for (source, tail) in [
        (b'D', "03 4f 44 393939 b5"),
        (b'A', "03 4f 41 393939 b2"),
        (b'M', "03 4f 4d 393939 be"),
        (b'W', "03 4f 57 393939 c8"),
        (b'P', "03 4f 50 393939 c1"),
        (b'V', "03 4f 56 393939 c7"),
        (b'G', "03 4f 47 393939 b8"),
    ] {
        with(TmpPositionEffect::OPEN, source, *b"999", tail);
    }
    with(TmpPositionEffect::OPEN, b'D', *b"904", "03 4f 44 393034 a7");
}

#[test]
fn services() {
    check(
        TmpMessage::R11(R11 {
            status: TmpStatus::FLOW_80,
            trade_req_id: 600,
            flow_group: 12,
            request_type: 2,
        }),
        "0014010203046553f100007b6f01170032 \
         f802580c025b",
    );
    check(
        TmpMessage::R12(R12 {
            status: TmpStatus::FLOW_80,
            trade_req_id: 600,
            flow_group: 12,
            trade_status: 3,
        }),
        "0014010203046553f100007b7001170032 \
         f802580c035d",
    );
    check(
        TmpMessage::R13(R13 {
            fcm_req_id: 5,
            bulletin_req_id: 6,
            system_type: SystemType::FUTURES_DAY,
            data: b"K101",
        }),
        "001c010203046553f100007b7101170032 \
         0000000500000006144b31303101",
    );
    check(
        TmpMessage::R14(R14 {
            status: TmpStatus::FLOW_80,
            fcm_req_id: 5,
            bulletin_seq: 7,
            time: time(1_700_000_002, 500),
            system_type: SystemType::FUTURES_DAY,
            data: b"K101",
        }),
        "0023010203046553f100007b7201170032 \
         f800000005000000076553f10201f4144b313031a2",
    );
    check(
        TmpMessage::R15(R15 {
            member: 279,
            target_id: 9,
            req_seq: 1_000_000,
        }),
        "0016010203046553f100007b7301170032 \
         011709000f4240b3",
    );
    check(
        TmpMessage::R16(R16 {
            status: TmpStatus::FLOW_80,
            member: 279,
            target_id: 9,
            req_seq: 1_000_000,
        }),
        "0017010203046553f100007b7401170032 \
         f8011709000f4240ad",
    );
    check(
        TmpMessage::R17(R17 { data: b"K101" }),
        "0013010203046553f100007b7501170032 \
         4b313031dd",
    );
    check(
        TmpMessage::R18(R18 {
            status: TmpStatus::FLOW_80,
            data: b"K101",
        }),
        "0014010203046553f100007b7601170032 \
         f84b313031d7",
    );
}
