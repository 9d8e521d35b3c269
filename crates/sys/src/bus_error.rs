//! SIGBUS handler. Reports a mapped file that was truncated, and ends the process.

use std::io;
use std::sync::OnceLock;

static LINE: OnceLock<Vec<u8>> = OnceLock::new();

/// Makes a SIGBUS write this line to the standard error stream and end the process with exit code 1. If this is called
/// again, the first line stays.
///
/// # Errors
///
/// The error of `sigaction`.
pub fn end_on_bus_error(line: String) -> io::Result<()> {
    LINE.get_or_init(|| line.into_bytes());
    let handler: extern "C" fn(libc::c_int) = tell_and_end;
    // SAFETY: all zeros is a `sigaction` without flags and with an empty mask. The handler lives as long as the
    // process, and makes only calls that a signal handler may make.
    let result = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut())
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Writes the line and ends the process. The handler makes two calls that POSIX allows in a signal handler, and loads
/// an atomic.
extern "C" fn tell_and_end(_signal: libc::c_int) {
    let line = LINE.get().map_or(&[][..], Vec::as_slice);
    // SAFETY: the line is not changed after the handler is installed, and `write` and `_exit` are safe in a signal
    // handler.
    unsafe {
        libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
        libc::_exit(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs in a process of its own, which must not end of it.
    #[test]
    fn a_handler_can_be_set_and_the_first_line_stays() {
        end_on_bus_error("first\n".into()).unwrap();
        end_on_bus_error("second\n".into()).unwrap();
        assert_eq!(LINE.get().unwrap(), b"first\n");
    }
}
