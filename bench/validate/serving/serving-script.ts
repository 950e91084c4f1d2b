/** What the public script of a run gives its server instead of vLLM's defaults. */
export interface ServingScript {
  readonly maxNumBatchedTokens?: number;
  readonly maxNumSeqs?: number;
  readonly maxCudagraphCaptureSize?: number;
  readonly gpuMemoryUtilization?: number;
  /** `--enable-expert-parallel` in the script itself, whatever the row says. */
  readonly isExpertParallel?: boolean;
  /** `VLLM_FLOAT32_MATMUL_PRECISION`. */
  readonly float32?: 'highest' | 'high';
  /** `fuse_allreduce_rms`, once `enable_fi_allreduce_fusion`. */
  readonly isNormInAllReduce?: boolean;
}

type Row = Readonly<Record<string, string>>;

/**
 * The script of a run of vLLM in InferenceX, by model, GPU and version
 * (github.com/SemiAnalysisAI/InferenceX, `benchmarks/`); empty for runs of others.
 */
export function servingScript(row: Row): ServingScript {
  if (row['framework'] !== 'vllm' || !row['source']!.includes('InferenceX')) return {};
  if (row['model']!.includes('MiniMax')) return miniMaxScript(row);
  const isGptOss = row['model']!.includes('gpt-oss');
  return {
    maxNumBatchedTokens: 8_192,
    maxNumSeqs: isBlackwell(row) ? 512 : Number(row['concurrency']),
    ...(isGptOss ? { maxCudagraphCaptureSize: 2_048 } : {}),
    ...(isBlackwell(row) ? { isNormInAllReduce: true } : {}),
  };
}

/**
 * minimaxm2.5_fp8_b200.sh at 13453b4 (vLLM 0.17), minimaxm2.5_fp4_b200.sh at a52c31a and
 * minimaxm2.5_fp{4,8}_b300.sh at 5632483 (0.19), minimaxm2.5_fp8_h200.sh at 1c3aa8b,
 * minimaxm2.5_fp8_h100.sh at 34bc7c4.
 */
function miniMaxScript(row: Row): ServingScript {
  if (row['gpu'] === 'h100_sxm') return { maxNumSeqs: 256 };
  if (row['gpu'] === 'h200_sxm') return { gpuMemoryUtilization: 0.95 };
  if (row['version']!.startsWith('0.17')) {
    return { isExpertParallel: true, gpuMemoryUtilization: 0.95 };
  }
  if (!row['version']!.startsWith('0.19')) return {};
  return {
    ...{ maxNumBatchedTokens: 2 * Number(row['isl']), maxCudagraphCaptureSize: 2_048 },
    ...(row['date']! >= '2026-04-20' ? { float32: 'high' } : {}),
  };
}

function isBlackwell(row: Row): boolean {
  return /^g?b[23]00/.test(row['gpu']!);
}
