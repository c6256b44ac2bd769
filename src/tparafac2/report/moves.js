// What changes: how far every column reaches, and the largest changes, with the steepest part of each.

const MOST_MOVERS = 10;
const BELOW = 0.8;  // the share of a change that makes it one of a negative weight
const STEEP = 0.5;  // the share of a change that its steepest part has

// All columns of a component over all times: their range, and the largest changes.
function surveyOf(fit, measure, r) {
  const reach = new Float64Array(fit.J);
  const moves = [];
  let low = 0, high = 0;
  for (let j = 0; j < fit.J; j++) {
    const course = extremesOf(fit, measure, r, j);
    if (course === null) continue;
    low = Math.min(low, course.lowest);
    high = Math.max(high, course.highest);
    reach[j] = Math.max(course.highest, -course.lowest);
    moves.push(course.up, course.down);
  }
  const most = Math.max(high, -low);
  const sorted = moves.filter((one) => one.size > 1e-3 * most).sort((a, b) => b.size - a.size);
  const largest = (wanted) => sorted.filter((one) => grows(one) === wanted).slice(0, MOST_MOVERS)
    .map((one) => settled(fit, measure, r, one));
  return { reach, low, high, most, rises: largest(true), falls: largest(false) };
}

// What goes up rises, unless it does so below zero: a negative weight that shrinks does not rise.
function grows({ from, to, size }) {
  const below = Math.abs(Math.min(to, 0) - Math.min(from, 0)) / size;
  return (to > from) === (below <= BELOW);
}

// One column over the times at which the data say something: its range, largest way up and largest way down.
function extremesOf(fit, measure, r, j) {
  const up = { column: j, size: 0, way: "rises" }, down = { column: j, size: 0, way: "falls" };
  let lowest = Infinity, lowestAt = -1, highest = -Infinity, highestAt = -1;
  const note = (move, from, begin, to, end) => Object.assign(move, { size: Math.abs(to - from), from, begin, to, end });
  for (let k = 0; k < fit.K; k++) {
    const value = fit.value(measure, r, j, k);
    if (Number.isNaN(value) || !fit.sure(r, j, k)) continue;
    if (value < lowest) { lowest = value; lowestAt = k; }
    if (value > highest) { highest = value; highestAt = k; }
    if (value - lowest > up.size) note(up, lowest, lowestAt, value, k);
    if (highest - value > down.size) note(down, highest, highestAt, value, k);
  }
  return lowestAt < 0 ? null : { lowest, highest, up, down };
}

// The larger change of a column, or null if it does not move.
function moveOf(fit, measure, r, j) {
  const course = extremesOf(fit, measure, r, j);
  if (course === null) return null;
  const move = course.up.size >= course.down.size ? course.up : course.down;
  return move.size > 0 ? settled(fit, measure, r, move) : null;
}

// When a change took place: without its first and last twentieth, which may take for ever, and the shortest
// time in which half of it did.
function settled(fit, measure, r, move) {
  const value = (k) => fit.value(measure, r, move.column, k);
  const done = (k) => Math.abs(value(k) - move.from) / move.size;
  const ks = [];
  for (let k = move.begin; k <= move.end; k++) if (fit.sure(r, move.column, k)) ks.push(k);
  const begin = ks.findLast((k) => done(k) <= 0.05);
  const end = ks.find((k) => k > begin && done(k) >= 0.95);
  const steep = steepest(fit.page.times.moments, ks, value, move);
  return { ...move, begin, end, steep };
}

function steepest(moments, ks, value, move) {
  const way = Math.sign(move.to - move.from);
  let best = null;
  for (let a = 0; a < ks.length; a++) {
    for (let b = a + 1; b < ks.length; b++) {
      const change = way * (value(ks[b]) - value(ks[a]));
      if (change < STEEP * move.size) continue;
      const long = moments[ks[b]] - moments[ks[a]];
      if (best === null || long < best.long || (long === best.long && change > best.change)) {
        best = { begin: ks[a], end: ks[b], long, change };
      }
      break;  // later ends only take longer
    }
  }
  return best;
}
