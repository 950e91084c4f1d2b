/* global TextDecoderStream */
/** Posts a request; the answer's status, and its body as JSON or text. */
export async function post(url, body, { path = '/v1/completions', signal } = {}) {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  const text = await answer.text();
  return { status: answer.status, body: jsonOr(text) };
}

/**
 * A streamed completion: its text, events with the time of each in ms, and the error event if there
 * was one.
 */
export async function stream(
  url,
  body,
  { path = '/v1/completions', onText = () => undefined } = {},
) {
  const sentMs = performance.now();
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }),
  });
  const seen = { status: answer.status, text: '', timesMs: [], error: undefined, isDone: false };
  let rest = '';
  for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
    rest += part;
    const events = rest.split('\n\n');
    rest = events.pop();
    for (const event of events) take(seen, event.replace(/^data: /, ''), sentMs);
    if (seen.text !== '') onText(seen);
  }
  if (rest.startsWith('{')) seen.error = jsonOr(rest).error;
  return seen;
}

/** The value of a family on a server's `/metrics`. */
export async function metric(url, name) {
  const page = await (await fetch(`${url}/metrics`)).text();
  const line = page.split('\n').find((each) => each.startsWith(`${name}{`));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}

/** Resolves when `isTrue` is; asks every 50 ms. */
export async function until(what, isTrue, deadlineMs = 20_000) {
  const endMs = performance.now() + deadlineMs;
  while (!(await isTrue())) {
    if (performance.now() > endMs) throw new TypeError(`not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Token ids of a prompt, all of them text. */
export function promptOf(length, salt = 0) {
  return Array.from({ length }, (_none, i) =>
    i === 0 ? 1 : 300 + ((i * 7_919 + salt * 131) % 3_700),
  );
}

function take(seen, data, sentMs) {
  if (data === '[DONE]') {
    seen.isDone = true;
    return;
  }
  const event = jsonOr(data);
  if (event.error !== undefined) seen.error = event.error;
  if (event.usage) seen.usage = event.usage;
  const [choice] = event.choices ?? [];
  if (choice === undefined) return;
  const text = choice.text ?? choice.delta?.content ?? '';
  if (text !== '') seen.timesMs.push(performance.now() - sentMs);
  seen.text += text;
  seen.finishReason = choice.finish_reason ?? seen.finishReason;
}

function jsonOr(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
