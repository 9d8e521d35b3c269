//! Policies for fields that the target lacks.

use super::*;

const HEAD: &str = "from FIX.4.2\nto FIX.4.4\n";

/// Converts an order by a table of these lines; returns the result and the lost fields.
fn order(table: &str, fields: &str) -> Result<(String, Vec<(Tag, u64)>), TransformFailure> {
    let mut conversion = Conversion::read(&format!("{HEAD}{table}")).unwrap();
    let mut losses = conversion.losses();
    let fields = format!("{fields}|11=A|54=1|60=20260821-13:30:00|40=1|");
    let message = whole(Version::Fix42, "D", fields.replace('|', "\x01").as_bytes());
    let mut draft = drafted(&message);
    conversion.convert(&mut draft, &mut losses)?;
    let text = readable(&written(&mut draft));
    let text = text
        .replace("11=A|", "")
        .replace("54=1|60=20260821-13:30:00|40=1|", "");
    Ok((text, losses.iter().collect()))
}

#[test]
fn a_field_without_a_home_is_dropped_moved_or_rejected() {
    let fields = "109=C|76=X|167=FHA|18=1 T";
    let lost = [(18, 1), (76, 1), (109, 1), (167, 1)];
    assert_eq!(order("", fields), Ok(("18=1|".into(), lost.to_vec())));
    let moved = order("homeless tag 20000", fields).unwrap();
    assert_eq!(
        moved,
        (
            "20109=C|20076=X|20167=FHA|20018=1 T|18=1|".into(),
            Vec::new()
        )
    );
    let one = order(
        "homeless reject\nhomeless 109 tag 5000\nhomeless 76 drop",
        "109=C|76=X",
    );
    assert_eq!(one, Ok(("5109=C|".into(), [(76, 1)].to_vec())));
    for (tag, text) in [(109, "109=C"), (167, "167=FHA"), (18, "18=T 1")] {
        let rejected = order("homeless reject", text);
        assert_eq!(rejected, Err(TransformFailure::Homeless(tag)));
    }
    assert_eq!(
        order("homeless reject", "9999=x"),
        Ok(("9999=x|".into(), Vec::new()))
    );
}

#[test]
fn a_group_without_a_home_is_treated_as_a_whole() {
    let table = "from FIX.4.4\nto FIX.4.2\nhomeless tag 10000\n";
    let mut conversion = Conversion::read(table).unwrap();
    let mut losses = conversion.losses();
    let fields = "11=A|41=B|453=1|448=P|447=D|452=3|802=1|523=S|803=1|54=1|60=20260821-13:30:00|55=X|711=1|311=U|364=1|365=\x01";
    let mut draft = draft_of(b"F", fields);
    assert_eq!(conversion.convert(&mut draft, &mut losses), Ok(()));
    assert_eq!(
        readable(&written(&mut draft)),
        "10453=1|10448=P|10447=D|10452=3|10802=1|10523=S|10803=1|10711=1|10311=U|41=B|11=A|55=X|54=1|60=20260821-13:30:00|"
    );
    // A user-defined field cannot hold SOH.
    assert_eq!(losses.iter().collect::<Vec<_>>(), [(364, 1), (365, 1)]);
}

#[test]
fn a_table_for_other_dictionaries_names_their_versions() {
    let built_in = |version| Arc::new(Dictionary::built_in(version));
    let (fix42, fix43) = (built_in(Version::Fix42), built_in(Version::Fix43));
    assert!(Conversion::new("from FIX.4.2\nto FIX.4.3", fix42.clone(), fix43.clone()).is_ok());
    let error = Conversion::new("from FIX.4.2\n\nto FIX.4.4", fix42, fix43).unwrap_err();
    assert_eq!(error.line, 3);
}

#[test]
fn a_message_takes_no_memory() {
    let fields = "109=C|76=X|439=F|440=S|47=J|204=0|200=202609|205=3|18=1 T|115=H|370=20260821-13:30:00|11=A|21=1|55=X|54=1|60=20260821-13:30:00|40=5|377=Y|";
    let message = whole(Version::Fix42, "D", fields.replace('|', "\x01").as_bytes());
    let mut decoder = Decoder::with_capacity(64);
    let mut draft = Draft::with_capacity(64, 1024);
    let mut up = built_in(Version::Fix42, Version::Fix44);
    let mut down = built_in(Version::Fix44, Version::Fix42);
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

#[test]
fn a_message_full_of_counts_and_entries_takes_linear_time() {
    let mut conversion = built_in(Version::Fix42, Version::Fix44);
    let mut losses = conversion.losses();
    let entry = "|73=9|11=A|67=1|54=1|78=1|79=x|79=x";
    let mut draft = draft_of(b"E", &format!("66=L|394=3|68=1{}", entry.repeat(20_000)));
    assert_eq!(conversion.convert(&mut draft, &mut losses), Ok(()));
    assert_eq!(draft.len(), 3 + 20_000 * 7);
}
