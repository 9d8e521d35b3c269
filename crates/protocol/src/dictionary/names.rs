//! Converts FIX names to the spelling of Rust. The build step uses this file too.

use alloc::string::String;
use alloc::vec::Vec;

/// The name as a Rust constant: `ClOrdID` becomes `CL_ORD_ID`, `NoMDEntries` becomes `NO_MD_ENTRIES`, and `IOIid`
/// becomes `IOI_ID`.
pub fn constant(name: &str) -> String {
    if name == "IOIid" {
        return "IOI_ID".into();
    }
    // Some acronyms are followed by another acronym at once, and some are in the plural.
    let name = name
        .replace("IOIID", "IoiID")
        .replace("TZTransact", "TzTransact")
        .replace("IDs", "Ids")
        .replace("MDSec", "MdSec");
    let letters: Vec<char> = name.chars().collect();
    let mut constant = String::new();
    for (i, &letter) in letters.iter().enumerate() {
        let next_is_small = letters.get(i + 1).is_some_and(char::is_ascii_lowercase);
        let begins_word = i > 0
            && letter.is_ascii_uppercase()
            && (letters[i - 1].is_ascii_lowercase()
                || (next_is_small && letters[i - 1].is_ascii_alphanumeric()));
        if begins_word {
            constant.push('_');
        }
        constant.push(letter.to_ascii_uppercase());
    }
    constant
}
