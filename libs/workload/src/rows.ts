import { assert, type Micros } from '@baton/kernel';
import type { Numbers } from './column';
import { withPlaces } from './named/named-column';
import { isFirst, type Workload } from './workload';

/**
 * The rows of `order`, in that order. A row that waits for another must come after it in `order`.
 *
 * @throws InvariantError when it does not
 */
export function pick(workload: Workload, order: ArrayLike<number>): Workload {
  const content = pickLists(workload.contentStart, workload.contentIds, order);
  const ids = pickLists(workload.requestIdStart, workload.requestIdUnits, order);
  return {
    ...workload,
    count: order.length,
    arrivalUs: pickValues(workload.arrivalUs, order),
    promptTokens: pickValues(workload.promptTokens, order),
    outputTokens: pickValues(workload.outputTokens, order),
    maxTokens: pickValues(workload.maxTokens, order),
    after: pickAfter(workload, order),
    session: pickValues(workload.session, order),
    priority: pickValues(workload.priority, order),
    ...withNamed(workload, (places) => pickValues(places, order)),
    contentStart: content.start,
    contentIds: content.values,
    requestIdStart: ids.start,
    requestIdUnits: ids.values,
  };
}

/** The first `count` rows, as views of the same memory. */
export function head(workload: Workload, count: number): Workload {
  if (count >= workload.count) return workload;
  const { contentStart, requestIdStart } = workload;
  return {
    ...workload,
    count,
    arrivalUs: workload.arrivalUs.subarray(0, count),
    promptTokens: workload.promptTokens.subarray(0, count),
    outputTokens: workload.outputTokens.subarray(0, count),
    maxTokens: workload.maxTokens.subarray(0, count),
    after: workload.after.subarray(0, count),
    session: workload.session.subarray(0, count),
    priority: workload.priority.subarray(0, count),
    ...withNamed(workload, (places) => places.subarray(0, count)),
    contentStart: contentStart.subarray(0, count + 1),
    contentIds: workload.contentIds.subarray(0, contentStart[count]!),
    requestIdStart: requestIdStart.subarray(0, count + 1),
    requestIdUnits: workload.requestIdUnits.subarray(0, requestIdStart[count] ?? 0),
  };
}

/**
 * The requests that arrive before `durationUs`. A conversation that begins before it stays whole.
 */
export function within(workload: Workload, durationUs: Micros): Workload {
  const beganUs = firstArrivals(workload);
  const order = new Uint32Array(workload.count);
  let count = 0;
  for (let row = 0; row < workload.count; row++) {
    if (beganUs[row]! < durationUs) order[count++] = row;
  }
  return count === workload.count ? workload : pick(workload, order.subarray(0, count));
}

/**
 * Sorts the rows by arrival (stable). A later turn sorts by the first arrival of its conversation.
 */
export function inOrderOfArrival(workload: Workload): Workload {
  const { count } = workload;
  const beganUs = firstArrivals(workload);
  let isSorted = true;
  for (let row = 1; row < count && isSorted; row++) isSorted = beganUs[row - 1]! <= beganUs[row]!;
  if (isSorted) return workload;
  const order = Uint32Array.from({ length: count }, (_, row) => row);
  return pick(
    workload,
    order.sort((a, b) => beganUs[a]! - beganUs[b]! || a - b),
  );
}

/**
 * For each row the first arrival of its conversation. For a row that waits for no other: its own
 * arrival.
 */
function firstArrivals(workload: Workload): Float64Array {
  const { arrivalUs, after, count } = workload;
  if (after.length === 0) return arrivalUs;
  const beganUs = new Float64Array(count);
  for (let row = 0; row < count; row++) {
    beganUs[row] = isFirst(workload, row) ? arrivalUs[row]! : beganUs[after[row]!]!;
  }
  return beganUs;
}

/** The columns of names of the workload, with other rows. */
function withNamed(
  { sloClass, tenant, adapter }: Workload,
  change: (places: Int32Array) => Int32Array,
): Pick<Workload, 'sloClass' | 'tenant' | 'adapter'> {
  return {
    ...(sloClass && { sloClass: withPlaces(sloClass, change) }),
    ...(tenant && { tenant: withPlaces(tenant, change) }),
    ...(adapter && { adapter: withPlaces(adapter, change) }),
  };
}

function pickValues<T extends Numbers>(values: T, order: ArrayLike<number>): T {
  if (values.length === 0) return values;
  const picked = emptyLike(values, order.length);
  for (let i = 0; i < order.length; i++) picked[i] = values[order[i]!]!;
  return picked;
}

function pickLists<T extends Numbers>(
  start: Float64Array,
  values: T,
  order: ArrayLike<number>,
): { start: Float64Array; values: T } {
  if (start.length === 0) return { start, values };
  const starts = new Float64Array(order.length + 1);
  for (let i = 0; i < order.length; i++) {
    starts[i + 1] = starts[i]! + start[order[i]! + 1]! - start[order[i]!]!;
  }
  const picked = emptyLike(values, starts[order.length]!);
  for (let i = 0; i < order.length; i++) {
    picked.set(values.subarray(start[order[i]!]!, start[order[i]! + 1]!), starts[i]!);
  }
  return { start: starts, values: picked };
}

function pickAfter(workload: Workload, order: ArrayLike<number>): Int32Array {
  if (workload.after.length === 0) return workload.after;
  const place = new Int32Array(workload.count).fill(-1);
  const after = new Int32Array(order.length);
  for (let i = 0; i < order.length; i++) {
    const before = workload.after[order[i]!]!;
    after[i] = before === -1 ? -1 : place[before]!;
    assert(before === -1 || after[i] !== -1, 'pick a row after the row that it waits for');
    place[order[i]!] = i;
  }
  return after;
}

function emptyLike<T extends Numbers>(values: T, length: number): T {
  return new (values.constructor as new (size: number) => T)(length);
}
