// The panel of a camera: a picture of the scene from a preset, at the sensor or at a pose of its own.

import * as THREE from "three";
import { type App, button, element } from "./app";
import { Panel } from "./panel";
import type { Refusal } from "./types";

/** Columns of the picture while something moves. */
const REDUCED_COLUMNS = 160;

/** Columns of the picture at rest. */
const COLUMNS = 320;

/** Time without a change after which the picture is refined, ms. */
const REST = 350;

const LABELS = ["x (m)", "y (m)", "z (m)", "yaw (°)", "pitch (°)", "roll (°)"];

export class CameraPanel extends Panel {
  private camera = "ideal";
  /** Pose of the camera; null for that of the sensor. */
  private pose: number[] | null = null;
  private image = element("img", "picture");
  private note = element("p", "note");
  private isLoading = false;
  /** Columns of the picture that follows the awaited one. */
  private next: number | null = null;
  private timer = 0;
  private url = "";
  private fields: HTMLInputElement[] = [];
  /** Columns of the shown picture, for tests. */
  columns = 0;

  constructor(private app: App) {
    super();
    this.image.alt = "picture of the camera";
    this.image.addEventListener("load", () => (this.columns = this.image.naturalWidth));
  }

  protected key(): string {
    return JSON.stringify([this.app.hello?.cameras, this.camera, this.pose === null]);
  }

  protected build() {
    const { app } = this;
    if (!app.hello) return;
    const choose = element("select");
    choose.append(...app.hello.cameras.map(({ name, width, height }) => new Option(`${name}, ${width} × ${height}`, name)));
    choose.value = this.camera;
    choose.addEventListener("change", () => { this.camera = choose.value; this.changed(); });
    const at = element("div", "row");
    const atSensor = button("At the sensor", "The camera has the pose of the sensor and moves with it", () => this.place(null));
    atSensor.classList.toggle("on", this.pose === null);
    at.append(atSensor, button("From the view", "The camera looks as the view does", () => this.place(this.ofView())),
      button("Whole picture", "The picture with all pixels, in a tab of its own", () => { window.open(this.address(1)); }));
    this.element.append(element("h3", "", "Camera"), element("div", "row", choose), at);
    this.fields = [];
    if (this.pose) {
      const row = element("div", "row");
      this.pose.forEach((value, axis) => {
        const field = element("input");
        Object.assign(field, { type: "number", step: axis < 3 ? "0.05" : "1", value: String(value), title: LABELS[axis] });
        field.style.flex = "1 1 28%";
        field.addEventListener("input", () => {
          if (!Number.isFinite(field.valueAsNumber)) return;
          this.pose![axis] = field.valueAsNumber;
          this.changed();
        });
        this.fields.push(field);
        row.append(field);
      });
      this.element.append(element("p", "note", LABELS.join(", ")), row);
    }
    this.element.append(this.image, this.note);
    this.changed();
  }

  private place(pose: number[] | null) {
    this.pose = pose;
    this.fields.forEach((field, axis) => { if (pose) field.value = String(pose[axis]); });
    this.refresh();
    this.changed();
  }

  /** Pose of the camera of the view: position (m), yaw and pitch (degrees). */
  private ofView(): number[] {
    const { camera } = this.app.view;
    const ahead = camera.getWorldDirection(new THREE.Vector3());
    const degrees = (angle: number) => Math.round((angle * 1800) / Math.PI) / 10;
    const at = camera.position.toArray().map((value) => Math.round(value * 1e3) / 1e3);
    return [...at, degrees(Math.atan2(ahead.y, ahead.x)), degrees(-Math.asin(ahead.z)), 0];
  }

  /** Address of the picture with every n-th pixel. */
  private address(every: number): string {
    return `picture/${encodeURIComponent(this.camera)}/${every}/${this.pose ? this.pose.join(",") : "sensor"}`;
  }

  /** Renders a reduced picture now, and a finer one after a rest. */
  changed() {
    if (!this.element.classList.contains("on")) return;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.load(COLUMNS), REST);
    void this.load(REDUCED_COLUMNS);
  }

  private async load(columns: number) {
    if (this.isLoading) { this.next = columns; return; }
    this.isLoading = true;
    this.next = null;
    const own = this.app.hello?.cameras.find((one) => one.name === this.camera);
    const every = Math.max(1, Math.round((own?.width ?? columns) / columns));
    const began = performance.now();
    try {
      const answer = await fetch(this.address(every));
      if (answer.status === 200) {
        URL.revokeObjectURL(this.url);
        this.url = URL.createObjectURL(await answer.blob());
        this.image.src = this.url;
        this.note.textContent = `${every > 1 ? `every ${every}. pixel, ` : ""}${Math.round(performance.now() - began)} ms. The whole picture: etendue render ${this.app.state?.scene.word} --camera ${this.camera}${this.pose ? ` --pose ${this.pose.join(",")}` : ""}`;
      } else {
        const { refusal } = (await answer.json().catch(() => ({}))) as { refusal?: Refusal };
        if (refusal) this.note.textContent = `⚠ ${refusal.message}: ${refusal.remedy}`;
      }
    } finally {
      this.isLoading = false;
    }
    if (this.next) void this.load(this.next);
  }
}
