export { FaultBook, isDue, RETURN_ERROR_HEADER } from './fault-book';
export type { FaultSettings } from './fault-book';
export { InjectedError } from './injected-error';
export { FAILURE_TYPES } from './llm-d-failures';
export { readRules, writeRules } from './read-rules';
export { KINDS } from './rule';
export type { FaultRule } from './rule';
