// The rows on a map: their loadings on two components, coloured by what else is known of them.

const MOST_POINTS = 3000;
const MOST_LABELS = 60;
const MAP_HEIGHT = 420;

class RowMap {
  constructor(explorer) {
    this.explorer = explorer;
    this.box = byId("row-map");
    const { fit } = explorer;
    byId("map").hidden = fit.R < 2 || fit.I < 2;
    if (byId("map").hidden) return;
    byId("against").addEventListener("change", (event) => explorer.change({ against: Number(event.target.value) }));
    onNewWidth(this.box, () => this.draw());
    offer(this.box, "map-of-rows", { chart: true, lines: () => this.lines(), names: () => this.legend() });
  }

  // The other component: that of the reader's choice, else that whose loadings differ most.
  get against() {
    const { component, against, fit } = this.explorer;
    const others = fit.names.map((_, r) => r).filter((r) => r !== component);
    if (others.includes(against)) return against;
    return others.reduce((a, b) => (this.spread(b) > this.spread(a) ? b : a));
  }

  spread(r) {
    let [sum, squares] = [0, 0];
    for (let i = 0; i < this.explorer.fit.I; i++) {
      const loading = this.explorer.fit.loading(r, i) || 0;
      sum += loading;
      squares += loading * loading;
    }
    return squares - (sum * sum) / this.explorer.fit.I;
  }

  show() {
    if (byId("map").hidden) return;
    const { explorer } = this;
    const { fit, component } = explorer;
    write("map-head", `Map of ${fit.page.names.rows}: loadings on two components`);
    const others = fit.names.map((_, r) => r).filter((r) => r !== component);
    refill(byId("against"), ...others.map((r) => make("option", { value: r }, fit.heading(r))));
    byId("against").value = this.against;
    explorer.groups.legend("map-legend");
    write("map-hint", `A click chooses a row${explorer.groups.names.length ? "; a group shows it alone, here and in the list" : ""}.`);
    this.draw();
  }

  legend() {
    const point = (slot) => [...this.box.querySelectorAll(".point:not(.chosen)")].find((one) =>
      one.style.getPropertyValue("--series") === `var(--c${slot})`);
    return this.explorer.groups.names.map((name, slot) => ({ name, tone: point(slot) })).filter((one) => one.tone);
  }

  points() {
    const { fit, component, groups } = this.explorer;
    const all = Array.from({ length: fit.I }, (_, i) => ({ i, x: fit.loading(component, i), y: fit.loading(this.against, i) }))
      .filter((one) => Number.isFinite(one.x) && Number.isFinite(one.y));
    for (const one of all) one.shown = groups.shows(one.i);
    return all.sort((a, b) => Math.hypot(b.x, b.y) - Math.hypot(a.x, a.y)).slice(0, MOST_POINTS);
  }

  draw() {
    const { fit, component } = this.explorer;
    this.width = this.box.clientWidth;
    const points = this.points();
    const range = (name) => {
      const values = points.length ? points.map((one) => one[name]) : [0];
      const ends = [Math.min(...values), Math.max(...values)];
      const more = 0.05 * (ends[1] - ends[0]) || Math.abs(ends[0]) || 1;
      return [ends[0] - more, ends[1] + more];
    };
    const [left, right] = range("x"), [bottom, top] = range("y");
    this.x = (value) => LEFT + ((this.width - LEFT - RIGHT) * (value - left)) / (right - left);
    this.y = (value) => TOP + (MAP_HEIGHT - TOP - 2 * BOTTOM) * (1 - (value - bottom) / (top - bottom));
    const about = `Loadings of ${points.length} ${fit.page.names.rows} on ${fit.called(component)} and ${fit.called(this.against)}.`;
    const svg = draw("svg", { viewBox: `0 0 ${this.width} ${MAP_HEIGHT}`, height: MAP_HEIGHT, role: "img", "aria-label": about });
    svg.append(this.axes([left, right], [bottom, top]), ...points.map((one) => this.point(one)).reverse(), ...this.labels(points));
    this.box.replaceChildren(svg);
  }

  axes(xs, ys) {
    const { fit, component } = this.explorer;
    const group = draw("g", {});
    const floor = MAP_HEIGHT - 2 * BOTTOM, look = (tick) => (tick === 0 ? "zero" : "grid");
    const text = (tick) => String(Number(tick.toPrecision(6))).replace("-", "\u2212");
    for (const tick of roundNumbers(...xs, 6)) {
      const x = this.x(tick);
      group.append(draw("line", { x1: x, x2: x, y1: TOP, y2: floor, class: look(tick) }),
        draw("text", { x, y: floor + 17, "text-anchor": "middle" }, text(tick)));
    }
    for (const tick of roundNumbers(...ys, 6)) {
      const y = this.y(tick);
      group.append(draw("line", { x1: LEFT, x2: this.width - RIGHT, y1: y, y2: y, class: look(tick) }),
        draw("text", { x: LEFT - 7, y: y + 4, "text-anchor": "end" }, text(tick)));
    }
    group.append(
      draw("text", { x: (LEFT + this.width - RIGHT) / 2, y: MAP_HEIGHT - 8, "text-anchor": "middle" }, cut(fit.heading(component), 40)),
      draw("text", { x: 14, y: (TOP + floor) / 2, "text-anchor": "middle",
        transform: `rotate(-90 14 ${(TOP + floor) / 2})` }, cut(fit.heading(this.against), 40)));
    return group;
  }

  point({ i, x, y, shown }) {
    const slot = this.explorer.groups.slotOf(i);
    const chosen = this.explorer.rows.includes(i);
    const look = `point${shown ? "" : " faint"}${chosen ? " chosen" : ""}`;
    const dot = draw("circle", { cx: this.x(x).toFixed(1), cy: this.y(y).toFixed(1), r: chosen ? 6 : 4, class: look },
      draw("title", {}, this.explorer.fit.page.rows.labels[i]));
    dot.addEventListener("click", () => this.explorer.chooseRow(i));
    return colour(dot, slot >= 0 ? slot : "quiet");
  }

  // Labels from the outside in, wherever they have room; those of chosen rows first.
  labels(points) {
    const { rows, fit } = this.explorer;
    const taken = points.filter((one) => one.shown).map(({ x, y }) => [this.x(x) - 4, this.y(y) - 4, this.x(x) + 4, this.y(y) + 4]);
    const free = ([a, b, c, d]) => a >= LEFT && c <= this.width && b >= 0
      && !taken.some(([e, f, g, h]) => a < g && c > e && b < h && d > f);
    const first = (one) => rows.includes(one.i);
    const placed = [];
    for (const one of points.filter((point) => point.shown).sort((a, b) => first(b) - first(a))) {
      if (placed.length >= MOST_LABELS) break;
      const text = cut(fit.page.rows.labels[one.i], 22);
      const wide = text.length * LETTER + 4;
      const [x, y] = [this.x(one.x), this.y(one.y)];
      const box = [[x + 6, y - 7], [x - wide - 6, y - 7], [x - wide / 2, y - 20], [x - wide / 2, y + 6]]
        .map(([a, b]) => [a, b, a + wide, b + 14]).find(free);
      if (!box) continue;
      taken.push(box);
      placed.push(draw("text", { x: box[0] + 2, y: box[1] + 11, class: first(one) ? "main" : null }, text));
    }
    return placed;
  }

  lines() {
    const { fit, component } = this.explorer;
    const head = [fit.page.names.rows, fit.heading(component), fit.heading(this.against), ...(this.explorer.colour ? [this.explorer.colour] : [])];
    const values = (fit.page.rows.attributes || {})[this.explorer.colour];
    return [head, ...this.points().filter((one) => one.shown).map(({ i, x, y }) =>
      [fit.page.rows.labels[i], x, y, ...(values ? [values[i]] : [])])];
  }
}
