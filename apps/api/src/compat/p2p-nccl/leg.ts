import { type Leg, legAtStage, type LegFacts, pairOfRequest } from '../../routers/leg';

/** P2pNccl and MoRI-IO write both ends of a hand-over into the id, which both legs carry. */
export function legOf({ clientRequestId, stage }: LegFacts): Leg | undefined {
  return clientRequestId === undefined
    ? undefined
    : legAtStage(stage, pairOfRequest(clientRequestId));
}
