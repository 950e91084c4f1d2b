import { sloTest, NEVER, type RequestLog, type Slo, tpotOf, ttftUs } from '@baton/analysis';
import { UsageError } from '@baton/config';
import { isObject, usToMs } from '@baton/kernel';
import type { Conversation } from './conversation';

/** A request that has ended, for the program. Null: not measured. */
export interface EndedRequest {
  readonly ttft_ms: number | null;
  readonly tpot_ms: number | null;
  readonly e2el_ms: number | null;
  /** Whether it met the SLO; without an SLO, whether it was completed. */
  readonly good: boolean;
}

/** The program restarts or has closed its output: the run ends without a result. */
class Interruption extends Error {}

/**
 * One run in which the program decides. Each question includes the requests that have ended since
 * the previous one.
 */
export class Episode {
  /** Set when the program answers with a restart instead of an action. */
  interruption: { readonly nextSeed: number | undefined } | undefined;
  private ended: EndedRequest[] = [];

  constructor(
    private readonly conversation: Conversation,
    private readonly slo: Slo,
  ) {}

  /** The action of the program. */
  ask(question: Readonly<Record<string, unknown>>): unknown {
    this.conversation.send({ ...question, ended: this.takeEnded() });
    const answer = this.conversation.receive();
    if (isObject(answer) && 'action' in answer) return answer['action'];
    this.interruption = { nextSeed: seedOf(answer) };
    throw new Interruption();
  }

  onEnd(row: number, log: RequestLog): undefined {
    const firstUs = ttftUs(log, row);
    const isOver = log.finishUs.at(row) !== NEVER;
    this.ended.push({
      ttft_ms: firstUs === undefined ? null : usToMs(firstUs),
      tpot_ms: isOver ? usToMs(tpotOf(log, row)) : null,
      e2el_ms: isOver ? usToMs(log.finishUs.at(row) - log.arrivalUs.at(row)) : null,
      good: sloTest(log, this.slo)(row),
    });
  }

  takeEnded(): EndedRequest[] {
    const { ended } = this;
    this.ended = [];
    return ended;
  }
}

/**
 * The seed of `{"reset": 7}`. Undefined: the program has closed its output.
 *
 * @throws UsageError for any other message
 */
export function seedOf(message: unknown): number | undefined {
  if (message === undefined) return undefined;
  const seed = isObject(message) ? message['reset'] : undefined;
  if (Number.isSafeInteger(seed) && Number(seed) >= 0) return Number(seed);
  throw new UsageError(
    'A line on stdin must be {"action": …} as the answer to a question, or {"reset": SEED} with ' +
      'an integer from 0.',
  );
}
