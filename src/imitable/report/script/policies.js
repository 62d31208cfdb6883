// SPDX-License-Identifier: MIT
// Whom to ask, what was learned, and what it all comes from.

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
    byId("runs").append(el("ul", {class: "remarks"}, runs.flatMap((run) => run.remarks.map((remark) => el("li", {}, remark)))));
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
  host.append(el("p", {}, button), el("div", {class: "two"}, places), el("p", {class: "small"}, "The final policy of the first finished seed, mean actions, from the first start of the evaluation, in real time."));
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
  figure.append(el("p", {class: "small"}, `Dots: mean over seeds; circles: seeds; bars: 95 % t-interval from three seeds on, else lowest to highest${paper ? `; paper (${paper.setting}): mean ± standard deviation of five runs` : ""}. The final policy is the result; the best was chosen by a reward that an imitator does not have.`));
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
  const groups = [["This page", data.provenance], ...data.scores.map((file) => [file.path, file.provenance]), ...data.policies.map((run) => [run.name, run.provenance]), ...data.reproductions.map((one) => [one.name, one.provenance])];
  byId("origins").replaceChildren(...groups.flatMap(([title, pairs]) => [el("h3", {}, title), el("dl", {}, pairs.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, name === "command" || name === "page" ? el("code", {}, words(value)) : value)]))]));
}
