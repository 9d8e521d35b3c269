//! The files of a crate that use each other, and the circles among them.
//!
//! A file uses another one when it names something that is defined there: in a `use`, or by a path. A name taken from a
//! module that only re-exports it counts as a use of the defining file. Tests do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, ItemUse, Signature, TraitItem, UseTree};

/// The most files in a circle.
pub const CIRCLE_MAX: usize = 3;
/// Functions longer than this are worth a look: do they hold one thought?
pub const FUNCTION_LINES_ADVISED: usize = 100;

/// Names that the files of a folder must not use: of folders above them, and foreign ones.
pub const UNNAMED: [(&str, &[&str]); 4] = [
    (
        "crates/engine/src/line",
        &["Application", "Engine", "Events", "lobby"],
    ),
    (
        "crates/engine/src/lobby",
        &["Application", "Core", "Engine", "Events", "commit", "line"],
    ),
    (
        "crates/passwords/src",
        &[
            "Engine",
            "Host",
            "Session",
            "SessionId",
            "TcpListener",
            "TcpStream",
            "UdpSocket",
            "UnixListener",
            "UnixStream",
        ],
    ),
    (
        "crates/schedule/src",
        &["Engine", "Now", "Session", "SessionId", "SystemTime"],
    ),
];

/// Crates in layers: their folders from the lowest to the highest. A file uses no file of a higher one.
pub const LAYERS: [(&str, &[&str]); 1] = [(
    "crates/oms/src",
    &[
        "values", "state", "load", "decide", "fix", "tmp", "desk", "app", "trial",
    ],
)];

/// The files of the program that may use the benchmarks. What runs an engine links none of them.
pub const USERS_OF_LAB: [&str; 3] = ["log/latency.rs", "main.rs", "replay.rs"];

/// A module by its path from the root of the crate.
type Module = Vec<String>;

/// The product code of one crate, by file.
#[derive(Debug, Default)]
pub struct Crate {
    files: Vec<File>,
}

#[derive(Debug)]
struct File {
    path: PathBuf,
    module: Module,
    /// Names from other files, and their origins.
    imports: BTreeMap<String, Module>,
    /// Paths that the file names, from the root of the crate.
    named: BTreeSet<Module>,
    functions: Vec<(String, usize)>,
    /// All identifiers, each with the first line that has it.
    words: BTreeMap<String, usize>,
}

impl Crate {
    /// Reads files; the path of each is from the folder of the crate's root.
    ///
    /// # Errors
    ///
    /// The file that is not Rust.
    pub fn read(sources: impl IntoIterator<Item = (PathBuf, String)>) -> Result<Self, String> {
        let mut files = Vec::new();
        for (path, text) in sources {
            let parsed = syn::parse_file(&text);
            let parsed = parsed.map_err(|error| format!("{}: {error}", path.display()))?;
            let mut file = File {
                module: module(&path),
                path,
                imports: BTreeMap::new(),
                named: BTreeSet::new(),
                functions: Vec::new(),
                words: BTreeMap::new(),
            };
            let mut reader = Reader {
                module: file.module.clone(),
                children: Vec::new(),
                file: &mut file,
            };
            reader.visit_file(&parsed);
            files.push(file);
        }
        Ok(Self { files })
    }

    /// Files that use each other, in circles longer than [`CIRCLE_MAX`].
    #[must_use]
    pub fn circles(&self) -> Vec<Vec<&Path>> {
        let reached: Vec<BTreeSet<usize>> = self.reached();
        let mut circles: Vec<Vec<&Path>> = Vec::new();
        let mut seen = BTreeSet::new();
        for (at, from_here) in reached.iter().enumerate() {
            let circle = from_here.iter().filter(|to| reached[**to].contains(&at));
            let circle: Vec<usize> = circle.copied().collect();
            if circle.len() > CIRCLE_MAX && seen.insert(circle.clone()) {
                circles.push(circle.iter().map(|at| &*self.files[*at].path).collect());
            }
        }
        circles
    }

    /// The uses among these files: the user, then the used file.
    #[must_use]
    pub fn arrows(&self, among: &[&Path]) -> Vec<(&Path, &Path)> {
        let mut found = Vec::new();
        for (at, file) in self.files.iter().enumerate() {
            let used = self.used(at).into_iter();
            let used = used.map(|to| &*self.files[to].path);
            let inside = used.filter(|to| among.contains(to) && among.contains(&&*file.path));
            found.extend(inside.map(|to| (&*file.path, to)));
        }
        found
    }

    /// The files that use a file of a higher folder; the folders come from the lowest to the highest.
    #[must_use]
    pub fn upward(&self, layers: &[&str]) -> Vec<(&Path, &Path)> {
        let layer = |path: &Path| layers.iter().position(|layer| path.starts_with(layer));
        let all: Vec<&Path> = self.files.iter().map(|file| &*file.path).collect();
        let mut found = self.arrows(&all);
        found.retain(|(from, to)| layer(from).is_some_and(|from| layer(to) > Some(from)));
        found
    }

    /// Functions longer than [`FUNCTION_LINES_ADVISED`], with their file and lines.
    pub fn long_functions(&self) -> impl Iterator<Item = (&Path, &str, usize)> {
        self.files.iter().flat_map(|file| {
            let long = file.functions.iter();
            long.filter(|(_, lines)| *lines > FUNCTION_LINES_ADVISED)
                .map(|(name, lines)| (&*file.path, name.as_str(), *lines))
        })
    }

    /// The files, and the names in each of them, with the line.
    pub fn namers<'a>(
        &'a self,
        names: &'a [&'a str],
    ) -> impl Iterator<Item = (&'a Path, Vec<(&'a str, usize)>)> {
        self.files.iter().map(|file| {
            let line = |name: &&'a str| Some((*name, *file.words.get(*name)?));
            (&*file.path, names.iter().filter_map(line).collect())
        })
    }

    /// For each file all files that it uses, directly or through others.
    fn reached(&self) -> Vec<BTreeSet<usize>> {
        let used: Vec<BTreeSet<usize>> = (0..self.files.len()).map(|at| self.used(at)).collect();
        let all = |at: usize| {
            let mut found = BTreeSet::new();
            let mut open = vec![at];
            while let Some(next) = open.pop() {
                open.extend(used[next].iter().filter(|to| found.insert(**to)));
            }
            found
        };
        (0..self.files.len()).map(all).collect()
    }

    /// The files that one file uses itself.
    fn used(&self, at: usize) -> BTreeSet<usize> {
        let named = self.files[at].named.iter();
        let mut used: BTreeSet<usize> = named.filter_map(|path| self.home(path, 0)).collect();
        used.remove(&at);
        used
    }

    /// The file that defines the name of this path.
    fn home(&self, path: &[String], depth: usize) -> Option<usize> {
        let (at, rest) = (0..=path.len()).rev().find_map(|len| {
            let at = self
                .files
                .iter()
                .position(|file| file.module == path[..len])?;
            Some((at, &path[len..]))
        })?;
        let Some((name, _)) = rest.split_first() else {
            return Some(at);
        };
        match self.files[at].imports.get(name) {
            Some(origin) if depth < 8 => self.home(origin, depth + 1),
            _ => Some(at),
        }
    }
}

/// `host/os.rs` and `host/os/mod.rs` are the module host::os; `lib.rs` and `main.rs` are the root.
fn module(path: &Path) -> Module {
    let mut parts: Module = path
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if matches!(
        parts.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    ) {
        parts.pop();
    }
    parts
}

/// Collects the names of one file.
struct Reader<'a> {
    /// The current module: the file's, or one inside it.
    module: Module,
    /// Modules inside this one.
    children: Vec<String>,
    file: &'a mut File,
}

impl Reader<'_> {
    /// A path from the root of the crate, when it belongs to this crate.
    fn absolute(&self, path: &[String]) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        let up = |levels: usize| {
            let kept = self.module.len().checked_sub(levels)?;
            Some(self.module[..kept].to_vec())
        };
        let (mut found, rest) = match first.as_str() {
            "crate" => (Module::new(), rest),
            "self" => (up(0)?, rest),
            "super" => {
                let levels = path.iter().take_while(|part| *part == "super").count();
                (up(levels)?, &path[levels..])
            }
            child if self.children.iter().any(|name| name == child) => (up(0)?, path),
            _ => return None,
        };
        found.extend_from_slice(rest);
        Some(found)
    }

    fn name(&mut self, path: &[String]) {
        if let Some(path) = self.absolute(path) {
            self.file.named.insert(path);
        }
    }

    fn import(&mut self, tree: &UseTree, before: &[String], is_public: bool) {
        let joined = |name: String| [before, &[name]].concat();
        match tree {
            UseTree::Path(path) => {
                self.import(&path.tree, &joined(path.ident.to_string()), is_public);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, before, is_public);
                }
            }
            UseTree::Glob(_) => self.name(before),
            UseTree::Name(_) | UseTree::Rename(_) => {
                let (there, here) = match tree {
                    UseTree::Rename(rename) => (&rename.ident, &rename.rename),
                    UseTree::Name(name) => (&name.ident, &name.ident),
                    _ => return,
                };
                let path = match there.to_string().as_str() {
                    "self" => before.to_vec(),
                    name => joined(name.to_owned()),
                };
                let Some(origin) = self.absolute(&path) else {
                    return;
                };
                if !is_public {
                    self.file.named.insert(origin.clone());
                }
                self.file.imports.insert(here.to_string(), origin);
            }
        }
    }

    fn word(&mut self, word: &syn::Ident) {
        let line = word.span().start().line;
        self.file.words.entry(word.to_string()).or_insert(line);
    }

    /// The identifiers in the arguments of a macro.
    fn words(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(word) => self.word(&word),
                TokenTree::Group(group) => self.words(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    fn function(&mut self, signature: &Signature, body: Option<&syn::Block>) {
        let Some(body) = body else { return };
        let lines =
            body.brace_token.span.close().end().line + 1 - signature.fn_token.span.start().line;
        self.file
            .functions
            .push((signature.ident.to_string(), lines));
    }
}

/// Whether an item with these attributes is built for tests only.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute
                    .parse_args::<syn::Ident>()
                    .is_ok_and(|word| word == "test")
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_file(&mut self, file: &'ast syn::File) {
        // A file for tests is declared as such by its parent, and has such a name.
        let name = self.module.last().map(String::as_str);
        if matches!(name, Some("tests" | "model")) || self.module.iter().any(|part| part == "tests")
        {
            return;
        }
        self.children = children(&file.items);
        visit::visit_file(self, file);
    }

    fn visit_item(&mut self, item: &'ast Item) {
        if is_test(attributes(item)) {
            return;
        }
        if let Item::Mod(inner) = item
            && let Some((_, items)) = &inner.content
        {
            let outer = std::mem::replace(&mut self.children, children(items));
            self.module.push(inner.ident.to_string());
            visit::visit_item(self, item);
            self.module.pop();
            self.children = outer;
        } else {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_public = !matches!(item.vis, syn::Visibility::Inherited);
        self.import(&item.tree, &[], is_public);
        visit::visit_item_use(self, item);
    }

    fn visit_ident(&mut self, word: &'ast syn::Ident) {
        self.word(word);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.words(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path
            .segments
            .iter()
            .map(|part| part.ident.to_string())
            .collect();
        if parts.len() > 1 {
            self.name(&parts);
        }
        visit::visit_path(self, path);
    }

    /// The visibility of an item does not count as a use.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, Some(&item.block));
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        if let ImplItem::Fn(function) = item {
            if is_test(&function.attrs) {
                return;
            }
            self.function(&function.sig, Some(&function.block));
        }
        visit::visit_impl_item(self, item);
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        if let TraitItem::Fn(function) = item {
            self.function(&function.sig, function.default.as_ref());
        }
        visit::visit_trait_item(self, item);
    }
}

fn children(items: &[Item]) -> Vec<String> {
    let modules = items.iter().filter_map(|item| match item {
        Item::Mod(module) if !is_test(&module.attrs) => Some(module.ident.to_string()),
        _ => None,
    });
    modules.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> Crate {
        let files = files.iter();
        let files = files.map(|(path, text)| (PathBuf::from(path), (*text).to_owned()));
        Crate::read(files).unwrap()
    }

    /// The circles as text.
    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let read = read(files);
        let circles = read.circles();
        let names = |circle: &Vec<&Path>| {
            let names: Vec<_> = circle.iter().map(|path| path.to_string_lossy()).collect();
            names.join(" ")
        };
        circles.iter().map(names).collect()
    }

    #[test]
    fn a_circle_is_found_however_its_arrows_are_written() {
        let circle = [
            ("lib.rs", "mod a; mod b; mod c; mod d;\npub use d::Thing;"),
            ("a.rs", "use crate::b::{self, X};"),
            ("b.rs", "fn f() -> super::c::Y { y() }"),
            // By a name that the root re-exports.
            ("c.rs", "use crate::Thing;"),
            ("d/mod.rs", "mod e; fn f() { e::g(); crate::a::h(); }"),
            ("d/e.rs", "mod inner { use super::super::f; }"),
        ];
        assert_eq!(circles(&circle), ["a.rs b.rs c.rs d/mod.rs d/e.rs"]);
    }

    #[test]
    fn no_circle_comes_of_tests_exports_or_names_of_others() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; mod d;\npub use a::A;"),
            ("a.rs", "use crate::b::B;"),
            (
                "b.rs",
                "use std::c::a;\nuse crate::c::C;\npub(in crate::a) fn f() {}",
            ),
            ("c.rs", "use crate::d::D;"),
            (
                "d.rs",
                "fn f() { a::g() }\n#[cfg(test)]\nmod tests { use crate::a::A; }\n#[cfg(test)]\nuse crate::a::A;",
            ),
            ("d/tests.rs", "use crate::a::A;"),
        ];
        assert_eq!(circles(&files), Vec::<String>::new());
        // Three files may use each other.
        let three = [
            ("lib.rs", ""),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "use crate::c::C;"),
            ("c.rs", "use crate::a::A;"),
        ];
        assert_eq!(circles(&three), Vec::<String>::new());
    }

    #[test]
    fn a_layer_that_uses_one_above_it_is_found() {
        let read = read(&[
            ("lib.rs", "mod low; mod high;\npub use high::top::Top;"),
            ("low/mod.rs", "mod a; mod b; mod c;"),
            ("low/a.rs", "use crate::high::top::f;"),
            // By a name that the root re-exports.
            ("low/b.rs", "fn f() -> crate::Top { g() }"),
            ("low/c.rs", "use crate::low::a::A;"),
            ("high/mod.rs", "mod top;"),
            ("high/top.rs", "use crate::low::c::C; pub struct Top;"),
        ]);
        let up = read.upward(&["low", "high"]).into_iter();
        let up: Vec<_> = up
            .map(|(from, _)| from.to_string_lossy().into_owned())
            .collect();
        assert_eq!(up, ["low/a.rs", "low/b.rs"]);
    }

    #[test]
    fn a_name_is_found_in_code_and_neither_in_tests_nor_in_text() {
        let named = |text: &str| -> Vec<(String, usize)> {
            let read = read(&[("a.rs", text)]);
            let (_, found) = read.namers(&["Engine"]).next().unwrap();
            let found = found.into_iter();
            found.map(|(name, line)| (name.to_owned(), line)).collect()
        };
        for text in [
            "use crate::engine::Engine;",
            "use crate::{a, engine::{Engine as E}};",
            "impl<A> crate::engine::Engine<A> {}",
            "fn f(it: &mut Engine) {}",
            "fn f() { assert!(matches!(it, Engine { .. })) }",
            "mod inner { fn f() { g::<Engine>() } }",
        ] {
            assert_eq!(named(text), [("Engine".to_owned(), 1)], "{text}");
        }
        let clean = "//! The Engine.\nuse crate::error::EngineError;\n/// An [`Engine`].\n\
            fn f() { say(\"Engine\", say!(\"Engine\")) }\n#[cfg(test)]\nmod tests { use crate::Engine; }";
        assert_eq!(named(clean), []);
        assert_eq!(
            named("\nfn f() {\nEngine::new() }"),
            [("Engine".to_owned(), 3)]
        );
    }

    #[test]
    fn long_functions_are_found_wherever_they_are() {
        let long = |lines: usize| format!("fn long() {{{}}}", "\n".repeat(lines - 1));
        let (at_most, too_long) = (
            long(FUNCTION_LINES_ADVISED),
            long(FUNCTION_LINES_ADVISED + 1),
        );
        for (text, found) in [
            (at_most.clone(), 0),
            (too_long.clone(), 1),
            (format!("impl X {{ {too_long} }}"), 1),
            (format!("trait X {{ {too_long} }}"), 1),
            (format!("mod x {{ {too_long} }}"), 1),
            (format!("#[cfg(test)]\nmod x {{ {too_long} }}"), 0),
        ] {
            let read = read(&[("a.rs", &text)]);
            assert_eq!(read.long_functions().count(), found, "{text}");
        }
    }
}
