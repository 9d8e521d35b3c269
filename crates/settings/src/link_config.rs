//! Converts the links of a file to link configurations of an engine and of the link protocol.

use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use fixwire_engine::config::{EngineConfig, LinkConfig};
use fixwire_engine::regular;
use fixwire_protocol::Framing;
use fixwire_tmp::{
    ApCode, ClientLinkSettings, ExchangeLinkSettings, FRAME_BYTES_LEAST, FRAME_BYTES_MOST,
    HeartbeatRule, OrderMarks, SystemType, TmpPassword, TmpPositionEffect,
};

use super::Id;
use super::config::{dial, listen};
use super::link_keys::{IDLE_SENDER, TmpEnd};
use super::link_settings::{LinkSettings, password};
use super::problem::{LoadError, Problem};
use super::resolved::{SessionSettings, Settings};
use super::safety;
use super::transport::{Made, transport};

/// No message of an OMS is longer, bytes. The engine would refuse a message that is too long, although the OMS has
/// recorded the order.
const OMS_BYTES: usize = 32 << 10;
/// Maximum size of a password file, bytes.
const MAX_PASSWORD_FILE: u64 = 64;

/// The links of the engine.
pub(super) fn links(settings: &Settings, tls: &mut Made) -> Result<Vec<LinkConfig>, LoadError> {
    each(settings, |link| {
        let from = &link.connection;
        let connection = match from.text(Id::ConnectionType) {
            Some("initiator") => dial(from),
            _ => listen(from),
        };
        // The length counts neither the length field nor the checksum.
        let framing = Framing::big_endian(0, 2)
            .adding(3)
            .within(FRAME_BYTES_LEAST, FRAME_BYTES_MOST);
        let framing = match link.end {
            TmpEnd::Broker => framing.with_sum_of_bytes(),
            // For a simulated exchange the engine does not check the checksum. The exchange itself answers a frame
            // that has a wrong checksum, and it sends a wrong checksum when that fault is to be injected.
            TmpEnd::Exchange => framing,
        };
        let mut config = LinkConfig::new(link.name(), connection, framing);
        let addresses = safety::addresses(settings, from);
        let transport = transport(settings, from, tls);
        (config.addresses, config.transport) = both(settings, addresses, transport)?;
        Ok(config)
    })
}

/// Checks that the buffers of the engine have room for each message of an OMS, and for a whole frame.
pub(super) fn check(
    settings: &Settings,
    first: &SessionSettings,
    config: &EngineConfig,
) -> Result<(), LoadError> {
    let (least, what) = match (settings.links.is_empty(), settings.oms.is_empty()) {
        (false, _) => (FRAME_BYTES_MOST, "the longest frame of a TMP link"),
        (true, false) => (OMS_BYTES, "room for each message of an OMS"),
        (true, true) => return Ok(()),
    };
    if config.max_message >= least {
        return Ok(());
    }
    let note = format!("MaxMessageSize must be at least {least}, {what}");
    Err(settings.error(first, Id::MaxMessageSize, note))
}

impl Settings {
    /// Names and settings of the links of an OMS, in the order of the engine's links.
    ///
    /// # Errors
    ///
    /// [`LoadError::Content`] with every password file that cannot be used.
    pub fn tmp_lines(&self) -> Result<Vec<(String, ClientLinkSettings)>, LoadError> {
        each(self, |link| {
            let (fcm_id, session_id, system_type) = identity(link);
            let password = self.password(link)?;
            let mut made = ClientLinkSettings::new(fcm_id, session_id, password, system_type);
            made.ap_code = ap_code(link);
            made.cancel_order_sec = link.number("cancel_order_sec") as u8;
            made.heartbeat = heartbeat(link);
            made.marks = self.marks(link)?;
            Ok((link.name().to_owned(), made))
        })
    }

    /// The values that the link writes into each request and that are not part of the order.
    fn marks(&self, link: &LinkSettings) -> Result<OrderMarks, LoadError> {
        let mut marks = OrderMarks::default();
        let mut problems = Vec::new();
        let mut wrong = |key: &str, title: String, help: &str| {
            let span = link.find(key).and_then(|it| it.origin.span());
            problems.push(Problem::found(
                span.unwrap_or(link.header),
                &title,
                Some(help),
            ));
        };
        let is_set = |key: &str| link.find(key).is_some();
        marks.cm_id = is_set("cm_id").then(|| link.number("cm_id") as u16);
        if let [source] = link.text("order_source").as_bytes() {
            marks.order_source = *source;
        }
        match link.text("info_source").as_bytes().try_into() {
            Ok(vendor) => marks.info_source = vendor,
            Err(_) if !is_set("info_source") => {}
            Err(_) => wrong(
                "info_source",
                format!(
                    "info_source {} must have 3 characters",
                    link.text("info_source")
                ),
                "write the number of the information vendor, or \"999\" for none",
            ),
        }
        match link.text("investor_flag").as_bytes() {
            [flag] => marks.investor_flag = *flag,
            [] => {}
            _ => wrong(
                "investor_flag",
                format!(
                    "investor_flag {} must be 1 character",
                    link.text("investor_flag")
                ),
                "write the exchange's character for the kind of investor",
            ),
        }
        let effects = (0..=u8::MAX).map(TmpPositionEffect);
        let effect = link.text("position_effect");
        marks.position_effect = { effects }.find(|it| it.name() == Some(effect));
        let (_, _, system) = identity(link);
        if marks
            .position_effect
            .is_some_and(|it| !it.is_of_orders(system))
        {
            wrong(
                "position_effect",
                format!("position_effect {effect} is for options only"),
                "for futures, write open, close, day trade or liquidation",
            );
        }
        if problems.is_empty() {
            Ok(marks)
        } else {
            Err(self.found(problems))
        }
    }

    /// Names and settings of the links of a simulated exchange, in the order of the engine's links.
    ///
    /// # Errors
    ///
    /// See [`tmp_lines`](Self::tmp_lines).
    pub fn tmp_members(&self) -> Result<Vec<(String, ExchangeLinkSettings)>, LoadError> {
        each(self, |link| {
            let (fcm_id, session_id, system_type) = identity(link);
            let password = self.password(link)?;
            let mut made = ExchangeLinkSettings::new(fcm_id, session_id, password, system_type);
            made.ap_code = ap_code(link);
            made.max_flow_ctrl_cnt = link.number("max_flow") as u16;
            made.heartbeat = heartbeat(link);
            if let Some(seconds) = link.connection.int(Id::HeartBtInt) {
                made.heart_bt_int = seconds as u8;
            }
            Ok((link.name().to_owned(), made))
        })
    }

    fn password(&self, link: &LinkSettings) -> Result<TmpPassword, LoadError> {
        if let Some(password) = link.password {
            return Ok(password);
        }
        let file = link.text("password_file");
        read_password(&self.report.source.path, file).map_err(|why| {
            let setting = link.find("password_file");
            let span = setting.and_then(|setting| setting.origin.span());
            let problem = Problem::found(
                span.unwrap_or(link.header),
                &format!("password_file {file}: {why}"),
                Some("write the password's 1 to 9 digits into a file of mode 0600"),
            );
            self.found(vec![problem])
        })
    }
}

/// Reads the password from a file. A relative path starts from the folder of the settings file.
fn read_password(settings: &Path, file: &str) -> Result<TmpPassword, String> {
    let path = settings.parent().unwrap_or(Path::new("")).join(file);
    let failed = |error: io::Error| error.to_string();
    let file = regular::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.mode();
    if mode & 0o077 != 0 {
        let mode = mode & 0o777;
        return Err(format!("other users can read it (mode {mode:04o})"));
    }
    let mut text = String::new();
    let read = file.take(MAX_PASSWORD_FILE + 1).read_to_string(&mut text);
    if read.map_err(failed)? as u64 > MAX_PASSWORD_FILE {
        return Err(format!("the file has more than {MAX_PASSWORD_FILE} bytes"));
    }
    password(text.trim_end()).ok_or_else(|| "the file has no password of 1 to 9 digits".to_owned())
}

fn identity(link: &LinkSettings) -> (u16, u16, SystemType) {
    let system = (0..=u8::MAX).map(SystemType);
    let system = { system }.find(|it| it.name() == Some(link.text("system_type")));
    // These values were checked when the file was read: a number fits into two bytes, and a word is the name of a
    // code.
    let [fcm_id, session_id] = ["fcm_id", "session_id"].map(|key| link.number(key) as u16);
    (fcm_id, session_id, system.unwrap_or_default())
}

fn ap_code(link: &LinkSettings) -> ApCode {
    let codes = (0..=u8::MAX).map(ApCode);
    let code = { codes }.find(|it| it.name() == Some(link.text("ap_code")));
    code.unwrap_or(ApCode::TRADING)
}

fn heartbeat(link: &LinkSettings) -> HeartbeatRule {
    match link.text("heartbeat") {
        IDLE_SENDER => HeartbeatRule::IdleSender,
        _ => HeartbeatRule::SilentPeer,
    }
}

/// The results of all links, or the errors of all links that have one.
fn each<T>(
    settings: &Settings,
    mut make: impl FnMut(&LinkSettings) -> Result<T, LoadError>,
) -> Result<Vec<T>, LoadError> {
    let (mut made, mut problems) = (Vec::new(), Vec::new());
    for link in &settings.links {
        match make(link) {
            Ok(one) => made.push(one),
            Err(LoadError::Content(report)) => problems.extend(report.problems),
            Err(other) => return Err(other),
        }
    }
    settings.errors(problems).map_or(Ok(made), Err)
}

/// Both values, or the errors of both results.
fn both<A, B>(
    settings: &Settings,
    one: Result<A, LoadError>,
    other: Result<B, LoadError>,
) -> Result<(A, B), LoadError> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(LoadError::Content(mut one)), Err(LoadError::Content(other))) => {
            one.problems.extend(other.problems);
            Err(settings.found(one.problems))
        }
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}
