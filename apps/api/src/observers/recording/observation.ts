import type { FrameEntry, FrameHeader } from '@baton/contract';
import type { Sequence } from '../../frames/sequence';

/** Gaps are told apart as finely as by the histograms that they end up in: to 1/256 of their length. */
const GAP_BITS = 8;

/**
 * What is noted of one sequence on its way, for the line that is written at its end. Instants are µs of the wall clock since the Unix epoch, undefined before
 * they have come; of a sequence that runs more than once the last run counts. Nothing here grows with the number of its tokens but the number of
 * different gaps between them.
 */
export class Observation {
  prefillEngine: string | undefined;
  decodeEngine: string | undefined;
  transferredTokens = 0;
  scheduledUs: number | undefined;
  heldUs: number | undefined;
  decodeUs: number | undefined;
  /** As engines stamped them. */
  stampedFirstUs: number | undefined;
  stampedLastUs: number | undefined;
  /** As this process saw them. */
  seenFirstUs: number | undefined;
  seenLastUs: number | undefined;
  /** How often each gap between tokens was seen, in µs of simulated time. */
  readonly gaps = new Map<number, number>();

  constructor(
    /** Path of the endpoint. */
    readonly endpoint: string,
    readonly sessionKey: number | undefined,
  ) {}

  /** It entered a batch for the first time, or was handed over. */
  noted({ job }: Sequence, entry: Readonly<FrameEntry>, header: FrameHeader): void {
    if (entry.kind === 'handed-over') {
      this.heldUs = job.arrivalUs + entry.first;
    } else if (entry.kind === 'scheduled') {
      const isSecondEngine = header.stage === 'decode' && job.flow !== 'local';
      const beganUs = header.stepEndUs - entry.first;
      if (isSecondEngine) this.decodeUs = beganUs;
      else this.scheduledUs = beganUs;
      if (isSecondEngine) this.transferredTokens = entry.count;
      else this.prefillEngine = header.engineId;
      if (header.stage !== 'prefill') this.decodeEngine = header.engineId;
    }
  }

  /** Tokens have come, one or several at once: between these there is no gap, as there is none between events for a client. */
  tokens(nowUs: number, stampedUs: number, speedup: number): void {
    this.stampedFirstUs ??= stampedUs;
    this.stampedLastUs = stampedUs;
    if (this.seenLastUs === undefined) this.seenFirstUs = nowUs;
    else {
      const gapUs = coarse(Math.round((nowUs - this.seenLastUs) * speedup));
      this.gaps.set(gapUs, (this.gaps.get(gapUs) ?? 0) + 1);
    }
    this.seenLastUs = nowUs;
  }
}

/** Rounded so that at most 8 binary digits count behind the first. */
function coarse(us: number): number {
  const grain = 2 ** Math.max(0, Math.floor(Math.log2(Math.max(1, us))) - GAP_BITS);
  return Math.round(us / grain) * grain;
}
