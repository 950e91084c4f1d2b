import 'reflect-metadata';
import { runWorker } from '@baton/engine-host';
import { DecodeWay } from '../../decode/src/decode-way';
import { PrefillWay } from './prefill-way';

/**
 * Prefill engines. They need the way of decode as well: an order can give an engine another role,
 * and a client can attach KV to the port of any engine.
 */
void runWorker({ roles: ['prefill'], stages: { prefill: PrefillWay, decode: DecodeWay } });
