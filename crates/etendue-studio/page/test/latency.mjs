// Times of the studio in a headless browser: `node test/latency.mjs PROGRAM CHROMIUM SCENE SENSOR [CHANGES] [PERIOD_MS]`.
//
// Moves the slider of the reflectance of the most used material, by events of the mouse. The time runs from the event to the
// end of the drawing of the points of its sweep, when a pixel of the drawing can be read: a coarse sweep where the whole one
// takes long, which then follows the last change. The next event follows the drawing of the one before, or comes after PERIOD_MS:
// then the time is that of the oldest event that a sweep shows. Prints JSON, with the load of the machine.

import { readFileSync } from "node:fs";
import { openStudio } from "./opened.mjs";

const [program, chrome, scene, sensor, changes = "100", period = "0"] = process.argv.slice(2);
const load = () => Number(readFileSync("/proc/loadavg", "utf8").split(" ")[0]);
const before = load();
const { server, browser, page } = await openStudio(program, chrome, scene, sensor);
await page.waitForTimeout(5000);

/** Processor time of the server, ms. */
const cpu = () => {
  const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ")[1].split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
};
await page.exposeFunction("cpuOfServer", cpu);

// The slider of the material of most points
await page.evaluate(() => {
  const { app } = window.studio;
  const counts = new Map();
  for (const material of app.sweep.material) counts.set(material, (counts.get(material) ?? 0) + 1);
  const [most] = [...counts].filter(([material]) => app.state.materials[material]?.file?.diffuse).sort((a, b) => b[1] - a[1])[0];
  app.selectMaterial(most);
});
const slider = page.locator("#panels .lil-controller:has(.lil-name:text-matches('^reflectance')) .lil-slider").first();
await slider.waitFor();
await page.locator("#panels .curves .note").waitFor();

const result = await slider.evaluate(async (slider, [changes, period]) => {
  const { app, latencies } = window.studio;
  const box = slider.getBoundingClientRect();
  const at = (step) => ({ bubbles: true, clientX: box.left + (0.2 + 0.6 * Math.abs(((step / 50) % 2) - 1)) * box.width, clientY: box.top + box.height / 2 });
  slider.dispatchEvent(new PointerEvent("pointerdown", at(0)));
  slider.dispatchEvent(new MouseEvent("mousedown", at(0)));
  const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const move = async (step) => {
    const seen = latencies.length;
    const began = performance.now();
    window.dispatchEvent(new MouseEvent("mousemove", at(step)));
    if (period > 0) await wait(Math.max(0, period - (performance.now() - began)));
    else while (latencies.length === seen) await wait(1);
  };
  // The first changes warm up the caches
  for (let step = 1; step < 10; step++) await move(step);
  latencies.length = 0;
  const [simulated, loaded, every] = [[], [], []];
  const before = await window.cpuOfServer();
  for (let step = 10; step < 10 + changes; step++) {
    await move(step);
    simulated.push(app.sweep.timing.simulate_ms);
    loaded.push(app.sweep.timing.load_ms);
    every.push(app.sweep.every);
  }
  const changed = [...latencies];
  const cpu = ((await window.cpuOfServer()) - before) / changes;
  const last = performance.now();
  window.dispatchEvent(new MouseEvent("mouseup", at(0)));
  window.dispatchEvent(new PointerEvent("pointerup", at(0)));
  while (app.sweep.every > 1) await wait(2);
  return { cpu, latencies: changed, simulated, loaded, every, whole: { at_rest_ms: Math.round(performance.now() - last), simulate_ms: Math.round(app.sweep.timing.simulate_ms) }, beams: app.sweep.beams, points: app.sweep.points };
}, [Number(changes), Number(period)]);

const at = (values, share) => Math.round(10 * [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))]) / 10;
const times = (values) => ({ median: at(values, 0.5), p95: at(values, 0.95) });
console.log(JSON.stringify({
  load: [before, load()], beams: result.beams, points: result.points,
  drawn: result.latencies.length, to_drawn_ms: { least: at(result.latencies, 0), ...times(result.latencies) },
  loaded_ms: times(result.loaded), simulated_ms: times(result.simulated), one_of_columns: { median: at(result.every, 0.5), most: Math.max(...result.every) },
  whole: result.whole, server_cpu_ms_per_change: Math.round(10 * result.cpu) / 10,
}));
await browser.close();
process.exit(0);
