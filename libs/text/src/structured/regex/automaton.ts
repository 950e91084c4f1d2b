import { spendWork } from '@baton/kernel';
import { type CharSet, type Concatenation, ENFA, type NoParent, TooManyNodesError } from 'refa';
import { characterSets, MAX_CHARACTER, type Place } from './character-sets';
import { RegexError } from './regex-error';

const MAX_NODES = 10_000;
/** Cost of making one node, in steps of a search. */
const NODE_WORK = 6;
/** Groups within groups after which the ends of alternatives stay apart. */
const MOST_PASSED = 8;
/** Steps after which the search for a match ends, far below one second of a core. */
const MAX_STEPS = 4_000_000;
/** Number of nodes whose marks are allocated in the time of one step. */
const NODES_PER_UNIT = 64;
/** Number of nodes without a character that are visited in the time of one step. */
const PASSED_PER_UNIT = 4;

/** A neighbour of a place between two characters: the edge of the text. */
export const EDGE = 0;
export const WORD_CHAR = 1;
export const OTHER_CHAR = 2;
export type Neighbour = typeof EDGE | typeof WORD_CHAR | typeof OTHER_CHAR;

export interface Sides {
  readonly before: Neighbour;
  readonly after: Neighbour;
}

/** A step to another node: by a character, between two neighbours, or (undefined) always. */
interface Step {
  readonly set: CharSet | undefined;
  readonly place: Place | undefined;
  readonly next: number;
}

/** A step that takes a character. */
export interface CharStep {
  readonly set: CharSet;
  readonly next: number;
}

/**
 * refa's automaton of a regular expression by numbered nodes, in which places (`^`, `$`, `\b`) are
 * conditional steps.
 */
export interface Automaton {
  /** The steps of each node. */
  readonly nodes: readonly (readonly Step[])[];
  readonly start: number;
  readonly end: number;
  /** Whether a place depends on its neighbours being word characters. */
  readonly asksForWords: boolean;
}

/** Throws `RegexError` when counted repetitions make it too large. */
export function automatonOf(regex: NoParent<Concatenation>): Automaton {
  let fa: ENFA;
  try {
    const limit = new ENFA.LimitedNodeFactory(MAX_NODES);
    fa = ENFA.fromRegex(regex, { maxCharacter: MAX_CHARACTER }, {}, limit);
  } catch (error) {
    if (!(error instanceof TooManyNodesError)) throw error;
    throw new RegexError('the pattern is too large: its counted repetitions multiply');
  }
  // The last node is unreachable in an automaton without a text.
  const all = [...new Set([...fa.nodes(), fa.final])];
  spendWork(all.length * NODE_WORK);
  const indices = new Map<ENFA.ReadonlyNode, number>(all.map((node, i) => [node, i]));
  const { places } = characterSets();
  const nodes = all.map(({ out }) =>
    [...out].map(([to, via]) => {
      const place = via === null ? undefined : places.get(via);
      const set = via === null || place !== undefined ? undefined : via;
      return { set, place, next: indices.get(behind(to))! };
    }),
  );
  const asksForWords = nodes.some((steps) => steps.some(({ place }) => place?.startsWith('word')));
  return { nodes, start: indices.get(fa.initial)!, end: indices.get(fa.final)!, asksForWords };
}

/**
 * The node behind steps that are the only one of their node and take no character: alternatives end
 * in one node.
 */
function behind(node: ENFA.ReadonlyNode): ENFA.ReadonlyNode {
  let at = node;
  for (let passed = 0; passed < MOST_PASSED; passed++) {
    const [step, other] = at.out;
    if (step === undefined || other !== undefined || step[1] !== null) break;
    at = step[0];
  }
  return at;
}

/** Accepts every text. */
export function everything(): Automaton {
  return {
    nodes: [[{ set: characterSets().any, place: undefined, next: 0 }]],
    start: 0,
    end: 0,
    asksForWords: false,
  };
}

/** The steps by a character from some nodes, after any steps without one. */
export interface Reach {
  readonly chars: readonly CharStep[];
  readonly accepts: boolean;
  /** Nodes visited. */
  readonly steps: number;
}

export function reach(
  { nodes, end }: Automaton,
  from: readonly number[],
  { before, after }: Sides,
): Reach {
  const seen = new Set<number>();
  const chars: CharStep[] = [];
  const open = [...from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    for (const { set, place, next } of nodes[at]!) {
      if (set !== undefined) chars.push({ set, next });
      else if (place === undefined || holdsAt(place, before, after)) open.push(next);
    }
  }
  return { chars, accepts: seen.has(end), steps: seen.size };
}

function holdsAt(place: Place, before: Neighbour, after: Neighbour): boolean {
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
  spendWork(1 + automaton.nodes.length / NODES_PER_UNIT);
  const { word } = characterSets();
  let alive = [automaton.start];
  let before: Neighbour = EDGE;
  let steps = 0;
  const visit = (after: Neighbour): Reach => {
    const found = reach(automaton, alive, { before, after });
    spendWork(1 + alive.length + found.steps / PASSED_PER_UNIT);
    steps += found.steps;
    if (steps > MAX_STEPS) throw new RegexError('the pattern is too large to be matched');
    return found;
  };
  for (const character of text) {
    const point = character.codePointAt(0)!;
    const after = word.has(point) ? WORD_CHAR : OTHER_CHAR;
    const following = visit(after).chars.filter(({ set }) => set.has(point));
    if (following.length === 0) return false;
    alive = [...new Set(following.map(({ next }) => next))];
    before = after;
  }
  return visit(EDGE).accepts;
}
