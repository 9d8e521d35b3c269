import fixio.fixprotocol.FixMessage;
import fixio.fixprotocol.FixMessageBuilder;
import fixio.fixprotocol.FixMessageBuilderImpl;
import fixio.fixprotocol.FixMessageFragment;
import fixio.fixprotocol.fields.FieldFactory;
import fixio.fixprotocol.session.FixSession;
import fixio.handlers.FixApplicationAdapter;
import fixio.netty.pipeline.client.ClientSessionHandler;
import fixio.netty.pipeline.client.FixInitiatorChannelInitializer;
import fixio.netty.pipeline.client.FixSessionSettingsProvider;
import fixio.netty.pipeline.client.MessageSequenceProvider;
import fixio.netty.pipeline.client.PropertyFixSessionSettingsProviderImpl;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.MessageToMessageCodec;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.TreeMap;

/** fixio as the client that ../README.md describes. All but the reading of commands happens in one thread. */
public final class Client implements MessageSequenceProvider {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd-HH:mm:ss.SSS");

    private final NioEventLoopGroup group = new NioEventLoopGroup(1);
    private final Bootstrap bootstrap = new Bootstrap();
    private final String sender;
    private final FixSessionSettingsProvider settings;
    private final Application application = new Application();
    private final Queue<FixMessageBuilder> waiting = new ArrayDeque<>();
    private final TreeMap<Integer, Kept> kept = new TreeMap<>();
    private Channel channel;
    private FixSession session;
    private boolean isReady;
    private int total;
    private int nextOut = 1;
    private int nextIn = 1;
    /** The number above a gap for which a ResendRequest is open, or 0. */
    private int askedBelow;
    /** The number of a Logon that came above a gap, or 0. */
    private int logonAhead;

    /** An order that was sent. */
    private record Kept(FixMessageBuilder order, String time) {}

    private Client(int port, String sender, String target) {
        this.sender = sender;
        var properties = new Properties();
        properties.putAll(Map.of("BeginString", "FIX.4.4", "SenderCompID", sender, "TargetCompID", target,
                "HeartBtInt", "30", "ResetOnLogon", "false", "TimeStampPrecision", "MILLIS"));
        settings = new PropertyFixSessionSettingsProviderImpl(properties);
        bootstrap.group(group).channel(NioSocketChannel.class).remoteAddress("127.0.0.1", port)
                .handler(new Initializer());
    }

    private final class Initializer extends FixInitiatorChannelInitializer<NioSocketChannel> {
        Initializer() {
            super(group, settings, null, Client.this, application);
        }

        @Override
        protected MessageToMessageCodec<FixMessage, FixMessageBuilder> createSessionHandler() {
            return new Session();
        }
    }

    @ChannelHandler.Sharable
    private final class Application extends FixApplicationAdapter {
        @Override
        public void onMessage(ChannelHandlerContext ctx, FixMessage message, List<Object> out) {
            if (message.getMessageType().equals("8")) {
                event("report", "\"id\":\"%s\",\"seq\":%d,\"dup\":%b", message.getString(11), seq(message),
                        isDup(message));
            }
        }

        @Override
        public void beforeSendMessage(ChannelHandlerContext ctx, FixMessageBuilder builder) {
            var header = builder.getHeader();
            var message = (FixMessageBuilderImpl) builder;
            boolean isDup = header.getCustomFields() != null && !header.getCustomFields().isEmpty();
            var id = message.getString(11);
            passed("out", header.getMessageType(), header.getMsgSeqNum(), isDup, id);
            if (header.getMessageType().equals("D") && !isDup) {
                var time = header.getSendingTime().withZoneSameInstant(ZoneOffset.UTC).format(TIME);
                kept.put(header.getMsgSeqNum(), new Kept(builder, time));
            }
        }
    }

    /** fixio passes on what comes above a gap, what comes twice and each request, and acts on none of them. */
    private final class Session extends ClientSessionHandler {
        Session() {
            super(settings, null, Client.this, application);
        }

        @Override
        protected void decode(ChannelHandlerContext ctx, FixMessage message, List<Object> out) throws Exception {
            session = getSession(ctx);
            int seq = seq(message);
            int expected = session.getNextIncomingMessageSeqNum();
            var type = message.getMessageType();
            passed("in", type, seq, isDup(message), message.getString(11));
            if (type.equals("A")) {
                // It asks for what is missing before the Logon.
                super.decode(ctx, message, out);
                logonAhead = seq > expected ? seq : 0;
                askedBelow = logonAhead;
                event("logon", "\"seq\":%d", seq);
                isReady = true;
                sendOrders();
                return;
            }
            if (type.equals("2")) {
                resend(message.getInt(7), message.getInt(16));
            }
            if (seq > expected) {
                if (askedBelow == 0) {
                    askedBelow = seq;
                    send(new FixMessageBuilderImpl("2").add(7, expected).add(16, 0));
                }
            } else if (seq == expected) {
                super.decode(ctx, message, out);
                if (type.equals("4")) {
                    session.setNextIncomingMessageSeqNum(message.getInt(36));
                }
                if (session.getNextIncomingMessageSeqNum() == logonAhead) {
                    session.setNextIncomingMessageSeqNum(logonAhead + 1);
                }
                if (session.getNextIncomingMessageSeqNum() > askedBelow) {
                    askedBelow = 0;
                }
            }
            if (type.equals("3") || type.equals("j")) {
                event("rejected", "\"text\":\"%s\"", escaped(message.getString(58)));
            } else if (type.equals("5")) {
                ctx.close();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            isReady = false;
            session = getSession(ctx);
            nextOut = session.getNextOutgoingMessageSeqNum();
            nextIn = session.getNextIncomingMessageSeqNum();
            super.channelInactive(ctx);
            event("logout", "\"next\":%d", nextOut);
        }
    }

    @Override
    public int getMsgOutSeqNum() {
        return nextOut;
    }

    @Override
    public int getMsgInSeqNum() {
        return nextIn;
    }

    private void resend(int from, int to) {
        int last = to == 0 ? session.getNextOutgoingMessageSeqNum() - 1 : to;
        int gap = from;
        for (var entry : kept.subMap(from, true, last, true).entrySet()) {
            fill(gap, entry.getKey());
            var order = new FixMessageBuilderImpl("D");
            order.copyBody(entry.getValue().order().getBody());
            send(again(order, entry.getKey(), entry.getValue().time()));
            gap = entry.getKey() + 1;
        }
        fill(gap, last + 1);
    }

    private void fill(int from, int next) {
        if (from < next) {
            send(again(new FixMessageBuilderImpl("4").add(123, "Y").add(36, next), from, now()));
        }
    }

    private static FixMessageBuilder again(FixMessageBuilder message, int seq, String time) {
        List<FixMessageFragment> fields =
                List.of(FieldFactory.fromStringValue(43, "Y"), FieldFactory.fromStringValue(122, time));
        message.getHeader().setMsgSeqNum(seq);
        message.getHeader().setCustomFields(fields);
        return message;
    }

    private void send(FixMessageBuilder message) {
        channel.writeAndFlush(message);
    }

    /** One at a time: reports are read between the orders. */
    private void sendOrders() {
        if (isReady && !waiting.isEmpty()) {
            send(waiting.remove());
            if (waiting.isEmpty()) {
                event("sent", "\"total\":%d", total);
            }
            group.execute(this::sendOrders);
        }
    }

    private void obey(String command, int count) {
        switch (command) {
            case "send" -> {
                for (int i = 0; i < count; i++) {
                    total++;
                    waiting.add(new FixMessageBuilderImpl("D").add(11, sender + "-" + total).add(21, "1")
                            .add(55, "EFX").add(54, "1").add(60, now()).add(38, "100").add(40, "2").add(44, "101.5"));
                }
                sendOrders();
            }
            case "skip" -> session.setNextOutgoingMessageSeqNum(session.getNextOutgoingMessageSeqNum() + count);
            case "back" -> session.setNextIncomingMessageSeqNum(session.getNextIncomingMessageSeqNum() - count);
            case "logon" -> channel = bootstrap.connect().channel();
            case "logout" -> send(new FixMessageBuilderImpl("5"));
            case "quit" -> System.exit(0);
            default -> event("unknown", "\"command\":\"%s\"", command);
        }
    }

    private static String now() {
        return ZonedDateTime.now(ZoneOffset.UTC).format(TIME);
    }

    private static int seq(FixMessage message) {
        return message.getHeader().getMsgSeqNum();
    }

    private static boolean isDup(FixMessage message) {
        return isYes(message.getValue(43)) || isYes(message.getValue(97));
    }

    private static boolean isYes(Object value) {
        return Boolean.TRUE.equals(value) || "Y".equals(String.valueOf(value));
    }

    /** A message on the wire. */
    private static void passed(String way, String type, int seq, boolean dup, String id) {
        event(way, "\"type\":\"%s\",\"seq\":%d,\"dup\":%b,\"id\":\"%s\"", type, seq, dup, id == null ? "" : id);
    }

    /** Fit for a text of JSON. */
    private static String escaped(String text) {
        return text == null ? "" : text.replaceAll("[\\\\\"\\p{Cntrl}]", "?");
    }

    private static void event(String name, String members, Object... values) {
        System.out.println("{\"event\":\"" + name + "\"," + String.format(members, values) + "}");
    }

    public static void main(String[] args) throws Exception {
        var client = new Client(Integer.parseInt(args[0]), args[1], args[2]);
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            var words = line.split(" ");
            int count = words.length > 1 ? Integer.parseInt(words[1]) : 0;
            client.group.execute(() -> client.obey(words[0], count));
        }
        System.exit(0);
    }
}
