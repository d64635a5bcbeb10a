// Keys, and what each page needs at its start. Pages are whole without it; forms are sent as they are.
"use strict";

const typing = (e) => e.target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select") !== null;

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
  const layer = { m: "masks", b: "boxes", a: "parts", g: "grounding", v: "places" }[event.key];
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
const places = new Map();
pick(".plan").forEach((svg) => new Plan(svg, places));
steppers.flatMap((s) => s.shots).forEach((shot) => pick(".handles", shot.box).forEach((svg) => new Handles(svg, places, shot)));
const mover = sessionStorage.getItem("mover");
sessionStorage.removeItem("mover");
if (mover) document.querySelector(mover)?.focus({ preventScroll: true });
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
