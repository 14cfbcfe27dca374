# SPDX-License-Identifier: Apache-2.0
"""Reads files of `bench`: results, profiles, gates."""

from __future__ import annotations

import gzip
import html
import json
import os
import pathlib
import subprocess
import tempfile
import warnings
from typing import IO, Any, Dict, Iterator, List, Optional, Union

from ._program import find_program

Path = Union[str, "os.PathLike[str]"]
Record = Dict[str, Any]

_GZIP = b"\x1f\x8b"
# What to_pandas() makes rows of: the first kind that the file has.
_MAIN_KINDS = ("verdict", "case", "activity")


class Records(List[Record]):
    """The records of a file, in its order. A notebook shows the answer, the table, and the report
    as a page. docs/result_file.md describes the fields of results."""

    def __init__(self, records: List[Record], path: str) -> None:
        super().__init__(records)
        self.path = path
        self.status: Optional[int] = None  # exit status of `bench run`; None for a file
        self._text: Optional[str] = None
        self._page: Optional[str] = None

    def of(self, kind: str) -> List[Record]:
        """Returns the records whose field `record` is `kind`: case, process, activity, ..."""
        return [record for record in self if record["record"] == kind]

    @property
    def cases(self) -> List[Record]:
        return self.of("case")

    @property
    def activities(self) -> List[Record]:
        return self.of("activity")

    @property
    def text(self) -> str:
        """What `bench report` prints for the file: the answer, tables, notes."""
        if self._text is None:
            self._text = _report(self.path)
        return self._text

    @property
    def answer(self) -> str:
        """The sentence with which the report begins."""
        return self.text.partition("\n")[0]

    def save_report(self, path: Path) -> None:
        """Writes the report; the suffix selects the format: .html, .md, .csv, .xml, .json, ..."""
        _report(self.path, "-o", os.fspath(path), "--force")

    def report_html(self) -> str:
        """Returns the report as one page, which needs no network."""
        if self._page is None:
            with tempfile.TemporaryDirectory() as folder:
                page = pathlib.Path(folder) / "report.html"
                self.save_report(page)
                self._page = page.read_text(encoding="utf-8")
        return self._page

    def to_pandas(self, kind: Optional[str] = None) -> Any:
        """Returns a DataFrame with a row per record of `kind`: by default the verdicts of a gate,
        the cases of a result, the activities of a profile. Columns are the fields, inner ones with
        a dot: `time.median_ns`. Needs pandas."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas() needs pandas: pip install pandas") from error
        if kind is None:
            kind = next((kind for kind in _MAIN_KINDS if self.of(kind)), _MAIN_KINDS[-1])
        return pandas.json_normalize(self.of(kind))

    def __repr__(self) -> str:
        counts: Dict[str, int] = {}
        for record in self:
            counts[record["record"]] = counts.get(record["record"], 0) + 1
        words = ", ".join(f"{count} {kind}" for kind, count in counts.items())
        return f"<Records of {self.path}: {words or 'none'}>"

    def _repr_html_(self) -> str:
        answer, _, rest = self.text.partition("\n")
        # Verdicts of a gate and sums of a profile are as the program prints them.
        table = f"<pre>{html.escape(rest.strip())}</pre>"
        if self.cases and not self.of("gate"):
            table = _table_of_cases(self.cases)
        page = html.escape(self.report_html(), quote=True)
        return (f"<p><strong>{html.escape(answer)}</strong></p>{table}"
                "<details><summary>Report</summary><iframe sandbox='allow-scripts' "
                f"style='width:100%;height:40em;border:0' srcdoc=\"{page}\"></iframe></details>")


def _report(path: str, *options: str) -> str:
    """Runs `bench report` and returns what it prints."""
    done = subprocess.run([find_program(), "report", path, *options], capture_output=True,
                          check=False)
    if done.returncode != 0:
        raise ValueError(done.stderr.decode("utf-8", "replace").strip())
    return done.stdout.decode("utf-8", "replace").strip()


def _format_time(nanoseconds: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:#.4g} {unit}"
    return f"{nanoseconds:.0f} ns"


def _row_of_case(case: Record) -> List[str]:
    time = case.get("time", {})
    median, low, high = (time.get(f"{name}_ns") for name in ("median", "low", "high"))
    known = bool(median) and low is not None and high is not None
    return [case["id"], _format_time(median) if median else "n/a",
            f"{(high - low) / 2 / median:.2%}" if known else "n/a",
            case.get("implementation", "n/a"), " ".join([case["outcome"], *case["flags"]])]


def _table_of_cases(cases: List[Record]) -> str:
    def row(tag: str, cells: List[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
    rows = [row("th", ["case", "median", "+-", "implementation", "outcome"])]
    rows += [row("td", _row_of_case(case)) for case in cases]
    return f"<table>{''.join(rows)}</table>"


def _parse(line: str) -> Optional[Record]:
    """Returns the record of a line; None if it is incomplete or something else."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("record"), str) else None


def _records_of(stream: IO[bytes], path: str) -> Iterator[Record]:
    """Yields each record. A run that was killed leaves an incomplete line at the end; if another
    file was appended to it, a complete record follows on that line."""
    for number, line in enumerate(stream, start=1):
        text = line.decode("utf-8", "replace")
        if not text.strip():
            continue
        record = _parse(text)
        if record is None:
            record = _parse(text[max(text.rfind('{"record":'), 0):])
            if record is None and text.endswith("\n"):
                raise ValueError(f"{path}:{number}: the line is not a record of bench; expected a "
                                 "result, a profile or gate.jsonl")
            place = "last line" if record is None else f"part of line {number}"
            warnings.warn(f"{path}: incomplete {place} ignored", stacklevel=4)
        if record is not None:
            yield record


def read(path: Path, kind: Optional[str] = None) -> Records:
    """Reads a result, a profile or a gate (its folder or gate.jsonl), also compressed by gzip. With
    `kind` (case, activity, ...) only these records, which saves memory. Raises OSError, or
    ValueError if it is another file."""
    name = os.fspath(path)
    if os.path.isdir(name):
        name = os.path.join(name, "gate.jsonl")
    with open(name, "rb") as file:
        is_compressed = file.read(2) == _GZIP
        file.seek(0)
        stream: Any = gzip.GzipFile(fileobj=file) if is_compressed else file
        return Records([record for record in _records_of(stream, name)
                        if kind is None or record["record"] == kind], name)
