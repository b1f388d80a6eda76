"""Triton's compiler and launcher, through our libcuda and without torch. `TRITON_PTXAS_PATH` names a script that gives PTX back as it is."""

import ctypes
import unittest

import numpy as np
import triton
import triton.language as tl

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code:
        raise RuntimeError(f"{name} answers {code}")


class Tensor:
    """What the launcher asks of a tensor: where it is, and of which type."""

    def __init__(self, values):
        self.dtype, self.shape = values.dtype.name, values.shape
        self.host, self.device = values, ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(self.device), ctypes.c_size_t(values.nbytes))
        call("cuMemcpyHtoD_v2", self.device, values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(values.nbytes))

    def data_ptr(self):
        return self.device.value

    def numpy(self):
        values = np.empty_like(self.host)
        call("cuMemcpyDtoH_v2", values.ctypes.data_as(ctypes.c_void_p), self.device, ctypes.c_size_t(values.nbytes))
        return values


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    values = tl.load(x + row + at, mask=at < columns, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row + at, values / tl.sum(values, axis=0), mask=at < columns)


@triton.jit
def product(a, b, c, K: tl.constexpr, BLOCK: tl.constexpr):
    i, j = tl.arange(0, BLOCK), tl.arange(0, BLOCK)
    sum = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, K, BLOCK):
        left = tl.load(a + i[:, None] * K + k + j[None, :])
        right = tl.load(b + (k + i)[:, None] * BLOCK + j[None, :])
        sum += tl.dot(left, right)
    tl.store(c + i[:, None] * BLOCK + j[None, :], sum)


@triton.jit
def histogram(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + tl.load(x + at, mask=at < n, other=0), 1, mask=at < n)


@triton.jit
def scan(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), axis=0))


class Launcher(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(1)

    def test_add(self):
        n = 1000
        x, y = (Tensor(self.random.random(n, np.float32)) for _ in range(2))
        out = Tensor(np.zeros(n, np.float32))
        add[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256)
        np.testing.assert_array_equal(out.numpy(), x.host + y.host)

    def test_softmax(self):
        rows, columns = 7, 200
        x, out = Tensor(self.random.random((rows, columns), np.float32)), Tensor(np.zeros((rows, columns), np.float32))
        softmax[(rows,)](x, out, columns, BLOCK=256)
        wanted = np.exp(x.host - x.host.max(axis=1, keepdims=True))
        np.testing.assert_allclose(out.numpy(), wanted / wanted.sum(axis=1, keepdims=True), rtol=1e-5)

    def test_product(self):
        size, depth = 64, 128
        a = Tensor(self.random.integers(-4, 5, (size, depth)).astype(np.float16))
        b = Tensor(self.random.integers(-4, 5, (depth, size)).astype(np.float16))
        for warps in [1, 4]:
            c = Tensor(np.zeros((size, size), np.float32))
            product[(1,)](a, b, c, K=depth, BLOCK=size, num_warps=warps)
            np.testing.assert_array_equal(c.numpy(), a.host.astype(np.float32) @ b.host.astype(np.float32))

    def test_histogram(self):
        x, out = Tensor(self.random.integers(0, 10, 3000).astype(np.int32)), Tensor(np.zeros(10, np.int32))
        histogram[(6,)](x, out, 3000, BLOCK=512)
        np.testing.assert_array_equal(out.numpy(), np.bincount(x.host, minlength=10))

    def test_scan(self):
        x, out = Tensor(self.random.integers(-9, 10, 1024).astype(np.int32)), Tensor(np.zeros(1024, np.int32))
        scan[(1,)](x, out, BLOCK=1024)
        np.testing.assert_array_equal(out.numpy(), np.cumsum(x.host))


if __name__ == "__main__":
    # The launcher uses the context that is there.
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    unittest.main()
