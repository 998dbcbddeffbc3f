// Boxes that scroll sideways: a shadow lies on each edge beyond which there is more.
(function () {
  "use strict";
  document.querySelectorAll(".frame").forEach((frame) => {
    const box = frame.firstElementChild;
    const edges = ["left", "right"].map((side) => {
      const edge = document.createElement("div");
      edge.className = "more " + side;
      frame.append(edge);
      return edge;
    });
    function mark() {
      const beyond = box.scrollWidth - box.clientWidth;
      frame.classList.toggle("overflows", beyond > 1);
      edges[0].classList.toggle("here", box.scrollLeft > 1);
      edges[1].classList.toggle("here", box.scrollLeft < beyond - 1);
    }
    box.addEventListener("scroll", mark, { passive: true });
    new ResizeObserver(mark).observe(box);
    mark();
  });
})();

// The table of single runs: a click on a heading sorts by it, words in the search box keep the rows that have them all.
(function () {
  "use strict";
  const table = document.getElementById("instances");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[table.tHead.rows.length - 1].cells);
  const words = rows.map((row) => Array.from(row.cells, (cell) => cell.textContent).join(" ").toLowerCase());
  const search = document.getElementById("search");
  const count = document.getElementById("count");

  function filter() {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !wanted.every((word) => words[i].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    count.textContent = shown + " of " + rows.length + " runs";
  }

  function sort(column) {
    const head = heads[column];
    const descending = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const numeric = head.classList.contains("number");
    const key = (row) => row.cells[column].textContent;
    const compare = (a, b) => {
      // What is missing comes last in both directions.
      if (key(a) === "" || key(b) === "") return (key(a) === "") - (key(b) === "");
      const order = numeric ? Number(key(a)) - Number(key(b)) : key(a).localeCompare(key(b), "en", { numeric: true });
      return descending ? -order : order;
    };
    body.append(...rows.slice().sort(compare));
  }

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(column));
    head.replaceChildren(button);
  });
  search.addEventListener("input", filter);
  filter();
})();
