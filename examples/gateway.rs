//! A gateway in a program of one's own: it runs what a file says, and reads the file again for each line of the
//! standard input.
//!
//! `cargo run --release -p fixwire --features gateway --example gateway -- examples/gateway.toml`

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::thread;

use fixwire::gateway::{GatewayService, Reloader};
use fixwire::settings::{Options, Settings, Source};
use fixwire::{Engine, Operator};

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1);
    let file = PathBuf::from(file.unwrap_or_else(|| "examples/gateway.toml".to_owned()));
    // Sessions, rules and tables; an error names every mistake with its line.
    let source = Source::read(&file)?;
    let settings = Settings::of_file(&source, &Options::default())?;
    let gateway = GatewayService::load(&source, &settings, |notice| eprintln!("{notice}"))?;
    // What the file may not mean, of settings and of rules.
    eprintln!("{}", settings.report);
    gateway
        .loaded()
        .warnings()
        .for_each(|warning| eprintln!("{warning}"));
    let remote = gateway.remote();
    let mut engine = Engine::new(settings.to_config()?, gateway)?;
    engine.on_event(|_, event| eprintln!("{event}"));
    remote.attach(engine.handle());
    let reloader = Reloader::new(&settings, &remote);
    thread::spawn(move || {
        for _ in io::stdin().lines() {
            match reloader.reload(Operator::new("console", "")) {
                Ok(said) => eprintln!("{said}"),
                Err(error) => eprintln!("{error}"),
            }
        }
    });
    Ok(engine.run()?)
}
