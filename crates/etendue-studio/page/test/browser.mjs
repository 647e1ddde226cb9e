// The studio in a real browser: `node test/browser.mjs PROGRAM [CHROMIUM]`. Writes screenshots to SCREENSHOTS, if set.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [program, chrome = "/usr/bin/chromium"] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "etendue-studio-"));
const shots = process.env.SCREENSHOTS;

/** Starts the studio and returns its address. */
async function start(...words) {
  const server = spawn(program, ["studio", "--no-open", ...words], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((done, failed) => {
    server.stdout.on("data", (data) => done(String(data).trim()));
    server.on("exit", (code) => failed(new Error(`the studio ended with ${code}`)));
  });
  return { server, url };
}

const printed = spawn(program, ["scenes", "arena"], { stdio: ["ignore", "pipe", "inherit"] });
let original = "";
for await (const data of printed.stdout) original += data;
await writeFile(join(folder, "room.toml"), original);
const cart = await readFile(new URL("../../../../examples/cart.toml", import.meta.url), "utf8");
const { server, url } = await start("room.toml");
const browser = await chromium.launch({
  executablePath: chrome,
  args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"],
});

let failed = false;
const requests = [];
const errors = [];
let page;

/** Runs a step; the first that fails ends the test. */
async function step(name, body) {
  const began = performance.now();
  try {
    await body();
  } catch (error) {
    failed = true;
    await page?.screenshot({ path: join(shots ?? tmpdir(), "studio-failed.png") });
    console.error(`FAILED: ${name}`);
    throw error;
  }
  console.log(`ok: ${name} (${Math.round(performance.now() - began)} ms)`);
  if (shots) await page.screenshot({ path: join(shots, `${name.replaceAll(/[^a-z]+/gi, "-")}.png`) });
}

const evaluate = (body, argument) => page.evaluate(body, argument);
const waitFor = (body, argument) => page.waitForFunction(body, argument, { timeout: 60_000, polling: 50 });
const meanIntensity = () => evaluate(() => { const { intensity } = window.studio.app.sweep; return intensity.reduce((a, b) => a + b, 0) / intensity.length; });
/** Does something, and waits for a sweep that shows it. */
async function change(body) {
  const before = await evaluate(() => window.studio.app.sweep.revision);
  await body();
  await waitFor((revision) => window.studio.app.sweep.revision > revision && window.studio.app.sweep.every === 1 && window.studio.app.state.revision >= window.studio.app.sweep.revision, before);
}
/** Place on the screen of a point of the world. */
const project = (at) => evaluate((at) => {
  const { view } = window.studio;
  const v = view.points.points.position.clone().set(...at).project(view.camera);
  const box = document.getElementById("canvas").getBoundingClientRect();
  return { x: box.left + ((v.x + 1) / 2) * box.width, y: box.top + ((1 - v.y) / 2) * box.height };
}, at);
const drop = (name, text) => evaluate(([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}, [name, text]);
const tab = (name) => page.click(`#tab-${name}`);

try {
  page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") errors.push(`${message.text()} ${message.location().url}`); });

  await step("open", async () => {
    await page.goto(url);
    await waitFor(() => window.studio?.app.sweep && window.studio.app.state && window.studio.view.objects.meshes.length === 3);
    assert.equal(await evaluate(() => window.studio.app.sweep.beams), 682);
    assert.ok((await page.textContent("#legend")).includes("intensity"));
    assert.ok(!(await page.isVisible("#note")));
  });

  await step("select an object by a click", async () => {
    const pixel = await project([0.4, 0.03, 0.05]);
    await page.mouse.click(pixel.x, pixel.y);
    await waitFor(() => window.studio.app.selection?.kind === "object");
    assert.equal(await evaluate(() => window.studio.app.state.objects[window.studio.app.selection.number].name), "mirror");
    assert.equal(await page.textContent("#panels .list button.on span"), "mirror");
  });

  await step("a lower reflectance lowers the intensity", async () => {
    const before = await meanIntensity();
    await evaluate(() => window.studio.app.selectMaterial(0));
    const slider = page.locator("#panels .lil-controller:has(.lil-name:text-is('reflectance')) .lil-slider").first();
    await slider.waitFor();
    // The curves above the slider come after it
    await page.locator("#panels .curves .note").waitFor();
    const box = await slider.boundingBox();
    await page.mouse.move(box.x + 0.8 * box.width, box.y + box.height / 2);
    await page.mouse.down();
    await change(() => page.mouse.move(box.x + 0.3 * box.width, box.y + box.height / 2, { steps: 8 }));
    await page.mouse.up();
    await waitFor(() => Math.abs(window.studio.app.state.scene.toml.materials.wall.diffuse.reflectance - 0.3) < 0.03);
    await waitFor(() => window.studio.app.sweep.revision === window.studio.app.state.revision);
    const after = await meanIntensity();
    // Intensities are proportional to the reflectance of the walls: 0.3 of 0.8
    assert.ok(after < 0.5 * before && after > 0.25 * before, `${before} to ${after}`);
  });

  await step("undo is one step, and redo repeats it", async () => {
    await page.keyboard.press("Control+z");
    await waitFor(() => window.studio.app.state.scene.toml.materials.wall.diffuse.reflectance === 0.8);
    await page.click("#redo");
    await waitFor(() => window.studio.app.state.scene.toml.materials.wall.diffuse.reflectance < 0.4);
  });

  await step("a moved mirror moves its image", async () => {
    const ahead = () => evaluate(() => { const { sweep } = window.studio.app; return sweep.range[sweep.pixel.indexOf(340)]; });
    const before = await ahead();
    await tab("scene");
    await evaluate(() => window.studio.app.select({ kind: "object", number: 1 }));
    const field = page.locator("#panels .lil-controller:has(.lil-name:text-is('x (m)')) input").first();
    await change(async () => { await field.fill("0.5"); await field.press("Enter"); });
    await waitFor(() => window.studio.app.sweep.revision === window.studio.app.state.revision);
    const after = await ahead();
    // The image of the wall behind the sensor is twice as far away as the mirror moved
    assert.ok(Math.abs(after - before - 0.2) < 0.03, `${before} to ${after}`);
  });

  await step("the sensor is dragged by its gizmo", async () => {
    await evaluate(() => { window.studio.app.select({ kind: "sensor" }); window.studio.view.render(); });
    const before = await evaluate(() => window.studio.app.state.pose);
    const reach = await evaluate(() => {
      const { view } = window.studio;
      const away = view.camera.position.distanceTo(view.points.points.position.clone().set(...window.studio.app.state.pose.slice(0, 3)));
      return (away * Math.min(1.9 * Math.tan((Math.PI * view.camera.fov) / 360), 7) * 0.8) / 4;
    });
    const from = await project([before[0] + 0.42 * reach, before[1], before[2]]);
    const to = await project([before[0] + 0.42 * reach + 0.15, before[1], before[2]]);
    await page.mouse.move(from.x, from.y);
    await page.waitForTimeout(100);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 10 });
    await page.mouse.up();
    // The last edit of the drag is there, and its sweep is shown. On a busy machine earlier ones are answered before it is sent
    const isThere = (x) => Math.abs(window.studio.app.state.pose[0] - x - 0.15) < 0.04 && !window.studio.connection.awaits(Infinity);
    await waitFor(isThere, before[0]);
    const after = await evaluate(() => window.studio.app.state.pose);
    assert.ok(Math.abs(after[0] - before[0] - 0.15) < 0.04, `${before} to ${after}`);
    assert.ok(Math.abs(after[1] - before[1]) < 1e-6 && Math.abs(after[3] - before[3]) < 1e-6, `${after}`);
    await page.click("#undo");
    await waitFor((pose) => JSON.stringify(window.studio.app.state.pose) === pose, JSON.stringify(before));
  });

  await step("save keeps every other line", async () => {
    await page.click("#save");
    await waitFor(() => !window.studio.app.state.scene.is_changed);
    const lines = original.split("\n");
    const saved = (await readFile(join(folder, "room.toml"), "utf8")).split("\n");
    assert.equal(saved.length, lines.length);
    const changed = saved.filter((line, at) => line !== lines[at]);
    assert.equal(changed.length, 2, changed.join("\n"));
    assert.match(changed[0], /^diffuse = \{ reflectance = 0\.\d+ \}$/);
    assert.equal(changed[1], "position_m = [0.5, 0.0, 0.0]");
  });

  await step("a clicked pixel has its truth and its phasors", async () => {
    const image = await page.locator("#images canvas").first().boundingBox();
    await page.mouse.click(image.x + image.width / 2, image.y + image.height / 2);
    await page.locator("#beam td:text-is('truth')").waitFor();
    assert.ok((await page.textContent("#beam")).includes("mirror"));
    assert.ok(await page.locator("#beam canvas").count() > 0);
  });

  await step("the exported command is shown", async () => {
    await page.click("#export");
    assert.match(await page.textContent("#dialog pre"), /^etendue simulate room\.toml --seed 1$/);
    await page.keyboard.press("Escape");
  });

  await step("a dropped recording is overlaid and compared", async () => {
    const points = Array.from({ length: 360 }, (_, i) => `${0.4 * Math.cos((i * Math.PI) / 180)},${0.4 * Math.sin((i * Math.PI) / 180)},0`);
    await drop("circle.csv", `x,y,z\n${points.join("\n")}\n`);
    await waitFor(() => window.studio.view.recorded.points.visible && window.studio.view.recorded.shown.count === 360);
    await page.click("text=Numbers of compare");
    await page.locator("td:text-is('Chamfer distance')").waitFor();
    await page.click("text=Forget");
    await waitFor(() => !window.studio.view.recorded.points.visible);
  });

  await step("a fit finds the moved sensor back", async () => {
    await page.click("text=Keep this sweep");
    await page.locator("#fit-start").waitFor();
    // The button stays where it is when the comparison comes, so that a click meets it
    const top = () => evaluate(() => document.getElementById("fit-start").getBoundingClientRect().top);
    const before = await top();
    await waitFor(() => document.querySelector(".comparison .uplot"));
    assert.equal(await top(), before);
    await change(() => evaluate(() => window.studio.app.edit([{ pose: [0.05, 0.03, 0, 4, 0, 0] }])));
    await page.click("#fit-start");
    await waitFor(() => ["done", "failed"].includes(window.studio.recording.events.at(-1)?.event));
    const outcome = await evaluate(() => window.studio.recording.events.at(-1));
    assert.equal(outcome.verdict, "good", JSON.stringify(outcome));
    await waitFor(() => Math.hypot(...window.studio.app.state.pose.slice(0, 2)) < 0.003 && Math.abs(window.studio.app.state.pose[3]) < 0.2);
    await page.locator("td:text-is('verdict')").waitFor();
  });

  await step("a noise profile is opened beside another", async () => {
    await tab("profiles");
    await page.selectOption("#panels > div.on select", "rplidar-a1-wood");
    await page.locator("#panels > div.on .uplot").nth(3).waitFor();
    await page.selectOption("#panels > div.on select", "rplidar-a1-metal");
    await page.locator("text=RPLIDAR A1 on metal").waitFor();
  });

  await step("a dragged knot changes its profile, and is saved", async () => {
    await waitFor(() => window.studio.app.state.profile && window.studio.profiles.edited);
    // A panel of ten scans: rows of range, quality and angle
    const rows = [];
    for (let scan = 0; scan < 10; scan++)
      for (let beam = -50; beam <= 50; beam++) {
        const angle = (beam * Math.PI) / 180;
        rows.push(`${0.4 / Math.cos(angle) + 0.0005 * Math.sin(7 * beam + 3 * scan)},47,${angle}`);
      }
    await drop("panel.txt", rows.join("\n") + "\n");
    await page.click("text=Points of the recording");
    await waitFor(() => window.studio.profiles.panel?.quantities[0].recorded.values.length > 30);
    const place = await evaluate(() => {
      const { edited: { profile }, plots } = window.studio.profiles;
      plots[0].parent.scrollIntoView({ block: "center" });
      const knot = profile.knots_deg.findIndex((deg) => deg > 20);
      const box = plots[0].plot.over.getBoundingClientRect();
      return { knot, x: box.left + plots[0].plot.valToPos(profile.knots_deg[knot], "x"), y: box.top + plots[0].plot.valToPos(profile.quantities[0].knots[knot], "y") };
    });
    const value = () => evaluate((knot) => window.studio.profiles.edited.profile.quantities[0].knots[knot], place.knot);
    const before = await value();
    await page.mouse.move(place.x, place.y);
    await page.mouse.down();
    await page.mouse.move(place.x, place.y - 20, { steps: 6 });
    await page.mouse.up();
    await waitFor(([knot, value]) => window.studio.profiles.edited.profile.quantities[0].knots[knot] > value + 0.2, [place.knot, before]);
    await page.click("#undo");
    await waitFor(([knot, value]) => window.studio.profiles.edited.profile.quantities[0].knots[knot] === value, [place.knot, before]);
    await page.click("#redo");
    await waitFor(([knot, value]) => window.studio.profiles.edited.profile.quantities[0].knots[knot] > value + 0.2, [place.knot, before]);
    await page.click("#save");
    await waitFor(() => !window.studio.app.state.profile.is_changed);
    const saved = await readFile(join(folder, "rplidar-a1-wood.toml"), "utf8");
    assert.ok(saved.includes(`${await value()}`), `${await value()}`);
    await tab("compare");
    await page.click("text=Forget");
  });

  await step("the aim shows the panel and what is missing", async () => {
    const rows = [];
    for (let scan = 0; scan < 60; scan++)
      for (let beam = -50; beam <= 50; beam++) {
        // The panel is moved away after thirty scans
        const distance = scan < 30 ? 0.4 : 0.5;
        const angle = (beam * Math.PI) / 180;
        rows.push(`${distance / Math.cos(angle) + 0.0005 * Math.sin(7 * beam + 3 * scan)},47,${angle}`);
      }
    await drop("aim.txt", rows.join("\n") + "\n");
    await tab("aim");
    await page.click("#panels > div.on button:text-is('Start')");
    await waitFor(() => window.studio.aim.latest?.scans === 60 && !window.studio.aim.isRunning);
    const { panel, bands, rested, complete, next } = await evaluate(() => window.studio.aim.latest);
    assert.ok(Math.abs(panel.distance - 0.5) < 0.003 && Math.abs(panel.bearing_deg) < 0.5, JSON.stringify(panel));
    assert.equal(rested, 30);
    assert.ok(bands[0] >= 400 && bands[0] < 800 && bands[7] === 0, JSON.stringify(bands));
    assert.ok(complete.length <= 2 && next.some((line) => line.includes("the panel ends at")), JSON.stringify({ complete, next }));
    assert.equal(await page.locator(".bands .enough").count(), bands.filter((beams) => beams >= 400).length);
    await tab("compare");
    await page.click("text=Forget");
  });

  await step("a camera follows the sensor", async () => {
    await tab("camera");
    await waitFor(() => window.studio.camera.columns === 320);
    await change(() => evaluate(() => window.studio.app.edit([{ pose: [0, 0, 0, 30, 0, 0] }])));
    await waitFor(() => window.studio.camera.columns === 160);
    await waitFor(() => window.studio.camera.columns === 320);
    await page.click("text=From the view");
    assert.equal(await page.locator("#panels > div.on input[type=number]").count(), 6);
  });

  await step("a trajectory moves the sensor, and its path is drawn", async () => {
    await drop("drive.tum", "5 -0.1 0 0 0 0 0 1\n6 0.1 0 0 0 0 0 1\n");
    await waitFor(() => window.studio.app.state.trajectory?.poses === 2 && window.studio.app.state.sweeps === 10);
    assert.equal(await evaluate(() => window.studio.app.state.path.length), 301);
    const x = () => evaluate(() => window.studio.app.sweep.pose[0]);
    await waitFor(() => Math.abs(window.studio.app.sweep.pose[0] + 0.1) < 1e-6);
    await page.click("text=▶ Play");
    await waitFor(() => window.studio.app.state.sweep === 9);
    await waitFor(() => window.studio.app.sweep.pose[0] > 0.07);
    assert.ok((await x()) < 0.1);
    // A run ends where its trajectory is left
    await page.click("text=▶ Play");
    await waitFor(() => {
      const { app } = window.studio;
      const isHalf = app.state.sweep > 2 && app.state.sweep < 8;
      if (isHalf) app.edit(["leave_trajectory"]);
      return isHalf;
    });
    await waitFor(() => window.studio.app.state.trajectory === null);
    await page.locator("text=▶ Play").waitFor();
  });

  await step("a robot has its sensors over time", async () => {
    await drop("cart.toml", cart);
    await waitFor(() => window.studio.app.state.robot?.name === "cart" && window.studio.robot.isDone);
    await page.locator("[data-output=imu] .uplot").nth(1).waitFor();
    await page.locator("[data-output=gnss] .uplot").waitFor();
    await evaluate(() => window.studio.robot.seek(5));
    await waitFor(() => window.studio.robot.latest?.time === 5 && window.studio.robot.latest.clouds.length === 2);
    const shown = () => evaluate(() => window.studio.robot.robotPoints.shown.count);
    const some = await shown();
    await page.locator(".output input[type=checkbox]").nth(1).check();
    assert.ok((await shown()) > some);
    await page.locator(".output").first().getByText("only").click();
    assert.equal(await shown(), some);
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#panels > div.on button:text-is('Record')")]);
    assert.equal(download.suggestedFilename(), "run.mcap");
    const recording = await readFile(await download.path());
    assert.ok(recording.length > 100_000 && recording.subarray(1, 5).toString() === "MCAP", `${recording.length}`);
    await page.click("#panels > div.on button[title^='Closes the robot']");
    await waitFor(() => window.studio.app.state.robot === null && window.studio.view.points.points.visible);
  });

  await step("many surfaces are drawn from their picture", async () => {
    const rows = Array.from({ length: 111 }, (_, row) => row);
    const vertices = rows.flatMap((x) => rows.map((y) => `v ${0.002 * x} ${0.002 * y} ${0.03 * Math.sin(0.2 * x) * Math.cos(0.1 * y)}`));
    const faces = rows.slice(1).flatMap((x) => rows.slice(1).flatMap((y) => [[111 * x + y + 1, 111 * x + y, 111 * x - 111 + y], [111 * x + y + 1, 111 * x - 111 + y, 111 * x - 110 + y]].map((corners) => `f ${corners.join(" ")}`)));
    await drop("hills.obj", [...vertices, ...faces].join("\n"));
    await waitFor(() => window.studio.view.objects.triangles > 24_000);
    const { differing, drawn, copies } = await evaluate(async () => {
      const { view } = window.studio;
      // Frames are shown, which empties the canvas
      const shown = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const gl = view.renderer.getContext();
      const pixels = (draw) => {
        draw();
        const read = new Uint8Array(4 * gl.drawingBufferWidth * gl.drawingBufferHeight);
        gl.readPixels(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight, gl.RGBA, gl.UNSIGNED_BYTE, read);
        return read;
      };
      const direct = pixels(() => view.renderer.render(view.scene, view.camera));
      // The second frame of a camera at rest makes the picture, and the third one copies it
      view.render();
      await shown();
      view.render();
      await shown();
      const before = view.still.copies;
      const still = pixels(() => view.render());
      const count = (is) => direct.reduce((sum, value, at) => sum + (is(value, at) ? 1 : 0), 0) / direct.length;
      return { differing: count((value, at) => Math.abs(value - still[at]) > 6), drawn: count((value) => value > 0), copies: view.still.copies - before };
    });
    assert.equal(copies, 1);
    assert.ok(drawn > 0.3 && differing < 0.002, `${differing} of ${drawn}`);
    await page.click("#undo");
    await waitFor(() => window.studio.app.state.objects.length === 3);
  });

  await step("a broken file is refused with its place", async () => {
    await drop("broken.toml", 'version = 1\n[[objects]]\nname = "ball"\nshape.sphere = { radios_m = 1 }\n');
    await page.locator("#toast.bad").waitFor();
    const text = await page.textContent("#toast");
    assert.ok(text.includes("broken.toml:4:18: unknown key \"radios_m\"") && text.includes("did you mean \"radius_m\"?"), text);
    assert.equal(await evaluate(() => window.studio.app.state.scene_name), "arena");
  });

  await step("another scene and sensor", async () => {
    await page.selectOption("#scene", "glass-door");
    await waitFor(() => window.studio.app.state.scene_name === "glass door");
    await page.selectOption("#sensor", "velodyne-vlp-16");
    await waitFor(() => window.studio.app.state.lidar.channels === 16 && window.studio.app.sweep.image[0] === 16);
    for (const mode of ["range", "ring", "object", "material", "returns", "error", "label", "mixed", "incidence"]) await page.selectOption("#colour", mode);
    await tab("run");
    const slider = page.locator("#panels .lil-controller:has(.lil-name:text-is('rain (mm/h)')) .lil-slider").first();
    const box = await slider.boundingBox();
    await change(() => page.mouse.click(box.x + 0.5 * box.width, box.y + box.height / 2));
    await waitFor(() => window.studio.app.state.weather.rain_mm_h > 20);
    const pixel = await evaluate(() => 8 * window.studio.app.sweep.image[1] + 100);
    await evaluate((pixel) => window.studio.beam.inspect(pixel), pixel);
    await page.locator("#beam .uplot").waitFor();
  });

  await step("merged echoes at the edges of a panel before a wall are mixed", async () => {
    const plane = (name, size, at) => `[[objects]]\nname = "${name}"\nshape.plane = { size_m = [${size}] }\nposition_m = [${at}]\nrotation_deg = { pitch = -90 }\nmaterial = "wall"\n`;
    await drop("edge.toml", `version = 1\nname = "edge"\n[materials.wall]\ndiffuse = { reflectance = 0.5 }\n${plane("panel", "6, 1", "4.6, 0.5, 0")}${plane("back", "8, 8", "5, 0, 0")}`);
    await waitFor(() => window.studio.app.state.scene_name === "edge" && window.studio.app.sweep.revision === window.studio.app.state.revision);
    await change(() => evaluate(() => window.studio.app.edit([{ weather: {} }, { pose: [0, 0, 0, 0, 0, 0] }])));
    await page.selectOption("#colour", "mixed");
    const { mixed, off, between, others } = await evaluate(() => {
      const { position, mixed, returns, points } = window.studio.app.sweep;
      const found = Array.from({ length: points }, (_, i) => ({ x: position[3 * i], azimuth: (Math.atan2(position[3 * i + 1], position[3 * i]) * 180) / Math.PI, is: mixed[i] === 1, returns: returns[i] }));
      // Degrees from the nearer edge of the panel
      const away = ({ azimuth }) => Math.min(Math.abs(azimuth), Math.abs(azimuth - (Math.atan(1 / 4.6) * 180) / Math.PI));
      const marked = found.filter((point) => point.is);
      return {
        mixed: marked.length, off: Math.max(...marked.map(away)), others: found.filter((point) => !point.is && point.x > 4.65 && point.x < 4.95).length,
        between: marked.filter((point) => point.returns === 1 && point.x > 4.65 && point.x < 4.95).length,
      };
    });
    // Both edges have one or two beams in each of 16 rings; the beam is 0.4 degrees wide there
    assert.ok(mixed >= 32 && mixed <= 100 && off < 0.4, `${mixed} mixed, at most ${off} degrees away`);
    assert.ok(between >= 16 && others === 0, `${between} merged ranges, ${others} without a mark`);
    await page.locator("#stats").getByText(` ${mixed} mixed `).waitFor();
    assert.ok((await page.textContent("#legend")).includes("several (mixed pixel)"));
  });

  await step("changes leave nothing behind in the page", async () => {
    const protocol = await page.context().newCDPSession(page);
    const round = (first) => evaluate(async (first) => {
      const { app, beam, view, showTab } = window.studio;
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      const edit = async (...edits) => {
        const { revision } = await app.connection.request({ edit: { gesture: app.connection.gesture(), edits } });
        while (app.state.revision < revision || app.sweep.revision < revision) await frame();
      };
      const set = (path, value) => ({ set: { document: "scene", path, value } });
      for (let number = first; number < first + 10; number++) {
        const at = app.state.scene.toml.objects.length;
        await edit(set(["objects", at], { name: `ball ${number}`, shape: { sphere: { radius_m: 0.1 + 0.001 * number } }, material: "wall", position_m: [3, -1, 0] }));
        while (!view.objects.meshes[at]?.geometry.index) await frame();
        app.select({ kind: "object", number: at });
        beam.inspect((97 * number) % app.sweep.beams);
        showTab(["scene", "material", "sensor", "run", "compare", "profiles"][number % 6]);
        const { geometry } = view.objects.meshes[at];
        await edit(set(["objects", at, "shape", "sphere", "radius_m"], 0.2 + 0.001 * number), set(["materials", "wall", "diffuse", "reflectance"], 0.3 + 0.01 * (number % 10)));
        while (view.objects.meshes[at].geometry === geometry) await frame();
        if (number % 6 === 4) { await app.connection.request("keep"); await app.connection.request("forget"); }
        await edit(set(["objects", at], null));
        app.select(null);
      }
      beam.inspect(null);
      showTab("scene");
    }, first);
    const counters = async () => {
      await page.waitForTimeout(500);
      await protocol.send("HeapProfiler.collectGarbage");
      const { nodes, jsEventListeners: listeners } = await protocol.send("Memory.getDOMCounters");
      return { nodes, listeners, ...(await evaluate(() => { const { memory, programs } = window.studio.view.renderer.info; return { ...memory, programs: programs.length }; })) };
    };
    await round(0);
    const before = await counters();
    await round(10);
    const after = await counters();
    const both = JSON.stringify({ before, after });
    // A chart that stays has more than twenty nodes; texts that come and go have some
    for (const name of ["geometries", "textures", "programs"]) assert.equal(after[name], before[name], both);
    assert.ok(after.nodes - before.nodes < 6 * 10 && after.listeners - before.listeners < 10, both);
  });

  await step("on a phone, in the dark", async () => {
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.click("#tab-scene");
    const width = await evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 390, `${width}`);
    assert.ok(await page.isVisible("#panels .list"));
  });

  await step("a browser without WebGL says so in the view", async () => {
    const without = await chromium.launch({ executablePath: chrome, args: ["--no-sandbox", "--disable-3d-apis", "--disable-dev-shm-usage"] });
    const other = await without.newPage({ viewport: { width: 1280, height: 800 } });
    await other.goto(url);
    const note = other.locator("#view #note");
    await note.getByText("no WebGL 2").waitFor();
    assert.ok(await note.isVisible());
    await without.close();
  });

  await step("nothing comes from elsewhere, and nothing fails", async () => {
    const foreign = requests.filter((request) => !request.startsWith(new URL(url).origin) && !request.startsWith("data:") && !request.startsWith("blob:"));
    assert.deepEqual(foreign, []);
    // The refused upload is the only failed request
    assert.deepEqual(errors.filter((text) => !text.includes("422")), []);
  });
} catch (error) {
  failed = true;
  console.error(error.message ?? error, errors);
} finally {
  await browser.close();
  server.removeAllListeners("exit");
  server.kill();
  await rm(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
