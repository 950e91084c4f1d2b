import { FLOW_POLICY_KINDS } from '@baton/policies';
import {
  choiceOrModule,
  duration,
  integer,
  optionalList,
  optionalTable,
  optionalText,
} from '../option';

const CLASS_COLUMNS = ['ttft', 'tpot', 'weight', 'priority'] as const;

/** SLO classes, and the order of requests under overload. Formulas: docs/flow-control.md. */
export const FLOW_CONTROL = {
  sloClasses: optionalTable(CLASS_COLUMNS, {
    help:
      'SLO classes by name: target TTFT and TPOT in simulated ms, weight in the service ' +
      '(default 1), and priority, lower first (default 0).',
    unset: 'requests have no class',
  }),
  sloDefaultClass: optionalText({
    help: 'Class of requests that name no class.',
    unset: 'the first of slo_classes',
  }),
  sloObjectives: optionalList({
    help:
      'Further names of the classes in the header x-gateway-inference-objective: one ' +
      '`objective=class` for each InferenceObjective.',
    unset: 'an objective has the name of its class',
  }),
  flowControl: choiceOrModule(['none', ...FLOW_POLICY_KINDS], 'none', {
    help:
      'Order of the requests beyond flow_control_concurrency, which wait in the API by class ' +
      'and tenant. It is first come first served (fcfs), strict priority, weighted fair queueing ' +
      '(wfq), earliest deadline first (edf), or your own ES module (docs/flow-control.md).',
  }),
  flowControlConcurrency: integer(100, [1, 1_000_000], {
    help:
      'Maximum number of requests that one API process sends to the cluster per ready engine ' +
      'that decodes; further ones wait.',
    unit: 'requests',
  }),
  flowControlQueue: integer(1_000, [0, 1_000_000], {
    help:
      'Maximum number of requests of one class and tenant that wait in the API; a further one ' +
      'gets 429 with Retry-After.',
    unit: 'requests',
  }),
  flowControlTotalQueue: integer(10_000, [0, 10_000_000], {
    help:
      'Maximum number of requests that wait in the API in total. A further one takes the place ' +
      'of the newest of a lower class, which gets 429; if there is none, it gets 429 itself.',
    unit: 'requests',
  }),
  flowControlTimeout: duration(60, [0.001, 86_400], {
    help: 'Maximum wait of a request in the queues of the API; then it gets 503 with Retry-After.',
    unit: 's, simulated',
  }),
} as const;
