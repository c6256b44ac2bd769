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
        ...(one.verdict ? [badge(TONES[one.verdict], one.verdict)] : [])),
      make("p", { class: "text", dir: "auto" }, one.text));
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
