// The rows: their loadings on a component, those that somebody chose on all, and what groups have to do with them.

const CLEAR = 0.05;  // a corrected p-value up to which an association counts as clear

// An association in words.
function associated({ attribute, high, low, value }) {
  if (high) return `${cut(attribute, 24)}: higher in ${cut(String(high), 24)} than in ${cut(String(low), 24)}`;
  return `${cut(attribute, 24)}: ${value < 0 ? "lower" : "higher"} where it is larger`;
}

function clearAssociations(page, r) {
  const lines = page.associations ? page.associations.lines : [];
  return lines.filter((one) => one.component === r + 1 && one.p_corrected !== null && one.p_corrected <= CLEAR);
}

class Rows {
  constructor(explorer) {
    this.explorer = explorer;
    this.bars = new BarList(byId("row-bars"), (i) => explorer.chooseRow(i));
    offerTable("row-table", "chosen-rows");
    if (explorer.fit.page.associations) offerTable("association-table", "associations");
  }

  show() {
    const { explorer } = this;
    const { fit } = explorer;
    write("rows-head", `Loadings of ${fit.page.names.rows} on ${fit.called(explorer.component)}`);
    this.showBars();
    this.showTable();
    this.showAssociations();
  }

  showAssociations() {
    const { fit } = this.explorer;
    const { associations } = fit.page;
    byId("associations").hidden = !associations || !associations.lines.length;
    if (byId("associations").hidden) return;
    const head = ["component", "loadings by", ...["measured", "interval", "p, corrected"].map((content) =>
      ({ kind: "number", content }))];
    const sorted = [...associations.lines].sort((a, b) => (a.p_corrected ?? 1) - (b.p_corrected ?? 1));
    const two = (value) => (value === null ? "" : written(value, 9));
    fillTable(byId("association-table"), head, sorted.map((one) => Object.assign([
      fit.heading(one.component - 1),
      associated(one),
      { kind: "number", content: two(one.value) },
      { kind: "number", content: one.lower === null ? "" : `${two(one.lower)} to ${two(one.upper)}` },
      { kind: "number", content: one.p_corrected === null ? "" : one.p_corrected.toPrecision(2) },
    ], { kind: one.p_corrected === null || one.p_corrected > CLEAR ? "doubtful" : null })));
    write("association-note", `Slanted: not clear (p above ${CLEAR}). ${associations.note}`);
  }

  showBars() {
    const { explorer } = this;
    const { fit, component, rows, groups } = explorer;
    groups.legend("row-legend");
    const loadings = Array.from({ length: fit.I }, (_, i) => fit.loading(component, i) || 0);
    const order = largestOf(loadings.map((loading, i) => (groups.shows(i) ? Math.abs(loading) : 0)));
    const entries = explorer.ranked(order, TOP_ROWS, rows, (i) => ({
      name: fit.page.rows.labels[i],
      value: loadings[i],
      text: written(loadings[i], 1),
      band: fit.bandOf("loadings", component, i),
      pressed: rows.includes(i),
      slot: groups.slotOf(i) >= 0 ? groups.slotOf(i) : undefined,
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
    const remove = (i) => ({ class: "link", dir: "auto", title: "Remove", "data-whole": fit.page.rows.labels[i],
      onclick: () => explorer.chooseRow(i) });
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
