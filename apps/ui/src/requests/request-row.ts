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
    const { name } = request;
    // A narrow column cuts the start of an id: all begin alike.
    this.button.append(make('span', {}, [make('bdi', {}, [name])]));
    this.button.title = name;
    this.cells[0]!.append(this.button);
    this.element = make('tr', {}, this.cells);
    // The button is the row's way in for the keyboard; its click arrives here, too.
    this.element.addEventListener('click', () => {
      if (document.getSelection()?.isCollapsed !== false) open(name);
    });
  }

  get hasFocus(): boolean {
    return this.button === document.activeElement;
  }

  show({ atMs }: ClusterModel, names: ReadonlyMap<string, string>): void {
    const { phase, engine, promptTokens, tokens, maxTokens, seenMs, phaseMs, isCounted } =
      this.request;
    const untilMs = phase === 'ended' ? phaseMs : atMs;
    // After a lost connection the last tokens are unknown.
    const atLeast = phase === 'ended' && !isCounted && tokens < maxTokens ? '≥ ' : '';
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
