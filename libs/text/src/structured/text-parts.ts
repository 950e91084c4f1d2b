import { RandomStream, mix } from '@baton/kernel';
import type { StructuredText } from './structured-text';
import { writeWords } from './write-words';

/** One text for all seeds. */
export function constantText(text: string): StructuredText {
  return { write: () => text, accepts: (other) => other === text };
}

/** One of several texts; the shortest at ease 0. */
export function choiceText(choices: readonly string[]): StructuredText {
  const shortest = choices.reduce((best, one) => (one.length < best.length ? one : best));
  return {
    write: (seed, { ease }) =>
      ease === 0
        ? shortest
        : choices[RandomStream.root(seed).stream('choice').integer(choices.length)]!,
    accepts: (text) => choices.includes(text),
  };
}

/** A few words. Empty at ease 0, or when the words contain a forbidden text. */
export function freeText(forbidden: readonly string[]): StructuredText {
  return {
    write: (seed, { ease }) => {
      if (ease === 0) return '';
      const random = RandomStream.root(seed).stream('free text');
      const text = writeWords(random, { minLength: 0, maxLength: Infinity, ease });
      return forbidden.some((one) => text.includes(one)) ? '' : text;
    },
  };
}

/** Texts one after the other. */
export function sequenceText(parts: readonly StructuredText[]): StructuredText {
  return {
    write: (seed, options) => parts.map((part, i) => part.write(mix(seed, i), options)).join(''),
  };
}

/** A text of one of the parts; at ease 0, of the first part. */
export function oneOfTexts(parts: readonly StructuredText[]): StructuredText {
  return {
    write: (seed, options) => {
      const index = RandomStream.root(seed).stream('part').integer(parts.length);
      return parts[options.ease === 0 ? 0 : index]!.write(mix(seed, 1), options);
    },
  };
}

export interface Repetition {
  readonly min: number;
  readonly max: number;
  readonly separator: string;
}

export function repeatedText(part: StructuredText, times: Repetition): StructuredText {
  return {
    write: (seed, options) => {
      const { min, max, separator } = times;
      const extra = RandomStream.root(seed)
        .stream('times')
        .integer(max - min + 1);
      const count = options.ease === 0 ? min : min + extra;
      return Array.from({ length: count }, (_, i) => part.write(mix(seed, i), options)).join(
        separator,
      );
    },
  };
}
