import { BatonError, type ErrorCode, INJECTED, InjectedError } from '@baton/contract';
import { UpstreamError } from '@baton/openai';
import type { Sequence } from '../../sequences/sequence';

/** The error that the client gets when a sequence has failed. */
export function sequenceFailure(sequence: Sequence, code: ErrorCode): BatonError {
  const { upstreamFailure } = sequence;
  if (upstreamFailure !== undefined) return new UpstreamError(upstreamFailure);
  return code === INJECTED ? injectedFailureOf(sequence) : new BatonError(code);
}

function injectedFailureOf({ job, struckRule }: Sequence): BatonError {
  const errors = (job.faults ?? []).filter(({ action }) => action.kind === 'error');
  // The frame entry with the rule's name can be lost.
  const fault = errors.find(({ rule }) => rule === struckRule) ?? errors[0];
  return fault?.action.kind === 'error'
    ? new InjectedError(fault.action)
    : new BatonError(INJECTED);
}
