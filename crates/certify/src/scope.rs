//! [`CaseScope`]: the ids, variables, messages and orders that the steps of a case know.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use fixwire_client::{Instruction, MessageFields, OrderLayout, OrderSubject, Which};
use fixwire_protocol::decimal::compare_floats;
use fixwire_protocol::{Tag, Timestamp, tag};

use crate::field_names::FieldNames;
use crate::ids::IdMaker;
use crate::masking::{Secrets, is_secret};
use crate::plan::{MessagePattern, Outgoing};
use crate::tmp::fields;
use crate::value::{ExpectedValue, SentValue, fits};
use crate::wire_message::{TextFields, value};

/// An order that was sent in this case.
#[derive(Clone, Debug)]
struct KnownOrder {
    ids: Vec<String>,
    order_id: String,
    fields: MessageFields,
}

/// The state of one round of a case. A round is one repetition of a case (`repeat`).
#[derive(Clone, Debug)]
pub(crate) struct CaseScope {
    /// Number of the round, counted over all cases. The ids made in the round belong to this number.
    owner: u64,
    variables: BTreeMap<String, String>,
    /// Messages sent and received, by step.
    messages: BTreeMap<usize, TextFields>,
    orders: Vec<KnownOrder>,
    last: Option<String>,
    /// Secret values of variables.
    secrets: Secrets,
}

impl CaseScope {
    pub(crate) fn new(owner: u64) -> Self {
        Self {
            owner,
            variables: BTreeMap::new(),
            messages: BTreeMap::new(),
            orders: Vec::new(),
            last: None,
            secrets: Secrets::default(),
        }
    }

    /// Values that are masked in all displayed texts.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    pub(crate) fn owner(&self) -> u64 {
        self.owner
    }

    /// Stores the message of a step, so that later steps can refer to it by `@N`.
    pub(crate) fn keep(&mut self, step: usize, fields: TextFields) {
        self.messages.insert(step, fields);
    }

    /// Stores the OrderID(37) of a report.
    pub(crate) fn learn(&mut self, report: &[(Tag, String)]) {
        let Some(order_id) = value(report, tag::ORDER_ID) else {
            return;
        };
        let ids = [tag::CL_ORD_ID, tag::ORIG_CL_ORD_ID];
        let ids: Vec<&str> = ids.iter().filter_map(|tag| value(report, *tag)).collect();
        let is_named =
            |order: &&mut KnownOrder| order.ids.iter().any(|id| ids.contains(&id.as_str()));
        // The answer to a cancel of an unknown order may have OrderID NONE.
        if let Some(order) = self.orders.iter_mut().find(is_named)
            && order_id != "NONE"
        {
            order_id.clone_into(&mut order.order_id);
        }
    }

    /// The text of a value to send; `None` when the field must be left out of the message.
    fn resolve(
        &mut self,
        tag: Tag,
        sent: &SentValue,
        ids: &mut IdMaker,
        time: &mut dyn FnMut(i64) -> String,
    ) -> Result<Option<String>, String> {
        Ok(Some(match sent {
            SentValue::Text(text) => text.clone(),
            SentValue::Now(offset) => time(*offset),
            SentValue::LeftOut => return Ok(None),
            SentValue::Variable(name) => {
                let owner = self.owner;
                let known = self.variables.entry(name.clone());
                known.or_insert_with(|| ids.make_for(tag, owner)).clone()
            }
            SentValue::SameAs(step) => self.same(tag, *step)?.to_owned(),
        }))
    }

    fn same(&self, tag: Tag, step: usize) -> Result<&str, String> {
        let message = self.messages.get(&step);
        let found = message.and_then(|message| value(message, tag));
        found.ok_or_else(|| match fields::name_of(tag) {
            Some(name) => format!("the message of step {step} has no {name}"),
            None => format!("the message of step {step} has no tag {tag}"),
        })
    }

    /// The fields of a message to send, and the fields to leave out.
    pub(crate) fn fields(
        &mut self,
        fields: &[(Tag, SentValue)],
        ids: &mut IdMaker,
        time: &mut dyn FnMut(i64) -> String,
    ) -> Result<(TextFields, Vec<Tag>), String> {
        let (mut all, mut left_out) = (Vec::new(), Vec::new());
        for (tag, sent) in fields {
            match self.resolve(*tag, sent, ids, time)? {
                Some(text) => all.push((*tag, text)),
                None => left_out.push(*tag),
            }
        }
        Ok((all, left_out))
    }

    /// Makes the message of a step.
    pub(crate) fn compose(
        &mut self,
        outgoing: &Outgoing,
        ids: &mut IdMaker,
        layout: Option<&mut OrderLayout>,
        at: Timestamp,
        time: &mut dyn FnMut(i64) -> String,
    ) -> Result<(TextFields, Vec<Tag>), String> {
        let (instruction, layout) = match (outgoing, layout) {
            (Outgoing::Fields(fields), _) => return self.fields(fields, ids, time),
            (Outgoing::Command(instruction), Some(layout)) => (instruction, layout),
            (Outgoing::Command(_), None) => {
                return Err("commands of the order client are for FIX only".to_owned());
            }
        };
        let (which, given) = match &**instruction {
            Instruction::New(fields) => (None, fields),
            Instruction::Cancel { which, fields }
            | Instruction::Replace { which, fields }
            | Instruction::Status { which, fields } => (Some(which), fields),
            _ => return Err("the step does not send a request".to_owned()),
        };
        let mut message = MessageFields::new(&given.msg_type);
        let mut left_out = Vec::new();
        for (tag, text) in &given.fields {
            let sent = SentValue::parse(text)?;
            match self.resolve(*tag, &sent, ids, time)? {
                Some(text) => message.fields.push((*tag, text)),
                None => left_out.push(*tag),
            }
        }
        let fields = self.complete(&message, which, ids, layout, at)?;
        let typed = (tag::MSG_TYPE, message.msg_type.clone());
        Ok((std::iter::once(typed).chain(fields).collect(), left_out))
    }

    fn complete(
        &mut self,
        message: &MessageFields,
        which: Option<&Which>,
        ids: &mut IdMaker,
        layout: &mut OrderLayout,
        at: Timestamp,
    ) -> Result<TextFields, String> {
        let owner = self.owner;
        let msg_type = message.msg_type.as_str();
        let is_status = msg_type == "H";
        let own_id = match message.get(tag::CL_ORD_ID) {
            Some(id) => Some(id.to_owned()),
            None => (!is_status).then(|| ids.make(owner)),
        };
        let target = which.map(|which| self.target(which)).transpose()?;
        let known = target
            .as_ref()
            .and_then(|id| self.orders.iter().position(|order| order.ids.contains(id)));
        let packed = known.map(|place| self.orders[place].fields.packed(&[]));
        let subject = target.as_ref().map(|id| OrderSubject {
            id,
            order_id: known.map_or("", |place| self.orders[place].order_id.as_str()),
            fields: packed.as_deref().unwrap_or_default(),
        });
        let fields = layout.complete(message, own_id.as_deref(), subject.as_ref(), at);
        let mut order = MessageFields::new(msg_type);
        let is_own =
            |tag: Tag| !matches!(tag, tag::CL_ORD_ID | tag::ORIG_CL_ORD_ID | tag::ORDER_ID);
        order.fields = fields
            .iter()
            .filter(|field| is_own(field.0))
            .cloned()
            .collect();
        match (msg_type, known) {
            ("D", _) => self.orders.push(KnownOrder {
                ids: own_id.iter().cloned().collect(),
                order_id: String::new(),
                fields: order,
            }),
            ("F" | "G", Some(place)) => {
                let known = &mut self.orders[place];
                known.ids.extend(own_id.clone());
                if msg_type == "G" {
                    known.fields = order;
                }
            }
            _ => {}
        }
        if matches!(msg_type, "D" | "G") {
            self.last = own_id;
        }
        Ok(fields)
    }

    /// The ClOrdID that identifies an order.
    fn target(&self, which: &Which) -> Result<String, String> {
        match which {
            Which::Id(id) => match id.strip_prefix('$') {
                Some(name) => {
                    let known = self.variables.get(name).cloned();
                    known.ok_or_else(|| format!("variable ${name} has no value"))
                }
                None => Ok(id.clone()),
            },
            Which::Last | Which::All => self
                .last
                .clone()
                .ok_or_else(|| "this case has sent no order".to_owned()),
        }
    }

    /// A pattern as text, with known values filled in.
    pub(crate) fn shown(&self, pattern: &MessagePattern) -> String {
        let field = |(tag, expected): &(Tag, ExpectedValue)| {
            let mask = |text: &str| self.secrets.masked(*tag, text).to_owned();
            let text = match expected {
                ExpectedValue::Text(text) | ExpectedValue::Pattern(text) => mask(text),
                ExpectedValue::OneOf(values) => mask(&format!("{{{}}}", values.join(","))),
                ExpectedValue::Any => "*".to_owned(),
                ExpectedValue::Absent => "(none)".to_owned(),
                ExpectedValue::Variable(name) => {
                    let known = self.variables.get(name);
                    known.map_or_else(|| "*".to_owned(), |known| mask(known))
                }
                ExpectedValue::SameAs(step) => self
                    .same(*tag, *step)
                    .map_or_else(|_| format!("@{step}"), mask),
            };
            match fields::name_of(*tag) {
                Some(_) if *tag == fields::MESSAGE => text,
                Some(name) => format!("{name}={text}"),
                None => format!("{tag}={text}"),
            }
        };
        let fields: Vec<String> = pattern.fields.iter().map(field).collect();
        fields.join("|")
    }

    /// Compares a message with a pattern. If the message matches, stores the values of the pattern's variables.
    ///
    /// # Errors
    ///
    /// The differences, one sentence each. If MsgType(35) differs, only that difference.
    pub(crate) fn match_message(
        &mut self,
        pattern: &MessagePattern,
        message: &[(Tag, String)],
        names: &FieldNames,
    ) -> Result<(), Vec<String>> {
        let mut secrets = self.secrets.clone();
        for (tag, _) in pattern.fields.iter().filter(|field| is_secret(field.0)) {
            let found = message.iter().filter(|field| field.0 == *tag);
            found.for_each(|(_, text)| secrets.add(text));
        }
        let mut differences = Vec::new();
        let mut captured: Vec<(String, String)> = Vec::new();
        for (place, (tag, expected)) in pattern.fields.iter().enumerate() {
            let earlier = pattern.fields[..place]
                .iter()
                .filter(|field| field.0 == *tag);
            let found = message
                .iter()
                .filter(|field| field.0 == *tag)
                .nth(earlier.count());
            let found = found.map(|field| field.1.as_str());
            if let (ExpectedValue::Variable(name), Some(text)) = (expected, found)
                && !self.variables.contains_key(name)
                && !captured.iter().any(|known| known.0 == *name)
            {
                captured.push((name.clone(), text.to_owned()));
                continue;
            }
            let by = Comparison {
                captured: &captured,
                names,
                secrets: &secrets,
            };
            let Err(wanted) = self.match_value(*tag, expected, found, &by) else {
                continue;
            };
            let is = found.map_or("absent".to_owned(), |found| {
                format!("'{}'", secrets.masked(*tag, found))
            });
            let name = names.shown(*tag);
            let difference = format!("{name} is {is}, expected {wanted}");
            if matches!(*tag, tag::MSG_TYPE | fields::MESSAGE) {
                return Err(vec![difference]);
            }
            differences.push(difference);
        }
        if !differences.is_empty() {
            return Err(differences);
        }
        // A secret value without a variable is only compared and never sent, so it is not added to the secrets.
        let kept = captured.iter().map(|(_, text)| text);
        kept.filter(|text| secrets.has(text))
            .for_each(|text| self.secrets.add(text));
        self.variables.extend(captured);
        self.keep(pattern.step, message.to_vec());
        self.learn(message);
        Ok(())
    }

    /// Compares one value. The error is the value that was expected.
    fn match_value(
        &self,
        tag: Tag,
        expected: &ExpectedValue,
        found: Option<&str>,
        by: &Comparison<'_>,
    ) -> Result<(), String> {
        let masked = |text: &str| by.secrets.masked(tag, text).to_owned();
        let equal = |text: &str| match found {
            Some(found) if found == text => Ok(()),
            Some(found) if by.names.is_number(tag) && same_number(found, text) => Ok(()),
            _ => Err(format!("'{}'", masked(text))),
        };
        match (expected, found) {
            (ExpectedValue::Any, Some(_)) | (ExpectedValue::Absent, None) => Ok(()),
            (ExpectedValue::Any, None) => Err("any value".to_owned()),
            (ExpectedValue::Absent, Some(_)) => Err("no such field".to_owned()),
            (ExpectedValue::Text(text), _) => equal(text),
            (ExpectedValue::Pattern(pattern), found) => match found {
                Some(found) if fits(pattern, found) => Ok(()),
                _ => Err(format!("'{}'", masked(pattern))),
            },
            (ExpectedValue::OneOf(values), _) => {
                match values.iter().any(|value| equal(value).is_ok()) {
                    true => Ok(()),
                    false => Err(format!("one of {}", masked(&values.join(", ")))),
                }
            }
            (ExpectedValue::Variable(name), _) => {
                let captured = by.captured.iter().find(|known| known.0 == *name);
                let known = captured
                    .map(|known| &known.1)
                    .or_else(|| self.variables.get(name));
                known.map_or(Err("any value".to_owned()), |known| equal(known))
            }
            (ExpectedValue::SameAs(step), found) => match self.messages.get(step) {
                Some(message) => match value(message, tag) {
                    Some(text) => equal(text),
                    None => Err(format!(
                        "the value of step {step}, whose message has no such field"
                    )),
                },
                // The other message belongs to the same step and has not arrived yet. The values are compared when it
                // arrives.
                None => match found {
                    Some(_) => Ok(()),
                    None => Err(format!("the value of step {step}")),
                },
            },
        }
    }
}

/// The data for the comparison of one value.
struct Comparison<'a> {
    /// Variables that get their values from this message.
    captured: &'a [(String, String)],
    names: &'a FieldNames,
    secrets: &'a Secrets,
}

fn same_number(left: &str, right: &str) -> bool {
    compare_floats(left.as_bytes(), right.as_bytes()).is_ok_and(Ordering::is_eq)
}

#[cfg(test)]
mod tests;
