"""cuda.core, through our libcuda: programs, linkers, launches, memory, streams, events, graphs. The package brings no tests to PyPI."""

import unittest

import numpy as np
from cuda.core import (
    Device,
    EventOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ObjectCode,
    Program,
    ProgramOptions,
    StreamOptions,
    launch,
)
from cuda.bindings import driver

SAXPY = r"""
template <typename T>
__global__ void saxpy(T a, const T *x, const T *y, T *out, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) out[i] = a * x[i] + y[i];
}
extern "C" __global__ void count(unsigned *counter) { atomicAdd(counter, 1u); }
extern "C" __global__ void past(unsigned *place) { place[1 << 20] = 1; }
"""


def array(buffer, dtype, count):
    """What is in memory that the host can reach."""
    return np.from_dlpack(buffer).view(dtype)[:count]


class Core(unittest.TestCase):
    def setUp(self):
        self.device = Device(0)
        self.device.set_current()
        self.stream = self.device.create_stream()

    def compile(self, *names):
        options = ProgramOptions(std="c++17", arch=f"compute_{self.device.arch}")
        program = Program(SAXPY, code_type="c++", options=options)
        return program.compile("ptx", name_expressions=names)

    def pinned(self, values):
        buffer = LegacyPinnedMemoryResource().allocate(values.nbytes, stream=self.stream)
        array(buffer, values.dtype, values.size)[:] = values
        return buffer

    def test_device(self):
        properties = self.device.properties
        self.assertEqual(self.device.compute_capability, (9, 0))
        self.assertEqual(properties.warp_size, 32)
        self.assertEqual(properties.max_threads_per_block, 1024)
        self.assertTrue(self.device.name)
        self.assertEqual(len(self.device.uuid), 36)

    def test_template(self):
        module = self.compile("saxpy<float>", "saxpy<double>")
        count = 1000
        for dtype, name in [(np.float32, "saxpy<float>"), (np.float64, "saxpy<double>")]:
            x, y = np.arange(count, dtype=dtype), np.full(count, 0.5, dtype)
            buffers = [self.pinned(values) for values in [x, y, np.zeros_like(x)]]
            kernel = module.get_kernel(name)
            launch(self.stream, LaunchConfig(grid=4, block=64), kernel, dtype(3), *buffers, np.uint64(count))
            self.stream.sync()
            np.testing.assert_array_equal(array(buffers[2], dtype, count), 3 * x + y)
            for buffer in buffers:
                buffer.close(self.stream)

    def test_kernel(self):
        kernel = self.compile().get_kernel("count")
        attributes = kernel.attributes
        self.assertEqual(attributes.max_threads_per_block, 1024)
        self.assertGreater(attributes.num_regs, 0)
        self.assertEqual(kernel.num_arguments, 1)
        self.assertGreater(kernel.occupancy.max_active_blocks_per_multiprocessor(128, 0), 0)

    def test_copies(self):
        values = np.arange(256, dtype=np.uint32)
        source, target = self.pinned(values), self.pinned(np.zeros_like(values))
        between = self.device.allocate(values.nbytes, stream=self.stream)
        between.copy_from(source, stream=self.stream)
        between.copy_to(target, stream=self.stream)
        self.stream.sync()
        np.testing.assert_array_equal(array(target, np.uint32, 256), values)
        self.assertTrue(between.is_device_accessible)
        between.close(self.stream)

    def test_events(self):
        timed = EventOptions(timing_enabled=True)
        kernel = self.compile().get_kernel("count")
        counter = self.pinned(np.zeros(1, np.uint32))
        start = self.stream.record(options=timed)
        launch(self.stream, LaunchConfig(grid=3, block=32), kernel, counter)
        end = self.stream.record(options=timed)
        end.sync()
        self.assertTrue(end.is_done)
        self.assertGreaterEqual(end - start, 0)
        self.assertEqual(array(counter, np.uint32, 1)[0], 96)

    def test_two_streams(self):
        kernel = self.compile().get_kernel("count")
        counter = self.pinned(np.zeros(1, np.uint32))
        other = self.device.create_stream(options=StreamOptions(nonblocking=True))
        launch(self.stream, LaunchConfig(grid=1, block=32), kernel, counter)
        other.wait(self.stream)
        launch(other, LaunchConfig(grid=1, block=32), kernel, counter)
        other.sync()
        self.assertEqual(array(counter, np.uint32, 1)[0], 64)

    def test_graph(self):
        kernel = self.compile().get_kernel("count")
        counter = self.pinned(np.zeros(1, np.uint32))
        builder = self.device.create_graph_builder().begin_building()
        for _ in range(3):
            launch(builder, LaunchConfig(grid=1, block=32), kernel, counter)
        graph = builder.end_building().complete()
        self.assertEqual(array(counter, np.uint32, 1)[0], 0)
        for _ in range(2):
            graph.launch(self.stream)
        self.stream.sync()
        self.assertEqual(array(counter, np.uint32, 1)[0], 192)

    def test_linker(self):
        def part(text):
            options = ProgramOptions(relocatable_device_code=True, arch=f"compute_{self.device.arch}")
            return Program(text, code_type="c++", options=options).compile("ptx")

        caller = part('extern __device__ int twice(int); extern "C" __global__ void k(int *out) { *out = twice(21); }')
        callee = part("__device__ int twice(int x) { return 2 * x; }")
        linked = Linker(caller, callee, options=LinkerOptions(arch=f"sm_{self.device.arch}")).link("cubin")
        out = self.pinned(np.zeros(1, np.int32))
        launch(self.stream, LaunchConfig(grid=1, block=1), linked.get_kernel("k"), out)
        self.stream.sync()
        self.assertEqual(array(out, np.int32, 1)[0], 42)

    def test_refusals(self):
        with self.assertRaises(Exception) as refused:
            ObjectCode.from_ptx(b".version 8.0\n.target sm_90\n.address_size 64\n.entry k() { nonsense; }").get_kernel("k")
        self.assertIn("CUDA_ERROR_INVALID_PTX", str(refused.exception))
        with self.assertRaises(Exception) as refused:
            self.compile().get_kernel("nothing")
        self.assertIn("CUDA_ERROR_NOT_FOUND", str(refused.exception))

    def test_fault(self):
        kernel = self.compile().get_kernel("past")
        place = self.device.allocate(4, stream=self.stream)
        with self.assertRaises(Exception) as failed:
            launch(self.stream, LaunchConfig(grid=1, block=1), kernel, place)
            self.stream.sync()
        self.assertIn("CUDA_ERROR_ILLEGAL_ADDRESS", str(failed.exception))
        # The fault is the launch's own: the context can still be used.
        self.assertEqual(driver.cuCtxSynchronize()[0], driver.CUresult.CUDA_SUCCESS)


if __name__ == "__main__":
    unittest.main()
