import type { IncomingMessage } from 'node:http';
import { queueingClasses } from '@baton/config';
import { BatonError } from '@baton/contract';
import type { SloClass, SloClasses } from '@baton/policies';
import { fieldsIn } from '@baton/kernel';
import { Injectable } from '@nestjs/common';
import { Config } from '../../tokens';
import type { Tenant } from '../request-context';

const CLASS_HEADER = 'x-slo-class';
/** The name of an InferenceObjective of the Gateway API inference extension, which llm-d sends. */
const OBJECTIVE_HEADER = 'x-gateway-inference-objective';
/** The tenant of the request as a gateway in front sets it (same extension). */
const FAIRNESS_HEADER = 'x-gateway-inference-fairness-id';
/**
 * vLLM's header, with which a gateway sets the priority without changing the body. A value that is
 * not an integer is ignored.
 */
const PRIORITY_HEADER = 'x-vllm-priority';
const INTEGER = /^\s*[+-]?\d{1,15}\s*$/;
/** Longest tenant name accepted from a header. */
const LONGEST_TENANT = 256;

/** The parts of a call that name its class and tenant. */
export interface Classed {
  readonly message: Pick<IncomingMessage, 'headers'>;
  readonly body: unknown;
  readonly tenant: Tenant;
}

/** The SLO classes of calls, and their tenants for the queues of flow control. */
@Injectable()
export class CallClasses {
  /** False when no classes are configured, so that all calls have the same class. */
  readonly isOn: boolean;
  private readonly classes: SloClasses;
  /** True when engines schedule by the priorities of classes. */
  private readonly ranksEngines: boolean;

  constructor(config: Config) {
    this.isOn = config.sloClasses !== undefined;
    this.classes = queueingClasses(config);
    this.ranksEngines = this.isOn && config.schedulingPolicy !== 'fcfs';
  }

  get all(): readonly SloClass[] {
    return this.classes.all;
  }

  /** @throws BatonError `invalid_value` for a class that does not exist */
  of(call: Classed): SloClass {
    const found = this.find(call);
    if (found !== undefined) return found;
    const name = headerOf(call, CLASS_HEADER)?.slice(0, 100) ?? '';
    const known = this.classes.names.join(', ');
    const message = `${CLASS_HEADER} '${name}' is no class of this server, which has ${known}.`;
    throw new BatonError('invalid_value', message, CLASS_HEADER);
  }

  /** Undefined when the call names a class that does not exist. */
  find(call: Classed): SloClass | undefined {
    if (!this.isOn) return this.classes.ordinary;
    const { service_tier: tier, priority } = fieldsIn(call.body);
    return this.classes.find({
      name: headerOf(call, CLASS_HEADER),
      objective: headerOf(call, OBJECTIVE_HEADER),
      tier: typeof tier === 'string' ? tier : undefined,
      priority: priorityIn(call) ?? (Number(priority) || 0),
    });
  }

  /** The priority of the call's jobs; lower ones run first. `own` is that of its body. */
  priorityOf(call: Classed, own: number): number {
    const isSet = call.message.headers[PRIORITY_HEADER] !== undefined;
    const priority = isSet ? (priorityIn(call) ?? own) : own;
    return this.ranksEngines ? priority || this.of(call).priority : priority;
  }

  /** The owner of the key; without a key, the tenant that the gateway in front sets. */
  tenantOf(call: Classed): string {
    return call.tenant ?? headerOf(call, FAIRNESS_HEADER)?.slice(0, LONGEST_TENANT) ?? 'default';
  }
}

function priorityIn({ message }: Classed): number | undefined {
  const said = String(message.headers[PRIORITY_HEADER] ?? '');
  return INTEGER.test(said) ? Number(said) : undefined;
}

function headerOf({ message }: Classed, header: string): string | undefined {
  const value = message.headers[header];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
