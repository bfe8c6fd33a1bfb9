import { signCall } from '@svc/devnet/services/signing'
import type { Variables } from '@svc/service/program/config'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type AgentCall, expectRefusal, startSecondAgent, useAgentStack } from '../agent-stack.ts'
import { ed25519Wallet, evmWallet } from '../wallets.ts'

const stack = useAgentStack()

const ann = ed25519Wallet()
const bob = evmWallet()
const LISTING: AgentCall = { path: '/v1/delegations', ops: ['locker:read'] }
const list = (changes: Partial<AgentCall> = {}, who = ann) => stack.call(who, { ...LISTING, ...changes })
const repeat = (headers: Record<string, string>) => stack.send('GET', LISTING.path, undefined, headers)

async function secondAgent(variables: Variables) {
  const agent = await startSecondAgent(stack, variables)
  onTestFinished(() => agent.stop())
  return async (headers: Record<string, string>) => {
    const response = await fetch(agent.url + LISTING.path, { headers })
    return { status: response.status, headers: response.headers, body: (await response.json()) as { error?: string } }
  }
}

describe('AGENT-04 authentication', () => {
  it.each([
    ['an Ed25519 key', ann],
    ['an EVM wallet', bob],
  ])('AGENT-04 accepts %s that is named in the header and has signed the request', async (_, who) => {
    expect(await list({}, who)).toMatchObject({ status: 200, body: { subscription: null, delegations: [] } })
  })

  it('AGENT-04 answers 422 when the identity header is missing or malformed', async () => {
    for (const identity of [null, 'me', `${ann.identity}, ${bob.identity}`])
      expectRefusal(await list({ identity }), 422, 'validation_error')
  })

  it('AGENT-04 rejects a request that another identity has signed', async () => {
    for (const identity of [bob.identity, ed25519Wallet().identity])
      expectRefusal(await list({ identity }), 403, 'SIGNATURE_INVALID')
    expectRefusal(await list({ identity: ann.identity }, bob), 403, 'SIGNATURE_INVALID')
  })
})

describe('an envelope', () => {
  it('T-04 is accepted once, even when 20 copies arrive concurrently or at another process', async () => {
    const { headers } = stack.sign(ann, LISTING)
    const elsewhere = await secondAgent({})
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => repeat(headers)))).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, ...Array<number>(19).fill(403)])
    expectRefusal(await repeat(headers), 403, 'NONCE_REPLAYED')
    expectRefusal(await elsewhere(headers), 403, 'NONCE_REPLAYED')
  })

  it('T-04 is rejected for another request than the signed one', async () => {
    const ending = `/v1/delegations/dlg_${'0'.repeat(32)}`
    const { headers } = stack.sign(ann, LISTING)
    expectRefusal(await stack.send('GET', ending, undefined, headers), 403, 'PATH_MISMATCH')
    const reading = stack.sign(ann, { ...LISTING, path: ending, ops: ['locker:read', 'locker:admin'] })
    expectRefusal(await stack.send('DELETE', ending, undefined, reading.headers), 403, 'METHOD_MISMATCH')
    expectRefusal(await list({ envelope: { path: '/v1/lockers' } }), 403, 'PATH_MISMATCH')
  })

  it('T-55 is rejected by another service without using up its nonce, and accepted from clients of 1.0.0, which name none', async () => {
    const nonce = 'ab'.repeat(16)
    for (const aud of ['https://other.example', '', null, [stack.agent.url]])
      expectRefusal(await list({ envelope: { aud, nonce } }), 403, 'AUDIENCE_MISMATCH')
    const { headers } = signCall(ann, { ...LISTING, headers: { 'x-svc-identity': ann.identity } }, stack.clock.now())
    expect((await repeat(headers)).status).toBe(200)
    expect((await list({ envelope: { aud: `${stack.agent.url}/`, nonce } })).status).toBe(200)
  })

  it('T-04 has a nonce that is remembered until the envelope expires', async () => {
    const { headers } = stack.sign(ann, LISTING)
    expect((await repeat(headers)).status).toBe(200)
    stack.clock.advance(59)
    await stack.agent.context.queue.drain()
    expectRefusal(await repeat(headers), 403, 'NONCE_REPLAYED')
    stack.clock.advance(1)
    expectRefusal(await repeat(headers), 403, 'EXPIRED_ENVELOPE')
  })
})

describe('T-10 rate limits', () => {
  it('T-10 apply to invalid signatures per address and minute, before their verification', async () => {
    const ask = await secondAgent({ RATE_LIMITS: 'address=3/min' })
    const forged = () => stack.sign(bob, { ...LISTING, identity: ann.identity }).headers
    const statuses = []
    for (let i = 0; i < 5; i++) statuses.push((await ask(forged())).status)
    expect(statuses).toEqual([403, 403, 403, 429, 429])
    stack.clock.advance(60)
    expect((await ask(stack.sign(ann, LISTING).headers)).status).toBe(200)
  })

  it('T-10 apply to requests per identity, and other identities cannot use up that limit', async () => {
    const ask = await secondAgent({ RATE_LIMITS: 'identity=2/min' })
    const signed = () => stack.sign(ann, LISTING).headers
    const first = signed()
    expect((await ask(first)).status).toBe(200)
    for (let i = 0; i < 3; i++) expect((await ask(first)).body.error).toBe('NONCE_REPLAYED')
    expect((await ask({ ...signed(), 'x-svc-identity': bob.identity })).status).toBe(403)
    expect((await ask(signed())).status).toBe(200)
    expect((await ask(signed())).body.error).toBe('RATE_LIMITED')
    expect((await ask(stack.sign(bob, LISTING).headers)).status).toBe(200)
  })
})
