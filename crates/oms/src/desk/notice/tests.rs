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
        OmsEvent::StrayFill {
            number,
            id,
            nets,
            is_known: false,
        }
        .to_string()
    };
    assert_eq!(
        told(false),
        "break 7: fill for unknown order X; the position includes it: check with the venue; fixwire oms breaks settle"
    );
    assert!(told(true).contains("without PositionEffect(77): it closed the opposite"));
}

#[test]
fn files_of_a_day_that_are_not_written_are_told_with_what_to_do() {
    let told = |day, again| {
        let why = "days/2026-11-28/fills.csv cannot be written: No space left on device";
        OmsEvent::DayFilesFailed { day, why, again }.to_string()
    };
    assert_eq!(
        told(Some(20_261_128), true),
        "trading day 20261128: files not written: days/2026-11-28/fills.csv cannot be written: No space left on device; fixwire tries again: make the file writable and free space on its disk, or correct [oms] day_files and restart"
    );
    assert!(told(None, true).starts_with("files not written: "));
    assert!(
        told(Some(20_261_128), false)
            .ends_with("; set JournalKeep longer than a day, and remove no .begin- file")
    );
    let (day, folder) = (20_261_128, "days/2026-11-28");
    assert_eq!(
        OmsEvent::DayFiles { day, folder }.to_string(),
        "trading day 20261128: files written in days/2026-11-28"
    );
    let cut = OmsEvent::DayFilesCut { day, folder }.to_string();
    assert!(
        cut.contains("begin at the oldest checkpoint of the day"),
        "{cut}"
    );
}

#[test]
fn events_of_the_database_say_how_far_it_is_and_what_to_do() {
    let why = "PostgreSQL database fix at db:5432: connection refused";
    let told = |events| OmsEvent::DatabaseFailed { why, events }.to_string();
    assert_eq!(
        told(Some(17)),
        "database failed: PostgreSQL database fix at db:5432: connection refused: rows of the last 17 events are missing; trading goes on, and fixwire tries again"
    );
    assert!(told(None).contains(": it is not known how many rows are missing; trading goes on, "));
    let slow = OmsEvent::DatabaseSlow { events: 17 }.to_string();
    assert!(slow.starts_with("database is slow: rows of the last 17 events"));
    assert_eq!(
        OmsEvent::DatabaseCaughtUp { event: 18 }.to_string(),
        "database has the rows of all events, up to 18"
    );
    let refused = OmsEvent::DatabaseRefused { why }.to_string();
    assert!(refused.starts_with("database refused, no row is written: PostgreSQL"));
    let missing = OmsEvent::DatabaseIncomplete { from: 3, to: 9 }.to_string();
    assert!(missing.starts_with("database has no rows of the events 3 to 9, "));
    let (day, after) = (20_261_128, 40);
    let cut = OmsEvent::DatabaseDayCut { day, after }.to_string();
    assert!(cut.starts_with("trading day 20261128: ") && cut.contains("before event 40"));
}
