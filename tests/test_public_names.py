"""Nothing that users import, type or configure comes or goes unnoticed."""

from difflib import unified_diff
from pathlib import Path

from tests.kit.public_names import public_names

LIST = Path(__file__).parent / "data" / "public_names.txt"


def test_public_names_are_those_of_the_list() -> None:
    changes = list(unified_diff(LIST.read_text("utf-8").splitlines(), public_names(), "listed", "found", n=0))
    assert not changes, (
        "public names changed; where that is meant, say so in CHANGELOG.md and write the list anew with "
        "`python -m tests.kit.public_names > tests/data/public_names.txt`:\n" + "\n".join(changes)
    )


def test_the_list_holds_every_kind_of_name() -> None:
    """A fault of the lister must not look like an intended removal."""
    kinds = {line.split(":", 1)[0] for line in LIST.read_text("utf-8").splitlines()}
    assert kinds == {
        *("command", "configuration", "extra", "mcp", "mcp --scope", "program", "python", "variable"),
    }
