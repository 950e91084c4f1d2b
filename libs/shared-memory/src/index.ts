export { type Lease, LeaseTable } from './lease-table';
export { SharedInstant } from './shared-instant';
export { watchHeartbeat } from './watch-heartbeat';
