/** The form of an operator's table: its columns before `us`; rows ascend by the last of them. */
export interface TableLayout {
  readonly columns: readonly string[];
  /** The last part of the file's name: formats and variants. */
  readonly variants: RegExp;
  /** Valid names in a column of texts. */
  readonly texts?: Readonly<Record<string, RegExp>>;
  /** Columns that may be 0. */
  readonly mayBeZero?: readonly string[];
}

const HEADS = ['head_dim', 'window_size', 'num_key_value_heads', 'num_heads'];
const LATENT = ['native_heads', 'num_heads'];
const LATENT_FORMATS = /^(bf16|fp8_block)_kv(bf16|fp8)$/;
const EXPERTS = ['topk', 'num_experts', 'hidden_size', 'inter_size', 'moe_tp_size', 'moe_ep_size'];

/** The tables of composed steps, by data/operators/README.md. */
const LAYOUTS: Readonly<Record<string, TableLayout>> = {
  gemm: { columns: ['n', 'k', 'm'], variants: /^(bf16|fp8|fp8_block|nvfp4|fp8_block_sglang)$/ },
  quantize_compute_scale: { columns: ['k', 'm'], variants: /^fp8$/ },
  quantize_scale_matrix: { columns: ['k', 'm'], variants: /^fp8$/ },
  context_attention: {
    columns: [...HEADS, 'isl', 'batch_size'],
    variants: /^bf16_kv(bf16|fp8)$/,
    mayBeZero: ['window_size'],
  },
  generation_attention: {
    columns: [...HEADS, 'batch_size', 'kv_len'],
    variants: /^kv(bf16|fp8)$/,
    mayBeZero: ['window_size'],
  },
  mla_context: { columns: [...LATENT, 'isl', 'batch_size'], variants: LATENT_FORMATS },
  mla_generation: { columns: [...LATENT, 'batch_size', 'kv_len'], variants: LATENT_FORMATS },
  moe: {
    columns: ['distribution', ...EXPERTS, 'num_tokens'],
    variants: /^(bf16|fp8|fp8_block|nvfp4|mxfp4|mxfp4_mxfp8|int4_wo)$/,
    texts: { distribution: /^(balanced|power_law_\d(\.\d+)?)$/ },
  },
  allreduce: { columns: ['num_gpus', 'elements'], variants: /^custom$/ },
  nccl: {
    columns: ['operation', 'num_gpus', 'elements'],
    variants: /^half$/,
    texts: { operation: /^(all_reduce|all_gather|reduce_scatter|alltoall)$/ },
  },
};

/** Operators by the first part of a file's name. */
export const OPERATOR_NAMES = Object.keys(LAYOUTS);

/** The layout of a table by its name, such as `gemm.bf16`. Undefined for other names. */
export function layoutOf(name: string): TableLayout | undefined {
  const [operator = '', variant = ''] = name.split('.');
  const layout = Object.hasOwn(LAYOUTS, operator) ? LAYOUTS[operator] : undefined;
  return layout?.variants.test(variant) === true ? layout : undefined;
}
