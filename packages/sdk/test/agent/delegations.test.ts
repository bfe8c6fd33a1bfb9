import { HEADER_IDENTITY } from '@svc/protocol/names'
import { describe, expect, it } from 'vitest'
import { useAgentMarket } from '../agents.ts'
import { newEd25519, newEvm } from '../lockers.ts'

const market = useAgentMarket()

const sent = () => market.agentProxy.seen.at(-1)!

describe('delegating', () => {
  it('AGENT-04 creates one delegation for a locker, changes it and ends it', { tags: ['nightly'] }, async () => {
    const buyer = market.evm(1)
    const { client, locker, delegationId } = await market.subscriber(buyer)
    const again = await client.delegate(locker.receipt_id)
    expect(again).toMatchObject({ delegation_id: delegationId, ...locker, status: 'pending' })
    expect(sent().headers[HEADER_IDENTITY.toLowerCase()]).toBe(buyer.signer.address)
    const tasks = { mirror: { sources: [{ url: 'https://example.com/a', filename: 'a' }] } }
    const changed = await client.delegate(locker.receipt_id, tasks)
    expect(changed).toMatchObject({ agent_pubkey: again.agent_pubkey, tasks })
    await market.work()
    const { subscription, delegations } = await client.delegations()
    expect(subscription).toMatchObject({ identity: buyer.signer.address, status: 'active' })
    expect(delegations).toEqual([expect.objectContaining({ delegation_id: delegationId, status: 'active' })])
    expect(await client.endDelegation(delegationId)).toMatchObject({ status: 'ended' })
    expect(await client.endDelegation(delegationId)).toMatchObject({ status: 'ended' })
    expect((await client.delegate(locker.receipt_id)).agent_pubkey).not.toBe(again.agent_pubkey)
  })

  it('AGENT-04 fails without a subscription, and the error contains a quote', async () => {
    const signer = newEvm()
    const { receipt_id } = await market.locker(signer)
    const refusal = market.agentClient({ signer }).delegate(receipt_id)
    await expect(refusal).rejects.toMatchObject({
      name: 'NotSubscribed',
      quote: { extensions: { svc: { terms: { subscription_days: 30 } } } },
    })
  })

  it('AGENT-04 requires a signer, and fails with the code of the agent service', async () => {
    const { receipt_id } = await market.locker(newEd25519())
    const refusal = market.agentClient({ signer: newEd25519() }).delegate(receipt_id)
    const expected = { name: 'GatewayError', code: 'OWNER_IDENTITY_MISMATCH', service: 'agent service' }
    await expect(refusal).rejects.toMatchObject(expected)
    await expect(market.agentClient().delegations()).rejects.toThrow('a client with a signer')
  })

  it('T-55 signs for the address that it calls, so that the request cannot be forwarded to another service', async () => {
    const signer = newEd25519()
    const { receipt_id } = await market.locker(signer)
    const elsewhere = market.agentClient({
      signer,
      baseUrl: 'https://other.example',
      fetch: (input, init) => fetch(String(input).replace('https://other.example', market.agentProxy.url), init),
    })
    for (const attempt of [() => elsewhere.delegate(receipt_id), () => elsewhere.delegations()])
      await expect(attempt()).rejects.toMatchObject({ code: 'AUDIENCE_MISMATCH', service: 'agent service' })
  })

  it('returns the same delegation if the first answer is lost', async () => {
    const { client, locker, delegationId } = await market.subscriber(market.solana(2))
    market.agentProxy.plan(/v1\/delegate$/, { cut: 'answer' }, { cut: 'request' })
    expect(await client.delegate(locker.receipt_id)).toMatchObject({ delegation_id: delegationId })
  })

  it('refuses an answer that names another locker, an invalid key, or two different keys', async () => {
    const { client, locker } = await market.subscriber(market.solana(3))
    for (const change of [
      { locker_id: 'locker_000000000000' },
      { receipt_id: `rcpt_${'0'.repeat(32)}` },
      { agent_pubkey: 'key', next_step: { body: { pubkey: 'key' } } },
      { next_step: { body: { pubkey: newEd25519().address } } },
    ]) {
      market.agentProxy.plan(/v1\/delegate$/, { lie: (body) => ({ ...body, ...change }) })
      await expect(client.delegate(locker.receipt_id)).rejects.toMatchObject({ name: 'UntrueAnswer' })
    }
    expect(await client.delegate(locker.receipt_id)).toMatchObject(locker)
  })
})
