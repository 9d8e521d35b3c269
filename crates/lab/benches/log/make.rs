//! The log that is measured: orders and their reports, as a text and as a journal.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use fixwire::journal::{Cause, Directory, Effect, Journal, JournalConfig, JournalId, RecordKind};
use fixwire_protocol::Timestamp;
use fixwire_protocol::frame::check_sum;

/// 2026-11-20 08:00:00 UTC, nanoseconds.
const EIGHT: u64 = 1_795_161_600_000_000_000;
/// Time between two messages.
const STEP: u64 = 2_500;
/// The order that is replaced three times.
pub const CHAIN: [&str; 4] = ["R1-000001", "R1-000002", "R1-000003", "R1-000004"];
/// Messages of that order.
const CHAIN_STEPS: u64 = 9;

/// What [`make`] wrote.
pub struct MadeLog {
    pub text_bytes: u64,
    pub journal_bytes: u64,
    /// The ClOrdID of an order in the middle.
    pub id: String,
}

/// Writes the text log and the journal with this number of messages.
pub struct LogMaker {
    text: BufWriter<File>,
    journal: Journal<Directory>,
    session: JournalId,
    messages: u64,
    text_bytes: u64,
    /// MsgSeqNum of the client and of the broker.
    numbers: [u64; 2],
    body: Vec<u8>,
    message: Vec<u8>,
}

impl LogMaker {
    /// Makes `large.log` and the journal `store` in a folder.
    ///
    /// # Errors
    ///
    /// A sentence that says what could not be written.
    pub fn make(folder: &Path, messages: u64) -> Result<MadeLog, String> {
        let name = folder.join("FIX.4.4-BROKER-CLIENT.messages.current.log");
        let file = File::create(&name).map_err(|error| format!("{}: {error}", name.display()))?;
        let store = folder.join("store");
        let directory = Directory::open(&store).map_err(|error| error.to_string())?;
        let opened = Journal::open(directory, JournalConfig::default());
        let (mut journal, _) = opened.map_err(|error| error.to_string())?;
        let session = journal
            .register(Timestamp(EIGHT as i64), "FIX.4.4:BROKER->CLIENT")
            .map_err(|error| error.to_string())?;
        let mut maker = Self {
            text: BufWriter::with_capacity(1 << 20, file),
            journal,
            session,
            messages: 0,
            text_bytes: 0,
            numbers: [1; 2],
            body: Vec::new(),
            message: Vec::new(),
        };
        maker.run(messages)?;
        maker.text.flush().map_err(|error| error.to_string())?;
        let text_bytes = maker.text_bytes;
        drop(maker);
        let entries = std::fs::read_dir(&store).map_err(|error| error.to_string())?;
        let lengths = entries
            .flatten()
            .map(|it| it.metadata().map_or(0, |it| it.len()));
        Ok(MadeLog {
            text_bytes,
            journal_bytes: lengths.sum(),
            id: id_of(messages / 6),
        })
    }

    fn run(&mut self, messages: u64) -> Result<(), String> {
        let (mut order, mut step) = (0, 0);
        while self.messages + 4 <= messages || step < CHAIN_STEPS {
            // The order that is replaced has its messages all over the log.
            let written = if self.messages >= messages / CHAIN_STEPS * step && step < CHAIN_STEPS {
                step += 1;
                self.chain(step - 1)
            } else {
                order += 1;
                self.order(order - 1)
            };
            written.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn order(&mut self, order: u64) -> io::Result<()> {
        let id = id_of(order);
        let (symbol, account) = (order * 7 % 90, order % 40);
        let record = self.begin(
            0,
            'D',
            format_args!(
                "11={id}|1=ACCT-{account:02}|21=1|55=SYM{symbol:02}.L|54=1|38=1000|40=2|44=101.25|59=0|"
            ),
        );
        let new = self.begin(
            1,
            '8',
            format_args!(
                "37=O{order:08}|11={id}|17=E{order:08}-1|150=0|39=0|55=SYM{symbol:02}.L|54=1|38=1000|151=1000|14=0|6=0|"
            ),
        );
        self.write(&record, &[new])?;
        // Some orders stay open.
        if !order.is_multiple_of(5) {
            let fill = self.begin(
                1,
                '8',
                format_args!(
                    "37=O{order:08}|11={id}|17=E{order:08}-2|150=F|39=2|55=SYM{symbol:02}.L|54=1|38=1000|32=1000|31=101.25|151=0|14=1000|6=101.25|"
                ),
            );
            let heartbeat = self.begin(0, '0', format_args!(""));
            self.write(&heartbeat, &[fill])?;
        }
        Ok(())
    }

    /// A step of the order that is replaced three times.
    fn chain(&mut self, step: u64) -> io::Result<()> {
        let (own, before) = (CHAIN[(step / 2).min(3) as usize], (step / 2).checked_sub(1));
        let original = before.map_or(String::new(), |at| {
            format!("41={}|", CHAIN[at as usize % 4])
        });
        let (from, kind, more) = match (step, step % 2) {
            (0, _) => (0, 'D', String::new()),
            (8, _) => (
                1,
                '8',
                "37=OR1|17=ER1-9|150=F|39=2|32=10|31=1|151=0|14=10|6=1|".to_owned(),
            ),
            (_, 0) => (0, 'G', original),
            (1, _) => (
                1,
                '8',
                "37=OR1|17=ER1-1|150=0|39=0|151=10|14=0|6=0|".to_owned(),
            ),
            _ => (
                1,
                '8',
                format!("{original}37=OR1|17=ER1-{step}|150=5|39=0|151=10|14=0|6=0|"),
            ),
        };
        let message = self.begin(
            from,
            kind,
            format_args!("11={own}|{more}55=VOD.L|54=1|38=10|40=2|44=1.5|"),
        );
        match from {
            0 => self.write(&message, &[]),
            _ => {
                let heartbeat = self.begin(0, '0', format_args!(""));
                self.write(&heartbeat, &[message])
            }
        }
    }

    /// A message of the client (0) or the broker (1).
    fn begin(&mut self, from: usize, kind: char, fields: std::fmt::Arguments<'_>) -> Vec<u8> {
        let number = self.numbers[from];
        self.numbers[from] += 1;
        let (sender, target) = [("CLIENT", "BROKER"), ("BROKER", "CLIENT")][from];
        let millis = (self.messages * STEP + EIGHT) / 1_000_000 % 86_400_000;
        let (hour, minute) = (millis / 3_600_000, millis / 60_000 % 60);
        let (second, milli) = (millis / 1_000 % 60, millis % 1_000);
        self.body.clear();
        let stamp =
            format_args!("20261120-{hour:02}:{minute:02}:{second:02}.{milli:03}").to_string();
        // Writing to memory cannot fail.
        let _ = write!(
            self.body,
            "35={kind}|34={number}|49={sender}|52={stamp}|56={target}|{fields}"
        );
        if kind != '0' {
            let _ = write!(self.body, "60={stamp}|");
        }
        for byte in self.body.iter_mut().filter(|byte| **byte == b'|') {
            *byte = 1;
        }
        self.message.clear();
        let _ = write!(self.message, "8=FIX.4.4\x019={}\x01", self.body.len());
        self.message.extend_from_slice(&self.body);
        let sum = check_sum(&self.message);
        let _ = write!(self.message, "10={sum:03}\x01");
        self.messages += 1;
        self.message.clone()
    }

    /// Writes a message and the messages that it caused to the log and the journal.
    fn write(&mut self, cause: &[u8], effects: &[Vec<u8>]) -> io::Result<()> {
        let wall = self.messages * STEP + EIGHT;
        let seq = self.numbers[1] - effects.len() as u64;
        for (at, message) in std::iter::once(cause)
            .chain(effects.iter().map(Vec::as_slice))
            .enumerate()
        {
            let nanos = wall + at as u64;
            let day = nanos % 86_400_000_000_000;
            let seconds = day / 1_000_000_000;
            let (hour, minute) = (seconds / 3600, seconds / 60 % 60);
            let (second, nanos) = (seconds % 60, nanos % 1_000_000_000);
            let head = format!("20261120-{hour:02}:{minute:02}:{second:02}.{nanos:09} : ");
            self.text.write_all(head.as_bytes())?;
            self.text.write_all(message)?;
            self.text.write_all(b"\n")?;
            self.text_bytes += (head.len() + message.len() + 1) as u64;
        }
        let recorded = Cause {
            session: self.session,
            kind: RecordKind::Message,
            inbound: Some(cause),
            next_in: self.numbers[0],
            next_out: self.numbers[1],
            epoch: 0,
        };
        let parts = effects.iter().enumerate().map(|(at, bytes)| Effect {
            session: self.session,
            seq: seq + at as u64,
            bytes,
        });
        let appended = self.journal.append(Timestamp(wall as i64), recorded, parts);
        appended.map_err(|error| io::Error::other(error.to_string()))?;
        self.journal.idle_work();
        Ok(())
    }
}

/// The ClOrdID of an order.
fn id_of(order: u64) -> String {
    format!("A{order:08}")
}
