import { randomUUID } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import { CHUNK_BYTES, framesOf } from './frames.mjs';

/**
 * The KV states that wait for their reader, as files: each is kept until it is released, or its
 * lease ends. The name of a state is an id that cannot be guessed. Beyond `maxBytes` no further
 * state is held.
 */
export class HeldStates {
  constructor({ folder, leaseMs, maxBytes, model, onExpired }) {
    Object.assign(this, { folder, leaseMs, maxBytes, model, onExpired });
    this.states = new Map();
    this.bytes = 0;
  }

  get count() {
    return this.states.size;
  }

  /** Saves the state of a sequence. Undefined: there is no room for it. */
  async hold(sequence, tokens) {
    if (this.bytes >= this.maxBytes) return undefined;
    const id = randomUUID();
    const file = join(this.folder, id);
    const { fileSize: bytes } = await sequence.saveStateToFile(file);
    const timer = setTimeout(() => this.expire(id), this.leaseMs);
    timer.unref();
    this.states.set(id, { file, bytes, tokens, timer });
    this.bytes += bytes;
    if (this.bytes <= this.maxBytes) return { id, bytes };
    this.release(id);
    return undefined;
  }

  /**
   * The frames of a state, or undefined for an unknown name. An opened state can be read to its
   * end.
   */
  read(id) {
    const state = this.states.get(id);
    return state === undefined ? undefined : framesIn(state, this.model);
  }

  /** False when there was none. */
  release(id) {
    const state = this.states.get(id);
    if (state === undefined) return false;
    clearTimeout(state.timer);
    this.states.delete(id);
    this.bytes -= state.bytes;
    void rm(state.file, { force: true }).catch(() => undefined);
    return true;
  }

  close() {
    for (const id of [...this.states.keys()]) this.release(id);
    rmSync(this.folder, { recursive: true, force: true });
  }

  expire(id) {
    if (this.release(id)) this.onExpired();
  }
}

function framesIn({ bytes, tokens, file }, model) {
  const content = createReadStream(file, { highWaterMark: CHUNK_BYTES });
  return framesOf({ bytes, tokens, model }, content);
}
