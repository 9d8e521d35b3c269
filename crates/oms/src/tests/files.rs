//! Settings with mistakes: each is named with its line.

use super::*;
use crate::load::OmsError;

const RESTRICTED: &str = "symbol,account,from,to,what\nX*,A*,2026-11-22,,short\nQQ,,,,\nXYZ,B*,,,\n\
                          XYZ,A1,20261122,,\nABC,,,2026-13-01,\nABC,,,,bye\n";

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
    let line = |error: &OmsError| match error.file {
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
    has(&found, "line 5: remembered is a number");
    has(&found, "line 6: unknown key remembred");
    has(&found, "line 10: no account DSEK before it");
    has(
        &found,
        "no session CLINT; the sessions are CLIENT, SIM-1, SIM-2",
    );
    has(&found, "no session SIM-3");
    has(&found, "lines is a list of texts");
    has(
        &found,
        "no right cancle; a user may new, replace, cancel, mass cancel, status",
    );
    has(&found, "flow = \"5\" says not how much a line may send");
    has(&found, "queue = \"soon\" is no time");
    has(&found, "no affinity moon");
    has(&found, "no session DC");
    has(
        &found,
        "no right fly; an operator may limit, kill, arm, market, roll",
    );
    has(&found, "a venue that cannot fly is not known");
    has(&found, "no line_group SMI");
    has(&found, "positions.csv:2: no account A9");
}

#[test]
fn files_are_checked_row_by_row() {
    let instruments = "symbol,tick,lot\nXYZ,0,1\nABC,1,0\nABC,x,1\nDEF,1\nXYZ,0.5,1\nXYZ,0.5,1\n";
    let limits = "scope,control,limit\nfirm,RC99,1\nfirm,RC6,1.5\nfirm,RC6,-1\nclient,RC6,1\n\
                  account=A9,RC6,1\nfirm,RC7,1\nfirm,RC7,2\n";
    let found = mistakes(SETTINGS, instruments, limits);
    has(&found, "instruments.csv:2: tick is a number above 0");
    has(&found, "instruments.csv:3: lot is a whole number above 0");
    has(&found, "instruments.csv:4: tick is a number above 0");
    has(
        &found,
        "instruments.csv:5: 2 values, the first line names 3",
    );
    has(&found, "instruments.csv:7: XYZ stands there twice");
    has(&found, "limits.csv:2: no control RC99");
    has(&found, "limits.csv:3: RC6=1.5: the limit is a whole number");
    has(&found, "limits.csv:4: RC6=-1: a limit is not below zero");
    has(&found, "limits.csv:5: client is no scope");
    has(&found, "limits.csv:6: no account A9");
    has(
        &found,
        "limits.csv:8: the limit of RC7 for this scope stands there twice",
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
        "restricted = \"restricted.csv\"\nself_trade = \"perhaps\"",
    );
    let found = mistakes(&settings, INSTRUMENTS, LIMITS);
    has(
        &found,
        "self_trade = \"perhaps\" is not known; write allow, or reject",
    );
    has(&found, "restricted.csv:3: no symbol QQ");
    has(&found, "restricted.csv:4: no account B*");
    has(&found, "restricted.csv:5: from is a day such as 2026-11-22");
    has(&found, "restricted.csv:6: to is a day");
    has(&found, "restricted.csv:7: bye cannot be restricted");
    assert_eq!(found.len(), 6, "the second row is good");
}

#[test]
fn a_text_that_is_no_toml_and_one_without_oms() {
    has(&mistakes("[oms", "", ""), "line 1:");
    has(&mistakes("", "", ""), "the table [oms] is missing");
}
