export * from './output-plan';
export * from './tokenizer';
