import type { PlacementContext, PlacementRequest } from './policy';

/**
 * Blocks that the prompt fills, of those that are listed. The others continue in the output, which
 * no policy may know.
 */
export function promptBlocks(promptTokens: number, blockTokens: number, listed: number): number {
  return Math.min(listed, Math.floor(promptTokens / blockTokens));
}

/**
 * The context for a user's module, whose request has the hashes of its prompt and no others. The
 * router's own list also has those of the output, or of other requests. It is cut only when the
 * module reads it.
 */
export function promptOnly<Context extends PlacementContext>(context: Context): Context {
  return { ...context, request: cutRequest(context.request) };
}

function cutRequest(request: PlacementRequest): PlacementRequest {
  let cut: ArrayLike<number> | undefined;
  return {
    ...request,
    blockFrom: 0,
    get blockHashes() {
      cut ??= cutHashes(request);
      return cut;
    },
  };
}

function cutHashes({ blockHashes, blockFrom, blockCount }: PlacementRequest): ArrayLike<number> {
  const end = blockFrom + blockCount;
  if (blockHashes instanceof Int32Array) return blockHashes.subarray(blockFrom, end);
  return Array.prototype.slice.call(blockHashes, blockFrom, end) as number[];
}
