//! Encoding of limits, usage, positions, and the parts of the state that have them.

use fixwire_ledger::{Put, Wire, record};

use crate::state::tally::{Position, Tally};
use crate::state::{Account, ArmRequest, Expiry, Holding, Instrument, Session, Standing, Stop};
use crate::values::limits::RiskControl;

record! { Expiry { scope, control, before, until } }
record! { Stop { scope, by, asked } }
record! { ArmRequest { by, state } }
record! { Session { ready, client, link, marks, standing } }
record! { Account { parent, standing } }
record! { Instrument { scale, quantity_scale, worth, market, standing } }
record! { Holding { account, instrument, position, mark, opened_at, standing } }
record! { Position { long, short, bought, sold, paid, received } }
record! { Tally { orders, buying, selling, reserved, traded, unanswered, gained } }

impl Wire<'_> for RiskControl {
    fn put(&self, to: &mut impl Put) {
        self.index().put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Self::of(Wire::take(from)?)
    }
}

impl Wire<'_> for Standing {
    fn put(&self, to: &mut impl Put) {
        self.tally.traded.put(to);
        self.tally.gained.put(to);
        self.limits.trading.put(to);
        for control in RiskControl::ALL {
            self.limits.get(*control).put(to);
            self.limits.filed(*control).put(to);
        }
        self.flow.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut standing = Self::default();
        standing.tally.traded = Wire::take(from)?;
        standing.tally.gained = Wire::take(from)?;
        standing.limits.trading = Wire::take(from)?;
        for control in RiskControl::ALL {
            standing.limits.set(*control, Wire::take(from)?);
            standing.limits.set_filed(*control, Wire::take(from)?);
        }
        standing.flow = Wire::take(from)?;
        Some(standing)
    }
}
