//! The settings file of docs/guide/production.md runs under the unit that the page links.

use std::fs;
use std::path::Path;

/// The value of a key of a unit.
fn unit<'a>(text: &'a str, key: &str) -> &'a str {
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|rest| rest.strip_prefix('='))
        .unwrap_or_else(|| panic!("no {key}"))
}

#[test]
fn the_units_run_the_file_of_the_page() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let read = |path: &str| fs::read_to_string(docs.join(path)).expect(path);
    let page = read("guide/production.md");
    let lines: Vec<&str> = page.lines().map(str::trim).collect();
    let value = |key: &str| {
        let line = lines.iter().find_map(|line| line.strip_prefix(key));
        line.and_then(|rest| rest.strip_prefix('=')).expect(key)
    };
    for name in ["fixwire.service", "fixwire-low-latency.service"] {
        let text = read(&format!("operating/{name}"));
        assert!(page.contains(&format!("(../operating/{name})")), "{name}");
        // The page installs program and file where the unit expects them.
        let command = unit(&text, "ExecStart");
        let (program, file) = command.split_once(" run ").expect(command);
        for path in [program, file] {
            let is_installed = |line: &&str| line.starts_with("install ") && line.ends_with(path);
            assert!(lines.iter().any(is_installed), "{path}");
        }
        // It writes only where the sandbox allows it.
        assert_eq!(unit(&text, "ProtectSystem"), "strict");
        let state = format!("/var/lib/{}", unit(&text, "StateDirectory"));
        let logs = format!("/var/log/{}", unit(&text, "LogsDirectory"));
        assert!(Path::new(value("FileStorePath")).starts_with(state));
        assert!(Path::new(value("FileLogPath")).starts_with(logs));
        let user = unit(&text, "User");
        let makes = |line: &&str| line.starts_with("useradd ") && line.ends_with(user);
        assert!(lines.iter().any(makes), "{user}");
    }
}
