/* global clearTimeout */
// A control plane of Kubernetes on loopback: etcd, the API server and the controllers. It has no
// nodes, so pods stay pending.
import { spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demand, execute, until } from '../../compose/shell.mjs';
import { controlPlanePrograms } from './programs.mjs';

const LOOPBACK = '127.0.0.1';
const STOP_MS = 20_000;

/**
 * @returns `kubectl(words, input)`, `tls` (the certificate of the API server) and `stop()`. Rejects
 * when a program does not start; nothing is left running then.
 */
export async function startControlPlane() {
  const programs = await controlPlanePrograms();
  const folder = mkdtempSync(join(tmpdir(), 'baton-kubernetes-'));
  const started = [];
  const run = (name, flags) => started.push(startProgram(join(programs, name), flags, folder));
  const stop = async () => {
    for (const child of started.toReversed()) await stopped(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const [etcdPort, peerPort, apiPort, controllerPort] = await freePorts(4);
    run('etcd', etcdFlags(folder, etcdPort, peerPort));
    const token = writeSecrets(folder);
    run('kube-apiserver', apiFlags(folder, etcdPort, apiPort));
    const server = `https://${LOOPBACK}:${apiPort}`;
    const access = ['--server', server, '--token', token, '--insecure-skip-tls-verify'];
    const call = [join(programs, 'kubectl'), '--kubeconfig', '/dev/null', ...access];
    await until('the API server is ready', async () => {
      if (started.some(({ exitCode }) => exitCode !== null)) throw new Error(lastLines(folder));
      return (await execute([...call, 'get', '--raw', '/readyz'])).code === 0;
    });
    writeFileSync(join(folder, 'kubeconfig'), kubeconfig(server, token));
    run('kube-controller-manager', controllerFlags(folder, controllerPort));
    return {
      kubectl: (words, input) => demand([...call, ...words], { input, deadlineMs: 120_000 }),
      tls: {
        cert: readFileSync(join(folder, 'apiserver.crt')),
        key: readFileSync(join(folder, 'apiserver.key')),
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startProgram(path, flags, folder) {
  const log = openSync(join(folder, 'log'), 'a');
  return spawn(path, flags, { cwd: folder, stdio: ['ignore', log, log] });
}

async function stopped(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
}

function lastLines(folder) {
  const lines = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');
  return `a program of the control plane ended:\n${lines.slice(-10).join('\n')}`;
}

/** @returns the token of an administrator */
function writeSecrets(folder) {
  const token = randomBytes(16).toString('hex');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' });
  writeFileSync(join(folder, 'accounts.key'), pem, { mode: 0o600 });
  writeFileSync(join(folder, 'tokens.csv'), `${token},admin,admin,system:masters\n`);
  return token;
}

function etcdFlags(folder, port, peerPort) {
  const [client, peer] = [`http://${LOOPBACK}:${port}`, `http://${LOOPBACK}:${peerPort}`];
  return [
    ...['--data-dir', join(folder, 'etcd'), '--name', 'one', '--unsafe-no-fsync'],
    ...['--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
    ...['--initial-cluster', `one=${peer}`],
  ];
}

function apiFlags(folder, etcdPort, port) {
  const key = join(folder, 'accounts.key');
  return [
    ...['--etcd-servers', `http://${LOOPBACK}:${etcdPort}`],
    ...['--bind-address', LOOPBACK, '--secure-port', String(port), '--cert-dir', folder],
    ...['--service-cluster-ip-range', '10.0.0.0/24', '--authorization-mode', 'RBAC'],
    ...['--token-auth-file', join(folder, 'tokens.csv')],
    ...['--service-account-issuer', 'https://kubernetes.default.svc'],
    ...['--service-account-key-file', key, '--service-account-signing-key-file', key],
  ];
}

function controllerFlags(folder, port) {
  return [
    ...['--kubeconfig', join(folder, 'kubeconfig'), '--leader-elect=false'],
    ...['--bind-address', LOOPBACK, '--secure-port', String(port), '--cert-dir', folder],
    ...['--service-account-private-key-file', join(folder, 'accounts.key')],
    // Every second, so that a test need not wait 15 s for each decision.
    ...['--horizontal-pod-autoscaler-sync-period', '1s'],
  ];
}

function kubeconfig(server, token) {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
}

async function freePorts(count) {
  const servers = await Promise.all(Array.from({ length: count }, listening));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}

function listening() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, LOOPBACK, () => resolve(server));
  });
}
