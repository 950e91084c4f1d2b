export { applyChatTemplate } from './chat-template';
export type { ChatTemplateOptions, ChatTurn } from './chat-template';
export { asciiJson, escapeJson, JsonFragments } from './json-fragment';
export { tokenLogprobs } from './logprobs';
export type { TokenLogprob, TokenPlace } from './logprobs';
export { defaultTokenizer } from './o200k-tokenizer';
export type { LengthModel, OutputPlan, PlanInput, TextCut } from './output-plan';
export { planOutput, visibleText } from './plan-output';
export type { SpecialTokens, Tokenizer } from './tokenizer';
