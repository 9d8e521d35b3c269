//! The fields that orders and requests in memory carry to their venues.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use fixwire_ledger::record;

use crate::values::fields::carried::CarriedFields;
use crate::values::marks::RequestMarks;
use crate::values::value::Number;

/// Fields that an order or a request carries.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fields {
    pub header: Box<[u8]>,
    pub body: Box<[u8]>,
    /// Only for an OrderCancelReplaceRequest(G): body fields that the client's G does not have, and that the order
    /// keeps.
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

/// Carried fields, by the number of the order or request. A request is here while it is pending, or while its venue may
/// still carry it out. Most orders and requests carry no fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    pub(crate) fields: BTreeMap<Number, Fields>,
    /// The TMP values of requests, computed from the fields of the request. An order has its own TMP values in
    /// `Order::marks`.
    pub(crate) marks: BTreeMap<Number, RequestMarks>,
}

record! { Carried { fields, marks } }

impl Carried {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    pub(crate) fn add(&mut self, number: Number, fields: CarriedFields<'_>) {
        self.fields.insert(number, Fields::of(fields));
    }

    /// The fields that an order or a pending request carries.
    #[cold]
    pub(crate) fn of(&self, number: Number) -> CarriedFields<'_> {
        let fields = self.fields.get(&number);
        fields.map_or(CarriedFields::NONE, Fields::get)
    }

    /// The values that a request has over TMP because of its fields; `None` when it has those of its order.
    pub(crate) fn marks_of(&self, request: Number) -> Option<RequestMarks> {
        self.marks.get(&request).copied()
    }

    /// Whether the order would have other fields if a replace were carried out.
    #[cold]
    pub(crate) fn differ(&self, order: Number, request: Number) -> bool {
        let all = |CarriedFields { header, body, kept }| [header, body, kept].concat();
        all(self.of(order)) != all(self.of(request))
    }

    /// Applies a replace that was carried out: from now on the order has the fields of the replace, those that it
    /// keeps, and no others.
    #[cold]
    pub(crate) fn replace(&mut self, order: Number, request: Number) {
        match self.fields.get(&request) {
            Some(Fields { header, body, kept }) => {
                let fields = Fields {
                    header: header.clone(),
                    body: [&**body, kept].concat().into(),
                    kept: Box::default(),
                };
                self.fields.insert(order, fields);
            }
            None => self.forget(order),
        }
    }

    #[cold]
    pub(crate) fn forget(&mut self, number: Number) {
        self.fields.remove(&number);
        self.marks.remove(&number);
    }
}
