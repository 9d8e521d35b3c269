//! Requests of random worlds carry fields: a venue gets those that the client gave the model's order.

use std::collections::BTreeMap;

use super::dice::Dice;
use super::floors::{self, CLIENTS, LINES};
use super::{EACH, LENGTH, PANIC, Twin};
use crate::desk::Input;
use crate::model::{Model, Order};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The first world, and how many.
const FIRST: u64 = 700_001;
const WORLDS: u64 = 100;
/// The tags that requests carry.
const CARRIED: [&str; 12] = [
    "115", "116", "58", "354", "355", "6001", "453", "448", "447", "452", "802", "523",
];
const OWN_CANCEL: &str = "cancel of the OMS";
const PARTIES: &str = "453=2|448=ME|447=D|452=1|802=1|523=desk 4|448=YOU|447=D|452=3|";

/// What the client gives a request with an id: fields of the header, and of the body. The same id always has the same
/// ones, so that the truth needs no memory.
#[derive(Debug, Default, PartialEq)]
struct Given {
    header: String,
    parties: String,
    texts: String,
}

/// Parties go where both versions have them.
fn given(id: &str, has_parties: bool) -> Given {
    let hash = id.bytes().fold(7_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    let mut given = Given::default();
    let mut rest = hash >> 7;
    let mut one_in = |count: u64| {
        let is_it = rest.is_multiple_of(count);
        rest /= count;
        is_it
    };
    // Ids of the orders of a quote have a slash.
    if one_in(5) || id.contains('/') {
        return given;
    }
    if one_in(3) {
        given.header += &format!("115=FIRM {}|", hash % 9);
    }
    if one_in(4) {
        given.header += "116=DESK|";
    }
    if has_parties && one_in(2) {
        given.parties += PARTIES;
    }
    if !one_in(3) {
        given.texts += &format!("58=T {hash}|");
    }
    if one_in(4) {
        given.texts += "354=3|355=a|c|";
    }
    if one_in(4) {
        given.texts += "6001=x|";
    }
    given
}

fn has_parties(model: &Model, client: usize, symbol: &str) -> bool {
    client == 0 && !symbol.starts_with("OLD") && model.world.helpers.is_empty()
}

fn of_order(model: &Model, order: &Order, id: &str, seen: &Seen) -> Given {
    let key = (order.client, id.to_owned());
    let id = seen.reruns.get(&key).map_or(id, String::as_str);
    let symbol = model.world.symbols[order.symbol].name;
    given(id, has_parties(model, order.client, symbol))
}

/// What a world's venues got.
#[derive(Default)]
struct Seen {
    /// Requests with carried fields, by kind.
    counts: BTreeMap<&'static str, u64>,
    /// Clients and ids of orders that were run again, and the ids that the clients gave.
    reruns: BTreeMap<(usize, String), String>,
}

impl Twin {
    /// The input with the fields that its request carries. Parents carry none.
    fn with_fields(&self, input: &Input) -> Input {
        let Input::Says(from, msg_type @ ("D" | "G" | "F"), body) = input else {
            return input.clone();
        };
        let field = |tag: &str| body.split('|').find_map(|it| it.strip_prefix(tag));
        let client = CLIENTS.iter().position(|it| it == from);
        let (Some(client), Some(id), Some(symbol)) = (client, field("11="), field("55=")) else {
            return input.clone();
        };
        let named = field("41=").and_then(|id| self.model.used(client, id));
        let of_parent = named
            .and_then(|it| self.model.orders.get(&it))
            .is_some_and(|it| it.is_parent);
        if of_parent || field("21=") == Some("3") {
            return input.clone();
        }
        let given = given(id, has_parties(&self.model, client, symbol));
        let Given {
            header,
            parties,
            texts,
        } = given;
        Input::Says(*from, msg_type, format!("{header}{body}{parties}{texts}"))
    }

    /// Each request that went to a venue has the fields that the client gave it, and no others.
    fn carries(&self, seen: &mut Seen) -> Result<(), String> {
        for (to, msg_type, body) in &self.desk.bodies {
            if !LINES.contains(to) || !["D", "G", "F"].contains(&&**msg_type) {
                continue;
            }
            let body = String::from_utf8_lossy(body).replace('\x01', "|");
            let id = body.split('|').find_map(|it| it.strip_prefix("11="));
            let mut numbers = id.unwrap_or_default().split('-');
            let mut number = || numbers.next().and_then(|it| it.parse::<u64>().ok());
            let (Some(order), request) = (number(), number()) else {
                return Err(format!("{body} has no number of ours"));
            };
            let order = &self.model.orders[&order];
            let asked = order.asked.as_ref().filter(|it| Some(it.number) == request);
            let of_client = asked.filter(|it| !it.id.is_empty());
            let (kind, wanted) = match (&**msg_type, of_client) {
                ("D", _) => ("order", of_order(&self.model, order, &order.id, seen)),
                ("G", Some(asked)) => ("replace", of_order(&self.model, order, &asked.id, seen)),
                ("F", Some(asked)) => ("cancel", of_order(&self.model, order, &asked.id, seen)),
                // What is cancelled of an order that has ended is of a request that the model no longer knows.
                ("F", None) if !order.is_open() => continue,
                ("F", None) => {
                    let mut wanted = of_order(&self.model, order, &order.id, seen);
                    wanted.texts.clear();
                    (OWN_CANCEL, wanted)
                }
                _ => return Err(format!("{body} is no request of {order:?}")),
            };
            let rest = body.strip_prefix(&*wanted.header);
            let tail = format!("{}{}", wanted.parties, wanted.texts);
            let rest = rest.and_then(|it| it.strip_suffix(&*tail));
            let is_carried = |field: &str| {
                let tag = field.split('=').next().unwrap_or_default();
                CARRIED.contains(&tag)
            };
            let is_other = rest.is_none_or(|rest| rest.split('|').any(is_carried));
            // An order whose replace was carried out after the OMS gave it up has the fields of before.
            if is_other && kind == OWN_CANCEL {
                *seen.counts.entry("other cancel").or_default() += 1;
                continue;
            }
            if is_other {
                return Err(format!(
                    "the venue got {body}, with {wanted:?} of {order:?}"
                ));
            }
            if wanted != Given::default() {
                *seen.counts.entry(kind).or_default() += 1;
            }
        }
        Ok(())
    }

    fn hear_carrying(&mut self, input: &Input, seen: &mut Seen) -> Result<(), String> {
        let full = self.with_fields(input);
        // A client may give an id again that the OMS has forgotten.
        if let Input::Says(from, "D" | "G" | "F", body) = input {
            seen.reruns.retain(|(client, id), _| {
                let is_given = CLIENTS[*client] == *from && body.contains(&format!("11={id}|"));
                !is_given || self.model.used(*client, id).is_some()
            });
        }
        self.hear_full(input, &full)?;
        if let Input::Command(command) = input
            && let Some(rerun) = command.strip_prefix("rerun order=")
            && let Some((_, id)) = rerun.split(' ').next().and_then(|it| it.split_once('/'))
            && let Some(order) = self.model.orders.values().next_back()
            && order.id.starts_with("RERUN-")
        {
            let of = |id: &str| (order.client, id.to_owned());
            let first = seen.reruns.get(&of(id)).map_or(id, String::as_str);
            let first = first.to_owned();
            seen.reruns.entry(of(&order.id)).or_insert(first);
        }
        // Breaks are no excuse for it.
        let carried = self.carries(seen);
        assert_eq!(carried, Ok(()), "{full:?}");
        Ok(())
    }
}

/// A world whose requests carry fields; how many inputs it had.
fn world(seed: u64, counts: &mut BTreeMap<&'static str, u64>) -> u64 {
    let (mut setup, world) = floors::floor(seed);
    setup.settings = setup
        .settings
        .replace("\n[[line_group]]\n", "\n[[line_group]]\ncarry = [6001]\n");
    let mut twin = Twin::with(&setup, world, seed);
    let mut dice = Dice::new(seed);
    let mut seen = Seen::default();
    let mut inputs = LENGTH;
    for at in 0..LENGTH {
        let input = dice.input(&twin.model);
        let heard = catch_unwind(AssertUnwindSafe(|| {
            twin.hear_carrying(&input, &mut seen)?;
            if at as usize % EACH == EACH - 1 {
                twin.compare()?;
            }
            Ok::<(), String>(())
        }));
        if let Err(why) = heard.unwrap_or_else(|_| Err(PANIC.into())) {
            // As in the other worlds: the model does not know each way in which breaks follow one another.
            let is_known = why != PANIC && twin.has_breaks();
            assert!(is_known, "seed {seed}, input {at}: {input:?}\n{why}");
            inputs = at;
            break;
        }
    }
    for (kind, more) in seen.counts {
        *counts.entry(kind).or_default() += more;
    }
    inputs
}

#[test]
fn venues_get_what_the_clients_of_the_model_s_orders_gave_them() {
    let (mut counts, mut inputs) = (BTreeMap::new(), 0);
    for seed in FIRST..FIRST + WORLDS {
        inputs += world(seed, &mut counts);
    }
    println!("{inputs} inputs, {counts:?}");
    assert!(inputs * 100 > WORLDS * LENGTH * 95, "{inputs} inputs");
    let other = counts.get("other cancel").copied().unwrap_or(0);
    assert!(other * 50 < counts[OWN_CANCEL], "{counts:?}");
    for kind in ["order", "replace", "cancel", OWN_CANCEL] {
        let count = counts.get(kind).copied().unwrap_or(0);
        assert!(count > 100, "{kind}: {counts:?}");
    }
}
