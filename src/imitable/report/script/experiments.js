// SPDX-License-Identifier: MIT
// A reproduction: one experiment at a time, its rows in all its settings, with curves; what is computed of them is in statistics.js.

const shownRows = new Map();   // experiment → names of the rows that are drawn
const experiments = data.reproductions.flatMap((one) => one.experiments.map((experiment) => ({...experiment, folder: one.name, normalised: one.normalised})));
const MOST_COLUMNS = 6;   // settings beside each other; more of them stand below each other
const rowStyle = (i) => ({stroke: `var(--c${i % 6})`, "stroke-dasharray": DASHES[Math.floor(i / 6) % 6]});

function drawExperiments() {
  const select = byId("experiment"), several = data.reproductions.length > 1;
  byId("reproduction-remarks").replaceChildren(...data.reproductions.flatMap((one) => one.remarks.map((remark) => el("li", {}, several ? `${one.name}: ${remark}` : remark))));
  byId("experiment-choice").hidden = !experiments.length;
  if (!experiments.length) return;
  select.append(...experiments.map((one, i) => el("option", {value: i}, several ? `${one.folder}: ${one.name}` : one.name)));
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
  const rows = one.rows.filter((row) => shownRows.get(one).has(row)), host = byId("tables"), panels = el("div", {class: "two"});
  host.replaceChildren(el("p", {class: "sentence"}, `${one.about}.`.replace("?.", "?")), ...(one.detail ? [el("p", {class: "small"}, one.detail)] : []), el("ul", {class: "remarks"}, one.remarks.map((remark) => el("li", {}, remark))),
    el("ul", {class: "outcomes"}, one.outcomes.map((found) => el("li", {}, outcomeText(one, found)))), panels, el("p", {class: "small"}, "Return of episodes with sampled actions against control steps; lines: mean over seeds, bands: lowest to highest."));
  const drawn = one.places.filter((place) => rows.some((row) => place.rows[row]?.curve)), frames = drawn.map(() => el("div", {}));
  panels.append(...drawn.map((place, i) => el("figure", {}, el("figcaption", {}, place.name), frames[i])));   // all of them first: their widths depend on each other
  drawn.forEach((place, i) => placeChart(frames[i], one, place, rows));
  host.append(returnsTable(one, rows), el("p", {class: "small"}, "Mean ± deviation between seeds (number of seeds), episodes with mean actions of the final policy."),
    ...folds(one, rows), el("p", {class: "small"}, "Makes all of these cells: ", el("code", {}, words(one.command))));
}
function returnsTable(one, rows) {
  const whole = [["row", ...one.places.map((place) => place.name)], ...returnRows(one, rows)], turned = one.places.length > MOST_COLUMNS;
  const [columns, ...lines] = turned ? whole[0].map((_, i) => whole.map((line) => line[i])) : whole;
  return scrolling("Returns with mean actions", plainTable(el("table", {id: "returns"}), [turned ? "setting" : "row", ...columns.slice(1)], lines));
}
function returnRows(one, rows) {
  const printed = [...new Set(one.places.flatMap((place) => place.paper.map((number) => number.method)))];
  const paper = (place, method) => { const number = place.paper.find((each) => each.method === method); return number ? `${grouped(number.mean)} ± ${grouped(number.std)}` : "–"; };
  const shown = one.places.some((place) => isNumber(place.demonstrated)) ? [["demonstrated", ...one.places.map((place) => grouped(place.demonstrated))]] : [];
  return [...rows.map((row) => [row, ...one.places.map((place) => returnText(place.rows[row]))]), ...shown, ...printed.map((method) => [`paper: ${method}`, ...one.places.map((place) => paper(place, method))])];
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
