import { findGpu, findModel } from '@baton/hardware';
import { OperatorTables } from '../operators/operator-tables';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildStepTimeModel } from '../build-step-time-model';
import { decoding, EMPTY, prompts } from '../../test/test-batches';
import { settledPart } from './power-limit';
import { StepComposer } from './step-composer';
import { totalUs } from './step-operator';
import { SHIPPED_OPERATORS } from '../../../../test/support/shipped-operators';

const place = (model: string, gpu: string, tp = 1) => ({
  model: findModel(model),
  gpu: findGpu(gpu),
  tp,
});

const DEPLOYMENTS = [
  place('llama-3.1-8b', 'h200'),
  place('qwen3-32b', 'h100', 2),
  place('gpt-oss-120b', 'b200', 2),
  place('deepseek-v3', 'h200', 8),
].map((placement) => {
  const { gpu, model } = placement;
  const composer = new StepComposer(
    placement,
    OperatorTables.of(gpu.operators!, SHIPPED_OPERATORS.texts)!,
  );
  const step = { kind: 'composed', overheadMs: 0 } as const;
  const stepTime = buildStepTimeModel(step, placement, SHIPPED_OPERATORS);
  // Blocks of latent attention were measured with a scatter that falls with the context; it is
  // pooled.
  const noise = model.attention.kind === 'latent' ? 0.05 : 0.01;
  return { title: `${model.name} on ${gpu.name}`, composer, stepTime, noise };
});

/** Between a padded size and the next one a straight line may lie below both by this part. */
const PADDED = 0.01;

/** Everything but attention: as composed, and of the fastest measured sizes to pad it to. */
function bounds(
  composer: StepComposer,
  { tokens, rows }: { tokens: number; rows: number },
  isDecodeOnly: boolean,
): { highest: number; lowest: number } {
  const layers = (size: number) =>
    totalUs([
      ...composer.linear(size, isDecodeOnly),
      ...[composer.around(size), composer.choice(size)],
    ]);
  const head = (size: number) => totalUs([composer.outputHead(size), composer.sampler(size)]);
  const lowest = (size: number, usAt: (size: number) => number) =>
    Math.min(
      usAt(size),
      ...composer.measuredTokens.filter((at) => at > size && at <= 512).map(usAt),
    );
  return {
    highest: layers(tokens) + head(rows),
    lowest: lowest(tokens, layers) + lowest(rows, head),
  };
}

/** Added time of a step with this many prompt tokens because the GPU reaches its limit. */
function byPowerLimitUs(composer: StepComposer, tokens: number, stepUs: number): number {
  const { atPowerLimit } = composer;
  if (atPowerLimit === undefined) return 0;
  const linearUs = (by: StepComposer) => totalUs(by.linear(tokens, false));
  return (linearUs(atPowerLimit) - linearUs(composer)) * settledPart(stepUs);
}

describe('a tabulated deployment', () => {
  it.each(DEPLOYMENTS)('$title: decode is within 1 % of the composed step', (deployment) => {
    const { composer, stepTime, noise } = deployment;
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_024 }),
        fc.integer({ min: 64, max: 32_768 }),
        (sequences, context) => {
          const attentionUs = composer.decode({ sequences, context }).us;
          const composed = bounds(composer, { tokens: sequences, rows: sequences }, true);
          // At the edge of a table with a corner left out the rules themselves jump.
          const next = 2 ** Math.ceil(Math.log2(sequences));
          fc.pre(stepTime.contextLimit!(next) >= next * 1.2 * context);
          const us = stepTime.stepUs(decoding(sequences, context));
          expect(us).toBeLessThanOrEqual((1 + noise) * (composed.highest + attentionUs));
          expect(us).toBeGreaterThanOrEqual((1 - noise - PADDED) * (composed.lowest + attentionUs));
        },
      ),
    );
  });

  it.each(DEPLOYMENTS)('$title: prefill is within 1 % of the composed step', (deployment) => {
    const { composer, stepTime } = deployment;
    fc.assert(
      fc.property(
        fc.integer({ min: 16, max: 8_192 }),
        fc.integer({ min: 0, max: 8_192 }),
        (tokens, cached) => {
          const attentionUs = composer.prefill({ prompts: 1, length: tokens + cached, cached }).us;
          const composed = bounds(composer, { tokens, rows: 1 }, false);
          const us = stepTime.stepUs(prompts(1, tokens, cached));
          const limited = (ownUs: number) => ownUs + byPowerLimitUs(composer, tokens, ownUs);
          expect(us).toBeLessThanOrEqual(1.01 * limited(composed.highest + attentionUs));
          const lowest = limited(composed.lowest + attentionUs);
          expect(us).toBeGreaterThanOrEqual((0.99 - PADDED) * lowest);
        },
      ),
    );
  });

  it.each(DEPLOYMENTS)('$title: the decode law is the step, to the last bit', ({ stepTime }) => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600 }),
        fc.integer({ min: 1, max: 9_000 }),
        (sequences, context) => {
          const sum = sequences * context;
          const law = stepTime.decodeLaw!(sequences, sum)!;
          expect(sum).toBeLessThanOrEqual(law.contextLimit);
          const us = stepTime.stepUs({ ...EMPTY, decodeSeqs: sequences, decodeContext: sum });
          expect(law.baseUs + law.perContextUs * sum).toBe(us);
        },
      ),
    );
  });
});

describe('the model chosen by auto', () => {
  const auto = { kind: 'auto' } as const;

  it('is composed where operators were measured', () => {
    const model = buildStepTimeModel(auto, place('llama-3.1-8b', 'h200'), SHIPPED_OPERATORS);
    expect(model.method).toBe('composed');
    expect(model.description).toContain('measured operators of h200_sxm');
  });

  it('is the roofline elsewhere, marked as an estimate', () => {
    const model = buildStepTimeModel(auto, place('llama-3.1-8b', 'mi300x'), SHIPPED_OPERATORS);
    expect(model.method).toBe('estimated');
    expect(model.description).toContain('estimated, not measured: ±60 %');
  });

  it('reports missing measurements when it is chosen by name', () => {
    const composed = { kind: 'composed' } as const;
    const build = () =>
      buildStepTimeModel(composed, place('deepseek-v3', 'a100', 8), SHIPPED_OPERATORS);
    expect(build).toThrow('No step can be composed: no latent attention');
  });

  it('reports how far a step is outside of the measured range', () => {
    const model = buildStepTimeModel(auto, place('llama-3.1-8b', 'h200'), SHIPPED_OPERATORS);
    const outside = model.outsideRange!(prompts(1, 2_048, 60_000))!;
    expect(outside.what).toBe('tokens of a prompt with those before it');
    expect(outside.value / outside.range[1]).toBeGreaterThan(2);
  });

  it('reports blocks of latent attention that are as wide as no measured one', () => {
    const { model, ...rest } = place('deepseek-v3', 'h200', 8);
    const own = { ...rest, model: { ...model, hidden: 5_120 } };
    const [wide, narrow] = [{ ...rest, model }, own].map((placement) =>
      buildStepTimeModel(auto, placement, SHIPPED_OPERATORS),
    );
    expect(wide!.outsideRange!(prompts(1, 2_048))).toBeUndefined();
    const what = 'prefill attention of this shape';
    expect(narrow!.outsideRange!(prompts(1, 2_048))).toMatchObject({ what });
  });

  it('estimates latent attention without a rank of queries', () => {
    const { model, ...rest } = place('deepseek-v3', 'h200', 8);
    const attention = { ...model.attention, queryRank: 0 } as typeof model.attention;
    const own = { ...rest, model: { ...model, attention } };
    expect(buildStepTimeModel(auto, own, SHIPPED_OPERATORS).method).toBe('estimated');
  });
});

describe('a step of one of several data-parallel ranks', () => {
  it('takes less for shared experts when the others have fewer tokens than its prompt', () => {
    const placement = { ...place('minimax-m2', 'h100'), dp: 8, expertParallel: true };
    const tables = OperatorTables.of(placement.gpu.operators!, SHIPPED_OPERATORS.texts)!;
    const { ofAllRanks } = new StepComposer(placement, tables);
    const stepTime = buildStepTimeModel({ kind: 'composed' }, placement, SHIPPED_OPERATORS);
    const batch = prompts(1, 4_096);
    const us = (expertTokens?: number) => stepTime.stepUs({ ...batch, expertTokens });
    expect(us(4_096)).toBe(us());
    const saved = ofAllRanks!(4_096) - ofAllRanks!(1_024);
    expect(Math.abs((us() - us(1_024)) / saved - 1)).toBeLessThan(0.01);
  });
});

describe('a short prompt of DeepSeek', () => {
  const placement = place('deepseek-v3', 'h200', 8);
  const modelOf = (framework: 'vllm' | 'sglang') =>
    buildStepTimeModel({ kind: 'composed', framework }, placement, SHIPPED_OPERATORS);

  it('takes SGLang no less than launching its kernels', () => {
    expect(modelOf('sglang').stepUs(prompts(1, 1)) / 1_000).toBeCloseTo(82.641, 3);
    expect(modelOf('vllm').stepUs(prompts(1, 1)) / 1_000).toBeLessThan(30);
  });

  it('does not slow long prompts and decode steps down', () => {
    const sglang = modelOf('sglang');
    expect(sglang.stepUs(prompts(1, 16_384)) / 1_000).toBeGreaterThan(83);
    expect(sglang.stepUs(decoding(8, 1_024)) / 1_000).toBeLessThan(30);
  });
});

describe('composed steps with CUDA graphs', () => {
  const placement = place('llama-3.1-8b', 'h200');
  const stepTimeOf = (cudaGraphSizes?: readonly number[]) =>
    buildStepTimeModel({ kind: 'composed', cudaGraphSizes }, placement, SHIPPED_OPERATORS);
  const padded = stepTimeOf([8, 64]);
  const eager = stepTimeOf();
  const CONTEXT = 20_000;
  const decodeUs = (model: typeof eager, sequences: number, context = CONTEXT) =>
    model.stepUs(decoding(sequences, context));

  it('take the linear parts of the next size, and attention unpadded', () => {
    const attention = (sequences: number) =>
      decodeUs(eager, sequences) - decodeUs(eager, sequences, 0);
    const attentionPadded = (sequences: number) =>
      decodeUs(padded, sequences) - decodeUs(padded, sequences, 0);
    for (const sequences of [3, 9, 40]) {
      expect(attentionPadded(sequences)).toBeCloseTo(attention(sequences), 6);
      expect(decodeUs(padded, sequences)).toBeGreaterThanOrEqual(decodeUs(eager, sequences));
    }
    expect(decodeUs(padded, 40)).toBeGreaterThan(decodeUs(eager, 40));
  });

  it('take the same time as without graphs at a captured size and above the largest', () => {
    for (const sequences of [8, 64, 65, 300]) {
      expect(decodeUs(padded, sequences)).toBe(decodeUs(eager, sequences));
    }
  });

  it('pad prompts beside decoding sequences alike', () => {
    const mixed = { ...prompts(1, 30), decodeSeqs: 5, decodeContext: 500 };
    expect(padded.stepUs(mixed)).toBeGreaterThan(eager.stepUs(mixed));
    const long = { ...prompts(1, 300), decodeSeqs: 5, decodeContext: 500 };
    expect(padded.stepUs(long)).toBe(eager.stepUs(long));
  });
});
