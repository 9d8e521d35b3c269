//! The table of OMS features: whether each row that is done, or partly done, names tests that exist, and whether each
//! partly done row says what is missing.

/// Rows of the list that the table follows.
const ROWS: usize = 70;

/// A row of the page.
struct FeatureRow<'a> {
    number: usize,
    state: &'a str,
    place: &'a str,
    less: &'a str,
}

fn rows(page: &str) -> impl Iterator<Item = FeatureRow<'_>> {
    page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        Some(FeatureRow {
            number: cells.next()?.parse().ok()?,
            state: cells.nth(1)?,
            place: cells.next()?,
            less: cells.next().unwrap_or_default(),
        })
    })
}

/// The tests that a text names after `test`, `tests`, `suite` or `suites`, with commas and `and` between them.
fn names(place: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut words = place.split_whitespace().peekable();
    while let Some(word) = words.next() {
        if !["test", "tests", "suite", "suites"].contains(&word) {
            continue;
        }
        let mut goes_on = true;
        while goes_on && let Some(mut word) = words.next() {
            match word.trim_end_matches([',', '.', ';', ':']) {
                // The crate of the names before.
                "of" => word = words.next().unwrap_or_default(),
                "and" | "suite" | "suites" | "test" | "tests" => continue,
                name => found.push(name),
            }
            let is_next = |next: &&str| ["and", "of"].contains(next);
            let ends = word.ends_with(['.', ';', ':']);
            goes_on = !ends && (word.ends_with(',') || words.peek().is_some_and(is_next));
        }
    }
    found
}

/// The crates that a text names.
fn crates(place: &str) -> Vec<&str> {
    let quoted = place.split('`').skip(1).step_by(2);
    quoted.filter(|it| it.starts_with("crates/")).collect()
}

/// The errors of the page; `has_tests` says whether one of these folders has this file or folder of tests.
pub fn faults(page: &str, has_tests: impl Fn(&[&str], &str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let numbers: Vec<usize> = rows(page).map(|row| row.number).collect();
    if numbers != (1..=ROWS).collect::<Vec<_>>() {
        found.push(format!(
            "the rows are not those from 1 to {ROWS}: {numbers:?}"
        ));
    }
    for row in rows(page) {
        let number = row.number;
        let folders: Vec<&str> = ["crates/oms", "tests"]
            .into_iter()
            .chain(crates(row.place))
            .collect();
        let names = names(row.place);
        match row.state {
            "in part" if row.less.is_empty() => {
                found.push(format!("row {number} does not say what is less"));
            }
            "done" | "in part" if names.is_empty() => {
                found.push(format!("row {number} names no test"));
            }
            "done" | "in part" => {
                let missing = names.iter().filter(|name| !has_tests(&folders, name));
                found.extend(missing.map(|name| format!("row {number}: no test {name}")));
            }
            "not applicable" if [51, 62, 67].contains(&number) => {}
            other => found.push(format!("row {number} is {other:?}")),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(row: &str) -> String {
        let others = (1..=ROWS).filter(|number| *number != 7);
        let mut lines: Vec<(usize, String)> = others
            .map(|number| (number, format!("| {number} | x | done | test life |")))
            .collect();
        lines.insert(6, (7, row.to_owned()));
        let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
        lines.join("\n")
    }

    fn found(row: &str) -> Vec<String> {
        faults(&page(row), |folders, name| {
            let there = [
                ("crates/oms", "life"),
                ("crates/cli", "oms"),
                ("tests", "oms_kill"),
            ];
            there
                .iter()
                .any(|it| folders.contains(&it.0) && it.1 == name)
        })
    }

    #[test]
    fn names_of_tests_are_read_out_of_sentences() {
        assert_eq!(
            names(
                "the engine, `a`: tests a, b_c and d::e of `crates/f`, g of `crates/h`; suite i. More, tests"
            ),
            ["a", "b_c", "d::e", "g", "i"]
        );
        assert_eq!(names("tests a, suite b"), ["a", "b"]);
        assert_eq!(
            names("tests of `crates/a`, b and c of `crates/d`"),
            ["b", "c"]
        );
        assert!(names("settings of the engine").is_empty());
    }

    #[test]
    fn what_is_done_without_tests_that_are_there_is_found() {
        for row in [
            "| 7 | x | done | tests life, oms of `crates/cli`, suite oms_kill |",
            "| 7 | x | done | it works: test life. More |",
            "| 7 | x | done | test life | |",
            "| 7 | x | in part | test life | two legs |",
        ] {
            assert!(found(row).is_empty(), "{row}: {:?}", found(row));
        }
        for row in [
            "| 7 | x | done | it works |",
            "| 7 | x | done | tests life, gone |",
            "| 7 | x | done | tests life, oms |",
            "| 7 | x | part | test life |",
            "| 7 | x | in part | test life | |",
            "| 7 | x | in part | it works | two legs |",
            "| 7 | x | not applicable | |",
            "| 8 | x | done | test life |",
        ] {
            assert_eq!(found(row).len(), 1, "{row}: {:?}", found(row));
        }
    }
}
