"""The wire format: one message as one frame of bytes, and back.

A frame is a prefix (8 bytes each, little-endian: size of what follows, size of the header, a ticket), a header (a
msgpack tree of typed nodes) and the raw buffers of tensors, each padded to 16 bytes. It moves no bytes itself, and
whatever is wrong with what it is given is one `WireError`. Requests and replies are decoded apart: neither side
accepts the other's messages.
"""

from __future__ import annotations

import dataclasses
import struct
from typing import Any, Union, cast, get_args, get_type_hints

import msgspec

from .messages import Reply, Request
from .packing import Packer
from .unpacking import Unpacker
from .values import ALIGNMENT, MAX_FRAME, Node, Unencodable, WireError

__all__ = [
    "MAX_HEADER",
    "PREFIX",
    "Part",
    "Unencodable",
    "WireError",
    "decode_reply",
    "decode_request",
    "encode",
    "frame_size",
    "ticket_of",
]

MAX_HEADER = 1 << 20
PREFIX = 24
_PREFIX = struct.Struct("<QQQ")
_JOINED = 1 << 18  # frames up to this many bytes are joined into one buffer, so that one write sends them
Part = Union[bytes, bytearray, memoryview]
"""A piece of a frame."""

# How a field of a message travels, by its annotation: as a node, a list of nodes, a dict of nodes, or as it stands.
_FIELD_KINDS: dict[Any, Any] = {Any: Node, tuple[Any, ...]: list[Node], dict[str, Any]: dict[str, Node]}


def _wire_type(message: type) -> type[msgspec.Struct]:
    fields = [(name, _FIELD_KINDS.get(hint, hint)) for name, hint in get_type_hints(message).items()]
    return msgspec.defstruct(
        f"Wire{message.__name__}",
        fields,
        tag=message.__name__,
        array_like=True,
        frozen=True,
        forbid_unknown_fields=True,
    )


_MESSAGES: tuple[type, ...] = (*get_args(Request), *get_args(Reply))
_WIRE_TYPES = {message: _wire_type(message) for message in _MESSAGES}
_FIELDS = {
    message: tuple((field.name, get_type_hints(message)[field.name]) for field in dataclasses.fields(message))
    for message in _MESSAGES
}
_MESSAGE_OF = {wire_type: message for message, wire_type in _WIRE_TYPES.items()}
_REQUESTS = msgspec.msgpack.Decoder(Union[tuple(_WIRE_TYPES[message] for message in get_args(Request))])  # type: ignore[arg-type]
_REPLIES = msgspec.msgpack.Decoder(Union[tuple(_WIRE_TYPES[message] for message in get_args(Reply))])  # type: ignore[arg-type]
_ENCODER = msgspec.msgpack.Encoder()


def encode(message: Request | Reply, ticket: int = 0) -> list[Part]:
    """The frame of `message`, as buffers to be written one after the other.

    A request carries a `ticket` of 64 random bits, and its reply the same: no reply can be written before its request
    was read.

    Raises `Unencodable` for a value of no kind that can be passed on, or one that is too large.
    """
    packer = Packer(of_request=isinstance(message, get_args(Request)))
    header = _ENCODER.encode(_packed(packer, message))
    if len(header) > MAX_HEADER:
        raise Unencodable(type(message).__name__, reason=f"it has too many parts ({len(header):,} bytes of structure)")
    padding = -(PREFIX + len(header)) % ALIGNMENT
    size = len(header) + padding + packer.size
    if size > MAX_FRAME:
        raise Unencodable(
            type(message).__name__, reason=f"it holds {size / 1e6:,.0f} MB; at most 64 MB can be passed on"
        )
    parts: list[Part] = [_PREFIX.pack(size, len(header), ticket) + header + bytes(padding), *packer.buffers]
    return [b"".join(parts)] if size < _JOINED else parts


def _packed(packer: Packer, message: Request | Reply) -> msgspec.Struct:
    packed: list[Any] = []
    for name, hint in _FIELDS[type(message)]:
        value = getattr(message, name)
        kind = _FIELD_KINDS.get(hint)
        try:
            if kind is None:
                packed.append(value)
            elif kind is Node:
                packed.append(packer.pack(value))
            elif kind == list[Node]:
                packed.append(packer.pack_each(value))
            else:
                packed.append({key: packer.pack(item) for key, item in value.items()})
        except Unencodable as error:
            raise error if name == "value" else error.inside(f" in {name}") from None
    return _WIRE_TYPES[type(message)](*packed)


def frame_size(prefix: bytes | bytearray | memoryview) -> int:
    """The size in bytes of the frame that begins with `prefix`. Raises `WireError` when it is over a limit."""
    size, header, _ = _PREFIX.unpack_from(prefix)
    if size > MAX_FRAME or header > MAX_HEADER or header > size:
        raise WireError(f"a frame of {size} bytes with a header of {header}")
    return PREFIX + size


def ticket_of(frame: bytearray) -> int:
    """The ticket that a frame carries."""
    return _PREFIX.unpack_from(frame)[2]


def decode_request(frame: bytearray) -> Request:
    """The request in a whole frame. Raises `WireError`."""
    return cast("Request", _decode(frame, _REQUESTS))


def decode_reply(frame: bytearray) -> Reply:
    """The reply in a whole frame. Raises `WireError`."""
    return cast("Reply", _decode(frame, _REPLIES))


def _decode(frame: bytearray, decoder: msgspec.msgpack.Decoder[Any]) -> object:
    try:
        if len(frame) < PREFIX or frame_size(frame) != len(frame):
            raise WireError(f"{len(frame)} bytes that are no frame")
        end = PREFIX + _PREFIX.unpack_from(frame)[1]
        view = memoryview(frame)
        wire_message = decoder.decode(view[PREFIX:end])
        unpacker = Unpacker(view[end + -end % ALIGNMENT :], of_request=decoder is _REQUESTS)
        message = _unpacked(unpacker, wire_message)
        unpacker.finish()
        return message
    except WireError:
        raise
    except Exception as error:  # whatever hostile bytes lead to is one error
        raise WireError(f"malformed content ({type(error).__name__}: {str(error)[:200]})") from None


def _unpacked(unpacker: Unpacker, wire_message: msgspec.Struct) -> object:
    message = _MESSAGE_OF[type(wire_message)]
    fields: dict[str, Any] = {}
    for name, hint in _FIELDS[message]:
        value = getattr(wire_message, name)
        kind = _FIELD_KINDS.get(hint)
        if kind is None:
            fields[name] = value
        elif kind is Node:
            fields[name] = unpacker.unpack(value)
        elif kind == list[Node]:
            fields[name] = tuple([unpacker.unpack(item) for item in value])
        else:
            fields[name] = {key: unpacker.unpack(item) for key, item in value.items()}
    return message(**fields)
