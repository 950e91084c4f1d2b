import { Template } from '@huggingface/jinja';
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { getLlama, LlamaLogLevel, TokenBias } from 'node-llama-cpp';
import { Detokenizer } from '../text/detokenizer.mjs';
import { Slots } from './slots.mjs';

const SAMPLES = 16;
const SAMPLE_BYTES = 16 * 1024;
let llama;

/** One model in llama.cpp, with a context of some sequences. */
export class Model {
  /** @param contextTokens  of each sequence; at most the model's training length */
  static async load({ path, threads, sequences, contextTokens, batchTokens }) {
    llama ??= loadLlama();
    const model = await (await llama).loadModel({ modelPath: path });
    const context = await model.createContext({
      sequences,
      threads,
      batchSize: batchTokens,
      contextSize: Math.min(contextTokens, model.trainContextSize),
      batching: { itemPrioritizationStrategy: decodeFirst },
      failedCreationRemedy: false,
    });
    const made = new Model();
    const fingerprint = await fingerprintOf(path, context);
    return Object.assign(made, { model, context, batchTokens, fingerprint }).withSlots(sequences);
  }

  withSlots(sequences) {
    const { model } = this;
    this.slots = new Slots(Array.from({ length: sequences }, () => this.context.getSequence()));
    const template = model.fileInfo.metadata?.tokenizer?.chat_template;
    this.template = template === undefined ? undefined : new Template(template);
    this.endless = new TokenBias(model.tokenizer);
    for (const token of [model.tokens.eos, model.tokens.eot]) {
      if (token !== null) this.endless.set(token, 'never');
    }
    this.vocabularySize = [...model.iterateAllTokens()].length;
    this.unbiased = new TokenBias(model.tokenizer);
    return this;
  }

  /** Of a sequence; padded as llama.cpp needs it. */
  get contextTokens() {
    return Math.min(this.context.contextSize, this.model.trainContextSize);
  }

  tokenize(text) {
    const { model } = this;
    const ids = [...model.tokenize(text, true)];
    const { bos, shouldPrependBosToken } = model.tokens;
    return shouldPrependBosToken && bos !== null && ids[0] !== bos ? [bos, ...ids] : ids;
  }

  /** By the model's own template; without a template, one line per message. */
  chatText(messages) {
    const { model, template } = this;
    if (template === undefined) {
      return `${messages.map(({ role, content }) => `${role}: ${content}\n`).join('')}assistant: `;
    }
    const text = (token) => (token === null ? '' : model.detokenize([token], true));
    return template.render({
      messages,
      add_generation_prompt: true,
      bos_token: text(model.tokens.bos),
      eos_token: text(model.tokens.eos),
    });
  }

  newDetokenizer() {
    return new Detokenizer((tokens, before) => this.model.detokenize(tokens, false, before));
  }

  isEnd(token) {
    return this.model.isEogToken(token);
  }

  async close() {
    await this.context.dispose();
    await this.model.dispose();
  }
}

/**
 * Once per process. node-llama-cpp first tries its library in a fork of this process; modules that
 * this process preloads by flag are not meant for the fork, and could end it.
 */
async function loadLlama() {
  const { execArgv } = process;
  process.execArgv = [];
  try {
    return await getLlama({
      gpu: false,
      build: 'never',
      skipDownload: true,
      progressLogs: false,
      logLevel: LlamaLogLevel.error,
      maxThreads: 0,
    });
  } finally {
    process.execArgv = execArgv;
  }
}

/**
 * As vLLM's scheduler: first a token for each sequence that decodes, then prompts in order of
 * arrival, up to the size of the batch.
 */
function decodeFirst({ items, size }) {
  const decodes = items.filter(({ tokens }) => tokens.length === 1);
  const prompts = items.filter(({ tokens }) => tokens.length > 1);
  let left = size;
  return [...decodes, ...prompts].flatMap((item) => {
    const processAmount = Math.min(left, item.tokens.length);
    left -= processAmount;
    return processAmount === 0 ? [] : [{ item, processAmount }];
  });
}

/**
 * Equal for equal models with caches of equal types: llama.cpp does not detect a state of another
 * model. Covers the length of the file and 16 places in it.
 */
async function fingerprintOf(path, { kvCacheKeyType, kvCacheValueType, flashAttention }) {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const hash = createHash('sha256');
    hash.update(JSON.stringify([size, kvCacheKeyType, kvCacheValueType, flashAttention]));
    const bytes = new Uint8Array(SAMPLE_BYTES);
    for (let i = 0; i < SAMPLES; i += 1) {
      const at = Math.floor((Math.max(0, size - SAMPLE_BYTES) * i) / (SAMPLES - 1));
      const { bytesRead } = await file.read(bytes, 0, SAMPLE_BYTES, at);
      hash.update(bytes.subarray(0, bytesRead));
    }
    return hash.digest('hex');
  } finally {
    await file.close();
  }
}
