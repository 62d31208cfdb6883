// SPDX-License-Identifier: MIT
// Bodies in motion as lists of primitives, which a canvas and an SVG file draw alike.

const STRIP = 32;   // height of the line over a picture that says time and error

function bodyBoxes(body, unit) {
  const place = body.counts.map((_, i) => body.counts.slice(0, i).reduce((a, b) => a + b, 0));
  return body.points.map((points) => {
    let box = [Infinity, Infinity, -Infinity, -Infinity], sum = 0;
    body.counts.forEach((count, geom) => {
      for (let i = place[geom]; i < place[geom] + count; i++) {
        const x = points[2 * i], y = points[2 * i + 1], r = body.radii[geom];
        box = [Math.min(box[0], x - r), Math.min(box[1], y - r), Math.max(box[2], x + r), Math.max(box[3], y + r)];
        sum += x;
      }
    });
    return {box: box.map((v) => v * unit), x: sum * unit / (points.length / 2)};
  });
}
function prepared(motion) {
  if (asSeen(motion).boxes) return motion;
  motion.boxes = {};
  for (const name of ["demonstrated", "attempted"]) if (motion[name]) motion.boxes[name] = bodyBoxes(motion[name], motion.unit);
  const around = motion.scene ? bodyBoxes(motion.scene, motion.unit) : [];
  const all = [...Object.values(motion.boxes).flat(), ...around].map((one) => one.box);
  motion.low = Math.min(...all.map((box) => box[1]), motion.ground ?? Infinity);
  motion.high = Math.max(...all.map((box) => box[3]));
  motion.wide = Math.max(...all.map((box) => box[2] - box[0]));
  if (motion.scene) {
    const ends = [Math.min(...all.map((box) => box[0])), Math.max(...all.map((box) => box[2]))];
    motion.middle = (ends[0] + ends[1]) / 2;
    motion.wide = 0.75 * (ends[1] - ends[0]);
  }
  const [a, b] = [motion.boxes.demonstrated, motion.boxes.attempted];
  motion.apart = a && b ? Math.max(...a.map((one, i) => Math.abs(one.x - b[i].x))) : 0;
  return motion;
}
function hull(points) {
  if (points.length < 3) return points;
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = (list) => list.reduce((corners, point) => {
    while (corners.length > 1 && turn(corners[corners.length - 2], corners[corners.length - 1], point) <= 0) corners.pop();
    corners.push(point);
    return corners;
  }, []).slice(0, -1);
  return [...half(sorted), ...half(sorted.reverse())];
}

// A picture is a list of primitives that a canvas and an SVG file draw alike.
function picture(motion, frame, width, height, view) {
  prepared(motion);
  const colours = Object.fromEntries(["card", "ink", "soft", "grid", "ground", "demonstrated", "attempted", "infeasible"].map((name) => [name, style(`--${name}`)]));
  const shapes = [{kind: "rect", x: 0, y: 0, width, height, fill: colours.card}];
  const names = ["demonstrated", "attempted"].filter((name) => motion[name]);
  const over = view === "over" && names.length === 2, stacked = !over && width < 560 && names.length === 2;
  const panels = over ? [names] : names.map((name) => [name]);
  const room = height - STRIP;
  panels.forEach((shown, place) => {
    const area = {x: over || stacked ? 0 : place * width / panels.length, y: STRIP + (stacked ? place * room / panels.length : 0),
      width: over || stacked ? width : width / panels.length, height: stacked ? room / panels.length : room};
    shapes.push(...panel(motion, frame, area, shown, colours, over));
  });
  if (panels.length === 2) shapes.push({kind: "line", points: stacked ? [[0, STRIP + room / 2], [width, STRIP + room / 2]] : [[width / 2, STRIP], [width / 2, height]], stroke: colours.grid, width: 2});
  shapes.push({kind: "line", points: [[0, STRIP], [width, STRIP]], stroke: colours.grid, width: 1});
  return shapes;
}
function panel(motion, frame, area, names, colours, over) {
  const head = names.length > 1 ? 52 : 34, foot = 30, room = Math.max(40, area.height - head - foot);
  const wide = motion.wide + (over ? Math.min(motion.apart, 2 * motion.wide) : 0);
  const scale = Math.min(area.width / (1.45 * wide), room / ((motion.high - motion.low) * 1.04 || 1));
  const xs = names.map((name) => motion.boxes[name][frame].x), centre = motion.middle ?? xs.reduce((a, b) => a + b, 0) / xs.length;
  const floor = area.y + area.height - foot, X = (x) => area.x + area.width / 2 + (x - centre) * scale;
  const spare = motion.ground === null ? (room - (motion.high - motion.low) * scale) / 2 : 0, Y = (y) => floor - spare - (y - motion.low) * scale;
  const shapes = [], clip = {x: area.x, y: area.y, width: area.width, height: area.height}, step = nice(area.width / scale, area.width / 90), digits = step < 1 ? Math.ceil(-Math.log10(step)) : 0;
  for (let x = motion.scene ? Infinity : Math.ceil((centre - area.width / 2 / scale) / step) * step; X(x) < area.x + area.width; x += step) {
    shapes.push({kind: "line", points: [[X(x), area.y + head], [X(x), floor]], stroke: colours.grid, width: 1, clip});
    if (X(x) > area.x + 16 && X(x) < area.x + area.width - 16) shapes.push({kind: "text", x: X(x), y: floor + 18, text: `${x.toFixed(digits).replace("-", "−")} m`, fill: colours.soft, size: 11, anchor: "middle"});
  }
  const level = motion.ground === null ? floor : Y(motion.ground);
  if (motion.scene) shapes.push(...surroundings(motion, X, Y, scale, colours, clip));
  else shapes.push({kind: "line", points: [[area.x, level], [area.x + area.width, level]], stroke: colours.ground, width: motion.ground === null ? 1 : 2.5});
  const ghost = !over && names[0] === "attempted" && motion.demonstrated;
  if (ghost) shapes.push(...body(motion, "demonstrated", frame, X, Y, scale, colours.demonstrated, 0.22, clip));
  for (const name of names) shapes.push(...body(motion, name, frame, X, Y, scale, colours[name], motion.scene ? 0.5 : over ? 0.78 : 0.92, clip));
  if (motion.scene) for (const name of Object.keys(motion.tracks)) shapes.push(track(motion, name, X, Y, colours[name], clip));
  names.forEach((name, line) => shapes.push({kind: "text", x: area.x + 12, y: area.y + 22 + 18 * line, text: cut(`${motion.word ?? name}: ${motion.names[name]}${ghost && name === "attempted" && area.width > 460 ? " (pale: demonstrated)" : ""}`, area.width - 24), fill: colours[name], size: 13, weight: 600}));
  return shapes;
}
function body(motion, name, frame, X, Y, scale, fill, alpha, clip) {
  const {radii, points} = motion[name], flat = points[frame], shapes = [];
  inOrder(motion[name], frame).forEach(({geom, place, count}) => {
    const corners = [];
    for (let i = place; i < place + count; i++) corners.push([X(flat[2 * i] * motion.unit), Y(flat[2 * i + 1] * motion.unit)]);
    shapes.push({kind: "blob", points: hull(corners), radius: Math.max(radii[geom] * motion.unit * scale, 1), fill, alpha, clip});
  });
  return shapes;
}
function paint(context, shapes) {
  for (const shape of shapes) {
    context.save();
    if (shape.clip) { context.beginPath(); context.rect(shape.clip.x, shape.clip.y, shape.clip.width, shape.clip.height); context.clip(); }
    context.globalAlpha = shape.alpha ?? 1;
    if (shape.kind === "rect") { context.fillStyle = shape.fill; context.fillRect(shape.x, shape.y, shape.width, shape.height); }
    if (shape.kind === "text") { context.font = `${shape.weight ?? 400} ${shape.size}px system-ui, "DejaVu Sans", sans-serif`; context.fillStyle = shape.fill; context.textAlign = shape.anchor === "middle" ? "center" : "left"; context.fillText(shape.text, shape.x, shape.y); }
    if (shape.points) {
      context.beginPath();
      shape.points.forEach(([x, y], i) => i ? context.lineTo(x, y) : context.moveTo(x, y));
      if (shape.kind === "blob") { if (shape.points.length === 1) context.lineTo(shape.points[0][0] + 0.01, shape.points[0][1]); else context.closePath(); context.fillStyle = shape.fill; context.fill(); }
      context.lineJoin = context.lineCap = "round";
      context.strokeStyle = shape.stroke ?? shape.fill;
      context.lineWidth = shape.kind === "blob" ? 2 * shape.radius : shape.width;
      context.stroke();
    }
    context.restore();
  }
}
function pictureFile(shapes, width, height) {
  const svg = sv("svg", {xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, "font-family": "sans-serif"});
  const clips = new Map();
  for (const shape of shapes) {
    const key = shape.clip ? JSON.stringify(shape.clip) : null;
    if (key && !clips.has(key)) { clips.set(key, `clip${clips.size}`); svg.append(sv("clipPath", {id: clips.get(key)}, sv("rect", shape.clip))); }
    const shared = {opacity: shape.alpha, "clip-path": key ? `url(#${clips.get(key)})` : null};
    if (shape.kind === "rect") svg.append(sv("rect", {x: shape.x, y: shape.y, width: shape.width, height: shape.height, fill: shape.fill}));
    else if (shape.kind === "text") svg.append(sv("text", {x: shape.x, y: shape.y, fill: shape.fill, "font-size": shape.size, "font-weight": shape.weight, "text-anchor": shape.anchor}, shape.text));
    else svg.append(sv("path", {d: linePath(shape.points) + (shape.kind === "blob" ? "Z" : ""), fill: shape.kind === "blob" ? shape.fill : "none", stroke: shape.stroke ?? shape.fill, "stroke-width": shape.kind === "blob" ? 2 * shape.radius : shape.width, "stroke-linejoin": "round", "stroke-linecap": "round", ...shared}));
  }
  return new XMLSerializer().serializeToString(svg);
}
