//! Types over many files, circles of calls, matches over events, tuples, crowded folders.

use std::path::Path;

use fixwire_rigs::shape::Shape;

use super::{is_test, nothing, rust, source_folders, text};

/// Where a rule does not hold yet, and by how much: a list that may only shrink.
const NOT_YET: &str = include_str!("not_yet.txt");

#[test]
fn the_shape_of_the_code_gets_no_worse() {
    let sources = rust();
    let mut now = Vec::new();
    for folder in source_folders() {
        let mine = sources
            .iter()
            .filter(|path| path.starts_with(&folder) && !is_test(path));
        let inside = |path: &Path| path.strip_prefix(&folder).expect("inside").to_owned();
        let shape = Shape::read(mine.map(|path| (inside(path), text(path))));
        let shape = shape.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let owner = folder.parent().expect("its crate").display();
        for (name, files) in shape.spread() {
            now.push(format!("{owner}: files with methods of {name}: {files}"));
        }
        for (name, files) in shape.circles() {
            now.push(format!(
                "{owner}: files of {name} that call each other in a circle: {files}"
            ));
        }
        for (path, entries) in shape.crowded() {
            let path = folder.join(path);
            now.push(format!("{owner}: entries of {}: {entries}", path.display()));
        }
        for (what, found) in [
            (
                "matches over events that end in an arm for all others",
                shape.fallbacks.len(),
            ),
            ("functions for others that take a tuple", shape.tuples.len()),
        ] {
            if found > 0 {
                now.push(format!("{owner}: {what}: {found}"));
            }
        }
    }
    assert!(
        sources.len() > 1_000,
        "only {} files looked at",
        sources.len()
    );
    let list: Vec<&str> = NOT_YET.lines().collect();
    let more = now.iter().filter(|line| !list.contains(&line.as_str()));
    let more = more.map(|line| format!("not in not_yet.txt: {line}"));
    let gone = list.iter().filter(|line| !now.iter().any(|it| it == *line));
    let gone = gone.map(|line| format!("no longer so, take it out of not_yet.txt: {line}"));
    nothing(more.chain(gone));
}
