import type { RequestLog } from '@baton/analysis';
import type { Micros } from '@baton/kernel';
import type { Workload } from '@baton/workload';

/** The requests of the control by row, and what it does not simulate, from the log of a run. */
export class ControlRows {
  readonly count: number;
  readonly arrivalUs: Float64Array;
  readonly promptTokens: Int32Array;
  readonly outputTokens: Int32Array;
  /** Prompt tokens that the run found in the prefix cache of its prefill engine. */
  readonly cachedTokens: Int32Array;
  /** Tokens of the prompt in a batch so far. */
  readonly computed: Int32Array;
  /** When the last token came. */
  readonly finishUs: Float64Array;

  constructor(
    workload: Workload,
    private readonly log: RequestLog,
  ) {
    this.count = workload.count;
    this.arrivalUs = workload.arrivalUs;
    this.promptTokens = workload.promptTokens;
    this.outputTokens = workload.outputTokens;
    this.cachedTokens = log.cachedTokens;
    this.computed = new Int32Array(this.count);
    this.finishUs = new Float64Array(this.count);
  }

  /** From the end of the prompt to the arrival of its KV at the decode engine. */
  handoffUs(row: number): Micros {
    return this.log.transferEndUs.at(row) - this.log.heldUs.at(row);
  }
}
