"""asyncfix as the client that ../README.md describes."""

import asyncio
import json
import logging
import sys
from collections import deque

from asyncfix import FIXMessage, FMsg, FTag
from asyncfix.codec import Codec
from asyncfix.connection import ConnectionState
from asyncfix.connection_client import AsyncFIXClient
from asyncfix.errors import DuplicateSeqNoError, FIXConnectionError
from asyncfix.journaler import Journaler
from asyncfix.message import MessageDirection
from asyncfix.protocol import FIXProtocol44

# Header fields of a message that is sent again.
RESENT = (FTag.PossDupFlag, FTag.OrigSendingTime)
ORDER = {21: "1", 55: "EFX", 54: "1", 38: "100", 40: "2", 44: "101.5"}


def event(name, **members):
    print(json.dumps({"event": name, **members}), flush=True)


def passed(way, message):
    """A message on the wire."""
    event(
        way,
        type=str(message.msg_type),
        seq=int(message[FTag.MsgSeqNum]),
        dup=is_dup(message),
        id=message.get(FTag.ClOrdID, ""),
    )


def is_dup(message):
    return "Y" in (message.get(FTag.PossDupFlag, ""), message.get(FTag.PossResend, ""))


class WholeMessages(Codec):
    """Gets one whole message at a time, and keeps each before it is written."""

    def __init__(self, protocol, journaler):
        super().__init__(protocol)
        self.journaler = journaler

    def decode(self, rawmsg, silent=True):
        # asyncfix takes the beginning of a second message for a part of the first one, unless it has
        # six bytes, and then drops the first one.
        end = whole(rawmsg)
        if end == 0:
            return None, 0, None
        return super().decode(rawmsg[:end], silent)

    def encode(self, msg, session, raw_seq_num=False):
        # asyncfix leaves these out of gap fills, so one of a number that had come (of a Logon) is too low.
        if msg.msg_type == FMsg.SEQUENCERESET:
            msg[FTag.PossDupFlag] = "Y"
            msg[FTag.OrigSendingTime] = self.current_datetime()
        # It writes them, fields of the header, behind the body.
        for tag in reversed(RESENT):
            if tag in msg:
                msg.tags.move_to_end(tag, last=False)
        encoded = super().encode(msg, session, raw_seq_num)
        sent, _, _ = super().decode(encoded.encode())
        passed("out", sent)
        # asyncfix keeps it only when it was written: an order that a broken connection swallowed would
        # be filled without content later.
        if not is_dup(sent) and sent.msg_type != FMsg.SEQUENCERESET:
            self.journaler.persist_msg(encoded.encode(), session, MessageDirection.OUTBOUND)
        return encoded


def whole(raw):
    """The length of the first message, 0 when it is not whole."""
    length = raw.find(b"\x019=")
    end = raw.find(b"\x01", length + 1)
    if length < 0 or end < 0:
        return 0
    total = end + 1 + int(raw[length + 3 : end]) + len("10=000|")
    return total if len(raw) >= total else 0


class Keeper(Journaler):
    """Takes a message that it has."""

    def persist_msg(self, msg, session, direction):
        try:
            super().persist_msg(msg, session, direction)
        except DuplicateSeqNoError:
            pass


class Client(AsyncFIXClient):
    def __init__(self, port, sender, target):
        journaler = Keeper()
        super().__init__(FIXProtocol44(), sender, target, journaler, "127.0.0.1", port)
        self._codec = WholeMessages(self.protocol, journaler)
        self.sender = sender
        self.total = 0
        # While asyncfix answers a ResendRequest, the next number is one of the past.
        self.lock = asyncio.Lock()
        self.is_ready = False
        self.orders = deque()
        self.wake = asyncio.Event()

    async def _process_message(self, msg, raw_msg):
        passed("in", msg)
        if msg.msg_type == FMsg.LOGON:
            event("logon", seq=int(msg[FTag.MsgSeqNum]))
        if msg.msg_type in (FMsg.REJECT, FMsg.BUSINESSMESSAGEREJECT):
            event("rejected", text=raw_msg.decode().replace("\x01", "|"))
        async with self.lock:
            await super()._process_message(msg, raw_msg)

    async def on_connect(self):
        await self.send_msg(FIXMessage(FMsg.LOGON, {98: 0, 108: 30}))

    async def on_logon(self, is_healthy):
        self.is_ready = True
        self.wake.set()

    async def disconnect(self, *args, **kwargs):
        # The end of a broken connection is an error once more, and would end the task that reads.
        try:
            await super().disconnect(*args, **kwargs)
        except ConnectionError:
            self._socket_reader = self._socket_writer = None
            await self._state_set(ConnectionState.DISCONNECTED_BROKEN_CONN)
            await self.on_disconnect()

    async def on_disconnect(self):
        self.is_ready = False
        self._msg_buffer = b""
        event("logout")

    async def on_message(self, msg):
        if msg.msg_type == FMsg.EXECUTIONREPORT:
            event("report", id=msg[FTag.ClOrdID], seq=int(msg[FTag.MsgSeqNum]), dup=is_dup(msg))

    def skip(self, count):
        # asyncfix fills the numbers of session messages that it has, and is silent of those that it has not.
        for _ in range(count):
            unsent = Codec.encode(self._codec, FIXMessage(FMsg.HEARTBEAT), self._session)
            self._journaler.persist_msg(
                unsent.encode(), self._session, MessageDirection.OUTBOUND
            )

    async def send_orders(self):
        while True:
            while self.orders and self.is_ready:
                async with self.lock:
                    number = self._session.next_num_out
                    try:
                        await self.send_msg(self.orders[0])
                    except (ConnectionError, FIXConnectionError):
                        self.is_ready = False
                    # One with a number is kept, and will be asked for.
                    if self._session.next_num_out > number:
                        self.orders.popleft()
                if not self.orders:
                    event("sent", total=self.total)
                # Reports are read between the orders.
                await asyncio.sleep(0)
            self.wake.clear()
            await self.wake.wait()

    async def obey(self):
        lines = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(lines), sys.stdin
        )
        sender = asyncio.create_task(self.send_orders())
        while line := (await lines.readline()).decode().split():
            command, count = line[0], int(line[1]) if len(line) > 1 else 0
            if command == "send":
                for _ in range(count):
                    self.total += 1
                    now = Codec.current_datetime()
                    fields = {11: f"{self.sender}-{self.total}", **ORDER, 60: now}
                    self.orders.append(FIXMessage(FMsg.NEWORDERSINGLE, fields))
                self.wake.set()
            elif command == "skip":
                async with self.lock:
                    self.skip(count)
            elif command == "back":
                async with self.lock:
                    number = self._session.next_num_in - count
                    self._journaler.set_seq_num(self._session, next_num_in=number)
            elif command == "logon":
                await self.connect()
            elif command == "logout":
                async with self.lock:
                    await self.send_msg(FIXMessage(FMsg.LOGOUT))
            elif command == "quit":
                break
            else:
                event("unknown", command=command)
        sender.cancel()


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)
    asyncio.run(Client(int(sys.argv[1]), sys.argv[2], sys.argv[3]).obey())
