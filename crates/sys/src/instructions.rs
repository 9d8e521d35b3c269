//! The processor's counter of instructions of a thread (perf_event_open(2)).

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::FromRawFd;

const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;
/// Counts neither the kernel nor the hypervisor, which a user may not count by default.
const USER_ONLY: u64 = 1 << 5 | 1 << 6;

/// A running counter of one thread.
#[derive(Debug)]
pub struct InstructionCounter(File);

impl InstructionCounter {
    /// Starts to count the instructions that a thread executes in user mode. The thread may be of another process.
    ///
    /// # Errors
    ///
    /// The error of `perf_event_open`: for example `NotFound` when the processor gives no counter to a virtual machine,
    /// `PermissionDenied` when the system does not allow it.
    pub fn of_thread(thread: u32) -> io::Result<Self> {
        // A counter of the hardware: instructions.
        Self::open(0, 1, thread)
    }

    fn open(kind: u32, config: u64, thread: u32) -> io::Result<Self> {
        // `perf_event_attr` of the kernel: kind and size, what is counted, and the flags; the rest is zero.
        let mut attributes = [0_u64; 16];
        // On a processor with the other order of bytes the kernel refuses it.
        attributes[0] = u64::from(kind) | (size_of_val(&attributes) as u64) << 32;
        (attributes[1], attributes[5]) = (config, USER_ONLY);
        let (any_core, no_group): (libc::c_int, libc::c_int) = (-1, -1);
        let thread = libc::pid_t::try_from(thread).map_err(io::Error::other)?;
        // SAFETY: the kernel reads the attributes, as many bytes as they say, which live until the call returns.
        let file = unsafe {
            let attributes = attributes.as_ptr();
            let call = libc::SYS_perf_event_open;
            libc::syscall(call, attributes, thread, any_core, no_group, CLOSE_ON_EXEC)
        };
        match libc::c_int::try_from(file) {
            // SAFETY: the kernel has just opened this descriptor, and nothing else owns it.
            Ok(file) if file >= 0 => Ok(Self(unsafe { File::from_raw_fd(file) })),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The count since the start.
    ///
    /// # Errors
    ///
    /// The error of `read`; `UnexpectedEof` when the system has stopped the counter.
    pub fn count(&mut self) -> io::Result<u64> {
        let mut count = [0; 8];
        self.0.read_exact(&mut count)?;
        Ok(u64::from_ne_bytes(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOFTWARE: u32 = 1;
    const SOFTWARE_PAGE_FAULTS: u64 = 2;

    /// A virtual machine often has no counter of instructions. The kernel itself counts faults, through the same calls.
    #[test]
    fn a_counter_counts_its_thread_only() {
        // SAFETY: the call has no arguments and always succeeds.
        let own = u32::try_from(unsafe { libc::gettid() }).unwrap();
        let mut counter = match InstructionCounter::open(SOFTWARE, SOFTWARE_PAGE_FAULTS, own) {
            Ok(counter) => counter,
            Err(error) => {
                // A container may forbid the call; then it must be an error, and no count.
                let kinds = [io::ErrorKind::PermissionDenied, io::ErrorKind::Unsupported];
                assert!(kinds.contains(&error.kind()), "{error}");
                return;
            }
        };
        let before = counter.count().unwrap();
        let touch = || {
            let mut map = crate::Map::file(&file(), 1 << 20).unwrap();
            (0..1 << 20)
                .step_by(4096)
                .for_each(|at| map.store(at, b"x"));
        };
        std::thread::spawn(touch).join().unwrap();
        let others = counter.count().unwrap() - before;
        touch();
        let own = counter.count().unwrap() - before - others;
        assert!(others < 200, "{others} faults of another thread");
        assert!(own >= 16, "{own} faults");
    }

    fn file() -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        file
    }

    #[test]
    fn a_thread_that_does_not_exist_has_no_count() {
        assert!(InstructionCounter::of_thread(u32::MAX).is_err());
        assert!(InstructionCounter::of_thread(i32::MAX.unsigned_abs()).is_err());
    }
}
