import { NEVER, phasesOf, readPhases, REQUEST_PHASES, type RunRecord } from '@baton/analysis';
import { type FrontEnd, passUs } from '@baton/step-time';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../test/support/runs';
import { type TestRequest, scenarioWith, workloadOf } from '../test/test-scenario';
import { ClusterRun, simulate } from './driver';

/** 500 µs for the default 8 prompt tokens of a request. */
const FRONT_END: FrontEnd = {
  name: 'own',
  requestUs: 420,
  promptTokenUs: 10,
  requestBusyUs: 0,
  promptTokenBusyUs: 0,
  serversPerEngine: 1,
  dispatch: 'serial',
};

function phasesIn({ log }: RunRecord, row: number): Record<string, number> {
  const spans = new Float64Array(REQUEST_PHASES.length);
  readPhases(log, row, spans);
  const entries = REQUEST_PHASES.map((phase, i) => [phase, spans[i]!] as const);
  return Object.fromEntries(entries.filter(([, us]) => us !== NEVER));
}

function ran(topology: string, asked: readonly TestRequest[], frontEnd?: FrontEnd): RunRecord {
  const run = new ClusterRun(
    scenarioWith(topology, workloadOf(asked), frontEnd === undefined ? {} : { frontEnd }),
    {},
  );
  const record = run.run();
  run.audit();
  return record;
}

describe('a front end', () => {
  it('is passed once before an aggregated engine', () => {
    const [bare, run] = [ran('1A', [{ atUs: 500 }]), ran('1A', [{ atUs: 500 }], FRONT_END)];
    expect(phasesIn(run, 0)).toEqual({ ...phasesIn(bare, 0), front_end: 500 });
    expect(run.log.arrivalUs.at(0)).toBe(500);
    expect(run.log.firstTokenUs.at(0)).toBe(bare.log.firstTokenUs.at(0) + 500);
    expect(run.log.finishUs.at(0)).toBe(bare.log.finishUs.at(0) + 500);
  });

  it('is passed again between prefill and decode', () => {
    const [bare, run] = [ran('1P1D', [{}]), ran('1P1D', [{}], FRONT_END)];
    expect(phasesIn(run, 0)).toEqual({ ...phasesIn(bare, 0), front_end: 500, dispatch: 500 });
    expect(run.log.firstTokenUs.at(0)).toBe(bare.log.firstTokenUs.at(0) + 1_000);
  });

  it('is passed once when both servers get a request at its arrival', () => {
    const run = ran('1P1D', [{}], { ...FRONT_END, dispatch: 'concurrent' });
    expect(phasesIn(run, 0)).toMatchObject({ front_end: 500, dispatch: 0 });
  });

  it('lets a short prompt overtake a long one', () => {
    const { log } = ran('1A', [{ prompt: 100 }, { atUs: 100, prompt: 8 }], FRONT_END);
    expect([...log.frontEnd!.enqueuedUs]).toEqual([1_420, 600]);
    expect(log.prefillStartUs.at(1)).toBeLessThan(log.prefillStartUs.at(0));
  });

  it('serves simultaneous requests one by one, each for its time', () => {
    const enqueued = (topology: string, serversPerEngine: number) => {
      const frontEnd = { ...FRONT_END, promptTokenBusyUs: 5, requestBusyUs: 60, serversPerEngine };
      return [...ran(topology, [{}, {}, {}], frontEnd).log.frontEnd!.enqueuedUs];
    };
    expect(enqueued('1A', 1)).toEqual([500, 600, 700]);
    expect(enqueued('1A', 2)).toEqual([500, 500, 600]);
    expect(enqueued('2P1D', 1)).toEqual([500, 500, 600]);
  });

  it('occupies the servers of decode with a separate pass', () => {
    const frontEnd = { ...FRONT_END, requestBusyUs: 400 };
    const run = ran('2P1D', [{}, {}], frontEnd);
    expect([0, 1].map((row) => phasesIn(run, row)['dispatch'])).toEqual([500, 900]);
  });

  it('is part of the loop of clients that wait for their answers', () => {
    const asked = Array.from({ length: 3 }, () => ({}));
    const { log } = simulate(
      scenarioWith('1A', workloadOf(asked), { maxConcurrency: 1, frontEnd: FRONT_END }),
    );
    for (const row of [1, 2]) {
      expect(log.arrivalUs.at(row)).toBe(log.finishUs.at(row - 1));
      expect(log.frontEnd!.enqueuedUs.at(row)).toBe(log.arrivalUs.at(row) + 500);
    }
  });

  it('is part of a conversation, whose turns wait for each other', () => {
    const { log } = ran('1A', [{}, { after: 0, atUs: 50 }], FRONT_END);
    expect(log.arrivalUs.at(1)).toBe(log.finishUs.at(0) + 50);
    expect(log.prefillStartUs.at(1)).toBe(log.arrivalUs.at(1) + 500);
  });

  it('leaves no trace when there is none', () => {
    const { log } = ran('1P1D', [{}]);
    expect(log.frontEnd).toBeUndefined();
    expect(phasesOf(log)).not.toContain('front_end');
    expect(phasesOf(log)).not.toContain('dispatch');
  });

  it('refuses requests that can never fit after their pass', () => {
    const { log } = ran('1A', [{ prompt: 5_000 }, {}], FRONT_END);
    expect(log.frontEnd!.enqueuedUs.at(0)).toBe(420 + 50_000);
    expect(log.prefillStartUs.at(0)).toBe(NEVER);
  });
});

const asked = fc.record({
  atUs: fc.integer({ min: 0, max: 20_000 }),
  prompt: fc.integer({ min: 1, max: 60 }),
  output: fc.integer({ min: 1, max: 6 }),
});
const frontEnds = fc.record({
  name: fc.constant('own'),
  requestUs: fc.integer({ min: 0, max: 5_000 }),
  promptTokenUs: fc.integer({ min: 0, max: 50 }),
  requestBusyUs: fc.constantFrom(0, 0, 300),
  promptTokenBusyUs: fc.constantFrom(0, 0, 20),
  serversPerEngine: fc.integer({ min: 1, max: 3 }),
  dispatch: fc.constantFrom('serial' as const, 'concurrent' as const),
});

describe('phases of any run with a front end', () => {
  it('add up to the whole latency, with at most one pass per server at once', () => {
    fc.assert(
      fc.property(
        fc.array(asked, { minLength: 1, maxLength: 12 }),
        frontEnds,
        fc.constantFrom('1A', '1P1D', '2P1D1A'),
        (requests, frontEnd, topology) => {
          const sorted = [...requests].sort((a, b) => a.atUs - b.atUs);
          const run = ran(topology, sorted, frontEnd);
          for (let row = 0; row < run.log.count; row++) {
            const phases = phasesIn(run, row);
            const sum = Object.values(phases).reduce((all, us) => all + us, 0);
            expect(sum).toBe(run.log.finishUs.at(row) - run.log.arrivalUs.at(row));
            const us = passUs(frontEnd, sorted[row]!.prompt);
            expect(phases['front_end']).toBeGreaterThanOrEqual(us);
            const second = frontEnd.dispatch === 'serial' ? us : 0;
            expect(phases['dispatch'] ?? second).toBeGreaterThanOrEqual(second);
            if (frontEnd.requestBusyUs + frontEnd.promptTokenBusyUs > 0) continue;
            expect(phases['front_end']).toBe(us);
            expect(phases['dispatch'] ?? second).toBe(second);
          }
        },
      ),
      { numRuns: runsOf(60) },
    );
  });
});
