//! [`Printer`]: writes lines to a terminal or pipe from a thread that must not block.

use std::io::Write;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::failure::Failure;

/// Maximum number of waiting lines. Further lines are dropped and counted.
const WAITING: usize = 4096;

/// Writes lines in a separate thread. If the reader is too slow, lines are dropped and counted, so that the engine
/// never waits.
pub struct Printer {
    lines: Option<SyncSender<String>>,
    left_out: u64,
    thread: Option<JoinHandle<()>>,
}

impl Printer {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// The thread cannot be started.
    pub fn new(to: impl Write + Send + 'static) -> Result<Self, Failure> {
        let (lines, waiting) = sync_channel(WAITING);
        let thread = fixwire_threads::spawn("print", move || write_all(to, &waiting))
            .map_err(Failure::thread)?;
        Ok(Self {
            lines: Some(lines),
            left_out: 0,
            thread: Some(thread),
        })
    }

    /// Queues a line, or drops it.
    pub fn line(&mut self, line: String) {
        let Some(lines) = &self.lines else { return };
        if self.left_out > 0 {
            let said = format!(
                "... {} lines dropped: the output is too slow",
                self.left_out
            );
            if lines.try_send(said).is_ok() {
                self.left_out = 0;
            }
        }
        if lines.try_send(line).is_err() {
            self.left_out += 1;
        }
    }
}

impl Drop for Printer {
    /// Waits until all lines are written, unless the reader has stopped reading.
    fn drop(&mut self) {
        const PATIENCE: Duration = Duration::from_secs(1);
        const STEP: Duration = Duration::from_millis(5);
        self.lines = None;
        let Some(thread) = self.thread.take() else {
            return;
        };
        let mut waited = Duration::ZERO;
        while !thread.is_finished() && waited < PATIENCE {
            thread::sleep(STEP);
            waited += STEP;
        }
    }
}

fn write_all(mut to: impl Write, lines: &Receiver<String>) {
    const SOON: Duration = Duration::from_millis(20);
    let mut batch = Vec::new();
    loop {
        match lines.recv_timeout(SOON) {
            Ok(line) => {
                batch.extend_from_slice(line.as_bytes());
                batch.push(b'\n');
                for line in lines.try_iter().take(WAITING) {
                    batch.extend_from_slice(line.as_bytes());
                    batch.push(b'\n');
                }
                // Lines to a closed pipe are lost. The sessions continue.
                let _ = to.write_all(&batch).and_then(|()| to.flush());
                batch.clear();
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_was_given_before_the_end_is_written() {
        let sink = Sink::default();
        let mut printer = Printer::new(sink.clone()).unwrap();
        for n in 0..100 {
            printer.line(n.to_string());
        }
        drop(printer);
        let written = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        assert_eq!(written.lines().count(), 100);
        assert!(written.ends_with("99\n"));
    }

    #[test]
    fn a_reader_who_stands_still_costs_lines_and_no_time() {
        let sink = Sink::default();
        let held = sink.0.lock().unwrap();
        let mut printer = Printer::new(sink.clone()).unwrap();
        for n in 0..3 * WAITING {
            printer.line(n.to_string());
        }
        drop(held);
        thread::sleep(Duration::from_millis(200));
        printer.line("last".into());
        drop(printer);
        let written = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        assert!(written.contains("lines dropped"));
        assert!(written.ends_with("last\n"));
    }
}
