// SPDX-License-Identifier: MIT
// All demonstrations: their distribution, and the tables by demonstrator and one by one.

const POINTS = 160;   // points of a demonstrator in the strip plot, at most
const ROWS = 50;   // rows of the table that are in the document at once

function drawStrip() {
  const file = now(), host = byId("strip"), width = widthOf(host), what = state.strip, narrow = width < 560;
  const values = what === "share" ? file.columns.share : state[what];
  const names = groupOrder(file), rowHeight = narrow ? 58 : 46;
  const finite = values.filter(isNumber);
  const high = what === "share" ? Math.max(1.05, Math.min(quantile([...finite].sort((a, b) => a - b), 0.995) * 1.05, 3)) : Math.max(...finite, 1e-9) * 1.02;
  const left = narrow ? 14 : Math.min(240, 20 + 7 * Math.max(...names.map((group) => file.demonstrators[group].length)));
  const drawn = chart(width, rowHeight * names.length + 62, {left, top: 22}, {x: [0, high], y: [names.length, 0], rows: true,
    xLabel: what !== "share" ? `${what} (0 to 1)` : width - left < 700 ? "share (0 follows perfectly, 1: passive)" : "share: what is left of a passive imitator's distance (0 follows perfectly, 1 is no better than staying passive)"}, `Distribution of the ${what} by demonstrator`);
  if (what === "share") bands(drawn, file);
  names.forEach((group, line) => stripRow(drawn, file, group, line, values, narrow, high));
  byId("strip-title").textContent = `Distribution of the ${what}, one mark a demonstration: ${GLYPHS[0]} feasible, ${GLYPHS[1]} borderline, ${GLYPHS[2]} infeasible, ${GLYPHS[3]} unknown; box: the middle half`;
  host.replaceChildren(drawn.svg);
}
function bands({svg, X, top, height, bottom, width, right}, file) {
  const [feasible, borderline] = file.thresholds, edge = width - right;
  const zones = [[0, feasible, "feasible", 0.14], [feasible, borderline, "borderline", 0.12]];
  for (const [from, to, name, opacity] of zones) {
    const room = Math.max(0, Math.min(X(to), edge) - X(from));
    svg.append(sv("rect", {x: X(from), y: top, width: room, height: height - top - bottom, fill: `var(--${name})`, opacity}));
    if (room > 7 * name.length) svg.append(sv("text", {x: X(from) + 3, y: top - 8}, name));
  }
  if (X(borderline) < edge - 60) svg.append(sv("text", {x: X(borderline) + 3, y: top - 8}, "infeasible"));
}
function stripRow({svg, X, Y, left, width}, file, group, line, values, narrow, high) {
  const rows = rowsOf(file, group).filter((row) => isNumber(values[row])).sort((a, b) => values[a] - values[b]);
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
    const rows = file.demonstrators.map(() => []);
    file.columns.demonstrator.forEach((one, row) => rows[one].push(row));
    members.set(file, rows);
  }
  return members.get(file)[group];
}
function groupOrder(file) {
  const shares = file.demonstrators.map((_, group) => mean(rowsOf(file, group).map((row) => file.columns.share[row]).filter(isNumber)));
  return file.demonstrators.map((_, group) => group).sort((a, b) => shares[a] - shares[b] || a - b);
}
const GROUPS = [["demonstrator", "demonstrator", true], ["count", "count"], ["verdict", "verdicts"], ["share", "mean share"],
  ["weight", "weight"], ["score", "mean score"], ["divergence", "parts at"], ["length", "length"], ["return", "return"]];
function groupNumbers(file, group) {
  const rows = rowsOf(file, group), of = (values) => mean(rows.map((row) => values[row]).filter(isNumber)), columns = file.columns;
  const counts = file.verdicts.map((_, verdict) => rows.filter((row) => columns.verdict[row] === verdict).length);
  return {group, demonstrator: file.demonstrators[group], count: rows.length, counts, verdict: -(counts[0] * 1e9 + counts[1]) / rows.length, share: of(columns.share), score: of(state.score),
    weight: rows.reduce((sum, row) => sum + state.weight[row], 0), divergence: median(rows.map((row) => columns.divergence[row]).filter(isNumber)), length: of(columns.length), return: of(columns.return)};
}
function compare(a, b, down) {
  if (typeof a === "string") return (down ? -1 : 1) * (a < b ? -1 : a > b ? 1 : 0);
  const missing = (isNumber(a) ? 0 : 1) - (isNumber(b) ? 0 : 1);
  return missing || !isNumber(a) ? missing : (down ? b - a : a - b);
}
function heads(columns, sort, choose) {
  return el("thead", {}, el("tr", {}, columns.map(([key, title, left]) => el("th", {scope: "col", class: left ? "left" : null, "aria-sort": sort.key === key ? sort.down ? "descending" : "ascending" : null},
    el("button", {type: "button", "data-key": key, onclick: () => choose(key)}, title)))));
}
const FALLING = new Set(["weight", "score", "followed", "return", "length", "count"]);   // the largest first when first asked for
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
      el("td", {title: "median"}, isNumber(one.divergence) ? `${fixed(one.divergence * file.period_s, 2)} s` : "–"), el("td", {}, grouped(one.length)), el("td", {}, grouped(one.return, 0)))))));
}

// ---------------------------------------------------------------- demonstrations

const COLUMNS = [["place", "place"], ["demonstrator", "demonstrator", true], ["verdict", "verdict", true], ["share", "share"], ["weight", "weight"], ["score", "score"],
  ["followed", "followed"], ["divergence", "parts at"], ["length", "length"], ["return", "return"]];
function keyOf(key) {
  const file = now(), columns = file.columns;
  if (key === "place") return (row) => row;
  if (key === "demonstrator") return (row) => file.demonstrators[columns.demonstrator[row]];
  if (key === "weight" || key === "score") return (row) => state[key][row];
  return (row) => columns[key][row];
}
function scoreText(file, row) {
  const {low, high} = file.columns;   // of the file's own rule
  return state.T === null ? `${short(state.score[row])} (${short(low[row])}–${short(high[row])})` : short(state.score[row]);
}
function lostText(times) {
  return times.length ? `lost at ${times.map((time) => `${time} s`).join(", ")}` : "nowhere lost in what was judged";
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
    el("td", {class: "left", title: columns.reason[row]}, verdictMark(file, columns.verdict[row])), el("td", {title: columns.share[row]}, fixed(columns.share[row], 3)),
    el("td", {class: "weight", title: state.weight[row]}, percent(state.weight[row])), el("td", {title: state.score[row]}, scoreText(file, row)),
    el("td", {title: lostText(columns.lost[row])}, isNumber(columns.followed[row]) ? percent(columns.followed[row]) : "–"),
    el("td", {title: isNumber(columns.divergence[row]) ? `step ${columns.divergence[row]}` : "within the judged steps it never does"}, isNumber(columns.divergence[row]) ? `${fixed(columns.divergence[row] * file.period_s, 2)} s` : "never"),
    el("td", {}, grouped(columns.length[row])), el("td", {}, grouped(columns.return[row], 0)));
  keepFocus(table, () => table.replaceChildren(heads(COLUMNS, state, (key) => { Object.assign(state, turned(state, key), {page: 0}); sortRows(); drawRows(); }), el("tbody", {}, rows.map(line))));
  byId("shown").textContent = `${grouped(state.order.length)} of ${grouped(columns.share.length)} demonstrations`;
  byId("page").textContent = `page ${state.page + 1} of ${pages}`;
  byId("previous").disabled = state.page === 0;
  byId("next").disabled = state.page >= pages - 1;
}
