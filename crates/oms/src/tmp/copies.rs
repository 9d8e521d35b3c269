//! Copies of reports over TMP. An R15 requests copies, and each R06 is the copy of an R02. The OMS compares fills of
//! its own orders with their copies. Other copies are about orders placed elsewhere, as with a drop copy over FIX.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::Decimal;
use fixwire_tmp::messages::{R06, R15};
use fixwire_tmp::{
    ApCode, ClientLinkSettings, TmpExecType, TmpHeader, TmpLayout, TmpOrdType, TmpPositionEffect,
    TmpTimeInForce,
};

use super::OmsTmpLine;
use super::ids::resolve;
use super::orders::{RequestFrame, SHORT_SYMBOL};
use super::reports::{Execution, TmpOutcome, exec_of, side_of};
use crate::decide::core::{Core, Sink};
use crate::decide::external::ExternalTerms;
use crate::decide::venue::{ReportKind, ReportOutcome, VenueId, VenueReport};
use crate::values::ids::SessionNo;
use crate::values::rules::{CopySourceRule, RiskRules};
use crate::values::show::digits;
use crate::values::value::{Effect, End, OrderType, Text, TimeInForce};

/// The subscription of a link that gets copies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyLink {
    pub target: u8,
}

impl CopyLink {
    pub(super) fn new(code: ApCode) -> Self {
        let target = if code == ApCode::DROP_COPY { 7 } else { 3 };
        Self { target }
    }

    /// The R15 that requests the copies after the last received copy; `None` when it cannot be written.
    pub(crate) fn question(self, member: u16, last: u32) -> Option<RequestFrame> {
        RequestFrame::of(&R15 {
            member,
            target_id: self.target,
            req_seq: match last {
                0 => 0,
                last => last.saturating_add(1),
            },
        })
    }
}

/// Whether a link gets copies, and so sends no orders.
pub(super) fn gets_copies(settings: &ClientLinkSettings) -> bool {
    matches!(
        settings.ap_code,
        ApCode::DROP_COPY | ApCode::CLEARING_MEMBER
    )
}

/// One sentence for each mistake in the link of a `drop_copy_in`.
pub(super) fn problems(
    rules: &RiskRules,
    line: &OmsTmpLine,
    source: &CopySourceRule,
    found: &mut Vec<String>,
) {
    let name = &line.name;
    if !gets_copies(&line.settings) {
        found.push(format!(
            "link {name} of drop_copy_in has ap_code {}: write ap_code = \"drop copy\" or \"clearing member\"",
            line.settings.ap_code.0
        ));
    }
    let groups = rules.groups.iter().enumerate();
    for (group, rule) in
        groups.filter(|(_, it)| it.lines.iter().any(|it| source.lines.contains(it)))
    {
        let symbols = rules.instruments.iter();
        let long = symbols.filter(|it| it.symbol.len() > SHORT_SYMBOL);
        for it in long.filter(|it| rules.may_reach(group, it.symbol.as_bytes())) {
            found.push(format!(
                "symbol {} has more than 20 bytes, and does not fit into R06: route it to a line_group that is not in drop_copy_in {name} (now it goes to {})",
                it.symbol, rule.name
            ));
        }
    }
}

/// The content of a copy, and the order to which it belongs.
struct Copied<'a> {
    said: &'a Execution,
    of: &'a R06,
    /// The numbers of the order and the request; zeros if the order is not one of the OMS.
    id: VenueId,
    /// The name by which the OMS knows an order placed elsewhere.
    name: &'a [u8],
}

impl Core {
    /// Handles an R06, received on `line`.
    ///
    /// `own` is `None` if the copied report is not of a link of the OMS; otherwise it says whether that link gets short
    /// reports. `fcm_id` is the broker of `line`, and `is_of_today` says whether the line's sequence numbers are of
    /// today.
    #[cold]
    pub(crate) fn tmp_copy(
        &mut self,
        at: i64,
        (line, fcm_id, is_of_today): (SessionNo, u16, bool),
        (copy, own): (&R06, Option<bool>),
        sink: &mut impl Sink,
    ) -> TmpOutcome {
        let said = Execution::of(&copy.report(0));
        let name = name_of(copy, fcm_id);
        let (order, request) = resolve(self.state(), said.id, said.side);
        // For an order in memory, `resolve` has compared the number of the order at the exchange.
        let is_ours = own.is_some() || self.state().orders().get(order).is_some();
        let id = match is_ours {
            true => VenueId { order, request },
            false => VenueId::default(),
        };
        let copied = Copied {
            said: &said,
            of: copy,
            id,
            name: name.bytes(),
        };
        let heard = self.tmp_copied(at, line, &copied, own == Some(true), sink);
        let (last, more) = self.state().link_numbers(line);
        if is_of_today && copy.rpt_seq > last {
            self.set_link_numbers(at, line, copy.rpt_seq, more, sink);
        }
        TmpOutcome {
            is_known: false,
            heard,
            order_no: copy.order_no,
            status: copy.status,
            market: None,
        }
    }

    fn tmp_copied(
        &mut self,
        at: i64,
        line: SessionNo,
        copied: &Copied<'_>,
        is_short: bool,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let said = copied.said;
        let state = self.state();
        let own = state.orders().get(copied.id.order);
        let external = state.used(line, copied.name).filter(|it| *it > 0);
        let external = external.and_then(|it| state.orders().get(it));
        let order = own.or(external);
        let kinds = match own {
            Some(order) => said.kinds(Some(order)),
            None => kinds(said, copied.of),
        };
        let instrument = match order {
            Some(order) => Some(order.instrument),
            None => state.instruments().find(said.symbol()),
        };
        let scale = instrument.and_then(|it| self.tmp_scales.get(it));
        let scale = scale.copied().unwrap_or_default();
        let price = |price: i32| Decimal::new(price.into(), scale);
        let quantity = |quantity: u64| i64::try_from(quantity).ok().map(Decimal::from_int);
        let exec_id = digits(copied.of.rpt_seq.into());
        let terms = terms(copied.of, exec_id.bytes());
        let has_price = terms.kind.is_some_and(OrderType::has_price);
        let is_reduce = said.exec_type == TmpExecType::REDUCE;
        let account = self.tmp_account(said.account);
        let report = VenueReport {
            line,
            id: copied.id,
            original: None,
            text_id: copied.name,
            kind: ReportKind::Other,
            venue_id: match own {
                Some(_) => &said.id.0,
                None => copied.name,
            },
            exec: exec_of_copied(copied.of, is_short),
            last_quantity: quantity(said.last_quantity.into()),
            last_price: price(said.last_price),
            filled: quantity(copied.of.cum_qty.into()),
            leaves: None,
            average: None,
            reference: None,
            fill_id: b"",
            quantity: quantity(total(copied.of)),
            price: price(said.price).filter(|_| has_price && !is_reduce),
            account: account.bytes(),
            symbol: said.symbol(),
            side: side_of(said.side, own),
            effect: match said.effect {
                TmpPositionEffect::OPEN => Some(Effect::Open),
                TmpPositionEffect::CLOSE => Some(Effect::Close),
                _ => None,
            },
            status: 0,
            at: said.at.wall_ns().cast_signed(),
            reason: None,
            text: b"",
        };
        let mut heard = ReportOutcome::Known;
        for kind in kinds.into_iter().flatten() {
            let next = self.copy(at, &VenueReport { kind, ..report }, &terms, sink);
            if heard == ReportOutcome::Known
                || !matches!(next, ReportOutcome::Known | ReportOutcome::Taken)
            {
                heard = next;
            }
        }
        if kinds.contains(&Some(ReportKind::Fill)) && !self.state().spreads.is_empty() {
            let report = VenueReport {
                kind: ReportKind::Fill,
                ..report
            };
            if let Some(legs) = self.tmp_legs_of(&report, said) {
                self.copy_legs(at, &report, &legs, &terms, sink);
            }
        }
        heard
    }
}

/// The name of an order placed elsewhere. The name is the order_no. For one side of a quote, the side is added, because
/// both sides have the same order_no. For an order of another broker than the link's broker, the number of the order's
/// broker comes first.
fn name_of(copy: &R06, fcm_id: u16) -> Text {
    let order_no = String::from_utf8_lossy(&copy.order_no);
    let side = match (copy.position_effect, copy.side.0) {
        (TmpPositionEffect::QUOTE, 1) => "B",
        (TmpPositionEffect::QUOTE, _) => "S",
        _ => "",
    };
    let name = match copy.fcm_id == fcm_id {
        true => format!("{order_no}{side}"),
        false => format!("{}-{order_no}{side}", copy.fcm_id),
    };
    Text::new(name.as_bytes())
}

/// The kinds of FIX reports that correspond to the copy of an order placed elsewhere, in order.
fn kinds(said: &Execution, copy: &R06) -> [Option<ReportKind>; 3] {
    let fill = (said.last_quantity > 0).then_some(ReportKind::Fill);
    let cancelled = Some(ReportKind::End(End::Cancelled));
    let cut = |before: u16| match before > said.last_quantity && said.leaves == 0 {
        true => cancelled,
        false => None,
    };
    match said.exec_type {
        TmpExecType::NEW => [Some(ReportKind::New), None, None],
        TmpExecType::NEW_FILL => [Some(ReportKind::New), fill, cut(copy.qty)],
        TmpExecType::FILL => [fill, cut(said.before), None],
        TmpExecType::CANCEL => [cancelled, None, None],
        TmpExecType::REDUCE if said.leaves == 0 => [cancelled, None, None],
        TmpExecType::REDUCE | TmpExecType::PRICE | TmpExecType::PRICE_HERE => {
            [Some(ReportKind::Replaced), None, None]
        }
        _ => [None; 3],
    }
}

/// OrderQty(38) of the order to which a copy belongs.
fn total(copy: &R06) -> u64 {
    let [cum, last, leaves, before] = [
        copy.cum_qty,
        copy.last_qty,
        copy.leaves_qty,
        copy.before_qty,
    ]
    .map(u64::from);
    match copy.exec_type {
        TmpExecType::NEW | TmpExecType::NEW_FILL => copy.qty.into(),
        // The quantity that the exchange deleted is part of OrderQty(38).
        TmpExecType::FILL => (cum + before).saturating_sub(last),
        _ => cum + leaves,
    }
}

fn terms<'a>(copy: &R06, exec_id: &'a [u8]) -> ExternalTerms<'a> {
    let kind = match copy.ord_type {
        TmpOrdType::MARKET => OrderType::Market,
        // A price means that the exchange has given the market order a limit price.
        TmpOrdType::MARKET_WITH_PROTECTION if copy.price == 0 => OrderType::Market,
        _ => OrderType::Limit,
    };
    let tif = match copy.time_in_force {
        TmpTimeInForce::IOC => TimeInForce::ImmediateOrCancel,
        TmpTimeInForce::FOK => TimeInForce::FillOrKill,
        _ => TimeInForce::Day,
    };
    ExternalTerms {
        exec_id,
        kind: Some(kind),
        tif: Some(tif),
        ..ExternalTerms::default()
    }
}

/// The hash that stands for the ExecID(17) of the copied report.
fn exec_of_copied(copy: &R06, is_short: bool) -> u64 {
    let mut room = [0; R06::SIZE];
    let report = copy.report(0);
    let written = match is_short {
        true => report.short().encode(&TmpHeader::default(), &mut room),
        false => report.encode(&TmpHeader::default(), &mut room),
    };
    // The buffer has room for the whole body.
    exec_of(&room[..written.unwrap_or(room.len())])
}
