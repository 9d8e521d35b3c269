//! A PostgreSQL server of a test: the newest of Debian's packages that is installed.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use postgres::{Client, NoTls};
use tempfile::TempDir;

/// How long it may take to start.
const PATIENCE: Duration = Duration::from_secs(20);
/// Longer than a user would choose, and nowhere by chance.
pub const PASSWORD: &str = "kEYx0Qz7/Wm4";

/// A database server in a folder of its own. Its password is that of the user `fix`.
pub struct Server {
    pub home: TempDir,
    programs: PathBuf,
    pub port: u16,
    process: Option<Child>,
}

impl Server {
    pub fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let versions = fs::read_dir("/usr/lib/postgresql").map(|all| all.flatten().collect());
        let mut versions: Vec<_> = versions.unwrap_or_default();
        versions.retain(|it| it.path().join("bin/initdb").exists());
        versions.sort_by_key(|it| it.file_name().to_string_lossy().parse::<u32>().unwrap_or(0));
        let newest = versions.last();
        let newest = newest
            .expect("no /usr/lib/postgresql/*/bin/initdb: install Debian's package postgresql");
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut server = Self {
            programs: newest.path().join("bin"),
            port: free.local_addr().unwrap().port(),
            process: None,
            home,
        };
        drop(free);
        fs::create_dir(server.folder()).unwrap();
        fs::write(server.secret(), PASSWORD).unwrap();
        // PostgreSQL does not run as root.
        if let Some(id) = another_user() {
            fs::set_permissions(server.home.path(), fs::Permissions::from_mode(0o711)).unwrap();
            for path in [server.folder(), server.secret()] {
                chown(path, Some(id), Some(id)).unwrap();
            }
        }
        let made = server
            .program("initdb")
            .args([
                "--no-sync",
                "--username=fix",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
            ])
            .arg(format!("--pwfile={}", server.secret().display()))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "initdb: {said}");
        server.up();
        server
    }

    pub fn folder(&self) -> PathBuf {
        self.home.path().join("server")
    }

    fn secret(&self) -> PathBuf {
        self.home.path().join("secret")
    }

    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command
            .arg("-D")
            .arg(self.folder())
            .env("LC_ALL", "C")
            .current_dir("/")
            .stdin(Stdio::null());
        if let Some(id) = another_user() {
            command.gid(id).uid(id);
        }
        command
    }

    pub fn up(&mut self) {
        let start = Instant::now();
        let log = self.home.path().join("server.log");
        while self.connect().is_err() {
            let said = || fs::read_to_string(&log).unwrap_or_default();
            assert!(
                start.elapsed() < PATIENCE,
                "PostgreSQL does not start: {}",
                said()
            );
            // It refuses to start while a process of the one that was killed lives.
            let ended = self
                .process
                .as_mut()
                .is_none_or(|it| it.try_wait().unwrap().is_some());
            if ended {
                let process = self
                    .program("postgres")
                    .args(["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-k"])
                    .arg(self.folder())
                    .args(["-p", &self.port.to_string()])
                    .stderr(fs::File::create(&log).unwrap())
                    .spawn();
                self.process = Some(process.unwrap());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Restarts it with TLS. Returns the file of its certificate, which is self-signed and for the host `localhost`.
    pub fn with_tls(&mut self) -> PathBuf {
        self.down();
        let [certificate, key] = ["server.crt", "server.key"].map(|it| self.folder().join(it));
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt"])
            .args(["ec_paramgen_curve:P-256", "-nodes", "-days", "2"])
            .args(["-subj", "/CN=localhost", "-addext"])
            .arg("subjectAltName=DNS:localhost")
            .arg("-keyout")
            .arg(&key)
            .arg("-out")
            .arg(&certificate)
            .output()
            .expect("openssl is needed: apt-get install openssl");
        let said = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "openssl: {said}");
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        if let Some(id) = another_user() {
            chown(&key, Some(id), Some(id)).unwrap();
        }
        let settings = self.folder().join("postgresql.conf");
        let text = fs::read_to_string(&settings).unwrap();
        fs::write(&settings, format!("{text}\nssl = on\n")).unwrap();
        self.up();
        let shown = self.home.path().join("server.crt");
        fs::copy(certificate, &shown).unwrap();
        shown
    }

    /// How many connections of fixwire use TLS, and how many do not.
    pub fn connections(&self) -> [i64; 2] {
        let counts = "SELECT count(*) FILTER (WHERE ssl), count(*) FILTER (WHERE NOT ssl) \
                      FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'fixwire'";
        let row = self.connect().unwrap().query_one(counts, &[]).unwrap();
        [row.get(0), row.get(1)]
    }

    /// Ends the server in the middle of whatever it does.
    pub fn down(&mut self) {
        if let Some(mut process) = self.process.take() {
            // Its children see it, and end too.
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    pub fn connect(&self) -> Result<Client, postgres::Error> {
        let mut config = postgres::Config::new();
        config
            .host("127.0.0.1")
            .port(self.port)
            .user("fix")
            .password(PASSWORD);
        config.dbname("postgres").connect(NoTls)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.down();
    }
}

/// The user nobody, for root.
fn another_user() -> Option<u32> {
    let root = fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt;
        own.uid() == 0
    });
    root.then_some(65_534)
}
