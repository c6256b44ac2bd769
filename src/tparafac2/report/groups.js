// Groups of rows by what else is known of them: their colours, which one is looked at, and their mean courses.

const QUARTERS = 4;
const MOST_TELLING = 8;   // columns offered because groups differ in them
const SAMPLED_TIMES = 12; // at which that is looked at
const ERRORS = 2;         // standard errors in a band

// By the values of an attribute, the most frequent first, or by the quarters of a number.
function groupsOf(values) {
  if (!values) return { names: [], of: [], rows: [] };
  const told = values.filter((value) => value !== null);
  const numeric = told.length > 0 && told.every((value) => typeof value === "number");
  const { names, of } = numeric && new Set(told).size >= COLOURS ? quarters(values, told) : kinds(values, told);
  const rows = names.map(() => []);
  of.forEach((slot, i) => { if (slot >= 0) rows[slot].push(i); });
  return { names, of, rows };
}

function quarters(values, told) {
  const sorted = [...told].sort((a, b) => a - b);
  const ends = Array.from({ length: QUARTERS }, (_, n) => sorted[Math.ceil(((n + 1) * sorted.length) / QUARTERS) - 1]);
  const names = ends.map((end, n) => `${n ? `above ${ends[n - 1]}` : `from ${sorted[0]}`} to ${end}`);
  return { names, of: values.map((value) => (value === null ? -1 : ends.findIndex((end) => value <= end))) };
}

function kinds(values, told) {
  const counts = new Map();
  for (const value of told) counts.set(value, (counts.get(value) || 0) + 1);
  const shown = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a)).slice(0, COLOURS);
  return { names: shown.map(String), of: values.map((value) => shown.indexOf(value)) };
}

// The mean loadings of some rows, and how these vary together.
function momentsOf(fit, rows) {
  const components = fit.names.map((_, r) => r);
  const loading = (r, i) => fit.loading(r, i) || 0;
  const means = components.map((r) => rows.reduce((sum, i) => sum + loading(r, i), 0) / rows.length);
  const together = (r, s) => rows.reduce((sum, i) => sum + (loading(r, i) - means[r]) * (loading(s, i) - means[s]), 0);
  const covariances = components.map((r) => components.map((s) => together(r, s) / (rows.length - 1)));
  return { means, covariances, count: rows.length };
}

class Groups {
  constructor(explorer) {
    this.explorer = explorer;
    this.attribute = null;
    const attributes = Object.keys(explorer.fit.page.rows.attributes);
    byId("groups").hidden = !attributes.length;
    if (byId("groups").hidden) return;
    byId("colour").append(...["", ...attributes].map((name) => make("option", { value: name }, cut(name, 40) || "nothing")));
    byId("colour").addEventListener("change", (event) => explorer.change({ colour: event.target.value, group: "" }));
    byId("course").addEventListener("change", (event) => explorer.change({ course: Number(event.target.value) }));
    byId("part").addEventListener("change", (event) => explorer.change({ part: event.target.value }));
    this.chart = new LineChart(byId("group-courses"));
    offerLines("group-courses", "group-courses", this.chart);
  }

  // Before anything is drawn in the colours of groups.
  sort() {
    const { fit, colour: attribute } = this.explorer;
    if (this.attribute === attribute) return;
    this.attribute = attribute;
    Object.assign(this, groupsOf(fit.page.rows.attributes[attribute]));
    this.moments = this.rows.map((rows) => momentsOf(fit, rows));
    this.telling = new Map();
  }

  slotOf(i) {
    return this.of[i] ?? -1;
  }

  // Is a row of the group that is looked at, or are all looked at?
  shows(i) {
    const only = this.names.indexOf(this.explorer.group);
    return only < 0 || this.slotOf(i) === only;
  }

  // What the colours mean, wherever there are some; a press looks at one group alone.
  legend(id) {
    const { explorer } = this;
    refill(byId(id), ...this.names.map((name, slot) => colour(button({
      class: "chip",
      "aria-pressed": explorer.group === name,
      onclick: () => explorer.change({ group: explorer.group === name ? "" : name }),
    }, label(name), number(this.rows[slot].length)), slot)));
  }

  show() {
    if (byId("groups").hidden) return;
    const { explorer } = this;
    const { fit, colour: attribute } = explorer;
    const told = this.names.length ? `: mean fitted course of ${this.columnName} by ${cut(attribute, 40)}` : "";
    write("groups-head", `Groups of ${fit.page.names.rows}${told}`);
    byId("colour").value = attribute;
    byId("part").value = explorer.part;
    for (const id of ["course-option", "part-option", "group-box"]) byId(id).hidden = !this.names.length;
    this.legend("group-legend");
    if (this.names.length) this.showCourses();
  }

  get components() {
    const { fit, part, component } = this.explorer;
    return part === "own" ? [component] : fit.names.map((_, r) => r);
  }

  // The column of the reader's choice, else that in which groups differ most.
  get column() {
    const { course, columns } = this.explorer;
    return course ?? (columns || []).at(-1) ?? this.differing()[0] ?? 0;
  }

  get columnName() {
    return cut(this.explorer.fit.page.columns.labels[this.column], 40);
  }

  // Columns by the variance between groups, at a few times.
  differing() {
    const { fit, part, component } = this.explorer;
    const key = part === "own" ? component : part;
    if (this.telling.has(key)) return this.telling.get(key);
    const ks = everySoMany(fit.K, SAMPLED_TIMES);
    const sizes = fit.page.columns.labels.map((_, j) => ks.reduce((sum, k) => sum + (fit.seen(j, k) ? this.variance(j, k) : 0), 0));
    this.telling.set(key, largestOf(sizes).slice(0, MOST_TELLING));
    return this.telling.get(key);
  }

  variance(j, k) {
    const parts = this.parts(j, k);
    const all = this.moments.reduce((sum, one) => sum + one.count, 0);
    const means = this.moments.map((one) => this.mean(one, parts));
    const middle = means.reduce((sum, mean, g) => sum + mean * this.moments[g].count, 0) / all;
    return means.reduce((sum, mean, g) => sum + (this.moments[g].count * (mean - middle) ** 2) / all, 0) || 0;
  }

  // What a loading of 1 on each component gives the column at a time.
  parts(j, k) {
    return this.components.map((r) => [r, this.explorer.fit.value("size", r, j, k)]);
  }

  mean({ means }, parts) {
    return parts.reduce((sum, [r, size]) => sum + means[r] * size, 0);
  }

  // The mean, and so many standard errors of it to both sides: rows of a group differ.
  band(moments, parts) {
    const { covariances, count } = moments;
    if (count < 2) return null;
    const variance = parts.reduce((sum, [r, a]) => sum + parts.reduce((more, [s, b]) => more + a * b * covariances[r][s], 0), 0);
    const error = ERRORS * Math.sqrt(Math.max(0, variance) / count);
    const middle = this.mean(moments, parts);
    return Number.isFinite(middle + error) ? [middle - error, middle + error] : null;
  }

  showCourses() {
    const { explorer, column } = this;
    const { fit, group, part, component } = explorer;
    this.offerColumns(column);
    const parts = fit.times.map((_, k) => this.parts(column, k));
    const seen = (k) => (part === "own" ? fit.sure(component, column, k) : fit.seen(column, k));
    const series = this.names.map((name, slot) => ({
      name: `${cut(name, 12)} (${this.rows[slot].length})`,
      values: parts.map((one) => this.mean(this.moments[slot], one)),
      band: parts.map((one) => this.band(this.moments[slot], one)),
      slot,
      thin: Boolean(group) && group !== name,
      faint: (k) => !seen(k),
    }));
    explorer.showTimeChart(this.chart, series, `Mean fitted courses of ${this.columnName} by group.`, { height: 260 });
    this.showHint();
  }

  showHint() {
    const { fit, part, component } = this.explorer;
    const whole = `what the model makes of ${this.columnName}, on average over the rows of a group`;
    write("group-hint", [
      part === "own" ? `The part that ${fit.called(component)} has in ${whole}: mean loading times strength times weight.`
        : `All components together: ${whole}, in the units that were fitted.`,
      `Shaded: ${ERRORS} standard errors of that mean, by how much the rows of a group differ; `
        + "how sure the fit is, is not in it.",
      this.of.some((slot) => slot < 0) ? `Without those of no group${this.names.length === COLOURS ? " or of a smaller one" : ""}.` : "",
      fit.I < fit.page.rows.of ? `Of the ${fit.I} rows that the page has.` : "",
    ].join(" "));
  }

  offerColumns(column) {
    const { labels } = this.explorer.fit.page.columns;
    const telling = this.differing();
    const others = [...new Set([...this.explorer.chosen, column])].filter((j) => !telling.includes(j));
    const options = (places) => places.map((j) => make("option", { value: j }, cut(labels[j], 40)));
    byId("course").replaceChildren(
      make("optgroup", { label: "groups differ most" }, ...options(telling)),
      make("optgroup", { label: "chosen" }, ...options(others)),
    );
    byId("course").value = column;
  }
}
