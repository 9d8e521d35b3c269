// QuickFIX C++ as the peer that ../README.md describes.
#define HAVE_SSL 1
#include <quickfix/Application.h>
#include <quickfix/FileLog.h>
#include <quickfix/FileStore.h>
#include <quickfix/ThreadedSSLSocketAcceptor.h>
#include <quickfix/ThreadedSSLSocketInitiator.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketAcceptor.h>
#include <quickfix/SocketInitiator.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>

// Version 1.15 declares exception specifications, later ones a macro for them.
#ifndef EXCEPT
#define EXCEPT(...) throw(__VA_ARGS__)
#endif

namespace {

std::mutex out;

std::string json(const std::string &text) {
  std::string safe = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += c < ' ' ? '|' : static_cast<char>(c);
  }
  return safe + '"';
}

void event(const std::string &name, const std::string &members = "") {
  std::lock_guard<std::mutex> lock(out);
  std::printf("{\"event\":%s%s}\n", json(name).c_str(), members.c_str());
  std::fflush(stdout);
}

std::string text(const FIX::FieldMap &map, int tag) { return map.isSetField(tag) ? map.getField(tag) : ""; }

class Peer : public FIX::Application {
public:
  explicit Peer(const FIX::SessionID &id) : id(id) {}

  std::atomic<bool> resetNext{false};

  void from(int count) { sent = count; }

  void send(int count) {
    for (int i = 0; i < count; ++i) {
      FIX::Message order;
      order.getHeader().setField(FIX::BeginString(id.getBeginString()));
      order.getHeader().setField(FIX::MsgType("D"));
      order.setField(FIX::ClOrdID(id.getSenderCompID().getValue() + "-" + std::to_string(++sent)));
      order.setField(FIX::HandlInst('1'));
      order.setField(FIX::Symbol("EFX"));
      order.setField(FIX::Side('1'));
      order.setField(FIX::TransactTime());
      order.setField(FIX::OrderQty(100));
      order.setField(FIX::OrdType('2'));
      order.setField(FIX::Price(101.5));
      FIX::Session::sendToTarget(order, id);
    }
    event("sent", ",\"total\":" + std::to_string(sent));
  }

  // A message of this MsgType with these fields: TAG=VALUE|TAG=VALUE...
  void say(const std::string &kind, std::istream &fields) {
    FIX::Message message;
    message.getHeader().setField(FIX::BeginString(id.getBeginString()));
    message.getHeader().setField(FIX::MsgType(kind));
    for (std::string field; std::getline(fields >> std::ws, field, '|');) {
      const size_t at = field.find('=');
      message.setField(std::stoi(field.substr(0, at)), field.substr(at + 1));
    }
    FIX::Session::sendToTarget(message, id);
  }

  // Text(58) of Logouts.
  std::string farewell;

  void onCreate(const FIX::SessionID &) override {}
  void onLogon(const FIX::SessionID &) override { event("logon", ",\"seq\":" + logon); }
  void onLogout(const FIX::SessionID &) override { event("logout"); }

  void toAdmin(FIX::Message &m, const FIX::SessionID &) override {
    const std::string kind = text(m.getHeader(), 35);
    if (kind == "A" && resetNext) m.setField(FIX::ResetSeqNumFlag(true));
    if (kind == "5" && !farewell.empty()) m.setField(FIX::Text(farewell));
    if (kind == "2") asked("asks", m);
    if (kind == "3") event("rejected", ",\"text\":" + json("sent: " + m.toString()));
  }

  void fromAdmin(const FIX::Message &m, const FIX::SessionID &)
      EXCEPT(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue, FIX::RejectLogon) override {
    const std::string kind = text(m.getHeader(), 35);
    if (kind == "A") logon = text(m.getHeader(), 34);
    if (kind == "A" && text(m, 141) == "Y") {
      resetNext = false;
      event("reset");
    }
    if (kind == "2") asked("asked", m);
    if (kind == "3") event("rejected", ",\"text\":" + json(m.toString()));
  }

  void toApp(FIX::Message &m, const FIX::SessionID &) EXCEPT(FIX::DoNotSend) override {
    if (text(m.getHeader(), 35) == "j") event("rejected", ",\"text\":" + json("sent: " + m.toString()));
  }

  void fromApp(const FIX::Message &m, const FIX::SessionID &)
      EXCEPT(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue, FIX::UnsupportedMessageType) override {
    const std::string kind = text(m.getHeader(), 35);
    if (kind == "D") {
      received("order", m);
      if (answered.insert(text(m, 11)).second) report(text(m, 11));
    } else if (kind == "8") {
      received("report", m, true);
    } else if (kind == "9") {
      received("refused", m, true);
    } else if (kind == "j") {
      event("rejected", ",\"text\":" + json(m.toString()));
    } else {
      throw FIX::UnsupportedMessageType();
    }
  }

private:
  static void asked(const char *name, const FIX::Message &m) {
    event(name, ",\"from\":" + text(m, 7) + ",\"to\":" + text(m, 16));
  }

  static void received(const char *name, const FIX::Message &m, bool whole = false) {
    const bool dup = text(m.getHeader(), 43) == "Y" || text(m.getHeader(), 97) == "Y";
    event(name, ",\"id\":" + json(text(m, 11)) + ",\"seq\":" + text(m.getHeader(), 34) +
                    ",\"dup\":" + (dup ? "true" : "false") +
                    (whole ? ",\"message\":" + json(m.toString()) : ""));
  }

  void report(const std::string &order) {
    FIX::Message m;
    m.getHeader().setField(FIX::BeginString(id.getBeginString()));
    m.getHeader().setField(FIX::MsgType("8"));
    const std::string number = std::to_string(++reports);
    m.setField(FIX::OrderID("O" + number));
    m.setField(FIX::ClOrdID(order));
    m.setField(FIX::ExecID("E" + number));
    if (id.getBeginString().getValue() == "FIX.4.2") m.setField(FIX::ExecTransType('0'));
    m.setField(FIX::ExecType('0'));
    m.setField(FIX::OrdStatus('0'));
    m.setField(FIX::Symbol("EFX"));
    m.setField(FIX::Side('1'));
    m.setField(FIX::LeavesQty(100));
    m.setField(FIX::CumQty(0));
    m.setField(FIX::AvgPx(0));
    FIX::Session::sendToTarget(m, id);
  }

  const FIX::SessionID id;
  int sent = 0;
  int reports = 0;
  std::string logon = "0";
  std::set<std::string> answered;
};

void obey(Peer &peer, const FIX::SessionID &id) {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string command;
    int count = 0;
    words >> command >> count;
    FIX::Session *session = FIX::Session::lookupSession(id);
    if (command == "send") peer.send(count);
    else if (command == "say") {
      std::istringstream message(line.substr(command.size()));
      message >> command;
      peer.say(command, message);
    }
    else if (command == "from") peer.from(count);
    else if (command == "skip") session->setNextSenderMsgSeqNum(session->getExpectedSenderNum() + count);
    else if (command == "back") session->setNextTargetMsgSeqNum(session->getExpectedTargetNum() - count);
    else if (command == "numbers")
      event("numbers", ",\"sender\":" + std::to_string(session->getExpectedSenderNum()) +
                           ",\"target\":" + std::to_string(session->getExpectedTargetNum()));
    else if (command == "reset") peer.resetNext = true;
    else if (command == "farewell") peer.farewell = line.substr(command.size() + 1);
    else if (command == "logout") session->logout();
    else if (command == "logon") session->logon();
    else if (command == "quit") return;
    else event("unknown", ",\"command\":" + json(line));
  }
}

std::string tls(const std::string &folder) {
  std::string text = "CertificationAuthoritiesFile=" + folder + "/ca.pem\nCertificateVerifyLevel=2\n";
  for (const char *side : {"Server", "Client"}) {
    text += std::string(side) + "CertificateFile=" + folder + "/peer.pem\n";
    text += std::string(side) + "CertificateKeyFile=" + folder + "/peer.key\n";
  }
  return text;
}

// With a log of its messages when a folder is named for it.
template <typename Connector>
Connector *made(Peer &peer, FIX::MessageStoreFactory &store, const FIX::SessionSettings &settings) {
  if (!std::getenv("MESSAGE_LOG")) return new Connector(peer, store, settings);
  static FIX::FileLogFactory log(settings);
  return new Connector(peer, store, settings, log);
}

template <typename Connector> void run(Connector *connector, Peer &peer, const FIX::SessionID &id) {
  std::unique_ptr<Connector> owned(connector);
  owned->start();
  obey(peer, id);
  owned->stop();
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 10) {
    std::fprintf(stderr, "usage: peer initiator|acceptor PORT SENDER TARGET DICTIONARY CERTIFICATES START END VERSION\n");
    return 2;
  }
  const std::string role = argv[1], port = argv[2], sender = argv[3], target = argv[4];
  const std::string certificates = argv[6], version = argv[9], dictionary = argv[5];
  const bool isFixt = version.compare(0, 7, "FIX.5.0") == 0;
  const std::string begin = isFixt ? "FIXT.1.1" : version;
  std::stringstream text;
  text << "[DEFAULT]\nConnectionType=" << role << "\nStartTime=" << argv[7] << "\nEndTime=" << argv[8] << "\n"
       << "HeartBtInt=30\nReconnectInterval=1\nSocketNodelay=Y\nSocketReuseAddress=Y\n"
       << "SocketAcceptPort=" << port << "\nSocketConnectHost=127.0.0.1\nSocketConnectPort=" << port << "\n"
       << "FileStorePath=store\nUseDataDictionary=Y\n"
       << (std::getenv("MESSAGE_LOG") ? "FileLogPath=" + std::string(std::getenv("MESSAGE_LOG")) + "\n" : "")
       << (isFixt ? "DefaultApplVerID=" + version + "\nAppDataDictionary=" + dictionary + "\nTransportDataDictionary=" +
                        dictionary.substr(0, dictionary.rfind('/')) + "/FIXT11.xml\n"
                  : "DataDictionary=" + dictionary + "\n")
       << (certificates.empty() ? "" : tls(certificates))
       << "[SESSION]\nBeginString=" << begin << "\nSenderCompID=" << sender << "\nTargetCompID=" << target << "\n";
  try {
    FIX::SessionSettings settings(text);
    const FIX::SessionID id(begin, sender, target);
    Peer peer(id);
    // The memory store answers a resend that begins at a number left out as if nothing followed.
    FIX::FileStoreFactory store(settings);
    // With TLS the one without threads stands still once a connection closes before its handshake.
    if (role == "acceptor") {
      run(certificates.empty() ? static_cast<FIX::Acceptor *>(made<FIX::SocketAcceptor>(peer, store, settings))
                               : made<FIX::ThreadedSSLSocketAcceptor>(peer, store, settings),
          peer, id);
    } else {
      run(certificates.empty() ? static_cast<FIX::Initiator *>(made<FIX::SocketInitiator>(peer, store, settings))
                               : made<FIX::ThreadedSSLSocketInitiator>(peer, store, settings),
          peer, id);
    }
  } catch (const std::exception &e) {
    std::fprintf(stderr, "peer: %s\n", e.what());
    return 1;
  }
}
