import type { EngineLoad } from '@baton/contract';
import { beforeEach, describe, expect, it } from 'vitest';
import { EngineBoard } from './engine-board';

const SECOND = 1_000_000;

function load(part: Partial<EngineLoad> = {}): EngineLoad {
  return {
    engineId: 'a',
    stage: 'prefill',
    index: 0,
    state: 'ready',
    requests: 2,
    waitingRequests: 1,
    waitingTokens: 300,
    usedBlocks: 10,
    numBlocks: 100,
    taken: {},
    ...part,
  };
}

describe('EngineBoard', () => {
  let board: EngineBoard;
  let members: string[];

  beforeEach(() => {
    members = [];
    board = new EngineBoard({
      routerId: 'me',
      blockSize: 16,
      onJoin: (engineId, kvTokens) => members.push(`+${engineId} ${kvTokens}`),
      onLeave: (engineId) => members.push(`-${engineId}`),
    });
    board.onLoad(load(), 0);
  });

  const viewOf = (engineId: string, nowUs = 0) =>
    board.ready('prefill', nowUs).find((view) => view.engineId === engineId);

  it('shows the published load of an engine', () => {
    expect(viewOf('a')).toMatchObject({
      requests: 2,
      waitingTokens: 300,
      kvTokens: 160,
      kvUsage: 0.1,
    });
    expect(members).toEqual(['+a 1600']);
  });

  it('shows the adapters of engines that serve some', () => {
    expect(viewOf('a')?.adapters).toBeUndefined();
    const serving = new EngineBoard({
      routerId: 'me',
      blockSize: 16,
      maxAdapters: 2,
      onJoin: () => undefined,
      onLeave: () => undefined,
    });
    const seen = (adapters?: EngineLoad['adapters']) => {
      serving.onLoad(load(adapters && { adapters }), 0);
      return serving.ready('prefill', 0)[0]?.adapters;
    };
    const sql = { running: ['sql'], waiting: ['code'] };
    expect(seen(sql)).toEqual({ ...sql, most: 2 });
    expect(seen()).toEqual({ running: [], waiting: [], most: 2 });
  });

  it('lists the ready engines of a stage by index', () => {
    board.onLoad(load({ engineId: 'd', stage: 'decode' }), 0);
    board.onLoad(load({ engineId: 'c', index: 2 }), 0);
    board.onLoad(load({ engineId: 'b', index: 1 }), 0);
    board.onLoad(load({ engineId: 'starts', index: 3, state: 'starting' }), 0);
    board.onLoad(load({ engineId: 'drains', index: 4, state: 'draining' }), 0);
    expect(board.ready('prefill', 0).map(({ engineId }) => engineId)).toEqual(['a', 'b', 'c']);
    expect(board.ready('decode', 0).map(({ engineId }) => engineId)).toEqual(['d']);
    expect(board.isReady('b', 0)).toBe(true);
    expect(['starts', 'drains', 'unknown'].map((id) => board.isReady(id, 0))).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('adds jobs it sent until the engine has taken them', () => {
    expect(board.sent('a', 100, 0)).toBe(1);
    expect(board.sent('a', 50, 0)).toBe(2);
    expect(viewOf('a')).toMatchObject({ requests: 4, waitingTokens: 450 });
    board.onLoad(load({ requests: 3, waitingTokens: 400, taken: { me: 1, other: 9 } }), 0);
    expect(viewOf('a')).toMatchObject({ requests: 4, waitingTokens: 450 });
    board.onLoad(load({ taken: { me: 2 } }), 0);
    expect(viewOf('a')).toMatchObject({ requests: 2, waitingTokens: 300 });
  });

  it('assumes that an idle engine has taken jobs sent a while ago', () => {
    board.sent('a', 100, 0);
    board.onLoad(load({ requests: 0, waitingTokens: 0 }), SECOND);
    expect(viewOf('a', SECOND)).toMatchObject({ requests: 1 });
    board.onLoad(load({ requests: 0, waitingTokens: 0 }), 3 * SECOND);
    expect(viewOf('a', 3 * SECOND)).toMatchObject({ requests: 0, waitingTokens: 0 });
  });

  it('adds expected requests until they have arrived', () => {
    let hasArrived = false;
    board.expect('a', { tokens: 70, hasArrived: () => hasArrived });
    expect(viewOf('a')).toMatchObject({ requests: 3, waitingTokens: 370 });
    board.onLoad(load(), 0);
    expect(viewOf('a')).toMatchObject({ requests: 3, waitingTokens: 370 });
    hasArrived = true;
    board.onLoad(load(), 0);
    expect(viewOf('a')).toMatchObject({ requests: 2, waitingTokens: 300 });
  });

  it('stops using engines that drain or are silent for a second', () => {
    board.onLoad(load({ engineId: 'drains', state: 'draining' }), SECOND);
    const unavailable = (nowUs: number) =>
      board.unavailableRows(nowUs).map(({ engineId }) => engineId);
    expect(unavailable(SECOND)).toEqual(['drains']);
    expect(board.ready('prefill', SECOND)).toHaveLength(1);
    expect(unavailable(SECOND + 1)).toEqual(['a', 'drains']);
    expect(board.ready('prefill', SECOND + 1)).toEqual([]);
    board.onLoad(load(), SECOND + 2);
    expect(unavailable(SECOND + 2)).toEqual(['drains']);
  });

  it('is as patient as a long presence_ttl asks for', () => {
    const patient = new EngineBoard({
      routerId: 'me',
      blockSize: 16,
      presenceUs: 60 * SECOND,
      onJoin: () => undefined,
      onLeave: () => undefined,
    });
    patient.onLoad(load(), 0);
    expect(patient.ready('prefill', 20 * SECOND)).toHaveLength(1);
    expect(patient.ready('prefill', 20 * SECOND + 1)).toEqual([]);
    patient.onLoad(load({ isSlow: true }), 0);
    expect(patient.ready('prefill', 50 * SECOND)).toHaveLength(1);
  });

  it('waits longer for an engine whose process is idle, until it has work again', () => {
    board.onLoad(load({ requests: 0, isSlow: true }), 0);
    expect(board.ready('prefill', 2.5 * SECOND)).toHaveLength(1);
    expect(board.ready('prefill', 2.5 * SECOND + 1)).toEqual([]);
    board.onLoad(load(), 3 * SECOND);
    expect(board.ready('prefill', 4 * SECOND)).toHaveLength(1);
    expect(board.ready('prefill', 4 * SECOND + 1)).toEqual([]);
  });

  it('does not count its own pause as silence', () => {
    board.listenAfresh(10 * SECOND);
    expect(board.unavailableRows(11 * SECOND)).toEqual([]);
    expect(board.unavailableRows(11 * SECOND + 1)).toHaveLength(1);
  });

  it('keeps a silent engine whose silence was reset until its jobs can be placed again', () => {
    board.listenAfresh(59 * SECOND);
    expect(board.ready('prefill', 60 * SECOND)).toHaveLength(1);
    board.sent('a', 100, 60 * SECOND);
    board.forgetOld(61 * SECOND);
    expect(board.unavailableRows(61 * SECOND)).toHaveLength(1);
    board.forgetOld(120 * SECOND);
    expect(board.unavailableRows(120 * SECOND)).toEqual([]);
  });

  it('drops an engine a minute after it fell silent', () => {
    board.forgetOld(60 * SECOND);
    expect(members).toEqual(['+a 1600']);
    board.forgetOld(61 * SECOND);
    expect(members).toEqual(['+a 1600', '-a']);
    expect(board.unavailableRows(61 * SECOND)).toEqual([]);
    expect(board.sent('a', 1, 61 * SECOND)).toBe(0);
  });
});
