//! Mistakes in settings: each is reported with its line.

use super::*;
use fixwire_text::Diagnostic;

const RESTRICTED: &str = "symbol,account,from,to,what\nX*,A*,2026-11-22,,short\nQQ,,,,\nXYZ,B*,,,\n\
                          XYZ,A1,20261122,,\nABC,,,2026-13-01,\nABC,,,,bye\n\
                          ABC,,2026-11-23,2026-11-22,\nABC,,2026-11-23,2026-11-23,\n";

fn mistakes(settings: &str, instruments: &str, limits: &str) -> Vec<String> {
    let mut open = |file: &str| match file {
        "instruments.csv" => Ok(instruments.to_string()),
        "limits.csv" => Ok(limits.to_string()),
        "positions.csv" => Ok("account,symbol,long\nA9,XYZ,1\nA1,XYZ,x\nA1,QQ,1\n".to_string()),
        "restricted.csv" => Ok(RESTRICTED.to_string()),
        other => Err(format!("no {other}")),
    };
    let loaded = load(settings, &SESSIONS, &mut open);
    let errors = loaded.err().unwrap_or_default();
    let line = |error: &Diagnostic| match error.file {
        Some(_) => String::new(),
        None => format!("line {}: ", settings[..error.at].matches('\n').count() + 1),
    };
    let errors = errors.iter();
    errors.map(|it| format!("{}{it}", line(it))).collect()
}

#[track_caller]
fn has(mistakes: &[String], wanted: &str) {
    let found = mistakes.iter().any(|mistake| mistake.contains(wanted));
    assert!(found, "{wanted}: {mistakes:#?}");
}

#[test]
fn the_settings_of_the_tests_have_none() {
    assert_eq!(mistakes(SETTINGS, INSTRUMENTS, LIMITS), [""; 0]);
}

#[test]
fn the_time_of_a_reload_is_a_time_of_day() {
    let of = |time: &str| {
        let settings = SETTINGS.replace("remembered = 4", &format!("reload = \"{time}\""));
        mistakes(&settings, INSTRUMENTS, LIMITS)
    };
    assert_eq!(of("07:30:15"), [""; 0]);
    has(
        &of("7:30"),
        "line 5: reload = \"7:30\" is not a time of day",
    );
    has(&of("25:00"), "write a time of day in UTC: 07:30, 07:30:15");
}

#[test]
fn a_trading_day_begins_at_a_time_of_a_zone() {
    const DAY: &str = "day_begins = \"00:00 UTC\"";
    let of = |key: &str| mistakes(&SETTINGS.replace(DAY, key), INSTRUMENTS, LIMITS);
    for right in [
        "17:05 America/New_York",
        "17:05:30 Asia/Kolkata",
        "00:00 utc",
    ] {
        assert_eq!(of(&format!("day_begins = \"{right}\"")), [""; 0]);
    }
    has(&of(""), "[oms] day_begins is missing");
    has(
        &of(""),
        "day_begins = \"00:00 UTC\" is the day of a file without the key",
    );
    has(
        &of("day_begins = \"06:00\""),
        "line 2: day_begins = \"06:00\" has no time zone",
    );
    has(&of("day_begins = \"06:00\""), "write it as 06:00 UTC");
    for wrong in ["6:00 UTC", "24:00 UTC", "UTC", "UTC 06:00"] {
        let found = of(&format!("day_begins = \"{wrong}\""));
        has(&found, "is not a time of day and a time zone");
    }
}

#[test]
fn a_password_or_prefix_needs_a_database() {
    const DAY: &str = "day_begins = \"00:00 UTC\"";
    let of = |keys: &str| {
        let settings = SETTINGS.replace(DAY, &format!("{DAY}\n{keys}"));
        mistakes(&settings, INSTRUMENTS, LIMITS)
    };
    const DATABASE: &str = "database = \"postgresql://me@db/fix\"\n";
    for key in ["database_password_file", "database_prefix"] {
        let line = format!("{key} = \"x\"");
        assert_eq!(of(&format!("{DATABASE}{line}")), [""; 0]);
        let wrong = of(&line);
        has(&wrong, &format!("line 3: {key} without database"));
        has(&wrong, "name the database: database = ");
    }
}

#[test]
fn files_of_ended_days_need_a_folder_and_a_known_form() {
    const DAY: &str = "day_begins = \"00:00 UTC\"";
    let of = |keys: &str| {
        mistakes(
            &SETTINGS.replace(DAY, &format!("{DAY}\n{keys}")),
            INSTRUMENTS,
            LIMITS,
        )
    };
    assert_eq!(
        of("day_files = \"days\"\nday_format = \"parquet\""),
        [""; 0]
    );
    assert_eq!(of("day_format = \"csv\""), [""; 0], "the default");
    has(&of("day_files = \" \""), "line 3: day_files is empty");
    has(
        &of("day_files = \" \""),
        "write the name of a folder: day_files = \"days\"",
    );
    has(&of("day_files = \"\""), "line 3: day_files must be a text");
    has(
        &of("day_format = \"parquet\""),
        "line 3: day_format without day_files",
    );
    has(
        &of("day_format = \"parquet\""),
        "name the folder of the files: day_files = \"days\"",
    );
    has(
        &of("day_files = \"days\"\nday_format = \"xls\""),
        "line 4: day_format = \"xls\" is not known",
    );
}

#[test]
fn every_mistake_is_named_with_its_line() {
    let settings = SETTINGS
        .replace(
            "remembered = 4",
            "remembered = -4\nremembred = 1\npositions = \"positions.csv\"",
        )
        .replace("session = \"CLIENT\"", "session = \"CLINT\"")
        .replace("\"SIM-2\"", "\"SIM-3\", 7")
        .replace("\"cancel\"", "\"cancle\"")
        .replace(
            "name = \"SIM\"",
            "name = \"SIM\"\nflow = \"5\"\nqueue = \"soon\"\naffinity = \"moon\"\ncannot = [\"fly\"]",
        )
        .replace(
            "[[route]]",
            "[[drop_copy]]\nsession = \"DC\"\n[[operator]]\nuser = \"ann\"\nmay = [\"fly\"]\n[[route]]",
        )
        .replace("to = \"SIM\"", "to = \"SMI\"")
        .replace("parent = \"DESK\"", "parent = \"DSEK\"");
    let found = mistakes(&settings, INSTRUMENTS, LIMITS);
    has(&found, "line 5: remembered must be a number");
    has(&found, "line 6: unknown key remembred");
    has(&found, "line 10: unknown parent account DSEK");
    has(
        &found,
        "unknown session CLINT; the sessions are CLIENT, SIM-1, SIM-2",
    );
    has(&found, "unknown session SIM-3");
    has(&found, "lines must be a list of strings");
    has(
        &found,
        "unknown right cancle; the rights are new, replace, cancel, mass cancel, status",
    );
    has(&found, "flow = \"5\" is not a rate of messages");
    has(&found, "queue = \"soon\" is not a time");
    has(&found, "unknown affinity moon");
    has(&found, "unknown session DC");
    has(
        &found,
        "unknown right fly; the rights are read, session, numbers, send, command, reload, limit",
    );
    has(&found, "unknown value in cannot: fly");
    has(&found, "unknown line_group SMI");
    has(&found, "positions.csv:2: unknown account A9");
}

/// The settings with one more table of the client.
fn with_table(lines: &str) -> String {
    let table = format!("[[user]]\nsession = \"CLIENT\"\n{lines}\n[[line_group]]");
    SETTINGS.replace("[[line_group]]", &table)
}

#[test]
fn two_tables_of_a_session_that_decide_the_same_are_named_with_both_lines() {
    let found = |lines: &str| mistakes(&with_table(lines), INSTRUMENTS, LIMITS);
    // A more specific pattern is allowed, and the default account may be in the other table.
    for good in ["accounts = [\"A1\"]", "accounts = [\"*\", \"A1*\"]"] {
        assert_eq!(found(good), [""; 0]);
    }
    let moved = with_table("accounts = [\"A1\"]").replace("[\"A*\"]", "[\"B*\"]");
    assert_eq!(mistakes(&moved, INSTRUMENTS, LIMITS), [""; 0]);
    assert_eq!(
        found("accounts = [\"A1\", \"A*\"]"),
        [
            "line 23: accounts A* of CLIENT are in two tables, lines 16 and 23; the most specific pattern decides: \
             keep it in one table"
        ]
    );
    assert_eq!(
        found("accounts = [\"A1\"]\non_logout = \"cancel\"\nrate = \"1 in 1s\""),
        [
            "line 24: on_logout of CLIENT is in two tables, lines 19 and 24; it applies to the whole session: \
             write it once"
        ]
    );
    assert_eq!(
        found("may = [\"new\"]"),
        [
            "line 21: [[user]] of CLIENT has no accounts; with several tables for a session, each must name its \
             accounts"
        ]
    );
    let none = with_table("accounts = [\"B\"]").replace("[\"A*\"]", "[\"B*\"]");
    has(
        &mistakes(&none, INSTRUMENTS, LIMITS),
        "line 18: account A1 is not one of the accounts of this user",
    );
}

#[test]
fn the_rate_of_a_user_is_read_and_a_wrong_one_named() {
    let with = |rate: &str| SETTINGS.replace("[[user]]", &format!("[[user]]\nrate = {rate}"));
    let read = |rate: &str| {
        let mut open = |file: &str| match file {
            "instruments.csv" => Ok(INSTRUMENTS.to_string()),
            _ => Ok(LIMITS.to_string()),
        };
        let rule = load(&with(rate), &SESSIONS, &mut open).unwrap().users[0].rate;
        rule.map(|rule| (rule.count.get(), rule.time, rule.logout_after))
    };
    assert_eq!(
        read("\"100 in 1s, logout after 10\""),
        Some((100, 1_000_000_000, Some(10)))
    );
    assert_eq!(read("\"5 in 500ms\""), Some((5, 500_000_000, None)));
    for wrong in [
        "100",
        "0 in 1s",
        "100 in 61s",
        "100 in 1s, logout",
        "100 in 1s, logout after 0",
        "100 in 1s, logout after ten",
        "100 in 1s,logout after 10",
    ] {
        let found = mistakes(&with(&format!("\"{wrong}\"")), INSTRUMENTS, LIMITS);
        let wanted = format!("line 15: rate = \"{wrong}\" is not a rate of requests");
        has(&found, &wanted);
        assert_eq!(found.len(), 1, "{found:?}");
    }
    let found = mistakes(&with("100"), INSTRUMENTS, LIMITS);
    has(&found, "line 15: rate must be a text");
}

/// The settings with these lines in the line group.
fn in_group(lines: &str) -> String {
    SETTINGS.replace("name = \"SIM\"\n", &format!("name = \"SIM\"\n{lines}\n"))
}

#[test]
fn error_tables_are_checked_entry_by_entry() {
    let entry = |entry: &str| {
        mistakes(
            &in_group(&format!("error = [{{{entry}}}]")),
            INSTRUMENTS,
            LIMITS,
        )
    };
    let good = [
        "text = \"busy*\", do = \"retry\", times = 10, after = \"60s\", say = \"try later\"",
        "ord_rej_reason = 3, text = \"x\", do = \"another line\"",
        "cxl_rej_reason = 2, say = \"no\"",
        "business_reject_reason = 4, do = \"reject\", say = \"no\"",
    ];
    for text in good {
        assert_eq!(entry(text), [""; 0], "{text}");
    }
    let hint = "write retry, another line, or reject";
    for (text, wanted) in [
        (
            "do = \"retry\"",
            "an error entry that matches nothing; name ord_rej_reason",
        ),
        (
            "text = \"x\"",
            "an error entry without say, do or state has no effect",
        ),
        ("text = \"x\", do = \"fly\"", hint),
        (
            "txt = \"x\", do = \"retry\"",
            "unknown key txt; the keys are after",
        ),
        (
            "text = 7, do = \"retry\"",
            "text must be a text of 1 to 255 bytes",
        ),
        (
            "ord_rej_reason = \"3\", do = \"retry\"",
            "ord_rej_reason must be a number",
        ),
        ("ord_rej_reason = 6, do = \"retry\"", "Duplicate Order"),
        (
            "cxl_rej_reason = 2, do = \"retry\"",
            "cancels and replaces are not sent again",
        ),
        (
            "text = \"x\", do = \"retry\", times = 0",
            "times must be a number from 1 to 10",
        ),
        (
            "text = \"x\", do = \"retry\", times = 11",
            "times must be a number from 0 to 10",
        ),
        (
            "text = \"x\", do = \"retry\", after = \"61s\"",
            "after = \"61s\" is not a time",
        ),
        (
            "text = \"x\", do = \"retry\", after = \"soon\"",
            "after = \"soon\" is not a time",
        ),
        (
            "text = \"x\", say = \"y\", after = \"1s\"",
            "after is only used with retry",
        ),
        (
            "text = \"x\", say = \"a\\u0001b\"",
            "say must be a text of at most 200 bytes",
        ),
        (
            "ord_rej_reason = 1, cxl_rej_reason = 1, say = \"y\"",
            "an error entry names only one reason",
        ),
    ] {
        let found = entry(text);
        has(&found, wanted);
        assert!(found[0].starts_with("line 2"), "{found:?}");
    }
    let one = in_group("error = [{text = \"x\", do = \"another line\"}]");
    let one = one.replace(", \"SIM-2\"", "");
    has(
        &mistakes(&one, INSTRUMENTS, LIMITS),
        "the line_group has only one line",
    );
    let table = in_group("error = 7");
    has(
        &mistakes(&table, INSTRUMENTS, LIMITS),
        "[[line_group.error]] needs double brackets",
    );
}

#[test]
fn number_pools_are_checked_one_by_one() {
    let with = |pools: &str| mistakes(&format!("{SETTINGS}{pools}"), INSTRUMENTS, LIMITS);
    let pool = |lines: &str| with(&format!("[[number_pool]]\nname = \"P\"\n{lines}"));
    for good in [
        "width = 4",
        "width = 4\nprefix = \"T\"\ndigits = \"0-9A-Za-z\"\nfirst = \"0001\"\nlast = \"zzzz\"\ntag = 37\neach_day = true",
        "width = 20\ndigits = \"01\"\ntag = 5001",
    ] {
        assert_eq!(pool(good), [""; 0], "{good}");
    }
    for (lines, wanted) in [
        (
            "prefix = \"T\"",
            "width is missing; write the number of digits",
        ),
        ("width = 0", "width = 0 is out of range"),
        ("width = 20", "width = 20 is out of range"),
        ("width = 4\nprefx = \"T\"", "unknown key prefx"),
        (
            "width = 4\nprefix = \"a b\"",
            "prefix = \"a b\" has characters other than",
        ),
        (
            "width = 4\ndigits = \"9-0\"",
            "digits = \"9-0\" is not a list of digits",
        ),
        (
            "width = 4\ndigits = \"0-91\"",
            "is not a list of digits; write letters and digits, each once",
        ),
        (
            "width = 4\nfirst = \"1\"",
            "first = \"1\" is not a number of the pool",
        ),
        (
            "width = 4\nfirst = \"0002\"\nlast = \"0001\"",
            "last is before first",
        ),
        (
            "width = 4\ntag = 38",
            "tag = 38 is already used in orders; write 526",
        ),
        ("width = 4\neach_day = 1", "each_day must be true or false"),
        (
            "width = 4\n[[number_pool]]\nname = \"P\"\nwidth = 1",
            "number_pool P is listed twice",
        ),
        (
            "width = 4\n[[number_pool]]\nname = \"P Q\"\nwidth = 1",
            "number_pool P Q must not contain blanks",
        ),
    ] {
        has(&pool(lines), wanted);
    }
    let unknown = in_group("number_pool = \"Q\"");
    has(
        &mistakes(&unknown, INSTRUMENTS, LIMITS),
        "unknown number_pool Q; see [[number_pool]]",
    );
    // Numbers of users' orders must not overlap with others.
    let two = |user: &str| {
        let pools = "[[number_pool]]\nname = \"P\"\nwidth = 3\nprefix = \"A\"\n\
                     [[number_pool]]\nname = \"Q\"\nwidth = 2\nprefix = \"A0\"\n";
        let settings = SETTINGS.replace(
            "session = \"CLIENT\"",
            &format!("session = \"CLIENT\"{user}"),
        );
        mistakes(&format!("{settings}{pools}"), INSTRUMENTS, LIMITS)
    };
    assert_eq!(two(""), [""; 0]);
    has(
        &two("\nnumber_pool = \"P\""),
        "number_pool Q overlaps P; orders of users may go to the same venue",
    );
}

#[test]
fn files_are_checked_row_by_row() {
    let instruments = "symbol,tick,lot\nXYZ,0,1\nABC,1,0\nABC,x,1\nDEF,1\nXYZ,0.5,1\nXYZ,0.5,1\n";
    let limits = "scope,control,limit\nfirm,RC99,1\nfirm,RC13,1.5\nfirm,RC6,-1\nclient,RC6,1\n\
                  account=A9,RC6,1\nfirm,RC7,1\nfirm,RC7,2\n";
    let found = mistakes(SETTINGS, instruments, limits);
    has(&found, "instruments.csv:2: tick must be a number above 0");
    has(&found, "instruments.csv:3: lot must be a number above 0");
    has(&found, "instruments.csv:4: tick must be a number above 0");
    has(
        &found,
        "instruments.csv:5: 2 values, the first line names 3",
    );
    has(&found, "instruments.csv:7: XYZ is listed twice");
    has(&found, "limits.csv:2: unknown control RC99");
    has(
        &found,
        "limits.csv:3: RC13=1.5: the limit must be a whole number",
    );
    has(
        &found,
        "limits.csv:4: RC6=-1: the limit must not be negative",
    );
    has(&found, "limits.csv:5: client is not a scope");
    has(&found, "limits.csv:6: unknown account A9");
    has(
        &found,
        "limits.csv:8: the limit of RC7 for this scope is listed twice",
    );
}

#[test]
fn a_mistake_is_one_line_whatever_a_cell_says() {
    let found = mistakes(SETTINGS, "symbol,\"tick\nsize\"\nXYZ,1\n", LIMITS);
    has(&found, "unknown column tick?size");
}

#[test]
fn restrictions_are_checked_row_by_row() {
    let settings = SETTINGS.replace(
        "remembered = 4",
        "restricted = \"restricted.csv\"\nself_trade = \"perhaps\"\nreference_price = \"mid\"",
    );
    let found = mistakes(&settings, INSTRUMENTS, LIMITS);
    has(
        &found,
        "self_trade = \"perhaps\" is not known; write allow, or reject",
    );
    has(
        &found,
        "reference_price = \"mid\" is not known; write file, last, or best",
    );
    has(&found, "restricted.csv:3: unknown symbol QQ");
    has(&found, "restricted.csv:4: unknown account B*");
    has(
        &found,
        "restricted.csv:5: from must be a day such as 2026-11-22",
    );
    has(&found, "restricted.csv:6: to must be a day");
    has(&found, "restricted.csv:7: bye cannot be restricted");
    has(&found, "restricted.csv:8: from is later than to");
    let of_file = found.iter().filter(|it| it.contains("restricted.csv:"));
    assert_eq!(of_file.count(), 6, "one day is from and to: {found:#?}");
    assert_eq!(found.len(), 8, "the second row is good");
}

#[test]
fn a_text_that_is_no_toml_and_one_without_oms() {
    has(&mistakes("[oms", "", ""), "line 1:");
    has(&mistakes("", "", ""), "the table [oms] is missing");
}

#[test]
fn mistakes_in_the_legs_of_a_spread_are_named() {
    let found = |rows: &str| {
        let header = "symbol,tick,lot,multiplier,reference,positions,legs";
        let known = "XYZ,0.05,10,2,100,,\nABC,1,1,1,50,,\nMAR,0.05,1,1,100,,\nNOREF,0.05,1,1,,,\nEFF,0.05,1,1,9,effect,";
        mistakes(SETTINGS, &format!("{header}\n{known}\n{rows}\n"), LIMITS)
    };
    assert_eq!(found("S,0.01,1,1,,,buy 1 XYZ sell 3 MAR"), [""; 0]);
    for (legs, wanted) in [
        (
            "buy 1 XYZ",
            "instruments.csv:7: legs of S must be two; write side, ratio and symbol of both legs",
        ),
        ("buy 1 XYZ sell 1 XYZ", "both legs of S are XYZ"),
        ("take 1 XYZ sell 1 MAR", "take is not a side of a leg"),
        (
            "buy 0 XYZ sell 1 MAR",
            "the ratio of leg XYZ must be a number from 1 to 1000",
        ),
        (
            "buy 1 QQ sell 1 MAR",
            "unknown leg QQ; list the legs of a spread in rows before it",
        ),
        ("buy 1 NOREF sell 1 MAR", "leg NOREF has no reference price"),
        (
            "buy 1 ABC sell 1 MAR",
            "leg ABC has 0 decimals, but its spread has 2",
        ),
        (
            "buy 1 EFF sell 1 MAR",
            "leg EFF and its spread have different values of `positions`",
        ),
    ] {
        has(&found(&format!("S,0.01,1,1,,,{legs}")), wanted);
    }
    let both = "S,0.01,1,1,,,buy 1 XYZ sell 3 MAR\nT,0.01,1,1,,,buy 1 S sell 1 MAR";
    has(
        &found(both),
        "instruments.csv:8: leg S is a spread itself; a leg has no legs",
    );
}

#[test]
fn only_so_many_users_get_reports_of_orders_placed_elsewhere() {
    let of = |users: usize| {
        let name = |number: usize| format!("U{number}");
        let mut settings =
            format!("{SETTINGS}[[drop_copy_in]]\nsession = \"COPY\"\nline_groups = [\"SIM\"]\n");
        for number in 0..users {
            settings += &format!(
                "[[user]]\nsession = \"{}\"\nmay = [\"reports\"]\n",
                name(number)
            );
        }
        let names: Vec<String> = (0..users).map(name).collect();
        let mut sessions: Vec<&str> = names.iter().map(String::as_str).collect();
        sessions.extend(SESSIONS);
        sessions.push("COPY");
        let mut open = |file: &str| match file {
            "instruments.csv" => Ok(INSTRUMENTS.to_string()),
            _ => Ok(LIMITS.to_string()),
        };
        let errors = load(&settings, &sessions, &mut open)
            .err()
            .unwrap_or_default();
        errors.iter().map(Diagnostic::to_string).collect::<Vec<_>>()
    };
    assert_eq!(of(128), [""; 0]);
    let found = of(129);
    has(
        &found,
        "129 users with the right reports, and a [[drop_copy_in]]",
    );
    has(&found, "at most 128");
    assert_eq!(found.len(), 1);
}

#[test]
fn opening_positions_are_checked_row_by_row() {
    let instruments = "symbol,tick,positions,quantity_decimals,lot\nXYZ,0.5,,,1\nFUT,0.5,effect,,1\nBTC,0.5,,2,1\n";
    let found = |rows: &str| {
        let text = format!("account,symbol,long,short\n{rows}\n");
        let mut open = |file: &str| match file {
            "instruments.csv" => Ok(instruments.to_string()),
            "limits.csv" => Ok("scope,control,limit\nfirm,RC6,1\n".to_string()),
            _ => Ok(text.clone()),
        };
        let settings = SETTINGS.replace("remembered = 4", "positions = \"positions.csv\"");
        let errors = load(&settings, &SESSIONS, &mut open).err();
        let errors = errors.unwrap_or_default().into_iter();
        let of_file =
            errors.filter(|it| it.file.as_ref().is_some_and(|it| it.0 == "positions.csv"));
        of_file.map(|it| it.to_string()).collect::<Vec<_>>()
    };
    let wrong = [
        (
            "A1,XYZ,10,5",
            "positions of XYZ net, so one of long and short must be 0",
        ),
        (
            "A1,XYZ,-5,",
            "long -5 is below 0; a position to sell is short, and both quantities are 0 or above",
        ),
        (
            "A1,XYZ,,9007199254740993",
            "short 9007199254740993 must be a whole number up to 9007199254740992",
        ),
        (
            "A1,XYZ,1.5,",
            "long 1.5 must be a whole number up to 9007199254740992",
        ),
        (
            "A1,BTC,1.005,",
            "long 1.005 must be a number with at most 2 decimals, up to 90071992547409.92",
        ),
    ];
    for (row, wanted) in wrong {
        assert_eq!(found(row), [format!("positions.csv:2: {wanted}")], "{row}");
    }
    for right in ["A1,FUT,10,5", "A1,XYZ,9007199254740992,0", "A1,BTC,,1.05"] {
        assert_eq!(found(right), [""; 0], "{right}");
    }
}
