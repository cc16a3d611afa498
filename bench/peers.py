#!/usr/bin/env python3
"""Times what Python users have in place of the kernels (numpy, torch) on ResNet-50's gradient, one thread, CPU time.

usage: bench/peers.py YARDSTICK.so [--repeats N] [--only TEXT]

YARDSTICK.so is the C++ benchmark's own read pass (build/release/bench/yardstick.so); it runs before every call, so that each row has
its ratio to what the memory gave at that moment. Prints JSON: {"versions": {...}, "skipped": {...}, "peers": [{"name", "seconds",
"reads", "spread"}, ...]}, medians. Libraries that are not installed are skipped, with a word.
"""
import argparse
import ctypes
import json
import math
import os
import pathlib
import statistics
import sys
import time

# One thread; memory that was touched once stays, since fresh pages would cost more than the work.
QUIET = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "MALLOC_MMAP_MAX_": "0",
         "MALLOC_TRIM_THRESHOLD_": "100000000000", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
MODEL = pathlib.Path(__file__).parents[1] / "profiles" / "models" / "resnet50.json"
SHARES = {"0.1%": 0.001, "1%": 0.01, "10%": 0.1}


def shapes():
    """(rows, columns) of every tensor."""
    texts = [dims for _, dims, *_ in json.loads(MODEL.read_text())["tensors"]]
    return [(int(first), math.prod(map(int, rest))) for first, *rest in (text.split("x") for text in texts)]


def made_gradient(np):
    rng = np.random.default_rng(1)
    parts = []
    for rows, columns in shapes():
        scale = 3e-5 * (1e-2 / 3e-5) ** rng.random()
        parts.append(rng.standard_normal(rows * columns, dtype=np.float32) * np.float32(scale))
    return np.concatenate(parts)


class Bench:
    def __init__(self, np, yardstick, repeats, only):
        self.repeats, self.only, self.peers, self.skipped = repeats, only, [], {}
        self.gradient = made_gradient(np)
        read = ctypes.CDLL(str(yardstick)).breakeven_read_pass
        read.argtypes, read.restype = (ctypes.c_void_p, ctypes.c_size_t), ctypes.c_float
        self.read = lambda: read(self.gradient.ctypes.data, self.gradient.size)

    def time(self, name, call, slow=False):
        if self.only not in name:
            return
        reads, calls = [], []
        try:
            for _ in range(1 + (3 if slow else self.repeats)):  # the first is thrown away: it touches the memory
                begin = time.thread_time()
                self.read()
                middle = time.thread_time()
                call()
                calls.append(time.thread_time() - middle)
                reads.append(middle - begin)
        except (RuntimeError, NotImplementedError, MemoryError) as error:
            self.skipped[name] = str(error).splitlines()[0]
            return
        seconds, read = statistics.median(calls[1:]), statistics.median(reads[1:])
        self.peers.append({"name": name, "seconds": seconds, "reads": seconds / read,
                           "spread": statistics.pstdev(calls[1:]) / statistics.mean(calls[1:])})


def numpy_peers(bench, np):
    x = bench.gradient
    magnitude, half = np.abs(x), np.empty(x.size, np.float16)
    for name, share in SHARES.items():
        k = int(share * x.size)
        bench.time(f"numpy argpartition:ratio={name}", lambda: np.argpartition(magnitude, x.size - k), slow=True)
    bits = np.packbits(x >= 0)
    signs = np.empty(x.size, np.float32)

    def unpack():
        np.multiply(np.unpackbits(bits, count=x.size), np.float32(2), out=signs)
        np.subtract(signs, np.float32(1), out=signs)

    def vote():
        votes = np.zeros(x.size, np.uint8)
        for _ in range(8):
            votes += np.unpackbits(bits, count=x.size)
        return np.packbits(votes >= 4)

    bench.time("numpy packbits", lambda: np.packbits(x >= 0))
    bench.time("numpy unpackbits", unpack)
    bench.time("numpy majority of 8", vote, slow=True)
    bench.time("numpy astype float16", lambda: np.copyto(half, x, casting="same_kind"), slow=True)


def sparse_peers(bench, torch, x):
    n = x.numel()
    magnitude, dense = x.abs(), torch.zeros_like(x)
    for name, share in SHARES.items():
        k = int(share * n)
        bench.time(f"torch.topk:ratio={name}", lambda: torch.topk(magnitude, k, sorted=False), slow=True)
        bench.time(f"torch randint+gather:ratio={name}", lambda: x[torch.randint(0, n, (k,))])
        index = torch.topk(magnitude, k, sorted=False).indices
        values = x[index]
        bench.time(f"torch zero+scatter:ratio={name}", lambda: dense.zero_().scatter_(0, index, values))
        bench.time(f"torch index_add of one more:ratio={name}", lambda: dense.index_add_(0, index, values))


def quantiser_peers(bench, torch, x):
    """With torch's own operators, as the published Python implementations are written."""
    n = x.numel()
    error = torch.zeros_like(x)
    for name, dtype in (("float16", torch.float16), ("bfloat16", torch.bfloat16)):
        small, back = torch.empty(n, dtype=dtype), torch.empty_like(x)
        bench.time(f"torch copy to {name}", lambda: small.copy_(x))
        bench.time(f"torch copy from {name}", lambda: back.copy_(small))

    def sign_with_feedback():
        kept = x + error
        positive = kept >= 0
        scale = kept.abs().mean()
        error.copy_(kept - (positive * (2 * scale) - scale))
        return positive

    def qsgd(bucket=512, levels=127):
        rows = x[: n // bucket * bucket].view(-1, bucket)
        level = rows.abs() * (levels / rows.norm(dim=1, keepdim=True))
        floor = level.floor()
        return ((floor + (torch.rand_like(level) < level - floor)) * rows.sign()).to(torch.int8)

    def terngrad():
        magnitude = x.abs()
        return ((torch.rand_like(x) * magnitude.max() < magnitude) * x.sign()).to(torch.int8)

    def int8_blocks(block=512):
        rows = x[: n // block * block].view(-1, block)
        low, high = rows.amin(dim=1, keepdim=True), rows.amax(dim=1, keepdim=True)
        return ((rows - low) * (255 / (high - low))).round_().to(torch.uint8)

    quantised = torch.quantize_per_tensor(x, 1e-4, 0, torch.qint8)
    bench.time("torch sign with feedback", sign_with_feedback, slow=True)
    bench.time("torch quantize_per_tensor", lambda: torch.quantize_per_tensor(x, 1e-4, 0, torch.qint8), slow=True)
    bench.time("torch dequantize", quantised.dequantize, slow=True)
    bench.time("torch int8 blocks", int8_blocks, slow=True)
    bench.time("torch quint4x2", lambda: torch.quantize_per_channel(
        x[: n // 512 * 512].view(-1, 512), torch.full((n // 512,), 1e-4), torch.zeros(n // 512), 0, torch.quint4x2), slow=True)
    bench.time("torch qsgd:bucket=512", qsgd, slow=True)
    bench.time("torch terngrad", terngrad, slow=True)


def low_rank_peers(bench, torch, x):
    """The products and the orthogonalisation of powerSGD_hook, without its error feedback."""
    torch.matmul(torch.ones(64, 64), torch.ones(64, 4))
    if not any(blas in pathlib.Path("/proc/self/maps").read_text() for blas in ("openblas", "mkl", "blis")):
        bench.skipped["torch PowerSGD"] = "torch has the reference BLAS here, which nobody trains with (libopenblas0 replaces it)"
        return
    for rank in (1, 4, 8, 16):
        matrices, first = [], 0
        for rows, columns in shapes():
            size = rows * columns
            if min(rows, columns) > 1 and (rows + columns) * rank * 2 < size:
                matrices.append((x[first:first + size].view(rows, columns), torch.empty(rows, rank), torch.randn(columns, rank),
                                 torch.empty(rows, columns)))
            first += size

        def step():
            for m, p, q, out in matrices:  # every P is sent before the first Q
                torch.matmul(m, q, out=p)
            for m, p, q, out in matrices:
                torch.linalg.qr(p, out=(p, torch.empty(rank, rank)))
                torch.matmul(m.t(), p, out=q)
            for m, p, q, out in matrices:
                torch.matmul(p, q.t(), out=out)

        bench.time(f"torch PowerSGD:rank={rank}", step)


def main():
    parser = argparse.ArgumentParser(description="Times numpy and torch beside a read pass.")
    parser.add_argument("yardstick", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if any(os.environ.get(key) != value for key, value in QUIET.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **QUIET})
    versions = {"python": ".".join(map(str, sys.version_info[:3]))}
    try:
        import numpy as np
    except ImportError:
        print(json.dumps({"versions": versions, "skipped": {"numpy": "not installed"}, "peers": []}))
        return
    bench = Bench(np, arguments.yardstick.resolve(), arguments.repeats, arguments.only)
    versions["numpy"] = np.__version__
    numpy_peers(bench, np)
    try:
        import torch
        versions["torch"] = torch.__version__
        torch.set_num_threads(1)
        x = torch.from_numpy(bench.gradient)
        with torch.no_grad():
            for peers in (sparse_peers, quantiser_peers, low_rank_peers):
                peers(bench, torch, x)
    except ImportError:
        bench.skipped["torch"] = "not installed"
    json.dump({"versions": versions, "skipped": bench.skipped, "peers": bench.peers}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
