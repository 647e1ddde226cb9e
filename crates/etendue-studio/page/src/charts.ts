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
  charts.add(new uPlot(options, data, parent));
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

/** A quantity of several profiles over incidence, with the 95 % interval of each. */
export function profiles(parent: HTMLElement, quantities: { incidence_deg: number[]; values: number[]; low: number[]; high: number[] }[], colours: string[], label: string) {
  const longest = quantities.reduce((a, b) => (a.incidence_deg.length >= b.incidence_deg.length ? a : b));
  const padded = (values: number[]) => longest.incidence_deg.map((_, i) => values[i] ?? null);
  const data: (number | null)[][] = [longest.incidence_deg];
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  quantities.forEach((quantity, number) => {
    data.push(padded(quantity.values));
    series.push({ stroke: colours[number], width: 2, points: { show: false } });
    if (quantity.low.length === 0) return;
    data.push(padded(quantity.high), padded(quantity.low));
    series.push({ stroke: colours[number] + "55", width: 1, points: { show: false } }, { stroke: colours[number] + "55", width: 1, points: { show: false } });
    bands.push({ series: [data.length - 2, data.length - 1], fill: colours[number] + "22" });
  });
  chart({
    width: Math.max(200, parent.clientWidth - 4), height: 130, legend: { show: false }, cursor: { y: false }, bands,
    scales: { x: { time: false, range: [0, 90] } }, axes: [axis("incidence, degrees"), { ...axis(label), size: 46 }], series,
  }, data as uPlot.AlignedData, parent);
}
