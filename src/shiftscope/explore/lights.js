// Lights and overlays: canvases over the pictures of an example, and the steps of its program.
"use strict";

const pick = (selector, root = document) => [...root.querySelectorAll(selector)];

const HUES = ["#e8483f", "#2f86d6", "#2ea44f", "#a56bd6", "#ff8c1a", "#e23cb4", "#00a0aa"];
const VEIL = [12, 16, 22];
const OUTLINE = "#ffd633";

// The colour that a phrase of the question is underlined in.
const phraseHue = (k) => getComputedStyle(document.documentElement).getPropertyValue(`--hue-${k % 7}`);

class Shot {
  constructor(box) {
    this.box = box;
    this.canvas = box.querySelector("canvas");
    this.draw = this.canvas.getContext("2d", { willReadFrequently: true });
    this.stage = Number(box.dataset.stage);
    this.image = Number(box.dataset.image);
  }

  async load() {
    this.loading ??= fetch(this.box.dataset.masks).then((r) => (r.ok ? r.json() : null)).catch(() => null);
    this.masks = await this.loading;
    return this.masks;
  }

  unpack(name) {
    const runs = this.masks?.[name];
    if (!runs) return null;
    this.planes ??= {};
    if (!this.planes[name]) {
      const plane = new Uint8Array(this.canvas.width * this.canvas.height);
      let at = 0;
      runs.lengths.forEach((n, k) => plane.fill(runs.values[k], at, (at += n)));
      this.planes[name] = plane;
    }
    return this.planes[name];
  }

  clear() {
    this.draw.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  // Everything but the lit pixels is dimmed; a line goes round them, outside.
  light(objects, parts, strength) {
    this.clear();
    const { width, height } = this.canvas;
    const plane = parts.length ? this.unpack("parts") : this.unpack("objects");
    const wanted = new Set(parts.length ? parts : objects.map((i) => i + 1));
    if (!plane) {
      const boxes = parts.length ? parts.map((p) => this.masks?.part_boxes[p - 1]) : objects.map((i) => this.masks?.boxes[i]);
      this.lightBoxes(boxes.filter(Boolean), strength);
      return;
    }
    const lit = new Uint8Array(width * height);
    for (let i = 0; i < lit.length; i++) lit[i] = wanted.has(plane[i]) ? 1 : 0;
    const pixels = this.draw.createImageData(width, height);
    const [r, g, b] = [1, 3, 5].map((k) => parseInt(OUTLINE.slice(k, k + 2), 16));
    for (let y = 0, i = 0; y < height; y++) {
      for (let x = 0; x < width; x++, i++) {
        if (lit[i]) continue;
        const beside = this.touches(lit, x, y, width, height);
        pixels.data.set(beside ? [r, g, b, 255] : [...VEIL, strength], 4 * i);
      }
    }
    this.draw.putImageData(pixels, 0, 0);
  }

  touches(lit, x, y, width, height) {
    for (let dy = -1; dy <= 1; dy++)
      for (let dx = -1; dx <= 1; dx++) {
        const [u, v] = [x + dx, y + dy];
        if (u >= 0 && v >= 0 && u < width && v < height && lit[v * width + u]) return true;
      }
    return false;
  }

  lightBoxes(boxes, strength) {
    this.draw.fillStyle = `rgb(${VEIL.join(" ")} / ${strength / 255})`;
    this.draw.fillRect(0, 0, this.canvas.width, this.canvas.height);
    for (const box of boxes) this.draw.clearRect(...box);
    boxes.forEach((box) => this.outline(box, OUTLINE));
  }

  outline([x, y, w, h], color, label = "") {
    this.draw.strokeStyle = color;
    this.draw.lineWidth = 2;
    this.draw.strokeRect(x - 1, y - 1, w + 2, h + 2);
    if (!label) return;
    this.draw.font = "600 12px system-ui, sans-serif";
    const wide = this.draw.measureText(label).width + 6;
    this.draw.fillStyle = color;
    this.draw.fillRect(x - 2, Math.max(0, y - 15), wide, 15);
    this.draw.fillStyle = "#fff";
    this.draw.fillText(label, x + 1, Math.max(12, y - 3));
  }

  paint(name, offset) {
    const plane = this.unpack(name);
    if (!plane) return;
    const owners = offset ? this.unpack("objects") : null;
    const { width, height } = this.canvas;
    const pixels = this.draw.getImageData(0, 0, width, height);
    for (let i = 0; i < plane.length; i++) {
      if (!plane[i]) continue;
      const hue = HUES[(plane[i] + (owners ? 3 * owners[i] : 0)) % HUES.length];
      pixels.data.set([...[1, 3, 5].map((k) => parseInt(hue.slice(k, k + 2), 16)), 150], 4 * i);
    }
    this.draw.putImageData(pixels, 0, 0);
  }

  // The pixels of an object elsewhere, as large as they would be there: what a move will come to.
  carry(value, [u0, v0, w0], [u1, v1, w1]) {
    this.clear();
    const plane = this.unpack("objects");
    const picture = this.box.querySelector("img");
    if (!plane || !picture?.complete) return;
    const { width, height } = this.canvas;
    this.sprites ??= new Map();
    if (!this.sprites.has(value)) {
      const sprite = Object.assign(document.createElement("canvas"), { width, height });
      const draw = sprite.getContext("2d");
      draw.drawImage(picture, 0, 0, width, height);
      const pixels = draw.getImageData(0, 0, width, height);
      for (let i = 0; i < plane.length; i++) if (plane[i] !== value) pixels.data[4 * i + 3] = 0;
      draw.putImageData(pixels, 0, 0);
      this.sprites.set(value, sprite);
    }
    const scale = w0 / w1;
    this.draw.drawImage(this.sprites.get(value), u1 - scale * u0, v1 - scale * v0, width * scale, height * scale);
  }

  overlay(layers, grounding) {
    this.clear();
    if (layers.has("masks")) this.paint("objects", false);
    if (layers.has("parts")) this.paint(this.masks?.every_part ? "every_part" : "parts", true);
    if (layers.has("boxes")) this.masks?.boxes.forEach((box, i) => box && this.outline(box, HUES[i % HUES.length], this.box.matches(".blank") ? `${i} ${this.masks.names[i]}` : String(i)));
    if (layers.has("grounding") && !this.stage && !this.image)
      grounding.forEach((boxes, k) => boxes.forEach((box) => this.outline(box, phraseHue(k))));
  }
}

function withState(href, name, value) {
  const address = new URL(href);
  value === null ? address.searchParams.delete(name) : address.searchParams.set(name, value);
  return address.href;
}

// What is in view stays so: overlays from one example to the next, and through edits; `data-keep` names what a link or form takes along.
function keepState(name, value) {
  for (const one of pick(`[data-keep~="${name}"]`)) {
    if (one.matches("a")) one.href = withState(one.href, name, value);
    else if (one.method === "post") one.action = withState(one.action, name, value);
    else {
      one.querySelector(`input[type=hidden][name="${name}"]`)?.remove();
      if (value !== null) one.prepend(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    }
  }
}

class Stepper {
  constructor(root) {
    this.steps = pick(".step", root);
    this.shots = pick(".lit", root).map((box) => new Shot(box));
    this.order = [...this.steps].sort((a, b) => Number(a.dataset.node) - Number(b.dataset.node)).filter((s, k, all) => !k || s.dataset.node !== all[k - 1].dataset.node);
    this.now = null;
    this.root = root;
    const shots = root.querySelector(".shots");
    this.grounding = JSON.parse(shots?.dataset.grounding ?? "[]");
    this.layers = new Set();
    this.steps.forEach((s) => s.addEventListener("click", () => this.choose(s === this.now ? null : s)));
    pick("[data-layer]", root).forEach((box) => box.addEventListener("change", () => this.toggle(box)));
    pick("[data-move]", root).forEach((b) => b.addEventListener("click", () => this.move(Number(b.dataset.move))));
    const state = new URL(location.href).searchParams;
    const shown = state.get("show");
    this.bare = pick("[data-layer]", root).some((box) => box.defaultChecked) ? "" : null; // what the address says where nothing is shown
    if (shown !== null) pick("[data-layer]", root).forEach((box) => (box.checked = shown.split(",").includes(box.dataset.layer)));
    pick("[data-layer]:checked", root).forEach((box) => this.layers.add(box.dataset.layer));
    keepState("show", shown || (shown === null ? null : this.bare));
    const first = this.steps.find((s) => s.dataset.node === state.get("step")) ?? null;
    keepState("step", first?.dataset.node ?? null);
    this.showHandles();
    if (first || this.layers.size) this.choose(first, false);
  }

  toggle(box) {
    box.checked ? this.layers.add(box.dataset.layer) : this.layers.delete(box.dataset.layer);
    const shown = [...this.layers].join(",");
    history.replaceState(null, "", withState(location.href, "show", shown));
    keepState("show", shown || this.bare);
    this.showHandles();
    this.choose(null);
  }

  showHandles() {
    this.shots.forEach((shot) => shot.box.classList.toggle("moving", this.layers.has("places")));
  }

  move(by) {
    const at = this.now ? this.order.findIndex((s) => s.dataset.node === this.now.dataset.node) : by > 0 ? -1 : this.order.length;
    const next = this.order[at + by];
    if (next) this.choose(next);
  }

  async choose(step, remember = true) {
    this.now = step;
    this.steps.forEach((s) => s.setAttribute("aria-pressed", String(s === step)));
    const told = document.getElementById("step-now");
    if (step) {
      const at = this.order.findIndex((s) => s.dataset.node === step.dataset.node) + 1;
      const words = step.querySelector(".code").textContent;
      if (told) told.textContent = `Step ${at} of ${this.order.length}: ${words} → ${step.querySelector(".value").textContent}`;
      const list = step.closest(".steps");
      if (step.offsetTop < list.scrollTop + list.offsetTop || step.offsetTop > list.scrollTop + list.offsetTop + list.clientHeight - 40) step.scrollIntoView({ block: "nearest" });
    } else if (told) told.textContent = `${this.order.length} steps`;
    pick(".graph .thing").forEach((g) => g.classList.toggle("on", step !== null && g.dataset.node === step.dataset.node));
    if (remember) {
      history.replaceState(null, "", withState(location.href, "step", step?.dataset.node ?? null));
      keepState("step", step?.dataset.node ?? null);
    }
    document.body.dataset.busy = "yes";
    const what = step ? JSON.parse(step.dataset.step) : null;
    this.shots.forEach((shot) => shot.load()); // all at once, drawn in their order
    for (const shot of this.shots) {
      await shot.load();
      if (this.now !== step) return; // another was chosen meanwhile
      if (!what) {
        shot.overlay(this.layers, this.grounding);
        continue;
      }
      const light = what.lights?.find((l) => l.image === shot.image);
      if (!what.lights) shot.clear(); // a number as written looks at nothing
      else if (what.stage !== shot.stage) shot.light([], [], 110);
      else shot.light(light?.objects ?? [], light?.parts ?? [], what.reads ? 120 : 165);
    }
    delete document.body.dataset.busy;
  }
}
