// Range and intensity images of the sweep.

import { MAPS, coloured, colourIndex, type Coloured } from "./colours";
import type { Sweep } from "./types";

/** Size of the images, and the columns by which rows are shifted to have the same azimuth. */
interface Shape { rows: number; columns: number; shifts: number[] }

const modulo = (value: number, of: number) => ((value % of) + of) % of;

class SweepImage {
  readonly canvas = document.createElement("canvas");
  readonly label = document.createElement("span");
  readonly mark = document.createElement("div");
  private data: ImageData | null = null;

  constructor(parent: HTMLElement, private shape: () => Shape, private chosen: (pixel: number) => void) {
    const frame = document.createElement("div");
    frame.className = "image";
    this.mark.className = "mark";
    frame.append(this.canvas, this.label, this.mark);
    parent.append(frame);
    this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      const { rows, columns, shifts } = this.shape();
      const row = Math.min(rows - 1, Math.floor(((event.clientY - box.top) / box.height) * rows));
      const column = Math.min(columns - 1, Math.floor(((event.clientX - box.left) / box.width) * columns));
      this.chosen(row * columns + modulo(column - (shifts[row] ?? 0), columns));
    });
  }

  show(sweep: Sweep, values: Coloured) {
    const [rows, columns] = sweep.image;
    if (this.data?.width !== columns || this.data.height !== rows) {
      this.canvas.width = columns;
      this.canvas.height = rows;
      this.data = new ImageData(columns, rows);
    }
    const pixels = new Uint32Array(this.data.data.buffer);
    const map = new Uint32Array(MAPS[values.map].buffer);
    pixels.fill(0xff0b0805);
    // The first return of a beam is written last
    for (let i = sweep.points - 1; i >= 0; i--) {
      const row = Math.floor(sweep.pixel[i] / columns);
      const column = modulo((sweep.pixel[i] % columns) + sweep.shifts[row], columns);
      pixels[row * columns + column] = map[colourIndex(values.values[i], values)];
    }
    this.canvas.getContext("2d")!.putImageData(this.data, 0, 0);
    this.label.textContent = `${values.title}${values.names ? "" : `  ${format(values.limits[0])} – ${format(values.limits[1])} ${values.unit}`}`;
  }

  place(pixel: number | null) {
    const { rows, columns, shifts } = this.shape();
    this.mark.style.display = pixel === null ? "none" : "block";
    if (pixel === null) return;
    const row = Math.floor(pixel / columns);
    this.mark.style.left = `${(modulo((pixel % columns) + (shifts[row] ?? 0), columns) + 0.5) * (100 / columns)}%`;
    this.mark.style.top = `${(row + 0.5) * (100 / rows)}%`;
  }
}

export function format(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

export class Images {
  private range: SweepImage;
  private intensity: SweepImage;
  private shape: Shape = { rows: 1, columns: 1, shifts: [] };

  constructor(parent: HTMLElement, chosen: (pixel: number) => void) {
    this.range = new SweepImage(parent, () => this.shape, chosen);
    this.intensity = new SweepImage(parent, () => this.shape, chosen);
  }

  show(sweep: Sweep) {
    this.shape = { rows: sweep.image[0], columns: sweep.image[1], shifts: sweep.shifts };
    this.range.show(sweep, coloured(sweep, null, "range", null));
    this.intensity.show(sweep, coloured(sweep, null, "intensity", null));
  }

  mark(pixel: number | null) {
    this.range.place(pixel);
    this.intensity.place(pixel);
  }
}
