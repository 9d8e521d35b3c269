//! Fields of requests that a line of another FIX version gets as the conversion tables of the gateway write them.

use fixwire_engine::protocol::Tag;
use fixwire_engine::protocol::dictionary::{Dictionary, Member, Version};
use fixwire_oms::field_table::{FieldClass, report_bit, report_field, request_bit, request_field};
use fixwire_transform::Draft;
use fixwire_transform::convert::Conversion;

use super::carried::{is_passed, sent, text};
use super::{CLIENT, ORDER, VENUE, base, open, setup};
use crate::desk::{Desk, Input, dictionary};

pub(super) const VERSIONS: [Version; 3] = [Version::Fix42, Version::Fix44, Version::Fix50Sp2];

pub(super) fn desk_between(from: Version, to: Version, user: &str, group: &str) -> Desk {
    let mut setup = setup(from, user, group);
    setup.sessions = vec![("C", from), ("V", to)];
    let mut desk = Desk::new(&setup);
    desk.hear(&Input::Up(VENUE, false));
    desk.hear(&Input::Up(CLIENT, false));
    desk
}

fn pairs() -> impl Iterator<Item = (Version, Version)> {
    let all = VERSIONS.into_iter();
    let all = all.flat_map(|from| VERSIONS.into_iter().map(move |to| (from, to)));
    all.filter(|(from, to)| from != to)
}

/// Whether the table passes on a field of a request, or of a report.
fn is_of_table(tag: Tag, msg_type: &str) -> bool {
    let row = match msg_type {
        "8" => report_field(tag, report_bit(b"8")),
        _ => request_field(tag, request_bit(msg_type.as_bytes())),
    };
    match row {
        Some(row) => row.class == FieldClass::Passed,
        None => msg_type != "8",
    }
}

/// The fields of a message of the OMS, without those that it writes itself.
pub(super) fn passed(body: &str, dictionary: &Dictionary, msg_type: &str) -> Vec<String> {
    // A member of a group stands after the field that counts the group.
    let mut group: Option<Vec<Tag>> = None;
    let mut all = Vec::new();
    for field in body.split_terminator('|') {
        let tag: Tag = field.split('=').next().unwrap().parse().unwrap();
        let is_member = group.as_ref().is_some_and(|tags| tags.contains(&tag));
        let is_passed = is_of_table(tag, msg_type);
        if !is_member {
            group = dictionary
                .group(msg_type.as_bytes(), tag)
                .map(|it| members(it.members()));
        }
        if is_member || is_passed {
            all.push(field.to_owned());
        }
    }
    all
}

pub(super) fn members(of: &[Member]) -> Vec<Tag> {
    let nested = |it: &Member| it.group.as_ref().map(|it| members(it.members()));
    let all = of.iter();
    all.flat_map(|it| [vec![it.tag], nested(it).unwrap_or_default()].concat())
        .collect()
}

/// The fields, each with the members of its group.
pub(super) fn units(fields: &[String], dictionary: &Dictionary, msg_type: &str) -> Vec<String> {
    let mut group: Vec<Tag> = Vec::new();
    let mut all: Vec<String> = Vec::new();
    for field in fields {
        let tag: Tag = field.split('=').next().unwrap().parse().unwrap();
        match all.last_mut().filter(|_| group.contains(&tag)) {
            Some(unit) => *unit += &format!("|{field}"),
            None => {
                let of = dictionary.group(msg_type.as_bytes(), tag);
                group = of.map(|it| members(it.members())).unwrap_or_default();
                all.push(field.clone());
            }
        }
    }
    all
}

/// What the gateway makes of a message; the fields that it loses.
pub(super) fn gateway(
    conversion: &mut Conversion,
    msg_type: &str,
    body: &str,
) -> Result<(String, Vec<Tag>), Option<Tag>> {
    let mut draft = Draft::default();
    draft.begin(msg_type.as_bytes());
    for field in body.replace("a|c", "a\u{1}c").split_terminator('|') {
        let (tag, value) = field.split_once('=').unwrap();
        draft.push(tag.parse().unwrap(), value.as_bytes());
    }
    let mut losses = conversion.losses();
    let converted = conversion.convert(&mut draft, &mut losses);
    converted.map_err(|failure| failure.tag())?;
    let text = String::from_utf8_lossy(draft.encode()).replace("a\u{1}c", "a;c");
    let text = text.replace('\u{1}', "|").replace("a;c", "a|c");
    Ok((text, losses.iter().map(|(tag, _)| tag).collect()))
}

/// Fields whose conversion the tables describe by several fields or by certain values.
const TOGETHER: &[(&[&str], &str)] = &[
    (&["D", "G", "F"], "109=CL|"),
    (&["D", "G", "F"], "76=BRK|"),
    (&["D", "G", "F"], "109=CL|76=BRK|"),
    (&["D", "G"], "439=FIRM|440=ACC|"),
    (&["D", "G"], "440=ACC|"),
    (&["D", "G"], "47=A|"),
    (&["D", "G"], "47=I|"),
    (&["D", "G"], "47=J|"),
    (&["D", "G"], "47=C|"),
    (&["D", "G"], "47=P|"),
    (&["D", "G"], "204=0|"),
    (&["D", "G"], "204=1|"),
    (&["D", "G"], "47=A|204=1|"),
    (&["D", "G"], "528=A|"),
    (&["D", "G"], "528=P|529=1 3|"),
    (&["D", "G"], "528=I|529=1 2|"),
    (&["D", "G"], "528=R|"),
    (&["D", "G", "F"], "453=1|448=CL|447=D|452=3|"),
    (
        &["D", "G", "F"],
        "453=2|448=CL|447=D|452=3|448=BRK|447=D|452=1|",
    ),
    (
        &["D", "G", "F"],
        "453=1|448=CL|447=D|452=3|802=1|523=S|803=10|",
    ),
    (
        &["D", "G", "F"],
        "453=1|448=FIRM|447=D|452=4|802=1|523=ACC|803=10|",
    ),
    (&["D", "G", "F"], "453=1|448=T|447=D|452=11|"),
    (
        &["D", "G", "F"],
        "453=2|448=A|447=D|452=3|448=B|447=D|452=3|",
    ),
    (&["D", "G", "F"], "115=ON|347=UTF-8|58=text|"),
    (&["D", "G", "F"], "347=SHIFT_JIS|"),
    (&["D", "G", "F"], "347=Shift_JIS|"),
    (&["D", "G", "F"], "58=text|"),
];

/// Sends a request through OMS and gateway; returns whether the OMS has accepted it.
pub(super) fn compare(
    desk: &mut Desk,
    conversion: &mut Conversion,
    (from, to): (Version, Version),
    (msg_type, id, fields): (&str, &str, &str),
) -> bool {
    let (source, target) = (dictionary(from), dictionary(to));
    let base = base(msg_type, id, "O");
    let place = |field: &&str| {
        let tag = field.split('=').next().unwrap().parse().unwrap();
        source.header().member(tag).is_some()
    };
    let is_group = fields.contains("453=");
    let (header, body): (Vec<&str>, Vec<&str>) = match is_group {
        true => (Vec::new(), vec![fields]),
        false => fields.split_inclusive('|').partition(place),
    };
    let said = format!("{}{base}{}", header.concat(), body.concat());
    let (heard, answer) = desk.asks(CLIENT, msg_type, &said);
    assert_eq!(heard, Ok(()), "{from:?} {to:?} {said}");
    let arrived = desk
        .bodies
        .iter()
        .any(|(session, of, _)| *session == VENUE && of == msg_type);
    // Without HandlInst(21) an order has no place in FIX 4.2.
    let whole = format!("{}21=1|{base}{}", header.concat(), body.concat());
    let gateway = gateway(conversion, msg_type, &whole);
    // The OMS writes these fields itself, as the version of the line has them.
    let is_own = |tag: &Tag| {
        format!("|{whole}").contains(&format!("|{tag}=")) && {
            let of_client = format!("|{fields}").contains(&format!("|{tag}="));
            !of_client
        }
    };
    match gateway {
        Ok((text, lost)) if lost.iter().all(is_own) => {
            assert!(
                arrived,
                "{from:?} {to:?} {said}: {answer:?}, gateway {text}"
            );
            let ours = passed(&sent(desk, msg_type).unwrap(), &target, msg_type);
            let theirs = passed(&text, &target, msg_type);
            let mut sorted = units(&ours, &target, msg_type);
            sorted.sort();
            let mut theirs = units(&theirs, &target, msg_type);
            theirs.sort();
            assert_eq!(sorted, theirs, "{from:?} {to:?} {said}");
        }
        Ok((_, lost)) => {
            assert!(!arrived, "{from:?} {to:?} {said}: lost {lost:?}");
            let text = answer.iter().find_map(|it| it.get(58)).unwrap_or_default();
            // A table may lose a field under a tag that another table has given it.
            let is_of_client = |tag: &Tag| format!("|{fields}").contains(&format!("|{tag}="));
            let named = !lost.iter().any(is_of_client)
                || lost.iter().any(|tag| text.contains(&format!("(tag {tag}")));
            let named = named && text.contains("(tag ");
            assert!(named, "{from:?} {to:?} {said}: {text}, lost {lost:?}");
        }
        Err(_) => assert!(!arrived, "{from:?} {to:?} {said}"),
    }
    arrived
}

#[test]
fn the_venue_gets_the_fields_that_the_gateway_would_send() {
    for (from, to) in pairs() {
        let mut desk = desk_between(from, to, "", "");
        let mut conversion = Conversion::built_in(from, to).unwrap();
        open(&mut desk, "O");
        let source = dictionary(from);
        let mut count = 0;
        for (types, fields) in TOGETHER {
            let tags = fields.split_terminator('|');
            let tags = tags.map(|it| it.split('=').next().unwrap().parse::<Tag>().unwrap());
            for (at, msg_type) in types.iter().enumerate() {
                let message = source.message(msg_type.as_bytes()).unwrap();
                let has = |tag: Tag| {
                    let mut groups = message.members().iter();
                    message.member(tag).is_some()
                        || source.header().member(tag).is_some()
                        || groups.any(|it| members(std::slice::from_ref(it)).contains(&tag))
                };
                if !tags.clone().all(has) {
                    continue;
                }
                count += 1;
                let id = format!("T{count}-{at}");
                let whole = (*msg_type, &*id, *fields);
                if compare(&mut desk, &mut conversion, (from, to), whole) && *msg_type != "D" {
                    reject(&mut desk, msg_type);
                }
            }
        }
        assert!(count > 15, "{from:?} {to:?}: {count}");
    }
}

#[test]
fn each_field_that_passes_is_as_the_gateway_sends_it_or_refused() {
    for (from, to) in pairs() {
        let mut desk = desk_between(from, to, "", "");
        let mut conversion = Conversion::built_in(from, to).unwrap();
        open(&mut desk, "O");
        let source = dictionary(from);
        let (mut arrived, mut refused) = (0, 0);
        for msg_type in ["D", "G", "F"] {
            let message = source.message(msg_type.as_bytes()).unwrap();
            for member in message.members() {
                let field = text(&source, member);
                let id = format!("{msg_type}{}", member.tag);
                let has_it =
                    format!("|{}", base(msg_type, &id, "O")).contains(&format!("|{}=", member.tag));
                let is_single = member.group.is_none() && !field.contains("a|c");
                if has_it || field.is_empty() || !is_single || !is_passed(member, msg_type) {
                    continue;
                }
                match compare(
                    &mut desk,
                    &mut conversion,
                    (from, to),
                    (msg_type, &id, &field),
                ) {
                    true if msg_type == "D" => arrived += 1,
                    true => {
                        arrived += 1;
                        reject(&mut desk, msg_type);
                    }
                    false => refused += 1,
                }
            }
        }
        assert!(
            arrived > 10,
            "{from:?} {to:?}: {arrived}, {refused} refused"
        );
    }
}

/// The venue rejects the request that it got last.
fn reject(desk: &mut Desk, msg_type: &str) {
    let body = sent(desk, msg_type).unwrap();
    let of = |tag: &str| body.split('|').find_map(|it| it.strip_prefix(tag));
    let (id, original) = (of("11=").unwrap(), of("41=").unwrap());
    let to = if msg_type == "G" { "2" } else { "1" };
    let reject = format!("37=V1|11={id}|41={original}|39=0|434={to}|102=0|58=no|");
    desk.says(VENUE, "9", &reject);
}

fn refusal(desk: &mut Desk, body: &str) -> String {
    let (heard, said) = desk.asks(CLIENT, "D", body);
    assert_eq!(heard, Ok(()), "{body}");
    assert_eq!(sent(desk, "D"), None, "{body}");
    said[0].get(58).unwrap_or_default().to_owned()
}

#[test]
fn a_field_that_changes_an_own_field_of_the_order_is_refused_with_its_tag() {
    let mut desk = desk_between(Version::Fix42, Version::Fix44, "", "");
    // Short exempt is Side(54) = 6 in FIX 4.4, but the order has Side(54) = 5.
    let order = ORDER.replace("54=1", "54=5");
    let text = refusal(&mut desk, &format!("11=S1|{order}109=CL|47=B|114=N|"));
    assert!(text.contains("(tag 47"), "{text}");
    let text = refusal(&mut desk, &format!("11=S2|{ORDER}109=CL|440=ACC|"));
    assert!(text.contains("(tag 440"), "{text}");
}

#[test]
fn contracts_name_fields_before_and_after_the_conversion() {
    let order = format!("11=A1|{ORDER}109=CL|47=A|");
    let plain = |user: &str, group: &str| {
        let mut desk = desk_between(Version::Fix42, Version::Fix44, user, group);
        let (heard, _) = desk.asks(CLIENT, "D", &order);
        assert_eq!(heard, Ok(()));
        let body = sent(&desk, "D");
        body.map(|it| passed(&it, &dictionary(Version::Fix44), "D").join("|"))
    };
    let converted = "528=A|453=1|448=CL|447=D|452=3";
    let sorted = |text: &str| {
        let mut all: Vec<_> = text.split('|').map(str::to_owned).collect();
        all.sort();
        all
    };
    assert_eq!(plain("", "").map(|it| sorted(&it)), Some(sorted(converted)));
    // A field that a contract names is not converted.
    assert_eq!(
        plain("", "carry = [47]").unwrap().split('|').next(),
        Some("47=A")
    );
    assert_eq!(
        plain("carry = [47]", "").unwrap().split('|').next(),
        Some("47=A")
    );
    // The contract of the line's group applies to the converted fields.
    assert_eq!(plain("", "drop = [453]").as_deref(), Some("528=A"));
    assert_eq!(plain("", "refuse = [453]"), None);
    let mapped = plain("", "map.528 = {A = \"P\"}").unwrap();
    assert!(mapped.contains("528=P"), "{mapped}");
    assert_eq!(plain("", "map.528 = {R = \"P\"}"), None);
    // With the group's name, the length of the converted fields counts.
    let mut short = setup(Version::Fix42, "", "");
    short.settings = short
        .settings
        .replacen("[oms]\n", "[oms]\ncarried_bytes = 20\n", 1);
    short.sessions = vec![("C", Version::Fix42), ("V", Version::Fix44)];
    let mut desk = Desk::new(&short);
    desk.hear(&Input::Up(VENUE, false));
    desk.hear(&Input::Up(CLIENT, false));
    let text = refusal(&mut desk, &format!("11=A1|{ORDER}109=CL|"));
    assert!(text.contains("carried_bytes, 20"), "{text}");
}

#[test]
fn a_queued_order_is_converted_when_it_is_sent_also_after_a_restart() {
    for restart in [None, Some(false), Some(true)] {
        let mut queued = setup(Version::Fix42, "", "queue = \"10m\"");
        queued.sessions = vec![("C", Version::Fix42), ("V", Version::Fix44)];
        let mut desk = Desk::new(&queued);
        desk.hear(&Input::Up(CLIENT, false));
        desk.says(CLIENT, "D", &format!("11=A1|{ORDER}109=CL|47=A|"));
        assert_eq!(sent(&desk, "D"), None);
        if let Some(from_checkpoint) = restart {
            desk.hear(&Input::Restart(0, from_checkpoint));
            desk.hear(&Input::Up(CLIENT, false));
        }
        let mut said = desk.hear(&Input::Up(VENUE, false));
        let mut body = sent(&desk, "D");
        for _ in 0..5 {
            said.extend(desk.hear(&Input::Pass(1_000_000)));
            body = body.or_else(|| sent(&desk, "D"));
        }
        let body = body.unwrap_or_else(|| panic!("{restart:?} {said:?}"));
        assert!(body.contains("|453=1|448=CL|447=D|452=3|"), "{body}");
        assert!(
            body.contains("|528=A|") && !body.contains("|109="),
            "{body}"
        );
    }
}

#[test]
fn a_merged_replace_and_a_cancel_of_the_oms_have_the_converted_fields() {
    let mut desk = desk_between(Version::Fix42, Version::Fix44, "", "replace = \"merge\"");
    desk.says(CLIENT, "D", &format!("11=O|{ORDER}109=CL|47=A|"));
    desk.says(
        VENUE,
        "8",
        "37=V1|11=1|17=N1|150=0|39=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|",
    );
    desk.says(CLIENT, "G", &base("G", "G1", "O"));
    let body = sent(&desk, "G").unwrap();
    assert!(body.contains("|453=1|448=CL|447=D|452=3|"), "{body}");
    assert!(body.contains("|528=A|"), "{body}");
    reject(&mut desk, "G");
    desk.hear(&Input::Command("kill account=A1".into()));
    let body = sent(&desk, "F").expect("a cancel");
    assert!(body.contains("|453=1|448=CL|447=D|452=3|"), "{body}");
    assert!(!body.contains("528="), "{body}");
}

#[test]
fn a_cancel_of_the_oms_has_the_fields_that_the_line_still_takes() {
    let mut desk = desk_between(Version::Fix42, Version::Fix44, "", "carry = [58]");
    desk.says(CLIENT, "D", &format!("11=O|{ORDER}109=CL|47=A|"));
    desk.says(
        VENUE,
        "8",
        "37=V1|11=1|17=N1|150=0|39=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|",
    );
    desk.set("carry = [58]", "refuse = [528]");
    desk.hear(&Input::Restart(0, false));
    desk.hear(&Input::Up(CLIENT, false));
    desk.hear(&Input::Up(VENUE, false));
    desk.hear(&Input::Command("kill account=A1".into()));
    let body = sent(&desk, "F").expect("a cancel");
    assert!(body.contains("|453=1|448=CL|447=D|452=3|"), "{body}");
    assert!(!body.contains("47=A"), "{body}");
}

#[test]
fn parties_keep_their_roles() {
    let mut desk = desk_between(Version::Fix42, Version::Fix44, "", "");
    desk.says(CLIENT, "D", &format!("11=O|{ORDER}109=CL|76=BRK|"));
    let body = sent(&desk, "D").unwrap();
    let parties = "|453=2|448=CL|447=D|452=3|448=BRK|447=D|452=1|";
    assert!(body.contains(parties), "{body}");
}

#[test]
fn a_field_that_only_the_second_of_two_tables_loses_is_refused() {
    for to in [Version::Fix41, Version::Fix40] {
        let mut desk = desk_between(Version::Fix44, to, "", "");
        let firm = format!("11=O1|{ORDER}453=1|448=FIRM|447=D|452=4|");
        let text = refusal(&mut desk, &firm);
        assert!(text.contains("(tag 453"), "{to:?} {text}");
    }
    let mut desk = desk_between(Version::Fix44, Version::Fix40, "", "");
    let text = refusal(&mut desk, &format!("11=O2|{ORDER}528=A|"));
    assert!(text.contains("(tag 528"), "{text}");
}

#[test]
fn lengths_of_converted_fields_count_once() {
    let mut long = setup(Version::Fix42, "", "carry = [58]");
    let size = "[oms]\ncarried_bytes = 4096\n";
    long.settings = long.settings.replacen("[oms]\n", size, 1);
    long.sessions = vec![("C", Version::Fix42), ("V", Version::Fix44)];
    let mut desk = Desk::new(&long);
    desk.hear(&Input::Up(VENUE, false));
    desk.hear(&Input::Up(CLIENT, false));
    let text = "x".repeat(2600);
    desk.says(CLIENT, "D", &format!("11=O|{ORDER}58={text}|109=CL|"));
    let body = sent(&desk, "D").expect("an order");
    assert!(body.contains("|453=1|448=CL|447=D|452=3|"), "{body}");
}

#[test]
fn a_converted_field_that_a_contract_drops_is_counted() {
    let mut desk = desk_between(Version::Fix42, Version::Fix44, "", "drop = [453]");
    desk.says(CLIENT, "D", &format!("11=O|{ORDER}109=CL|"));
    assert!(sent(&desk, "D").is_some_and(|it| !it.contains("453=")));
    let status = desk.query("status");
    assert!(status.contains("line_group V "), "{status}");
    assert!(status.contains("453: 1"), "{status}");
}

#[test]
fn an_order_whose_converted_field_the_settings_refuse_meanwhile_is_not_sent() {
    let mut queued = setup(Version::Fix42, "", "queue = \"10m\"");
    queued.sessions = vec![("C", Version::Fix42), ("V", Version::Fix44)];
    let mut desk = Desk::new(&queued);
    desk.hear(&Input::Up(CLIENT, false));
    desk.says(CLIENT, "D", &format!("11=A1|{ORDER}109=CL|"));
    desk.set("queue = \"10m\"", "queue = \"10m\"\nrefuse = [453]");
    desk.hear(&Input::Restart(0, false));
    desk.hear(&Input::Up(CLIENT, false));
    let said = desk.hear(&Input::Up(VENUE, false));
    assert_eq!(sent(&desk, "D"), None);
    let texts: Vec<_> = said.iter().filter_map(|it| it.get(58)).collect();
    assert!(texts.iter().any(|it| it.contains("(tag 109")), "{texts:?}");
}

#[test]
fn both_orders_of_a_quote_have_its_converted_fields() {
    let mut desk = desk_between(Version::Fix42, Version::Fix44, "", "");
    desk.says(CLIENT, "S", &format!("{}109=CL|", base("S", "Q1", "")));
    let orders = desk
        .bodies
        .iter()
        .filter(|(to, of, _)| *to == VENUE && of == "D");
    let orders: Vec<String> = orders
        .map(|(_, _, body)| String::from_utf8_lossy(body).replace('\x01', "|"))
        .collect();
    assert_eq!(orders.len(), 2);
    for body in orders {
        assert!(body.ends_with("|453=1|448=CL|447=D|452=3|"), "{body}");
    }
}

const ACCEPTED: &str = "37=V1|11=1|17=N1|150=0|39=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|";

/// The fields of the group of parties in a message, sorted.
fn parties(body: &str) -> Vec<&str> {
    let tag = |field: &&str| field.split('=').next().unwrap_or_default().to_owned();
    let members = ["453", "448", "447", "452", "523", "802", "803"];
    let fields = body.split('|').filter(|it| members.contains(&&*tag(it)));
    let mut all: Vec<_> = fields.collect();
    all.sort_unstable();
    all
}

#[test]
fn a_cancel_of_the_oms_has_fields_that_are_converted_together() {
    for to in [Version::Fix43, Version::Fix44] {
        for (fields, group, changed) in [
            ("109=FUND|76=BRK|439=FF|440=AC|", "", ""),
            // One field cannot be converted any more, and a field comes before the field that it needs.
            (
                "440=AC|439=FF|109=FUND|47=A|",
                "carry = [58]",
                "refuse = [528]",
            ),
        ] {
            let mut desk = desk_between(Version::Fix42, to, "", group);
            desk.says(CLIENT, "D", &format!("11=O|{ORDER}{fields}"));
            let order = sent(&desk, "D").expect("an order");
            assert!(parties(&order).contains(&"523=AC"), "{to:?} {order}");
            desk.says(VENUE, "8", ACCEPTED);
            desk.set(group, if changed.is_empty() { group } else { changed });
            desk.hear(&Input::Restart(0, false));
            desk.hear(&Input::Up(CLIENT, false));
            desk.hear(&Input::Up(VENUE, false));
            desk.hear(&Input::Command("kill account=A1".into()));
            let cancel = sent(&desk, "F").expect("a cancel");
            assert_eq!(parties(&cancel), parties(&order), "{to:?} {fields}");
        }
    }
}

#[test]
fn a_replace_leaves_with_the_order_what_can_be_converted_only_for_an_order() {
    const DELTA: &str = "remove member NoPartyIDs from G\nremove member OrderCapacity from G\n";
    for (field, converted) in [("109=F|", "448=F|"), ("47=A|", "528=A|")] {
        let mut desk = desk_between(
            Version::Fix42,
            Version::Fix44,
            "",
            "replace = \"merge\"\nqueue = \"1h\"",
        );
        desk.set_dictionary(VENUE, DELTA);
        desk.hear(&Input::Restart(0, false));
        desk.hear(&Input::Up(VENUE, false));
        desk.hear(&Input::Up(CLIENT, false));
        desk.says(CLIENT, "D", &format!("11=O|{ORDER}{field}58=t|"));
        assert!(sent(&desk, "D").unwrap().contains(converted));
        desk.says(VENUE, "8", ACCEPTED);
        let mut before = ("O".to_owned(), "1".to_owned());
        for number in 2..4 {
            let id = format!("G{number}");
            desk.says(CLIENT, "G", &base("G", &id, &before.0));
            let body = sent(&desk, "G").expect("a replace");
            assert!(
                body.ends_with("|58=t|") && !body.contains(converted),
                "{body}"
            );
            let at_venue = format!("1-{number}");
            let report = format!(
                "37=V1|11={at_venue}|41={}|17=R{number}|150=5|39=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|",
                before.1
            );
            desk.says(VENUE, "8", &report);
            let lines = desk.state().state_lines();
            let wanted = field.replace('|', "\\x01");
            let mut all = lines
                .lines()
                .filter(|line| line.starts_with("fields of 1 "));
            assert!(all.any(|line| line.contains(&wanted)), "{lines}");
            before = (id, at_venue);
        }
        // The client's own field cannot be kept: it is not in the replace.
        let (_, said) = desk.asks(
            CLIENT,
            "G",
            &format!("{}{field}", base("G", "G9", &before.0)),
        );
        assert_eq!(sent(&desk, "G"), None, "{said:?}");
        // A queued order is sent with the field, also after a replace.
        desk.hear(&Input::Down(VENUE, false));
        desk.says(CLIENT, "D", &format!("11=P|{ORDER}{field}58=t|"));
        desk.says(CLIENT, "G", &format!("{}58=u|", base("G", "P2", "P")));
        desk.hear(&Input::Up(VENUE, false));
        let body = sent(&desk, "D").expect("an order");
        assert!(
            body.contains(converted) && body.contains("|58=u|"),
            "{body}"
        );
    }
}
