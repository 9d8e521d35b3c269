//! What each request says beside the terms of its order, and orders that lack it.

use fixwire_tmp::{
    ClientLinkSettings, OrderMarks, SystemType, TmpExecType, TmpPositionEffect, TmpStatus,
};

use super::*;

/// Those of a line, with what each order needs.
pub(super) fn settings(session_id: u16) -> ClientLinkSettings {
    let password = TmpPassword::new(PASSWORD);
    let mut settings = ClientLinkSettings::new(7, session_id, password, SystemType::FUTURES_DAY);
    settings.marks = OrderMarks {
        cm_id: Some(8),
        order_source: b'P',
        info_source: *b"904",
        investor_flag: b'B',
        position_effect: Some(TmpPositionEffect::DAY_TRADE),
    };
    settings
}

#[test]
fn a_line_without_the_fields_of_each_order_is_refused_by_name() {
    let rules = files(SETTINGS, &["CLIENT", "T1"]);
    let mut lines = tmp_lines(1);
    let marks = lines[0].settings.marks;
    let problems = |marks: OrderMarks| {
        let mut lines = tmp_lines(1);
        lines[0].settings.marks = marks;
        Oms::tmp_problems(&rules, &lines)
    };
    assert_eq!(problems(marks), [""; 0]);
    let blank = problems(OrderMarks::default());
    assert_eq!(blank.len(), 3, "{blank:?}");
    for (said, key) in blank
        .iter()
        .zip(["order_source", "info_source", "investor_flag"])
    {
        assert!(
            said.starts_with(&format!("link T1 has no {key},")),
            "{said}"
        );
    }
    // The clearing member is the broker, and orders may all say their PositionEffect.
    lines[0].settings.marks.cm_id = None;
    lines[0].settings.marks.position_effect = None;
    assert_eq!(Oms::tmp_problems(&rules, &lines), [""; 0]);
}

#[test]
fn an_order_of_futures_that_nets_has_the_effect_of_the_line_or_none() {
    let mut settings = tmp_lines(1).remove(0).settings;
    for effect in [
        TmpPositionEffect::OPEN,
        TmpPositionEffect::CLOSE,
        TmpPositionEffect::DAY_TRADE,
        TmpPositionEffect::LIQUIDATION,
    ] {
        settings.marks.position_effect = Some(effect);
        assert_eq!(settings.effect_of_netting(), Some(effect));
        assert!(effect.is_of_orders(SystemType::FUTURES_NIGHT));
    }
    settings.marks.position_effect = None;
    assert_eq!(settings.effect_of_netting(), None);
    for (system, is_options) in [
        (SystemType::FUTURES_DAY, false),
        (SystemType::FUTURES_NIGHT, false),
        (SystemType::OPTIONS_DAY, true),
        (SystemType::OPTIONS_NIGHT, true),
    ] {
        settings.system_type = system;
        let automatic = is_options.then_some(TmpPositionEffect::AUTOMATIC);
        assert_eq!(settings.effect_of_netting(), automatic);
        assert_eq!(
            TmpPositionEffect::AUTOMATIC.is_of_orders(system),
            is_options
        );
        assert!(!TmpPositionEffect::QUOTE.is_of_orders(system));
    }
    // The group says it to the orders.
    let mut floor = Floor::new();
    let mut groups = floor.rules.groups.clone();
    let mut lines = tmp_lines(1);
    lines[0].settings.marks.position_effect = None;
    crate::tmp::TmpLines::new(lines).complete(&mut groups);
    assert!(groups[0].over_tmp && groups[0].needs_effect);
    floor.order(10, "100", "");
    let order = floor.got_one();
    assert_eq!(order.position_effect, TmpPositionEffect::DAY_TRADE);
    assert_eq!((order.cm_id, order.fcm_id), (8, 7));
}

#[test]
fn an_order_of_which_nothing_trades_may_be_one_report() {
    for (tif, status, code) in [
        ("3", TmpStatus::IOC_KILLED, "40053"),
        ("4", TmpStatus::FOK_KILLED, "40051"),
    ] {
        let mut floor = Floor::new();
        floor.order(10, "100", &format!("|59={tif}"));
        let order = floor.got_one();
        floor.says(&R02 {
            status,
            ..report(&order, TmpExecType::NEW_FILL, (10, 0))
        });
        let reports = floor.reports(&["150", "14", "151", "58"]);
        assert_eq!(reports.len(), 2, "{reports:?}");
        assert_eq!(reports[0], "150=0|14=0|151=10");
        assert!(
            reports[1].starts_with("150=4|14=0|151=0|58="),
            "{reports:?}"
        );
        assert!(reports[1].contains(code), "{reports:?}");
        floor.check();
    }
}

#[test]
fn an_order_without_any_position_effect_is_refused() {
    let settings = SETTINGS.replace("[oms]\n", "[oms]\nappl_id = \"BARE\"\n");
    let mut floor = Floor::with(&settings, 1, |_| {});
    floor.connect(0);
    floor.order(10, "100", "");
    let reports = floor.reports(&["150", "58"]);
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(reports[0].starts_with("150=8|58="), "{reports:?}");
    assert!(reports[0].contains("position_effect"), "{reports:?}");
    // One that says it itself is sent.
    floor.order(1, "100", "|55=FUTURE|77=C");
    let order = floor.got_one();
    assert_eq!(order.position_effect, TmpPositionEffect::CLOSE);
    floor.check();
}
