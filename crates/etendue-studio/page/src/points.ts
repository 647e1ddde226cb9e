// The points of a sweep, coloured by a table.

import * as THREE from "three";
import { MAPS, type Coloured } from "./colours";

const VERTEX = `
attribute float value;
uniform float size, perspective;
uniform vec2 limits;
uniform float named;
varying float share;
void main() {
  vec4 eye = modelViewMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * eye;
  gl_PointSize = max(size, perspective / max(0.1, -eye.z));
  share = named > 0.5 ? (mod(value, 256.0) + 0.5) / 256.0 : clamp((value - limits.x) / (limits.y - limits.x), 0.002, 0.998);
  if (!(value == value)) share = -1.0;
}`;
const FRAGMENT = `
uniform sampler2D map;
uniform vec3 missing;
varying float share;
void main() {
  gl_FragColor = vec4(share < 0.0 ? missing : texture2D(map, vec2(share, 0.5)).rgb, 1.0);
}`;

function texture(table: Uint8Array): THREE.DataTexture {
  const made = new THREE.DataTexture(table, 256, 1, THREE.RGBAFormat);
  made.magFilter = THREE.NearestFilter;
  made.needsUpdate = true;
  return made;
}

export class PointsLayer {
  readonly points: THREE.Points<THREE.BufferGeometry, THREE.ShaderMaterial>;
  private textures = Object.fromEntries(Object.entries(MAPS).map(([name, table]) => [name, texture(table)]));
  private capacity = 0;

  constructor() {
    const material = new THREE.ShaderMaterial({
      vertexShader: VERTEX, fragmentShader: FRAGMENT,
      uniforms: {
        size: { value: 2 }, perspective: { value: 0 }, limits: { value: new THREE.Vector2(0, 1) }, named: { value: 0 },
        map: { value: this.textures.turbo }, missing: { value: new THREE.Color(0x888888) },
      },
    });
    this.points = new THREE.Points(new THREE.BufferGeometry(), material);
    this.points.frustumCulled = false;
  }

  /** Shows points with their values; memory is reused from sweep to sweep. */
  show(positions: Float32Array, coloured: Coloured) {
    const count = positions.length / 3;
    const geometry = this.points.geometry;
    if (count > this.capacity || this.capacity === 0) {
      this.capacity = Math.max(64, Math.ceil(count * 1.1));
      geometry.dispose();
      geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * this.capacity), 3).setUsage(THREE.DynamicDrawUsage));
      geometry.setAttribute("value", new THREE.BufferAttribute(new Float32Array(this.capacity), 1).setUsage(THREE.DynamicDrawUsage));
    }
    this.fill("position", positions);
    geometry.setDrawRange(0, count);
    this.colour(coloured);
  }

  /** Colours the points again. */
  colour(coloured: Coloured) {
    this.fill("value", coloured.values);
    const uniforms = this.points.material.uniforms;
    uniforms.limits.value.set(...coloured.limits);
    uniforms.named.value = coloured.names ? 1 : 0;
    uniforms.map.value = this.textures[coloured.map];
  }

  private fill(name: string, values: Float32Array) {
    const attribute = this.points.geometry.getAttribute(name) as THREE.BufferAttribute;
    (attribute.array as Float32Array).set(values);
    attribute.clearUpdateRanges();
    attribute.addUpdateRange(0, values.length);
    attribute.needsUpdate = true;
  }

  /** Number of shown points, and the buffer of their positions. */
  get shown(): { count: number; positions: Float32Array } {
    const attribute = this.points.geometry.getAttribute("position") as THREE.BufferAttribute | undefined;
    return { count: this.points.geometry.drawRange.count, positions: (attribute?.array ?? new Float32Array()) as Float32Array };
  }
}
