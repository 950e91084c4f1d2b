import type { Provider } from '@nestjs/common';
import { RateMeter } from './live-page/rate-meter';
import { FaultMetrics } from './metrics/fault-metrics';
import { PlacementMetrics } from './metrics/placement-metrics';
import { RequestMetrics } from './metrics/request-metrics';
import { SloMetrics } from './metrics/slo-metrics';
import { TenantMetrics } from './metrics/tenant-metrics';
import { Observers } from './port/observers';
import type { RequestObserver } from './port/port';
import { EventLog } from './recording/event-log';
import { RequestRecorder } from './recording/request-recorder';
import { WireTaps } from './recording/wire-taps';
import { Timelines } from './timelines/timelines';
import { RequestSpans } from './tracing/request-spans';

/** All observers of requests. New observers are added only here. */
const OBSERVERS = [
  RequestMetrics,
  TenantMetrics,
  SloMetrics,
  PlacementMetrics,
  FaultMetrics,
  RequestRecorder,
  EventLog,
  WireTaps,
  Timelines,
  RequestSpans,
  RateMeter,
];

export const OBSERVER_PROVIDERS: Provider[] = [
  ...OBSERVERS,
  {
    provide: Observers,
    inject: OBSERVERS,
    useFactory: (...all: RequestObserver[]) => new Observers(all),
  },
];
