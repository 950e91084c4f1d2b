export { derenderChatBody, derenderCompletionBody } from './derender';
export { parseGenerate, renderGenerate } from './generate';
export { renderChatBody, renderCompletionBody } from './render';
export { tokenSchemas } from './request-schemas';
export { isSglangBatch, parseSglangGenerate, renderSglangGenerate } from './sglang/sglang-generate';
export { StreamedSglangGenerate } from './sglang/streamed-sglang-generate';
export { StreamedGenerate } from './streamed-generate';
export { detokenizeBody, tokenizeBody, tokenizerInfoBody } from './tokens';
