# SPDX-License-Identifier: Apache-2.0
"""How the library is found, and the error if it is not there."""

import os
import shutil
import unittest
import unittest.mock

import bench_profile as bp
from bench_profile import _library
from tests.support import NEEDS_LIBRARY, SOURCE, TestInFolder

USES_NOTHING = """
import bench_profile as bp
@bp.scope
def function():
    return 1
decorated = bp.scope("x")(function)
scope, task = bp.scope("y"), bp.task("z")
"""


class WithoutLibrary(TestInFolder):
    def setUp(self):
        super().setUp()
        # A copy of the package outside of the checkout, which might contain a build.
        shutil.copytree(SOURCE / "bench_profile", self.folder / "copy" / "bench_profile")
        self.environment = {"PYTHONPATH": str(self.folder / "copy"), "BENCH_PROFILE_LIBRARY": "",
                            "BENCH": "", "PATH": "/nowhere", "LD_LIBRARY_PATH": ""}
        out, _ = self.run_python("-c", "import bench_profile as bp; print(bp.available())",
                                 **self.environment)
        if out.strip() == "True":
            self.skipTest("the system's loader finds a library")

    def test_the_first_use_says_where_it_searched_and_what_to_do(self):
        script = self.write("script.py", USES_NOTHING + """
import sys
assert not bp.available()
for use in (function, decorated, scope.__enter__, task.start, bp.start, bp.recording,
            lambda: bp.counter("c"), lambda: bp.mark("m"), lambda: bp.torch_scopes(None)):
    try:
        use()
    except ImportError as error:
        assert isinstance(error, bp.LibraryNotFound)
        message = error
    else:
        sys.exit(f"{use} did not fail")
print(message)
""")
        out, errors = self.run_python(script, **self.environment)
        self.assertEqual(errors, "")
        for part in ("$BENCH_PROFILE_LIBRARY: not set", f"not in {self.folder}/copy/bench_profile",
                     f"{_library.SONAME}: cannot open", "install bench (`cmake",
                     "or set BENCH_PROFILE_LIBRARY"):
            self.assertIn(part, out)

    def test_a_named_library_is_the_only_one(self):
        other = self.write("other.so", "no library")
        code = "import bench_profile as bp; bp.start()"
        _, errors = self.run_python("-c", code, status=1,
                                    **{**self.environment, "BENCH_PROFILE_LIBRARY": str(other)})
        self.assertIn(f"{other}: ", errors)
        self.assertNotIn("searched", errors)

    def test_another_library_is_not_taken_for_it(self):
        _, errors = self.run_python("-c", "import bench_profile as bp; bp.start()", status=1,
                                    **{**self.environment, "BENCH_PROFILE_LIBRARY": "libc.so.6"})
        self.assertIn("bench_profile_recording", errors)

    def test_no_program_runs_without_it(self):
        script = self.write("script.py", "print('ran')")
        out, errors = self.run_python("-m", "bench_profile", script, status=2, **self.environment)
        self.assertEqual(out, "")
        self.assertIn("libbench_profile.so was not found", errors)


@NEEDS_LIBRARY
class Places(TestInFolder):
    def search(self, program, library):
        """Returns where the library is found that is at `library`, with `program` on PATH."""
        for name in (program, library):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        self.write(program, "#!/bin/sh\n").chmod(0o755)
        shutil.copy(_library.load().path, self.folder / library)
        out, _ = self.run_python(
            "-c", "from bench_profile import _library; print(_library.load().path)",
            BENCH_PROFILE_LIBRARY="", BENCH="", PATH=str((self.folder / program).parent))
        return out.strip()

    def test_it_is_found_beside_the_program_on_path(self):
        for library in (f"lib/bench/{_library.SONAME}", f"lib/{_library.SONAME}",
                        "lib/x86_64-linux-gnu/libbench_profile.so", f"lib64/{_library.SONAME}",
                        "bin/profiler/user/libbench_profile.so"):
            with self.subTest(library):
                self.assertEqual(self.search("bin/bench", library), str(self.folder / library))
                os.remove(self.folder / library)

    def test_the_variable_may_name_its_folder(self):
        shutil.copy(_library.load().path, self.folder / "libbench_profile.so")
        self.run_python("-c", "import bench_profile as bp; bp.recording()",
                        BENCH_PROFILE_LIBRARY=str(self.folder))


class Versions(unittest.TestCase):
    def test_other_minor_versions_are_refused(self):
        class Fake:
            def __init__(self, version):
                self.version = lambda: version
        with unittest.mock.patch.object(_library, "__version__", "0.1.3"):
            self.assertIsNone(_library._wrong_version(Fake(b"0.1.7")))
            self.assertEqual(_library._wrong_version(Fake(b"0.2.0")),
                             "has version 0.2.0, and this package has 0.1.3")
        with unittest.mock.patch.object(_library, "__version__", "1.2.0"):
            self.assertIsNone(_library._wrong_version(Fake(b"1.0.5")))
            self.assertIsNotNone(_library._wrong_version(Fake(b"2.2.0")))


if __name__ == "__main__":
    unittest.main()
