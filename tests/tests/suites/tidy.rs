//! Is the house in order?

use fixwire_rigs::packages::workspace;
use fixwire_rigs::{imports, tidy};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

mod features;
mod packages;
mod shapes;
mod words;

/// Folders that git does not know, at any depth.
const FOREIGN: [&str; 4] = ["target", ".git", "corpus", "artifacts"];

#[test]
fn crates_use_only_what_lies_below_them() {
    let manifests = files()
        .into_iter()
        .filter(|path| path.ends_with("Cargo.toml"));
    let own = Path::new("tests/Cargo.toml");
    let members = manifests.filter(|path| path.starts_with("crates") || path == own);
    nothing(members.flat_map(|path| {
        let manifest = text(&path);
        let found = tidy::arrows(&manifest).into_iter();
        name(&path, found.chain(tidy::needless(&manifest)))
    }));
}

#[test]
fn settings_have_no_socket_and_no_thread() {
    let sources = rust().into_iter();
    let sources = sources.filter(|path| path.starts_with("crates/settings/src"));
    nothing(sources.flat_map(|path| name(&path, tidy::sockets_and_threads(&text(&path)))));
}

#[test]
fn every_thread_beside_an_engine_is_a_helper() {
    let mut looked_at = 0;
    for folder in source_folders() {
        // The lab starts threads that it pins itself.
        let others = ["crates/threads/src", "crates/lab/src", "tests/src"];
        if others.iter().any(|other| folder == Path::new(other)) {
            continue;
        }
        let sources = rust().into_iter().filter(|path| path.starts_with(&folder));
        for path in sources.filter(|path| !is_test(path)) {
            looked_at += 1;
            nothing(name(&path, tidy::own_threads(&text(&path))));
        }
    }
    assert!(looked_at > 200, "only {looked_at} files looked at");
}

#[test]
fn random_numbers_have_one_generator() {
    let others = [
        "crates/random/src/lib.rs",
        // A hash of a seed and a count, in a crate without dependencies.
        "crates/tmp/src/link/exchange/login.rs",
        // The constants by which generators are found.
        "tests/src/tidy.rs",
    ];
    let sources = rust().into_iter();
    let sources = sources.filter(|path| !others.iter().any(|other| path == Path::new(other)));
    nothing(sources.flat_map(|path| name(&path, tidy::generators(&text(&path)))));
    let the_one = text(Path::new(others[0]));
    assert!(!tidy::generators(&the_one).is_empty());
}

#[test]
fn notes_and_checkpoints_have_one_codec() {
    let folders = [
        "crates/client/src",
        "crates/exchange/src",
        "crates/gateway/src",
        "crates/oms/src",
    ];
    let sources = rust().into_iter().filter(|path| !is_test(path));
    let meant = sources.filter(|path| folders.iter().any(|folder| path.starts_with(folder)));
    let sources: Vec<PathBuf> = meant.collect();
    for (listed, _) in tidy::OTHER_BYTES {
        assert!(sources.iter().any(|it| it.ends_with(listed)), "{listed}");
    }
    nothing(sources.iter().flat_map(|path| {
        let shown = path.to_string_lossy().replace('\\', "/");
        name(path, tidy::own_codecs(&shown, &text(path)))
    }));
}

#[test]
fn applications_around_others_forward_every_method() {
    let sources = rust().into_iter();
    let sources = sources.filter(|path| path.starts_with("crates") && !is_test(path));
    nothing(sources.flat_map(|path| name(&path, tidy::forgetful(&text(&path)))));
}

#[test]
fn texts_have_one_reader() {
    let sources = rust().into_iter();
    let sources = sources.filter(|path| path.starts_with("crates") && !is_test(path));
    let others = sources.filter(|path| !path.starts_with("crates/text"));
    nothing(others.flat_map(|path| {
        let shown = path.to_string_lossy().replace('\\', "/");
        name(&path, tidy::own_readers(&shown, &text(&path)))
    }));
    nothing(tidy::listed_readers(|file| text(Path::new(file))));
    for planted in [
        "fn near(a: &str) -> usize { levenshtein(a, \"b\") }",
        "let table = toml::de::DeTable::parse(text);",
        "let (whole, part) = text.split_once('.')?;",
        "match letter { '\"' => quoted = !quoted }",
        "let (word, rest) = line.split_once(char::is_whitespace)?;",
    ] {
        assert_eq!(
            tidy::own_readers("crates/x/src/lib.rs", planted).len(),
            1,
            "{planted}"
        );
    }
}

#[test]
fn the_rows_of_the_crates_are_those_of_the_page() {
    let page = text(Path::new("ARCHITECTURE.md"));
    let package = |folder: &str| {
        let manifest = text(&Path::new(folder).join("Cargo.toml"));
        tidy::key(&manifest, "package", "name").expect("a name")
    };
    let rows = tidy::rows_of_page(&page).into_iter();
    let rows: Vec<_> = rows.map(|(folder, row)| (package(&folder), row)).collect();
    nothing(tidy::other_rows(&rows));
}

#[test]
fn files_do_not_use_each_other_in_circles() {
    let mut found = String::new();
    for (folder, sources) in products() {
        for circle in sources.circles() {
            let _ = writeln!(found, "{} files of {}:", circle.len(), folder.display());
            for (from, to) in sources.arrows(&circle) {
                let _ = writeln!(found, "  {} > {}", from.display(), to.display());
            }
        }
    }
    assert!(found.is_empty(), "\n{found}");
}

#[test]
fn layers_use_nothing_above_them() {
    let products = products();
    for (room, layers) in imports::LAYERS {
        let product = products
            .iter()
            .find(|(folder, _)| folder == Path::new(room));
        let (folder, sources) = product.expect("a crate in layers");
        let entries = fs::read_dir(workspace().join(folder)).expect("its folder");
        let names = entries.flatten().map(|it| it.file_name());
        let others = names.filter(|name| {
            let is_layer = layers.iter().any(|layer| name == *layer);
            !is_layer && name != "tests" && name != "lib.rs"
        });
        nothing(others.map(|name| format!("{}: {name:?} is no layer", folder.display())));
        let up = sources.upward(layers).into_iter();
        nothing(up.map(|(from, to)| format!("{} uses {}", from.display(), to.display())));
    }
}

#[test]
fn folders_do_without_the_names_of_others() {
    let mut found = Vec::new();
    let products = products();
    for (room, names) in imports::UNNAMED {
        let mut looked_at = 0;
        for (folder, sources) in &products {
            for (path, named) in sources.namers(names) {
                let path = folder.join(path);
                if !path.starts_with(room) {
                    continue;
                }
                looked_at += 1;
                let named = named.into_iter();
                found.extend(
                    named.map(|(name, line)| format!("{}:{line}: {name} here", path.display())),
                );
            }
        }
        assert!(looked_at > 1, "{room}: {looked_at} files looked at");
    }
    nothing(found);
}

#[test]
fn only_two_folders_see_the_whole_engine() {
    let mut looked_at = 0;
    for (folder, sources) in products() {
        if folder != Path::new("crates/engine/src") {
            continue;
        }
        let files: Vec<_> = sources.namers(&["Engine"]).collect();
        looked_at += files.len();
        let see_it = ["engine", "turn", "lib.rs"];
        let others = files.into_iter().filter(|(path, named)| {
            !named.is_empty() && !see_it.iter().any(|own| path.starts_with(own))
        });
        nothing(others.map(|(path, _)| format!("{} names Engine", path.display())));
    }
    assert!(looked_at > 40, "{looked_at} files looked at");
}

#[test]
fn commands_that_run_engines_use_no_benchmark() {
    let products = products();
    let cli = products
        .iter()
        .find(|it| it.0 == Path::new("crates/cli/src"));
    let (_, sources) = cli.expect("the program");
    let namers = sources.namers(&["fixwire_lab"]);
    let users = namers.filter(|(_, named)| !named.is_empty());
    let users: Vec<_> = users.map(|(path, _)| path).collect();
    assert_eq!(users, imports::USERS_OF_LAB.map(Path::new));
}

/// Where crates have their sources.
fn source_folders() -> Vec<PathBuf> {
    let crates = fs::read_dir(workspace().join("crates")).expect("the crates");
    let names = crates.flatten().map(|entry| entry.file_name());
    let mut folders: Vec<_> = names
        .map(|name| Path::new("crates").join(name).join("src"))
        .collect();
    folders.push(Path::new("tests/src").to_owned());
    folders.sort();
    assert!(folders.len() >= 7, "{folders:?}");
    folders
}

/// The product code of each crate, by the folder of its sources.
fn products() -> Vec<(PathBuf, imports::Crate)> {
    let all = rust();
    let read = |folder: PathBuf| {
        let files = all.iter().filter(|path| path.starts_with(&folder));
        let inside = |path: &Path| path.strip_prefix(&folder).expect("inside").to_owned();
        let read = imports::Crate::read(files.map(|path| (inside(path), text(path))));
        let product = read.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        (folder, product)
    };
    source_folders().into_iter().map(read).collect()
}

#[test]
fn unsafe_lines_live_in_one_small_crate() {
    let inside = |path: &PathBuf| path.starts_with("crates/sys");
    nothing(
        rust()
            .into_iter()
            .filter(|path| !inside(path))
            .flat_map(|path| name(&path, tidy::unsafe_lines(&text(&path)))),
    );
    let lines: usize = rust()
        .iter()
        .filter(|path| inside(path))
        .map(|p| tidy::code_lines(&text(p)))
        .sum();
    let most = tidy::UNSAFE_CRATE_LINES_MAX;
    assert!(
        lines <= most,
        "crates/sys has {lines} lines of code, the most is {most}"
    );
}

#[test]
fn crate_roots_say_what_the_crate_may_not_do() {
    let mut roots = 0;
    let mut found = Vec::new();
    for manifest in files()
        .into_iter()
        .filter(|path| path.ends_with("Cargo.toml"))
    {
        let Some(folder) = manifest.parent().filter(|folder| *folder != Path::new("")) else {
            continue;
        };
        let content = text(&manifest);
        let package = content
            .lines()
            .find_map(|line| line.strip_prefix("name = "));
        let package = package.unwrap_or_default().trim_matches('"');
        for root in ["src/lib.rs", "src/main.rs"].map(|root| folder.join(root)) {
            if workspace().join(&root).exists() {
                roots += 1;
                found.extend(name(&root, tidy::crate_root(package, &text(&root))));
            }
        }
    }
    nothing(found);
    assert!(roots >= 6, "only {roots} crate roots found");
}

#[test]
fn crates_without_the_standard_library_use_nothing_of_it_and_no_float() {
    let mut looked_at = 0;
    for folder in ["protocol", "dictionary", "gateway", "tmp"] {
        let folder = Path::new("crates").join(folder).join("src");
        let sources = rust().into_iter().filter(|path| path.starts_with(&folder));
        for path in sources.filter(|path| !is_test(path)) {
            looked_at += 1;
            nothing(name(&path, tidy::impure_lines(&text(&path))));
        }
    }
    assert!(looked_at > 60, "only {looked_at} files looked at");
}

#[test]
fn nothing_is_left_over() {
    nothing(written().into_iter().flat_map(|path| {
        let text = text(&path);
        let mut found = tidy::machine_paths(&text);
        // Pages may name what the rules forbid.
        if path.extension().is_some_and(|extension| extension != "md") {
            found.extend(tidy::leftovers(&text));
        }
        name(&path, found)
    }));
}

#[test]
fn files_are_small() {
    for path in files() {
        let bytes = fs::metadata(workspace().join(&path)).map_or(0, |data| data.len());
        assert!(
            bytes <= tidy::BYTES_MAX,
            "{}: {bytes} bytes",
            path.display()
        );
    }
}

/// `./test tidy --lines` prints only this: the lines of each crate, and the files and functions worth a look.
#[test]
fn every_crate_has_its_lines_counted() {
    let mut all = tidy::Lines::default();
    let row = |name: &str, files: usize, lines: &tidy::Lines| {
        let tidy::Lines {
            code,
            comments,
            tests,
        } = lines;
        println!("{name:<24}{files:>7}{code:>10}{comments:>10}{tests:>10}");
    };
    println!(
        "{:<24}{:>7}{:>10}{:>10}{:>10}",
        "CRATE", "FILES", "CODE", "COMMENTS", "TESTS"
    );
    let sources = rust();
    for folder in source_folders() {
        let owner = folder.parent().expect("its crate");
        let mut of_crate = tidy::Lines::default();
        let mine: Vec<_> = sources.iter().filter(|it| it.starts_with(owner)).collect();
        for path in &mine {
            let is_product = path.starts_with(&folder) && !is_test(path);
            of_crate.add(match is_product {
                true => tidy::Lines::of(&text(path)),
                false => tidy::Lines::of_test(&text(path)),
            });
        }
        let counted = of_crate.code + of_crate.tests;
        assert!(counted > 0, "{}: no line counted", owner.display());
        all.add(of_crate);
        row(&owner.display().to_string(), mine.len(), &of_crate);
    }
    row("all", sources.len(), &all);
    println!("\nWorth a look: do they hold one thought?");
    for path in sources.iter().filter(|path| !is_test(path)) {
        let lines = text(path).lines().count();
        if lines > tidy::LINES_ADVISED {
            println!("{lines:>6} lines  {}", path.display());
        }
    }
    for (folder, sources) in products() {
        for (path, name, lines) in sources.long_functions() {
            println!(
                "{lines:>6} lines  {} in {}",
                name,
                folder.join(path).display()
            );
        }
    }
}

#[test]
fn links_lead_somewhere() {
    let pages = files()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == "md"));
    nothing(pages.flat_map(|path| {
        let folder = workspace().join(path.parent().unwrap_or(Path::new("")));
        name(
            &path,
            tidy::dead_links(&text(&path), |target| folder.join(target).exists()),
        )
    }));
}

#[test]
fn every_file_of_a_suite_is_part_of_it() {
    let all = rust();
    let suites = all.iter().filter(|path| {
        let is_test = path
            .components()
            .nth(2)
            .is_some_and(|part| part.as_os_str() == "tests");
        is_test && path.ends_with("main.rs")
    });
    let mut left_out = Vec::new();
    for main in suites {
        let (folder, content) = (main.parent().expect("a folder"), text(main));
        for path in all
            .iter()
            .filter(|path| path.parent() == Some(folder) && *path != main)
        {
            let module = path.file_stem().unwrap_or_default().to_string_lossy();
            if !content.contains(&format!("\nmod {module};")) {
                left_out.push(format!("{}: no `mod` in main.rs", path.display()));
            }
        }
    }
    nothing(left_out);
}

#[test]
fn every_setting_is_documented() {
    let keys = fixwire::settings::keys::KEYS.iter().map(|key| key.name);
    let page = Path::new("docs/reference/settings.md");
    nothing(name(page, tidy::undocumented(keys, &text(page))));
}

#[test]
fn the_pages_that_everyone_looks_for_are_there() {
    let pages = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
    ];
    let missing: Vec<_> = pages
        .iter()
        .filter(|page| !workspace().join(page).exists())
        .collect();
    assert!(missing.is_empty(), "missing: {missing:?}");
}

/// Every file of the repository, relative to its root.
fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(workspace().join(&folder));
        for entry in entries
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .flatten()
        {
            let path = folder.join(entry.file_name());
            let foreign = FOREIGN.iter().any(|name| entry.file_name() == *name);
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !foreign => folders.push(path),
                Ok(kind) if kind.is_file() && !foreign => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

fn rust() -> Vec<PathBuf> {
    let mut found = files();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    assert!(found.len() > 10, "only {} Rust files found", found.len());
    found
}

/// Whether a file belongs to a `#[cfg(test)] mod`.
fn is_test(path: &Path) -> bool {
    let mut parts = path.iter().filter_map(|part| part.to_str());
    parts.any(|part| ["tests", "tests.rs", "model.rs"].contains(&part))
}

/// Files written by people: programs and pages.
fn written() -> Vec<PathBuf> {
    let kinds = ["rs", "md", "toml", "java", "cpp", "py", "sh", "scenario"];
    let mut found = files();
    found.retain(|path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.map_or(path.ends_with("test") || path.starts_with(".ci"), |e| {
            kinds.contains(&e)
        })
    });
    found
}

fn text(path: &Path) -> String {
    let bytes = fs::read(workspace().join(path));
    let bytes = bytes.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Violations with their file.
fn name(path: &Path, found: impl IntoIterator<Item = String>) -> Vec<String> {
    found
        .into_iter()
        .map(|violation| format!("{}: {violation}", path.display()))
        .collect()
}

/// Fails with all violations at once.
fn nothing(found: impl IntoIterator<Item = String>) {
    let found: Vec<_> = found.into_iter().collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}
