"""Writes tests/vectors/project-*.json; run it after a change to the cases: `python tests/kit/build_project_vectors.py`.

It knows nothing of ctxf. In each source `«` and `»` enclose whole lines that must be left out; the builder takes
them out for the input, and puts the omission line that PROTOCOL.md §14.4 prescribes in their place for the
output.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

_OPENERS = {"python": "#", "ruby": "#", "bash": "#"}


class Case(NamedTuple):
    """A source with marks, a question, and `why` when nothing may be left out."""

    name: str
    section: str
    language: str
    question: str
    source: str
    why: str | None = None


def filler(opener: str, indent: str = "", lines: int = 3) -> str:
    return (
        "".join(f"{indent}{opener} line {n} of what nobody has asked for here\n" for n in range(lines)) + "\n"
    )


P, S = filler("#"), filler("//")
P4, S2 = filler("#", "    "), filler("//", "  ")

PYTHON_STORE = f'''LIMIT = 50
«

class Cache:
{P4}    def get(self, key):
        return 'cache'


»class Store(Base):
«    """Keeps things."""

{P4}
»    def get(self, key):
        return LIMIT
«
    def put(self, key):
        return 'put'
{P4}»'''

CASES = [
    # What a question names (§14.2)
    Case("a method of one of two classes", "14.2", "python", "What does Store.get return for a key?", PYTHON_STORE),
    Case("spelled as in other languages", "14.2", "python", "explain `Store::get`", PYTHON_STORE),
    Case("the receiver in another case", "14.2", "python", "why is store.get() slow?", PYTHON_STORE),
    Case("a type that the question names, too", "14.2", "python", "what does get() do in Store?", PYTHON_STORE),
    Case("two definitions", "14.2", "python", "what does get() return?", PYTHON_STORE, "ambiguous"),
    Case("a plain word", "14.2", "python", "what do we get here?", PYTHON_STORE, "no-name"),
    Case("two names", "14.2", "python", "Store.get or Store.put()?", PYTHON_STORE, "ambiguous"),
    Case("no name", "14.2", "python", "Please summarise the design.", PYTHON_STORE, "no-name"),
    Case("only a type", "14.2", "python", "What is the class `Store` for?", PYTHON_STORE, "no-name"),
    Case("another class of that name", "14.2", "python", "What does Other.get do?", PYTHON_STORE, "no-name"),
    Case("Chinese around the name", "14.2", "python", "请解释load_plan的作用", f"«{P}»def load_plan():\n    pass\n«{P}»"),
    Case("Chinese word for functions", "14.2", "python", "load函数做什么?", f"«{P}»def load():\n    pass\n«{P}»"),
    Case("Japanese around the name", "14.2", "python", "load_planの動作は?", f"«{P}»def load_plan():\n    pass\n«{P}»"),
    Case("Russian around the name", "14.2", "python", "что делает функция load?", f"«{P}»def load():\n    pass\n«{P}»"),
    Case("a name in Chinese", "14.2", "python", "`计算`是什么", f"«{P}»def 计算():\n    pass\n«{P}»"),
    Case("another spelling", "14.2", "python", "what does loadPlan do?", f"«{P}»def load_plan():\n    pass\n«{P}»"),
    Case("two other spellings", "14.2", "python", "what does loadPlan do?",
         f"{P}def load_plan():\n    pass\ndef LoadPlan():\n    pass\n{P}", "no-name"),
    Case("the case as given first", "14.2", "python", "what does load_plan do?",
         f"«{P}»def load_plan():\n    pass\n«def LOAD_PLAN():\n    pass\n{P}»"),
    Case("a function of an imported module", "14.2", "python", "why does it call json.load_plan()?",
         f"import json\n{P}def load_plan():\n    pass\n{P}", "no-name"),
    Case("a function of this module", "14.2", "python", "plans.load_plan()",
         f"«import json\n{P}»def load_plan():\n    pass\n«{P}»"),
    Case("a name as an argument", "14.2", "python", "what does area(width) compute?",
         f"«{P}»def area(w):\n    return w\n«def width():\n    pass\n{P}»"),
    Case("an English plural", "14.2", "python", "which file(s) does it read?", f"{P}def file():\n    pass\n{P}", "no-name"),
    Case("named after a word for functions", "14.2", "python", "How does the function load work?",
         f"«{P}»def load():\n    pass\n«{P}»"),
    Case("a verb after a word for functions", "14.2", "python", "Does the function load data?",
         f"{P}def load():\n    pass\n{P}", "no-name"),
    # What stays with it (§14.3)
    Case("overloads and decorators", "14.3", "python", "load()", f"""«from typing import overload
{P}»LIMIT = 7
«{P}»@overload
def load(x: int) -> int: ...
@overload
def load(x: str) -> str: ...
@cache
# keep this note
@wraps(print)
def load(x):
    return x
«

async def load_all(xs):
    return xs
{P}»"""),
    Case("conditional definitions", "14.3", "python", "What does opener do?", f"""«import sys
{P}»if sys.platform == 'win32':
    def opener(p):
        return 1
else:
    def opener(p):
        return 2
«{P}»"""),
    Case("one branch of several", "14.3", "python", "`opener`", f"""«import sys
{P}»try:
«    from fast import opener as fast_opener
{P4}»except ImportError:
    def opener(p):
        return 2
«{P}»"""),
    Case("constants of every spelling", "14.3", "python", "area()", f"""RATE = 0.25
NEG = -40
NAME: str = 'x'
A = B = 9
TABLE = {{
    'x': [1, 2],
}}
FLAG, LEVEL = True, 3
MULTI = (
    'ONE '
    'TWO'
)
«now = time()
text = f'{{now}}'
{P}»def area(w):
    return w * RATE
«{P}»LATE = 60 * 60
«def other():
    HIDDEN = 1
{P4}»"""),
    Case("the comment above", "14.3", "python", "area()", f"«{P}\n»# Computes it.\n# Fast.\ndef area(w):\n    pass\n«{P}»"),
    Case("a nested function", "14.3", "python", "inner_part", f"""«{P}»def outer(a,
          b):
«{P4}»    def inner_part():
        return 1
«{P4}
def last():
    pass
»"""),
    Case("a lambda", "14.3", "python", "twice_of", f"«{P}»twice_of = lambda x: 2 * x\n«{P}»"),
    Case("a broken definition", "14.3", "python", "good()", f"{P}def good(x):\n    return (((\n{P}\ndef b(:\n", "not-clean"),
    Case("broken right behind", "14.3", "python", "good()", f"{P}def good(x):\n    return x\n}} else {{\n{P}", "not-clean"),
    Case("an open string before", "14.3", "python", "good()", f"x = '''\n{P}def good(x):\n    return x\n{P}", "no-name"),
    Case("nothing to leave out", "14.4", "python", "good()", "def good(x):\n    return x\n\n\nx = y\n", "nothing"),
    Case("a definition in a string", "14.2", "python", "good()", f"x = '''\ndef good(x):\n    pass\n{P}'''\n", "no-name"),
    Case("line ends and a byte order mark", "14.4", "python", "good()",
         f"\ufeff«{P}»def good(x):\n    return x\n«{P}»".replace("\n", "\r\n")),
    Case("no line end at the end", "14.4", "python", "good()", f"«{P}»def good(x):\n    return x\n«{P}# the end»"),
    Case("references that stand there already", "14.4", "python", "good()", f"""«{P}»# @context-fold omit lines-1-9 [[cf:v2:0123456789ab]]
def good(x):
    return x
«{P}»# @context-fold begin x
# [[cf:v2:0123456789ab]]
# @context-fold end x
«{P}»"""),
    Case("a lone CR", "14.4", "python", "good()", f"{P}def good(x):\n    return 1  # a\rb\n{P}", "no-comment"),
    # One language after the other
    Case("an arrow function", "14.3", "typescript", "Explain buildPlan", f"""export const MAX_STEPS = 12;
«const now = Date.now();
{S}»const NAMES = ['a', 'b'] as const;
«{S}»/** plans */
export const buildPlan = async <T,>(seed: T): Promise<T[]> => {{
  return [seed];
}};
«
export default function (x: number) {{ return x; }}
{S}»"""),
    Case("a method with overloads and a decorator", "14.3", "typescript", "fetchItem", f"""«{S}»export class Foo<T> extends Bar {{
«{S2}»  fetchItem(a: string): void;
  /** doc */
  @Log()
  fetchItem(a: any) {{ return 1 }}
«{S2}»}}
«{S}»"""),
    Case("a function that is wrapped", "14.3", "tsx", "`Panel`", f"«{S}»const Panel = memo((props) => {{\n  return <b/>;\n}});\n«{S}»"),
    Case("a signature only", "14.3", "typescript", "fetchItem()", f"«{S}»interface Foo {{\n«{S2}»  fetchItem(a: string): void;\n«{S2}»}}\n«{S}»"),
    Case("a method of an object", "14.3", "javascript", "api.fooBar()", f"""«{S}»const api = {{
«{S2}»  fooBar() {{
    return 1;
  }},
«{S2}»}};
«{S}»"""),
    Case("functions of two objects", "14.2", "javascript", "run_it()", f"{S}x({{ run_it() {{ return 1; }} }});\nx({{ run_it() {{ return 2; }} }});\n{S}", "ambiguous"),
    Case("a method of a prototype", "14.3", "javascript", "Store.fetchItem", f"«{S}»Store.prototype.fetchItem = function () {{\n  return 1;\n}};\n«{S}»"),
    Case("between elements", "14.4", "tsx", "inner()",
         f"function Page() {{\n  return <div>\n{S2}    {{items.map(function inner() {{ return 1; }})}}\n{S2}  </div>;\n}}\n", "no-name"),
    Case("in a template string", "14.4", "javascript", "good()", f"const x = `\n{S}function good() {{}}\n{S}`;\n", "no-name"),
    Case("a method by its receiver", "14.3", "go", "(*Store).Get", f"""«package p

{S}»const A = 5
const (
	B = iota
	C
)
«{S}»var table = map[string]int{{"a": 1}}
«var errX = errors.New("x")
func (c *Cache[K]) Get(k K) error {{
	return nil
}}
{S}
»// Get gets.
func (s *Store) Get(k K) error {{
	return nil
}}
«{S}»"""),
    Case("a method of an impl", "14.3", "rust", "`Display::fmt`", f"""pub const A: u32 = 5;
static B: &[&str] = &["a"];
«static mut C: u32 = 5;
{S}»impl<T> fmt::Display for Foo<T>
where
    T: X,
{{
«{S2}»    /// Shows it.
    #[inline]
    fn fmt(&self) {{
        1
    }}
«{S2}»}}
«{S}
impl fmt::Debug for Foo {{
    fn fmt(&self) {{}}
}}
»"""),
    Case("two traits", "14.3", "rust", "Foo::fmt", f"{S}impl Display for Foo {{\n    fn fmt() {{}}\n}}\nimpl Debug for Foo {{\n    fn fmt() {{}}\n}}\n{S}", "ambiguous"),
    Case("both sides of an #ifdef", "14.3", "c", "open_file()", f"""#define LIMIT 5
«#define GUARD
{S}»#ifdef WIN
static int
open_file(int x)
{{
  return 1;
}}
#else
int open_file(int x) {{ return 2; }}
#endif
«{S}»static const char *names[] = {{"a", "b"}};
«static int counter = 0;
int open_file_twice(int x);
{S}»"""),
    Case("a macro", "14.3", "c", "what is MAX()?", f"«{S}»#define MAX(a, b) \\\n  ((a) > (b) ? (a) : (b))\n«{S}»"),
    Case("a class of a namespace", "14.3", "cpp", "Foo::get_it", f"""«#include <x>
{S}»namespace a::b {{
constexpr int K = 3;
«{S}»template <typename T>
class Foo : public Bar {{
« public:
{S2}»  // doc
  int get_it() const {{
    return 1;
  }}
«{S2}»}};
«{S}»}}  // namespace a::b
«{S}»"""),
    Case("a definition outside of its class", "14.3", "cpp", "Foo::get_it", f"«class Foo {{\n  int get_it();\n{S2}}};\n»int Foo::get_it() {{\n  return 1;\n}}\n«{S}»"),
    Case("overloads", "14.3", "java", "getIt", f"""«package p;
{S}»@Ann
class Foo<T> extends B {{
  public static final int LIMIT = 5;
«  private int x = 3;
{S2}»  /** doc */
  @Override
  public int getIt(int a) {{
    return 1;
  }}
«{S2}»  public int getIt(String a) {{
    return 2;
  }}
«{S2}»}}
«{S}»"""),
    Case("a constructor", "14.2", "java", "what does Foo() do?", f"class Foo {{\n«{S2}»  Foo() {{\n  }}\n«{S2}»}}\n«{S}»"),
    Case("a property", "14.3", "csharp", "Foo.PropIt", f"""«using A;
{S}»namespace N.M {{
  public class Foo : B {{
    public const int LIMIT = 5;
«{S2}»    [X]
    public int PropIt {{
      get {{ return 1; }}
    }}
«{S2}»  }}
}}
«{S}»"""),
    Case("a method with its end", "14.3", "ruby", "Foo#get_it", f"""LIMIT = 50
W = %w[a b].freeze
«{P}»module M
  class Foo < Bar
«    K = {{ a: 1 }}
{P4}»    # doc
    def get_it(x)
      1
    end
«{P4}»  end
end
«{P}»"""),
    Case("behind the opening tag", "14.3", "php", "Foo::get_it()", f"""<?php
const L = 5;
define('M', 6);
«{S}»abstract class Foo extends Bar {{
«  const K = 1;
{S2}»  /** doc */
  #[Attr]
  public static function get_it(): int {{
    return 1;
  }}
«{S2}»}}
«{S}»"""),
    Case("a function in a condition", "14.3", "bash", "what does load_it do", f"""«#!/bin/bash
{P}»LIMIT=50
readonly R=5
«X=$(date)
{P}»if true; then
  load_it() {{
    echo $LIMIT
  }}
fi
«{P}»"""),
    Case("in a here-document", "14.4", "bash", "load_it", f"cat <<'END'\n{P}load_it() {{\n  :\n}}\n{P}END\n", "no-name"),
    Case("a language without a table", "14.1", "css", "`.panel`", f"/* {S} */\n.panel {{}}\n", "no-language"),
    Case("text", "14.1", "text", "good()", f"{S}def good(): pass\n", "no-language"),
]  # fmt: skip


def vector(case: Case) -> dict[str, Any]:
    """One vector: what the marks in its source say."""
    opener = _OPENERS.get(case.language, "//")
    source = case.source.replace("«", "").replace("»", "")
    output, pieces, line, rest = "", [], 1, source if case.why else case.source
    while "«" in rest:
        before, _, rest = rest.partition("«")
        body, _, rest = rest.partition("»")
        first = line + before.count("\n")
        line = first + body.count("\n")
        last = line - 1 if body.endswith("\n") else line
        label = f"line-{first}" if first == last else f"lines-{first}-{last}"
        shown = next(words for words in body.split("\n") if words.strip())
        indent = shown[: len(shown) - len(shown.lstrip(" \t"))]
        eol = "\r\n" if body.split("\n")[0].endswith("\r") else "\n"
        id_ = hashlib.sha256(body.encode()).hexdigest()[:12]
        pieces.append({"first": first, "last": last, "id": id_})
        output += f"{before}{indent}{opener} @context-fold omit {label} [[cf:v2:{id_}]]{eol}"
    assert bool(pieces) != bool(case.why), case.name
    return {
        "name": f"{case.language}: {case.name}",
        "section": f"§{case.section}",
        "language": case.language,
        "question": case.question,
        "input": source,
        "output": output + rest,
        "omissions": pieces,
        "why": case.why,
    }


def build() -> dict[str, list[dict[str, Any]]]:
    """The vectors of each file."""
    vectors: dict[str, list[dict[str, Any]]] = {}
    for case in CASES:
        vectors.setdefault(case.language, []).append(vector(case))
    return vectors


if __name__ == "__main__":
    folder = Path(__file__).parents[1] / "vectors"
    for old in folder.glob("project-*.json"):
        old.unlink()
    for language, rows in build().items():
        (folder / f"project-{language}.json").write_text(json.dumps(rows, indent=1, ensure_ascii=True) + "\n")
    print(sum(map(len, build().values())), "vectors")
