// What is shown, written into the address of the page, so that a view can be sent.

const LONGEST_NAME = 60;

// A view is read leniently: addresses are typed, cut and sent by people.
class Address {
  constructor(fit, restore) {
    this.fit = fit;
    addEventListener("hashchange", () => restore(this.read()));
  }

  read() {
    const { R, K, J, I } = this.fit;
    const told = new URLSearchParams(location.hash.slice(1));
    const place = (name, most) => this.places(told.get(name), most)[0];
    const list = (name, most) => (told.has(name) ? this.places(told.get(name), most) : undefined);
    const one = (name, known) => (known.includes(told.get(name)) ? told.get(name) : undefined);
    const view = {
      component: place("component", R),
      time: place("time", K),
      against: place("against", R),
      course: place("course", J),
      part: one("part", ["all", "own"]),
      measure: one("measure", ["weight", "size"]),
      order: one("order", ["apart", "now", "ever"]),
      scale: one("scale", ["absolute", "share", "own"]),
      alsoUnseen: told.has("unseen") || undefined,
      columns: list("columns", J),
      rows: list("rows", I),
      kept: list("times", K),
      colour: one("colour", ["", ...Object.keys(this.fit.page.rows.attributes)]),
      group: told.get("group") ?? undefined,
    };
    for (let r = 0; r < R; r++) {
      const name = told.get(`name${r + 1}`);
      if (name !== null) this.fit.names[r] = name.slice(0, LONGEST_NAME);
    }
    return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== undefined));
  }

  // Places are counted from 1, as people do.
  places(text, most) {
    const numbers = (text || "").split(".").map(Number).filter((n) => Number.isInteger(n) && n >= 1 && n <= most);
    return [...new Set(numbers)].slice(0, COLOURS).map((n) => n - 1);
  }

  write(view) {
    const told = new URLSearchParams();
    const list = (places) => places.map((place) => place + 1).join(".");
    for (const [name, value] of Object.entries(view)) {
      if (Array.isArray(value)) told.set(name, list(value));
      else if (typeof value === "number") told.set(name, value + 1);
      else if (value !== null) told.set(name, value);
    }
    this.fit.names.forEach((name, r) => {
      if (name !== (this.fit.page.components[r].name || "")) told.set(`name${r + 1}`, name);
    });
    try {
      history.replaceState(null, "", `#${told}`);
    } catch {
      // A page inside another one may have no address of its own.
    }
  }
}
