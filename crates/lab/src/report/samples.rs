//! CSV with one line per order.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::{csv, pace_cell};
use crate::load::{Pace, TimedOrder};

/// Writes the orders of one run after another as CSV.
#[derive(Debug)]
pub struct SampleWriter<W: Write = BufWriter<File>> {
    to: W,
}

impl SampleWriter {
    /// Starts a file with the names of its columns.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::new(BufWriter::new(File::create(path)?))
    }
}

impl<W: Write> SampleWriter<W> {
    /// Starts with the names of the columns.
    ///
    /// # Errors
    ///
    /// When writing fails.
    pub fn new(mut to: W) -> io::Result<Self> {
        writeln!(to, "subject,rate,run,intended_ns,response_ns,service_ns")?;
        Ok(Self { to })
    }

    /// Writes the orders of a run (counted from 1), in the order they were due, and flushes them. The columns are the
    /// due time since the start of the run, the response time and the service time, all in nanoseconds. For an order
    /// without an answer, the response time and the service time are empty.
    ///
    /// # Errors
    ///
    /// When writing fails.
    pub fn run(
        &mut self,
        subject: &str,
        pace: Pace,
        run: usize,
        orders: &[TimedOrder],
    ) -> io::Result<()> {
        let (subject, rate) = (csv::text(subject), pace_cell(pace));
        for order in orders {
            write!(self.to, "{subject},{rate},{run},{}", order.intended)?;
            match (order.response(), order.service()) {
                (Some(response), Some(service)) => writeln!(self.to, ",{response},{service}")?,
                _ => writeln!(self.to, ",,")?,
            }
        }
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_an_order() {
        let mut text = Vec::new();
        let mut writer = SampleWriter::new(&mut text).unwrap();
        let order = |intended, actual, answer| TimedOrder {
            intended,
            actual,
            answer,
        };
        let orders = [order(0, 5, 100), order(500, 600, 0)];
        writer
            .run("tcp floor, onward", Pace::PerSecond(2_000), 1, &orders)
            .unwrap();
        writer
            .run("fixwire", Pace::PingPong, 2, &orders[..1])
            .unwrap();
        let expected = "subject,rate,run,intended_ns,response_ns,service_ns\n\
                        \"tcp floor, onward\",2000,1,0,100,95\n\
                        \"tcp floor, onward\",2000,1,500,,\n\
                        fixwire,ping-pong,2,0,100,95\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
