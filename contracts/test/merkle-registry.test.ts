import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs, type DevClient } from '@svc/devnet/evm-chain/dev-client'
import { type RunningEvmChain, startEvmChain } from '@svc/devnet/evm-chain/start'
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  type Hex,
  parseAbi,
  parseEventLogs,
  zeroAddress,
  zeroHash,
} from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MERKLE_REGISTRY_ABI as abi, MERKLE_REGISTRY_BYTECODE as bytecode } from '../src/merkle-registry.ts'

let chain: RunningEvmChain
let owner: DevClient
let heir: DevClient
let outsider: DevClient
beforeAll(async () => {
  // What a call costs here is the gas that it uses.
  chain = await startEvmChain({ port: 0, landing: 'at once' })
  const connect = (payer: number) => connectAs(DEV_PAYERS[payer]!, chain.url)
  owner = connect(0)
  heir = connect(1)
  outsider = connect(2)
})
afterAll(() => chain.stop())

let address: Address
beforeEach(async () => {
  const hash = await owner.deployContract({ abi, bytecode })
  address = (await owner.getTransactionReceipt({ hash })).contractAddress!
})

type Entry = { root: Hex; slot: bigint; fileCount: number; attestedAt: bigint }
const KEY = '0xb43c1a28c15b28e9041c5976f2f92a74'
const MAX = { slot: 2n ** 64n - 1n, fileCount: 2 ** 32 - 1, attestedAt: 2n ** 64n - 1n }
const first: Entry = { root: `0x${'ab'.repeat(32)}`, slot: 300n, fileCount: 7, attestedAt: 1_700_000_000n }

/** Sets the gas, so that a call that must fail is sent without an estimate. */
async function anchor(by: DevClient, { root, slot, fileCount, attestedAt }: Entry, key: Hex = KEY) {
  const args = [key, root, slot, fileCount, attestedAt] as const
  const hash = await by.writeContract({ address, abi, functionName: 'anchorMerkle', args, gas: 200_000n })
  const receipt = await by.getTransactionReceipt({ hash })
  return { ...receipt, events: parseEventLogs({ abi, logs: receipt.logs }) }
}

/** Reads like a client that knows only ANCH-12. */
async function read(key: Hex = KEY): Promise<Entry> {
  const signature =
    'function verifyMerkle(bytes16) view returns (bytes32 root, uint64 slot, uint32 fileCount, uint64 at)'
  const [root, slot, fileCount, attestedAt] = await outsider.readContract({
    address,
    abi: parseAbi([signature]),
    functionName: 'verifyMerkle',
    args: [key],
  })
  return { root, slot, fileCount, attestedAt }
}

const offer = (by: DevClient, to: Address) =>
  by.writeContract({ address, abi, functionName: 'transferOwnership', args: [to] })
const accept = (by: DevClient) => by.writeContract({ address, abi, functionName: 'acceptOwnership' })
const ownerNow = () => outsider.readContract({ address, abi, functionName: 'owner' })

/** The custom error of a failed call. */
async function refusal(call: Promise<unknown>): Promise<string | undefined> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  const reverted = error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError)
  return reverted instanceof ContractFunctionRevertedError ? reverted.data?.errorName : undefined
}

async function expectRefused(by: DevClient, entry: Entry, name: string) {
  const { root, slot, fileCount, attestedAt } = entry
  const args = [KEY, root, slot, fileCount, attestedAt] as const
  const call = { address, abi, functionName: 'anchorMerkle', args, account: by.account } as const
  expect(await refusal(by.simulateContract(call))).toBe(name)
  const { status, logs } = await anchor(by, entry)
  expect([status, logs]).toEqual(['reverted', []])
}

describe('the Merkle registry', () => {
  it('ANCH-12 returns the entry of the owner to any reader', async () => {
    await anchor(owner, first)
    expect(await read()).toEqual(first)
  })

  it('ANCH-12 emits an event for a new entry, indexed by its key', async () => {
    const { events } = await anchor(owner, first)
    expect(events.map(({ eventName, args }) => [eventName, args])).toEqual([['MerkleAnchored', { key: KEY, ...first }]])
    const found = await outsider.getContractEvents({
      address,
      abi,
      eventName: 'MerkleAnchored',
      args: { key: KEY },
      fromBlock: 0n,
    })
    expect(found).toHaveLength(1)
  })

  it('ANCH-12 returns the largest values unchanged', async () => {
    const largest = { root: `0x${'ff'.repeat(32)}`, ...MAX } as const
    await anchor(owner, largest, `0x${'ff'.repeat(16)}`)
    expect(await read(`0x${'ff'.repeat(16)}`)).toEqual(largest)
    expect((await read()).root).toBe(zeroHash)
  })

  it('ANCH-12 returns zeros for an unknown key', async () => {
    expect(await read()).toEqual({ root: zeroHash, slot: 0n, fileCount: 0, attestedAt: 0n })
  })

  it('replaces an older entry by a newer one', async () => {
    await anchor(owner, first)
    const newer = { ...first, root: `0x${'cd'.repeat(32)}`, slot: 1n, attestedAt: first.attestedAt + 1n } as const
    expect((await anchor(owner, newer)).events).toHaveLength(1)
    expect(await read()).toEqual(newer)
  })

  it('changes nothing and emits no event when the same entry is written again', async () => {
    await anchor(owner, first)
    const { status, logs } = await anchor(owner, first)
    expect([status, logs]).toEqual(['success', []])
    expect(await read()).toEqual(first)
  })

  it.each<[string, Partial<Entry>]>([
    ['another root', { root: `0x${'cd'.repeat(32)}` }],
    ['another number of files', { fileCount: 8 }],
    ['a later slot', { slot: 301n }],
  ])('accepts %s in the same second', async (_name, change) => {
    await anchor(owner, first)
    expect((await anchor(owner, { ...first, ...change })).events).toHaveLength(1)
    expect(await read()).toEqual({ ...first, ...change })
  })

  it.each<[string, Partial<Entry>]>([
    ['an earlier second', { attestedAt: first.attestedAt - 1n, slot: 301n }],
    ['an earlier slot in the same second', { slot: 299n, root: `0x${'cd'.repeat(32)}` }],
  ])('refuses a late transaction, with %s', async (_name, change) => {
    await anchor(owner, first)
    await expectRefused(owner, { ...first, ...change }, 'OlderEntry')
    expect(await read()).toEqual(first)
  })

  it('refuses a zero root, for a new key and for an existing one', async () => {
    await expectRefused(owner, { ...first, root: zeroHash }, 'ZeroRoot')
    await anchor(owner, first)
    await expectRefused(owner, { ...first, root: zeroHash, attestedAt: MAX.attestedAt }, 'ZeroRoot')
    expect(await read()).toEqual(first)
  })

  it('refuses writes by anyone but the owner, even of the same entry', async () => {
    await expectRefused(outsider, first, 'NotOwner')
    await anchor(owner, first)
    await expectRefused(outsider, first, 'NotOwner')
  })

  it('accepts no coins, since they could never be withdrawn', async () => {
    await expect(owner.sendTransaction({ to: address, value: 1n })).rejects.toThrow()
  })

  it('stores an entry in two words: the gas is limited for a first entry, a newer one and the same one', async () => {
    const gas = async (entry: Entry) => Number((await anchor(owner, entry)).gasUsed)
    expect(await gas(first)).toBeLessThan(80_000)
    const newer = { ...first, root: `0x${'cd'.repeat(32)}`, attestedAt: first.attestedAt + 1n } as const
    expect(await gas(newer)).toBeLessThan(45_000)
    expect(await gas(newer)).toBeLessThan(35_000)
  })
})

describe('the ownership of the Merkle registry', () => {
  it('begins with the deployer', async () => {
    expect(await ownerNow()).toBe(owner.account.address)
  })

  it('passes to the new owner only when the new owner accepts it', async () => {
    await offer(owner, heir.account.address)
    expect(await ownerNow()).toBe(owner.account.address)
    await expectRefused(heir, first, 'NotOwner')
    expect((await anchor(owner, first)).status).toBe('success')

    const hash = await accept(heir)
    const { logs } = await heir.getTransactionReceipt({ hash })
    expect(parseEventLogs({ abi, logs })).toMatchObject([
      {
        eventName: 'OwnershipTransferred',
        args: { previousOwner: owner.account.address, newOwner: heir.account.address },
      },
    ])
    const newer = { ...first, attestedAt: first.attestedAt + 1n }
    expect((await anchor(heir, newer)).status).toBe('success')
    await expectRefused(owner, { ...newer, slot: 400n }, 'NotOwner')
  })

  it('can be offered only by the owner, and accepted once, only by the account that it was offered to', async () => {
    expect(await refusal(offer(outsider, outsider.account.address))).toBe('NotOwner')
    expect(await refusal(accept(outsider))).toBe('NotPendingOwner')
    await offer(owner, heir.account.address)
    expect(await refusal(accept(outsider))).toBe('NotPendingOwner')
    await accept(heir)
    expect(await refusal(accept(heir))).toBe('NotPendingOwner')
  })

  it('stays with the owner when the offer is withdrawn', async () => {
    await offer(owner, heir.account.address)
    await offer(owner, zeroAddress)
    expect(await refusal(accept(heir))).toBe('NotPendingOwner')
    expect(await ownerNow()).toBe(owner.account.address)
  })
})
