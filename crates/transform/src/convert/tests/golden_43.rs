//! Each row of the differences between FIX 4.3 and 4.4, both ways.

use super::*;

const ORDER: &str = "11=A|21=1|54=1|55=X|60=20260821-13:30:00";
const REPORT: &str = "37=O|17=E|55=X|54=1|6=0";
const UP: (Version, Version) = (Version::Fix43, Version::Fix44);
const DOWN: (Version, Version) = (Version::Fix44, Version::Fix43);

#[track_caller]
fn both_ways(msg_type: &str, base: &str, rows: &[(&str, &str)]) {
    becomes(UP, msg_type, base, rows);
    let back: Vec<_> = rows
        .iter()
        .map(|&(before, after)| (after, before))
        .collect();
    becomes(DOWN, msg_type, base, &back);
}

#[test]
fn withdrawn_states_are_said_as_they_are_now() {
    becomes(
        UP,
        "8",
        REPORT,
        &[
            ("150=1|39=1|151=5|14=5", "150=F|39=1|151=5|14=5"),
            ("150=2|39=2|151=0|14=5", "150=F|39=2|151=0|14=5"),
            ("150=F|39=2|151=0|14=5", "150=F|39=2|151=0|14=5"),
            ("150=5|39=5|151=5|14=0", "150=5|39=0|151=5|14=0"),
            ("150=5|39=5|151=5|14=5", "150=5|39=1|151=5|14=5"),
            (
                "150=8|39=8|103=12|151=0|14=0",
                "150=8|39=8|103=12|151=0|14=0",
            ),
        ],
    );
}

#[test]
fn a_part_of_a_party_is_a_group() {
    both_ways(
        "D",
        ORDER,
        &[(
            "453=1|448=P|447=D|452=1|523=S|40=1",
            "453=1|448=P|447=D|452=1|802=1|523=S|40=1",
        )],
    );
    let parts = "453=1|448=P|447=D|452=1|802=2|523=S|803=2|523=T|803=3|40=1";
    let (more, lost) = more_of(DOWN, "D", ORDER, parts);
    assert_eq!(more, "453=1|448=P|447=D|452=1|523=S|40=1");
    assert_eq!(lost, [(523, 1), (802, 1), (803, 1)]);
    both_ways(
        "D",
        ORDER,
        &[(
            "78=1|79=A|539=1|524=P|525=D|538=1|545=S|40=1",
            "78=1|79=A|539=1|524=P|525=D|538=1|804=1|545=S|40=1",
        )],
    );
}

#[test]
fn options_and_futures_have_a_type_again() {
    both_ways(
        "D",
        ORDER,
        &[("465=6|40=1", "854=1|40=1"), ("465=1|40=1", "854=0|40=1")],
    );
    becomes(
        UP,
        "D",
        ORDER,
        &[
            ("461=OPXXXX|40=1", "461=OPXXXX|167=OPT|201=0|40=1"),
            ("461=OCXXXX|40=1", "461=OCXXXX|167=OPT|201=1|40=1"),
            ("461=FXXXXX|40=1", "461=FXXXXX|167=FUT|40=1"),
            ("461=OCASPS|40=1", "461=OCASPS|167=OPT|201=1|40=1"),
            ("461=ESXXXX|40=1", "461=ESXXXX|40=1"),
            ("461=OPXXXX|167=CORP|40=1", "461=OPXXXX|167=CORP|201=0|40=1"),
            ("167=RVRP|40=1", "167=REPO|40=1"),
        ],
    );
    becomes(
        DOWN,
        "D",
        ORDER,
        &[
            ("167=OPT|201=0|40=1", "461=OPXXXX|40=1"),
            ("461=OCASPS|167=OPT|201=1|40=1", "461=OCASPS|40=1"),
            ("167=FUT|40=1", "461=FXXXXX|40=1"),
            ("167=REPO|40=1", "167=RP|40=1"),
        ],
    );
    // A code with another meaning stays, and fields that it does not express are lost.
    let (more, lost) = more_of(DOWN, "D", ORDER, "461=OPASPS|167=OPT|201=1|40=1");
    assert_eq!(
        (more.as_str(), &*lost),
        ("461=OPASPS|40=1", &[(201, 1)][..])
    );
}

#[test]
fn withdrawn_order_types_and_codes_are_said_otherwise() {
    becomes(
        UP,
        "D",
        ORDER,
        &[
            ("40=5", "40=1|59=7"),
            ("40=B|44=3", "40=2|44=3|59=7"),
            ("40=F|44=3", "460=4|40=2|44=3"),
            ("63=A|40=1", "63=2|40=1"),
            ("40=1|47=J", "40=1|528=I|529=1 2"),
        ],
    );
    becomes(DOWN, "D", ORDER, &[("40=1|59=7", "40=1|59=7")]);
    let (more, lost) = more_of(UP, "D", ORDER, "40=1|528=P|47=J");
    assert_eq!((more.as_str(), &*lost), ("40=1|528=P", &[(47, 1)][..]));
    both_ways("D", ORDER, &[("347=SHIFT_JIS|40=1", "347=Shift_JIS|40=1")]);
    becomes(
        UP,
        "D",
        ORDER,
        &[(
            "115=C|370=20260821-13:00:00|40=1",
            "115=C|627=1|628=C|629=20260821-13:00:00|40=1",
        )],
    );
    let ioi = "23=I|28=N|55=X|54=1|27=S";
    becomes(UP, "6", ioi, &[("219=2", "221=Treasury|222=5Y")]);
}

#[test]
fn allocations_have_other_kinds() {
    let base = "70=A|54=1|55=X|53=5|6=1|75=20260821";
    becomes(
        UP,
        "J",
        base,
        &[
            ("71=0|626=1", "71=0|626=1|857=0"),
            ("71=0|626=3", "71=0|626=1|857=0"),
            ("71=0|626=6|73=1|11=A", "71=0|626=5|857=1|73=1|11=A"),
        ],
    );
    both_ways(
        "J",
        base,
        &[(
            "71=0|626=1|73=1|11=A|78=1|79=T|80=5|159=2|160=0",
            "71=0|626=1|857=1|73=1|11=A|78=1|79=T|80=5|742=2|780=0",
        )],
    );
}

#[test]
fn what_the_other_requires_is_filled_in() {
    let order = "11=A|54=1|55=X|60=20260821-13:30:00";
    becomes(DOWN, "D", order, &[("40=1", "21=1|40=1")]);
    let trade = "571=T|570=N|55=X|32=5|31=7|75=20260821|60=20260821-13:30:00|552=1|54=1|37=O";
    becomes(DOWN, "AE", trade, &[("487=2", "487=R|150=F")]);
    becomes(UP, "AE", trade, &[("487=C|150=F", "487=1|150=F")]);
    let ack = "70=A|75=20260821|87=0";
    becomes(UP, "P", ack, &[("88=0", "60=20260821-13:30:00|88=0")]);
}
