// The explorer: one component, one time, and the columns and rows that somebody chose.

const DWARFS = 3;  // times as strong
const RANKINGS = { apart: "Most telling", now: "Largest", ever: "Ever largest" };
const SCALES = {
  absolute: "in the units of the data",
  share: "as shares of the strengths of all components at that time",
  own: "each by its own largest, so that weak ones can be seen",
};

class Explorer {
  constructor(fit) {
    this.fit = fit;
    this.measure = "weight";
    this.order = fit.R > 1 ? "apart" : "now";
    this.scale = this.usualScale();
    this.alsoUnseen = false;
    this.columns = null;  // nobody chose any yet
    this.kept = null;
    this.rows = [];
    this.against = null;
    this.colour = Object.keys(fit.page.rows.attributes)[0] || "";
    this.group = "";
    this.course = null;
    this.part = "all";
    this.timer = null;
    this.strongest = Math.max(...fit.page.strengths.flat().map(Math.abs));
    this.open();
    this.usual = this.view();
    const first = { component: this.component, time: this.time, columns: null, kept: null, rows: [], measure: this.measure,
      order: this.order, scale: this.scale, alsoUnseen: false, against: null, colour: this.colour, group: "", course: null,
      part: "all" };
    this.address = new Address(fit, (view) => this.change({ ...first, ...view }));
    this.courseChart = new LineChart(byId("courses"));
    this.strengthChart = new LineChart(byId("strengths"));
    this.columnBars = new BarList(byId("bars"), (j) => this.chooseColumn(j));
    this.multiples = new Multiples(this);
    this.stream = new Stream(this);
    this.movers = new Movers(this);
    this.groups = new Groups(this);
    this.rowPart = new Rows(this);
    this.rowMap = new RowMap(this);
    this.entries = new EntriesPart(this);
    this.search = new Search(this);
    this.cards = new Cards(this);
    this.setUpControls();
    Object.assign(this, this.address.read());
    this.showComponent();
    this.setUpDownloads();
  }

  setUpDownloads() {
    const { fit } = this;
    offerLines("strengths", "strengths", this.strengthChart);
    offerLines("courses", "courses", this.courseChart);
    offer(byId("bars"), "pattern", { lines: () => this.patternLines() });
    offer(byId("row-bars"), "loadings", { lines: () => [
      [fit.page.names.rows, ...fit.names.map((_, r) => fit.heading(r))],
      ...fit.page.rows.labels.map((name, i) => [name, ...fit.names.map((_, r) => fit.loading(r, i))]),
    ] });
    offerTable("risers", "rises");
    offerTable("fallers", "falls");
  }

  // The whole pattern at this time, in the order of the bars.
  patternLines() {
    const { fit, component, time } = this;
    const head = [fit.page.names.columns, fit.page.names.time, "component", this.measure, "sets apart", "observed"];
    const ranks = fit.page.columns.labels.map((_, j) => this.rankOf(j));
    const order = ranks.map((_, j) => j).sort((a, b) => ranks[b] - ranks[a]);
    return [head, ...order.map((j) => [fit.page.columns.labels[j], fit.times[time], fit.heading(component),
      this.value(j, time), fit.apart(component, j, time), fit.seen(j, time) ? "yes" : "no"])];
  }

  // At the steepest part of what changes most; where nothing does, at the first component that there is.
  open() {
    const { fit } = this;
    const { opening, components } = fit.page;
    const alive = Math.max(0, components.findIndex((one) => one.state !== "vanished"));
    this.component = opening ? opening.component : alive;
    const move = opening ? moveOf(fit, "weight", opening.component, opening.column) : null;
    this.time = move ? move.steep.end : 0;
  }

  // A component that dwarfs the others would flatten their courses.
  usualScale() {
    const peaks = this.fit.names.map((_, r) => this.fit.peak(r)).filter((peak) => peak > 0);
    return Math.max(...peaks) > DWARFS * Math.min(...peaks) ? "own" : "absolute";
  }

  // What the address says: everything that is not as it was at first.
  view() {
    const { component, time, measure, order, scale } = this;
    const more = { unseen: this.alsoUnseen ? "yes" : "", columns: this.columns, rows: this.rows, times: this.kept };
    const { against, colour, group, course, part } = this;
    return { component, time, measure, order, scale, against, colour, group, course, part, ...more };
  }

  remember() {
    const changed = Object.entries(this.view()).filter(([name, value]) =>
      JSON.stringify(value) !== JSON.stringify(this.usual[name]));
    this.address.write(Object.fromEntries(changed));
  }

  // --- controls ---------------------------------------------------------------------------------------------

  setUpControls() {
    const { page, R, K } = this.fit;
    for (let r = 0; r < R; r++) {
      const input = make("input", { type: "radio", name: "component" });
      input.addEventListener("change", () => this.change({ component: r }));
      byId("components").append(make("label", {}, input, make("span", { dir: "auto" })));
    }
    byId("time").max = K - 1;
    byId("time").addEventListener("input", (event) => this.goTo(Number(event.target.value)));
    byId("play").addEventListener("click", () => (this.timer === null ? this.play() : this.pause()));
    byId("play").disabled = K < 2;
    byId("measure").addEventListener("change", (event) => this.change({ measure: event.target.value }));
    byId("order").addEventListener("change", (event) => this.change({ order: event.target.value }));
    byId("order").querySelector("[value=apart]").hidden = R < 2;
    byId("scale").addEventListener("change", (event) => this.change({ scale: event.target.value }));
    byId("scale-option").hidden = R < 2;
    byId("unseen").addEventListener("change", (event) => this.change({ alsoUnseen: event.target.checked }));
    byId("unseen-option").hidden = this.fit.unseen === null;
    write("time-name", page.names.time);
    byId("time").setAttribute("aria-label", page.names.time);
  }

  change(part) {
    Object.assign(this, part);
    this.showComponent();
    this.remember();
  }

  // A name of the reader's own; an empty one takes it away.
  rename(r, name) {
    this.fit.names[r] = name.trim().slice(0, LONGEST_NAME);
    this.change({});
  }

  goTo(k) {
    this.pause();
    this.time = k;
    this.showTime();
    this.remember();
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
    if (this.timer !== null) this.remember();
    this.timer = null;
    this.showPlaying();
  }

  showPlaying() {
    write("play", this.timer === null ? "Play" : "Pause");
  }

  // --- what was chosen --------------------------------------------------------------------------------------

  chooseColumn(j) {
    this.change({ columns: this.toggled(this.chosen, j), course: null });
  }

  chooseRow(i) {
    this.change({ rows: this.toggled(this.rows, i) });
  }

  toggled(chosen, place) {
    return chosen.includes(place) ? chosen.filter((one) => one !== place) : [...chosen, place].slice(-COLOURS);
  }

  // Chosen last, whether it was there or not.
  with(chosen, place) {
    return [...chosen.filter((one) => one !== place), place].slice(-COLOURS);
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
    const which = this.fit.called(this.component);
    this.survey = surveyOf(this.fit, this.measure, this.component);
    this.chosen = this.columns || this.usualColumns();
    this.slots = new Map(this.chosen.map((j, slot) => [j, slot]));
    this.showControls();
    write("courses-head", `Courses over ${names.time}, ${which}`);
    write("movers-head", `What rises and what falls in ${which}`);
    this.cards.show();
    this.showStrengths();
    this.showCourses();
    this.multiples.show();
    this.stream.show();
    this.groups.sort();
    this.groups.show();
    this.movers.show();
    this.rowPart.show();
    this.rowMap.show();
    this.entries.show();
    this.search.show();
    this.showTime();
  }

  // Until somebody chooses, the courses are those of the columns that move most, then of those that reach highest;
  // not so many beside those of the stream that there would be no colour for each.
  usualColumns() {
    const { rises, falls, reach } = this.survey;
    const moves = [...rises, ...falls].sort((a, b) => b.size - a.size).map((one) => one.column);
    const { columns } = this.stream.made();
    let free = COLOURS - columns.length;
    return [...new Set([...moves, ...largestOf(reach)])]
      .filter((j) => columns.includes(j) || free-- > 0).slice(0, FIRST_COURSES);
  }

  showControls() {
    byId("components").querySelectorAll("label").forEach((box, r) => {
      box.querySelector("input").checked = r === this.component;
      box.querySelector("input").setAttribute("aria-label", this.fit.heading(r));
      box.querySelector("span").textContent = this.fit.names[r] ? cut(this.fit.names[r], 24) : r + 1;
    });
    for (const name of ["measure", "order", "scale"]) byId(name).value = this[name];
    byId("unseen").checked = this.alsoUnseen;
  }

  showTimeChart(chart, series, about, more) {
    const { labels, moments, period } = this.fit.page.times;
    chart.show({ series, about, xs: moments, labels, period, at: this.time, onPick: (k) => this.goTo(k), ...more });
  }

  showStrengths() {
    const { fit } = this;
    const absolute = this.scale === "absolute";
    const own = (r) => r === this.component;
    const series = fit.names.map((_, r) => ({
      name: fit.names[r] || String(r + 1),
      values: fit.times.map((_, k) => fit.scaled(this.scale, r, k)),
      slot: own(r) ? "ink" : "quiet",
      thin: !own(r),
      faint: (k) => !fit.known(r, k),
      band: absolute ? fit.times.map((_, k) => fit.strengthBand(r, k)) : [],
    }));
    const about = `Strengths of all components over time, ${SCALES[this.scale]}.`;
    this.showTimeChart(this.strengthChart, series, about, { height: 240 });
  }

  showCourses() {
    const { fit, component } = this;
    const { chosen } = this;
    const series = chosen.map((j) => ({
      name: fit.page.columns.labels[j],
      steep: (moveOf(fit, this.measure, component, j) || {}).steep,
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
      this.columns ? "" : "These change much; choose others by their bars or by searching.",
      CHANGES_HINT.replace("below the axis", "below the axis, and wide lines"),
      this.timeHint(),
      bands.length ? "Hatched: the data do not determine the pattern." : "",
      fit.unseen ? "Dotted: not observed then." : "",
      this.bandsHint(),
    ].join(" "));
  }

  // What the axis of time shows beside the times.
  timeHint() {
    const { moments, period } = this.fit.page.times;
    const gaps = moments.slice(1).map((moment, k) => moment - moments[k]);
    const uneven = Math.max(...gaps) > LONG_GAP * Math.min(...gaps);
    return [
      longGaps(moments).length ? "Shaded: longer gaps between times." : uneven ? "Times are unevenly apart: strokes on the axis." : "",
      period ? `Time goes round: after ${Number(period.toPrecision(6))} it begins again.` : "",
    ].join(" ").trim();
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

  // --- drawing: once for a time -----------------------------------------------------------------------------

  showTime() {
    const { fit, component, time } = this;
    const now = cut(fit.times[time], 40);
    const known = fit.known(component, time);
    byId("time").value = time;
    byId("time").setAttribute("aria-valuetext", now);
    write("now", now);
    write("bars-head", `${RANKINGS[this.order]} ${fit.page.names.columns} at ${now}, ${fit.called(component)}`);
    byId("doubt").hidden = known;
    write("doubt", known ? ""
      : `The data do not determine the pattern of ${fit.called(component)} at ${now}: `
      + `${fit.why(component, time)}. What is shown comes from the model, not from the data.`);
    this.showBars();
    this.showLegends();
    this.stream.showTime();
    this.courseChart.moveCursor(time);
    this.strengthChart.moveCursor(time);
    for (const part of [this.entries, this.groups]) if (part.chart) part.chart.moveCursor(time);
  }

  showBars() {
    const { fit, time } = this;
    const sizes = new Float64Array(fit.J);
    let hidden = 0;
    for (let j = 0; j < fit.J; j++) {
      if (!this.alsoUnseen && !fit.seen(j, time)) hidden += 1;
      else sizes[j] = this.rankOf(j);
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

  rankOf(j) {
    if (this.order === "ever") return this.survey.reach[j];
    return this.order === "apart" ? this.fit.apart(this.component, j, this.time) : Math.abs(this.value(j, this.time)) || 0;
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
    const most = this.scale === "absolute" ? this.strongest : 1;
    refill(byId("strengths-legend"), ...fit.names.map((_, r) => colour(button({
      class: "chip",
      "aria-pressed": r === this.component,
      onclick: () => this.change({ component: r }),
    }, label(fit.heading(r)), number(written(fit.scaled(this.scale, r, time), most))),
    r === this.component ? "ink" : "quiet")));
    const doubts = fit.page.known.flat().some(Boolean) ? " Dotted: the data do not determine the pattern." : "";
    write("strengths-hint", `Numbers at ${cut(fit.times[time], 40)}, ${SCALES[this.scale]}.${doubts} ${this.timeHint()}`);
    const chips = this.chosen.map((j) => colour(button({
      class: "chip",
      title: "Remove",
      onclick: () => this.chooseColumn(j),
    }, label(fit.page.columns.labels[j]), number(this.text(this.value(j, time))), "\u00d7"), this.slots.get(j)));
    const reset = button({ class: "plain", onclick: () => this.change({ columns: null }) }, "Reset");
    refill(byId("courses-legend"), ...chips, ...(this.columns ? [reset] : []));
  }
}
