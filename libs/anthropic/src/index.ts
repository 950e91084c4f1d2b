export { renderMessageError } from './message-error';
export { messageId } from './message-facts';
export { countTokensBody, parseMessages } from './parse-messages';
export { renderMessage } from './render-message';
export { messageSchemas } from './request-schemas';
export { StreamedMessage } from './streamed-message';
