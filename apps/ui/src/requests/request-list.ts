import { type ClusterModel, engineNames } from '../cluster-model';
import { make } from '../element';
import { explainer } from '../explain';
import { RequestRow } from './request-row';
import { RequestRows } from './request-rows';

/**
 * Requests as a table, with the same content as the moving dots, for reading and for the keyboard.
 * Enter on a row opens its timeline.
 */
export class RequestList {
  readonly element: HTMLElement;
  private readonly shown = new RequestRows();
  /** The rows in the order of the table. */
  private rows: RequestRow[] = [];
  private readonly body = make('tbody');
  private readonly none = make('p', { class: 'none' }, ['No requests yet.']);

  constructor(
    private readonly model: ClusterModel,
    private readonly open: (name: string) => void,
    /** Whether the timeline of this request is open. The focus then returns to its row. */
    private readonly isOpen: (name: string) => boolean,
    sender: HTMLElement,
  ) {
    const titles = ['Request', 'Phase', 'Engine', 'Prompt', 'Output', 'Seen for'];
    const head = make(
      'tr',
      {},
      titles.map((title) => make('th', { scope: 'col' }, [title])),
    );
    const table = make('table', {}, [make('thead', {}, [head]), this.body]);
    this.element = make('section', { class: 'panel requests', 'aria-label': 'Requests' }, [
      make('h2', {}, [
        'Requests ',
        make('small', {}, ['Enter or click opens the timeline']),
        explainer('requestList', 'the list of requests'),
      ]),
      this.finder(),
      sender,
      this.none,
      make('div', { class: 'scroll' }, [table]),
    ]);
    this.body.addEventListener('keydown', (event) => this.onKey(event));
  }

  show(): void {
    const held = this.rows.find((row) => row.hasFocus || this.isOpen(row.request.name));
    this.shown.update(this.model, held?.request);
    this.place();
    const names = engineNames(this.model.engines);
    for (const row of this.rows) row.show(this.model, names);
    this.none.hidden = this.rows.length > 0;
  }

  private finder(): HTMLFormElement {
    const input = make('input', {
      type: 'search',
      placeholder: 'Find by id',
      'aria-label': 'Find a request by its id',
      spellcheck: 'false',
      autocomplete: 'off',
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

  /** Orders the elements. Those that stay are not moved, because moving takes their focus. */
  private place(): void {
    const known = new Map(this.rows.map((row) => [row.request, row]));
    this.rows = this.shown.rows.flatMap((request) =>
      request === undefined ? [] : (known.get(request) ?? new RequestRow(request, this.open)),
    );
    const current = new Set(this.rows);
    for (const row of known.values()) if (!current.has(row)) row.element.remove();
    for (const [place, { element }] of this.rows.entries()) {
      const there = this.body.children[place];
      if (there !== element) this.body.insertBefore(element, there ?? null);
    }
  }

  /** Index of the row with the focus; -1: none. */
  private focused(): number {
    return this.rows.findIndex((row) => row.hasFocus);
  }

  /** Up and down move the focus from row to row. */
  private onKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const at = this.focused();
    if (step === undefined || at < 0) return;
    event.preventDefault();
    this.rows[at + step]?.button.focus();
  }
}
