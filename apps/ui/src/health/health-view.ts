import { make, setAttribute, setText } from '../element';
import type { HealthFinding, Level } from './health';
import { sinceText } from './since-text';

/** A shape for each level, in addition to its colour. */
const SHAPES: Readonly<Record<Level, string>> = { good: '✔', busy: '▲', bad: '✖' };

/**
 * The findings as a band below the header, the most urgent first. Each opens to its explanation. An
 * opened place stays open when its finding changes.
 */
export class HealthView {
  readonly element: HTMLElement;
  private readonly list = make('ul');
  private readonly items: FindingItem[] = [];

  constructor(private readonly isRecorded: boolean) {
    const attributes = { class: 'health', 'aria-label': 'Health' };
    this.element = make('section', attributes, [this.list]);
  }

  show(findings: readonly HealthFinding[], nowMs: number): void {
    for (const item of this.items.splice(findings.length)) item.element.remove();
    for (const [place, finding] of findings.entries()) {
      const item = (this.items[place] ??= this.append());
      item.show(finding, nowMs);
    }
  }

  private append(): FindingItem {
    const item = new FindingItem(this.isRecorded);
    this.list.append(item.element);
    return item;
  }
}

class FindingItem {
  readonly element: HTMLLIElement;
  private readonly shape = make('span', { class: 'shape', 'aria-hidden': 'true' });
  private readonly title = make('b', { role: 'status' });
  private readonly since = make('span', { class: 'since' });
  private readonly detail = make('span');
  private readonly advice = make('p');

  constructor(private readonly isRecorded: boolean) {
    const summary = [this.shape, this.title, ' ', this.since, ' ', this.detail];
    const details = make('details', {}, [make('summary', {}, summary), this.advice]);
    this.element = make('li', {}, [details]);
  }

  show({ level, title, detail, advice, sinceMs }: HealthFinding, nowMs: number): void {
    setAttribute(this.element, 'data-level', level);
    setText(this.shape, SHAPES[level]);
    setText(this.title, title);
    setText(this.since, sinceText(sinceMs, nowMs, this.isRecorded));
    setText(this.detail, detail);
    setText(this.advice, advice);
  }
}
