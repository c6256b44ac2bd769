// What there is to say of each component, on a card; the reader may give it a name.

const TONES = { replicable: "good", there: "plain", "not there": "warning" };

class Cards {
  constructor(explorer) {
    this.explorer = explorer;
    this.editing = null;
  }

  show() {
    const { fit } = this.explorer;
    refill(byId("cards"), ...fit.page.components.map((one, r) => this.card(one, r)));
  }

  card(one, r) {
    const { explorer } = this;
    const current = r === explorer.component ? "true" : "false";
    const badge = (tone, text) => make("span", { class: "badge", "data-tone": tone }, text);
    return make("li", { "aria-current": current },
      make("h4", {}, ...(this.editing === r ? [this.field(r)] : this.title(r)),
        make("span", { class: "share" }, `${Math.round(100 * one.share)} % of strength`),
        ...(one.state ? [badge("warning", one.state)] : []),
        ...(one.verdict ? [badge(TONES[one.verdict], one.verdict)] : []),
        this.spark(r)),
      make("dl", {}, ...this.story(one, r).flatMap(([name, text]) =>
        [make("dt", { dir: "auto" }, name), make("dd", { dir: "auto" }, text)])));
  }

  // What it is, what it was and became, when it was strong, and how sure that is.
  story(one, r) {
    const { page } = this.explorer.fit;
    const { names } = page;
    const groups = clearAssociations(page, r).map(associated).join("; ");
    const begun = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
    return [
      ...(one.state === "vanished" ? [] : [[names.rows, toldMarks(one.rows)]]),
      ...(groups ? [["groups", groups]] : []),
      ...one.stations.map((at) => [at.time ? cut(at.time, 16) : "always", toldMarks(at.columns)]),
      ...(one.sudden ? [["sudden", begun(one.sudden)]] : []),
      ["strength", begun(one.strong)],
      ...(one.sure.length ? [["trust", begun(one.sure.join("; "))]] : []),
    ];
  }

  // The course of its strengths, without numbers: those are in the chart.
  spark(r) {
    const { fit } = this.explorer;
    const { moments } = fit.page.times;
    const [first, last] = [Math.min(...moments), Math.max(...moments)];
    const x = (k) => (last > first ? (100 * (moments[k] - first)) / (last - first) : 50).toFixed(1);
    const points = fit.times.map((_, k) => [x(k), fit.scaled("own", r, k)]).filter((one) => Number.isFinite(one[1]));
    const low = Math.min(0, ...points.map((one) => one[1]));
    const line = points.map(([at, value]) => `${at},${(22 - (20 * (value - low)) / (1 - low)).toFixed(1)}`).join(" ");
    return draw("svg", { class: "spark", viewBox: "0 0 100 24", preserveAspectRatio: "none", "aria-hidden": true },
      draw("polyline", { points: line, "vector-effect": "non-scaling-stroke" }));
  }

  title(r) {
    const { explorer } = this;
    const show = () => {
      explorer.change({ component: r });
      byId("explore").scrollIntoView();
    };
    const name = explorer.fit.names[r];
    return [
      button({ class: "link", dir: "auto", onclick: show }, name ? `${r + 1}: ${name}` : explorer.fit.heading(r)),
      button({ class: "plain rename", "aria-label": `${name ? "Rename" : "Name"} ${explorer.fit.called(r)}`,
        onclick: () => this.edit(r) }, name ? "Rename" : "Name"),
    ];
  }

  edit(r) {
    this.editing = r;
    this.show();
    byId("name").focus();
    byId("name").select();
  }

  field(r) {
    const { explorer } = this;
    const input = make("input", { id: "name", type: "text", maxlength: LONGEST_NAME, dir: "auto",
      "aria-label": `Name of component ${r + 1}`, value: explorer.fit.names[r] });
    const done = (name) => {
      if (this.editing === null) return;
      this.editing = null;
      explorer.rename(r, name);
    };
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") done(input.value);
      if (event.key === "Escape") done(explorer.fit.names[r]);
    });
    input.addEventListener("blur", () => done(input.value));
    return input;
  }
}
