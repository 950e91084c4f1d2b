export { Lockstep, type LockstepOptions, type LockstepRank, type StepShare } from './lockstep';
