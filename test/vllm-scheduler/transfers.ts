import type { Draw } from './draw';
import type { WorkloadOptions, WorkloadRequest } from './workload';

/** Longest time until a decode engine has fetched what is held for it. */
const MOST_SEND_STEPS = 20;

/**
 * In some workloads with a connector, requests are those of a prefill engine, or of a decode engine
 * that keeps the KV of a conversation for its next turn: when they end, their blocks are held until
 * the KV is reported as sent.
 */
export function withHolds(
  requests: readonly WorkloadRequest[],
  { connector }: WorkloadOptions,
  draw: Draw,
): WorkloadRequest[] {
  if (!connector || !draw.chance(0.4)) return [...requests];
  return requests.map((request) => {
    if (!draw.chance(0.7)) return request;
    const sendSteps = draw.between(1, MOST_SEND_STEPS);
    if (draw.chance(0.3)) return { ...request, sendSteps };
    return { ...request, sendSteps, prefills: true, out: 1, max: 1, stops: false };
  });
}

/** In some workloads, remote KV does not always arrive. */
export function withFailures(requests: readonly WorkloadRequest[], draw: Draw): WorkloadRequest[] {
  if (!draw.chance(0.3)) return [...requests];
  return requests.map((request) => {
    const fails = request.remote !== undefined && draw.chance(0.4);
    return fails ? { ...request, fails } : request;
  });
}

/** In some workloads, only a part of a prompt comes from elsewhere: whole blocks, or any tokens. */
export function withPartsOfPrompts(
  requests: readonly WorkloadRequest[],
  { blockSize }: WorkloadOptions,
  draw: Draw,
): WorkloadRequest[] {
  if (!draw.chance(0.3)) return [...requests];
  const inBlocks = draw.chance(0.6);
  return requests.map((request) => {
    if (request.remote === undefined || draw.chance(0.2)) return request;
    const drawn = draw.between(1, request.remote);
    const remote = inBlocks ? Math.ceil(drawn / blockSize) * blockSize : drawn;
    return { ...request, remote: Math.min(remote, request.remote) };
  });
}
