// What rises and what falls: tables of the largest changes.

class Movers {
  constructor(explorer) {
    this.explorer = explorer;
  }

  show() {
    const { explorer } = this;
    const what = explorer.measure === "size" ? "weight times strength" : "weight in the pattern";
    write("movers-hint", `The largest changes of ${what} between two times at which the data determine it. `
      + "First the shortest time in which half of it took place, then all of it, without its first and last "
      + "twentieth. What is negative and shrinks falls."
      + (this.withBands ? " Slanted: its band includes zero, so that it may as well not have moved. The bands "
        + "hold for all changes of the component together." : ""));
    this.fill(byId("risers"), explorer.survey.rises, "Nothing rises.");
    this.fill(byId("fallers"), explorer.survey.falls, "Nothing falls.");
  }

  get withBands() {
    const { measure, fit, component } = this.explorer;
    return measure === "weight" && fit.bands !== null && !fit.page.bands.unstable[component];
  }

  fill(table, moves, otherwise) {
    const { fit } = this.explorer;
    const band = this.withBands ? [{ kind: "number bound", content: "band of the change" }] : [];
    const head = [fit.page.names.columns, { kind: "number", content: "from \u2192 to" }, ...band, "half of it, all"];
    fillTable(table, head, moves.length ? moves.map((one) => this.line(one)) : [[otherwise]]);
  }

  line(one) {
    const { explorer } = this;
    const { fit } = explorer;
    const name = fit.page.columns.labels[one.column];
    const choose = { class: "link", dir: "auto", title: name, "data-whole": name, onclick: () => explorer.chooseColumn(one.column) };
    const line = [
      button(choose, cut(name, 40)),
      { kind: "number", content: `${explorer.text(one.from)} \u2192 ${explorer.text(one.to)}` },
      { kind: "when", content: this.when(one) },
    ];
    const bound = this.withBands ? this.bound(one) : null;
    if (bound) line.splice(2, 0, bound);
    const kinds = [explorer.slots.has(one.column) ? "chosen" : "", bound && bound.none ? "doubtful" : ""];
    return Object.assign(line, { kind: kinds.join(" ").trim() || null });
  }

  when({ begin, end, steep }) {
    const { explorer } = this;
    const span = (from, to) => `${cut(explorer.fit.times[from], 16)} \u2013 ${cut(explorer.fit.times[to], 16)}`;
    const jump = { class: "link", title: "Go to the end of this change" };
    const part = button({ ...jump, onclick: () => explorer.goTo(steep.end) }, span(steep.begin, steep.end));
    const same = steep.begin === begin && steep.end === end;
    return make("span", {}, part, ...(same ? [] : [make("span", { class: "all" }, span(begin, end))]));
  }

  // The band of a change as a cell, and whether it may be none.
  bound(one) {
    const { explorer } = this;
    const band = explorer.fit.bandOf(one.way, explorer.component, one.column);
    const content = band ? `${explorer.text(band[0])} to ${explorer.text(band[1])}` : "";
    return { kind: "number bound", content, none: band !== null && band[0] <= 0 && band[1] >= 0 };
  }
}
