//! The fields that orders and requests in memory carry to their venues.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use fixwire_ledger::record;

use crate::values::fields::carried::CarriedFields;
use crate::values::value::Number;

/// Fields of an order or a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fields {
    pub header: Box<[u8]>,
    pub body: Box<[u8]>,
    /// Of a replace: fields of the body that it does not have itself and that its order keeps.
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

/// The fields by the number of their order, or of a request that is pending or that its venue may still carry out. Most have
/// none.
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

    /// The fields of an order or a pending request.
    #[cold]
    pub(crate) fn of(&self, number: Number) -> CarriedFields<'_> {
        self.0.get(&number).map_or(CarriedFields::NONE, Fields::get)
    }

    /// A replace is done: the order has its fields from now on with those that it keeps, and no others.
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
