import 'reflect-metadata';
import { runWorker } from '@baton/engine-host';
import { PrefillWay } from '../../prefill/src/prefill-way';
import { DecodeWay } from './decode-way';

/**
 * Engines that stream tokens: decode, and aggregated ones. They need the way of prefill as well: an
 * order can give an engine another role, and a router can send its prefill leg to any engine.
 */
void runWorker({
  roles: ['decode', 'aggregated'],
  stages: { prefill: PrefillWay, decode: DecodeWay },
});
