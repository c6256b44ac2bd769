// The explorer: one component, one time, and the columns and rows that somebody chose.

class Explorer {
  constructor(fit) {
    this.fit = fit;
    const alive = fit.page.components.findIndex((one) => one.state !== "vanished");
    this.component = Math.max(0, alive);
    this.time = 0;
    this.measure = "weight";
    this.order = "now";
    this.alsoUnseen = false;
    this.columns = null;  // nobody chose any yet
    this.rows = [];
    this.timer = null;
    this.courseChart = new LineChart(byId("courses"));
    this.strengthChart = new LineChart(byId("strengths"));
    this.columnBars = new BarList(byId("bars"), (j) => this.chooseColumn(j));
    this.rowBars = new BarList(byId("row-bars"), (i) => this.chooseRow(i));
    this.strongest = Math.max(...fit.page.strengths.flat().map(Math.abs));
    this.setUpControls();
    this.setUpSearch();
    this.showComponent();
  }

  // --- controls ---------------------------------------------------------------------------------------------

  setUpControls() {
    const { page, R, K } = this.fit;
    for (let r = 0; r < R; r++) {
      const input = make("input", { type: "radio", name: "component", "aria-label": `Component ${r + 1}` });
      input.addEventListener("change", () => this.change({ component: r }));
      byId("components").append(colour(make("label", {}, input, make("span", {}, r + 1)), r));
    }
    byId("time").max = K - 1;
    byId("time").addEventListener("input", (event) => this.goTo(Number(event.target.value)));
    byId("play").addEventListener("click", () => (this.timer === null ? this.play() : this.pause()));
    byId("play").disabled = K < 2;
    byId("measure").addEventListener("change", (event) => this.change({ measure: event.target.value }));
    byId("order").addEventListener("change", (event) => this.change({ order: event.target.value }));
    byId("unseen").addEventListener("change", (event) => this.change({ alsoUnseen: event.target.checked }));
    byId("unseen-option").hidden = this.fit.unseen === null;
    write("time-name", page.names.time);
  }

  change(part) {
    Object.assign(this, part);
    this.showComponent();
  }

  goTo(k) {
    this.pause();
    this.time = k;
    this.showTime();
  }

  play() {
    const last = this.fit.K - 1;
    if (this.time >= last) this.goTo(0);
    this.timer = setInterval(() => {
      this.time += 1;
      this.showTime();
      if (this.time >= last) this.pause();
    }, Math.min(700, Math.max(90, 15000 / last)));
    this.showPlaying();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.showPlaying();
  }

  showPlaying() {
    write("play", this.timer === null ? "Play" : "Pause");
  }

  // --- what was chosen --------------------------------------------------------------------------------------

  chooseColumn(j) {
    this.change({ columns: this.toggled(this.chosen, j) });
  }

  chooseRow(i) {
    this.change({ rows: this.toggled(this.rows, i) });
  }

  toggled(chosen, place) {
    return chosen.includes(place) ? chosen.filter((one) => one !== place) : [...chosen, place].slice(-COLOURS);
  }

  value(j, k) {
    return this.fit.value(this.measure, this.component, j, k);
  }

  // Only weights have bands: what they are times the strength is not known apart.
  band(j, k) {
    return this.measure === "weight" ? this.fit.weightBand(this.component, j, k) : null;
  }

  bandsHint() {
    const { bands } = this.fit.page;
    if (!bands) return "";
    if (bands.unstable[this.component]) return "This component has no bands: data drawn anew did not find it again.";
    if (this.measure !== "weight") return "Bands are those of weights alone.";
    return `Shaded: bands of ${Number((100 * bands.level).toPrecision(4))} %, around a fit that is less smooth.`;
  }

  text(value) {
    return written(value, this.survey.most);
  }

  // --- drawing: once for a component ------------------------------------------------------------------------

  showComponent() {
    const { names } = this.fit.page;
    const which = `component ${this.component + 1}`;
    this.survey = this.fit.survey(this.measure, this.component);
    // Until somebody chooses, the courses are those of the columns that reach highest.
    this.chosen = this.columns || largestOf(this.survey.reach).slice(0, FIRST_COURSES);
    this.slots = new Map(this.chosen.map((j, slot) => [j, slot]));
    byId("components").querySelectorAll("input")[this.component].checked = true;
    write("courses-head", `Courses over ${names.time}, ${which}`);
    write("movers-head", `What rises and what falls in ${which}`);
    write("rows-head", `Loadings of ${names.rows} on ${which}`);
    this.showStrengths();
    this.showCourses();
    this.showMovers();
    this.showRows();
    this.showRowTable();
    this.showResults();
    this.showTime();
  }

  showTimeChart(chart, series, about, more) {
    const { labels, moments } = this.fit.page.times;
    chart.show({ series, about, xs: moments, labels, at: this.time, onPick: (k) => this.goTo(k), ...more });
  }

  showStrengths() {
    const { fit } = this;
    const series = fit.page.components.map((_, r) => ({
      values: fit.times.map((_, k) => fit.strength(r, k)),
      slot: r,
      dashed: r >= COLOURS,
      faint: (k) => !fit.known(r, k),
      band: fit.times.map((_, k) => fit.strengthBand(r, k)),
    }));
    this.showTimeChart(this.strengthChart, series, "Strengths of all components over time.", { height: 240 });
  }

  showCourses() {
    const { fit, component } = this;
    const { chosen } = this;
    const series = chosen.map((j) => ({
      values: fit.times.map((_, k) => this.value(j, k)),
      slot: this.slots.get(j),
      faint: (k) => !fit.sure(component, j, k),
      band: fit.times.map((_, k) => this.band(j, k)),
    }));
    const bands = fit.times.map((_, k) => k).filter((k) => !fit.known(component, k));
    const names = chosen.map((j) => fit.page.columns.labels[j]).join(", ");
    const about = `Courses over time of ${names || "nothing"}.`;
    this.showTimeChart(this.courseChart, series, about, { bands, height: 360 });
    write("courses-hint", [
      this.columns ? "" : "These reach highest; choose others by their bars or by searching.",
      bands.length ? "Hatched: the data do not determine the pattern." : "",
      fit.unseen ? "Dotted: not observed then." : "",
      this.bandsHint(),
    ].join(" "));
  }

  showMovers() {
    const what = this.measure === "size" ? "weight times strength" : "weight in the pattern";
    write("movers-hint", `The largest changes of ${what} between two times at which the data determine it. `
      + "When: without the first and the last twentieth of the change."
      + (this.withBands ? " Pale: its band includes zero, so that it may as well not have moved." : ""));
    this.fillMovers(byId("risers"), this.survey.rises, "Nothing rises.", "rises");
    this.fillMovers(byId("fallers"), this.survey.falls, "Nothing falls.", "falls");
  }

  get withBands() {
    return this.measure === "weight" && this.fit.bands !== null && !this.fit.page.bands.unstable[this.component];
  }

  // The change and its band, as a cell, and whether it may be none.
  moved(one, kind) {
    const band = this.fit.bandOf(kind, this.component, one.column);
    const content = band ? `${this.text(band[0])} to ${this.text(band[1])}` : "";
    return { kind: "number", content, none: band !== null && band[0] <= 0 && band[1] >= 0 };
  }

  fillMovers(table, moves, otherwise, kind) {
    const { fit } = this;
    const band = this.withBands ? [{ kind: "number", content: "band of the change" }] : [];
    const head = [fit.page.names.columns, { kind: "number", content: "from \u2192 to" }, ...band, "when"];
    const lines = moves.map((one) => {
      const name = fit.page.columns.labels[one.column];
      const when = `${cut(fit.times[one.begin], 16)} \u2013 ${cut(fit.times[one.end], 16)}`;
      const choose = { class: "link", dir: "auto", title: name, onclick: () => this.chooseColumn(one.column) };
      const jump = { class: "link", title: "Go to the end of this change", onclick: () => this.goTo(one.end) };
      const line = [
        button(choose, cut(name, 40)),
        { kind: "number", content: `${this.text(one.from)} \u2192 ${this.text(one.to)}` },
        { kind: "when", content: button(jump, when) },
      ];
      const bound = this.withBands ? this.moved(one, kind) : null;
      if (bound) line.splice(2, 0, bound);
      const kinds = [this.slots.has(one.column) ? "chosen" : "", bound && bound.none ? "doubtful" : ""];
      return Object.assign(line, { kind: kinds.join(" ").trim() || null });
    });
    fillTable(table, head, lines.length ? lines : [[otherwise]]);
  }

  // The first of a ranking, and behind them whatever else was chosen, with its rank.
  ranked(order, most, chosen, entry) {
    const first = order.slice(0, most);
    const others = chosen.filter((place) => !first.includes(place));
    return [
      ...first.map((place, n) => ({ ...entry(place), place, rank: n + 1 })),
      ...others.map((place) => ({ ...entry(place), place, rank: order.indexOf(place) + 1 || "", apart: true })),
    ];
  }

  showRows() {
    const { fit } = this;
    const loadings = Array.from({ length: fit.I }, (_, i) => fit.loading(this.component, i) || 0);
    const order = largestOf(loadings.map(Math.abs));
    const entries = this.ranked(order, TOP_ROWS, this.rows, (i) => ({
      name: fit.page.rows.labels[i],
      value: loadings[i],
      text: written(loadings[i], 1),
      band: fit.bandOf("loadings", this.component, i),
      pressed: this.rows.includes(i),
    }));
    const range = (better) => loadings.reduce((a, b) => better(a, b), 0);
    this.rowBars.show(entries, range(Math.min), range(Math.max));
  }

  showRowTable() {
    const { fit } = this;
    const components = fit.page.components.map((_, r) => r);
    const head = [fit.page.names.rows, ...components.map((r) => ({ kind: "number", content: r + 1 }))];
    const remove = (i) => ({ class: "link", dir: "auto", title: "Remove", onclick: () => this.chooseRow(i) });
    const lines = this.rows.map((i) => [
      button(remove(i), cut(fit.page.rows.labels[i], 40)),
      ...components.map((r) => ({ kind: "number", content: written(fit.loading(r, i), 1) })),
    ]);
    fillTable(byId("row-table"), lines.length ? head : [], lines);
    const left = fit.I < fit.page.rows.of ? ` The page has ${fit.I} of ${fit.page.rows.of}.` : "";
    write("row-hint", (lines.length ? "The loadings of a component have length 1."
      : "Choose rows by their bars or by searching.") + left);
  }

  // --- drawing: once for a time -----------------------------------------------------------------------------

  showTime() {
    const { fit, component, time } = this;
    const now = cut(fit.times[time], 40);
    const known = fit.known(component, time);
    byId("time").value = time;
    byId("time").setAttribute("aria-valuetext", now);
    write("now", now);
    write("bars-head", `Largest ${fit.page.names.columns} at ${now}, component ${component + 1}`);
    byId("doubt").hidden = known;
    write("doubt", known ? ""
      : `The data do not determine the pattern of component ${component + 1} at ${now}: `
      + `${fit.why(component, time)}. What is shown comes from the model, not from the data.`);
    this.showBars();
    this.showLegends();
    this.courseChart.moveCursor(time);
    this.strengthChart.moveCursor(time);
  }

  showBars() {
    const { fit, time } = this;
    const sizes = new Float64Array(fit.J);
    let hidden = 0;
    for (let j = 0; j < fit.J; j++) {
      if (!this.alsoUnseen && !fit.seen(j, time)) hidden += 1;
      else sizes[j] = this.order === "ever" ? this.survey.reach[j] : Math.abs(this.value(j, time)) || 0;
    }
    const order = largestOf(sizes);
    const entries = this.ranked(order, TOP_COLUMNS, this.chosen, (j) => ({
      name: fit.page.columns.labels[j],
      value: this.value(j, time),
      text: this.text(this.value(j, time)),
      pressed: this.slots.has(j),
      slot: this.slots.get(j),
      faint: !fit.sure(this.component, j, time),
      band: this.band(j, time),
    }));
    this.columnBars.show(entries, this.survey.low, this.survey.high);
    this.showBarsHint(Math.min(TOP_COLUMNS, order.length), hidden);
  }

  showBarsHint(count, hidden) {
    const { J, page } = this.fit;
    write("bars-hint", [
      count ? `The first ${count} of ${page.columns.of}.` : "Nothing to show.",
      J < page.columns.of ? `The page has the ${J} with the largest weights; the saved model has all.` : "",
      hidden ? `${hidden} not observed then are left out.` : "",
    ].join(" "));
  }

  showLegends() {
    const { fit, time } = this;
    refill(byId("strengths-legend"), ...fit.page.components.map((_, r) => colour(button({
      class: r >= COLOURS ? "chip dashed" : "chip",
      "aria-pressed": r === this.component,
      onclick: () => this.change({ component: r }),
    }, `component ${r + 1}`, number(written(fit.strength(r, time), this.strongest))), r)));
    const doubts = fit.page.known.flat().some(Boolean) ? " Dotted: the data do not determine the pattern." : "";
    write("strengths-hint", `Numbers at ${cut(fit.times[time], 40)}.${doubts}`);
    const chips = this.chosen.map((j) => colour(button({
      class: "chip",
      title: "Remove",
      onclick: () => this.chooseColumn(j),
    }, label(fit.page.columns.labels[j]), number(this.text(this.value(j, time))), "\u00d7"), this.slots.get(j)));
    const reset = button({ class: "plain", onclick: () => this.change({ columns: null }) }, "Reset");
    refill(byId("courses-legend"), ...chips, ...(this.columns ? [reset] : []));
  }

  // --- search -----------------------------------------------------------------------------------------------

  setUpSearch() {
    const { page } = this.fit;
    write("search-label", `Find ${page.names.columns} or ${page.names.rows}`);
    this.index = { columns: page.columns.labels.map(plain), rows: page.rows.labels.map(plain) };
    byId("search").addEventListener("input", () => this.showResults());
  }

  showResults() {
    const sought = plain(byId("search").value.trim());
    const found = sought ? ["columns", "rows"].flatMap((kind) => this.found(kind, sought)) : [];
    found.sort((a, b) => (a.at > 0) - (b.at > 0));  // first what begins with it
    const more = found.length > MOST_FOUND ? `, the first ${MOST_FOUND} shown` : "";
    write("found", !sought ? "" : found.length ? `${found.length} found${more}.` : "Nothing found.");
    refill(byId("results"), ...found.slice(0, MOST_FOUND).map((one) =>
      (one.kind === "columns" ? this.columnFound(one.place) : this.rowFound(one.place))));
  }

  found(kind, sought) {
    return this.index[kind].map((text, place) => ({ kind, place, at: text.indexOf(sought) }))
      .filter((one) => one.at >= 0);
  }

  columnFound(j) {
    const { columns, names } = this.fit.page;
    const most = this.text(this.survey.reach[j]);
    const about = `${names.columns}, at most ${most} in component ${this.component + 1}`;
    return this.result(columns.labels[j], about, this.slots.has(j), () => this.chooseColumn(j));
  }

  rowFound(i) {
    const { rows, names } = this.fit.page;
    const loading = written(this.fit.loading(this.component, i), 1);
    const about = `${names.rows}, loading ${loading} on component ${this.component + 1}`;
    return this.result(rows.labels[i], about, this.rows.includes(i), () => this.chooseRow(i));
  }

  result(name, about, pressed, onclick) {
    const note = make("span", { class: "kind", dir: "auto" }, about);
    return make("li", {}, button({ "aria-pressed": pressed, onclick }, label(name), note));
  }
}
