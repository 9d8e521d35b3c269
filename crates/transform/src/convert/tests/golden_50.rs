//! Each row of the differences between FIX 5.0, its service packs and FIX 4.4.

use super::*;

const FIX50: [(Version, Version); 2] = both(Version::Fix50);
const FIX50_SP1: [(Version, Version); 2] = both(Version::Fix50Sp1);
const FIX44: [(Version, Version); 2] = both(Version::Fix44);

/// To FIX 5.0 SP2 and back.
const fn both(version: Version) -> [(Version, Version); 2] {
    [(version, Version::Fix50Sp2), (Version::Fix50Sp2, version)]
}

#[track_caller]
fn both_ways(ways: [(Version, Version); 2], msg_type: &str, base: &str, rows: &[(&str, &str)]) {
    becomes(ways[0], msg_type, base, rows);
    let back: Vec<_> = rows
        .iter()
        .map(|&(before, after)| (after, before))
        .collect();
    becomes(ways[1], msg_type, base, &back);
}

#[test]
fn halt_reasons_are_letters_or_numbers() {
    for ways in [FIX44, FIX50, FIX50_SP1] {
        for (letter, number) in [("D", 0), ("E", 1), ("I", 2), ("M", 3), ("P", 4), ("X", 5)] {
            let (before, after) = (format!("327={letter}"), format!("327={number}"));
            both_ways(ways, "f", "55=X|326=2", &[(&before, &after)]);
        }
    }
}

#[test]
fn currencies_of_a_side_and_of_a_leg_have_their_own_fields() {
    for ways in [FIX44, FIX50] {
        both_ways(
            ways,
            "AE",
            "571=T|570=N|55=X|32=5|31=7|75=20260821|60=20260821-13:30:00",
            &[(
                "552=1|54=1|37=O|15=EUR|120=USD",
                "552=1|54=1|1154=EUR|1155=USD|37=O",
            )],
        );
        both_ways(
            ways,
            "AB",
            "11=A|21=1|54=1|55=X|60=20260821-13:30:00|40=1",
            &[(
                "555=1|600=L|670=1|671=A|675=EUR",
                "555=1|600=L|670=1|671=A|1367=EUR",
            )],
        );
    }
}

#[test]
fn codes_of_fix_5_0_have_got_others() {
    let report = "37=O|17=E|55=X|54=1|14=5|151=0|150=F|39=2";
    for (before, after) in [(60, 1), (61, 2), (62, 4), (63, 5), (64, 6), (65, 7)] {
        let (before, after) = (format!("574={before}"), format!("574={after}"));
        becomes(FIX50[0], "8", report, &[(&before, &after)]);
    }
    let order = "11=A|54=1|55=X|60=20260821-13:30:00|40=P";
    becomes(
        FIX50[0],
        "D",
        order,
        &[("1094=6", "1094=5|835=1|840=1"), ("1094=4", "1094=4")],
    );
    both_ways(FIX50, "c", "320=R|321=0", &[("167=WLD", "167=?")]);
}

#[test]
fn the_report_of_a_mass_cancel_has_an_id() {
    for ways in [FIX44, FIX50] {
        becomes(ways[0], "r", "37=O|530=7|531=7", &[("11=A", "11=A|1369=O")]);
    }
}

#[test]
fn what_only_one_service_pack_has_is_lost_or_missed() {
    let reject = "37=O|11=B|434=1|39=0";
    let why = refusal(FIX50[1], "9", reject);
    assert_eq!(why, TransformFailure::Missing(41));
    let order = "11=A|54=1|55=X|60=20260821-13:30:00|40=2";
    let (more, lost) = more_of(FIX50[1], "D", order, "59=9|44=3|1300=M");
    assert_eq!((more.as_str(), &*lost), ("44=3", &[(59, 1), (1300, 1)][..]));
    let (more, lost) = more_of(FIX50_SP1[1], "D", order, "167=FXSPOT|44=3");
    assert_eq!((more.as_str(), &*lost), ("44=3", &[(167, 1)][..]));
    both_ways(FIX50_SP1, "D", order, &[("1138=5|44=3", "1138=5|44=3")]);
}
