//! Fields that only this OMS knows: each has a tag where the settings give it one.

use fixwire_protocol::{Message, Tag};

/// The tags; 0 for a field that the OMS does not have.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct OwnTags {
    /// When the client sent a request, in nanoseconds since 1970: for the stamps.
    pub send_time: Tag,
    /// The order must not be sent later than this number of milliseconds after its receipt.
    pub validity: Tag,
    /// `last>=101.5`.
    pub condition: Tag,
    /// Names of filters, separated by blanks.
    pub report_filter: Tag,
    /// OrderID(37) of the parent of a child order.
    pub parent: Tag,
    /// A replace takes so much away from the quantity of its order, instead of an OrderQty(38).
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

    /// The tag of a field by its name.
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

    /// Whether a field of a request is one of them.
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

/// The value of a field that may have no tag.
pub(crate) fn get<'a>(message: &Message<'a>, tag: Tag) -> Option<&'a [u8]> {
    if tag == 0 { None } else { message.get(tag) }
}
