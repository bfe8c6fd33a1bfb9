// Runs before every npm script, on any Node from 20 on: plain JavaScript, no dependencies. Installs what is missing and
// says so; a second run takes a few milliseconds.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const lockFile = `${root}package-lock.json`
const stamp = `${root}node_modules/.svc-installed`
const browsers = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

installPackages()
requireNode24()
if (process.argv.includes('--for-tests')) installPrograms()

function installPackages() {
  const wanted = lockHash()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  console.log('Installing dependencies (a minute or so, once)…')
  // `npm install`, not `npm ci`: the latter fails as soon as a registry lacks one optional package of another platform.
  run(
    'npm',
    ['install', '--no-progress', '--loglevel=error'],
    'Could not install the dependencies. Check the connection to the npm registry and run the command again.',
  )
  writeFileSync(stamp, lockHash())
}

function requireNode24() {
  if (Number(process.version.slice(1).split('.')[0]) >= 24) return
  const version = execFileSync('node', ['--version'], { encoding: 'utf8' }).trim()
  if (Number(version.slice(1).split('.')[0]) >= 24) return
  fail(
    `This project runs on Node 24 or newer; found ${version}. On Linux (x64, arm64) it installs its own; elsewhere please install Node 24.`,
  )
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
  run('apt-get', ['update', '-qq'], 'apt-get update failed.')
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], 'Could not install them.')
}

function lockHash() {
  return existsSync(lockFile) ? createHash('sha256').update(readFileSync(lockFile)).digest('hex') : 'none'
}

function onPath(command) {
  return spawnSync('which', [command], { stdio: 'ignore' }).status === 0
}

function run(command, args, advice) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) fail(advice)
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
