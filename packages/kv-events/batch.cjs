'use strict';
const { Float, pack } = require('./pack.cjs');

/** vLLM's medium for a block that is not in host memory. */
const MEDIUM = 'GPU';

/**
 * One batch as vllm/distributed/kv_events.py encodes it. `array`: structs are arrays, a batch
 * `[ts, events, rank]`, an event begins with its name (vLLM so far, and what llm-d reads). `map`:
 * structs are maps with their fields' names, an event has its name under `type`; fields that have
 * their default are left out.
 *
 * An event is `{ kind: 'stored', hashes, parent, tokens }`, `{ kind: 'removed', hashes }` or
 * `{ kind: 'cleared' }`; `parent` is null at the beginning of a prompt.
 */
function encodeBatch(events, { seconds, rank, blockSize, format }) {
  const ts = new Float(seconds);
  if (format === 'map') {
    const each = events.map((event) => asMap(event, blockSize));
    return pack({ ts, events: each, data_parallel_rank: rank });
  }
  return pack([ts, events.map((event) => asArray(event, blockSize)), rank]);
}

function asArray(event, blockSize) {
  if (event.kind === 'cleared') return ['AllBlocksCleared'];
  if (event.kind === 'removed') return ['BlockRemoved', event.hashes, MEDIUM];
  const { hashes, parent, tokens } = event;
  return ['BlockStored', hashes, parent, tokens, blockSize, null, MEDIUM, null];
}

function asMap(event, blockSize) {
  if (event.kind === 'cleared') return { type: 'AllBlocksCleared' };
  if (event.kind === 'removed') {
    return { type: 'BlockRemoved', block_hashes: event.hashes, medium: MEDIUM };
  }
  return {
    type: 'BlockStored',
    block_hashes: event.hashes,
    parent_block_hash: event.parent,
    token_ids: event.tokens,
    block_size: blockSize,
    lora_id: null,
    medium: MEDIUM,
    lora_name: null,
  };
}

module.exports = { encodeBatch };
