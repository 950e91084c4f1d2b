import { BatonError } from '@baton/contract';
import { TransportOutOfMemory, TransportUnavailable } from '@baton/transport';

/** Turns a failure of the broker into the client's error; passes other errors through. */
export function brokerError(error: unknown): unknown {
  if (error instanceof TransportUnavailable) return new BatonError('broker_unavailable');
  if (error instanceof TransportOutOfMemory) return new BatonError('broker_out_of_memory');
  return error;
}
