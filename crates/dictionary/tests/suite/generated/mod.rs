//! Random QuickFIX dictionaries, always valid.

use std::fmt::Write as _;

use fixwire_random::Random;

const KINDS: [&str; 9] = [
    "STRING",
    "CHAR",
    "INT",
    "PRICE",
    "LENGTH",
    "DATA",
    "NUMINGROUP",
    "UTCTIMESTAMP",
    "MULTIPLESTRINGVALUE",
];
const VERSIONS: [&str; 4] = [
    "major=\"Latest\" minor=\"0\" servicepack=\"0\" extensionpack=\"269\"",
    "type=\"FIX\" major=\"4\" minor=\"4\" servicepack=\"0\"",
    "type=\"FIX\" major=\"5\" minor=\"0\" servicepack=\"2\"",
    "type=\"FIXT\" major=\"1\" minor=\"1\" servicepack=\"0\"",
];

/// A dictionary of a few fields, groups in groups, components in components, and odd names.
pub fn quickfix_text(random: &mut Random) -> String {
    let count = 4 + random.place(20);
    let names: Vec<String> = (1..=count).map(|n| name(random, n)).collect();
    let mut text = format!(
        "<fix {}>\n<fields>\n",
        VERSIONS[random.place(VERSIONS.len())]
    );
    for (n, name) in names.iter().enumerate() {
        let number = if n % 5 == 4 { 70_000 + n } else { n + 1 };
        let kind = KINDS[random.place(KINDS.len())];
        let _ = write!(
            text,
            "<field number=\"{number}\" name=\"{name}\" type=\"{kind}\">"
        );
        if random.one_in(3) {
            for value in 0..random.place(5) {
                let shown = ["&amp;", "A", "B C", "&lt;x&gt;"][random.place(4)];
                let _ = write!(
                    text,
                    "<value enum=\"{}\" description=\"{shown}\"/>",
                    value + random.place(3)
                );
            }
        }
        text += "</field>\n";
    }
    text += "</fields>\n<components>\n";
    let components = random.place(4);
    for n in 0..components {
        let _ = write!(text, "<component name=\"C{n}\">");
        // Only later ones, so that no component contains itself.
        items(random, &names, (n + 1, components), 2, &mut text);
        text += "</component>\n";
    }
    text += "</components>\n<header>";
    items(random, &names, (components, components), 1, &mut text);
    text += "</header>\n<trailer>";
    items(random, &names, (components, components), 0, &mut text);
    text += "</trailer>\n<messages>\n";
    let mut types: Vec<String> = Vec::new();
    for n in 0..random.place(5) {
        let msg_type = ["A", "B", "U1", "&quot;", "AE", "field"][random.place(6)].to_owned();
        if types.contains(&msg_type) {
            continue;
        }
        let name = ["Order", "A", "Quote and more", "header"][random.place(4)];
        let name = if random.one_in(3) {
            name.to_owned()
        } else {
            format!("{name}{n}")
        };
        let _ = write!(
            text,
            "<message name=\"{name}\" msgtype=\"{msg_type}\" msgcat=\"app\">"
        );
        items(random, &names, (0, components), 3, &mut text);
        text += "</message>\n";
        types.push(msg_type);
    }
    text + "</messages>\n</fix>"
}

fn name(random: &mut Random, n: usize) -> String {
    match random.place(8) {
        0 => format!("{}", 1_000 + n),
        1 => format!("Field {n}"),
        2 => format!("F&amp;{n}"),
        3 => format!("&quot;{n}\\"),
        4 if n == 3 => "required".into(),
        _ => format!("F{n}"),
    }
}

fn items(
    random: &mut Random,
    names: &[String],
    components: (usize, usize),
    depth: usize,
    text: &mut String,
) {
    for _ in 0..random.place(5) {
        item(random, names, components, depth, text);
    }
}

fn item(
    random: &mut Random,
    names: &[String],
    (from, to): (usize, usize),
    depth: usize,
    text: &mut String,
) {
    let name = &names[random.place(names.len())];
    let required = if random.one_in(2) { "Y" } else { "N" };
    if depth > 0 && random.one_in(4) {
        let first = &names[random.place(names.len())];
        let _ = write!(
            text,
            "<group name=\"{name}\" required=\"{required}\"><field name=\"{first}\" required=\"{required}\"/>"
        );
        items(random, names, (from, to), depth - 1, text);
        *text += "</group>";
    } else if from < to && random.one_in(4) {
        let n = from + random.place(to - from);
        let _ = write!(text, "<component name=\"C{n}\" required=\"{required}\"/>");
    } else {
        let _ = write!(text, "<field name=\"{name}\" required=\"{required}\"/>");
    }
}
