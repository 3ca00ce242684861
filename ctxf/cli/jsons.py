"""JSON for stdout: one object a line, ASCII, safe on a terminal."""

import base64
import json
from typing import Any

from ctxf.archive import Entry

__all__ = ["body_fields", "dump", "entry_fields"]


def dump(value: dict[str, Any]) -> bytes:
    """One line of JSON. Control characters and all beyond ASCII are escaped, DEL too, which json leaves."""
    return json.dumps(value).replace("\x7f", "\\u007f").encode("ascii") + b"\n"


def entry_fields(entry: Entry) -> dict[str, Any]:
    """What is known of a fold: `size` in bytes, `created` in UTC."""
    return {
        "id": entry.id,
        "label": entry.label.decode("utf-8", "replace"),
        "size": entry.size,
        "created": f"{entry.created:%Y-%m-%dT%H:%M:%SZ}",
        "sha256": entry.digest.hex(),
    }


def body_fields(body: bytes) -> dict[str, str]:
    """`text`, or `base64` where the bytes are not UTF-8: either gives them back exactly."""
    try:
        return {"text": body.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode("ascii")}
