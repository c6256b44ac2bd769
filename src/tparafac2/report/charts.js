// Line charts, drawn by hand.

const LEFT = 52, RIGHT = 16, TOP = 10, BOTTOM = 26;
const LETTER = 6.9;  // width of a letter of the axes, about
const BOLD = 7.4;    // and of one in bold
const LINE = 14;     // height of a label at the end of a line
const ROOMY = 520;   // from this width on there is room for labels at the ends of lines
const LONG_GAP = 1.5;  // of the usual gap between times
const LANE = 5;      // height of a lane of marks below the axis of time
const CHANGES_HINT = "Marks below the axis: change points, the shortest time in which half of a column's largest change took place.";
let hatchings = 0;

// Round numbers from low to high, about `most` of them.
function roundNumbers(low, high, most) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const numbers = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n++) numbers.push(n * step);
  return numbers;
}

function powersOfTen(low, high, most) {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / most));
  const powers = [];
  for (let power = last; power >= first; power -= every) powers.push(10 ** power);
  return powers;
}

// Which labels of time have room: round numbers where labels are whole numbers, else every so many.
function labelsWithRoom(labels, places) {
  const widest = Math.max(...labels.map((text) => Math.min(text.length, 12))) * LETTER + 14;
  const fits = (k, before) => before === undefined || places[k] - places[before] >= widest;
  const all = labels.map((_, k) => k);
  if (labels.every((text) => /^-?\d+$/.test(text))) {
    for (const step of [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]) {
      const round = all.filter((k) => Number(labels[k]) % step === 0);
      if (round.length > 1 && round.every((k, n) => fits(k, round[n - 1]))) return round;
    }
  }
  const room = Math.floor((places[places.length - 1] - places[0]) / widest) + 1;
  const every = Math.ceil(labels.length / room);
  const chosen = [];
  for (const k of all) {
    const before = chosen[chosen.length - 1];
    if (before === undefined || (k - before >= every && fits(k, before))) chosen.push(k);
  }
  return chosen;
}

// Gaps between times that are longer than usual, as places of their beginnings; none if hardly any are alike.
function longGaps(xs) {
  const gaps = xs.slice(1).map((x, k) => x - xs[k]);
  const usual = [...gaps].sort((a, b) => a - b)[gaps.length >> 1];
  const long = gaps.map((_, k) => k).filter((k) => gaps[k] > LONG_GAP * usual);
  return long.length <= gaps.length / 5 ? long : [];
}

// At most so many of K times, evenly spread.
function everySoMany(K, most) {
  const count = Math.min(K, most);
  return Array.from({ length: count }, (_, n) => (count > 1 ? Math.round((n * (K - 1)) / (count - 1)) : 0));
}

// Stretches of time in as few lanes as hold them without overlap, each with its lane.
function inLanes(stretches) {
  const ends = [];
  return [...stretches].sort((a, b) => a.begin - b.begin || a.end - b.end).map((one) => {
    const free = ends.findIndex((end) => end < one.begin);
    const lane = free < 0 ? ends.length : free;
    ends[lane] = one.end;
    return { ...one, lane };
  });
}

// A chart shows { series, xs, labels, bands, at, log, onPick, about, height, period }: series are
// { name, values, slot, thin, dots, faint(k), band, steep }, band of [lower, upper] or null, steep { begin, end } the
// part to mark; labels null for plain numbers; bands the places to hatch; at the cursor.
class LineChart {
  constructor(box) {
    this.box = box;
    this.spec = null;
    this.hatching = `hatching-${hatchings++}`;
    onNewWidth(box, () => { if (this.spec) this.show(this.spec); });
    const pick = (event) => {
      if (this.spec && this.spec.onPick && event.buttons) this.spec.onPick(this.nearest(event.clientX));
    };
    box.addEventListener("pointerdown", pick);
    box.addEventListener("pointermove", pick);
  }

  show(spec) {
    this.spec = spec;
    this.width = this.box.clientWidth;
    this.setScales();
    const view = `0 0 ${this.width} ${spec.height}`;
    const svg = draw("svg", { viewBox: view, height: spec.height, role: "img", "aria-label": spec.about });
    this.cursor = draw("g", { class: "now" });
    svg.append(this.hatchPattern(), this.gaps(), this.bands(), this.grid(), this.timeLabels(), this.changeMarks());
    svg.append(...this.body(), this.cursor, ...this.captions());
    this.box.classList.toggle("picks", Boolean(spec.onPick));
    this.box.replaceChildren(svg);
    this.moveCursor(spec.at);
  }

  body() {
    const { series } = this.spec;
    const thinFirst = [...series].sort((a, b) => Boolean(b.thin) - Boolean(a.thin));
    return [...series.map((one) => this.area(one)), ...series.map((one) => this.steepPart(one)),
      ...thinFirst.map((one) => this.line(one)), this.ends()];
  }

  // Words that the cursor does not cross out.
  captions() {
    return [];
  }

  setScales() {
    const { xs, log, height, series } = this.spec;
    this.right = RIGHT + this.roomForNames();
    this.changes = inLanes(series.filter((one) => one.steep).map((one) => ({ ...one, ...one.steep })));
    const lanes = Math.max(0, ...this.changes.map((one) => one.lane + 1));
    this.floor = height - BOTTOM - (lanes ? LANE * lanes + 4 : 0);
    const wide = this.width - LEFT - this.right, tall = this.floor - TOP;
    const scaled = log ? Math.log10 : (value) => value;
    this.range = this.valueRange();
    const [bottom, top] = this.range.map(scaled);
    const [first, last] = [Math.min(...xs), Math.max(...xs)];
    this.y = (value) => TOP + tall * (1 - (scaled(value) - bottom) / (top - bottom));
    this.x = (value) => LEFT + (last > first ? (wide * (value - first)) / (last - first) : wide / 2);
  }

  roomForNames() {
    const names = this.named().map((one) => cut(one.name, 18).length);
    return this.width >= ROOMY ? Math.max(0, ...names) * BOLD : 0;
  }

  // Those that have a name at their end, and at which height.
  named() {
    return this.spec.series.filter((one) => one.name);
  }

  heightAt(one, k) {
    return one.values[k];
  }

  // Longer gaps between times are shaded; where time goes round, a line begins every round.
  gaps() {
    const { xs, labels, period } = this.spec;
    const group = draw("g", { class: "gaps" });
    if (!labels) return group;
    const frame = { y: TOP, height: this.floor - TOP };
    for (const k of longGaps(xs)) {
      const [from, to] = [this.x(xs[k]), this.x(xs[k + 1])];
      const said = `Nothing between ${cut(labels[k], 40)} and ${cut(labels[k + 1], 40)}`;
      group.append(draw("rect", { x: from, width: to - from, ...frame, class: "gap" }, draw("title", {}, said)));
    }
    const [first, last] = [xs[0], xs[xs.length - 1]];
    const rounds = period ? Math.floor((last - first) / period) : 0;
    for (let n = 1; n <= Math.min(rounds, 100); n++) {
      const x = this.x(first + n * period);
      group.append(draw("line", { x1: x, x2: x, y1: TOP, y2: this.floor, class: "round" }));
    }
    return group;
  }

  // Names at the ends of lines, moved apart where they would overlap.
  ends() {
    const { xs } = this.spec;
    const group = draw("g", { class: "ends" });
    if (!this.roomForNames()) return group;
    const last = (one) => one.values.findLastIndex((value) => this.drawable(value));
    const placed = this.named().filter((one) => last(one) >= 0)
      .map((one) => ({ one, y: this.y(this.heightAt(one, last(one))) })).sort((a, b) => a.y - b.y);
    placed.forEach((label, n) => { label.y = Math.max(label.y, n ? placed[n - 1].y + LINE : TOP); });
    let { floor } = this;
    for (const label of placed.reverse()) {
      label.y = Math.min(label.y, floor);
      floor = label.y - LINE;
    }
    for (const { one, y } of placed) {
      const place = { x: this.x(xs[xs.length - 1]) + 9, y: y + 4, class: one.thin ? "end" : "end main" };
      group.append(colour(draw("text", place, cut(one.name, 18)), one.slot));
    }
    return group;
  }

  // Change points below the axis of time: the steepest part of each course.
  changeMarks() {
    const { xs, labels } = this.spec;
    return draw("g", { class: "changes" }, ...this.changes.map(({ name, slot, begin, end, lane }) => {
      const y = this.floor + 7 + LANE * lane;
      const said = `${name}: half of its largest change, ${cut(labels[begin], 40)} \u2013 ${cut(labels[end], 40)}`;
      return colour(draw("line", { x1: this.x(xs[begin]), x2: this.x(xs[end]), y1: y, y2: y, class: "change" },
        draw("title", {}, said)), slot);
    }));
  }

  // The steepest part of a course: a wide pale stroke behind it.
  steepPart({ values, slot, steep }) {
    const group = colour(draw("g", {}), slot);
    if (!steep) return group;
    const points = [];
    for (let k = steep.begin; k <= steep.end; k++) {
      if (this.drawable(values[k])) points.push(`${this.x(this.spec.xs[k]).toFixed(1)},${this.y(values[k]).toFixed(1)}`);
    }
    group.append(draw("polyline", { points: points.join(" "), class: "steep" }));
    return group;
  }

  valueRange() {
    const { series, log } = this.spec;
    let low = log ? Infinity : 0, high = 0;
    for (const one of series) {
      for (const value of one.values) {
        if (!this.drawable(value)) continue;
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
      for (const ends of (one.band || []).filter(Boolean)) {
        low = Math.min(low, ends[0]);
        high = Math.max(high, ends[1]);
      }
    }
    if (high > low) return [low, high];
    return log && high > 0 ? [high / 10, high] : [log ? 0.1 : 0, 1];
  }

  drawable(value) {
    return Number.isFinite(value) && (!this.spec.log || value > 0);
  }

  hatchPattern() {
    const line = draw("line", { x1: 0, y1: 0, x2: 0, y2: 8, class: "hatching" });
    const look = { width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
    return draw("defs", {}, draw("pattern", { id: this.hatching, ...look }, line));
  }

  // Each time of a band reaches half way to its neighbours.
  bands() {
    const { xs, bands = [] } = this.spec;
    const middle = (k, l) => this.x((xs[k] + (xs[l] ?? xs[k])) / 2);
    return draw("g", { class: "bands" }, ...bands.map((k) => {
      const from = middle(k, k - 1), to = middle(k, k + 1);
      const box = { x: from, y: TOP, width: Math.max(3, to - from), height: this.floor - TOP };
      return draw("rect", { ...box, fill: `url(#${this.hatching})` });
    }));
  }

  grid() {
    const { log } = this.spec;
    const group = draw("g", {});
    for (const tick of log ? powersOfTen(...this.range, 6) : roundNumbers(...this.range, 5)) {
      const y = this.y(tick);
      const text = log ? `1e${Math.round(Math.log10(tick))}` : String(Number(tick.toPrecision(6)));
      const look = { x1: LEFT, x2: this.width - this.right, y1: y, y2: y, class: tick === 0 ? "zero" : "grid" };
      const place = { x: LEFT - 7, y: y + 4, "text-anchor": "end" };
      group.append(draw("line", look), draw("text", place, text.replace("-", "\u2212")));
    }
    return group;
  }

  timeLabels() {
    const { xs, labels, height } = this.spec;
    const [first, last] = [Math.min(...xs), Math.max(...xs)];
    const places = xs.map((x) => this.x(x));
    const counts = last > first ? roundNumbers(first, last, 6).filter(Number.isInteger) : [first];
    const ticks = labels
      ? labelsWithRoom(labels, places).map((k) => [places[k], cut(labels[k], 12)])
      : counts.map((count) => [this.x(count), count]);
    const bottom = this.floor;
    const dense = (places[places.length - 1] - places[0]) / places.length < 3;
    const strokes = labels && !dense ? places.map((x) =>
      draw("line", { x1: x, x2: x, y1: bottom, y2: bottom + 4, class: "tick" })) : [];
    const place = (x, text) => (x + (String(text).length * LETTER) / 2 > this.width
      ? { x: this.width, "text-anchor": "end" } : { x, "text-anchor": "middle" });
    return draw("g", {}, ...strokes, ...ticks.map(([x, text]) => draw("text", { ...place(x, text), y: height - 5 }, text)));
  }

  // The band around a line, in pieces where it is known.
  area({ band = [], slot }) {
    const point = (k, end) => `${this.x(this.spec.xs[k]).toFixed(1)},${this.y(band[k][end]).toFixed(1)}`;
    const group = colour(draw("g", {}), slot);
    for (let first = 0; first < band.length; first++) {
      if (!band[first]) continue;
      let last = first;
      while (band[last + 1]) last += 1;
      const ks = Array.from({ length: last - first + 1 }, (_, n) => first + n);
      const points = [...ks.map((k) => point(k, 1)), ...ks.reverse().map((k) => point(k, 0))];
      group.append(draw("polygon", { points: points.join(" "), class: "band" }));
      first = last;
    }
    return group;
  }

  // Pieces between neighbours, so that what the data do not determine looks different.
  line({ values, slot, thin, dots = false, faint = () => false }) {
    const point = (k) => `${this.x(this.spec.xs[k]).toFixed(1)},${this.y(values[k]).toFixed(1)}`;
    if (dots) {
      const circle = (value, k) => (this.drawable(value)
        ? [draw("circle", { cx: this.x(this.spec.xs[k]).toFixed(1), cy: this.y(value).toFixed(1), r: 3, class: "dot line-dot" })] : []);
      return colour(draw("g", {}, ...values.flatMap(circle)), slot);
    }
    const paths = { sure: "", faint: "" };
    let before = -1, drawn = "";
    for (let k = 0; k < values.length; k++) {
      if (!this.drawable(values[k])) {
        before = -1;
        continue;
      }
      const kind = faint(k) || (before >= 0 && faint(before)) ? "faint" : "sure";
      if (before >= 0) paths[kind] += `${kind === drawn ? "" : `M${point(before)}`}L${point(k)}`;
      drawn = before >= 0 ? kind : "";
      before = k;
    }
    const group = colour(draw("g", {}), slot);
    const look = thin ? "line thin" : "line";
    if (paths.sure) group.append(draw("path", { d: paths.sure, class: look }));
    if (paths.faint) group.append(draw("path", { d: paths.faint, class: `${look} faint` }));
    return group;
  }

  moveCursor(k) {
    if (k === undefined || !this.spec) return;
    this.spec.at = k;
    const x = this.x(this.spec.xs[k]);
    this.cursor.replaceChildren(draw("line", { x1: x, x2: x, y1: TOP, y2: this.floor, class: "cursor" }), ...this.dotsAt(k, x));
  }

  dotsAt(k, x) {
    return this.spec.series.filter((one) => this.drawable(one.values[k])).map((one) => {
      const look = one.faint && one.faint(k) ? "dot faint" : "dot";
      return colour(draw("circle", { cx: x, cy: this.y(one.values[k]), r: 4, class: look }), one.slot);
    });
  }

  nearest(clientX) {
    const x = clientX - this.box.getBoundingClientRect().left;
    const distances = this.spec.xs.map((value) => Math.abs(this.x(value) - x));
    return distances.indexOf(Math.min(...distances));
  }
}
