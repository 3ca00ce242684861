"""The module map of the design, checked: who may import whom, and what a plain import costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "ctxf"

# From the bottom up: a line imports only from lines above it, and from itself.
LAYERS = (
    ("errors",),
    ("protocol",),
    ("projection", "storage"),
    ("archive",),
    ("folding", "conversations"),
    ("requests", "config"),
    ("agents", "gateway", "mcp"),
    ("integrations",),
    ("cli",),
    ("__main__",),
)
# Who alone may import a library, by module prefix.
ALONE: dict[str, str | tuple[str, ...]] = {
    "sqlite3": ("storage", "archive.sqlite"),
    "click": "cli",
    "pathspec": "cli.walk",
    "tree_sitter": "protocol.grammars",
    "platformdirs": "storage.files",
    "httpcore2": "gateway",
    "uvicorn": "gateway.server",
    "litellm": "integrations.litellm",
    "mcp": "mcp",
    "mcp_types": "mcp",
    "pydantic": "mcp",
    "tomlkit": "agents.setup.toml",
}


def _modules() -> dict[str, Path]:
    names = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        names[".".join(part for part in parts if part != "__init__")] = path
    return names


def _imports(path: Path) -> set[str]:
    """What is imported at any time, anywhere in the module; what only a type checker imports is not."""
    found: set[str] = set()
    pending: list[ast.AST] = [ast.parse(path.read_text())]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        pending += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module)
    return found


MODULES = _modules()
TABLES = {"protocol.languages", "projection.tables"}  # a row a language


def _layer(module: str) -> int:
    head = module.split(".", maxsplit=1)[0]
    return next(i for i, layer in enumerate(LAYERS) if head in layer)


@pytest.mark.parametrize("module", sorted(name for name in MODULES if name))
def test_imports_go_down_only(module: str) -> None:
    for imported in _imports(MODULES[module]):
        if imported.startswith("ctxf."):
            target = imported.removeprefix("ctxf.")
            assert _layer(target) <= _layer(module), f"{module} imports {target}"
            if module.startswith("protocol."):
                assert target.startswith(("protocol.", "errors"))


def test_no_import_cycles() -> None:
    graph = {
        module: {name.removeprefix("ctxf.") for name in _imports(path) if name.startswith("ctxf.")}
        & MODULES.keys()
        for module, path in MODULES.items()
        if module
    }
    while graph:
        leaves = {module for module, targets in graph.items() if not targets - {module} & graph.keys()}
        assert leaves, f"a cycle among {sorted(graph)}"
        graph = {module: targets - leaves for module, targets in graph.items() if module not in leaves}


@pytest.mark.parametrize("library", sorted(ALONE))
def test_one_place_imports_a_library(library: str) -> None:
    importers = {
        module for module, path in MODULES.items() if library in {i.split(".")[0] for i in _imports(path)}
    }
    assert {module for module in importers if not module.startswith(ALONE[library])} == set()


@pytest.mark.parametrize("module", sorted(MODULES.keys() - TABLES))
def test_modules_are_small(module: str) -> None:
    assert MODULES[module].read_bytes().count(b"\n") <= 300


def _loaded(code: str) -> set[str]:
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(run.stdout.split())


def test_importing_ctxf_loads_no_command_line_no_parser_and_no_database() -> None:
    loaded = _loaded("import ctxf; ctxf.fold; ctxf.Archive; ctxf.restore")
    assert loaded.isdisjoint({"click", "tree_sitter", "sqlite3", "tomllib", "platformdirs", "asyncio"})


def test_every_public_name_is_there() -> None:
    _loaded(
        "import ctxf; [getattr(ctxf, name) for name in ctxf.__all__]; assert {*ctxf.__all__} <= {*dir(ctxf)}"
    )
