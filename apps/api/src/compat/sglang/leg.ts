import { fieldsIn } from '@baton/kernel';
import { type Leg, legAtStage, type LegFacts } from '../../routers/leg';

/** SGLang's routers give both legs a number. */
export function legOf({ body, stage }: LegFacts): Leg | undefined {
  const { bootstrap_room: room } = fieldsIn(body);
  // A batch has one room per prompt; only the first prompt is handed over.
  const first: unknown = Array.isArray(room) ? room[0] : room;
  return typeof first === 'number' ? legAtStage(stage, `room ${first}`) : undefined;
}
