//! docs/reference/oms-fields.md is made from the table of fields.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::string::{String, ToString};
use std::vec::Vec;

use fixwire_protocol::dictionary::{Member, Version};
use fixwire_protocol::{Dictionary, Tag};

use crate::OmsSession;
use crate::values::fields::contract::ContractKey;
use crate::values::fields::field_table::{
    FieldClass, FieldRow, Messages, REPORT_FIELDS, REQUEST_FIELDS, REQUESTS, VENUE_MESSAGES,
    report_bit, report_field, why_not,
};

const TOP: &str = "<!-- Made from crates/oms/src/values/fields/field_table by `UPDATE=1 cargo test -p fixwire-oms fields`. -->
# Fields of the OMS

The OMS writes each message to a venue itself: it does not forward the client's message. These tables say what becomes of each
field. A field, a group or a value of a client's request that would not reach the venue is rejected with its tag in Text(58), so
that no order trades in another way than its client asked for.

```
client > OMS   35=D 11=A1 55=VOD 54=1 38=1000 40=2 44=12.50 111=100
OMS > client   35=8 11=A1 150=8 39=8 103=11 58=a field of the request would not reach the venue (tag 111)
```

| request | its reject |
| --- | --- |
| NewOrderSingle(D) | ExecutionReport(8), OrdRejReason(103) = 11, in FIX 4.2 0 |
| OrderCancelReplaceRequest(G), OrderCancelRequest(F) | OrderCancelReject(9), CxlRejReason(102) = 99, in FIX 4.2 2 |
| OrderMassCancelRequest(q) | OrderMassCancelReport(r), MassCancelRejectReason(532) = 99 |
| Quote(S), QuoteCancel(Z) | QuoteStatusReport(AI), QuoteStatus(297) = 5 |
| QuoteRequest(R) | QuoteRequestReject(AG), QuoteRequestRejectReason(658) = 99 |
| H, AF, e, g, c, x, BW | BusinessMessageReject(j), BusinessRejectReason(380) = 0, `Field not supported (111)` |

## Contracts

A user and a line group can say what becomes of a field, by its tag: its contract. The count tag of a group stands for all of its
fields. `fixwire check` shows the contracts, `fixwire oms status` how often each dropped fields, by tag, since the start.

| key | the venue gets |
| --- | --- |
| `carry` | the client's value, of a field that is rejected without it |
| `set` | this value, also when the client sent none |
| `map` | the value that the table has for the client's; another value is rejected |
| `drop` | nothing; the field is counted |
| `refuse` | nothing; the request is rejected; it may name each field that is passed on or rejected |

```toml
[[user]]
session = \"CLIENT\"
drop = [58, 453]             # Text, and the group of Parties
[[line_group]]
name = \"XLON\"
carry = [207, 9303]          # SecurityExchange, and a tag of the venue
set = {15 = \"GBP\"}         # Currency
drop = [376]                 # ComplianceID
ex_destination = \"XLON\"    # ExDestination(100) may be this
[line_group.map.47]          # Rule80A
A = \"P\"
I = \"A\"
```

The user's contract applies when a request comes in, that of the line's group when it is sent. `carry`, `set` and
`map` are about D, G, F and S; over TMP only the fields in [`tmp_fields`](tmp.md#fields-of-requests) are sent. The fields of one
`set` have at most 1024 bytes together, with tags and SOH.

* A field that is there twice, outside of groups, is rejected too: only one of both values could be sent.
* The number of an order of a [pool](oms.md#order-numbers), and the OMS's [own tags](oms.md#own-tags), are accepted where
  the settings have them. All other fields that are in no table are rejected; every key of a contract may name them.
* E, s, AB and all other requests are rejected as a whole: BusinessRejectReason(380) = 3.

| class | |
| --- | --- |
| session | of the session layer: each session has its own |
| carried | the venue gets it with the value of the client, or an equal number |
| set | the OMS writes a value of its own |
| used | the OMS uses it; the venue has no part in it |
| checked | accepted under a condition, otherwise rejected |
| passed on | the venue gets it as the client sent it; every key of a contract may name it |
| named | rejected; every key of a contract may name it |
| instruction | rejected; `carry` and `map` may name it |
| listed | rejected; `map` may name its values |
| refused | rejected; `drop` and `set` may name it |
| refused, never dropped | rejected; no key lets it pass |

";

fn name(dictionaries: &[Dictionary], tag: Tag) -> String {
    let mut fields = dictionaries.iter().filter_map(|it| it.field(tag));
    match fields.next() {
        Some(field) => std::format!("{}({tag})", field.name),
        None => tag.to_string(),
    }
}

fn messages(bits: Messages, of: &[&str], others: &str) -> String {
    let all = (1 << of.len()) - 1;
    if bits & all == all {
        return "all".to_string();
    }
    let named = of.iter().enumerate();
    let named = named.filter(|(at, _)| bits & (1 << at) != 0);
    let mut names: Vec<&str> = named.map(|(_, name)| *name).collect();
    if bits > all {
        names.push(others);
    }
    names.join(", ")
}

fn table(rows: &[FieldRow], of: &[&str], text: &mut String) {
    let versions = [
        Version::Fix50Sp2,
        Version::Fix44,
        Version::Fix42,
        Version::Fixt11,
    ];
    let dictionaries = versions.map(Dictionary::built_in);
    text.push_str("| fields | in | class | |\n| --- | --- | --- | --- |\n");
    for row in rows {
        let names = row.tags.iter().map(|tag| name(&dictionaries, *tag));
        let names = names.collect::<Vec<_>>().join(", ");
        let condition = match row.class {
            FieldClass::Checked(condition) => std::format!("{}: ", condition.text()),
            _ => String::new(),
        };
        let _ = writeln!(
            text,
            "| {names} | {} | {} | {condition}{} |",
            messages(row.messages, of, "others"),
            row.class.name(),
            row.reason,
        );
    }
}

fn page() -> String {
    let mut text = TOP.to_string();
    text.push_str("## Requests of clients\n\n");
    table(REQUEST_FIELDS, REQUESTS, &mut text);
    text.push_str(
        "\n## Messages of venues\n\nWhat is passed on goes to the client and its drop copies as the venue sent it, after the fields of the OMS, as far as the \
         receiver's dictionary\nhas field and value: single fields, and groups whole, together at most 1 KiB. Reports that are sent again \
         have the same. A fill that also\nacknowledges its order has them once, in the report of the fill.\n\n\
         A field that is in no table, a group whose count is wrong, and what a receiver has no place for are counted by tag: \
         `fixwire oms status`\nshows how often each came since the start. The journal keeps the venue's message.\n\n",
    );
    table(REPORT_FIELDS, VENUE_MESSAGES, &mut text);
    text
}

#[test]
fn the_page_of_fields_is_the_table() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/oms-fields.md"
    );
    let made = page();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &made).unwrap();
    }
    let there = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        there == made,
        "docs/reference/oms-fields.md is behind the table: run with UPDATE=1"
    );
}

#[test]
fn no_tag_has_two_rows_for_a_message() {
    for rows in [REQUEST_FIELDS, REPORT_FIELDS] {
        for (at, row) in rows.iter().enumerate() {
            for tag in row.tags {
                let again = rows[..at].iter().find(|other| {
                    let is_refused = matches!(
                        row.class,
                        FieldClass::Refused | FieldClass::Never | FieldClass::Counted
                    );
                    !is_refused && other.tags.contains(tag) && other.messages & row.messages != 0
                });
                assert!(again.is_none(), "{tag}: {again:?} {row:?}");
            }
        }
    }
}

#[test]
fn what_is_refused_may_be_dropped_or_not() {
    for row in REQUEST_FIELDS {
        for tag in row.tags {
            if row.class == FieldClass::Never {
                let is_used = |other: &&FieldRow| {
                    other.tags.contains(tag) && !matches!(other.class, FieldClass::Never)
                };
                let is_used = REQUEST_FIELDS.iter().any(|row| is_used(&row));
                assert!(
                    why_not(ContractKey::Drop, *tag).is_some() || is_used,
                    "{tag}"
                );
            }
        }
    }
}

/// The fields that a dictionary gives a message, its groups, header and trailer included.
fn fields_of(dictionary: &Dictionary, msg_type: &[u8]) -> BTreeSet<Tag> {
    fn add(members: &[Member], all: &mut BTreeSet<Tag>) {
        for member in members {
            all.insert(member.tag);
            let group = member.group.iter();
            group.for_each(|group| add(group.members(), all));
        }
    }
    let mut all = BTreeSet::new();
    let message = dictionary.message(msg_type).into_iter();
    for part in message.chain([dictionary.header(), dictionary.trailer()]) {
        add(part.members(), &mut all);
    }
    all
}

#[test]
fn each_field_of_a_report_is_classified() {
    let mut missing = Vec::new();
    for msg_type in ["8", "9"] {
        let mut tags = BTreeSet::new();
        for version in Version::ALL {
            tags.extend(fields_of(
                &OmsSession::built_in(version),
                msg_type.as_bytes(),
            ));
        }
        assert!(tags.len() > 50, "{msg_type} has {} fields", tags.len());
        let bit = report_bit(msg_type.as_bytes());
        let new = tags
            .into_iter()
            .filter(|tag| report_field(*tag, bit).is_none());
        missing.extend(new.map(|tag| (msg_type, tag)));
    }
    assert!(
        missing.is_empty(),
        "fields without a row in values/fields/field_table/reports.rs: {missing:?}"
    );
}
