"""The simulation of prompt caches holds what the design says of them."""

import json

from benchmarks.simulation import Bill, Cache, Prices, conversation, folded, play, prompt, requests, unfolded

PRICES = Prices(write=1.25, read=0.1, minimum_tokens=1)


def test_folding_at_the_first_re_send_leaves_the_cache_intact() -> None:
    """What was sent once is never written again: all requests together write what the last one holds."""
    messages = conversation(30)
    whole, delay_0, delay_1 = (play(messages, way, PRICES, "s") for way in (unfolded, folded(0), folded(1)))
    *_, last = requests(messages)
    for bill, way in ((whole, unfolded), (delay_0, folded(0))):
        written = bill.sent - bill.cached
        size = len(prompt("s", way(last)[0])) // 4
        assert (
            size <= written <= size + 3 * 31
        )  # rounded down, and the closing bracket, in each of 31 requests
    assert delay_0.billed < delay_1.billed < whole.billed


def test_a_request_is_read_up_to_where_it_differs() -> None:
    cache, bill = Cache(Prices(2.0, 0.5, 10)), Bill()
    for request in (b"a" * 400, b"a" * 400 + b"b" * 40, b"a" * 20 + b"c" * 40):
        cache.bill(request, bill)
    assert (bill.sent, bill.cached, bill.largest) == (100 + 110 + 15, 100, 110)
    assert bill.billed == 100 * 2.0 + (100 * 0.5 + 10 * 2.0) + 15 * 2.0


def test_the_conversation_is_the_same_in_every_run() -> None:
    assert json.dumps(conversation(20)) == json.dumps(conversation(20))
    assert "@context-fold begin step-4" in json.dumps(conversation(20))
