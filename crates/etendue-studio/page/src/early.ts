// Runs before the page is parsed: opens the connection, and the drawing context, for which a new browser starts the process of its
// graphics. Meanwhile the rest of the page is loaded.

export interface Drawing { canvas: HTMLCanvasElement; context: WebGL2RenderingContext; isSoftware: boolean }

export interface Early {
  socket: WebSocket;
  /** Messages that arrived before the page was there. */
  received: (string | ArrayBuffer)[];
  /** Null if the browser has no WebGL 2. */
  drawing: Drawing | null;
}

declare global {
  interface Window { early: Early }
}

function connect(): Pick<Early, "socket" | "received"> {
  const url = new URL("socket", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(url);
  socket.binaryType = "arraybuffer";
  const received: Early["received"] = [];
  socket.onmessage = (event) => received.push(event.data);
  return { socket, received };
}

function draw(isSoftware: boolean): Drawing | null {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("webgl2", { alpha: !isSoftware, antialias: !isSoftware, powerPreference: "high-performance" });
  return context && { canvas, context, isSoftware };
}

/**
 * A canvas with its context. Where the processor draws, edges are not smoothed and the ground is opaque: the opposite takes it twice
 * as long.
 */
function drawing(): Drawing | null {
  const plain = draw(true);
  if (!plain) return null;
  const { context } = plain;
  const named = context.getExtension("WEBGL_debug_renderer_info");
  const renderer = String(context.getParameter(named ? named.UNMASKED_RENDERER_WEBGL : context.RENDERER));
  if (/swiftshader|llvmpipe|software/i.test(renderer)) return plain;
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return draw(false);
}

window.early = { ...connect(), drawing: drawing() };
