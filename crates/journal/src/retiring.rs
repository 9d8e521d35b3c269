//! The thread that retires old segments of a directory. The thread does one task at a time.

use super::JournalError;
use super::watch::SharedNews;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::JoinHandle;

/// Idle.
const IDLE: u8 = 0;
/// A thread is working.
const WORKS: u8 = 1;
/// A thread is working, and more work was requested meanwhile.
const ASKED: u8 = 2;

/// Retires old segments in the background. Dropping this value waits for the thread.
#[derive(Debug, Default)]
pub(super) struct Retiring {
    thread: Option<JoinHandle<Result<(), JournalError>>>,
    state: Arc<AtomicU8>,
}

/// Records that no thread runs, at the end of the thread or when the thread panics. If more work was requested
/// meanwhile, reports that too.
struct Ends {
    state: Arc<AtomicU8>,
    news: SharedNews,
}

impl Drop for Ends {
    fn drop(&mut self) {
        if self.state.swap(IDLE, Ordering::AcqRel) == ASKED {
            self.news.look_again();
        }
    }
}

impl Retiring {
    /// Starts `work`, unless earlier work is still running; in that case the news report when to try again. Returns
    /// the result of the earlier work.
    ///
    /// # Errors
    ///
    /// The error of the earlier work, or of starting a thread for this work. After [`JournalError::Unsynced`] nothing
    /// is started.
    pub(super) fn begin(
        &mut self,
        news: &SharedNews,
        work: impl FnOnce() -> Result<(), JournalError> + Send + 'static,
    ) -> Result<(), JournalError> {
        let asked = self
            .state
            .compare_exchange(WORKS, ASKED, Ordering::AcqRel, Ordering::Acquire);
        if matches!(asked, Ok(_) | Err(ASKED)) {
            return Ok(());
        }
        let last = match self.thread.take() {
            // A panic of the thread has been reported already.
            Some(thread) => thread.join().unwrap_or(Ok(())),
            None => Ok(()),
        };
        if matches!(last, Err(JournalError::Unsynced { .. })) {
            return last;
        }
        self.state.store(WORKS, Ordering::Release);
        let ends = Ends {
            state: Arc::clone(&self.state),
            news: Arc::clone(news),
        };
        let thread = fixwire_threads::spawn("journal-retire", move || {
            let _ends = ends;
            work()
        });
        // If no thread was started, its data was dropped, so the state is idle again.
        let thread = thread.map_err(JournalError::io("start", "a thread of the journal"))?;
        self.thread = Some(thread);
        last
    }
}

impl Drop for Retiring {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::{Duration, Instant};

    fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn what_is_asked_for_meanwhile_is_looked_at_when_the_work_is_done() {
        let (news, mut retiring) = (SharedNews::default(), Retiring::default());
        let (go_on, waits) = channel();
        let work = move || {
            waits.recv().unwrap();
            Ok(())
        };
        retiring.begin(&news, work).unwrap();
        for _ in 0..2 {
            retiring.begin(&news, || panic!("two at a time")).unwrap();
        }
        assert!(!news.is_there());
        go_on.send(()).unwrap();
        wait("no news", || news.is_there());
        assert!(news.take().look_again);
        assert!(!news.take().look_again);
        // No request arrived during this one.
        retiring.begin(&news, || Ok(())).unwrap();
        wait("it does not end", || {
            retiring.state.load(Ordering::Acquire) == IDLE
        });
        assert!(!news.is_there());
    }

    #[test]
    fn an_error_is_answered_by_the_next_attempt_which_is_begun_all_the_same() {
        let (news, mut retiring) = (SharedNews::default(), Retiring::default());
        let failed = || {
            let full = std::io::ErrorKind::StorageFull.into();
            Err(JournalError::io("write", "base")(full))
        };
        retiring.begin(&news, failed).unwrap();
        let state = Arc::clone(&retiring.state);
        let is_idle = || state.load(Ordering::Acquire) == IDLE;
        wait("it does not end", is_idle);
        let (done, was_done) = channel();
        let work = move || {
            done.send(()).unwrap();
            Ok(())
        };
        assert!(retiring.begin(&news, work).is_err());
        was_done.recv_timeout(Duration::from_secs(20)).unwrap();
        wait("it does not end", is_idle);
        retiring.begin(&news, || Ok(())).unwrap();
    }
}
