import {
  type EnginePlacement,
  findModel,
  type Gpu,
  GPUS,
  HardwareError,
  kvCapacityBlocks,
  type ModelGeometry,
  type Quantization,
  servedIn,
} from '@baton/hardware';
import { type StepTimeMethod, stepTimeMethodOf } from '@baton/step-time';
import { operatorFiles } from './operator-files';

/** One model for each family. Families differ in the operators that they need. */
const FAMILIES = [
  ['dense', 'llama-3.1-8b'],
  ['dense, large', 'llama-3.1-70b'],
  ['sliding window', 'gemma-3-27b'],
  ['mixture of experts', 'qwen3-30b-a3b'],
  ['mixture with window', 'gpt-oss-120b'],
  ['latent attention', 'deepseek-v3'],
] as const;

const FORMATS = ['none', 'fp8', 'modelopt', 'fp8_block', 'nvfp4', 'mxfp4', 'awq'] as const;
const DEGREES = [1, 2, 4, 8];

const NAMES: Readonly<Record<StepTimeMethod, string>> = {
  composed: 'composed',
  calibrated: 'calibrated',
  estimated: 'roofline',
};

const INTRODUCTION = `# How step times are made

<!-- Written by \`npm run docs\` (libs/config/src/engines/step-time-methods-page.ts); do not edit. -->

What \`step_time: auto\` does without a \`step_time_file\`, by GPU, family of models and
\`quantization\`: *composed* from measured operators, *calibrated* by a shipped profile, or
estimated by the *roofline* (±60 %); see [step-time.md](step-time.md). Each cell has the smallest
tensor-parallel degree of 1, 2, 4 and 8 at which weights and a KV block fit with vLLM's defaults;
*too large* where none does. *refused*: the GPU has no units for the format. *no experts*: MXFP4 is a
format of experts, and a dense model stays as under \`none\`.
`;

/**
 * docs/step-time-methods.md, one table per GPU. It reads all measured operators, which takes
 * seconds.
 */
export function stepTimeMethodsPage(): string {
  return `${INTRODUCTION}${GPUS.map(section).join('')}`;
}

function section(gpu: Gpu): string {
  const { figures, efficiency } = gpu.source;
  const operators = gpu.operators === undefined ? 'none' : `data/operators/${gpu.operators}`;
  const titles = `| Family | Model | ${FORMATS.join(' | ')} |\n`;
  const header = `${titles}|${' --- |'.repeat(FORMATS.length + 2)}\n`;
  const rows = FAMILIES.map(([family, name]) => {
    const cells = FORMATS.map((format) => cell(findModel(name), gpu, format));
    return `| ${family} | ${name} | ${cells.join(' | ')} |\n`;
  });
  const from = `Figures: ${figures}. Reached parts: ${efficiency}.`;
  const sources = `${from} Measured operators: ${operators}.`;
  return `\n## ${gpu.name}\n\n${sources}\n\n${header}${rows.join('')}`;
}

function cell(model: ModelGeometry, gpu: Gpu, quantization: Quantization): string {
  if (quantization === 'mxfp4' && model.experts === undefined) return 'no experts';
  try {
    const served = servedIn(model, gpu, { quantization });
    const tp = DEGREES.find((degree) => fits({ model: served, gpu, tp: degree }));
    if (tp === undefined) return 'too large';
    return `${NAMES[stepTimeMethodOf({ model: served, gpu, tp }, operatorFiles())]}, TP${tp}`;
  } catch (error) {
    if (error instanceof HardwareError && error.code === 'not-possible') return 'refused';
    throw error;
  }
}

function fits(placement: EnginePlacement): boolean {
  try {
    return kvCapacityBlocks({ ...placement, gpuMemoryUtilization: 0.9, blockSize: 16 }) > 0;
  } catch (error) {
    if (error instanceof HardwareError) return false;
    throw error;
  }
}
