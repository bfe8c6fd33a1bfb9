import type { Health } from '@svc/api/info'
import { Answer } from '@svc/http-service/answer'
import { EVM, PRIMARY } from '@svc/payments/networks'
import { isoSeconds } from '@svc/protocol/evidence'
import { INTERFACE_VERSION } from '@svc/protocol/names'
import { sql } from 'kysely'
import { type Context, unixNow } from '../context.ts'
import type { KnownBalance } from './publication-balance.ts'

/** 503 only when the gateway cannot serve. A chain that does not answer shows, but files are still served. */
export async function checkHealth(context: Context): Promise<Answer<Health>> {
  const [database, storage, primary_chain, evm_chain, balance] = await Promise.all([
    works(() => sql`select 1`.execute(context.database.db)),
    works(async () => assertHealthy(await context.providers.isHealthy())),
    context.sales.health(PRIMARY),
    context.sales.health(EVM),
    context.publishingCosts.balance(),
  ])
  const isServing = database === 'ok' && storage === 'ok'
  return new Answer(isServing ? 200 : 503, {
    status: isServing ? 'ok' : 'degraded',
    version: INTERFACE_VERSION,
    time: isoSeconds(unixNow(context)),
    checks: { database, storage, primary_chain, evm_chain, signing_key: 'ok', publication_key: balance.state },
    ...(balance.state === 'low' && { warnings: [lowBalance(balance)] }),
  })
}

function lowBalance({ address, lamports, anchorsLeft }: KnownBalance): string {
  return `publication key ${address} holds ${lamports} lamports: about ${anchorsLeft} more anchors`
}

function assertHealthy(isHealthy: boolean): void {
  if (!isHealthy) throw new Error('storage does not answer')
}

async function works(probe: () => Promise<unknown>): Promise<'ok' | 'failing'> {
  try {
    await probe()
    return 'ok'
  } catch {
    return 'failing'
  }
}
