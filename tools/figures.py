"""Count what the architecture is to get rid of, and print it beside what is wanted.

``python tools/figures.py [ROOT]`` counts by reading the source, but for the files that a warm search passes, which it
runs (unless ``--still`` is given). It decides nothing: the figures are there to be looked at when they change. Each
function says what it counts and how, so that two checkouts can be compared.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import check_imports

#: Folders whose code becomes text of kernels and loop functions.
EMITTERS = ("operators", "frontier/lowering", "frontier/compile", "frontier/backends", "frontier/distributed/devices")
#: What they parse is not what they wrote: messages of compilers, names of placements and kernels, and PTX.
READERS = (
    "frontier/backends/cpu/compiler.py",
    *(f"frontier/backends/cuda/compile/{name}.py" for name in ("libdevice", "linker", "nvptx_codegen", "ptx")),
    *(f"frontier/backends/cuda/{name}.py" for name in ("__init__", "plain_kernels")),
)
#: A balance, and the folders in which a reader follows what it calls: not the instructions of the GPU, whose names say
#: enough, nor what nodes of programs are.
PUSH = ("frontier.operators.advance.cuda.merge_path", "lower")
FOLLOWED = ("frontier.operators.", "frontier.backends.cuda.device.")
KNOWN = ("frontier.operators.advance", "frontier.backends.cuda.device.machine", "frontier.backends.cuda.device.names")
CLOSURE = tuple(f"_closure_{name}" for name in ("bits", "condensed", "matrix", "pairs", "result"))
COLOURING = tuple(f"_coloring_{name}" for name in ("gathered", "small", "pushed"))
BACKENDS = {"python", "cpu", "cuda"}
PASSED = """
import sys
import frontier as fr
g = fr.karate()
fr.bfs(g, 0), fr.bfs(g, 0)
seen = set()
sys.setprofile(lambda frame, event, _: seen.add((frame.f_code.co_filename, frame.f_code)) if event == "call" else None)
fr.bfs(g, 0)
sys.setprofile(None)
seen = {(file, code) for file, code in seen if file.startswith(sys.argv[1])}
print(len({file for file, _ in seen}), len(seen))
"""


def files(root: Path, *folders: str) -> Iterator[Path]:
    """The modules in some folders."""
    for folder in folders:
        yield from sorted((root / folder).rglob("*.py"))


def package(root: Path) -> Iterator[Path]:
    """All modules of the package."""
    return files(root, *check_imports.FOLDERS.values())


@cache
def tree(path: Path) -> ast.Module:
    """A module's syntax."""
    return ast.parse(path.read_text("utf-8"), str(path))


# ---- code in strings ----------------------------------------------------------------------------------------


def quoted_lines(root: Path) -> int:
    """Lines of Python in string literals: those that parse as a statement, docstrings and single names left out."""
    return sum(_code_lines(text) for path in files(root, *EMITTERS) for text in _strings(tree(path)))


def _strings(node: ast.AST) -> Iterator[str]:
    """The texts of all literals, with a name in place of what an f-string fills in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue  # a docstring
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value
        elif isinstance(child, ast.JoinedStr):
            yield "".join(str(x.value) if isinstance(x, ast.Constant) else "x_" for x in child.values)
        else:
            yield from _strings(child)


def _code_lines(text: str) -> int:
    """How many lines of a text are code: all if it parses as a whole, else those that do alone."""
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) if _is_code(textwrap.dedent(text)) else sum(_is_code(line.strip()) for line in lines)


def _is_code(text: str) -> bool:
    head = "if x_:\n    pass\n" if re.match(r"(elif|else)\b", text) else ""
    for whole in (head + text, f"{head}{text}\n    pass"):
        try:
            found = ast.parse(whole).body
        except (SyntaxError, ValueError):
            continue
        return any(not isinstance(x, ast.Expr) or isinstance(x.value, ast.Call) for x in found)
    return False


def text_parsers(root: Path) -> list[str]:
    """Modules that parse or rewrite text by expressions, by replacement or by looking for a piece of it.

    Splitting is not counted: dtypes, roles of arrays and keys such as ``field:distance`` are split, too.
    """
    found = []
    for path in files(root, *EMITTERS):
        name = path.relative_to(root).as_posix()
        if name not in READERS and any(map(_parses, ast.walk(tree(path)))):
            found.append(name)
    return found


def _parses(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        left = node.left
        return isinstance(left, ast.Constant) and isinstance(left.value, str) and not re.fullmatch(r"\w*", left.value)
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    method, owner = node.func.attr, node.func.value
    if isinstance(owner, ast.Name) and owner.id == "re":
        return True
    if method in ("startswith", "endswith", "index", "find") and node.args:  # looks for a piece of code
        return any(re.search(r"[(\[=]|^ ", text) for text in _strings(node))
    return method == "replace" and len(node.args) >= 2 and not node.keywords


# ---- how the package hangs together -------------------------------------------------------------------------


def rooms(root: Path) -> str:
    """Rooms, floors and arrows that go back, as tools/check_imports.py draws them."""
    found = check_imports.arrows(root)
    known = {
        check_imports.room_of(module, path.name == "__init__.py") for module, path in check_imports.modules(root)
    } - {*check_imports.REEXPORTS}
    return f"{len(known)} / {check_imports.floors(found)} / {len(check_imports.backward(found))}"


def flat_modules(root: Path) -> str:
    """Modules that stand alone in frontier/, and how many of them have an underscore."""
    names = [x.stem for x in (root / "frontier").glob("*.py") if not x.stem.startswith("__")]
    return f"{len(names)} ({sum(name.startswith('_') for name in names)})"


def files_of_a_push(root: Path) -> int:
    """Files that have what a push by merge_path on cuda calls, counted by following names from its ``lower``."""
    modules = dict(check_imports.modules(root))
    seen: set[tuple[str, str]] = set()
    waiting = [PUSH]
    while waiting:
        module, name = waiting.pop()
        if (module, name) in seen or module in KNOWN or not module.startswith(FOLLOWED) or module not in modules:
            continue
        seen.add((module, name))
        defined, imported = _names_of(modules[module], module)
        for each in ast.walk(defined[name]) if name in defined else ():
            if isinstance(each, ast.Name) and each.id in defined:
                waiting.append((module, each.id))
            elif isinstance(each, ast.Name) and each.id in imported:
                waiting.append(imported[each.id])
    return len({module for module, _ in seen})


def _names_of(path: Path, module: str) -> tuple[dict[str, ast.AST], dict[str, tuple[str, str]]]:
    """What a module defines, and what it imports: by name, its module and the name there."""
    defined: dict[str, ast.AST] = {}
    for node in tree(path).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined[node.name] = node
        elif isinstance(node, ast.Assign):
            defined |= {target.id: node for target in node.targets if isinstance(target, ast.Name)}
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found = (name.rpartition(".") for _, name in check_imports.imported(tree(path), package))
    return defined, {name: (where, name) for where, _, name in found}


def passed(root: Path) -> str:
    """Files (functions) of the package that a warm ``fr.bfs(g, 0)`` on the cpu backend passes."""
    done = subprocess.run(
        [sys.executable, "-c", PASSED, str(root)], cwd=root, text=True, capture_output=True, check=False
    )
    if done.returncode:
        return f"not run: {done.stderr.strip().splitlines()[-1]}"
    return "{} ({})".format(*done.stdout.split())


def backend_strings(root: Path) -> int:
    """Places that compare the name of a backend or take it apart, or call ``is_cuda`` or ``index_of``, which do."""
    return sum(_asks_backend(node) for path in package(root) for node in _nodes(path))


def _nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(tree(path))


def _asks_backend(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return any(_names_backend(x) for x in (node.left, *node.comparators))
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice) and "backend" in ast.unparse(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in ("is_cuda", "index_of"):
            return True
        cuts = node.func.attr in ("startswith", "partition", "split", "removeprefix", "rpartition")
        return cuts and ("backend" in ast.unparse(node.func.value) or any(map(_names_backend, node.args)))
    return False


def _names_backend(node: ast.AST) -> bool:
    if isinstance(node, (ast.Tuple, ast.Set, ast.List)):
        return any(map(_names_backend, node.elts))
    return isinstance(node, ast.Constant) and str(node.value).partition(":")[0] in BACKENDS


# ---- primitives and types -----------------------------------------------------------------------------------


def machine_aware(root: Path) -> str:
    """Primitives that ask for a graph's backend, or use private names that are defined outside ``primitives/``.

    Counted are ``x.backend``; ``x._name``, unless it is ``self._name`` and the same class defines it, by a method, an
    attribute of the class or ``self._name = ...``; an import of ``_name`` from outside ``primitives/``; and imports of
    what is private to the framework. The public methods of named tuples have an underscore, too, and are left out.
    """
    inner = re.compile(r"frontier\.(?!primitives\.)(.*\._(?!_)|_(?!_)|graph\.(derived|topology|moving)|native)")
    found = []
    for path in files(root, "primitives"):
        imports = (name for _, name in check_imports.imported(tree(path), "frontier.primitives"))
        if any(map(inner.match, imports)) or any(_foreign(tree(path), frozenset())):
            found.append(path.stem)
    return ", ".join(found) or "none"


def _foreign(node: ast.AST, own: frozenset[str]) -> Iterator[str]:
    """Attributes that only the framework defines; ``own`` are those that the classes around define."""
    if isinstance(node, ast.ClassDef):
        own |= _defined(node)
    if isinstance(node, ast.Attribute) and re.match(r"backend$|_(?!_)", node.attr):
        on_self = isinstance(node.value, ast.Name) and node.value.id == "self"
        if not (on_self and node.attr in own) and node.attr not in ("_asdict", "_fields", "_make", "_replace"):
            yield node.attr
    for child in ast.iter_child_nodes(node):
        yield from _foreign(child, own)


def _defined(node: ast.ClassDef) -> frozenset[str]:
    """The names that a class defines: methods, attributes of the class, and what methods set on ``self``."""
    names = {x.name for x in node.body if isinstance(x, (ast.FunctionDef, ast.AsyncFunctionDef))}
    for x in ast.walk(node):
        if isinstance(x, (ast.Name, ast.Attribute)) and isinstance(x.ctx, ast.Store):
            names.add(x.id if isinstance(x, ast.Name) else x.attr)
    return frozenset(names)


def size_of(*names: str) -> Callable[[Path], str]:
    """Lines, and enactors, of the modules of a primitive."""

    def count(root: Path) -> str:
        paths = [path for name in names if (path := root / "primitives" / f"{name}.py").exists()]
        lines = sum(len(path.read_text("utf-8").splitlines()) for path in paths)
        kinds = sum(isinstance(node, ast.ClassDef) and _is_enactor(node) for path in paths for node in _nodes(path))
        return f"{lines}, {kinds} enactors"

    return count


def _is_enactor(node: ast.ClassDef) -> bool:
    assigned = (ast.unparse(part) for part in node.body if isinstance(part, (ast.Assign, ast.AnnAssign)))
    return any(re.match(r"loop\b", text) for text in assigned)


# ---- size ---------------------------------------------------------------------------------------------------


def lines_of(root: Path, *folders: str) -> int:
    """Lines of the modules in some folders."""
    return sum(len(path.read_text("utf-8").splitlines()) for path in files(root, *folders))


def several_machines(root: Path) -> str:
    """Lines of frontier/distributed, without the partitions that only plan, and the part of the package."""
    lines = lines_of(root, "frontier/distributed") - lines_of(root, "frontier/distributed/partition")
    return f"{lines:,} = {lines / lines_of(root, *check_imports.FOLDERS.values()):.0%}"


def builder_chain(root: Path) -> str:
    """Levels, and methods, of the class to which operators write, on one GPU as on several."""
    classes = {
        node.name: node
        for path in files(root, "frontier/lowering", "frontier/backends/cuda")
        for node in _nodes(path)
        if isinstance(node, ast.ClassDef)
    }
    levels, methods = 0, set[str]()
    name = "CudaProgram"
    while name in classes:
        levels += 1
        methods |= {each.name for each in classes[name].body if isinstance(each, ast.FunctionDef)}
        bases = [base.id for base in classes[name].bases if isinstance(base, ast.Name)]
        name = bases[0] if bases else ""
    return f"{levels}, {len(methods)} methods"


def twins(root: Path) -> str:
    """Names of modules that several folders have, but for those that a folder has for each backend."""
    names: dict[str, set[str]] = {}
    for path in package(root):
        if not path.stem.startswith("__") and path.stem not in BACKENDS:
            names.setdefault(path.stem, set()).add(path.parent.relative_to(root).as_posix())
    several = {
        name: folders
        for name, folders in names.items()
        if len({re.sub(r"/(cpu|cuda|python)\b", "", folder) for folder in folders}) > 1
    }
    most = sorted(several, key=lambda name: -len(several[name]))[:5]
    return f"{len(several)}: " + ", ".join(f"{name} x{len(several[name])}" for name in most)


def ignored_types(root: Path) -> str:
    """``type: ignore`` in the package, and modules that mypy does not look into."""
    found = sum(path.read_text("utf-8").count("# type: ignore") for path in package(root))
    settings = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]
    skipped = [x for entry in settings["overrides"] if entry.get("ignore_errors") for x in entry["module"]]
    return f"{found} / {len(skipped)}"


#: What -> (how it is counted, what is wanted).
FIGURES: dict[str, tuple[Callable[[Path], object], str]] = {
    "lines of the package": (lambda root: f"{lines_of(root, *check_imports.FOLDERS.values()):,}", "<= 70,000"),
    "of it several machines": (several_machines, "<= 14,500"),
    "lines of frontier/backends": (lambda root: f"{lines_of(root, 'frontier/backends'):,}", "<= 10,500"),
    "levels of the class that operators write to": (builder_chain, "4"),
    "module names in several folders": (twins, "those of backends"),
    "lines of code in string literals": (quoted_lines, "<= 150"),
    "files that parse or rewrite emitted text": (lambda root: len(text_parsers(root)), "0"),
    "rooms / floors / arrows that go back": (rooms, "<= 20 / <= 8 / 0"),
    "flat modules in frontier/ (with an underscore)": (flat_modules, "<= 8 (0)"),
    "files that a reader of one push balance needs": (files_of_a_push, "8"),
    "files (functions) that a warm fr.bfs passes": (passed, "<= 12 (60)"),
    "places where the backend is a compared string": (backend_strings, "the placement alone"),
    "primitives that know backends or private names": (machine_aware, "none"),
    "SSSP": (size_of("sssp", "_packed", "_parents"), "<= 250 lines"),
    "betweenness": (size_of("bc", "_bc_variants"), "<= 230 lines"),
    "closure": (size_of("transitive_closure", *CLOSURE), "<= 850 lines"),
    "colouring": (size_of("color", *COLOURING), "<= 350 lines"),
    "type: ignore / modules unseen by mypy": (ignored_types, "<= 20 / device code"),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--still", action="store_true", help="run nothing")
    given = parser.parse_args()
    width = max(map(len, FIGURES))
    print(f"{'':{width}}  {'today':<24}  wanted")
    for name, (count, wanted) in FIGURES.items():
        if not (given.still and count is passed):
            print(f"{name:{width}}  {count(given.root.resolve())!s:<24}  {wanted}")


if __name__ == "__main__":
    main()
