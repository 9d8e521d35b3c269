//! The cost of a bare write(2): the bytes of a message over loopback to a reader on another core.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use fixwire_stamps::clock::Clock;

use crate::error::Error;
use crate::machine;
use crate::sockets::arena::{Arena, connected_pair, pin};
use crate::sockets::pipe::Pipe;

/// Times `count` writes of a message. The writer runs on the core `far` and writes every `gap` nanoseconds; the
/// reader spins on the core `near`.
///
/// # Errors
///
/// The loopback interface or a thread is not available, or the connection ended.
pub fn bare_writes(
    (far, near): (Option<usize>, Option<usize>),
    bytes: usize,
    count: usize,
    gap: u64,
) -> Result<Vec<u64>, Error> {
    let pair = connected_pair().map_err(Error::system("connect over loopback"))?;
    let broken = || Error::system("exchange bytes over loopback");
    let mut reader = Pipe::new(pair.0, true).map_err(broken())?;
    let mut writer = pair.1;
    writer.set_nodelay(true).map_err(broken())?;
    let ended = AtomicBool::new(false);
    let alone = machine::allowed_cores().len() == 1;
    thread::scope(|scope| {
        let times = scope.spawn(|| {
            let _pinned = pin(far)?;
            let (clock, message) = (Clock::start(), vec![b'o'; bytes]);
            let mut times = Vec::with_capacity(count);
            for at in 0..count as u64 {
                while clock.now() < at * gap {
                    Arena::pause(alone);
                }
                let start = clock.now();
                writer.write_all(&message).map_err(broken())?;
                times.push(clock.now() - start);
            }
            ended.store(true, Ordering::Release);
            Ok(times)
        });
        let _pinned = pin(near)?;
        let mut left = bytes * count;
        while left > 0 && (ended.load(Ordering::Acquire) || !times.is_finished()) {
            let read = reader.read(false).map_err(broken())?;
            reader.consume(read);
            left -= read;
            Arena::pause(alone);
        }
        times.join().unwrap_or(Err(Error::Thread("writing")))
    })
}
