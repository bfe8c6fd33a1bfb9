import type { LockerUsage } from '@svc/sdk'
import { isGatewayError } from '@svc/sdk/errors'
import type { Command } from 'commander'
import { lockerArgument } from '../options.ts'
import { LOCAL_CHAIN } from '../output/networks.ts'
import { bytesText, timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { pairs, table } from '../output/table.ts'
import type { Open, Session } from '../session.ts'
import { knownLockers, type NamedLocker } from '../setup/known-lockers.ts'
import { isOnLocalChains } from '../setup/read-once.ts'
import {
  anchorOutlook,
  bytesOfBought,
  filesOfBought,
  lockerName,
  paidText,
  priceText,
  untilText,
  usageWarnings,
} from './usage-text.ts'

export function add(program: Command, open: Open): void {
  program
    .command('status')
    .description('what was bought for a locker, and how much is used; all lockers by default')
    .addArgument(lockerArgument())
    .action(async (locker: string | undefined, _: object, command: Command) => status(await open(command), locker))
}

async function status(session: Session, wanted: string | undefined): Promise<void> {
  const { settings, folder, gateway } = session
  if (wanted === undefined && !settings.locker) {
    const known = await knownLockers(folder)
    const here = known.filter((locker) => locker.gateway === gateway)
    if (here.length > 1) return showUsage(session, here)
  }
  const locker = await session.locker(wanted)
  const usage = await usageOf(session, locker)
  const isLocal = await isOnLocalChains(session)
  showResult(session, locker, usage, () => statusText(session, locker, usage, isLocal))
}

function showResult(session: Session, locker: NamedLocker, usage: LockerUsage, text: () => string): void {
  const { output, host } = session
  const warnings = usageWarnings(locker, usage, host.now())
  const { name, receipt_id } = locker
  output.result({ name, receipt_id, ...usage, warnings }, text)
  for (const warning of warnings) output.warn(warning)
}

async function usageOf(session: Session, locker: NamedLocker): Promise<LockerUsage> {
  return (await session.lockerClient(locker)).usage(locker, session.host.signal)
}

function statusText({ host }: Session, locker: NamedLocker, usage: LockerUsage, isLocal: boolean): string {
  const { egress, purchases, enforced } = usage
  return pairs([
    ['locker', shown(lockerName(locker, true))],
    ['until', untilText(usage, host.now())],
    ['bytes', bytesOfBought(usage)],
    ['files', filesOfBought(usage)],
    ['egress', `about ${bytesText(egress.used)} of ${bytesText(egress.bought)}`],
    ...(isLocal ? [['paid on', LOCAL_CHAIN] as const] : []),
    ...purchases.map((purchase) => [purchase.kind === 'renewal' ? 'renewed' : 'bought', paidText(purchase)] as const),
    ['next anchor', anchorOutlook(usage)],
    [
      'over quota',
      enforced ? 'uploads refused; reading and deleting still work' : 'uploads still accepted (not enforced)',
    ],
  ])
}

/** A row for each of these lockers. A locker that cannot be read does not hide the others. */
export async function showUsage(session: Session, lockers: readonly NamedLocker[]): Promise<void> {
  const { output, host } = session
  const rows: string[][] = []
  const warnings: string[] = []
  for (const locker of lockers) {
    const usage = await usageOf(session, locker).catch(nullIfRefused)
    if (output.isJson && usage) showResult(session, locker, usage, () => '')
    if (!usage) {
      warnings.push(`${lockerName(locker)} cannot be shown: none of your keys may read it`)
      continue
    }
    rows.push(rowOf(locker, usage))
    if (!output.isJson) warnings.push(...usageWarnings(locker, usage, host.now()))
  }
  if (!output.isJson && rows.length > 0) output.result(rows, () => table(COLUMNS, rows))
  for (const warning of warnings) output.warn(warning)
}

/** Null for a locker of someone else, or if the gateway has lost it. */
function nullIfRefused(error: unknown): null {
  if (isGatewayError(error, 'SIGNATURE_INVALID', 'locker_not_found')) return null
  throw error
}

const COLUMNS = ['LOCKER', 'UNTIL', 'BYTES', 'FILES', 'EGRESS', 'PRICE', 'NEXT ANCHOR'].map((title) => ({ title }))

function rowOf(locker: NamedLocker, usage: LockerUsage): string[] {
  const { expires_at, egress, next_anchor } = usage
  return [
    shown(lockerName(locker)),
    shown(timeText(expires_at)),
    bytesOfBought(usage),
    filesOfBought(usage),
    bytesText(egress.used),
    priceText(usage),
    next_anchor === null ? '-' : shown(next_anchor.at === null ? 'soon' : timeText(next_anchor.at)),
  ]
}
