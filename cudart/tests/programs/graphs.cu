// Graphs: captured, built by hand, updated, launched many times.
#include "common.h"

__global__ void step(int* x, int a, int b) { x[threadIdx.x] = x[threadIdx.x] * a + b; }
static int told;
static void note(void* data) { told += *(int*)data; }

int main() {
    int *x, host[32];
    MUST(cudaMalloc(&x, 128));
    cudaStream_t a, b;
    MUST(cudaStreamCreate(&a));
    MUST(cudaStreamCreate(&b));
    cudaEvent_t fork, join;
    MUST(cudaEventCreate(&fork));
    MUST(cudaEventCreate(&join));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int one = 1;
    MUST(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    MUST(cudaMemsetAsync(x, 0, 128, a));
    step<<<1, 32, 0, a>>>(x, 1, 5);
    MUST(cudaEventRecord(fork, a));
    MUST(cudaStreamWaitEvent(b, fork));
    step<<<1, 32, 0, b>>>(x, 3, 1);
    MUST(cudaEventRecord(join, b));
    MUST(cudaStreamWaitEvent(a, join));
    MUST(cudaLaunchHostFunc(a, note, &one));
    MUST(cudaMemcpyAsync(host, x, 128, cudaMemcpyDeviceToHost, a));
    MUST(cudaStreamEndCapture(a, &graph));
    size_t nodes = 0, edges = 0;
    MUST(cudaGraphGetNodes(graph, nullptr, &nodes));
    MUST(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    printf("nodes %zu edges %zu\n", nodes, edges);
    std::vector<cudaGraphNode_t> list(nodes);
    MUST(cudaGraphGetNodes(graph, list.data(), &nodes));
    int kinds[16] = {};
    for (auto node : list) {
        cudaGraphNodeType type;
        MUST(cudaGraphNodeGetType(node, &type));
        kinds[type]++;
    }
    printf("kernels %d copies %d fills %d functions %d\n", kinds[0], kinds[1], kinds[2], kinds[3]);
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 5; i++) MUST(cudaGraphLaunch(exec, a));
    MUST(cudaStreamSynchronize(a));
    printf("value %d told %d\n", host[9], told);
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));

    MUST(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t set, first, second, copy, call;
    cudaMemsetParams fill = {};
    fill.dst = x;
    fill.elementSize = 4;
    fill.width = 32;
    fill.height = 1;
    fill.value = 3;
    MUST(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
    int p = 10, q = 1;
    void* arguments[] = {&x, &p, &q};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void*)step;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(32);
    kernel.kernelParams = arguments;
    MUST(cudaGraphAddKernelNode(&first, graph, &set, 1, &kernel));
    p = 2, q = 0;
    MUST(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
    MUST(cudaGraphAddMemcpyNode1D(&copy, graph, &second, 1, host, x, 128, cudaMemcpyDeviceToHost));
    cudaHostNodeParams function = {note, &one};
    MUST(cudaGraphAddHostNode(&call, graph, &copy, 1, &function));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, a));
    MUST(cudaStreamSynchronize(a));
    printf("by hand %d told %d\n", host[31], told);
    p = 7, q = 7;
    MUST(cudaGraphExecKernelNodeSetParams(exec, second, &kernel));
    MUST(cudaGraphLaunch(exec, a));
    MUST(cudaStreamSynchronize(a));
    printf("other parameters %d\n", host[31]);
    fill.value = 4;
    MUST(cudaGraphMemsetNodeSetParams(set, &fill));
    cudaGraphExecUpdateResultInfo info;
    MUST(cudaGraphExecUpdate(exec, graph, &info));
    MUST(cudaGraphLaunch(exec, a));
    MUST(cudaStreamSynchronize(a));
    printf("updated %d, result %d\n", host[31], (int)info.result);
    cudaGraph_t twin;
    MUST(cudaGraphClone(&twin, graph));
    cudaGraphNode_t child;
    MUST(cudaGraphAddChildGraphNode(&child, twin, nullptr, 0, graph));
    MUST(cudaGraphGetRootNodes(twin, nullptr, &nodes));
    printf("roots %zu\n", nodes);
    cudaKernelNodeParams back = {};
    MUST(cudaGraphKernelNodeGetParams(first, &back));
    printf("described %d %d %d\n", back.func == (void*)step, back.gridDim.x, back.blockDim.x);
    MUST(cudaGraphDestroyNode(call));
    MUST(cudaGraphGetNodes(graph, nullptr, &nodes));
    printf("nodes %zu\n", nodes);
    SAY(cudaGraphInstantiate(&exec, nullptr, 0));
    SAY(cudaGraphLaunch(nullptr, a));
    SAY(cudaStreamEndCapture(a, &graph));
    MUST(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    SAY(cudaStreamSynchronize(a));
    SAY(cudaStreamEndCapture(a, &graph));
    SAY(cudaGetLastError());
    return 0;
}
