use fixwire::SessionConfig;
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::session::{ApplVerId, Role};
use fixwire_protocol::{Decoder, Dictionary};

use super::*;

/// An application for one session of a version.
fn app(version: Version, more: impl FnOnce(&mut Config)) -> OrderEcho {
    let begin_string = BeginString::parse(version.name().as_bytes());
    let mut session = Config::new(
        begin_string.unwrap_or(BeginString::Fixt11),
        Role::Acceptor,
        b"A",
        b"B",
    );
    session.default_appl_ver_id = version
        .appl_ver_id()
        .and_then(|id| ApplVerId::parse(id.as_bytes()));
    more(&mut session);
    let mut app = OrderEcho::new(&EngineConfig::default());
    app.on_session_added(Now::default(), SessionId(0), "A", &session);
    app
}

/// The fields of the one answer, or the refusal.
fn ask(app: &mut OrderEcho, msg_type: &str, body: &str) -> Result<String, Refusal> {
    let said =
        crate::app::tests::answer(app, &format!("8=FIX|9=5|35={msg_type}|34=2|{body}10=000|"))?;
    assert_eq!(said.len(), 1, "{said:?}");
    Ok(said[0].clone())
}

fn value(answer: &str, tag: Tag) -> Option<&str> {
    let fields = answer.split_once(' ')?.1;
    let mut fields = fields.split('|').filter_map(|field| field.split_once('='));
    fields
        .find(|(name, _)| *name == tag.to_string())
        .map(|(_, value)| value)
}

/// `tag=value` for a field that an answer must have, `!tag` for one that it must not have.
fn says(answer: &str, wanted: &str) {
    for field in wanted.split('|').filter(|field| !field.is_empty()) {
        if let Some(tag) = field.strip_prefix('!') {
            assert_eq!(
                value(answer, tag.parse().unwrap()),
                None,
                "{field} in {answer}"
            );
        } else {
            let (tag, text) = field.split_once('=').unwrap();
            assert_eq!(
                value(answer, tag.parse().unwrap()),
                Some(text),
                "{field} in {answer}"
            );
        }
    }
}

const ORDER: &str = "11=A1|1=ACC|55=VOD|54=2|38=300|40=2|44=12.50|59=0|58=mine|";

#[test]
fn an_order_is_accepted_with_its_own_fields_and_those_of_the_version() {
    for (version, wanted) in [
        (Version::Fix40, "20=0|!150|!151|32=0|31=0|"),
        (Version::Fix41, "20=0|150=0|151=300|32=0|31=0|"),
        (Version::Fix42, "20=0|150=0|151=300|!32|"),
        (Version::Fix43, "!20|150=0|151=300|!32|"),
        (Version::Fix44, "!20|150=0|151=300|"),
        (Version::Fix50, "!20|150=0|151=300|"),
        (Version::Fix50Sp1, "!20|150=0|151=300|"),
        (Version::Fix50Sp2, "!20|150=0|151=300|"),
    ] {
        let mut app = app(version, |_| {});
        let report = ask(&mut app, "D", ORDER).unwrap();
        assert!(report.starts_with("8 "), "{report}");
        says(&report, "11=A1|55=VOD|54=2|38=300|44=12.50|39=0|14=0|6=0|");
        says(&report, wanted);
        assert_ne!(value(&report, 37), value(&report, 17));
        let next = ask(&mut app, "D", &ORDER.replace("A1", "A2")).unwrap();
        for id in [17, 37] {
            assert_ne!(value(&report, id), value(&next, id));
        }
    }
}

#[test]
fn groups_are_repeated_whole() {
    let mut app = app(Version::Fix44, |_| {});
    let parties = "453=2|448=P|447=D|452=1|802=1|523=S|803=2|448=Q|447=D|452=3|";
    let report = ask(&mut app, "D", &format!("{ORDER}{parties}47=A|")).unwrap();
    assert!(report.contains(parties), "{report}");
    // A report has no trading sessions.
    let report = ask(&mut app, "D", &format!("{ORDER}386=1|336=DAY|77=O|")).unwrap();
    says(&report, "!386|!336|77=O");
}

#[test]
fn what_is_wrong_with_an_order_is_said_in_its_report() {
    let mut app = app(Version::Fix42, |_| {});
    for (from, to, text) in [
        ("38=300|", "38=0|", "OrderQty(38) must be above zero"),
        ("38=300|", "38=-5|", "OrderQty(38) must be above zero"),
        (
            "38=300|",
            "152=1000|",
            "OrderQty(38) is missing: CashOrderQty(152) and OrderPercent(516) are not supported",
        ),
        (
            "44=12.50|",
            "",
            "Price(44) is missing: an order with OrdType(40)=2 needs it",
        ),
        (
            "40=2|",
            "40=3|",
            "StopPx(99) is missing: an order with OrdType(40)=3 needs it",
        ),
    ] {
        let report = ask(&mut app, "D", &ORDER.replace(from, to)).unwrap();
        says(&report, &format!("39=8|150=8|103=0|151=0|14=0|58={text}|"));
        assert_eq!(report.matches("|58=").count(), 1, "{report}");
    }
    // None of these messages is an order.
    says(
        &ask(&mut app, "F", "11=C|41=A1|55=VOD|54=2|").unwrap(),
        "102=1|",
    );
    let refused = Err(Refusal::ConditionallyRequiredFieldMissing(tag::CL_ORD_ID));
    assert_eq!(ask(&mut app, "D", &ORDER.replace("11=A1|", "")), refused);
    let refused = Err(Refusal::ConditionallyRequiredFieldMissing(tag::SYMBOL));
    assert_eq!(ask(&mut app, "D", &ORDER.replace("55=VOD|", "")), refused);
    assert_eq!(
        ask(&mut app, "8", ORDER),
        Err(Refusal::UnsupportedMessageType)
    );
}

#[test]
fn an_order_is_canceled_once() {
    for (version, exec_type) in [
        (Version::Fix40, "!150"),
        (Version::Fix42, "150=4"),
        (Version::Fix44, "150=4"),
    ] {
        let mut app = app(version, |_| {});
        let accepted = ask(&mut app, "D", ORDER).unwrap();
        let cancel = "11=C1|41=A1|55=VOD|54=2|38=300|60=x|";
        let canceled = ask(&mut app, "F", cancel).unwrap();
        assert!(canceled.starts_with("8 "), "{canceled}");
        says(
            &canceled,
            &format!("11=C1|55=VOD|54=2|38=300|39=4|14=0|{exec_type}"),
        );
        assert_eq!(value(&canceled, 37), value(&accepted, 37));
        assert_ne!(value(&canceled, 17), value(&accepted, 17));
        let late = ask(&mut app, "F", &cancel.replace("C1", "C2")).unwrap();
        assert!(late.starts_with("9 "), "{late}");
        says(&late, "11=C2|102=0|");
        assert_eq!(value(&late, 37), value(&accepted, 37));
        let unknown = ask(&mut app, "F", &cancel.replace("41=A1", "41=ZZ")).unwrap();
        says(&unknown, "37=NONE|102=1|");
        match version {
            Version::Fix40 => says(&late, "!39|!41|!434"),
            Version::Fix42 => says(&unknown, "39=8|41=ZZ|434=1"),
            _ => says(&late, "39=4|41=A1|434=1"),
        }
    }
    let mut app = app(Version::Fix40, |_| {});
    ask(&mut app, "D", ORDER).unwrap();
    let part = ask(&mut app, "F", "11=C1|41=A1|125=P|55=VOD|54=2|38=100|").unwrap();
    assert!(part.starts_with("9 ") && !part.contains("|102="), "{part}");
}

#[test]
fn an_order_is_replaced_under_its_order_id() {
    for (version, wanted) in [
        (Version::Fix42, "150=5|39=5"),
        (Version::Fix44, "150=5|39=0"),
    ] {
        let mut app = app(version, |_| {});
        let accepted = ask(&mut app, "D", ORDER).unwrap();
        let replace = "11=R1|41=A1|55=VOD|54=2|38=200|40=2|44=13|60=x|";
        let bad = ask(&mut app, "G", &replace.replace("38=200", "38=0")).unwrap();
        assert!(bad.starts_with("9 "), "{bad}");
        says(&bad, "39=0|434=2|102=2|58=OrderQty(38) must be above zero");
        let replaced = ask(&mut app, "G", replace).unwrap();
        says(
            &replaced,
            &format!("11=R1|41=A1|38=200|151=200|44=13|{wanted}"),
        );
        assert_eq!(value(&replaced, 37), value(&accepted, 37));
        says(
            &ask(&mut app, "F", "11=C1|41=A1|55=VOD|54=2|").unwrap(),
            "102=0|",
        );
        let canceled = ask(&mut app, "F", "11=C2|41=R1|55=VOD|54=2|").unwrap();
        says(&canceled, "39=4|38=200|151=0");
        assert_eq!(value(&canceled, 37), value(&accepted, 37));
    }
}

#[test]
fn an_order_that_is_possibly_sent_again_is_not_accepted_twice() {
    for (version, wanted) in [
        (Version::Fix42, "20=3|150=0"),
        (Version::Fix44, "!20|150=I"),
    ] {
        let mut app = app(version, |_| {});
        let accepted = ask(&mut app, "D", ORDER).unwrap();
        let status = ask(&mut app, "D", &format!("97=Y|{ORDER}")).unwrap();
        says(&status, &format!("39=0|38=300|151=300|{wanted}"));
        assert_eq!(value(&status, 37), value(&accepted, 37));
        ask(&mut app, "G", "11=R1|41=A1|55=VOD|54=2|38=200|40=1|60=x|").unwrap();
        let status = ask(&mut app, "D", &format!("97=Y|{ORDER}")).unwrap();
        says(
            &status,
            if version == Version::Fix42 {
                "39=5|151=0"
            } else {
                "39=4|151=0"
            },
        );
        let first = ask(
            &mut app,
            "D",
            &format!("97=Y|{}", ORDER.replace("A1", "A2")),
        )
        .unwrap();
        says(&first, "39=0|150=0");
    }
}

#[test]
fn fields_that_the_sessions_own_dictionary_lacks_are_left_out() {
    let text = fixwire_dictionary::write::quickfix(&Dictionary::built_in(Version::Fix44));
    let from = text
        .find("<message name=\"ExecutionReport\"")
        .or_else(|| text.find("name=\"ExecutionReport\""))
        .unwrap();
    let line = text[from..].find("<field name=\"TimeInForce\"").unwrap() + from;
    let end = text[line..].find("/>").unwrap() + line + 2;
    let text = format!("{}{}", &text[..line], &text[end..]);
    let own = fixwire_dictionary::quickfix::read(&text, Default::default()).unwrap();
    let mut app = app(Version::Fix44, |session| {
        session.dictionary = Some(own.into())
    });
    says(&ask(&mut app, "D", ORDER).unwrap(), "44=12.50|!59");
}

#[test]
fn each_start_has_ids_of_its_own() {
    let first = |_| {
        let mut app = app(Version::Fix42, |_| {});
        value(&ask(&mut app, "D", ORDER).unwrap(), 37)
            .unwrap()
            .to_owned()
    };
    let ids: std::collections::BTreeSet<String> = (0..100).map(first).collect();
    assert_eq!(ids.len(), 100);
    assert!(ids.iter().all(|id| id.len() <= 18));
    // Sessions of the settings are known from the start.
    let config = EngineConfig {
        sessions: vec![SessionConfig::new(
            "A",
            Config::new(BeginString::Fix42, Role::Acceptor, b"A", b"B"),
            fixwire::Connection::Acceptor {
                listen: "127.0.0.1:0".parse().unwrap(),
            },
        )],
        ..EngineConfig::default()
    };
    let mut app = OrderEcho::new(&config);
    let bytes = format!("8=FIX.4.2|9=5|35=D|{ORDER}10=000|").replace('|', "\x01");
    let mut decoder = Decoder::with_capacity(64);
    let mut outbox = Outbox::new(1 << 16, 16, 256);
    app.on_message(
        Now::default(),
        SessionId(0),
        &decoder.decode(bytes.as_bytes()),
        &mut outbox,
    )
    .unwrap();
    let unknown = app.on_message(
        Now::default(),
        SessionId(1),
        &decoder.decode(bytes.as_bytes()),
        &mut outbox,
    );
    assert_eq!(unknown, Err(Refusal::NotAvailable));
}
