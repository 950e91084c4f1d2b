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

/** `whole`: the text is the pattern. `anywhere`: the text contains it, as JSON Schema means it. */
export type PatternScope = 'whole' | 'anywhere';

/** Automata that a text must and must not be accepted by. */
export interface Demands {
  readonly must: readonly Automaton[];
  readonly mustNot: readonly Automaton[];
}

/**
 * A pattern, read once. Its automata are made when they are asked for; making them may throw
 * `RegexError`.
 */
export class Pattern {
  private readonly regex: Regex;
  private readonly made = new Map<PatternScope, Demands>();

  /** Throws `RegexError`. */
  constructor(readonly source: string) {
    this.regex = parseRegex(source);
  }

  /** What a text has to fulfil to match. A text that is the pattern also contains it. */
  demands(scope: PatternScope): Demands {
    let demands = this.made.get(scope);
    if (demands === undefined) {
      demands = demandsOf(this.regex, scope);
      this.made.set(scope, demands);
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
 * A lookahead sees the text from its start, so a pattern that begins with one is taken to begin
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
