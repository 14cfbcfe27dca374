# SPDX-License-Identifier: Apache-2.0
"""Virtual environments of the peers, from PyPI."""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent


def interpreter(folder, name):
    """Returns Python of the virtual environment of requirements-NAME.txt; creates it if necessary."""
    wanted = (HERE / f"requirements-{name}.txt").read_text()
    python = folder / name / "bin/python"
    stamp = folder / name / "installed.txt"  # written last: an interrupted installation starts again
    if not stamp.is_file() or stamp.read_text() != wanted:
        print(f"installing {name} into {folder / name}", file=sys.stderr, flush=True)
        shutil.rmtree(folder / name, ignore_errors=True)
        venv.create(folder / name, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                        "-r", HERE / f"requirements-{name}.txt"], check=True)
        stamp.write_text(wanted)
    return python
