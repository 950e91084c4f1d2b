import { KV_CACHE_DTYPES, QUANTIZATIONS } from '@baton/hardware';
import {
  choice,
  integer,
  number,
  optionalChoice,
  optionalInteger,
  optionalList,
  text,
  toggle,
} from '../option';

/** The simulated model, GPUs and links. */
export const HARDWARE = {
  model: text('llama-3.1-8b', {
    help:
      'Model whose geometry is simulated: a name (`baton doctor` lists those known), or the ' +
      'path of a Hugging Face config.json or of a folder with one. Its tokenizer.json and ' +
      'chat template, if there are any, count the texts of a live cluster.',
    alsoEnv: ['SIM_MODEL'],
  }),
  /** Names in requests; answers have the first one. */
  servedModelName: optionalList({
    help:
      'Names under which clients ask for the model. GET /v1/models lists all of them; answers ' +
      'and the label model_name of the metrics have the first.',
    unset: 'the name given as model',
  }),
  gpu: text('h100', {
    help: 'GPU of every engine: a name (see `baton doctor`), a YAML file, or {fields}.',
  }),
  quantization: optionalChoice(QUANTIZATIONS, {
    help:
      'How weights are quantised, by the names of vLLM: fp8 scales activations while the ' +
      'engine runs, modelopt is FP8 with scales of the checkpoint, fp8_block has one per 128 ' +
      'x 128 weights (DeepSeek), modelopt_fp4 or nvfp4 is NVFP4, mxfp4 has experts in four ' +
      'bits (gpt-oss), awq and gptq have INT4 weights.',
    unset: 'as the checkpoint was published',
  }),
  dtype: choice(['auto', 'bfloat16', 'float16', 'half'], 'auto', {
    help: 'Type of what is not quantised, always of 16 bits; auto takes that of the checkpoint.',
  }),
  kvCacheDtype: choice(KV_CACHE_DTYPES, 'auto', {
    help: 'Type of the KV cache; auto takes what the checkpoint asks for, else 16 bits.',
  }),
  tensorParallelSize: integer(1, [1, 64], {
    help: 'GPUs per engine, or per pipeline stage of an engine.',
    unit: 'GPUs',
  }),
  pipelineParallelSize: integer(1, [1, 64], {
    help:
      'Pipeline stages of an engine, each with a part of the layers on tensor_parallel_size ' +
      'GPUs of its own. Above 1 for aggregated engines alone, with composed or roofline step ' +
      'times.',
    unit: 'stages',
  }),
  /** Ranks that share the experts of a mixture. */
  dataParallelSize: integer(1, [1, 1024], {
    help:
      'Data-parallel ranks of an engine: engines with attention and KV cache of their own ' +
      'that share the experts of a mixture-of-experts model, which are spread over ' +
      'tensor_parallel_size times data_parallel_size GPUs. Ranks of such a model step together.',
    unit: 'ranks',
  }),
  enableExpertParallel: toggle(false, {
    help:
      'Keep whole experts on each GPU and send tokens to them, instead of cutting each expert ' +
      'over all GPUs that share it.',
  }),
  /** Link between prefill and decode. */
  link: text('infiniband-ndr', {
    help:
      'Link over which KV blocks go from prefill to decode, and tokens between ranks on ' +
      'different nodes: nvlink, infiniband-ndr, infiniband-hdr, roce-400g, roce-200g, 100gbe, ' +
      '25gbe, pcie.',
  }),
  /** Longest prompt plus output. */
  maxModelLen: optionalInteger([16, 16_777_216], {
    help: 'Longest prompt plus output of one request.',
    unit: 'tokens',
    unset: "the model's own context",
  }),
  gpuMemoryUtilization: number(0.9, [0.05, 1], {
    help:
      'Share of GPU memory for weights, activations and KV cache; what is left after weights ' +
      'and a trial step becomes KV blocks.',
  }),
  vllmVersion: text('0.30', {
    help:
      'Version of vLLM, from 0.11 on, whose division of GPU memory, default of async_scheduling ' +
      'and freeing of blocks in use are modelled.',
  }),
  framework: choice(['vllm', 'sglang', 'trtllm'], 'vllm', {
    help:
      'Server whose kernels composed step times have, and whose order of prompts an engine ' +
      'follows; everything else is as in vLLM.',
  }),
  /** KV blocks of an engine, instead of what memory gives. */
  numGpuBlocksOverride: optionalInteger([2, 100_000_000], {
    help: 'KV blocks of an engine, whatever its memory; one of them holds no KV, as in vLLM.',
    unit: 'blocks',
    unset: 'computed from GPU memory, weights, a trial step and gpu_memory_utilization',
  }),
} as const;
