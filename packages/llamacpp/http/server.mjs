/* global AbortController */
import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Engine } from '../inference/engine.mjs';
import { errorBody, StreamedAnswer, wholeAnswer } from './answers.mjs';
import { readRequest, Refusal } from './request.mjs';

const MAX_BODY_BYTES = 8 * 1024 * 1024;
const ENDPOINTS = { '/v1/completions': 'completions', '/v1/chat/completions': 'chat' };
const ID_PREFIX = { completions: 'cmpl', chat: 'chatcmpl' };

/**
 * Starts a server.
 *
 * @param given  see `DEFAULTS`; `path` of the model is needed
 * @returns its `url` and `engineId`, and `close()`
 */
export async function startServer(given) {
  const options = { ...DEFAULTS, ...given };
  const http = createServer();
  const address = () => ({ host: options.host, port: http.address().port });
  const engine = await Engine.start({ ...options, address });
  const server = new Server(options, engine);
  http.on('request', (request, response) => void server.answer(request, response));
  await new Promise((resolve, reject) => {
    http.once('error', reject);
    http.listen(options.port, options.host, resolve);
  });
  const { host, port } = address();
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    engineId: engine.engineId,
    close: () => server.close(http),
  };
}

export const DEFAULTS = {
  host: '127.0.0.1',
  /** 0: any free one. */
  port: 0,
  servedModel: 'llamacpp',
  threads: 1,
  /** Requests at once; each has KV for `contextTokens`. */
  sequences: 8,
  contextTokens: 4096,
  batchTokens: 512,
  kvLeaseMs: 30_000,
  /** Bytes of all states that wait for their readers. */
  maxHeldBytes: 2 ** 30,
  maxStateBytes: 2 ** 30,
  /** Limit for fetching a whole state. */
  kvFetchMs: 30_000,
  /** vLLM's `kv_load_failure_policy`: `fail` or `recompute`. */
  loadFailurePolicy: 'recompute',
  /** The same for states of peers; default: `loadFailurePolicy`. */
  peerFailurePolicy: undefined,
  /** Whether a state may be fetched from `{ origin, engineId }`. */
  isPeer: async () => false,
  log: () => undefined,
};

class Server {
  constructor(options, engine) {
    Object.assign(this, { options, engine });
    this.running = new Set();
  }

  async answer(request, response) {
    try {
      await this.route(request, response);
    } catch (error) {
      if (response.destroyed || error?.name === 'AbortError') response.destroy();
      else this.refuse(response, error);
    }
  }

  async close(http) {
    http.close();
    const ended = [...this.running].map(({ controller, done }) => (controller.abort(), done));
    await Promise.allSettled(ended);
    http.closeAllConnections();
    await this.engine.close();
  }

  async route(request, response) {
    const { method } = request;
    const [path] = request.url.split('?', 1);
    if (method === 'GET' && path === '/health') return response.writeHead(200).end();
    if (method === 'GET' && path === '/v1/models') return send(response, 200, this.models());
    if (method === 'GET' && path === '/metrics') return this.tellMetrics(response);
    if (path.startsWith('/kv/')) return this.kv(method, path.slice('/kv/'.length), response);
    const endpoint = ENDPOINTS[path];
    if (endpoint === undefined) throw new Refusal(404, 'Not Found');
    if (method !== 'POST') throw new Refusal(405, 'Method Not Allowed');
    return this.generate(readRequest(endpoint, await bodyOf(request)), request, response);
  }

  async generate(request, { headers }, response) {
    const { servedModel: model } = this.options;
    if (request.model !== undefined && request.model !== model) {
      throw new Refusal(404, `The model \`${request.model}\` does not exist.`, 'model');
    }
    const prompt = this.engine.promptOf(request);
    const requestId = headers['x-request-id'] ?? randomUUID().replaceAll('-', '');
    const id = `${ID_PREFIX[request.endpoint]}-${requestId}`;
    const facts = { id, model, created: Math.floor(Date.now() / 1_000) };
    const controller = new AbortController();
    response.once('close', () => controller.abort());
    const work = { request, prompt, signal: controller.signal };
    const done = (request.isStream ? this.stream : this.whole).call(this, work, facts, response);
    const entry = { controller, done };
    this.running.add(entry);
    await done.finally(() => this.running.delete(entry));
  }

  async whole(work, facts, response) {
    let text = '';
    const onText = (more) => (text += more);
    const result = await this.engine.run({ ...work, onText });
    const told = { ...facts, text: text + result.text, result };
    send(response, 200, wholeAnswer(work.request, told));
  }

  /** The head goes out with the first text, so that an earlier failure has a status. */
  async stream(work, facts, response) {
    const answer = new StreamedAnswer(work.request, facts);
    const open = () => {
      if (response.headersSent) return;
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      response.write(answer.first());
    };
    const onText = (text, tokenIds) => {
      open();
      response.write(answer.text(text, tokenIds));
    };
    const result = await this.engine.run({ ...work, onText });
    open();
    response.end(answer.end(result.text, result.untold, result));
  }

  /** A held state: read it, or release it. */
  async kv(method, id, response) {
    const { held } = this.engine;
    if (method === 'DELETE' && held.release(id)) return response.writeHead(204).end();
    const frames = method === 'GET' ? held.read(id) : undefined;
    if (frames === undefined) throw new Refusal(404, 'No such KV state is held.');
    response.setTimeout(this.options.kvFetchMs, () => response.destroy());
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    return pipeline(frames, response);
  }

  models() {
    const { servedModel: id } = this.options;
    const max_model_len = this.engine.model.contextTokens;
    return { object: 'list', data: [{ id, object: 'model', owned_by: 'llamacpp', max_model_len }] };
  }

  tellMetrics(response) {
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
    response.end(this.engine.page());
  }

  refuse(response, error) {
    const isKnown = error instanceof Refusal;
    if (!isKnown) this.options.log(error.stack ?? String(error));
    const body = errorBody(
      isKnown ? error.status : 500,
      isKnown ? error.message : 'Internal server error',
      isKnown ? error.param : null,
    );
    if (response.headersSent) response.end(`data: ${JSON.stringify(body)}\n\ndata: [DONE]\n\n`);
    else send(response, body.error.code, body);
  }
}

function send(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function bodyOf(request) {
  const parts = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) throw new Refusal(413, 'The body is too large.');
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch {
    throw new Refusal(400, 'The body is no JSON.');
  }
}
