// SPDX-License-Identifier: MIT
// What is known of an experiment beside its returns, in tables that open: the claim's tests, rows together, what rows are, trends, costs.

const opened = new Set();   // titles of the tables that stay open when rows or experiments change
const pText = (p) => isNumber(p) ? p < 1e-3 && p > 0 ? p.toExponential(1).replace("-", "−") : String(Number(p.toPrecision(2))) : "–";
const signed = (value, digits) => fixed(value, digits).replace("-", "−");
const chance = (value) => isNumber(value) ? `${Math.round(100 * value)} %` : "–";
const scrolling = (label, table) => el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": label}, table);
const tableOf = (id, columns, rows, kind = null) => scrolling(id, plainTable(el("table", {id, class: kind}), columns, rows));

function fold(title, ...parts) {
  const remember = (event) => event.target.open ? opened.add(title) : opened.delete(title);
  return el("details", {open: opened.has(title) ? "" : null, ontoggle: remember}, el("summary", {}, title), parts.map((part) => typeof part === "string" ? el("p", {class: "small"}, part) : part));
}
function returnText(cell) {
  return !cell ? "–" : cell.count > 1 ? `${grouped(cell.mean)} ± ${grouped(cell.std)} (${cell.count}${cell.unit ? ` ${cell.unit}` : ""})` : `${grouped(cell.mean)} (1)`;
}
function folds(one, rows) {
  const of = (lines) => lines.filter((line) => rows.includes(line.row));
  return [claimFold(one, of(one.claims)), ...togetherFold(one, of(one.aggregates)), trendFold(one.trends, of(one.trends.tests)), besideFold(of(one.beside)), trialFold(one, of(one.trials)), definitionFold(of(one.definitions)), costFold(one, of(one.costs)), seedFold(one, rows)].filter(Boolean);
}
function claimFold(one, lines) {
  if (!lines.length) return null;
  const p = (line, value) => isNumber(line.p) ? pText(value) : "one seed";
  const theirs = lines.some((line) => line.paper), last = (line) => theirs ? [line.paper ? `${String(line.paper[0]).replace("-", "−")} (${line.paper[1]})` : "–"] : [];
  return fold("The claim, test by test",
    tableOf("claims", ["row", "setting", "least certain against", "above all", "p, two-sided", "after Holm", "with all seeds", "p, one-sided", "p, paired", ...(theirs ? ["the paper's p"] : [])],
      lines.map((line) => [line.row, line.place, line.baseline, line.above ? "yes" : "no", p(line, line.p), p(line, line.adjusted), p(line, line.foreseen), p(line, line.one_sided), p(line, line.paired), ...last(line)]), "two-names"),
    one.said.tests);
}
function togetherFold(one, lines) {
  if (!lines.length) return [];
  const spread = (whole) => !whole ? "–" : `${signed(whole.iqm, 2)}${isNumber(whole.low) ? ` (${signed(whole.low, 2)} to ${signed(whole.high, 2)})` : ""}`;
  const places = one.places.map((place) => place.name), round = (values) => values.map((value) => grouped(value)).join(", ");
  const masses = (line, place) => place in line.related ? `${round(line.related[place].map((part) => 100 * part))} (${round(line.effective[place])})` : "–";
  const why = one.normalised ? "" : " No returns of random policies lie beside the protocol, so that nothing is normalised: python -m imitable.experiments.random_policy --results FOLDER measures them.";
  return [
    fold("Rows over all settings: interquartile mean, probability of improvement",
      tableOf("together", ["row", "settings", "fewest seeds", "interquartile mean (95 % interval)", "mean", "worst setting", ...one.baselines.map((name) => `P above ${name}`)],
        lines.map((line) => [line.row, line.normalised?.places ?? "–", line.normalised?.fewest ?? "–", spread(line.normalised), signed(line.normalised?.mean, 2), signed(line.normalised?.worst, 2), ...one.baselines.map((name) => chance(line.improvement[name]))])),
      `${one.said.together}${why}`),
    fold("Regret to related only, by setting",
      tableOf("regret", ["row", ...places], lines.map((line) => [line.row, ...places.map((place) => grouped(line.regret[place]))])),
      `${one.said.regret} Below zero: above it.`),
    fold("Weights: the part that related demonstrators carry, by setting",
      tableOf("related", ["row", ...places], lines.filter((line) => Object.keys(line.related).length).map((line) => [line.row, ...places.map((place) => masses(line, place))])),
      `${one.said.related} How it is divided between the related demonstrators matters, too.`),
  ];
}
function trendFold(trends, lines) {
  if (!lines.length) return null;
  return fold("Does the return fall with the number of unrelated demonstrations?",
    tableOf("trends", ["row", "setting", "Spearman's ρ", "p, one-sided", "runs"], lines.map((line) => [line.row, line.setting, signed(line.rho, 2), pText(line.p), line.runs]), "two-names"),
    `Over single runs; p by permutation. – : only one number of demonstrations is recorded. ${trends.said}`);
}
function besideFold(lines) {
  if (!lines.length) return null;
  const millions = (cell) => cell ? `${fixed(cell.steps / 1e6, 1)} M` : "–";
  return fold("Beside the usual rows",
    tableOf("beside", ["setting", "row", "return", "steps in all", "beside", "return", "steps in all"],
      lines.map((line) => [line.place, line.row, returnText(line.here), millions(line.here), `${line.other} of ${line.experiment}`, returnText(line.there), millions(line.there)]), "two-names"),
    "Steps of scores, projection and learning together.");
}
function trialFold(one, lines) {
  if (!lines.length) return null;
  return fold("Trials: success, hits, tests of direct",
    tableOf("trials", ["row", "deviation between trials", "success", "hits", "p of return", "p of success"], lines.map((line) => [line.row, grouped(line.std), percent(line.success), percent(line.hits), pText(line.p_return), pText(line.p_success)])),
    `p: two-sided Welch tests of direct against the row, over seeds. ${one.said.paper}`);
}
function definitionFold(lines) {
  return fold("Rows: whose demonstrations, which scores, how they become weights, what that takes",
    tableOf("definitions", ["row", "demonstrations", "scores", "weights", "needs access to"], lines.map((line) => [line.row, line.demonstrations, line.scores, line.weights, line.needs.join(", ")]), "words"),
    "Access: what a row needs beside demonstrated states. D: the distance that a scorer measures; balanced: between demonstrators.");
}
function costFold(one, lines) {
  const experts = lines.some((line) => isNumber(line.experts)), followed = lines.some((line) => isNumber(line.followed));
  const columns = ["setting", "row", ...(experts ? ["steps: experts"] : []), "steps: score", "projection", "learner", "core-seconds: score", "learner", ...(followed ? ["pieces followed"] : [])];
  const line = (each) => [each.place, each.row, ...(experts ? [grouped(each.experts)] : []), grouped(each.score_steps), grouped(each.projection_steps), grouped(each.learner_steps), grouped(each.score_s), grouped(each.learner_s), ...(followed ? [chance(each.followed)] : [])];
  return fold("Costs: simulator steps and core-seconds", tableOf("costs", columns, lines.map(line), "two-names"),
    `Mean over seeds. Cells that share scores paid for them once.${followed ? " Pieces followed: of the pieces of demonstrations that were drawn, those that the imitator could follow." : ""}${experts ? ` ${one.said.paper}` : ""}`);
}
function seedFold(one, rows) {
  const lines = one.places.flatMap((place) => rows.filter((row) => place.rows[row]).flatMap((row) => place.rows[row].seeds.map((seed, k) =>
    [place.name, row, seed, grouped(place.rows[row].returns[k], 1), grouped(place.rows[row].sampled[k], 1), place.rows[row].falls[k]])));
  return fold("Every seed", tableOf("seeds", ["setting", "row", "seed", "mean actions", "sampled actions", "falls"], lines, "two-names"));
}
