#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on every include that goes against the include direction (MAY_INCLUDE below):

  base <- profiler <- ops <- backends
  harness: stats, config <- import, result <- store, host, wire <- worker | run | judge <- report <- gate <- cli

Data goes one way: a plan (config), messages (wire), records (result), verdicts (judge), texts (report).
Only the worker uses backends, and only the command `worker` uses the worker. The linker verifies this with
bench_without_worker (harness/CMakeLists.txt).

usage: check_layers.py [ROOT]        check the sources below ROOT (default: this checkout)
       check_layers.py --self-test   check the checker on small trees with known errors
"""

import pathlib
import re
import sys
import tempfile

COMMON = {"base", "profiler", "ops"}
MAY_INCLUDE = {
    "base": set(),
    "profiler": {"base"},
    "ops": {"base", "profiler"},
    "backends": COMMON,
    "stats": COMMON,
    "config": COMMON,
    "import": COMMON | {"stats", "config"},
    "result": COMMON | {"stats"},
    "store": COMMON | {"stats", "result"},
    "host": COMMON | {"result"},
    "wire": COMMON | {"config", "result"},
    "worker": COMMON | {"backends", "stats", "config", "result", "host", "wire"},
    "run": COMMON | {"stats", "config", "result", "store", "host", "wire"},
    "judge": COMMON | {"stats", "config", "result", "store"},
    "report": COMMON | {"stats", "result", "store", "judge"},
    "gate": COMMON | {"stats", "config", "result", "store", "host", "wire", "run", "judge", "report"},
}
MAY_INCLUDE["cli"] = set(MAY_INCLUDE) - {"backends", "worker"}
MAY_INCLUDE["main.cpp"] = {"base", "cli"}

# Backends: code that calls a library, plugins, oneDNN or CUDA. Code about CUDA that does not need
# CUDA is in ops/cuda itself and is part of ops.
BACKENDS = re.compile(r"ops/(backend|plugin|onednn|native|blas)/|ops/cuda/[^/]+/|ops/[^/]+/(onednn|cudnn|cuda_native)[^/]*$")

# File -> folders that only this file may include in addition, each for a reason.
EXCEPTIONS = {
    "harness/cli/worker_command.cpp": {"worker"},  # is the worker
    "harness/cli/case_availability.cpp": {"backends"},  # asks what the CPU backends support
}

# May include everything; only tests may include tests/.
FREE = ("tests", "ci")

# Third parties that only some layers may use, and the maximum number of files (None: any number).
THIRD_PARTIES = [
    (re.compile(r"<yaml-cpp/"), ("config",), 1),
    (re.compile(r"<CLI/"), ("cli",), 1),
    (re.compile(r"<protozero/"), ("import",), 1),
    (re.compile(r"<soci/"), ("store",), 1),
    (re.compile(r"<(oneapi/dnnl/|dnnl)"), ("backends",), None),
    (re.compile(r"<benchmark/"), ("worker",), None),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*(?P<target>"[^"]*"|<[^>]*>)')


def layer_of(path):
    """Returns the layer of a path relative to the root, or None if it has no layer."""
    if BACKENDS.match(path):
        return "backends"
    folder, _, rest = path.partition("/")
    layer = rest.partition("/")[0] if folder == "harness" else folder
    return layer if layer in MAY_INCLUDE or layer in FREE else None


def includes_of(file):
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            yield number, match["target"]


def project_include_error(root, path, target):
    """Returns the error in `#include "target"` of the file `path`, or None."""
    here, there = layer_of(path), layer_of(target)
    if here == "ci" and ((root / path).parent / target).is_file():
        return None  # separate programs with their own headers
    if there is None or not (root / target).is_file():
        return f'"{target}" is not a file below the root (includes are written from the root)'
    if there in FREE:
        allowed = here in FREE or path.endswith("_test.cpp")
        return None if allowed else f'"{target}": only tests may include {there}/'
    if here in FREE or here == there or there in MAY_INCLUDE[here] | EXCEPTIONS.get(path, set()):
        return None
    # Tests run workers in their own process.
    if path.endswith("_test.cpp") and here in ("run", "gate") and there == "worker":
        return None
    return f'"{target}": {here} must not include {there}'


def check(root):
    """Returns all errors of the tree, as lines `file:line: what`."""
    errors = []
    third_party_files = {pattern: [] for pattern, _, _ in THIRD_PARTIES}
    folders = ["base", "profiler", "ops", "harness", "tests", "ci"]
    files = [f for folder in folders for f in sorted((root / folder).rglob("*.[ch]pp"))]
    for file in files:
        path = file.relative_to(root).as_posix()
        layer = layer_of(path)
        if layer is None:
            errors.append(f"{path}:1: the file belongs to no layer")
            continue
        for number, target in includes_of(file):
            if target.startswith('"'):
                error = project_include_error(root, path, target.strip('"'))
                if error:
                    errors.append(f"{path}:{number}: {error}")
                continue
            for pattern, layers, _ in THIRD_PARTIES:
                if not pattern.match(target) or layer in FREE:
                    continue
                if path not in third_party_files[pattern]:
                    third_party_files[pattern].append(path)
                if layer not in layers:
                    errors.append(f"{path}:{number}: {target} belongs to {', '.join(layers)} only")
    for pattern, _, most in THIRD_PARTIES:
        users = [f for f in third_party_files[pattern] if not f.endswith("_test.cpp")]
        if most is not None and len(users) > most:
            errors.append(f"{users[-1]}:1: {pattern.pattern} is included by {len(users)} files, "
                          f"at most {most} may: {', '.join(users)}")
    return errors, len(files)


# Trees of the self-test: files with their text, and a part of each expected error.
SELF_TESTS = [
    ({"base/a.hpp": "", "ops/b.cpp": '#include "base/a.hpp"\n#include <vector>\n'}, []),
    ({"ops/b.hpp": "", "base/a.cpp": '#include "ops/b.hpp"\n'},
     ["base/a.cpp:1: \"ops/b.hpp\": base must not include ops"]),
    ({"ops/b.hpp": "", "profiler/x/a.cpp": '\n#  include  "ops/b.hpp"\n'},
     ["profiler/x/a.cpp:2: \"ops/b.hpp\": profiler must not include ops"]),
    ({"harness/stats/s.hpp": "", "harness/config/c.cpp": '#include "harness/stats/s.hpp"\n'},
     ["config must not include stats"]),
    ({"harness/run/r.hpp": "", "harness/report/p.cpp": '#include "harness/run/r.hpp"\n'},
     ["report must not include run"]),
    ({"ops/plugin/p.hpp": "", "ops/k.cpp": '#include "ops/plugin/p.hpp"\n'},
     ["ops must not include backends"]),
    ({"ops/plugin/p.hpp": "", "ops/conv/onednn.cpp": '#include "ops/plugin/p.hpp"\n',
      "harness/worker/w.cpp": '#include "ops/plugin/p.hpp"\n'}, []),
    ({"ops/cuda/probe.hpp": "", "harness/host/h.cpp": '#include "ops/cuda/probe.hpp"\n'}, []),
    ({"ops/cuda/runtime/d.hpp": "", "harness/run/r.cpp": '#include "ops/cuda/runtime/d.hpp"\n'},
     ["run must not include backends"]),
    ({"harness/worker/w.hpp": "", "harness/run/r.cpp": '#include "harness/worker/w.hpp"\n',
      "harness/run/r_test.cpp": '#include "harness/worker/w.hpp"\n',
      "harness/cli/worker_command.cpp": '#include "harness/worker/w.hpp"\n',
      "harness/cli/run_command.cpp": '#include "harness/worker/w.hpp"\n'},
     ["cli must not include worker", "run must not include worker"]),
    ({"harness/report/p.hpp": "", "harness/cli/c.cpp": '#include "harness/report/p.hpp"\n'}, []),
    ({"harness/cli/c.hpp": "", "harness/main.cpp": '#include "harness/cli/c.hpp"\n'}, []),
    ({"base/a.hpp": "", "base/a.cpp": '#include "a.hpp"\n'}, ['"a.hpp" is not a file below the root']),
    ({"tests/f.hpp": "", "base/a_test.cpp": '#include "tests/f.hpp"\n'}, []),
    ({"tests/f.hpp": "", "base/a.cpp": '#include "tests/f.hpp"\n'}, ["only tests may include"]),
    ({"base/a.cpp": "#include <yaml-cpp/yaml.h>\n"}, ["belongs to config only"]),
    ({"harness/config/a.cpp": "#include <yaml-cpp/yaml.h>\n",
      "harness/config/b.cpp": "#include <yaml-cpp/yaml.h>\n"}, ["at most 1 may"]),
    ({"harness/run/a.cpp": "#include <oneapi/dnnl/dnnl.hpp>\n"}, ["belongs to backends only"]),
    ({"harness/other/a.cpp": ""}, ["belongs to no layer"]),
]


def self_test():
    for files, expected in SELF_TESTS:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            errors, _ = check(root)
        same = len(errors) == len(expected) and all(e in got for e, got in zip(expected, errors))
        if not same:
            sys.exit(f"self-test failed for {files}:\n  expected {expected}\n  got      {errors}")
    print(f"check_layers: self-test of {len(SELF_TESTS)} trees passed")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parents[1])
    errors, files = check(root)
    for error in errors:
        print(error)
    if errors:
        sys.exit(1)
    print(f"check_layers: {files} files, every include in the allowed direction")


if __name__ == "__main__":
    main(sys.argv[1:])
