import type { Stage } from './job';

/** A message from a process of a cluster to its parent, over the channel between the two. */
export type ChildMessage =
  /** The process is ready. */
  | { readonly kind: 'ready'; readonly role: Stage | 'api'; readonly url: string }
  /**
   * Its engines by role have changed, in the notation of topologies; none is ''. A restart of the
   * process uses these.
   */
  | { readonly kind: 'engines'; readonly engines: string }
  /** From the API: start engines. Answered by a `SupervisorMessage` with the same id. */
  | {
      readonly kind: 'start-engines';
      readonly id: number;
      readonly role: Stage;
      readonly count: number;
    }
  /**
   * From the API: cancel engines that have not joined yet. The answer is a `SupervisorMessage` with
   * the same id.
   */
  | { readonly kind: 'cancel-engines'; readonly id: number };

/** The answer of a supervisor. */
export type SupervisorMessage =
  /**
   * The engines are accepted and start one after the other; `refusal` is the reason why none will.
   */
  | { readonly kind: 'engines-started'; readonly id: number; readonly refusal?: string }
  /** `count`: processes that will not join. */
  | { readonly kind: 'engines-cancelled'; readonly id: number; readonly count: number };
