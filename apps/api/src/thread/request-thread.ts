import { workerData } from 'node:worker_threads';
import { serveWork } from '../work-pool/serve-work';
import { openTextParts } from '../request/plan/text-setup';
import type { ThreadData } from '../request/threads/messages';
import { RequestReader } from './request-reader';

// A thread of the API: reads, plans and answers requests that would block the event loop.
const data = workerData as ThreadData;
void openTextParts(data.config, data.datasetTokens).then((parts) => {
  const reader = new RequestReader(data, parts);
  serveWork((task) => reader.perform(task));
});
