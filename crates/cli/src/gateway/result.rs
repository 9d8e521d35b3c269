//! The effect of rules on one message, without sessions: outcomes, conversions, losses.

use std::collections::BTreeMap;

use fixwire::EngineConfig;
use fixwire::gateway::convert::Conversion;
use fixwire::gateway::orders::known::answers;
use fixwire::gateway::rules::{Facts, RejectKind, RuleOutcome, RuleScratch};
use fixwire::gateway::{Draft, Rules};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{BodyError, Message, Outbox, SOH, Session, SessionId, Tag, tag};

use fixwire::gateway::LoadedGateway;

/// The result for one message.
pub struct Told {
    /// The rules that applied, by index.
    pub rules: Vec<usize>,
    /// Actions of the rules, in order.
    pub steps: Vec<Step>,
    /// Whether one of the rules has decided what happens to the message.
    pub decided: bool,
}

/// An action of a rule.
pub struct Step {
    /// The rule, by index.
    pub rule: usize,
    /// The action.
    pub what: What,
}

/// An outcome of an action.
pub enum What {
    /// A message is sent.
    Leaves(Box<Leaves>),
    /// A message is not sent because it cannot be converted or written.
    NotSent {
        /// Destination of the message.
        to: Way,
        /// The reason.
        why: String,
    },
    /// The source gets a reject.
    Reject {
        /// The kind of the reject.
        kind: RejectKind,
        /// Text(58) of the reject.
        text: Vec<u8>,
    },
    /// The source receives the logon state of sessions.
    Status,
    /// A session is enabled.
    Connect(usize),
    /// Fields are remembered for an order.
    Remember {
        /// The ClOrdID.
        id: Vec<u8>,
        /// The fields that have a value.
        fields: Vec<(Tag, Vec<u8>)>,
    },
    /// The remembered fields of the order are removed.
    Forget,
    /// A session is disabled and logs out.
    Disconnect(usize),
    /// A counter is incremented.
    Count(String),
    /// The operator gets this text as an event.
    Notify(Vec<u8>),
    /// The limit of a throttle was exceeded, according to the times in the log. The value is true if the source gets a
    /// reject.
    Throttled(bool),
    /// The script of a condition failed, so the condition counts as false. The value is the error.
    Untold(String),
    /// An action failed.
    Failed {
        /// Index of the action in the rule.
        action: usize,
        /// The reason.
        why: String,
    },
}

/// The destination of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Way {
    /// The message goes to a session.
    Send(usize),
    /// A copy of the message goes to a session.
    Copy(usize),
    /// The message goes back to the requesting session, which only a running gateway knows.
    Return,
}

/// A message to be sent.
pub struct Leaves {
    /// Destination of the message.
    pub to: Way,
    /// The FIX version after the conversion; `None` when the message is not converted.
    pub converted: Option<&'static str>,
    /// Whether the message needs a conversion to a version that only a running gateway knows.
    pub converted_later: bool,
    /// MsgType(35).
    pub msg_type: Vec<u8>,
    /// Fields of the message, except those that each session sets.
    pub fields: Vec<(Tag, Vec<u8>)>,
    /// The fields that the conversion loses, and how often it loses them. Tag 0 stands for tags that no dictionary has.
    pub lost: Vec<(Tag, u64)>,
}

impl What {
    /// Whether something failed.
    pub fn is_failure(&self) -> bool {
        matches!(
            self,
            Self::Failed { .. } | Self::Untold(_) | Self::NotSent { .. }
        )
    }
}

/// Rules, with the memory that messages need.
pub struct RulesTrial<'l> {
    rules: &'l Rules,
    scratch: RuleScratch,
    converter: Converter<'l>,
    memory: Memory,
}

impl<'l> RulesTrial<'l> {
    /// Rules whose messages an engine with this configuration would send.
    pub fn new(loaded: &'l LoadedGateway, config: &EngineConfig) -> Self {
        Self {
            rules: loaded.gateway.rules(),
            scratch: RuleScratch::default(),
            converter: Converter {
                loaded,
                clients: versions_of_clients(loaded),
                made: BTreeMap::new(),
                outbox: outbox(config),
            },
            memory: Memory::default(),
        }
    }

    /// The result for a message of a session, given by its index.
    pub fn message(&mut self, message: &Message<'_>, source: usize, facts: &Facts<'_>) -> Told {
        let (rules, converter, memory) = (self.rules, &mut self.converter, &mut self.memory);
        let (mut applied, mut steps) = (Vec::new(), Vec::new());
        let answered = memory.answered(message);
        let remembered = answered.as_ref().map_or(Vec::new(), |id| memory.recall(id));
        let facts = &Facts {
            remembered: &remembered,
            ..*facts
        };
        let evaluated = rules.explain(
            &mut self.scratch,
            message,
            source,
            facts,
            &mut |rule| applied.push(rule),
            &mut |rule, outcome| {
                memory.note(answered.as_deref(), &outcome);
                steps.push(step(rules, converter, source, rule, outcome));
            },
        );
        Told {
            rules: applied,
            steps,
            decided: evaluated.decided,
        }
    }
}

fn step(
    rules: &Rules,
    converter: &mut Converter<'_>,
    source: usize,
    rule: usize,
    outcome: RuleOutcome<'_>,
) -> Step {
    let mut leaves = |to, draft: &mut Draft, convert| converter.leaves(source, to, draft, convert);
    let what = match outcome {
        RuleOutcome::Send { to, draft, convert } => leaves(Way::Send(to), draft, convert),
        RuleOutcome::Copy { to, draft, convert } => leaves(Way::Copy(to), draft, convert),
        RuleOutcome::Return { draft, convert } => leaves(Way::Return, draft, convert),
        RuleOutcome::Reject { kind, text } => What::Reject {
            kind,
            text: text.to_vec(),
        },
        RuleOutcome::Status => What::Status,
        RuleOutcome::Connect(session) => What::Connect(session),
        RuleOutcome::Remember { id, fields, .. } => What::Remember {
            id: id.to_vec(),
            fields: split(fields).filter(has_value).collect(),
        },
        RuleOutcome::Forget(_) => What::Forget,
        RuleOutcome::Disconnect(session) => What::Disconnect(session),
        RuleOutcome::Count(counter) => {
            let name = rules.counters().get(counter);
            What::Count(name.cloned().unwrap_or_default())
        }
        RuleOutcome::Notify(text) => What::Notify(text.to_vec()),
        RuleOutcome::Throttled { reject, .. } => What::Throttled(reject),
        RuleOutcome::Untold(failure) => What::Untold(failure.to_string()),
        RuleOutcome::Failed { action, failure } => What::Failed {
            action,
            why: failure.to_string(),
        },
    };
    Step { rule, what }
}

/// Remembered fields, by ClOrdID(11) alone, because only a running gateway knows the session of an order.
#[derive(Default)]
struct Memory(BTreeMap<Vec<u8>, BTreeMap<Tag, Vec<u8>>>);

impl Memory {
    /// The ClOrdID(11) of the order that a message answers, if fields are remembered for the order.
    fn answered(&self, message: &Message<'_>) -> Option<Vec<u8>> {
        let ids = [tag::CL_ORD_ID, tag::ORIG_CL_ORD_ID].into_iter();
        let mut ids = ids.filter_map(|tag| message.get(tag));
        let id = ids.find(|id| self.0.contains_key(*id))?;
        answers(message.msg_type()).then(|| id.to_vec())
    }

    /// The fields in the form of [`Facts::remembered`].
    fn recall(&self, id: &[u8]) -> Vec<u8> {
        let fields = self.0.get(id).into_iter().flatten();
        let fields =
            fields.map(|(tag, value)| [format!("{tag}=").as_bytes(), value, &[SOH]].concat());
        fields.collect::<Vec<_>>().concat()
    }

    fn note(&mut self, answered: Option<&[u8]>, outcome: &RuleOutcome<'_>) {
        match outcome {
            RuleOutcome::Remember { id, fields, .. } => {
                let id = answered.unwrap_or(id);
                let known = self.0.entry(id.to_vec()).or_default();
                known.extend(split(fields));
                known.retain(|_, value| !value.is_empty());
                if known.is_empty() {
                    self.0.remove(id);
                }
            }
            RuleOutcome::Forget(id) => {
                self.0.remove(answered.or(*id).unwrap_or_default());
            }
            _ => {}
        }
    }
}

/// The fields of a text that has each field as `tag=value` and SOH.
fn split(fields: &[u8]) -> impl Iterator<Item = (Tag, Vec<u8>)> {
    fields.split(|byte| *byte == SOH).filter_map(|field| {
        let (tag, value) = field.split_at(field.iter().position(|byte| *byte == b'=')?);
        let tag = str::from_utf8(tag).ok()?.parse().ok()?;
        Some((tag, value[1..].to_vec()))
    })
}

fn has_value((_, value): &(Tag, Vec<u8>)) -> bool {
    !value.is_empty()
}

/// Conversions between the versions of sessions, created on first use, and the limits of the messages that result.
struct Converter<'l> {
    loaded: &'l LoadedGateway,
    clients: Vec<Option<Version>>,
    /// The conversions, by both versions; `None` when no conversion exists.
    made: BTreeMap<(Version, Version), Option<Conversion>>,
    /// An outbox that refuses the messages that the engine would refuse.
    outbox: Outbox,
}

impl Converter<'_> {
    fn leaves(&mut self, source: usize, to: Way, draft: &mut Draft, convert: bool) -> What {
        let from = self.loaded.versions[source];
        let version = match to {
            Way::Send(target) | Way::Copy(target) => Some(self.loaded.versions[target]),
            Way::Return => self.clients[source],
        };
        let (mut converted, mut lost) = (None, Vec::new());
        if let Some(version) = version.filter(|version| convert && *version != from) {
            match self.convert(from, version, draft) {
                Ok(all) => (converted, lost) = (Some(version.name()), all),
                Err(why) => return What::NotSent { to, why },
            }
        }
        if let Err(error) = self.write(draft) {
            let why = error.to_string();
            return What::NotSent { to, why };
        }
        let fields = (0..draft.len()).map(|at| (draft.tag(at), draft.value(at).to_vec()));
        What::Leaves(Box::new(Leaves {
            to,
            converted,
            converted_later: convert && version.is_none(),
            msg_type: draft.msg_type().to_vec(),
            fields: fields.collect(),
            lost,
        }))
    }

    /// Writes a message as the gateway does, to find out whether its engine sends the message.
    fn write(&mut self, draft: &mut Draft) -> Result<(), BodyError> {
        let mut body = self.outbox.begin(SessionId(0), draft.msg_type());
        draft.write(&mut body);
        let written = body.finish();
        self.outbox.clear();
        written
    }

    /// Converts a message; returns the fields that the conversion loses.
    fn convert(
        &mut self,
        from: Version,
        to: Version,
        draft: &mut Draft,
    ) -> Result<Vec<(Tag, u64)>, String> {
        let make = || self.loaded.gateway.conversion(from, to).cloned();
        let conversion = self.made.entry((from, to)).or_insert_with(make).as_mut();
        let no_way = || format!("no conversion from {} to {}", from.name(), to.name());
        let conversion = conversion.ok_or_else(no_way)?;
        let mut losses = conversion.losses();
        let converted = conversion.convert(draft, &mut losses);
        converted.map_err(|error| error.to_string())?;
        let others = Some((0, losses.others())).filter(|(_, count)| *count > 0);
        Ok(losses.iter().chain(others).collect())
    }
}

/// An outbox with room for one message, and with the limits of an engine.
fn outbox(config: &EngineConfig) -> Outbox {
    let sessions = config.sessions.iter();
    let rooms = sessions.map(|it| Session::new(SessionId(0), it.session.clone()).header_room());
    let header_room = rooms.max().unwrap_or_default();
    Outbox::new(2 * config.max_message, 1, header_room).with_max_message(config.max_message)
}

/// For each session, the version of the sessions from which rules send messages to it; `None` if these have different
/// versions.
fn versions_of_clients(loaded: &LoadedGateway) -> Vec<Option<Version>> {
    let mut clients: Vec<Vec<Version>> = vec![Vec::new(); loaded.names.len()];
    loaded.gateway.rules().ways(&mut |way| {
        if let Some(to) = way.to {
            clients[to].push(loaded.versions[way.from]);
        }
    });
    let one = |versions: Vec<Version>| {
        let first = *versions.first()?;
        versions.iter().all(|one| *one == first).then_some(first)
    };
    clients.into_iter().map(one).collect()
}
