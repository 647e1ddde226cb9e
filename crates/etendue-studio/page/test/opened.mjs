// A studio with its page in a headless browser, for measurements.

import { spawn } from "node:child_process";
import { chromium } from "playwright-core";

/**
 * Starts a program with a scene and a sensor, and opens its page when the first sweep has arrived. `prepare` gets the page
 * before it is loaded.
 */
export async function openStudio(program, chrome, scene, sensor, prepare = () => {}) {
  const server = spawn(program, ["studio", scene, "--sensor", sensor, "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((done) => server.stdout.on("data", (data) => done(String(data).trim())));
  process.on("exit", () => server.kill());
  const browser = await chromium.launch({
    // A name without a folder is that of a program of the system
    executablePath: chrome.includes("/") ? chrome : `/usr/bin/${chrome}`,
    args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await prepare(page);
  await page.goto(url);
  await page.waitForFunction(() => window.studio?.app.sweep && window.studio.app.state, null, { timeout: 120_000 });
  return { server, browser, page, url };
}
