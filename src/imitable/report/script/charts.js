// SPDX-License-Identifier: MIT
// Axes, ticks and marks, as SVG.

const nice = (span, count) => {
  const raw = span / Math.max(1, count), power = 10 ** Math.floor(Math.log10(raw)), ratio = raw / power;
  return power * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
};
function ticks(low, high, count) {
  const step = nice(high - low || 1, count), values = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) values.push(Number(value.toPrecision(12)));
  return values;
}
const tickText = (value) => Math.abs(value) >= 1e6 ? `${value / 1e6} M` : Math.abs(value) >= 1e4 ? `${value / 1e3} k` : String(value).replace("-", "−");

function chart(width, height, frame, axes, label) {
  const {left, right, top, bottom} = {left: 52, right: 14, top: 10, bottom: 40, ...frame};
  const {x: [x0, x1], y: [y0, y1], log} = axes;
  const place = log ? (v) => Math.log(v / x0) / Math.log(x1 / x0) : (v) => (v - x0) / (x1 - x0 || 1);
  const X = (v) => left + place(v) * (width - left - right), Y = (v) => height - bottom - (v - y0) / (y1 - y0 || 1) * (height - top - bottom);
  const svg = sv("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label});
  const xs = log ? axes.values : axes.xTicks ?? ticks(x0, x1, (width - left - right) / 80);
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
    sv("text", {x: Math.min((left + width - right) / 2, width - LETTER / 2 * axes.xLabel.length), y: height - 6, "text-anchor": "middle"}, axes.xLabel));
  if (axes.yLabel) svg.append(sv("text", {transform: `translate(12 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle"}, axes.yLabel));
  return {svg, X, Y, left, right, top, bottom, width, height};
}
const LETTER = 6.6;   // width of one, about
const widthOf = (node) => Math.max(260, Math.round(node.clientWidth || 600));
const linePath = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
function cut(text, room) {
  const most = Math.max(6, Math.floor(room / LETTER));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
function symbol(verdict, x, y, r, attributes) {
  const colour = `var(--${["feasible", "borderline", "infeasible", "unknown"][verdict]})`;
  if (verdict === 0) return sv("circle", {cx: x, cy: y, r, fill: colour, ...attributes});
  if (verdict === 1) return sv("path", {d: `M${x} ${y - r * 1.3}L${x + r * 1.3} ${y}L${x} ${y + r * 1.3}L${x - r * 1.3} ${y}Z`, fill: colour, ...attributes});
  return sv("circle", {cx: x, cy: y, r, fill: "none", stroke: colour, "stroke-width": 1.4, "stroke-dasharray": verdict === 3 ? "2 1.5" : "none", ...attributes});
}
