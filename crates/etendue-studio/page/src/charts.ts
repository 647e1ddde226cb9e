// Charts: waveform, phasors, reflectance over incidence.

import uPlot from "uplot";
import { format } from "./images";
import type { Beam, Reflectance } from "./types";

const css = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const axis = (label: string): uPlot.Axis => ({
  label, labelSize: 16, size: 40, stroke: () => css("--dim"), font: "11px system-ui", labelFont: "11px system-ui",
  grid: { stroke: () => css("--line"), width: 1 }, ticks: { stroke: () => css("--line"), width: 1 },
});

/** Charts that are part of the page. */
const charts = new Set<uPlot>();

/** A new chart. Those that were removed from the page are destroyed, because they listen to events of the window. */
function chart(options: uPlot.Options, data: uPlot.AlignedData, parent: HTMLElement) {
  for (const old of charts) {
    if (old.root.isConnected) continue;
    old.destroy();
    charts.delete(old);
  }
  const made = new uPlot(options, data, parent);
  charts.add(made);
  return made;
}

/** Draws all charts again, in the colours of the page. */
export function redrawAll() {
  for (const one of charts) one.redraw(false);
}

/** A canvas of the width of its parent. */
function canvas(parent: HTMLElement, height: number): CanvasRenderingContext2D {
  const made = document.createElement("canvas");
  const width = Math.max(160, parent.clientWidth - 4);
  const ratio = devicePixelRatio;
  Object.assign(made, { width: width * ratio, height: height * ratio });
  made.style.width = `${width}px`;
  made.style.height = `${height}px`;
  parent.append(made);
  const drawing = made.getContext("2d")!;
  drawing.scale(ratio, ratio);
  drawing.font = "11px system-ui";
  return drawing;
}

/** Received power over half the path, with the threshold, the reported echoes and the true surface. */
export function waveform(parent: HTMLElement, beam: Beam, height: number) {
  if (beam.signal.kind !== "waveform") return;
  const { start, step, samples, threshold } = beam.signal;
  const highest = Math.max(threshold, ...samples);
  const lowest = Math.min(0.3 * threshold, Math.max(1e-5 * highest, 0.01 * threshold));
  const x = samples.map((_, i) => start + i * step);
  const marks = (plot: uPlot) => {
    const line = (range: number, color: string, dash: number[]) => {
      const at = plot.valToPos(range, "x", true);
      if (at < plot.bbox.left || at > plot.bbox.left + plot.bbox.width) return;
      plot.ctx.save();
      plot.ctx.strokeStyle = color;
      plot.ctx.lineWidth = 1.5 * devicePixelRatio;
      plot.ctx.setLineDash(dash);
      plot.ctx.beginPath();
      plot.ctx.moveTo(at, plot.bbox.top);
      plot.ctx.lineTo(at, plot.bbox.top + plot.bbox.height);
      plot.ctx.stroke();
      plot.ctx.restore();
    };
    if (beam.truth) line(beam.truth.range, "#59b368", [5, 4]);
    for (const echo of beam.returns) line(echo.half_path, "#f28e2b", []);
  };
  chart({
    width: Math.max(200, parent.clientWidth - 4), height, legend: { show: false }, cursor: { y: false },
    scales: { x: { time: false }, y: { distr: 3, range: [lowest, 1.6 * highest] } },
    axes: [axis("half the optical path, m"), { ...axis("power, 1/(m² sr)"), size: 58, values: (_, ticks) => ticks.map((tick) => (tick && Number.isInteger(Math.log10(tick)) ? tick.toExponential(0) : "")) }],
    series: [{}, { stroke: css("--accent"), width: 1.4, points: { show: false } }, { stroke: "#e15759", width: 1.2, dash: [7, 4], points: { show: false } }],
    hooks: { draw: [marks] },
  }, [x, samples.map((power) => Math.max(power, lowest)), samples.map(() => threshold)], parent);
}

/** The received waves of both modulation frequencies. */
export function phasors(parent: HTMLElement, beam: Beam, height: number) {
  if (beam.signal.kind !== "phasors") return;
  const { waves, detectable, sufficient } = beam.signal;
  const drawing = canvas(parent, height);
  const width = parseFloat(drawing.canvas.style.width);
  const [cx, cy, radius] = [Math.min(width / 2, height), height / 2, height / 2 - 14];
  const most = Math.max(...waves.map(([re, im]) => Math.hypot(re, im)), 1.2 * sufficient, 1e-300);
  const ring = (power: number, color: string, dash: number[]) => {
    drawing.beginPath();
    drawing.strokeStyle = color;
    drawing.setLineDash(dash);
    drawing.arc(cx, cy, (radius * power) / most, 0, 2 * Math.PI);
    drawing.stroke();
    drawing.setLineDash([]);
  };
  ring(most, css("--line"), []);
  ring(detectable, "#e15759", [4, 3]);
  ring(sufficient, "#f28e2b", [4, 3]);
  waves.forEach(([re, im], number) => {
    const [x, y] = [cx + (radius * re) / most, cy - (radius * im) / most];
    drawing.strokeStyle = drawing.fillStyle = number === 0 ? css("--accent") : "#59b368";
    drawing.lineWidth = 2.5;
    drawing.beginPath();
    drawing.moveTo(cx, cy);
    drawing.lineTo(x, y);
    drawing.stroke();
    drawing.beginPath();
    drawing.arc(x, y, 4, 0, 2 * Math.PI);
    drawing.fill();
    drawing.fillText(`${((beam.signal as { frequencies_hz: number[] }).frequencies_hz[number] / 1e6).toFixed(2)} MHz`, x + 7, y - 5);
  });
}

/** Polar plot of the backscatter of a material, now and before. */
export function polar(parent: HTMLElement, now: Reflectance, before: Reflectance | null) {
  const height = 168;
  const drawing = canvas(parent, height);
  const width = parseFloat(drawing.canvas.style.width);
  const [cx, cy, radius] = [width / 2, height - 22, height - 40];
  const finite = (values: number[]) => values.filter(Number.isFinite);
  const highest = Math.max(0.05, ...finite(now.backscatter), ...finite(before?.backscatter ?? []));
  // Axes: three circles, and spokes every 30 degrees
  drawing.fillStyle = css("--dim");
  drawing.strokeStyle = css("--line");
  for (const share of [1 / 3, 2 / 3, 1]) {
    drawing.beginPath();
    drawing.arc(cx, cy, radius * share, Math.PI, 2 * Math.PI);
    drawing.stroke();
    drawing.fillText(format(highest * share), cx + 4, cy - radius * share + 11);
  }
  for (const degrees of [-90, -60, -30, 0, 30, 60, 90]) {
    const angle = (degrees * Math.PI) / 180;
    drawing.beginPath();
    drawing.moveTo(cx, cy);
    drawing.lineTo(cx + radius * Math.sin(angle), cy - radius * Math.cos(angle));
    drawing.stroke();
    drawing.textAlign = "center";
    if (degrees !== 0) drawing.fillText(`${Math.abs(degrees)}°`, cx + (radius + 12) * Math.sin(angle), cy - (radius + 12) * Math.cos(angle) + (Math.abs(degrees) === 90 ? 14 : 3));
  }
  drawing.textAlign = "start";
  const curve = (of: Reflectance, color: string, dash: number[], lineWidth: number) => {
    drawing.beginPath();
    drawing.strokeStyle = color;
    drawing.lineWidth = lineWidth;
    drawing.setLineDash(dash);
    const at = (i: number, sign: number) => {
      const angle = (sign * of.incidence_deg[i] * Math.PI) / 180;
      const length = (radius * of.backscatter[i]) / highest;
      return [cx + length * Math.sin(angle), cy - length * Math.cos(angle)] as const;
    };
    for (let i = of.incidence_deg.length - 1; i >= 0; i--) drawing.lineTo(...at(i, -1));
    for (let i = 0; i < of.incidence_deg.length; i++) drawing.lineTo(...at(i, 1));
    drawing.stroke();
    drawing.setLineDash([]);
  };
  if (before) curve(before, css("--before"), [4, 3], 1.5);
  curve(now, css("--accent"), [], 2);
}

/** Received power over incidence, now and before. */
export function power(parent: HTMLElement, now: Reflectance, before: Reflectance | null) {
  chart({
    width: Math.max(200, parent.clientWidth - 4), height: 200, legend: { show: false }, cursor: { y: false },
    scales: { x: { time: false, range: [0, 90] } },
    axes: [axis("incidence, degrees"), { ...axis("power at 1 m, 1/(m² sr)"), size: 46 }],
    series: [{}, { stroke: css("--accent"), width: 2, points: { show: false } }, { stroke: css("--before"), width: 1.5, dash: [4, 3], points: { show: false } }],
  }, [now.incidence_deg, now.power, (before ?? now).power], parent);
}

/** A histogram of values between limits. */
export function histogram(parent: HTMLElement, values: number[], label: string, height: number) {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  if (sorted.length === 0) return;
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))];
  const [low, high] = [at(0.01), Math.max(at(0.99), at(0.01) + 1e-9)];
  const bins = 60;
  const counts = new Array<number>(bins).fill(0);
  for (const value of sorted) {
    const bin = Math.floor(((value - low) / (high - low)) * bins);
    if (bin >= 0 && bin < bins) counts[bin] += 1;
  }
  chart({
    width: Math.max(200, parent.clientWidth - 4), height, legend: { show: false }, cursor: { y: false },
    scales: { x: { time: false } }, axes: [axis(label), { ...axis("beams"), size: 46 }],
    series: [{}, { stroke: css("--accent"), fill: css("--accent") + "66", paths: uPlot.paths.bars!({ size: [1] }), points: { show: false } }],
  }, [counts.map((_, bin) => low + ((bin + 0.5) * (high - low)) / bins), counts], parent);
}

/** A curve over whole numbers, on a logarithmic axis. */
export function costs(parent: HTMLElement, values: number[], height: number) {
  chart({
    width: Math.max(200, parent.clientWidth - 4), height, legend: { show: false },
    scales: { x: { time: false }, y: { distr: 3 } }, axes: [axis("iteration"), { ...axis("cost"), size: 56 }],
    series: [{}, { stroke: css("--accent"), width: 2 }],
  }, [values.map((_, i) => i), values], parent);
}

/** Values of bins of incidence with their 95 % intervals. */
export interface Points { incidence_deg: number[]; values: number[]; low: number[]; high: number[] }

/** A quantity of several profiles over incidence, with the 95 % interval of each. */
export interface Curves {
  quantities: { incidence_deg: number[]; values: number[]; low: number[]; high: number[] }[];
  colours: string[];
  /** Knots of the edited profile: incidence and value. */
  knots: { deg: number[]; values: number[] } | null;
  recorded: Points | null;
  drawn: Points | null;
  /** The edited profile at the distance of the recorded panel. */
  expected: { incidence_deg: number[]; values: number[] } | null;
  /** Incidences at which adjacent recorded bands differ. */
  changes: number[];
}

/** Colours of recorded and of drawn points. */
export const POINT_COLOURS = { recorded: "#e15759", drawn: "#76b7b2" };

/** Greatest distance of the pointer from a knot, pixels. */
const NEAR_KNOT = 10;

/** A chart of profiles whose knots can be dragged. */
export class ProfileChart {
  private plot: uPlot | null = null;
  private curves: Curves | null = null;
  private hovered = -1;
  private width = 0;
  private dragged = -1;

  /** `drag` gets a knot and its value while it moves; `isOver` at the end. */
  constructor(private parent: HTMLElement, private label: string, private drag: (knot: number, value: number, isOver: boolean) => void) {}

  get isDragged(): boolean {
    return this.dragged >= 0;
  }

  show(curves: Curves) {
    const isSame = this.curves?.quantities.length === curves.quantities.length && this.curves.quantities.every((one, i) => (one.low.length > 0) === (curves.quantities[i].low.length > 0));
    this.curves = curves;
    const data = this.data(curves);
    if (isSame && this.plot?.root.isConnected && this.width === this.parent.clientWidth) {
      // While a knot moves, the axes stay
      this.plot.setData(data, !this.isDragged);
      if (this.isDragged) this.plot.redraw();
    } else this.build(curves, data);
  }

  private data({ quantities }: Curves): uPlot.AlignedData {
    const longest = quantities.reduce((a, b) => (a.incidence_deg.length >= b.incidence_deg.length ? a : b));
    const padded = (values: number[]) => longest.incidence_deg.map((_, i) => values[i] ?? null);
    const rows: (number | null)[][] = [longest.incidence_deg];
    for (const { values, low, high } of quantities) {
      rows.push(padded(values));
      if (low.length > 0) rows.push(padded(high), padded(low));
    }
    return rows as uPlot.AlignedData;
  }

  /** Limits of the values: those of the curves and of the points, without the longest intervals. */
  private limits(): [number, number] {
    const { quantities, recorded, drawn } = this.curves!;
    const values = [...quantities.flatMap((one) => one.values), ...(recorded?.values ?? []), ...(drawn?.values ?? [])].filter(Number.isFinite);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const margin = 0.12 * Math.max(high - low, 1e-3 * Math.abs(high), 1e-6);
    return [low - margin, high + margin];
  }

  private build(curves: Curves, data: uPlot.AlignedData) {
    this.parent.replaceChildren();
    this.width = this.parent.clientWidth;
    const series: uPlot.Series[] = [{}];
    const bands: uPlot.Band[] = [];
    curves.quantities.forEach((quantity, number) => {
      const colour = curves.colours[number];
      series.push({ stroke: colour, width: 2, points: { show: false } });
      if (quantity.low.length === 0) return;
      const edge = { stroke: colour + "55", width: 1, points: { show: false } };
      series.push(edge, edge);
      bands.push({ series: [series.length - 2, series.length - 1], fill: colour + "22" });
    });
    this.plot = chart({
      width: Math.max(200, this.width - 4), height: this.width > 420 ? 230 : 170, legend: { show: false }, bands, series,
      cursor: { y: false, x: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { time: false, range: [0, 90] }, y: { range: () => this.limits() } },
      axes: [axis("incidence, degrees"), { ...axis(this.label), size: 46 }],
      hooks: { draw: [(plot) => this.draw(plot)] },
    }, data, this.parent);
    this.listen(this.plot.over);
  }

  private draw(plot: uPlot) {
    const { knots, recorded, drawn, expected, changes, colours } = this.curves!;
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    const x = (deg: number) => plot.valToPos(deg, "x", true), y = (value: number) => plot.valToPos(value, "y", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    const dots = (points: Points, colour: string, radius: number) => {
      ctx.fillStyle = ctx.strokeStyle = colour;
      ctx.lineWidth = ratio;
      points.incidence_deg.forEach((deg, i) => {
        ctx.globalAlpha = 0.4;
        ctx.beginPath();
        ctx.moveTo(x(deg), y(points.low[i]));
        ctx.lineTo(x(deg), y(points.high[i]));
        ctx.stroke();
        ctx.globalAlpha = 0.9;
        ctx.beginPath();
        ctx.arc(x(deg), y(points.values[i]), radius * ratio, 0, 2 * Math.PI);
        ctx.fill();
      });
      ctx.globalAlpha = 1;
    };
    if (drawn) dots(drawn, POINT_COLOURS.drawn, 1.8);
    if (recorded) dots(recorded, POINT_COLOURS.recorded, 1.8);
    if (expected) {
      ctx.strokeStyle = colours[0];
      ctx.lineWidth = 1.5 * ratio;
      ctx.setLineDash([6 * ratio, 3 * ratio]);
      ctx.beginPath();
      expected.incidence_deg.forEach((deg, i) => ctx.lineTo(x(deg), y(expected.values[i])));
      ctx.stroke();
      ctx.setLineDash([]);
    }
    // Boundaries of bands that differ
    ctx.strokeStyle = ctx.fillStyle = css("--text");
    for (const deg of changes) {
      ctx.globalAlpha = 0.5;
      ctx.setLineDash([3 * ratio, 3 * ratio]);
      ctx.beginPath();
      ctx.moveTo(x(deg), bbox.top);
      ctx.lineTo(x(deg), bbox.top + bbox.height);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.globalAlpha = 1;
      ctx.beginPath();
      ctx.moveTo(x(deg) - 4 * ratio, bbox.top);
      ctx.lineTo(x(deg) + 4 * ratio, bbox.top);
      ctx.lineTo(x(deg), bbox.top + 6 * ratio);
      ctx.fill();
    }
    // Knots
    knots?.deg.forEach((deg, i) => {
      const isOn = i === (this.dragged >= 0 ? this.dragged : this.hovered);
      ctx.beginPath();
      ctx.fillStyle = isOn ? css("--text") : colours[0];
      ctx.arc(x(deg), y(knots.values[i]), (isOn ? 5 : 2.2) * ratio, 0, 2 * Math.PI);
      ctx.fill();
    });
    ctx.restore();
  }

  /** The knot at a place of the chart; -1 for none. */
  private knotAt(plot: uPlot, left: number, top: number): number {
    const knots = this.curves?.knots;
    if (!knots) return -1;
    let best = -1, nearest = NEAR_KNOT;
    knots.deg.forEach((deg, i) => {
      const away = Math.hypot(plot.valToPos(deg, "x") - left, 0.6 * (plot.valToPos(knots.values[i], "y") - top));
      if (away < nearest) { nearest = away; best = i; }
    });
    return best;
  }

  private listen(over: HTMLElement) {
    const plot = this.plot!;
    over.style.touchAction = "pan-y";
    const place = (event: PointerEvent) => {
      const box = over.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top] as const;
    };
    over.addEventListener("pointerdown", (event) => {
      this.dragged = this.knotAt(plot, ...place(event));
      if (this.dragged < 0) return;
      event.preventDefault();
      over.setPointerCapture(event.pointerId);
    });
    over.addEventListener("pointermove", (event) => {
      const [left, top] = place(event);
      if (this.dragged >= 0) return this.drag(this.dragged, plot.posToVal(top, "y"), false);
      const hovered = this.knotAt(plot, left, top);
      if (hovered === this.hovered) return;
      this.hovered = hovered;
      over.style.cursor = hovered >= 0 ? "ns-resize" : "default";
      plot.redraw(false);
    });
    const end = (event: PointerEvent) => {
      if (this.dragged < 0) return;
      const knot = this.dragged;
      this.dragged = -1;
      this.drag(knot, plot.posToVal(place(event)[1], "y"), true);
    };
    over.addEventListener("pointerup", end);
    over.addEventListener("pointercancel", end);
  }
}

/** Colours of the columns of a series. */
const LINES = ["#e15759", "#59b368", "#3a8fe0"];

/** Numbers of a sensor over time: a chart for each unit, and a line at the present time. */
export class SeriesChart {
  private plots: uPlot[] = [];
  private time = 0;

  /** `output` is the number of the output of the robot. */
  constructor(private parent: HTMLElement, readonly output: number) {}

  /** Shows columns with their names and units; `values` are rows. */
  show(names: [string, string][], time: Float32Array, values: Float32Array) {
    this.parent.replaceChildren();
    this.plots = [];
    const units = [...new Set(names.map(([, unit]) => unit))];
    const times = Array.from(time);
    for (const unit of units) {
      const columns = names.flatMap(([name, of], number) => (of === unit ? [{ name, number }] : []));
      const rows = columns.map(({ number }) => times.map((_, row) => { const value = values[row * names.length + number]; return Number.isFinite(value) ? value : null; }));
      const line = (plot: uPlot) => {
        const at = plot.valToPos(this.time, "x", true);
        plot.ctx.save();
        plot.ctx.strokeStyle = css("--text");
        plot.ctx.lineWidth = devicePixelRatio;
        plot.ctx.beginPath();
        plot.ctx.moveTo(at, plot.bbox.top);
        plot.ctx.lineTo(at, plot.bbox.top + plot.bbox.height);
        plot.ctx.stroke();
        plot.ctx.restore();
      };
      const title = document.createElement("p");
      title.className = "note";
      const three = columns.length === 3 && columns[0].name.endsWith(" x");
      title.append(three ? columns[0].name.replace(/ x$/, ": ") : "");
      columns.forEach(({ name }, i) => {
        const part = document.createElement("span");
        part.style.color = LINES[i % LINES.length];
        part.textContent = `${three ? "xyz"[i] : name} `;
        title.append(part);
      });
      this.parent.append(title);
      this.plots.push(chart({
        width: Math.max(200, this.parent.clientWidth - 4), height: 130, legend: { show: false }, cursor: { y: false },
        scales: { x: { time: false } }, axes: [axis("time, s"), { ...axis(unit), size: 52 }],
        series: [{}, ...columns.map((_, i) => ({ stroke: LINES[i % LINES.length], width: 1.2, points: { show: false } }))],
        hooks: { draw: [line] },
      }, [times, ...rows], this.parent));
    }
  }

  /** Marks a time, s. */
  mark(time: number) {
    this.time = time;
    for (const plot of this.plots) plot.redraw(false);
  }
}
