/* global AbortController, AbortSignal */
// One request of the battery and its answer, from the wire alone.

/** Maximum time of a request, wall ms. */
const REQUEST_MS = 60_000;

/** `POST <base><path>`. Always resolves, to { status, text, error }. */
export async function ask(base, { path, body }) {
  try {
    const response = await send(base, { path, body, signal: AbortSignal.timeout(REQUEST_MS) });
    const bytes = await response.text();
    if (!response.ok) return { status: response.status, text: '', error: firstLine(bytes) };
    return { status: response.status, ...readable(bytes) };
  } catch (error) {
    return { status: 0, text: '', error: reasonOf(error) };
  }
}

/** A client that disconnects after the first bytes of a stream. */
export async function leaveEarly(base, { path, body }) {
  const leave = new AbortController();
  const signal = AbortSignal.any([leave.signal, AbortSignal.timeout(REQUEST_MS)]);
  try {
    const response = await send(base, { path, body: { ...body, stream: true }, signal });
    await response.body?.getReader().read();
    leave.abort();
    return { status: response.status, text: '', error: undefined };
  } catch (error) {
    return { status: 0, text: '', error: reasonOf(error) };
  }
}

function send(base, { path, body, signal }) {
  return fetch(new URL(path, base), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...keyHeader() },
    body: JSON.stringify(body),
    signal,
  });
}

function keyHeader() {
  const { OPENAI_API_KEY: key } = process.env;
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

function readable(bytes) {
  try {
    return textOf(bytes);
  } catch {
    return { text: '', error: firstLine(bytes) };
  }
}

/**
 * Some proxies stream without a request for it, and some send streams under another content type.
 * The bytes decide.
 */
function textOf(bytes) {
  const events = bytes.split('\n').filter((line) => line.startsWith('data: '));
  const isStream = events.length > 0;
  const chunks = isStream ? events.map(chunkOf) : [JSON.parse(bytes)];
  const failed = chunks.find((chunk) => chunk?.error !== undefined && chunk.error !== null);
  const text = chunks.flatMap((chunk) => chunk?.choices ?? []).map(saidBy);
  const isCut = isStream && !events.some((line) => line.trim() === 'data: [DONE]');
  const error = failed === undefined ? undefined : firstLine(JSON.stringify(failed.error));
  return { text: text.join(''), error: error ?? (isCut ? 'the stream has no [DONE]' : undefined) };
}

function chunkOf(line) {
  const data = line.slice('data: '.length).trim();
  return data === '[DONE]' ? undefined : JSON.parse(data);
}

function saidBy({ text, delta, message }) {
  return text ?? delta?.content ?? message?.content ?? '';
}

function reasonOf(error) {
  const { message, cause } = error;
  return firstLine(cause?.message === undefined ? message : `${message}: ${cause.message}`);
}

function firstLine(text) {
  return text.split('\n', 1)[0].slice(0, 200);
}
