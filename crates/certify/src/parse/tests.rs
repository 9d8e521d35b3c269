use super::*;
use crate::plan::{Expectation, Outgoing};
use crate::value::ExpectedValue;

#[test]
fn a_plan_is_read() {
    let text = "# A comment\nsession client.cfg OMS\nlimit 500ms\n\n\
                case 1 An order is acknowledged\n\
                new buy 100 VOD @ 12.50 11=$A\n\
                expect within 2s 35=8|11=$A|37=$order\n\
                and 35=8|11=$A|150=F\n\
                cancel $A\n\
                await 35=8|37=$order|38=@1\n\
                \ncase 12 Heartbeats\noptional\nrepeat 3\nversions: 4.4 5.0SP2\n\
                send 35=1|112=$T\nexpect 35=0|112=$T\n";
    let plan = CertificationPlan::parse(text).unwrap();
    assert_eq!(plan.settings.as_deref(), Some("client.cfg"));
    assert_eq!(plan.session.as_deref(), Some("OMS"));
    assert_eq!(plan.limit, Duration::from_millis(500));
    let [first, second] = &plan.cases[..] else {
        panic!("{plan:#?}");
    };
    assert_eq!((first.number, first.line, first.rounds), (1, 5, 1));
    assert_eq!(first.title, "An order is acknowledged");
    let numbers: Vec<usize> = first.steps.iter().map(|step| step.number).collect();
    assert_eq!(numbers, [1, 2, 4, 5]);
    assert!(matches!(
        &first.steps[0].action,
        StepAction::Send(Outgoing::Command(_))
    ));
    let StepAction::Expect(Expectation {
        patterns,
        within: Some(within),
        skips_others: false,
    }) = &first.steps[1].action
    else {
        panic!("{:?}", first.steps[1]);
    };
    assert_eq!(*within, Duration::from_secs(2));
    assert_eq!((patterns[1].step, patterns[1].line), (3, 8));
    let order = ExpectedValue::Variable("order".to_owned());
    assert_eq!(patterns[0].fields[2], (37, order));
    assert!(second.optional && second.rounds == 3);
    assert!(second.is_for(Version::Fix50Sp2) && !second.is_for(Version::Fix42));
    assert!(!second.opens_connection());
}

/// The errors of a case with these steps, each with its line in the text.
fn mistakes(steps: &str) -> Vec<String> {
    let text = format!("case 1 A\n{steps}\n");
    let mistakes = CertificationPlan::parse(&text).expect_err(steps);
    mistakes.iter().map(ToString::to_string).collect()
}

#[test]
fn every_mistake_is_reported_with_its_line() {
    let text = "sesion a.cfg\nlimit 5\ncase x\ncase 2\nexpect 35=8\ncase 2 B\nnew buy VOD\nexpct 35=8\nwait\n";
    let mistakes = CertificationPlan::parse(text).unwrap_err();
    let shown: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    let begins = [
        "1: unknown word 'sesion'",
        "2: '5' is not a time",
        "3: 'x' is not the number of a case",
        "4: the case has no title",
        "6: case 2 is in line 4 already",
        "7: quantity 'VOD'",
        "8: unknown step 'expct'",
        "9: '' is not a time",
    ];
    assert_eq!(shown.len(), begins.len(), "{shown:#?}");
    for (shown, begin) in shown.iter().zip(begins) {
        assert!(shown.starts_with(begin), "{shown}: {begin}");
    }
}

#[test]
fn steps_refer_to_what_is_known() {
    for (steps, mistake) in [
        (
            "send 35=D|44=$price\nexpect 35=8",
            "2: unknown variable $price",
        ),
        ("cancel $A\nexpect 35=8", "2: unknown order $A"),
        ("cancel last\nexpect 35=8", "2: no last order"),
        (
            "cancel all\nexpect 35=8",
            "2: 'all' cannot be used in a plan",
        ),
        (
            "expect 35=8|37=$o",
            "2: $o gets its value here and no later step uses it",
        ),
        (
            "expect 35=8|38=@1",
            "2: @1: step 1 of this case is the step itself",
        ),
        (
            "wait 1s\nexpect 35=8|38=@1",
            "3: @1: step 1 of this case has no message",
        ),
        (
            "expect 35=8|38=@7",
            "2: @7: step 7 of this case comes later",
        ),
        ("send 35=0", "1: case 1 expects nothing"),
        ("send 55=VOD\nexpect 35=8", "2: a message needs a MsgType"),
        ("expect 150=0", "2: expect needs a MsgType"),
        (
            "send 35=0|10=000\nexpect 35=8",
            "2: BodyLength(9) and CheckSum(10) are computed",
        ),
        ("wait 1s\nand 35=8", "3: 'and' continues an 'expect'"),
        (
            "expect 35=8\noptional",
            "3: 'optional' is for the whole case",
        ),
        ("expect 35=8\nlimit 2s", "3: 'limit' is for the whole plan"),
        ("expect within 3 35=8", "2: '3' is not a time"),
        ("expect 35=8|x=1", "2: field 'x=1'"),
        ("repeat 0\nexpect 35=8", "2: repeat '0'"),
        ("versions: 4.9\nexpect 35=8", "2: unknown version '4.9'"),
        ("answers maybe\nexpect 35=8", "2: answers 'maybe'"),
        ("skip 0\nexpect 35=8", "2: skip '0'"),
        ("drop it\nexpect 35=8", "2: drop: unexpected 'it'"),
        (
            "repeat 2\nrepeat 3\nexpect 35=8",
            "3: a second 'repeat': the first is in line 2",
        ),
        (
            "versions: 4.2\nversions: 4.4\nexpect 35=8",
            "3: a second 'versions:'",
        ),
        ("optional\noptional\nexpect 35=8", "3: a second 'optional'"),
        ("expect within2s 35=8", "2: 'within2s': write 'within TIME'"),
        ("disconnect within2s", "2: 'within2s': write 'within TIME'"),
        ("expect within 0s 35=8", "2: '0s' leaves no time"),
        ("silence 0s", "2: '0s' leaves no time"),
        ("expect within +5ms 35=8", "2: '+5ms' is not a time"),
        (
            "send 35=D|34=5|34=6\nexpect 35=8",
            "2: tag 34 appears twice: a header field is sent once",
        ),
        (
            "send 35=D|35=8\nexpect 35=8",
            "2: tag 35 appears twice: a header field is sent once",
        ),
        (
            "send 35=D|11=*\nexpect 35=8",
            "2: tag 11: '*': * is only for",
        ),
        (
            "new buy 1 VOD 58=a*\nexpect 35=8",
            "2: tag 58: 'a*': * is only for",
        ),
        (
            "new buy 1 VOD 34=7\nexpect 35=8",
            "2: the session sets tag 34",
        ),
    ] {
        let found = mistakes(steps);
        assert!(
            found.len() == 1 && found[0].starts_with(mistake),
            "{steps}: {found:#?}"
        );
    }
    for (head, mistake) in [
        (
            "limit 1s\nlimit 2s\n",
            "2: a second 'limit': the first is in line 1; remove one of them",
        ),
        (
            "limit 0s\n",
            "1: '0s' leaves no time: write a time limit such as 250ms or 2s",
        ),
    ] {
        let text =
            format!("{head}case 1 A\noptional\nexpect 35=8\ncase 2 B\noptional\nexpect 35=8\n");
        let found = CertificationPlan::parse(&text).unwrap_err();
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0].to_string(), mistake);
    }
    let group = "case 1 A\nsend 35=D|453=2|448=X|448=Y\nexpect 35=8\n";
    assert!(CertificationPlan::parse(group).is_ok());
    let empty = CertificationPlan::parse("# nothing\n").unwrap_err();
    assert!(
        empty[0].what.starts_with("the plan has no case"),
        "{empty:?}"
    );
}
