"""Verifies the signature of a Logon, as a venue would: python3 verify.py RECIPE KEY < LOGON

RECIPE is ed25519 (KEY: the file of the public key in PEM), coinbase (KEY: the secret) or cme (KEY: the
secret key). The standard library computes HMACs; openssl verifies Ed25519. Prints `good`, or says what is wrong
and ends with status 1.
"""

import base64
import hashlib
import hmac
import os
import subprocess
import sys
import tempfile

SOH = b"\x01"


def fields(message):
    """Tags with values; the value of a data field has the length that stands before it."""
    found, at, length = {}, 0, None
    lengths = {b"95": b"96", b"354": b"355", b"1401": b"1402"}
    while at < len(message):
        equals = message.index(b"=", at)
        tag, start = message[at:equals], equals + 1
        if length and length[0] == tag:
            end = start + length[1]
            if message[end:end + 1] != SOH:
                sys.exit(f"the length before {tag.decode()} is wrong")
        else:
            end = message.index(SOH, start)
        value = message[start:end]
        length = (lengths[tag], int(value)) if tag in lengths else None
        if tag in found:
            sys.exit(f"{tag.decode()} is there twice")
        found[tag] = value
        at = end + 1
    return found


def same(wanted, found):
    if not hmac.compare_digest(wanted, found):
        sys.exit(f"the signature is {found.decode()}, not {wanted.decode()}")


def ed25519(logon, key):
    payload = SOH.join(logon[tag] for tag in (b"35", b"49", b"56", b"34", b"52"))
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in ("payload", "signature")]
        for name, text in zip(names, (payload, base64.b64decode(logon[b"96"], validate=True))):
            with open(name, "wb") as file:
                file.write(text)
        verified = subprocess.run(
            ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", key, "-rawin",
             "-in", names[0], "-sigfile", names[1]],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if verified.returncode != 0:
        sys.exit(verified.stdout.decode())


def coinbase(logon, key):
    payload = SOH.join(logon[tag] for tag in (b"52", b"35", b"34", b"49", b"56", b"554"))
    digest = hmac.new(base64.b64decode(key), payload, hashlib.sha256).digest()
    same(base64.b64encode(digest), logon[b"96"])


def cme(logon, key):
    tags = (34, 49, 50, 52, 57, 108, 142, 369, 1603, 1604, 1605)
    payload = b"\n".join(logon[str(tag).encode()] for tag in tags)
    secret = base64.urlsafe_b64decode(key + "=" * (-len(key) % 4))
    digest = hmac.new(secret, payload, hashlib.sha256).digest()
    same(base64.urlsafe_b64encode(digest).rstrip(b"="), logon[b"1402"])
    if (logon[b"1400"], logon[b"355"]) != (b"CME-1-SHA-256", b"ACCESS-KEY-ID"):
        sys.exit("1400 or 355 is wrong")


if __name__ == "__main__":
    recipes = {"ed25519": ed25519, "coinbase": coinbase, "cme": cme}
    recipes[sys.argv[1]](fields(sys.stdin.buffer.read()), sys.argv[2])
    print("good")
