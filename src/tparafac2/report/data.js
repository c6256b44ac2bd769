"use strict";
// The numbers of the fit, and questions about them.

const COLOURS = 8;         // different lines that can be told apart
const FIRST_COURSES = 5;   // courses drawn before anybody chose any
const MOST_MOVERS = 10;
const MOST_FOUND = 40;
const TOP_ROWS = 15;
const TOP_COLUMNS = matchMedia("(max-width: 48rem)").matches ? 12 : 25;
const NOTHING = -32768;    // stands for a weight that is not there
const WHY = ["", "it has almost no strength then", "nothing was observed then"];

function bytesOf(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// The low byte comes first, as on all machines with a browser.
function numbersOf(text, Kind) {
  return new Kind(bytesOf(text).buffer);
}

async function inflated(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Courses of K numbers from their changes, whose low bytes come before their high ones; sums wrap around.
function coursesOf(bytes, K) {
  const length = bytes.length / 2;
  const courses = new Int16Array(length);
  for (let i = 0; i < length; i++) {
    const before = i % K ? courses[i - 1] : 0;
    courses[i] = before + (bytes[i] | (bytes[length + i] << 8));
  }
  return courses;
}

class Fit {
  static async open(page) {
    const K = page.times.labels.length;
    const counts = async (patterns) => coursesOf(await inflated(patterns.counts), K);
    const ends = {};
    for (const end of page.bands ? ["lower", "upper"] : []) ends[end] = await counts(page.bands[end].patterns);
    return new Fit(page, await counts(page.patterns), ends);
  }

  constructor(page, counts, ends) {
    this.page = page;
    this.bands = page.bands ? { lower: this.end(page.bands.lower, ends.lower),
                                upper: this.end(page.bands.upper, ends.upper) } : null;
    this.R = page.components.length;
    this.K = page.times.labels.length;
    this.J = page.columns.labels.length;
    this.I = page.rows.labels.length;
    this.times = page.times.labels;
    this.counts = counts;
    this.sizes = numbersOf(page.patterns.sizes, Float32Array);
    this.loadings = numbersOf(page.loadings, Float32Array);
    this.unseen = page.unseen ? bytesOf(page.unseen) : null;
  }

  // One end of all bands.
  end(told, counts) {
    const numbers = (name) => (told[name] ? numbersOf(told[name], Float32Array) : null);
    const sizes = numbersOf(told.patterns.sizes, Float32Array);
    const parts = Object.fromEntries(["rises", "falls", "loadings"].map((name) => [name, numbers(name)]));
    return { counts, sizes, strengths: told.strengths, ...parts };
  }

  // The band of a weight, as [lower, upper]; null where there is none.
  weightBand(r, j, k) {
    if (this.bands === null) return null;
    const course = r * this.J + j;
    const ends = [this.bands.lower, this.bands.upper].map(({ counts, sizes }) => {
      const count = counts[course * this.K + k];
      return count === NOTHING ? NaN : count * sizes[course];
    });
    return ends.some(Number.isNaN) ? null : ends;
  }

  strengthBand(r, k) {
    if (this.bands === null) return null;
    const ends = [this.bands.lower, this.bands.upper].map(({ strengths }) => strengths[r][k]);
    return ends.includes(null) ? null : ends;
  }

  // The band of a loading ("loadings"), or of the largest rise or fall of a column.
  bandOf(name, r, place) {
    if (this.bands === null || this.bands.lower[name] === null) return null;
    const many = name === "loadings" ? this.I : this.J;
    const ends = [this.bands.lower, this.bands.upper].map((end) => end[name][r * many + place]);
    return ends.some(Number.isNaN) ? null : ends;
  }

  strength(r, k) {
    return this.page.strengths[r][k] ?? NaN;
  }

  weight(r, j, k) {
    const course = r * this.J + j;
    const count = this.counts[course * this.K + k];
    return count === NOTHING ? NaN : count * this.sizes[course];
  }

  value(measure, r, j, k) {
    const weight = this.weight(r, j, k);
    return measure === "size" ? weight * this.strength(r, k) : weight;
  }

  loading(r, i) {
    return this.loadings[r * this.I + i];
  }

  // Was the column observed at this time, in any row?
  seen(j, k) {
    const bit = j * this.K + k;
    return this.unseen === null || !((this.unseen[bit >> 3] >> (bit & 7)) & 1);
  }

  // Do the data say what the pattern is at this time?
  known(r, k) {
    return this.page.known[r][k] === 0;
  }

  why(r, k) {
    return WHY[this.page.known[r][k]];
  }

  // Do the data say anything about this weight?
  sure(r, j, k) {
    return this.known(r, k) && this.seen(j, k);
  }

  // All columns over all times: how far each reaches, the range of all, and the largest changes.
  survey(measure, r) {
    const reach = new Float64Array(this.J);
    const rises = [], falls = [];
    let low = 0, high = 0;
    for (let j = 0; j < this.J; j++) {
      const course = this.extremes(measure, r, j);
      if (course === null) continue;
      low = Math.min(low, course.lowest);
      high = Math.max(high, course.highest);
      reach[j] = Math.max(course.highest, -course.lowest);
      rises.push(course.rise);
      falls.push(course.fall);
    }
    const most = Math.max(high, -low);
    const largest = (moves) => moves.filter((one) => one.size > 1e-3 * most).sort((a, b) => b.size - a.size)
      .slice(0, MOST_MOVERS).map((one) => this.settled(measure, r, one));
    return { reach, low, high, most, rises: largest(rises), falls: largest(falls) };
  }

  // One column over the times at which the data say something: its range, largest rise and largest fall.
  extremes(measure, r, j) {
    const rise = { column: j, size: 0 }, fall = { column: j, size: 0 };
    let lowest = Infinity, lowestAt = -1, highest = -Infinity, highestAt = -1;
    for (let k = 0; k < this.K; k++) {
      const value = this.value(measure, r, j, k);
      if (Number.isNaN(value) || !this.sure(r, j, k)) continue;
      if (value < lowest) { lowest = value; lowestAt = k; }
      if (value > highest) { highest = value; highestAt = k; }
      if (value - lowest > rise.size) this.note(rise, lowest, lowestAt, value, k);
      if (highest - value > fall.size) this.note(fall, highest, highestAt, value, k);
    }
    return lowestAt < 0 ? null : { lowest, highest, rise, fall };
  }

  note(move, from, begin, to, end) {
    Object.assign(move, { size: Math.abs(to - from), from, begin, to, end });
  }

  // When most of a change took place: without its first and last twentieth, which may take for ever.
  settled(measure, r, move) {
    const done = (k) => Math.abs(this.value(measure, r, move.column, k) - move.from) / move.size;
    const ks = [];
    for (let k = move.begin; k <= move.end; k++) if (this.sure(r, move.column, k)) ks.push(k);
    const begin = ks.findLast((k) => done(k) <= 0.05);
    return { ...move, begin, end: ks.find((k) => k > begin && done(k) >= 0.95) };
  }
}

// The places of the largest sizes, largest first; those without size do not count.
function largestOf(sizes) {
  const places = [];
  for (let j = 0; j < sizes.length; j++) if (sizes[j] > 0) places.push(j);
  return places.sort((a, b) => sizes[b] - sizes[a] || a - b);
}

// Letters without their accents and case, for searching.
function plain(text) {
  return text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
}
