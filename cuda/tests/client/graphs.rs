//! Graphs, made by hand and captured.

use crate::COUNTER;
use crate::library::{Context, allocate, download, function, global, launch, module, null, param, upload};
use std::ffi::c_void;

#[repr(C)]
struct KernelParams {
    function: u64,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    params: *mut *mut c_void,
    extra: *mut c_void,
}

#[test]
fn a_graph_by_hand() {
    let context = Context::new();
    let module = module(COUNTER);
    let (kernel, (counter, _)) = (function(module, "count"), global(module, "counter"));
    let times = std::cell::Cell::new(3u32);
    let mut list: [*mut c_void; 1] = [times.as_ptr().cast()];
    let mut params = KernelParams {
        function: kernel,
        grid: [1; 3],
        block: [2, 1, 1],
        shared: 0,
        params: list.as_mut_ptr(),
        extra: null(),
    };
    let (mut graph, mut exec, mut first, mut second) = (0u64, 0u64, 0u64, 0u64);
    assert_eq!(cu!(cuGraphCreate(&mut graph, 0u32)), 0);
    // The place, the pitch, the value and its size, values of a row, rows.
    let mut fill = [counter, 0, 100 | 4 << 32, 1, 1u64];
    assert_eq!(cu!(cuGraphAddMemsetNode(&mut first, graph, null(), 0usize, &mut fill, context.0)), 0);
    assert_eq!(cu!(cuGraphAddKernelNode(&mut second, graph, &mut first, 1usize, &mut params)), 0);
    times.set(1000);
    assert_eq!(cu!(cuGraphInstantiate_v2(&mut exec, graph, null(), null(), 0usize)), 0);
    assert_eq!((cu!(cuGraphLaunch(exec, 0u64)), cu!(cuGraphLaunch(exec, 0u64))), (0, 0));
    assert_eq!(download::<u32>(counter, 1), [106], "parameters are those of the call");
    times.set(7);
    assert_eq!(cu!(cuGraphExecKernelNodeSetParams(exec, second, &mut params)), 0);
    assert_eq!(cu!(cuGraphLaunch(exec, 0u64)), 0);
    assert_eq!(download::<u32>(counter, 1), [114]);
    let (mut kind, mut count) = (9u32, 0usize);
    assert_eq!((cu!(cuGraphNodeGetType(second, &mut kind)), kind), (0, 0));
    assert_eq!((cu!(cuGraphGetNodes(graph, null(), &mut count)), count), (0, 2));
    // A circle is refused and leaves the graph as it was.
    assert_eq!(cu!(cuGraphAddDependencies(graph, &mut second, &mut first, 1usize)), 1);
    assert_eq!(cu!(cuGraphInstantiate_v2(&mut exec, graph, null(), null(), 0usize)), 0);
    assert_eq!(cu!(cuGraphNodeSetEnabled(exec, second, 0u32)), 0);
    assert_eq!(cu!(cuGraphLaunch(exec, 0u64)), 0);
    assert_eq!(download::<u32>(counter, 1), [100]);
    assert_eq!((cu!(cuGraphExecDestroy(exec)), cu!(cuGraphDestroy(graph))), (0, 0));
    assert_eq!(cu!(cuGraphNodeGetType(second, &mut kind)), 1, "a node of a graph that is gone");
}

#[test]
fn a_capture_of_two_streams() {
    let _context = Context::new();
    let module = module(COUNTER);
    let (kernel, (counter, _)) = (function(module, "count"), global(module, "counter"));
    let (mut main, mut side, mut fork, mut join) = (0u64, 0u64, 0u64, 0u64);
    assert_eq!((cu!(cuStreamCreate(&mut main, 1u32)), cu!(cuStreamCreate(&mut side, 1u32))), (0, 0));
    assert_eq!((cu!(cuEventCreate(&mut fork, 2u32)), cu!(cuEventCreate(&mut join, 2u32))), (0, 0));
    assert_eq!(cu!(cuStreamBeginCapture_v2(main, 0u32)), 0);
    let mut times = 1u32;
    assert_eq!(launch(kernel, 1, 1, main, &mut [param(&mut times)]), 0);
    assert_eq!((cu!(cuEventRecord(fork, main)), cu!(cuStreamWaitEvent(side, fork, 0u32))), (0, 0));
    assert_eq!(launch(kernel, 1, 2, side, &mut [param(&mut times)]), 0);
    assert_eq!(launch(kernel, 1, 4, main, &mut [param(&mut times)]), 0);
    assert_eq!((cu!(cuEventRecord(join, side)), cu!(cuStreamWaitEvent(main, join, 0u32))), (0, 0));
    assert_eq!(cu!(cuEventQuery(join)), 907);
    let (mut status, mut graph, mut exec, mut count) = (9u32, 0u64, 0u64, 0usize);
    assert_eq!((cu!(cuStreamIsCapturing(side, &mut status)), status), (0, 1));
    assert_eq!(cu!(cuStreamEndCapture(side, &mut graph)), 903);
    assert_eq!(cu!(cuStreamEndCapture(main, &mut graph)), 0);
    assert_eq!((cu!(cuStreamIsCapturing(side, &mut status)), status), (0, 0));
    assert_eq!((cu!(cuGraphGetNodes(graph, null(), &mut count)), count), (0, 3));
    assert_eq!((cu!(cuGraphGetEdges(graph, null(), null(), &mut count)), count), (0, 2));
    assert_eq!(download::<u32>(counter, 1), [0], "nothing was done while it was captured");
    for flags in [0x10u64, 5] {
        assert_eq!(cu!(cuGraphInstantiateWithFlags(&mut exec, graph, flags)), 1, "{flags}");
    }
    assert_eq!(cu!(cuGraphInstantiateWithFlags(&mut exec, graph, 0u64)), 0);
    assert_eq!((cu!(cuGraphLaunch(exec, main)), cu!(cuStreamSynchronize(main))), (0, 0));
    assert_eq!(download::<u32>(counter, 1), [7]);
}

#[test]
fn what_cannot_be_captured_spoils_the_capture() {
    let _context = Context::new();
    let (mut stream, mut graph) = (0u64, 0u64);
    assert_eq!(cu!(cuStreamCreate(&mut stream, 1u32)), 0);
    assert_eq!(cu!(cuStreamBeginCapture_v2(stream, 2u32)), 0);
    assert_eq!(cu!(cuStreamBeginCapture_v2(stream, 2u32)), 401);
    assert_eq!(cu!(cuStreamSynchronize(stream)), 900);
    let address = allocate(4);
    assert_eq!(cu!(cuMemsetD8Async(address, 1u8, 4usize, stream)), 901);
    assert_eq!(cu!(cuStreamEndCapture(stream, &mut graph)), 901);
    assert_eq!((cu!(cuStreamEndCapture(stream, &mut graph)), graph), (401, 0));
    assert_eq!(cu!(cuStreamBeginCapture_v2(0u64, 0u32)), 900, "the legacy stream");
    assert_eq!(download::<u32>(upload(&[5u32]), 1), [5]);
}

#[test]
fn the_work_of_a_kernel_node_is_told() {
    let _context = Context::new();
    let (mut graph, mut node, mut times) = (0u64, 0u64, 3u32);
    let module = module(COUNTER);
    let kernel = function(module, "count");
    let mut params = [param(&mut times)];
    // `CUDA_KERNEL_NODE_PARAMS`: the function, grid and block, shared memory, parameters, `extra`.
    let place = params.as_mut_ptr().expose_provenance() as u64;
    let given = [kernel, 2 | 1 << 32, 1 | 32 << 32, 1 | 1 << 32, 0, place, 0, 0, 0];
    assert_eq!(cu!(cuGraphCreate(&mut graph, 0u32)), 0);
    assert_eq!(cu!(cuGraphAddKernelNode_v2(&mut node, graph, 0u64, 0usize, given.as_ptr())), 0);
    times = 100;
    let mut told = [7u64; 9];
    assert_eq!(cu!(cuGraphKernelNodeGetParams_v2(node, &mut told)), 0);
    assert_eq!(told[..4], given[..4]);
    // The upper half is padding.
    assert_eq!(told[4] as u32, given[4] as u32);
    // The value is that of when the node was made.
    let list = std::ptr::with_exposed_provenance::<u64>(told[5] as usize);
    // SAFETY: a list of one pointer, which the node has.
    let value = unsafe { std::ptr::with_exposed_provenance::<u32>(list.read() as usize).read() };
    assert_eq!((value, times), (3, 100));
    assert_eq!(cu!(cuGraphKernelNodeGetParams_v2(0u64, &mut told)), 1);
}

#[test]
fn nodes_by_one_structure() {
    let _context = Context::new();
    let module = module(COUNTER);
    let (kernel, (counter, _)) = (function(module, "count"), global(module, "counter"));
    let (mut graph, mut first, mut second, mut exec, mut times) = (0u64, 0u64, 0u64, 0u64, 3u32);
    assert_eq!(cu!(cuGraphCreate(&mut graph, 0u32)), 0);
    // `CUgraphNodeParams`: the kind, what is reserved, then what the kind needs.
    let mut fill = [0u64; 32];
    (fill[0], fill[2], fill[4], fill[5], fill[6]) = (2, counter, 5 | 4 << 32, 1, 1);
    let mut params = [param(&mut times)];
    let mut launch = [0u64; 32];
    (launch[2], launch[3], launch[4], launch[5]) = (kernel, 2 | 1 << 32, 1 | 32 << 32, 1 | 1 << 32);
    launch[7] = params.as_mut_ptr().expose_provenance() as u64;
    let nothing = null();
    assert_eq!(cu!(cuGraphAddNode(&mut first, graph, nothing, 0usize, fill.as_ptr())), 0);
    let after = [first];
    assert_eq!(
        cu!(cuGraphAddNode_v2(&mut second, graph, after.as_ptr(), nothing, 1usize, launch.as_ptr())),
        0
    );
    assert_eq!(cu!(cuGraphInstantiateWithFlags(&mut exec, graph, 0u64)), 0);
    assert_eq!((cu!(cuGraphLaunch(exec, 0u64)), cu!(cuCtxSynchronize())), (0, 0));
    assert_eq!(download::<u32>(counter, 1), [5 + 64 * 3]);
    times = 1;
    assert_eq!(cu!(cuGraphExecNodeSetParams(exec, second, launch.as_ptr())), 0);
    assert_eq!(cu!(cuGraphExecNodeSetParams(exec, first, launch.as_ptr())), 1, "a node of another kind");
    assert_eq!((cu!(cuGraphLaunch(exec, 0u64)), cu!(cuCtxSynchronize())), (0, 0));
    assert_eq!(download::<u32>(counter, 1), [5 + 64 * times]);
    for (kind, answer) in [(13, 801), (99, 1)] {
        fill[0] = kind;
        assert_eq!(cu!(cuGraphAddNode(&mut first, graph, nothing, 0usize, fill.as_ptr())), answer);
    }
    assert_eq!(cu!(cuGraphAddNode(&mut first, graph, nothing, 0usize, nothing)), 1);
    assert_eq!(cu!(cuGraphNodeSetParams(second, nothing)), 1);
}
