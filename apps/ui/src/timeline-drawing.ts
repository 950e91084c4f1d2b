import type { SequenceTimeline, TimelineSpan } from '@baton/contract';
import { makeSvg } from './element';
import { formatCount, formatUs } from './format';
import { type Scale, ticks, toX } from './timeline-scale';

const LABELS = 96;
const ROW = 26;
const BAR = 18;
const AXIS = 22;
/** Width in CSS pixels below which a bar has no name. */
const NAMED_WIDTH = 46;

export const PHASE_TITLES: Readonly<Record<string, string>> = {
  queue: 'queue',
  prefill: 'prefill',
  hold: 'hold',
  transfer: 'transfer',
  decode_wait: 'decode wait',
  decode: 'decode',
};

interface Row {
  readonly title: string;
  readonly spans: readonly (TimelineSpan & { readonly tone: string; readonly text: string })[];
}

/**
 * One sequence as bars over time: its phases, the chunks of its prompt, the hold of its KV, and its
 * steps as ticks.
 */
export function drawTimeline(
  sequence: SequenceTimeline,
  { fromUs, untilUs }: Omit<Scale, 'width'>,
  totalWidth: number,
): SVGSVGElement {
  const scale = { fromUs, untilUs, width: Math.max(60, totalWidth - LABELS - 8) };
  const rows = rowsOf(sequence);
  const height = AXIS + (rows.length + 1) * ROW;
  const svg = makeSvg('svg', {
    class: 'timeline',
    width: totalWidth,
    height,
    viewBox: `0 0 ${totalWidth} ${height}`,
    role: 'img',
    'aria-label': 'Timeline; the table below has the same figures',
  });
  svg.append(...axis(scale, height));
  for (const [i, row] of rows.entries()) svg.append(rowGroup(row, scale, AXIS + i * ROW));
  svg.append(stepsGroup(sequence, scale, AXIS + rows.length * ROW));
  return svg;
}

function rowsOf({ phases, prefill_chunks, held }: SequenceTimeline): Row[] {
  const chunks = prefill_chunks.map((chunk, i) => ({
    ...chunk,
    tone: i % 2 === 0 ? 'prefill' : 'prefill-other',
    text: formatCount(chunk.tokens),
  }));
  return [
    {
      title: 'phases',
      spans: phases.map((span) => {
        const text = PHASE_TITLES[span.name] ?? span.name;
        return { ...span, tone: span.name.replace('_', '-'), text };
      }),
    },
    ...(chunks.length === 0 ? [] : [{ title: 'prompt chunks', spans: chunks }]),
    ...(held === null
      ? []
      : [{ title: 'KV held', spans: [{ ...held, tone: 'hold', text: 'held' }] }]),
  ];
}

function rowGroup({ title, spans }: Row, scale: Scale, y: number): SVGGElement {
  const group = makeSvg('g');
  group.append(label(title, y));
  for (const span of spans) {
    const endUs = span.end_us ?? scale.untilUs;
    if (endUs < scale.fromUs || span.start_us > scale.untilUs) continue;
    const x = LABELS + toX(scale, span.start_us);
    const width = Math.max(1, LABELS + toX(scale, endUs) - x);
    const length = span.duration_us === null ? 'so far' : formatUs(span.duration_us);
    const tokens = span.tokens === undefined ? '' : `, ${formatCount(span.tokens)} tokens`;
    const place = { x, y: y + (ROW - BAR) / 2, width, height: BAR, rx: 3 };
    const bar = makeSvg('rect', { ...place, class: `bar ${span.tone}` });
    bar.append(makeSvg('title', {}, [`${span.text}: ${length}${tokens}`]));
    group.append(bar);
    if (width < NAMED_WIDTH) continue;
    const at = { x: x + 6, y: y + ROW / 2 + 4, class: `in-bar ${span.tone}` };
    const room = Math.floor((width - 8) / 6.2);
    const fits = [`${span.text} ${length}`, span.text].find((text) => text.length <= room);
    if (fits !== undefined) group.append(makeSvg('text', at, [fits]));
  }
  return group;
}

function stepsGroup({ steps }: SequenceTimeline, scale: Scale, y: number): SVGGElement {
  const group = makeSvg('g');
  const each = steps.per_row === 1 ? 'each' : `every ${steps.per_row}th`;
  group.append(label(steps.per_row === 1 ? 'steps' : `steps (÷${steps.per_row})`, y));
  for (const [atUs, tokens] of steps.rows) {
    if (atUs < scale.fromUs || atUs > scale.untilUs) continue;
    const x = LABELS + toX(scale, atUs);
    const line = makeSvg('line', { x1: x, x2: x, y1: y + 5, y2: y + ROW - 5, class: 'step' });
    line.append(makeSvg('title', {}, [`token ${tokens} at ${formatUs(atUs)} (${each} step)`]));
    group.append(line);
  }
  return group;
}

function axis(scale: Scale, height: number): SVGElement[] {
  return ticks(scale, Math.max(2, scale.width / 110)).flatMap((us) => {
    const x = LABELS + toX(scale, us);
    const isLast = x > LABELS + scale.width - 30;
    const anchor = { 'text-anchor': isLast ? 'end' : 'middle' };
    return [
      makeSvg('line', { x1: x, x2: x, y1: AXIS - 4, y2: height, class: 'grid' }),
      makeSvg('text', { x, y: 13, class: 'tick', ...anchor }, [formatUs(us)]),
    ];
  });
}

function label(text: string, y: number): SVGTextElement {
  return makeSvg('text', { x: 0, y: y + ROW / 2 + 4, class: 'row-title' }, [text]);
}
