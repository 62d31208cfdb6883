// SPDX-License-Identifier: MIT
// Elements, numbers and texts. What comes from the data is only ever written as text nodes and attributes, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const GLYPHS = ["●", "◆", "○", "◌"];   // feasible, borderline, infeasible, unknown: in tables and in plots

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
const isNumber = (value) => value !== null && value !== undefined && Number.isFinite(value);
const fixed = (value, digits) => isNumber(value) ? value.toFixed(digits) : "–";
const grouped = (value, digits = 0) => isNumber(value) ? value.toLocaleString("en", {minimumFractionDigits: digits, maximumFractionDigits: digits}).replace("-", "−") : "–";
const short = (value) => !isNumber(value) ? "–" : value === 0 ? "0" : Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5 ? String(Number(value.toPrecision(3))) : value.toExponential(1);
const percent = (value) => isNumber(value) ? value >= 0.9995 ? "100 %" : value >= 0.001 || value === 0 ? `${(100 * value).toFixed(1)} %` : value < 1e-6 ? "< 0.0001 %" : `${(100 * value).toPrecision(1)} %` : "–";
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
