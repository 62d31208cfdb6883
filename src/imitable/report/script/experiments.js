// SPDX-License-Identifier: MIT
// A reproduction: one experiment at a time, its rows in all its settings; figures are in figures.js, what is computed in statistics.js.

const shownRows = new Map();   // experiment → names of the rows that are drawn
const experiments = data.reproductions.flatMap((one) => one.experiments.map((experiment) => ({...experiment, folder: one.name, normalised: one.normalised})));
const MOST_COLUMNS = 6;   // settings beside each other; more of them stand below each other

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
  const rows = one.rows.filter((row) => shownRows.get(one).has(row)), host = byId("tables"), said = (text, kind = "small") => text ? [el("p", {class: kind}, text)] : [];
  host.replaceChildren(...said(`${one.about}.`.replace("?.", "?"), "sentence"), ...said(one.detail), el("ul", {class: "remarks"}, one.remarks.map((remark) => el("li", {}, remark))),
    ...said(one.said.claim, "sentence"), el("ul", {class: "outcomes"}, one.outcomes.map((text) => el("li", {}, text))));
  drawFigures(host, one, rows);
  host.append(returnsTable(one, rows), ...said(one.said.returns), ...folds(one, rows), el("p", {class: "small"}, "Makes all of these cells: ", el("code", {}, words(one.command))));
}
function returnsTable(one, rows) {
  const whole = [["row", ...one.places.map((place) => place.name)], ...returnRows(one, rows)], turned = one.places.length > MOST_COLUMNS;
  const [columns, ...lines] = turned ? whole[0].map((_, i) => whole.map((line) => line[i])) : whole;
  return scrolling("Returns with mean actions", plainTable(el("table", {id: "returns"}), [turned ? "setting" : "row", ...columns.slice(1)], lines));
}
function returnRows(one, rows) {
  const printed = [...new Set(one.places.flatMap((place) => place.paper.map((number) => number.method)))];
  const paper = (place, method) => { const number = place.paper.find((each) => each.method === method); return number ? `${grouped(number.mean)} ± ${grouped(number.std)}` : "–"; };
  const references = [...new Set(one.places.flatMap((place) => Object.keys(place.references)))];
  const reference = (cell) => !cell ? "–" : cell.count > 1 ? `${grouped(cell.mean)} ± ${grouped(cell.std)}` : grouped(cell.mean);
  return [...rows.map((row) => [row, ...one.places.map((place) => returnText(place.rows[row]))]), ...references.map((name) => [name, ...one.places.map((place) => reference(place.references[name]))]), ...printed.map((method) => [`paper: ${method}`, ...one.places.map((place) => paper(place, method))])];
}
