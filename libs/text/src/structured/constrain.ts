import { ConstraintError } from './constraint-error';
import { GrammarText } from './grammar/grammar-text';
import { type Json } from './json';
import { RegexText } from './regex-text';
import { SchemaText } from './schema/schema-text';
import { structuralTagText } from './structural-tag';
import type { StructuredText } from './structured-text';
import { choiceText } from './text-parts';

/** What a text may be confined to: OpenAI's `response_format` and vLLM's `structured_outputs`, in one form. */
export type Constraint =
  | { readonly kind: 'schema'; readonly schema: Json; readonly isCompact?: boolean }
  /** Any JSON object. */
  | { readonly kind: 'object'; readonly isCompact?: boolean }
  | { readonly kind: 'regex'; readonly pattern: string }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'grammar'; readonly grammar: string }
  | { readonly kind: 'structural-tag'; readonly tag: Json };

const ANY_OBJECT: Json = { type: 'object', minProperties: 1 };

/**
 * Reads a constraint. What it gives always writes texts that meet it. Throws `ConstraintError` when the constraint is malformed or cannot be met: before
 * anything is generated, never after.
 */
export function constrain(constraint: Constraint): StructuredText {
  switch (constraint.kind) {
    case 'schema':
      return new SchemaText(constraint.schema, { isCompact: constraint.isCompact === true });
    case 'object':
      return new SchemaText(ANY_OBJECT, { isCompact: constraint.isCompact === true });
    case 'regex':
      return new RegexText(constraint.pattern);
    case 'choice':
      if (constraint.choices.length === 0) throw new ConstraintError('there is no choice');
      return choiceText(constraint.choices);
    case 'grammar':
      return new GrammarText(constraint.grammar);
    case 'structural-tag':
      return structuralTagText(constraint.tag);
  }
}
