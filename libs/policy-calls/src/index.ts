export { liveWatch, runBounded } from './policy-calls';
