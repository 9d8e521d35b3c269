//! Names of public types, which occur once in the workspace, so that a search for a name finds one type.

use std::collections::BTreeMap;

use syn::Visibility;
use syn::visit::{self, Visit};

use crate::imports::is_test;

/// The public types that a file defines, outside its tests.
///
/// # Errors
///
/// The reason why it is not Rust.
pub fn public_types(source: &str) -> Result<Vec<String>, String> {
    let file = syn::parse_file(source).map_err(|error| error.to_string())?;
    let mut found = Found(Vec::new());
    found.visit_file(&file);
    Ok(found.0)
}

/// The names that more than one file defines, given the files of each.
pub fn twice(homes: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let twice = homes.iter().filter(|(_, files)| files.len() > 1);
    let named = twice.map(|(name, files)| {
        let files = files.join(", ");
        format!("{name} is a public type of {files}: give each its own name")
    });
    named.collect()
}

struct Found(Vec<String>);

impl Found {
    fn add(&mut self, visibility: &Visibility, name: &syn::Ident) {
        if matches!(visibility, Visibility::Public(_)) {
            self.0.push(name.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for Found {
    fn visit_item_mod(&mut self, it: &'ast syn::ItemMod) {
        if !is_test(&it.attrs) {
            visit::visit_item_mod(self, it);
        }
    }
    fn visit_item_struct(&mut self, it: &'ast syn::ItemStruct) {
        self.add(&it.vis, &it.ident);
    }
    fn visit_item_enum(&mut self, it: &'ast syn::ItemEnum) {
        self.add(&it.vis, &it.ident);
    }
    fn visit_item_trait(&mut self, it: &'ast syn::ItemTrait) {
        self.add(&it.vis, &it.ident);
    }
    fn visit_item_type(&mut self, it: &'ast syn::ItemType) {
        self.add(&it.vis, &it.ident);
    }
    fn visit_item_union(&mut self, it: &'ast syn::ItemUnion) {
        self.add(&it.vis, &it.ident);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_types_are_found_outside_tests() {
        let source = "pub struct A; pub(crate) struct B; enum C {} pub enum D {} pub trait E { type F; }\n\
                      impl E for A { type F = u8; } pub type G = u8; pub mod m { pub union H { a: u8 } }\n\
                      #[cfg(test)] mod tests { pub struct I; }";
        assert_eq!(public_types(source).unwrap(), ["A", "D", "E", "G", "H"]);
        assert!(public_types("pub struct").is_err());
    }

    #[test]
    fn a_name_in_two_files_is_found() {
        let homes = [("A", vec!["a.rs"]), ("B", vec!["a.rs", "b.rs"])];
        let homes =
            homes.map(|(name, files)| (name.into(), files.into_iter().map(Into::into).collect()));
        let found = twice(&homes.into());
        assert!(
            found.len() == 1 && found[0].starts_with("B is a public type of a.rs, b.rs"),
            "{found:?}"
        );
    }
}
