// The objects of the scene, with materials as the sensor sees them.

import * as THREE from "three";
import { decode } from "./message";
import type { Look, State } from "./types";

interface MeshMessage { groups: { start: number; count: number; material: number | null }[]; vertices: Float32Array; triangles: Uint32Array }

/** Largest number of triangles whose edges are drawn around a selected object; of larger ones the box is drawn. */
const MAX_EDGES = 20_000;

function shown(look: Look, isRetro: boolean, material: THREE.MeshLambertMaterial) {
  const metal = look.mirror > 0.3;
  const grey = Math.sqrt(Math.min(1, metal ? look.mirror : look.diffuse));
  material.color.setRGB(grey * 0.9 + 0.06, grey * 0.9 + 0.06, grey * 0.9 + 0.07);
  material.transparent = look.transmitted > 0.05;
  material.opacity = look.transmitted > 0.05 ? Math.max(0.16, 0.6 * (1 - look.transmitted)) : 1;
  material.depthWrite = !material.transparent;
  if (metal) material.color.setRGB(0.42, 0.6, 0.82);
  if (look.transmitted > 0.05) material.color.setRGB(0.45, 0.75, 0.85);
  if (isRetro) material.color.setRGB(0.95, 0.7, 0.2);
}

export class ObjectsLayer {
  readonly group = new THREE.Group();
  readonly meshes: THREE.Mesh[] = [];
  /** Materials of surfaces that are seen from both sides, and of rooms, which are seen from inside only. */
  private materials: THREE.MeshLambertMaterial[][] = [[], []];
  /** The geometry of meshes that are not loaded: one of their own would stay in the memory of the renderer. */
  private nothing = new THREE.BufferGeometry();
  private geometries = new Map<number, Promise<{ geometry: THREE.BufferGeometry; groups: MeshMessage["groups"] } | null>>();
  /** The geometries of the last state. */
  private used = new Set<number>();
  private outline: THREE.LineSegments | null = null;
  private outlineMaterial = new THREE.LineBasicMaterial({ color: 0xff9d1e, depthTest: false, transparent: true });
  private outlined = -1;
  private shown = "";
  /** Grows when the surfaces look different. */
  version = 0;

  constructor(private changed: () => void) {}

  /** Shows the objects of a state. */
  async show(state: State) {
    // Materials, shared by all meshes
    [THREE.DoubleSide, THREE.FrontSide].forEach((side, kind) => {
      const own = this.materials[kind];
      while (own.length < state.materials.length) own.push(new THREE.MeshLambertMaterial({ side, flatShading: true }));
      state.materials.forEach((material, number) => shown(material.look, Boolean(material.file?.retro), own[number]));
    });
    const tables = (state.scene.toml.objects ?? []) as { flip_normals?: boolean }[];

    // Meshes; a removed object's mesh is dropped
    while (this.meshes.length > state.objects.length) this.group.remove(this.meshes.pop()!);
    const looks = JSON.stringify([state.objects, state.materials.map(({ look, file }) => [look, Boolean(file?.retro)])]);
    if (looks !== this.shown) this.version++;
    this.shown = looks;
    const loads: Promise<void>[] = [];
    state.objects.forEach((object, number) => {
      const known = this.meshes[number];
      const mesh = known ?? new THREE.Mesh(this.nothing);
      if (!known) {
        this.meshes[number] = mesh;
        this.group.add(mesh);
        mesh.userData.object = number;
      }
      mesh.position.fromArray(object.pose);
      mesh.quaternion.fromArray(object.pose, 3);
      mesh.name = object.name;
      const isRoom = tables[object.table ?? -1]?.flip_normals === true;
      const key = `${object.mesh} ${object.material} ${isRoom}`;
      if (mesh.userData.key !== key) {
        mesh.userData.key = key;
        const loading = this.load(object.mesh);
        loads.push(loading.then((loaded) => {
          // A later state replaced the mesh, or freed it and loaded it again
          if (!loaded || mesh.userData.key !== key || this.geometries.get(object.mesh) !== loading) return;
          this.version++;
          mesh.geometry = loaded.geometry;
          mesh.material = loaded.groups.map((group) => this.materials[isRoom ? 1 : 0][group.material ?? object.material]);
        }));
      }
    });
    this.used = new Set(state.objects.map((object) => object.mesh));
    if (loads.length > 0) await Promise.all(loads);
    this.forget();
    this.select(this.outlined);
    this.changed();
  }

  private load(number: number) {
    let loading = this.geometries.get(number);
    if (!loading) {
      loading = fetch(`mesh/${number}`).then(async (answer) => {
        // A later edit replaced the mesh
        if (answer.status !== 200) return null;
        const message = decode<MeshMessage>(await answer.arrayBuffer());
        const geometry = new THREE.BufferGeometry();
        geometry.setAttribute("position", new THREE.BufferAttribute(message.vertices, 3));
        geometry.setIndex(new THREE.BufferAttribute(message.triangles, 1));
        message.groups.forEach((group, at) => geometry.addGroup(3 * group.start, 3 * group.count, at));
        geometry.computeBoundingSphere();
        geometry.computeBoundingBox();
        return { geometry, groups: message.groups };
      });
      this.geometries.set(number, loading);
    }
    return loading;
  }

  /** Frees geometries that are neither used nor shown: a shown one would be loaded again by the next drawing, and stay. */
  private forget() {
    for (const [number, loading] of this.geometries) {
      if (this.used.has(number)) continue;
      void loading.then((loaded) => {
        if (this.used.has(number) || this.meshes.some((mesh) => mesh.geometry === loaded?.geometry)) return;
        this.geometries.delete(number);
        loaded?.geometry.dispose();
      });
    }
  }

  /** Outlines an object; -1 for none. */
  select(number: number) {
    this.outlined = number;
    const isSame = this.outline?.parent === this.meshes[number] && this.outline?.userData.geometry === this.meshes[number]?.geometry;
    if (isSame && this.outline) return;
    if (this.outline) {
      this.outline.removeFromParent();
      this.outline.geometry.dispose();
      this.outline = null;
    }
    const mesh = this.meshes[number];
    if (!mesh?.geometry.index) return;
    const few = mesh.geometry.index.count / 3 <= MAX_EDGES;
    const box = mesh.geometry.boundingBox!;
    const size = box.getSize(new THREE.Vector3());
    const edges = few
      ? new THREE.EdgesGeometry(mesh.geometry, 20)
      : new THREE.EdgesGeometry(new THREE.BoxGeometry(size.x, size.y, size.z)).translate(...box.getCenter(new THREE.Vector3()).toArray());
    this.outline = new THREE.LineSegments(edges, this.outlineMaterial);
    this.outline.userData.geometry = mesh.geometry;
    this.outline.renderOrder = 5;
    mesh.add(this.outline);
  }

  /** Number of triangles. */
  get triangles(): number {
    return this.meshes.reduce((sum, mesh) => sum + (mesh.geometry.index?.count ?? 0) / 3, 0);
  }

  /** Shows or hides the surfaces, and the outline. */
  showParts(areSurfacesShown: boolean, isOutlineShown: boolean) {
    for (const material of this.materials.flat()) material.visible = areSurfacesShown;
    this.outlineMaterial.visible = isOutlineShown;
  }

  /** Shows the surfaces, their edges only, or nothing. */
  style(style: "surfaces" | "wire" | "hidden") {
    this.version++;
    this.group.visible = style !== "hidden";
    for (const material of this.materials.flat()) material.wireframe = style === "wire";
  }
}
