//! Does an application message allocate memory once a link is warm?

use fixwire_tmp::messages::{L10, L20, L30, L40, L42, L50, L60, R01, R02};
use fixwire_tmp::{
    ClientLinkSettings, ClientLinkState, ExchangeLinkSettings, LinkAction, LinkActions, LinkClient,
    LinkExchange, LinkNow, LinkNumbers, ResendStore, SystemType, TmpExecType, TmpFrame, TmpHeader,
    TmpLayout, TmpPassword,
};

/// Keeps nothing: nobody logs in again.
struct NoStore;

impl ResendStore for NoStore {
    fn append(&mut self, _: u32, _: &mut Vec<u8>) -> bool {
        false
    }
}

/// Hands the frames of one end to the other until both are quiet.
fn settle(
    now: LinkNow,
    client: &mut LinkClient,
    exchange: &mut LinkExchange,
    to_exchange: &mut LinkActions,
    to_client: &mut LinkActions,
) -> usize {
    let mut delivered = 0;
    while !to_exchange.is_empty() || !to_client.is_empty() {
        for action in to_exchange.iter() {
            match action {
                LinkAction::Send(frame) => {
                    exchange.on_frame(now, frame, &mut NoStore, to_client);
                }
                LinkAction::Deliver { .. } => delivered += 1,
                _ => {}
            }
        }
        to_exchange.clear();
        for action in to_client.iter() {
            match action {
                LinkAction::Send(frame) => client.on_frame(now, frame, to_exchange),
                LinkAction::Deliver { .. } => delivered += 1,
                _ => {}
            }
        }
        to_client.clear();
    }
    delivered
}

#[test]
fn a_warm_link_allocates_nothing() {
    let password = TmpPassword::new(4567);
    let mut settings = ExchangeLinkSettings::new(279, 50, password, SystemType::FUTURES_DAY);
    settings.max_flow_ctrl_cnt = 1_000;
    let mut exchange = LinkExchange::new(settings, LinkNumbers::default());
    let settings = ClientLinkSettings::new(279, 50, password, SystemType::FUTURES_DAY);
    let mut client = LinkClient::new(settings, LinkNumbers::default());
    let (mut to_exchange, mut to_client) = (LinkActions::new(), LinkActions::new());
    let mut now = LinkNow {
        mono_ns: 1,
        wall_ns: 1_700_000_000_000_000_000,
    };
    exchange.on_connect(now);
    client.on_connect(now, &mut to_exchange);
    settle(
        now,
        &mut client,
        &mut exchange,
        &mut to_exchange,
        &mut to_client,
    );
    assert_eq!(client.state(), ClientLinkState::Ready);
    let mut round = |count: usize| {
        let mut delivered = 0;
        for _ in 0..count {
            now.mono_ns += 10_000_000;
            let mut buffer = [0; 160];
            let order = R01 {
                exec_type: TmpExecType::NEW,
                ..R01::default()
            };
            let len = order.encode(&TmpHeader::default(), &mut buffer).unwrap();
            client
                .send(now, &mut buffer[..len], &mut to_exchange)
                .unwrap();
            let report = R02 {
                exec_type: TmpExecType::NEW,
                ..R02::default()
            };
            let len = report.encode(&TmpHeader::default(), &mut buffer).unwrap();
            exchange
                .send(now, &mut buffer[..len], &mut to_client)
                .unwrap();
            let (out, back) = (&mut to_exchange, &mut to_client);
            delivered += settle(now, &mut client, &mut exchange, out, back);
        }
        delivered
    };
    assert_eq!(round(200), 400);
    let info = allocation_counter::measure(|| assert_eq!(round(200), 400));
    assert_eq!(info.count_total, 0);
}

#[test]
fn encoding_and_decoding_allocate_nothing() {
    let mut buffer = [0; 160];
    let header = TmpHeader::default();
    let info = allocation_counter::measure(|| {
        let len = L40::default().encode(&header, &mut buffer).unwrap();
        assert_eq!(
            TmpFrame::decode::<L40>(&buffer[..len]),
            Ok((header, L40::default()))
        );
        let len = R02::default().encode(&header, &mut buffer).unwrap();
        assert_eq!(
            TmpFrame::decode::<R02>(&buffer[..len]),
            Ok((header, R02::default()))
        );
        for len in [
            L10::default().encode(&header, &mut buffer),
            L20::default().encode(&header, &mut buffer),
            L30::default().encode(&header, &mut buffer),
            L42::default().encode(&header, &mut buffer),
            L50::default().encode(&header, &mut buffer),
            L60::default().encode(&header, &mut buffer),
        ] {
            assert!(len.is_ok());
        }
    });
    assert_eq!(info.count_total, 0);
}
