//! Do clients of others trade with each other through an OMS and a simulated exchange?
//!
//! QuickFIX/J and QuickFIX C++ log on to `fixwire run oms.toml`, in FIX 4.2, 4.4 and 5.0 SP2; on its other side
//! `fixwire sim` has a line of FIX 4.4 and one of 4.2. They partly fill each other's orders, replace and cancel open
//! orders, ask for their status, and get refusals from the limits and from the exchange; in the middle the OMS is ended
//! by SIGKILL. They validate each report by their own dictionaries, and this suite compares it with the expected one,
//! field by field. In the end both clients, the OMS and the exchange agree on every order.

use fixwire_rigs::oms::books::agree;
use fixwire_rigs::oms::dialogue::Dialogue;
use fixwire_rigs::oms::floor::{ACCOUNTS, Floor, LARGEST};
use fixwire_rigs::peers::{Engine, Role, Running, Terms};
use fixwire_rigs::server::{Server, scratch, wait_for_listener};
use fixwire_rigs::trade::{Event, PATIENCE};
use fixwire_rigs::wire::{message, show, timestamp, value};
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::mpsc::Receiver;

const LINES: [(&str, &str); 2] = [("LINE1", "FIX.4.4"), ("LINE2", "FIX.4.2")];

#[test]
fn quickfix_j_of_4_4_trades_with_quickfix_cpp_of_4_2() -> Result<(), String> {
    play([
        (Engine::QuickfixJ, "FIX.4.4"),
        (Engine::QuickfixCpp, "FIX.4.2"),
    ])
}

#[test]
fn quickfix_cpp_of_4_4_trades_with_quickfix_j_of_4_2() -> Result<(), String> {
    play([
        (Engine::QuickfixCpp, "FIX.4.4"),
        (Engine::QuickfixJ, "FIX.4.2"),
    ])
}

#[test]
fn quickfix_j_and_cpp_trade_in_5_0_sp2() -> Result<(), String> {
    play([
        (Engine::QuickfixJ, "FIX.5.0SP2"),
        (Engine::QuickfixCpp, "FIX.5.0SP2"),
    ])
}

fn play(cast: [(Engine, &'static str); 2]) -> Result<(), String> {
    let mut market = Market::open(cast)?;
    market.fills()?;
    market.kill()?;
    market.changes()?;
    market.refusals()?;
    market.kill()?;
    market.kinds_of_orders()?;
    market.close()
}

/// A client, with its requests and the reports it received.
struct Party {
    name: &'static str,
    running: Running,
    events: Receiver<Event>,
    version: &'static str,
    /// Messages with `|` for SOH; true for its own.
    said: Vec<(bool, String)>,
}

impl Party {
    fn start(
        name: &'static str,
        (engine, version): (Engine, &'static str),
        port: u16,
        folder: &Path,
    ) -> Result<Self, String> {
        let store = folder.join(name);
        fs::create_dir_all(&store).map_err(|error| error.to_string())?;
        let terms = Terms {
            version,
            ..Terms::default()
        };
        let (running, events) = engine.run(Role::Initiator, port, name, "OMS", &store, &terms)?;
        Ok(Self {
            name,
            running,
            events,
            version,
            said: Vec::new(),
        })
    }

    /// Waits until the OMS knows that it has logged on: messages that it sends before wait for a ResendRequest.
    fn log_on(&mut self) -> Result<(), String> {
        loop {
            let event = self.events.recv_timeout(*PATIENCE);
            let event = event.map_err(|error| format!("{}: no logon: {error}", self.name))?;
            match &*event.name {
                "logon" => return Ok(()),
                "report" | "refused" | "rejected" => {
                    return Err(format!("{}: one more: {}", self.name, event.text));
                }
                _ => {}
            }
        }
    }

    /// The next report or reject.
    fn next(&mut self) -> Result<String, String> {
        loop {
            let event = self.events.recv_timeout(*PATIENCE);
            let event = event.map_err(|error| format!("{}: no report: {error}", self.name))?;
            match &*event.name {
                "rejected" => return Err(format!("{}: rejected: {}", self.name, event.text)),
                "report" | "refused" => {
                    let json: serde_json::Value =
                        serde_json::from_str(&event.text).map_err(|error| error.to_string())?;
                    let text = json["message"].as_str().unwrap_or_default().to_owned();
                    self.said.push((false, text.clone()));
                    return Ok(text);
                }
                _ => {}
            }
        }
    }

    /// Sends a message. The body also gets the fields that FIX requires in every order.
    fn say(&mut self, kind: &str, body: &str) -> Result<(), String> {
        let time = timestamp(0, true);
        let body = match kind {
            "D" | "G" => format!("{body}|1={}|21=1|60={time}", ACCOUNTS[0]),
            "F" => format!("{body}|60={time}"),
            _ => body.to_owned(),
        };
        self.said.push((true, format!("35={kind}|{body}|")));
        self.running.tell(&format!("say {kind} {body}"))
    }

    /// The next report has these fields, and has none whose value is `-`.
    fn expect(&mut self, wanted: &str) -> Result<(), String> {
        let report = self
            .next()
            .map_err(|fault| format!("{fault}; wanted {wanted}"))?;
        let raw = message(&report);
        for field in wanted.split('|') {
            let (tag, wanted) = field.split_once('=').unwrap_or((field, ""));
            let wanted = self.dialect(tag, wanted);
            let found = show(value(&raw, tag).unwrap_or(b"-"));
            if found != wanted {
                return Err(format!(
                    "{}: tag {tag} is {found}, not {wanted}: {report}",
                    self.name
                ));
            }
        }
        let trans = match (self.version, value(&raw, "35")) {
            ("FIX.4.2", Some(b"8")) if value(&raw, "17") == Some(b"0") => "3",
            ("FIX.4.2", Some(b"8")) => "0",
            _ => "-",
        };
        match show(value(&raw, "20").unwrap_or(b"-")) {
            found if found == trans => Ok(()),
            found => Err(format!("{}: tag 20 is {found}: {report}", self.name)),
        }
    }

    /// The value of a FIX 4.4 field in the version of this session: `F1` and `F2` are a partial fill and the last fill.
    fn dialect<'a>(&self, tag: &str, value: &'a str) -> &'a str {
        match (self.version, tag, value) {
            ("FIX.4.2", "103", "99") => "0",
            ("FIX.4.2", "150", "F1") => "1",
            ("FIX.4.2", "150", "F2") => "2",
            (_, "150", "F1" | "F2") => "F",
            // An answer says there how the order stands; 20 says that it is one.
            ("FIX.4.2", "150", "I") => "0",
            (_, _, value) => value,
        }
    }

    fn dialogue(&self) -> Result<Dialogue, String> {
        let dialogue = Dialogue::tell(self.said.iter().cloned());
        dialogue.map_err(|fault| format!("{}: {fault}", self.name))
    }
}

/// Two clients, the OMS and the exchange.
struct Market {
    floor: Floor,
    sim: Server,
    oms: Option<Server>,
    maker: Party,
    taker: Party,
}

impl Market {
    fn open(cast: [(Engine, &'static str); 2]) -> Result<Self, String> {
        let [(maker, of_maker), (taker, of_taker)] = cast;
        let name = format!("{maker:?}-{of_maker}-{taker:?}-{of_taker}");
        let folder = scratch(&name).map_err(|error| error.to_string())?;
        let clients = [("MAKER", of_maker), ("TAKER", of_taker)];
        let floor = Floor::new(&folder, &clients, &LINES)?;
        let sim = floor.open()?;
        let listens = SocketAddr::from((Ipv4Addr::LOCALHOST, floor.sim.port));
        wait_for_listener(listens, *PATIENCE)?;
        let oms = Some(floor.oms.start()?);
        let port = floor.oms.port;
        let mut market = Self {
            maker: Party::start("MAKER", cast[0], port, &folder)?,
            taker: Party::start("TAKER", cast[1], port, &folder)?,
            floor,
            sim,
            oms,
        };
        market.log_on()?;
        Ok(market)
    }

    fn kill(&mut self) -> Result<(), String> {
        let oms = self.oms.take().ok_or("the OMS does not run")?;
        oms.kill()?;
        self.oms = Some(self.floor.oms.start()?);
        self.log_on()
    }

    fn log_on(&mut self) -> Result<(), String> {
        self.maker.log_on()?;
        self.taker.log_on()?;
        self.floor.wait_for_logons()
    }

    /// A resting order, and one that takes a part of it.
    fn fills(&mut self) -> Result<(), String> {
        let Self { maker, taker, .. } = self;
        maker.say("D", "11=M1|55=VOD|54=2|38=100|40=2|44=12.5|59=0")?;
        maker.expect(&format!(
            "35=8|11=M1|41=-|150=0|39=0|1={}|55=VOD|54=2|38=100|40=2|44=12.5|59=0|151=100|14=0|6=0|58=-",
            ACCOUNTS[0]
        ))?;
        taker.say("D", "11=T1|55=VOD|54=1|38=40|40=2|44=12.52|59=1")?;
        taker.expect("35=8|11=T1|150=0|39=0|54=1|38=40|44=12.52|59=1|151=40|14=0|6=0")?;
        taker.expect("35=8|11=T1|150=F2|39=2|32=40|31=12.5|151=0|14=40|6=12.5")?;
        maker.expect("35=8|11=M1|150=F1|39=1|32=40|31=12.5|151=60|14=40|6=12.5")
    }

    /// Changes of the remaining order, which is partly filled, and of an unfilled one.
    fn changes(&mut self) -> Result<(), String> {
        let Self { maker, taker, .. } = self;
        maker.say("G", "11=M2|41=M1|55=VOD|54=2|38=80|40=2|44=12.55|59=0")?;
        maker.expect("35=8|11=M2|41=M1|150=5|39=1|38=80|44=12.55|151=40|14=40|6=12.5")?;
        taker.say("D", "11=T2|55=VOD|54=1|38=40|40=1|59=0")?;
        taker.expect("35=8|11=T2|150=0|39=0|40=1|44=-|151=40")?;
        taker.expect("35=8|11=T2|150=F2|39=2|32=40|31=12.55|151=0|14=40|6=12.55")?;
        maker.expect("35=8|11=M2|150=F2|39=2|32=40|31=12.55|151=0|14=80|6=12.525")?;
        maker.say("D", "11=M3|55=VOD|54=2|38=10|40=2|44=12.6|59=0")?;
        maker.expect("35=8|11=M3|150=0|39=0|151=10")?;
        maker.say("F", "11=M4|41=M3|55=VOD|54=2|38=10")?;
        maker.expect("35=8|11=M4|41=M3|150=4|39=4|38=10|151=0|14=0")?;
        // Too late for both.
        maker.say("F", "11=M5|41=M4|55=VOD|54=2|38=10")?;
        maker.expect("35=9|11=M5|41=M4|39=4|434=1|102=0")?;
        maker.say("F", "11=M6|41=M2|55=VOD|54=2|38=80")?;
        maker.expect("35=9|11=M6|41=M2|39=2|434=1|102=0")
    }

    /// Refusals by the limits of the OMS, by the exchange, and of unknown orders.
    fn refusals(&mut self) -> Result<(), String> {
        let taker = &mut self.taker;
        let (much, limit) = (LARGEST + 1, LARGEST);
        let text = |value| {
            format!("RC6: order quantity exceeds the limit ({value}, at most {limit} for firm)")
        };
        taker.say(
            "D",
            &format!("11=T3|55=VOD|54=1|38={much}|40=2|44=12.4|59=0"),
        )?;
        let said = text(much);
        taker.expect(&format!(
            "35=8|37=NONE|11=T3|150=8|39=8|103=3|38={much}|151=0|14=0|6=0|58={said}"
        ))?;
        taker.say("D", "11=T4|55=NONE|54=1|38=1|40=2|44=12.4|59=0")?;
        taker.expect("35=8|37=NONE|11=T4|150=8|39=8|103=1|55=NONE|58=RC2: unknown symbol")?;
        taker.say("D", "11=T5|55=VOD|54=1|38=1|40=2|44=13.6|59=0")?;
        taker.expect(
            "35=8|11=T5|150=8|39=8|103=99|38=1|44=13.6|151=0|58=The price is outside the price band from 11.50 to 13.50",
        )?;
        taker.say("F", "11=T6|41=T99|55=VOD|54=1|38=1")?;
        taker.expect("35=9|37=NONE|11=T6|41=T99|39=8|434=1|102=1|58=unknown order")?;
        taker.say("D", "11=T7|55=VOD|54=1|38=10|40=2|44=12.4|59=0")?;
        taker.expect("35=8|11=T7|150=0|39=0|151=10")?;
        taker.say(
            "G",
            &format!("11=T8|41=T7|55=VOD|54=1|38={much}|40=2|44=12.4"),
        )?;
        taker.expect(&format!("35=9|11=T8|41=T7|39=0|434=2|102=2|58={said}"))?;
        // The order is as it was.
        taker.say("H", "11=T7|55=VOD|54=1")?;
        taker.expect("35=8|11=T7|17=0|150=I|39=0|38=10|44=12.4|151=10|14=0")
    }

    /// Immediate or cancel, fill or kill, stop limit.
    fn kinds_of_orders(&mut self) -> Result<(), String> {
        let Self { maker, taker, .. } = self;
        maker.say("D", "11=M7|55=VOD|54=2|38=4|40=2|44=12.4|59=3")?;
        maker.expect("35=8|11=M7|150=0|39=0|59=3|151=4")?;
        maker.expect("35=8|11=M7|150=F2|39=2|32=4|31=12.4|151=0|14=4")?;
        taker.expect("35=8|11=T7|150=F1|39=1|32=4|31=12.4|151=6|14=4|6=12.4")?;
        maker.say("D", "11=M8|55=VOD|54=2|38=20|40=2|44=12.4|59=4")?;
        maker.expect("35=8|11=M8|150=0|39=0|59=4")?;
        maker.expect("35=8|11=M8|41=-|150=4|39=4|151=0|14=0")?;
        maker.say("D", "11=M9|55=VOD|54=2|38=20|40=2|44=12.4|59=3")?;
        maker.expect("35=8|11=M9|150=0|39=0|59=3")?;
        maker.expect("35=8|11=M9|150=F1|39=1|32=6|31=12.4|151=14|14=6")?;
        maker.expect("35=8|11=M9|41=-|150=4|39=4|151=0|14=6")?;
        taker.expect("35=8|11=T7|150=F2|39=2|32=6|31=12.4|151=0|14=10")?;
        taker.say("D", "11=T9|55=BT|54=1|38=5|40=4|44=12.9|99=12.8|59=1")?;
        taker.expect("35=8|11=T9|150=0|39=0|55=BT|40=4|44=12.9|99=12.8|59=1|151=5")
    }

    fn close(self) -> Result<(), String> {
        let clients = [self.maker.dialogue()?, self.taker.dialogue()?];
        agree(&clients, &self.floor.books()?, &self.floor.exchange()?)?;
        let fills: usize = clients.iter().map(|client| client.fills).sum();
        assert_eq!(fills, 8, "each trade is a fill for both");
        for server in [self.oms, Some(self.sim)].into_iter().flatten() {
            server.terminate(*PATIENCE)?;
        }
        for mut party in [self.maker, self.taker] {
            // After the expected messages comes only the logout.
            party.running.tell("quit")?;
            while let Ok(event) = party.events.recv_timeout(*PATIENCE) {
                if matches!(&*event.name, "report" | "refused" | "rejected") {
                    return Err(format!("{}: one more: {}", party.name, event.text));
                }
            }
        }
        Ok(())
    }
}
