// Colour maps and the values that points are coloured by.

import type { State, Sweep } from "./types";

export type ColourMode = "range" | "intensity" | "ring" | "label" | "object" | "material" | "returns" | "error" | "incidence" | "mixed";

export interface Coloured {
  title: string; unit: string;
  values: Float32Array;
  limits: [number, number];
  /** Names of whole numbers; without them the values are continuous. */
  names: ((value: number) => string) | null;
  map: keyof typeof MAPS;
}

// Control points of turbo, viridis and a diverging map (blue, white, red).
const TURBO = ["30123b", "4145ab", "4675ed", "39a2fc", "1bcfd4", "24eca6", "61fc6c", "a4fc3b", "d1e834", "f3c63a", "fe9b2d", "f36315", "d93806", "b11901", "7a0402"];
const VIRIDIS = ["440154", "482475", "414487", "355f8d", "2a788e", "21908d", "22a884", "43bf71", "7ad151", "bddf26", "fde725"];
const DIVERGING = ["053061", "2166ac", "4393c3", "92c5de", "e8eef2", "f4a582", "d6604d", "b2182b", "67001f"];
const SET = ["4e9de6", "f28e2b", "59b368", "e15759", "b07aa1", "edc948", "76b7b2", "ff9da7", "9c755f", "8cd17d", "499894", "d37295", "a0cbe8", "b6992d", "86bcb6", "fabfd2"];

const rgb = (hex: string) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));

function ramp(stops: string[]): Uint8Array {
  const colours = stops.map(rgb);
  const table = new Uint8Array(256 * 4);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (colours.length - 1);
    const low = Math.min(Math.floor(at), colours.length - 2);
    for (let c = 0; c < 3; c++) table[4 * i + c] = colours[low][c] + (at - low) * (colours[low + 1][c] - colours[low][c]);
    table[4 * i + 3] = 255;
  }
  return table;
}

/** Tables of 256 colours (RGBA). */
export const MAPS = { turbo: ramp(TURBO), viridis: ramp(VIRIDIS), diverging: ramp(DIVERGING), set: new Uint8Array(0) };
const set = new Uint8Array(256 * 4);
for (let i = 0; i < 256; i++) set.set([...rgb(SET[i % SET.length]), 255], 4 * i);
MAPS.set = set;

/** Least and greatest value of the middle 98 %, from a sample. */
function middle(values: Float32Array): [number, number] {
  const sample: number[] = [];
  const step = Math.max(1, Math.floor(values.length / 4096));
  for (let i = 0; i < values.length; i += step) if (Number.isFinite(values[i])) sample.push(values[i]);
  if (sample.length === 0) return [0, 1];
  sample.sort((a, b) => a - b);
  const at = (share: number) => sample[Math.round(share * (sample.length - 1))];
  const [low, high] = [at(0.01), at(0.99)];
  return high > low ? [low, high] : [low, low + Math.max(1e-6, Math.abs(low) * 1e-3)];
}

/** The values of a mode, with their limits: those of `before` while it is of the same mode and `keep` is set. */
export function coloured(sweep: Sweep, state: State | null, mode: ColourMode, kept: [number, number] | null): Coloured {
  const [, columns] = sweep.image;
  const whole = (values: ArrayLike<number>, title: string, names: (value: number) => string): Coloured => ({
    title, unit: "", values: Float32Array.from(values), limits: [0, 255], names, map: "set",
  });
  const real = (title: string, unit: string, values: Float32Array, map: keyof typeof MAPS): Coloured => ({
    title, unit, values, limits: kept ?? middle(values), names: null, map,
  });
  switch (mode) {
    case "range": return real("range", "m", sweep.range, "turbo");
    case "intensity": return real("intensity", "", sweep.intensity, "viridis");
    case "incidence": return real("incidence", "°", sweep.incidence.map((v) => (v * 180) / Math.PI), "turbo");
    case "ring": {
      const rows = sweep.image[0];
      const rings = Float32Array.from(sweep.pixel, (pixel) => rows - 1 - Math.floor(pixel / columns));
      return { title: "ring", unit: "", values: rings, limits: [0, Math.max(1, rows - 1)], names: null, map: "turbo" };
    }
    case "error": {
      const mm = sweep.error.map((v) => v * 1e3);
      const [low, high] = middle(mm);
      const most = kept ? kept[1] : Math.max(Math.abs(low), Math.abs(high), 1);
      return { title: "error to the truth", unit: "mm", values: mm, limits: [-most, most], names: null, map: "diverging" };
    }
    case "returns": return whole(sweep.returns, "returns of the beam", (value) => `${value}`);
    case "mixed": return whole(sweep.mixed, "surfaces in the beam", (value) => (value ? "several (mixed pixel)" : "one"));
    case "object": return whole(sweep.object, "object", (value) => state?.objects[value]?.name ?? "no surface");
    case "material": return whole(sweep.material, "material", (value) => state?.materials[value]?.name ?? "no surface");
    case "label": return whole(sweep.class, "class", (value) => state?.classes[value] ?? "none");
  }
}

/** Index of the colour of a value. */
export function colourIndex(value: number, coloured: Coloured): number {
  if (coloured.names) return value % 256;
  const [low, high] = coloured.limits;
  const share = (value - low) / (high - low);
  return Number.isFinite(share) ? Math.max(0, Math.min(255, Math.round(share * 255))) : 0;
}
