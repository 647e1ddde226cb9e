// The material editor: lobes with their numbers, presets, reflectance before and after.

import { type App, button, chooser, element, ownMaterial } from "./app";
import * as charts from "./charts";
import { slider } from "./forms";
import { Panel } from "./panel";
import { bounds, entry, named, resolve } from "./schema";
import type { Edit, Json, Reflectance, State, Step, Table } from "./types";

/** Lobes of a material file, with the numbers of a new one. */
const LOBES: { [name: string]: Table } = {
  diffuse: { reflectance: 0.5 }, gloss: { ior: 1.5, roughness: 0.2 }, mirror: { reflectance: 0.9 }, conductor: { n: 1.5, k: 7, roughness: 0.2 },
  glass: { ior: 1.5, thickness_mm: 4 }, retro: { reflectance: 0.3, width_deg: 0.5, half_entrance_deg: 30 },
};

/** A number at the wavelength of the sensor, of a constant, a table or a fit. */
export function atWavelength(value: Json, nm: number): number | null {
  if (typeof value === "number") return value;
  if (!value || typeof value !== "object" || Array.isArray(value)) return null;
  const fit = value as { [key: string]: number[] };
  const um2 = (nm * 1e-3) ** 2;
  if (fit.sellmeier_b) return Math.sqrt(1 + fit.sellmeier_b.reduce((sum, b, i) => sum + (b * um2) / (um2 - fit.sellmeier_c_um2[i]), 0));
  if (fit.cauchy_coefficient) return fit.cauchy_coefficient.reduce((sum, c, i) => sum + c * (nm * 1e-3) ** fit.cauchy_power[i], 0);
  const at = fit.wavelength_nm.findIndex((w) => w >= nm);
  if (at < 0) return fit.value[fit.value.length - 1];
  if (at === 0) return fit.value[0];
  const share = (nm - fit.wavelength_nm[at - 1]) / (fit.wavelength_nm[at] - fit.wavelength_nm[at - 1]);
  return fit.value[at - 1] + share * (fit.value[at] - fit.value[at - 1]);
}

export class MaterialPanel extends Panel {
  private curves = element("div", "curves");
  private before: { name: string; curve: Reflectance } | null = null;
  private current: Reflectance | null = null;
  private revision = -1;

  constructor(private app: App) { super(); }

  protected key(): string {
    const { state, material } = this.app;
    const own = state?.materials[material];
    return own ? JSON.stringify([own.name, own.file, own.is_own, state!.lidar.wavelength_nm, state!.materials.length]) : "";
  }

  override refresh() {
    super.refresh();
    if (this.app.state && this.app.state.revision !== this.revision) void this.draw();
  }

  protected build() {
    const { app } = this;
    const { state, hello } = app;
    const own = state?.materials[app.material];
    if (!state || !hello || !own) {
      this.element.append(element("p", "note", "Select an object, then edit its material."));
      return;
    }
    // Which material
    const which = element("div", "row");
    which.append(chooser(own.name, state.materials.map((m, number) => [`${number}`, m.name]), (number) => app.selectMaterial(Number(number))));
    if (own.file) which.append(chooser("Preset…", hello.library.map((m) => [m.name, m.name]), (name) => this.edit([{ set: { document: "scene", path: ["materials", own.name], value: { base: name } } }])));
    this.element.append(which);
    const nm = state.lidar.wavelength_nm;
    const description = String(own.file?.description ?? "");
    this.element.append(element("p", "note", `${description ? description + " · " : ""}${own.is_own ? "own material of the scene" : own.file ? "library material; a change makes it one of the scene" : "of the mesh file: assign another material to edit it"} · at ${nm.toFixed(0)} nm`));

    // Its curves
    this.element.append(element("h3", "", "Backscatter and received power"), this.curves);
    const reference = element("div", "row");
    reference.append(button("Compare with this", "Makes the present curve the dashed one", () => {
      if (this.current) this.before = { name: own.name, curve: this.current };
      this.paint();
    }));
    this.element.append(reference);
    if (own.file) this.lobes(state, own.name, own.file);
    void this.draw();
  }

  private lobes(state: State, name: string, file: Table) {
    const { app } = this;
    const root = app.hello!.scene_schema;
    const schema = resolve(root, (root.$defs as Table).MaterialFile);
    const present = Object.keys(LOBES).filter((lobe) => file[lobe]);
    for (const lobe of present) {
      const gui = this.gui(lobe);
      const own = entry(root, schema, lobe);
      gui.domElement.title = String(own.description ?? "");
      this.fields(gui, state, name, lobe, file[lobe] as Table, root, own);
      gui.add({ remove: () => this.remove(name, file, lobe) }, "remove").name("Remove this lobe");
    }
    const rest = Object.keys(LOBES).filter((lobe) => !file[lobe]);
    const row = element("div", "row");
    row.append(chooser("Add a lobe…", rest.map((lobe) => [lobe, lobe]), (lobe) => this.edit([this.lobeEdit(name, lobe, LOBES[lobe])])));
    this.element.append(row);
    if (file.measured) this.element.append(element("p", "note", "The measured table over incidence is edited in the file."));
  }

  private fields(gui: import("lil-gui").default, state: State, name: string, lobe: string, table: Table, root: Table, schema: Table) {
    const { app } = this;
    const now = { ...table };
    for (const key of Object.keys((schema.properties ?? {}) as Table)) {
      const own = entry(root, schema, key);
      const description = String(own.description ?? "");
      const { name: label, unit } = named(key);
      const value = table[key];
      const options = ((own.oneOf ?? []) as Table[]).flatMap((option) => (typeof option.const === "string" ? [option.const] : [])).concat((own.enum as string[] | undefined) ?? []);
      const put = (next: Json, gesture?: number) => {
        now[key] = next;
        this.edit([this.valueEdit(name, lobe, key, next, now)], gesture);
      };
      if (options.length > 0 && typeof value === "string") {
        gui.add({ value }, "value", options).name(label).onChange((next: string) => put(next)).domElement.title = description;
        continue;
      }
      if (typeof value === "boolean") {
        gui.add({ value }, "value").name(label).onChange((next: boolean) => put(next)).domElement.title = description;
        continue;
      }
      if (value === undefined || value === null) continue;
      const number = atWavelength(value, state.lidar.wavelength_nm);
      if (number === null) continue;
      const spectral = typeof value === "object" ? " (table)" : "";
      const note = spectral ? " The value is a table over wavelength: moving the slider makes it a constant." : "";
      slider(gui, { value: number }, "value", `${label}${unit ? ` (${unit})` : ""}${spectral}`, bounds(key, description, number), description + note, () => app.connection.gesture(), put);
    }
    // Numbers that the lobe does not have yet
    const optional = ["slope_sd_deg", "roughness", "thickness_mm", "absorption_per_m", "weight"].filter((key) => key in ((schema.properties ?? {}) as Table) && (table[key] === undefined || table[key] === null));
    const START: { [key: string]: number } = { slope_sd_deg: 10, roughness: 0.3, thickness_mm: 4, absorption_per_m: 1, weight: 1 };
    if (optional.length > 0) {
      const choice = { add: "" };
      gui.add(choice, "add", ["", ...optional]).name("add a number").onChange((key: string) => {
        if (key) this.edit([this.lobeEdit(name, lobe, { ...now, [key]: START[key] })]);
      });
    }
  }

  private edit(edits: Edit[], gesture?: number) {
    this.app.edit(edits, gesture);
  }

  /** The edit of one number; a material or lobe that the scene file lacks is written as a whole. */
  private valueEdit(name: string, lobe: string, key: string, value: Json, lobeNow: Table): Edit {
    const own = ownMaterial(this.app.state!, name);
    if (!own?.[lobe]) return this.lobeEdit(name, lobe, lobeNow);
    return { set: { document: "scene", path: ["materials", name, lobe, key], value } };
  }

  private lobeEdit(name: string, lobe: string, table: Table): Edit {
    const path: Step[] = ["materials", name];
    const own = ownMaterial(this.app.state!, name);
    if (own) return { set: { document: "scene", path: [...path, lobe], value: table } };
    return { set: { document: "scene", path, value: { base: name, [lobe]: table } } };
  }

  private remove(name: string, file: Table, lobe: string) {
    const rest = Object.fromEntries(Object.entries(file).filter(([key]) => key !== lobe && key !== "base" && key !== "source"));
    this.edit([{ set: { document: "scene", path: ["materials", name], value: rest } }]);
  }

  private async draw() {
    const { app } = this;
    const own = app.state?.materials[app.material];
    if (!own || !this.element.isConnected || !this.element.classList.contains("on")) return;
    this.revision = app.state!.revision;
    try {
      const curve = await app.connection.request<Reflectance>({ reflectance: app.material });
      this.current = curve;
      if (this.before?.name !== own.name) this.before = { name: own.name, curve };
      this.paint();
    } catch { /* the state shows why */ }
  }

  private paint() {
    if (!this.current) return;
    const [polar, power] = [element("div", "plot"), element("div", "plot")];
    this.curves.replaceChildren(polar, power);
    const before = this.before?.curve ?? null;
    charts.polar(polar, this.current, before);
    charts.power(power, this.current, before);
    const mirror = this.current.mirror[0];
    this.curves.append(element("p", "note", `Polar: reflectance of the white surface with the same backscatter; dashed: before.${mirror > 0.001 ? ` Mirror reflection at normal incidence: ${(100 * mirror).toFixed(1)} %.` : ""}`));
  }
}
