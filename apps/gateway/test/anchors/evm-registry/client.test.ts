import { randomBytes } from 'node:crypto'
import { MERKLE_REGISTRY_ABI as abi } from '@svc/contracts/merkle-registry'
import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs } from '@svc/devnet/evm-chain/dev-client'
import { withResult } from '@svc/devnet/faulty-node'
import { type Address, parseEventLogs, toHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  newEntry,
  newReceipt,
  prepared,
  startTestRegistry,
  type TestRegistry,
  WAIT_MS,
  write,
} from './test-registry.ts'

let test: TestRegistry
beforeAll(async () => {
  test = await startTestRegistry()
})
afterAll(() => test.stop())

describe('an entry', () => {
  it('ANCH-12 an entry is prepared, sent, landed and read', async () => {
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

  it('ANCH-12 an entry can be found by anybody who knows the receipt', async () => {
    const entry = newEntry()
    const { tx } = await write(test.owner, 'rcpt_test_0001', entry)
    // The published vector.
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

  it('an existing entry is not written again, with or without a prefix of its root', async () => {
    const [receipt, entry] = [newReceipt(), newEntry()]
    await write(test.owner, receipt, entry)
    expect(await test.owner.prepare(receipt, entry)).toBe('there_already')
    const bare = { ...entry, merkle_root: entry.merkle_root.slice('sha256:'.length) }
    expect(await test.owner.prepare(receipt, bare)).toBe('there_already')
  })

  it.each([{ attested_at: 1_750_000_001 }, { slot: 300_000_002 }, { file_count: 8 }])(
    'a newer entry replaces the older one: %o',
    async (change) => {
      const [receipt, entry] = [newReceipt(), newEntry()]
      await write(test.owner, receipt, entry)
      await write(test.owner, receipt, { ...entry, ...change })
      expect(await test.owner.read(receipt)).toEqual({ ...entry, ...change })
    },
  )

  it('an older entry is refused before anything is signed', async () => {
    const [receipt, entry] = [newReceipt(), newEntry()]
    await write(test.owner, receipt, entry)
    const older = test.owner.prepare(receipt, newEntry({ attested_at: entry.attested_at - 1 }))
    await expect(older).rejects.toMatchObject({ name: 'RegistryError', why: 'older' })
  })

  it('an entry that was overtaken while pending fails with its reason, and the newer one stays', async () => {
    const receipt = newReceipt()
    const late = await afterNext(() => prepared(test.owner, receipt, newEntry()))
    const newer = newEntry({ attested_at: 1_750_000_001 })
    await write(test.open(test.ownerKey), receipt, newer)
    await test.owner.send(late.raw)
    expect(await test.owner.watch(late, WAIT_MS)).toMatchObject({ outcome: 'failed', reason: 'older' })
    expect(await test.owner.read(receipt)).toEqual(newer)
  })
})

/** Signs with the nonce after the next free one, so that another transaction can come first. */
async function afterNext<T>(sign: () => Promise<T>): Promise<T> {
  const { node } = test.chain
  node.behave(withResult('eth_getTransactionCount', (count: string) => `0x${(Number(count) + 1).toString(16)}`))
  const signed = await sign()
  test.chain.calm()
  return signed
}

describe('the owner', () => {
  it('only the owner can write; others are refused before anything is signed', async () => {
    expect(await test.owner.isOwner()).toBe(true)
    const stranger = test.open(await test.chain.fundedKey())
    expect(await stranger.isOwner()).toBe(false)
    await expect(stranger.prepare(newReceipt(), newEntry())).rejects.toMatchObject({ why: 'not_owner' })
  })

  it('a pending entry fails with its reason when the owner changes', async () => {
    const [key, newOwnerKey] = [await test.chain.fundedKey(), await test.chain.fundedKey()]
    const contract = await test.deploy(key)
    const [registry, newOwner] = [test.open(key, contract), test.open(newOwnerKey, contract)]
    const receipt = newReceipt()
    const late = await afterNext(() => prepared(registry, receipt, newEntry()))
    await transferOwnership(newOwnerKey, key, contract)
    await registry.send(late.raw)
    expect(await registry.watch(late, WAIT_MS)).toMatchObject({ outcome: 'failed', reason: 'not_owner' })
    expect([await registry.isOwner(), await newOwner.isOwner()]).toEqual([false, true])
    const entry = newEntry()
    await write(newOwner, receipt, entry)
    expect(await registry.read(receipt)).toEqual(entry)
  })

  it('an owner without coins is refused before anything is signed, and can write once it has some', async () => {
    const [key, unfundedKey] = [await test.chain.fundedKey(), randomBytes(32)]
    const contract = await test.deploy(key)
    const unfunded = test.open(unfundedKey, contract)
    await test.chain.dev.faucet(unfunded.address, 'MON', '1')
    await transferOwnership(unfundedKey, key, contract)
    await test.chain.dev.setBalance({ address: unfunded.address, value: 1n })
    expect(await unfunded.balance()).toBe(1n)
    const receipt = newReceipt()
    const refused = unfunded.prepare(receipt, newEntry())
    await expect(refused).rejects.toMatchObject({ why: 'unfunded', message: expect.stringContaining(unfunded.address) })
    await test.chain.dev.faucet(unfunded.address, 'MON', '1')
    const entry = newEntry()
    await write(unfunded, receipt, entry)
    expect(await unfunded.read(receipt)).toEqual(entry)
  })
})

async function transferOwnership(newOwnerKey: Uint8Array, ownerKey: Uint8Array, address: Address): Promise<void> {
  const [owner, newOwner] = [ownerKey, newOwnerKey].map((key) => {
    const privateKey = toHex(key)
    return connectAs({ privateKey, address: privateKeyToAddress(privateKey) }, test.chain.url)
  })
  const args = [newOwner!.account.address] as const
  await owner!.writeContract({ address, abi, functionName: 'transferOwnership', args })
  await newOwner!.writeContract({ address, abi, functionName: 'acceptOwnership' })
}

describe('an address without a registry', () => {
  it.each([
    ['no contract', DEV_TREASURY.address],
    ['another contract', TOKENS.USDC.address],
  ])(
    'nothing is signed for an address with %s, where a transaction would land and write nothing',
    async (_name, address) => {
      const registry = test.open(test.ownerKey, address)
      const [receipt, notThere] = [newReceipt(), { why: 'not_a_registry' }]
      await expect(registry.prepare(receipt, newEntry())).rejects.toMatchObject(notThere)
      await expect(registry.read(receipt)).rejects.toMatchObject(notThere)
      await expect(registry.isOwner()).rejects.toMatchObject(notThere)
    },
  )
})
