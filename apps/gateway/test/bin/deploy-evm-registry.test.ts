import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEV_PAYERS, DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { FUNDS, type TestChain } from '@svc/payments/test/evm/test-chain'
import type { Address } from 'viem'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../gateway-process.ts'
import {
  newEntry,
  newReceipt,
  startTestRegistry,
  type TestRegistry,
  write,
} from '../publication/evm-registry/test-registry.ts'

/** Has a deployed registry. */
let test: TestRegistry
let chain: TestChain
beforeAll(async () => {
  test = await startTestRegistry()
  chain = test.chain
})
afterEach(() => chain.calm())
afterAll(() => test.stop())

const run = (env: Record<string, string>) =>
  runCommand(['deploy-evm-registry'], { EVM_RPC_URLS: chain.node.url, ...env })

const hex = (key: Uint8Array) => Buffer.from(key).toString('hex')
it('ANCH-12 deploy-evm-registry deploys a registry that the key can write to, and prints its setting', {
  tags: ['nightly'],
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-deploy-'))
  const key = await chain.fundedKey()
  const file = join(folder, 'registry.key')
  await writeFile(file, `0x${hex(key)}\n`, { mode: 0o600 })
  const { code, stdout, stderr } = await run({ EVM_REGISTRY_KEY_FILE: file })
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^EVM_REGISTRY_CONTRACT=0x[0-9a-fA-F]{40}\n$/)])
  expect(stderr).toMatch(/^Deploying the registry to 0x\w+ with 0x\w+ of 0x\w+\.\n$/)
  const registry = test.open(key, stdout.trim().split('=')[1] as Address)
  const [receipt, entry] = [newReceipt(), newEntry()]
  await write(registry, receipt, entry)
  expect(await registry.read(receipt)).toEqual(entry)
  await rm(folder, { recursive: true })
})

it('deploy-evm-registry does nothing when the configured registry belongs to the key', {
  tags: ['nightly'],
}, async () => {
  const before = await test.owner.balance()
  expect(await run({ EVM_REGISTRY_KEY: hex(test.ownerKey), EVM_REGISTRY_CONTRACT: test.contract })).toMatchObject({
    code: 0,
    stdout: `EVM_REGISTRY_CONTRACT=${test.contract}\n`,
    stderr: 'EVM_REGISTRY_CONTRACT is already a registry of this key. Nothing was deployed.\n',
  })
  expect(await test.owner.balance()).toBe(before)
})

it('deploy-evm-registry fails when the configured registry belongs to another key or does not exist', {
  tags: ['nightly'],
}, async () => {
  const key = await chain.fundedKey()
  const foreign = await run({ EVM_REGISTRY_KEY: hex(key), EVM_REGISTRY_CONTRACT: test.contract })
  expect(foreign).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('its owner is not') })
  const none = await run({ EVM_REGISTRY_KEY: hex(key), EVM_REGISTRY_CONTRACT: DEV_TREASURY.address })
  expect(none).toMatchObject({ code: 2, stdout: '', stderr: 'there is no registry at the configured address\n' })
  expect(await test.open(key).balance()).toBe(FUNDS)
})

it('CFG-01 deploy-evm-registry reports all missing and invalid settings together', async () => {
  const { code, stdout, stderr } = await run({ EVM_RPC_URLS: '', EVM_REGISTRY_CONTRACT: '0x12' })
  expect([code, stdout]).toEqual([2, ''])
  for (const name of ['EVM_RPC_URLS', 'EVM_REGISTRY_KEY', 'EVM_REGISTRY_CONTRACT']) expect(stderr).toContain(name)
  expect(stderr).not.toContain('    at ')
})

it('T-13 deploy-evm-registry refuses a development key unless SVC_MODE is development', {
  tags: ['nightly'],
}, async () => {
  const EVM_REGISTRY_KEY = DEV_PAYERS[1]!.privateKey
  const refused = await run({ EVM_REGISTRY_KEY })
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('development key') })
  expect((await run({ EVM_REGISTRY_KEY, SVC_MODE: 'development' })).code).toBe(0)
})
