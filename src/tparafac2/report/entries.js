// Data beside the fit: one row and one column over time, and where the model misses most.

class EntriesPart {
  static async open(fit) {
    const told = fit.page.entries;
    fit.entries = told ? { counts: coursesOf(await inflated(told.counts), fit.K), sizes: numbersOf(told.sizes, Float32Array),
      rows: new Map(told.rows.map((place, n) => [place, n])),
      columns: new Map(told.columns.map((place, n) => [place, n])) } : null;
  }

  constructor(explorer) {
    this.explorer = explorer;
    byId("entries").hidden = explorer.fit.entries === null;
    if (byId("entries").hidden) return;
    this.chart = new LineChart(byId("entry-chart"));
    offerLines("entry-chart", "data-and-fit", this.chart);
    offerTable("misses", "misses");
  }

  // The row and column chosen last, else those that the model misses most.
  get pair() {
    const { rows, columns, fit } = this.explorer;
    const known = fit.entries;
    const [worst] = fit.page.entries.misses;
    const row = rows.findLast((i) => known.rows.has(i)) ?? (worst ? worst.row : fit.page.entries.rows[0]);
    const column = (columns || []).findLast((j) => known.columns.has(j)) ?? (worst ? worst.column : fit.page.entries.columns[0]);
    return { row, column };
  }

  show() {
    if (byId("entries").hidden) return;
    const { explorer } = this;
    const { fit } = explorer;
    const { row, column } = this.pair;
    const names = [fit.page.rows.labels[row], fit.page.columns.labels[column]].map((name) => cut(name, 40));
    write("entries-head", `Data and fit: ${names.join(", ")}`);
    const ks = fit.times.map((_, k) => k);
    const series = [
      { name: "fit", slot: "quiet", values: ks.map((k) => fit.fitted(row, column, k)), faint: (k) => !fit.seen(column, k) },
      { name: "data", slot: "ink", dots: true, values: ks.map((k) => fit.entry(row, column, k)) },
    ];
    explorer.showTimeChart(this.chart, series, `Data and fit of ${names.join(", ")} over time.`, { height: 260 });
    const share = (one) => `${(100 * one.share).toPrecision(2)} %`;
    const look = (one) => explorer.change({ rows: explorer.with(explorer.rows, one.row),
      columns: explorer.with(explorer.chosen, one.column) });
    fillTable(byId("misses"), [fit.page.names.rows, fit.page.names.columns, { kind: "number", content: "of all residuals" }],
      fit.page.entries.misses.map((one) => [
        button({ class: "link", dir: "auto", "data-whole": fit.page.rows.labels[one.row], onclick: () => look(one) },
          cut(fit.page.rows.labels[one.row], 40)),
        cut(fit.page.columns.labels[one.column], 40),
        { kind: "number", content: share(one) },
      ]));
  }
}
