import { type Automaton, automatonOf } from './automaton';
import { ANY } from './char-set';
import { acceptsText } from './matches';
import { parseRegex } from './parse-regex';
import type { Regex, RegexNode } from './regex-node';

const ANYTHING: RegexNode = {
  kind: 'repeat',
  body: { kind: 'set', set: ANY },
  min: 0,
  max: Infinity,
};

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
  const parts = scope === 'whole' ? [body] : [body, ANYTHING];
  const isFree = scope === 'anywhere' && ahead.length === 0;
  const must = [automatonOf({ kind: 'sequence', parts: isFree ? [ANYTHING, ...parts] : parts })];
  const mustNot: Automaton[] = [];
  for (const look of ahead) {
    const automaton = automatonOf({ kind: 'sequence', parts: [look.body, ANYTHING] });
    if (look.isNegated) mustNot.push(automaton);
    else must.push(automaton);
  }
  return { must, mustNot };
}
