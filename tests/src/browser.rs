//! Chromium without a screen and without a network, driven over its own pipe (DevTools protocol).

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// The most time for an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pipes have these numbers in Chromium; its other output goes to standard error.
const PIPES: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null"#;

/// A browser with one page.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: String,
    requests: u64,
    loaded: u64,
    /// Faults of the page: errors, and all that scripts and the browser print to the console.
    pub problems: Vec<String>,
    /// Addresses that the page requested.
    pub asked_for: Vec<String>,
}

impl Browser {
    /// Starts it in a network namespace that has no network, with a profile in `folder`.
    ///
    /// # Errors
    ///
    /// The browser does not start or does not answer.
    pub fn start(folder: &Path, with_scripts: bool) -> Result<Self, String> {
        let as_root = rustix::process::geteuid().is_root();
        let mut command = Command::new("unshare");
        command
            .args([
                if as_root { "-n" } else { "-rn" },
                "sh",
                "-c",
                PIPES,
                "chromium",
            ])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--remote-debugging-pipe",
                "--disable-dev-shm-usage",
            ])
            .args(["--window-size=1100,900", "about:blank"])
            .arg(format!("--user-data-dir={}", folder.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| {
            format!("unshare did not start (apt-get install util-linux chromium): {error}")
        })?;
        let to = child.stdin.take().ok_or("no pipe to Chromium")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no pipe from Chromium")?);
        let (sender, from) = channel();
        thread::spawn(move || {
            // The pipe ends with Chromium, the channel ends with the test.
            for message in answers.split(0).map_while(Result::ok) {
                let parsed = serde_json::from_slice(&message).unwrap_or(Value::Null);
                if sender.send(parsed).is_err() {
                    break;
                }
            }
        });
        let mut browser = Self {
            child,
            to,
            from,
            session: String::new(),
            requests: 0,
            loaded: 0,
            problems: Vec::new(),
            asked_for: Vec::new(),
        };
        browser.attach(with_scripts)?;
        Ok(browser)
    }

    fn attach(&mut self, with_scripts: bool) -> Result<(), String> {
        let target = self.call("Target.createTarget", json!({ "url": "about:blank" }))?;
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = self.call("Target.attachToTarget", target)?;
        self.session = attached["sessionId"]
            .as_str()
            .ok_or("Chromium attached to no page")?
            .to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), json!({}))?;
        }
        let disabled = json!({ "value": !with_scripts });
        self.call("Emulation.setScriptExecutionDisabled", disabled)?;
        Ok(())
    }

    /// Opens an address, and waits until all of it is loaded.
    ///
    /// # Errors
    ///
    /// The page cannot be opened.
    pub fn open(&mut self, address: &str) -> Result<(), String> {
        // From another page, because a change of the fragment alone loads nothing.
        for address in ["about:blank", address] {
            let before = self.loaded;
            let opened = self.call("Page.navigate", json!({ "url": address }))?;
            if let Some(error) = opened["errorText"].as_str() {
                return Err(format!("{address}: {error}"));
            }
            while self.loaded == before {
                self.next()?;
            }
        }
        Ok(())
    }

    /// The value of an expression in the page.
    ///
    /// # Errors
    ///
    /// The expression throws.
    pub fn value(&mut self, expression: &str) -> Result<Value, String> {
        let asked = json!({ "expression": expression, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", asked)?;
        match answer.get("exceptionDetails") {
            Some(thrown) => Err(format!("{expression}: {thrown}")),
            None => Ok(answer["result"]["value"].clone()),
        }
    }

    /// Moves the pointer to a place of the window.
    ///
    /// # Errors
    ///
    /// Chromium does not answer.
    pub fn move_pointer(&mut self, (x, y): (f64, f64)) -> Result<(), String> {
        let moved = json!({ "type": "mouseMoved", "x": x, "y": y });
        self.call("Input.dispatchMouseEvent", moved).map(drop)
    }

    /// Clicks at this place.
    ///
    /// # Errors
    ///
    /// Chromium does not answer.
    pub fn click(&mut self, (x, y): (f64, f64)) -> Result<(), String> {
        self.move_pointer((x, y))?;
        for kind in ["mousePressed", "mouseReleased"] {
            let click = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", click)?;
        }
        Ok(())
    }

    /// Calls a method, and notes the events that come before its answer.
    fn call(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.requests += 1;
        let mut message = json!({ "id": self.requests, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        let written = self.to.write_all(format!("{message}\0").as_bytes());
        written.map_err(|error| format!("Chromium ended (is it installed?): {method}: {error}"))?;
        loop {
            let answer = self.next()?;
            if answer["id"] == self.requests {
                return match answer.get("error") {
                    Some(error) => Err(format!("{method}: {error}")),
                    None => Ok(answer["result"].clone()),
                };
            }
        }
    }

    /// The next answer or event.
    fn next(&mut self) -> Result<Value, String> {
        let message = self.from.recv_timeout(PATIENCE);
        let message = message.map_err(|error| format!("Chromium (is it installed?): {error}"))?;
        let params = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "Page.loadEventFired" => self.loaded += 1,
            "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded" => {
                self.problems.push(params.to_string());
            }
            "Network.requestWillBeSent" => {
                let address = params["request"]["url"].as_str().unwrap_or("?");
                self.asked_for.push(address.to_owned());
            }
            _ => {}
        }
        Ok(message)
    }
}

impl Drop for Browser {
    /// On this command Chromium ends all its processes.
    fn drop(&mut self) {
        self.session.clear();
        if self.call("Browser.close", json!({})).is_err() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
