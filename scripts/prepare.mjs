// Runs before npm's scripts, on Node 20 or newer: plain JavaScript without dependencies. Installs missing packages and
// reports that; a second run takes a few milliseconds. `npm start` and `npm run demo` get only what they run; every other
// script gets all packages, and `--for-tests` also installs the programs that only tests use.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const packages = `${root}node_modules`
const stamp = `${packages}/.svc-installed`
const ownNode = `${packages}/.bin/node`
const browsers = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const quietly = ['--no-audit', '--no-fund', '--no-progress', '--loglevel=error']

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  prepare({ toRun: process.argv.includes('--to-run') })
  if (process.argv.includes('--for-tests')) installPrograms()
}

/** With `toRun`, prepares only what the services and the command line need. */
export function prepare({ toRun }) {
  installPackages(toRun)
  installNode24()
  if (!toRun) makeVectors()
}

function installPackages(toRun) {
  const wanted = lockHash()
  const [installed, extent] = existsSync(stamp) ? readFileSync(stamp, 'utf8').split(' ') : []
  if (installed === wanted && (toRun || extent === 'all')) return
  console.log('Installing dependencies (a minute or so, once)…')
  const omitted = toRun ? ['--omit=dev', '--omit=peer'] : []
  run(
    'npm',
    ['install', ...omitted, ...quietly],
    root,
    'Could not install the dependencies. Check the connection to the npm registry and run the command again.',
  )
  if (toRun) removeUnused()
  writeFileSync(stamp, `${lockHash()} ${toRun ? 'run' : 'all'}`)
}

/** Removes a third of what npm installs: local chains for other platforms, and optional parts of packages. */
function removeUnused() {
  const chains = `${packages}/@nomicfoundation`
  const libc = process.platform === 'linux' && existsSync('/etc/alpine-release') ? '-musl' : '-gnu'
  const suffix = { linux: libc, win32: '-msvc' }[process.platform] ?? ''
  const own = `edr-${process.platform}-${process.arch}${suffix}`
  const others = readdirSync(chains).filter((name) => name.startsWith('edr-') && name !== own)
  const unused = [...others.map((name) => `${chains}/${name}`), `${packages}/@typescript`, `${packages}/@napi-rs`]
  for (const folder of unused) rmSync(folder, { recursive: true, force: true })
}

/** The programs are TypeScript, which Node 24 runs directly. */
function installNode24() {
  if (isNode24(process.version)) return
  const version = existsSync(ownNode) ? versionOf(ownNode) : versionOf('node')
  if (isNode24(version)) return
  const folder = `${root}scripts/node`
  const program = `${folder}/node_modules/node-${process.platform}-${process.arch}`
  const platforms = ['linux-arm64', 'linux-x64']
  if (!platforms.includes(`${process.platform}-${process.arch}`)) {
    fail(
      `This project runs on Node 24 or newer; found ${version}. On Linux (x64, arm64) it installs its own; on other systems, install Node 24.`,
    )
  }
  console.log(`Installing Node 24, because the one here is ${version}…`)
  run('npm', ['ci', ...quietly], folder, 'Could not install Node 24: install it yourself and run the command again.')
  rmSync(`${program}/include`, { recursive: true, force: true })
  mkdirSync(`${packages}/.bin`, { recursive: true })
  rmSync(ownNode, { force: true })
  symlinkSync(`${program}/bin/node`, ownNode)
}

/** Writes the conformance pack, which types and tests import. */
function makeVectors() {
  const digests = readFileSync(`${root}vectors/SHA256SUMS`, 'utf8')
  const madeFor = `${packages}/.svc-vectors`
  const isMade =
    existsSync(`${root}vectors/bundles`) && existsSync(madeFor) && readFileSync(madeFor, 'utf8') === digests
  if (isMade) return
  const node = isNode24(process.version) ? process.execPath : existsSync(ownNode) ? ownNode : 'node'
  run(node, [`${root}vectors/make-bundles.ts`], root, 'Could not write the conformance pack.')
  writeFileSync(madeFor, digests)
}

function versionOf(node) {
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? ''
}

function isNode24(version) {
  return Number(version.slice(1).split('.')[0]) >= 24
}

function installPrograms() {
  const missing = [
    ...(process.env.CHROMIUM_PATH || browsers.some(onPath) ? [] : ['chromium']),
    ...(process.env.NGINX_PATH || existsSync('/usr/sbin/nginx') || onPath('nginx') ? [] : ['nginx']),
    ...(onPath('openssl') ? [] : ['openssl']),
    ...(onPath('ssh-agent') ? [] : ['openssh-client']),
  ]
  if (missing.length === 0) return
  const isRootOnDebian = process.getuid?.() === 0 && onPath('apt-get')
  if (!isRootOnDebian)
    fail(
      `The tests need Chromium, nginx, openssl and ssh-agent: install ${missing.join(' and ')}, or set CHROMIUM_PATH and NGINX_PATH to binaries.`,
    )
  console.log(`Installing ${missing.join(' and ')} for the tests…`)
  run('apt-get', ['update', '-qq'], root, 'apt-get update failed.')
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], root, 'Could not install them.')
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(`${root}package-lock.json`))
    .digest('hex')
}

function onPath(command) {
  return spawnSync('which', [command], { stdio: 'ignore' }).status === 0
}

function run(command, args, folder, advice) {
  const { status } = spawnSync(command, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) fail(advice)
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
