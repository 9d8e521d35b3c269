//! Each validation switch finds its faults, and none when it is off: a table of counts.
//!
//! Input: 30,000 orders, heartbeats and lists with one to three fields added, removed, moved, emptied or
//! changed. Each message is validated against all rules, and against all but one.

use std::fmt::Write as _;

use fixwire_dictionary::DocumentLimits;
use fixwire_dictionary::delta::{self, Delta};
use fixwire_protocol::Decoder;
use fixwire_protocol::dictionary::validate::RejectReason::{self, *};
use fixwire_protocol::dictionary::validate::check;
use fixwire_protocol::dictionary::{
    Dictionary, Scratch, ValidationFault, ValidationRules, Version,
};
use fixwire_random::Random;

const MESSAGES: [&str; 3] = [
    "35=D|34=2|49=A|52=20260821-13:30:00|56=B|11=A|453=2|448=P|447=D|452=1|448=Q|447=D|452=3|55=M|54=1|60=20260821-13:30:00|38=100|40=2|44=1.5|59=0",
    "35=0|34=3|49=A|52=20260821-13:30:00|56=B|112=again",
    "35=E|34=4|49=A|52=20260821-13:30:00|56=B|66=L|394=3|68=1|73=1|11=A|67=1|55=M|54=1",
];
const STRAY: [&str; 12] = [
    "5001=x", "999=x", "50=DESK", "58=", "55=N", "54=Z", "38=1e5", "448=R", "447=D", "452=x",
    "93=1", "60=now",
];

fn mutated(random: &mut Random) -> String {
    let message = MESSAGES[random.place(MESSAGES.len())];
    let mut fields: Vec<String> = message.split('|').map(str::to_owned).collect();
    for _ in 0..=random.below(3) {
        let at = 1 + random.place(fields.len() - 1);
        match random.below(6) {
            0 => drop(fields.remove(at)),
            1 => {
                let to = 1 + random.place(fields.len() - 1);
                fields.swap(at, to);
            }
            2 => fields.insert(at, fields[at].clone()),
            3 => {
                let tag = fields[at].split('=').next().unwrap_or_default().to_owned();
                fields[at] = tag + "=";
            }
            _ => fields.insert(at, STRAY[random.place(STRAY.len())].to_owned()),
        }
        if fields.len() < 4 {
            break;
        }
    }
    format!("8=FIX.4.4|9=1|{}|10=000|", fields.join("|")).replace('|', "\x01")
}

/// A rule: its name, its switch, its faults, and whether no other rule finds them.
type Row = (
    &'static str,
    fn(&mut ValidationRules),
    fn(&ValidationFault) -> bool,
    bool,
);

fn is(fault: &ValidationFault, reason: RejectReason) -> bool {
    fault.reason == reason && !fault.conditional
}

fn stranger(fault: &ValidationFault) -> bool {
    is(fault, InvalidTagNumber) || is(fault, TagNotDefinedForMessageType)
}

const ROWS: [Row; 12] = [
    (
        "ValidateFieldsOutOfOrder",
        |rules| rules.fields_out_of_order = false,
        |fault| is(fault, TagOutOfRequiredOrder),
        true,
    ),
    (
        "ValidateFieldsHaveValues",
        |rules| rules.fields_have_values = false,
        |fault| is(fault, TagWithoutValue),
        true,
    ),
    (
        "ValidateUserDefinedFields",
        |rules| rules.user_defined_fields = false,
        |fault| stranger(fault) && fault.tag >= Some(5000),
        true,
    ),
    (
        "AllowUnknownMsgFields",
        |rules| rules.allow_unknown_msg_fields = true,
        |fault| stranger(fault) && fault.tag < Some(5000),
        true,
    ),
    (
        "AllowUnknownEnumValues",
        |rules| rules.allow_unknown_enum_values = true,
        |fault| is(fault, ValueIncorrect),
        true,
    ),
    // An entry still begins with its delimiter.
    (
        "ValidateUnorderedGroupFields",
        |rules| rules.unordered_group_fields = false,
        |fault| is(fault, GroupFieldsOutOfOrder),
        false,
    ),
    (
        "FirstFieldInGroupIsDelimiter",
        |rules| rules.first_field_in_group_is_delimiter = true,
        |fault| is(fault, GroupFieldsOutOfOrder),
        false,
    ),
    (
        "required fields",
        |rules| rules.required_fields = false,
        |fault| is(fault, RequiredTagMissing),
        true,
    ),
    (
        "formats",
        |rules| rules.formats = false,
        |fault| is(fault, IncorrectDataFormat),
        true,
    ),
    // Inside an entry, a field still appears once.
    (
        "duplicate tags",
        |rules| rules.duplicate_tags = false,
        |fault| is(fault, TagAppearsMoreThanOnce),
        false,
    ),
    (
        "group counts",
        |rules| rules.group_counts = false,
        |fault| is(fault, IncorrectNumInGroupCount),
        true,
    ),
    (
        "ValidateConditionalFields",
        |rules| rules.conditional_fields = false,
        |fault| fault.conditional,
        true,
    ),
];

#[test]
fn each_switch_finds_its_faults_and_none_when_it_is_off() {
    let rule = "Price required when OrdType in 2,4\nOrdType required when Price present\n\
                in NoPartyIDs of D: PartyRole required when PartyID in P\n\
                change member PartyRole of NoPartyIDs of D optional\nchange member OrdType of D optional";
    let delta = Delta::read("rules.delta", rule, DocumentLimits::default()).expect("a delta");
    let dictionary =
        delta::apply(&Dictionary::built_in(Version::Fix44), &[delta]).expect("it fits");
    let mut decoder = Decoder::with_capacity(100);
    let mut scratch = Scratch::default();
    let mut random = Random::new(44);
    let mut counts = [[0u32; 2]; ROWS.len()];
    for _ in 0..30_000 {
        let text = mutated(&mut random);
        let message = decoder.decode(text.as_bytes());
        let all = check(
            &dictionary,
            &message,
            &ValidationRules::default(),
            &mut scratch,
        );
        for ((_, off, of_rule, _), [with, without]) in ROWS.iter().zip(&mut counts) {
            let mut rules = ValidationRules::default();
            off(&mut rules);
            let some = check(&dictionary, &message, &rules, &mut scratch);
            *with += u32::from(all.is_err_and(|fault| of_rule(&fault)));
            *without += u32::from(some.is_err_and(|fault| of_rule(&fault)));
        }
    }
    let mut table = String::from("rule                            on     off\n");
    for ((name, ..), [with, without]) in ROWS.iter().zip(counts) {
        let _ = writeln!(table, "{name:28}{with:6}  {without:6}");
    }
    println!("{table}");
    for ((name, _, _, alone), [with, without]) in ROWS.iter().zip(counts) {
        assert!(with > 50 && without < with, "{name}\n{table}");
        assert!(!alone || without == 0, "{name}\n{table}");
    }
}
