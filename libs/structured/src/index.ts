export { constrain } from './constrain';
export type { Constraint } from './constrain';
export { ConstraintError } from './constraint-error';
export { TextPatternError, patternTest } from './pattern-test';
export type { StructuredText } from './structured-text';
export { constantText } from './text-parts';
export {
  ADJECTIVES,
  ADVERBS,
  CONJUNCTIONS,
  DETERMINERS,
  NOUNS,
  PREPOSITIONS,
  VERBS,
} from './word-lists';
