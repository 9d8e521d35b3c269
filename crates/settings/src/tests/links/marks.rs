//! Values that a line of an OMS writes into its orders and that the orders themselves do not have.

use fixwire_tmp::{OrderMarks, TmpPositionEffect};

use super::*;

pub(super) const ALL: &str = r#"
cm_id = 8000
order_source = "W"
info_source = "903"
investor_flag = "B"
position_effect = "open"
"#;

fn marks(more: &str) -> Result<OrderMarks, String> {
    let text = OMS.replace("fcm_id", &format!("{more}\nfcm_id"));
    let lines = read(&text).map_err(|error| error.to_string())?.tmp_lines();
    lines
        .map(|lines| lines[0].1.marks)
        .map_err(|error| error.to_string())
}

#[test]
fn a_line_says_what_its_orders_have_beside_their_terms() {
    assert_eq!(marks(""), Ok(OrderMarks::default()));
    for (word, code) in [
        ("open", b'O'),
        ("close", b'C'),
        ("day trade", b'D'),
        ("liquidation", b'7'),
    ] {
        let wanted = OrderMarks {
            cm_id: Some(8000),
            order_source: b'W',
            info_source: *b"903",
            investor_flag: b'B',
            position_effect: Some(TmpPositionEffect(code)),
        };
        assert_eq!(marks(&ALL.replace("open", word)), Ok(wanted));
    }
    for source in ["D", "A", "M", "W", "P", "V", "G"] {
        let found = marks(&format!("order_source = \"{source}\"")).unwrap();
        assert_eq!([found.order_source], source.as_bytes());
    }
}

#[test]
fn a_wrong_one_is_named() {
    for (wrong, says) in [
        ("cm_id = 65536", "expected a number, 0 to 65535"),
        ("order_source = \"X\"", "expected D, A, M, W, P, V or G"),
        (
            "info_source = \"99\"",
            "info_source 99 must have 3 characters",
        ),
        (
            "investor_flag = \"AB\"",
            "investor_flag AB must be 1 character",
        ),
        (
            "position_effect = \"O\"",
            "expected open, close, day trade, automatic or liquidation",
        ),
        (
            "position_effect = \"automatic\"",
            "position_effect automatic is for options only",
        ),
    ] {
        let said = marks(wrong).unwrap_err();
        assert!(said.contains(says), "{said}");
        assert!(!said.contains("0123"), "{said}");
    }
}
