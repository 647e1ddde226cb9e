// Units, bounds and descriptions of numbers, from the JSON Schemas of the files.

import type { Json, Table } from "./types";

/** What a schema says of a value. */
export interface Described { schema: Table; description: string }

/** Follows references and optional alternatives of a schema. */
export function resolve(root: Table, schema: Json | undefined): Table {
  let at = (schema ?? {}) as Table;
  for (let steps = 0; steps < 8; steps++) {
    const reference = at.$ref as string | undefined;
    const options = (at.anyOf ?? at.allOf) as Table[] | undefined;
    if (reference) at = { description: at.description ?? null, ...(reference.slice(2).split("/").reduce<Json>((table, key) => (table as Table)[key], root) as Table) };
    else if (options) at = { description: at.description ?? null, ...(options.find((option) => option.type !== "null") ?? {}) };
    else break;
  }
  return at;
}

/** The schema of an entry of a table; the alternatives of an enum are searched. */
export function entry(root: Table, schema: Table, key: string): Table {
  const own = (schema.properties as Table | undefined)?.[key];
  if (own) return { ...resolve(root, own), ...((own as Table).description ? { description: (own as Table).description } : {}) };
  for (const option of (schema.oneOf ?? []) as Table[]) {
    const found = (option.properties as Table | undefined)?.[key];
    if (found) return resolve(root, found);
  }
  return {};
}

const UNITS: [RegExp, string][] = [
  [/_per_m$/, "1/m"], [/_deg_s$/, "°/s"], [/_m_s$/, "m/s"], [/_mm_h$/, "mm/h"], [/_g_m3$/, "g/m³"], [/_mrad$/, "mrad"], [/_urad$/, "µrad"], [/_deg$/, "°"], [/_mm$/, "mm"],
  [/_nm$/, "nm"], [/_um$/, "µm"], [/_ns$/, "ns"], [/_us$/, "µs"], [/_ghz$/, "GHz"], [/_mhz$/, "MHz"], [/_hz$/, "Hz"], [/_counts$/, "counts"], [/_lm$/, "lm"], [/_k$/, "K"], [/_w$/, "W"], [/_s$/, "s"], [/_m$/, "m"],
];

/** Name and unit of a key. */
export function named(key: string): { name: string; unit: string } {
  const found = UNITS.find(([ending]) => ending.test(key));
  const name = (found ? key.replace(found[0], "") : key).replaceAll("_", " ");
  return { name: name || key, unit: found?.[1] ?? "" };
}

/** Bounds of numbers whose schema states none: what a slider covers. */
const USUAL: { [key: string]: [number, number] } = {
  ior: [1, 3], group_ior: [1, 3], n: [0.05, 6], k: [0, 12], slope_sd_deg: [0, 60], weight: [0, 1], reflectance: [0, 1], roughness: [0.01, 1],
  absorption_per_m: [0, 100], thickness_mm: [0.5, 30], width_deg: [0.05, 5], half_entrance_deg: [5, 80], probability: [0.01, 0.999], yaw: [-180, 180], pitch: [-180, 180], roll: [-180, 180],
};

/** Least and greatest number that a slider covers: those of the schema, the usual ones, or those around a value. */
export function bounds(key: string, description: string, value: number): [number, number] {
  const stated = /in \[(-?[\d.]+), (-?[\d.]+)\]/.exec(description);
  if (stated) return [Number(stated[1]), Number(stated[2])];
  const usual = USUAL[key];
  if (usual) return [Math.min(usual[0], value), Math.max(usual[1], value)];
  if (value === 0) return [0, 1];
  const top = 10 ** Math.ceil(Math.log10(Math.abs(value) * 2.5));
  const nice = [0.2, 0.5, 1].map((share) => share * top).find((end) => end >= Math.abs(value) * 2) ?? top;
  return value > 0 ? [0, nice] : [-nice, nice];
}
