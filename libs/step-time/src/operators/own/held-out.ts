import { mean } from '@baton/kernel';
import { OperatorTables } from '../operator-tables';
import type { ExpertShape } from '../expert-table';
import type { KvFormat } from '../attention-tables';
import type { OperatorFormat } from '../number-format';
import type { OperatorTexts } from '../operator-texts';
import { mergedTable, meanUs } from './merged-table';
import type { OwnPoint, OwnTable } from './own-table';
import type { TableLayout } from './table-layout';

/** The errors of a table at held-out points: predicted over measured. */
export interface HeldOutErrors {
  readonly points: number;
  /** Number of held-out points. */
  readonly heldOut: number;
  /** Mean of |error|, percent. Undefined without held-out points. */
  readonly meanPercent: number | undefined;
  /** Largest error with its sign, percent. */
  readonly largestPercent: number | undefined;
}

export interface OwnTableAt {
  readonly system: string;
  /** Name of the operator, for example `gemm.bf16`. */
  readonly name: string;
  readonly layout: TableLayout;
  readonly table: OwnTable;
}

/**
 * Leaves every k-th of the user's points out of the table, and predicts it from the others,
 * including shipped ones.
 *
 * @param every  k; 0: no point is left out
 */
export function heldOutErrors(
  { system, name, layout, table }: OwnTableAt,
  every: number,
  shipped: OperatorTexts,
): HeldOutErrors {
  const all = [...table.entries()];
  const isApart = (i: number): boolean => every > 0 && i % every === every - 1;
  const fitted = new Map(all.filter((_, i) => !isApart(i)));
  const apart = all.filter((_, i) => isApart(i)).map(([, point]) => point);
  const path = `${system}/${name}.csv`;
  const csv = mergedTable(fitted, shipped.read(path), [...layout.columns, 'us'].join(','));
  const texts = {
    read: (requested: string) => (requested === path ? csv : shipped.read(requested)),
  };
  const tables = fitted.size > 0 ? OperatorTables.of(system, texts) : undefined;
  const errors = apart.flatMap((point) => {
    const us = tables && predictedUs(tables, name, point);
    return us === undefined ? [] : [100 * (us / meanUs(point) - 1)];
  });
  const sizes = errors.map(Math.abs);
  return {
    points: table.size,
    heldOut: errors.length,
    meanPercent: sizes.length === 0 ? undefined : mean(sizes),
    largestPercent: errors[sizes.indexOf(Math.max(...sizes))],
  };
}

/** The tables' value at the place of a point. Undefined: no measured shape is near. */
function predictedUs(
  tables: OperatorTables,
  name: string,
  { place }: OwnPoint,
): number | undefined {
  const [operator = '', variant = ''] = name.split('.');
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = place.map(Number);
  const [first = '', second = ''] = variant.split(/_?kv/);
  const formats = { weights: first as OperatorFormat, kv: second as KvFormat };
  const heads = { headDim: a, window: b, kvHeads: c, heads: d };
  switch (operator) {
    case 'gemm': {
      const [, format = '', kernels = ''] = /^(.*?)(?:_(sglang))?$/.exec(variant) ?? [];
      return tables.gemm(format as OperatorFormat, kernels)?.timeUs(c, a, b);
    }
    case 'quantize_compute_scale':
      return tables.quantise('compute_scale')?.timeUs(b, a);
    case 'quantize_scale_matrix':
      return tables.quantise('scale_matrix')?.timeUs(b, a);
    case 'context_attention':
      return tables.contextAttention(formats.kv)?.timeUs(heads, e, f);
    case 'generation_attention':
      return tables.generationAttention(formats.kv)?.timeUs(heads, e, f);
    case 'mla_context':
      return tables.latentContext(formats)?.timeUs(b, c, d);
    case 'mla_generation':
      return tables.latentGeneration(formats)?.timeUs(b, c, d);
    case 'moe':
      return tables.experts(variant as OperatorFormat)?.timeUs(...expertsAt(place));
    case 'allreduce':
      return tables.allReduce()?.timeUs(a, b);
    default:
      return place[0] === 'all_reduce'
        ? undefined
        : tables.nccl(place[0] as 'alltoall')?.timeUs(b, c);
  }
}

function expertsAt(place: readonly string[]): [ExpertShape, number] {
  const [distribution = '', ...fields] = place;
  const [topK = 0, experts = 0, hidden = 0, intermediate = 0, ...rest] = fields.map(Number);
  const [tensorParallel = 1, expertParallel = 1, tokens = 0] = rest;
  const shape = { distribution, topK, experts, hidden, intermediate };
  return [{ ...shape, tensorParallel, expertParallel }, tokens];
}
