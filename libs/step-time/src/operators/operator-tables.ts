import { AllToAllTable } from './all-to-all-table';
import {
  AttentionTable,
  contextAttentionKind,
  generationAttentionKind,
  type KvFormat,
} from './attention-tables';
import { CollectiveTable } from './collective-table';
import { ExpertTable } from './expert-table';
import { GemmTable } from './gemm-table';
import {
  LatentAttentionTable,
  latentContextKind,
  type LatentFormats,
  latentGenerationKind,
} from './latent-attention-table';
import type { OperatorFormat } from './number-format';
import { forEachRow, type OperatorTexts } from './operator-texts';
import { QuantiseTable } from './quantise-table';
import { type SystemFacts, systemFactsFrom } from './system-facts';

/**
 * The measured operators of one kind of GPU. It reads each table on first use and keeps it. The
 * result is undefined where a table does not exist.
 */
export class OperatorTables {
  private readonly opened = new Map<string, unknown>();

  private constructor(
    readonly system: SystemFacts,
    private readonly texts: OperatorTexts,
  ) {}

  /** @returns undefined when the texts have no such system */
  static of(name: string, texts: OperatorTexts): OperatorTables | undefined {
    const json = texts.read('systems.json');
    const system = json === undefined ? undefined : systemFactsFrom(json, name);
    return system === undefined ? undefined : new OperatorTables(system, texts);
  }

  /** @param variant  another engine's kernels, such as `sglang` */
  gemm(format: OperatorFormat, variant = ''): GemmTable | undefined {
    const file = variant === '' ? `gemm.${format}` : `gemm.${format}_${variant}`;
    return this.open(file, (csv) => new GemmTable(csv, this.system, format));
  }

  contextAttention(kv: KvFormat): AttentionTable | undefined {
    const file = `context_attention.bf16_kv${kv}`;
    return this.open(file, (csv) => new AttentionTable(csv, contextAttentionKind(this.system, kv)));
  }

  generationAttention(kv: KvFormat): AttentionTable | undefined {
    const kind = generationAttentionKind(this.system, kv);
    return this.open(`generation_attention.kv${kv}`, (csv) => new AttentionTable(csv, kind));
  }

  latentContext(formats: LatentFormats): LatentAttentionTable | undefined {
    const kind = latentContextKind(this.system, formats);
    const file = `mla_context.${formats.weights}_kv${formats.kv}`;
    return this.open(file, (csv) => new LatentAttentionTable(csv, kind));
  }

  latentGeneration(formats: LatentFormats): LatentAttentionTable | undefined {
    const kind = latentGenerationKind(this.system, formats);
    const file = `mla_generation.${formats.weights}_kv${formats.kv}`;
    return this.open(file, (csv) => new LatentAttentionTable(csv, kind));
  }

  experts(format: OperatorFormat): ExpertTable | undefined {
    return this.open(`moe.${format}`, (csv) => new ExpertTable(csv, this.system, format));
  }

  /**
   * Experts that get only the tokens routed to them, as behind an all-to-all. `experts` get the
   * tokens of all ranks.
   *
   * @param phase  SGLang has other kernels in decode than in prefill; TensorRT-LLM does not
   */
  routedExperts(format: OperatorFormat, phase: 'context' | 'generation'): ExpertTable | undefined {
    const own = this.open(
      `wideep_moe.trtllm_${format}`,
      (csv) => new ExpertTable(withoutCopies(csv), this.system, format),
    );
    const parse = (csv: string) => new ExpertTable(csv, this.system, format);
    return own ?? this.open(`wideep_moe.sglang_${format}_${phase}`, parse);
  }

  /** Undefined where ranks of several nodes are not connected by NVLink. */
  allToAll(format: 'bf16' | 'fp8' | 'nvfp4'): AllToAllTable | undefined {
    return this.open(`wideep_alltoall.trtllm_${format}`, (csv) => new AllToAllTable(csv));
  }

  allReduce(): CollectiveTable | undefined {
    return this.open('allreduce.custom', (csv) => new CollectiveTable(csv, this.system));
  }

  nccl(operation: 'all_gather' | 'reduce_scatter' | 'alltoall'): CollectiveTable | undefined {
    const parse = (csv: string) => new CollectiveTable(csv, this.system, operation);
    return this.open('nccl.half', parse, operation);
  }

  /** Additional time of dynamic FP8 quantisation, and time of static quantisation. */
  quantise(part: 'compute_scale' | 'scale_matrix'): QuantiseTable | undefined {
    return this.open(`quantize_${part}.fp8`, (csv) => new QuantiseTable(csv));
  }

  private open<T>(file: string, parse: (csv: string) => T, part = ''): T | undefined {
    const key = `${file}#${part}`;
    if (!this.opened.has(key)) {
      const csv = this.texts.read(`${this.system.name}/${file}.csv`);
      this.opened.set(key, csv === undefined ? undefined : parse(csv));
    }
    return this.opened.get(key) as T | undefined;
  }
}

/** Rows of engines that hold each expert once, without the column of copies. */
function withoutCopies(csv: string): string {
  const rows: string[] = [''];
  forEachRow(csv, ([distribution, topK, experts, held, ...rest]) => {
    if (held === experts) rows.push([distribution, topK, experts, ...rest].join(','));
  });
  return rows.join('\n');
}
