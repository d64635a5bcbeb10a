// Comfort only: sorting and filtering. Everything is on the page without it.
"use strict";

function sortable(table) {
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  heads.forEach((head, column) => {
    if (!head.hasAttribute("data-sortable")) return;
    head.tabIndex = 0;
    const sort = () => {
      const up = head.getAttribute("aria-sort") === "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
      for (const body of table.tBodies) {
        const rows = [...body.rows];
        const numbers = rows.every((row) => !Number.isNaN(Number(key(row))));
        const order = numbers ? (a, b) => Number(key(a)) - Number(key(b)) : (a, b) => key(a).localeCompare(key(b), "en");
        rows.sort((a, b) => order(a, b) * (up ? 1 : -1));
        body.append(...rows);
      }
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        sort();
      }
    });
  });
}

function filterable(box) {
  const cards = [...document.querySelectorAll(`#${box.dataset.for} > .card`)];
  const choices = [...box.querySelectorAll("select")];
  const apply = () => {
    for (const card of cards) {
      const fits = choices.every(
        (c) => c.value === "" || (card.dataset[c.name] ?? "").split(" ").includes(c.value)
      );
      card.hidden = !fits;
      card.style.display = fits ? "" : "none";
    }
    const shown = cards.filter((card) => !card.hidden).length;
    box.querySelector("output").textContent = `${shown} of ${cards.length}`;
  };
  choices.forEach((c) => c.addEventListener("change", apply));
  box.hidden = false;
  apply();
}

document.querySelectorAll("table.sortable").forEach(sortable);
document.querySelectorAll(".filters").forEach(filterable);
