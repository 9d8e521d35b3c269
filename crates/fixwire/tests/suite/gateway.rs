//! Can a program run the gateway of a file, see what is wrong with it, and reload it?

use std::fs;
use std::path::Path;
use std::thread;

use fixwire::gateway::{GatewayService, ReloadError, Reloader};
use fixwire::settings::{LoadError, Options, Settings, Source};
use fixwire::{Connection, Engine, Operator};

const SESSIONS: &str = "[default]
ConnectionType = 'acceptor'
SocketAcceptAddress = '127.0.0.1'
SocketAcceptPort = 5001
Durability = 'memory'
SenderCompID = 'GATE'
NonStopSession = true
[[session]]
SessionName = 'CLIENT'
BeginString = 'FIX.4.2'
TargetCompID = 'CLIENT'
[[session]]
SessionName = 'VENUE'
BeginString = 'FIX.4.4'
TargetCompID = 'VENUE'
";

fn read(file: &Path) -> Result<(Settings, GatewayService), LoadError> {
    let source = Source::read(file)?;
    let settings = Settings::of_file(&source, &Options::default())?;
    let gateway = GatewayService::load(&source, &settings, |_| {})?;
    Ok((settings, gateway))
}

#[test]
fn a_program_runs_the_gateway_of_a_file_and_reloads_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.toml");
    let write = |rules: &str| fs::write(&file, format!("{SESSIONS}{rules}")).unwrap();
    let wrong = |error: LoadError| {
        let text = error.to_string();
        let name = file.display().to_string();
        text.strip_prefix(&name).unwrap_or(&text).to_owned()
    };
    write("");
    let said = read(&file).map(drop).map_err(wrong).unwrap_err();
    assert!(said.starts_with(":1:1: the file has no rules"), "{said}");
    write("[[rule]]\nfrom = ['CLIENT']\ndo = ['send VENU']\n");
    let said = read(&file).map(drop).map_err(wrong).unwrap_err();
    assert!(said.starts_with(":18:") && said.contains("VENUE"), "{said}");

    let rule = "[[rule]]\nfrom = ['CLIENT']\ndo = ['send VENUE']\n";
    write(rule);
    let (settings, gateway) = read(&file).map_err(wrong).unwrap();
    let warnings: Vec<String> = gateway.loaded().warnings().collect();
    let [version, unread] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    assert!(
        version.contains(".toml:16: 'rule 1' sends FIX.4.2 messages")
            && unread.contains(".toml:16: 'rule 1' sends to 'VENUE', but no rule handles"),
        "{warnings:?}"
    );
    let remote = gateway.remote();
    let reloader = Reloader::new(&settings, &remote);
    let by = || Operator::new("a test", "");
    let early = reloader.reload(by()).unwrap_err();
    assert_eq!(
        early.to_string(),
        "the gateway has not started yet: try again"
    );

    let mut config = settings.to_config().unwrap();
    for session in &mut config.sessions {
        let listen = "127.0.0.1:0".parse().unwrap();
        session.connection = Connection::Acceptor { listen };
    }
    let mut engine = Engine::new(config, gateway).unwrap();
    let mut handle = engine.handle();
    remote.attach(engine.handle());
    let running = thread::spawn(move || engine.run());
    write(
        &rule
            .repeat(2)
            .replace("send VENUE']\n[", "copy to VENUE']\n["),
    );
    assert_eq!(reloader.reload(by()).unwrap(), "gateway reloaded: 2 rules");
    write("[[rule]]\nfrom = ['CLIENT']\ndo = ['sent VENUE']\n");
    let Err(ReloadError::File(error)) = reloader.reload(by()) else {
        panic!("taken");
    };
    assert!(wrong(error).starts_with(":18:"));
    let other = reloader.reload_file(Path::new("other.toml"), by());
    assert!(matches!(other, Err(ReloadError::OtherFile(_))), "{other:?}");
    let counts = remote.counts().unwrap();
    assert!(counts.starts_with("received 0, sent 0"), "{counts}");
    handle.stop().unwrap();
    running.join().unwrap().unwrap();
    assert!(remote.counts().is_err());
}
