// Memory of the studio during changes: `node test/memory.mjs PROGRAM CHROMIUM [MINUTES] [PER_SECOND] [SCENE] [SENSOR]`.
//
// Changes materials, places, objects, the weather and the sensor, undoes, inspects beams, and keeps and forgets sweeps.
// Prints each minute, as MB: the resident memory of the server, the proportional memory of the renderer of the page, and
// the heap of the page after a collection.

import { readdir, readFile } from "node:fs/promises";
import { openStudio } from "./opened.mjs";

const [program, chrome, minutes = "60", perSecond = "2", scene = "arena", sensor = "hokuyo-urg-04lx"] = process.argv.slice(2);
const { server, browser, page } = await openStudio(program, chrome, scene, sensor);
const protocol = await page.context().newCDPSession(page);
await protocol.send("Performance.enable");

/** A line of a file of /proc in MB. */
async function megabytes(path, key) {
  const line = (await readFile(path, "utf8")).split("\n").find((line) => line.startsWith(key));
  return Number(/\d+/.exec(line)[0]) / 1024;
}

/** Proportional memory of the renderers whose ancestor is this program. */
async function renderers() {
  let sum = 0;
  for (const process of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    try {
      if (!(await readFile(`/proc/${process}/cmdline`, "utf8")).includes("--type=renderer")) continue;
      let parent = process;
      while (parent !== "1" && parent !== "0" && parent !== String(globalThis.process.pid))
        parent = /\n?PPid:\s*(\d+)/.exec(await readFile(`/proc/${parent}/status`, "utf8"))[1];
      if (parent === String(globalThis.process.pid)) sum += await megabytes(`/proc/${process}/smaps_rollup`, "Pss:");
    } catch { /* it has ended */ }
  }
  return sum;
}

/** The change of a number. */
const change = (number) => page.evaluate(async (number) => {
  const { studio } = window;
  const { app, connection, beam } = studio;
  const { state } = app;
  const own = state.materials.findIndex((material) => material.file?.diffuse);
  const { name, file, is_own } = state.materials[own];
  const share = (number % 97) / 97;
  const set = (path, value) => ({ set: { document: "scene", path, value } });
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
}, number).catch((error) => console.error(String(error)));

const began = performance.now();
let [next, number] = [0, 0];
console.log("minute  changes  server_mb  renderer_mb  heap_mb");
for (;;) {
  const minute = (performance.now() - began) / 60_000;
  if (minute >= next) {
    await protocol.send("HeapProfiler.collectGarbage");
    const { metrics } = await protocol.send("Performance.getMetrics");
    const heap = metrics.find((metric) => metric.name === "JSHeapUsedSize").value / 2 ** 20;
    const [resident, renderer] = [await megabytes(`/proc/${server.pid}/status`, "VmRSS:"), await renderers()];
    console.log([next, number, ...[resident, renderer, heap].map((value) => value.toFixed(1))].map((text) => String(text).padStart(8)).join(" "));
    if (next >= Number(minutes)) break;
    next++;
  }
  await change(number++);
  await page.waitForTimeout(1000 / Number(perSecond));
}
await browser.close();
process.exit(0);
