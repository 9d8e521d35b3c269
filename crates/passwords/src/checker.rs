//! The threads that verify passwords and store new ones.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use fixwire_protocol::Secret;

use crate::same;
use crate::users::{Users, hash};

/// Number of threads, and so of comparisons at the same time.
const THREADS: usize = 2;

/// Wakes the thread that waits for an answer. The password threads call it.
type WakeUp = Arc<dyn Fn() + Send + Sync>;

/// A task for the password threads: to compare or to store the password of a user.
pub struct Question {
    users: Arc<Users>,
    name: Vec<u8>,
    task: Task,
}

/// The work to do. A comparison changes nothing. A new password is stored by a second question, when nothing else
/// prevents that the Logon is accepted.
enum Task {
    /// Compares the password. The second secret is NewPassword(925).
    Compare(Secret, Option<Secret>),
    /// Stores the hash of a new password.
    Store(String),
}

/// The answer to a [`Question`].
pub enum PasswordAnswer {
    /// The password is right; for a question that stores a new password, the new password is stored.
    Right,
    /// The password is wrong, or the user unknown.
    Wrong,
    /// The password is right. The question stores the new password.
    Renews(Question),
    /// The password is right, but the new one could not be stored.
    NotChanged,
    /// The password is right, but must be changed. The Logon has no new password, or the new one equals the old one.
    MustChange,
}

impl Question {
    /// Asks whether this is the password of a user. If the password is right and there is a new one, the answer is the
    /// question that stores the new one.
    #[must_use]
    pub fn compare(users: &Arc<Users>, name: &[u8], password: &[u8], new: Option<&[u8]>) -> Self {
        Self {
            users: Arc::clone(users),
            name: name.to_vec(),
            task: Task::Compare(Secret::from(password), new.map(Secret::from)),
        }
    }

    fn carry_out(self) -> PasswordAnswer {
        let Self { users, name, task } = self;
        match task {
            Task::Compare(password, _) if !users.check(&name, &password) => PasswordAnswer::Wrong,
            Task::Compare(password, new)
                if users.must_change(&name)
                    && new.as_ref().is_none_or(|it| same(it, &password)) =>
            {
                PasswordAnswer::MustChange
            }
            Task::Compare(_, None) => PasswordAnswer::Right,
            Task::Compare(_, Some(new)) => match hash(&new) {
                Ok(hash) => PasswordAnswer::Renews(Self {
                    users,
                    name,
                    task: Task::Store(hash),
                }),
                Err(_) => PasswordAnswer::NotChanged,
            },
            Task::Store(hash) => match users.change(&name, hash) {
                Ok(()) => PasswordAnswer::Right,
                Err(_) => PasswordAnswer::NotChanged,
            },
        }
    }
}

/// The threads that compare and store passwords. The threads end when the checker is dropped.
pub struct Checker {
    questions: SyncSender<(u64, Question)>,
    answers: Receiver<(u64, PasswordAnswer)>,
    open: usize,
    /// The ticket of the last question.
    tickets: u64,
}

impl Checker {
    /// Starts the threads. At most `waiting` questions can wait for a thread.
    #[must_use]
    pub fn start(waiting: usize, wake_up: &WakeUp) -> Self {
        let (questions, queue) = sync_channel(waiting);
        let (answer, answers) = channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..THREADS {
            let (queue, answer, wake_up) =
                (Arc::clone(&queue), answer.clone(), Arc::clone(wake_up));
            let compare = move || compare(&queue, &answer, &wake_up);
            // If no thread can be started, there is no answer, and the waiting connection is closed when its time is
            // over.
            let _ = fixwire_threads::spawn("fixwire-password", compare);
        }
        Self {
            questions,
            answers,
            open: 0,
            tickets: 0,
        }
    }

    /// Queues a question. Returns the ticket with which the answer will be returned; `None` when too many questions are
    /// waiting.
    pub fn ask(&mut self, question: Question) -> Option<u64> {
        let ticket = self.tickets + 1;
        self.questions.try_send((ticket, question)).ok()?;
        self.open += 1;
        self.tickets = ticket;
        Some(ticket)
    }

    /// The next answer with its ticket; `None` if there is no answer yet.
    #[inline]
    pub fn answer(&mut self) -> Option<(u64, PasswordAnswer)> {
        if self.open == 0 {
            return None;
        }
        let answer = self.answers.try_recv().ok()?;
        self.open -= 1;
        Some(answer)
    }
}

fn compare(
    queue: &Mutex<Receiver<(u64, Question)>>,
    answers: &Sender<(u64, PasswordAnswer)>,
    wake_up: &WakeUp,
) {
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((ticket, question)) = next else { return };
        if answers.send((ticket, question.carry_out())).is_err() {
            return;
        }
        wake_up();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::time::{Duration, Instant};

    /// T6: the file contains a change, whole, and with its mode.
    #[test]
    fn a_new_password_replaces_the_old_one_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        let old = hash(b"tiger").unwrap();
        fs::write(&path, format!("a:{old}\nb:{old}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let users = Arc::new(Users::read(&path).unwrap());
        let change = |password: &[u8], new: &[u8]| {
            Question::compare(&users, b"a", password, Some(new)).carry_out()
        };
        assert!(matches!(change(b"lion", b"lion"), PasswordAnswer::Wrong));
        assert!(matches!(change(b"tiger", b""), PasswordAnswer::NotChanged));
        let PasswordAnswer::Renews(store) = change(b"tiger", b"lion") else {
            panic!("the password is right");
        };
        for users in [&*users, &Users::read(&path).unwrap()] {
            assert!(users.check(b"a", b"tiger"), "comparing changes nothing");
        }
        assert!(matches!(store.carry_out(), PasswordAnswer::Right));
        assert!(users.change(b"nobody", old.clone()).is_err());
        for users in [&*users, &Users::read(&path).unwrap()] {
            assert!(users.check(b"a", b"lion") && !users.check(b"a", b"tiger"));
            assert!(users.check(b"b", b"tiger"));
        }
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(names.len(), 1, "nothing is left beside it");
        let one = Users::one(b"a", &old).unwrap();
        assert!(one.change(b"a", old).is_err(), "it has no file");
    }

    #[test]
    fn a_password_that_must_be_changed_is_good_for_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        let old = hash(b"tiger").unwrap();
        fs::write(&path, format!("a:change:{old}\nb:change:{old}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let users = Arc::new(Users::read(&path).unwrap());
        let ask = |password: &[u8], new: Option<&[u8]>| {
            Question::compare(&users, b"a", password, new).carry_out()
        };
        assert!(matches!(ask(b"lion", None), PasswordAnswer::Wrong));
        assert!(matches!(ask(b"lion", Some(b"bear")), PasswordAnswer::Wrong));
        assert!(matches!(ask(b"tiger", None), PasswordAnswer::MustChange));
        let same = ask(b"tiger", Some(b"tiger"));
        assert!(matches!(same, PasswordAnswer::MustChange));
        let PasswordAnswer::Renews(store) = ask(b"tiger", Some(b"lion")) else {
            panic!("it is a new one");
        };
        // A half-written file that a kill left next to this one does no harm.
        fs::write(folder.path().join("users.new"), "a:").unwrap();
        assert!(matches!(store.carry_out(), PasswordAnswer::Right));
        assert!(matches!(ask(b"lion", None), PasswordAnswer::Right));
        assert!(matches!(ask(b"tiger", None), PasswordAnswer::Wrong));
        let again = Arc::new(Users::read(&path).unwrap());
        for (name, must) in [(b"a", false), (b"b", true)] {
            assert_eq!(again.must_change(name), must, "of {name:?} alone");
            assert_eq!(users.must_change(name), must);
        }
        assert!(again.check(b"b", b"tiger") && again.check(b"a", b"lion"));
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(&format!("b:change:{old}\n")), "{text}");
        assert!(!text.contains("lion") && !text.contains("tiger"));
    }

    #[test]
    fn questions_are_answered_by_other_threads_and_bounded() {
        let hash = hash(b"tiger").unwrap();
        let users = Arc::new(Users::one(b"me", &hash).unwrap());
        let wake_up: WakeUp = Arc::new(|| {});
        let mut checker = Checker::start(4, &wake_up);
        let question = |password: &[u8]| Question::compare(&users, b"me", password, None);
        let right = checker.ask(question(b"tiger")).unwrap();
        let mut asked = 1;
        while let Some(ticket) = checker.ask(question(b"lion")) {
            assert_ne!(ticket, right);
            asked += 1;
        }
        assert_eq!(THREADS, 2, "docs/operating/security.md says so");
        assert!((4..=4 + THREADS + 2).contains(&asked), "{asked}");
        let mut answers = BTreeMap::new();
        let begin = Instant::now();
        while answers.len() < asked && begin.elapsed() < Duration::from_secs(60) {
            answers.extend(checker.answer());
        }
        assert!(matches!(
            answers.remove(&right),
            Some(PasswordAnswer::Right)
        ));
        assert_eq!(answers.len() + 1, asked);
        let mut others = answers.values();
        assert!(others.all(|answer| matches!(answer, PasswordAnswer::Wrong)));
        assert!(checker.answer().is_none());
    }
}
