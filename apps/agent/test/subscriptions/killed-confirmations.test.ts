import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { SubscriptionConfirmation, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import { forEachDatabase } from '@svc/devnet/databases'
import { freePort } from '@svc/devnet/free-port'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import { payLeg } from '@svc/devnet/pay-leg'
import type { Variables } from '@svc/http-service/config'
import { startTestGateway } from '@svc/testbed/gateway'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { migrations } from '../../src/db/migrations.ts'
import type { Schema } from '../../src/db/schema.ts'
import { findSubscription } from '../../src/subscriptions/store.ts'
import { primaryPayer } from '../agent-stack.ts'
import { type Till, tillOf } from '../subscription-api.ts'

const PURCHASES = 16
const TERM_SECONDS = 30 * 86_400
const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const { identity } = primaryPayer(0)

// An agent service of its own process has the real time, and so have these.
let chains: LocalChains
let gateway: Awaited<ReturnType<typeof startTestGateway>>
beforeAll(async () => {
  chains = await startLocalChains({ finalAtOnce: true })
  gateway = await startTestGateway(chains.variables)
})
afterAll(async () => {
  await gateway.stop()
  await chains.stop()
})

forEachDatabase('an agent service that is killed in the middle of its confirmations', (database) => {
  it('AGENT-03 STATE-01 has every subscription it answered with, takes up the rest, and counts no payment twice', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-agent-crash-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const variables = { DATABASE_URL: database.url, DATA_DIR: folder }

    const doomed = await startProcess(variables)
    const paid = await buy(doomed)
    const acknowledged = new Map<string, SubscriptionConfirmation>()
    await inParallel(paid, async (showing) => {
      const reply = await doomed.show(showing).catch(() => null)
      if (reply?.status === 200) acknowledged.set(showing.tx, reply.body)
      if (acknowledged.size >= 4) doomed.kill()
    })
    await doomed.ended
    expect(acknowledged.size).toBeGreaterThanOrEqual(4)
    expect(acknowledged.size).toBeLessThan(PURCHASES)

    const heir = await startProcess(variables)
    await inParallel(paid, async (showing) => {
      const { status, body } = await heir.show(showing)
      expect(status, JSON.stringify(body)).toBe(200)
      const known = acknowledged.get(showing.tx)
      if (known) expect(body).toEqual({ ...known, idempotent: true })
    })
    heir.kill()
    await heir.ended
    const { db } = await database.open<Schema>(migrations)
    expect(await db.selectFrom('receipts').select('tx').execute()).toHaveLength(PURCHASES)
    const subscription = await findSubscription(db, identity)
    expect(subscription!.expires_at - subscription!.starts_at).toBe(PURCHASES * TERM_SECONDS)
  }, 60_000)
})

interface Showing {
  quote: SubscriptionQuote
  tx: string
  identity: string
}

async function buy(till: Till): Promise<Showing[]> {
  const quotes = await Promise.all(Array.from({ length: PURCHASES }, () => till.quote()))
  const paid: Showing[] = []
  for (const quote of quotes) paid.push({ quote, tx: await payLeg(chains, quote.accepts[0]!), identity })
  return paid
}

interface ProcessTill extends Till {
  kill(): void
  ended: Promise<unknown>
}

async function startProcess(variables: Variables): Promise<ProcessTill> {
  const port = await freePort()
  const env = {
    ...chains.agentVariables,
    ...variables,
    PATH: process.env.PATH,
    SVC_MODE: 'development',
    HOST: '127.0.0.1',
    PORT: String(port),
    GATEWAY_URL: gateway.url,
    RATE_LIMIT_ADDRESS: '0',
  }
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const kill = () => void child.kill('SIGKILL')
  onTestFinished(kill)
  const ended = once(child, 'exit')
  for await (const line of createInterface(child.stdout)) if (line.includes('agent service started')) break
  child.stdout.resume()
  return { ...tillOf({ url: `http://127.0.0.1:${port}` }), kill, ended }
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items]
  const worker = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: 4 }, worker))
}
