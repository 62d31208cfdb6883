// SPDX-License-Identifier: MIT
// Figures of an experiment: returns against the amount that it varies, a panel a setting, and against steps, a panel a place.

const rowStyle = (i) => ({stroke: `var(--c${i % 6})`, "stroke-dasharray": DASHES[Math.floor(i / 6) % 6]});
const AFTER = 1.03;   // times the steps of learning: where the dot of the first row's final return stands
const ASIDE = 0.02;   // each further one stands so much further: rows that end at one return would hide each other
const CAP = 4;   // half the width of a bar's ends

function drawFigures(host, one, rows) {
  const recorded = (name, row) => one.places.find((place) => place.name === name).rows[row];
  const groups = (one.sweep?.groups ?? []).filter((group) => rows.some((row) => group.points.some(([, name]) => recorded(name, row))));
  const places = one.places.filter((place) => rows.some((row) => place.rows[row]?.curve));
  drawPanels(host, groups, (frame, group) => amountChart(frame, one, group, rows, recorded), one.said.amounts);
  drawPanels(host, places, (frame, place) => curveChart(frame, one, place, rows), one.said.curves);
}
function drawPanels(host, parts, draw, caption) {
  if (!parts.length) return;
  const frames = parts.map(() => el("div", {}));
  host.append(el("div", {class: "two"}, parts.map((part, i) => el("figure", {}, el("figcaption", {}, part.name), frames[i]))), el("p", {class: "small"}, caption));
  parts.forEach((part, i) => draw(frames[i], part));   // after all of them are there: their widths depend on each other
}
const within = (values) => {
  const low = Math.min(0, ...values), high = Math.max(...values), pad = (high - low || 1) * 0.06;
  return [low - pad, high + pad];
};
function dot(x, y, i, attributes, title) {   // of a line that is not solid: hollow
  const {stroke} = rowStyle(i);
  return sv("circle", {cx: x, cy: y, r: 3.6, fill: i % 36 < 6 ? stroke : "var(--card)", stroke, "stroke-width": 1.6, ...attributes}, sv("title", {}, title));
}
function amountChart(frame, one, group, rows, recorded) {
  const lines = rows.map((row) => ({row, points: group.points.map(([amount, name]) => ({amount, cell: recorded(name, row)}))})).filter(({points}) => points.some(({cell}) => cell));
  const spread = (cell) => cell.count > 1 ? cell.std : 0, cells = lines.flatMap(({points}) => points.map(({cell}) => cell).filter(Boolean));
  const amounts = group.points.map(([amount]) => amount), first = Math.min(...amounts), last = Math.max(...amounts), pad = (last - first || 1) * 0.06;
  const width = widthOf(frame), {label} = one.sweep;
  const {svg, X, Y} = chart(width, 240, {left: 60, top: 12}, {x: [first - pad, last + pad], xTicks: amounts, y: within(cells.flatMap((cell) => [cell.mean - spread(cell), cell.mean + spread(cell)])), xLabel: cut(label, width), yLabel: "return"}, `Returns against ${label} on ${group.name}`);
  for (const {row, points} of lines) {
    const style = rowStyle(one.styles[row]), joined = points.map(({amount, cell}, k) => cell ? `${points[k - 1]?.cell ? "L" : "M"}${X(amount).toFixed(1)} ${Y(cell.mean).toFixed(1)}` : "").join("");   // no line across what is not recorded
    svg.append(sv("path", {d: joined, fill: "none", "stroke-width": 2, ...style}, sv("title", {}, row)));
    for (const {amount, cell} of points.filter((point) => point.cell)) {
      const x = X(amount), half = Y(cell.mean) - Y(cell.mean + spread(cell)), y = Y(cell.mean);
      if (cell.count > 1) svg.append(sv("path", {class: "bar", d: `M${x} ${y - half}V${y + half}M${x - CAP} ${y - half}h${2 * CAP}M${x - CAP} ${y + half}h${2 * CAP}`, fill: "none", stroke: style.stroke, "stroke-width": 1.4}));
      svg.append(dot(x, y, one.styles[row], {class: "mean"}, `${row}: ${returnText(cell)}`));
    }
  }
  frame.append(svg);
}
function curveChart(frame, one, place, rows) {
  const drawn = rows.filter((row) => place.rows[row]?.curve), values = drawn.flatMap((row) => [...place.rows[row].curve.low, ...place.rows[row].curve.high, place.rows[row].mean]);
  const after = (k) => (AFTER + ASIDE * k) * place.rows[drawn[k]].curve.end, last = Math.max(...drawn.map((_, k) => after(k)));
  const {svg, X, Y, left, right, width} = chart(widthOf(frame), 240, {left: 60, top: 12}, {x: [0, last], y: within([...values, place.level].filter(isNumber)), xLabel: "control steps", yLabel: "return"}, `Learning curves on ${place.name}`);
  if (isNumber(place.level)) svg.append(sv("line", {class: "level", x1: left, x2: width - right, y1: Y(place.level), y2: Y(place.level)}, sv("title", {}, `paper: Ours ${grouped(place.level)}`)));
  for (const [k, row] of drawn.entries()) {
    const {curve, mean} = place.rows[row], at = (ys) => curve.steps.map((step, i) => [X(step), Y(ys[i])]);
    svg.append(sv("path", {d: `${linePath([...at(curve.high), ...at(curve.low).reverse()])}Z`, fill: rowStyle(one.styles[row]).stroke, opacity: 0.14}),
      sv("path", {d: linePath(at(curve.mean)), fill: "none", "stroke-width": 2, ...rowStyle(one.styles[row])}, sv("title", {}, row)),
      dot(X(after(k)), Y(mean), one.styles[row], {class: "final"}, `${row}: ${returnText(place.rows[row])}`));
  }
  frame.append(svg);
}
