//! A client with different rights for each account, as its reports show them.

use crate::floor::Floor;

#[test]
fn requests_are_refused_by_the_account_of_their_order() {
    let more = "[[account]]\nname = \"A2\"\n[[user]]\nsession = \"CLIENT\"\naccounts = [\"A*\"]\nmay = [\"new\"]\n";
    let lines = "[[line_group]]";
    let mut floor = Floor::with(lines, &format!("{more}{lines}"));
    let fields = "55=XYZ|54=1|38=100|40=2|44=100|60=20261122-08:00:00|";
    floor.send("D", &format!("11=C1|1=A1|{fields}"));
    floor.send("D", &format!("11=C2|1=A2|{fields}"));
    let before = floor.told(&[35]).len();
    floor.send("H", "11=C1|55=XYZ|54=1|");
    floor.send("H", "11=C2|55=XYZ|54=1|");
    floor.send("AF", "584=S1|585=7|");
    floor.send("AF", "584=S2|585=7|1=A2|");
    floor.send("AF", "584=S3|585=7|1=A1|");
    let replace = "55=XYZ|54=1|38=120|40=2|44=100|60=20261122-08:00:00|";
    floor.send("G", &format!("11=C3|41=C2|{replace}"));
    let cancel = "55=XYZ|54=1|38=120|60=20261122-08:00:00|";
    floor.send("F", &format!("11=C4|41=C2|{cancel}"));
    floor.send("q", "11=C5|530=7|60=20261122-08:00:00|");
    floor.send("G", &format!("11=C6|41=C1|{replace}"));
    floor.send("F", &format!("11=C7|41=C6|{cancel}"));
    let told = floor.told(&[35, 11, 39, 584, 380, 531, 58]);
    let denied = "RC2: not allowed for this session";
    assert_eq!(
        told[before..],
        [
            "8 C1 1 - - - -".to_owned(),
            "j - - - 6 - Not authorized".to_owned(),
            "j - - - 6 - Not authorized".to_owned(),
            "j - - - 6 - Not authorized".to_owned(),
            "8 C1 1 S3 - - -".to_owned(),
            format!("9 C3 1 - - - {denied}"),
            format!("9 C4 1 - - - {denied}"),
            format!("r C5 - - - 0 {denied}"),
            "8 C6 1 - - - -".to_owned(),
            "8 C7 4 - - - -".to_owned(),
        ]
    );
    floor.agrees();
}
