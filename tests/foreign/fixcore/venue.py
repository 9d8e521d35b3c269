"""fixcore as a venue of FIX 5.0 SP2: its Logon has SessionStatus(1409), and it reports each order as new.

    venue.py PORT    prints `listening`, then a line for each order and the end of each session
"""

import asyncio
import sys

from fixcore.application import Application
from fixcore.message.message import Message
from fixcore.session.session_settings import SessionSettings
from fixcore.store.factory import MemoryStoreFactory
from fixcore.transport.acceptor import SocketAcceptor

SETTINGS = """
[DEFAULT]
ConnectionType=acceptor
SocketAcceptHost=127.0.0.1
SocketAcceptPort={port}
UseDataDictionary=N
[SESSION]
BeginString=FIXT.1.1
DefaultApplVerID=FIX.5.0SP2
SenderCompID=VENUE
TargetCompID=FIRM
"""


class Venue(Application):
    def __init__(self):
        self.acceptor = None
        self.reports = 0

    def to_admin(self, message, session_id):
        if message.header.get(35) == "A":
            message.set_field(1409, "0")

    def on_logout(self, session_id):
        print("logout", flush=True)

    def from_app(self, message, session_id):
        if message.header.get(35) != "D":
            return
        self.reports += 1
        print("order", message.get_field(11), flush=True)
        report = Message()
        report.header.set(35, "8")
        for tag, value in (
            (37, f"O{self.reports}"), (17, f"E{self.reports}"), (11, message.get_field(11)), (150, "0"), (39, "0"),
            (55, message.get_field(55)), (54, message.get_field(54)), (38, message.get_field(38)),
            (151, message.get_field(38)), (14, "0"),
        ):
            report.set_field(tag, value)
        session = self.acceptor.sessions[session_id]
        asyncio.get_running_loop().create_task(session.send_app(report))


async def main():
    settings = SessionSettings.from_string(SETTINGS.format(port=sys.argv[1]))
    venue = Venue()
    venue.acceptor = SocketAcceptor(settings, venue, MemoryStoreFactory(), None)
    async with venue.acceptor:
        print("listening", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
