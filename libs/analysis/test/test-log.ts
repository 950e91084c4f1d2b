import { type Outcome, outcomeCode, RequestLog } from '../src/request-log';

type Instants = Partial<
  Record<
    | 'arrivalUs'
    | 'prefillStartUs'
    | 'heldUs'
    | 'transferStartUs'
    | 'transferEndUs'
    | 'firstTokenUs'
    | 'finishUs',
    number
  >
>;

export interface TestRow extends Instants {
  readonly outcome?: Outcome;
  readonly promptTokens?: number;
  readonly tokens?: number;
  readonly cachedTokens?: number;
}

/**
 * A log for specs. By default a row is completed at instant 0 with one token, and other instants
 * are left out.
 */
export function logOf(rows: readonly TestRow[]): RequestLog {
  const log = new RequestLog(rows.length);
  rows.forEach(({ outcome, tokens = 1, promptTokens, cachedTokens, ...instants }, row) => {
    log.outcome[row] = outcomeCode(outcome ?? 'completed');
    log.arrivalUs.set(row, 0);
    log.promptTokens[row] = promptTokens ?? 0;
    log.outputTokens[row] = tokens;
    log.emittedTokens[row] = tokens;
    log.cachedTokens[row] = cachedTokens ?? 0;
    for (const [name, us] of Object.entries(instants)) log[name as keyof Instants].set(row, us);
  });
  return log;
}
