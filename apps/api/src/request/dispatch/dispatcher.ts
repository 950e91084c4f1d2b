import type { BatonConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import type { AnswerHead } from '@baton/openai';
import { entryQueue } from '@baton/routing';
import type { Logger } from '@baton/telemetry';
import type { OutputPlan } from '@baton/text';
import { Inject, Injectable } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';
import { priorityOf } from '../../http/priority-header';
import { RateMeter } from '../../observers/live-page/rate-meter';
import { RequestRecorder } from '../../observers/recording/request-recorder';
import { openedRequest, Timelines } from '../../observers/timelines/timelines';
import { RequestSpans } from '../../observers/tracing/request-spans';
import { API_IDENTITY, type ApiIdentity, CONFIG, LOGGER } from '../../tokens';
import type { Exchange } from '../exchange/exchange';
import { ExchangeOpener } from '../exchange/exchange-opener';
import { Executions } from '../executed/executions';
import { FaultInjector } from '../faults/fault-injector';
import { JobPlacement } from '../route/job-placement';
import type { Asked } from '../take/asked';
import type { Call } from '../take/call';
import type { Admission } from '../take/request-intake';
import { JobFactory } from './job-factory';
import { Submitter } from './submitter';

/** Makes jobs of an admitted request and puts them into their queues. From here on the exchange owns the answer. */
@Injectable()
export class Dispatcher {
  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(API_IDENTITY) private readonly identity: ApiIdentity,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly catalog: ModelCatalog,
    private readonly opener: ExchangeOpener,
    private readonly placement: JobPlacement,
    private readonly faults: FaultInjector,
    private readonly executions: Executions,
    private readonly submitter: Submitter,
    private readonly recorder: RequestRecorder,
    private readonly timelines: Timelines,
    private readonly spans: RequestSpans,
    private readonly meter: RateMeter,
  ) {}

  async dispatch(admission: Admission): Promise<void> {
    const { call, asked } = admission;
    const head = this.headOf(call, asked);
    const span = this.spans.open(call, head, asked.request);
    const exchange = this.opener.open(admission, head, span);
    const jobs = this.jobsOf(admission, exchange, {
      answerId: head.id,
      traceparent: span?.traceparent,
    });
    this.note(admission, exchange, head);
    try {
      if (this.executions.isOn) await this.executions.keep(jobs, call);
      await Promise.all(jobs.map((job) => this.submitter.submit(entryQueue(job), [job])));
      exchange.admitted();
    } catch (error) {
      if (!(error instanceof BatonError)) this.logger.error({ err: error }, 'jobs not submitted');
      exchange.fail(error instanceof BatonError ? error : new BatonError('engine_error'));
    }
  }

  private jobsOf(
    { call, asked, plans, routes, faults }: Admission,
    exchange: Exchange,
    of: { readonly answerId: string; readonly traceparent: string | undefined },
  ) {
    const { request, isExecuted } = asked;
    const factory = new JobFactory({
      ...{ request, ...of, arrivalUs: call.arrivalUs },
      apiId: this.identity.apiId,
      config: this.config,
      adapter: this.catalog.adapterOf(request.model),
      executes: isExecuted === true,
      priority: priorityOf(call.message.headers) ?? request.priority,
    });
    const forEngines = this.faults.forEngines(faults);
    return exchange.openSequences(routes.length, (index, streamId) => {
      const [plan, route] = [plans[index] as OutputPlan, routes[index]!];
      const job = factory.job(index, streamId, { plan, route });
      const faulty = forEngines.length === 0 ? job : { ...job, faults: forEngines };
      return this.placement.place(faulty, call);
    });
  }

  private note({ call, routes }: Admission, exchange: Exchange, head: AnswerHead): void {
    for (const sequence of exchange.members) {
      sequence.waitingIn = routes[0]!.stage;
      this.placement.opened(sequence);
      this.recorder.opened(sequence, call);
    }
    this.timelines.opened(exchange.members, openedRequest(call, head));
    this.meter.arrived(exchange.members.length);
  }

  private headOf(call: Call, { request, answerId }: Asked): AnswerHead {
    const requestId = call.clientRequestId ?? request.requestId ?? call.requestId;
    return {
      id: answerId(requestId),
      created: Math.floor(call.arrivalUs / 1_000_000),
      model: request.model,
      systemFingerprint: this.catalog.systemFingerprint,
    };
  }
}
