import { type Behaviour, type FaultyNode, honestly, startFaultyNode, withResult } from '@svc/devnet/faulty-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attest } from '../attestations/attest.ts'
import type { LockerHouse } from '../auth/lockers.ts'
import {
  type AnchorTestbed,
  expectAnchors,
  filledLocker,
  startAnchorTestbed,
  transactionsOf,
} from './anchor-testbed.ts'
import { blindly, DOWN, refusingly } from './node-faults.ts'

let testbed: AnchorTestbed
beforeAll(async () => {
  testbed = await startAnchorTestbed()
})
afterAll(() => testbed.stop())

describe('a gateway with two nodes', () => {
  let bad: FaultyNode
  let house: LockerHouse
  const open = (url: string) => testbed.open({ PRIMARY_RPC_URLS: `${url},${testbed.node.url}` })
  beforeAll(async () => {
    bad = await startFaultyNode(testbed.chainUrl)
    house = await open(bad.url)
  })
  afterAll(() => bad.stop())

  async function expectPublished(by: LockerHouse): Promise<void> {
    const locker = await filledLocker(by)
    const sent = await transactionsOf(testbed.chain, async () => {
      expect((await attest(by, locker)).push_result).toMatchObject({ status: 'pushed', error: null })
    })
    expect(sent).toBe(1)
    await expectAnchors(by, testbed.chain, locker, [true])
  }

  it.each<[string, Behaviour]>([
    ['is down', DOWN],
    ['hangs', () => null],
    ['hangs on sendTransaction', (call) => (call.method === 'sendTransaction' ? null : honestly(call))],
    ['answers with an HTML page', () => ({ body: '<html>', headers: { 'content-type': 'text/html' } })],
    ['answers with an empty body', () => ({ body: '' })],
    ['would refuse the transaction', refusingly],
    ['has not seen the transaction', blindly],
    ['has not indexed the transaction', withResult('getTransaction', () => null)],
  ])(
    'T-19 publishes through the second node, and sends nothing twice, when the first %s',
    { tags: ['nightly'] },
    async (_name, behaviour) => {
      bad.behave(behaviour)
      await expectPublished(house)
    },
  )

  it('T-19 asks a node of another chain nothing else, and publishes through the second node', async () => {
    bad.behave(withResult('getGenesisHash', () => 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'))
    const asked = bad.calls.length
    await expectPublished(await open(bad.url))
    expect(new Set(bad.calls.slice(asked))).toEqual(new Set(['getGenesisHash']))
  })

  it('T-19 publishes through the second node when the first cannot be reached', async () => {
    const gone = await startFaultyNode(testbed.chainUrl)
    await gone.stop()
    await expectPublished(await open(gone.url))
  })
})
