import { MERKLE_REGISTRY_ABI as abi } from '@svc/contracts/merkle-registry'
import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { withResult } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import { decodeFunctionData, keccak256, parseEventLogs, stringToBytes } from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import type { EvmRegistry } from '../../../src/publication/evm-registry/client.ts'
import {
  decodeEntry,
  encodeEntry,
  type RegistryEntry,
  registryKey,
} from '../../../src/publication/evm-registry/entry.ts'
import { newEntry, newReceipt, prepared, startTestRegistry, WAIT_MS, write } from './test-registry.ts'

const test = forAllTests(() => startTestRegistry())
afterEach(() => test.chain.calm())

const UNAVAILABLE = { name: 'RegistryError', why: 'unavailable' }

describe('an entry', () => {
  it('ANCH-12 an entry can be prepared, sent, confirmed and read', async () => {
    const [receipt, entry] = [newReceipt(), newEntry()]
    expect(await test.owner.read(receipt)).toBeNull()
    const { tx, raw } = await prepared(test.owner, receipt, entry)
    expect(await test.owner.read(receipt)).toBeNull()
    expect(await test.owner.send(raw)).toBe('sent')
    expect(await test.owner.watch({ tx, raw }, WAIT_MS)).toEqual({
      outcome: 'landed',
      block: expect.any(Number),
      fee_wei: expect.any(BigInt),
    })
    expect(await test.owner.read(receipt)).toEqual(entry)
  })

  it('ANCH-12 a caller who knows the receipt can find its entry', async () => {
    const entry = newEntry()
    const { tx } = await write(test.owner, 'rcpt_test_0001', entry)
    // The key in the published vector.
    const key = '0xb43c1a28c15b28e9041c5976f2f92a74'
    const call = { address: test.contract, abi, functionName: 'verifyMerkle', args: [key] } as const
    const root = `0x${entry.merkle_root.slice('sha256:'.length)}`
    expect(await test.chain.dev.readContract(call)).toEqual([root, 300_000_001n, 7, 1_750_000_000n])
    const { logs } = await test.chain.dev.getTransactionReceipt({ hash: tx })
    expect(parseEventLogs({ abi, logs })).toMatchObject([{ eventName: 'MerkleAnchored', args: { key, root } }])
  })

  it('ANCH-02 an entry does not reveal the receipt id', async () => {
    const receipt = newReceipt()
    const { raw } = await prepared(test.owner, receipt, newEntry())
    expect(raw).not.toContain(Buffer.from(receipt).toString('hex'))
    expect(raw).not.toContain(receipt.slice('rcpt_'.length))
  })

  it('an existing entry is not written again, with or without the prefix of its root', async () => {
    const [receipt, entry] = [newReceipt(), newEntry()]
    await write(test.owner, receipt, entry)
    expect(await test.owner.prepare(receipt, entry)).toBe('there_already')
    const bare = { ...entry, merkle_root: entry.merkle_root.slice('sha256:'.length) }
    expect(await test.owner.prepare(receipt, bare)).toBe('there_already')
  })

  it('an older entry is refused before anything is signed', async () => {
    const [receipt, entry] = [newReceipt(), newEntry()]
    await write(test.owner, receipt, entry)
    const older = test.owner.prepare(receipt, newEntry({ attested_at: entry.attested_at - 1 }))
    await expect(older).rejects.toMatchObject({ name: 'RegistryError', why: 'older' })
  })

  it('a pending entry that a newer one overtakes fails with its reason, and the newer one stays', async () => {
    const receipt = newReceipt()
    const late = await afterNext(() => prepared(test.owner, receipt, newEntry()))
    const newer = newEntry({ attested_at: 1_750_000_001 })
    await write(test.open(test.ownerKey), receipt, newer)
    await test.owner.send(late.raw)
    expect(await test.owner.watch(late, WAIT_MS)).toMatchObject({ outcome: 'failed', reason: 'older' })
    expect(await test.owner.read(receipt)).toEqual(newer)
  })
})

/** Signs with the nonce after the next free one, so that another transaction can go first. */
async function afterNext<T>(sign: () => Promise<T>): Promise<T> {
  const { node } = test.chain
  node.behave(withResult('eth_getTransactionCount', (count: string) => `0x${(Number(count) + 1).toString(16)}`))
  const signed = await sign()
  test.chain.calm()
  return signed
}

describe('the owner', () => {
  it('only the owner can write, and others are refused before anything is signed', async () => {
    expect(await test.owner.isOwner()).toBe(true)
    const other = test.open(await test.chain.fundedKey())
    expect(await other.isOwner()).toBe(false)
    await expect(other.prepare(newReceipt(), newEntry())).rejects.toMatchObject({ why: 'not_owner' })
  })

  it('an owner without coins is refused before anything is signed, and can write once it has some', async () => {
    const key = await test.chain.fundedKey()
    const unfunded = test.open(key, await test.deploy(key))
    await test.chain.dev.setBalance({ address: unfunded.address, value: 1n })
    expect(await unfunded.balance()).toBe(1n)
    const [receipt, entry] = [newReceipt(), newEntry()]
    const refused = unfunded.prepare(receipt, entry)
    await expect(refused).rejects.toMatchObject({ why: 'unfunded', message: expect.stringContaining(unfunded.address) })
    await test.chain.dev.faucet(unfunded.address, 'MON', '1')
    await write(unfunded, receipt, entry)
    expect(await unfunded.read(receipt)).toEqual(entry)
  })
})

describe('an address without a registry', () => {
  it.each([
    ['no contract', DEV_TREASURY.address],
    ['another contract', TOKENS.USDC.address],
  ])(
    'nothing is signed for an address with %s, where a transaction would succeed without writing anything',
    async (_name, address) => {
      const registry = test.open(test.ownerKey, address)
      const [receipt, notThere] = [newReceipt(), { why: 'not_a_registry' }]
      await expect(registry.prepare(receipt, newEntry())).rejects.toMatchObject(notThere)
      await expect(registry.read(receipt)).rejects.toMatchObject(notThere)
      await expect(registry.isOwner()).rejects.toMatchObject(notThere)
    },
  )
})

it('every call is unavailable when no node answers', async () => {
  const { raw, tx } = await prepared(test.owner, newReceipt(), newEntry())
  test.chain.node.behave(() => ({ status: 500, body: '' }))
  const { owner } = test
  const reads = [owner.read(newReceipt()), owner.isOwner(), owner.balance()]
  const answers = [...reads, owner.outcome({ tx, raw }), owner.prepare(newReceipt(), newEntry())]
  await Promise.all(answers.map((answer) => expect(answer).rejects.toMatchObject(UNAVAILABLE)))
})

it('two writers of one receipt leave the newest statement in the registry, whatever their order', async () => {
  const receipt = newReceipt()
  /** Prepares another transaction when the nonce is used already, as callers do. */
  async function writeUntilSent(registry: EvmRegistry, entry: RegistryEntry): Promise<void> {
    const { raw } = await prepared(registry, receipt, entry)
    if ((await registry.send(raw)) === 'nonce_taken') await writeUntilSent(registry, entry)
  }
  const statements = [3, 1, 2].map((second) => newEntry({ attested_at: 1_750_000_000 + second }))
  await Promise.allSettled(statements.map((entry) => writeUntilSent(test.open(test.ownerKey), entry)))
  await test.chain.settle()
  expect(await test.owner.read(receipt)).toEqual(statements[0])
})

it.each([
  // The expected keys come from another implementation of keccak-256.
  ['rcpt_test_0001', '0xb43c1a28c15b28e9041c5976f2f92a74'],
  ['rcpt_ünïcödé', keccak256(stringToBytes('rcpt_ünïcödé')).slice(0, 34)],
])('ANCH-12 the key of %s is the beginning of its keccak-256', (receiptId, key) => {
  expect(registryKey(receiptId)).toBe(key)
})

it('ANCH-12 roots are written without their prefix', () => {
  const entry = { slot: 1, file_count: 2, attested_at: 3 }
  const root = 'ab'.repeat(32)
  const [withPrefix, bare] = [`sha256:${root}`, root].map((merkle_root) =>
    encodeEntry('rcpt_test_0001', { merkle_root, ...entry }),
  )
  expect(withPrefix).toBe(bare)
  expect(decodeFunctionData({ abi, data: withPrefix! })).toEqual({
    functionName: 'anchorMerkle',
    args: ['0xb43c1a28c15b28e9041c5976f2f92a74', `0x${root}`, 1n, 2, 3n],
  })
})

it('ANCH-12 an all-zero answer is read as no entry', () => {
  expect(decodeEntry([`0x${'00'.repeat(32)}`, 0n, 0, 0n])).toBeNull()
})
