export { applyChatTemplate } from './chat-prompt';
export type { ChatTemplateOptions } from './chat-prompt';
export type { AnswerSource, GivenAnswer, GivenCall, SequenceFacts } from './given-answer';
export { asciiJson, escapeJson, JsonFragments } from './json-fragment';
export { tokenLogprobs } from './logprobs';
export type { TokenLogprob, TokenPlace } from './logprobs';
export type {
  OutputLengthModel,
  OutputPlan,
  PlanInput,
  PlanSegment,
  ReasoningWish,
  TextCut,
  WordChoice,
} from './output-plan';
export { planOutput, promptHash, sequenceFacts } from './plan-output';
export type { Steering } from './steered-tokens';
export type { OfferedTool, ToolKind, ToolOffer } from './tool-calls';
export { joinedContent } from './templates/chat-template';
export type { ChatTemplate, ChatTurn, TurnCall, TurnContent } from './templates/chat-template';
export { CHATML } from './templates/chatml';
export {
  KNOWN_MARKUP,
  TEMPLATE_NAMES,
  templateNamed,
  templateOfJinja,
  templateOfModel,
} from './templates/choose-template';
export type { TemplateName } from './templates/choose-template';
export type { Marker } from './tokenizers/markers';
export { defaultTokenizer, loadTokenizer, TOKENIZER_NAMES } from './tokenizers/named-tokenizers';
export type { TokenizerName } from './tokenizers/named-tokenizers';
export type { SpecialTokens, Tokenizer } from './tokenizers/tokenizer';
export { vocabularyOf } from './vocabulary';
export type { Vocabulary } from './vocabulary';
export { readTokenizerJson } from './tokenizers/json-tokenizer';
export { TokenizerError } from './tokenizers/tokenizer-error';
export { segmentText, visibleText } from './visible-text';
export { type RawJson, rawArray, rawEntries, rawIds, rawObject } from './raw-json';
