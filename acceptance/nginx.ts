// A real nginx with a shipped configuration, in which only the lines that an admin edits are changed.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@svc/devnet/free-port'
import { change, makeFolder, type RunningProxy, runProxy } from './proxy.ts'

const SHIPPED = new URL('../deploy/nginx/svc.conf', import.meta.url)
const SHIPPED_WITH_COMPOSE = new URL('../deploy/compose/nginx.conf', import.meta.url)

export interface Nginx extends RunningProxy {
  tlsUrl: string
  /** The self-signed certificate of the server. */
  certificate: string
  /** The URL that redirects to TLS. */
  redirectUrl: string
}

interface NginxOptions {
  /** Ports of the gateways on this machine. */
  replicas: readonly (number | string)[]
  port?: number
  /** Whether the gateway is below `/svc`, as the comments of the file say. */
  isBelowPrefix?: boolean
}

export async function startNginx({ replicas, port, isBelowPrefix = false }: NginxOptions): Promise<Nginx> {
  const folder = await makeFolder()
  const [anyPort, tlsPort, redirectPort] = await Promise.all([freePort(), freePort(), freePort()])
  const ownPort = port ?? anyPort
  makeCertificate(folder)
  const shipped = await readFile(SHIPPED, 'utf8')
  const site = change(isBelowPrefix ? withPrefix(shipped) : shipped, [
    [/ {4}server 10\.0\.0\.11:8402 (.*)\n.*\n/, (options) => servers(replicas, options)],
    // Listens without TLS too: most requests of the tests use that port.
    [/listen 443 ssl http2;/, () => `listen 127.0.0.1:${tlsPort} ssl http2; listen 127.0.0.1:${ownPort};`],
    [/listen 80;/, () => `listen 127.0.0.1:${redirectPort};`],
    [/\/etc\/nginx\/tls\/gateway\.example\.pem/, () => join(folder, 'tls.pem')],
    [/\/etc\/nginx\/tls\/gateway\.example\.key/, () => join(folder, 'tls.key')],
  ])
  return {
    ...(await runNginx(folder, ownPort, site)),
    tlsUrl: `https://127.0.0.1:${tlsPort}`,
    certificate: await readFile(join(folder, 'tls.pem'), 'utf8'),
    redirectUrl: `http://127.0.0.1:${redirectPort}`,
  }
}

export interface ComposeNginx extends RunningProxy {
  witnessUrl: string
}

/** The proxy of the compose file, with one gateway that also acts as the agent service and the witness. */
export async function startComposeNginx(gateway: number, port: number): Promise<ComposeNginx> {
  const folder = await makeFolder()
  const [agentPort, witnessPort] = await Promise.all([freePort(), freePort()])
  const site = change(await readFile(SHIPPED_WITH_COMPOSE, 'utf8'), [
    [/ {2}server gateway-1:8402 (.*)\n.*\n/, (options) => servers([gateway], options)],
    [/server agent:8403;/, () => `server 127.0.0.1:${gateway};`],
    [/server witness:8404;/, () => `server 127.0.0.1:${gateway};`],
    [/listen 8080;/, () => `listen 127.0.0.1:${port};`],
    [/listen 8081;/, () => `listen 127.0.0.1:${agentPort};`],
    [/listen 8082;/, () => `listen 127.0.0.1:${witnessPort};`],
  ])
  return {
    ...(await runNginx(folder, port, site)),
    witnessUrl: `http://127.0.0.1:${witnessPort}`,
  }
}

function servers(replicas: readonly (number | string)[], options: string): string {
  return replicas.map((port) => `    server 127.0.0.1:${port} ${options}\n`).join('')
}

/** Uncomments the end of the file, which replaces the locations before it. */
function withPrefix(text: string): string {
  const [before = '', commented = ''] = text.split(/ {4}# Below a prefix instead:.*\n(?: {4}# .*\n)* {4}#\n/)
  const lines = commented.replace(/^ {4}# ?/gm, '')
  const [, map = '', locations = ''] = /^(map .*?\n\}\n)(.*)\}\s*$/s.exec(lines) ?? []
  if (!map || !locations) throw new Error('deploy/nginx/svc.conf has no prefix form')
  const server = before.slice(0, before.indexOf('    # The path unchanged'))
  return `${map}${server}${locations}}\n`
}

const SPOOLS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

async function runNginx(folder: string, port: number, site: string): Promise<RunningProxy> {
  await writeFile(join(folder, 'svc.conf'), site.replaceAll('/var/log/nginx', folder))
  await writeFile(join(folder, 'nginx.conf'), surroundings(folder))
  const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;']
  const nginx = await runProxy(folder, port, nginxPath(), args)
  // Without these folders, a request or a response that nginx would write to disk fails.
  for (const spool of SPOOLS) await rm(join(folder, spool), { recursive: true })
  return nginx
}

/** The settings around the sites in Debian and the container image, without root, in one folder, with verbose logs. */
function surroundings(folder: string): string {
  return `pid ${folder}/nginx.pid;
error_log ${folder}/error.log info;
events { worker_connections 256; }
http {
  access_log ${folder}/access.log;
  ${SPOOLS.map((spool) => `${spool}_temp_path ${folder}/${spool};`).join('\n  ')}
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
