// Drives a real browser for the tests: one JSON command per line on stdin, one JSON answer per line on stdout.
// Arguments: the folder of playwright-core and axe-core, and the program of the browser.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [folder, executablePath] = process.argv.slice(2);
const require = createRequire(`${folder}/node_modules/`);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
let context;
let page;
let requested = [];
let complaints = [];

const commands = {
  // A new browser window without any history.
  async open({ width = 1200, height = 900, javaScript = true, scheme = "light" }) {
    if (context) await context.close();
    context = await browser.newContext({
      viewport: { width, height },
      javaScriptEnabled: javaScript,
      colorScheme: scheme,
      reducedMotion: "reduce",
    });
    context.setDefaultTimeout(15000);
    page = await context.newPage();
    requested = [];
    complaints = [];
    page.on("request", (request) => requested.push(request.url()));
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("dialog", (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
  },
  async goto({ url }) {
    const response = await page.goto(url);
    return response ? response.status() : null;
  },
  async click({ selector }) {
    await page.locator(selector).first().click();
    await page.waitForLoadState();
  },
  async fill({ selector, value }) {
    await page.locator(selector).first().fill(value);
  },
  async press({ keys }) {
    for (const key of keys) await page.keyboard.press(key);
    await page.waitForLoadState();
  },
  async type({ value }) {
    await page.keyboard.type(value);
  },
  async text({ selector }) {
    return page.locator(selector).first().innerText();
  },
  async count({ selector }) {
    return page.locator(selector).count();
  },
  // Waits until an element with this text is there.
  async until({ selector, text = "" }) {
    await page.locator(selector).filter({ hasText: text }).first().waitFor();
  },
  async url() {
    return page.url();
  },
  // Returns what a function of the page's own returns, given as text.
  async evaluate({ code }) {
    return page.evaluate(code);
  },
  async screenshot({ file, whole = true }) {
    await page.screenshot({ path: file, fullPage: whole });
  },
  // Returns the serious and critical faults that axe finds.
  async axe() {
    await page.evaluate(axe);
    const found = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })");
    const grave = found.violations.filter((fault) => ["serious", "critical"].includes(fault.impact));
    return grave.map((fault) => `${fault.id}: ${fault.nodes.map((node) => node.html).join(" | ")}`);
  },
  // Returns all addresses that were asked for, and every error of the page, such as a refusal of the content policy.
  async traffic() {
    return { requested, complaints };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...rest } = JSON.parse(line);
  let answer;
  try {
    answer = { value: (await commands[command](rest)) ?? null };
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
