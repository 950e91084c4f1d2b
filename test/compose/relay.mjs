// Forwards TCP and delivers the clients' data a constant time later: the delay of `tc netem` on the
// clients' side, for kernels without netem. Arguments: host, port (also the one it listens at),
// milliseconds.
import { connect, createServer } from 'node:net';

const [host, port, delayMs] = process.argv.slice(2);

const server = createServer((client) => {
  const target = connect(Number(port), host);
  const close = () => {
    client.destroy();
    target.destroy();
  };
  for (const socket of [client, target]) {
    socket.setNoDelay(true);
    socket.on('error', close);
    socket.on('close', close);
  }
  target.pipe(client);
  client.on('data', (bytes) => setTimeout(() => target.write(bytes), Number(delayMs)));
});
server.listen(Number(port));
process.once('SIGTERM', () => process.exit(0));
