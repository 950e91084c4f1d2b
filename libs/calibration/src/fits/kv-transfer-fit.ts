import { NormalEquations } from '@baton/kernel';
import type { Section } from '@baton/step-time';

/** A straight line through measured transfers of KV. */
export interface KvTransferFit {
  readonly latencyMs: number;
  readonly perTokenMs: number;
  /** The `kv_transfer` section of an xPyD-sim profile. */
  readonly file: Section;
}

/** Least squares of the relative error, with both parts at least 0, rounded to six digits. */
export function fitKvTransfer(
  transfers: readonly { readonly tokens: number; readonly ms: number }[],
): KvTransferFit {
  const system = new NormalEquations(2);
  for (const { tokens, ms } of transfers) system.add([1, tokens], ms, 1 / ms);
  const [latencyMs, perTokenMs] = Array.from(system.solveNonNegative(), (value) =>
    Number(value.toPrecision(6)),
  );
  const tokens = transfers.map((transfer) => transfer.tokens);
  return {
    latencyMs: latencyMs!,
    perTokenMs: perTokenMs!,
    file: {
      type: 'poly1d',
      coefficients: [0, perTokenMs!, latencyMs!],
      x_key: 'batch_size',
      y_key: 'delay_ms',
      x_range: [Math.min(...tokens), Math.max(...tokens)],
    },
  };
}
