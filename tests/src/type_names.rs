//! Names of public types, which occur once in the workspace: whoever searches for one finds one.

use std::collections::BTreeMap;

use syn::Visibility;
use syn::visit::{self, Visit};

use crate::imports::is_test;

/// The public types that a file defines, outside its tests.
///
/// # Errors
///
/// Why it is not Rust.
pub fn public_types(source: &str) -> Result<Vec<String>, String> {
    let file = syn::parse_file(source).map_err(|error| error.to_string())?;
    let mut found = Found(Vec::new());
    found.visit_file(&file);
    Ok(found.0)
}

/// What is wrong with names, given who defines each and which may occur more than once for now.
pub fn twice(homes: &BTreeMap<String, Vec<String>>, for_now: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, files) in homes.iter().filter(|(_, files)| files.len() > 1) {
        if !for_now.contains(&name.as_str()) {
            let files = files.join(", ");
            found.push(format!(
                "{name} is a public type of {files}: give each its own name"
            ));
        }
    }
    let is_twice = |name: &&&str| homes.get(**name).is_some_and(|files| files.len() > 1);
    let rest = for_now.iter().filter(|name| !is_twice(name));
    found.extend(rest.map(|name| format!("{name} no longer occurs twice: take it off the list")));
    let mut last = "";
    for name in for_now {
        if *name <= last {
            found.push(format!("{name} is out of order"));
        }
        last = name;
    }
    found
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
    fn a_second_one_is_named_and_so_is_a_list_that_is_too_long() {
        let homes = |of: &[(&str, &str)]| {
            let mut homes = BTreeMap::<String, Vec<String>>::new();
            for (name, file) in of {
                homes
                    .entry((*name).into())
                    .or_default()
                    .push((*file).into());
            }
            homes
        };
        let all = homes(&[
            ("A", "a.rs"),
            ("A", "b.rs"),
            ("B", "a.rs"),
            ("C", "a.rs"),
            ("C", "c.rs"),
        ]);
        assert!(twice(&all, &["A", "C"]).is_empty());
        let found = twice(&all, &["A"]);
        assert!(
            found.len() == 1 && found[0].starts_with("C is a public type of a.rs, c.rs"),
            "{found:?}"
        );
        let found = twice(&all, &["A", "B", "C"]);
        assert_eq!(found, ["B no longer occurs twice: take it off the list"]);
        assert_eq!(twice(&all, &["C", "A"]), ["A is out of order"]);
    }
}
