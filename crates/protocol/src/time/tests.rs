use std::format;
use std::string::String;

use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Result<i64, TimeError> {
    Timestamp::parse(text.as_bytes()).map(|moment| moment.0)
}

fn text(moment: i64, precision: Precision) -> String {
    let mut stamp = TimestampWriter::new();
    String::from_utf8(stamp.format(Timestamp(moment), precision).to_vec()).expect("it is text")
}

#[test]
fn moments_are_read() {
    assert_eq!(parse("19700101-00:00:00"), Ok(0));
    assert_eq!(parse("20000229-12:34:56"), Ok(951_827_696_000_000_000));
    assert_eq!(
        parse("20260821-13:30:00.123"),
        Ok(1_787_319_000_123_000_000)
    );
    assert_eq!(
        parse("20260821-13:30:00.123456"),
        Ok(1_787_319_000_123_456_000)
    );
    assert_eq!(
        parse("20260821-13:30:00.123456789"),
        Ok(1_787_319_000_123_456_789)
    );
    assert_eq!(
        parse("20260821-13:30:00.123456789999"),
        Ok(1_787_319_000_123_456_789)
    );
    assert_eq!(parse("20161231-23:59:60"), parse("20170101-00:00:00"));
    assert_eq!(parse("19691231-23:59:59.999999999"), Ok(-1));
    assert_eq!(parse("22620411-23:47:16.854775807"), Ok(i64::MAX));
    assert_eq!(parse("22620411-23:47:16.854775808"), Err(TimeError::Range));
    assert_eq!(parse("99991231-23:59:59"), Err(TimeError::Range));
    assert_eq!(parse("00000101-00:00:00"), Err(TimeError::Range));
    assert_eq!(check_timestamp(b"99991231-23:59:59"), Ok(()));
}

#[test]
fn other_text_is_refused() {
    for wrong in [
        "20260230-10:00:00",
        "20250229-10:00:00",
        "19000229-10:00:00",
        "20261301-10:00:00",
        "20260001-10:00:00",
        "20260100-10:00:00",
        "20260132-10:00:00",
        "20260101-24:00:00",
        "20260101-23:60:00",
        "20260101-23:59:61",
    ] {
        assert_eq!(parse(wrong), Err(TimeError::NoSuchMoment), "{wrong}");
    }
    for wrong in [
        "",
        "now",
        "2026-01-01T10:00:00Z",
        "20260101-10:00",
        "20260101-10:00:00.",
        "20260101-10:00:00.1",
        "20260101-10:00:00.1234",
        "20260101-10:00:00.1234567890",
        "20260101-10:00:00Z",
        "20260101",
    ] {
        assert!(
            matches!(
                parse(wrong),
                Err(TimeError::Length | TimeError::Byte { .. })
            ),
            "{wrong}"
        );
    }
    assert_eq!(parse("20260101 10:00:00"), Err(TimeError::Byte { at: 8 }));
    assert_eq!(parse("20260101-10-00:00"), Err(TimeError::Byte { at: 11 }));
    assert_eq!(
        parse("20260101-10:00:00,123"),
        Err(TimeError::Byte { at: 17 })
    );
    assert_eq!(
        parse("20260101-10:00:00.12x"),
        Err(TimeError::Byte { at: 20 })
    );
    assert_eq!(parse("2026+101-10:00:00"), Err(TimeError::Byte { at: 4 }));
    assert_eq!(
        parse("20260101-10:00:00.12345678901x"),
        Err(TimeError::Byte { at: 29 })
    );
}

#[test]
fn parts_of_moments_are_read() {
    assert_eq!(parse_time_only(b"13:30:00.5"), Err(TimeError::Length));
    assert_eq!(
        parse_time_only(b"13:30:00.500"),
        Ok(Nanos::from_millis(48_600_500))
    );
    assert_eq!(parse_time_only(b"24:00:00"), Err(TimeError::NoSuchMoment));
    assert_eq!(parse_date(b"19700102"), Ok(1));
    assert_eq!(parse_date(b"20260229"), Err(TimeError::NoSuchMoment));
    assert_eq!(parse_date(b"2026022"), Err(TimeError::Length));
    for right in ["202601", "20260131", "202601w1", "202612w5"] {
        assert_eq!(check_month_year(right.as_bytes()), Ok(()), "{right}");
    }
    for wrong in [
        "202613", "202600", "20260132", "202601w6", "202601w0", "2026", "2026AB", "",
    ] {
        assert!(check_month_year(wrong.as_bytes()).is_err(), "{wrong}");
    }
    for right in [
        "07:39",
        "07:39Z",
        "07:39:00-05",
        "07:39:00.123+05:30",
        "07:39:00+14",
    ] {
        assert_eq!(check_tz_time_only(right.as_bytes()), Ok(()), "{right}");
        let with_date = format!("20260901-{right}");
        assert_eq!(check_tz_timestamp(with_date.as_bytes()), Ok(()), "{right}");
    }
    for wrong in [
        "", "7:39", "25:00", "07:39z", "07:39ZZ", "07:39+5", "07:39+15", "07:39Z05",
    ] {
        assert!(check_tz_time_only(wrong.as_bytes()).is_err(), "{wrong}");
        let with_date = format!("20260901-{wrong}");
        assert!(check_tz_timestamp(with_date.as_bytes()).is_err(), "{wrong}");
    }
    assert!(check_tz_timestamp(b"2026090-07:39Z").is_err());
}

#[test]
fn a_stamp_cuts_and_follows_the_second() {
    let moment = 1_787_319_000_123_456_789;
    assert_eq!(text(moment, Precision::Seconds), "20260821-13:30:00");
    assert_eq!(text(moment, Precision::Millis), "20260821-13:30:00.123");
    assert_eq!(text(moment, Precision::Micros), "20260821-13:30:00.123456");
    assert_eq!(
        text(moment, Precision::Nanos),
        "20260821-13:30:00.123456789"
    );
    let mut stamp = TimestampWriter::new();
    for moment in [
        0,
        999_999_999,
        1_000_000_000,
        -1,
        86_399_999_999_999,
        i64::MIN,
        i64::MAX,
    ] {
        let kept = stamp.format(Timestamp(moment), Precision::Nanos).to_vec();
        assert_eq!(text(moment, Precision::Nanos).into_bytes(), kept);
        assert_eq!(Timestamp::parse(&kept), Ok(Timestamp(moment)));
    }
}

#[test]
fn a_writer_that_keeps_its_text_writes_what_a_new_one_does() {
    let all = [
        Precision::Seconds,
        Precision::Millis,
        Precision::Micros,
        Precision::Nanos,
    ];
    let moments = [
        0,
        1,
        999_999,
        1_000_000,
        -1,
        -1_000_000,
        -1_000_001,
        1_787_319_000_123_000_000,
        1_787_319_000_123_999_999,
        1_787_319_000_124_000_000,
        1_787_319_001_123_000_000,
        i64::MIN,
        i64::MIN + 1,
        i64::MAX,
    ];
    let mut stamp = TimestampWriter::new();
    for first in moments {
        for before in all {
            for second in moments {
                for after in all {
                    stamp.format(Timestamp(first), before);
                    let kept = stamp.format(Timestamp(second), after).to_vec();
                    assert_eq!(text(second, after).into_bytes(), kept, "{first} {second}");
                }
            }
        }
    }
}

/// Days since 1970, counted one year and one month at a time.
fn slow_days(year: i64, month: u32, day: u32) -> i64 {
    let leap = |y: i64| (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    let years: i64 = if year >= 1970 {
        (1970..year).map(|y| 365 + i64::from(leap(y))).sum()
    } else {
        -(year..1970).map(|y| 365 + i64::from(leap(y))).sum::<i64>()
    };
    let lengths = [
        31,
        28 + i64::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    years + lengths[..month as usize - 1].iter().sum::<i64>() + i64::from(day) - 1
}

proptest! {
    #[test]
    fn every_moment_comes_back(moment in any::<i64>()) {
        let written = text(moment, Precision::Nanos);
        prop_assert_eq!(parse(&written), Ok(moment));
        let cut = moment.div_euclid(1_000_000) * 1_000_000;
        if let Ok(read) = parse(&text(moment, Precision::Millis)) {
            prop_assert_eq!(read, cut);
        }
    }

    #[test]
    fn days_are_those_of_the_slow_calendar(year in 0_i64..=9999, month in 0_u32..14, day in 0_u32..33) {
        let written = format!("{year:04}{month:02}{day:02}");
        let real = (1..=12).contains(&month) && day >= 1 && {
            let next = if month == 12 { slow_days(year + 1, 1, 1) } else { slow_days(year, month + 1, 1) };
            slow_days(year, month, day) < next
        };
        let wanted = if real { Ok(slow_days(year, month, day) as i32) } else { Err(TimeError::NoSuchMoment) };
        prop_assert_eq!(parse_date(written.as_bytes()), wanted);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..40), cut in 0_usize..40) {
        let mut near = b"20260821-13:30:00.123456789012".to_vec();
        near.splice(cut.min(30).., bytes.iter().copied());
        for text in [&bytes, &near] {
            let _ = (Timestamp::parse(text), parse_time_only(text), parse_date(text));
            let _ = (check_month_year(text), check_tz_time_only(text), check_tz_timestamp(text));
        }
    }
}
