// The pattern at a few times side by side.

const MOST_KEPT = 6;
const TOP_KEPT = 6;

class Multiples {
  constructor(explorer) {
    this.explorer = explorer;
    byId("keep").addEventListener("click", () => this.keep());
  }

  // Until somebody chooses: the first, the last and the middle time at which the data say something.
  usual() {
    const { fit, component } = this.explorer;
    const { moments } = fit.page.times;
    const ks = fit.times.map((_, k) => k).filter((k) => fit.known(component, k));
    if (ks.length < 3) return ks;
    const [first, last] = [ks[0], ks[ks.length - 1]];
    const far = (k) => Math.abs(moments[k] - (moments[first] + moments[last]) / 2);
    return [...new Set([first, ks.reduce((a, b) => (far(b) < far(a) ? b : a)), last])];
  }

  get kept() {
    return this.explorer.kept || this.usual();
  }

  keep() {
    const { explorer } = this;
    const others = this.kept.filter((k) => k !== explorer.time).slice(1 - MOST_KEPT);
    explorer.change({ kept: [...others, explorer.time].sort((a, b) => a - b) });
  }

  show() {
    const { explorer } = this;
    refill(byId("multiples"), ...this.kept.map((k) => this.panel(k)));
    const what = explorer.fit.R > 1 ? "What sets it apart from the other components" : "The largest weights";
    write("multiples-hint", `${what}, at chosen times; longer bars are larger ${
      explorer.measure === "size" ? "weights times strength" : "weights"}.`);
  }

  // The first columns of a component at a time, by what sets it apart.
  leaders(k) {
    const { fit, component } = this.explorer;
    const sizes = new Float64Array(fit.J);
    for (let j = 0; j < fit.J; j++) sizes[j] = fit.sure(component, j, k) ? fit.apart(component, j, k) : 0;
    return largestOf(sizes).slice(0, TOP_KEPT);
  }

  panel(k) {
    const { explorer } = this;
    const { fit } = explorer;
    const time = cut(fit.times[k], 24);
    const go = { class: "link", onclick: () => explorer.goTo(k), "aria-label": `Go to ${time}` };
    const remove = { class: "plain", title: "Remove", "aria-label": `Remove ${time}`,
      onclick: () => explorer.change({ kept: this.kept.filter((one) => one !== k) }) };
    const lines = this.leaders(k).map((j) => this.line(j, k));
    const list = lines.length ? make("ul", {}, ...lines) : make("p", { class: "hint" }, "Not determined.");
    return make("li", {}, make("div", {}, button(go, time), button(remove, "\u00d7")), list);
  }

  line(j, k) {
    const { explorer } = this;
    const value = explorer.value(j, k);
    const bar = make("span", { class: value < 0 ? "fill below" : "fill" });
    bar.style.width = `${((100 * Math.abs(value)) / (explorer.survey.most || 1)).toFixed(1)}%`;
    const item = make("li", {}, label(explorer.fit.page.columns.labels[j]), make("span", { class: "track" }, bar),
      number(explorer.text(value)));
    return explorer.slots.has(j) ? colour(item, explorer.slots.get(j)) : item;
  }
}
