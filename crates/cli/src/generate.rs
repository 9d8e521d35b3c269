//! `fixwire generate`: Rust source for the messages of a dictionary.

use std::fs;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fixwire_protocol::Dictionary;
use fixwire_protocol::dictionary::{Limits, Version, generate};

use crate::failure::Failure;

/// What to generate.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire generate --dictionary FIX.4.4 --messages D,8 > src/orders.rs
  fixwire generate --dictionary FIX44-mine.xml --messages NewOrderSingle,U1 > src/orders.rs")]
pub struct GenerateArgs {
    /// A version (FIX.4.4, FIX.5.0SP2) or a QuickFIX XML file
    #[arg(long, value_name = "VERSION|FILE")]
    dictionary: String,
    /// The messages, by MsgType or name
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    messages: Vec<String>,
}

/// Runs the command.
pub fn run(args: &GenerateArgs) -> Result<ExitCode, Failure> {
    let dictionary = load(&args.dictionary)?;
    let mut types = Vec::new();
    for wanted in &args.messages {
        let found = dictionary
            .message(wanted.as_bytes())
            .or_else(|| dictionary.message_named(wanted))
            .ok_or_else(|| Failure::Text(format!("{} has no message {wanted}", args.dictionary)))?;
        types.push(found.msg_type());
    }
    let source =
        generate::typed(&dictionary, &types).map_err(|error| Failure::Text(error.to_string()))?;
    io::stdout().lock().write_all(source.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn load(name: &str) -> Result<Dictionary, Failure> {
    let bare = |text: &str| text.replace('.', "").to_ascii_uppercase();
    let version = Version::ALL
        .into_iter()
        .find(|version| bare(version.name()) == bare(name));
    if let Some(version) = version {
        return Ok(Dictionary::built_in(version));
    }
    let limits = Limits::default();
    let mut text = String::new();
    let most = limits.bytes as u64 + 1;
    fs::File::open(PathBuf::from(name))
        .and_then(|file| file.take(most).read_to_string(&mut text))
        .map_err(|error| {
            Failure::Text(format!(
                "{name}: {error}; write a file, or one of {}",
                Version::ALL.map(Version::name).join(", ")
            ))
        })?;
    Dictionary::from_quickfix_xml(&text, limits)
        .map_err(|error| Failure::Text(format!("{name}: {error}")))
}
