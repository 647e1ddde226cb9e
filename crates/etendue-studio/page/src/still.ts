// The opaque surfaces as a picture with depths, kept while they and the camera stay: a sweep then draws its points, lines and
// glass only.

import * as THREE from "three";
import type { ObjectsLayer } from "./objects";

const VERTEX = `
varying vec2 place;
void main() {
  place = 0.5 * position.xy + 0.5;
  gl_Position = vec4(position.xy, 0.0, 1.0);
}`;
const FRAGMENT = `
uniform sampler2D colours, depths;
varying vec2 place;
void main() {
  float depth = texture2D(depths, place).r;
  if (depth >= 1.0) discard;
  gl_FragDepth = depth;
  gl_FragColor = texture2D(colours, place);
  #include <colorspace_fragment>
}`;

/** Number of triangles from which the picture is quicker than the surfaces. */
const MIN_TRIANGLES = 20_000;

export class StillPicture {
  private target: THREE.WebGLRenderTarget | null = null;
  private material = new THREE.ShaderMaterial({
    vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms: { colours: { value: null }, depths: { value: null } },
    blending: THREE.NoBlending, depthFunc: THREE.AlwaysDepth,
  });
  private quad = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), this.material);
  private flat = new THREE.Camera();
  /** Camera and size of the last frame, and those and the version of the surfaces of the picture. */
  private last = "";
  private taken = "";
  /** Whether the last frame drew the surfaces themselves, so that the picture is not that of the camera. */
  isBehind = false;

  constructor(private renderer: THREE.WebGLRenderer, private objects: ObjectsLayer, private samples: number) {
    this.quad.frustumCulled = false;
  }

  /** Draws a scene. Surfaces of a moved camera are drawn themselves, and so are those that `isMoving`. */
  render(scene: THREE.Scene, camera: THREE.Camera, isMoving: boolean) {
    const { renderer, objects } = this;
    const { x: width, y: height } = renderer.getDrawingBufferSize(new THREE.Vector2());
    const place = [width, height, ...camera.position, ...camera.quaternion, ...camera.projectionMatrix.elements].join();
    const hasMoved = place !== this.last;
    this.last = place;
    const isUseful = objects.group.visible && objects.triangles >= MIN_TRIANGLES;
    this.isBehind = isUseful && (hasMoved || isMoving);
    if (!isUseful || this.isBehind) {
      renderer.render(scene, camera);
      return;
    }
    const wanted = `${place} ${objects.version}`;
    if (wanted !== this.taken) this.take(scene, camera, width, height);
    this.taken = wanted;
    // The picture with its depths, then everything else
    renderer.render(this.quad, this.flat);
    renderer.autoClear = false;
    objects.showOpaque(false);
    renderer.render(scene, camera);
    objects.showOpaque(true);
    renderer.autoClear = true;
  }

  private take(scene: THREE.Scene, camera: THREE.Camera, width: number, height: number) {
    const { renderer, objects } = this;
    if (this.target?.width !== width || this.target.height !== height) {
      this.target?.dispose();
      this.target?.depthTexture?.dispose();
      const filters = { minFilter: THREE.NearestFilter, magFilter: THREE.NearestFilter } as const;
      this.target = new THREE.WebGLRenderTarget(width, height, {
        ...filters, samples: this.samples, colorSpace: THREE.SRGBColorSpace, depthTexture: new THREE.DepthTexture(width, height, THREE.UnsignedIntType),
      });
      this.material.uniforms.colours.value = this.target.texture;
      this.material.uniforms.depths.value = this.target.depthTexture;
    }
    const others = scene.children.filter((child) => child.visible && child !== objects.group && !(child instanceof THREE.Light));
    for (const other of others) other.visible = false;
    objects.showOthers(false);
    renderer.setRenderTarget(this.target);
    renderer.render(scene, camera);
    renderer.setRenderTarget(null);
    objects.showOthers(true);
    for (const other of others) other.visible = true;
  }
}
