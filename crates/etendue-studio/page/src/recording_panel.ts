// The panel of recordings and fits.

import * as THREE from "three";
import { type App, button, chooser, element } from "./app";
import * as charts from "./charts";
import { RefusedError } from "./connection";
import { decode } from "./message";
import { Panel } from "./panel";
import { discard } from "./view";
import type { Edit, Json, Table } from "./types";

interface ComparisonMessage { points: number; numbers: [string, string][]; position: Float32Array; difference: Float32Array }
interface Estimate { path: string; number?: number; pose?: number[] }
interface Outcome {
  estimate: Estimate[]; components: [string, string, number][]; ellipse: { center: number[]; angle: number; semi_axes: number[] } | null;
  null_directions: string[]; verdict: string; reasons: string[]; rms_mm: number; iterations: number;
}
export type FitEvent =
  | { event: "iteration"; number: number; cost: number; missing: number; estimate: Estimate[] }
  | ({ event: "done" } & Outcome)
  | { event: "stopped" }
  | ({ event: "failed" } & { message: string; remedy: string });

export class RecordingPanel extends Panel {
  private scan = 0;
  private isInWorld = false;
  private isShown = true;
  private results = element("div", "comparison");
  private fitResults = element("div");
  private paths: string[] | null = null;
  private unknowns = new Set<string>(["sensor.pose"]);
  private isFitting = false;
  private costs: number[] = [];
  private gesture = 0;
  private latest = 0;
  private ellipse = new THREE.Group();
  /** Events of fits, for tests. */
  readonly events: FitEvent[] = [];

  constructor(private app: App) {
    super();
    app.view.scene.add(this.ellipse);
  }

  protected key(): string {
    const { state } = this.app;
    return state ? JSON.stringify([state.recording, this.scan, this.isInWorld, this.isShown, this.isFitting, this.paths, [...this.unknowns], state.objects.map((o) => o.name), state.materials.map((m) => m.name)]) : "";
  }

  protected build() {
    const { app } = this;
    const { state } = app;
    if (!state) return;
    // The recording
    const open = element("div", "row");
    const file = element("input");
    file.type = "file";
    file.hidden = true;
    file.addEventListener("change", () => { if (file.files?.[0]) void this.upload(file.files[0]); });
    open.append(button("Open…", "A recording: PCD, PLY, PCAP, MCAP, LAS, CSV, scan logs", () => file.click()), button("Keep this sweep", "The present sweep becomes the recording", () => void this.request("keep")), file);
    if (state.recording) open.append(button("Forget", "Removes the recording", () => void this.request("forget")));
    this.element.append(element("h3", "", "Recording"), open);
    if (!state.recording) {
      app.recording(null);
      discard(this.ellipse);
      this.results.replaceChildren();
      this.element.append(element("p", "note", "Drop a recording on the page, or keep the present sweep: it is overlaid with the simulated one, and fits find poses and materials from it."));
      return;
    }
    const { recording } = state;
    this.scan = Math.min(this.scan, recording.scans - 1);
    this.element.append(element("p", "note", `${recording.name}: ${recording.scans} scan${recording.scans > 1 ? "s" : ""}${recording.has_beams ? ", one measurement per beam" : ", points"}`));
    for (const warning of recording.warnings.slice(0, 3)) this.element.append(element("p", "note", "⚠ " + warning));
    const gui = this.gui("Overlay");
    const shown = { scan: this.scan, world: this.isInWorld, shown: this.isShown };
    if (recording.scans > 1) gui.add(shown, "scan", 0, recording.scans - 1, 1).name("scan").onChange((scan: number) => { this.scan = scan; void this.compare(false); });
    gui.add(shown, "world").name("points are in the world").onChange((is: boolean) => { this.isInWorld = is; void this.compare(false); });
    gui.add(shown, "shown").name("show").onChange((is: boolean) => { this.isShown = is; void this.compare(false); });
    const numbers = element("div", "row");
    numbers.append(button("Numbers of compare", "Computes the numbers of `etendue compare`", () => void this.compare(true)));
    this.element.append(numbers, this.results);
    this.fit();
    void this.compare(false);
    if (!this.paths) void this.loadPaths();
  }

  private async request(request: Json) {
    try {
      await this.app.connection.request(request);
    } catch (error) {
      if (error instanceof RefusedError) this.app.toast(error.refusal.message, error.refusal.remedy, true);
    }
  }

  private async loadPaths() {
    try {
      this.paths = await this.app.connection.request<string[]>("fit_paths");
    } catch {
      this.paths = [];
    }
    this.refresh();
  }

  /** Sends a file to the session. */
  async upload(file: File) {
    const answer = await fetch(`upload/${encodeURIComponent(file.name)}`, { method: "POST", body: file });
    const body = await answer.json().catch(() => ({}));
    if (answer.status === 413) this.app.toast("The file is larger than 256 MB.", "Convert a part of it with `etendue convert`.", true);
    else if (body.refusal) this.app.toast(body.refusal.message, body.refusal.remedy, true);
    else if (body.upload?.kind === "recording") this.app.toast(`${file.name}: ${body.upload.scans} scan${body.upload.scans > 1 ? "s" : ""}`);
    else if (body.upload?.kind === "object") this.app.toast(`Saved ${body.upload.path} and added an object of it.`);
    else if (body.upload?.kind === "trajectory") this.app.toast(`Saved ${body.upload.path}. The sensor moves along it.`);
    else if (body.upload && !["profile", "robot"].includes(body.upload.kind)) this.app.toast(`${file.name} is open. Save writes it into the working folder.`);
    return body;
  }

  /** Compares the recorded scan with the sweep; on every sweep without the numbers. */
  async compare(withNumbers: boolean) {
    const { app } = this;
    if (!app.state?.recording || !this.isShown) {
      app.recording(null);
      return;
    }
    const latest = ++this.latest;
    const answer = await fetch(`comparison/${this.scan}/${this.isInWorld ? "world" : "sensor"}/${withNumbers ? "numbers" : "points"}`);
    // The recording can be gone before its removal is published
    if (answer.status !== 200 || latest !== this.latest) return;
    const message = decode<ComparisonMessage>(await answer.arrayBuffer());
    app.recording(message.position);
    const plot = element("div", "plot");
    // Numbers of the same scan stay until they are computed again, marked as those of an earlier sweep
    const of = JSON.stringify([app.state.recording, this.scan, this.isInWorld]);
    const old = withNumbers ? null : this.results.querySelector<HTMLElement>(".numbers");
    this.results.replaceChildren(plot);
    charts.histogram(plot, Array.from(message.difference, (value) => value * 1e3), "recorded minus simulated range, mm", 130);
    if (withNumbers) {
      const table = element("table", "numbers");
      table.dataset.of = of;
      for (const [name, value] of message.numbers) table.append(element("tr", "", element("td", "", name), element("td", "", value)));
      this.results.append(table);
    } else if (old?.dataset.of === of) {
      old.classList.add("stale");
      old.title = "Of an earlier sweep: compute them again";
      this.results.append(old);
    }
  }

  private fit() {
    const { app } = this;
    const has = app.state!.recording!.has_beams;
    this.element.append(element("h3", "", "Fit"));
    if (!has) {
      this.element.append(element("p", "note", "Fits need a measurement for each beam: a scan log, or a kept sweep."));
      return;
    }
    const list = element("div", "row");
    for (const path of this.unknowns) list.append(button(`${path} ✕`, "No longer unknown", () => { this.unknowns.delete(path); this.refresh(); }));
    list.append(chooser("Unknown…", (this.paths ?? []).filter((path) => !this.unknowns.has(path)).map((path) => [path, path]), (path) => { this.unknowns.add(path); this.refresh(); }));
    const run = element("div", "row");
    const start = this.isFitting
      ? button("Stop", "Ends the fit at the present estimate", () => void this.request("stop_fit"))
      : button("Start the fit", "Finds the unknowns from the recorded scan", () => void this.start());
    start.id = "fit-start";
    run.append(start);
    this.element.append(list, run, this.fitResults);
  }

  private async start() {
    const { app } = this;
    this.costs = [];
    this.events.length = 0;
    discard(this.ellipse);
    this.fitResults.replaceChildren();
    this.gesture = app.connection.gesture();
    try {
      await app.connection.request({ fit: { unknowns: [...this.unknowns].map((path) => ({ path })), scan: this.scan } });
      this.isFitting = true;
      this.refresh();
    } catch (error) {
      if (error instanceof RefusedError) app.toast(error.refusal.message, error.refusal.remedy, true);
    }
  }

  /** Shows an event of the running fit: the estimate moves in the view. */
  event(event: FitEvent) {
    this.events.push(event);
    if (event.event === "iteration") {
      this.costs.push(event.cost);
      this.place(event.estimate);
      const plot = element("div", "plot");
      this.fitResults.replaceChildren(plot, element("p", "note", `iteration ${event.number}, cost ${event.cost.toExponential(3)}, ${event.missing} beams without a prediction`));
      if (this.costs.length > 1) charts.costs(plot, this.costs, 120);
      return;
    }
    this.isFitting = false;
    if (event.event === "done") this.done(event);
    else if (event.event === "failed") this.app.toast(event.message, event.remedy, true);
    else this.app.toast("The fit was stopped.");
    this.refresh();
  }

  /** Applies an estimate to the scene and the sensor. */
  private place(estimate: Estimate[]) {
    const { app } = this;
    const state = app.state!;
    const edits: Edit[] = [];
    const round = (value: number) => Number(value.toFixed(6));
    for (const { path, number, pose } of estimate) {
      if (path === "sensor.pose" && pose) edits.push({ pose: pose.map(round) });
      const [family, name, ...rest] = path.split(".");
      const set = (steps: (string | number)[], value: Json): Edit => ({ set: { document: "scene", path: steps, value } });
      if (family === "objects" && pose) {
        const object = state.objects.find((object) => object.name === name);
        if (!object || object.table === null) continue;
        const [x, y, z, yaw, pitch, roll] = pose.map(round);
        edits.push(set(["objects", object.table, "position_m"], [x, y, z]), set(["objects", object.table, "rotation_wxyz"], null), set(["objects", object.table, "rotation_deg"], { yaw, pitch, roll }));
      }
      if (family === "materials" && number !== undefined && rest.join(".") === "reflectance") {
        const own = (state.scene.toml.materials as Table | undefined)?.[name] as Table | undefined;
        const file = state.materials.find((material) => material.name === name)?.file;
        const lobe = file?.diffuse ? "diffuse" : file?.mirror ? "mirror" : null;
        if (!lobe) continue;
        edits.push(own?.[lobe] ? set(["materials", name, lobe, "reflectance"], round(number)) : own ? set(["materials", name, lobe], { ...(file![lobe] as Table), reflectance: round(number) }) : set(["materials", name], { base: name, [lobe]: { ...(file![lobe] as Table), reflectance: round(number) } }));
      }
    }
    if (edits.length) app.edit(edits, this.gesture);
  }

  private done(outcome: Outcome) {
    this.place(outcome.estimate);
    const table = element("table", "numbers");
    table.style.margin = "4px 12px";
    const row = (name: string, value: string) => table.append(element("tr", "", element("td", "", name), element("td", "", value)));
    row("verdict", outcome.verdict);
    for (const reason of outcome.reasons) row("", reason);
    row("residual", `${outcome.rms_mm.toFixed(2)} mm rms, ${outcome.iterations} iterations`);
    for (const { path, number, pose } of outcome.estimate) row(path, number !== undefined ? number.toPrecision(5) : pose!.map((value) => value.toFixed(4)).join(", "));
    for (const [name, unit, deviation] of outcome.components) row(`± ${name}`, unit === "rad" ? `${((deviation * 180) / Math.PI).toPrecision(3)}°` : unit === "m" ? `${(deviation * 1e3).toPrecision(3)} mm` : `${deviation.toPrecision(3)} ${unit}`);
    for (const direction of outcome.null_directions) row("not determined", direction);
    const plot = element("div", "plot");
    this.fitResults.replaceChildren(plot, table);
    if (this.costs.length > 1) charts.costs(plot, this.costs, 120);
    if (outcome.ellipse) this.drawEllipse(outcome.ellipse);
  }

  /** Three standard deviations of the position, drawn enlarged where it is too small to be seen. */
  private drawEllipse({ center, angle, semi_axes }: NonNullable<Outcome["ellipse"]>) {
    const state = this.app.state!;
    const size = Math.hypot(...state.bounds[1].map((high, axis) => high - state.bounds[0][axis]));
    const longest = 3 * Math.max(...semi_axes, 1e-9);
    const scale = longest < 0.02 * size ? 10 ** Math.ceil(Math.log10((0.02 * size) / longest)) : 1;
    const points = Array.from({ length: 65 }, (_, i) => {
      const t = (i / 64) * 2 * Math.PI;
      const [a, b] = [3 * scale * semi_axes[0] * Math.cos(t), 3 * scale * semi_axes[1] * Math.sin(t)];
      return new THREE.Vector3(center[0] + a * Math.cos(angle) - b * Math.sin(angle), center[1] + a * Math.sin(angle) + b * Math.cos(angle), center[2]);
    });
    discard(this.ellipse);
    this.ellipse.add(new THREE.Line(new THREE.BufferGeometry().setFromPoints(points), new THREE.LineBasicMaterial({ color: 0xffd23f, depthTest: false })));
    this.fitResults.append(element("p", "note", `Ellipse in the view: three standard deviations of the position${scale > 1 ? `, ${scale.toLocaleString("en")} times enlarged` : ""}.`));
    this.app.view.draw();
  }
}
