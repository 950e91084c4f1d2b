import { calibrate, type MeasuredStep } from '@baton/calibration';
import { findGpu, findModel } from '@baton/hardware';
import { stepTimeFromProfile, buildStepTimeModel, type StepTimeModel } from '@baton/step-time';
import { rowsOf } from './files';

const PROFILE = ['profiles', 'llmservingsim-rtxpro6000-llama-3.1-8b'];
const LAYERS = 32;
/** Operators of a transformer layer besides attention, and their number in a layer. */
const PER_LAYER = {
  layernorm: 2,
  qkv_proj: 1,
  rotary_emb: 1,
  o_proj: 1,
  gate_up_proj: 1,
  act_fn: 1,
  down_proj: 1,
} as const;
const ONCE = ['embedding', 'final_layernorm'];
const PER_SEQUENCE = ['lm_head', 'sampler'];

/**
 * Llama-3.1-8B on an RTX PRO 6000, fitted to steps composed of measured operators (vLLM 0.19,
 * LLMServingSim): dense ones by the tokens of the step, lm_head and sampler by its sequences,
 * attention by the batch. No served request is part of the fit.
 */
export function rtxPro6000Model(overheadMs: number): StepTimeModel {
  fitted ??= calibrate(composedSteps(), {
    fit: 'calibrated',
    holdOutEvery: 5,
    seed: 1,
    overheadMs: 0,
    placement: { model: 'llama-3.1-8b', gpu: 'rtx-pro-6000', tp: 1 },
  }).file;
  const file = { ...fitted, overhead_ms: overheadMs };
  const placement = { model: findModel('llama-3.1-8b'), gpu: findGpu('rtx-pro-6000'), tp: 1 };
  return buildStepTimeModel(stepTimeFromProfile(file), placement);
}

/** The fit, which does not depend on the overhead of a step. */
let fitted: ReturnType<typeof calibrate>['file'] | undefined;

function composedSteps(): MeasuredStep[] {
  const dense = new Operators('dense.csv', 'tokens');
  const perSequence = new Operators('per_sequence.csv', 'sequences');
  return rowsOf(...PROFILE, 'attention.csv').map((row) => {
    const prompt = Number(row['prefill_chunk']);
    const cached = Number(row['kv_prefill']);
    const seqs = Number(row['n_decode']);
    const prefillSeqs = prompt > 0 ? 1 : 0;
    const denseUs =
      dense.us(PER_LAYER, prompt + seqs) * LAYERS + dense.us(once(ONCE), prompt + seqs);
    const sampledUs = perSequence.us(once(PER_SEQUENCE), seqs + prefillSeqs);
    return {
      prefillTokens: prompt,
      prefillSeqs,
      prefillQuadratic: (cached + prompt) ** 2 - cached ** 2,
      prefillContext: prompt > 0 ? cached : 0,
      decodeSeqs: seqs,
      decodeContext: seqs * Number(row['kv_decode']),
      ms: (denseUs + sampledUs + Number(row['time_us']) * LAYERS) / 1000,
    };
  });
}

function once(names: readonly string[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, 1]));
}

/** Times of operators over a size, straight lines between measured points. */
class Operators {
  private readonly points = new Map<string, { size: number; us: number }[]>();

  constructor(file: string, size: string) {
    for (const row of rowsOf(...PROFILE, file)) {
      const name = row['layer'] ?? '';
      const known = this.points.get(name) ?? [];
      known.push({ size: Number(row[size]), us: Number(row['time_us']) });
      this.points.set(name, known);
    }
  }

  us(counts: Readonly<Record<string, number>>, size: number): number {
    return Object.entries(counts).reduce((sum, [name, n]) => sum + n * this.at(name, size), 0);
  }

  private at(name: string, size: number): number {
    const points = this.points.get(name) ?? [];
    const above = points.findIndex((point) => point.size >= size);
    const next = above < 0 ? points.length - 1 : Math.max(1, above);
    const [low, high] = [points[next - 1]!, points[next]!];
    const share = (size - low.size) / (high.size - low.size);
    return low.us + share * (high.us - low.us);
  }
}
