# SPDX-License-Identifier: Apache-2.0
"""A pure wheel; with BENCH_PREFIX=TREE, a wheel of this platform that contains the program `bench`
and libbench_profile.so of that installed tree."""

import pathlib
import shutil
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import installed_tree  # noqa: E402

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

PREFIX = installed_tree.prefix_of_environment()


class BuildWithTree(build_py):
    def run(self):
        super().run()
        package = pathlib.Path(self.build_lib) / "bench_profile"
        licence = HERE.parent / "LICENSE"
        if licence.is_file():  # not if it is built from an archive of python/ alone
            shutil.copy(licence, package / "LICENSE")
        tree = package / "_bench"
        shutil.rmtree(tree, ignore_errors=True)  # of an earlier build
        if not PREFIX:
            return
        installed_tree.copy_tree(PREFIX, tree)
        self.distribution.platform_tag, missing = installed_tree.platform_tag(tree)
        if missing:
            print("The wheel needs libraries that other machines may lack: " + ", ".join(missing) +
                  ". An unpacked archive of ci/bundle.sh as BENCH_PREFIX contains them.",
                  file=sys.stderr)


class WheelOfPlatform(bdist_wheel):
    def get_tag(self):
        if not PREFIX:
            return super().get_tag()
        self.run_command("build_py")  # at most once
        return "py3", "none", self.distribution.platform_tag


class DistributionOfPlatform(Distribution):
    def has_ext_modules(self):
        return PREFIX is not None


setup(
    license="Apache-2.0",
    distclass=DistributionOfPlatform,
    cmdclass={"build_py": BuildWithTree, "bdist_wheel": WheelOfPlatform},
    entry_points={"console_scripts": ["bench = bench_profile._program:main"]} if PREFIX else {},
)
