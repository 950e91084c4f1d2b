import { spendWork } from '@baton/kernel';
import type { CharSet } from 'refa';
import {
  type Automaton,
  type CharStep,
  EDGE,
  type Neighbour,
  OTHER_CHAR,
  type Reach,
  reach,
  type Sides,
  WORD_CHAR,
} from './automaton';
import { characterSets } from './character-sets';
import { RegexError } from './regex-error';

const MAX_STATES = 10_000;
const MAX_EDGES = 40_000;
const MAX_PIECES = 200;
/** Work of a new state or edge in nodes: it is stored, under a key of its own. */
const EDGE_WORK = 8;
/** Limit of nodes visited in the search for states: a fraction of a second. */
const MAX_STEPS = 1_500_000;

export interface GraphState {
  readonly index: number;
  readonly accepts: boolean;
  readonly edges: readonly GraphEdge[];
  /**
   * Characters to the nearest accepting state. Undefined when no accepting state can be reached.
   */
  readonly distance: number | undefined;
}

export interface GraphEdge {
  readonly set: CharSet;
  readonly to: GraphState;
}

/**
 * One node of each automaton that must accept, all live nodes of each that must not, and the
 * previous character.
 */
interface Position {
  readonly before: Neighbour;
  readonly must: readonly number[];
  readonly mustNot: readonly (readonly number[])[];
}

class State implements GraphState {
  accepts = false;
  readonly edges: { set: CharSet; to: State }[] = [];
  readonly sources: State[] = [];
  distance: number | undefined;

  constructor(
    readonly index: number,
    readonly position: Position,
  ) {}
}

/**
 * The product of several automata. An automaton that must accept is not made deterministic: a state
 * holds one node of it, so the number of states stays bounded. An automaton that must not accept is
 * followed with all its live nodes.
 */
export class LanguageGraph {
  readonly states: readonly GraphState[];
  readonly start: GraphState;
  private readonly found: State[] = [];
  private readonly known = new Map<string, State>();
  private readonly tracksWords: boolean;
  private edgeCount = 0;
  private steps = 0;

  constructor(
    private readonly must: readonly Automaton[],
    private readonly mustNot: readonly Automaton[],
  ) {
    this.tracksWords = [...must, ...mustNot].some(({ asksForWords }) => asksForWords);
    this.start = this.stateAt({
      before: EDGE,
      must: must.map(({ start }) => start),
      mustNot: mustNot.map(({ start }) => [start]),
    });
    for (let i = 0; i < this.found.length; i++) this.expand(this.found[i]!);
    this.measure();
    this.states = this.found;
  }

  private stateAt(position: Position): State {
    const key = `${position.before};${position.must.join()};${position.mustNot.join(';')}`;
    let state = this.known.get(key);
    if (state === undefined) {
      if (this.found.length >= MAX_STATES) throw tooLarge();
      state = new State(this.found.length, position);
      this.known.set(key, state);
      this.found.push(state);
    }
    return state;
  }

  private expand(state: State): void {
    const { position } = state;
    state.accepts =
      position.must.every((node, i) => this.ends(this.must[i]!, [node], position.before)) &&
      !position.mustNot.some((nodes, i) => this.ends(this.mustNot[i]!, nodes, position.before));
    const { any, word, notWord } = characterSets();
    if (!this.tracksWords) {
      this.expandBy(state, OTHER_CHAR, any);
      return;
    }
    this.expandBy(state, WORD_CHAR, word);
    this.expandBy(state, OTHER_CHAR, notWord);
  }

  private ends(automaton: Automaton, nodes: readonly number[], before: Neighbour): boolean {
    return this.reach(automaton, nodes, { before, after: EDGE }).accepts;
  }

  /** Adds the edges for the characters of `allowed`, which are neighbours of one kind. */
  private expandBy(state: State, after: Neighbour, allowed: CharSet): void {
    const { before, must, mustNot } = state.position;
    const sides = { before, after };
    const ways = must.map((node, i) => this.reach(this.must[i]!, [node], sides).chars);
    const shadows = mustNot.map((nodes, i) => this.reach(this.mustNot[i]!, nodes, sides).chars);
    this.combine(ways, { set: allowed, nodes: [] }, (set, nodes) => {
      for (const piece of pieces(set, shadows.flat())) {
        const following = shadows.map((chars) => followers(chars, piece.ranges[0]!.min));
        this.link(state, piece, { before: after, must: nodes, mustNot: following });
      }
    });
  }

  /** Adds an edge for each combination of one step per automaton whose characters overlap. */
  private combine(
    ways: readonly (readonly CharStep[])[],
    chosen: { readonly set: CharSet; readonly nodes: readonly number[] },
    take: (set: CharSet, nodes: readonly number[]) => void,
  ): void {
    const options = ways[chosen.nodes.length];
    if (options === undefined) {
      take(chosen.set, chosen.nodes);
      return;
    }
    spendWork(options.length);
    for (const { set, next } of options) {
      // Every set is a part of the set of all characters.
      const common = chosen.set === characterSets().any ? set : chosen.set.intersect(set);
      if (common.isEmpty) continue;
      this.combine(ways, { set: common, nodes: [...chosen.nodes, next] }, take);
    }
  }

  private reach(automaton: Automaton, from: readonly number[], sides: Sides): Reach {
    const found = reach(automaton, from, sides);
    this.steps += found.steps;
    spendWork(found.steps);
    if (this.steps > MAX_STEPS) throw tooLarge();
    return found;
  }

  private link(from: State, set: CharSet, position: Position): void {
    if (++this.edgeCount > MAX_EDGES) throw tooLarge();
    spendWork(EDGE_WORK);
    const to = this.stateAt(position);
    from.edges.push({ set, to });
    to.sources.push(from);
  }

  private measure(): void {
    const open = this.found.filter(({ accepts }) => accepts);
    for (const state of open) state.distance = 0;
    for (let i = 0; i < open.length; i++) {
      const { sources, distance } = open[i]!;
      for (const source of sources) {
        if (source.distance !== undefined) continue;
        source.distance = distance! + 1;
        open.push(source);
      }
    }
  }
}

function followers(chars: readonly CharStep[], point: number): number[] {
  const next = chars.filter(({ set }) => set.has(point)).map((node) => node.next);
  return [...new Set(next)].sort((a, b) => a - b);
}

/** Cuts a set at the ends of other sets, so that each piece lies inside or outside each of them. */
function pieces(set: CharSet, others: readonly CharStep[]): CharSet[] {
  let result: CharSet[] = [set];
  for (const other of others) {
    if (result.length > MAX_PIECES) throw tooLarge();
    spendWork(result.length);
    result = result
      .flatMap((piece) => [piece.intersect(other.set), piece.without(other.set)])
      .filter((piece) => !piece.isEmpty);
  }
  return result;
}

function tooLarge(): RegexError {
  return new RegexError('the pattern is too large');
}
