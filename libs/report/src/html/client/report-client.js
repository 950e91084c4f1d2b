/* global document, getComputedStyle, matchMedia, ResizeObserver, uPlot */
// Runs in the reader's browser: draws the charts and timelines of a report from the JSON that
// stands beside each. It sends and loads nothing.
(() => {
  const SVG = 'http://www.w3.org/2000/svg';
  const CHART_HEIGHT = 260;
  const ROW_HEIGHT = 20;
  const ROWS_PER_PAGE = 25;
  const LABEL_WIDTH = 90;
  const AXIS_HEIGHT = 22;
  const redraws = [];

  function make(parent, name, attributes = {}, text = '') {
    const isSvg = ['svg', 'g', 'rect', 'line', 'text', 'title'].includes(name);
    const element = isSvg ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== '') element.textContent = text;
    parent.append(element);
    return element;
  }

  function variable(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  /** The colour of the i-th of n lines of one tone. */
  function colour(tone, i = 0, n = 1, alpha = 1) {
    const [hue, saturation] = variable(`--${tone}`).split(/\s+/);
    const shade = n === 1 ? 0 : i / (n - 1) - 0.5;
    const light = parseFloat(variable('--tone-light')) + shade * 26;
    return `hsl(${parseFloat(hue) + shade * 50} ${saturation} ${light}% / ${alpha})`;
  }

  function readable(value) {
    if (value === null || value === undefined) return '–';
    const size = Math.abs(value);
    if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))} M`;
    if (size >= 1e4) return `${Number((value / 1e3).toPrecision(3))} k`;
    return String(Number(value.toPrecision(3)));
  }

  function formatSpan(ms) {
    if (ms === null || ms === undefined) return '–';
    return Math.abs(ms) >= 1_000 ? `${readable(ms / 1_000)} s` : `${readable(ms)} ms`;
  }

  /** How values on an axis are written. */
  function writer({ unit }) {
    return unit === 'ms' ? formatSpan : readable;
  }

  /** Keys that act on a focused chart or timeline; what is not named here stays the browser's. */
  function onKeys(element, keys) {
    element.addEventListener('keydown', (event) => {
      const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act(event);
    });
  }

  // Charts

  function toneIndices(series) {
    const counts = {};
    const indices = series.map(({ tone }) => (counts[tone] = (counts[tone] ?? -1) + 1));
    return series.map(({ tone }, i) => [indices[i], counts[tone] + 1]);
  }

  function seriesOptions(chart) {
    const places = toneIndices(chart.series);
    return chart.series.map(({ name, tone, style }, i) => {
      const stroke = colour(tone, ...places[i]);
      const isPoints = style === 'points';
      return {
        label: name,
        stroke,
        width: isPoints ? 0 : 1.6,
        dash: style === 'dashed' ? [6, 4] : undefined,
        fill: style === 'area' ? colour(tone, places[i][0], places[i][1], 0.12) : undefined,
        paths: isPoints ? () => null : undefined,
        points: { show: isPoints, size: 8, fill: stroke },
        value: (_plot, value) => writer(chart.y)(value),
      };
    });
  }

  function rangeOf(axis, name, chart) {
    if (axis.range !== undefined) return axis.range;
    const marks = (chart.marks ?? []).filter((mark) => mark.axis === name).map((mark) => mark.at);
    if (axis.scale === 'log') {
      return (_plot, low, high) => [Math.min(low, ...marks) / 1.1, Math.max(high, ...marks) * 1.1];
    }
    const from = name === 'x' ? (low) => low : () => 0;
    return (_plot, low, high) => {
      const top = Math.max(high ?? 1, ...marks);
      const bottom = Math.min(from(low ?? 0), ...marks);
      return name === 'x' ? [bottom, top > bottom ? top : bottom + 1] : [bottom, top * 1.05 || 1];
    };
  }

  /** 1, 2 and 5 in each power of ten; only the powers where the labels would overlap. */
  function logTicks({ width, height }, axis, low, high) {
    const most = Math.min(12, axis === 0 ? width / 62 : height / 24);
    const powers = Array.from({ length: 40 }, (_none, i) => 10 ** (i - 20));
    const all = powers.flatMap((power) => [power, 2 * power, 5 * power]);
    const within = all.filter((tick) => tick >= low && tick <= high);
    return within.length > most ? within.filter((tick) => powers.includes(tick)) : within;
  }

  function axisOptions(axis, size) {
    const text = variable('--muted');
    const grid = { stroke: variable('--line'), width: 1 };
    const font = `11px ${getComputedStyle(document.body).fontFamily}`;
    return {
      label: axis.label,
      labelSize: 20,
      labelFont: font,
      font,
      stroke: text,
      grid,
      ticks: grid,
      size,
      splits: axis.scale === 'log' ? logTicks : undefined,
      filter: (_plot, splits) => splits,
      values: (_plot, values) => values.map((value) => (value === null ? '' : writer(axis)(value))),
    };
  }

  function drawMarks(plot, marks) {
    const { ctx, bbox } = plot;
    const ratio = bbox.width / plot.over.clientWidth;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.strokeStyle = ctx.fillStyle = colour('bad');
    ctx.lineWidth = ratio * 1.5;
    ctx.setLineDash([5 * ratio, 4 * ratio]);
    ctx.font = `${11 * ratio}px ${getComputedStyle(document.body).fontFamily}`;
    for (const { axis, at, label } of marks) {
      const place = plot.valToPos(at, axis, true);
      const isLate = axis === 'x' && place > bbox.left + bbox.width * 0.75;
      ctx.textAlign = isLate ? 'right' : 'left';
      ctx.beginPath();
      ctx.moveTo(axis === 'x' ? place : bbox.left, axis === 'x' ? bbox.top : place);
      ctx.lineTo(
        axis === 'x' ? place : bbox.left + bbox.width,
        axis === 'x' ? bbox.top + bbox.height : place,
      );
      ctx.stroke();
      const gap = 5 * ratio * (isLate ? -1 : 1);
      const x = axis === 'x' ? place + gap : bbox.left + gap;
      // A label above a line at the upper edge would be cut.
      const below = place - bbox.top < 16 * ratio ? 13 * ratio : -5 * ratio;
      ctx.fillText(label, x, axis === 'x' ? bbox.top + bbox.height - 8 * ratio : place + below);
    }
    ctx.restore();
  }

  function drawChart(box, chart) {
    const plotBox = make(box, 'div', { class: 'plot', tabindex: '0', role: 'group' });
    plotBox.setAttribute(
      'aria-label',
      `Chart of ${chart.y.label} by ${chart.x.label}. ` +
        'Arrow keys read values, plus and minus zoom, 0 shows everything.',
    );
    const data = [chart.xs, ...chart.series.map(({ values }) => values)];
    const options = () => ({
      width: plotBox.clientWidth,
      height: CHART_HEIGHT,
      series: [
        { label: chart.x.label, value: (_plot, value) => writer(chart.x)(value) },
        ...seriesOptions(chart),
      ],
      scales: {
        x: {
          time: false,
          distr: chart.x.scale === 'log' ? 3 : 1,
          range: rangeOf(chart.x, 'x', chart),
        },
        y: { distr: chart.y.scale === 'log' ? 3 : 1, range: rangeOf(chart.y, 'y', chart) },
      },
      axes: [axisOptions(chart.x, 34), axisOptions(chart.y, 48)],
      cursor: { points: { size: 6 }, drag: { x: true, y: false } },
      hooks: { draw: [(plot) => drawMarks(plot, chart.marks ?? [])] },
    });
    let plot = new uPlot(options(), data, plotBox);
    new ResizeObserver(() =>
      plot.setSize({ width: plotBox.clientWidth, height: CHART_HEIGHT }),
    ).observe(plotBox);
    redraws.push(() => {
      plot.destroy();
      plot = new uPlot(options(), data, plotBox);
    });
    onKeys(
      plotBox,
      chartKeys(() => plot, chart),
    );
  }

  function chartKeys(current, { xs }) {
    const move = (step) => (event) => {
      const plot = current();
      const from = plot.cursor.idx ?? -1;
      const index = Math.max(0, Math.min(xs.length - 1, from + step * (event.shiftKey ? 10 : 1)));
      const first = plot.series.findIndex(
        (series, i) => i > 0 && series.show && plot.data[i][index] !== null,
      );
      const top = first < 0 ? 0 : plot.valToPos(plot.data[first][index], 'y');
      plot.setCursor({ left: plot.valToPos(xs[index], 'x'), top });
    };
    const zoom = (factor) => () => {
      const plot = current();
      const left = plot.cursor.left >= 0 ? plot.cursor.left : plot.over.clientWidth / 2;
      const width = plot.over.clientWidth;
      const min = plot.posToVal(left - left * factor, 'x');
      const max = plot.posToVal(left + (width - left) * factor, 'x');
      plot.setScale('x', { min, max });
    };
    const reset = () => current().setData(current().data, true);
    return {
      ArrowLeft: move(-1),
      ArrowRight: move(1),
      '+': zoom(0.5),
      '=': zoom(0.5),
      '-': zoom(2),
      0: reset,
    };
  }

  // Timelines

  const ORDERS = {
    'in order of arrival': (a, b) => a.startMs - b.startMs,
    'longest first': (a, b) => lengthOf(b) - lengthOf(a),
  };

  function lengthOf(row) {
    return row.spansMs.reduce((sum, span) => sum + (span ?? 0), 0);
  }

  function drawTimeline(box, gantt) {
    const view = { page: 0, zoom: 1, from: 0, isAligned: true, order: 'in order of arrival' };
    const controls = make(box, 'div', { class: 'controls' });
    const stage = make(box, 'div', { tabindex: '0', role: 'group' });
    stage.setAttribute(
      'aria-label',
      'Timeline of requests. Page up and page down turn pages, plus and minus zoom, ' +
        'arrow keys move, 0 shows everything.',
    );
    const pages = Math.max(1, Math.ceil(gantt.rows.length / ROWS_PER_PAGE));
    const update = (change) => {
      Object.assign(view, change);
      view.page = Math.max(0, Math.min(pages - 1, view.page));
      view.zoom = Math.max(1, Math.min(4_096, view.zoom));
      view.from = Math.max(0, Math.min(1 - 1 / view.zoom, view.from));
      previous.disabled = view.page === 0;
      next.disabled = view.page === pages - 1;
      place.textContent = `page ${view.page + 1} of ${pages}`;
      drawRows(stage, gantt, view);
    };
    const zoom = (factor) => update({ zoom: view.zoom * factor });
    const button = (text, label, act) => {
      const element = make(controls, 'button', { type: 'button', 'aria-label': label }, text);
      element.addEventListener('click', act);
      return element;
    };
    const previous = button('◀', 'Previous page', () => update({ page: view.page - 1 }));
    const place = make(controls, 'span', { 'aria-live': 'polite' });
    const next = button('▶', 'Next page', () => update({ page: view.page + 1 }));
    button('+', 'Zoom in', () => zoom(2));
    button('−', 'Zoom out', () => zoom(0.5));
    button('all', 'Show the whole span', () => update({ zoom: 1, from: 0 }));
    select(controls, 'Time axis', ['since each arrival', 'since the run began'], (choice) =>
      update({ isAligned: choice === 'since each arrival', zoom: 1, from: 0 }),
    );
    select(controls, 'Order', Object.keys(ORDERS), (order) => update({ order, page: 0 }));
    drawKey(controls, gantt);
    const move = (share) => () => update({ from: view.from + share / view.zoom });
    onKeys(stage, {
      ArrowLeft: move(-0.2),
      ArrowRight: move(0.2),
      '+': () => zoom(2),
      '=': () => zoom(2),
      '-': () => zoom(0.5),
      0: () => update({ zoom: 1, from: 0 }),
      PageDown: () => update({ page: view.page + 1 }),
      PageUp: () => update({ page: view.page - 1 }),
    });
    new ResizeObserver(() => update({})).observe(stage);
    redraws.push(() => update({}));
  }

  function select(controls, label, choices, act) {
    const element = make(controls, 'select', { 'aria-label': label });
    for (const choice of choices) make(element, 'option', { value: choice }, choice);
    element.addEventListener('change', () => act(element.value));
  }

  function drawKey(controls, { phases }) {
    const key = make(controls, 'span');
    for (const { name, tone } of phases) {
      const entry = make(key, 'span', { class: 'key' });
      make(entry, 'i', { class: `tone-${tone}` });
      entry.append(name);
    }
  }

  function drawRows(stage, { rows, phases }, { page, zoom, from, isAligned, order }) {
    const shown = [...rows]
      .sort(ORDERS[order])
      .slice(page * ROWS_PER_PAGE, (page + 1) * ROWS_PER_PAGE);
    const startOf = (row) => (isAligned ? 0 : row.startMs);
    const first = isAligned ? 0 : Math.min(...shown.map((row) => row.startMs));
    const last = Math.max(...shown.map((row) => startOf(row) + lengthOf(row)), first + 1e-3);
    const beginMs = first + (last - first) * from;
    const spanMs = (last - first) / zoom;
    const width = Math.max(200, stage.clientWidth);
    const scale = (width - LABEL_WIDTH) / spanMs;
    const height = shown.length * ROW_HEIGHT + AXIS_HEIGHT;
    stage.replaceChildren();
    const svg = make(stage, 'svg', { viewBox: `0 0 ${width} ${height}`, height });
    for (const ms of ticks(beginMs, spanMs)) {
      const x = LABEL_WIDTH + (ms - beginMs) * scale;
      make(svg, 'line', { x1: x, x2: x, y1: 0, y2: height - AXIS_HEIGHT });
      make(
        svg,
        'text',
        { x: Math.min(x, width - 30), y: height - 6, 'text-anchor': 'middle' },
        formatSpan(ms),
      );
    }
    shown.forEach((row, i) => {
      const y = i * ROW_HEIGHT;
      make(svg, 'text', { x: LABEL_WIDTH - 8, y: y + 14, 'text-anchor': 'end' }, row.label);
      let atMs = startOf(row);
      row.spansMs.forEach((ms, phase) => {
        if (ms === null) return;
        const x = LABEL_WIDTH + (atMs - beginMs) * scale;
        atMs += ms;
        const left = Math.max(LABEL_WIDTH, x);
        const right = Math.min(width, x + ms * scale);
        if (right <= left) return;
        const bar = {
          x: left,
          y: y + 3,
          width: Math.max(0.75, right - left),
          height: ROW_HEIGHT - 6,
        };
        const rect = make(svg, 'rect', { ...bar, class: `tone-${phases[phase].tone}` });
        make(
          rect,
          'title',
          {},
          `${row.label}: ${phases[phase].name} ${formatSpan(ms)}\n${row.detail}`,
        );
      });
    });
  }

  function ticks(beginMs, spanMs) {
    const rough = spanMs / 8;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
    const count = Math.floor((beginMs + spanMs) / step) - Math.ceil(beginMs / step) + 1;
    return Array.from({ length: count }, (_none, i) => (Math.ceil(beginMs / step) + i) * step);
  }

  function drawBox(box) {
    const content = JSON.parse(document.getElementById(box.dataset.from).textContent);
    if (box.dataset.kind === 'gantt') drawTimeline(box, content);
    else drawChart(box, content);
  }

  // A folded chart has no width to draw in.
  for (const box of document.querySelectorAll('.drawn')) {
    const fold = box.closest('details');
    if (fold === null) drawBox(box);
    else fold.addEventListener('toggle', () => drawBox(box), { once: true });
  }
  for (const link of document.querySelectorAll('nav a')) {
    link.addEventListener('click', () => {
      const fold = document.querySelector(`${link.hash} > details`);
      if (fold !== null) fold.open = true;
    });
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    for (const redraw of redraws) redraw();
  });
})();
