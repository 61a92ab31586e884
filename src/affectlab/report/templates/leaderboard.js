"use strict";
(() => {
  const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  /* Rows without a value come last in either direction. */
  const compare = (column, isNumber, sign) => (first, second) => {
    const a = first.cells[column].dataset.value, b = second.cells[column].dataset.value;
    if (a === "" || b === "") return (a === "") - (b === "");
    return sign * (isNumber ? Number(a) - Number(b) : words.compare(a, b));
  };

  const start = (board) => {
    const body = board.querySelector("tbody"), heads = Array.from(board.querySelectorAll("thead th"));
    const rows = Array.from(body.rows), output = board.querySelector("output");
    const input = board.querySelector("input");
    let sorted = "";

    const say = () => {
      const shown = rows.filter((row) => !row.hidden).length;
      const count = shown === rows.length ? `${shown} rows` : `${shown} of ${rows.length} rows`;
      output.textContent = count + sorted;
      board.querySelector(".none").hidden = shown > 0;
    };

    const sort = (head) => {
      const first = head.dataset.first;
      const other = first === "descending" ? "ascending" : "descending";
      const direction = head.getAttribute("aria-sort") === first ? other : first;
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", direction);
      const column = head.cellIndex, type = head.dataset.type;
      rows.sort(compare(column, type !== "text", direction === "ascending" ? 1 : -1));
      body.append(...rows);
      if (type === "metric") {
        for (const row of rows) {
          const cell = row.cells[column];
          row.querySelector(".place").textContent = cell.dataset.rank;
          row.querySelector(".against").textContent = cell.dataset.against;
        }
      }
      sorted = `, sorted by ${head.querySelector("bdi").textContent}, ${direction}`;
      say();
    };

    for (const head of heads) {
      const button = head.querySelector("button");
      if (!button) continue;
      button.disabled = false;
      button.addEventListener("click", () => sort(head));
    }
    input.addEventListener("input", () => {
      const parts = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows) row.hidden = !parts.every((part) => row.dataset.text.includes(part));
      say();
    });
    const form = board.querySelector("form");
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;
  };

  for (const board of document.querySelectorAll(".board")) start(board);
})();
