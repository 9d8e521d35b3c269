//! Each row of the differences between FIX 4.2 and 4.4, both ways.

use super::*;

const ORDER: &str = "11=A|21=1|54=1|55=X|60=20260821-13:30:00";
const REPORT: &str = "37=O|17=E|55=X|54=1|14=5|6=0";
const UP: (Version, Version) = (Version::Fix42, Version::Fix44);
const DOWN: (Version, Version) = (Version::Fix44, Version::Fix42);

#[track_caller]
fn both_ways(msg_type: &str, base: &str, rows: &[(&str, &str)]) {
    becomes(UP, msg_type, base, rows);
    let back: Vec<_> = rows
        .iter()
        .map(|(before, after)| (*after, *before))
        .collect();
    becomes(DOWN, msg_type, base, &back);
}

#[test]
fn the_tables_of_the_gateway_are_good() {
    for (from, to, text) in TABLES {
        let read = Conversion::read(text);
        assert_eq!(read.err(), None, "{} to {}", from.name(), to.name());
        assert!(Conversion::built_in(from, to).is_some());
    }
    assert!(Conversion::built_in(Version::Fix42, Version::Fix42).is_none());
}

#[test]
fn exec_trans_type_and_exec_type_become_exec_type() {
    both_ways(
        "8",
        REPORT,
        &[
            ("20=0|150=1|39=1|151=5", "150=F|39=1|151=5"),
            ("20=0|150=2|39=2|151=0", "150=F|39=2|151=0"),
            ("20=0|150=0|39=0|151=5", "150=0|39=0|151=5"),
            ("20=0|150=8|39=8|151=0", "150=8|39=8|151=0"),
            ("20=1|19=R|150=1|39=1|151=5", "19=R|150=H|39=1|151=5"),
            ("20=2|19=R|150=2|39=2|151=0", "19=R|150=G|39=2|151=0"),
            ("20=3|150=4|39=4|151=0", "150=I|39=4|151=0"),
        ],
    );
}

#[test]
fn an_execution_report_that_contradicts_itself_converts_all_the_same() {
    let rows = [("20=0|150=2|39=0|151=0", "150=F|39=0|151=0")];
    both_ways("8", REPORT, &rows);
    becomes(
        UP,
        "8",
        REPORT,
        &[("20=0|150=1|39=5|151=0", "150=F|39=2|151=0")],
    );
}

/// The messages of a published measurement of QuickFIX/J and Chronicle FIX; their report is filled and new.
#[test]
fn the_messages_of_the_published_benchmark_convert() {
    let order = "11=1795253164123456789|21=3|55=LCOM1|48=LCOM1|22=5|167=FUT|200=201106|54=1|\
                 60=20260821-13:30:00.123|38=1|40=2|44=200.0|59=0";
    both_ways("D", "1=ABCTEST1", &[(order, order)]);

    let ids = "37=tkacct.151124.e.EFX.122.6|17=tkacct.151124.e.EFX.122.6";
    let end = "39=0|55=EFX|54=1|151=0|14=7|6=110.11";
    let published = format!("11=1|109=TEST|20=0|150=2|{end}");
    let new = format!("11=1|453=1|448=TEST|447=D|452=3|150=F|{end}");
    both_ways("8", ids, &[(&published, &new)]);
}

#[test]
fn replaced_is_what_the_quantities_say() {
    let report = "37=O|17=E|55=X|54=1|6=0";
    both_ways(
        "8",
        report,
        &[("20=0|150=5|39=5|151=5|14=0", "150=5|39=0|151=5|14=0")],
    );
    becomes(
        UP,
        "8",
        report,
        &[
            ("20=0|150=5|39=5|151=5|14=5", "150=5|39=1|151=5|14=5"),
            ("20=0|150=5|39=5|151=0.00|14=5", "150=5|39=2|151=0.00|14=5"),
        ],
    );
    let reject = "37=O|11=A|41=B|434=1";
    becomes(UP, "9", reject, &[("39=5", "39=0")]);
}

#[test]
fn firms_become_parties() {
    both_ways(
        "D",
        ORDER,
        &[
            ("109=C|40=1", "453=1|448=C|447=D|452=3|40=1"),
            ("76=X|40=1", "453=1|448=X|447=D|452=1|40=1"),
            ("40=1|439=F", "453=1|448=F|447=D|452=4|40=1"),
            (
                "40=1|439=F|440=S",
                "453=1|448=F|447=D|452=4|802=1|523=S|803=10|40=1",
            ),
            (
                "109=C|76=X|40=1|439=F|440=S",
                "453=3|448=C|447=D|452=3|448=X|447=D|452=1|448=F|447=D|452=4|802=1|523=S|803=10|40=1",
            ),
        ],
    );
    let (more, lost) = more_of(UP, "D", ORDER, "440=S|40=1");
    assert_eq!((more.as_str(), &*lost), ("40=1", &[(440, 1)][..]));
}

#[test]
fn orders_of_a_list_have_parties_of_their_own() {
    both_ways(
        "E",
        "66=L|394=3|68=2|73=2",
        &[(
            "11=A|67=1|109=C|55=X|54=1|11=B|67=2|55=Y|54=2|204=1",
            "11=A|67=1|453=1|448=C|447=D|452=3|55=X|54=1|11=B|67=2|55=Y|54=2|528=P",
        )],
    );
}

#[test]
fn accounts_of_an_allocation_have_nested_parties() {
    let base = "70=A|54=1|55=X|53=5|6=1|75=20260821";
    becomes(
        UP,
        "J",
        base,
        &[(
            "71=0|73=1|11=A|78=1|79=T|80=5|109=C|76=X|92=B|159=2|160=0",
            "71=0|626=1|857=1|73=1|11=A|78=1|79=T|80=5|539=3|524=C|525=D|538=3|524=X|525=D|538=1|524=B|525=D|538=2|742=2|780=0",
        )],
    );
    becomes(
        DOWN,
        "J",
        base,
        &[(
            "71=0|626=2|857=0|73=1|11=A|78=1|79=T|80=5|539=2|524=C|525=D|538=3|524=B|525=D|538=2|742=2",
            "71=3|73=1|11=A|78=1|79=T|80=5|92=B|109=C|159=2",
        )],
    );
    becomes(
        UP,
        "J",
        base,
        &[("71=3", "71=0|626=2|857=0"), ("71=4", "71=0|626=1|857=0")],
    );
}

#[test]
fn an_alloc_type_that_fix_4_2_cannot_express_is_lost() {
    let base = "70=A|54=1|55=X|53=5|6=1|75=20260821";
    for (before, after, is_lost) in [
        ("71=0|626=1", "71=0", false),
        ("71=1|626=5", "71=1", false),
        ("71=0|626=2", "71=3", false),
        ("71=1|626=2", "71=1", true),
        ("71=0|626=7", "71=0", true),
        ("71=0|626=8", "71=0", true),
    ] {
        let (more, lost) = more_of(DOWN, "J", base, &format!("{before}|857=0"));
        let losses: &[(Tag, u64)] = if is_lost { &[(626, 1)] } else { &[] };
        assert_eq!((more.as_str(), &*lost), (after, losses), "{before}");
    }
}

#[test]
fn the_answer_to_an_allocation_is_made_when_it_is_sent() {
    let answer = "70=A|75=20260821|87=0";
    becomes(UP, "P", answer, &[("88=0", "60=20260821-13:30:00|88=0")]);
}

#[test]
fn a_party_that_is_there_already_is_not_there_twice() {
    becomes(
        UP,
        "D",
        ORDER,
        &[(
            "453=1|448=C|447=D|452=3|109=C|76=X|40=1",
            "453=2|448=C|447=D|452=3|448=X|447=D|452=1|40=1",
        )],
    );
}

#[test]
fn other_parties_are_lost_on_the_way_back() {
    let parties =
        "453=3|448=T|447=D|452=11|448=C|447=B|452=3|802=1|523=S|803=2|448=D|447=D|452=3|40=1";
    let (more, lost) = more_of(DOWN, "D", ORDER, parties);
    assert_eq!(more, "109=C|40=1");
    // A role without a field, a second client, and further fields of the first client.
    let expected = [
        (447, 2),
        (448, 2),
        (452, 2),
        (453, 1),
        (523, 1),
        (802, 1),
        (803, 1),
    ];
    assert_eq!(lost, expected);
}

#[test]
fn month_and_day_become_a_date() {
    becomes(
        UP,
        "D",
        ORDER,
        &[
            ("200=202609|205=5|40=1", "200=202609|541=20260905|40=1"),
            ("200=202609|205=15|40=1", "200=202609|541=20260915|40=1"),
        ],
    );
    becomes(
        DOWN,
        "D",
        ORDER,
        &[
            ("200=202609|541=20260905|40=1", "200=202609|205=5|40=1"),
            ("541=20260915|40=1", "200=202609|205=15|40=1"),
        ],
    );
    for impossible in ["200=202602|205=30|40=1", "200=202602w1|205=3|40=1"] {
        let (more, lost) = more_of(UP, "D", ORDER, impossible);
        assert!(
            more.starts_with("200=202602") && more.ends_with("|40=1"),
            "{more}"
        );
        assert_eq!(lost, [(205, 1)]);
    }
    let quotes = "117=Q|296=1|302=S|304=1";
    becomes(
        UP,
        "i",
        quotes,
        &[(
            "313=202609|314=7|295=1|299=1|55=X",
            "313=202609|542=20260907|295=1|299=1|55=X",
        )],
    );
}

#[test]
fn capacity_is_customer_or_firm_or_rule80a() {
    both_ways(
        "D",
        ORDER,
        &[("40=1|204=0", "40=1|528=A"), ("40=1|204=1", "40=1|528=P")],
    );
    let (more, lost) = more_of(UP, "D", ORDER, "204=0|47=I|40=1");
    assert_eq!((more.as_str(), &*lost), ("40=1|528=I", &[(204, 1)][..]));
    let codes = "A=A,C=P+1 3,D=P+1 2,I=I,J=I+1 2,K=I+1 3,M=W+1 2,N=W+1 3,O=P+4,P=P,R=A+4,S=P+5,T=W+4,U=A+1 2,W=W,Y=A+1 3";
    for code in codes.split(',') {
        let (code, capacity) = code.split_once('=').unwrap();
        rule80a(code, capacity, "1");
    }
    for (code, capacity) in [
        ("B", "A"),
        ("E", "P"),
        ("F", "W"),
        ("H", "I"),
        ("L", "P+4"),
        ("X", "W+4"),
        ("Z", "A+4"),
    ] {
        rule80a(code, capacity, "6");
    }
    let (more, _) = more_of(
        UP,
        "8",
        "37=O|17=E|55=X|14=5|6=0",
        "20=0|150=0|39=0|151=0|54=5|47=B",
    );
    assert_eq!(more, "150=0|39=0|54=6|528=A|151=0");
}

fn rule80a(code: &str, capacity: &str, side: &str) {
    let base = format!("37=O|17=E|55=X|14=5|6=0|54={side}|39=0|150=0|151=5");
    let (more, lost) = more_of(UP, "8", &base, &format!("20=0|47={code}"));
    let expected = format!("528={}", capacity.replace('+', "|529="));
    assert_eq!((&more, &*lost), (&expected, &[][..]), "{code}");
    let (back, lost) = more_of(DOWN, "8", &base, &more);
    assert_eq!((back, &*lost), (format!("20=0|47={code}"), &[][..]));
}

#[test]
fn on_close_is_a_time_in_force_and_forex_a_product() {
    both_ways(
        "D",
        ORDER,
        &[
            ("40=5", "40=1|59=7"),
            ("40=B|44=3", "40=2|44=3|59=7"),
            ("40=C", "460=4|40=1"),
            ("40=F|44=3", "460=4|40=2|44=3"),
            ("40=H|44=3", "460=4|40=D|44=3"),
            ("40=G", "40=G"),
        ],
    );
    becomes(
        UP,
        "D",
        ORDER,
        &[("40=A", "40=1|59=7"), ("40=A|44=3", "40=2|44=3|59=7")],
    );
    let (more, lost) = more_of(UP, "D", ORDER, "40=5|59=0");
    assert_eq!((more.as_str(), &*lost), ("40=1|59=7", &[(59, 1)][..]));
}

#[test]
fn a_fixed_peg_has_a_move_type_and_a_scope() {
    becomes(
        UP,
        "D",
        ORDER,
        &[("18=1 T|40=P", "18=1 R|40=P|835=1|840=1")],
    );
    becomes(
        DOWN,
        "D",
        ORDER,
        &[("18=1 R|40=P|835=1|840=1", "18=1 T|40=P")],
    );
    becomes(UP, "D", ORDER, &[("18=R T|40=P", "18=R|40=P|835=1|840=1")]);
}

#[test]
fn values_without_an_equal_are_lost() {
    for code in [
        "?", "FHA", "FHL", "FN", "GN", "GOVT", "MUNI", "RP", "RVRP", "SL", "ZOO",
    ] {
        let (more, lost) = more_of(UP, "D", ORDER, &format!("167={code}|40=1"));
        assert_eq!((more.as_str(), &*lost), ("40=1", &[(167, 1)][..]));
    }
    both_ways(
        "D",
        ORDER,
        &[
            ("167=FUT|40=1", "167=FUT|40=1"),
            ("167=OPT|40=1", "167=OPT|40=1"),
        ],
    );
    let (more, lost) = more_of(DOWN, "D", ORDER, "22=A|48=I|18=1 Z|40=1");
    assert_eq!(
        (more.as_str(), &*lost),
        ("18=1|48=I|40=1", &[(18, 1), (22, 1)][..])
    );
}

#[test]
fn a_benchmark_is_a_curve_and_a_point() {
    let ioi = "23=I|28=N|55=X|54=1|27=S";
    both_ways(
        "6",
        ioi,
        &[
            ("219=2", "221=Treasury|222=5Y"),
            ("219=9", "221=LIBOR|222=6M"),
        ],
    );
    assert_eq!(more_of(UP, "6", ioi, "219=3").1, [(219, 1)]);
}

#[test]
fn the_sending_time_on_behalf_of_another_is_a_hop() {
    both_ways(
        "D",
        ORDER,
        &[(
            "115=C|370=20260821-13:00:00|40=1",
            "115=C|627=1|628=C|629=20260821-13:00:00|40=1",
        )],
    );
    assert_eq!(
        more_of(UP, "D", ORDER, "370=20260821-13:00:00|40=1").1,
        [(370, 1)]
    );
}

#[test]
fn news_and_cancelled_quotes_name_their_securities() {
    let news = "148=H|33=1|58=T";
    both_ways(
        "B",
        news,
        &[("146=2|46=X|48=1|46=Y", "146=2|55=X|48=1|55=Y")],
    );
    let cancel = "117=Q|298=1|295=1|55=X";
    both_ways("Z", cancel, &[("311=U", "711=1|311=U")]);
}

#[test]
fn what_fix_4_2_requires_is_filled_in() {
    let (more, _) = more_of(DOWN, "D", "11=A|54=1|60=20260821-13:30:00", "40=1");
    assert_eq!(more, "21=1|55=[N/A]|40=1");
    let mut conversion = built_in(Version::Fix44, Version::Fix42);
    let mut losses = conversion.losses();
    let mut draft = draft_of(b"W", "55=X|268=1|269=0");
    let outcome = conversion.convert(&mut draft, &mut losses);
    assert_eq!(outcome, Err(TransformFailure::Missing(270)));
    assert_eq!(readable(&written(&mut draft)), "55=X|268=1|269=0|");
}

#[test]
fn user_defined_fields_stay_and_broken_counts_are_put_right() {
    let mut conversion = built_in(Version::Fix42, Version::Fix44);
    let mut losses = conversion.losses();
    let fields = "66=L|394=3|68=1|73=7|11=A|67=1|54=1|9001=x|55=S|11=B|67=2|54=2|9000=y";
    let mut draft = draft_of(b"E", fields);
    assert_eq!(conversion.convert(&mut draft, &mut losses), Ok(()));
    assert_eq!(
        readable(&written(&mut draft)),
        "66=L|394=3|68=1|73=2|11=A|9001=x|67=1|55=S|54=1|11=B|9000=y|67=2|54=2|"
    );
    draft.begin(b"nonsense");
    let outcome = conversion.convert(&mut draft, &mut losses);
    assert_eq!(outcome, Err(TransformFailure::MessageType));
}

#[test]
fn an_order_of_5_0_sp2_shows_another_quantity() {
    let (up, down) = (
        (Version::Fix44, Version::Fix50Sp2),
        (Version::Fix50Sp2, Version::Fix44),
    );
    becomes(up, "D", ORDER, &[("40=1|210=5", "1138=5|40=1")]);
    becomes(
        down,
        "D",
        ORDER,
        &[("1138=5|40=B|44=1", "40=2|44=1|59=7|210=5")],
    );
    let halted = "55=X|326=2";
    becomes(up, "f", halted, &[("327=I", "327=2")]);
    becomes(down, "f", halted, &[("327=2", "327=I")]);
    let report = "37=O|17=E|55=X|54=1|14=5|151=0";
    becomes(down, "8", report, &[("150=5|39=5", "150=5|39=2|6=0")]);
}
