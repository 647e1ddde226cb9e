// The page: connects the parts.

import "./studio.css";
import * as THREE from "three";
import { AimPanel } from "./aim_panel";
import { type App, button, element } from "./app";
import { BeamInspector } from "./beam_panel";
import { redrawAll } from "./charts";
import { CameraPanel } from "./camera_panel";
import { coloured, MAPS, type ColourMode } from "./colours";
import { Connection, RefusedError } from "./connection";
import { format, Images } from "./images";
import { MaterialPanel } from "./material_panel";
import type { Panel } from "./panel";
import { ProfilePanel } from "./profile_panel";
import { RecordingPanel } from "./recording_panel";
import { RobotPanel } from "./robot_panel";
import { ScenePanel } from "./scene_panel";
import { RunPanel, SensorPanel } from "./sensor_panel";
import type { Edit, State, Sweep } from "./types";
import { View, type Selection } from "./view";

const get = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const storage = { get: (key: string) => { try { return localStorage.getItem(key); } catch { return null; } }, set: (key: string, value: string) => { try { localStorage.setItem(key, value); } catch { /* private window */ } } };

let mode: ColourMode = "intensity";
let legendHtml = "";
let toastTimer = 0;
let gizmoGesture = 0;

// The connection, which is open already: the sweep is on its way while the view starts

const connection = new Connection(window.early.socket, {
  hello(hello) {
    app.hello = hello;
    get<HTMLSelectElement>("scene").replaceChildren(new Option("Scene…", ""), ...hello.scenes.map((name) => new Option(name, name)));
    get<HTMLSelectElement>("sensor").replaceChildren(new Option("Sensor…", ""), ...hello.sensors.map(([name, title]) => new Option(title, name)));
  },
  state(state) {
    app.state = state;
    void showState(state);
  },
  sweep: showSweep,
  trouble: (refusal) => app.toast(refusal.message, refusal.remedy, true),
  fit: (event) => recording.event(event),
  robot: (event) => robot.event(event),
  aim: (event) => aim.event(event),
  closed: () => app.toast("The studio has ended.", "Start etendue studio again, and open the address that it prints.", true),
});

// The view

const { drawing } = window.early;
if (!drawing) {
  get("note").replaceChildren("This browser has no WebGL 2, which the view needs.", element("small", "", "Allow it in the settings of the browser, or use another browser."));
  connection.close();
  throw new Error("no WebGL 2");
}
get("canvas").replaceWith(drawing.canvas);
Object.assign(drawing.canvas, { id: "canvas", tabIndex: 0 });
const view = new View(drawing, {
  selected: (selection) => app.select(selection),
  point: (index) => {
    if (app.sweep?.every === 1) beam.inspect(app.sweep.pixel[index]);
  },
  moved,
  measured: (text) => app.toast(text),
});

function moved(selection: Selection, thing: THREE.Object3D, isOver: boolean) {
  gizmoGesture ||= app.connection.gesture();
  const { position, quaternion } = thing;
  const round = (value: number) => Math.round(value * 1e5) / 1e5;
  const angles = new THREE.Euler().setFromQuaternion(quaternion, "ZYX");
  const [roll, pitch, yaw] = [angles.x, angles.y, angles.z].map((angle) => round((angle * 180) / Math.PI));
  const at = position.toArray().map(round);
  const state = app.state!;
  if (selection?.kind === "sensor") app.edit([{ pose: [...at, yaw, pitch, roll] }], gizmoGesture);
  else if (selection?.kind === "object") {
    // Copies of a table move together with the first one; an object of an included file has no table to edit
    const object = state.objects[selection.number];
    const { table } = object;
    if (table === null) return app.toast("objects of an included file are edited there");
    const first = state.objects.find((other) => other.table === table)!;
    const own = (state.scene.toml.objects as { position_m?: number[] }[])[table].position_m ?? [0, 0, 0];
    const place = object === first ? at : at.map((value, axis) => round(value - object.pose[axis] + own[axis]));
    const set = (key: string, value: number[] | object | null): Edit => ({ set: { document: "scene", path: ["objects", table, key], value: value as never } });
    const edits = [set("position_m", place)];
    if (toolMode === "rotate") edits.push(set("rotation_wxyz", null), set("rotation_deg", { yaw, pitch, roll }));
    app.edit(edits, gizmoGesture);
  }
  if (isOver) gizmoGesture = 0;
}

const app: App = {
  connection, view, hello: null, state: null, sweep: null, selection: null, material: 0,
  select(selection) {
    app.selection = selection;
    view.select(selection);
    if (selection?.kind === "object" && app.state) app.material = app.state.objects[selection.number]?.material ?? app.material;
    refreshPanels();
  },
  selectMaterial(material) {
    app.material = material;
    showTab("material");
    refreshPanels();
  },
  toast(text, remedy = "", isBad = false) {
    const toast = get("toast");
    toast.replaceChildren(text, ...(remedy ? [element("small", "", remedy)] : []));
    toast.className = `show${isBad ? " bad" : ""}`;
    clearTimeout(toastTimer);
    toastTimer = window.setTimeout(() => (toast.className = ""), isBad ? 9000 : 4000);
  },
  edit: (edits, gesture) => connection.edit(gesture ?? connection.gesture(), edits),
  recording(positions) {
    view.recorded.points.visible = positions !== null;
    if (positions) {
      const values = new Float32Array(positions.length / 3).fill(1);
      view.recorded.show(positions, { title: "", unit: "", values, limits: [0, 1], names: () => "", map: "set" });
    }
    view.draw();
  },
};

// The panels

const images = new Images(get("images"), (pixel) => { if (app.sweep?.every === 1) beam.inspect(pixel); });
const beam = new BeamInspector(get("beam"), app, (pixel) => images.mark(pixel));
const recording = new RecordingPanel(app);
const profiles = new ProfilePanel(app);
const camera = new CameraPanel(app);
const robot = new RobotPanel(app);
const aim = new AimPanel(app);
const panels: { [name: string]: { title: string; panel: Panel | null } } = {
  scene: { title: "Scene", panel: new ScenePanel(app) },
  material: { title: "Material", panel: new MaterialPanel(app) },
  sensor: { title: "Sensor", panel: new SensorPanel(app) },
  run: { title: "Run", panel: new RunPanel(app) },
  compare: { title: "Compare", panel: recording },
  profiles: { title: "Noise", panel: profiles },
  camera: { title: "Camera", panel: camera },
  aim: { title: "Aim", panel: aim },
  robot: { title: "Robot", panel: robot },
  dock: { title: "Scan", panel: null },
};

for (const [name, { title, panel }] of Object.entries(panels)) {
  const tab = button(title, "", () => showTab(name));
  tab.id = `tab-${name}`;
  if (!panel) tab.className = "narrow";
  get("tabs").append(tab);
  if (panel) get("panels").append(panel.element);
}

function showTab(name: string) {
  for (const [own, { panel }] of Object.entries(panels)) {
    get(`tab-${own}`).classList.toggle("on", own === name);
    panel?.element.classList.toggle("on", own === name);
  }
  document.body.classList.toggle("dock-tab", name === "dock");
  refreshPanels();
  if (name === "camera") camera.changed();
}

function refreshPanels() {
  for (const { panel } of Object.values(panels)) if (panel?.element.classList.contains("on")) panel.refresh();
}
showTab("scene");

// States and sweeps

async function showState(state: State) {
  get<HTMLButtonElement>("undo").disabled = state.steps[0] === 0;
  get<HTMLButtonElement>("redo").disabled = state.steps[1] === 0;
  const isChanged = state.scene.is_changed || state.sensor.is_changed || Boolean(state.profile?.is_changed);
  get("save").classList.toggle("changed", isChanged);
  document.title = `${isChanged ? "• " : ""}${state.scene_name} – etendue studio`;
  const [scene, sensor] = [get<HTMLSelectElement>("scene"), get<HTMLSelectElement>("sensor")];
  if (scene.options[0]) scene.options[0].text = state.scene.word.split(/[\\/]/).pop()!;
  scene.title = state.scene.word;
  if (sensor.options[0]) sensor.options[0].text = state.lidar.name;
  scene.value = sensor.value = "";
  if (app.selection?.kind === "object" && app.selection.number >= state.objects.length) app.selection = null;
  refreshPanels();
  void profiles.update();
  showRobot(state);
  showAim(state);
  if (!view.isBeingDragged) await view.show(state);
  if (["object", "material", "label"].includes(mode) && app.sweep) showLegend(app.sweep);
}

let isAimShown = false;
/** Shows the tab of the aim where there is a source of scans; at the start, if the program was given one. */
function showAim(state: State) {
  get("tab-aim").hidden = !aim.isUseful;
  if (state.aim_source && !isAimShown) showTab("aim");
  isAimShown = true;
}

let shownRobot = -1;
/** Shows the tab of a robot while one is open. */
function showRobot(state: State) {
  const run = state.robot?.run ?? -1;
  get("tab-robot").hidden = run < 0;
  robot.update();
  if (run >= 0 && shownRobot < 0) showTab("robot");
  else if (run < 0 && get("tab-robot").classList.contains("on")) showTab("scene");
  shownRobot = run;
}

/** Time from the start of the navigation to the first drawn points, ms. */
let firstDrawn = 0;

function showSweep(sweep: Sweep) {
  app.sweep = sweep;
  view.showSweep(sweep, values(sweep));
  // Where an edit led to this sweep, its time includes the end of the drawing
  if (connection.awaits(sweep.revision) || !firstDrawn) view.finish();
  if (!firstDrawn) get("note").hidden = true;
  firstDrawn ||= performance.now();
  connection.drawn(sweep.revision);
  images.show(sweep);
  showLegend(sweep);
  // What belongs to the whole sweep follows it
  if (sweep.every > 1) return;
  void beam.refresh();
  camera.changed();
  if (app.state?.recording && recording.element.classList.contains("on")) void recording.compare(false);
}

/** Values by the mode; categories and frozen limits do not change from sweep to sweep. */
let frozen: [number, number] | null = null;
const values = (sweep: Sweep) => coloured(sweep, app.state, mode, frozen);

function recolour() {
  if (!app.sweep) return;
  view.points.colour(values(app.sweep));
  showLegend(app.sweep);
  view.draw();
}

function showLegend(sweep: Sweep) {
  const shown = values(sweep);
  const parts: string[] = [`<b>${shown.title}</b>${shown.unit ? ` (${shown.unit})` : ""}`];
  const css = (i: number) => `rgb(${MAPS[shown.map].slice(4 * i, 4 * i + 3).join(",")})`;
  if (shown.names) {
    const counts = new Map<number, number>();
    for (const value of shown.values) counts.set(value, (counts.get(value) ?? 0) + 1);
    const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 12);
    for (const [value, count] of most) parts.push(`<div class="class"><i style="background:${css(value % 256)}"></i>${escape(shown.names(value))} <span style="margin-left:auto;color:var(--dim)">${count.toLocaleString("en")}</span></div>`);
  } else {
    const stops = Array.from({ length: 17 }, (_, i) => css(Math.min(255, i * 16))).join(",");
    parts.push(`<div style="height:8px;border-radius:4px;margin:4px 0 2px;background:linear-gradient(90deg,${stops})"></div><div class="ends"><span>${format(shown.limits[0])}</span><span>${format(shown.limits[1])}</span></div>`);
  }
  const html = parts.join("");
  if (html !== legendHtml) get("legend").innerHTML = legendHtml = html;
}

const escape = (text: string) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// Status line: frames per second while something is drawn

let before = 0;
setInterval(() => {
  const fps = view.frames - before;
  before = view.frames;
  const sweep = app.sweep;
  if (!sweep) return;
  const { latencies } = connection;
  const last = latencies.length ? ` · ${latencies[latencies.length - 1].toFixed(0)} ms to drawn` : "";
  const coarse = sweep.every > 1 ? `1 of ${sweep.every} columns, one ray per beam, while it changes · ` : "";
  // Unknown while single rays are shown
  const mixed = sweep.mixed_points === null ? "" : `${sweep.mixed_points.toLocaleString("en")} mixed · `;
  get("stats").textContent = `${coarse}${sweep.beams.toLocaleString("en")} beams · ${sweep.points.toLocaleString("en")} points · ${mixed}${sweep.timing.simulate_ms.toFixed(1)} ms simulated${last}${fps > 4 ? ` · ${fps} fps` : ""}`;
}, 1000);

// Tools of the view

let toolMode: "translate" | "rotate" = "translate";
const tools = get("tools");
const group = (...children: Node[]) => tools.append(element("div", "group", ...children));
const toggle = (text: string, title: string, isOn: boolean, changed: (isOn: boolean) => void) => {
  const made = button(text, title, () => {
    made.classList.toggle("on");
    changed(made.classList.contains("on"));
  });
  made.classList.toggle("on", isOn);
  return made;
};
const move = button("Move", "Move the selection (W)", () => setTool("translate"));
const rotate = button("Rotate", "Rotate the selection (E)", () => setTool("rotate"));
function setTool(tool: "translate" | "rotate") {
  toolMode = tool;
  view.gizmoMode(tool);
  move.classList.toggle("on", tool === "translate");
  rotate.classList.toggle("on", tool === "rotate");
}
group(move, rotate);
setTool("translate");
const modes: ColourMode[] = ["intensity", "range", "error", "ring", "object", "material", "label", "returns", "mixed", "incidence"];
const colourBy = element("select");
colourBy.id = "colour";
colourBy.title = "Colour of the points";
colourBy.append(...modes.map((name) => new Option(`Colour: ${name === "error" ? "error to truth" : name}`, name)));
colourBy.addEventListener("change", () => {
  mode = colourBy.value as ColourMode;
  frozen = null;
  lock.classList.remove("on");
  recolour();
});
const lock = toggle("⊟", "Keep the limits of the colours from sweep to sweep", false, (isOn) => {
  frozen = isOn && app.sweep ? values(app.sweep).limits : null;
  recolour();
});
group(colourBy, lock);
const style = element("select");
style.title = "Surfaces";
style.append(...["surfaces", "wire", "hidden"].map((name) => new Option(name, name)));
style.addEventListener("change", () => {
  view.objects.style(style.value as "surfaces" | "wire" | "hidden");
  view.draw();
});
group(style,
  toggle("Points", "Show the points", true, (isOn) => { view.points.points.visible = isOn; view.draw(); }));
group(
  toggle("Top", "View from above", false, (isOn) => view.lookFromTop(isOn)),
  toggle("Follow", "The camera follows the sensor", false, (isOn) => (view.follows = isOn)),
  toggle("Measure", "Distance between two clicks", false, (isOn) => view.measureDistances(isOn)),
  toggle("Wide", "A wider side bar", false, (isOn) => { document.body.classList.toggle("wide", isOn); profiles.draw(); robot.relayout(); }),
  button("Fit view", "Look at the whole scene (F)", () => { if (app.state) { view.frame(app.state); view.draw(); } }));
get("hint").textContent = "drag: turn · right drag: shift · wheel: zoom · click: select and inspect";

// The bar

const sendRequest = async (request: never, done?: (answer: any) => void) => {
  try {
    const answer = await connection.request<any>(request);
    done?.(answer);
  } catch (error) {
    if (error instanceof RefusedError) app.toast(error.refusal.message, error.refusal.remedy, true);
  }
};
get("undo").addEventListener("click", () => void sendRequest("undo" as never));
get("redo").addEventListener("click", () => void sendRequest("redo" as never));
get("save").addEventListener("click", () => void save());
async function save() {
  const saved: string[] = [];
  const { state } = app;
  if (!state) return;
  const isFresh = !state.scene.is_changed && !state.sensor.is_changed && !state.profile?.is_changed;
  if (state.scene.is_changed || isFresh) await sendRequest({ save: "scene" } as never, (answer) => saved.push(answer.path));
  if (state.sensor.is_changed) await sendRequest({ save: "sensor" } as never, (answer) => saved.push(answer.path));
  if (state.profile?.is_changed) await sendRequest({ save: "profile" } as never, (answer) => saved.push(answer.path));
  if (saved.length) app.toast(`Saved ${saved.join(" and ")}`);
}
get("export").addEventListener("click", () => {
  const { export: exported } = app.state!;
  const dialog = get<HTMLDialogElement>("dialog");
  dialog.querySelector("h2")!.textContent = "The command line of this sweep";
  const note = exported.unsaved.length ? `Save first: ${exported.unsaved.join(", ")} ${exported.unsaved.length > 1 ? "have" : "has"} changes that are not saved.` : "It writes the same sweep, bit for bit.";
  dialog.querySelector(".body")!.replaceChildren(element("pre", "", exported.command), element("p", "note", note));
  get("dialog-copy").onclick = () => void navigator.clipboard?.writeText(exported.command);
  dialog.showModal();
});
get<HTMLSelectElement>("scene").addEventListener("change", (event) => {
  const name = (event.target as HTMLSelectElement).value;
  if (!name) return;
  app.select(null);
  beam.inspect(null);
  void sendRequest({ open: { scene: name } } as never, () => setTimeout(() => { if (app.state) { view.frame(app.state); view.draw(); } }, 120));
});
get<HTMLSelectElement>("sensor").addEventListener("change", (event) => {
  const name = (event.target as HTMLSelectElement).value;
  if (name) { beam.inspect(null); app.edit([{ sensor: name }]); }
});

// Light and dark

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
function setTheme(isDark: boolean) {
  document.documentElement.classList.toggle("dark", isDark);
  view.setTheme(isDark);
  redrawAll();
}
setTheme(storage.get("theme") ? storage.get("theme") === "dark" : prefersDark.matches);
get("theme").addEventListener("click", () => {
  const isDark = !document.documentElement.classList.contains("dark");
  storage.set("theme", isDark ? "dark" : "light");
  setTheme(isDark);
});

// Dropped files

const dropping = (isOver: boolean) => (event: DragEvent) => {
  event.preventDefault();
  document.body.classList.toggle("drop", isOver);
};
addEventListener("dragover", dropping(true));
addEventListener("dragleave", dropping(false));
addEventListener("drop", async (event) => {
  dropping(false)(event);
  for (const file of event.dataTransfer?.files ?? []) await dropped(file);
});
async function dropped(file: File) {
  const body = await recording.upload(file);
  const isEditing = app.state?.profile && profiles.element.classList.contains("on");
  if (body.upload?.kind === "recording" && !isEditing) showTab("compare");
  if (body.upload?.kind === "trajectory") showTab("run");
  if (body.upload?.kind === "profile") { showTab("profiles"); await profiles.open(body.upload.name); }
  if (body.upload?.kind === "scene") { app.select(null); setTimeout(() => { if (app.state) { view.frame(app.state); view.draw(); } }, 150); }
}

// Keys

addEventListener("keydown", (event) => {
  const isText = event.target instanceof HTMLInputElement && event.target.type !== "range";
  const key = event.key.toLowerCase();
  const isCommand = event.ctrlKey || event.metaKey;
  if (isCommand && key === "z" && !isText) { event.preventDefault(); void sendRequest((event.shiftKey ? "redo" : "undo") as never); }
  else if (isCommand && key === "y" && !isText) { event.preventDefault(); void sendRequest("redo" as never); }
  else if (isCommand && key === "s") { event.preventDefault(); void save(); }
  else if (isText || isCommand) return;
  else if (key === "w") setTool("translate");
  else if (key === "e") setTool("rotate");
  else if (key === "f" && app.state) { view.frame(app.state); view.draw(); }
  else if (key === "escape") { app.select(null); beam.inspect(null); }
});

connection.listen(window.early.received);

// For tests in a browser
Object.assign(window, { studio: { get firstDrawn() { return firstDrawn; }, app, latencies: connection.latencies, view, connection, beam, recording, profiles, camera, robot, aim, dropped, showTab } });
