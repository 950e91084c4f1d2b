import { BatonError } from '../baton-error';
import { type CatalogueEntry, ERRORS } from '../errors';
import { type FaultAction, INJECTED } from '../fault';

type ErrorAction = Extract<FaultAction, { kind: 'error' }>;

interface StatusFacts {
  /** vLLM's type, or llm-d's where vLLM has none. */
  readonly type: string;
  readonly openaiType?: string;
  readonly openaiCode?: string;
  readonly message: string;
}

/**
 * The message and type of each status. Types are those of vLLM's ErrorResponse and of
 * llm-d-inference-sim (pkg/api/response.go).
 */
const STATUSES: Readonly<Record<number, StatusFacts>> = {
  400: { type: 'BadRequestError', message: 'The request is invalid.' },
  401: {
    type: 'AuthenticationError',
    openaiCode: 'invalid_api_key',
    message: 'Incorrect API key provided.',
  },
  403: { type: 'PermissionDeniedError', message: 'You are not allowed to do this.' },
  404: {
    type: 'NotFoundError',
    openaiCode: 'model_not_found',
    message: 'The model does not exist.',
  },
  408: { type: 'Request Timeout', message: 'The request took too long.' },
  409: { type: 'Conflict', message: 'The request conflicts with another one.' },
  413: { type: 'Request Entity Too Large', message: 'The request body is too large.' },
  422: { type: 'UnprocessableEntityError', message: 'The request cannot be processed.' },
  429: {
    type: 'RateLimitError',
    openaiType: 'requests',
    openaiCode: 'rate_limit_exceeded',
    message: 'Rate limit reached. Please retry later.',
  },
  500: { type: 'InternalServerError', message: 'Internal server error' },
  501: { type: 'NotImplementedError', message: 'This is not implemented.' },
  502: { type: 'InternalServerError', message: 'Bad gateway' },
  503: {
    type: 'ServiceUnavailableError',
    message: 'The server is overloaded or not ready yet.',
  },
  504: { type: 'InternalServerError', message: 'Gateway timeout' },
};

/** An injected failure of any status. It is rendered like the failures of the catalogue. */
export class InjectedError extends BatonError {
  private readonly own: CatalogueEntry;

  constructor(action: Omit<ErrorAction, 'kind' | 'afterTokens'>) {
    const { status, message, param, retryAfterSeconds } = action;
    const facts = factsOf(status);
    super(INJECTED, message ?? facts.message, param ?? null, retryAfterSeconds);
    this.own = {
      status,
      vllmType: facts.type,
      openaiType: facts.openaiType ?? (status < 500 ? 'invalid_request_error' : 'server_error'),
      openaiCode: action.openaiCode ?? facts.openaiCode ?? null,
      message: facts.message,
    };
  }

  override get entry(): CatalogueEntry {
    return this.own;
  }
}

function factsOf(status: number): StatusFacts {
  const known = STATUSES[status];
  if (known !== undefined) return known;
  return status < 500
    ? { type: 'BadRequestError', message: `The request failed with status ${status}.` }
    : { type: 'InternalServerError', message: ERRORS.engine_error.message };
}
