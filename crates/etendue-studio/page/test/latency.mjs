// Times of the studio in a headless browser: `node test/latency.mjs PROGRAM CHROMIUM SCENE SENSOR [CHANGES]`.
//
// Each change sets the reflectance of the most used material, as a slider does. The time runs from the event to the end
// of the drawing of the points of its sweep (WebGL `finish`): a coarse sweep where the whole one takes long, which then
// follows the last change. Prints JSON.

import { readFileSync } from "node:fs";
import { openStudio } from "./opened.mjs";

const [program, chrome, scene, sensor, changes = "60"] = process.argv.slice(2);
let bytes = 0;
const { server, browser, page } = await openStudio(program, chrome, scene, sensor, (page) => {
  page.on("response", async (response) => { if (/\.(js|css)$|\/$/.test(new URL(response.url()).pathname)) bytes += (await response.body()).length; });
});
const load = await page.evaluate(() => ({ parsed: performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd, drawn: window.studio.firstDrawn }));
await page.waitForTimeout(2000);

/** Processor time of the server, ms. */
const cpu = () => {
  const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ")[1].split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
};
await page.exposeFunction("cpuOfServer", cpu);
const result = await page.evaluate(async (changes) => {
  const { app, latencies, connection } = window.studio;
  // The material of most points
  const counts = new Map();
  for (const material of app.sweep.material) counts.set(material, (counts.get(material) ?? 0) + 1);
  const [most] = [...counts].filter(([material]) => app.state.materials[material]?.file?.diffuse).sort((a, b) => b[1] - a[1])[0];
  const { name, file, is_own } = app.state.materials[most];
  const gesture = connection.gesture();
  const change = async (step) => {
    const seen = latencies.length;
    app.edit([{ set: { document: "scene", path: ["materials", name], value: { ...(is_own ? {} : { base: name }), diffuse: { ...file.diffuse, reflectance: 0.2 + 0.005 * step } } } }], gesture);
    while (latencies.length === seen) await new Promise((done) => setTimeout(done, 2));
  };
  // The first changes warm up the caches
  for (let step = 0; step < 5; step++) await change(step);
  latencies.length = 0;
  const [simulated, loaded, every] = [[], [], []];
  const before = await window.cpuOfServer();
  for (let step = 5; step < 5 + changes; step++) {
    await change(step);
    simulated.push(app.sweep.timing.simulate_ms);
    loaded.push(app.sweep.timing.load_ms);
    every.push(app.sweep.every);
  }
  const changed = [...latencies];
  const cpu = ((await window.cpuOfServer()) - before) / changes;
  const last = performance.now();
  while (app.sweep.every > 1) await new Promise((done) => setTimeout(done, 2));
  return { cpu, latencies: changed, simulated, loaded, every, whole: { at_rest_ms: performance.now() - last, simulate_ms: app.sweep.timing.simulate_ms }, beams: app.sweep.beams, points: app.sweep.points };
}, Number(changes));

const at = (values, share) => Math.round(10 * [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))]) / 10;
console.log(JSON.stringify({
  beams: result.beams, points: result.points, page_kb: Math.round(bytes / 1000), page_parsed_ms: Math.round(load.parsed), first_drawn_ms: Math.round(load.drawn),
  to_drawn_ms: { median: at(result.latencies, 0.5), p95: at(result.latencies, 0.95) },
  one_of_columns: { median: at(result.every, 0.5), most: Math.max(...result.every) }, whole: result.whole,
  loaded_ms: { median: at(result.loaded, 0.5), p95: at(result.loaded, 0.95) },
  server_cpu_ms_per_change: Math.round(10 * result.cpu) / 10,
  simulated_ms: { median: at(result.simulated, 0.5), p95: at(result.simulated, 0.95) },
}));
await browser.close();
process.exit(0);
