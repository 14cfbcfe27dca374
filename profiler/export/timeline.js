// SPDX-License-Identifier: Apache-2.0
// Draws a Chrome trace on a canvas. Text from the trace reaches the page only through fillText and
// textContent, never as markup. Times are microseconds since the first event.
'use strict';

(() => {
  const WIDEST_GUTTER = 230;  // width of the labels; less in a narrow window
  const AXIS = 26;          // height of the time axis
  const ROW = 19;           // height of a row of slices
  const THIN = 7;           // height of a row of allocations
  const PLOT = 44;          // height of a counter
  const HEADING = 22;       // height of the heading of a process
  const MOST_FLOWS = 3000;  // maximum number of arrows drawn at once; more are unreadable
  const MOST_ASYNC_ROWS = 30;
  const FONT = '12px system-ui, "DejaVu Sans", sans-serif';

  // ---- The model: the contents of a trace, in arrays that are searched by time ----

  function parseTrace(text) {
    try {
      return JSON.parse(text);
    } catch (error) {
      // A killed program leaves a bare array without its end.
      const trimmed = text.trimEnd().replace(/,$/, '');
      if (!trimmed.startsWith('[')) throw error;
      return JSON.parse(trimmed + ']');
    }
  }

  // Returns the value of a key. Calls `make` if the map does not contain the key.
  function entry(map, key, make) {
    let value = map.get(key);
    if (value === undefined) map.set(key, value = make());
    return value;
  }

  function buildModel(trace) {
    const events = Array.isArray(trace) ? trace : trace.traceEvents;
    if (!Array.isArray(events)) throw new Error('the file holds no traceEvents');
    const model = {
      processes: new Map(), flows: [], slices: 0, instants: 0, counters: 0, asyncs: 0,
      start: Infinity, end: -Infinity, metadata: trace.metadata || {}, matches: [],
      iterations: [],
    };
    for (const e of events) {
      if (e === null || typeof e !== 'object' || e.ph === 'M' || typeof e.ts !== 'number') continue;
      model.start = Math.min(model.start, e.ts);
      model.end = Math.max(model.end, e.ts + (e.ph === 'X' ? Number(e.dur) || 0 : 0));
    }
    if (model.start === Infinity) model.start = model.end = 0;
    const state = { model, brackets: new Map(), asyncs: new Map(), arrows: new Map() };
    for (const e of events) {
      if (e !== null && typeof e === 'object') takeEvent(state, e);
    }
    for (const open of state.brackets.values()) {
      for (const item of open) addSlice(model, item, model.end - model.start);
    }
    finishModel(model);
    model.end = Math.max(model.end, model.start + 0.001) - model.start;
    model.base = model.start;
    model.start = 0;
    return model;
  }

  function processOf(model, pid) {
    return entry(model.processes, pid, () => ({
      pid, name: `process ${pid}`, order: 1e9, threads: new Map(), counters: new Map(),
      asyncs: new Map(), folded: false,
    }));
  }

  function threadOf(model, e) {
    return entry(processOf(model, e.pid).threads, e.tid, () => ({
      tid: e.tid, name: `thread ${e.tid}`, order: 1e9, items: [], instants: [],
    }));
  }

  function addSlice(model, item, end) {
    item.end = Math.max(end, item.start);
    threadOf(model, item.event).items.push(item);
    ++model.slices;
  }

  const PHASES = {
    M({ model }, e) {
      const args = e.args || {};
      if (e.name === 'process_name') processOf(model, e.pid).name = String(args.name);
      if (e.name === 'process_sort_index') processOf(model, e.pid).order = Number(args.sort_index);
      if (e.name === 'thread_name') threadOf(model, e).name = String(args.name);
      if (e.name === 'thread_sort_index') threadOf(model, e).order = Number(args.sort_index);
    },
    X({ model }, e) {
      const start = e.ts - model.start;
      addSlice(model, { event: e, start }, start + (Number(e.dur) || 0));
    },
    B({ model, brackets }, e) {
      entry(brackets, `${e.pid}:${e.tid}`, () => []).push({ event: e, start: e.ts - model.start });
    },
    E({ model, brackets }, e) {
      const item = entry(brackets, `${e.pid}:${e.tid}`, () => []).pop();
      if (item) addSlice(model, item, e.ts - model.start);
    },
    i({ model }, e) {
      threadOf(model, e).instants.push({ event: e, start: e.ts - model.start });
      ++model.instants;
    },
    C({ model }, e) {
      const counters = processOf(model, e.pid).counters;
      for (const [key, value] of Object.entries(e.args || {})) {
        const name = key === 'value' ? String(e.name) : `${e.name}: ${key}`;
        const counter = entry(counters, name, () => ({ name, samples: [] }));
        if (typeof value === 'number') counter.samples.push([e.ts - model.start, value]);
      }
      ++model.counters;
    },
    b({ model, asyncs }, e) {
      const id = `${e.cat}\n${e.id}`;
      entry(asyncs, id, () => []).push({ event: e, start: e.ts - model.start });
    },
    e({ model, asyncs }, e) {
      const item = entry(asyncs, `${e.cat}\n${e.id}`, () => []).pop();
      if (!item) return;
      item.end = e.ts - model.start;
      const cat = String(item.event.cat);
      entry(processOf(model, item.event.pid).asyncs, cat, () => []).push(item);
      ++model.asyncs;
    },
    s({ model, arrows }, e) { arrows.set(`${e.cat}\n${e.name}\n${e.id}`, e); },
    f({ model, arrows }, e) {
      const from = arrows.get(`${e.cat}\n${e.name}\n${e.id}`);
      if (from) model.flows.push({ from, to: e });
    },
  };
  PHASES.I = PHASES.i;

  function takeEvent(state, e) {
    const phase = Object.hasOwn(PHASES, e.ph) ? PHASES[e.ph] : null;
    if (phase) phase(state, e);
  }

  const byStart = (a, b) => a.start - b.start || b.end - a.end;

  // Distributes intervals over rows: row n contains those that are nested in n others.
  function nest(items) {
    items.sort(byStart);
    const rows = [], open = [];
    for (const item of items) {
      while (open.length && open[open.length - 1].end <= item.start) open.pop();
      if (!rows[open.length]) rows.push([]);
      item.depth = open.length;
      rows[open.length].push(item);
      open.push(item);
    }
    return rows;
  }

  // Distributes intervals that may overlap arbitrarily: each goes to the first free row.
  function pack(items) {
    items.sort(byStart);
    const rows = [];
    for (const item of items) {
      let row = rows.find((r) => r[r.length - 1].end <= item.start);
      if (!row && rows.length < MOST_ASYNC_ROWS) rows.push(row = []);
      if (row) row.push(item);
    }
    return rows;
  }

  // Returns samples [time, number of intervals that contain it].
  function liveCounts(items) {
    const changes = items.flatMap((item) => [[item.start, 1], [item.end, -1]]);
    changes.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    let live = 0;
    return changes.map(([time, change]) => [time, live += change]);
  }

  function finishModel(model) {
    const sorted = (map) => [...map.values()].sort((a, b) => a.order - b.order);
    model.list = sorted(model.processes);
    model.tracks = 0;
    model.all = [];
    for (const process of model.list) {
      process.lanes = sorted(process.threads);
      for (const thread of process.lanes) {
        thread.rows = nest(thread.items);
        thread.instants.sort((a, b) => a.start - b.start);
        for (const item of thread.items) {
          item.thread = thread;
          item.process = process;
          item.text = searchText(item.event);
          model.all.push(item);
        }
        ++model.tracks;
      }
      for (const counter of process.counters.values()) {
        counter.samples.sort((a, b) => a[0] - b[0]);
        counter.most = counter.samples.reduce((most, s) => Math.max(most, s[1]), 0);
        counter.least = counter.samples.reduce((least, s) => Math.min(least, s[1]), 0);
      }
      for (const [cat, items] of process.asyncs) {
        process.asyncs.set(cat, { count: items.length, rows: pack(items), folded: true,
          live: liveCounts(items) });
      }
    }
    model.all.sort(byStart);
    model.iterations = spansOfIterations(model);
    for (const flow of model.flows) {
      flow.from = { start: flow.from.ts - model.start, item: sliceAt(model, flow.from) };
      flow.to = { start: flow.to.ts - model.start, item: sliceAt(model, flow.to) };
    }
    model.flows = model.flows.filter((flow) => flow.from.item && flow.to.item);
  }

  // Returns for each case the time from its first recorded iteration to its last, in the order of
  // time. Between the iterations of two cases is the preparation of the second.
  function spansOfIterations(model) {
    const spans = new Map();
    for (const item of model.all) {
      const { cat, args } = item.event;
      if (cat !== 'range' || args?.iteration === undefined) continue;
      const span = entry(spans, args.case, () => ({ name: args.case, start: item.start, end: item.end,
        first: item, iterations: new Set() }));
      span.end = Math.max(span.end, item.end);
      span.iterations.add(args.iteration);
    }
    return [...spans.values()];
  }

  function searchText(e) {
    const args = e.args || {};
    return [e.name, args.layer, args.case, args.implementation].join('\n').toLowerCase();
  }

  // Returns the index of the first interval that ends after `time`. The intervals must be disjoint
  // and ascending.
  function firstAfter(row, time) {
    let low = 0, high = row.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row[middle].end > time) high = middle; else low = middle + 1;
    }
    return low;
  }

  // Returns the innermost slice of the event's thread that contains the event.
  function sliceAt(model, e) {
    const thread = processOf(model, e.pid).threads.get(e.tid);
    const time = e.ts - model.start;
    for (let depth = (thread?.rows?.length ?? 0) - 1; depth >= 0; --depth) {
      const row = thread.rows[depth];
      let i = Math.max(0, firstAfter(row, time) - 1);  // a slice that ends here also counts
      for (; i < row.length && row[i].start <= time; ++i) if (row[i].end >= time) return row[i];
    }
    return null;
  }

  // ---- Text ----

  function formatTime(microseconds, span = Math.abs(microseconds), digits = 7) {
    const units = [['s', 1e6], ['ms', 1e3], ['us', 1]];
    const [unit, size] = units.find(([, s]) => span >= s) || ['ns', 1e-3];
    return `${Number((microseconds / size).toPrecision(digits))} ${unit}`;
  }

  const roundedTime = (microseconds) => formatTime(microseconds, Math.abs(microseconds), 4);

  function formatNumber(value) {
    const size = Math.abs(value);
    const prefixes = [['T', 1e12], ['G', 1e9], ['M', 1e6], ['k', 1e3]];
    const [prefix, unit] = prefixes.find(([, s]) => size >= s) || ['', 1];
    return `${Number((value / unit).toPrecision(4))}${prefix ? ' ' + prefix : ''}`;
  }

  const colours = new Map();
  function colourOf(name) {
    return entry(colours, `${dark}${name}`, () => {
      let hash = 2166136261;
      for (let i = 0; i < name.length; ++i) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
      const hue = (hash >>> 0) % 360;
      return dark ? `hsl(${hue} 42% 38%)` : `hsl(${hue} 62% 76%)`;
    });
  }

  // ---- The view ----

  const $ = (id) => document.getElementById(id);
  let canvas, pen, model, dark = false, theme = {};
  let left = 0, right = 1, scroll = 0;  // visible time in us, vertical offset in pixels
  let width = 0, height = 0, gutter = WIDEST_GUTTER, layout = [], total = 0;
  let selected = null, hovered = null, query = '', frame = 0;

  const scale = () => (width - gutter) / (right - left);
  const xOf = (time) => gutter + (time - left) * scale();
  const timeAt = (x) => left + (x - gutter) / scale();

  function makeLayout() {
    layout = [];
    let y = 0;
    const add = (kind, size, rest) => { layout.push({ kind, y, size, ...rest }); y += size; };
    for (const process of model.list) {
      add('process', HEADING, { process, label: process.name });
      if (process.folded) continue;
      for (const counter of process.counters.values()) {
        add('counter', PLOT, { counter, label: counter.name });
      }
      for (const [cat, group] of process.asyncs) {
        add('async', group.folded ? HEADING : group.rows.length * THIN + 8, { group,
          rows: group.folded ? [] : group.rows,
          label: `${group.folded ? '\u25b8' : '\u25be'} ${cat}s: ${group.count}` });
      }
      for (const thread of process.lanes) {
        if (!thread.rows.length && !thread.instants.length) continue;
        thread.y = y;
        add('thread', Math.max(1, thread.rows.length) * ROW + 8, { thread, label: thread.name });
      }
    }
    total = y;
    const groups = asyncGroups();
    const unfolded = groups.filter((group) => !group.folded).length;
    $('allocations').checked = unfolded > 0 && unfolded === groups.length;
    $('allocations').indeterminate = unfolded > 0 && unfolded < groups.length;
  }

  const asyncGroups = () => model.list.flatMap((process) => [...process.asyncs.values()]);

  function foldAsyncs(folded) {
    for (const group of asyncGroups()) group.folded = folded;
    makeLayout();
    redraw();
  }

  function clampView() {
    const span = Math.min(Math.max(right - left, 0.005), (model.end - model.start) * 1.1);
    const margin = span * 0.5;
    left = Math.min(Math.max(left, model.start - margin), model.end - span + margin);
    right = left + span;
    scroll = Math.max(0, Math.min(scroll, total + 20 - (height - AXIS)));
  }

  function showSpan({ start, end }) {
    const margin = Math.max(end - start, 0.01) * 0.01;
    left = start - margin;
    right = end + margin;
    redraw();
  }

  function fit() {
    shownSpan = -1;
    showStatus();
    showSpan(model);
  }

  // Shows the recorded iterations of a case; if they are shown already, those of the next case.
  let shownSpan = -1;
  function showIterations() {
    if (!model.iterations.length) return fit();
    shownSpan = (shownSpan + 1) % model.iterations.length;
    showStatus();
    scrollTo(model.iterations[shownSpan].first);
    showSpan(model.iterations[shownSpan]);
  }

  function showStatus() {
    const plural = (n, word) => `${n.toLocaleString('en')} ${word}${n === 1 ? '' : 's'}`;
    const parts = [plural(model.slices, 'slice') + ' on ' + plural(model.tracks, 'track'),
      plural(model.flows.length, 'flow'), roundedTime(model.end)];
    const span = model.iterations[shownSpan];
    if (span) parts[2] += `; opened at ${plural(span.iterations.size, 'iteration')}`;
    if (span && model.iterations.length > 1) {
      parts[2] += ` of ${span.name} (I: the next of ${model.iterations.length} cases)`;
    }
    $('status').textContent = parts.join(', ');
    // Which part of the program's time the trace shows.
    $('share').textContent = model.metadata.share || '';
  }

  function redraw() {
    if (!frame) frame = requestAnimationFrame(() => { frame = 0; draw(); });
  }

  function readTheme() {
    dark = matchMedia('(prefers-color-scheme: dark)').matches;
    const style = getComputedStyle(document.documentElement);
    for (const name of ['paper', 'ink', 'soft', 'line', 'band', 'mark', 'arrow', 'area']) {
      theme[name] = style.getPropertyValue(`--${name}`).trim();
    }
  }

  function resize() {
    const box = $('view').getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    width = Math.max(box.width, 120);
    gutter = Math.min(WIDEST_GUTTER, Math.round(width * 0.27));
    height = Math.max(box.height, AXIS + 20);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (model) draw();
  }

  function text(string, x, y, most) {
    if (most < 8) return;
    let shown = string;
    const size = pen.measureText(shown).width;
    if (size > most) {
      let keep = Math.floor(shown.length * (most / size));
      do {
        shown = string.slice(0, --keep) + '\u2026';
      } while (keep > 0 && pen.measureText(shown).width > most);
      if (keep < 1) return;
    }
    pen.fillText(shown, x, y);
  }

  let drawn, rectangles;
  function draw() {
    clampView();
    drawn = rectangles = 0;
    pen.font = FONT;
    pen.textBaseline = 'middle';
    pen.fillStyle = theme.paper;
    pen.fillRect(0, 0, width, height);
    pen.save();
    pen.beginPath();
    pen.rect(0, AXIS, width, height - AXIS);
    pen.clip();
    const painters = { process: drawProcess, counter: drawCounter, async: drawAsync,
      thread: drawThread };
    for (const part of layout) {
      const y = AXIS + part.y - scroll;
      if (y + part.size < AXIS || y > height) continue;
      painters[part.kind](part, y);
    }
    pen.save();
    pen.beginPath();
    pen.rect(gutter, AXIS, width - gutter, height - AXIS);
    pen.clip();
    drawFlows();
    pen.restore();
    pen.restore();
    drawAxis();
    publish();
  }

  // Publishes the state that tests and scripts read.
  function publish() {
    const data = $('status').dataset;
    data.drawn = drawn;
    data.rectangles = rectangles;
    data.asyncRows = layout.reduce((sum, part) =>
      sum + (part.kind === 'async' ? Math.max(1, part.rows.length) : 0), 0);
    data.gutter = gutter;
    data.from = left;
    data.to = right;
  }

  function drawAxis() {
    pen.fillStyle = theme.band;
    pen.fillRect(0, 0, width, AXIS);
    pen.fillStyle = theme.line;
    pen.fillRect(0, AXIS - 1, width, 1);
    pen.fillRect(gutter, 0, 1, height);
    const wanted = (right - left) / Math.max(3, (width - gutter) / 120);
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= wanted);
    for (let tick = Math.ceil(left / step) * step; tick <= right; tick += step) {
      const x = xOf(tick);
      if (x < gutter) continue;
      pen.fillStyle = theme.line;
      pen.fillRect(Math.round(x), AXIS - 7, 1, 7);
      pen.fillStyle = theme.soft;
      const label = Math.abs(tick) < step / 1e3 ? '0' : formatTime(tick, Math.max(Math.abs(tick), step));
      text(label, x + 4, AXIS / 2, 115);
    }
    pen.fillStyle = theme.soft;
    const shown = roundedTime(right - left);
    text(gutter < WIDEST_GUTTER ? shown : `${shown} shown`, 8, AXIS / 2, gutter - 12);
  }

  function drawLabel(label, y, size, colour) {
    pen.fillStyle = colour;
    text(label, 14, y + Math.min(size / 2, 12), gutter - 20);
  }

  function drawProcess(part, y) {
    pen.fillStyle = theme.band;
    pen.fillRect(0, y, width, part.size);
    pen.fillStyle = theme.line;
    pen.fillRect(0, y, width, 1);
    pen.fillStyle = theme.ink;
    pen.font = `bold ${FONT}`;
    text(`${part.process.folded ? '\u25b8' : '\u25be'} ${part.label}`, 5, y + part.size / 2, width);
    pen.font = FONT;
  }

  function separator(y, size) {
    pen.fillStyle = theme.line;
    pen.globalAlpha = 0.5;
    pen.fillRect(0, y + size - 1, width, 1);
    pen.globalAlpha = 1;
  }

  function drawCounter(part, y) {
    const { samples, most, least } = part.counter;
    drawLabel(part.label, y, part.size, theme.ink);
    pen.fillStyle = theme.soft;
    text(`0 to ${formatNumber(most)}`, 14, y + 28, gutter - 20);
    drawArea(samples, { most, least }, y, part.size);
    separator(y, part.size);
  }

  // Draws the values of samples [time, value] as an area with steps.
  function drawArea(samples, { most, least }, y, size) {
    const range = most - least || 1;
    const inner = size - 10;
    const yOf = (value) => y + 5 + inner * (1 - (value - least) / range);
    pen.save();
    pen.beginPath();
    pen.rect(gutter, y, width - gutter, size);
    pen.clip();
    pen.beginPath();
    let i = samples.findLastIndex(([time]) => time <= left);
    i = Math.max(i, 0);
    let x = samples.length ? Math.max(xOf(samples[i][0]), gutter - 2) : gutter;
    pen.moveTo(x, yOf(0));
    for (; i < samples.length && samples[i][0] <= right; ++i) {
      x = Math.max(xOf(samples[i][0]), gutter - 2);
      if (i > 0) pen.lineTo(x, yOf(samples[Math.max(i - 1, 0)][1]));
      pen.lineTo(x, yOf(samples[i][1]));
    }
    const end = Math.min(xOf(model.end), width);
    if (i > 0) pen.lineTo(end, yOf(samples[i - 1][1]));
    pen.lineTo(end, yOf(0));
    pen.closePath();
    pen.fillStyle = theme.area;
    pen.globalAlpha = 0.3;
    pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = theme.area;
    pen.stroke();
    pen.restore();
  }

  // A folded group shows how many of its intervals there are at each time.
  function drawAsync(part, y) {
    const { folded, live } = part.group;
    drawLabel(part.label, y, part.size, theme.ink);
    if (folded) {
      const most = live.reduce((max, [, count]) => Math.max(max, count), 0);
      drawArea(live, { most, least: 0 }, y, part.size);
    }
    part.rows.forEach((row, r) => drawRow(row, y + 4 + r * THIN, THIN - 1, 'async'));
    separator(y, part.size);
  }

  function drawThread(part, y) {
    const { thread } = part;
    drawLabel(part.label, y, part.size, theme.ink);
    thread.rows.forEach((row, r) => drawRow(row, y + 4 + r * ROW, ROW - 1, 'slice'));
    for (const instant of thread.instants) {
      const x = xOf(instant.start);
      if (x < gutter || x > width) continue;
      pen.fillStyle = theme.arrow;
      pen.beginPath();
      pen.moveTo(x, y + 9);
      pen.lineTo(x - 4, y + 1);
      pen.lineTo(x + 4, y + 1);
      pen.fill();
      pen.fillRect(x - 0.5, y + 1, 1, part.size - 4);
    }
    separator(y, part.size);
  }

  // Merges slices of less than a pixel into one rectangle, which is darker if they are denser.
  function drawRow(row, y, size, kind) {
    let busy = -1;
    for (let i = firstAfter(row, left); i < row.length && row[i].start <= right; ++i) {
      const item = row[i];
      if (kind === 'slice') ++drawn;
      const x = Math.max(xOf(item.start), gutter);
      const end = Math.max(Math.min(xOf(item.end), width), x + 0.7);
      if (end < busy + 0.7 && item !== selected && !item.match) continue;
      busy = end;
      ++rectangles;
      drawItem(item, x, y, end - x, size);
    }
  }

  function drawItem(item, x, y, w, size) {
    const name = String(item.event.name);
    pen.globalAlpha = query && !item.match ? 0.22 : 1;
    pen.fillStyle = colourOf(name);
    pen.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0), 0.7), size);
    if (item.event.args && item.event.args.unfinished) {
      pen.fillStyle = theme.arrow;
      pen.fillRect(x + Math.max(w - 4, 0), y, Math.min(w, 3), size);
    }
    if (w > 24 && size > 10) {
      pen.fillStyle = theme.ink;
      text(name, x + 4, y + size / 2 + 0.5, w - 8);
    }
    pen.globalAlpha = 1;
    if (item === selected || item === hovered) {
      pen.strokeStyle = theme.mark;
      pen.lineWidth = item === selected ? 2 : 1;
      pen.strokeRect(x + 0.5, y + 0.5, Math.max(w - 2, 1), size - 1);
      pen.lineWidth = 1;
    }
  }

  const yOfItem = (item) => AXIS + item.thread.y - scroll + 4 + item.depth * ROW + ROW / 2;

  function drawFlows() {
    if (!$('flows').checked) return;
    let count = 0;
    const near = (end) => end.start >= left && end.start <= right;
    for (const flow of model.flows) {
      if (flow.from.item.process.folded || flow.to.item.process.folded) continue;
      const chosen = flow.from.item === selected || flow.to.item === selected;
      if (!near(flow.from) && !near(flow.to)) continue;
      if (++count > MOST_FLOWS && !chosen) continue;
      drawArrow(xOf(flow.from.start), yOfItem(flow.from.item), xOf(flow.to.start),
        yOfItem(flow.to.item), chosen);
    }
    $('status').dataset.arrows = Math.min(count, MOST_FLOWS);
  }

  function drawArrow(x0, y0, x1, y1, chosen) {
    pen.strokeStyle = pen.fillStyle = theme.arrow;
    pen.globalAlpha = chosen ? 1 : 0.45;
    pen.lineWidth = chosen ? 2 : 1;
    const bend = Math.max(20, Math.abs(x1 - x0) / 3);
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(x1 + 1, y1);
    pen.lineTo(x1 - 6, y1 - 3.5);
    pen.lineTo(x1 - 6, y1 + 3.5);
    pen.fill();
    pen.globalAlpha = pen.lineWidth = 1;
  }

  // ---- Finding, showing ----

  function partAt(y) {
    const at = y - AXIS + scroll;
    return y < AXIS ? null : layout.find((part) => at >= part.y && at < part.y + part.size);
  }

  function itemAt(x, y) {
    const part = partAt(y);
    if (!part || x < gutter) return null;
    const inside = y - AXIS + scroll - part.y - 4;
    const slack = 3 / scale();
    const time = timeAt(x);
    const instant = (part.thread?.instants || []).find((i) => Math.abs(i.start - time) <= slack);
    if (instant) return instant;
    const rows = part.kind === 'thread' ? part.thread.rows : part.kind === 'async' ? part.rows : [];
    const row = rows[Math.floor(inside / (part.kind === 'thread' ? ROW : THIN))];
    if (!row) return part.kind === 'counter' ? sampleAt(part.counter, time) : null;
    const item = row[firstAfter(row, time - slack)];
    return item && item.start <= time + slack ? item : null;
  }

  function sampleAt(counter, time) {
    const sample = counter.samples.findLast(([start]) => start <= time);
    if (!sample) return null;
    return { start: sample[0], event: { name: counter.name, args: { value: sample[1] } } };
  }

  // Returns rows of name and value that describe an item.
  function describe(item) {
    const rows = [['start', formatTime(item.start)]];
    if (item.end !== undefined) rows.push(['duration', formatTime(item.end - item.start)]);
    if (item.event.cat) rows.push(['category', String(item.event.cat)]);
    if (item.thread) rows.push(['track', `${item.process.name} / ${item.thread.name}`]);
    for (const [key, value] of Object.entries(item.event.args || {})) {
      const number = typeof value === 'number' && Math.abs(value) >= 1e4;
      const plain = typeof value === 'object' ? JSON.stringify(value) : String(value);
      rows.push([key, number ? `${value.toLocaleString('en')} (${formatNumber(value)})` : plain]);
    }
    return rows;
  }

  function element(tag, content) {
    const made = document.createElement(tag);
    made.textContent = content;
    return made;
  }

  function showHover(item, x, y) {
    const box = $('hover');
    box.hidden = !item;
    if (!item) return;
    const lines = describe(item).slice(0, 14).map(([key, value]) => `${key}: ${value.slice(0, 300)}`);
    box.replaceChildren(element('b', String(item.event.name)), lines.join('\n'));
    const right = x + 16 + box.offsetWidth > width;
    box.style.left = `${Math.max(0, right ? x - 12 - box.offsetWidth : x + 14)}px`;
    box.style.top = `${Math.max(0, Math.min(y + 14, height - box.offsetHeight - 4))}px`;
  }

  function select(item) {
    selected = item;
    $('details').hidden = !item;
    if (item) {
      $('details-name').textContent = String(item.event.name);
      $('details-table').replaceChildren(...describe(item).map(([key, value]) => {
        const row = document.createElement('tr');
        row.append(element('td', key), element('td', value));
        return row;
      }));
    }
    resize();
  }

  function reveal(item) {
    const span = right - left;
    if (item.end - item.start > span || item.end - item.start < span / 400) {
      zoomTo(item);
    } else if (item.start < left || item.end > right) {
      left = (item.start + item.end - span) / 2;
      right = left + span;
    }
    scrollTo(item);
    select(item);
  }

  function scrollTo(item) {
    item.process.folded = false;
    makeLayout();
    const y = yOfItem(item);
    if (y < AXIS + 10 || y > height - 20) scroll += y - height / 2;
  }

  function zoomTo(item) {
    const size = Math.max(item.end - item.start, 0.01);
    left = item.start - size;
    right = item.end + size;
  }

  function zoom(factor, x = (width + gutter) / 2) {
    const time = timeAt(x);
    left = time - (time - left) * factor;
    right = time + (right - time) * factor;
    redraw();
  }

  function pan(share) {
    const shift = (right - left) * share;
    left += shift;
    right += shift;
    redraw();
  }

  // Returns the time during which at least one of the items runs. A layer, its call and its
  // primitive cover the same time and must not be added up. The items must be sorted by start.
  function coveredTime(items) {
    let sum = 0, end = -Infinity;
    for (const item of items) {
      sum += Math.max(0, item.end - Math.max(item.start, end));
      end = Math.max(end, item.end);
    }
    return sum;
  }

  // Shows next to the search how many matches there are and how much time they cover. The tooltip
  // shows it per process.
  function showMatches() {
    const time = coveredTime(model.matches);
    const position = found >= 0 && model.matches.length ? `${found + 1} of ` : '';
    $('matches').textContent = query
      ? `${position}${model.matches.length} (${roundedTime(time)})` : '';
    const matchesOf = new Map(model.list.map((process) => [process, []]));
    for (const item of model.matches) matchesOf.get(item.process).push(item);
    const ofProcess = model.list.map((process) =>
      [process.name, coveredTime(matchesOf.get(process))]);
    const nested = nestedMatches ? `; ${nestedMatches} more nest in these and do not count` : '';
    $('matches').title = query ? 'time during which at least one match runs: '
      + ofProcess.filter(([, part]) => part > 0)
        .map(([name, part]) => `${name} ${roundedTime(part)}`).join(', ') + nested : '';
    $('status').dataset.matches = model.matches.length;
    $('status').dataset.matchedNs = Math.round(time * 1e3);
  }

  // A match that nests in another match of its track is a part of the same thing, for example the
  // call and the primitive of an operator. It is highlighted but neither counted nor visited.
  let found = -1, nestedMatches = 0;
  function search(words) {
    query = words.trim().toLowerCase();
    model.matches = [];
    nestedMatches = 0;
    const ends = new Map();  // by track: end of its last counted match
    for (const item of model.all) {
      item.match = query !== '' && item.text.includes(query);
      if (!item.match) continue;
      // Ends are sums of rounded numbers: equal ones may differ by less than a nanosecond.
      if (item.end < (ends.get(item.thread) ?? -Infinity) + 5e-4) {
        ++nestedMatches;
        continue;
      }
      ends.set(item.thread, item.end);
      model.matches.push(item);
    }
    found = -1;
    showMatches();
    redraw();
  }

  function go(step) {
    if (!model.matches.length) return;
    found = (found + step + model.matches.length) % model.matches.length;
    if (found < 0) found = 0;
    showMatches();
    reveal(model.matches[found]);
  }

  // ---- Loading and events of the page ----

  async function textOf(bytes) {
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return new TextDecoder().decode(bytes);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Response(stream).text();
  }

  function fail(error) {
    $('status').textContent = `cannot show the trace: ${error.message}`;
    $('status').className = 'error';
    $('status').dataset.error = error.message;
  }

  async function load(bytes) {
    try {
      model = buildModel(parseTrace(await textOf(bytes)));
    } catch (error) {
      return fail(error);
    }
    const data = $('status').dataset;
    $('status').className = '';
    $('iterations').hidden = !model.iterations.length;
    $('allocations-label').hidden = !model.asyncs;
    Object.assign(data, { slices: model.slices, tracks: model.tracks, flows: model.flows.length,
      instants: model.instants, counters: model.counters, asyncs: model.asyncs,
      processes: model.list.length });
    delete data.error;
    selected = hovered = null;
    scroll = 0;
    makeLayout();
    readTheme();
    resize();
    shownSpan = -1;
    showIterations();
    followAddress();
    draw();
    data.ready = 'yes';
  }

  // The address selects the initial view: timeline.html#search=conv&from=0&to=100.
  function followAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    if (wanted.has('search')) {
      $('search').value = wanted.get('search');
      search(wanted.get('search'));
      go(1);
    }
    if (wanted.has('from') && wanted.has('to')) {
      left = Number(wanted.get('from'));
      right = Number(wanted.get('to'));
    }
  }

  function embedded() {
    const text = $('trace').textContent.trim();
    if (!text) return null;
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
    $('trace').textContent = '';
    return bytes;
  }

  const read = async (file) => file && load(new Uint8Array(await file.arrayBuffer()));

  // The view when a pointer touched the canvas or left it. Moves are relative to it.
  let grabbed = null;
  const pointers = new Map();  // of those that touch the canvas: position by id
  const midpoint = (key) => {
    let sum = 0;
    for (const pointer of pointers.values()) sum += pointer[key];
    return sum / pointers.size;
  };
  const spread = () => {
    const [a, b] = pointers.values();
    return b ? Math.max(20, Math.hypot(a.x - b.x, a.y - b.y)) : 1;
  };

  function grab() {
    const moved = Boolean(grabbed?.moved) || pointers.size > 1;
    grabbed = pointers.size === 0 ? null
      : { x: midpoint('x'), y: midpoint('y'), spread: spread(), left, right, scroll, moved };
  }

  // One pointer moves the view. Two also zoom: the time between them stays between them.
  function drag() {
    const x = midpoint('x'), y = midpoint('y');
    if (Math.abs(x - grabbed.x) + Math.abs(y - grabbed.y) > 3) grabbed.moved = true;
    if (!grabbed.moved) return;
    canvas.classList.add('moving');
    const span = (grabbed.right - grabbed.left) * (grabbed.spread / spread());
    const inner = width - gutter;
    const time = grabbed.left + (grabbed.x - gutter) / inner * (grabbed.right - grabbed.left);
    left = time - (x - gutter) / inner * span;
    right = left + span;
    scroll = grabbed.scroll - (y - grabbed.y);
    showHover(null);
  }

  function click(x, y) {
    const part = partAt(y);
    const owner = part?.process || (x < gutter || part?.group?.folded ? part?.group : null);
    if (!owner) return select(itemAt(x, y));
    owner.folded = !owner.folded;
    makeLayout();
    redraw();
  }

  function release(e) {
    const ending = grabbed;
    if (!pointers.delete(e.pointerId) || !model) return;
    grab();
    if (grabbed) return;
    canvas.classList.remove('moving');
    if (e.type === 'pointerup' && !ending.moved) click(e.offsetX, e.offsetY);
  }

  function listenToPointer() {
    canvas.addEventListener('pointerdown', (e) => {
      pointers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
      grab();
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener('pointermove', (e) => {
      if (!model) return;
      if (pointers.has(e.pointerId)) {
        pointers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
        drag();
      } else {
        hovered = itemAt(e.offsetX, e.offsetY);
        showHover(hovered, e.offsetX, e.offsetY);
      }
      redraw();
    });
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', release);
    canvas.addEventListener('pointerleave', () => showHover(null));
    canvas.addEventListener('dblclick', (e) => {
      const item = model && itemAt(e.offsetX, e.offsetY);
      if (item && item.end !== undefined) { zoomTo(item); redraw(); }
    });
    canvas.addEventListener('wheel', (e) => {
      if (!model) return;
      e.preventDefault();
      if (e.ctrlKey || e.altKey || e.metaKey) return zoom(Math.exp(e.deltaY / 400), e.offsetX);
      if (e.shiftKey || e.deltaX) return pan((e.deltaX || e.deltaY) / (width - gutter));
      scroll += e.deltaY;
      redraw();
    }, { passive: false });
  }

  const KEYS = {
    w: () => zoom(0.7), s: () => zoom(1.4), a: () => pan(-0.15), d: () => pan(0.15), f: fit,
    i: showIterations, m: () => foldAsyncs(asyncGroups().some((group) => !group.folded)),
    arrowleft: () => pan(-0.15), arrowright: () => pan(0.15),
    arrowup: () => { scroll -= 60; redraw(); }, arrowdown: () => { scroll += 60; redraw(); },
    escape: () => select(null),
  };

  function listen() {
    listenToPointer();
    window.addEventListener('resize', resize);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      readTheme();
      if (model) redraw();
    });
    document.addEventListener('keydown', (e) => {
      if (!model || e.target.tagName === 'INPUT' || e.ctrlKey || e.metaKey || e.altKey) return;
      const act = Object.hasOwn(KEYS, e.key.toLowerCase()) && KEYS[e.key.toLowerCase()];
      if (act) act();
    });
    $('search').addEventListener('input', (e) => model && search(e.target.value));
    $('search').addEventListener('keydown', (e) => {
      if (model && e.key === 'Enter') go(e.shiftKey ? -1 : 1);
    });
    const clicks = {
      next: () => go(1), previous: () => go(-1), fit, iterations: showIterations,
      close: () => select(null), 'zoom-in': () => zoom(0.7), 'zoom-out': () => zoom(1.4),
    };
    for (const [id, act] of Object.entries(clicks)) {
      $(id).addEventListener('click', () => model && act());
    }
    $('flows').addEventListener('change', () => model && redraw());
    $('allocations').addEventListener('change', (e) => model && foldAsyncs(!e.target.checked));
    $('open').addEventListener('click', () => $('file').click());
    $('file').addEventListener('change', (e) => read(e.target.files[0]));
    document.addEventListener('dragover', (e) => {
      e.preventDefault();
      document.body.classList.add('dropping');
    });
    document.addEventListener('dragleave', () => document.body.classList.remove('dropping'));
    document.addEventListener('drop', (e) => {
      e.preventDefault();
      document.body.classList.remove('dropping');
      read(e.dataTransfer.files[0]);
    });
  }

  document.addEventListener('DOMContentLoaded', () => {
    canvas = $('canvas');
    pen = canvas.getContext('2d');
    readTheme();
    listen();
    const bytes = embedded();
    if (bytes) {
      load(bytes);
    } else {
      $('status').textContent = 'no trace yet: drop one here';
    }
  });
})();
