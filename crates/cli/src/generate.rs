//! `fixwire generate`: Rust source for the messages of a dictionary.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use fixwire_dictionary::generate;

use crate::dictionary::load;
use crate::failure::Failure;

/// Arguments of `fixwire generate`.
#[derive(Args, Debug)]
#[command(
    after_help = "The output depends only on the crate `fixwire`, or with --crate fixwire_protocol on that one. It is
not formatted: use `| rustfmt`.

Examples:
  fixwire generate --dictionary FIX.4.4 --messages D,8 > src/orders.rs
  fixwire generate --dictionary FIX44-mine.xml --messages NewOrderSingle,U1 > src/orders.rs"
)]
pub struct GenerateArgs {
    /// A version (FIX.4.4), a QuickFIX or Orchestra file, or one of these followed by ` + DELTA`
    #[arg(long, value_name = "VERSION|FILE")]
    dictionary: String,
    /// Path of the protocol in the output: `fixwire::protocol`, or `fixwire_protocol` for a project that depends on
    /// that crate alone
    #[arg(long = "crate", value_name = "PATH", default_value = "fixwire::protocol", value_parser = crate_path)]
    path: String,
    /// The messages, by MsgType or name
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    messages: Vec<String>,
}

/// A Rust path: names separated by `::`.
fn crate_path(text: &str) -> Result<String, String> {
    let is_name = |name: &str| {
        let mut letters = name.chars();
        letters
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    match text.split("::").all(is_name) {
        true => Ok(text.to_owned()),
        false => Err("expected names with :: between them, as in fixwire::protocol".to_owned()),
    }
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
    let source = generate::typed_in(&args.path, &dictionary, &types)
        .map_err(|error| Failure::Text(error.to_string()))?;
    io::stdout().lock().write_all(source.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
