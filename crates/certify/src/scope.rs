//! [`CaseScope`]: what the steps of a case know: ids, variables, messages and orders.

use std::collections::BTreeMap;

use fixwire_client::{Instruction, MessageFields, OrderLayout, OrderSubject, Which};
use fixwire_protocol::dictionary::DataType;
use fixwire_protocol::{Decimal, Dictionary, Tag, Timestamp, tag};

use crate::ids::IdMaker;
use crate::masking::masked;
use crate::plan::{MessagePattern, Outgoing};
use crate::value::{ExpectedValue, SentValue, fits};
use crate::wire_message::{TextFields, value};

/// An order of this case.
#[derive(Clone, Debug)]
struct KnownOrder {
    ids: Vec<String>,
    order_id: String,
    fields: MessageFields,
}

/// The state of one round of a case.
#[derive(Clone, Debug)]
pub(crate) struct CaseScope {
    /// Which round of all: ids belong to it.
    owner: u64,
    variables: BTreeMap<String, String>,
    /// Messages sent and received, by step.
    messages: BTreeMap<usize, TextFields>,
    orders: Vec<KnownOrder>,
    last: Option<String>,
}

impl CaseScope {
    pub(crate) fn new(owner: u64) -> Self {
        Self {
            owner,
            variables: BTreeMap::new(),
            messages: BTreeMap::new(),
            orders: Vec::new(),
            last: None,
        }
    }

    pub(crate) fn owner(&self) -> u64 {
        self.owner
    }

    /// Keeps the message of a step, for `@N` in later ones.
    pub(crate) fn keep(&mut self, step: usize, fields: TextFields) {
        self.messages.insert(step, fields);
    }

    /// Takes the OrderID(37) of a report.
    pub(crate) fn learn(&mut self, report: &[(Tag, String)]) {
        let Some(order_id) = value(report, tag::ORDER_ID) else {
            return;
        };
        let ids = [tag::CL_ORD_ID, tag::ORIG_CL_ORD_ID];
        let ids: Vec<&str> = ids.iter().filter_map(|tag| value(report, *tag)).collect();
        let is_named =
            |order: &&mut KnownOrder| order.ids.iter().any(|id| ids.contains(&id.as_str()));
        // A cancel of an unknown order may be answered with NONE.
        if let Some(order) = self.orders.iter_mut().find(is_named)
            && order_id != "NONE"
        {
            order_id.clone_into(&mut order.order_id);
        }
    }

    /// The text of a value that is sent; `None` where the field is left out.
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
                known.or_insert_with(|| ids.make(owner)).clone()
            }
            SentValue::SameAs(step) => self.same(tag, *step)?.to_owned(),
        }))
    }

    fn same(&self, tag: Tag, step: usize) -> Result<&str, String> {
        let message = self.messages.get(&step);
        let found = message.and_then(|message| value(message, tag));
        found.ok_or_else(|| format!("the message of step {step} has no tag {tag}"))
    }

    /// The fields of a message to send, and those that are left out.
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

    /// The same of what a step sends.
    pub(crate) fn compose(
        &mut self,
        outgoing: &Outgoing,
        ids: &mut IdMaker,
        layout: &mut OrderLayout,
        at: Timestamp,
        time: &mut dyn FnMut(i64) -> String,
    ) -> Result<(TextFields, Vec<Tag>), String> {
        let instruction = match outgoing {
            Outgoing::Fields(fields) => return self.fields(fields, ids, time),
            Outgoing::Command(instruction) => instruction,
        };
        let (which, given) = match &**instruction {
            Instruction::New(fields) => (None, fields),
            Instruction::Cancel { which, fields }
            | Instruction::Replace { which, fields }
            | Instruction::Status { which, fields } => (Some(which), fields),
            _ => return Err("the step is no request".to_owned()),
        };
        let mut message = MessageFields::new(&given.msg_type);
        let mut left_out = Vec::new();
        for (tag, text) in &given.fields {
            let sent = SentValue::parse(text)?;
            match self.resolve(*tag, &sent, ids, time)? {
                Some(text) => message.set(*tag, &text),
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

    /// The ClOrdID that names an order.
    fn target(&self, which: &Which) -> Result<String, String> {
        match which {
            Which::Id(id) => match id.strip_prefix('$') {
                Some(name) => {
                    let known = self.variables.get(name).cloned();
                    known.ok_or_else(|| format!("${name} has no value"))
                }
                None => Ok(id.clone()),
            },
            Which::Last | Which::All => self
                .last
                .clone()
                .ok_or_else(|| "no order was sent".to_owned()),
        }
    }

    /// A pattern for people, with the values that are known.
    pub(crate) fn shown(&self, pattern: &MessagePattern) -> String {
        let field = |(tag, expected): &(Tag, ExpectedValue)| {
            let mask = |text: &str| masked(*tag, text).to_owned();
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
            format!("{tag}={text}")
        };
        let fields: Vec<String> = pattern.fields.iter().map(field).collect();
        fields.join("|")
    }

    /// Compares a message with a pattern, and takes the values of its variables if it fits.
    ///
    /// # Errors
    ///
    /// The differences, a sentence each; MsgType(35) alone if that differs.
    pub(crate) fn match_message(
        &mut self,
        pattern: &MessagePattern,
        message: &[(Tag, String)],
        dictionary: &Dictionary,
    ) -> Result<(), Vec<String>> {
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
            let Err(wanted) = self.match_value(*tag, expected, found, &captured, dictionary) else {
                continue;
            };
            let name = dictionary
                .field(*tag)
                .map_or("tag", |field| field.name.as_str());
            let is = found.map_or("absent".to_owned(), |found| {
                format!("'{}'", masked(*tag, found))
            });
            let difference = format!("{name}({tag}) is {is}, expected {wanted}");
            if *tag == tag::MSG_TYPE {
                return Err(vec![difference]);
            }
            differences.push(difference);
        }
        if !differences.is_empty() {
            return Err(differences);
        }
        self.variables.extend(captured);
        self.keep(pattern.step, message.to_vec());
        self.learn(message);
        Ok(())
    }

    /// Compares one value; the error is what it should be.
    fn match_value(
        &self,
        tag: Tag,
        expected: &ExpectedValue,
        found: Option<&str>,
        captured: &[(String, String)],
        dictionary: &Dictionary,
    ) -> Result<(), String> {
        let equal = |text: &str| match found {
            Some(found) if found == text => Ok(()),
            Some(found) if is_number(dictionary, tag) && same_number(found, text) => Ok(()),
            _ => Err(format!("'{}'", masked(tag, text))),
        };
        match (expected, found) {
            (ExpectedValue::Any, Some(_)) | (ExpectedValue::Absent, None) => Ok(()),
            (ExpectedValue::Any, None) => Err("any value".to_owned()),
            (ExpectedValue::Absent, Some(_)) => Err("no such field".to_owned()),
            (ExpectedValue::Text(text), _) => equal(text),
            (ExpectedValue::Pattern(pattern), found) => match found {
                Some(found) if fits(pattern, found) => Ok(()),
                _ => Err(format!("'{}'", masked(tag, pattern))),
            },
            (ExpectedValue::OneOf(values), _) => {
                match values.iter().any(|value| equal(value).is_ok()) {
                    true => Ok(()),
                    false => Err(format!("one of {}", masked(tag, &values.join(", ")))),
                }
            }
            (ExpectedValue::Variable(name), _) => {
                let captured = captured.iter().find(|known| known.0 == *name);
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
                // A message that this step awaits too and that has not arrived: compared when it has.
                None => match found {
                    Some(_) => Ok(()),
                    None => Err(format!("the value of step {step}")),
                },
            },
        }
    }
}

fn is_number(dictionary: &Dictionary, tag: Tag) -> bool {
    use DataType::{
        Amt, Float, Int, Length, NumInGroup, Percentage, Price, PriceOffset, Qty, SeqNum,
    };
    let kind = dictionary.field(tag).map(|field| field.kind);
    kind.is_some_and(|kind| {
        matches!(
            kind,
            Amt | Float
                | Int
                | Length
                | NumInGroup
                | Percentage
                | Price
                | PriceOffset
                | Qty
                | SeqNum
        )
    })
}

fn same_number(left: &str, right: &str) -> bool {
    match (
        Decimal::parse(left.as_bytes()),
        Decimal::parse(right.as_bytes()),
    ) {
        (Ok(left), Ok(right)) => left == right,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use fixwire_client::OrderLayout;
    use fixwire_protocol::dictionary::Version;
    use fixwire_protocol::session::{BeginString, Config, Role};

    use super::*;
    use crate::plan::{CertificationPlan, StepAction};
    use crate::wire_message::text_fields as message;

    /// The steps of a case.
    fn plan(steps: &str) -> CertificationPlan {
        CertificationPlan::parse(&format!("case 1 A\n{steps}\n")).unwrap()
    }

    fn sent(scope: &mut CaseScope, ids: &mut IdMaker, action: &StepAction) -> TextFields {
        let StepAction::Send(outgoing) = action else {
            panic!("{action:?}");
        };
        let config = Config::new(BeginString::Fix44, Role::Initiator, b"OMS", b"EXCHANGE");
        let mut layout = OrderLayout::of(&config);
        let mut time = |offset: i64| format!("now{offset}");
        let made = scope.compose(outgoing, ids, &mut layout, Timestamp(0), &mut time);
        made.unwrap().0
    }

    #[test]
    fn requests_have_ids_of_the_case_and_the_fields_of_their_order() {
        let plan = plan(
            "new buy 100 VOD @ 10.50 11=$A\nexpect 35=8|11=$A|37=*\nreplace last qty 80\ncancel last 58=@1\n\
             status $A\nsend 35=q|11=$M|530=7|60=now-1s|49=(none)",
        );
        let steps = &plan.cases[0].steps;
        let mut ids = IdMaker::new(Timestamp(0));
        let mut scope = CaseScope::new(1);
        let order = sent(&mut scope, &mut ids, &steps[0].action);
        let first = value(&order, 11).unwrap().to_owned();
        assert_eq!(first, "0000000-001");
        assert_eq!(
            (
                value(&order, 35),
                value(&order, 38),
                value(&order, 44),
                value(&order, 40)
            ),
            (Some("D"), Some("100"), Some("10.50"), Some("2"))
        );
        scope.learn(&message(&format!("35=8|11={first}|37=77")));
        let replace = sent(&mut scope, &mut ids, &steps[2].action);
        assert_eq!(
            (
                value(&replace, 11),
                value(&replace, 41),
                value(&replace, 37)
            ),
            (Some("0000000-002"), Some(first.as_str()), Some("77"))
        );
        assert_eq!(
            (value(&replace, 38), value(&replace, 44)),
            (Some("80"), Some("10.50"))
        );
        // @1 is a field that the message of step 1 has not.
        let StepAction::Send(cancel) = &steps[3].action else {
            panic!("{:?}", steps[3]);
        };
        let config = Config::new(BeginString::Fix44, Role::Initiator, b"OMS", b"EXCHANGE");
        let mut layout = OrderLayout::of(&config);
        scope.keep(1, order);
        let failed = scope.compose(cancel, &mut ids, &mut layout, Timestamp(0), &mut |_| {
            String::new()
        });
        assert_eq!(failed.unwrap_err(), "the message of step 1 has no tag 58");
        let status = sent(&mut scope, &mut ids, &steps[4].action);
        assert_eq!(
            (value(&status, 35), value(&status, 11), value(&status, 37)),
            (Some("H"), Some(first.as_str()), Some("77"))
        );
        let mass = sent(&mut scope, &mut ids, &steps[5].action);
        assert_eq!(
            (value(&mass, 60), value(&mass, 49)),
            (Some("now-1000000000"), None)
        );
    }

    #[test]
    fn messages_are_compared_field_by_field() {
        let dictionary = Dictionary::built_in(Version::Fix44);
        let plan = plan(
            "expect 35=8|37=$o|44=10.50|58=A*Z|150={0,F}|103=(none)|14=*|453=2|448=X|448=Y\n\
             expect 35=8|37=$o|38=@1|39=0",
        );
        let pattern = |step: usize| match &plan.cases[0].steps[step].action {
            StepAction::Expect(expectation) => &expectation.patterns[0],
            other => panic!("{other:?}"),
        };
        let mut scope = CaseScope::new(1);
        let good = "35=8|37=77|38=5|44=10.5|58=ABZ|150=F|14=0|453=2|448=X|448=Y";
        for (from, to, difference) in [
            (
                "44=10.5|",
                "44=10.6|",
                "Price(44) is '10.6', expected '10.50'",
            ),
            ("58=ABZ", "58=ABC", "Text(58) is 'ABC', expected 'A*Z'"),
            (
                "150=F",
                "150=4",
                "ExecType(150) is '4', expected one of 0, F",
            ),
            (
                "14=0",
                "103=1|14=0",
                "OrdRejReason(103) is '1', expected no such field",
            ),
            ("14=0|", "", "CumQty(14) is absent, expected any value"),
            ("448=Y", "448=Z", "PartyID(448) is 'Z', expected 'Y'"),
            ("35=8", "35=9", "MsgType(35) is '9', expected '8'"),
        ] {
            let wrong = message(&good.replace(from, to));
            let found = scope.match_message(pattern(0), &wrong, &dictionary);
            assert_eq!(found.unwrap_err(), [difference], "{to}");
        }
        scope
            .match_message(pattern(0), &message(good), &dictionary)
            .unwrap();
        let other = message("35=8|37=78|38=6|39=0");
        let found = scope
            .match_message(pattern(1), &other, &dictionary)
            .unwrap_err();
        assert_eq!(
            found,
            [
                "OrderID(37) is '78', expected '77'",
                "OrderQty(38) is '6', expected '5'"
            ]
        );
        assert_eq!(scope.shown(pattern(1)), "35=8|37=77|38=5|39=0");
        scope.keep(1, message("35=8|37=77"));
        let found = scope.match_message(pattern(1), &other, &dictionary);
        assert_eq!(
            found.unwrap_err()[1],
            "OrderQty(38) is '6', expected the value of step 1, whose message has no such field"
        );
    }

    #[test]
    fn secrets_are_masked_in_what_is_expected_and_received() {
        let dictionary = Dictionary::built_in(Version::Fix44);
        let plan = plan(
            "send 35=BE|554=old|925=new\nexpect 35=BF|554=@1|925=(none)|96={a,b}|58=x\n\
             expect 35=BF|554=o*|925=plain",
        );
        let pattern = |step: usize| match &plan.cases[0].steps[step].action {
            StepAction::Expect(expectation) => &expectation.patterns[0],
            other => panic!("{other:?}"),
        };
        assert_eq!(plan.cases[0].steps[0].text, "send 35=BE|554=***|925=***");
        let mut scope = CaseScope::new(1);
        scope.keep(1, message("35=BE|554=old|925=new"));
        let wrong = message("35=BF|554=other|925=new|96=c|58=y");
        let found = scope.match_message(pattern(1), &wrong, &dictionary);
        assert_eq!(
            found.unwrap_err(),
            [
                "Password(554) is '***', expected '***'",
                "NewPassword(925) is '***', expected no such field",
                "RawData(96) is '***', expected one of ***",
                "Text(58) is 'y', expected 'x'"
            ]
        );
        let found = scope.match_message(pattern(2), &wrong, &dictionary);
        let found = found.unwrap_err().join("; ");
        assert!(!found.contains("plain") && !found.contains("o*"), "{found}");
        assert_eq!(
            scope.shown(pattern(1)),
            "35=BF|554=***|925=(none)|96=***|58=x"
        );
    }
}
