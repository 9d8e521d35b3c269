//! Messages that pass through several tables.

use fixwire_protocol::dictionary::Version::*;

use super::built_in::{route, text};
use super::*;

#[test]
fn there_is_one_way_between_any_two_versions() {
    for from in Version::ALL {
        for to in Version::ALL {
            let route = route(from, to);
            let is_one = from == to || from == Fixt11 || to == Fixt11;
            assert_eq!(route.is_none(), is_one, "{from:?} {to:?}");
            let Some(route) = route else {
                assert!(Conversion::built_in(from, to).is_none());
                continue;
            };
            assert_eq!((route[0], route[route.len() - 1]), (from, to));
            assert!(
                route
                    .windows(2)
                    .all(|pair| text(pair[0], pair[1]).is_some())
            );
            let has_table = Conversion::built_in_text(from, to).is_some();
            assert_eq!(has_table, route.len() == 2, "{from:?} {to:?}");
        }
    }
    let longest = [Fix40, Fix41, Fix42, Fix44, Fix50Sp2, Fix50Sp1];
    assert_eq!(route(Fix40, Fix50Sp1).unwrap(), longest);
    assert_eq!(route(Fix50, Fix50Sp1).unwrap(), [Fix50, Fix50Sp2, Fix50Sp1]);
}

#[test]
fn an_order_goes_from_the_oldest_version_to_the_newest() {
    let order = "11=1|55=X|54=1|38=100";
    becomes(
        (Fix40, Fix50Sp2),
        "D",
        order,
        &[(
            "109=C|21=1|40=5",
            "453=1|448=C|447=D|452=3|21=1|60=20260821-13:30:00|40=1|59=7",
        )],
    );
    let (more, lost) = more_of(
        (Fix50Sp2, Fix40),
        "D",
        order,
        "453=1|448=C|447=D|452=3|60=20260821-13:30:00|40=1|59=7",
    );
    assert_eq!(more, "109=C|21=1|40=5");
    assert_eq!(lost, [(60, 1)]);
}

#[test]
fn an_execution_goes_from_the_newest_version_to_the_oldest_and_back() {
    let report = "37=O|17=1|55=X|54=1|6=7";
    becomes(
        (Fix50Sp2, Fix41),
        "8",
        report,
        &[(
            "150=F|39=1|38=100|32=40|31=7|151=60|14=40",
            "20=0|150=1|39=1|38=100|32=40|31=7|151=60|14=40",
        )],
    );
    becomes(
        (Fix40, Fix50Sp2),
        "8",
        report,
        &[(
            "20=0|39=1|38=100|32=40|31=7|14=40",
            "150=F|39=1|38=100|32=40|31=7|151=60|14=40",
        )],
    );
    becomes(
        (Fix40, Fix43),
        "8",
        report,
        &[(
            "20=1|19=2|39=4|38=100|32=0|31=0|14=0",
            "19=2|150=H|39=4|38=100|32=0|31=0|151=0|14=0",
        )],
    );
}

#[test]
fn what_both_ends_have_passes_versions_that_do_not() {
    // FIX 4.1 and 4.2 have no fees in an execution report.
    let report = "37=O|17=1|55=X|54=1|6=7|38=100|32=0|31=0|14=0";
    becomes(
        (Fix40, Fix44),
        "8",
        report,
        &[(
            "20=0|39=0|136=2|137=1|138=EUR|139=4|137=2|139=5|118=9",
            "150=0|39=0|151=100|118=9|136=2|137=1|138=EUR|139=4|137=2|139=5",
        )],
    );
    // FIX 5.0 SP2 has moved the price of a leg.
    becomes(
        (Fix50, Fix43),
        "AB",
        "11=A|21=1|54=1|55=X|60=20260821-13:30:00|40=1",
        &[("555=1|600=L|566=3", "555=1|600=L|566=3")],
    );
    // FIX 4.4 has no TotalVolumeTraded.
    becomes(
        (Fix42, Fix43),
        "W",
        "55=X",
        &[("387=5|268=1|269=0|270=1", "387=5|268=1|269=0|270=1")],
    );
}

#[test]
fn an_option_of_fix_4_3_is_one_in_all_versions() {
    let order = "11=1|21=1|55=X|54=1|38=100|40=1";
    let option = "461=OCASPS|200=202612|202=50";
    let (more, lost) = more_of((Fix43, Fix41), "D", order, option);
    assert_eq!(more, "167=OPT|200=202612|201=1|202=50");
    assert_eq!(lost, [(461, 1)]);
}

#[test]
fn what_only_a_version_between_requires_is_not_missed() {
    // FIX 4.4 requires AllocType.
    let allocation = "70=A|71=0|54=1|55=X|53=5|6=1|75=20260821";
    let why = refusal((Fix50Sp2, Fix44), "J", allocation);
    assert_eq!(why, TransformFailure::Missing(626));
    becomes((Fix50Sp2, Fix42), "J", allocation, &[("58=t", "58=t")]);
}

#[test]
fn losses_of_all_tables_count_once() {
    let order = "11=1|21=1|55=X|54=1|38=100|40=1|60=20260821-13:30:00";
    let parties = "453=2|448=C|447=D|452=3|448=T|447=D|452=11";
    let (more, lost) = more_of((Fix50Sp2, Fix41), "D", order, parties);
    assert_eq!(more, "109=C");
    assert_eq!(lost, [(60, 1), (447, 1), (448, 1), (452, 1), (453, 1)]);
}

#[test]
fn user_defined_fields_and_groups_pass_all_tables() {
    let mut conversion = built_in(Fix50Sp1, Fix40);
    let mut losses = conversion.losses();
    let fields =
        "70=1|71=0|54=1|55=X|53=5|6=1|75=20260821|9000=a|73=1|11=O|9001=b|78=1|79=A|9002=c|80=5";
    let mut draft = draft_of(b"J", fields);
    assert_eq!(conversion.convert(&mut draft, &mut losses), Ok(()));
    assert_eq!(
        readable(&written(&mut draft)),
        "9000=a|70=1|71=0|73=1|11=O|9001=b|54=1|55=X|53=5|6=1|75=20260821|78=1|79=A|9002=c|80=5|"
    );
}

#[test]
fn conversions_share_dictionaries_and_tables() {
    let mut built_in = BuiltInConversions::default();
    let one = built_in.conversion(Fix42, Fix50Sp2).unwrap();
    let other = built_in.conversion(Fix40, Fix44).unwrap();
    assert!(Arc::ptr_eq(&one.links[0], &other.links[2]));
    assert!(Arc::ptr_eq(&one.links[0].to, &one.links[1].from));
    let clone = one.clone();
    assert!(Arc::ptr_eq(&one.links[0], &clone.links[0]));
}

#[test]
fn a_message_takes_no_memory_in_a_chain() {
    let fields = "109=C|76=X|11=1|21=1|18=1 2|55=X|54=1|38=100|40=5|47=J|";
    let message = whole(Fix40, "D", fields.replace('|', "\x01").as_bytes());
    let mut decoder = Decoder::with_capacity(64);
    let mut draft = Draft::with_capacity(64, 1024);
    let (mut up, mut down) = (built_in(Fix40, Fix50Sp1), built_in(Fix50Sp1, Fix40));
    let (mut lost_up, mut lost_down) = (up.losses(), down.losses());
    let mut once = || {
        draft.load(&decoder.decode(&message));
        up.convert(&mut draft, &mut lost_up).unwrap();
        down.convert(&mut draft, &mut lost_down).unwrap();
    };
    once();
    let counted = allocation_counter::measure(|| (0..100).for_each(|_| once()));
    assert_eq!(counted.count_total, 0);
}
