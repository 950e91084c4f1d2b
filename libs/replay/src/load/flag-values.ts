import { UsageError } from '@baton/config';
import type { Share } from '@baton/workload';
import { flagNameOf, type WorkloadFlag } from './workload-flags';

export interface NumberBounds {
  readonly from: number;
  readonly to: number;
  /** The valid values in words, for the message: "a number from 0 to 1". */
  readonly expected: string;
  /** True: `inf` is valid too. */
  readonly orInfinite?: boolean;
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const INFINITE = /^\+?inf(inity)?$/i;
const SHARES = 'names with shares above 0, for example a=0.7,b=0.3';
const MOST_COUNT = 1_000_000_000;
const MOST_SECONDS = 1e9;

/**
 * Reads the values of flags (default: those of a workload). A wrong value is a usage error of one
 * sentence.
 */
export class FlagValues<Name extends string = WorkloadFlag> {
  constructor(private readonly flags: Readonly<Partial<Record<Name, string>>>) {}

  has(name: Name): boolean {
    return this.flags[name] !== undefined;
  }

  text(name: Name): string | undefined {
    return this.flags[name];
  }

  choice<T extends string>(name: Name, choices: readonly T[]): T | undefined {
    const given = this.flags[name];
    if (given === undefined) return undefined;
    const found = choices.find((choice) => choice === given.replaceAll('_', '-').toLowerCase());
    if (found === undefined) throw this.wrongValue(name, `one of ${choices.join(', ')}`);
    return found;
  }

  /** A whole number. */
  count(name: Name, from = 1, to = MOST_COUNT): number | undefined {
    const expected = `a whole number from ${from} to ${to}`;
    const value = this.number(name, { from, to, expected });
    if (value !== undefined && !Number.isInteger(value)) throw this.wrongValue(name, expected);
    return value;
  }

  /** A number above 0. */
  positive(name: Name, orInfinite = false): number | undefined {
    const bounds = { from: Number.MIN_VALUE, to: Number.MAX_VALUE, orInfinite };
    return this.number(name, {
      ...bounds,
      expected: `a number above 0${orInfinite ? ' or inf' : ''}`,
    });
  }

  /** `a=0.7,b=0.3`: numbers above 0 under different names. */
  shares(name: Name): readonly Share[] | undefined {
    const shares = this.flags[name]?.split(',').map((text) => {
      const [, label, digits] = /^\s*([^=\s]+)\s*=\s*(\S+)\s*$/.exec(text) ?? [];
      const part = NUMBER.test(digits ?? '') ? Number(digits) : 0;
      if (label === undefined || !(part > 0)) throw this.wrongValue(name, SHARES);
      return { name: label, part };
    });
    const names = new Set(shares?.map((share) => share.name));
    if (shares !== undefined && names.size < shares.length) throw this.wrongValue(name, SHARES);
    return shares;
  }

  seconds(name: Name): number | undefined {
    const expected = `a number of seconds from 0 to ${MOST_SECONDS}`;
    return this.number(name, { from: 0, to: MOST_SECONDS, expected });
  }

  number(name: Name, bounds: NumberBounds): number | undefined {
    const given = this.flags[name];
    if (given === undefined) return undefined;
    if (bounds.orInfinite === true && INFINITE.test(given)) return Infinity;
    const value = NUMBER.test(given) ? Number(given) : NaN;
    if (value >= bounds.from && value <= bounds.to) return value;
    throw this.wrongValue(name, bounds.expected);
  }

  wrongValue(name: Name, expected: string): UsageError {
    return new UsageError(`${flagNameOf(name)} must be ${expected}; '${this.flags[name]}' is not.`);
  }
}
