// Components of candidates side by side, and ribbons between those that are alike.

const FLOW = {
  narrowest: 118,  // a box with a few words
  widest: 340,
  between: 0.6,    // room between candidates, as a part of a box
  head: 44,        // above the boxes
  smallest: 40,    // height of a component without strength
  apart: 10,
  thickest: 18,    // ribbon of two components that are the same
  letter: 6.7,     // widths of letters, about
  bold: 7.2,
  line: 14,
};

// Words of a text in lines of so many letters, as many as have room; the last says that there is more.
function inLines(text, letters, most) {
  const lines = [];
  for (const word of text.split(" ")) {
    const last = lines.length - 1;
    if (last >= 0 && lines[last].length + 1 + word.length <= letters) lines[last] += ` ${word}`;
    else if (lines.length < most) lines.push(cut(word, letters));
    else {
      lines[last] = cut(`${lines[last]} ${word}`, letters);
      break;
    }
  }
  return lines;
}

class Flow {
  constructor(box, page, onPick) {
    this.box = box;
    this.page = page;
    this.onPick = onPick;
    this.chosen = null;
    new ResizeObserver(() => {
      if (box.clientWidth !== this.room) this.show();
    }).observe(box);
  }

  show() {
    const { candidates } = this.page;
    const held = this.box.contains(document.activeElement) ? this.chosen : null;
    this.room = this.box.clientWidth;
    const parts = candidates.length + FLOW.between * (candidates.length - 1);
    this.wide = Math.min(Math.max(FLOW.narrowest, this.room / parts), FLOW.widest);
    this.step = this.wide * (1 + FLOW.between);
    this.span = Math.max(120, ...candidates.map((one) => 30 * one.components.length));
    this.tall = FLOW.head + Math.max(...candidates.map((one) => this.height(one))) + 4;
    this.nodes = candidates.map((one, n) => this.placed(one, n));
    this.ties = this.page.between.flatMap((_, n) => this.tied(n));
    const width = Math.ceil(this.wide + this.step * (candidates.length - 1)) + 4;
    const about = "Components of every model, and which of them are alike; the tables below say the same.";
    const svg = draw("svg", { viewBox: `-2 0 ${width} ${this.tall}`, height: this.tall, role: "group", "aria-label": about },
      ...this.ties.map((one) => one.ribbon), ...this.ties.flatMap((one) => one.number),
      ...candidates.flatMap((one, n) => [this.head(one, n), ...this.nodes[n].map((node) => node.group)]));
    svg.style.width = `${width}px`;
    this.box.replaceChildren(svg);
    this.mark();
    if (held) this.nodes[held[0]][held[1]].group.focus({ preventScroll: true });
  }

  height({ components }) {
    return components.length * (FLOW.smallest + FLOW.apart) - FLOW.apart + this.span;
  }

  head({ short, measures }, n) {
    const letters = Math.floor(this.wide / 7.4);
    const x = n * this.step;
    const explains = measures.explained_variance;
    return draw("g", {},
      draw("text", { x, y: 14, class: "head" }, draw("title", {}, short), cut(short, letters)),
      draw("text", { x, y: 30 }, typeof explains === "number" ? `explains ${(100 * explains).toFixed(1)} %` : ""));
  }

  // Boxes from top to bottom, in the order of their relatives; smaller models stand in the middle.
  placed(candidate, n) {
    const { components } = candidate;
    let y = FLOW.head + (this.tall - FLOW.head - 4 - this.height(candidate)) / 2;
    const nodes = [];
    const order = components.map((_, r) => r).sort((a, b) => components[a].place - components[b].place);
    for (const r of order) {
      const height = FLOW.smallest + this.span * components[r].share;
      nodes[r] = { x: n * this.step, y, height, group: this.node(candidate, n, r, y, height) };
      y += height + FLOW.apart;
    }
    return nodes;
  }

  node(candidate, n, r, y, height) {
    const one = candidate.components[r];
    const x = n * this.step;
    const letters = Math.floor((this.wide - 18) / FLOW.letter);
    const lines = inLines(wordsOf(one), letters, Math.max(1, Math.floor((height - 24) / FLOW.line)));
    const bold = Math.floor((this.wide - 16) / FLOW.bold);
    const plain = bold < 18 ? `${r + 1}` : `Component ${r + 1}`;
    const share = percents(one.share);
    const heading = `${cut(one.name || plain, Math.max(3, bold - share.length - 2))}, ${share}`;
    const title = `${calledOf(candidate, r)}, ${share}`;
    const told = `${candidate.short}: ${title}${one.verdict ? `, ${one.verdict}` : ""}: ${wordsOf(one)}`;
    const pick = () => this.pick(n, r);
    const group = draw("g", { class: one.verdict === "not there" ? "node doubtful" : "node", tabindex: 0, role: "button",
      "aria-label": told, "aria-pressed": false, onclick: pick },
      draw("title", {}, told),
      draw("rect", { x, y, width: this.wide, height, rx: 3 }),
      draw("rect", { x, y, width: 5, height, class: "edge" }),
      draw("text", { x: x + 12, y: y + 16, class: "title" }, heading),
      ...lines.map((line, k) => draw("text", { x: x + 12, y: y + 31 + FLOW.line * k }, line)));
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pick();
    });
    return colour(group, toneOfLine(one.line));
  }

  // Ribbons between two neighbours; those of one box lie side by side at its edge.
  tied(n) {
    const { links } = this.page.between[n];
    const ends = links.map(() => ({}));
    const sides = [["one", "other", this.nodes[n], this.nodes[n + 1]], ["other", "one", this.nodes[n + 1], this.nodes[n]]];
    for (const [own, theirs, nodes, beside] of sides) {
      nodes.forEach((node, place) => {
        const mine = links.map((_, k) => k).filter((k) => links[k][own] === place)
          .sort((a, b) => beside[links[a][theirs]].y - beside[links[b][theirs]].y);
        const total = mine.reduce((sum, k) => sum + FLOW.thickest * links[k].likeness, 0);
        const squeezed = Math.min(1, (node.height - 4) / total);
        let y = node.y + (node.height - total * squeezed) / 2;
        for (const k of mine) {
          const thick = FLOW.thickest * links[k].likeness * squeezed;
          ends[k][own] = y + thick / 2;
          ends[k].thick = Math.min(thick, ends[k].thick ?? thick);
          y += thick;
        }
      });
    }
    return links.map((link, k) => this.tie(n, link, ends[k]));
  }

  tie(n, link, ends) {
    const from = n * this.step + this.wide, to = (n + 1) * this.step, middle = (from + to) / 2;
    const d = `M${from},${ends.one.toFixed(1)}C${middle},${ends.one.toFixed(1)} ${middle},${ends.other.toFixed(1)} ${to},${ends.other.toFixed(1)}`;
    const like = link.likeness.toFixed(2);
    const ribbon = colour(draw("path", { d, class: link.matched ? "tie" : "tie also", "stroke-width": ends.thick.toFixed(1) },
      draw("title", {}, `likeness ${like}`)), toneOfLine(this.page.candidates[n].components[link.one].line));
    const height = (ends.one + ends.other) / 2;
    const number = link.matched ? [draw("text", { x: middle, y: height + 4, class: "like" }, like)] : [];
    return { n, link, ribbon, number };
  }

  pick(n, r) {
    this.chosen = [n, r];
    this.mark();
    this.onPick(n, r);
  }

  // What is chosen, and the ribbons of its line.
  mark() {
    this.box.classList.toggle("pale", this.chosen !== null);
    if (this.chosen === null) return;
    const [at, place] = this.chosen;
    this.nodes.forEach((nodes, n) => nodes.forEach(({ group }, r) => {
      group.setAttribute("aria-pressed", String(n === at && r === place));
    }));
    const { line } = this.page.candidates[at].components[place];
    for (const { n, link, ribbon } of this.ties) {
      const ends = [[n, link.one], [n + 1, link.other]];
      const touches = ends.some(([m, r]) => m === at && r === place);
      const along = link.matched && ends.every(([m, r]) => this.page.candidates[m].components[r].line === line);
      ribbon.classList.toggle("near", touches || along);
    }
  }
}

function calledOf(candidate, r) {
  return candidate.components[r].name || `component ${r + 1}`;
}

// Colours mean lines of components; beyond the last colour they are grey.
function toneOfLine(line) {
  return line < COLOURS ? line : "quiet";
}

// Words that say what a component is: what sets it apart at its stations in turn, each once.
function wordsOf(one) {
  const most = Math.max(0, ...one.stations.map((at) => at.columns.length));
  const marks = Array.from({ length: most }, (_, n) => one.stations.flatMap((at) => at.columns.slice(n, n + 1))).flat();
  const once = new Map(marks.map((mark) => [`${Math.sign(mark.weight)} ${mark.label}`, mark]));
  return toldMarks([...once.values()]);
}

function percents(share) {
  return `${(100 * share).toFixed(share >= 0.1 ? 0 : 1)} %`;
}
