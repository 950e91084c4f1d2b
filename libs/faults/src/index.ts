export * from './fault-book';
export * from './injected-error';
export * from './llm-d-failures';
export * from './read-rules';
export * from './rule';
