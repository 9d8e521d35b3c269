//! Creates the links from the configuration and the journal.

use fixwire_protocol::{Now, SessionId};

use crate::config::{Connection, EngineConfig, LinkConfig};
use crate::error::EngineError;
use crate::frame_link::{Door, FrameLink};
use crate::host::Host;
use crate::journal::{Disk, Journal, JournalError, SequenceCounters};

/// Opens the listeners of links that accept connections.
pub(super) fn open(
    config: &EngineConfig,
    host: &mut impl Host,
) -> Result<Vec<Option<Door>>, EngineError> {
    let mut open = |link: &LinkConfig| {
        let Connection::Acceptor { listen: at } = link.connection else {
            return Ok(None);
        };
        let opened = host.listen(at, &link.transport);
        let (listener, at) = opened.map_err(|source| EngineError::Listen { at, source })?;
        let retry = None;
        Ok(Some(Door {
            listener,
            at,
            retry,
        }))
    };
    config.links.iter().map(&mut open).collect()
}

/// Links as restored from the journal; none has a connection yet.
pub(super) fn restore<D: Disk>(
    journal: &mut Journal<D>,
    now: Now,
    configs: Vec<LinkConfig>,
    doors: Vec<Option<Door>>,
    room: usize,
) -> Result<Vec<FrameLink>, JournalError> {
    let mut links = Vec::with_capacity(configs.len());
    for (index, (config, door)) in configs.into_iter().zip(doors).enumerate() {
        let id = journal.register(now.wall, &config.name)?;
        // Frames of an earlier connection are not sent.
        journal.release_before(id, u64::MAX);
        let counters = journal.counters(id).unwrap_or(SequenceCounters::NEW);
        let session = SessionId::of_link(index as u32);
        links.push(FrameLink::new(session, config, (id, counters), door, room));
    }
    Ok(links)
}
