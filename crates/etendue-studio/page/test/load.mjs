// Time of the studio until its first points: `node test/load.mjs PROGRAM CHROMIUM SCENE SENSOR [LOADS]`.
//
// Loads the page in new contexts of one headless browser, which have no cache. Prints JSON: milliseconds from the start of the
// navigation, the first of them in a new browser, and the size of the page.

import { readFileSync } from "node:fs";
import { openStudio } from "./opened.mjs";

const [program, chrome, scene, sensor, loads = "10"] = process.argv.slice(2);
const load = () => Number(readFileSync("/proc/loadavg", "utf8").split(" ")[0]);
const before = load();
const { browser, page, url } = await openStudio(program, chrome, scene, sensor);

const times = async (page) => {
  await page.waitForFunction(() => window.studio?.firstDrawn, null, { timeout: 60_000, polling: 50 });
  return page.evaluate(() => {
    const files = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
    return { parsed: files[0].domContentLoadedEventEnd, drawn: window.studio.firstDrawn, kb: files.filter((file) => /(\/|js|css)$/.test(file.name)).reduce((sum, file) => sum + file.transferSize, 0) / 1000 };
  });
};
const first = await times(page);
await page.close();
const later = [];
for (let number = 0; number < Number(loads); number++) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(url);
  later.push(await times(page));
  await context.close();
}
const sorted = (key) => later.map((one) => Math.round(one[key])).sort((a, b) => a - b);
const middle = (values) => values[values.length >> 1];
const [parsed, drawn] = [sorted("parsed"), sorted("drawn")];
console.log(JSON.stringify({
  load: [before, load()], page_kb: Math.round(first.kb), first: { parsed_ms: Math.round(first.parsed), drawn_ms: Math.round(first.drawn) },
  later: { parsed_ms: { least: parsed[0], median: middle(parsed) }, drawn_ms: { least: drawn[0], median: middle(drawn), most: drawn[drawn.length - 1] } },
}));
await browser.close();
process.exit(0);
