import { assert } from '@baton/kernel';
import { retimed } from './retime';
import { pick } from './rows';
import { isFirst, type Workload } from './workload';

/**
 * A part of a workload; plain data. `sample`: `share` (0..1) of the conversations, as the beginning
 * of each of `SAMPLE_BLOCKS` equal blocks, joined in time. `window`: the conversations of window
 * `at` (from 0) of `of` consecutive windows with equally many. A request without turns is a
 * conversation of one.
 */
export type Piece =
  | { readonly kind: 'whole' }
  | { readonly kind: 'sample'; readonly share: number }
  | { readonly kind: 'window'; readonly at: number; readonly of: number };

export const WHOLE: Piece = { kind: 'whole' };

/** A sample over the whole length sees quiet and busy hours; the beginning alone sees one hour. */
const SAMPLE_BLOCKS = 16;

/** Rows `[from, to)` of a list. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** The requests of a piece, with the first arrival at 0. Empty ranges are possible. */
export function pieceOf(workload: Workload, piece: Piece): Workload {
  if (piece.kind === 'whole') return workload;
  const roots = conversationsOf(workload);
  const ranges = piece.kind === 'window' ? [windowOf(roots, piece)] : sampleOf(roots, piece.share);
  return joined(workload, roots, ranges);
}

/** The rows that begin a conversation. */
function conversationsOf(workload: Workload): Int32Array {
  const roots: number[] = [];
  for (let row = 0; row < workload.count; row++) if (isFirst(workload, row)) roots.push(row);
  return Int32Array.from(roots);
}

function windowOf(roots: Int32Array, { at, of }: { at: number; of: number }): Range {
  assert(of >= 1 && at >= 0 && at < of, `no window ${at} of ${of}`);
  return {
    from: Math.floor((at * roots.length) / of),
    to: Math.floor(((at + 1) * roots.length) / of),
  };
}

function sampleOf(roots: Int32Array, share: number): Range[] {
  assert(share > 0 && share <= 1, `not a share: ${share}`);
  return Array.from({ length: SAMPLE_BLOCKS }, (_none, at) => {
    const { from, to } = windowOf(roots, { at, of: SAMPLE_BLOCKS });
    return { from, to: from + Math.ceil(share * (to - from)) };
  });
}

/** The conversations of the ranges; each range begins where the one before it ends. */
function joined(workload: Workload, roots: Int32Array, ranges: readonly Range[]): Workload {
  const { arrivalUs, after } = workload;
  const shiftUs = new Float64Array(workload.count).fill(NaN);
  let beginUs = 0;
  for (const { from, to } of ranges) {
    if (from === to) continue;
    const firstUs = arrivalUs[roots[from]!]!;
    for (let i = from; i < to; i++) shiftUs[roots[i]!] = beginUs - firstUs;
    // The next range follows after the gap that follows this one in the workload.
    const endUs = arrivalUs[roots[Math.min(to, roots.length - 1)]!]!;
    beginUs += endUs - firstUs;
  }
  const order: number[] = [];
  for (let row = 0; row < workload.count; row++) {
    if (!isFirst(workload, row)) shiftUs[row] = shiftUs[after[row]!]!;
    if (!Number.isNaN(shiftUs[row]!)) order.push(row);
  }
  let next = 0;
  const firsts = order.filter((row) => isFirst(workload, row));
  return retimed(pick(workload, order), (atUs) => atUs + shiftUs[firsts[next++]!]!);
}
