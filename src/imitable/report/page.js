// SPDX-License-Identifier: MIT
// The page's own script. What comes from the data is only ever written as text nodes and attributes, never as markup.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const GLYPHS = ["●", "◆", "○"];   // feasible, nearly, infeasible: in tables and in plots
const ROWS = 50;            // rows of the table that are in the document at once
const STRIP = 32;            // height of the line over a picture that says time and error
const POINTS = 160;         // points of a demonstrator in the strip plot, at most
const T_LOW = 0.003;        // the slider runs over three decades from here, 60 notches each

// ---------------------------------------------------------------- elements and numbers

function make(space, tag, attributes, children) {
  const node = space ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "css") for (const [key, one] of Object.entries(value)) node.style.setProperty(key, one);
    else node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined).map((child) => child instanceof Node ? child : String(child)));
  return node;
}
const el = (tag, attributes, ...children) => make(false, tag, attributes, children);
const sv = (tag, attributes, ...children) => make(true, tag, attributes, children);
const known = (value) => value !== null && value !== undefined && Number.isFinite(value);
const fixed = (value, digits) => known(value) ? value.toFixed(digits) : "–";
const grouped = (value, digits = 0) => known(value) ? value.toLocaleString("en", {minimumFractionDigits: digits, maximumFractionDigits: digits}).replace("-", "−") : "–";
const short = (value) => !known(value) ? "–" : value === 0 ? "0" : Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5 ? String(Number(value.toPrecision(3))) : value.toExponential(1);
const percent = (value) => known(value) ? value >= 0.9995 ? "100 %" : value >= 0.001 || value === 0 ? `${(100 * value).toFixed(1)} %` : value < 1e-6 ? "< 0.0001 %" : `${(100 * value).toPrecision(1)} %` : "–";
const mean = (values) => values.length ? values.reduce((a, b) => a + b, 0) / values.length : NaN;
const quantile = (sorted, q) => {
  if (!sorted.length) return NaN;
  const place = (sorted.length - 1) * q, low = Math.floor(place);
  return sorted[low] + (place - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
};
const median = (values) => quantile([...values].sort((a, b) => a - b), 0.5);
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const breakable = (text) => text.split(/(?<=[:,/])/).flatMap((part) => [part, el("wbr")]);
const words = (command) => command.split(" ").flatMap((word, i) => [i ? " " : "", el("span", {class: "word"}, word)]);   // no break after a hyphen
const verdictMark = (file, verdict) => [el("span", {class: `glyph v${verdict}`, "aria-hidden": "true"}, GLYPHS[verdict]), file.verdicts[verdict]];

// ---------------------------------------------------------------- weights: as imitable.feasibility.weighting, share:T

function weigh(file, T) {
  const {share, length} = file.columns, count = share.length;
  let logs = share.map((value) => known(value) ? -value / T : -Infinity);
  const keeps = keptRows(file, logs), score = logs.map(Math.exp);
  if (!logs.some((value, i) => keeps[i] && Number.isFinite(value))) logs = logs.map(() => 0);
  const masses = new Float64Array(count);
  let top = -Infinity, sum = 0;
  for (let i = 0; i < count; i++) {
    masses[i] = keeps[i] ? logs[i] + Math.log(length[i]) : -Infinity;
    top = Math.max(top, masses[i]);
  }
  for (let i = 0; i < count; i++) sum += masses[i] = Math.exp(masses[i] - top);
  return {score, weight: Array.from(masses, (mass) => mass / sum)};
}

function keptRows(file, logs) {
  if (file.keep === "feasible") return file.columns.verdict.map((verdict) => verdict === 0);
  if (!file.keep.startsWith("top:")) return logs.map(() => true);
  const best = logs.map((_, i) => i).sort((a, b) => logs[b] - logs[a] || a - b).slice(0, Number(file.keep.slice(4)));
  const set = new Set(best);
  return logs.map((_, i) => set.has(i));
}

// ---------------------------------------------------------------- state

const state = {file: 0, T: null, score: [], weight: [], text: "", verdicts: [true, true, true], key: "share", down: false, page: 0,
  row: null, order: [], strip: "share", group: {key: "share", down: false}};
const now = () => data.scores[state.file];

function reweigh(T) {
  const file = now();
  state.T = T;
  const found = T === null ? file.columns : weigh(file, T);
  state.score = found.score;
  state.weight = found.weight;
  const shown = T ?? file.temperature;
  byId("temperature-value").textContent = shown === null ? `by the rule “${file.temperature_text}” of the file` : `${short(shown)} on the share${T === null ? " (the file's own)" : ""}`;
  byId("temperature").value = Math.round(60 * Math.log10((shown ?? 0.03) / T_LOW));
  byId("temperature").setAttribute("aria-valuetext", byId("temperature-value").textContent);
  const size = T === null ? file.effective_size : 1 / state.weight.reduce((sum, w) => sum + w * w, 0);
  byId("ess").textContent = `${size < 10 ? size.toFixed(2) : grouped(size, 1)} of ${grouped(state.weight.length)}`;
  const keep = file.keep === "all" ? "" : ` --keep ${file.keep}`;
  byId("weigh-command").replaceChildren(...words(`${file.weigh} ${T === null ? file.temperature_text : `share:${short(T)}`}${keep} --out weighted.parquet`));
  byId("own").disabled = T === null;
  drawGroups();
  sortRows();
  drawRows();
  if (state.strip !== "share") drawStrip();
}

// ---------------------------------------------------------------- charts

const nice = (span, count) => {
  const raw = span / Math.max(1, count), power = 10 ** Math.floor(Math.log10(raw)), ratio = raw / power;
  return power * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
};
function ticks(low, high, count) {
  const step = nice(high - low || 1, count), found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) found.push(Number(value.toPrecision(12)));
  return found;
}
const tickText = (value) => Math.abs(value) >= 1e6 ? `${value / 1e6} M` : Math.abs(value) >= 1e4 ? `${value / 1e3} k` : String(value).replace("-", "−");

function chart(width, height, frame, axes, label) {
  const {left, right, top, bottom} = {left: 52, right: 14, top: 10, bottom: 40, ...frame};
  const {x: [x0, x1], y: [y0, y1], log} = axes;
  const place = log ? (v) => Math.log(v / x0) / Math.log(x1 / x0) : (v) => (v - x0) / (x1 - x0 || 1);
  const X = (v) => left + place(v) * (width - left - right), Y = (v) => height - bottom - (v - y0) / (y1 - y0 || 1) * (height - top - bottom);
  const svg = sv("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label});
  const xs = log ? axes.values : ticks(x0, x1, (width - left - right) / 80);
  let last = -Infinity;
  for (const value of xs) {
    svg.append(sv("line", {class: "gridline", x1: X(value), x2: X(value), y1: top, y2: height - bottom}));
    if (X(value) - last < 34 && log) continue;
    last = X(value);
    svg.append(sv("text", {x: X(value), y: height - bottom + 15, "text-anchor": "middle"}, log ? short(value) : tickText(value)));
  }
  if (!axes.rows) for (const value of ticks(y0, y1, (height - top - bottom) / 38)) {
    svg.append(sv("line", {class: "gridline", x1: left, x2: width - right, y1: Y(value), y2: Y(value)}),
      sv("text", {x: left - 7, y: Y(value) + 4, "text-anchor": "end"}, tickText(value)));
  }
  svg.append(sv("line", {class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom}),
    sv("text", {x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle"}, axes.xLabel));
  if (axes.yLabel) svg.append(sv("text", {transform: `translate(12 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle"}, axes.yLabel));
  return {svg, X, Y, left, right, top, bottom, width, height};
}
const widthOf = (node) => Math.max(260, Math.round(node.clientWidth || 600));
const linePath = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
function cut(text, room) {
  const most = Math.max(6, Math.floor(room / 6.6));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
function symbol(verdict, x, y, r, attributes) {
  const colour = `var(--${["feasible", "nearly", "infeasible"][verdict]})`;
  if (verdict === 0) return sv("circle", {cx: x, cy: y, r, fill: colour, ...attributes});
  if (verdict === 1) return sv("path", {d: `M${x} ${y - r * 1.3}L${x + r * 1.3} ${y}L${x} ${y + r * 1.3}L${x - r * 1.3} ${y}Z`, fill: colour, ...attributes});
  return sv("circle", {cx: x, cy: y, r, fill: "none", stroke: colour, "stroke-width": 1.4, ...attributes});
}

function drawStrip() {
  const file = now(), host = byId("strip"), width = widthOf(host), what = state.strip, narrow = width < 560;
  const values = what === "share" ? file.columns.share : state[what];
  const names = groupOrder(file), rowHeight = narrow ? 58 : 46;
  const finite = values.filter(known);
  const high = what === "share" ? Math.max(1.05, Math.min(quantile([...finite].sort((a, b) => a - b), 0.995) * 1.05, 3)) : Math.max(...finite, 1e-9) * 1.02;
  const left = narrow ? 14 : Math.min(240, 20 + 7 * Math.max(...names.map((group) => file.demonstrators[group].length)));
  const drawn = chart(width, rowHeight * names.length + 62, {left, top: 22}, {x: [0, high], y: [names.length, 0], rows: true,
    xLabel: what === "share" ? "share: what is left of a passive imitator's distance (0 follows perfectly, 1 is no better than doing nothing)" : `${what} (0 to 1)`}, `Distribution of the ${what} by demonstrator`);
  if (width - left < 700 && what === "share") drawn.svg.lastChild.textContent = "share (0 follows perfectly, 1: doing nothing)";
  if (what === "share") bands(drawn, file);
  names.forEach((group, line) => stripRow(drawn, file, group, line, values, narrow, high));
  byId("strip-title").textContent = `Distribution of the ${what}, one mark a demonstration: ${GLYPHS[0]} feasible, ${GLYPHS[1]} nearly, ${GLYPHS[2]} infeasible; box: the middle half`;
  host.replaceChildren(drawn.svg);
}
function bands({svg, X, top, height, bottom, width, right}, file) {
  const [feasible, nearly] = file.thresholds, edge = width - right;
  const zones = [[0, feasible, "feasible", 0.14], [feasible, nearly, "nearly", 0.12]];
  for (const [from, to, name, opacity] of zones) {
    const room = Math.max(0, Math.min(X(to), edge) - X(from));
    svg.append(sv("rect", {x: X(from), y: top, width: room, height: height - top - bottom, fill: `var(--${name})`, opacity}));
    if (room > 7 * name.length) svg.append(sv("text", {x: X(from) + 3, y: top - 8}, name));
  }
  if (X(nearly) < edge - 60) svg.append(sv("text", {x: X(nearly) + 3, y: top - 8}, "infeasible"));
}
function stripRow({svg, X, Y, left, width}, file, group, line, values, narrow, high) {
  const rows = rowsOf(file, group).filter((row) => known(values[row])).sort((a, b) => values[a] - values[b]);
  const sorted = rows.map((row) => values[row]), middle = (Y(line) + Y(line + 1)) / 2 + (narrow ? 8 : 0);
  const name = file.demonstrators[group];
  svg.append(sv("line", {class: "gridline", x1: 0, x2: width, y1: Y(line + 1), y2: Y(line + 1)}),
    narrow ? sv("text", {class: "strong", x: left, y: Y(line) + 15}, cut(name, width - left - 20)) : sv("text", {class: "strong", x: left - 10, y: middle + 4, "text-anchor": "end"}, cut(name, left - 14), sv("title", {}, name)));
  const clamp = (value) => X(Math.min(value, high));
  const [a, b, c] = [0.25, 0.5, 0.75].map((q) => quantile(sorted, q));
  if (sorted.length > 2) svg.append(sv("rect", {x: clamp(a) - 1, y: middle - 13, width: Math.max(2, clamp(c) - clamp(a) + 2), height: 26, rx: 3, fill: "none", stroke: "var(--ground)"}),
    sv("line", {x1: clamp(b), x2: clamp(b), y1: middle - 13, y2: middle + 13, stroke: "var(--ink)", "stroke-width": 2}));
  const stride = Math.max(1, sorted.length / POINTS);
  for (let place = 0; place < sorted.length; place += stride) {
    const row = rows[Math.floor(place)], jitter = ((Math.floor(place) * 0.618034) % 1 - 0.5) * 18;
    svg.append(symbol(file.columns.verdict[row], clamp(values[row]), middle + jitter, 3.4, {opacity: sorted.length > 60 ? 0.6 : 0.9}));
  }
}

// ---------------------------------------------------------------- demonstrators

const members = new WeakMap();
function rowsOf(file, group) {
  if (!members.has(file)) {
    const found = file.demonstrators.map(() => []);
    file.columns.demonstrator.forEach((one, row) => found[one].push(row));
    members.set(file, found);
  }
  return members.get(file)[group];
}
function groupOrder(file) {
  const shares = file.demonstrators.map((_, group) => mean(rowsOf(file, group).map((row) => file.columns.share[row]).filter(known)));
  return file.demonstrators.map((_, group) => group).sort((a, b) => shares[a] - shares[b] || a - b);
}
const GROUPS = [["demonstrator", "demonstrator", true], ["count", "count"], ["verdict", "verdicts"], ["share", "mean share"],
  ["weight", "weight"], ["score", "mean score"], ["divergence", "parts at"], ["length", "length"], ["return", "return"]];
function groupNumbers(file, group) {
  const rows = rowsOf(file, group), of = (values) => mean(rows.map((row) => values[row]).filter(known)), columns = file.columns;
  const counts = [0, 1, 2].map((verdict) => rows.filter((row) => columns.verdict[row] === verdict).length);
  return {group, demonstrator: file.demonstrators[group], count: rows.length, counts, verdict: -(counts[0] * 1e9 + counts[1]) / rows.length, share: of(columns.share), score: of(state.score),
    weight: rows.reduce((sum, row) => sum + state.weight[row], 0), divergence: median(rows.map((row) => columns.divergence[row]).filter(known)), length: of(columns.length), return: of(columns.return)};
}
function compare(a, b, down) {
  if (typeof a === "string") return (down ? -1 : 1) * (a < b ? -1 : a > b ? 1 : 0);
  const missing = (known(a) ? 0 : 1) - (known(b) ? 0 : 1);
  return missing || !known(a) ? missing : (down ? b - a : a - b);
}
function heads(columns, sort, choose) {
  return el("thead", {}, el("tr", {}, columns.map(([key, title, left]) => el("th", {scope: "col", class: left ? "left" : null, "aria-sort": sort.key === key ? sort.down ? "descending" : "ascending" : null},
    el("button", {type: "button", "data-key": key, onclick: () => choose(key)}, title)))));
}
const FALLING = new Set(["weight", "score", "return", "length", "count"]);   // the largest first when first asked for
function turned(sort, key) {
  return {key, down: sort.key === key ? !sort.down : FALLING.has(key)};
}
function keepFocus(table, build) {
  const key = table.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  build();
  if (key) table.querySelector(`[data-key="${key}"]`)?.focus();
}
function drawGroups() {
  const file = now(), table = byId("demonstrators"), {key, down} = state.group;
  const rows = file.demonstrators.map((_, group) => groupNumbers(file, group)).sort((a, b) => compare(a[key], b[key], down) || a.group - b.group);
  keepFocus(table, () => table.replaceChildren(heads(GROUPS, state.group, (chosen) => { state.group = turned(state.group, chosen); drawGroups(); }),
    el("tbody", {}, rows.map((one) => el("tr", {}, el("td", {class: "left name", title: one.demonstrator}, breakable(one.demonstrator)), el("td", {}, grouped(one.count)),
      el("td", {}, one.counts.map((count, i) => [i ? "  " : "", el("span", {class: `v${i}`, title: file.verdicts[i]}, GLYPHS[i]), ` ${count}`])),
      el("td", {}, fixed(one.share, 3)), el("td", {title: one.weight}, percent(one.weight)), el("td", {}, short(one.score)),
      el("td", {title: "median"}, known(one.divergence) ? `${fixed(one.divergence * file.period_s, 2)} s` : "–"), el("td", {}, grouped(one.length)), el("td", {}, grouped(one.return, 0)))))));
}

// ---------------------------------------------------------------- demonstrations

const COLUMNS = [["place", "place"], ["demonstrator", "demonstrator", true], ["verdict", "verdict", true], ["share", "share"], ["weight", "weight"], ["score", "score"],
  ["divergence", "parts at"], ["length", "length"], ["return", "return"]];
function keyOf(key) {
  const file = now(), columns = file.columns;
  if (key === "place") return (row) => row;
  if (key === "demonstrator") return (row) => file.demonstrators[columns.demonstrator[row]];
  if (key === "weight" || key === "score") return (row) => state[key][row];
  return (row) => columns[key][row];
}
function sortRows() {
  const file = now(), columns = file.columns, text = state.text.trim().toLowerCase(), value = keyOf(state.key);
  const name = file.demonstrators.map((one) => one.toLowerCase()), source = file.sources.map((one) => one.toLowerCase());
  state.order = [];
  for (let row = 0; row < columns.share.length; row++) {
    if (!state.verdicts[columns.verdict[row]]) continue;
    if (text && !name[columns.demonstrator[row]].includes(text) && !source[columns.source[row]].includes(text) && text !== `#${row}` && text !== String(row)) continue;
    state.order.push(row);
  }
  const values = new Map(state.order.map((row) => [row, value(row)]));
  state.order.sort((a, b) => compare(values.get(a), values.get(b), state.down) || a - b);
}
function drawRows() {
  const file = now(), columns = file.columns, table = byId("demonstrations"), pages = Math.max(1, Math.ceil(state.order.length / ROWS));
  state.page = Math.min(Math.max(0, state.page), pages - 1);
  const rows = state.order.slice(state.page * ROWS, (state.page + 1) * ROWS);
  const line = (row) => el("tr", {class: "pick", tabindex: 0, "data-row": row, "aria-selected": String(row === state.row), title: row in file.details ? "look at it" : "no details kept"},
    el("td", {}, `#${row}`), el("td", {class: "left name", title: `${file.demonstrators[columns.demonstrator[row]]}, episode ${columns.index[row]} of ${file.sources[columns.source[row]]}`}, breakable(file.demonstrators[columns.demonstrator[row]])),
    el("td", {class: "left"}, verdictMark(file, columns.verdict[row])), el("td", {title: columns.share[row]}, fixed(columns.share[row], 3)),
    el("td", {class: "weight", title: state.weight[row]}, percent(state.weight[row])), el("td", {title: state.score[row]}, short(state.score[row])),
    el("td", {title: known(columns.divergence[row]) ? `step ${columns.divergence[row]}` : "within the judged steps it never does"}, known(columns.divergence[row]) ? `${fixed(columns.divergence[row] * file.period_s, 2)} s` : "never"),
    el("td", {}, grouped(columns.length[row])), el("td", {}, grouped(columns.return[row], 0)));
  keepFocus(table, () => table.replaceChildren(heads(COLUMNS, state, (key) => { Object.assign(state, turned(state, key), {page: 0}); sortRows(); drawRows(); }), el("tbody", {}, rows.map(line))));
  byId("shown").textContent = `${grouped(state.order.length)} of ${grouped(columns.share.length)} demonstrations`;
  byId("page").textContent = `page ${state.page + 1} of ${pages}`;
  byId("previous").disabled = state.page === 0;
  byId("next").disabled = state.page >= pages - 1;
}

// ---------------------------------------------------------------- look at one: pictures

const player = {motion: null, frame: 0, playing: false, begun: 0, from: 0};

function bodyBoxes(body, unit) {
  const place = body.counts.map((_, i) => body.counts.slice(0, i).reduce((a, b) => a + b, 0));
  return body.points.map((points) => {
    let box = [Infinity, Infinity, -Infinity, -Infinity], sum = 0;
    body.counts.forEach((count, geom) => {
      for (let i = place[geom]; i < place[geom] + count; i++) {
        const x = points[2 * i], y = points[2 * i + 1], r = body.radii[geom];
        box = [Math.min(box[0], x - r), Math.min(box[1], y - r), Math.max(box[2], x + r), Math.max(box[3], y + r)];
        sum += x;
      }
    });
    return {box: box.map((v) => v * unit), x: sum * unit / (points.length / 2)};
  });
}
function prepared(motion) {
  if (motion.boxes) return motion;
  motion.boxes = {};
  for (const name of ["demonstrated", "attempted"]) if (motion[name]) motion.boxes[name] = bodyBoxes(motion[name], motion.unit);
  const all = Object.values(motion.boxes).flat().map((one) => one.box);
  motion.low = Math.min(...all.map((box) => box[1]), motion.ground ?? Infinity);
  motion.high = Math.max(...all.map((box) => box[3]));
  motion.wide = Math.max(...all.map((box) => box[2] - box[0]));
  const [a, b] = [motion.boxes.demonstrated, motion.boxes.attempted];
  motion.apart = a && b ? Math.max(...a.map((one, i) => Math.abs(one.x - b[i].x))) : 0;
  return motion;
}
function hull(points) {
  if (points.length < 3) return points;
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = (list) => list.reduce((found, point) => {
    while (found.length > 1 && turn(found[found.length - 2], found[found.length - 1], point) <= 0) found.pop();
    found.push(point);
    return found;
  }, []).slice(0, -1);
  return [...half(sorted), ...half(sorted.reverse())];
}

// A picture is a list of primitives that a canvas and an SVG file draw alike.
function picture(motion, frame, width, height, view) {
  const colours = Object.fromEntries(["card", "ink", "soft", "grid", "ground", "demonstrated", "attempted", "infeasible"].map((name) => [name, style(`--${name}`)]));
  const shapes = [{kind: "rect", x: 0, y: 0, width, height, fill: colours.card}];
  const names = ["demonstrated", "attempted"].filter((name) => motion[name]);
  const over = view === "over" && names.length === 2, stacked = !over && width < 560 && names.length === 2;
  const panels = over ? [names] : names.map((name) => [name]);
  const room = height - STRIP;
  panels.forEach((shown, place) => {
    const area = {x: over || stacked ? 0 : place * width / panels.length, y: STRIP + (stacked ? place * room / panels.length : 0),
      width: over || stacked ? width : width / panels.length, height: stacked ? room / panels.length : room};
    shapes.push(...panel(motion, frame, area, shown, colours, over));
  });
  if (panels.length === 2) shapes.push({kind: "line", points: stacked ? [[0, STRIP + room / 2], [width, STRIP + room / 2]] : [[width / 2, STRIP], [width / 2, height]], stroke: colours.grid, width: 2});
  shapes.push({kind: "line", points: [[0, STRIP], [width, STRIP]], stroke: colours.grid, width: 1});
  return shapes;
}
function panel(motion, frame, area, names, colours, over) {
  const head = names.length > 1 ? 52 : 34, foot = 30, room = Math.max(40, area.height - head - foot);
  const wide = motion.wide + (over ? Math.min(motion.apart, 2 * motion.wide) : 0);
  const scale = Math.min(area.width / (1.45 * wide), room / ((motion.high - motion.low) * 1.04 || 1));
  const xs = names.map((name) => motion.boxes[name][frame].x), centre = xs.reduce((a, b) => a + b, 0) / xs.length;
  const floor = area.y + area.height - foot, X = (x) => area.x + area.width / 2 + (x - centre) * scale;
  const spare = motion.ground === null ? (room - (motion.high - motion.low) * scale) / 2 : 0, Y = (y) => floor - spare - (y - motion.low) * scale;
  const found = [], clip = {x: area.x, y: area.y, width: area.width, height: area.height}, step = nice(area.width / scale, area.width / 90), digits = step < 1 ? Math.ceil(-Math.log10(step)) : 0;
  for (let x = Math.ceil((centre - area.width / 2 / scale) / step) * step; X(x) < area.x + area.width; x += step) {
    found.push({kind: "line", points: [[X(x), area.y + head], [X(x), floor]], stroke: colours.grid, width: 1, clip});
    if (X(x) > area.x + 16 && X(x) < area.x + area.width - 16) found.push({kind: "text", x: X(x), y: floor + 18, text: `${x.toFixed(digits).replace("-", "−")} m`, fill: colours.soft, size: 11, anchor: "middle"});
  }
  const level = motion.ground === null ? floor : Y(motion.ground);
  found.push({kind: "line", points: [[area.x, level], [area.x + area.width, level]], stroke: colours.ground, width: motion.ground === null ? 1 : 2.5});
  const ghost = !over && names[0] === "attempted" && motion.demonstrated;
  if (ghost) found.push(...body(motion, "demonstrated", frame, X, Y, scale, colours.demonstrated, 0.22, clip));
  for (const name of names) found.push(...body(motion, name, frame, X, Y, scale, colours[name], over ? 0.78 : 0.92, clip));
  names.forEach((name, line) => found.push({kind: "text", x: area.x + 12, y: area.y + 22 + 18 * line, text: cut(`${motion.word ?? name}: ${motion.names[name]}${ghost && name === "attempted" && area.width > 460 ? " (pale: demonstrated)" : ""}`, area.width - 24), fill: colours[name], size: 13, weight: 600}));
  return found;
}
function body(motion, name, frame, X, Y, scale, fill, alpha, clip) {
  const {counts, radii, points} = motion[name], flat = points[frame], found = [];
  let place = 0;
  counts.forEach((count, geom) => {
    const corners = [];
    for (let i = place; i < place + count; i++) corners.push([X(flat[2 * i] * motion.unit), Y(flat[2 * i + 1] * motion.unit)]);
    place += count;
    found.push({kind: "blob", points: hull(corners), radius: Math.max(radii[geom] * motion.unit * scale, 1), fill, alpha, clip});
  });
  return found;
}
function paint(context, shapes) {
  for (const shape of shapes) {
    context.save();
    if (shape.clip) { context.beginPath(); context.rect(shape.clip.x, shape.clip.y, shape.clip.width, shape.clip.height); context.clip(); }
    context.globalAlpha = shape.alpha ?? 1;
    if (shape.kind === "rect") { context.fillStyle = shape.fill; context.fillRect(shape.x, shape.y, shape.width, shape.height); }
    if (shape.kind === "text") { context.font = `${shape.weight ?? 400} ${shape.size}px system-ui, "DejaVu Sans", sans-serif`; context.fillStyle = shape.fill; context.textAlign = shape.anchor === "middle" ? "center" : "left"; context.fillText(shape.text, shape.x, shape.y); }
    if (shape.points) {
      context.beginPath();
      shape.points.forEach(([x, y], i) => i ? context.lineTo(x, y) : context.moveTo(x, y));
      if (shape.kind === "blob") { if (shape.points.length === 1) context.lineTo(shape.points[0][0] + 0.01, shape.points[0][1]); else context.closePath(); context.fillStyle = shape.fill; context.fill(); }
      context.lineJoin = context.lineCap = "round";
      context.strokeStyle = shape.stroke ?? shape.fill;
      context.lineWidth = shape.kind === "blob" ? 2 * shape.radius : shape.width;
      context.stroke();
    }
    context.restore();
  }
}
function pictureFile(shapes, width, height) {
  const svg = sv("svg", {xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, "font-family": "sans-serif"});
  const clips = new Map();
  for (const shape of shapes) {
    const key = shape.clip ? JSON.stringify(shape.clip) : null;
    if (key && !clips.has(key)) { clips.set(key, `clip${clips.size}`); svg.append(sv("clipPath", {id: clips.get(key)}, sv("rect", shape.clip))); }
    const shared = {opacity: shape.alpha, "clip-path": key ? `url(#${clips.get(key)})` : null};
    if (shape.kind === "rect") svg.append(sv("rect", {x: shape.x, y: shape.y, width: shape.width, height: shape.height, fill: shape.fill}));
    else if (shape.kind === "text") svg.append(sv("text", {x: shape.x, y: shape.y, fill: shape.fill, "font-size": shape.size, "font-weight": shape.weight, "text-anchor": shape.anchor}, shape.text));
    else svg.append(sv("path", {d: linePath(shape.points) + (shape.kind === "blob" ? "Z" : ""), fill: shape.kind === "blob" ? shape.fill : "none", stroke: shape.stroke ?? shape.fill, "stroke-width": shape.kind === "blob" ? 2 * shape.radius : shape.width, "stroke-linejoin": "round", "stroke-linecap": "round", ...shared}));
  }
  return new XMLSerializer().serializeToString(svg);
}

// ---------------------------------------------------------------- look at one: the player

const heightFor = (width, motion, view) => width < 560 && view === "side" && motion.demonstrated && motion.attempted ? 480 : width < 560 ? 270 : 360;
function captions(shapes, motion, frame) {
  const file = now(), detail = file.details[state.row], step = file.columns.divergence[state.row], at = known(step) ? step * file.period_s : null;
  const t = motion.times[frame], jump = 2.5 * spacing(motion), times = motion.times.slice(0, frame + 1);
  const begin = times.reduce((from, time, i) => i && time - times[i - 1] > jump ? time : from, times[0]);   // of the window that the frame is in
  const parted = at !== null && t >= at - 1e-9 && begin <= at + 1e-9;
  let nearest = 0;
  detail.times.forEach((time, i) => { if (Math.abs(time - t) < Math.abs(detail.times[nearest] - t)) nearest = i; });
  const error = detail.times.length && t >= detail.times[0] - 1e-9 ? detail.errors[nearest] : 0;
  const text = `t = ${t.toFixed(2)} s  ·  error ${short(error)}${parted ? `  ·  parted at ${at.toFixed(2)} s` : ""}`;
  return [...shapes, {kind: "text", x: 12, y: 21, text, fill: style(parted ? "--infeasible" : "--ink"), size: 13, weight: 600}];
}
function fitted(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1, context = canvas.getContext("2d");
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
function drawFrame() {
  const {motion, frame} = player, canvas = byId("canvas");
  if (!motion) return;
  const width = Math.max(260, canvas.parentElement.clientWidth), view = byId("view").value, height = heightFor(width, motion, view);
  paint(fitted(canvas, width, height), captions(picture(motion, frame, width, height, view), motion, frame));
  canvas.dataset.frame = frame;
  byId("scrub").value = frame;
  byId("scrub").setAttribute("aria-valuetext", `${motion.times[frame].toFixed(2)} seconds`);
  moveHead(motion.times[frame]);
}
function spacing(motion) {
  const gaps = motion.times.slice(1).map((t, i) => t - motion.times[i]);
  return gaps.length ? median(gaps) : 0.05;
}
function tick(clock) {
  if (!player.playing) return;
  const {motion} = player, pace = spacing(motion) / Number(byId("speed").value) * 1000, hold = Math.max(6, 700 / pace);
  const turn = Math.floor(Math.max(0, clock - player.begun) / pace + player.from) % Math.ceil(motion.times.length + hold);
  const frame = Math.min(turn, motion.times.length - 1);
  if (frame !== player.frame) { player.frame = frame; drawFrame(); }
  requestAnimationFrame(tick);
}
function play(on) {
  player.playing = on && Boolean(player.motion);
  byId("play").textContent = player.playing ? "pause" : "play";
  if (!player.playing) return;
  player.begun = performance.now();
  player.from = player.frame >= player.motion.times.length - 1 ? 0 : player.frame;
  requestAnimationFrame(tick);
}
function goTo(frame) {
  if (!player.motion) return;
  play(false);
  player.frame = Math.min(Math.max(0, frame), player.motion.times.length - 1);
  drawFrame();
}
function divergenceFrame() {
  const file = now(), step = file.columns.divergence[state.row];
  if (!player.motion || !known(step)) return null;
  const found = player.motion.times.findIndex((t) => t >= step * file.period_s - 1e-9);
  return found < 0 ? null : found;
}

// ---------------------------------------------------------------- look at one: the rest

let errorChart = null;
function drawError() {
  const file = now(), detail = file.details[state.row], host = byId("error");
  errorChart = null;
  if (!detail) return host.replaceChildren();
  const pairs = detail.times.map((t, i) => [t, detail.errors[i]]).filter(([, error]) => known(error)), own = file.own_error, step = file.columns.divergence[state.row];
  const high = Math.max(...pairs.map(([, error]) => error), own) * 1.08, low = Math.min(0, ...pairs.map(([, error]) => error), own), from = Math.min(...detail.times), to = Math.max(...detail.times), width = widthOf(host);
  const drawn = chart(width, 270, {top: 24}, {x: [from > to - from ? from : 0, to], y: [low, high], xLabel: "time (s)", yLabel: "error"}, "Tracking error over time");
  byId("error-title").textContent = `Tracking error over time, in ${file.error_unit}`;
  const {svg, X, Y, left, right, top} = drawn;
  svg.append(sv("line", {x1: left, x2: width - right, y1: Y(own), y2: Y(own), stroke: "var(--feasible)", "stroke-width": 1.5, "stroke-dasharray": "5 4"}));
  const gap = median(pairs.slice(1).map(([t], i) => t - pairs[i][0]));
  const pieces = [];
  pairs.forEach(([t, error], i) => { if (!i || t - pairs[i - 1][0] > 2.5 * gap) pieces.push([]); pieces[pieces.length - 1].push([X(t), Y(error)]); });
  for (const piece of pieces) svg.append(sv("path", {d: linePath(piece), fill: "none", stroke: "var(--attempted)", "stroke-width": 2}));
  if (known(step)) {
    const x = X(step * file.period_s), late = x > width * 0.6;
    svg.append(sv("line", {x1: x, x2: x, y1: top, y2: Y(low), stroke: "var(--infeasible)", "stroke-width": 2}),
      sv("text", {class: "strong", x: x + (late ? -5 : 5), y: top - 8, "text-anchor": late ? "end" : "start"}, `parts at ${fixed(step * file.period_s, 2)} s (step ${step})`));
  }
  const head = sv("line", {y1: top, y2: Y(low), stroke: "var(--ink)", "stroke-width": 1, "stroke-dasharray": "2 3", visibility: "hidden"});
  svg.append(head);
  errorChart = {head, X};
  host.replaceChildren(svg, el("p", {class: "small"}, "Dashed: 99 % of the errors on the imitator's own rollouts lie below. Dotted: the frame above."));
}
function moveHead(t) {
  if (!errorChart) return;
  errorChart.head.setAttribute("x1", errorChart.X(t));
  errorChart.head.setAttribute("x2", errorChart.X(t));
  errorChart.head.setAttribute("visibility", "visible");
}
function meters(rows) {
  return el("div", {class: "meter"}, rows.map(({name, parts, text}) => [el("span", {class: "name", title: name}, name),
    el("span", {class: "track"}, parts.filter(([share]) => share > 0).map(([share, colour]) => el("span", {css: {width: `${Math.min(100, 100 * share).toFixed(1)}%`, background: `var(--${colour})`}}))), el("span", {}, text)]));
}
function drawReasons() {
  const detail = now().details[state.row], host = byId("reasons"), parts = [];
  const reasons = detail?.reasons;
  if (reasons?.entries.length) {
    const most = Math.max(...reasons.entries.map((entry) => entry.in_scales));
    parts.push(el("h3", {}, "State entries that fail"), meters(reasons.entries.map((entry) => ({name: entry.name, parts: [[entry.in_scales / most, "infeasible"]], text: `${short(entry.in_scales)} × its usual spread`}))));
  }
  if (reasons?.forces.length) {
    const most = Math.max(...reasons.forces.map((force) => force.needed));
    parts.push(el("h3", {}, "What it would need"), meters(reasons.forces.map((force) => ({name: force.joint, parts: [[force.needed / most, "infeasible"], [force.available / most, "feasible"]],
      text: force.available ? `${short(force.needed)} ${force.unit}, has ${short(force.available)}` : `${short(force.needed)} ${force.unit}, undriven`}))), el("p", {class: "small"}, "Median force that inverse dynamics asks for over the judged steps; what the joint has lies over it."));
  }
  if (reasons?.limits.length) parts.push(el("h3", {}, "Joints past their limits"), el("ul", {}, reasons.limits.map((limit) => el("li", {}, `${limit.joint} goes to ${short(limit.reaches)}, its limit is ${short(limit.limit)}`))));
  if (reasons && !parts.length) parts.push(el("p", {class: "soft"}, "No entry, limit or force stands out."));
  host.replaceChildren(...parts);
}
function drawLadders() {
  const file = now(), detail = file.details[state.row], host = byId("ladders");
  host.replaceChildren(...(detail?.ladders ?? []).map((ladder) => el("figure", {}, el("figcaption", {}, `If ${ladder.knob} were turned (${ladder.unit})`), el("div", {class: "ladder"}), el("p", {class: "small"}, ladder.sentence))));
  [...host.querySelectorAll(".ladder")].forEach((place, i) => place.replaceChildren(ladderChart(file, detail.ladders[i], widthOf(place))));
}
function ladderChart(file, ladder, width) {
  const values = ladder.rungs.map((rung) => rung.value), low = Math.min(...values), high = Math.max(...values), log = low > 0 && high > 5 * low;
  const pad = log ? 1 : (high - low) * 0.05, most = Math.max(1, ...ladder.rungs.map((rung) => rung.share)) * 1.08;
  const drawn = chart(width, 230, {top: 22, right: 60}, {x: [low - (log ? low * 0.1 : pad), high + (log ? high * 0.1 : pad)], y: [0, most], log, values: [...values].sort((a, b) => a - b), xLabel: `${ladder.knob} (${ladder.unit})`, yLabel: "share left"}, `Share by ${ladder.knob}`);
  const {svg, X, Y, left, right} = drawn;
  file.thresholds.forEach((share, i) => svg.append(sv("line", {x1: left, x2: width - right, y1: Y(share), y2: Y(share), stroke: `var(--${file.verdicts[i]})`, "stroke-dasharray": "5 4"}), sv("text", {x: width - right + 4, y: Y(share) + 4}, file.verdicts[i])));
  svg.append(sv("path", {d: linePath(ladder.rungs.map((rung) => [X(rung.value), Y(rung.share)])), fill: "none", stroke: "var(--ground)"}));
  ladder.rungs.forEach((rung) => svg.append(symbol(file.verdicts.indexOf(rung.verdict), X(rung.value), Y(rung.share), 4.5, {})));
  const own = ladder.rungs[0], end = X(own.value) > width * 0.7;
  svg.append(sv("text", {class: "strong", x: X(own.value) + (end ? -8 : 8), y: Math.max(14, Y(own.share) - 9), "text-anchor": end ? "end" : "start"}, "now"));
  return svg;
}
function look(row, start) {
  const file = now(), columns = file.columns, detail = file.details[row];
  state.row = row;
  play(false);
  for (const line of document.querySelectorAll("#demonstrations tr[data-row]")) line.setAttribute("aria-selected", String(Number(line.dataset.row) === row));
  const name = file.demonstrators[columns.demonstrator[row]], motion = detail?.motion ?? null;
  byId("look-title").replaceChildren(el("strong", {}, `#${row} `), `by ${name}, `, ...verdictMark(file, columns.verdict[row]), `: a share of ${fixed(columns.share[row], 2)} is left; `,
    known(columns.divergence[row]) ? `the imitator parts from it for good at ${fixed(columns.divergence[row] * file.period_s, 2)} s.` : "the imitator never leaves it for good within the judged steps.");
  byId("look-note").replaceChildren(...lookNote(file, detail, motion, row));
  byId("stage").hidden = !motion;
  byId("error").parentElement.hidden = !detail;
  player.motion = motion ? prepared(motion) : null;
  if (motion) {
    motion.names = {demonstrated: name, attempted: file.imitator};
    byId("scrub").max = motion.times.length - 1;
    byId("view").disabled = !(motion.demonstrated && motion.attempted);
    const seconds = spacing(motion) * motion.times.length;
    byId("speed").value = seconds < 1 ? "0.1" : seconds < 2 ? "0.25" : seconds < 4 ? "0.5" : "1";
    byId("to-divergence").disabled = divergenceFrame() === null;
  }
  drawError();
  drawReasons();
  drawLadders();
  const kept = Object.keys(file.details).length, climbed = Object.values(file.details).filter((one) => one.ladders).length;
  byId("detail-note").textContent = `Details are kept for ${grouped(kept)} of ${grouped(columns.share.length)} demonstrations (at most ${file.detailed}, spread over demonstrators and verdicts, thinned in time); for ${climbed} of them turned bodies were simulated: of each demonstrator the nearest demonstration, then the farthest (imitable report --explain N).`;
  if (motion) {
    player.frame = start ? 0 : divergenceFrame() ?? 0;
    drawFrame();
    if (start) play(true);
  }
  if (start) byId("look").scrollIntoView({block: "start"});
}
function lookNote(file, detail, motion, row) {
  const kept = Object.keys(file.details).length, command = el("code", {}, words(`${file.explain} ${row}`));
  if (!detail && !kept) return ["There is no scores.steps.parquet beside the score file, so there is nothing to draw. This explains it in words: ", command];
  if (!detail) return [`To keep the page small, details are kept for ${kept} demonstrations, and this is not one of them. This explains it in words: `, command];
  const notes = [];
  if (!motion?.demonstrated) notes.push("The demonstration's states are not at hand (its folder has gone or changed), so only the attempt is shown. ");
  if (!motion?.attempted) notes.push("This method simulates no attempt, so only the demonstration is shown. ");
  if (detail.reasons && !detail.ladders) notes.push("Which turn of a knob would help was not simulated for this one; this does it: ", command);
  return notes;
}

// ---------------------------------------------------------------- saving

function save(blob, name) {
  const url = URL.createObjectURL(blob), link = el("a", {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
const fileName = (ending) => `demonstration-${state.row}.${ending}`;
function saveSvg() {
  const {motion, frame} = player, width = 900, view = byId("view").value, height = heightFor(width, motion, view);
  save(new Blob([pictureFile(captions(picture(motion, frame, width, height, view), motion, frame), width, height)], {type: "image/svg+xml"}), fileName("svg"));
}
async function saveGif() {
  const {motion} = player, width = 640, view = byId("view").value, height = heightFor(width, motion, view), button = byId("save-gif"), title = button.textContent;
  const canvas = el("canvas", {width, height}), context = canvas.getContext("2d", {willReadFrequently: true}), stride = Math.ceil(motion.times.length / 80);
  button.disabled = true;
  const frames = [];
  for (let frame = 0; frame < motion.times.length; frame += stride) {
    paint(context, captions(picture(motion, frame, width, height, view), motion, frame));
    frames.push(context.getImageData(0, 0, width, height).data);
    button.textContent = `GIF ${Math.round(100 * frame / motion.times.length)} %`;
    await new Promise((go) => setTimeout(go));
  }
  const delay = Math.max(2, Math.round(100 * stride * spacing(motion) / Number(byId("speed").value)));
  save(new Blob([await gif(frames, width, height, delay)], {type: "image/gif"}), fileName("gif"));
  button.textContent = title;
  button.disabled = false;
}
// GIF89a: one palette of the 256 most frequent colours (4 bits a channel, each the mean of its bin), frames by LZW.
async function gif(frames, width, height, delay) {
  const {palette, nearest} = paletteOf(frames), bytes = [];
  const word = (value) => bytes.push(value & 255, value >> 8);
  bytes.push(...[..."GIF89a"].map((letter) => letter.charCodeAt(0)));
  word(width); word(height);
  bytes.push(0xf7, 0, 0, ...palette, 0x21, 0xff, 11, ...[..."NETSCAPE2.0"].map((letter) => letter.charCodeAt(0)), 3, 1, 0, 0, 0);
  const parts = [new Uint8Array(bytes)];
  for (const [place, frame] of frames.entries()) {
    bytes.length = 0;
    bytes.push(0x21, 0xf9, 4, 4);
    word(place === frames.length - 1 ? Math.max(delay, 100) : delay);
    bytes.push(0, 0, 0x2c, 0, 0, 0, 0);
    word(width); word(height);
    bytes.push(0, 8);
    const pixels = new Uint8Array(width * height);
    for (let i = 0; i < pixels.length; i++) pixels[i] = nearest[bin(frame, 4 * i)];
    parts.push(new Uint8Array(bytes), compressed(pixels));
    await new Promise((go) => setTimeout(go));
  }
  parts.push(new Uint8Array([0x3b]));
  return new Blob(parts);
}
const bin = (pixels, i) => (pixels[i] >> 4) << 8 | (pixels[i + 1] >> 4) << 4 | pixels[i + 2] >> 4;
function paletteOf(frames) {
  const sums = new Float64Array(4096 * 4);
  for (const frame of frames) for (let i = 0; i < frame.length; i += 4) {
    const place = 4 * bin(frame, i);
    sums[place] += frame[i]; sums[place + 1] += frame[i + 1]; sums[place + 2] += frame[i + 2]; sums[place + 3]++;
  }
  const bins = Array.from({length: 4096}, (_, i) => i).filter((i) => sums[4 * i + 3]).sort((a, b) => sums[4 * b + 3] - sums[4 * a + 3]);
  const colour = (i) => [0, 1, 2].map((c) => Math.round(sums[4 * i + c] / sums[4 * i + 3]));
  const kept = bins.slice(0, 256).map(colour), nearest = new Uint8Array(4096);
  for (const i of bins) {
    const [r, g, b] = colour(i);
    let best = Infinity;
    kept.forEach(([x, y, z], place) => { const gap = (r - x) ** 2 + (g - y) ** 2 + (b - z) ** 2; if (gap < best) { best = gap; nearest[i] = place; } });
  }
  const palette = kept.flat();
  while (palette.length < 768) palette.push(0);
  return {palette, nearest};
}
function compressed(pixels) {
  const out = [], table = new Int16Array(4096 * 256).fill(-1);
  let size = 9, next = 258, buffer = 0, filled = 0;
  const emit = (code) => { buffer |= code << filled; filled += size; while (filled >= 8) { out.push(buffer & 255); buffer >>= 8; filled -= 8; } };
  emit(256);
  let prefix = pixels[0];
  for (let i = 1; i < pixels.length; i++) {
    const key = prefix << 8 | pixels[i], found = table[key];
    if (found >= 0) { prefix = found; continue; }
    emit(prefix);
    if (next < 4096) {
      if (next === 1 << size) size++;
      table[key] = next++;
    } else {
      emit(256);
      table.fill(-1);
      size = 9; next = 258;
    }
    prefix = pixels[i];
  }
  emit(prefix);
  emit(257);
  if (filled) out.push(buffer & 255);
  const blocks = new Uint8Array(out.length + Math.ceil(out.length / 255) + 1);
  let place = 0;
  for (let i = 0; i < out.length; i += 255) { const part = out.slice(i, i + 255); blocks[place++] = part.length; blocks.set(part, place); place += part.length; }
  return blocks;
}

// ---------------------------------------------------------------- whom to ask, policies, provenance

function plainTable(table, columns, rows) {
  table.replaceChildren(el("thead", {}, el("tr", {}, columns.map((name, i) => el("th", {scope: "col", class: i ? null : "left"}, name)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((value, i) => el("td", {class: i ? null : "left name", title: i ? null : value}, i ? value : breakable(String(value))))))));
  return table;
}
function drawAdvice() {
  const {advice} = now();
  byId("advice").textContent = `With ${advice.budget} demonstrations to ask for: ${advice.sentence}.`;
  plainTable(byId("asked"), ["demonstrator", "scored", "feasible", "95 % interval", "mean score", "probability", "queries", "feasible per cost"], advice.sources.map((one) =>
    [one.name, grouped(one.demonstrations), `${(100 * one.feasible).toFixed(0)} %`, `${(100 * one.low).toFixed(0)}–${(100 * one.high).toFixed(0)} %`, short(one.mean_score), fixed(one.probability, 3), one.queries, fixed(one.feasible_per_cost, 2)]));
}
const DASHES = ["", "7 4", "2 3", "9 3 2 3", "4 4", "1 4"];
const lineStyle = (i) => ({stroke: `var(--c${i % 6})`, "stroke-dasharray": DASHES[i % 6]});
function drawPolicies() {
  const imitators = [...new Set(data.policies.map((run) => run.imitator))];
  byId("runs").replaceChildren();
  for (const imitator of imitators) {
    const runs = data.policies.filter((run) => run.imitator === imitator);
    byId("runs").append(el("h3", {}, imitator));
    const drawn = runs.some((run) => run.curve), ended = runs.some((run) => run.final.length);
    const [learning, final] = [drawn, ended].map((any) => any ? el("figure", {}) : null);
    if (!drawn) byId("runs").append(el("p", {class: "soft"}, "These runs know no return on the way: no task reward, or too short for an episode."));
    byId("runs").append(el("div", {class: "two"}, learning, final));
    if (drawn) curves(learning, runs);
    if (ended) finals(final, runs);
    watch(byId("runs"), runs);
    statistics(byId("runs"), runs);
  }
}
// Policies in motion: all of one imitator by one clock, so that the fast one is seen to be faster.
function watch(host, runs) {
  const moving = runs.filter((run) => run.motion);
  for (const video of runs.flatMap((run) => run.videos)) {
    const source = video.data && `data:${video.type};base64,${video.data}`;
    host.append(el("figure", {class: "video"}, el("figcaption", {}, source ? video.path : `${video.path} (too large for the page)`),
      !source ? null : video.type.startsWith("image") ? el("img", {src: source, alt: video.path}) : el("video", {src: source, controls: "", loop: "", muted: ""})));
  }
  if (!moving.length) return;
  const button = el("button", {type: "button", class: "watch"}, "watch the policies"), places = moving.map((run) => el("figure", {class: "bare"}, el("canvas", {role: "img", "aria-label": `The policy of ${run.label} in motion`})));
  host.append(el("p", {}, button), el("div", {class: "two"}, places), el("p", {class: "small"}, "The last policy of the first finished seed, mean actions, from the first start of the evaluation, in real time."));
  const long = Math.max(...moving.map((run) => run.motion.times[run.motion.times.length - 1]));
  const draw = (t) => moving.forEach((run, i) => {
    const motion = prepared(run.motion), canvas = places[i].firstChild, width = Math.max(260, places[i].clientWidth), height = width < 420 ? 200 : 260;
    const later = motion.times.findIndex((time) => time > t + 1e-9), frame = later < 0 ? motion.times.length - 1 : Math.max(0, later - 1);
    Object.assign(motion, {word: "policy", names: {attempted: run.label}});
    paint(fitted(canvas, width, height), [...picture(motion, frame, width, height, "side"), {kind: "text", x: 12, y: 21, text: `t = ${motion.times[frame].toFixed(2)} s`, fill: style("--ink"), size: 13, weight: 600}]);
    canvas.dataset.frame = frame;
  });
  let begun = null;
  const turn = (clock) => {
    if (begun === null || !button.isConnected) return;
    draw(Math.max(0, clock - begun) / 1000 % (long + 1));
    requestAnimationFrame(turn);
  };
  button.addEventListener("click", () => {
    begun = begun === null ? performance.now() : null;
    button.textContent = begun === null ? "watch the policies" : "pause";
    requestAnimationFrame(turn);
  });
  draw(long / 2);
}
const labelOf = (run) => `${run.label}: ${run.method}, ${run.weighted ? "weighted" : "every transition alike"}, ${run.seeds.length} seed${run.seeds.length > 1 ? "s" : ""}`;
function curves(figure, runs) {
  const drawnRuns = runs.filter((run) => run.curve), place = el("div", {});
  figure.append(el("figcaption", {}, "Return while learning"), place);
  const width = widthOf(place), ceiling = runs.flatMap((run) => run.marks).find((mark) => mark.kind === "ceiling");
  const means = drawnRuns.flatMap((run) => run.curve.mean), steps = drawnRuns.flatMap((run) => run.curve.steps);
  const low = Math.min(0, ...means), high = Math.max(...means, ceiling ? ceiling.value : -Infinity), pad = (high - low || 1) * 0.06;
  const {svg, X, Y, left, right, top, bottom, height} = chart(width, 300, {left: 60, top: 18}, {x: [0, Math.max(...steps)], y: [low - pad, high + pad], xLabel: "control steps", yLabel: "mean return of an episode"}, "Learning curves");
  const inside = (value) => Math.min(Math.max(Y(value), top), height - bottom);
  drawnRuns.forEach((run) => {
    const i = runs.indexOf(run), {curve} = run, band = [...curve.steps.map((s, k) => [X(s), inside(curve.high[k])]), ...curve.steps.map((s, k) => [X(s), inside(curve.low[k])]).reverse()];
    svg.append(sv("path", {d: `${linePath(band)}Z`, fill: `var(--c${i % 6})`, opacity: 0.16}), sv("path", {d: linePath(curve.steps.map((s, k) => [X(s), inside(curve.mean[k])])), fill: "none", "stroke-width": 2.2, ...lineStyle(i)}));
  });
  if (ceiling) svg.append(sv("line", {x1: left, x2: width - right, y1: Y(ceiling.value), y2: Y(ceiling.value), stroke: "var(--ink)", "stroke-dasharray": "5 4"}), sv("text", {class: "strong", x: width - right, y: Y(ceiling.value) + 15, "text-anchor": "end"}, "an expert of this body"));
  place.append(svg);
  figure.append(el("ul", {class: "legend"}, runs.map((run, i) => el("li", {}, sv("svg", {viewBox: "0 0 26 10", "aria-hidden": "true"}, sv("line", {x1: 0, x2: 26, y1: 5, y2: 5, "stroke-width": 2.5, ...lineStyle(i)})), labelOf(run)))),
    el("p", {class: "small"}, "Lines: mean over seeds. Bands: 95 % t-interval from three seeds on, else lowest to highest; cut at the axes."));
}
function finals(figure, runs) {
  const rows = runs.flatMap((run, i) => run.final.map((one) => ({...one, title: `${run.label}: ${one.policy}, ${one.actions} actions`, colour: `var(--c${i % 6})`})));
  const paper = runs.find((run) => run.paper)?.paper;
  for (const one of paper?.printed ?? []) rows.push({title: `paper: ${one.method}`, mean: one.mean, low: one.mean - one.std, high: one.mean + one.std, returns: [], colour: "var(--soft)"});
  const place = el("div", {});
  figure.append(el("figcaption", {}, "Final returns"), place);
  const width = widthOf(place), ceiling = runs.flatMap((run) => run.marks).find((mark) => mark.kind === "ceiling");
  const core = rows.flatMap((row) => [row.mean, ...row.returns, ...(row.returns.length ? [] : [row.low, row.high])]), low = Math.min(0, ...core), high = Math.max(...core, ceiling ? ceiling.value : -Infinity), pad = (high - low || 1) * 0.06;
  const {svg, X, Y, top, height, bottom} = chart(width, rows.length * 40 + 64, {left: 16, top: 22}, {x: [low - pad, high + pad], y: [rows.length, 0], rows: true, xLabel: "return of an episode"}, "Final returns");
  const clamp = (value) => X(Math.min(Math.max(value, low - pad), high + pad));
  if (ceiling) svg.append(sv("line", {x1: X(ceiling.value), x2: X(ceiling.value), y1: top, y2: height - bottom, stroke: "var(--ink)", "stroke-dasharray": "5 4"}), sv("text", {class: "strong", x: X(ceiling.value) + 4, y: top - 8, "text-anchor": "end"}, "an expert of this body"));
  rows.forEach((row, line) => {
    const y = Y(line) + 28;
    svg.append(sv("text", {class: "strong", x: 18, y: Y(line) + 14}, cut(row.title, width - 40), sv("title", {}, row.title)), sv("line", {x1: clamp(row.low), x2: clamp(row.high), y1: y, y2: y, stroke: row.colour, "stroke-width": 3, opacity: 0.55}));
    for (const value of row.returns) svg.append(sv("circle", {cx: X(value), cy: y, r: 3, fill: "none", stroke: row.colour}));
    svg.append(sv("circle", {cx: X(row.mean), cy: y, r: 5, fill: row.colour}));
  });
  place.append(svg);
  figure.append(el("p", {class: "small"}, `Dots: mean over seeds; circles: seeds; bars: 95 % t-interval from three seeds on, else lowest to highest${paper ? `; paper (${paper.setting}): mean ± standard deviation of five runs` : ""}. The last policy is the result; the best was chosen by a reward that an imitator does not have.`));
}
function statistics(host, runs) {
  const rows = runs.flatMap((run) => run.final.map((one) => [run.label, `${one.policy}, ${one.actions}`, one.count, grouped(one.mean, 1), one.count > 1 ? grouped(one.std, 1) : "–", one.count > 1 ? `${grouped(one.low, 1)} to ${grouped(one.high, 1)}` : "–"]));
  const paper = runs.find((run) => run.paper)?.paper;
  for (const one of paper?.printed ?? []) rows.push([`paper, ${one.method}`, "–", 5, grouped(one.mean, 1), grouped(one.std, 1), "–"]);
  const marks = new Map(runs.flatMap((run) => run.marks).map((mark) => [mark.name, mark]));
  for (const mark of marks.values()) rows.push([mark.kind === "ceiling" ? mark.name : `demonstrations of ${mark.name}`, "–", "–", grouped(mark.value, 1), "–", "–"]);
  if (rows.length) host.append(el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Final returns"}, plainTable(el("table", {}), ["what", "policy, actions", "seeds", "mean return", "std over seeds", "interval"], rows)));
  for (const run of runs) {
    const unfinished = run.rows.unfinished ? ` (${run.rows.unfinished} not finished)` : "";
    host.append(el("details", {}, el("summary", {}, `${labelOf(run)}: every seed${unfinished}`), el("div", {class: "scroll"}, plainTable(el("table", {}), run.rows.columns, run.rows.rows.map((row) => row.map((value, i) => typeof value === "number" && i ? grouped(value, value % 1 ? 3 : 0) : value ?? "–"))))));
  }
}
function drawProvenance() {
  const groups = [["This page", data.provenance], ...data.scores.map((file) => [file.path, file.provenance]), ...data.policies.map((run) => [run.name, run.provenance])];
  byId("origins").replaceChildren(...groups.flatMap(([title, pairs]) => [el("h3", {}, title), el("dl", {}, pairs.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, name === "command" || name === "page" ? el("code", {}, words(value)) : value)]))]));
}

// ---------------------------------------------------------------- the whole

function drawHead() {
  const file = now(), title = byId("title");
  if (!file) {
    title.textContent = `What ${[...new Set(data.policies.map((run) => run.imitator))].join(", ")} learned`;
    return byId("headline").replaceChildren();
  }
  const counts = [0, 1, 2].map((verdict) => file.columns.verdict.filter((one) => one === verdict).length), all = file.columns.verdict.length;
  title.textContent = counts[0] ? `${file.imitator} can imitate ${grouped(counts[0])} of ${grouped(all)} demonstrations` : counts[1] ? `${file.imitator} can nearly imitate ${grouped(counts[1])} of ${grouped(all)} demonstrations, and none closely` : `${file.imitator} can imitate none of ${grouped(all)} demonstrations`;
  byId("headline").replaceChildren(el("div", {class: "verdict-bar", role: "img", "aria-label": counts.map((count, i) => `${count} ${file.verdicts[i]}`).join(", ")}, counts.map((count, i) => count ? el("span", {class: `b${i}`, css: {flex: `${count} 1 0`}}) : null)),
    el("ul", {class: "tally"}, counts.map((count, i) => el("li", {}, el("b", {}, grouped(count)), verdictMark(file, i)))));
}
function drawFile() {
  drawHead();
  const file = now();
  for (const id of ["meaning", "verdicts", "look", "ask"]) byId(id).hidden = !file;
  if (!file) return;
  byId("sentence").textContent = file.meaning;
  byId("remarks").replaceChildren(...file.remarks.map((remark) => el("li", {}, remark)));
  Object.assign(state, {page: 0, row: null});
  reweigh(null);
  drawStrip();
  drawAdvice();
  const best = file.columns.share.map((share, row) => [share ?? Infinity, row]).filter(([, row]) => file.details[row]).sort((a, b) => a[0] - b[0])[0];
  look(best ? best[1] : state.order[0] ?? 0, false);
}
function redraw() {
  if (now()) {
    drawStrip();
    drawError();
    drawLadders();
    drawFrame();
  }
  drawPolicies();
}
function pick(event) {
  const line = event.target.closest("tr[data-row]");
  if (line) look(Number(line.dataset.row), true);
  return Boolean(line);
}
function listen() {
  byId("temperature").max = 180;
  byId("temperature").addEventListener("input", (event) => reweigh(Number((T_LOW * 10 ** (event.target.value / 60)).toPrecision(3))));
  byId("own").addEventListener("click", () => reweigh(null));
  byId("copy").addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(byId("weigh-command").textContent); byId("copy").textContent = "copied"; }
    catch { getSelection().selectAllChildren(byId("weigh-command")); }
  });
  byId("filter").addEventListener("input", (event) => { state.text = event.target.value; state.page = 0; sortRows(); drawRows(); });
  byId("strip-what").addEventListener("change", (event) => { state.strip = event.target.value; drawStrip(); });
  byId("previous").addEventListener("click", () => { state.page--; drawRows(); });
  byId("next").addEventListener("click", () => { state.page++; drawRows(); });
  byId("demonstrations").addEventListener("click", pick);
  byId("demonstrations").addEventListener("keydown", (event) => { if ((event.key === "Enter" || event.key === " ") && event.target.matches("tr") && pick(event)) event.preventDefault(); });
  byId("play").addEventListener("click", () => play(!player.playing));
  byId("canvas").addEventListener("click", () => play(!player.playing));
  byId("canvas").addEventListener("keydown", (event) => {
    if (event.key === " ") play(!player.playing); else if (event.key === "ArrowRight") goTo(player.frame + 1); else if (event.key === "ArrowLeft") goTo(player.frame - 1); else return;
    event.preventDefault();
  });
  byId("scrub").addEventListener("input", (event) => goTo(Number(event.target.value)));
  byId("speed").addEventListener("change", () => { if (player.playing) play(true); });
  byId("view").addEventListener("change", drawFrame);
  byId("to-divergence").addEventListener("click", () => goTo(divergenceFrame() ?? 0));
  byId("save-svg").addEventListener("click", saveSvg);
  byId("save-gif").addEventListener("click", saveGif);
  byId("file").addEventListener("change", (event) => { state.file = Number(event.target.value); drawFile(); });
  for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", drawFrame);
  let width = innerWidth, waiting = null;
  addEventListener("resize", () => { if (innerWidth === width) return; width = innerWidth; clearTimeout(waiting); waiting = setTimeout(redraw, 120); });
}
function start() {
  byId("file-label").hidden = data.scores.length < 2;
  byId("file").append(...data.scores.map((file, i) => el("option", {value: i}, `${file.path}: ${file.imitator}`)));
  byId("verdict-filter").append(...["feasible", "nearly", "infeasible"].map((name, i) => el("label", {}, el("input", {type: "checkbox", checked: "", value: name, onchange: (event) => { state.verdicts[i] = event.target.checked; state.page = 0; sortRows(); drawRows(); }}), " ", el("span", {class: `v${i}`}, GLYPHS[i]), ` ${name}`)));
  byId("policies").hidden = !data.policies.length;
  listen();
  drawFile();
  if (data.policies.length) drawPolicies();
  drawProvenance();
  byId("nav").append(...[...document.querySelectorAll("main > section:not([hidden])")].map((section) => el("a", {href: `#${section.id}`}, section.querySelector("h2").textContent)));
}
start();
})();
