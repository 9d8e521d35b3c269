//! User-defined fields of this OMS: each has a tag only if the settings give it one.

use fixwire_protocol::{Message, Tag};

/// The tags of the user-defined fields; 0 for a field to which the settings give none.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct OwnTags {
    /// The time at which the client sent a request, in nanoseconds since 1970, for the stamps.
    pub send_time: Tag,
    /// The order must not be sent later than this number of milliseconds after it was received.
    pub validity: Tag,
    /// The condition of an order, such as `last>=101.5`.
    pub condition: Tag,
    /// Names of the filters for requested reports, separated by blanks.
    pub report_filter: Tag,
    /// OrderID(37) of the parent of a child order.
    pub parent: Tag,
    /// The quantity by which a replace reduces its order, instead of an OrderQty(38).
    pub reduce_by: Tag,
}

impl OwnTags {
    /// The names of the fields in the settings.
    pub const NAMES: [&'static str; 6] = [
        "condition",
        "parent",
        "reduce_by",
        "report_filter",
        "send_time",
        "validity",
    ];

    /// The place for the tag of the field with this name.
    pub(crate) fn named(&mut self, name: &str) -> Option<&mut Tag> {
        Some(match name {
            "condition" => &mut self.condition,
            "parent" => &mut self.parent,
            "reduce_by" => &mut self.reduce_by,
            "report_filter" => &mut self.report_filter,
            "send_time" => &mut self.send_time,
            "validity" => &mut self.validity,
            _ => return None,
        })
    }

    /// Whether a field of a request is a user-defined field of this OMS.
    pub(crate) fn has(&self, msg_type: &[u8], tag: Tag) -> bool {
        let of: &[Tag] = match msg_type {
            b"D" => &[self.send_time, self.validity, self.condition, self.parent],
            b"G" => &[self.send_time, self.validity, self.reduce_by],
            b"F" => &[self.send_time],
            b"BW" => &[self.report_filter],
            _ => &[],
        };
        tag > 0 && of.contains(&tag)
    }
}

/// The value of a user-defined field in a message; `None` also if the field has no tag.
pub(crate) fn get<'a>(message: &Message<'a>, tag: Tag) -> Option<&'a [u8]> {
    if tag == 0 { None } else { message.get(tag) }
}
