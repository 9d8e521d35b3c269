//! Counts the system calls of threads, by a process of its own that traces them with ptrace(2).
//!
//! A traced thread stops before and after each call, so it runs many times slower; the number of its calls stays what
//! the program makes of that. The tracing process is a fork that makes only system calls and uses no memory but the
//! shared one, as a fork of a program with threads must. When it is killed, the kernel lets the traced threads go on.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// Maximum number of threads that are traced.
pub const MOST_THREADS: usize = 64;
/// Calls have numbers below this.
const NUMBERS: usize = 512;

/// The memory that both processes share. All zeros is its first value.
#[repr(C)]
struct Shared {
    /// 0: the threads are being attached; positive: all are; negative: the error.
    state: AtomicI32,
    threads: [AtomicI32; MOST_THREADS],
    /// For each thread and call: how often it was done, and how often it found nothing.
    calls: [[[AtomicU32; 2]; NUMBERS]; MOST_THREADS],
}

const RELAXED: Ordering = Ordering::Relaxed;

/// How often a thread made a system call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CallCount {
    /// Id of the thread.
    pub thread: u32,
    /// Number of the call.
    pub number: u32,
    /// Calls that did something, or failed.
    pub done: u32,
    /// Calls that asked for data or events and found none: the polling of a thread that spins.
    pub empty: u32,
}

/// A process that counts system calls. Dropping it ends the process.
#[derive(Debug)]
pub struct CallTracer {
    shared: NonNull<Shared>,
    process: libc::pid_t,
}

impl CallTracer {
    /// Starts to count the calls of these threads, and of threads that they start. Returns when all are counted.
    ///
    /// # Errors
    ///
    /// `InvalidInput` with no thread or more than [`MOST_THREADS`]; otherwise the error of the system, for example
    /// `PermissionDenied` when it does not allow to trace.
    pub fn start(threads: &[u32]) -> io::Result<Self> {
        if threads.is_empty() || threads.len() > MOST_THREADS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (read_write, len) = (libc::PROT_READ | libc::PROT_WRITE, size_of::<Shared>());
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address that the kernel chooses.
        let memory = unsafe { libc::mmap(std::ptr::null_mut(), len, read_write, flags, -1, 0) };
        let shared = NonNull::new(memory).filter(|it| it.as_ptr() != libc::MAP_FAILED);
        let shared = shared.ok_or_else(io::Error::last_os_error)?.cast();
        // From here on, dropping this value unmaps the memory.
        let mut tracer = Self { shared, process: 0 };
        for (place, thread) in tracer.shared().threads.iter().zip(threads) {
            place.store(thread.cast_signed(), RELAXED);
        }
        // SAFETY: the child makes only system calls, and never returns. Where the system lets a process trace only its
        // descendants, `prctl` allows the child to trace its parent; elsewhere it fails, and nothing changes.
        tracer.process = unsafe {
            libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0);
            match libc::fork() {
                -1 => return Err(io::Error::last_os_error()),
                0 => trace(tracer.shared(), threads.len()),
                process => process,
            }
        };
        loop {
            match tracer.shared().state.load(Ordering::Acquire) {
                0 => std::thread::sleep(std::time::Duration::from_micros(100)),
                1.. => return Ok(tracer),
                error => return Err(io::Error::from_raw_os_error(-error)),
            }
        }
    }

    fn shared(&self) -> &Shared {
        // SAFETY: the memory is mapped until `self` is dropped, zeros are a valid value, and both processes change it
        // only through atomics.
        unsafe { self.shared.as_ref() }
    }

    /// Ends the process; returns how often each thread made each call.
    #[must_use]
    pub fn finish(mut self) -> Vec<CallCount> {
        self.end();
        let mut found = Vec::new();
        for (thread, calls) in self.shared().threads.iter().zip(&self.shared().calls) {
            let thread = thread.load(RELAXED).cast_unsigned();
            found.extend((0..).zip(calls).map(|(number, count)| CallCount {
                thread,
                number,
                done: count[0].load(RELAXED),
                empty: count[1].load(RELAXED),
            }));
        }
        found.retain(|count| count.done + count.empty > 0);
        found
    }

    fn end(&mut self) {
        if self.process > 0 {
            // SAFETY: the process is a child of this one that nobody else waits for, so its id is still its own.
            unsafe {
                libc::kill(self.process, libc::SIGKILL);
                libc::waitpid(self.process, std::ptr::null_mut(), 0);
            }
            self.process = 0;
        }
    }
}

impl Drop for CallTracer {
    fn drop(&mut self) {
        self.end();
        // SAFETY: nothing borrows the memory any more; the other process has its own mapping of it.
        unsafe { libc::munmap(self.shared.as_ptr().cast(), size_of::<Shared>()) };
    }
}

/// The work of the process: attaches the threads, and counts until it is killed.
fn trace(shared: &Shared, count: usize) -> ! {
    const OPTIONS: libc::c_int = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_TRACECLONE;
    // SAFETY: these calls use no memory but their arguments, which live until they return. A fork of a program with
    // threads may make them.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        for thread in &shared.threads[..count] {
            let thread = thread.load(RELAXED);
            if libc::ptrace(libc::PTRACE_SEIZE, thread, 0_usize, OPTIONS as usize) < 0
                || libc::ptrace(libc::PTRACE_INTERRUPT, thread, 0_usize, 0_usize) < 0
            {
                (shared.state).store(-*libc::__errno_location(), Ordering::Release);
                libc::_exit(1);
            }
        }
        let (mut called, mut stopped) = ([NUMBERS; MOST_THREADS], 0);
        loop {
            let mut status = 0;
            let thread = libc::waitpid(-1, &raw mut status, libc::__WALL);
            if thread < 0 {
                // All threads have ended.
                shared.state.store(1, Ordering::Release);
                libc::_exit(0);
            } else if !libc::WIFSTOPPED(status) {
                continue;
            }
            let mut signal = 0;
            match (libc::WSTOPSIG(status), status >> 16) {
                (stop, 0) if stop == libc::SIGTRAP | 0x80 => {
                    let mut info = [0_u64; 11];
                    let size = size_of_val(&info);
                    libc::ptrace(PTRACE_GET_SYSCALL_INFO, thread, size, info.as_mut_ptr());
                    // A new thread gets the next free place.
                    let is_its = |place: &AtomicI32| {
                        let known = place.compare_exchange(0, thread, RELAXED, RELAXED);
                        known.is_ok() || known == Err(thread)
                    };
                    if let Some(place) = shared.threads.iter().position(is_its) {
                        note(&shared.calls[place], &mut called[place], &info);
                    }
                }
                (stop, 0) => signal = stop,
                (_, libc::PTRACE_EVENT_STOP) => stopped += 1,
                _ => {}
            }
            (shared.state).store(i32::from(stopped >= count), Ordering::Release);
            libc::ptrace(libc::PTRACE_SYSCALL, thread, 0_usize, signal as usize);
        }
    }
}

/// `epoll_wait` of x86-64; other processors have only `epoll_pwait`, and another call or none of this number.
const EPOLL_WAIT: libc::c_long = 232;
const PTRACE_GET_SYSCALL_INFO: libc::c_uint = 0x420e;

/// Notes a stop before or after a call: `ptrace_syscall_info` of the kernel. Byte 0 says which; 24 bytes from the start
/// is the number of the call or its result, 32 bytes from the start whether the result is an error.
fn note(calls: &[[AtomicU32; 2]; NUMBERS], called: &mut usize, info: &[u64; 11]) {
    const ENTRY: u8 = 1;
    const EXIT: u8 = 2;
    match info[0].to_ne_bytes()[0] {
        ENTRY => *called = usize::try_from(info[3]).unwrap_or(NUMBERS),
        EXIT if *called < NUMBERS => {
            let count = &calls[*called];
            let (result, number) = (info[3].cast_signed(), *called as libc::c_long);
            let again = result == -i64::from(libc::EAGAIN) && number != libc::SYS_futex;
            let waits = number == libc::SYS_epoll_pwait || number == EPOLL_WAIT;
            let is_empty = again || waits && result == 0;
            count[usize::from(is_empty)].fetch_add(1, RELAXED);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc::channel;

    /// The calls of a thread by name, and how many of them found nothing.
    #[test]
    fn calls_of_a_thread_are_counted_by_name() {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        far.set_nonblocking(true).unwrap();
        let (id, ids) = channel();
        let (go, goes) = channel::<()>();
        let (done, is_done) = channel();
        let thread = std::thread::spawn(move || {
            // SAFETY: the call has no arguments and always succeeds.
            id.send(unsafe { libc::gettid() }.cast_unsigned()).unwrap();
            goes.recv().unwrap();
            for _ in 0..7 {
                assert!(far.read(&mut [0; 8]).is_err());
            }
            for _ in 0..3 {
                far.write_all(b"x").unwrap();
            }
            done.send(()).unwrap();
            // Calls that are made later are not counted.
            let _ = goes.recv();
            far.write_all(b"x").unwrap();
        });
        let id = ids.recv().unwrap();
        let tracer = match CallTracer::start(&[id]) {
            Ok(tracer) => tracer,
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
                drop(go);
                assert!(thread.join().is_err());
                return;
            }
        };
        go.send(()).unwrap();
        is_done.recv().unwrap();
        let found = tracer.finish();
        drop(go);
        thread.join().unwrap();
        let mut all = [0; 4];
        near.read_exact(&mut all).unwrap();
        let of = |name| {
            found
                .iter()
                .find(|it| i64::from(it.number) == name)
                .copied()
        };
        let counts = |it: CallCount| (it.thread, it.done, it.empty);
        let reads = of(libc::SYS_recvfrom).or(of(libc::SYS_read)).map(counts);
        assert_eq!(reads, Some((id, 0, 7)), "{found:?}");
        let writes = of(libc::SYS_sendto).or(of(libc::SYS_write)).map(counts);
        assert_eq!(writes, Some((id, 3, 0)), "{found:?}");
    }

    #[test]
    fn a_thread_that_does_not_exist_is_an_error() {
        assert!(CallTracer::start(&[i32::MAX.cast_unsigned()]).is_err());
        assert!(CallTracer::start(&[]).is_err());
    }
}
