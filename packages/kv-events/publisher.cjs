'use strict';
const { Publisher, Router } = require('zeromq');
const { encodeBatch } = require('./batch.cjs');

/** Batches that a subscriber can request again, as in vLLM. */
const BUFFER_STEPS = 10_000;
/** Messages that wait for a slow subscriber, as in vLLM. */
const HIGH_WATER_MARK = 100_000;
/** Ends a replay: -1. */
const END = Buffer.alloc(8, 0xff);

/**
 * Publishes batches of events and keeps the last of them for subscribers that missed some: a
 * request `[empty, first sequence number]` to the replay endpoint is answered by a message
 * `[empty, number, batch]` for each batch that is still there, and one that ends with -1. Owns its
 * two sockets.
 */
class KvEventPublisher {
  #options;
  #pub = new Publisher();
  #router = new Router();
  #kept = [];
  #next = 0;
  #sending = Promise.resolve();

  /**
   * @param options  endpoint, replayEndpoint (optional), topic, blockSize, rank, format (`array` or
   * `map`)
   */
  constructor(options) {
    this.#options = options;
    this.#pub.sendHighWaterMark = HIGH_WATER_MARK;
    for (const socket of [this.#pub, this.#router]) socket.linger = 0;
  }

  /** Rejects when an endpoint is taken. */
  async open() {
    const { endpoint, replayEndpoint } = this.#options;
    await this.#pub.bind(endpoint);
    if (replayEndpoint === undefined) return;
    await this.#router.bind(replayEndpoint);
    void this.#answer();
  }

  /** The address of the publisher, with its actual port. */
  get address() {
    return this.#pub.lastEndpoint;
  }

  get replayAddress() {
    return this.#router.lastEndpoint;
  }

  /** One batch, in order; nothing waits for a subscriber. */
  publish(events) {
    const { topic, blockSize, rank, format } = this.#options;
    const context = { seconds: Date.now() / 1000, blockSize, rank, format };
    const message = [numbered(this.#next++), encodeBatch(events, context)];
    this.#kept.push(message);
    if (this.#kept.length > 2 * BUFFER_STEPS) this.#kept.splice(0, BUFFER_STEPS);
    const send = () => this.#pub.send([topic, ...message]);
    this.#sending = this.#sending.then(send).catch(() => undefined);
  }

  /** Messages already published are sent first. */
  async close() {
    await this.#sending;
    this.#pub.close();
    this.#router.close();
  }

  async #answer() {
    for await (const [client, delimiter, first] of this.#router) {
      if (first?.length !== 8) continue;
      const from = Number(first.readBigUInt64BE());
      const wanted = this.#kept.slice(-BUFFER_STEPS);
      for (const [number, batch] of wanted) {
        if (Number(number.readBigUInt64BE()) < from) continue;
        await this.#router.send([client, delimiter, number, batch]);
      }
      await this.#router.send([client, delimiter, END, Buffer.alloc(0)]);
    }
  }
}

function numbered(sequence) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(sequence));
  return bytes;
}

module.exports = { KvEventPublisher };
