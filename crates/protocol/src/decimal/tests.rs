use std::format;
use std::string::{String, ToString};

use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Result<(i64, u8), DecimalError> {
    Decimal::parse(text.as_bytes()).map(|d| (d.mantissa, d.scale))
}

#[test]
fn numbers_are_read_as_written() {
    assert_eq!(parse("0"), Ok((0, 0)));
    assert_eq!(parse("200.0"), Ok((2000, 1)));
    assert_eq!(parse("-1.50"), Ok((-150, 2)));
    assert_eq!(parse("0100.500"), Ok((100_500, 3)));
    assert_eq!(parse(".5"), Ok((5, 1)));
    assert_eq!(parse("5."), Ok((5, 0)));
    assert_eq!(parse("-0"), Ok((0, 0)));
    assert_eq!(parse("9223372036854775807"), Ok((i64::MAX, 0)));
    assert_eq!(parse("-9223372036854775808"), Ok((i64::MIN, 0)));
    assert_eq!(parse("-9.223372036854775808"), Ok((i64::MIN, 18)));
    assert_eq!(parse("000000000000000000000000001"), Ok((1, 0)));
}

#[test]
fn other_text_is_refused() {
    for wrong in [
        "",
        "-",
        ".",
        "-.",
        "+5",
        "1e5",
        "1E5",
        "NaN",
        "inf",
        "0x10",
        "1,000",
        "1.2.3",
        "--5",
        "5-",
        " 5",
        "5 ",
        "1_0",
        "--9223372036854775808",
        "1.2.3000000000000000000000",
    ] {
        assert_eq!(parse(wrong), Err(DecimalError::Form), "{wrong}");
        assert_eq!(
            check_float(wrong.as_bytes()),
            Err(DecimalError::Form),
            "{wrong}"
        );
    }
    for large in [
        "9223372036854775808",
        "-9223372036854775809",
        "1234567890123456789012345678901",
        "0.0000000000000000001",
        "1.00000000000000000000",
    ] {
        assert_eq!(parse(large), Err(DecimalError::Range), "{large}");
        assert_eq!(check_float(large.as_bytes()), Ok(()), "{large}");
    }
    let long = format!("0.{}", "0".repeat(400));
    assert_eq!(parse(&long), Err(DecimalError::Range));
}

#[test]
fn equal_is_the_number_not_the_text() {
    let decimal = |text: &str| Decimal::parse(text.as_bytes()).expect("it is a number");
    assert_eq!(decimal("1.50"), decimal("1.5"));
    assert!(decimal("1.49") < decimal("1.5"));
    assert!(decimal("-1.51") < decimal("-1.5"));
    assert!(decimal("9223372036854775807") > decimal("9.223372036854775807"));
    let short = decimal("-10.500").normalized();
    assert_eq!((short.mantissa, short.scale), (-105, 1));
    assert_eq!(decimal("100").normalized().scale, 0);
    assert_eq!(Decimal::new(1, 19).map(|d| d.scale), None);
}

/// Digits and point, done on text.
fn slow_text(mantissa: i64, scale: u8) -> String {
    let digits = format!(
        "{:0>width$}",
        mantissa.unsigned_abs(),
        width = usize::from(scale) + 1
    );
    let (whole, part) = digits.split_at(digits.len() - usize::from(scale));
    let point = if scale > 0 { "." } else { "" };
    format!(
        "{}{whole}{point}{part}",
        if mantissa < 0 { "-" } else { "" }
    )
}

#[test]
fn floats_of_any_length_are_ordered() {
    let rising = [
        "-9223372036854775809",
        "-9223372036854775808",
        "-1.00000000000000000001",
        "-1",
        "-0.00000000000000000001",
        "0",
        "0.00000000000000000001",
        "0.1",
        "0.15",
        "1",
        "9.99999999999999999999",
        "10",
        "9223372036854775807",
        "9223372036854775808",
        "10000000000000000000",
    ];
    for (at, left) in rising.iter().enumerate() {
        for (place, right) in rising.iter().enumerate() {
            let order = compare_floats(left.as_bytes(), right.as_bytes());
            assert_eq!(order, Ok(at.cmp(&place)), "{left} {right}");
        }
    }
    let equal = |left: &str, right: &str| {
        compare_floats(left.as_bytes(), right.as_bytes()) == Ok(Ordering::Equal)
    };
    assert!(equal("-0", "0") && equal("000.", ".0") && equal("-007.10", "-7.1"));
    assert_eq!(compare_floats(b"1e5", b"1"), Err(DecimalError::Form));
    assert_eq!(compare_floats(b"1", b""), Err(DecimalError::Form));
    assert_eq!(
        Decimal::compare(b"1e5", Decimal::default()),
        Err(DecimalError::Form)
    );
}

proptest! {
    #[test]
    fn floats_are_ordered_as_decimals(
        left in any::<i64>(), right in any::<i64>(), shift in 0_u32..63, scales: (u8, u8), zeros in 0_usize..24,
    ) {
        let left = Decimal { mantissa: left >> shift, scale: scales.0 % 19 };
        let right = Decimal { mantissa: right >> shift, scale: scales.1 % 19 };
        let point = if left.scale == 0 { "." } else { "" };
        let text = format!("{left}{point}{}", "0".repeat(zeros));
        prop_assert_eq!(Decimal::compare(text.as_bytes(), right), Ok(left.cmp(&right)));
        let other = right.to_string();
        prop_assert_eq!(compare_floats(text.as_bytes(), other.as_bytes()), Ok(left.cmp(&right)));
    }

    #[test]
    fn numbers_come_back(mantissa in any::<i64>(), shift in 0_u32..63, scale in 0_u8..=18) {
        let mantissa = mantissa >> shift;
        let decimal = Decimal { mantissa, scale };
        let text = decimal.to_string();
        prop_assert_eq!(&text, &slow_text(mantissa, scale));
        prop_assert_eq!(parse(&text), Ok((mantissa, scale)));
        prop_assert_eq!(decimal.normalized(), decimal);
    }

    #[test]
    fn form_and_parse_agree(text in "-?[0-9.]{0,24}|[0-9.eE+-]{0,8}") {
        match parse(&text) {
            Err(DecimalError::Form) => prop_assert!(check_float(text.as_bytes()).is_err()),
            _ => prop_assert!(check_float(text.as_bytes()).is_ok()),
        }
        if text.len() <= 18 && let Ok(float) = text.parse::<f64>() && let Ok((mantissa, scale)) = parse(&text) {
            let exact = mantissa as f64 / 10_f64.powi(i32::from(scale));
            prop_assert!((exact - float).abs() <= float.abs() * 1e-12);
        }
    }
}
