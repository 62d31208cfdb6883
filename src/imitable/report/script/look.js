// SPDX-License-Identifier: MIT
// Everything else about one demonstration: its error, why it fails, what would help.

let errorChart = null;
function drawError() {
  const file = now(), detail = file.details[state.row], host = byId("error");
  errorChart = null;
  if (!detail) return host.replaceChildren();
  const pairs = detail.times.map((t, i) => [t, detail.errors[i]]).filter(([, error]) => isNumber(error)), own = file.own_error, step = file.columns.divergence[state.row];
  const high = Math.max(...pairs.map(([, error]) => error), own) * 1.08, low = Math.min(0, ...pairs.map(([, error]) => error), own), from = Math.min(...detail.times), to = Math.max(...detail.times), width = widthOf(host);
  const drawn = chart(width, 270, {top: 24}, {x: [from > to - from ? from : 0, to], y: [low, high], xLabel: "time (s)", yLabel: "error"}, "Tracking error over time");
  byId("error-title").textContent = `Tracking error over time, in ${file.error_unit}`;
  const {svg, X, Y, left, right, top} = drawn;
  svg.append(sv("line", {x1: left, x2: width - right, y1: Y(own), y2: Y(own), stroke: "var(--feasible)", "stroke-width": 1.5, "stroke-dasharray": "5 4"}));
  const gap = median(pairs.slice(1).map(([t], i) => t - pairs[i][0]));
  const pieces = [];
  pairs.forEach(([t, error], i) => { if (!i || t - pairs[i - 1][0] > 2.5 * gap) pieces.push([]); pieces[pieces.length - 1].push([X(t), Y(error)]); });
  for (const piece of pieces) svg.append(sv("path", {d: linePath(piece), fill: "none", stroke: "var(--attempted)", "stroke-width": 2}));
  if (isNumber(step)) {
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
    el("span", {class: "track"}, parts.filter(([fraction]) => fraction > 0).map(([fraction, colour]) => el("span", {css: {width: `${Math.min(100, 100 * fraction).toFixed(1)}%`, background: `var(--${colour})`}}))), el("span", {}, text)]));
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
  if (reasons?.reach) parts.push(el("h3", {}, "Out of reach"), el("ul", {}, el("li", {}, reasons.reach)));
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
  byId("look-title").replaceChildren(el("strong", {}, `#${row} `), `by ${name}, `, ...verdictMark(file, columns.verdict[row]), columns.reason[row] ? ` (${columns.reason[row]})` : "", `: a share of ${fixed(columns.share[row], 2)} is left; `,
    isNumber(columns.divergence[row]) ? `the imitator parts from it for good at ${fixed(columns.divergence[row] * file.period_s, 2)} s.` : "the imitator never leaves it for good within the judged steps.");
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
  const detailed = Object.keys(file.details).length, climbed = Object.values(file.details).filter((one) => one.ladders).length;
  byId("detail-note").textContent = `Details are kept for ${grouped(detailed)} of ${grouped(columns.share.length)} demonstrations (at most ${file.detailed}, spread over demonstrators and verdicts, thinned in time); for ${climbed} of them turned bodies were simulated: of each demonstrator the nearest demonstration, then the farthest (imitable report --explain N).`;
  if (motion) {
    player.frame = start ? 0 : divergenceFrame() ?? 0;
    drawFrame();
    if (start) play(true);
  }
  if (start) byId("look").scrollIntoView({block: "start"});
}
function lookNote(file, detail, motion, row) {
  const detailed = Object.keys(file.details).length, command = el("code", {}, words(`${file.explain} ${row}`));
  if (!detail && !detailed) return ["There is no scores.steps.parquet beside the score file, so there is nothing to draw. This explains it in words: ", command];
  if (!detail) return [`To keep the page small, details are kept for ${detailed} demonstrations, and this is not one of them. This explains it in words: `, command];
  const notes = [];
  if (!motion?.demonstrated) notes.push("The demonstration's states are not at hand (its folder has gone or changed), so only the attempt is shown. ");
  if (!motion?.attempted) notes.push("This method simulates no attempt, so only the demonstration is shown. ");
  if (detail.reasons && !detail.ladders) notes.push("Which turn of a knob would help was not simulated for this one; this does it: ", command);
  return notes;
}
