import { FAULT_STAGES, FAILURE_TYPES, KINDS, readRules, writeRules } from '@baton/contract';
import { type DocumentRead, integer, optionalDocument, someOf } from '../option';
import { readFakeMetrics } from '../settings/fake-metrics';

function readFaults(given: unknown): DocumentRead {
  const read = readRules(given);
  return read.kind === 'rules'
    ? { kind: 'document', plain: writeRules(read.rules) }
    : { kind: 'problem', ...read.problem };
}

const RULE_SCHEMA = {
  type: 'object',
  required: ['at', 'fault'],
  properties: { at: { enum: FAULT_STAGES }, fault: { enum: Object.keys(KINDS) } },
};

/** Injected faults. Rules, fields and functions: docs/faults.md. */
export const FAULTS = {
  faults: optionalDocument({
    help:
      'Faults to inject: a list of rules, each with a stage (at), a fault and its conditions. ' +
      'docs/faults.md lists every field.',
    like: '[{"at": "queue", "fault": "error", "status": 429, "rate": 0.1}]',
    read: readFaults,
    schema: { type: 'array', items: RULE_SCHEMA },
    unset: 'none',
  }),
  failureInjectionRate: integer(0, [0, 100], {
    help:
      'Share of requests that fail with one of failure_types before they are queued, as in ' +
      'llm-d-inference-sim.',
    unit: 'percent',
  }),
  failureTypes: someOf(FAILURE_TYPES, [], {
    help: 'Failures that failure_injection_rate injects; an empty list means all.',
  }),
  fakeMetrics: optionalDocument({
    help:
      'Values that /metrics shows in place of the real ones, for tests of autoscalers: ' +
      'running-requests, waiting-requests and kv-cache-usage as a number or as a function of ' +
      'time (oscillate, ramp, rampreset, squarewave), and loras.',
    like: '{"running-requests": "oscillate:0:10:5s", "kv-cache-usage": 0.4}',
    read: readFakeMetrics,
    schema: { type: 'object' },
    unset: 'the real values',
  }),
} as const;
