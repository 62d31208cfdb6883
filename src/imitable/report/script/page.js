// SPDX-License-Identifier: MIT
// The whole page: draw it, and listen.

function drawHead() {
  const file = now(), title = byId("title");
  if (!file && !data.policies.length) {
    title.textContent = "The paper's experiments, reproduced";
    return byId("headline").replaceChildren();
  }
  if (!file) {
    title.textContent = `What ${[...new Set(data.policies.map((run) => run.imitator))].join(", ")} learned`;
    return byId("headline").replaceChildren();
  }
  const counts = file.verdicts.map((_, verdict) => file.columns.verdict.filter((one) => one === verdict).length), all = file.columns.verdict.length;
  title.textContent = counts[0] ? `${file.imitator} can imitate ${grouped(counts[0])} of ${grouped(all)} demonstrations` : counts[1] ? `no demonstration is feasible for ${file.imitator}; ${grouped(counts[1])} of ${grouped(all)} are borderline` : counts[3] === all ? `what ${file.imitator} can imitate is unknown` : `${file.imitator} can imitate none of ${grouped(all)} demonstrations`;
  byId("headline").replaceChildren(el("div", {class: "verdict-bar", role: "img", "aria-label": counts.map((count, i) => `${count} ${file.verdicts[i]}`).join(", ")}, counts.map((count, i) => count ? el("span", {class: `b${i}`, css: {flex: `${count} 1 0`}}) : null)),
    el("ul", {class: "tally"}, counts.map((count, i) => el("li", {}, el("b", {}, grouped(count)), verdictMark(file, i)))));
}
function drawFile() {
  drawHead();
  const file = now();
  for (const id of ["meaning", "verdicts", "look", "ask"]) byId(id).hidden = !file;
  if (!file) return;
  byId("sentence").textContent = file.meaning;
  byId("remarks").replaceChildren(...file.remarks.map((remark) => el("li", {}, remark)));
  Object.assign(state, {page: 0, row: null});
  reweigh(null);
  drawStrip();
  drawAdvice();
  const best = file.columns.share.map((share, row) => [share ?? Infinity, row]).filter(([, row]) => file.details[row]).sort((a, b) => a[0] - b[0])[0];
  look(best ? best[1] : state.order[0] ?? 0, false);
}
function redraw() {
  if (now()) {
    drawStrip();
    drawError();
    drawLadders();
    drawFrame();
  }
  drawPolicies();
  if (experiments.length) drawExperiment();
}
function pick(event) {
  const line = event.target.closest("tr[data-row]");
  if (line) look(Number(line.dataset.row), true);
  return Boolean(line);
}
function listen() {
  byId("temperature").max = 180;
  byId("temperature").addEventListener("input", (event) => reweigh(Number((T_LOW * 10 ** (event.target.value / 60)).toPrecision(3))));
  byId("own").addEventListener("click", () => reweigh(null));
  byId("copy").addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(byId("weigh-command").textContent); byId("copy").textContent = "copied"; }
    catch { getSelection().selectAllChildren(byId("weigh-command")); }
  });
  byId("filter").addEventListener("input", (event) => { state.text = event.target.value; state.page = 0; sortRows(); drawRows(); });
  byId("strip-what").addEventListener("change", (event) => { state.strip = event.target.value; drawStrip(); });
  byId("previous").addEventListener("click", () => { state.page--; drawRows(); });
  byId("next").addEventListener("click", () => { state.page++; drawRows(); });
  byId("demonstrations").addEventListener("click", pick);
  byId("demonstrations").addEventListener("keydown", (event) => { if ((event.key === "Enter" || event.key === " ") && event.target.matches("tr") && pick(event)) event.preventDefault(); });
  byId("play").addEventListener("click", () => play(!player.playing));
  turnable(byId("canvas"), drawFrame);
  byId("canvas").addEventListener("click", () => play(!player.playing));
  byId("canvas").addEventListener("keydown", (event) => {
    if (event.key === " ") play(!player.playing); else if (event.key === "ArrowRight") goTo(player.frame + 1); else if (event.key === "ArrowLeft") goTo(player.frame - 1); else return;
    event.preventDefault();
  });
  byId("scrub").addEventListener("input", (event) => goTo(Number(event.target.value)));
  byId("speed").addEventListener("change", () => { if (player.playing) play(true); });
  byId("view").addEventListener("change", drawFrame);
  byId("to-divergence").addEventListener("click", () => goTo(divergenceFrame() ?? 0));
  byId("save-svg").addEventListener("click", saveSvg);
  byId("save-gif").addEventListener("click", saveGif);
  byId("file").addEventListener("change", (event) => { state.file = Number(event.target.value); drawFile(); });
  for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", drawFrame);
  let width = innerWidth, waiting = null;
  addEventListener("resize", () => { if (innerWidth === width) return; width = innerWidth; clearTimeout(waiting); waiting = setTimeout(redraw, 120); });
}
function start() {
  byId("file-label").hidden = data.scores.length < 2;
  byId("file").append(...data.scores.map((file, i) => el("option", {value: i}, `${file.path}: ${file.imitator}`)));
  byId("verdict-filter").append(...["feasible", "borderline", "infeasible", "unknown"].map((name, i) => el("label", {}, el("input", {type: "checkbox", checked: "", value: name, onchange: (event) => { state.verdicts[i] = event.target.checked; state.page = 0; sortRows(); drawRows(); }}), " ", el("span", {class: `v${i}`}, GLYPHS[i]), ` ${name}`)));
  byId("policies").hidden = !data.policies.length;
  listen();
  drawFile();
  if (data.policies.length) drawPolicies();
  byId("experiments").hidden = !data.reproductions.length;
  if (data.reproductions.length) drawExperiments();
  drawProvenance();
  byId("nav").append(...[...document.querySelectorAll("main > section:not([hidden])")].map((section) => el("a", {href: `#${section.id}`}, section.querySelector("h2").textContent)));
}
start();
