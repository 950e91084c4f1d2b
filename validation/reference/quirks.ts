import { findModel } from '@baton/hardware';
import type { CsvRow } from '../files';
import { modelName } from './reference-placement';

/** Operators of the reference that are left out of the comparison. */
export interface Quirk {
  readonly why: string;
  readonly applies: (row: CsvRow) => boolean;
  readonly operators: readonly string[];
}

/** Prompts of 110 and 129 tokens. */
const UNEXPLAINED: readonly string[] = ['110', '129'];

const isLatent = (row: CsvRow): boolean => /DeepSeek|Kimi/.test(row['model']!);
const hasExperts = (row: CsvRow): boolean => 'experts' in findModel(modelName(row));

export const QUIRKS: readonly Quirk[] = [
  {
    why: 'block-wise FP8 was timed without CUDA graphs',
    applies: (row) => row['gemm_quant'] === 'fp8_block',
    operators: ['qkv', 'output projection', 'gate and up', 'down', 'shared experts'],
  },
  {
    why: 'shared experts timed without CUDA graphs outlast the routed ones beside them',
    applies: (row) => isLatent(row) && row['gemm_quant'] === 'fp8_block',
    operators: ['overlapped experts'],
  },
  {
    why: 'layers of DeepSeek with tp > 1 count four all-reduces, of which vLLM does two',
    applies: isLatent,
    operators: ['tp_allreduce', 'embedding all-reduce'],
  },
  {
    why: 'mixed steps with latent attention leave decode attention out',
    applies: (row) => isLatent(row) && row['phase'] === 'mixed',
    operators: ['latent attention'],
  },
  {
    why: 'DeepSeek in NVFP4 has plain attention instead of latent attention',
    applies: (row) => isLatent(row) && row['gemm_quant'] === 'nvfp4',
    operators: [
      ...['latent attention', 'prefill attention', 'decode attention', 'output projection'],
      ...['downscale_gemm', 'q_b_proj_gemm', 'kv_b_proj_gemm'],
    ],
  },
  {
    why: 'prefill of mixtures has no output head',
    applies: (row) => hasExperts(row) && row['phase'] !== 'decode',
    operators: ['output head'],
  },
  {
    why: 'latent attention of two short prompts does not follow from the published table',
    applies: (row) => isLatent(row) && UNEXPLAINED.includes(row['new_tokens']!),
    operators: ['latent attention'],
  },
];
