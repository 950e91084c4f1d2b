import { randomBytes } from 'node:crypto';
import { findPromptWords, probeServer, RequestWriter, ServerTokenizer } from '@baton/loadgen';
import { type LoadedWorkload, loadWorkload } from '@baton/replay';
import { withProgress } from '../progress';
import type { BenchFlags } from './bench-flags';

/**
 * Tokens per content id. Generated single requests share prefixes to the exact token; conversations
 * and traces have larger blocks.
 */
const FINE_BLOCK = 1;
const BLOCK = 16;

/** All inputs of a load run. */
export interface PreparedBench {
  readonly flags: BenchFlags;
  readonly model: string;
  readonly loaded: LoadedWorkload;
  readonly writer: RequestWriter;
  readonly ignoreEos: boolean;
  /** The tokenizer with which prompt lengths are measured. */
  readonly tokenizer: string;
  readonly requestIdPrefix: string;
  /** Notes for the user, as sentences. */
  readonly notes: readonly string[];
}

/**
 * Reads the server's description, makes the workload, and finds words that are one token each for
 * the server.
 *
 * @throws UsageError or Failure, one sentence
 */
export async function prepareBench(flags: BenchFlags, stop: AbortSignal): Promise<PreparedBench> {
  const { server, seed } = flags;
  const facts = await probeServer(server, stop);
  const loaded = await workloadOf(flags, facts.maxModelLen);
  const found = await findPromptWords(new ServerTokenizer(server, facts.model));
  const ignoreEos = flags.ignoreEos ?? loaded.texts === undefined;
  const writer = new RequestWriter(loaded, {
    ...found,
    model: facts.model,
    seed,
    ignoreEos,
    protocol: server.protocol,
    extraBody: server.extraBody,
    prefix: server.prefix,
    isModelGiven: server.model !== undefined,
  });
  const isWritten = loaded.texts === undefined && loaded.requests === undefined;
  return {
    flags,
    model: facts.model,
    loaded,
    writer,
    ignoreEos,
    tokenizer: found.isConfirmed ? facts.model : 'o200k_base',
    requestIdPrefix: flags.requestIdPrefix ?? `bench-${randomBytes(4).toString('hex')}-`,
    notes: [
      ...facts.notes,
      ...loaded.notes,
      ...(isWritten && !found.isConfirmed
        ? [
            `The server has no /tokenize for ${facts.model}. ` +
              'Prompt lengths are measured with o200k_base.',
          ]
        : []),
    ],
  };
}

function workloadOf(
  { workload: flags, seed }: BenchFlags,
  maxModelLen: number | undefined,
): Promise<LoadedWorkload> {
  const isSingle = flags.trace === undefined && flags.dataset !== 'multi-turn';
  return withProgress('reading', (onProgress) =>
    loadWorkload(flags, {
      seed,
      blockSize: isSingle ? FINE_BLOCK : BLOCK,
      mayCoarsen: true,
      ...(maxModelLen === undefined ? {} : { maxModelLen }),
      onProgress,
    }),
  );
}
