//! The parts of a measured OMS: its settings, its venue, and the messages of its client.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use fixwire::{Connection, Durability, Engine, EngineConfig};
use fixwire_exchange::{BookState, Exchange, ExchangeConfig, ExchangeSession, InstrumentConfig};
use fixwire_oms::{Oms, OmsSession};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::session::Role;
use fixwire_protocol::{Application, Decimal, Precision, Timestamp, tag};

use crate::arena::PATIENCE;
use crate::driven::engine_error;
use crate::error::Error;
use crate::fix_client::Writer;
use crate::pair::PairConfig;

/// Instruments and accounts, which orders take by turns.
const SYMBOLS: usize = 10;
const ACCOUNTS: usize = 4;
/// The first ClOrdID(11): all have twelve digits.
pub(crate) const FIRST_ID: u64 = 100_000_000_000;
/// One message of a client. Requests are known by their numbers, from 0 on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LoadRequest {
    /// An order.
    New,
    /// Replaces an order.
    Replace(ChangeTarget),
    /// Cancels it.
    Cancel(ChangeTarget),
}

/// The request that is changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ChangeTarget {
    /// The order, by the request that placed it.
    pub order: u64,
    /// The request whose ClOrdID(11) it has now.
    pub original: u64,
}

impl ChangeTarget {
    /// An order that has not been replaced.
    #[must_use]
    pub fn of(order: u64) -> Self {
        Self {
            order,
            original: order,
        }
    }
}

/// The settings of the OMS: every control that there is has a limit, at the firm and at each account.
///
/// # Errors
///
/// A mistake in them, which a test rules out.
pub(crate) fn oms(orders: usize) -> Result<Oms, Error> {
    let mut text = format!(
        "[oms]\ninstruments = 'instruments'\nlimits = 'limits'\nrestricted = 'restricted'\n\
         self_trade = 'reject'\norders = {orders}\nremembered = 10000\n\
         [[account]]\nname = 'DESK'\n"
    );
    for account in 0..ACCOUNTS {
        text += &format!("[[account]]\nname = 'A{account}'\nparent = 'DESK'\n");
    }
    text += "[[user]]\nsession = 'CLIENT'\naccounts = ['A*']\naccount = 'A0'\n\
             may = ['new', 'replace', 'cancel', 'mass cancel', 'status']\n\
             on_disconnect = 'cancel after 60s'\non_logout = 'cancel after 60s'\n\
             [[line_group]]\nname = 'SIM'\nlines = ['SIM-1']\n\
             [[route]]\nsymbols = ['*']\nto = 'SIM'\n";
    let mut open = |file: &str| {
        Ok(match file {
            "instruments" => {
                let rows = (0..SYMBOLS).map(|at| format!("S{at},0.01,12.50\n"));
                format!("symbol,tick,reference\n{}", rows.collect::<String>())
            }
            "restricted" => "symbol,account,what\nS0,A1,short\nS1,A2,locate\n".to_owned(),
            _ => limits(),
        })
    };
    let rules = fixwire_oms::load::load(&text, &["CLIENT", "SIM-1"], &mut open);
    let rules = rules.map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Error::Engine(errors.join("; "))
    })?;
    let session = |name: &str, version| OmsSession {
        name: name.to_owned(),
        version,
    };
    let sessions = vec![
        session("CLIENT", Version::Fix42),
        session("SIM-1", Version::Fix44),
    ];
    Ok(Oms::new(rules, sessions, 1, Box::new(|_| ())))
}

/// A limit of every control, so wide that no order meets it.
fn limits() -> String {
    let mut text = "scope,control,limit\n".to_owned();
    let accounts = (0..ACCOUNTS).map(|at| format!("account=A{at}"));
    for scope in std::iter::once("firm".to_owned()).chain(accounts) {
        for control in fixwire_oms::limits::RiskControl::ALL {
            let limit = match control.code() {
                "RC8" => 50,
                _ => 1_000_000_000_000_u64,
            };
            text += &format!("{scope},{},{limit}\n", control.code());
        }
    }
    text
}

fn pair(peer: (&str, &str), version: Version, checked: bool, folder: &Path) -> PairConfig {
    PairConfig {
        peer: None,
        initiator: peer.0.to_owned(),
        acceptor: peer.1.to_owned(),
        sessions: vec![version],
        durability: Durability::Process,
        checked,
        nodelay: true,
        heart_bt_int_seconds: 0,
        patience: PATIENCE,
        asked: None,
        journals: folder.to_owned(),
    }
}

/// The settings of the engine of an OMS whose journal is in this folder; the line connects, or is connected to.
pub(crate) fn oms_settings(folder: &Path, client: Connection, line: Connection) -> EngineConfig {
    let mut config = front(folder).engine(Role::Acceptor, client);
    let back = match line {
        Connection::Initiator { .. } => {
            pair(("OMS", "EXCHANGE"), Version::Fix44, true, folder).engine(Role::Initiator, line)
        }
        Connection::Acceptor { .. } => back(folder).engine(Role::Acceptor, line),
    };
    config.sessions.extend(back.sessions);
    // The ends take turns: none blocks for long.
    config.limits.lag_bytes = 1 << 50;
    config
}

/// The client's session.
fn front(folder: &Path) -> PairConfig {
    pair(("CLIENT", "OMS"), Version::Fix42, true, folder)
}

/// The session of a venue that connects.
fn back(folder: &Path) -> PairConfig {
    pair(("EXCHANGE", "OMS"), Version::Fix44, true, folder)
}

/// The writer of the client.
pub(crate) fn client_writer(folder: &Path) -> Writer {
    Writer::of_initiator(&front(folder), 0)
}

/// The writer of a venue that connects.
pub(crate) fn venue_writer(folder: &Path) -> Writer {
    Writer::of_initiator(&back(folder), 0)
}

/// The simulated exchange.
pub(crate) type Sim = Engine<Exchange>;

pub(crate) fn sim(folder: &Path) -> Result<Sim, Error> {
    let mut pair = pair(("OMS", "EXCHANGE"), Version::Fix44, false, folder);
    pair.durability = Durability::Memory;
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut config = pair.engine(Role::Acceptor, Connection::Acceptor { listen });
    config.limits.lag_bytes = 1 << 50;
    let cents = |mantissa| Decimal { mantissa, scale: 2 };
    let instruments = (0..SYMBOLS).map(|at| InstrumentConfig {
        symbol: format!("S{at}"),
        tick: cents(1),
        lot: Decimal::from_int(1),
        low: Some(cents(100)),
        high: Some(cents(10_000)),
        reference: None,
        state: BookState::Continuous,
    });
    let market = ExchangeConfig {
        instruments: instruments.collect(),
        orders_max: 5_000_000,
        remembered_max: 10_000,
        ..ExchangeConfig::default()
    };
    let sessions = config.sessions.iter().map(|session| ExchangeSession {
        name: "SIM-1",
        session: &session.session,
    });
    let exchange = Exchange::new(market, sessions).map_err(engine_error)?;
    Engine::new(config, exchange).map_err(engine_error)
}

pub(crate) fn address<A: Application, H: fixwire::Host>(
    engine: &Engine<A, H>,
) -> Result<SocketAddr, Error> {
    let address = engine.addresses().next();
    address.ok_or_else(|| Error::Engine("it listens nowhere".to_owned()))
}

/// ExecType(150) of the report of a request.
pub(crate) fn exec_type(request: LoadRequest) -> u8 {
    match request {
        LoadRequest::New => b'0',
        LoadRequest::Replace(_) => b'5',
        LoadRequest::Cancel(_) => b'4',
    }
}

/// Writes the request of this number.
///
/// # Errors
///
/// It does not fit, which a test rules out.
pub(crate) fn write_request(
    writer: &mut Writer,
    request: LoadRequest,
    number: u64,
    at: Timestamp,
    output: &mut Vec<u8>,
) -> Result<(), Error> {
    let (kind, target) = match request {
        LoadRequest::New => (b"D", None),
        LoadRequest::Replace(target) => (b"G", Some(target)),
        LoadRequest::Cancel(target) => (b"F", Some(target)),
    };
    let (account, symbol) = place(target.map_or(number, |it| it.order));
    let bytes = writer.message(kind, at, |body| {
        if let Some(target) = target {
            body.uint(tag::ORIG_CL_ORD_ID, FIRST_ID + target.original);
        }
        body.uint(tag::CL_ORD_ID, FIRST_ID + number)
            .field(tag::ACCOUNT, account)
            .field(tag::SYMBOL, symbol)
            .char(tag::SIDE, b'1')
            .time(tag::TRANSACT_TIME, at, Precision::Millis)
            .uint(tag::ORDER_QTY, if kind == b"G" { 200 } else { 100 });
        if kind != b"F" {
            body.char(tag::HANDL_INST, b'1')
                .char(tag::ORD_TYPE, b'2')
                .decimal(
                    tag::PRICE,
                    Decimal {
                        mantissa: 1250,
                        scale: 2,
                    },
                )
                .char(tag::TIME_IN_FORCE, b'0');
        }
    })?;
    output.extend_from_slice(bytes);
    Ok(())
}

/// Account(1) and Symbol(55) of an order.
pub(crate) fn place(order: u64) -> (&'static [u8], &'static [u8]) {
    const NAMES: [(&[u8], &[u8]); SYMBOLS] = [
        (b"A0", b"S0"),
        (b"A1", b"S1"),
        (b"A2", b"S2"),
        (b"A3", b"S3"),
        (b"A0", b"S4"),
        (b"A1", b"S5"),
        (b"A2", b"S6"),
        (b"A3", b"S7"),
        (b"A0", b"S8"),
        (b"A1", b"S9"),
    ];
    NAMES[order as usize % SYMBOLS]
}
