// The panels of the sensor's numbers, and of the run: weather, noise, time.

import { type App, button, element } from "./app";
import { slider, tableForm } from "./forms";
import { Panel } from "./panel";
import { resolve } from "./schema";
import type { Weather } from "./types";

export class SensorPanel extends Panel {
  constructor(private app: App) { super(); }

  protected key(): string {
    return JSON.stringify(this.app.state?.sensor ?? null);
  }

  protected build() {
    const { app } = this;
    const { state, hello } = app;
    if (!state || !hello) return;
    const { lidar } = state;
    this.element.append(element("h3", "", lidar.name), element("p", "note",
      `${String(state.sensor.toml.description ?? "")} · ${lidar.receiver} receiver, ${lidar.channels} channel${lidar.channels > 1 ? "s" : ""} × ${lidar.columns} columns, ${lidar.wavelength_nm.toFixed(0)} nm, ${lidar.near} to ${lidar.far} m${state.sensor.is_changed ? " · changed" : ""}`));
    const root = hello.sensor_schema;
    for (const [key, value] of Object.entries(state.sensor.toml)) {
      if (!value || typeof value !== "object" || Array.isArray(value)) continue;
      const gui = this.gui(key);
      const schema = resolve(root, { properties: root.properties } as never);
      tableForm(gui, root, schema, { [key]: value }, [], ["azimuth_deg", "elevation_deg"], () => app.connection.gesture(), (path, next, gesture) => app.edit([{ set: { document: "sensor", path, value: next } }], gesture));
      if (gui.controllersRecursive().length === 0) gui.destroy();
      if (key === "channels") gui.close();
    }
    const row = element("div", "row");
    row.append(button("Sensor of the scene", "Forgets the changed or chosen sensor", () => app.edit([{ sensor: null }])));
    this.element.append(row);
  }
}

const WEATHER: [keyof Weather, string, [number, number], number][] = [
  ["rain_mm_h", "rain (mm/h)", [0, 60], 0], ["snow_mm_h", "snow (mm/h)", [0, 20], 0], ["dust_g_m3", "dust (g/m³)", [0, 1], 0],
];
const VISIBILITY: [keyof Weather, string][] = [["fog_m", "fog: visibility (m)"], ["visibility_m", "haze: visibility (m)"]];

export class RunPanel extends Panel {
  private playing = 0;

  constructor(private app: App) { super(); }

  protected key(): string {
    const { state } = this.app;
    return state ? JSON.stringify([state.weather, state.seed, state.sweep, state.sweeps, state.trajectory, state.is_moving, state.scene.toml.atmosphere, this.playing]) : "";
  }

  protected build() {
    const { app } = this;
    const state = app.state!;
    if (!state) return;
    const gesture = () => app.connection.gesture();

    // Time
    const duration = app.sweep?.duration ?? 0.1;
    const time = this.gui("Time");
    const last = state.sweeps !== null ? Math.max(1, state.sweeps - 1) : Math.max(200, state.sweep);
    slider(time, { sweep: state.sweep }, "sweep", "sweep", [0, last], "Index of the sweep in its run", gesture, (value, of) => app.edit([{ sweep: Math.round(value) }], of)).step(1);
    const moves = state.is_moving || state.objects.some((object) => object.is_moving);
    const row = element("div", "row");
    row.append(
      button(this.playing ? "❚❚ Stop" : "▶ Play", "Simulates sweep after sweep", () => this.play()),
      button("⏮ Start", "The first sweep", () => app.edit([{ sweep: 0 }])),
    );
    const record = element("input");
    Object.assign(record, { type: "number", min: 1, max: state.sweeps ?? 10000, value: state.sweeps ?? 20, title: "Number of sweeps" });
    record.style.width = "72px";
    if (state.trajectory) {
      const { path, poses, duration: lasts } = state.trajectory;
      row.append(button("Leave the trajectory", "The pose of the scene, or the middle of it", () => app.edit(["leave_trajectory"])));
      this.element.append(element("p", "note", `Trajectory ${path}: ${poses.toLocaleString("en")} poses in ${lasts.toFixed(2)} s, ${state.sweeps} sweeps.`));
    }
    const save = element("div", "row", "Record", record, "sweeps", button("to MCAP", "A recording for ROS 2: the file that `etendue simulate -o run.mcap` writes", () => {
      const link = element("a");
      Object.assign(link, { href: `record/${Math.max(1, Math.round(Number(record.value)))}`, download: "run.mcap" });
      link.click();
    }));
    this.element.append(row, save, element("p", "note", `Sweep ${state.sweep} begins at ${(state.sweep * duration).toFixed(2)} s; a sweep takes ${(1e3 * duration).toFixed(0)} ms. ${moves ? "The scene or the sensor moves." : "Nothing moves in this scene: sweeps differ by their noise. Drop a trajectory (TUM, KITTI) to move the sensor along it."}`));

    // Noise
    const noise = this.gui("Noise");
    noise.add({ seed: state.seed }, "seed", 0, 1e6, 1).name("seed").onFinishChange((seed: number) => app.edit([{ seed: Math.max(0, Math.round(seed)) }]));

    // Weather
    const weather = this.gui("Weather (in place of that of the scene)");
    const now: Weather = Object.fromEntries(Object.entries(state.weather).filter(([, value]) => value !== null));
    for (const [key, label, limits, none] of WEATHER)
      slider(weather, { value: now[key] ?? none }, "value", label, limits, "", gesture, (value, of) => {
        now[key] = value;
        app.edit([{ weather: { ...now } }], of);
      });
    for (const [key, label] of VISIBILITY)
      slider(weather, { value: Math.log10(now[key] ?? 1e5) }, "value", label + ", log₁₀", [1, 5], "1 is 10 m, 5 is 100 km", gesture, (value, of) => {
        now[key] = Number((10 ** value).toPrecision(3));
        app.edit([{ weather: { ...now } }], of);
      });
    const clear = element("div", "row");
    clear.append(button("Weather of the scene", "Forgets these amounts", () => app.edit([{ weather: {} }])));
    this.element.append(clear);
  }

  private play() {
    if (this.playing) {
      clearInterval(this.playing);
      this.playing = 0;
    } else {
      const of = this.app.connection.gesture();
      const { sweeps, sweep: now } = this.app.state!;
      let sweep = now + 1 === sweeps ? -1 : now;
      let shown = -1;
      const every = Math.max(30, 1e3 * (this.app.sweep?.duration ?? 0.1));
      this.playing = window.setInterval(() => {
        // The next sweep, once the one before is drawn
        if (this.app.sweep?.revision === shown) return;
        shown = this.app.sweep?.revision ?? -1;
        // The end of the run, or another run
        if (sweep + 1 === sweeps || this.app.state!.sweeps !== sweeps) return this.play();
        this.app.edit([{ sweep: ++sweep }], of);
      }, every);
    }
    this.refresh();
  }
}
