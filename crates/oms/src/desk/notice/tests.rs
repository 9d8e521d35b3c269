use super::*;
use alloc::string::ToString;

#[test]
fn a_client_that_is_logged_out_is_named_with_its_rate() {
    let rate = RateRule {
        count: core::num::NonZeroUsize::new(100).unwrap(),
        time: 1_000_000_000,
        logout_after: Some(10),
    };
    let session = "CLIENT";
    assert_eq!(
        OmsEvent::LoggedOut { session, rate }.to_string(),
        "CLIENT logged out: 10 requests above its rate limit of 100 in 1s were rejected; it may log on again"
    );
}

#[test]
fn a_fill_that_says_too_little_is_told_as_one() {
    let told = |nets| {
        let (number, id) = (7, b"X");
        OmsEvent::StrayFill { number, id, nets }.to_string()
    };
    assert_eq!(
        told(false),
        "break 7: fill for unknown order X; the position includes it: check with the venue; fixwire oms breaks settle"
    );
    assert!(told(true).contains("without PositionEffect(77): it closed the opposite"));
}
