import {
  type EnginePlacement,
  findGpu,
  findModel,
  HardwareError,
  type ModelGeometry,
  type Precision,
  type Quantization,
  servedIn,
} from '@baton/hardware';
import type { Framework, Mxfp4Activations } from '@baton/step-time';
import { rowsOf } from '../files';
import { DECODE_LIMITS } from './decode-limits';
import { servingScript, type ServingScript } from './serving-script';

/** A number of equal engines; each data-parallel rank counts. */
export interface ServingEngines {
  readonly placement: EnginePlacement;
  readonly count: number;
}

/** One published measurement of a server under a closed loop. */
export interface ServingPoint {
  readonly row: string;
  /** `h200_sxm vllm llama-3.1-70b fp8`. */
  readonly group: string;
  readonly system: string;
  readonly framework: Framework;
  readonly mxfp4Activations: Mxfp4Activations;
  readonly script: ServingScript;
  /** The y of vLLM 0.y. */
  readonly vllmMinor: number;
  /** The engines that decode, or all engines of an aggregated server. */
  readonly engines: ServingEngines;
  /** The prefill engines, where they are separate. */
  readonly disaggregated?: {
    readonly prefill: ServingEngines;
    /** Most sequences of an engine that decodes, or of a rank. Undefined: not known. */
    readonly decodeSequences: number | undefined;
  };
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Lengths are uniform from this share of the maximum to the maximum. 1: all equal. */
  readonly shortest: number;
  /**
   * True: the engine formed its batches between its steps, as vLLM before 0.14 in NVIDIA's own
   * runs. The scripts of InferenceX set async scheduling where it is not the default.
   */
  readonly isSynchronous: boolean;
  /** True: the data show that the row's parallel degree or concurrency is not that of the run. */
  readonly isDoubtful: boolean;
  readonly concurrency: number;
  readonly tpotMs: number;
  readonly ttftMs: number;
}

export interface ServingPoints {
  readonly points: readonly ServingPoint[];
  /** Number of rows left out, by reason. */
  readonly leftOut: ReadonlyMap<string, number>;
}

type Row = Readonly<Record<string, string>>;

/** The points that can be replayed unchanged, and the number of the others. */
export function servingPoints(): ServingPoints {
  const points: ServingPoint[] = [];
  const leftOut = new Map<string, number>();
  for (const row of rowsOf('measured', 'serving', 'given.csv')) {
    const point = pointOf(row);
    if (typeof point === 'string') leftOut.set(point, (leftOut.get(point) ?? 0) + 1);
    else points.push(point);
  }
  return { points, leftOut };
}

function pointOf(row: Row): ServingPoint | string {
  if (row['concurrency'] === '' || row['tpot_mean_ms'] === '') return 'no closed loop';
  if (row['spec_decode']!.startsWith('mtp')) return 'speculative decoding';
  try {
    return readyPoint(row, quantizationOf(row));
  } catch (error) {
    if (error instanceof HardwareError) return `model or GPU in no catalogue: ${modelName(row)}`;
    throw error;
  }
}

function readyPoint(row: Row, quantization: Quantization | undefined): ServingPoint {
  const gpu = findGpu(row['gpu']!);
  const model = withKvCache(servedIn(findModel(modelName(row)), gpu, { quantization }), row);
  const framework = frameworkOf(row['framework']!);
  const isDisaggregated = row['pd_split'] !== 'agg';
  const split = isDisaggregated ? ' P/D' : '';
  const doubt = isDoubtful(row) ? ' doubtful' : '';
  return {
    row: row['row']!,
    group: `${row['gpu']!} ${framework} ${model.name} ${row['dtype']!}${split}${doubt}`,
    system: row['gpu']!,
    framework,
    script: servingScript(row),
    vllmMinor: vllmMinorOf(row),
    isDoubtful: doubt !== '',
    isSynchronous: framework === 'vllm' && row['version'] === '0.12.0',
    // InferenceX sets VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8 there; it is TensorRT-LLM's default.
    mxfp4Activations: isBlackwell(row) ? 'mxfp8' : 'bf16',
    ...(isDisaggregated ? poolsOf(row, { model, gpu }) : { engines: alone(row, { model, gpu }) }),
    promptTokens: Number(row['isl']),
    outputTokens: Number(row['osl']),
    // NVIDIA's rows of Kimi repeat runs of InferenceX to the last figure, without this column.
    shortest: row['length_rule'] === '' && !row['model']!.includes('Kimi') ? 1 : 0.8,
    concurrency: Number(row['concurrency']),
    tpotMs: Number(row['tpot_mean_ms']),
    ttftMs: Number(row['ttft_mean_ms']),
  };
}

/** Rows of Kimi by ranks have the very figures of rows that another source lists without ranks. */
function isDoubtful(row: Row): boolean {
  const note = row['note']!;
  if (note.includes('does not fit the time per token')) return true;
  return row['model']!.includes('Kimi') && note.includes('the file gives tp=dp=4');
}

type Served = Pick<EnginePlacement, 'model' | 'gpu'>;

function alone(row: Row, served: Served): ServingEngines {
  const [tp, gpus] = [Number(row['tp']), Number(row['n_gpus'])];
  const dp = row['dp_attention'] === '1' ? gpus / tp : 1;
  const { isExpertParallel = Number(row['ep']) > 1 } = servingScript(row);
  return {
    placement: { ...served, tp, dp, expertParallel: isExpertParallel },
    count: Math.max(1, gpus / tp),
  };
}

/** `1P4D` with `tp8 dp1 ep8` each; InferenceX's own `tp8 ep1 dp-attention on` has no dp. */
function poolsOf(row: Row, served: Served): Pick<ServingPoint, 'engines' | 'disaggregated'> {
  const [, prefills = '1', decodes = '1'] = /^(\d+)P(\d+)D$/.exec(row['pd_split']!) ?? [];
  const pool = (parallel: string, workers: number): ServingEngines => {
    const degree = (name: string) => Number(new RegExp(`${name}(\\d+)`).exec(parallel)?.[1] ?? 1);
    const isRanked = parallel.includes('dp-attention on');
    const tp = isRanked ? 1 : degree('tp');
    const dp = isRanked ? degree('tp') : degree('dp');
    const placement = { ...served, tp, dp, expertParallel: degree('ep') > 1 };
    return { placement, count: workers * dp };
  };
  const { prefill, decode } = isHardCoded(row) ? hardCoded(row) : stated(row);
  return {
    engines: pool(decode, Number(decodes)),
    disaggregated: {
      prefill: pool(prefill, Number(prefills)),
      decodeSequences: DECODE_LIMITS.get(row['row']!),
    },
  };
}

interface Parallel {
  readonly prefill: string;
  readonly decode: string;
}

function stated(row: Row): Parallel {
  return { prefill: row['prefill_parallel']!, decode: row['decode_parallel']! };
}

/**
 * SGLang 0.5.5 on GB200: "tp, ep, and dp-attn do nothing because they are hardcoded" in the scripts
 * (InferenceX, .github/configs/nvidia-master.yaml at 525079a).
 */
function isHardCoded(row: Row): boolean {
  return row['gpu'] === 'gb200' && row['version'] === '0.5.5.post2';
}

/**
 * The parallelism that the scripts set, by NVIDIA/srt-slurm: recipes/gb200-fp{4,8},
 * low-latency.yaml, has tensor parallelism of four without expert parallelism in both pools;
 * max-tpt.yaml has as many expert ranks as attention ranks (`ep-size`).
 */
function hardCoded(row: Row): Parallel {
  const { prefill, decode } = stated(row);
  if (decode.includes('dp4')) return { prefill: LOW_LATENCY, decode: LOW_LATENCY };
  const whole = (parallel: string) => parallel.replace(/dp(\d+) ep1/, 'dp$1 ep$1');
  return { prefill: whole(prefill), decode: whole(decode) };
}

const LOW_LATENCY = 'tp4 dp1 ep1';

/** Rows without a version are of 2025; the nightly one is of April 2026. */
function vllmMinorOf(row: Row): number {
  const minor = /^0\.(\d+)\./.exec(row['version']!)?.[1];
  return Number(minor ?? (row['version']!.startsWith('nightly') ? 19 : 11));
}

/** `trt` and `dynamo-trt` are TensorRT-LLM. */
function frameworkOf(name: string): Framework {
  if (name.includes('trt')) return 'trtllm';
  return name.includes('sglang') ? 'sglang' : 'vllm';
}

function modelName(row: Row): string {
  return row['model']!.replace(/-(FP8|NVFP4)$/, '');
}

/**
 * The format of these measurements' checkpoints: blocks where a vendor publishes so, else static.
 * Undefined: as the model was published, which is Kimi's INT4.
 */
function quantizationOf(row: Row): Quantization | undefined {
  const isBlockwise = /DeepSeek|MiniMax|Qwen3/.test(row['model']!);
  switch (row['dtype']) {
    case 'fp8':
      return isBlockwise ? 'fp8_block' : 'modelopt';
    case 'fp4':
      return row['model']!.includes('gpt-oss') ? 'mxfp4' : 'nvfp4';
    case 'bf16':
    case 'unstated':
      return 'none';
    default:
      return undefined;
  }
}

/**
 * InferenceX asks for an FP8 cache wherever weights are in FP8 or NVFP4, and for gpt-oss on
 * Blackwell (benchmarks/*.sh there). NVIDIA's own runs of vLLM and SGLang name no format; both take
 * that of the activations then. Nor do InferenceX's scripts for MiniMax on Hopper and, with vLLM
 * 0.17, on B200 (benchmarks/single_node/minimaxm2.5_fp8_{h100,h200,b200}.sh at 34bc7c4, 1c3aa8b
 * and 07e171a); those of April for Blackwell ask for FP8 (minimaxm2.5_fp{4,8}_b300.sh at 5632483).
 * NVFP4 checkpoints of Kimi ask for FP8 themselves (model card of nvidia/Kimi-K2.6-NVFP4).
 */
function withKvCache(model: ModelGeometry, row: Row): ModelGeometry {
  const { linear, experts } = model.precision;
  const isDefault = isCacheUnnamed(row);
  const isFp8 = linear.startsWith('fp8') || experts === 'nvfp4';
  const isRequested = isFp8 ? !isDefault : experts === 'mxfp4' && isBlackwell(row);
  const precision: Precision = { ...model.precision, kvCache: isRequested ? 'fp8' : 'bf16' };
  return { ...model, precision };
}

function isCacheUnnamed(row: Row): boolean {
  if (row['model']!.includes('MiniMax')) return /^0\.1[678]\./.test(row['version']!);
  if (row['model']!.includes('Kimi')) return false;
  return row['source']!.includes('NVIDIA run') && !row['framework']!.includes('trt');
}

function isBlackwell(row: Row): boolean {
  return /^g?b[23]00/.test(row['gpu']!);
}
