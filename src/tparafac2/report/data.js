"use strict";
// The numbers of the fit, and questions about them.

const COLOURS = 8;         // different lines that can be told apart
const FIRST_COURSES = 5;   // courses drawn before anybody chose any
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

// Courses of K numbers from their changes, whose low bytes come before their high ones, and whose lowest bit is
// their sign; sums wrap around.
function coursesOf(bytes, K) {
  const length = bytes.length / 2;
  const courses = new Int16Array(length);
  for (let i = 0; i < length; i++) {
    const before = i % K ? courses[i - 1] : 0;
    const unsigned = bytes[i] | (bytes[length + i] << 8);
    courses[i] = before + ((unsigned >> 1) ^ -(unsigned & 1));
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
    this.names = page.components.map((one) => one.name || "");
  }

  // A component within a sentence, and as a heading.
  called(r) {
    return this.names[r] || `component ${r + 1}`;
  }

  heading(r) {
    return this.names[r] || `Component ${r + 1}`;
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

  // How far a weight sets its component apart at a time: its size, times the share of its square among all.
  apart(r, j, k) {
    let all = 0;
    for (let other = 0; other < this.R; other++) {
      const weight = this.known(other, k) ? this.weight(other, j, k) : 0;
      all += weight * weight || 0;
    }
    const own = this.weight(r, j, k) || 0;
    return this.known(r, k) && all > 0 ? (Math.abs(own) * own * own) / all : Math.abs(own);
  }

  // Strengths as they are, as shares of all at that time, or by their own largest.
  scaled(scale, r, k) {
    const strength = this.strength(r, k);
    if (scale === "own") return strength / (this.peak(r) || 1);
    if (scale === "share") return strength / (this.total(k) || 1);
    return strength;
  }

  peak(r) {
    return Math.max(...this.page.strengths[r].map((one) => Math.abs(one)));
  }

  total(k) {
    return this.page.strengths.reduce((sum, course) => sum + Math.abs(course[k]), 0);
  }

  // An entry of the data, where the page has them, and what the model makes of it.
  entry(i, j, k) {
    const { rows, columns, counts, sizes } = this.entries;
    const course = rows.get(i) * columns.size + columns.get(j);
    const count = counts[course * this.K + k];
    return count === NOTHING ? NaN : count * sizes[course];
  }

  fitted(i, j, k) {
    let sum = 0;
    for (let r = 0; r < this.R; r++) sum += this.loading(r, i) * this.strength(r, k) * this.weight(r, j, k);
    return sum;
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
