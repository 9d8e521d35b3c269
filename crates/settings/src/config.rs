//! Converts the settings of a file to an engine configuration.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use fixwire_engine::config::{Connection, Durability, EngineConfig, Limits, SessionConfig, Wait};
use fixwire_engine::journal::Retention;
use fixwire_protocol::dictionary::validate::ValidationRules;
use fixwire_protocol::session::{BeginString, Config, OnReject, Party, ResetOn, Role};
use fixwire_protocol::time::Precision;
use fixwire_protocol::{Nanos, OperatorRights, Secret, Tag};

use super::logs;
use super::operators::operators;
use super::problem::LoadError;
use super::resolved::{SessionSettings, Settings};
use super::safety;
use super::shelf::{Shelf, appl_dictionaries, appl_ver_id, begin_string, dictionary, validates};
use super::{Id, SettingValue, paths};

impl Settings {
    /// Reads the dictionaries named in the file and builds the engine configuration.
    ///
    /// # Errors
    ///
    /// [`LoadError::Content`] when a dictionary cannot be read, or when valid values do not form a valid
    /// configuration together.
    pub fn to_config(&self) -> Result<EngineConfig, LoadError> {
        let mut shelf = Shelf::default();
        let mut tls = super::transport::Made::default();
        let mut users = safety::Files::default();
        let (mut sessions, mut templates) = (Vec::with_capacity(self.sessions.len()), Vec::new());
        self.read_dictionaries(&mut shelf, validates)?;
        for session in &self.sessions {
            let config = session_config(self, session, &mut shelf, &mut tls, &mut users)?;
            safety::sort(session, config, &mut sessions, &mut templates);
        }
        let links = super::link_config::links(self, &mut tls)?;
        let Some(first) = self.engine() else {
            return Ok(EngineConfig::default());
        };
        let size = |id| first.int(id).and_then(|value| usize::try_from(value).ok());
        let usual = EngineConfig::default();
        let said = |id| {
            first
                .find(id)
                .is_some_and(|found| found.origin.span().is_some())
        };
        let mut max_message = size(Id::MaxMessageSize).unwrap_or(usual.max_message);
        let segment = size(Id::JournalSegmentSize).unwrap_or(usual.segment_bytes);
        if !said(Id::MaxMessageSize) {
            max_message = max_message.min(segment.saturating_sub(1 << 20) / 2);
        }
        let mut read_buffer = size(Id::ReadBufferSize).unwrap_or(usual.read_buffer);
        if !said(Id::ReadBufferSize) {
            read_buffer = read_buffer.max(max_message);
        }
        let config = EngineConfig {
            // A settings file cannot set `new_journal`, because the setting would apply again at the next start.
            new_journal: false,
            // An application that keeps orders of created sessions sets this itself.
            restores_created: false,
            journal_dir: PathBuf::from(first.text(Id::FileStorePath).unwrap_or("store")),
            durability: match first.text(Id::Durability) {
                Some("memory") => Durability::Memory,
                Some("disk") => Durability::Disk,
                _ => Durability::Process,
            },
            wait: match first.text(Id::Wait) {
                Some("spin") => Wait::Spin,
                Some("yield") => Wait::Yield,
                _ => Wait::Block,
            },
            core: size(Id::Core),
            lock_memory: first.bool(Id::LockMemory),
            segment_bytes: segment.next_multiple_of(PAGE),
            reserve_segments: first
                .int(Id::JournalReserve)
                .and_then(|value| u32::try_from(value).ok())
                .unwrap_or(usual.reserve_segments),
            low_space: first.int(Id::JournalLowSpace).unwrap_or(usual.low_space),
            max_message,
            max_fields: size(Id::MaxFields).unwrap_or(usual.max_fields),
            read_buffer,
            limits: Limits {
                logon_bytes: size(Id::MaxLogonSize).unwrap_or(usual.limits.logon_bytes),
                logon_time: self
                    .sessions
                    .iter()
                    .filter_map(|session| session.time(Id::LogonTimeout))
                    .max()
                    .unwrap_or(usual.limits.logon_time),
                lag_bytes: first
                    .int(Id::MaxSendBacklog)
                    .unwrap_or(usual.limits.lag_bytes),
                ..safety::limits(first, pending(first, &sessions, usual.limits))
            },
            stop_timeout: first.time(Id::StopTimeout).unwrap_or(usual.stop_timeout),
            retention: retention(first),
            logs: logs::logs(first),
            masked_in_logs: logs::masked(first),
            operators: self.operators(first)?,
            missing_dictionaries: shelf.missing(),
            sessions,
            templates,
            links,
        };
        if config.durability != Durability::Memory {
            paths::check_store(self, first)?;
        }
        logs::check(self, first, &config)?;
        if let (Some(_), None) = (first.text(Id::ControlGroup), first.text(Id::ControlPath)) {
            let note = "ControlGroup requires ControlPath: without it the socket is in FileStorePath, which only the \
                 engine's own user can access"
                .to_owned();
            return Err(self.error(first, Id::ControlGroup, note));
        }
        if config.read_buffer < config.max_message {
            let note = "ReadBufferSize must be at least MaxMessageSize".to_owned();
            return Err(self.error(first, Id::ReadBufferSize, note));
        }
        if config.segment_bytes < 2 * config.max_message + (1 << 20) {
            let note =
                "JournalSegmentSize must be at least 2 times MaxMessageSize, plus 1 MiB".to_owned();
            return Err(self.error(first, Id::JournalSegmentSize, note));
        }
        super::link_config::check(self, first, &config)?;
        if config.limits.logon_bytes > config.read_buffer {
            let note = "MaxLogonSize must not be more than ReadBufferSize".to_owned();
            return Err(self.error(first, Id::MaxLogonSize, note));
        }
        Ok(config)
    }

    /// The rights of operators at the control socket. An OMS has its own table of operators.
    fn operators(&self, first: &SessionSettings) -> Result<Vec<OperatorRights>, LoadError> {
        let Some(text) = first.text(Id::ControlOperators) else {
            return Ok(Vec::new());
        };
        if !self.oms.is_empty() {
            let note = "an OMS reads its operators from [[operator]] tables: remove this key";
            return Err(self.error(first, Id::ControlOperators, note.to_owned()));
        }
        operators(text).map_err(|note| self.error(first, Id::ControlOperators, note))
    }
}

/// Limits for connections that have not sent a Logon yet. At the first start all sessions may connect from one
/// address, which the engine does not yet know to be a session's address.
fn pending(first: &SessionSettings, sessions: &[SessionConfig], usual: Limits) -> Limits {
    let size = |id| first.int(id).and_then(|value| usize::try_from(value).ok());
    let listens =
        |session: &&SessionConfig| matches!(session.connection, Connection::Acceptor { .. });
    let listening = sessions.iter().filter(listens).count();
    let pending_per_address = size(Id::MaxPendingPerAddress)
        .unwrap_or_else(|| listening.clamp(usual.pending_per_address, MOST_SESSIONS_OF_AN_ADDRESS));
    let others = usual.pending - usual.pending_per_address;
    let all = pending_per_address.saturating_add(others).min(MOST_PENDING);
    Limits {
        pending: size(Id::MaxPendingConnections).unwrap_or(all),
        pending_per_address,
        ..usual
    }
}

fn retention(from: &SessionSettings) -> Option<Retention> {
    let retention = Retention {
        keep: from.time(Id::JournalKeep).map(Nanos::from),
        resend: from.time(Id::JournalResendKeep).map(Nanos::from),
        compress: from.bool(Id::JournalCompress),
    };
    (retention != Retention::default()).then_some(retention)
}

/// Maximum default of `MaxPendingConnections`, however many sessions the file has.
const MOST_PENDING: usize = 65_536;
/// Maximum default of `MaxPendingPerAddress`, however many sessions the file has.
const MOST_SESSIONS_OF_AN_ADDRESS: usize = 4096;

/// Journal files consist of whole pages.
const PAGE: usize = 4096;

fn session_config(
    settings: &Settings,
    from: &SessionSettings,
    shelf: &mut Shelf,
    tls: &mut super::transport::Made,
    users: &mut safety::Files,
) -> Result<SessionConfig, LoadError> {
    let role = match from.text(Id::ConnectionType) {
        Some("initiator") => Role::Initiator,
        _ => Role::Acceptor,
    };
    let schedule = super::schedule::with_holidays(from)
        .map_err(|(id, note)| settings.error(from, id, note))?;
    let buffer = |id| {
        from.int(id)
            .filter(|size| *size > 0)
            .and_then(|size| size.try_into().ok())
    };
    let custom: BTreeMap<String, String> = from
        .custom
        .iter()
        .map(|custom| (custom.key.clone(), custom.value.clone()))
        .collect();
    let session = fix_config(settings, from, role, shelf)?;
    let connection = match role {
        Role::Initiator => dial(from),
        Role::Acceptor => listen(from),
    };
    let mut config = SessionConfig::new(from.name(), session, connection);
    config.validate_checksum = from.bool(Id::ValidateChecksum);
    config.nodelay = from.bool(Id::SocketNodelay);
    config.answer_panics = from.bool(Id::RejectMessageOnUnhandledException);
    config.refuse_before_logon = from.text(Id::MessagesBeforeLogon) == Some("refuse");
    config.send_buffer = buffer(Id::SocketSendBufferSize);
    config.receive_buffer = buffer(Id::SocketReceiveBufferSize);
    config.schedule = schedule;
    config.access = safety::access(settings, from, users)?;
    config.logon_signer = super::signature::logon_signer(settings, from)?;
    config.flow = safety::flow(from);
    config.transport = super::transport::transport(settings, from, tls)?;
    config.custom = custom;
    Ok(config)
}

/// The part of the configuration that is about the sessions.
fn fix_config(
    settings: &Settings,
    from: &SessionSettings,
    role: Role,
    shelf: &mut Shelf,
) -> Result<Config, LoadError> {
    let bytes = |id| from.text(id).unwrap_or_default().as_bytes().to_vec();
    let time = |id| from.time(id).unwrap_or_default();
    let begin_string = begin_string(settings, from)?;
    let dictionary = dictionary(settings, from, begin_string, shelf)?;
    let appl_dictionaries = appl_dictionaries(settings, from, begin_string, shelf)?;
    let mut session = Config::new(begin_string, role, b"", b"");
    session.own = Party {
        comp_id: bytes(Id::SenderCompID),
        sub_id: bytes(Id::SenderSubID),
        location_id: bytes(Id::SenderLocationID),
    };
    session.peer = Party {
        comp_id: bytes(Id::TargetCompID),
        sub_id: bytes(Id::TargetSubID),
        location_id: bytes(Id::TargetLocationID),
    };
    if let Some(seconds) = from
        .int(Id::HeartBtInt)
        .and_then(|value| u32::try_from(value).ok())
    {
        session.heart_bt_int_seconds = seconds;
    }
    session.default_appl_ver_id = from.text(Id::DefaultApplVerID).and_then(appl_ver_id);
    session.dictionary = dictionary;
    session.appl_dictionaries = appl_dictionaries;
    session.rules = rules(from);
    session.reject_invalid_message = from.bool(Id::RejectInvalidMessage);
    session.check_comp_id = from.bool(Id::CheckCompID);
    session.allow_on_behalf_of = from.bool(Id::AllowOnBehalfOf);
    session.max_latency = from
        .bool(Id::CheckLatency)
        .then(|| Nanos::from(time(Id::MaxLatency)));
    session.require_orig_sending_time = from.bool(Id::RequiresOrigSendingTime);
    session.reset_on = ResetOn {
        logon: from.bool(Id::ResetOnLogon),
        logout: from.bool(Id::ResetOnLogout),
        disconnect: from.bool(Id::ResetOnDisconnect),
    };
    session.logon_timeout = Nanos::from(time(Id::LogonTimeout));
    session.logout_timeout = Nanos::from(time(Id::LogoutTimeout));
    session.test_request_percent = percent(from, Id::TestRequestDelayMultiplier);
    session.give_up_percent = percent(from, Id::HeartBeatTimeoutMultiplier);
    if session.give_up_percent <= session.test_request_percent {
        let note = "HeartBeatTimeoutMultiplier must be more than TestRequestDelayMultiplier".into();
        return Err(settings.error(from, Id::HeartBeatTimeoutMultiplier, note));
    }
    session.resend_chunk = from
        .int(Id::ResendRequestChunkSize)
        .filter(|size| *size > 0);
    session.closed_resend = from.bool(Id::ClosedResendInterval);
    session.redundant_resend_requests = from.bool(Id::SendRedundantResendRequests);
    session.ignore_poss_dup_resend_requests = from.bool(Id::IgnorePossDupResendRequests);
    session.resend_rejects = from.bool(Id::ResendSessionLevelRejects);
    session.resend_messages = from.bool(Id::PersistMessages);
    session.deliver_poss_dups = from.bool(Id::DeliverPossDup);
    session.keep_own_poss_dup = from.bool(Id::AllowPosDup);
    session.reject_garbled = from.bool(Id::RejectGarbledMessage);
    session.own_heart_bt_int = from.bool(Id::HeartBtIntOverride);
    session.check_heartbeats = !from.bool(Id::DisableHeartBeatCheck);
    session.logout_for_bad_logon = from.bool(Id::SendLogoutForLogonSendingTime);
    session.heartbeat_while_probing = from.bool(Id::SendHeartbeatsDuringTestRequest);
    session.logout_before_give_up = from.bool(Id::SendLogoutBeforeDisconnectFromTimeout);
    let reset = from.bool(Id::ResetOnError);
    session.on_reject = match from.bool(Id::DisconnectOnError) {
        _ if reset => OnReject::Reset,
        true => OnReject::LogOut,
        false => OnReject::GoOn,
    };
    let most = |id, usual| {
        from.int(id)
            .and_then(|n| n.try_into().ok())
            .unwrap_or(usual)
    };
    let limits = &mut session.limits;
    limits.resend_attempts = most(Id::MaxResendAttempts, limits.resend_attempts);
    limits.same_resend_requests = most(Id::MaxSimilarResendRequests, limits.same_resend_requests);
    session.max_order_age = from.time(Id::MaxOrderAge).map(Nanos::from);
    session.next_expected_msg_seq_num = from.bool(Id::SendNextExpectedMsgSeqNum);
    session.next_expected_of_logout = from.bool(Id::UseNextExpectedMsgSeqNumOfLogout);
    session.last_msg_seq_num_processed = from.bool(Id::EnableLastMsgSeqNumProcessed);
    session.appl_ver_id_in_business_reject = from.bool(Id::ApplVerIDInBusinessReject);
    session.precision = precision(from, begin_string);
    session.username = bytes(Id::Username);
    session.password = bytes(Id::Password).into();
    session.logon_fields = from.all(Id::LogonTag).filter_map(logon_field).collect();
    Ok(session)
}

pub(super) fn listen(from: &SessionSettings) -> Connection {
    let ip = match from
        .find(Id::SocketAcceptAddress)
        .map(|setting| &setting.value)
    {
        Some(SettingValue::Ip(ip)) => *ip,
        _ => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    };
    let port = from
        .int(Id::SocketAcceptPort)
        .and_then(|port| u16::try_from(port).ok());
    Connection::Acceptor {
        listen: SocketAddr::new(ip, port.unwrap_or_default()),
    }
}

pub(super) fn dial(from: &SessionSettings) -> Connection {
    let port_of = |number| {
        let mut ports = from.all(Id::SocketConnectPort);
        match ports.find(|port| port.number == number)?.value {
            SettingValue::Int(port) => u16::try_from(port).ok(),
            _ => None,
        }
    };
    let host_of = |setting: &super::Setting| match &setting.value {
        SettingValue::Text(host) => Some((host.clone(), port_of(setting.number)?)),
        _ => None,
    };
    let reconnect = match from
        .find(Id::ReconnectInterval)
        .map(|setting| &setting.value)
    {
        Some(SettingValue::Pauses(pauses)) => pauses.clone(),
        _ => vec![Duration::from_secs(30)],
    };
    Connection::Initiator {
        hosts: from
            .all(Id::SocketConnectHost)
            .filter_map(host_of)
            .collect(),
        reconnect,
        timeout: from
            .time(Id::SocketConnectTimeout)
            .unwrap_or(Duration::from_secs(10)),
    }
}

fn rules(from: &SessionSettings) -> ValidationRules {
    ValidationRules {
        fields_out_of_order: from.bool(Id::ValidateFieldsOutOfOrder),
        fields_have_values: from.bool(Id::ValidateFieldsHaveValues),
        user_defined_fields: from.bool(Id::ValidateUserDefinedFields),
        allow_unknown_msg_fields: from.bool(Id::AllowUnknownMsgFields),
        allow_unknown_enum_values: from.bool(Id::AllowUnknownEnumValues),
        unordered_group_fields: from.bool(Id::ValidateUnorderedGroupFields),
        first_field_in_group_is_delimiter: from.bool(Id::FirstFieldInGroupIsDelimiter),
        conditional_fields: from.bool(Id::ValidateConditionalFields),
        max_group_entries: from
            .int(Id::MaxGroupEntries)
            .and_then(|most| u32::try_from(most).ok())
            .unwrap_or(ValidationRules::default().max_group_entries),
        ..ValidationRules::default()
    }
}

/// The silence limit as a percentage of the heartbeat interval. The multiplier in the settings does not count the
/// first interval, so the percentage adds it.
fn percent(from: &SessionSettings, id: Id) -> u32 {
    let thousandths = from.int(id).unwrap_or_default();
    100 + u32::try_from(thousandths / 10).unwrap_or_default()
}

fn precision(from: &SessionSettings, begin_string: BeginString) -> Precision {
    if begin_string < BeginString::Fix42 {
        return Precision::Seconds;
    }
    match from.text(Id::TimestampPrecision) {
        Some("SECONDS") => Precision::Seconds,
        Some("MICROS") => Precision::Micros,
        Some("NANOS") => Precision::Nanos,
        None if !from.bool(Id::MillisecondsInTimeStamp) => Precision::Seconds,
        _ => Precision::Millis,
    }
}

fn logon_field(setting: &super::Setting) -> Option<(Tag, Secret)> {
    match &setting.value {
        SettingValue::TagValue(tag, value) => Some((*tag, value.as_str().into())),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
