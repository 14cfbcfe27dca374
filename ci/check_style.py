#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""House style that a script can measure:

- functions: at most 60 lines each (files with `// table:` may exceed);
- files: at most 700 lines, unless a comment `// table: <why>` says that it is a table;
- the first line of every source states the licence;
- a source includes its own header first; headers have `#pragma once`;
- no time in a bare double;
- messages to standard error use base/printable.hpp, which escapes text from outside;
- names of tests and test suites are in CamelCase.

Sources without a test in their folder, and small headers with one user, are listed as information.

usage: check_style.py [--verbose] [ROOT]
       check_style.py --self-test
"""

import pathlib
import re
import sys
import tempfile

MAX_FUNCTION_LINES = 60
MAX_FILE_LINES = 700
MAX_SMALL_HEADER_LINES = 40
LICENCE = "SPDX-License-Identifier: Apache-2.0"
FOLDERS = ["base", "profiler", "ops", "harness", "tests", "ci"]

TABLE_MARK = re.compile(r"^\s*// table: \S", re.MULTILINE)
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.DOTALL | re.MULTILINE)
# The program itself prints the sequence that erases a progress line, so this is allowed.
RAW_MESSAGE = re.compile(r"\berr\s*<<(?!\s*kEraseLine\b)")
TEST_NAME = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
CAMEL_CASE = re.compile(r"[A-Z][A-Za-z0-9]*")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
BARE_TIME = re.compile(r"\b(?:double|float)\s+\w*_(?:ns|us|ms|s|seconds|gb|gbps)\b")


def code_only(text):
    """Returns the text with comments, literals and directives blanked; keeps line breaks."""
    return NOT_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def opens_function(statement):
    """Returns whether `statement {` at namespace or class level starts a function's body."""
    statement = re.sub(r"\boperator\s*(\(\)|[^\s(]+)", "operator", statement)
    statement = re.sub(r"\b(decltype|noexcept|alignas|requires)\s*\([^()]*\)", "", statement)
    head = statement.split("(", 1)[0]
    head = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", head))
    return "(" in statement and "=" not in head


def is_member_initialiser(statement):
    """Returns whether `statement {` is a brace as in `Foo() : a_{1}` or `f(T t = {})`, not a body."""
    after = re.search(r"\)\s*(?:noexcept\s*)?:(?!:)(.*)$", statement, re.DOTALL)
    unfinished = statement.count("(") > statement.count(")")  # a default argument's brace
    return unfinished or bool(after) and re.search(r"[\w>]\s*$", after[1]) is not None


def kind_of_brace(statement):
    """Returns what the brace after `statement`, outside of functions, opens."""
    # Access specifiers are not statements but would be joined with the next one.
    statement = re.sub(r"\b(public|private|protected)\s*:(?!:)", "", statement)
    if is_member_initialiser(statement):
        return "initialiser"
    if re.search(r"\b(namespace|extern)\b[^()]*$", statement) or \
            re.search(r"\b(class|struct|union|enum)\b[^()=]*$", statement):
        return "scope"
    return "function" if opens_function(statement) else "initialiser"


def functions_of(text):
    """Returns (first line, lines) of each function defined in the text; lambdas count with it."""
    found, scopes, statement, line = [], [], "", 1
    depth = 0  # open braces since the body of a function began; 0 outside of functions
    for between, brace in re.findall(r"([^{};]*)([{};]?)", code_only(text)):
        line += between.count("\n")
        if depth > 0:
            depth += {"{": 1, "}": -1}.get(brace, 0)
            if brace == "}" and depth == 0:
                first = scopes.pop()[1]
                found.append((first, line - first + 1))
                statement = ""
            continue
        statement += between
        if brace == "{":
            scopes.append((kind_of_brace(statement), line))
            depth = int(scopes[-1][0] == "function")
            statement = statement if scopes[-1][0] == "initialiser" else ""
        elif brace == "}" and scopes:
            statement = statement if scopes.pop()[0] == "initialiser" else ""
        elif brace == ";" and not (scopes and scopes[-1][0] == "initialiser"):
            statement = ""
    return found


def first_include(text):
    match = re.search(r'^\s*#\s*include\s*["<]([^">]*)[">]', text, re.MULTILINE)
    return match[1] if match else None


def own_header(root, path):
    """Returns the header that the source `path` must include first, or None."""
    stem = re.sub(r"(_test)?\.cpp$", "", path)
    return f"{stem}.hpp" if (root / f"{stem}.hpp").is_file() else None


def check_cpp(root, path, text):
    """Returns the errors of one C++ file, and the lengths of its functions."""
    errors = []
    lines = text.count("\n")
    table = TABLE_MARK.search(text) is not None
    if lines > MAX_FILE_LINES and not table:
        errors.append(f"{path}:1: {lines} lines, at most {MAX_FILE_LINES}")
    if path.endswith(".hpp") and "#pragma once" not in text:
        errors.append(f"{path}:1: no #pragma once")
    header = own_header(root, path) if path.endswith(".cpp") else None
    if header and not path.startswith("ci/") and first_include(text) != header:
        errors.append(f'{path}:1: the first include must be "{header}"')
    for number, line in enumerate(code_only(text).splitlines(), start=1):
        if BARE_TIME.search(line):
            errors.append(f"{path}:{number}: a time or rate in a bare double")
        if RAW_MESSAGE.search(line) and path.startswith("harness/") and "_test." not in path:
            errors.append(f"{path}:{number}: a message past print_line() of base/printable.hpp")
    for match in TEST_NAME.finditer(text):
        if not all(CAMEL_CASE.fullmatch(name) for name in match.groups()):
            number = text.count("\n", 0, match.start()) + 1
            errors.append(f"{path}:{number}: {match[1]}.{match[2]} is not in CamelCase")
    lengths = functions_of(text)
    for first, length in lengths:
        if length > MAX_FUNCTION_LINES and not table:
            errors.append(f"{path}:{first}: a function of {length} lines, at most "
                          f"{MAX_FUNCTION_LINES}")
    return errors, lengths


def small_headers(texts):
    """Returns the small headers that only one file includes, apart from their source and test."""
    users = {}
    for path, text in texts.items():
        for header in INCLUDE.findall(text):
            if re.sub(r"(_test)?\.cpp$", ".hpp", path) != header:
                users.setdefault(header, set()).add(path)
    return sorted(path for path, text in texts.items()
                  if path.endswith(".hpp") and text.count("\n") <= MAX_SMALL_HEADER_LINES
                  and len(users.get(path, ())) == 1)


def licensed_files(root):
    """Returns every file whose first lines must state the licence."""
    yield from (root / name for name in ("CMakeLists.txt", "bench") if (root / name).is_file())
    for folder in [*FOLDERS, "cmake", "python"]:
        for file in sorted((root / folder).rglob("*")):
            if not file.is_file() or "__pycache__" in file.parts:
                continue
            script = not file.suffix and file.read_bytes()[:2] == b"#!"
            if file.suffix in (".cpp", ".hpp", ".h", ".c", ".py", ".sh", ".cmake") or script \
                    or file.name == "CMakeLists.txt":
                yield file


def check(root):
    errors, lengths, untested = [], [], []
    for file in licensed_files(root):
        head = file.read_text(encoding="utf-8").splitlines()[:2]
        if not any(LICENCE in line for line in head):
            errors.append(f"{file.relative_to(root)}:1: the first line must be '{LICENCE}'")
    files = [f for folder in FOLDERS for f in sorted((root / folder).rglob("*.[ch]pp"))]
    texts = {file.relative_to(root).as_posix(): file.read_text(encoding="utf-8") for file in files}
    for file in files:
        path = file.relative_to(root).as_posix()
        found, functions = check_cpp(root, path, texts[path])
        errors += found
        lengths += [(length, path, first) for first, length in functions]
        beside = file.with_name(f"{file.stem}_test.cpp")
        if path.endswith(".cpp") and not path.endswith("_test.cpp") and not beside.exists():
            untested.append(path)
    return errors, {"files": len(files), "lengths": sorted(lengths, reverse=True),
                    "untested": untested, "small": small_headers(texts)}


SPDX = f"// {LICENCE}\n"
LONG = "int f(int a) {\n" + "  a++;\n" * 60 + "  return a;\n}\n"
SELF_TESTS = [
    ({"base/a.cpp": SPDX + "int f() { return 1; }\n"}, []),
    ({"base/a.cpp": "int f() { return 1; }\n"}, ["base/a.cpp:1: the first line must be"]),
    ({"base/a.cpp": SPDX + LONG},
     ["base/a.cpp:2: a function of 63 lines"]),
    ({"base/a_test.cpp": SPDX + "TEST(A, B) {\n" + "  f();\n" * 60 + "}\n"},
     ["base/a_test.cpp:2: a function of 62 lines"]),
    ({"base/a.cpp": SPDX + "const int k[] = {\n" + "  f(1),\n" * 100 + "};\n"}, []),
    ({"base/a.cpp": SPDX + "struct A {\n" + "  int f() const;\n" * 100 + "};\n"}, []),
    ({"base/a.cpp": SPDX + "int a;\n" * 700}, ["701 lines, at most 700"]),
    ({"base/a.cpp": SPDX + "// table: names\n" + "int a;\n" * 700}, []),
    ({"base/a.hpp": SPDX}, ["no #pragma once"]),
    ({"base/a.hpp": SPDX + "#pragma once\n", "base/a.cpp": SPDX + "#include <vector>\n"},
     ['the first include must be "base/a.hpp"']),
    ({"base/a.cpp": SPDX + "double run_ms = 0;\n"}, ["bare double"]),
    ({"base/a.cpp": SPDX + "// double run_ms\n"}, []),
    ({"harness/a.cpp": SPDX + "*env.err << text;\n"}, ["harness/a.cpp:2: a message past"]),
    ({"harness/a.cpp": SPDX + "*env.err << kEraseLine;\n"}, []),
    ({"harness/a_test.cpp": SPDX + "env.err << text;\n"}, []),
    ({"base/a_test.cpp": SPDX + "TEST(Parser, ReadsV2) {}\nTEST_F(Parser, reads_it) {}\n"},
     ["base/a_test.cpp:3: Parser.reads_it is not in CamelCase"]),
]
SMALL = SPDX + "#pragma once\n"
SMALL_HEADER_TESTS = [
    ({"a/x.hpp": SMALL, "a/x.cpp": '#include "a/x.hpp"\n', "b/y.cpp": '#include "a/x.hpp"\n'},
     ["a/x.hpp"]),
    ({"a/x.hpp": SMALL, "b/y.cpp": '#include "a/x.hpp"\n', "b/z.cpp": '#include "a/x.hpp"\n'}, []),
    ({"a/x.hpp": SMALL + "\n" * 40, "b/y.cpp": '#include "a/x.hpp"\n'}, []),
]
# A function's text and the lengths that must be found in it.
PARSER_TESTS = [
    ("A::A(int b) : a_{1},\n  b_(b) {\n  f();\n}\n", [3]),
    ("bool operator==(A a, B b) {\n  return true;\n}\n", [3]),
    ("template <class T = int>\nT f(T t = {}) {\n}\n", [2]),
    ("class A {\n public:\n  int f() {\n    return [] {\n return 1; }();\n  }\n};\n", [4]),
    ("const auto k = f([] {\n return 1;\n});\nint g() {\n}\n", [2]),
    ('const char* s = "f() {";\nint g() { return \'{\'; }\n', [1]),
    ("namespace a {\nint f() {\n}\n}\nenum class E { a, b };\nint g() {\n\n}\n", [2, 3]),
]


def self_test():
    for text, expected in PARSER_TESTS:
        got = [length for _, length in functions_of(text)]
        if got != expected:
            sys.exit(f"self-test failed: {text!r}: expected lengths {expected}, got {got}")
    for texts, expected in SMALL_HEADER_TESTS:
        if small_headers(texts) != expected:
            sys.exit(f"self-test failed: {list(texts)}: got {small_headers(texts)}")
    for files, expected in SELF_TESTS:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            errors, _ = check(root)
        if len(errors) != len(expected) or not all(e in g for e, g in zip(expected, errors)):
            sys.exit(f"self-test failed for {list(files)}:\n  expected {expected}\n  got {errors}")
    texts = len(SELF_TESTS) + len(PARSER_TESTS) + len(SMALL_HEADER_TESTS)
    print(f"check_style: self-test of {texts} texts passed")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    verbose = "--verbose" in arguments
    roots = [a for a in arguments if not a.startswith("--")]
    errors, facts = check(pathlib.Path(roots[0] if roots else pathlib.Path(__file__).parents[1]))
    for error in errors:
        print(error)
    longest = facts["lengths"][0][0] if facts["lengths"] else 0
    print(f"check_style: {facts['files']} files, {len(facts['lengths'])} functions, the longest "
          f"has {longest} lines; {len(facts['untested'])} sources without "
          f"a test beside them; {len(facts['small'])} headers of at most {MAX_SMALL_HEADER_LINES} "
          "lines with one user")
    if verbose:
        for length, path, first in facts["lengths"][:20]:
            print(f"  {length:3} lines  {path}:{first}")
        for path in facts["untested"]:
            print(f"  no test  {path}")
        for path in facts["small"]:
            print(f"  one user  {path}")
    if errors:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
