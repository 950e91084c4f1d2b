import { KV_CACHE_DTYPES, QUANTIZATIONS } from '@baton/hardware';
import {
  choice,
  integer,
  list,
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
      'Model whose geometry is simulated: a name (`baton doctor` lists them), or the path of a ' +
      'Hugging Face config.json or of its folder. A tokenizer.json and a chat template in that ' +
      'folder are used to count the texts of a live cluster.',
    alsoEnv: ['SIM_MODEL'],
  }),
  acceptUnknownConfig: list([], {
    help:
      "Field of the model's config.json that is ignored although its name concerns attention, " +
      'layers, KV or experts. Without it, such a field is refused, because the model would be ' +
      'simulated in another shape. May be repeated.',
  }),
  /** Names in requests; answers have the first one. */
  servedModelName: optionalList({
    help:
      'Names that clients may use for the model. GET /v1/models lists all of them; answers and ' +
      'the label model_name of metrics have the first.',
    unset: 'the name given as model',
  }),
  gpu: text('h100', {
    help:
      'GPU of every engine: a name (`baton doctor` lists them), a YAML file, or its fields in ' +
      'braces.',
  }),
  quantization: optionalChoice(QUANTIZATIONS, {
    help:
      "Quantisation of the weights, with vLLM's names. fp8 and fbgemm_fp8 scale activations at " +
      'run time. compressed-tensors is the format of a checkpoint that has one. ' +
      'modelopt is FP8 with scales from the checkpoint. fp8_block has one scale per 128 x 128 ' +
      'weights. modelopt_fp4 and nvfp4 are NVFP4. mxfp4 has experts in four bits. awq and gptq ' +
      'have INT4 weights.',
    unset: 'as the checkpoint was published',
  }),
  dtype: choice(['auto', 'bfloat16', 'float16', 'half'], 'auto', {
    help:
      'Data type of everything that is not quantised, always 16 bits wide. auto uses the type ' +
      'in the checkpoint.',
    excludes: 'types of 32 bits, float32 and float, are not simulated',
  }),
  kvCacheDtype: choice(KV_CACHE_DTYPES, 'auto', {
    help:
      'Data type of the KV cache. auto uses the type that the checkpoint names, else one of 16 ' +
      'bits.',
  }),
  tensorParallelSize: integer(1, [1, 64], {
    help: 'GPUs per engine, or per pipeline stage of an engine.',
    unit: 'GPUs',
  }),
  pipelineParallelSize: integer(1, [1, 64], {
    help:
      'Number of pipeline stages of an engine. Each stage has a part of the layers, on ' +
      'tensor_parallel_size GPUs of its own. More than one stage needs aggregated engines, and ' +
      'composed or roofline step times.',
    unit: 'stages',
  }),
  /** Ranks that share the experts of a mixture. */
  dataParallelSize: integer(1, [1, 1024], {
    help:
      'Number of data-parallel ranks of an engine. Each rank has its own attention and KV ' +
      'cache. The ranks share the experts of a mixture-of-experts model, which are spread over ' +
      'tensor_parallel_size times data_parallel_size GPUs, and then step together.',
    unit: 'ranks',
  }),
  enableExpertParallel: toggle(false, {
    help:
      'Keep each expert whole on one GPU and send tokens to it, instead of splitting every ' +
      'expert over all GPUs that share it.',
  }),
  /** Link between prefill and decode. */
  link: text('infiniband-ndr', {
    help:
      'Link that carries KV blocks from prefill to decode, and tokens between ranks on ' +
      'different nodes: nvlink, infiniband-ndr, infiniband-hdr, roce-400g, roce-200g, 100gbe, ' +
      '25gbe, pcie, pcie5.',
  }),
  /** Longest prompt plus output. */
  maxModelLen: optionalInteger([16, 16_777_216], {
    help: 'Maximum length of one request, prompt and output together.',
    unit: 'tokens',
    unset: "the model's own context",
  }),
  gpuMemoryUtilization: number(0.9, [0.05, 1], {
    help:
      'Share of GPU memory for weights, activations and KV cache. What remains after weights ' +
      'and a trial step becomes KV blocks.',
  }),
  vllmVersion: text('0.30', {
    pattern: /^0\.(1[1-9]|[2-9]\d|[1-9]\d\d)(\.\d+)?$/,
    like: '0.30, from 0.11 on',
    help:
      'Version of vLLM to model, 0.11 or later. It decides how GPU memory is divided, the ' +
      'default of async_scheduling, and when blocks in use are freed.',
  }),
  framework: choice(['vllm', 'sglang', 'trtllm'], 'vllm', {
    help:
      'Server to model. It decides the kernels of composed step times and the order in which ' +
      'an engine takes prompts; everything else follows vLLM.',
  }),
  /** KV blocks of an engine, instead of what memory gives. */
  numGpuBlocksOverride: optionalInteger([2, 100_000_000], {
    help:
      'Number of KV blocks of an engine, in place of the number that fits its memory. One of ' +
      'them holds no KV, as in vLLM.',
    unit: 'blocks',
    unset: 'computed from GPU memory, weights, a trial step and gpu_memory_utilization',
  }),
} as const;
