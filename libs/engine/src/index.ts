export { Engine } from './engine';
export type * from './types';
