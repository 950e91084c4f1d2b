import { type ClusterModel, engineNames, type RequestState } from './cluster-model';
import { make, setAttribute, setText } from './element';
import { formatCount, readableMs } from './format';
import { RequestRows, ROWS } from './request-rows';

interface Row {
  readonly element: HTMLTableRowElement;
  readonly button: HTMLButtonElement;
  readonly cells: readonly HTMLTableCellElement[];
}

/**
 * Requests as a table: the content of the moving dots, for the keyboard and for reading. Enter on a
 * row opens its timeline.
 */
export class RequestList {
  readonly element: HTMLElement;
  private readonly shown = new RequestRows();
  private readonly rows: Row[];
  private readonly body = make('tbody');
  private readonly none = make('p', { class: 'none' }, ['No request has been seen yet.']);

  constructor(
    private readonly model: ClusterModel,
    private readonly open: (name: string) => void,
  ) {
    this.rows = Array.from({ length: ROWS }, (_none, row) => this.newRow(row));
    this.body.append(...this.rows.map(({ element }) => element));
    const titles = ['Request', 'Phase', 'Engine', 'Prompt', 'Output', 'Seen for'];
    const head = make(
      'tr',
      {},
      titles.map((title) => make('th', { scope: 'col' }, [title])),
    );
    const table = make('table', {}, [make('thead', {}, [head]), this.body]);
    this.element = make('section', { class: 'panel requests', 'aria-label': 'Requests' }, [
      make('h2', {}, ['Requests ', make('small', {}, ['Enter or click opens the timeline'])]),
      this.finder(),
      this.none,
      make('div', { class: 'scroll' }, [table]),
    ]);
    this.body.addEventListener('keydown', (event) => this.onKey(event));
  }

  show(): void {
    this.shown.update(this.model, this.focused());
    const names = engineNames(this.model.engines);
    let some = false;
    for (const [row, request] of this.shown.rows.entries()) {
      this.fill(this.rows[row]!, request, names);
      some ||= request !== undefined;
    }
    this.none.hidden = some;
  }

  clear(): void {
    this.shown.clear();
  }

  private finder(): HTMLFormElement {
    const input = make('input', {
      ...{ type: 'search', placeholder: 'Find by id', 'aria-label': 'Find a request by its id' },
      ...{ spellcheck: 'false', autocomplete: 'off' },
    });
    const form = make('form', { class: 'finder', role: 'search' }, [
      input,
      make('button', { type: 'submit' }, ['Open']),
    ]);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (input.value.trim() !== '') this.open(input.value.trim());
    });
    return form;
  }

  private newRow(row: number): Row {
    const button = make('button', { type: 'button', class: 'request-name' });
    button.addEventListener('click', () => {
      const request = this.shown.rows[row];
      if (request) this.open(request.name);
    });
    const cells = Array.from({ length: 6 }, () => make('td'));
    cells[0]!.append(button);
    return { element: make('tr', { hidden: true }, cells), button, cells };
  }

  private fill(row: Row, request: RequestState | undefined, names: Map<string, string>): void {
    row.element.hidden = request === undefined;
    if (request === undefined) return;
    const { name, phase, engine, promptTokens, tokens, maxTokens, seenMs, phaseMs } = request;
    const untilMs = phase === 'ended' ? phaseMs : this.model.atMs;
    setText(row.button, name);
    setAttribute(row.element, 'class', `phase-${phase}`);
    const texts = [
      phase,
      names.get(engine ?? '') ?? '–',
      formatCount(promptTokens),
      `${tokens} / ${maxTokens}`,
      readableMs(Math.max(0, Math.round((untilMs - seenMs) / 100) * 100)),
    ];
    for (const [i, text] of texts.entries()) setText(row.cells[i + 1]!, text);
  }

  private focused(): number | undefined {
    const row = this.rows.findIndex(({ button }) => button === document.activeElement);
    return row < 0 ? undefined : row;
  }

  /** Up and down go from row to row. */
  private onKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const at = this.focused();
    if (step === undefined || at === undefined) return;
    event.preventDefault();
    const next = this.rows[at + step];
    if (next && !next.element.hidden) next.button.focus();
  }
}
