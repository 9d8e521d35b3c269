"""simplefix as the client that ../README.md describes. It is a codec: the session is here."""

import json
import os
import selectors
import socket
import sys
from collections import deque

from simplefix import FixMessage, FixParser

ORDER = ((21, "1"), (55, "EFX"), (54, "1"), (38, "100"), (40, "2"), (44, "101.5"))


def event(name, **members):
    print(json.dumps({"event": name, **members}), flush=True)


def text(message, tag):
    return (message.get(tag) or b"").decode()


def is_dup(message):
    return b"Y" in (message.get(43), message.get(97))


class Client:
    def __init__(self, port, sender, target):
        self.port, self.sender, self.target = port, sender, target
        self.selector = selectors.DefaultSelector()
        self.socket = None
        self.parser = FixParser()
        self.next_out = self.next_in = 1
        self.total = 0
        self.is_ready = False
        self.waiting = deque()
        # Orders by their numbers, with the time at which they were sent.
        self.kept = {}
        # Numbers that came above a gap and were no reports; the highest that showed it.
        self.ahead = set()
        self.asked_below = 0

    def send(self, msg_type, body, seq=None, first_sent=None):
        message = FixMessage()
        message.append_pair(8, "FIX.4.4")
        message.append_pair(35, msg_type)
        message.append_pair(49, self.sender)
        message.append_pair(56, self.target)
        message.append_pair(34, self.next_out if seq is None else seq)
        message.append_utc_timestamp(52)
        if seq is None:
            self.next_out += 1
        else:
            message.append_pair(43, "Y")
            message.append_pair(122, first_sent or text(message, 52))
        for tag, value in body:
            message.append_pair(tag, value)
        self.passed("out", message)
        try:
            self.socket.sendall(message.encode())
        except OSError:
            # The end of the connection is read later.
            pass
        return message

    def passed(self, way, message):
        event(
            way,
            type=text(message, 35),
            seq=int(message.get(34)),
            dup=is_dup(message),
            id=text(message, 11),
        )

    def send_order(self):
        now = FixMessage()
        now.append_utc_timestamp(60)
        body = ((11, self.waiting.popleft()), *ORDER, (60, now.get(60)))
        order = self.send("D", body)
        self.kept[int(order.get(34))] = (body, text(order, 52))
        if not self.waiting:
            event("sent", total=self.total)

    def resend(self, begin, end):
        last = end or self.next_out - 1
        gap = begin
        for seq in range(begin, last + 1):
            if seq in self.kept:
                self.fill(gap, seq)
                body, first_sent = self.kept[seq]
                self.send("D", body, seq, first_sent)
                gap = seq + 1
        self.fill(gap, last + 1)

    def fill(self, seq, following):
        if seq < following:
            self.send("4", ((123, "Y"), (36, following)), seq)

    def received(self, message):
        self.passed("in", message)
        msg_type, seq = text(message, 35), int(message.get(34))
        if msg_type == "A":
            self.is_ready = True
            event("logon", seq=seq)
        elif msg_type == "2":
            self.resend(int(message.get(7)), int(message.get(16)))
        elif msg_type == "1":
            self.send("0", ((112, message.get(112)),))
        elif msg_type in "3j":
            event("rejected", text=str(message))
        if seq > self.next_in:
            if msg_type != "8":
                self.ahead.add(seq)
            if self.asked_below == 0:
                self.asked_below = seq
                self.send("2", ((7, self.next_in), (16, 0)))
        elif seq == self.next_in:
            self.next_in = int(message.get(36)) if msg_type == "4" else seq + 1
            if msg_type == "8":
                event("report", id=text(message, 11), seq=seq, dup=is_dup(message))
        while self.next_in in self.ahead:
            self.ahead.remove(self.next_in)
            self.next_in += 1
        if self.next_in > self.asked_below:
            self.asked_below = 0

    def read(self):
        try:
            data = self.socket.recv(65536)
        except OSError:
            data = b""
        if not data:
            self.selector.unregister(self.socket)
            self.socket.close()
            self.socket = None
            self.is_ready = False
            event("logout")
            return
        self.parser.append_buffer(data)
        while message := self.parser.get_message():
            self.received(message)

    def obey(self, command, count):
        if command == "send":
            for _ in range(count):
                self.total += 1
                self.waiting.append(f"{self.sender}-{self.total}")
        elif command == "skip":
            self.next_out += count
        elif command == "back":
            self.next_in -= count
        elif command == "logon":
            self.socket = socket.create_connection(("127.0.0.1", self.port))
            self.selector.register(self.socket, selectors.EVENT_READ)
            self.parser = FixParser()
            self.send("A", ((98, 0), (108, 30)))
        elif command == "logout":
            self.send("5", ())
        elif command == "quit":
            return False
        else:
            event("unknown", command=command)
        return True

    def run(self):
        self.selector.register(sys.stdin, selectors.EVENT_READ)
        commands = b""
        while True:
            sends = self.is_ready and self.waiting
            # Reports are read between the orders.
            if sends:
                self.send_order()
            for key, _ in self.selector.select(0 if sends else None):
                if key.fileobj is self.socket:
                    self.read()
                elif key.fileobj is sys.stdin:
                    data = os.read(sys.stdin.fileno(), 4096)
                    *lines, commands = (commands + data).split(b"\n")
                    for line in lines:
                        words = line.decode().split()
                        if not self.obey(words[0], int(words[1]) if len(words) > 1 else 0):
                            return
                    if not data:
                        return


if __name__ == "__main__":
    Client(int(sys.argv[1]), sys.argv[2], sys.argv[3]).run()
