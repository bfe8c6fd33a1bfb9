import type { Health } from '@svc/api/info'
import { Answer } from '@svc/http-service/answer'
import { EVM, PRIMARY } from '@svc/payments/networks'
import { isoSeconds } from '@svc/protocol/evidence'
import { INTERFACE_VERSION } from '@svc/protocol/names'
import { sql } from 'kysely'
import { unixNow } from '../context.ts'
import { type BudgetState, budgetStates, usedUp } from './budget-states.ts'
import { feedState, standIns } from './price-feed.ts'
import type { KnownBalance } from './publishing-costs.ts'
import type { InfoContext } from './room.ts'

/** 503 only when the gateway cannot serve. A single chain or provider that does not answer shows in `checks` instead. */
export async function checkHealth(context: InfoContext): Promise<Answer<Health>> {
  const [database, health, primary_chain, evm_chain, balance, prices, budgets] = await Promise.all([
    works(() => sql`select 1`.execute(context.database.db)),
    context.providers.health(),
    context.sales.health(PRIMARY),
    context.sales.health(EVM),
    context.publishingCosts.balance(),
    context.sales.prices(),
    // Without a database, `database` says so.
    budgetStates(context).catch((): BudgetState[] => []),
  ])
  const storage = state([...health.values()].some(Boolean))
  const warnings = [
    ...silentProviders(health),
    ...context.sales.warnings(),
    ...standIns(prices),
    ...(balance.state === 'low' ? [lowBalance(balance)] : []),
    ...budgets.filter(({ isExhausted }) => isExhausted).map(usedUp),
  ]
  const isServing = database === 'ok' && storage === 'ok'
  return new Answer(isServing ? 200 : 503, {
    status: isServing ? 'ok' : 'degraded',
    version: INTERFACE_VERSION,
    time: isoSeconds(unixNow(context)),
    checks: {
      database,
      storage,
      primary_chain,
      evm_chain,
      signing_key: 'ok',
      publication_key: balance.state,
      price_feed: feedState(prices),
    },
    providers: Object.fromEntries([...health].map(([name, isHealthy]) => [name, state(isHealthy)])),
    budgets: Object.fromEntries(budgets.map(({ name, isExhausted }) => [name, isExhausted ? 'used_up' : 'ok'])),
    ...(warnings.length > 0 && { warnings }),
  })
}

function lowBalance({ address, lamports, anchorsLeft }: KnownBalance): string {
  return `publication key ${address} holds ${lamports} lamports: about ${anchorsLeft} more anchors`
}

function silentProviders(health: ReadonlyMap<string, boolean>): string[] {
  return [...health]
    .filter(([, isHealthy]) => !isHealthy)
    .map(([name]) => `storage provider ${name} does not answer: it is left out of quotes`)
}

function state(isUp: boolean): 'ok' | 'failing' {
  return isUp ? 'ok' : 'failing'
}

async function works(probe: () => Promise<unknown>): Promise<'ok' | 'failing'> {
  return probe().then(
    () => 'ok',
    () => 'failing',
  )
}
