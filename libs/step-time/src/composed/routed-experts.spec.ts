import { type EnginePlacement, findGpu, findModel, servedIn } from '@baton/hardware';
import { OperatorTables } from '../operators/operator-tables';
import { describe, expect, it } from 'vitest';
import type { Framework } from './framework';
import { feedForwardPartOf } from './feed-forward-part';
import { kernelsOf } from './kernel-choice';
import { MeasuredEnds } from './measured-ends';
import { routedExpertsOf } from './routed-experts';
import type { StepParts } from './step-parts';
import { readShipped } from '../../../../test/support/shipped-operators';

const LAYERS = 58;
/** Operations that ranks without tensor parallelism do together. */
const SHARED = new Set<string>(['dispatch', 'experts', 'combine']);

function partsOf(gpuName: string, dp: number, framework: Framework = 'trtllm'): StepParts {
  const gpu = findGpu(gpuName);
  const model = servedIn(findModel('DeepSeek-V3'), gpu, { quantization: 'nvfp4' });
  const placement: EnginePlacement = { model, gpu, tp: 1, dp, expertParallel: true };
  const tables = OperatorTables.of(gpu.operators!, { read: readShipped })!;
  return {
    placement,
    tables,
    ends: new MeasuredEnds(),
    isAtPowerLimit: false,
    ...kernelsOf({ framework }),
  };
}

function routed(parts: StepParts, isDecodeOnly = true) {
  const shape = {
    distribution: 'power_law_1.01',
    topK: 8,
    experts: 256,
    hidden: 7168,
    intermediate: 2048,
    tensorParallel: 1,
    expertParallel: parts.placement.dp!,
  };
  return routedExpertsOf(parts, shape, isDecodeOnly);
}

describe('experts over the nodes of a rack', () => {
  it('take the measured exchange by tokens of one rank, experts by those of all', () => {
    const own = routed(partsOf('gb200', 32))!;
    expect(own.dispatch(64)).toBeCloseTo(14.83 + 17.19, 6);
    expect(own.experts(64)).toBeCloseTo(133.6, 6);
  });

  it('are combined in low precision by TensorRT-LLM in decode alone', () => {
    expect(routed(partsOf('gb200', 32))!.combine(64)).toBeCloseTo(26.51, 6);
    expect(routed(partsOf('gb200', 32), false)!.combine(64)).toBeCloseTo(28.39, 6);
    expect(routed(partsOf('gb200', 32, 'sglang'))!.combine(64)).toBeCloseTo(28.39, 6);
  });

  it.each([
    ['with vLLM, which gathers by default', partsOf('gb200', 32, 'vllm')],
    ['over no more ranks than a token has experts', partsOf('gb200', 8)],
    ['where nodes are joined by a fabric', partsOf('b200', 16)],
    ['over a number of ranks that was not measured', partsOf('gb200', 48)],
  ])('are gathered %s', (_why, parts) => {
    expect(routed(parts)).toBeUndefined();
  });

  it('scale the exchange with the tokens of each rank, gathered experts with those of all', () => {
    const own = routed(partsOf('gb200', 32, 'sglang'), false)!;
    const part = feedForwardPartOf(partsOf('gb200', 32, 'sglang'));
    expect(part.ofAllRanks!(64)).toBeCloseTo(LAYERS * own.experts(64), 6);
    const gathered = feedForwardPartOf(partsOf('gb200', 32, 'vllm'));
    const named = gathered.operators(64, false).filter(({ name }) => SHARED.has(name));
    expect(gathered.ofAllRanks!(64)).toBeCloseTo(
      named.reduce((sum, { us }) => sum + us, 0),
      6,
    );
    expect(feedForwardPartOf(partsOf('gb200', 1, 'vllm')).ofAllRanks).toBeUndefined();
  });

  it('are part of their steps', () => {
    const part = feedForwardPartOf(partsOf('gb300', 32));
    const mixed = part.operators(64, false).find(({ name }) => name === 'dispatch')!;
    expect(mixed.us).toBeCloseTo(LAYERS * (14.83 + 17.19), 6);
  });
});
