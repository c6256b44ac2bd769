// What a component is made of over time: its distinctive columns, one upon the other.

const LAYERS = 7;
const SAMPLED = 24;      // times at which it is looked for them
const LABEL_ROOM = 15;   // height that a label needs inside its layer

// A chart of layers: what is positive is piled up from zero, what is negative hangs down from it.
class StreamChart extends LineChart {
  setScales() {
    this.layers = this.piled();
    super.setScales();
  }

  piled() {
    const { xs, series } = this.spec;
    const piles = { above: xs.map(() => 0), below: xs.map(() => 0) };
    const grown = (pile, size, k) => {
      const before = pile[k];
      pile[k] += size;
      return [before, pile[k]];
    };
    return series.map(({ values }) => ({
      above: values.map((value, k) => grown(piles.above, Math.max(value, 0) || 0, k)),
      below: values.map((value, k) => grown(piles.below, Math.min(value, 0) || 0, k)),
    }));
  }

  // Names are inside.
  roomForNames() {
    return 0;
  }

  valueRange() {
    const ends = (side) => this.layers.flatMap((layer) => layer[side].map((one) => one[1]));
    const low = Math.min(0, ...ends("below")), high = Math.max(0, ...ends("above"));
    return high > low ? [low, high] : [0, 1];
  }

  body() {
    const { series } = this.spec;
    const texts = series.map((one, n) => this.label(one, n)).filter(Boolean);
    return [...series.map((one, n) => this.layer(one, n)), ...texts];
  }

  layer(one, n) {
    const { xs } = this.spec;
    const point = (k, value) => `${this.x(xs[k]).toFixed(1)},${this.y(value).toFixed(1)}`;
    const group = colour(draw("g", {}, draw("title", {}, one.name)), one.slot);
    for (const side of ["above", "below"]) {
      const ends = this.layers[n][side];
      if (ends.every(([from, to]) => from === to)) continue;
      const outline = (ks) => [...ks.map((k) => point(k, ends[k][1])), ...[...ks].reverse().map((k) => point(k, ends[k][0]))].join(" ");
      const all = ends.map((_, k) => k);
      group.append(draw("polygon", { points: outline(all), class: "layer" }));
      group.append(draw("polyline", { points: all.map((k) => point(k, ends[k][1])).join(" "), class: "edge" }));
      for (const ks of this.doubtful(one)) {
        group.append(draw("polygon", { points: outline(ks), fill: `url(#${this.hatching})` }));
      }
    }
    return group;
  }

  // Neighbouring times between which the data do not tell.
  doubtful({ faint }) {
    return this.spec.xs.slice(1).map((_, k) => [k, k + 1]).filter(([a, b]) => faint(a) || faint(b));
  }

  // A name goes where its layer is highest, if it has room there.
  label(one, n) {
    const { xs } = this.spec;
    const text = cut(one.name, 22);
    const half = (text.length * LETTER) / 2 + 3;
    let best = { room: LABEL_ROOM };
    for (let at = 0; at < xs.length; at++) {
      const middle = this.x(xs[at]);
      if (middle - half < LEFT || middle + half > this.width - this.right) continue;
      const under = xs.map((_, k) => k).filter((k) => Math.abs(this.x(xs[k]) - middle) <= half);
      const around = [Math.max(0, under[0] - 1), ...under, Math.min(xs.length - 1, under.at(-1) + 1)];
      for (const side of ["above", "below"]) {
        const ends = around.map((k) => this.layers[n][side][k].map((value) => this.y(value)));
        const top = Math.max(...ends.map((pair) => Math.min(...pair)));
        const room = Math.min(...ends.map((pair) => Math.max(...pair))) - top;
        if (room > best.room) best = { room, x: middle, y: top + room / 2 + 4 };
      }
    }
    return best.x === undefined ? null : draw("text", { x: best.x, y: best.y, "text-anchor": "middle", class: "inside" }, text);
  }

  // Layers have no height of their own to put a dot at.
  dotsAt() {
    return [];
  }
}

class Stream {
  constructor(explorer) {
    this.explorer = explorer;
    this.known = new Map();
    byId("stream-part").hidden = explorer.fit.K < 2;
    if (byId("stream-part").hidden) return;
    this.chart = new StreamChart(byId("stream"));
    offerLines("stream", "stream", this.chart);
  }

  // The columns that set the component apart most, added up over time, those of early times first; and which
  // share of its squared weights they have, at least and at most.
  made() {
    const { fit, component: r } = this.explorer;
    if (this.known.has(r)) return this.known.get(r);
    const ks = everySoMany(fit.K, SAMPLED).filter((k) => fit.known(r, k));
    const sums = new Float64Array(fit.J), all = ks.map(() => 0);
    for (let j = 0; j < fit.J; j++) {
      ks.forEach((k, n) => {
        if (fit.seen(j, k)) sums[j] += fit.apart(r, j, k);
        all[n] += fit.weight(r, j, k) ** 2 || 0;
      });
    }
    const columns = largestOf(sums).slice(0, LAYERS);
    const own = (k) => columns.reduce((sum, j) => sum + (fit.weight(r, j, k) ** 2 || 0), 0);
    const shares = ks.map((k, n) => own(k) / (all[n] || 1));
    const middle = new Map(columns.map((j) => [j, this.middleOf(j)]));
    columns.sort((a, b) => middle.get(a) - middle.get(b));
    this.known.set(r, { columns, shares });
    return this.known.get(r);
  }

  // When a column was there: the mean of the times, by its weight.
  middleOf(j) {
    const { fit, component } = this.explorer;
    const sizes = fit.times.map((_, k) => (fit.sure(component, j, k) ? Math.abs(fit.weight(component, j, k)) || 0 : 0));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    return sizes.reduce((sum, size, k) => sum + size * fit.page.times.moments[k], 0) / (total || 1);
  }

  // A column keeps the colour that it has as a chosen one; others take what is free.
  slots(columns) {
    const taken = new Set(this.explorer.slots.values());
    const free = Array.from({ length: COLOURS }, (_, slot) => slot).filter((slot) => !taken.has(slot));
    return columns.map((j) => this.explorer.slots.get(j) ?? free.shift() ?? "bar");
  }

  show() {
    if (!this.chart) return;
    const { explorer } = this;
    const { fit, component, measure } = explorer;
    const { columns, shares } = this.made();
    const slots = this.slots(columns);
    this.series = columns.map((j, n) => ({
      place: j,
      name: fit.page.columns.labels[j],
      slot: slots[n],
      values: fit.times.map((_, k) => explorer.value(j, k)),
      steep: (moveOf(fit, measure, component, j) || {}).steep,
      faint: (k) => !fit.sure(component, j, k),
    }));
    const what = measure === "size" ? "weights times strength" : "weights";
    write("stream-head", `What ${fit.called(component)} is made of, over ${fit.page.names.time}`);
    explorer.showTimeChart(this.chart, this.series, `${what} of ${this.series.map((one) => one.name).join(", ")}, one upon the other.`,
      { height: 300 });
    const below = this.series.some((one) => one.values.some((value) => value < 0));
    const percent = (share) => Math.round(100 * share);
    const [least, most] = [Math.min(...shares), Math.max(...shares)].map(percent);
    write("stream-hint", [
      `The ${what} of the ${columns.length} ${fit.page.names.columns} that ${fit.R > 1 ? "set it apart" : "weigh"} most over all times, one upon the other`
        + `${below ? "; negative ones hang below zero" : ""}.`,
      shares.length ? `They have ${least === most ? most : `${least} to ${most}`} % of its squared weights; the rest is not drawn.` : "",
      CHANGES_HINT,
      this.series.some((one) => fit.times.some((_, k) => one.faint(k))) ? "Hatched: the data do not determine it then." : "",
    ].join(" "));
  }

  showTime() {
    if (!this.chart) return;
    const { explorer } = this;
    this.chart.moveCursor(explorer.time);
    refill(byId("stream-legend"), ...[...this.series].reverse().map((one) => colour(button({
      class: "chip",
      "aria-pressed": explorer.slots.has(one.place),
      onclick: () => explorer.chooseColumn(one.place),
    }, label(one.name), number(explorer.text(explorer.value(one.place, explorer.time)))), one.slot)));
  }
}
