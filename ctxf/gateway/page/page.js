"use strict";

// The key stands behind the # of the address, so it never gets into a request line, a log or a Referer.
const KEY = decodeURIComponent(location.hash.slice(1));
const REFRESH_MS = 2000;
const MINUTES = 60;
const CHART = { width: 720, height: 160 };
const SVG = "http://www.w3.org/2000/svg";

const byId = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en-US");

function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (bytes >= 999.95 && unit < units.length - 1) {
    bytes /= 1000;
    unit += 1;
  }
  return `${unit ? bytes.toFixed(1) : bytes} ${units[unit]}`;
}

function clock(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString("en-GB");
}

// All text goes in as text: labels come from a model.
function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function row(cells) {
  const made = element("tr");
  for (const [text, className] of cells) {
    made.append(text instanceof Node ? wrap(text, className) : element("td", text, className));
  }
  return made;
}

function wrap(node, className) {
  const cell = element("td", undefined, className);
  cell.append(node);
  return cell;
}

function showTotals(stats) {
  const saved = stats.bytes_before - stats.bytes_after;
  const passed = Object.entries(stats.folding).reduce(
    (sum, [note, count]) => sum + (/^passed: .*(Error|stuck|long)$/.test(note) ? count : 0), 0);
  const totals = [
    ["Requests", number(stats.requests)],
    ["Blocks folded", number(stats.blocks)],
    ["Tokens saved (est.)", number(stats.tokens_saved_estimate)],
    ["Bytes not sent", size(Math.max(0, saved))],
    ["Troubles (passed as is)", number(passed)],
  ];
  byId("totals").replaceChildren(...totals.map(([term, value]) => {
    const pair = element("div");
    pair.append(element("dt", term), element("dd", value));
    return pair;
  }));
}

function bar(x, width, height, className) {
  const made = document.createElementNS(SVG, "rect");
  const place = { x, y: CHART.height - height, width, height };
  for (const [name, value] of Object.entries(place)) made.setAttribute(name, value.toFixed(1));
  made.setAttribute("class", className);
  return made;
}

function showChart(minutes) {
  const end = Math.floor(Date.now() / 60000) * 60;
  const start = end - (MINUTES - 1) * 60;
  const shown = minutes.filter((one) => one.start >= start);
  const most = Math.max(1, ...shown.map((one) => Math.max(one.bytes_before, one.bytes_after)));
  const step = CHART.width / MINUTES;
  const bars = [];
  for (const one of shown) {
    const x = ((one.start - start) / 60) * step;
    const scale = CHART.height / most;
    bars.push(bar(x + 1, step / 2 - 1, one.bytes_before * scale, "bar-before"));
    bars.push(bar(x + step / 2, step / 2 - 1, one.bytes_after * scale, "bar-after"));
  }
  byId("chart").replaceChildren(...bars);
  const total = (name) => shown.reduce((sum, one) => sum + one[name], 0);
  byId("chart-text").textContent = shown.length
    ? `Last hour, by the minute: ${size(total("bytes_before"))} came, ${size(total("bytes_after"))} went on; ` +
      `at most ${size(most)} in a minute.`
    : "No requests in the last hour.";
}

function showSessions(sessions) {
  byId("no-sessions").hidden = sessions.length > 0;
  byId("sessions").replaceChildren(...sessions.map((one) => row([
    [element("code", one.session)], [one.provider], [number(one.requests), "n"], [number(one.blocks), "n"],
    [size(one.bytes_before), "n"], [size(one.bytes_after), "n"],
    [number(one.tokens_saved_estimate), "n"], [clock(one.last_seen)],
  ])));
}

let shownBlocks = null;

function showLatest(blocks) {
  const note = byId("no-latest");
  note.hidden = blocks !== undefined && blocks.length > 0;
  if (blocks === undefined) {
    note.textContent = "Open this page by the address that the gateway printed to see the blocks.";
    return;
  }
  const state = blocks.map((one) => one.number).join();
  if (state === shownBlocks) return; // a button that somebody is about to press stays where it is
  shownBlocks = state;
  byId("latest").replaceChildren(...blocks.map((one) => {
    const button = element("button", "Show");
    button.setAttribute("aria-label", `Show the original of ${one.label}`);
    button.addEventListener("click", () => showOriginal(one));
    return row([
      [clock(one.when)], [one.label, "label"], [element("code", one.id)], [element("code", one.session)],
      [size(one.size), "n"], [number(one.tokens_saved_estimate), "n"], [button],
    ]);
  }));
}

async function showOriginal(block) {
  byId("original-title").textContent = `${block.label}, ${size(block.size)}`;
  byId("original-text").textContent = "Loading";
  byId("original").showModal();
  try {
    const answer = await ask(`original/${block.number}`);
    byId("original-text").textContent = await answer.text();
  } catch {
    byId("original-text").textContent = "The gateway does not answer.";
  }
}

function ask(path) {
  return fetch(path, { headers: { "X-Ctxf-Key": KEY }, cache: "no-store" });
}

async function refresh() {
  let state = "";
  try {
    const answer = await ask("stats");
    if (!answer.ok) throw new Error(await answer.text());
    const stats = await answer.json();
    showTotals(stats);
    showChart(stats.minutes);
    showSessions(stats.sessions);
    showLatest(stats.latest);
    state = `Up for ${duration(stats.uptime_seconds)}`;
  } catch {
    state = "The gateway does not answer, or wants its key";
  }
  // Only when it changes: it is read out.
  if (byId("state").textContent !== state) byId("state").textContent = state;
  setTimeout(refresh, REFRESH_MS);
}

function duration(seconds) {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return "less than a minute";
  if (minutes < 120) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h`;
}

refresh();
