//! The parts of a measured OMS: its settings, its venue, and the messages of its client.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use fixwire::config::LinkConfig;
use fixwire::{Connection, Durability, Engine, EngineConfig};
use fixwire_exchange::{
    BookState, Exchange, ExchangeConfig, ExchangeSession, ExchangeTmpLine, InstrumentConfig,
};
use fixwire_oms::{Oms, OmsSession, OmsTmpLine};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::session::Role;
use fixwire_protocol::{Application, Body, Decimal, Precision, Tag, Timestamp, tag};
use fixwire_tmp::{
    ClientLinkSettings, ExchangeLinkSettings, SystemType, TmpPassword, TmpPositionEffect,
};

use crate::error::{Error, engine_error};
pub use crate::oms::line_protocol::LineProtocol;
pub(crate) use crate::oms::line_protocol::ORDER_QTY;
use crate::sockets::fix_client::Writer;
use crate::sockets::pair::PairConfig;

/// The first ClOrdID(11). All ClOrdIDs have twelve digits.
pub(crate) const FIRST_ID: u64 = 100_000_000_000;
/// Name of the line to the venue.
const LINE: &str = "SIM-1";
/// The broker's FCM id, and the number of its TMP link.
const FCM_ID: u16 = 279;
const SESSION_ID: u16 = 50;
const PASSWORD: TmpPassword = TmpPassword::new(1234);

/// Settings of the broker's end of the TMP link. No heartbeats, as on the FIX sessions.
pub(crate) fn link_of_broker() -> ClientLinkSettings {
    let mut settings =
        ClientLinkSettings::new(FCM_ID, SESSION_ID, PASSWORD, SystemType::FUTURES_DAY);
    settings.marks.order_source = b'D';
    settings.marks.info_source = *b"999";
    settings.marks.investor_flag = b'A';
    settings.marks.position_effect = Some(TmpPositionEffect::OPEN);
    settings
}

/// Settings of the exchange's end of the TMP link: no heartbeats and no flow limit. The bench sends faster than the
/// largest flow limit, 65,535 messages a second.
pub(crate) fn link_of_exchange() -> ExchangeLinkSettings {
    let mut settings =
        ExchangeLinkSettings::new(FCM_ID, SESSION_ID, PASSWORD, SystemType::FUTURES_DAY);
    (settings.heart_bt_int, settings.max_flow_ctrl_cnt) = (0, 0);
    settings
}

/// One request of a client. Requests are numbered from 0.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LoadRequest {
    /// An order.
    New,
    /// Replaces an order.
    Replace(ChangeTarget),
    /// Cancels an order.
    Cancel(ChangeTarget),
}

impl LoadRequest {
    /// The request that this request replaces or cancels; `None` for a new order.
    pub(crate) fn original(self) -> Option<u64> {
        match self {
            Self::New => None,
            Self::Replace(target) | Self::Cancel(target) => Some(target.original),
        }
    }
}

/// The order that a replace or a cancel refers to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ChangeTarget {
    /// The order, as the number of the request that placed it.
    pub order: u64,
    /// The number of the request whose ClOrdID(11) the order has now.
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

/// Fields of an order that the OMS only passes on to the venue of FIX 4.4.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ExtraFields {
    /// No fields.
    #[default]
    None,
    /// Ten fields of a client of FIX 4.4, one of them the group of Parties.
    Same,
}

impl ExtraFields {
    /// The FIX version of the client.
    pub(crate) fn version(self) -> Version {
        match self {
            Self::None => Version::Fix42,
            Self::Same => Version::Fix44,
        }
    }

    fn write(self, body: &mut Body<'_>) {
        let fields: &[(Tag, &[u8])] = match self {
            Self::None => &[],
            Self::Same => &[
                (58, b"worked by desk 7"),
                (376, b"C-20261122-17"),
                (377, b"N"),
                (453, b"1"),
                (448, b"FUND-1"),
                (447, b"D"),
                (452, b"3"),
                (528, b"A"),
                (529, b"1"),
                (581, b"1"),
                (582, b"1"),
                (583, b"LINK-17"),
                (635, b"B"),
            ],
        };
        for (tag, value) in fields {
            body.field(*tag, value);
        }
    }
}

/// What differs between flows of orders through a measured OMS.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct OrderFlow {
    /// Protocol of the line to the venue.
    pub lines: LineProtocol,
    /// Fields of the client's orders that the OMS only passes on.
    pub carried: ExtraFields,
}

impl OrderFlow {
    /// Orders without such fields.
    #[must_use]
    pub fn over(lines: LineProtocol) -> Self {
        Self {
            lines,
            carried: ExtraFields::None,
        }
    }
}

/// The OMS: every available control has a limit, at the firm and at each account.
///
/// # Errors
///
/// A mistake in the OMS settings; a test rules this out.
pub(crate) fn oms(orders: usize, flow: OrderFlow) -> Result<Oms, Error> {
    let OrderFlow { lines, carried } = flow;
    let client = carried.version();
    let text = settings_text(orders, lines);
    let mut open = |file: &str| {
        let [first, second, ..] = lines.symbols();
        let [_, a1, a2, _] = lines.accounts();
        Ok(match file {
            "instruments" => {
                let rows = lines
                    .symbols()
                    .map(|symbol| format!("{symbol},0.01,12.50\n"));
                format!("symbol,tick,reference\n{}", rows.concat())
            }
            "restricted" => {
                format!("symbol,account,what\n{first},{a1},short\n{second},{a2},locate\n")
            }
            _ => limits(lines),
        })
    };
    let sessions: &[(&str, Version)] = match lines {
        LineProtocol::Fix => &[("CLIENT", client), (LINE, Version::Fix44)],
        LineProtocol::Tmp => &[("CLIENT", client)],
    };
    let names: Vec<&str> = sessions.iter().map(|it| it.0).collect();
    let rules = fixwire_oms::load::load(&text, &names, &mut open);
    let rules = rules.map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Error::Engine(errors.join("; "))
    })?;
    let sessions = sessions.iter().map(|(name, version)| OmsSession {
        name: (*name).to_owned(),
        version: *version,
        dictionary: OmsSession::built_in(*version),
        ids: Vec::new(),
    });
    if lines == LineProtocol::Fix {
        return Ok(Oms::new(rules, sessions.collect(), 1, Box::new(|_| ())));
    }
    let line = vec![OmsTmpLine {
        name: LINE.to_owned(),
        settings: link_of_broker(),
    }];
    let problems = Oms::tmp_problems(&rules, &line);
    if !problems.is_empty() {
        return Err(Error::Engine(problems.join("; ")));
    }
    let oms = Oms::new(rules, sessions.collect(), 1, Box::new(|_| ()));
    Ok(oms.with_tmp_lines(line))
}

fn settings_text(orders: usize, lines: LineProtocol) -> String {
    let mut text = format!(
        "[oms]\nday_begins = '00:00 UTC'\ninstruments = 'instruments'\nlimits = 'limits'\nrestricted = 'restricted'\n\
         self_trade = 'reject'\norders = {orders}\nremembered = 10000\n\
         [[account]]\nname = 'DESK'\n"
    );
    for account in lines.accounts() {
        text += &format!("[[account]]\nname = '{account}'\nparent = 'DESK'\n");
    }
    let (own, first) = match lines {
        LineProtocol::Fix => ("A*", "A0"),
        LineProtocol::Tmp => ("1*", "1000000"),
    };
    text += &format!(
        "[[user]]\nsession = 'CLIENT'\naccounts = ['{own}']\naccount = '{first}'\n\
         may = ['new', 'replace', 'cancel', 'mass cancel', 'status']\n\
         on_disconnect = 'cancel after 60s'\non_logout = 'cancel after 60s'\n\
         [[line_group]]\nname = 'SIM'\nlines = ['{LINE}']\n"
    );
    if lines == LineProtocol::Tmp {
        text += &format!(
            "number_pool = 'SIM'\n[[link]]\nname = '{LINE}'\n\
             [[number_pool]]\nname = 'SIM'\nwidth = 5\ndigits = '0-9A-Za-z'\n"
        );
    }
    text + "[[route]]\nsymbols = ['*']\nto = 'SIM'\n"
}

/// A limit for every control, so high that no order reaches the limit.
fn limits(lines: LineProtocol) -> String {
    let mut text = "scope,control,limit\n".to_owned();
    let accounts = lines.accounts().map(|account| format!("account={account}"));
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

/// The engine settings of an OMS whose journal is in this folder. The line to the venue connects, or accepts a
/// connection.
pub(crate) fn oms_settings(
    folder: &Path,
    client: Connection,
    line: Connection,
    flow: OrderFlow,
) -> EngineConfig {
    let mut config = front(folder, flow).engine(Role::Acceptor, client);
    match (flow.lines, line) {
        (LineProtocol::Tmp, line) => {
            let framing = ExchangeTmpLine::framing().with_sum_of_bytes();
            config.links.push(LinkConfig::new(LINE, line, framing));
        }
        (LineProtocol::Fix, line @ Connection::Initiator { .. }) => {
            let back = PairConfig::new("OMS", "EXCHANGE", &[Version::Fix44], folder);
            let back = back.engine(Role::Initiator, line);
            config.sessions.extend(back.sessions);
        }
        (LineProtocol::Fix, line @ Connection::Acceptor { .. }) => {
            let back = back(folder).engine(Role::Acceptor, line);
            config.sessions.extend(back.sessions);
        }
    }
    // Client, OMS and venue take turns, so none of them blocks for long.
    config.limits.lag_bytes = 1 << 50;
    config
}

/// The client's session.
fn front(folder: &Path, flow: OrderFlow) -> PairConfig {
    PairConfig::new("CLIENT", "OMS", &[flow.carried.version()], folder)
}

/// The session of a venue that connects.
fn back(folder: &Path) -> PairConfig {
    PairConfig::new("EXCHANGE", "OMS", &[Version::Fix44], folder)
}

/// The message writer of the client.
pub(crate) fn client_writer(folder: &Path, flow: OrderFlow) -> Writer {
    Writer::of_initiator(&front(folder, flow), 0)
}

/// The message writer of a venue that connects.
pub(crate) fn venue_writer(folder: &Path) -> Writer {
    Writer::of_initiator(&back(folder), 0)
}

/// The simulated exchange.
pub(crate) type Sim = Engine<Exchange>;

pub(crate) fn sim(folder: &Path, lines: LineProtocol) -> Result<Sim, Error> {
    let pair = PairConfig {
        durability: Durability::Memory,
        checked: false,
        ..PairConfig::new("OMS", "EXCHANGE", &[Version::Fix44], folder)
    };
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listen = Connection::Acceptor { listen };
    let mut config = pair.engine(Role::Acceptor, listen.clone());
    config.limits.lag_bytes = 1 << 50;
    if lines == LineProtocol::Tmp {
        config.sessions.clear();
        let framing = ExchangeTmpLine::framing();
        config.links.push(LinkConfig::new(LINE, listen, framing));
    }
    let cents = |mantissa| Decimal { mantissa, scale: 2 };
    let instruments = lines.symbols().map(|symbol| InstrumentConfig {
        symbol: symbol.to_owned(),
        tick: cents(1),
        lot: Decimal::from_int(1),
        low: Some(cents(100)),
        high: Some(cents(10_000)),
        reference: None,
        state: BookState::Continuous,
        legs: None,
    });
    let market = ExchangeConfig {
        instruments: instruments.into(),
        orders_max: 5_000_000,
        remembered_max: 10_000,
        ..ExchangeConfig::default()
    };
    let sessions = config.sessions.iter().map(|session| ExchangeSession {
        name: LINE,
        session: &session.session,
    });
    let mut exchange = Exchange::new(market, sessions).map_err(engine_error)?;
    if lines == LineProtocol::Tmp {
        exchange = exchange.with_tmp_lines(vec![ExchangeTmpLine {
            name: LINE.to_owned(),
            settings: link_of_exchange(),
        }]);
    }
    Engine::new(config, exchange).map_err(engine_error)
}

pub(crate) fn address<A: Application, H: fixwire::Host>(
    engine: &Engine<A, H>,
) -> Result<SocketAddr, Error> {
    let address = engine.addresses().next();
    address.ok_or_else(|| Error::Engine("the exchange does not listen".to_owned()))
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
/// The message does not fit into the buffer; a test rules this out.
pub(crate) fn write_request(
    writer: &mut Writer,
    (request, flow): (LoadRequest, OrderFlow),
    number: u64,
    at: Timestamp,
    output: &mut Vec<u8>,
) -> Result<(), Error> {
    let (kind, target) = match request {
        LoadRequest::New => (b"D", None),
        LoadRequest::Replace(target) => (b"G", Some(target)),
        LoadRequest::Cancel(target) => (b"F", Some(target)),
    };
    let quantity = match request {
        LoadRequest::Replace(_) => flow.lines.replaced(),
        _ => ORDER_QTY,
    };
    let (account, symbol) = flow.lines.place(target.map_or(number, |it| it.order));
    let bytes = writer.message(kind, at, |body| {
        if let Some(target) = target {
            body.uint(tag::ORIG_CL_ORD_ID, FIRST_ID + target.original);
        }
        body.uint(tag::CL_ORD_ID, FIRST_ID + number)
            .field(tag::ACCOUNT, account.as_bytes())
            .field(tag::SYMBOL, symbol.as_bytes())
            .char(tag::SIDE, b'1')
            .time(tag::TRANSACT_TIME, at, Precision::Millis)
            .uint(tag::ORDER_QTY, quantity.into());
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
        if kind == b"D" {
            flow.carried.write(body);
        }
    })?;
    output.extend_from_slice(bytes);
    Ok(())
}
