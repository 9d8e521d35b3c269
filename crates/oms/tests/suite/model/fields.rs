//! Model: fields of requests that would not reach the venue.

use super::clients::Accepted;
use super::{Fields, Model, Why};

/// A field would not reach the venue.
pub const NOT_CARRIED: Why = Why::Other(11, 99);

/// Fields of a new order that the venue gets, or that the OMS has a use for.
const OF_ORDER: [u32; 16] = [
    11, 1, 55, 54, 38, 40, 44, 59, 77, 99, 114, 432, 5700, 9702, 9703, 9705,
];
const OF_REPLACE: [u32; 13] = [11, 41, 1, 55, 54, 38, 40, 44, 59, 77, 99, 432, 9706];
const OF_CANCEL: [u32; 4] = [11, 41, 55, 54];

/// What a new order says of its locate.
pub fn locate(fields: &Fields<'_>) -> Vec<(u32, String)> {
    let tags = [114, 5700].into_iter();
    tags.filter_map(|tag| Some((tag, (*fields.get(&tag)?).to_owned())))
        .collect()
}

impl Model {
    pub fn accept_new(&self, client: usize, fields: &Fields<'_>) -> Result<Accepted, Why> {
        let refused = self.refused_at_once(client, "D", fields);
        refused.map_or_else(|| self.accept(client, fields, "new", None), Err)
    }

    /// Why a request is refused before anything else is looked at: its id was used, or it has a field too many.
    pub fn refused_at_once(
        &self,
        client: usize,
        msg_type: &str,
        fields: &Fields<'_>,
    ) -> Option<Why> {
        if self.used(client, fields[&11]).is_some() {
            return Some(Why::Rc("RC4", 6));
        }
        let is_known = |tag: u32| match msg_type {
            "D" if tag == 21 => fields[&21] != "3" || self.world.clients[client].parents.is_some(),
            "D" if [1080, 1081].contains(&tag) => self.world.clients[client].parents.is_some(),
            "D" => OF_ORDER.contains(&tag) || tag == 97 || self.tag_of_pool(client, fields) == tag,
            "G" => OF_REPLACE.contains(&tag),
            "F" => OF_CANCEL.contains(&tag),
            "q" => tag != 55 || fields[&530] != "7",
            _ => true,
        };
        // The header has no field beside these.
        let mut tags = fields.keys().filter(|tag| ![8, 9, 35].contains(*tag));
        let is_odd = tags.any(|tag| !is_known(*tag));
        is_odd.then_some(NOT_CARRIED)
    }

    /// The field of the number of an order; 0 for none.
    fn tag_of_pool(&self, client: usize, fields: &Fields<'_>) -> u32 {
        let symbol = self.symbol(fields[&55]);
        let pool = symbol.and_then(|symbol| self.pool_of(client, symbol));
        pool.map_or(0, |pool| self.world.pools[pool].tag)
    }
}
