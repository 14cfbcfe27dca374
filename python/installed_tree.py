# SPDX-License-Identifier: Apache-2.0
"""What a wheel with the program takes from an installed tree of `bench`, and the platform that it
needs. setup.py uses this if the variable BENCH_PREFIX names such a tree."""

import os
import pathlib
import platform
import re
import shutil
import subprocess

# Files of the tree, and where they are in the package's folder _bench. The program finds what it
# loads relative to itself.
PARTS = [
    ("bin/bench", "bin"),
    ("lib/bench/*", "lib/bench"),
    ("lib/bench/notices/*", "lib/bench/notices"),
    ("lib/libbench_profile.so.[0-9]*.[0-9]*", "lib"),
    ("lib/*-linux-gnu/libbench_profile.so.[0-9]*.[0-9]*", "lib"),
    ("lib64/libbench_profile.so.[0-9]*.[0-9]*", "lib"),
    ("share/bench/configs/*", "share/bench/configs"),
    ("share/bench/configs/networks/*", "share/bench/configs/networks"),
    ("share/doc/bench/copyright", "share/doc/bench"),
]
# Libraries that every Linux of a manylinux platform has.
EVERYWHERE = re.compile(r"(ld-linux-[\w-]+|lib(c|m|mvec|dl|pthread|rt|util|stdc\+\+|gcc_s|z))\.so\.\d+")
# The oldest glibc of the distributions whose libstdc++ has this GLIBCXX_3.4.N.
GLIBC_OF_GLIBCXX = [(19, 17), (22, 24), (24, 27), (25, 28), (28, 31), (29, 34), (30, 35), (32, 38),
                    (33, 39)]


def copy_tree(prefix, target):
    """Copies the parts into the folder `target`. Raises FileNotFoundError without the program or
    the library."""
    prefix, target = pathlib.Path(prefix), pathlib.Path(target)
    for pattern, folder in PARTS:
        for file in sorted(prefix.glob(pattern)):
            # Wheels have no links: of a library's names, the one that loaders ask for.
            if file.is_file() and not re.search(r"libbench_profile\.so\.\d+\.\d+\.\d+$", file.name):
                (target / folder).mkdir(parents=True, exist_ok=True)
                shutil.copy(file, target / folder / file.name)
    libraries = list(target.glob("lib/libbench_profile.so.*"))
    if not (target / "bin" / "bench").is_file() or not libraries:
        raise FileNotFoundError(
            f"BENCH_PREFIX is {prefix}, which has no bin/bench or no libbench_profile.so; create "
            "it by `cmake --install build/release --prefix DIR`, or unpack what ci/bundle.sh packs")


def requirements(objdump_output):
    """Returns the libraries that a file needs and its highest versions {prefix: (major, minor...)},
    from the output of `objdump -p`."""
    libraries = re.findall(r"^\s+NEEDED\s+(\S+)", objdump_output, re.MULTILINE)
    versions = {}
    for prefix, text in re.findall(r"\b(GLIBC|GLIBCXX)_(\d+(?:\.\d+)+)", objdump_output):
        version = tuple(map(int, text.split(".")))
        versions[prefix] = max(version, versions.get(prefix, version))
    return libraries, versions


def minimal_glibc(versions):
    """Returns the oldest glibc 2.N, as N, whose distributions have these versions."""
    needed = [versions.get("GLIBC", (2, 17))[1], 17]
    if "GLIBCXX" in versions:
        glibcxx = versions["GLIBCXX"][2] if len(versions["GLIBCXX"]) > 2 else 0
        newest = GLIBC_OF_GLIBCXX[-1][1]
        known = (glibc for minor, glibc in GLIBC_OF_GLIBCXX if glibcxx <= minor)
        needed.append(next(known, newest))
    return max(needed)


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def platform_tag(folder):
    """Returns the platform of a wheel with these files, and the libraries that it needs besides.
    With such libraries it is not a manylinux wheel: it runs where they are installed."""
    files = [path for path in sorted(pathlib.Path(folder).rglob("*"))
             if path.is_file() and is_elf(path)]
    contained = {path.name for path in files}
    missing, glibc = set(), 17
    for path in files:
        shown = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=True)
        libraries, versions = requirements(shown.stdout)
        missing |= {name for name in libraries
                    if name not in contained and not EVERYWHERE.fullmatch(name)}
        glibc = max(glibc, minimal_glibc(versions))
    machine = platform.machine()
    return f"linux_{machine}" if missing else f"manylinux_2_{glibc}_{machine}", sorted(missing)


def prefix_of_environment():
    return os.environ.get("BENCH_PREFIX") or None
