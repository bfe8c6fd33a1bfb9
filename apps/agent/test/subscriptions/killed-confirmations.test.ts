import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SubscriptionConfirmation, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import { limit } from '@svc/concurrency/locks'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { startLocalChains } from '@svc/devnet/local-chains'
import { payLeg } from '@svc/devnet/pay-leg'
import { startTestAgent } from '@svc/devnet/services/agent'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { expect, it, onTestFinished } from 'vitest'
import { findSubscription } from '../../src/subscriptions/store.ts'
import { startAgentProcess } from '../agent-process.ts'
import { subscriptionApi } from '../subscription-api.ts'
import { primaryPayer } from '../wallets.ts'

const PURCHASES = 16
const ACKNOWLEDGED = 4
const TERM_SECONDS = 30 * 86_400
const { identity } = primaryPayer(0)

// The killed process runs on the real clock, and so do the chains and the gateway.
const chains = forAllTests(() => startLocalChains())
const gateway = forAllTests(() => startTestGateway(chains.variables))

forEachDatabase('an agent service that is killed during confirmations', (database) => {
  it('AGENT-03 STATE-01 keeps every acknowledged subscription, confirms the others after a restart, and counts no payment twice', {
    tags: ['nightly'],
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-agent-killed-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const variables = {
      ...chains.agentVariables,
      DATABASE_URL: database.url,
      DATA_DIR: folder,
      GATEWAY_URL: gateway.url,
    }

    const killed = await startAgentProcess(variables)
    const api = subscriptionApi(() => killed)
    const paid = await buy(api)
    const acknowledged = new Map<string, SubscriptionConfirmation>()
    await fourAtATime(paid, async (confirmation) => {
      const reply = await api.confirm(confirmation).catch((error) => {
        if (acknowledged.size < ACKNOWLEDGED) throw error
        return null
      })
      if (reply) expect(reply.status, JSON.stringify(reply.body)).toBe(200)
      if (reply) acknowledged.set(confirmation.tx, reply.body)
      if (acknowledged.size >= ACKNOWLEDGED) await killed.kill()
    })
    expect(acknowledged.size).toBeGreaterThanOrEqual(ACKNOWLEDGED)
    expect(acknowledged.size).toBeLessThan(PURCHASES)

    const restarted = await startTestAgent(variables)
    onTestFinished(() => restarted.stop())
    await fourAtATime(paid, async (confirmation) => {
      const { status, body } = await subscriptionApi(() => restarted).confirm(confirmation)
      expect(status, JSON.stringify(body)).toBe(200)
      const known = acknowledged.get(confirmation.tx)
      if (known) expect(body).toEqual({ ...known, idempotent: true })
    })
    const { db } = restarted.context.database
    expect(await db.selectFrom('receipts').select('tx').execute()).toHaveLength(PURCHASES)
    const subscription = await findSubscription(db, identity)
    expect(subscription!.expires_at - subscription!.starts_at).toBe(PURCHASES * TERM_SECONDS)
  })
})

interface PaidQuote {
  quote: SubscriptionQuote
  tx: string
  identity: string
}

async function buy(api: ReturnType<typeof subscriptionApi>): Promise<PaidQuote[]> {
  const quotes = await Promise.all(Array.from({ length: PURCHASES }, () => api.quote()))
  const paid: PaidQuote[] = []
  for (const quote of quotes) paid.push({ quote, tx: await payLeg(chains, quote.accepts[0]!), identity })
  return paid
}

async function fourAtATime<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const limited = limit(4)
  await Promise.all(items.map((item) => limited(() => work(item))))
}
