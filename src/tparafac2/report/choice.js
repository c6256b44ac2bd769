// Why these settings: errors of held-out rows, and similarity between parts of the rows.

const VERDICTS = { replicable: ["dot", 0], there: ["triangle", 4], "not there": ["cross", 1] };
const LINEAR_PART = 0.6;  // of an excess up to the band, in units of a power of ten

const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`.replace("-", "\u2212");
const signed = (share) => (share > 0 ? "+" : "") + percent(share);
const rigid = (one) => (one.rigidity === null ? "hard" : `rigidity ${one.rigidity}`);
const cosine = (value) => (value === null ? "" : value.toFixed(2));

// Linear up to the band, where settings are as good, and logarithmic beyond.
function excessScale(band) {
  const size = (value) => Math.abs(value) / band;
  return (value) => Math.sign(value)
    * (size(value) <= 1 ? LINEAR_PART * size(value) : LINEAR_PART + Math.log10(size(value)));
}

function excessTicks(band, low, high) {
  const steps = high > 0.5 ? [0.01, 0.1, 1, 10, 100, 1000] : [0.01, 0.02, 0.05, 0.1, 0.2, 0.5];
  const far = (tick) => tick / band >= 2.5 || tick / band <= 0.4;
  return [0, band, ...steps.filter(far), ...steps.map((step) => -step)]
    .filter((tick) => tick >= low && tick <= high)
    .map((tick) => [tick, `${Number((100 * tick).toPrecision(2)).toLocaleString("en")} %`]);
}

function mark(kind, x, y) {
  const size = 5;
  const place = `M${x},${y}`;
  const shapes = {
    triangle: `${place}m0,${-size}l${size},${2 * size}h${-2 * size}z`,
    cross: `${place}m${-size},${-size}l${2 * size},${2 * size}m0,${-2 * size}l${-2 * size},${2 * size}`,
  };
  return shapes[kind] ? draw("path", { d: shapes[kind], class: `mark ${kind}` })
    : draw("circle", { cx: x, cy: y, r: kind === "ring" ? 9 : 4.5, class: `mark ${kind}` });
}

// What a mark means, whose look is set by the same style as in the chart.
function chip(kind, text, look) {
  const svg = draw("svg", { width: 14, height: 14, "aria-hidden": true }, mark(kind, 7, 7));
  return make("span", { class: "chip shape" }, look(svg), text);
}

// A chart shows { marks, lines, sticks, shade, xs, x, ys, y, rule, about }: marks { x, y, kind, text, look },
// lines { points, look }, sticks { x, from, to, look }; shade { x } or { y }, ends of what is shaded; xs and ys
// [place, label], and x and y the ends of the axes, the latter on the scale `scale`.
class PointChart {
  constructor(box, spec) {
    this.box = box;
    this.spec = { height: 260, scale: (value) => value, ...spec };
    this.tip = make("p", { class: "tip", hidden: "" });
    onNewWidth(box, () => this.show());
    this.show();
  }

  show() {
    const { marks, lines = [], sticks = [], about, height } = this.spec;
    this.width = this.box.clientWidth;
    this.setScales();
    const view = `0 0 ${this.width} ${height}`;
    const svg = draw("svg", { viewBox: view, height, role: "img", "aria-label": about });
    svg.append(this.shade(), this.axes(), this.rule());
    svg.append(...sticks.map((one) => one.look(this.path([[one.x, one.from], [one.x, one.to]], "stick"))));
    svg.append(...lines.map((one) => one.look(this.path(one.points, "line"))));
    svg.append(...marks.map((one) => this.mark(one)));
    this.box.replaceChildren(svg, this.tip);
  }

  setScales() {
    const { x, y, scale, height } = this.spec;
    const wide = this.width - LEFT - RIGHT, tall = height - TOP - BOTTOM;
    const [bottom, top] = y.map(scale);
    this.x = (value) => LEFT + (wide * (value - x[0])) / (x[1] - x[0]);
    this.y = (value) => TOP + tall * (1 - (scale(value) - bottom) / (top - bottom));
  }

  shade() {
    const { shade, x, y } = this.spec;
    if (!shade) return draw("g", {});
    const [left, right] = (shade.x || x).map(this.x), [bottom, top] = (shade.y || y).map(this.y);
    return draw("rect", { x: left, y: top, width: right - left, height: bottom - top, class: "shade" });
  }

  axes() {
    const { xs, ys, height } = this.spec;
    const group = draw("g", {});
    const widest = Math.max(...xs.map(([, text]) => String(text).length)) * LETTER + 8;
    const every = Math.ceil(widest / (xs.length > 1 ? this.x(xs[1][0]) - this.x(xs[0][0]) : widest));
    for (const [tick, text] of ys) {
      const y = this.y(tick);
      group.append(
        draw("line", { x1: LEFT, x2: this.width - RIGHT, y1: y, y2: y, class: "grid" }),
        draw("text", { x: LEFT - 7, y: y + 4, "text-anchor": "end" }, String(text).replace("-", "\u2212")),
      );
    }
    for (const [tick, text] of xs.filter((_, n) => n % every === 0)) {
      group.append(draw("text", { x: this.x(tick), y: height - 7, "text-anchor": "middle" }, text));
    }
    return group;
  }

  rule() {
    const { rule, x } = this.spec;
    return rule === undefined ? draw("g", {}) : this.path(x.map((end) => [end, rule]), "rule");
  }

  path(points, kind) {
    const d = points.map(([x, y], n) => `${n ? "L" : "M"}${this.x(x).toFixed(1)},${this.y(y).toFixed(1)}`);
    return draw("path", { d: d.join(""), class: kind });
  }

  mark({ x, y, kind, text, look }) {
    const node = look(mark(kind, Number(this.x(x).toFixed(1)), Number(this.y(y).toFixed(1))));
    node.addEventListener("pointerenter", () => this.tell(text, this.x(x), this.y(y)));
    node.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    return node;
  }

  tell(text, x, y) {
    this.tip.textContent = text;
    this.tip.hidden = false;
    const most = this.width - this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, Math.min(most, x - this.tip.offsetWidth / 2))}px`;
    this.tip.style.top = `${y - this.tip.offsetHeight - 12}px`;
  }
}

const inSlot = (slot) => (node) => colour(node, slot);
const inInk = (node) => { node.style.setProperty("--series", "var(--ink)"); return node; };
const inGrey = (node) => { node.style.setProperty("--series", "var(--quiet)"); return node; };
const faded = (share) => (node) => { colour(node, 0).style.opacity = share; return node; };

// Charts of errors are half as wide as the page if there are two of them.
function panel(title, legend, spec, hint, wide) {
  const box = make("div", { class: "chart" });
  const parts = [make("h3", {}, title), make("div", { class: "legend" }, ...legend), box];
  const whole = make("div", { class: wide ? "wide" : null }, ...parts, make("p", { class: "hint" }, hint));
  byId("choice-charts").append(whole);
  return new PointChart(box, spec);
}

function showSettings({ settings, ranks, band, rank }) {
  const grid = [...new Set(settings.map((one) => one.smoothness))].sort((a, b) => a - b);
  const kinds = [...new Set(settings.map((one) => one.rigidity))];
  const look = (kind) => (kind === null ? inInk : faded(0.4 + (0.6 * (kinds.indexOf(kind) + 1)) / kinds.length));
  // Side by side, since they are often tried at one smoothness only, with nearly the same error.
  const x = (one) => grid.indexOf(one.smoothness) + (0.55 * kinds.indexOf(one.rigidity)) / kinds.length;
  const point = (one) => [x(one), one.excess];
  const marks = settings.map((one) => ({
    x: x(one),
    y: one.excess,
    kind: one.tied ? "dot" : "hollow",
    text: `smoothness ${one.smoothness}, ${rigid(one)}: error ${one.error.toPrecision(4)}, ${signed(one.excess)}`,
    look: look(one.rigidity),
  }));
  const chosen = settings.filter((one) => one.chosen);
  const rings = chosen.map((one) => ({ x: x(one), y: one.excess, kind: "ring", text: "chosen", look: inInk }));
  const excesses = settings.map((one) => one.excess);
  const y = [Math.min(2 * Math.min(...excesses), -0.3 * band), Math.max(2 * Math.max(...excesses), 3 * band)];
  panel(
    `Error by smoothness, rank ${rank}`,
    kinds.map((kind, n) => chip("hollow", n < 2 ? rigid({ rigidity: kind }) : kind, look(kind))),
    {
      marks: [...rings, ...marks],
      lines: kinds.map((kind) => ({
        points: settings.filter((one) => one.rigidity === kind).map(point),
        look: look(kind),
      })),
      shade: { y: [y[0], band] },
      scale: excessScale(band),
      x: [-0.3, grid.length - 0.4],
      y,
      xs: grid.map((one, place) => [place, one]),
      ys: excessTicks(band, ...y),
      about: `Error of held-out rows by smoothness and rigidity at rank ${rank}; the numbers are below.`,
    },
    "Error of held-out rows above the least. Filled: as good as the chosen one, which has a ring.",
    !ranks.length,
  );
}

function showRanks({ ranks, settings }) {
  const errors = ranks.map((one) => one.error);
  const [least, most] = [Math.min(...errors), Math.max(...errors)];
  const log = least > 0 && most > 10 * least;
  const ends = log ? [least / 1.5, most * 1.2] : [0, most * 1.08 || 1];
  const ticks = log ? powersOfTen(...ends, 6) : roundNumbers(...ends, 5);
  const points = ranks.map((one) => [one.rank, one.error]);
  const told = (one) => [
    `rank ${one.rank}: error ${one.error.toPrecision(4)}`,
    ...(one.gain === null ? [] : [`gain ${percent(one.gain)}`]),
    ...(one.null === null ? [] : [`by chance ${percent(one.null)}`]),
    ...(one.z === null ? [] : [`z ${one.z.toFixed(1)}`]),
    ...(one.agreement === null ? [] : [`${percent(one.agreement, 0)} of the other starts agree`]),
  ].join(", ");
  const marks = ranks.map((one) => ({ x: one.rank, y: one.error, kind: "dot", text: told(one), look: inInk }));
  const rings = ranks.filter((one) => one.chosen).map((one) =>
    ({ x: one.rank, y: one.error, kind: "ring", text: "chosen", look: inInk }));
  panel("Error by rank", [], {
    marks: [...rings, ...marks],
    lines: [{ points, look: inInk }],
    scale: log ? Math.log10 : (value) => value,
    x: [ranks[0].rank - 0.5, ranks[ranks.length - 1].rank + 0.5],
    y: ends,
    xs: ranks.map((one) => [one.rank, one.rank]),
    ys: ticks.map((tick) => [tick, Number(tick.toPrecision(3))]),
    about: "Error of held-out rows by rank; all numbers are in the table of ranks.",
  }, `Error of held-out rows, as a share of their squares, at the best setting of each rank${
    log ? " (logarithmic)" : ""}.`, !settings.length);
}

function showSimilarity({ components, threshold, rank, by }) {
  const ranks = [...new Set(components.map((one) => one.rank))];
  const x = (one) => one.rank + 0.8 * ((one.component - 0.5) / one.rank - 0.5);
  const told = (one) => `rank ${one.rank}, component ${one.component}: ${cosine(one.similarity)}, `
    + `${cosine(one.alone)} without what others share, ${one.verdict}`;
  const kind = (one) => (VERDICTS[one.verdict] || ["dot", 7]);
  const there = Object.entries(VERDICTS).filter(([verdict]) => components.some((one) => one.verdict === verdict));
  panel(
    "Are the components found again?",
    [
      ...there.map(([verdict, [shape, slot]]) => chip(shape, verdict, inSlot(slot))),
      chip("hollow", "without what others share", inGrey),
    ],
    {
      marks: components.flatMap((one) => [
        { x: x(one), y: one.alone, kind: "hollow", text: told(one), look: inGrey },
        { x: x(one), y: one.similarity, kind: kind(one)[0], text: told(one), look: inSlot(kind(one)[1]) },
      ]),
      sticks: components.map((one) =>
        ({ x: x(one), from: one.alone, to: one.similarity, look: inSlot(kind(one)[1]) })),
      shade: ranks.length > 1 ? { x: [rank - 0.45, rank + 0.45] } : null,
      rule: threshold,
      x: [ranks[0] - 0.5, ranks[ranks.length - 1] + 0.5],
      y: [-0.04, 1.04],
      xs: ranks.length > 1 ? ranks.map((one) => [one, `rank ${one}`])
        : components.map((one) => [x(one), `component ${one.component}`]),
      ys: [0, 0.2, 0.4, 0.6, 0.8, 1].map((tick) => [tick, tick]),
      about: `Similarity of each component between ${by} of the rows, by rank; the numbers are below.`,
    },
    `Similarity (cosine) of each component between ${by} of the rows; replicable from the dotted line `
      + `(${threshold}) on.${ranks.length > 1 ? " Shaded: the chosen rank." : ""}`,
    true,
  );
}

function gauge(value, low, high, tie) {
  const scale = excessScale(tie);
  const [from, to, at] = [low, high, value].map(scale);
  const share = (size) => `${((100 * size) / (to - from || 1)).toFixed(2)}%`;
  const fill = make("span", { class: "fill" });
  fill.style.left = share(Math.min(at, 0) - from);
  fill.style.width = share(Math.abs(at));
  return make("div", { class: "gauge", "aria-hidden": true }, fill);
}

function showModels({ models, tie, rank }) {
  const excesses = models.map((one) => one.excess);
  const [low, high] = [Math.min(0, ...excesses), Math.max(0, ...excesses)];
  const head = ["model", "compared", digits("error above"), digits("z behind")];
  const lines = models.map((one) => Object.assign([
    one.model,
    gauge(one.excess, low, high, tie),
    digits(one.chosen ? "chosen" : signed(one.excess)),
    digits(one.chosen || one.z === null ? "" : one.z.toFixed(1).replace("-", "\u2212")),
  ], { kind: one.chosen ? "chosen" : null }));
  const table = make("table", { id: "choice-models" });
  fillTable(table, head, lines);
  const hint = "Error of held-out rows above that of the chosen model (bars are logarithmic beyond "
    + `${percent(tie)}), and how clearly (z, in standard errors).`;
  byId("choice-charts").append(make(
    "div",
    { class: "wide" },
    make("h3", {}, `Other models, rank ${rank}`),
    make("div", { class: "scroll" }, table),
    make("p", { class: "hint" }, hint),
  ));
}

function showNumbers({ settings, components }) {
  const tables = [];
  if (settings.length) {
    const head = ["rigidity", digits("smoothness"), digits("error"), digits("above the least"), "verdict"];
    tables.push([head, settings.map((one) => Object.assign(
      [rigid(one), digits(one.smoothness), digits(one.error.toPrecision(4)), digits(signed(one.excess)),
        one.chosen ? "chosen" : one.tied ? "as good" : ""],
      { kind: one.chosen ? "chosen" : null },
    ))]);
  }
  if (components.length) {
    const head = [digits("rank"), digits("component"), digits("similarity"), digits("without shared"), "verdict"];
    tables.push([head, components.map((one) => Object.assign(
      [digits(one.rank), digits(one.component), digits(cosine(one.similarity)), digits(cosine(one.alone)),
        one.verdict],
      { kind: one.chosen ? "chosen" : null },
    ))]);
  }
  byId("choice-numbers").hidden = !tables.length;
  byId("choice-tables").append(...tables.map(([head, lines]) => {
    const table = make("table", {});
    fillTable(table, head, lines);
    return make("div", { class: "scroll" }, table);
  }));
}

function showChoice(choice) {
  if (!choice) {
    byId("choice").remove();
    byId("choice-link").remove();
    return;
  }
  byId("choice").hidden = false;
  byId("choice-link").hidden = false;
  const [first, ...others] = choice.sentences;
  write("choice-first", first);
  byId("choice-others").append(...others.map((sentence) => make("li", {}, sentence)));
  byId("choice-facts").append(...choice.facts.flatMap(([figure, text]) =>
    [make("dt", {}, figure), make("dd", {}, text)]));
  if (choice.settings.length) showSettings(choice);
  if (choice.ranks.length) showRanks(choice);
  if (choice.components.length) showSimilarity(choice);
  if (choice.models.length) showModels(choice);
  const { head, lines, chosen } = choice.table;
  const last = head.length - 1;
  const aligned = (line) => line.map((content, n) => (n < last ? digits(content) : content));
  fillTable(byId("choice-ranks"), aligned(head), lines.map((line, n) =>
    Object.assign(aligned(line), { kind: n === chosen ? "chosen" : null })));
  showNumbers(choice);
}
