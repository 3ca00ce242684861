"""Lists what users of ctxf import, type or configure, one fact a line.

    python -m tests.kit.public_names > tests/data/public_names.txt

writes the list that tests/test_public_names.py compares with. Signatures stand without annotations: these
name internal modules, which may move, and mypy checks them where the tests call.
"""

import ast
import enum
import inspect
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import anyio
import click
from mcp import Client

import ctxf
from ctxf.cli.app import app
from ctxf.config.fields import FIELDS, VARIABLES
from ctxf.mcp.server import build_server

__all__ = ["public_names"]


def public_names() -> list[str]:
    """The whole list, sorted."""
    return sorted(
        {*_extras(), *_python(), *_callback(), *_command(app, ("ctxf",)), *_configuration(), *_mcp()}
    )


def _extras() -> Iterator[str]:
    """What stands in the brackets of `pip install ctxf[...]`, and the names of programs."""
    found = distribution("ctxf")
    yield from (f"extra: {name}" for name in found.metadata.get_all("Provides-Extra") or ())
    yield from (f"program: {entry.name}" for entry in found.entry_points.select(group="console_scripts"))


def _python() -> Iterator[str]:
    for name in ctxf.__all__:
        value = getattr(ctxf, name)
        if inspect.isclass(value):
            yield from _class(f"ctxf.{name}", value)
        elif callable(value):
            yield f"python: ctxf.{name}{_signature(value)}"
        else:
            yield f"python: ctxf.{name}: {type(value).__name__}"


def _class(path: str, value: type) -> Iterator[str]:
    own = [base for base in value.__mro__ if base.__module__.startswith("ctxf.")]
    # Parents that cannot be imported from ctxf are nobody's to name.
    parents = [base.__name__ for base in own[1:] if base.__name__ in ctxf.__all__]
    parents += [base.__name__ for base in value.__mro__ if base.__module__ == "builtins"]
    yield f"python: class {path}({', '.join(parents[:-1])})"  # the last is object
    if issubclass(value, enum.Enum):
        yield from (f"python: {path}.{member.name} = {member.value!r}" for member in value)
        return
    has_own = any({"__init__", "__new__"} & vars(base).keys() for base in own)
    yield f"python: {path}{_signature(value) if has_own else '(*args)'}"  # not how Python spells it today
    for name in sorted({name for base in own for name in vars(base) if not name.startswith("_")}):
        member = inspect.getattr_static(value, name)
        if isinstance(member, staticmethod | classmethod) or inspect.isfunction(member):
            yield f"python: {path}.{name}{_signature(getattr(value, name))}"
        else:
            yield f"python: {path}.{name}"


def _signature(value: Any) -> str:
    signature = inspect.signature(value)
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()
    ]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _callback() -> Iterator[str]:
    """LiteLLM imports this module by its name; LiteLLM itself is not installed here, so it is only parsed."""
    module = ast.parse(Path(ctxf.__file__).with_name("integrations").joinpath("litellm.py").read_bytes())
    for statement in module.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            for name in ast.literal_eval(statement.value):
                yield f"python: ctxf.integrations.litellm.{name}"


def _command(
    command: click.Command, words: tuple[str, ...], parent: click.Context | None = None
) -> Iterator[str]:
    path = " ".join(words)
    yield f"command: {path}"
    context = click.Context(command, parent, info_name=words[-1], **command.context_settings)
    # Not by get_params: click keeps the help option of the first context that asked for it.
    yield f"command: {path} {', '.join(context.help_option_names)}"
    for parameter in command.params:
        yield f"command: {path} {_parameter(parameter)}"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from _command(found, (*words, name), context)


def _parameter(parameter: click.Parameter) -> str:
    facts: list[str] = []
    if isinstance(parameter, click.Option):
        facts.append(", ".join([*parameter.opts, *parameter.secondary_opts]))
        if not parameter.is_flag and not parameter.count:
            facts.append(parameter.metavar or str(parameter.type.name).upper())
    else:
        facts.append(parameter.make_metavar(click.Context(click.Command("any"))))
    if isinstance(parameter.type, click.Choice):
        facts.append(f"({' | '.join(map(str, parameter.type.choices))})")
    default = parameter.default
    if isinstance(default, str | int | float) and default is not False:
        facts.append(f"[{default}]")
    if parameter.required:
        facts.append("required")
    if parameter.multiple:
        facts.append("repeatable")
    if parameter.nargs != 1:
        facts.append("any number" if parameter.nargs == -1 else f"{parameter.nargs} values")
    return " ".join(facts)


def _configuration() -> Iterator[str]:
    for field in FIELDS.values():
        if field.table:
            yield f"configuration: [{field.table}] {field.name}: {field.kind.rule}"
    yield from (f"variable: {name}" for name in VARIABLES)


def _mcp() -> list[str]:
    found: list[str] = []

    async def list_all(scope: str | None, kind: str) -> None:
        server = build_server(ctxf.Archive.memory(), version="1", scope=scope, default_scope="default")
        async with Client(server) as client:
            for tool in (await client.list_tools()).tools:
                required = tool.input_schema.get("required", ())
                found.append(f"{kind}: tool {tool.name}")
                for name, schema in tool.input_schema["properties"].items():
                    note = "required" if name in required else f"[{schema.get('default')!r}]"
                    found.append(f"{kind}: tool {tool.name}: {name} {note}")
            for template in (await client.list_resource_templates()).resource_templates:
                found.append(f"{kind}: resource {template.uri_template}")
            for prompt in (await client.list_prompts()).prompts:
                names = ", ".join(argument.name for argument in prompt.arguments or ())
                found.append(f"{kind}: prompt {prompt.name}({names})")

    async def list_both() -> None:
        await list_all(None, "mcp")
        await list_all("run-7", "mcp --scope")

    anyio.run(list_both)
    return found


if __name__ == "__main__":
    sys.stdout.write("\n".join(public_names()) + "\n")
