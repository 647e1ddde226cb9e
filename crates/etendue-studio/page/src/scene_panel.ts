// The panel of objects: list, place, shape, material; new objects and lights.

import { type App, button, chooser, element } from "./app";
import { slider, tableForm } from "./forms";
import { Panel } from "./panel";
import { entry, resolve } from "./schema";
import type { Edit, Json, Step, Table } from "./types";

/** Shapes of new objects. */
const SHAPES: { [name: string]: Table } = {
  box: { box: { size_m: [0.4, 0.4, 0.4] } }, sphere: { sphere: { radius_m: 0.25 } }, cylinder: { cylinder: { radius_m: 0.15, length_m: 0.6 } },
  plane: { plane: { size_m: [0.6, 0.6] } }, cone: { cone: { radius_m: 0.2, height_m: 0.5 } },
  checkerboard: { checkerboard: { cells: [6, 6], cell_m: 0.08, materials: ["white-paper", "black-paper"] } },
};

export class ScenePanel extends Panel {
  constructor(private app: App) { super(); }

  protected key(): string {
    const { state, selection } = this.app;
    if (!state) return "";
    const table = selection?.kind === "object" ? state.objects[selection.number]?.table : -1;
    const shown = selection?.kind === "sensor" ? [state.pose, state.is_pose_given] : (state.scene.toml.objects as Json[])?.[table ?? -1];
    return JSON.stringify([state.objects.map((object) => object.name), state.objects.map((object) => object.material), selection, shown, state.materials.map((m) => m.name), state.scene.toml.lights, state.warnings]);
  }

  protected build() {
    const { app } = this;
    const { state, hello, selection } = app;
    if (!state || !hello) return;
    // The list
    const list = element("div", "list");
    const entryOf = (label: string, detail: string, isOn: boolean, clicked: () => void) => {
      const made = button("", label, clicked);
      made.append(element("span", "", label), element("span", "", detail));
      made.classList.toggle("on", isOn);
      list.append(made);
    };
    entryOf(state.lidar.name, "sensor", selection?.kind === "sensor", () => app.select({ kind: "sensor" }));
    state.objects.slice(0, 400).forEach((object, number) =>
      entryOf(object.name, state.materials[object.material]?.name ?? "", selection?.kind === "object" && selection.number === number, () => app.select({ kind: "object", number })));
    this.element.append(list);
    if (state.objects.length > 400) this.element.append(element("p", "note", `${state.objects.length - 400} more objects: click them in the view`));

    // New things
    const add = element("div", "row");
    add.append(
      chooser("Add object…", Object.keys(SHAPES).map((name) => [name, name]), (name) => this.add(name)),
      chooser("Add light…", [["points", "point light"], ["areas", "area light"], ["daylight", "daylight"]], (kind) => this.addLight(kind)),
    );
    add.append(button("Text…", "The text of the scene file", () => void this.text()));
    this.element.append(add);

    // The selected thing
    if (selection?.kind === "sensor") this.sensor();
    else if (selection?.kind === "object") this.object(selection.number);
    else this.element.append(element("p", "note", "Click an object, the sensor or a point in the view."));
    this.lights();
    for (const warning of state.warnings.slice(0, 5)) this.element.append(element("p", "note", "⚠ " + warning));
  }

  private sensor() {
    const { app } = this;
    const state = app.state!;
    const gui = this.gui("Pose of the sensor");
    const pose = [...state.pose];
    ["x (m)", "y (m)", "z (m)", "yaw (°)", "pitch (°)", "roll (°)"].forEach((label, index) => {
      const span = Math.max(...state.bounds[1].map((high, axis) => high - state.bounds[0][axis]));
      const middle = index < 3 ? 0.5 * (state.bounds[0][index] + state.bounds[1][index]) : 0;
      const half = index < 3 ? Math.max(0.6 * span, Math.abs(pose[index] - middle)) : 180;
      slider(gui, { value: pose[index] }, "value", label, [middle - half, middle + half], "", () => app.connection.gesture(), (value, gesture) => {
        pose[index] = value;
        app.edit([{ pose: [...pose] }], gesture);
      });
    });
    const row = element("div", "row");
    row.append(
      button("Write to the scene file", "Makes this the pose of the scene file", () => this.writePose()),
      ...(state.is_pose_given ? [button("Pose of the file", "Forgets the moved pose", () => app.edit([{ pose: null }]))] : []),
    );
    this.element.append(row);
  }

  private writePose() {
    const [x, y, z, yaw, pitch, roll] = this.app.state!.pose;
    const set = (path: Step[], value: Json): Edit => ({ set: { document: "scene", path, value } });
    this.app.edit([
      set(["sensor", "position_m"], [x, y, z]), set(["sensor", "rotation_wxyz"], null),
      set(["sensor", "rotation_deg"], { yaw, pitch, roll }), set(["sensor", "motion"], null), { pose: null },
    ]);
  }

  private object(number: number) {
    const { app } = this;
    const state = app.state!;
    const object = state.objects[number];
    if (!object) return;
    if (object.table === null) {
      this.element.append(element("h3", "", object.name), element("p", "note", "This object is of an included file: edit it there."));
      return;
    }
    const table = (state.scene.toml.objects as Table[])[object.table];
    const path: Step[] = ["objects", object.table];
    const set = (steps: Step[], value: Json, gesture?: number) => app.edit([{ set: { document: "scene", path: [...path, ...steps], value } }], gesture);

    // Material and deletion
    const row = element("div", "row");
    const names = [...new Set([...state.materials.map((m) => m.name), ...Object.keys((state.scene.toml.materials as Table) ?? {}), ...app.hello!.library.map((m) => m.name)])];
    row.append(
      chooser(`Material: ${String(table.material ?? "of the file")}`, names.map((name) => [name, name]), (name) => set(["material"], name)),
      button("Edit", "Edits the material", () => app.selectMaterial(object.material)),
      button("Delete", "Removes the object", () => {
        app.select(null);
        app.edit([{ set: { document: "scene", path, value: null } }]);
      }),
    );
    this.element.append(element("h3", "", object.name), row);
    if (object.is_moving) this.element.append(element("p", "note", "This object moves: its pose is that of the time of the sweep."));

    // Place
    const gui = this.gui("Place");
    const at = [...((table.position_m as number[] | undefined) ?? [0, 0, 0])];
    const span = Math.max(...state.bounds[1].map((high, axis) => high - state.bounds[0][axis]));
    ["x (m)", "y (m)", "z (m)"].forEach((label, index) => {
      const middle = 0.5 * (state.bounds[0][index] + state.bounds[1][index]);
      const half = Math.max(0.6 * span, Math.abs(at[index] - middle));
      slider(gui, { value: at[index] }, "value", label, [middle - half, middle + half], "", () => app.connection.gesture(), (value, gesture) => {
        at[index] = value;
        set(["position_m"], [...at], gesture);
      });
    });
    if (table.rotation_wxyz === undefined) {
      const angles = { yaw: 0, pitch: 0, roll: 0, ...((table.rotation_deg as Table | undefined) ?? {}) } as { [name: string]: number };
      for (const name of ["yaw", "pitch", "roll"])
        slider(gui, angles, name, `${name} (°)`, [-180, 180], "", () => app.connection.gesture(), (_, gesture) => set(["rotation_deg"], { ...angles }, gesture));
    }

    // Shape
    const root = app.hello!.scene_schema;
    const schema = resolve(root, ((resolve(root, (root.properties as Table).objects).items ?? {}) as Table));
    const shape = this.gui("Shape");
    tableForm(shape, root, entry(root, schema, "shape"), table.shape as Table, ["shape"], ["materials", "tolerance_mm", "file", "part_names"], () => app.connection.gesture(), (steps, value, gesture) => set(steps, value, gesture));
  }

  private add(name: string) {
    const { app } = this;
    const state = app.state!;
    const taken = new Set(state.objects.map((object) => object.name));
    let label = name;
    for (let number = 2; taken.has(label); number++) label = `${name} ${number}`;
    const at = app.view.orbit.target;
    const round = (value: number) => Math.round(value * 100) / 100;
    const tables = (state.scene.toml.objects as Json[]).length;
    const object: Table = { name: label, shape: SHAPES[name], position_m: [round(at.x), round(at.y), round(at.z)] };
    if (name !== "checkerboard") object.material = "white-paint";
    app.edit([{ set: { document: "scene", path: ["objects", tables], value: object } }]);
    app.select({ kind: "object", number: state.objects.length });
  }

  private addLight(kind: string) {
    const { app } = this;
    const lights = (app.state!.scene.toml.lights as Table | undefined) ?? {};
    const at = app.view.orbit.target;
    const place = [at.x, at.y, at.z + 1].map((value) => Math.round(value * 100) / 100);
    const value: Json = kind === "daylight" ? { sun_azimuth_deg: 120, sun_elevation_deg: 40 } : [
      ...((lights[kind] as Json[] | undefined) ?? []),
      kind === "points" ? { position_m: place, flux_lm: 800, temperature_k: 3000 } : { position_m: place, rotation_deg: { roll: 180 }, size_m: [0.5, 0.5], flux_lm: 1000, temperature_k: 4000 },
    ];
    app.edit([{ set: { document: "scene", path: ["lights", kind], value } }]);
  }

  /** The text of the scene file, to be edited by hand. */
  private async text() {
    const { app } = this;
    const dialog = document.getElementById("dialog") as HTMLDialogElement;
    const { text } = await app.connection.request<{ text: string }>({ text: "scene" });
    const area = element("textarea");
    area.value = text;
    area.spellcheck = false;
    const apply = button("Apply", "Loads the text", () => {
      app.edit([{ text: { document: "scene", text: area.value } }]);
      dialog.close();
    });
    apply.type = "button";
    dialog.querySelector("h2")!.textContent = app.state!.scene.path;
    dialog.querySelector(".body")!.replaceChildren(area, apply);
    document.getElementById("dialog-copy")!.onclick = () => void navigator.clipboard?.writeText(area.value);
    dialog.showModal();
  }

  private lights() {
    const { app } = this;
    const lights = app.state!.scene.toml.lights as Table | undefined;
    if (!lights) return;
    const root = app.hello!.scene_schema;
    const schema = resolve(root, (root.properties as Table).lights);
    const form = (title: string, table: Table, own: Table, path: Step[]) => {
      const gui = this.gui(title);
      gui.close();
      tableForm(gui, root, own, table, path, [], () => app.connection.gesture(), (steps, value, gesture) => app.edit([{ set: { document: "scene", path: steps, value } }], gesture));
    };
    for (const [kind, value] of Object.entries(lights)) {
      const own = entry(root, schema, kind);
      if (Array.isArray(value)) value.forEach((light, index) => form(`Light: ${kind} ${index + 1}`, light as Table, resolve(root, own.items), ["lights", kind, index]));
      else if (value && typeof value === "object") form(`Light: ${kind}`, value as Table, own, ["lights", kind]);
    }
  }
}
