//! The fields that orders and requests in memory carry to their venues.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use fixwire_ledger::record;

use crate::values::fields::carried::CarriedFields;
use crate::values::value::Number;

/// Fields that an order or a request carries.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fields {
    pub header: Box<[u8]>,
    pub body: Box<[u8]>,
    /// Only for a replace: body fields that the replace does not have, and that its order keeps.
    pub kept: Box<[u8]>,
}

record! { Fields { header, body, kept } }

impl Fields {
    pub(crate) fn of(CarriedFields { header, body, kept }: CarriedFields<'_>) -> Self {
        Self {
            header: header.into(),
            body: body.into(),
            kept: kept.into(),
        }
    }

    pub(crate) fn get(&self) -> CarriedFields<'_> {
        CarriedFields {
            header: &self.header,
            body: &self.body,
            kept: &self.kept,
        }
    }
}

/// Carried fields by the number of their order or request. A request is pending, or its venue may still carry it out.
/// Most orders and requests carry no fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried(pub(crate) BTreeMap<Number, Fields>);

record! { Carried(_) }

impl Carried {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn add(&mut self, number: Number, fields: CarriedFields<'_>) {
        self.0.insert(number, Fields::of(fields));
    }

    /// The fields that an order or a pending request carries.
    #[cold]
    pub(crate) fn of(&self, number: Number) -> CarriedFields<'_> {
        self.0.get(&number).map_or(CarriedFields::NONE, Fields::get)
    }

    /// Applies a replace that was carried out: from now on the order has the fields of the replace, those that it
    /// keeps, and no others.
    #[cold]
    pub(crate) fn replace(&mut self, order: Number, request: Number) {
        match self.0.get(&request) {
            Some(Fields { header, body, kept }) => {
                let fields = Fields {
                    header: header.clone(),
                    body: [&**body, kept].concat().into(),
                    kept: Box::default(),
                };
                self.0.insert(order, fields);
            }
            None => self.forget(order),
        }
    }

    #[cold]
    pub(crate) fn forget(&mut self, number: Number) {
        self.0.remove(&number);
    }
}
