// The inspector of one beam.

import { type App, element } from "./app";
import * as charts from "./charts";
import { format } from "./images";
import type { Beam } from "./types";

export class BeamInspector {
  private pixel: number | null = null;
  private latest = 0;

  constructor(private parent: HTMLElement, private app: App, private shown: (pixel: number | null) => void) {
    this.empty();
  }

  private empty() {
    this.parent.className = "empty";
    this.parent.replaceChildren("Click a point or a pixel: its waveform or phasors, its truth, and its rays.");
  }

  /** Inspects the beam of a pixel; null for none. */
  inspect(pixel: number | null) {
    this.pixel = pixel;
    this.latest++;
    this.shown(pixel);
    if (pixel === null) {
      this.empty();
      this.app.view.showBeam(null);
    } else void this.refresh();
  }

  /** Requests the beam again, after a change. */
  async refresh() {
    if (this.pixel === null) return;
    const latest = ++this.latest;
    try {
      const beam = await this.app.connection.request<Beam>({ beam: this.pixel });
      if (latest === this.latest) this.show(beam);
    } catch (error) {
      if (latest === this.latest) this.inspect(null);
    }
  }

  private show(beam: Beam) {
    this.app.view.showBeam(beam);
    this.parent.className = "";
    const plot = element("div");
    const table = element("table");
    const row = (name: string, value: string) => {
      const line = element("tr", "", element("td", "", name), element("td", "", value));
      table.append(line);
    };
    row("beam", `ring ${beam.ring}, column ${beam.column}`);
    row("direction", `${beam.azimuth_deg.toFixed(2)}°, ${beam.elevation_deg.toFixed(2)}°`);
    if (beam.truth) {
      row("truth", `${beam.truth.range.toFixed(4)} m`);
      row("surface", `${beam.truth.object} (${beam.truth.material})`);
      row("incidence", `${beam.truth.incidence_deg.toFixed(1)}°`);
    } else row("truth", "no surface on the axis");
    if (beam.returns.length === 0) row("returns", beam.outcome);
    beam.returns.forEach((echo, number) => {
      const label = beam.returns.length > 1 ? `return ${number + 1}` : "return";
      const error = beam.truth ? `, ${((echo.range - beam.truth.range) * 1e3).toFixed(1)} mm` : "";
      row(label, `${echo.range.toFixed(4)} m${error}`);
      row("intensity", format(echo.intensity));
      if (echo.object && echo.object !== beam.truth?.object) row("light from", `${echo.object}`);
    });
    if (beam.signal.kind === "phasors") {
      const { wrapped, ambiguities, combined_ambiguity } = beam.signal;
      wrapped.forEach((range, number) => row(`phase ${number + 1}`, `${range.toFixed(3)} m + n × ${ambiguities[number].toFixed(3)} m`));
      row("unambiguous", `${combined_ambiguity.toFixed(2)} m`);
    }
    row("paths", `${beam.paths.filter((path) => path.depth > 0).length}, by mirrors or glass ${beam.paths.filter((path) => path.depth > 1).length}`);
    const side = element("div", "", table);
    this.parent.replaceChildren(plot, side);
    const height = Math.max(130, this.parent.clientHeight - 22);
    if (beam.signal.kind === "waveform") charts.waveform(plot, beam, height);
    else if (beam.signal.kind === "phasors") charts.phasors(plot, beam, height);
    else plot.append("This receiver has no waveform and no phasor.");
  }
}
