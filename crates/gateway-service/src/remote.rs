//! [`Remote`]: how other threads reach a running gateway.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fixwire_control::COUNTS;
use fixwire_engine::{Handle, OperationError, Operator, SendError};
use fixwire_gateway::gateway::Reload;

/// The command that makes the gateway apply the new rules in [`Remote`].
pub(crate) const RELOAD: &[u8] = b"reload";

/// The channel on which the engine's answer arrives.
type Answered = Receiver<Result<Vec<u8>, OperationError>>;

/// The result of a reload, as a line for the operator: that the new rules are in force, or why the old rules stay in
/// force.
pub(crate) type Outcome = Result<String, String>;

/// The way from other threads to a running gateway, and from rules to the engine. All clones of this value reach the
/// same gateway.
#[derive(Clone, Debug, Default)]
pub struct Remote {
    /// Locked while a reload reads the file and passes the rules to the gateway. The lock keeps the rules that were
    /// read last in force.
    one: Arc<Mutex<()>>,
    rules: Arc<Mutex<Option<Handed>>>,
    /// The engine; `None` before [`attach`](Self::attach).
    engine: Arc<Mutex<Option<Handle>>>,
}

/// New rules on their way to the gateway's thread, or old rules on their way back.
#[derive(Debug)]
enum Handed {
    New(Box<Reload>),
    /// The old rules. Another thread frees old rules, so that the gateway's thread need not.
    Spent(Box<Reload>),
}

impl Remote {
    /// Connects to the engine, which then accepts commands. Must be called after the engine was created, and before it
    /// runs.
    pub fn attach(&self, engine: Handle) {
        *locked(&self.engine) = Some(engine);
    }

    /// The counters since the start of the gateway, one line each.
    ///
    /// # Errors
    ///
    /// Why the engine gives no answer, as a sentence.
    pub fn counts(&self) -> Result<String, String> {
        let asked = locked(&self.engine)
            .as_mut()
            .map(|engine| engine.query(COUNTS));
        answered(asked)
    }

    /// The lock that a reload holds, so that one reload runs at a time.
    pub(crate) fn alone(&self) -> MutexGuard<'_, ()> {
        locked(&self.one)
    }

    /// Sends the engine a request, if an engine is attached; returns why the engine did not accept the request.
    pub(crate) fn ask(
        &self,
        wish: impl FnOnce(&mut Handle) -> Result<(), SendError>,
    ) -> Option<SendError> {
        locked(&self.engine).as_mut().map(wish)?.err()
    }

    /// Takes the new rules that wait for the gateway.
    pub(crate) fn take_new(&self) -> Option<Box<Reload>> {
        let given = locked(&self.rules).take_if(|rules| matches!(rules, Handed::New(_)))?;
        match given {
            Handed::New(rules) | Handed::Spent(rules) => Some(rules),
        }
    }

    /// Gives back the old rules, so that another thread frees them.
    pub(crate) fn give_back(&self, spent: Box<Reload>) {
        *locked(&self.rules) = Some(Handed::Spent(spent));
    }

    /// Makes the gateway replace its rules between two messages, on behalf of `by`. Only one call may run at a time.
    pub(crate) fn reload(&self, new: Reload, by: Operator) -> Outcome {
        *locked(&self.rules) = Some(Handed::New(Box::new(new)));
        let asked = locked(&self.engine)
            .as_mut()
            .map(|engine| engine.command(RELOAD, by));
        let outcome = answered(asked);
        // This thread frees the old rules, after the lock is released.
        let spent = locked(&self.rules).take();
        drop(spent);
        outcome
    }
}

/// Waits for the engine's answer.
fn answered(asked: Option<Result<Answered, SendError>>) -> Outcome {
    let asked = asked.ok_or("the gateway has not started yet: try again")?;
    let answer = asked.map_err(|error| error.to_string())?;
    let answer = answer
        .recv()
        .map_err(|_| "the gateway is stopping".to_owned())?;
    let text = answer.map_err(|why| why.to_string())?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
