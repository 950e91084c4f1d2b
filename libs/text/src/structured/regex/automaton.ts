import { spendWork } from '@baton/kernel';
import type { CharSet } from './char-set';
import { type Place, RegexError, type RegexNode } from './regex-node';

const MAX_NODES = 10_000;
/**
 * Number of optional copies at which a repetition counts as endless. No generated text is that
 * long.
 */
const MAX_COPIES = 2000;

export type AutomatonNode =
  | { readonly kind: 'char'; readonly set: CharSet; readonly next: number }
  | { readonly kind: 'fork'; readonly next: readonly number[] }
  | { readonly kind: 'place'; readonly place: Place; readonly next: number }
  | { readonly kind: 'accept' };

/**
 * Thompson's automaton of a regular expression, in which places (`^`, `$`, `\b`) are conditional
 * steps.
 */
export interface Automaton {
  readonly nodes: readonly AutomatonNode[];
  readonly start: number;
  /** Whether a place depends on its neighbours being word characters. */
  readonly asksForWords: boolean;
}

/** Throws `RegexError` when counted repetitions make it too large. */
export function automatonOf(regex: RegexNode): Automaton {
  const builder = new Builder();
  const accept = builder.add({ kind: 'accept' });
  const start = builder.compile(regex, accept);
  return { nodes: builder.nodes, start, asksForWords: builder.asksForWords };
}

class Builder {
  readonly nodes: AutomatonNode[] = [];
  asksForWords = false;

  add(node: AutomatonNode): number {
    spendWork(1);
    if (this.nodes.length >= MAX_NODES) {
      throw new RegexError('the pattern is too large: its counted repetitions multiply');
    }
    return this.nodes.push(node) - 1;
  }

  /** Compiles an expression that `next` follows. Returns its entry node. */
  compile(regex: RegexNode, next: number): number {
    switch (regex.kind) {
      case 'set':
        return this.add({ kind: 'char', set: regex.set, next });
      case 'sequence':
        return regex.parts.reduceRight((after, part) => this.compile(part, after), next);
      case 'choice':
        return this.add({ kind: 'fork', next: regex.options.map((o) => this.compile(o, next)) });
      case 'repeat':
        return this.repeat(regex, next);
      case 'place':
        this.asksForWords ||= regex.place !== 'start' && regex.place !== 'end';
        return this.add({ kind: 'place', place: regex.place, next });
      case 'look':
        throw new RegexError('lookaheads are supported at the start of a pattern only');
    }
  }

  private repeat({ body, min, max }: Extract<RegexNode, { kind: 'repeat' }>, next: number): number {
    const isEndless = max - min > MAX_COPIES;
    let entry = isEndless ? this.loop(body, next) : this.optionalCopies(body, max - min, next);
    for (let i = 0; i < min; i++) entry = this.compile(body, entry);
    return entry;
  }

  private optionalCopies(body: RegexNode, count: number, next: number): number {
    let entry = next;
    for (let i = 0; i < count; i++) {
      entry = this.add({ kind: 'fork', next: [this.compile(body, entry), next] });
    }
    return entry;
  }

  private loop(body: RegexNode, next: number): number {
    const ways: number[] = [];
    const fork = this.add({ kind: 'fork', next: ways });
    ways.push(this.compile(body, fork), next);
    return fork;
  }
}
