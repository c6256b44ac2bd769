// Finding columns and rows by their labels.

class Search {
  constructor(explorer) {
    this.explorer = explorer;
    this.fit = explorer.fit;
    const { page } = this.fit;
    write("search-label", `Find ${page.names.columns} or ${page.names.rows}`);
    this.index = { columns: page.columns.labels.map(plain), rows: page.rows.labels.map(plain) };
    byId("search").addEventListener("input", () => this.show());
    byId("search").addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.chooseFirst();
    });
  }

  show() {
    const sought = plain(byId("search").value.trim());
    const found = sought ? ["columns", "rows"].flatMap((kind) => this.found(kind, sought)) : [];
    found.sort((a, b) => (a.at > 0) - (b.at > 0));  // first what begins with it
    this.first = found[0];
    const more = found.length > MOST_FOUND ? `, the first ${MOST_FOUND} shown` : "";
    const enter = found.length ? " Enter chooses the first." : "";
    write("found", !sought ? "" : found.length ? `${found.length} found${more}.${enter}` : "Nothing found.");
    refill(byId("results"), ...found.slice(0, MOST_FOUND).map((one) => this.result(one)));
  }

  chooseFirst() {
    if (this.first) this.choose(this.first);
  }

  choose({ kind, place }) {
    if (kind === "columns") this.explorer.chooseColumn(place);
    else this.explorer.chooseRow(place);
  }

  found(kind, sought) {
    return this.index[kind].map((text, place) => ({ kind, place, at: text.indexOf(sought) }))
      .filter((one) => one.at >= 0);
  }

  result(one) {
    const { fit, explorer } = this;
    const column = one.kind === "columns";
    const which = fit.called(explorer.component);
    const about = column ? `at most ${explorer.text(explorer.survey.reach[one.place])} in ${which}`
      : `loading ${written(fit.loading(explorer.component, one.place), 1)} on ${which}`;
    const pressed = column ? explorer.slots.has(one.place) : explorer.rows.includes(one.place);
    const note = make("span", { class: "kind", dir: "auto" }, `${fit.page.names[one.kind]}, ${about}`);
    const choose = { "aria-pressed": pressed, onclick: () => this.choose(one) };
    return make("li", {}, button(choose, label(fit.page[one.kind].labels[one.place]), note));
  }
}
