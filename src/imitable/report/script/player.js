// SPDX-License-Identifier: MIT
// The player of one demonstration.

const player = {motion: null, frame: 0, playing: false, begun: 0, from: 0};

const heightFor = (width, motion, view) => width < 560 && view === "side" && motion.demonstrated && motion.attempted ? 480 : width < 560 ? 270 : 360;
function captions(shapes, motion, frame) {
  const file = now(), detail = file.details[state.row], step = file.columns.divergence[state.row], at = isNumber(step) ? step * file.period_s : null;
  const t = motion.times[frame], jump = 2.5 * spacing(motion), times = motion.times.slice(0, frame + 1);
  const begin = times.reduce((from, time, i) => i && time - times[i - 1] > jump ? time : from, times[0]);   // of the window that the frame is in
  const parted = at !== null && t >= at - 1e-9 && begin <= at + 1e-9;
  let nearest = 0;
  detail.times.forEach((time, i) => { if (Math.abs(time - t) < Math.abs(detail.times[nearest] - t)) nearest = i; });
  const error = detail.times.length && t >= detail.times[0] - 1e-9 ? detail.errors[nearest] : 0;
  const text = `t = ${t.toFixed(2)} s  ·  error ${short(error)}${parted ? `  ·  parted at ${at.toFixed(2)} s` : ""}`;
  return [...shapes, {kind: "text", x: 12, y: 21, text, fill: style(parted ? "--infeasible" : "--ink"), size: 13, weight: 600}];
}
function fitted(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1, context = canvas.getContext("2d");
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
function drawFrame() {
  const {motion, frame} = player, canvas = byId("canvas");
  if (!motion) return;
  const width = Math.max(260, canvas.parentElement.clientWidth), view = byId("view").value, height = heightFor(width, motion, view);
  paint(fitted(canvas, width, height), captions(picture(motion, frame, width, height, view), motion, frame));
  canvas.dataset.frame = frame;
  byId("scrub").value = frame;
  byId("scrub").setAttribute("aria-valuetext", `${motion.times[frame].toFixed(2)} seconds`);
  moveHead(motion.times[frame]);
}
function spacing(motion) {
  const gaps = motion.times.slice(1).map((t, i) => t - motion.times[i]);
  return gaps.length ? median(gaps) : 0.05;
}
function tick(clock) {
  if (!player.playing) return;
  const {motion} = player, pace = spacing(motion) / Number(byId("speed").value) * 1000, hold = Math.max(6, 700 / pace);
  const turn = Math.floor(Math.max(0, clock - player.begun) / pace + player.from) % Math.ceil(motion.times.length + hold);
  const frame = Math.min(turn, motion.times.length - 1);
  if (frame !== player.frame) { player.frame = frame; drawFrame(); }
  requestAnimationFrame(tick);
}
function play(on) {
  player.playing = on && Boolean(player.motion);
  byId("play").textContent = player.playing ? "pause" : "play";
  if (!player.playing) return;
  player.begun = performance.now();
  player.from = player.frame >= player.motion.times.length - 1 ? 0 : player.frame;
  requestAnimationFrame(tick);
}
function goTo(frame) {
  if (!player.motion) return;
  play(false);
  player.frame = Math.min(Math.max(0, frame), player.motion.times.length - 1);
  drawFrame();
}
function divergenceFrame() {
  const file = now(), step = file.columns.divergence[state.row];
  if (!player.motion || !isNumber(step)) return null;
  const frame = player.motion.times.findIndex((t) => t >= step * file.period_s - 1e-9);
  return frame < 0 ? null : frame;
}
