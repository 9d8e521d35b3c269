//! Data fields and their lengths in reports, also user-defined ones; reloads of the keys for fields of reports.

use std::sync::Arc;

use fixwire_engine::protocol::dictionary::assemble::{Definitions, assemble};
use fixwire_engine::protocol::dictionary::{Dictionary, Member, MessageDef, Version};
use fixwire_engine::protocol::{
    Application, Decoder, Mono, Now, OperatorCommand, Outbox, SessionId, Timestamp,
};
use fixwire_oms::rules::RiskRules;
use fixwire_oms::{NewSettings, Oms, OmsSession, ReloadKind};

use super::{CLIENT, ORDER, QUANTITY, VENUE, counts, desk_of, report, setup};
use crate::desk::{Setup, dictionary};
use crate::floor::Slot;

#[test]
fn data_and_its_length_are_left_out_together() {
    let long = format!("354=1100|355={}|", "x".repeat(1100));
    for (fields, user, is_sent, counted) in [
        ("354=8|355=a|39=2xx|", "", true, ""),
        (
            "354=8|355=a|39=2xx|",
            "report_drop = [354]",
            false,
            "354: 1, 355: 1",
        ),
        (
            "354=8|355=a|39=2xx|",
            "report_drop = [355]",
            false,
            "354: 1, 355: 1",
        ),
        (&*long, "", false, "354: 2, 355: 2"),
    ] {
        let versions = [Version::Fix44, Version::Fix42, Version::Fix50Sp2];
        let mut desk = desk_of(versions, [user, "", ""], '1');
        let said = desk.says(VENUE, "8", &report(Version::Fix42, "F", 1, '1', fields));
        let heard = said.iter().find(|it| it.to == CLIENT).expect("a report");
        assert_eq!(heard.get(354).is_some(), is_sent, "{user}: {heard:?}");
        assert_eq!(heard.get(355).is_some(), is_sent, "{user}: {heard:?}");
        // The second stands in the data.
        let statuses = heard.fields.iter().filter(|(tag, _)| *tag == 39).count();
        assert_eq!(statuses, 1 + usize::from(is_sent), "{user}: {heard:?}");
        assert_eq!(counts(&desk), counted, "{user}");
    }
}

/// A dictionary whose reports have data in OwnData(9502) with its length in OwnDataLen(9501).
fn with_own_data(version: Version) -> Arc<Dictionary> {
    let base = dictionary(version);
    let mut fields = base.fields().to_vec();
    for (like, tag, name, partner) in [
        (354, 9501, "OwnDataLen", 9502),
        (355, 9502, "OwnData", 9501),
    ] {
        let mut field = base.field(like).expect("a field").clone();
        (field.tag, field.name, field.partner) = (tag, name.to_owned(), Some(partner));
        fields.push(field);
    }
    let messages = base.messages().iter().map(|message| {
        let mut members = message.members().to_vec();
        let own = [9501, 9502].map(|tag| Member {
            tag,
            required: false,
            group: None,
        });
        members.extend(own.into_iter().filter(|_| message.msg_type() == "8"));
        MessageDef::new(message.msg_type(), message.name(), members)
    });
    let definitions = Definitions {
        version: base.version().to_owned(),
        fields,
        header: base.header().members().to_vec(),
        trailer: base.trailer().members().to_vec(),
        messages: messages.collect(),
        components: Vec::new(),
    };
    Arc::new(assemble(definitions).expect("a dictionary"))
}

/// An OMS whose sessions have the same dictionary, which is not a built-in one.
struct OwnDesk {
    oms: Oms,
    outbox: Outbox,
    decoder: Decoder,
    /// Nanoseconds since 1970.
    wall: i64,
    /// Settings to reload.
    slot: Slot,
}

/// Settings whose user and line group have these keys.
fn rules_of(user: &str, group: &str) -> RiskRules {
    let Setup {
        settings, files, ..
    } = setup(Version::Fix44, user, group);
    let mut open = |wanted: &str| {
        let file = files.iter().find(|(name, _)| *name == wanted);
        file.map(|(_, text)| text.clone()).ok_or_else(String::new)
    };
    fixwire_oms::load::load(&settings, &["C", "V"], &mut open).unwrap()
}

impl OwnDesk {
    fn new(group: &str, dictionary: &Arc<Dictionary>) -> Self {
        let sessions = ["C", "V"].map(|name| OmsSession {
            name: name.to_owned(),
            version: Version::Fix44,
            dictionary: Arc::clone(dictionary),
            ids: Vec::new(),
        });
        let mut decoder = Decoder::with_capacity(128);
        decoder.learn(dictionary);
        let mut desk = Self {
            oms: Oms::new(rules_of("", group), sessions.into(), 7, Box::new(|_| {})),
            outbox: Outbox::new(1 << 20, 1 << 12, 64),
            decoder,
            wall: 1_795_334_400_000_000_000,
            slot: Slot::default(),
        };
        desk.oms.set_settings_source(Box::new(desk.slot.clone()));
        desk.turn();
        for session in [VENUE, CLIENT] {
            let (now, id) = (desk.now(), SessionId(session as u32));
            let logon = desk.decoder.decode(b"8=FIX.4.4\x019=0\x0135=A\x01");
            desk.oms.on_logon(now, id, &logon, &mut desk.outbox);
            desk.turn();
        }
        desk
    }

    fn now(&self) -> Now {
        Now {
            wall: Timestamp(self.wall),
            mono: Mono(self.wall.unsigned_abs()),
        }
    }

    /// A session sends a message; the bodies of the messages that the client then gets.
    fn says(&mut self, from: usize, message: &str) -> Vec<String> {
        self.wall += 1_000_000;
        let bytes = format!("8=FIX.4.4|9=0|{message}").replace('|', "\x01");
        let (now, id) = (self.now(), SessionId(from as u32));
        let message = self.decoder.decode(bytes.as_bytes());
        let heard = self.oms.on_message(now, id, &message, &mut self.outbox);
        assert_eq!(heard, Ok(()));
        self.turn()
    }

    /// An operator reloads other keys of the user and the line group.
    fn reload(&mut self, user: &str, group: &str) {
        let new = NewSettings {
            rules: rules_of(user, group),
            kind: ReloadKind::Files,
            is_applied: false,
        };
        *self.slot.new.lock().unwrap() = Some(Box::new(new));
        let command = OperatorCommand {
            bytes: fixwire_oms::RELOAD,
            who: "ann",
            why: "why",
        };
        let mut answer = Vec::new();
        let now = self.now();
        let done = self
            .oms
            .on_command(now, command, &mut answer, &mut self.outbox);
        assert_eq!(done, Ok(()));
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.starts_with("reloaded: 1 change"), "{answer}");
        self.turn();
    }

    fn turn(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        loop {
            let now = self.now();
            let due = self.oms.on_time(now, &mut self.outbox);
            let entries = self.outbox.unsealed();
            told.extend(entries.filter_map(|at| {
                let entry = &self.outbox.entries()[at];
                let is_told = !entry.is_note() && entry.session == SessionId(CLIENT as u32);
                let body = String::from_utf8_lossy(self.outbox.body(at)).replace('\u{1}', "|");
                is_told.then_some(body)
            }));
            self.outbox.clear();
            if due.is_none_or(|due| due > now.mono) {
                return told;
            }
        }
    }
}

#[test]
fn data_that_could_be_read_as_fields_is_left_out() {
    let dictionary = with_own_data(Version::Fix44);
    for (carried, data, is_sent, counted) in [
        ("9501, 9502", "9501=3|9502=abc|", true, ""),
        (
            "9501, 9502",
            "9501=10|9502=a|39=2xxxx|",
            false,
            "9501: 1, 9502: 1",
        ),
        (
            "9502",
            "9501=10|9502=a|39=2xxxx|",
            false,
            "9501: 1, 9502: 1",
        ),
    ] {
        let mut desk = OwnDesk::new(&format!("report_carry = [{carried}]"), &dictionary);
        let order = ORDER.replace("38=10|", &format!("38={QUANTITY}|"));
        desk.says(CLIENT, &format!("35=D|11=A1|{order}"));
        desk.says(
            VENUE,
            &format!("35=8|{}", report(Version::Fix44, "0", 0, '1', "")),
        );
        let fill = report(Version::Fix44, "F", 1, '1', data);
        let told = desk.says(VENUE, &format!("35=8|{fill}"));
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0].contains("|9501="), is_sent, "{told:?}");
        assert_eq!(told[0].contains("|9502="), is_sent, "{told:?}");
        assert!(!told[0].contains("|39=2"), "{told:?}");
        let mut status = Vec::new();
        let asked = desk.oms.on_query(desk.now(), b"status", &mut status);
        assert_eq!(asked, Ok(()));
        let status = String::from_utf8(status).unwrap();
        assert_eq!(status.contains("9502: 1"), !is_sent, "{status}");
        assert!(status.contains(counted), "{status}");
    }
}

#[test]
fn a_reload_of_one_key_is_in_force_at_the_next_report() {
    let mut desk = OwnDesk::new("", &dictionary(Version::Fix44));
    let order = ORDER.replace("38=10|", &format!("38={QUANTITY}|"));
    desk.says(CLIENT, &format!("35=D|11=A1|{order}"));
    let fill = |desk: &mut OwnDesk, filled: u32| {
        let fill = report(Version::Fix44, "F", filled, '1', "636=N|30=XLON|");
        let told = desk.says(VENUE, &format!("35=8|{fill}"));
        let told = told.last().expect("a report");
        ["|636=N|", "|30=XLON|"].map(|field| told.contains(field))
    };
    assert_eq!(fill(&mut desk, 1), [false, true]);
    desk.reload("", "report_carry = [636]");
    assert_eq!(fill(&mut desk, 2), [true, true]);
    desk.reload("report_drop = [30]", "report_carry = [636]");
    assert_eq!(fill(&mut desk, 3), [true, false]);
    desk.reload("report_drop = [30]", "");
    assert_eq!(fill(&mut desk, 4), [false, false]);
    desk.reload("", "");
    assert_eq!(fill(&mut desk, 5), [false, true]);
}
