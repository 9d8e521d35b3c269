//! Do the other tests detect a planted fault of the OMS, and name it?

/// Plants the fault that `FIXWIRE_CANARY` names, in a build that has any.
pub fn plant() {
    #[cfg(feature = "canary")]
    fixwire_oms::canary::plant(&std::env::var("FIXWIRE_CANARY").unwrap_or_default());
}

#[cfg(feature = "canary")]
mod trials {
    use fixwire_oms::canary::OmsPlantedFault;
    use std::process::Command;
    use std::time::Instant;

    /// A fault, the test that must find it, and what it says then.
    const TRIALS: [(OmsPlantedFault, &str, &str); 11] = [
        (
            OmsPlantedFault::SkipNote,
            "crashes::nothing_is_sent_twice_or_forgotten_when_the_process_is_killed",
            "the notes",
        ),
        (
            OmsPlantedFault::DropPended,
            "permutations::every_order_of_reports_ends_in_the_same_state",
            "cancelled while it is filled in part: [",
        ),
        (
            OmsPlantedFault::ResendUnknown,
            "crashes::nothing_is_sent_twice_or_forgotten_when_the_process_is_killed",
            "was sent twice",
        ),
        (
            OmsPlantedFault::ReleaseTwice,
            "twin::the_oms_does_what_the_slow_model_says",
            "reserved is ",
        ),
        (
            OmsPlantedFault::RetryPast,
            "crashes::a_report_of_a_former_attempt_changes_nothing",
            "goes on as attempt 3-5",
        ),
        (
            OmsPlantedFault::TriggerTwice,
            "crashes::a_held_order_is_triggered_once_when_the_process_is_killed",
            "was sent twice",
        ),
        (
            OmsPlantedFault::CountTwice,
            "twin::the_oms_does_what_the_slow_model_says",
            "counted is (",
        ),
        (
            OmsPlantedFault::InquireTwice,
            "inquiries::an_inquiry_is_sent_and_answered_once_when_the_process_is_killed",
            "was sent twice",
        ),
        (
            OmsPlantedFault::LegTwice,
            "spreads::an_order_of_a_spread_is_sent_as_its_symbol_and_filled_in_legs",
            "left: (4, [8, 8])",
        ),
        (
            OmsPlantedFault::MissBreak,
            "days::what_a_venue_loses_changes_or_repeats_is_found_told_and_settled",
            "here, at the venue",
        ),
        (
            OmsPlantedFault::ForgetFields,
            "fields::carried::what_an_order_carries_survives_queue_reject_restart_and_roll",
            "- fields of ",
        ),
    ];

    /// Each in a process of its own, in all of which it is planted.
    fn found(fault: OmsPlantedFault, test: &str, words: &str) -> Result<String, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let output = Command::new(program)
            .args(["--exact", test, "--nocapture"])
            .env("FIXWIRE_CANARY", fault.name())
            .env("RUST_BACKTRACE", "0")
            .output()
            .map_err(|error| error.to_string())?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        match said.lines().find(|line| line.contains(words)) {
            _ if output.status.success() => Err("it passes".into()),
            Some(line) => Ok(line.to_owned()),
            None => Err(format!("found by other words:\n{said}")),
        }
    }

    #[test]
    fn each_planted_fault_is_found() {
        assert_eq!(TRIALS.map(|(fault, ..)| fault), OmsPlantedFault::ALL);
        for (fault, test, words) in TRIALS {
            let (began, name) = (Instant::now(), fault.name());
            match found(fault, test, words) {
                Ok(line) => println!("{name}: {test} in {:.1?}: {line}", began.elapsed()),
                Err(why) => panic!("{name}: {test}: {why}"),
            }
        }
    }
}
