// The rows: their loadings on a component, and those that somebody chose on all.

class Rows {
  constructor(explorer) {
    this.explorer = explorer;
    this.bars = new BarList(byId("row-bars"), (i) => explorer.chooseRow(i));
  }

  show() {
    const { explorer } = this;
    const { fit } = explorer;
    write("rows-head", `Loadings of ${fit.page.names.rows} on ${fit.called(explorer.component)}`);
    this.showBars();
    this.showTable();
  }

  showBars() {
    const { explorer } = this;
    const { fit, component, rows } = explorer;
    const loadings = Array.from({ length: fit.I }, (_, i) => fit.loading(component, i) || 0);
    const order = largestOf(loadings.map(Math.abs));
    const entries = explorer.ranked(order, TOP_ROWS, rows, (i) => ({
      name: fit.page.rows.labels[i],
      value: loadings[i],
      text: written(loadings[i], 1),
      band: fit.bandOf("loadings", component, i),
      pressed: rows.includes(i),
    }));
    const range = (better) => loadings.reduce((a, b) => better(a, b), 0);
    this.bars.show(entries, range(Math.min), range(Math.max));
  }

  showTable() {
    const { explorer } = this;
    const { fit } = explorer;
    const components = fit.names.map((_, r) => r);
    const head = [fit.page.names.rows,
      ...components.map((r) => ({ kind: "number", content: fit.names[r] ? cut(fit.names[r], 16) : r + 1 }))];
    const remove = (i) => ({ class: "link", dir: "auto", title: "Remove", onclick: () => explorer.chooseRow(i) });
    const lines = explorer.rows.map((i) => [
      button(remove(i), cut(fit.page.rows.labels[i], 40)),
      ...components.map((r) => ({ kind: "number", content: written(fit.loading(r, i), 1) })),
    ]);
    fillTable(byId("row-table"), lines.length ? head : [], lines);
    const left = fit.I < fit.page.rows.of ? ` The page has ${fit.I} of ${fit.page.rows.of}.` : "";
    write("row-hint", (lines.length ? "The loadings of a component have length 1."
      : "Choose rows by their bars or by searching.") + left);
  }
}
