import type { Element, NoParent } from 'refa';
import { acceptsText, type Automaton, automatonOf } from './automaton';
import { characterSets } from './character-sets';
import { type Alternatives, parseRegex, type Regex } from './parse-regex';

/** `whole`: the whole text matches. `anywhere`: the text contains a match, as in JSON Schema. */
export type PatternScope = 'whole' | 'anywhere';

/** Automata that must and must not accept a text. */
export interface Demands {
  readonly must: readonly Automaton[];
  readonly mustNot: readonly Automaton[];
}

/** A pattern, read once. Its automata are made on first use; making them may throw `RegexError`. */
export class Pattern {
  private readonly regex: Regex;
  private readonly byScope = new Map<PatternScope, Demands>();

  /** Throws `RegexError` when the pattern cannot be read. */
  constructor(readonly source: string) {
    this.regex = parseRegex(source);
  }

  /** The conditions under which a text matches. A text that matches whole also contains a match. */
  demands(scope: PatternScope): Demands {
    let demands = this.byScope.get(scope);
    if (demands === undefined) {
      demands = demandsOf(this.regex, scope);
      this.byScope.set(scope, demands);
    }
    return demands;
  }

  matches(text: string, scope: PatternScope): boolean {
    const { must, mustNot } = this.demands(scope);
    return (
      must.every((one) => acceptsText(one, text)) && !mustNot.some((one) => acceptsText(one, text))
    );
  }
}

/**
 * A lookahead applies from the start of the text, so a pattern that begins with one is anchored
 * there.
 */
function demandsOf({ body, ahead }: Regex, scope: PatternScope): Demands {
  const whole = group(body);
  const rest = anything();
  const isFree = scope === 'anywhere' && ahead.length === 0;
  const before = isFree ? [rest] : [];
  const after = scope === 'anywhere' ? [rest] : [];
  const must = [sequenceOf([...before, whole, ...after])];
  const mustNot: Automaton[] = [];
  for (const look of ahead) {
    const automaton = sequenceOf([group(look.body), rest]);
    (look.isNegated ? mustNot : must).push(automaton);
  }
  return { must, mustNot };
}

function anything(): NoParent<Element> {
  const characters = characterSets().any;
  return {
    type: 'Quantifier',
    alternatives: [{ type: 'Concatenation', elements: [{ type: 'CharacterClass', characters }] }],
    lazy: false,
    min: 0,
    max: Infinity,
  };
}

function group(alternatives: Alternatives): NoParent<Element> {
  return { type: 'Alternation', alternatives: [...alternatives] };
}

function sequenceOf(elements: NoParent<Element>[]): Automaton {
  return automatonOf({ type: 'Concatenation', elements });
}
