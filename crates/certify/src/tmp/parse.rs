//! Parses TMP messages of a plan: `R01|order_no=$A|side=buy`.

use fixwire_protocol::Tag;
use fixwire_tmp::TmpLayoutInfo;

use crate::tmp::fields::{CHECKSUM, KEY_VALUE, MESSAGE, NamedField, WRONG, tag_of};
use crate::tmp::frames::{checksum_of, message};
use crate::value::{ExpectedValue, SentValue};

/// Parses a message to send: `R01|order_no=$A|side=buy`.
///
/// # Errors
///
/// The error, and the correct form.
pub(crate) fn sent(text: &str) -> Result<Vec<(Tag, SentValue)>, String> {
    let (layout, parts) = head(text, false)?;
    let mut fields = vec![(MESSAGE, SentValue::Text(layout.name.to_owned()))];
    for part in parts {
        let (name, text) = split(part)?;
        let field = place(layout, name)?;
        let tag = tag_of(name).unwrap_or(MESSAGE);
        once(&fields, tag, name)?;
        let value = match (name, text) {
            (KEY_VALUE, WRONG) => SentValue::Text(WRONG.to_owned()),
            _ => SentValue::parse(text).map_err(|why| format!("{name}: {why}"))?,
        };
        match &value {
            SentValue::Text(text) if text != WRONG || name != KEY_VALUE => match field {
                Some(field) => field.bytes(text).map(|_| ())?,
                None => checksum_of(text).map(|_| ())?,
            },
            SentValue::Now(_) if field.is_none_or(|field| field.field.kind != "time") => {
                return Err(format!("{name}: 'now' is only for fields with a time"));
            }
            SentValue::LeftOut => {
                return Err(format!(
                    "{name}: a TMP field has a fixed place in the frame and cannot be left out"
                ));
            }
            _ => {}
        }
        fields.push((tag, value));
    }
    Ok(fields)
}

/// Parses an expected message: `R02|order_no=$A|leaves_qty=2`.
///
/// # Errors
///
/// See [`sent`].
pub(crate) fn expected(text: &str) -> Result<Vec<(Tag, ExpectedValue)>, String> {
    let (layout, parts) = head(text, true)?;
    let mut fields = vec![(MESSAGE, ExpectedValue::Text(layout.name.to_owned()))];
    for part in parts {
        let (name, text) = split(part)?;
        let field = place(layout, name)?;
        let tag = tag_of(name).unwrap_or(MESSAGE);
        once(&fields, tag, name)?;
        let usual = |text: String| match field {
            Some(field) => field.usual(&text),
            None => checksum_of(&text).map(|sum| sum.to_string()),
        };
        let value = ExpectedValue::parse(text).map_err(|why| format!("{name}: {why}"))?;
        let is_text = field.is_some_and(|field| matches!(field.field.kind, "char" | "data"));
        let value = match value {
            ExpectedValue::Text(text) => ExpectedValue::Text(usual(text)?),
            ExpectedValue::OneOf(values) => {
                let values: Result<_, String> = values.into_iter().map(usual).collect();
                ExpectedValue::OneOf(values?)
            }
            ExpectedValue::Absent if !is_text => {
                return Err(format!(
                    "{name}: (none) is only for texts, which may be blank; a number always has a value"
                ));
            }
            other => other,
        };
        fields.push((tag, value));
    }
    Ok(fields)
}

/// The layout of the message, and its fields.
fn head(
    text: &str,
    is_expected: bool,
) -> Result<(&'static TmpLayoutInfo, impl Iterator<Item = &str>), String> {
    let mut parts = text.split('|');
    let name = parts.next().unwrap_or_default();
    if name.is_empty() {
        return Err("no message: write its name and fields, such as R01|order_no=$A".to_owned());
    }
    Ok((message(name, is_expected)?, parts))
}

fn split(part: &str) -> Result<(&str, &str), String> {
    let wrong = || format!("field '{part}': write NAME=VALUE, such as order_no=$A");
    part.split_once('=').ok_or_else(wrong)
}

/// A field of the message; `None` for the checksum, which is not in its layout.
fn place(layout: &'static TmpLayoutInfo, name: &str) -> Result<Option<NamedField>, String> {
    match name {
        CHECKSUM => Ok(None),
        name => NamedField::find(layout, name).map(Some),
    }
}

fn once<V>(fields: &[(Tag, V)], tag: Tag, name: &str) -> Result<(), String> {
    match fields.iter().any(|field| field.0 == tag) {
        true => Err(format!("{name} appears twice: remove one of them")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_by_name() {
        let fields = sent("R01|exec_type=new|order_no=$A|qty=@1|msg_time=now-3s").unwrap();
        let tag = |name: &str| tag_of(name).unwrap();
        assert_eq!(fields[0], (MESSAGE, SentValue::Text("R01".to_owned())));
        assert_eq!(
            fields[2],
            (tag("order_no"), SentValue::Variable("A".to_owned()))
        );
        assert_eq!(fields[4], (tag("msg_time"), SentValue::Now(-3_000_000_000)));
        let fields = expected("R02|side=buy|qty={1,002}|symbol=TX*|user_define=(none)").unwrap();
        assert_eq!(fields[1].1, ExpectedValue::Text("1".to_owned()));
        let two = ["1".to_owned(), "2".to_owned()].to_vec();
        assert_eq!(fields[2].1, ExpectedValue::OneOf(two));
        assert_eq!(fields[4].1, ExpectedValue::Absent);
        assert!(sent("L40|key_value=wrong").is_ok());
    }

    #[test]
    fn mistakes_say_what_to_write() {
        for (text, why) in [
            ("", "no message: write its name"),
            ("R01|qty", "field 'qty': write NAME=VALUE"),
            ("R01|size=3", "R01 has no field 'size'"),
            ("R01|qty=3|qty=4", "qty appears twice"),
            ("R01|qty=", "qty: the field has no value"),
            (
                "R01|qty=70000",
                "qty: '70000' is not a number from 0 to 65535",
            ),
            ("R01|qty=now", "qty: 'now' is only for fields with a time"),
            ("R01|qty=(none)", "qty: a TMP field has a fixed place"),
            (
                "R01|checksum=300",
                "checksum: '300' is not a number from 0 to 255",
            ),
            ("L40|append_no=wrong", "append_no: 'wrong' is not a number"),
        ] {
            let found = sent(text).unwrap_err();
            assert!(found.starts_with(why), "{text}: {found}");
        }
        for (text, why) in [
            ("R01|qty=1", "R01 is sent by the broker and never received"),
            ("R02|qty=(none)", "qty: (none) is only for texts"),
            ("R02|qty={1,x}", "qty: 'x' is not a number"),
            (
                "R02|side=up",
                "side: 'up' is not a number from 0 to 255, or one of: 1 buy; 2 sell",
            ),
        ] {
            let found = expected(text).unwrap_err();
            assert!(found.starts_with(why), "{text}: {found}");
        }
    }
}
