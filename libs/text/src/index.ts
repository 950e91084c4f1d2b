export { applyChatTemplate } from './chat-prompt';
export type { AnswerSource, GivenAnswer, GivenCall, SequenceFacts } from './given-answer';
export { asciiJson, escapeJson, JsonFragments } from './json-fragment';
export { tokenLogprobs, type TokenLogprob } from './logprobs';
export type {
  OutputLengthModel,
  OutputPlan,
  PlanInput,
  PlanSegment,
  WordChoice,
} from './output-plan';
export { planOutput, promptHash, sequenceFacts } from './plan-output';
export type { Steering } from './steered-tokens';
export type { OfferedTool, ToolKind, ToolOffer } from './tool-calls';
export {
  joinedContent,
  type ChatTemplate,
  type ChatTurn,
  type TurnCall,
  type TurnContent,
} from './templates/chat-template';
export { CHATML } from './templates/chatml';
export {
  familyOfJinja,
  TEMPLATE_NAMES,
  type TemplateName,
  templateNamed,
  templateOfModel,
} from './templates/choose-template';
export {
  ChatTemplateError,
  type Conversation,
  JinjaTemplate,
  placeholder,
  type TemplateMessage,
} from './templates/jinja-template';
export type { Marker } from './tokenizers/markers';
export {
  defaultTokenizer,
  loadTokenizer,
  TOKENIZER_NAMES,
  type TokenizerName,
} from './tokenizers/named-tokenizers';
export type { Tokenizer } from './tokenizers/tokenizer';
export { vocabularyOf } from './vocabulary';
export { readTokenizerJson } from './tokenizers/json-tokenizer';
export { TokenizerError } from './tokenizers/tokenizer-error';
export { segmentText, textOfIds, visibleText } from './visible-text';
export { type RawJson, rawArray, rawEntries, rawIds, rawObject } from './raw-json';
export { constrain, type Constraint } from './structured/constrain';
export { ConstraintError } from './structured/constraint-error';
export { loadPatterns, TextPatternError, patternTest } from './structured/pattern-test';
export { type StructuredText } from './structured/structured-text';
