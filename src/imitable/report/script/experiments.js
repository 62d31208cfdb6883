// SPDX-License-Identifier: MIT
// A reproduction: one experiment at a time, its rows in all its settings, with curves, claims and every seed.

const shownRows = new Map();   // experiment → names of the rows that are drawn
const experiments = data.reproductions.flatMap((one) => one.experiments.map((experiment) => ({...experiment, folder: one.name})));
const rowStyle = (i) => ({stroke: `var(--c${i % 6})`, "stroke-dasharray": DASHES[Math.floor(i / 6) % 6]});
const pText = (p) => isNumber(p) ? p < 1e-3 ? p.toExponential(1).replace("-", "−") : p.toPrecision(2) : "–";

function drawExperiments() {
  const select = byId("experiment");
  select.append(...experiments.map((one, i) => el("option", {value: i}, data.reproductions.length > 1 ? `${one.folder}: ${one.name}` : one.name)));
  select.addEventListener("change", drawExperiment);
  drawExperiment();
}
function drawExperiment() {
  const one = experiments[Number(byId("experiment").value)];
  if (!shownRows.has(one)) shownRows.set(one, new Set(one.rows));
  byId("row-filter").replaceChildren(el("legend", {}, "rows"), ...one.rows.map((row) => el("label", {},
    el("input", {type: "checkbox", value: row, checked: shownRows.get(one).has(row) ? "" : null, onchange: (event) => { event.target.checked ? shownRows.get(one).add(row) : shownRows.get(one).delete(row); drawTables(one); }}), " ",
    sv("svg", {class: "key", viewBox: "0 0 26 10", "aria-hidden": "true"}, sv("line", {x1: 0, x2: 26, y1: 5, y2: 5, "stroke-width": 2.5, ...rowStyle(one.styles[row])})), ` ${row}`)));
  drawTables(one);
}
function drawTables(one) {
  const rows = one.rows.filter((row) => shownRows.get(one).has(row)), host = byId("tables");
  const remarks = [one.missing ? `${grouped(one.missing)} of ${grouped(one.cells)} cells are not recorded yet.` : null, one.mixed ? "The code changed between these cells." : null].filter(Boolean);
  const panels = el("div", {class: "two"});
  host.replaceChildren(el("p", {class: "sentence"}, `${one.about}.`.replace("?.", "?")), el("ul", {class: "remarks"}, remarks.map((remark) => el("li", {}, remark))),
    el("ul", {class: "outcomes"}, one.outcomes.map((found) => el("li", {}, outcomeText(one, found)))), panels, el("p", {class: "small"}, "Return of episodes with sampled actions against control steps; lines: mean over seeds, bands: lowest to highest."));
  const drawn = one.places.filter((place) => rows.some((row) => place.rows[row]?.curve)), frames = drawn.map(() => el("div", {}));
  panels.append(...drawn.map((place, i) => el("figure", {}, el("figcaption", {}, place.name), frames[i])));   // all of them first: their widths depend on each other
  drawn.forEach((place, i) => placeChart(frames[i], one, place, rows));
  host.append(scrolling("Returns with mean actions", plainTable(el("table", {id: "returns"}), ["row", ...one.places.map((place) => place.name)], returnRows(one, rows))),
    el("p", {class: "small"}, "Mean ± deviation between seeds (number of seeds), 100 episodes with mean actions of the final policy."));
  if (one.claims.length) host.append(scrolling("Claims", plainTable(el("table", {id: "claims"}), ["row", "setting", "least certain against", "above all", "p", "after Holm", "one-sided"],
    one.claims.map((claim) => [claim.row, claim.place, claim.baseline, claim.above ? "yes" : "no", pText(claim.p), pText(claim.adjusted), pText(claim.one_sided)]))));
  host.append(el("details", {}, el("summary", {}, "Every seed"), scrolling("Every seed", plainTable(el("table", {}), ["setting", "row", "seed", "mean actions", "sampled actions", "falls"],
    one.places.flatMap((place) => rows.filter((row) => place.rows[row]).flatMap((row) => place.rows[row].seeds.map((seed, k) => [place.name, row, seed, grouped(place.rows[row].returns[k], 1), grouped(place.rows[row].sampled[k], 1), place.rows[row].falls[k]])))))));
}
const scrolling = (label, table) => el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": label}, table);
function outcomeText(one, found) {
  if (!found.compared) return `${found.row}: not compared with ${one.baselines.join(", ")} anywhere yet.`;
  return `${found.row}: above ${one.baselines.join(", ")} in ${found.above} of ${found.compared} settings that are recorded, of ${found.places}; with p < 0.01 after Holm in ${found.certain}; above the paper's own return in ${found.above_printed} of ${found.places}.`;
}
function returnRows(one, rows) {
  const text = (cell) => !cell ? "–" : cell.count > 1 ? `${grouped(cell.mean)} ± ${grouped(cell.std)} (${cell.count})` : `${grouped(cell.mean)} (1)`;
  const printed = [...new Set(one.places.flatMap((place) => place.paper.map((number) => number.method)))];
  const paper = (place, method) => { const number = place.paper.find((each) => each.method === method); return number ? `${grouped(number.mean)} ± ${grouped(number.std)}` : "–"; };
  return [...rows.map((row) => [row, ...one.places.map((place) => text(place.rows[row]))]), ...printed.map((method) => [`paper: ${method}`, ...one.places.map((place) => paper(place, method))])];
}
function placeChart(frame, one, place, rows) {
  const drawn = rows.filter((row) => place.rows[row]?.curve), values = drawn.flatMap((row) => [...place.rows[row].curve.low, ...place.rows[row].curve.high]).filter(isNumber);
  const low = Math.min(0, ...values), high = Math.max(...values), pad = (high - low || 1) * 0.06, last = Math.max(...drawn.flatMap((row) => place.rows[row].curve.steps));
  const {svg, X, Y} = chart(widthOf(frame), 240, {left: 60, top: 12}, {x: [0, last], y: [low - pad, high + pad], xLabel: "control steps", yLabel: "return"}, `Learning curves on ${place.name}`);
  for (const row of drawn) {
    const {curve} = place.rows[row], at = (ys) => curve.steps.map((step, k) => [X(step), Y(ys[k])]);
    svg.append(sv("path", {d: `${linePath([...at(curve.high), ...at(curve.low).reverse()])}Z`, fill: rowStyle(one.styles[row]).stroke, opacity: 0.14}),
      sv("path", {d: linePath(at(curve.mean)), fill: "none", "stroke-width": 2, ...rowStyle(one.styles[row])}, sv("title", {}, row)));
  }
  frame.append(svg);
}
