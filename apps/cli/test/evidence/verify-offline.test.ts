import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { programEnvironment } from '@svc/devnet/program-environment'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import vectors from '../../../../vectors/protocol.json' with { type: 'json' }

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const noNetwork = new URL('../programs/no-network.ts', import.meta.url).href
const key = vectors.keys.statement_signing.public_key_hex

let folder: string
let bundle: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-offline-'))
  bundle = join(folder, 'bundle.json')
  await writeFile(bundle, JSON.stringify(vectors.evidence_bundle_v2_example))
})
afterAll(() => rm(folder, { recursive: true }))

function svc(...args: string[]) {
  const env = programEnvironment({ HOME: folder })
  return spawnSync(process.execPath, ['--import', noNetwork, main, ...args], { env, encoding: 'utf8', timeout: 20_000 })
}

describe('svc verify without a network', () => {
  it('CLI-02 CLI-04 verifies a bundle without opening a connection', { tags: ['nightly'] }, () => {
    const { status, stdout, stderr } = svc('verify', bundle, '--keys', key, '--gateway', 'https://gateway.example')
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('✓ key_pinned')
  })

  it.each(['--rpc', '--primary-rpc'])(
    'CLI-03 contacts a node only when %s names one',
    { tags: ['nightly'] },
    (option) => {
      const { stdout, stderr } = svc('verify', bundle, '--keys', key, option, 'http://127.0.0.1:8899')
      expect(stderr).toContain('NETWORK')
      expect(stdout).toMatch(/– anchor_tx_succeeded +unavailable: the node does not answer/)
    },
  )

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'exits with 130 when %s interrupts it',
    { tags: ['nightly'] },
    async (signal) => {
      const child = spawn(process.execPath, [main, 'verify', '-'], {
        env: programEnvironment({ HOME: folder }),
        stdio: ['pipe', 'ignore', 'pipe'],
      })
      const errors = text(child.stderr)
      // More than a pipe buffers: once all of it is written, the program is reading.
      await new Promise((resolve) => child.stdin.write(`{"schema":"${'x'.repeat(1_000_000)}`, resolve))
      child.kill(signal)
      expect(await once(child, 'exit')).toEqual([130, null])
      expect(await errors).toContain('interrupted')
    },
  )
})
