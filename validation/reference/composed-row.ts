import {
  elementwiseUs,
  type OperatorTables,
  StepComposer,
  type StepOperator,
} from '@baton/step-time';
import type { CsvRow } from '../files';
import { count, referencePlacement } from './reference-placement';

/** The operators of our step for the shape of a row. */
export function compose(row: CsvRow, tables: OperatorTables): StepOperator[] {
  // Norms are kernels of their own there, as in vLLM before 0.16.
  const composer = new StepComposer(referencePlacement(row), tables, { vllmMinor: 15 });
  if (row['phase'] === 'mixed') return mixed(composer, row, tables);
  const batch = count(row, 'batch');
  if (row['phase'] === 'decode') {
    const attention = composer.decode({ sequences: batch, context: count(row, 'kv_len') });
    return [...composer.linear(batch, true), attention, composer.outputHead(batch)];
  }
  const [tokens, cached] = [count(row, 'new_tokens'), count(row, 'prefix')];
  const attention = composer.prefill({ prompts: batch, length: tokens + cached, cached });
  const around = { ...attention, us: aroundUs(row, tables) };
  return [...composer.linear(batch * tokens, false), attention, around, composer.outputHead(batch)];
}

/** Their mixed step: prompts of `mix_isl` in part or several at once, one row of the head. */
function mixed(composer: StepComposer, row: CsvRow, tables: OperatorTables): StepOperator[] {
  const [tokens, length] = [count(row, 'ctx_tokens'), count(row, 'mix_isl')];
  const sequences = count(row, 'gen_tokens');
  const context = length + Math.floor(count(row, 'mix_osl') / 2) + 1;
  const prompts = Math.ceil(tokens / length);
  const prefill = composer.prefill({ prompts, length, cached: 0 });
  return [
    ...composer.linear(tokens + sequences, false),
    { ...prefill, us: (prefill.us + aroundUs(row, tables)) / Math.ceil(length / tokens) },
    composer.decode({ sequences, context }),
    composer.outputHead(1),
  ];
}

/**
 * What AIConfigurator adds to prefill attention for the kernels around it: their bytes are those of
 * one token, whatever the step has, so that it is a constant. Ours count the tokens.
 */
function aroundUs(row: CsvRow, { system }: OperatorTables): number {
  const { model, tp } = referencePlacement(row);
  const { attention } = model;
  if (attention.kind === 'latent') return 0;
  const heads = model.heads / tp;
  const kvHeads = Math.max(1, Math.ceil(attention.kvHeads / tp));
  const us = (width: number) => elementwiseUs(system, 2 * attention.headDim * width);
  const rotation = 2 * us(heads + kvHeads) + 2 * us(kvHeads);
  const norms = model.qkNorm === undefined ? 0 : 4 * (us(heads) + us(kvHeads));
  return model.layers * 1.1 * (rotation + norms);
}
