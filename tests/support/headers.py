"""The parts of HPACK (RFC 7541) that raw frames need."""

from __future__ import annotations

#: How many bits each byte's Huffman code has, 'a' for 5; the code is canonical (Appendix B).
LENGTHS = (
    "isxxxxxxxtzxxzxxxxxxxxzxxxxxxxxxbffhibdgffdgdbbbaaabbbbbbbcdkbhfi"
    "bccccccccccccccccccccccdcdioijbkabababbbaccbbbabcbaabccccckgjixprp"
    "prrrsrssssststtrstssssqrsrsstrqprrssqsrrtqrssqqrqsrssprrrsrrsvvpor"
    "sruvvvwwvtuoqvwwvwtqqvvxwwwptpqrqqsrruuttvsvwvvwwwwwxwwwwwv"
)
STATIC_NAMES = (
    ":authority :method :method :path :path :scheme :scheme :status :status :status :status "
    ":status :status :status accept-charset accept-encoding accept-language accept-ranges "
    "accept access-control-allow-origin age allow authorization cache-control "
    "content-disposition content-encoding content-language content-length content-location "
    "content-range content-type cookie date etag expect expires from host if-match "
    "if-modified-since if-none-match if-range if-unmodified-since last-modified link location "
    "max-forwards proxy-authenticate proxy-authorization range referer refresh retry-after "
    "server set-cookie strict-transport-security transfer-encoding user-agent vary via "
    "www-authenticate"
)
NAMES = STATIC_NAMES.split()
STATIC_VALUES = " GET POST / /index.html http https 200 204 206 304 400 404 500  gzip,_deflate"
VALUES = dict(enumerate(STATIC_VALUES.split(" ")))
STATIC = [(name, VALUES.get(place, "").replace("_", " ")) for place, name in enumerate(NAMES)]


def _codes() -> dict[tuple[int, int], str]:
    lengths = sorted((ord(length) - 92, byte) for byte, length in enumerate(LENGTHS))
    codes, code, before = {}, 0, 0
    for length, byte in lengths:
        code <<= length - before
        codes[length, code] = chr(byte)
        code, before = code + 1, length
    return codes


CODES = _codes()


def number(value: int, prefix: int, flags: int = 0) -> bytes:
    """An integer with a prefix of ``prefix`` bits, after ``flags`` (RFC 7541, 5.1)."""
    most = (1 << prefix) - 1
    if value < most:
        return bytes([flags | value])
    encoded, value = bytearray([flags | most]), value - most
    while value >= 128:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def text(value: str | bytes) -> bytes:
    """A string without Huffman coding."""
    encoded = value if isinstance(value, bytes) else value.encode()
    return number(len(encoded), 7) + encoded


def literal(name: str | bytes, value: str | bytes) -> bytes:
    """A literal header without indexing, and without any checks."""
    return b"\0" + text(name) + text(value)


def encode(headers: list[tuple[str | bytes, str | bytes]]) -> bytes:
    """A block of literals."""
    return b"".join(literal(name, value) for name, value in headers)


class Decoder:
    """Decodes the headers that a server sends on one connection."""

    def __init__(self) -> None:
        self.table: list[tuple[str, str]] = []

    def decode(self, block: bytes) -> list[tuple[str, str]]:
        """The headers of a block."""
        self.block, self.at = block, 0
        headers = []
        while self.at < len(block):  # each iteration consumes at least a byte
            first = block[self.at]
            if first & 0x80:
                headers.append(self._entry(self._number(7)))
            elif first & 0xE0 == 0x20:
                self._number(5)  # a table size update, ignored because our table never evicts
            else:
                remembered = first & 0xC0 == 0x40
                place = self._number(6 if remembered else 4)
                name = self._entry(place)[0] if place else self._text()
                headers.append((name, self._text()))
                if remembered:
                    self.table.insert(0, headers[-1])
        return headers

    def _entry(self, place: int) -> tuple[str, str]:
        return STATIC[place - 1] if place <= len(STATIC) else self.table[place - len(STATIC) - 1]

    def _number(self, prefix: int) -> int:
        most = (1 << prefix) - 1
        value = self.block[self.at] & most
        self.at += 1
        if value < most:
            return value
        for shift in range(0, 35, 7):
            byte = self.block[self.at]
            self.at += 1
            value += (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("an integer of more than 32 bits")

    def _text(self) -> str:
        huffman = self.block[self.at] & 0x80
        length = self._number(7)
        raw = self.block[self.at : self.at + length]
        self.at += length
        return _unpacked(raw) if huffman else raw.decode("latin-1")


def _unpacked(raw: bytes) -> str:
    bits = f"{int.from_bytes(raw, 'big'):0{8 * len(raw)}b}" if raw else ""
    found, code, length = [], 0, 0
    for bit in bits:
        code, length = code << 1 | int(bit), length + 1
        if (length, code) in CODES:
            found.append(CODES[length, code])
            code, length = 0, 0
    return "".join(found)


assert len(LENGTHS) == 256
assert len(STATIC) == 61
