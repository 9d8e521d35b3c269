//! A ticket: the values in a TMP member's request that are not terms of the order, encoded as a ClOrdID.
//!
//! The first ClOrdID of a TMP member's order has the broker and the order number. The second is the ticket of the R01
//! that entered the order; each successful change adds a ticket. Reports are made from the last ticket. The two
//! orders of a quote share an order number, so the first ClOrdID of each ends with its side.

use alloc::vec::Vec;

use fixwire_tmp::{
    TmpExecType, TmpOrdType, TmpPositionEffect, TmpSide, TmpStatus, TmpSymbolType, TmpTimeInForce,
};

/// Length of a ticket in bytes. The ticket for one side of a quote has one byte more. In notes, each byte is written
/// as two hexadecimal digits.
const BYTES: usize = 50;

/// The values in a TMP member's request that are not terms of the order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TmpTicket {
    /// The member that sent the request and receives the answer.
    pub(crate) via: u32,
    /// The member that receives the reports of later fills.
    pub(crate) home: u32,
    pub(crate) exec_type: TmpExecType,
    pub(crate) cm_id: u16,
    pub(crate) fcm_id: u16,
    pub(crate) order_no: [u8; 5],
    pub(crate) ord_id: u32,
    pub(crate) user_define: [u8; 8],
    pub(crate) symbol_type: TmpSymbolType,
    pub(crate) account_flag: u8,
    pub(crate) ord_type: TmpOrdType,
    pub(crate) time_in_force: TmpTimeInForce,
    pub(crate) position_effect: TmpPositionEffect,
    /// The quantity in the request. For a reduction, the quantity to remove.
    pub(crate) qty: u16,
    /// The status code of a normal reply: 0 or a warning.
    pub(crate) status: TmpStatus,
    /// MsgSeqNum of the request. MsgSeqNum and arrival time (nanoseconds since 1970) together identify the request.
    pub(crate) msg_seq_num: u32,
    pub(crate) at: u64,
    /// The side of the quote; `None` for any other order.
    pub(crate) quote_side: Option<TmpSide>,
}

impl TmpTicket {
    /// Writes the ticket as a ClOrdID.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(2 * BYTES + 2);
        let mut put = |bytes: &[u8]| put_hex(&mut out, bytes);
        put(&self.via.to_be_bytes());
        put(&self.home.to_be_bytes());
        put(&[self.exec_type.0]);
        put(&self.cm_id.to_be_bytes());
        put(&self.fcm_id.to_be_bytes());
        put(&self.order_no);
        put(&self.ord_id.to_be_bytes());
        put(&self.user_define);
        put(&[
            self.symbol_type.0,
            self.account_flag,
            self.ord_type.0,
            self.time_in_force.0,
            self.position_effect.0,
        ]);
        put(&self.qty.to_be_bytes());
        put(&[self.status.0]);
        put(&self.msg_seq_num.to_be_bytes());
        put(&self.at.to_be_bytes());
        if let Some(side) = self.quote_side {
            put(&[side.0]);
        }
        out
    }

    /// Reads a ClOrdID; `None` if it is not a ticket.
    pub(crate) fn read(cl_ord_id: &[u8]) -> Option<Self> {
        let (cl_ord_id, quote_side) = match cl_ord_id.split_at_checked(2 * BYTES)? {
            (ticket, b"") => (ticket, None),
            (ticket, side) => (ticket, Some(TmpSide(read_hex::<1>(side)?[0]))),
        };
        let bytes: [u8; BYTES] = read_hex(cl_ord_id)?;
        let mut rest = Rest(&bytes);
        Some(Self {
            via: u32::from_be_bytes(rest.take()?),
            home: u32::from_be_bytes(rest.take()?),
            exec_type: TmpExecType(rest.byte()?),
            cm_id: u16::from_be_bytes(rest.take()?),
            fcm_id: u16::from_be_bytes(rest.take()?),
            order_no: rest.take()?,
            ord_id: u32::from_be_bytes(rest.take()?),
            user_define: rest.take()?,
            symbol_type: TmpSymbolType(rest.byte()?),
            account_flag: rest.byte()?,
            ord_type: TmpOrdType(rest.byte()?),
            time_in_force: TmpTimeInForce(rest.byte()?),
            position_effect: TmpPositionEffect(rest.byte()?),
            qty: u16::from_be_bytes(rest.take()?),
            status: TmpStatus(rest.byte()?),
            msg_seq_num: u32::from_be_bytes(rest.take()?),
            at: u64::from_be_bytes(rest.take()?),
            quote_side,
        })
    }

    /// The first ClOrdID of the ticket's order.
    pub(crate) fn order_key(&self) -> Vec<u8> {
        order_key(self.fcm_id, self.order_no, self.quote_side)
    }
}

/// The first ClOrdID of an order. Order numbers are unique per broker, and each side of a quote is an order of its
/// own.
pub(crate) fn order_key(fcm_id: u16, order_no: [u8; 5], quote_side: Option<TmpSide>) -> Vec<u8> {
    let mut out = Vec::with_capacity(16);
    put_hex(&mut out, &fcm_id.to_be_bytes());
    put_hex(&mut out, &order_no);
    if let Some(side) = quote_side {
        put_hex(&mut out, &[side.0]);
    }
    out
}

fn put_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

fn read_hex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    if digits.len() != 2 * N {
        return None;
    }
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = (digit(pair[0])? << 4) | digit(pair[1])?;
    }
    Some(bytes)
}

struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|bytes| bytes[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_reads_back_and_anything_else_is_none() {
        let ticket = TmpTicket {
            via: 1,
            home: 7,
            exec_type: TmpExecType::REDUCE,
            cm_id: 300,
            fcm_id: 279,
            order_no: *b"A\x01\xff0=",
            ord_id: 9_999_999,
            user_define: *b"00000aZ9",
            symbol_type: TmpSymbolType::TEXT_40,
            account_flag: b'A',
            ord_type: TmpOrdType::LIMIT,
            time_in_force: TmpTimeInForce::IOC,
            position_effect: TmpPositionEffect::OPEN,
            qty: 65_535,
            status: TmpStatus::FLOW_80,
            msg_seq_num: u32::MAX,
            at: 1_772_438_400_000_000_000,
            quote_side: None,
        };
        let written = ticket.write();
        assert_eq!(TmpTicket::read(&written), Some(ticket));
        assert!(written.iter().all(u8::is_ascii_hexdigit));
        assert_eq!(ticket.order_key(), b"01174101ff303d");
        let offer = TmpTicket {
            quote_side: Some(TmpSide::SELL),
            ..ticket
        };
        assert_eq!(TmpTicket::read(&offer.write()), Some(offer));
        assert_eq!(offer.order_key(), b"01174101ff303d02");
        assert_eq!(TmpTicket::read(&written[1..]), None);
        assert_eq!(TmpTicket::read(b"ORDER-1"), None);
        let mut other = written;
        other[3] = b'G';
        assert_eq!(TmpTicket::read(&other), None);
    }
}
