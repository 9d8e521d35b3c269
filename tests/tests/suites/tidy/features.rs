//! The table of the features of an OMS: each is done, and names tests that are there.

use std::path::Path;

use fixwire_rigs::features;

use super::{name, nothing, rust, text};

#[test]
fn every_feature_of_the_oms_names_tests_that_are_there() {
    let page = Path::new("docs/reference/oms-features.md");
    let all = rust();
    // A file of this name, or one in a folder of it, has tests.
    let has_tests = |folders: &[&str], name: &str| {
        let path = name.replace("::", "/");
        all.iter()
            .filter(|file| folders.iter().any(|folder| file.starts_with(folder)))
            .filter(|file| {
                let file = file.with_extension("");
                file.ancestors().any(|part| part.ends_with(&path))
            })
            .any(|file| {
                let text = text(file);
                text.contains("#[test]") || text.contains("proptest!")
            })
    };
    nothing(name(page, features::faults(&text(page), has_tests)));
}
