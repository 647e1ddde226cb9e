// Sliders and fields of the numbers of a file.

import GUI, { type Controller } from "lil-gui";
import { bounds, entry, named } from "./schema";
import type { Json, Step, Table } from "./types";

/** A change of a value by a field: `gesture` is the same while a slider moves. */
export type Change = (path: Step[], value: Json, gesture: number) => void;

/** Numbers without the digits of rounding errors. */
export const tidy = (value: number) => Number(value.toPrecision(9));

/** A slider with its unit and description; `changed` gets a new gesture number for each motion. */
export function slider(gui: GUI, target: object, key: string, label: string, limits: [number, number] | null, title: string, gesture: () => number, changed: (value: number, gesture: number) => void): Controller {
  let current = 0;
  const begin = () => (current ||= gesture());
  const controller = limits ? gui.add(target, key as never, limits[0], limits[1]) : gui.add(target, key as never);
  controller.decimals(4);
  // Typed numbers are kept; the motion of a slider has a ten thousandth of its range as its step
  const digits = limits ? Math.max(0, Math.ceil(-Math.log10((limits[1] - limits[0]) / 1e4))) : 9;
  const isTyped = () => document.activeElement instanceof HTMLInputElement && controller.domElement.contains(document.activeElement);
  const exact = (value: number) => (isTyped() ? tidy(value) : Number(value.toFixed(digits)));
  controller.name(label).onChange((value: number) => changed(exact(value), begin())).onFinishChange(() => (current = 0));
  controller.domElement.title = title;
  return controller;
}

/** A field for each number, choice and short list of a table, with folders for tables in it. */
export function tableForm(gui: GUI, root: Table, schema: Table, table: Table, path: Step[], skipped: string[], gesture: () => number, change: Change) {
  for (const [key, value] of Object.entries(table)) {
    if (skipped.includes(key)) continue;
    const own = entry(root, schema, key);
    const description = String(own.description ?? "");
    const { name, unit } = named(key);
    const label = unit ? `${name} (${unit})` : name;
    const place = [...path, key];
    if (typeof value === "number") {
      slider(gui, { [key]: value }, key, label, bounds(key, description, value), description, gesture, (next, of) => change(place, next, of));
    } else if (typeof value === "boolean") {
      gui.add({ [key]: value }, key).name(label).onChange((next: boolean) => change(place, next, gesture())).domElement.title = description;
    } else if (typeof value === "string") {
      const options = choices(own);
      if (options.length > 1) gui.add({ [key]: value }, key, options).name(label).onChange((next: string) => change(place, next, gesture())).domElement.title = description;
    } else if (Array.isArray(value)) {
      if (value.length <= 4 && value.every((number) => typeof number === "number"))
        value.forEach((number, index) => {
          const suffix = value.length === 3 ? "xyz"[index] : value.length === 2 ? "xy"[index] : `${index + 1}`;
          slider(gui, { [key]: number as number }, key, `${name} ${suffix}${unit ? ` (${unit})` : ""}`, null, description, gesture, (next, of) => change([...place, index], next, of));
        });
    } else if (value && typeof value === "object") {
      const folder = gui.addFolder(name);
      folder.domElement.title = description;
      tableForm(folder, root, own, value as Table, place, skipped, gesture, change);
      if (folder.controllersRecursive().length === 0) folder.destroy();
    }
  }
}

function choices(schema: Table): string[] {
  const plain = schema.enum as string[] | undefined;
  if (plain) return plain;
  return ((schema.oneOf ?? []) as Table[]).flatMap((option) => (typeof option.const === "string" ? [option.const] : []));
}
