import type { ClusterPicture, PictureEngine, PictureStepTimes } from '@baton/contract';
import { describe, expect, it } from 'vitest';
import { ClusterModel, topologyNow } from './cluster-model';
import { RequestRows, ROWS } from './requests/request-rows';
import { stepTimesText } from './step-times/step-times-view';

const HELLO = {
  api: 'api-1',
  version: '0',
  model: 'm',
  topology: '1P1D',
  speedup: 1,
  intervalMs: 250,
  hasSettings: false,
  names: [],
};

function engine(id: string, role: PictureEngine['role'], name: string): PictureEngine {
  return {
    id,
    name,
    role,
    state: 'ready',
    running: 0,
    waiting: 0,
    fetching: 0,
    kvUsage: 0,
    heldBlocks: 0,
    numBlocks: 10,
    stepMs: 0,
    steps: 0,
  };
}

const ENGINES = [engine('p', 'prefill', 'P0'), engine('d', 'decode', 'D0')];

function picture(
  at: number,
  requests: number[],
  names: ClusterPicture['names'],
  ended: number[] = [],
): ClusterPicture {
  const rates = { ttftMs: null, itlMs: null, tokensPerSecond: 0, requestsPerSecond: 0 };
  return {
    at,
    engines: ENGINES,
    phases: [0, 0, 0, 0],
    requests,
    ended,
    names,
    waiting: { prefill: 0, decode: 0, aggregated: 0 },
    rates: { ...rates, finishedPerSecond: 0, refusedPerSecond: 0, refusals: [] },
    stepTimes: [],
  };
}

function modelOf(): ClusterModel {
  const model = new ClusterModel();
  model.begin(HELLO);
  return model;
}

describe('the cluster model of the page', () => {
  it('follows a request through its phases as one object, until it ends', () => {
    const model = modelOf();
    model.update(picture(1_000, [7, 0, -1, 0], [[7, 'cmpl-a', 100, 20]]));
    const request = model.requests.get(7)!;
    expect(request).toMatchObject({ name: 'cmpl-a', phase: 'queue', engine: undefined });
    model.update(picture(1_250, [7, 1, 0, 0], []));
    model.update(picture(1_500, [7, 3, 1, 5], []));
    expect(model.requests.get(7)).toBe(request);
    expect(request).toMatchObject({ phase: 'decode', engine: 'd', tokens: 5, phaseMs: 1_500 });
    expect(request.seenMs).toBe(1_000);
    model.update(picture(1_750, [], [], [7, 20]));
    expect([model.requests.size, request.phase]).toEqual([0, 'ended']);
    expect(request).toMatchObject({ tokens: 20, isCounted: true });
    expect(model.ended).toEqual([request]);
  });

  it('has the names that were sent before the page connected', () => {
    const model = new ClusterModel();
    model.begin({ ...HELLO, names: [[3, 'cmpl-old', 9, 9]] });
    model.update(picture(0, [3, 3, 1, 1], []));
    expect(model.requests.get(3)!.name).toBe('cmpl-old');
  });

  it('drops requests of another stream, and keeps a limited number of ended ones', () => {
    const model = modelOf();
    for (let key = 0; key < 500; key += 1) {
      model.update(picture(key, [key, 0, -1, 0], [[key, `r${key}`, 1, 1]]));
    }
    expect(model.ended.length).toBe(64);
    expect(model.ended[0]!.name).toBe('r498');
    model.begin(HELLO);
    expect(model.requests.size).toBe(0);
  });

  it('keeps a request that continues in a new stream, and ends the others', () => {
    const model = modelOf();
    const names = [1, 2].map((key) => [key, `r${key}`, 1, 1] as const);
    model.update(picture(0, [1, 0, -1, 0, 2, 0, -1, 0], names));
    const [runsOn, gone] = [...model.requests.values()];
    model.begin(HELLO);
    // Key 2 now belongs to another request.
    const after = [[1, 'r1', 1, 1] as const, [2, 'other', 1, 1] as const];
    model.update(picture(250, [1, 0, -1, 0, 2, 0, -1, 0], after));
    expect(model.requests.get(1)).toBe(runsOn);
    expect(model.requests.get(2)!.name).toBe('other');
    expect([gone!.phase, model.ended]).toEqual(['ended', [gone]]);
  });

  it('counts engines by role, as a topology', () => {
    const engines = [...ENGINES, engine('d2', 'decode', 'D1'), engine('a', 'aggregated', 'A0')];
    expect(topologyNow(engines)).toBe('1P2D1A');
  });
});

describe('the rows of the list', () => {
  function seen(count: number, at = 0): ClusterModel {
    const model = modelOf();
    const keys = Array.from({ length: count }, (_none, key) => key);
    const names = keys.map((key) => [key, `r${key}`, 1, 1] as const);
    model.update(
      picture(
        at,
        keys.flatMap((key) => [key, 0, -1, 0]),
        names,
      ),
    );
    return model;
  }

  it('keep the row of a request, and give a free row to the newest one', () => {
    const rows = new RequestRows();
    const model = seen(ROWS + 5);
    rows.update(model, undefined);
    const before = [...rows.rows];
    expect(before[0]!.name).toBe(`r${ROWS + 4}`);
    rows.update(model, undefined);
    expect(rows.rows).toEqual(before);
  });

  it('keep an ended request for a while, and longer while it has the focus', () => {
    const rows = new RequestRows();
    const model = seen(1);
    rows.update(model, undefined);
    const [first] = rows.rows;
    model.update(picture(1_000, [9, 0, -1, 0], [[9, 'new', 1, 1]]));
    rows.update(model, undefined);
    expect([rows.rows[0], rows.rows[1]!.name]).toEqual([first, 'new']);
    model.update(picture(9_000, [9, 0, -1, 0, 10, 0, -1, 0], [[10, 'newer', 1, 1]]));
    rows.update(model, first);
    expect(rows.rows[0]).toBe(first);
  });
});

const COMPOSED: PictureStepTimes = {
  method: 'composed',
  description: 'composed from measured operators of h200_sxm',
  roles: ['prefill', 'decode'],
  outsideSteps: 0,
  unmeasuredSteps: 0,
  farthestOutside: 1,
};

describe('the line of step times', () => {
  it('shows the engines and the source of their times', () => {
    expect(stepTimesText(COMPOSED)).toBe(
      'Step times of prefill, decode: composed from measured operators of h200_sxm',
    );
  });

  it('adds the method where the description lacks it', () => {
    const given = { ...COMPOSED, method: 'given', description: 'constant, 5 ms' };
    expect(stepTimesText(given)).toMatch(/: given: constant, 5 ms$/);
  });

  it('has the number of steps outside of the measured range, and their distance', () => {
    const far = { ...COMPOSED, outsideSteps: 1_200, farthestOutside: 1.4567 };
    expect(stepTimesText(far)).toMatch(
      /; 1200 steps outside of the measured range, up to 1\.46 times the measured maximum$/,
    );
    expect(stepTimesText({ ...far, outsideSteps: 1 })).toContain('; 1 step outside');
    expect(stepTimesText({ ...far, outsideSteps: null })).not.toContain('outside');
  });

  it('says which steps have a shape that was not measured', () => {
    const unmeasured = { ...COMPOSED, outsideSteps: 3, unmeasuredSteps: 2 };
    expect(stepTimesText(unmeasured)).toMatch(
      /; 1 step outside of the measured range; 2 steps of a shape that was not measured$/,
    );
    expect(stepTimesText({ ...unmeasured, outsideSteps: 2 })).not.toContain('range');
  });
});
