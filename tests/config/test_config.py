"""Configuration: which values come from where, and which faults are reported on which line."""

import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ctxf.config import Loaded, Settings, check_settings, load_settings
from ctxf.config.locate import key_lines, line_of, overlong_key
from ctxf.config.read import MAX_FILE_BYTES
from ctxf.errors import ConfigError

DEFAULTS = Settings()


@dataclass(frozen=True)
class Home:
    """A home directory and, beside it, a Git repository with a directory inside."""

    root: Path

    @property
    def user_file(self) -> Path:
        return self.root / "home" / ".config" / "context-folding" / "config.toml"

    @property
    def repo(self) -> Path:
        return self.root / "repo"

    @property
    def cwd(self) -> Path:
        return self.repo / "src" / "deep"

    def check(
        self, environ: Mapping[str, str] | None = None, cwd: Path | None = None, **more: object
    ) -> Loaded:
        config_file = more.pop("config_file", None)
        assert config_file is None or isinstance(config_file, Path)
        return check_settings(
            environ={"HOME": str(self.root / "home"), **(environ or {})},
            cwd=cwd or self.cwd,
            config_file=config_file,
            options=more,
        )


@pytest.fixture
def home(tmp_path: Path) -> Home:
    place = Home(tmp_path)
    place.user_file.parent.mkdir(parents=True)
    (place.repo / ".git").mkdir(parents=True)
    place.cwd.mkdir(parents=True)
    return place


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def only_error(loaded: Loaded) -> ConfigError:
    (error,) = loaded.errors
    return error


# What the user's file may say, and what becomes of it.
ACCEPTED: list[tuple[str, dict[str, object]]] = [
    ("version = 1", {}),
    ("version = 1\r\n[folding]\r\nenabled = false\r\n", {"enabled": False}),
    ("version = 0x1", {}),
    ("'version' = 1\n[folding]", {}),
    ("version = 1\n[folding]\nenabled = true", {"enabled": True}),
    ("version = 1\n[folding]\ndelay_requests = 0", {"delay_requests": 0}),
    ("version = 1\n[folding]\nmax_session_bytes = 0", {"max_session_bytes": 0}),
    ("version = 1\n[folding]\nmax_session_bytes = 1_000_000", {"max_session_bytes": 1_000_000}),
    ("version = 1\n[folding]\nmin_savings_tokens = 9223372036854775807", {"min_savings_tokens": 2**63 - 1}),
    ("folding.min_savings_tokens = 7\nversion = 1", {"min_savings_tokens": 7}),
    ("folding = {enabled = false, delay_requests = 3}\nversion = 1", {"enabled": False, "delay_requests": 3}),
    ('version = 1\n["folding"]\n"enabled" = false', {"enabled": False}),
    ("version = 1\n[magpie]", {}),
    ("version = 1\n[magpie]\nshell_tool_name = 'bash'", {"shell_tool_name": "bash"}),
    ("version = 1\n[magpie]\nrecovery_command = 'ctxf read'", {"recovery_command": "ctxf read"}),
    ("version = 1\n[magpie]\nrecovery_command = '''\nctxf läs'''", {"recovery_command": "ctxf läs"}),
    ("version = 1\n[magpie]\ngateway_timeout_ms = 1", {"gateway_timeout_ms": 1}),
    ("# mode = 'auto'\nversion = 1 # policy\n", {}),
    ("version = 1\n[magpie]\nshell_tool_name = '''\nmode = 1\n'''", {"shell_tool_name": "mode = 1\n"}),
    ("\n\n\nversion = 1\n\n\n[folding]\n\n\n", {}),
    ("version = 1\nfolding . delay_requests = 2", {"delay_requests": 2}),
    ("version = 1\n[ 'folding' ]\n'delay_requests'=2", {"delay_requests": 2}),
    ('version = 1\n[folding]\n"delay\\u005frequests" = 2', {"delay_requests": 2}),
    ("version = 1\n[magpie]\n[folding]\ndelay_requests = 2 # [magpie]", {"delay_requests": 2}),
    ("version = 1\n[folding]\ndelay_requests = +2", {"delay_requests": 2}),
    ("version = 1\n[folding]\ndelay_requests = 0b10", {"delay_requests": 2}),
    ("version = 1\n\t[folding]\n\tdelay_requests\t=\t2\t", {"delay_requests": 2}),
    ("version = 1\n[folding]\nmin_savings_tokens = 0", {"min_savings_tokens": 0}),
    ("version = 1\n[folding]\nproject_reads = true", {"project_reads": True}),
    ("version = 1\n[folding]\nmax_session_bytes = 0xffff", {"max_session_bytes": 65535}),
    ("version = 1\nmagpie = {}\nfolding = {}", {}),
    ("version = 1\nmagpie.gateway_timeout_ms = 9", {"gateway_timeout_ms": 9}),
    ("version = 1\n[magpie]\ngateway_timeout_ms = 9223372036854775807", {"gateway_timeout_ms": 2**63 - 1}),
    ("version = 1\n[magpie]\nshell_tool_name = 'policy'", {"shell_tool_name": "policy"}),
    ("version = 1\n[magpie]\nshell_tool_name = '[policy]' # [policy]", {"shell_tool_name": "[policy]"}),
    ('version = 1\n[magpie]\nshell_tool_name = "\\"mode\\" = 1"', {"shell_tool_name": '"mode" = 1'}),
    ('version = 1\n[magpie]\nshell_tool_name = """a""\\""""', {"shell_tool_name": 'a"""'}),
    ("version = 1\n[magpie]\nshell_tool_name = '''#\"\"\"'''", {"shell_tool_name": '#"""'}),
    (
        "version = 1\n[magpie]\nrecovery_command = 'a.b.c.d.e.f.g.h.i.j.k'",
        {"recovery_command": "a.b.c.d.e.f.g.h.i.j.k"},
    ),
    ("version = 1\n# a.b.c.d.e.f.g.h.i.j.k", {}),
    ("version = 1\n# " + "x" * 60_000, {}),
    ("version = 1\n[magpie]\nrecovery_command = '読む 📖'", {"recovery_command": "読む 📖"}),
    ("#\ufeff\nversion = 1", {}),
    ("version = 1\n[folding]\nenabled = true\ndelay_requests = 1\n", {}),
]

# What it may not say: the line, the field, words of the message.
REFUSED: list[tuple[str | bytes, int | None, str | None, str]] = [
    ("", None, "version", "`version = 1` is missing"),
    ("[folding]\nversion = 1", None, "version", "`version = 1` is missing"),
    ("version = 2\nmode = 1", 1, "version", "not 2"),
    ("\nversion = true", 2, "version", "not the boolean true"),
    ("version = 1.0", 1, "version", "not the float 1.0"),
    ("version = '1'", 1, "version", "not the string '1'"),
    ("version = [1]", 1, "version", "not an array"),
    ("version = 1\n[folding]\n\nenabled = 1", 4, "folding.enabled", "must be true or false, not 1"),
    ("version = 1\n[folding]\nenabled = 'true'", 3, "folding.enabled", "the string 'true'"),
    ("version = 1\n[folding]\ndelay_requests = true", 3, "folding.delay_requests", "boolean true"),
    ("version = 1\n[folding]\ndelay_requests = 1.0", 3, "folding.delay_requests", "float 1.0"),
    ("version = 1\n[folding]\ndelay_requests = -1", 3, "folding.delay_requests", "from 0"),
    ("version = 1\nfolding.min_savings_tokens = nan", 2, "folding.min_savings_tokens", "float nan"),
    ("version = 1\n[folding]\nenabled.yes = true", 3, "folding.enabled", "a table"),
    (
        "version = 1\n[folding]\nmax_session_bytes = 9223372036854775808",
        3,
        "folding.max_session_bytes",
        "2^63",
    ),
    ("version = 1\nfolding = true", 2, "folding", "must be a table"),
    ("version = 1\n[[folding]]\nenabled = true", 2, "folding", "not an array"),
    ("version = 1\n[magpie]\nshell_tool_name = ''", 3, "magpie.shell_tool_name", "not empty"),
    ("version = 1\n[magpie]\nrecovery_command = '  '", 3, "magpie.recovery_command", "not empty"),
    ("version = 1\n[magpie]\ngateway_timeout_ms = 0", 3, "magpie.gateway_timeout_ms", "from 1"),
    ("version = 1\n[magpie]\ngateway_timeout_ms = 1979-05-27", 3, "magpie.gateway_timeout_ms", "1979-05-27"),
    ("version = 1\n[folding]\nenable = true", 3, "folding.enable", "did you mean enabled?"),
    ("version = 1\n[foldin]\nenabled = true", 2, "foldin", "did you mean folding?"),
    ("version = 1\nzzz = 1", 2, "zzz", "known here: version, folding, magpie"),
    ("version = 1\nenabled = true", 2, "enabled", "belongs in [folding]"),
    ("version = 1\n[magpie]\ndelay_requests = 1", 3, "magpie.delay_requests", "belongs in [folding]"),
    ("version = 1\n[folding]\ngateway_timeout_ms = 1", 3, "folding.gateway_timeout_ms", "in [magpie]"),
    ("version = 1\nscope = 'x'", 2, "scope", "use the option --scope or CTXF_SCOPE"),
    ("version = 1\n'a\\nb' = 1", 2, r"'a\\nb'", r"'a\\nb'"),
    ('version = 1\n"a\\nb" = 1', 2, r"'a\nb'", r"unknown field or table 'a\nb'"),
    ("version = 1\n[a.b.c]", 2, "a", "unknown field or table a"),
    # What looks like a key inside strings, arrays and comments does not count as its line.
    (
        'version = 1 # mode = 1\n[magpie]\nshell_tool_name = """\nmode = 1\n"""\nmode = 1',
        6,
        "magpie.mode",
        "0.3",
    ),
    ("version = 1\nx = [ # ]\n  '''\nmode = 1''',\n]\nmode = 2\n".replace("x", "policy"), 2, "policy", "0.3"),
    ("version = 1\n[folding] # [magpie]\n'mo\"de' = 1", 3, "folding.'mo\"de'", "unknown"),
    ('version = 1\n[ folding . "mode" ]', 2, "folding.mode", "removed after 0.3"),
    ('version = 1\n[folding]\n"\\u006dode" = 1', 3, "folding.mode", "removed after 0.3"),
    ("version = 1\nfolding = {\tenabled = true, mode = 'x' }", 2, "folding.mode", "removed after 0.3"),
    ("version = 1\nfolding.mode = 1", 2, "folding.mode", "delete the line"),
    ("version = 1\n[policy]\na = 1", 2, "policy", "delete the table"),
    ("version = 1\n[magpie.accounting]\na = 1", 2, "magpie.accounting", "delete the table"),
    # Not TOML, not text.
    ("version = 1\n\nx = ", 3, None, "not valid TOML: Invalid value"),
    ("version = 1\n[folding", 2, None, "not valid TOML"),
    ("version = 1\nversion = 1", 2, None, "not valid TOML: Cannot overwrite a value"),
    (b"version = 1\n# caf\xe9", 2, None, "byte 0xe9 is not UTF-8"),
    (b"\xef\xbb\xbfversion = 1", 1, None, "byte order mark"),
    ("version = 1\0", 1, None, "not valid TOML"),
    ("version = 1" + "0" * 5000, None, None, "cannot be read as TOML"),
    ("x = " + "[" * 50_000, None, None, ""),
    ("version = 1\na" + ".a" * 8 + " = 1", 2, None, "more than 8 parts"),
    ("version = 1\n#" + "x" * MAX_FILE_BYTES, None, None, "larger than 65536 bytes"),
]


@pytest.mark.parametrize(("text", "expected"), ACCEPTED)
def test_accepted_in_the_users_file(home: Home, text: str, expected: dict[str, object]) -> None:
    write(home.user_file, text)
    loaded = home.check()
    assert loaded.errors == ()
    assert loaded.settings == DEFAULTS._replace(**expected)  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "line", "field", "words"), REFUSED)
def test_refused_in_the_users_file(
    home: Home, text: str | bytes, line: int | None, field: str | None, words: str
) -> None:
    write(home.user_file, text)
    errors = home.check().errors
    error = errors[0]
    assert (error.where, error.line, error.field) == (str(home.user_file), line, field)
    assert words in error.problem
    assert str(error).startswith(f"{home.user_file}:{line}: " if line else f"{home.user_file}: ")


REMOVED = [
    "mode",
    "threshold_tokens",
    "keep_recent_messages",
    "head_chars",
    "minimum_saving_usd",
    "policy",
    "accounting",
    "context_window_tokens",
    "reserve_output_tokens",
    "budget_hints",
    "recovery_tool_name",
]


@pytest.mark.parametrize("place", ["", "[folding]", "[magpie]"])
@pytest.mark.parametrize("name", REMOVED)
def test_removed_fields_are_never_mapped(home: Home, name: str, place: str) -> None:
    write(home.user_file, f"version = 1\n{place}\n{name} = 4096\n")
    loaded = home.check()
    error = only_error(loaded)
    assert error.line == 3
    assert error.field == f"{place.strip('[]')}.{name}".lstrip(".")
    assert "was removed after 0.3: delete the line" in error.problem
    assert loaded.settings == DEFAULTS


def test_all_errors_are_reported_and_the_first_is_raised(home: Home) -> None:
    write(home.user_file, "[folding]\nmode = 1\nenabled = 3\n[magpie]\nnope = 1")
    write(home.repo / ".context-folding.toml", "version = 1\n[magpie]")
    environ = {"CTXF_SCOPE": "a b", "CTXF_DELAY_REQUESTS": "-1"}
    errors = home.check(environ, min_savings_tokens=-1).errors
    assert [(Path(e.where).name, e.line, e.field) for e in errors] == [
        ("config.toml", None, "version"),
        ("config.toml", 2, "folding.mode"),
        ("config.toml", 3, "folding.enabled"),
        ("config.toml", 5, "magpie.nope"),
        (".context-folding.toml", 2, "magpie"),
        ("CTXF_DELAY_REQUESTS", None, "delay_requests"),
        ("CTXF_SCOPE", None, "scope"),
        ("option min_savings_tokens", None, "min_savings_tokens"),
    ]
    with pytest.raises(ConfigError, match="is missing"):
        load_settings(environ={"HOME": str(home.root / "home")}, cwd=home.cwd)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("version = 1", {}),
        ("version = 1\n[folding]\nenabled = false", {"enabled": False}),
        ("version = 1\nfolding.delay_requests = 4", {"delay_requests": 4}),
        ("version = 1\nfolding = {min_savings_tokens = 0}", {"min_savings_tokens": 0}),
    ],
)
def test_accepted_in_the_projects_file(home: Home, text: str, expected: dict[str, object]) -> None:
    write(home.repo / ".context-folding.toml", text)
    loaded = home.check()
    assert loaded.errors == ()
    assert loaded.settings == DEFAULTS._replace(**expected)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "line", "field", "words"),
    [
        ("version = 1\n[magpie]\ngateway_timeout_ms = 9", 2, "magpie", "may not be trusted"),
        ("version = 1\nmagpie.recovery_command = 'rm -rf /'", 2, "magpie", "your own configuration file"),
        ("version = 1\n\narchive = '/tmp/x'", 3, "archive", "may not be trusted"),
        ("version = 1\nother = 1", 2, "other", "may not be trusted"),
        ("version = 1\nmode = 'auto'", 2, "mode", "was removed after 0.3"),
        ("version = 1\n[folding]\nshell_tool_name = 'x'", 3, "folding.shell_tool_name", "may not be trusted"),
        ("[folding]\nenabled = true", None, "version", "is missing"),
    ],
)
def test_refused_in_the_projects_file(
    home: Home, text: str, line: int | None, field: str, words: str
) -> None:
    file = write(home.repo / ".context-folding.toml", text)
    error = only_error(home.check())
    assert (error.where, error.line, error.field) == (str(file), line, field)
    assert words in error.problem


def test_later_wins_and_every_value_has_a_source(home: Home) -> None:
    user = write(
        home.user_file,
        "version = 1\n[folding]\ndelay_requests = 2\nmin_savings_tokens = 2\nmax_session_bytes = 2\n"
        "enabled = true\n"
        "[magpie]\ngateway_timeout_ms = 2",
    )
    project = write(
        home.repo / ".context-folding.toml",
        "version = 1\n[folding]\nmin_savings_tokens = 3\nmax_session_bytes = 3\nenabled = true",
    )
    loaded = home.check({"CTXF_MAX_SESSION_BYTES": "4", "CTXF_ENABLED": "1"}, enabled=False)
    assert loaded.errors == ()
    assert loaded.settings == DEFAULTS._replace(
        enabled=False,
        delay_requests=2,
        min_savings_tokens=3,
        max_session_bytes=4,
        gateway_timeout_ms=2,
    )
    assert dict(loaded.sources) == {
        "enabled": "option",
        "delay_requests": f"{user}:3",
        "min_savings_tokens": f"{project}:3",
        "max_session_bytes": "environment CTXF_MAX_SESSION_BYTES",
        "gateway_timeout_ms": f"{user}:8",
        "project_reads": "default",
        "scope": "default",
        "archive": "default",
        "home": "default",
        "shell_tool_name": "default",
        "recovery_command": "default",
    }


ENVIRONMENT: list[tuple[str, str, dict[str, object] | None]] = [
    ("CTXF_ENABLED", "1", {"enabled": True}),
    ("CTXF_ENABLED", "0", {"enabled": False}),
    ("CTXF_ENABLED", "True", {"enabled": True}),
    ("CTXF_ENABLED", "false", {"enabled": False}),
    ("CTXF_ENABLED", "", {}),
    ("CTXF_ENABLED", "yes", None),
    ("CTXF_ENABLED", " 1", None),
    ("CTXF_DELAY_REQUESTS", "0", {"delay_requests": 0}),
    ("CTXF_DELAY_REQUESTS", "1.0", None),
    ("CTXF_DELAY_REQUESTS", "٣", None),
    ("CTXF_MAX_SESSION_BYTES", "007", {"max_session_bytes": 7}),
    ("CTXF_MAX_SESSION_BYTES", "64MiB", None),
    ("CTXF_MIN_SAVINGS_TOKENS", "9223372036854775807", {"min_savings_tokens": 2**63 - 1}),
    ("CTXF_MIN_SAVINGS_TOKENS", "9223372036854775808", None),
    ("CTXF_MIN_SAVINGS_TOKENS", "9" * 5000, None),
    ("CTXF_MIN_SAVINGS_TOKENS", "-1", None),
    ("CTXF_PROJECT_READS", "1", {"project_reads": True}),
    ("CTXF_PROJECT_READS", "yes", None),
    ("CTXF_SCOPE", "x" * 256, {"scope": "x" * 256}),
    ("CTXF_SCOPE", "x" * 257, None),
    ("CTXF_SCOPE", "it's", {"scope": "it's"}),
    ("CTXF_SCOPE", "two words", None),
    ("CTXF_SCOPE", "é", None),
    ("CTXF_SCOPE", "x\n", None),
    ("CTXF_ARCHIVE", "/tmp/a.db", {"archive": "/tmp/a.db"}),
    ("CTXF_ARCHIVE", "", {}),
    ("CTXF_HOME", "/srv/ctxf", {"home": "/srv/ctxf"}),
    ("CTXF_CONFIG", "", {}),
    ("CTXF_SOMETHING", "else", {}),
    ("XDG_CONFIG_HOME", "relative", {}),
]


@pytest.mark.parametrize(("variable", "text", "expected"), ENVIRONMENT)
def test_environment(home: Home, variable: str, text: str, expected: dict[str, object] | None) -> None:
    loaded = home.check({variable: text})
    if expected is None:
        error = only_error(loaded)
        assert (error.where, error.line) == (variable, None)
        assert "must be" in error.problem
        assert loaded.settings == DEFAULTS
    else:
        assert loaded.errors == ()
        assert loaded.settings == DEFAULTS._replace(**expected)  # type: ignore[arg-type]
        for field in expected:
            assert loaded.sources[field] == f"environment {variable}"


def test_options(home: Home) -> None:
    loaded = home.check(archive=Path("/tmp/a.db"), scope=None, delay_requests=0)
    assert loaded.errors == ()
    assert (loaded.settings.archive, loaded.settings.scope, loaded.settings.delay_requests) == (
        "/tmp/a.db",
        "default",
        0,
    )
    assert (loaded.sources["archive"], loaded.sources["scope"]) == ("option", "default")
    assert only_error(home.check(scope="a b")).where == "option scope"
    with pytest.raises(TypeError, match="'delay' is no setting"):
        home.check(delay=1)


# Where files are looked for.


def test_user_file_follows_xdg_config_home(home: Home) -> None:
    file = write(home.root / "xdg/context-folding/config.toml", "version = 1\n[folding]\ndelay_requests = 9")
    write(home.user_file, "not read")
    loaded = home.check({"XDG_CONFIG_HOME": str(home.root / "xdg")})
    assert loaded.settings.delay_requests == 9
    assert (loaded.files[0].path, loaded.files[0].kind, loaded.files[0].found) == (str(file), "user", True)


@pytest.mark.parametrize("value", ["", "relative/dir"])
def test_user_file_is_below_home_otherwise(home: Home, value: str) -> None:
    loaded = home.check({"XDG_CONFIG_HOME": value})
    assert [(file.path, file.found) for file in loaded.files] == [
        (str(home.user_file), False),
        (str(home.cwd / ".context-folding.toml"), False),
        (str(home.repo / "src" / ".context-folding.toml"), False),
        (str(home.repo / ".context-folding.toml"), False),
    ]


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("by_option", [False, True])
def test_a_named_file_replaces_the_users(home: Home, by_option: bool, relative: bool) -> None:
    write(home.user_file, "not read")
    absolute = write(home.cwd / "mine.toml", "version = 1\n[magpie]\nshell_tool_name = 'sh'")
    name = Path("mine.toml") if relative else absolute
    environ = {"CTXF_CONFIG": "/nowhere" if by_option else str(name)}
    loaded = home.check(environ, config_file=name if by_option else None)
    assert loaded.errors == ()
    assert loaded.sources["shell_tool_name"] == f"{absolute}:3"
    assert (loaded.files[0].kind, loaded.files[0].named_by) == (
        "named",
        "--config" if by_option else "CTXF_CONFIG",
    )


def test_a_named_file_must_exist(home: Home) -> None:
    error = only_error(home.check({"CTXF_CONFIG": "gone.toml"}))
    assert error.where == str(home.cwd / "gone.toml")
    assert "no such file (named by CTXF_CONFIG)" in error.problem
    assert "named by --config" in only_error(home.check(config_file=Path("gone.toml"))).problem


def test_a_projects_file_that_the_user_names_is_trusted_and_read_once(home: Home) -> None:
    write(home.cwd / ".context-folding.toml", "version = 1\n[magpie]\nshell_tool_name = 'sh'")
    loaded = home.check(config_file=Path(".context-folding.toml"))
    assert loaded.errors == ()
    assert [file.kind for file in loaded.files] == ["named"]


def test_the_nearest_project_file_alone_counts(home: Home) -> None:
    write(home.repo / ".context-folding.toml", "version = 1\n[folding]\nenabled = false\ndelay_requests = 5")
    near = write(home.repo / "src/.context-folding.toml", "version = 1\n[folding]\ndelay_requests = 6")
    loaded = home.check()
    assert (loaded.settings.enabled, loaded.settings.delay_requests) == (True, 6)
    assert loaded.files[-1].path == str(near)


def test_nothing_above_the_git_root_counts(home: Home) -> None:
    write(home.root / ".context-folding.toml", "version = 1\n[folding]\ndelay_requests = 5")
    assert home.check().settings.delay_requests == 1
    # A worktree or a submodule has a file named .git.
    write(home.repo / ".context-folding.toml", "version = 1\n[folding]\ndelay_requests = 6")
    write(home.cwd / ".git", "gitdir: elsewhere")
    assert home.check().settings.delay_requests == 1


def test_outside_git_only_the_working_directory_counts(home: Home) -> None:
    outside = home.root / "outside" / "deep"
    outside.mkdir(parents=True)
    write(outside.parent / ".context-folding.toml", "version = 1\n[folding]\ndelay_requests = 5")
    assert home.check(cwd=outside).settings.delay_requests == 1
    write(outside / ".context-folding.toml", "version = 1\n[folding]\ndelay_requests = 6")
    assert home.check(cwd=outside).settings.delay_requests == 6


# Files that cannot be read.


def test_a_directory_in_place_of_a_file(home: Home) -> None:
    home.user_file.mkdir()
    (home.cwd / ".context-folding.toml").mkdir()
    assert ["is a directory" in error.problem for error in home.check().errors] == [True, True]


def test_a_link_to_nothing(home: Home) -> None:
    home.user_file.symlink_to(home.root / "gone")
    assert "the link leads nowhere" in only_error(home.check()).problem


def test_a_link_to_a_file(home: Home) -> None:
    home.user_file.symlink_to(
        write(home.root / "dotfiles.toml", "version = 1\n[folding]\ndelay_requests = 2")
    )
    assert home.check().sources["delay_requests"] == f"{home.user_file}:3"


def test_a_pipe_is_not_waited_for(home: Home) -> None:
    os.mkfifo(home.cwd / ".context-folding.toml")
    assert "not a regular file" in only_error(home.check()).problem


def test_a_file_that_cannot_be_read(home: Home) -> None:
    write(home.user_file, "version = 1").chmod(0)
    if os.geteuid() != 0:
        assert "cannot be read: Permission denied" in only_error(home.check()).problem
    else:  # root reads every file but this one
        error = only_error(home.check(config_file=Path("/proc/self/mem")))
        assert "cannot be read: Input/output error" in error.problem


def test_a_name_that_is_none(home: Home) -> None:
    assert "is no file name" in only_error(home.check(config_file=Path("a\0b"))).problem


# Any bytes at all.

FRAGMENTS = st.sampled_from(
    [
        *(
            "version = 1\n",
            "[folding]\n",
            "[magpie]\n",
            "mode",
            "enabled",
            " = ",
            "=",
            ".",
            "\n",
            "\r\n",
            "#",
        ),
        *('"', "'", '"""', "'''", "\\", "[", "]", "{", "}", ",", "true", "1", "-1.5", "1979-05-27", "\ufeff"),
        *("\\ud800", "\\u0041", "é", "\0", "9" * 4400, "[" * 2000, "a." * 9),
    ]
)
ANY_FILE = st.binary(max_size=200) | st.lists(FRAGMENTS, max_size=30).map("".join).map(str.encode)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=ANY_FILE)
@example(data=b'version = 1\n[magpie]\nshell_tool_name = """""a"""""\nmode = 1')
def test_any_file_gives_settings_or_config_errors(home: Home, data: bytes) -> None:
    write(home.user_file, data)
    write(home.cwd / ".context-folding.toml", data)
    for error in home.check().errors:
        assert error.where in (str(home.user_file), str(home.cwd / ".context-folding.toml"))
        assert error.line is None or 1 <= error.line <= data.count(b"\n") + 1


NAMES = st.sampled_from(["a", "b-c", "1", '"d e"', "'f.g'", '"\\u0068"', '"#"', "'\"'", '"\\""'])
VALUES = st.sampled_from(
    [
        *(
            "1",
            "-1.5e3",
            "true",
            "1979-05-27T07:32:00Z",
            '"x # y"',
            "'[z]'",
            "{ q = 1, r.s = [2] }",
            "[1, [2]]",
        ),
        *(
            '"""\nq = 1\n[q]\n"""',
            "'''\nq = 1'''",
            '"""\\""""""',
            '"""""q"""""',
            "[ # ]\n  1,\n  '''\n]''',\n]",
        ),
        *('"\\\\"', '"\\"" # "', "'\\'", "inf", "0x1F", '""', "''", '""""""', "''''''"),
    ]
)


@given(
    entries=st.lists(st.tuples(st.lists(NAMES, min_size=1, max_size=3), VALUES, st.booleans()), max_size=8)
)
def test_the_locator_agrees_with_tomllib(entries: list[tuple[list[str], str, bool]]) -> None:
    """Each key is found on the line on which it was written, whatever surrounds it."""
    text, line, expected = "", 1, {}
    for number, (names, value, is_header) in enumerate(entries):
        if is_header:
            statement = f" [[ h{number} . {' . '.join(names)} ]] # x = 1\n\ny = {value}\n"
            expected[f"h{number}"] = line
        elif not text or "[[" not in text:
            statement = f"k{number}.{'.'.join(names)} = {value}\n"
            expected[f"k{number}"] = line
        else:
            continue
        text += statement
        line += statement.count("\n")
    lines = key_lines(text)
    assert {path[0] for path in lines} == set(tomllib.loads(text))
    assert {path[0]: number for path, number in lines.items() if len(path) == 1} == expected


def test_a_key_without_a_line_has_that_of_the_key_around_it() -> None:
    lines = key_lines("\na = { b = 1 }")
    assert line_of(lines, ("a", "b")) == 2
    assert line_of(lines, ("c",)) is None


def test_dots_outside_keys_make_no_overlong_key() -> None:
    assert overlong_key("a = '1.2.3.4.5.6.7.8.9.10' # 1.2.3.4.5.6.7.8.9.10\nb = [1.5, 2.5]") is None
    assert overlong_key("\na = { b.b.b . 'b'.b.b.b.b.b = 1 }") == 2


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 32_000 + " = 1",
        "a = '" + "\\" * 65_000,
        'a = "' + '\\"' * 32_000,
        "a = '''" + "'' " * 20_000,
        "version = 1\n" + "".join(f"[b{n:x}]\n" for n in range(9000)),
    ],
)
def test_hostile_files_cost_little(home: Home, text: str) -> None:
    """The first takes `tomllib` 40 seconds; a simple `key_lines` would take quadratic time for the others."""
    write(home.cwd / ".context-folding.toml", text)
    start = time.monotonic()
    assert home.check().errors
    assert time.monotonic() - start < 4


def test_no_parser_is_loaded_without_a_file(home: Home) -> None:
    code = (
        "import sys, pathlib; from ctxf.config import load_settings;"
        f"load_settings(environ={{'HOME': {str(home.root)!r}}}, cwd=pathlib.Path({str(home.cwd)!r}));"
        "print([m for m in ('tomllib', 'difflib', 'ctxf.config.read') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
