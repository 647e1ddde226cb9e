// Bundles the page into dist/, which the binary embeds.
import { build } from "esbuild";
import { cp, mkdir, rm } from "node:fs/promises";

const dist = new URL("./dist/", import.meta.url).pathname;
await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });
const options = {
  absWorkingDir: new URL("./", import.meta.url).pathname,
  bundle: true,
  minify: true,
  target: "es2022",
  outdir: "dist",
  legalComments: "inline",
};
await build({ ...options, entryPoints: { studio: "src/main.ts" }, format: "esm" });
await build({ ...options, entryPoints: { early: "src/early.ts" }, format: "iife" });
await cp(new URL("./src/index.html", import.meta.url), `${dist}index.html`);
