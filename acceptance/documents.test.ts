// Every command of every document, run as a reader would: in a clone, while `npm start` runs, in one shell from top to
// bottom.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '@svc/devnet/free-port'
import { startProcess } from '@svc/devnet/start-process'
import { VERSION } from '@svc/protocol/version'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { type Document, readDocuments } from './documents.ts'
import { NODES } from './nodes.ts'
import { useNpmStart } from './npm-start.ts'

const root = new URL('..', import.meta.url)
const documents = readDocuments(root)
const service = useNpmStart()

let folder: string
let ports: Map<string, string>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-documents-'))
  const { gateway, agent, witness, primaryChain, evmChain } = service
  const started = { 8402: gateway, 8403: agent, 8404: witness, 8899: primaryChain, 8545: evmChain }
  ports = new Map(Object.entries(started).map(([port, address]) => [port, new URL(address).port]))
  // The port of the admin's own gateway.
  ports.set('8412', String(await freePort()))
})
afterAll(() => rm(folder, { recursive: true }))

/** One reader of each Node follows these in order, with one home folder. */
const START = ['developer', 'agents', 'admin'].map((name) => `docs/start/${name}.md`)

function homeOf(name: string, version: string): string {
  return join(folder, 'homes', version, START.includes(name) ? 'start' : name.replaceAll('/', '-'))
}

/** The repository as links, so that commands write nothing into it. */
async function openClone(name: string, version: string): Promise<string> {
  const clone = join(folder, version, name.replaceAll('/', '-'))
  await mkdir(clone, { recursive: true })
  await mkdir(homeOf(name, version), { recursive: true })
  const isOurs = (entry: string) => !['.git', 'data', 'dist', 'photos'].includes(entry)
  for (const entry of (await readdir(root)).filter(isOurs))
    await symlink(fileURLToPath(new URL(entry, root)), join(clone, entry))
  await mkdir(join(clone, 'photos'))
  await writeFile(join(clone, 'photos/beach.txt'), 'sand')
  // Git does not follow a link to .gitignore.
  await rm(join(clone, '.gitignore'))
  await copyFile(new URL('.gitignore', root), join(clone, '.gitignore'))
  await git(clone, 'init', '--quiet')
  await git(clone, 'add', '--all')
  return clone
}

/** Files that the commands wrote, that only their owner may read, and that `git add` would add. */
async function exposedKeys(clone: string): Promise<string[]> {
  const written = await git(clone, 'ls-files', '--others', '--exclude-standard', '-z')
  const names = written.split('\0').filter((name) => name !== '')
  const isPrivate = (name: string) => (statSync(join(clone, name)).mode & 0o077) === 0
  return names.filter(isPrivate)
}

async function git(clone: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await startProcess('git', { args: ['-C', clone, ...args], env: { HOME: folder } })
    .ended
  expect(code, stderr).toBe(0)
  return stdout
}

/** Does what npx does in a clone, in a third of the time; another test runs the real npx. */
const NPX = `npx() {
  if [ "$1" = -c ]; then command npx "$@"; return; fi
  local program=$1; shift; "$CLONE/node_modules/.bin/$program" "$@"
}
svc() { npx svc "$@"; }`

function runCommands({ path, commands }: Document, version: string): Promise<void> {
  const steps = commands.map(({ line, code }) => `echo "→ line ${line}"\n${withPorts(code)}`)
  return runShell(path, [NPX, ...steps], version)
}

/** The machine's own Node. */
const OWN = [...NODES.keys()].at(-1) as string // the one that runs this test is listed, too

/** Runs the commands in one shell, which ends at the first command that fails. */
async function runShell(name: string, commands: readonly string[], version = OWN): Promise<void> {
  const clone = await openClone(name, version)
  const { stdin, ended } = startProcess('bash', {
    args: ['-c', ['set -euo pipefail', ...commands].join('\n')],
    cwd: clone,
    isGroup: true,
    env: {
      PATH: NODES.get(version),
      HOME: homeOf(name, version),
      CLONE: clone,
      SVC_GATEWAY: service.gateway,
      SVC_AGENT: service.agent,
      SVC_PRIMARY_RPC: service.primaryChain,
      SVC_EVM_RPC: service.evmChain,
      GATEWAY: service.gateway,
      RPC: service.primaryChain,
      npm_config_update_notifier: 'false',
    },
  })
  stdin.end()
  const { code, stdout, stderr } = await ended
  expect(code, `${name}\n${stdout}\n${stderr}`).toBe(0)
  expect(await exposedKeys(clone), `${name} writes keys that git does not ignore`).toEqual([])
}

function withPorts(code: string): string {
  return code.replace(/(?<=localhost:|PORT=)\d+/g, (port) => ports.get(port) ?? port)
}

const CONFIGURATION = /mcpServers|claude mcp add/g

describe('the commands of the documents', () => {
  const withCommands = documents
    .filter(({ commands }) => commands.length > 0)
    .sort((a, b) => START.indexOf(a.path) - START.indexOf(b.path))

  it('include all guides', () => {
    const guides = documents.map(({ path }) => path).filter((path) => path.startsWith('docs/start/'))
    expect(withCommands.map(({ path }) => path)).toEqual(expect.arrayContaining(START))
    expect(guides).toEqual(START.toSorted())
  })

  it.each(
    withCommands.flatMap((document) => {
      const versions = START.includes(document.path) ? [...NODES.keys()] : [OWN]
      return versions.map((version) => [document.path, version, document] as const)
    }),
  )('work in %s with Node %s on the PATH', { tags: ['nightly'] }, (_, version, document) =>
    runCommands(document, version),
  )

  it('find our programs with npx in a clone', { tags: ['nightly'] }, () =>
    runShell('npx', ['npx svc --version', 'npx svc-gateway --help', 'npx svc mcp --version']),
  )

  it('work when pasted from the output of npm start', { tags: ['nightly'] }, async () => {
    const [, printed = ''] = /Try, in another terminal:\n\n(.*?)\n\nStop/s.exec(service.output) ?? []
    expect(printed).toContain('npx svc buy')
    await runShell('npm-start', [printed])
  })

  it('are marked with another test or a reason where this test does not run them', () => {
    const marked = documents.flatMap((document) => document.marked)
    for (const mark of marked) {
      const test = /: run by (\S+)$/.exec(mark)?.[1]
      if (test) expect(existsSync(new URL(test, root)), mark).toBe(true)
    }
    expect(marked).toEqual([
      'apps/cli/README.md: run by acceptance/one-file.test.ts',
      'apps/cli/README.md: not run: needs Claude Code',
      'apps/web/README.md: run by acceptance/start.test.ts',
      'apps/witness/README.md: not run: a production host with its key',
      'apps/witness/README.md: not run: an alarm that was saved',
      'bench/README.md: not run: takes hours',
      'deploy/README.md: run by acceptance/production.test.ts',
      'deploy/README.md: not run: needs Docker and images from the network',
      'deploy/README.md: not run: needs Docker and images from the network',
      'deploy/README.md: not run: changes the machine',
      'docs/agent.md: not run: a production host with its keys and nodes',
      'docs/gateway.md: run by apps/gateway/test/publication/registry.test.ts',
      'docs/gateway.md: run by apps/gateway/test/bin/deploy-evm-registry.test.ts',
      'docs/import-attestations.md: run by apps/gateway/test/bin/import-attestations.test.ts',
      'docs/operations.md: run by apps/gateway/test/bin/migrate-to-postgres.test.ts',
      'docs/operations.md: run by apps/gateway/test/bin/backup.test.ts',
      'docs/operations.md: run by apps/gateway/test/keys/rotation.test.ts',
      'docs/operations.md: run by apps/gateway/test/keys/rotation.test.ts',
      'docs/operations.md: run by apps/gateway/test/keys/rotation.test.ts',
      'docs/operations.md: run by apps/gateway/test/bin/operate.test.ts',
      'docs/packages.md: run by acceptance/one-file.test.ts',
      'docs/transparency.md: not run: needs cosign, which is not in Debian 12',
      'fuzz/README.md: not run: takes an hour',
      'packages/sdk/README.md: run by acceptance/one-file.test.ts',
      'verifiers/python/README.md: run by packages/verifier/test/python/python.node.test.ts',
    ])
  })

  it('T-197 configure MCP clients with a root, as the welcome page does', () => {
    const page = readFileSync(new URL('apps/web/src/pages/welcome/ways.tsx', root), 'utf8')
    const count = (text: string, words: RegExp) => text.match(words)?.length ?? 0
    const shown = [page, ...documents.map(({ text }) => text)].filter((text) => count(text, CONFIGURATION) > 0)
    expect(shown).toHaveLength(3)
    for (const text of shown)
      expect(count(text, /SVC_MCP_ROOT["':=]/g), text).toBeGreaterThanOrEqual(count(text, CONFIGURATION))
  })

  it('name the packed files by the version that the build gives them', () => {
    const names = documents.flatMap(({ text }) => [...text.matchAll(/\bsvc(?:-sdk)?-(\d[\d.]+)\.tgz/g)])
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter(([, version]) => version !== VERSION).map(([name]) => name)).toEqual([])
  })

  it('are in fences marked as shell, never in plain text', () => {
    expect(documents.flatMap(({ hidden }) => hidden)).toEqual([])
  })

  it('name only scripts of package.json, and the README has the essential ones', () => {
    const { scripts } = packageJson as { scripts: Record<string, string> }
    const today = documents.filter(({ path }) => path !== 'CHANGELOG.md')
    const named = today.flatMap(({ text }) => [...text.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name]) => name))
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named))
    const readme = documents.find(({ path }) => path === 'README.md')?.text
    for (const command of ['npm start', 'npm test', 'npm run demo']) expect(readme).toContain(command)
  })
})
