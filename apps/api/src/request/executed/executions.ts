import { BatonError, type EngineJob, type ExecutedRequest } from '@baton/contract';
import { executes, executesAny } from '@baton/engine-host';
import { answerId, type Endpoint, executedRequest, type RequestLimits } from '@baton/openai';
import { Injectable } from '@nestjs/common';
import { bodyText } from '../../http/body-parser';
import { Config, Broker } from '../../tokens';
import type { CheckedRequest, Call, UpstreamRequest } from '../take/call';
import { PassThroughAnswer } from '../answer/executed';

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  '/v1/chat/completions': 'chat',
  '/v1/completions': 'completions',
};

/**
 * The front's part when stages run on upstream servers: it keeps the client's body for them and
 * passes the answer on.
 */
@Injectable()
export class Executions {
  /** True when a stage needs the client's body. */
  readonly isOn: boolean;
  /** True when answers come from servers. */
  readonly answers: boolean;

  constructor(
    private readonly config: Config,
    private readonly transport: Broker,
  ) {
    this.isOn = executesAny(config);
    this.answers = executes(config, 'decode') || executes(config, 'aggregated');
  }

  /**
   * The server checks and answers the fields, so this reads only those that placement needs. Throws
   * `not_executed` for anything but text.
   */
  check(call: Call, limits: RequestLimits): CheckedRequest {
    const { already } = call.reader;
    if (already?.upstream !== undefined) return already;
    const endpoint = endpointOf(call);
    const request = executedRequest(endpoint, call.body, limits);
    const { dialect } = this.config;
    return {
      request,
      isExecuted: true,
      answerId: (id) => answerId(endpoint, id),
      answer: ({ http }) => new PassThroughAnswer(http, { isStream: request.stream, dialect }),
    };
  }

  /** @throws BatonError `not_executed` where upstream servers give the answers */
  needSimulation(): void {
    if (this.answers) throw new BatonError('not_executed');
  }

  /** Call it before the jobs are added. Returns what it stores. Throws `body_too_large`. */
  async keep(
    jobs: readonly EngineJob[],
    { call, checked }: { readonly call: Call; readonly checked: CheckedRequest },
  ): Promise<Buffer> {
    const { requestId } = call;
    const executed: ExecutedRequest = { ...(checked.upstream ?? clientRequest(call)), requestId };
    const stored = Buffer.from(JSON.stringify(executed));
    for (const { requestId: id } of jobs) {
      const outcome = await this.transport.ledger.putPrompt(id, stored);
      if (outcome === 'too-large') throw new BatonError('body_too_large');
    }
    return stored;
  }
}

/** The client's own request, as it was written. */
function clientRequest({ message, body }: Call): UpstreamRequest {
  const [path = ''] = (message.url ?? '').split('?', 1);
  return { path, text: bodyText(message) ?? JSON.stringify(body) };
}

function endpointOf({ message }: Call): Endpoint {
  const [path = ''] = (message.url ?? '').split('?', 1);
  const endpoint = ENDPOINTS[path];
  if (endpoint === undefined) throw new BatonError('not_executed');
  return endpoint;
}
