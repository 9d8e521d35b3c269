//! Prepared messages. The body of a prepared message is written once; after that only some values change.
//!
//! ```text
//! let mut order = Prepared::new(b"D", 256);
//! let id = order.slot(tag::CL_ORD_ID, b"ORDER-000001")?;
//! order.fixed(tag::SYMBOL, b"LCOM1")?;
//! let price = order.slot(tag::PRICE, b"200.00")?;
//!
//! order.set(id, b"ORDER-000002")?;                 // in place: as long as before
//! order.set_decimal(price, best)?;                 // shorter: the bytes behind move up
//! outbox.send(session, &order)?;                   // one copy, then numbered like any other message
//! ```

use alloc::vec::Vec;

use crate::outbox::{BodyError, Outbox};
use crate::put::{digits, has_soh};
use crate::time::{Precision, Timestamp, TimestampWriter};
use crate::{Decimal, SOH, SessionId, Tag};

/// The body of a message, with values that can be changed. After [`Prepared::new`] no memory is allocated.
#[derive(Clone, Debug)]
pub struct Prepared {
    msg_type: Vec<u8>,
    body: Vec<u8>,
    room: usize,
    /// Places of the values that can be changed, in the order of the body.
    slots: Vec<Place>,
}

/// A value of a [`Prepared`] message that can be changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Slot(usize);

#[derive(Clone, Copy, Debug)]
struct Place {
    tag: Tag,
    start: usize,
    end: usize,
}

/// Maximum number of values in one message that can be changed.
pub const MAX_SLOTS: usize = 64;

impl Prepared {
    /// A message of this type without fields. `room` is the maximum length of its body, in bytes.
    pub fn new(msg_type: &[u8], room: usize) -> Self {
        Self {
            msg_type: msg_type.into(),
            body: Vec::with_capacity(room),
            room,
            slots: Vec::with_capacity(MAX_SLOTS),
        }
    }

    /// MsgType(35).
    pub fn msg_type(&self) -> &[u8] {
        &self.msg_type
    }

    /// The present fields of the body, each with its SOH.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Writes a field whose value cannot be changed.
    ///
    /// # Errors
    ///
    /// [`BodyError::Value`] for a value that is empty or contains SOH. [`BodyError::Full`] when the body would be
    /// longer than its room. When an error is returned, nothing is written.
    pub fn fixed(&mut self, tag: Tag, value: &[u8]) -> Result<(), BodyError> {
        self.write(tag, value).map(|_| ())
    }

    /// Writes a field whose value can be changed later. `value` is its first value.
    ///
    /// # Errors
    ///
    /// As for [`Self::fixed`]. There is also a [`BodyError::Full`] above [`MAX_SLOTS`].
    pub fn slot(&mut self, tag: Tag, value: &[u8]) -> Result<Slot, BodyError> {
        if self.slots.len() == MAX_SLOTS {
            return Err(BodyError::Full);
        }
        let start = self.write(tag, value)?;
        let end = start + value.len();
        self.slots.push(Place { tag, start, end });
        Ok(Slot(self.slots.len() - 1))
    }

    /// Writes a field. Returns the offset at which its value begins.
    fn write(&mut self, tag: Tag, value: &[u8]) -> Result<usize, BodyError> {
        check(tag, value)?;
        let mut number = [0; 20];
        let number = digits(u64::from(tag), &mut number);
        if self.body.len() + number.len() + value.len() + 2 > self.room {
            return Err(BodyError::Full);
        }
        self.body.extend_from_slice(number);
        self.body.push(b'=');
        let start = self.body.len();
        self.body.extend_from_slice(value);
        self.body.push(SOH);
        Ok(start)
    }

    /// The present value of a slot.
    pub fn get(&self, slot: Slot) -> &[u8] {
        let place = self.slots.get(slot.0);
        place.map_or(&[], |place| &self.body[place.start..place.end])
    }

    /// Changes a value. A value of the same length is overwritten in place. For another length, the fields after it
    /// move.
    ///
    /// # Errors
    ///
    /// As for [`Self::fixed`]. In this case the old value stays.
    #[inline]
    pub fn set(&mut self, slot: Slot, value: &[u8]) -> Result<(), BodyError> {
        let Some(&Place { tag, start, end }) = self.slots.get(slot.0) else {
            return Err(BodyError::Value(0));
        };
        check(tag, value)?;
        if end - start != value.len() {
            self.resize(slot.0, value.len())?;
        }
        self.body[start..start + value.len()].copy_from_slice(value);
        Ok(())
    }

    /// Changes the length of a value, and moves the fields after it.
    #[cold]
    fn resize(&mut self, slot: usize, len: usize) -> Result<(), BodyError> {
        let Place { start, end, .. } = self.slots[slot];
        let (old, new) = (self.body.len(), self.body.len() - (end - start) + len);
        if new > self.room {
            return Err(BodyError::Full);
        }
        self.body.resize(old.max(new), SOH);
        self.body.copy_within(end..old, start + len);
        self.body.truncate(new);
        self.slots[slot].end = start + len;
        for place in &mut self.slots[slot + 1..] {
            place.start = place.start + len + start - end;
            place.end = place.end + len + start - end;
        }
        Ok(())
    }

    /// Changes a value to a number. If the number has fewer digits than the present value, zeros are put in front of
    /// it, so that no field moves.
    ///
    /// # Errors
    ///
    /// As for [`Self::set`].
    #[inline]
    pub fn set_uint(&mut self, slot: Slot, value: u64) -> Result<(), BodyError> {
        let mut number = [0; 20];
        let number = digits(value, &mut number);
        let Some(&Place { start, end, .. }) = self.slots.get(slot.0) else {
            return Err(BodyError::Value(0));
        };
        if number.len() > end - start {
            return self.set(slot, number);
        }
        let zeros = end - number.len();
        self.body[start..zeros].fill(b'0');
        self.body[zeros..end].copy_from_slice(number);
        Ok(())
    }

    /// Changes a value to a decimal, with all its digits after the decimal point.
    ///
    /// # Errors
    ///
    /// As for [`Self::set`].
    #[inline]
    pub fn set_decimal(&mut self, slot: Slot, value: Decimal) -> Result<(), BodyError> {
        let mut text = [0; Decimal::MAX_TEXT];
        let from = value.write(&mut text);
        self.set(slot, &text[from..])
    }

    /// Changes a value to a `UTCTimestamp`. If you write many of them, keep a [`TimestampWriter`] and use
    /// [`Self::set`].
    ///
    /// # Errors
    ///
    /// As for [`Self::set`].
    pub fn set_time(
        &mut self,
        slot: Slot,
        value: Timestamp,
        precision: Precision,
    ) -> Result<(), BodyError> {
        self.set(slot, TimestampWriter::new().format(value, precision))
    }
}

#[inline]
fn check(tag: Tag, value: &[u8]) -> Result<(), BodyError> {
    match value.is_empty() || has_soh(value) || tag == 0 {
        true => Err(BodyError::Value(tag)),
        false => Ok(()),
    }
}

impl Outbox {
    /// Writes a prepared message with its present values. Writing copies the body once, so later changes of `message`
    /// do not affect the written message. The message is sealed in its turn like any other message.
    ///
    /// # Errors
    ///
    /// [`BodyError::Full`] when there is no room now. [`BodyError::Value`] with tag 35 when the message type is
    /// empty, contains SOH or is longer than [`MAX_MSG_TYPE`](crate::outbox::MAX_MSG_TYPE). In these cases nothing is
    /// written.
    #[inline]
    pub fn send(&mut self, session: SessionId, message: &Prepared) -> Result<(), BodyError> {
        let mut body = self.begin(session, &message.msg_type);
        body.encoded(&message.body);
        body.finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::vec::Vec;

    use super::*;
    use crate::HeaderTemplate;

    const SESSION: SessionId = SessionId(0);

    fn outbox() -> (Outbox, HeaderTemplate) {
        let header = HeaderTemplate::new(b"FIX.4.4", b"A", b"B", &[]);
        (Outbox::new(64 << 10, 64, header.room()), header)
    }

    fn order() -> (Prepared, [Slot; 3]) {
        let mut order = Prepared::new(b"D", 256);
        let id = order.slot(11, b"ORDER-1").expect("room");
        order.fixed(55, b"LCOM1").expect("room");
        let quantity = order.slot(38, b"000100").expect("room");
        order.fixed(40, b"2").expect("room");
        let price = order.slot(44, b"200.00").expect("room");
        order.fixed(59, b"0").expect("room");
        (order, [id, quantity, price])
    }

    fn decimal(mantissa: i64, scale: u8) -> Decimal {
        Decimal::new(mantissa, scale).expect("few digits")
    }

    fn text(order: &Prepared) -> std::string::String {
        std::string::String::from_utf8_lossy(order.body()).replace('\x01', "|")
    }

    #[test]
    fn values_change_and_everything_else_stays() {
        let (mut order, [id, quantity, price]) = order();
        assert_eq!(
            text(&order),
            "11=ORDER-1|55=LCOM1|38=000100|40=2|44=200.00|59=0|"
        );
        order.set(id, b"ORDER-2").expect("room");
        order.set_uint(quantity, 25).expect("room");
        assert_eq!(
            text(&order),
            "11=ORDER-2|55=LCOM1|38=000025|40=2|44=200.00|59=0|"
        );
        order.set(id, b"A-LONGER-ONE").expect("room");
        order.set_uint(quantity, 12_345_678).expect("room");
        order.set_decimal(price, decimal(995, 1)).expect("room");
        assert_eq!(
            text(&order),
            "11=A-LONGER-ONE|55=LCOM1|38=12345678|40=2|44=99.5|59=0|"
        );
        order.set(id, b"X").expect("room");
        order.set(price, b"1").expect("room");
        assert_eq!(text(&order), "11=X|55=LCOM1|38=12345678|40=2|44=1|59=0|");
        assert_eq!((order.get(id), order.get(price)), (&b"X"[..], &b"1"[..]));
    }

    #[test]
    fn a_value_that_cannot_be_leaves_the_one_before() {
        let (mut order, [id, ..]) = order();
        let before = text(&order);
        assert_eq!(order.set(id, b""), Err(BodyError::Value(11)));
        assert_eq!(order.set(id, b"a\x01b"), Err(BodyError::Value(11)));
        assert_eq!(order.set(id, &[b'x'; 300]), Err(BodyError::Full));
        assert_eq!(order.set(Slot(9), b"x"), Err(BodyError::Value(0)));
        assert_eq!(order.fixed(58, &[b'x'; 300]), Err(BodyError::Full));
        assert_eq!(text(&order), before);
    }

    #[test]
    fn what_is_sent_is_what_a_body_would_be() {
        let (mut order, [id, ..]) = order();
        let (mut ours, header) = outbox();
        let (mut theirs, _) = outbox();
        for n in 0..3 {
            order.set(id, &[b'A' + n; 3]).expect("room");
            ours.send(SESSION, &order).expect("room");
            let mut body = theirs.begin(SESSION, b"D");
            body.field(11, &[b'A' + n; 3]).field(55, b"LCOM1");
            body.field(38, b"000100").field(40, b"2");
            body.field(44, b"200.00").field(59, b"0");
            body.finish().expect("room");
        }
        order.set(id, b"changed later").expect("room");
        for index in 0..3 {
            let seq = index as u64 + 1;
            ours.seal(index, &header, seq, b"20260821-13:30:00");
            theirs.seal(index, &header, seq, b"20260821-13:30:00");
        }
        assert_eq!(ours.bytes(0..3), theirs.bytes(0..3));
        let bad = Prepared::new(b"", 16);
        assert_eq!(ours.send(SESSION, &bad), Err(BodyError::Value(35)));
    }

    #[test]
    fn changing_and_sending_allocate_nothing() {
        let (mut order, [id, quantity, price]) = order();
        let (mut outbox, header) = outbox();
        let counted = allocation_counter::measure(|| {
            for n in 0..60u64 {
                order
                    .set(
                        id,
                        if n % 2 == 0 {
                            b"SHORT"
                        } else {
                            b"NOT-AS-SHORT"
                        },
                    )
                    .expect("room");
                order.set_uint(quantity, n).expect("room");
                order
                    .set_decimal(price, decimal(20_000 + n as i64, 2))
                    .expect("room");
                outbox.send(SESSION, &order).expect("room");
                outbox.seal(0, &header, n + 1, b"20260821-13:30:00");
                outbox.clear();
            }
        });
        assert_eq!(counted.count_total, 0);
    }

    proptest! {
        #[test]
        fn any_changes_leave_the_fields_in_their_order(
            changes in proptest::collection::vec((0usize..3, "[a-z]{1,20}"), 0..40)
        ) {
            let (mut order, slots) = order();
            let mut model = [&b"ORDER-1"[..], b"000100", b"200.00"].map(<[u8]>::to_vec);
            for (slot, value) in changes {
                order.set(slots[slot], value.as_bytes()).expect("room");
                model[slot] = value.into_bytes();
            }
            let wanted: Vec<u8> = [
                b"11=", &model[0][..], b"\x0155=LCOM1\x0138=", &model[1],
                b"\x0140=2\x0144=", &model[2], b"\x0159=0\x01",
            ].concat();
            prop_assert_eq!(order.body(), &wanted[..]);
        }
    }
}
