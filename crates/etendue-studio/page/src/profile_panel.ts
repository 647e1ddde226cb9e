// The editor of noise profiles: bias, spread, drop-out and intensity over incidence.

import { type App, button, chooser, element } from "./app";
import * as charts from "./charts";
import { RefusedError } from "./connection";
import { tidy } from "./forms";
import { Panel } from "./panel";
import type { Json } from "./types";

interface Quantity { name: string; unit: string; incidence_deg: number[]; values: number[]; low: number[]; high: number[]; column: string; knots: number[] }
export interface Profile {
  sensor: string; material: string; distance: number; recorded_to_deg: number; is_extrapolated: boolean;
  knots_deg: number[]; warnings: string[]; quantities: Quantity[];
}
interface RecordedPanel {
  scans: number; distance: number; bearing_deg: number; beams: number; returned: number; strays: number; warnings: string[];
  quantities: { name: string; recorded: charts.Points; drawn: charts.Points; expected: { incidence_deg: number[]; values: number[] }; changes_deg: number[] }[];
}

/** Colours of the edited profile and of those that are compared with it. */
const COLOURS = ["#3a8fe0", "#f28e2b", "#59b368", "#b07aa1"];

/** Decimals of dragged values, and least and greatest value, by column. */
const COLUMNS: { [column: string]: { decimals: number; least: number; greatest: number } } = {
  bias_mm: { decimals: 3, least: -Infinity, greatest: Infinity },
  spread_mm: { decimals: 4, least: 0, greatest: Infinity },
  drop_out: { decimals: 5, least: 0, greatest: 1 },
  intensity: { decimals: 3, least: 0, greatest: Infinity },
};

export class ProfilePanel extends Panel {
  /** The edited profile, of the text with this fingerprint. */
  private edited: { fingerprint: number; profile: Profile } | null = null;
  private compared: { name: string; profile: Profile }[] = [];
  private panel: RecordedPanel | null = null;
  private showsPanel = false;
  private hint: { distance_m?: number; width_m?: number; bearing_deg?: number } = {};
  private reach = 4;
  private plots: charts.ProfileChart[] = [];
  private panelNote = element("p", "note");
  private latest = 0;
  private isLoading = false;
  /** The dragged column before the drag, and the gesture. */
  private before: { column: number[]; gesture: number } | null = null;

  constructor(private app: App) { super(); }

  protected key(): string {
    const { state, hello, material } = this.app;
    const open = state?.profile;
    return JSON.stringify([hello?.profiles, state?.own_profiles, open && [open.word, open.path, open.is_changed, open.name_in_scene], Boolean(this.edited), this.compared.map((one) => one.name), state?.materials.map((m) => [m.name, m.is_own]), material, state?.recording?.name, this.showsPanel]);
  }

  /** Opens a profile: to edit it, or next to the edited one. */
  async open(name: string) {
    if (!this.app.state?.profile) return this.app.edit([{ profile: name }]);
    const profile = await this.request<Profile>({ profile: name });
    if (profile) this.compared = [...this.compared.filter((one) => one.name !== name), { name, profile }].slice(1 - COLOURS.length);
    this.refresh();
  }

  private async request<T>(request: Json): Promise<T | null> {
    try {
      return await this.app.connection.request<T>(request);
    } catch (error) {
      if (error instanceof RefusedError) this.app.toast(error.refusal.message, error.refusal.remedy, true);
      return null;
    }
  }

  /** Loads the curves of the edited profile after a change of its text, and the draws from it. */
  async update() {
    const open = this.app.state?.profile;
    if (!open) {
      if (this.edited) { this.edited = null; this.refresh(); }
      return;
    }
    if (this.isLoading || this.edited?.fingerprint === open.fingerprint) return;
    this.isLoading = true;
    const { fingerprint } = open;
    const isFirst = !this.edited;
    const profile = await this.request<Profile>({ profile: null });
    this.isLoading = false;
    if (profile) this.edited = { fingerprint, profile };
    if (isFirst) this.refresh();
    this.draw();
    if (this.showsPanel) void this.loadPanel();
    // A later change came meanwhile
    if (profile && this.app.state?.profile?.fingerprint !== fingerprint) void this.update();
  }

  private async loadPanel() {
    const latest = ++this.latest;
    try {
      const panel = await this.app.connection.request<RecordedPanel>({ panel: this.hint });
      if (latest !== this.latest) return;
      this.panel = panel;
      const changes = panel.quantities.filter((one) => one.changes_deg.length > 0).map((one) => one.name);
      this.panelNote.textContent = `Panel at ${panel.distance.toFixed(3)} m, bearing ${panel.bearing_deg.toFixed(1).replace("-0.0", "0.0")}°: ${panel.returned.toLocaleString("en")} of ${panel.beams.toLocaleString("en")} beams of ${panel.scans} scans returned. ▼ marks where adjacent bands of 5° differ (${changes.join(", ") || "nowhere"}; 5 % for all marks of a plot).${panel.warnings.map((warning) => ` ⚠ ${warning}`).join("")}`;
    } catch (error) {
      if (latest !== this.latest || !(error instanceof RefusedError)) return;
      this.panel = null;
      this.panelNote.textContent = `⚠ ${error.refusal.message}: ${error.refusal.remedy}`;
    }
    this.draw();
  }

  protected build() {
    const { app } = this;
    const { state, hello } = app;
    const names = [...(hello?.profiles ?? []), ...(state?.own_profiles ?? [])];
    const row = element("div", "row");
    row.append(chooser(state?.profile ? "Compare with…" : "Open a profile…", names.map((name) => [name, name]), (name) => void this.open(name)));
    this.element.append(element("h3", "", "Noise profiles"), row);
    this.plots = [];
    if (!state?.profile) {
      this.element.append(element("p", "note", "A profile holds the measured errors of a sensor on a material. Open one to edit it, and more to compare them, or drop a profile file (.toml)."));
      return;
    }
    if (!this.edited) return void this.update();
    this.editedLines();
    this.compared.forEach(({ name, profile }, number) => this.comparedLine(name, profile, COLOURS[number + 1]));
    this.recordingLines();
    this.edited.profile.quantities.forEach((quantity, number) => {
      const plot = element("div", "plot");
      plot.dataset.quantity = quantity.name;
      this.element.append(element("h3", "", quantity.name), plot);
      const label = `${quantity.name}${quantity.unit ? `, ${quantity.unit}` : ""}`;
      this.plots.push(new charts.ProfileChart(plot, label, (knot, value, isOver) => this.drag(number, knot, value, isOver)));
    });
    this.draw();
  }

  /** The edited profile: its name, buttons and the reach of a dragged knot. */
  private editedLines() {
    const { app } = this;
    const { profile } = this.edited!;
    const open = app.state!.profile!;
    const line = this.title(profile, COLOURS[0]);
    line.append(button("Save", `Writes ${open.path}`, () => void this.save()), button("✕", "Closes the profile", () => { this.compared = []; app.edit([{ profile: null }]); }));
    this.element.append(line);
    const isDrawn = open.materials.map((material) => app.state!.materials[material]?.name);
    this.element.append(element("p", "note", `${open.is_changed ? "changed · " : ""}recorded at ${profile.distance.toFixed(3)} m, to ${profile.recorded_to_deg.toFixed(0)}°. Drag a knot: the standard errors stay as they were recorded.${isDrawn.length ? ` Ranges on ${isDrawn.join(", ")} are drawn from it.` : ""}`));
    const material = app.state!.materials[app.material];
    const name = open.name_in_scene ?? (app.hello?.profiles.includes(open.word) && !open.is_changed ? open.word : null);
    if (material?.is_own && !open.materials.includes(app.material)) {
      const use = button(`Use on ${material.name}`, name ? "Draws the ranges on this material from the profile" : "Save the profile first", () => app.edit([{ set: { document: "scene", path: ["materials", material.name, "profile"], value: name } }]));
      use.disabled = name === null;
      this.element.append(element("div", "row", use));
    }
    const gui = this.gui("Knots");
    gui.add(this, "reach" as never, 0, 20, 0.5).name("reach of a drag (°)").domElement.title = "Neighbours within this incidence move along, less with their distance";
  }

  private comparedLine(name: string, profile: Profile, colour: string) {
    const line = this.title(profile, colour);
    const { app } = this;
    const close = () => {
      this.compared = this.compared.filter((one) => one.name !== name);
      this.refresh();
    };
    line.append(button("Edit", "Edits this profile in place of the other", () => { close(); app.edit([{ profile: name }]); }), button("✕", "Closes the profile", close));
    this.element.append(line);
  }

  private title(profile: Profile, colour: string): HTMLElement {
    const dot = element("span", "", "●");
    dot.style.color = colour;
    return element("div", "row", dot, element("span", "fill", `${profile.sensor} on ${profile.material}${profile.is_extrapolated ? " (extrapolated)" : ""}`));
  }

  /** The switch of the recorded points, and hints for the search of the panel. */
  private recordingLines() {
    const { app } = this;
    const { recording, seed } = app.state!;
    if (!recording) {
      this.element.append(element("p", "note", "Drop a recording of a panel: its points appear under the curves, beside draws from the profile."));
      return;
    }
    const isShown = button("Points of the recording", `Finds the panel in ${recording.name}, as etendue calibrate does`, () => {
      this.showsPanel = !this.showsPanel;
      this.panel = null;
      this.refresh();
      if (this.showsPanel) void this.loadPanel();
      else this.draw();
    });
    isShown.classList.toggle("on", this.showsPanel);
    const row = element("div", "row", isShown);
    this.element.append(row);
    if (!this.showsPanel) return;
    row.append(button("Draw again", "Draws the beams from the profile with the next seed", () => { app.edit([{ seed: seed + 1 }]); void this.loadPanel(); }));
    const hints = element("div", "row");
    const hint = (key: keyof typeof this.hint, label: string, title: string) => {
      const field = element("input");
      Object.assign(field, { type: "number", step: "any", placeholder: label, title, value: this.hint[key] ?? "" });
      field.style.flex = "1 1 84px";
      field.addEventListener("change", () => {
        if (field.value === "") delete this.hint[key];
        else this.hint[key] = Number(field.value);
        void this.loadPanel();
      });
      hints.append(field);
    };
    hint("distance_m", "distance, m", "Approximate distance of the panel");
    hint("width_m", "width, m", "Width of the panel: tells dropped beams on it from beams beyond its edge");
    hint("bearing_deg", "bearing, °", "Bearing of the panel, anticlockwise from x: selects one of several");
    const key = element("p", "note");
    const dot = (colour: string) => { const made = element("span", "", "● "); made.style.color = colour; return made; };
    key.append(dot(charts.POINT_COLOURS.recorded), "recorded, ", dot(charts.POINT_COLOURS.drawn), "drawn from the profile; dashed: the profile at the distance of the panel");
    this.element.append(hints, key, this.panelNote);
  }

  /** Draws the charts of all quantities. */
  draw() {
    if (!this.edited || this.plots.length === 0) return;
    const { profile } = this.edited;
    profile.quantities.forEach((quantity, number) => {
      const panel = this.showsPanel ? this.panel?.quantities[number] : undefined;
      this.plots[number].show({
        quantities: [quantity, ...this.compared.map((one) => one.profile.quantities[number])], colours: COLOURS,
        knots: { deg: profile.knots_deg, values: quantity.knots },
        recorded: panel?.recorded ?? null, drawn: panel?.drawn ?? null, expected: panel?.expected ?? null, changes: panel?.changes_deg ?? [],
      });
    });
  }

  /** Moves a knot to a value, and its neighbours within the reach along with it. */
  private drag(quantity: number, knot: number, value: number, isOver: boolean) {
    const { app } = this;
    const { profile } = this.edited!;
    const { column, knots } = profile.quantities[quantity];
    this.before ??= { column: [...knots], gesture: app.connection.gesture() };
    const { column: before, gesture } = this.before;
    const { decimals, least, greatest } = COLUMNS[column];
    const moved = Math.min(greatest, Math.max(least, value)) - before[knot];
    const values = before.map((old, i) => {
      const away = Math.abs(profile.knots_deg[i] - profile.knots_deg[knot]);
      if (i !== knot && away >= this.reach) return old;
      const share = i === knot ? 1 : Math.cos((0.5 * Math.PI * away) / this.reach) ** 2;
      return tidy(Number(Math.min(greatest, Math.max(least, old + share * moved)).toFixed(decimals)));
    });
    app.edit([{ set: { document: "profile", path: ["knots", column], value: values } }], gesture);
    if (isOver) this.before = null;
  }

  private async save() {
    const saved = await this.request<{ path: string }>({ save: "profile" });
    if (saved) this.app.toast(`Saved ${saved.path}`);
  }
}
