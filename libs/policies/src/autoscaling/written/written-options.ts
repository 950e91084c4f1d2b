import { parseDuration } from '@baton/kernel';
import { AutoscalerError } from '../driver/bounds';

/**
 * The options behind an autoscaler's name, `:down-window=60s:tolerance=0.05`. Each is read once;
 * `end` refuses the options that no call has read.
 */
export class WrittenOptions {
  private readonly values = new Map<string, string>();

  constructor(
    private readonly autoscaler: string,
    parts: readonly string[],
  ) {
    for (const part of parts) {
      const at = part.indexOf('=');
      if (at < 1)
        throw new AutoscalerError(`${autoscaler}: "${part}" must be written as option=value.`);
      this.values.set(part.slice(0, at), part.slice(at + 1));
    }
  }

  number(name: string, fallback: number, [low, high]: readonly [number, number]): number {
    const text = this.take(name);
    if (text === undefined) return fallback;
    const value = numberIn(text);
    if (value !== undefined && value >= low && value <= high) return value;
    throw new AutoscalerError(
      `${this.autoscaler}: ${name} must be a number from ${low} to ${high}; "${text}" is not.`,
    );
  }

  /** Seconds, as a number or with a unit. */
  seconds(name: string, fallback: number): number {
    const text = this.take(name);
    if (text === undefined) return fallback;
    const value = secondsIn(text);
    if (value !== undefined && value <= 31_536_000) return value;
    throw new AutoscalerError(
      `${this.autoscaler}: ${name} must be a time such as 300s; "${text}" is not.`,
    );
  }

  /** One of some names; default: the first. */
  choice<const C extends string>(name: string, choices: readonly [C, ...C[]]): C {
    const text = this.take(name);
    if (text === undefined) return choices[0];
    const chosen = choices.find((each) => each === text);
    if (chosen !== undefined) return chosen;
    throw new AutoscalerError(
      `${this.autoscaler}: ${name} must be ${choices.join(' or ')}; "${text}" is not.`,
    );
  }

  /** `4/15s`: a count and the period in seconds. Undefined: not written. */
  rate(name: string): { readonly value: number; readonly periodSeconds: number } | undefined {
    const text = this.take(name);
    if (text === undefined) return undefined;
    const [count = '', period = ''] = text.split('/');
    const value = numberIn(count);
    const periodSeconds = secondsIn(period);
    const isGood = value !== undefined && value > 0 && periodSeconds !== undefined;
    if (isGood && periodSeconds > 0 && periodSeconds <= 1_800) return { value, periodSeconds };
    throw new AutoscalerError(
      `${this.autoscaler}: ${name} must be written as 4/15s (a number and a period of at most ` +
        `1,800 s); "${text}" is not.`,
    );
  }

  endOptions(): void {
    const [name] = this.values.keys();
    if (name === undefined) return;
    throw new AutoscalerError(`${this.autoscaler} has no option ${name}.`);
  }

  private take(name: string): string | undefined {
    const value = this.values.get(name);
    this.values.delete(name);
    return value;
  }
}

/** Undefined when it is not a number. */
export function numberIn(text: string): number | undefined {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

/** `2`, `2s` or `50ms`. Undefined when it is not a time. */
export function secondsIn(text: string): number | undefined {
  return numberIn(text) ?? parseDuration(text, 's');
}
