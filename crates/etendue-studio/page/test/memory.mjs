// Memory of the studio during changes: `node test/memory.mjs PROGRAM CHROMIUM [MINUTES] [PER_SECOND] [SCENE] [SENSOR] [DOMAIN]`.
//
// The page changes materials, places, objects, the weather and the sensor, undoes, inspects beams, and keeps and forgets sweeps, by a
// timer of its own. Prints each minute, as MB: the resident memory of the server, the private and the proportional memory of the
// renderer of the page, and the heap of the page after a collection; and the numbers of nodes, listeners of events, geometries
// and textures.
//
// Chromium buffers answers in the process of the page for a tool that observes the network, as Playwright does. So this
// program talks to Chromium by its pipe, and enables nothing there except a DOMAIN that is given, e.g. Network, for comparison.

import { spawn } from "node:child_process";
import { readdir, readFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [program, chrome, minutes = "60", perSecond = "1", scene = "arena", sensor = "hokuyo-urg-04lx", domain] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "etendue-memory-"));
const server = spawn(program, ["studio", scene, "--sensor", sensor, "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise((done) => server.stdout.on("data", (data) => done(String(data).trim())));
const browser = spawn(chrome.includes("/") ? chrome : `/usr/bin/${chrome}`, [
  "--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage",
  "--disable-background-networking", "--no-first-run", "--window-size=1280,800", "--remote-debugging-pipe", `--user-data-dir=${folder}`, url,
], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
process.on("exit", () => { server.kill(); browser.kill(); });

// The protocol of the browser: messages that end with a zero byte

let [last, rest] = [0, ""];
const waiting = new Map();
browser.stdio[4].setEncoding("utf8");
browser.stdio[4].on("data", (data) => {
  const messages = (rest + data).split("\0");
  rest = messages.pop();
  for (const { id, result, error } of messages.map((text) => JSON.parse(text))) {
    if (error) waiting.get(id)?.failed(new Error(error.message));
    else waiting.get(id)?.done(result);
    waiting.delete(id);
  }
});
const request = (method, params = {}, sessionId) => new Promise((done, failed) => {
  waiting.set(++last, { done, failed });
  browser.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
});
const wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

/** The page of the studio, when it is open. */
async function target() {
  for (;;) {
    const { targetInfos } = await request("Target.getTargets");
    const page = targetInfos.find((target) => target.type === "page" && target.url.startsWith("http"));
    if (page) return page.targetId;
    await wait(0.1);
  }
}
const { sessionId } = await request("Target.attachToTarget", { targetId: await target(), flatten: true });
const send = (method, params) => request(method, params, sessionId);
async function evaluate(body) {
  const { result, exceptionDetails } = await send("Runtime.evaluate", { expression: `(${body})()`, awaitPromise: true, returnByValue: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception.description);
  return result.value;
}
while (!(await evaluate(() => Boolean(window.studio?.app.sweep && window.studio.app.state)))) await wait(0.1);
if (domain) await send(`${domain}.enable`);

/** Changes something each `period` ms. */
async function change(period) {
  const { studio } = window;
  const { app, connection, beam } = studio;
  const counts = (window.changes = { made: 0, refused: 0 });
  const set = (path, value) => ({ set: { document: "scene", path, value } });
  const one = async (number) => {
    const { state } = app;
    const own = state.materials.findIndex((material) => material.file?.diffuse);
    const { name, file, is_own } = state.materials[own];
    const share = (number % 97) / 97;
    const tables = state.scene.toml.objects;
    const kinds = [
      () => app.edit([set(["materials", name], { ...(is_own ? {} : { base: name }), diffuse: { ...file.diffuse, reflectance: 0.1 + 0.8 * share } })]),
      () => app.edit([{ pose: [0.02 * share, 0.01 * share, 0, 10 * share, 0, 0] }]),
      () => app.edit([set(["objects", tables.length], { name: `ball-${number}`, shape: { sphere: { radius_m: 0.05 + 0.05 * share } }, material: name, position_m: [-0.6, 0.4, 0] })]),
      () => app.edit([set(["objects", tables.length - 1], null)]),
      () => app.edit([{ weather: { rain_mm_h: 20 * share } }]),
      () => connection.request("undo"),
      () => beam.inspect(number % app.sweep.beams),
      () => connection.request("keep"),
      () => connection.request("forget"),
      () => app.edit([{ sensor: number % 2 ? "hokuyo-urg-04lx" : "velodyne-vlp-16" }]),
      () => app.edit([{ seed: number }]),
      () => studio.showTab(["scene", "material", "sensor", "run", "compare"][number % 5]),
    ];
    // A ball is removed after it was added
    await kinds[number % kinds.length]();
  };
  for (;;) {
    await one(counts.made++).catch(() => counts.refused++);
    await new Promise((done) => setTimeout(done, period));
  }
}
await evaluate(`() => { void (${change})(${1000 / Number(perSecond)}); }`);

/** A line of a file of /proc in MB. */
async function megabytes(path, key) {
  const line = (await readFile(path, "utf8")).split("\n").find((line) => line.startsWith(key));
  return Number(/\d+/.exec(line)[0]) / 1024;
}

/** Private and proportional memory of the renderer of this browser that has the most. */
async function renderer() {
  const found = [];
  for (const process of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    try {
      if (!(await readFile(`/proc/${process}/cmdline`, "utf8")).includes("--type=renderer")) continue;
      let parent = process;
      while (!["0", "1", String(browser.pid)].includes(parent)) parent = /\nPPid:\s*(\d+)/.exec(await readFile(`/proc/${parent}/status`, "utf8"))[1];
      const path = `/proc/${process}/smaps_rollup`;
      if (parent === String(browser.pid)) found.push([await megabytes(path, "Private_Dirty:"), await megabytes(path, "Pss:")]);
    } catch { /* it has ended */ }
  }
  return found.sort((a, b) => b[1] - a[1])[0];
}

await send("Performance.enable");
const began = performance.now();
console.log("minute  changes  refused  server_mb  private_mb  renderer_mb  heap_mb  nodes  listeners  geometries  textures");
for (let minute = 0; minute <= Number(minutes); minute++) {
  await wait((minute * 60_000 - performance.now() + began) / 1000);
  await send("HeapProfiler.collectGarbage");
  const { metrics } = await send("Performance.getMetrics");
  const heap = metrics.find((metric) => metric.name === "JSHeapUsedSize").value / 2 ** 20;
  const { nodes, jsEventListeners } = await send("Memory.getDOMCounters");
  const { made, refused, geometries, textures } = await evaluate(() => ({ ...window.changes, ...window.studio.view.renderer.info.memory }));
  const sizes = [await megabytes(`/proc/${server.pid}/status`, "VmRSS:"), ...(await renderer()), heap];
  console.log([minute, made, refused, ...sizes.map((value) => value.toFixed(1)), nodes, jsEventListeners, geometries, textures].map((text) => String(text).padStart(8)).join(" "));
}
browser.kill();
await rm(folder, { recursive: true, force: true }).catch(() => {});
process.exit(0);
