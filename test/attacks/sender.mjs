// A thread that sends requests, so that the thread that measures is not late because of them.
import { parentPort } from 'node:worker_threads';

parentPort.on('message', async ({ url, bytes, times }) => {
  const send = async () => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: bytes,
    });
    const body = await answer.arrayBuffer();
    const text = answer.ok ? '' : Buffer.from(body).toString();
    return { status: answer.status, text };
  };
  const settled = await Promise.allSettled(Array.from({ length: times }, send));
  const failed = ({ reason }) => ({ status: 0, text: String(reason?.cause ?? reason) });
  parentPort.postMessage(settled.map((one) => one.value ?? failed(one)));
});
