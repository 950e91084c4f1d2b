export { ratesOf } from './rates-of';
export { readGpuPrices } from './read-gpu-prices';
export type { GivenRate, GivenRates } from './read-gpu-prices';
