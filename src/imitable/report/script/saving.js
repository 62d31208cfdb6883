// SPDX-License-Identifier: MIT
// Pictures as files: SVG, and GIF by an encoder of our own.

function save(blob, name) {
  const url = URL.createObjectURL(blob), link = el("a", {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
const fileName = (ending) => `demonstration-${state.row}.${ending}`;
function saveSvg() {
  const {motion, frame} = player, width = 900, view = byId("view").value, height = heightFor(width, motion, view);
  save(new Blob([pictureFile(captions(picture(motion, frame, width, height, view), motion, frame), width, height)], {type: "image/svg+xml"}), fileName("svg"));
}
async function saveGif() {
  const {motion} = player, width = 640, view = byId("view").value, height = heightFor(width, motion, view), button = byId("save-gif"), title = button.textContent;
  const canvas = el("canvas", {width, height}), context = canvas.getContext("2d", {willReadFrequently: true}), stride = Math.ceil(motion.times.length / 80);
  button.disabled = true;
  const frames = [];
  for (let frame = 0; frame < motion.times.length; frame += stride) {
    paint(context, captions(picture(motion, frame, width, height, view), motion, frame));
    frames.push(context.getImageData(0, 0, width, height).data);
    button.textContent = `GIF ${Math.round(100 * frame / motion.times.length)} %`;
    await new Promise((go) => setTimeout(go));
  }
  const delay = Math.max(2, Math.round(100 * stride * spacing(motion) / Number(byId("speed").value)));
  save(new Blob([await gif(frames, width, height, delay)], {type: "image/gif"}), fileName("gif"));
  button.textContent = title;
  button.disabled = false;
}
// GIF89a: one palette of the 256 most frequent colours (4 bits a channel, each the mean of its bin), frames by LZW.
async function gif(frames, width, height, delay) {
  const {palette, nearest} = paletteOf(frames), bytes = [];
  const word = (value) => bytes.push(value & 255, value >> 8);
  bytes.push(...[..."GIF89a"].map((letter) => letter.charCodeAt(0)));
  word(width); word(height);
  bytes.push(0xf7, 0, 0, ...palette, 0x21, 0xff, 11, ...[..."NETSCAPE2.0"].map((letter) => letter.charCodeAt(0)), 3, 1, 0, 0, 0);
  const parts = [new Uint8Array(bytes)];
  for (const [place, frame] of frames.entries()) {
    bytes.length = 0;
    bytes.push(0x21, 0xf9, 4, 4);
    word(place === frames.length - 1 ? Math.max(delay, 100) : delay);
    bytes.push(0, 0, 0x2c, 0, 0, 0, 0);
    word(width); word(height);
    bytes.push(0, 8);
    const pixels = new Uint8Array(width * height);
    for (let i = 0; i < pixels.length; i++) pixels[i] = nearest[bin(frame, 4 * i)];
    parts.push(new Uint8Array(bytes), compressed(pixels));
    await new Promise((go) => setTimeout(go));
  }
  parts.push(new Uint8Array([0x3b]));
  return new Blob(parts);
}
const bin = (pixels, i) => (pixels[i] >> 4) << 8 | (pixels[i + 1] >> 4) << 4 | pixels[i + 2] >> 4;
function paletteOf(frames) {
  const sums = new Float64Array(4096 * 4);
  for (const frame of frames) for (let i = 0; i < frame.length; i += 4) {
    const place = 4 * bin(frame, i);
    sums[place] += frame[i]; sums[place + 1] += frame[i + 1]; sums[place + 2] += frame[i + 2]; sums[place + 3]++;
  }
  const bins = Array.from({length: 4096}, (_, i) => i).filter((i) => sums[4 * i + 3]).sort((a, b) => sums[4 * b + 3] - sums[4 * a + 3]);
  const colour = (i) => [0, 1, 2].map((c) => Math.round(sums[4 * i + c] / sums[4 * i + 3]));
  const colours = bins.slice(0, 256).map(colour), nearest = new Uint8Array(4096);
  for (const i of bins) {
    const [r, g, b] = colour(i);
    let best = Infinity;
    colours.forEach(([x, y, z], place) => { const gap = (r - x) ** 2 + (g - y) ** 2 + (b - z) ** 2; if (gap < best) { best = gap; nearest[i] = place; } });
  }
  const palette = colours.flat();
  while (palette.length < 768) palette.push(0);
  return {palette, nearest};
}
function compressed(pixels) {
  const out = [], table = new Int16Array(4096 * 256).fill(-1);
  let size = 9, next = 258, buffer = 0, filled = 0;
  const emit = (code) => { buffer |= code << filled; filled += size; while (filled >= 8) { out.push(buffer & 255); buffer >>= 8; filled -= 8; } };
  emit(256);
  let prefix = pixels[0];
  for (let i = 1; i < pixels.length; i++) {
    const key = prefix << 8 | pixels[i], code = table[key];
    if (code >= 0) { prefix = code; continue; }
    emit(prefix);
    if (next < 4096) {
      if (next === 1 << size) size++;
      table[key] = next++;
    } else {
      emit(256);
      table.fill(-1);
      size = 9; next = 258;
    }
    prefix = pixels[i];
  }
  emit(prefix);
  emit(257);
  if (filled) out.push(buffer & 255);
  const blocks = new Uint8Array(out.length + Math.ceil(out.length / 255) + 1);
  let place = 0;
  for (let i = 0; i < out.length; i += 255) { const part = out.slice(i, i + 255); blocks[place++] = part.length; blocks.set(part, place); place += part.length; }
  return blocks;
}
