//! The steps that a page gives its reader: files to write, and commands to type.
//!
//! A block of `sh` has a command a line; one that ends with `\` continues on the next line. A comment after a command,
//! or on the line before it, may say more about it:
//!
//! ```text
//! fixwire check broken.cfg          # exits 1
//! fixwire run acceptor.cfg          # in a terminal of its own
//! ```
//!
//! A block of any other language is a file when the text before it names one: `acceptor.cfg`, in backquotes, followed
//! by a colon.

/// The steps of a reader, in the order of the page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Step {
    /// A section begins.
    Section(String),
    /// Writes a file.
    File {
        /// The path from the folder of the reader.
        path: String,
        /// The content of the file.
        text: String,
    },
    /// Types a command.
    Command(Typed),
}

/// A command.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Typed {
    /// The line on the page.
    pub line: usize,
    /// Without its comment.
    pub text: String,
    /// The command has a terminal of its own and runs on.
    pub runs_on: bool,
    /// The expected exit code.
    pub exits: i32,
}

/// The steps of a page.
pub fn steps(page: &str) -> Vec<Step> {
    let mut found = Vec::new();
    let mut lines = page.lines().enumerate();
    let mut before = "";
    while let Some((_, line)) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else {
            if let Some(heading) = line.strip_prefix('#') {
                let heading = heading.trim_start_matches('#').trim();
                found.push(Step::Section(heading.to_owned()));
            }
            if !line.trim().is_empty() {
                before = line;
            }
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let inside = lines.by_ref().take_while(|(_, line)| line.trim() != "```");
        let inside: Vec<(usize, &str)> = inside
            .map(|(index, line)| (index + 1, line.get(indent..).unwrap_or_default()))
            .collect();
        if language.trim() == "sh" {
            commands(&inside, &mut found);
        } else if let Some(path) = file_name(before) {
            let text = inside.iter().map(|(_, line)| format!("{line}\n"));
            let text = text.collect();
            found.push(Step::File { path, text });
        }
        before = "";
    }
    found
}

/// The commands of a block.
fn commands(block: &[(usize, &str)], found: &mut Vec<Step>) {
    let (mut begun, mut remark) = (None::<(usize, String)>, String::new());
    for (number, line) in block {
        let (line, comment) = without_comment(line);
        let line = line.trim();
        let (first, mut text) = begun.take().unwrap_or((*number, String::new()));
        if line.is_empty() && text.is_empty() {
            remark = comment.to_owned();
            continue;
        }
        if let Some(rest) = line.strip_suffix('\\') {
            text.push_str(rest);
            begun = Some((first, text));
            continue;
        }
        text.push_str(line);
        let said = format!("{remark} {comment}");
        remark.clear();
        found.push(Step::Command(Typed {
            line: first,
            text,
            runs_on: said.contains("in a terminal of its own"),
            exits: exit_code(&said),
        }));
    }
}

/// The code of `exits 1`.
fn exit_code(comment: &str) -> i32 {
    let code = comment.split_once("exits ").map_or("", |(_, code)| code);
    let digits = code.split(|c: char| !c.is_ascii_digit());
    digits
        .map(str::parse)
        .next()
        .and_then(Result::ok)
        .unwrap_or(0)
}

/// A line and the comment after it; a `#` between quotes starts no comment.
fn without_comment(line: &str) -> (&str, &str) {
    let (mut quote, mut before) = (None, ' ');
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c == '#' && before.is_whitespace() => return line.split_at(at),
            None => {}
        }
        before = c;
    }
    (line, "")
}

/// The file that a text names as `` `path`: ``.
fn file_name(text: &str) -> Option<String> {
    let (before, _) = text.split_once("`:")?;
    let name = before.rsplit('`').next()?;
    let is_path = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let is_file = name.contains('.') && name.chars().all(is_path) && !name.contains("..");
    (is_file && !name.starts_with('/')).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: usize, text: &str) -> Typed {
        Typed {
            line,
            text: text.to_owned(),
            runs_on: false,
            exits: 0,
        }
    }

    #[test]
    fn a_page_is_its_files_and_commands_in_their_order() {
        let page = "# Page\n\nA first `a.cfg`:\n\n```ini\n[DEFAULT]\n  X=1\n```\n\n## Run it\n\n```sh\n\
                    # in a terminal of its own\nfixwire run a.cfg\nfixwire check b.cfg   # exits 3, says why\n\n\
                    fixwire client c -c 'a # b' \\\n  -q      # c\n```\n\
                    ```text\nfixwire said so\n```\n* indented `src/b.rs`:\n  ```rust\n  fn b() {\n    c()\n  }\n  ```\n\
                    Neither `/etc/x.cfg`:\n```\nno\n```\n";
        let first = Typed {
            runs_on: true,
            ..typed(14, "fixwire run a.cfg")
        };
        let second = Typed {
            exits: 3,
            ..typed(15, "fixwire check b.cfg")
        };
        let third = typed(17, "fixwire client c -c 'a # b' -q");
        let file = |path: &str, text: &str| Step::File {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        assert_eq!(
            steps(page),
            [
                Step::Section("Page".to_owned()),
                file("a.cfg", "[DEFAULT]\n  X=1\n"),
                Step::Section("Run it".to_owned()),
                Step::Command(first),
                Step::Command(second),
                Step::Command(third),
                file("src/b.rs", "fn b() {\n  c()\n}\n"),
            ]
        );
    }

    #[test]
    fn only_a_path_inside_the_folder_is_a_file() {
        assert_eq!(file_name("As `x/a.toml`:").as_deref(), Some("x/a.toml"));
        for other in [
            "`a.toml`",
            "`../a.toml`:",
            "`/a.toml`:",
            "`a b.toml`:",
            "`store`:",
            "",
        ] {
            assert_eq!(file_name(other), None, "{other}");
        }
    }
}
