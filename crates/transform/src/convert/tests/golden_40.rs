//! Each row of the differences between FIX 4.0, 4.1 and 4.2.

use super::*;

const FROM_40: (Version, Version) = (Version::Fix40, Version::Fix41);
const TO_40: (Version, Version) = (Version::Fix41, Version::Fix40);
const FROM_41: (Version, Version) = (Version::Fix41, Version::Fix42);
const TO_41: (Version, Version) = (Version::Fix42, Version::Fix41);

#[test]
fn the_oldest_execution_report_gets_exec_type_and_leaves_qty() {
    let report = "37=O|17=1|20=0|55=X|54=1|38=100|32=0|31=0|6=1";
    becomes(
        FROM_40,
        "8",
        report,
        &[
            ("39=0|14=0", "150=0|39=0|151=100|14=0"),
            ("39=1|14=40", "150=1|39=1|151=60|14=40"),
            ("39=2|14=100", "150=2|39=2|151=0|14=100"),
            ("39=4|14=40", "150=4|39=4|151=0|14=40"),
            ("39=5|14=40", "150=5|39=5|151=60|14=40"),
            ("39=8|14=0", "150=8|39=8|151=0|14=0"),
        ],
    );
    becomes(
        TO_40,
        "8",
        report,
        &[
            ("150=1|39=1|151=60|14=40", "39=1|14=40"),
            ("150=5|39=1|151=60|14=40", "39=5|14=40"),
        ],
    );
}

#[test]
fn a_difference_is_exact_or_not_there() {
    let text = "from FIX.4.0\nto FIX.4.2\nfor 8\nset 150=@39\ndifference 38 14 -> 151";
    let mut conversion = Conversion::read(text).unwrap();
    let mut losses = conversion.losses();
    let mut left = |order: &str, done: &str| {
        let fields = format!("37=O|17=1|20=0|39=0|55=X|54=1|6=0|38={order}|14={done}");
        let mut draft = draft_of(b"8", &fields);
        let outcome = conversion.convert(&mut draft, &mut losses);
        let left = draft.get(151).map(readable);
        outcome.map(|()| left.unwrap())
    };
    assert_eq!(left("100.5", "0.25"), Ok("100.25".into()));
    assert_eq!(left("100", "100.00"), Ok("0.00".into()));
    assert_eq!(left("1", "2"), Ok("-1".into()));
    let missing = Err(TransformFailure::Missing(151));
    assert_eq!(left("9223372036854775807", "-1"), missing);
    assert_eq!(left("9223372036854775807", "0.01"), missing);
    assert_eq!(left("many", "1"), missing);
}

#[test]
fn the_oldest_reject_of_a_cancel_tells_no_status() {
    let reject = "37=O|11=2";
    becomes(
        FROM_40,
        "9",
        reject,
        &[
            ("102=1", "41=NONE|39=8|102=1"),
            ("102=0", "41=NONE|39=0|102=0"),
        ],
    );
    let (more, lost) = more_of(TO_40, "9", reject, "41=NONE|39=8|102=1");
    assert_eq!((more.as_str(), &*lost), ("102=1", &[(39, 1)][..]));
    becomes(
        FROM_41,
        "9",
        "37=O|11=2|41=1|39=0",
        &[("102=0", "434=1|102=0")],
    );
}

#[test]
fn a_cancel_is_for_all_that_is_left() {
    let cancel = "41=1|11=2|55=X|54=1|38=100";
    becomes(FROM_40, "F", cancel, &[("125=F|58=t", "58=t")]);
    becomes(TO_40, "F", cancel, &[("58=t", "125=F|58=t")]);
    let part = "41=1|11=2|125=P|55=X|54=1|38=100";
    for to in [Version::Fix41, Version::Fix44, Version::Fix50Sp2] {
        let why = refusal((Version::Fix40, to), "F", part);
        assert_eq!(why, TransformFailure::Homeless(125), "to {}", to.name());
    }
}

#[test]
fn what_a_derivative_is_on_is_not_traded_in_its_place() {
    let order = "11=1|21=1|55=X|54=1|38=100|40=1";
    let (more, lost) = more_of(TO_40, "D", order, "167=CS|207=N");
    assert_eq!((more.as_str(), &*lost), ("", &[(167, 1), (207, 1)][..]));
    for (tag, field) in [(200, "200=202612"), (201, "201=1"), (202, "202=50")] {
        for from in [Version::Fix41, Version::Fix42, Version::Fix44] {
            let fields = format!("{order}|{field}");
            let why = refusal((from, Version::Fix40), "D", &fields);
            assert_eq!(why, TransformFailure::Homeless(tag));
        }
    }
}

#[test]
fn qualifiers_securities_and_lines_are_one_or_several() {
    let ioi = "23=1|28=N|55=X|54=1|27=S";
    becomes(FROM_40, "6", ioi, &[("104=A", "199=1|104=A")]);
    becomes(TO_40, "6", ioi, &[("199=1|104=A", "104=A")]);
    let (more, lost) = more_of(TO_40, "6", ioi, "199=2|104=A|104=B");
    assert_eq!(
        (more.as_str(), &*lost),
        ("104=A", &[(104, 1), (199, 1)][..])
    );
    becomes(
        FROM_40,
        "B",
        "42=20260821-13:30:00",
        &[
            ("46=X|33=1|58=a", "148=[N/A]|146=1|46=X|33=1|58=a"),
            ("33=2|58=a|58=b", "148=[N/A]|33=2|58=a|58=b"),
        ],
    );
    becomes(
        TO_40,
        "B",
        "42=20260821-13:30:00",
        &[("148=[N/A]|146=1|46=X|33=1|58=a", "46=X|33=1|58=a")],
    );
    becomes(
        FROM_40,
        "C",
        "94=0",
        &[("33=1|58=a", "164=[N/A]|147=[N/A]|33=1|58=a")],
    );
    let two = refusal(TO_40, "B", "148=H|33=2|58=a|58=b");
    assert_eq!(two, TransformFailure::Missing(33));
}

#[test]
fn an_order_is_made_when_it_is_sent() {
    let order = "11=1|21=1|55=X|54=1|40=1";
    becomes(
        FROM_41,
        "D",
        order,
        &[("38=5", "60=20260821-13:30:00|38=5")],
    );
    // A draft without a received message has no SendingTime.
    let why = refusal(FROM_41, "D", order);
    assert_eq!(why, TransformFailure::Missing(60));
}

#[test]
fn a_list_of_one_order_is_an_order_of_a_list() {
    let list = "66=L|68=2";
    let order = "11=1|67=1|21=1|55=X|54=1|38=5|40=1";
    let (more, lost) = more_of(FROM_41, "E", list, order);
    assert_eq!(more, "394=3|73=1|11=1|67=1|21=1|55=X|54=1|38=5|40=1");
    assert_eq!(lost, []);
    let (more, lost) = more_of(TO_41, "E", list, &more);
    assert_eq!(more, "67=1|11=1|21=1|55=X|54=1|38=5|40=1");
    assert_eq!(lost, [(394, 1)]);
    let two = "66=L|394=3|68=2|73=2|11=1|67=1|55=X|54=1|11=2|67=2|55=X|54=1";
    assert_eq!(refusal(TO_41, "E", two), TransformFailure::Missing(67));
}

#[test]
fn the_status_of_a_list_says_too_little() {
    let list = "66=L|82=1|83=1|73=1|11=1|14=0|84=0|6=0";
    assert_eq!(refusal(FROM_40, "N", list), TransformFailure::Missing(151));
    let list = "66=L|82=1|83=1|73=1|11=1|14=0|151=5|84=0|6=0";
    let why = refusal(FROM_41, "N", list);
    assert!(matches!(
        why,
        TransformFailure::Missing(39 | 68 | 429 | 431)
    ));
}

#[test]
fn a_request_for_one_security_names_it() {
    becomes(
        FROM_41,
        "R",
        "131=Q",
        &[("55=X|54=1|38=5", "146=1|55=X|54=1|38=5")],
    );
    becomes(
        TO_41,
        "R",
        "131=Q",
        &[("146=1|55=X|54=1|38=5", "55=X|54=1|38=5")],
    );
    let (more, lost) = more_of(TO_41, "R", "131=Q", "146=1|55=X|303=1");
    assert_eq!((more.as_str(), &*lost), ("55=X", &[(303, 1)][..]));
    let two = refusal(TO_41, "R", "131=Q|146=2|55=X|55=Y");
    assert_eq!(two, TransformFailure::Missing(55));
}

#[test]
fn a_request_full_of_fields_takes_linear_time() {
    for (way, head) in [(FROM_41, "131=Q"), (TO_41, "131=Q|146=1")] {
        let mut conversion = built_in(way.0, way.1);
        let mut losses = conversion.losses();
        let own = "|9000=u".repeat(20_000);
        let fields = format!("{head}|55=X{}{own}", "|54=1".repeat(20_000));
        let mut draft = draft_of(b"R", &fields);
        assert_eq!(conversion.convert(&mut draft, &mut losses), Ok(()));
        assert_eq!(losses.iter().collect::<Vec<_>>(), [(54, 19_999)]);
        let left = draft.len() - 20_000;
        assert_eq!(left, if way == TO_41 { 3 } else { 4 });
    }
}

#[test]
fn fix_4_1_has_fewer_states_and_more_quantities() {
    let report = "37=O|17=1|20=0|55=X|54=1|6=0";
    becomes(
        TO_41,
        "8",
        report,
        &[
            (
                "150=E|39=E|151=60|14=40|38=100|32=0|31=0",
                "150=6|39=6|38=100|32=0|31=0|151=60|14=40",
            ),
            (
                "150=D|39=1|151=60|14=40",
                "150=1|39=1|38=100|32=0|31=0|151=60|14=40",
            ),
            (
                "150=1|39=1|151=60|14=40|32=10|31=7",
                "150=1|39=1|38=100|32=10|31=7|151=60|14=40",
            ),
        ],
    );
    let halves = refusal(
        TO_41,
        "8",
        "37=O|17=1|20=0|150=0|39=0|55=X|54=1|6=0|38=1|151=0.5|14=0",
    );
    assert_eq!(halves, TransformFailure::Missing(151));
}

#[test]
fn allocations_lose_their_kind_on_the_way_down() {
    let base = "70=1|54=1|55=X|53=5|6=1|75=20260821|73=1|11=O|78=1|79=A|80=5";
    becomes(TO_41, "J", base, &[("71=5", "71=4"), ("71=3", "71=3")]);
    becomes(
        TO_40,
        "J",
        base,
        &[("71=4", "71=0"), ("71=2|72=2", "71=2|72=2")],
    );
    becomes(FROM_40, "J", base, &[("71=0", "71=0")]);
}

/// Converts a message of these fields.
fn outcome(
    from: Version,
    to: Version,
    msg_type: &str,
    fields: &str,
) -> Result<String, TransformFailure> {
    let mut conversion = Conversion::built_in(from, to).unwrap();
    let mut losses = conversion.losses();
    let mut draft = draft_of(msg_type.as_bytes(), fields);
    conversion.convert(&mut draft, &mut losses)?;
    let lost: Vec<_> = losses.iter().map(|(tag, _)| tag).collect();
    Ok(format!("{} {lost:?}", readable(&written(&mut draft))))
}

#[test]
fn an_order_does_not_leave_without_its_quantity_or_what_it_is_for() {
    let order = "11=1|21=1|55=X|54=1|60=20260821-13:30:00|40=1";
    for (from, to, more, tag) in [
        (Version::Fix42, Version::Fix41, "38=100.5", 38),
        (Version::Fix44, Version::Fix41, "38=10|111=1.5", 111),
        (Version::Fix41, Version::Fix40, "38=10|205=18", 205),
    ] {
        let refused = outcome(from, to, "D", &format!("{order}|{more}"));
        assert_eq!(refused, Err(TransformFailure::Homeless(tag)), "{more}");
    }
}

#[test]
fn a_group_that_another_version_has_as_a_field_is_lost_as_a_whole() {
    let allocation =
        "70=1|71=0|626=1|857=1|73=1|11=O|54=1|55=X|53=5|6=1|75=20260821|78=1|79=A|80=5";
    let down = format!("{allocation}|85=2|165=1|787=S|165=2|787=C");
    let text = outcome(Version::Fix44, Version::Fix40, "J", &down).unwrap();
    let (fields, lost) = text.split_once(' ').unwrap();
    assert!(
        !fields.contains("|165=") && !fields.contains("|787="),
        "{text}"
    );
    assert!(lost.contains("165") && lost.contains("787"), "{text}");
    let up = "70=1|71=0|73=1|11=O|54=1|55=X|53=5|6=1|75=20260821|78=1|79=A|80=5|85=2|86=DTC";
    let text = outcome(Version::Fix40, Version::Fix44, "J", up).unwrap();
    let (fields, lost) = text.split_once(' ').unwrap();
    assert!(!fields.contains("|85=") && lost.contains("85"), "{text}");
}
