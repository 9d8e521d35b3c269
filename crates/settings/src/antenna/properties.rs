//! Every property of FIX Antenna and the way in which it is read. Each property is defined once.
//!
//! Names and defaults are from FIX Antenna's code and manual. The table in `docs/reference/settings.md` is generated
//! from this table.

use super::super::keys::{Id, KEYS};

/// A property of FIX Antenna.
#[derive(Debug)]
pub struct Property {
    /// Name of the property. A name that ends in `.` or `_` is the common prefix of several names.
    pub name: &'static str,
    /// Default in FIX Antenna, as written in its files; empty when the property has no default.
    pub default: &'static str,
    /// How the property is read.
    pub becomes: Becomes,
}

/// How a property is read.
#[derive(Debug)]
pub enum Becomes {
    /// A fixwire key.
    Key(Id, PropertyForm),
    /// A property that is read in a special way, and its description.
    Read(Special, &'static str),
    /// The property is not used.
    Nothing {
        /// Whether a file with the property is refused.
        refused: bool,
        /// The value that equals fixwire's behaviour. A property with this value is not reported.
        unless: &'static str,
        /// The reason why the property is not used, and what to do instead.
        note: &'static str,
    },
}

/// How a value is converted.
#[derive(Clone, Copy, Debug)]
pub enum PropertyForm {
    /// Unchanged.
    Same,
    /// The value is unchanged. Only this value means that the property has no value.
    Unless(&'static str),
    /// Milliseconds.
    Millis,
    /// The opposite value: `true` becomes `N`.
    Not,
    /// The value is one of these words, or a class name that ends in one of them. Each word has its fixwire value.
    Word(&'static [(&'static str, &'static str)]),
}

/// A property that is read together with others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Special {
    /// The sessions.
    Sessions,
    /// The port, for an initiator or an acceptor.
    Port,
    /// One of the parts of `ResetSeqTime`.
    ResetTime,
    /// One of the parts of `LogonTime` and `LogoutTime`.
    Hours,
    /// The first backup of this key.
    Backup(Id),
    /// The `host:port` of a further backup.
    Address,
    /// The property is read together with another one.
    Aside,
}

impl PropertyForm {
    /// Converts the value of the property to fixwire's form; empty when there is no value.
    ///
    /// # Errors
    ///
    /// The expected value, to follow the word "expected".
    pub fn convert(self, text: &str) -> Result<String, String> {
        match self {
            Self::Same => Ok(text.to_owned()),
            Self::Unless(none) if text.eq_ignore_ascii_case(none) => Ok(String::new()),
            Self::Unless(_) => Ok(text.to_owned()),
            Self::Millis => Ok(format!("{text}ms")),
            Self::Not => match text.to_ascii_lowercase().as_str() {
                "true" => Ok("N".to_owned()),
                "false" => Ok("Y".to_owned()),
                _ => Err("true or false".to_owned()),
            },
            Self::Word(words) => {
                let last = text.rsplit('.').next().unwrap_or(text);
                let found = words
                    .iter()
                    .find(|(word, _)| word.eq_ignore_ascii_case(last));
                found.map(|(_, value)| (*value).to_owned()).ok_or_else(|| {
                    let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                    words.join(" or ")
                })
            }
        }
    }
}

/// Finds a property by its name, ignoring case.
pub fn find(name: &str) -> Option<&'static Property> {
    let is = |property: &&Property| match property.name.ends_with(['.', '_']) {
        true => name
            .get(..property.name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(property.name)),
        false => property.name.eq_ignore_ascii_case(name),
    };
    PROPERTIES.iter().find(is)
}

/// FIX Antenna's default for a fixwire key, in fixwire's form. `None` when there is no default, and for the folder of
/// messages, where FIX Antenna keeps other files.
pub fn default(id: Id) -> Option<String> {
    let of_key = |property: &&Property| match property.becomes {
        Becomes::Key(key, _) => key == id && !property.default.is_empty(),
        _ => false,
    };
    let found = PROPERTIES.iter().find(of_key)?;
    match found.becomes {
        Becomes::Key(key, form) if key != Id::FileStorePath => form
            .convert(found.default)
            .ok()
            .filter(|text| !text.is_empty()),
        _ => None,
    }
}

/// How a property is read, for the table of properties.
pub fn described(property: &Property) -> String {
    match property.becomes {
        Becomes::Key(id, form) => {
            let name = KEYS[id as usize].name;
            let form = match form {
                PropertyForm::Same | PropertyForm::Unless(_) => String::new(),
                PropertyForm::Millis => ", milliseconds".to_owned(),
                PropertyForm::Not => ", the other way round".to_owned(),
                PropertyForm::Word(words) => {
                    let words: Vec<String> = words
                        .iter()
                        .map(|(there, here)| format!("`{there}` is `{here}`"))
                        .collect();
                    format!(": {}", words.join(", "))
                }
            };
            format!("`{name}`{form}")
        }
        Becomes::Read(_, what) => what.to_owned(),
        Becomes::Nothing {
            refused,
            unless,
            note,
        } => {
            let answer = if refused { "error" } else { "warning" };
            match unless {
                "" => format!("{answer}: {note}"),
                _ => format!("{answer} unless `{unless}`: {note}"),
            }
        }
    }
}

const fn key(name: &'static str, default: &'static str, id: Id, form: PropertyForm) -> Property {
    Property {
        name,
        default,
        becomes: Becomes::Key(id, form),
    }
}

const fn same(name: &'static str, default: &'static str, id: Id) -> Property {
    key(name, default, id, PropertyForm::Same)
}

const fn read(
    name: &'static str,
    default: &'static str,
    special: Special,
    what: &'static str,
) -> Property {
    Property {
        name,
        default,
        becomes: Becomes::Read(special, what),
    }
}

/// A property whose default equals fixwire's behaviour. A file with any other value is refused.
const fn refused(name: &'static str, default: &'static str, note: &'static str) -> Property {
    Property {
        name,
        default,
        becomes: Becomes::Nothing {
            refused: true,
            unless: default,
            note,
        },
    }
}

/// A property whose default equals fixwire's behaviour or is as good. Any other value gets a warning.
const fn warned(name: &'static str, default: &'static str, note: &'static str) -> Property {
    Property {
        name,
        default,
        becomes: Becomes::Nothing {
            refused: false,
            unless: default,
            note,
        },
    }
}

/// A property where a value other than its default equals fixwire's behaviour.
const fn warned_unless(
    name: &'static str,
    default: &'static str,
    unless: &'static str,
    note: &'static str,
) -> Property {
    Property {
        name,
        default,
        becomes: Becomes::Nothing {
            refused: false,
            unless,
            note,
        },
    }
}

/// A property that gets a warning for any value.
const fn idle(name: &'static str, default: &'static str, note: &'static str) -> Property {
    Property {
        name,
        default,
        becomes: Becomes::Nothing {
            refused: false,
            unless: "",
            note,
        },
    }
}

const STORES: PropertyForm = PropertyForm::Word(&[
    ("FilesystemStorageFactory", "process"),
    ("SlicedFileStorageFactory", "process"),
    ("MmfStorageFactory", "process"),
    ("InMemoryStorageFactory", "memory"),
]);
const RESETS: PropertyForm = PropertyForm::Word(&[("Never", "N"), ("Always", "Y")]);
const PRECISIONS: PropertyForm = PropertyForm::Word(&[
    ("Second", "SECONDS"),
    ("Milli", "MILLIS"),
    ("Micro", "MICROS"),
    ("Nano", "NANOS"),
]);

const OTHERWISE: &str =
    "the session would behave differently without this property: remove it, or set its default";
const FILES: &str = "the journal in FileStorePath is message store, send queue and log";
const ALWAYS: &str = "fixwire always does what `true` means";
const DETAIL: &str = "an implementation detail of FIX Antenna";
const NUMBERS: &str = "a session continues with the sequence numbers in its journal; set ResetOnLogon=Y to start at 1";
const OWN_CLASS: &str =
    "classes of FIX Antenna cannot run here: write the same behaviour in the Application";
const LOGON: &str = "set LogonTag=tag=value for each field of the Logon";
const SIGNED: &str =
    "set LogonSignature=cme, and put the access key ID and the secret key into LogonKeyFile";
const CORE: &str = "one thread runs all sessions: set Core to pin it";
const CIPHER: &str = "encryption inside FIX messages is not supported: use TLS, requireSSL=true";

/// Every property, in the order of FIX Antenna's manual.
#[rustfmt::skip]
pub static PROPERTIES: &[Property] = &[
    // Sessions.
    read("sessionIDs", "", Special::Sessions, "one `[[session]]` for each session in the list"),
    same("sessionType", "", Id::ConnectionType),
    same("senderCompID", "", Id::SenderCompID),
    same("senderSubID", "", Id::SenderSubID),
    same("senderLocationID", "", Id::SenderLocationID),
    same("targetCompID", "", Id::TargetCompID),
    same("targetSubID", "", Id::TargetSubID),
    same("targetLocationID", "", Id::TargetLocationID),
    same("sessionQualifier", "", Id::SessionQualifier),
    same("fixVersion", "FIX.4.2", Id::BeginString),
    same("appVersion", "", Id::DefaultApplVerID),
    same("heartbeatInterval", "30", Id::HeartBtInt),
    same("host", "", Id::SocketConnectHost),
    read("port", "", Special::Port, "`SocketConnectPort` of an initiator, `SocketAcceptPort` of an acceptor"),
    read("backupHost", "", Special::Backup(Id::SocketConnectHost), "`SocketConnectHost1`"),
    read("backupPort", "", Special::Backup(Id::SocketConnectPort), "`SocketConnectPort1`"),
    read("socketConnectAddress_", "", Special::Address, "`SocketConnectHost` and `SocketConnectPort`, numbered one higher than the property"),
    same("username", "", Id::Username),
    same("password", "", Id::Password),
    warned("sessionID", "", "a session is identified by its FIX version and CompIDs"),
    refused("incomingSequenceNumber", "0", NUMBERS),
    refused("outgoingSequenceNumber", "0", NUMBERS),
    refused("processedIncomingSequenceNumber", "0", NUMBERS),
    refused("inSeqNumsForNextConnect", "0", NUMBERS),
    refused("outSeqNumsForNextConnect", "0", NUMBERS),
    idle("lastSeqNumResetTimestamp", "", "the journal records when the session was last reset"),
    refused("fixMessage", "", "the application writes these fields into its messages"),
    refused("incomingLoginFixMessage", "", "set Username and Password for the expected Logon, or check its fields in the application"),
    refused("outgoingLoginFixMessage", "", LOGON),
    read("suppressSessionQualifierTagInLogonMessage", "false", Special::Aside, "a qualifier is never sent: unless `true`, a `sessionQualifier` gets a warning"),
    idle("logonMessageSessionQualifierTag", "9012", "a qualifier is never sent: set LogonTag=9012=… if the peer requires it"),
    // Connections.
    warned_unless("autoreconnectAttempts", "-1", "0", "fixwire reconnects as long as the session schedule allows"),
    key("autoreconnectDelayInMs", "1000", Id::ReconnectInterval, PropertyForm::Millis),
    refused("enableAutoSwitchToBackupConnection", "true", "fixwire tries all hosts in turn: remove backupHost to connect to one host only"),
    warned("cyclicSwitchBackupConnection", "true", "hosts are tried in turn: see HostSelectionPolicy"),
    refused("resetOnSwitchToBackup", "false", OTHERWISE),
    refused("resetOnSwitchToPrimary", "false", OTHERWISE),
    key("enableNagle", "true", Id::SocketNodelay, PropertyForm::Not),
    same("tcpSendBufferSize", "0", Id::SocketSendBufferSize),
    same("tcpReceiveBufferSize", "0", Id::SocketReceiveBufferSize),
    same("connectAddress", "", Id::SocketLocalHost),
    refused("bindIP", "", "set connectAddress for the local address of connections"),
    warned("cpuAffinity", "-1", CORE),
    warned("recvCpuAffinity", "-1", CORE),
    warned("sendCpuAffinity", "-1", CORE),
    same("maxMessageSize", "1Mb", Id::MaxMessageSize),
    // The store, the queue and the logs.
    read("fa.home", ".", Special::Aside, "value of `${fa.home}`"),
    key("storageFactory", "FilesystemStorageFactory", Id::Durability, STORES),
    same("storageDirectory", "${fa.home}/logs", Id::FileStorePath),
    same("outgoingStorageIndexed", "true", Id::PersistMessages),
    idle("incomingStorageIndexed", "false", FILES),
    idle("maxStorageSliceSize", "100Mb", "JournalSegmentSize sets the size of journal files"),
    idle("mmfStorageGrowSize", "100Mb", "JournalSegmentSize sets the size of journal files"),
    idle("mmfIndexGrowSize", "20Mb", "JournalSegmentSize sets the size of journal files"),
    idle("maxStorageGrowSize", "1Mb", "JournalSegmentSize sets the size of journal files"),
    idle("storageGrowSize", "false", "JournalSegmentSize sets the size of journal files"),
    warned("storageCleanupMode", "None", "the journal keeps the messages that a peer may request; see JournalKeep"),
    idle("storageBackupDir", "${fa.home}/logs/backup", FILES),
    idle("storageGroupedBackup", "", FILES),
    idle("incomingLogFile", "{0}.in", FILES),
    idle("outgoingLogFile", "{0}.out", FILES),
    idle("backupIncomingLogFile", "{0}-{3}.in", FILES),
    idle("backupOutgoingLogFile", "{0}-{3}.out", FILES),
    idle("backupTimestampsPrecision", "Milli", FILES),
    idle("sessionInfoFile", "{0}.properties", FILES),
    idle("outgoingQueueFile", "{0}.outq", FILES),
    warned("inMemoryQueue", "false", "set Durability=memory to keep neither queue nor store on disk"),
    idle("memoryMappedQueue", "true", FILES),
    idle("queueThresholdSize", "0", FILES),
    idle("maxMessagesToSendInBatch", "10", DETAIL),
    idle("preferredSendingMode", "sync", DETAIL),
    idle("waitForMsgQueuingDelay", "1000", DETAIL),
    warned_unless("resetQueueOnLowSequence", "true", "false", "a message with a sequence number is never dropped"),
    refused("enableMessageRejecting", "false", "a message with a sequence number is never returned to the application: it is sent after the next Logon"),
    idle("timestampsInLogs", "true", FILES),
    idle("timestampsPrecisionInLogs", "Milli", FILES),
    idle("logFilesTimeZone", "", FILES),
    idle("writeSocketAddressToLog", "false", FILES),
    idle("enableLoggingOfIncomingMessages", "", FILES),
    idle("markIncomingMessageTime", "false", DETAIL),
    idle("enableMessageStatistic", "true", DETAIL),
    same("maskedTags", "554,925", Id::RedactFieldsInLogs),
    idle("rawTags", "96,91,213,349,351,353,355,357,359,361,363,365,446,619,622", "the dictionary defines the data fields"),
    // Checks.
    same("validateCheckSum", "true", Id::ValidateChecksum),
    refused("validateGarbledMessage", "true", ALWAYS),
    same("validation", "false", Id::UseDataDictionary),
    refused("wellformenessValidation", "true", ALWAYS),
    key("allowedFieldsValidation", "true", Id::AllowUnknownMsgFields, PropertyForm::Not),
    refused("requiredFieldsValidation", "true", "the dictionary defines which fields are required: change the dictionary with a delta"),
    same("fieldOrderValidation", "true", Id::ValidateFieldsOutOfOrder),
    refused("duplicateFieldsValidation", "true", ALWAYS),
    refused("fieldTypeValidation", "true", "the dictionary defines the types of fields: change the dictionary with a delta"),
    refused("groupValidation", "true", "the dictionary defines the groups: change the dictionary with a delta, or set ValidateUnorderedGroupFields"),
    same("conditionalValidation", "true", Id::ValidateConditionalFields),
    refused("validation.", "", "convert the dictionary to QuickFIX XML, or write its changes as a delta, and set DataDictionary"),
    same("senderTargetIdConsistencyCheck", "true", Id::CheckCompID),
    same("checkSendingTimeAccuracy", "true", Id::CheckLatency),
    key("reasonableDelayInMs", "120000", Id::MaxLatency, PropertyForm::Millis),
    idle("measurementAccuracyInMs", "1", "MaxLatency is exact"),
    same("origSendingTimeChecking", "true", Id::RequiresOrigSendingTime),
    refused("ignorePossDupForGapFill", "true", ALWAYS),
    // Timers.
    idle("heartbeatReasonableTransmissionTime", "200", "set TestRequestDelayMultiplier, in heartbeat intervals"),
    warned("testRequestsNumberUponDisconnection", "1", "set HeartBeatTimeoutMultiplier, in heartbeat intervals"),
    key("loginWaitTimeout", "5000", Id::LogonTimeout, PropertyForm::Millis),
    same("logoutWaitTimeout", "", Id::LogoutTimeout),
    idle("forcedLogoffTimeout", "2", "LogoutTimeout applies to all our Logouts"),
    idle("disconnectOnLogonHeartbeatMismatch", "true", "see HeartBtInt and HeartBtIntOverride for which side sets the interval"),
    idle("readingThreadShutdownTimeout", "-1", DETAIL),
    idle("writingThreadShutdownTimeout", "-1", DETAIL),
    // Numbers.
    same("handleSeqNumAtLogon", "false", Id::SendNextExpectedMsgSeqNum),
    same("includeLastProcessed", "false", Id::EnableLastMsgSeqNumProcessed),
    key("forceSeqNumReset", "Never", Id::ResetOnLogon, RESETS),
    same("intraDaySeqNumReset", "false", Id::ResetOnDisconnect),
    read("performResetSeqNumTime", "false", Special::ResetTime, "with `true`, the next two properties set `ResetSeqTime`"),
    read("resetSequenceTime", "00:00:00", Special::ResetTime, "`ResetSeqTime`"),
    read("resetSequenceTimeZone", "UTC", Special::ResetTime, "the zone of `ResetSeqTime`"),
    refused("resetSeqNumFromFirstLogon", "Never", OTHERWISE),
    refused("ignoreResetSeqNumFlagOnReset", "false", OTHERWISE),
    refused("ignoreSeqNumTooLowAtLogon", "false", OTHERWISE),
    refused("resetThreshold", "0", OTHERWISE),
    warned("quietLogonMode", "false", "a first message other than a Logon closes the connection without a response"),
    refused("seqNumLength", "1", OTHERWISE),
    // Resending.
    refused("resendRequestNumberOfMessagesLimit", "0", OTHERWISE),
    same("maxRequestResendInBlock", "0", Id::ResendRequestChunkSize),
    idle("maxDelayToSendAfterLogon", "50", "new messages wait until the resend is complete"),
    idle("sequenceResendManagerMessageBufferSize", "32", DETAIL),
    same("allowedCountOfSimilarRR", "3", Id::MaxResendAttempts),
    refused("advancedResendRequestProcessing", "false", OTHERWISE),
    same("skipDuplicatedResendRequests", "false", Id::IgnorePossDupResendRequests),
    key("possDupSmartDelivery", "false", Id::DeliverPossDup, PropertyForm::Not),
    key("switchOffSendingMultipleResendRequests", "false", Id::SendRedundantResendRequests, PropertyForm::Not),
    refused("enhancedCmeResendLogic", "false", OTHERWISE),
    // Limits.
    refused("throttleCheckingEnabled", "false", "rate limits by message type are not supported: set InboundRate and InboundExcess"),
    idle("throttleCheckingPeriod", "1000", "set InboundRate"),
    idle("throttleChecking.", "-1", "set InboundRate"),
    warned("slowConsumerDetectionEnabled", "false", "an event reports a slow peer; see SlowConsumerTimeout"),
    idle("slowConsumerWriteDelayThreshold", "10", "see SlowConsumerTimeout"),
    // Times.
    key("timestampsPrecisionInTags", "Milli", Id::TimestampPrecision, PRECISIONS),
    refused("allowedSecondsFractionsForFIX40", "false", OTHERWISE),
    read("tradePeriodBegin", "", Special::Hours, "`LogonTime` and `LogonDay`, if the cron expression has one time a day or a week"),
    read("tradePeriodEnd", "", Special::Hours, "`LogoutTime` and `LogoutDay`, if the cron expression has one time a day or a week"),
    read("tradePeriodTimeZone", "UTC", Special::Hours, "the zone of `LogonTime` and `LogoutTime`"),
    // Acceptors.
    warned_unless("serverAcceptorStrategy", "AllowNonRegisteredAcceptorStrategyHandler", "DenyNonRegisteredAcceptorStrategyHandler", "only configured sessions may log on; set DynamicSessions=Y or AcceptorTemplate=Y to accept others"),
    idle("autostart.acceptor.", "", "administration sessions are not supported: use the Handle or `fixwire session`"),
    warned("sendRejectIfApplicationIsNotAvailable", "true", "the application is always available"),
    // TLS and encryption.
    same("requireSSL", "false", Id::SocketUseSSL),
    same("enableSSL", "false", Id::SocketUseSSL),
    refused("sslPort", "", "set port, and requireSSL=true"),
    key("sslProtocol", "None", Id::EnabledProtocols, PropertyForm::Unless("None")),
    same("sslCertificate", "", Id::SocketKeyStore),
    same("sslCertificatePassword", "", Id::SocketKeyStorePassword),
    same("sslValidatePeerCertificate", "true", Id::SSLValidateCertificates),
    warned_unless("sslCheckCertificateRevocation", "true", "false", "revocation lists are not downloaded: set CertificateRevocationListFile"),
    same("sslCaCertificate", "", Id::SocketCAFile),
    same("sslServerName", "", Id::SocketServerName),
    refused("encryptionMode", "None", CIPHER),
    idle("encryptionConfig", "${fa.home}/encryption/encryption.cfg", CIPHER),
    refused("logonCustomizationStrategy", "none", LOGON),
    refused("cmeSecureKeysFile", "", SIGNED),
    // Extensions.
    refused("customFixVersions", "", "set DataDictionary to the file of the dictionary"),
    refused("customFixVersion.", "", "set DataDictionary to the file of the dictionary"),
    refused("sessionSequenceManager", "", OWN_CLASS),
    refused("system.messagehandler.", "", OWN_CLASS),
    refused("user.messagehandler.", "", OWN_CLASS),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_that_is_taken_is_a_value() {
        let mut taken = 0;
        for key in KEYS {
            let Some(text) = default(key.id) else {
                continue;
            };
            assert!(key.kind.parse(&text).is_ok(), "{}={text}", key.name);
            taken += 1;
        }
        assert!(taken > 25, "{taken}");
    }

    #[test]
    fn no_property_is_defined_twice_or_hidden_by_another() {
        for property in PROPERTIES {
            let found = find(&property.name.to_uppercase()).unwrap();
            assert!(std::ptr::eq(found, property), "{}", property.name);
        }
        assert_eq!(find("throttleChecking.D.threshold").unwrap().default, "-1");
        assert!(find("nonsense").is_none());
    }
}
