// SPDX-License-Identifier: MIT
// Weights as imitable.feasibility.weighting has them, share:T, and what is shown now.

const T_LOW = 0.003;   // the slider runs over three decades from here, 60 notches each

function weigh(file, T) {
  const {share, length, possible} = file.columns, count = share.length;
  let logs = share.map((value) => isNumber(value) ? -value / T : -Infinity);
  const keeps = rowsWithWeight(file, logs), score = logs.map(Math.exp);
  if (!logs.some((value, i) => keeps[i] && Number.isFinite(value))) logs = logs.map(() => 0);
  const masses = new Float64Array(count);
  let top = -Infinity, sum = 0;
  for (let i = 0; i < count; i++) {
    masses[i] = keeps[i] ? logs[i] + Math.log(length[i] * possible[i]) : -Infinity;
    top = Math.max(top, masses[i]);
  }
  const spread = file.balance === "demonstrator" ? groupLengths(file) : null;
  for (let i = 0; i < count; i++) sum += masses[i] = Math.exp(masses[i] - top) / (spread ? spread[file.columns.demonstrator[i]] : 1);
  return {score, weight: Array.from(masses, (mass) => mass / sum)};
}

function groupLengths(file) {
  const {demonstrator, length} = file.columns, sums = file.demonstrators.map(() => 0);
  demonstrator.forEach((group, i) => { sums[group] += length[i]; });
  return sums;
}

function rowsWithWeight(file, logs) {
  if (file.keep === "feasible") return file.columns.verdict.map((verdict) => verdict === 0);
  if (["all", "auto", "feasible-segments"].includes(file.keep)) return logs.map(() => true);
  const group = file.demonstrators.indexOf(file.keep);
  if (group >= 0) return file.columns.demonstrator.map((one) => one === group);
  const best = logs.map((_, i) => i).sort((a, b) => logs[b] - logs[a] || a - b).slice(0, Number(file.keep.slice(4)));
  const set = new Set(best);
  return logs.map((_, i) => set.has(i));
}

// ---------------------------------------------------------------- state

const state = {file: 0, T: null, score: [], weight: [], text: "", verdicts: [true, true, true, true], key: "share", down: false, page: 0,
  row: null, order: [], strip: "share", group: {key: "share", down: false}};
const now = () => data.scores[state.file];

function reweigh(T) {
  const file = now();
  state.T = T;
  const weighed = T === null ? file.columns : weigh(file, T);
  state.score = weighed.score;
  state.weight = weighed.weight;
  const shown = T ?? file.temperature;
  byId("temperature-value").textContent = shown === null ? `by the rule “${file.temperature_text}” of the file` : `${short(shown)} on the share${T === null ? " (the file's own)" : ""}`;
  byId("temperature").value = Math.round(60 * Math.log10((shown ?? 0.03) / T_LOW));
  byId("temperature").setAttribute("aria-valuetext", byId("temperature-value").textContent);
  const size = T === null ? file.effective_size : 1 / state.weight.reduce((sum, w) => sum + w * w, 0);
  byId("ess").textContent = `${size < 10 ? size.toFixed(2) : grouped(size, 1)} of ${grouped(state.weight.length)}`;
  byId("weigh-command").replaceChildren(...words(`${file.weigh} ${T === null ? file.temperature_text : `share:${short(T)}`}${file.keep_option} --out weighted.parquet`));
  byId("own").disabled = T === null;
  drawGroups();
  sortRows();
  drawRows();
  if (state.strip !== "share") drawStrip();
}
