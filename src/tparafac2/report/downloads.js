// Tables and charts as files.

const SHOWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity",
  "font-size", "font-family", "font-weight", "paint-order", "stroke-opacity"];

// Text that a spreadsheet would run gets an apostrophe, as in the tables of the package.
function csvCell(value) {
  const text = String(value ?? "");
  const plainNumber = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text);
  const safe = !plainNumber && /^'*[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csvText(lines) {
  return lines.map((line) => `${line.map(csvCell).join(",")}\r\n`).join("");
}

// What a table shows, a number as a number.
function linesOf(table) {
  return [...table.querySelectorAll("tr")].map((line) => [...line.cells].map((cell) => {
    const parts = [...cell.querySelectorAll(".link, .all")].map((one) => one.dataset.whole || one.textContent);
    const text = parts.length ? parts.join("; ") : cell.textContent;
    return /^\u2212[\d.]+$/.test(text) ? text.replace("\u2212", "-") : text;
  }));
}

function save(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function saveTable(lines, name) {
  save(new Blob(["\ufeff", csvText(lines)], { type: "text/csv;charset=utf-8" }), `${name}.csv`);
}

// A picture that stands alone: what the style of the page says is written into it, and what lines are called.
function standalone(box, names) {
  const svg = box.querySelector("svg");
  const copy = svg.cloneNode(true);
  const [all, copies] = [svg, copy].map((one) => [one, ...one.querySelectorAll("*")]);
  all.forEach((one, n) => {
    const style = getComputedStyle(one);
    for (const name of SHOWN) copies[n].setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "style"]) copies[n].removeAttribute(name);
  });
  const { width, height } = svg.viewBox.baseVal;
  const tall = height + (names.length ? 18 * Math.ceil(names.length / perLine(width)) + 10 : 0);
  const paper = getComputedStyle(document.body).backgroundColor;
  copy.prepend(draw("rect", { width, height: tall, fill: paper }));
  copy.append(...legendOf(names, width, height));
  for (const [name, value] of Object.entries({ width, height: tall, viewBox: `0 0 ${width} ${tall}` })) {
    copy.setAttribute(name, value);
  }
  return new XMLSerializer().serializeToString(copy);
}

function perLine(width) {
  return Math.max(1, Math.floor(width / 180));
}

function legendOf(names, width, top) {
  const wide = width / perLine(width);
  return names.flatMap(({ name, tone }, n) => {
    const x = (n % perLine(width)) * wide + 8, y = top + 16 + 18 * Math.floor(n / perLine(width));
    const style = getComputedStyle(tone);
    const stroke = style.stroke === "none" ? style.fill : style.stroke;
    const ink = getComputedStyle(document.body).color;
    return [
      draw("line", { x1: x, x2: x + 18, y1: y - 4, y2: y - 4, stroke, "stroke-width": 3 }),
      draw("text", { x: x + 24, y, fill: ink, "font-size": 12, "font-family": "sans-serif" }, cut(name, 22)),
    ];
  });
}

// Buttons behind a chart, a table or a list; `lines` gives the table, `names` what the lines are called.
function offer(box, name, { lines = null, chart = false, names = () => [] }) {
  const what = name.replaceAll("-", " ");
  const kind = (format, get) => button({ class: "plain", "aria-label": `Save ${what} as ${format}`, onclick: get }, format);
  box.after(make("div", { class: "take" }, ...[
    lines && kind("CSV", () => saveTable(lines(), name)),
    chart && kind("SVG", () => save(new Blob([standalone(box, names())], { type: "image/svg+xml" }), `${name}.svg`)),
  ].filter(Boolean)));
}

function offerTable(id, name) {
  offer(byId(id).closest(".scroll"), name, { lines: () => linesOf(byId(id)) });
}

// A chart of lines: its numbers as they are drawn, one column for each line.
function offerLines(id, name, chart) {
  const drawn = () => chart.spec.series;
  const lines = () => {
    const { xs, labels, about } = chart.spec;
    const head = [labels ? "time" : about, ...drawn().map((one) => one.name || one.label)];
    return [head, ...xs.map((x, k) => [labels ? labels[k] : x, ...drawn().map((one) =>
      (Number.isFinite(one.values[k]) ? one.values[k] : ""))])];
  };
  const names = () => drawn().map((one) => ({ name: one.name || one.label, tone: toneOf(byId(id), one) }))
    .filter((one) => one.tone);
  offer(byId(id), name, { lines, chart: true, names });
}

// The line of a series, which has its colour.
function toneOf(box, one) {
  const sought = colour(draw("g", {}), one.slot).style.getPropertyValue("--series");
  const groups = [...box.querySelectorAll("g")].filter((node) => node.style.getPropertyValue("--series") === sought);
  return groups.map((node) => node.querySelector(".line, .line-dot, .layer")).find(Boolean);
}
