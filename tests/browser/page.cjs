// Opens a page in headless Chromium and prints what it found as JSON.
//
//   node page.cjs PAGE.html CHROMIUM NODE_MODULES [PICTURES]
//
// With a folder for pictures it leaves a screenshot of every look there.
"use strict";
const fs = require("fs");
const path = require("path");
const { createRequire } = require("module");
const { pathToFileURL } = require("url");

const [page_, chromium_, modules, pictures] = process.argv.slice(2);
const load = createRequire(path.join(path.resolve(modules), "x.js"));
const { chromium } = load("playwright-core");
const axe = fs.readFileSync(load.resolve("axe-core/axe.min.js"), "utf8");
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const LOOKS = [
  { name: "light", colorScheme: "light", width: 1280 },
  { name: "dark", colorScheme: "dark", width: 1280 },
  { name: "light-narrow", colorScheme: "light", width: 400 },
  { name: "dark-narrow", colorScheme: "dark", width: 400 },
  { name: "print", colorScheme: "light", width: 800, media: "print" },
];

async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() =>
    axe.run(document, { resultTypes: ["violations"], rules: { "color-contrast-enhanced": { enabled: false } } }));
  return found.violations.map((v) => ({
    id: v.id, impact: v.impact, help: v.help, where: v.nodes.slice(0, 5).map((n) => n.target.join(" ")),
    count: v.nodes.length,
  }));
}

// Tab through the page: what gets the focus, whether one sees it, and whether Enter opens a summary.
async function keyboard(page) {
  const steps = [];
  const wanted = await page.evaluate(() =>
    [...document.querySelectorAll("a[href], summary, [tabindex='0'], button, input")]
      .filter((e) => e.checkVisibility()).length);
  for (let i = 0; i < Math.min(wanted, 60); i++) {
    await page.keyboard.press("Tab");
    steps.push(await page.evaluate(() => {
      const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e);
      return { tag: e.tagName, shown: box.width > 0 && box.right > 0, outline: style.outlineStyle !== "none" };
    }));
  }
  const toggled = await page.evaluate(() => {
    const e = document.querySelector("details:not([open]) > summary");
    if (e) e.focus();
    return Boolean(e);
  });
  if (toggled) await page.keyboard.press("Enter");
  const opened = toggled ? await page.evaluate(() => document.activeElement.parentElement.open) : true;
  return { steps, opened };
}

async function look(browser, url, wish) {
  const context = await browser.newContext({
    colorScheme: wish.colorScheme, viewport: { width: wish.width, height: 900 }, javaScriptEnabled: true,
  });
  const page = await context.newPage();
  const requests = [], messages = [];
  page.on("request", (r) => requests.push(r.url()));
  page.on("console", (m) => messages.push(m.text()));
  await page.goto(url);
  if (wish.media) await page.emulateMedia({ media: wish.media });
  const width = await page.evaluate(() =>
    [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  const found = { name: wish.name, violations: await violations(page), width };
  const shut = await page.evaluate(() => {
    const all = [...document.querySelectorAll("details:not([open])")];
    all.forEach((e) => { e.open = true; });
    return all.length;
  });
  if (shut) found.violations.push(...await violations(page));
  found.opened = await page.evaluate(() =>
    [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  await page.evaluate(() => document.querySelectorAll("details").forEach((e) => { e.open = false; }));
  if (pictures) {
    await page.screenshot({ path: path.join(pictures, `${wish.name}.png`), fullPage: true });
    if (wish.media) await page.pdf({ path: path.join(pictures, "print.pdf"), format: "A4" });
  }
  if (wish.name === "light") found.keyboard = await keyboard(page);
  found.elsewhere = requests.filter((r) => r !== url);
  found.messages = messages;
  await context.close();
  return found;
}

(async () => {
  const url = pathToFileURL(path.resolve(page_)).href;
  const browser = await chromium.launch({ executablePath: chromium_, args: FLAGS });
  try {
    const looks = [];
    for (const wish of LOOKS) looks.push(await look(browser, url, wish));
    process.stdout.write(JSON.stringify(looks, null, 1) + "\n");
  } finally {
    await browser.close();
  }
})().catch((fault) => { console.error(fault); process.exit(1); });
