import { processMsOf } from '@baton/clock';
import type { EngineJob, FrameEntry, FrameHeader } from '@baton/contract';
import type { SequenceHistory, SequenceNote } from '../observers/port/port';

/**
 * The instants and places of one sequence. Only its sequence writes it. It is small, so that it can
 * outlive the sequence.
 */
export class History implements SequenceHistory {
  readonly arrivalMs: number;
  prefillEngine: string | undefined;
  decodeEngine: string | undefined;
  transferredTokens = 0;
  scheduledUs: number | undefined;
  heldUs: number | undefined;
  decodeUs: number | undefined;
  stampedFirstUs: number | undefined;
  stampedLastUs: number | undefined;
  firstTokenMs = 0;
  lastTokenMs = 0;

  constructor(
    private readonly arrivalUs: number,
    private readonly flow: EngineJob['flow'],
  ) {
    this.arrivalMs = processMsOf(arrivalUs);
  }

  get firstStepMs(): number {
    const us = this.scheduledUs ?? this.decodeUs;
    return us === undefined ? 0 : processMsOf(us);
  }

  get ttftMs(): number {
    return this.firstTokenMs - this.arrivalMs;
  }

  /** Tokens have come; `isFirst`: none before them. */
  tokensCame(nowMs: number, stampedUs: number, isFirst: boolean): void {
    if (isFirst) this.firstTokenMs = nowMs;
    this.lastTokenMs = nowMs;
    this.stampedFirstUs ??= stampedUs;
    this.stampedLastUs = stampedUs;
  }

  /**
   * The sequence entered a batch. The entry comes at the end of the step, so the start of the step
   * is computed back from it.
   */
  scheduled(entry: Readonly<FrameEntry>, header: FrameHeader): SequenceNote {
    const { stage, engineId, stepEndUs } = header;
    const beganUs = stepEndUs - entry.first;
    if (stage === 'decode' && this.flow !== 'local') {
      this.decodeUs = beganUs;
      this.transferredTokens = entry.count;
    } else {
      this.scheduledUs = beganUs;
      this.prefillEngine = engineId;
    }
    if (stage !== 'prefill') this.decodeEngine = engineId;
    return {
      kind: 'scheduled',
      stage,
      engineId,
      stampedUs: stepEndUs,
      cachedTokens: entry.extra,
      transferredTokens: entry.count,
      waitsIn: undefined,
    };
  }

  /** The prompt of the sequence is held, and its job waits for a decode engine. */
  handedOver(entry: Readonly<FrameEntry>, header: FrameHeader): SequenceNote {
    this.heldUs = this.arrivalUs + entry.first;
    return { ...plainNote('handed-over', header), stampedUs: this.heldUs, waitsIn: 'decode' };
  }

  /** The run of the sequence is void: the prompt is computed again. */
  restarted(header: FrameHeader): SequenceNote {
    const waitsIn = header.stage === 'decode' ? 'prefill' : header.stage;
    return { ...plainNote('restarted', header), waitsIn };
  }
}

function plainNote(
  kind: SequenceNote['kind'],
  { stage, engineId, stepEndUs }: FrameHeader,
): Omit<SequenceNote, 'waitsIn'> {
  return { kind, stage, engineId, stampedUs: stepEndUs, cachedTokens: 0, transferredTokens: 0 };
}
