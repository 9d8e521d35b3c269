//! How other threads reach a gateway that runs.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fixwire_control::COUNTS;
use fixwire_engine::{Handle, OperationError, Operator, SendError};
use fixwire_gateway::gateway::Reload;

/// The command that takes the rules that were put beside the gateway.
pub(crate) const RELOAD: &[u8] = b"reload";

/// Where the answer of an engine comes.
type Answered = Receiver<Result<Vec<u8>, OperationError>>;

/// The result of a change of rules: the new ones hold, or the old ones stay; both as a line for the operator.
pub(crate) type Outcome = Result<String, String>;

/// How other threads, and what rules ask of the engine, reach a gateway that runs. Clones reach the same one.
#[derive(Clone, Debug, Default)]
pub struct Remote {
    /// Locked from reading the file until the gateway has the rules, so that the last reading is what stays.
    one: Arc<Mutex<()>>,
    rules: Arc<Mutex<Option<Handed>>>,
    /// The engine, once there is one.
    engine: Arc<Mutex<Option<Handle>>>,
}

/// Rules on their way to the gateway's thread, and back.
#[derive(Debug)]
enum Handed {
    New(Box<Reload>),
    /// The old rules, which the gateway's thread must not free.
    Spent(Box<Reload>),
}

impl Remote {
    /// The engine accepts commands from now on: once it exists, before it runs.
    pub fn attach(&self, engine: Handle) {
        *locked(&self.engine) = Some(engine);
    }

    /// The counters since the start, a line each.
    ///
    /// # Errors
    ///
    /// The reason why no answer comes, as a sentence.
    pub fn counts(&self) -> Result<String, String> {
        let asked = locked(&self.engine)
            .as_mut()
            .map(|engine| engine.query(COUNTS));
        answered(asked)
    }

    /// Held by whoever gives it other rules.
    pub(crate) fn alone(&self) -> MutexGuard<'_, ()> {
        locked(&self.one)
    }

    /// Asks the engine for something, when there is one; why it cannot be asked.
    pub(crate) fn ask(
        &self,
        wish: impl FnOnce(&mut Handle) -> Result<(), SendError>,
    ) -> Option<SendError> {
        locked(&self.engine).as_mut().map(wish)?.err()
    }

    /// The rules that were put beside the gateway.
    pub(crate) fn take_new(&self) -> Option<Box<Reload>> {
        let given = locked(&self.rules).take_if(|rules| matches!(rules, Handed::New(_)))?;
        match given {
            Handed::New(rules) | Handed::Spent(rules) => Some(rules),
        }
    }

    /// Gives rules back that are to be freed elsewhere.
    pub(crate) fn give_back(&self, spent: Box<Reload>) {
        *locked(&self.rules) = Some(Handed::Spent(spent));
    }

    /// Goes on with other rules, between two messages, for somebody; one call at a time.
    pub(crate) fn reload(&self, new: Reload, by: Operator) -> Outcome {
        *locked(&self.rules) = Some(Handed::New(Box::new(new)));
        let asked = locked(&self.engine)
            .as_mut()
            .map(|engine| engine.command(RELOAD, by));
        let outcome = answered(asked);
        // Freed here, with the lock released.
        let spent = locked(&self.rules).take();
        drop(spent);
        outcome
    }
}

/// The engine's answer, when it comes.
fn answered(asked: Option<Result<Answered, SendError>>) -> Outcome {
    let asked = asked.ok_or("the gateway has not started yet; try again")?;
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
