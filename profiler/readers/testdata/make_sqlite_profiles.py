#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes nsys.sqlite and nvprof.sqlite, the profiles that tests read, into this folder.

They are made by hand: neither nsys nor nvprof ran. Tables and columns follow the documentation of
Nsight Systems ("SQLite schema reference") and the files that nvprof wrote, as PyProf reads them. Both
describe two steps of one small network on an H200: a copy to the device, a convolution inside PyTorch's
and PyProf's ranges, its backward pass on another thread, a replayed graph and a synchronisation.

usage: make_sqlite_profiles.py [FOLDER]
"""

import pathlib
import sqlite3
import struct
import sys

PID, MAIN, AUTOGRAD = 4242, 4242, 4250
VM = 1 << 48
GLOBAL_PID = VM | PID << 24

CONV = ("{'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [{'name': '', 'type': 'tensor', 'shape': "
        "(32, 64, 56, 56), 'dtype': 'float16'}, {'name': '', 'type': 'tensor', 'shape': (64, 64, 3, 3), 'dtype': "
        "'float16'}, {'name': '', 'type': 'NoneType', 'value': None}, {'name': '', 'type': 'tuple', 'value': (1, 1)}, "
        "{'name': '', 'type': 'tuple', 'value': (1, 1)}, {'name': '', 'type': 'tuple', 'value': (1, 1)}, {'name': '', "
        "'type': 'int', 'value': 1}]}")
SIZES = "[[32, 64, 56, 56], [64, 64, 3, 3]]"
CONV_KERNEL = "sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_execute_kernel__5x_cudnn"
DGRAD_KERNEL = "sm90_xmma_dgrad_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_execute_kernel__5x_cudnn"
WGRAD_KERNEL = "sm90_xmma_wgrad_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_execute_kernel__5x_cudnn"
ADD_KERNEL = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_10AddFunctorIfEEEEvT0_"

# Ranges of a step: start and end in microseconds after its begin, thread, text.
RANGES = [
    (0, 900, MAIN, "step"),
    (10, 60, MAIN, "layer:stem"),
    (100, 300, MAIN, "layer:conv1"),
    (110, 290, MAIN, CONV),
    (120, 280, MAIN, f"aten::conv2d, seq = {{seq}}, op_id = 7, sizes = {SIZES}"),
    (400, 700, AUTOGRAD, "ConvolutionBackward0, seq = {seq}, op_id = 9, sizes = [[32, 64, 56, 56]]"),
]
# Calls: start and end, thread, name, number of the call in nvprof, what it puts on the device (kind, start,
# end, further facts), in microseconds.
CALLS = [
    (20, 50, MAIN, "cudaMemcpyAsync_v3020", 41, [("copy", 55, 95, 12845056)]),
    (130, 135, MAIN, "cudaLaunchKernel_v7000", 211, [("kernel", 150, 260, CONV_KERNEL)]),
    (140, 143, MAIN, "cudaMemsetAsync_v3020", 51, [("memset", 262, 264, 4096)]),
    (410, 415, AUTOGRAD, "cudaLaunchKernel_v7000", 211, [("kernel", 430, 530, DGRAD_KERNEL)]),
    (420, 424, AUTOGRAD, "cudaLaunchKernel_v7000", 211, [("kernel", 530, 650, WGRAD_KERNEL)]),
    (710, 720, MAIN, "cudaGraphLaunch_v10000", 311, [("node", 730, 740, ADD_KERNEL), ("node", 745, 760, ADD_KERNEL)]),
    (800, 880, MAIN, "cudaStreamSynchronize_v3020", 131, [("wait", 801, 879, 7)]),
]
STEPS = 2
STEP_NS = 1_000_000
DEVICE = dict(name="NVIDIA H200", major=9, minor=0, sms=132, memory=141 << 30, warp=32, warps=64, blocks=32,
              threads=1024, registers=65536, shared=233472)


def steps():
    """Yields, per step, its begin in nanoseconds and its number."""
    for step in range(STEPS):
        yield 1_000_000 + step * STEP_NS, step


class Strings:
    def __init__(self, first):
        self.ids, self.first = {}, first

    def __call__(self, text):
        return self.ids.setdefault(text, self.first + len(self.ids))


def create(path, tables):
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.execute("PRAGMA page_size = 1024")
    for name, columns in tables.items():
        database.execute(f"CREATE TABLE {name} ({columns})")
    return database


def insert(database, table, rows):
    rows = list(rows)
    marks = ", ".join("?" * len(rows[0]))
    database.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


NSYS_TABLES = {
    "StringIds": "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
    "META_DATA_EXPORT": "name TEXT NOT NULL, value TEXT",
    "TARGET_INFO_GPU": "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, totalMemory INTEGER, smCount INTEGER, "
                       "cuDevice INTEGER, maxRegistersPerBlock INTEGER, maxShmemPerSm INTEGER, maxRegistersPerSm INTEGER, "
                       "threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER, maxThreadsPerBlock INTEGER, "
                       "computeMajor INTEGER, computeMinor INTEGER",
    "PROCESSES": "globalPid INTEGER, pid INTEGER, name TEXT",
    "ThreadNames": "nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER",
    "ENUM_CUDA_MEMCPY_OPER": "id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT",
    "ENUM_CUDA_MEM_KIND": "id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT",
    "ENUM_CUPTI_SYNC_TYPE": "id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT",
    "ENUM_CUDA_DEV_MEM_EVENT_OPER": "id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid "
                                   "INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, "
                                   "callchainId INTEGER",
    "CUPTI_ACTIVITY_KIND_KERNEL": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId "
                                  "INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, "
                                  "globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName "
                                  "INTEGER, launchType INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, "
                                  "gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT "
                                  "NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory "
                                  "INTEGER NOT NULL, graphNodeId INTEGER, graphId INTEGER",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER "
                                  "NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER "
                                  "NOT NULL, copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER, graphNodeId INTEGER",
    "CUPTI_ACTIVITY_KIND_MEMSET": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER "
                                  "NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER "
                                  "NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId "
                                           "INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid "
                                           "INTEGER, syncType INTEGER NOT NULL, eventId INTEGER NOT NULL",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
                                       "graphId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, "
                                       "correlationId INTEGER, globalPid INTEGER",
    "CUDA_GPU_MEMORY_USAGE_EVENTS": "start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId "
                                    "INTEGER NOT NULL, address INTEGER NOT NULL, pc INTEGER NOT NULL, bytes INTEGER NOT NULL, "
                                    "memKind INTEGER NOT NULL, memoryOperationType INTEGER NOT NULL, name TEXT, correlationId "
                                    "INTEGER",
    "NVTX_EVENTS": "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color "
                   "INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value "
                   "INTEGER, int64Value INTEGER, doubleValue REAL",
    "OSRT_API": "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId "
                "INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, nestingLevel INTEGER, callchainId INTEGER NOT "
                "NULL",
}
MEMCPY = ["UNKNOWN", "HTOD", "DTOH", "HTOA", "ATOH", "ATOA", "ATOD", "DTOA", "DTOD", "HTOH", "PTOP", "UVM_HTOD",
          "UVM_DTOH", "UVM_DTOD"]
MEMORY = ["PAGEABLE", "PINNED", "DEVICE", "ARRAY", "MANAGED", "DEVICE_STATIC", "MANAGED_STATIC", "UNKNOWN"]
WAITS = ["UNKNOWN", "EVENT_SYNCHRONIZE", "STREAM_WAIT_EVENT", "STREAM_SYNCHRONIZE", "CONTEXT_SYNCHRONIZE"]


def global_tid(thread):
    return GLOBAL_PID | thread


def nsys_tables(strings):
    """Returns the rows of the tables with times."""
    rows = {name: [] for name in NSYS_TABLES}
    correlation = 100
    for begin, step in steps():
        def at(us):
            return begin + us * 1000
        for start, end, thread, text in RANGES:
            text = text.replace("{seq}", str(step))
            # PyTorch's texts are stored with their row, those of layers are registered.
            registered = text.startswith("layer:")
            rows["NVTX_EVENTS"].append((at(start), at(end), 59, None, None, None, None if registered else text,
                                        global_tid(thread), None, strings(text) if registered else None, 0, None, None,
                                        None))
        for start, end, thread, name, _, works in CALLS:
            correlation += 1
            rows["CUPTI_ACTIVITY_KIND_RUNTIME"].append((at(start), at(end), 0, global_tid(thread), correlation,
                                                        strings(name), 0, None))
            for index, (kind, first, last, fact) in enumerate(works):
                place = (at(first), at(last), 0, 1)
                if kind in ("kernel", "node"):
                    node = index + 501 if kind == "node" else None
                    rows["CUPTI_ACTIVITY_KIND_KERNEL"].append(place + (
                        None, 7, correlation, GLOBAL_PID, strings(demangled(fact)), strings(short(fact)),
                        strings(fact), 0, 128, 784, 1, 1, 256, 1, 1, 0, 98304 if kind == "kernel" else 0, node,
                        5 if node else None))
                elif kind == "copy":
                    rows["CUPTI_ACTIVITY_KIND_MEMCPY"].append(place + (7, correlation, GLOBAL_PID, fact, 1, 1, 2, None))
                elif kind == "memset":
                    rows["CUPTI_ACTIVITY_KIND_MEMSET"].append(place + (7, correlation, GLOBAL_PID, 0, fact, None, 2))
                else:
                    rows["CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"].append(place + (fact, correlation, GLOBAL_PID, 3, 0))
    add_nsys_extras(rows, strings)
    return rows


def demangled(name):
    if name != ADD_KERNEL:
        return name
    return "void at::native::vectorized_elementwise_kernel<(int)4, at::native::AddFunctor<float>>(T2)"


def short(name):
    return "vectorized_elementwise_kernel" if name == ADD_KERNEL else name


def add_nsys_extras(rows, strings):
    """Adds what happens once: a domain with a category, a range of the process, a mark, memory, a graph as a whole."""
    end = 1_000_000 + STEPS * STEP_NS
    main = global_tid(MAIN)

    def event(start, stop, kind, text, range_id=None, category=None, domain=0):
        rows["NVTX_EVENTS"].append((start, stop, kind, range_id, category, 0xff00ff00, text, main, main if kind == 60 else
                                    None, None, domain, None, None, None))
    event(1000, None, 75, "data", domain=3)
    event(2000, None, 33, "io", category=9, domain=3)
    event(1_100_000, 1_400_000, 60, "prefetch", range_id=1, category=9, domain=3)
    event(end, None, 34, "done")
    event(end + 1000, None, 59, "never ended")
    rows["CUDA_GPU_MEMORY_USAGE_EVENTS"] += [
        (900_000, GLOBAL_PID, 0, 1, 0x7f0000000000, 0, 25690112, 2, 0, None, None),
        (end + 2000, GLOBAL_PID, 0, 1, 0x7f0000000000, 0, 25690112, 2, 1, None, None)]
    rows["CUPTI_ACTIVITY_KIND_GRAPH_TRACE"].append((end + 3000, end + 53000, 0, 6, 1, 7, 999, GLOBAL_PID))
    rows["CUPTI_ACTIVITY_KIND_RUNTIME"].append((end + 2500, end + 2900, 0, main, 999, strings("cudaGraphLaunch_v10000"), 0,
                                                None))
    rows["OSRT_API"].append((500_000, 600_000, 27, main, 1, strings("poll"), 0, 0, 0))


def write_nsys(path):
    database = create(path, NSYS_TABLES)
    strings = Strings(1)
    rows = nsys_tables(strings)
    d = DEVICE
    rows["TARGET_INFO_GPU"] = [(VM, 0, d["name"], d["memory"], d["sms"], 0, d["registers"], d["shared"], d["registers"],
                                d["warp"], d["warps"], d["blocks"], d["threads"], d["major"], d["minor"])]
    rows["META_DATA_EXPORT"] = [("EXPORT_PRODUCT_VERSION", "2026.2.1.0 (made by hand)"),
                                ("EXPORT_SCHEMA_VERSION", "3.25.0")]
    rows["PROCESSES"] = [(GLOBAL_PID, PID, "/usr/bin/python3")]
    rows["ThreadNames"] = [(strings("python3"), 10, global_tid(MAIN)), (strings("pt_autograd_0"), 10,
                                                                         global_tid(AUTOGRAD))]
    rows["ENUM_CUDA_MEMCPY_OPER"] = [(i, f"CUDA_MEMCPY_KIND_{n}", n) for i, n in enumerate(MEMCPY)]
    rows["ENUM_CUDA_MEM_KIND"] = [(i, f"CUDA_MEMOPR_MEMORY_KIND_{n}", n) for i, n in enumerate(MEMORY)]
    rows["ENUM_CUPTI_SYNC_TYPE"] = [(i, f"CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_{n}", n) for i, n in enumerate(WAITS)]
    rows["ENUM_CUDA_DEV_MEM_EVENT_OPER"] = [(0, "CUDA_DEV_MEM_EVENT_OPR_ALLOCATION", "Allocation"),
                                            (1, "CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION", "Deallocation")]
    rows["StringIds"] = [(number, text) for text, number in strings.ids.items()]
    for table in NSYS_TABLES:
        insert(database, table, rows[table])
    database.commit()
    database.close()


KEY = "_id_ INTEGER PRIMARY KEY AUTOINCREMENT"
NVPROF_TABLES = {
    "StringTable": f"{KEY}, value TEXT NOT NULL UNIQUE",
    "Version": "version INTEGER",
    "CUPTI_ACTIVITY_KIND_MEMCPY": f"{KEY}, copyKind INT NOT NULL, srcKind INT NOT NULL, dstKind INT NOT NULL, flags INT NOT "
                                  "NULL, bytes INT NOT NULL, start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL, "
                                  "contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT NOT NULL, "
                                  "runtimeCorrelationId INT NOT NULL",
    "CUPTI_ACTIVITY_KIND_MEMSET": f"{KEY}, value INT NOT NULL, bytes INT NOT NULL, start INT NOT NULL, end INT NOT NULL, "
                                  "deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT NOT "
                                  "NULL, flags INT NOT NULL, memoryKind INT NOT NULL",
    "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL": f"{KEY}, registersPerThread INT NOT NULL, start INT NOT NULL, end INT NOT NULL, "
                                             "completed INT NOT NULL, deviceId INT NOT NULL, contextId INT NOT NULL, streamId "
                                             "INT NOT NULL, gridX INT NOT NULL, gridY INT NOT NULL, gridZ INT NOT NULL, blockX "
                                             "INT NOT NULL, blockY INT NOT NULL, blockZ INT NOT NULL, staticSharedMemory INT NOT "
                                             "NULL, dynamicSharedMemory INT NOT NULL, correlationId INT NOT NULL, gridId INT NOT "
                                             "NULL, name INT NOT NULL",
    "CUPTI_ACTIVITY_KIND_RUNTIME": f"{KEY}, cbid INT NOT NULL, start INT NOT NULL, end INT NOT NULL, processId INT NOT NULL, "
                                   "threadId INT NOT NULL, correlationId INT NOT NULL, returnValue INT NOT NULL",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": f"{KEY}, type INT NOT NULL, start INT NOT NULL, end INT NOT NULL, correlationId INT "
                                           "NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, cudaEventId INT NOT NULL",
    "CUPTI_ACTIVITY_KIND_MARKER": f"{KEY}, flags INT NOT NULL, timestamp INT NOT NULL, id INT NOT NULL, objectKind INT NOT "
                                  "NULL, objectId BLOB NOT NULL, name INT NOT NULL, domain INT NOT NULL",
    "CUPTI_ACTIVITY_KIND_DEVICE": f"{KEY}, flags INT NOT NULL, globalMemorySize INT NOT NULL, numMultiprocessors INT NOT NULL, "
                                  "numThreadsPerWarp INT NOT NULL, maxRegistersPerBlock INT NOT NULL, "
                                  "maxRegistersPerMultiprocessor INT NOT NULL, maxSharedMemoryPerMultiprocessor INT NOT NULL, "
                                  "maxThreadsPerBlock INT NOT NULL, maxWarpsPerMultiprocessor INT NOT NULL, "
                                  "maxBlocksPerMultiprocessor INT NOT NULL, computeCapabilityMajor INT NOT NULL, "
                                  "computeCapabilityMinor INT NOT NULL, id INT NOT NULL, name INT NOT NULL",
}
EPOCH = 1_600_000_000_000_000_000  # nvprof's times are those of the system
POINTER = 0x7f0000000000  # upper bits of the number of a thread in POSIX's interface


def object_id(thread):
    return struct.pack("<IQ", PID, POINTER | thread)


def signed(number):
    """nvprof stores the lower 32 bits of a thread as a signed number."""
    low = number & 0xffffffff
    return low - (1 << 32) if low >= 1 << 31 else low


def nvprof_markers(strings):
    """Yields the rows of the markers of all steps, in the order of time."""
    rows, number = [], 0
    for begin, step in steps():
        for start, end, thread, text in RANGES:
            number += 1
            name = strings(text.replace("{seq}", str(step)))
            rows.append((2, EPOCH + begin + start * 1000, number, 2, object_id(thread), name, 0))
            rows.append((4, EPOCH + begin + end * 1000, number, 2, object_id(thread), 0, 0))
    end = EPOCH + 1_000_000 + STEPS * STEP_NS
    rows.append((2, EPOCH + 1_100_000, 1000, 1, object_id(MAIN), strings("prefetch"), strings("data")))
    rows.append((4, EPOCH + 1_400_000, 1000, 1, object_id(MAIN), 0, strings("data")))
    rows.append((1, end, 1001, 2, object_id(MAIN), strings("done"), 0))
    return sorted(rows, key=lambda row: row[1])


def write_nvprof(path):
    database = create(path, NVPROF_TABLES)
    strings = Strings(1)
    rows = {name: [] for name in NVPROF_TABLES}
    correlation = 100
    for begin, _ in steps():
        def at(us):
            return EPOCH + begin + us * 1000
        for start, end, thread, _, cbid, works in CALLS:
            correlation += 1
            rows["CUPTI_ACTIVITY_KIND_RUNTIME"].append((cbid, at(start), at(end), PID, signed(POINTER | thread), correlation,
                                                        0))
            for kind, first, last, fact in works:
                if kind in ("kernel", "node"):
                    rows["CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"].append((
                        128, at(first), at(last), at(last), 0, 1, 7, 784, 1, 1, 256, 1, 1, 0,
                        98304 if kind == "kernel" else 0, correlation, 1, strings(fact)))
                elif kind == "copy":
                    rows["CUPTI_ACTIVITY_KIND_MEMCPY"].append((1, 2, 3, 0, fact, at(first), at(last), 0, 1, 7, correlation, 0))
                elif kind == "memset":
                    rows["CUPTI_ACTIVITY_KIND_MEMSET"].append((0, fact, at(first), at(last), 0, 1, 7, correlation, 0, 3))
                else:
                    rows["CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"].append((3, at(first), at(last), correlation, 1, fact, 0))
    rows["CUPTI_ACTIVITY_KIND_MARKER"] = nvprof_markers(strings)
    d = DEVICE
    rows["CUPTI_ACTIVITY_KIND_DEVICE"] = [(0, d["memory"], d["sms"], d["warp"], d["registers"], d["registers"], d["shared"],
                                           d["threads"], d["warps"], d["blocks"], d["major"], d["minor"], 0,
                                           strings(d["name"]))]
    for table, columns in rows.items():
        if columns:
            insert(database, table, [(None,) + row for row in columns])
    insert(database, "StringTable", [(number, text) for text, number in strings.ids.items()])
    insert(database, "Version", [(11,)])
    database.commit()
    database.close()


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    write_nsys(folder / "nsys.sqlite")
    write_nvprof(folder / "nvprof.sqlite")


if __name__ == "__main__":
    main()
