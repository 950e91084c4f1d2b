/* global AbortSignal */
import { open } from 'node:fs/promises';
import { chunksIn } from './frames.mjs';

/** Limit of the answer to a release: the caller does not wait long. */
const RELEASE_MS = 2_000;

/** The state did not come, or it is another one. */
export class TransferFailed extends Error {}

/**
 * The location of the KV in the parameters of a request, read as in vLLM: undefined without
 * `do_remote_prefill`, and for parameters that lack the name of a state.
 */
export function sourceIn(params) {
  if (params?.do_remote_prefill !== true) return undefined;
  const { remote_host: host, remote_port: port } = params;
  const { remote_engine_id: engineId, remote_request_id: id } = params;
  const isNamed = [host, engineId, id].every((text) => typeof text === 'string' && text !== '');
  if (!isNamed || !Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (!URL.canParse(origin)) return undefined;
  return { origin: new URL(origin).origin, engineId, id };
}

/**
 * Fetches a state into a file, chunk by chunk.
 *
 * @param wanted the required `model` and `tokens` of the state, `maxBytes`
 * @returns bytes written
 * @throws TransferFailed, GarbledState, or the connection's error
 */
export async function fetchState({ source, file, wanted, signal }) {
  const answer = await fetch(addressOf(source), { redirect: 'error', signal });
  if (answer.status !== 200 || answer.body === null) {
    await answer.body?.cancel();
    throw new TransferFailed(`the engine that held it answers ${answer.status}`);
  }
  const target = await open(file, 'w');
  let bytes = 0;
  try {
    for await (const chunk of chunksIn(answer.body, (manifest) => check(manifest, wanted))) {
      await target.write(chunk);
      bytes += chunk.length;
    }
  } finally {
    await target.close();
  }
  return bytes;
}

/** Releases a state at the engine that holds it. */
export async function releaseState(source) {
  const signal = AbortSignal.timeout(RELEASE_MS);
  const answer = await fetch(addressOf(source), { method: 'DELETE', redirect: 'error', signal });
  await answer.body?.cancel();
}

function addressOf({ origin, id }) {
  return `${origin}/kv/${encodeURIComponent(id)}`;
}

/** llama.cpp cannot distinguish a state of another model from one of this model. */
function check(manifest, { model, tokens, maxBytes }) {
  if (manifest.model !== model) throw new TransferFailed('it is of another model');
  if (manifest.tokens !== tokens) throw new TransferFailed('it is of another prompt');
  if (manifest.bytes > maxBytes) throw new TransferFailed('it is larger than what is read');
}
