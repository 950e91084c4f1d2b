import { type EnginePlacement, findGpu, findModel, type Precision } from '@baton/hardware';
import type { CsvRow } from '../files';

const FORMATS: Readonly<Record<string, Precision['linear']>> = {
  bfloat16: 'bf16',
  fp8: 'fp8',
  fp8_block: 'fp8_block',
  nvfp4: 'nvfp4',
  w4a16_mxfp4: 'mxfp4',
};

/** All layers of a mixture have experts in the reference. */
export function referencePlacement(row: CsvRow): EnginePlacement {
  const model = findModel(modelName(row));
  const linear = FORMATS[row['gemm_quant']!]!;
  const experts = model.experts ? FORMATS[row['moe_quant']!]! : linear;
  const kvCache = row['kv_quant'] === 'fp8' ? 'fp8' : 'bf16';
  return {
    model: {
      ...model,
      precision: { linear, experts, kvCache },
      ...(model.experts && { experts: { ...model.experts, denseLayers: 0 } }),
    },
    gpu: findGpu('h100'),
    tp: count(row, 'tp'),
    dp: count(row, 'attn_dp'),
    expertParallel: count(row, 'moe_ep') > 1,
  };
}

export function modelName({ model }: CsvRow): string {
  return model === 'DeepSeek-V3.1' ? 'DeepSeek-V3' : model!;
}

export function count(row: CsvRow, column: string): number {
  return Number(row[column]);
}
