import type { RequestTimeline, SequenceTimeline } from '@baton/contract';
import type { ApiClient } from './api-client';
import { make, setText } from './element';
import { formatCount, readableShare, formatUs } from './format';
import { drawTimeline, PHASE_TITLES } from './timeline-drawing';
import { firstTokenUs, lastUs } from './timeline-scale';

const REFRESH_MS = 1_000;
/** Width of the first view relative to the first token, so that its step is visible. */
const BEYOND_FIRST = 1.08;

/**
 * The timeline of one request in a dialog: bars, a table with the same figures, and downloads. It
 * is refreshed while the request runs.
 */
export class TimelineDialog {
  readonly element: HTMLDialogElement;
  private readonly title = make('h2', { id: 'timeline-title' });
  private readonly body = make('div', { class: 'timeline-body' });
  private name = '';
  private isToFirst = false;
  private chosen = 0;
  private timeline: RequestTimeline | undefined;
  private timer: number | undefined;

  constructor(private readonly api: ApiClient) {
    const close = make('button', { type: 'button', class: 'close' }, ['Close']);
    close.addEventListener('click', () => this.element.close());
    const head = make('header', {}, [this.title, close]);
    this.element = make('dialog', { 'aria-labelledby': 'timeline-title' }, [head, this.body]);
    this.element.addEventListener('close', () => window.clearTimeout(this.timer));
    this.element.addEventListener('click', (event) => {
      if (event.target === this.element) this.element.close();
    });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  isOpen(name: string): boolean {
    return this.element.open && this.name === name;
  }

  async open(name: string): Promise<void> {
    this.name = name;
    this.chosen = 0;
    this.isToFirst = false;
    this.timeline = undefined;
    setText(this.title, name);
    this.body.replaceChildren(make('p', {}, ['Loading the timeline …']));
    if (!this.element.open) this.element.showModal();
    await this.refresh(name);
  }

  private async refresh(name: string): Promise<void> {
    window.clearTimeout(this.timer);
    const reply = await this.api.get(pathOf(name));
    if (name !== this.name || !this.element.open) return;
    if (reply.kind === 'refused') {
      if (this.timeline === undefined) this.refused(reply.status, reply.sentence);
      return;
    }
    this.timeline = reply.body as RequestTimeline;
    const own = this.timeline.sequences.findIndex(({ id }) => id === name);
    if (own > 0 && this.chosen === 0) this.chosen = own;
    this.draw();
    if (this.timeline.state !== 'running') return;
    this.timer = window.setTimeout(() => void this.refresh(name), REFRESH_MS);
  }

  /** Shows the reason for a missing timeline; without a valid key, also a field for the key. */
  private refused(status: number, sentence: string): void {
    const parts: HTMLElement[] = [make('p', {}, [sentence])];
    if (status === 401) {
      const input = make('input', { type: 'password', 'aria-label': 'API key' });
      const form = make('form', { class: 'controls' }, [
        input,
        make('button', { type: 'submit' }, ['Use this key']),
      ]);
      form.addEventListener('submit', (event) => {
        event.preventDefault();
        this.api.key = input.value;
        void this.refresh(this.name);
      });
      parts.push(form);
    }
    this.body.replaceChildren(...parts);
  }

  /**
   * A download of the timeline. The page fetches it where a key is needed, because a link cannot
   * send a key.
   */
  private link(text: string, query: string): HTMLElement {
    const path = pathOf(this.name) + query;
    const attributes = { href: `../${path}`, target: '_blank', rel: 'noopener' };
    const link = make('a', { ...attributes, 'data-control': text }, [text]);
    link.addEventListener('click', (event) => {
      if (this.api.key === undefined) return;
      event.preventDefault();
      void this.save(path);
    });
    return link;
  }

  private async save(path: string): Promise<void> {
    const reply = await this.api.get(path);
    if (reply.kind === 'refused') return;
    const url = URL.createObjectURL(new Blob([JSON.stringify(reply.body)]));
    make('a', { href: url, download: `${this.name}.json` }).click();
    URL.revokeObjectURL(url);
  }

  private draw(): void {
    const { timeline } = this;
    const sequence = timeline?.sequences[this.chosen] ?? timeline?.sequences[0];
    if (timeline === undefined || sequence === undefined || !this.element.open) return;
    const held = document.activeElement?.getAttribute('data-control');
    const firstUs = firstTokenUs(sequence);
    const endUs = lastUs(sequence, timeline.duration_us);
    const untilUs =
      this.isToFirst && firstUs !== undefined ? firstUs * BEYOND_FIRST : Math.max(endUs, 1);
    const width = Math.max(280, this.body.clientWidth);
    this.body.replaceChildren(
      facts(timeline, sequence),
      this.controls(timeline, firstUs),
      drawTimeline(sequence, { fromUs: 0, untilUs }, width),
      make('div', { class: 'tables' }, [phaseTable(sequence, endUs), eventTable(sequence)]),
    );
    // The controls are new elements, so the focus is set again.
    if (held) this.body.querySelector<HTMLElement>(`[data-control="${held}"]`)?.focus();
  }

  private controls(timeline: RequestTimeline, firstUs: number | undefined): HTMLElement {
    const pressed = String(this.isToFirst);
    const zoom = make(
      'button',
      { type: 'button', 'aria-pressed': pressed, 'data-control': 'zoom' },
      ['Until the first token'],
    );
    zoom.disabled = firstUs === undefined;
    zoom.addEventListener('click', () => {
      this.isToFirst = !this.isToFirst;
      this.draw();
    });
    const link = (text: string, query: string): HTMLElement => this.link(text, query);
    const choices = timeline.sequences.length > 1 ? [this.chooser(timeline)] : [];
    const links = [link('JSON', ''), link('Perfetto trace', '?format=perfetto')];
    return make('div', { class: 'controls' }, [zoom, ...choices, ...links]);
  }

  private chooser({ sequences }: RequestTimeline): HTMLElement {
    const select = make('select', { 'aria-label': 'Choice', 'data-control': 'choice' });
    for (const { index } of sequences) {
      select.append(make('option', { value: index }, [`choice ${index}`]));
    }
    select.selectedIndex = this.chosen;
    select.addEventListener('change', () => {
      this.chosen = select.selectedIndex;
      this.draw();
    });
    return select;
  }
}

function pathOf(name: string): string {
  return `v1/requests/${encodeURIComponent(name)}/timeline`;
}

function facts(timeline: RequestTimeline, sequence: SequenceTimeline): HTMLElement {
  const { prefill_engine: prefill, decode_engine: decode } = sequence;
  const nameOr = (engine: typeof prefill): string => engine?.name ?? '–';
  const reason = sequence.error ?? sequence.finish_reason;
  const cached =
    sequence.cached_tokens > 0 ? `, ${formatCount(sequence.cached_tokens)} cached` : '';
  const pairs: [string, string][] = [
    ['state', reason === null ? timeline.state : `${timeline.state} (${reason})`],
    ['path', timeline.endpoint],
    ['prompt', `${formatCount(sequence.prompt_tokens)} tokens${cached}`],
    ['output', `${formatCount(sequence.output_tokens)} tokens in ${sequence.steps.count} steps`],
    ['first token', formatUs(firstTokenUs(sequence))],
    ['in all', formatUs(timeline.duration_us)],
    [
      'engines',
      prefill?.id === decode?.id ? nameOr(prefill) : `${nameOr(prefill)} → ${nameOr(decode)}`,
    ],
    ...(sequence.preemptions > 0
      ? [['preempted', `${sequence.preemptions} times`] as [string, string]]
      : []),
  ];
  const entries = pairs.map(([key, value]) =>
    make('div', {}, [make('dt', {}, [key]), make('dd', {}, [value])]),
  );
  return make('dl', { class: 'facts' }, entries);
}

function phaseTable({ phases }: SequenceTimeline, endUs: number): HTMLElement {
  const rows = phases.map(({ name, start_us, duration_us }) => {
    const share = duration_us === null || endUs === 0 ? '' : readableShare(duration_us / endUs);
    const length = duration_us === null ? 'so far' : formatUs(duration_us);
    const key = make('span', { class: `key ${name.replace('_', '-')}` });
    return make('tr', {}, [
      make('th', { scope: 'row' }, [key, PHASE_TITLES[name] ?? name]),
      ...[formatUs(start_us), length, share].map((text) => make('td', {}, [text])),
    ]);
  });
  return table('Phases', ['', 'begins', 'takes', 'share'], rows);
}

function eventTable({ events }: SequenceTimeline): HTMLElement {
  const rows = events.map(({ name, at_us, engine = '' }) =>
    make('tr', {}, [
      make('th', { scope: 'row' }, [name.replaceAll('_', ' ')]),
      make('td', {}, [formatUs(at_us)]),
      make('td', {}, [engine]),
    ]),
  );
  return table('Events', ['', 'at', 'engine'], rows);
}

function table(
  title: string,
  columns: readonly string[],
  rows: readonly HTMLElement[],
): HTMLElement {
  const head = make(
    'tr',
    {},
    columns.map((name) => make('th', { scope: 'col' }, [name])),
  );
  return make('table', {}, [
    make('caption', {}, [title]),
    make('thead', {}, [head]),
    make('tbody', {}, rows),
  ]);
}
