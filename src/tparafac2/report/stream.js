// What a component is made of over time: its distinctive columns, one upon the other.

const LAYERS = 6;
const SAMPLED = 24;      // times at which it is looked for them
const LABEL_ROOM = 15;   // height that a label needs inside its layer

// A chart of layers: what is positive is piled up from zero, what is negative hangs down from it.
class StreamChart extends LineChart {
  // Names that have no room inside their layers go to the ends, which takes room from all.
  setScales() {
    this.layers = this.piled();
    this.outside = [];
    super.setScales();
    this.outside = this.spec.series.filter((one, n) => this.placeInside(one, n) === null);
    if (this.outside.length) super.setScales();
  }

  named() {
    return this.outside;
  }

  heightAt(one, k) {
    const { above, below } = this.layers[this.spec.series.indexOf(one)];
    const [from, to] = one.values[k] < 0 ? below[k] : above[k];
    return (from + to) / 2;
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

  valueRange() {
    const ends = (side) => this.layers.flatMap((layer) => layer[side].map((one) => one[1]));
    const low = Math.min(0, ...ends("below")), high = Math.max(0, ...ends("above"));
    return high > low ? [low, high] : [0, 1];
  }

  body() {
    return [...this.spec.series.map((one, n) => this.layer(one, n)), this.ends()];
  }

  captions() {
    const places = this.spec.series.map((one, n) => [one, this.outside.includes(one) ? null : this.placeInside(one, n)]);
    return places.filter(([, place]) => place)
      .map(([one, place]) => draw("text", { ...place, "text-anchor": "middle", class: "inside" }, cut(one.name, 22)));
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
  placeInside(one, n) {
    const { xs } = this.spec;
    const half = (cut(one.name, 22).length * LETTER) / 2 + 3;
    let most = LABEL_ROOM, best = null;
    for (let at = 0; at < xs.length; at++) {
      const middle = this.x(xs[at]);
      if (middle - half < LEFT || middle + half > this.width - this.right) continue;
      const under = xs.map((_, k) => k).filter((k) => Math.abs(this.x(xs[k]) - middle) <= half);
      const around = [Math.max(0, under[0] - 1), ...under, Math.min(xs.length - 1, under.at(-1) + 1)];
      for (const side of ["above", "below"]) {
        const ends = around.map((k) => this.layers[n][side][k].map((value) => this.y(value)));
        const top = Math.max(...ends.map((pair) => Math.min(...pair)));
        const room = Math.min(...ends.map((pair) => Math.max(...pair))) - top;
        if (room > most) [most, best] = [room, { x: middle, y: top + room / 2 + 4 }];
      }
    }
    return best;
  }

  // Layers have no height of their own to put a dot at.
  dotsAt() {
    return [];
  }
}

// A few columns that stand for the most telling ones of all times: one after the other, that which adds most to
// how well each time is told by its best.
function coveringAll(telling, J, most) {
  const best = telling.map(() => 0);
  const chosen = [];
  const all = (j) => telling.reduce((sum, sizes) => sum + sizes[j], 0);
  const gain = (j) => telling.reduce((sum, sizes, n) => sum + Math.max(0, sizes[j] - best[n]), 0) + 1e-3 * all(j);
  while (chosen.length < most) {
    const gains = Float64Array.from({ length: J }, (_, j) => (chosen.includes(j) ? 0 : gain(j)));
    const [next] = largestOf(gains);
    if (next === undefined) break;
    chosen.push(next);
    telling.forEach((sizes, n) => { best[n] = Math.max(best[n], sizes[next]); });
  }
  return chosen;
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

  // The columns that are drawn, those of early times first, and which shares of its squared weights they have.
  made() {
    const { fit, component: r } = this.explorer;
    if (this.known.has(r)) return this.known.get(r);
    const ks = everySoMany(fit.K, SAMPLED).filter((k) => fit.known(r, k));
    const telling = ks.map((k) => this.tellingAt(k));
    const columns = coveringAll(telling, fit.J, LAYERS);
    const square = (j, k) => fit.weight(r, j, k) ** 2 || 0;
    const whole = (k) => fit.page.columns.labels.reduce((sum, _, j) => sum + square(j, k), 0);
    const shares = ks.map((k) => columns.reduce((sum, j) => sum + square(j, k), 0) / (whole(k) || 1));
    const middle = new Map(columns.map((j) => [j, this.middleOf(j)]));
    columns.sort((a, b) => middle.get(a) - middle.get(b));
    this.known.set(r, { columns, shares });
    return this.known.get(r);
  }

  // How far each column sets the component apart at a time, by the most telling one.
  tellingAt(k) {
    const { fit, component } = this.explorer;
    const sizes = Float64Array.from({ length: fit.J }, (_, j) => (fit.seen(j, k) && fit.apart(component, j, k)) || 0);
    const most = sizes.reduce((a, b) => Math.max(a, b), 0);
    return most > 0 ? sizes.map((size) => size / most) : sizes;
  }

  // When a column was there: the mean of the times, by its weight.
  middleOf(j) {
    const { fit, component } = this.explorer;
    const sizes = fit.times.map((_, k) => (fit.sure(component, j, k) ? Math.abs(fit.weight(component, j, k)) || 0 : 0));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    return sizes.reduce((sum, size, k) => sum + size * fit.page.times.moments[k], 0) / (total || 1);
  }

  // A column keeps the colour that it has as a chosen one; others take what is free, and then that of other bars.
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
    explorer.showTimeChart(this.chart, this.series, `Over time: ${what} of ${this.series.map((one) => one.name).join(", ")}, one upon the other.`,
      { height: 300 });
    const below = this.series.some((one) => one.values.some((value) => value < 0));
    const percent = (share) => Math.round(100 * share);
    const [least, most] = [Math.min(...shares), Math.max(...shares)].map(percent);
    write("stream-hint", [
      `${columns.length} of ${fit.page.columns.of}: those that together tell ${fit.R > 1 ? "best, time by time, what sets it apart" : "most, time by time"}; their ${what} one upon the other`
        + `${below ? "; negative ones hang below zero" : ""}.`,
      shares.length ? `Together ${least === most ? most : `${least} to ${most}`} % of the squared weights; the rest is not drawn.` : "",
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
