import type { Sequence } from './sequence';
import type { EngineCounters } from './types';

/** Counts since the engine's start. A prompt counts once, however often it is computed again. */
export class Tally implements EngineCounters {
  steps = 0;
  promptTokensComputed = 0;
  promptTokensCached = 0;
  promptTokensTransferred = 0;
  generatedTokens = 0;
  preemptions = 0;
  prefixQueriesTokens = 0;
  prefixHitsTokens = 0;
  finished = 0;
  aborted = 0;

  /** The lookup in the local prefix cache, at admission. */
  countLookup({ spec, cached }: Sequence): void {
    this.prefixQueriesTokens += spec.promptTokens;
    this.prefixHitsTokens += cached;
  }

  /** Where the tokens of a finished prompt came from: the three sources sum up to the prompt. */
  countPrompt(sequence: Sequence): void {
    if (sequence.promptWasCounted) return;
    sequence.promptWasCounted = true;
    const { cached, transferred, spec } = sequence;
    this.promptTokensCached += cached;
    this.promptTokensTransferred += transferred;
    this.promptTokensComputed += spec.promptTokens - cached - transferred;
  }
}
