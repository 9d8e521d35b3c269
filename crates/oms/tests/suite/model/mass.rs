//! Model: requests of clients about many orders.

use super::clients::{Filter, Listing, one};
use super::{At, Fields, Model, Passed, UNSUPPORTED, Why};

impl Model {
    pub(super) fn mass_cancel(&mut self, client: usize, fields: &Fields<'_>) {
        let id = fields[&11].to_owned();
        let refused = self.refused_at_once(client, "q", fields);
        match refused.map_or_else(|| self.accept_mass_cancel(client, fields), Err) {
            Ok(filter) => {
                let orders = self.open(&filter).len();
                self.used.entry((client, id)).or_insert(0);
                let cancel = Passed {
                    cancels: 1,
                    ..Passed::default()
                };
                let session = self.world.clients[client].session;
                self.pass(&[At::Firm, At::Session(session)], cancel);
                self.write_mass_cancel(client, fields, Ok(orders));
                self.withdraw(&filter);
            }
            Err(why) => {
                self.write_mass_cancel(client, fields, Err(&why));
                self.refuse(client, &id, &why, false);
            }
        }
    }

    fn accept_mass_cancel(&self, client: usize, fields: &Fields<'_>) -> Result<Filter, Why> {
        self.may(client, "mass cancel")?;
        let session = self.world.clients[client].session;
        self.check_cancel(&[At::Firm, At::Session(session)])?;
        let mut filter = self.filter(client, fields)?;
        if fields.contains_key(&54) {
            filter.side = Some(one(fields, 54, "1256").ok_or(UNSUPPORTED)?);
        }
        Ok(filter)
    }

    /// Of MassCancelRequestType(530) or MassStatusReqType(585), which have the same numbers here.
    fn filter(&self, client: usize, fields: &Fields<'_>) -> Result<Filter, Why> {
        let kind = fields.get(&530).or(fields.get(&585)).unwrap();
        let symbol = match *kind {
            "1" => Some(self.symbol(fields[&55]).ok_or(Why::Rc("RC2", 1))?),
            "7" => None,
            _ => return Err(UNSUPPORTED),
        };
        let account = fields.get(&1).map(|name| self.account(name));
        let account = account.map(|it| it.ok_or(Why::Rc("RC2", 15))).transpose()?;
        Ok(Filter {
            client: Some(client),
            account,
            symbol,
            side: None,
        })
    }

    pub(super) fn mass_status(&mut self, client: usize, fields: &Fields<'_>) {
        let filter = self.filter(client, fields).and_then(|mut filter| {
            if fields.contains_key(&54) {
                filter.side = Some(one(fields, 54, "1256").ok_or(UNSUPPORTED)?);
            }
            Ok(filter)
        });
        let (orders, why) = match filter {
            Ok(filter) => (self.open(&filter), None),
            Err(why) => (Vec::new(), Some(why)),
        };
        self.listings.push(Listing {
            client,
            id: fields[&584].to_owned(),
            orders,
            why,
        });
    }
}
