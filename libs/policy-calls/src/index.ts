export { liveWatch, runWatched } from './policy-calls';
