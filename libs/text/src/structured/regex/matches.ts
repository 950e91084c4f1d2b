import { spendWork } from '@baton/kernel';
import type { Automaton } from './automaton';
import { hasChar, WORD } from './char-set';
import { RegexError, type Place } from './regex-node';

/** A neighbour of a place between two characters: the edge of the text. */
export const EDGE = 0;
export const WORD_CHAR = 1;
export const OTHER_CHAR = 2;
export type Neighbour = typeof EDGE | typeof WORD_CHAR | typeof OTHER_CHAR;

/** Steps after which the search for a match ends, far below one second of a core. */
const MAX_STEPS = 4_000_000;
/** Number of nodes whose marks are allocated in the time of one step. */
const NODES_PER_UNIT = 64;
/** Number of nodes without a character that are visited in the time of one step. */
const PASSED_PER_UNIT = 8;

export function neighbourOf(point: number): Neighbour {
  return hasChar(WORD, point) ? WORD_CHAR : OTHER_CHAR;
}

export function holdsAt(place: Place, before: Neighbour, after: Neighbour): boolean {
  switch (place) {
    case 'start':
      return before === EDGE;
    case 'end':
      return after === EDGE;
    case 'word-edge':
      return (before === WORD_CHAR) !== (after === WORD_CHAR);
    case 'word-inside':
      return (before === WORD_CHAR) === (after === WORD_CHAR);
  }
}

/**
 * Whether the automaton accepts the whole text. Time is linear in the text for every pattern.
 * Throws `RegexError` when the pattern is too large to be matched.
 */
export function acceptsText(automaton: Automaton, text: string): boolean {
  const points = Array.from(text, (character) => character.codePointAt(0)!);
  const run = new Run(automaton);
  run.enter(automaton.start);
  let before: Neighbour = EDGE;
  for (const point of points) {
    const after = neighbourOf(point);
    if (!run.step(point, before, after)) return false;
    before = after;
  }
  return run.accepts(before);
}

/** The live nodes between two characters. */
class Run {
  private readonly seen: Uint32Array;
  private stamp = 1;
  private alive: number[] = [];
  private steps = 0;

  constructor(private readonly automaton: Automaton) {
    spendWork(1 + automaton.nodes.length / NODES_PER_UNIT);
    this.seen = new Uint32Array(automaton.nodes.length);
  }

  enter(node: number): void {
    this.alive.push(node);
  }

  /** Takes one character. False: no node is live any more. */
  step(point: number, before: Neighbour, after: Neighbour): boolean {
    const following: number[] = [];
    this.visit(before, after, (node) => {
      if (node.kind === 'char' && hasChar(node.set, point)) following.push(node.next);
    });
    this.alive = following;
    return following.length > 0;
  }

  accepts(before: Neighbour): boolean {
    let isAccepted = false;
    this.visit(before, EDGE, (node) => {
      isAccepted ||= node.kind === 'accept';
    });
    return isAccepted;
  }

  /** Visits every node that can be reached from the live ones without a character, each once. */
  private visit(
    before: Neighbour,
    after: Neighbour,
    take: (node: Automaton['nodes'][number]) => void,
  ): void {
    const { nodes } = this.automaton;
    this.stamp += 1;
    const open = [...this.alive];
    spendWork(1 + open.length);
    const first = this.steps;
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (this.seen[at] === this.stamp) continue;
      this.seen[at] = this.stamp;
      if (++this.steps > MAX_STEPS) throw new RegexError('the pattern is too large to be matched');
      const node = nodes[at]!;
      if (node.kind === 'fork') open.push(...node.next);
      else if (node.kind !== 'place') take(node);
      else if (holdsAt(node.place, before, after)) open.push(node.next);
    }
    spendWork((this.steps - first) / PASSED_PER_UNIT);
  }
}
