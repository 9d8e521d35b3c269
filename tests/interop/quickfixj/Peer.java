import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.Set;
import quickfix.Application;
import quickfix.Connector;
import quickfix.DefaultMessageFactory;
import quickfix.DefaultSessionFactory;
import quickfix.FieldMap;
import quickfix.FieldNotFound;
import quickfix.FileLogFactory;
import quickfix.FileStoreFactory;
import quickfix.LogFactory;
import quickfix.Message;
import quickfix.Session;
import quickfix.SessionID;
import quickfix.SessionSettings;
import quickfix.SocketAcceptor;
import quickfix.SocketInitiator;
import quickfix.UnsupportedMessageType;

/** QuickFIX/J as the peer that ../README.md describes. */
public final class Peer implements Application {
    private final SessionID id;
    private volatile boolean resetNext;
    /** Text(58) of Logouts. */
    private volatile String farewell = "";
    private volatile String logon = "0";
    private int sent;
    private int reports;
    private final Set<String> answered = new HashSet<>();

    private Peer(SessionID id) {
        this.id = id;
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 9) {
            System.err.println("usage: peer initiator|acceptor PORT SENDER TARGET DICTIONARY CERTIFICATES START END VERSION");
            System.exit(2);
        }
        String role = args[0], port = args[1], sender = args[2], target = args[3], version = args[8];
        String tls = args[5].isEmpty() ? "" : String.join("\n",
            "SocketUseSSL=Y", "NeedClientAuth=Y", "EnabledProtocols=TLSv1.2,TLSv1.3",
            "KeyStoreType=PKCS12", "SocketKeyStore=" + args[5] + "/peer.p12", "SocketKeyStorePassword=changeit",
            "TrustStoreType=PKCS12", "SocketTrustStore=" + args[5] + "/trust.p12",
            "SocketTrustStorePassword=changeit");
        String messageLog = System.getenv("MESSAGE_LOG");
        boolean isFixt = version.startsWith("FIX.5.0");
        String begin = isFixt ? "FIXT.1.1" : version;
        String dictionary = !isFixt ? "DataDictionary=" + args[4] : String.join("\n",
            "DefaultApplVerID=" + version, "AppDataDictionary=" + args[4],
            "TransportDataDictionary=" + Path.of(args[4]).resolveSibling("FIXT11.xml"));
        String text = String.join("\n",
            "[DEFAULT]", tls, "ConnectionType=" + role, "StartTime=" + args[6], "EndTime=" + args[7],
            "HeartBtInt=30", "ReconnectInterval=1", "SocketTcpNoDelay=Y", "SocketReuseAddress=Y",
            "SocketAcceptPort=" + port, "SocketConnectHost=127.0.0.1", "SocketConnectPort=" + port,
            "FileStorePath=store", "UseDataDictionary=Y", dictionary, messageLog == null ? "" : "FileLogPath=" + messageLog,
            "[SESSION]", "BeginString=" + begin, "SenderCompID=" + sender, "TargetCompID=" + target, "");
        SessionSettings settings = new SessionSettings(new ByteArrayInputStream(text.getBytes()));
        LogFactory log = messageLog == null ? null : new FileLogFactory(settings);
        SessionID id = new SessionID(begin, sender, target);
        Peer peer = new Peer(id);
        DefaultSessionFactory sessions = new DefaultSessionFactory(peer, new FileStoreFactory(settings), log,
            new DefaultMessageFactory());
        Connector connector = role.equals("acceptor")
            ? new SocketAcceptor(sessions, settings, 100_000)
            : new SocketInitiator(sessions, settings, 100_000);
        connector.start();
        peer.obey();
        connector.stop(true);
        System.exit(0);
    }

    private void obey() throws Exception {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = commands.readLine()) != null;) {
            if (line.startsWith("farewell ")) {
                farewell = line.substring("farewell ".length());
                continue;
            }
            if (line.startsWith("say ")) {
                say(line.split(" ", 3));
                continue;
            }
            String[] words = line.trim().split(" ");
            int count = words.length > 1 ? Integer.parseInt(words[1]) : 0;
            Session session = Session.lookupSession(id);
            switch (words[0]) {
                case "send" -> send(count);
                case "from" -> sent = count;
                case "skip" -> session.setNextSenderMsgSeqNum(session.getExpectedSenderNum() + count);
                case "back" -> session.setNextTargetMsgSeqNum(session.getExpectedTargetNum() - count);
                case "numbers" -> event("numbers", ",\"sender\":" + session.getExpectedSenderNum()
                    + ",\"target\":" + session.getExpectedTargetNum());
                case "reset" -> resetNext = true;
                case "logout" -> session.logout();
                case "logon" -> session.logon();
                case "quit" -> {
                    return;
                }
                default -> event("unknown", ",\"command\":" + quoted(line));
            }
        }
    }

    private void send(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            Message order = new Message();
            order.getHeader().setString(35, "D");
            order.setString(11, id.getSenderCompID() + "-" + ++sent);
            order.setString(21, "1");
            order.setString(55, "EFX");
            order.setString(54, "1");
            order.setUtcTimeStamp(60, LocalDateTime.now(ZoneOffset.UTC));
            order.setString(38, "100");
            order.setString(40, "2");
            order.setString(44, "101.5");
            Session.sendToTarget(order, id);
        }
        event("sent", ",\"total\":" + sent);
    }

    /** A message of this MsgType with these fields: TAG=VALUE|TAG=VALUE... */
    private void say(String[] words) throws Exception {
        Message message = new Message();
        message.getHeader().setString(35, words[1]);
        for (String field : words[2].split("\\|")) {
            String[] parts = field.split("=", 2);
            message.setString(Integer.parseInt(parts[0]), parts[1]);
        }
        Session.sendToTarget(message, id);
    }

    private void report(String order) throws Exception {
        Message report = new Message();
        report.getHeader().setString(35, "8");
        String number = Integer.toString(++reports);
        report.setString(37, "O" + number);
        report.setString(11, order);
        report.setString(17, "E" + number);
        if (id.getBeginString().equals("FIX.4.2")) {
            report.setString(20, "0");
        }
        report.setString(150, "0");
        report.setString(39, "0");
        report.setString(55, "EFX");
        report.setString(54, "1");
        report.setString(151, "100");
        report.setString(14, "0");
        report.setString(6, "0");
        Session.sendToTarget(report, id);
    }

    @Override
    public void onCreate(SessionID session) {}

    @Override
    public void onLogon(SessionID session) {
        event("logon", ",\"seq\":" + logon);
    }

    @Override
    public void onLogout(SessionID session) {
        event("logout", "");
    }

    @Override
    public void toAdmin(Message message, SessionID session) {
        switch (text(message.getHeader(), 35)) {
            case "A" -> {
                if (resetNext) {
                    message.setString(141, "Y");
                }
            }
            case "5" -> {
                if (!farewell.isEmpty()) {
                    message.setString(58, farewell);
                }
            }
            case "2" -> asked("asks", message);
            case "3" -> event("rejected", ",\"text\":" + quoted("sent: " + message));
            default -> {}
        }
    }

    @Override
    public void fromAdmin(Message message, SessionID session) {
        switch (text(message.getHeader(), 35)) {
            case "A" -> {
                logon = text(message.getHeader(), 34);
                if (text(message, 141).equals("Y")) {
                    resetNext = false;
                    event("reset", "");
                }
            }
            case "2" -> asked("asked", message);
            case "3" -> event("rejected", ",\"text\":" + quoted(message.toString()));
            default -> {}
        }
    }

    @Override
    public void toApp(Message message, SessionID session) {
        if (text(message.getHeader(), 35).equals("j")) {
            event("rejected", ",\"text\":" + quoted("sent: " + message));
        }
    }

    @Override
    public void fromApp(Message message, SessionID session) throws UnsupportedMessageType {
        switch (text(message.getHeader(), 35)) {
            case "D" -> {
                received("order", message, false);
                try {
                    if (answered.add(text(message, 11))) {
                        report(text(message, 11));
                    }
                } catch (Exception e) {
                    event("rejected", ",\"text\":" + quoted(e.toString()));
                }
            }
            case "8" -> received("report", message, true);
            case "9" -> received("refused", message, true);
            case "j" -> event("rejected", ",\"text\":" + quoted(message.toString()));
            default -> throw new UnsupportedMessageType();
        }
    }

    private static void asked(String name, Message message) {
        event(name, ",\"from\":" + text(message, 7) + ",\"to\":" + text(message, 16));
    }

    private static void received(String name, Message message, boolean whole) {
        boolean dup = text(message.getHeader(), 43).equals("Y") || text(message.getHeader(), 97).equals("Y");
        event(name, ",\"id\":" + quoted(text(message, 11)) + ",\"seq\":" + text(message.getHeader(), 34)
            + ",\"dup\":" + dup + (whole ? ",\"message\":" + quoted(message.toString()) : ""));
    }

    private static String text(FieldMap map, int tag) {
        try {
            return map.isSetField(tag) ? map.getString(tag) : "";
        } catch (FieldNotFound gone) {
            return "";
        }
    }

    private static String quoted(String text) {
        StringBuilder safe = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                safe.append('\\');
            }
            safe.append(c < ' ' ? '|' : c);
        }
        return safe.append('"').toString();
    }

    private static synchronized void event(String name, String members) {
        System.out.println("{\"event\":" + quoted(name) + members + "}");
        System.out.flush();
    }
}
