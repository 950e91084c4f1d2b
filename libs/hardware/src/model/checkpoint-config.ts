import { isObject, type JsonFields } from '@baton/kernel';
import { HardwareError } from '../hardware-error';
import { FAMILY_DEFAULTS } from './family-defaults';

/**
 * The fields of a Hugging Face `config.json`; of several models, those of the text model. A field
 * that is left out has the default of its family.
 */
export class CheckpointConfig {
  private readonly fields: Readonly<Record<string, unknown>>;
  /** Fields of the file, without the defaults of the family. */
  private readonly given: Readonly<Record<string, unknown>>;
  private readonly read = new Set<string>();

  /** @throws HardwareError `bad-config` when the content is not a mapping */
  constructor(
    readonly name: string,
    content: unknown,
  ) {
    const outer = mappingOf(content);
    if (outer === undefined) throw this.unusable('is not a JSON object');
    const given = { ...outer, ...mappingOf(outer['text_config']) };
    this.given = given;
    this.fields = { ...FAMILY_DEFAULTS[String(given['model_type'])], ...given };
    this.understand('model_type', 'text_config');
  }

  /** @throws HardwareError `bad-config`, which names the field */
  count(...names: readonly string[]): number {
    const found = this.optionalCount(...names);
    const listed = names.map((name) => `'${name}'`).join(' or ');
    if (found === undefined) throw this.unusable(`has no ${listed}`);
    if (found === 0) throw this.unusable(`has 0 for ${listed}`);
    return found;
  }

  /** The first of these fields that is set, as a whole number from 0. */
  optionalCount(...names: readonly string[]): number | undefined {
    this.understand(...names);
    const name = names.find(
      (each) => this.fields[each] !== undefined && this.fields[each] !== null,
    );
    if (name === undefined) return undefined;
    const value = this.fields[name];
    if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
    throw this.unusable(`needs a whole number for '${name}'`);
  }

  text(name: string): string | undefined {
    const value = this.valueOf(name);
    return typeof value === 'string' ? value : undefined;
  }

  isTrue(name: string): boolean {
    return this.valueOf(name) === true;
  }

  list(name: string): readonly unknown[] | undefined {
    const value = this.valueOf(name);
    return Array.isArray(value) ? (value as readonly unknown[]) : undefined;
  }

  mapping(name: string): Readonly<Record<string, unknown>> | undefined {
    return mappingOf(this.valueOf(name));
  }

  has(name: string): boolean {
    return this.valueOf(name) !== undefined;
  }

  isNull(name: string): boolean {
    return this.valueOf(name) === null;
  }

  /** Marks fields as understood whose content another field has decided. */
  understand(...names: readonly string[]): void {
    for (const name of names) this.read.add(name);
  }

  /** Fields of the file that nothing has read, in its order. */
  unreadFields(): string[] {
    return Object.keys(this.given).filter((name) => !this.read.has(name));
  }

  /**
   * Whether a field switches off what it is for: null, false, 0 or empty; for every how many layers
   * something comes, also 1.
   */
  isOff(name: string): boolean {
    const value = this.fields[name];
    if (value === 1 && /interval|freq|period|step/.test(name)) return true;
    if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
    return !value;
  }

  private valueOf(name: string): unknown {
    this.understand(name);
    return this.fields[name];
  }

  unusable(why: string): HardwareError {
    return new HardwareError('bad-config', `${this.name} cannot be used: it ${why}.`);
  }
}

function mappingOf(value: unknown): JsonFields | undefined {
  return isObject(value) ? value : undefined;
}
