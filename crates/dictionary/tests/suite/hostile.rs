//! Dictionary files that attack their reader: entities, bombs, depth, size, encodings.

use crate::generated::quickfix_text;
use fixwire_dictionary::delta::Delta;
use fixwire_dictionary::{
    DictionaryError, DictionaryProblem, DocumentLimits, read, read_noting, text_of,
};
use fixwire_random::Random;

const REPOSITORY: &str = include_str!("data/repository.xml");

/// Texts that attack an XML reader: each is refused, at once and with a short sentence.
fn hostile(good: &str, root: &str) -> Vec<(&'static str, String)> {
    let behind_prolog = good
        .trim_start_matches("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")
        .trim_start();
    let billion: String = (0..40)
        .map(|n| format!("<!ENTITY l{} \"&l{n};&l{n};&l{n};&l{n};\">", n + 1))
        .collect();
    let deep = |count: usize| format!("{}{}", "<a>".repeat(count), "</a>".repeat(count));
    let end = format!("</{root}>");
    let inside = |text: &str| good.replacen(&end, &format!("{text}{end}"), 1);
    let attributes: String = (0..100_000).map(|n| format!("a{n}=\"\" ")).collect();
    let namespaces: String = (0..5_000)
        .map(|n| format!("<b xmlns:n{n}=\"u{n}\">"))
        .collect();
    vec![
        (
            "external entity",
            format!("<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>{behind_prolog}"),
        ),
        (
            "external document type",
            format!("<!DOCTYPE x SYSTEM \"http://127.0.0.1:1/x.dtd\">{behind_prolog}"),
        ),
        (
            "parameter entity",
            format!("<!DOCTYPE x [<!ENTITY % p SYSTEM \"file:///dev/zero\"> %p;]>{behind_prolog}"),
        ),
        (
            "billion laughs",
            format!("<!DOCTYPE x [<!ENTITY l0 \"ha\">{billion}]>{behind_prolog}"),
        ),
        (
            "unknown entity",
            good.replacen("name=\"", "name=\"&laugh;", 2),
        ),
        ("deep nesting", inside(&deep(1_000_000))),
        ("deep and open", inside(&"<a>".repeat(1_000_000))),
        (
            "huge attribute",
            good.replacen("name=\"", &format!("name=\"{}", "x".repeat(20 << 20)), 2),
        ),
        ("huge name", inside(&format!("<{}/>", "x".repeat(20 << 20)))),
        ("many attributes", inside(&format!("<a {attributes}/>"))),
        (
            "attributes behind a quote",
            inside(&format!("<a b=\"'>\" c='\">' {attributes}/>")),
        ),
        (
            "attributes behind a comment",
            inside(&format!("<!-- ' --><a {attributes}/>")),
        ),
        ("namespaces", inside(&namespaces)),
        ("unclosed comment", inside("<!-- ")),
        ("too long", format!("{good}{}", " ".repeat(33 << 20))),
        (
            "duplicate attribute",
            good.replacen("name=\"", "name=\"a\" name=\"", 2),
        ),
        ("nothing", String::new()),
        ("binary", "\u{0}\u{1}\u{2}".into()),
    ]
}

#[test]
fn hostile_files_are_refused_with_a_short_sentence() {
    let quickfix_file = quickfix_text(&mut Random::new(7));
    for (good, root) in [
        (REPOSITORY, "fixr:repository"),
        (quickfix_file.as_str(), "fix"),
    ] {
        for (what, text) in hostile(good, root) {
            let start = std::time::Instant::now();
            let error = read(text.as_bytes(), DocumentLimits::default()).expect_err(what);
            let said = error.to_string();
            assert!(said.len() < 600, "{what}: {} bytes", said.len());
            assert!(error.line >= 1 && error.column >= 1, "{what}: {said}");
            // A quadratic reader needs hours.
            assert!(start.elapsed().as_secs() < 60, "{what}");
            let delta = Delta::read("x", &text, DocumentLimits::default());
            assert!(
                delta.is_err() || text.is_empty() || root != "fix",
                "{what} as a delta"
            );
        }
    }
}

#[test]
fn files_are_utf_8_and_say_nothing_else() {
    let encoding = |bytes: &[u8]| match read(bytes, DocumentLimits::default()) {
        Err(DictionaryError {
            line,
            problem: DictionaryProblem::Encoding(name),
            ..
        }) => Some((line, name)),
        _ => None,
    };
    let with = |name: &str, text: &str| {
        let file =
            REPOSITORY
                .replacen("UTF-8", name, 1)
                .replacen("\"Buy\"", &format!("\"{text}\""), 1);
        file.into_bytes()
    };
    assert_eq!(encoding(&with("UTF-8", "Käufer")), None);
    assert_eq!(encoding(&with("utf-8", "Buy")), None);
    assert_eq!(
        encoding(&with("ISO-8859-1", "Buy")),
        None,
        "ASCII is the same"
    );
    assert_eq!(encoding(&with("ISO-8859-1", "Käufer")), None);
    assert_eq!(encoding(&with("KOI8-X", "ü")), Some((1, "KOI8-X".into())));
    assert_eq!(encoding(&with("UTF-16", "Buy")), Some((1, "UTF-16".into())));
    assert_eq!(
        encoding(&with("EBCDIC-CP-US", "Buy")),
        Some((1, "EBCDIC-CP-US".into()))
    );
    for (name, byte, buyer) in [
        ("ISO-8859-1", 0xe4, "Käufer"),
        ("iso-8859-15", 0xa4, "K€ufer"),
        ("windows-1252", 0x80, "K€ufer"),
        ("Windows-1252", 0xe4, "Käufer"),
        ("cp1252", 0x92, "K’ufer"),
    ] {
        let file: Vec<u8> = with(name, "K~ufer")
            .into_iter()
            .map(|it| if it == b'~' { byte } else { it })
            .collect();
        let (read, notes) = read_noting(&file, DocumentLimits::default()).expect(name);
        let buy = &read.field(54).expect("a field").values[0];
        assert_eq!((buy.name.as_str(), notes.len()), (buyer, 1));
        assert!(
            notes[0].text.to_lowercase().contains("read as "),
            "{}",
            notes[0].text
        );
    }
    assert_eq!(encoding(b"\xff\xfe<\0f\0"), Some((1, "UTF-16".into())));
    assert_eq!(
        encoding(b"\xff"),
        Some((1, "bytes that are not UTF-8".into()))
    );
    assert_eq!(text_of(b"\xef\xbb\xbf<fix/>"), Ok("<fix/>"));
}
