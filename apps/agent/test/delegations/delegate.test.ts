import type { DelegateAnswer } from '@svc/api/agent/delegations'
import { DEFAULT_TASKS } from '@svc/api/agent/tasks'
import { signCall } from '@svc/devnet/services/signing'
import { isoSeconds } from '@svc/protocol/evidence'
import { describe, expect, it } from 'vitest'
import { delegateCall, useAgentStack } from '../agent-stack.ts'
import { ed25519Wallet, evmPayer, evmWallet, primaryPayer } from '../wallets.ts'

describe('the endpoint for delegations', () => {
  const stack = useAgentStack()

  it.each([
    ['the primary chain', primaryPayer(0)],
    ['the EVM chain', evmPayer(0)],
  ])(
    'AGENT-04 lets a subscriber on %s delegate a locker and register the agent at the gateway',
    { tags: ['nightly'] },
    async (_, owner) => {
      const { subscription } = await stack.subscribe(owner)
      const locker = await stack.seedLocker(owner)
      const { status, headers, body } = await stack.call<DelegateAnswer>(owner, delegateCall(locker))
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
          url: `${stack.proxy.url}/v1/lockers/${locker.locker_id}/operators`,
          body: { pubkey: agent_pubkey },
        },
      })
      const { method, url, body: operator } = next_step
      const call = { method, path: new URL(url).pathname, body: operator, ops: ['locker:admin'] }
      const signed = signCall(owner, { ...call, lockerId: locker.locker_id }, stack.clock.now())
      const json = { 'content-type': 'application/json', ...signed.headers }
      expect((await fetch(url, { method, headers: json, body: JSON.stringify(operator) })).status).toBe(200)
      await stack.runJobs()
      const read = await stack.readDelegation(owner, delegation_id)
      const at = isoSeconds(stack.clock.now() / 1000)
      expect([read.status, read.registered_at]).toEqual(['active', at])
    },
  )

  it('AGENT-04 uses the payer of the receipt as the owner when the header is missing', async () => {
    const owner = await stack.grantSubscription(evmWallet())
    const locker = await stack.seedLocker(owner)
    const bare = { ...delegateCall(locker), identity: null, receiptId: '', lockerId: '' }
    const { status, body } = await stack.call(owner, bare)
    expect([status, body]).toEqual([200, expect.objectContaining(locker)])
  })

  it('AGENT-04 accepts a receipt whose locker is not open yet', async () => {
    const owner = await stack.grantSubscription(ed25519Wallet())
    const receipt = await stack.seedReceipt(owner)
    const { delegation_id, agent_pubkey } = await stack.delegate(owner, receipt)
    await stack.runJobs()
    expect((await stack.readDelegation(owner, delegation_id)).status).toBe('pending')
    await stack.client(owner).provision(receipt.receipt_id, { operator: agent_pubkey })
    stack.clock.advance(15)
    await stack.runJobs()
    expect((await stack.readDelegation(owner, delegation_id)).status).toBe('active')
  })

  it('AGENT-04 a repeated request keeps the delegation and its key, and changes the tasks', async () => {
    const owner = await stack.grantSubscription(ed25519Wallet())
    const locker = await stack.seedLocker(owner)
    const tell = { url: 'https://hooks.example/one', only_alerts: true }
    const first = await stack.delegate(owner, locker, { watch: { every_hours: 5, read_bytes: false }, tell })
    expect(first.tasks).toEqual({ watch: { every_hours: 5, read_bytes: false }, tell })
    expect(first.webhook_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(await stack.delegate(owner, locker)).toEqual(first)
    const sources = [{ url: 'https://files.example/a.txt', filename: 'a.txt' }]
    const { webhook_secret: _, ...quiet } = first
    const changed = await stack.delegate(owner, locker, { mirror: { sources } })
    expect(changed).toEqual({ ...quiet, tasks: { mirror: { sources, every_hours: 24 } } })
    expect(await stack.delegate(owner, locker)).toEqual(changed)
  })
})
