import { FLOW_POLICY_KINDS } from '@baton/flow-control';
import { choiceOrModule, duration, integer, optionalTable, optionalText } from '../option';

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
    help: 'Class of requests that name none.',
    unset: 'the first of slo_classes',
  }),
  flowControl: choiceOrModule(['none', ...FLOW_POLICY_KINDS], 'none', {
    help:
      'Order of the requests beyond flow_control_concurrency, which wait in the API by class ' +
      'and tenant: first come first served, strict priority, weighted fair queueing, earliest ' +
      'deadline first, or that of your own ES module (docs/flow-control.md).',
  }),
  flowControlConcurrency: integer(100, [1, 1_000_000], {
    help:
      'Requests that one API process has under way per ready engine that generates; beyond it ' +
      'they wait.',
    unit: 'requests',
  }),
  flowControlQueue: integer(1_000, [0, 1_000_000], {
    help: 'Requests of one class and tenant that wait in the API; beyond it 429 with Retry-After.',
    unit: 'requests',
  }),
  flowControlTotalQueue: integer(10_000, [0, 10_000_000], {
    help:
      'Requests that wait in the API in total. One more takes the place of the newest of a ' +
      'lower class, which gets 429; without such a request it gets 429 itself.',
    unit: 'requests',
  }),
  flowControlTimeout: duration(60, [0.001, 86_400], {
    help: 'Longest wait of a request in the queues of the API; then 503 with Retry-After.',
    unit: 's',
  }),
} as const;
