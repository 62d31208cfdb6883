// SPDX-License-Identifier: MIT
// Arms in space: seen from a place that the reader turns, points become points of the picture, and what is far is drawn first.

const eye = {turn: -0.75, lift: 0.5};

function seen(points) {
  const s = Math.sin(eye.turn), c = Math.cos(eye.turn), t = Math.sin(eye.lift), k = Math.cos(eye.lift), flat = [], far = [];
  for (let i = 0; i < points.length; i += 3) {
    const [x, y, z] = [points[i], points[i + 1], points[i + 2]], away = c * y - s * x;
    flat.push(c * x + s * y, k * z + t * away);
    far.push(k * away - t * z);
  }
  return {flat, far};
}
function asSeen(motion) {   // what a picture shows of an arm from where the reader is
  const key = `${eye.turn} ${eye.lift}`;
  if (!motion.scene || motion.turned === key) return motion;
  for (const one of ["scene", "goal", "demonstrated", "attempted"].map((name) => motion[name]).filter(Boolean)) {
    one.space ??= one.points;
    const views = one.space.map(seen);
    one.points = views.map((view) => view.flat);
    one.far = views.map((view) => view.far);
  }
  motion.tracks = Object.fromEntries(Object.entries(motion.paths).map(([name, points]) => [name, seen(points).flat]));
  motion.turned = key;
  motion.boxes = null;
  return motion;
}
function inOrder(one, frame) {   // geoms, the farthest first
  let place = 0;
  const geoms = one.counts.map((count, geom) => {
    const far = one.far ? one.far[frame].slice(place, place + count) : [];
    const found = {geom, place, count, far: far.reduce((a, b) => a + b, 0) / (count || 1)};
    place += count;
    return found;
  });
  return one.far ? geoms.sort((a, b) => b.far - a.far) : geoms;
}
function track(motion, name, X, Y, stroke, clip) {
  const flat = motion.tracks[name], points = [];
  for (let i = 0; i < flat.length; i += 2) points.push([X(flat[i] * motion.unit), Y(flat[i + 1] * motion.unit)]);
  return {kind: "line", points, stroke, width: 2.5, clip};
}
function surroundings(motion, X, Y, scale, colours, clip) {
  return [...body(motion, "scene", 0, X, Y, scale, colours.ground, 0.55, clip), ...body(motion, "goal", 0, X, Y, scale, colours.infeasible, 0.18, clip)];
}
function turnable(canvas, redraw) {   // drag to look from elsewhere
  let held = null, moved = false;
  canvas.addEventListener("pointerdown", (event) => { held = [event.clientX, event.clientY]; moved = false; });
  canvas.addEventListener("pointermove", (event) => {
    if (!held || !event.buttons) return;
    eye.turn += (held[0] - event.clientX) * 0.01;
    eye.lift = Math.min(1.5, Math.max(0, eye.lift + (event.clientY - held[1]) * 0.01));
    moved = moved || Math.hypot(event.clientX - held[0], event.clientY - held[1]) > 1;
    held = [event.clientX, event.clientY];
    redraw();
  });
  canvas.addEventListener("click", (event) => { if (moved) event.stopImmediatePropagation(); moved = false; });
}
