//! Writes the typed order messages of FIX 4.2 and 4.4.

use std::path::Path;
use std::{env, fs};

use fixwire_dictionary::generate;
use fixwire_protocol::dictionary::{Dictionary, Version};

/// Orders, cancels, replacements, status requests, reports and their refusals.
const MESSAGES: [&str; 6] = ["D", "F", "G", "H", "8", "9"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    for (file, version) in [("fix42.rs", Version::Fix42), ("fix44.rs", Version::Fix44)] {
        let dictionary = Dictionary::built_in(version);
        let source = generate::typed_in("fixwire::protocol", &dictionary, &MESSAGES)
            .unwrap_or_else(|error| panic!("{error}"));
        let path = Path::new(&out).join(file);
        fs::write(&path, source)
            .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    }
}
