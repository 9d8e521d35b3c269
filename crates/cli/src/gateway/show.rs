//! The results for messages, as text and as JSON, and their totals.

use std::collections::BTreeMap;
use std::io::{self, Write};

use fixwire::gateway::rules::RejectKind;
use fixwire_protocol::readable::{self, Escaped, ReadableFields};
use fixwire_protocol::{Dictionary, Message, Tag};
use serde_json::{Value, json};

use super::result::{Leaves, Step, Told, Way, What};
use fixwire::gateway::LoadedGateway;

/// One message and its result.
pub struct Shown<'a> {
    pub loaded: &'a LoadedGateway,
    pub place: &'a str,
    pub source: usize,
    pub message: &'a Message<'a>,
    pub told: &'a Told,
}

impl Shown<'_> {
    /// Prints a block of lines, followed by an empty line.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let place = Escaped(self.place.as_bytes());
        let from = Escaped(self.name(self.source).as_bytes());
        let dictionary = &self.loaded.dictionaries[self.source];
        writeln!(
            out,
            "{place}  {from}  {}",
            kind(dictionary, self.message.msg_type())
        )?;
        line(out, "came", &ReadableFields(self.message).to_string())?;
        let mut steps = self.told.steps.iter().peekable();
        for &rule in &self.told.rules {
            // These are steps of rules that are skipped, because only a running gateway can decide their conditions.
            while let Some(step) = steps.next_if(|step| step.rule < rule) {
                self.untold(step, out)?;
            }
            line(
                out,
                "rule",
                &format!(
                    "{} (line {})",
                    self.rule(rule),
                    self.loaded.gateway.rules().line(rule).unwrap_or_default()
                ),
            )?;
            while let Some(step) = steps.next_if(|step| step.rule == rule) {
                self.step(&step.what, out)?;
            }
        }
        for step in steps {
            self.untold(step, out)?;
        }
        let ends = |what: &What| {
            !matches!(
                what,
                What::Count(_)
                    | What::Notify(_)
                    | What::Untold(_)
                    | What::Remember { .. }
                    | What::Forget
            )
        };
        if !self.told.decided {
            line(out, "unmatched", "no rule handles this message")?;
        } else if !self.told.steps.iter().any(|step| ends(&step.what)) {
            line(out, "stopped", "no further action")?;
        }
        writeln!(out)
    }

    fn untold(&self, step: &Step, out: &mut impl Write) -> io::Result<()> {
        let line_of = self.loaded.gateway.rules().line(step.rule);
        let (rule, at) = (self.rule(step.rule), line_of.unwrap_or_default());
        line(out, "skipped", &format!("{rule} (line {at})"))?;
        self.step(&step.what, out)
    }

    fn step(&self, what: &What, out: &mut impl Write) -> io::Result<()> {
        match what {
            What::Leaves(leaves) => {
                let (label, to) = self.way(leaves.to);
                let how = match &leaves.converted {
                    Some(version) => format!(", as {version}"),
                    None if leaves.converted_later => ", converted for that session".into(),
                    None => String::new(),
                };
                line(out, label, &format!("{to}{how}"))?;
                line(out, "", &fields(leaves))?;
                if !leaves.lost.is_empty() {
                    let dictionary = &self.loaded.dictionaries[self.source];
                    let lost = leaves.lost.iter();
                    let lost: Vec<String> = lost.map(|(tag, _)| field(dictionary, *tag)).collect();
                    line(out, "lost", &lost.join(", "))?;
                }
                Ok(())
            }
            What::NotSent { to, why } => {
                let (label, to) = self.way(*to);
                line(out, "failed", &format!("{label} {to}: {why}"))
            }
            What::Reject { kind, text } => line(
                out,
                "reject",
                &format!("{}{}", reject(*kind), Escaped(text)),
            ),
            What::Status => line(out, "answer", "status of the sessions"),
            What::Connect(session) => line(out, "connect", self.name(*session)),
            What::Remember { id, fields } => {
                let id = Escaped(id);
                line(
                    out,
                    "remember",
                    &format!("for {id}: {}", listed(fields).join("|")),
                )
            }
            What::Forget => line(out, "forget", "values remembered for the order"),
            What::Disconnect(session) => line(out, "disconnect", self.name(*session)),
            What::Count(name) => line(out, "count", name),
            What::Notify(text) => line(out, "notify", &Escaped(text).to_string()),
            What::Throttled(rejects) => line(
                out,
                "throttled",
                match rejects {
                    true => "the source gets a reject",
                    false => "the message is dropped",
                },
            ),
            What::Untold(why) => line(out, "failed", &format!("condition: {why}")),
            What::Failed { action, why } => {
                line(out, "failed", &format!("action {}: {why}", action + 1))
            }
        }
    }

    /// The message and its result, as one JSON object.
    pub fn json(&self) -> Value {
        let rules =
            self.told.rules.iter().map(
                |rule| json!({ "name": self.rule(*rule), "line": self.loaded.gateway.rules().line(*rule) }),
            );
        let steps = self.told.steps.iter().map(|step| {
            let mut object = self.step_json(&step.what);
            object["rule"] = json!(self.rule(step.rule));
            object
        });
        json!({
            "at": self.place,
            "from": self.name(self.source),
            "msgType": text(self.message.msg_type()),
            "message": ReadableFields(self.message).to_string(),
            "decided": self.told.decided,
            "rules": rules.collect::<Vec<_>>(),
            "outcomes": steps.collect::<Vec<_>>(),
        })
    }

    fn step_json(&self, what: &What) -> Value {
        match what {
            What::Leaves(leaves) => {
                let lost = leaves
                    .lost
                    .iter()
                    .map(|(tag, count)| (tag.to_string(), json!(count)));
                let (what, to) = self.way_json(leaves.to);
                json!({
                    "do": what,
                    "to": to,
                    "converted": leaves.converted,
                    "convertedLater": leaves.converted_later,
                    "msgType": text(&leaves.msg_type),
                    "fields": pairs(&leaves.fields),
                    "lost": lost.collect::<serde_json::Map<_, _>>(),
                })
            }
            What::NotSent { to, why } => {
                let (what, to) = self.way_json(*to);
                json!({ "do": "fail", "wanted": what, "to": to, "why": why })
            }
            What::Reject { kind, text } => {
                json!({ "do": "reject", "kind": reject(*kind).trim_end_matches(": "), "text": self::text(text) })
            }
            What::Status => json!({ "do": "answer", "what": "status" }),
            What::Connect(session) => {
                json!({ "do": "connect", "session": self.name(*session) })
            }
            What::Remember { id, fields } => {
                json!({ "do": "remember", "order": text(id), "fields": pairs(fields) })
            }
            What::Forget => json!({ "do": "forget" }),
            What::Disconnect(session) => {
                json!({ "do": "disconnect", "session": self.name(*session) })
            }
            What::Count(name) => json!({ "do": "count", "counter": name }),
            What::Notify(text) => json!({ "do": "notify", "text": self::text(text) }),
            What::Throttled(rejects) => json!({ "do": "throttle", "rejects": rejects }),
            What::Untold(why) => json!({ "do": "fail", "why": why }),
            What::Failed { action, why } => {
                json!({ "do": "fail", "action": action + 1, "why": why })
            }
        }
    }

    fn name(&self, session: usize) -> &str {
        &self.loaded.names[session]
    }

    fn rule(&self, rule: usize) -> &str {
        self.loaded.gateway.rules().name(rule).unwrap_or_default()
    }

    fn way(&self, way: Way) -> (&'static str, String) {
        match way {
            Way::Send(to) => ("send", self.name(to).to_owned()),
            Way::Copy(to) => ("copy", self.name(to).to_owned()),
            Way::Return => ("return", "back to the requester".to_owned()),
        }
    }

    fn way_json(&self, way: Way) -> (&'static str, Option<&str>) {
        match way {
            Way::Send(to) => ("send", Some(self.name(to))),
            Way::Copy(to) => ("copy", Some(self.name(to))),
            Way::Return => ("return", None),
        }
    }
}

/// Prints a line of a block: a label in a column of its own, and a text.
fn line(out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {label:10}  {}", Escaped(text.as_bytes()))
}

/// The fields as sent, such as `35=D|11=A1|`, without the fields that the session sets.
fn fields(leaves: &Leaves) -> String {
    let mut shown = vec![format!("35={}", Escaped(&leaves.msg_type))];
    shown.extend(listed(&leaves.fields));
    shown.join("|")
}

/// Each field as text, such as `11=A1`.
fn listed(fields: &[(Tag, Vec<u8>)]) -> Vec<String> {
    let shown =
        |(tag, value): &(Tag, Vec<u8>)| format!("{tag}={}", readable::ReadableValue(*tag, value));
    fields.iter().map(shown).collect()
}

fn pairs(fields: &[(Tag, Vec<u8>)]) -> Vec<Value> {
    let pair = |(tag, value): &(Tag, Vec<u8>)| {
        json!([tag, readable::ReadableValue(*tag, value).to_string()])
    };
    fields.iter().map(pair).collect()
}

fn text(bytes: &[u8]) -> String {
    Escaped(bytes).to_string()
}

/// The name of a message type, such as `NewOrderSingle(D)`.
fn kind(dictionary: &Dictionary, msg_type: &[u8]) -> String {
    let name = dictionary
        .message(msg_type)
        .map_or("message", |known| known.name());
    format!("{}({})", Escaped(name.as_bytes()), Escaped(msg_type))
}

/// The name of a field, such as `ClOrdID(11)`.
fn field(dictionary: &Dictionary, tag: Tag) -> String {
    match dictionary.field(tag) {
        _ if tag == 0 => "others".to_owned(),
        Some(known) => format!("{}({tag})", known.name),
        None => tag.to_string(),
    }
}

/// The message type of the reject, and the separator before its text.
fn reject(kind: RejectKind) -> &'static str {
    match kind {
        RejectKind::Fitting => "",
        RejectKind::Session => "Reject(3): ",
        RejectKind::Business => "BusinessMessageReject(j): ",
        RejectKind::Order => "order: ",
    }
}

/// Totals over all messages.
pub struct Summary {
    messages: u64,
    /// Number of messages that each rule matched, by rule index.
    matched: Vec<u64>,
    unmatched: u64,
    failed: u64,
    lost: BTreeMap<Tag, u64>,
    /// Number of lines without a message.
    pub other_lines: u64,
    /// Number of unreadable messages, and of messages that belong to no session.
    pub bad: u64,
    /// Number of messages that one of the file's sessions sent.
    pub outgoing: u64,
    /// Number of session messages.
    pub of_session: u64,
}

impl Summary {
    pub fn new(loaded: &LoadedGateway) -> Self {
        Self {
            messages: 0,
            matched: vec![0; loaded.gateway.rules().len()],
            unmatched: 0,
            failed: 0,
            lost: BTreeMap::new(),
            other_lines: 0,
            bad: 0,
            outgoing: 0,
            of_session: 0,
        }
    }

    /// Counts a message.
    pub fn add(&mut self, told: &Told) {
        self.messages += 1;
        for rule in &told.rules {
            self.matched[*rule] += 1;
        }
        self.unmatched += u64::from(!told.decided);
        let mut steps = told.steps.iter().map(|step| &step.what);
        self.failed += u64::from(steps.any(What::is_failure));
        for step in &told.steps {
            if let What::Leaves(leaves) = &step.what {
                for (tag, count) in &leaves.lost {
                    *self.lost.entry(*tag).or_default() += count;
                }
            }
        }
    }

    /// Whether every message was decided, and no action failed.
    pub fn is_good(&self) -> bool {
        self.unmatched == 0 && self.failed == 0
    }

    /// Prints one line for each total. A total of zero is printed only where it matters.
    pub fn print(&self, loaded: &LoadedGateway, out: &mut impl Write) -> io::Result<()> {
        let mut rows = vec![("messages".to_owned(), self.messages)];
        for (rule, count) in self.matched.iter().enumerate() {
            let name = loaded.gateway.rules().name(rule).unwrap_or_default();
            rows.push((format!("  matched {}", Escaped(name.as_bytes())), *count));
        }
        rows.push(("unmatched".into(), self.unmatched));
        rows.push(("failed".into(), self.failed));
        for (tag, count) in &self.lost {
            let known = loaded.dictionaries.iter();
            let name = known.map(|one| field(one, *tag)).max_by_key(String::len);
            rows.push((format!("lost {}", name.unwrap_or_default()), *count));
        }
        let passed_over = self
            .passed_over()
            .into_iter()
            .filter(|(_, count)| *count > 0);
        rows.extend(passed_over.map(|(what, count)| (format!("skipped: {what}"), count)));
        let width = rows.iter().map(|(what, _)| what.len()).max().unwrap_or(0);
        for (what, count) in rows {
            writeln!(out, "{what:width$}  {count:>8}")?;
        }
        Ok(())
    }

    fn passed_over(&self) -> [(&'static str, u64); 4] {
        [
            ("bad messages", self.bad),
            ("lines without a message", self.other_lines),
            ("messages of the session layer", self.of_session),
            ("outgoing messages", self.outgoing),
        ]
    }

    /// The totals, as one JSON object.
    pub fn json(&self, loaded: &LoadedGateway) -> Value {
        let matched = self.matched.iter().enumerate();
        let matched = matched.map(|(rule, count)| {
            (
                loaded
                    .gateway
                    .rules()
                    .name(rule)
                    .unwrap_or_default()
                    .to_owned(),
                json!(count),
            )
        });
        let lost = self.lost.iter();
        let lost = lost.map(|(tag, count)| (tag.to_string(), json!(count)));
        json!({
            "messages": self.messages,
            "matched": matched.collect::<serde_json::Map<_, _>>(),
            "unmatched": self.unmatched,
            "failed": self.failed,
            "lost": lost.collect::<serde_json::Map<_, _>>(),
            "bad": self.bad,
            "otherLines": self.other_lines,
            "ofSession": self.of_session,
            "outgoing": self.outgoing,
        })
    }
}
