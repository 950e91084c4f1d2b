import type { ClusterModel, RequestState } from '../cluster-model';
import { make, setAttribute, setText } from '../element';
import { formatCount, readableMs } from '../format';

const CELLS = 6;

/**
 * The table row of one request. It is not reused for another one, so that the keyboard focus stays
 * on its request.
 */
export class RequestRow {
  readonly element: HTMLTableRowElement;
  readonly button = make('button', { type: 'button', class: 'request-name' });
  private readonly cells = Array.from({ length: CELLS }, () => make('td'));

  constructor(
    readonly request: RequestState,
    open: (name: string) => void,
  ) {
    setText(this.button, request.name);
    this.button.addEventListener('click', () => open(request.name));
    this.cells[0]!.append(this.button);
    this.element = make('tr', {}, this.cells);
  }

  get hasFocus(): boolean {
    return this.button === document.activeElement;
  }

  show({ atMs }: ClusterModel, names: ReadonlyMap<string, string>): void {
    const { phase, engine, promptTokens, tokens, maxTokens, seenMs, phaseMs } = this.request;
    const untilMs = phase === 'ended' ? phaseMs : atMs;
    // The last picture of an ended request may lack its last tokens.
    const atLeast = phase === 'ended' && tokens < maxTokens ? '≥ ' : '';
    setAttribute(this.element, 'class', `phase-${phase}`);
    const texts = [
      phase,
      names.get(engine ?? '') ?? '–',
      formatCount(promptTokens),
      `${atLeast}${tokens} / ${maxTokens}`,
      readableMs(Math.max(0, Math.round((untilMs - seenMs) / 100) * 100)),
    ];
    for (const [i, text] of texts.entries()) setText(this.cells[i + 1]!, text);
  }
}
