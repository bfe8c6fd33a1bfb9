import type { Anchor } from '@svc/api/attestations'
import type { VerifyAnswer } from '@svc/api/evidence'
import type { AttestHealth } from '@svc/api/internal-attestations'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { describe, expect, it } from 'vitest'
import { askToAttest, attest } from '../evidence/attest.ts'
import { expectAnchors, filledLocker, push, useAnchorTestbed } from './anchor-testbed.ts'
import { holdAt } from './node-faults.ts'

const testbed = useAnchorTestbed()
/** A gateway that does not publish when it attests. */
const instance = forAllTests(() => testbed.open({ PUBLISH: 'on_request' }))
const locker = forEachTest(() => filledLocker(instance))

async function get<Body>(path: string, query = ''): Promise<Body> {
  const { status, body } = await instance.send<Body>('GET', `${path}?receipt_id=${locker.receiptId}${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const verify = () => get<VerifyAnswer>('/v1/storage/verify')

/** The anchors in every endpoint that returns a proof. */
async function anchorsInProofs(query: string): Promise<unknown[]> {
  const paths = ['/v1/storage/verify', '/v1/retrieve', '/v1/storage/evidence-bundle', '/v1/self-verify']
  const given = await Promise.all(paths.map((path) => get<{ anchor: unknown }>(path, query)))
  const proof = await get<{ anchor: unknown }>('/v1/storage/merkle-proof', `&filename=a${query}`)
  const { attestation } = await get<VerifyAnswer>('/v1/storage/verify', query)
  return [...given, proof, attestation as { anchor: unknown }].map(({ anchor }) => anchor)
}

async function anchorsInList(): Promise<(Anchor | null)[]> {
  const { statements } = await get<{ statements: { anchor: Anchor | null }[] }>('/v1/storage/statements')
  return statements.map(({ anchor }) => anchor)
}

describe('the anchor', () => {
  it('ANCH-05 ATT-03 the anchor accompanies every proof of its statement and of no other', async () => {
    await attest(instance, locker)
    for (const anchor of await anchorsInProofs('')) expect(anchor).toBeNull()
    expect(await anchorsInList()).toEqual([null])
    const { anchor: first } = await push(instance, locker)
    for (const anchor of await anchorsInProofs('')) expect(anchor).toEqual(first)

    await locker.put('b', 'b')
    await attest(instance, locker)
    for (const anchor of await anchorsInProofs('')) expect(anchor).toBeNull()
    for (const anchor of await anchorsInProofs('&sequence=1')) expect(anchor).toEqual(first)
    expect(await anchorsInList()).toEqual([first, null])
    const { anchor: second } = await push(instance, locker)
    for (const anchor of await anchorsInProofs('')) expect(anchor).toEqual(second)
    for (const anchor of await anchorsInProofs('&sequence=1')) expect(anchor).toEqual(first)
    expect(await anchorsInList()).toEqual([first, second])
  })
})

describe('the facts', () => {
  const NONE = { anchor_submitted: 'not_checked', anchor_confirmed: 'not_checked', anchor_finalized: 'not_checked' }

  it('VER-08 STATE-12 the facts follow the transaction from none to final', async () => {
    await attest(instance, locker)
    expect((await verify()).verification).toMatchObject(NONE)

    const held = holdAt('getSignatureStatuses')
    testbed.node.behave(held.behaviour)
    const pushed = push(instance, locker)
    await held.reached
    const pushing = await verify()
    expect(pushing.verification).toMatchObject({ ...NONE, anchor_submitted: 'passed' })
    expect(pushing).toMatchObject({ anchor: null, verified: true, attestation: { attestation_status: 'computed' } })
    const { body: health } = await instance.send<AttestHealth>('GET', '/v1/internal/attest-health')
    expect(health.counts).toMatchObject({ pushing: 1 })
    expect((await askToAttest(instance, locker, { sync: false })).body).toMatchObject({
      attestation_status: 'computed',
    })
    held.release()

    const { anchor, attestation_status } = await pushed
    expect(anchor).toMatchObject({ commitment: 'confirmed', finalized: false })
    expect(attestation_status).toBe('complete')
    const confirmed = await verify()
    expect(confirmed.verification).toMatchObject({ ...NONE, anchor_submitted: 'passed', anchor_confirmed: 'passed' })
    expect(confirmed).toMatchObject({ anchor, attestation: { attestation_status: 'complete' } })

    testbed.clock.advance(15)
    await instance.gateway.context.queue.drain()
    const final = await verify()
    expect(final.verification).toMatchObject({
      anchor_submitted: 'passed',
      anchor_confirmed: 'passed',
      anchor_finalized: 'passed',
    })
    expect(final.anchor).toEqual({ ...anchor, commitment: 'finalized', finalized: true })
    // A memo anchor never appears as an oracle anchor.
    expect(final.attestation).toMatchObject({ oracle_tx: null, oracle_slot: null, oracle_feed: null })
    await expectAnchors(instance, testbed.chain, locker, [true])
  })
})
