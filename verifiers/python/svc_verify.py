#!/usr/bin/env python3
"""Verifies evidence bundles of a storage gateway: no network, no packages, written from the documents alone.

    python3 svc_verify.py bundle.json --keys KEY_LIST_OR_HEX

The first line is the verdict. The exit code is 3 if it is FAILED (with --strict: unless it is VERIFIED), 2 if the
arguments cannot be used, else 0. Ed25519 is checked by RFC 8032 in plain Python; the package `cryptography` makes it
faster where it is installed, and decides nothing that was not checked here before.

The parts, in order: text and numbers; JSON; Ed25519; Merkle trees; the list of files; keys; notes, logs and policies;
transactions; the facts of a bundle; the verdict; chains; the command line.
"""

import argparse
import base64
import binascii
import codecs
import hashlib
import json
import os
import re
import signal
import sys
from calendar import timegm
from datetime import datetime

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError:
    Ed25519PublicKey = None

PASSED, FAILED, NOT_CHECKED, UNAVAILABLE = "passed", "failed", "not_checked", "unavailable"
ANCHOR_FACTS = ["anchor_tx_succeeded", "anchor_signer_matches", "anchor_payload_matches", "anchor_slot_matches",
                "anchor_finalized", "registry_matches"]
LOG_FACTS = ["log_included", "log_cosigned", "log_anchored"]
DOMAIN_TAG = "SVCGW_CONTENT_ENVELOPE_V2"
CLOCK_TOLERANCE = 600
MAX_SAFE = 2**53 - 1


class Refused(Exception):
    """There are no facts about this bundle."""

    def __init__(self, code, why):
        super().__init__(why)
        self.code, self.why = code, why


class Unusable(Exception):
    """An argument that cannot be used: a key, a policy, a file."""


class NodeSilent(Exception):
    """The node has no usable answer."""


# --- Text and numbers -------------------------------------------------------------------------------------------------

HEX = {n: re.compile(r"[0-9a-f]{%d}" % n) for n in (16, 32, 64, 128)}
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def is_hex(value, digits):
    return isinstance(value, str) and HEX[digits].fullmatch(value) is not None


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_prefixed_hash(value):
    return isinstance(value, str) and value.startswith("sha256:") and is_hex(value[7:], 64)


def bare(value):
    return value[7:] if value.startswith("sha256:") else value


def is_integer(value, low=0, high=MAX_SAFE):
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def sha256(data):
    return hashlib.sha256(data).digest()


def sha256_hex(text):
    return hashlib.sha256(text.encode()).hexdigest()


def base58(data):
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = BASE58[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text


def from_base58(text, length):
    """The bytes, or None unless the text is the base58 of exactly so many."""
    if not isinstance(text, str) or not 0 < len(text) <= 2 * length or any(c not in BASE58 for c in text):
        return None
    number = 0
    for character in text:
        number = number * 58 + BASE58.index(character)
    try:
        data = number.to_bytes(length, "big")
    except OverflowError:
        return None
    return data if base58(data) == text else None


def from_base64(text):
    """The bytes, or None unless the text is the one base64 of them."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == text else None


def unix_time(text, decimals=True):
    """Seconds of `YYYY-MM-DDTHH:MM:SSZ`, where up to nine decimals are cut off; None for anything else, and for days
    that do not exist."""
    match = re.fullmatch(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,9})?Z",
                         text if isinstance(text, str) else "")
    if not match or (match[2] and not decimals):
        return None
    try:
        return timegm(datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%S").timetuple())
    except ValueError:
        return None


# --- JSON -------------------------------------------------------------------------------------------------------------

TOKEN = re.compile(
    r"[ \t\n\r]*(?:"
    r"(?P<mark>[{}\[\]:,])"
    r'|"(?P<text>[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*)"'
    r"|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<word>true|false|null))")
SPACE = re.compile(r"[ \t\n\r]*")
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
SURROGATE = re.compile("[\ud800-\udfff]")
SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
MAX_LEVELS = 32
MAX_BYTES = 1 << 30
MAX_UNITS = 1 << 20  # of UTF-16, besides the entries of the list
MAX_ENTRY_UNITS = 1 << 16
CHUNK = 1 << 16


def utf16_units(text):
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def unescape(text):
    def character(match):
        if match[1]:
            return chr(int(match[1], 16))
        return SHORT_ESCAPES.get(match[2], match[2])

    def pair(match):
        return match[0].encode("utf-16", "surrogatepass").decode("utf-16")

    return SURROGATES.sub(pair, ESCAPE.sub(character, text))


class Json:
    """Strict JSON out of a stream of bytes: UTF-8 without byte order mark, no key twice, at most 32 levels, no number
    beyond a double. Numbers are doubles that are integers where they are whole: `1.0` is 1, `-0` is 0."""

    def __init__(self, read):
        self.read, self.bytes = read, 0
        self.decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self.buffer, self.at, self.ended, self.dropped = "", 0, False, 0
        self.peeked = None
        self.in_list, self.list_units = False, 0
        # Where an entry begins in the buffer (None between entries), and what was dropped of it.
        self.entry_at, self.entry_before = None, 0

    def wrong(self, why):
        raise Refused("not_strict_json", f"not strict JSON: {why}")

    def units(self):
        """How much was read, in units of UTF-16."""
        return self.dropped + utf16_units(self.buffer[:self.at])

    def fill(self):
        # Twice as much each time, so that a long string is not searched again for each chunk.
        data = self.read(max(CHUNK, len(self.buffer) - self.at))
        self.ended = not data
        self.bytes += len(data)
        try:
            text = self.decoder.decode(data, final=self.ended)
        except UnicodeDecodeError:
            self.wrong("bytes that are not UTF-8")
        if self.dropped + len(self.buffer) == 0 and text.startswith("\ufeff"):
            self.wrong("a byte order mark")
        if self.entry_at is not None:
            self.entry_before, self.entry_at = self.entry_units(), 0
        self.dropped = self.units()
        self.buffer, self.at = self.buffer[self.at:] + text, 0
        self.check_size()

    def entry_units(self):
        return 0 if self.entry_at is None else self.entry_before + utf16_units(self.buffer[self.entry_at:self.at])

    def check_size(self):
        if self.in_list:
            is_large = self.entry_units() > MAX_ENTRY_UNITS or len(self.buffer) > MAX_UNITS
        else:
            is_large = self.units() - self.list_units > MAX_UNITS or len(self.buffer) > MAX_UNITS + 2 * CHUNK
        if is_large or self.bytes > MAX_BYTES:
            raise Refused("too_large", "the text is too large")

    def list_items(self, read_entry):
        """The entries of the list of a bundle, each of bounded size."""
        start, self.in_list = self.units(), True

        def read_bounded():
            # The mark that begins the first entry was read already.
            if self.peeked is None:
                self.skip_space()
            self.entry_at, self.entry_before = self.at, 0 if self.peeked is None else 1
            entry = read_entry()
            self.check_size()
            self.entry_at = None
            return entry

        yield from self.items(read_bounded)
        self.in_list = False
        self.list_units += self.units() - start - 1

    def skip_space(self):
        self.at = SPACE.match(self.buffer, self.at).end()
        while self.at == len(self.buffer) and not self.ended:
            self.fill()
            self.at = SPACE.match(self.buffer, self.at).end()

    def next(self):
        """The next token as (kind, value); kind is a mark, "value" or "end"."""
        if self.peeked is not None:
            token, self.peeked = self.peeked, None
            return token
        while True:
            match = TOKEN.match(self.buffer, self.at)
            # A token at the end of the buffer may go on.
            if match and (match.end() < len(self.buffer) or self.ended):
                break
            if self.ended:
                if self.buffer[self.at:].strip(" \t\n\r"):
                    self.wrong("no value")
                return "end", None
            self.at = SPACE.match(self.buffer, self.at).end()
            self.fill()
        self.at = match.end()
        kind, text = match.lastgroup, match[match.lastgroup]
        if kind == "mark":
            return text, None
        if kind == "text":
            return "value", unescape(text) if "\\" in text else text
        if kind == "number":
            number = float(text)
            if number in (float("inf"), float("-inf")):
                self.wrong("a number beyond a double")
            return "value", int(number) if number.is_integer() and abs(number) <= MAX_SAFE else number
        return "value", {"true": True, "false": False, "null": None}[text]

    def peek(self):
        if self.peeked is None:
            self.peeked = self.next()
        return self.peeked

    def expect(self, mark):
        if self.next()[0] != mark:
            self.wrong(f"expected {mark}")

    def value(self, level=1):
        """Parses a value that begins at this level; the outermost object is level 1."""
        kind, value = self.next()
        if kind == "value":
            return value
        if kind not in ("{", "["):
            self.wrong("expected a value")
        if level > MAX_LEVELS:
            self.wrong("more than 32 levels")
        if kind == "{":
            return dict(self.fields(lambda _: self.value(level + 1)))
        return list(self.items(lambda: self.value(level + 1)))

    def fields(self, read_value):
        """The (key, value) of an object whose brace was read."""
        if self.peek()[0] == "}":
            self.next()
            return
        keys = set()
        while True:
            kind, key = self.next()
            if kind != "value" or not isinstance(key, str):
                self.wrong("expected a key")
            if key in keys:
                self.wrong("a key twice")
            keys.add(key)
            self.expect(":")
            yield key, read_value(key)
            kind, _ = self.next()
            if kind == "}":
                return
            if kind != ",":
                self.wrong("expected a comma")

    def items(self, read_item):
        """The items of a list whose bracket was read."""
        if self.peek()[0] == "]":
            self.next()
            return
        while True:
            yield read_item()
            kind, _ = self.next()
            if kind == "]":
                return
            if kind != ",":
                self.wrong("expected a comma")

    def end(self):
        if self.next()[0] != "end":
            self.wrong("more text after the end")
        self.at = len(self.buffer)
        self.check_size()


def bytes_reader(data):
    state = [0]

    def read(size):
        start = state[0]
        state[0] += size
        return data[start:start + size]

    return read


def parse_json(data):
    reader = Json(bytes_reader(data))
    value = reader.value()
    reader.end()
    return value


def json_text(text):
    """As JSON.stringify writes it."""
    return json.dumps(text, ensure_ascii=False)


def canonical(value):
    """RFC 8785 for what statements may hold; raises ValueError for fractions, large numbers and lone surrogates."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        if SURROGATE.search(value):
            raise ValueError("a lone surrogate")
        return json_text(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(canonical(key) + ":" + canonical(value[key]) for key in keys) + "}"
    raise ValueError("a number that is no safe integer")


def same(one, other):
    """Equal as JSON: True is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


# --- Ed25519 (RFC 8032) -----------------------------------------------------------------------------------------------

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SQRT_M1 = pow(2, (P - 1) // 4, P)


def add(a, b):
    """Adds points in extended coordinates (X, Y, Z, T)."""
    x1, y1, z1, t1 = a
    x2, y2, z2, t2 = b
    m, n = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = n - m, d - c, d + c, n + m
    return e * f % P, g * h % P, f * g % P, e * h % P


def double(point):
    x, y, z, _ = point
    a, b = x * x % P, y * y % P
    e, g = a + b - (x + y) * (x + y), a - b
    f = 2 * z * z + g
    h = a + b
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiples(point):
    """0 to 15 times the point."""
    found = [(0, 1, 1, 0), point]
    while len(found) < 16:
        found.append(add(found[-1], point))
    return found


def sum_of_products(scalars, tables):
    """Adds the products of scalars and points, four bits of all scalars at a time; a table has the multiples of its
    point."""
    result = (0, 1, 1, 0)
    for shift in range(252, -1, -4):
        for _ in range(4):
            result = double(result)
        for scalar, table in zip(scalars, tables):
            digit = scalar >> shift & 15
            if digit:
                result = add(result, table[digit])
    return result


def decompress(data):
    """The point of 32 bytes, or None if they are no point, or a second encoding of one."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * v**3 * pow(u * v**7, (P - 5) // 8, P) % P
    if (v * x * x + u) % P == 0:
        x = x * SQRT_M1 % P
    if (v * x * x - u) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def compress(point):
    x, y, z, _ = point
    inverse = pow(z, P - 2, P)
    x, y = x * inverse % P, y * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def is_small_order(point):
    x, y, z, _ = double(double(double(point)))
    return x == 0 and y == z


BASE = multiples(decompress((4 * pow(5, P - 2, P) % P).to_bytes(32, "little")))
POINTS = {}  # decompressed keys: a gateway has few of them


def key_point(key):
    """The point of a public key that may sign: the one encoding of it, and not of small order. None otherwise."""
    if key not in POINTS:
        if len(POINTS) > 1000:
            POINTS.clear()
        point = decompress(key)
        POINTS[key] = None if point is None or is_small_order(point) else point
    return POINTS[key]


def ed25519_verify(key, message, signature):
    """Whether the signature is valid, without the cofactor. Key, R and S must be in their one form, and neither key
    nor R of small order."""
    if len(key) != 32 or len(signature) != 64:
        return False
    s = int.from_bytes(signature[32:], "little")
    if s >= ORDER or key_point(key) is None:
        return False
    r = decompress(signature[:32])
    if r is None or is_small_order(r):
        return False
    if Ed25519PublicKey is not None:
        try:
            Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        except InvalidSignature:
            return False
        return True
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    x, y, z, t = key_point(key)
    return compress(sum_of_products((s, k), (BASE, multiples((P - x, y, z, P - t))))) == signature[:32]


def key_id(key_hex):
    return "ed25519:" + key_hex[:16]


def verify_hex(key_hex, message, signature_hex):
    return ed25519_verify(bytes.fromhex(key_hex), message, bytes.fromhex(signature_hex))


def tagged(tag, digest):
    return tag.encode() + b"\0" + digest


# --- Merkle trees -----------------------------------------------------------------------------------------------------


class MerkleTree:
    """svc-merkle-v1 over leaves that arrive one by one, in the memory of one hash for each level."""

    def __init__(self):
        self.count = 0
        self.waiting = []  # for each level: the left node that waits for its sibling, or None

    def add(self, leaf):
        self.count += 1
        node = leaf
        for level, left in enumerate(self.waiting):
            if left is None:
                self.waiting[level] = node
                return
            self.waiting[level] = None
            node = parent(left, node)
        self.waiting.append(node)

    def root(self):
        node = None
        for level, left in enumerate(self.waiting):
            if node is None and level == len(self.waiting) - 1:
                return left
            if left is not None:
                node = parent(left, left if node is None else node)
            elif node is not None:
                node = parent(node, node)
        return node


def parent(left, right):
    return hashlib.sha256((left + right).encode("ascii")).hexdigest()


def leaf_hash(name, size, content):
    return hashlib.sha256(f"{name}:{size}:{content}".encode()).hexdigest()


def tree_depth(leaves):
    return (leaves - 1).bit_length()


# --- The list of files ------------------------------------------------------------------------------------------------

UNSORTED = 50_000
"""So many files are held in memory and sorted; a longer list has to be in code-point order, as gateways write it."""


class FileList:
    """What a bundle lists, entry by entry: count, bytes, root, digest of the manifest, and what the folder has."""

    def __init__(self, folder=None):
        self.folder = folder
        self.is_folder_equal, self.folder_problem, self.found = True, None, set()
        self.tree, self.bytes = MerkleTree(), 0
        self.manifest = hashlib.sha256(b"[")
        self.last = None
        self.held = []  # while the list is short: its entries, to be sorted
        self.proofs = []  # (filename, leaf_index, steps, root) of each entry of a redacted bundle
        self.proof_problem = None
        self.names = set()

    def add_entry(self, entry):
        if not isinstance(entry, dict):
            raise Refused("bad_file_entry", "an entry of the list is not an object")
        name, size, content = entry.get("filename"), entry.get("size_bytes"), entry.get("content_hash")
        if not isinstance(name, str) or not name or SURROGATE.search(name):
            raise Refused("bad_file_entry", "a filename is missing, empty or not text")
        if ":" in name:
            raise Refused("colon_in_filename", f"the name {json_text(name)} contains a colon")
        if not is_integer(size):
            raise Refused("bad_file_entry", f"the size of {json_text(name)} is not a whole number of bytes")
        if not isinstance(content, str) or not is_hex(bare(content), 64):
            raise Refused("bad_file_entry", f"the hash of {json_text(name)} is not a SHA-256 in lower-case hex")
        self.take((name, size, bare(content)))
        # A proof is an unknown field of a whole bundle: which of the two this is may not be known yet.
        if "proof" in entry or "leaf_index" in entry:
            self.add_proof(name, size, bare(content), entry)
        elif self.proof_problem is None:
            self.proof_problem = f"{json_text(name)} has no proof"

    def add_proof(self, name, size, content, entry):
        index, proof = entry.get("leaf_index"), entry.get("proof")
        if not is_integer(index) or not isinstance(proof, list) or len(proof) > 32:
            self.proof_problem = self.proof_problem or f"the proof of {json_text(name)} is malformed"
            return
        node, sides = leaf_hash(name, size, content), 0
        for level, step in enumerate(proof):
            if (not isinstance(step, dict) or step.keys() != {"hash", "position"} or not is_hex(step["hash"], 64)
                    or step["position"] not in ("left", "right")):
                self.proof_problem = self.proof_problem or f"a step of the proof of {json_text(name)} is malformed"
                return
            if step["position"] == "left":
                sides |= 1 << level
                node = parent(step["hash"], node)
            else:
                node = parent(node, step["hash"])
        if sides != index:
            self.proof_problem = self.proof_problem or f"the proof of {json_text(name)} is of another place"
            return
        self.proofs.append((name, index, len(proof), node))

    def take(self, entry):
        if self.held is None:
            self.commit(entry)
            return
        self.held.append(entry)
        if len(self.held) > UNSORTED:
            self.release()

    def release(self):
        held, self.held = self.held, None
        for entry in sorted(held):
            self.commit(entry)

    def commit(self, entry):
        name, size, content = entry
        if self.last is not None and name <= self.last:
            if name == self.last:
                raise Refused("duplicate_filename", f"{json_text(name)} is listed twice")
            raise Refused("unsorted_file_list", f"a list of more than {UNSORTED} files is not in code-point order")
        self.last = name
        row = f'{{"content_hash":"{content}","filename":{json_text(name)},"size_bytes":"{size}"}}'
        self.manifest.update(("," if self.tree.count else "").encode() + row.encode())
        self.tree.add(leaf_hash(name, size, content))
        self.bytes += size
        if self.folder is not None:
            self.compare(name, size, content)

    def compare(self, name, size, content):
        found = self.folder.hash(name)
        if found is not None:
            self.found.add(name)
        if found != (size, content):
            self.is_folder_equal = False
            self.folder_problem = self.folder_problem or (
                f"{json_text(name)} is not in the folder" if found is None else f"{json_text(name)} differs")

    def finish(self):
        if self.held is not None:
            self.release()
        if self.tree.count == 0:
            raise Refused("empty_file_list", "the list of files is empty")
        self.count, self.root = self.tree.count, self.tree.root()
        self.manifest.update(b"]")
        self.manifest_digest = self.manifest.hexdigest()

    def extra_files(self):
        return [name for name in self.folder.names() if name not in self.found]


class LeafList:
    """The leaves of a bundle without names."""

    def __init__(self, folder=None):
        self.tree, self.last = MerkleTree(), None
        self.leaves = [] if folder is not None else None

    def add(self, leaf):
        if not is_hex(leaf, 64):
            raise Refused("bad_leaf_hash", "a leaf is not 64 digits of lower-case hex")
        if leaf == self.last:
            raise Refused("duplicate_filename", "a leaf is listed twice in a row")
        self.last = leaf
        self.tree.add(leaf)
        if self.leaves is not None:
            self.leaves.append(leaf)

    def finish(self):
        if self.tree.count == 0:
            raise Refused("empty_file_list", "the list of leaves is empty")
        self.count, self.root = self.tree.count, self.tree.root()


def is_safe_name(name):
    """Whether a name stays within a folder."""
    return ("\\" not in name and "\0" not in name and not name.startswith("/")
            and all(part not in ("", ".", "..") for part in name.split("/")))


class TextFolder:
    """A folder of the conformance pack: names and texts."""

    def __init__(self, files):
        self.files = files

    def hash(self, name):
        if not is_safe_name(name) or name not in self.files:
            return None
        data = self.files[name].encode()
        return len(data), hashlib.sha256(data).hexdigest()

    def names(self):
        return list(self.files)


SYSTEM_FILES = {".DS_Store", "Thumbs.db"}


class DiskFolder:
    """A folder on disk. Links are followed; what is neither a file nor a folder is an entry without a hash."""

    def __init__(self, path):
        self.path = path
        if not os.path.isdir(path):
            raise Unusable(f"{path} is not a folder")

    def hash(self, name):
        if not is_safe_name(name):
            return None
        path = os.path.join(self.path, *name.split("/"))
        if not os.path.isfile(path):
            return None
        size, digest = 0, hashlib.sha256()
        try:
            with open(path, "rb") as file:
                for chunk in iter(lambda: file.read(1 << 20), b""):
                    size += len(chunk)
                    digest.update(chunk)
        except OSError:
            return None
        return size, digest.hexdigest()

    def names(self):
        """All entries but folders, and but the files that systems add."""
        for folder, folders, files in os.walk(self.path, followlinks=True):
            folders.sort()
            for name in sorted(files):
                if name not in SYSTEM_FILES:
                    yield os.path.relpath(os.path.join(folder, name), self.path).replace(os.sep, "/")


# --- Keys -------------------------------------------------------------------------------------------------------------


USES = ("receipt", "attestation", "evidence-envelope")
MAX_ENDORSEMENTS = 64
MAX_KNOWN_REVOCATIONS, MAX_OTHER_REVOCATIONS = 4096, 64


class TrustedKey:
    """A key with a use (None: every use) and a period; None is no limit."""

    def __init__(self, key, use=None, since=None, until=None):
        self.key, self.use, self.since, self.until = key, use, since, until


def is_in_use(entry, time, entries):
    """Whether a key was in use at a time, give or take ten minutes. If all keys have a start, the earliest signed what
    is older, too."""
    if entry.since is None and entry.until is None:
        return True
    if time is None:
        return False
    starts = [other.since for other in entries]
    since = None if None not in starts and entry.since == min(starts) else entry.since
    return ((since is None or time >= since - CLOCK_TOLERANCE)
            and (entry.until is None or time <= entry.until + CLOCK_TOLERANCE))


class PinnedKeys:
    """What the caller trusts, from somewhere else than the bundle."""

    def __init__(self):
        self.keys, self.recovery, self.logs = [], [], []
        self.endorsements, self.revocations = [], []


def read_public_key(value):
    if not is_hex(value, 64) or key_point(bytes.fromhex(value)) is None:
        raise Unusable(f"{json.dumps(value)} is not a public key of Ed25519 in hex")
    return value


def read_pinned_keys(sources):
    """Keys in hex, or parsed key lists."""
    pinned = PinnedKeys()
    for source in sources:
        if isinstance(source, str):
            pinned.keys.append(TrustedKey(read_public_key(source)))
        else:
            read_key_list(source, pinned)
    return pinned


def read_key_list(value, pinned):
    if not isinstance(value, dict) or value.get("schema") != "svc/signing-keys/v1" or not isinstance(value.get("keys"), list):
        raise Unusable("a key list needs the schema svc/signing-keys/v1 and keys")
    if not value["keys"]:
        raise Unusable("the key list is empty")
    for entry in value["keys"]:
        if not isinstance(entry, dict):
            raise Unusable("an entry of the key list is not an object")
        key = read_public_key(entry.get("public_key_hex"))
        if (entry.get("alg") != "ed25519" or entry.get("key_id") != key_id(key) or not isinstance(entry.get("use"), str)
                or entry.get("status") not in ("active", "retired")):
            raise Unusable(f"the entry of {key_id(key)} is malformed")
        since, until = unix_time(entry.get("valid_from")), unix_time(entry.get("valid_to"))
        for field, time in (("valid_from", since), ("valid_to", until)):
            if entry.get(field) is not None and time is None:
                raise Unusable(f"{field} of {key_id(key)} is not a time")
        pinned.keys.append(TrustedKey(key, entry["use"], since, until))
    recovery, logs = value.get("recovery"), value.get("logs")
    if recovery is not None:
        pinned.recovery.append(read_public_key(recovery.get("public_key_hex") if isinstance(recovery, dict) else None))
    if logs is not None and not isinstance(logs, list):
        raise Unusable("the logs of the key list are no list")
    for log in logs or []:
        pinned.logs.append(read_log_key(log.get("vkey") if isinstance(log, dict) else None))
    for field in ("endorsements", "revocations"):
        if isinstance(value.get(field), list):
            getattr(pinned, field).extend(value[field])


class Change:
    """An endorsement (from `time` on) or a revocation (since `time`) of a key by another."""

    def __init__(self, by, of, time, issued):
        self.by, self.of, self.time, self.issued = by, of, time, issued


def read_change(document, kind, audience):
    """A change that its own key signed; None for any other document."""
    tag, schema, by, of, time = {
        "endorsement": ("SVC_KEY_ENDORSEMENT_V1", "svc/key-endorsement/v1", "endorser", "endorsed", "valid_from"),
        "revocation": ("SVC_KEY_REVOCATION_V1", "svc/key-revocation/v1", "revoked_by", "revoked", "since"),
    }[kind]
    if not isinstance(document, dict) or not isinstance(document.get("body"), dict):
        return None
    body, signature = document["body"], document.get("signature")
    if body.keys() != {"schema", "purpose", "audience", by, of, time, "issued_at"} or not is_hex(signature, 128):
        return None
    if body["schema"] != schema or body["purpose"] != "statement":
        return None
    if not isinstance(body["audience"], str) or not 0 < utf16_units(body["audience"]) <= 2000:
        return None
    if audience is not None and body["audience"] != audience:
        return None
    for party in (body[by], body[of]):
        if not isinstance(party, dict) or party.keys() != {"key_id", "public_key_hex"}:
            return None
        if not is_hex(party["public_key_hex"], 64) or party["key_id"] != key_id(party["public_key_hex"]):
            return None
    change = Change(body[by]["public_key_hex"], body[of]["public_key_hex"], unix_time(body[time]),
                    unix_time(body["issued_at"]))
    if change.time is None or change.issued is None or (kind == "endorsement" and change.by == change.of):
        return None
    try:
        message = tagged(tag, sha256(canonical(body).encode()))
    except ValueError:
        return None
    return change if verify_hex(change.by, message, signature) else None


class Trust:
    """Which keys the pinned ones lead to, and since when which of them are revoked."""

    def __init__(self, pinned, bundle_list, audience=None):
        self.pinned, self.recovery = pinned.keys, pinned.recovery
        bundle_list = bundle_list if isinstance(bundle_list, dict) else {}

        def documents(field):
            return list(getattr(pinned, field)) + (bundle_list[field] if isinstance(bundle_list.get(field), list) else [])

        changes = (read_change(document, "endorsement", audience) for document in documents("endorsements")[:MAX_ENDORSEMENTS])
        self.endorsements = [change for change in changes if change]
        reached, self.counted = self.follow(set())
        self.starts = {}  # the earliest start of each key that is reached without revocations; None for one without
        for entry in reached:
            starts = [start for start in (self.starts.get(entry.key), entry.since) if start is not None]
            self.starts[entry.key] = min(starts, default=None)
        known = set(self.recovery) | self.starts.keys()
        self.revocations = self.read_revocations(documents("revocations"), audience, known)
        self.revoked = self.find_revoked()
        self.keys, _ = self.follow(set(self.revoked))

    def read_revocations(self, documents, audience, known):
        """Those by recovery keys come first, then those between known keys; a few others are read, too."""
        ranks = [], [], []
        for document in documents:
            body = document.get("body") if isinstance(document, dict) else None
            parties = [party.get("public_key_hex") if isinstance(party, dict) else None for party in
                       (body.get("revoked_by"), body.get("revoked"))] if isinstance(body, dict) else [None]
            is_text = all(isinstance(party, str) for party in parties)
            rank = 0 if parties[0] in self.recovery else 1 if is_text and known.issuperset(parties) else 2
            ranks[rank].append(document)
        some = (ranks[0] + ranks[1])[:MAX_KNOWN_REVOCATIONS] + ranks[2][:MAX_OTHER_REVOCATIONS]
        changes = (read_change(document, "revocation", audience) for document in some)
        return [change for change in changes if change]

    def follow(self, revoked):
        """The pinned keys and those that endorsements lead to, and the endorsements that count."""
        entries = [TrustedKey(entry.key, entry.use, entry.since, entry.until) for entry in self.pinned]
        queue, counted = list(dict.fromkeys(self.recovery + [entry.key for entry in entries])), []
        for by in queue:
            for change in self.endorsements:
                if change.by != by or by in revoked or not self.counts(change, entries):
                    continue
                counted.append(change)
                of_endorser = [entry for entry in entries if entry.key == by]
                uses = USES if by in self.recovery else dict.fromkeys(
                    use for entry in of_endorser for use in (USES if entry.use is None else [entry.use]) if use in USES)
                for entry in of_endorser:
                    entry.until = change.time if entry.until is None else min(entry.until, change.time)
                if change.of not in queue:
                    entries += [TrustedKey(change.of, use, change.time) for use in uses]
                    queue.append(change.of)
        return entries, counted

    def counts(self, change, entries):
        if change.by in self.recovery:
            return True
        if change.time < change.issued or any(
                other.by == change.by and other.of != change.of for other in self.endorsements):
            return False
        of_endorser = [entry for entry in entries if entry.key == change.by and (entry.use is None or entry.use in USES)]
        of_endorsed = [entry for entry in entries if entry.key == change.of]
        for periods in (of_endorser, of_endorsed):
            if periods and all(entry.until is not None for entry in periods):
                return False
        return any(is_in_use(entry, change.issued, entries) for entry in of_endorser)

    def is_later(self, key, than):
        """Whether a key came after another: endorsements lead from that one to it, or it begins later."""
        found = [than]
        for current in found:
            found += dict.fromkeys(change.of for change in self.counted if change.by == current and change.of not in found)
        if key in found[1:]:
            return True
        start, other = self.starts.get(key), self.starts.get(than)
        return start is not None and other is not None and start > other

    def age(self, key):
        """Orders keys by the last endorsement that led to them, or else by their earliest start."""
        for index in range(len(self.counted) - 1, -1, -1):
            if self.counted[index].of == key:
                return self.counted[index].time, index
        return self.starts.get(key) or 0, -1

    def find_revoked(self):
        """Since when each revoked key counts as revoked. The word of a recovery key replaces that of others."""
        revoked = {}

        def revoke(change):
            revoked[change.of] = min(change.time, revoked.get(change.of, change.time))

        for change in self.revocations:
            if change.by in self.recovery:
                revoke(change)
        left = [change for change in self.revocations if change.of not in revoked and change.of not in self.recovery]
        for change in left:
            if change.by == change.of:
                revoke(change)
        later = [change for change in left if change.by != change.of and self.is_later(change.by, change.of)]
        for change in sorted(later, key=lambda change: self.age(change.by), reverse=True):
            if change.by not in revoked:
                revoke(change)
        return revoked

    def for_use(self, use):
        return [entry for entry in self.keys if entry.use in (None, use)]

    def judge(self, key, use, time, is_time_signed, dated_before):
        """The fact `key_pinned` of a key that made a signature; `dated_before(since)` whether a block from before that
        time has the statement."""
        entries = self.for_use(use)
        of_key = [entry for entry in entries if entry.key == key]
        if not of_key:
            return FAILED, "no pinned key has signed this"
        if key in self.revoked and not dated_before(self.revoked[key]):
            return FAILED, "the key was revoked, and no block shows that the statement is older"
        if not any(is_in_use(entry, time, entries) for entry in of_key):
            return FAILED, "the key was not in use when the statement was made"
        if not is_time_signed and all(entry.until is not None for entry in of_key):
            return NOT_CHECKED, "the signed text has no time, and the key was retired"
        return PASSED, None


# --- Notes, logs and policies (C2SP) ----------------------------------------------------------------------------------

LOG_KEY, WITNESS_KEY = 1, 4
MAX_TIME = 253402300799  # the end of the year 9999


class NoteKey:
    def __init__(self, name, kind, key, text):
        self.name, self.kind, self.key, self.text = name, kind, key, text
        self.hash = sha256(name.encode() + b"\n" + bytes([kind]) + key)[:4]


def read_note_key(text):
    """`name+hash+base64` of a log or a witness; None for any other."""
    parts = text.split("+", 2) if isinstance(text, str) else []
    if len(parts) != 3 or not parts[0] or any(c.isspace() for c in parts[0]):
        return None
    data = from_base64(parts[2])
    if data is None or len(data) != 33 or data[0] not in (LOG_KEY, WITNESS_KEY) or key_point(data[1:]) is None:
        return None
    key = NoteKey(parts[0], data[0], data[1:], text)
    return key if key.hash.hex() == parts[1] else None


def read_log_key(text):
    key = read_note_key(text)
    if key is None or key.kind != LOG_KEY:
        raise Unusable(f"{text} is not the key of a log")
    return key


class Note:
    """A signed note: its text, and its signatures as (name, hash of the key, bytes)."""

    def __init__(self, text, signatures):
        self.text, self.signatures = text, signatures

    def signed_by(self, key):
        """Whether a log has signed: all signatures by its key have to be valid."""
        signatures = self.signatures_of(key)
        return bool(signatures) and all(ed25519_verify(key.key, self.text.encode(), data) for data in signatures)

    def cosigned_by(self, key):
        """When a witness has vouched for it, with one valid signature; None if it has not."""
        for data in self.signatures_of(key):
            time = int.from_bytes(data[:8], "big")
            message = f"cosignature/v1\ntime {time}\n{self.text}".encode()
            if len(data) == 72 and time <= MAX_TIME and ed25519_verify(key.key, message, data[8:]):
                return time
        return None

    def signatures_of(self, key):
        return [data for name, hashed, data in self.signatures if name == key.name and hashed == key.hash]


def read_note(text):
    """A note, or None if it is malformed."""
    if not isinstance(text, str) or len(text) > 65536 or SURROGATE.search(text) or re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text):
        return None
    body, gap, rest = text.rpartition("\n\n")
    if not gap or not rest.endswith("\n"):
        return None
    signatures = []
    for line in rest[:-1].split("\n"):
        match = re.fullmatch(r"— ([^ +]+) ([A-Za-z0-9+/=]+)", line)
        data = from_base64(match[2]) if match else None
        if data is None or len(data) < 5 or any(c.isspace() for c in match[1]):
            return None
        signatures.append((match[1], data[:4], data[4:]))
    return Note(body + "\n", signatures) if signatures else None


class Checkpoint:
    def __init__(self, note, origin, size, root):
        self.note, self.origin, self.size, self.root = note, origin, size, root


def read_checkpoint(text):
    note = read_note(text)
    if note is None:
        return None
    lines = note.text[:-1].split("\n")
    if len(lines) < 3 or not all(lines) or not is_decimal(lines[1]):
        return None
    root = from_base64(lines[2])
    if root is None or len(root) != 32:
        return None
    return Checkpoint(note, lines[0], int(lines[1]), root)


def is_decimal(text, digits=16):
    return re.fullmatch(r"0|[1-9][0-9]{0,%d}" % (digits - 1), text) is not None and int(text) <= MAX_SAFE


class LogProof:
    def __init__(self, index, hashes, checkpoint):
        self.index, self.hashes, self.checkpoint = index, hashes, checkpoint

    def proves(self, entry):
        """Whether the entry has its place in the tree of the checkpoint (RFC 6962)."""
        return inclusion_holds(self.index, self.checkpoint.size, entry, self.hashes, self.checkpoint.root)


def read_log_proof(text):
    """A C2SP tlog-proof, or None if it is malformed."""
    if not isinstance(text, str) or "\n\n" not in text:
        return None
    head, checkpoint = text.split("\n\n", 1)
    lines = head.split("\n")
    if lines.pop(0) != "c2sp.org/tlog-proof@v1":
        return None
    if lines and lines[0].startswith("extra "):
        if from_base64(lines.pop(0)[6:]) is None:
            return None
    if not lines or not lines[0].startswith("index ") or not is_decimal(lines[0][6:]):
        return None
    hashes = [from_base64(line) for line in lines[1:]]
    if len(hashes) > 63 or any(data is None or len(data) != 32 for data in hashes):
        return None
    read = read_checkpoint(checkpoint)
    return None if read is None else LogProof(int(lines[0][6:]), hashes, read)


def node_hash(left, right):
    return sha256(b"\x01" + left + right)


def inclusion_holds(index, size, entry, hashes, root):
    if index >= size:
        return False
    node, last, rest = sha256(b"\0" + entry), size - 1, list(hashes)
    while last:
        if index & 1 or index != last:
            if not rest:
                return False
            node = node_hash(rest.pop(0), node) if index & 1 else node_hash(node, rest.pop(0))
        index, last = index >> 1, last >> 1
    return not rest and node == root


def consistency_holds(size, root, later_size, later_root, hashes):
    """Whether a tree of `later_size` begins with one of `size` (RFC 6962, 2.1.2)."""
    if size > later_size:
        return False
    if size == later_size:
        return not hashes and root == later_root
    if size == 0:
        return not hashes and root == sha256(b"")
    rest, index, last = list(hashes), size - 1, later_size - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    if index:
        if not rest:
            return False
        old = new = rest.pop(0)
    else:
        old = new = root
    while last:
        if index & 1 or index == last:
            if index & 1 or index:
                if not rest:
                    return False
                left = rest.pop(0)
                old, new = node_hash(left, old), node_hash(left, new)
                while not index & 1 and index:
                    index, last = index >> 1, last >> 1
        else:
            if not rest:
                return False
            new = node_hash(new, rest.pop(0))
        index, last = index >> 1, last >> 1
    return not rest and old == root and new == later_root


class Policy:
    """The logs, the witnesses, and how many of them are enough (C2SP tlog-policy)."""

    def __init__(self, logs, witnesses, groups, quorum):
        self.logs, self.witnesses, self.groups, self.quorum = logs, witnesses, groups, quorum

    def cosigned(self, note):
        """(witness, time) of those that vouch."""
        times = ((witness, note.cosigned_by(witness)) for witness in self.witnesses.values())
        return [(witness, time) for witness, time in times if time is not None]

    def has_quorum(self, note):
        names = {id(witness) for witness, _ in self.cosigned(note)}

        def is_met(name):
            if name == "none":
                return True
            if name in self.witnesses:
                return id(self.witnesses[name]) in names
            wanted, members = self.groups[name]
            return sum(map(is_met, members)) >= wanted

        return is_met(self.quorum)


def read_policy(text):
    logs, witnesses, groups, quorum, grouped = [], {}, {}, None, set()
    for number, line in enumerate(text.split("\n"), 1):
        words = [word for word in re.split(r"[ \t]+", line) if word]

        def refuse(why):
            raise Unusable(f"line {number} of the policy: {why}")

        if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", line):
            refuse("a control character")
        if not words or words[0].startswith("#"):
            continue
        keyword, words = words[0], words[1:]
        if keyword == "log" and len(words) in (1, 2):
            key = read_note_key(words[0])
            if key is None or key.kind != LOG_KEY:
                refuse("not the key of a log")
            if any(other.key == key.key and other.name == key.name for other in logs):
                refuse("a log twice")
            logs.append(key)
        elif keyword == "witness" and len(words) in (2, 3):
            name, key = words[0], read_note_key(words[1])
            if key is None or key.kind != WITNESS_KEY:
                refuse("not the key of a witness")
            if name == "none" or name in witnesses or name in groups:
                refuse("a name that is taken")
            if any(other.key == key.key for other in witnesses.values()):
                refuse("two witnesses of one key")
            witnesses[name] = key
        elif keyword == "group" and len(words) >= 3:
            name, wanted, members = words[0], words[1], words[2:]
            if name == "none" or name in witnesses or name in groups:
                refuse("a name that is taken")
            for member in members:
                if member not in witnesses and member not in groups:
                    refuse(f"{member} is not defined above")
                if member in grouped:
                    refuse(f"{member} is a member already")
                grouped.add(member)
            if wanted not in ("all", "any") and not (is_decimal(wanted) and 1 <= int(wanted) <= len(members)):
                refuse("a number of members that there are not")
            groups[name] = ({"all": len(members), "any": 1}.get(wanted) or int(wanted), members)
        elif keyword == "quorum" and len(words) == 1:
            if quorum is not None:
                refuse("a second quorum")
            if words[0] != "none" and words[0] not in witnesses and words[0] not in groups:
                refuse(f"{words[0]} is not defined above")
            quorum = words[0]
        else:
            refuse("not a line of a policy")
    if quorum is None:
        raise Unusable("the policy has no quorum")
    return Policy(logs, witnesses, groups, quorum)


# --- Transactions and accounts of the primary chain -------------------------------------------------------------------

MEMO_PROGRAMS = {from_base58(text, 32) for text in (
    "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo", "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
    "Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH")}
REGISTRY_PROGRAM = "22zoJMtdu4tQc2PzL74ZUT7FrwgB1Udec8DdW4yw4BdG"
REGISTRY_SCHEMA = "svc.content.v2"


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        if self.at + length > len(self.data):
            raise ValueError("cut short")
        self.at += length
        return self.data[self.at - length:self.at]

    def byte(self):
        return self.take(1)[0]

    def number(self, length):
        return int.from_bytes(self.take(length), "little")

    def length(self):
        """The compact form of 16 bits."""
        value = 0
        for position in range(3):
            byte = self.byte()
            value |= (byte & 127) << 7 * position
            if not byte & 128:
                if value > 65535 or (position and not byte):
                    break
                return value
        raise ValueError("a length that is not in its one form")


class Transaction:
    """What is in the bytes: signatures, signers, and (program, data) of each instruction. ValueError if malformed."""

    def __init__(self, data):
        cursor = Cursor(data)
        self.signatures = [cursor.take(64) for _ in range(cursor.length())]
        self.message = data[cursor.at:]
        first = cursor.byte()
        is_versioned = first & 128
        if is_versioned:
            if first & 127:
                raise ValueError("an unknown version")
            first = cursor.byte()
        readonly_signed, readonly_unsigned = cursor.byte(), cursor.byte()
        accounts = [cursor.take(32) for _ in range(cursor.length())]
        if (not first or first != len(self.signatures) or first + readonly_unsigned > len(accounts)
                or readonly_signed >= first):
            raise ValueError("a header that does not fit")
        self.signers = accounts[:first]
        cursor.take(32)
        self.instructions = []
        for _ in range(cursor.length()):
            program = cursor.byte()
            cursor.take(cursor.length())
            if program >= len(accounts):
                raise ValueError("a program that is not there")
            self.instructions.append((accounts[program], cursor.take(cursor.length())))
        if is_versioned:
            for _ in range(cursor.length()):
                cursor.take(32)
                cursor.take(cursor.length())
                cursor.take(cursor.length())
        if cursor.at != len(data):
            raise ValueError("more bytes after the end")

    def is_signed(self):
        return all(map(ed25519_verify, self.signers, [self.message] * len(self.signers), self.signatures))


class Node:
    """Recorded answers of a node; for anything else it does not answer."""

    def __init__(self, answers):
        self.answers = answers

    def ask(self, method, params):
        for answer in self.answers if isinstance(self.answers, list) else []:
            if isinstance(answer, dict) and answer.get("method") == method and same(answer.get("params"), params):
                if answer.get("error") is not None:
                    raise NodeSilent("the node answered with an error")
                if "result" not in answer:
                    break
                return answer["result"]
        raise NodeSilent("the node does not answer")

    def require_chain(self, chain):
        genesis = self.ask("getGenesisHash", [])
        if not isinstance(genesis, str) or chain != "solana:" + genesis[:32]:
            raise NodeSilent("the node is on another chain than the anchor")

    def transaction(self, name):
        """A transaction as (Transaction, slot, time, fee, succeeded, final), or None if the node does not know it."""
        for commitment in ("finalized", "confirmed"):
            options = {"commitment": commitment, "encoding": "base64", "maxSupportedTransactionVersion": 0}
            found = self.ask("getTransaction", [name, options])
            if found is not None:
                break
        else:
            return None
        try:
            meta, data, encoding = found["meta"], *found["transaction"][:2]
            slot, time, fee, succeeded = found["slot"], found.get("blockTime"), meta["fee"], meta["err"] is None
            data = from_base64(data) if encoding == "base64" and len(data) <= 65536 else None
            transaction = Transaction(data) if data is not None else None
        except (TypeError, KeyError, ValueError, AttributeError):
            raise NodeSilent("the node's answer is malformed") from None
        if transaction is None or not is_number(slot) or not is_number(fee) or not (time is None or is_number(time)):
            raise NodeSilent("the node's answer is malformed")
        if base58(transaction.signatures[0]) != name or not transaction.is_signed():
            raise NodeSilent("the node shows another transaction")
        return transaction, slot, time, fee, succeeded, commitment == "finalized"

    def account(self, address):
        """(owner, data) of an account, or None if there is none."""
        answer = self.ask("getAccountInfo", [address, {"encoding": "base64", "commitment": "confirmed"}])
        if not isinstance(answer, dict) or "value" not in answer:
            raise NodeSilent("the node's answer is malformed")
        if answer["value"] is None:
            return None
        try:
            owner, (data, encoding) = answer["value"]["owner"], answer["value"]["data"]
            data = from_base64(data) if encoding == "base64" else None
        except (TypeError, KeyError, ValueError):
            data = None
        if data is None or not isinstance(owner, str):
            raise NodeSilent("the node's answer is malformed")
        return owner, data


def program_address(seeds, program):
    """The address that a program derives from seeds: the first, from bump 255 down, that is no point of the curve."""
    for bump in range(255, -1, -1):
        address = sha256(b"".join(seeds) + bytes([bump]) + program + b"ProgramDerivedAddress")
        if not is_on_curve(address):
            return address
    return None


def is_on_curve(data):
    y = int.from_bytes(data, "little") & (2**255 - 1)
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    return x2 == 0 or pow(x2, (P - 1) // 2, P) == 1


# --- The facts of a bundle --------------------------------------------------------------------------------------------

MAX_LISTED_KEYS = 64
WHOLE, REDACTED = "svc/evidence-bundle/v2", "svc/redacted-evidence-bundle/v1"
EVIDENCE, MERKLE = "svc/evidence/v2", "svc-merkle-v1"
BODY_FIELDS = {
    "schema": lambda v: v == EVIDENCE,
    "policy_version": lambda v: is_integer(v, 1, 1),
    "proof_id": lambda v: is_hex(v, 32),
    "snapshot_id": lambda v: is_hex(v, 64),
    "sequence": lambda v: is_integer(v, 1, 2**32 - 1),
    "prev_statement_digest": lambda v: v is None or is_hex(v, 64),
    "merkle_algorithm": lambda v: v == MERKLE,
    "merkle_root": is_prefixed_hash,
    "file_count": lambda v: is_integer(v, 1, 2**32 - 1),
    "manifest_file_count": lambda v: is_integer(v, 1, 2**32 - 1),
    "total_bytes": lambda v: isinstance(v, str) and re.fullmatch("0|[1-9][0-9]{0,38}", v) is not None,
    "manifest_digest": is_prefixed_hash,
    "check_mode": lambda v: v in ("recorded_hashes", "bytes_hashed"),
    "issued_at": lambda v: unix_time(v, decimals=False) is not None,
    "issued_at_unix": lambda v: is_integer(v, 0, 253402300799),
    "issuer_key_id": lambda v: v == "unsigned" or isinstance(v, str) and re.fullmatch("ed25519:[0-9a-f]{16}", v) is not None,
    "nonce": lambda v: is_hex(v, 32),
}


class Given:
    """What the caller trusts and has."""

    def __init__(self, pinned=None, signers=(), domain_tag=DOMAIN_TAG, audience=None, logs=(), policy=None,
                 folder=None, node=None):
        self.pinned = pinned or PinnedKeys()
        self.signers, self.domain_tag, self.audience, self.policy = list(signers), domain_tag, audience, policy
        self.folder, self.node = folder, node
        self.asks_for_log = bool(logs) or policy is not None
        self.logs = list(logs) + (policy.logs if policy else []) or self.pinned.logs


class Bundle:
    """A bundle that was read: its fields, and its list in `files` or `leaves`."""

    def __init__(self, fields, files, leaves):
        self.fields, self.files, self.leaves = fields, files, leaves

    def get(self, name):
        return self.fields.get(name)


def read_bundle(read, folder=None):
    """Reads JSON, the list entry by entry; `read(size)` returns bytes."""
    reader = Json(read)
    kind, _ = reader.peek()
    if kind != "{":
        reader.value()
        reader.end()
        raise Refused("not_a_bundle", "the text is not an object")
    reader.next()
    files = leaves = None

    def read_field(key):
        nonlocal files, leaves
        if key == "files" and reader.peek()[0] == "[":
            reader.next()
            files = FileList(folder)
            for entry in reader.list_items(lambda: reader.value(3)):
                files.add_entry(entry)
            return None
        if key == "leaf_hashes" and reader.peek()[0] == "[":
            reader.next()
            leaves = LeafList(folder)
            for leaf in reader.list_items(lambda: read_leaf(reader)):
                leaves.add(leaf)
            return None
        return reader.value(2)

    fields = dict(reader.fields(read_field))
    reader.end()
    for listed in filter(None, (files, leaves)):
        listed.finish()
    bundle = Bundle(fields, files, leaves)
    (check_redacted_form if fields.get("schema") == REDACTED else check_whole_form)(bundle)
    return bundle


def read_leaf(reader):
    kind, leaf = reader.next()
    if kind == "end":
        reader.wrong("the text ends")
    return leaf if kind == "value" else None


def require(condition, code, why):
    if not condition:
        raise Refused(code, why)


def check_whole_form(bundle):
    fields = bundle.fields
    require(fields.get("schema") == WHOLE, "not_a_bundle", "the schema is not that of an evidence bundle")
    version = fields.get("bundle_version")
    require(is_integer(version, 1, 2), "unsupported_version", "the version of the bundle is neither 1 nor 2")
    algorithms = fields.get("algorithms")
    wanted = EVIDENCE if version == 2 else None
    require(isinstance(algorithms, dict) and algorithms.get("merkle") == MERKLE
            and algorithms.get("envelope", "none") == wanted, "unsupported_version", "the algorithms are not those of this version")
    require(isinstance(fields.get("commitment"), dict), "not_a_bundle", "the commitment is missing")
    require(bundle.files is not None, "not_a_bundle", "the list of files is missing")
    signed, unsigned = ("envelope", "v1_signature") if version == 2 else ("v1_signature", "envelope")
    require(isinstance(fields.get(signed), dict), "not_a_bundle", f"{signed} is missing")
    require(fields.get(unsigned) is None, "not_a_bundle", f"{unsigned} does not belong to this version")
    require(fields.get("anchor") is None or isinstance(fields["anchor"], dict), "not_a_bundle", "the anchor is no object")


def check_redacted_form(bundle):
    fields = bundle.fields
    redaction = fields.get("redaction")
    require(redaction in ("chosen_files", "no_names"), "unsupported_version", "the redaction is unknown")
    algorithms = fields.get("algorithms")
    require(isinstance(algorithms, dict) and algorithms.get("merkle") == MERKLE and algorithms.get("envelope") == EVIDENCE,
            "unsupported_version", "the algorithms are unknown")
    listed, other = ("files", "leaf_hashes") if redaction == "chosen_files" else ("leaf_hashes", "files")
    found = {"files": bundle.files, "leaf_hashes": bundle.leaves}
    require(found[listed] is not None and other not in fields, "not_a_bundle", f"the bundle needs {listed}, not {other}")
    require(isinstance(fields.get("envelope"), dict), "not_a_bundle", "the envelope is missing")
    require(fields.get("anchor") is None or isinstance(fields["anchor"], dict), "not_a_bundle", "the anchor is no object")
    if bundle.files is not None and bundle.files.proof_problem is not None:
        raise Refused("bad_file_proof", bundle.files.proof_problem)


class Statement:
    """The envelope: what follows from its body, without any key."""

    def __init__(self, envelope):
        self.envelope = envelope
        self.body = envelope.get("body")
        try:
            self.digest = sha256(canonical(self.body).encode()).hex() if isinstance(self.body, dict) else None
        except ValueError:
            self.digest = None
        self.is_digest_right = self.digest is not None and envelope.get("statement_digest") == self.digest
        self.malformed = self.find_malformed()

    def find_malformed(self):
        body = self.body
        if not isinstance(body, dict):
            return "the body is not an object"
        if body.keys() != BODY_FIELDS.keys():
            return "the body has not the 17 fields of a statement"
        for field, is_right in BODY_FIELDS.items():
            if not is_right(body[field]):
                return f"{field} is malformed"
        if (body["sequence"] == 1) != (body["prev_statement_digest"] is None):
            return "only the first statement follows no other"
        if unix_time(body["issued_at"]) != body["issued_at_unix"]:
            return "the two times differ"
        if body["manifest_file_count"] < body["file_count"]:
            return "fewer files are listed than counted"
        return None

    def is_snapshot_right(self):
        body = self.body
        row = {"domain": "svc/snapshot/v2", "proof_id": body["proof_id"], "merkle_root": bare(body["merkle_root"]),
               "manifest_digest": bare(body["manifest_digest"]), "file_count": body["file_count"]}
        return sha256_hex(canonical(row)) == body["snapshot_id"]

    def find_unlike(self, count, root, total, manifest_digest):
        """What the body says about the files that is not so."""
        body = self.body
        if body["merkle_root"] != "sha256:" + root:
            return "the root of the statement is not that of the files"
        if body["file_count"] != count:
            return "the statement counts other files"
        if body["total_bytes"] != str(total):
            return "the statement counts other bytes"
        if body["manifest_digest"] != "sha256:" + manifest_digest:
            return "the statement is about another manifest"
        return None


class Verification:
    """The facts about one bundle, in `facts` as (value, why)."""

    def __init__(self, bundle, given):
        self.bundle, self.given = bundle, given
        self.facts = {}
        self.statement = Statement(bundle.get("envelope")) if bundle.get("envelope") is not None else None
        self.is_redacted = bundle.get("schema") == REDACTED
        self.signer = None  # the key that made the signature
        self.trust = Trust(given.pinned, bundle.get("signing_keys"), given.audience)
        self.block_times = []  # of blocks that have the statement, or a checkpoint with it
        self.check_list()
        self.check_files()
        self.check_statement()
        self.check_anchor()
        self.check_log()
        self.check_signature()
        if self.is_redacted:
            self.check_redaction()

    def set(self, fact, value, why=None):
        self.facts[fact] = (value, why)

    def judge(self, fact, problem):
        self.set(fact, FAILED if problem else PASSED, problem)

    def failed(self):
        return [name for name, (value, _) in self.facts.items() if value == FAILED]

    # The list

    def check_list(self):
        if self.is_redacted:
            return  # check_redaction does, and keeps the facts in one place
        files, commitment = self.bundle.files, self.bundle.get("commitment")
        root = commitment.get("merkle_root")
        if not isinstance(root, str) or bare(root) != files.root:
            problem = "the Merkle root of the files is not that of the commitment"
        elif not is_integer(commitment.get("file_count")) or commitment["file_count"] != files.count:
            problem = "the number of files is not that of the commitment"
        else:
            problem = None
        self.judge("merkle_root_matches", problem)

    def check_files(self):
        if self.given.folder is None:
            self.set("files_match", NOT_CHECKED, "no files were given")
        elif self.bundle.files is not None:
            files, problem = self.bundle.files, self.bundle.files.folder_problem
            if problem is None and self.shows_all():
                extra = files.extra_files()
                problem = f"{json_text(extra[0])} is not in the list" if extra else None
            self.judge("files_match", problem)
        else:
            self.compare_leaves()

    def shows_all(self):
        body = self.statement.body if self.is_redacted else None
        return not self.is_redacted or isinstance(body, dict) and same(body.get("file_count"), self.bundle.files.count)

    def compare_leaves(self):
        """A bundle without names: the leaves of the folder's files, one for one."""
        found = {}
        for name in self.given.folder.names():
            size_and_hash = self.given.folder.hash(name)
            if size_and_hash is not None and ":" not in name:
                found.setdefault(leaf_hash(name, *size_and_hash), []).append((name, *size_and_hash))
        named, missing = [], 0
        for leaf in self.bundle.leaves.leaves:
            if found.get(leaf):
                named.append(found[leaf].pop())
            else:
                missing += 1
        problem = f"{missing} listed files are not in the folder" if missing else (
            "the folder has files that are not in the list" if any(found.values()) else None)
        self.judge("files_match", problem)
        if not missing:
            known = FileList()
            for entry in named:
                known.take(entry)
            known.finish()
            self.known = known

    # The statement

    def check_statement(self):
        version_1 = "a version-1 bundle has no envelope"
        if self.statement is None:
            self.set("statement_digest_matches", NOT_CHECKED, version_1)
            self.set("envelope_binds_commitment", NOT_CHECKED, version_1)
            return
        self.judge("statement_digest_matches",
                   None if self.statement.is_digest_right else "the digest is not that of the body")
        if not self.is_redacted:
            self.judge("envelope_binds_commitment", self.statement.malformed or self.find_unbound())

    def find_unbound(self):
        body, files, commitment = self.statement.body, self.bundle.files, self.bundle.get("commitment")
        total = commitment.get("total_bytes")
        total = str(total) if is_integer(total) else total
        pairs = [
            ("merkle_root", body["merkle_root"], commitment.get("merkle_root")),
            ("file_count", body["file_count"], commitment.get("file_count")),
            ("manifest_file_count", body["manifest_file_count"], commitment.get("manifest_file_count")),
            ("total_bytes", body["total_bytes"], total),
            ("check_mode", body["check_mode"], commitment.get("check_mode")),
            ("attested_at", body["issued_at"], commitment.get("attested_at")),
            ("proof_id", body["proof_id"], self.bundle.get("proof_id")),
        ]
        problem = self.statement.find_unlike(files.count, files.root, files.bytes, files.manifest_digest)
        if problem:
            return problem
        for name, signed, claimed in pairs:
            if not same(signed, claimed):
                return f"{name} of the statement is not that of the bundle"
        return None if self.statement.is_snapshot_right() else "the snapshot id does not follow from the statement"

    # The signature

    def check_signature(self):
        if self.statement is None:
            self.check_v1_signature()
            return
        envelope, statement, body = self.statement.envelope, self.statement, self.statement.body
        signature, pubkey = envelope.get("signature"), envelope.get("issuer_pubkey")
        problem = None
        if envelope.get("sig_alg") != "ed25519" or signature is None:
            problem = "the statement has no signature"
        elif not is_hex(signature, 128):
            problem = "the signature is not 64 bytes in hex"
        elif pubkey is not None and not isinstance(pubkey, str):
            problem = "issuer_pubkey is not a key"
        elif not statement.is_digest_right:
            problem = "the digest is not that of the body"
        if problem is None:
            message = tagged(self.given.domain_tag, bytes.fromhex(statement.digest))
            self.find_signer("evidence-envelope", [pubkey] if is_hex(pubkey, 64) else [], message, signature)
        self.judge_pinned("evidence-envelope", unix_time(body.get("issued_at")) if isinstance(body, dict) else None, True)
        if problem is None and self.signer is None:
            problem = "the signature is not valid under the key that the statement names"
        elif problem is None and pubkey not in (None, self.signer):
            problem = "another key than issuer_pubkey has signed"
        elif problem is None and body.get("issuer_key_id") != key_id(self.signer):
            problem = "the statement names another key than the one that signed"
        self.judge("signature_valid", problem)

    def check_v1_signature(self):
        signed, commitment = self.bundle.get("v1_signature"), self.bundle.get("commitment")
        root, signature = commitment.get("merkle_root"), signed.get("manifest_signature")
        problem = None
        if not is_hex(signature, 128):
            problem = "there is no signature"
        elif not isinstance(root, str) or not is_hex(bare(root), 64):
            problem = "there is no root that could be signed"
        else:
            self.find_signer("attestation", self.listed_keys(), bare(root).encode(), signature)
            if self.signer is None:
                problem = "no key has made this signature"
            elif signed.get("signed_message") != bare(root):
                problem = "the signed message is not the root"
        self.judge_pinned("attestation", unix_time(commitment.get("attested_at")), False)
        self.judge("signature_valid", problem)

    def find_signer(self, use, others, message, signature):
        """The first key that made the signature: trusted ones, then others."""
        keys = dict.fromkeys([entry.key for entry in self.trust.for_use(use)] + others)
        self.signer = next((key for key in keys if verify_hex(key, message, signature)), None)

    def listed_keys(self):
        """The keys that the bundle itself lists."""
        listed = self.bundle.get("signing_keys")
        keys = listed.get("keys") if isinstance(listed, dict) else None
        found = dict.fromkeys(entry["public_key_hex"] for entry in keys if isinstance(entry, dict)
                              and is_hex(entry.get("public_key_hex"), 64)) if isinstance(keys, list) else {}
        return list(found)[:MAX_LISTED_KEYS]

    def judge_pinned(self, use, time, is_time_signed):
        if not self.trust.pinned:
            self.set("key_pinned", NOT_CHECKED, "no key was pinned: the signature only shows consistency")
        elif self.signer is None:
            self.set("key_pinned", FAILED, "there is no valid signature by a pinned key")
        else:
            fact = self.trust.judge(self.signer, use, time, is_time_signed,
                                    lambda since: any(block < since for block in self.block_times))
            self.set("key_pinned", *fact)

    # The anchor

    def check_anchor(self):
        anchor, node = self.bundle.get("anchor"), self.given.node
        types = ("chain_memo_v2", "chain_sas_v1", "oracle_v2")
        why = ("the bundle has no anchor" if anchor is None else
               "the type of the anchor is unknown" if anchor.get("type") not in types else
               "no node was given" if node is None else None)
        if why:
            for fact in ANCHOR_FACTS:
                self.set(fact, NOT_CHECKED, why)
            return
        is_oracle = anchor["type"] == "oracle_v2"
        try:
            node.require_chain(anchor.get("chain"))
        except NodeSilent as silent:
            for fact in ANCHOR_FACTS:
                self.set(fact, UNAVAILABLE, str(silent))
            return
        self.check_registry(anchor)
        try:
            found = self.find_transaction(anchor.get("tx"))
        except NodeSilent as silent:
            for fact in ANCHOR_FACTS[:5]:
                self.set(fact, UNAVAILABLE, str(silent))
            return
        if found is None:
            self.set("anchor_tx_succeeded", FAILED, "the node knows no such transaction")
            for fact in ANCHOR_FACTS[1:5]:
                self.set(fact, UNAVAILABLE, "the transaction is not there")
            return
        transaction, slot, time, fee, succeeded, is_final = found
        self.judge("anchor_tx_succeeded", None if succeeded else "the transaction failed")
        if is_oracle and self.statement is None and anchor.get("envelope_version") in (None, 1):
            why = "an anchor of the oracle era names neither signer nor payload"
            self.set("anchor_signer_matches", NOT_CHECKED, why)
            self.set("anchor_payload_matches", NOT_CHECKED, why)
        else:
            signer = None if is_oracle else anchor.get("signer")
            self.judge("anchor_signer_matches", self.find_other_signer(transaction, signer))
            self.judge("anchor_payload_matches", self.find_other_payload(transaction, anchor))
        self.set("anchor_slot_matches", *judge_place(anchor, slot, time, fee))
        self.set("anchor_finalized", *judge_finality(anchor, is_final))
        facts = ("anchor_tx_succeeded", "anchor_payload_matches", "anchor_finalized")
        if time is not None and all(self.facts[fact][0] == PASSED for fact in facts):
            self.block_times.append(time)

    def find_transaction(self, name):
        return self.given.node.transaction(name) if from_base58(name, 64) is not None else None

    def find_other_signer(self, transaction, signer):
        key = from_base58(signer, 32)
        if key is None or key not in transaction.signers:
            return "the signer of the anchor has not signed the transaction"
        if self.given.signers and signer not in self.given.signers:
            return "the signer is not a publication key that was given"
        return None

    def find_other_payload(self, transaction, anchor):
        if self.statement is None or anchor["type"] == "oracle_v2":
            return "the anchor does not publish a statement of this bundle"
        if self.statement.malformed:
            return self.statement.malformed
        body, digest = self.statement.body, self.statement.envelope.get("statement_digest")
        expected = {"s": "svc/anchor/v2", "pid": body["proof_id"], "sid": body["snapshot_id"],
                    "dg": digest, "root": bare(body["merkle_root"]), "n": body["file_count"],
                    "seq": body["sequence"], "t": body["issued_at_unix"], "k": body["issuer_key_id"]}
        if not same(anchor.get("payload"), expected):
            return "the payload beside the anchor is not that of the statement"
        if not is_hex(digest, 64) or anchor.get("statement_digest") != digest or anchor.get("snapshot_id") != body["snapshot_id"]:
            return "the anchor names another statement"
        if not same(anchor.get("envelope_version", 2), 2) and anchor["envelope_version"] is not None:
            return "the anchor is of another version"
        return None if has_memo(transaction, expected) else "the transaction does not publish the statement"

    def check_registry(self, anchor):
        if anchor["type"] != "chain_sas_v1":
            self.set("registry_matches", NOT_CHECKED, "the anchor is not in the registry")
            return
        try:
            self.set("registry_matches", *self.judge_registry(anchor))
        except NodeSilent as silent:
            self.set("registry_matches", UNAVAILABLE, str(silent))

    def judge_registry(self, anchor):
        sas, body = anchor.get("sas"), self.statement.body if self.statement else None
        if not isinstance(sas, dict):
            return FAILED, "nothing says where the record is"
        if self.statement is None or self.statement.malformed:
            return FAILED, "there is no statement that the record could hold"
        claimed = self.statement.envelope.get("statement_digest")
        if not is_hex(claimed, 64):
            return FAILED, "the statement has no digest"
        places = {name: from_base58(sas.get(name), 32) for name in
                  ("program", "credential", "schema", "nonce", "attestation")}
        if None in places.values():
            return FAILED, "an address is malformed"
        if sas["program"] != REGISTRY_PROGRAM:
            return FAILED, "the registry is of another program"
        if sas.get("mode") not in ("latest", "per_snapshot"):
            return FAILED, "the mode is unknown"
        preimage = "svc/sas-nonce/v1|" + body["proof_id"]
        if sas["mode"] == "per_snapshot":
            preimage += "|" + body["snapshot_id"]
        if places["nonce"] != sha256(preimage.encode()):
            return FAILED, "the nonce does not follow from the statement"
        schema = program_address([b"schema", places["credential"], REGISTRY_SCHEMA.encode(), b"\1"], places["program"])
        if places["schema"] != schema:
            return FAILED, "the schema does not follow from the credential"
        seeds = [b"attestation", places["credential"], places["schema"], places["nonce"]]
        if places["attestation"] != program_address(seeds, places["program"]):
            return FAILED, "the address does not follow from the nonce"
        account = self.given.node.account(sas["attestation"])
        if account is None:
            return FAILED, "the account is closed"
        owner, data = account
        if owner != sas["program"]:
            return FAILED, "the account is of another program"
        try:
            cursor = Cursor(data)
            head = (cursor.byte(), cursor.take(32), cursor.take(32), cursor.take(32))
            record = Cursor(cursor.take(cursor.number(4)))
            signer, _ = cursor.take(32), cursor.take(8)
            proof, snapshot, digest, root = (record.take(record.number(4)).hex() for _ in range(4))
            count, sequence, time = record.number(4), record.number(4), record.number(8)
            issuer = record.take(record.number(4))
            if record.at != len(record.data):
                raise ValueError("more bytes than a record has")
        except ValueError:
            return FAILED, "the record is malformed"
        if head != (2, places["nonce"], places["credential"], places["schema"]):
            return FAILED, "the account is another"
        if base58(signer) != anchor.get("signer"):
            return FAILED, "another key wrote the record"
        if proof != body["proof_id"]:
            return FAILED, "the record is of another proof"
        values = (snapshot, digest, root, count, sequence, time, issuer.decode("latin-1"))
        if values == (body["snapshot_id"], claimed, bare(body["merkle_root"]), body["file_count"],
                      body["sequence"], body["issued_at_unix"], body["issuer_key_id"]):
            return PASSED, None
        if sas["mode"] == "latest" and sequence > body["sequence"]:
            return NOT_CHECKED, "a newer statement has replaced the record"
        return FAILED, "the record is of another statement"

    # The log

    def check_log(self):
        log, given = self.bundle.get("log"), self.given
        if log is None:
            if given.asks_for_log:
                for fact in LOG_FACTS:
                    self.set(fact, NOT_CHECKED, "the bundle has no proof of a log")
            return
        proof = read_log_proof(log.get("proof")) if isinstance(log, dict) else None
        if proof is None:
            for fact in LOG_FACTS:
                self.set(fact, FAILED, "the proof of the log is malformed")
            return
        checkpoint = proof.checkpoint
        digest = self.statement.envelope.get("statement_digest") if self.statement else None
        holds = is_hex(digest, 64) and proof.proves(bytes.fromhex(digest))
        if self.statement is None or self.statement.malformed:
            self.set("log_included", FAILED, "there is no well-formed statement that could be in a log")
        elif not holds:
            self.set("log_included", FAILED, "the hashes do not lead from the statement to the checkpoint")
        elif not given.logs:
            self.set("log_included", NOT_CHECKED, "no key of a log is known")
        else:
            is_signed = any(key.name == checkpoint.origin and checkpoint.note.signed_by(key) for key in given.logs)
            self.judge("log_included", None if is_signed else "no log that is known has signed the checkpoint")
        if given.policy is None or given.policy.quorum == "none":
            self.set("log_cosigned", NOT_CHECKED, "no policy asks for witnesses")
        else:
            self.judge("log_cosigned", None if given.policy.has_quorum(checkpoint.note) else "too few witnesses vouch")
        self.set("log_anchored", *self.judge_log_anchor(log.get("anchor"), checkpoint, holds))

    def judge_log_anchor(self, anchor, checkpoint, holds):
        if anchor is None:
            return NOT_CHECKED, "the checkpoint is not anchored"
        if not isinstance(anchor, dict):
            return FAILED, "the anchor of the log is malformed"
        payload = {"s": "svc/log-anchor/v1", "o": checkpoint.origin, "n": checkpoint.size, "root": checkpoint.root.hex()}
        if not same(anchor.get("payload"), payload):
            return FAILED, "the anchor publishes another checkpoint"
        if self.given.node is None:
            return NOT_CHECKED, "no node was given"
        try:
            self.given.node.require_chain(anchor.get("chain"))
            found = self.find_transaction(anchor.get("tx"))
        except NodeSilent as silent:
            return UNAVAILABLE, str(silent)
        if found is None:
            return FAILED, "the node knows no such transaction"
        transaction, slot, time, fee, succeeded, is_final = found
        if not succeeded:
            return FAILED, "the transaction failed"
        problem = self.find_other_signer(transaction, anchor.get("signer"))
        if problem:
            return FAILED, problem
        if not has_memo(transaction, payload):
            return FAILED, "the transaction does not publish the checkpoint"
        for value, why in (judge_place(anchor, slot, time, fee), judge_finality(anchor, is_final)):
            if value != PASSED:
                return value, why
        if holds and time is not None:
            self.block_times.append(time)
        return PASSED, None

    # What a redacted bundle shows

    def check_redaction(self):
        names = ("inclusion_proven", "merkle_root_matches", "envelope_binds_commitment")
        statement, body = self.statement, self.statement.body
        if statement.malformed:
            for fact in names:
                self.set(fact, FAILED, statement.malformed)
        elif self.bundle.files is not None:
            self.check_chosen(self.bundle.files, statement, body)
        else:
            self.check_leaves(self.bundle.leaves, statement, body)

    def check_chosen(self, files, statement, body):
        count, root = body["file_count"], bare(body["merkle_root"])
        in_order = [index for _, index, _, _ in sorted(files.proofs)]
        problem = None
        if any(node != root for _, _, _, node in files.proofs):
            problem = "a proof does not lead to the root of the statement"
        elif any(steps != tree_depth(count) for _, _, steps, _ in files.proofs):
            problem = "a proof is not as long as the tree is deep"
        elif any(index >= count for index in in_order):
            problem = "a place is outside of the tree"
        elif any(one >= other for one, other in zip(in_order, in_order[1:])):
            problem = "the places are not in the order of the names"
        self.judge("inclusion_proven", problem)
        is_part = files.count < count
        if is_part:
            self.set("merkle_root_matches", NOT_CHECKED, f"{files.count} of {count} files are shown")
        else:
            self.judge("merkle_root_matches", None if files.count == count and files.root == root else
                       "the root of the files is not that of the statement")
        if not statement.is_snapshot_right():
            self.set("envelope_binds_commitment", FAILED, "the snapshot id does not follow from the statement")
        elif files.bytes > int(body["total_bytes"]):
            self.set("envelope_binds_commitment", FAILED, "the files have more bytes than the statement counts")
        elif is_part:
            self.set("envelope_binds_commitment", NOT_CHECKED, f"{files.count} of {count} files are shown")
        else:
            self.judge("envelope_binds_commitment",
                       statement.find_unlike(files.count, files.root, files.bytes, files.manifest_digest))

    def check_leaves(self, leaves, statement, body):
        self.set("inclusion_proven", NOT_CHECKED, "the bundle names no file")
        is_right = leaves.count == body["file_count"] and leaves.root == bare(body["merkle_root"])
        self.judge("merkle_root_matches", None if is_right else "the leaves are not those of the statement")
        known = getattr(self, "known", None)
        if not is_right:
            self.set("envelope_binds_commitment", FAILED, "the leaves are not those of the statement")
        elif not statement.is_snapshot_right():
            self.set("envelope_binds_commitment", FAILED, "the snapshot id does not follow from the statement")
        elif known is None:
            self.set("envelope_binds_commitment", NOT_CHECKED, "only the names show that manifest and total are right")
        else:
            is_known = (known.count, known.root) == (body["file_count"], bare(body["merkle_root"]))
            self.judge("merkle_root_matches", None if is_known else "the files of the folder have another root")
            self.judge("envelope_binds_commitment",
                       statement.find_unlike(known.count, known.root, known.bytes, known.manifest_digest))


def has_memo(transaction, payload):
    try:
        text = canonical(payload).encode()
    except ValueError:
        return False
    return any(program in MEMO_PROGRAMS and data == text for program, data in transaction.instructions)


def judge_place(anchor, slot, time, fee):
    """Whether slot, time and fee of the anchor are those that the node reports."""
    claimed = anchor.get("slot", "none")  # a slot may be null, and not missing
    if claimed is not None and not same(claimed, slot):
        return FAILED, "the node has the transaction in another slot"
    if anchor.get("block_time") is not None and time is not None and not same(anchor["block_time"], time):
        return FAILED, "the node has the block at another time"
    if fee is not None and anchor.get("fee_lamports") is not None and not same(anchor["fee_lamports"], fee):
        return FAILED, "the node has another fee"
    return (NOT_CHECKED, "the anchor names no slot") if claimed is None else (PASSED, None)


def judge_finality(anchor, is_final):
    commitment, finalized = anchor.get("commitment"), anchor.get("finalized")
    if commitment not in (None, "confirmed", "finalized") or not (finalized is None or isinstance(finalized, bool)):
        return FAILED, "the anchor does not say whether it is final"
    claims = [claim for claim in (None if commitment is None else commitment == "finalized",
                                  None if finalized is None else finalized is True) if claim is not None]
    if len(set(claims)) > 1:
        return FAILED, "the anchor claims both to be final and not to be"
    if is_final:
        return PASSED, None
    if True in claims:
        return FAILED, "the anchor claims to be final, and the node has it only confirmed"
    return NOT_CHECKED, "the transaction is not final yet"


def verify(read, given):
    """Verifies a bundle; raises Refused where there are no facts."""
    return Verification(read_bundle(read, given.folder), given)


# --- Verdict and chains -----------------------------------------------------------------------------------------------

VERDICTS = {"verified": "VERIFIED", "signer_unknown": "CONSISTENT BUT SIGNER UNKNOWN", "failed": "FAILED"}


def verdict_of(facts):
    """One word for people; `facts` are None for a refused bundle."""
    if facts is None or any(value == FAILED for value, _ in facts.values()):
        return "failed"
    passed = {name for name, (value, _) in facts.items() if value == PASSED}
    covers = passed & {"merkle_root_matches", "inclusion_proven"}
    if "signature_valid" not in passed or not covers:
        return "failed"
    return "verified" if "key_pinned" in passed else "signer_unknown"


def verify_chain(verifications):
    """The numbers of the statements, and the problems of several bundles of one proof."""
    def is_linked(one):
        return (one.statement is not None and not one.statement.malformed
                and is_hex(one.statement.envelope.get("statement_digest"), 64))

    problems = [] if all(map(is_linked, verifications)) else ["no_statement"]
    problems += ["failed_facts" for one in verifications if one.failed()]
    ordered = sorted(filter(is_linked, verifications), key=lambda one: one.statement.body["sequence"])
    for one, other in zip(ordered, ordered[1:]):
        before, after = one.statement, other.statement
        digest = before.envelope["statement_digest"]
        if before.body["proof_id"] != after.body["proof_id"]:
            problems.append("other_proof")
            continue
        if before.body["sequence"] == after.body["sequence"]:
            problems.append("repeat" if digest == after.envelope["statement_digest"] else "fork")
            continue
        if after.body["sequence"] != before.body["sequence"] + 1:
            problems.append("gap")
        elif after.body["prev_statement_digest"] != digest:
            problems.append("fork")
        trusted = [verification.facts["key_pinned"][0] == PASSED for verification in (one, other)]
        if one.signer != other.signer and not all(trusted):
            problems.append("other_key")
    sequences = [one.statement.body["sequence"] for one in ordered]
    return {"sequences": sequences, "from_start": sequences[:1] == [1], "problems": problems}


# --- The command line -------------------------------------------------------------------------------------------------


def words(values):
    return [word for value in values for word in value.split(",") if word]


def read_file(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None


def read_json_file(path):
    try:
        return parse_json(read_file(path))
    except Refused as refused:
        raise Unusable(f"{path}: {refused.why}") from None


def given_by(options):
    sources = [value if is_hex(value, 64) else read_json_file(value) for value in words(options.keys)]
    for signer in words(options.signers):
        if from_base58(signer, 32) is None:
            raise Unusable(f"{signer} is not a key in base58")
    if not re.fullmatch("[ -~]{25}", options.domain_tag):
        raise Unusable("the domain tag is not 25 printable ASCII characters")
    answers = read_json_file(options.rpc_answers) if options.rpc_answers else None
    policy = read_file(options.policy).decode("utf-8", "replace") if options.policy else None
    return Given(
        pinned=read_pinned_keys(sources),
        signers=words(options.signers),
        domain_tag=options.domain_tag,
        audience=options.audience,
        logs=[read_log_key(key) for key in options.log_key],
        policy=None if policy is None else read_policy(policy),
        folder=DiskFolder(options.dir) if options.dir else None,
        node=None if answers is None else Node(answers))


def verify_file(path, given):
    """(verification, None), or (None, the reason for which there are no facts)."""
    try:
        if path == "-":
            return verify(sys.stdin.buffer.read, given), None
        with open(path, "rb") as file:
            return verify(file.read, given), None
    except Refused as refused:
        return None, refused
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None


def covered(verification):
    bundle, body = verification.bundle, verification.statement.body if verification.statement else {}
    if bundle.leaves is not None:
        return f"{bundle.leaves.count} files without names"
    count = bundle.files.count
    return f"{count} of {body.get('file_count')} files" if verification.is_redacted else f"list of {count} files"


def first_line(verdict, results, chain, missing):
    if verdict != "failed":
        pinned = "pinned key" if verdict == "verified" else "key that was not pinned"
        return f"{VERDICTS[verdict]}: " + "; ".join(f"{covered(one)}, signed by a {pinned}" for one, _ in results)
    for verification, refused in results:
        if refused:
            return f"FAILED: this bundle cannot be checked: {refused.why} ({refused.code})"
        failed = verification.failed()
        if failed:
            also = "; also " + ", ".join(failed[1:]) if failed[1:] else ""
            return f"FAILED: {failed[0]}: {verification.facts[failed[0]][1]}{also}"
    if missing:
        return f"FAILED: required, and not passed: {', '.join(missing)}"
    return "FAILED: " + (f"the chain is broken: {', '.join(chain['problems'])}" if chain and chain["problems"]
                         else "the signature does not cover the files")


def print_facts(path, verification, refused):
    print(f"\n{path}")
    if refused:
        print(f"✗ {refused.why}")
        return
    for name, (value, why) in verification.facts.items():
        mark = {PASSED: "✓", FAILED: "✗"}.get(value, "–")
        print(f"{mark} {name:25}" + (f" {value.replace('_', ' ')}: {why}" if why else ""))


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Verifies evidence bundles of a storage gateway, without a network.")
    parser.add_argument("bundle", nargs="+", help="files; - is standard input; several are also checked as a chain")
    for name, what in (("--keys", "keys that must have signed: a key list, or hex"),
                       ("--signers", "publication keys (base58), one of which must have signed on chain"),
                       ("--log-key", "key of a log (name+hash+base64); may be repeated"),
                       ("--require", "facts that must have passed")):
        parser.add_argument(name, action="append", default=[], metavar="X", help=what)
    parser.add_argument("--dir", metavar="FOLDER", help="folder with the files, to compare with the list")
    parser.add_argument("--policy", metavar="FILE", help="logs, witnesses and the number that must vouch")
    parser.add_argument("--rpc-answers", metavar="FILE", help="recorded answers of a node of the primary chain")
    parser.add_argument("--domain-tag", default=DOMAIN_TAG, metavar="TAG", help="domain tag of the gateway")
    parser.add_argument("--audience", metavar="URL", help="address of the gateway whose keys are pinned")
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    parser.add_argument("--strict", action="store_true", help="fail unless the verdict is VERIFIED")
    options = parser.parse_args(arguments)
    try:
        given = given_by(options)
        results = [verify_file(path, given) for path in options.bundle]
    except Unusable as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    verifications = [verification for verification, _ in results if verification]
    chain = verify_chain(verifications) if len(results) > 1 and len(verifications) == len(results) else None
    verdicts = [verdict_of(verification.facts if verification else None) for verification, _ in results]
    missing = [fact for fact in words(options.require) for verification in verifications
               if verification.facts.get(fact, (None,))[0] != PASSED]
    verdict = next((word for word in ("failed", "signer_unknown") if word in verdicts), "verified")
    if missing or chain and chain["problems"]:
        verdict = "failed"
    is_ok = verdict == "verified" if options.strict else verdict != "failed"
    if options.json:
        print(json.dumps({"ok": is_ok, "verdict": verdict, "bundles": [as_json(path, *result) for path, result in
                                                                      zip(options.bundle, results)], "chain": chain}))
    else:
        print(first_line(verdict, results, chain, missing))
        for path, result in zip(options.bundle, results):
            print_facts(path, *result)
        if chain and chain["problems"]:
            print(f"\n✗ the chain is broken: {', '.join(chain['problems'])}")
    return 0 if is_ok else 3


def as_json(path, verification, refused):
    if refused:
        return {"bundle": path, "refused": {"code": refused.code, "why": refused.why}}
    facts = {name: {"value": value, **({"why": why} if why else {})} for name, (value, why) in verification.facts.items()}
    return {"bundle": path, "refused": None, "facts": facts, "failed": verification.failed()}


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head -1` is no error
    sys.exit(main())
