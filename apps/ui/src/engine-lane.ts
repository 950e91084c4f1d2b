import type { PictureEngine } from '@baton/contract';
import { make, setAttribute, setText } from './element';
import { formatCount, readableMs, readableShare } from './format';

/** One engine as a row: its name, its work, its KV cache, and the area of its requests. */
export class EngineLane {
  readonly element: HTMLLIElement;
  /** The area over which requests are drawn. */
  readonly slots = make('div', { class: 'slots' });
  private readonly name = make('b', { class: 'lane-name' });
  private readonly running = make('span');
  private readonly waiting = make('span');
  /** Words that a lane of one line omits. */
  private readonly waitingWord = make('span', { class: 'word' }, [' waiting']);
  private readonly step = make('span', { class: 'lane-step' });
  private readonly usage = make('span');
  /** Left out where the lane is too narrow for it. */
  private readonly heldText = make('span');
  private readonly used = make('i', { class: 'kv-used' });
  private readonly held = make('i', { class: 'kv-held' });
  private readonly kv: HTMLElement;

  constructor() {
    const meter = { role: 'meter', 'aria-valuemin': 0, 'aria-valuemax': 100 };
    this.kv = make('span', { class: 'kv', ...meter }, [this.used, this.held]);
    const running = [this.running, make('span', { class: 'word' }, [' running'])];
    const load = make('span', { class: 'lane-load' }, [...running, this.waiting, this.waitingWord]);
    const kvText = make('span', { class: 'lane-kv' }, [this.usage, this.heldText]);
    const facts = [this.name, load, this.step, kvText];
    this.element = make('li', { class: 'lane' }, [
      make('div', { class: 'lane-facts' }, facts),
      this.slots,
      this.kv,
    ]);
  }

  show(engine: PictureEngine): void {
    const { name, running, waiting, kvUsage, heldBlocks, numBlocks, stepMs, state } = engine;
    const heldShare = numBlocks > 0 ? heldBlocks / numBlocks : 0;
    setText(this.name, name);
    setText(this.running, formatCount(running));
    setText(this.waiting, waiting > 0 ? ` + ${formatCount(waiting)}` : '');
    this.waitingWord.hidden = waiting === 0;
    const starved = engine.starvedMs === undefined ? '' : `${readableMs(engine.starvedMs)} late`;
    const doing = engine.loading ?? (stepMs > 0 ? `${readableMs(stepMs)} a step` : '');
    setText(this.step, starved || doing);
    const held = heldBlocks > 0 ? `, ${formatCount(heldBlocks)} blocks held` : '';
    const shortly = heldBlocks > 0 ? `, ${formatCount(heldBlocks)} held` : '';
    setText(this.usage, `KV ${readableShare(kvUsage)}`);
    setText(this.heldText, shortly);
    this.used.style.width = `${(Math.max(0, kvUsage - heldShare) * 100).toFixed(1)}%`;
    this.held.style.width = `${(heldShare * 100).toFixed(1)}%`;
    setAttribute(this.kv, 'aria-valuenow', (kvUsage * 100).toFixed(0));
    setAttribute(this.kv, 'aria-label', `KV cache of ${name}`);
    setAttribute(this.element, 'data-state', state);
    const step = stepMs > 0 ? `, ${readableMs(stepMs)} a step` : '';
    const title =
      `${name}: ${running} running, ${waiting} waiting${step}, KV ` +
      `${readableShare(kvUsage)}${held}\n${engine.id}`;
    const loading = engine.loading === undefined ? '' : `, loads: ${engine.loading}`;
    const remarks = [title, state === 'ready' ? '' : state + loading, starved].filter(Boolean);
    setAttribute(this.element, 'title', remarks.join('\n'));
  }
}
