//! A decoded message: its bytes and where each field stands in them.

use crate::Tag;

/// Where one field stands in the message's bytes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Field {
    /// The field's number; 0 when the text before `=` is not one.
    pub tag: Tag,
    /// First byte of the value.
    pub start: u32,
    /// One past the last byte of the value (where its SOH stands).
    pub end: u32,
}

/// A message as it was received, borrowed from the receive buffer.
///
/// The fields stand in the order of the wire, BeginString first and CheckSum last. Values stay bytes
/// until someone asks.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    bytes: &'a [u8],
    fields: &'a [Field],
}

impl<'a> Message<'a> {
    // H1: new, bytes(), fields(), value(field) -> &'a [u8], get(tag) -> Option<&'a [u8]>, msg_type(),
    // get_uint/get_int/get_decimal/get_time/get_bool/get_char(tag) -> Option<Result<..>>-like getters,
    // seq_num(), fault() -> Option<FieldFault> (first malformed field), group(&GroupDef, tag) iterator of
    // Entry views (nested), header/body/trailer splits as needed.
}
