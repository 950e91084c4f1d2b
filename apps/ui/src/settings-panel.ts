import type { ApiClient } from './api-client';
import { make, setText } from './element';
import { explainer } from './explain';
import { type OptionSchema, type SettingField, settingField } from './setting-field';

/** Settings that are shown first; the others open on request. */
const FIRST = ['placement', 'decode_placement', 'failure_injection_rate', 'faults'];
/** Interval of updates in ms: other clients may change settings, too. */
const REFRESH_MS = 5_000;

/** Example rules that show the effect of faults. */
const EXAMPLES: Readonly<Record<string, readonly object[]>> = {
  none: [],
  'queue full for 1 in 5': [{ at: 'queue', fault: 'error', status: 429, rate: 0.2 }],
  'KV link 50 times slower': [{ at: 'transfer', fault: 'slow-link', factor: 0.02 }],
  'leases expire for 1 in 10': [{ at: 'transfer', fault: 'expire-lease', rate: 0.1 }],
  'streams cut after 20 tokens': [{ at: 'stream', fault: 'cut', after_tokens: 20, rate: 0.1 }],
};

interface SettingsView {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly fixed: Readonly<Record<string, unknown>>;
}

/** Settings that can change while the cluster runs. Hidden when the API serves none. */
export class SettingsPanel {
  readonly element = make('section', {
    class: 'panel settings',
    'aria-label': 'Settings',
    hidden: true,
  });
  private readonly fields = new Map<string, SettingField>();
  private readonly verdict = make('p', { class: 'verdict', role: 'status' });
  private readonly fixed = make('p', { class: 'fixed' });
  private readonly refusal = make('p', { role: 'status' });
  private readonly door = make('div', {}, [make('h2', {}, ['Settings']), this.refusal]);

  /** @param scaling controls next to the settings, which need the same key */
  constructor(
    private readonly api: ApiClient,
    private readonly scaling: HTMLElement,
  ) {}

  /** Loads the settings, if any, and shows them. */
  async start(): Promise<void> {
    if (this.fields.size > 0) return;
    const [schemas, view] = await Promise.all([
      this.api.get('ui/options'),
      this.api.get('admin/config'),
    ]);
    if (view.kind === 'refused' && view.status === 401) return this.askKey(view.sentence);
    if (schemas.kind === 'refused' || view.kind === 'refused') return;
    this.door.remove();
    this.build(schemas.body as Record<string, OptionSchema>);
    this.show(view.body as SettingsView);
    this.element.hidden = false;
    window.setInterval(() => void this.refresh(), REFRESH_MS);
  }

  /**
   * Shows the field for the admin key. Settings need that key when keys are set, or from another
   * machine.
   */
  private askKey(sentence: string): void {
    setText(this.refusal, sentence);
    if (this.door.isConnected) return;
    const input = make('input', { type: 'password', 'aria-label': 'Admin key' });
    const form = make('form', { class: 'controls' }, [
      input,
      make('button', { type: 'submit' }, ['Use this key']),
    ]);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.api.adminKey = input.value;
      void this.start();
    });
    this.door.append(form);
    this.element.append(this.door);
    this.element.hidden = false;
  }

  private build(schemas: Readonly<Record<string, OptionSchema>>): void {
    for (const [name, schema] of Object.entries(schemas)) {
      this.fields.set(name, settingField(name, schema));
    }
    const elements = (names: readonly string[]): HTMLElement[] =>
      names.flatMap((name) => this.fields.get(name)?.element ?? []);
    const more = [...this.fields.keys()].filter((name) => !FIRST.includes(name));
    const apply = make('button', { type: 'submit', class: 'apply' }, ['Apply']);
    const form = make('form', {}, [
      ...elements(FIRST),
      this.examples(),
      make('details', {}, [make('summary', {}, ['More settings']), ...elements(more)]),
      apply,
      this.verdict,
    ]);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.apply();
    });
    this.element.append(
      make('h2', {}, [
        'Settings ',
        make('small', {}, ['of the whole cluster, at once']),
        explainer('settings', 'a setting'),
      ]),
      form,
      this.scaling,
      this.fixed,
    );
  }

  private examples(): HTMLElement {
    const options = ['choose …', ...Object.keys(EXAMPLES)].map((name) =>
      make('option', {}, [name]),
    );
    const select = make('select', { id: 'fault-example' }, options);
    select.addEventListener('change', () => {
      const rules = EXAMPLES[select.value];
      const faults = document.querySelector<HTMLTextAreaElement>('#setting-faults');
      if (rules === undefined || faults === null) return;
      faults.value = rules.length === 0 ? '' : JSON.stringify(rules, null, 1);
    });
    const label = make('label', { for: 'fault-example' }, ['example of a fault']);
    return make('div', { class: 'setting' }, [label, select]);
  }

  private show({ settings, fixed }: SettingsView): void {
    for (const [name, field] of this.fields) field.show(settings[name] ?? null);
    const held = Object.entries(fixed).map(([name, value]) => `${name} ${String(value)}`);
    setText(this.fixed, `These settings change only with a restart: ${held.join(', ')}.`);
  }

  private async refresh(): Promise<void> {
    if (document.hidden) return;
    const view = await this.api.get('admin/config');
    if (view.kind === 'answer') this.show(view.body as SettingsView);
  }

  private async apply(): Promise<void> {
    const changes = this.changes();
    if (changes === undefined) return;
    if (Object.keys(changes).length === 0) {
      this.report('No setting was changed.', true);
      return;
    }
    const reply = await this.api.post('admin/config', changes);
    if (reply.kind === 'refused') {
      this.report(reply.sentence, false);
      return;
    }
    for (const field of this.fields.values()) field.settle();
    this.show(reply.body as SettingsView);
    this.report(`Changed: ${Object.keys(changes).join(', ')}.`, true);
  }

  /** Undefined: a value is not JSON, and the error is shown. */
  private changes(): Record<string, unknown> | undefined {
    const changes: Record<string, unknown> = {};
    for (const [name, field] of this.fields) {
      try {
        const value = field.changed();
        if (value !== undefined) changes[name] = value;
      } catch {
        this.report(`${name} is not JSON.`, false);
        return undefined;
      }
    }
    return changes;
  }

  private report(sentence: string, isGood: boolean): void {
    setText(this.verdict, sentence);
    this.verdict.dataset['good'] = String(isGood);
  }
}
