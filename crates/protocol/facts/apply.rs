//! Corrects a table of the build step by statements, one a line:
//!
//! ```text
//! field 1409 SessionStatus INT           adds a field, or changes its name and type
//! value 103 12 SURVEILLENCE_OPTION       adds a value, or changes its name
//! drop 276 "f "                          removes a value
//! open 103 100+                          values besides the listed ones
//! message n XMLnonFIX                    adds a message
//! member A/NoMsgTypes RefApplExtID       adds an optional member: last, or `after NAME`
//! optional i/NoQuoteSets QuoteEntryID    makes a member optional
//! ```
//!
//! A place is a message type, `H` for the header, `C:NAME` for a component, and the groups inside it.
//! A statement that changes nothing is an error, so that none outlives its reason.

/// The table with the statements carried out.
pub fn apply(table: &str, statements: &str) -> Result<String, String> {
    let mut table = Table(table.lines().map(str::to_owned).collect());
    for line in statements.lines() {
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let done = match words[..] {
            ["field", tag, name, kind] => table.field(tag, name, kind),
            ["value", tag, value, name] => table.value(tag, value, name),
            ["drop", tag, value] => table.drop_value(tag, value),
            ["open", tag, others] => table.open(tag, others),
            ["message", msg_type, name] => table.message(msg_type, name),
            ["member", place, name] => table.member(place, name, None),
            ["member", place, name, "after", other] => table.member(place, name, Some(other)),
            ["optional", place, name] => table.optional(place, name),
            _ => None,
        };
        done.ok_or_else(|| format!("cannot carry out: {line}"))?;
    }
    Ok(table.0.join("\n") + "\n")
}

/// The words of a line; quotes hold a blank.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('"').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// The lines of a table. What cannot be done is `None`.
struct Table(Vec<String>);

impl Table {
    /// Where the line that begins so is.
    fn find(&self, start: &str) -> Option<usize> {
        self.0.iter().position(|line| line.starts_with(start))
    }

    /// The first line from `at` that is not one of these.
    fn behind(&self, at: usize, letters: &str) -> usize {
        let lines = self.0[at..].iter();
        at + lines
            .take_while(|line| line.starts_with(|letter: char| letters.contains(letter)))
            .count()
    }

    fn field(&mut self, tag: &str, name: &str, kind: &str) -> Option<()> {
        let line = format!("F|{tag}|{name}|{kind}");
        if let Some(at) = self.find(&format!("F|{tag}|")) {
            return (self.0[at] != line).then(|| self.0[at] = line);
        }
        self.0.insert(self.behind(0, "FV"), line);
        Some(())
    }

    /// The line of a value of a field, or the one behind the last of them.
    fn place_of(&self, tag: &str, value: &str) -> Option<Result<usize, usize>> {
        let from = self.find(&format!("F|{tag}|"))? + 1;
        let end = self.behind(from, "V");
        let start = format!("V|{value}|");
        let found = self.0[from..end]
            .iter()
            .position(|line| line.starts_with(&start));
        Some(found.map(|at| from + at).ok_or(end))
    }

    fn value(&mut self, tag: &str, value: &str, name: &str) -> Option<()> {
        let line = format!("V|{value}|{name}");
        match self.place_of(tag, value)? {
            Ok(at) => return (self.0[at] != line).then(|| self.0[at] = line),
            Err(end) => self.0.insert(end, line),
        }
        Some(())
    }

    fn drop_value(&mut self, tag: &str, value: &str) -> Option<()> {
        let at = self.place_of(tag, value)?.ok()?;
        self.0.remove(at);
        Some(())
    }

    fn open(&mut self, tag: &str, others: &str) -> Option<()> {
        let at = self.find(&format!("F|{tag}|"))?;
        // A field without a list takes every value as it is.
        let is_listed = self.0.get(at + 1)?.starts_with('V');
        let first = self.0[at].split('|').count() == 4;
        (is_listed && first).then(|| self.0[at] += &format!("|{others}"))
    }

    fn message(&mut self, msg_type: &str, name: &str) -> Option<()> {
        if self.find(&format!("M|{msg_type}|")).is_some() {
            return None;
        }
        self.0.push(format!("M|{msg_type}|{name}"));
        Some(())
    }

    /// The lines of a layout, from and to.
    fn layout(&self, place: &str) -> Option<(usize, usize)> {
        let mut path = place.split('/');
        let root = path.next()?;
        let root = match (root, root.strip_prefix("C:")) {
            ("H", _) => self.0.iter().position(|line| line == "H")?,
            (_, Some(name)) => self
                .0
                .iter()
                .position(|line| *line == format!("C|{name}"))?,
            _ => self.find(&format!("M|{root}|"))?,
        };
        let (mut from, mut to) = (root + 1, self.behind(root + 1, "fcge"));
        for count in path {
            let start = format!("g|{count}|");
            let found = self.0[from..to]
                .iter()
                .position(|line| line.starts_with(&start))?;
            from += found + 1;
            to = self.end_of_group(from)?;
        }
        Some((from, to))
    }

    /// The `e` of the group whose first member is at `from`.
    fn end_of_group(&self, from: usize) -> Option<usize> {
        let mut depth = 1;
        for (at, line) in self.0.iter().enumerate().skip(from) {
            match line.as_bytes().first() {
                Some(b'g') => depth += 1,
                Some(b'e') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(at);
            }
        }
        None
    }

    /// A member by its name, not inside a group further in.
    fn member_at(&self, (from, to): (usize, usize), name: &str) -> Option<usize> {
        let mut at = from;
        while at < to {
            let line = &self.0[at];
            if line.split('|').nth(1) == Some(name) {
                return Some(at);
            }
            at = match line.starts_with('g') {
                true => self.end_of_group(at + 1)? + 1,
                false => at + 1,
            };
        }
        None
    }

    fn member(&mut self, place: &str, name: &str, after: Option<&str>) -> Option<()> {
        let lines = self.layout(place)?;
        if self.member_at(lines, name).is_some() {
            return None;
        }
        let at = match after {
            None => lines.1,
            Some(other) => {
                let at = self.member_at(lines, other)?;
                match self.0[at].starts_with('g') {
                    true => self.end_of_group(at + 1)? + 1,
                    false => at + 1,
                }
            }
        };
        self.0.insert(at, format!("f|{name}|N"));
        Some(())
    }

    fn optional(&mut self, place: &str, name: &str) -> Option<()> {
        let lines = self.layout(place)?;
        let at = self.member_at(lines, name)?;
        let line = self.0[at].strip_suffix("|Y")?;
        self.0[at] = format!("{line}|N");
        Some(())
    }
}
