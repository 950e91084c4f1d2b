export { applyChatTemplate } from './chat-template';
export type { ChatTemplateOptions, ChatTurn, TurnCall, TurnContent } from './chat-template';
export type { AnswerSource, GivenAnswer, GivenCall, SequenceFacts } from './given-answer';
export { asciiJson, escapeJson, JsonFragments } from './json-fragment';
export { tokenLogprobs } from './logprobs';
export type { TokenLogprob, TokenPlace } from './logprobs';
export { defaultTokenizer } from './o200k-tokenizer';
export type {
  LengthModel,
  OutputPlan,
  PlanInput,
  PlanSegment,
  ReasoningWish,
  TextCut,
} from './output-plan';
export { planOutput, promptHash } from './plan-output';
export type { Steering } from './steered-tokens';
export type { OfferedTool, ToolKind, ToolOffer } from './tool-calls';
export type { SpecialTokens, Tokenizer } from './tokenizer';
export { constrain } from './structured/constrain';
export type { Constraint } from './structured/constrain';
export { ConstraintError } from './structured/constraint-error';
export type { StructuredText } from './structured/structured-text';
export { vocabularyOf } from './vocabulary';
export type { Vocabulary } from './vocabulary';
export { segmentText, visibleText } from './visible-text';
