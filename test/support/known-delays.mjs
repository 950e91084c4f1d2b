// A tiny OpenAI-compatible server with known delays: it stamps the arrival of each request and the
// departure of each token. The body's `reference` object sets its behaviour: ttft_ms, itl_ms, usage
// (false: none), fail ('http' with status, 'in-stream', 'cut', 'silent'), from (rows below it are
// served well). GET /stamps gives the stamps; GET /metrics counts each warm-up request of a bench
// as a late prefill step. Prints its port, ends with its stdin.
import { createServer } from 'node:http';
import { setInterval } from 'node:timers';

const nowMs = () => performance.timeOrigin + performance.now();
const stamps = [];
const beats = new Map();

const server = createServer((request, response) => {
  const receivedMs = nowMs();
  if (request.method === 'GET') return answerGet(request.url, response);
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(parts).toString());
    if (request.url === '/tokenize') return json(response, 200, tokenized(body));
    const stamp = { id: request.headers['x-request-id'], receivedMs, writtenMs: [], body };
    stamps.push(stamp);
    generate({ path: request.url, body, response, stamp, number: stamps.length - 1 });
  });
});

function answerGet(url, response) {
  if (url === '/stamps') return json(response, 200, stamps);
  if (url === '/metrics') return lateWarmUps(response);
  if (url === '/v1/models') {
    return json(response, 200, {
      object: 'list',
      data: [{ id: 'reference', max_model_len: 4096 }],
    });
  }
  return json(response, 404, { detail: 'Not Found' });
}

function lateWarmUps(response) {
  const steps = stamps.length;
  const late = stamps.filter(({ id }) => id?.includes('warm-up')).length;
  response.end(`baton:step_time_info{engine="0",stage="prefill",method="given",description="c"} 1
baton:step_lag_seconds_bucket{engine="0",le="0.01"} ${steps - late}
baton:step_lag_seconds_count{engine="0"} ${steps}
`);
}

/** Every word is a token, words with an e are two. */
function tokenized({ prompt }) {
  const words = prompt.split(' ').filter((word) => word !== '');
  const tokens = words.flatMap((word) => (word.includes('e') ? [1, 2] : [1]));
  return { count: tokens.length, max_model_len: 4096, tokens };
}

function generate(call) {
  const { ttft_ms = 5, itl_ms = 5, fail, status = 503, from = 0 } = call.body.reference ?? {};
  const failure = call.number >= from ? fail : undefined;
  if (failure === 'http') {
    return json(call.response, status, { error: { message: 'fails on request', code: status } });
  }
  if (failure === 'silent') return;
  const tokens = call.body.max_tokens ?? call.body.max_completion_tokens;
  const stream = { ...call, tokens: tokens ?? call.body.max_output_tokens, sent: 0, failure };
  setTimeout(() => {
    stream.response.writeHead(200, { 'content-type': 'text/event-stream' });
    stream.response.flushHeaders();
    token(stream);
    if (stream.sent < stream.tokens) beatOf(itl_ms).add(stream);
  }, ttft_ms);
}

function beatOf(itlMs) {
  let streams = beats.get(itlMs);
  if (streams === undefined) {
    streams = new Set();
    beats.set(itlMs, streams);
    setInterval(() => {
      for (const stream of streams) if (!token(stream)) streams.delete(stream);
    }, itlMs);
  }
  return streams;
}

/** Writes the next token; false when it was the last. */
function token(stream) {
  const { response, stamp, failure, tokens } = stream;
  if (response.destroyed) return false;
  if (failure === 'cut' && stream.sent === 1) return void response.end();
  if (failure === 'in-stream' && stream.sent === 1) {
    return void response.end(
      'data: {"error": {"message": "fails on request", "code": 500}}\n\ndata: [DONE]\n\n',
    );
  }
  stream.sent += 1;
  const isLast = stream.sent === tokens;
  stamp.writtenMs.push(nowMs());
  frame(response, eventOf(stream, isLast));
  if (isLast) response.end(closing(stream));
  return !isLast;
}

/** Written straight to the socket: this server must cost less than the client that it measures. */
function frame(response, text) {
  response.socket.write(`${text.length.toString(16)}\r\n${text}\r\n`, 'latin1');
}

function eventOf({ path, sent }, isLast) {
  const text = ` word${sent}`;
  const reason = isLast ? '"length"' : 'null';
  if (path === '/v1/responses') {
    return `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":${sent},"delta":"${text}"}\n\n`;
  }
  const choice = path.includes('chat') ? `"delta":{"content":"${text}"}` : `"text":"${text}"`;
  return `data: {"id":"x","choices":[{"index":0,${choice},"logprobs":null,"finish_reason":${reason}}]}\n\n`;
}

function closing({ path, body, tokens }) {
  const usage = { prompt_tokens: 7, total_tokens: 7 + tokens, completion_tokens: tokens };
  if (path === '/v1/responses') {
    const response = { usage: { input_tokens: 7, output_tokens: tokens } };
    return `data: ${JSON.stringify({ type: 'response.completed', response })}\n\n`;
  }
  const end =
    body.reference?.usage === false ? '' : `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
  return `${end}data: [DONE]\n\n`;
}

function json(response, status, document) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(document));
}

server.keepAliveTimeout = 60_000;
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  process.stdout.write(`${server.address().port}\n`);
});
process.stdin.on('end', () => process.exit(0)).resume();
