// `npm run test:image`: builds and runs the container image, and checks the alert rules with promtool. Needs Linux and
// root; installs buildah and prometheus if they are missing (Debian). The base image is built from this machine's Node,
// because base images cannot be downloaded everywhere.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { buildProduction } from './build-production.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PORT = '18499'
/** An absolute path, because the variables, including PATH, are the image's. */
const CHROOT = '/usr/sbin/chroot'
const env = { ...process.env, BUILDAH_ISOLATION: 'chroot' }
const folder = mkdtempSync(join(tmpdir(), 'svc-image-'))
const inFolder = (name: string) => join(folder, name)

function run(command: string, ...args: string[]): string {
  console.log(`$ ${command} ${args.join(' ')}`)
  return execFileSync(command, args, { cwd: ROOT, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
}

const buildah = (...args: string[]) =>
  run('buildah', '--storage-driver', 'vfs', '--root', inFolder('images'), '--runroot', inFolder('run'), ...args)

try {
  install({ promtool: 'prometheus', buildah: 'buildah' })
  checkAlerts()
  await buildImage()
  await runImage()
  console.log('the image and the alert rules passed')
} finally {
  if (existsSync(inFolder('images'))) buildah('umount', '--all')
  rmSync(folder, { recursive: true, force: true })
}

function install(programs: Record<string, string>): void {
  const missing = Object.entries(programs).filter(([program]) => spawnSync('which', [program]).status !== 0)
  if (missing.length === 0) return
  run('apt-get', 'update', '-qq')
  run('apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...missing.map(([, name]) => name))
}

function checkAlerts(): void {
  run('promtool', 'check', 'config', '--syntax-only', 'deploy/prometheus/prometheus.yml')
  run('promtool', 'check', 'rules', 'deploy/prometheus/alerts.yml')
  console.log(run('promtool', 'test', 'rules', 'deploy/prometheus/alerts.test.yml'))
}

/** Passes the stage `build` as a folder, because the stage would download all dependencies again. */
async function buildImage(): Promise<void> {
  await buildProduction(inFolder('build/src/dist/production'))
  mkdirSync(inFolder('build/data'))
  makeBase(inFolder('base'))
  const base = buildah('from', 'scratch')
  buildah('copy', base, inFolder('base'), '/')
  buildah('commit', base, 'svc-base')
  const contexts = ['--build-context', `build=${inFolder('build')}`]
  const images = ['--build-arg', 'BASE_IMAGE=localhost/svc-base', '--build-arg', 'BUILD_IMAGE=localhost/svc-base']
  buildah('build', '--format', 'docker', ...contexts, ...images, '-f', 'deploy/Dockerfile', '-t', 'svc', ROOT)
}

/** Copies only Node with its libraries; the base has no shell. */
function makeBase(target: string): void {
  const node = process.execPath
  const libraries = run('ldd', node).match(/\/\S+\.so\S*/g) ?? []
  for (const [file, path] of [[node, '/nodejs/bin/node'], ...libraries.map((library) => [library, library])] as const) {
    mkdirSync(dirname(join(target, path as string)), { recursive: true })
    copyFileSync(file as string, join(target, path as string))
  }
  mkdirSync(join(target, 'etc'))
  writeFileSync(join(target, 'etc/passwd'), 'nonroot:x:65532:65532:nonroot:/:/sbin/nologin\n')
  mkdirSync(join(target, 'tmp'), { mode: 0o1777 })
}

interface ImageConfig {
  User: string
  Entrypoint: string[]
  Cmd: string[]
  Env: string[]
  WorkingDir: string
  Healthcheck: { Test: string[] }
}

/** Runs the image's content in a chroot with its own command, user and variables, until its health check passes. */
async function runImage(): Promise<void> {
  const { Docker } = JSON.parse(buildah('inspect', '--type', 'image', 'svc')) as { Docker: { config: ImageConfig } }
  const { User, Entrypoint, Cmd, Env, WorkingDir, Healthcheck } = Docker.config
  const root = buildah('mount', buildah('from', 'svc'))
  const enter = (command: string[]) => [
    '--userspec',
    User,
    root,
    '/nodejs/bin/node',
    '-e',
    enterProgram(WorkingDir, command),
  ]
  const variables = { ...Object.fromEntries(Env.map((entry) => entry.split(/=(.*)/s))), PORT, SVC_MODE: 'development' }
  const gateway = spawn(CHROOT, enter([...Entrypoint, ...Cmd]), { env: variables, stdio: 'inherit' })
  try {
    const [, ...check] = Healthcheck.Test
    for (let attempt = 0; spawnSync(CHROOT, enter(check), { env: variables }).status !== 0; attempt++) {
      if (attempt === 60 || gateway.exitCode !== null) throw new Error('the health check of the image fails')
      await setTimeout(1000)
    }
    console.log('the health check of the image passes')
    const bytes = Number(run('du', '-sb', join(root, 'svc')).split('\t')[0])
    console.log(`the image without its base: ${Math.round(bytes / 1e6)} MB`)
    if (!readFileSync(join(root, 'svc/sbom.cdx.json'), 'utf8').includes('CycloneDX'))
      throw new Error('the image has no bill of materials')
  } finally {
    const ended = once(gateway, 'exit')
    if (gateway.kill('SIGTERM')) await ended
  }
}

/** A program that changes to the folder and runs the command: chroot cannot do that, and the image has no shell. */
function enterProgram(folder: string, [command, ...args]: string[]): string {
  const start = `require('node:child_process').spawn(${JSON.stringify(command)}, ${JSON.stringify(args)}, { stdio: 'inherit', cwd: ${JSON.stringify(folder)} })`
  return `const child = ${start}; process.on('SIGTERM', () => child.kill()); child.on('exit', (code) => process.exit(code ?? 1))`
}
