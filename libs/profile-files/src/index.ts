export { factorsToFile } from './factor-file';
export { profileToFile, stepTimeFromProfile } from './profile-file';
export type { Section } from './profile-values';
export {
  kvTimingFromXpydProfile,
  polynomialFromXpydProfile,
  polynomialToXpydProfile,
} from './xpyd-profile';
