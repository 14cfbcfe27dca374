# SPDX-License-Identifier: Apache-2.0
"""Wheels: pure ones, and those with the program of an installed tree."""

import importlib.util
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import unittest
import zipfile

from bench_profile import _library
from tests.support import NEEDS_LIBRARY, SOURCE, TestInFolder

PROJECT = pathlib.Path(__file__).resolve().parents[1]
SPEC = importlib.util.spec_from_file_location("installed_tree", PROJECT / "installed_tree.py")
installed_tree = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(installed_tree)

OUTPUT = """
Dynamic Section:
  NEEDED               libgomp.so.1
  NEEDED               libstdc++.so.6
  NEEDED               libc.so.6
Version References:
  required from libc.so.6:
    0x06969191 0x00 41 GLIBC_2.11
    0x069691b4 0x00 19 GLIBC_2.34
    0x09691974 0x00 25 GLIBC_2.3.4
  required from libstdc++.so.6:
    0x0297f879 0x00 16 GLIBCXX_3.4.30
    0x02297f89 0x00 26 GLIBCXX_3.4.9
"""


def can_build():
    setuptools = importlib.util.find_spec("setuptools")
    own = setuptools and importlib.util.find_spec("setuptools.command.bdist_wheel")
    return bool(setuptools and importlib.util.find_spec("pip") and
                (own or importlib.util.find_spec("wheel")))


class Requirements(unittest.TestCase):
    def test_versions_are_compared_as_numbers(self):
        libraries, versions = installed_tree.requirements(OUTPUT)
        self.assertEqual(libraries, ["libgomp.so.1", "libstdc++.so.6", "libc.so.6"])
        self.assertEqual(versions, {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 30)})

    def test_the_glibc_is_that_of_a_distribution_with_both_libraries(self):
        for versions, expected in (({"GLIBC": (2, 34)}, 34), ({"GLIBC": (2, 3, 4)}, 17), ({}, 17),
                                   ({"GLIBC": (2, 34), "GLIBCXX": (3, 4, 30)}, 35),
                                   ({"GLIBC": (2, 36), "GLIBCXX": (3, 4, 30)}, 36),
                                   ({"GLIBC": (2, 17), "GLIBCXX": (3, 4)}, 17),
                                   ({"GLIBC": (2, 17), "GLIBCXX": (3, 4, 99)}, 39)):
            with self.subTest(versions):
                self.assertEqual(installed_tree.minimal_glibc(versions), expected)


class Tree(TestInFolder):
    def make_prefix(self):
        prefix = self.folder / "prefix"
        for name in ("bin/bench", "lib/bench/libdnnl.so.3", "lib/bench/LICENSE",
                     "lib/x86_64-linux-gnu/libbench_profile.so.0.1.0", "share/doc/bench/copyright",
                     "share/bench/configs/quick.yaml", "share/bench/configs/networks/mnist.yaml",
                     "share/man/man1/bench.1.gz"):
            (prefix / name).parent.mkdir(parents=True, exist_ok=True)
            (prefix / name).write_text("x", encoding="utf-8")
        (prefix / "bin/bench").write_text("#!/bin/sh\necho own $*\n", encoding="utf-8")
        (prefix / "bin/bench").chmod(0o755)
        link = prefix / "lib/x86_64-linux-gnu/libbench_profile.so.0.1"
        link.symlink_to("libbench_profile.so.0.1.0")
        return prefix

    def test_it_is_copied_without_links_and_manuals(self):
        target = self.folder / "target"
        installed_tree.copy_tree(self.make_prefix(), target)
        files = sorted(str(p.relative_to(target)) for p in target.rglob("*") if p.is_file())
        self.assertEqual(files, ["bin/bench", "lib/bench/LICENSE", "lib/bench/libdnnl.so.3",
                                 "lib/libbench_profile.so.0.1",
                                 "share/bench/configs/networks/mnist.yaml",
                                 "share/bench/configs/quick.yaml", "share/doc/bench/copyright"])
        self.assertFalse((target / "lib/libbench_profile.so.0.1").is_symlink())

    def test_a_folder_that_is_no_installed_tree_is_refused(self):
        with self.assertRaisesRegex(FileNotFoundError, "has no bin/bench"):
            installed_tree.copy_tree(self.folder, self.folder / "target")

    @NEEDS_LIBRARY
    @unittest.skipUnless(shutil.which("objdump"), "no objdump")
    def test_the_platform_follows_from_the_files(self):
        shutil.copy(_library.load().path, self.folder / "libbench_profile.so.0.1")
        self.write("text.so", "not ELF")
        tag, missing = installed_tree.platform_tag(self.folder)
        self.assertEqual(missing, [])
        self.assertRegex(tag, rf"manylinux_2_\d+_{platform.machine()}")

    def build(self, **environment):
        # A copy, so that the build leaves nothing in the checkout.
        project = self.folder / "project"
        shutil.copytree(PROJECT, project, ignore=shutil.ignore_patterns("tests", "build", "*.egg*"))
        subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation",
                        "--no-index", "--no-deps", "--wheel-dir", self.folder, project],
                       env={**os.environ, **environment}, check=True, capture_output=True)
        return next(self.folder.glob("*.whl"))

    @unittest.skipUnless(can_build(), "no setuptools or no wheel")
    def test_a_pure_wheel_has_every_source(self):
        wheel = self.build(BENCH_PREFIX="")
        self.assertRegex(wheel.name, r"^bench_profile-[\d.]+-py3-none-any\.whl$")
        with zipfile.ZipFile(wheel) as archive:
            names = set(archive.namelist())
        sources = {f"bench_profile/{path.name}" for path in (SOURCE / "bench_profile").glob("*.py*")
                   if path.suffix in (".py", ".typed")}
        self.assertLess(sources | {"bench_profile/py.typed"}, names)
        self.assertFalse([name for name in names if name.endswith("entry_points.txt")])

    @unittest.skipUnless(can_build() and shutil.which("objdump"), "no setuptools, wheel or objdump")
    def test_a_wheel_with_the_program_finds_it(self):
        prefix = self.make_prefix()
        shutil.copy(shutil.which("true"), prefix / "lib/bench/libdnnl.so.3")
        wheel = self.build(BENCH_PREFIX=str(prefix))
        self.assertRegex(wheel.name, r"-py3-none-manylinux_2_\d+_\w+\.whl$")
        with zipfile.ZipFile(wheel) as archive:
            self.assertIn("bench_profile/_bench/lib/libbench_profile.so.0.1", archive.namelist())
        environment = self.folder / "environment"
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([environment / "bin/python", "-m", "pip", "install", "--quiet", "--no-index",
                        wheel], check=True, capture_output=True)
        for command in ([environment / "bin/bench"],
                        [environment / "bin/python", "-c", "import bench_profile, subprocess; "
                         "subprocess.run([bench_profile.find_program(), 'run'], check=True)"]):
            variables = {**os.environ, "BENCH": "", "PYTHONPATH": ""}
            done = subprocess.run(command, capture_output=True, text=True, check=True,
                                  env=variables)
            self.assertEqual(done.stdout.split()[0], "own")


if __name__ == "__main__":
    unittest.main()
