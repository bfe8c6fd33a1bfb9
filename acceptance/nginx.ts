// A real nginx with the configuration of deploy/nginx/svc.conf, in which only the lines that an operator changes are
// changed.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@svc/devnet/free-port'

export interface Nginx {
  url: string
  tlsUrl: string
  /** That of the server, signed by itself. */
  certificate: string
  stop(): Promise<void>
}

const SHIPPED = new URL('../deploy/nginx/svc.conf', import.meta.url)

interface NginxOptions {
  /** Ports of gateways on this machine. */
  replicas: readonly string[]
  /** Whether the gateway is below `/svc`, as the comments of the file say. */
  isBelowPrefix?: boolean
}

export async function startNginx({ replicas, isBelowPrefix = false }: NginxOptions): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-nginx-'))
  // Its workers are of another user where it is started by root.
  await chmod(folder, 0o755)
  const [port, tlsPort, redirectPort] = await Promise.all([freePort(), freePort(), freePort()])
  makeCertificate(folder)
  const shipped = await readFile(SHIPPED, 'utf8')
  const site = change(isBelowPrefix ? withPrefix(shipped) : shipped, [
    [/ {4}server 10\.0\.0\.11:8402 (.*)\n.*\n/, (options) => servers(replicas, options)],
    // The same server without TLS as well: most requests of the tests go there.
    [/listen 443 ssl http2;/, () => `listen 127.0.0.1:${tlsPort} ssl http2; listen 127.0.0.1:${port};`],
    [/listen 80;/, () => `listen 127.0.0.1:${redirectPort};`],
    [/\/etc\/nginx\/tls\/gateway\.example\.pem/, () => join(folder, 'tls.pem')],
    [/\/etc\/nginx\/tls\/gateway\.example\.key/, () => join(folder, 'tls.key')],
  ])
  await writeFile(join(folder, 'svc.conf'), site)
  await writeFile(join(folder, 'nginx.conf'), surroundings(folder))
  const child = spawn(nginxPath(), ['-p', folder, '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  await untilListening(child, port)
  return {
    url: `http://127.0.0.1:${port}`,
    tlsUrl: `https://127.0.0.1:${tlsPort}`,
    certificate: await readFile(join(folder, 'tls.pem'), 'utf8'),
    async stop() {
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      await exit
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function servers(replicas: readonly string[], options: string): string {
  return replicas.map((port) => `    server 127.0.0.1:${port} ${options}\n`).join('')
}

/** Fails when the file no longer has a line that is to be changed. */
function change(text: string, changes: [RegExp, (match: string) => string][]): string {
  return changes.reduce((changed, [pattern, replacement]) => {
    if (!pattern.test(changed)) throw new Error(`deploy/nginx/svc.conf has no ${pattern}`)
    return changed.replace(pattern, (_, match = '') => replacement(match))
  }, text)
}

/** Uncomments the end of the file, which stands in place of the two locations before it. */
function withPrefix(text: string): string {
  const [before = '', commented = ''] = text.split(/ {4}# Below a prefix instead:.*\n(?: {4}# .*\n)* {4}#\n/)
  const lines = commented.replace(/^ {4}# ?/gm, '')
  const [, map = '', locations = ''] = /^(map .*?\n\}\n)(.*)\}\s*$/s.exec(lines) ?? []
  if (!map || !locations) throw new Error('deploy/nginx/svc.conf has no prefix form')
  const server = before.slice(0, before.indexOf('    # The path as it came'))
  return `${map}${server}${locations}}\n`
}

/** What Debian's nginx.conf has around its sites, without root, in one folder. */
function surroundings(folder: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  )
  return `pid ${folder}/nginx.pid;
error_log ${folder}/error.log crit;
events { worker_connections 256; }
http {
  access_log off;
  ${temporary.join('\n  ')}
  include ${folder}/svc.conf;
}
`
}

function makeCertificate(folder: string): void {
  const subject = ['-subj', '/CN=gateway.example', '-addext', 'subjectAltName=DNS:gateway.example']
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const files = ['-keyout', join(folder, 'tls.key'), '-out', join(folder, 'tls.pem')]
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...key, ...subject, ...files], { stdio: 'ignore' })
}

function nginxPath(): string {
  if (process.env.NGINX_PATH) return process.env.NGINX_PATH
  return existsSync('/usr/sbin/nginx') ? '/usr/sbin/nginx' : 'nginx'
}

/** Only connects: a request would find no gateway yet, and nginx would pass over all of them for some seconds. */
async function untilListening(child: ChildProcess, port: number): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`)
    const socket = connect(port, '127.0.0.1')
    const isUp = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isUp) return
  }
}
