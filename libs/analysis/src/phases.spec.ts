import { describe, expect, it } from 'vitest';
import { meanPhases, phasesOf, REQUEST_PHASES, readPhases } from './phases';
import { type Instants, NEVER } from './instants';
import { RequestLog } from './request-log';
import { logOf, type TestRow } from '../test/test-log';

const HANDED_OVER: TestRow = {
  arrivalUs: 100,
  prefillStartUs: 150,
  heldUs: 400,
  transferStartUs: 410,
  transferEndUs: 440,
  firstTokenUs: 500,
  finishUs: 900,
};
const AGGREGATED: TestRow = {
  arrivalUs: 100,
  prefillStartUs: 110,
  firstTokenUs: 500,
  finishUs: 700,
};

function spansOf(row: TestRow): number[] {
  const log = logOf([row]);
  const spans = new Float64Array(REQUEST_PHASES.length);
  readPhases(log, 0, spans);
  return phasesOf(log).map((phase) => spans[REQUEST_PHASES.indexOf(phase)]!);
}

describe('the phases of a request', () => {
  it('lie end to end from arrival to finish with a hand-over', () => {
    expect(spansOf(HANDED_OVER)).toEqual([50, 250, 10, 30, 60, 400]);
    expect(spansOf(HANDED_OVER).reduce((sum, span) => sum + span)).toBe(900 - 100);
  });

  it('are three on an aggregated engine', () => {
    expect(spansOf(AGGREGATED)).toEqual([10, 390, NEVER, NEVER, NEVER, 200]);
  });

  it('end with the last completed one', () => {
    const held = { arrivalUs: 100, prefillStartUs: 150, heldUs: 400 };
    expect(spansOf(held)).toEqual([50, 250, NEVER, NEVER, NEVER, NEVER]);
    expect(spansOf({ arrivalUs: 100 })).toEqual(Array(6).fill(NEVER));
  });

  it('are averaged over the completed requests that had them', () => {
    const failed: TestRow = { ...HANDED_OVER, prefillStartUs: 399, outcome: 'failed' };
    expect(meanPhases(logOf([HANDED_OVER, AGGREGATED, failed]))).toEqual({
      queue: 30,
      prefill: 320,
      hold: 10,
      transfer: 30,
      decode_wait: 60,
      decode: 300,
    });
    expect(meanPhases(logOf([AGGREGATED])).transfer).toBeNaN();
  });

  it('begin with the front end, and have its second pass before the hold', () => {
    const log = new RequestLog(1, { hasFrontEnd: true });
    for (const [name, us] of Object.entries(HANDED_OVER)) {
      (log[name as keyof RequestLog] as Instants).set(0, us as number);
    }
    log.outcome[0] = 1;
    log.frontEnd!.enqueuedUs.set(0, 130);
    log.frontEnd!.offeredUs.set(0, 407);
    expect(meanPhases(log)).toEqual({
      front_end: 30,
      queue: 20,
      prefill: 250,
      dispatch: 7,
      hold: 3,
      transfer: 30,
      decode_wait: 60,
      decode: 400,
    });
  });
});
