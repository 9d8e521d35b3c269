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
    report_bit, report_field, request_field, why_not,
};

const TOP: &str = "<!-- Made from crates/oms/src/values/fields/field_table by `UPDATE=1 cargo test -p fixwire-oms fields`. -->
# Fields of the OMS

The OMS writes each message to a venue itself: it does not forward the client's message. The tables on this page say what the OMS
does with each field. The OMS rejects a request with a field, a group or a value that would not reach the venue, and names the tag
in Text(58). So no order trades in another way than the client has requested.

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

The settings of a user or a line group can say, by tag, what the OMS does with a field: these keys are the contract of the user
or group. The NumInGroup tag of a group stands for all fields of the group. `fixwire check` shows the contracts; `fixwire oms
status` shows how often each contract has dropped each tag since the start.

| key | the venue gets |
| --- | --- |
| `carry` | the client's value; without `carry` the OMS rejects the field |
| `set` | the value of the settings, also when the client did not send the field |
| `map` | the value that the table has for the client's value; the OMS rejects other values |
| `drop` | nothing; the OMS counts the field |
| `refuse` | nothing; the OMS rejects the request; `refuse` may name each field that is passed on or rejected |

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

The user's contract applies when the OMS receives a request, the contract of the line's group when the OMS sends the request.
`carry`, `set` and `map` apply to D, G, F and S; over TMP the OMS sends only the fields in
[`tmp_fields`](tmp.md#fields-of-requests). The fields of one `set` have at most 1024 bytes together, with tags and SOH.

* The OMS also rejects a field that a request has twice outside of groups, since it could send only one of the two values.
* A length field and its data field, such as EncodedTextLen(354) and EncodedText(355), reach the venue together: the OMS rejects a
  request with only one of them.
* A tag from 5000 on, such as 9303 above, also needs `ValidateUserDefinedFields = false` in the client's session, or a dictionary
  with the tag: otherwise the session rejects the message with Reject(3). `fixwire check` warns of such a user-defined tag.
* The number of an order of a [pool](oms.md#order-numbers), and the OMS's [own tags](oms.md#own-tags), are accepted where
  the settings have them. The OMS rejects all other fields that are in no table; every key of a contract may name them.
* The OMS rejects E, s, AB and all other requests with BusinessRejectReason(380) = 3.

| class | |
| --- | --- |
| session | a field of the session layer: each session has its own value |
| carried | the venue gets it with the value of the client, or an equal number |
| set | the OMS writes a value of its own |
| used | the OMS uses it; the venue has no part in it |
| checked | accepted under a condition, otherwise rejected |
| passed on | the venue gets it as the client sent it, or [converted](oms.md#carried-fields-in-another-fix-version); every key of a contract may name it |
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
        "\n## Messages of venues\n\n\
         Clients and drop copies get the passed-on fields as the venue sent them, after the fields of the OMS, if the receiver's\n\
         dictionary has field and value: single fields, and whole groups, together at most 1 KiB. A receiver of another FIX version gets\n\
         the others [converted](oms.md#reports-in-another-fix-version). Reports that are sent again have the same fields. When a fill\n\
         also acknowledges its order, only the report of the fill has these fields. [Settings](oms.md#fields-of-reports) name further fields\n\
         that receivers get, and fields that a receiver does not get.\n\n\
         The OMS counts by tag each field that is in no table, each group with a wrong count, and each field that it cannot pass\n\
         on to a receiver: `fixwire oms status` shows the counts since the start. The journal keeps the venue's message.\n\n",
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

#[test]
fn the_row_of_a_field_is_the_first_row_that_names_it() {
    type Find = fn(Tag, Messages) -> Option<&'static FieldRow>;
    let tables: [(&[FieldRow], Find); 2] = [
        (REQUEST_FIELDS, request_field),
        (REPORT_FIELDS, report_field),
    ];
    for (rows, find) in tables {
        for (tag, bit) in (0..6_000).flat_map(|tag| (0..Messages::BITS).map(move |bit| (tag, bit)))
        {
            let message = 1 << bit;
            let mut named = rows.iter().filter(|row| row.tags.contains(&tag));
            let first = named.find(|row| row.messages & message != 0);
            let found = find(tag, message);
            let is_same = match (first, found) {
                // A constant table has no single address, so the rows are compared by their contents.
                (Some(first), Some(found)) => {
                    (first.tags, first.messages, first.class, first.reason)
                        == (found.tags, found.messages, found.class, found.reason)
                }
                (None, None) => true,
                (first, found) => panic!("{tag}: {:?}, {:?}", first.is_some(), found.is_some()),
            };
            assert!(is_same, "{tag} in {message:b}");
        }
    }
}
