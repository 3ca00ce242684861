"""The scope of a conversation: derived from the client's session id under this installation's secret.

Whoever sees the session id (hooks, the gateway) arrives at the same scope without asking anybody, and
nobody else can. The secret is one file in the data directory; without it, folds of conversations can still
be read by who knows their scope, but no scope can be derived again.
"""

import hmac
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ctxf.errors import SecretError
from ctxf.storage.files import data_directory, make_directories, new_file

__all__ = ["install_secret", "read_secret", "secret_path", "session_scope"]

SECRET_BYTES: Final = 32

_FILE_NAME: Final = "secret"
_SCOPE_DIGITS: Final = 32
_HEX_DIGITS: Final = frozenset(b"0123456789abcdef")


def session_scope(secret: bytes, client: str, session_id: str) -> str:
    """The scope of a client's session: `c-` and 32 hexadecimal digits (PROTOCOL.md §9)."""
    message = f"{client}\0{session_id}".encode("utf-8", "surrogatepass")
    return "c-" + hmac.digest(secret, message, "sha256").hex()[:_SCOPE_DIGITS]


def secret_path(environ: Mapping[str, str]) -> Path:
    """Where the install secret is: in the data directory, wherever CTXF_ARCHIVE may point.

    Raises StorageError where there is no home directory.
    """
    return data_directory(environ) / _FILE_NAME


def install_secret(path: Path) -> bytes:
    """The 32 bytes of the secret at `path`; made, mode 0600 and durable, where there is none.

    Whichever process comes first, all get the same. Raises SecretError.
    """
    secret = read_secret(path)
    if secret is not None:
        return secret
    try:
        make_directories(path.parent)
        with new_file(path) as temporary, open(temporary, "wb") as file:
            file.write(os.urandom(SECRET_BYTES).hex().encode("ascii") + b"\n")
    except FileExistsError:
        pass  # another process was faster, and its secret is the one
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise SecretError(
            str(path), f"cannot be made: {reason}", "name another place with CTXF_HOME"
        ) from error
    secret = read_secret(path)
    if secret is None:
        raise SecretError(str(path), "vanished while it was made", "try again")
    return secret


def read_secret(path: Path) -> bytes | None:
    """The secret at `path`; None where there is none yet. Raises SecretError for a file that is none."""
    flags = os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise SecretError(str(path), f"cannot be read: {reason}", "it is a file of your own, 0600") from error
    try:
        content = os.read(descriptor, 100) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError as error:
        raise SecretError(str(path), f"cannot be read: {os.strerror(error.errno or 0)}") from error
    finally:
        os.close(descriptor)
    digits = content.removesuffix(b"\n")
    if len(digits) != 2 * SECRET_BYTES or digits == content or not _HEX_DIGITS.issuperset(digits):
        hint = "take it from a backup, or remove it: conversations get new scopes from then on"
        raise SecretError(str(path), "is not what ctxf wrote", hint)
    return bytes.fromhex(digits.decode("ascii"))
