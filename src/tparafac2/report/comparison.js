// The page of a comparison: what was measured of each model, and which component of one is which of the next.

const figure = (value, decimals) => (typeof value === "number" ? value.toFixed(decimals).replace("-", "\u2212") : "");
const of = (count, all) => (typeof count === "number" ? `${count} of ${all}` : "");
const yes = (value) => (value === true ? "yes" : value === false ? "no" : "");

// Columns of the table: a head, what they say of a candidate, and which measure they need.
const COLUMNS = [
  ["components", (one) => one.components.length],
  ["explained", (one) => figure(one.measures.explained_variance, 4), "explained_variance"],
  ["error at hidden entries", (one) => figure(one.measures.hidden_error, 4), "hidden_error"],
  ["least replicable component", (one) => figure(one.measures.replicability, 2), "replicability"],
  ["by chance", (one) => figure(one.measures.chance, 2), "chance"],
  ["found again", (one) => of(one.measures.components_there, one.components.length), "components_there"],
  ["replicable", (one) => of(one.measures.components_replicable, one.components.length), "components_replicable"],
  ["agreement of starts", (one) => figure(one.measures.agreement, 2), "agreement"],
  ["others at the same objective", (one) => of(one.measures.same_objective, one.measures.starts - 1), "same_objective"],
  ["degenerate starts", (one) => one.measures.degenerate, "degenerate"],
  ["converged", (one) => yes(one.measures.converged), "converged"],
  ["iterations", (one) => one.measures.iterations, "iterations"],
  ["seconds", (one) => figure(one.measures.seconds, 1), "seconds"],
];
const FATES = { same: "the same as", parts: "in parts:", changed: "changed:", none: "" };

function showMeasures(page) {
  const { candidates } = page;
  const known = COLUMNS.filter(([, , name]) => !name || candidates.some((one) => (one.measures[name] ?? null) !== null));
  const errors = candidates.map((one) => one.measures.hidden_error ?? Infinity);
  const best = Math.min(...errors) < Infinity ? errors.indexOf(Math.min(...errors)) : -1;
  fillTable(byId("measures"), ["model", ...known.map(([head]) => digits(head))], candidates.map((one, n) =>
    Object.assign([label(one.short), ...known.map(([, told]) => digits(told(one) ?? ""))], { kind: n === best ? "chosen" : null })));
  const told = known.map(([head]) => head);
  write("measures-hint", [
    best >= 0 && candidates.length > 1 ? "Bold: the least error at hidden entries." : "",
    told.includes("by chance") ? "Replicable: halves of the rows agree on a component (a cosine of 0.9); by chance: as alike are different components." : "",
    told.includes("agreement of starts") ? "Agreement of starts: share of the other starts that found the same components." : "",
  ].filter(Boolean).join(" "));
  offerTable("measures", "models");
}

function showLines(id, page, about, kinds) {
  const { candidates } = page;
  const numbers = (get) => candidates.map((one) => get(one.measures) ?? NaN);
  const series = kinds.map(([name, get], slot) => ({ label: name, values: numbers(get), slot }))
    .filter((one) => one.values.some(Number.isFinite));
  if (!series.length || candidates.length < 2) {
    byId(id).parentElement.hidden = true;
    return;
  }
  byId(`${id}-legend`).append(...series.map((one) => colour(make("span", { class: "chip" }, one.label), one.slot)));
  const chart = new LineChart(byId(id));
  chart.show({ series, xs: candidates.map((_, n) => n), labels: candidates.map((one) => one.short), about, height: 220 });
  offerLines(id, id, chart);
}

function showErrors(page) {
  const left = (one) => (typeof one.explained_variance === "number" ? 1 - one.explained_variance : NaN);
  showLines("errors", page, "Error by model", [["not explained", left], ["at hidden entries", (one) => one.hidden_error]]);
  showLines("agreement", page, "Agreement by model", [
    ["starts", (one) => one.agreement],
    ["halves, least component", (one) => one.replicability],
    ["halves, by chance", (one) => one.chance],
  ]);
}

// What a component is in the candidate before, or after: its match, or its parts.
function relation(page, n, r, before) {
  const at = before ? n - 1 : n;
  const found = page.between[at];
  if (!found) return null;
  const [own, theirs] = before ? ["other", "one"] : ["one", "other"];
  const fate = (before ? found.origins : found.fates)[r];
  const neighbour = page.candidates[before ? n - 1 : n + 1];
  const links = found.links.filter((link) => link[own] === r);
  const matched = links.filter((link) => link.matched), others = links.filter((link) => !link.matched);
  const called = (link) => `${calledOf(neighbour, link[theirs])} (${link.likeness.toFixed(2)})`;
  const listed = (some) => some.map(called).join(", ");
  if (fate === "another") return [neighbour.short, `like ${listed(others)}, which has a closer match`];
  if (fate === "parts") return [neighbour.short, `${FATES.parts} ${listed(links)}`];
  const none = before ? "new" : "not there any more";
  const also = others.length ? `; also like ${listed(others)}` : "";
  return [neighbour.short, (matched.length ? `${FATES[fate]} ${listed(matched)}` : none) + also];
}

function card(page, n, r) {
  const candidate = page.candidates[n];
  const one = candidate.components[r];
  const story = [
    [page.names.rows, toldMarks(one.rows)],
    ...one.stations.map((at) => [at.time ? cut(at.time, 16) : "always", toldMarks(at.columns)]),
    ["strength", one.strong],
    ...(one.sure.length ? [["trust", one.sure.join("; ")]] : []),
    relation(page, n, r, true),
    relation(page, n, r, false),
  ].filter(Boolean);
  const tone = { replicable: "good", "not there": "warning" }[one.verdict] || "plain";
  return colour(make("li", {},
    make("h4", {}, make("b", { dir: "auto" }, `${candidate.short}: ${one.name || `component ${r + 1}`}`),
      make("span", { class: "share" }, `${percents(one.share)} of strength`),
      ...(one.verdict ? [make("span", { class: "badge", "data-tone": tone }, one.verdict)] : [])),
    make("dl", {}, ...story.flatMap(([name, text]) => [make("dt", { dir: "auto", title: name }, name), make("dd", { dir: "auto" }, text)]))),
  toneOfLine(one.line));
}

// The chosen component in every model that has it, and its other relatives beside it.
function showCards(page, n, r) {
  const { line } = page.candidates[n].components[r];
  const shown = new Set();
  page.candidates.forEach((candidate, m) => candidate.components.forEach((one, s) => {
    if (one.line === line) shown.add(`${m} ${s}`);
  }));
  for (const [at, own, theirs, beside] of [[n - 1, "other", "one", n - 1], [n, "one", "other", n + 1]]) {
    for (const link of page.between[at]?.links || []) if (link[own] === r) shown.add(`${beside} ${link[theirs]}`);
  }
  const places = [...shown].map((one) => one.split(" ").map(Number)).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  write("chosen-head", `${page.candidates[n].short}, ${calledOf(page.candidates[n], r)}, and its relatives`);
  byId("cards").replaceChildren(...places.map(([m, s]) => {
    const one = card(page, m, s);
    one.setAttribute("aria-current", String(m === n && s === r));
    return one;
  }));
}

function showTables(page) {
  const lines = page.between.flatMap(({ links, fates, origins }, n) => {
    const [one, other] = [page.candidates[n], page.candidates[n + 1]];
    const told = links.map((link) => [one.short, calledOf(one, link.one), other.short, calledOf(other, link.other),
      digits(link.likeness.toFixed(3)), link.matched ? (fates[link.one] === "same" ? "the same" : "most alike") : "also alike"]);
    const alone = (side, own) => own.map((fate, r) => [fate, r]).filter(([fate]) => fate === "none").map(([, r]) => (side === one
      ? [one.short, calledOf(one, r), other.short, "", digits(""), "not there any more"]
      : [one.short, "", other.short, calledOf(other, r), digits(""), "new"]));
    return [...told, ...alone(one, fates), ...alone(other, origins)];
  });
  fillTable(byId("link-table"), ["model", "component", "next model", "component", digits("likeness"), "relation"], lines);
  offerTable("link-table", "likenesses");
  byId("links").hidden = !lines.length;
  const { rows, columns } = page.names;
  const whole = (marks) => toldMarks(marks, Infinity);
  const measured = page.candidates.some((one) => one.components.some((own) => own.verdict));
  fillTable(byId("component-table"), ["model", "component", digits("share"),
    ...(measured ? [digits("replicability"), digits("by chance"), "verdict"] : []), rows, columns],
  page.candidates.flatMap((one) => one.components.map((own, r) => [one.label, own.name || `component ${r + 1}`, digits(percents(own.share)),
    ...(measured ? [digits(figure(own.replicability, 2)), digits(figure(own.chance, 2)), own.verdict ?? ""] : []),
    whole(own.rows), own.stations.map((at) => (at.time ? `${at.time}: ` : "") + whole(at.columns)).join("; ")])));
  offerTable("component-table", "components");
}

function showNotes(page) {
  const told = page.candidates.filter((one) => one.notes.length);
  byId("note-list").append(...told.flatMap((one) => [make("dt", { dir: "auto" }, one.short),
    make("dd", {}, make("ul", {}, ...one.notes.map((note) => make("li", {}, note))))]));
  if (!told.length) byId("note-list").replaceWith(make("p", { class: "hint" }, "There is nothing to beware of."));
}

// What is chosen stands in the address, so that a view can be sent: model and component, counted from 1.
function readAddress(page) {
  const [n, r] = (/^#chosen=(\d+)\.(\d+)$/.exec(location.hash) || []).slice(1).map((one) => Number(one) - 1);
  return page.candidates[n]?.components[r] ? [n, r] : null;
}

function writeAddress(n, r) {
  try {
    history.replaceState(null, "", `#chosen=${n + 1}.${r + 1}`);
  } catch {
    // A page inside another one may have no address of its own.
  }
}

function showKin(page) {
  const flow = new Flow(byId("flow"), page, (n, r) => {
    showCards(page, n, r);
    writeAddress(n, r);
  });
  const linked = page.between.length ? " Ribbons join what is alike, thicker the more (a cosine of all that two components say of the data, from 0.4); "
    + "each has one match at most, with its number, and dashed ribbons say what else it is like. Colours follow matches." : "";
  const doubtful = page.candidates.some((one) => one.components.some((own) => own.verdict === "not there"))
    ? " Dashed boxes: components that halves of the rows do not agree on." : "";
  write("flow-hint", `Boxes are components, higher the stronger, with what sets them apart.${linked}${doubtful} Choose a box to read on.`);
  flow.show();
  const shares = page.candidates[0].components.map((one) => one.share ?? 0);
  const restore = () => flow.pick(...(readAddress(page) || flow.chosen || [0, shares.indexOf(Math.max(...shares))]));
  addEventListener("hashchange", restore);
  restore();
  offer(byId("flow-scroll"), "flow", { chart: true });
}

function startComparison() {
  const page = JSON.parse(byId("data").textContent);
  write("title", page.title);
  write("subtitle", page.subtitle);
  byId("sentences").append(...page.sentences.map((one) => make("li", { dir: "auto" }, one)));
  byId("about").append(...page.about.flatMap(([name, text]) => [make("dt", { dir: "auto" }, name), make("dd", { dir: "auto" }, text)]));
  byId("done").hidden = !page.about.length;
  showMeasures(page);
  showErrors(page);
  showKin(page);
  showTables(page);
  showNotes(page);
  write("colophon", `Written by tparafac2 ${page.version}. The page needs no network and is not allowed any.`);
  document.documentElement.dataset.ready = "yes";
}

try {
  startComparison();
} catch (error) {
  byId("failure").hidden = false;
  write("failure", `This page could not be drawn (${error.message}). It needs a browser of 2023 or newer.`);
  throw error;
}
