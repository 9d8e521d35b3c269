//! Parses the text of a plan, line by line, and collects every error.

mod names;
mod step;
#[cfg(test)]
mod tests;

use std::time::Duration;

use fixwire_protocol::dictionary::Version;
use fixwire_text::first_word;

use crate::masking::masked_step;
use crate::plan::{
    CertificationCase, CertificationPlan, PlanMistake, PlanProtocol, PlanStep, StepAction,
};
use crate::tmp::frames;
use crate::value::time_limit;
use names::Names;

/// Time limit for an expectation if the plan states none.
const LIMIT: Duration = Duration::from_secs(5);
/// Maximum number of repetitions of a case.
const ROUNDS_MAX: u32 = 1000;

impl CertificationPlan {
    /// Parses a plan.
    ///
    /// # Errors
    ///
    /// All errors, in the order of their lines.
    pub fn parse(text: &str) -> Result<Self, Vec<PlanMistake>> {
        let mut reader = Reader::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            reader.line = index + 1;
            if let Err(what) = reader.read(line) {
                reader.mistake(reader.line, what);
            }
        }
        reader.end_case();
        if reader.plan.cases.is_empty() && reader.mistakes.is_empty() {
            let what = "the plan has no case: begin one with 'case 1 TITLE'".to_owned();
            reader.mistake(text.lines().count().max(1), what);
        }
        if reader.mistakes.is_empty() {
            return Ok(reader.plan);
        }
        reader.mistakes.sort_by_key(|mistake| mistake.line);
        Err(reader.mistakes)
    }
}

/// Records the line of a word that may occur only once; an error if the word occurred before.
fn once(earlier: &mut Option<usize>, line: usize, word: &str) -> Result<(), String> {
    match earlier {
        Some(earlier) => Err(format!(
            "a second '{word}': the first is in line {earlier}; remove one of them"
        )),
        None => {
            *earlier = Some(line);
            Ok(())
        }
    }
}

/// A plan that is being parsed.
struct Reader {
    plan: CertificationPlan,
    mistakes: Vec<PlanMistake>,
    /// The current line, from 1.
    line: usize,
    /// The line of the word `limit`.
    limit_line: Option<usize>,
    /// The lines of the words `optional`, `repeat` and `versions:` in the current case.
    attribute_lines: [Option<usize>; 3],
    /// The variables of the current case.
    names: Names,
    /// Whether a line of the current case is not a valid step. If a line is not valid, errors about references to its
    /// step are not reported.
    is_broken: bool,
}

impl Reader {
    fn new() -> Self {
        Self {
            plan: CertificationPlan {
                protocol: PlanProtocol::Fix,
                settings: None,
                session: None,
                limit: LIMIT,
                cases: Vec::new(),
            },
            mistakes: Vec::new(),
            line: 0,
            limit_line: None,
            attribute_lines: [None; 3],
            names: Names::default(),
            is_broken: false,
        }
    }

    fn mistake(&mut self, line: usize, what: String) {
        self.mistakes.push(PlanMistake { line, what });
    }

    fn read(&mut self, line: &str) -> Result<(), String> {
        let (word, rest) = first_word(line);
        match word {
            "case" => {
                self.end_case();
                self.begin_case(rest)
            }
            "session" | "link" | "limit" => self.head(word, rest),
            "optional" | "repeat" | "versions:" => self.attribute(word, rest),
            _ => self.step(word, rest, line),
        }
    }

    /// Parses a line before the first case.
    fn head(&mut self, word: &str, rest: &str) -> Result<(), String> {
        if !self.plan.cases.is_empty() {
            return Err(format!(
                "'{word}' is for the whole plan: write it before the first case"
            ));
        }
        if word == "limit" {
            let limit = time_limit(rest)?;
            once(&mut self.limit_line, self.line, word)?;
            self.plan.limit = limit;
            return Ok(());
        }
        let (file, name) = first_word(rest);
        let (protocol, ending) = match word {
            "link" => (PlanProtocol::Tmp, "toml"),
            _ => (PlanProtocol::Fix, "cfg"),
        };
        if file.is_empty() {
            return Err(format!(
                "{word} needs a settings file: {word} FILE.{ending} [NAME]"
            ));
        }
        if self.plan.settings.is_some() {
            return Err(format!(
                "a second 'session' or 'link': a plan is played on one {word}"
            ));
        }
        self.plan.protocol = protocol;
        self.plan.settings = Some(file.to_owned());
        self.plan.session = (!name.is_empty()).then(|| name.to_owned());
        Ok(())
    }

    fn begin_case(&mut self, rest: &str) -> Result<(), String> {
        const FORM: &str = "write 'case NUMBER TITLE', such as 'case 3 An order is acknowledged'";
        let (number, title) = first_word(rest);
        let parsed: Option<u32> = number.parse().ok().filter(|number| *number > 0);
        let earlier = self
            .plan
            .cases
            .iter()
            .find(|case| Some(case.number) == parsed);
        let mistake = match parsed {
            None => Some(format!("'{number}' is not the number of a case: {FORM}")),
            Some(_) if title.is_empty() => Some(format!("the case has no title: {FORM}")),
            Some(number) => earlier.map(|earlier| {
                let line = earlier.line;
                format!("case {number} is in line {line} already: give each case its own number")
            }),
        };
        self.plan.cases.push(CertificationCase {
            number: parsed.unwrap_or_default(),
            title: title.to_owned(),
            line: self.line,
            optional: false,
            rounds: 1,
            versions: Vec::new(),
            steps: Vec::new(),
        });
        self.attribute_lines = [None; 3];
        self.is_broken = mistake.is_some();
        mistake.map_or(Ok(()), Err)
    }

    /// Makes the checks that need the whole case.
    fn end_case(&mut self) {
        let names = std::mem::take(&mut self.names);
        let is_broken = std::mem::take(&mut self.is_broken);
        let Some(case) = self.plan.cases.last() else {
            return;
        };
        if is_broken {
            return;
        }
        let expects = |step: &PlanStep| {
            use StepAction::{Disconnect, Expect, LoggedOn, Silence};
            matches!(
                step.action,
                Expect(_) | Disconnect(_) | Silence(_) | LoggedOn
            )
        };
        if !case.steps.iter().any(expects) {
            let what = format!(
                "case {} expects nothing: add an 'expect' step, such as 'expect {}'",
                case.number,
                match self.plan.protocol {
                    PlanProtocol::Fix => "35=8|150=0",
                    PlanProtocol::Tmp => "R02|exec_type=0",
                }
            );
            let line = case.line;
            self.mistake(line, what);
        }
        for (line, what) in names.unused() {
            self.mistake(line, what);
        }
    }

    /// Parses a line between the title of a case and its first step.
    fn attribute(&mut self, word: &str, rest: &str) -> Result<(), String> {
        let Some(case) = self.plan.cases.last_mut() else {
            return Err(format!(
                "'{word}' is for a case: write it after the 'case' line"
            ));
        };
        if !case.steps.is_empty() {
            return Err(format!(
                "'{word}' is for the whole case: write it before its first step"
            ));
        }
        if word == "versions:" && self.plan.protocol == PlanProtocol::Tmp {
            return Err(
                "'versions:' is only for plans over FIX: remove it from this plan over TMP"
                    .to_owned(),
            );
        }
        let place = match word {
            "optional" => 0,
            "repeat" => 1,
            _ => 2,
        };
        once(&mut self.attribute_lines[place], self.line, word)?;
        match word {
            "optional" if rest.is_empty() => case.optional = true,
            "optional" => return Err(format!("optional: unexpected '{rest}'")),
            "repeat" => {
                let rounds = rest
                    .parse()
                    .ok()
                    .filter(|rounds| (1..=ROUNDS_MAX).contains(rounds));
                case.rounds = rounds.ok_or_else(|| {
                    format!(
                        "repeat '{rest}': write how often the case is played, 1 to {ROUNDS_MAX}"
                    )
                })?;
            }
            _ => {
                let known = |word: &str| {
                    let versions = Version::ALL.into_iter();
                    let mut versions = versions.filter(|version| *version != Version::Fixt11);
                    let wrong =
                        || format!("unknown version '{word}': write 4.2, 4.4, 5.0SP2 or similar");
                    let found =
                        versions.find(|version| version.name().strip_prefix("FIX.") == Some(word));
                    found.ok_or_else(wrong)
                };
                let versions: Vec<_> = rest
                    .split_whitespace()
                    .map(known)
                    .collect::<Result<_, _>>()?;
                if versions.is_empty() {
                    return Err(
                        "versions: write the FIX versions to which the case applies, such as 4.4 5.0SP2".to_owned(),
                    );
                }
                case.versions = versions;
            }
        }
        Ok(())
    }

    fn step(&mut self, word: &str, rest: &str, text: &str) -> Result<(), String> {
        let Some(case) = self.plan.cases.last_mut() else {
            let protocol = self.plan.protocol;
            return Err(match step::is_step(word, protocol) {
                true => format!("'{word}' before the first case: begin one with 'case 1 TITLE'"),
                false => format!(
                    "unknown word '{word}': a plan begins with 'session FILE.cfg' or 'link FILE.toml', and 'case 1 TITLE'"
                ),
            });
        };
        let line = self.line;
        let mut reader = step::StepReader {
            protocol: self.plan.protocol,
            line,
            names: &mut self.names,
        };
        let result = if word == "and" {
            reader.and(case, rest)
        } else {
            let (number, action) = reader.step(word, rest);
            action.map(|action| {
                let text = match &action {
                    StepAction::Raw(bytes) => format!("raw {}", frames::hex(bytes)),
                    _ => masked_step(text, step::is_command(word, rest)),
                };
                case.steps.push(PlanStep {
                    line,
                    number,
                    text,
                    action,
                });
            })
        };
        self.is_broken |= result.is_err();
        result
    }
}
