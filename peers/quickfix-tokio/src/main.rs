//! quickfix-tokio peer (crates.io): NewOrderSingle in, ExecutionReport out.
//!   peer-quickfix-tokio PORT MODE DIR FIX42.xml
//! persistent: file store + file log, dictionary on; memory: memory store, no log,
//! PersistMessages=N, no dictionary. One current-thread runtime, as the process has one core.
//! Its manual has callbacks hand work to another task, which sends; so does this.

#![forbid(unsafe_code)]

use std::sync::Arc;

use quickfix_tokio::{
    Application, ApplicationError, Engine, FileLogFactory, FileStoreFactory, LogFactory,
    MemoryStoreFactory, Message, MessageStoreFactory, NullLogFactory, SessionId, Settings,
};
use tokio::sync::mpsc;

struct Bench(mpsc::UnboundedSender<Vec<u8>>);

#[async_trait::async_trait]
impl Application for Bench {
    async fn from_app(&self, m: &Message, _: &SessionId) -> Result<(), ApplicationError> {
        if m.header.get_raw(35) != Some(b"D") {
            return Err(ApplicationError::UnsupportedMessageType);
        }
        let _ = self.0.send(m.body.get_raw(11).unwrap_or_default().to_vec());
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> quickfix_tokio::Result<()> {
    let a: Vec<String> = std::env::args().collect();
    let (port, mode, dir, dict) = (&a[1], a[2].as_str(), &a[3], &a[4]);
    let persistent = mode == "persistent";
    let settings = Settings::parse(&format!(
        "[SESSION]\nConnectionType=acceptor\nBeginString=FIX.4.2\nSenderCompID=EXEC\nTargetCompID=BENCH\n\
         SocketAcceptPort={port}\nHeartBtInt=30\nResetOnLogon=Y\nPersistMessages={}\n{}",
        if persistent { "Y" } else { "N" },
        if persistent {
            format!("DataDictionary={dict}\n")
        } else {
            "UseDataDictionary=N\n".into()
        }
    ))?;
    let store: Arc<dyn MessageStoreFactory> = if persistent {
        Arc::new(FileStoreFactory::new(format!("{dir}/store")))
    } else {
        Arc::new(MemoryStoreFactory::new())
    };
    let log: Arc<dyn LogFactory> = if persistent {
        Arc::new(FileLogFactory::new(format!("{dir}/log")))
    } else {
        Arc::new(NullLogFactory)
    };
    let (tx, mut rx) = mpsc::unbounded_channel();
    let engine = Engine::start(&settings, Arc::new(Bench(tx)), store, log).await?;
    let session = engine
        .session("FIX.4.2", "EXEC", "BENCH")
        .expect("the session")
        .clone();

    let mut report = Message::with_type("8");
    for (tag, v) in [
        (6, "110.11"),
        (14, "7"),
        (17, "tkacct.151124.e.EFX.122.6"),
        (20, "0"),
        (37, "tkacct.151124.e.EFX.122.6"),
        (39, "0"),
        (54, "1"),
        (55, "EFX"),
        (109, "TEST"),
        (150, "2"),
        (151, "0"),
    ] {
        report.set(tag, v);
    }
    while let Some(id) = rx.recv().await {
        report.body.set_raw(11, id);
        if let Err(e) = session.send(report.clone()).await {
            eprintln!("send: {e}");
        }
    }
    Ok(())
}
