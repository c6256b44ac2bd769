// Bars that keep their element while they change place, so that the eye can follow.

// Entries are { place, rank, name, value, text, pressed, slot, faint, apart, band }.
class BarList {
  constructor(list, onChoose) {
    this.list = list;
    this.onChoose = onChoose;
    this.items = new Map();
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
  }

  show(entries, low, high) {
    const before = new Map([...this.items].map(([place, item]) => [place, item.offsetTop]));
    const focused = document.activeElement;
    this.items = new Map(entries.map((one) => [one.place, this.items.get(one.place) || this.item(one)]));
    this.list.replaceChildren(...this.items.values());
    if (this.list.contains(focused)) focused.focus({ preventScroll: true });
    for (const one of entries) this.update(this.items.get(one.place), one, low, high);
    if (!this.calm.matches) this.glide(before);
  }

  glide(before) {
    for (const [place, item] of this.items) {
      const way = before.get(place) - item.offsetTop;
      const path = [{ transform: `translateY(${way}px)` }, { transform: "none" }];
      if (way) item.animate(path, { duration: 220, easing: "ease-out" });
    }
  }

  item({ place, name }) {
    const part = (kind, ...children) => make("span", { class: kind }, ...children);
    const track = part("track", part("axis"), part("fill"), part("whisker"));
    const choose = { onclick: () => this.onChoose(place) };
    return make("li", {}, button(choose, part("rank"), label(name), track, part("number")));
  }

  whisker(line, band, low, high, share) {
    line.hidden = !band;
    if (!band) return;
    const [from, to] = band.map((end) => Math.min(high, Math.max(low, end)));
    line.style.left = share(from - low);
    line.style.width = share(to - from);
  }

  update(item, one, low, high) {
    const part = (name) => item.querySelector(`.${name}`);
    const share = (size) => `${((100 * size) / (high - low || 1)).toFixed(2)}%`;
    // What the data do not determine may lie beyond the range of what they do.
    const value = Math.min(high, Math.max(low, one.value || 0));
    part("rank").textContent = one.rank;
    part("number").textContent = one.text;
    part("axis").style.left = share(-low);
    part("fill").style.left = share(Math.min(value, 0) - low);
    part("fill").style.width = share(Math.abs(value));
    this.whisker(part("whisker"), one.band, low, high, share);
    item.firstChild.setAttribute("aria-pressed", String(one.pressed));
    item.classList.toggle("faint", Boolean(one.faint));
    item.classList.toggle("apart", Boolean(one.apart));
    if (one.slot === undefined) item.style.removeProperty("--series");
    else colour(item, one.slot);
  }
}
