//! Requests and reports in TMP frames, as the corresponding FIX messages.

use fixwire_tmp::messages::{L41, OrderEntry, R03, TmpMessage, VenueExecution};
use fixwire_tmp::{TmpExecType, TmpFrame, TmpLayout, TmpOrdType, TmpSymbol};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Ticks of a price of 1.
const TICKS: f64 = 100.0;
/// Digits of the order's number in `user_define`.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The place of a frame's type, and of its body.
const TYPE_AT: usize = 12;
const BODY_AT: usize = 17;

/// An order after its requests and reports.
#[derive(Clone, Copy, Debug)]
struct Order {
    quantity: u64,
    /// None of a market order.
    price: Option<i32>,
}

/// The frames on the links of an exchange.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// By the OMS's number.
    orders: BTreeMap<u64, Order>,
    /// The messages on each link by MsgSeqNum; a message may be sent again.
    numbered: BTreeMap<(String, u32), Vec<u8>>,
    /// The R02 reports with their links, by `rpt_seq`: an exchange may be configured to send them twice and in another
    /// order.
    reports: BTreeMap<u32, (String, Vec<u8>)>,
}

impl Frames {
    /// The request in a frame from the broker, if the frame has one that changes something.
    pub(super) fn request(&mut self, frame: &[u8]) -> Result<Option<String>, String> {
        if is_of_link(frame) {
            return Ok(None);
        }
        let frame = TmpFrame::read(frame).map_err(|error| error.to_string())?;
        let number = frame.header().msg_seq_num;
        match TmpMessage::of(&frame).map_err(|error| error.to_string())? {
            TmpMessage::R01(request) => self.asked(number, &request),
            TmpMessage::R31(request) => self.asked(number, &request),
            _ => Ok(None),
        }
    }

    fn asked<const SYMBOL: usize>(
        &mut self,
        number: u32,
        request: &OrderEntry<SYMBOL>,
    ) -> Result<Option<String>, String> {
        let order = order_number(request.user_define)?;
        let id = request_id(order, request.ord_id);
        let has_price = request.ord_type != TmpOrdType::MARKET;
        Ok(Some(match request.exec_type {
            TmpExecType::QUERY => return Ok(None),
            TmpExecType::NEW => {
                let new = Order {
                    quantity: request.qty.into(),
                    price: has_price.then_some(request.price),
                };
                self.orders.insert(order, new);
                let symbol = TmpSymbol::read(request.symbol_type, &request.symbol);
                let Ok(TmpSymbol::Text(symbol)) = symbol else {
                    return Err(format!("{request:?} has no symbol in text"));
                };
                let (symbol, side) = (String::from_utf8_lossy(symbol), request.side.0);
                format!("35=D|34={number}|11={id}|55={symbol}|54={side}|")
            }
            TmpExecType::CANCEL => format!("35=F|34={number}|11={id}|41={order}|"),
            _ => format!("35=G|34={number}|11={id}|41={order}|"),
        }))
    }

    /// A frame to the broker: a report, or a block of missed reports.
    pub(super) fn sent(&mut self, link: &str, bytes: &[u8]) -> Result<(), String> {
        if is_of_link(bytes) && bytes[TYPE_AT] != L41::CODE {
            return Ok(());
        }
        let frame = TmpFrame::read(bytes).map_err(|error| error.to_string())?;
        let number = frame.header().msg_seq_num;
        match TmpMessage::of(&frame).map_err(|error| error.to_string())? {
            TmpMessage::L41(block) => {
                let mut rest = block.data;
                while let Some(length) = rest.first_chunk::<2>() {
                    let length = usize::from(u16::from_be_bytes(*length)) + 3;
                    let (one, behind) = rest
                        .split_at_checked(length)
                        .ok_or("a block that ends inside a frame")?;
                    self.sent(link, one)?;
                    rest = behind;
                }
            }
            TmpMessage::R02(report) if number > 0 => {
                self.keep(link, number, report.rpt_seq, bytes)?
            }
            TmpMessage::R32(report) if number > 0 => {
                self.keep(link, number, report.rpt_seq, bytes)?
            }
            TmpMessage::R03(_) if number > 0 => self.number(link, number, bytes)?,
            _ => {}
        }
        Ok(())
    }

    fn keep(&mut self, link: &str, number: u32, rpt_seq: u32, bytes: &[u8]) -> Result<(), String> {
        self.number(link, number, bytes)?;
        let body = |bytes: &[u8]| bytes[BODY_AT..bytes.len() - 1].to_vec();
        let report = (link.to_owned(), bytes.to_vec());
        let known = self.reports.insert(rpt_seq, report);
        if known.is_some_and(|(of, known)| of != link || body(&known) != body(bytes)) {
            return Err(format!("{link}: two reports have the rpt_seq {rpt_seq}"));
        }
        Ok(())
    }

    fn number(&mut self, link: &str, number: u32, bytes: &[u8]) -> Result<(), String> {
        let known = self
            .numbered
            .insert((link.to_owned(), number), bytes.to_vec());
        match known.is_some_and(|known| known != bytes) {
            true => Err(format!("{link}: two reports have the number {number}")),
            false => Ok(()),
        }
    }

    /// The reports in the order in which the exchange made them, with their links; rejects, which have no `rpt_seq`,
    /// come last.
    pub(super) fn reports(&mut self) -> Result<Vec<(String, String)>, String> {
        let reports = std::mem::take(&mut self.reports).into_values();
        let numbered = std::mem::take(&mut self.numbered).into_iter();
        let rejects = numbered.filter(|(_, bytes)| bytes[TYPE_AT] == R03::CODE);
        let rejects = rejects.map(|((link, _), bytes)| (link, bytes));
        let mut said = Vec::new();
        for (at, (link, bytes)) in reports.chain(rejects).enumerate() {
            let frame = TmpFrame::read(&bytes).map_err(|error| error.to_string())?;
            let exec = at.to_string();
            let texts = match TmpMessage::of(&frame).map_err(|error| error.to_string())? {
                TmpMessage::R02(report) => self.reported(&exec, &report)?,
                TmpMessage::R32(report) => self.reported(&exec, &report)?,
                TmpMessage::R03(reject) => self.rejected(&exec, &reject)?,
                _ => Vec::new(),
            };
            said.extend(texts.into_iter().map(|text| (link.clone(), text)));
        }
        Ok(said)
    }

    /// Acceptance, fill and the end of the rest may be in one frame.
    fn reported<const SYMBOL: usize>(
        &mut self,
        exec: &str,
        report: &VenueExecution<SYMBOL>,
    ) -> Result<Vec<String>, String> {
        let number = order_number(report.user_define)?;
        let order = self.orders.get_mut(&number);
        let order =
            order.ok_or_else(|| format!("a report of order {number}, which was not sent"))?;
        let (filled, left) = (u64::from(report.cum_qty), u64::from(report.leaves_qty));
        let (before, last) = (u64::from(report.before_qty), u64::from(report.last_qty));
        let kind = report.exec_type;
        match kind {
            TmpExecType::REDUCE => order.quantity = filled + left,
            TmpExecType::PRICE | TmpExecType::PRICE_HERE => order.price = Some(report.price),
            _ => {}
        }
        let average = match filled {
            0 => 0.0,
            filled => report.px_subtotal as f64 / filled as f64 / TICKS,
        };
        let order = *order;
        let say = |exec_type, status, [filled, left]: [u64; 2], more: &str| {
            let mut text = format!(
                "35=8|37={number}|17={exec}-{exec_type}|150={exec_type}|39={status}|{more}"
            );
            // Writing to a string cannot fail.
            let _ = write!(text, "38={}|14={filled}|151={left}|", order.quantity);
            let average = if filled == 0 { 0.0 } else { average };
            let _ = write!(text, "6={average}|");
            if let Some(price) = order.price {
                let _ = write!(text, "44={}|", f64::from(price) / TICKS);
            }
            text
        };
        let own = format!("11={number}|");
        let change = format!("11={}|41={number}|", request_id(number, report.ord_id));
        let open = if filled > 0 { '1' } else { '0' };
        let mut said = Vec::new();
        match kind {
            TmpExecType::QUERY => {}
            TmpExecType::CANCEL => said.push(say('4', '4', [filled, 0], &change)),
            TmpExecType::REDUCE | TmpExecType::PRICE | TmpExecType::PRICE_HERE => {
                let status = if left == 0 { '2' } else { open };
                said.push(say('5', status, [filled, left], &change));
            }
            _ => {
                if matches!(kind, TmpExecType::NEW | TmpExecType::NEW_FILL) {
                    said.push(say('0', '0', [0, order.quantity], &own));
                }
                let rest = before.saturating_sub(last);
                if last > 0 {
                    let status = if rest == 0 { '2' } else { '1' };
                    let price = f64::from(report.last_px) / TICKS;
                    let fill = format!("{own}32={last}|31={price}|");
                    said.push(say('F', status, [filled, rest], &fill));
                }
                if kind != TmpExecType::NEW && rest > left {
                    said.push(say('4', '4', [filled, 0], &own));
                }
            }
        }
        Ok(said)
    }

    fn rejected(&self, exec: &str, reject: &R03) -> Result<Vec<String>, String> {
        let number = order_number(reject.user_define)?;
        let id = request_id(number, reject.ord_id);
        Ok(match reject.exec_type {
            TmpExecType::QUERY => Vec::new(),
            TmpExecType::NEW => {
                let order = self.orders.get(&number);
                let order = order.ok_or("a reject of an order that was not sent")?;
                let price = order
                    .price
                    .map(|price| format!("44={}|", f64::from(price) / TICKS));
                vec![format!(
                    "35=8|11={number}|37={number}|17={exec}|150=8|39=8|38={}|14=0|151=0|6=0|{}",
                    order.quantity,
                    price.unwrap_or_default()
                )]
            }
            _ => vec![format!("35=9|11={id}|37=NONE|39=8|")],
        })
    }
}

/// Whether a frame belongs to the login: the journal has it partly masked.
fn is_of_link(frame: &[u8]) -> bool {
    frame.get(TYPE_AT).is_some_and(|code| *code < 100)
}

/// ClOrdID(11) of a request in the form of FIX lines.
fn request_id(order: u64, ord_id: u32) -> String {
    match order % 10_000_000 == u64::from(ord_id) {
        true => order.to_string(),
        false => format!("{order}-{ord_id}"),
    }
}

/// The number of an order, in base 62.
fn order_number(user_define: [u8; 8]) -> Result<u64, String> {
    let digit = |byte: &u8| DIGITS.iter().position(|digit| digit == byte);
    let mut number = 0;
    for byte in &user_define {
        let digit = digit(byte).ok_or_else(|| format!("user_define is {user_define:?}"))?;
        number = number * 62 + digit as u64;
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_tmp::messages::{R01, R02};
    use fixwire_tmp::{TmpHeader, TmpStatus};

    const ORDER: [u8; 8] = *b"0000000H";
    const LINK: &str = "LINE1";

    fn frame<'a>(number: u32, message: &impl TmpLayout<'a>) -> Vec<u8> {
        let header = TmpHeader {
            msg_seq_num: number,
            ..TmpHeader::default()
        };
        let mut bytes = vec![0; 1000];
        let length = message.encode(&header, &mut bytes).unwrap();
        bytes.truncate(length);
        bytes
    }

    fn request(exec_type: TmpExecType, ord_id: u32, qty: u16) -> R01 {
        let (symbol_type, symbol) = TmpSymbol::Text(b"VOD").field().unwrap();
        R01 {
            exec_type,
            ord_id,
            user_define: ORDER,
            symbol_type,
            symbol,
            price: 1250,
            qty,
            side: fixwire_tmp::TmpSide::BUY,
            ord_type: TmpOrdType::LIMIT,
            ..R01::default()
        }
    }

    fn report(
        rpt_seq: u32,
        exec_type: TmpExecType,
        ord_id: u32,
        [before, last, filled, left]: [u16; 4],
    ) -> R02 {
        R02 {
            rpt_seq,
            exec_type,
            ord_id,
            user_define: ORDER,
            price: 1250,
            last_px: if last > 0 { 1250 } else { 0 },
            last_qty: last,
            px_subtotal: 1250 * i64::from(filled),
            cum_qty: filled,
            leaves_qty: left,
            before_qty: before,
            ..R02::default()
        }
    }

    #[test]
    fn frames_are_read_as_messages_that_say_the_same() {
        let mut frames = Frames::default();
        let new = frame(1, &request(TmpExecType::NEW, 17, 10));
        let asked = frames.request(&new).unwrap().unwrap();
        assert_eq!(asked, "35=D|34=1|11=17|55=VOD|54=1|");
        let reduce = frame(2, &request(TmpExecType::REDUCE, 25, 3));
        let asked = frames.request(&reduce).unwrap().unwrap();
        assert_eq!(asked, "35=G|34=2|11=17-25|41=17|");
        let query = frame(0, &request(TmpExecType::QUERY, 17, 0));
        assert_eq!(frames.request(&query), Ok(None));

        let first = frame(1, &report(7, TmpExecType::NEW_FILL, 17, [10, 4, 4, 6]));
        let second = frame(2, &report(8, TmpExecType::REDUCE, 25, [6, 0, 4, 3]));
        let third = frame(3, &report(9, TmpExecType::FILL, 25, [3, 1, 5, 0]));
        frames.sent(LINK, &first).unwrap();
        // The first report was sent before, but the broker missed it.
        let reject = R03 {
            exec_type: TmpExecType::PRICE,
            ord_id: 30,
            user_define: ORDER,
            ..R03::default()
        };
        let reject = frame(4, &reject);
        let data = [&*first, &*second, &*third, &*reject].concat();
        let block = L41 {
            status: TmpStatus::OK,
            is_eof: 1,
            file_size: data.len() as u32,
            data: &data,
        };
        frames.sent(LINK, &frame(0, &block)).unwrap();
        let said: Vec<String> = frames
            .reports()
            .unwrap()
            .into_iter()
            .map(|it| it.1)
            .collect();
        assert_eq!(
            said,
            [
                "35=8|37=17|17=0-0|150=0|39=0|11=17|38=10|14=0|151=10|6=0|44=12.5|",
                "35=8|37=17|17=0-F|150=F|39=1|11=17|32=4|31=12.5|38=10|14=4|151=6|6=12.5|44=12.5|",
                "35=8|37=17|17=1-5|150=5|39=1|11=17-25|41=17|38=7|14=4|151=3|6=12.5|44=12.5|",
                "35=8|37=17|17=2-F|150=F|39=1|11=17|32=1|31=12.5|38=7|14=5|151=2|6=12.5|44=12.5|",
                "35=8|37=17|17=2-4|150=4|39=4|11=17|38=7|14=5|151=0|6=12.5|44=12.5|",
                "35=9|11=17-30|37=NONE|39=8|",
            ]
        );
    }

    #[test]
    fn a_number_for_two_reports_is_found() {
        let mut frames = Frames::default();
        let report = |number, rpt_seq, left| {
            frame(
                number,
                &report(rpt_seq, TmpExecType::NEW, 17, [0, 0, 0, left]),
            )
        };
        frames.sent(LINK, &report(7, 1, 10)).unwrap();
        // The same report again, also under another number.
        frames.sent(LINK, &report(7, 1, 10)).unwrap();
        frames.sent(LINK, &report(8, 1, 10)).unwrap();
        frames.sent("LINE2", &report(7, 2, 9)).unwrap();
        let error = frames.sent(LINK, &report(7, 3, 9)).unwrap_err();
        assert_eq!(error, "LINE1: two reports have the number 7");
        let error = frames.sent(LINK, &report(9, 1, 9)).unwrap_err();
        assert_eq!(error, "LINE1: two reports have the rpt_seq 1");
        let unknown = frames.reports().unwrap_err();
        assert_eq!(unknown, "a report of order 17, which was not sent");
    }
}
