import type { AgentHealth } from '@svc/api/agent/info'
import { warningsOf } from '@svc/payments/selling/not-offered'
import { isoSeconds } from '@svc/protocol/evidence'
import { INTERFACE_VERSION } from '@svc/protocol/names'
import { VERSION } from '@svc/protocol/version'
import { clockDifference } from '@svc/service/guard/clock-guard'
import { Answer } from '@svc/service/http/answer'
import { sql } from 'kysely'
import { type Context, unixNow } from '../context.ts'

/** 503 only when no request can be answered. An unavailable gateway or chain is reported as failing. */
export async function checkHealth(context: Context): Promise<Answer<AgentHealth>> {
  const { database, gateway, sales, clock } = context
  const [isDatabaseUp, isGatewayHealthy, chains, notOffered] = await Promise.all([
    sql`select 1`.execute(database.db).then(
      () => true,
      () => false,
    ),
    gateway.isHealthy(),
    sales.health(),
    sales.notOffered(),
  ])
  const warnings = [...warningsOf(notOffered), ...(clock.isWrong() ? [wrongClock(clock.aheadSeconds() ?? 0)] : [])]
  const state = (isOk: boolean) => (isOk ? 'ok' : 'failing')
  return new Answer(isDatabaseUp ? 200 : 503, {
    status: isDatabaseUp && !clock.isWrong() ? 'ok' : 'degraded',
    version: INTERFACE_VERSION,
    release: VERSION,
    time: isoSeconds(unixNow(context)),
    checks: { database: state(isDatabaseUp), gateway: state(isGatewayHealthy), ...chains },
    ...(warnings.length > 0 && { warnings }),
    ...(notOffered.length > 0 && { not_offered: notOffered }),
  })
}

function wrongClock(aheadSeconds: number): string {
  return `the clock of this process is ${clockDifference(aheadSeconds)}, so it sells and signs nothing`
}
