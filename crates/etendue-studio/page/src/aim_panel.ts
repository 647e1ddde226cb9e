// Live aim: the panel before a sensor while its scans arrive, and what its recording lacks.

import { type App, button, element } from "./app";
import { RefusedError } from "./connection";
import { Panel } from "./panel";
import type { Refusal } from "./types";

interface AimView {
  scans: number; points: [number, number][]; rested: number; bands: number[]; needed: number; complete: number[]; next: string[]; problem: string | null;
  panel: { distance: number; bearing_deg: number; tilt_deg: number; incidence_deg: number; returned: number; ends: [[number, number], [number, number]] } | null;
}
export type AimEvent = ({ event: "scans" } & AimView) | { event: "done" } | ({ event: "failed" } & Refusal);

/** Height of the view from above, px. */
const HEIGHT = 260;

export class AimPanel extends Panel {
  /** The last view, for tests. */
  latest: AimView | null = null;
  isRunning = false;
  private canvas = element("canvas", "aim");
  private text = element("p", "note");
  private bands = element("div", "bands");
  private next = element("ul", "next");
  private hint: { distance_m?: number; width_m?: number; bearing_deg?: number } = {};

  constructor(private app: App) { super(); }

  private get source(): string | null {
    return this.app.state?.aim_source ?? this.app.state?.recording?.name ?? null;
  }

  protected key(): string {
    return JSON.stringify([this.source, this.isRunning]);
  }

  /** Whether there is something to look at. */
  get isUseful(): boolean {
    return this.source !== null;
  }

  protected build() {
    const { source } = this;
    this.element.append(element("h3", "", "Aim"));
    if (!source) return;
    this.element.append(element("p", "note", `Finds the panel in every ten scans of ${source}, and counts the beams of each band of incidence while it stays where it is.`));
    const hints = element("div", "row");
    const row = element("div", "row", this.isRunning ? button("Stop", "Stops reading", () => void this.request("stop_aim")) : button("Start", "Reads the scans from the beginning", () => void this.start()));
    const field = (key: keyof typeof this.hint, label: string, title: string) => {
      const made = element("input");
      Object.assign(made, { type: "number", step: "any", placeholder: label, title, value: this.hint[key] ?? "" });
      made.style.flex = "1 1 72px";
      made.addEventListener("change", () => {
        if (made.value === "") delete this.hint[key];
        else this.hint[key] = Number(made.value);
      });
      hints.append(made);
    };
    field("distance_m", "distance, m", "Approximate distance of the panel");
    field("width_m", "width, m", "Width of the panel");
    field("bearing_deg", "bearing, °", "Bearing of the panel, anticlockwise from x");
    this.element.append(hints, row, this.canvas, this.text, this.bands, this.next);
    this.paint();
  }

  private async request(request: unknown) {
    try {
      await this.app.connection.request(request as never);
    } catch (error) {
      if (error instanceof RefusedError) this.app.toast(error.refusal.message, error.refusal.remedy, true);
      this.isRunning = false;
      this.refresh();
    }
  }

  private async start() {
    this.latest = null;
    this.isRunning = true;
    this.refresh();
    await this.request({ aim: this.hint });
  }

  event(event: AimEvent) {
    if (event.event === "scans") {
      this.latest = event;
      if (!this.isRunning) {
        this.isRunning = true;
        this.refresh();
      }
      this.paint();
      return;
    }
    if (event.event === "failed") this.app.toast(event.message, event.remedy, true);
    this.isRunning = false;
    this.refresh();
  }

  private paint() {
    const view = this.latest;
    if (!view || !this.element.classList.contains("on")) return;
    const { panel } = view;
    this.text.textContent = panel
      ? `${view.scans} scans. Panel at ${panel.distance.toFixed(3)} m, bearing ${panel.bearing_deg.toFixed(1)}°, tilt ${panel.tilt_deg.toFixed(1)}°, incidence up to ${panel.incidence_deg.toFixed(0)}°, ${(100 * panel.returned).toFixed(0)} % returned; it has not moved for ${view.rested} scans.`
      : `${view.scans} scans. ⚠ ${view.problem}`;
    const last = view.bands.reduce((last, beams, band) => (beams > 0 ? band : last), 0);
    this.bands.replaceChildren(...view.bands.slice(0, last + 1).map((beams, band) => {
      const bar = element("i");
      bar.style.width = `${Math.min(100, (100 * beams) / view.needed)}%`;
      bar.classList.toggle("enough", beams >= view.needed);
      return element("div", "band", element("span", "", `${10 * band}–${10 * band + 10}°`), element("span", "bar", bar), element("span", "count", `${beams.toLocaleString("en")} of ${view.needed}`));
    }));
    const done = view.complete.map((metres) => `${metres.toFixed(2)} m`).join(", ");
    this.next.replaceChildren(...view.next.map((text) => element("li", "", text)), ...(done ? [element("li", "done", `complete at ${done}`)] : []));
    this.draw(view);
  }

  /** The scan from above: x to the right, the sensor as a cross, the panel as a line. */
  private draw(view: AimView) {
    const { canvas } = this;
    const ratio = devicePixelRatio;
    const width = this.element.clientWidth - 24;
    Object.assign(canvas, { width: width * ratio, height: HEIGHT * ratio });
    Object.assign(canvas.style, { width: `${width}px`, height: `${HEIGHT}px` });
    const context = canvas.getContext("2d")!;
    const style = getComputedStyle(document.documentElement);
    context.scale(ratio, ratio);
    // Limits: the panel, or most points
    const length = ([x, y]: number[]) => Math.hypot(x, y);
    const reach = view.points.map(length).sort((a, b) => a - b);
    const far = view.panel ? 1.5 * Math.max(...view.panel.ends.map(length)) : Math.max(reach[Math.floor(0.9 * reach.length)] ?? 1, 0.1);
    const scale = (0.5 * Math.min(width, HEIGHT)) / far;
    const place = ([x, y]: number[]) => [width / 2 + x * scale, HEIGHT / 2 - y * scale] as const;
    context.fillStyle = style.getPropertyValue("--dim") || "#888";
    for (const point of view.points) {
      const [x, y] = place(point);
      context.fillRect(x - 1, y - 1, 2, 2);
    }
    context.strokeStyle = context.fillStyle;
    const [x, y] = place([0, 0]);
    for (const [dx, dy] of [[5, 0], [0, 5]]) {
      context.beginPath();
      context.moveTo(x - dx, y - dy);
      context.lineTo(x + dx, y + dy);
      context.stroke();
    }
    if (view.panel) {
      const [from, to] = view.panel.ends.map(place);
      context.strokeStyle = "#2e9d5b";
      context.lineWidth = 3;
      context.beginPath();
      context.moveTo(...from);
      context.lineTo(...to);
      context.stroke();
    }
    context.fillText(`${far.toFixed(far < 3 ? 2 : 1)} m to the edge`, 6, HEIGHT - 6);
  }
}
