//! Does an order allocate memory, anywhere between two sockets?
//!
//! The allocator of this program counts. Sockets are in memory: system calls do not allocate here.

use fixwire::journal::{Journal, JournalConfig, Memory};
use fixwire_lab::hot_path::{HotPath, Stage};
use fixwire_lab::oms::driven::{
    ChangeTarget, DrivenOms, DrivenOmsConfig, ExtraFields, LoadRequest, OrderFlow,
};
use fixwire_lab::wired::driven::Work;

const ORDERS: u64 = 50_000;

#[test]
fn no_stage_of_the_hot_path_allocates_after_warm_up() {
    for stage in Stage::ALL {
        let (journal, _) = Journal::open(Memory::new(2), JournalConfig::default()).unwrap();
        let mut path = HotPath::new(journal).unwrap();
        let mut go = |orders| {
            for _ in 0..orders {
                path.run(stage).unwrap();
                path.rest();
            }
        };
        go(1_000);
        let counted = allocation_counter::measure(|| go(ORDERS));
        assert_eq!(
            counted.count_total, 0,
            "{stage:?} of {ORDERS} orders: {counted:?}"
        );
    }
}

/// A million messages of each kind, in two halves: the peer's sequence numbers have six digits. A resend may allocate:
/// it makes room for the messages it reads.
#[test]
fn the_engine_allocates_nothing_after_warm_up() {
    for work in [Work::Order, Work::Batch, Work::Handle]
        .into_iter()
        .flat_map(|work| [work; 2])
    {
        let mut once = work.start(None).unwrap();
        let mut go = |messages| (0..messages / work.messages()).for_each(|_| once().unwrap());
        // Fills the ring of the journal once.
        go(350_000);
        let counted = allocation_counter::measure(|| go(500_000));
        assert_eq!(counted.count_total, 0, "{work:?}: {counted:?}");
    }
}

/// Not covered: creating a segment.
#[test]
fn the_engine_allocates_nothing_with_a_journal_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut once = Work::Order.start(Some(folder.path())).unwrap();
    (0..10_000).for_each(|_| once().unwrap());
    let counted = allocation_counter::measure(|| (0..100_000).for_each(|_| once().unwrap()));
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

/// Sends orders of a flow through the OMS. The record of each ClOrdID of the day grows in steps; nothing else may
/// allocate for an order. Orders end, so that the number of open ones stays the same.
fn allocates_only_for_ids(flow: OrderFlow) {
    let mut oms = DrivenOms::start(&DrivenOmsConfig::in_memory(1_000, flow)).unwrap();
    let mut go = |orders: u64| {
        for _ in 0..orders {
            let order = oms.requests;
            oms.request(LoadRequest::New).unwrap();
            oms.request(LoadRequest::Cancel(ChangeTarget::of(order)))
                .unwrap();
        }
    };
    // More than the remembered orders, and once round the ring of the journal.
    go(150_000);
    let counted = allocation_counter::measure(|| go(20_000));
    assert!(counted.count_total <= 4, "{counted:?}");
}

#[test]
fn an_order_through_the_oms_allocates_only_for_the_ids_of_the_day() {
    allocates_only_for_ids(OrderFlow::default());
}

#[test]
fn an_order_with_ten_passed_on_fields_allocates_only_for_the_ids_of_the_day() {
    allocates_only_for_ids(OrderFlow {
        carried: ExtraFields::Same,
        ..OrderFlow::default()
    });
}

/// The memory for fields is set aside at the start: of the first orders of a day that carry fields, only the very first
/// allocates, for the remembered shape of its tags. All stay open.
#[test]
fn the_first_orders_with_passed_on_fields_have_their_memory() {
    let config = DrivenOmsConfig::in_memory(
        10_000,
        OrderFlow {
            carried: ExtraFields::Same,
            ..OrderFlow::default()
        },
    );
    let mut oms = DrivenOms::start(&config).unwrap();
    let mut order_and_cancel = |carried| {
        oms.carry(carried);
        let order = oms.requests;
        oms.request(LoadRequest::New).unwrap();
        oms.request(LoadRequest::Cancel(ChangeTarget::of(order)))
            .unwrap();
    };
    for _ in 0..150_000 {
        order_and_cancel(ExtraFields::None);
    }
    order_and_cancel(ExtraFields::Same);
    let counted = allocation_counter::measure(|| {
        for _ in 0..500 {
            oms.request(LoadRequest::New).unwrap();
        }
    });
    // Each of them would allocate its bytes.
    assert!(counted.count_total <= 4, "{counted:?}");
}

/// The same with fills: executions of orders that are no longer in memory are kept for the day, too, in steps.
#[test]
fn a_filled_order_allocates_only_for_the_ids_and_executions_of_the_day() {
    let mut oms =
        DrivenOms::start(&DrivenOmsConfig::in_memory(1_000, OrderFlow::default())).unwrap();
    let mut fills = 0;
    let mut go = |orders: u64| {
        for _ in 0..orders {
            let order = oms.requests;
            oms.request(LoadRequest::New).unwrap();
            for filled in 0..2 {
                oms.fill(order, filled, fills).unwrap();
                fills += 1;
            }
            oms.request(LoadRequest::Cancel(ChangeTarget::of(order)))
                .unwrap();
        }
    };
    go(150_000);
    let counted = allocation_counter::measure(|| go(20_000));
    assert!(counted.count_total <= 4, "{counted:?}");
}

#[test]
fn the_counter_counts() {
    let counted = allocation_counter::measure(|| drop(std::hint::black_box(vec![1_u8; 100])));
    assert_eq!(counted.count_total, 1);
}
