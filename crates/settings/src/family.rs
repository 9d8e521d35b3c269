//! Every key of the QuickFIX family: the engines that have it, and its default in each.
//!
//! [`super::keys`] and [`super::elsewhere`] define how fixwire treats a key. This list has all keys that a file may
//! contain. Names and defaults are from the engines' code, not from their manuals.

use super::dialect::Dialect;

/// A key in the form in which the engines of the family have it.
#[derive(Debug)]
pub struct FamilyKey {
    /// Name of the key, without its suffix.
    pub name: &'static str,
    /// The part after the name: a number, or a version.
    pub suffix: Suffix,
    /// The letters of the engines that have the key.
    dialects: &'static str,
    /// Default of the key, as written in a file; empty when the key has no default.
    default: &'static str,
    /// The letter of an engine whose default differs, and that default.
    but: Option<(char, &'static str)>,
    /// The unit of a number: `s`, `ms`, `bytes` or `messages`; empty for other values.
    pub unit: &'static str,
}

/// The part after the name of a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Suffix {
    /// No suffix.
    Nothing,
    /// A number: `SocketConnectHost1`.
    Number,
    /// A dot and a version: `AppDataDictionary.FIX.4.4`.
    Version,
}

impl FamilyKey {
    /// Whether an engine has the key.
    pub fn is_in(&self, dialect: Dialect) -> bool {
        dialect
            .letter()
            .is_some_and(|letter| self.dialects.contains(letter))
    }

    /// The engines that have the key.
    pub fn engines(&self) -> impl Iterator<Item = Dialect> {
        Dialect::FAMILY
            .into_iter()
            .filter(|dialect| self.is_in(*dialect))
    }

    /// The value that the engine uses when the key is missing. `None` when the key has no default or the engine does
    /// not have the key.
    pub fn default(&self, dialect: Dialect) -> Option<&'static str> {
        let text = match self.but {
            Some((letter, other)) if Some(letter) == dialect.letter() => other,
            _ => self.default,
        };
        (self.is_in(dialect) && !text.is_empty()).then_some(text)
    }

    const fn but(mut self, letter: char, other: &'static str) -> Self {
        self.but = Some((letter, other));
        self
    }

    const fn number(mut self) -> Self {
        self.suffix = Suffix::Number;
        self
    }

    const fn version(mut self) -> Self {
        self.suffix = Suffix::Version;
        self
    }
}

const fn key(
    name: &'static str,
    dialects: &'static str,
    default: &'static str,
    unit: &'static str,
) -> FamilyKey {
    FamilyKey {
        name,
        suffix: Suffix::Nothing,
        dialects,
        default,
        but: None,
        unit,
    }
}

/// Finds a key in any case, with or without its suffix. A key in exactly this case comes first, because two engines
/// have names that differ only in case.
pub fn find(text: &str) -> Option<&'static FamilyKey> {
    let all = || like(text);
    all()
        .find(|key| text.starts_with(key.name))
        .or_else(|| all().next())
}

/// Whether an engine reads a key of this name.
pub fn is_read(text: &str, dialect: Dialect) -> bool {
    like(text).any(|key| key.is_in(dialect) && (dialect.any_case() || text.starts_with(key.name)))
}

/// The keys with this name in any case.
fn like(text: &str) -> impl Iterator<Item = &'static FamilyKey> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let version = text.split('.').next().unwrap_or(text);
    FAMILY.iter().filter(move |key| {
        let stem = match key.suffix {
            Suffix::Nothing => text,
            Suffix::Number => number,
            Suffix::Version => version,
        };
        key.name.eq_ignore_ascii_case(stem)
    })
}

/// A key that no engine reads, but that a sample application of an engine reads.
#[derive(Debug, Eq, PartialEq)]
pub struct SampleKey {
    /// Name of the key.
    pub name: &'static str,
    /// The engine.
    pub dialect: Dialect,
    /// The name of the sample application.
    pub application: &'static str,
}

/// Finds a key of a sample application, in any case.
pub fn sample(text: &str) -> Option<&'static SampleKey> {
    SAMPLES
        .iter()
        .find(|key| key.name.eq_ignore_ascii_case(text))
}

const fn of_executor(name: &'static str) -> SampleKey {
    SampleKey {
        name,
        dialect: Dialect::QuickFixJ,
        application: "Executor",
    }
}

/// Keys of sample applications. The samples of QuickFIX (C++), QuickFIX/Go and QuickFIX/n have no special keys.
pub static SAMPLES: &[SampleKey] = &[
    of_executor("ValidOrderTypes"),
    of_executor("DefaultMarketPrice"),
    of_executor("AlwaysFillLimitOrders"),
];

/// Every key of the family, in the order of the engines' manuals.
#[rustfmt::skip]
pub static FAMILY: &[FamilyKey] = &[
    // Sessions.
    key("BeginString", "CJGN", "", ""),
    key("SenderCompID", "CJGN", "", ""),
    key("TargetCompID", "CJGN", "", ""),
    key("SenderSubID", "JGN", "", ""),
    key("SenderLocationID", "JGN", "", ""),
    key("TargetSubID", "JGN", "", ""),
    key("TargetLocationID", "JGN", "", ""),
    key("SessionQualifier", "CJGN", "", ""),
    key("DefaultApplVerID", "CJGN", "", ""),
    key("ConnectionType", "CJN", "", ""),
    key("Username", "CJGN", "", ""),
    key("Password", "CJGN", "", ""),
    key("StartTime", "CJGN", "", ""),
    key("EndTime", "CJGN", "", ""),
    key("StartDay", "CJGN", "", ""),
    key("EndDay", "CJGN", "", ""),
    key("LogonTime", "C", "", ""),
    key("LogoutTime", "C", "", ""),
    key("LogonDay", "C", "", ""),
    key("LogoutDay", "C", "", ""),
    key("UseLocalTime", "CN", "N", ""),
    key("TimeZone", "JGN", "UTC", ""),
    key("Weekdays", "JGN", "", ""),
    key("NonStopSession", "CJN", "N", ""),
    key("ResetSeqTime", "G", "", ""),
    key("MillisecondsInTimeStamp", "C", "Y", ""),
    key("TimestampPrecision", "CN", "3", "digits").but('N', "Millisecond"),
    key("TimeStampPrecision", "JG", "MILLIS", ""),
    key("ResetOnLogon", "CJGN", "N", ""),
    key("ResetOnLogout", "CJGN", "N", ""),
    key("ResetOnDisconnect", "CJGN", "N", ""),
    key("ResetOnError", "J", "N", ""),
    key("DisconnectOnError", "J", "N", ""),
    key("RefreshOnLogon", "CJGN", "N", ""),
    key("SendResetSeqNumFlag", "C", "", ""),
    key("SendRedundantResendRequests", "CJN", "N", ""),
    key("ClosedResendInterval", "J", "N", ""),
    key("ResendRequestChunkSize", "JG", "0", "messages"),
    key("MaxMessagesInResendRequest", "N", "0", "messages"),
    key("SendNextExpectedMsgSeqNum", "C", "N", ""),
    key("EnableNextExpectedMsgSeqNum", "JG", "N", ""),
    key("EnableLastMsgSeqNumProcessed", "JGN", "N", ""),
    key("ForceResendWhenCorruptedStore", "J", "N", ""),
    key("ResendSessionLevelRejects", "N", "N", ""),
    key("IgnorePossDupResendRequests", "N", "N", ""),
    key("AllowPosDup", "J", "N", ""),
    key("RequiresOrigSendingTime", "JN", "Y", ""),
    key("CmeEnhancedResend", "N", "N", ""),
    key("PersistMessages", "CJGN", "Y", ""),
    key("UseDataDictionary", "CJN", "Y", ""),
    key("DataDictionary", "CJGN", "", ""),
    key("TransportDataDictionary", "CJGN", "", ""),
    key("AppDataDictionary", "CJGN", "", "").version(),
    key("ValidateFieldsOutOfOrder", "CJGN", "Y", ""),
    key("ValidateFieldsHaveValues", "CJGN", "Y", ""),
    key("ValidateUserDefinedFields", "CJGN", "Y", ""),
    key("ValidateLengthAndChecksum", "CN", "Y", ""),
    key("ValidateChecksum", "J", "Y", ""),
    key("ValidateIncomingMessage", "J", "Y", ""),
    key("ValidateUnorderedGroupFields", "J", "Y", ""),
    key("ValidateSequenceNumbers", "J", "Y", ""),
    key("FirstFieldInGroupIsDelimiter", "J", "N", ""),
    key("AllowUnknownMsgFields", "CJGN", "N", ""),
    key("AllowUnknownEnumValues", "JN", "N", ""),
    key("PreserveMessageFieldsOrder", "C", "N", ""),
    key("RejectInvalidMessage", "JG", "Y", ""),
    key("RejectGarbledMessage", "J", "N", ""),
    key("RejectMessageOnUnhandledException", "J", "N", ""),
    key("CheckCompID", "CJ", "Y", ""),
    key("CheckLatency", "CJGN", "Y", ""),
    key("MaxLatency", "CJGN", "120", "s"),
    key("HeartBtInt", "CJGN", "", "s"),
    key("HeartBtIntOverride", "G", "N", ""),
    key("DisableHeartBeatCheck", "J", "N", ""),
    key("TestRequestDelayMultiplier", "J", "0.5", "intervals"),
    key("HeartBeatTimeoutMultiplier", "J", "1.4", "intervals"),
    key("LogonTimeout", "CJGN", "10", "s"),
    key("LogoutTimeout", "CJGN", "2", "s"),
    key("SendLogoutBeforeDisconnectFromTimeout", "N", "N", ""),
    key("LogonTag", "J", "", "").number(),
    key("ReconnectInterval", "CJGN", "30", "s"),
    key("ContinueInitializationOnError", "J", "N", ""),
    key("LogMessageWhenSessionNotFound", "J", "Y", ""),
    key("DynamicSession", "J", "N", ""),
    key("AcceptorTemplate", "J", "N", ""),
    key("DynamicSessions", "G", "N", ""),
    key("DynamicQualifier", "G", "N", ""),
    key("Description", "J", "", ""),
    key("JndiContextFactory", "J", "", ""),
    key("JndiProviderURL", "J", "", ""),
    key("InChanCapacity", "G", "1", "messages"),
    key("MaxScheduledWriteRequests", "J", "0", "writes"),
    key("HttpAcceptPort", "C", "", ""),
    key("Encoding", "N", "iso-8859-1", ""),
    key("RedactFieldsInLogs", "N", "", "tags"),
    key("RedactionLogText", "N", "<redacted>", ""),
    // Keys for sockets, TLS and proxies.
    key("SocketConnectHost", "CJGN", "", "").number(),
    key("SocketConnectPort", "CJGN", "", "").number(),
    key("SocketConnectProtocol", "J", "TCP", "").number(),
    key("SocketAcceptProtocol", "J", "TCP", ""),
    key("SocketConnectTimeout", "J", "60", "s"),
    key("SocketConnectSourceHost", "C", "", "").number(),
    key("SocketConnectSourcePort", "C", "", "").number(),
    key("SocketLocalHost", "J", "", ""),
    key("SocketLocalPort", "J", "", ""),
    key("HostSelectionPolicy", "C", "ROUNDROBIN", ""),
    key("HostSelectionPolicyPriorityStartOverInterval", "C", "120", "s"),
    key("SocketAcceptPort", "CJGN", "", ""),
    key("SocketAcceptAddress", "J", "", ""),
    key("SocketAcceptHost", "GN", "", ""),
    key("AllowedRemoteAddresses", "CJ", "", ""),
    key("SocketNodelay", "CN", "Y", "").but('C', "N"),
    key("SocketTcpNoDelay", "J", "Y", ""),
    key("SocketReuseAddress", "CJ", "Y", ""),
    key("SocketSendBufferSize", "CJN", "0", "bytes"),
    key("SocketReceiveBufferSize", "CJN", "0", "bytes"),
    key("SocketKeepAlive", "J", "", ""),
    key("SocketOobInline", "J", "", ""),
    key("SocketLinger", "J", "", ""),
    key("SocketTrafficClass", "J", "", ""),
    key("SocketSynchronousWrites", "J", "N", ""),
    key("SocketSynchronousWriteTimeout", "J", "30000", "ms"),
    key("SocketTimeout", "G", "0", "s"),
    key("SocketSendTimeout", "N", "0", "ms"),
    key("SocketReceiveTimeout", "N", "0", "ms"),
    key("SocketIgnoreProxy", "N", "N", ""),
    key("UseTCPProxy", "G", "N", ""),
    key("ProxyType", "JG", "", ""),
    key("ProxyHost", "JG", "", ""),
    key("ProxyPort", "JG", "", ""),
    key("ProxyUser", "JG", "", ""),
    key("ProxyPassword", "JG", "", ""),
    key("ProxyVersion", "J", "", ""),
    key("ProxyDomain", "J", "", ""),
    key("ProxyWorkstation", "J", "", ""),
    key("SocketUseSSL", "JG", "N", ""),
    key("SocketKeyStore", "J", "", ""),
    key("SocketKeyStorePassword", "J", "", ""),
    key("KeyManagerFactoryAlgorithm", "J", "SunX509", ""),
    key("KeyStoreType", "J", "JKS", ""),
    key("SocketTrustStore", "J", "", ""),
    key("SocketTrustStorePassword", "J", "", ""),
    key("TrustManagerFactoryAlgorithm", "J", "PKIX", ""),
    key("TrustStoreType", "J", "JKS", ""),
    key("NeedClientAuth", "J", "N", ""),
    key("EnabledProtocols", "J", "", ""),
    key("CipherSuites", "J", "", ""),
    key("EndpointIdentificationAlgorithm", "J", "", ""),
    key("UseSNI", "J", "N", ""),
    key("SNIHostName", "J", "", ""),
    key("SocketPrivateKeyFile", "G", "", ""),
    key("SocketCertificateFile", "G", "", ""),
    key("SocketCAFile", "G", "", ""),
    key("SocketPrivateKeyBytes", "G", "", ""),
    key("SocketCertificateBytes", "G", "", ""),
    key("SocketCABytes", "G", "", ""),
    key("SocketInsecureSkipVerify", "G", "N", ""),
    key("SocketServerName", "G", "", ""),
    key("SocketMinimumTLSVersion", "G", "TLS12", ""),
    key("SSLProtocol", "C", "all -SSLv2", ""),
    key("SSLCipherSuite", "C", "HIGH:!RC4", ""),
    key("TLSCipherSuites", "C", "", ""),
    key("CertificationAuthoritiesFile", "C", "", ""),
    key("CertificationAuthoritiesDirectory", "C", "", ""),
    key("CertificateRevocationListFile", "C", "", ""),
    key("CertificateRevocationListDirectory", "C", "", ""),
    key("CertificateVerifyLevel", "C", "0", ""),
    key("ServerCertificateFile", "C", "", ""),
    key("ServerCertificateKeyFile", "C", "", ""),
    key("ClientCertificateFile", "C", "", ""),
    key("ClientCertificateKeyFile", "C", "", ""),
    key("SSLEnable", "N", "N", ""),
    key("SSLServerName", "N", "", ""),
    key("SSLProtocols", "N", "", ""),
    key("SSLValidateCertificates", "N", "Y", ""),
    key("SSLCheckCertificateRevocation", "N", "Y", ""),
    key("SSLCertificate", "N", "", ""),
    key("SSLCertificatePassword", "N", "", ""),
    key("SSLCACertificate", "N", "", ""),
    key("SSLRequireClientCertificate", "N", "Y", ""),
    // Stores and logs.
    key("FileStorePath", "CJGN", "", ""),
    key("FileStoreSync", "JG", "N", "").but('G', "Y"),
    key("FileStoreMaxCachedMsgs", "J", "10000", "messages"),
    key("FileLogPath", "CJGN", "", ""),
    key("FileLogBackupPath", "C", "", ""),
    key("FileLogHeartbeats", "J", "Y", ""),
    key("FileIncludeMilliseconds", "J", "N", ""),
    key("FileIncludeTimeStampForMessages", "J", "N", ""),
    key("ScreenLogShowIncoming", "CJ", "Y", ""),
    key("ScreenLogShowOutgoing", "CJ", "Y", ""),
    key("ScreenLogShowEvents", "CJ", "Y", ""),
    key("ScreenLogShowHeartBeats", "J", "Y", ""),
    key("ScreenIncludeMilliseconds", "J", "N", ""),
    key("SLF4JLogEventCategory", "J", "quickfixj.event", ""),
    key("SLF4JLogErrorEventCategory", "J", "quickfixj.errorEvent", ""),
    key("SLF4JLogIncomingMessageCategory", "J", "quickfixj.msg.incoming", ""),
    key("SLF4JLogOutgoingMessageCategory", "J", "quickfixj.msg.outgoing", ""),
    key("SLF4JLogPrependSessionID", "J", "Y", ""),
    key("SLF4JLogHeartbeats", "J", "Y", ""),
    key("MySQLStoreUseConnectionPool", "C", "N", ""),
    key("PostgreSQLStoreUseConnectionPool", "C", "N", ""),
    key("MySQLLogUseConnectionPool", "C", "N", ""),
    key("PostgreSQLLogUseConnectionPool", "C", "N", ""),
    key("MySQLStoreDatabase", "C", "quickfix", ""),
    key("PostgreSQLStoreDatabase", "C", "quickfix", ""),
    key("MySQLLogDatabase", "C", "quickfix", ""),
    key("PostgreSQLLogDatabase", "C", "quickfix", ""),
    key("MySQLStoreUser", "C", "root", ""),
    key("MySQLLogUser", "C", "root", ""),
    key("PostgreSQLStoreUser", "C", "postgres", ""),
    key("PostgreSQLLogUser", "C", "postgres", ""),
    key("MySQLStorePassword", "C", "", ""),
    key("PostgreSQLStorePassword", "C", "", ""),
    key("MySQLLogPassword", "C", "", ""),
    key("PostgreSQLLogPassword", "C", "", ""),
    key("MySQLStoreHost", "C", "localhost", ""),
    key("PostgreSQLStoreHost", "C", "localhost", ""),
    key("MySQLLogHost", "C", "localhost", ""),
    key("PostgreSQLLogHost", "C", "localhost", ""),
    key("MySQLStorePort", "C", "3306", ""),
    key("PostgreSQLStorePort", "C", "0", ""),
    key("MySQLLogPort", "C", "0", ""),
    key("PostgreSQLLogPort", "C", "0", ""),
    key("OdbcStoreUser", "C", "sa", ""),
    key("OdbcLogUser", "C", "sa", ""),
    key("OdbcStorePassword", "C", "", ""),
    key("OdbcLogPassword", "C", "", ""),
    key("OdbcStoreConnectionString", "C", "DATABASE=quickfix;DRIVER={SQL Server};SERVER=(local);", ""),
    key("OdbcLogConnectionString", "C", "DATABASE=quickfix;DRIVER={SQL Server};SERVER=(local);", ""),
    key("MySQLLogIncomingTable", "C", "messages_log", ""),
    key("MySQLLogOutgoingTable", "C", "messages_log", ""),
    key("PostgreSQLLogIncomingTable", "C", "messages_log", ""),
    key("PostgreSQLLogOutgoingTable", "C", "messages_log", ""),
    key("OdbcLogIncomingTable", "C", "messages_log", ""),
    key("OdbcLogOutgoingTable", "C", "messages_log", ""),
    key("MySQLLogEventTable", "C", "event_log", ""),
    key("PostgreSQLLogEventTable", "C", "event_log", ""),
    key("OdbcLogEventTable", "C", "event_log", ""),
    key("JdbcDataSourceName", "J", "", ""),
    key("JdbcDriver", "J", "", ""),
    key("JdbcURL", "J", "", ""),
    key("JdbcUser", "J", "", ""),
    key("JdbcPassword", "J", "", ""),
    key("JdbcStoreMessagesTableName", "J", "messages", ""),
    key("JdbcStoreSessionsTableName", "J", "sessions", ""),
    key("JdbcLogHeartBeats", "J", "Y", ""),
    key("JdbcLogIncomingTable", "J", "messages_log", ""),
    key("JdbcLogOutgoingTable", "J", "messages_log", ""),
    key("JdbcLogEventTable", "J", "event_log", ""),
    key("JdbcSessionIdDefaultPropertyValue", "J", "", ""),
    key("JdbcMaxActiveConnection", "J", "32", "connections"),
    key("JdbcMinIdleConnection", "J", "", "connections"),
    key("JdbcMaxConnectionLifeTime", "J", "28800000", "ms"),
    key("JdbcConnectionTimeout", "J", "250", "ms"),
    key("JdbcConnectionIdleTimeout", "J", "600000", "ms"),
    key("JdbcConnectionKeepaliveTime", "J", "0", "ms"),
    key("JdbcConnectionTestQuery", "J", "", ""),
    key("SleepycatDatabaseDir", "J", "", ""),
    key("SleepycatSequenceDbName", "J", "", ""),
    key("SleepycatMessageDbName", "J", "", ""),
    key("SQLStoreDriver", "G", "", ""),
    key("SQLStoreDataSourceName", "G", "", ""),
    key("SQLStoreConnMaxLifetime", "G", "0", "s"),
    key("SQLStoreMessagesTableName", "G", "messages", ""),
    key("SQLStoreSessionsTableName", "G", "sessions", ""),
    key("SQLLogDriver", "G", "", ""),
    key("SQLLogDataSourceName", "G", "", ""),
    key("SQLLogConnMaxLifetime", "G", "0", "s"),
    key("MongoStoreConnection", "G", "", ""),
    key("MongoStoreDatabase", "G", "", ""),
    key("MongoStoreReplicaSet", "G", "", ""),
    key("MongoLogConnection", "G", "", ""),
    key("MongoLogDatabase", "G", "", ""),
    key("MongoLogReplicaSet", "G", "", ""),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_with_what_follows_them() {
        let name = |text| find(text).map(|key| key.name);
        assert_eq!(name("socketconnectHOST12"), Some("SocketConnectHost"));
        assert_eq!(name("AppDataDictionary.FIX.4.4"), Some("AppDataDictionary"));
        assert_eq!(name("HeartBtInt1"), None);
        assert_eq!(name("Durability"), None);
    }

    #[test]
    fn case_tells_two_keys_apart_only_where_it_matters() {
        let read = |text| Dialect::FAMILY.map(|dialect| is_read(text, dialect));
        assert_eq!(read("TimestampPrecision"), [true, false, false, true]);
        assert_eq!(read("TimeStampPrecision"), [true, true, true, true]);
        assert_eq!(read("timestampprecision"), [true, false, false, true]);
        assert_eq!(find("TimeStampPrecision").unwrap().unit, "");
    }

    #[test]
    fn a_default_is_one_engines() {
        let nodelay = find("SocketNodelay").unwrap();
        assert_eq!(nodelay.default(Dialect::QuickFix), Some("N"));
        assert_eq!(nodelay.default(Dialect::QuickFixN), Some("Y"));
        assert_eq!(nodelay.default(Dialect::QuickFixJ), None);
        let sync = find("FileStoreSync").unwrap();
        assert_eq!(sync.default(Dialect::QuickFixGo), Some("Y"));
        assert_eq!(sync.default(Dialect::QuickFixJ), Some("N"));
        assert_eq!(find("HeartBtInt").unwrap().default(Dialect::QuickFix), None);
    }
}
