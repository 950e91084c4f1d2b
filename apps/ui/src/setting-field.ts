import { make } from './element';

/** The JSON Schema of one option. */
export interface OptionSchema {
  readonly description?: string;
  readonly enum?: readonly string[];
  /** Names, or the path of a module. */
  readonly anyOf?: readonly { readonly enum?: readonly string[] }[];
  readonly type?: string | readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface SettingField {
  readonly element: HTMLElement;
  /** Shows the current value, except while the reader is changing it. */
  readonly show: (value: unknown) => void;
  /** The new value. Undefined: unchanged. @throws SyntaxError for invalid JSON */
  readonly changed: () => unknown;
  /** Makes the changed value the current one. */
  readonly settle: () => void;
}

/** The control for an option: a choice, a number, or JSON. Empty means unset. */
export function settingField(name: string, schema: OptionSchema): SettingField {
  const { control, read, write } = controlFor(name, schema);
  let shown = '';
  control.setAttribute('title', schema.description ?? '');
  const label = make('label', { for: control.id }, [name.replaceAll('_', ' ')]);
  return {
    element: make('div', { class: 'setting' }, [label, control]),
    show: (value) => {
      const isTouched = control.value !== shown;
      const text = write(value);
      if (!isTouched) control.value = text;
      shown = text;
    },
    changed: () => (control.value === shown ? undefined : read(control.value)),
    settle: () => {
      shown = control.value;
    },
  };
}

interface Control {
  readonly control: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
  readonly read: (text: string) => unknown;
  readonly write: (value: unknown) => string;
}

function controlFor(name: string, schema: OptionSchema): Control {
  const id = `setting-${name}`;
  const plain = (value: unknown): string => (value === null ? '' : String(value));
  const names = schema.enum ?? schema.anyOf?.flatMap((one) => one.enum ?? []);
  if (names) {
    const control = make('select', { id }, ['', ...names].map(optionOf));
    // The module with which the cluster began is not among the names.
    const write = (value: unknown): string => {
      const text = plain(value);
      if (![...control.options].some((each) => each.value === text)) control.append(optionOf(text));
      return text;
    };
    return { control, read: orNull, write };
  }
  if (schema.type === 'integer' || schema.type === 'number') {
    const step = schema.type === 'integer' ? 1 : 'any';
    const bounds = { min: schema.minimum, max: schema.maximum, step };
    const control = make('input', { id, type: 'number', ...bounds });
    return { control, read: (text) => (text === '' ? null : Number(text)), write: plain };
  }
  const control = make('textarea', { id, rows: 3, spellcheck: 'false' });
  const write = (value: unknown): string => (value === null ? '' : JSON.stringify(value, null, 1));
  return { control, read: (text) => (text.trim() === '' ? null : JSON.parse(text)), write };
}

function orNull(text: string): string | null {
  return text === '' ? null : text;
}

function optionOf(name: string): HTMLOptionElement {
  return make('option', { value: name }, [name === '' ? '(unset)' : name]);
}
