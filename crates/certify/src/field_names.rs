//! [`FieldNames`]: the names of fields, and which fields have numbers.

use std::sync::Arc;

use fixwire_protocol::dictionary::DataType;
use fixwire_protocol::{Dictionary, Tag};

use crate::tmp::fields;

/// The fields of a protocol.
#[derive(Clone, Debug)]
pub(crate) enum FieldNames {
    /// FIX, with the names in the session's dictionary.
    Fix(Arc<Dictionary>),
    /// TMP.
    Tmp,
}

impl FieldNames {
    /// The name of a field as shown: `Price(44)`, or `price` for TMP.
    pub(crate) fn shown(&self, tag: Tag) -> String {
        match self {
            Self::Fix(dictionary) => {
                let field = dictionary.field(tag);
                let name = field.map_or("tag", |field| field.name.as_str());
                format!("{name}({tag})")
            }
            Self::Tmp => fields::name_of(tag).unwrap_or("tag").to_owned(),
        }
    }

    /// Whether the field has a number, whose value has several valid notations.
    pub(crate) fn is_number(&self, tag: Tag) -> bool {
        use DataType::{
            Amt, Float, Int, Length, NumInGroup, Percentage, Price, PriceOffset, Qty, SeqNum,
        };
        let Self::Fix(dictionary) = self else {
            return fields::is_number(tag);
        };
        let kind = dictionary.field(tag).map(|field| field.kind);
        kind.is_some_and(|kind| {
            matches!(
                kind,
                Amt | Float
                    | Int
                    | Length
                    | NumInGroup
                    | Percentage
                    | Price
                    | PriceOffset
                    | Qty
                    | SeqNum
            )
        })
    }
}
