// The 3D view: scene, sensor, points, rays, gizmos and camera.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { TransformControls } from "three/examples/jsm/controls/TransformControls.js";
import type { Coloured } from "./colours";
import type { Drawing } from "./early";
import { ObjectsLayer } from "./objects";
import { PointsLayer } from "./points";
import { StillPicture } from "./still";
import type { Beam, State, Sweep } from "./types";

export type Selection = { kind: "sensor" } | { kind: "object"; number: number } | null;

/** Empties a group and frees its memory. */
export function discard(group: THREE.Group) {
  for (const child of group.children as (THREE.Mesh | THREE.Line | THREE.Points)[]) {
    child.geometry.dispose();
    (child.material as THREE.Material).dispose();
  }
  group.clear();
}

interface Listeners {
  /** A click selected something; `material` of the triangle under it. */
  selected(selection: Selection): void;
  /** A click hit the point of this index. */
  point(index: number): void;
  /** The gizmo of the selection moved it to a pose: position and quaternion. */
  moved(selection: Selection, pose: THREE.Object3D, isOver: boolean): void;
  measured(text: string): void;
}

/** Time after which the camera is at rest, ms. */
const REST = 120;

/** Greatest distance of a click from a point, pixels. */
const NEAR_PIXELS = 7;

export class View {
  readonly scene = new THREE.Scene();
  readonly objects: ObjectsLayer;
  readonly points = new PointsLayer();
  readonly recorded = new PointsLayer();
  readonly renderer: THREE.WebGLRenderer;
  camera: THREE.PerspectiveCamera | THREE.OrthographicCamera;
  readonly orbit: OrbitControls;
  private perspective = new THREE.PerspectiveCamera(55, 1, 0.02, 5000);
  private top = new THREE.OrthographicCamera(-1, 1, 1, -1, -1000, 5000);
  private gizmo: TransformControls;
  private sensor = new THREE.Group();
  private fan = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0x3aa7ff, transparent: true, opacity: 0.45 }));
  private rays = new THREE.Group();
  private marker = new THREE.Mesh(new THREE.SphereGeometry(1, 16, 12), new THREE.MeshBasicMaterial({ color: 0xffffff, depthTest: false, transparent: true, opacity: 0.9 }));
  private ruler = new THREE.Group();
  private path = new THREE.Group();
  private pathKey = "";
  private grid: THREE.GridHelper | null = null;
  private selection: Selection = null;
  private isDragging = false;
  private isDirty = true;
  /** The picture of the surfaces, where the processor draws. */
  private still: StillPicture | null;
  private drawnAt = 0;
  private pixel = new Uint8Array(4);
  private extent = 5;
  private isFramed = false;
  private measuring: THREE.Vector3[] | null = null;
  follows = false;
  frames = 0;

  private canvas: HTMLCanvasElement;

  constructor({ canvas, context, isSoftware }: Drawing, private on: Listeners) {
    this.canvas = canvas;
    this.renderer = new THREE.WebGLRenderer({ canvas, context, alpha: !isSoftware });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.debug.checkShaderErrors = false;
    this.camera = this.perspective;
    this.perspective.up.set(0, 0, 1);
    this.perspective.position.set(-4, -4, 4);
    this.top.up.set(0, 1, 0);
    this.objects = new ObjectsLayer(() => this.draw());
    this.still = isSoftware ? new StillPicture(this.renderer, this.objects) : null;

    // Light that shows shapes from every side
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x8a94a0, 1.9));
    const sun = new THREE.DirectionalLight(0xffffff, 1.6);
    sun.position.set(0.5, -0.8, 1.4);
    this.scene.add(sun, this.objects.group, this.points.points, this.recorded.points, this.rays, this.ruler, this.path, this.sensor, this.marker);
    this.recorded.points.visible = false;
    this.marker.visible = false;
    this.marker.renderOrder = 6;
    this.buildSensor();
    // The program of the points is compiled while the rest of the page is built
    this.renderer.compile(this.points.points, this.camera, this.scene);

    // Camera and gizmos
    this.orbit = new OrbitControls(this.camera, canvas);
    this.orbit.enableDamping = false;
    this.orbit.addEventListener("change", () => this.draw());
    this.gizmo = new TransformControls(this.camera, canvas);
    this.gizmo.setSize(0.8);
    this.gizmo.addEventListener("change", () => this.draw());
    this.gizmo.addEventListener("dragging-changed", (event) => {
      this.isDragging = Boolean(event.value);
      this.orbit.enabled = !event.value;
      if (!event.value && this.gizmo.object) on.moved(this.selection, this.gizmo.object, true);
    });
    this.gizmo.addEventListener("objectChange", () => {
      this.objects.version++;
      if (this.gizmo.object) on.moved(this.selection, this.gizmo.object, false);
    });
    this.scene.add(this.gizmo.getHelper());
    this.listen();
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
    this.resize();
    const loop = () => {
      const isAtRest = this.still?.isBehind && !this.isDragging && performance.now() - this.drawnAt > REST;
      // The first sweep draws first
      if (this.frames > 0 && (this.isDirty || isAtRest)) this.render();
      requestAnimationFrame(loop);
    };
    requestAnimationFrame(loop);
  }

  private buildSensor() {
    // The program of the surfaces of the scene
    const surface = (color: number) => new THREE.MeshLambertMaterial({ color, side: THREE.DoubleSide, flatShading: true });
    const body = new THREE.Mesh(new THREE.CylinderGeometry(0.045, 0.05, 0.07, 32).rotateX(Math.PI / 2), surface(0x1f6fb5));
    const band = new THREE.Mesh(new THREE.CylinderGeometry(0.047, 0.047, 0.022, 32).rotateX(Math.PI / 2).translate(0, 0, 0.008), surface(0x0b0f14));
    const axes = new THREE.AxesHelper(0.25);
    this.sensor.add(body, band, axes, this.fan);
    this.sensor.userData.sensor = true;
  }

  private listen() {
    let down: PointerEvent | null = null;
    this.canvas.addEventListener("pointerdown", (event) => (down = event));
    this.canvas.addEventListener("pointerup", (event) => {
      const isClick = down && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 4 && event.button === 0;
      if (isClick && !this.isDragging && !this.gizmo.axis) this.click(event);
      down = null;
    });
  }

  private click(event: PointerEvent) {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    const point = this.pointAt(at, box);
    const caster = new THREE.Raycaster();
    caster.setFromCamera(at, this.camera);
    const hits = caster.intersectObjects([...this.objects.group.children, ...this.sensor.children.slice(0, 2)], false);
    const hit = hits.find((hit) => this.objects.group.visible || hit.object.parent === this.sensor);
    if (this.measuring) {
      const place = point ? point.at : hit?.point;
      if (place) this.measure(place);
      return;
    }
    // The sensor, then a point in front of the surface, then the surface
    const isSensor = hit?.object.parent === this.sensor;
    if (point && !isSensor) this.on.point(point.index);
    this.on.selected(!hit ? null : isSensor ? { kind: "sensor" } : { kind: "object", number: hit.object.userData.object });
  }

  /** The nearest shown point to a place of the view. */
  private pointAt(at: THREE.Vector2, box: DOMRect): { index: number; at: THREE.Vector3 } | null {
    if (!this.points.points.visible) return null;
    const { count, positions } = this.points.shown;
    const matrix = new THREE.Matrix4().multiplyMatrices(this.camera.projectionMatrix, this.camera.matrixWorldInverse).elements;
    const limit = [(NEAR_PIXELS / box.width) * 2, (NEAR_PIXELS / box.height) * 2];
    let best = -1, nearest = Infinity;
    for (let i = 0; i < count; i++) {
      const x = positions[3 * i], y = positions[3 * i + 1], z = positions[3 * i + 2];
      const w = matrix[3] * x + matrix[7] * y + matrix[11] * z + matrix[15];
      if (w <= 0) continue;
      const dx = ((matrix[0] * x + matrix[4] * y + matrix[8] * z + matrix[12]) / w - at.x) / limit[0];
      const dy = ((matrix[1] * x + matrix[5] * y + matrix[9] * z + matrix[13]) / w - at.y) / limit[1];
      const away = dx * dx + dy * dy;
      if (away > 1) continue;
      const depth = (matrix[2] * x + matrix[6] * y + matrix[10] * z + matrix[14]) / w;
      if (depth < nearest) { nearest = depth; best = i; }
    }
    return best < 0 ? null : { index: best, at: new THREE.Vector3().fromArray(positions, 3 * best) };
  }

  /** Shows the objects and the sensor of a state. */
  async show(state: State) {
    const size = state.bounds[1].map((high, axis) => high - state.bounds[0][axis]);
    this.extent = Math.max(0.5, Math.hypot(...size));
    // The meshes come later
    if (!this.isFramed) this.frame(state);
    this.showFan(state);
    this.showPath(state.path);
    await this.objects.show(state);
    this.attach();
    this.draw();
  }

  /** Hides the sensor, its points and its path, for the run of a robot. */
  hideSweep(isHidden: boolean) {
    this.points.points.visible = this.sensor.visible = this.path.visible = !isHidden;
    this.draw();
  }

  /** Length of the diagonal of the scene, m. */
  get size(): number {
    return this.extent;
  }

  /** Draws the path of the sensor, with dots at its start and its end. */
  private showPath(path: number[][]) {
    const key = JSON.stringify(path);
    if (key === this.pathKey) return;
    this.pathKey = key;
    discard(this.path);
    if (path.length < 2) return;
    const points = path.map((point) => new THREE.Vector3().fromArray(point));
    this.path.add(new THREE.Line(new THREE.BufferGeometry().setFromPoints(points), new THREE.LineBasicMaterial({ color: 0xff4fd8 })));
    for (const [at, color] of [[points[0], 0x59b368], [points[points.length - 1], 0xe15759]] as const) {
      const dot = new THREE.Mesh(new THREE.SphereGeometry(0.004 * this.extent, 12, 8), new THREE.MeshBasicMaterial({ color }));
      dot.position.copy(at);
      this.path.add(dot);
    }
  }

  /** Shows a sweep, and draws it at once. */
  showSweep(sweep: Sweep, values: Coloured) {
    this.points.show(sweep.position, values);
    if (!(this.isDragging && this.selection?.kind === "sensor")) this.place(this.sensor, sweep.pose);
    if (this.follows) {
      const moved = new THREE.Vector3().fromArray(sweep.pose).sub(this.orbit.target);
      this.orbit.target.add(moved);
      this.camera.position.add(moved);
    }
    this.render();
  }

  private place(thing: THREE.Object3D, pose: number[]) {
    thing.position.fromArray(pose);
    thing.quaternion.fromArray(pose, 3);
  }

  private showFan(state: State) {
    const { azimuths: [from, to], elevations: [low, high] } = state.lidar;
    const reach = Math.min(state.lidar.far, Math.max(0.4, 0.09 * this.extent));
    this.sensor.children.slice(0, 2).forEach((part) => part.scale.setScalar(Math.min(2, Math.max(0.35, this.extent / 12))));
    const at = (azimuth: number, elevation: number) => [reach * Math.cos(elevation) * Math.cos(azimuth), reach * Math.cos(elevation) * Math.sin(azimuth), reach * Math.sin(elevation)];
    const lines: number[] = [];
    const steps = 64;
    const around = to - from;
    const rows = state.lidar.channels === 1 ? [0.5 * (low + high)] : [low, high];
    for (const elevation of rows) for (let i = 0; i < steps; i++)
      lines.push(...at(from + (around * i) / steps, elevation), ...at(from + (around * (i + 1)) / steps, elevation));
    const spokes = around > 6 ? 12 : 2;
    for (let i = 0; i < spokes; i++) {
      const azimuth = around > 6 ? (2 * Math.PI * i) / spokes : i === 0 ? from : to;
      for (const elevation of rows) lines.push(0, 0, 0, ...at(azimuth, elevation));
    }
    this.fan.geometry.dispose();
    this.fan.geometry = new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(lines, 3));
  }

  /** Looks at the whole scene. */
  frame(state: State) {
    this.isFramed = true;
    const [low, high] = state.bounds.map((corner) => new THREE.Vector3().fromArray(corner));
    const middle = low.clone().add(high).multiplyScalar(0.5);
    const distance = 0.95 * this.extent;
    this.perspective.near = Math.max(0.005, this.extent / 2000);
    this.perspective.far = this.extent * 50;
    this.perspective.position.copy(middle).add(new THREE.Vector3(-0.55, -0.62, 0.72).normalize().multiplyScalar(distance));
    this.orbit.target.copy(middle);
    this.top.position.set(middle.x, middle.y, high.z + 10);
    this.top.zoom = 1;
    if (this.grid) this.scene.remove(this.grid);
    const step = 10 ** Math.round(Math.log10(this.extent / 12));
    const cells = 2 * Math.ceil(this.extent / step);
    this.grid = new THREE.GridHelper(cells * step, cells, 0x7d8a99, 0x7d8a99);
    this.grid.rotateX(Math.PI / 2);
    this.grid.position.set(Math.round(middle.x / step) * step, Math.round(middle.y / step) * step, low.z - 0.002 * this.extent);
    (this.grid.material as THREE.Material).transparent = true;
    (this.grid.material as THREE.Material).opacity = 0.25;
    this.scene.add(this.grid);
    this.points.points.material.uniforms.size.value = 2.2 * this.renderer.getPixelRatio();
    this.resize();
    this.orbit.update();
  }

  /** Looks from above, without perspective, or freely. */
  lookFromTop(isTop: boolean) {
    this.camera = isTop ? this.top : this.perspective;
    this.top.position.set(this.orbit.target.x, this.orbit.target.y, this.orbit.target.z + this.extent);
    this.orbit.object = this.camera;
    this.orbit.enableRotate = !isTop;
    this.gizmo.camera = this.camera;
    this.resize();
    this.orbit.update();
    this.draw();
  }

  /** Selects something, with a gizmo. */
  select(selection: Selection) {
    this.selection = selection;
    this.objects.select(selection?.kind === "object" ? selection.number : -1);
    this.attach();
    this.draw();
  }

  private attach() {
    const thing = this.selection?.kind === "sensor" ? this.sensor : this.selection?.kind === "object" ? this.objects.meshes[this.selection.number] : null;
    if (thing && this.gizmo.mode !== ("none" as string)) {
      if (this.gizmo.object !== thing) this.gizmo.attach(thing);
    } else this.gizmo.detach();
  }

  gizmoMode(mode: "translate" | "rotate") {
    this.gizmo.setMode(mode);
    this.draw();
  }

  get isBeingDragged(): boolean {
    return this.isDragging;
  }

  /** Draws the rays of a beam, and marks its point. */
  showBeam(beam: Beam | null) {
    discard(this.rays);
    this.marker.visible = false;
    if (beam) {
      const strongest = Math.max(...beam.paths.map((path) => path.power), 1e-300);
      for (const path of beam.paths) {
        const weak = path.power > 0 ? Math.max(0.25, 1 + Math.log10(path.power / strongest) / 4) : 0.4;
        const color = path.depth === 0 ? 0x8c9bab : path.depth === 1 ? 0xffffff : path.is_abridged ? 0xf28e2b : 0xff4fd8;
        const points = path.points.map((point) => new THREE.Vector3().fromArray(point));
        const line = new THREE.Line(new THREE.BufferGeometry().setFromPoints(points), new THREE.LineBasicMaterial({ color, transparent: true, opacity: weak, depthTest: false }));
        line.renderOrder = 4;
        this.rays.add(line);
        const end = new THREE.Mesh(new THREE.SphereGeometry(0.004 * this.extent, 12, 8), new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity: weak }));
        end.position.copy(points[points.length - 1]);
        end.renderOrder = 4;
        this.rays.add(end);
      }
    }
    this.draw();
  }

  /** Starts or ends the measuring of distances between clicks. */
  measureDistances(isOn: boolean) {
    this.measuring = isOn ? [] : null;
    discard(this.ruler);
    this.draw();
  }

  private measure(at: THREE.Vector3) {
    if (!this.measuring) return;
    if (this.measuring.length === 2) { this.measuring = []; discard(this.ruler); }
    this.measuring.push(at.clone());
    const dot = new THREE.Mesh(new THREE.SphereGeometry(0.005 * this.extent, 12, 8), new THREE.MeshBasicMaterial({ color: 0xffd23f, depthTest: false }));
    dot.position.copy(at);
    this.ruler.add(dot);
    if (this.measuring.length === 2) {
      const [a, b] = this.measuring;
      this.ruler.add(new THREE.Line(new THREE.BufferGeometry().setFromPoints([a, b]), new THREE.LineBasicMaterial({ color: 0xffd23f, depthTest: false })));
      const d = b.clone().sub(a);
      this.on.measured(`${d.length().toFixed(3)} m  (Δx ${d.x.toFixed(3)}, Δy ${d.y.toFixed(3)}, Δz ${d.z.toFixed(3)})`);
    }
    this.draw();
  }

  setTheme(isDark: boolean) {
    const rays = isDark ? 0xffffff : 0x202830;
    (this.marker.material as THREE.MeshBasicMaterial).color.set(rays);
    // Seen where the ground is opaque
    if (this.still) this.renderer.setClearColor(getComputedStyle(document.documentElement).getPropertyValue("--ground").trim());
    this.objects.version++;
    this.draw();
  }

  private resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement!;
    if (width === 0 || height === 0) return;
    // Another size takes new memory, even if it is the same
    const size = this.renderer.getSize(new THREE.Vector2());
    if (size.x !== width || size.y !== height) this.renderer.setSize(width, height, false);
    this.perspective.aspect = width / height;
    this.perspective.updateProjectionMatrix();
    const half = 0.55 * this.extent;
    const aspect = width / height;
    Object.assign(this.top, { left: -half * aspect, right: half * aspect, top: half, bottom: -half });
    this.top.updateProjectionMatrix();
    this.draw();
  }

  /** Draws at the next frame. */
  draw() {
    this.isDirty = true;
  }

  /** Draws now. */
  render() {
    this.isDirty = false;
    this.frames += 1;
    this.drawnAt = performance.now();
    if (this.frames === 1) this.renderPoints();
    else if (this.still) this.still.render(this.scene, this.camera, this.grid, this.isDragging && this.selection?.kind === "object");
    else this.renderer.render(this.scene, this.camera);
  }

  /** Draws the points alone, which needs one program; the next frame has everything, and the other programs are compiled before. */
  private renderPoints() {
    const others = this.scene.children.filter((child) => child.visible && child !== this.points.points);
    for (const other of others) other.visible = false;
    this.renderer.render(this.scene, this.camera);
    for (const other of others) other.visible = true;
    setTimeout(() => this.renderer.compile(this.scene, this.camera));
    this.draw();
  }

  /** Waits for the end of the drawing, by reading a pixel of it: the method `finish` of browsers does not wait. */
  finish() {
    const gl = this.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, this.pixel);
  }
}
