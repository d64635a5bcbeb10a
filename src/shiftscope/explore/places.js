// Places: dots on the plan and in the picture, dragged or moved by the arrow keys; the form's fields hold where they stand.
"use strict";

class Place {
  constructor(form, at) {
    this.fields = ["x", "y"].map((axis) => form.elements[`${at}.${axis}`]);
    this.first = this.now = this.fields.map((field) => Number(field.value));
    this.form = form;
    this.watchers = [];
    this.fields.forEach((field) => field.addEventListener("input", () => this.tell(this.fields.map((f) => Number(f.value)))));
  }

  put(now) {
    this.tell(now);
    this.fields.forEach((field, k) => (field.value = now[k].toFixed(2)));
  }

  tell(now) {
    this.now = now;
    this.watchers.forEach((show) => show(now));
  }
}

const invert = ([a, b, c, d, e, f, g, h, i]) => [e * i - f * h, c * h - b * i, b * f - c * e, f * g - d * i, a * i - c * g, c * d - a * f, d * h - e * g, b * g - a * h, a * e - b * d];
const along = (m, u, v) => [0, 3, 6].map((k) => m[k] * u + m[k + 1] * v + m[k + 2]);

// What the plan and the picture share: dots that keep to the ground.
class Ground {
  constructor(svg, places) {
    this.svg = svg;
    this.reach = Number(svg.dataset.reach);
    this.right = svg.dataset.right.split(",").map(Number);
    this.behind = svg.dataset.behind.split(",").map(Number);
    this.size = svg.viewBox.baseVal;
    const form = document.getElementById("scene-form");
    for (const dot of pick(".mover", svg)) {
      const at = `${svg.dataset.image}:${dot.dataset.object}`;
      if (!places.has(at)) places.set(at, new Place(form, at));
      dot.place = places.get(at);
      dot.place.watchers.push((now) => this.show(dot, now));
      dot.addEventListener("pointerdown", (e) => this.drag(dot, e));
      dot.addEventListener("keydown", (e) => this.nudge(dot, e));
    }
  }

  show(dot, now) {
    const [u, v] = this.toView(dot, now);
    dot.setAttribute("transform", `translate(${u} ${v})`);
  }

  put(dot, [x, y]) {
    const limit = (v) => Math.max(-this.reach, Math.min(this.reach, v));
    const [across, away] = [this.right, this.behind].map((d) => limit(x * d[0] + y * d[1]));
    // The two directions are a rotation of x and y.
    dot.place.put([0, 1].map((k) => across * this.right[k] + away * this.behind[k]));
  }

  locate(event) {
    const box = this.svg.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * this.size.width, ((event.clientY - box.top) / box.height) * this.size.height];
  }

  drag(dot, event) {
    event.preventDefault();
    event.stopPropagation();
    dot.focus({ preventScroll: true });
    dot.setPointerCapture(event.pointerId);
    const grip = this.locate(event);
    const start = this.toView(dot, dot.place.now);
    let moved = false;
    const move = (e) => {
      const [u, v] = this.locate(e);
      if (!moved && Math.hypot(u - grip[0], v - grip[1]) < 3) return; // a click is no move
      moved = true;
      const ground = this.toGround(dot, [start[0] + u - grip[0], start[1] + v - grip[1]]);
      if (ground) this.put(dot, ground);
    };
    const end = () => {
      dot.removeEventListener("pointermove", move);
      if (moved) this.submit(dot);
    };
    dot.addEventListener("pointermove", move);
    dot.addEventListener("pointerup", end, { once: true });
  }

  nudge(dot, event) {
    const step = event.shiftKey ? 0.5 : 0.1;
    const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[event.key];
    if (event.key === "Enter") return void this.submit(dot);
    if (event.key === "Escape") dot.place.put(dot.place.first);
    else if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    if (by) this.put(dot, [0, 1].map((k) => dot.place.now[k] + by[0] * this.right[k] + by[1] * this.behind[k]));
  }

  // The page comes back with the same dot in focus, so that it can be moved on.
  submit(dot) {
    sessionStorage.setItem("mover", `.${this.svg.classList[0]}[data-image="${this.svg.dataset.image}"] .mover[data-object="${dot.dataset.object}"]`);
    dot.place.form.requestSubmit();
  }
}

class Plan extends Ground {
  toView(dot, [x, y]) {
    const middle = this.size.width / 2;
    const [across, away] = [this.right, this.behind].map((d) => ((x * d[0] + y * d[1]) / this.reach) * middle);
    return [middle + across, middle - away];
  }

  toGround(dot, [u, v]) {
    const middle = this.size.width / 2;
    const [across, away] = [(u - middle) / middle, (middle - v) / middle].map((part) => part * this.reach);
    return [0, 1].map((k) => across * this.right[k] + away * this.behind[k]);
  }
}

// Dots over the picture: an object slides at its own height; its pixels go along until the picture is drawn anew.
class Handles extends Ground {
  constructor(svg, places, shot) {
    super(svg, places);
    this.shot = shot;
    this.camera = svg.dataset.camera.split(",").map(Number);
    shot.box.addEventListener("pointerdown", (e) => this.grab(e));
  }

  // From the plane at the object's height to pixels times depth.
  plane(dot) {
    const m = this.camera;
    return [0, 4, 8].flatMap((k) => [m[k], m[k + 1], m[k + 2] * Number(dot.dataset.z) + m[k + 3]]);
  }

  toView(dot, [x, y]) {
    const [u, v, w] = along(this.plane(dot), x, y);
    return [u / w, v / w, w];
  }

  toGround(dot, [u, v]) {
    const [x, y, w] = along(invert(this.plane(dot)), u, v);
    const ground = [x / w, y / w];
    return this.toView(dot, ground)[2] > 0 && Math.abs(w) > 1e-12 ? ground : null; // above the horizon there is no ground
  }

  show(dot, now) {
    super.show(dot, now);
    const [from, to] = [this.toView(dot, dot.place.first), this.toView(dot, now)];
    this.shot.carry(Number(dot.dataset.shown) + 1, from, to);
  }

  // Any pixel of an object is as good as its dot.
  async grab(event) {
    if (!this.shot.box.matches(".moving") || !this.shot.masks) return;
    const [u, v] = this.locate(event).map(Math.floor);
    const shown = this.shot.unpack("objects")?.[v * this.shot.canvas.width + u];
    const dot = shown && pick(".mover", this.svg).find((d) => Number(d.dataset.shown) === shown - 1);
    if (dot) this.drag(dot, event);
  }
}
