"""What tools that are none of ours find in a source: its functions, where each begins and ends.

Python's own `ast`; acorn, which comes inside Node.js, for JavaScript; Ruby's own parser; Universal Ctags for
the other languages in which it knows where functions end. (Of Ruby it does not: it ends a method early where
an `if` stands in parentheses.)
"""

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["ORACLES", "Function"]


Oracle = Callable[[Path], "list[Function] | None"]


class Function(NamedTuple):
    """A function: its name, what it stands in (or ""), the line of its name, its last line."""

    name: str
    scope: str
    line: int
    last: int


def python_functions(path: Path) -> list[Function] | None:
    """By `ast`; None for what is no Python of this version."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return None
    found = []
    pending: list[tuple[ast.AST, tuple[str, ...]]] = [(tree, ())]
    while pending:
        node, scope = pending.pop()
        inner = scope
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = (*scope, node.name)
            if not isinstance(node, ast.ClassDef):
                found.append(Function(node.name, ".".join(scope), node.lineno, node.end_lineno or 0))
        pending += ((child, inner) for child in ast.iter_child_nodes(node))
    return found


_KINDS: Final = {
    "c": {"function"},
    "cpp": {"function"},
    "go": {"func"},
    "java": {"method"},
}
_CTAGS_NAMES: Final = {"c": "C", "cpp": "C++", "go": "Go", "java": "Java"}


def ctags_functions(path: Path, language: str) -> list[Function] | None:
    """By Universal Ctags; None when it knows no ends."""
    command = ["ctags", "--output-format=json", "--fields=+neKsZ", "--sort=no", "-f", "-"]
    run = subprocess.run(
        [*command, f"--language-force={_CTAGS_NAMES[language]}", str(path)], capture_output=True, check=False
    )
    found = []
    for line in run.stdout.decode("utf-8", "replace").splitlines():
        tag = json.loads(line)
        if tag.get("kind") in _KINDS[language] and "end" in tag:
            scope = "" if language == "go" and tag.get("scopeKind") == "package" else tag.get("scope", "")
            found.append(Function(tag["name"], scope, tag["line"], tag["end"]))
    return found or None


# Node's own copy of acorn, by an option that is not for programs.
_ACORN: Final = """
const acorn = require('internal/deps/acorn/acorn/dist/acorn');
const text = require('fs').readFileSync(process.argv[1], 'utf8');
let tree;
for (const sourceType of ['module', 'script'])
  try {
    tree = acorn.parse(text, {ecmaVersion: 'latest', sourceType, locations: true, allowHashBang: true});
    break;
  } catch (error) {}
const found = [];
const isFunction = node => node && /^(Arrow)?Function/.test(node.type);
const pending = tree ? [[tree, '']] : [];
while (pending.length) {
  const [node, scope] = pending.pop();
  let inner = scope, name = null, holder = node, owner = scope;
  if (node.type === 'FunctionDeclaration' && node.id) name = node.id;
  else if (node.type === 'VariableDeclarator' && isFunction(node.init)) name = node.id;
  else if ((node.type === 'MethodDefinition' || node.type === 'PropertyDefinition') && isFunction(node.value)
           && !node.computed) name = node.key;
  else if (node.type === 'Property' && isFunction(node.value) && !node.computed) name = node.key;
  if (/^Class/.test(node.type) && node.id) inner = node.id.name;
  else if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier') inner = node.id.name;
  else if (node.type === 'Property' && node.key.type === 'Identifier' && !node.computed)
    inner = node.key.name;
  if (name && (name.type === 'Identifier' || name.type === 'PrivateIdentifier')) {
    found.push([name.name, owner, name.loc.start.line, node.loc.end.line]);
    inner = name.name;
  }
  for (const key in node) {
    const child = node[key];
    for (const one of Array.isArray(child) ? child : [child])
      if (one && typeof one.type === 'string') pending.push([one, inner]);
  }
}
console.log(JSON.stringify(tree ? found : null));
"""


def acorn_functions(path: Path) -> list[Function] | None:
    """By acorn; None for what is no JavaScript."""
    run = subprocess.run(
        ["node", "--expose-internals", "-e", _ACORN, str(path)], capture_output=True, check=False
    )
    if run.returncode:
        raise RuntimeError(f"node: {run.stderr.decode('utf-8', 'replace')[:300]}")
    found = json.loads(run.stdout)
    return [Function(*one) for one in found] if found is not None else None


_RUBY_TREE: Final = """
require 'json'
found = []
walk = lambda do |node, scope|
  next unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)
  case node.type
  when :DEFN then name = node.children[0]
  when :DEFS then name = node.children[1]
  when :CLASS, :MODULE then scope += [node.children[0].children[-1]]
  end
  found << [name.to_s, scope.join('.'), node.first_lineno, node.last_lineno] if name
  node.children.each { |child| walk.(child, scope) }
end
begin
  walk.(RubyVM::AbstractSyntaxTree.parse_file(ARGV[0]), [])
rescue SyntaxError, EncodingError
  found = nil
end
puts JSON.generate(found)
"""


def ruby_functions(path: Path) -> list[Function] | None:
    """By Ruby's own parser; None for what is no Ruby."""
    run = subprocess.run(["ruby", "-W0", "-e", _RUBY_TREE, str(path)], capture_output=True, check=False)
    if run.returncode:
        raise RuntimeError(f"ruby: {run.stderr.decode('utf-8', 'replace')[:300]}")
    found = json.loads(run.stdout)
    return [Function(*one) for one in found] if found is not None else None


def _named(find: Oracle) -> Oracle:
    """Without operators and setters, whose names no question spells."""

    def find_named(path: Path) -> list[Function] | None:
        found = find(path)
        return found and [one for one in found if one.name.replace("$", "_").rstrip("!?").isidentifier()]

    return find_named


def _oracles() -> dict[str, Oracle]:
    oracles: dict[str, Oracle] = {"python": python_functions}
    if shutil.which("node"):
        oracles["javascript"] = acorn_functions
    if shutil.which("ruby"):
        oracles["ruby"] = ruby_functions
    if shutil.which("ctags"):
        oracles |= {
            name: lambda path, name=name: ctags_functions(path, name)  # type: ignore[misc]
            for name in _KINDS
        }
    if len(oracles) < len(_KINDS) + 3:
        print("ctags, node or ruby is missing: some languages have no judge here", file=sys.stderr)
    return {name: _named(find) for name, find in oracles.items()}


ORACLES: Final = _oracles()
