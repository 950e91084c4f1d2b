import { type RandomStream, spendWork } from '@baton/kernel';
import type { Automaton } from './automaton';
import { LanguageGraph, type GraphState } from './language-graph';
import { pickChar } from './pick-char';
import { RegexError } from './regex-error';

/**
 * Bounds on a text: all of `must` accept it, none of `mustNot` does, and its length (code points)
 * is within bounds.
 */
export interface LanguageBounds {
  readonly must: readonly Automaton[];
  readonly mustNot: readonly Automaton[];
  readonly minLength: number;
  readonly maxLength: number;
}

/** Maximum number of characters by which a sample may exceed the shortest text. */
const FURTHER_LENGTHS = 64;
/** Maximum of states times lengths in one table of ways. */
const MAX_TABLE = 10_000_000;
/** Number of states whose way of one length is computed in the time of one step. */
const STATES_PER_UNIT = 4;

/**
 * The set of texts that several patterns allow together, and a way to sample it. It is built once
 * and sampled often.
 */
export class StringLanguage {
  private readonly graph: LanguageGraph;
  /** `ways[k]` is set for states from which some text of exactly `k` characters is accepted. */
  private readonly ways: Uint8Array[] = [];

  /** Length of the shortest text. Undefined: there is none. */
  readonly shortest: number | undefined;

  /**
   * Throws `RegexError` when the patterns together are too large, for any or for the required
   * lengths. Later calls never throw.
   */
  constructor(private readonly bounds: LanguageBounds) {
    this.graph = new LanguageGraph(bounds.must, bounds.mustNot);
    this.shortest = this.lengths(0)[0];
  }

  /**
   * A text of the language. Undefined: the language is empty. `slack`: characters by which the text
   * may exceed the shortest one.
   */
  sample(random: RandomStream, slack: number): string | undefined {
    const lengths = this.lengths(slack);
    if (lengths.length === 0) return undefined;
    const length = lengths[random.integer(lengths.length)]!;
    let state = this.graph.start;
    let text = '';
    for (let left = length; left > 0; left--) {
      spendWork(state.edges.length);
      const edges = state.edges.filter(({ to }) => this.reaches(to, left - 1));
      const { set, to } = edges[random.integer(edges.length)]!;
      text += String.fromCodePoint(pickChar(set, random));
      state = to;
    }
    return text;
  }

  /** Lengths of texts within the bounds: the shortest, and up to `slack` more. */
  private lengths(slack: number): number[] {
    const nearest = this.graph.start.distance;
    if (nearest === undefined) return [];
    const from = Math.max(this.bounds.minLength, nearest);
    const to = Math.min(this.bounds.maxLength, from + FURTHER_LENGTHS);
    const found: number[] = [];
    for (let length = from; length <= to; length++) {
      if (found.length > 0 && (length > found[0]! + slack || !this.hasTable(length))) break;
      if (this.reaches(this.graph.start, length)) found.push(length);
    }
    return found;
  }

  /** Whether the ways of this length are known or can be computed. */
  private hasTable(length: number): boolean {
    return (length + 1) * this.graph.states.length <= MAX_TABLE;
  }

  private reaches(state: GraphState, length: number): boolean {
    if (length === state.distance) return true;
    if (state.distance === undefined || length < state.distance) return false;
    while (this.ways.length <= length) this.extend();
    return this.ways[length]![state.index] === 1;
  }

  private extend(): void {
    const { states } = this.graph;
    if (!this.hasTable(this.ways.length)) {
      throw new RegexError('the pattern is too large for the required lengths');
    }
    const last = this.ways.at(-1);
    spendWork(Math.ceil(states.length / STATES_PER_UNIT));
    const row = new Uint8Array(states.length);
    for (const { index, accepts, edges } of states) {
      const isWay = last === undefined ? accepts : edges.some(({ to }) => last[to.index] === 1);
      row[index] = isWay ? 1 : 0;
    }
    this.ways.push(row);
  }
}
