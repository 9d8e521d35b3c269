//! Rights at the control socket: every command with every right, by system users.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::oms::Floor;
use crate::peer::Peer;
use crate::running::{Running, fixwire, free_port};

const PAGE: &str = include_str!("../../../../docs/operating/security.md");

/// Commands that only read and write files, or run a process of their own.
const OF_FILES: [&str; 15] = [
    "run",
    "client",
    "sim",
    "certify",
    "check",
    "replay",
    "generate",
    "hash-password",
    "doctor",
    "gateway conversion",
    "gateway try",
    "oms history",
    "oms position history",
    "oms day",
    "oms try",
];
/// The same for all subcommands of these.
const FAMILIES: [&str; 6] = ["config", "journal", "log", "dictionary", "analyse", "bench"];

/// A user that is in no table.
const STRANGER: u32 = 40_000;
/// The first user with one right, and the first with all but one.
const ONE: u32 = 40_100;
const ALL_BUT: u32 = 40_200;

const RIGHTS: [&str; 16] = [
    "read", "session", "numbers", "send", "command", "reload", "limit", "kill", "arm", "market",
    "roll", "report", "rerun", "break", "settle", "position",
];

/// The commands on the page, each with its right; empty for none.
fn rows() -> BTreeMap<String, String> {
    let (_, table) = PAGE.split_once("| command | right |\n").unwrap();
    let rows = table.lines().skip(1).take_while(|row| row.starts_with('|'));
    let mut all = BTreeMap::new();
    for row in rows {
        let (commands, right) = row.trim_matches(['|', ' ']).split_once(" | ").unwrap();
        let right = right.split('`').nth(1).unwrap_or_default();
        for command in commands.split('`').skip(1).step_by(2) {
            // `oms reducing` of a killed scope is another row.
            all.entry(command.to_owned()).or_insert(right.to_owned());
        }
    }
    all
}

/// The subcommands in a help text.
pub fn subcommands(path: &[String]) -> Vec<String> {
    let said = fixwire().args(path).arg("--help").output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let Some((_, list)) = said.split_once("\nCommands:\n") else {
        return Vec::new();
    };
    let lines = list.lines().take_while(|line| line.starts_with("  "));
    let names = lines.filter(|line| line.as_bytes()[2] != b' ');
    let names = names.filter_map(|line| line.split_whitespace().next());
    let names = names.filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

/// Whether a command that has subcommands also works alone: then it has arguments.
fn stands_alone(path: &[String]) -> bool {
    let said = fixwire().args(path).arg("--help").output().unwrap();
    !path.is_empty()
        && String::from_utf8(said.stdout)
            .unwrap()
            .contains("\nArguments:\n")
}

/// Every command of the binary that has no subcommands or also works alone, from the help texts.
pub fn commands() -> Vec<Vec<String>> {
    let mut open = vec![Vec::new()];
    let mut all = Vec::new();
    while let Some(path) = open.pop() {
        let subcommands = subcommands(&path);
        if subcommands.is_empty() {
            all.push(path);
            continue;
        }
        if stands_alone(&path) {
            all.push(path.clone());
        }
        open.extend(
            subcommands
                .into_iter()
                .map(|name| [&path[..], &[name]].concat()),
        );
    }
    all.sort();
    all
}

#[test]
fn every_command_has_a_row_on_the_page() {
    let rows = rows();
    assert!(rows.len() > 30, "{rows:?}");
    let commands = commands();
    for path in &commands {
        let name = path.join(" ");
        let is_file = OF_FILES.contains(&&*name) || FAMILIES.contains(&&*path[0]);
        let is_row = rows.contains_key(&name);
        assert!(
            is_row || is_file,
            "`{name}` needs a row among the rights of docs/operating/security.md"
        );
    }
    for row in rows.keys().filter(|row| *row != "session command") {
        let is_known = commands.iter().any(|path| path.join(" ") == *row);
        assert!(is_known, "no command `{row}`");
    }
    for right in RIGHTS {
        let is_used = rows.values().any(|used| used == right);
        assert!(is_used || right == "command", "{right}");
    }
}

/// The binary, in a place where every user may run it.
static BINARY: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let binary = folder.path().join("fixwire");
    fs::copy(fixwire().get_program(), &binary).unwrap();
    fs::set_permissions(&binary, Permissions::from_mode(0o755)).unwrap();
    (folder, binary)
});

/// A group other than root's, by name and number.
fn group() -> Option<(String, u32)> {
    let groups = fs::read_to_string("/etc/group").ok()?;
    let mut found = groups.lines().filter_map(|line| {
        let mut words = line.split(':');
        let name = words.next()?;
        let id: u32 = words.nth(1)?.parse().ok()?;
        (id != 0).then(|| (name.to_owned(), id))
    });
    found.next_back()
}

/// Whether processes can be started as other users.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
        && Command::new("setpriv").arg("--version").output().is_ok()
}

/// The output of the binary for the user with this number, who is in the group of the socket.
fn run_as(user: u32, args: &[&str]) -> String {
    let (_, group) = group().unwrap();
    let mut command = Command::new("setpriv");
    command
        .args([format!("--reuid={user}"), format!("--regid={group}")])
        .arg("--clear-groups")
        .arg(&BINARY.1)
        .args(args)
        .current_dir("/");
    let output = command.output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// A folder for a socket that the group may enter.
fn socket_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    chown(folder.path(), None, Some(group().unwrap().1)).unwrap();
    folder
}

/// Socket keys and operator tables.
fn settings(socket: &Path) -> String {
    let group = group().unwrap().0;
    format!(
        "ControlPath = {:?}\nControlGroup = \"{group}\"\n",
        socket.display().to_string()
    )
}

fn tables() -> String {
    let mut text = String::new();
    for (at, right) in RIGHTS.iter().enumerate() {
        let others = RIGHTS.iter().filter(|other| *other != right);
        let others: Vec<String> = others.map(|other| format!("{other:?}")).collect();
        for (user, may) in [
            (ONE + at as u32, format!("{right:?}")),
            (ALL_BUT + at as u32, others.join(", ")),
        ] {
            text += &format!("[[operator]]\nuser = \"uid {user}\"\nmay = [{may}]\n");
        }
    }
    text
}

/// An example of each command to a running engine, without the engine's arguments.
fn example(command: &str) -> Vec<&'static str> {
    const WHY: [&str; 2] = ["--why", "a test"];
    let (words, needs_why): (&[&str], bool) = match command {
        "status" | "session list" => (&[], false),
        "session status"
        | "session logon"
        | "session logout"
        | "session disconnect"
        | "session enable"
        | "session disable"
        | "session test-request"
        | "session reset" => (&["FIX.4.2:OMS->EXCHANGE"], false),
        "session set-numbers" => (&["FIX.4.2:OMS->EXCHANGE", "--in", "7", "--force"], false),
        "session send" => (
            &["FIX.4.2:OMS->EXCHANGE", "D", "11=A|55=VOD|54=1|38=5000000"],
            false,
        ),
        "session command" => (&["kill firm"], true),
        "oms status" | "oms orders" | "oms positions" | "oms limits" | "oms pools" | "oms held"
        | "oms accounts" | "oms symbols" | "oms rejected" | "oms breaks" => (&[], false),
        "oms order" => (&["1"], false),
        "oms day" => (&["--to", "/reports"], false),
        "oms limit" => (&["account=A1", "RC6=500"], true),
        "oms cancel" | "oms kill" | "oms reducing" | "oms arm" => (&["account=A1"], true),
        "oms market" => (&["symbol=VOD", "halted"], true),
        "oms price" => (&["symbol=VOD", "last=12.5"], true),
        "oms prices" => (&["/prices.csv"], true),
        "oms report-in" => (&["/reports.csv"], true),
        "oms bust" => (&["17/E1"], true),
        "oms correct" => (&["17/E1", "--quantity", "90", "--price", "12.5"], true),
        "oms expire" => (&["/expired.csv"], true),
        "oms rerun" => (&["CLIENT/A7", "--without", "RC8"], true),
        "oms accept-break" => (&["57"], true),
        "oms breaks settle" => (&["57", "venue"], true),
        "oms position set" => (&["A1", "VOD", "long=5"], true),
        "oms position adjust" => (&["A1", "VOD", "long=+5"], true),
        "oms positions load" => (&["/clearing.csv", "--totals"], true),
        "oms reconcile" => (&["/clearing.csv"], false),
        "oms roll" => (&["day=2000-01-01"], true),
        "oms reload" => (&[], true),
        other => panic!("`{other}` needs an example here"),
    };
    let why: &[&str] = if needs_why { &WHY } else { &[] };
    [words, why].concat()
}

/// Whether the commands send rows of a file; there is no file here.
const OF_ROWS: [&str; 5] = [
    "oms prices",
    "oms report-in",
    "oms expire",
    "oms positions load",
    "oms reconcile",
];

fn asks(user: u32, command: &str, socket: &str) -> String {
    let words: Vec<&str> = command.split(' ').chain([socket]).collect();
    run_as(user, &[&words[..], &example(command)].concat())
}

#[test]
fn each_command_needs_its_right_and_no_other() {
    if !is_root() {
        return eprintln!("not tested: only root can start processes as other users");
    }
    let folder = socket_folder();
    let socket = folder.path().join("oms");
    let keys = format!("[default]\n{}", settings(&socket));
    let operators = format!("{}\n[oms]\n", tables());
    let floor = Floor::with(&[("[default]\n", &keys), ("[oms]\n", &operators)]);
    let socket = socket.to_str().unwrap();
    for (command, right) in rows() {
        // Rows of files are the commands `price` and `report`.
        if OF_ROWS.contains(&&*command)
            || matches!(
                &*command,
                "oms history" | "oms position history" | "oms day" | "gateway reload"
            )
        {
            continue;
        }
        let right = match &*command {
            "session command" => "kill".to_owned(),
            _ => right,
        };
        let said = asks(STRANGER, &command, socket);
        if right.is_empty() {
            assert!(said.contains("FIX.4.2:OMS->EXCHANGE"), "{command}: {said}");
            assert!(!said.contains("open orders"), "{command}: {said}");
            continue;
        }
        let is_refused = |said: &str| said.contains("refused: ") && said.contains("the right");
        let missing = format!("the right {right} is missing");
        assert!(
            is_refused(&said) && said.contains(&missing),
            "{command}: {said}"
        );
        let at = RIGHTS.iter().position(|known| *known == right).unwrap() as u32;
        let said = asks(ALL_BUT + at, &command, socket);
        assert!(said.contains(&missing), "{command} without {right}: {said}");
        let said = asks(ONE + at, &command, socket);
        assert!(!is_refused(&said), "{command} with {right} alone: {said}");
        if command == "session send" {
            assert!(
                said.contains("refused: the session is one of the OMS"),
                "{said}"
            );
        }
    }
    // Root is in no table.
    let said = fixwire()
        .args(["oms", "kill", socket, "firm", "--why", "x"])
        .output();
    let said = String::from_utf8(said.unwrap().stderr).unwrap();
    assert!(
        said.contains("refused: root (uid 0) is not an operator"),
        "{said}"
    );
    let read = ONE + RIGHTS.iter().position(|it| *it == "read").unwrap() as u32;
    assert!(run_as(read, &["status", socket]).contains("oms: day"));
    floor
        .running
        .hears("refused: command kill firm by root (uid 0): x: root (uid 0) is not an operator");
}

/// A monitor may be root, or a member of the group of the socket.
#[test]
fn whoever_sees_that_nothing_runs_gets_its_exit_code() {
    if !is_root() {
        return eprintln!("not tested: only root can start processes as other users");
    }
    let folder = socket_folder();
    let (group, id) = group().unwrap();
    let socket = folder.path().join("control");
    let extra = format!("ControlPath={}\nControlGroup={group}", socket.display());
    drop(Running::start(folder.path(), "echo", &extra));
    let file = folder.path().join("acceptor.cfg");
    let file = file.to_str().unwrap();
    let ends = |command: &mut Command| {
        let output = command.current_dir("/").output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), said)
    };
    let member = || {
        let mut command = Command::new("setpriv");
        command
            .args([format!("--reuid={ONE}"), format!("--regid={id}")])
            .arg("--clear-groups")
            .arg(&BINARY.1);
        command
    };
    let (code, said) = ends(member().args(["status", file]));
    let expected = "not running: no response from an engine at ";
    assert!(code == Some(3) && said.starts_with(expected), "{said}");
    // From now on another user owns the journal, and root sends the requests.
    let store = folder.path().join("store");
    let files = fs::read_dir(&store).unwrap();
    for path in files.map(|file| file.unwrap().path()).chain([store]) {
        std::os::unix::fs::lchown(path, Some(ONE), None).unwrap();
    }
    let (code, said) = ends(fixwire().args(["status", file]));
    let hint = format!("run this as that user (sudo -u '#{ONE}' fixwire ...)");
    assert!(
        code == Some(3) && said.starts_with("not running: "),
        "{said}"
    );
    assert!(said.contains(&hint) && !said.contains("chown"), "{said}");
    let (code, said) = ends(fixwire().args(["status", "--json", file]));
    let json: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert!(code == Some(3) && json["running"] == false, "{said}");
    assert!(json["error"].as_str().unwrap().contains(&hint), "{said}");
    let reset = ["session", "reset", file, "FIX.4.2:EXEC->BENCH"];
    let (code, said) = ends(fixwire().args(reset));
    assert!(
        code == Some(1) && said.contains("no engine is running"),
        "{said}"
    );
}

#[test]
fn a_killed_firm_sends_nothing_by_hand() {
    if !is_root() {
        return eprintln!("not tested: only root can start processes as other users");
    }
    let folder = socket_folder();
    let socket = folder.path().join("oms");
    let keys = format!("[default]\n{}", settings(&socket));
    let user = ONE;
    let operators =
        format!("[[operator]]\nuser = \"uid {user}\"\nmay = [\"kill\", \"arm\"]\n[oms]\n");
    let mut floor = Floor::with(&[("[default]\n", &keys), ("[oms]\n", &operators)]);
    let socket = socket.to_str().unwrap();
    let killed = run_as(user, &["oms", "kill", socket, "firm", "--why", "x"]);
    assert!(killed.contains("firm: killed"), "{killed}");
    for command in rows().keys() {
        let is_his = matches!(
            &**command,
            "oms kill" | "oms arm" | "oms reducing" | "oms cancel"
        );
        let skipped = matches!(
            &**command,
            "session command"
                | "oms history"
                | "oms position history"
                | "oms day"
                | "gateway reload"
        );
        if is_his || skipped || OF_ROWS.contains(&&**command) || rows()[command].is_empty() {
            continue;
        }
        for who in [user, STRANGER] {
            let said = asks(who, command, socket);
            assert!(said.contains("refused: "), "{command} by {who}: {said}");
        }
    }
    // Nothing has reached the venue; its session is unchanged.
    floor.venue.send("1", "112=NOW");
    assert!(floor.venue.expect("0").contains("|112=NOW|"));
}

#[test]
fn members_of_the_group_read_and_nothing_else() {
    if !is_root() {
        return eprintln!("not tested: only root can start processes as other users");
    }
    let folder = socket_folder();
    let socket = folder.path().join("oms");
    let keys = format!("[default]\n{}", settings(&socket));
    let floor = Floor::with(&[("[default]\n", &keys)]);
    let socket = socket.to_str().unwrap();
    for (command, right) in rows() {
        let skipped = matches!(
            &*command,
            "session command"
                | "oms history"
                | "oms position history"
                | "oms day"
                | "gateway reload"
        );
        if skipped || OF_ROWS.contains(&&*command) {
            continue;
        }
        let said = asks(STRANGER, &command, socket);
        let is_refused = said.contains("refused: uid 40000 may only read");
        assert_eq!(
            is_refused,
            !matches!(&*right, "" | "read"),
            "{command}: {said}"
        );
    }
    let said = fixwire()
        .args(["oms", "kill", socket, "firm", "--why", "x"])
        .output();
    let said = String::from_utf8(said.unwrap().stdout).unwrap();
    assert!(said.contains("firm: killed"), "{said}");
    drop(floor);
}

#[test]
fn half_requests_of_anybody_do_not_hold_up_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("oms");
    let keys = format!(
        "[default]\nControlPath = {:?}\n",
        socket.display().to_string()
    );
    let floor = Floor::with(&[("[default]\n", &keys)]);
    let half = |_| {
        use std::io::Write as _;
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.write_all(b"{\"id\":").unwrap();
        stream
    };
    let halves: Vec<UnixStream> = (0..30).map(half).collect();
    let begun = Instant::now();
    let socket = socket.to_str().unwrap();
    let said = fixwire()
        .args(["oms", "kill", socket, "firm", "--why", "x"])
        .output();
    let said = String::from_utf8(said.unwrap().stdout).unwrap();
    assert!(said.contains("firm: killed"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(4));
    floor.running.hears("a request must be complete within 5 s");
    drop(halves);
}

#[test]
fn an_engine_and_a_gateway_have_operators_too() {
    if !is_root() {
        return eprintln!("not tested: only root can start processes as other users");
    }
    let folder = socket_folder();
    let (own, group) = (tempfile::tempdir().unwrap(), group().unwrap().0);
    let socket = folder.path().join("engine");
    let control = format!(
        "ControlPath={}\nControlGroup={group}\nControlOperators=uid {ONE}:session,read;uid {}:send\n",
        socket.display(),
        ONE + 1
    );
    let running = Running::start(own.path(), "echo", &control);
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.log_on(30);
    let session = "FIX.4.2:EXEC->BENCH";
    let at = socket.to_str().unwrap();
    let secret = "148=Closing|554=geheim|925=neu|33=0";
    let send = ["session", "send", at, session, "B", secret];
    assert!(run_as(ONE, &send).contains("the right send is missing"));
    let said = run_as(ONE + 1, &send);
    assert!(said.contains("message accepted"), "{said}");
    let told = running.hears("operator: message 35=B|148=Closing|");
    assert!(!told.contains("geheim") && !told.contains("neu"), "{told}");
    assert!(told.contains("|33=0 by uid 40101"), "{told}");
    let disable = ["session", "disable", at, session];
    for user in [ONE + 1, STRANGER, 0] {
        assert!(run_as(user, &disable).contains("the right session is missing"));
    }
    assert!(run_as(ONE, &disable).contains("disabled"));
    drop(running);

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let venue = listener.local_addr().unwrap().port();
    let socket = folder.path().join("gateway");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let port = free_port();
    let text = fs::read_to_string(examples.join("gateway.toml")).unwrap();
    let store = own.path().join("gateway-store").display().to_string();
    let text = text
        .replace("5001", &port.to_string())
        .replace("5002", &venue.to_string())
        .replace("\"store\"", &format!("{store:?}"))
        .replace("[default]\n", &format!("[default]\n{}", settings(&socket)));
    let text = format!(
        "{text}\n[[operator]]\nuser = \"uid {ONE}\"\nmay = [\"reload\", \"send\", \"read\"]\n"
    );
    let file = folder.path().join("gateway.toml");
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let mut command = fixwire();
    command.arg("run").arg(&file);
    let running = Running::spawn(command, port);
    running.listens();
    let file = file.to_str().unwrap();
    let at = socket.to_str().unwrap();
    for user in [STRANGER, 0] {
        let said = run_as(user, &["gateway", "reload", file]);
        assert!(said.contains("the right reload is missing"), "{said}");
        let said = run_as(user, &["status", at]);
        assert!(
            said.contains("FIX.4.4:GATE->VENUE") && !said.contains("received 0"),
            "{said}"
        );
    }
    let said = run_as(ONE, &["gateway", "reload", file]);
    assert!(!said.contains("refused"), "{said}");
    assert!(run_as(ONE, &["status", at]).contains("received 0, sent 0"));
    let to_venue = ["session", "send", at, "VENUE", "D", "11=A"];
    let said = run_as(ONE, &to_venue);
    assert!(
        said.contains("refused: the session is a target of the gateway's rules"),
        "{said}"
    );
    let to_client = ["session", "send", at, "CLIENT", "B", "148=x|33=0"];
    let said = run_as(ONE, &to_client);
    // The right is not what is missing.
    assert!(said.contains("the session is not logged on"), "{said}");
    drop(running);
}
