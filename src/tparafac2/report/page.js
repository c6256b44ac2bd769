// The page: what is written once, and the start of everything.

const FACTORS = { A: "loadings", B: "patterns", C: "strengths" };

function showOverview(page) {
  write("title", page.title);
  write("subtitle", page.subtitle);
  const fact = ({ tone, figure, text }) => [make("dt", { "data-tone": tone }, figure), make("dd", {}, text)];
  // The first fact is about all of it.
  const [first, ...others] = page.facts;
  byId("verdict").append(make("b", { "data-tone": first.tone }, first.figure), ` ${first.text}`);
  byId("facts").append(...others.map((one) => make("div", {}, ...fact(one))));
  const done = ([name, text]) => [make("dt", { dir: "auto" }, name), make("dd", { dir: "auto" }, text)];
  byId("about").append(...page.about.flatMap(done));
  write("colophon", `Written by tparafac2 ${page.version}. Loadings and patterns have length 1, all size is in `
    + `the strengths. Weights are rounded to 1/${page.steps} of the largest weight of their column in its component. `
    + "The page needs no network and is not allowed any.");
}

function showDiagnostics(page) {
  const { iteration, objective, ...gaps } = page.trace;
  showTrace(byId("objective"), iteration, objective ? [objective] : [], "Objective above its lowest value", ["objective"]);
  showTrace(byId("gaps"), iteration, Object.values(gaps), "Feasibility gaps", Object.keys(gaps).map((mode) => FACTORS[mode]));
  byId("gaps-legend").append(...Object.keys(gaps).map((mode, slot) =>
    colour(make("span", { class: "chip" }, FACTORS[mode]), slot)));
  const size = (gap) => (gap === null ? "unknown" : gap ? gap.toExponential(0) : "0");
  const ends = Object.entries(page.gaps).map(([mode, gap]) => `${FACTORS[mode] || mode} ${size(gap)}`);
  write("gaps-hint", "How far the factors were from their constraints."
    + (ends.length ? ` At the end: ${ends.join(", ")}.` : ""));
  showStarts(page.starts);
}

function offerChoice(choice) {
  if (!choice) return;
  offerTable("choice-ranks", "ranks");
  if (byId("choice-models")) offerTable("choice-models", "models");
  document.querySelectorAll("#choice-charts .chart").forEach((box, n) => {
    if (box.querySelector("svg")) offer(box, `choice-${n + 1}`, { chart: true });
  });
  document.querySelectorAll("#choice-tables table").forEach((table, n) =>
    offer(table, `choice-numbers-${n + 1}`, { lines: () => linesOf(table) }));
}

function showTrace(box, iteration, columns, what, names) {
  if (!columns.length) {
    box.append(make("p", { class: "hint" }, "Nothing was recorded."));
    return;
  }
  const series = columns.map((values, slot) => ({ values: values.map((value) => value ?? NaN), slot, label: names[slot] }));
  const about = `${what} by iteration, on a logarithmic scale.`;
  const chart = new LineChart(box);
  chart.show({ series, xs: iteration, labels: null, log: true, about, height: 220 });
  offerLines(box.id, box.id, chart);
}

function showStarts({ head, lines, of }) {
  if (!head) {
    write("starts-hint", "Nothing was recorded of the starts.");
    return;
  }
  const numeric = head.map((_, n) => lines.every((line) => /^[-+\d.e]+$|^nan$|^-?inf$/.test(line[n])));
  const aligned = (line) => line.map((content, n) => ({ content, kind: numeric[n] ? "number" : null }));
  const chosen = head.indexOf("chosen");
  const marked = lines.map((line) =>
    Object.assign(aligned(line), { kind: line[chosen] === "yes" ? "chosen" : null }));
  fillTable(byId("starts"), aligned(head), marked);
  const few = of > lines.length ? ` These are the first ${lines.length} of ${of}.` : "";
  write("starts-hint", `The lowest objective first.${few}`);
  offerTable("starts", "starts");
}

// Links within the page leave its address alone: that says what is shown.
function setUpLinks() {
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const target = document.querySelector(link.getAttribute("href"));
      target.scrollIntoView();
      target.setAttribute("tabindex", "-1");
      target.focus({ preventScroll: true });
    });
  }
}

// A table that is wider than its place can be scrolled with the keyboard, too.
function setUpScrolling() {
  for (const box of document.querySelectorAll(".scroll")) {
    const watch = new ResizeObserver(() => {
      const wide = box.scrollWidth > box.clientWidth;
      if (wide) Object.entries({ tabindex: 0, role: "group", "aria-label": "A table to scroll" }).forEach(([name, value]) => box.setAttribute(name, value));
      else ["tabindex", "role", "aria-label"].forEach((name) => box.removeAttribute(name));
    });
    watch.observe(box);
    watch.observe(box.firstElementChild);
  }
}

async function start() {
  const page = JSON.parse(byId("data").textContent);
  showOverview(page);
  const fit = await Fit.open(page);
  await EntriesPart.open(fit);
  new Explorer(fit);
  setUpLinks();
  showChoice(page.choice);
  offerChoice(page.choice);
  showDiagnostics(page);
  setUpScrolling();
  document.documentElement.dataset.ready = "yes";
}

start().catch((error) => {
  byId("failure").hidden = false;
  write("failure", `This page could not be drawn (${error.message}). It needs a browser of 2023 or newer.`);
  throw error;
});
