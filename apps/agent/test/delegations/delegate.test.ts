import type { DelegateAnswer } from '@svc/api/agent/delegations'
import { DEFAULT_TASKS } from '@svc/api/agent/tasks'
import { isoSeconds } from '@svc/protocol/evidence'
import { signCall } from '@svc/testbed/signing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Agency,
  delegateCall,
  ed25519Person,
  evmPayer,
  evmPerson,
  openAgency,
  primaryPayer,
} from '../agent-stack.ts'

describe('to delegate a locker', () => {
  let agency: Agency
  beforeAll(async () => {
    agency = await openAgency()
  })
  afterAll(() => agency.close())

  it.each([
    ['the primary chain', primaryPayer(0)],
    ['the EVM chain', evmPayer(0)],
  ])('AGENT-04 SHAPE-43 a subscriber of %s hands over a locker, and the agent is let in', async (_, owner) => {
    const { subscription } = await agency.subscribe(owner)
    const locker = await agency.locker(owner)
    const { status, headers, body } = await agency.call<DelegateAnswer>(owner, delegateCall(locker))
    expect(status, JSON.stringify(body)).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    const { delegation_id, agent_pubkey, next_step } = body
    expect(body).toEqual({
      ok: true,
      delegation_id: expect.stringMatching(/^dlg_[0-9a-f]{32}$/),
      agent_pubkey: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/),
      ...locker,
      ops: ['locker:read', 'locker:write', 'locker:list'],
      expires_at: subscription.expires_at,
      status: 'pending',
      tasks: DEFAULT_TASKS,
      next_step: {
        method: 'POST',
        url: `${agency.between.url}/v1/lockers/${locker.locker_id}/operators`,
        body: { pubkey: agent_pubkey },
      },
    })
    const { headers: signed } = signCall(
      owner,
      {
        method: next_step.method,
        path: new URL(next_step.url).pathname,
        body: next_step.body,
        ops: ['locker:admin'],
        lockerId: locker.locker_id,
      },
      agency.clock.now(),
    )
    const json = { 'content-type': 'application/json', ...signed }
    const { method, url } = next_step
    expect((await fetch(url, { method, headers: json, body: JSON.stringify(next_step.body) })).status).toBe(200)
    await agency.drain()
    const read = await agency.read(owner, delegation_id)
    const at = isoSeconds(agency.clock.now() / 1000)
    expect([read.status, read.registered_at]).toEqual(['active', at])
  })

  it('AGENT-04 without the header, the owner is who paid for the receipt', async () => {
    const owner = await agency.grant(evmPerson())
    const locker = await agency.locker(owner)
    const bare = { ...delegateCall(locker), identity: null, receiptId: '', lockerId: '' }
    const { status, body } = await agency.call(owner, bare)
    expect([status, body]).toEqual([200, expect.objectContaining(locker)])
  })

  it('AGENT-04 a receipt whose locker is not open yet can be delegated', async () => {
    const owner = await agency.grant(ed25519Person())
    const receipt = await agency.receipt(owner)
    const { delegation_id, agent_pubkey } = await agency.delegate(owner, receipt)
    await agency.drain()
    expect((await agency.read(owner, delegation_id)).status).toBe('pending')
    await agency.client(owner).provision(receipt.receipt_id, { operator: agent_pubkey })
    agency.clock.advance(15)
    await agency.drain()
    expect((await agency.read(owner, delegation_id)).status).toBe('active')
  })

  it('AGENT-04 again, it is the same delegation with the same key, and tasks change where they are sent', async () => {
    const owner = await agency.grant(ed25519Person())
    const locker = await agency.locker(owner)
    const tell = { url: 'https://hooks.example/one', only_alerts: true }
    const first = await agency.delegate(owner, locker, { watch: { every_hours: 5, read_bytes: false }, tell })
    expect(first.tasks).toEqual({ watch: { every_hours: 5, read_bytes: false }, tell })
    expect(first.webhook_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(await agency.delegate(owner, locker)).toEqual(first)
    const sources = [{ url: 'https://files.example/a.txt', filename: 'a.txt' }]
    const { webhook_secret: _, ...quiet } = first
    const changed = await agency.delegate(owner, locker, { mirror: { sources } })
    expect(changed).toEqual({ ...quiet, tasks: { mirror: { sources, every_hours: 24 } } })
    expect(await agency.delegate(owner, locker)).toEqual(changed)
  })

  it('AGENT-04 what is told elsewhere is signed with another secret', async () => {
    const owner = await agency.grant(ed25519Person())
    const [one, two] = [await agency.locker(owner), await agency.locker(owner)]
    const tell = (name: string) => ({ tell: { url: `https://hooks.example/${name}` } })
    const secrets = [
      await agency.delegate(owner, one, tell('a')),
      await agency.delegate(owner, one, tell('b')),
      await agency.delegate(owner, two, tell('a')),
    ].map(({ webhook_secret }) => webhook_secret)
    expect(new Set(secrets).size).toBe(3)
    expect((await agency.delegate(owner, one, tell('a'))).webhook_secret).toBe(secrets[0])
  })

  it('AGENT-04 each delegation has a key of its own, a new one also after the old one has ended', async () => {
    const owner = await agency.grant(ed25519Person())
    const [one, two] = [await agency.locker(owner), await agency.locker(owner)]
    const first = await agency.delegate(owner, one)
    const other = await agency.delegate(owner, two)
    await agency.call(owner, {
      method: 'DELETE',
      path: `/v1/delegations/${first.delegation_id}`,
      ops: ['locker:admin'],
    })
    const again = await agency.delegate(owner, one)
    expect(again.delegation_id).not.toBe(first.delegation_id)
    expect(new Set([first, other, again].map(({ agent_pubkey }) => agent_pubkey)).size).toBe(3)
  })
})
