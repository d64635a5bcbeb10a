// Keys, lights over pictures, and the plan of the ground. Pages are whole without it; forms are sent as they are.
"use strict";

const typing = (e) => e.target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select") !== null;
const pick = (selector, root = document) => [...root.querySelectorAll(selector)];

// Lights: canvases over the pictures of an example.

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

// The overlays in view stay on from one example to the next.
const keepLayers = (shown) => pick(".position a[data-key=n], .position a[data-key=p]").forEach((a) => (a.href = withState(a.href, "show", shown || null)));

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
    if (shown !== null) pick("[data-layer]", root).forEach((box) => (box.checked = shown.split(",").includes(box.dataset.layer)));
    pick("[data-layer]:checked", root).forEach((box) => this.layers.add(box.dataset.layer));
    if (this.layers.size) keepLayers(shown);
    const first = this.steps.find((s) => s.dataset.node === state.get("step")) ?? null;
    if (first || this.layers.size) this.choose(first, false);
  }

  toggle(box) {
    box.checked ? this.layers.add(box.dataset.layer) : this.layers.delete(box.dataset.layer);
    const shown = [...this.layers].join(",");
    history.replaceState(null, "", withState(location.href, "show", shown));
    keepLayers(shown);
    this.choose(null);
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
    if (remember) history.replaceState(null, "", withState(location.href, "step", step?.dataset.node ?? null));
    document.body.dataset.busy = "yes";
    const what = step ? JSON.parse(step.dataset.step) : null;
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

// The plan: dots are dragged, or moved by the arrow keys; what they say goes into the form's fields.

class Plan {
  constructor(svg) {
    this.svg = svg;
    this.reach = Number(svg.dataset.reach);
    this.right = svg.dataset.right.split(",").map(Number);
    this.behind = svg.dataset.behind.split(",").map(Number);
    this.size = svg.viewBox.baseVal.width;
    for (const dot of pick(".mover", svg)) {
      dot.addEventListener("pointerdown", (e) => this.drag(dot, e));
      dot.addEventListener("keydown", (e) => this.nudge(dot, e));
    }
  }

  put(dot, across, away) {
    const limit = (v) => Math.max(-this.reach, Math.min(this.reach, v));
    [across, away] = [limit(across), limit(away)];
    Object.assign(dot.dataset, { across, away });
    const middle = this.size / 2;
    dot.setAttribute("transform", `translate(${middle + (across / this.reach) * middle} ${middle - (away / this.reach) * middle})`);
    // The two directions are a rotation of x and y.
    const x = across * this.right[0] + away * this.behind[0];
    const y = across * this.right[1] + away * this.behind[1];
    const at = `${this.svg.dataset.image}:${dot.dataset.object}`;
    const form = this.svg.closest("form");
    form.elements[`${at}.x`].value = x.toFixed(2);
    form.elements[`${at}.y`].value = y.toFixed(2);
  }

  drag(dot, event) {
    event.preventDefault();
    dot.focus();
    dot.setPointerCapture(event.pointerId);
    let moved = false;
    const move = (e) => {
      moved = true;
      const box = this.svg.getBoundingClientRect();
      const scale = (2 * this.reach) / box.width;
      this.put(dot, (e.clientX - box.left) * scale - this.reach, this.reach - (e.clientY - box.top) * scale);
    };
    const end = () => {
      dot.removeEventListener("pointermove", move);
      if (moved) this.svg.closest("form").requestSubmit();
    };
    dot.addEventListener("pointermove", move);
    dot.addEventListener("pointerup", end, { once: true });
  }

  nudge(dot, event) {
    const step = event.shiftKey ? 0.5 : 0.1;
    const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[event.key];
    if (event.key === "Enter") this.svg.closest("form").requestSubmit();
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    this.put(dot, Number(dot.dataset.across) + by[0], Number(dot.dataset.away) + by[1]);
  }
}

// A picture that the server cannot send: its reason in its place.
async function explainPicture(image) {
  const page = await fetch(image.src).then((r) => r.text()).catch(() => "");
  const why = new DOMParser().parseFromString(page, "text/html").querySelector("[role=alert]");
  const note = Object.assign(document.createElement("p"), { className: "no-picture", textContent: why?.textContent ?? "The picture cannot be read." });
  image.replaceWith(note);
}

// Keys.

function moveCards(by) {
  const links = pick("#cards .cover");
  const at = links.indexOf(document.activeElement);
  const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by];
  next?.focus();
  next?.closest(".card").scrollIntoView({ block: "nearest" });
}

function pressKey(event, steppers) {
  const page = document.body.dataset.keys ?? "";
  if (event.key === "Enter" && event.ctrlKey && page === "annotate") return void document.querySelector(".annotate-form")?.requestSubmit();
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && typing(event)) return void event.target.blur();
  if (typing(event)) return;
  const go = (key) => document.querySelector(`[data-key="${key}"]`)?.click();
  const focus = (id) => document.getElementById(id)?.focus();
  const layer = { m: "masks", b: "boxes", a: "parts", g: "grounding" }[event.key];
  const stepper = steppers[0];
  const actions = {
    "?": () => document.getElementById("keys").showModal(),
    "/": () => (document.getElementById("search") ? focus("search") : go("u")),
    u: () => go("u"),
    n: () => go("n"),
    p: () => go("p"),
    r: () => go("r"),
    ...(page === "list" ? { j: () => moveCards(1), k: () => moveCards(-1) } : {}),
    ...(page === "example" && stepper
      ? {
          ArrowRight: () => steppers.forEach((s) => s.move(1)),
          ArrowLeft: () => steppers.forEach((s) => s.move(-1)),
          Home: () => steppers.forEach((s) => s.choose(s.order[0] ?? null)),
          End: () => steppers.forEach((s) => s.choose(s.order.at(-1) ?? null)),
          Escape: () => steppers.forEach((s) => s.choose(null)),
          e: () => focus("program-field"),
          s: () => document.querySelector("#scene-form select, #scene-form input:not([type=hidden])")?.focus(),
          q: () => focus("ask-field"),
        }
      : {}),
    ...(page === "annotate" ? Object.fromEntries([1, 2, 3, 4].map((n) => [String(n), () => pick(".choice input")[n - 1]?.click()])) : {}),
  };
  const act = layer && page === "example" ? () => document.querySelector(`[data-layer="${layer}"]`)?.click() : actions[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

function sortable(table) {
  const heads = pick("thead th[data-sortable]", table);
  for (const head of heads) {
    head.tabIndex = 0;
    const sort = () => {
      const up = head.getAttribute("aria-sort") === "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => row.cells[head.cellIndex].dataset.value ?? row.cells[head.cellIndex].textContent;
      for (const body of table.tBodies) {
        const rows = [...body.rows];
        const numbers = rows.every((row) => !Number.isNaN(Number(key(row))));
        const order = numbers ? (a, b) => Number(key(a)) - Number(key(b)) : (a, b) => key(a).localeCompare(key(b), "en");
        body.append(...rows.sort((a, b) => order(a, b) * (up ? 1 : -1)));
      }
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (e) => e.key === "Enter" && sort());
  }
}

const roots = pick(".side").length ? pick(".side") : pick(".example");
const steppers = roots.filter((root) => root.querySelector(".lit")).map((root) => new Stepper(root));
pick(".plan").forEach((svg) => new Plan(svg));
addEventListener("error", (e) => e.target.matches?.("img") && explainPicture(e.target), true);
pick("img").forEach((image) => image.complete && !image.naturalWidth && image.loading !== "lazy" && explainPicture(image));
pick("table.sortable").forEach(sortable);
pick("[data-open]").forEach((b) => b.addEventListener("click", () => document.getElementById(b.dataset.open).showModal()));
for (const form of pick("[data-autosubmit]")) {
  form.addEventListener("change", (e) => e.target.matches("select") && form.requestSubmit());
  form.addEventListener("submit", () => pick("input, select", form).forEach((f) => f.value === "" && (f.disabled = true)));
}
addEventListener("pageshow", () => pick("[data-autosubmit] :disabled").forEach((f) => (f.disabled = false)));
for (const thing of pick(".graph .thing")) {
  const light = () => steppers[0]?.choose(steppers[0].steps.find((s) => s.dataset.node === thing.dataset.node) ?? null);
  thing.addEventListener("click", light);
  thing.addEventListener("keydown", (e) => (e.key === "Enter" || e.key === " ") && (e.preventDefault(), light()));
}
addEventListener("keydown", (event) => pressKey(event, steppers));
