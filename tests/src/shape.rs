//! The shape of a crate's code: over how many files the methods of a type are spread, which of these call each other in circles,
//! how a match over events ends, tuples as parameters, files in a folder. Tests do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Expr, FnArg, ImplItem, Item, Pat, Signature, Type};

/// The most files with methods of one type, or with functions that take it by `&mut` first.
pub const FILES_OF_A_TYPE_MAX: usize = 8;
/// The most files of one type whose methods call each other in a circle.
pub const CIRCLE_OF_CALLS_MAX: usize = 4;
/// The most files and folders in a folder.
pub const FOLDER_MAX: usize = 20;

/// One crate's product code.
#[derive(Debug, Default)]
pub struct Shape {
    /// Files of each type, and in each its methods with the methods that each file calls.
    types: BTreeMap<String, BTreeMap<PathBuf, Methods>>,
    /// The number of types by name: types that share a name cannot be distinguished here, and do not count.
    names: BTreeMap<String, usize>,
    /// Entries of each folder.
    folders: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// Matches over events that end in an arm for all others: file and line.
    pub fallbacks: Vec<(PathBuf, usize)>,
    /// Functions that others may call and that take a tuple: file and name.
    pub tuples: Vec<(PathBuf, String)>,
}

/// What a file has of a type.
#[derive(Debug, Default)]
struct Methods {
    defined: BTreeSet<String>,
    called: BTreeSet<String>,
}

impl Shape {
    /// Reads files; the path of each is from the folder of the crate's root.
    ///
    /// # Errors
    ///
    /// Which file is not Rust.
    pub fn read(sources: impl IntoIterator<Item = (PathBuf, String)>) -> Result<Self, String> {
        let mut shape = Self::default();
        for (path, text) in sources {
            let parsed = syn::parse_file(&text);
            let parsed = parsed.map_err(|error| format!("{}: {error}", path.display()))?;
            let mut folder = path.as_path();
            while let Some(above) = folder.parent() {
                let entry = folder.with_extension("");
                if entry
                    .file_name()
                    .is_some_and(|name| name != "mod" && name != "lib" && name != "main")
                {
                    shape
                        .folders
                        .entry(above.to_owned())
                        .or_default()
                        .insert(entry);
                }
                folder = above;
            }
            let mut reader = Reader {
                shape: &mut shape,
                path: &path,
                of: None,
            };
            reader.visit_file(&parsed);
        }
        Ok(shape)
    }

    /// Types with methods in more than [`FILES_OF_A_TYPE_MAX`] files, and in how many.
    pub fn spread(&self) -> impl Iterator<Item = (&str, usize)> {
        let files = self.known().map(|(name, files)| {
            let with = files.values().filter(|it| !it.defined.is_empty());
            (name.as_str(), with.count())
        });
        files.filter(|(_, files)| *files > FILES_OF_A_TYPE_MAX)
    }

    /// Types whose files call each other in a circle of more than [`CIRCLE_OF_CALLS_MAX`], and of how many.
    pub fn circles(&self) -> impl Iterator<Item = (&str, usize)> {
        let longest = self.known();
        let longest = longest.map(|(name, files)| (name.as_str(), longest_circle(files)));
        longest.filter(|(_, files)| *files > CIRCLE_OF_CALLS_MAX)
    }

    fn known(&self) -> impl Iterator<Item = (&String, &BTreeMap<PathBuf, Methods>)> {
        let is_one = |name: &str| self.names.get(name) == Some(&1);
        self.types.iter().filter(move |(name, _)| is_one(name))
    }

    /// Folders with more than [`FOLDER_MAX`] entries, and with how many.
    pub fn crowded(&self) -> impl Iterator<Item = (&Path, usize)> {
        let entries = self
            .folders
            .iter()
            .map(|(folder, entries)| (folder.as_path(), entries.len()));
        entries.filter(|(_, entries)| *entries > FOLDER_MAX)
    }
}

/// Files of the longest circle in which methods of one type call each other; 1 without a circle.
fn longest_circle(files: &BTreeMap<PathBuf, Methods>) -> usize {
    let calls = |from: &Methods| -> Vec<&PathBuf> {
        let to = files
            .iter()
            .filter(|(_, to)| !to.defined.is_disjoint(&from.called));
        to.map(|(path, _)| path).collect()
    };
    let mut reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> = BTreeMap::new();
    for (path, from) in files {
        let mut open = calls(from);
        let mut found: BTreeSet<&PathBuf> = open.iter().copied().collect();
        while let Some(next) = open.pop() {
            open.extend(
                calls(&files[next])
                    .into_iter()
                    .filter(|to| found.insert(to)),
            );
        }
        reached.insert(path, found);
    }
    let circle = |(at, from_here): (&&PathBuf, &BTreeSet<&PathBuf>)| {
        from_here
            .iter()
            .filter(|to| reached[*to].contains(*at))
            .count()
    };
    reached.iter().map(circle).max().unwrap_or(0).max(1)
}

/// Collects what one file has.
struct Reader<'a> {
    shape: &'a mut Shape,
    path: &'a Path,
    /// The type of the function that is read, and the name by which the function knows it.
    of: Option<(String, String)>,
}

impl Reader<'_> {
    fn methods(&mut self, of: String) -> &mut Methods {
        let files = self.shape.types.entry(of).or_default();
        files.entry(self.path.to_owned()).or_default()
    }

    fn called(&mut self, method: &syn::Ident) {
        if let Some((of, _)) = &self.of {
            let of = of.clone();
            self.methods(of).called.insert(method.to_string());
        }
    }

    fn named(&mut self, of: &syn::Ident) {
        *self.shape.names.entry(of.to_string()).or_default() += 1;
    }

    fn parameters(&mut self, signature: &Signature, is_public: bool) {
        let mut types = signature.inputs.iter().filter_map(|it| match it {
            FnArg::Typed(it) => Some(&*it.ty),
            FnArg::Receiver(_) => None,
        });
        let is_tuple = |it: &Type| matches!(it, Type::Tuple(tuple) if !tuple.elems.is_empty());
        if is_public && types.any(is_tuple) {
            let found = (self.path.to_owned(), signature.ident.to_string());
            self.shape.tuples.push(found);
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|it| {
        let is_cfg = it.path().is_ident("cfg");
        is_cfg
            && it
                .parse_args::<syn::Ident>()
                .is_ok_and(|word| word == "test")
    })
}

fn is_public(visibility: &syn::Visibility) -> bool {
    !matches!(visibility, syn::Visibility::Inherited)
}

/// The last name of a path to a type.
fn name(of: &Type) -> Option<String> {
    let Type::Path(path) = of else { return None };
    Some(path.path.segments.last()?.ident.to_string())
}

/// Whether a pattern names a variant of an enum of events.
fn is_of_event(pattern: &Pat) -> bool {
    let path = match pattern {
        Pat::TupleStruct(it) => &it.path,
        Pat::Struct(it) => &it.path,
        Pat::Path(it) => &it.path,
        Pat::Or(it) => return it.cases.iter().any(is_of_event),
        _ => return false,
    };
    let names = path.segments.iter().rev();
    names
        .skip(1)
        .any(|it| it.ident.to_string().ends_with("Event"))
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Fn(it) => &it.attrs,
            Item::Impl(it) => &it.attrs,
            Item::Mod(it) => &it.attrs,
            Item::Struct(it) => return self.named(&it.ident),
            Item::Enum(it) => return self.named(&it.ident),
            _ => return visit::visit_item(self, item),
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let Some(of) = name(&item.self_ty) else {
            return visit::visit_item_impl(self, item);
        };
        for member in &item.items {
            let ImplItem::Fn(function) = member else {
                continue;
            };
            if is_test(&function.attrs) {
                continue;
            }
            if item.trait_.is_none() {
                let method = function.sig.ident.to_string();
                self.methods(of.clone()).defined.insert(method);
                self.parameters(&function.sig, is_public(&function.vis));
            }
            let outer = self.of.replace((of.clone(), "self".to_owned()));
            visit::visit_impl_item_fn(self, function);
            self.of = outer;
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.parameters(&item.sig, is_public(&item.vis));
        let outer = self.of.take();
        if let Some(FnArg::Typed(first)) = item.sig.inputs.first()
            && let Type::Reference(reference) = &*first.ty
            && reference.mutability.is_some()
            && let (Some(of), Pat::Ident(known)) = (name(&reference.elem), &*first.pat)
        {
            let function = item.sig.ident.to_string();
            self.methods(of.clone()).defined.insert(function);
            self.of = Some((of, known.ident.to_string()));
        }
        visit::visit_item_fn(self, item);
        self.of = outer;
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let known = self.of.as_ref().map(|(_, known)| known);
        if let (Expr::Path(path), Some(known)) = (&*call.receiver, known)
            && path.path.is_ident(known.as_str())
        {
            self.called(&call.method);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let names: Vec<_> = path.path.segments.iter().collect();
        if let [of, method] = names[..]
            && of.ident == "Self"
        {
            self.called(&method.ident);
        }
        visit::visit_expr_path(self, path);
    }

    fn visit_expr_match(&mut self, it: &'ast syn::ExprMatch) {
        let is_rest = |pattern: &Pat| match pattern {
            Pat::Wild(_) => true,
            Pat::Ident(it) => it.subpat.is_none(),
            _ => false,
        };
        let events = it.arms.iter().any(|arm| is_of_event(&arm.pat));
        let rest = it
            .arms
            .iter()
            .find(|arm| arm.guard.is_none() && is_rest(&arm.pat));
        if let (true, Some(rest)) = (events, rest) {
            let line = rest.fat_arrow_token.spans[0].start().line;
            self.shape.fallbacks.push((self.path.to_owned(), line));
        }
        visit::visit_expr_match(self, it);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(files: &[(&str, &str)]) -> Shape {
        let files = files
            .iter()
            .map(|(path, text)| ((*path).into(), (*text).to_owned()));
        Shape::read(files).expect("Rust")
    }

    #[test]
    fn a_type_over_nine_files_and_a_circle_of_five_are_found() {
        let mut files: Vec<(String, String)> = Vec::new();
        for at in 0..5 {
            let text = format!(
                "impl Core {{ fn f{at}(&mut self) {{ self.f{}() }} }}",
                (at + 1) % 5
            );
            files.push((format!("a{at}.rs"), text));
        }
        for at in 5..9 {
            let text =
                format!("fn f{at}(core: &mut Core) {{ core.f0(); }} fn other(core: &Core) {{}}");
            files.push((format!("a{at}.rs"), text));
        }
        files.push(("core.rs".to_owned(), "pub struct Core;".to_owned()));
        let read = |files: &[(String, String)]| {
            shape(
                &files
                    .iter()
                    .map(|(path, text)| (path.as_str(), text.as_str()))
                    .collect::<Vec<_>>(),
            )
        };
        let all = read(&files);
        assert_eq!(all.spread().collect::<Vec<_>>(), [("Core", 9)]);
        assert_eq!(all.circles().collect::<Vec<_>>(), [("Core", 5)]);
        assert_eq!(read(&files[1..]).spread().count(), 0);
        assert_eq!(read(&files[1..]).circles().count(), 0);
        files.push(("other.rs".to_owned(), "enum Core {}".to_owned()));
        assert_eq!(read(&files).spread().count(), 0, "whose methods they are");
    }

    #[test]
    fn a_match_over_events_says_what_it_does_with_each() {
        let of = |arms: &str| shape(&[("a.rs", &format!("fn f() {{ match event {{ {arms} }} }}"))]);
        for arms in [
            "OrderEvent::Quote(_) => 1, _ => 2",
            "OrderEvent::Quote(QuoteEvent::Ended { .. }) => 1, other => next(other)",
            "QuoteEvent::Ended { .. } | QuoteEvent::Sent { .. } => 1, _ => {}",
            "state::OrderEvent::Day => 1, _ => {}",
        ] {
            assert_eq!(of(arms).fallbacks, [("a.rs".into(), 1)], "{arms}");
        }
        for arms in [
            "OrderEvent::Quote(_) => 1, OrderEvent::Day(_) => 2",
            "Some(1) => 1, _ => 2",
        ] {
            assert_eq!(of(arms).fallbacks, [], "{arms}");
        }
    }

    #[test]
    fn tuples_of_public_functions_are_found() {
        let text = "pub fn a(of: (u8, u8)) {} fn b(of: (u8, u8)) {} pub fn c(of: ()) {}
            impl A { pub(crate) fn d(&self, of: (u8, u8)) {} }
            #[cfg(test)] mod tests { pub fn e(of: (u8, u8)) {} }";
        let found = shape(&[("a.rs", text)]).tuples;
        let names: Vec<&str> = found.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["a", "d"]);
    }

    #[test]
    fn a_folder_of_twenty_one_is_crowded() {
        let path = |at: usize| format!("fix/a{at}.rs");
        let paths: Vec<String> = (0..21)
            .map(path)
            .chain(["fix/mod.rs".into(), "fix/a3/b.rs".into()])
            .collect();
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
        let crowded = shape(&files);
        assert_eq!(
            crowded.crowded().collect::<Vec<_>>(),
            [(Path::new("fix"), 21)]
        );
        assert_eq!(shape(&files[1..]).crowded().count(), 0);
    }
}
