"""`python -m benchmarks.simulation`: what a long agent conversation costs.

A generated conversation of an agent (some text, tool calls, results, now and then a marked block) is sent as
an agent sends it: the whole history with every request. Each request goes through the rules of a provider's
prompt cache: what it has in common with the request before, from the first byte on, is read from the cache,
the rest is written to it. Compared are: nothing done, blocks folded with delay 0 and 1, and two ways that
throw history away: dropping old turns late, and summarising them late. Not modelled: breakpoints, what
expires, and that an agent may read a body back, which costs that body once.

Tokens are bytes / 4 (est.). Prices are parameters, in units of the price of one uncached input token. The
defaults are Anthropic's rules for the 5-minute cache: writing costs 1.25, reading 0.1, prefixes below 1,024
tokens are not cached, for some models below 4,096 (as of mid-2026). For OpenAI's automatic caching use
--write 1, from GPT-5.6 on 1.25; for Gemini's implicit caching --write 1 and --minimum 2048 or 4096. Sources:
https://docs.claude.com/en/docs/build-with-claude/prompt-caching,
https://platform.openai.com/docs/guides/prompt-caching and https://ai.google.dev/gemini-api/docs/caching.
Output costs the same in all rows and is left out, but for the summaries, which are made by the model.
"""

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import ctxf
from benchmarks.corpus import sentences
from ctxf.requests import Memo, RequestPolicy, fold_request

Json = dict[str, Any]

_OUTPUT_PRICE: Final = 5.0  # of one output token; Anthropic's list prices have 5 times that of input


@dataclass(frozen=True, slots=True)
class Prices:
    """A provider's cache: prices in units of an uncached input token, the shortest prefix that is kept."""

    write: float = 1.25
    read: float = 0.1
    minimum_tokens: int = 1024


@dataclass(slots=True)
class Bill:
    """What all requests together took, in estimated tokens; `billed` in uncached input tokens."""

    sent: int = 0
    cached: int = 0
    billed: float = 0.0
    largest: int = 0


def conversation(turns: int, seed: str = "simulation") -> list[Json]:
    """The messages of an agent that works through `turns` calls of tools, marking what it is done with."""
    rng = random.Random(seed)
    messages: list[Json] = [{"role": "user", "content": sentences(rng, 40)}]
    for turn in range(turns):
        said = sentences(rng, rng.randint(2, 6))
        if turn % 5 == 4:
            # Once in five turns the agent writes down what it looked at, a conclusion first.
            said += (
                f"\n<!-- @context-fold begin step-{turn} -->\n{sentences(rng, rng.randint(60, 240))}"
                f"<!-- @context-fold end step-{turn} -->\n"
            )
        call = {
            "type": "tool_use",
            "id": f"toolu_{turn}",
            "name": "Bash",
            "input": {"command": f"make {turn}"},
        }
        messages.append({"role": "assistant", "content": [{"type": "text", "text": said}, call]})
        result = sentences(rng, rng.randint(5, 60))
        content: list[Json] = [{"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": result}]
        if turn % 20 == 19:
            content.append({"type": "text", "text": sentences(rng, 5)})  # the user says something, too
        messages.append({"role": "user", "content": content})
    return messages


def requests(messages: list[Json]) -> Iterator[list[Json]]:
    """The history of each request: one whenever it is the model's turn."""
    for end in range(1, len(messages) + 1, 2):
        yield messages[:end]


class Cache:
    """A prompt cache by prefix: the best match among the latest requests counts."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._latest: bytes = b""

    def bill(self, request: bytes, bill: Bill) -> None:
        """Send a request: what it has in common with the one before it is read, the rest is written."""
        common = _common_prefix(self._latest, request) // 4
        cached = common if common >= self._prices.minimum_tokens else 0
        total = len(request) // 4
        written = total - cached if total >= self._prices.minimum_tokens else 0
        plain = total - cached - written
        bill.sent += total
        bill.cached += cached
        bill.billed += cached * self._prices.read + written * self._prices.write + plain
        bill.largest = max(bill.largest, total)
        self._latest = request


def _common_prefix(one: bytes, two: bytes) -> int:
    """Bytes that both begin with."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == two[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def prompt(system: str, history: list[Json]) -> bytes:
    """What the model reads, as far as the order of its parts goes: tools and system first."""
    return json.dumps([system, *history], separators=(",", ":")).encode()


def unfolded(history: list[Json]) -> tuple[list[Json], int]:
    return history, 0


def folded(delay: int) -> Callable[[list[Json]], tuple[list[Json], int]]:
    """Fold each request, as a gateway does: with an archive and a memo for all of them."""
    archive, memo, policy = ctxf.Archive.memory(), Memo(), RequestPolicy(delay_requests=delay)

    def fold(history: list[Json]) -> tuple[list[Json], int]:
        body = {"messages": history}
        return fold_request(body, "anthropic", archive, policy=policy, memo=memo).body["messages"], 0

    return fold


class Shortened:
    """When the history passes `limit` tokens its older half goes, for `summary` tokens or for nothing.

    The request that asks for a summary reads the cache: its output is what costs.
    """

    def __init__(self, limit: int, summary: int) -> None:
        self._limit = limit
        self._summary = summary
        self._dropped = 1  # messages behind the first one that are gone
        self._note: list[Json] = []

    def __call__(self, history: list[Json]) -> tuple[list[Json], int]:
        """The history as it is sent, and the tokens that the model wrote for it."""
        shown = self._shown(history)
        if len(prompt("", shown)) // 4 <= self._limit:
            return shown, 0
        self._dropped += (len(history) - self._dropped) // 4 * 2
        if self._summary:
            text = f"Summary up to message {self._dropped}. " + "x" * (4 * self._summary)
            self._note = [{"role": "assistant", "content": text}, {"role": "user", "content": "Go on."}]
        return self._shown(history), self._summary

    def _shown(self, history: list[Json]) -> list[Json]:
        return [history[0], *self._note, *history[self._dropped :]]


def play(
    messages: list[Json], way: Callable[[list[Json]], tuple[list[Json], int]], prices: Prices, system: str
) -> Bill:
    """All requests of a conversation, one after the other."""
    cache, bill = Cache(prices), Bill()
    for history in requests(messages):
        shown, made = way(history)
        cache.bill(prompt(system, shown), bill)
        bill.billed += made * _OUTPUT_PRICE
    return bill


def main() -> int:
    """Print the table."""
    summary = (__doc__ or "").partition("\n\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulation", description=summary)
    numbers: tuple[tuple[str, Callable[[str], float], float, str], ...] = (
        ("--turns", int, 150, "calls of tools"),
        ("--write", float, 1.25, "price of writing the cache"),
        ("--read", float, 0.1, "price of reading it"),
        ("--minimum", int, 1024, "shortest prefix in tokens that is cached"),
        ("--limit", int, 60_000, "tokens at which old turns go"),
    )
    for name, kind, default, words in numbers:
        parser.add_argument(name, type=kind, default=default, metavar="N", help=f"{words} [{default}]")
    arguments = parser.parse_args()
    prices = Prices(arguments.write, arguments.read, arguments.minimum)
    messages = conversation(arguments.turns)
    system = sentences(random.Random("system"), 300)
    ways: dict[str, Callable[[list[Json]], tuple[list[Json], int]]] = {
        "nothing done": unfolded,
        "folded, delay 0": folded(0),
        "folded, delay 1": folded(1),
        "old turns dropped late": Shortened(arguments.limit, 0),
        "old turns summarised late": Shortened(arguments.limit, 1500),
    }
    size = len(prompt(system, messages)) // 4
    print(f"{arguments.turns + 1} requests, {size:,} tokens in the end (est.: bytes / 4)")
    print(f"cache: write {prices.write:g}, read {prices.read:g}, minimum {prices.minimum_tokens:,} tokens")
    heads = f"{'sent':>12} {'from cache':>12} {'largest':>9} {'billed':>12}"
    print(f"{'all figures are estimates':26} {heads}")
    whole = 0.0
    for name, way in ways.items():
        bill = play(messages, way, prices, system)
        whole = whole or bill.billed
        share = f"{bill.billed / whole:.1%}"
        print(
            f"{name:26} {bill.sent:12,} {bill.cached:12,} {bill.largest:9,} {bill.billed:12,.0f} {share:>7}"
        )
    print("sent, from cache, largest request: tokens; billed: in uncached input tokens, output left out")
    return 0


if __name__ == "__main__":
    sys.exit(main())
