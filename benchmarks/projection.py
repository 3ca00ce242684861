"""`python -m benchmarks.projection`: functions of real files, projected, and judged by other tools.

It finds sources of more than 50 KB below the roots, asks for some functions of each, and compares which lines
stayed with where an independent tool (benchmarks.oracles) says that the function is.
"""

import argparse
import os
import random
import statistics
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import ctxf
from benchmarks.oracles import ORACLES, Function
from ctxf.protocol.grammars import Grammar, load_grammar
from ctxf.protocol.languages import language_for_file, language_of
from ctxf.protocol.parsers import Parsers

__all__ = ["Outcome", "measure", "source_files"]

SMALLEST = 50_000
LARGEST = 2_000_000
LARGE = 100_000
PER_FILE = 4

ROOTS = (
    sysconfig.get_path("stdlib"),
    sysconfig.get_path("purelib"),
    *("/usr/include", "/usr/lib", "/usr/share", "/usr/local", "/usr/src"),
)


@dataclass
class Outcome:
    """What became of the functions of one language."""

    language: str
    asked: int = 0
    agreed: int = 0
    disagreements: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)  # whole, though the other tool finds one function
    whole: Counter[str] = field(default_factory=Counter)
    ambiguous_asked: int = 0
    ambiguous_kept: int = 0
    not_restored: int = 0
    shares: list[tuple[int, float]] = field(default_factory=list)  # size of the file, share kept
    ratios: list[float] = field(default_factory=list)

    @property
    def projected(self) -> int:
        """How many were projected."""
        return len(self.shares)

    def large_shares(self) -> list[float]:
        """The shares kept of files above 100 KB."""
        return [share for size, share in self.shares if size > LARGE]


def source_files(roots: Sequence[str], language: str, rng: random.Random) -> Iterator[Path]:
    """Sources of a language below the roots, large ones only, in random order, none twice."""
    found: dict[tuple[str, int], Path] = {}
    for root in roots:
        for folder, folders, files in os.walk(root):
            folders.sort()
            for file in sorted(files):
                known = language_for_file(file)
                path = Path(folder, file)
                if language == "c" and path.suffix == ".h":
                    continue  # half of them are C++
                if known and known.name == language and path.is_file() and not path.is_symlink():
                    size = path.stat().st_size
                    if SMALLEST < size < LARGEST:
                        found.setdefault((file, size), path)
    paths = list(found.values())
    rng.shuffle(paths)
    yield from paths


def measure(language: str, roots: Sequence[str], functions: int, seed: str, archive: ctxf.Archive) -> Outcome:
    """Ask for `functions` functions of a language."""
    rng = random.Random(seed + language)
    outcome = Outcome(language)
    known = language_of(language)
    grammar = load_grammar(known) if known else None
    if not isinstance(grammar, Grammar):
        raise RuntimeError(f"no grammar for {language}")
    with Parsers() as parsers:
        for path in source_files(roots, language, rng):
            if outcome.asked >= functions:
                break
            found = ORACLES[language](path)
            if found:
                _File(path, found, grammar, parsers, archive, outcome).ask(rng)
    return outcome


class _File:
    """One file, and what the other tool finds in it."""

    def __init__(
        self,
        path: Path,
        functions: list[Function],
        grammar: Grammar,
        parsers: Parsers,
        archive: ctxf.Archive,
        outcome: Outcome,
    ) -> None:
        self.path = path
        self.data = path.read_bytes()
        self.functions = functions
        self.grammar = grammar
        self.parsers = parsers
        self.archive = archive
        self.outcome = outcome

    def ask(self, rng: random.Random) -> None:
        """Ask for some functions, and for a name that several have."""
        for function in rng.sample(self.functions, min(PER_FILE, len(self.functions))):
            self._ask_for(function)
        scopes: dict[str, set[str]] = {}
        for one in self.functions:
            scopes.setdefault(one.name, set()).add(one.scope)
        several = sorted(name for name, where in scopes.items() if len(where) > 1)
        if several:
            self._ask_for_several(rng.choice(several))

    def _project(self, question: str) -> ctxf.ProjectResult[bytes]:
        result = ctxf.project(self.data, question, self.outcome.language, self.archive, parser=self.parsers)
        if ctxf.restore(result.text, self.archive, language=self.outcome.language).text != self.data:
            self.outcome.not_restored += 1
        return result

    def _ask_for(self, function: Function) -> None:
        from tree_sitter import Parser  # noqa: PLC0415 - the bare parse that we are compared with

        scope = function.scope.replace("::", ".").rpartition(".")[2]
        question = f"What does `{scope}.{function.name}` do?" if scope else f"What does {function.name}() do?"
        start = time.perf_counter()
        Parser(self.grammar.handle).parse(self.data)
        parsed = time.perf_counter()
        result = ctxf.project(self.data, question, self.outcome.language, self.archive, parser=self.parsers)
        projected = time.perf_counter()
        restored = ctxf.restore(result.text, self.archive, language=self.outcome.language)
        outcome = self.outcome
        outcome.asked += 1
        outcome.not_restored += restored.text != self.data
        same = [one for one in self.functions if (one.name, one.scope) == (function.name, function.scope)]
        if result.why is None:
            outcome.shares.append((len(self.data), len(result.text) / len(self.data)))
            outcome.ratios.append((projected - parsed) / (parsed - start))
            if self._agrees(result, same):
                outcome.agreed += 1
            else:
                kept = [(one.name, one.first, one.last) for one in result.definitions]
                outcome.disagreements.append(f"{self.path}: {question} kept {kept}, expected {same}")
        else:
            outcome.whole[result.why] += 1
            # Whole sources are safe, but these two reasons say something that the other tool does not.
            is_alone = sum(one.name == function.name for one in self.functions) == 1
            if result.why is ctxf.Why.NO_NAME or (result.why is ctxf.Why.AMBIGUOUS and is_alone):
                outcome.missed.append(f"{self.path}: {question} {result.detail}, expected {same}")

    def _agrees(self, result: ctxf.ProjectResult[bytes], expected: list[Function]) -> bool:
        """Whether what stayed are these functions from their first line to their last, and no other."""
        lines = self.data.split(b"\n")
        if len(result.definitions) != len(expected):
            return False
        for kept, function in zip(
            result.definitions, sorted(expected, key=lambda one: one.line), strict=True
        ):
            text = b"\n".join(lines[kept.first - 1 : kept.last])
            if kept.last != function.last or not kept.first <= function.line <= kept.last:
                return False
            if text not in result.text:
                return False
        return True

    def _ask_for_several(self, name: str) -> None:
        result = self._project(f"What does {name}() do?")
        self.outcome.ambiguous_asked += 1
        self.outcome.ambiguous_kept += result.text == self.data


def main() -> int:
    """Print a line for each language; 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.projection", description=__doc__)
    parser.add_argument("--root", action="append", default=[], help="look here, too (or CTXF_TORTURE_ROOTS)")
    parser.add_argument("--functions", type=int, default=60, help="functions to ask for, of each language")
    parser.add_argument("--language", action="append", default=[], choices=sorted(ORACLES))
    parser.add_argument("--seed", default="ctxf")
    parser.add_argument("-v", "--verbose", action="store_true", help="show each disagreement")
    arguments = parser.parse_args()
    extra = [one for one in os.environ.get("CTXF_TORTURE_ROOTS", "").split(":") if one]
    roots = [*arguments.root, *extra, *ROOTS]
    print(f"{'':11} asked projected agreed  whole  ambiguous  kept >100 KB   time/parse  not restored")
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="ctxf-projection-") as folder:
        for language in arguments.language or ORACLES:
            with ctxf.Archive.open(Path(folder) / f"{language}.db") as archive:
                outcome = measure(language, roots, arguments.functions, arguments.seed, archive)
            outcomes.append(outcome)
            print(_line(outcome), flush=True)
            if arguments.verbose:
                print(*(f"  other lines: {one}" for one in outcome.disagreements), sep="\n")
                print(*(f"  not found: {one}" for one in outcome.missed), sep="\n")
    return 0 if _report(outcomes) else 1


def _line(one: Outcome) -> str:
    share = f"{statistics.median(one.large_shares()):.2%}" if one.large_shares() else "-"
    ratio = f"{statistics.median(one.ratios):.2f}x" if one.ratios else "-"
    whole = " ".join(f"{why}:{count}" for why, count in sorted(one.whole.items()))
    return (
        f"{one.language:11} {one.asked:5} {one.projected:9} {one.agreed:6} {sum(one.whole.values()):6}"
        f" {one.ambiguous_kept:5}/{one.ambiguous_asked:<4} {share:>13} {ratio:>12} {one.not_restored:13}"
        f"  {whole}"
    )


def _report(outcomes: Sequence[Outcome]) -> bool:
    asked = sum(one.asked for one in outcomes)
    projected = sum(one.projected for one in outcomes)
    agreed = sum(one.agreed for one in outcomes)
    missed = sum(len(one.missed) for one in outcomes)
    shares = [share for one in outcomes for share in one.large_shares()]
    ratios = [ratio for one in outcomes for ratio in one.ratios]
    if not projected or not shares:
        print("nothing was projected: name folders with large sources by --root")
        return False
    agreement = agreed / projected
    share, ratio = statistics.median(shares), statistics.median(ratios)
    print(
        f"{len(outcomes)} languages, {asked} functions, {projected} projected; agreement {agreement:.2%}"
        f" (>= 99.5 %), {missed} left whole as not found,"
        f" median kept of files above 100 KB {share:.2%} (< 1.5 %),"
        f" median time {ratio:.2f} x the bare parse (<= 1.5)"
    )
    exact = not any(one.not_restored for one in outcomes)
    ambiguous = all(one.ambiguous_kept == one.ambiguous_asked for one in outcomes)
    return agreement >= 0.995 and share < 0.015 and ratio <= 1.5 and exact and ambiguous


if __name__ == "__main__":
    sys.exit(main())
