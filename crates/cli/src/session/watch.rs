//! Commands that log a session on or out. These commands end when the logon or logout has succeeded or failed.

use std::io::{self, Write};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use fixwire::control::{Asked, Client, ControlQuestion, SessionLine};
use fixwire_protocol::readable::Escaped;

use super::found::Found;
use super::{One, ask, find_session, of, refused, say, stopped};
use crate::failure::Failure;

/// The state that a command waits for.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Aim {
    LoggedOn,
    LoggedOut,
    /// The command does not wait for the connection.
    Any,
}

impl Aim {
    /// Whether the command is still in progress. `before` is the number of the session's connections at the time of the
    /// command.
    fn awaits(self, session: &SessionLine, before: u64) -> bool {
        let is_passing = ["logging out", "connecting", "connected, not logged on"]
            .contains(&session.state.as_str());
        match self {
            Self::LoggedOn | Self::Any => is_passing,
            // The peer of an acceptor may have reconnected already.
            Self::LoggedOut => {
                session.connections <= before && (is_passing || session.state == "logged on")
            }
        }
    }

    /// Why the command has failed, according to the session's state; `None` if it has not failed.
    fn failure(self, session: &SessionLine, before: u64) -> Option<&'static str> {
        match self {
            Self::LoggedOn if session.state != "logged on" => {
                Some("did not log on; the engine's events have the reason")
            }
            Self::LoggedOut if self.awaits(session, before) => Some("did not log out in time"),
            _ => None,
        }
    }
}

/// Sends a command to a running engine, then watches the logon or logout.
pub(super) fn watch(one: &One, asked: Asked, aim: Aim) -> Result<ExitCode, Failure> {
    let (mut client, name) = match find_session(&one.at, &one.session)? {
        (Found::Running(client), name) => (client, name),
        (Found::Stopped(store), _) => return Err(stopped(&store)),
        (Found::Absent(why), _) => return Err(Failure::Text(why)),
    };
    let until = Instant::now() + Duration::from_secs(one.at.timeout);
    let look = |client: &mut Client| {
        let asked = Asked {
            session: Some(name.clone()),
            ..of(ControlQuestion::Status)
        };
        let answer = client.ask(&asked).map_err(|error| refused(&error))?;
        let session = answer.sessions.unwrap_or_default().into_iter().next();
        Ok::<_, Failure>(session)
    };
    let before = look(&mut client)?.map_or(0, |session| session.connections);
    let answer = ask(&mut client, one, &name, asked)?;
    say(&answer)?;
    loop {
        let Some(session) = look(&mut client)? else {
            return Ok(ExitCode::SUCCESS);
        };
        if !aim.awaits(&session, before) || Instant::now() > until {
            let (name, state) = (&session.name, &session.state);
            let line = format!("{name}: {state}");
            writeln!(io::stdout(), "{}", Escaped(line.as_bytes()))?;
            return match aim.failure(&session, before) {
                Some(why) => Err(Failure::Text(format!("{name} {why}"))),
                None => Ok(ExitCode::SUCCESS),
            };
        }
        thread::sleep(Duration::from_millis(20));
    }
}
