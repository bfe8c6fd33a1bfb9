import type { Health, Readiness } from '@svc/api/info'
import { warningsOf } from '@svc/payments/selling/not-offered'
import { isoSeconds } from '@svc/protocol/evidence'
import { INTERFACE_VERSION } from '@svc/protocol/names'
import { VERSION } from '@svc/protocol/version'
import { clockDifference } from '@svc/service/guard/clock-guard'
import { Answer } from '@svc/service/http/answer'
import { sql } from 'kysely'
import { type Context, unixNow } from '../context.ts'
import type { ContinuityStatus } from '../continuity/continuity.ts'
import { countMissing, missingByName } from '../continuity/missing.ts'
import { logStatus, logWarnings } from '../publication/log-anchors/log-status.ts'
import { type BudgetState, budgetStates, usedUp } from './budget-states.ts'
import type { LogStatus } from './metrics/log.ts'
import { fallbackPrices, feedState } from './price-feed.ts'
import type { KnownBalance } from './publishing-costs.ts'

/**
 * 503 only if the gateway cannot serve. A single chain or provider that does not answer is reported in `checks`
 * instead. A database that is behind, a journal that fails and a wrong clock are `degraded` with 200, because reading
 * still works.
 */
export async function checkHealth(context: Context): Promise<Answer<Health>> {
  const [database, health, chains, signing_key, balance, prices, notOffered, budgets, log] = await Promise.all([
    works(() => sql`select 1`.execute(context.database.db)),
    context.providers.health(),
    context.sales.health(),
    context.statementKeys.health(),
    context.publishingCosts.balance(),
    context.sales.prices(),
    context.sales.notOffered(),
    // Without a database, `database` reports the failure.
    budgetStates(context).catch((): BudgetState[] => []),
    logStatus(context).catch(() => null),
  ])
  const storage = state([...health.values()].some(Boolean))
  const continuity = context.continuity.status()
  const warnings = [
    ...silentProviders(health),
    ...(signing_key === 'failing' ? [NO_SIGNER] : []),
    ...warningsOf(notOffered),
    ...fallbackPrices(prices),
    ...(balance.state === 'low' ? [lowBalance(balance)] : []),
    ...continuityWarnings(continuity),
    ...logWarnings(context),
    ...budgets.filter(({ isExhausted }) => isExhausted).map(usedUp),
    ...(log ? logStatusWarnings(log) : []),
  ]
  const isServing = database === 'ok' && storage === 'ok'
  return new Answer(isServing ? 200 : 503, {
    status: isServing && maySign(continuity) ? 'ok' : 'degraded',
    version: INTERFACE_VERSION,
    release: VERSION,
    time: isoSeconds(unixNow(context)),
    checks: {
      database,
      storage,
      ...chains,
      signing_key,
      publication_key: balance.state,
      price_feed: feedState(prices),
    },
    providers: Object.fromEntries([...health].map(([name, isHealthy]) => [name, state(isHealthy)])),
    budgets: Object.fromEntries(budgets.map(({ name, isExhausted }) => [name, isExhausted ? 'used_up' : 'ok'])),
    continuity: shownContinuity(continuity),
    ...(warnings.length > 0 && { warnings }),
    ...(notOffered.length > 0 && { not_offered: notOffered }),
  })
}

const MAX_MISSING = 100

function maySign({ state, logbook, clock }: ContinuityStatus): boolean {
  return state !== 'behind' && logbook !== 'failing' && !clock.isWrong
}

/** Statements are named by proof and sequence, which are public. Receipt ids would grant access. */
function shownContinuity({
  missing,
  isReplaced,
  missingJournals,
  clock,
  ...status
}: ContinuityStatus): NonNullable<Health['continuity']> {
  const { statements, payments, revocations, others } = missingByName(missing)
  return {
    state: status.state,
    logbook: status.logbook,
    chain: status.chain,
    missing_statements: statements,
    missing: missing.statements
      .slice(0, MAX_MISSING)
      .map(({ proofId: proof_id, sequence, digest: statement_digest }) => ({ proof_id, sequence, statement_digest })),
    missing_payments: payments,
    missing_revocations: revocations,
    missing_others: others,
    ...(missing.since !== null && { missing_since: isoSeconds(missing.since) }),
    awaited_logbooks: missingJournals.length,
    log: status.log,
    ...(clock.aheadSeconds !== null && { clock_ahead_seconds: clock.aheadSeconds }),
    ...(status.state === 'behind' && { heal: healing(status, { missing, isReplaced, missingJournals }) }),
  }
}

function healing(
  { log }: Pick<ContinuityStatus, 'log'>,
  rest: Pick<ContinuityStatus, 'missing' | 'isReplaced' | 'missingJournals'>,
): string {
  if (rest.isReplaced) return RESTART
  if (rest.missing.earlier > 0) return REPAIR_WITH_EARLIER_RELEASE
  if (rest.missingJournals.length > 0) return WAIT_FOR_JOURNALS
  return [
    ...(log === 'forked' || log === 'foreign' ? [RESTORE_OTHER_LOG] : []),
    ...rest.missing.unreadable.map((file) => `the journal file ${file}`),
    ...(rest.missing.unreadable.length > 0 ? [REPLACE_UNREADABLE] : []),
    ...(log === 'behind' || countMissing(rest.missing) > 0 ? [REPLAY] : []),
  ].join('; ')
}

const REPAIR_WITH_EARLIER_RELEASE =
  'the database lacks what release 1.1.0 has signed: repair it with that release, then start this one: docs/operations.md, "A database was restored"'
const RESTORE_OTHER_LOG =
  'the published log belongs to another database: restore that database, or point LOG_STORE to the log of this one: docs/operations.md, "A database was restored"'
const REPLACE_UNREADABLE =
  'replace each of these files with an undamaged copy, or move it out of LOGBOOK_DIR if another gateway wrote it, or set SHORT_URL_KEY to the key that sealed it'
const REPLAY =
  'run `svc-gateway replay --reason "…"`; then, for what it cannot restore, run it again with `--accept`: docs/operations.md, "A database was restored"'
const WAIT_FOR_JOURNALS =
  'gateways on other machines have not compared this database with what they have signed, or found that it lacks something: `svc-gateway replay show` names the machines; run `svc-gateway replay --reason "…"` on each of them, or with `--accept` if a machine is gone: docs/operations.md, "Replicas on several machines"'
const RESTART = 'the database file was replaced while the gateway had it open: restart the gateway'

function continuityWarnings({ state, logbook, clock }: ContinuityStatus): string[] {
  return [
    ...(state === 'behind'
      ? ['the database is behind what this gateway has signed: it only reads, see continuity']
      : []),
    ...(logbook === 'off' ? ['LOGBOOK_DIR is off: only anchors on chain reveal a restored database'] : []),
    ...(logbook === 'failing' ? ['the journal in LOGBOOK_DIR cannot be written: nothing is signed'] : []),
    ...(clock.isWrong ? [wrongClock(clock.aheadSeconds ?? 0)] : []),
  ]
}

function wrongClock(aheadSeconds: number): string {
  return `the clock is ${clockDifference(aheadSeconds)}: nothing is sold or signed until they agree`
}

const LATE_SECONDS = 7200

function logStatusWarnings({ witnesses, overdueSeconds }: LogStatus): string[] {
  const absent = witnesses.filter(({ problem }) => problem !== null)
  return [
    ...absent.map(({ name, problem }) => `witness ${name} does not cosign the log: ${problem}`),
    ...((overdueSeconds ?? 0) > LATE_SECONDS ? ['the newest checkpoint of the log is not anchored in time'] : []),
  ]
}

/** For load balancers: checks only what every request needs. A database that is behind is ready, for reading. */
export async function checkReadiness({ database: { db }, providers }: Context): Promise<Answer<Readiness>> {
  const [database, health] = await Promise.all([works(() => sql`select 1`.execute(db)), providers.health()])
  const storage = state([...health.values()].some(Boolean))
  const isReady = database === 'ok' && storage === 'ok'
  return isReady
    ? new Answer(200, { status: 'ready', checks: { database, storage } })
    : new Answer(503, { status: 'not_ready', checks: { database, storage } }, { 'retry-after': '1' })
}

const NO_SIGNER = 'the statement key is unavailable: receipts and statements wait until its signer answers'

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
