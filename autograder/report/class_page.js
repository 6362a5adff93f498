"use strict";
const body = document.querySelector("#all tbody");
const rows = Array.from(body.rows, row => ({ row, text: Array.from(row.cells, cell => cell.textContent).join(" ").toLowerCase() }));
const count = document.getElementById("count");
const search = document.getElementById("search");
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { row, text } of rows) {
    row.hidden = !words.every(word => text.includes(word));
    shown += row.hidden ? 0 : 1;
  }
  count.textContent = `${shown} of ${rows.length}`;
});
const heads = Array.from(document.querySelectorAll("#all thead th"));
heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
  const down = head.getAttribute("aria-sort") === "ascending";
  heads.forEach(each => each.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const key = ({ row }) => {
    const { value } = row.cells[column].dataset;
    return value === undefined ? row.cells[column].textContent : value === "" ? -1 : Number(value);
  };
  const order = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true }));
  rows.sort((a, b) => (down ? -1 : 1) * order(key(a), key(b)));
  body.append(...rows.map(each => each.row));
}));
