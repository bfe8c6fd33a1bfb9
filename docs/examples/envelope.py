"""Signs requests to a storage gateway: the standard library and the package cryptography."""

import base64
import hashlib
import json
import os
import time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def base58(data: bytes) -> str:
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = ALPHABET[digit] + text
    zeros = len(data) - len(data.lstrip(b"\0"))
    return "1" * zeros + text


def signed_headers(key, method, path, op, body=b"", locker="", receipt="", aud=None, now=None, nonce=None):
    now = int(time.time()) if now is None else now
    has_body = method not in ("GET", "HEAD", "DELETE")
    envelope = {
        "v": 1,
        "locker_id": locker,
        "receipt_id": receipt,
        "nonce": nonce or os.urandom(16).hex(),
        "iat": now,
        "exp": now + 60,
        "ops": [op],
        "method": method,
        "path": path,
        "body_sha256": hashlib.sha256(body).hexdigest() if has_body else "",
        "sig_alg": "ed25519",
    }
    if aud is not None:
        envelope["aud"] = aud
    data = json.dumps(envelope, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return {
        "X-Svc-Envelope": base64.urlsafe_b64encode(data).rstrip(b"=").decode(),
        "X-Svc-Signature": base58(key.sign(data)),
    }


if __name__ == "__main__":  # the example of docs/http.md
    seed = "05c639f49addb3025344f54a3a8f6e6fde71841feea549197176203370d30a18"
    headers = signed_headers(
        Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seed)),
        "POST",
        "/v1/lockers/locker_14fa9d190572/files",
        "locker:write",
        body=b'{"content_type":"text/plain","filename":"readme.txt","ttl_min":30}',
        locker="locker_14fa9d190572",
        receipt="rcpt_test_0001",
        now=1781222400,
        nonce="a0a1a2a3a4a5a6a7a8a9aaabacadaeaf",
    )
    for name, value in headers.items():
        print(f"{name}: {value}")
