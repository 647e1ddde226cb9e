// The surfaces as a picture with depths, kept while they and the camera stay: a sweep then draws its points and lines only. It is
// for software WebGL, where many triangles take longer than the rest of a change. Points behind glass are not tinted in it.

import * as THREE from "three";
import type { ObjectsLayer } from "./objects";

/** Number of triangles from which the copy of a picture is quicker than the surfaces. */
const MIN_TRIANGLES = 20_000;

export class StillPicture {
  private gl: WebGL2RenderingContext;
  private picture: WebGLFramebuffer;
  private colours: WebGLRenderbuffer;
  private depths: WebGLRenderbuffer;
  private size = "";
  /** Camera and size of the last frame, and those and the version of the surfaces of the picture. */
  private last = "";
  private taken = "";
  /** Whether the picture has the format of the canvas: other formats cannot be copied. */
  private isPossible = true;
  /** Whether the last frame drew the surfaces because the camera moved. */
  isBehind = false;
  /** Number of frames that were drawn from the picture. */
  copies = 0;

  constructor(private renderer: THREE.WebGLRenderer, private objects: ObjectsLayer) {
    const gl = (this.gl = renderer.getContext() as WebGL2RenderingContext);
    this.picture = gl.createFramebuffer()!;
    this.colours = gl.createRenderbuffer()!;
    this.depths = gl.createRenderbuffer()!;
  }

  /** Draws a scene, the grid with the surfaces. Surfaces of a moved camera are drawn themselves, and so are those that `isMoving`. */
  render(scene: THREE.Scene, camera: THREE.Camera, grid: THREE.Object3D | null, isMoving: boolean) {
    const { gl, renderer, objects } = this;
    const place = [gl.drawingBufferWidth, gl.drawingBufferHeight, ...camera.position, ...camera.quaternion, ...camera.projectionMatrix.elements].join();
    const hasMoved = place !== this.last;
    this.last = place;
    const isUseful = this.isPossible && objects.group.visible && objects.triangles >= MIN_TRIANGLES;
    this.isBehind = isUseful && (hasMoved || isMoving);
    if (!isUseful || this.isBehind) {
      renderer.render(scene, camera);
      return;
    }
    // The surfaces, from the picture or into it, then everything else
    const wanted = `${place} ${objects.version}`;
    if (wanted === this.taken) {
      // Browsers empty the canvas before the first drawing of a frame, and a copy is no drawing
      renderer.clear();
      this.copy(this.picture, null);
      this.copies++;
    } else {
      this.drawSurfaces(scene, camera, grid);
      this.isPossible = this.keep();
      this.taken = wanted;
    }
    renderer.autoClear = false;
    objects.showParts(false, true);
    if (grid) grid.visible = false;
    renderer.render(scene, camera);
    if (grid) grid.visible = true;
    objects.showParts(true, true);
    renderer.autoClear = true;
  }

  private drawSurfaces(scene: THREE.Scene, camera: THREE.Camera, grid: THREE.Object3D | null) {
    const { renderer, objects } = this;
    const others = scene.children.filter((child) => child.visible && child !== objects.group && child !== grid && !(child instanceof THREE.Light));
    for (const other of others) other.visible = false;
    objects.showParts(true, false);
    renderer.render(scene, camera);
    objects.showParts(true, true);
    for (const other of others) other.visible = true;
  }

  /** Copies the canvas into the picture; whether that is possible. */
  private keep(): boolean {
    const { gl, renderer: { state } } = this;
    const [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
    gl.getError();
    if (this.size !== `${width} ${height}`) {
      this.size = `${width} ${height}`;
      state.bindFramebuffer(gl.FRAMEBUFFER, this.picture);
      const kinds = [[this.colours, gl.RGBA8, gl.COLOR_ATTACHMENT0], [this.depths, gl.DEPTH24_STENCIL8, gl.DEPTH_STENCIL_ATTACHMENT]] as const;
      for (const [buffer, format, attachment] of kinds) {
        gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
        gl.renderbufferStorage(gl.RENDERBUFFER, format, width, height);
        gl.framebufferRenderbuffer(gl.FRAMEBUFFER, attachment, gl.RENDERBUFFER, buffer);
      }
    }
    this.copy(null, this.picture);
    return gl.getError() === gl.NO_ERROR;
  }

  private copy(from: WebGLFramebuffer | null, to: WebGLFramebuffer | null) {
    const { gl, renderer: { state } } = this;
    const area = [0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight] as const;
    state.bindFramebuffer(gl.READ_FRAMEBUFFER, from);
    state.bindFramebuffer(gl.DRAW_FRAMEBUFFER, to);
    gl.blitFramebuffer(...area, ...area, gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT, gl.NEAREST);
    state.bindFramebuffer(gl.READ_FRAMEBUFFER, null);
    state.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
  }
}
