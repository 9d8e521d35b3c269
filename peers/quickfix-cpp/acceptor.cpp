// QuickFIX C++ peer: NewOrderSingle in, ExecutionReport out.
//   acceptor PORT MODE DIR FIX42.xml [socket|threaded]
// MODE persistent: FileStore + FileLog, dictionary validation on (the engine's defaults)
//      memory:     MemoryStore, no log, PersistMessages=N, no dictionary (its fastest set-up)
//      memory-validate: as memory, with the dictionary
#include <quickfix/Application.h>
#include <quickfix/FileLog.h>
#include <quickfix/FileStore.h>
#include <quickfix/Message.h>
#include <quickfix/MessageStore.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketAcceptor.h>
#include <quickfix/ThreadedSocketAcceptor.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <unistd.h>

// 1.15 declares exception specifications, 1.16 a macro for them.
#ifdef EXCEPTION_SPECIFICATIONS
#define MAY_THROW(...) throw(__VA_ARGS__)
#else
#define MAY_THROW(...) EXCEPT(__VA_ARGS__)
#endif

// The typed classes of FIX 4.2 are thin wrappers over FIX::Message; the source package of 1.16
// ships without them, so both versions use FIX::Message.
class Bench : public FIX::Application {
public:
  Bench() {
    using namespace FIX;
    report.getHeader().setField(BeginString("FIX.4.2"));
    report.getHeader().setField(MsgType("8"));
    report.setField(AvgPx(110.11));
    report.setField(CumQty(7));
    report.setField(ClientID("TEST"));
    report.setField(ExecID("tkacct.151124.e.EFX.122.6"));
    report.setField(OrderID("tkacct.151124.e.EFX.122.6"));
    report.setField(Side('1'));
    report.setField(Symbol("EFX"));
    report.setField(ExecType('2'));
    report.setField(ExecTransType('0'));
    report.setField(OrdStatus('0'));
    report.setField(LeavesQty(0));
  }

  void onCreate(const FIX::SessionID &id) override { session = FIX::Session::lookupSession(id); }
  void onLogon(const FIX::SessionID &) override {}
  void onLogout(const FIX::SessionID &) override {}
  void toAdmin(FIX::Message &, const FIX::SessionID &) override {}
  void toApp(FIX::Message &, const FIX::SessionID &) MAY_THROW(FIX::DoNotSend) override {}
  void fromAdmin(const FIX::Message &, const FIX::SessionID &)
      MAY_THROW(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue, FIX::RejectLogon) override {}
  void fromApp(const FIX::Message &m, const FIX::SessionID &)
      MAY_THROW(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue, FIX::UnsupportedMessageType) override {
    if (m.getHeader().getField(FIX::FIELD::MsgType) != "D") throw FIX::UnsupportedMessageType();
    FIX::ClOrdID id;
    m.getField(id);
    report.setField(id);
    session->send(report);
  }

private:
  FIX::Session *session = nullptr;
  FIX::Message report; // one reused object, as in the scenario
};

int main(int argc, char **argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: acceptor PORT MODE DIR FIX42.xml [socket|threaded]\n");
    return 2;
  }
  const std::string mode = argv[2], dir = argv[3];
  const bool persistent = mode == "persistent";
  const bool dictionary = persistent || mode == "memory-validate";
  const bool threaded = argc > 5 && std::string(argv[5]) == "threaded";

  std::stringstream s;
  s << "[DEFAULT]\nConnectionType=acceptor\nStartTime=00:00:00\nEndTime=00:00:00\n"
    << "SocketAcceptPort=" << argv[1] << "\nSocketReuseAddress=Y\nSocketNodelay=Y\n"
    << "FileStorePath=" << dir << "/store\nFileLogPath=" << dir << "/log\n"
    << "PersistMessages=" << (persistent ? "Y" : "N") << "\nResetOnLogon=Y\n"
    << "UseDataDictionary=" << (dictionary ? "Y" : "N") << "\nDataDictionary=" << argv[4] << "\n"
    << "[SESSION]\nBeginString=FIX.4.2\nSenderCompID=EXEC\nTargetCompID=BENCH\n";

  try {
    FIX::SessionSettings settings(s);
    Bench app;
    std::unique_ptr<FIX::MessageStoreFactory> store;
    std::unique_ptr<FIX::LogFactory> log;
    if (persistent) {
      store.reset(new FIX::FileStoreFactory(settings));
      log.reset(new FIX::FileLogFactory(settings));
    } else {
      store.reset(new FIX::MemoryStoreFactory());
    }
    std::unique_ptr<FIX::Acceptor> acceptor;
    if (threaded) {
      if (log) acceptor.reset(new FIX::ThreadedSocketAcceptor(app, *store, settings, *log));
      else acceptor.reset(new FIX::ThreadedSocketAcceptor(app, *store, settings));
    } else {
      if (log) acceptor.reset(new FIX::SocketAcceptor(app, *store, settings, *log));
      else acceptor.reset(new FIX::SocketAcceptor(app, *store, settings));
    }
    acceptor->start();
    for (;;) pause();
  } catch (const std::exception &e) {
    std::fprintf(stderr, "acceptor: %s\n", e.what());
    return 1;
  }
}
