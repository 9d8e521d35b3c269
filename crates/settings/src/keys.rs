//! Every key that fixwire uses. Each key is defined once.
//!
//! To change a default, a bound or a text, change it here and run `UPDATE=1 cargo test -p fixwire-settings`, which
//! rewrites `docs/reference/settings.md`. A new key needs no other list; the page has the order of this file. A key for
//! one role only has no separate scope: `rules.rs` rejects it in the other role.

use super::kinds::*;
use super::registry::{ForeignName, Key, KeyScope, numbered, scope};
use super::value::ValueKind;

/// Makes [`Id`] and [`KEYS`] from one list. An entry has the help text, then
/// `Name [names elsewhere: whose], kind, default, scope;`. In `whose`, C is QuickFIX (C++), J is QuickFIX/J, G is
/// QuickFIX/Go and N is QuickFIX/n. A key with `[]` exists only in fixwire. The scope is `Engine`, `Session` or, for
/// a key that a number may follow, `Numbered`.
macro_rules! keys {
    ($(
        $(#[doc = $doc:literal])+
        $id:ident [$($other:literal: $dialects:literal),*], $kind:expr, $default:expr, $scope:ident;
    )+) => {
        /// Identifies a key that fixwire uses. The number of an id is the position of the key in [`KEYS`].
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Id {
            $( $(#[doc = $doc])+ $id, )+
        }

        /// Every key that fixwire uses, in the order of the reference page.
        pub static KEYS: &[Key] = &[$(
            Key {
                id: Id::$id,
                name: stringify!($id),
                names: &[$( ForeignName { name: $other, dialects: $dialects } ),*],
                kind: $kind,
                default: $default,
                scope: scope!($scope),
                numbered: numbered!($scope),
                doc: concat!($($doc, "\n"),+),
            },
        )+];
    };
}

keys! {
    /// FIX version of the session. With `FIXT.1.1`, `DefaultApplVerID` is the version of its application
    /// messages.
    BeginString ["BeginString": "CJGN"], BEGIN_STRINGS, None, Session;
    /// Our CompID: SenderCompID(49) of outgoing messages.
    SenderCompID ["SenderCompID": "CJGN"], ValueKind::Text, None, Session;
    /// The counterparty's CompID: TargetCompID(56) of outgoing messages.
    TargetCompID ["TargetCompID": "CJGN"], ValueKind::Text, None, Session;
    /// SenderSubID(50) of outgoing messages; part of the session's identity.
    SenderSubID ["SenderSubID": "JGN"], ValueKind::Text, None, Session;
    /// SenderLocationID(142) of outgoing messages; part of the session's identity.
    SenderLocationID ["SenderLocationID": "JGN"], ValueKind::Text, None, Session;
    /// TargetSubID(57) of outgoing messages; part of the session's identity.
    TargetSubID ["TargetSubID": "JGN"], ValueKind::Text, None, Session;
    /// TargetLocationID(143) of outgoing messages; part of the session's identity.
    TargetLocationID ["TargetLocationID": "JGN"], ValueKind::Text, None, Session;
    /// Distinguishes sessions with the same identity. Never sent.
    SessionQualifier ["SessionQualifier": "CJGN"], ValueKind::Text, None, Session;
    /// Name of the session in the rules and tables of a gateway; it must be unique. The journal and the logs use the
    /// session's identity, not this name; a gateway stores orders under this name. Without this key the name is the
    /// identity, such as `FIX.4.2:BROKER->CLIENT`. In a section with `AcceptorTemplate`, one `*` in the name stands for
    /// the TargetCompID of each session that a Logon creates.
    SessionName [], ValueKind::SessionName, None, Session;
    /// DefaultApplVerID(1137), required with `BeginString=FIXT.1.1`: `FIX.5.0SP2`, `FIX50SP2` or `9`. The
    /// dictionary of `FIX.Latest` is not built in: name its file in `AppDataDictionary`.
    DefaultApplVerID ["DefaultApplVerID": "CJGN"], APPL_VERSIONS, None, Session;
    /// An `initiator` connects to its counterparty, an `acceptor` listens for it.
    ConnectionType ["ConnectionType": "CJN"], ROLES, None, Session;

    /// HeartBtInt(108) in seconds: the session sends a Heartbeat when it has sent no other message for this time.
    /// Required for an initiator; an acceptor uses the value of the peer's Logon. 0 disables Heartbeats.
    HeartBtInt ["HeartBtInt": "CJGN"], ValueKind::Int { min: 0, max: 3600, unit: "seconds" }, None, Session;
    /// Start of the session, every day or on `StartDay`: sequence numbers reset, and logon is allowed until
    /// `EndTime`. Without `StartTime` and `EndTime` the session never ends. A time may name its own time
    /// zone. See [schedules.md](schedules.md).
    StartTime ["StartTime": "CJGN"], ValueKind::TimeOfDay, None, Session;
    /// End of the session. When `EndTime` equals `StartTime`, the session lasts a whole day, or a whole week.
    EndTime ["EndTime": "CJGN"], ValueKind::TimeOfDay, None, Session;
    /// Day on which a weekly session starts; requires `EndDay`.
    StartDay ["StartDay": "CJGN"], ValueKind::Day, None, Session;
    /// Day on which a weekly session ends; requires `StartDay`.
    EndDay ["EndDay": "CJGN"], ValueKind::Day, None, Session;
    /// Days on which a daily session starts, in the time zone of `StartTime`. Without this key the session starts every
    /// day.
    Weekdays ["Weekdays": "JGN"], ValueKind::Days, None, Session;
    /// Time zone of all times that do not name their own: a name such as `Europe/London`, an offset such as `+08:00`,
    /// or `Local` for the zone of the machine. Files of QuickFIX/n may have zone names of Windows (`Eastern Standard
    /// Time`). Without this key the zone is UTC.
    TimeZone ["TimeZone": "JGN"], ValueKind::Text, None, Session;
    /// Times are in the time zone of the machine: the same as `TimeZone=Local`.
    UseLocalTime ["UseLocalTime": "CN"], ValueKind::Bool, Some("N"), Session;
    /// The session never ends; `StartTime`, `EndTime`, `StartDay`, `EndDay` and `Weekdays` are ignored. Without this
    /// key the value is `Y` if the session has no `StartTime`.
    NonStopSession ["NonStopSession": "CJN"], ValueKind::Bool, None, Session;
    /// Earliest time, within the session, at which logon is allowed. Without this key the value is `StartTime`.
    LogonTime ["LogonTime": "C"], ValueKind::TimeOfDay, None, Session;
    /// Time, within the session, after which logon is no longer allowed. Without this key the value is `EndTime`.
    /// Sequence numbers continue at the next logon.
    LogoutTime ["LogoutTime": "C"], ValueKind::TimeOfDay, None, Session;
    /// Day of `LogonTime`. Without this key the value is `StartDay`; without `StartDay`, every day.
    LogonDay ["LogonDay": "C"], ValueKind::Day, None, Session;
    /// Day of `LogoutTime`. Without this key the value is `EndDay`; without `EndDay`, every day.
    LogoutDay ["LogoutDay": "C"], ValueKind::Day, None, Session;
    /// Time of the daily sequence reset: a session that is logged on then sends a Logon with
    /// ResetSeqNumFlag(141). A session that is not logged on does nothing.
    ResetSeqTime ["ResetSeqTime": "G"], ValueKind::TimeOfDay, None, Session;
    /// Dates without a session, in the time zone of `StartTime`. A daily session that started the day
    /// before runs to its end; a weekly or non-stop session is closed from midnight to midnight.
    Holidays [], ValueKind::Dates, None, Session;
    /// File with more holidays, one on each line or separated by commas; `#` starts a comment.
    HolidayFile [], ValueKind::Path, None, Session;

    /// An acceptor uses its own `HeartBtInt` and ignores HeartBtInt(108) of the peer's Logon.
    HeartBtIntOverride ["HeartBtIntOverride": "G"], ValueKind::Bool, Some("N"), Session;

    /// Port to listen on. Sessions may share a port: the Logon identifies the session.
    SocketAcceptPort ["SocketAcceptPort": "CJGN"], ValueKind::Port, None, Session;
    /// Address to listen on: `127.0.0.1`, `::1`, `0.0.0.0` for every IPv4 address, `::` for every address.
    SocketAcceptAddress ["SocketAcceptAddress": "J", "SocketAcceptHost": "GN"], ValueKind::Ip,
        Some("0.0.0.0"), Session;
    /// Host to connect to. Numbered keys (`SocketConnectHost1`) name backup hosts, which an initiator tries one after
    /// the other when a connection fails. Each host uses the `SocketConnectPort` of the same number.
    SocketConnectHost ["SocketConnectHost": "CJGN"], ValueKind::Host, None, Numbered;
    /// Port to connect to; see `SocketConnectHost`.
    SocketConnectPort ["SocketConnectPort": "CJGN"], ValueKind::Port, None, Numbered;
    /// Timeout of one connection attempt.
    SocketConnectTimeout ["SocketConnectTimeout": "J"], time(1, 3600), Some("10"), Session;
    /// Delay between connection attempts: one value, or a list that backs off: `3x10;5x20;60` means three
    /// delays of 10 s, five of 20 s, then 60 s for ever.
    ReconnectInterval ["ReconnectInterval": "CJGN"], ValueKind::Pauses, Some("30"), Session;
    /// TCP_NODELAY: each write is sent at once (Nagle's algorithm is off).
    SocketNodelay ["SocketNodelay": "CN", "SocketTcpNoDelay": "J"], ValueKind::Bool, Some("Y"), Session;
    /// SO_SNDBUF of the socket; 0 keeps the system default.
    SocketSendBufferSize ["SocketSendBufferSize": "CJN"], bytes(0, GB), Some("0"), Session;
    /// SO_RCVBUF of the socket; 0 keeps the system default.
    SocketReceiveBufferSize ["SocketReceiveBufferSize": "CJN"], bytes(0, GB), Some("0"), Session;

    /// Order in which an initiator tries its hosts. `ROUNDROBIN`: after a failed connection the next host; after a
    /// disconnect, first the host that was connected. `PRIORITY`: always the first host before all others.
    HostSelectionPolicy ["HostSelectionPolicy": "C"], POLICIES, Some("ROUNDROBIN"), Session;
    /// With `HostSelectionPolicy=PRIORITY`: time after the last attempt to connect to the first host until the
    /// initiator tries it before the other hosts again.
    HostSelectionPolicyPriorityStartOverInterval ["HostSelectionPolicyPriorityStartOverInterval": "C"],
        time(0, DAY), Some("120"), Session;
    /// Local address of an initiator's connections. A numbered key applies to the `SocketConnectHost` of the same
    /// number.
    SocketLocalHost ["SocketLocalHost": "J", "SocketConnectSourceHost": "C"], ValueKind::Ip, None, Numbered;
    /// Local port of an initiator's connections; see `SocketLocalHost`. Without this key the system chooses the port.
    SocketLocalPort ["SocketLocalPort": "J", "SocketConnectSourcePort": "C"], ValueKind::Port, None, Numbered;
    /// SO_REUSEADDR of the listening port: the engine can listen on the port again right after a restart.
    SocketReuseAddress ["SocketReuseAddress": "CJ"], ValueKind::Bool, Some("Y"), Session;
    /// SO_KEEPALIVE of the socket. Without this key the system default applies.
    SocketKeepAlive ["SocketKeepAlive": "J"], ValueKind::Bool, None, Session;
    /// SO_OOBINLINE of the socket. Without this key the system default applies.
    SocketOobInline ["SocketOobInline": "J"], ValueKind::Bool, None, Session;
    /// SO_LINGER of the socket: how long closing the socket waits until unsent data are sent. Without this key the
    /// system default applies.
    SocketLinger ["SocketLinger": "J"], ValueKind::Int { min: 0, max: 65_535, unit: "seconds" }, None, Session;
    /// IP_TOS or IPV6_TCLASS of the socket: a number, or `IPTOS_LOWCOST`, `IPTOS_RELIABILITY`, `IPTOS_THROUGHPUT`,
    /// `IPTOS_LOWDELAY`, separated by `|`. Without this key the system default applies.
    SocketTrafficClass ["SocketTrafficClass": "J"], ValueKind::Text, None, Session;
    /// SO_BUSY_POLL of the socket: how long a read without data polls the network card; 50 is usual, 0
    /// keeps the system default. A value above `net.core.busy_read` requires CAP_NET_ADMIN; a refusal
    /// raises an event.
    BusyPoll [], ValueKind::Int { min: 0, max: 1_000_000, unit: "microseconds" }, Some("0"), Session;
    /// Connections come through load balancers and start with a PROXY protocol header, version 1 or 2, with
    /// the address of the client. Requires `TrustedBalancers`.
    UseTCPProxy ["UseTCPProxy": "G"], ValueKind::Bool, Some("N"), Session;
    /// Load balancers of `UseTCPProxy`: addresses or ranges such as `10.0.0.0/8`, separated by commas.
    /// Connections from other addresses are closed.
    TrustedBalancers [], ValueKind::Text, None, Session;

    /// Protocol of an initiator's proxy: `http` (CONNECT) or `socks`.
    ProxyType ["ProxyType": "JG"], PROXIES, Some("http"), Session;
    /// Version of the proxy protocol: `1.0` or `1.1` for HTTP, `4`, `4a` or `5` for SOCKS. Without this key the value
    /// is the newest version.
    ProxyVersion ["ProxyVersion": "J"], PROXY_VERSIONS, None, Session;
    /// Host of the proxy that an initiator connects through. The proxy resolves the host name of the peer,
    /// except with SOCKS 4.
    ProxyHost ["ProxyHost": "JG"], ValueKind::Host, None, Session;
    /// Port of the proxy.
    ProxyPort ["ProxyPort": "JG"], ValueKind::Port, None, Session;
    /// User name for the proxy.
    ProxyUser ["ProxyUser": "JG"], ValueKind::Text, None, Session;
    /// Password of `ProxyUser`. Never shown.
    ProxyPassword ["ProxyPassword": "JG"], ValueKind::Secret, None, Session;

    /// Connections use TLS 1.2 or 1.3. Without this key TLS is used when a certificate in a PEM file is configured, or
    /// for an initiator, when certificate authorities are configured. [More](tls.md).
    SocketUseSSL ["SocketUseSSL": "JG", "SSLEnable": "N"], ValueKind::Bool, None, Session;
    /// Our certificate (PEM), followed by the intermediate certificates up to its authority.
    SocketCertificateFile ["SocketCertificateFile": "G"], ValueKind::Path, None, Session;
    /// Private key of `SocketCertificateFile` (PEM, not encrypted). Without this setting the private key must be in
    /// `SocketCertificateFile` too.
    SocketPrivateKeyFile ["SocketPrivateKeyFile": "G"], ValueKind::Path, None, Session;
    /// `SocketCertificateFile` of an acceptor.
    ServerCertificateFile ["ServerCertificateFile": "C"], ValueKind::Path, None, Session;
    /// `SocketPrivateKeyFile` of an acceptor.
    ServerCertificateKeyFile ["ServerCertificateKeyFile": "C"], ValueKind::Path, None, Session;
    /// `SocketCertificateFile` of an initiator.
    ClientCertificateFile ["ClientCertificateFile": "C"], ValueKind::Path, None, Session;
    /// `SocketPrivateKeyFile` of an initiator.
    ClientCertificateKeyFile ["ClientCertificateKeyFile": "C"], ValueKind::Path, None, Session;
    /// Our certificate and its private key as a PKCS#12 file. Needs a build with `--features pkcs12`. Convert a
    /// Java key store (JKS) first; the sample key store of QuickFIX/J is refused.
    SocketKeyStore ["SocketKeyStore": "J", "SSLCertificate": "N"], ValueKind::Path, None, Session;
    /// Password of `SocketKeyStore`. Never shown.
    SocketKeyStorePassword ["SocketKeyStorePassword": "J", "SSLCertificatePassword": "N"],
        ValueKind::Secret, None, Session;
    /// Certificate authorities that may have issued the peer's certificate (PEM). An initiator without certificate
    /// authorities trusts those of the system. An acceptor with certificate authorities requests a client certificate.
    SocketCAFile ["SocketCAFile": "G", "CertificationAuthoritiesFile": "C", "SSLCACertificate": "N"],
        ValueKind::Path, None, Session;
    /// Folder of PEM files with further certificate authorities.
    CertificationAuthoritiesDirectory ["CertificationAuthoritiesDirectory": "C"], ValueKind::Path, None, Session;
    /// Certificate authorities as a PKCS#12 file. Needs a build with `--features pkcs12`. An acceptor uses the
    /// authorities with `NeedClientAuth=Y`.
    SocketTrustStore ["SocketTrustStore": "J"], ValueKind::Path, None, Session;
    /// Password of `SocketTrustStore`. Never shown.
    SocketTrustStorePassword ["SocketTrustStorePassword": "J"], ValueKind::Secret, None, Session;
    /// Certificate revocation lists (PEM or DER), read when the engine starts. With revocation lists, a list must cover
    /// every certificate of the peer's chain.
    CertificateRevocationListFile ["CertificateRevocationListFile": "C"], ValueKind::Path, None, Session;
    /// Folder of certificate revocation lists.
    CertificateRevocationListDirectory ["CertificateRevocationListDirectory": "C"], ValueKind::Path, None, Session;
    /// An acceptor requires a client certificate. Without this key an acceptor requires one when `SocketCAFile` or
    /// `PeerCertificates` is configured.
    NeedClientAuth ["NeedClientAuth": "J", "SSLRequireClientCertificate": "N"], ValueKind::Bool, None, Session;
    /// Used when `NeedClientAuth` is absent: 0 requests no client certificate, 1 makes it optional, 2 and 3 require it.
    CertificateVerifyLevel ["CertificateVerifyLevel": "C"], ValueKind::Int { min: 0, max: 3, unit: "" },
        None, Session;
    /// Certificates that the peer may present for this session, separated by commas: `sha256:` with the fingerprint of
    /// the certificate's public key, `dns:` or `uri:` with a name in the certificate. [More](tls.md).
    PeerCertificates [], ValueKind::Text, None, Session;
    /// TLS versions, in the notation of any engine: `TLSv1.2,TLSv1.3`, `Tls12`, `all -TLSv1_2`. Older
    /// versions are not supported.
    EnabledProtocols ["EnabledProtocols": "J", "SSLProtocols": "N", "SSLProtocol": "C"], ValueKind::Text,
        None, Session;
    /// Oldest TLS version allowed: `TLS12` or `TLS13`; older values mean `TLS12`.
    SocketMinimumTLSVersion ["SocketMinimumTLSVersion": "G"], TLS_VERSIONS, Some("TLS12"), Session;
    /// Cipher suites by IANA or OpenSSL names. Without this key all supported suites are allowed; all of them have
    /// forward secrecy and authenticated encryption. [List](tls.md).
    CipherSuites ["CipherSuites": "J"], ValueKind::Text, None, Session;
    /// Cipher suites of TLS 1.2, used when `CipherSuites` is absent.
    SSLCipherSuite ["SSLCipherSuite": "C"], ValueKind::Text, None, Session;
    /// Cipher suites of TLS 1.3, used when `CipherSuites` is absent.
    TLSCipherSuites ["TLSCipherSuites": "C"], ValueKind::Text, None, Session;
    /// Name expected in the peer's certificate; an initiator also sends it (server name indication). Without this key:
    /// the `SocketConnectHost`.
    SocketServerName ["SocketServerName": "G", "SSLServerName": "N", "SNIHostName": "J"], ValueKind::Host,
        None, Session;
    /// An initiator sends the server name (server name indication).
    UseSNI ["UseSNI": "J"], ValueKind::Bool, Some("Y"), Session;
    /// An initiator accepts any certificate. Use it only with `PeerCertificates`.
    SocketInsecureSkipVerify ["SocketInsecureSkipVerify": "G"], ValueKind::Bool, Some("N"), Session;
    /// `N` means `SocketInsecureSkipVerify=Y`.
    SSLValidateCertificates ["SSLValidateCertificates": "N"], ValueKind::Bool, Some("Y"), Session;

    /// Timeout for the peer's response to our Logon, and for the Logon on an accepted connection.
    LogonTimeout ["LogonTimeout": "CJGN"], time(1, 3600), Some("10"), Session;
    /// Timeout for the peer's response to our Logout.
    LogoutTimeout ["LogoutTimeout": "CJGN"], time(1, 3600), Some("2"), Session;
    /// Sequence numbers reset to 1 at every Logon; an initiator sends ResetSeqNumFlag(141).
    ResetOnLogon ["ResetOnLogon": "CJGN"], ValueKind::Bool, Some("N"), Session;
    /// Sequence numbers reset to 1 after every Logout.
    ResetOnLogout ["ResetOnLogout": "CJGN"], ValueKind::Bool, Some("N"), Session;
    /// Sequence numbers reset to 1 after every disconnect.
    ResetOnDisconnect ["ResetOnDisconnect": "CJGN"], ValueKind::Bool, Some("N"), Session;
    /// Username(553): an initiator sends this Username in its Logon, an acceptor refuses a Logon with another Username.
    Username ["Username": "CJGN"], ValueKind::Text, None, Session;
    /// Password(554): an initiator sends this Password in its Logon, an acceptor refuses a Logon with another Password.
    /// Never shown.
    Password ["Password": "CJGN"], ValueKind::Secret, None, Session;
    /// Argon2id hash of the password required in a Logon to this acceptor session, as printed by `fixwire
    /// hash-password`; with `Username`, the password of that user. Never shown.
    PasswordHash [], ValueKind::Secret, None, Session;
    /// File of the users that may log on to this acceptor session, with mode 0600. Each line is `name:hash`, or
    /// `name:change:hash` for a password that must be changed. The engine writes a NewPassword(925) to this file. See
    /// [security](../operating/security.md).
    PasswordFile [], ValueKind::Path, None, Session;
    /// Addresses from which the peer may log on to this acceptor session: `192.0.2.7, 10.0.0.0/8, 2001:db8::/32`.
    /// Without this key every address is allowed. When no session of the port allows an address, the engine closes a
    /// connection from this address as soon as it has accepted it.
    AllowedRemoteAddresses ["AllowedRemoteAddresses": "CJ"], ValueKind::Text, None, Session;
    /// The section is a template, not a session: a Logon for an unknown session creates a session from it.
    /// `*` as SenderCompID, TargetCompID, SubID or LocationID matches any value.
    AcceptorTemplate ["AcceptorTemplate": "J"], ValueKind::Bool, Some("N"), Session;
    /// A Logon with the BeginString of this section, for an unknown session on the port of this section, creates a
    /// session with the settings of this section.
    DynamicSessions ["DynamicSessions": "G"], ValueKind::Bool, Some("N"), Session;
    /// Each connection accepted by `DynamicSessions` or `AcceptorTemplate` gets its own session, even when several
    /// connections have the same CompIDs. Without one of these two keys, `DynamicQualifier` has no effect. Use it with
    /// `ResetOnLogon=Y`, since a peer that reconnects may get another session.
    DynamicQualifier ["DynamicQualifier": "G"], ValueKind::Bool, Some("N"), Session;
    /// What happens when a valid Logon for this acceptor session arrives while the session is logged on: `reject`
    /// closes the new connection, `replace` closes the old connection. `replace` needs a password or
    /// `PeerCertificates`.
    DuplicateLogon [], DUPLICATES, Some("reject"), Session;
    /// Rate limit for messages from the peer. Without this key there is no limit.
    InboundRate [], ValueKind::Int { min: 1, max: 1_000_000, unit: "messages a second" }, None, Session;
    /// Largest burst that the peer may send after a pause. Without this key the value is `InboundRate`.
    InboundBurst [], ValueKind::Int { min: 1, max: 1_000_000, unit: "messages" }, None, Session;
    /// Handling of messages above `InboundRate`: `reject` answers application messages with a
    /// BusinessMessageReject, `delay` reads the connection more slowly, `disconnect` closes it.
    InboundExcess [], EXCESSES, Some("delay"), Session;
    /// Rate limit for application messages to the peer, resent messages included; messages above the limit wait in the
    /// journal, and get a new SendingTime(52) when they leave. Without this key there is no limit.
    OutboundRate [], ValueKind::Int { min: 1, max: 1_000_000, unit: "messages a second" }, None, Session;
    /// Largest burst of application messages that the session sends after a pause. Without this key the value is
    /// `OutboundRate`.
    OutboundBurst [], ValueKind::Int { min: 1, max: 1_000_000, unit: "messages" }, None, Session;
    /// Signature that an initiator adds to its Logons: `ed25519` for Binance; `coinbase` or `cme` with an
    /// HMAC-SHA-256. See [security](../operating/security.md#signed-logons).
    LogonSignature [], SIGNATURES, None, Session;
    /// Key file for `LogonSignature`, mode 0600: a private key in PEM for `ed25519`; the secret in base64
    /// for `coinbase`; the access key ID and the secret key, on two lines, for `cme`.
    LogonKeyFile [], ValueKind::Path, None, Session;
    /// Extra field of our Logon: `LogonTag=464=Y`. Numbered keys add further fields. Fields that the session writes
    /// itself are refused: header and trailer, 98, 108, 141, 789, 1137, and 553 and 554 next to `Username` and
    /// `Password`. The value is shown only if the field is not sensitive in a Logon.
    LogonTag ["LogonTag": "J"], ValueKind::TagValue, None, Numbered;

    /// The session sends a TestRequest when the peer has sent nothing for one heartbeat interval plus this many
    /// heartbeat intervals.
    TestRequestDelayMultiplier ["TestRequestDelayMultiplier": "J"],
        ValueKind::Factor { min: 10, max: 100_000 }, Some("0.2"), Session;
    /// The session disconnects when the peer has sent nothing for one heartbeat interval plus this many heartbeat
    /// intervals.
    HeartBeatTimeoutMultiplier ["HeartBeatTimeoutMultiplier": "J"],
        ValueKind::Factor { min: 10, max: 100_000 }, Some("1.4"), Session;

    /// The peer may send nothing for any length of time: the session sends no TestRequest and does not disconnect the
    /// peer. The session still sends Heartbeats.
    DisableHeartBeatCheck ["DisableHeartBeatCheck": "J"], ValueKind::Bool, Some("N"), Session;
    /// The session sends Heartbeats also while the peer has not answered our TestRequest (case 4 of the FIX Session
    /// Layer Test Cases). With `N`, as in QuickFIX, it sends no Heartbeat until the peer sends a message.
    SendHeartbeatsDuringTestRequest [], ValueKind::Bool, Some("N"), Session;
    /// The session sends a Logout before it disconnects a peer that has sent nothing for too long.
    SendLogoutBeforeDisconnectFromTimeout ["SendLogoutBeforeDisconnectFromTimeout": "N"], ValueKind::Bool,
        Some("N"), Session;
    /// The session sends a Logout with the reason before it closes the connection, when a Logon has valid CompIDs and a
    /// valid password, but its SendingTime is not a time or differs from our clock by more than `MaxLatency`, or when a
    /// FIXT Logon has no DefaultApplVerID(1137). An initiator also sends a Logout when the first message is not a
    /// Logon, or is a Logon of another session. With `N` the session closes the connection without a message. In a file
    /// of QuickFIX/J the default is `Y`.
    SendLogoutForLogonSendingTime [], ValueKind::Bool, Some("N"), Session;

    /// Messages are validated against a dictionary.
    UseDataDictionary ["UseDataDictionary": "CJN"], ValueKind::Bool, Some("Y"), Session;
    /// Dictionary of the session's messages: a QuickFIX XML file, a FIX Orchestra repository, or `built-in`, each
    /// optionally followed by deltas: `built-in + venue.delta`. Without this key the value is the built-in dictionary
    /// of `BeginString`. See [dictionaries](dictionaries.md).
    DataDictionary ["DataDictionary": "CJGN"], ValueKind::Path, None, Session;
    /// Dictionary of the session-level messages of a FIXT session, in the forms of `DataDictionary`. Without this key:
    /// the built-in dictionary of FIXT 1.1.
    TransportDataDictionary ["TransportDataDictionary": "CJGN"], ValueKind::Path, None, Session;
    /// Dictionary of the application messages of a FIXT session, in the forms of `DataDictionary`. Without this key the
    /// value is the built-in dictionary of `DefaultApplVerID`. A key with a version (`AppDataDictionary.FIX.4.4`) names
    /// the dictionary of messages whose ApplVerID(1128), or whose sender's DefaultApplVerID(1137), is this version; the
    /// session then rejects messages of versions without a dictionary.
    AppDataDictionary ["AppDataDictionary": "CJGN"], ValueKind::Path, None, Numbered;
    /// `N` switches off all validation against a dictionary, as `UseDataDictionary=N` does.
    ValidateIncomingMessage ["ValidateIncomingMessage": "J"], ValueKind::Bool, Some("Y"), Session;
    /// Rejects a header field in the body, and a body field in the header.
    ValidateFieldsOutOfOrder ["ValidateFieldsOutOfOrder": "CJGN"], ValueKind::Bool, Some("Y"), Session;
    /// Rejects a field without a value.
    ValidateFieldsHaveValues ["ValidateFieldsHaveValues": "CJGN"], ValueKind::Bool, Some("Y"), Session;
    /// Rejects a tag of 5000 or more that is not in the dictionary.
    ValidateUserDefinedFields ["ValidateUserDefinedFields": "CJGN"], ValueKind::Bool, Some("Y"), Session;
    /// Rejects a repeating group whose fields are not in the order of the dictionary. Without this key the session does
    /// what the engine of the file does:
    ///
    /// | dialect | checks the order |
    /// | --- | --- |
    /// | fixwire, QuickFIX/J, FIX Antenna | yes |
    /// | QuickFIX, QuickFIX/Go, QuickFIX/n | no |
    ValidateUnorderedGroupFields ["ValidateUnorderedGroupFields": "J"], ValueKind::Bool, Some("Y"), Session;
    /// A repeating group may start with any of its fields; the first field of the first entry is the
    /// delimiter.
    FirstFieldInGroupIsDelimiter ["FirstFieldInGroupIsDelimiter": "J"], ValueKind::Bool, Some("N"), Session;
    /// Maximum number of entries of one repeating group. The session rejects a message with more entries; the reject
    /// names this key. The limit requires a dictionary: without a dictionary groups are unknown, and `MaxFields` is the
    /// limit.
    MaxGroupEntries [], ValueKind::Int { min: 1, max: 1_000_000, unit: "entries" }, Some("16384"), Session;
    /// Accepts a field that the dictionary does not define for the message.
    AllowUnknownMsgFields ["AllowUnknownMsgFields": "CJGN"], ValueKind::Bool, Some("N"), Session;
    /// Accepts a value that the dictionary does not define for the field.
    AllowUnknownEnumValues ["AllowUnknownEnumValues": "JN"], ValueKind::Bool, Some("N"), Session;
    /// Rejects a message without a field that a condition of the dictionary requires. Only deltas have
    /// conditions.
    ValidateConditionalFields [], ValueKind::Bool, Some("Y"), Session;
    /// Rejects a message that fails validation against the dictionary. With `N` the session delivers the message
    /// anyway, unless its fields cannot be separated or the session itself needs the invalid field.
    RejectInvalidMessage ["RejectInvalidMessage": "JG"], ValueKind::Bool, Some("Y"), Session;
    /// Ignores a message with a wrong CheckSum(10) as garbled. With `N` the session accepts such a message; a message
    /// with a wrong BodyLength(9) is still garbled.
    ValidateChecksum ["ValidateChecksum": "J", "ValidateLengthAndChecksum": "CN"], ValueKind::Bool,
        Some("Y"), Session;
    /// SenderCompID and TargetCompID of every message must match the session. SubIDs and LocationIDs must match too, if
    /// both the session and the message have them.
    CheckCompID ["CheckCompID": "CJ"], ValueKind::Bool, Some("Y"), Session;
    /// The peer may use third-party routing: `N` rejects OnBehalfOfCompID(115) and DeliverToCompID(128).
    AllowOnBehalfOf [], ValueKind::Bool, Some("Y"), Session;
    /// SendingTime(52) must be within `MaxLatency` of our clock.
    CheckLatency ["CheckLatency": "CJGN"], ValueKind::Bool, Some("Y"), Session;
    /// Maximum difference between SendingTime(52) and our clock.
    MaxLatency ["MaxLatency": "CJGN"], time(1, DAY), Some("120"), Session;
    /// Rejects a PossDup message without OrigSendingTime(122).
    RequiresOrigSendingTime ["RequiresOrigSendingTime": "JN"], ValueKind::Bool, Some("Y"), Session;

    /// The session delivers possible duplicates of messages that it has already received to the application, marked as
    /// duplicates. With `N` the session drops such messages.
    DeliverPossDup [], ValueKind::Bool, Some("N"), Session;
    /// Keeps PossDupFlag(43) and OrigSendingTime(122) when the application writes them first in a message, for routers
    /// that forward messages. With `N` the session removes the two fields.
    AllowPosDup ["AllowPosDup": "J"], ValueKind::Bool, Some("N"), Session;
    /// The session rejects a garbled message with the expected MsgSeqNum, and counts its MsgSeqNum as received. With
    /// `N` the session ignores the message, as the FIX specification requires, and requests it again.
    RejectGarbledMessage ["RejectGarbledMessage": "J"], ValueKind::Bool, Some("N"), Session;
    /// When the session rejects a message of the peer with a Reject(3), it then logs out.
    DisconnectOnError ["DisconnectOnError": "J"], ValueKind::Bool, Some("N"), Session;
    /// When the session rejects a message of the peer with a Reject(3), it then logs out and resets both sequence
    /// numbers to 1.
    ResetOnError ["ResetOnError": "J"], ValueKind::Bool, Some("N"), Session;
    /// When the application panics, the session answers the message with a BusinessMessageReject (application not
    /// available), and the message counts as received. With `N` the process ends, and the message is delivered again
    /// after a restart.
    RejectMessageOnUnhandledException ["RejectMessageOnUnhandledException": "J"], ValueKind::Bool,
        Some("N"), Session;

    /// Precision of SendingTime: `SECONDS`, `MILLIS`, `MICROS` or `NANOS`, or 0, 3, 6, 9. Without this key the value is
    /// milliseconds. FIX 4.0 and 4.1 always use seconds.
    TimestampPrecision ["TimestampPrecision": "CN", "TimeStampPrecision": "JG"], PRECISIONS,
        None, Session;
    /// `N` means `TimestampPrecision=SECONDS`, unless that key is present.
    MillisecondsInTimeStamp ["MillisecondsInTimeStamp": "C"], ValueKind::Bool, Some("Y"), Session;

    /// Maximum number of messages in one ResendRequest; 0 requests the whole gap at once.
    ResendRequestChunkSize ["ResendRequestChunkSize": "JG", "MaxMessagesInResendRequest": "N"],
        ValueKind::Int { min: 0, max: 1_000_000, unit: "messages" }, Some("0"), Session;
    /// EndSeqNo(16) of our ResendRequests is the last missing MsgSeqNum, instead of 0, which means infinity (999999 up
    /// to FIX 4.1).
    ClosedResendInterval ["ClosedResendInterval": "J"], ValueKind::Bool, Some("N"), Session;
    /// The session sends another ResendRequest for every message above a gap. With `N` the session requests a gap once,
    /// and again when no message of the gap has arrived for 30 s, 60 s and so on.
    SendRedundantResendRequests ["SendRedundantResendRequests": "CJN"], ValueKind::Bool, Some("N"), Session;
    /// Number of our ResendRequests for one gap that the peer may reject or leave unanswered before the
    /// session logs out.
    MaxResendAttempts [], ValueKind::Int { min: 1, max: 1000, unit: "requests" }, Some("3"), Session;
    /// Number of consecutive ResendRequests with the same BeginSeqNo(7) that the session answers, when the peer sends
    /// each within 10 s of the previous one. The session rejects further ones. While a resend runs, up to 16
    /// ResendRequests may wait, whatever their BeginSeqNo; the session rejects another one, unless its range is already
    /// waiting.
    MaxSimilarResendRequests [], ValueKind::Int { min: 1, max: 1000, unit: "requests" }, Some("16"), Session;
    /// A ResendRequest with PossDupFlag(43)=Y is ignored.
    IgnorePossDupResendRequests ["IgnorePossDupResendRequests": "N"], ValueKind::Bool, Some("N"), Session;
    /// The session resends our Rejects when the peer requests them. With `N` the session gap-fills our Rejects.
    ResendSessionLevelRejects ["ResendSessionLevelRejects": "N"], ValueKind::Bool, Some("N"), Session;
    /// `N`: application messages are never resent, only gap-filled, as for market data. The journal still stores the
    /// messages.
    PersistMessages ["PersistMessages": "CJGN"], ValueKind::Bool, Some("Y"), Session;
    /// Our Logon has NextExpectedMsgSeqNum(789), and the session uses the NextExpectedMsgSeqNum of the peer's Logon.
    SendNextExpectedMsgSeqNum
        ["SendNextExpectedMsgSeqNum": "C", "EnableNextExpectedMsgSeqNum": "JG"], ValueKind::Bool, Some("N"),
        Session;
    /// When NextExpectedMsgSeqNum(789) in a Logout of the peer is above our next MsgSeqNum, the session continues with
    /// that MsgSeqNum, so that the peer accepts the next Logon, as CME requires in mid-week. A lower
    /// NextExpectedMsgSeqNum changes nothing.
    UseNextExpectedMsgSeqNumOfLogout [], ValueKind::Bool, Some("N"), Session;
    /// What happens to messages that the application sends while the session is not logged on. `store`: the messages
    /// get the next MsgSeqNums, and the peer gets them as possible duplicates when it requests the gap, as with
    /// QuickFIX; if `ResetOnLogon` or `PersistMessages=N` would lose the messages, the engine refuses them. `refuse`:
    /// the engine refuses the messages. An event names each message that is refused, or lost in a later reset.
    MessagesBeforeLogon [], MESSAGES_BEFORE_LOGON, Some("store"), Session;
    /// The session gap-fills orders that are older than this instead of resending them. Without this key the session
    /// resends orders of any age.
    MaxOrderAge [], time(1, 365 * DAY), None, Session;
    /// BusinessMessageReject has DefaultApplVerID(1137), as in QuickFIX (C++), although no dictionary defines this
    /// field there. `fixwire run --app conformance` sets it unless the file says `N`.
    ApplVerIDInBusinessReject [], ValueKind::Bool, Some("N"), Session;
    /// Every message that we send has LastMsgSeqNumProcessed(369).
    EnableLastMsgSeqNumProcessed ["EnableLastMsgSeqNumProcessed": "JGN"], ValueKind::Bool, Some("N"), Session;

    /// Engine for which the file was written. The dialect decides how lines are read, and which defaults apply when
    /// engines differ. Without this key fixwire recognises the engine by two or more keys that only one engine has. The
    /// settings reader treats a file without such keys, or with keys that only fixwire has, as fixwire's own.
    Dialect [], DIALECTS, None, Engine;
    /// `$NAME`, `${NAME}` and `$(NAME)` in values are replaced by environment variables, as QuickFIX (C++)
    /// does on request of its program. `${env:NAME}` and `${file:PATH}` are always replaced.
    ExpandVariables [], ValueKind::Bool, Some("N"), Engine;
    /// Folder of the engine's journal: message store, send queue and audit log of all its sessions. The engine creates
    /// the folder if it is missing. A relative path starts from the folder of the settings file. A folder with the file
    /// store of a QuickFIX engine and no journal is refused: see [moving](../guide/moving.md). Not used with
    /// `Durability=memory`.
    FileStorePath ["FileStorePath": "CJGN"], ValueKind::Path, Some("store"), Engine;
    /// Control socket of a running engine, for `fixwire session` and `fixwire status`. The socket's folder must be one
    /// that operators can access. Without this key the socket is `control` in `FileStorePath`, and only the user of the
    /// engine may use it; with `Durability=memory` there is no socket then.
    ControlPath [], ValueKind::Path, None, Engine;
    /// Group whose members may use the control socket at `ControlPath`, in addition to the user of the engine and root.
    /// Members may only read, unless `ControlOperators` names them. Requires `ControlPath`.
    ControlGroup [], ValueKind::Text, None, Engine;
    /// Who may do what at the control socket: users of the system with their rights, as in `ann:read,session;bob:read`;
    /// in TOML also `[[operator]]` tables with `user` and `may`. [Rights of
    /// operators](../operating/security.md#rights-of-operators) lists the rights and the commands that need them. A
    /// user who is not listed may only ask for `status`; this includes the engine's own user and root. Without this key
    /// the engine's own user and root have all rights, and members of `ControlGroup` may read. An OMS has
    /// `[[operator]]` tables only.
    ControlOperators [], ValueKind::Text, None, Engine;
    /// Where the engine stores a message before it sends the message's first byte. `memory`: in memory of the process;
    /// the message is lost when the process ends. `process`: in a mapped file; the message survives `kill -9`, but not
    /// a power failure. `disk`: on the disk, after `fdatasync` has returned.
    Durability [], DURABILITIES, Some("process"), Engine;
    /// `Y` means `Durability=disk`, unless that key is present; `N` has no effect.
    FileStoreSync ["FileStoreSync": "JG"], ValueKind::Bool, None, Engine;
    /// Idle strategy of the engine's thread: `spin` polls and keeps a core busy, `yield` offers the core to
    /// other threads between polls, `block` sleeps.
    Wait [], WAITS, Some("block"), Engine;
    /// CPU core to which the engine's thread is pinned. Without this key the system chooses the core.
    Core [], ValueKind::Int { min: 0, max: 4095, unit: "" }, None, Engine;
    /// Locks all memory of the process at startup (mlockall), so that a message never waits for a page fault. All
    /// memory is then resident, including `ReadBufferSize` of each connection and whole segments of the journal. The
    /// engine needs CAP_IPC_LOCK or `LimitMEMLOCK=infinity`; without either it does not start.
    LockMemory [], ValueKind::Bool, Some("N"), Engine;
    /// Size of one journal file: at least 2 messages of `MaxMessageSize` and 1 MiB. Rounded up to pages of
    /// 4 KiB.
    JournalSegmentSize [], bytes(2 * MB, GB), Some("64M"), Engine;
    /// Number of journal files that the engine allocates in advance for the time when the disk is full; `0` allocates
    /// none. When the disk has no room for the next journal file, the journal uses these files. An event names the
    /// folder and the number of free bytes. An OMS and a gateway then reject new orders and replaces, but still handle
    /// cancels, kills and reports. When the disk has room again, the engine allocates the files again, and new orders
    /// are accepted. When the files are used up, the engine stops without loss; with `0` it stops as soon as the disk
    /// is full. Not with `Durability=memory`.
    JournalReserve [], ValueKind::Int { min: 0, max: 16, unit: "files" }, Some("1"), Engine;
    /// One event warns when the disk of `FileStorePath` has fewer free bytes than this. Another event reports when the
    /// free space is again a quarter above this limit. `0`: no events. Not with `Durability=memory`.
    JournalLowSpace [], bytes(0, 1024 * GB), Some("1G"), Engine;
    /// Folder of message and event logs, two files for each session, for tools that read the logs of QuickFIX. The logs
    /// are written from the journal, and do not delay messages. Passwords are masked, and control characters other than
    /// SOH are written as `\\xNN`. Without this key there are no log files; the journal is the log.
    FileLogPath ["FileLogPath": "CJGN"], ValueKind::Path, None, Engine;
    /// Engine whose file names and line format the logs in `FileLogPath` use. Without this key the value is the engine
    /// for which the settings file was written, if that is of the QuickFIX family.
    FileLogLayout [], LAYOUTS, Some("quickfix"), Engine;
    /// Heartbeats are written to the message logs.
    FileLogHeartbeats ["FileLogHeartbeats": "J"], ValueKind::Bool, Some("Y"), Engine;
    /// With `FileLogLayout=quickfixj`: times in logs have milliseconds. Other layouts have a fixed precision.
    FileIncludeMilliseconds ["FileIncludeMilliseconds": "J"], ValueKind::Bool, Some("N"), Engine;
    /// With `FileLogLayout=quickfixj`: messages in logs have times. In other layouts messages always have times.
    FileIncludeTimeStampForMessages
        ["FileIncludeTimeStampForMessages": "J"], ValueKind::Bool, Some("N"), Engine;
    /// Maximum length of a file in `FileLogPath`. A line that does not fit begins a new file, and the full one gets a
    /// name with its day and a number ([rotating](../operating/running.md#rotating-logs)). Without this key the length
    /// has no limit.
    FileLogMaxSize [], bytes(64 * KB, 1024 * GB), None, Engine;
    /// Each file in `FileLogPath` ends with its day, in UTC; it gets a name with this day and a number.
    FileLogDaily [], ValueKind::Bool, Some("N"), Engine;
    /// Number of renamed files that stay, for each file in `FileLogPath`; the oldest above it are removed. Only with
    /// `FileLogMaxSize` or `FileLogDaily=Y`. Without this key all files stay.
    FileLogKeep [], ValueKind::Int { min: 1, max: 100_000, unit: "files" }, None, Engine;
    /// Database of message and event logs, in the tables that tools for QuickFIX read: `sqlite:PATH`, or
    /// `postgresql://USER@HOST:PORT/DATABASE`. The logs are written from the journal, and do not delay messages;
    /// passwords are masked. Each message is logged exactly once, even after a kill or an outage of the database.
    /// fixwire creates missing tables. Requires a build with `--features sqlite` or `--features postgresql`; see
    /// [logs](logs.md). Without this key there are no database logs; the journal is the log.
    SqlLog [], ValueKind::Text, None, Engine;
    /// Password for the PostgreSQL database of `SqlLog`; use `${env:NAME}` or `${file:PATH}`.
    SqlLogPassword ["PostgreSQLLogPassword": "C"], ValueKind::Secret, None, Engine;
    /// Table of `SqlLog` for incoming messages.
    SqlLogIncomingTable
        ["PostgreSQLLogIncomingTable": "C", "JdbcLogIncomingTable": "J"],
        ValueKind::Text, Some("messages_log"), Engine;
    /// Table of `SqlLog` for outgoing messages. The outgoing table may be the same as `SqlLogIncomingTable`.
    SqlLogOutgoingTable
        ["PostgreSQLLogOutgoingTable": "C", "JdbcLogOutgoingTable": "J"],
        ValueKind::Text, Some("messages_log"), Engine;
    /// Table of `SqlLog` for events.
    SqlLogEventTable
        ["PostgreSQLLogEventTable": "C", "JdbcLogEventTable": "J"],
        ValueKind::Text, Some("event_log"), Engine;
    /// Heartbeats are written to the message logs of `SqlLog`.
    SqlLogHeartbeats ["JdbcLogHeartBeats": "J"], ValueKind::Bool, Some("Y"), Engine;
    /// Fields whose values are masked in message logs (files and `SqlLog`), and in events about messages that were sent
    /// by hand or not sent at all. Some fields are always masked ([security](../operating/security.md)). Times, lengths
    /// and CheckSum stay correct. The journal keeps the values, since a message may have to be resent; `fixwire journal
    /// dump --mask TAGS` masks them too.
    RedactFieldsInLogs ["RedactFieldsInLogs": "N"], ValueKind::Tags, None, Engine;
    /// How long records stay in the journal after no session needs them any more. A session needs the messages that the
    /// peer may request: all messages sent since the session's last reset, or within `JournalResendKeep`. A gateway
    /// needs the records that its last two checkpoints do not cover. The journal removes old files as a whole, when it
    /// starts a new file. Without this key the journal removes nothing.
    JournalKeep [], time(1, 3650 * DAY), None, Engine;
    /// How long a message can be resent. When the journal has removed or compressed the file of an older message, the
    /// session gap-fills the message. Without this key messages can be resent until the session's sequence numbers are
    /// reset.
    JournalResendKeep [], time(60, 3650 * DAY), None, Engine;
    /// The journal compresses older files (LZ4) when no session needs them to answer a ResendRequest. `fixwire journal
    /// dump` and `verify` read compressed files.
    JournalCompress [], ValueKind::Bool, Some("N"), Engine;
    /// Journal space that one session may use in an hour for records that are only logged: messages out of sequence,
    /// and resent messages. Above the limit messages are handled as usual but not logged; an event reports the number
    /// of messages that were not logged.
    JournalLogOnlyLimit [], bytes(64 * KB, 2 * GB), Some("64M"), Engine;
    /// Maximum length of an incoming or outgoing message. The engine disconnects a peer whose BodyLength(9) announces a
    /// longer message. The engine refuses a message of the application that could be longer with the longest header and,
    /// when it is resent, with PossDupFlag(43) and OrigSendingTime(122). Without this key the limit is 2M, or less if a
    /// smaller `JournalSegmentSize` requires it. An OMS needs at least 32K, a TMP link 65538 bytes.
    MaxMessageSize [], bytes(KB, 16 * MB), Some("2M"), Engine;
    /// Maximum number of fields in one message. The session rejects a message with more fields; the reject names this
    /// key. The default is enough for a list of 2,000 instruments with 30 fields each. An engine allocates the fields
    /// of two messages, 24 bytes for each field (1.5 MB by default); parts that no message has used take no memory.
    MaxFields [], ValueKind::Int { min: 64, max: 1_000_000, unit: "fields" }, Some("65536"), Engine;
    /// Receive buffer of one connection, at least `MaxMessageSize`. Without this key the buffer grows with
    /// `MaxMessageSize`. Pages that no message has used take no memory.
    ReadBufferSize [], bytes(4 * KB, GB), Some("2M"), Engine;
    /// Maximum number of connections without a Logon; the engine closes further connections. Without this key the value
    /// is 54 more than `MaxPendingPerAddress`.
    MaxPendingConnections [], ValueKind::Int { min: 1, max: 65_536, unit: "connections" }, None, Engine;
    /// Maximum number of connections without a Logon from one address. Without this key the value is the number of
    /// listening sessions, and at least 10, so that all sessions may connect from the same address.
    MaxPendingPerAddress [], ValueKind::Int { min: 1, max: 65_536, unit: "connections" }, None, Engine;
    /// Maximum length of the first message of a connection, which must be a Logon.
    MaxLogonSize [], bytes(256, 16 * MB), Some("8K"), Engine;
    /// Maximum amount of data that may wait for a slow peer. When more data wait, the engine disconnects the peer; no
    /// message is lost. Data that wait only for `OutboundRate` do not count.
    MaxSendBacklog [], bytes(64 * KB, 1024 * GB), Some("256M"), Engine;
    /// How long a peer may read nothing while data wait for it. Then the engine disconnects the peer; no message is
    /// lost.
    SlowConsumerTimeout [], time(1, DAY), Some("60"), Engine;
    /// Maximum number of sessions created while the engine runs, by templates and by `Handle::add_session`.
    MaxDynamicSessions [], ValueKind::Int { min: 1, max: 500_000, unit: "sessions" }, Some("1000"), Engine;
    /// Number of failed logon attempts allowed in a minute, from all addresses together. The limit does not apply to
    /// addresses from which a session has logged on before.
    MaxFailedLogons [], ValueKind::Int { min: 1, max: 4_000_000_000, unit: "attempts" }, Some("1200"), Engine;
    /// Number of failed logon attempts allowed in a minute from one address.
    MaxFailedLogonsPerAddress [], ValueKind::Int { min: 1, max: 4_000_000_000, unit: "attempts" }, Some("120"), Engine;
    /// Number of wrong passwords allowed in a minute for one session. The limit does not apply to the address of the
    /// session's last logon.
    MaxFailedLogonsPerSession [], ValueKind::Int { min: 1, max: 4_000_000_000, unit: "attempts" }, Some("60"), Engine;
    /// How long a stopping engine waits for the responses to its Logouts.
    StopTimeout [], time(0, 3600), Some("5"), Engine;
}
