//! FIX clients of other projects, in other languages, from their registries; `tests/foreign/README.md` has the
//! commands.

use crate::packages::workspace;
use crate::peers::{Running, compile_java, copy_dependencies, is_older, output_folder, run, text};
use crate::trade::Side;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The client in a test.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ForeignClient {
    /// asyncfix, Python.
    Asyncfix,
    /// jspurefix, JavaScript.
    Jspurefix,
    /// fixio, Java.
    Fixio,
    /// simplefix, Python.
    Simplefix,
}

/// The venue in a test.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ForeignVenue {
    /// fixcore-engine, Python.
    Fixcore,
    /// QuickFIX for Python.
    QuickfixPython,
}

/// The program of a venue, as `tests/foreign/README.md` describes it.
///
/// # Errors
///
/// pip is missing, or the package cannot be fetched.
pub fn venue(of: ForeignVenue) -> Result<Command, String> {
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _installing = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    match of {
        ForeignVenue::Fixcore => python("fixcore", "venue.py"),
        ForeignVenue::QuickfixPython => python("quickfixpy", "venue.py"),
    }
}

impl ForeignClient {
    /// Starts the client in this folder; it connects to the port on the command to log on.
    pub fn start(
        self,
        folder: &Path,
        port: u16,
        sender: &str,
        target: &str,
    ) -> Result<Side, String> {
        let mut program = {
            // One test at a time installs packages.
            static INSTALLING: Mutex<()> = Mutex::new(());
            let _installing = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
            match self {
                Self::Asyncfix => python("asyncfix", "client.py")?,
                Self::Jspurefix => jspurefix()?,
                Self::Fixio => fixio()?,
                Self::Simplefix => python("simplefix", "client.py")?,
            }
        };
        program
            .args([&port.to_string(), sender, target])
            .current_dir(folder);
        let (mut running, events) = Running::start(&mut program)?;
        Ok(Side::new(sender, move |line| running.tell(line), events))
    }
}

fn sources(client: &str) -> PathBuf {
    let folder = workspace().join("tests/foreign").join(client);
    std::path::absolute(&folder).unwrap_or(folder)
}

/// The folder of a client's packages. They are installed once for each version of the files that name them.
struct Installed {
    folder: PathBuf,
    stamp: PathBuf,
    is_due: bool,
}

impl Installed {
    fn of(client: &str, named_by: &[&Path]) -> Result<Self, String> {
        let folder = output_folder("foreign")?.join(client);
        let stamp = folder.join("installed");
        let is_due = is_older(&stamp, named_by);
        if is_due && folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| format!("{folder:?}: {error}"))?;
        }
        fs::create_dir_all(&folder).map_err(|error| format!("{folder:?}: {error}"))?;
        Ok(Self {
            folder,
            stamp,
            is_due,
        })
    }

    fn done(&self) -> Result<(), String> {
        fs::write(&self.stamp, "").map_err(|error| format!("{:?}: {error}", self.stamp))
    }
}

/// A program, with the packages of its `requirements.txt`.
fn python(name: &str, program: &str) -> Result<Command, String> {
    let sources = sources(name);
    let requirements = sources.join("requirements.txt");
    let installed = Installed::of(name, &[&requirements])?;
    if installed.is_due {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--require-hashes"])
            .args(["--target", &text(&installed.folder)])
            .args(["--requirement", &text(&requirements)]);
        run(&mut pip, "apt-get install python3-pip")?;
        installed.done()?;
    }
    let mut python = Command::new("python3");
    python
        .arg("-B")
        .arg(sources.join(program))
        .env("PYTHONPATH", &installed.folder);
    Ok(python)
}

fn jspurefix() -> Result<Command, String> {
    let sources = sources("jspurefix");
    let named_by = ["package.json", "package-lock.json"].map(|name| sources.join(name));
    let installed = Installed::of("jspurefix", &named_by.each_ref().map(PathBuf::as_path))?;
    if installed.is_due {
        for file in &named_by {
            let name = file.file_name().unwrap_or_default();
            fs::copy(file, installed.folder.join(name))
                .map_err(|error| format!("{file:?}: {error}"))?;
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            .current_dir(&installed.folder);
        run(&mut npm, "apt-get install npm")?;
        installed.done()?;
    }
    let mut node = Command::new("node");
    node.arg(sources.join("client.js"))
        .env("NODE_PATH", installed.folder.join("node_modules"));
    Ok(node)
}

fn fixio() -> Result<Command, String> {
    java("fixio", "Client")
}

/// Arrow, Python: prints a Parquet file, as `read.py` describes.
///
/// # Errors
///
/// pip is missing, or the package cannot be fetched.
pub fn parquet_reader() -> Result<Command, String> {
    python("pyarrow", "read.py")
}

/// HdrHistogram, Java: prints the intervals of a log, as `ReadLog.java` describes.
///
/// # Errors
///
/// Maven or a JDK is missing, or the package cannot be fetched.
pub fn histogram_reader() -> Result<Command, String> {
    java("hdrhistogram", "ReadLog")
}

/// A program of one class, with the packages of its `pom.xml`.
fn java(name: &str, class: &str) -> Result<Command, String> {
    let sources = sources(name);
    let (source, pom) = (
        sources.join(format!("{class}.java")),
        sources.join("pom.xml"),
    );
    let installed = Installed::of(name, &[&source, &pom])?;
    let libraries = installed.folder.join("lib");
    let class_path = format!("{}/*:{}", text(&libraries), text(&installed.folder));
    if installed.is_due {
        copy_dependencies(&pom, &libraries)?;
        compile_java(&source, &class_path, &installed.folder)?;
        installed.done()?;
    }
    let mut java = Command::new("java");
    java.args(["-XX:+UseSerialGC", "-Xmx256m"])
        .args(["-cp", &class_path, class]);
    Ok(java)
}
