import { ConstraintError } from '../constraint-error';
import type { Pattern } from '../regex/pattern';

/** The parts of a rule. */
export type GrammarNode =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'pattern'; readonly pattern: Pattern }
  | { readonly kind: 'sequence'; readonly parts: readonly GrammarNode[] }
  | { readonly kind: 'choice'; readonly options: readonly GrammarNode[] }
  | {
      readonly kind: 'repeat';
      readonly body: GrammarNode;
      readonly min: number;
      /** Infinity: no limit. */
      readonly max: number;
    }
  | { readonly kind: 'rule'; readonly name: string }
  /** A terminal: nothing is written between its parts. */
  | { readonly kind: 'token'; readonly body: GrammarNode };

/** A context-free grammar, from either notation. */
export interface Grammar {
  readonly rules: ReadonlyMap<string, GrammarNode>;
  readonly start: string;
  /** Written between the parts of a rule: a blank where the grammar ignores blanks, else empty. */
  readonly separator: string;
}

/** Checks that every named rule exists. Throws `ConstraintError`. */
export function checkRules({ rules, start }: Grammar): void {
  if (!rules.has(start)) throw new ConstraintError(`the grammar has no rule '${start}'`);
  for (const [name, node] of rules) {
    const missing = rulesIn(node).find((other) => !rules.has(other));
    if (missing !== undefined) {
      throw new ConstraintError(
        `rule '${name}' names '${missing}', but the grammar has no such rule`,
      );
    }
  }
}

function rulesIn(node: GrammarNode): string[] {
  switch (node.kind) {
    case 'rule':
      return [node.name];
    case 'sequence':
      return node.parts.flatMap(rulesIn);
    case 'choice':
      return node.options.flatMap(rulesIn);
    case 'repeat':
    case 'token':
      return rulesIn(node.body);
    case 'literal':
    case 'pattern':
      return [];
  }
}

/** A sequence of parts; a single part is returned as it is. */
export function sequenceOf(parts: readonly GrammarNode[]): GrammarNode {
  return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
}

export function choiceOf(options: readonly GrammarNode[]): GrammarNode {
  return options.length === 1 ? options[0]! : { kind: 'choice', options };
}
