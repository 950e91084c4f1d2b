import type { Micros } from '@baton/kernel';
import { NEVER, type RequestLog } from '@baton/analysis';

export interface Span {
  readonly fromUs: Micros;
  readonly untilUs: Micros;
}

/** When an engine had a request that it was computing, as ascending spans that do not touch, of requests that came up to `lastUs`. */
export function busySpans(log: RequestLog, engine: number, lastUs: Micros): Span[] {
  const spans = [...spansOn(log, engine, lastUs)].sort((a, b) => a.fromUs - b.fromUs);
  const merged: { fromUs: Micros; untilUs: Micros }[] = [];
  for (const { fromUs, untilUs } of spans) {
    const last = merged.at(-1);
    if (last === undefined || fromUs > last.untilUs) merged.push({ fromUs, untilUs });
    else last.untilUs = Math.max(last.untilUs, untilUs);
  }
  return merged;
}

/** Prefill computes from its first step until the prompt is held, decode from the arrival of the KV until the last token. */
function* spansOn(log: RequestLog, engine: number, lastUs: Micros): Generator<Span> {
  for (let row = 0; row < log.count; row++) {
    if (log.arrivalUs[row]! > lastUs) continue;
    const isHandedOver = log.heldUs[row] !== NEVER;
    const finishUs = log.finishUs[row]!;
    if (isHandedOver && log.prefillEngine[row] === engine) {
      yield { fromUs: log.prefillStartUs[row]!, untilUs: log.heldUs[row]! };
    }
    if (log.decodeEngine[row] !== engine || finishUs === NEVER) continue;
    const fromUs = isHandedOver ? log.transferEndUs[row]! : log.prefillStartUs[row]!;
    if (fromUs !== NEVER) yield { fromUs, untilUs: finishUs };
  }
}
