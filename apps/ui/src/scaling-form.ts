import type { PictureEngine } from '@baton/contract';
import type { ApiClient, ApiReply } from './api-client';
import type { ClusterModel } from './cluster-model';
import { make, setText } from './element';

type Role = PictureEngine['role'];

const ROLES: readonly Role[] = ['prefill', 'decode', 'aggregated'];
const ENGINES = 'admin/engines';

/** Orders that change the topology: an engine joins, leaves, or changes its role. */
export class ScalingForm {
  readonly element: HTMLElement;
  private readonly joiner = make('select', { 'aria-label': 'Role of the new engine' });
  private readonly engine = make('select', { 'aria-label': 'Engine' });
  private readonly role = make('select', { 'aria-label': 'New role' });
  private readonly verdict = make('p', { class: 'verdict', 'aria-live': 'polite' });
  private shown = '';

  constructor(
    private readonly api: ApiClient,
    private readonly model: ClusterModel,
    /** Called with the id of the engine that leaves, before the order is sent. */
    private readonly onLeave: (id: string) => void,
  ) {
    for (const select of [this.joiner, this.role]) select.append(...ROLES.map(optionOf));
    const join = (): Promise<ApiReply> =>
      this.api.post(ENGINES, { role: this.joiner.value, count: 1 });
    const leave = (): Promise<ApiReply> => this.api.delete(this.leaving());
    const become = (): Promise<ApiReply> =>
      this.api.post(`${this.leaving()}/role`, { role: this.role.value });
    this.element = make('fieldset', { class: 'scaling' }, [
      make('legend', {}, ['Engines']),
      make('div', { class: 'controls' }, [
        this.joiner,
        this.button('Add', 'The engine loads, then joins.', join),
      ]),
      make('div', { class: 'controls' }, [
        this.engine,
        this.button('Remove', 'The engine leaves when its requests have ended.', leave),
        this.role,
        this.button('Change role', 'The engine drains, then joins in its new role.', become),
      ]),
      this.verdict,
    ]);
  }

  /** Shows the engines of the cluster. The selected engine stays selected. */
  show(): void {
    const { engines } = this.model;
    const options = engines.filter(({ state }) => state === 'ready');
    const key = options.map(({ id, name }) => `${id} ${name}`).join();
    if (key === this.shown) return;
    this.shown = key;
    const chosen = this.engine.value;
    this.engine.replaceChildren(
      ...options.map(({ id, name }) => make('option', { value: id }, [name])),
    );
    if (options.some(({ id }) => id === chosen)) this.engine.value = chosen;
  }

  /** Path of the selected engine. */
  private leaving(): string {
    this.onLeave(this.engine.value);
    return `${ENGINES}/${this.engine.value}`;
  }

  private button(label: string, done: string, order: () => Promise<ApiReply>): HTMLElement {
    const button = make('button', { type: 'button' }, [label]);
    button.addEventListener('click', () => void this.carryOut(done, order));
    return button;
  }

  private async carryOut(done: string, order: () => Promise<ApiReply>): Promise<void> {
    const reply = await order();
    setText(this.verdict, reply.kind === 'refused' ? reply.sentence : done);
    this.verdict.dataset['good'] = String(reply.kind !== 'refused');
  }
}

function optionOf(name: string): HTMLOptionElement {
  return make('option', {}, [name]);
}
