import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { BatonConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import { renderError } from '@baton/openai';
import { commonHeaders } from './common-headers';

/** Without a secure connection the client could not read an answer. */
const NOT_TLS = /^(ERR_SSL_|ERR_TLS_|EPROTO)/;

/**
 * Answers input that never became a request: a broken request line or header, too many header
 * bytes, a missing body. Node hands over the bare socket, so the answer is written by hand and the
 * connection ends.
 */
export function answerClientError(error: Error, socket: Socket, config: BatonConfig): void {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ECONNRESET' || NOT_TLS.test(code) || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = renderError(batonErrorOf(code), config.dialect);
  const requestId = randomUUID().replaceAll('-', '');
  const lines = Object.entries({
    ...commonHeaders(config, requestId),
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`);
  // The rest of the client's data is discarded, so that it can read the answer; a client that never
  // ends is cut off.
  socket.resume();
  socket.setTimeout(2_000, () => socket.destroy());
}

function batonErrorOf(code: string): BatonError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new BatonError('headers_too_large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new BatonError('request_timeout');
    case 'HPE_INVALID_CONTENT_LENGTH':
    case 'HPE_UNEXPECTED_CONTENT_LENGTH':
      return new BatonError('invalid_type', 'The Content-Length header is invalid.');
    case 'HPE_INVALID_URL':
      return new BatonError('invalid_type', 'The URL is invalid.');
    case 'HPE_INVALID_METHOD':
      return new BatonError('invalid_type', 'The HTTP method is invalid.');
    default:
      return new BatonError('invalid_type', 'The HTTP request is malformed.');
  }
}
