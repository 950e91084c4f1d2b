import { createServer } from 'node:http';

/**
 * Relays between two servers and corrupts the bytes.
 *
 * @param target origin of the server behind it
 * @param spoil an async generator of what the reader gets, from what the server sends
 */
export async function startRelay(target, spoil) {
  const relay = { reads: 0, releases: 0 };
  const http = createServer(async (request, response) => {
    if (request.method === 'DELETE') relay.releases += 1;
    else relay.reads += 1;
    const answer = await fetch(`${target}${request.url}`, { method: request.method });
    response.writeHead(answer.status);
    try {
      for await (const part of spoil(answer.body ?? [])) {
        if (response.destroyed) break;
        response.write(part);
      }
      response.end();
    } catch {
      response.destroy();
    } finally {
      if (answer.body?.locked === false) await answer.body.cancel();
    }
  });
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address();
  const close = () => {
    http.closeAllConnections();
    http.close();
  };
  return Object.assign(relay, { port, origin: `http://127.0.0.1:${port}`, close });
}
