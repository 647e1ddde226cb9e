// The studio in Firefox, by WebDriver BiDi: `node test/firefox.mjs PROGRAM FIREFOX`. Headless Firefox has no WebGL without a GPU, so that it runs
// on a virtual display (Xvfb). Writes a screenshot to SCREENSHOTS, if set.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer from "puppeteer-core";

const [program, firefox = "/usr/bin/firefox-esr"] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "etendue-firefox-"));
const cart = await readFile(new URL("../../../../examples/cart.toml", import.meta.url), "utf8");

/** First line that a program writes. */
const firstLine = (output) => new Promise((done) => output.once("data", (data) => done(String(data).trim())));

// A display, the server and the browser
const display = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "1300x900x24"], { stdio: ["ignore", "ignore", "ignore", "pipe"] });
const server = spawn(program, ["studio", "--no-open"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
process.on("exit", () => { server.kill(); display.kill(); });
const number = await firstLine(display.stdio[3]);
const url = await firstLine(server.stdout);
const browser = await puppeteer.launch({
  browser: "firefox", executablePath: firefox, headless: false,
  env: { ...process.env, DISPLAY: `:${number}`, LIBGL_ALWAYS_SOFTWARE: "1" },
});
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 800 });
const errors = [];
page.on("pageerror", (error) => errors.push(error.message));

const evaluate = (body, ...values) => page.evaluate(body, ...values);
const waitFor = (body, ...values) => page.waitForFunction(body, { timeout: 60_000, polling: 50 }, ...values);
const drop = (name, text) => evaluate((name, text) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}, name, text);

async function step(name, body) {
  await body();
  console.log(`ok: ${name}`);
}

let failed = false;
try {
  await step("open", async () => {
    await page.goto(url);
    await waitFor(() => window.studio?.app.sweep && window.studio.app.state && window.studio.view.objects.meshes.length === 3);
    assert.equal(await evaluate(() => window.studio.app.sweep.beams), 682);
  });

  await step("a lower reflectance lowers the intensity, and undo goes back", async () => {
    const mean = () => evaluate(() => { const { intensity } = window.studio.app.sweep; return intensity.reduce((a, b) => a + b, 0) / intensity.length; });
    const before = await mean();
    await evaluate(() => window.studio.app.edit([{ set: { document: "scene", path: ["materials", "wall", "diffuse", "reflectance"], value: 0.3 } }]));
    await waitFor(() => window.studio.app.state.steps[0] === 1 && window.studio.app.sweep.revision === window.studio.app.state.revision);
    assert.ok((await mean()) < 0.5 * before);
    await page.click("#undo");
    await waitFor(() => window.studio.app.state.scene.toml.materials.wall.diffuse.reflectance === 0.8);
  });

  await step("a knot is dragged and saved", async () => {
    await page.click("#tab-profiles");
    await page.select("#panels > div.on select", "rplidar-a1-wood");
    await waitFor(() => window.studio.profiles.edited && document.querySelectorAll("#panels > div.on .uplot").length === 4);
    const place = await evaluate(() => {
      const { edited: { profile }, plots } = window.studio.profiles;
      plots[0].parent.scrollIntoView({ block: "center" });
      const knot = profile.knots_deg.findIndex((deg) => deg > 20);
      const box = plots[0].plot.over.getBoundingClientRect();
      return { knot, x: box.left + plots[0].plot.valToPos(profile.knots_deg[knot], "x"), y: box.top + plots[0].plot.valToPos(profile.quantities[0].knots[knot], "y") };
    });
    await page.mouse.move(place.x, place.y);
    await page.mouse.down();
    await page.mouse.move(place.x, place.y - 20, { steps: 6 });
    await page.mouse.up();
    await waitFor((knot) => window.studio.profiles.edited.profile.quantities[0].knots[knot] > 0.2, place.knot);
    await page.click("#save");
    await waitFor(() => !window.studio.app.state.profile.is_changed);
    const value = await evaluate((knot) => window.studio.profiles.edited.profile.quantities[0].knots[knot], place.knot);
    const saved = await readFile(join(folder, "rplidar-a1-wood.toml"), "utf8");
    assert.ok(saved.includes(` ${value},`), `${value}`);
  });

  await step("a camera, a trajectory and a robot", async () => {
    await page.click("#tab-camera");
    await waitFor(() => window.studio.camera.columns === 320);
    await drop("drive.tum", "5 -0.1 0 0 0 0 0 1\n6 0.1 0 0 0 0 0 1\n");
    await waitFor(() => window.studio.app.state.sweeps === 10 && Math.abs(window.studio.app.sweep.pose[0] + 0.1) < 1e-6);
    await drop("cart.toml", cart);
    await waitFor(() => window.studio.robot.isDone && window.studio.robot.latest?.clouds.length === 2);
    await waitFor(() => document.querySelector("[data-output=gnss] .uplot"));
  });

  assert.deepEqual(errors, []);
} catch (error) {
  failed = true;
  console.error(error.message ?? error, errors);
}
if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, "firefox.png") });
await browser.close();
await rm(folder, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
