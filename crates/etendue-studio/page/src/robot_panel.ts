// The panel of a robot: its run over time, lidars, pictures, and plots of the other sensors.

import * as THREE from "three";
import { type App, button, element } from "./app";
import * as charts from "./charts";
import { RefusedError } from "./connection";
import { MAPS } from "./colours";
import { decode } from "./message";
import { Panel } from "./panel";
import { PointsLayer } from "./points";
import type { Refusal } from "./types";
import { discard } from "./view";

export interface RobotOutput { name: string; topic: string; kind: "cloud" | "picture" | "series"; sensor: number }
export interface RobotState { word: string; name: string; duration: number; outputs: RobotOutput[]; warnings: string[]; run: number }
export type RobotEvent = { event: "progress"; time: number } | { event: "done" } | ({ event: "failed" } & Refusal);

interface Arrived {
  time: number; is_done: boolean; until: number; poses: number[][]; clouds: { output: number; number: number; points: number; start: number; arrival: number }[];
  pictures: { output: number; number: number; arrival: number }[]; position: Float32Array; intensity: Float32Array;
}
interface SeriesMessage { names: [string, string][]; rows: number; time: Float32Array; values: Float32Array }

/** Time between two requests while the run plays, ms. */
const FRAME = 50;

export class RobotPanel extends Panel {
  private run = -1;
  private time = 0;
  /** Time up to which data have arrived. */
  private arrived = 0;
  private isDone = false;
  private playing = 0;
  private isLoading = false;
  private isStale = false;
  /** Outputs whose points are shown, by number; pictures and plots are open or closed by name. */
  private visible = new Set<number>();
  private plots: charts.SeriesChart[] = [];
  private pictures = new Map<number, { image: HTMLImageElement; number: number }>();
  private clock = element("span", "clock");
  private slider = element("input");
  private counts = new Map<number, HTMLElement>();
  private robotPoints = new PointsLayer();
  private marks = new THREE.Group();
  private tracks = new THREE.Group();
  /** The last message, for tests. */
  latest: Arrived | null = null;

  constructor(private app: App) {
    super();
    const { scene } = app.view;
    this.robotPoints.points.visible = false;
    scene.add(this.robotPoints.points, this.marks, this.tracks);
    Object.assign(this.slider, { type: "range", min: "0", step: "0.01", value: "0", title: "Time of the run" });
    this.slider.addEventListener("input", () => this.seek(Number(this.slider.value)));
  }

  private record() {
    const link = element("a");
    Object.assign(link, { href: "robot/run.mcap", download: "run.mcap" });
    link.click();
  }

  private get robot(): RobotState | null {
    return this.app.state?.robot ?? null;
  }

  protected key(): string {
    return JSON.stringify([this.robot && [this.robot.run, this.robot.word], this.isDone, Boolean(this.playing), [...this.visible], this.app.state?.seed]);
  }

  /** Follows the state: another robot, or none. */
  update() {
    const { robot } = this;
    if ((robot?.run ?? -1) === this.run) return;
    this.run = robot?.run ?? -1;
    this.stop();
    discard(this.marks);
    discard(this.tracks);
    this.latest = null;
    this.isDone = false;
    this.time = this.arrived = 0;
    this.robotPoints.points.visible = robot !== null;
    this.app.view.hideSweep(robot !== null);
    document.body.classList.toggle("robot", robot !== null);
    this.visible = new Set(robot?.outputs.flatMap((output, number) => (output.kind === "cloud" && this.isMain(number) ? [number] : [])) ?? []);
    if (robot) {
      // The colour of a point is the number of its output
      this.robotPoints.points.material.uniforms.size.value = 2.4 * this.app.view.renderer.getPixelRatio();
      void this.load();
    }
    this.refresh();
  }

  /** Whether an output is the main one of its sensor, and no tap of a filter. */
  private isMain(number: number): boolean {
    const { outputs } = this.robot!;
    return !outputs.slice(0, number).some((other) => other.sensor === outputs[number].sensor);
  }

  event(event: RobotEvent) {
    if (event.event === "progress") {
      this.arrived = event.time;
      // The view follows the run until the time is chosen
      if (!this.playing && this.time === 0 && !this.isLoading) void this.load();
      this.showTime();
    } else {
      if (event.event === "failed") this.app.toast(event.message, event.remedy, true);
      this.ended();
    }
  }

  private ended() {
    if (this.isDone) return;
    this.isDone = true;
    this.arrived = Math.max(this.arrived, this.robot?.duration ?? 0);
    void this.loadTracks();
    this.refresh();
    void this.loadSeries();
    if (this.time === 0) this.seek(Math.min(1, 0.5 * this.arrived));
    else void this.load();
  }

  protected build() {
    const { robot } = this;
    if (!robot) {
      this.element.append(element("h3", "", "Robot"), element("p", "note", "Drop a robot file (.toml), or start etendue studio ROBOT.toml: its sensors run on their own clocks."));
      return;
    }
    this.element.append(element("h3", "", robot.name), element("p", "note", `${robot.word} · ${robot.duration} s. The run is that of the saved files, as etendue run ${robot.word.replace(" (dropped)", "")} records it.`));
    for (const warning of robot.warnings.slice(0, 4)) this.element.append(element("p", "note", "⚠ " + warning));

    // Time
    this.slider.max = String(robot.duration);
    const row = element("div", "row");
    row.append(button(this.playing ? "❚❚ Stop" : "▶ Play", "Plays the run in real time", () => this.play()), button("Run again", "Runs the saved files with the present seed", () => void this.again()),
      ...(this.isDone ? [button("Record", "The recording of the run for ROS 2 (MCAP): the file that `etendue run -o run.mcap` writes", () => this.record())] : []),
      button("✕", "Closes the robot; its scene stays open", () => this.app.edit(["leave_robot"])));
    this.slider.className = "fill";
    this.element.append(element("div", "row", this.slider, this.clock), row);

    // Outputs
    const list = element("div", "outputs");
    this.counts.clear();
    robot.outputs.forEach((output, number) => {
      const count = element("span", "dim");
      this.counts.set(number, count);
      const name = element("span", "fill", output.name);
      name.title = output.topic;
      if (output.kind !== "cloud") {
        list.append(element("div", "output", element("i"), name, count));
        return;
      }
      const box = element("input");
      Object.assign(box, { type: "checkbox", checked: this.visible.has(number), title: "Shows the points" });
      box.addEventListener("change", () => {
        if (box.checked) this.visible.add(number);
        else this.visible.delete(number);
        this.place();
      });
      const dot = element("i");
      dot.style.background = colour(number);
      const only = button("only", "Shows the points of this output alone", () => { this.visible = new Set([number]); this.place(); this.refresh(); });
      list.append(element("label", "output", dot, box, name, count, only));
    });
    this.element.append(element("h3", "", "Outputs"), list);

    // Pictures
    this.pictures.clear();
    robot.outputs.forEach((output, number) => {
      if (output.kind !== "picture") return;
      const image = element("img", "picture");
      image.alt = output.name;
      this.pictures.set(number, { image, number: -1 });
      this.element.append(element("h3", "", output.name), image);
    });

    // Plots
    this.plots = [];
    robot.outputs.forEach((output, number) => {
      if (output.kind !== "series") return;
      const plot = element("div", "plot");
      plot.dataset.output = output.name;
      this.element.append(element("h3", "", output.name), plot);
      this.plots.push(new charts.SeriesChart(plot, number));
    });
    if (this.isDone) void this.loadSeries();
    else this.element.append(element("p", "note", "The plots appear at the end of the run."));
    this.showTime();
    void this.load();
  }

  private async again() {
    try {
      await this.app.connection.request("run_robot");
    } catch (error) {
      if (error instanceof RefusedError) this.app.toast(error.refusal.message, error.refusal.remedy, true);
    }
  }

  /** Shows the run at a time, s. */
  seek(time: number) {
    this.time = Math.max(0, Math.min(time, this.robot?.duration ?? 0));
    this.showTime();
    void this.load();
  }

  private showTime() {
    const robot = this.robot;
    if (!robot) return;
    this.slider.value = String(this.time);
    this.clock.textContent = `${this.time.toFixed(2)} s${this.isDone ? "" : `, simulated to ${this.arrived.toFixed(1)} s`}`;
    for (const plot of this.plots) plot.mark(this.time);
  }

  private play() {
    if (this.playing) return this.stop();
    let before = performance.now();
    if (this.time >= (this.robot?.duration ?? 0) - 0.01) this.time = 0;
    this.playing = window.setInterval(() => {
      const now = performance.now();
      const time = this.time + (now - before) / 1e3;
      before = now;
      if (time >= this.arrived) this.stop();
      this.seek(Math.min(time, this.arrived));
    }, FRAME);
    this.refresh();
  }

  private stop() {
    clearInterval(this.playing);
    this.playing = 0;
    this.refresh();
  }

  /** Loads what had arrived at the time; the newest time while an answer is awaited. */
  private async load() {
    if (!this.robot) return;
    if (this.isLoading) { this.isStale = true; return; }
    this.isLoading = true;
    const run = this.run;
    // Before the first seek the view follows the run
    const time = this.time === 0 && !this.isDone ? this.arrived : this.time;
    try {
      const answer = await fetch(`robot/at/${Math.round(time * 1e9)}`);
      if (answer.status === 200 && run === this.run) {
        this.latest = decode<Arrived>(await answer.arrayBuffer());
        this.arrived = Math.max(this.arrived, this.latest.until);
        this.place();
        // The run may have ended before the page was open
        if (this.latest.is_done && !this.isDone) setTimeout(() => this.ended());
      }
    } finally {
      this.isLoading = false;
    }
    if (this.isStale) { this.isStale = false; void this.load(); }
  }

  /** Draws the points, the sensors and the pictures of the last message. */
  private place() {
    const { latest, app } = this;
    if (!latest) return;
    // Points of the shown outputs, in the colour of their output
    const parts: { from: number; points: number; output: number }[] = [];
    let from = 0;
    for (const { output, points } of latest.clouds) {
      if (this.visible.has(output)) parts.push({ from, points, output });
      from += points;
      const count = this.counts.get(output);
      if (count) count.textContent = `${points.toLocaleString("en")} points`;
    }
    const total = parts.reduce((sum, part) => sum + part.points, 0);
    const positions = new Float32Array(3 * total), values = new Float32Array(total);
    let to = 0;
    for (const part of parts) {
      positions.set(latest.position.subarray(3 * part.from, 3 * (part.from + part.points)), 3 * to);
      values.fill(part.output, to, to + part.points);
      to += part.points;
    }
    this.robotPoints.show(positions, { title: "", unit: "", values, limits: [0, 255], names: () => "", map: "set" });

    // The base and the sensors
    discard(this.marks);
    const size = 0.02 * app.view.size;
    latest.poses.forEach((pose, number) => {
      const axes = new THREE.AxesHelper(number === 0 ? 2.2 * size : size);
      axes.position.fromArray(pose);
      axes.quaternion.fromArray(pose, 3);
      this.marks.add(axes);
    });

    // Pictures
    for (const { output, number } of latest.pictures) {
      const shown = this.pictures.get(output);
      if (!shown || shown.number === number) continue;
      shown.number = number;
      shown.image.src = `robot/picture/${output}/${number}?run=${this.run}`;
    }
    app.view.draw();
  }

  /** Draws the path of the base, and the fixes of the GNSS receivers. */
  private async loadTracks() {
    const run = this.run;
    const answer = await fetch("robot/path");
    if (answer.status !== 200 || run !== this.run) return;
    const { position } = decode<{ position: Float32Array }>(await answer.arrayBuffer());
    discard(this.tracks);
    this.tracks.add(new THREE.Line(new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(position, 3)), new THREE.LineBasicMaterial({ color: 0xff4fd8 })));
    this.app.view.draw();
  }

  private async loadSeries() {
    const run = this.run;
    for (const plot of this.plots) {
      const answer = await fetch(`robot/series/${plot.output}`);
      if (answer.status !== 200 || run !== this.run) return;
      const series = decode<SeriesMessage>(await answer.arrayBuffer());
      plot.show(series.names, series.time, series.values);
      const count = this.counts.get(plot.output);
      if (count) count.textContent = `${series.rows.toLocaleString("en")} readings`;
      if (series.names[0]?.[0] === "east") this.drawFixes(series);
    }
    this.showTime();
  }

  /** Draws the plots again, for another width. */
  relayout() {
    if (this.isDone) void this.loadSeries();
  }

  private drawFixes(series: SeriesMessage) {
    const fixes: number[] = [];
    for (let i = 0; i < series.rows; i++) if (Number.isFinite(series.values[3 * i])) fixes.push(...series.values.subarray(3 * i, 3 * i + 3));
    const geometry = new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(fixes, 3));
    const old = this.tracks.children.find((child) => child.name === "fixes");
    if (old) this.tracks.remove(old);
    const points = new THREE.Points(geometry, new THREE.PointsMaterial({ color: 0xffd23f, size: 5 * this.app.view.renderer.getPixelRatio(), sizeAttenuation: false }));
    points.name = "fixes";
    this.tracks.add(points);
    this.app.view.draw();
  }
}

/** The colour of the points of an output. */
function colour(output: number): string {
  const [r, g, b] = MAPS.set.subarray(4 * output, 4 * output + 3);
  return `rgb(${r},${g},${b})`;
}
