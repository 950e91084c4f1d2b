export {
  autoscalerName,
  configuredAutoscaler,
  demandOf,
  objectivesOf,
  scaleBounds,
  withStart,
} from './configured-autoscaler';
export type { ConfiguredAutoscaler } from './configured-autoscaler';
export { LiveAutoscaler } from './live-autoscaler';
export { liveAutoscaler } from './live';
export { readPage } from './scrape';
