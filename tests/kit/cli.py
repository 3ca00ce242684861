"""Runs the real command line as a child process, in a home of its own. Everything is bytes.

The texts here are what most of these tests fold, with the folded text computed apart from the product.
"""

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

CTXF: Final = (sys.executable, "-m", "ctxf")
NOBODY: Final = 65534
# Root may read and write everything; without these capabilities its files' modes hold for it too.
UNPRIVILEGED: Final = """
import ctypes, os, sys
for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH; others than root have none to drop
    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
os.execv(sys.argv[1], sys.argv[1:])
"""
LIMITED: Final = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
os.execv(sys.argv[2], sys.argv[2:])
"""
TIMEOUT: Final = 120.0  # generous: the machine may be busy; no test asserts a time


class Ran(NamedTuple):
    """How a run ended."""

    stdout: bytes
    stderr: bytes
    status: int


@dataclass(frozen=True)
class Cli:
    """The command line with its home, archive and working directory below `root`."""

    root: Path

    @property
    def archive(self) -> Path:
        return self.root / "archive.db"

    @property
    def cwd(self) -> Path:
        return self.root / "work"

    @property
    def user_config(self) -> Path:
        return self.root / "home" / ".config" / "context-folding" / "config.toml"

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root / "home"),
            "CTXF_ARCHIVE": str(self.archive),
            "TMPDIR": str(self.root / "tmp"),
            **(more or {}),
        }

    def run(
        self,
        *args: str | bytes | Path,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        redirect: str = "",
        unprivileged: bool = False,
        largest_file: int | None = None,
    ) -> Ran:
        """Run to the end; `redirect` is a shell's, as `2>&-`. `unprivileged` drops root's capabilities.

        No file that it writes may grow beyond `largest_file` bytes.
        """
        command = self._command(args, redirect)
        if largest_file is not None:
            command = [sys.executable, "-c", LIMITED, str(largest_file), *command]
        if unprivileged:
            command = [sys.executable, "-c", UNPRIVILEGED, *command]
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            env=self.environment(env),
            cwd=cwd or self.cwd,
            timeout=TIMEOUT,
            check=False,
        )
        return Ran(done.stdout, done.stderr, done.returncode)

    def start(
        self, *args: str | bytes | Path, env: Mapping[str, str] | None = None, redirect: str = ""
    ) -> subprocess.Popen[bytes]:
        """Start with pipes on all three descriptors."""
        return subprocess.Popen(
            self._command(args, redirect),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(env),
            cwd=self.cwd,
            bufsize=0,
        )

    def write(self, name: str, data: bytes, mode: int = 0o644) -> Path:
        """A file in the working directory."""
        path = self.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode)
        return path

    def files(self) -> set[str]:
        """All that lies in the working directory."""
        return {str(path.relative_to(self.cwd)) for path in self.cwd.rglob("*")}

    @staticmethod
    def _command(args: Sequence[str | bytes | Path], redirect: str) -> list[str | bytes | Path]:
        if redirect:
            return ["sh", "-c", f'exec "$@" {redirect}', "sh", *CTXF, *args]
        return [*CTXF, *args]


def make_cli(root: Path) -> Cli:
    cli = Cli(root)
    for directory in (cli.cwd, root / "home", root / "tmp"):
        directory.mkdir()
    return cli


def log(lines: int, name: str = "worker") -> bytes:
    """A body: `lines` lines, all different."""
    return b"".join(b"%06d %b: nothing that anybody needs again\n" % (n, name.encode()) for n in range(lines))


def marked(label: bytes, body: bytes) -> bytes:
    return b"<!-- @context-fold begin %b -->\n%b<!-- @context-fold end %b -->\n" % (label, body, label)


def id_of(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:12]


def folded(label: bytes, body: bytes) -> bytes:
    """What a marked block becomes."""
    return marked(label, b"[[cf:v2:%b]]\n" % id_of(body).encode())


def references(text: bytes) -> list[bytes]:
    return re.findall(rb"\[\[cf:v2:[0-9a-f]+\]\]", text)


BODY: Final = log(100)
NOTES: Final = b"The conclusion.\n" + marked(b"log", BODY) + b"The end.\n"
FOLDED: Final = b"The conclusion.\n" + folded(b"log", BODY) + b"The end.\n"
SUMMARY: Final = b"ctxf: 1 block folded; 4.9 kB -> 112 B\n"
