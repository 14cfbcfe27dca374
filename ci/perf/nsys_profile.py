#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an SQLite file as `nsys export --type sqlite` does, of a training run with KERNELS kernels.

Each kernel has a launch and RANGES ranges of PyTorch's emit_nvtx and of layers. A quarter of the operators are
backward ones on another thread. With --ends, the rows of ranges are in the order of their ends.

usage: nsys_profile.py KERNELS FILE [--ranges N] [--ends]
"""

import argparse
import pathlib
import sqlite3

PID = 4242
GLOBAL = 1 << 48 | PID << 24
THREADS = (GLOBAL | PID, GLOBAL | PID + 1)
STEP = 10_000  # nanoseconds between two launches
OPERATORS = [
    ("aten::linear", "[[128, 1024], [1024, 1024], [1024]]", "sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x64"),
    ("aten::layer_norm", "[[128, 1024], [], [1024], [1024], [], []]", "void layer_norm_kernel<float>(float*)"),
    ("aten::gelu", "[[128, 4096], []]", "void vectorized_elementwise_kernel<4, Gelu>(int)"),
    ("aten::add", "[[128, 1024], [128, 1024], []]", "void vectorized_elementwise_kernel<4, Add>(int)"),
]
TABLES = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_GPU (id INTEGER NOT NULL, name TEXT, cuDevice INTEGER, smCount INTEGER, threadsPerWarp INTEGER,
  maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER, maxThreadsPerBlock INTEGER, maxRegistersPerSm INTEGER,
  maxRegistersPerBlock INTEGER, maxShmemPerSm INTEGER, computeMajor INTEGER, computeMinor INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER,
  registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,
  blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL,
  dynamicSharedMemory INTEGER NOT NULL, graphNodeId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,
  category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER,
  uint64Value INTEGER, int64Value INTEGER, doubleValue REAL);
"""


def kernels(count):
    for i in range(count):
        start = 1_000_000 + i * STEP
        yield (start + 6000, start + 14000, 0, 1, 7, i + 1, GLOBAL, 10 + i % len(OPERATORS), 10 + i % len(OPERATORS), None, 0,
               64, 128, 1, 1, 256, 1, 1, 0, 49152, None)


def calls(count):
    for i in range(count):
        start = 1_000_000 + i * STEP
        yield (start + 4000, start + 5500, 0, THREADS[i % 4 == 3], i + 1, 1, 0, None)


def ranges(count, per_kernel):
    """Yields the ranges in the order of their starts: a layer per 16 kernels, and nested operators."""
    def row(start, end, text, thread):
        return (start, end, 59, None, None, None, text, thread, None, None, 0, None, None, None)
    for i in range(count):
        begin = 1_000_000 + i * STEP
        name, sizes, _ = OPERATORS[i % len(OPERATORS)]
        backward = i % 4 == 3
        thread = THREADS[backward]
        if i % 16 == 0:
            yield row(begin, begin + 16 * STEP - 100, f"layer:block{i // 16 % 24}", THREADS[0])
        for level in range(per_kernel - (i % 16 == 0)):
            if backward and level == 0:
                text = f"autograd::engine::evaluate_function: AddBackward0, seq = {i - 1}, op_id = {8 * i}"
            else:
                text = f"{name if level == 0 else f'aten::step{level}'}, seq = {i}, op_id = {8 * i + level}, sizes = {sizes}"
            yield row(begin + 100 + 200 * level, begin + 9800 - 200 * level, text, thread)


def by_end(rows):
    """Yields rows in the order of their ends; they are a few operators apart."""
    block = []
    for row in rows:
        block.append(row)
        if len(block) == 4096:
            yield from sorted(block, key=lambda entry: entry[1])
            block = []
    yield from sorted(block, key=lambda entry: entry[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kernels", type=int)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--ranges", type=int, default=8, help="per kernel")
    parser.add_argument("--ends", action="store_true")
    arguments = parser.parse_args()
    arguments.file.unlink(missing_ok=True)
    database = sqlite3.connect(arguments.file)
    database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + TABLES)
    insert = "INSERT INTO {} VALUES ({})"
    database.executemany(insert.format("StringIds", "?, ?"),
                         [(1, "cudaLaunchKernel_v7000")] + [(10 + i, entry[2]) for i, entry in enumerate(OPERATORS)])
    database.execute(insert.format("TARGET_INFO_GPU", ", ".join("?" * 13)),
                     (0, "NVIDIA H200", 0, 132, 32, 64, 32, 1024, 65536, 65536, 233472, 9, 0))
    rows = ranges(arguments.kernels, arguments.ranges)
    for table, columns, source in (("CUPTI_ACTIVITY_KIND_RUNTIME", 8, calls(arguments.kernels)),
                                   ("CUPTI_ACTIVITY_KIND_KERNEL", 21, kernels(arguments.kernels)),
                                   ("NVTX_EVENTS", 14, by_end(rows) if arguments.ends else rows)):
        database.executemany(insert.format(table, ", ".join("?" * columns)), source)
        database.commit()
    database.close()


if __name__ == "__main__":
    main()
