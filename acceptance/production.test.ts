// @module-tag nightly

// The program that the container image and the systemd units run: `dist/production` with Node and nothing else, by a
// user who can write only to the data folder.

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFreshDatabase, type FreshDatabase } from '@svc/devnet/databases'
import { freePort } from '@svc/devnet/free-port'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { startProcess, untilItAnswers } from '@svc/devnet/start-process'
import { toBase58, toHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildProduction, treeBytes } from '../scripts/build-production.ts'

const NOBODY = 65532
/** Tests run as root in a container, and as an ordinary user elsewhere. */
const IS_ROOT = process.getuid?.() === 0
const AS_NOBODY = IS_ROOT ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : []
const STRONG_SECRET = 'at-least-twenty-four-characters'

let folder: string
let chains: LocalChains
let database: FreshDatabase
const inFolder = (name: string) => join(folder, name)

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-production-'))
  chmodSync(folder, 0o755)
  ;[chains, database] = await Promise.all([startLocalChains(), createFreshDatabase('postgres')])
  await buildProduction(inFolder('svc'))
  execFileSync('chmod', ['-R', 'a-w,a+rX', inFolder('svc')])
  cpSync(process.execPath, inFolder('node'))
  mkdirSync(inFolder('data'))
  for (const [index, name] of ['statement', 'publication', 'short-url'].entries())
    writePrivate(`data/${name}.key`, toHex(new Uint8Array(32).fill(index + 1)))
  const seed = DEMO_PAYERS[0]!.privateKeyBytes
  writePrivate('data/wallet.json', JSON.stringify([...seed, ...ed25519Signer(seed).publicKey]))
  writePrivate('data/file.txt', 'worth keeping')
  if (IS_ROOT) chownSync(inFolder('data'), NOBODY, NOBODY)
})
afterAll(async () => {
  await chains.stop()
  await database.drop()
  execFileSync('chmod', ['-R', 'u+w', folder])
  rmSync(folder, { recursive: true })
})

function writePrivate(name: string, text: string): void {
  writeFileSync(inFolder(name), text, { mode: 0o600 })
  if (IS_ROOT) chownSync(inFolder(name), NOBODY, NOBODY)
}

/** Starts with exactly these variables, and none of the machine. */
function start(program: string, args: string[], env: Readonly<Record<string, string | undefined>>) {
  const variables = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`))
  const command = [...AS_NOBODY, inFolder('node'), inFolder(`svc/${program}`), ...args]
  return startProcess('env', { args: ['-i', ...variables, ...command], cwd: inFolder('data') })
}

it('ADD-34 the production tree runs its processes, threads, pages and commands read-only and without privileges', async () => {
  expect(treeBytes(inFolder('svc'))).toBeLessThan(60_000_000)
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const gateway = start('apps/gateway/bin/svc-gateway.mjs', ['start'], {
    PRIMARY_RPC_URLS: chains.primary.url,
    PRIMARY_TREASURY: toBase58(ed25519Signer(new Uint8Array(32).fill(9)).publicKey),
    FALLBACK_USD: 'SOL=150',
    ORACLE_URL: chains.rates.url,
    SVC_MODE: 'production',
    BASE_URL: url,
    PORT: port,
    DATA_DIR: inFolder('data'),
    DATABASE_URL: database.url,
    PROCESSES: '2',
    STATEMENT_KEY_FILE: 'statement.key',
    PUBLICATION_KEY_FILE: 'publication.key',
    SHORT_URL_KEY_FILE: 'short-url.key',
    INTERNAL_SECRET: STRONG_SECRET,
    LOCAL_PROVIDERS: 'gcs',
    PUBLISH: 'on_request',
  })
  await untilItAnswers(`${url}/health/live`, gateway)
  const page = await fetch(`${url}/verify`, { headers: { accept: 'text/html' } })
  expect(await page.text()).toContain('<!doctype html>')

  const svc = async (...args: string[]) => {
    const env = {
      SVC_GATEWAY: url,
      SVC_WALLET: 'wallet.json',
      SVC_PRIMARY_RPC: chains.primary.url,
      HOME: inFolder('data'),
    }
    const { code, stdout, stderr } = await start('apps/cli/bin/svc.mjs', args, env).ended
    expect(code, stdout + stderr).toBe(0)
    return stdout
  }
  await svc('buy', '--asset', 'SOL', '--name', 'first', '--yes')
  await svc('put', 'file.txt')
  await svc('attest')
  await svc('bundle', '-o', 'bundle.json')
  expect(await svc('verify', 'bundle.json')).toContain('✓ signature_valid')

  const { code, stdout, stderr } = await gateway.kill('SIGTERM')
  expect(code, stdout + stderr).toBe(0)
  expect(stdout).not.toMatch(/"level":(50|60)/)
})

it('ADD-34 WIT-09 the agent service and a witness start from the production tree, and its bill of materials is complete', async () => {
  const port = String(await freePort())
  const agent = start('apps/agent/bin/svc-agent.mjs', [], {
    ...chains.agentVariables,
    SVC_MODE: 'development',
    PORT: port,
    DATA_DIR: inFolder('data/agent'),
  })
  await untilItAnswers(`http://127.0.0.1:${port}/health`, agent)
  await agent.kill('SIGTERM')

  const witnessPort = String(await freePort())
  const witness = start('apps/witness/bin/svc-witness.mjs', [], {
    PORT: witnessPort,
    DATA_DIR: inFolder('data/witness'),
  })
  const page = `http://127.0.0.1:${witnessPort}/`
  await untilItAnswers(page, witness)
  expect(await (await fetch(page)).text()).toContain('witness localhost:')
  expect(await witness.kill('SIGTERM')).toMatchObject({ code: 0 })

  const { components } = JSON.parse(readFileSync(inFolder('svc/sbom.cdx.json'), 'utf8'))
  const names = components.map(({ name }: { name: string }) => name)
  expect(names).toEqual(expect.arrayContaining(['find-my-way', 'kysely', 'viem', 'pg', 'mongodb', 'preact']))
  for (const tool of ['vite', 'rolldown', 'vitest', 'litesvm', 'typescript']) expect(names).not.toContain(tool)
  // One build serves all platforms.
  const files = readdirSync(inFolder('svc'), { recursive: true, encoding: 'utf8' })
  expect(files.filter((file) => file.endsWith('.node'))).toEqual([])
})
