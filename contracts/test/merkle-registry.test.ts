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
let stranger: DevClient
beforeAll(async () => {
  chain = await startEvmChain({ port: 0 })
  const connect = (payer: number) => connectAs(DEV_PAYERS[payer]!, chain.url)
  owner = connect(0)
  heir = connect(1)
  stranger = connect(2)
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

/** With gas given, so that what must fail is sent all the same. */
async function anchor(by: DevClient, { root, slot, fileCount, attestedAt }: Entry, key: Hex = KEY) {
  const args = [key, root, slot, fileCount, attestedAt] as const
  const hash = await by.writeContract({ address, abi, functionName: 'anchorMerkle', args, gas: 200_000n })
  const receipt = await by.getTransactionReceipt({ hash })
  return { ...receipt, events: parseEventLogs({ abi, logs: receipt.logs }) }
}

/** As anybody reads it who knows no more than AMB-65. */
async function read(key: Hex = KEY): Promise<Entry> {
  const signature =
    'function verifyMerkle(bytes16) view returns (bytes32 root, uint64 slot, uint32 fileCount, uint64 at)'
  const [root, slot, fileCount, attestedAt] = await stranger.readContract({
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
const ownerNow = () => stranger.readContract({ address, abi, functionName: 'owner' })

/** The custom error that a call ends in. */
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

describe('writing', () => {
  it('AMB-65 what the owner anchors is what anybody reads', async () => {
    await anchor(owner, first)
    expect(await read()).toEqual(first)
  })

  it('AMB-65 an event tells it, findable by its key', async () => {
    const { events } = await anchor(owner, first)
    expect(events.map(({ eventName, args }) => [eventName, args])).toEqual([['MerkleAnchored', { key: KEY, ...first }]])
    const found = await stranger.getContractEvents({
      address,
      abi,
      eventName: 'MerkleAnchored',
      args: { key: KEY },
      fromBlock: 0n,
    })
    expect(found).toHaveLength(1)
  })

  it('AMB-65 the largest values come back whole', async () => {
    const largest = { root: `0x${'ff'.repeat(32)}`, ...MAX } as const
    await anchor(owner, largest, `0x${'ff'.repeat(16)}`)
    expect(await read(`0x${'ff'.repeat(16)}`)).toEqual(largest)
    expect((await read()).root).toBe(zeroHash)
  })

  it('AMB-65 an unknown key reads as zeros', async () => {
    expect(await read()).toEqual({ root: zeroHash, slot: 0n, fileCount: 0, attestedAt: 0n })
  })

  it('a newer entry takes the place of an older one', async () => {
    await anchor(owner, first)
    const newer = { ...first, root: `0x${'cd'.repeat(32)}`, slot: 1n, attestedAt: first.attestedAt + 1n } as const
    expect((await anchor(owner, newer)).events).toHaveLength(1)
    expect(await read()).toEqual(newer)
  })

  it('the same again changes nothing and tells nothing', async () => {
    await anchor(owner, first)
    const { status, logs } = await anchor(owner, first)
    expect([status, logs]).toEqual(['success', []])
    expect(await read()).toEqual(first)
  })

  it.each<[string, Partial<Entry>]>([
    ['another root', { root: `0x${'cd'.repeat(32)}` }],
    ['another number of files', { fileCount: 8 }],
    ['a later slot', { slot: 301n }],
  ])('%s of the same second counts', async (_name, change) => {
    await anchor(owner, first)
    expect((await anchor(owner, { ...first, ...change })).events).toHaveLength(1)
    expect(await read()).toEqual({ ...first, ...change })
  })

  it.each<[string, Partial<Entry>]>([
    ['an earlier second', { attestedAt: first.attestedAt - 1n, slot: 301n }],
    ['an earlier slot of the same second', { slot: 299n, root: `0x${'cd'.repeat(32)}` }],
  ])('a transaction that comes late, of %s, is refused', async (_name, change) => {
    await anchor(owner, first)
    await expectRefused(owner, { ...first, ...change }, 'OlderEntry')
    expect(await read()).toEqual(first)
  })

  it('a zero root is refused, on a new key and on an old one', async () => {
    await expectRefused(owner, { ...first, root: zeroHash }, 'ZeroRoot')
    await anchor(owner, first)
    await expectRefused(owner, { ...first, root: zeroHash, attestedAt: MAX.attestedAt }, 'ZeroRoot')
    expect(await read()).toEqual(first)
  })

  it('nobody but the owner writes, not even the same again', async () => {
    await expectRefused(stranger, first, 'NotOwner')
    await anchor(owner, first)
    await expectRefused(stranger, first, 'NotOwner')
  })

  it('takes no coins, which nobody could ever take out', async () => {
    await expect(owner.sendTransaction({ to: address, value: 1n })).rejects.toThrow()
  })

  it('costs two words of storage: a first entry, a newer one, and the same again', async () => {
    const gas = async (entry: Entry) => Number((await anchor(owner, entry)).gasUsed)
    expect(await gas(first)).toBeLessThan(80_000)
    const newer = { ...first, root: `0x${'cd'.repeat(32)}`, attestedAt: first.attestedAt + 1n } as const
    expect(await gas(newer)).toBeLessThan(45_000)
    expect(await gas(newer)).toBeLessThan(35_000)
  })
})

describe('ownership', () => {
  it('is of who deployed it', async () => {
    expect(await ownerNow()).toBe(owner.account.address)
  })

  it('passes on once the new owner has accepted it, and not before', async () => {
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

  it('is offered by the owner alone and accepted by whom it was offered alone, once', async () => {
    expect(await refusal(offer(stranger, stranger.account.address))).toBe('NotOwner')
    expect(await refusal(accept(stranger))).toBe('NotPendingOwner')
    await offer(owner, heir.account.address)
    expect(await refusal(accept(stranger))).toBe('NotPendingOwner')
    await accept(heir)
    expect(await refusal(accept(heir))).toBe('NotPendingOwner')
  })

  it('an offer can be taken back', async () => {
    await offer(owner, heir.account.address)
    await offer(owner, zeroAddress)
    expect(await refusal(accept(heir))).toBe('NotPendingOwner')
    expect(await ownerNow()).toBe(owner.account.address)
  })
})
