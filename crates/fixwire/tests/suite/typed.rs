//! Typed messages: what a writer writes, its view reads, and the dictionary accepts.

use fixwire::messages::{fix42, fix44};
use fixwire_protocol::dictionary::validate::check;
use fixwire_protocol::dictionary::{Dictionary, Scratch, ValidationRules, Version};
use fixwire_protocol::{
    Decimal, Decoder, HeaderTemplate, Message, Outbox, Refusal, SessionId, Timestamp,
};

const SESSION: SessionId = SessionId(0);
const MOMENT: &[u8] = b"20260821-13:30:00.123";

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text.as_bytes()).expect("a decimal")
}

fn moment() -> Timestamp {
    Timestamp::parse(MOMENT).expect("a timestamp")
}

/// Seals the only message of the outbox, validates it, and shows it to `look`.
fn received(outbox: &mut Outbox, version: Version, look: impl FnOnce(&Message<'_>)) {
    assert_eq!(outbox.failures(), 0);
    let header = HeaderTemplate::new(version.name().as_bytes(), b"BUYER", b"SELLER", &[]);
    outbox.seal(0, &header, 7, MOMENT);
    let bytes = outbox.sealed(0).to_vec();
    let mut decoder = Decoder::with_capacity(128);
    let message = decoder.decode(&bytes);
    let text = String::from_utf8_lossy(&bytes).replace('\u{1}', "|");
    let dictionary = Dictionary::built_in(version);
    let fault = check(
        &dictionary,
        &message,
        &ValidationRules::default(),
        &mut Scratch::default(),
    );
    assert_eq!(fault, Ok(()), "{text}");
    look(&message);
}

#[test]
fn an_order_of_4_2_comes_back_as_it_was_written() {
    let mut outbox = Outbox::new(4096, 4, 200);
    fix42::NewOrderSingle::write(
        &mut outbox,
        SESSION,
        b"A-1",
        fix42::handl_inst_values::MANUAL_ORDER_BEST_EXECUTION,
        b"LCOM1",
        fix42::side_values::SELL_SHORT,
        moment(),
        fix42::ord_type_values::LIMIT,
    )
    .account(b"ABCTEST1")
    .order_qty(decimal("100"))
    .price(decimal("101.50"))
    .security_type(fix42::security_type_values::FUTURE)
    .finish()
    .expect("room");
    received(&mut outbox, Version::Fix42, |message| {
        let order = fix42::NewOrderSingle::of(message).expect("an order");
        assert_eq!(order.cl_ord_id(), Ok(&b"A-1"[..]));
        assert_eq!(order.side(), Ok(b'5'));
        assert_eq!(order.price(), Ok(Some(decimal("101.50"))));
        assert_eq!(order.stop_px(), Ok(None));
        assert_eq!(order.transact_time(), Ok(moment()));
        assert_eq!(order.account(), Some(&b"ABCTEST1"[..]));
        assert!(fix42::ExecutionReport::of(message).is_none());
    });
}

#[test]
fn groups_of_4_4_keep_their_nested_entries() {
    let mut outbox = Outbox::new(4096, 4, 200);
    use fix44::new_order_single::{NoPartyIDs, NoPartySubIDs};
    let mut trader_desk = NoPartySubIDs::new(b"desk-3");
    trader_desk.party_sub_id_type = Some(4);
    let subs = [NoPartySubIDs::new(b"trader-9"), trader_desk];
    let mut firm = NoPartyIDs::new(b"FIRM");
    firm.party_id_source = Some(b'D');
    firm.party_role = Some(1);
    firm.no_party_sub_ids = &subs;
    let parties = [firm, NoPartyIDs::new(b"CLEARER")];
    fix44::NewOrderSingle::write(&mut outbox, SESSION, b"A-2", b'1', moment(), b'2')
        .symbol(b"MSFT")
        .no_party_ids(&parties)
        .price(decimal("7"))
        .finish()
        .expect("room");
    received(&mut outbox, Version::Fix44, |message| {
        let order = fix44::NewOrderSingle::of(message).expect("an order");
        let parties: Vec<_> = order.no_party_ids().collect();
        assert_eq!(parties.len(), 2);
        assert_eq!(parties[0].party_id(), Some(&b"FIRM"[..]));
        assert_eq!(parties[0].party_role(), Ok(Some(1)));
        let subs: Vec<_> = parties[0]
            .no_party_sub_ids()
            .map(|sub| sub.party_sub_id())
            .collect();
        assert_eq!(subs, [Some(&b"trader-9"[..]), Some(&b"desk-3"[..])]);
        assert_eq!(parties[1].party_id(), Some(&b"CLEARER"[..]));
        assert_eq!(parties[1].no_party_sub_ids().count(), 0);
        assert_eq!(order.price(), Ok(Some(decimal("7"))));
    });
}

#[test]
fn what_is_missing_or_malformed_becomes_the_refusal_of_the_message() {
    let text = b"8=FIX.4.2\x019=50\x0135=D\x0134=1\x0111=A\x0138=1e5\x0110=000\x01";
    let mut decoder = Decoder::with_capacity(32);
    let message = decoder.decode(text);
    let order = fix42::NewOrderSingle::of(&message).expect("an order");
    assert_eq!(order.order_qty(), Err(Refusal::IncorrectDataFormat(38)));
    assert_eq!(
        order.symbol(),
        Err(Refusal::ConditionallyRequiredFieldMissing(55))
    );
    assert_eq!(order.cl_ord_id(), Ok(&b"A"[..]));
}
