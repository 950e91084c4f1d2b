import { defaultConfig, resolveConfig } from '@baton/config';
import { type SplitResult, configOf, type PreparedPlan } from '@baton/planner';
import { WorkloadBuilder } from '@baton/workload';
import { describe, expect, it, vi } from 'vitest';
import { runProgram } from '../program';
import type { up } from '../up/up';
import { replayCommand, upCommand } from './commands';

const started = vi.hoisted(() => vi.fn<typeof up>(() => Promise.resolve(0)));
vi.mock('../up/up', () => ({ up: started }));

const ASKED = defaultConfig({
  model: 'llama-3.1-70b',
  gpu: 'h200',
  seed: 7,
  maxNumSeqs: 64,
  prefillMaxNumSeqs: 8,
  enablePrefixCaching: false,
  servedModelName: ["the user's own $MODEL", 'b'],
  stepOverheadMs: 0,
  port: 9_000,
  redis: 'redis://:secret@host',
});

function result(topology: string, prefillTp: number, decodeTp: number): SplitResult {
  const [prefill = 0, decode = 0, aggregated = 0] = topology.split(' ').map(Number);
  return {
    name: '',
    split: {
      topology: { prefill, decode, aggregated },
      prefillTp,
      decodeTp,
      gpus: 16,
      settings: {},
    },
    estimatedRate: 1,
    measured: { rate: 3, completedRate: 3, figures: undefined, requests: 100, simulations: 1 },
  };
}

function prepared(more: Partial<PreparedPlan> = {}): PreparedPlan {
  const builder = new WorkloadBuilder({ contentBlockTokens: 16 });
  for (const atUs of [0, 1e6, 2e6]) {
    builder.add({ arrivalUs: atUs, promptTokens: 1, outputTokens: 1 });
  }
  const target = { slo: { ttft: 2e6 }, attainment: 0.9 };
  const context = { config: { ...ASKED, blockSize: 512 }, workload: builder.build(), target };
  return {
    requested: ASKED,
    context,
    workloadFlags: { trace: 'a.jsonl' },
    ...more,
  } as PreparedPlan;
}

/** The words of a command line, split like in a POSIX shell. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/(?:'[^']*'|\\.|[^\s'\\])+/g)].map(([word]) => {
    return word.replaceAll(
      /'([^']*)'|\\(.)/g,
      (_all, plain?: string, one?: string) => plain ?? one ?? '',
    );
  });
}

describe('the command that starts the winner', () => {
  it.each([
    [result('5 11 0', 1, 1), '5P11D'],
    [result('2 4 0', 4, 2), '2P4D'],
    [result('0 0 4', 4, 4), '4A'],
  ])('is parsed by `up` as the simulated cluster (%#)', async (split, topology) => {
    started.mockClear();
    const [program, ...words] = wordsOf(upCommand(prepared(), split));
    expect(program).toBe('bin/baton');
    expect(await runProgram(words)).toBe(0);
    const [given, flags] = started.mock.calls[0]!;
    expect(given).toBe(topology);
    const { config } = resolveConfig({ flags });
    // Port and broker are not part of a plan.
    const local = { port: 8_000, redis: undefined };
    expect({ ...config, topology: given }).toEqual({ ...configOf(ASKED, split.split), ...local });
  });

  it('always has model and GPU, and other options only with changed values', () => {
    const asked = defaultConfig();
    expect(upCommand(prepared({ requested: asked }), result('1 2 0', 2, 1))).toBe(
      'bin/baton up 1P2D --model llama-3.1-8b --gpu h100 --prefill-tensor-parallel-size 2 ' +
        '--decode-tensor-parallel-size 1',
    );
  });

  it('contains no secret', () => {
    expect(upCommand(prepared(), result('1 1 0', 1, 1))).not.toContain('secret');
  });
});

describe('the command that replays the winner', () => {
  it('scales the arrivals to the rate of the plan', () => {
    const words = wordsOf(replayCommand(prepared(), result('1 1 0', 1, 1))!);
    expect(words.slice(1, 4)).toEqual(['replay', '--topology', '1P1D']);
    expect(words[words.indexOf('--trace') + 1]).toBe('a.jsonl');
    expect(words[words.indexOf('--rate-scale') + 1]).toBe('3');
    expect(words).not.toContain('--block-size');
  });

  it('does not exist where a duration would cut differently', () => {
    const cut = prepared({ workloadFlags: { trace: 'a.jsonl', duration: '60' } });
    expect(replayCommand(cut, result('1 1 0', 1, 1))).toBeUndefined();
  });
});
