// Elements and numbers for the page. All text goes in as text, never as HTML.

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") node.addEventListener("click", value);
    else if (name.startsWith("aria-")) node.setAttribute(name, String(value));
    else if (value !== null) node.setAttribute(name, value);
  }
  node.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return node;
}

function make(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

function write(id, text) {
  byId(id).textContent = text;
}

// New content; whoever was on a button of the old stays on that of the same place.
function refill(box, ...children) {
  const held = [...box.querySelectorAll("button")].indexOf(document.activeElement);
  box.replaceChildren(...children);
  const buttons = box.querySelectorAll("button");
  if (held >= 0 && buttons.length) buttons[Math.min(held, buttons.length - 1)].focus({ preventScroll: true });
}

// The cell of a table with a number in it.
function digits(content) {
  return { content, kind: "number" };
}

function fillTable(table, head, lines) {
  const cell = (tag, one) => make(tag, { class: one.kind || null }, one.content ?? one);
  const cells = (tag, line) => line.map((one) => cell(tag, one));
  refill(
    table,
    make("thead", {}, make("tr", {}, ...cells("th", head))),
    make("tbody", {}, ...lines.map((line) => make("tr", { class: line.kind || null }, ...cells("td", line)))),
  );
}

// Draw anew whenever a place has another width: on the screen, and on paper, which is narrower.
addEventListener("beforeprint", () => document.documentElement.classList.add("paper"));
addEventListener("afterprint", () => document.documentElement.classList.remove("paper"));

function onNewWidth(box, redraw) {
  let known = box.clientWidth;
  const look = () => {
    if (box.clientWidth === known) return;
    known = box.clientWidth;
    redraw();
  };
  new ResizeObserver(look).observe(box);
  addEventListener("beforeprint", look);
}

function button(attributes, ...children) {
  return make("button", { type: "button", ...attributes }, ...children);
}

// A label of the user's: in its own direction of writing, and in full where it is cut.
function label(text) {
  return make("span", { class: "name", dir: "auto", title: text }, text);
}

function number(text) {
  return make("span", { class: "number" }, text);
}

// A slot is a place in the palette, or the name of a tone: colours of the palette mean columns, groups of
// rows or kinds of points, one of them at a time, never components.
function colour(node, slot) {
  const tone = typeof slot === "number" ? `c${slot % COLOURS}` : slot;
  node.style.setProperty("--series", `var(--${tone})`);
  return node;
}

function cut(text, most) {
  return text.length <= most ? text : `${text.slice(0, most - 1)}\u2026`;
}

// What sets a component apart: what it has more of, then what it has less of.
function toldMarks(marks, most = 28) {
  const names = (some) => some.map((one) => cut(one.label, most)).join(", ");
  const [more, less] = [marks.filter((one) => one.weight > 0), marks.filter((one) => one.weight < 0)];
  return [names(more), less.length ? `less: ${names(less)}` : ""].filter(Boolean).join("; ") || "nothing of its own";
}

// Numbers that are read together, with as many decimals as give the largest of them three digits.
function written(value, largest) {
  if (value === null || !Number.isFinite(value)) return "none";
  const power = largest > 0 ? Math.ceil(Math.log10(largest) - 1e-9) : 0;
  const text = power > 6 || power < -3 ? value.toExponential(1) : value.toFixed(Math.max(0, 3 - power));
  return text.replace(/^-(?=[0.]*$)/, "").replaceAll("-", "\u2212").replace("e+", "e");
}
