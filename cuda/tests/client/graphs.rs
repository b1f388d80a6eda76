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
    let mut got = [7u64; 9];
    assert_eq!(cu!(cuGraphKernelNodeGetParams_v2(node, &mut got)), 0);
    assert_eq!(got[..4], given[..4]);
    // The upper half is padding.
    assert_eq!(got[4] as u32, given[4] as u32);
    // The value is that of when the node was made.
    let list = std::ptr::with_exposed_provenance::<u64>(got[5] as usize);
    // SAFETY: a list of one pointer, which the node has.
    let value = unsafe { std::ptr::with_exposed_provenance::<u32>(list.read() as usize).read() };
    assert_eq!((value, times), (3, 100));
    assert_eq!(cu!(cuGraphKernelNodeGetParams_v2(0u64, &mut got)), 1);
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

/// `CUDA_MEM_ALLOC_NODE_PARAMS` for memory of the first device.
fn allocation(bytes: u64) -> [u64; 15] {
    let mut params = [0u64; 15];
    (params[0], params[1], params[13]) = (1, 1, bytes);
    params
}

#[test]
fn memory_of_a_graph() {
    let _context = Context::new();
    let (mut graph, mut first, mut fill_node, mut free, mut exec) = (0u64, 0u64, 0u64, 0u64, 0u64);
    assert_eq!(cu!(cuGraphCreate(&mut graph, 0u32)), 0);
    let mut params = allocation(16);
    assert_eq!(cu!(cuGraphAddMemAllocNode(&mut first, graph, null(), 0usize, &mut params)), 0);
    let address = params[14];
    let mut got = [0u64; 15];
    assert_eq!(cu!(cuGraphMemAllocNodeGetParams(first, &mut got)), 0);
    assert_eq!(got[13..], [16, address]);
    let (mut fill, mut current, mut kind) = ([address, 0, 9 | 4 << 32, 4, 1u64], 0u64, 0u32);
    assert_eq!(cu!(cuCtxGetCurrent(&mut current)), 0);
    assert_eq!(cu!(cuGraphAddMemsetNode(&mut fill_node, graph, &mut first, 1usize, &mut fill, current)), 0);
    assert_eq!((cu!(cuGraphNodeGetType(first, &mut kind)), kind), (0, 10));
    assert_eq!(cu!(cuGraphInstantiateWithFlags(&mut exec, graph, 0u64)), 0);
    // The client has what the first launch allocated; until it is freed there can be no second.
    assert_eq!(cu!(cuMemFree_v2(address)), 1, "nothing was allocated yet");
    assert_eq!(cu!(cuGraphLaunch(exec, 0u64)), 0);
    assert_eq!(download::<u32>(address, 4), [9; 4]);
    assert_eq!(cu!(cuGraphLaunch(exec, 0u64)), 1);
    assert_eq!((cu!(cuMemFree_v2(address)), cu!(cuGraphLaunch(exec, 0u64))), (0, 0));
    // Unless the launch frees it.
    let mut freeing = 0u64;
    assert_eq!(cu!(cuGraphInstantiateWithFlags(&mut freeing, graph, 1u64)), 0);
    assert_eq!((cu!(cuGraphLaunch(freeing, 0u64)), cu!(cuGraphLaunch(freeing, 0u64))), (0, 0));
    // Or a node does.
    assert_eq!(cu!(cuGraphAddMemFreeNode(&mut free, graph, &mut fill_node, 1usize, address)), 0);
    assert_eq!(cu!(cuGraphAddMemFreeNode(&mut free, graph, null(), 0usize, allocate(4))), 1);
    let mut freed = 0u64;
    assert_eq!((cu!(cuGraphMemFreeNodeGetParams(free, &mut freed)), freed), (0, address));
    let mut whole = 0u64;
    assert_eq!(
        (cu!(cuMemFree_v2(address)), cu!(cuGraphInstantiateWithFlags(&mut whole, graph, 0u64))),
        (0, 0)
    );
    assert_eq!((cu!(cuGraphLaunch(whole, 0u64)), cu!(cuGraphLaunch(whole, 0u64))), (0, 0));
    // Such a graph has no clones, is in no other, and loses no nodes.
    let (mut copy, mut other) = (0u64, 0u64);
    assert_eq!(cu!(cuGraphClone(&mut copy, graph)), 801);
    assert_eq!(cu!(cuGraphDestroyNode(fill_node)), 801);
    assert_eq!(cu!(cuGraphCreate(&mut other, 0u32)), 0);
    assert_eq!(cu!(cuGraphAddChildGraphNode(&mut free, other, null(), 0usize, graph)), 801);
    // By the structure for any kind, too; and what a node allocates is not changed.
    let mut any = [0u64; 32];
    (any[0], any[2]) = (4, graph);
    assert_eq!(cu!(cuGraphAddNode(&mut free, other, null(), 0usize, any.as_ptr())), 801);
    any[0] = 10;
    assert_eq!(cu!(cuGraphNodeSetParams(first, any.as_ptr())), 801);
    // What nobody has goes with the last graph.
    let (mut before, mut after, mut total) = (0usize, 0usize, 0usize);
    assert_eq!(cu!(cuMemGetInfo_v2(&mut before, &mut total)), 0);
    for exec in [exec, freeing, whole] {
        assert_eq!(cu!(cuGraphExecDestroy(exec)), 0);
    }
    assert_eq!(cu!(cuGraphDestroy(graph)), 0);
    assert_eq!(cu!(cuMemGetInfo_v2(&mut after, &mut total)), 0);
    assert_eq!(cu!(cuMemcpyHtoD_v2(address, [0u8; 16].as_ptr(), 16usize)), 1, "it is gone");
    assert!(after >= before, "{after} bytes are free, {before} were");
}

#[test]
fn memory_that_a_capture_allocates() {
    let _context = Context::new();
    let (mut stream, mut graph, mut exec, mut address) = (0u64, 0u64, 0u64, 0u64);
    assert_eq!(cu!(cuStreamCreate(&mut stream, 1u32)), 0);
    assert_eq!(cu!(cuStreamBeginCapture_v2(stream, 2u32)), 0);
    assert_eq!(cu!(cuMemAllocAsync(&mut address, 8usize, stream)), 0);
    assert_eq!(cu!(cuMemsetD8Async(address, 3u8, 8usize, stream)), 0);
    assert_eq!(cu!(cuStreamEndCapture(stream, &mut graph)), 0);
    assert_eq!(cu!(cuGraphInstantiateWithFlags(&mut exec, graph, 0u64)), 0);
    assert_eq!((cu!(cuGraphLaunch(exec, stream)), cu!(cuStreamSynchronize(stream))), (0, 0));
    // The client's memory outlives the graph.
    assert_eq!((cu!(cuGraphExecDestroy(exec)), cu!(cuGraphDestroy(graph))), (0, 0));
    assert_eq!(download::<u8>(address, 8), [3; 8]);
    assert_eq!((cu!(cuMemFreeAsync(address, stream)), cu!(cuStreamSynchronize(stream))), (0, 0));
    assert_eq!(cu!(cuMemFree_v2(address)), 1);
}

#[test]
fn operations_on_memory_in_a_node() {
    let context = Context::new();
    let cells = upload(&[1u32, 2, 3, 0]);
    // `CUstreamBatchMemOpParams`: the operation (a write of 32 or 64 bits), the address, the value, the flags.
    let list = [[2, cells, 50, 0, 0, 0], [5, cells + 8, 1 << 32 | 7, 0, 0, 0u64]];
    let place = list.as_ptr().expose_provenance() as u64;
    let mut params = [context.0, 2, place, 0u64];
    let (mut graph, mut node, mut exec, mut kind) = (0u64, 0u64, 0u64, 0u32);
    assert_eq!(cu!(cuGraphCreate(&mut graph, 0u32)), 0);
    assert_eq!(cu!(cuGraphAddBatchMemOpNode(&mut node, graph, null(), 0usize, &mut params)), 0);
    assert_eq!((cu!(cuGraphNodeGetType(node, &mut kind)), kind), (0, 12));
    assert_eq!(cu!(cuGraphInstantiateWithFlags(&mut exec, graph, 0u64)), 0);
    assert_eq!((cu!(cuGraphLaunch(exec, 0u64)), download::<u32>(cells, 4)), (0, vec![50, 2, 7, 1]));
    params[1] = 1;
    assert_eq!(cu!(cuGraphExecBatchMemOpNodeSetParams(exec, node, &mut params)), 0);
    assert_eq!(cu!(cuMemsetD32_v2(cells, 0u32, 4usize)), 0);
    assert_eq!((cu!(cuGraphLaunch(exec, 0u64)), download::<u32>(cells, 4)), (0, vec![50, 0, 0, 0]));
    let mut got = [0u64; 4];
    assert_eq!((cu!(cuGraphBatchMemOpNodeGetParams(node, &mut got)), got[1] as u32), (0, 2));
    let own = std::ptr::with_exposed_provenance::<[[u64; 6]; 2]>(got[2] as usize);
    // SAFETY: the node's list of two.
    assert_eq!(unsafe { own.read() }, list);
    assert_eq!(cu!(cuGraphBatchMemOpNodeSetParams(node, &mut params)), 0);
    assert_eq!((cu!(cuGraphBatchMemOpNodeGetParams(node, &mut got)), got[1] as u32), (0, 1));
    let wrong = [[9, cells, 0, 0, 0, 0u64]];
    params[2] = wrong.as_ptr().expose_provenance() as u64;
    assert_eq!(cu!(cuGraphAddBatchMemOpNode(&mut node, graph, null(), 0usize, &mut params)), 801);
}

#[test]
fn what_a_node_is_told_it_tells() {
    let context = Context::new();
    let module = module(COUNTER);
    let (kernel, (counter, _)) = (function(module, "count"), global(module, "counter"));
    let (mut graph, mut node, mut other, mut times) = (0u64, 0u64, 0u64, 1u32);
    let mut params = [param(&mut times)];
    let place = params.as_mut_ptr().expose_provenance() as u64;
    let given = [kernel, 4 | 1 << 32, 1 | 1 << 32, 1 | 1 << 32, 0, place, 0, 0, 0];
    assert_eq!(cu!(cuGraphCreate(&mut graph, 0u32)), 0);
    assert_eq!(cu!(cuGraphAddKernelNode_v2(&mut node, graph, 0u64, 0usize, given.as_ptr())), 0);
    assert_eq!(cu!(cuGraphAddKernelNode_v2(&mut other, graph, 0u64, 0usize, given.as_ptr())), 0);
    // Clusters of two blocks (attribute 4), a priority (8); one that there is not.
    let mut value = [0u32; 16];
    (value[0], value[1], value[2]) = (2, 1, 1);
    assert_eq!(cu!(cuGraphKernelNodeSetAttribute(node, 4u32, value.as_ptr())), 0);
    value[0] = 3;
    assert_eq!(cu!(cuGraphKernelNodeSetAttribute(node, 4u32, value.as_ptr())), 912, "4 blocks by threes");
    assert_eq!(cu!(cuGraphKernelNodeSetAttribute(node, 8u32, [7u32; 16].as_ptr())), 0);
    assert_eq!(cu!(cuGraphKernelNodeSetAttribute(node, 99u32, value.as_ptr())), 1);
    assert_eq!(cu!(cuGraphKernelNodeCopyAttributes(other, node)), 0);
    let got = |node: u64, number: u32| {
        let mut value = [5u32; 16];
        assert_eq!(cu!(cuGraphKernelNodeGetAttribute(node, number, &mut value)), 0);
        value
    };
    assert_eq!((got(other, 4)[..3].to_vec(), got(other, 8), got(other, 2)[0]), (vec![2, 1, 1], [7; 16], 0));
    let mut exec = 0u64;
    assert_eq!(cu!(cuGraphInstantiateWithFlags(&mut exec, graph, 0u64)), 0);
    assert_eq!((cu!(cuGraphLaunch(exec, 0u64)), download::<u32>(counter, 1)), (0, vec![8]));
    // A copy by hand is as the client said it, that of a capture as the library has it.
    let (source, target) = (upload(&[1u32, 2, 3, 4]), allocate(16));
    let mut copy = [0u64; 25];
    (copy[4], copy[6], copy[9], copy[15], copy[17], copy[20]) = (2, source, 8, 2, target, 4);
    (copy[22], copy[23], copy[24]) = (4, 2, 1);
    let mut got = [0u64; 25];
    assert_eq!(cu!(cuGraphAddMemcpyNode(&mut node, graph, null(), 0usize, &mut copy, context.0)), 0);
    assert_eq!((cu!(cuGraphMemcpyNodeGetParams(node, &mut got)), got), (0, copy));
    copy[23] = 1;
    assert_eq!(cu!(cuGraphMemcpyNodeSetParams(node, &mut copy)), 0);
    assert_eq!((cu!(cuGraphMemcpyNodeGetParams(node, &mut got)), got[23]), (0, 1));
    let (mut stream, mut captured, mut count) = (0u64, 0u64, 1usize);
    assert_eq!(cu!(cuStreamCreate(&mut stream, 1u32)), 0);
    assert_eq!(cu!(cuStreamBeginCapture_v2(stream, 2u32)), 0);
    assert_eq!(cu!(cuMemcpyDtoDAsync_v2(target, source, 16usize, stream)), 0);
    assert_eq!(cu!(cuStreamEndCapture(stream, &mut captured)), 0);
    assert_eq!(cu!(cuGraphGetNodes(captured, &mut node, &mut count)), 0);
    assert_eq!(cu!(cuGraphMemcpyNodeGetParams(node, &mut got)), 0);
    assert_eq!((got[6], got[17], &got[22..]), (source, target, &[16, 1, 1][..]));
}
