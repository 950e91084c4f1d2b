import { OUTCOMES, type RunRecord } from '@baton/analysis';
import { describe, expect, it } from 'vitest';
import { simulate } from './driver';
import { poolFor, scenarioWith, workloadOf } from '../test/test-scenario';

function outcomes({ log }: RunRecord): string[] {
  return Array.from(log.outcome, (code) => OUTCOMES[code]!);
}

describe('a request in a cluster of its own', () => {
  it('takes the times of its prompt, its transfer and its steps', () => {
    const { log, itl, endUs } = simulate(scenarioWith('1P1D', workloadOf([{ atUs: 500 }])));
    // 1000 + 8 · 10 of prompt.
    expect(log.prefillStartUs.at(0)).toBe(500);
    expect(log.heldUs.at(0)).toBe(1580);
    // 100 of latency + 8 tokens.
    expect(log.transferStartUs.at(0)).toBe(1580);
    expect(log.transferEndUs.at(0)).toBe(1688);
    expect(log.transferredTokens[0]).toBe(8);
    // Decode computes the last prompt token again after 7 others, and then attends to 9, 10 and 11
    // tokens.
    expect(log.firstTokenUs.at(0)).toBe(1688 + 1008);
    expect(log.finishUs.at(0)).toBe(1688 + 1008 + 1009 + 1010 + 1011);
    expect(endUs).toBe(log.finishUs.at(0));
    expect([itl.count, itl.minUs, itl.maxUs]).toEqual([3, 1009, 1011]);
  });

  it('waits for the handshake of the two engines and the posting of its descriptors', () => {
    const transferTimes = { handshakeUs: 5_000, descriptorUs: 2.5 };
    const transferShape = { bytesPerBlock: 4_000, descriptorsPerBlock: 6 };
    const requests = [{}, { atUs: 50_000, prompt: 9 }];
    const scenario = scenarioWith('1P1D', workloadOf(requests));
    const pools = scenario.pools.map((pool) => ({ ...pool, transferTimes, transferShape }));
    const { log } = simulate({ ...scenario, pools });
    // 1,080 of prompt; two blocks of 4 tokens, then three, because the second meets a known engine.
    expect(log.transferStartUs.at(0)).toBe(1_080);
    expect(log.transferEndUs.at(0)).toBe(1_080 + 5_000 + 2 * 15 + 108);
    expect(log.transferEndUs.at(1)).toBe(51_090 + 3 * 15 + 112);
  });

  it('moves whole blocks: a begun one takes the time of a full one', () => {
    const { log, engines } = simulate(scenarioWith('1P1D', workloadOf([{ prompt: 9 }])));
    // Three blocks of 4 tokens, of 1,000 bytes at 1 µs each.
    expect(log.transferEndUs.at(0) - log.transferStartUs.at(0)).toBe(100 + 12);
    expect(log.transferredTokens[0]).toBe(9);
    expect(engines.map(({ kvTransferBytes }) => kvTransferBytes)).toEqual([0, 12_000]);
  });

  it('moves the blocks of the window in groups with one', () => {
    const options = { kvGroups: { full: 1, windowed: 2, windowTokens: 8 } };
    const workload = workloadOf([{ prompt: 41 }]);
    const { log } = simulate(scenarioWith('1P1D', workload, { options }));
    // Of 11 blocks a window has left 8 behind.
    expect(log.transferEndUs.at(0) - log.transferStartUs.at(0)).toBe(100 + 4 * (11 + 2 * 3));
  });

  it('takes the time of its tokens over a link with a time per token', () => {
    const scenario = scenarioWith('1P1D', workloadOf([{ prompt: 9 }]));
    const pools = scenario.pools.map((pool) => ({
      ...pool,
      link: { ...pool.link, isTimedByTokens: true },
    }));
    const { log } = simulate({ ...scenario, pools });
    expect(log.transferEndUs.at(0) - log.transferStartUs.at(0)).toBe(100 + 9);
  });

  it.each([
    ['of equal ranks takes the bytes of one rank', 250, 250, 4, 4],
    ['of latent vectors between equal ranks takes a whole vector', 1_000, 1_000, 4, 4],
    ['from 1 rank to 4 brings all bytes through one source port', 1_000, 250, 1, 4],
    ['from 4 ranks to 1 brings all bytes through one target port', 250, 1_000, 4, 1],
    ['of latent vectors from 1 rank to 4 takes each of them whole', 1_000, 1_000, 1, 4],
    ['of latent vectors from 4 ranks to 1 takes one', 1_000, 1_000, 4, 1],
  ])('whose transfer %s', (_, sourceBytes, targetBytes, sourcePorts, targetPorts) => {
    const scenario = scenarioWith('1P1D', workloadOf([{}]));
    const pools = scenario.pools.map((pool) => {
      const isSource = pool.role === 'prefill';
      const link = { ...pool.link, ports: isSource ? sourcePorts : targetPorts };
      return { ...pool, link, kvBytesPerToken: isSource ? sourceBytes : targetBytes };
    });
    const { log } = simulate({ ...scenario, pools });
    // 100 of latency; 8 tokens at 1,000 bytes per µs through the ports of the smaller engine.
    const readers = Math.max(1, targetPorts / sourcePorts);
    const bytesUs = (8 * targetBytes * readers) / 1_000;
    expect(log.transferEndUs.at(0) - log.transferStartUs.at(0)).toBe(100 + bytesUs);
  });

  it('on an aggregated engine has no hand-over', () => {
    const { log, engines } = simulate(scenarioWith('1A', workloadOf([{}])));
    expect(log.heldUs.at(0)).toBe(-1);
    expect(log.transferredTokens[0]).toBe(0);
    expect(log.firstTokenUs.at(0)).toBe(1080);
    expect(log.finishUs.at(0)).toBe(1080 + 1009 + 1010 + 1011);
    expect(engines[0]!.busyUs).toBe(log.finishUs.at(0));
  });
});

describe('the features of engines', () => {
  it('make a speculating cluster produce bursts, each with one gap before it', () => {
    const options = { speculation: { tokens: 3, acceptanceRate: 1 } };
    const workload = workloadOf([{ output: 10 }]);
    const { log, itl, engines } = simulate(scenarioWith('1A', workload, { options }));
    // 1 token with the prompt, then bursts of 4, 4 and 1 after 9, 13 and 17 tokens of context.
    expect(log.finishUs.at(0)).toBe(1080 + 1009 + 1013 + 1017);
    expect([itl.count, itl.minUs, itl.maxUs]).toEqual([3, 1009, 1017]);
    expect([log.emittedTokens[0], engines[0]?.generatedTokens]).toEqual([10, 10]);
  });

  it('reject requests with too little cached, and continue', () => {
    const workload = workloadOf([{ content: [1, 2] }, { atUs: 9_000 }, { atUs: 19_000 }]);
    const options = { globalCacheHitThreshold: 0.4 };
    const run = simulate(scenarioWith('1P1D', workload, { options }));
    expect(outcomes(run)).toEqual(['completed', 'completed', 'completed']);
    const alone = simulate(scenarioWith('1A', workload, { options }));
    expect(outcomes(alone)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(alone.engines[0]?.steps).toBe(3);
  });
});

describe('a preempted request that is rejected', () => {
  it('leaves no token gap when others use its place', () => {
    const options = {
      maxNumSeqs: 2,
      maxNumBatchedTokens: 8,
      blockSize: 16,
      numBlocks: 12,
      maxModelLen: 300,
      // With prefix caching the request would find its own blocks again, and stay.
      enablePrefixCaching: false,
      enableChunkedPrefill: false,
      globalCacheHitThreshold: 0.3,
    };
    const requests = [
      { prompt: 42, output: 43 },
      { atUs: 12_142, prompt: 81, output: 27 },
      { atUs: 46_749, prompt: 87, output: 1 },
    ];
    const [leaping, single] = [true, false].map((leap) =>
      simulate(scenarioWith('1P1D', workloadOf(requests, 16), { options, leap })),
    );
    expect(outcomes(single!)).toEqual(['completed', 'rejected', 'completed']);
    expect(leaping!.itl).toEqual(single!.itl);
    expect(single!.itl.maxUs).toBeLessThan(2_500);
  });
});

describe('a workload', () => {
  it('without requests gives an empty record', () => {
    const run = simulate(scenarioWith('1P1D', workloadOf([])));
    expect([run.log.count, run.steps, run.endUs, run.itl.count]).toEqual([0, 0, 0, 0]);
  });

  it('is completed by every kind of cluster', () => {
    const requests = Array.from({ length: 40 }, (_, i) => ({ atUs: i * 300, output: 1 + (i % 9) }));
    for (const topology of ['1P1D', '2P3D', '3A', '1P1D1A']) {
      const run = simulate(scenarioWith(topology, workloadOf(requests)));
      expect(new Set(outcomes(run)), topology).toEqual(new Set(['completed']));
    }
  });

  it('has requests that can never fit refused, and the rest served', () => {
    const long = workloadOf([{ prompt: 999, output: 4 }, {}, { prompt: 300, output: 101 }]);
    const run = simulate(scenarioWith('1P1D', long));
    expect(outcomes(run)).toEqual(['refused', 'completed', 'completed']);
    const small = scenarioWith('1P1D', long, { options: { numBlocks: 99 } });
    expect(outcomes(simulate(small))).toEqual(['refused', 'completed', 'refused']);
  });

  it('without an engine for a stage fails', () => {
    const scenario = scenarioWith('1P1D', workloadOf([{}]));
    const pools = scenario.pools.map((pool) => ({
      ...pool,
      count: pool.role === 'decode' ? 0 : 1,
    }));
    expect(outcomes(simulate({ ...scenario, pools }))).toEqual(['failed']);
  });

  it('never has more requests under way than the concurrency of its clients', () => {
    const workload = workloadOf(Array.from({ length: 12 }, () => ({})));
    const { log } = simulate(scenarioWith('1P1D', workload, { maxConcurrency: 3 }));
    for (let row = 3; row < 12; row++) {
      const before = [...log.finishUs].slice(0, row).filter((us) => us <= log.arrivalUs.at(row));
      expect(before.length).toBeGreaterThanOrEqual(row - 2);
    }
  });

  it('runs the turns of a conversation one after the other, with a pause between them', () => {
    const turns = workloadOf([{ atUs: 100 }, { after: 0, atUs: 5_000 }, { after: 1, atUs: 0 }]);
    const { log } = simulate(scenarioWith('1P1D', turns));
    expect(log.arrivalUs.at(1)).toBe(log.finishUs.at(0) + 5_000);
    expect(log.arrivalUs.at(2)).toBe(log.finishUs.at(1));
  });

  it('is rejected beyond the limit of waiting requests', () => {
    const requests = Array.from({ length: 30 }, () => ({ prompt: 64 }));
    const scenario = scenarioWith('1P1D', workloadOf(requests), { maxWaitingRequests: 5 });
    const seen = outcomes(simulate(scenario));
    expect(seen.filter((one) => one === 'rejected').length).toBeGreaterThan(10);
    expect(seen.filter((one) => one === 'completed').length).toBeGreaterThan(5);
  });

  it('is rejected when its predicted TTFT is too long', () => {
    const requests = Array.from({ length: 30 }, () => ({ prompt: 64 }));
    const scenario = scenarioWith('1P1D', workloadOf(requests), {
      admission: { kind: 'slo-ttft', sloUs: 10_000 },
    });
    expect(outcomes(simulate(scenario))).toContain('rejected');
  });
});

describe('prefixes', () => {
  it('held by an engine are neither computed nor fetched again', () => {
    const content = [1, 2, 3];
    const asked = workloadOf([
      { prompt: 14, content },
      { atUs: 100_000, prompt: 14, content },
    ]);
    const { log } = simulate(scenarioWith('1P1D', asked));
    expect([...log.cachedTokens]).toEqual([0, 12]);
    expect([...log.transferredTokens]).toEqual([14, 2]);
  });

  it('bring requests to the engine that holds them', () => {
    const requests = Array.from({ length: 24 }, (_, i) => ({
      atUs: i * 20_000,
      prompt: 50,
      output: 2,
      content: Array.from({ length: 12 }, (_, b) => 1 + (i % 3) * 12 + b),
    }));
    const scenario = scenarioWith('3P1D', workloadOf(requests), {
      placement: {
        prefill: { kind: 'prefix-aware' },
        decode: 'pull',
        decodeChoice: 'late',
        disaggregationThreshold: 0,
      },
    });
    const { log } = simulate(scenario);
    for (let row = 3; row < 24; row++) {
      expect(log.prefillEngine[row]).toBe(log.prefillEngine[row - 3]);
      expect(log.cachedTokens[row]).toBe(48);
    }
  });

  it('with a short rest after decode’s cached part are computed there', () => {
    const content = [1, 2, 3, 4, 5];
    const asked = workloadOf([
      { prompt: 23, content },
      { atUs: 100_000, prompt: 23, content },
    ]);
    const scenario = scenarioWith('1P1D', asked, {
      placement: {
        prefill: 'pull',
        decode: { kind: 'least-requests' },
        decodeChoice: 'late',
        disaggregationThreshold: 4,
      },
    });
    const { log } = simulate(scenario);
    expect([...log.prefillEngine]).toEqual([0, 1]);
    expect([...log.decodeEngine]).toEqual([1, 1]);
    expect([...log.heldUs].map((us) => us >= 0)).toEqual([true, false]);
  });
});

describe('a lease', () => {
  it('that ends before decode reads sends the request back to prefill, then fails it', () => {
    // One slot on decode, in use for long: later requests find their blocks gone.
    const requests = [
      { output: 300 },
      ...Array.from({ length: 6 }, () => ({ atUs: 10, output: 2 })),
    ];
    const scenario = scenarioWith('1P1D', workloadOf(requests), { kvLeaseUs: 60_000 });
    const pools = [poolFor('prefill', 1), poolFor('decode', 1, { maxNumSeqs: 1 })];
    const { log, engines } = simulate({ ...scenario, pools });
    expect(engines[0]!.leaseExpiries).toBeGreaterThan(0);
    expect([...log.outcome].every((code) => code !== 0)).toBe(true);
    expect(log.finishUs.at(0)).toBeGreaterThan(300_000);
  });
});

describe('a cluster that changes', () => {
  const steady = workloadOf(Array.from({ length: 60 }, (_, i) => ({ atUs: i * 2_000, output: 6 })));

  it('gives work to a joining engine once it has loaded', () => {
    const scenario = scenarioWith('1P1D', steady);
    const pools = scenario.pools.map((pool) => ({ ...pool, startupUs: 20_000 }));
    const { log, engines } = simulate({
      ...scenario,
      pools,
      changes: [{ atUs: 30_000, kind: 'join', pool: 1 }],
    });
    const joined = [...log.decodeEngine].flatMap((engine, row) => (engine === 2 ? [row] : []));
    expect(joined.length).toBeGreaterThan(5);
    expect(Math.min(...joined.map((row) => log.transferStartUs.at(row)))).toBeGreaterThanOrEqual(
      50_000,
    );
    expect(engines[2]!.upUs).toBe(simulateEnd(log.finishUs) - 50_000);
  });

  it('lets a leaving engine finish its requests', () => {
    const { log, engines } = simulate({
      ...scenarioWith('1P2D', steady),
      changes: [{ atUs: 50_000, kind: 'leave', pool: 1 }],
    });
    const left = engines.findIndex((engine) => engine.upUs < simulateEnd(log.finishUs));
    expect(left).toBeGreaterThan(0);
    expect(engines[left]!.upUs).toBeGreaterThanOrEqual(50_000);
    expect(engines[left]!.upUs).toBeLessThan(90_000);
    expect([...log.outcome].every((code) => OUTCOMES[code] === 'completed')).toBe(true);
  });

  it('changes the role of an engine', () => {
    const { engines, log } = simulate({
      ...scenarioWith('2P1D', steady),
      changes: [{ atUs: 20_000, kind: 'become', pool: 0, to: 1 }],
    });
    expect(engines.map(({ role }) => role)).toEqual(['prefill', 'prefill', 'decode', 'decode']);
    expect([...log.decodeEngine]).toContain(3);
    expect([...log.outcome].every((code) => OUTCOMES[code] === 'completed')).toBe(true);
  });
});

function simulateEnd(finishUs: Iterable<number>): number {
  return Math.max(...finishUs);
}
