/* global AbortSignal */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../http/request.mjs';
import { fetchState, releaseState, sourceIn, TransferFailed } from '../kv/fetch-state.mjs';
import { HeldStates } from '../kv/held-states.mjs';
import { newFolder } from '../kv/state-folder.mjs';
import { generate, prefill } from './generate.mjs';
import { Metrics } from './metrics.mjs';
import { Model } from './model.mjs';

/** Requests that wait for a sequence; further ones are refused. */
const MAX_WAITING = 1_024;
/** vLLM's default; answers carry ids of blocks, which mean nothing here. */
const BLOCK_TOKENS = 16;

/**
 * Runs requests on one model, as many at once as its context has sequences, and hands their KV
 * over.
 */
export class Engine {
  static async start(options) {
    return new Engine(options, await Model.load(options));
  }

  constructor(options, model) {
    Object.assign(this, { options, model, engineId: randomUUID() });
    this.metrics = new Metrics({ model: options.servedModel });
    this.folder = newFolder();
    this.held = new HeldStates({
      folder: this.folder,
      leaseMs: options.kvLeaseMs,
      maxBytes: options.maxHeldBytes,
      model: model.fingerprint,
      onExpired: () => this.metrics.add('vllm:nixl_num_kv_expired_reqs_total'),
    });
  }

  /** Token ids of the request's prompt, if it can be run. @throws Refusal */
  promptOf(request) {
    const { model } = this;
    const text = request.endpoint === 'chat' ? model.chatText(request.messages) : request.prompt;
    const tokens = Array.isArray(text) ? text : model.tokenize(text);
    const limit = model.contextTokens;
    if (tokens.length === 0) throw new Refusal(400, 'The prompt has no token.', 'prompt');
    if (tokens.some((token) => token >= model.vocabularySize)) {
      throw new Refusal(400, 'A token id of the prompt is outside of the vocabulary.', 'prompt');
    }
    const wanted = request.maxTokens ?? Math.max(1, limit - tokens.length);
    if (tokens.length + wanted <= limit) return { tokens, maxTokens: wanted };
    throw new Refusal(
      400,
      `This model's maximum context length is ${limit} tokens. However, you requested ${wanted} output tokens and your prompt contains at least ${tokens.length} input tokens, for a total of at least ${tokens.length + wanted} tokens. Please reduce the length of the input prompt or the number of requested output tokens.`,
      'max_tokens',
    );
  }

  /**
   * Runs a request to its end.
   *
   * @param work  `request`, its `prompt`, a `signal` that ends it, and `onText`
   * @throws the signal's reason, or Refusal
   */
  async run(work) {
    const { slots } = this.model;
    const startedMs = performance.now();
    if (slots.waiting >= MAX_WAITING) throw new Refusal(503, 'Too many requests wait.');
    const sequence = await slots.take(work.signal);
    try {
      const result = await this.runOn(sequence, { ...work, startedMs });
      this.metrics.add(`vllm:request_success_total{finished_reason="${result.reason}"}`);
      return result;
    } catch (error) {
      const reason = work.signal.aborted ? 'abort' : 'error';
      this.metrics.add(`vllm:request_success_total{finished_reason="${reason}"}`);
      throw error;
    } finally {
      await slots.giveBack(sequence);
    }
  }

  async runOn(sequence, { request, prompt, signal, onText, startedMs }) {
    const { tokens, maxTokens } = prompt;
    const { model, metrics } = this;
    const remoteTokens = await this.loadRemote(sequence, { request, tokens, signal });
    if (remoteTokens === 0) await this.compute(sequence, { tokens, signal });
    const kvTransferParams = await this.hold(sequence, { request, tokens });
    metrics.add('vllm:prompt_tokens_total', tokens.length);
    const end = await generate(model, sequence, {
      request: { ...request, maxTokens },
      tokens,
      signal,
      onText: this.watched(onText, startedMs),
    }).catch((error) => {
      // The client is gone.
      this.held.release(kvTransferParams?.remote_request_id);
      throw error;
    });
    const { made: tokenIds, ...rest } = end;
    metrics.add('vllm:generation_tokens_total', tokenIds.length);
    metrics.observe('vllm:e2e_request_latency_seconds', (performance.now() - startedMs) / 1_000);
    return { ...rest, tokenIds, promptTokenIds: tokens, remoteTokens, kvTransferParams };
  }

  page() {
    const { slots } = this.model;
    return this.metrics.page({
      'vllm:num_requests_running': slots.used,
      'vllm:num_requests_waiting': slots.waiting,
      'vllm:kv_cache_usage_perc': slots.usage(),
      'llamacpp:kv_states_held': this.held.count,
      'llamacpp:kv_states_held_bytes': this.held.bytes,
    });
  }

  async close() {
    this.held.close();
    await this.model.close();
  }

  async compute(sequence, { tokens, signal }) {
    const startedMs = performance.now();
    await prefill(this.model, sequence, { tokens, signal });
    this.metrics.observe(
      'vllm:request_prefill_time_seconds',
      (performance.now() - startedMs) / 1_000,
    );
  }

  /**
   * Number of tokens with fetched KV; 0 when the prompt is to be computed here. @throws Refusal by
   * the policy `fail`
   */
  async loadRemote(sequence, { request, tokens, signal }) {
    const source = sourceIn(request.kv);
    if (source === undefined) return 0;
    const file = join(this.folder, randomUUID());
    const startedMs = performance.now();
    let isPeer = false;
    try {
      isPeer = await this.options.isPeer(source);
      if (!isPeer) throw new TransferFailed('no peer of this engine');
      const bytes = await this.fetch({ source, file, tokens, signal });
      await sequence.loadStateFromFile(file, { acceptRisk: true });
      checkTokens(sequence, tokens);
      this.metrics.observe('vllm:nixl_bytes_transferred', bytes);
      this.metrics.observe('vllm:nixl_xfer_time_seconds', (performance.now() - startedMs) / 1_000);
      return tokens.length - 1;
    } catch (error) {
      await sequence.clearHistory();
      signal.throwIfAborted();
      this.onFailedTransfer(source, { error, isPeer });
      return 0;
    } finally {
      await rm(file, { force: true });
    }
  }

  async fetch({ source, file, tokens, signal }) {
    const { kvFetchMs, maxStateBytes: maxBytes } = this.options;
    const wanted = { model: this.model.fingerprint, tokens: tokens.length - 1, maxBytes };
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(kvFetchMs)]);
    try {
      return await fetchState({ source, file, wanted, signal: deadline });
    } finally {
      // Read or not, this engine does not fetch it again.
      releaseState(source).catch(() => undefined);
    }
  }

  /** @throws Refusal by the policy `fail` */
  onFailedTransfer({ origin, id }, { error, isPeer }) {
    const { loadFailurePolicy, peerFailurePolicy = loadFailurePolicy } = this.options;
    const why = error.cause?.message ?? error.message;
    this.metrics.add('vllm:nixl_num_failed_transfers_total');
    this.options.log(`KV of ${id} did not come from ${origin}: ${why}`);
    const policy = isPeer ? peerFailurePolicy : loadFailurePolicy;
    if (policy === 'fail') throw new Refusal(500, 'Internal server error');
  }

  /**
   * Names the state for a decode engine; undefined when the request does not ask for it, or there
   * is nothing to hold.
   */
  async hold(sequence, { request, tokens }) {
    if (request.kv?.do_remote_decode !== true || tokens.length < 2) return undefined;
    const held = await this.held.hold(sequence, tokens.length - 1);
    if (held === undefined) return undefined;
    const { host, port } = this.options.address();
    const blocks = Math.ceil(tokens.length / BLOCK_TOKENS);
    return {
      do_remote_prefill: true,
      do_remote_decode: false,
      remote_block_ids: [Array.from({ length: blocks }, (_none, i) => i)],
      remote_engine_id: this.engineId,
      remote_request_id: held.id,
      remote_host: host,
      remote_port: port,
      tp_size: 1,
      remote_num_tokens: tokens.length - 1,
    };
  }

  watched(onText, startedMs) {
    let lastMs;
    return (text, tokenIds) => {
      const nowMs = performance.now();
      const name =
        lastMs === undefined
          ? 'vllm:time_to_first_token_seconds'
          : 'vllm:inter_token_latency_seconds';
      this.metrics.observe(name, (nowMs - (lastMs ?? startedMs)) / 1_000);
      lastMs = nowMs;
      onText(text, tokenIds);
    };
  }
}

/** A state with the same number of tokens, but other tokens, would answer another prompt. */
function checkTokens(sequence, tokens) {
  const loaded = sequence.contextTokens;
  const isSame = loaded.length === tokens.length - 1 && loaded.every((id, i) => id === tokens[i]);
  if (!isSame) throw new TransferFailed('it is of another prompt');
}
