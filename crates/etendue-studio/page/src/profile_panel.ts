// The viewer of noise profiles: bias, spread, drop-out and intensity over incidence.

import { type App, button, chooser, element } from "./app";
import * as charts from "./charts";
import { RefusedError } from "./connection";
import { Panel } from "./panel";

export interface Profile {
  sensor: string; material: string; distance: number; recorded_to_deg: number; is_extrapolated: boolean;
  quantities: { name: string; unit: string; incidence_deg: number[]; values: number[]; low: number[]; high: number[] }[];
}

/** Colours of the compared profiles. */
const COLOURS = ["#3a8fe0", "#f28e2b", "#59b368", "#b07aa1"];

export class ProfilePanel extends Panel {
  private opened: { name: string; profile: Profile }[] = [];
  private dropped: string[] = [];
  private plots = element("div");

  constructor(private app: App) { super(); }

  protected key(): string {
    return JSON.stringify([this.app.hello?.profiles, this.dropped, this.opened.map((one) => one.name), this.app.state?.materials.map((m) => m.name), this.app.material]);
  }

  /** Opens a profile next to the opened ones. */
  async open(name: string) {
    try {
      const profile = await this.app.connection.request<Profile>({ profile: name });
      this.opened = [...this.opened.filter((one) => one.name !== name), { name, profile }].slice(-COLOURS.length);
      if (!this.app.hello?.profiles.includes(name) && !this.dropped.includes(name)) this.dropped.push(name);
      this.refresh();
    } catch (error) {
      if (error instanceof RefusedError) this.app.toast(error.refusal.message, error.refusal.remedy, true);
    }
  }

  protected build() {
    const { app } = this;
    const names = [...(app.hello?.profiles ?? []), ...this.dropped];
    const row = element("div", "row");
    row.append(chooser("Open a profile…", names.map((name) => [name, name]), (name) => void this.open(name)));
    this.element.append(element("h3", "", "Noise profiles"), row);
    if (this.opened.length === 0) {
      this.element.append(element("p", "note", "A profile holds the measured errors of a sensor on a material. Open one or more to compare them, or drop a profile file (.toml)."));
      return;
    }
    this.opened.forEach(({ name, profile }, number) => {
      const line = element("div", "row");
      const dot = element("span", "", "●");
      dot.style.color = COLOURS[number];
      line.append(dot, element("span", "", `${profile.sensor} on ${profile.material}${profile.is_extrapolated ? " (extrapolated)" : ""}`), button("✕", "Closes the profile", () => {
        this.opened = this.opened.filter((one) => one.name !== name);
        this.refresh();
      }));
      const material = app.state?.materials[app.material];
      if (material?.is_own && app.hello?.profiles.includes(name)) line.append(button(`Use on ${material.name}`, "Draws the ranges on this material from the profile", () => app.edit([{ set: { document: "scene", path: ["materials", material.name, "profile"], value: name } }])));
      this.element.append(line, element("p", "note", `recorded at ${profile.distance.toFixed(3)} m, to ${profile.recorded_to_deg.toFixed(0)}°`));
    });
    this.element.append(this.plots);
    this.plots.replaceChildren();
    this.opened[0].profile.quantities.forEach((quantity, number) => {
      const plot = element("div", "plot");
      this.plots.append(element("h3", "", quantity.name), plot);
      charts.profiles(plot, this.opened.map(({ profile }) => profile.quantities[number]), COLOURS, `${quantity.name}${quantity.unit ? `, ${quantity.unit}` : ""}`);
    });
  }
}
