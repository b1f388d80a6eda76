// A session by the client that VS Code's own adapters are tested with. Arguments: the folder with node_modules, the port of the adapter, the
// root of the repository. Exit status 0 if everything is as it should be.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";

const [modules, port, root] = process.argv.slice(2);
const { DebugClient } = createRequire(path.join(modules, "package.json"))("@vscode/debugadapter-testsupport");
const program = path.join(root, "tests/watch/debug/reduce.ptx");
const source = path.join(root, "tests/watch/debug/reduce.cu");

const client = new DebugClient("", "", "warpsmith");
await client.start(Number(port));

const stopped = client.waitForEvent("stopped", 20_000);
await client.hitBreakpoint({ program }, { path: source, line: 10 }, { path: source, line: 10 });
const { threadId } = (await stopped).body;

const { threads } = (await client.threadsRequest()).body;
assert.equal(threads[0].id, threadId, "the thread in focus comes first");

const frames = async () => (await client.stackTraceRequest({ threadId })).body.stackFrames;
const scopes = async (frameId) => {
  const { scopes } = (await client.scopesRequest({ frameId })).body;
  const read = async ({ name, variablesReference }) => {
    const { variables } = (await client.variablesRequest({ variablesReference })).body;
    return [name, Object.fromEntries(variables.map((variable) => [variable.name, variable.value]))];
  };
  return Object.fromEntries(await Promise.all(scopes.map(read)));
};
const [top] = await frames();
const values = await scopes(top.id);
assert.equal(values.Locals.mine, "{64, 0}");
assert.equal(values["Special registers"]["%ctaid.x"], "1");

await Promise.all([client.stepInRequest({ threadId }), client.assertStoppedLocation("step", { path: source, line: 2 })]);
assert.deepEqual((await frames()).map((frame) => frame.name), ["twice", "reduce"]);
await Promise.all([client.stepOutRequest({ threadId }), client.assertStoppedLocation("step", { path: source, line: 10 })]);
const evaluated = await client.evaluateRequest({ expression: "1 + mine[0]", frameId: (await frames())[0].id, context: "watch" });
assert.equal(evaluated.body.result, "65");

const { instructionPointerReference } = (await frames())[0];
const { instructions } = (
  await client.disassembleRequest({ memoryReference: instructionPointerReference, instructionOffset: -2, instructionCount: 5 })
).body;
assert.equal(instructions.length, 5);

await client.setBreakpointsRequest({ source: { path: source }, breakpoints: [] });
await Promise.all([client.continueRequest({ threadId }), client.waitForEvent("terminated", 20_000)]);
await client.disconnectRequest();
