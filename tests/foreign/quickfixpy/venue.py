"""QuickFIX for Python as a venue of FIX 4.4: it reports every other order as new, and answers the rest by its engine's
own BusinessMessageReject, which has no BusinessRejectRefID(379).

    venue.py PORT    prints `listening`, then a line for each order and the end of each session
"""

import sys

import quickfix as fix

SETTINGS = """[DEFAULT]
ConnectionType=acceptor
SocketAcceptPort={port}
UseDataDictionary=N
NonStopSession=Y
[SESSION]
BeginString=FIX.4.4
SenderCompID=VENUE
TargetCompID=FIRM
"""


def value(message, field):
    message.getField(field)
    return field.getString()


class Venue(fix.Application):
    orders = 0

    def onCreate(self, session): pass
    def onLogon(self, session): pass
    def toAdmin(self, message, session): pass
    def fromAdmin(self, message, session): pass
    def toApp(self, message, session): pass

    def onLogout(self, session):
        print("logout", flush=True)

    def fromApp(self, message, session):
        self.orders += 1
        order = value(message, fix.ClOrdID())
        print("order", order, flush=True)
        if self.orders % 2 == 0:
            raise fix.UnsupportedMessageType()
        report = fix.Message()
        report.getHeader().setField(fix.MsgType("8"))
        for tag, text in (
            (37, f"O{self.orders}"), (17, f"E{self.orders}"), (11, order), (150, "0"), (39, "0"),
            (55, value(message, fix.Symbol())), (54, value(message, fix.Side())), (38, "100"), (151, "100"),
            (14, "0"), (6, "0"),
        ):
            report.setField(fix.StringField(tag, text))
        fix.Session.sendToTarget(report, session)


def main():
    with open("venue.cfg", "w") as file:
        file.write(SETTINGS.format(port=sys.argv[1]))
    settings = fix.SessionSettings("venue.cfg")
    acceptor = fix.SocketAcceptor(Venue(), fix.MemoryStoreFactory(), settings)
    acceptor.start()
    print("listening", flush=True)
    sys.stdin.read()
    acceptor.stop()


main()
