import type { Numbers } from './column';
import { withPlaces } from './named/named-column';
import type { Workload } from './workload';

/**
 * A copy whose columns lie in shared memory. A worker thread that gets it (workerData, postMessage)
 * uses the same bytes and rebuilds nothing. Its users must not write to it. The copy has no names
 * of contents, because only the thread that reads and writes files needs them.
 */
export function shareWorkload({ contentNames: _none, ...workload }: Workload): Workload {
  return {
    ...workload,
    arrivalUs: shared(workload.arrivalUs),
    promptTokens: shared(workload.promptTokens),
    outputTokens: shared(workload.outputTokens),
    maxTokens: shared(workload.maxTokens),
    after: shared(workload.after),
    session: shared(workload.session),
    priority: shared(workload.priority),
    ...(workload.sloClass && { sloClass: withPlaces(workload.sloClass, shared) }),
    ...(workload.tenant && { tenant: withPlaces(workload.tenant, shared) }),
    ...(workload.adapter && { adapter: withPlaces(workload.adapter, shared) }),
    contentStart: shared(workload.contentStart),
    contentIds: shared(workload.contentIds),
    requestIdStart: shared(workload.requestIdStart),
    requestIdUnits: shared(workload.requestIdUnits),
  };
}

function shared<T extends Numbers>(values: T): T {
  const type = values.constructor as new (buffer: SharedArrayBuffer) => T;
  const copy = new type(new SharedArrayBuffer(values.byteLength));
  copy.set(values);
  return copy;
}
