//! Do engines of others trade with ours, in both roles?

use fixwire_rigs::peers::{Engine, Role, Terms};
use fixwire_rigs::proxy::{Proxy, Way};
use fixwire_rigs::server::{Launch, free_port, scratch, wait_for_listener};
use fixwire_rigs::trade::{PATIENCE, Pair, Side};
use fixwire_rigs::wire::timestamp;
use fixwire_rigs::{certificates, embedded};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Orders that each side sends at the same time.
const ORDERS: usize = 10_000;

/// Held by the pair that trades. QuickFIX as an acceptor that waits long in a logout may forget that the session has
/// ended, and then takes no Logon any more.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The peers with each other: the rig expects what other engines do.
#[test]
fn the_peers_trade_with_each_other() -> Result<(), String> {
    for (connects, listens) in [
        (Engine::QuickfixCpp, Engine::QuickfixJ),
        (Engine::QuickfixJ, Engine::QuickfixCpp),
        (Engine::QuickfixGo, Engine::QuickfixJ),
    ] {
        println!("{connects:?} connects to {listens:?}");
        let start = |role, port, own: &str, peer: &str| match role {
            Role::Initiator => connects.start(role, port, own, peer, &Terms::default()),
            Role::Acceptor => listens.start(role, port, own, peer, &Terms::default()),
        };
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        pair(start)?.trade(1_000)?;
        let mut fresh = pair(start)?;
        fresh.move_counters(Way::ToAcceptor)?;
        fresh.move_counters(Way::ToInitiator)?;
    }
    Ok(())
}

#[test]
fn quickfix_cpp_connects_to_us() -> Result<(), String> {
    with_us(Engine::QuickfixCpp, Role::Acceptor)
}

#[test]
fn quickfix_j_connects_to_us() -> Result<(), String> {
    with_us(Engine::QuickfixJ, Role::Acceptor)
}

#[test]
fn we_connect_to_quickfix_cpp() -> Result<(), String> {
    with_us(Engine::QuickfixCpp, Role::Initiator)
}

#[test]
fn we_connect_to_quickfix_j() -> Result<(), String> {
    with_us(Engine::QuickfixJ, Role::Initiator)
}

#[test]
fn quickfix_go_connects_to_us() -> Result<(), String> {
    with_us(Engine::QuickfixGo, Role::Acceptor)
}

#[test]
fn we_connect_to_quickfix_go() -> Result<(), String> {
    with_us(Engine::QuickfixGo, Role::Initiator)
}

#[test]
fn quickfix_cpp_connects_to_us_over_tls() -> Result<(), String> {
    with_us_over_tls(Engine::QuickfixCpp, Role::Acceptor)
}

#[test]
fn quickfix_j_connects_to_us_over_tls() -> Result<(), String> {
    with_us_over_tls(Engine::QuickfixJ, Role::Acceptor)
}

#[test]
fn we_connect_to_quickfix_cpp_over_tls() -> Result<(), String> {
    with_us_over_tls(Engine::QuickfixCpp, Role::Initiator)
}

#[test]
fn we_connect_to_quickfix_j_over_tls() -> Result<(), String> {
    with_us_over_tls(Engine::QuickfixJ, Role::Initiator)
}

#[test]
fn quickfix_go_connects_to_us_over_tls() -> Result<(), String> {
    with_us_over_tls(Engine::QuickfixGo, Role::Acceptor)
}

#[test]
fn we_connect_to_quickfix_go_over_tls() -> Result<(), String> {
    with_us_over_tls(Engine::QuickfixGo, Role::Initiator)
}

#[test]
fn sessions_with_quickfix_cpp_end_and_begin_by_the_clock() -> Result<(), String> {
    over_the_end(Engine::QuickfixCpp)
}

#[test]
fn sessions_with_quickfix_j_end_and_begin_by_the_clock() -> Result<(), String> {
    over_the_end(Engine::QuickfixJ)
}

#[test]
fn sessions_with_quickfix_go_end_and_begin_by_the_clock() -> Result<(), String> {
    over_the_end(Engine::QuickfixGo)
}

#[test]
fn quickfix_cpp_says_why_it_leaves() -> Result<(), String> {
    says_why_it_leaves(Engine::QuickfixCpp)
}

#[test]
fn quickfix_j_says_why_it_leaves() -> Result<(), String> {
    says_why_it_leaves(Engine::QuickfixJ)
}

#[test]
fn quickfix_go_says_why_it_leaves() -> Result<(), String> {
    says_why_it_leaves(Engine::QuickfixGo)
}

/// Text(58) of a peer's Logout reaches `on_logout` of a program with our engine in it, and `[[on]]` of a
/// gateway.
fn says_why_it_leaves(peer: Engine) -> Result<(), String> {
    const FAREWELL: &str = "Desk closed: call London, +44 20";
    const GATEWAY: &str = r#"
[default]
FileStorePath = "STORE"
NonStopSession = true

[[session]]
SessionName = "DESK"
ConnectionType = "acceptor"
SocketAcceptAddress = "127.0.0.1"
SocketAcceptPort = PORT
BeginString = "FIX.4.2"
SenderCompID = "ACCEPTOR"
TargetCompID = "INITIATOR"

[[rule]]
from = ["DESK"]
do = ['return']

[[on]]
name = "left"
event = "disconnect"
session = ["DESK"]
do = ['notify "the desk has left: ${Text}"']
"#;
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder =
        scratch(&format!("interop-farewell-{peer:?}")).map_err(|error| error.to_string())?;
    let folder = std::path::absolute(folder).map_err(|error| error.to_string())?;
    let desk = |port| {
        let terms = Terms::default();
        let mut desk = peer.start(Role::Initiator, port, "INITIATOR", "ACCEPTOR", &terms)?;
        desk.tell(&format!("farewell {FAREWELL}"))?;
        desk.expect("its logon", |event| event.name == "logon")?;
        desk.tell("logout")?;
        desk.expect("its logout", |event| event.name == "logout")?;
        desk.tell("quit")
    };
    let port = free_port().map_err(|error| error.to_string())?;
    let ours = &folder.join("ours");
    let mut ours = embedded::start(Role::Acceptor, port, "ACCEPTOR", "INITIATOR", ours)?;
    desk(port)?;
    let logout = ours.expect("a logout", |event| event.name == "logout")?;
    let text = format!("|58={FAREWELL}|");
    assert!(logout.text.contains(&text), "{peer:?}: {}", logout.text);

    let port = free_port().map_err(|error| error.to_string())?;
    let store = folder.join("gateway-store");
    let file = GATEWAY
        .replace("PORT", &port.to_string())
        .replace("STORE", &store.to_string_lossy());
    let path = folder.join("gateway.toml");
    std::fs::write(path, file).map_err(|error| error.to_string())?;
    let gateway = Launch::gateway(&folder, port)?.start()?;
    desk(port)?;
    let said = format!("gateway left: the desk has left: {FAREWELL}\n");
    let deadline = Instant::now() + *PATIENCE;
    while !gateway.words().contains(&said) {
        let words = gateway.last_words();
        assert!(Instant::now() < deadline, "{peer:?}: {words}");
        std::thread::sleep(Duration::from_millis(10));
    }
    gateway.terminate(*PATIENCE)
}

/// Trades over TLS with certificates on both sides, with gaps and cuts.
fn with_us_over_tls(peer: Engine, ours: Role) -> Result<(), String> {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = scratch(&format!("interop-tls-{peer:?}-we-are-{ours:?}"))
        .map_err(|error| error.to_string())?;
    let folder = std::path::absolute(folder).map_err(|error| error.to_string())?;
    certificates::make(&folder)?;
    let terms = Terms {
        certificates: folder.clone(),
        ..Terms::default()
    };
    let start = |role, port, own: &str, other: &str| match role == ours {
        true => {
            let transport = certificates::transport(&folder, role)?;
            embedded::start_with(role, port, own, other, &folder.join("trade"), |session| {
                session.transport = transport;
            })
        }
        false => peer.start(role, port, own, other, &terms),
    };
    pair_through(start, Proxy::start_sealed)?.trade_sealed(ORDERS)
}

/// Trades with a peer while we have the given role; then the peer moves its counters.
fn with_us(peer: Engine, ours: Role) -> Result<(), String> {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder =
        scratch(&format!("interop-{peer:?}-we-are-{ours:?}")).map_err(|error| error.to_string())?;
    let start = |journal: &'static str| {
        let folder = folder.join(journal);
        move |role, port, own: &str, other: &str| match role == ours {
            true => embedded::start(role, port, own, other, &folder),
            false => peer.start(role, port, own, other, &Terms::default()),
        }
    };
    pair(start("trade"))?.trade(ORDERS)?;
    let from_peer = match ours {
        Role::Acceptor => Way::ToAcceptor,
        Role::Initiator => Way::ToInitiator,
    };
    pair(start("counters"))?.move_counters(from_peer)
}

/// Trades with a peer, in both roles, until the session's hours end, and again when the next begin.
fn over_the_end(peer: Engine) -> Result<(), String> {
    /// The time until the end, enough to start and trade on a busy machine too.
    const OPEN: i64 = 20;
    /// The time until the next beginning.
    const CLOSED: i64 = 4;
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let trade = |ours: Role| {
        let folder = scratch(&format!("interop-end-{peer:?}-we-are-{ours:?}"))
            .map_err(|error| error.to_string())?;
        let terms = Terms {
            hours: [OPEN + CLOSED, OPEN].map(|seconds| time_of_day(timestamp(seconds, false))),
            ..Terms::default()
        };
        let start = |role, port, own: &str, other: &str| match role == ours {
            true => embedded::start_with(role, port, own, other, &folder, |session| {
                session.schedule = Some(terms.schedule());
            }),
            false => peer.start(role, port, own, other, &terms),
        };
        pair(start)?.over_the_end(100)
    };
    // They mostly wait for the clock, so both roles run at the same time.
    std::thread::scope(|scope| {
        let acceptor = scope.spawn(|| trade(Role::Acceptor));
        trade(Role::Initiator)?;
        acceptor.join().map_err(|_| "it panicked".to_owned())?
    })
}

/// `HH:MM:SS` of a `UTCTimestamp`.
fn time_of_day(timestamp: String) -> String {
    timestamp[9..].to_owned()
}

/// Two sides with a proxy between them.
fn pair(start: impl Fn(Role, u16, &str, &str) -> Result<Side, String>) -> Result<Pair, String> {
    pair_through(start, Proxy::start)
}

fn pair_through(
    start: impl Fn(Role, u16, &str, &str) -> Result<Side, String>,
    proxy: fn(SocketAddr) -> std::io::Result<Proxy>,
) -> Result<Pair, String> {
    let port = free_port().map_err(|error| error.to_string())?;
    let acceptor = start(Role::Acceptor, port, "ACCEPTOR", "INITIATOR")?;
    // An initiator that finds no listener may use up numbers with Logons that never arrive.
    let listens = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    wait_for_listener(listens, Duration::from_secs(30))?;
    let proxy = proxy(listens).map_err(|error| error.to_string())?;
    let initiator = start(
        Role::Initiator,
        proxy.address.port(),
        "INITIATOR",
        "ACCEPTOR",
    )?;
    Ok(Pair {
        initiator,
        acceptor,
        proxy,
    })
}
