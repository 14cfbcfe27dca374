# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests. A process has one profiler, so programs that record run in processes of
their own. BENCH_PROFILE_LIBRARY and BENCH name the built library and program."""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

import bench_profile as bp

SOURCE = pathlib.Path(bp.__file__).resolve().parents[1]
NEEDS_LIBRARY = unittest.skipUnless(bp.available(), "no libbench_profile.so")
NEEDS_PROGRAM = unittest.skipUnless(os.environ.get("BENCH"), "BENCH does not name the program")


class TestInFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def run_python(self, *words, status=0, **environment):
        """Runs Python in the folder. Returns its standard output and error."""
        variables = {**os.environ, "PYTHONPATH": str(SOURCE), **environment}
        done = subprocess.run([sys.executable, *map(str, words)], cwd=self.folder, env=variables,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr

    def profile(self, code):
        """Runs the code, which has `bp`, with the profiler on. Returns the activities."""
        script = self.write("script.py", "import bench_profile as bp\nbp.start('profile.jsonl')\n" +
                            textwrap.dedent(code))
        self.run_python(script)
        return bp.read(self.folder / "profile.jsonl").activities


def scopes(activities):
    """Returns the paths of the scopes, in the order of their ends."""
    return [a["scope"] for a in activities if a["kind"] == "range" and "scope" in a]
