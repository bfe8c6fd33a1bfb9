import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProcess } from '@svc/devnet/start-process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import vectors from '../../../../vectors/protocol.json' with { type: 'json' }

const main = fileURLToPath(new URL('../../src/bin/svc.ts', import.meta.url))
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

const start = (...args: string[]) => startProcess(process.execPath, { args, env: { HOME: folder } })
const svc = (...args: string[]) => start('--import', noNetwork, main, ...args).ended

describe('svc verify without a network', () => {
  it('CLI-02 CLI-04 verifies a bundle without opening a connection', { tags: ['nightly'] }, async () => {
    const { code, stdout, stderr } = await svc('verify', bundle, '--keys', key, '--gateway', 'https://gateway.example')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('✓ key_pinned')
  })

  it.each(['--rpc', '--primary-rpc'])(
    'CLI-03 contacts a node only when %s names one',
    { tags: ['nightly'] },
    async (option) => {
      const { stdout, stderr } = await svc('verify', bundle, '--keys', key, option, 'http://127.0.0.1:8899')
      expect(stderr).toContain('NETWORK')
      expect(stdout).toMatch(/– anchor_tx_succeeded, .* unavailable: the node does not answer/)
    },
  )

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'exits with 130 when %s interrupts it',
    { tags: ['nightly'] },
    async (signal) => {
      const { stdin, kill } = start(main, 'verify', '-')
      // More than a pipe buffers: once all of it is written, the program is reading.
      await new Promise((resolve) => stdin.write(`{"schema":"${'x'.repeat(1_000_000)}`, resolve))
      expect(await kill(signal)).toMatchObject({ code: 130, stderr: expect.stringContaining('interrupted') })
    },
  )
})
