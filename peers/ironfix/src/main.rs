//! IronFix peer (crates.io): NewOrderSingle in, ExecutionReport out.
//!   peer-ironfix PORT MODE DIR
//! persistent: its FileStore with its defaults; memory: no store.
//! One current-thread runtime, as the process has one core.

#![forbid(unsafe_code)]

use std::sync::{Arc, Mutex};

use ironfix_core::{CompId, MsgType, RawMessage};
use ironfix_engine::{Acceptor, Application, Connection, OutboundMessage, RejectReason, SessionId};
use ironfix_session::SessionConfig;
use ironfix_store::{FileStore, FileStoreConfig, SyncPolicy};
use tokio::net::TcpListener;

#[derive(Default)]
struct Bench(Mutex<Option<Connection>>);

#[async_trait::async_trait]
impl Application for Bench {
    async fn on_create(&self, _: &SessionId) {}
    async fn on_logon(&self, _: &SessionId) {}
    async fn on_logout(&self, _: &SessionId) {}
    async fn to_admin(&self, _: &mut OutboundMessage, _: &SessionId) {}
    async fn from_admin(&self, _: &RawMessage<'_>, _: &SessionId) -> Result<(), RejectReason> {
        Ok(())
    }
    async fn to_app(&self, _: &mut OutboundMessage, _: &SessionId) {}
    async fn from_app(&self, m: &RawMessage<'_>, _: &SessionId) -> Result<(), RejectReason> {
        let Some(id) = m.get_field_str(11) else {
            return Ok(());
        };
        let mut tries = 0;
        let connection = loop {
            if let Some(c) = self.0.lock().expect("lock").as_ref() {
                break c.clone();
            }
            // the Logon has been answered but serve() has not returned yet
            tries += 1;
            assert!(tries < 1_000_000);
            tokio::task::yield_now().await;
        };
        let mut r = connection.acquire(MsgType::ExecutionReport);
        r.push_str(6, "110.11")
            .push_str(11, id)
            .push_int(14, 7)
            .push_str(17, "tkacct.151124.e.EFX.122.6")
            .push_char(20, '0')
            .push_str(37, "tkacct.151124.e.EFX.122.6")
            .push_char(39, '0')
            .push_char(54, '1')
            .push_str(55, "EFX")
            .push_str(109, "TEST")
            .push_char(150, '2')
            .push_int(151, 0);
        if let Err(e) = connection.send(r).await {
            eprintln!("send: {e}");
        }
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let a: Vec<String> = std::env::args().collect();
    let listener = TcpListener::bind(("127.0.0.1", a[1].parse::<u16>()?)).await?;
    let app = Arc::new(Bench::default());
    let config = SessionConfig::new(
        CompId::new("EXEC").expect("id"),
        CompId::new("BENCH").expect("id"),
        "FIX.4.2",
    );
    let mut acceptor = Acceptor::new(config, app.clone());
    if a[2] == "persistent" {
        // its default is an fsync per write; the others leave that to the kernel, so this does too
        let store = FileStoreConfig::try_new(format!("{}/store", a[3]), "bench")?
            .with_create_if_missing(true)
            .with_sync_policy(SyncPolicy::Never);
        acceptor = acceptor.with_store(Arc::new(FileStore::open(store).await?));
    }
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        match acceptor.serve(stream).await {
            Ok(c) => {
                *app.0.lock().expect("lock") = Some(c.clone());
                c.wait_closed().await;
                *app.0.lock().expect("lock") = None;
            }
            Err(e) => eprintln!("acceptor: {e}"),
        }
    }
}
