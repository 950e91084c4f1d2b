/** The settings of a run's public script that differ from the defaults. */
export interface ServingScript {
  readonly maxNumBatchedTokens?: number;
  readonly maxNumSeqs?: number;
  readonly maxCudagraphCaptureSize?: number;
  readonly gpuMemoryUtilization?: number;
  /** `--enable-expert-parallel` in the script itself, for any value in the row. */
  readonly isExpertParallel?: boolean;
  /** `VLLM_FLOAT32_MATMUL_PRECISION`. */
  readonly float32?: 'highest' | 'high';
  /** `fuse_allreduce_rms`, once `enable_fi_allreduce_fusion`. */
  readonly isNormInAllReduce?: boolean;
  /** `--scheduler-recv-interval` of the engines that decode. */
  readonly schedulerRecvInterval?: number;
  /** True: prompts are computed whole. Unset: in chunks, by the token budget. */
  readonly isWhole?: boolean;
  /** `--enable-mixed-chunk` of SGLang. */
  readonly isMixed?: boolean;
}

type Row = Readonly<Record<string, string>>;

/**
 * The script of a run in InferenceX, by model, GPU and version
 * (github.com/SemiAnalysisAI/InferenceX, `benchmarks/`), and AIConfigurator's script for NVIDIA's
 * own runs. Empty for others.
 */
export function servingScript(row: Row): ServingScript {
  // NVIDIA's rows of Kimi are runs of InferenceX.
  if (row['model']!.includes('Kimi')) return kimiScript(row);
  if (row['source']!.includes('NVIDIA run')) return generatedScript(row);
  if (!row['source']!.includes('InferenceX')) return {};
  if (row['framework'] === 'sglang') return sglangScript(row);
  if (row['framework']!.includes('trt') && row['pd_split'] === 'agg') return trtllmScript(row);
  if (row['framework'] !== 'vllm') return {};
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
 * `--max_num_tokens`, and no chunks, TensorRT-LLM's default: dsr1_fp4_b200_trt.sh at 111f031,
 * dsr1_fp8_b200_trt.sh at 0a919c5, dsr1_fp8_h200_trt.sh at 1fc5d73, gptoss_fp4_b200_trt.sh at
 * 1825e7f, gptoss_fp4_h200_trt.sh at 111f031, 70b_fp4_b200_trt_slurm.sh and
 * 70b_fp8_h200_trt_slurm.sh at 73ef922 (the longest context, which the sweep sets to 200 beyond
 * both lengths).
 */
function trtllmScript(row: Row): ServingScript {
  const [prompt, output, clients] = ['isl', 'osl', 'concurrency'].map((name) => Number(row[name]));
  const model = row['model']!;
  if (model.includes('gpt-oss')) return { maxNumBatchedTokens: 20_000, isWhole: true };
  if (model.includes('Llama'))
    return { maxNumBatchedTokens: prompt! + output! + 200, isWhole: true };
  const tokens = 64 * Math.floor((clients! + prompt! + 127) / 64);
  return { maxNumBatchedTokens: Math.max(8_192, tokens), isWhole: true };
}

/** Tokens that AIConfigurator adds to the budget of a step beyond one whole prompt. */
const SPARE_TOKENS = 1_500;

/**
 * github.com/ai-dynamo/aiconfigurator, src/aiconfigurator/generator: trtllm.rule of
 * rule_plugin/benchmark at 581e459 (`max_num_tokens`; no chunks by
 * extra_engine_args.1.0.0rc3.yaml.j2 at 71a2b03) and sglang.rule at 043c66c (`max_prefill_tokens`,
 * `enable_mixed_chunk`, which the template of SGLang 0.5.1 misspells: cli_args.0.5.1.post1.j2 at
 * 5dc6d4f). The template of vLLM 0.12 has neither.
 */
function generatedScript(row: Row): ServingScript {
  const prompts = Number(row['isl']) + SPARE_TOKENS;
  const sequences = Math.ceil(
    (Number(row['concurrency']) * Number(row['tp'])) / Number(row['n_gpus']),
  );
  const whole = { maxNumBatchedTokens: prompts + sequences, isWhole: true };
  if (row['framework']!.includes('trt')) return whole;
  if (row['framework'] !== 'sglang') return {};
  if (row['version'] === '0.5.1.post1') return { maxNumBatchedTokens: prompts, isWhole: true };
  return { ...whole, isMixed: true };
}

/**
 * kimik2.5_fp4_b200.sh at 04107b3, kimik2.5_int4_h200.sh at 34bc7c4 and kimik2.5_int4_b200.sh at
 * 2b7b694. Those of disaggregated runs were not found.
 */
function kimiScript(row: Row): ServingScript {
  if (row['framework'] !== 'vllm' || row['pd_split'] !== 'agg') return {};
  const fused = { isNormInAllReduce: true };
  const maxNumSeqs = Number(row['concurrency']);
  if (row['dtype'] === 'fp4') return { ...fused, maxNumSeqs };
  if (row['gpu'] === 'h200_sxm') return { ...fused, maxNumSeqs, gpuMemoryUtilization: 0.95 };
  return { ...fused, gpuMemoryUtilization: 0.97 };
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
    maxNumBatchedTokens: 2 * Number(row['isl']),
    maxCudagraphCaptureSize: 2_048,
    ...(row['date']! >= '2026-04-20' ? { float32: 'high' } : {}),
  };
}

/** Engines of several ranks keep the interval at 1: SGLang refuses it with attention by ranks. */
function sglangScript(row: Row): ServingScript {
  if (row['pd_split'] !== 'agg') return sglangPoolsScript(row);
  if (!row['model']!.includes('DeepSeek') || !isBlackwell(row)) return {};
  const { maxNumBatchedTokens, maxNumSeqs } = deepSeekLimits(row);
  const isBusy = Number(row['concurrency']) >= 16 && maxNumSeqs > 32;
  return { maxNumBatchedTokens, maxNumSeqs, schedulerRecvInterval: isBusy ? 30 : 10 };
}

/**
 * `--chunked-prefill-size` and `--max-running-requests`: dsr1_fp4_b200.sh at 285b662,
 * dsr1_fp8_b200.sh at 16ffb65, and dsr1_fp{4,8}_b300.sh at 5632483, which reuse them.
 */
function deepSeekLimits(row: Row) {
  if (row['dtype'] === 'fp4') return { maxNumBatchedTokens: 16_384, maxNumSeqs: 256 };
  if (row['tp'] === '8') return { maxNumBatchedTokens: 32_768, maxNumSeqs: 128 };
  return { maxNumBatchedTokens: 8_192, maxNumSeqs: 32 };
}

/**
 * github.com/NVIDIA/srt-slurm, recipes/gb200-fp{4,8}/{1k1k,8k1k}/low-latency.yaml (96f3442,
 * b26af4b, eb889c0), and of ishandhanani's fork recipes/gb300-fp4/{1k1k,8k1k}/low_latency.yaml
 * (ab58651, f64d2b9): 10 in the pool that decodes. recipes/gb300-fp8 (f64d2b9) says 1, b200-fp{4,8}
 * nothing.
 */
function sglangPoolsScript(row: Row): ServingScript {
  const isRequested = row['gpu'] === 'gb200' || (row['gpu'] === 'gb300' && row['dtype'] === 'fp4');
  const isOneRank = /^tp[48] dp1 ep1$|^tp1 dp4 ep1$/.test(row['decode_parallel']!);
  return isRequested && isOneRank ? { schedulerRecvInterval: 10 } : {};
}

function isBlackwell(row: Row): boolean {
  return /^g?b[23]00/.test(row['gpu']!);
}
