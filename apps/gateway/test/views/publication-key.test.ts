import { randomBytes } from 'node:crypto'
import { address } from '@solana/kit'
import type { Health } from '@svc/api/info'
import type { AttestHealth } from '@svc/api/internal-attestations'
import { forEachDatabase } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import { grantSol } from '@svc/devnet/primary-chain/faucet'
import type { TestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { toBase58 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import type { Variables } from '@svc/service/program/config'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { watch } from '../../src/publication/publisher.ts'
import { STATEMENTS } from '../../src/publication/statements.ts'
import { attest } from '../evidence/attest.ts'
import { filledLocker, startAnchorTestbed } from '../publication/anchor-testbed.ts'
import { DOWN, holdAt } from '../publication/node-faults.ts'
import { scrape } from './metrics/scrape.ts'

/** How long a balance is cached. */
const HALF_A_MINUTE = 30

const testbed = forAllTests(() => startAnchorTestbed())
afterEach(() => testbed.node.behave(honestly))

/** The low-balance threshold of these gateways. */
const LOW = 2_000_000

/** Opens a gateway with a new publication key and gives the key this many lamports. */
async function openWith(lamports: number, variables: Variables = {}) {
  const seed = randomBytes(32)
  const key = toBase58(ed25519Signer(seed).publicKey)
  const give = (amount: number) => grantSol(testbed.chain, address(key), BigInt(amount))
  if (lamports > 0) give(lamports)
  const own = { PUBLICATION_KEY: seed.toString('hex'), ANCHORS: `memo,low_balance=${LOW}` }
  const instance = await testbed.open({ ...own, ...variables })
  return { instance, key, give }
}

const health = (instance: TestGateway) => instance.send<Health>('GET', '/health')

/** Waits for the balance, because the health endpoint itself does not wait for a slow node. */
async function healthWithBalance(instance: TestGateway) {
  const state = async () => (await health(instance)).body.checks.publication_key
  await expect.poll(state).not.toBe('failing')
  return health(instance)
}

describe('health of the publication key', () => {
  it('VER-20 health warns of a low balance with the address to fund, and still serves', async () => {
    const { instance, key, give } = await openWith(1_500_000)
    const { status, body } = await healthWithBalance(instance)
    expect([status, body.status, body.checks.publication_key]).toEqual([200, 'ok', 'low'])
    // (1,500,000 - 890,880 for rent exemption) / 5,000
    expect(body.warnings).toEqual([`publication key ${key} holds 1500000 lamports: about 121 more anchors`])
    give(LOW - 1_500_000)
    testbed.clock.advance(HALF_A_MINUTE)
    const { body: funded } = await healthWithBalance(instance)
    expect(funded.checks.publication_key).toBe('ok')
    expect(funded).not.toHaveProperty('warnings')
  })

  it('VER-20 the balance pays for exactly as many anchors as health reports', async () => {
    const { instance } = await openWith(890_880 + 5_000)
    const left = async () => {
      testbed.clock.advance(HALF_A_MINUTE)
      return (await healthWithBalance(instance)).body.warnings?.[0]?.split(': ')[1]
    }
    expect(await left()).toBe('about 1 more anchors')
    expect((await attest(instance, await filledLocker(instance))).push_result.status).toBe('pushed')
    expect(await left()).toBe('about 0 more anchors')
    const { status, reason } = (await attest(instance, await filledLocker(instance))).push_result
    expect([status, reason]).toEqual(['failed', 'publication_key_unfunded'])
  })

  it('VER-20 reports a node that is down, and asks it again half a minute later', async () => {
    const { instance } = await openWith(LOW)
    expect((await healthWithBalance(instance)).body.checks.publication_key).toBe('ok')
    testbed.node.behave(DOWN)
    expect((await health(instance)).body.checks.publication_key).toBe('ok')
    testbed.clock.advance(HALF_A_MINUTE)
    await expect.poll(async () => (await health(instance)).body.checks.publication_key).toBe('failing')
    const down = await health(instance)
    expect([down.status, down.body.status]).toEqual([200, 'ok'])
    expect(down.body.checks).toMatchObject({ publication_key: 'failing', primary_chain: 'failing', database: 'ok' })
    testbed.node.behave(honestly)
    testbed.clock.advance(HALF_A_MINUTE)
    expect((await healthWithBalance(instance)).body.checks.publication_key).toBe('ok')
  })

  it('VER-20 asks a hanging node once without waiting for it, and uses its late answer', {
    tags: ['nightly'],
  }, async () => {
    const { instance } = await openWith(LOW)
    const hold = holdAt('getBalance')
    testbed.node.behave(hold.behaviour)
    testbed.node.calls.length = 0
    const answers = await Promise.all(Array.from({ length: 20 }, () => health(instance)))
    for (const { status, body } of answers) expect([status, body.checks.publication_key]).toEqual([200, 'failing'])
    hold.release()
    expect((await healthWithBalance(instance)).body.checks.publication_key).toBe('ok')
    expect(testbed.node.calls.filter((method) => method === 'getBalance')).toHaveLength(1)
  })
})

forEachDatabase('the costs of anchors', (database) => {
  let instance: TestGateway
  let key: string
  beforeAll(async () => {
    ;({ instance, key } = await openWith(10_000_000, { DATABASE_URL: database.url }))
    for (const _ of ['one', 'two']) await attest(instance, await filledLocker(instance))
    testbed.chain.settle()
    await watch(instance.gateway.context, STATEMENTS)
    const row = { receipt_id: 'rcpt_x', draft: '{}', raw: '', last_valid_height: 1, sent_at: 1 }
    await writable(instance.gateway.context.database.db)
      .insertInto('publications')
      .values([
        { ...row, tx: 't1', sequence: 1, state: 'failed', fee_lamports: null, rent_lamports: null },
        { ...row, tx: 't2', sequence: 2, state: 'expired', fee_lamports: null, rent_lamports: null },
        { ...row, tx: 't3', sequence: 3, state: 'finalized', fee_lamports: 5_000, rent_lamports: 2_500_000 },
        { ...row, tx: 't4', sequence: 4, state: 'landed', fee_lamports: 6_000, rent_lamports: -500_000 },
      ])
      .execute()
  })

  it('INT-03 attest-health counts publications, their cost less refunded rent, and the remaining balance', async () => {
    testbed.clock.advance(3600)
    await healthWithBalance(instance)
    const { body } = await instance.send<AttestHealth>('GET', '/v1/internal/attest-health')
    expect(body.counts).toMatchObject({ complete: 2 })
    expect(body.anchors).toEqual({
      publication_key: key,
      published: 4,
      failed: 1,
      expired: 1,
      fee_lamports_total: 21_000,
      rent_lamports_total: 2_000_000,
      balance_lamports: 10_000_000 - 10_000,
      low_balance: false,
    })
  })

  it('VER-20 estimates the remaining anchors from the recent cost of anchors, including rent', async () => {
    const { instance, key } = await openWith(1_900_000, { DATABASE_URL: database.url })
    // Three anchors became final: each cost 5,000 in fees, and one locks 2,500,000 as rent.
    const { body } = await healthWithBalance(instance)
    const left = Math.floor((1_900_000 - 890_880) / Math.floor((3 * 5_000 + 2_500_000) / 3))
    expect(left).toBe(1)
    expect(body.warnings).toEqual([`publication key ${key} holds 1900000 lamports: about ${left} more anchors`])
  })

  it('metrics report the balance and whether it is low, and omit both while no node answers', async () => {
    const { instance } = await openWith(1_900_000, { DATABASE_URL: database.url })
    await healthWithBalance(instance)
    const low = await scrape(instance.gateway.url)
    expect(low.value('svc_publication_balance_lamports')).toBe(1_900_000)
    expect(low.value('svc_publication_low_balance')).toBe(1)
    testbed.node.behave(DOWN)
    const later = () => {
      testbed.clock.advance(3600)
      return scrape(instance.gateway.url)
    }
    await expect.poll(async () => (await later()).families).not.toContain('svc_publication_balance_lamports')
    const withoutNode = await later()
    expect(withoutNode.families).not.toContain('svc_publication_balance_lamports')
    expect(withoutNode.families).not.toContain('svc_publication_low_balance')
    expect(withoutNode.value('svc_anchor_fee_lamports_total')).toBe(21_000)
    expect((await instance.send<AttestHealth>('GET', '/v1/internal/attest-health')).body.anchors).toMatchObject({
      balance_lamports: null,
      low_balance: false,
    })
  })
})
