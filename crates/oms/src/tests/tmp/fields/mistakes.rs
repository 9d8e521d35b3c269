//! Mistakes in `tmp_fields`, each with its place.

use super::*;

/// The mistakes in settings with this table and these keys of the line group.
fn mistakes(settings: &str) -> Vec<String> {
    let mut open = |file: &str| match file {
        "instruments.csv" => Ok(INSTRUMENTS.to_string()),
        _ => Ok(LIMITS.to_string()),
    };
    let errors = load(settings, &["CLIENT", "FIX1"], &mut open).err();
    let errors = errors.unwrap_or_default();
    let said = errors.iter().map(|error| {
        let marked = settings.get(error.at..).unwrap_or_default();
        let marked: String = marked.chars().take(12).collect();
        let marked = marked.lines().next().unwrap_or_default().to_string();
        format!("{marked}: {error}")
    });
    said.collect()
}

#[test]
fn tables_with_mistakes_are_refused_where_they_stand() {
    assert_eq!(mistakes(&settings(TABLE, "")), [""; 0]);
    for (table, keys, at, what) in [
        ("7", "", "7", "tmp_fields must be a table"),
        (
            "{order_sorce = 9717}",
            "",
            "order_sorce ",
            "did you mean order_source?",
        ),
        (
            "{position_effect = 77}",
            "",
            "position_eff",
            "PositionEffect(77) of the order",
        ),
        (
            "{user_define = 9717}",
            "",
            "user_define ",
            "the number of the order",
        ),
        ("{account_flag = 9717}", "", "account_flag", "investor_flag"),
        (
            "{order_source = 0}",
            "",
            "0}",
            "must be a tag from 1 to 99999",
        ),
        (
            "{order_source = 100000}",
            "",
            "100000}",
            "must be a tag from 1 to 99999",
        ),
        (
            "{order_source = [1]}",
            "",
            "[1]}",
            "must be a tag from 1 to 99999",
        ),
        (
            "{order_source = \"9717\"}",
            "",
            "\"9717\"}",
            "order_source cannot be \"9717\"",
        ),
        ("{cm_id = \"0\"}", "", "\"0\"}", "cm_id cannot be \"0\""),
        (
            "{cm_id = 8}",
            "",
            "8}",
            "tag 8: it belongs to the session layer",
        ),
        (
            "{cm_id = 50}",
            "",
            "50}",
            "tag 50: it may be part of the identity of a session",
        ),
        (
            "{cm_id = 1}",
            "",
            "1}",
            "tag 1: the OMS reads or writes it itself",
        ),
        (
            "{order_source = 77}",
            "",
            "77}",
            "tag 77: the OMS reads or writes it itself",
        ),
        (
            "{order_source = 110}",
            "",
            "110}",
            "tag 110: it decides how an order trades",
        ),
        (
            "{order_source = 847}",
            "",
            "847}",
            "tag 847: clients say how their orders trade",
        ),
        (
            "{order_source = 18}",
            "",
            "18}",
            "tag 18: clients say how their orders trade",
        ),
        (
            "{order_source = 448}",
            "",
            "448}",
            "tag 448: it is part of a group",
        ),
        (
            "{order_source = 453}",
            "",
            "453}",
            "tag 453: it counts the entries of a group",
        ),
        (
            "{order_source = 355}",
            "",
            "355}",
            "tag 355: its length is a field of its own",
        ),
        (
            "{order_source = 15}",
            "",
            "15}",
            "tag 15: money, settlement",
        ),
        (
            "{cm_id = 9717, order_source = 9717}",
            "",
            "9717}",
            "tag 9717 is in cm_id and in order_source",
        ),
        (
            "{cm_id = 9717}",
            "set = {9717 = \"8\"}",
            "{9717 = \"8\"}",
            "its lines speak TMP",
        ),
        (
            "{cm_id = 9717}",
            "carry = [9717, 58]",
            "[9717, 58]",
            "carry of line_group FUT names tag 58",
        ),
        (
            "{cm_id = 9717}",
            "map.58 = {a = 'b'}",
            "",
            "map of line_group FUT names tag 58",
        ),
        (
            "{cm_id = 9717}",
            "map.9717 = {a = 'b'}",
            "",
            "map gives tag 9717 the value \"b\", which cm_id cannot have",
        ),
        (
            "{cm_id = 9717}",
            "drop = [9717]",
            "[9717]",
            "tag 9717 is in drop and in tmp_fields",
        ),
        (
            "{cm_id = 9717}",
            "refuse = [9717]",
            "[9717]",
            "tag 9717 is in refuse and in tmp_fields",
        ),
        ("{cm_id = 37}", "", "37}", "tag 37"),
    ] {
        let said = mistakes(&settings(table, keys));
        assert_eq!(said.len(), 1, "{table} {keys}: {said:?}");
        assert!(
            said[0].starts_with(at) && said[0].contains(what),
            "{table} {keys}: {said:?}"
        );
    }
    let twice = mistakes(&settings("{cm_id = 9717, cm_id = 9718}", ""));
    assert!(
        twice.len() == 1 && twice[0].contains("duplicate key"),
        "{twice:?}"
    );
    let user = "conditional = 2\nset = {9717 = \"abc\"}\n";
    let of_user = settings("{cm_id = 9717}", "").replace("conditional = 2\n", user);
    let said = mistakes(&of_user);
    let what = "set gives tag 9717 the value \"abc\", which cm_id cannot have";
    assert!(
        said.len() == 1 && said[0].starts_with("{9717") && said[0].contains(what),
        "{said:?}"
    );
    for (user, keys, what) in [
        (
            "map.9717 = {a = \"abc\"}",
            "",
            "map gives tag 9717 the value \"abc\", which cm_id cannot have",
        ),
        (
            "map.9717 = {a = \"4\", b = \"1\"}",
            "map.9717 = {4 = '8'}",
            "map gives tag 9717 the value \"1\", which map of line_group FUT does not have",
        ),
        (
            "set = {9717 = \"1\"}",
            "map.9717 = {4 = '8'}",
            "set gives tag 9717 the value \"1\", which map of line_group FUT does not have",
        ),
    ] {
        let user = format!("conditional = 2\n{user}\n");
        let of_user = settings("{cm_id = 9717}", keys).replace("conditional = 2\n", &user);
        let said = mistakes(&of_user);
        assert!(said.len() == 1 && said[0].contains(what), "{said:?}");
    }
    let own = settings("{cm_id = 9717}", "").replace(
        "[[account]]\nname = \"A1\"",
        "[oms.own_tags]\nvalidity = 9717\n[[account]]\nname = \"A1\"",
    );
    let said = mistakes(&own);
    assert!(
        said.len() == 1 && said[0].contains("tag 9717 of own_tags validity has another use"),
        "{said:?}"
    );
    let fix = settings(TABLE, "").replace("\"T1\"]", "\"FIX1\"]");
    let said = mistakes(&fix);
    assert!(
        said.len() == 1 && said[0].contains("has tmp_fields, but lines that speak FIX"),
        "{said:?}"
    );
}
