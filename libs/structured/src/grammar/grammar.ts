import { ConstraintError } from '../constraint-error';
import type { Pattern } from '../regex/pattern';

/** What a rule stands for. */
export type GrammarNode =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'pattern'; readonly pattern: Pattern }
  | { readonly kind: 'sequence'; readonly parts: readonly GrammarNode[] }
  | { readonly kind: 'choice'; readonly options: readonly GrammarNode[] }
  | {
      readonly kind: 'repeat';
      readonly body: GrammarNode;
      readonly min: number;
      /** Infinity: without end. */
      readonly max: number;
    }
  | { readonly kind: 'rule'; readonly name: string }
  /** A terminal: its parts are written without anything between. */
  | { readonly kind: 'token'; readonly body: GrammarNode };

/** A context-free grammar, whatever notation it came in. */
export interface Grammar {
  readonly rules: ReadonlyMap<string, GrammarNode>;
  readonly start: string;
  /** Written between the parts of a rule: a blank where the grammar ignores blanks. */
  readonly separator: string;
}

/** Every rule that is named must be there. Throws `ConstraintError`. */
export function checkRules({ rules, start }: Grammar): void {
  if (!rules.has(start)) throw new ConstraintError(`the grammar has no rule '${start}'`);
  for (const [name, node] of rules) {
    const missing = rulesIn(node).find((other) => !rules.has(other));
    if (missing !== undefined) {
      throw new ConstraintError(
        `rule '${name}' names '${missing}', which the grammar does not have`,
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

/** One part stands for itself. */
export function sequenceOf(parts: readonly GrammarNode[]): GrammarNode {
  return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
}

export function choiceOf(options: readonly GrammarNode[]): GrammarNode {
  return options.length === 1 ? options[0]! : { kind: 'choice', options };
}
