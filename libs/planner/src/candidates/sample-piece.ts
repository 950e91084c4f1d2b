import { type Piece, WHOLE } from '@baton/workload';

/** Fewer requests give no reliable rate. */
const FEWEST_REQUESTS = 200;

/** A sample of `share` of a workload. A workload with few requests is always taken whole. */
export function samplePiece(share: number, requests: number): Piece {
  const own = Math.max(share, FEWEST_REQUESTS / requests);
  return own >= 1 ? WHOLE : { kind: 'sample', share: own };
}
