import { number } from '../option';

/** When a process counts as dead. Wall seconds; they never scale with `speedup`. */
export const LIVENESS = {
  lockDuration: number(1.8, [0.2, 3_600], {
    help: 'How long a worker that is on time keeps a job after its last heartbeat.',
    unit: 's',
  }),
  lockDurationMax: number(30, [0.2, 3_600], {
    help:
      'Maximum of lock_duration and presence_ttl for a worker that was late recently: both ' +
      'grow by three times its worst pause, up to this.',
    unit: 's',
  }),
  lockRenewInterval: number(0.45, [0.05, 600], {
    help: 'How often a worker renews the locks of its jobs.',
    unit: 's',
  }),
  stalledInterval: number(0.4, [0.05, 600], {
    help: 'How often a worker checks for jobs whose lock has expired.',
    unit: 's',
  }),
  presenceTtl: number(3, [1, 3_600], {
    help:
      'How long an engine or API process that is on time counts as alive after its last ' +
      'heartbeat. Routers skip an engine without news for a third of it, at least 1 s.',
    unit: 's',
  }),
  engineLostAfter: number(1.5, [0, 3_600], {
    help: 'How long after the end of presence_ttl an engine counts as lost.',
    unit: 's',
  }),
  engineGrace: number(30, [0, 3_600], {
    help:
      'How long requests wait for a stage whose engines have all gone from the cluster, for ' +
      'example because their process is stopped. Then they end with 503 no_engine.',
    unit: 's',
  }),
  requestSilentAfter: number(2, [0.1, 3_600], {
    help: 'Time without news of a request after which the API queries the engines for it.',
    unit: 's',
  }),
  requestGapAfter: number(1, [0.1, 3_600], {
    help:
      'How long tokens of a request may be missing between others before the API reads its ' +
      'record. It asks the engine to send them again before that.',
    unit: 's',
  }),
  requestLostAfter: number(5, [0.1, 3_600], {
    help:
      'Time without news of a request after which the API submits it again, when no queue holds ' +
      'its job and no engine runs it.',
    unit: 's',
  }),
  exposedPortGrace: number(60, [0, 86_400], {
    help:
      'How long the port of a silent engine stays open under expose_engines. It answers 503 ' +
      'until the engine is back.',
    unit: 's',
  }),
  kvReadTimeout: number(1, [0.05, 600], {
    help:
      'How long decode waits for an answer when it requests KV blocks. It sends the request ' +
      'twice, and more often to a holder that is late.',
    unit: 's',
  }),
  brokerSilentAfter: number(0.7, [0.05, 600], {
    help:
      'How long the broker may answer nothing while a client waits for it. Then requests get 503 ' +
      'until it answers again. A process that was late recently also waits three times its worst ' +
      'pause, up to broker_call_timeout.',
    unit: 's',
  }),
  brokerCallTimeout: number(5, [0.1, 3_600], {
    help: 'How long a process waits for the answer to one call of the broker.',
    unit: 's',
  }),
  latenessHalfLife: number(10, [0.1, 3_600], {
    help: 'Running time of the process in which an observed pause loses half of its weight.',
    unit: 's',
  }),
  starvedAfter: number(0.5, [0.05, 600], {
    help:
      'A process whose worst recent pause is longer than this counts as starved; fewer ' +
      'requests may wait for it.',
    unit: 's',
  }),
} as const;
